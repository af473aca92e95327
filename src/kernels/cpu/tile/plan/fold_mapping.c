/* fold_mapping.c - the plan of each fold: its lane mapping (which states neighbouring elements
 * update), and the layout of its states in memory.
 *
 *   sum over columns of f32, 64 lanes  ->  RD_FOLD_LANES, one group of 64 states
 *   sum over rows, a cell per column   ->  RD_FOLD_COLUMNS, groups of neighbouring cells
 *
 * Words.  A fold's element has four numbers: its cell (which result), its lane position, its
 * `lane_line` number (which pass along the lane position), and its flat index over the reduced
 * axes. Each number is a sum over loop indices.  Their strides from row to row and from column to
 * column (.row, .col) decide the mapping.  A node is the merged state of finished blocks.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. A fold has `totals` if
 * each row is a whole fold; it is `treeless` if a kernel makes these without a combine tree. A fold
 * has `user` if its reducer is the caller's own. A STEP reads an element (a), weights (b), a mask
 * (c) and a group's label (d), -1: none. */
#include "core/bytes.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/cpu/tile/run/trees.h"
#include "kernels/cpu/tile/run/user_folds.h"
#include "kernels/emit/emit.h"

/* Returns the most nodes (merged states of finished blocks) that the stack of a combine tree holds,
 * with one more for the node that has just finished.  A tree of n blocks has at most one unmerged
 * node for each bit of n.  If tasks share the fold, a part may begin anywhere in the tree and has
 * up to twice as many. */
static int32_t node_capacity(const rd_fold *fold)
{
    int32_t bits = 0;

    for (int64_t n = fold->n_block; n > 0; n /= 2)
        bits++;
    return fold->split ? 2 * bits + 2 : bits + 1;
}

/* Counts the cells (results of a fold) that one axis goes through side by side: they end where the
 * next axis of the cells begins, whose coefficient is the least above 1 in the cell number. */
static int64_t count_adjacent_cells(const rd_tile_fold *f)
{
    int64_t along = f->cells;

    for (int32_t k = 0; k < f->fold->cell.n_add; k++)
        if (f->fold->cell.add[k].coef > 1 && f->fold->cell.add[k].coef < along)
            along = f->fold->cell.add[k].coef;
    return along;
}

/* True if the columns of a tile hold one element of each cell (result) and the rows follow each
 * other along the lanes, such as pixels of interleaved colours.  `lane` is the position along the
 * lanes, `lane_line` the pass along them: columns change neither, rows move one lane on.  There
 * must be few cells, all in every row, and a plain fold: no mask, no weights, no index, and no
 * states for each row. */
static bool has_channels(const rd_tile_fold *f)
{
    return f->fold->lanes > 1 && f->cell.col == 1 && f->cell.row == 0 && f->lane.col == 0 &&
           f->lane.row == 1 && f->lane_line.col == 0 && f->lane_line.row == 0 &&
           f->cells == f->col_extent && f->cells <= RD_SMALL_PERIOD && f->whole_columns &&
           !f->own_rows && !f->masked && !f->weighted && !f->has_index;
}

/* Chooses which states of a fold neighbouring elements update: lanes of one cell (result),
 * neighbouring cells, or all cells in turn.  It follows from the strides (.col) of the cell, lane
 * and outer numbers: the one that rises by one from column to column while the others stay.  If
 * none does, elements go one by one. */
static rd_fold_mapping mapping_of(const rd_tile_fold *f)
{
    if (has_channels(f))
        return RD_FOLD_CHANNELS;
    /* successive steps of one scan */
    if (f->fold->prefix == RD_PREFIX_TREE && f->lane.col == 0 && f->cell.col == 0 &&
        f->lane_line.col == 1)
        return RD_FOLD_ALONG;
    if (f->lane.col == 1 && f->cell.col == 0 && f->lane_line.col == 0) /* lanes of one cell */
        return RD_FOLD_LANES;
    /* cells of one lane each */
    if (f->fold->lanes == 1 && f->cell.col == 1 && f->lane_line.col == 0 && f->lane.col == 0)
        return RD_FOLD_COLUMNS;
    return RD_FOLD_ELEMENTS;
}

