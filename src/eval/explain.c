/* explain.c - rd_explain(): describes in words what an evaluation would do. */
#include "core/row_product.h"
#include "core/text_buffer.h"
#include "eval/cache/cache.h"
#include "eval/cache/in_blocks.h"
#include "eval/plan_split.h"
#include "eval/dump.h"
#include "eval/forms.h"
#include "eval/complex_pairs.h"
#include "eval/picture.h"
#include "eval/request.h"
#include "eval/backend_choice.h"
#include "core/backends.h"
#include "expr/lists.h"
#include "expr/nodes.h"
#include <stdio.h>

/* The description in progress: a text, and optionally a picture of the same. */
typedef struct account {
    rd_text text;
    rd_svg *picture; /* NULL: none */
} account;

/* Writes a line for each result: "y0: float32 (4,5) = ...". */
static void results_text(rd_text *text, rd_results results)
{
    char shape[RD_SHAPE_TEXT];

    for (int k = 0; k < results.n; k++) {
        const rd_expr *y = results.at[k].expr;

        rd_text_add(text, "y%d: %s %s = ", k, rd_dtype_name(y->type),
                    rd_shape_text(y->rank, y->extent, shape));
        rd_expr_line(text, y);
        rd_text_add(text, "\n");
    }
}

/* Writes the choice if it was measured: "measured: greedy, panels x4". */
static void measured_text(rd_text *text, const rd_choice *choice)
{
    if (!choice->measured)
        return;
    rd_text_add(text, "measured: ");
    rd_choice_text(text, choice);
    rd_text_add(text, "\n");
}

/* Writes a line for each leaf: its name, type, shape and layout. */
static void leaves_text(rd_text *text, const rd_graph *g)
{
    char name[RD_NAME_TEXT];

    for (int s = 0; s < g->n_slot; s++)
        if (g->slot[s].kind == RD_SLOT_LEAF || g->slot[s].kind == RD_SLOT_INPUT) {
            rd_text_add(text, "%s: ", rd_slot_name(g, s, name));
            rd_expr_line(text, g->slot[s].expr);
            rd_text_add(text, "\n");
        }
}

/* The largest stride of an axis in any leaf, in elements. The list of axes in the text is sorted
 * by it, the slowest first. slot >= 0: the value is a READ of a leaf, and at[0] its address. */
static int64_t step_along(const rd_graph *g, int axis)
{
    int64_t largest = 0;

    for (int i = 0; i < g->n_value; i++)
        for (int t = 0; g->value[i].slot >= 0 && t < g->value[i].at[0].n_term; t++) {
            const rd_subscript_term *term = &g->value[i].at[0].term[t];
            int64_t                  step = term->coef < 0 ? -term->coef : term->coef;

            if (term->axis == axis && step > largest)
                largest = step;
        }
    return largest;
}

/* Writes the loop axes as they are after merging, by falling stride: "virtual shape: i:3
 * jk:40". left: the set of axes that are not written yet; step_along() is the largest stride of
 * an axis in any leaf. */
static void virtual_shape_text(rd_text *text, const rd_graph *g)
{
    rd_set left = 0;

    for (int i = 0; i < g->n_value; i++)
        left |= rd_space(&g->value[i]);
    rd_text_add(text, left ? "virtual shape:" : "virtual shape: none, one element");
    while (left) {
        int slowest = __builtin_ctzll(left);

        for (int a = 0; a < g->n_axis; a++)
            if (rd_in(left, a) && step_along(g, a) > step_along(g, slowest))
                slowest = a;
        rd_text_add(text, " %s:%lld", g->axis[slowest].name, (long long)g->axis[slowest].extent);
        left &= ~rd_bit(slowest);
    }
    rd_text_add(text, "\n");
}

/* Writes a line for the combine tree of each reduction and scan: "tree of y0: 64 lanes, blocks of
 * 64 steps along i | j". Lanes are accumulators that elements go to in turn, along the axes behind
 * the bar. Steps INT64_MAX: a strict left fold. */
