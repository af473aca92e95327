/* folds.c - elements of a tile on their way into states, and results on their way out. */
#include "core/bytes.h"
#include "kernels/cpu/fold.h"
#include "kernels/cpu/tile/trees.h"
#include <assert.h>
#include <string.h>

/* ---- Plan -------------------------------------------------------------------------------------------------- */
/* Nodes on the stack of a whole fold, or of any share of it, and the one that is just finished. */
static int32_t room_for(const rd_fold *fold)
{
    int32_t bits = 0;

    for (int64_t n = fold->n_block; n > 0; n /= 2)
        bits++;
    return fold->split ? 2 * bits + 2 : bits + 1;
}

/* Cells that lie side by side along the columns: up to where the next axis of the cells' box begins. */
static int64_t cells_along(const rd_tile_fold *f)
{
    int64_t along = f->cells;

    for (int32_t k = 0; k < f->fold->cell.n_add; k++)
        if (f->fold->cell.add[k].coef > 1 && f->fold->cell.add[k].coef < along)
            along = f->fold->cell.add[k].coef;
    return along;
}

static rd_fold_form form_of(const rd_tile_fold *f)
{
    if (f->fold->prefix == RD_PREFIX_TREE && f->lane.col == 0 && f->cell.col == 0 && f->outer.col == 1)
        return RD_FOLD_ALONG;
    if (f->lane.col == 1 && f->cell.col == 0 && f->outer.col == 0)
        return RD_FOLD_RUN;
    if (f->fold->lanes == 1 && f->cell.col == 1 && f->outer.col == 0 && f->lane.col == 0)
        return RD_FOLD_COLUMNS;
    return RD_FOLD_ELEMENTS;
}

static void state_sizes(rd_tile_fold *f)
{
    const bool index = f->fold->reducer == RD_RED_argmin || f->fold->reducer == RD_RED_argmax;

    for (int32_t k = 0; k < f->n_state; k++) {
        f->size[k] = index && k == 1 ? 8 : rd_elem_size(f->elem);
        f->wide[k] = index && k == 1 ? 8 : rd_elem_size(f->code->counter);
    }
    f->indexed = index;
}

/* Do elements come to a cell by rising index? */
static bool by_index(const rd_fold *fold)
{
    for (int32_t k = 0; k < fold->outer.n_add; k++) {
        bool found = false;

        for (int32_t i = 0; i < fold->index.n_add; i++)
            found |= fold->index.add[i].axis == fold->outer.add[k].axis &&
                     fold->index.add[i].coef == fold->outer.add[k].coef;
        if (!found)
            return false;
    }
    return true;
}

/* Any order of exact folds gives the same bits, so a run of elements is looked through as a whole; columns take what is
 * better than all before, which must have lower indices. */
static bool finds_best(const rd_simd *simd, const rd_tile_fold *f)
{
    if (!f->indexed || !simd->best[f->elem])
        return false;
    return f->form == RD_FOLD_RUN ? f->index.col > 0
                                  : f->form == RD_FOLD_COLUMNS && f->index.row > 0 && by_index(f->fold);
}

/* What a further row with states of its own adds. */
static int64_t row_bytes(const rd_tile_fold *f)
{
    const int64_t lanes = rd_bytes_times(f->fold->n_cell, f->fold->lanes);

    return f->totals                  ? 8
           : f->form == RD_FOLD_ALONG ? rd_bytes_times(f->fold->n_cell, sizeof(rd_scan_state))
                                      : rd_bytes_times(lanes, 8 * f->n_state * (f->room + 1));
}

