/* rdim/sparse.h - sparse arrays: leaves in any format, their patterns, and sparse results.
 *
 * A sparse leaf has elements at some places and a fill, 0 by default, at all others.  The places
 * are its pattern.  Maps, reductions, products and views of whole axes visit the stored places
 * only.  They give what they give for the dense array: a fill of 0 times an infinite element is
 * NaN.
 *
 * With .stored there is nothing at the other places: no element of a reduction, and no neighbour of
 * a softmax.  Products then go as hand-written loops over stored elements do.
 *
 * Operations without a sparse algorithm, such as slices, visit all places and look each one up;
 * docs/sparse.md lists them.  rd_eval() of a sparse expression gives a dense array;
 * rd_eval_sparse() gives a sparse one.  SciPy's counterpart is scipy.sparse. */
#ifndef RDIM_SPARSE_H
#define RDIM_SPARSE_H
#include "arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Leaves ---------------------------------------------------------------------------------- */
/** How a level of a sparse format stores the indices of one axis (as in TACO). */
typedef enum rd_level_kind {
    /** Stores every index, so it needs no arrays. */
    RD_LEVEL_DENSE,
    /** For parent position p it stores the indices crd[pos[p]] to crd[pos[p + 1] - 1],
     *  ascending. */
    RD_LEVEL_COMPRESSED,
    /** Entry p has index crd[p].  Only the last levels of a format, or all, are such.  Entries
     *  ascend by the index of the first such level, then by that of the next. */
    RD_LEVEL_COORDINATES
} rd_level_kind;
/** One level of a sparse leaf. */
typedef struct rd_level {
    rd_level_kind kind;
    /** The axis of the array that this level has. */
    int32_t       axis;
    /** Leaves of memory, rows of i32 or i64; NULL where the kind has none. */
    rd_expr      *pos, *crd;
} rd_level;
/** The levels of a sparse leaf.  RD_LEVELS() makes one. */
typedef struct rd_levels { const rd_level *at; int32_t n; } rd_levels;
/** A sparse leaf of any format. */
typedef struct rd_sparse_opts {
    /** sizeof(rd_sparse_opts); the macro sets it. */
    uint32_t  size;
    /** The extent of each axis. */
    rd_shape  shape;
    /** One level for each axis, in the order in which values are stored. */
    rd_levels levels;
    /** A row with one value for each stored place: any expression.  NULL: true. */
    rd_expr  *values;
    /** A number, the element at all other places.  NULL: 0. */
    rd_expr  *fill;
    /** There is nothing at the other places. */
    bool      stored;
    /** Do not check that indices ascend.  That they are inside the shape is always checked. */
    bool      trusted;
    /** The first index along each axis; n == 0: 0.  crd counts from 0 all the same. */
    rd_index  origin;
} rd_sparse_opts;
/** A sparse leaf, level by level, of any rank.
 *
 *  @return a node of that shape and of the values' type.  NULL on RD_ERR_SHAPE (extents or lengths
 *          that do not fit), RD_ERR_ARGUMENT (an index is outside or does not ascend, with its
 *          position; an axis has no level, or two), RD_ERR_TYPE (of indices; the fill does not
 *          fit), or RD_ERR_MEMORY.
 *  Ownership: index arrays are read once, now.  They stay the caller's and must not change while
 *  the node is in use.
 *  Memory: 4 bytes a stored place for each axis but the last compressed one, and 4 bytes for each
 *  index of the first axis.  It takes 4 more bytes a place if one index of the first axis has a
 *  great share of all places, or each has over 2^15 in the mean. */
RD_API rd_expr *rd_sparse_of(rd_ctx *ctx, const rd_sparse_opts *opts);
/** A sparse matrix in a usual format.  The fields mean what those of rd_sparse_opts do. */
typedef struct rd_matrix_opts {
    /** sizeof(rd_matrix_opts); the macros set it. */
    uint32_t size;
    rd_shape shape;
    /** COO: the row and the column of each place.  CSR, CSC: see rd_csr_of(), rd_csc_of(). */
    rd_expr *pos, *crd;
    rd_expr *values;
    rd_expr *fill;
    bool     stored, trusted;
    rd_index origin;
} rd_matrix_opts;
/** A matrix in CSR format: row i has the columns crd[pos[i]] to crd[pos[i + 1] - 1].
 *  scipy.sparse.csr_array.  Result, errors, ownership: see rd_sparse_of(). */
RD_API rd_expr *rd_csr_of(rd_ctx *ctx, const rd_matrix_opts *opts);
/** A matrix in CSC format: column i has the rows crd[pos[i]] to crd[pos[i + 1] - 1].
 *  scipy.sparse.csc_array.  Result, errors, ownership: see rd_sparse_of(). */
RD_API rd_expr *rd_csc_of(rd_ctx *ctx, const rd_matrix_opts *opts);
/** A matrix in COO format: place p is row pos[p], column crd[p].  Places ascend by row, then by
 *  column.  scipy.sparse.coo_array.  Result, errors, ownership: see rd_sparse_of(). */
RD_API rd_expr *rd_coo_of(rd_ctx *ctx, const rd_matrix_opts *opts);

/* ---- Patterns -------------------------------------------------------------------------------- */
/** Whether x has a pattern; false for NULL. */
RD_API bool rd_is_sparse(const rd_expr *x);
/** A sparse x as a dense array with its fills (0 with .stored); a dense x itself.
 *  scipy.sparse: x.toarray(). */
