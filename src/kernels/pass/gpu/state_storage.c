/* state_storage.c - sets the storage class of the states of folds: variables of a thread,
 * declared where the fold begins, or memory of a thread or a team. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Adds a statement that declares the array of a fold's states (accumulators), before the fold
 * begins. */
static void declare_before(rd_schedule *t, int32_t begin)
{
    rd_stmt array = rd_stmt_of(RD_S_ARRAY);

    array.store = t->stmt[begin].store;
    rd_put_before(t, rd_add_stmt(t, &array), begin);
}

/* The pass: sets where the accumulators of each fold lie, as the plan (the backend's decisions
 * about the kernel) says: variables of a thread (RD_IN_LOCAL), which are declared before the
 * fold begins, or memory. per_thread: how many lanes of a cell each thread has; node_rows: how
 * many nodes (partial results in the combine tree) of finished blocks a state can have. */
void rd_pass_gpu_state_storage(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        t->store[k].storage     = plan->fold[k].place;
        t->store[k].per_thread  = plan->fold[k].thread_lanes;
        t->store[k].node_rows   = plan->fold[k].node_rows;
        t->store[k].byte_offset = plan->fold[k].at;
    }
    for (int32_t s = body; s >= 0 && !t->failed; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_BEGIN && t->store[t->stmt[s].store].storage == RD_IN_LOCAL)
            declare_before(t, s);
}