/* Scans along rows have states of their own, and no tree. */
static void lay_out(rd_tile_fold *f)
{
    const bool    tree = f->form != RD_FOLD_ALONG;
    const int64_t all = 8 * f->n_state, slots = tree ? f->slots : 0;
    int64_t       used = 0;

    rd_piece(&used, f->groups, sizeof(rd_group));
    f->tags   = rd_piece(&used, tree ? f->groups : 0, f->room * (int64_t)sizeof(rd_tree_node));
    f->block  = rd_piece(&used, slots, all);
    f->tree   = rd_piece(&used, slots, all * f->room);
    f->carry  = rd_piece(&used, f->fold->scan ? slots : 0, all);
    f->levels = rd_piece(&used, f->slots, rd_tiles_scan_bytes(f));
    f->seen   = rd_piece(&used, f->masked ? f->slots : 0, 1);
    f->spare  = rd_piece(&used, 2 * RD_SPARE, all);
    f->bytes  = used;
}

bool rd_tile_fold_plan(const rd_program *p, const rd_simd *simd, rd_tile_fold *f, int32_t number, int64_t rows)
{
    const rd_fold *fold = &p->fold[number];

    f->elem    = rd_elem_of(fold->type);
    f->code    = &simd->fold[f->elem][fold->reducer];
    f->n_state = rd_reducer_table[fold->reducer].n_state;
    if (!f->code->step)
        return false;
    state_sizes(f);
    f->form      = form_of(f);
    f->best      = finds_best(simd, f);
    f->any_order = f->any_order || f->best;
    f->row_steps = fold->lane_extent / fold->lanes + (fold->lane_extent % fold->lanes != 0);
    f->room      = room_for(fold);
    f->row_bytes = row_bytes(f);
    f->cells     = fold->n_cell;
    f->group     = f->form == RD_FOLD_COLUMNS ? cells_along(f) : fold->lanes;
    f->group     = f->totals ? 1 : f->group; /* one state is all a row leaves */
    f->groups    = rd_bytes_add(rd_bytes_times(f->cells, fold->lanes), f->group - 1) / f->group;
    f->groups    = f->totals ? rows : rd_bytes_times(f->groups, rows);
    f->slots     = rd_bytes_times(f->groups, f->group);
    lay_out(f);
    return true;
}

/* ---- Elements in ------------------------------------------------------------------------------------------- */
void rd_tiles_start(rd_tiles *m, int32_t pc)
{
    const int32_t       number = m->p->inst[pc].arg;
    const rd_tile_fold *f      = &m->code->fold[number];
    if (f->totals)
        return;
    const int64_t each = f->own_rows ? m->cols * (f->cells * f->fold->lanes / f->group) : f->groups;
    for (int64_t k = 0; k < each; k++)
        rd_tree_start(f, m->fold[number], k);
}

/* Rows of elements for neighbouring states: where they go, and what they are. */
typedef struct arrival {
    const rd_tile_fold *f;
    char               *memory;
    rd_simd_block      *blocks; /* NULL: none                                               */
    rd_simd_rows       *step;   /* of the reducer, or with a map fused into it; these begin with an identity */
    bool                fused;
    int64_t             group, offset; /* of the first state in its group */
    int64_t             at;            /* number of the first row's step  */
    rd_fold_rows        q;
} arrival;

/* What any element replaces in a fold of floats: adding -0 keeps 0 and -0 as they are. */
static void fill_identity(const arrival *a, int64_t n, void *s)
{
    static const double of[RD_N_REDUCERS] = {
        [RD_RED_sum] = -0.0, [RD_RED_prod] = 1, [RD_RED_min] = INFINITY, [RD_RED_max] = -INFINITY
    };
    const double value = of[a->f->fold->reducer];

    for (int64_t k = 0; k < n; k++)
        if (a->f->elem == RD_ELEM_f32)
            ((float *)s)[k] = (float)value;
        else
            ((double *)s)[k] = value;
}

