/* reduce.h - what a reduction or scan is made of: its row of reductions.def, and a call's arguments. */
#ifndef RDPY_REDUCE_H
#define RDPY_REDUCE_H
#include "signatures.h"

/* All that may be given.  A row's signature says which of them it takes, and which go by place. */
enum {
    X,
    AXIS,
    DTYPE,
    OUT,
    DDOF,
    KEEPDIMS,
    INITIAL,
    WHERE,
    WEIGHTS,
    SKIPNA,
    CORRECTION,
    BY,
    GROUPS,
    ACCURACY,
    P,
    EXCLUSIVE,
    REVERSE,
    RESTART,
    ABOUT,
    ARGUMENTS
};
extern const char *const rdpy_reduce_names[ARGUMENTS];

typedef rd_expr *rdpy_reducing(rd_expr *x, const rd_reduce_opts *opts);
typedef struct rdpy_reduction {
    const char    *name, *reducer;
    rdpy_reducing *function; /* in place of a reducer */
    bool           skips, scan, method;
    int            signature; /* its number */
} rdpy_reduction;

/* x, where, initial, weights, restart, mean, then labels; NULL where there is none */
enum {
    OF_X,
    OF_WHERE,
    OF_INITIAL,
    OF_WEIGHTS,
    OF_RESTART,
    OF_ABOUT,
    OF_LABELS,
    OPERANDS = OF_LABELS + 8
};
typedef struct rdpy_folding {
    const rdpy_reduction *row;
    PyObject             *operand[OPERANDS];
    int                   n_label;
    rd_reduce_opts        opts;
    rd_expr              *label[8];
} rdpy_folding;

/* Converts what is given, NULL where it is not, which may run Python; -1 with an exception. */
int rdpy_take_folding(rdpy_folding *f, PyObject *const *given);
/* var and std about a mean that is given: the row's reducer of x in the context. */
rd_expr *rdpy_about_mean(rd_ctx *ctx, const rdpy_folding *f, rd_expr *x, rd_expr *mean);
#endif