/* True if the elements of a row go to the lanes of one cell (result), and the next row to the next
 * cell.  Folds with states for each row, with results in any order, or with indices do not need
 * this. */
static bool has_adjacent_cells(const rd_tile_fold *f)
{
    return f->mapping == RD_FOLD_LANES && f->fold->lanes > 1 && f->cell.row == 1 &&
           f->lane.row == 0 && f->lane_line.row == 0 && !f->own_rows && !f->any_order &&
           !f->has_index;
}

/* True if adjacent cells (results, one for each row) can share one group of states, which begin and
 * end their blocks together.  Every row must bring the same number of whole steps, and the rows
 * must go through all these cells (see group_size()).  No block may end, or be complete, within a
 * row: a row's steps (row_steps) are fewer than a block's, and divide them.  A row is a whole pass
 * along the lanes (lane_extent) in one tile, and no panel (range) cuts the axis of rows. */
static bool is_in_lockstep(const rd_tile_fold *f)
{
    const rd_fold *fold = f->fold;

    return f->adjacent_cells && !f->row_panels && count_adjacent_cells(f) <= f->row_extent &&
           f->whole_columns && !f->in_square && f->col_extent == fold->lane_extent &&
           fold->lane_extent % fold->lanes == 0 && f->row_steps < fold->steps &&
           fold->steps % f->row_steps == 0;
}

/* Returns the greatest common divisor of two numbers; a if b is 0. */
static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Returns the number of states of a group, which begin and end their blocks together (trees.h), so
 * that kernels take them at once.  One pass of the loop over their cells must reach them all, as
 * they begin a block from the left.  Cells on both sides of an axis of one index are adjacent, too,
 * but an outer loop goes through them.  A panel (a range) of columns also runs all the loops inside
 * it before the next panel.  If a panel is narrower than the run of adjacent cells, groups must end
 * where panels do: a panel is a group if all cells are one run; else the size also divides the
 * run. */
static int64_t group_size(const rd_tile_fold *f)
{
    const int64_t along = rd_least(count_adjacent_cells(f), f->col_extent);

    if (f->mapping == RD_FOLD_COLUMNS)
        return f->panel == 0 || f->panel >= along ? along
               : f->cells == along                ? f->panel
                                                  : common_divisor(along, f->panel);
    return rd_bytes_times(f->in_lockstep ? count_adjacent_cells(f) : f->interleaved,
                          f->fold->lanes);
}

/* Sets the bytes of each word of a state, in the current block (`word_bytes`) and in finished nodes
 * of the combine tree (`node_word_bytes`: f64 for sums of f32).  Word 1 of argmin and argmax is the
 * index of the element.  code->counter is the type of numbers in nodes. */
static void state_sizes(rd_tile_fold *f)
{
    const bool index = rd_reducer_places(f->fold->reducer);

    for (int32_t k = 0; k < f->n_state; k++) {
        f->word_bytes[k]      = index && k == 1 ? 8 : rd_elem_size(f->elem);
        f->node_word_bytes[k] = index && k == 1 ? 8 : rd_elem_size(f->code->counter);
    }
    f->has_index = index;
}

/* True if elements come to a cell (result) in the order of their index in C order: every axis that
 * moves on to a further pass along the lanes moves the index by just as much. `lane_line` is the
 * number of the pass. */
static bool has_rising_index(const rd_fold *fold)
{
    for (int32_t k = 0; k < fold->lane_line.n_add; k++) {
        bool found = false;

        for (int32_t i = 0; i < fold->index.n_add; i++)
            found |= fold->index.add[i].axis == fold->lane_line.add[k].axis &&
                     fold->index.add[i].coef == fold->lane_line.add[k].coef;
        if (!found)
            return false;
    }
    return true;
}

/* True if a kernel can look for the best element (argmin, argmax) of many at once, without keeping
 * lanes apart, as any order of elements gives the same bits.  A row of lanes is searched as a
 * whole, and the first of equals counts, so indices must rise along it.  Columns replace a state
 * only by a better element, so later rows and passes must not have lower indices.  A row step of 0
 * means that rows belong to different cells. */
static bool can_find_best(const rd_simd *simd, const rd_tile_fold *f)
{
    if (!f->has_index || !simd->best[f->elem])
        return false;
    return f->mapping == RD_FOLD_LANES
               ? f->index.col > 0
               : f->mapping == RD_FOLD_COLUMNS && f->index.row >= 0 && has_rising_index(f->fold);
}

