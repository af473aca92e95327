/* interpret.c - the reference backend: runs a loop program instruction by instruction. */
#include "kernels/cpu/fold.h"
#include "kernels/cpu/ops.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* An axis: where it is, and the range that loops over it visit. */
typedef struct range {
    int64_t index, lo, hi;
} range;

typedef struct open_loop {
    range   outside; /* the axis as the loop found it */
    int64_t at;
    int32_t body; /* first instruction             */
} open_loop;

typedef struct decoded {
    rd_op_fn *code;
    bool      narrow;
} decoded;

/* All that a task keeps between instructions; it lies in the task's state with all it points to. */
typedef struct machine {
    const rd_program *p;
    rd_task          *task;
    rd_word          *reg; /* reg[-1] exists: operands that an instruction lacks have an address */
    range            *axis;
    open_loop        *loop; /* by number of the loop             */
    int32_t          *open; /* numbers of open loops, outer first */
    int32_t           n_open;
    decoded          *op;   /* by instruction, MAPs only         */
    int64_t          *size; /* of an element, by address         */
    rd_fold_state    *fold;
} machine;

/* Runs an instruction and gives the number of the next. */
typedef int32_t handler(machine *m, const rd_inst *inst, int32_t pc);

__attribute__((format(printf, 3, 4))) static void stop(machine *m, rd_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->task->sentence, sizeof m->task->sentence, format, args);
    va_end(args);
    m->task->status = status;
}

/* ---- Addresses --------------------------------------------------------------------------------------------- */
static int64_t addend_value(const machine *m, const rd_addend *add)
{
    if (add->axis < 0)
        return m->reg[add->reg].i64;
    const range *axis = &m->axis[add->axis];
    return add->local ? axis->index - axis->lo : axis->index;
}

static int64_t position(const machine *m, const rd_address *address)
{
    int64_t at = address->offset;

    for (int32_t k = 0; k < address->n_add; k++)
        at += address->add[k].coef * addend_value(m, &address->add[k]);
    return at;
}

static char *memory(const machine *m, int32_t number)
{
    const rd_address *address = &m->p->address[number];
    return (char *)m->task->slot[address->slot] + position(m, address) * m->size[number];
}

/* ---- Loops ------------------------------------------------------------------------------------------------- */
static int64_t width(const rd_loop *loop)
{
    return loop->kind == RD_LOOP_TILE ? loop->step : 1;
}

static void visit(machine *m, int32_t number, int64_t at)
{
    const rd_loop *loop = &m->p->loop[number];
    range         *axis = &m->axis[loop->axis];

    m->loop[number].at = at;
    axis->index        = at;
    if (loop->kind == RD_LOOP_TILE) {
        axis->lo = at;
        axis->hi = m->loop[number].outside.hi - at > loop->step ? at + loop->step : m->loop[number].outside.hi;
    }
}

static int32_t run_loop(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_loop *loop    = &m->p->loop[inst->arg];
    const range    outside = m->axis[loop->axis];
    const int64_t  n       = outside.hi - outside.lo;

    assert(width(loop) > 0);
    if (n <= 0)
        return loop->end + 1;
    m->open[m->n_open++] = inst->arg;
    m->loop[inst->arg]   = (open_loop){ .outside = outside, .body = pc + 1 };
    visit(m, inst->arg, loop->backwards ? outside.lo + (n - 1) / width(loop) * width(loop) : outside.lo);
    return pc + 1;
}

/* Ends the innermost open loop and gives its number. */
static int32_t leave(machine *m)
{
    const int32_t number = m->open[--m->n_open];

    m->axis[m->p->loop[number].axis] = m->loop[number].outside;
    return number;
}

static int32_t run_end(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_loop   *loop = &m->p->loop[inst->arg];
    const open_loop *open = &m->loop[inst->arg];
    const int64_t    left = loop->backwards ? open->at - open->outside.lo : open->outside.hi - 1 - open->at;

    if (left < width(loop)) {
        leave(m);
        return pc + 1;
    }
    visit(m, inst->arg, loop->backwards ? open->at - width(loop) : open->at + width(loop));
    return open->body;
}

static int32_t run_exit(machine *m, const rd_inst *inst, int32_t pc)
{
    if (!rd_fold_settled(&m->fold[inst->a]))
        return pc + 1;
    while (leave(m) != inst->arg)
        ;
    return m->p->loop[inst->arg].end + 1;
}

/* ---- Values ------------------------------------------------------------------------------------------------ */
static int32_t run_const(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = inst->value;
    return pc + 1;
}

static int32_t run_coord(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst].i64 = position(m, &m->p->address[inst->arg]);
    return pc + 1;
}

static int32_t run_load(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_address *address = &m->p->address[inst->arg];

    m->reg[inst->dst] = rd_word_load(memory(m, inst->arg), address->type);
    m->task->loads += address->slot < m->p->first_scratch;
    return pc + 1;
}

