/* storage_class.c - the storage class of folds' states and of scratch: registers and local
 * arrays, or global memory of the thread or of the team.
 *
 * A fold is a reduction or scan.  Its cells are its results, its lanes partial accumulators, and
 * a state is what a lane has so far.  Scratch is temporary memory of the program.
 *
 * Fields. Scans of split loops run once (is_lookback) or twice (is_two_pass). s->pairs is the loop
 * over points that all results read, -1: none. s->neighbour_axis is the axis of which `width`
 * neighbours are one item, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "core/combine_tree.h"
#include "kernels/cuda/strategy.h"

/* True if an instruction loads from or stores to scratch (temporary memory). */
static bool is_scratch(const rd_program *p, const rd_inst *inst)
{
    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
           p->address[inst->arg].slot >= p->first_scratch;
}

/* Takes `more` bytes of a memory, rounded up to 16, behind the *bytes that are taken already.
 * Returns where they begin. */
static int64_t reserve(int64_t *bytes, int64_t more)
{
    const int64_t at = *bytes;

    *bytes += rd_cuda_room(more);
    return at;
}

/* Returns the bytes of `count` states: an array for each of the n_state numbers of a state (such
 * as sum and count), each at a multiple of 16. The prefix of float sums (pair) has one number
 * more, the low part. */
static int64_t state_bytes(const rd_cuda_fold *f, int64_t count)
{
    int64_t bytes = 0;

    for (int k = 0; k < f->emit.n_state + (f->hi_lo_sums ? 1 : 0); k++)
        reserve(&bytes, count * f->emit.bytes);
    return bytes;
}

/* Returns how many counters of its open block a cell (output element) has: one for each thread
 * of a warp, if the team's threads own its lanes in global memory; else 1. */
int32_t rd_cuda_counters(const rd_cuda_fold *f)
{
    return f->threads_are_lanes && f->storage == RD_STORAGE_TEAM ? RD_WARP : 1;
}

/* Returns the bytes of all arrays of a fold: states of the open blocks, and nodes of the combine
 * tree (room of them) if it has several blocks. A scan has its prefix instead, nodes of
 * `levels`, and words of a float sum. The number of each cell's open block comes last. */
static int64_t fold_bytes(const rd_cuda_fold *f)
{
    const int64_t states = f->states;
    int64_t       bytes  = state_bytes(f, states);

    if (f->tree)
        bytes += state_bytes(f, f->node_rows * states);
    if (f->emit.fold->scan)
        bytes += state_bytes(f, states) + state_bytes(f, f->levels * states);
    reserve(&bytes, f->n_words * states * (int64_t)sizeof(double));
    reserve(&bytes, f->n_cell * rd_cuda_counters(f) * (int64_t)sizeof(int64_t));
    return bytes;
}

/* Reserves global memory for the nodes (partial results in the combine tree) of a look-back
 * scan. Its states (accumulators) are in registers, a state for each element, so they need no
 * memory. */
static void assign_node_storage(rd_cuda_strategy *s, rd_cuda_fold *f)
{
    f->n_cell  = 1;
    f->node_at = reserve(&s->node_bytes, rd_cuda_lookback_bytes(s, f));
}

/* Counts the states of a fold, chooses where they lie, and reserves memory. They are variables
 * of a thread; or, if too large for that, in the thread's global memory; or in the team's, if
 * the team's threads share its cells (output elements). `thread_lanes`: lanes of a cell that a
 * thread has. Partials of ranges (parts of a split loop), and nodes (partial results in the combine
 * tree) of a two-pass scan, get a place, too. */
