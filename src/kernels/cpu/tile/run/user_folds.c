/* user_folds.c - users' reducers: the tile's elements go to the reference's folds
 * (reference/fold.h), as many at a time as belong together, in the type the reducer takes.
 *
 * Words.  A user's reducer is a set of functions that the caller gives for its states.  A run is a
 * stretch of elements that one call takes: along a row, or down a column.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. A STEP reads an element
 * (a), weights (b), a mask (c) and a group's label (d), -1: none. */
#include "core/bytes.h"
#include "kernels/cpu/reference/fold.h"
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/user_folds.h"

/* ---- Where they are -------------------------------------------------------------------------- */
/* Returns the bytes of the head of a fold by the caller's reducer, in whole cache lines; its states
 * lie behind it. */
static int64_t head_bytes(void)
{
    return ((int64_t)sizeof(rd_fold_state) + 63) / 64 * 64;
}

/* Returns the memory of a fold by the caller's reducer, in whole cache lines, so that the next
 * row's fold is aligned too. */
int64_t rd_user_folds_bytes(const rd_fold *fold)
{
    return (rd_bytes_add(head_bytes(), rd_fold_bytes(fold)) + 63) / 64 * 64;
}

/* Returns the fold of row `row` of the tile, or the only one if rows have no folds of their own. */
static rd_fold_state *fold_at(const rd_tile_fold *f, char *memory, int64_t row)
{
    return (rd_fold_state *)(void *)(memory + (f->own_rows ? row * f->row_bytes : 0));
}

