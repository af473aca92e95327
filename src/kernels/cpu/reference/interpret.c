/* interpret.c - the reference backend: runs a loop program instruction by instruction.
 *
 * The machine is the state of a task: registers, the index and range of each axis, open loops,
 * folds.  A panel is the range that a tile loop visits.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * An addend of an address with `axis` -1 is a register, so the address gathers.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cpu/reference/user_call.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/reference/machine.h"
#include "kernels/cpu/sort/row_sort.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef rd_machine machine;

/* Runs an instruction and returns the number of the next one. */
typedef int32_t handler(machine *m, const rd_inst *inst, int32_t pc);

/* Stops the task with a status and a message. */
__attribute__((format(printf, 3, 4))) static void stop(machine *m, rd_status status,
                                                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->task->sentence, sizeof m->task->sentence, format, args);
    va_end(args);
    m->task->status = status;
}

/* ---- Addresses ------------------------------------------------------------------------------- */
/* Returns the factor of an addend of an address: a register, or the index of an axis.  A `local`
 * index counts from the begin of the current range of its axis. */
static int64_t addend_value(const machine *m, const rd_addend *add)
{
    if (add->axis < 0)
        return m->reg[add->reg].i64;
    const rd_axis_range *axis = &m->axis[add->axis];
    return add->local ? axis->index - axis->lo : axis->index;
}

/* Returns the value of an address or position: its offset, and the sum of coefficient times index
 * (or register) over its addends. */
static int64_t position(const machine *m, const rd_address *address)
{
    int64_t at = address->offset;

    for (int32_t k = 0; k < address->n_add; k++)
        at += address->add[k].coef * addend_value(m, &address->add[k]);
    return at;
}

