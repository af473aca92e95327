/* sparse_masked.c - masked products: products of two sparse matrices at the places of a third
 * one.
 *
 * A product that is multiplied by a sparse matrix of ints is needed at that matrix's places
 * alone.  So is one that a mask chooses by `where`, or that meets a .stored operand.  The
 * product's own places may be a hundred times as many.  They are not listed then.
 *
 * The product is C = A B.  The *mask* is the third matrix, and C gets its places.  A place of C
 * that A B has as well is one of the product's *own*.
 *
 * Words. The fill of a sparse array is its value where nothing is stored. */
#include "expr/origin.h"
#include "expr/row_places.h"
#include "expr/sparse_places.h"
#include "expr/sparse_product.h"
#include "kernels/product/sparse_product.h"

/* ---- By rows or by places -------------------------------------------------------------------- */
/* The stride with which n elements are sampled to estimate work: 16 if there are more than 16384,
 * as an estimate must cost little; else 1, and all are looked at. */
static int64_t sample_step(int64_t n)
{
    enum { ALL = 1 << 14, STEP = 16 };

    return n > ALL ? STEP : 1;
}

/* Estimates the multiplications of Gustavson's algorithm: each nonzero of A in column k is
 * multiplied with all of row k of B.  It samples the nonzeros of A if there are many. */
static double work_by_rows(const rd_row_product *p)
{
    const int64_t step = sample_step(p->a.n); /* 1: exact */
    double        work = 0;

    for (int64_t k = 0; k < p->a.n; k += step)
        work += (double)step *
                (double)rd_row_length(p->wide, &p->b, rd_index_at(p->wide, p->a.column, k));
    return work;
}

/* Estimates the multiplications if each wanted element (i, j) of C is an inner product of row i of
 * A and column j of B, which goes through the shorter of both.  Rows of C are sampled if there are
 * many. */
static double work_by_places(const rd_row_product *p)
{
    const int64_t step = sample_step(p->c.rows);
    double        work = 0;

    for (int64_t i = 0; i < p->c.rows; i += step) {
        const int64_t row = rd_row_length(p->wide, &p->a, i);
        const int64_t end = rd_index_at(p->wide, p->c.begin, i + 1);

        for (int64_t q = rd_index_at(p->wide, p->c.begin, i); q < end; q++) {
            const int64_t column =
                rd_row_length(p->wide, &p->b_columns, rd_index_at(p->wide, p->c.column, q));

            work += (double)step * (double)(row < column ? row : column);
        }
    }
    return work;
}

/* Chooses the cheaper strategy for C = A B at wanted positions: Gustavson row by row of A, or an
 * inner product for each wanted element.  The latter needs B by columns (a transpose), which is
 * made here.  False: no memory. */
static bool choose_mask(rd_row_product *p, rd_ctx *ctx)
{
    /* Costs in units of a multiplication: transposing a nonzero, and beginning an inner product. */
    enum { TRANSPOSE = 4, BEGIN = 8 };
    const double by_rows = work_by_rows(p);
    /* for B to be transposed, and each wanted element to be transposed and begun */
    const double transposing = TRANSPOSE * (double)p->b.n + (TRANSPOSE + BEGIN) * (double)p->c.n;

    p->mask = RD_MASK_BY_ROWS;
    if (transposing >= by_rows) /* even before any inner product */
        return true;
    if (!rd_turn_places(ctx, &p->b, &p->b_columns, p->wide))
        return false;
    if (transposing + work_by_places(p) >= by_rows)
        return true;
    p->mask = RD_MASK_BY_PLACES;
    return rd_deal_places(p, ctx);
}

/* ---- Places that the product has, too -------------------------------------------------------- */
/* Allocates zeroed memory of the context `user`: the hook of rd_row_memory that the kernel
 * calls. */
static void *allocate(void *user, int64_t bytes)
{
    return rd_alloc(user, bytes);
}

/* Frees memory of the context `user`: the hook of rd_row_memory that the kernel calls. */
static void release(void *user, void *memory)
{
    rd_free(user, memory);
}

/* Sets has[q] to 1 for each wanted position q of C at which A B has a nonzero, too, and to 0 for
 * the others.  It runs the same kernel with all values 1 over the semiring (any, and).  False: no
 * memory. */
