/* plan_parts.c - makes a plan that consists of several plans, for expressions too large for one.
 *
 * A part is one of several plans that run in order.  An array is what one part makes for later
 * ones; results come from parts without an array. */
#include "eval/plan_split.h"
#include "eval/plan.h"
#include "eval/request.h"
#include "core/row_product.h"
#include <string.h>

/* The arguments of making a plan in parts. */
typedef struct making {
    rd_ctx               *ctx;
    rd_plan              *plan;
    rd_pool              *work;
    const rd_split_parts *cuts;
    rd_exprs              in;
    const int64_t        *shift;
    rd_results            results;
    const rd_eval_opts   *opts;
    const rd_choice      *choice;
} making;

/* ---- Arrays ---------------------------------------------------------------------------------- */
/* The number of the array that holds expression e, which is that of the part that computes it. */
static int32_t array_of(const rd_split_parts *cuts, const rd_expr *e)
{
    int32_t k = 0;

    while (cuts->cut[k].target != e)
        k++;
    return k;
}

/* Bytes of an array between parts, in whole cache lines of 64; 0 if e is NULL: the part makes
 * results. */
static int64_t bytes_of(const rd_expr *e)
{
    if (!e) /* results, which come behind arrays, are none */
        return 0;
    const int64_t bytes = rd_bytes_times(rd_points(e->rank, e->extent), rd_dtype_size(e->type));

    return rd_bytes_add(bytes, 64) / 64 * 64;
}

/* The lowest offset for part k's array at which it overlaps no array that is still to be read when
 * part k runs (first fit). last: by array, its last reader. Arrays in the caller's memory do not
 * count. It moves up behind each array that it overlaps, until none does. */
static int64_t free_place(const making *m, const int32_t *last, int32_t k)
{
    const rd_parts *parts = m->plan->parts;
    int64_t         at = 0, need = bytes_of(m->cuts->cut[k].target);

    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t a = 0; a < k; a++) {
            const int64_t end = rd_bytes_add(parts->at[a], bytes_of(m->cuts->cut[a].target));

            if (a == parts->direct || parts->part[a].read_in_place)
                continue;
            if (last[a] >= k && parts->at[a] < rd_bytes_add(at, need) && at < end) {
                at    = end;
                moved = true;
            }
        }
    }
    return at;
}

/* Assigns offsets to all arrays between parts; arrays needed at different times share memory.
 * Leaves that products read in place get offsets in the spare memory, for runs in which they
 * overlap a result. False: no memory. `direct` is the array that is made in the result's own
 * memory, which needs no place. */
static bool place_arrays(making *m)
{
    rd_parts *parts = m->plan->parts;
    int32_t  *last  = rd_pool_get(m->work, (size_t)(parts->n + 1) * sizeof *last);

    parts->at = rd_pool_get(m->plan->pool, (size_t)(parts->n_array + 1) * sizeof *parts->at);
    if (!last || !parts->at)
        return false;
    for (int32_t k = 0; k < parts->n; k++)
        for (int32_t r = 0; r < parts->part[k].n_read; r++)
            last[parts->part[k].read[r]] = k;
    for (int32_t k = 0; k < parts->n_array; k++) {
        const int64_t bytes = bytes_of(m->cuts->cut[k].target);

        if (k == parts->direct)
            continue;
        if (parts->part[k].read_in_place) {
            parts->at[k] = parts->spare;
            parts->spare = rd_bytes_add(parts->spare, bytes);
            continue;
        }
        parts->at[k]      = free_place(m, last, k);
        const int64_t end = rd_bytes_add(parts->at[k], bytes);
        parts->bytes      = end > parts->bytes ? end : parts->bytes;
    }
    return true;
}

/* ---- Parts ----------------------------------------------------------------------------------- */
/* Lists the arrays that a part reads, by the numbers of the parts that make them; false: no
 * memory. */
