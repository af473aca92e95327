/* test_tiles_folds.c - reductions of the tile machine: every reducer and type, in every form, size
 * and share, by every set of kernels, against the scalar interpreter. */
#include "tiles.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

#define STEP (SANITIZED ? 211 : suite_long_part(11))

static const rd_dtype types[]      = { RD_F32, RD_F64, RD_BOOL, RD_I8, RD_I32,
                                       RD_I64, RD_U8,  RD_U64,  RD_F16 };
static const int64_t  sizes[]      = { 0,  1,  2,   3,   15,  16,  17,   31,   32,   33,   63,
                                       64, 65, 127, 128, 129, 300, 4095, 4096, 4097, 10000 };
static const int64_t  few_sizes[]  = { 0, 1, 2, 31, 33, 64, 65, 129, 300, 4097 };
static const int64_t  side_sizes[] = { 1, 2, 4, 17, 65, 300 };

/* How elements meet the accumulators. */
typedef enum fold_form {
    ALL,      /* one of all elements of a row, shared by tasks                  */
    ROWS,     /* rows, each with its own                                        */
    SHORT,    /* the same, without lanes                                        */
    BLOCKS,   /* one of all elements of a matrix: every row begins at lane 0    */
    COLUMNS,  /* down the columns, as many accumulators side by side            */
    CHANNELS, /* down the columns, lane after lane                              */
    CELLS,    /* a matrix of rows of cells: as BLOCKS for each of neighbouring cells */
    N_FORMS = CELLS
} fold_form;

static bool by_rows(fold_form form)
{
    return form == ROWS || form == SHORT;
}

/* What comes into a fold besides elements. */
typedef enum extra {
    PLAIN,
    MASK,
    RARE_MASK,
    ROW_MASK,
    WEIGHTS,
    ROW_WEIGHTS,
    MASK_AND_WEIGHTS,
    N_EXTRAS
} extra;

typedef struct fold_case {
    rd_reducer_id reducer;
    rd_dtype      type;
    fold_form     form;
    extra         with;
    int           map; /* of maps[] */
    int64_t       rows, cols;
    rd_dtype      from;   /* elements of this type are cast; RD_AUTO: they are of the fold's */
    unsigned      across; /* bit k: what is in slot k lies column by column                  */
    int64_t       cells;  /* CELLS                                                           */
} fold_case;

static int64_t cells_of(const fold_case *c)
{
    return c->form == CELLS ? c->cells : 1;
}

static bool has(rd_reducer_id reducer, rd_dtype type)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    switch (reducer) {
    case RD_RED_any:
    case RD_RED_all: return type == RD_BOOL;
    case RD_RED_min:
    case RD_RED_max:
    case RD_RED_argmin:
    case RD_RED_argmax: return true;
    case RD_RED_sum:
    case RD_RED_prod: return type != RD_BOOL;
    case RD_RED_bits_and:
    case RD_RED_bits_or:
    case RD_RED_bits_xor: return !real;
    default: return real;
    }
}

static rd_dtype result_type(const fold_case *c)
{
    return c->reducer == RD_RED_argmin || c->reducer == RD_RED_argmax ? RD_I64 : c->type;
}

/* Only these have an identity to put in place of what a mask leaves out. */
static bool runs_on_tiles(const fold_case *c)
{
    const bool masked = c->with == MASK || c->with == RARE_MASK || c->with == ROW_MASK ||
                        c->with == MASK_AND_WEIGHTS;

    return !masked || c->reducer == RD_RED_sum || c->reducer == RD_RED_prod ||
           c->reducer == RD_RED_min || c->reducer == RD_RED_max || c->reducer == RD_RED_any ||
           c->reducer == RD_RED_all || c->reducer == RD_RED_bits_and ||
           c->reducer == RD_RED_bits_or || c->reducer == RD_RED_bits_xor;
}

static const char *describe(const fold_case *c)
{
    static char       text[180];
    static const char forms[][9] = { "all",     "rows",     "short", "blocks",
                                     "columns", "channels", "cells" };

    snprintf(text, sizeof text, "%s of %s from %s, %s, %d x %d x %d, extra %d, map %d, across %u",
             rd_reducer_table[c->reducer].name, rd_dtype_name(c->type), rd_dtype_name(c->from),
             forms[c->form], (int)c->rows, (int)cells_of(c), (int)c->cols, (int)c->with, c->map,
             c->across);
    return text;
}