static bool mark_own(const rd_row_product *of, rd_ctx *ctx, int64_t *has)
{
    const rd_row_memory memory = { allocate, release, ctx };
    rd_row_product      p      = *of;
    /* ones[] stands for the values of A and for those of B */
    const int64_t  most = p.a.n > p.b.n ? p.a.n : p.b.n;
    int64_t *const ones = rd_alloc(ctx, (most + 1) * (int64_t)sizeof *ones);
    bool           done;

    for (int64_t k = 0; ones && k < most; k++)
        ones[k] = 1;
    p.reducer = RD_ROW_ANY;
    p.op      = RD_ROW_AND;
    p.type    = RD_I64; /* of the values: 0 and 1 */
    done      = ones &&
           rd_row_product_run(&p, ones, ones, has, rd_places_threads(ctx, p.a.n + p.c.n), &memory);
    rd_free(ctx, ones);
    return done;
}

/* Copies coordinate k of those places (nonzero positions) of `of` whose has[q] is 1 to the row
 * `to`, which has i64 if `wide`, else i32. */
static void write_own(const rd_expr *of, int k, const int64_t *has, bool wide, void *to)
{
    const rd_expr *const row = of->in[2 + k];
    int64_t              n   = 0;

    for (int64_t q = 0; q < row->extent[0]; q++)
        if (has[q])
            rd_put_index(wide, to, n++, rd_index_at(row->type == RD_I64, row->as.leaf->data, q));
}

/* Makes a sparse matrix of `true` at the n places (nonzero positions) of `places` that has[] marks
 * with 1.  It serves as a list of positions only, so it has no fill.  NULL after a failure. */
static rd_expr *some_places(const rd_expr *places, int64_t n, const int64_t *has, const char *call)
{
    rd_ctx *const  ctx = places->ctx;
    rd_expr *const one = rd_number(ctx, RD_BOOL, (rd_word){ .u64 = 1 });
    void          *row, *column;
    rd_expr       *coord[2];

    /* Row indices get room behind them for where each row begins, as in CSR. */
    coord[0] = rd_first_row(ctx, n, places->extent[0], &row, call);
    coord[1] = rd_index_row(ctx, n, places->in[3]->type == RD_I32, &column, call);
    if (!one || !coord[0] || !coord[1])
        return NULL;
    write_own(places, 0, has, coord[0]->type == RD_I64, row);
    write_own(places, 1, has, coord[1]->type == RD_I64, column);
    if (!rd_row_ascends(coord[0], places->extent[0], call))
        return NULL;
    return rd_sparse_node(rd_broadcast_to(one, 1, &n, call), /*fill=*/NULL, 2, places->extent, 2,
                          coord, (const int64_t[]){ 0, 1 });
}

/* Returns the wanted places (positions) at which the product has a nonzero, too, as a sparse matrix
 * of `true`.  NULL: no memory. */
static rd_expr *own_places(const rd_row_product *p, const rd_expr *places, const char *call)
{
    rd_ctx *const  ctx = places->ctx;
    int64_t *const has = rd_alloc(ctx, (p->c.n + 1) * (int64_t)sizeof *has);
    int64_t        n   = 0;
    rd_expr       *y   = NULL;

    if (has && mark_own(p, ctx, has)) {
        for (int64_t q = 0; q < p->c.n; q++)
            n += has[q];
        y = some_places(places, n, has, call);
    }
    rd_free(ctx, has);
    return y;
}

/* ---- Products -------------------------------------------------------------------------------- */
/* True if the matrix needs i64 indices: it has more than 2^31 - 1 places (nonzeros), rows or
 * columns. i64 indices that fit are copied to i32, as they are read several times. */
static bool is_wide(const rd_expr *x)
{
    return x->in[2]->extent[0] > INT32_MAX || x->extent[0] > INT32_MAX || x->extent[1] > INT32_MAX;
}

/* Fills in the CSR arrays (row begins, columns) of x.  If one of the first n operands in had[] (A,
 * then B) has the same pattern, its arrays are shared.  False: no memory. */
static bool fill_places(rd_row_places *to, const rd_expr *x, const rd_row_product *p,
                        rd_expr *const *had, int n)
{
    for (int k = 0; k < n; k++)
        if (rd_same_pattern(had[k], x)) {
            *to = k == 0 ? p->a : p->b;
            return true;
        }
    return rd_fill_row_places(to, x, p->wide);
}

/* Fills in the CSR arrays of A, B and the wanted positions of C = A B, and chooses the strategy.
 * Each may share the arrays of an operand before it.  False: no memory. */
