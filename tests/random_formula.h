/* random_formula.h - a formula by chance, as text and as the calls that it means. */
#ifndef RD_TESTS_RANDOM_FORMULA_H
#define RD_TESTS_RANDOM_FORMULA_H
#include "rdim.h"

enum { RANDOM_FORMULA_TEXT = 1 << 15 };

/* Operands, by their names in the text: x and q (4, 5), v (5). */
typedef struct random_formula {
    rd_ctx  *ctx;
    uint64_t state; /* the seed */
    rd_expr *x, *q, *v;
    int      n;
    char     text[RANDOM_FORMULA_TEXT];
} random_formula;

/* "exp(x) + v * 2": of whole arrays. */
rd_expr *random_formula_whole(random_formula *f);
/* "o[i in 0:4, j in 0:5] = x[i, j] * v[j]" */
rd_expr *random_formula_by_index(random_formula *f);
#endif
