/* function_text.h - what the files that read function text share. */
#ifndef RD_EXPR_FUNCTION_TEXT_H
#define RD_EXPR_FUNCTION_TEXT_H
#include "expr/expr.h"

enum { RD_TEXT_CLIP = RD_N_OPS, RD_TEXT_ARITY = 3, RD_TEXT_OPERANDS = 40, RD_TEXT_NUMBER = 128 };

typedef struct rd_reader {
    rd_ctx     *ctx;
    const char *call, *text, *at;
    /* How operators are made of these operands: rd_map_op(), or that of real ones. */
    rd_mapper      *map;
    int             n;
    rd_expr *const *x;
    const char     *name[RD_TEXT_OPERANDS];
    size_t          length[RD_TEXT_OPERANDS];
    rd_dtype        real;  /* of C text; RD_AUTO: function text */
    bool            quiet; /* failures to read are not recorded */
    int             depth;
} rd_reader;

/* ---- Steps (function_steps.c) ---------------------------------------------------------------------- */
/* Values by name. */
typedef struct rd_steps {
    int         n;
    const char *name[RD_TEXT_OPERANDS];
    size_t      length[RD_TEXT_OPERANDS];
    rd_expr    *x[RD_TEXT_OPERANDS];
} rd_steps;

void rd_steps_add(rd_steps *steps, const char *name, rd_expr *x);
/* That of a name; NULL: there is none. */
rd_expr *rd_steps_find(const rd_steps *steps, const char *name);
/* Adds the values of "t = tan(x); y = 1 + t * t", each in function text of the names so far.  All are
 * real, and what is no bool is of type `part`.  False after recording a failure. */
bool rd_steps_run(rd_steps *steps, rd_ctx *ctx, const char *call, const char *text, rd_dtype part);

/* ---- Operators and operands (function_read.c) ---------------------------------------------------- */
/* Reads what comes next: operands, operators, calls, a choice.  NULL after recording a failure. */
rd_expr *rd_function_read(rd_reader *r);
/* Returns the number of the operand that has the name; -1: no operand has it. */
int rd_function_operand(const rd_reader *r, const char *name, size_t length);

/* ---- Characters (function_token.c) ------------------------------------------------------------ */
/* Records RD_ERR_TEXT with a caret under `at`; expected() says what stands at r->at instead.  Both
 * return NULL. */
__attribute__((format(printf, 3, 4))) void *rd_function_fail(rd_reader *r, const char *at,
                                                             const char *format, ...);
void                                       *rd_function_expected(rd_reader *r, const char *what);
const char                                 *rd_function_skip(rd_reader *r); /* over spaces; r->at */
bool     rd_function_take(rd_reader *r, const char *token); /* reads the token if it comes next */
size_t   rd_function_word(rd_reader *r);   /* length of the name that comes next, 0 if none does */
rd_expr *rd_function_number(rd_reader *r); /* reads the number that begins at r->at */

/* Of the number that begins at c: how many characters it has, and whether it is a fraction.  And the
 * value of the n characters, RD_TEXT_NUMBER at most, whatever the program's locale. */
size_t rd_function_number_length(const char *c, bool *fraction);
double rd_function_number_value(const char *c, size_t n);

/* ---- Functions by name (function_names.c) ----------------------------------------------------- */
/* The function of that name: an rd_op or RD_TEXT_CLIP; -1 if there is none.  `real` not RD_AUTO:
 * the text is C. */
int rd_function_find(const char *name, size_t length, rd_dtype real);
int rd_function_arity(int function);
/* The function on rd_function_arity() operands. */
rd_expr *rd_function_apply(int function, const char *call, rd_mapper *map, rd_expr *const *x);
#endif