static void combine_text(rd_text *text, const rd_tree *tree)
{
    const rd_graph *g = tree->graph;
    char            name[RD_NAME_TEXT];

    for (int a = 0; a < tree->n_materialised; a++) {
        const rd_value   *v = &g->value[tree->materialised[a].value];
        const rd_combine *c = v->combine;

        if (!c)
            continue;
        rd_text_add(text, "tree of %s: ",
                    rd_materialised_name(g, tree->number, tree->materialised[a].value, name));
        if (c->steps == INT64_MAX) {
            rd_text_add(text, "one left fold in C order\n");
            continue;
        }
        rd_text_add(text, "%d %s, blocks of %lld steps", c->lanes, c->lanes == 1 ? "lane" : "lanes",
                    (long long)c->steps);
        if (c->prefix == RD_PREFIX_TREE)
            rd_text_add(text, ", prefixes by the tree");
        for (int k = 0; k < c->n_order; k++)
            rd_text_add(text, "%s%s", k ? (k == c->first_lane ? " | " : ", ") : " along ",
                        g->axis[c->order[k]].name);
        rd_text_add(text, "\n");
    }
}

/* The bytes of all arrays that stages store for later stages. RD_KEEP_ARRAY: it is such an
 * array; a part of a concatenation (into >= 0) lies in another one. */
static long long bytes_between(const rd_tree *tree)
{
    const rd_graph *g      = tree->graph;
    long long       arrays = 0;

    for (int a = 0; a < tree->n_materialised; a++) {
        const rd_storage *h = &tree->storage[tree->materialised[a].value];

        if (h->keep == RD_KEEP_ARRAY && g->value[tree->materialised[a].value].into < 0)
            arrays += rd_points_of(g, h->stored) *
                      rd_dtype_size(g->value[tree->materialised[a].value].type);
    }
    return arrays;
}

/* Makes the nest (loops of all stages) of one plan, which may be one of several parts, and chooses
 * its backend (*use). Parts were not measured, so they have the default choice. NULL after
 * recording a failure. `request` gets the results' layouts; given->exprs are those that earlier
 * parts have stored. The pool owns the nest. */
static rd_nest *nest_of(rd_ctx *ctx, rd_pool *pool, rd_results results, const rd_given *given,
                        const rd_eval_opts *opts, rd_backend_use *use)
{
    const size_t n       = (size_t)(results.n > 0 ? results.n : 1);
    rd_request  *request = rd_pool_get(pool, n * sizeof *request);
    rd_output   *out     = rd_pool_get(pool, n * sizeof *out);

    if (!request || !out || !rd_check_results(ctx, rd_call_name(ctx), results, request, out))
        return NULL;
    rd_choice choice = given->exprs.n ? (rd_choice){ .traversal = opts->traversal }
                                      : rd_cache_choice(ctx, results.n, request, opts);

    if (!rd_backend_for(ctx, results, opts, use))
        return NULL;
    rd_backend_adapt(use, &choice);
    return rd_nest_on(use, ctx, pool, results.n, request, given, opts, &choice);
}

/* Describes the nest of one plan in all detail: results, leaves, loops, combine trees, forms of
 * stages; draws it, too, if there is a picture. False: no memory. */
static bool nest_text(account *to, rd_nest *nest, rd_pool *pool, rd_results results, int threads,
                      rd_backend_use *use)
{
    rd_text  *text = &to->text;
    rd_stages stages;

    results_text(text, results);
    measured_text(text, &nest->choice);
    leaves_text(text, nest->tree->graph);
    virtual_shape_text(text, nest->tree->graph);
    rd_nest_text(text, nest);
    combine_text(text, nest->tree);
    rd_text_add(text, "arrays between stages: %lld bytes\n", bytes_between(nest->tree));
    return rd_forms_text(text, nest, pool, results, threads, use, &stages) &&
           (!to->picture || rd_picture_plan(to->picture, nest, &stages, pool));
}

/* Removes what was written and drawn since `before`, so that another description can take its
 * place. */
static void take_back(account *to, const account *before)
{
    to->text.n              = before->text.n;
    to->text.at[to->text.n] = 0;
    if (!to->picture)
        return;
    to->picture->width  = before->picture->width;
    to->picture->height = before->picture->height;
    to->picture->body.n = before->picture->body.n;
    if (to->picture->body.at)
        to->picture->body.at[to->picture->body.n] = 0;
}

/* Describes the plan for another backend, in place of the text since `before`. AUTO must not
 * change bits, so on CUDA it uses no library (deterministic). False: no memory, or the backend
 * cannot run it. nest_of() plans, NULL on failure. */
static bool text_again(rd_ctx *ctx, account *to, const account *before, rd_pool *pool,
                       rd_results results, const rd_given *given, const rd_eval_opts *opts,
                       rd_backend backend, rd_backend_use *use)
{
    rd_eval_opts own = *opts;
    rd_nest     *nest;

    take_back(to, before);
    own.backend = backend;
    own.deterministic |= backend == RD_BACKEND_CUDA;
    nest = nest_of(ctx, pool, results, given, &own, use);
    return nest && nest_text(to, nest, pool, results, opts->threads, use);
}

