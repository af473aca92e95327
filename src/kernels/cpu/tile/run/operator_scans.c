/* operator_scans.c - prefix scans (running sums, products, minima, maxima) on tiles, by reducers
 * that are one operator.
 *
 *   x = 1 2 3 4, cumulative sum:   y = 1 3 6 10,   exclusive: y = - 1 3 6
 *
 * Cells are independent scans.  Either neighbouring elements of a row belong to neighbouring scans
 * (scan_columns), so rows of the tile are successive steps, or a row is one scan and its elements
 * are successive steps (scan_along).
 *
 * Words.  A slot is the memory of one scan.  hi and lo are the sum of the blocks before; part is
 * the prefix within the current block.  A prefix by the tree combines elements as blocks are
 * combined (program.h): node of level l covers 2^l elements.  A detour buffer takes results that
 * cannot be written in place at once.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. A STEP reads an element
 * (a), weights (b), a mask (c) and a group's label (d), -1: none. */
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/operator_scans.h"
#include "kernels/math/prefix_sums.h"
#include <string.h>

enum { FIRST_LEVEL = 3, LEVELS = 7 }; /* nodes of 1, 2, 4 .. 64 elements of a block */
/* Results that go through a detour buffer: most bytes, and most rows of neighbouring cells. */
enum { ASIDE_BYTES = 8 * RD_SPARE, ASIDE_ROWS = 8 };

/* Returns the number of words in the slot (memory of one scan) before the prefix sums of blocks:
 * hi, lo, part, and with a tree the nodes of all levels. */
static int first_word(const rd_tile_fold *f)
{
    return FIRST_LEVEL + (f->fold->prefix == RD_PREFIX_TREE ? LEVELS : 0);
}

/* Sets the memory of each slot (one scan). For a scan along rows it is one rd_scan_state, else an
 * array of 8-byte words. Sums of floats (rd_fold_has_pairs) also keep the sums of blocks before the
 * current one, by the tree of prefix sums. */
void rd_operator_scan_size(rd_tile_fold *f)
{
    f->scan_words = rd_fold_has_pairs(f->fold) ? rd_prefix_sum_words(f->fold->n_block) : 0;
    f->scan_bytes =
        8 * f->scan_words +
        (f->mapping == RD_FOLD_ALONG ? (int64_t)sizeof(rd_scan_state) : 8 * first_word(f));
}

/* Returns the address of word `number` of a cell's slot (the memory of one scan).  Each word is an
 * array over all slots, of 8 bytes a slot: hi, lo and part; then the nodes of the levels, and the
 * sums. size[0] is the bytes of an element. */
static char *array_at(const rd_tile_fold *f, char *memory, int number, int64_t cell)
{
    return memory + f->scans_offset + 8 * f->slots * number + cell * f->word_bytes[0];
}

/* Returns the words of neighbouring scans from a cell on, as kernels take them: hi and lo are the
 * blocks before, part the prefix in the current block. */
static rd_scan_columns columns_at(const rd_tile_fold *f, char *memory, int64_t cell)
{
    return (rd_scan_columns){
        .hi    = array_at(f, memory, /*number=*/0, cell),
        .lo    = array_at(f, memory, /*number=*/1, cell),
        .part  = array_at(f, memory, /*number=*/2, cell),
        .sums  = (double *)(void *)array_at(f, memory, first_word(f), /*cell=*/0) + cell,
        .pitch = f->slots /* from a sum to the next of the same scan */
    };
}

/* Returns the state of the scan of a cell that runs along rows. */
static rd_scan_state *state_at(const rd_tile_fold *f, char *memory, int64_t cell)
{
    return (rd_scan_state *)(void *)(memory + f->scans_offset + cell * f->scan_bytes);
}

/* Initialises the scans of a group, before their first element. Scans along rows are one to a
 * group. `start` sets hi, lo and part to identities; the prefix sums begin at nothing. */
