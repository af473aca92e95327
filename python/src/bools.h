/* bools.h - arithmetic by NumPy's rules of bools; of other operands these are the library's functions. */
#ifndef RDPY_BOOLS_H
#define RDPY_BOOLS_H
#include <rdim.h>

rd_expr *rdpy_abs(rd_expr *x);
/* "or" and "and" */
rd_expr *rdpy_add(rd_expr *x, rd_expr *y);
rd_expr *rdpy_multiply(rd_expr *x, rd_expr *y);
/* A TypeError: NumPy has no result, either. */
rd_expr *rdpy_subtract(rd_expr *x, rd_expr *y);
rd_expr *rdpy_negative(rd_expr *x);
rd_expr *rdpy_sign(rd_expr *x);
/* int8 */
rd_expr *rdpy_floor_divide(rd_expr *x, rd_expr *y);
rd_expr *rdpy_remainder(rd_expr *x, rd_expr *y);
rd_expr *rdpy_power(rd_expr *x, rd_expr *y);
rd_expr *rdpy_left_shift(rd_expr *x, rd_expr *y);
rd_expr *rdpy_right_shift(rd_expr *x, rd_expr *y);
rd_expr *rdpy_square(rd_expr *x);
/* whether any pair of elements is true */
rd_expr *rdpy_matmul(rd_expr *x, rd_expr *y);
rd_expr *rdpy_dot(rd_expr *x, rd_expr *y);
rd_expr *rdpy_outer(rd_expr *x, rd_expr *y);
rd_expr *rdpy_kron(rd_expr *x, rd_expr *y);
#endif
