/* signatures.h - the arguments of a function as a text.  calls.def has its rules; the rows of all three tables of
 * functions use it. */
#ifndef RDPY_SIGNATURES_H
#define RDPY_SIGNATURES_H
#include "core.h"

typedef struct rdpy_parameter {
    const char *names; /* all names, with `|` between them, up to ':' */
    const char
        *absent; /* the value where none is given, as the text has it, up to a space; NULL: none */
    char kind;
    bool optional, by_place, by_name;
    int  list;       /* of kind `s`: its number among these */
    double fallback; /* `absent` as a number */
} rdpy_parameter;

/* Reads a text of at most `most` parameters.  Returns how many there are. */
int rdpy_read_signature(const char *text, int most, rdpy_parameter *at);
/* Whether one of the parameter's names is this one. */
bool rdpy_is_name(const rdpy_parameter *p, const char *name, size_t length);
/* The first name, which sentences and signatures show. */
enum { MOST_NAME = 32 };
const char *rdpy_name_of(const rdpy_parameter *p, char name[MOST_NAME]);
/* The text that help() and inspect.signature() read, of a function, or of a method, whose first parameter is `self`:
 * it has the signature, a sentence, the parameters and an example of docs.def.  Python keeps the pointer, so the memory is
 * never freed.  NULL without memory. */
const char *rdpy_doc(const char *name, const char *signature, bool method);
#endif
