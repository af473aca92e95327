/* joined_values.c - instructions that join: what they load at places, and choose by comparisons of
 * places, comes piece by piece (tile/plan/seams.c).
 *
 * A tile is cut at the seams of its axes into boxes.  In a box each place is a sum of indices, and
 * each choice is one side.  So a box is copied, or loaded with strides; where a tile is one box of
 * contiguous rows, its register is the memory itself.
 *
 * Fields. Strides .row and .col say how far a position moves from row to row and from column to
 * column. */
#include "kernels/cpu/tile/run/views.h"
#include <string.h>

/* A box of a tile, a part of it that lies in one piece (range) of each axis: its first row and
 * column, and how many. */
typedef struct box {
    int64_t row, col, rows, cols;
} box;

/* ---- Pieces ---------------------------------------------------------------------------------- */
/* Returns the number of the piece (range) of an axis that contains an index. Piece k begins at
 * index from[k]. */
static int32_t piece_at(const rd_axis_pieces *pieces, int64_t index)
{
    int32_t k = 0;

    while (k + 1 < pieces->n && pieces->from[k + 1] <= index)
        k++;
    return k;
}

/* Returns the index of an axis at the first element of box b (a part of the tile) of instruction t.
 * row_axis and col_axis are the axes of the tile's rows and columns; the index of another axis is
 * the same in all of the tile. */
static int64_t index_in(const rd_tiles *m, const rd_tile_inst *t, int32_t axis, const box *b)
{
    return m->axis[axis].index + (axis == t->row_axis ? b->row : 0) +
           (axis == t->col_axis ? b->col : 0);
}

/* Returns what a place (an index that is moved or clamped) is in a box of the tile: coef * index +
 * offset; of a comparison of places 0 or 1, in `offset`. form_axis is the axis whose index decides
 * the form, -1: the place is a number. */
static rd_place_form form_in(const rd_tiles *m, const rd_tile_inst *t, int32_t reg, const box *b)
{
    const rd_tile_reg *r = &m->code->reg[reg];

    return r->form_axis < 0
               ? r->form[0]
               : r->form[piece_at(&m->code->pieces[r->form_axis], index_in(m, t, r->form_axis, b))];
}

/* Returns how many of the n indices from `index` on are in the same piece (range) of an axis; all
 * of them if the axis is -1. */
static int64_t left_in_piece(const rd_tiles *m, int32_t axis, int64_t index, int64_t n)
{
    const rd_axis_pieces *pieces = axis < 0 ? NULL : &m->code->pieces[axis];

    return pieces ? rd_least(n, pieces->from[piece_at(pieces, index) + 1] - index) : n;
}

/* ---- A box ----------------------------------------------------------------------------------- */
/* Returns the memory of box b (a part of a tile in which each index register is a plain sum) at the
 * address of LOAD pc; *row and *col get its strides, in elements. An addend with axis -1 is a
 * register that holds a place: in the box this is form.coef * index + form.offset, so the index
 * moves the address, and coef its stride along rows or columns. */
static const char *memory_in(const rd_tiles *m, int32_t pc, const box *b, int64_t *row,
                             int64_t *col)
{
    const rd_tile_inst    *t  = &m->code->inst[pc];
    const rd_tile_strides *w  = &t->strides;
    int64_t                at = rd_tiles_position(m, w->at) + b->row * w->row + b->col * w->col;

    *row = w->row;
    *col = w->col;
    for (int32_t k = 0; k < w->at->n_add; k++) {
        const rd_addend *add = &w->at->add[k];

        if (add->axis >= 0)
            continue;
        const rd_place_form form = form_in(m, t, add->reg, b);
        const int32_t       axis = m->code->reg[add->reg].form_axis;

        at += add->coef * form.offset;
        if (axis < 0)
            continue;
        at += add->coef * form.coef * index_in(m, t, axis, b);
        *row += axis == t->row_axis ? add->coef * form.coef : 0;
        *col += axis == t->col_axis ? add->coef * form.coef : 0;
    }
    return (const char *)m->task->slot[w->at->slot] + at * w->size;
}

/* Loads box b of the tile of LOAD pc into y, with strides; as one run if its rows are contiguous.
 * task->loads counts elements that are read outside of scratch (temporary memory of the task). */
static void load_box(rd_tiles *m, int32_t pc, const box *b, const rd_reg_view *y)
{
    const rd_tile_strides *w = &m->code->inst[pc].strides;
    int64_t                row, col;
    const char *const      from = memory_in(m, pc, b, &row, &col);
    const bool             one  = b->rows == 1 || (row == b->cols * col && y->row == b->cols);

    if (w->at->slot < m->p->first_scratch) /* not scratch */
        m->task->loads += b->rows * b->cols;
    for (int64_t r = 0; r < (one ? 1 : b->rows); r++)
        m->code->simd->load[w->at->type](one ? b->rows * b->cols : b->cols,
                                         rd_view_at(y, b->row + r, b->col),
                                         from + r * row * w->size, col);
}

