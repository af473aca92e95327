/* packed_run.c - runs products by packed panels, block by block.
 *
 * A panel is a range of columns of b, copied to contiguous memory.  A block is rows and columns of
 * c that one call computes.  A piece is a run of neighbouring columns that is copied at once. */
#include "kernels/cpu/product/packed.h"
#include <string.h>

/* ---- Neighbours ------------------------------------------------------------------------------ *
 * Columns of a panel whose elements lie side by side are copied together, in pieces whose width is
 * known when this is compiled: a power of two. */
enum { MOST_COLUMNS = 32 };

/* n neighbouring columns of a panel, from `col` on, that are copied at once. */
typedef struct piece {
    int64_t col, n;
} piece;

/* The columns of a panel in one matrix: where each is, and the pieces in which they are copied. */
typedef struct columns {
    int64_t at[MOST_COLUMNS]; /* where each is, in one of the matrices */
    piece   piece[MOST_COLUMNS];
    int     n_piece;
} columns;

/* Adds neighbouring columns [from, to) as pieces of 32, 16, 8 .. columns, the largest first, so
 * that each copy has a size that the compiler knows. */
static void add_pieces(columns *c, int64_t from, int64_t to)
{
    for (int64_t n = MOST_COLUMNS; n > 0; n /= 2)
        for (; to - from >= n; from += n)
            c->piece[c->n_piece++] = (piece){ from, n };
}

/* Adds columns [from, to), which go along one axis: contiguous ones as pieces that are copied at
 * once, or one by one if their stride is not 1.  `at` is the position of the first, in elements. */
static void find_run(columns *c, int64_t from, int64_t to, int64_t at, int64_t step)
{
    for (int64_t i = from; i < to; i++) {
        c->at[i] = at + (i - from) * step;
        if (step != 1)
            c->piece[c->n_piece++] = (piece){ i, 1 };
    }
    if (step == 1)
        add_pieces(c, from, to);
}

/* Finds the positions of n columns of a panel, from column `first` on, in one of the matrices, and
 * which of them are contiguous.  It divides once per run along the last axis, not per column.
 * `rest` is what is left of the last axis, which is the fastest. */
static void find_columns(columns *c, const rd_packed *packed, int matrix, int64_t first, int64_t n)
{
    const rd_product_axis *last = &packed->n.axis[packed->n.n - 1];

    c->n_piece = 0;
    for (int64_t i = 0, to; i < n; i = to) {
        const int64_t rest            = last->extent - (first + i) % last->extent;
        int64_t       at[RD_MATRICES] = { 0 };

        rd_product_move_along(at, packed->n.axis, packed->n.n, first + i);
        to = n - i < rest ? n : i + rest;
        find_run(c, i, to, at[matrix], last->step[matrix]);
    }
}

/* Copies n pieces of so many bytes to `panel`, a panel's width apart, from the positions `step`; or
 * back. */
#define COPY(BYTES)                                                    \
    for (int64_t k = 0; k < n; k++)                                    \
        if (back)                                                      \
            memcpy(memory + step[k] * size, panel + k * width, BYTES); \
        else                                                           \
            memcpy(panel + k * width, memory + step[k] * size, BYTES); \
    break

/* Copies n pieces (runs of neighbouring columns) of `bytes` bytes to a panel, or back to memory; a
 * constant size makes each copy a few moves. step[k] is the position of piece k in elements of
 * `size` bytes, and `width` is the row of the panel in bytes. */
static inline void copy_piece(char *panel, int64_t width, char *memory, const int64_t *step,
                              int64_t n, int64_t size, int64_t bytes, bool back)
{
    switch (bytes) {
    case 128: COPY(128);
    case 64: COPY(64);
    case 32: COPY(32);
    case 16: COPY(16);
    case 8: COPY(8);
    default: COPY(4);
    }
}
#undef COPY

/* ---- A block --------------------------------------------------------------------------------- */
/* A block of c: its rows and columns, and where packed copies are in the memory of the task. */
typedef struct block {
    const rd_packed *packed;
    int64_t          size;      /* of an element */
    char            *a, *b, *c; /* the first elements of its item of the batch */
    int64_t          row, rows, col, cols;
    char            *panel_b, *rows_a, *panel_c;
    int64_t         *a_place, *c_place; /* of its rows */
} block;

/* Returns n, but at most `most`. */
static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* Returns block number `number` of c: its rows, columns and addresses.  Blocks are counted by batch
 * item, then columns, then rows, the last one fastest.  panel_b, rows_a and panel_c are where
 * copies lie in the task's memory, a_place and c_place where each row begins. */
static block block_at(const rd_packed *packed, const rd_task *task, int64_t number)
{
    const int64_t of_item = packed->row_blocks * packed->col_blocks, in_item = number % of_item;
    int64_t       at[RD_MATRICES] = { 0 };
    block         b               = { .packed  = packed,
                                      .size    = rd_dtype_size(packed->of->type),
                                      .row     = in_item % packed->row_blocks * packed->rows,
                                      .col     = in_item / packed->row_blocks * packed->cols,
                                      .panel_b = task->state + packed->b_at,
                                      .rows_a  = task->state + packed->a_at,
                                      .panel_c = task->state + packed->c_at };

    rd_product_move_along(at, packed->batch.axis, packed->batch.n, number / of_item);
    b.a       = rd_product_element(packed->of, task->slot, RD_A, at[RD_A]);
    b.b       = rd_product_element(packed->of, task->slot, RD_B, at[RD_B]);
    b.c       = rd_product_element(packed->of, task->slot, RD_C, at[RD_C]);
    b.rows    = at_most(packed->rows, packed->m.extent - b.row);
    b.cols    = at_most(packed->cols, packed->n.extent - b.col);
    b.a_place = (int64_t *)(void *)(task->state + packed->places_at);
    b.c_place = b.a_place + packed->rows;
    return b;
}

