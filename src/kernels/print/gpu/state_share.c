/* state_share.c - what of a fold's states a thread has. */
#include "kernels/print/gpu/kernel.h"

bool rd_has_tree(const rd_printing *n, int32_t fold)
{
    return n->t->fold[fold].room > 0;
}

int32_t rd_lanes_here(const rd_printing *n, int32_t store)
{
    const rd_store *a = &n->t->store[store];

    return a->dealt && a->place != RD_IN_TEAM ? a->dealt : n->t->p->fold[a->fold].lanes;
}

int64_t rd_cells_here(const rd_printing *n, int32_t store)
{
    const rd_store *a = &n->t->store[store];

    return a->extent / n->t->p->fold[a->fold].lanes;
}

bool rd_has_lanes_in_team(const rd_printing *n, int32_t store)
{
    return n->t->store[store].dealt && n->t->store[store].place == RD_IN_TEAM;
}

/* Counters of blocks of a cell: one for each thread that has lanes of it in the team's memory. */
int32_t rd_block_counters_of(const rd_printing *n, int32_t store)
{
    enum { WARP = 32 };

    return rd_has_lanes_in_team(n, store) ? WARP : 1;
}

bool rd_is_team_uniform(const rd_printing *n, int32_t store)
{
    return n->t->store[store].place == RD_IN_TEAM && !n->kernel->per_thread && n->kernel->team > 1;
}

int64_t rd_first_of_tile(const rd_store *tile)
{
    return tile->at / rd_dtype_size(tile->type);
}
