/* run_program.c - runs a program instruction by instruction: its results are what a tree must
 * compute, too.
 *
 * Words. A fold is a reduction or a scan. A cell is one result of a fold, with its accumulators. */
#include "kernels/loop/shadow/fold_definition.h"
#include <stdlib.h>

/* An axis: its index, and the range [lo, hi) of loops over it. */
typedef struct axis_range {
    int64_t index, lo, hi;
} axis_range;

/* A shadow run of a program: it computes hashes of how numbers are made, in place of numbers. */
typedef struct program_run {
    const rd_program  *p;
    rd_shadow_memories memory;
    rd_shadow         *reg;
    axis_range        *axis;
    rd_shadow_list   **fold;
    bool               failed; /* no memory */
} program_run;

/* ---- Positions ------------------------------------------------------------------------------- */
/* Returns the value of an address at the current indices and registers. A `local` index counts
 * from the begin of the axis's current range (lo). An unknown register counts as 0 or 1, by its
 * hash. */
static int64_t position(const program_run *r, const rd_address *at)
{
    int64_t sum = at->offset;

    for (int32_t k = 0; k < at->n_add; k++) {
        const rd_addend *a = &at->add[k];

        if (a->axis < 0)
            sum += a->coef * rd_shadow_int(r->reg[a->reg]);
        else
            sum += a->coef * (r->axis[a->axis].index - (a->local ? r->axis[a->axis].lo : 0));
    }
    return sum;
}

/* Returns the values of the positions of a fold's element: cell, lane, line and flat index.
 */
