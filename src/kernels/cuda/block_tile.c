/* block_tile.c - 2-D block tiles: reductions along both axes of an array in one read.  Folds of
 * rows have lanes along a row; folds of columns have one lane for each column.  Either loop may
 * contain the other.
 *
 * A block of threads takes a tile: one block of the columns' trees, 64 rows, by one block of the
 * rows' trees, 64 steps of all lanes.  A team has as many columns as a row has lanes, and runs
 * down the rows. The columns' states are in registers.  The states of the rows' lanes are in
 * shared memory, where the next team finds them (print/gpu/block_tile_text.c).  A tile leaves
 * nodes of both trees: one for each column, and one for each lane of a row that other tiles
 * continue.  The last block of a group of tiles combines their nodes (combine_blocks.c).
 *
 * Other stages with crossing folds have threads for the rows or for the columns only.  The
 * evaluator asks (rd_gpu_keeps_folds_together) and makes two stages of them.
 *
 * A fold is a reduction; its lanes are partial accumulators that take elements in turn; its
 * cells are its results.  A node is a finished block in a fold's combine tree.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. Without work items (n_item 0) there
 * is nothing to compute. A fold's start, step and finish are instructions, -1: it has none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/combine_tree.h"
#include "kernels/cuda/strategy.h"
#include <string.h>

/* ---- Which folds cross ----------------------------------------------------------------------- */
/* True if the fold begins inside the loop, so that it begins again in each round. */
static bool is_within(const rd_program *p, const rd_cuda_fold *f, int32_t loop)
{
    return rd_cuda_within(p, f->start, loop);
}

/* Finds the instructions of a fold that begin it (START), take an element (STEP) and give its
 * results (CLOSE) by a search of the program; -1: it has none. It is used before there is a
 * strategy that knows them. Other kinds of instruction may have the same `arg` with another
 * meaning. */
static void find_instructions(const rd_program *p, int32_t number, rd_cuda_fold *f)
{
    *f = (rd_cuda_fold){
        .emit = { .fold = &p->fold[number] }, .start = -1, .step = -1, .finish = -1
    };
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].arg == number) {
            f->start  = p->inst[i].kind == RD_I_START ? i : f->start;
            f->step   = p->inst[i].kind == RD_I_STEP ? i : f->step;
            f->finish = p->inst[i].kind == RD_I_CLOSE ? i : f->finish;
        }
}

/* True if two folds reduce the same elements along different axes. Fold `row` begins in each
 * round of an outer loop and reduces an inner one. Fold `column` reduces the outer loop and has
 * a cell (output element) for each index of the inner one. `column` must take its element before
 * the result of `row` is there, as it must not depend on that result. */
static bool is_crossing(const rd_program *p, const rd_cuda_fold *row, const rd_cuda_fold *column)
{
    const int32_t outer = row->start < 0 ? -1 : p->inst[row->start].loop;

    /* The last test: an accumulator for each index of the outer loop means that `column` keeps that
     * axis and does not reduce it. */
    if (outer < 0 || row->step < 0 || column->step < 0 || column->start < 0 ||
        is_within(p, column, outer) || !rd_cuda_within(p, column->step, outer) ||
        column->step > row->finish || rd_coef(&column->emit.fold->cell, p->loop[outer].axis))
        return false;
    for (int32_t loop = p->inst[row->step].loop; loop >= 0 && loop != outer;
         loop         = p->loop[loop].parent)
        if (rd_coef(&column->emit.fold->cell, p->loop[loop].axis))
            return true;
    return false;
}