/* n states from `offset` on take `rows` rows; fresh ones begin with the first. */
static void take(arrival *a, int64_t offset, int64_t n, int64_t rows, bool fresh)
{
    rd_fold_rows  q    = a->q;
    const int64_t skip = offset - a->offset, size = rd_elem_size(a->f->elem);

    rd_tree_block(a->f, a->memory, a->group * a->f->group + offset, q.s);
    q.n    = n;
    q.rows = rows;
    q.x    = (const char *)q.x + skip * size;
    q.y    = q.y ? (const char *)q.y + skip * size : NULL;
    q.w    = q.w ? (const char *)q.w + skip * size : NULL;
    q.index += skip * q.index_col;
    if (fresh && a->fused) {
        fill_identity(a, n, q.s[0]);
    } else if (fresh) {
        q.rows = 1;
        a->f->code->first(&q);
        q.x = (const char *)q.x + q.ldx * size;
        q.w = q.w ? (const char *)q.w + q.ldw * size : NULL;
        q.index += q.index_row;
        q.rows = rows - 1;
    }
    if (q.rows > 0)
        a->step(&q);
}

/* Row after row of a->q.n elements, each a step of the states from a->offset on. */
static void arrive(arrival *a, int64_t rows)
{
    const int64_t steps = a->f->fold->steps, size = rd_elem_size(a->f->elem), n = a->q.n;

    while (rows > 0) {
        const int64_t block = a->at / steps, left = block == INT64_MAX / steps ? rows : (block + 1) * steps - a->at;
        rd_group     *g     = rd_tree_group(a->memory, a->group);
        const bool    stays = a->f->best && g->block >= 0; /* what is best of many rows seldom changes: no new blocks */
        const int64_t now   = stays || left > rows ? rows : left;
        int64_t       begun;

        if (!stays)
            rd_tree_reach(a->f, a->memory, a->group, block);
        assert(a->offset <= g->begun); /* states of a block begin from the left, without gaps */
        begun = g->begun - a->offset < n ? g->begun - a->offset : n;
        if (begun > 0)
            take(a, a->offset, begun, now, false);
        if (begun < n)
            take(a, a->offset + begun, n - begun, now, true);
        g->begun = g->begun > a->offset + n ? g->begun : a->offset + n;
        a->at += now;
        a->q.x = (const char *)a->q.x + now * a->q.ldx * size;
        a->q.y = a->q.y ? (const char *)a->q.y + now * a->q.ldy * size : NULL;
        a->q.w = a->q.w ? (const char *)a->q.w + now * a->q.ldw * size : NULL;
        a->q.index += now * a->q.index_row;
        rows -= now;
    }
}

/* Whole blocks of a run, straight from memory to nodes of the tree; the steps that it took. */
static int64_t take_blocks(arrival *a, int64_t whole)
{
    const int64_t steps = a->f->fold->steps, size = rd_elem_size(a->f->elem);
    int64_t       taken = 0;
    void         *to[RD_MAX_STATE];

    if (!a->blocks || a->at % steps != 0)
        return 0;
    for (; taken + steps <= whole; taken += steps) {
        const rd_fold_rows q = {
            .rows = steps,
            .ldx  = a->q.ldx,
            .ldy  = a->q.ldy,
            .x    = (const char *)a->q.x + taken * a->q.ldx * size,
            .y    = a->q.y ? (const char *)a->q.y + taken * a->q.ldy * size : NULL,
        };
        rd_tree_end_block(a->f, a->memory, a->group);
        rd_tree_row(a->f, a->memory, rd_tree_group(a->memory, a->group)->depth, a->group * a->f->group, to);
        a->blocks(&q, to[0]);
        rd_tree_push(a->f, a->memory, a->group,
                     (rd_tree_node){ .start = (a->at + taken) / steps, .n = a->f->fold->lanes });
    }
    return taken;
}