void rd_operator_scan_start(const rd_tile_fold *f, char *memory, int64_t group)
{
    if (f->mapping == RD_FOLD_ALONG) {
        rd_scan_state *s = state_at(f, memory, group);

        s->n = 0;
        rd_prefix_sum_begin(f->scan_words, s->sums);
        return;
    }
    const rd_scan_columns s = columns_at(f, memory, group * f->group);

    f->scan->start(f->group, &s);
    for (int64_t k = 0; k < f->scan_words; k++)
        rd_prefix_sum_begin(f->group, s.sums + k * s.pitch);
}

/* A scan on a tile: its plan, its memory, its operand x and its result y. */
typedef struct scan {
    const rd_tile_fold *f;
    char               *memory;
    rd_reg_view         x, y;
    bool                nontemporal; /* y is memory that is written past the caches */
} scan;

/* ---- Results --------------------------------------------------------------------------------- */
/* True if results at y must go through a buffer first: for a conversion, or as non-temporal stores
 * need whole cache lines (addresses and rows that are multiples of 64 bytes).  `row` is the
 * distance of rows in elements of size[0] bytes. */
static bool needs_detour(const scan *a, const void *y, int64_t row)
{
    const bool lines = a->f->scan->nontemporal &&
                       ((uintptr_t)y | (uintptr_t)(row * a->f->word_bytes[0])) % 64 == 0;

    return rd_tiles_needs_conversion(a->f) || (a->nontemporal && !lines);
}

/* Returns the buffer that results go through if they are converted or stored past the caches. */
static char *detour_buffer(const scan *a)
{
    void *s[RD_MAX_STATE];

    rd_tree_spare(a->f, a->memory, /*which=*/0, s);
    return s[0];
}

/* Copies results from the detour buffer to elements (r .. r + rows, c .. c + n) of y: converts
 * them, or uses non-temporal stores. Rows of the buffer have n elements of size[0] bytes. */
static void copy_results(const rd_tiles *m, const scan *a, int64_t r, int64_t c, int64_t rows,
                         int64_t n)
{
    const int64_t bytes = n * a->f->word_bytes[0];

    for (int64_t k = 0; k < rows; k++) {
        void *to = rd_view_at(&a->y, r + k, c), *from = detour_buffer(a) + k * bytes;

        if (rd_tiles_needs_conversion(a->f))
            rd_tiles_convert_results(m, a->f, n, &from, &to);
        else
            m->code->simd->copy_nontemporal(bytes, to, from);
    }
}

/* ---- Along a row ----------------------------------------------------------------------------- */
/* Scans row r as successive steps of one cell (an independent scan), in pieces if results go
 * through a buffer (of ASIDE_BYTES). Kernels write exclusive scans by ordinary stores only, so
 * these take that way if y is to be written past the caches. s->n counts the elements so far. The
 * first result of an exclusive scan is that of no elements (`empty`). */
static void scan_along(const rd_tiles *m, scan *a, int64_t cell, int64_t r)
{
    const rd_tile_fold *f         = a->f;
    const bool          exclusive = f->fold->exclusive;
    const bool          detour =
        needs_detour(a, rd_view_at(&a->y, r, 0), /*row=*/0) || (a->nontemporal && exclusive);
    rd_scan_state *s     = state_at(f, a->memory, cell);
    const bool     empty = exclusive && s->n == 0;

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = rd_least(m->cols - c, detour ? ASIDE_BYTES / f->word_bytes[0] : m->cols);
        f->scan->along(s, n, detour ? detour_buffer(a) : rd_view_at(&a->y, r, c),
                       rd_view_at(&a->x, r, c), exclusive, a->nontemporal && !detour);
        if (detour)
            copy_results(m, a, r, c, /*rows=*/1, n);
    }
    if (empty)
        rd_tiles_set_empty_result(f, &a->y, r, 0);
}

/* ---- Neighbouring cells ---------------------------------------------------------------------- */
/* Applies the reducer's operator to n states and elements: s = s op x. */
static void merge(const scan *a, int64_t n, void *s, const void *x)
{
    a->f->code->step(&(rd_fold_rows){ .n = n, .rows = 1, .s = { s }, .x = x });
}

/* Returns the nodes of a level of the trees of neighbouring scans, from `cell` on; a node of level
 * l covers 2^l elements. */
static void *level_at(const scan *a, int level, int64_t cell)
{
    return array_at(a->f, a->memory, FIRST_LEVEL + level, cell);
}

