/* sizes.c - the most columns and rows of a tile, for each loop.
 *
 * A tile has as many columns as a buffer has elements, or all of them if nothing is kept in
 * buffers.  It has as many rows of such columns as still fit.  Rows with states of their own
 * (own_rows) take memory, too, so there may be fewer of them.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * An instruction is skipped (`skip`) if another one's kernel does its work. */
#include "core/bytes.h"
#include "core/caches.h"
#include "kernels/cpu/tile/plan/tile_plan.h"

/* ENOUGH: elements of a tile that only reads memory in place, enough to hide the cost of a tile.
 * AGAIN: fewer, if a second-level cache should still hold them for another pass.  BLOCK_ROWS: least
 * rows, those of a block.  MOST_ROWS: most rows for which something is kept. */
enum { ENOUGH = 262144, AGAIN = 32768, BLOCK_ROWS = 64, MOST_ROWS = 8192, LINE = 16 };
/* Rows that kernels take in one pass over wide states. */
enum { UNROLL_JAM = 4 };

/* True if a register has fewer elements than the tile (one a row, or one in all), so that each is
 * repeated along a row or the whole tile. */
static bool is_broadcast(const rd_tile_code *code, int32_t reg)
{
    return reg >= 0 && code->reg[reg].level != RD_AT_TILE;
}

/* True if instruction i copies an operand to the spare buffer, as the operand is broadcast (one
 * element a row or for all) or masked (inst->c is the mask of a STEP or SCAN).  Steps whose fused
 * map takes one element a row read that element as it is. */
static bool needs_spare_copy(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_STORE:
    case RD_I_CAST: return is_broadcast(code, inst->a);
    case RD_I_SCAN:
        return inst->c >= 0 || is_broadcast(code, inst->a) || is_broadcast(code, inst->b);
    case RD_I_STEP:
        return inst->c >= 0 || (!rd_fused_by_row(code->inst[i].fused) &&
                                (is_broadcast(code, inst->a) || is_broadcast(code, inst->b)));
    default: return false;
    }
}

/* True if the body of the loop whose LOOP is `begin` keeps elements in buffers, which then limit
 * the columns of a tile.  So do early exits, gathers and transposed operands, which should be taken
 * in small pieces.  `buffer` -1: the instruction needs none. */
static bool has_buffers(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    const int32_t end  = p->loop[p->inst[begin].arg].end;
    const bool    cuts = code->loop[p->inst[begin].arg].cuts; /* tiles end at seams */

    for (int32_t i = begin + 1; i < end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (cuts && code->inst[i].by_pieces) /* reads memory in place, or has tiles that fit */
            continue;
        if (code->inst[i].buffer >= 0 || (inst->kind == RD_I_EXIT && rd_tile_exits_early(p, i)) ||
            code->inst[i].strides.gathers || code->inst[i].transposes)
            return true;
        if (needs_spare_copy(p, code, i))
            return true;
    }
    return false;
}

/* Rounds n down to a multiple of 64, the side of the squares that are transposed in registers, if
 * it is more than one side. */
static int64_t whole_squares(int64_t n)
{
    return n > RD_SQUARE ? n - n % RD_SQUARE : n;
}

/* Sets the most columns of a tile (rows x columns of elements) for each loop over columns: as many
 * as a buffer has elements, whole squares where operands are transposed, or no limit (INT64_MAX) if
 * nothing is buffered. code->buffer_elements is the elements of a buffer. */
void rd_tile_size_columns(const rd_program *p, rd_tile_code *code)
{
    int64_t rows = RD_SQUARE; /* most rows of a square tile of the loop around */

    for (int32_t i = 0; i < p->n_inst; i++) {
        rd_tile_loop *loop = p->inst[i].kind == RD_I_LOOP ? &code->loop[p->inst[i].arg] : NULL;

        if (loop && loop->role == RD_LOOP_ROWS)
            rows = rd_least(p->loop[p->inst[i].arg].extent, RD_SQUARE);
        else if (loop && loop->role == RD_LOOP_COLS) {
            loop->most = loop->square ? whole_squares(code->buffer_elements / (rows > 0 ? rows : 1))
                         : has_buffers(p, code, i) ? code->buffer_elements
                                                   : INT64_MAX;
        }
    }
}

/* Counts the STEPs and SCANs (of reductions and scans) in the loop whose LOOP is `begin`: each
 * passes over all elements of a tile, so with two or more these should still be cached. */
static int32_t count_passes(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    int32_t n = 0;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++)
        n += !code->inst[i].skip && (p->inst[i].kind == RD_I_STEP || p->inst[i].kind == RD_I_SCAN);
    return n;
}

/* True if the loop whose LOOP is `begin` has only maps, loads and stores, none of which can fail,
 * gathers or transposes. */
static bool has_only_maps(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++)
        switch (p->inst[i].kind) {
        case RD_I_CONST:
        case RD_I_MAP:
        case RD_I_CAST:
        case RD_I_SELECT: break;
        case RD_I_LOAD:
        case RD_I_STORE:
            if (code->inst[i].strides.gathers || code->inst[i].transposes)
                return false;
            break;
        default: return false;
        }
    return true;
}

/* Lets loops of maps over short rows take several rows at a time (loop->rows), as many as their
 * buffers hold.  So they do not limit the rows of the tile.  More rows are better: what is done
 * once a tile, such as the ends of its folds, costs as much as some hundred elements.  INT64_MAX
 * stands for no limit; `most`, the columns of a tile, is lifted, so that rows_of() finds no limit
 * here. */