/* n neighbours along the lane position: a part of a step, whole steps, a part of a step. */
static void run_arrives(arrival *a, int64_t n, int64_t lane, int64_t outer)
{
    const int64_t lanes = a->f->fold->lanes, size = rd_elem_size(a->f->elem);

    a->q.ldx = a->q.ldy = a->q.ldw = lanes;
    a->q.index_row                 = lanes * a->q.index_col;
    while (n > 0) {
        const int64_t first = lane % lanes, whole = n / lanes;
        int64_t       now = first ? (lanes - first < n ? lanes - first : n) : whole ? whole * lanes : n;

        a->offset = first;
        a->at     = outer * a->f->row_steps + lane / lanes;
        a->q.n    = first || !whole ? now : lanes;
        if (first || !whole) {
            const rd_fold_rows q = a->q;
            arrive(a, 1);
            a->q       = q; /* one row: on by its elements, not by a step */
            a->q.x     = (const char *)q.x + now * size;
            a->q.y     = q.y ? (const char *)q.y + now * size : NULL;
            a->q.w     = q.w ? (const char *)q.w + now * size : NULL;
            a->q.index = q.index + now * q.index_col;
        } else {
            const int64_t taken = take_blocks(a, whole);
            now                 = taken ? taken * lanes : now;
            if (taken) {
                a->q.x = (const char *)a->q.x + now * size;
                a->q.y = a->q.y ? (const char *)a->q.y + now * size : NULL;
            } else
                arrive(a, whole);
        }
        lane += now;
        n -= now;
    }
}

/* ---- Tiles ------------------------------------------------------------------------------------------------- */
typedef struct tile {
    rd_view x, y, w, mask;
    int64_t lane, outer, cell, index; /* of the first element */
} tile;

static void place_tile(const rd_tiles *m, const rd_tile_fold *f, tile *t)
{
    t->lane  = rd_tiles_position(m, f->lane.at);
    t->outer = rd_tiles_position(m, f->outer.at);
    t->cell  = rd_tiles_position(m, f->cell.at);
    t->index = f->indexed ? rd_tiles_position(m, f->index.at) : 0;
}

static const char *at(const rd_view *v, int64_t r, int64_t c)
{
    return v->at ? rd_view_at(v, r, c) : NULL;
}

static void place_row(arrival *a, const tile *t, int64_t r, int64_t c)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       cell = t->cell + r * f->cell.row + c * f->cell.col + (f->own_rows ? r * f->cells : 0);

    a->group       = cell * f->fold->lanes / f->group;
    a->offset      = cell * f->fold->lanes % f->group;
    a->q.x         = at(&t->x, r, c);
    a->q.y         = at(&t->y, r, c);
    a->q.w         = at(&t->w, r, c);
    a->q.index     = t->index + r * f->index.row + c * f->index.col;
    a->q.index_col = f->index.col;
    a->q.index_row = f->index.row;
}

/* Cells lie side by side, of one lane, and rows of the tile are steps of them one after the other, or each for cells of
 * its own. */
static void take_columns(rd_tiles *m, arrival *a, const tile *t)
{
    const int64_t row   = a->f->outer.row * a->f->row_steps + a->f->lane.row;
    const bool    steps = row == 1 && a->f->cell.row == 0 && !a->f->own_rows;

    for (int64_t r = 0; r < m->rows; r += steps ? m->rows : 1) {
        place_row(a, t, r, 0);
        a->at    = t->outer * a->f->row_steps + t->lane + r * row;
        a->q.n   = m->cols;
        a->q.ldx = t->x.row;
        a->q.ldy = t->y.row;
        a->q.ldw = t->w.row;
        arrive(a, steps ? m->rows : 1);
    }
}

/* Whole steps of a block that all lanes have begun: no tree to look after. */
static bool continues(const arrival *a, const rd_group *g, int64_t step, int64_t n)
{
    const int64_t steps = a->f->fold->steps;

    return g->begun == a->f->fold->lanes && g->block * steps <= step && step + n <= (g->block + 1) * steps;
}

/* Rows of whole steps for neighbouring cells that all are within a block: no more per row than the kernel's call, and
 * rows of one step, side by side in memory like the cells they are for, are one long row. */
