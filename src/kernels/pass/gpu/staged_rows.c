/* staged_rows.c - stages short rows in shared memory.  One thread goes over each row, and all
 * threads of a block copy the rows of the block's items to shared memory before, or back behind:
 *
 *     items i0 to 8192                         items i0 to 8192
 *       serial i1 to 33                          vector m0 to 33, by block
 *         r0 = load s0[33*i0 + i1]                 a1[m0] = load s0[33*i0 + m0]
 *                                                serial i1 to 33
 *                                                  r0 = load a1[i1]
 *
 * So neighbouring threads access neighbouring elements of memory (coalesced access), although
 * their rows lie apart.
 *
 * An item is a unit of work, here of one thread.  m0 is a mark: an axis that a loop counts with.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* ---- Accesses -------------------------------------------------------------------------------- */
/* The position in memory where the row of the item begins: the row's number, which axes make, times
 * the distance of rows. */
static rd_linear row_start(rd_schedule *t, const rd_gpu_staged_row *row)
{
    rd_linear at   = rd_linear_of(row->first);
    int64_t   step = row->step;

    for (int32_t k = row->n_outer; k-- > 0;) {
        at = rd_linear_plus_axis(t, at, step, row->outer[k]);
        step *= t->p->axis_extent[row->outer[k]];
    }
    return at;
}

/* The array of a staged row, which has the row's number in `lanes`; it is added when it is first
 * wanted. */
static int32_t array_of(rd_schedule *t, const rd_gpu_staged_row *row, int32_t number)
{
    const rd_store array = { .storage     = RD_IN_BLOCK,
                             .type        = row->type,
                             .memory      = true,
                             .fold        = -1,
                             .extent      = row->n,
                             .lanes       = number,
                             .byte_offset = row->array };

    for (int32_t k = 0; k < t->n_store; k++)
        if (t->store[k].storage == RD_IN_BLOCK && t->store[k].lanes == number)
            return k;
    return rd_add_store(t, &array);
}

/* Redirects an access to its staged row, if the plan has one for its instruction.  Positions in it
 * count from the row's first element. */
static void use_row(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    const int32_t            number = plan->staged_of[inst];
    const rd_gpu_staged_row *row    = number < 0 ? NULL : &plan->staged[number];
    const int32_t            store  = row ? array_of(t, row, number) : -1;
    const bool               stores = t->stmt[stmt].kind == RD_S_STORE;
    rd_linear                at;

    if (!row || t->failed)
        return;
    at = stores ? t->stmt[stmt].at : t->let[t->stmt[stmt].value].at;
    at = rd_linear_plus(t, at, -1, row_start(t, row));
    if (t->failed)
        return;
    if (stores) {
        t->stmt[stmt].slot  = -1;
        t->stmt[stmt].store = store;
        t->stmt[stmt].at    = at;
    } else {
        t->let[t->stmt[stmt].value].slot  = -1;
        t->let[t->stmt[stmt].value].store = store;
        t->let[t->stmt[stmt].value].at    = at;
    }
}

/* ---- Copies of rows -------------------------------------------------------------------------- */
/* Adds "a1[m0] = load s0[33*i0 + m0]", or the copy back, to the empty loop `body`, which counts by
 * the added axis `mark`. */
static void add_copy(rd_schedule *t, const rd_gpu_staged_row *row, int32_t store, int32_t body,
                     int32_t mark)
{
    const rd_linear at       = rd_linear_plus_axis(t, rd_linear_of(0), 1, mark),
                    memory   = rd_linear_plus_axis(t, row_start(t, row), 1, mark);
    const bool    in         = row->role == RD_STAGED_IN;
    rd_let        let        = { .kind  = RD_I_LOAD,
                                 .type  = row->type,
                                 .from  = row->type,
                                 .arg   = -1,
                                 .slot  = in ? row->slot : -1,
                                 .store = in ? -1 : store,
                                 .at    = in ? memory : at };
    rd_stmt       store_stmt = rd_stmt_of(RD_S_STORE);
    const int32_t load       = rd_add_made(t, &let);

    store_stmt.slot  = in ? -1 : row->slot;
    store_stmt.store = in ? store : -1;
    store_stmt.type  = row->type;
    store_stmt.at    = in ? at : memory;
    store_stmt.x     = t->failed ? 0 : t->stmt[load].value;
    rd_append(t, body, load);
    rd_append(t, body, rd_add_stmt(t, &store_stmt));
}

/* Adds a loop by all threads of a block that copies a row to shared memory before the item, or back
 * behind it.  The loop counts by an axis of its own, binds no marks (start, stop -1), and comes
 * from no loop of the program (of -1). */
static void copy_row(rd_schedule *t, const rd_gpu_staged_row *row, int32_t number, int32_t item)
{
    const int32_t store = array_of(t, row, number);
    const rd_for  loop  = { .kind     = RD_FOR_VECTOR,
                            .axis     = rd_add_mark(t),
                            .start    = -1,
                            .stop     = -1,
                            .from     = rd_edge_of(rd_linear_of(0)),
                            .to       = rd_edge_of(rd_linear_of(row->n)),
                            .step     = 1,
                            .extent   = row->n,
                            .of       = -1,
                            .strip    = -1,
                            .by_block = true };
    const int32_t made  = rd_add_loop(t, &loop);

    if (t->failed)
        return;
    if (row->role == RD_STAGED_IN && t->stmt[item].first >= 0)
        rd_put_before(t, made, t->stmt[item].first);
    else
        rd_append(t, item, made);
    add_copy(t, row, store, made, loop.axis);
}

/* The pass: short rows that the plan lists are read or written in shared memory, and all threads
 * copy them together.  Scratch rows need no copy. */
void rd_pass_gpu_staged_rows(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t kernel = rd_next_kernel(t, -1);

    if (plan->n_staged == 0 || kernel < 0)
        return;
    rd_gpu_for_each_access(t, plan, use_row);
    for (int32_t k = 0; k < plan->n_staged && !t->failed; k++)
        if (plan->staged[k].role != RD_STAGED_SCRATCH)
            copy_row(t, &plan->staged[k], k, rd_innermost_item_loop(t, kernel));
}