static void assign_fold_storage(rd_cuda_strategy *s, rd_cuda_fold *f)
{
    const rd_fold *fold = f->emit.fold;

    f->register_block =
        s->pairs >= 0 && rd_cuda_within(s->p, f->start, s->pairs) ? s->register_block : 1;
    f->n_cell = fold->n_cell * (s->neighbour_axis >= 0 ? s->width : 1) * f->register_block;
    f->thread_lanes =
        f->threads_are_lanes ? fold->lanes / s->team : fold->lanes; /* lanes of a thread */
    /* rows of tree nodes that wait for their siblings: a digit of the number of blocks each */
    f->node_rows = f->split < 0 ? rd_cuda_bits(fold->n_block) + 2
                                : rd_cuda_bits(f->blocks) * (f->aligned ? 1 : 2) + 2;
    f->storage   = f->threads_have_cells ? RD_STORAGE_TEAM : RD_STORAGE_LOCAL;
    f->states    = f->n_cell * (f->storage == RD_STORAGE_TEAM ? fold->lanes : f->thread_lanes);
    f->bytes     = fold_bytes(f);
    if (f->storage == RD_STORAGE_LOCAL && f->bytes > s->choice.local)
        f->storage = RD_STORAGE_THREAD;
    if (f->storage == RD_STORAGE_TEAM)
        f->at = reserve(&s->team_bytes, f->bytes);
    if (f->storage == RD_STORAGE_THREAD)
        f->at = reserve(&s->thread_bytes, f->bytes);
    if (s->is_two_pass) {
        const int64_t nodes = rd_cuda_nodes_below(s->n_range, rd_cuda_bits(s->n_range)) * f->n_cell;

        f->node_bytes =
            (f->hi_lo_sums ? 1 : f->emit.n_state) * rd_cuda_room(nodes * (int64_t)sizeof(double));
        f->node_at = reserve(&s->node_bytes, f->node_bytes);
    }
    if (f->split >= 0)
        f->node_at = reserve(&s->row_bytes, state_bytes(f, f->n_cell * fold->lanes));
}

/* Returns the storage class of a scratch slot (temporary memory). It is global memory of each
 * thread, if a loop that the team shares stores all indices at one place, so that each thread
 * has its own value; else of the team. */
static rd_cuda_storage storage_of_scratch(const rd_cuda_strategy *s, int32_t slot)
{
    for (int32_t i = 0; i < s->p->n_inst; i++) {
        const int32_t loop = rd_cuda_distributed_around(s, i);

        if (is_scratch(s->p, &s->p->inst[i]) && s->p->inst[i].kind == RD_I_STORE &&
            s->p->address[s->p->inst[i].arg].slot == slot && loop >= 0 &&
            !rd_coef(&s->p->address[s->p->inst[i].arg], s->p->loop[loop].axis))
            return RD_STORAGE_THREAD;
    }
    return RD_STORAGE_TEAM;
}

/* Assigns a storage class and a place to each fold, then to all scratch (temporary memory) that
 * is not in shared memory or kept by items. If an item is `width` neighbours (strip >= 0),
 * scratch is as many times as large. */
void rd_cuda_assign_storage(rd_cuda_strategy *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++)
        (s->is_lookback ? assign_node_storage : assign_fold_storage)(s, &s->fold[k]);
    for (int32_t k = 0; k < s->p->n_scratch; k++) {
        if (s->scratch[k] == RD_STORAGE_SHARED || s->scratch[k] == RD_STORAGE_ITEM)
            continue;
        s->scratch[k] = storage_of_scratch(s, s->p->first_scratch + k);
        s->scratch_at[k] =
            reserve(s->scratch[k] == RD_STORAGE_THREAD ? &s->thread_bytes : &s->team_bytes,
                    s->p->scratch_bytes[k] * (s->neighbour_axis >= 0 ? s->width : 1));
    }
}

/* ---- Shared memory for the exchange of lanes ------------------------------------------------- */
/* True if the threads of a team exchange the fold's lanes (partial accumulators) through shared
 * memory when the fold ends: each thread has some of them. */
static bool is_exchanged(const rd_cuda_fold *f)
{
    return f->threads_are_lanes && !f->threads_have_cells;
}

/* Returns the words of 8 bytes of shared memory by which a team's threads exchange lanes, the
 * partial accumulators of a fold. Folds end one after the other, so the fold that needs most
 * decides. Reducers that align their lanes to one of them need a second copy. */
int32_t rd_cuda_shared_words(const rd_cuda_strategy *s)
{
    int32_t most = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];
        const int32_t       words =
            f->emit.fold->lanes * f->emit.n_state * (rd_aligns_lanes(&f->emit) ? 2 : 1);

        if (is_exchanged(f) && words > most)
            most = words;
    }
    return most;
}
