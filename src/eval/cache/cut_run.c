/* cut_run.c - runs blocks of rows: a thread evaluates a block, then adds its sums to the results
 * in the order of blocks.
 *
 *     thread 0    block 0 of head 0        add    block 2 of head 0        add
 *     thread 1    block 1 of head 0          add  block 3 of head 0          add
 *
 * The order of additions follows from extents alone, so bits do not depend on threads.  Threads
 * take blocks of as many heads as there are threads, so that few wait for each other. */
#include "eval/cache/cache.h"
#include "eval/cache/cut_blocks.h"
#include "eval/cache/cut_masked.h"
#include <pthread.h>
#include <string.h>

/* A result's memory. */
typedef struct target {
    char    *data;
    int64_t  stride[RD_MAX_RANK]; /* in elements */
    bool     adds;                /* the results of blocks are added up */
    rd_dtype type;
} target;

struct rd_cut_run {
    const rd_cut_blocks *b;
    rd_eval_opts         opts;
    rd_ctx              *ctx;
    int64_t              together; /* batches whose blocks are taken in turn */
    int64_t             *index;    /* 0, 1, 2 ... */
    int64_t             *added;    /* blocks that were added, of each batch */
    bool                 stop;
    pthread_mutex_t      planning; /* held by a thread that makes a plan */
    pthread_mutex_t      order;    /* guards `added` and `stop` */
    pthread_cond_t       turn;
    rd_cut_masks         masks;
    target               to[RD_MOST_CUT_RESULTS];
};

struct rd_cut_worker {
    rd_cut_run *run;
    rd_ctx     *ctx;
    rd_expr   **node; /* the listed nodes in this context, and parts of a block */
    char       *sums;
    uint64_t    met; /* bits: shapes of blocks that were evaluated */
};

/* ---- Runs ------------------------------------------------------------------------------------ */
/* Makes both locks and the condition; false: the system has none left, and those made before are
 * destroyed again. */
static bool make_locks(rd_cut_run *run)
{
    if (pthread_mutex_init(&run->planning, NULL) != 0)
        return false;
    if (pthread_mutex_init(&run->order, NULL) == 0) {
        if (pthread_cond_init(&run->turn, NULL) == 0)
            return true;
        pthread_mutex_destroy(&run->order);
    }
    pthread_mutex_destroy(&run->planning);
    return false;
}

/* Notes the memory of each result, its strides, and whether blocks are added up in it. */
static void find_targets(rd_cut_run *run, const rd_request *request)
{
    const rd_cuts *const c = &run->b->cuts;

    for (int r = 0; r < c->results.n; r++) {
        target *const t = &run->to[r];

        t->data = c->results.at[r].out->data;
        t->type = c->results.at[r].expr->type;
        t->adds = rd_cuts_adds(c, r);
        memcpy(t->stride, request[r].stride, sizeof t->stride);
    }
}

/* Begins a run.  One allocation holds the run, then a counter `added` for each batch (zeros, as
 * memory is cleared), then the indices 0, 1, 2 ... that stand for coordinates.  rd_cut_end() frees
 * it; NULL: no memory, or no locks. */
rd_cut_run *rd_cut_begin(const rd_cut_blocks *b, const rd_eval_opts *opts,
                         const rd_request *request)
{
    const int64_t words = b->steps.most_index + b->batches;
    rd_cut_run   *run   = rd_alloc_quiet(b->cuts.ctx, (int64_t)sizeof *run + words * 8);

    if (!run)
        return NULL;
    run->b        = b;
    run->opts     = *opts;
    run->ctx      = b->cuts.ctx;
    run->together = 1;
    run->added    = (int64_t *)(run + 1);
    run->index    = run->added + b->batches;
    for (int64_t i = 0; i < b->steps.most_index; i++)
        run->index[i] = i;
    find_targets(run, request);
    rd_cut_masks_find(&run->masks, &b->steps);
    if (make_locks(run))
        return run;
    rd_free(run->ctx, run);
    return NULL;
}

/* Frees a run, after all its workers were freed. */
void rd_cut_end(rd_cut_run *run)
{
    if (!run)
        return;
    pthread_cond_destroy(&run->turn);
    pthread_mutex_destroy(&run->order);
    pthread_mutex_destroy(&run->planning);
    rd_free(run->ctx, run);
}

/* Lets as many batches be in progress at once as threads take blocks: the next chunks of these come
 * in turn, so that threads seldom wait to add to the same result. */
