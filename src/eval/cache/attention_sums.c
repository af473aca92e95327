/* attention_sums.c - the running sums of attention: of values and weights, scaled to the greatest
 * score so far. */
#include "eval/cache/attention_tiles.h"
#include "kernels/math/math.h"
#include <math.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
/* The number of values in a row of the result: the product of the extents of value axes. */
int64_t rd_row_values(const rd_attention *a)
{
    int64_t n = 1;

    for (int k = 0; k < a->rank; k++)
        n *= a->value_axes >> k & 1 ? a->extent[k] : 1;
    return n;
}

/* The bytes of `each` elements for every row of a tile, rounded up to cache lines of 64 bytes. */
static int64_t bytes_of_rows(const rd_attention *a, int64_t each)
{
    const int64_t n = a->extent[a->rows], rows = n < RD_TILE_ROWS ? n : RD_TILE_ROWS;

    return (rows * each * rd_dtype_size(a->y->type) + 63) / 64 * 64;
}

/* The bytes of running sums that a thread needs: for each tile of a block, and once more for the
 * tile at work, sums of values, sums of weights, and greatest scores. */
int64_t rd_attention_bytes(const rd_attention *a)
{
    return (RD_BLOCK_TILES + 1) *
           (2 * bytes_of_rows(a, /*each=*/1) + bytes_of_rows(a, rd_row_values(a)));
}

/* Sets the sizes and allocates the memory of the running sums; false: no memory. */
bool rd_sums_begin(rd_attention_worker *w)
{
    w->row_bytes = bytes_of_rows(&w->a, /*each=*/1);
    w->sum_bytes = bytes_of_rows(&w->a, rd_row_values(&w->a));
    w->memory    = rd_alloc(w->ctx, rd_attention_bytes(&w->a));
    return w->memory != NULL;
}

/* ---- Sums ------------------------------------------------------------------------------------ */
/* Functions on running sums, for each type T: o is the sum of e * values (rows x values), z that
 * of e, m the greatest score, one a row. */
#define RD_DEFINE_SUMS(T, type, INF)                                                              \
    /* Adds a tile: both sums are scaled to the greater maximum, as exp(s - m) needs one m. */    \
    static void add_##type(const rd_attention *a, int64_t rows, int64_t values, T *o, T *z, T *m, \
                           const T *o_tile, const T *z_tile, const T *m_tile)                     \
    {                                                                                             \
        for (int64_t r = 0; r < rows; r++) {                                                      \
            T before = 1, here = 1;                                                               \
            if (a->largest) {                                                                     \
                const T most = m_tile[r] > m[r] ? m_tile[r] : m[r];                               \
                const T from = most == -INF ? 0 : most;                                           \
                before       = rd_exp_##type(m[r] - from);                                        \
                here         = rd_exp_##type(m_tile[r] - from);                                   \
                m[r]         = most;                                                              \
            }                                                                                     \
            z[r] = z[r] * before + z_tile[r] * here;                                              \
            for (int64_t d = 0; d < values; d++)                                                  \
                o[r * values + d] = o[r * values + d] * before + o_tile[r * values + d] * here;   \
        }                                                                                         \
    }                                                                                             \
    /* o / z; without division, NaN where all scores of a row are -inf, as -inf - -inf is. */     \
    static void end_##type(const rd_attention *a, int64_t rows, int64_t values, T *o, const T *z, \
                           const T *m)                                                            \
    {                                                                                             \
        for (int64_t r = 0; r < rows; r++) {                                                      \
            const T by = a->divided ? z[r] : a->largest && m[r] == -INF ? (T)NAN : 1;             \
            for (int64_t d = 0; d < values; d++)                                                  \
                o[r * values + d] /= by;                                                          \
        }                                                                                         \
    }                                                                                             \
    static void clear_##type(int64_t rows, int64_t values, T *o, T *z, T *m)                      \
    {                                                                                             \
        memset(o, 0, (size_t)(rows * values) * sizeof *o);                                        \
        for (int64_t r = 0; r < rows; r++) {                                                      \
            z[r] = 0;                                                                             \
            m[r] = -INF;                                                                          \
        }                                                                                         \
    }

RD_DEFINE_SUMS(float, f32, INFINITY)
RD_DEFINE_SUMS(double, f64, (double)INFINITY)

/* The sums of e * values of tile `which` of the block, rows x values, of type f32 or f64. which ==
 * RD_BLOCK_TILES: the results of the tile at work, not yet added. */