static bool take_steps(rd_tiles *m, const arrival *a, const tile *t, int64_t step, int64_t whole)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, size = rd_elem_size(f->elem);
    rd_fold_rows        q    = a->q;
    bool                flat = whole == 1 && t->x.row == m->cols && (!t->y.at || t->y.row == m->cols);

    if (whole * lanes != m->cols || f->cell.row != 1 || f->own_rows || f->outer.row || f->lane.row || t->w.at ||
        f->indexed || m->rows == 1)
        return false;
    for (int64_t r = 0; r < m->rows; r++)
        if (!continues(a, rd_tree_group(a->memory, t->cell + r), step, whole))
            return false;
    rd_tree_block(f, a->memory, t->cell * f->group, q.s);
    q.n    = flat ? m->rows * m->cols : lanes;
    q.rows = whole;
    q.x    = t->x.at;
    q.y    = t->y.at;
    q.ldx = q.ldy = lanes;
    for (int64_t r = 0; r < (flat ? 1 : m->rows); r++) {
        a->step(&q);
        for (int32_t k = 0; k < f->n_state; k++)
            q.s[k] = (char *)q.s[k] + lanes * f->size[k];
        q.x = (const char *)q.x + t->x.row * size;
        q.y = q.y ? (const char *)q.y + t->y.row * size : NULL;
    }
    return true;
}

static void take_runs(rd_tiles *m, arrival *a, const tile *t)
{
    const rd_tile_fold *f     = a->f;
    const int64_t       lanes = f->fold->lanes, whole = m->cols / lanes;

    if (t->lane % lanes == 0 && take_steps(m, a, t, t->outer * f->row_steps + t->lane / lanes, whole))
        return;
    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const int64_t step = outer * f->row_steps + lane / lanes;

        place_row(a, t, r, 0);
        if (lane % lanes == 0 && whole * lanes == m->cols &&
            continues(a, rd_tree_group(a->memory, a->group), step, whole)) {
            a->q.ldx = a->q.ldy = a->q.ldw = lanes;
            a->q.index_row                 = lanes * a->q.index_col;
            a->offset                      = 0;
            a->q.n                         = lanes;
            take(a, 0, lanes, whole, false);
        } else
            run_arrives(a, m->cols, lane, outer);
    }
}

/* A value and its place come to the first lane of a cell (or to a cell of one lane, after those before it in its group);
 * the tree merges what blocks have found, in any order. */
static void take_one(arrival *a, int64_t block, const void *x, int64_t index)
{
    rd_group *g;

    if (rd_tree_group(a->memory, a->group)->block < 0)
        rd_tree_reach(a->f, a->memory, a->group, block);
    g          = rd_tree_group(a->memory, a->group);
    a->q.n     = 1;
    a->q.rows  = 1;
    a->q.x     = x;
    a->q.index = index;
    rd_tree_block(a->f, a->memory, a->group * a->f->group + a->offset, a->q.s);
    (g->begun > a->offset ? a->f->code->step : a->f->code->first)(&a->q);
    g->begun = g->begun > a->offset ? g->begun : a->offset + 1;
}

static void take_best(rd_tiles *m, arrival *a, const tile *t)
{
    const rd_tile_fold *f    = a->f;
    rd_simd_best       *best = m->code->simd->best[f->elem][f->fold->reducer];

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const int64_t block = (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps;
        const char   *x     = rd_view_at(&t->x, r, 0);
        rd_word       found;
        int64_t       place;

        place_row(a, t, r, 0);
        memcpy(&found, x, (size_t)rd_elem_size(f->elem));
        place = best(m->cols, x, &found);
        take_one(a, block, &found, a->q.index + (place < 0 ? 0 : place) * f->index.col);
    }
}

/* Sums of ints are exact: what a row comes to goes to the first lane. */
static void take_counts(rd_tiles *m, arrival *a, const tile *t, rd_simd_count_if *test)
{
    const rd_tile_fold *f = a->f;

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        const char   *x   = rd_view_at(&t->x, r, 0);
        const int64_t sum = test ? test(m->cols, x, t->y.at) : m->code->simd->count(m->cols, x);

        place_row(a, t, r, 0);
        take_one(a, (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps, &sum, 0);
    }
}

