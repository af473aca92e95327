/* better.c - programs for which the tile machine has a faster way than a compiled nest. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile/plan/plan.h"
#include "kernels/loop/price.h"
#include <math.h>

/* Along the innermost loops of more indices than this, rows are long. */
enum { LONG = 256 };

static bool in_long_rows(const rd_program *p, int32_t i)
{
    const int32_t loop = p->inst[i].loop;

    return loop >= 0 && p->axis_extent[p->loop[loop].axis] >= LONG && !p->loop[loop].backwards;
}

/* Floats side by side, or one for all of a row? */
static bool is_row(const rd_program *p, int32_t i)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    const int32_t     loop = p->inst[i].loop;
    int64_t           coef = 0;

    for (int32_t k = 0; loop >= 0 && k < at->n_add; k++) {
        if (at->add[k].axis < 0)
            return false;
        coef += at->add[k].axis == p->loop[loop].axis ? at->add[k].coef : 0;
    }
    return (at->type == RD_F32 || at->type == RD_F64) && (coef == 0 || coef == 1);
}

/* Is the loop around the step over elements of the same cell? */
static bool is_along(const rd_program *p, const rd_inst *inst, int32_t i)
{
    const rd_address *cell = &p->fold[inst->arg].cell;
    const int32_t     axis = p->loop[p->inst[i].loop].axis;

    for (int32_t k = 0; k < cell->n_add; k++)
        if (cell->add[k].axis == axis)
            return false;
    return true;
}

/* Is there a kernel for whole rows of the step, with all that is done to an element before? */
static bool has_kernel(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_inst *t = &code->inst[i];
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];

    return f->best ||
           (code->simd->blocks[t->from] && code->simd->blocks[t->from][f->fold->reducer][t->fused]);
}

/* Is the instruction, one for each element, a load of a row, a step or a scan of it by a kernel, or
 * the store of the scan? */
static bool is_in_kernels(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_LOAD: return is_row(p, i);
    case RD_I_STORE: return p->inst[code->reg[inst->a].born].kind == RD_I_SCAN;
    case RD_I_STEP: return inst->c < 0 && is_along(p, inst, i) && has_kernel(p, code, i);
    case RD_I_SCAN:
        return inst->c < 0 && is_along(p, inst, i) && code->fold[inst->arg].form == RD_FOLD_ALONG;
    default: return code->inst[i].skip;
    }
}

/* Folds and scans of long rows of floats, all by kernels, two at most: each passes over the row. */
static bool folds_rows(const rd_program *p, const rd_tile_code *code)
{
    enum { FEW = 2 };
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *inst = &p->inst[i];

        if (code->inst[i].level != RD_AT_TILE)
            continue;
        if (!in_long_rows(p, i) || !is_in_kernels(p, code, i))
            return false;
        if (inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) {
            if (rd_dtype_kind(p->fold[inst->arg].type) != RD_KIND_FLOAT)
                return false;
            steps++;
        }
    }
    return steps > 0 && steps <= FEW;
}

/* Does a kernel widen what the step takes, as it reads it?  Small ints of one block nests add up
 * faster (rows of 1,000 bytes: 5 times). */
static bool widens(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_elem elem = (rd_elem)code->reg[p->inst[i].a].elem;

    return rd_elem_is_half(elem) ||
           (code->inst[i].small >= 0 && code->fold[p->inst[i].arg].fold->n_block > 1);
}

/* Results that take neighbours in turn: compilers take apart what lies side by side, but by twos
 * and fours that costs little. */
static bool folds_channels(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];

    return f->form == RD_FOLD_CHANNELS && f->cells != 2 && f->cells != 4 && !f->masked &&
           !f->weighted && rd_reducer_table[f->fold->reducer].n_state == 1 &&
           code->reg[p->inst[i].a].elem == rd_elem_of(p->inst[i].type) &&
           rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT;
}

/* Nothing for each element but loads, and steps on them as the function says. */
static bool folds_only(const rd_program *p, const rd_tile_code *code,
                       bool (*is)(const rd_program *p, const rd_tile_code *code, int32_t step))
{
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_tile_inst *t = &code->inst[i];

        if (t->level != RD_AT_TILE || t->skip)
            continue;
        if (p->inst[i].kind == RD_I_STEP ? !is(p, code, i)
                                         : p->inst[i].kind != RD_I_LOAD || !t->direct)
            return false;
        steps += p->inst[i].kind == RD_I_STEP;
    }
    return steps > 0;
}

/* Columns, or rows of many elements a lane?  Of rows of a few, lanes merge by exponentials most of
 * the time. */
static bool is_long(const rd_tile_fold *f)
{
    enum { FEW = 8 };
    const rd_fold *fold = f->fold;

    if (f->form != RD_FOLD_RUN)
        return f->form == RD_FOLD_COLUMNS;
    return fold->n_block > 1 || fold->lane_extent >= (int64_t)FEW * fold->lanes;
}

/* Exponentials of what lies in memory: a nest fills arrays and takes one and a half times as long
 * as tiles, whose kernel reads ahead. */
static bool folds_exponentials(const rd_program *p, const rd_tile_code *code)
{
    bool found = false;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *step = &p->inst[i];

        if (step->kind != RD_I_STEP || !rd_takes_exponential(p, step) || step->b >= 0 ||
            step->c >= 0)
            continue;
        if (!is_long(&code->fold[step->arg]) || p->inst[code->reg[step->a].born].kind != RD_I_LOAD)
            return false;
        found = true;
    }
    return found;
}