RD_API rd_expr *rd_dense(rd_expr *x);
/** The stored elements of a sparse x in their order, as a row, then the axes of x that its pattern
 *  lacks.  scipy.sparse: x.data.
 *
 *  So results can stay sparse: rd_eval_many(ctx, RD_RESULTS({ rd_stored(y), &values },
 *  { rd_stored_at(y, 1), &column }), NULL).
 *  @return NULL on RD_ERR_TYPE: x is dense. */
RD_API rd_expr *rd_stored(rd_expr *x);
/** The index of each stored element along an axis of the pattern, as a row of integers.
 *  scipy.sparse: x.coords[axis].
 *  @return NULL on RD_ERR_TYPE (x is dense), or RD_ERR_AXIS. */
RD_API rd_expr *rd_stored_at(rd_expr *x, int axis);
/** A sparse array with x's pattern, fill and .stored, and with other elements, in the shape of
 *  rd_stored(x).
 *  @return NULL on RD_ERR_SHAPE, or RD_ERR_TYPE (x is dense). */
RD_API rd_expr *rd_stored_as(rd_expr *x, rd_expr *values);

/* ---- Sparse results -------------------------------------------------------------------------- */
/** An index array of a sparse result. */
typedef struct rd_indices {
    void    *data;
    /** The number of indices. */
    int64_t  n;
    /** RD_I32, or RD_I64 if an index needs it. */
    rd_dtype type;
    /** As rd_array.owner. */
    void    *owner;
} rd_indices;
/** A level of a sparse result.  An index array that the kind lacks has .data NULL. */
typedef struct rd_stored_level {
    rd_level_kind kind;
    int32_t       axis;
    rd_indices  pos, crd;
} rd_stored_level;
/** A sparse result. */
typedef struct rd_sparse_array {
    rd_shape        shape;
    /** The number of levels, one for each axis. */
    int32_t         n_level;
    /** There is nothing at the other places. */
    bool            stored;
    rd_stored_level level[RD_MAX_RANK];
    /** A row, in the order of the levels. */
    rd_array        values;
    /** A number, the element at all other places; empty if `stored`. */
    rd_array        fill;
    /** The first index along each axis; n == 0: 0.  crd counts from 0 all the same. */
    rd_index        origin;
} rd_sparse_array;
/** Evaluates a sparse y into a sparse array:
 *      rd_sparse_array c = { 0 };
 *      rd_eval_sparse(ctx, y, &c);                    // CSR: c.level[1].pos, .crd, c.values
 *      rd_expr *again = rd_adopt_sparse(ctx, &c);
 *  If the pattern is known, as an operand's or from an earlier evaluation, rd_stored(y) has the
 *  values alone.
 *
 *  @param out  zeroed: a matrix becomes CSR.  In other ranks the first axis of the pattern is
 *              DENSE, the others are COMPRESSED, and axes that the pattern lacks follow as DENSE.
 *              Otherwise n_level and each level's kind and axis say what is wanted, as in
 *              rd_sparse.  The last level of a pattern is not DENSE.  COORDINATES behind DENSE
 *              levels have one entry for each index.  The result owns its memory: free it with
 *              rd_sparse_array_free().
 *  @return     RD_OK, or the recorded error; then out is unchanged.  RD_ERR_TYPE (y is dense, or
 *              its fill is not one number), RD_ERR_ARGUMENT (levels, or out has an array already),
 *              RD_ERR_MEMORY, and the errors of rd_eval(). */
RD_API rd_status rd_eval_sparse(rd_ctx *ctx, rd_expr *y, rd_sparse_array *out);
/** Frees what the array owns and zeroes it.  NULL is allowed. */
RD_API void rd_sparse_array_free(rd_sparse_array *array);
/** A sparse leaf that owns the array's memory, as rd_adopt() does.  The array still describes it.
 *  @return as rd_sparse_of(). */
RD_API rd_expr *rd_adopt_sparse(rd_ctx *ctx, rd_sparse_array *array);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** The levels of rd_sparse, for one call: RD_LEVELS({ RD_LEVEL_COMPRESSED, 0, pos, crd }, ...). */
#define RD_LEVELS(...) \
    ((rd_levels){ (const rd_level[]){ __VA_ARGS__ }, RD_N_(rd_level, __VA_ARGS__) })
/** rd_sparse(ctx, RD_SHAPE(l, n, m), RD_LEVELS(...), values, keywords).  See rd_sparse_of(). */
#define rd_sparse(ctx, ...) \
    rd_sparse_of(ctx, &(rd_sparse_opts){ .size = sizeof(rd_sparse_opts), .shape = __VA_ARGS__ })
/** rd_csr(ctx, RD_SHAPE(n, m), pos, column, values, keywords).  See rd_csr_of(). */
#define rd_csr(ctx, ...) rd_csr_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
/** rd_csc(ctx, RD_SHAPE(n, m), pos, row, values, keywords).  See rd_csc_of(). */
#define rd_csc(ctx, ...) rd_csc_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
/** rd_coo(ctx, RD_SHAPE(n, m), row, column, values, keywords).  See rd_coo_of(). */
#define rd_coo(ctx, ...) rd_coo_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
#define RD_MATRIX_OPTS_(...) \
    (&(rd_matrix_opts){ .size = sizeof(rd_matrix_opts), .shape = __VA_ARGS__ })
#endif
#endif