/* Describes the plan for the GPU that AUTO takes, in place of the text since `before`. False: the
 * GPU cannot run it, and use->why may say why. rd_backend_forgive() takes back the error of a
 * backend that cannot run it, and is false for other errors. */
static bool gpu_text(rd_ctx *ctx, account *to, const account *before, rd_pool *pool,
                     rd_results results, const rd_given *given, const rd_eval_opts *opts,
                     rd_backend_use *use)
{
    const rd_auto_choice verdict = use->verdict;
    const bool done = text_again(ctx, to, before, pool, results, given, opts, RD_BACKEND_CUDA, use);

    if (!rd_backend_forgive(ctx) || !done || use->why)
        return false;
    rd_text_add(&to->text, "on CUDA: ");
    rd_verdict_text(&to->text, &verdict);
    rd_text_add(&to->text, "\n");
    return true;
}

/* Says that results are evaluated in blocks of rows, or warns if its plan stores much.
 * Not on a device, nor for parts of a plan. False: an error is recorded. */
static bool row_blocks_text(rd_ctx *ctx, rd_text *text, const rd_nest *nest, rd_results results,
                            const rd_given *given, const rd_eval_opts *opts,
                            const rd_backend_use *use)
{
    return given->exprs.n || use->backend->device ||
           !rd_may_be_in_blocks(results, (double)bytes_between(nest->tree)) ||
           rd_row_blocks_text(text, ctx, results, opts);
}

/* Describes one plan. If the GPU that AUTO takes refuses it, or another device that need not be
 * used, it describes the CPU's plan, with a line about why. False: a failure. use.verdict is
 * AUTO's comparison; `here` is 0 if no rates are known. use.why says why a device is not used,
 * `must` that no other backend will do. */
static bool plan_text(rd_ctx *ctx, account *to, rd_pool *pool, rd_results results,
                      const rd_given *given, const rd_eval_opts *opts)
{
    rd_text         *text    = &to->text;
    rd_svg           drawn   = to->picture ? *to->picture : (rd_svg){ 0 };
    const account    before  = { *text, &drawn };
    const char      *refused = NULL;
    rd_backend_use   use     = { 0 };
    rd_nest         *nest    = nest_of(ctx, pool, results, given, opts, &use);
    bool             done    = nest && nest_text(to, nest, pool, results, opts->threads, &use);
    const rd_backend named   = use.named;

    /* by rates this processor is faster than the GPU, or the rates are not this GPU's */
    if (done && use.verdict.here > 0 &&
        !(use.verdict.takes && rd_rates_are_of(ctx, rd_rates_of(ctx)))) {
        rd_text_add(text, "not on CUDA: %s",
                    use.verdict.takes ? "these rates are another GPU's: " : "");
        rd_verdict_text(text, &use.verdict);
        rd_text_add(text, "\n");
        return row_blocks_text(ctx, text, nest, results, given, opts, &use);
    }
    if (done && use.verdict.takes) { /* AUTO takes the GPU, if it can run the plan */
        if (gpu_text(ctx, to, &before, pool, results, given, opts, &use))
            return true;
        refused = use.why ? use.why : "the GPU fails";
        done    = rd_error(ctx) == RD_OK;
    } else if (done && use.backend->device && !use.must) /* another backend will do */
        refused = use.why;
    if (done && refused) {
        done    = text_again(ctx, to, &before, pool, results, given, opts, RD_BACKEND_CPU, &use);
        use.why = refused;
    }
    if (done && use.why)
        rd_text_add(text, "not on %s: %s\n", rd_backend_title(named), use.why);
    return done && row_blocks_text(ctx, text, nest, results, given, opts, &use);
}

/* True for a part that is no nest of loops, and writes its line: a product of sparse matrices, a
 * leaf that it reads, or a result that is one. A part with a target hands its array on to later
 * parts. cut->first is the number of the result that a part without target makes. */
