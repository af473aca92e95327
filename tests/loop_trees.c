/* loop_trees.c - loop trees with the memory that they point to, and the check of each. */
#include "loop_trees.h"
#include "eval/pool.h"
#include "kernels/cpu/nest/nest.h"

static void *from_pool(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

loop_tree loop_tree_of(rd_ctx *ctx, const rd_program *p, bool whole)
{
    loop_tree           tree = { .pool = rd_pool_new(ctx) };
    const rd_loop_fold *fold = rd_loop_folds_of(p, whole, from_pool, tree.pool, &tree.why);

    if (fold && !tree.why)
        tree.t = rd_schedule_build(p, fold, whole);
    if (!tree.t && !tree.why)
        tree.why = "no memory";
    return tree;
}

void loop_tree_free(loop_tree *tree)
{
    rd_schedule_free(tree->t);
    rd_pool_free(tree->pool);
    *tree = (loop_tree){ 0 };
}

static bool holds(const rd_schedule *t, const char *what, loop_counts *counts, rd_text *report)
{
    rd_text          why     = { 0 };
    const rd_verdict verdict = rd_schedule_check(t, RD_MOST_VISITS, &why);

    counts->trees++;
    counts->holds += verdict == RD_TREE_HOLDS;
    counts->skipped += verdict == RD_TREE_SKIPPED;
    if (verdict == RD_TREE_FAILS) {
        rd_text_add(report, "%s%s: %s\n", what, t->whole ? ", whole" : "",
                    why.at ? why.at : "no sentence");
        rd_program_text(report, t->p);
        rd_schedule_text(report, t);
    }
    rd_text_free(&why);
    return verdict != RD_TREE_FAILS;
}

/* After all passes for vectors of so many bytes. */
static bool passed_holds(rd_ctx *ctx, const rd_program *p, int vector, bool whole,
                         loop_counts *counts, rd_text *report)
{
    rd_pool     *pool = rd_pool_new(ctx);
    const char  *why  = NULL;
    rd_schedule *t    = rd_nest_schedule(p, vector, whole, from_pool, pool, NULL, &why);
    const bool   good = !t || holds(t, "after all passes", counts, report);

    counts->by_rows += t && t->p != p;
    rd_schedule_free(t);
    rd_pool_free(pool);
    return good;
}

bool loop_program_holds(rd_ctx *ctx, const rd_program *p, bool whole, loop_counts *counts,
                        rd_text *report)
{
    loop_tree tree = loop_tree_of(ctx, p, whole);
    bool      good = !tree.t || holds(tree.t, "as built", counts, report);

    counts->refused += !tree.t;
    loop_tree_free(&tree);
    for (int vector = 16; vector <= 64 && good; vector *= 4)
        good = passed_holds(ctx, p, vector, whole, counts, report);
    return good;
}

/* ---- Parts ------------------------------------------------------------------------------------ */
int32_t loop_find(const rd_schedule *t, rd_stmt_kind kind, int n)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == kind && n-- == 0)
                return s;
    return -1;
}

int32_t loop_over(const rd_schedule *t, int32_t axis)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LOOP, n)) >= 0; n++)
        if (rd_loop_of(t, s)->axis == axis)
            return s;
    return -1;
}

int32_t loop_let(const rd_schedule *t, rd_inst_kind kind)
{
    for (int n = 0, s; (s = loop_find(t, RD_S_LET, n)) >= 0; n++)
        if (t->let[t->stmt[s].value].kind == kind)
            return s;
    return -1;
}

/* The first program that folds, or the first one: a stage before it may make numbers of clusters. */
static const rd_program *program_of(rd_ctx *ctx, loop_expression *make)
{
    rd_array        out    = { 0 };
    const rd_result result = { make(ctx), &out };
    const rd_plan  *plan =
        result.expr ? loop_plan(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }) : NULL;
    int32_t k = 0;

    while (plan && loop_program(plan, k) && !loop_program(plan, k)->n_fold)
        k++;
    return plan ? loop_program(plan, loop_program(plan, k) ? k : 0) : NULL;
}

loop_tree loop_tree_of_expression(rd_ctx *ctx, loop_expression *make, bool whole)
{
    const rd_program *p    = program_of(ctx, make);
    const loop_tree   none = { .why = rd_error_text(ctx) };

    return p ? loop_tree_of(ctx, p, whole) : none;
}

loop_tree loop_tree_of_passed(rd_ctx *ctx, loop_expression *make, bool whole)
{
    const rd_program *p    = program_of(ctx, make);
    loop_tree         tree = { .why = rd_error_text(ctx) };

    if (!p)
        return tree;
    tree.pool = rd_pool_new(ctx);
    tree.t    = rd_nest_schedule(p, 64, whole, from_pool, tree.pool, NULL, &tree.why);
    return tree;
}