/* ---- Programs -------------------------------------------------------------------------------- */
static rd_address index_of(int32_t axis, int64_t coef)
{
    return (rd_address){ .n_add = 1, .add = { { .axis = axis, .coef = coef } } };
}

static rd_fold fold_of(const fold_case *c)
{
    const bool    columns = c->form == COLUMNS || c->form == CHANNELS;
    const int32_t lanes   = c->form == COLUMNS || c->form == SHORT ? 1
                            : rd_dtype_size(c->type) == 8          ? 32
                                                                   : 64;
    const int64_t along   = columns ? c->rows : c->cols;
    rd_fold       f       = { .reducer     = c->reducer,
                              .type        = c->type,
                              .out         = result_type(c),
                              .ddof        = 1,
                              .n_out       = rd_reducer_table[c->reducer].n_out,
                              .lanes       = lanes,
                              .steps       = 64,
                              .lane_extent = along,
                              .lane        = index_of(columns ? 0 : 1, 1),
                              .index       = index_of(columns ? 0 : 1, 1),
                              .n_cell      = columns ? c->cols : cells_of(c),
                              .split       = !by_rows(c->form) };

    if (columns)
        f.cell = index_of(1, 1);
    if (c->form == CELLS)
        f.cell = index_of(2, 1);
    if (c->form == BLOCKS || c->form == CELLS)
        f.lane_line = index_of(0, 1);
    if (c->form == BLOCKS || c->form == CELLS)
        f.index =
            (rd_address){ .n_add = 2,
                          .add   = { { .axis = 0, .coef = c->cols }, { .axis = 1, .coef = 1 } } };
    f.n_block = ((along + lanes - 1) / lanes * (f.lane_line.n_add ? c->rows : 1) + 63) / 64;
    if (c->form == SHORT) {
        f.lane_line   = f.lane;
        f.lane        = (rd_address){ 0 };
        f.lane_extent = 1;
    }
    return f;
}

/* Maps that kernels fold as they compute them, or in part, or not: register 6 from 0 and 1. */
static const struct {
    int   n;
    rd_op op[2];
    bool  row_operand; /* register 1 is one number per row */
} maps[] = {
    { 0, { 0 }, false },
    { 1, { RD_OP_square }, false },
    { 1, { RD_OP_abs }, false },
    { 1, { RD_OP_mul }, false },
    { 1, { RD_OP_sub }, false },
    { 1, { RD_OP_add }, false },
    { 1, { RD_OP_sqrt }, false },
    { 2, { RD_OP_sub, RD_OP_square }, false },
    { 2, { RD_OP_sub, RD_OP_abs }, false },
    { 1, { RD_OP_mul }, true },
    { 2, { RD_OP_sub, RD_OP_square }, true },
    { 2, { RD_OP_sub, RD_OP_abs }, true },
};

static int32_t add_maps(builder *b, const fold_case *c)
{
    int32_t x = 0;

    for (int k = 0; k < maps[c->map].n; k++) {
        const rd_op   op = maps[c->map].op[k];
        const int32_t y  = rd_op_table[op].arity == 2 ? 1 : -1;

        builder_add(b, (rd_inst){ .kind = RD_I_MAP,
                                  .type = c->type,
                                  .op   = op,
                                  .dst  = 6 + k,
                                  .a    = x,
                                  .b    = y,
                                  .c    = -1 });
        x = 6 + k;
    }
    return x;
}

/* An element of the matrix, or (col 0) what is one for a row or a cell of it. */
static void load_at(builder *b, const fold_case *c, int32_t dst, int32_t slot, rd_dtype type,
                    int64_t row, int64_t col)
{
    rd_address *at = &b->address[b->p.n_address];

    builder_load_2(b, dst, slot, type, row, col, 0);
    if (c->form == CELLS)
        at->add[at->n_add++] = (rd_addend){ .axis = 2, .coef = c->cols };
}