/* True if any two folds of the program reduce the same elements along different axes. */
bool rd_cuda_has_crossing_folds(const rd_program *p)
{
    rd_cuda_fold row, column;

    for (int32_t a = 0; a < p->n_fold; a++) {
        find_instructions(p, a, &row);
        for (int32_t b = 0; b < p->n_fold; b++) {
            find_instructions(p, b, &column);
            if (is_crossing(p, &row, &column))
                return true;
        }
    }
    return false;
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns the only loop directly in the body [from, to), -1: there is none or more than one. */
static int32_t only_loop(const rd_program *p, int32_t from, int32_t to)
{
    int32_t only = -1;

    for (int32_t i = from; i < to; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            if (only >= 0)
                return -1;
            only = p->inst[i].arg;
            i    = p->loop[only].end;
        }
    return only;
}

/* True if there is a loop (>= 0), and it goes forwards and is not empty. */
static bool is_plain(const rd_program *p, int32_t loop)
{
    return loop >= 0 && !p->loop[loop].backwards && p->loop[loop].extent > 0;
}

/* Finds the two loops of a block tile (a reduction along both axes): the item's first loop, and
 * the only one in its body, which has no loop inside. Later loops of the item must go along the
 * inner axis, as they end the folds of columns. False: the body has another structure. */
static bool find_loops(rd_cuda_strategy *s, int32_t *outer, int32_t *inner)
{
    const rd_program *p = s->p;

    *outer = -1;
    for (int32_t i = s->from; i < s->to && *outer < 0; i++)
        *outer = p->inst[i].kind == RD_I_LOOP ? p->inst[i].arg : -1;
    if (!is_plain(p, *outer))
        return false;
    *inner = only_loop(p, p->loop[*outer].begin + 1, p->loop[*outer].end);
    if (!is_plain(p, *inner) || p->loop[*inner].first >= 0)
        return false;
    for (int32_t i = p->loop[*outer].end + 1; i < s->to; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            const rd_loop *l = &p->loop[p->inst[i].arg];

            if (l->axis != p->loop[*inner].axis || l->first >= 0 || l->backwards)
                return false;
        }
    return true;
}

/* Sets tile_loop[0] to the loop over rows, and tile_loop[1] to the loop along a row, which is
 * the one along which folds of rows have lanes (partial accumulators). Either loop may be the
 * outer one. */
static void order_loops(rd_cuda_strategy *s, int32_t outer, int32_t inner)
{
    bool along_outer = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        along_outer |=
            s->p->fold[k].lanes > 1 && rd_coef(&s->p->fold[k].lane, s->p->loop[outer].axis);
    s->tile_loop[0] = along_outer ? inner : outer;
    s->tile_loop[1] = along_outer ? outer : inner;
}

/* Returns the outer one of the two loops of a block tile (a reduction along both axes): the one
 * that contains a loop. */
int32_t rd_cuda_tile_outer(const rd_cuda_strategy *s)
{
    return s->p->loop[s->tile_loop[0]].first >= 0 ? s->tile_loop[0] : s->tile_loop[1];
}

/* Returns the inner one of the two loops of a block tile (a reduction along both axes): the one
 * that contains no loop. */
int32_t rd_cuda_tile_inner(const rd_cuda_strategy *s)
{
    return s->p->loop[s->tile_loop[0]].first >= 0 ? s->tile_loop[1] : s->tile_loop[0];
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* True if a fold begins and ends where a block tile (a reduction along both axes) expects it;
 * folds_along: the loop that it reduces. A fold that reduces the inner loop begins and ends in
 * each round of the outer one, and has one cell (output element). A fold that reduces the outer
 * loop begins before both loops, has a cell for each index of the inner one, and ends in a later
 * loop along that axis. */
static bool is_placed(const rd_cuda_strategy *s, const rd_cuda_fold *f, int32_t folds_along)
{
    const rd_program *p     = s->p;
    const rd_loop    *outer = &p->loop[rd_cuda_tile_outer(s)];
    const rd_loop    *inner = &p->loop[rd_cuda_tile_inner(s)];
    const rd_address *cell  = &f->emit.fold->cell;

    if (&p->loop[folds_along] == inner)
        return f->start > outer->begin && f->start < inner->begin && f->finish > inner->end &&
               f->finish < outer->end && cell->n_add == 0;
    return f->start >= s->from && f->start < outer->begin && f->finish > outer->end &&
           p->inst[f->finish].loop >= 0 && p->loop[p->inst[f->finish].loop].axis == inner->axis &&
           cell->n_add == 1 && cell->add[0].axis == inner->axis;
}

/* True if a fold is a reduction with a built-in reducer, by a combine tree with blocks of the
 * usual number of steps (64). */
static bool is_of_tree(const rd_fold *fold)
{
    return !fold->scan && !fold->user && fold->steps == RD_TREE_STEPS;
}

/* True if a fold reduces down the rows: one lane (partial accumulator) for each column, and each
 * row is one step. */
static bool is_column(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    return is_of_tree(f->emit.fold) &&
           rd_is_along(f->emit.fold, s->p->loop[s->tile_loop[0]].axis, /*first=*/0, /*coef=*/1) &&
           is_placed(s, f, s->tile_loop[0]);
}

/* True if a fold reduces along a row by at least a warp of lanes (partial accumulators): column
 * k goes to lane k mod lanes, and no other axis is reduced. */
static bool is_row(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    const rd_fold *fold = f->emit.fold;

    return is_of_tree(fold) && fold->lanes >= RD_WARP && fold->lane.n_add == 1 &&
           fold->lane.offset == 0 && fold->lane.add[0].axis == s->p->loop[s->tile_loop[1]].axis &&
           fold->lane.add[0].coef == 1 && fold->lane_line.n_add == 0 &&
           fold->lane_line.offset == 0 && is_placed(s, f, s->tile_loop[1]);
}

/* Sorts the folds into those of rows (threads_are_lanes) and those of columns, and returns the
 * lanes (partial accumulators) of the row folds. 0: a fold is of neither kind, row folds differ
 * in lanes, or there are not both kinds. */
static int32_t find_lanes(rd_cuda_strategy *s)
{
    int32_t lanes = 0, columns = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        if (f->start < 0 || f->step < 0 || f->finish < 0 || /* an instruction is missing */
            !rd_cuda_within(s->p, f->step, rd_cuda_tile_inner(s)))
            return 0;
        f->threads_are_lanes = is_row(s, f);
        columns += !f->threads_are_lanes;
        if ((f->threads_are_lanes && lanes && lanes != f->emit.fold->lanes) ||
            (!f->threads_are_lanes && !is_column(s, f)))
            return 0;
        lanes = f->threads_are_lanes ? f->emit.fold->lanes : lanes;
    }
    return columns ? lanes : 0;
}

/* ---- Other instructions ---------------------------------------------------------------------- */
/* True if an instruction may run in a tile. A load must not read what the program stores. What
 * stands before the inner loop runs once for each element of a tile, so it must not store. */
static bool may_tile(const rd_cuda_strategy *s, int32_t i)
{
    const rd_program *p    = s->p;
    const rd_inst    *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_LOAD: return !s->stored[p->address[inst->arg].slot];
    case RD_I_STORE: return i > p->loop[rd_cuda_tile_inner(s)].begin;
    default: return true;
    }
}