void *rd_sum_values(const rd_attention_worker *w, int which)
{
    return w->memory + which * (w->sum_bytes + 2 * w->row_bytes);
}

/* The sums of e of tile `which`, one a row. */
void *rd_sum_weights(const rd_attention_worker *w, int which)
{
    return (char *)rd_sum_values(w, which) + w->sum_bytes;
}

/* The greatest scores so far of tile `which`, one a row. */
void *rd_sum_greatest(const rd_attention_worker *w, int which)
{
    return (char *)rd_sum_weights(w, which) + w->row_bytes;
}

/* Sets the running sums of tile `which` to those of no columns: 0, 0, and -inf as the greatest
 * score. n is the number of values of a row. */
void rd_sums_clear(rd_attention_worker *w, int which, int64_t rows)
{
    const int64_t n = rd_row_values(&w->a);

    if (w->a.y->type == RD_F32)
        clear_f32(rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                  rd_sum_greatest(w, which));
    else
        clear_f64(rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                  rd_sum_greatest(w, which));
}

/* Adds the results of the tile at work to the running sums of tile `which` (online softmax): both
 * are scaled to the greater of the two maxima. The tile at work is number RD_BLOCK_TILES of the
 * sums; each has values, sums of weights and the greatest score of each row. */
void rd_sums_add(rd_attention_worker *w, int which, int64_t rows)
{
    const int64_t n = rd_row_values(&w->a);

    if (w->a.y->type == RD_F32)
        add_f32(&w->a, rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                rd_sum_greatest(w, which), rd_sum_values(w, RD_BLOCK_TILES),
                rd_sum_weights(w, RD_BLOCK_TILES), rd_sum_greatest(w, RD_BLOCK_TILES));
    else
        add_f64(&w->a, rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                rd_sum_greatest(w, which), rd_sum_values(w, RD_BLOCK_TILES),
                rd_sum_weights(w, RD_BLOCK_TILES), rd_sum_greatest(w, RD_BLOCK_TILES));
}

/* Copies the values of a row to the result, element by element, because value axes may have any
 * strides there. Value axes are traversed in C order. from has n values side by side; to is
 * where the row begins, and w->run->stride are the result's strides. */
static void store_row(const rd_attention_worker *w, const char *from, char *to)
{
    const rd_attention *a    = &w->a;
    const int64_t       size = rd_dtype_size(a->y->type), n = rd_row_values(a);

    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0, rest = i; /* offset in the result; what is left of the index */

        for (int k = a->rank; k-- > 0;)
            if (a->value_axes >> k & 1) {
                at += rest % a->extent[k] * w->run->stride[k];
                rest /= a->extent[k];
            }
        memcpy(to + at * size, from + i * size, (size_t)size);
    }
}

/* True if the values of a row are contiguous in the result, in C order. */
static bool rows_are_dense(const rd_attention_worker *w)
{
    const rd_attention *a    = &w->a;
    int64_t             each = 1;

    for (int k = a->rank; k-- > 0;)
        if (a->value_axes >> k & 1) {
            if (a->extent[k] > 1 && w->run->stride[k] != each)
                return false;
            each *= a->extent[k];
        }
    return true;
}

/* Divides the running sums of tile `which` by the sums of weights, and stores its rows at box t of
 * the result. n is the number of values of a row; end_f32() and end_f64() divide. dense: the n
 * values of a row lie side by side in the result too. */
void rd_sums_store(rd_attention_worker *w, int which, const rd_tile_box *t)
{
    const rd_attention *a    = &w->a;
    const int64_t       size = rd_dtype_size(a->y->type), n = rd_row_values(a);
    const int64_t       rows  = t->end[a->rows] - t->first[a->rows];
    const bool          dense = rows_are_dense(w);
    char               *to    = w->run->out;

    if (a->y->type == RD_F32)
        end_f32(a, rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                rd_sum_greatest(w, which));
    else
        end_f64(a, rows, n, rd_sum_values(w, which), rd_sum_weights(w, which),
                rd_sum_greatest(w, which));
    for (int k = 0; k < a->rank; k++)
        if (k != a->columns && !(a->value_axes >> k & 1))
            to += t->first[k] * w->run->stride[k] * size;
    for (int64_t r = 0; r < rows; r++) {
        const char *const from = (const char *)rd_sum_values(w, which) + r * n * size;
        char *const       row  = to + r * w->run->stride[a->rows] * size;

        if (dense)
            memcpy(row, from, (size_t)(n * size));
        else
            store_row(w, from, row);
    }
}
