/* made.h - functions of formulas that are composed of several calls. */
#ifndef RD_FORMULA_MADE_H
#define RD_FORMULA_MADE_H
#include "formula/formula.h"

/* Arrays of a shape, f64 unless dtype= says another type. */
rd_expr *rd_formula_full(const rd_arguments *a, int64_t value);
rd_expr *rd_formula_like(rd_expr *x, int64_t value);
rd_expr *rd_formula_eye(const rd_arguments *a, int64_t n, int64_t m, int64_t k);
rd_expr *rd_formula_linspace(const rd_arguments *a, double start, double stop, int64_t n, bool end);
/* A tensor product; argument k says the axes. */
rd_expr *rd_formula_tensordot(const rd_arguments *a, int k);
/* The cross product of vectors of three elements along an axis. */
rd_expr *rd_formula_cross(const rd_arguments *a, int axis);
/* special.c: functions of scipy.special, composed of operators without loss of accuracy. */
rd_expr *rd_formula_xlogy(rd_expr *x, rd_expr *y);
rd_expr *rd_formula_xlog1py(rd_expr *x, rd_expr *y);
rd_expr *rd_formula_entr(rd_expr *x);
rd_expr *rd_formula_logit(rd_expr *x);
rd_expr *rd_formula_entropy(rd_expr *x, rd_dims along, rd_dims dims);
rd_expr *rd_formula_jaccard(rd_expr *x, rd_expr *y, rd_dims dims);
rd_expr *rd_formula_corrcoef(const rd_arguments *a);
#endif