static bool list_reads(making *m, const rd_split_part *cut, rd_plan_part *part)
{
    part->n_read = cut->given.n;
    part->read   = rd_pool_get(m->plan->pool, (size_t)(cut->given.n + 1) * sizeof *part->read);
    for (int32_t k = 0; part->read && k < cut->given.n; k++)
        part->read[k] = array_of(m->cuts, cut->given.at[k]);
    return part->read;
}

/* Plans one part, which computes cut->target into an array or, if that is NULL, results from
 * cut->first on. Its inputs are the caller's, then the arrays that it reads. NULL on failure;
 * *too_much: it must be smaller. m->in are the caller's inputs and m->shift how many elements
 * each is moved by, NULL: none; cut->given are the arrays. */
static rd_plan *plan_part(making *m, const rd_split_part *cut, rd_pool *work, bool *too_much)
{
    const size_t   n      = (size_t)m->in.n + (size_t)cut->given.n;
    rd_expr      **in     = rd_pool_get(work, (n + 1) * sizeof *in);
    int64_t       *shift  = rd_pool_get(work, (n + 1) * sizeof *shift);
    rd_result      one    = { (rd_expr *)cut->target, NULL };
    const rd_given given  = { .exprs = cut->given };
    rd_results     wanted = { cut->target ? &one : m->results.at + cut->first,
                          cut->target ? 1 : cut->n };

    if (!in || !shift)
        return NULL;
    for (size_t k = 0; k < n; k++) {
        const size_t own = (size_t)m->in.n;

        in[k]    = k < own ? m->in.at[k] : cut->given.at[k - own];
        shift[k] = k < own && m->shift ? m->shift[k] : 0;
    }
    return rd_plan_whole(m->ctx, work, (rd_exprs){ in, (int32_t)n }, shift, wanted, m->opts,
                         m->choice, &given, too_much);
}

/* Makes the part that is a product of sparse matrices; it reads the arrays of both operands'
 * stored values. False on failure. Its inputs are the caller's n_in, then the two arrays. */
static bool make_product(making *m, const rd_expr *e, rd_plan_part *part)
{
    rd_row_product *product;

    part->n_read = 2;
    part->read   = rd_pool_get(m->plan->pool, 2 * sizeof *part->read);
    part->plan   = rd_plan_empty(m->ctx, m->opts, m->choice);
    product      = part->plan ? rd_pool_get(part->plan->pool, sizeof *product) : NULL;
    if (!part->read || !product)
        return false;
    for (int k = 0; k < 2; k++)
        part->read[k] = array_of(m->cuts, e->in[k]);
    *product            = *e->as.product;
    part->plan->product = product;
    part->plan->n_in    = m->in.n + 2;
    return true;
}

/* Makes part k of the plan: lists the arrays that it reads, and plans it; a sparse product has no
 * stages to plan. parts->pointers grows to the room for addresses that this part needs. False on
 * failure; *too_much: it must be smaller. part->array is the array that it makes, -1: results;
 * part->input -1: no leaf is read in place. */
static bool make_part(making *m, int32_t k, bool *too_much)
{
    const rd_split_part *cut   = &m->cuts->cut[k];
    rd_plan_part        *part  = &m->plan->parts->part[k];
    rd_pool             *work  = rd_pool_planning(m->ctx);
    const int64_t        reads = (int64_t)sizeof(void *) * (m->in.n + cut->given.n + 2);

    part->array = cut->target ? k : -1;
    part->first = cut->first;
    part->input = -1;
    if (reads > m->plan->parts->pointers)
        m->plan->parts->pointers = reads;
    if (cut->target && cut->target->kind == RD_EXPR_PRODUCT) {
        rd_pool_free(work);
        return make_product(m, cut->target, part);
    }
    if (work && list_reads(m, cut, part))
        part->plan = plan_part(m, cut, work, too_much);
    rd_pool_free(work);
    return part->plan;
}