/* Returns the pointer to the element at an address. */
static char *memory(const machine *m, int32_t number)
{
    const rd_address *address = &m->p->address[number];
    return (char *)m->task->slot[address->slot] + position(m, address) * m->size[number];
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns how many indices one round of a loop visits. */
static int64_t width(const rd_loop *loop)
{
    return loop->kind == RD_LOOP_TILE ? loop->step : 1;
}

/* Sets the current index of an open loop; a loop over ranges (TILE) also sets the range that loops
 * inside it visit. */
static void visit(machine *m, int32_t number, int64_t at)
{
    const rd_loop *loop = &m->p->loop[number];
    rd_axis_range *axis = &m->axis[loop->axis];

    m->loop[number].at = at;
    axis->index        = at;
    if (loop->kind == RD_LOOP_TILE) {
        axis->lo = at;
        axis->hi = m->loop[number].outside.hi - at > loop->step ? at + loop->step
                                                                : m->loop[number].outside.hi;
    }
}

/* True if all instructions from `from` to `to` are loops without iterations.  Such loops must be
 * skipped as a whole: an array may have 2^60 rows of no elements. */
static bool does_nothing(const rd_program *p, int32_t from, int32_t to)
{
    while (from < to && p->inst[from].kind == RD_I_LOOP) {
        const rd_loop *loop = &p->loop[p->inst[from].arg];

        if (p->axis_extent[loop->axis] > 0 && !does_nothing(p, from + 1, loop->end))
            return false;
        from = loop->end + 1;
    }
    return from >= to;
}

/* LOOP: opens a loop at its first index (its last range if it runs backwards), or skips it if it
 * has nothing to do. `outside` is the axis' range as the loop found it, which its end restores. A
 * loop over ranges goes backwards from the last one, which may be shorter. */
static int32_t run_loop(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_loop      *loop    = &m->p->loop[inst->arg];
    const rd_axis_range outside = m->axis[loop->axis];
    const int64_t       n       = outside.hi - outside.lo;

    assert(width(loop) > 0);
    if (n <= 0 || does_nothing(m->p, pc + 1, loop->end))
        return loop->end + 1;
    m->open[m->n_open++] = inst->arg;
    m->loop[inst->arg]   = (rd_open_loop){ .outside = outside, .body = pc + 1 };
    visit(m, inst->arg,
          loop->backwards ? outside.lo + (n - 1) / width(loop) * width(loop) : outside.lo);
    return pc + 1;
}

/* Ends the innermost open loop, restores the range of its axis, and returns its number. */
static int32_t leave(machine *m)
{
    const int32_t number = m->open[--m->n_open];

    m->axis[m->p->loop[number].axis] = m->loop[number].outside;
    return number;
}

/* END: moves to the next index of the loop (or the next range of `width` indices) and back to its
 * body, or ends the loop. */
static int32_t run_end(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_loop      *loop = &m->p->loop[inst->arg];
    const rd_open_loop *open = &m->loop[inst->arg];
    const int64_t       left =
        loop->backwards ? open->at - open->outside.lo : open->outside.hi - 1 - open->at;

    if (left < width(loop)) {
        leave(m);
        return pc + 1;
    }
    visit(m, inst->arg, loop->backwards ? open->at - width(loop) : open->at + width(loop));
    return open->body;
}

/* EXIT: leaves loop inst->arg, and all loops in it, if the results of a fold are decided (early
 * exit). */
static int32_t run_exit(machine *m, const rd_inst *inst, int32_t pc)
{
    if (!rd_fold_is_decided(&m->fold[inst->a]))
        return pc + 1;
    while (leave(m) != inst->arg)
        ;
    return m->p->loop[inst->arg].end + 1;
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* CONST: sets a register to a number. */
static int32_t run_const(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = inst->value;
    return pc + 1;
}

/* COORD: sets a register to a position, such as the index of a loop. */
static int32_t run_coord(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst].i64 = position(m, &m->p->address[inst->arg]);
    return pc + 1;
}

/* LOAD: reads an element.  It counts as a load unless it lies in scratch (memory between steps of
 * the program, in slots from first_scratch on). */
static int32_t run_load(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_address *address = &m->p->address[inst->arg];

    m->reg[inst->dst] = rd_word_load(memory(m, inst->arg), address->type);
    m->task->loads += address->slot < m->p->first_scratch;
    return pc + 1;
}

/* STORE: writes a register to memory, in the type of the memory. */
static int32_t run_store(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_word_store(memory(m, inst->arg), m->p->address[inst->arg].type, m->reg[inst->a]);
    return pc + 1;
}

/* MAP: computes an operator on registers a, b and c.  Results of narrow types are wrapped: cut to
 * what their memory holds. */
static int32_t run_map(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_decoded *op  = &m->op[pc];
    rd_word          *dst = &m->reg[inst->dst];

    op->code(dst, &m->reg[inst->a], &m->reg[inst->b], &m->reg[inst->c], &m->task->warnings);
    if (op->narrow)
        *dst = rd_op_wrap(*dst, inst->type);
    return pc + 1;
}

/* CAST: converts a register to another type. */
static int32_t run_cast(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = rd_word_convert(m->reg[inst->a], inst->from, inst->type);
    return pc + 1;
}

/* SELECT: sets a register to register b where a is true, else to c. */
static int32_t run_select(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = m->reg[m->reg[inst->a].u64 ? inst->b : inst->c];
    return pc + 1;
}

/* INDEX: checks a gathered index, and adds the extent to a negative one.  An index outside its axis
 * stops the task. */
static int32_t run_index(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_word given  = m->reg[inst->a];
    const int64_t extent = inst->value.i64;

    if (rd_dtype_class(inst->from) == RD_CLASS_u64) {
        if (given.u64 >= (uint64_t)extent) /* unsigned: none is negative */
            stop(m, RD_ERR_AXIS, "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64,
                 given.u64, extent);
        m->reg[inst->dst] = given;
    } else {
        if (given.i64 < -extent || given.i64 >= extent)
            stop(m, RD_ERR_AXIS, "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64,
                 given.i64, extent);
        m->reg[inst->dst].i64 = given.i64 < 0 ? given.i64 + extent : given.i64;
    }
    return pc + 1;
}

/* ---- Callbacks ------------------------------------------------------------------------------- */
/* CALL: calls a user's function on the registers that it names; its message stops the task. */
static int32_t run_call(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_call *call = &m->p->call[inst->arg];
    rd_word        in[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        in[k] = m->reg[call->in[k]];
    const char *sentence = rd_call_run(call, in, inst->type, &m->reg[inst->dst]);
    if (sentence)
        stop(m, RD_ERR_CALLBACK, "%s: %s", call->name, sentence);
    return pc + 1;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Returns the numbers of the element that a fold takes: its cell (result), its position along the
 * lanes, its pass along them (outer), and its flat index.  The index is found only for reducers
 * that use it. */
static rd_fold_place place(const machine *m, const rd_fold_state *s)
{
    return (rd_fold_place){ .cell      = position(m, &s->fold->cell),
                            .lane      = position(m, &s->fold->lane),
                            .lane_line = position(m, &s->fold->lane_line),
                            .index     = s->indexed ? position(m, &s->fold->index) : 0 };
}

/* START: empties all cells (accumulators of results) of a fold. */
static int32_t run_start(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_start(&m->fold[inst->arg]);
    return pc + 1;
}

/* STEP: takes an element into a fold, or in a group-by into the cell of its label.  Without a
 * weight register (b < 0) the weight is 1, and without a mask (c < 0) each element counts. */
static int32_t run_step(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state      *s      = &m->fold[inst->arg];
    const rd_fold_place at     = place(m, s);
    const rd_word       weight = inst->b < 0 ? s->one : m->reg[inst->b];
    const bool          take   = inst->c < 0 || m->reg[inst->c].u64;

    if (s->fold->n_group)
        rd_fold_step_group(s, &at, m->reg[inst->d].i64, m->reg[inst->a], weight, take);
    else
        rd_fold_step(s, &at, m->reg[inst->a], weight, take);
    return pc + 1;
}

/* SCAN: takes an element into a fold, and sets registers to the running results. b is the weight, c
 * the mask, -1: none. */
static int32_t run_scan(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state      *s      = &m->fold[inst->arg];
    const rd_fold_place at     = place(m, s);
    const rd_word       weight = inst->b < 0 ? s->one : m->reg[inst->b];
    const bool          take   = inst->c < 0 || m->reg[inst->c].u64;

    rd_fold_scan(s, &at, m->reg[inst->a], weight, take, &m->reg[inst->dst]);
    return pc + 1;
}

/* CLOSE: finishes a cell of a fold (one result), and sets registers to its results. */
static int32_t run_close(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state *s = &m->fold[inst->arg];

    rd_fold_finish(s, position(m, &s->fold->cell), &m->reg[inst->dst]);
    return pc + 1;
}

/* Takes a strip (the current range of the axis) of a row that is never stored as a whole; the state
 * has the first few so far. */
static void take_strip(const machine *m, const rd_sorting *s)
{
    const rd_axis_range *range = &m->axis[s->axis];

    rd_reference_take(s, &(rd_row_strip){ .begin = range->lo,
                                          .n     = range->hi - range->lo,
                                          .from  = memory(m, s->from),
                                          .state = memory(m, s->state),
                                          .to    = memory(m, s->to) });
}

/* SORT: sorts a row, or takes the next strip (range) of a row that comes in strips.  A cancelled
 * run stops the task. */
static int32_t run_sort(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_sorting *s = &m->p->sorting[inst->arg];

    if (s->most) {
        take_strip(m, s);
        return pc + 1;
    }

    if (!rd_sort_by_row(rd_reference_sort, s, memory(m, s->from), memory(m, s->to), m->work))
        stop(m, RD_ERR_CANCELLED, "the evaluation was cancelled");
    return pc + 1;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */
static handler *const handlers[RD_N_INST] = {
    [RD_I_LOOP] = run_loop,   [RD_I_END] = run_end,   [RD_I_CONST] = run_const,
    [RD_I_COORD] = run_coord, [RD_I_LOAD] = run_load, [RD_I_STORE] = run_store,
    [RD_I_MAP] = run_map,     [RD_I_CAST] = run_cast, [RD_I_SELECT] = run_select,
    [RD_I_INDEX] = run_index, [RD_I_CALL] = run_call, [RD_I_START] = run_start,
    [RD_I_STEP] = run_step,   [RD_I_SCAN] = run_scan, [RD_I_CLOSE] = run_close,
    [RD_I_SORT] = run_sort,   [RD_I_EXIT] = run_exit,
};

/* Runs instructions [from, to) of a task, one element after the other.  The range of the root axis
 * is the share of the task. */
static void run(machine *m, rd_task *task, int32_t from, int32_t to)
{
    const rd_program *p = m->p;

    m->task   = task;
    m->n_open = 0;
    for (int32_t k = 0; k < p->n_axis; k++)
        m->axis[k] = (rd_axis_range){ 0, 0, p->axis_extent[k] };
    if (p->root >= 0)
        m->axis[p->root] = (rd_axis_range){ task->lo, task->lo, task->hi };
    for (int32_t pc = from; pc < to && task->status == RD_OK;)
        pc = handlers[p->inst[pc].kind](m, &p->inst[pc], pc);
}

/* Returns the interpreter that lies in a task's state. */
static machine *machine_of(const rd_task *task)
{
    return (machine *)(void *)task->state;
}

/* True, as the reference interpreter runs on every processor. */
static bool probe(void)
{
    return true;
}

/* Sets the bytes of a task's state: rd_backend_table.prepare. */
static bool prepare(rd_program *p, rd_get_fn *get, void *pool)
{
    (void)get;
    (void)pool;
    p->state_bytes = rd_machine_bytes(p);
    return true;
}

/* Makes the interpreter of a task, and runs the head of the program. */
static void head(const rd_program *p, rd_task *task)
{
    run(rd_machine_new(p, task->state), task, /*from=*/0, p->body);
}

/* Runs the body of the program on a task's share of the root axis. */
static void body(const rd_program *p, rd_task *task)
{
    run(machine_of(task), task, p->body, p->tail);
}

/* Merges the folds that tasks share (split) of the next task into those of a task, unless one has
 * failed.  Only these folds have begun in the head. */
static void join(const rd_program *p, rd_task *into, const rd_task *next)
{
    const machine *m = machine_of(into), *n = machine_of(next);

    if (into->status != RD_OK || next->status != RD_OK)
        return;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].split)
            rd_fold_merge(&m->fold[k], &n->fold[k]);
}

/* Runs the tail of the program, once after all tasks. */
static void tail(const rd_program *p, rd_task *task)
{
    run(machine_of(task), task, p->tail, p->n_inst);
}

const rd_backend_table rd_backend_scalar = { .name    = "scalar",
                                             .probe   = probe,
                                             .prepare = prepare,
                                             .head    = head,
                                             .body    = body,
                                             .join    = join,
                                             .tail    = tail };