/* Finds where each row of the block begins in a and in c, in elements. rd_product_move_along()
 * finds the positions in all matrices for one index over the axes of m. */
static void find_rows(const block *b)
{
    for (int64_t r = 0; r < b->rows; r++) {
        int64_t at[RD_MATRICES] = { 0 };

        rd_product_move_along(at, b->packed->m.axis, b->packed->m.n, b->row + r);
        b->a_place[r] = at[RD_A];
        b->c_place[r] = at[RD_C];
    }
}

/* Packs a row of a into contiguous memory: copies runs of a_run contiguous elements along k at
 * once. */
static void pack_runs(const block *b, char *to, const char *from)
{
    const int64_t run = b->packed->a_run * b->size;

    for (int64_t k = 0; k < b->packed->k.extent; k += b->packed->a_run, to += run)
        memcpy(to, from + b->packed->a_step[k] * b->size, (size_t)run);
}

/* Packs a row of a into contiguous memory element by element.  Copies of 4 or 8 bytes are single
 * moves. */
static void pack_steps(const block *b, char *to, const char *from)
{
    const int64_t *step = b->packed->a_step, n = b->packed->k.extent;

    if (b->size == 4)
        for (int64_t k = 0; k < n; k++)
            memcpy(to + k * 4, from + step[k] * 4, 4);
    else
        for (int64_t k = 0; k < n; k++)
            memcpy(to + k * 8, from + step[k] * 8, 8);
}

/* Packs all rows of a that the block needs.  Runs of 16 contiguous elements and more are copied at
 * once. */
static void pack_rows(const block *b)
{
    enum { LONG = 16 };

    for (int64_t r = 0; r < b->rows; r++)
        (b->packed->a_run >= LONG ? pack_runs : pack_steps)(
            b, b->rows_a + r * b->packed->k.extent * b->size, b->a + b->a_place[r] * b->size);
}

/* Packs n columns of b, from `col` on, into the panel in the memory of the task. A piece of
 * neighbouring columns is copied for each k, whose position is b_step[k]. */
static void pack_columns(const block *b, int64_t col, int64_t n)
{
    columns c;

    find_columns(&c, b->packed, RD_B, col, n);
    for (int i = 0; i < c.n_piece; i++) {
        const piece *q = &c.piece[i];

        copy_piece(b->panel_b + q->col * b->size, b->packed->panel * b->size,
                   b->b + c.at[q->col] * b->size, b->packed->b_step, b->packed->k.extent, b->size,
                   q->n * b->size, /*back=*/false);
    }
}

/* Copies n columns of the panel of c, from `col` on, to memory, where the kernel cannot write them
 * in place. A piece of neighbouring columns is copied for each row, whose position is
 * c_place[row]. */
static void store_columns(const block *b, int64_t col, int64_t n)
{
    columns c;

    find_columns(&c, b->packed, RD_C, col, n);
    for (int i = 0; i < c.n_piece; i++) {
        const piece *q = &c.piece[i];

        copy_piece(b->panel_c + q->col * b->size, b->packed->panel * b->size,
                   b->c + c.at[q->col] * b->size, b->c_place, b->rows, b->size, q->n * b->size,
                   /*back=*/true);
    }
}

/* Computes all rows of a block for n columns of c.  A matrix that the kernel can read or write
 * where it lies (as is) is used in place.  Any other one is packed into the task's memory before,
 * or stored from there afterwards.  a_row, b_row and c_row are elements from row to row, a_step
 * those along k. */
static void run_columns(const block *b, int64_t col, int64_t n)
{
    const rd_packed *packed = b->packed;
    rd_product_tile  t      = { .rows   = b->rows,
                                .cols   = n,
                                .steps  = packed->k.extent,
                                .a      = b->rows_a,
                                .b      = b->panel_b,
                                .c      = b->panel_c,
                                .a_row  = packed->k.extent,
                                .a_step = 1,
                                .b_row  = packed->panel,
                                .c_row  = packed->panel };

    if (packed->a_as_is) {
        t.a      = b->a + b->a_place[0] * b->size;
        t.a_row  = packed->a_row;
        t.a_step = packed->a_next;
    }
    if (packed->b_as_is) {
        t.b     = b->b + col * b->size;
        t.b_row = packed->b_next;
    } else
        pack_columns(b, col, n);
    if (packed->c_as_is) {
        t.c     = b->c + (b->c_place[0] + col) * b->size;
        t.c_row = packed->c_row;
    }
    packed->kernel(&t);
    if (!packed->c_as_is)
        store_columns(b, col, n);
}

/* Computes block `number` of c: packs its rows of a, then computes panel after panel (the columns
 * that one kernel call takes).  Returns how many elements of a and b were read. */
int64_t rd_packed_block(const rd_packed *packed, const rd_task *task, int64_t number)
{
    const block b = block_at(packed, task, number);

    find_rows(&b);
    if (!packed->a_as_is)
        pack_rows(&b);
    for (int64_t col = b.col; col < b.col + b.cols; col += packed->panel)
        run_columns(&b, col, at_most(packed->panel, b.col + b.cols - col));
    return (b.rows + b.cols) * packed->k.extent;
}