void rd_cut_share(rd_cut_run *run, int threads)
{
    run->together = threads < run->b->batches ? threads : run->b->batches;
}

/* Ends the run early: wakes threads that wait for blocks which nobody will add any more. */
void rd_cut_stop(rd_cut_run *run)
{
    pthread_mutex_lock(&run->order);
    run->stop = true;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->order);
}

/* ---- Workers --------------------------------------------------------------------------------- */
/* Fills node[i] with the clone of listed node i, given those of the results: operands of a clone
 * are clones of the operands.  Goes from readers to operands, which have lower indices. */
static void find_clones(const rd_cuts *c, rd_expr **node)
{
    for (int64_t i = c->list.n; i-- > 0;)
        for (int k = 0; node[i] && k < c->list.at[i]->n_in; k++)
            if (c->list.at[i]->in[k])
                node[rd_cuts_index(c, c->list.at[i]->in[k])] = node[i]->in[k];
}

/* Clones all results into the worker's context, and finds the clones of all listed nodes.  False
 * after a failure. */
static bool clone_results(rd_cut_worker *w)
{
    const rd_cuts *const c = &w->run->b->cuts;

    for (int r = 0; r < c->results.n; r++) {
        rd_expr *const y = rd_clone(w->ctx, c->results.at[r].expr);

        if (!y)
            return false;
        w->node[rd_cuts_index(c, c->results.at[r].expr)] = y;
    }
    find_clones(c, w->node);
    return true;
}

/* Makes a thread's worker.  `node` has room for the listed nodes and, behind them, for the parts of
 * a block; `sums` for the partial sums of a block.  rd_cut_worker_free() frees it. */
rd_cut_worker *rd_cut_worker_new(rd_cut_run *run, rd_ctx *ctx)
{
    const rd_cut_blocks *const b = run->b;
    rd_cut_worker             *w = rd_alloc(ctx, (int64_t)sizeof *w);

    if (!w)
        return NULL;
    w->run  = run;
    w->ctx  = ctx;
    w->node = rd_alloc(ctx, (b->cuts.list.n + b->steps.n) * (int64_t)sizeof *w->node);
    w->sums = rd_alloc_raw(ctx, rd_cut_sum_bytes(b) + 64);
    if (w->node && w->sums && clone_results(w))
        return w;
    rd_cut_worker_free(w);
    return NULL;
}

/* Frees a worker, complete or not; its context remains. */
void rd_cut_worker_free(rd_cut_worker *w)
{
    if (!w)
        return;
    rd_free(w->ctx, w->sums);
    rd_free(w->ctx, w->node);
    rd_free(w->ctx, w);
}

/* ---- Sums ------------------------------------------------------------------------------------ */
/* Where a block lies in a result, and the sum of it. */
typedef struct piece {
    int         rank;
    int64_t     extent[RD_MAX_RANK];
    char       *to;   /* its first element in the result */
    const char *from; /* its partial sum in the worker's memory, dense */
} piece;

#define RD_DEFINE_ADD(T, type)                                                          \
    /* Adds n elements, or stores them if they are of the first block of rows. */       \
    static void add_##type(T *to, int64_t stride, const T *from, int64_t n, bool first) \
    {                                                                                   \
        if (first)                                                                      \
            for (int64_t i = 0; i < n; i++)                                             \
                to[i * stride] = from[i];                                               \
        else if (stride == 1)                                                           \
            for (int64_t i = 0; i < n; i++)                                             \
                to[i] += from[i];                                                       \
        else                                                                            \
            for (int64_t i = 0; i < n; i++)                                             \
                to[i * stride] += from[i];                                              \
    }

RD_DEFINE_ADD(float, f32)
RD_DEFINE_ADD(double, f64)

/* The number of last axes that one loop can go through, as they are evenly spaced in the result:
 * the stride of each is the length so far times the last axis' stride.  *n: their elements. */
static int axes_of_row(const piece *p, const int64_t *stride, int64_t *n)
{
    int axes = 0;

    for (*n = 1; axes < p->rank; axes++) {
        const int a = p->rank - 1 - axes;

        if (axes > 0 && p->extent[a] > 1 && stride[a] != *n * stride[p->rank - 1])
            break;
        *n *= p->extent[a];
    }
    return axes;
}

