/* launch.c - the kernels of a program, and a run of them.
 *
 * The argument of a kernel is one block of memory: its head (kernel_call.h), addresses of slots,
 * numbers of the text.
 *
 * An item is one unit of work; a team is the threads that do an item.  A slot is a buffer of the
 * program; scratch is temporary memory, which a run does not pass.
 *
 * Fields. s->tile_loop has the two loops of a block tile, -1: there are no block tiles. s->n_split
 * loops are split into ranges. Without work items (n_item 0) there is nothing to compute. Scans of
 * split loops run once (is_lookback) or twice (is_two_pass).
 *
 * Words. A fold is a reduction or a scan. A partial is a node that one range of a split loop leaves
 * for the combine. */
#include "kernels/cuda/kernel_run.h"
#include "core/environment.h"
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rd_cuda_prelude[];

/* A program's kernels. */
struct rd_gpu_code {
    rd_cuda_strategy strategy;
    const rd_module *module; /* the kernels with vector accesses */
    _Atomic(const rd_module *)
            *narrow;           /* for slots that begin anywhere; compiled when it is wanted */
    uint64_t packed;           /* slots with vector accesses, as bits */
    int32_t  n_slot, n_number; /* slots without scratch; numbers of the text */
    int64_t  most_teams;       /* teams that run at the same time */
    int64_t  number[];         /* the text's numbers */
};

/* ---- Preparing ------------------------------------------------------------------------------- */
/* Returns how many teams a launch has at most, in whole blocks of threads; at least one block. A
 * team is the 1 to 32 threads that do a work item, and loops over items. There are as many teams
 * as the GPU runs at once, unless their private memory together (team_bytes of a team, own_bytes
 * of each thread) would take more than 1/16 of the GPU's. */
static int64_t teams_of(const rd_gpu_facts *gpu, const rd_cuda_strategy *s)
{
    const int64_t bytes       = s->team_bytes + s->team * s->thread_bytes;
    const int64_t at_once     = gpu->most_threads / s->team;
    const int64_t with_memory = bytes ? gpu->memory / 16 / bytes : at_once;
    const int64_t whole       = s->choice.block / s->team; /* teams of a block */
    const int64_t teams       = (with_memory < at_once ? with_memory : at_once) / whole * whole;

    return teams > whole ? teams : whole;
}

/* Returns the number of the program's slots (buffers) that a run passes to kernels. Scratch
 * (temporary memory), which the slots from first_scratch on are, is not passed. */
int32_t rd_gpu_slots(const rd_cuda_strategy *s)
{
    return s->n_slot < s->p->first_scratch ? s->n_slot : s->p->first_scratch;
}

/* Allocates the result of preparing a program. It has a copy of the numbers (extents and
 * strides) that kernels get as arguments instead of as text. narrow: the place of a second
 * module, without vector accesses, NULL until it is wanted. NULL: no memory. */
static rd_gpu_code *new_code(const rd_cuda_text *t, rd_get_fn *get, void *pool)
{
    rd_gpu_code *code = get(pool, sizeof *code + sizeof *code->number * (size_t)t->print.n_number);

    if (!code)
        return NULL;
    code->narrow = get(pool, sizeof *code->narrow);
    if (!code->narrow)
        return NULL;
    code->packed   = t->packed;
    code->n_slot   = rd_gpu_slots(t->s);
    code->n_number = t->print.n_number;
    memcpy(code->number, t->print.number, sizeof *t->print.number * (size_t)t->print.n_number);
    return code;
}

/* Returns the limits within which a strategy is chosen. Loops are split if there are fewer items
 * than threads. So tests set RDIM_CUDA_THREADS in the environment to ask for fewer threads, by
 * which no loop is split, or for more, by which even short ones are. If several GPUs share the
 * work, the threads of all count. */
static rd_cuda_limits limits_of(const rd_gpu_facts *gpu, const rd_program *p)
{
    const char   *asked   = rd_environment(RD_ENV_RDIM_CUDA_THREADS);
    const long    number  = asked ? strtol(asked, NULL, 10) : 0;
    const int64_t threads = number > 0 ? number : gpu->most_threads;

    return (rd_cuda_limits){ .threads = threads * (p->devices > 1 ? p->devices : 1),
                             .shared  = gpu->shared,
                             .memory  = gpu->memory,
                             .windows = rd_windows_budget(gpu),
                             .devices = p->devices };
}

