/* row_cache.c - caches rows in shared memory that several loops of an item read, or that one loop
 * writes for another:
 *
 *     serial i1 { r0 = load s0[..] .. }        serial i1 { r0 = load s0[..]; a1[i1] = r0 .. }
 *     serial i1 { r2 = load s0[..] .. }        serial i1 { r2 = load a1[i1] .. }
 *
 * In all these loops an index belongs to the same thread, so no barrier is needed.
 *
 * An item is a unit of work that a team of threads does.  The array of a row is known by the row's
 * number, in byte_offset. */
#include "kernels/pass/gpu/gpu.h"

/* Returns the array in shared memory of cached row `row`; it is added when it is first wanted.
 * byte_offset holds the row's number, by which the array is found again. */
static int32_t array_of(rd_schedule *t, const rd_gpu_plan *plan, int32_t row, rd_dtype type)
{
    const rd_tree_array array = { .storage     = RD_IN_BLOCK,
                                  .type        = type,
                                  .memory      = true,
                                  .fold        = -1,
                                  .extent      = plan->cached_words,
                                  .byte_offset = row };

    for (int32_t k = 0; k < t->n_store; k++)
        if (t->store[k].storage == RD_IN_BLOCK && t->store[k].byte_offset == row)
            return k;
    return rd_add_store(t, &array);
}

/* Adds, behind a LOAD, a STORE of the value to the row in shared memory, at position `at`. */
static void store_to_row(rd_schedule *t, int32_t stmt, int32_t store, rd_dtype type, rd_linear at)
{
    rd_stmt to_row = rd_stmt_of(RD_S_STORE);
    int32_t made;

    to_row.store = store;
    to_row.type  = type;
    to_row.at    = at;
    to_row.x     = t->stmt[stmt].value;
    made         = rd_add_stmt(t, &to_row);
    rd_put_behind(t, made, stmt);
}

/* Lets an access use the cached row that the plan names for its instruction (-1: none), at the
 * index along the row. A LOAD that fills the row still reads memory, and also stores to the row.
 * Other loads and stores use the row alone (slot -1: no memory of the program). Called for each
 * access. */
static void use_row(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    const rd_dtype  type  = t->p->address[t->p->inst[inst].arg].type;
    const int32_t   row   = plan->cached_row[inst];
    const int32_t   store = row < 0 ? -1 : array_of(t, plan, row, type);
    const rd_linear at =
        rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, row < 0 ? 0 : plan->cached_axis);

    if (row < 0 || t->failed)
        return;
    if (plan->fills_row[inst])
        store_to_row(t, stmt, store, type, at);
    else if (t->stmt[stmt].kind == RD_S_STORE) {
        t->stmt[stmt].slot  = -1;
        t->stmt[stmt].store = store;
        t->stmt[stmt].at    = at;
    } else {
        rd_tree_value *let = &t->let[t->stmt[stmt].value];

        let->slot  = -1;
        let->store = store;
        let->at    = at;
    }
}

/* The pass: rows that several loops of an item read or write are cached in shared memory, as the
 * plan (the backend's decisions about the kernel) says for each access. cached_row NULL: there
 * are none. */
void rd_pass_gpu_row_cache(rd_schedule *t, const rd_gpu_plan *plan)
{
    if (plan->cached_row)
        rd_gpu_for_each_access(t, plan, use_row);
}