/* Elements that are neighbours along one axis and are stored along another, both long: squares of
 * them are turned in registers.  Short rows nests take as they are; and what calls functions, or
 * takes an exponential for each element, gains nothing. */
static bool turns_operands(const rd_program *p, const rd_tile_code *code)
{
    enum { SHORT = 16 };
    bool found = false, calls = false;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_address *at   = p->inst[i].kind == RD_I_LOAD ? &p->address[p->inst[i].arg] : NULL;
        const int32_t     loop = at ? p->inst[i].loop : -1;
        bool              near = false;

        for (int32_t k = 0; loop >= 0 && k < at->n_add; k++)
            near |= at->add[k].axis >= 0 && (at->add[k].coef == 1 || at->add[k].coef == -1) &&
                    at->add[k].axis != p->loop[loop].axis &&
                    p->axis_extent[at->add[k].axis] > SHORT;
        found |= (code->square || code->inst[i].turns) && near &&
                 p->axis_extent[p->loop[loop].axis] > SHORT;
        calls |= p->inst[i].kind == RD_I_CALL ||
                 (p->inst[i].kind == RD_I_STEP && rd_takes_exponential(p, &p->inst[i]));
    }
    return found && !calls;
}

/* Sums by labels that lie in memory, of what lies there or takes functions.  A kernel adds without a
 * look at whether a label is a new one, and takes functions by vectors.  A nest has other maps at
 * hand; and labels of a pattern come in runs, or near each other. */
static bool sums_by_label(const rd_program *p, const rd_tile_code *code)
{
    bool steps = false, maps = false, functions = false;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst      *inst = &p->inst[i];
        const rd_tile_inst *t    = &code->inst[i];

        if (t->level != RD_AT_TILE || t->skip)
            continue;
        if (inst->kind == RD_I_STEP ? !t->sums || t->label < 0 || p->fold[inst->arg].of_pattern
                                    : inst->kind == RD_I_LOAD && t->walk.gathers)
            return false;
        steps |= inst->kind == RD_I_STEP;
        maps |= inst->kind != RD_I_STEP && inst->kind != RD_I_LOAD;
        functions |= rd_inst_is_function(inst);
    }
    return steps && (!maps || functions);
}

/* A total of few elements, or a plane of few, is not worth a call: nests have none. */
static bool calls_are_long(const rd_tile_total *t)
{
    enum { FEW = 16, PLANE = 1024 };

    return t->rows ? t->rows->extent * t->n >= PLANE : t->n >= FEW;
}

/* A nest has the steps of a caller's reducer in its loops. */
static bool folds_for_users(const rd_program *p)
{
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].reducer == RD_RED_user)
            return true;
    return false;
}

/* The rule says why tiles are faster, for each kind of program that was measured: their kernels read
 * ahead, and widen or turn operands while they fold. */
static const char *by_rule(const rd_program *p, const rd_tile_code *code)
{
    if (folds_for_users(p))
        return NULL;
    if (turns_operands(p, code))
        return "operands are turned in registers";
    if (folds_only(p, code, widens))
        return "kernels widen what they fold";
    if (sums_by_label(p, code))
        return "kernels sum by label";
    if (folds_only(p, code, folds_channels))
        return "neighbours are folded in turn by kernels";
    return folds_rows(p, code)           ? "long rows are folded by kernels"
           : folds_exponentials(p, code) ? "exponentials of steps are taken while memory is read"
                                         : NULL;
}

/* ---- By price --------------------------------------------------------------------------------- */
/* Kernels pass over the same memory as compiled loops. */
static double tiles_ns(const rd_program *p, const rd_speeds *s, const rd_price *nest)
{
    return nest->start + fmax(rd_tile_compute_ns(p, p->code, s), nest->memory);
}

/* Prices of both are some 40 % off in the mean, so what was measured stands until one is twice as dear:
 * of 102 sweep expressions with more than 30 us of work rules alone take 1.073 of the better way's time,
 * prices alone 1.091, both 1.038.  Usual speeds count: the strict mode follows from the way. */
bool rd_cpu_ways(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *a)
{
    enum { DEAR = 2 };
    const rd_speeds s    = rd_speeds_usual(rd_cpu_vector());
    const char     *rule = by_rule(p, p->code);
    rd_price        nest;

    *a = (rd_alternatives){ 0 };
    if (!rd_program_price(p, true, &s, 1, get, pool, &nest))
        return false;
    rd_offer(a,
             (rd_alternative){ "compiled loops", nest.ns > 0 ? nest.ns : (double)NAN, 0, false });
    rd_offer(a, (rd_alternative){ "tiles", tiles_ns(p, &s, &nest), 1, false });
    rd_take_unless_dear(a, rule ? 1 : 0, rule ? rule : "no faster kernels are known", DEAR);
    return true;
}

bool rd_cpu_find_better(const rd_program *p, rd_get_fn *get, void *pool, const char **better)
{
    static const double LITTLE = 1e6;
    const rd_tile_code *code   = p->code;
    rd_alternatives     a;

    *better = NULL;
    if (code && code->total && calls_are_long(code->total))
        *better = "one kernel does all";
    else if (code && p->n_sorting && !rd_orders_folds(p))
        *better = "rows are put in order by a routine";
    else if (code && p->work > LITTLE && !folds_for_users(p)) {
        if (!rd_cpu_ways(p, get, pool, &a))
            return false;
        if (a.at[a.taken].what)
            *better = a.rule ? a.rule : "tiles are cheaper";
    }
    return true;
}

const char *rd_cpu_better(const rd_program *p)
{
    return p->code ? ((const rd_tile_code *)p->code)->better : NULL;
}