/* Writes the text of a program's kernels behind the prelude (the code that all kernels share),
 * and compiles it. `narrow`: the variant without vector accesses, for buffers that are not
 * aligned to vectors. NULL: `why` has the reason. */
static const rd_module *compile(rd_cuda_text *t, bool narrow, const rd_gpu_facts *gpu,
                                char why[RD_CUDA_TEXT])
{
    const rd_module *module = NULL;
    rd_text          text   = { 0 };

    rd_text_add(&text, "%s%s%s\n/* ---- the kernel ---- */\n", narrow ? "#define RD_NARROW\n" : "",
                t->s->p->fast ? "#define RD_FAST\n" : "", rd_cuda_prelude);
    rd_cuda_write(t, &text);
    if (t->why)
        snprintf(why, RD_CUDA_TEXT, "%s", t->why);
    else if (text.failed)
        snprintf(why, RD_CUDA_TEXT, "out of memory");
    else
        module = rd_module_of(text.at, gpu->architecture, why);
    rd_text_free(&text);
    return module;
}

/* Chooses a program's execution strategy (which loops are work items, which ones threads share),
 * writes its kernels and compiles them. *code NULL: the GPU cannot run the program, and `why`
 * has the reason. False: no memory. */
bool rd_gpu_prepare(const rd_program *p, int32_t device, rd_get_fn *get, void *pool,
                    const rd_gpu_code **code, char why[RD_CUDA_TEXT])
{
    rd_gpu          *gpu = rd_gpu_of(device, why);
    rd_cuda_strategy strategy;
    rd_cuda_text     text = { .s = &strategy };
    rd_gpu_code     *made;

    *code = NULL;
    if (!gpu)
        return true;
    const rd_cuda_limits limits = limits_of(rd_gpu_facts_of(gpu), p);

    if (!rd_cuda_choose_strategy(&strategy, p, &limits, get, pool))
        return false;
    if (strategy.why) {
        snprintf(why, RD_CUDA_TEXT, "%s", strategy.why);
        return true;
    }
    const rd_module *module = compile(&text, /*narrow=*/false, rd_gpu_facts_of(gpu), why);

    if (!module)
        return true;
    made = new_code(&text, get, pool);
    if (!made)
        return false;
    made->strategy   = strategy;
    made->module     = module;
    made->most_teams = teams_of(rd_gpu_facts_of(gpu), &strategy);
    *code            = made;
    return true;
}

/* True if the folds (reductions and scans) of a program may stay in one stage on the GPU. They
 * may, unless two folds reduce the same elements along different axes: each order of loops suits
 * one of them only. Block tiles do both well; so the strategy is chosen to see whether it has
 * them (tile_loop[0] >= 0). A program that the GPU cannot run (strategy.why) needs no split. */
bool rd_gpu_keeps_folds_together(const rd_program *p, rd_get_fn *get, void *pool)
{
    char             why[RD_CUDA_TEXT];
    rd_gpu          *gpu = rd_gpu_of(p->device, why);
    rd_cuda_strategy strategy;

    if (!gpu || !rd_cuda_has_crossing_folds(p))
        return true;
    const rd_cuda_limits limits = limits_of(rd_gpu_facts_of(gpu), p);

    return rd_cuda_choose_strategy(&strategy, p, &limits, get, pool) &&
           (strategy.why || strategy.tile_loop[0] >= 0);
}

/* Adds the line about the execution strategy: "strips: 64 items, 16 threads each, i1 spread". So
 * 64 work items are done by 16 threads each, which share the loop over axis 1. */
void rd_gpu_code_text(rd_text *to, const rd_gpu_code *code)
{
    rd_cuda_strategy_text(to, &code->strategy);
}

/* Returns the execution strategy of prepared kernels. */
const rd_cuda_strategy *rd_gpu_code_strategy(const rd_gpu_code *code)
{
    return &code->strategy;
}

/* Returns the tuning parameters of prepared kernels. */
const rd_cuda_choice *rd_gpu_code_choice(const rd_gpu_code *code)
{
    return &code->strategy.choice;
}

/* True if two prepared programs would run the same kernels in the same way: the compiled module,
 * the arguments, and the numbers of threads, teams, items and ranges (parts of a split loop)
 * agree. */