/* Slots 0 elements, 1 other elements or weights, of dot factors (none: squares), 2 mask. */
static void load_rows(builder *b, const fold_case *c)
{
    if (c->with == ROW_WEIGHTS || maps[c->map].row_operand)
        load_at(b, c, 1, 1, c->type, cells_of(c) * c->cols, 0);
    if (c->with == ROW_MASK)
        load_at(b, c, 2, 2, RD_BOOL, cells_of(c) * c->cols, 0);
}

static void load(builder *b, const fold_case *c, int32_t dst, int32_t slot, rd_dtype type)
{
    const bool across = c->across >> slot & 1;

    load_at(b, c, dst, slot, type, across ? 1 : cells_of(c) * c->cols, across ? c->rows : 1);
}

static void take(builder *b, const fold_case *c)
{
    const bool weights = c->with == WEIGHTS || c->with == MASK_AND_WEIGHTS;
    const bool mask    = c->with == MASK || c->with == RARE_MASK || c->with == MASK_AND_WEIGHTS;

    const bool cast = c->from && !rd_dtype_same_word(c->from, c->type);

    load(b, c, cast ? 5 : 0, 0, c->from ? c->from : c->type);
    if (cast)
        builder_add(b, (rd_inst){ .kind = RD_I_CAST,
                                  .type = c->type,
                                  .from = c->from,
                                  .dst  = 0,
                                  .a    = 5,
                                  .b    = -1,
                                  .c    = -1 });
    if (weights || (maps[c->map].n && !maps[c->map].row_operand))
        load(b, c, 1, 1, c->type);
    if (mask)
        load(b, c, 2, 2, RD_BOOL);
    const int32_t x = add_maps(b, c);

    builder_add(b, (rd_inst){ .kind = RD_I_STEP,
                              .a    = x,
                              .b    = weights || c->with == ROW_WEIGHTS ? 1
                                      : c->reducer == RD_RED_dot        ? x
                                                                        : -1,
                              .c    = mask || c->with == ROW_MASK ? 2 : -1 });
}

/* Result k of cell i of n, an index of the axis, goes to slot[k n + i]; a constant of another
 * program's share must not be lost meanwhile. */
static void close(builder *b, const fold_case *c, int32_t slot, int64_t n, int32_t axis)
{
    const int n_out = rd_reducer_table[c->reducer].n_out;

    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 10, .type = result_type(c) });
    for (int k = 0; k < n_out; k++)
        builder_store(b, 10 + k, slot, result_type(c), axis, 1, k * n);
}

static void build(builder *b, const fold_case *c, int32_t slot)
{
    const int64_t extent[] = { c->rows, c->cols, cells_of(c) };

    builder_init(b, 3, extent);
    builder_fold(b, fold_of(c));
    b->p.root = c->form == ALL ? 1 : 0;
    if (c->form == ALL)
        load_rows(b, c);
    if (!by_rows(c->form))
        builder_add(b, (rd_inst){ .kind = RD_I_START });
    builder_body(b);
    if (c->form != ALL)
        builder_loop(b, (rd_loop){ .axis = 0 });
    if (c->form == CELLS)
        builder_loop(b, (rd_loop){ .axis = 2 });
    if (c->form != ALL)
        load_rows(b, c);
    if (by_rows(c->form))
        builder_add(b, (rd_inst){ .kind = RD_I_START });
    builder_loop(b, (rd_loop){ .axis = 1 });
    take(b, c);
    builder_end(b);
    if (by_rows(c->form))
        close(b, c, slot, c->rows, 0);
    if (c->form == CELLS)
        builder_end(b);
    if (c->form != ALL)
        builder_end(b);
    builder_tail(b);
    if (c->form == ALL || c->form == BLOCKS)
        close(b, c, slot, 1, -1);
    if (c->form == COLUMNS || c->form == CHANNELS || c->form == CELLS) {
        const int32_t axis = c->form == CELLS ? 2 : 1;

        builder_loop(b, (rd_loop){ .axis = axis });
        close(b, c, slot, b->axis_extent[axis], axis);
        builder_end(b);
    }
}