static bool is_no_nest(const rd_split_part *cut, rd_results results, size_t room, char *line)
{
    const rd_expr *const e = cut->target ? cut->target : results.at[cut->first].expr;

    if (e->kind == RD_EXPR_PRODUCT && cut->target && e->as.product->mask)
        snprintf(line, room, "product of sparse matrices at %lld places that are wanted, %s",
                 (long long)e->extent[0],
                 e->as.product->mask == RD_MASK_BY_ROWS ? "row by row" : "rows by columns");
    else if (e->kind == RD_EXPR_PRODUCT && cut->target)
        snprintf(line, room, "product of sparse matrices, row by row, at %lld places",
                 (long long)e->extent[0]);
    else if (e->kind == RD_EXPR_PRODUCT && cut->n == 1)
        snprintf(line, room, "the product: made there at once, if that is dense and of its type");
    else if (e->kind == RD_EXPR_LEAF && cut->target)
        snprintf(line, room, "a leaf: a product reads it where it lies, if that is dense");
    else
        return false;
    return true;
}

/* Describes one part (one of several plans): a line if it is no nest of loops, else its plan with
 * all detail. False on failure. cut->target is the expression that the part makes for later
 * parts, NULL: it makes cut->n results from `first` on; `given` are those made before.
 * is_no_nest() writes the line. to->picture: also drawn, NULL: not. */
static bool part_text(rd_ctx *ctx, account *to, const rd_split_part *cut, rd_results results,
                      const rd_eval_opts *opts)
{
    char           line[100];
    rd_pool       *pool  = rd_pool_planning(ctx);
    rd_result      one   = { (rd_expr *)cut->target, NULL };
    const rd_given given = { .exprs = cut->given };
    rd_results wanted = { cut->target ? &one : results.at + cut->first, cut->target ? 1 : cut->n };
    bool       done;

    if (is_no_nest(cut, results, sizeof line, line)) {
        rd_text_add(&to->text, "%s\n", line);
        if (to->picture)
            rd_picture_line(to->picture, line);
        rd_pool_free(pool);
        return true;
    }
    done = pool && plan_text(ctx, to, pool, wanted, &given, opts);
    rd_pool_free(pool);
    return done;
}

/* Splits the results into parts (several plans) of about `limit` axes, and describes each. False
 * on failure. rd_split_exprs() makes the cuts in `pool`; NULL: it failed. */
static bool parts_text(rd_ctx *ctx, account *to, rd_pool *pool, rd_results results,
                       const rd_eval_opts *opts, int limit)
{
    rd_expr       **exprs = rd_pool_get(pool, (size_t)results.n * sizeof *exprs);
    rd_split_parts *cuts  = NULL;
    bool            done;

    for (int32_t r = 0; exprs && r < results.n; r++)
        exprs[r] = results.at[r].expr;
    if (exprs)
        cuts = rd_split_exprs(ctx, pool, (rd_exprs){ exprs, results.n }, limit);
    done = cuts;
    if (cuts && cuts->n > 1)
        rd_text_add(&to->text,
                    "too much for one plan: %d parts, each reads what earlier ones made\n",
                    (int)cuts->n);
    for (int32_t k = 0; done && k < cuts->n; k++) {
        char line[40];

        snprintf(line, sizeof line, "-- part %d", (int)k);
        if (cuts->n > 1)
            rd_text_add(&to->text, "%s\n", line);
        if (cuts->n > 1 && to->picture)
            rd_picture_line(to->picture, line);
        done = part_text(ctx, to, &cuts->cut[k], results, opts);
    }
    return done;
}

/* Describes the evaluation as one plan or, if that is too large (RD_ERR_LIMIT), in parts, with
 * smaller and smaller limits until one will do; false: it fails. `before` is the account so far,
 * with a copy of the picture; take_back() restores it before another try. rd_split_limits ends
 * with 0. */
static bool say_all(rd_ctx *ctx, account *to, rd_pool *pool, rd_results results,
                    const rd_eval_opts *opts)
{
    const rd_given none   = { .limited = true };
    rd_svg         drawn  = to->picture ? *to->picture : (rd_svg){ 0 };
    const account  before = { .picture = &drawn };
    bool           done   = plan_text(ctx, to, pool, results, &none, opts);

    for (const int *limit = rd_split_limits; *limit && !done && rd_error(ctx) == RD_ERR_LIMIT;
         limit++) {
        if (to->text.at)
            take_back(to, &before);
        rd_error_forgive(ctx);
        done = parts_text(ctx, to, pool, results, opts, *limit);
    }
    return done;
}

