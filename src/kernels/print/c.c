/* c.c - the whole C text of a loop tree: functions of its folds and operators, its parts, and at
 * the end the table of parts (cpu/nest/nest_call.h):
 *
 *     static inline void step0(..) { .. }
 *     static void body(rd_nest_call *q) { .. }
 *     __attribute__((visibility("default"))) const rd_nest_kernels rdim_kernels = {
 *         head, body, join, tail, 0 };
 *
 * A fold is a reduction or scan; the program has three parts, head, body and tail.  A cell is an
 * accumulator of a fold and a lane one of its states; room 0: the fold has no combine tree.  A slot
 * is memory that the caller passes. */
#include "kernels/print/print.h"
#include <inttypes.h>
#include <string.h>

/* Finds which functions of each fold (a reduction or scan) the statements call, so that the text
 * has no others. which[fold] gets bits RD_PRINT_.. of functions that merge lanes (partial
 * accumulators); exits[fold] is true if an early exit tests the fold. room 0: the fold has no
 * combine tree, so MERGE_BLOCKS only makes nodes of states. */
static void find_functions(const rd_printing *n, uint32_t *which, bool *exits)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = n->t->part[k]; s >= 0; s = rd_next_stmt(n->t, s, n->t->part[k])) {
            const rd_stmt *stmt = &n->t->stmt[s];
            /* in a vector loop by call, one call merges the lanes of neighbouring cells */
            const bool cells = n->t->stmt[s].parent >= 0 && rd_is_by_call(n->t, stmt->parent);

            if (stmt->kind == RD_S_MERGE_LANES)
                which[stmt->fold] |= RD_PRINT_MERGE_LANES;
            if (stmt->kind == RD_S_MERGE_BLOCKS && !n->fold[stmt->fold].tree_rows)
                which[stmt->fold] |=
                    cells ? RD_PRINT_MERGE_LANES | RD_PRINT_MERGE_CELLS : RD_PRINT_LANE_NODES;
            if (stmt->kind == RD_S_EXIT)
                exits[stmt->fold] = true;
        }
}

/* Prints the functions of each fold (a reduction or scan): its reducer, its lanes (partial
 * accumulators), its combine tree, its scan, and the test of its early exit. False: no memory. */
static bool print_folds(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    uint32_t *which = get(pool, ((size_t)n->t->p->n_fold + 1) * sizeof *which);
    bool     *exits = get(pool, ((size_t)n->t->p->n_fold + 1) * sizeof *exits);

    if (!which || !exits)
        return false;
    find_functions(n, which, exits);
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        rd_emit_reducer(to, &n->fold[k].emit, k);
        rd_print_lane_functions(to, &n->fold[k], k, which[k]);
        rd_print_combine_functions(to, &n->fold[k], k);
        rd_print_scan_functions(to, &n->fold[k], k);
        if (exits[k])
            rd_print_exit_functions(to, &n->fold[k], k);
    }
    return true;
}

/* Prints "static void join(char *into, char *next)", which adds the states of the task `next` to
 * those of the task before it, `into`. Only split folds, which several tasks share, have
 * something to add. */
static void print_join(rd_printing *n, rd_text *to)
{
    rd_text_add(to, "static void join(char *into, char *next)\n{\n");
    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        if (n->t->fold[k].split)
            rd_print_join(to, &n->fold[k], k);
    rd_text_add(to, "}\n\n");
}

/* Marks the loops that an early exit leaves before their end, in n->is_exited: print_loop() prints
 * the label "left7:;" behind them. `arg` of an EXIT is the number of the loop that it leaves. */
static void find_left(rd_printing *n)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = n->t->part[k]; s >= 0; s = rd_next_stmt(n->t, s, n->t->part[k]))
            if (n->t->stmt[s].kind == RD_S_EXIT)
                n->is_exited[n->t->stmt[s].arg] = true;
}

/* Counts the slots (buffers of the caller's, x0, x1 ..) that addresses of the program name: one
 * more than the largest number. */
static void find_slots(rd_printing *n)
{
    const rd_program *p = n->t->p;

    for (int32_t k = 0; k < p->n_address; k++)
        n->n_slot = p->address[k].slot >= n->n_slot ? p->address[k].slot + 1 : n->n_slot;
}

/* Prints a function for each operator that the text calls. rd_emit_ops() takes a program, so
 * this passes a copy of the program with more instructions: one for each operation that passes
 * over the tree have added. Values from number n_reg on are theirs; those below are the
 * program's registers. False: no memory. */
static bool print_ops(const rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    const rd_schedule *t     = n->t;
    rd_program         all   = *t->p;
    const size_t       added = (size_t)(t->n_let - t->p->n_reg);
    rd_inst           *inst  = get(pool, ((size_t)all.n_inst + added + 1) * sizeof *inst);

    if (!inst)
        return false;
    if (all.n_inst)
        memcpy(inst, all.inst, (size_t)all.n_inst * sizeof *inst);
    for (int32_t k = t->p->n_reg; k < t->n_let; k++)
        if (t->let[k].kind == RD_I_MAP)
            inst[all.n_inst++] = (rd_inst){
                .kind = RD_I_MAP, .type = t->let[k].type, .from = t->let[k].from, .op = t->let[k].op
            };
    all.inst = inst;
    rd_emit_ops(to, &all);
    return true;
}

/* Sets what must be known before anything is printed: the dialect, the number of slots, and the
 * loops that an early exit leaves. No vector loop is being printed (-1), and no index is known.
 * False: no memory. */
bool rd_print_prepare(rd_printing *n, rd_get_fn *get, void *pool)
{
    if (!n->dialect)
        n->dialect = &rd_dialect_c;
    n->vector = n->thread_loop = -1;
    n->axis_is_known           = get(pool, (size_t)n->t->n_axis * sizeof *n->axis_is_known);
    n->axis_value              = get(pool, (size_t)n->t->n_axis * sizeof *n->axis_value);
    n->is_exited               = get(pool, (size_t)n->t->n_stmt * sizeof *n->is_exited);
    if (!n->axis_is_known || !n->axis_value || !n->is_exited)
        return false;
    find_slots(n);
    find_left(n);
    return true;
}

/* Prints functions of operators, and the users' functions that have a C text; with n->pointers
 * the text calls those by address instead. False: no memory. */
bool rd_print_operators(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    if (!print_ops(n, to, get, pool))
        return false;
    if (!n->pointers)
        rd_emit_functions(to, n->t->p);
    return true;
}

/* Prints all functions that the parts of the tree call. The operands of && are in the order in
 * which one needs what another has set. False: no memory. */
bool rd_print_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    if (!rd_print_prepare(n, get, pool) || !rd_print_lay_out_states(n, get, pool))
        return false;
    rd_print_find_twins(n);
    return rd_print_operators(n, to, get, pool) && print_folds(n, to, get, pool);
}

/* Prints the whole text: functions, table lookups, parts, the join of tasks, and the table of
 * parts under the symbol rdim_kernels, which the loader looks for. A `whole` program is one
 * function and runs as one task, so it has no join. False: no memory. */
bool rd_print_c(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    if (!rd_print_functions(n, to, get, pool))
        return false;
    rd_print_lookup_functions(n, to);
    rd_print_parts(n, to);
    if (!n->t->whole)
        print_join(n, to);
    rd_text_add(to,
                "__attribute__((visibility(\"default\"))) const rd_nest_kernels rdim_kernels = { "
                "%s };\n",
                n->t->whole ? "0, 0, 0, 0, whole" : "head, body, join, tail, 0");
    return !to->failed;
}