/* ---- Shares ---------------------------------------------------------------------------------- */
enum { MOST_TASKS = 400 };

/* Tasks of so many blocks of the tree; 0: one task. */
static int32_t cut_at(const fold_case *c, const rd_fold *f, int64_t blocks, int64_t *cut)
{
    const int64_t n       = c->form == ALL ? c->cols : c->rows;
    const int64_t a_row   = (f->lane_extent + f->lanes - 1) / f->lanes;
    const int64_t a_block = by_rows(c->form)     ? 1
                            : f->lane_line.n_add ? (64 % a_row ? 64 : 64 / a_row)
                                                 : 64 * f->lanes;
    int32_t       tasks   = 0;

    for (int64_t lo = 0; blocks && lo < n && tasks < MOST_TASKS - 1; lo += blocks * a_block)
        cut[tasks++] = lo;
    cut[tasks] = n;
    return tasks;
}

static void agree(const fold_case *c)
{
    static const int64_t shares[] = { 0, 1, 3 };
    const tile_data      mask     = c->with == RARE_MASK ? RARE : FLAGS;
    const int64_t        n        = c->rows * cells_of(c) * c->cols;
    const rd_fold        f        = fold_of(c);
    tile_memory          m        = { 0 };
    int64_t              cut[MOST_TASKS];
    builder              b;

    tile_slot(&m, c->from ? c->from : c->type, n, c->map || n % 2 ? ORDINARY : UGLY);
    /* Rows without elements read their number of these all the same. */
    tile_slot(&m, c->type, n ? n : 1,
              c->with >= WEIGHTS && c->reducer != RD_RED_dot ? FLAGS : ORDINARY);
    tile_slot(&m, RD_BOOL, n ? n : 1, mask);
    build(
        &b, c,
        tile_slot(&m, result_type(c), f.n_out * (by_rows(c->form) ? c->rows : f.n_cell), ORDINARY));
    for (int k = 0; k < COUNT(shares); k++)
        tile_agree(&b, &m, cut, cut_at(c, &f, shares[k], cut), runs_on_tiles(c), describe(c));
    tile_free(&m);
}

/* Plain, and in turn with one of the extras and one of the maps. */
static void agree_in_turn(fold_case c)
{
    static int turn;
    const bool real   = rd_dtype_kind(c.type) == RD_KIND_FLOAT;
    const bool weighs = c.reducer >= RD_RED_moments || c.reducer == RD_RED_dot;

    turn++;
    agree(&c);
    c.with = (extra)(1 + turn % ((weighs ? N_EXTRAS : WEIGHTS) - 1));
    agree(&c);
    c.with = PLAIN;
    c.map  = 1 + turn % (COUNT(maps) - 1);
    if (real)
        agree(&c);
}

/* ---- Every reducer --------------------------------------------------------------------------- */
START_TEST(one_row)
{
    for (int t = 0; t < COUNT(types); t++)
        for (int k = t % STEP; k < COUNT(sizes) && has((rd_reducer_id)_i, types[t]); k += STEP)
            agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], ALL, PLAIN, 0, 1, sizes[k],
                                       RD_AUTO, 0, 0 });
}
END_TEST

START_TEST(rows_and_columns)
{
    for (int t = 0; t < COUNT(types); t++)
        for (int k = t % STEP;
             k < COUNT(few_sizes) * COUNT(side_sizes) && has((rd_reducer_id)_i, types[t]);
             k += STEP) {
            const int64_t n    = few_sizes[k % COUNT(few_sizes)],
                          side = side_sizes[k / COUNT(few_sizes)];

            if (n * side > 10000)
                continue;
            agree_in_turn(
                (fold_case){ (rd_reducer_id)_i, types[t], ROWS, PLAIN, 0, side, n, RD_AUTO, 0, 0 });
            if (n < 100)
                agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], SHORT, PLAIN, 0, side, n,
                                           RD_AUTO, 0, 0 });
            agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], COLUMNS, PLAIN, 0, n, side,
                                       RD_AUTO, 0, 0 });
            if (n > 0)
                agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], BLOCKS, PLAIN, 0, side, n,
                                           RD_AUTO, 0, 0 });
            if (k % 3 == 0)
                agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], CHANNELS, PLAIN, 0, n, side,
                                           RD_AUTO, 0, 0 });
        }
}
END_TEST

