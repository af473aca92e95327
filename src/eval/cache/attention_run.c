/* attention_run.c - sums weighed by exponentials, tile by tile.
 *
 *     for each block of rows
 *         for each tile of columns     m' = max s, e = exp(s - m'), z' = sum e, o' = sum e v
 *             m'' = max(m, m'); z = z exp(m - m'') + z' exp(m' - m''); o likewise; m = m''
 *         result = o / z
 *
 * A tile is an evaluation of its own, so both products are a library's.  Its scores stay in a
 * second-level cache.  Tiles of one shape share a plan: coordinates are read from memory, as an
 * index in a plan would make each tile a plan of its own.
 *
 * Columns come in groups.  One whose scores are all -inf is left out, if its values are finite:
 * 0 times inf is NaN.  Where a mask is known to be true it is not asked. */
#include "eval/cache/attention_tiles.h"
#include "eval/cache/cache.h"
#include "expr/maps.h"
#include "expr/nodes.h"
#include "kernels/cpu/product/blas.h"
#include <math.h>
#include <string.h>

/* The longest axis whose coordinates are in memory; rows of a block. */
enum { MOST_INDEXED = 1 << 16, BLOCK = RD_BLOCK_TILES * RD_TILE_ROWS };

static const char call[] = "rd_eval";

typedef enum answer { NOT_ASKED, IS_FINITE, NOT_FINITE } answer;

/* ---- Sizes ----------------------------------------------------------------------------------- */
/* The lesser of a and b. */
static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* n / each, rounded up. */
static int64_t parts_of(int64_t n, int64_t each)
{
    return n / each + (n % each != 0);
}

/* True for a batch axis k, such as heads: it is neither rows, columns nor a value axis. A tile has
 * one index of it. */
static bool is_other(const rd_attention *a, int k)
{
    return k != a->rows && k != a->columns && !(a->value_axes >> k & 1);
}

/* The number of index tuples of all batch axes together, such as batch x heads. */
static int64_t others_of(const rd_attention *a)
{
    int64_t n = 1;

    for (int k = 0; k < a->rank; k++)
        n *= is_other(a, k) ? a->extent[k] : 1;
    return n;
}

/* The number of row blocks, which threads share: each is up to 256 rows at one index of the batch
 * axes. */
int64_t rd_attention_blocks(const rd_attention *a)
{
    return others_of(a) * parts_of(a->extent[a->rows], BLOCK);
}

/* The number of tiles (128 rows x 256 columns) of all scores, as if no mask left one out. */
int64_t rd_attention_tiles(const rd_attention *a)
{
    return others_of(a) * parts_of(a->extent[a->rows], RD_TILE_ROWS) *
           parts_of(a->extent[a->columns], RD_TILE_COLUMNS);
}

/* The bytes that all scores would take if they were stored. */
double rd_attention_score_bytes(const rd_attention *a)
{
    return (double)others_of(a) * (double)a->extent[a->rows] * (double)a->extent[a->columns] *
           (double)rd_dtype_size(a->y->type);
}

/* ---- A tile's expressions -------------------------------------------------------------------- */
/* The tile's part of an operand, which has all axes of the product, with extent 1 where it is
 * broadcast. swap: a node inside it whose part another function makes (keys); NULL: none. NULL
 * after a failure. `t` has the first index and the end of each axis of the product. */
static rd_expr *part_of(rd_expr *x, const rd_tile_box *t, const rd_box_swap *swap)
{
    int64_t first[RD_MAX_RANK], end[RD_MAX_RANK];

    for (int k = 0; x && k < x->rank; k++) {
        first[k] = x->extent[k] == 1 ? 0 : t->first[k];
        end[k]   = x->extent[k] == 1 ? 1 : t->end[k];
    }
    return rd_box_part(x, first, end, swap);
}