bool rd_gpu_code_same(const rd_gpu_code *a, const rd_gpu_code *b)
{
    const rd_cuda_strategy *s = &a->strategy, *other = &b->strategy;

    return a->module == b->module && a->most_teams == b->most_teams && a->n_number == b->n_number &&
           memcmp(a->number, b->number, (size_t)a->n_number * sizeof *a->number) == 0 &&
           s->choice.block == other->choice.block && s->team == other->team &&
           s->n_item == other->n_item && s->n_range == other->n_range && s->range == other->range;
}

/* Adds the text of the kernels, which is written again, as nobody keeps it. */
void rd_gpu_code_kernels(rd_text *to, const rd_gpu_code *code)
{
    rd_cuda_text text = { .s = &code->strategy };

    rd_cuda_write(&text, to);
}

/* ---- Running --------------------------------------------------------------------------------- */
/* Allows the kernel the dynamic shared memory that its rows need: by default a kernel has 48 KiB
 * in all. */
static bool make_room(rd_gpu_run_state *r, CUfunction kernel)
{
    const int64_t bytes = rd_cuda_dynamic_bytes(r->strategy);

    return bytes == 0 || RD_GPU_CALL(r->gpu, r->why, cuFuncSetAttribute, kernel,
                                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
}

/* Enqueues so many blocks of threads of a kernel in the queue's stream; returns the driver's
 * result. */
static CUresult start_kernel(const rd_gpu_run_state *r, CUfunction kernel, int64_t blocks)
{
    const int64_t  bytes       = rd_cuda_dynamic_bytes(r->strategy);
    const unsigned threads     = (unsigned)r->strategy->choice.block;
    void          *arguments[] = { r->call };

    return rd_cuda_api(/*why=*/NULL)
        ->cuLaunchKernel(kernel, (unsigned)blocks, 1, 1, threads, 1, 1, (unsigned)bytes,
                         rd_queue_stream(r->queue), arguments, NULL);
}

/* Finds a kernel by its name and enqueues so many blocks of threads of it.  The driver takes
 * memory for threads' local arrays at the launch.  So if memory is full, cached memory is freed,
 * and the launch is repeated. */
static bool launch(rd_gpu_run_state *r, const char *name, int64_t blocks)
{
    CUfunction kernel;
    CUresult   result;

    if (!rd_module_kernel(r->module, r->gpu, name, &kernel, r->why) ||
        !rd_gpu_enter(r->gpu, r->why))
        return false;
    if (!make_room(r, kernel)) {
        rd_gpu_leave(r->gpu);
        return false;
    }
    result = start_kernel(r, kernel, blocks);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        rd_gpu_trim(r->gpu);
        result  = start_kernel(r, kernel, blocks);
        r->full = result == CUDA_ERROR_OUT_OF_MEMORY;
    }
    rd_gpu_leave(r->gpu);
    return rd_gpu_ok(r->gpu, "cuLaunchKernel", result, r->why);
}

/* Returns the head of the kernels' argument, with which the argument begins. */
static rd_call_head *head_of(rd_gpu_run_state *r)
{
    return (rd_call_head *)(void *)r->call;
}

/* Launches a kernel for work [first, end), by no more teams (the threads that do one item) than
 * run at once: a team loops over its items. A block tile takes a whole block of threads, so one
 * unit of such work counts as all teams of a block. */
bool rd_gpu_run_work(rd_gpu_run_state *r, const char *name, int64_t first, int64_t end)
{
    const int64_t per_block = r->strategy->choice.block / r->strategy->team;
    const int64_t wanted    = (end - first) * (r->strategy->tile_loop[0] >= 0 ? per_block : 1);
    const int64_t teams     = wanted < r->most_teams ? wanted : r->most_teams;

    head_of(r)->first  = first;
    head_of(r)->n_work = end;
    return launch(r, name, (teams + per_block - 1) / per_block);
}

/* Runs a kernel over buffers that stay in the host's memory, one block of the work after the
 * other: windows on the GPU hold the bytes that the block touches. `split`: the number of the
 * split loop whose kernel it is; -1: the program has none. */