/* Fills in the layouts of all results in the plan in parts. False after recording what is wrong. */
static bool describe_results(making *m)
{
    rd_request *request = rd_pool_get(m->work, (size_t)m->results.n * sizeof *request);

    m->plan->n_in  = m->in.n;
    m->plan->n_out = m->results.n;
    m->plan->out   = rd_pool_get(m->plan->pool, (size_t)m->results.n * sizeof *m->plan->out);
    return request && m->plan->out &&
           rd_check_results(m->ctx, rd_call_name(m->ctx), m->results, request, m->plan->out);
}

/* ---- Arrays that need no copy ---------------------------------------------------------------- */
/* True if the strides are those of C order without gaps; along axes of one index any stride will
 * do. */
static bool is_dense(const rd_expr *e, const int64_t *stride)
{
    int64_t dense[RD_MAX_RANK];

    rd_dense_strides(e->rank, e->extent, 0, dense);
    for (int a = 0; a < e->rank; a++)
        if (e->extent[a] > 1 && stride[a] != dense[a])
            return false;
    return true;
}

/* True if all parts that read the array are products of sparse matrices, which can read the
 * caller's memory in place. */
static bool only_products_read(const rd_parts *parts, int32_t array)
{
    for (int32_t k = 0; k < parts->n; k++)
        for (int32_t r = 0; r < parts->part[k].n_read; r++)
            if (parts->part[k].read[r] == array && !parts->part[k].plan->product)
                return false;
    return true;
}

/* Lets products read operands in place (lies) that are dense arrays of the caller in host memory,
 * if no other part reads them as arrays. part->input is the number of the input that the leaf
 * is, -1: it is no input, and `leaf` its address. */
static void find_leaves(making *m)
{
    for (int32_t k = 0; k < m->plan->parts->n_array; k++) {
        const rd_expr *e    = m->cuts->cut[k].target;
        rd_plan_part  *part = &m->plan->parts->part[k];

        /* e is NULL for a part that makes results */
        if (!e || e->kind != RD_EXPR_LEAF || e->device || !is_dense(e, e->as.leaf->stride) ||
            !only_products_read(m->plan->parts, k))
            continue;
        for (int32_t i = 0; i < m->in.n; i++)
            part->input = m->in.at[i] == e ? i : part->input;
        if (part->input >= 0 && m->shift && m->shift[part->input] != 0)
            continue; /* the input has been moved within the array */
        part->leaf          = e->as.leaf->data;
        part->read_in_place = true;
    }
}

/* Finds a product that is the only result, dense and of its type: it is computed right in the
 * output, parts->direct being its array; -1: there is no such product. Such a plan ends with a
 * part that only copies the product (array -1, one read), which then has nothing to do. */
static void find_direct(making *m)
{
    rd_parts            *parts = m->plan->parts;
    const rd_plan_part  *last  = &parts->part[parts->n - 1];
    const rd_expr *const y     = m->results.at[0].expr;

    parts->direct = -1;
    if (m->results.n == 1 && last->array < 0 && last->n_read == 1 && y->kind == RD_EXPR_PRODUCT &&
        m->cuts->cut[last->read[0]].target == y && m->plan->out[0].type == y->type &&
        !m->plan->out[0].device && is_dense(y, m->plan->out[0].stride))
        parts->direct = last->read[0];
}

/* Makes the plans of all parts, finds arrays that need no memory of their own, and assigns memory
 * to the others; false after a failure. *too_much: parts must be smaller. parts->n_array counts
 * the arrays; find_leaves() and find_direct() find those without memory, place_arrays() places
 * the others. */