/* Makes a tile's results as expressions: y[0] = sum of e * values, y[1] = sum of e, y[2] = the
 * greatest score of each row, with e = exp(scores - greatest). Returns how many they are (3, or 2
 * if no maximum is subtracted), 0 after a failure. In a row that has only -inf, 0 is subtracted,
 * so that e is 0 and not NaN: other tiles of the row may have more. y[0] and y[1] keep the
 * columns' axis with extent 1. */
static int tile_results(const rd_attention *a, rd_expr *scores, const rd_tile_box *t,
                        const rd_box_swap *swap, rd_expr *y[RD_TILE_RESULTS])
{
    const rd_dims  along = RD_KEEP(a->columns); /* reduce it, keep it with extent 1 */
    rd_expr *const s = part_of(scores, t, swap), *const v = part_of(a->values, t, /*swap=*/NULL);
    rd_expr *e = s, *m = NULL, *least; /* -inf; e: exponentials; m: greatest scores */

    if (a->largest && s) {
        least = rd_num(s->ctx, -INFINITY);
        m     = rd_max(s, along);
        e     = map_where(call, map_2(RD_OP_eq, call, m, least), rd_int(s->ctx, 0), m);
        e     = map_2(RD_OP_sub, call, s, e);
    }
    e    = map_1(RD_OP_exp, call, e);
    y[0] = rd_sum(map_2(RD_OP_mul, call, e, v), along);
    y[1] = rd_sum(e, along);
    y[2] = m;
    return !y[0] || !y[1] || (a->largest && !m) ? 0 : a->largest ? 3 : 2;
}

/* Describes a tile's n results as arrays; their data pointers stay. Values: rows by value axes,
 * dense. Weights and greatest scores: one element a row. Value axes are dense in C order (each:
 * elements of an index), the step from row to row is a row of values, and other axes have one
 * index. */
static void describe(const rd_attention *a, int n, rd_expr *const *y, rd_array *out)
{
    for (int k = 0; k < n; k++) {
        out[k]       = (rd_array){ .type = y[k]->type, .data = out[k].data };
        out[k].shape = rd_shape_of(y[k]);
    }
    out[0].strides.n = a->rank;
    for (int64_t k = a->rank, each = 1; k-- > 0; each *= a->value_axes >> k & 1 ? a->extent[k] : 1)
        out[0].strides.at[k] = a->value_axes >> k & 1 ? each : 0;
    out[0].strides.at[a->rows] = rd_row_values(a);
}

/* Makes the results of the first tile and their layouts, so that a plan can be made to see what a
 * tile costs. No memory is behind `out`: address 64 stands for any aligned one. Returns how many
 * results there are, 0 after a failure. t is the tile: is_other() axes have one index;
 * tile_results() makes the results, describe() their layouts. */