/* True if all instructions of an item may run in a tile, and the program has no scratch memory. */
static bool may_tile_all(const rd_cuda_strategy *s)
{
    bool may_tile_each = s->p->n_scratch == 0;

    for (int32_t i = s->from; i < s->to; i++)
        may_tile_each &= may_tile(s, i);
    return may_tile_each;
}

/* ---- Teams ----------------------------------------------------------------------------------- */
/* Returns the bytes of the smallest elements that loads of the inner loop read side by side
 * along a row; 0: no load does. */
static int32_t least_dense(const rd_cuda_strategy *s)
{
    const rd_program *p     = s->p;
    const rd_loop    *l     = &p->loop[rd_cuda_tile_inner(s)];
    int32_t           least = 0;

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (p->inst[i].kind == RD_I_LOAD && rd_cuda_is_dense(s, i, s->tile_loop[1])) {
            const int32_t size = rd_dtype_size(p->address[p->inst[i].arg].type);

            least = least == 0 || size < least ? size : least;
        }
    return least;
}

/* Chooses how many adjacent elements a thread loads at once (width), and how many threads share
 * the lanes of a row (team = lanes / width). The width is halved until the team has least_team
 * threads. False: no load is contiguous along a row, vectors have one element, or the team
 * exceeds a warp. */
static bool find_team(rd_cuda_strategy *s, int32_t lanes)
{
    const int32_t least = least_dense(s);

    if (least == 0)
        return false;
    s->width = rd_cuda_vector_width(s, least);
    while (s->width > 1 && lanes / s->width < s->choice.least_team)
        s->width /= 2;
    s->team = lanes / s->width;
    return s->width > 1 && s->team <= RD_WARP;
}

/* Lists the loads and stores of the inner loop that are contiguous along a row. Each moves a
 * vector of s->width elements. `prefetch`: loads of so many rows are issued before the first is
 * used. */
void rd_cuda_tile_accesses(const rd_cuda_strategy *s, rd_cuda_vector_accesses *accesses)
{
    const rd_program *p = s->p;
    const rd_loop    *l = &p->loop[rd_cuda_tile_inner(s)];

    *accesses = (rd_cuda_vector_accesses){ .prefetch     = s->rows_at_once,
                                           .serial_width = 1,
                                           .is_blocked   = true };
    for (int32_t i = l->begin + 1; i < l->end && accesses->n < RD_MOST_VECTOR_ACCESSES; i++) {
        const rd_inst *inst = &p->inst[i];

        if ((inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE) ||
            !rd_cuda_is_dense(s, i, s->tile_loop[1]))
            continue;
        accesses->inst[accesses->n]   = i;
        accesses->each[accesses->n++] = s->width;
    }
}

