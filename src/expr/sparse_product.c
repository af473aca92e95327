/* sparse_product.c - products of two sparse matrices over a semiring (Gustavson's algorithm, row
 * by row).
 *
 * The pattern of the product is found once, on demand (sparse_later.c).  Row i has the places of
 * all rows k of B for which row i of A has a place.  The values are a PRODUCT node of their own,
 * with a kernel in kernels/product/sparse_product.h.  So a repeated evaluation computes values
 * only.  A *semiring* has two operators in place of sum and product, such as min and +.  *Wide*
 * indices are i64, others i32.
 *
 * Words. The fill of a sparse array is its value where nothing is stored. The origin of an axis is
 * its first index, 0 unless the caller says another. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/row_places.h"
#include "expr/sparse.h"
#include "expr/sparse_places.h"
#include "expr/sparse_product.h"
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- Indices of a row, in order -------------------------------------------------------------- */
/* A set of ints as a hierarchical bitmap.  Level 0 has a bit for each int.  Each higher level
 * has a bit for each word below, set if that word is not 0.  So listing in order, and emptying,
 * takes a few steps for each element, however far apart they are. */
enum { DEPTH = 11 };
typedef struct bits {
    uint64_t *word[DEPTH]; /* by level */
    int       depth;       /* levels; the last one has a single word */
    int64_t   words;       /* of all levels */
} bits;

/* The number of 64-bit words that hold n bits. */
static int64_t words_of(int64_t n)
{
    return (n + 63) / 64;
}

/* Sets the number of levels of a hierarchical bitmap for ints below n: each level has a bit for
 * each word of the level below.  Returns the words of all levels. */
static int64_t shape_bits(int64_t n, bits *b)
{
    b->depth = 0;
    b->words = 0;
    do {
        n = words_of(n);
        b->words += n;
        b->depth++;
    } while (n > 1);
    return b->words;
}

/* Gives each level of a hierarchical bitmap for ints below n its words in memory, one level after
 * the other. */
static void place_bits(int64_t n, uint64_t *at, bits *b)
{
    for (int k = 0; k < b->depth; k++) {
        n          = words_of(n);
        b->word[k] = at;
        at += n;
    }
}

/* Adds i to a hierarchical bitmap: sets its bit at level 0, and in each higher level the bit of the
 * word below.  It stops at a word that was not 0, as the bits above are set already. */
static inline void put_bit(const bits *b, int64_t i)
{
    b->word[0][i >> 6] |= (uint64_t)1 << (i & 63);
    for (int k = 1; k < b->depth; k++) {
        i >>= 6;
        uint64_t *const at  = &b->word[k][i >> 6];
        const uint64_t  old = *at;

        *at = old | (uint64_t)1 << (i & 63);
        if (old)
            break;
    }
}

/* Column indices of one row, as i32 or i64 (the other is NULL); n counts them. */
typedef struct list {
    int32_t *narrow;
    int64_t *wide;
    int64_t  n;
} list;

/* Appends to a list, in order, all ints of a hierarchical bitmap that lie below word w of level k,
 * and clears their bits. */
static void list_bits(const bits *b, int k, int64_t w, list *to)
{
    uint64_t left = b->word[k][w];

    b->word[k][w] = 0;
    for (; left; left &= left - 1) {
        const int64_t i = w * 64 + __builtin_ctzll(left);

        if (k > 0)
            list_bits(b, k - 1, i, to);
        else if (to->narrow)
            to->narrow[to->n++] = (int32_t)i;
        else
            to->wide[to->n++] = i;
    }
}

/* ---- Where the result has places ------------------------------------------------------------- */
/* Lists the columns of row i of C = A B in order: the union of the columns of all rows of B for
 * which row i of A has a nonzero.  `set` is an empty bitmap, and is emptied again. */
static void list_row(const rd_row_product *p, const bits *set, int64_t i, list *to)
{
    const bool    wide = p->wide;
    const int64_t last = rd_index_at(wide, p->a.begin, i + 1);
    bool          any  = false;

    for (int64_t k = rd_index_at(wide, p->a.begin, i); k < last; k++) {
        const int64_t row = rd_index_at(wide, p->a.column, k);
        const int64_t end = rd_index_at(wide, p->b.begin, row + 1);

        for (int64_t q = rd_index_at(wide, p->b.begin, row); q < end; q++, any = true)
            put_bit(set, rd_index_at(wide, p->b.column, q));
    }
    if (any)
        list_bits(set, set->depth - 1, 0, to);
}