/* Adds element e of a block to n scans that form prefixes by the combine tree (RD_PREFIX_TREE): it
 * merges with its finished left siblings, like a carry in a binary counter. Then the nodes that
 * cover [0, e] merge from the right into `whole`, the prefix within the block: 7 elements are 4 +
 * (2 + 1). Bit `level` of e is 1 if a node of that level is finished and not yet merged. */
static void tree_step(const scan *a, int64_t cell, int64_t n, const void *x, int64_t e, void *whole)
{
    const size_t bytes = (size_t)(n * a->f->word_bytes[0]);
    int          level = 0;
    void        *left[RD_MAX_STATE];

    for (; e >> level & 1; level++) {
        merge(a, n, level_at(a, level, cell), x);
        x = level_at(a, level, cell);
    }
    memcpy(level_at(a, level, cell), x, bytes);
    rd_tree_spare(a->f, a->memory, /*which=*/1, left);
    memcpy(whole, level_at(a, level, cell), bytes);
    for (level++; (e + 1) >> level; level++)
        if ((e + 1) >> level & 1) {
            memcpy(left[0], level_at(a, level, cell), bytes);
            merge(a, n, left[0], whole);
            memcpy(whole, left[0], bytes);
        }
}

/* Takes one step of n <= RD_SPARE neighbouring scans, elements (r, c .. c + n), and writes their
 * results; an exclusive scan writes the prefix first. s.part is the prefix within the current
 * block; the kernel `prefix` joins it with the blocks before. At step 0 an exclusive scan has the
 * result of no elements. */
static void scan_step(const rd_tiles *m, const scan *a, int64_t cell, int64_t step, int64_t r,
                      int64_t c, int64_t n)
{
    const rd_tile_fold   *f      = a->f;
    const rd_scan_columns s      = columns_at(f, a->memory, cell);
    const bool            detour = rd_tiles_needs_conversion(f) || a->nontemporal;
    const void           *x      = rd_view_at(&a->x, r, c);
    void                 *y      = detour ? detour_buffer(a) : rd_view_at(&a->y, r, c);

    if (f->fold->exclusive) {
        if (x == y) /* in place: the element is read after the result is there */
            x = memcpy(detour_buffer(a), x, (size_t)(n * f->word_bytes[0]));
        f->scan->prefix(n, &s, y);
    }
    if (f->fold->prefix == RD_PREFIX_TREE)
        tree_step(a, cell, n, x, step % f->fold->steps, s.part);
    else
        merge(a, n, s.part, x);
    if (!f->fold->exclusive)
        f->scan->prefix(n, &s, y);
    if (detour)
        copy_results(m, a, r, c, /*rows=*/1, n);
    for (int64_t k = 0; f->fold->exclusive && step == 0 && k < n; k++)
        rd_tiles_set_empty_result(f, &a->y, r, c + k);
}

/* Takes `rows` successive steps of n neighbouring scans, from element (r, c) on, by one call of a
 * kernel.  All steps are in one block; through the detour buffer they are at most ASIDE_ROWS, and
 * as many columns at a time (`most`) as it has bytes for. */
static void scan_rows(const rd_tiles *m, const scan *a, int64_t cell, int64_t r, int64_t c,
                      int64_t rows, int64_t n)
{
    const rd_tile_fold *f      = a->f;
    const bool          detour = needs_detour(a, rd_view_at(&a->y, r, c), a->y.row);
    const int64_t       most   = detour ? ASIDE_BYTES / f->word_bytes[0] / rows : n;

    for (int64_t done = 0, now; done < n; done += now) {
        const rd_scan_columns s = columns_at(f, a->memory, cell + done);

        now = rd_least(n - done, most);
        f->scan->rows(
            &s, &(rd_scan_rows){ .n    = now,
                                 .rows = rows,
                                 .x    = rd_view_at(&a->x, r, c + done),
                                 .y    = detour ? detour_buffer(a) : rd_view_at(&a->y, r, c + done),
                                 .ldx  = a->x.row,
                                 .ldy  = detour ? now : a->y.row,
                                 .nontemporal = a->nontemporal && !detour });
        if (detour)
            copy_results(m, a, r, c + done, rows, now);
    }
}