static bool fill_all_places(rd_row_product *p, rd_expr *const *in, const rd_expr *places)
{
    p->wide = is_wide(in[0]) || is_wide(in[1]) || is_wide(places);
    return fill_places(&p->a, in[0], p, in, /*n=*/0) && fill_places(&p->b, in[1], p, in, 1) &&
           fill_places(&p->c, places, p, in, 2) && choose_mask(p, places->ctx);
}

/* Makes the product a b at the places (nonzero positions) of a third matrix, `places`: a masked
 * product.  `exact`: only where a b has a nonzero as well; otherwise the result stores a 0 there.
 * NULL after a failure. */
rd_expr *rd_multiply_rows_at(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op,
                             rd_expr *places, bool exact, const char *call)
{
    const int64_t  origin[] = { rd_origin(a, 0), rd_origin(b, 1) };
    rd_row_product p;
    rd_expr       *in[] = { a, b };

    if (!rd_begin_product(&p, in, reducer, op, call) ||
        !(places = rd_real_from(places, /*origin=*/NULL)) || !(places = rd_by_rows(places, call)) ||
        !fill_all_places(&p, in, places))
        return NULL;
    /* The wanted positions shrink, so all is filled in again for them. */
    if (exact && (!(places = own_places(&p, places, call)) || !fill_all_places(&p, in, places)))
        return NULL;
    /* in[2], in[3]: coordinates */
    return rd_sparse_from(rd_end_product(&p, in, places->in + 2, call), origin);
}

/* ---- Masks ----------------------------------------------------------------------------------- */
/* True if x is a sparse matrix of the product's shape, with coordinates along both axes, so that
 * its positions can serve as a mask of the product. */
static bool is_mask(const rd_expr *x, const rd_expr *product)
{
    return rd_has_pattern(x) && x->rank == 2 && rd_coords_of(x) == 2 &&
           x->extent[0] == product->extent[0] && x->extent[1] == product->extent[1];
}

/* True if x is known to be 0 wherever nothing is stored (its fill is 0). */
static bool has_zeros(const rd_expr *x)
{
    return rd_fill_of(x) && rd_zero_of(rd_fill_of(x)) == RD_ZERO;
}

/* True if operand k, a product that is computed on demand, is needed only at the stored positions
 * of operand m.  So it is if m has nothing elsewhere (its fill is NULL), if `where` has m as its
 * condition and m is false elsewhere, or if 0 times anything is 0, as for ints.  A product without
 * a fill (later->stored) needs an m without one. */
static bool is_mask_for(rd_op op, int n, rd_expr *const *x, int m, int k)
{
    const bool nothing = !rd_fill_of(x[m]);

    if (nothing || x[k]->as.later->stored)
        return nothing;
    if (op == RD_OP_where)
        return m == 0 && k == 1 && has_zeros(x[0]);
    if (n != 2 || rd_keeps_zero(op) != RD_KEEPS_ANY || !has_zeros(x[m]))
        return false;
    return rd_dtype_kind(x[k]->type) != RD_KIND_FLOAT && rd_dtype_kind(x[m]->type) != RD_KIND_FLOAT;
}

/* Computes the sparse product x[k] of a map's operands x[0..n).  If another operand is a mask, it
 * is computed at that operand's stored positions alone, else at all of its own.  NULL after a
 * failure. */
static rd_expr *product_at_mask(rd_op op, int n, rd_expr *const *x, int k, const char *call)
{
    const rd_later_facts *const of = x[k]->as.later;
    const rd_reducer_id         by = (rd_reducer_id)of->reducer;
    rd_expr                    *y;

    if (!rd_row_product_masks(by, (rd_op)of->op))
        return rd_listed(x[k]);
    for (int m = 0; m < n; m++)
        if (is_mask(x[m], x[k]) && is_mask_for(op, n, x, m, k)) {
            y = rd_multiply_rows_at(x[k]->in[0], x[k]->in[1], by, (rd_op)of->op, x[m], of->stored,
                                    call);
            return rd_real_from(rd_real_cast(y, x[k]->type), /*origin=*/NULL);
        }
    return rd_listed(x[k]);
}

/* Computes the products among the operands of a map that are computed on demand, if possible at the
 * places of a mask alone.  It goes from the last operand to the first, as a mask may itself be such
 * a product.  False after a failure.  A LATER operand is such a product. */
bool rd_mask_products(rd_op op, int n, rd_expr **x, const char *call)
{
    for (int k = n; k-- > 0;)
        if (rd_is_later(x[k]) && !(x[k] = product_at_mask(op, n, x, k, call)))
            return false;
    return true;
}