static bool run_blocks(rd_gpu_run_state *r, const char *name, int32_t split)
{
    const int32_t  slots    = rd_gpu_slots(r->strategy);
    const int64_t  budget   = rd_windows_budget(rd_gpu_facts_of(r->gpu));
    bool          *windowed = calloc((size_t)slots + 1, sizeof *windowed);
    const char    *why;
    rd_cuda_blocks blocks;

    if (!windowed) {
        r->full = true;
        snprintf(r->why, RD_CUDA_TEXT, "out of memory");
        return false;
    }
    for (int32_t k = 0; k < slots; k++)
        windowed[k] = r->host->at[k];
    why = rd_blocks_find(&blocks, r->strategy, split, windowed, budget, /*least=*/1);
    free(windowed);
    if (!why)
        return rd_gpu_run_windows(r, name, &blocks);
    snprintf(r->why, RD_CUDA_TEXT, "blocks of the data do not fit on the GPU: %s", why);
    return false;
}

/* Runs all n units of work of a kernel: at once if the data are on the GPU, or block by block if
 * the host has some (r->host). `split`: the number of the split loop whose kernel it is; -1: the
 * program has none. */
static bool run_all(rd_gpu_run_state *r, const char *name, int32_t split, int64_t n)
{
    return r->host ? run_blocks(r, name, split) : rd_gpu_run_work(r, name, /*first=*/0, n);
}

/* Launches a kernel in which each thread does single units of work, n in all. Its name is
 * `kernel` and the number of the fold that it belongs to: "lift0". Beyond 2^20 blocks, threads
 * loop over several units. */
static bool run_threads(rd_gpu_run_state *r, const char *kernel, int32_t number, int64_t n)
{
    enum { MOST = 1 << 20 };
    const int64_t block = r->strategy->choice.block, blocks = (n + block - 1) / block;
    char          name[24];

    head_of(r)->n_work = n; /* the end of the work; `first` is not used */
    snprintf(name, sizeof name, "%s%" PRId32, kernel, number);
    return launch(r, name, blocks < MOST ? blocks : MOST);
}

/* Makes the inner nodes (partial results in the combine tree) of a two-pass scan, one level of
 * the binary tree after the other. Each node merges two of the level below; level 0 has the
 * partials of ranges (parts of a split loop). A launch does one level of one fold, for all items
 * and cells (output elements of an item). n_range >> level: nodes of a level. */
static bool lift_nodes(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s = r->strategy;

    for (int32_t level = 1; s->n_range >> level; level++)
        for (int32_t k = 0; k < s->p->n_fold; k++) {
            head_of(r)->span = level;
            if (!run_threads(r, "lift", k, s->n_item * (s->n_range >> level) * s->fold[k].n_cell))
                return false;
        }
    return true;
}

/* Returns the bytes of all items' nodes of combine trees: partials of ranges (parts of a split
 * loop), in rows of row_bytes, or nodes of scans and block tiles, node_bytes for each item. A
 * look-back scan also has a counter in front, from which blocks of threads take their tiles in
 * order. */
int64_t rd_gpu_node_bytes(const rd_cuda_strategy *s)
{
    if (s->is_lookback)
        return RD_TICKET + s->n_item * s->node_bytes;
    return s->n_item *
           (s->is_two_pass || s->tile_loop[0] >= 0 ? s->node_bytes : s->item_rows * s->row_bytes);
}

/* Returns the bytes of all items' atomic counters. Each team, or block of threads, of a group
 * adds 1 when it has stored its partials (nodes that ranges leave); so the last one knows that
 * it must combine them. */
int64_t rd_gpu_counter_bytes(const rd_cuda_strategy *s)
{
    return s->n_item * s->item_counters * (int64_t)sizeof(uint32_t);
}

/* Sets the counters of finished teams or blocks of threads to 0, as kernels expect. */
bool rd_gpu_run_clear(rd_gpu_run_state *r)
{
    const int64_t bytes = rd_gpu_counter_bytes(r->strategy);

    return bytes == 0 || rd_queue_clear(r->queue, r->counters, bytes, r->why);
}

/* Runs the kernel of each split loop, "ranges0", "ranges1", .., in order. A range of a loop is a
 * work item, so a kernel has n_range items for each item of the program. The counters are
 * cleared once: the last team (the threads of an item) of a group sets its counter back to 0. */