/* Returns the memory that one more row of a tile with states of its own needs: one result, the
 * slots of a scan, or for each lane the states of the block and of `node_capacity` nodes of its
 * combine tree. A total is a row that is a whole fold, so only its result is kept. */
static int64_t row_bytes(const rd_tile_fold *f)
{
    const int64_t lanes = rd_bytes_times(f->fold->n_cell, f->fold->lanes);

    return f->totals       ? 8 * f->n_state
           : f->fold->scan ? rd_bytes_times(f->fold->n_cell, f->scan_bytes)
                           : rd_bytes_times(lanes, 8 * f->n_state * (f->node_capacity + 1));
}

/* Sets the byte offsets of the arrays in the memory of a fold, and its size: groups, tags of tree
 * nodes, states of the current blocks, nodes, scans ...  Each word of a state takes 8 bytes,
 * however wide it is. rd_piece() reserves n items of some bytes behind `used`, and returns their
 * offset.  Scans have states of their own, and no tree; nor has a fold whose kernels need none
 * (treeless). */
static void lay_out(rd_tile_fold *f)
{
    const bool    tree = !f->fold->scan && !f->treeless;
    const int64_t all = 8 * f->n_state, slots = tree ? f->slots : 0;
    int64_t       used = 0;

    rd_piece(&used, f->groups, sizeof(rd_group));
    /* tags: which blocks each node covers; seen: cells that have had an unmasked element */
    f->tags_offset =
        rd_piece(&used, tree ? f->groups : 0, f->node_capacity * (int64_t)sizeof(rd_tree_node));
    f->block_offset       = rd_piece(&used, f->in_place ? 0 : slots, all);
    f->tree_offset        = rd_piece(&used, slots, all * f->node_capacity);
    f->scans_offset       = rd_piece(&used, f->fold->scan ? f->slots : 0, f->scan_bytes);
    f->seen_offset        = rd_piece(&used,
                              !f->masked  ? 0
                                     : f->totals ? f->n_total
                                                 : f->slots,
                                     /*each=*/1);
    f->first_place_offset = rd_piece(&used, f->notes_places ? f->slots : 0, /*each=*/8);
    f->spare_offset       = rd_piece(&used, 2 * RD_SPARE, all);
    f->total              = rd_piece(&used, f->n_total, all);
    f->bytes              = used;
}

/* Returns the kernels of the reducer of a fold.  Sums of f32 that add no two elements in a lane (a
 * fold of one step, see rd_fold_widens()) stay f32 and have kernels of their own. */
static const rd_fold_code *fold_code_of(const rd_simd *simd, const rd_fold *fold)
{
    const rd_elem elem = rd_elem_of(fold->type);

    return rd_reducer_adds(fold->reducer) && elem == RD_ELEM_f32 && !rd_fold_widens(fold) &&
                   !fold->scan
               ? &simd->short_sum[fold->reducer]
               : &simd->fold[elem][fold->reducer];
}

/* Plans a fold by the caller's reducer (callbacks): the reference interpreter keeps its states, one
 * fold for each of the `rows` of a tile.  A row's elements go to the lanes in turn unless the
 * reducer needs the index of each.  row_steps is the steps of one pass along the lanes, rounded
 * up. */
static void plan_users(rd_tile_fold *f, int64_t rows)
{
    f->users    = true;
    f->by_lanes = f->fold->lanes > 1 && !rd_user_needs_index(f->fold->user);
    f->elem     = rd_elem_of(f->fold->user->in);
    f->mapping  = RD_FOLD_ELEMENTS;
    f->cells    = f->fold->n_cell;
    f->row_steps =
        f->fold->lane_extent / f->fold->lanes + (f->fold->lane_extent % f->fold->lanes != 0);
    f->row_bytes = rd_user_folds_bytes(f->fold);
    f->bytes     = rd_bytes_times(f->row_bytes, rows);
}

/* Plans a group-by: the label of an element says to which cell (result) it goes.  All cells of all
 * lanes are one group of states; each lane has one more cell, for labels out of range. min and max
 * must note which cells have had an element, as no state tells (`masked`).  False if there is no
 * kernel, nodes have wider words than states, or results need a conversion. */