/* Fills n elements with the first one, by doubling. */
static void repeat(char *to, int64_t n, int64_t size)
{
    for (int64_t k = 1; k < n; k *= 2)
        memcpy(to + k * size, to, (size_t)(rd_least(k, n - k) * size));
}

/* Copies box b of the tile x into the same box of the tile y.  Elements of a scalar are
 * repeated. */
static void copy_box(const rd_reg_view *x, const box *b, const rd_reg_view *y)
{
    const int64_t size = rd_elem_size(y->elem);

    for (int64_t r = b->row; r < b->row + b->rows; r++) {
        char *const       to   = rd_view_at(y, r, b->col);
        const char *const from = rd_view_at(x, r, b->col);

        if (to == from) /* the tile took over the buffer of x */
            continue;
        memcpy(to, from, (size_t)(size * (x->col ? b->cols : 1)));
        if (!x->col)
            repeat(to, b->cols, size);
    }
}

/* ---- A tile ---------------------------------------------------------------------------------- */
/* Returns the register whose value an instruction that joins gives in box b: follows the chosen
 * side of each SELECT. A LOAD gives its own. A side that joins and is skipped has no register
 * filled, so its own choice is followed. */
static int32_t chosen_in(const rd_tiles *m, int32_t pc, const box *b)
{
    const rd_inst *inst = &m->p->inst[pc];

    while (inst->kind == RD_I_SELECT) {
        const bool    side = form_in(m, &m->code->inst[pc], inst->a, b).offset;
        const int32_t reg  = side ? inst->b : inst->c;

        pc   = m->code->reg[reg].born; /* the instruction that makes it */
        inst = &m->p->inst[pc];
        if (!m->code->inst[pc].by_pieces || !m->code->inst[pc].skip)
            return reg;
    }
    return inst->dst;
}

/* Returns the LOAD that instruction pc runs itself to have the value of `reg`; -1: the register has
 * it. A LOAD that joins fills no register if it is skipped, or if it is pc itself. */
static int32_t load_of(const rd_tiles *m, int32_t pc, int32_t reg)
{
    const int32_t from = m->code->reg[reg].born; /* the instruction that makes it */

    return m->code->inst[from].by_pieces && (from == pc || m->code->inst[from].skip) ? from : -1;
}

/* Returns the memory of box b, if instruction pc reads contiguous rows there that need no
 * conversion; else NULL. *load gets the LOAD, *row the distance of rows in elements. A native type
 * is the same in memory and in registers. */
static const char *rows_in(const rd_tiles *m, int32_t pc, const box *b, int32_t *load, int64_t *row)
{
    int64_t     col;
    const char *from;

    *load = load_of(m, pc, chosen_in(m, pc, b));
    if (*load < 0 || !rd_tile_is_native(m->code->inst[*load].strides.at->type))
        return NULL;
    from = memory_in(m, *load, b, row, &col);
    return col == 1 ? from : NULL;
}

/* Makes the register of instruction pc the memory itself (a view, no copy), if box b is the whole
 * tile and consists of contiguous rows. False if that is not so, or if a STORE wants the results in
 * its own memory (into >= 0). The memory is only read. */
static bool is_memory(rd_tiles *m, int32_t pc, const box *b)
{
    rd_reg_view *y = &m->reg[m->p->inst[pc].dst];
    int32_t      load;
    int64_t      row;
    const char  *from;

    if (m->code->inst[pc].stores_into >= 0 || b->rows < m->rows || b->cols < m->cols ||
        !(from = rows_in(m, pc, b, &load, &row)))
        return false;
    if (m->code->inst[load].strides.at->slot < m->p->first_scratch) /* not scratch */
        m->task->loads += m->rows * m->cols;
    y->at  = (char *)from;
    y->row = row;
    y->col = 1;
    return true;
}

/* Runs an instruction that joins in box b of its tile y: loads the box, or copies it from the
 * chosen register. load_of() is -1 if a register holds the value. */
static void join_box(rd_tiles *m, int32_t pc, const box *b, const rd_reg_view *y)
{
    const int32_t reg = chosen_in(m, pc, b), load = load_of(m, pc, reg);

    if (load >= 0) {
        load_box(m, load, b, y);
    } else {
        const rd_reg_view x = rd_tiles_view(m, reg);

        copy_box(&x, b, y);
    }
}