/* Thousands of tiny rows; columns of several tiles. */
START_TEST(long_and_thin)
{
    static const int64_t shapes[][2] = { { 3000, 1 }, { 2500, 3 }, { 1100, 20 }, { 129, 200 } };

    for (int t = 0; t < 2; t++)
        for (int k = 0; k < COUNT(shapes) && has((rd_reducer_id)_i, types[t]); k++) {
            agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], ROWS, PLAIN, 0, shapes[k][0],
                                       shapes[k][1], RD_AUTO, 0, 0 });
            agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], COLUMNS, PLAIN, 0, shapes[k][1],
                                       shapes[k][0], RD_AUTO, 0, 0 });
            agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], BLOCKS, PLAIN, 0, shapes[k][0],
                                       shapes[k][1], RD_AUTO, 0, 0 });
        }
}
END_TEST

/* Cells that keep step, and cells whose rows are parts of steps or end blocks; halves, and small
 * ints. */
START_TEST(neighbouring_cells)
{
    static const int64_t  rows[] = { 1, 3, 65, 150 }, cells[] = { 1, 2, 40 };
    static const int64_t  cols[]   = { 31, 32, 64, 96, 128, 200, 256, 2048, 4096 };
    static const rd_dtype narrow[] = { RD_F16, RD_BF16, RD_I8 };

    for (int t = 0; t < COUNT(types); t++)
        for (int k = t % STEP;
             k < COUNT(rows) * COUNT(cells) * COUNT(cols) && has((rd_reducer_id)_i, types[t]);
             k += STEP) {
            fold_case c = { (rd_reducer_id)_i,     types[t], CELLS,   PLAIN, 0,
                            rows[k % COUNT(rows)], 0,        RD_AUTO, 0,     0 };

            c.cells = cells[k / COUNT(rows) % COUNT(cells)];
            c.cols  = cols[k / COUNT(rows) / COUNT(cells)];
            if (c.rows * c.cells * c.cols > 20000)
                continue;
            agree_in_turn(c);
            c.from = narrow[k % COUNT(narrow)];
            if (rd_dtype_kind(c.type) == RD_KIND_FLOAT)
                agree_in_turn(c);
        }
}
END_TEST

/* Rows of a few blocks, which kernels take without a tree in memory, and of one more than that. */
START_TEST(rows_of_blocks)
{
    static const int64_t blocks[] = { 2, 3, 7, 16, 17 }, more[] = { -70, 0, 1, 200 };

    for (int k = 0; k < 2 * COUNT(blocks) * COUNT(more) && has((rd_reducer_id)_i, types[k % 2]);
         k += STEP) {
        const int64_t a_block = types[k % 2] == RD_F32 ? 4096 : 2048;
        const int64_t n = blocks[k / 2 % COUNT(blocks)] * a_block + more[k / 2 / COUNT(blocks)];

        agree_in_turn(
            (fold_case){ (rd_reducer_id)_i, types[k % 2], ROWS, PLAIN, 0, 2, n, RD_AUTO, 0, 0 });
    }
}
END_TEST

/* Nodes of several blocks at once: of lanes, of columns that fit in registers and of more than a
 * kernel takes, and of channels.  Shares begin at odd blocks. */
START_TEST(subtrees)
{
    static const struct {
        fold_form form;
        int64_t   blocks, cols;
    } cases[] = { { ALL, 37, 1 },       { COLUMNS, 37, 1 },   { COLUMNS, 37, 50 },
                  { COLUMNS, 21, 64 },  { COLUMNS, 21, 128 }, { COLUMNS, 6, 129 },
                  { COLUMNS, 6, 1100 }, { CHANNELS, 9, 2 },   { CHANNELS, 9, 3 },
                  { CHANNELS, 3, 5 } };

    for (int k = 0; k < 2 * COUNT(cases) && has((rd_reducer_id)_i, types[k % 2]); k += STEP) {
        const fold_form form  = cases[k / 2].form;
        const int64_t   lanes = form == COLUMNS ? 1 : types[k % 2] == RD_F32 ? 64 : 32;
        const int64_t   n     = cases[k / 2].blocks * 64 * lanes + 5;
        fold_case       c     = { (rd_reducer_id)_i, types[k % 2], form, PLAIN, 0, n,
                                  cases[k / 2].cols, RD_AUTO,      0,    0 };

        if (form == ALL) {
            c.rows = 1;
            c.cols = n;
        }
        agree_in_turn(c);
        c.from = RD_F16;
        if (k % 2 == 0)
            agree_in_turn(c);
    }
}
END_TEST