/* Counts the nonzeros of row i of C = A B. mark[j] holds the last row (from 1 on) that had column
 * j, so nothing is cleared between rows.  No order is needed, which takes a third of the time of a
 * list. */
static inline int64_t count_row(const rd_row_product *p, bool wide, void *mark, int64_t i)
{
    const int64_t last = rd_index_at(wide, p->a.begin, i + 1);
    int64_t       n    = 0;

    for (int64_t k = rd_index_at(wide, p->a.begin, i); k < last; k++) {
        const int64_t row = rd_index_at(wide, p->a.column, k);
        const int64_t end = rd_index_at(wide, p->b.begin, row + 1);

        for (int64_t q = rd_index_at(wide, p->b.begin, row); q < end; q++) {
            const int64_t j = rd_index_at(wide, p->b.column, q);

            n += rd_index_at(wide, mark, j) != i + 1;
            rd_put_index(wide, mark, j, i + 1);
        }
    }
    return n;
}

/* Estimates the number of multiplications: the nonzeros of A times the mean length of B's rows (and
 * 1 for A's own). */
static int64_t products_of(const rd_row_product *p)
{
    const double each = p->b.rows ? (double)p->b.n / (double)p->b.rows : 0;

    return (int64_t)fmin((double)p->a.n * (each + 1), 1e18);
}

/* Goes over all rows of A, shared among threads, in one of two passes.  Without `column` it counts
 * the nonzeros of row i of C = A B in begin[i + 1].  With it, it lists their columns from begin[i]
 * on, and the row index beside each.  False: no memory. */
static bool pass_over_rows(rd_ctx *ctx, const rd_row_product *p, int64_t *begin,
                           rd_expr *const *coord, void *row, void *column)
{
    enum { PIECE = 256 };
    bits          shape   = { .depth = 0 };
    const int64_t columns = p->b.columns;
    /* scratch of a thread in bytes: a bitmap of columns to list, marks of columns to count */
    const int64_t   notes = column ? shape_bits(columns, &shape) * 8 : columns * (p->wide ? 8 : 4);
    const int64_t   bytes = (notes + 63) / 64 * 64; /* whole cache lines */
    const int       threads = rd_places_threads(ctx, products_of(p));
    uint64_t *const room    = rd_alloc(ctx, bytes * threads);

    if (!room)
        return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        bits set = shape;
        int  own = 0;
#ifdef _OPENMP
        own = omp_get_thread_num();
#endif
        uint64_t *const here = room + own * (bytes / 8);
        if (column)
            place_bits(columns, here, &set);
#pragma omp for schedule(dynamic, 1)
        for (int64_t from = 0; from < p->a.rows; from += PIECE)
            for (int64_t i = from; i < from + PIECE && i < p->a.rows; i++) {
                list to = { .n = column ? begin[i] : 0 };

                to.narrow = p->wide ? NULL : column;
                to.wide   = p->wide ? column : NULL;
                if (column)
                    list_row(p, &set, i, &to);
                for (int64_t q = begin[i]; column && q < to.n; q++)
                    rd_put_index(coord[0]->type == RD_I64, row, q, i);
                if (!column)
                    begin[i + 1] = p->wide ? count_row(p, /*wide=*/true, here, i)
                                           : count_row(p, /*wide=*/false, here, i);
            }
    }
    rd_free(ctx, room);
    return true;
}

/* ---- The result's pattern -------------------------------------------------------------------- */
/* Turns the counts of rows in begin[1..rows] into the begin of each row, by a prefix sum; returns
 * the total. */
static int64_t begins_from_counts(int64_t *begin, int64_t rows)
{
    begin[0] = 0;
    for (int64_t i = 0; i < rows; i++)
        begin[i + 1] += begin[i];
    return begin[rows];
}

/* Lists row index, column and row begins of all nonzeros of the product, at the begins that a
 * counting pass found. coord[] gets the first two as nodes.  False: no memory. */