/* START of a fold by the caller's reducer: empties it, or those of all rows. */
void rd_user_folds_start(const rd_tiles *m, const rd_tile_fold *f, char *memory)
{
    for (int64_t k = 0; k < (f->own_rows ? m->cols : 1); k++) {
        rd_fold_state *s = fold_at(f, memory, k);

        rd_fold_init(s, f->fold, (char *)s + head_bytes());
        rd_fold_start(s);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* The elements of a tile for a fold by the caller's reducer. */
typedef struct elements {
    const rd_tile_fold *f;
    char               *memory;
    rd_reg_view         x, second, mask; /* operands in the types that the reducer takes */
    int64_t             size, second_size;
    rd_fold_place       at; /* of the tile's first element */
} elements;

/* Returns the numbers of element (r, c) in the fold: its cell (result), its position along the
 * lanes, its pass along them (line), and its index. */
static rd_fold_place place_of(const elements *e, int64_t r, int64_t c)
{
    const rd_tile_fold *f = e->f;

    return (rd_fold_place){ .cell = e->at.cell + r * f->cell.row + c * f->cell.col,
                            .lane = e->at.lane + r * f->lane.row + c * f->lane.col,
                            .lane_line =
                                e->at.lane_line + r * f->lane_line.row + c * f->lane_line.col,
                            .index = e->at.index + r * f->index.row + c * f->index.col };
}

/* Returns the numbers of the tile's first element in the fold: cell (result), lane position, pass
 * (line) and index. */
static rd_fold_place first_place(const rd_tiles *m, const rd_tile_fold *f)
{
    return (rd_fold_place){ .cell      = rd_tiles_position(m, f->cell.at),
                            .lane      = rd_tiles_position(m, f->lane.at),
                            .lane_line = rd_tiles_position(m, f->lane_line.at),
                            .index     = rd_tiles_position(m, f->index.at) };
}

/* Returns the n elements from (r, c) on as one run for a callback: along the row, or down the
 * column. In x, `stride` and `along` are the distances between successive elements and second
 * operands (weights); `next` is that of the mask. No mask and no second operand are NULL. */
static rd_fold_run run_of(const elements *e, int64_t r, int64_t c, int64_t n, bool down)
{
    return (rd_fold_run){
        .n        = n,
        .x.stride = down ? e->x.row : 1,
        .x.at     = e->x.at + (r * e->x.row + c) * e->size,
        .x.along  = down ? e->second.row : 1,
        .x.second = e->second.at ? e->second.at + (r * e->second.row + c) * e->second_size : NULL,
        .next     = down ? e->mask.row : 1,
        .mask     = e->mask.at ? (const uint8_t *)rd_view_at(&e->mask, r, c) : NULL,
    };
}

/* Gives the fold of row r n elements from (r, c) on, along the row or down the column. */
static void take(const elements *e, int64_t r, int64_t c, int64_t n, bool down)
{
    const rd_fold_place at  = place_of(e, r, c);
    const rd_fold_run   run = run_of(e, r, c, n, down);

    rd_fold_take(fold_at(e->f, e->memory, r), &at, &run);
}

/* True if successive elements are successive steps of one cell (result), at indices that rise by
 * one, or go to its lanes in turn.  The arguments are the strides of the four numbers of an
 * element. */
static bool is_contiguous(const rd_tile_fold *f, int64_t line, int64_t lane, int64_t cell,
                          int64_t index)
{
    if (f->fold->lanes > 1)
        return cell == 0 && line == 0 && lane == 1 && (index == 1 || f->by_lanes);
    return cell == 0 && line * f->row_steps + lane == 1 && index == 1;
}

/* True if the elements of a row of the tile are successive steps of one cell, or go to its lanes in
 * turn: one call takes them. */
static bool is_contiguous_along_row(const rd_tile_fold *f)
{
    return is_contiguous(f, f->lane_line.col, f->lane.col, f->cell.col, f->index.col);
}

/* Updates the folds with all elements of a tile, by the longest runs: along rows, or down columns,
 * where these are successive steps of a cell; else one by one.  `down` takes the rows of all the
 * tile at once, so they may not have folds of their own.  by_lanes says that a row's elements may
 * go to the lanes in turn, by one call. */
static void take_all(const rd_tiles *m, const elements *e)
{
    const rd_tile_fold *f     = e->f;
    const bool          lanes = f->fold->lanes == 1 || f->by_lanes;
    const bool          along = lanes && is_contiguous_along_row(f);
    const bool          down  = lanes && !along && !f->own_rows &&
                      is_contiguous(f, f->lane_line.row, f->lane.row, f->cell.row, f->index.row);

    for (int64_t r = 0; r < (down ? 1 : m->rows); r++)
        for (int64_t c = 0; c < (along ? 1 : m->cols); c++)
            take(e, r, c, along ? m->cols : down ? m->rows : 1, down);
}

/* Gives a group-by fold all elements of a tile with their labels (the group of each), a row at a
 * time if these are successive steps. */
static void take_groups(const rd_tiles *m, const elements *e, const rd_reg_view *label)
{
    const int64_t n = is_contiguous_along_row(e->f) ? m->cols : 1;

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c += n) {
            const rd_fold_place at  = place_of(e, r, c);
            const rd_fold_run   run = run_of(e, r, c, n, /*down=*/false);

            rd_fold_take_groups(fold_at(e->f, e->memory, r), &at, &run,
                                (const int64_t *)(const void *)rd_view_at(label, r, c), label->col);
        }
}

/* Returns the operand in the type that the reducer takes, contiguous, converted to the spare buffer
 * if necessary. Bools and types of full width lie in registers as in memory, so they stay. */
static rd_reg_view convert_operand(rd_tiles *m, rd_dtype type, rd_reg_view x)
{
    const rd_reg_view y = { m->spare, m->cols, 1, x.elem };

    x = rd_tiles_dense(m, x);
    if (type == RD_BOOL ||
        (rd_dtype_size(type) == rd_elem_size(x.elem) && !rd_dtype_is_narrow_float(type)))
        return x;
    /* x may be in this very buffer: narrower elements never overwrite what is yet to be read */
    for (int64_t r = 0; r < m->rows; r++)
        m->code->simd->store[type](m->cols, y.at + r * y.row * rd_dtype_size(type), /*stride=*/1,
                                   rd_view_at(&x, r, 0));
    return y;
}

/* True if no further element can change the result: the caller's reducer says so. */
bool rd_user_folds_are_decided(const char *memory)
{
    return rd_fold_is_decided((const rd_fold_state *)(const void *)memory);
}

/* STEP: converts the operands to the types of the caller's reducer, and gives the folds all
 * elements of the tile. The second operand goes to the second spare buffer, so m->spare is that one
 * meanwhile. A fold with one cell takes no more once it is decided (early exit). */
void rd_user_folds_step(rd_tiles *m, int32_t pc, const rd_tile_fold *f, char *memory)
{
    const rd_inst *inst = &m->p->inst[pc];
    elements       e    = { .f = f, .memory = memory, .size = rd_dtype_size(f->fold->user->in) };

    if (f->cells == 1 && !f->own_rows && rd_user_folds_are_decided(memory))
        return;
    e.at = first_place(m, f);
    e.x  = convert_operand(m, f->fold->user->in, rd_tiles_view(m, m->code->inst[pc].x));
    if (inst->b >= 0) {
        char *const spare = m->spare;

        e.second_size = rd_dtype_size(f->fold->user->in2);
        m->spare      = rd_tiles_second_spare(m);
        e.second      = convert_operand(m, f->fold->user->in2, rd_tiles_view(m, inst->b));
        m->spare      = spare;
    }
    if (inst->c >= 0) /* it has a mask */
        e.mask = rd_mask_dense(m, inst->c);
    if (f->fold->n_group) {                                  /* a group-by */
        const rd_reg_view label = rd_tiles_view(m, inst->d); /* the register of its label */

        take_groups(m, &e, &label);
    } else
        take_all(m, &e);
}

/* SCAN by the caller's reducer: takes element by element, and writes each running result.  `takes`
 * is false for elements that the mask leaves out.  Without weights (b < 0) the weight is not
 * read. */
void rd_user_folds_scan(rd_tiles *m, int32_t pc, const rd_tile_fold *f)
{
    const rd_inst    *inst = &m->p->inst[pc];
    const rd_reg_view x    = rd_tiles_view(m, inst->a);
    const rd_reg_view mask = inst->c >= 0 ? rd_tiles_view(m, inst->c) : (rd_reg_view){ 0 };
    const rd_reg_view w    = inst->b >= 0 ? rd_tiles_view(m, inst->b) : (rd_reg_view){ 0 };
    const rd_reg_view y    = rd_tiles_target(m, pc, inst->dst);
    elements          e    = { .f = f, .memory = m->fold[inst->arg] };

    e.at = first_place(m, f);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            const rd_fold_place at    = place_of(&e, r, c);
            const rd_word       one   = { .u64 = 0 };
            const bool          takes = inst->c < 0 || rd_view_word(&mask, r, c).u64;
            rd_word             result;

            rd_fold_scan(fold_at(f, e.memory, r), &at, rd_view_word(&x, r, c),
                         inst->b >= 0 ? rd_view_word(&w, r, c) : one, takes, &result);
            rd_view_set(&y, r, c, result);
        }
}

/* ---- Ends ------------------------------------------------------------------------------------ */
/* CLOSE: writes the results of cells, from `first` on and w apart, one for each row and column of
 * the tile. At row level a column is a row of the tile, with a fold of its own. */
void rd_user_folds_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t first,
                          const rd_tile_strides *w, const rd_reg_view *y)
{
    rd_word words[RD_MAX_STATE];

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            rd_fold_finish(fold_at(f, memory, m->level == RD_AT_ROW ? c : r),
                           first + r * w->row + c * w->col, words);
            for (int32_t k = 0; k < f->fold->n_out; k++)
                rd_view_set(&y[k], r, c, words[k]);
        }
}

/* Merges the fold `next` of a later task into the fold `into` of an earlier one. */
void rd_user_folds_merge(char *into, const char *next)
{
    rd_fold_merge((rd_fold_state *)(void *)into, (const rd_fold_state *)(const void *)next);
}