/* Operands that lie column by column, all or some: tiles are squares. */
START_TEST(squares)
{
    static const int64_t shapes[][2] = { { 64, 64 }, { 65, 130 }, { 200, 67 },
                                         { 3, 500 }, { 500, 3 },  { 17, 1100 } };

    for (int t = 0; t < 3; t++)
        for (int k = t % STEP; k < COUNT(shapes) * N_FORMS && has((rd_reducer_id)_i, types[t]);
             k += STEP)
            for (unsigned across = 1; across < 4; across++) {
                const fold_form form = (fold_form)(k / COUNT(shapes));
                const int64_t  *s    = shapes[k % COUNT(shapes)];

                if (form != ALL)
                    agree_in_turn((fold_case){ (rd_reducer_id)_i, types[t], form, PLAIN, 0, s[0],
                                               s[1], RD_AUTO, across | 4, 0 });
            }
}
END_TEST

/* Columns of matrices, one after the other, whose rows are no multiple of a block: blocks end
 * anywhere. */
START_TEST(blocks_end_in_squares)
{
    enum { MATRICES = 3, HEIGHT = 100, WIDTH = 130 };
    const int64_t  extent[] = { MATRICES, HEIGHT, WIDTH };
    const rd_dtype type     = types[_i];
    tile_memory    m        = { 0 };
    builder        b;

    tile_slot(&m, type, MATRICES * HEIGHT * WIDTH, ORDINARY);
    tile_slot(&m, type, WIDTH, ORDINARY);
    builder_init(&b, 3, extent);
    builder_fold(&b, (rd_fold){ .reducer     = RD_RED_sum,
                                .type        = type,
                                .out         = type,
                                .n_out       = 1,
                                .lanes       = 1,
                                .steps       = 64,
                                .lane_extent = HEIGHT,
                                .lane        = index_of(1, 1),
                                .lane_line   = index_of(0, 1),
                                .cell        = index_of(2, 1),
                                .n_cell      = WIDTH,
                                .n_block     = (MATRICES * HEIGHT + 63) / 64 });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    for (int axis = 0; axis < 3; axis++)
        builder_loop(&b, (rd_loop){ .axis = axis });
    builder_load_2(&b, 0, 0, type, HEIGHT * WIDTH, 1, 0);
    b.address[0].add[b.address[0].n_add++] = (rd_addend){ .axis = 2, .coef = HEIGHT };
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .b = -1, .c = -1 });
    for (int axis = 0; axis < 3; axis++)
        builder_end(&b);
    builder_loop(&b, (rd_loop){ .axis = 2 });
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 10, .type = type });
    builder_store(&b, 10, 1, type, 2, 1, 0);
    builder_end(&b);
    tile_agree(&b, &m, NULL, 0, true, rd_dtype_name(type));
    tile_free(&m);
}
END_TEST

/* Every map of two operands, with either or both of them so. */
START_TEST(maps_of_squares)
{
    static const rd_reducer_id reducers[]  = { RD_RED_sum, RD_RED_dot, RD_RED_min, RD_RED_max };
    static const int64_t       shapes[][2] = { { 64, 64 }, { 130, 200 }, { 96, 33 }, { 300, 64 } };

    for (int k = _i % STEP; k < 2 * COUNT(reducers) * COUNT(shapes) * 3; k += STEP) {
        const int64_t *s      = shapes[k / 2 / COUNT(reducers) % COUNT(shapes)];
        const unsigned across = 1 + (unsigned)(k / 2 / COUNT(reducers) / COUNT(shapes));

        agree(&(fold_case){ reducers[k / 2 % COUNT(reducers)], types[k % 2], COLUMNS, PLAIN, _i,
                            s[0], s[1], RD_AUTO, across, 0 });
    }
}
END_TEST

