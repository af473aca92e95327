/* squares.c - operands that run against the loops: the rows of a tile are neighbours in memory, its columns far apart.
 *
 * Tiles of such a loop are squares, so that cache lines are used whole while they are near, whichever way they lie; on
 * their way between memory and buffers elements are turned in registers (simd/turn.h), or on their way into a fold
 * (simd/turned.h).  No prefetcher follows squares, so each fetches the one below it. */
#include "kernels/cpu/tile/tile.h"
#include <string.h>

/* Columns of a square turned between two rounds of fetching: a core cannot wait for more lines in one go. */
enum { STRIP = 16 };
/* Arrays up to this size stay in a second-level cache and are not fetched. */
static const int64_t NEAR_BYTES = 512 << 10;

/* ---- Plan -------------------------------------------------------------------------------------------------- */
/* May all rows take some of their columns before any takes the others?  If each row, or each column, has cells of its
 * own; rows of a block, that is, of cells that move on together. */
static bool takes_columns_apart(const rd_tile_fold *f)
{
    return f->own_rows || f->cell.row != 0 || f->form == RD_FOLD_COLUMNS ||
           (f->form == RD_FOLD_ELEMENTS && f->cell.col != 0 && f->fold->lanes > 1);
}

/* What goes wrong must be reported in the order of rows. */
static bool may_be_square(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    bool turns = false;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (code->inst[i].level != RD_AT_TILE)
            continue;
        turns |= code->inst[i].turns;
        if (inst->kind == RD_I_INDEX || inst->kind == RD_I_CALL)
            return false;
        if ((inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) && !takes_columns_apart(&code->fold[inst->arg]))
            return false;
    }
    return turns;
}

static bool is_far(const rd_program *p, const rd_inst *inst)
{
    const rd_address *at = &p->address[inst->arg];

    return inst->kind == RD_I_LOAD && at->slot < p->first_scratch && rd_tile_bytes(p, at) > NEAR_BYTES;
}

/* What is fetched, and when: operands that are turned by themselves, the others of a loop over columns along with the first
 * that is. */
static void plan_fetching(const rd_program *p, rd_tile_code *code, int32_t begin)
{
    int32_t first = -1;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        rd_tile_inst *t = &code->inst[i];

        t->fetch = t->turns && is_far(p, &p->inst[i]);
        if (t->turns && first < 0)
            first = i;
    }
    for (int32_t i = begin + 1; first >= 0 && i < p->loop[p->inst[begin].arg].end; i++)
        if (code->inst[i].direct && code->inst[i].walk.row != 0 && is_far(p, &p->inst[i])) {
            code->inst[i].beside     = code->inst[first].beside;
            code->inst[first].beside = i;
        }
}

/* The LOAD that turns memory of this element for the one instruction that reads the register, with nothing stored before
 * that; or -1. */
static int32_t only_turned(const rd_program *p, const rd_tile_code *code, int32_t reg, rd_elem elem, int32_t reader)
{
    const int32_t       from = code->reg[reg].born;
    const rd_tile_inst *load = &code->inst[from];

    if (p->inst[from].kind != RD_I_LOAD || !load->turns || load->walk.row != 1 || code->reg[reg].uses != 1 ||
        code->reg[reg].elem != elem || load->walk.size != rd_elem_size(elem))
        return -1;
    for (int32_t i = from; i < reader; i++)
        if (p->inst[i].kind == RD_I_STORE || code->inst[i].into >= 0)
            return -1;
    return from;
}

/* Does the map give the same for operands that have changed places? */
static bool commutes(rd_fused as)
{
    return as != RD_FUSED_sub;
}

