/* function_text.h - shared by the files that parse function text: the reader and its parts. */
#ifndef RD_EXPR_FUNCTION_TEXT_H
#define RD_EXPR_FUNCTION_TEXT_H
#include "expr/expr.h"

enum { RD_TEXT_CLIP = RD_N_OPS, RD_TEXT_ARITY = 3, RD_TEXT_OPERANDS = 40, RD_TEXT_NUMBER = 128 };

/* The state of the parser. */
typedef struct rd_reader {
    rd_ctx     *ctx;
    const char *call, *text, *at; /* for failures; the whole text; where to read on */
    /* How operators are applied: by rd_map_op(), or by its variant for real operands. */
    rd_mapper      *map;
    int             n; /* operands */
    rd_expr *const *x;
    const char     *name[RD_TEXT_OPERANDS]; /* of operands, not terminated */
    size_t          length[RD_TEXT_OPERANDS];
    rd_dtype        real;  /* C text: the type of all floats; RD_AUTO: function text */
    bool            quiet; /* records no failures to read */
    int             depth; /* of recursion */
} rd_reader;

/* ---- Steps (function_steps.c) ---------------------------------------------------------------- */
/* Named values. */
typedef struct rd_steps {
    int         n; /* named values so far */
    const char *name[RD_TEXT_OPERANDS];
    size_t      length[RD_TEXT_OPERANDS];
    rd_expr    *x[RD_TEXT_OPERANDS];
} rd_steps;

void rd_steps_add(rd_steps *steps, const char *name, rd_expr *x);
/* Returns the value of a name; NULL: there is none. */
rd_expr *rd_steps_find(const rd_steps *steps, const char *name);
/* Adds the values of "t = tan(x); y = 1 + t * t"; each is function text of the names so far.
 * All values are real; all but bools are of type `part`.  False after recording a failure. */
bool rd_steps_run(rd_steps *steps, rd_ctx *ctx, const char *call, const char *text, rd_dtype part);

/* ---- Operators and operands (function_read.c) ------------------------------------------------ */
/* Reads an expression: operands, operators, calls, a choice.  NULL after recording a failure. */
rd_expr *rd_function_read(rd_reader *r);
/* Returns the number of the operand that has the name; -1: no operand has it. */
int rd_function_operand(const rd_reader *r, const char *name, size_t length);

/* ---- Characters (function_token.c) ----------------------------------------------------------- */
/* Both record RD_ERR_TEXT with a caret and return NULL. rd_function_fail() puts it under `at`;
 * rd_function_expected() puts it under r->at and says what is found there. */
__attribute__((format(printf, 3, 4))) void *rd_function_fail(rd_reader *r, const char *at,
                                                             const char *format, ...);
void                                       *rd_function_expected(rd_reader *r, const char *what);
/* skips spaces; returns r->at */
const char *rd_function_skip(rd_reader *r);
bool     rd_function_take(rd_reader *r, const char *token); /* reads the token if it comes next */
size_t   rd_function_word(rd_reader *r);                    /* length of the next name; 0: none */
rd_expr *rd_function_number(rd_reader *r); /* reads the number that begins at r->at */

/* The first measures the number that begins at c: its characters, and whether it is a fraction.
 * The second converts n characters, at most RD_TEXT_NUMBER, independently of the program's
 * locale. */
size_t rd_function_number_length(const char *c, bool *fraction);
double rd_function_number_value(const char *c, size_t n);

/* ---- Functions by name (function_names.c) ---------------------------------------------------- */
/* Finds a function by name: an rd_op or RD_TEXT_CLIP; -1 if there is none.  `real` other than
 * RD_AUTO: the text is C. */
int rd_function_find(const char *name, size_t length, rd_dtype real);
int rd_function_arity(int function);
/* Applies the function to rd_function_arity() operands. */
rd_expr *rd_function_apply(int function, const char *call, rd_mapper *map, rd_expr *const *x);
#endif