static bool list_places(rd_row_product *p, rd_ctx *ctx, int64_t *begin, rd_expr **coord,
                        const char *call)
{
    void *row, *column, *first = rd_index_room(ctx, p->c.rows, p->wide);

    coord[0] = rd_first_row(ctx, p->c.n, p->c.rows, &row, call);
    coord[1] = rd_index_row(ctx, p->c.n, p->c.columns <= INT32_MAX && !p->wide, &column, call);
    if (!first || !coord[0] || !coord[1] || !pass_over_rows(ctx, p, begin, coord, row, column))
        return false;
    for (int64_t i = 0; i <= p->c.rows; i++)
        rd_put_index(p->wide, first, i, begin[i]);
    p->c.begin  = first;
    p->c.column = column;
    return rd_row_ascends(coord[0], p->c.rows, call);
}

/* Finds the nonzero positions of C = A B in two passes: the first counts, the second lists.  If C
 * has too many for i32, all indices become i64.  False: no memory. */
static bool find_places(rd_row_product *p, const rd_expr *a, const rd_expr *b, rd_expr **coord,
                        const char *call)
{
    rd_ctx *const  ctx   = a->ctx;
    int64_t *const begin = rd_alloc(ctx, (a->extent[0] + 1) * (int64_t)sizeof *begin);
    bool           ok    = begin != NULL;

    p->wide = rd_is_wide_pattern(a) || rd_is_wide_pattern(b);
    ok = ok && rd_fill_row_places(&p->a, a, p->wide) && rd_fill_row_places(&p->b, b, p->wide) &&
         pass_over_rows(ctx, p, begin, /*coord=*/NULL, /*row=*/NULL, /*column=*/NULL);
    if (ok) {
        p->c = (rd_row_places){ .rows    = a->extent[0],
                                .columns = b->extent[1],
                                .n       = begins_from_counts(begin, a->extent[0]) };
        if (p->c.n > INT32_MAX && !p->wide) {
            p->wide = true;
            ok      = rd_fill_row_places(&p->a, a, /*wide=*/true) &&
                 rd_fill_row_places(&p->b, b, /*wide=*/true);
        }
    }
    ok = ok && list_places(p, ctx, begin, coord, call);
    rd_free(ctx, begin);
    return ok;
}

/* ---- Values and fill ------------------------------------------------------------------------- */
/* Makes the PRODUCT node that computes the values at the nonzeros of C from those of A and B; an
 * empty row if there is none. */
static rd_expr *values_at_places(const rd_row_product *p, const rd_expr *a, const rd_expr *b)
{
    const rd_dtype type = (rd_dtype)p->type;

    if (p->c.n == 0)
        return rd_broadcast_to(rd_number(a->ctx, type, rd_word_from_int(0, type)), 1, &p->c.n,
                               "rd_matmul");
    rd_expr *const in[] = { rd_cast_to(rd_values_of(a), type), rd_cast_to(rd_values_of(b), type) };

    return in[0] && in[1] ? rd_node(&(rd_expr){ .ctx    = a->ctx,
                                                .kind   = RD_EXPR_PRODUCT,
                                                .type   = type,
                                                .rank   = 1,
                                                .n_in   = 2,
                                                .extent = &p->c.n,
                                                .in     = in },
                                    p, sizeof *p)
                          : NULL;
}

/* A vector that is NaN for each row (axis 1 is summed) or column (axis 0) of x with an infinite or
 * NaN element, and 0 for the others.  It sums 0 times each stored element.  The summed axis is kept
 * with extent 1, to broadcast. */
static rd_expr *nan_of(const rd_expr *x, int axis, const char *call)
{
    rd_expr *const zero =
        rd_number(x->ctx, rd_values_of(x)->type, rd_word_from_double(0, rd_values_of(x)->type));
    rd_expr *const zeros = map_2(RD_OP_mul, call, zero, rd_values_of(x));
    rd_expr       *y     = zeros ? rd_sparse_with(x, zeros, /*fill=*/NULL) : NULL;
    rd_reduce_opts dims  = { .size = sizeof dims };

    dims.dims = (rd_dims){ .n = 1, .axis = { axis } };
    y         = y ? rd_reduce_name(y, "sum", &dims) : NULL;
    return map_2(RD_OP_mul, call, zero, y ? rd_expand(y, axis) : NULL);
}

