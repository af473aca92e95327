/* oracle.h - the slow referee: what an expression is worth, one element at a time.
 *
 * Plain recursion over the nodes, no planning, no code shared with the kernels or the evaluator.
 * Ints are exact.  Floats are computed in long double and not rounded to their type; `err` bounds
 * how far a correct evaluation in that type may be away: any order of a sum, multiply-adds
 * contracted or not, functions within 4 ulp.  Where an answer could flip within that bound
 * (comparisons, rounding, ties, overflow) the value is `unsure` and says nothing. */
#ifndef RD_TESTS_ORACLE_H
#define RD_TESTS_ORACLE_H
#include "expr/expr.h"
#include <stddef.h>

typedef struct oracle_value {
    rd_dtype    type;
    bool        unsure;
    __int128    n;   /* ints and bool: the number                                                 */
    long double v;   /* floats: the value before any rounding, infinite where the type overflows  */
    long double err; /* 0: exactly this value, sign of zero included                              */
} oracle_value;

typedef struct oracle oracle;

oracle *oracle_new(void);
void    oracle_free(oracle *o);
/* The memory an rd_input leaf stands for. */
void oracle_bind(oracle *o, const rd_expr *input, const void *data);
/* Element `index` of x.  False if the value needs an rd_take index outside its axis: evaluation
 * must fail. */
bool oracle_at(oracle *o, const rd_expr *x, const int64_t *index, oracle_value *out);
/* Is the element of this type what a correct evaluation may give?  True for an unsure value.  If
 * not, `why` (of this size) gets a sentence. */
enum { ORACLE_WHY = 200 };
bool oracle_matches(const oracle_value *want, const void *element, rd_dtype type,
                    char why[ORACLE_WHY]);
/* "1.5 +- 2e-7 f32" */
void oracle_text(const oracle_value *x, char text[ORACLE_WHY]);

/* An element of memory and back; conversion of a float rounds to nearest. */
oracle_value oracle_load(const void *p, rd_dtype type);
void         oracle_store(void *p, rd_dtype type, const oracle_value *x);

/* ---- Parts of the oracle (oracle_value.c, oracle_map.c, oracle_fold.c, ...) ----------------------- */
/* Precision of a float type: unit roundoff, smallest denormal, largest finite. */
typedef struct oracle_float {
    long double u, tiny, max;
} oracle_float;
oracle_float oracle_float_of(rd_dtype type);
/* v as the nearest number of a float type. */
long double oracle_round(rd_dtype type, long double v);

oracle_value oracle_int(rd_dtype type, __int128 n); /* wrapped to the type; bool: not 0 */
/* A float result: `v` and the spread it has from its operands; `ulps` more for this operation, 0 if
 * it is exact. */
oracle_value oracle_real(rd_dtype type, long double v, long double spread, int ulps);
oracle_value oracle_unsure(rd_dtype type);

oracle_value oracle_map(const rd_expr *x, const oracle_value *in);
oracle_value oracle_call(const rd_expr *x, const oracle_value *in);
oracle_value oracle_add(rd_dtype type, oracle_value a, oracle_value b);
oracle_value oracle_mul(rd_dtype type, oracle_value a, oracle_value b);

/* An element that takes part in a fold, its weight, and its flat index over the reduced axes. */
typedef struct oracle_item {
    oracle_value x, w;
    int64_t      i;
} oracle_item;
/* Output `which` of the fold. */
oracle_value oracle_fold(const rd_expr *x, const oracle_item *item, int64_t n, int64_t which);
/* Result `which` of a row of n elements. */
oracle_value oracle_sort(const rd_expr *x, const oracle_value *row, int64_t n, int64_t which);
#endif
