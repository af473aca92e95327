/* test_twins.c - a minimum beside its place, and a maximum: compiled loops keep one state for both, with
 * the bits of the reference, of NaN, infinities and zeros of both signs. */
#include "isa.h"
#include "nests.h"

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* What is folded: distances, columns, rows, and what is computed of them. */
static rd_expr *operand(int which, tile_memory *m, rd_dtype type, tile_data data)
{
    switch (which) {
    case 0:
        return rd_sum(rd_square(rd_sub(rd_expand(nest_leaf(m, type, RD_SHAPE(131, 3), ORDINARY), 1),
                                       rd_expand(nest_leaf(m, type, RD_SHAPE(75, 3), data), 0))),
                      RD_DIMS(2));
    case 1: return nest_leaf(m, type, RD_SHAPE(203, 131), data);
    case 2: return rd_neg(rd_flip(nest_leaf(m, type, RD_SHAPE(131, 203), data), RD_DIMS(1)));
    default:
        return rd_mul(rd_expand(nest_leaf(m, type, RD_SHAPE(70), data), 1),
                      rd_expand(nest_leaf(m, type, RD_SHAPE(190), data), 0));
    }
}

static void check(int which, rd_dtype type, tile_data data, int isa)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    rd_expr      *x    = operand(which, &m, type, data);

    for (int axis = 0; axis < 2; axis++)
        for (int greatest = 0; greatest < 2; greatest++) {
            nest_batch b = { 0 };

            snprintf(b.what, sizeof b.what, "operand %d, axis %d, %s, %s", which, axis,
                     rd_dtype_name(type), isa_name(isa));
            nest_add(&b, greatest ? rd_max(x, RD_DIMS(axis)) : rd_min(x, RD_DIMS(axis)));
            nest_add(&b, greatest ? rd_argmax(x, RD_DIMS(axis)) : rd_argmin(x, RD_DIMS(axis)));
            nest_agree_by(&b, isa, many_tasks, 4);
        }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(bits)
{
    static const rd_dtype types[] = { RD_F32, RD_F64, RD_I32 };

    for (int isa = suite_is_plain() ? isa_count() - 1 : 1; isa < isa_count(); isa++)
        for (int k = 0; k < COUNT(types); k++) {
            check(_i, types[k], UGLY, isa);
            check(_i, types[k], FLAGS, isa);
        }
}
END_TEST

/* The fold of places beside a minimum has its only steps. */
START_TEST(one_state)
{
    tile_memory m = { 0 };
    nest_batch  b = { 0 };
    rd_expr    *d = operand(0, &m, RD_F32, ORDINARY);

    nest_seen.words = "step0(&s";
    snprintf(b.what, sizeof b.what, "one state");
    nest_add(&b, rd_min(d, RD_DIMS(1)));
    nest_add(&b, rd_argmin(d, RD_DIMS(1)));
    nest_agree(&b, one_task, 1);
    ck_assert_int_eq(nest_seen.with_words, 0);
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case all[] = { { bits, 0, 4 }, { one_state, 0, 1 } };

    return nest_suite("twins", begin, all, COUNT(all));
}
