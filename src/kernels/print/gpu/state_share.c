/* state_share.c - which part of a fold's states a thread has, and how many of them.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and per_thread is the number of
 * lanes that each thread of a team has (0: a thread has all). */
#include "kernels/print/gpu/kernel.h"

/* True if the fold has several blocks (runs of 64 steps), whose results form a combine tree;
 * tree_rows: nodes that a lane (partial accumulator) keeps of it. */
bool rd_has_tree(const rd_printing *n, int32_t fold)
{
    return n->t->fold[fold].tree_rows > 0;
}

/* Returns how many lanes of a cell (its partial accumulators) the array has, as a thread sees
 * it: the thread's own (per_thread, 0: all), but all of them in the team's memory. */
int32_t rd_lanes_in_array(const rd_printing *n, int32_t store)
{
    const rd_tree_array *a = &n->t->store[store];

    return a->per_thread && a->storage != RD_IN_TEAM ? a->per_thread : n->t->p->fold[a->fold].lanes;
}

/* Returns the number of cells (output elements) in the array, which has a state for each lane
 * (partial accumulator) of each cell. */
int64_t rd_cells_in_array(const rd_printing *n, int32_t store)
{
    const rd_tree_array *a = &n->t->store[store];

    return a->extent / n->t->p->fold[a->fold].lanes;
}

/* True if the states (accumulators) lie in the team's memory, and each thread owns some lanes
 * (partial accumulators) of a cell (per_thread > 0). */
bool rd_has_lanes_in_team(const rd_printing *n, int32_t store)
{
    return n->t->store[store].per_thread && n->t->store[store].storage == RD_IN_TEAM;
}

/* Returns the counters of a cell's open block: if threads own lanes of it in the team's memory,
 * one for each thread of a warp, as a team has at most so many; else one. */
int32_t rd_block_counters_of(const rd_printing *n, int32_t store)
{
    enum { WARP = 32 };

    return rd_has_lanes_in_team(n, store) ? WARP : 1;
}

/* True if the states (accumulators) are the team's and all of its threads run the same statement
 * (not per_thread). Then one thread must write, or each a part. */
bool rd_is_team_uniform(const rd_printing *n, int32_t store)
{
    return n->t->store[store].storage == RD_IN_TEAM && !n->kernel->per_thread &&
           n->kernel->team > 1;
}

/* Returns where the array begins in the shared memory of a block of threads, counted in elements
 * of its own type. */
int64_t rd_first_of_tile(const rd_tree_array *tile)
{
    return tile->byte_offset / rd_dtype_size(tile->type);
}
