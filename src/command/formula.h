/* formula.h - formulas in text, array by array as NumPy has them:
 *
 *     m = nanmean(sst, axis=0); a = sst[::3] - m
 *
 * Statements end with semicolons or lines.  Operators, from the loosest: or |, and &, not, comparisons,
 * + -, * / // %, unary - + !, ** (or ^), slices in brackets.  Calls are those of formula_calls.c,
 * and whatever function text has. */
#ifndef CMD_FORMULA_H
#define CMD_FORMULA_H
#include "base.h"

typedef struct cmd_named {
    const char *name; /* NULL: the statement names nothing */
    rd_expr    *x;
    const char *text; /* the statement's */
} cmd_named;

typedef struct cmd_formula_opts {
    /* The array that a name stands for; NULL: none. */
    rd_expr *(*find)(void *user, rd_ctx *ctx, const char *name);
    /* The axis of x that has a name; -1: none. */
    int (*axis)(void *user, rd_expr *x, const char *name);
    void *user;
} cmd_formula_opts;

/* Results of the statements, at most `most`; how many.  0: *why says what is wrong, with a caret
 * under the character. */
int cmd_formula(rd_ctx *ctx, const char *text, const cmd_formula_opts *opts, int most,
                cmd_named *out, const char **why);

/* ---- Calls (formula_calls.c) ----------------------------------------------------------------- */
enum { CMD_MOST_ARGUMENTS = 8 };
/* Arguments of a call: expressions in order, and what keywords say. */
typedef struct cmd_call {
    rd_ctx     *ctx;
    const char *name;
    int         n; /* expressions */
    rd_expr    *x[CMD_MOST_ARGUMENTS];
    bool        is_number[CMD_MOST_ARGUMENTS]; /* written as a number, which is: */
    double      number[CMD_MOST_ARGUMENTS];
    const char *text[CMD_MOST_ARGUMENTS]; /* written as a text; x is NULL then */
    bool        has_axis;
    rd_dims     axis;
    bool        keepdims, skip_nan, exclusive, reverse;
    rd_expr    *where, *weights, *initial;
    double      ddof;
    rd_dtype    type;
} cmd_call;

/* NULL: it failed, and *why has a sentence where the context has none. */
rd_expr *cmd_make_call(cmd_call *call, const char **why);
#endif