/* Returns the bytes of loads that a thread has in flight for each row that it takes. */
static int32_t flight_of(const rd_cuda_strategy *s)
{
    rd_cuda_vector_accesses accesses;
    int32_t                 bytes = 0;

    rd_cuda_tile_accesses(s, &accesses);
    for (int32_t k = 0; k < accesses.n; k++)
        if (s->p->inst[accesses.inst[k]].kind == RD_I_LOAD)
            bytes += accesses.each[k] *
                     rd_dtype_size(s->p->address[s->p->inst[accesses.inst[k]].arg].type);
    return bytes;
}

/* Chooses how many rows a team (the threads of an item) takes at a time, its turn: the largest
 * power of 2 within the limits of bytes in flight, elements in registers and instructions. Teams
 * follow each other down the rows, one turn behind. A tile has at least as many turns as the
 * block has teams, so that a team that has done its columns need not wait for the team before
 * it. */
static void find_rows_at_once(rd_cuda_strategy *s)
{
    const rd_cuda_choice *c      = &s->choice;
    const double          weight = s->width * rd_cuda_weight_of(s->p, rd_cuda_tile_inner(s));
    const int32_t         bytes  = flight_of(s);

    s->rows_at_once = RD_TREE_STEPS / (c->block / s->team);
    while (s->rows_at_once > 1 &&
           (s->rows_at_once * bytes > c->flight || s->rows_at_once * s->width > c->elements ||
            s->rows_at_once * weight > c->weight))
        s->rows_at_once /= 2;
}

/* ---- Shared memory and work ------------------------------------------------------------------ */
/* Returns the bytes of number k of a fold's state: 4 for the 32-bit types, else 8. */
static int32_t state_size(const rd_emit_fold *of, int k)
{
    const char *const type = rd_state_type(of, k);
    const bool        narrow =
        strcmp(type, "float") == 0 || strcmp(type, "int32_t") == 0 || strcmp(type, "uint32_t") == 0;

    return narrow ? 4 : 8;
}

/* True if shared memory has room for the states (accumulators) of all lanes (partial
 * accumulators) of a tile's 64 rows. It also needs the words of 8 bytes by which each team's
 * threads exchange lanes when a fold ends. */
static bool has_room(const rd_cuda_strategy *s, int32_t lanes)
{
    int64_t bytes = 8 * (int64_t)rd_cuda_shared_words(s) * (s->choice.block / s->team);

    for (int32_t k = 0; k < s->p->n_fold; k++)
        for (int j = 0; s->fold[k].threads_are_lanes && j < s->fold[k].emit.n_state; j++)
            bytes += (int64_t)RD_TREE_STEPS * lanes * state_size(&s->fold[k].emit, j);
    return bytes <= s->choice.tile_room;
}

/* True if block tiles keep enough threads busy. A block's teams form a pipeline, each one turn
 * (a few rows) behind the one before. Of the turns that pass (all_turns), groups * turns / teams
 * are useful work of a team, where a group is the columns that a team takes at once. Busy
 * threads times that share must reach `wanted`. Registers leave room for a quarter of the GPU's
 * threads, `fit`. */