/* Reductions of halves as they lie in memory, which are widened as they are folded where there is a
 * kernel. */
START_TEST(halves_in_f32)
{
    const rd_reducer_id reducer = (rd_reducer_id)_i;

    for (int k = 0; k < COUNT(few_sizes) * COUNT(side_sizes) && has(reducer, RD_F32); k += STEP) {
        const int64_t n = few_sizes[k % COUNT(few_sizes)], side = side_sizes[k / COUNT(few_sizes)];

        for (fold_form form = ALL; form < N_FORMS && n * side <= 10000; form++) {
            const bool columns = form == COLUMNS || form == CHANNELS;
            fold_case  c       = { reducer,
                                   RD_F32,
                                   form,
                                   PLAIN,
                                   0,
                            columns ? n : side,
                            columns ? side : n,
                            k % 2 ? RD_F16 : RD_BF16,
                                   0,
                                   0 };

            c.rows = form == ALL ? 1 : c.rows;
            if (n > 0 || form != BLOCKS)
                agree_in_turn(c);
        }
    }
}
END_TEST

/* Sums of ints, small ones among them, and of halves, in a wider type. */
START_TEST(sums_of_narrow_types)
{
    static const rd_dtype from[] = { RD_BOOL, RD_I8,  RD_U8,  RD_I16, RD_U16,
                                     RD_I32,  RD_U32, RD_F16, RD_BF16 };
    static const rd_dtype to[]   = { RD_I64, RD_U64, RD_F64, RD_F32 };

    for (int k = 0; k < COUNT(few_sizes) * COUNT(side_sizes) * N_FORMS; k++) {
        const int64_t n      = few_sizes[k % COUNT(few_sizes)],
                      side   = side_sizes[k / COUNT(few_sizes) % COUNT(side_sizes)];
        const fold_form form = (fold_form)(k / COUNT(few_sizes) / COUNT(side_sizes));
        fold_case       c    = { RD_RED_sum, to[_i], form, PLAIN, 0, side, n, RD_AUTO, 0, 0 };

        if (form == COLUMNS || form == CHANNELS) {
            c.rows = n;
            c.cols = side;
        }
        c.rows = form == ALL ? 1 : c.rows;
        for (int t = 0; t < COUNT(from) && n * side <= 10000 && (n > 0 || form != BLOCKS);
             t += STEP) {
            c.from = from[t];
            c.with = t == k % COUNT(from) ? MASK : PLAIN;
            agree(&c);
        }
    }
}
END_TEST

/* ---- Cells that a loop further out goes through ----------------------------------------------- */
/* Axis 0 is folded, and axis 1 if it is longer than one index; axis 2 has a cell for each index,
 * axis 3 but one index.  So cells are as near to each other along axis 3, around which they come in
 * any order, as along axis 2. */
typedef struct around {
    int64_t n, along;
    bool    outside,
        backwards; /* the loop over the cells: outside of axis 0, so that each comes to its end */
} around;

enum { AROUND_CELLS = 7 };

static rd_fold fold_around(const around *w, rd_reducer_id reducer, rd_dtype type)
{
    const int32_t lanes = w->along == 1 ? 1 : rd_dtype_size(type) == 8 ? 32 : 64;

    return (rd_fold){
        .reducer     = reducer,
        .type        = type,
        .out         = result_type(&(fold_case){ .reducer = reducer, .type = type }),
        .ddof        = 1,
        .n_out       = rd_reducer_table[reducer].n_out,
        .lanes       = lanes,
        .steps       = 64,
        .lane_extent = w->along,
        .n_block     = ((w->along + lanes - 1) / lanes * w->n + 63) / 64,
        .lane        = w->along > 1 ? index_of(1, 1) : (rd_address){ 0 },
        .lane_line   = index_of(0, 1),
        .index       = { .n_add = 2,
                         .add   = { { .axis = 0, .coef = w->along }, { .axis = 1, .coef = 1 } } },
        .cell   = { .n_add = 2, .add = { { .axis = 3, .coef = 1 }, { .axis = 2, .coef = 1 } } },
        .n_cell = AROUND_CELLS
    };
}

