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
/* Returns the position in memory where the row of the item begins: first + step * (number of the
 * row). The indices of the `outer` axes number the rows, in C order. */
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

/* Returns the array in shared memory of a staged row; it is added when it is first wanted. The
 * printer knows the row by two fields that an array of elements does not use otherwise: `lanes`
 * is the row's number, byte_offset the number of the row whose shared array it uses. */
static int32_t array_of(rd_schedule *t, const rd_gpu_staged_row *row, int32_t number)
{
    const rd_tree_array array = { .storage     = RD_IN_BLOCK,
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

/* Lets an access read or write the staged row that the plan names for its instruction (-1:
 * none). Its address then counts from the row's first element. slot -1: it names no memory of
 * the program any more. Called for each load and store. */
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
    at = rd_linear_plus(t, at, /*coef=*/-1, row_start(t, row));
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
/* Appends the copy of one element to the loop `body`, whose index is the axis `mark`: "a1[m0] =
 * load s0[33*i0 + m0]" for a row that comes in, the reverse for one that goes out. */
static void add_copy(rd_schedule *t, const rd_gpu_staged_row *row, int32_t store, int32_t body,
                     int32_t mark)
{
    const rd_linear at       = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, mark),
                    memory   = rd_linear_plus_axis(t, row_start(t, row), /*coef=*/1, mark);
    const bool    in         = row->role == RD_STAGED_IN;
    rd_tree_value let        = { .kind  = RD_I_LOAD,
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

/* Adds a loop by all threads of the block that copies a row to shared memory before the item, or
 * back to memory behind it. The loop counts by an axis of its own, binds no marks (start_mark,
 * stop_mark -1), and comes from no loop of the program (`program_loop` -1). */
static void copy_row(rd_schedule *t, const rd_gpu_staged_row *row, int32_t number, int32_t item)
{
    const int32_t store = array_of(t, row, number);
    rd_for        loop  = rd_rounds_from(RD_FOR_VECTOR, rd_add_mark(t), rd_linear_of(0), row->n);
    int32_t       made;

    loop.by_block = true;
    made          = rd_add_loop(t, &loop);
    if (t->failed)
        return;
    if (row->role == RD_STAGED_IN && t->stmt[item].first >= 0)
        rd_put_before(t, made, t->stmt[item].first);
    else
        rd_append(t, item, made);
    add_copy(t, row, store, made, loop.axis);
}

/* The pass: accesses of the short rows that the plan (the backend's decisions about the kernel)
 * lists go to shared memory, and all threads of a block copy these rows together. Scratch rows
 * are not copied. */
void rd_pass_gpu_staged_rows(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);

    if (plan->n_staged == 0 || kernel < 0)
        return;
    rd_gpu_for_each_access(t, plan, use_row);
    for (int32_t k = 0; k < plan->n_staged && !t->failed; k++)
        if (plan->staged[k].role != RD_STAGED_SCRATCH)
            copy_row(t, &plan->staged[k], k, rd_innermost_item_loop(t, kernel));
}