static int32_t run_store(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_word_store(memory(m, inst->arg), m->p->address[inst->arg].type, m->reg[inst->a]);
    return pc + 1;
}

static int32_t run_map(machine *m, const rd_inst *inst, int32_t pc)
{
    const decoded *op  = &m->op[pc];
    rd_word       *dst = &m->reg[inst->dst];

    op->code(dst, &m->reg[inst->a], &m->reg[inst->b], &m->reg[inst->c], &m->task->warnings);
    if (op->narrow)
        *dst = rd_op_wrap(*dst, inst->type);
    return pc + 1;
}

static int32_t run_cast(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = rd_word_convert(m->reg[inst->a], inst->from, inst->type);
    return pc + 1;
}

static int32_t run_select(machine *m, const rd_inst *inst, int32_t pc)
{
    m->reg[inst->dst] = m->reg[m->reg[inst->a].u64 ? inst->b : inst->c];
    return pc + 1;
}

static int32_t run_index(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_word given  = m->reg[inst->a];
    const int64_t extent = inst->value.i64;

    if (rd_dtype_class(inst->from) == RD_CLASS_u64) {
        if (given.u64 >= (uint64_t)extent)
            stop(m, RD_ERR_AXIS, "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64, given.u64, extent);
        m->reg[inst->dst] = given;
    } else {
        if (given.i64 < -extent || given.i64 >= extent)
            stop(m, RD_ERR_AXIS, "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64, given.i64, extent);
        m->reg[inst->dst].i64 = given.i64 < 0 ? given.i64 + extent : given.i64;
    }
    return pc + 1;
}

/* ---- Callbacks --------------------------------------------------------------------------------------------- */
static void call_f32(const rd_call *call, const rd_word *in, rd_word *y)
{
    const float *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        at[k] = &in[k].f32;
    call->f32(1, at, &y->f32);
}

static void call_f64(const rd_call *call, const rd_word *in, rd_word *y)
{
    const double *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        at[k] = &in[k].f64;
    call->f64(1, at, &y->f64);
}

static void call_block(machine *m, const rd_call *call, const rd_word *in, rd_dtype type, rd_word *y)
{
    _Alignas(8) char operands[RD_MAX_CALL][8], result[8] = { 0 };
    const void      *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++) {
        rd_word_store(operands[k], call->in_type, in[k]);
        at[k] = operands[k];
    }
    const char *sentence = call->block(call->user, 1, at, result);
    if (sentence)
        stop(m, RD_ERR_CALLBACK, "%s: %s", call->name, sentence);
    *y = rd_word_load(result, type);
}

static int32_t run_call(machine *m, const rd_inst *inst, int32_t pc)
{
    const rd_call *call = &m->p->call[inst->arg];
    rd_word       *y    = &m->reg[inst->dst];
    rd_word        in[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        in[k] = m->reg[call->in[k]];
    if (call->f32_1)
        y->f32 = call->f32_1(in[0].f32);
    else if (call->f64_1)
        y->f64 = call->f64_1(in[0].f64);
    else if (call->f32_2)
        y->f32 = call->f32_2(in[0].f32, in[1].f32);
    else if (call->f64_2)
        y->f64 = call->f64_2(in[0].f64, in[1].f64);
    else if (call->block)
        call_block(m, call, in, inst->type, y);
    else if (inst->type == RD_F32)
        call_f32(call, in, y);
    else
        call_f64(call, in, y);
    return pc + 1;
}

/* ---- Folds ------------------------------------------------------------------------------------------------- */
static rd_fold_place place(const machine *m, const rd_fold_state *s)
{
    return (rd_fold_place){ .cell  = position(m, &s->fold->cell),
                            .lane  = position(m, &s->fold->lane),
                            .outer = position(m, &s->fold->outer),
                            .index = s->indexed ? position(m, &s->fold->index) : 0 };
}

static int32_t run_start(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_start(&m->fold[inst->arg]);
    return pc + 1;
}

static int32_t run_step(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state      *s      = &m->fold[inst->arg];
    const rd_fold_place at     = place(m, s);
    const rd_word       weight = inst->b < 0 ? s->one : m->reg[inst->b];

    rd_fold_step(s, &at, m->reg[inst->a], weight, inst->c < 0 || m->reg[inst->c].u64);
    return pc + 1;
}

static int32_t run_scan(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state      *s      = &m->fold[inst->arg];
    const rd_fold_place at     = place(m, s);
    const rd_word       weight = inst->b < 0 ? s->one : m->reg[inst->b];
    const bool          take   = inst->c < 0 || m->reg[inst->c].u64;

    rd_fold_scan(s, &at, m->reg[inst->a], weight, take, &m->reg[inst->dst]);
    return pc + 1;
}

static int32_t run_close(machine *m, const rd_inst *inst, int32_t pc)
{
    rd_fold_state *s = &m->fold[inst->arg];

    rd_fold_close(s, position(m, &s->fold->cell), &m->reg[inst->dst]);
    return pc + 1;
}

/* ---- Tasks ------------------------------------------------------------------------------------------------- */
static handler *const handlers[RD_N_INST] = {
    [RD_I_LOOP] = run_loop,     [RD_I_END] = run_end,     [RD_I_CONST] = run_const, [RD_I_COORD] = run_coord,
    [RD_I_LOAD] = run_load,     [RD_I_STORE] = run_store, [RD_I_MAP] = run_map,     [RD_I_CAST] = run_cast,
    [RD_I_SELECT] = run_select, [RD_I_INDEX] = run_index, [RD_I_CALL] = run_call,   [RD_I_START] = run_start,
    [RD_I_STEP] = run_step,     [RD_I_SCAN] = run_scan,   [RD_I_CLOSE] = run_close, [RD_I_EXIT] = run_exit,
};

/* The next piece of a task's state; of none, to learn how many bytes that takes. */
static void *piece(char *state, int64_t *used, int64_t bytes)
{
    char *at = state ? state + *used : NULL;

    *used += (bytes + 15) / 16 * 16;
    return at;
}

static int64_t lay_out(machine *m, const rd_program *p, char *state)
{
    int64_t used = 0;

    piece(state, &used, sizeof *m);
    m->p    = p;
    m->reg  = piece(state, &used, (p->n_reg + 1) * (int64_t)sizeof *m->reg);
    m->axis = piece(state, &used, p->n_axis * (int64_t)sizeof *m->axis);
    m->loop = piece(state, &used, p->n_loop * (int64_t)sizeof *m->loop);
    m->open = piece(state, &used, p->n_loop * (int64_t)sizeof *m->open);
    m->op   = piece(state, &used, p->n_inst * (int64_t)sizeof *m->op);
    m->size = piece(state, &used, p->n_address * (int64_t)sizeof *m->size);
    m->fold = piece(state, &used, p->n_fold * (int64_t)sizeof *m->fold);
    m->reg += state ? 1 : 0;
    for (int32_t k = 0; k < p->n_fold; k++) {
        char *cells = piece(state, &used, rd_fold_bytes(&p->fold[k]));
        if (state)
            rd_fold_open(&m->fold[k], &p->fold[k], cells);
    }
    return used;
}

static decoded decode(const rd_inst *inst)
{
    const rd_rule  rule    = rd_op_table[inst->op].rule;
    const bool     test    = rule == RD_RULE_COMPARE || rule == RD_RULE_TEST;
    const rd_dtype operand = test ? inst->from : inst->type;

    return (decoded){ rd_op_code(inst->op, rd_dtype_class(operand)), !test && rd_op_narrow(inst->type) };
}

static void prepare(machine *m, const rd_program *p, char *state)
{
    lay_out(m, p, state);
    for (int32_t k = 0; k < p->n_inst; k++)
        if (p->inst[k].kind == RD_I_MAP)
            m->op[k] = decode(&p->inst[k]);
    for (int32_t k = 0; k < p->n_address; k++)
        m->size[k] = rd_dtype_size(p->address[k].type);
}

static void run(machine *m, rd_task *task, int32_t from, int32_t to)
{
    const rd_program *p = m->p;

    m->task   = task;
    m->n_open = 0;
    for (int32_t k = 0; k < p->n_axis; k++)
        m->axis[k] = (range){ 0, 0, p->axis_extent[k] };
    if (p->root >= 0)
        m->axis[p->root] = (range){ task->lo, task->lo, task->hi };
    for (int32_t pc = from; pc < to && task->status == RD_OK;)
        pc = handlers[p->inst[pc].kind](m, &p->inst[pc], pc);
}

static bool probe(void)
{
    return true;
}

static int64_t state_bytes(const rd_program *p)
{
    machine m = { 0 };
    return lay_out(&m, p, NULL);
}

static void head(const rd_program *p, rd_task *task)
{
    machine *m = (machine *)(void *)task->state;

    prepare(m, p, task->state);
    run(m, task, 0, p->body);
}

static void body(const rd_program *p, rd_task *task)
{
    run((machine *)(void *)task->state, task, p->body, p->tail);
}

/* Only folds that tasks share have begun in the head, and have something to join. */
static void join(const rd_program *p, rd_task *into, const rd_task *next)
{
    const machine *m = (machine *)(void *)into->state, *n = (machine *)(void *)next->state;

    if (into->status != RD_OK || next->status != RD_OK)
        return;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].split)
            rd_fold_join(&m->fold[k], &n->fold[k]);
}

static void tail(const rd_program *p, rd_task *task)
{
    run((machine *)(void *)task->state, task, p->tail, p->n_inst);
}

const rd_backend_table rd_backend_cpu = {
    .name = "cpu", .probe = probe, .state_bytes = state_bytes, .head = head, .body = body, .join = join, .tail = tail
};