/* Operand y of a fused step goes from memory into the step's registers if its columns are cells and its rows steps. */
static void fuse_turned(const rd_program *p, rd_tile_code *code, int32_t i)
{
    rd_tile_inst       *t = &code->inst[i];
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];
    int32_t             x = t->x, y = t->y;

    if (y < 0 || x == y || f->form != RD_FOLD_COLUMNS || f->own_rows || f->cell.row != 0 ||
        f->outer.row * f->row_steps + f->lane.row != 1 || !code->simd->turned[f->elem] ||
        !code->simd->turned[f->elem][f->fold->reducer][t->fused])
        return;
    if (only_turned(p, code, y, f->elem, i) < 0 && commutes(t->fused)) {
        x = t->y;
        y = t->x;
    }
    t->turned = only_turned(p, code, y, f->elem, i);
    if (t->turned < 0)
        return;
    t->x                       = x;
    t->y                       = y;
    code->inst[t->turned].skip = true;
}

static void plan_loop(const rd_program *p, rd_tile_code *code, int32_t begin)
{
    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_LOOP) {
            code->loop[inst->arg].square = true;
            plan_fetching(p, code, i);
        }
        if ((inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) && code->inst[i].level == RD_AT_TILE)
            code->fold[inst->arg].in_square = true;
        if (inst->kind == RD_I_STEP && code->inst[i].level == RD_AT_TILE)
            fuse_turned(p, code, i);
    }
    code->loop[p->inst[begin].arg].square = code->square = true;
}

void rd_tile_squares(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role == RD_LOOP_ROWS &&
            may_be_square(p, code, i))
            plan_loop(p, code, i);
}

/* ---- Run --------------------------------------------------------------------------------------------------- */
int64_t rd_tiles_rows_of_block(const rd_tiles *m, int64_t rows)
{
    for (int32_t k = 0; k < m->p->n_fold; k++) {
        const rd_tile_fold *f    = &m->code->fold[k];
        const int64_t       each = f->outer.row * f->row_steps + f->lane.row, steps = f->fold->steps;
        int64_t             left;

        if (!f->in_square || f->form != RD_FOLD_COLUMNS || each <= 0)
            continue;
        left = steps - (rd_tiles_position(m, f->outer.at) * f->row_steps + rd_tiles_position(m, f->lane.at)) % steps;
        rows = rows < left / each + (left % each != 0) ? rows : left / each + (left % each != 0);
    }
    return rows;
}

/* A part of what is fetched along with instruction pc: rows of the squares below. */
static void fetch(const rd_tiles *m, int32_t pc, int64_t first, int64_t last)
{
    for (int32_t k = m->code->inst[pc].beside; k >= 0; k = m->code->inst[k].beside) {
        const rd_walk *w     = &m->code->inst[k].walk;
        const char    *below = rd_tiles_memory(m, w) + m->rows * w->row * w->size;

        for (int64_t r = first; r < last; r++)
            for (int64_t line = 0; line < m->cols * w->size; line += 64)
                __builtin_prefetch(below + r * w->row * w->size + line, 0, 2);
    }
}

/* Columns [c, c + n) between the memory of instruction pc and a tile with rows `ld` elements apart. */
static void turn(const rd_tiles *m, int32_t pc, rd_simd_turn *kernel, char *tile, int64_t ld, int64_t c, int64_t n)
{
    const rd_tile_inst *t      = &m->code->inst[pc];
    const rd_walk      *w      = &t->walk;
    const int64_t       last   = w->row < 0 ? m->rows - 1 : 0; /* rows that lie backwards are taken backwards */
    char               *memory = rd_tiles_memory(m, w) + (c * w->col - last) * w->size;

    tile += (c + last * ld) * w->size;
    ld = ld * w->row;
    if (m->p->inst[pc].kind == RD_I_LOAD)
        kernel(m->rows, n, tile, ld, memory, w->col, t->fetch ? m->rows * w->row : 0);
    else
        kernel(n, m->rows, memory, w->col, tile, ld, 0);
}

