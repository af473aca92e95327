/* vectors.c - loops over vectors: sums of products, and sums of multiples. */
#include "solve/vectors.h"
#include "eval/run/team.h"
#include <string.h>

/* A block is a few thousand elements: what a thread does at once, and fits into its first cache. */
enum { BLOCK = 2048, LANES = 8 };

/* Returns the rows of a block, so that it has about 2048 elements: a row has one of each vector
 * that stands side by side (sides). */
static int64_t rows_of_block(const rd_vectors *s)
{
    return s->n_rhs < BLOCK ? BLOCK / s->n_rhs : 1;
}

/* Returns how many blocks all rows make; the last one may be shorter. */
static int64_t blocks_of(const rd_vectors *s)
{
    const int64_t rows = rows_of_block(s);

    return (s->rows + rows - 1) / rows;
}

/* Describes a space of vectors with so many rows, `sides` of them side by side, and allocates
 * room for sums of each block. threads: as asked for, 0: the context's. False: no memory, which
 * is recorded. rd_vectors_end() is due in any case. */
bool rd_vectors_begin(rd_vectors *s, rd_ctx *ctx, int64_t rows, int64_t sides, int threads)
{
    *s      = (rd_vectors){ ctx, rows, sides, threads, NULL };
    s->sums = rd_alloc(ctx, (blocks_of(s) + 1) * (sides + 1) * (int64_t)sizeof *s->sums);
    return s->sums != NULL;
}

/* Frees the room for sums. */
void rd_vectors_end(rd_vectors *s)
{
    if (s->ctx)
        rd_free(s->ctx, s->sums);
}

/* Allocates `count` vectors, each for all sides, zeroed; NULL after recording that there is no
 * memory. rd_free() frees them. */