/* Makes `block` (64 steps) the current one in all scans of a group; the sums of the block before it
 * are added to those of earlier blocks. */
static void enter_block(const scan *a, int64_t group, int64_t block)
{
    rd_group             *g = rd_tree_group(a->memory, group);
    const rd_scan_columns s = columns_at(a->f, a->memory, group * a->f->group);

    if (g->block >= 0 && g->block != block)
        a->f->scan->block(a->f->group, &s, g->block);
    g->block = block;
}

/* Scans a tile with one independent prefix scan (cell) per column.
 *
 * The rows of the tile are successive steps of these scans, or belong to other cells.  Several rows
 * go to one kernel call if they are successive steps of one block and the scan is an inclusive one
 * without a tree (`simple`).  `cell` and `step` are the numbers of the tile's first element; `row`,
 * `step_row` and `step_col` are their strides. */
static void scan_columns(const rd_tiles *m, const scan *a)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       cell = rd_tiles_position(m, f->cell.at);
    const int64_t       row  = f->cell.row + (f->own_rows ? f->cells : 0);
    const int64_t       step =
        rd_tiles_position(m, f->lane_line.at) * f->row_steps + rd_tiles_position(m, f->lane.at);
    const int64_t step_row = f->lane_line.row * f->row_steps + f->lane.row;
    const int64_t step_col = f->lane_line.col * f->row_steps + f->lane.col;
    const bool    simple   = !f->fold->exclusive && f->fold->prefix == RD_PREFIX_LEFT;
    const bool    several  = simple && f->mapping == RD_FOLD_COLUMNS && row == 0 && step_row == 1;
    const int64_t most     = !several                                         ? 1
                             : a->nontemporal || rd_tiles_needs_conversion(f) ? ASIDE_ROWS
                                                                              : m->rows;

    for (int64_t r = 0, rows; r < m->rows; r += rows) {
        const int64_t left =
            rd_least(m->rows - r, f->fold->steps - (step + r * step_row) % f->fold->steps);

        rows = rd_least(most, left);
        for (int64_t c = 0, n; c < m->cols; c += n) {
            const int64_t first = cell + r * row + c * f->cell.col,
                          at    = step + r * step_row + c * step_col;

            n = simple ? rd_tree_adjacent_cells(f, first, m->cols - c)
                       : rd_tree_cells_at_once(f, first, m->cols - c);
            /* group: scans that share a block */
            enter_block(a, first / f->group, at / f->fold->steps);
            if (simple)
                scan_rows(m, a, first, r, c, rows, n);
            else
                scan_step(m, a, first, at, r, c, n);
        }
    }
}

/* SCAN by a reducer that is one operator (sum, product, minimum): masks its operand if needed, then
 * scans down columns or along rows. t->stores_into is the STORE whose memory results go into, -1:
 * none; it may ask for non-temporal stores. Rows with states of their own (own_rows) have f->cells
 * cells each. */
void rd_operator_scan_run(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    scan                a    = { .f = f, .memory = m->fold[inst->arg] };
    rd_reg_view         mask = { 0 };

    if (inst->c >= 0) {
        const rd_reg_view x = rd_tiles_view(m, inst->a);

        mask = rd_mask_dense(m, inst->c);
        a.x  = rd_mask_leave_out(m, f->fold, &x, &mask);
    } else
        a.x = rd_tiles_dense(m, rd_tiles_view(m, inst->a));
    a.y           = rd_tiles_target(m, pc, inst->dst);
    a.nontemporal = t->stores_into >= 0 && m->code->inst[t->stores_into].nontemporal;
    if (f->mapping != RD_FOLD_ALONG)
        scan_columns(m, &a);
    for (int64_t r = 0; f->mapping == RD_FOLD_ALONG && r < m->rows; r++)
        scan_along(
            m, &a,
            rd_tiles_position(m, f->cell.at) + r * (f->cell.row + (f->own_rows ? f->cells : 0)), r);
    if (mask.at)
        rd_mask_clear_empty(m, f, a.memory, &a.y, &mask);
}