static void turn_all(const rd_tiles *m, int32_t pc, char *tile, int64_t ld)
{
    const int64_t strip = m->rows < RD_SQUARE ? STRIP * RD_SQUARE / m->rows : STRIP;

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = m->cols - c < strip ? m->cols - c : strip;
        turn(m, pc, m->code->simd->turn[m->code->inst[pc].walk.size], tile, ld, c, n);
        fetch(m, pc, c * m->rows / m->cols, (c + n) * m->rows / m->cols);
    }
}

void rd_tiles_turn_in(const rd_tiles *m, int32_t pc, const rd_view *y)
{
    const rd_walk *w    = &m->code->inst[pc].walk;
    const bool     same = rd_elem_size(y->elem) == w->size && w->at->type != RD_BOOL;
    char *const    to   = same ? y->at : m->spare;

    turn_all(m, pc, to, same ? y->row : m->cols);
    for (int64_t r = 0; r < m->rows && !same; r++)
        m->code->simd->load[w->at->type](m->cols, rd_view_at(y, r, 0), to + r * m->cols * w->size, 1);
}

void rd_tiles_turn_out(const rd_tiles *m, int32_t pc, const rd_view *x)
{
    const rd_walk *w    = &m->code->inst[pc].walk;
    const bool     same = rd_elem_size(x->elem) == w->size;
    char *const    from = same ? x->at : rd_tiles_second_spare(m);

    for (int64_t r = 0; r < m->rows && !same; r++)
        m->code->simd->store[w->at->type](m->cols, from + r * m->cols * w->size, 1, rd_view_at(x, r, 0));
    turn_all(m, pc, from, same ? x->row : m->cols);
}

/* The operand of a step whose kernel turns it, as it lies. */
rd_view rd_tiles_turned(const rd_tiles *m, int32_t load, rd_fold_rows *q)
{
    const rd_tile_inst *t = &m->code->inst[load];

    q->coly  = t->walk.col;
    q->below = t->fetch ? m->rows : 0;
    if (t->walk.at->slot < m->p->first_scratch)
        m->task->loads += m->rows * m->cols;
    return (rd_view){ rd_tiles_memory(m, &t->walk), 1, 0, m->code->reg[m->p->inst[load].dst].elem };
}

/* ---- From memory to memory --------------------------------------------------------------------------------- */
/* Rows that adjoin on both sides are one. */
static void move_rows(const rd_tiles *m, const rd_tile_inst *t, const char *from, int64_t ld)
{
    const rd_walk *w     = &t->walk;
    const bool     one   = ld == m->cols && w->row == m->cols;
    char          *to    = rd_tiles_memory(m, w);
    const int64_t  bytes = (one ? m->rows : 1) * m->cols * w->size;

    for (int64_t r = 0; r < (one ? 1 : m->rows); r++, from += ld * w->size, to += w->row * w->size)
        if (t->stream)
            m->code->simd->stream(bytes, to, from);
        else
            memmove(to, from, (size_t)bytes);
}

/* Rows of memory that are columns of other memory; past the caches, straight from registers where lines allow it. */
static void move_turned(const rd_tiles *m, const rd_tile_inst *t, int32_t load)
{
    const rd_walk *w    = &t->walk;
    rd_simd_turn  *past = m->code->simd->turn_past[w->size];
    char          *to   = rd_tiles_memory(m, w);

    if (!t->stream)
        turn_all(m, load, to, w->row);
    else if (past && ((uintptr_t)to | (uintptr_t)(w->row * w->size)) % 64 == 0)
        turn(m, load, past, to, w->row, 0, m->cols);
    else {
        turn_all(m, load, m->spare, m->cols);
        move_rows(m, t, m->spare, m->cols);
    }
}

void rd_tiles_move(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_inst *load = &m->code->inst[t->moves];
    char *const         from = rd_tiles_memory(m, &load->walk);

    if (load->walk.at->slot < m->p->first_scratch)
        m->task->loads += m->rows * m->cols;
    if (t->turns)
        turn_all(m, pc, from, load->walk.row);
    else if (load->turns)
        move_turned(m, t, t->moves);
    else
        move_rows(m, t, from, load->walk.row);
}