int rd_attention_sample(const rd_attention *a, rd_expr *y[RD_TILE_RESULTS],
                        rd_array out[RD_TILE_RESULTS])
{
    rd_tile_box t = { .first = { 0 } };
    int         n;

    for (int k = 0; k < a->rank; k++)
        t.end[k] = is_other(a, k) ? 1 : a->extent[k];
    t.end[a->rows]    = least_of(RD_TILE_ROWS, a->extent[a->rows]);
    t.end[a->columns] = least_of(RD_TILE_COLUMNS, a->extent[a->columns]);
    n                 = tile_results(a, a->scores, &t, /*swap=*/NULL, y);
    for (int k = 0; k < n; k++)
        out[k].data = (void *)(uintptr_t)64;
    describe(a, n, y, out);
    return n;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
/* True if the worker has evaluated nothing with this kind and these extents yet, so that
 * rd_cache_run() will make a plan. kind: the form of the scores, or RD_KEYS_KIND,
 * RD_FINITE_KIND. w->met has a number for each, at most RD_TILE_PLANS. */
static bool is_new(rd_attention_worker *w, int kind, int64_t rows, int64_t columns)
{
    const int64_t key = (kind * (int64_t)RD_TILE_ROWS + rows) * RD_TILE_COLUMNS + columns;

    for (int k = 0; k < w->n_met; k++)
        if (w->met[k] == key)
            return false;
    if (w->n_met < RD_TILE_PLANS)
        w->met[w->n_met++] = key;
    return true;
}

/* Evaluates n results y into `out` with the worker's context and its plan cache. kind, rows,
 * columns: what they are, for is_new(). Planning takes more memory than a tile, so a mutex lets
 * one thread plan at a time. is_new(): this worker has no plan yet for such results. w->run has
 * what all workers share: options and the mutex `planning`. */
rd_status rd_tile_evaluate(rd_attention_worker *w, int kind, int64_t rows, int64_t columns, int n,
                           rd_expr *const *y, rd_array *out)
{
    const rd_eval_opts opts  = { .size     = sizeof opts,
                                 .threads  = 1,
                                 .backend  = RD_BACKEND_CPU,
                                 .accuracy = w->run->opts.accuracy };
    const bool         plans = is_new(w, kind, rows, columns);
    rd_result          result[RD_TILE_RESULTS];
    rd_status          status;

    for (int k = 0; k < n; k++)
        result[k] = (rd_result){ y[k], &out[k] };
    if (plans)
        pthread_mutex_lock(&w->run->planning);
    status = rd_cache_run(w->ctx, (rd_results){ result, n }, &opts);
    rd_free(w->ctx, rd_take_spare(w->ctx)); /* the planning memory that the context keeps */
    if (plans)
        pthread_mutex_unlock(&w->run->planning);
    return status;
}

/* Evaluates tile t, whose scores have this form (which masks are known, as rd_choices_form()
 * says). Adds its sums to the running sums of tile number `which` of the block. Number
 * RD_BLOCK_TILES stands for the memory of the tile's own sums. Nodes that it makes are released
 * at the end (mark). Where keys are copied, `swap` has the copy made in place of their part. */
static rd_status run_tile(rd_attention_worker *w, int which, int form, const rd_tile_box *t)
{
    const rd_mark     mark                 = rd_ctx_mark(w->ctx);
    const rd_box_swap swap                 = { w->keys_of[form].node, rd_keys_part, w };
    rd_array          out[RD_TILE_RESULTS] = { { .data = rd_sum_values(w, RD_BLOCK_TILES) },
                                               { .data = rd_sum_weights(w, RD_BLOCK_TILES) },
                                               { .data = rd_sum_greatest(w, RD_BLOCK_TILES) } };
    rd_expr          *y[RD_TILE_RESULTS];
    rd_status         status;
    int               n;

    w->keys.of = w->keys_of[form];
    n          = tile_results(&w->a, w->form[form], t, swap.node ? &swap : NULL, y);
    if (n > 0) {
        describe(&w->a, n, y, out);
        status = rd_tile_evaluate(w, form, t->end[w->a.rows] - t->first[w->a.rows],
                                  t->end[w->a.columns] - t->first[w->a.columns], n, y, out);
    } else {
        status = rd_error(w->ctx);
    }
    (void)rd_ctx_release(w->ctx, mark);
    if (status == RD_OK)
        rd_sums_add(w, which, t->end[w->a.rows] - t->first[w->a.rows]);
    return status;
}

/* The sum of 0 times each element of a vector: 0 if all are finite, else NaN. step: distance in
 * elements. */
static double zero_times(rd_dtype type, const void *p, int64_t n, int64_t step)
{
    const float *const  f   = p;
    const double *const d   = p;
    double              sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += 0 * (type == RD_F32 ? (double)f[i * step] : d[i * step]);
    return sum;
}

/* The sum of 0 times each value of a tile, which is 0 if all are finite and NaN otherwise. The
 * values lie in memory; the loops go along the columns and the value axes, and the innermost one
 * along `last`, the last value axis. t is the box of the tile; without value axes `last` is the
 * column axis. rd_leaf_element() is the address of an element and rd_leaf_step() how far one
 * index moves. k goes over the axes that values have; `more`: another row is left. */
static double zero_times_values(const rd_attention *a, const rd_tile_box *t)
{
    const rd_expr *const v    = a->values;
    const int            last = a->value_axes ? 63 - __builtin_clzll(a->value_axes) : a->columns;
    rd_tile_box          at   = *t;
    double               sum  = 0;

    for (bool more = true; more;) { /* an odometer over the axes other than `last` */
        sum += zero_times(v->type, rd_leaf_element(v, at.first), t->end[last] - t->first[last],
                          rd_leaf_step(v, last));
        more = false;
        for (int k = a->rank; k-- > 0 && !more;) {
            if (k == last || !(k == a->columns || a->value_axes >> k & 1))
                continue;
            more        = ++at.first[k] < t->end[k];
            at.first[k] = more ? at.first[k] : t->first[k];
        }
    }
    return sum;
}

/* *are: all values of the tile's columns are finite, as 0 times each is 0. Values in memory are
 * read directly, others are evaluated. Returns the status of that evaluation. RD_ALL reduces all
 * axes to one number. */
static rd_status ask_finite(rd_attention_worker *w, const rd_tile_box *t, bool *are)
{
    const rd_mark mark   = rd_ctx_mark(w->ctx);
    rd_tile_box   one    = *t;
    double        sum    = 0;
    rd_array      out    = { .type = RD_F64, .data = &sum };
    rd_status     status = RD_OK;
    rd_expr      *y;

    one.end[w->a.rows] = one.first[w->a.rows] + 1; /* values repeat along rows */
    if (rd_leaf_element(w->a.values, t->first)) {
        sum = zero_times_values(&w->a, t);
    } else {
        y = part_of(w->a.values, &one, /*swap=*/NULL);
        y = rd_sum(map_2(RD_OP_mul, call, y, rd_int(w->ctx, 0)), RD_ALL);
        y = rd_cast_to(y, RD_F64);
        status =
            y ? rd_tile_evaluate(w, RD_FINITE_KIND, /*rows=*/0,
                                 t->end[w->a.columns] - t->first[w->a.columns], /*n=*/1, &y, &out)
              : rd_error(w->ctx);
    }
    (void)rd_ctx_release(w->ctx, mark);
    *are = sum == 0;
    return status;
}

/* True if all values of a group of 128 columns, at one index of the batch axes (other), are
 * finite. The answer is kept for all threads; two threads may find the same one at a time, which
 * does no harm. *status becomes that of the evaluation, if there is one. */
static bool is_finite(rd_attention_worker *w, int64_t other, int64_t group, const rd_tile_box *t,
                      rd_status *status)
{
    _Atomic(char) *const known = &w->run->finite[other * w->run->groups + group];
    bool                 are   = atomic_load(known) == IS_FINITE;

    if (atomic_load(known) == NOT_ASKED) {
        *status = ask_finite(w, t, &are);
        atomic_store(known, are ? IS_FINITE : NOT_FINITE);
    }
    return are;
}

/* Makes scores in the form that is known now, once; false after a failure. */
static bool make_form(rd_attention_worker *w, int form);

/* Sets the columns of tile t to group number `group` (128 columns), and asks what is known of the
 * masks there. Returns the form of its scores, a number that says which masks are known to be true
 * or false. -1: all scores are -inf and values are finite, so the group adds 0 and is left out.
 * *status: a failure of that evaluation, else unchanged. */
static int form_of_group(rd_attention_worker *w, int64_t other, int64_t group, rd_tile_box *t,
                         rd_status *status)
{
    const rd_attention *a = &w->a;
    int64_t             end[RD_MAX_RANK];

    t->first[a->columns] = group * RD_TILE_GROUP;
    t->end[a->columns]   = least_of((group + 1) * RD_TILE_GROUP, a->extent[a->columns]);
    for (int k = 0; k < a->rank; k++)
        end[k] = a->value_axes >> k & 1 ? 1 : t->end[k]; /* scores have extent 1 there */
    if (rd_choices_ask(&w->choices, a->scores, t->first, end) &&
        is_finite(w, other, group, t, status))
        return -1;
    return rd_choices_form(&w->choices);
}

/* Runs groups g to end - 1 of the columns (128 each) of tile number `which`. Adjacent groups of
 * one form (the same masks known) are one evaluation; groups of form -1 are masked out and
 * skipped. other: index of the batch axes. w->a.columns is the column axis; n counts the
 * adjacent groups, and t is their box. form_of_group() sets `status` after a failure;
 * make_form() makes the expressions of a form, unless they are made. */
static rd_status run_groups(rd_attention_worker *w, int which, int64_t other, int64_t g,
                            int64_t end, const rd_tile_box *tile)
{
    const int   a      = w->a.columns;
    rd_status   status = RD_OK;
    rd_tile_box t      = *tile;

    for (int64_t n; g < end && status == RD_OK; g += n) {
        const int form = form_of_group(w, other, g, &t, &status);

        if (form >= 0 && !make_form(w, form)) /* by what is known of this group */
            return rd_error(w->ctx);
        for (n = 1;
             g + n < end && status == RD_OK && form_of_group(w, other, g + n, &t, &status) == form;)
            n++;
        t.first[a] = g * RD_TILE_GROUP;
        t.end[a]   = least_of((g + n) * RD_TILE_GROUP, w->a.extent[a]);
        if (form >= 0 && status == RD_OK)
            status = run_tile(w, which, form, &t);
    }
    return status;
}

/* Runs all columns of the n tiles of a block, which lie above one another. The loop over tiles is
 * inside that over 256 columns, so that all tiles use one copy of the keys of these columns.
 * other: index of the batch axes. A group is RD_TILE_GROUP columns, and w->run->groups counts
 * them; run_groups() runs groups g to its next argument of tile k. */
static rd_status run_columns(rd_attention_worker *w, int64_t other, int n, const rd_tile_box *tile)
{
    enum { GROUPS = RD_TILE_COLUMNS / RD_TILE_GROUP };
    const int64_t all    = w->run->groups;
    rd_status     status = RD_OK;

    for (int64_t g = 0; g < all && status == RD_OK; g += GROUPS)
        for (int k = 0; k < n && status == RD_OK; k++)
            status = run_groups(w, k, other, g, least_of(g + GROUPS, all), &tile[k]);
    return status;
}

/* The indices of a block: index `other` of the batch axes, in C order, and all indices of rows,
 * columns and values. is_other(): a batch axis. */
static rd_tile_box block_at(const rd_attention *a, int64_t other)
{
    rd_tile_box t = { .first = { 0 } };

    for (int k = a->rank; k-- > 0;) {
        t.end[k] = a->extent[k];
        if (is_other(a, k)) {
            t.first[k] = other % a->extent[k];
            t.end[k]   = t.first[k] + 1;
            other /= a->extent[k];
        }
    }
    return t;
}

/* Evaluates row block k: clears the running sums of its tiles, adds all columns, stores the
 * quotients. Blocks of later rows come first, because under a causal mask they have more columns:
 * the long tasks should not come last. k is block * others + index of the batch axes, where
 * `others` counts these indices. */
rd_status rd_attention_block(rd_attention_worker *w, int64_t k)
{
    const rd_attention *a      = &w->a;
    const int64_t       others = others_of(a), rows = a->extent[a->rows];
    const int64_t       first = (parts_of(rows, BLOCK) - 1 - k / others) * BLOCK;
    rd_tile_box         tile[RD_BLOCK_TILES];
    rd_status           status;
    int                 n = 0;

    for (; n < RD_BLOCK_TILES && first + n * RD_TILE_ROWS < rows; n++) {
        tile[n]                = block_at(a, k % others);
        tile[n].first[a->rows] = first + n * RD_TILE_ROWS;
        tile[n].end[a->rows]   = least_of(first + (n + 1) * RD_TILE_ROWS, rows);
        rd_sums_clear(w, n, tile[n].end[a->rows] - tile[n].first[a->rows]);
    }
    status = run_columns(w, k % others, n, tile);
    for (int i = 0; i < n && status == RD_OK; i++)
        rd_sums_store(w, i, &tile[i]);
    return status;
}

/* ---- Runs and workers ------------------------------------------------------------------------ */
/* Writes the strides of the result by axes of the product; 0 for the summed axis and for axes that
 * the result lacks. False: a reshaped result whose memory is not dense. a->result_axis[] maps the
 * sum's axes, which lack the summed one, to the result's, -1: none. */
static bool find_strides(rd_attention_run *run, const rd_attention *a, const rd_expr *result,
                         const int64_t *stride)
{
    int64_t dense[RD_MAX_RANK];

    if (a->reshaped) {
        rd_dense_strides(result->rank, result->extent, 0, dense);
        for (int k = 0; k < result->rank; k++)
            if (result->extent[k] > 1 && stride[k] != dense[k])
                return false;
        rd_dense_strides(a->view->rank, a->view->extent, 0, dense);
        stride = dense;
    }
    for (int k = 0; k < a->rank; k++) {
        const int to =
            k == a->columns ? -1 : a->result_axis[k - (k > a->columns)]; /* the result's axis */

        run->stride[k] = to < 0 ? 0 : stride[to];
    }
    return true;
}

/* Begins a run that stores to `out`; stride: of the result, by its axes. NULL: no memory, or a
 * reshaped result that is not dense. The run is followed in memory by one char for each group of
 * columns and index of batch axes, the answers of is_finite(): 0 is NOT_ASKED. The caller frees
 * it by rd_attention_end(); `a` must live as long. */
rd_attention_run *rd_attention_begin(const rd_attention *a, const rd_eval_opts *opts,
                                     const rd_expr *result, void *out, const int64_t *stride)
{
    const int64_t     groups = parts_of(a->extent[a->columns], RD_TILE_GROUP);
    const int64_t     asked  = others_of(a) * groups * (int64_t)sizeof(_Atomic(char));
    rd_attention_run *run    = rd_alloc_quiet(a->y->ctx, (int64_t)sizeof *run + asked);

    if (!run)
        return NULL;
    run->a      = a;
    run->opts   = *opts;
    run->out    = out;
    run->ctx    = a->y->ctx;
    run->groups = groups;
    run->finite = (_Atomic(char) *)(run + 1);
    if (pthread_mutex_init(&run->planning, NULL) == 0) {
        if (find_strides(run, a, result, stride))
            return run;
        pthread_mutex_destroy(&run->planning);
    }
    rd_free(run->ctx, run);
    return NULL;
}

/* Frees a run; NULL does nothing. */
void rd_attention_end(rd_attention_run *run)
{
    if (!run)
        return;
    pthread_mutex_destroy(&run->planning);
    rd_free(run->ctx, run);
}

/* Lists x and all nodes below it, each once. False: a failure is recorded. */
static bool list_below(rd_attention_worker *w, rd_expr *x, rd_node_list *list)
{
    return x && rd_list_nodes(w->ctx, (rd_results){ &(rd_result){ x, NULL }, 1 }, list);
}

/* The longest axis among the index arrays (COORD nodes) below x, of those that fit in memory
 * (MOST_INDEXED). 0: there are none. */
static int64_t most_indices(rd_attention_worker *w, rd_expr *x)
{
    rd_node_list list = { 0 };
    int64_t      most = 0;

    (void)list_below(w, x, &list); /* a failure is recorded */
    for (int64_t k = 0; k < list.n; k++) {
        const rd_expr *const c = list.at[k];
        const int64_t        n = c->kind == RD_EXPR_COORD ? c->extent[c->as.axis->axis] : 0;

        most = n > most && n <= MOST_INDEXED ? n : most;
    }
    rd_free_nodes(w->ctx, &list);
    return most;
}

/* Makes the array 0, 1, 2 ... that stands for every index array below scores and values, so that
 * tiles at different indices share a plan. False: no memory. most_indices() is how long the
 * longest such array is. */
static bool make_index(rd_attention_worker *w)
{
    const int64_t p = most_indices(w, w->a.scores), q = most_indices(w, w->a.values);
    const int64_t n = p > q ? p : q;

    w->index = rd_alloc(w->ctx, (n + 1) * (int64_t)sizeof *w->index); /* + 1: n may be 0 */
    for (int64_t i = 0; w->index && i < n; i++)
        w->index[i] = i;
    return w->index != NULL;
}

/* Lists a replacement for each index array (COORD node) in the list: a leaf of its shape over
 * w->index. Returns how many, -1 after a failure. w->index holds 0, 1, 2, ... up to
 * MOST_INDEXED, and longer axes are left as they are. with[n] has the node and its replacement
 * `to`. */
static int replace_coordinates(const rd_attention_worker *w, const rd_node_list *list,
                               rd_replacement *with)
{
    int n = 0;

    for (int64_t k = 0; k < list->n; k++) {
        rd_expr *const x     = list->at[k];
        rd_array       array = { .in = w->index, .type = RD_I64 };

        if (x->kind != RD_EXPR_COORD || x->extent[x->as.axis->axis] > MOST_INDEXED)
            continue;
        array.shape = rd_shape_of(x);
        with[n]     = (rd_replacement){ x, rd_leaf_of(w->ctx, &array, call) };
        if (!with[n++].to)
            return -1;
    }
    return n;
}

/* x with its index arrays read from memory, as the offset of a tile in a COORD node would be part
 * of its plan. NULL after a failure. replace_coordinates() lists the n replacements, -1: a
 * failure; without any x stays. */
static rd_expr *with_indices(rd_attention_worker *w, rd_expr *x)
{
    rd_node_list    list = { 0 };
    rd_replacement *with = NULL;
    rd_expr        *y    = NULL;
    int             n    = 0;

    if (list_below(w, x, &list) && (with = rd_alloc(w->ctx, list.n * (int64_t)sizeof *with))) {
        n = replace_coordinates(w, &list, with);
        y = n < 0 ? NULL : n ? rd_clone_with(w->ctx, x, n, with) : x;
    }
    rd_free(w->ctx, with);
    rd_free_nodes(w->ctx, &list);
    return y;
}

/* Makes the scores in this form, a number that says which masks are known: those are removed, and
 * index arrays are read from memory. Also looks for keys to copy, if the BLAS has code for
 * matrices as they lie (uncopied). Does nothing the second time; false after a failure.
 * w->form[form] has them, NULL: not made yet; rd_choices_made() removes the known masks. */
static bool make_form(rd_attention_worker *w, int form)
{
    if (w->form[form])
        return true;
    w->form[form] = with_indices(w, rd_choices_made(&w->choices, w->a.scores));
    if (w->form[form] && rd_blas_most_uncopied() > 0)
        w->keys_of[form] = rd_attention_find_keys(&w->a, w->form[form]);
    return w->form[form] != NULL;
}

/* Makes a thread's part of a run: the expressions cloned into its own context, memory for running
 * sums, and the list of masks. NULL after recording a failure in ctx. The caller frees it by
 * rd_attention_worker_free(). */
rd_attention_worker *rd_attention_worker_new(rd_attention_run *run, rd_ctx *ctx)
{
    rd_attention_worker *const w = rd_alloc(ctx, sizeof *w);

    if (!w)
        return NULL;
    w->run      = run;
    w->ctx      = ctx;
    w->a        = *run->a;
    w->a.scores = rd_clone(ctx, run->a->scores);
    w->a.values = rd_clone(ctx, run->a->values);
    if (w->a.scores && w->a.values && rd_sums_begin(w) && make_index(w) &&
        (w->a.values = with_indices(w, w->a.values))) {
        rd_choices_find(&w->choices, w->a.scores);
        return w;
    }
    rd_attention_worker_free(w);
    return NULL;
}

/* Frees a worker, not its context; NULL does nothing. */
void rd_attention_worker_free(rd_attention_worker *w)
{
    if (!w)
        return;
    rd_free(w->ctx, w->keys.data);
    rd_free(w->ctx, w->memory);
    rd_free(w->ctx, w->index);
    rd_free(w->ctx, w);
}