static bool plan_groups(rd_tile_fold *f)
{
    const rd_fold *fold = f->fold;

    f->grouped       = true;
    f->mapping       = RD_FOLD_ELEMENTS;
    f->masked        = rd_reducer_is_extreme(fold->reducer) && !fold->identity;
    f->counted       = false;
    f->in_place      = true;
    f->cells         = fold->n_cell;
    f->row_steps     = fold->lane_extent / fold->lanes + (fold->lane_extent % fold->lanes != 0);
    f->node_capacity = node_capacity(fold);
    f->interleaved   = 1;
    f->groups        = 1;
    f->slots = f->group = rd_bytes_times(rd_bytes_add(f->cells, 1), fold->lanes);
    lay_out(f);
    return f->code->group && f->code->counter == f->elem && !rd_tiles_needs_conversion(f);
}

/* Plans fold `number` (a reduction or scan): its kernels, which states neighbouring elements
 * update, and its layout in memory.  `rows` is how many rows of a tile have states of their own, 1
 * if none do.  False if the tile machine has no kernel for it.  A scan by states (`running`) must
 * have one result, and nodes as wide as its states. */
static bool plan_fold(const rd_program *p, const rd_simd *simd, rd_tile_fold *f, int32_t number,
                      int64_t rows)
{
    const rd_fold *fold = &p->fold[number];

    if (fold->user) {
        plan_users(f, rows);
        return true;
    }
    f->elem    = rd_elem_of(fold->type);
    f->code    = fold_code_of(simd, fold);
    f->scan    = &simd->scan[f->elem][fold->reducer];
    f->n_state = rd_reducer_table[fold->reducer].n_state;
    f->running = fold->scan && rd_reducer_table[fold->reducer].op == RD_OP_none;
    if (!f->code->step || (f->running && (f->code->counter != f->elem || fold->n_out > 1)))
        return false;
    state_sizes(f);
    if (fold->n_group)
        return plan_groups(f);
    /* the tile machine counts the elements, as the kernel does not */
    f->counted = f->code->uncounted && !f->weighted && !f->masked;
    f->cells   = fold->n_cell;
    f->mapping = mapping_of(f);
    f->best    = !f->running && can_find_best(simd, f);
    /* the index of the first unmasked element of each cell is kept */
    f->notes_places = f->best && f->masked && f->mapping == RD_FOLD_COLUMNS;
    f->any_order    = f->any_order || f->has_index;
    /* The states of a block are finished where they lie, as neighbours are of one group; unless
     * nodes of the tree have wider words. */
    f->in_place      = f->mapping == RD_FOLD_COLUMNS && f->code->counter == f->elem;
    f->row_steps     = fold->lane_extent / fold->lanes + (fold->lane_extent % fold->lanes != 0);
    f->node_capacity = node_capacity(fold);
    if (fold->scan)
        rd_tiles_size_scan(f);
    f->row_bytes      = row_bytes(f);
    f->interleaved    = f->mapping == RD_FOLD_CHANNELS ? f->cells : 1;
    f->adjacent_cells = has_adjacent_cells(f);
    f->in_lockstep    = is_in_lockstep(f);
    f->group          = group_size(f);
    f->n_total        = f->totals ? rows : 0; /* each row is a whole fold, and keeps its result */
    /* as many groups as hold the lanes of all cells, for each row with states of its own */
    f->groups = rd_bytes_add(rd_bytes_times(f->cells, fold->lanes), f->group - 1) / f->group;
    f->groups = f->totals ? 1 : rd_bytes_times(f->groups, rows);
    f->slots  = rd_bytes_times(f->groups, f->group);
    lay_out(f);
    return true;
}

/* ---- The folds of a program ------------------------------------------------------------------ */
/* Returns the first instruction of a kind (START, STEP ...) that belongs to a fold; -1: it has
 * none. */
int32_t rd_tile_inst_of(const rd_program *p, rd_inst_kind kind, int32_t fold)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == kind && p->inst[i].arg == fold)
            return i;
    return -1;
}

/* Finds the loops that give the rows and columns of a tile at an instruction; NULL: none.  An
 * instruction outside of the loop over columns has one element a row: the loop over rows gives its
 * columns. */
