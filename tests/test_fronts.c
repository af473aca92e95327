/* test_fronts.c - the first few of rows of pairs, whose strips tell by fronts which blocks can be passed
 * over: they have the bits of the reference, whatever the rows hold, by vectors of each size. */
#include "core/dtype.h"
#include "isa.h"
#include "nests.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { ROWS = 11, KINDS = 13, MOST = 9001 };

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Element i of n, of rows of a kind. */
static double element(int kind, int64_t i, int64_t n)
{
    const double wild = (double)(i * 7919 % 10007 - 5000) / 4;

    switch (kind) {
    case 0: return wild;
    case 1: return (double)(n - i) / 64; /* falls: all come before the bound */
    case 2: return (double)i / 64;
    case 3: return 3;
    case 4: return (double)(i % 5);
    case 5: return i % 64 < 16 ? NAN : wild;     /* fronts of NaN     */
    case 6: return i % 640 ? NAN : wild;         /* few are numbers   */
    case 7: return i % 2 ? -0. : i % 3 ? 0. : 1; /* signs of zeros    */
    case 8: return i % 3 ? -INFINITY : INFINITY; /* no bound          */
    case 9: return i < 1024 ? INFINITY : wild;   /* none at first     */
    case 10: return i % 1000 < 990 ? -INFINITY : -wild;
    case 11: return i < 1024 || i % 7 ? NAN : wild;
    default: return i == n - 1 ? -9999 : i == n / 2 ? 9999 : wild * wild;
    }
}

/* A matrix n x 2, the rows' elements and what is before all numbers, and the factors of rows. */
static rd_expr *rows_of(tile_memory *m, rd_dtype type, int kind, int64_t n)
{
    const bool    floats = rd_dtype_kind(type) == RD_KIND_FLOAT;
    const int32_t slot   = tile_slot(m, type, 2 * n, ORDINARY),
                  own    = tile_slot(m, type, ROWS, ORDINARY);
    const int size       = rd_dtype_size(type);

    for (int64_t i = 0; i < n; i++) {
        double e = element(kind, i, n);

        e = floats ? e : isfinite(e) ? rint(fabs(e)) : 7;
        rd_word_store(m->slot[slot].data + 2 * i * size, type, rd_word_from_double(e, type));
        rd_word_store(m->slot[slot].data + (2 * i + 1) * size, type,
                      rd_word_from_double(floats ? -INFINITY : 0, type));
    }
    for (int r = 0; r < ROWS; r++)
        rd_word_store(m->slot[own].data + r * size, type, rd_word_from_double(1 + r % 3, type));
    return rd_max(rd_mul(rd_expand(nest_leaf_of(m, slot, RD_SHAPE(n, 2)), 0),
                         rd_expand(rd_expand(nest_leaf_of(m, own, RD_SHAPE(ROWS)), 1), 2)),
                  RD_DIMS(2));
}

/* ---- Results --------------------------------------------------------------------------------- */
static const struct {
    rd_dtype type;
    int64_t  n, k;
    bool     least;
} cases[] = {
    { RD_F32, 4096, 1, true },  { RD_F32, 4099, 5, true },   { RD_F32, 5003, 5, false },
    { RD_F32, MOST, 8, true },  { RD_F32, 5003, 9, false },  { RD_F32, MOST, 16, true },
    { RD_F32, 4160, 17, true }, { RD_F32, 5003, 32, false }, { RD_F32, MOST, 32, true },
    { RD_F32, 5003, 50, true }, { RD_F64, 4160, 3, true },   { RD_F64, 5003, 40, false },
    { RD_I32, 5003, 5, true },  { RD_I64, 4099, 5, false },  { RD_U32, 5003, 20, true },
};

START_TEST(bits)
{
    static const nest_share shares[] = { { 1, 0 }, { 3, 1 } };

    nest_seen.pass = "block_fronts";
    for (int kind = 0; kind < KINDS; kind++)
        for (int isa = 1; isa < isa_count(); isa++) {
            const rd_mark mark = rd_ctx_mark(ctx);
            tile_memory   m    = { 0 };
            nest_batch    b    = { 0 };
            const int64_t n = cases[_i].n, k = cases[_i].k;
            rd_expr      *x = rows_of(&m, cases[_i].type, kind, n);

            snprintf(b.what, sizeof b.what, "case %d, kind %d, %s", _i, kind, isa_name(isa));
            nest_add(&b, rd_top_k(x, k, 1, .smallest = cases[_i].least));
            nest_add(&b, rd_arg_top_k(x, k, 1, .smallest = cases[_i].least));
            nest_agree_by(&b, isa, shares, COUNT(shares));
            tile_free(&m);
            rd_ctx_release(ctx, mark);
        }
    ck_assert_int_ge(nest_seen.changed, KINDS * (isa_count() - 1));
}
END_TEST

/* Distances of points in two to five dimensions: up to four are held in registers. */
START_TEST(points)
{
    enum { N = 4500, MANY = 67 };

    nest_seen.pass = _i <= 4 && isa_count() == MOST_ISAS ? "hold_operands" : "block_fronts";
    for (int isa = 1; isa < isa_count(); isa++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        tile_memory   m    = { 0 };
        nest_batch    b    = { 0 };
        rd_expr      *x    = rd_expand(nest_leaf(&m, RD_F32, RD_SHAPE(MANY, _i), ORDINARY), 1),
                *y         = rd_expand(nest_leaf(&m, RD_F32, RD_SHAPE(N, _i), UGLY), 0),
                *d         = rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(2));

        snprintf(b.what, sizeof b.what, "%d dimensions, %s", _i, isa_name(isa));
        nest_add(&b, rd_top_k(d, 5, 1, .smallest = true));
        nest_add(&b, rd_arg_top_k(d, 5, 1, .smallest = true));
        nest_agree_by(&b, isa, many_tasks, 4);
        tile_free(&m);
        rd_ctx_release(ctx, mark);
    }
    ck_assert_int_gt(nest_seen.changed, 0);
}
END_TEST

int main(void)
{
    const nest_case all[] = { { bits, 0, COUNT(cases) }, { points, 2, 6 } };

    return nest_suite("fronts", begin, all, COUNT(all));
}