/* The fill of C = A B, its value where nothing is stored.  It is 0, but for floats (p->counts) 0 *
 * inf makes it NaN along rows of A and columns of B that are not finite. */
static rd_expr *fill_of(const rd_row_product *p, const rd_expr *a, const rd_expr *b, rd_dtype type,
                        const char *call)
{
    const int64_t extent[] = { p->c.rows, p->c.columns };
    rd_expr      *fill = p->counts ? map_2(RD_OP_add, call, nan_of(a, 1, call), nan_of(b, 0, call))
                                   : rd_int(a->ctx, 0);

    return fill ? rd_broadcast_to(rd_cast_to(fill, type), 2, extent, call) : NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* True if x is a sparse matrix with coordinates along both axes and one value at each stored
 * position. */
static bool is_matrix(const rd_expr *x)
{
    return x && rd_has_pattern(x) && x->rank == 2 && rd_coords_of(x) == 2 &&
           rd_values_of(x)->rank == 1;
}

/* True if the fills (values where nothing is stored) allow a product row by row.  Either both
 * matrices have none, or both have 0, and 0 times x is the neutral element of the semiring's sum
 * (`zeros`). */
static bool fills_ok(const rd_expr *a, const rd_expr *b, bool zeros)
{
    const rd_expr *fill[] = { rd_fill_of(a), rd_fill_of(b) };

    if (!fill[0] && !fill[1])
        return true;
    return zeros && fill[0] && fill[1] && rd_zero_of(fill[0]) == RD_ZERO &&
           rd_zero_of(fill[1]) == RD_ZERO;
}

/* True if two sparse matrices can be multiplied row by row (Gustavson) over a semiring: (reducer,
 * op) in place of (sum, mul).  Both have one type, not u64, and a kernel exists.  For bools, (max,
 * minimum) is (any, and). */
bool rd_multiplies_rows(const rd_expr *a, const rd_expr *b, rd_reducer_id reducer, rd_op op)
{
    return is_matrix(a) && is_matrix(b) && a->extent[1] == b->extent[0] && a->type == b->type &&
           a->type != RD_U64 && rd_row_product_has(reducer, op) &&
           fills_ok(a, b, op == RD_OP_mul ? rd_reducer_adds_elements(reducer) : a->type == RD_BOOL);
}

/* Fills in the facts of the product C = A B, except its nonzero positions.  Both operands get
 * row-major order and origins (first indices) of 0. p->counts: fills are 0 and of floats, so 0
 * times an infinity counts as NaN.  False after a failure. */
bool rd_begin_product(rd_row_product *p, rd_expr **in, rd_reducer_id reducer, rd_op op,
                      const char *call)
{
    const bool real = rd_dtype_kind(in[0]->type) == RD_KIND_FLOAT;

    memset(p, 0, sizeof *p);
    p->reducer = (int32_t)reducer;
    p->op      = (int32_t)op;
    p->type    = real ? RD_F64 : RD_I64;
    p->counts  = real && rd_fill_of(in[0]);
    return rd_from_0(2, in) && (in[0] = rd_by_rows(in[0], call)) &&
           (in[1] = rd_by_rows(in[1], call));
}

/* Makes the SPARSE node of a product from its nonzero positions coord[]: values, and a fill (the
 * value elsewhere) if the operands have one. */
rd_expr *rd_end_product(const rd_row_product *p, rd_expr *const *in, rd_expr *const *coord,
                        const char *call)
{
    const rd_dtype type   = in[0]->type;
    rd_expr       *values = rd_cast_to(values_at_places(p, in[0], in[1]), type), *fill = NULL;

    if (rd_fill_of(in[0]) && !(fill = fill_of(p, in[0], in[1], type, call)))
        return NULL;
    return rd_sparse_node(values, fill, 2, (const int64_t[]){ p->c.rows, p->c.columns }, 2, coord,
                          (const int64_t[]){ 0, 1 });
}

/* Makes the product of two sparse matrices over the semiring (reducer, op): finds its nonzero
 * positions, then makes its node.  The result has A's first index of rows and B's of columns. */
rd_expr *rd_multiply_rows(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op, const char *call)
{
    const int64_t  origin[] = { rd_origin(a, 0), rd_origin(b, 1) };
    rd_row_product p;
    rd_expr       *in[] = { a, b }, *coord[2];

    if (!rd_begin_product(&p, in, reducer, op, call) || !find_places(&p, in[0], in[1], coord, call))
        return NULL;
    return rd_sparse_from(rd_end_product(&p, in, coord, call), origin);
}

/* ---- Products over a semiring ---------------------------------------------------------------- */
/* Finds a binary operator by name; -1: there is none. */
static int find_op(const char *name)
{
    int op = 0;

    while (op < RD_N_OPS && strcmp(rd_op_table[op].name, name) != 0)
        op++;
    return op < RD_N_OPS && rd_op_table[op].arity == 2 ? op : -1;
}

/* Makes a product row by row over the semiring (add, op), for example (min, add).  NULL, without a
 * failure, if the kernel, which works in f64 or i64, has no such sum, or if a reduction would have
 * another type.  So only i64 of ints can be summed, and bools need (any, and). */
static rd_expr *semiring_by_rows(rd_expr *a, rd_expr *b, const char *add, rd_op op)
{
    const bool          truth   = a->type == RD_BOOL && strcmp(add, "any") == 0 && op == RD_OP_and;
    const rd_reducer_id reducer = truth ? RD_ROW_ANY : rd_reducer_named(add);

    op = truth ? RD_ROW_AND : op;
    if (reducer == RD_RED_none)
        return NULL;
    if (a->type == RD_BOOL ? !truth
                           : !rd_reducer_is_extreme(reducer) &&
                                 rd_dtype_kind(a->type) != RD_KIND_FLOAT && a->type != RD_I64)
        return NULL;
    /* no narrow floats; the summed axes must begin at the same index */
    if (rd_dtype_is_narrow_float(a->type) || rd_origin(a, 1) != rd_origin(b, 0) ||
        !rd_multiplies_rows(a, b, reducer, op))
        return NULL;
    return rd_product_later(a, b, reducer, op);
}

/* Multiplies matrices over a semiring, such as ("min", "add") for shortest paths: the public call.
 * Sparse matrices are multiplied row by row if possible.  Others become a map over all (i, k, j)
 * and a reduction over k. */
rd_expr *rd_semiring(rd_expr *a, rd_expr *b, const char *add, const char *multiply)
{
    static const char call[] = "rd_semiring";
    rd_reduce_opts    opts   = { .size = sizeof opts, .dims = { .n = 1, .axis = { 1 } } };
    rd_expr          *y;

    if (!rd_operands(call, 2, (rd_expr *const[]){ a, b }) || !(a = rd_listed(a)) ||
        !(b = rd_listed(b)))
        return NULL;
    const int op = multiply ? find_op(multiply) : -1;
    if (!add || op < 0)
        return rd_fail(a->ctx, RD_ERR_ARGUMENT, "%s: %s%s%s is no operator of two operands", call,
                       add ? "\"" : "", add && multiply ? multiply : "NULL", add ? "\"" : "");
    if (rd_shape_of(a).n != 2 || rd_shape_of(b).n != 2 ||
        rd_shape_of(a).at[1] != rd_shape_of(b).at[0])
        return rd_fail(a->ctx, RD_ERR_SHAPE,
                       "%s: matrices are multiplied, the second with as many rows as the first has "
                       "columns; these have %d and %d axes, and %lld columns and %lld rows",
                       call, rd_shape_of(a).n, rd_shape_of(b).n, (long long)rd_shape_of(a).at[1],
                       (long long)rd_shape_of(b).at[0]);
    if (rd_has_pattern(a) && rd_has_pattern(b)) {
        y = semiring_by_rows(a, b, add, (rd_op)op);
        if (y || rd_error(a->ctx) != RD_OK)
            return y;
    }
    /* shapes (i, k, 1) and (1, k, j) */
    y = rd_map_op((rd_op)op, call, 2, (rd_expr *const[]){ rd_expand(a, 2), rd_expand(b, 0) });
    return y ? rd_reduce_name(y, add, &opts) : NULL;
}
