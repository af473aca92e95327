/* loop_programs.c - programs of expressions, as planners make them. */
#include "loop_programs.h"
#include "cases.h"
#include "eval/plan.h"
#include "random_expr.h"
#include "suite.h"
#include <stdio.h>

void *loop_pool_get(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

void loop_programs_of(rd_ctx *ctx, rd_exprs in, rd_exprs y, rd_traversal traversal,
                      const char *what, loop_program_see *see, void *user)
{
    enum { MOST = 8 };
    const rd_eval_opts opts = { .threads = 1, .deterministic = true, .traversal = traversal };
    rd_array           out[MOST];
    rd_result          results[MOST];
    rd_plan           *plan;

    ck_assert_int_le(y.n, MOST);
    for (int k = 0; k < y.n; k++) {
        out[k]     = (rd_array){ .type = y.at[k]->type, .shape = rd_shape_of(y.at[k]) };
        results[k] = (rd_result){ y.at[k], &out[k] };
        if (!in.n) /* memory that a plan names, and that no test here reads */
            out[k].data =
                malloc((size_t)(random_points(y.at[k]) * rd_dtype_size(y.at[k]->type)) + 1);
    }
    plan = rd_plan_make(ctx, in, (rd_results){ results, y.n }, &opts);
    for (int32_t s = 0; plan && s < plan->n_stage; s++)
        see(&plan->program[s], what, user);
    if (plan)
        rd_plan_free(plan);
    rd_error_clear(ctx);
    for (int k = 0; k < y.n; k++)
        free(out[k].data);
}

void loop_programs_of_seed(uint64_t seed, loop_program_see *see, void *user)
{
    enum { LAST = 6 };
    rd_ctx      *ctx  = rd_ctx_new(NULL);
    random_pool *pool = random_pool_new(ctx, seed);
    rd_expr     *in[RANDOM_BLOCKS];
    int          n_in = 0;
    char         what[64];

    for (int k = 0; k < pool->n_block; k++)
        if (pool->block[k].input)
            in[n_in++] = pool->block[k].leaf;
    for (int k = pool->n_node > LAST ? pool->n_node - LAST : 0; k < pool->n_node; k++) {
        snprintf(what, sizeof what, "seed %d, node %d, %s", (int)seed, k, pool->node[k].step);
        loop_programs_of(ctx, (rd_exprs){ in, n_in }, (rd_exprs){ &pool->node[k].x, 1 },
                         seed % 2 ? RD_TRAVERSE_AUTO : RD_TRAVERSE_LAZY, what, see, user);
    }
    random_pool_free(pool);
    rd_ctx_free(ctx);
}

void loop_programs_of_cases(loop_program_see *see, void *user)
{
    static const struct {
        const char *name;
        case_build *build;
    } cases[] = {
#define CASE(name) { #name, case_##name }
        CASE(softmax_rows),
        CASE(layer_norm),
        CASE(var),
        CASE(var_two_passes),
        CASE(centering),
        CASE(sums_both_ways),
        CASE(sum_transposed),
        CASE(gaussian),
        CASE(k_means),
        CASE(argmin_take),
        CASE(logsumexp),
        CASE(softmax_short),
        CASE(softmax_tall),
        CASE(max_of_cumsum),
        CASE(windows),
        CASE(narrow_windows),
        CASE(warmest_month),
        CASE(contraction),
        CASE(weights_over_i),
        CASE(weights_over_j),
        CASE(unrelated),
        CASE(mean_reshaped),
        CASE(argmax_reshaped),
        CASE(any),
        CASE(masked_sum),
        CASE(struct_reducer),
        CASE(mirrored),
        CASE(running_rows),
        CASE(symmetric),
        CASE(nearest_image),
        CASE(nearest_total),
        CASE(mean_color),
        CASE(sum_outer),
        CASE(sum_ends),
        CASE(sum_middle),
        CASE(few_rows),
        CASE(centred_rows),
        CASE(covariance),
        CASE(running_columns),
        CASE(permuted),
        CASE(reversed_axes),
        CASE(scaled_results),
        CASE(forces),
        CASE(wide_pairs),
        CASE(computed_weights),
        CASE(expanded_distance),
        CASE(mean_distance),
        CASE(scaled_total),
        CASE(gaussian_of_many),
        CASE(rolling_sum),
        CASE(rolling_max),
        CASE(above_median),
        CASE(sorted_columns)
#undef CASE
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int small = 0; small < 2; small++) {
            case_world *w = case_world_new(small);
            rd_expr    *y[CASE_RESULTS];
            const int   n = cases[k].build(w, y);

            loop_programs_of(w->ctx, (rd_exprs){ w->input, w->n_input }, (rd_exprs){ y, n },
                             small ? RD_TRAVERSE_LAZY : RD_TRAVERSE_AUTO, cases[k].name, see, user);
            case_world_free(w);
        }
}

/* ---- Folds in many forms ---------------------------------------------------------------------- */
typedef struct fold_form {
    rd_shape shape;
    rd_dims  dims;
} fold_form;

typedef enum fold_extra { PLAIN, MASKED, BY_LABEL, SCANNED, N_EXTRAS } fold_extra;

static rd_expr *fold_of(rd_expr *const *in, rd_expr *x, const char *reducer, rd_dims dims,
                        fold_extra with)
{
    rd_reduce_opts opts = { .size = sizeof opts, .dims = dims };

    if (with == MASKED)
        opts.where = in[1];
    if (with == BY_LABEL) {
        opts.by     = (rd_exprs){ &in[2], 1 };
        opts.groups = RD_SHAPE(7);
    }
    return with == SCANNED ? rd_scan_name(x, reducer, &opts) : rd_reduce_name(x, reducer, &opts);
}

static void see_fold(const fold_form *form, const char *reducer, fold_extra with, rd_dtype type,
                     const char *what, loop_program_see *see, void *user)
{
    const rd_array layout[] = { { .type = type, .shape = form->shape },
                                { .type = RD_BOOL, .shape = form->shape },
                                { .type = RD_I32, .shape = form->shape } };
    rd_ctx        *ctx      = rd_ctx_new(NULL);
    rd_expr       *in[]     = { rd_input(ctx, "x", &layout[0]), rd_input(ctx, "m", &layout[1]),
                                rd_input(ctx, "l", &layout[2]) };
    rd_expr       *y[]      = { fold_of(in, in[0], reducer, form->dims, with),
                                fold_of(in, rd_mul(in[0], in[0]), reducer, form->dims, with) };

    rd_error_clear(ctx);
    if (y[0] && y[1])
        loop_programs_of(ctx, (rd_exprs){ in, 3 }, (rd_exprs){ y, with == MASKED ? 2 : 1 },
                         with == PLAIN ? RD_TRAVERSE_LAZY : RD_TRAVERSE_AUTO, what, see, user);
    rd_ctx_free(ctx);
}

void loop_programs_of_folds(loop_program_see *see, void *user)
{
    const fold_form forms[] = {
        { RD_SHAPE(300000), RD_DIMS(0) },         { RD_SHAPE(500, 4097), RD_DIMS(1) },
        { RD_SHAPE(5000, 300), RD_DIMS(0) },      { RD_SHAPE(300, 200), RD_DIMS(0, 1) },
        { RD_SHAPE(200, 40, 65), RD_DIMS(0, 2) }, { RD_SHAPE(900, 23), RD_DIMS(1) },
        { RD_SHAPE(130, 70, 5), RD_DIMS(1) },     { RD_SHAPE(40, 30, 20), RD_DIMS(0) },
        { RD_SHAPE(100, 64), RD_DIMS(1) },        { RD_SHAPE(70000, 3), RD_DIMS(0) },
        { RD_SHAPE(64, 64, 64), RD_DIMS(1, 2) },  { RD_SHAPE(10, 8), RD_DIMS(0) }
    };
    static const char *const reducers[] = { "sum", "max",       "argmin", "any",
                                            "var", "logsumexp", "count" };
    static const rd_dtype    types[]    = { RD_F32, RD_F64, RD_I32, RD_U8 };

    for (int k = 0; k < (int)(sizeof forms / sizeof *forms); k++)
        for (int r = 0; r < (int)(sizeof reducers / sizeof *reducers); r++)
            for (int with = 0; with < N_EXTRAS; with++) {
                char what[96];

                snprintf(what, sizeof what, "%s, form %d, with %d", reducers[r], k, with);
                see_fold(&forms[k], reducers[r], (fold_extra)with, types[(k + r + with) % 4], what,
                         see, user);
            }
}

/* ---- Rows of sparse matrices ------------------------------------------------------------------ */
enum { ROWS = 900, COLUMNS = 700, IN_ROW = 40 };

/* Rows have 20 to 40 places, in rising columns. */
static int64_t fill_rows(int32_t *pos, int32_t *crd, float *value)
{
    int32_t n = 0;

    for (int32_t i = 0; i < ROWS; i++) {
        pos[i] = n;
        for (int32_t k = 0; k < IN_ROW / 2 + i % (IN_ROW / 2); k++, n++) {
            crd[n]   = (i % 7) + k * 16;
            value[n] = (float)k;
        }
    }
    pos[ROWS] = n;
    return n;
}

void loop_programs_of_rows(loop_program_see *see, void *user)
{
    static int32_t pos[ROWS + 1], crd[ROWS * IN_ROW];
    static float   value[ROWS * IN_ROW];
    const int64_t  n    = fill_rows(pos, crd, value);
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    const rd_array of[] = { { .in = pos, .type = RD_I32, .shape = RD_SHAPE(ROWS + 1) },
                            { .in = crd, .type = RD_I32, .shape = RD_SHAPE(n) },
                            { .in = value, .type = RD_F32, .shape = RD_SHAPE(n) },
                            { .in = value, .type = RD_F32, .shape = RD_SHAPE(COLUMNS) },
                            { .in = value, .type = RD_F32, .shape = RD_SHAPE(COLUMNS, 8) } };
    rd_expr *a = rd_csr(ctx, RD_SHAPE(ROWS, COLUMNS), rd_leaf(ctx, &of[0]), rd_leaf(ctx, &of[1]),
                        rd_leaf(ctx, &of[2]));
    rd_expr *made[] = { rd_matmul(a, rd_leaf(ctx, &of[3])), rd_matmul(a, rd_leaf(ctx, &of[4])),
                        rd_sum(a, RD_DIMS(1)), rd_max(rd_mul(a, a), RD_DIMS(1)),
                        rd_sum(a, RD_DIMS(0)) };

    ck_assert_msg(a != NULL, "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    for (int k = 0; k < (int)(sizeof made / sizeof *made); k++)
        if (made[k])
            loop_programs_of(ctx, (rd_exprs){ 0 }, (rd_exprs){ &made[k], 1 }, RD_TRAVERSE_AUTO,
                             "rows of a sparse matrix", see, user);
    rd_ctx_free(ctx);
}
