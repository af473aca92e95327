/* updates.c - updates of accumulators: rows of elements go into the states of blocks, and blocks
 * into the combine tree.
 *
 * Words.  A row of an update is one step: one element for each of neighbouring states.  A state of
 * the current block is fresh until it has had an element; it begins with that element, as adding to
 * an identity would cost a step.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. A fold has `totals` if
 * each row is a whole fold; it is `treeless` if a kernel makes these without a combine tree. */
#include "kernels/cpu/tile/run/updates.h"
#include "kernels/cpu/reference/fold.h"
#include <assert.h>

/* Returns the address of element (r, c) of an operand; NULL if there is no such operand. */
static const char *at(const rd_reg_view *v, int64_t r, int64_t c)
{
    return v->at ? rd_view_at(v, r, c) : NULL;
}

/* Sets which states the elements from (r, c) of the tile on update (a group, and an offset in it),
 * and where these elements are. A group is a run of states that begin and end blocks together. Rows
 * with states of their own have f->cells cells (results) each. rd_tree_slot() gives the number of a
 * cell's first state, and f->group the states of a group. Totals (rows that are whole folds) all
 * use the same states in turn. Index strides are those of the flat index that argmin reports. */
void rd_update_place(rd_update *a, const rd_fold_tile *t, int64_t r, int64_t c)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       cell = t->cell + r * f->cell.row + c * f->cell.col +
                         (f->own_rows && !f->totals ? r * f->cells : 0);

    a->group       = rd_tree_slot(f, cell) / f->group;
    a->offset      = rd_tree_slot(f, cell) % f->group;
    a->q.x         = at(&t->x, r, c);
    a->q.y         = at(&t->y, r, c);
    a->q.mask      = at(&t->mask, r, c);
    a->q.index     = t->index + r * f->index.row + c * f->index.col;
    a->q.index_col = f->index.col;
    a->q.index_row = f->index.row;
}

/* Moves the operands of an update on by `rows` rows, and by n elements along the row. coly is the
 * stride of y along a row: 1, or 0 if the row has one y. */
static void advance_operands(rd_update *a, int64_t rows, int64_t n)
{
    const int64_t size = a->size;

    a->q.x    = a->q.x ? (const char *)a->q.x + (rows * a->q.ldx + n) * size : NULL;
    a->q.y    = a->q.y ? (const char *)a->q.y + (rows * a->q.ldy + n * a->q.coly) * size : NULL;
    a->q.mask = a->q.mask ? (const char *)a->q.mask + rows * a->q.ldm + n : NULL;
    a->q.index += rows * a->q.index_row + n * a->q.index_col;
}

/* Makes each row of the update one step of all lanes along a row of the tile, so that one call
 * takes many steps: rows lie as many elements apart as there are lanes. Interleaved cells have all
 * their elements of one lane side by side, so a step is one of all these cells. */
void rd_update_by_steps(rd_update *a)
{
    const int64_t lanes = a->f->interleaved * a->f->fold->lanes;

    a->q.ldx       = lanes;
    a->q.ldy       = lanes * a->q.coly;
    a->q.ldm       = lanes;
    a->q.index_row = lanes * a->q.index_col;
}

/* Sets s to the identity of a reducer, the state that any element replaces: infinity for a minimum,
 * say. */
static void identities_of(const rd_fold *fold, rd_word *s)
{
    rd_reducer_code_of(fold->reducer, rd_dtype_class(fold->type))->identity(s, fold->type);
}

/* Returns the first word of the identity (the state that any element replaces), which takes the
 * place of masked elements. */
rd_word rd_fold_identity(const rd_fold *fold)
{
    rd_word s[RD_MAX_STATE] = { 0 };

    identities_of(fold, s);
    return s[0];
}

/* Sets n words of `size` bytes (4: f32, 8, or 1) to one value. */
static void fill(void *s, int64_t n, int32_t size, rd_word word)
{
    for (int64_t k = 0; k < n; k++)
        if (size == 4)
            ((float *)s)[k] = word.f32;
        else if (size == 8)
            ((uint64_t *)s)[k] = word.u64;
        else
            ((uint8_t *)s)[k] = (uint8_t)word.u64;
}

