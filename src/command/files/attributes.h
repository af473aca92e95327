/* attributes.h - what a file says beside numbers: attributes, and how elements are kept.
 *
 * It is read when a result is to be written that keeps it (beside.h), and not before: a formula needs a
 * few attributes, and these are found when a file is opened. */
#ifndef CMD_ATTRIBUTES_H
#define CMD_ATTRIBUTES_H
#include "base.h"

/* The elements of an attribute or of a variable. */
typedef enum cmd_kind { CMD_NUMBERS, CMD_CHARACTERS, CMD_TEXTS, CMD_OTHERS } cmd_kind;

typedef struct cmd_attribute {
    const char *name;
    cmd_kind    kind;
    rd_dtype    type; /* of numbers */
    int64_t     n;
    const void *at; /* numbers, characters without an end, or pointers to texts */
} cmd_attribute;

typedef struct cmd_attributes {
    int            n;
    cmd_attribute *at;
} cmd_attributes;

/* How the elements of a variable are kept in its file. */
typedef struct cmd_layout {
    int64_t extent[RD_MAX_RANK]; /* of chunks; the first one 0: there are none */
    bool    shuffled;
    int     level; /* of deflation; 0: none */
} cmd_layout;

/* All that a file says about a variable, or about itself. */
typedef struct cmd_said {
    cmd_attributes attributes;
    cmd_kind       kind; /* of its elements */
    rd_dtype       type; /* of numbers, as they are stored */
    cmd_layout     layout;
    const void    *texts; /* elements that are texts, once they were asked for */
    rd_expr       *x;     /* the leaf of its elements, likewise */
} cmd_said;

/* NULL: there is none of that name. */
const cmd_attribute *cmd_attribute_named(const cmd_attributes *all, const char *name);
/* Its text, with an end; NULL: there is none, or it is no single text. */
const char *cmd_attribute_text(const cmd_attributes *all, const char *name);
/* Adds a copy of it; one of that name is replaced. */
void cmd_add_attribute(cmd_attributes *all, const cmd_attribute *a);
void cmd_add_text(cmd_attributes *all, const char *name, const char *text);
bool cmd_is_same_attribute(const cmd_attribute *a, const cmd_attribute *b);
/* Have both the attribute of that name with the same value, or neither of them? */
bool          cmd_say_the_same(const cmd_attributes *a, const cmd_attributes *b, const char *name);
cmd_attribute cmd_text_as_attribute(const char *name, const char *text);
/* Is name one of those that are listed, with blanks around each? */
bool cmd_is_listed(const char *list, const char *name);
/* Is it one that libraries of files keep for themselves? */
bool cmd_is_reserved(const char *name);
#endif
