/* better.c - programs for which the tile machine has a faster way than a compiled nest. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile/plan/plan.h"

/* Along the innermost loops of more indices than this, rows are long. */
enum { LONG = 256 };

static bool in_long_rows(const rd_program *p, int32_t i)
{
    const int32_t loop = rd_loop_around(p, i);

    return loop >= 0 && p->axis_extent[p->loop[loop].axis] >= LONG && !p->loop[loop].backwards;
}

/* Floats side by side, or one for all of a row? */
static bool is_row(const rd_program *p, int32_t i)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    const int32_t     loop = rd_loop_around(p, i);
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
    const int32_t     axis = p->loop[rd_loop_around(p, i)].axis;

    for (int32_t k = 0; k < cell->n_add; k++)
        if (cell->add[k].axis == axis)
            return false;
    return true;
}

/* Folds of long rows of floats, with what is computed from them: kernels, and passes that keep what
 * they fold in registers, are faster than nests yet. */
static bool folds_rows(const rd_program *p)
{
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *inst = &p->inst[i];
        const bool     step = inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;

        if (step && (inst->c >= 0 || !in_long_rows(p, i) || !is_along(p, inst, i) ||
                     rd_dtype_kind(p->fold[inst->arg].type) != RD_KIND_FLOAT))
            return false;
        if (inst->kind == RD_I_LOAD && !is_row(p, i))
            return false;
        steps += step;
    }
    return steps > 0;
}

/* A nest fills an array with what the exponentials are of, and memory waits while it takes them:
 * columns of f32 take three times what tiles do, which read ahead. */
static bool folds_exponentials(const rd_program *p)
{
    bool found = false;

    for (int32_t i = p->body; i < p->tail; i++)
        found |= p->inst[i].kind == RD_I_STEP && p->inst[i].c < 0 &&
                 (p->fold[p->inst[i].arg].reducer == RD_RED_logsumexp ||
                  p->fold[p->inst[i].arg].reducer == RD_RED_maxsumexp);
    return found;
}

/* Elements that are neighbours along one axis and are stored along another, both long: squares of
 * them are turned in registers.  Short rows nests take as they are. */
static bool turns_operands(const rd_program *p, const rd_tile_code *code)
{
    enum { SHORT = 16 };
    bool found = false, calls = false;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_address *at   = p->inst[i].kind == RD_I_LOAD ? &p->address[p->inst[i].arg] : NULL;
        const int32_t     loop = at ? rd_loop_around(p, i) : -1;
        bool              near = false;

        for (int32_t k = 0; loop >= 0 && k < at->n_add; k++)
            near |= at->add[k].axis >= 0 && (at->add[k].coef == 1 || at->add[k].coef == -1) &&
                    at->add[k].axis != p->loop[loop].axis &&
                    p->axis_extent[at->add[k].axis] > SHORT;
        found |= (code->square || code->inst[i].turns) && near &&
                 p->axis_extent[p->loop[loop].axis] > SHORT;
        calls |= p->inst[i].kind == RD_I_CALL;
    }
    return found && !calls;
}

/* Elements of the largest result. */
static double most_stored(const rd_program *p)
{
    double most = 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_address *at    = &p->address[p->inst[i].kind == RD_I_STORE ? p->inst[i].arg : 0];
        double            count = p->inst[i].kind == RD_I_STORE && at->slot < p->first_scratch;

        for (int32_t k = 0; k < at->n_add; k++)
            if (at->add[k].axis >= 0)
                count *= (double)p->axis_extent[at->add[k].axis];
        most = count > most ? count : most;
    }
    return most;
}

/* Pairs of which no matrix is stored. */
static bool folds_pairs(const rd_program *p, const rd_tile_code *code)
{
    enum { FEW = 64 };
    bool found = false;

    for (int32_t k = 0; k < code->n_pass; k++)
        found |= code->pass[k]->nest && code->pass[k]->form != RD_SPEC_PHASES;
    return found && most_stored(p) * FEW < p->work;
}

const char *rd_cpu_better(const rd_program *p)
{
    static const double LITTLE = 1e6;
    const rd_tile_code *code   = p->code;

    if (!code || code->total || p->work <= LITTLE)
        return code && code->total ? "one kernel does all" : NULL;
    if (turns_operands(p, code))
        return "operands are turned in registers";
    if (folds_pairs(p, code))
        return "pairs are one compiled pass";
    return folds_rows(p)           ? "long rows are folded by kernels"
           : folds_exponentials(p) ? "exponentials of steps are taken while memory is read"
                                   : NULL;
}