void rd_tile_loops_around(const rd_program *p, const rd_tile_code *code, int32_t i,
                          const rd_loop **row, const rd_loop **col)
{
    *row = *col = NULL;
    for (int32_t k = p->inst[i].loop; k >= 0; k = p->loop[k].parent) {
        if (code->loop[k].role == RD_LOOP_ROWS)
            *row = &p->loop[k];
        if (code->loop[k].role == RD_LOOP_COLS)
            *col = &p->loop[k];
    }
    if (!*col) {
        *col = *row;
        *row = NULL;
    }
}

/* True if a loop always visits its whole axis; false if tasks share the axis (p->root), or a loop
 * over ranges of it (TILE) stands around. */
static bool visits_all(const rd_program *p, const rd_loop *loop)
{
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == loop->axis)
            return false;
    return p->root != loop->axis;
}

/* Returns the extent of a panel that begins after the fold does; 0 if there is none.  A panel is a
 * range of indices of the same axis as `loop`, which a loop of kind RD_LOOP_TILE visits at a time.
 * It counts if that loop lies between the START and the STEP. */
static int64_t panel_extent(const rd_program *p, const rd_loop *loop, int32_t start, int32_t step)
{
    for (int32_t k = 0; loop && k < p->n_loop; k++) {
        const rd_loop *l = &p->loop[k];

        if (l->kind == RD_LOOP_TILE && l->axis == loop->axis && l->begin > start &&
            l->begin < step && l->end > step)
            return l->step;
    }
    return 0;
}

/* True if some loop ends as soon as the result of a fold is decided (any, all): it has an EXIT that
 * tests this fold, and tiles can follow it. */
static bool has_early_exit(const rd_program *p, int32_t fold)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_EXIT && p->inst[i].a == fold)
            return rd_tile_exits_early(p, i);
    return false;
}

/* Plans each fold by what the program says of it: its START and STEP, the loops around these,
 * masks, and the strides of its cell, lane and line numbers.  `sized` is true once the most rows
 * of a tile are known; before, folds are planned for one row.  False if a fold has no kernel.  The
 * second operand of a product (rd_reducer_multiplies) is no weight.  A fold can exit early if it
 * has one cell with the same states in all rows, an element that decides (rd_fold_end sets f->end),
 * and a reducer, an order (`first`) or an EXIT that uses it. */
bool rd_tile_plan_folds(const rd_program *p, rd_tile_code *code, bool sized)
{
    for (int32_t k = 0; k < p->n_fold; k++) {
        rd_tile_fold  *f    = &code->fold[k];
        const rd_fold *fold = &p->fold[k];
        const int32_t  step = rd_tile_inst_of(p, fold->scan ? RD_I_SCAN : RD_I_STEP, k),
                      start = rd_tile_inst_of(p, RD_I_START, k);
        const rd_loop *row, *col;

        rd_tile_loops_around(p, code, step >= 0 ? step : 0, &row, &col);
        f->fold       = fold;
        f->own_rows   = start >= 0 && code->inst[start].level == RD_AT_ROW;
        f->masked     = step >= 0 && p->inst[step].c >= 0;
        f->weighted   = step >= 0 && p->inst[step].b >= 0 && !rd_reducer_multiplies(fold->reducer);
        f->row_extent = row ? row->extent : 1;
        f->col_extent = col ? col->extent : 1;
        f->whole_columns = col && visits_all(p, col);
        f->panel         = panel_extent(p, col, start, step);
        f->row_panels    = panel_extent(p, row, start, step) > 0;
        f->lane          = rd_tile_strides_of(&fold->lane, row, col);
        f->lane_line     = rd_tile_strides_of(&fold->lane_line, row, col);
        f->index         = rd_tile_strides_of(&fold->index, row, col);
        f->cell          = rd_tile_strides_of(&fold->cell, row, col);
        f->can_exit_early =
            fold->n_cell == 1 && !f->own_rows && !f->totals && rd_fold_end(fold, &f->end) &&
            (rd_reducer_decides(fold->reducer) || fold->first || has_early_exit(p, k));
        if (!plan_fold(p, code->simd, f, k, sized && f->own_rows ? code->rows : 1))
            return false;
    }
    return true;
}