/* Adds a block's partial sum to the result, or stores it if it is the `first` one of its
 * batch.  Inner axes are one loop of n elements (axes_of_row()); `at` counts through the other
 * `rank` axes like an odometer: an axis that ends goes back to 0, and the one before it
 * advances. */
static void add_piece(const piece *p, const target *t, bool first)
{
    const int64_t size            = rd_dtype_size(t->type);
    int64_t       at[RD_MAX_RANK] = { 0 }, n, step;
    const int     rank            = p->rank - axes_of_row(p, t->stride, &n);
    const char   *from            = p->from;
    bool          more            = n > 0;

    step = p->rank ? t->stride[p->rank - 1] : 1;
    for (char *to = p->to; more; from += n * size) {
        if (t->type == RD_F32)
            add_f32((float *)(void *)to, step, (const float *)(const void *)from, n, first);
        else
            add_f64((double *)(void *)to, step, (const double *)(const void *)from, n, first);
        more = false;
        for (int a = rank; a-- > 0 && !more;) {
            more = ++at[a] < p->extent[a];
            to += (more ? 1 : 1 - p->extent[a]) * t->stride[a] * size;
            at[a] = more ? at[a] : 0;
        }
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* A block: its indices, and which one it is of its batch. */
typedef struct block {
    rd_cut_box box;
    int64_t    batch, chunk;
    uint32_t   shape; /* bits: cuts whose last indices are fewer */
} block;

/* Chooses the block's columns: those that its rows need.  The first block of a batch has all, so
 * that it stores all elements of the sums.  Each number of columns is a shape of its own. */
static void choose_columns(const rd_cut_run *run, block *o)
{
    const int n = run->b->cuts.n;

    o->box.count[n] = run->b->cuts.extent[n];
    if (o->chunk > 0)
        rd_cut_masks_narrow(&run->masks, &o->box);
    if (run->masks.n)
        o->shape += (uint32_t)(o->box.count[n] / run->masks.each) << n;
}

/* Block number k.  A batch is an index of each cut but rows (such as a head), a chunk some of its
 * rows. `together` batches go on side by side: first chunk 0 of each, then chunk 1 of each.  So two
 * batches at once: (0,0) (1,0) (0,1) (1,1) ..; the last group may have fewer batches (`turn`). The
 * batch number is split into an index of each cut, the last cut fastest. */
static block block_at(const rd_cut_run *run, int64_t k)
{
    const rd_cut_blocks *const b    = run->b;
    const int64_t              each = run->together * b->chunks, first = k / each * run->together;
    const int64_t left = b->batches - first, turn = left < run->together ? left : run->together;
    block         o    = { .batch = first + k % each % turn, .chunk = k % each / turn };
    int64_t       rest = o.batch;

    for (int c = b->cuts.n; c-- > 0;) {
        const int64_t n = b->cuts.extent[c], parts = (n + b->each[c] - 1) / b->each[c];
        const int64_t which = c == b->cuts.n - 1 ? o.chunk : rest % parts;

        rest           = c == b->cuts.n - 1 ? rest : rest / parts;
        o.box.first[c] = which * b->each[c];
        o.box.count[c] = n - o.box.first[c] < b->each[c] ? n - o.box.first[c] : b->each[c];
        o.shape |= (uint32_t)(o.box.count[c] < b->each[c]) << c;
    }
    if (b->cuts.columns)
        choose_columns(run, &o);
    return o;
}

/* Describes where the n results y of block o go: out[r] is memory for the evaluation, p[r] the
 * place in the result.  Results that are added up go to the worker's `sums`, each from a cache line
 * (64 bytes) on; others directly to their rows of the result. */
static void describe(const rd_cut_worker *w, const block *o, int n, rd_expr *const *y,
                     rd_array *out, piece *p)
{
    const rd_cuts *const c    = &w->run->b->cuts;
    char                *sums = w->sums;

    for (int r = 0; r < n; r++) {
        const target *const t    = &w->run->to[r];
        const rd_cut_at     at   = rd_cuts_of_result(c, r);
        const int64_t       size = rd_dtype_size(t->type);

        p[r] = (piece){ .rank = y[r]->rank, .to = t->data, .from = sums };
        memcpy(p[r].extent, y[r]->extent, (size_t)y[r]->rank * sizeof *y[r]->extent);
        for (int k = 0; k < rd_cuts_of_all(c); k++)
            p[r].to += at.axis[k] < 0 ? 0 : o->box.first[k] * t->stride[at.axis[k]] * size;
        out[r]       = (rd_array){ .type = t->type, .data = t->adds ? sums : p[r].to };
        out[r].shape = rd_shape_of(y[r]);
        if (t->adds) {
            sums += (rd_points(y[r]->rank, y[r]->extent) * size + 63) / 64 * 64;
        } else {
            out[r].strides.n = y[r]->rank;
            memcpy(out[r].strides.at, t->stride, (size_t)y[r]->rank * sizeof *t->stride);
        }
    }
}

/* Evaluates the results y of a block into `out`, on this thread.  Blocks of one shape share a plan:
 * the first block of a shape makes it, others find it in the cache.  Planning takes much memory, so
 * one thread plans at a time, and gives back what memory it kept (rd_take_spare()). */
static rd_status evaluate(rd_cut_worker *w, uint32_t shape, rd_expr *const *y, rd_array *out)
{
    const rd_eval_opts opts  = { .size     = sizeof opts,
                                 .threads  = 1,
                                 .backend  = RD_BACKEND_CPU,
                                 .accuracy = w->run->opts.accuracy };
    const bool         plans = !(w->met >> shape % 64 & 1);
    rd_result          result[RD_MOST_CUT_RESULTS];
    rd_status          status;

    for (int r = 0; r < w->run->b->cuts.results.n; r++)
        result[r] = (rd_result){ y[r], &out[r] };
    if (plans)
        pthread_mutex_lock(&w->run->planning);
    status = rd_cache_run(w->ctx, (rd_results){ result, w->run->b->cuts.results.n }, &opts);
    if (plans) {
        rd_free(w->ctx, rd_take_spare(w->ctx));
        pthread_mutex_unlock(&w->run->planning);
    }
    w->met |= UINT64_C(1) << shape % 64;
    return status;
}

/* Waits until all chunks of the batch before this one were added, so that sums are added in one
 * order however many threads there are.  False: the run ends early. */
static bool wait_for_turn(rd_cut_run *run, const block *o)
{
    bool goes_on;

    pthread_mutex_lock(&run->order);
    while (run->added[o->batch] < o->chunk && !run->stop)
        pthread_cond_wait(&run->turn, &run->order);
    goes_on = !run->stop;
    pthread_mutex_unlock(&run->order);
    return goes_on;
}

/* Adds the partial sums of a block to the results, when all chunks (ranges of rows) of its batch
 * before it were added. Then lets the next one go on. Adding itself needs no lock, as only one
 * block of a batch has its turn. */
static void add_sums(rd_cut_run *run, const block *o, int n, const piece *p)
{
    if (!wait_for_turn(run, o))
        return;
    for (int r = 0; r < n; r++)
        if (run->to[r].adds)
            add_piece(&p[r], &run->to[r], o->chunk == 0);
    pthread_mutex_lock(&run->order);
    run->added[o->batch]++;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->order);
}

/* Makes the block's expressions in the worker's context and evaluates them. p[r] gets where result
 * r belongs, and *status the outcome. False: it failed. `made` is the room behind the listed nodes
 * in w->node. */
static bool run_block(rd_cut_worker *w, const block *o, int n, piece *p, rd_status *status)
{
    rd_cut_run *const run  = w->run;
    rd_expr **const   made = w->node + run->b->cuts.list.n;
    rd_expr          *y[RD_MOST_CUT_RESULTS];
    rd_array          out[RD_MOST_CUT_RESULTS];

    if (!rd_cut_make(&run->b->steps, w->ctx, w->node, run->index, &o->box, made, y)) {
        *status = rd_error(w->ctx);
        return false;
    }
    describe(w, o, n, y, out, p);
    *status = evaluate(w, o->shape, y, out);
    return *status == RD_OK;
}

/* Evaluates block k and adds its sums.  If it fails, the run is stopped, as later blocks of its
 * batch would wait for it forever.  The block's nodes are released at the mark. */
rd_status rd_cut_block(rd_cut_worker *w, int64_t k)
{
    const rd_mark mark = rd_ctx_mark(w->ctx);
    const block   o    = block_at(w->run, k);
    const int     n    = w->run->b->cuts.results.n;
    piece         p[RD_MOST_CUT_RESULTS];
    rd_status     status;
    const bool    ran = run_block(w, &o, n, p, &status);

    (void)rd_ctx_release(w->ctx, mark);
    if (ran)
        add_sums(w->run, &o, n, p);
    else
        rd_cut_stop(w->run);
    return status;
}
