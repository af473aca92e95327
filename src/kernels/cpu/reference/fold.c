/* fold.c - one task's share of a reduction or scan in the reference executor: the combine tree of
 * program.h, built from the left.
 *
 *   blocks 0 1 2 3 4 arrive; the stack of finished nodes:  0 | 01 | 01 2 | 0123 | 0123 4
 *
 * Words: a cell is one result of a fold.  A lane is one of its independent accumulators; elements
 * go to lanes in turn.  A step is one element of each lane, and a block a fixed number of steps.  A
 * finished block is a node of the combine tree; a row has a node for each lane.  The carry of a
 * scan is the merge of all blocks before.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/cpu/reference/fold.h"
#include "core/bytes.h"
#include "kernels/math/prefix_sums.h"
#include <assert.h>

/* Tells which blocks a finished row of nodes covers: [start, start + 2^level).  A row has a node
 * for each lane. */
typedef struct tag {
    int64_t start;
    int32_t level;
} tag;

/* The stack of a cell (one result).  Rows [0, depth) are finished.  Row `depth` is the current
 * block's, so finishing it moves no memory. */
typedef struct cell {
    int64_t block; /* the current one, -1: none */
    int32_t depth;
    bool    is_decided; /* no further element can change the result (early exit) */
    tag     tags[];
} cell;