static void size_map_loops(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_loop *l    = p->inst[i].kind == RD_I_LOOP ? &p->loop[p->inst[i].arg] : NULL;
        rd_tile_loop  *loop = l ? &code->loop[p->inst[i].arg] : NULL;

        if (!l)
            continue;
        loop->rows = INT64_MAX;
        if (loop->role == RD_LOOP_COLS && !loop->square && loop->most < INT64_MAX &&
            l->extent > 0 && l->extent <= loop->most && has_only_maps(p, code, i)) {
            loop->rows = loop->most / l->extent;
            loop->most = INT64_MAX;
        }
    }
}

/* True if each row of a tile keeps something (registers or states of its own) or its columns are
 * copied: memory for rows limits the tile then. Columns are copied for folds whose elements go one
 * by one (ELEMENTS). */
static bool has_row_state(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (code->inst[i].level == RD_AT_ROW && p->inst[i].kind != RD_I_LOOP &&
            p->inst[i].kind != RD_I_END)
            return true;
    for (int32_t k = 0; k < p->n_reg; k++)
        if (code->reg[k].level == RD_AT_ROW)
            return true;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (code->fold[k].own_rows || code->fold[k].mapping == RD_FOLD_ELEMENTS)
            return true;
    return false;
}

/* Returns the greatest power of two times 64 (BLOCK_ROWS, the steps of a block of a combine tree)
 * that is at most `rows`; 64 if that is more.  So tiles end where blocks do. */
static int64_t whole_blocks(int64_t rows)
{
    int64_t fit = BLOCK_ROWS;

    while (2 * fit <= rows)
        fit *= 2;
    return fit;
}

/* True if the loop whose LOOP is `begin` has a STEP that gives the elements of a row to
 * neighbouring cells (results), one for each column. */
static bool has_column_folds(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    bool found = false;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++)
        found |=
            p->inst[i].kind == RD_I_STEP && code->fold[p->inst[i].arg].mapping == RD_FOLD_COLUMNS;
    return found;
}

/* Returns the most rows of a tile for a loop that reads memory in place, without buffers: for one
 * pass over the elements whole blocks, for several passes what a cache holds (ENOUGH, AGAIN:
 * elements).  Columns with states take at least UNROLL_JAM rows, however long: one by one, min,
 * max, mean and variance of rows of 8576 f32 took 3 times as long. */
static int64_t rows_in_place(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    const int64_t n   = p->loop[p->inst[begin].arg].extent;
    const bool    one = count_passes(p, code, begin) < 2; /* only one fold reads the elements */
    const int64_t fit = (one ? ENOUGH : AGAIN) / (n > 0 ? n : 1);

    if (one)
        return fit < BLOCK_ROWS ? BLOCK_ROWS : whole_blocks(fit);
    if (has_column_folds(p, code, begin))
        return fit < UNROLL_JAM ? UNROLL_JAM : fit - fit % UNROLL_JAM;
    return fit;
}

/* Returns the memory for states that rows of a tile have of their own: an eighth of the
 * second-level cache, so that the elements fit there, too. */
static int64_t states_bytes(void)
{
    return rd_caches().l2 / 8;
}

/* Returns the most rows of a tile for the loop over rows whose LOOP is `begin`: as many as fill the
 * buffers of every loop over columns in it, and no more than the states of rows have room for. A
 * loop without a limit on its columns (`most` is INT64_MAX) reads in place; one whose tiles end at
 * seams (`cuts`) may have to copy a column, so rows fit a buffer. Without anything kept for a row
 * the elements alone are a limit (ENOUGH). Squares (transposed in registers) have whole cache lines
 * of rows. */
static int64_t rows_of(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    const int32_t number = p->inst[begin].arg;
    const bool    square = code->loop[number].square;
    int64_t       rows   = has_row_state(p, code) ? MOST_ROWS : ENOUGH;

    for (int32_t i = begin + 1; i < p->loop[number].end; i++)
        if (p->inst[i].kind == RD_I_LOOP) { /* over columns: n of them, at most `most` a tile */
            const int64_t most = code->loop[p->inst[i].arg].most,
                          n    = p->loop[p->inst[i].arg].extent;
            const int64_t fit =
                square ? whole_squares(code->buffer_elements / (n > 0 ? rd_least(n, most) : 1))
                : most < INT64_MAX ? most / (n > 0 ? n : 1)
                                   : rows_in_place(p, code, i);

            rows = rd_least(
                rows, code->loop[p->inst[i].arg].cuts ? rd_least(fit, code->buffer_elements) : fit);
        }
    for (int32_t k = 0; k < p->n_fold; k++)
        if (code->fold[k].own_rows) /* each row of a tile has states of its own */
            rows = rd_least(rows, states_bytes() / rd_bytes_add(code->fold[k].row_bytes, 1));
    if (square && rows > LINE)
        rows -= rows % LINE;
    rows = rd_least(rows, p->loop[number].extent);
    return rows > 1 ? rows : 1;
}

/* Sets the most rows of a tile for each loop over rows; code->rows gets the most for which any tile
 * of the program keeps something. */
void rd_tile_size_rows(const rd_program *p, rd_tile_code *code)
{
    size_map_loops(p, code);
    code->rows = 1;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role == RD_LOOP_ROWS) {
            rd_tile_loop *loop = &code->loop[p->inst[i].arg];

            loop->most = rows_of(p, code, i);
            if (has_row_state(p, code) && loop->most > code->rows)
                code->rows = loop->most;
        }
}
