/* block_tile_folds.c - the folds of a block tile (block_tile.c): where their states lie, where
 * they begin, and where their partials go.
 *
 * A tile is some rows by some columns of an array.  A fold of rows makes one result for each row, a
 * fold of columns one for each column; a partial is what a tile leaves of a fold.
 *
 * Words. A cell is one result of a fold, with its accumulators. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/block_tile.h"

/* Gives a fold accumulators for all rows, or all columns, of a tile. Those of rows lie in shared
 * memory, where each team finds them in turn; those of columns are variables of a thread.
 *
 * A fold with more than one cell (output element) has an accumulator for each index already. A
 * fold of one cell gets one for each row or column: `fold_at.state_offset`, which is added to the
 * subscript of its states, becomes lanes * (index - first index of the tile). */
void rd_block_tile_give_states(const rd_block_tile *c, int32_t fold)
{
    const int      which = c->row[fold] ? RD_ROWS : RD_COLUMNS;
    const int64_t  lanes = c->t->p->fold[fold].lanes;
    rd_tree_array *a     = &c->t->store[fold];

    a->per_thread = c->row[fold] ? c->plan->width : 0;
    a->storage    = c->row[fold] ? RD_IN_BLOCK : RD_IN_LOCAL;
    if (c->t->p->fold[fold].n_cell > 1)
        return;
    a->extent = lanes * c->size[which];
    for (int32_t s = c->item; s >= 0 && !c->t->failed; s = rd_next_stmt(c->t, s, c->item)) {
        rd_linear at = rd_linear_of(0);

        if (c->t->stmt[s].fold != fold || c->t->stmt[s].kind == RD_S_BEGIN)
            continue;
        at = rd_linear_plus_axis(c->t, at, lanes, c->axis[which]);
        at = rd_linear_plus_axis(c->t, at, -lanes, c->start_mark[which]);
        c->t->stmt[s].fold_at.state_offset = at;
    }
}

/* Makes a statement about the partials of a fold (what a tile leaves of it), in the array
 * c->partials[fold]. STORE_PARTIALS copies the states (accumulators) there (`arg`),
 * COMBINE_PARTIALS reads them from there (`store`). It stands nowhere yet. */
int32_t rd_block_tile_add_stmt(const rd_block_tile *c, rd_stmt_kind kind, int32_t fold)
{
    rd_stmt s = rd_stmt_of(kind);

    s.fold  = fold;
    s.store = kind == RD_S_COMBINE_PARTIALS ? c->partials[fold] : fold;
    s.arg   = kind == RD_S_STORE_PARTIALS ? c->partials[fold] : -1;
    return rd_add_stmt(c->t, &s);
}

/* Adds the statements that begin the folds of rows (`row`), or of those of columns, before a
 * statement. States of columns are variables of a thread, so they are declared there, too. */
void rd_block_tile_begin_before(const rd_block_tile *c, int32_t stmt, bool row)
{
    for (int32_t k = 0; k < c->t->p->n_fold && !c->t->failed; k++) {
        rd_stmt array = rd_stmt_of(RD_S_ARRAY);

        if (c->row[k] != row)
            continue;
        array.store = k;
        if (!row)
            rd_put_before(c->t, rd_add_stmt(c->t, &array), stmt);
        rd_put_before(c->t, rd_block_tile_add_stmt(c, RD_S_BEGIN, k), stmt);
    }
}

/* Removes all statements of the item that begin a fold, begin a block of the combine tree, or
 * declare states (accumulators). A tile is one block of each fold, so no block begins within it;
 * the folds' own beginnings are added elsewhere. */
void rd_block_tile_drop_begins(const rd_block_tile *c)
{
    for (int32_t s = c->item, next; s >= 0; s = next) {
        const rd_stmt *stmt = &c->t->stmt[s];

        next = rd_next_stmt(c->t, s, c->item);
        if (stmt->kind == RD_S_BEGIN || stmt->kind == RD_S_PUSH_IF_NEW || stmt->kind == RD_S_ARRAY)
            rd_take_out(c->t, s);
    }
}

/* Adds an array in global memory for the partials (nodes that tiles leave) of each fold,
 * c->partials[k]. A fold of rows needs none if a row is a single tile, as then nothing is left to
 * combine. */
void rd_block_tile_add_partials(rd_block_tile *c)
{
    for (int32_t k = 0; k < c->t->p->n_fold && !c->t->failed; k++) {
        rd_tree_array left = c->t->store[k];

        left.storage = RD_IN_DEVICE;
        /* the axis along which the tiles' partials are combined */
        left.split_axis = c->axis[c->row[k] ? RD_COLUMNS : RD_ROWS];
        if (!c->row[k] || c->n_tiles[RD_COLUMNS] > 1)
            c->partials[k] = rd_add_store(c->t, &left);
    }
}

/* Adds the statements that store the partials (nodes that tiles leave) of the folds of rows
 * (`row`), or of columns, at the end of a body. left < 0: the fold has no partials. */
void rd_block_tile_store_partials(const rd_block_tile *c, int32_t body, bool row)
{
    for (int32_t k = 0; k < c->t->p->n_fold && !c->t->failed; k++)
        if (c->row[k] == row && c->partials[k] >= 0)
            rd_append(c->t, body, rd_block_tile_add_stmt(c, RD_S_STORE_PARTIALS, k));
}

/* Lets the statements that end folds in a body (merge blocks, merge lanes, finish) read the
 * combined partials (nodes that tiles leave) in place of the states (accumulators). left < 0:
 * the fold has no partials. */
void rd_block_tile_read_combined(const rd_block_tile *c, int32_t body)
{
    for (int32_t s = body; s >= 0; s = rd_next_stmt(c->t, s, body)) {
        rd_stmt *of = &c->t->stmt[s];

        if (of->fold >= 0 && c->partials[of->fold] >= 0 &&
            (of->kind == RD_S_MERGE_BLOCKS || of->kind == RD_S_MERGE_LANES ||
             of->kind == RD_S_FINISH))
            of->store = c->partials[of->fold];
    }
}