/* What one of these sums comes to goes to the first lane of its cell. */
static void take_sum(arrival *a, int64_t block, int64_t sum)
{
    const double as_f64 = (double)sum;

    take_one(a, block, a->f->elem == RD_ELEM_f64 ? (const void *)&as_f64 : (const void *)&sum, 0);
}

/* Rows of columns that are cells; a task's share of the columns may be less than a row. */
static void take_small_columns(rd_tiles *m, arrival *a, const tile *t, const rd_walk *w)
{
    const rd_tile_fold *f                     = a->f;
    const bool          flat                  = w->row == m->cols;
    int64_t             sums[RD_SMALL_PERIOD] = { 0 };

    for (int64_t r = 0; r < (flat ? 1 : m->rows); r++)
        m->code->simd->small[w->at->type](flat ? m->rows * m->cols : m->cols, m->cols,
                                          rd_tiles_memory(m, w) + r * w->row * w->size, sums);
    for (int64_t c = 0; c < m->cols; c++) {
        place_row(a, t, 0, c);
        take_sum(a, (t->outer * f->row_steps + t->lane / f->fold->lanes) / f->fold->steps, sums[c]);
    }
}

static void take_small(rd_tiles *m, arrival *a, const tile *t, const rd_walk *w)
{
    const rd_tile_fold *f = a->f;

    m->task->loads += w->at->slot < m->p->first_scratch ? m->rows * m->cols : 0;
    if (f->form != RD_FOLD_RUN) {
        take_small_columns(m, a, t, w);
        return;
    }
    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t lane = t->lane + r * f->lane.row, outer = t->outer + r * f->outer.row;
        int64_t       sum = 0;

        m->code->simd->small[w->at->type](m->cols, 1, rd_tiles_memory(m, w) + r * w->row * w->size, &sum);
        place_row(a, t, r, 0);
        take_sum(a, (outer * f->row_steps + lane / f->fold->lanes) / f->fold->steps, sum);
    }
}

/* A cell for each column, rows along the lanes: column by column, copied side by side. */
static void take_interleaved(rd_tiles *m, arrival *a, tile *t)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       size = rd_elem_size(f->elem), cols = m->cols, rows = m->rows;
    const tile          all = *t;

    for (int64_t c = 0; c < cols; c++) {
        char *const spare = m->spare;
        for (int64_t r = 0; r < rows; r++)
            memcpy(spare + r * size, rd_view_at(&all.x, r, c), (size_t)size);
        place_row(a, &all, 0, c);
        a->q.x         = spare;
        a->q.index_col = f->index.row;
        run_arrives(a, rows, all.lane, all.outer);
    }
}

/* Totals lie side by side where other folds have the nodes of their first row. */
static void take_totals(rd_tiles *m, const arrival *a, const tile *t, rd_fused fused)
{
    void              *to[RD_MAX_STATE];
    const rd_fold_rows q = {
        .n = m->cols, .rows = m->rows, .x = t->x.at, .y = t->y.at, .ldx = t->x.row, .ldy = t->y.row
    };

    rd_tree_row(a->f, a->memory, 0, 0, to);
    m->code->simd->totals[a->f->elem][a->f->fold->reducer][fused](&q, to[0]);
}

static void take_elements(rd_tiles *m, arrival *a, const tile *t)
{
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            place_row(a, t, r, c);
            const int64_t group = a->group;
            run_arrives(a, 1, t->lane + r * a->f->lane.row + c * a->f->lane.col,
                        t->outer + r * a->f->outer.row + c * a->f->outer.col);
            a->group = group;
        }
}

/* ---- Masks ------------------------------------------------------------------------------------------------- */
static rd_word identity_of(const rd_fold *fold)
{
    const rd_elem elem = rd_elem_of(fold->type);

    switch (fold->reducer) {
    case RD_RED_prod: return rd_word_from_int(1, fold->type);
    case RD_RED_min: return rd_fold_extreme(fold->type, true);
    case RD_RED_max: return rd_fold_extreme(fold->type, false);
    case RD_RED_all: return (rd_word){ .u64 = 1 };
    default: break;
    }
    return elem == RD_ELEM_f32   ? (rd_word){ .f32 = -0.0F }
           : elem == RD_ELEM_f64 ? (rd_word){ .f64 = -0.0 }
                                 : (rd_word){ .u64 = 0 };
}