/* Writes a line for each complex result, which is stored as pairs of reals. */
static void pairs_text(rd_text *text, rd_results asked)
{
    char shape[RD_SHAPE_TEXT];

    for (int k = 0; k < asked.n; k++) {
        const rd_expr *y = asked.at[k].expr;

        if (rd_dtype_is_complex(y->type))
            rd_text_add(text, "y%d: %s %s, its parts along one more axis\n", k,
                        rd_dtype_name(y->type), rd_shape_text(y->rank, y->extent, shape));
    }
}

/* Writes a line for each sparse array whose elements are found by bisection, which its
 * expression does not show. `stored` counts the elements of such an array; 0: it is none. */
static void lookups_text(rd_ctx *ctx, rd_text *text, rd_results results)
{
    char         shape[RD_SHAPE_TEXT];
    rd_node_list list = { 0 };

    text->failed |= !rd_list_nodes(ctx, results, &list);
    for (int64_t k = 0; k < list.n; k++)
        if (list.at[k]->stored)
            rd_text_add(
                text,
                "looked up: each place that is read of a sparse %s at all its places, among "
                "%lld that are stored\n",
                rd_shape_text(list.at[k]->rank, list.at[k]->extent, shape),
                (long long)list.at[k]->stored);
    rd_free_nodes(ctx, &list);
}

/* The picture as a file's text, in the context's memory; NULL: no memory. */
static const char *file_of(rd_ctx *ctx, rd_svg *picture)
{
    rd_text     file = { 0 };
    const char *kept = NULL;

    rd_svg_file(&file, picture);
    kept = file.failed ? NULL : rd_arena_text(ctx, file.at);
    rd_text_free(&file);
    return kept;
}

/* Joins all parts of the text in the context's memory; NULL: no memory. */
static const char *text_of(rd_ctx *ctx, const account *to, rd_results asked, rd_results results)
{
    rd_text     whole = { 0 };
    const char *kept;

    pairs_text(&whole, asked);
    lookups_text(ctx, &whole, results);
    rd_text_add(&whole, "%s", to->text.at);
    kept = whole.failed ? NULL : rd_arena_text(ctx, whole.at);
    rd_text_free(&whole);
    return kept;
}

/* Describes real results as a text or, if `picture` is not NULL, as a picture. asked: the same
 * results as the caller gave them, perhaps complex. NULL after recording a failure. The text is
 * in the context's memory, and lives as long. */
static const char *explain(rd_ctx *ctx, rd_results asked, rd_results results,
                           const rd_eval_opts *opts, rd_svg *picture)
{
    rd_eval_opts full;
    rd_pool     *pool;
    account      to   = { .picture = picture };
    const char  *kept = NULL;

    if (!rd_eval_options(ctx, opts, &full))
        return NULL;
    pool = rd_pool_planning(ctx);
    /* Without memory to find out, a stage's form is described in less detail. */
    if (pool && (!picture || rd_picture_graph(picture, ctx, asked)) &&
        say_all(ctx, &to, pool, results, &full) && !to.text.failed && rd_error(ctx) == RD_OK)
        kept = picture ? file_of(ctx, picture) : text_of(ctx, &to, asked, results);
    if (!kept && rd_error(ctx) == RD_OK)
        rd_fail(ctx, RD_ERR_MEMORY, "%s: no memory for the text", rd_call_name(ctx));
    rd_text_free(&to.text);
    rd_pool_free(pool);
    return kept;
}

/* Describes results under the name of a public call. rd_pairs_begin() replaces complex results
 * by pairs of parts, and rd_begin_call() sets the name for errors. NULL after a failure. */
static const char *explained(rd_ctx *ctx, const char *call, rd_results results,
                             const rd_eval_opts *opts, rd_svg *picture)
{
    const char *before, *text = NULL;
    rd_pairs    pairs;

    if (!ctx || rd_error(ctx) != RD_OK ||
        !rd_list_ok(ctx, call, "results", results.at, results.n, 1))
        return NULL;
    before = rd_begin_call(ctx, call);
    if (rd_pairs_begin(ctx, results, &pairs)) {
        text = explain(ctx, results, pairs.results, opts, picture);
        rd_pairs_end(ctx, results, &pairs);
    }
    rd_begin_call(ctx, before);
    return text;
}

/* The public call: what an evaluation would do, as text. */
const char *rd_explain(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    return explained(ctx, "rd_explain", results, opts, /*picture=*/NULL);
}

/* The public call: the same as a picture, the text of an SVG file. */
const char *rd_explain_svg(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_svg      picture = { 0 };
    const char *file    = explained(ctx, "rd_explain_svg", results, opts, &picture);

    rd_text_free(&picture.body);
    return file;
}