double *rd_new_vectors(const rd_vectors *s, int64_t count)
{
    const int64_t elements = s->rows * s->n_rhs + 1;

    if (count > INT64_MAX / 8 / elements)
        return rd_fail_memory(s->ctx, INT64_MAX, "no memory for %lld vectors of %lld elements",
                              (long long)count, (long long)elements);
    return rd_alloc(s->ctx, count * elements * (int64_t)sizeof(double));
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* The operands of a loop; which of them it has is its own business. */
typedef struct operands {
    double       *y, *z; /* vectors that change */
    const double *x, *a, *b;
    double       *sums; /* of a block */
} operands;

/* Runs a loop over rows `from` to `to` of a block; its sums, if it makes any, go to o->sums. */
typedef void block_loop(const rd_vectors *s, const operands *o, int64_t from, int64_t to);

/* Runs a loop over all blocks, on several threads if there is much to do. The sums of a block
 * have a place of their own, and blocks do not depend on threads, so bits do not either.
 * mine.sums is the place of the block's sums, one for each side. */
static void run_blocks(const rd_vectors *s, const operands *o, block_loop *loop)
{
    const int64_t rows = rows_of_block(s), n = blocks_of(s);
    const int     threads =
        rd_thread_count_now(s->ctx, s->threads, (double)s->rows * (double)s->n_rhs, n);

#ifndef _OPENMP
    (void)threads;
#endif
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t b = 0; b < n; b++) {
        operands      mine = *o;
        const int64_t to   = (b + 1) * rows < s->rows ? (b + 1) * rows : s->rows;

        mine.sums = s->sums + b * s->n_rhs;
        loop(s, &mine, b * rows, to);
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */
/* Returns the sum of x[k] y[k]. It has eight partial sums, whose additions a vector does at
 * once, because a compiler may not change the order of additions. LANES is 8, and l goes over
 * the partial sums. */
static double dot_of_row(const double *x, const double *y, int64_t n)
{
    double  lane[LANES] = { 0 }, sum = 0;
    int64_t k = 0;

    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += x[k + l] * y[k + l];
    for (; k < n; k++)
        sum += x[k] * y[k];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* Adds up products x a of the rows of a block, for each side. o->sums[k] gets that of side k;
 * sides of a row stand side by side; rows are from to to - 1. */
static void dot_block(const rd_vectors *s, const operands *o, int64_t from, int64_t to)
{
    if (s->n_rhs == 1) {
        o->sums[0] = dot_of_row(o->x + from, o->a + from, to - from);
        return;
    }
    memset(o->sums, 0, (size_t)s->n_rhs * sizeof *o->sums);
    for (int64_t i = from * s->n_rhs; i < to * s->n_rhs; i += s->n_rhs)
        for (int64_t k = 0; k < s->n_rhs; k++)
            o->sums[k] += o->x[i + k] * o->a[i + k];
}

/* Sets out[k] to the sum over all blocks for side k, added in the order of blocks, so that
 * threads do not change bits. */
static void add_blocks(const rd_vectors *s, double *out)
{
    memset(out, 0, (size_t)s->n_rhs * sizeof *out);
    for (int64_t b = 0, n = blocks_of(s); b < n; b++)
        for (int64_t k = 0; k < s->n_rhs; k++)
            out[k] += s->sums[b * s->n_rhs + k];
}

/* Sets out[k] to the sum over i of x[i, k] y[i, k], for each of the vectors that stand side by
 * side. */
void rd_dots(const rd_vectors *s, const double *x, const double *y, double *out)
{
    run_blocks(s, &(operands){ .x = x, .a = y }, dot_block);
    add_blocks(s, out);
}

/* Sets out[k] to the Euclidean norm of vector k of x. */
void rd_norms(const rd_vectors *s, const double *x, double *out)
{
    rd_dots(s, x, x, out);
    for (int64_t k = 0; k < s->n_rhs; k++)
        out[k] = sqrt(out[k]);
}

/* ---- Multiples ------------------------------------------------------------------------------- */
/* Defines a loop over a block: the new value of an element, made of y, x and the scalar a of the
 * vector; `unused` quiets a warning about one of them. */
#define BLOCK_LOOP(name, unused, value)                                                \
    static void name(const rd_vectors *s, const operands *o, int64_t from, int64_t to) \
    {                                                                                  \
        double *const       ys = o->y;                                                 \
        const double *const xs = o->x;                                                 \
                                                                                       \
        if (s->n_rhs == 1) {                                                           \
            const double a = o->a ? o->a[0] : 0;                                       \
                                                                                       \
            for (int64_t i = from; i < to; i++) {                                      \
                const double x = xs[i], y = ys[i];                                     \
                                                                                       \
                unused;                                                                \
                ys[i] = value;                                                         \
            }                                                                          \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = from * s->n_rhs; i < to * s->n_rhs; i += s->n_rhs)            \
            for (int64_t k = 0; k < s->n_rhs; k++) {                                   \
                const double x = xs[i + k], y = ys[i + k], a = o->a ? o->a[k] : 0;     \
                                                                                       \
                unused;                                                                \
                ys[i + k] = value;                                                     \
            }                                                                          \
    }
BLOCK_LOOP(add_multiple, (void)0, y + a * x)
BLOCK_LOOP(multiply_add, (void)0, x + a * y)
BLOCK_LOOP(multiple, (void)y, a *x)
BLOCK_LOOP(subtract_from, (void)a, x - y)

/* Sets y += a x, with a scalar a[k] for each vector k. */
void rd_add_multiple(const rd_vectors *s, double *y, const double *a, const double *x)
{
    run_blocks(s, &(operands){ .y = y, .x = x, .a = a }, add_multiple);
}

/* Sets y = x + b y, with a scalar b[k] for each vector k. */
void rd_multiply_add(const rd_vectors *s, double *y, const double *b, const double *x)
{
    run_blocks(s, &(operands){ .y = y, .x = x, .a = b }, multiply_add);
}

/* Sets y = a x, with a scalar a[k] for each vector k; x and y may be the same. */
void rd_multiple(const rd_vectors *s, double *y, const double *a, const double *x)
{
    run_blocks(s, &(operands){ .y = y, .x = x, .a = a }, multiple);
}

/* Sets y = x - y. */
void rd_subtract_from(const rd_vectors *s, double *y, const double *x)
{
    run_blocks(s, &(operands){ .y = y, .x = x }, subtract_from);
}

/* Does a block of rd_step_along(): x += a p and r -= a q (o->y is x, o->z is r, o->x is p, o->b
 * is q), then the squares of r, which is still in the cache. o->a[k] is the factor a of side k,
 * and o->sums get the squares; rows are from to to - 1. */
static void step_block(const rd_vectors *s, const operands *o, int64_t from, int64_t to)
{
    double *const xs = o->y, *const rs = o->z;
    const double *const ps = o->x, *const qs = o->b;

    if (s->n_rhs == 1) {
        const double a = o->a[0];

        for (int64_t i = from; i < to; i++) {
            xs[i] += a * ps[i];
            rs[i] -= a * qs[i];
        }
    } else
        for (int64_t i = from * s->n_rhs; i < to * s->n_rhs; i += s->n_rhs)
            for (int64_t k = 0; k < s->n_rhs; k++) {
                xs[i + k] += o->a[k] * ps[i + k];
                rs[i + k] -= o->a[k] * qs[i + k];
            }
    dot_block(s, &(operands){ .x = rs, .a = rs, .sums = o->sums }, from, to);
}

/* Sets x += a p and r -= a q in one pass over memory, with a scalar a[k] for each vector k, and
 * out[k] to the sum of squares of the new r. */
void rd_step_along(const rd_vectors *s, const double *a, const double *p, const double *q,
                   double *x, double *r, double *out)
{
    run_blocks(s, &(operands){ .y = x, .z = r, .x = p, .b = q, .a = a }, step_block);
    add_blocks(s, out);
}

/* Makes w orthogonal to `count` orthonormal vectors, which follow each other in v, by modified
 * Gram-Schmidt, twice: that is as good as exact arithmetic (Giraud and others 2005). If there is
 * a column, the coefficient of vector i is added to it at column + i * step, for each side.
 * room: two numbers for each side. dot has the coefficients of a vector for each side, minus
 * their negatives. Round count and later ones are the second time. */
void rd_make_orthogonal(const rd_vectors *s, const double *v, int64_t count, double *w,
                        double *column, int64_t step, double *room)
{
    double *const dot = room, *const minus = room + s->n_rhs;

    for (int64_t i = 0; i < 2 * count; i++) {
        const int64_t       at = i % count;
        const double *const x  = v + at * s->rows * s->n_rhs;

        rd_dots(s, x, w, dot);
        for (int64_t k = 0; k < s->n_rhs; k++) {
            minus[k] = -dot[k];
            if (column)
                column[at * step + k] += dot[k];
        }
        rd_add_multiple(s, w, minus, x);
    }
}