/* Sets the size of the box (a part of the tile in one piece, or range, of each axis) that begins at
 * row b->row and column b->col: it ends with the tile, or where a piece of an axis does. A tile of
 * one row ends no piece of the rows' axis. */
static void size_box(const rd_tiles *m, const rd_tile_inst *t, box *b)
{
    b->rows = m->rows - b->row;
    b->cols = left_in_piece(m, t->col_axis, index_in(m, t, t->col_axis, b), m->cols - b->col);
    if (m->rows > 1)
        b->rows = left_in_piece(m, t->row_axis, index_in(m, t, t->row_axis, b), b->rows);
}

/* Runs a LOAD at moved or clamped indices, or a SELECT by a comparison of such, box by box: within
 * a box, one piece of each axis, each index is a plain sum and each choice is one side. If one box
 * is the whole tile, the register may be the memory itself. */
void rd_tiles_join(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t = &m->code->inst[pc];
    rd_reg_view         y;
    box                 b = { 0 };

    size_box(m, t, &b);
    if (is_memory(m, pc, &b))
        return;
    y = rd_tiles_target(m, pc, m->p->inst[pc].dst);
    for (; b.row < m->rows; b.row += b.rows)
        for (b.col = 0; b.col < m->cols; b.col += b.cols) {
            size_box(m, t, &b);
            join_box(m, pc, &b, &y);
        }
}

/* ---- Cut loops ------------------------------------------------------------------------------- */
/* Returns how many of the next n rows are one tile, as the tile ends at a seam (where a moved index
 * changes) of the rows' axis. */
int64_t rd_tiles_rows_to_seam(const rd_tiles *m, int32_t axis, int64_t n)
{
    return left_in_piece(m, axis, m->axis[axis].index, n);
}

/* Returns how many of the next n columns of the loop at pc are one tile, which ends at a seam
 * (where a moved index changes). It is no wider than a buffer (m->code->cells elements) if some
 * instruction of the body copies: one that joins (reads at moved indices) and finds no contiguous
 * memory for its rows (rows_in() is NULL; its outputs are not used here). Skipped instructions do
 * nothing. */
int64_t rd_tiles_columns_to_seam(rd_tiles *m, int32_t pc, int64_t n)
{
    const rd_loop *loop = &m->p->loop[m->p->inst[pc].arg];
    const box      b    = { .rows = m->rows, .cols = 1 };

    n = left_in_piece(m, loop->axis, m->axis[loop->axis].index, n);
    for (int32_t i = pc + 1; i < loop->end; i++) {
        const rd_tile_inst *t = &m->code->inst[i];
        int32_t             load;
        int64_t             row;

        if (t->by_pieces && !t->skip && !rows_in(m, i, &b, &load, &row)) {
            const int64_t fit = m->code->buffer_elements / m->rows;

            return rd_least(n, fit > 1 ? fit : 1);
        }
    }
    return n;
}

/* ---- Guards ---------------------------------------------------------------------------------- */
/* True if a SELECT that joins chooses this side (true: its operand b) somewhere in the tile, as its
 * condition is known in each piece of an axis. n is the number of the tile's indices along the axis
 * that decides. form.offset is 1 in pieces where the condition is true, else 0; axis -1: it is the
 * same everywhere. */
static bool chooses(const rd_tiles *m, int32_t select, bool side)
{
    const rd_tile_inst *t    = &m->code->inst[select];
    const rd_tile_reg  *r    = &m->code->reg[m->p->inst[select].a];
    const int32_t       axis = r->form_axis;
    const int64_t       n    = axis < 0              ? 1
                               : axis == t->col_axis ? m->cols
                               : axis == t->row_axis ? m->rows
                                                     : 1;

    if (axis < 0)
        return (r->form[0].offset != 0) == side;
    for (int64_t k = 0; k < n;) {
        const int64_t index = m->axis[axis].index + k;

        if ((r->form[piece_at(&m->code->pieces[axis], index)].offset != 0) == side)
            return true;
        k += left_in_piece(m, axis, index, n - k);
    }
    return false;
}

/* True if the SELECTs that alone read the value of instruction pc choose it somewhere in the tile:
 * only then it need be computed. t->wanted_by_select is the SELECT that alone reads the value, -1:
 * none, and guard_side its operand; that SELECT may have such a reader, too. */
bool rd_tiles_is_chosen(const rd_tiles *m, int32_t pc)
{
    for (const rd_tile_inst *t = &m->code->inst[pc]; t->wanted_by_select >= 0;
         t                     = &m->code->inst[t->wanted_by_select])
        if (!chooses(m, t->wanted_by_select, t->wanted_side))
            return false;
    return true;
}
