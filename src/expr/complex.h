/* complex.h - complex expressions: pairs of real ones.
 *
 * A node of type c64 or c128 is a COMPLEX.  Its operands are its real and its imaginary part, of
 * f32 or f64 and of its shape.  Views apply to both parts.  Maps and reductions are made of real
 * ones by rows of a table (complex_maps.c, complex_reduce.c).  Both parts share loops as any two
 * expressions do, so no loop knows of complex numbers.  In memory a complex array is an array of
 * floats with one more axis, of extent 2.  A leaf is two views of that array, and a result is
 * one concatenation (rd_complex_pairs). */
#ifndef RD_EXPR_COMPLEX_H
#define RD_EXPR_COMPLEX_H
#include "expr/expr.h"

/* True if x is a COMPLEX node, a pair of a real and an imaginary part. */
static inline bool rd_is_complex(const rd_expr *x)
{
    return x->kind == RD_EXPR_COMPLEX;
}

/* True if any of the operands is complex. */
bool rd_any_complex(int n, rd_expr *const *x);
/* Makes re + i im, both f32 or both f64, broadcast to one shape.  NULL if a part is NULL. */
rd_expr *rd_complex_of(rd_expr *re, rd_expr *im, const char *call);
/* Makes the view that rd_view() describes, of both parts of a complex x. */
rd_expr *rd_complex_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                         const int64_t *origin);
/* Applies an operator to operands of one context, at least one of which is complex.  Records for
 * `call` if there is no such map. */
rd_expr *rd_complex_map(rd_op op, const char *call, int n, rd_expr *const *x);
/* Casts from or to complex.  A complex x becomes complex or bool (x != 0), any other type is
 * RD_ERR_TYPE. */
rd_expr *rd_complex_cast(rd_expr *x, rd_dtype type);
/* Makes a reduction, or a scan, of a complex x by its name in reducers.def. */
rd_expr *rd_complex_reduce(rd_expr *x, const char *call, const char *name,
                           const rd_reduce_opts *opts);
rd_expr *rd_complex_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* Derives from the keywords of a reduction those for real and imaginary parts.  `complex`: the
 * result is complex, too.  Part 0's .weights, and the NaN it skips, count for part 1 as well.
 * False after recording what is wrong. */
bool rd_complex_options(const char *call, int n, rd_expr *const *x, const rd_reduce_opts *opts,
                        bool complex, rd_reduce_opts part[2]);
/* True if an operand is complex, after recording RD_ERR_TYPE for `call`, which takes real
 * operands only. */
bool rd_refuse_complex(const char *call, int n, rd_expr *const *x);

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Describes an array of complex numbers as an array of parts with one more axis; false after
 * recording for `call` that it has too many axes. */
bool rd_complex_array(rd_ctx *ctx, const rd_array *array, const char *call, rd_array *parts);
/* Makes the complex expression of an expression of parts, which lie along its last axis. */
rd_expr *rd_complex_leaf(rd_expr *parts, const char *call);
/* Returns the leaf of parts below a complex leaf, and any other x itself. */
rd_expr *rd_leaf_below(rd_expr *x);
/* Makes both parts as one expression with one more axis, if they are the same maps of parts that
 * are adjacent in memory; loops then run along memory.  NULL if they are not; nothing is
 * recorded. */
rd_expr *rd_complex_together(rd_expr *x);
/* Makes the array of pairs of a complex x: its parts along one more axis, as they are stored. */
rd_expr *rd_complex_pairs(rd_expr *x);
#endif