/* Rounds a number of bytes up to a multiple of 16. */
static int64_t round16(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Returns cell number k: the accumulators of one result. */
static cell *cell_at(const rd_fold_state *s, int64_t k)
{
    assert(k >= 0 && k < s->fold->n_cell);
    return (cell *)(s->cells + k * s->cell_bytes);
}

/* Returns the node (state of some elements) of a lane, one of the independent accumulators of a
 * cell, in row `row` of its stack. */
static char *node_at(const rd_fold_state *s, const cell *c, int32_t row, int32_t lane)
{
    assert(row < s->room);
    return (char *)c + s->rows + row * s->row_bytes + lane * s->node.bytes;
}

/* Returns the node of all blocks before the current one (the scan carry). */
static char *carry_of(const rd_fold_state *s, const cell *c)
{
    return (char *)c + s->carry;
}

/* Returns the words of a cell's running sum: two sums for each level of its tree
 * (prefix_sums.h). */
static double *words_of(const rd_fold_state *s, const cell *c)
{
    return (double *)(void *)((char *)c + s->words);
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Merges row `right` of the stack of a cell into row `left`, lane by lane; a row has a node for
 * each lane. */
static void merge_rows(const rd_fold_state *s, cell *c, int32_t left, int32_t right)
{
    for (int32_t lane = 0; lane < s->fold->lanes; lane++)
        rd_node_merge(&s->node, node_at(s, c, left, lane), node_at(s, c, right, lane));
}

/* True if two rows are siblings in the combine tree: of one level, adjacent, and the left one
 * begins where a node twice as large does. */
static bool siblings(const tag *left, const tag *right)
{
    return left->level == right->level && (left->start >> left->level) % 2 == 0 &&
           left->start + ((int64_t)1 << left->level) == right->start;
}

/* True if the test of a user's reducer says, of the node of some lane of the row, that no further
 * element counts.  Reducers without a test (s->tests) never say so. */
static bool is_row_decided(const rd_fold_state *s, const cell *c, int32_t row)
{
    bool done = false;

    for (int32_t lane = 0; s->tests && lane < s->fold->lanes && !done; lane++)
        done = rd_node_is_decided(&s->node, node_at(s, c, row, lane));
    return done;
}

/* Adds the finished row at `depth` to the stack, and merges it with its left siblings as far as
 * they are finished: like a carry in a binary counter. */
static void push(const rd_fold_state *s, cell *c, tag row)
{
    const int32_t level = row.level;

    c->tags[c->depth++] = row;
    while (c->depth > 1 && siblings(&c->tags[c->depth - 2], &c->tags[c->depth - 1])) {
        merge_rows(s, c, c->depth - 2, c->depth - 1);
        c->tags[--c->depth - 1].level++;
    }
    if (c->tags[c->depth - 1].level > level) /* a single block was tested when it ended */
        c->is_decided |= is_row_decided(s, c, c->depth - 1);
}

/* Begins block number `block` in a cell: the node of each lane in the first row that no finished
 * node takes (`depth`) is emptied. */
static void begin_block(const rd_fold_state *s, cell *c, int64_t block)
{
    c->block = block;
    for (int32_t lane = 0; lane < s->fold->lanes; lane++)
        rd_node_clear(node_at(s, c, c->depth, lane));
}

/* Ends the current block of a cell, if one is open (block >= 0): it becomes a row of the combine
 * tree, or is added to the blocks before it in a scan. */
static void end_block(const rd_fold_state *s, cell *c)
{
    if (c->block < 0)
        return;
    for (int32_t lane = 0; lane < s->fold->lanes; lane++)
        rd_node_block(&s->node, node_at(s, c, c->depth, lane));
    if (s->fold->scan)
        rd_node_take_block(&s->node, carry_of(s, c), c->block, node_at(s, c, c->depth, /*lane=*/0),
                           words_of(s, c));
    else
        push(s, c, (tag){ c->block, /*level=*/0 });
    c->block = -1;
}

/* Returns the number of the step of an element: a step is one element for each lane, and a pass
 * along the lanes has row_steps of them. */
static int64_t step_at(const rd_fold_state *s, const rd_fold_place *at)
{
    return at->lane_line * s->row_steps + at->lane / s->fold->lanes;
}

/* Makes a block (a fixed number of steps) the current one of a cell; the block before it ends.
 * Blocks come in rising order. */
static void enter_block(const rd_fold_state *s, cell *c, int64_t block)
{
    if (c->block == block)
        return;
    assert(block > c->block);
    end_block(s, c);
    begin_block(s, c, block);
}

/* Makes the block of an element the current one of its cell. */
static void enter_block_of(const rd_fold_state *s, cell *c, const rd_fold_place *at)
{
    enter_block(s, c, step_at(s, at) / s->fold->steps);
}

/* Makes the block of an element the current one in the cells of all groups, which are always in the
 * same block; `at` has the cell of the first group. */
static void enter_block_of_groups(const rd_fold_state *s, const rd_fold_place *at)
{
    if (cell_at(s, at->cell)->block == step_at(s, at) / s->fold->steps)
        return;
    for (int64_t g = 0; g < s->fold->n_group; g++)
        enter_block_of(s, cell_at(s, at->cell + g * s->fold->group_stride), at);
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* Returns the node of 2^level elements of the current block, in a scan whose prefixes combine by a
 * tree. */
static char *element_node(const rd_fold_state *s, const cell *c, int32_t level)
{
    return (char *)c + s->nodes + level * s->node.bytes;
}

/* Adds element e of a block, which is in s->spare (an empty node if it is masked), to a scan by the
 * combine tree.  It merges with its left siblings, as blocks do: e is odd at a level where it has
 * one.  Then the nodes that cover [0, e] merge from the right into the state of the block. */
static void tree_step(const rd_fold_state *s, const cell *c, int64_t e)
{
    char *element = s->spare, *whole = node_at(s, c, c->depth, /*lane=*/0),
         *left    = s->spare + s->node.bytes;
    int32_t level = 0;

    for (; e >> level & 1; level++) {
        rd_node_copy(&s->node, left, element_node(s, c, level));
        rd_node_merge_in_block(&s->node, left, element);
        rd_node_copy(&s->node, element, left);
    }
    rd_node_copy(&s->node, element_node(s, c, level), element);
    rd_node_clear(whole);
    for (level = 0; (e + 1) >> level; level++)
        if ((e + 1) >> level & 1) {
            rd_node_copy(&s->node, left, element_node(s, c, level));
            rd_node_merge_in_block(&s->node, left, whole);
            rd_node_copy(&s->node, whole, left);
        }
}

/* Sets y to the running result of a scan: the blocks before, then the current block up to this
 * element.  The nodes are copied, as finishing changes them. */
static void finish_prefix(const rd_fold_state *s, const cell *c, rd_word *y)
{
    char *whole = s->spare, *part = whole + s->node.bytes;

    rd_node_copy(&s->node, whole, carry_of(s, c));
    rd_node_copy(&s->node, part, node_at(s, c, c->depth, /*lane=*/0));
    rd_node_block(&s->node, part);
    rd_node_merge_prefix(&s->node, whole, part);
    rd_node_finish(&s->node, whole, s->spare + round16(2 * s->node.bytes), y);
}

/* ---- Merges of tasks ------------------------------------------------------------------------- */
/* Copies finished row `row` of the cell `from` of another task (t) on top of the stack of the cell
 * `to`. */
static void copy_row(const rd_fold_state *s, cell *to, const rd_fold_state *t, const cell *from,
                     int32_t row)
{
    for (int32_t lane = 0; lane < s->fold->lanes; lane++)
        rd_node_copy(&s->node, node_at(s, to, to->depth, lane), node_at(t, from, row, lane));
}

/* Merges all rows into one if any grouping gives the same bits (loose). Parts of one block are no
 * siblings, so they would never merge otherwise. */
static void merge_all(const rd_fold_state *s, cell *c)
{
    for (; s->fold->loose && c->depth > 1; c->depth--)
        merge_rows(s, c, c->depth - 2, c->depth - 1);
}

/* Merges the cell of a later task into that of an earlier one.  A cell that is decided has stopped
 * at some block, so it takes nothing more.  The later cell's finished rows come first, then its
 * current block (block >= 0), which ends here. */
static void merge_cell(const rd_fold_state *s, cell *c, const rd_fold_state *t, const cell *next)
{
    if (c->is_decided)
        return;
    end_block(s, c);
    merge_all(s, c);
    for (int32_t row = 0; row < next->depth; row++) {
        copy_row(s, c, t, next, row);
        push(s, c, next->tags[row]);
        merge_all(s, c);
    }
    if (next->block >= 0) {
        copy_row(s, c, t, next, next->depth);
        c->block = next->block;
        end_block(s, c);
        merge_all(s, c);
    }
    c->is_decided |= next->is_decided;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Returns the most rows of a stack, with the current block: the aligned nodes of [0, n_block) are
 * one for each bit of n_block; those of any range in it, if tasks share the fold, twice as many.  A
 * scan has the current block only. */
static int32_t node_capacity(const rd_fold *fold)
{
    int32_t bits = 0;

    for (int64_t n = fold->scan ? 0 : fold->n_block; n > 0; n /= 2)
        bits++;
    return fold->split ? 2 * bits + 2 : bits + 1;
}

/* Returns the number of levels of nodes within a block: of 1, 2, 4 .. steps elements. */
static int32_t count_levels(const rd_fold *fold)
{
    int32_t n = 0;

    for (int64_t steps = fold->steps; steps > 0; steps /= 2)
        n++;
    return n;
}

/* Sets the byte offsets within a cell (the accumulators of one result), and what the reducer needs:
 * tests of decided results, indices, room for running sums. A user's reducer (without `code`) may
 * ask for indices. Behind the rows of nodes lie, for scans, the node of all blocks before (carry),
 * the nodes within a block, and the words of running sums. */
static rd_fold_state lay_out(const rd_fold *fold)
{
    rd_fold_state s = { .fold = fold, .node = rd_node_info_of(fold), .room = node_capacity(fold) };

    s.one       = rd_word_from_int(1, fold->type);
    s.indexed   = !s.node.code || rd_reducer_places(fold->reducer);
    s.decides   = rd_fold_end(fold, &s.end) && !fold->n_group && !fold->scan;
    s.tests     = fold->user && rd_fold_decides(fold);
    s.row_steps = fold->lane_extent / fold->lanes + (fold->lane_extent % fold->lanes != 0);
    s.row_bytes = fold->lanes * s.node.bytes;
    s.rows      = round16((int64_t)sizeof(cell) + s.room * (int64_t)sizeof(tag));
    s.carry     = s.rows + s.room * s.row_bytes;
    s.nodes     = s.carry + (fold->scan ? s.node.bytes : 0);
    s.words   = s.nodes + (fold->prefix == RD_PREFIX_TREE ? count_levels(fold) * s.node.bytes : 0);
    s.n_words = s.node.pair ? rd_prefix_sum_words(fold->n_block) : 0;
    s.cell_bytes = round16(s.words + s.n_words * (int64_t)sizeof(double));
    return s;
}

/* Returns the bytes of the cells of a fold, and of the spare nodes behind them. */
int64_t rd_fold_bytes(const rd_fold *fold)
{
    const rd_fold_state s = lay_out(fold);
    return rd_bytes_add(rd_bytes_times(fold->n_cell, s.cell_bytes),
                        round16(2 * s.node.bytes) + s.node.spare_bytes);
}

/* Sets up a fold in memory of rd_fold_bytes() bytes.  Its cells are not begun yet. */
void rd_fold_init(rd_fold_state *s, const rd_fold *fold, char *memory)
{
    *s       = lay_out(fold);
    s->cells = memory;
    s->spare = memory + fold->n_cell * s->cell_bytes;
}

/* Empties all cells: none has a current block (-1) or finished nodes (depth), or is decided.  The
 * sums of earlier blocks (carry, and the words of the prefix sum) begin again. */
void rd_fold_start(rd_fold_state *s)
{
    for (int64_t k = 0; k < s->fold->n_cell; k++) {
        cell *c       = cell_at(s, k);
        c->block      = -1;
        c->depth      = 0;
        c->is_decided = false;
        if (s->fold->scan)
            rd_node_clear(carry_of(s, c));
        rd_prefix_sum_begin(s->n_words, words_of(s, c));
    }
}

/* Returns the node that an element of a group-by goes to: that of its lane in the cell of its
 * group; NULL if there is no such group.  The cells of all groups are in the block of the
 * element. */
static char *node_of_group(const rd_fold_state *s, const rd_fold_place *at, int64_t group)
{
    const cell *c;

    if (group < 0 || group >= s->fold->n_group)
        return NULL;
    c = cell_at(s, at->cell + group * s->fold->group_stride);
    return node_at(s, c, c->depth,
                   (int32_t)(at->lane & (s->fold->lanes - 1))); /* lanes are a power of two */
}

/* Takes an element of a group-by into the cell of its group.  A masked element (take false) only
 * enters its block.  Group -1 has no node. */
void rd_fold_step_group(rd_fold_state *s, const rd_fold_place *at, int64_t group, rd_word x,
                        rd_word weight, bool take)
{
    char *node;

    enter_block_of_groups(s, at);
    node = node_of_group(s, at, take ? group : -1);
    if (node)
        rd_node_step(&s->node, node, x, weight, at->index);
}

/* Takes an element into its cell, and notes whether the result is decided: by a user's test, or as
 * the element is the extreme `end`. A masked element (take false) only enters its block. */
void rd_fold_step(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take)
{
    cell *c = cell_at(s, at->cell);

    if (c->is_decided)
        return;
    enter_block_of(s, c, at);
    if (!take || c->is_decided) /* the block that has ended may decide it */
        return;
    char *const node = node_at(s, c, c->depth, (int32_t)(at->lane % s->fold->lanes));

    rd_node_step(&s->node, node, x, weight, at->index);
    c->is_decided =
        s->tests ? rd_node_is_decided(&s->node, node) : s->decides && x.u64 == s->end.u64;
}

/* Returns how many elements so many steps have (one for each lane); INT64_MAX if the number
 * overflows. */
static int64_t elements_of(int64_t steps, int32_t lanes)
{
    return steps > INT64_MAX / lanes ? INT64_MAX : steps * lanes;
}

/* Counts the elements that are in the block of the first one, as they come one by one along the
 * lanes. */
static int64_t left_in_block(const rd_fold_state *s, const rd_fold_place *at)
{
    const int64_t steps = s->fold->steps;
    const int32_t lanes = s->fold->lanes;

    return elements_of(steps - step_at(s, at) % steps, lanes) - at->lane % lanes;
}

/* Returns the operands of a run from element k on, with the stride of one lane: a lane takes each
 * element that is `lanes` further on. */
static rd_node_elements elements_from(const rd_fold_state *s, const rd_fold_run *run, int64_t k)
{
    const rd_reducer *user = s->fold->user;
    rd_node_elements  x    = run->x;

    x.at += k * x.stride * rd_dtype_size(user->in);
    if (x.second)
        x.second += k * x.along * rd_dtype_size(user->in2);
    x.stride *= s->fold->lanes;
    x.along *= s->fold->lanes;
    return x;
}

/* Takes the unmasked elements in [from, to) of a run that are in the lane of the first one, by as
 * few calls of the user's reducer as the mask allows.  All are in the current block of the cell.
 * From k to `end` no element is masked; elements of a lane are `lanes` apart. */
static void take_lane(const rd_fold_state *s, const cell *c, const rd_fold_place *at,
                      const rd_fold_run *run, int64_t from, int64_t to)
{
    const int32_t lanes = s->fold->lanes;
    char *const   node  = node_at(s, c, c->depth, (int32_t)((at->lane + from) % lanes));

    for (int64_t k = from, end; k < to; k = end) {
        while (run->mask && k < to && !run->mask[k * run->next])
            k += lanes;
        /* to the next masked one */
        for (end = run->mask ? k : to; end < to && run->mask[end * run->next]; end += lanes)
            ;
        const rd_node_elements x = elements_from(s, run, k);
        rd_node_steps(&s->node, node, (end - k + lanes - 1) / lanes, &x, at->index + k);
    }
}

/* Takes a run of elements into one cell, block by block and lane by lane, for a user's reducer.
 * `left` is the elements that are left in the block, `whole` those of a block. */
void rd_fold_take(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run)
{
    const int64_t whole = elements_of(s->fold->steps, s->fold->lanes);
    int64_t       left = left_in_block(s, at), block = step_at(s, at) / s->fold->steps;
    cell         *c = cell_at(s, at->cell);

    assert(!s->fold->scan);
    for (int64_t k = 0, end; k < run->n && !c->is_decided; k = end, left = whole, block++) {
        end = left < run->n - k ? k + left : run->n;
        enter_block(s, c, block);
        for (int32_t l = 0; l < s->fold->lanes && k + l < end; l++)
            take_lane(s, c, at, run, k + l, end);
        c->is_decided |= is_row_decided(s, c, c->depth);
    }
}

/* Takes elements [from, to) of a run, which are in one block, into the cells of their groups. */
static void take_groups(const rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run,
                        const int64_t *label, int64_t apart, int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        const rd_fold_place here = { at->cell, at->lane + k, at->lane_line, at->index + k };
        const bool          take = !run->mask || run->mask[k * run->next];
        char *const         node = node_of_group(s, &here, take ? label[k * apart] : -1);

        if (!node)
            continue;
        const rd_node_elements x = elements_from(s, run, k);
        rd_node_steps(&s->node, node, /*n=*/1, &x, here.index);
    }
}

/* Takes a run of elements, each into the cell of its group, cut where a block of the combine tree
 * ends: `left` elements are left in the first block, and a block has `whole`.  The label of element
 * k is label[k * apart]. */
void rd_fold_take_groups(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run,
                         const int64_t *label, int64_t apart)
{
    const int64_t whole = elements_of(s->fold->steps, s->fold->lanes);
    int64_t       left  = left_in_block(s, at);

    for (int64_t k = 0, end; k < run->n; k = end, left = whole) {
        end = left < run->n - k ? k + left : run->n;
        enter_block_of_groups(
            s, &(rd_fold_place){ at->cell, at->lane + k, at->lane_line, at->index + k });
        take_groups(s, at, run, label, apart, k, end);
    }
}

/* Takes an element of a scan, and sets y to the running result: of an exclusive scan before the
 * element, else with it. s->spare holds the node of the element, for prefixes by a tree. */
void rd_fold_scan(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take,
                  rd_word *y)
{
    cell *c = cell_at(s, at->cell);

    enter_block_of(s, c, at);
    if (s->fold->exclusive)
        finish_prefix(s, c, y);
    if (s->fold->prefix == RD_PREFIX_TREE) {
        rd_node_clear(s->spare);
        if (take)
            rd_node_step(&s->node, s->spare, x, weight, at->index);
        tree_step(s, c, step_at(s, at) % s->fold->steps);
    } else if (take)
        rd_node_step(&s->node, node_at(s, c, c->depth, /*lane=*/0), x, weight, at->index);
    if (!s->fold->exclusive)
        finish_prefix(s, c, y);
}

/* Finishes cell `number`: merges its rows from the right, then its lanes, and sets y to the
 * results.  A cell that has met no block gets an empty one. */
void rd_fold_finish(rd_fold_state *s, int64_t number, rd_word *y)
{
    cell *c = cell_at(s, number);

    if (c->depth == 0 && c->block < 0)
        begin_block(s, c, /*block=*/0);
    end_block(s, c);
    for (int32_t row = c->depth - 2; row >= 0; row--)
        merge_rows(s, c, row, row + 1);
    rd_node_merge_lanes(&s->node, node_at(s, c, /*row=*/0, /*lane=*/0), s->fold->lanes);
    rd_node_finish(&s->node, node_at(s, c, /*row=*/0, /*lane=*/0), s->spare, y);
}

/* True if no further element can change the result of any cell. */
bool rd_fold_is_decided(const rd_fold_state *s)
{
    bool all = true;

    for (int64_t k = 0; k < s->fold->n_cell && all; k++)
        all = cell_at(s, k)->is_decided;
    return all;
}

/* Merges the cells of a fold in a later task into those of an earlier one (a split reduction). */
void rd_fold_merge(rd_fold_state *into, const rd_fold_state *next)
{
    for (int64_t k = 0; k < into->fold->n_cell; k++)
        merge_cell(into, cell_at(into, k), next, cell_at(next, k));
}