static bool run_ranges(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s = r->strategy;

    if (!rd_gpu_run_clear(r))
        return false;
    for (int32_t k = 0; k < s->n_split; k++) {
        char name[24];

        snprintf(name, sizeof name, "ranges%" PRId32, k);
        if (!run_all(r, name, k, s->n_item * s->n_range))
            return false;
    }
    return true;
}

/* Runs a single-pass scan by look-back: the tiles of a row are the ranges of its loop, and
 * blocks of threads loop over tiles. The memory of nodes (partial results in the combine tree)
 * is cleared first, which means that no tile has begun and no node is there. The strategy's team
 * is one thread then, so most_teams counts threads. */
static bool run_lookback(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s = r->strategy;
    const int64_t blocks = r->most_teams / s->choice.block, tiles = s->n_item * s->n_range;

    head_of(r)->n_work = tiles;
    return rd_queue_clear(r->queue, r->nodes, rd_gpu_node_bytes(s), r->why) &&
           launch(r, "lookback", tiles < blocks ? tiles : blocks);
}

/* Runs the kernel of 2-D block tiles (reductions along both axes of an array in one read) over
 * the tiles of all items. */
static bool run_block_tiles(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s = r->strategy;

    return rd_gpu_run_clear(r) && run_all(r, "block_tiles", /*split=*/-1,
                                          s->n_item * s->n_block_tile[0] * s->n_block_tile[1]);
}

/* Runs the kernels of a program's strategy, in order. Without items there is nothing to compute.
 * tile_loop[0] >= 0: reductions along two axes by block tiles. A two-pass scan has kernels for
 * the totals of ranges, for the nodes above them, and for the results. */
static bool run_kernels(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s = r->strategy;

    if (s->n_item == 0)
        return true;
    if (s->tile_loop[0] >= 0)
        return run_block_tiles(r);
    if (s->n_split == 0)
        return run_all(r, "run", /*split=*/-1, s->n_item);
    if (s->is_lookback)
        return run_lookback(r);
    if (s->is_two_pass)
        return rd_gpu_run_work(r, "totals", /*first=*/0, s->n_item * s->n_range) && lift_nodes(r) &&
               rd_gpu_run_work(r, "rescan", /*first=*/0, s->n_item * s->n_range);
    return run_ranges(r);
}

/* Takes memory that lasts as long as the run; 0 bytes need none, and *at is 0. */
static bool get_if_any(rd_gpu_run_state *r, CUdeviceptr *at, int64_t bytes)
{
    *at = bytes > 0 ? rd_submission_get(r->submission, bytes, &r->full, r->why) : 0;
    return *at || bytes == 0;
}

/* Takes the memory of a run: a record if kernels may report errors, the private memory of teams
 * and threads, nodes of combine trees, counters, and what items keep from one kernel to the
 * next. With split loops each range is an item of work. */
static bool get_memory(rd_gpu_run_state *r)
{
    const rd_cuda_strategy *s     = r->strategy;
    const int64_t           items = s->n_item * (s->n_split == 0 ? 1 : s->n_range);
    const int64_t           teams = items < r->most_teams ? items : r->most_teams;
    const int64_t           bytes = (s->team_bytes + s->team * s->thread_bytes) * teams;

    if (s->reports && !(r->record = rd_submission_record(r->submission, &r->full, r->why)))
        return false;
    return get_if_any(r, &r->work, bytes) && get_if_any(r, &r->nodes, rd_gpu_node_bytes(s)) &&
           get_if_any(r, &r->counters, rd_gpu_counter_bytes(s)) &&
           get_if_any(r, &r->items, s->n_item * s->item_bytes);
}

/* True if the data of the slot (buffer) stay in the host's memory, and come to the GPU by
 * windows, one block of the work after the other. */
static bool is_here(const rd_gpu_run_state *r, int32_t slot)
{
    return r->host && r->host->at[slot];
}

/* Fills the argument that all kernels of the run get: its head, the addresses of slots
 * (buffers), and the numbers of the text. Slots that stay on the host are 0 here, as they get
 * another address for each block of work. There is room for one slot at least. */