/* Sets n states of a block to the identity, which any element replaces. */
void rd_fill_identity(const rd_tile_fold *f, int64_t n, void *const *s)
{
    rd_word identity[RD_MAX_STATE] = { 0 };

    identities_of(f->fold, identity);
    for (int32_t k = 0; k < f->n_state; k++)
        fill(s[k], n, f->word_bytes[k], identity[k]);
}

/* Updates n states of a group, from `offset` on, with `rows` rows. Fresh states (without an element
 * in this block) begin with the first row, or with the identity if a map is fused into the step.
 * `fused` also stands for kernels of masks and conversions, which the kernel `first` does not have.
 * The last line counts the rows for reducers whose kernels leave that to their caller. */
void rd_update_states(const rd_update *update, int64_t offset, int64_t n, int64_t rows, bool fresh)
{
    rd_update a = *update;

    advance_operands(&a, /*rows=*/0, offset - a.offset);
    rd_tree_block(a.f, a.memory, a.group * a.f->group + offset, a.q.s);
    a.q.n    = n;
    a.q.rows = rows;
    if (fresh && a.fused) {
        rd_fill_identity(a.f, n, a.q.s);
    } else if (fresh) {
        a.q.rows = 1;
        a.f->code->first(&a.q);
        advance_operands(&a, /*rows=*/1, /*n=*/0);
        a.q.rows = rows - 1;
    }
    if (a.q.rows > 0)
        a.step(&a.q);
    rd_tree_count(a.f, a.memory, a.group, offset, n, a.q.rows);
}

/* Notes that all states of the group up to `end` have had an element in the current block. */
static void note_begun(const rd_update *a, int64_t end)
{
    rd_group *g = rd_tree_group(a->memory, a->group);

    g->begun = g->begun > end ? g->begun : end;
}

/* Updates `cells` adjacent cells (results), whose states share a group, by one call of their kernel
 * within one block; the operands of the next cell are x and y elements further on. The cells that
 * have begun the block are the first ones of the group, without gaps. False if there is no kernel,
 * or some of these cells have begun the block and others have not. */
bool rd_update_cells(const rd_update *a, int64_t cells, int64_t x, int64_t y)
{
    const int64_t end = a->offset + cells * a->f->fold->lanes;
    rd_fold_rows  q   = a->q;
    rd_group     *g   = rd_tree_group(a->memory, a->group);

    if (!a->cells)
        return false;
    rd_tree_enter_block(a->f, a->memory, a->group, a->first_step / a->f->fold->steps);
    assert(a->offset <= g->begun);
    if (a->offset < g->begun && g->begun < end)
        return false;
    rd_tree_block(a->f, a->memory, a->group * a->f->group + a->offset, q.s);
    a->cells(&q, cells, x, y, g->begun < end);
    note_begun(a, end);
    return true;
}

/* ---- Full blocks ----------------------------------------------------------------------------- */
/* At most 2^MOST_LEVELS blocks are updated at once. */
enum { MOST_LEVELS = 4 };

/* Returns the level of the largest node of the combine tree that the next full blocks make up:
 * 2^level blocks, aligned to as many; at most 4. */
static int32_t count_levels(const rd_update *a, int64_t rows)
{
    const int64_t blocks = rows / a->f->fold->steps, first = a->first_step / a->f->fold->steps;
    int32_t       level = 0;

    while (level < MOST_LEVELS && (int64_t)2 << level <= blocks &&
           first % ((int64_t)2 << level) == 0)
        level++;
    return level;
}

/* Folds 2^level full blocks (of 64 steps) into one node of the combine tree by a kernel, without a
 * look at the tree in between. Such a look takes as long as a quarter of a block of sums. Nodes
 * below it are scratch on top of the stack. n elements of x and y are a step (`along`: one step a
 * row), ldx and ldy apart. */