static void build_around(builder *b, const around *w, rd_reducer_id reducer, rd_dtype type,
                         int32_t slot)
{
    const int64_t extent[] = { w->n, w->along, AROUND_CELLS, 1 };
    const rd_loop steps = { .axis = 0 }, cells = { .axis = 2, .backwards = w->backwards };

    builder_init(b, 4, extent);
    builder_fold(b, fold_around(w, reducer, type));
    builder_add(b, (rd_inst){ .kind = RD_I_START });
    builder_loop(b, w->outside ? cells : steps);
    builder_loop(b, w->outside ? steps : cells);
    builder_loop(b, (rd_loop){ .axis = 3 });
    if (w->along > 1)
        builder_loop(b, (rd_loop){ .axis = 1 });
    load_at(b, &(fold_case){ .form = CELLS, .cols = w->along }, 0, 0, type, AROUND_CELLS * w->along,
            1);
    builder_add(b, (rd_inst){ .kind = RD_I_STEP, .b = reducer == RD_RED_dot ? 0 : -1, .c = -1 });
    for (int k = w->along > 1 ? 4 : 3; k > 0; k--)
        builder_end(b);
    builder_loop(b, (rd_loop){ .axis = 2 });
    close(b, &(fold_case){ .reducer = reducer, .type = type }, slot, AROUND_CELLS, 2);
    builder_end(b);
}

START_TEST(cells_around_one_index)
{
    static const around ways[] = {
        { 12, 1, false, false }, { 12, 1, false, true },  { 12, 1, true, true },
        { 200, 1, false, true }, { 200, 1, true, false }, { 200, 1, true, true },
        { 12, 64, false, true }, { 12, 128, true, true }, { 200, 64, true, false },
        { 200, 64, true, true }, { 12, 33, false, true },
    };

    for (int k = 0; k < COUNT(ways) * COUNT(types); k++) {
        const rd_reducer_id reducer = (rd_reducer_id)_i;
        const rd_dtype      type    = types[k / COUNT(ways)];
        const around       *w       = &ways[k % COUNT(ways)];
        tile_memory         m       = { 0 };
        char                what[120];
        builder             b;

        if (!has(reducer, type))
            continue;
        tile_slot(&m, type, w->n * w->along * AROUND_CELLS, ORDINARY);
        build_around(&b, w, reducer, type,
                     tile_slot(&m, fold_around(w, reducer, type).out,
                               AROUND_CELLS * rd_reducer_table[reducer].n_out, ORDINARY));
        snprintf(what, sizeof what, "%s of %s, %d x %d, outside %d, backwards %d",
                 rd_reducer_table[reducer].name, rd_dtype_name(type), (int)w->n, (int)w->along,
                 w->outside, w->backwards);
        tile_agree(&b, &m, NULL, 0, true, what);
        tile_free(&m);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles_folds");
    TCase *tests = tcase_create("folds");

    tcase_add_loop_test(tests, one_row, 0, RD_RED_user);
    tcase_add_loop_test(tests, rows_and_columns, 0, RD_RED_user);
    tcase_add_loop_test(tests, long_and_thin, 0, RD_RED_user);
    tcase_add_loop_test(tests, neighbouring_cells, 0, RD_RED_user);
    tcase_add_loop_test(tests, rows_of_blocks, 0, RD_RED_user);
    tcase_add_loop_test(tests, subtrees, 0, RD_RED_user);
    tcase_add_loop_test(tests, halves_in_f32, 0, RD_RED_user);
    tcase_add_loop_test(tests, squares, 0, RD_RED_user);
    tcase_add_loop_test(tests, blocks_end_in_squares, 0, 2);
    tcase_add_loop_test(tests, maps_of_squares, 1, COUNT(maps));
    tcase_add_loop_test(tests, sums_of_narrow_types, 0, 4);
    tcase_add_loop_test(tests, cells_around_one_index, 0, RD_RED_user);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