static void fill_call(rd_gpu_run_state *r, const rd_gpu_code *code, void *const *slot)
{
    rd_call_head *head = head_of(r);

    *head = (rd_call_head){ .n_item  = code->strategy.n_item,
                            .n_range = code->strategy.n_range,
                            .range   = code->strategy.range,
                            .work    = r->work,
                            .nodes   = r->nodes,
                            .items   = r->items,
                            .record  = r->record,

                            .counters      = r->counters,
                            .item_rows     = code->strategy.item_rows,
                            .item_counters = code->strategy.item_counters,
                            .n_level       = code->strategy.n_level };
    memcpy(head->level, code->strategy.level, sizeof head->level);
    r->slot = (CUdeviceptr *)(void *)(r->call + sizeof *head);
    for (int32_t k = 0; k < code->n_slot; k++)
        r->slot[k] = is_here(r, k) ? 0 : (CUdeviceptr)(uintptr_t)slot[k];
    memcpy(r->slot + (code->n_slot ? code->n_slot : 1), code->number,
           sizeof *code->number * (size_t)code->n_number);
}

/* Chooses the variant of the kernels: the one with vector accesses if all slots (buffers) that
 * have them are aligned, as windows on the GPU always are. Else the narrow variant runs, which
 * is compiled when it is first needed. `packed` has a bit for each slot with vector accesses,
 * modulo 64. */
static bool choose_module(rd_gpu_run_state *r, const rd_gpu_code *code, void *const *slot)
{
    rd_cuda_text text       = { .s = &code->strategy };
    bool         is_aligned = true;

    for (int32_t k = 0; k < code->n_slot; k++)
        is_aligned &= !(code->packed >> (k & 63) & 1) ||
                      (uintptr_t)slot[k] % (uintptr_t)code->strategy.choice.vector == 0 ||
                      is_here(r, k);
    r->module = is_aligned ? code->module : atomic_load(code->narrow);
    if (!r->module) {
        r->module = compile(&text, /*narrow=*/true, rd_gpu_facts_of(r->gpu), r->why);
        atomic_store(code->narrow, r->module);
    }
    return r->module;
}

/* True if these slots (buffers) can stay in the host's memory: the work then goes by blocks of
 * the work whose data fit on the GPU. */
bool rd_gpu_windows(const rd_gpu_code *code, rd_queue *queue, const bool *windowed)
{
    return !rd_blocks_refusal(&code->strategy, windowed,
                              rd_windows_budget(rd_gpu_facts_of(rd_queue_gpu(queue))));
}

/* Allocates the kernels' argument, takes the run's memory, and chooses the variant of the
 * kernels.  False: `why` has the reason; rd_gpu_run_end() must follow in any case. */
bool rd_gpu_run_begin(rd_gpu_run_state *r, const rd_gpu_code *code, rd_submission *submission,
                      void *const *slot, const rd_device_host *host, char why[RD_CUDA_TEXT])
{
    const size_t slots  = (size_t)(code->n_slot ? code->n_slot : 1);
    const size_t number = (size_t)(code->n_number ? code->n_number : 1);

    *r      = (rd_gpu_run_state){ .strategy   = &code->strategy,
                                  .host       = host,
                                  .submission = submission,
                                  .queue      = rd_submission_queue(submission),
                                  .most_teams = code->most_teams,
                                  .why        = why };
    r->gpu  = rd_queue_gpu(r->queue);
    r->call = calloc(1, sizeof(rd_call_head) + 8 * (slots + number));
    if (!r->call) {
        snprintf(why, RD_CUDA_TEXT, "out of memory");
        r->full = true;
        return false;
    }
    if (!get_memory(r) || !choose_module(r, code, slot))
        return false;
    fill_call(r, code, slot);
    return true;
}

/* Frees the kernels' argument, and sets *end to the kind of failure that it would be: cancelled,
 * memory full, or another one. After a success nobody reads *end. */
void rd_gpu_run_end(rd_gpu_run_state *r, rd_device_end *end)
{
    *end = r->cancelled ? RD_DEVICE_CANCELLED : r->full ? RD_DEVICE_FULL : RD_DEVICE_FAILED;
    free(r->call);
    r->call = NULL;
}

/* Enqueues one run of a program's kernels.  False: it failed, *end and `why` say how. */
bool rd_gpu_run(const rd_gpu_code *code, rd_submission *submission, void *const *slot,
                const rd_device_host *host, rd_device_end *end, char why[RD_CUDA_TEXT])
{
    rd_gpu_run_state r;
    const bool done = rd_gpu_run_begin(&r, code, submission, slot, host, why) && run_kernels(&r);

    rd_gpu_run_end(&r, end);
    return done;
}