static void update_whole_blocks(rd_update *a, int32_t level)
{
    const rd_tile_fold *f    = a->f;
    const rd_tree_node  node = { .start = a->first_step / f->fold->steps,
                                 .n     = a->q.n,
                                 .level = level };
    const rd_fold_rows  q    = { .n     = a->q.n,
                                 .along = a->q.n,
                                 .rows  = f->fold->steps,
                                 .ldx   = a->q.ldx,
                                 .ldy   = a->q.ldy,
                                 .x     = a->q.x,
                                 .y     = a->q.y };
    void               *state[MOST_LEVELS + 1];
    int32_t             depth;

    assert(level >= 0 && f->n_state == 1);
    rd_tree_end_block(f, a->memory, a->group);
    depth = rd_tree_group(a->memory, a->group)->depth;
    for (int32_t k = 0; k <= level; k++)
        rd_tree_row(f, a->memory, depth + k, a->group * f->group, &state[k]);
    a->blocks(&q, (int64_t)1 << level, state);
    advance_operands(a, q.rows << level, /*n=*/0);
    rd_tree_push(f, a->memory, a->group, node);
}

/* True if the next rows are at least one full block (64 steps) of the whole group of states, and
 * there is a kernel for it. */
static bool has_whole_block(const rd_update *a, int64_t rows)
{
    const int64_t steps = a->f->fold->steps;

    return a->blocks && rows >= steps && a->first_step % steps == 0 && a->offset == 0 &&
           a->q.n == a->f->group;
}

/* Updates the states with the next rows of the current block, as many as come before its end.
 * Returns how many rows these are.  States that have begun the block take all rows; fresh ones
 * begin with the first row. a->first_step is the number of the first row's step, g->begun how many
 * states of the group have begun.  A search for the best (argmin, argmax) stays in its block, as
 * any order gives the same bits. */
static int64_t update_within_block(const rd_update *a, int64_t rows)
{
    const int64_t steps = a->f->fold->steps, n = a->q.n, block = a->first_step / steps;
    /* rows up to the end of the block; a serial fold is one block without an end */
    const int64_t left  = block == INT64_MAX / steps ? rows : (block + 1) * steps - a->first_step;
    rd_group     *g     = rd_tree_group(a->memory, a->group);
    const bool    stays = a->f->best && g->block >= 0; /* what is best of many rows seldom changes:
                                                        * no new blocks */
    const int64_t now   = stays || left > rows ? rows : left;
    int64_t       begun;

    if (!stays)
        rd_tree_enter_block(a->f, a->memory, a->group, block);
    assert(a->offset <= g->begun); /* states of a block begin from the left, without gaps */
    begun = g->begun - a->offset < n ? g->begun - a->offset : n;
    if (begun > 0)
        rd_update_states(a, a->offset, begun, now, /*fresh=*/false);
    if (begun < n)
        rd_update_states(a, a->offset + begun, n - begun, now, /*fresh=*/true);
    note_begun(a, a->offset + n);
    return now;
}

/* Updates states row by row (a row is one step), by full blocks where there is a kernel for them:
 * 2^level blocks at once. */
void rd_update_rows(rd_update *a, int64_t rows)
{
    while (rows > 0) {
        int64_t now;

        if (has_whole_block(a, rows)) {
            const int32_t level = count_levels(a, rows);

            update_whole_blocks(a, level);
            now = a->f->fold->steps << level;
        } else {
            now = update_within_block(a, rows);
            advance_operands(a, now, /*n=*/0);
        }
        a->first_step += now;
        rows -= now;
    }
}

/* Updates states with n elements along the lanes: the end of a step, whole steps, and the start of
 * a step.  `lane` is the position of the first one along the lanes of all interleaved cells,
 * `lane_line` the pass along them.  a->first_step is the number of a row's step, a->offset of its
 * first state. */
void rd_update_along(rd_update *a, int64_t n, int64_t lane, int64_t line)
{
    const int64_t lanes = a->f->interleaved * a->f->fold->lanes;

    rd_update_by_steps(a);
    while (n > 0) {
        const int64_t first = lane % lanes, whole = n / lanes;
        int64_t now = first ? (lanes - first < n ? lanes - first : n) : whole ? whole * lanes : n;

        a->offset     = first;
        a->first_step = line * a->f->row_steps + lane / lanes;
        a->q.n        = first || !whole ? now : lanes;
        if (first || !whole) {
            rd_update_rows(a, /*rows=*/1);
            advance_operands(a, /*rows=*/-1, now); /* takes back the row: on by its elements only */
        } else
            rd_update_rows(a, whole);
        lane += now;
        n -= now;
    }
}