static rd_shadow_coords place_of(const program_run *r, const rd_fold *f)
{
    return (rd_shadow_coords){ position(r, &f->cell), position(r, &f->lane),
                               position(r, &f->lane_line), position(r, &f->index) };
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Returns the element that a STEP or SCAN takes: registers a, b and c have its value, weight and
 * mask (-1: none). */
static rd_shadow_element element_of(const program_run *r, const rd_inst *inst)
{
    const rd_fold         *f  = &r->p->fold[inst->arg];
    const rd_shadow_coords at = place_of(r, f);

    return rd_shadow_element_of(f, &at, r->reg[inst->a], inst->b >= 0 ? &r->reg[inst->b] : NULL,
                                inst->c >= 0 ? &r->reg[inst->c] : NULL);
}

/* Runs a STEP: adds the element to the list of its cell (accumulator), in a group-by to that of
 * the label's cell. Elements that are masked or neutral (no hash), or without a group, go nowhere.
 */
static void run_step(program_run *r, const rd_inst *inst)
{
    const rd_fold    *f     = &r->p->fold[inst->arg];
    rd_shadow_element e     = element_of(r, inst);
    const int64_t     label = f->n_group ? rd_shadow_label(r->reg[inst->d], f->n_group) : 0;

    if (!e.hash || label < 0 || (f->n_group && label >= f->n_group))
        return;
    e.cell += f->n_group ? label * f->group_stride : 0;
    r->failed |= !rd_shadow_list_take(r->fold[inst->arg], &e);
}

/* Runs a SCAN: takes an element, and puts the results so far into registers. */
static void run_scan(program_run *r, const rd_inst *inst)
{
    const rd_shadow_element e = element_of(r, inst);

    r->failed |= !rd_shadow_list_scan(r->fold[inst->arg], &e, &r->reg[inst->dst]);
}

/* Runs a CLOSE: the results of the fold's cell (accumulator) become registers. */
static void run_close(program_run *r, const rd_inst *inst)
{
    r->failed |= !rd_shadow_list_finish(
        r->fold[inst->arg], position(r, &r->p->fold[inst->arg].cell), &r->reg[inst->dst]);
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Runs an instruction that makes a value by an operation: its register gets the known number, or
 * the hash of the operation and its operands. A constant reads no register, a cast or an INDEX one,
 * a MAP as many as its operator's arity, others three. */
static void add_value(program_run *r, const rd_inst *inst)
{
    const rd_tree_value let     = { .kind = inst->kind,
                                    .type = inst->type,
                                    .from = inst->from,
                                    .op   = inst->op,
                                    .arg  = inst->arg,
                                    .word = inst->value,
                                    .n    = inst->kind == RD_I_MAP ? rd_op_table[inst->op].arity : 3 };
    const int32_t       read[3] = { inst->a, inst->b, inst->c };
    rd_shadow           in[3]   = { { 0 } };
    const int32_t       n       = inst->kind == RD_I_CONST                              ? 0
                                  : inst->kind == RD_I_CAST || inst->kind == RD_I_INDEX ? 1
                                                                                        : let.n;

    for (int32_t k = 0; k < n; k++)
        in[k] = r->reg[read[k]];
    r->reg[inst->dst] = rd_shadow_value(&let, in);
}

/* Runs a call of a user's function: its register gets a hash of the function and its operands. */
static void add_call(program_run *r, const rd_inst *inst)
{
    const rd_call      *call = &r->p->call[inst->arg];
    const rd_tree_value let  = { .kind = RD_I_CALL, .arg = inst->arg, .n = call->n_in };
    rd_shadow           in[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        in[k] = r->reg[call->in[k]];
    r->reg[inst->dst] = rd_shadow_value(&let, in);
}

/* ---- Instructions ---------------------------------------------------------------------------- */
static void run_instructions(program_run *r, int32_t from, int32_t to);

/* Loads the shadow of an element at an address of the program, given by its number. */
static rd_shadow load(const program_run *r, int32_t address)
{
    const rd_address *at = &r->p->address[address];

    return rd_shadow_load(&r->memory, at->slot, at->type, position(r, at));
}

/* Runs a STORE: puts the shadow of register inst->a into the program's memory. */
static void store(const program_run *r, const rd_inst *inst)
{
    const rd_address *at = &r->p->address[inst->arg];

    rd_shadow_put(&r->memory, at->slot, at->type, position(r, at), r->reg[inst->a]);
}

/* Runs a SORT of a row, or if it comes in strips (most > 0) of the part in the current range of
 * its axis. */
static void run_sort(const program_run *r, const rd_inst *inst)
{
    const rd_sorting *s = &r->p->sorting[inst->arg];

    rd_shadow_sort(
        &r->memory, inst->arg,
        &(rd_shadow_row){ .from  = position(r, &r->p->address[s->from]),
                          .to    = position(r, &r->p->address[s->to]),
                          .state = s->most ? position(r, &r->p->address[s->state]) : 0,
                          .begin = s->most ? r->axis[s->axis].lo : 0,
                          .n     = s->most ? r->axis[s->axis].hi - r->axis[s->axis].lo : s->n });
}

/* Runs a loop of the program, one index after the other, or range by range if it goes over tiles.
 * The axis has its index and range meanwhile; a sparse row (rd_is_sparse_row) has bounds that are
 * loaded. It goes over the axis's range at hand, which is restored behind it. */
static void run_loop(program_run *r, int32_t number)
{
    const rd_loop    *l     = &r->p->loop[number];
    axis_range *const axis  = &r->axis[l->axis];
    const axis_range  outer = *axis;
    const int64_t     step  = l->kind == RD_LOOP_TILE ? l->step : 1;
    int64_t           lo = outer.lo, hi = outer.hi, n;

    if (rd_is_sparse_row(l)) {
        lo = rd_shadow_int(load(r, l->row_from));
        hi = rd_shadow_int(load(r, l->row_to));
    }
    n = hi > lo ? (hi - lo + step - 1) / step : 0;
    for (int64_t k = 0; k < n && !r->failed; k++) {
        const int64_t at = lo + (l->backwards ? n - 1 - k : k) * step;

        *axis = (axis_range){ at, lo, hi };
        if (l->kind == RD_LOOP_TILE)
            *axis = (axis_range){ at, at, hi - at > step ? at + step : hi };
        run_instructions(r, l->begin + 1, l->end);
    }
    *axis = outer;
}

/* Runs one instruction as program.h defines it, on hashes in place of numbers. */
static void run_instruction(program_run *r, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_COORD:
        r->reg[inst->dst] = rd_shadow_of_int(position(r, &r->p->address[inst->arg]));
        break;
    case RD_I_LOAD: r->reg[inst->dst] = load(r, inst->arg); break;
    case RD_I_STORE: store(r, inst); break;
    case RD_I_SORT: run_sort(r, inst); break;
    case RD_I_CALL: add_call(r, inst); break;
    case RD_I_START: rd_shadow_list_begin(r->fold[inst->arg]); break;
    case RD_I_STEP: run_step(r, inst); break;
    case RD_I_SCAN: run_scan(r, inst); break;
    case RD_I_CLOSE: run_close(r, inst); break;
    case RD_I_EXIT: break; /* no later element changes the result */
    default: add_value(r, inst);
    }
}

/* Runs the instructions [from, to), with the loops among them. */
static void run_instructions(program_run *r, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to && !r->failed; i++)
        if (r->p->inst[i].kind == RD_I_LOOP) {
            run_loop(r, r->p->inst[i].arg);
            i = r->p->loop[r->p->inst[i].arg].end;
        } else
            run_instruction(r, &r->p->inst[i]);
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* Makes the list of elements of each fold, from which its results will be computed. */
static void open_folds(program_run *r)
{
    for (int32_t k = 0; k < r->p->n_fold && !r->failed; k++) {
        r->fold[k] = rd_shadow_list_new(&r->p->fold[k]);
        r->failed |= !r->fold[k];
    }
}

/* Frees the lists of elements of all folds. */
static void close_folds(program_run *r)
{
    for (int32_t k = 0; r->fold && k < r->p->n_fold; k++)
        rd_shadow_list_free(r->fold[k]);
    free(r->fold);
}

/* Runs all of a program on hashes, and stores its results in *all; false: no memory. What it
 * stores in scratch (temporary memory of a task) is thrown away. */
bool rd_shadow_program(const rd_program *p, rd_shadow_memory *all)
{
    rd_shadow_memory scratch = { 0 };
    program_run      r       = { .p      = p,
                                 .memory = { p, all, &scratch },
                                 .reg    = calloc((size_t)p->n_reg + 1, sizeof *r.reg),
                                 .axis   = calloc((size_t)p->n_axis + 1, sizeof *r.axis),
                                 .fold   = calloc((size_t)p->n_fold + 1, sizeof *r.fold) };

    r.failed = !r.reg || !r.axis || !r.fold;
    for (int32_t a = 0; a < p->n_axis && !r.failed; a++)
        r.axis[a] = (axis_range){ 0, 0, p->axis_extent[a] };
    if (!r.failed)
        open_folds(&r);
    run_instructions(&r, /*from=*/0, p->n_inst);
    close_folds(&r);
    rd_shadow_memory_free(&scratch);
    free(r.reg);
    free(r.axis);
    return !r.failed && !all->failed;
}
