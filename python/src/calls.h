/* calls.h - what a row of calls.def works with: the arguments of one call, converted. */
#ifndef RDPY_CALLS_H
#define RDPY_CALLS_H
#include "signatures.h"

enum { MOST_PARAMETERS = 12, MOST_LISTS = 2, MOST_QS = 64 };

/* `given[k]` is whether argument k has a value, its own or the default's; only the member of its kind is
 * set.  Arguments of a kind that a call has once are in members without k. */
typedef struct rdpy_call {
    const char *name;
    rd_ctx     *ctx;
    bool        given[MOST_PARAMETERS];
    rd_expr    *x[MOST_PARAMETERS]; /* NULL where it is not given */
    int64_t     i[MOST_PARAMETERS];
    double      f[MOST_PARAMETERS];
    rd_dims     d;
    rd_ints     s[MOST_LISTS]; /* in their order in the signature */
    rd_dtype    t;
    const char *text; /* NULL: none given */
    rd_exprs    list;
    rd_qs       q;
    bool        one_q; /* a number was given, not a list of one */
    double      qs[MOST_QS];
} rdpy_call;

/* ---- Rows, and their signatures (signatures.c) ------------------------------------------------ */
typedef enum rdpy_how { FUNCTION, METHOD, SPREAD } rdpy_how;
typedef struct rdpy_row {
    const char *name, *signature;
    rdpy_how    method;
    rd_expr *(*build)(rdpy_call *A);
    int            n, n_places;
    rdpy_parameter at[MOST_PARAMETERS];
} rdpy_row;

/* given[k] is argument k, borrowed, or NULL; -1 with an exception. */
int rdpy_place_all(const rdpy_row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *keywords,
                   PyObject **given);

/* ---- Values of arguments (call_arguments.c) --------------------------------------------------- */
/* Operands by argument, then those of the list. */
enum { FEW_OPERANDS = 16 };
typedef struct rdpy_operands {
    PyObject **at, *few[MOST_PARAMETERS + FEW_OPERANDS];
    int        n_list;
} rdpy_operands;
/* Fills `A` and `o` from what is given; -1 with an exception. */
int rdpy_take_all(rdpy_call *A, const rdpy_row *r, rdpy_operands *o, PyObject *const *given);

/* ---- What rows compute with ------------------------------------------------------------------- */
/* Each returns NULL with an exception or the context's error. */
void    *rdpy_refuse(PyObject *exception, const char *format, ...);
rd_expr *rdpy_flat(rd_expr *x);
rd_dims  rdpy_dims_of(const rd_ints *ints);
/* The place of text in a list of names that ends with NULL, or -1 with a ValueError; no text: `absent`. */
int rdpy_choice(const rdpy_call *A, const char *const *names, int absent);

/* ---- NumPy's rules of shapes (call_shapes.c) -------------------------------------------------- */
rd_expr *rdpy_reshaped(rdpy_call *A);
rd_expr *rdpy_raveled(rdpy_call *A);
rd_expr *rdpy_transposed(rd_expr *x, const rd_ints *order);
rd_expr *rdpy_swapped(rdpy_call *A, rd_expr *x, int64_t one, int64_t other);
rd_expr *rdpy_moved(rdpy_call *A, rd_expr *x);
rd_expr *rdpy_expanded(rdpy_call *A, rd_expr *x);
rd_expr *rdpy_squeezed(rdpy_call *A, rd_expr *x);
rd_expr *rdpy_rolled(rdpy_call *A, rd_expr *x);
rd_expr *rdpy_joined(rdpy_call *A);
rd_expr *rdpy_typed(rd_expr *x, rd_dtype type);
/* x in a type, AUTO its own, by NumPy's rule that the call's text names, or `rule` where it names none. */
rd_expr *rdpy_cast(const rdpy_call *A, rd_expr *x, rd_dtype type, const char *rule);
rd_expr *rdpy_padded(rdpy_call *A);
rd_expr *rdpy_windows(rdpy_call *A, rd_expr *x, int64_t step);

/* ---- NumPy's rules of values (call_values.c) -------------------------------------------------- */
rd_expr *rdpy_full(rdpy_call *A, rd_expr *value, rd_dtype absent);
rd_expr *rdpy_full_like(rdpy_call *A, rd_expr *value);
rd_expr *rdpy_clipped(rdpy_call *A);
rd_expr *rdpy_rounded(rdpy_call *A);
rd_expr *rdpy_close(rdpy_call *A);
rd_expr *rdpy_numbers(rdpy_call *A);
rd_expr *rdpy_differences(rdpy_call *A);
rd_expr *rdpy_cumulated(rdpy_call *A, const char *reducer, int64_t first);
/* `at`: the places of keepdims, where, weights and skipna; scale: what q is 1 of, 0 for a median. */
rd_expr *rdpy_quantile(rdpy_call *A, double scale, const int at[4]);
rd_expr *rdpy_searched(rdpy_call *A);
rd_expr *rdpy_convolved(rdpy_call *A, bool correlate);
rd_expr *rdpy_ranked(rdpy_call *A);
rd_expr *rdpy_eye(rdpy_call *A);
#endif