static bool are_busy(const rd_cuda_strategy *s, int32_t lanes)
{
    const int64_t teams = s->choice.block / s->team, turns = RD_TREE_STEPS / s->rows_at_once;
    const int64_t groups    = (s->block_tile[1] + lanes - 1) / lanes;
    const int64_t all_turns = (groups + teams - 1) / teams * turns + teams - 1;
    const int64_t threads   = s->n_item * s->n_block_tile[0] * s->n_block_tile[1] * s->choice.block;
    const int64_t fit = s->choice.at_work / 4, wanted = s->choice.at_work / s->choice.tile_share;

    return (threads < fit ? threads : fit) * groups * turns >= wanted * teams * all_turns;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Computes the size of a tile and the number of tiles along both loops: 64 rows, and 64 steps of
 * a row's lanes (partial accumulators). Size and extent are in indices. */
static void count_tiles(rd_cuda_strategy *s, int32_t lanes)
{
    const int64_t size[2] = { RD_TREE_STEPS, (int64_t)RD_TREE_STEPS * lanes };

    for (int k = 0; k < 2; k++) {
        const int64_t extent = s->p->loop[s->tile_loop[k]].extent;

        s->block_tile[k]   = size[k] < extent ? size[k] : extent;
        s->n_block_tile[k] = (extent + size[k] - 1) / size[k];
    }
}

/* Counts the nodes (partial results in the combine tree) of n tiles in a row, for one column or
 * lane: those of the tiles, and of all levels of groups above. */
int64_t rd_cuda_nodes_of(const rd_cuda_strategy *s, int64_t n)
{
    return n + rd_cuda_groups_of(s, n);
}

/* Counts the groups of n tiles on all levels: a group has `fan` members of the level below,
 * until one group is left. 9 tiles with a fan of 8 make 2 groups and 1 above. */
int64_t rd_cuda_groups_of(const rd_cuda_strategy *s, int64_t n)
{
    int64_t groups = 0;

    while (n > 1) {
        n = (n + s->choice.fan - 1) / s->choice.fan;
        groups += n;
    }
    return groups;
}

/* Lays out an item's nodes (results of tiles, and of groups of tiles) in global memory: of all
 * columns, and of all lanes (partial accumulators) of all rows, unless a row is one tile. Each
 * group of tiles also has an atomic counter, by which the last block of threads of the group
 * knows that it must combine. */
static void place_nodes(rd_cuda_strategy *s)
{
    const int64_t *n = s->n_block_tile;

    s->node_bytes = 0;
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f     = &s->fold[k];
        const int64_t along = f->threads_are_lanes
                                  ? s->p->loop[s->tile_loop[0]].extent * f->emit.fold->lanes
                                  : s->p->loop[s->tile_loop[1]].extent;
        const int64_t nodes = f->threads_are_lanes && n[1] == 1
                                  ? 0
                                  : rd_cuda_nodes_of(s, n[f->threads_are_lanes]) * along;

        f->node_at    = s->node_bytes;
        f->node_bytes = rd_cuda_room(nodes * f->emit.bytes);
        s->node_bytes += f->emit.n_state * f->node_bytes;
    }
    s->item_counters = n[1] * rd_cuda_groups_of(s, n[0]) + n[0] * rd_cuda_groups_of(s, n[1]);
}

/* Gives all folds states (accumulators) in registers: one for each of a thread's `width`
 * columns, or of its `width` lanes (partial accumulators) of a row. `thread_lanes`: lanes of a cell
 * (output element) that a thread has. Nodes of tiles lie elsewhere, so `tree` is false. */
static void assign_local_storage(rd_cuda_strategy *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        f->tree           = false; /* its nodes are apart */
        f->register_block = 1;
        f->storage        = RD_STORAGE_LOCAL;
        f->thread_lanes   = f->threads_are_lanes ? s->width : 1;
        f->n_cell         = f->threads_are_lanes ? 1 : s->width;
        f->states         = s->width;
    }
}

/* Undoes the choices of this file: there will be no block tiles (reductions along both axes in
 * one read). Returns false. */
static bool give_up(rd_cuda_strategy *s)
{
    s->tile_loop[0] = s->tile_loop[1] = -1;
    s->team = s->width = 1;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        s->fold[k].threads_are_lanes = false;
    return false;
}

/* True if block tiles (reductions along both axes in one read) suit the program; then the
 * strategy is filled. They need two folds or more, two nested loops, folds of rows and of
 * columns, no other obstacle, room in shared memory, and enough tiles to keep the GPU busy. */
bool rd_cuda_find_block_tile(rd_cuda_strategy *s)
{
    int32_t lanes, outer, inner;

    if (s->n_item == 0 || s->p->n_fold < 2 || s->p->n_fold > RD_GPU_MOST_FOLDS ||
        !find_loops(s, &outer, &inner))
        return false;
    order_loops(s, outer, inner);
    lanes = find_lanes(s);
    if (lanes == 0 || !may_tile_all(s) || !find_team(s, lanes) || !has_room(s, lanes))
        return give_up(s);
    find_rows_at_once(s);
    count_tiles(s, lanes);
    if (!are_busy(s, lanes))
        return give_up(s);
    s->distributed[s->tile_loop[1]] = true;
    place_nodes(s);
    assign_local_storage(s);
    return true;
}
