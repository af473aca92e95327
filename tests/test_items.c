/* Programs by panels whose other loops are short are compiled as loops over one point after the
 * other: they have the bits of the reference, and these are such programs. */
#include "kernels/cpu/nest/draft.h"
#include "eval/plan.h"
#include "nests.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { GROUPS = 7, MOST_POINTS = 5001 };

static rd_ctx *ctx;
static int32_t group[4 * MOST_POINTS];

static void begin(void)
{
    ctx = nest_begin();
    for (int k = 0; k < COUNT(group); k++)
        group[k] = k * 5 % (2 * GROUPS) - GROUPS; /* from the end, too */
}

/* ---- Programs -------------------------------------------------------------------------------- */
typedef struct operands {
    rd_expr *tables, *matrix, *own, *point, *weight, *one, *four;
} operands;

static operands operands_of(tile_memory *m, rd_dtype type, int64_t n)
{
    return (operands){
        .tables = nest_leaf(m, type, RD_SHAPE(GROUPS, 3, 4), ORDINARY),
        .matrix = nest_leaf(m, type, RD_SHAPE(3, 4), ORDINARY),
        .own    = nest_leaf(m, type, RD_SHAPE(n, 3, 4), ORDINARY),
        .point  = nest_leaf(m, type, RD_SHAPE(n, 4), ORDINARY),
        .weight = nest_leaf(m, type, RD_SHAPE(n, 4), ORDINARY),
        .one    = rd_wrap(ctx, group, RD_SHAPE(n)),
        .four   = rd_wrap(ctx, group, RD_SHAPE(n, 4)),
    };
}

static rd_expr *times(rd_expr *matrices, rd_expr *points)
{
    return rd_sum(rd_mul(matrices, rd_expand(points, 1)), RD_DIMS(-1));
}

static rd_expr *rotated(const operands *o)
{
    return times(rd_take(o->tables, 0, o->one), o->point);
}

static rd_expr *skinned(const operands *o)
{
    rd_expr *bones = rd_take(o->tables, 0, o->four);
    rd_expr *w     = rd_expand(rd_expand(o->weight, 2), 3);

    return times(rd_sum(rd_mul(bones, w), RD_DIMS(1)), o->point);
}

static rd_expr *greatest(const operands *o)
{
    rd_expr *of = rd_mul(rd_take(o->tables, 0, o->one), rd_expand(o->point, 1));

    return rd_max(of, RD_DIMS(-1));
}

static rd_expr *lengths(const operands *o)
{
    rd_expr *y = rotated(o);

    return rd_sum(rd_mul(y, rd_slice(o->weight, ":, 1:")), RD_DIMS(1));
}

static rd_expr *by_one_matrix(const operands *o)
{
    return times(rd_expand(o->matrix, 0), o->point);
}

static rd_expr *by_own(const operands *o)
{
    return times(o->own, o->point);
}

static const struct {
    const char *what;
    rd_expr *(*build)(const operands *o);
    bool found; /* it is by items where there are many points */
} programs[] = {
    { "rotations by group", rotated, true },     { "blended matrices", skinned, true },
    { "extremes by group", greatest, true },     { "products by group, added up", lengths, true },
    { "one small matrix", by_one_matrix, true }, { "a matrix each", by_own, true },
};

/* ---- Bits ------------------------------------------------------------------------------------ */
START_TEST(bits)
{
    static const int64_t  counts[] = { 1, 63, 300, MOST_POINTS };
    static const rd_dtype types[]  = { RD_F32, RD_F64, RD_I32, RD_U8 };

    for (int t = 0; t < COUNT(types); t++)
        for (int k = 0; k < COUNT(counts); k++) {
            const rd_mark  mark = rd_ctx_mark(ctx);
            tile_memory    m    = { 0 };
            nest_batch     b    = { 0 };
            const operands o    = operands_of(&m, types[t], counts[k]);

            snprintf(b.what, sizeof b.what, "%s of %d points", programs[_i].what, (int)counts[k]);
            nest_add(&b, programs[_i].build(&o));
            nest_agree(&b, many_tasks, 4);
            tile_free(&m);
            rd_ctx_release(ctx, mark);
        }
    nest_mostly();
}
END_TEST

/* An index that is outside is told as the reference tells it. */
START_TEST(outside)
{
    const rd_mark  mark = rd_ctx_mark(ctx);
    tile_memory    m    = { 0 };
    nest_batch     b    = { 0 };
    const operands o    = operands_of(&m, RD_F32, 3000);

    group[1234] = GROUPS;
    nest_add(&b, rotated(&o));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, skinned(&o));
    nest_agree(&b, many_tasks, 4);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

/* ---- Which ----------------------------------------------------------------------------------- */
static void *memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

START_TEST(found)
{
    const rd_mark     mark = rd_ctx_mark(ctx);
    tile_memory       m    = { 0 };
    const operands    o    = operands_of(&m, RD_F32, MOST_POINTS);
    rd_expr          *y    = programs[_i].build(&o);
    rd_array          out  = { .type = rd_type_of(y), .shape = rd_shape_of(y) };
    const rd_program *by   = NULL;
    rd_pool          *pool = rd_pool_new(ctx);
    rd_plan          *plan;

    out.data = malloc(MOST_POINTS * 4 * sizeof(float));
    plan     = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &out }), NULL);
    ck_assert(plan && plan->n_stage == 1);
    ck_assert(rd_nest_interchange(&plan->program[0], memory, pool, &by));
    ck_assert_msg((by != NULL) == programs[_i].found, "%s", programs[_i].what);
    for (int32_t k = 0; by && k < by->n_loop; k++)
        ck_assert_int_eq(by->loop[k].kind, RD_LOOP_EACH);
    rd_plan_free(plan);
    rd_pool_free(pool);
    free(out.data);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { bits, 0, COUNT(programs) },
        { found, 0, COUNT(programs) },
        { outside, 0, 1 },
    };

    return nest_suite("items", begin, cases, COUNT(cases));
}
