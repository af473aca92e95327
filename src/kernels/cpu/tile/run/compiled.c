/* compiled.c - compiled passes in the place of instructions, or of a nest of loops. */
#include "kernels/cpu/tile/run/tiles.h"

/* ---- Which are here -------------------------------------------------------------------------- */
/* The share of the program's work that a run of these instructions is. */
static double work_of(const rd_tiles *m, const rd_task *task, int32_t from, int32_t to)
{
    const rd_program *p      = m->p;
    const int64_t     extent = p->root >= 0 ? p->axis_extent[p->root] : 1;

    if (from != p->body || to != p->tail || extent == 0)
        return 0;
    return p->root >= 0 ? p->work * (double)(task->hi - task->lo) / (double)extent : p->work;
}

void rd_tiles_find_kernels(rd_tiles *m, const rd_task *task, int32_t from, int32_t to)
{
    for (int32_t k = 0; k < m->code->n_pass; k++) {
        rd_pass *pass = m->code->pass[k]->code;

        m->kernels[k] = rd_pass_kernels(pass);
        if (m->code->async && pass && !m->kernels[k] && !m->p->nest && !m->p->whole)
            rd_pass_missed(pass, work_of(m, task, from, to));
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */
static rd_operand operand_now(rd_tiles *m, const rd_pass_operand *o, int32_t *size)
{
    rd_view v;

    if (o->walk.at) {
        *size = o->walk.size;
        return (rd_operand){ rd_tiles_memory(m, &o->walk) + o->offset * o->walk.size, o->walk.row,
                             o->walk.col, o->deep };
    }
    v = o->made ? rd_tiles_target(m, m->code->reg[o->reg].born, o->reg) : rd_tiles_view(m, o->reg);
    *size = rd_elem_size(v.elem);
    return (rd_operand){ v.at, v.row, v.col, 0 };
}

/* Rows that adjoin everywhere are one long row. */
static bool adjoin(const rd_tiles *m, const rd_operand *operand, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (operand[k].row != operand[k].col * m->cols)
            return false;
    return true;
}

/* On m->rows and m->cols. */
static void run_pass(rd_tiles *m, int32_t number)
{
    const rd_tile_pass *pass    = m->code->pass[number];
    const rd_kernels   *kernels = m->kernels[number];
    rd_operand          operand[RD_SPEC_OPERANDS];
    int32_t             size[RD_SPEC_OPERANDS];
    rd_kernel_call      call = {
             .rows = m->rows, .n = m->cols, .operand = operand, .block = pass->block
    };

    for (int32_t k = 0; k < pass->n_operand; k++)
        operand[k] = operand_now(m, &pass->operand[k], &size[k]);
    m->task->loads += (pass->n_load * m->cols + pass->n_row_load) * m->rows;
    if (pass->form != RD_SPEC_MAPS && pass->form != RD_SPEC_PHASES) {
        rd_tiles_steps(m, pass, kernels, operand, size);
        return;
    }
    if (pass->form == RD_SPEC_MAPS && adjoin(m, operand, pass->n_operand)) {
        call.n *= call.rows;
        call.rows = 1;
    }
    kernels->map(&call);
}

/* A loop's range, entered: the axis at its first index. */
static rd_axis_range enter(rd_tiles *m, int32_t loop, int64_t *n)
{
    rd_axis_range *axis = &m->axis[m->p->loop[loop].axis], range = *axis;

    *n          = range.hi - range.lo;
    axis->index = range.lo;
    return range;
}

static void run_nest(rd_tiles *m, int32_t number)
{
    const rd_tile_pass *pass  = m->code->pass[number];
    const rd_level      level = m->level;
    rd_axis_range       cols, rows = { 0 };

    m->rows = 1;
    cols    = enter(m, pass->cols, &m->cols);
    if (pass->rows >= 0)
        rows = enter(m, pass->rows, &m->rows);
    m->level = RD_AT_TILE;
    if (m->rows > 0 && m->cols > 0)
        run_pass(m, number);
    m->level                             = level;
    m->axis[m->p->loop[pass->cols].axis] = cols;
    if (pass->rows >= 0)
        m->axis[m->p->loop[pass->rows].axis] = rows;
    m->rows = m->cols = 1;
}

void rd_tiles_pass(rd_tiles *m, int32_t number)
{
    if (m->code->pass[number]->nest)
        run_nest(m, number);
    else
        run_pass(m, number);
}