/* Elements left out become identities; states that have met one that counts are marked. */
static void apply_mask(rd_tiles *m, const rd_tile_fold *f, char *memory, tile *t)
{
    const rd_word identity = identity_of(f->fold);
    rd_view       y        = { m->spare, m->cols, 1, t->x.elem };

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            const bool    counts = rd_view_word(&t->mask, r, c).u64;
            const int64_t cell   = t->cell + r * f->cell.row + c * f->cell.col + (f->own_rows ? r * f->cells : 0);
            rd_view_set(&y, r, c, counts ? rd_view_word(&t->x, r, c) : identity);
            memory[f->seen + cell * f->fold->lanes] |= (char)counts;
        }
    t->x = y;
}

/* any and all stop at the first element that decides them. */
static void settle(const rd_tiles *m, const rd_tile_fold *f, char *memory, const tile *t)
{
    const int decides = f->fold->reducer == RD_RED_any;

    if ((f->fold->reducer != RD_RED_any && f->fold->reducer != RD_RED_all) || f->cells != 1 || f->own_rows)
        return;
    for (int64_t r = 0; r < m->rows; r++)
        if (memchr(rd_view_at(&t->x, r, 0), decides, (size_t)m->cols))
            rd_tree_group(memory, 0)->settled = true;
}

/* Do the rows of each column run along the lanes of its cell, with elements of the tile in a buffer of their own? */
static bool interleaved(const rd_tiles *m, const rd_tile_fold *f, const tile *t)
{
    return m->rows > 1 && f->lane.row == 1 && f->lane.col == 0 && f->cell.row == 0 && f->outer.row == 0 &&
           f->outer.col == 0 && !f->own_rows && !t->w.at && t->x.at != m->spare;
}

void rd_tiles_step(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_fold *f    = &m->code->fold[inst->arg];
    tile                in   = { .x = t->small < 0 ? rd_tiles_view(m, t->x) : (rd_view){ 0 } };
    arrival a = { .f = f, .memory = m->fold[inst->arg], .blocks = t->blocks, .step = t->step, .fused = t->fused };

    if (!f->totals)
        place_tile(m, f, &in);
    if (t->y >= 0)
        in.y = rd_tiles_view(m, t->y);
    if (inst->c >= 0) {
        in.mask = rd_tiles_view(m, inst->c);
        apply_mask(m, f, a.memory, &in);
    } else if (t->small < 0)
        in.x = rd_tiles_dense(m, in.x);
    if (inst->b >= 0) {
        char *const spare = m->spare;
        m->spare += 8 * (m->code->cells > m->code->rows ? m->code->cells : m->code->rows);
        in.w     = rd_tiles_dense(m, rd_tiles_view(m, inst->b));
        m->spare = spare;
    }
    if (f->totals)
        take_totals(m, &a, &in, t->fused);
    else if (t->small >= 0)
        take_small(m, &a, &in, &m->code->inst[t->small].walk);
    else if (t->counts)
        take_counts(m, &a, &in, t->count_if);
    else if (f->best && f->form == RD_FOLD_RUN)
        take_best(m, &a, &in);
    else if (f->form == RD_FOLD_COLUMNS)
        take_columns(m, &a, &in);
    else if (f->form == RD_FOLD_RUN)
        take_runs(m, &a, &in);
    else if (interleaved(m, f, &in))
        take_interleaved(m, &a, &in);
    else
        take_elements(m, &a, &in);
    if (t->small < 0)
        settle(m, f, a.memory, &in);
}

bool rd_tiles_settled(const rd_tiles *m, int32_t fold)
{
    return rd_tree_group(m->fold[fold], 0)->settled;
}