static bool make_parts(making *m, bool *too_much)
{
    rd_parts *parts = rd_pool_get(m->plan->pool, sizeof *parts);

    if (!parts)
        return false;
    parts->n    = m->cuts->n;
    parts->part = rd_pool_get(m->plan->pool, (size_t)(parts->n + 1) * sizeof *parts->part);
    if (!parts->part)
        return false;
    m->plan->parts = parts;
    for (int32_t k = 0; k < parts->n; k++) {
        parts->n_array += m->cuts->cut[k].target != NULL;
        if (!rd_goes_on(m->ctx) || !make_part(m, k, too_much))
            return false;
    }
    find_leaves(m);
    find_direct(m);
    return place_arrays(m);
}

/* Makes a single plan if there is nothing to split, however long that takes (without limits). */
static rd_plan *make_whole(making *m, bool *too_much)
{
    const rd_given none = { 0 };

    return rd_plan_whole(m->ctx, m->work, m->in, m->shift, m->results, m->opts, m->choice, &none,
                         too_much);
}

/* Makes the plan of all parts, or a single plan if there is nothing to split (fewer than 2 parts).
 * NULL on failure; *too_much: smaller parts may succeed. */
static rd_plan *make(making *m, bool *too_much)
{
    *too_much = false;
    if (m->cuts->n < 2)
        return make_whole(m, too_much);
    m->plan = rd_plan_empty(m->ctx, m->opts, m->choice);
    if (m->plan && describe_results(m) && make_parts(m, too_much))
        return m->plan;
    if (m->plan)
        rd_plan_drop(m->plan);
    return NULL;
}

/* The expressions of results as a list in the pool's memory; no list without memory. */
static rd_exprs exprs_of(rd_pool *pool, rd_results results)
{
    rd_expr **exprs = pool ? rd_pool_get(pool, (size_t)results.n * sizeof *exprs) : NULL;

    for (int32_t r = 0; exprs && r < results.n; r++)
        exprs[r] = results.at[r].expr;
    return (rd_exprs){ exprs, results.n };
}

/* Makes a plan in parts (several plans that run in order), with smaller and smaller parts until
 * each can be planned. NULL after recording the failure. rd_split_limits ends with 0. Each try
 * begins without the error of the last one (RD_ERR_LIMIT). The caller owns the plan. */
rd_plan *rd_plan_in_parts(rd_ctx *ctx, rd_exprs in, const int64_t *shift, rd_results results,
                          const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_plan     *plan     = NULL;
    bool         too_much = true;
    rd_eval_opts waiting  = *opts; /* parts read arrays that others leave in host memory */

    waiting.async = false;
    for (const int *limit = rd_split_limits; *limit && too_much; limit++) {
        rd_pool *work = rd_pool_planning(ctx);
        making   m    = { ctx, NULL, work, NULL, in, shift, results, &waiting, choice };
        rd_exprs all  = exprs_of(work, results);

        too_much = false;
        rd_error_forgive(ctx);
        if (all.at && (m.cuts = rd_split_exprs(ctx, work, all, *limit)))
            plan = make(&m, &too_much);
        rd_pool_free(work);
    }
    return plan;
}

/* ---- Plans in parts -------------------------------------------------------------------------- */
/* Frees the plans of all parts, and the memory kept for runs. */
void rd_parts_drop(rd_plan *plan)
{
    rd_parts *parts = plan->parts;

    for (int32_t k = 0; parts && k < parts->n; k++)
        if (parts->part[k].plan)
            rd_plan_drop(parts->part[k].plan);
    if (parts)
        rd_free(plan->ctx, parts->memory);
}

/* Bytes that the plans of all parts hold. */
int64_t rd_parts_bytes(const rd_parts *parts)
{
    int64_t bytes = 0;

    for (int32_t k = 0; parts && k < parts->n; k++)
        bytes += rd_plan_bytes(parts->part[k].plan);
    return bytes;
}

/* Makes a plan and its parts keep the memory of their runs (a frame) at one place, which other
 * plans may share. */
void rd_plan_share_frames(rd_plan *plan, _Atomic(struct rd_frame *) *frames)
{
    plan->frames = frames;
    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        plan->parts->part[k].plan->frames = frames;
}
