/* complex.h - complex expressions: a pair of real ones.
 *
 * A node of type c64 or c128 is a COMPLEX, whose operands are its real and its imaginary part, of
 * f32 or f64 and of its shape.  Views distribute over both, maps and reductions are made of real
 * ones by rows (complex_maps.c, complex_reduce.c), and both parts share loops as any two
 * expressions do.  So nothing that loops over elements knows of complex numbers.  In memory they
 * are pairs, which is an array of floats with one axis more: a leaf is two views of that, and a
 * result one concatenation (rd_complex_pairs). */
#ifndef RD_EXPR_COMPLEX_H
#define RD_EXPR_COMPLEX_H
#include "expr/expr.h"

static inline bool rd_is_complex(const rd_expr *x)
{
    return x->kind == RD_EXPR_COMPLEX;
}

/* Is one of them? */
bool rd_any_complex(int n, rd_expr *const *x);
/* re + i im, both f32 or both f64; broadcast to one shape.  NULL if one is. */
rd_expr *rd_complex_of(rd_expr *re, rd_expr *im, const char *call);
/* As rd_view(), of both parts of a complex x. */
rd_expr *rd_complex_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                         const int64_t *origin);
/* An operator on operands one of which is complex, of one context; `call` is told where there is no
 * such map. */
rd_expr *rd_complex_map(rd_op op, const char *call, int n, rd_expr *const *x);
/* x, which is complex or shall be, as `type`, which is complex or bool: it is not 0.  Of any other
 * type there is no way: RD_ERR_TYPE. */
rd_expr *rd_complex_cast(rd_expr *x, rd_dtype type);
/* A reduction or scan of a complex x by its name in reducers.def. */
rd_expr *rd_complex_reduce(rd_expr *x, const char *call, const char *name,
                           const rd_reduce_opts *opts);
rd_expr *rd_complex_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* The keywords of a reduction of n operands, some complex, for that of their real and of their
 * imaginary parts; `complex`: so is the result.  Part 0's .weights, and NaN that are left out, are
 * also part 1's.  False after recording what is wrong. */
bool rd_complex_options(const char *call, int n, rd_expr *const *x, const rd_reduce_opts *opts,
                        bool complex, rd_reduce_opts part[2]);
/* True after recording RD_ERR_TYPE for `call`, which takes real operands alone: one is complex. */
bool rd_refuse_complex(const char *call, int n, rd_expr *const *x);

/* ---- Memory ---------------------------------------------------------------------------------- */
/* The array of pairs as an array of parts, with one axis more; false after recording for `call`
 * that it has too many. */
bool rd_complex_array(rd_ctx *ctx, const rd_array *array, const char *call, rd_array *parts);
/* The complex expression that is in an expression of parts, along its last axis. */
rd_expr *rd_complex_leaf(rd_expr *parts, const char *call);
/* The leaf of parts that a complex leaf is made of; any other x: itself. */
rd_expr *rd_leaf_below(rd_expr *x);
/* Both parts along one more axis, where they are the same maps of what lies together in memory: so
 * they run along it as it lies.  NULL: they are not; nothing is recorded. */
rd_expr *rd_complex_together(rd_expr *x);
/* The parts of a complex x along one more axis, as they are stored. */
rd_expr *rd_complex_pairs(rd_expr *x);
#endif
