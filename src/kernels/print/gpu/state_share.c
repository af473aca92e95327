/* state_share.c - which part of a fold's states a thread has, and how many of them.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and per_thread is the number of
 * lanes that each thread of a team has (0: a thread has all). */
#include "kernels/print/gpu/kernel.h"

/* True if the fold has several blocks, so that their nodes form a combine tree (of tree_rows
 * rows). */
bool rd_has_tree(const rd_printing *n, int32_t fold)
{
    return n->t->fold[fold].tree_rows > 0;
}

/* The number of lanes of a cell (accumulator) in the array, as a thread sees it: its own, but all
 * in the team's memory. */
int32_t rd_lanes_in_array(const rd_printing *n, int32_t store)
{
    const rd_store *a = &n->t->store[store];

    return a->per_thread && a->storage != RD_IN_TEAM ? a->per_thread : n->t->p->fold[a->fold].lanes;
}

/* The number of cells (accumulators) in the array: it has a state for each lane of each. */
int64_t rd_cells_in_array(const rd_printing *n, int32_t store)
{
    const rd_store *a = &n->t->store[store];

    return a->extent / n->t->p->fold[a->fold].lanes;
}

/* True if the states lie in the team's memory and each thread has some lanes of a cell
 * (accumulator). */
bool rd_has_lanes_in_team(const rd_printing *n, int32_t store)
{
    return n->t->store[store].per_thread && n->t->store[store].storage == RD_IN_TEAM;
}

/* The number of block counters of a cell (accumulator): one for each thread (32 of a warp at most)
 * that has lanes of it in the team's memory, else one. */
int32_t rd_block_counters_of(const rd_printing *n, int32_t store)
{
    enum { WARP = 32 };

    return rd_has_lanes_in_team(n, store) ? WARP : 1;
}

/* True if the states are the team's and all of its threads run the same statement, so that one
 * thread must write. */
bool rd_is_team_uniform(const rd_printing *n, int32_t store)
{
    return n->t->store[store].storage == RD_IN_TEAM && !n->kernel->per_thread &&
           n->kernel->team > 1;
}

/* Elements before the array in the shared memory of pairs, counted in its own type. */
int64_t rd_first_of_tile(const rd_store *tile)
{
    return tile->byte_offset / rd_dtype_size(tile->type);
}
