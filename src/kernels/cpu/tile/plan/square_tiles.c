/* square_tiles.c - operands that run against the loops: the rows of a tile are adjacent in memory,
 * its columns far apart.
 *
 * Tiles of such a loop are squares, so that cache lines are used whole while they are cached, in
 * either direction.  Elements are transposed in registers, either between memory and buffers
 * (run/square_transpose.c) or on their way into a fold (simd/transposed_folds.h).  Hardware
 * prefetchers do not follow squares, so each square prefetches the one below it.
 *
 * Words.  An instruction transposes if its operand in memory runs against the tile (prepare.c,
 * is_transposed()).  A square tile has about as many rows as columns.
 *
 * Fields. Strides .row and .col say how far a position moves from row to row and from column to
 * column. A fold has own_rows if each row of a tile has states of its own. An instruction is
 * skipped (`skip`) if another one's kernel does its work. transposed_load is the skipped LOAD that
 * the kernel of a STEP transposes, -1: none. */
#include "core/caches.h"
#include "kernels/cpu/tile/plan/tile_plan.h"

/* True if, for this fold, all rows of a tile may take some of their columns before any row takes
 * the others: each row, or each column, has cells (results) of its own.  Cells of rows in one block
 * must also enter it together. */
bool rd_tile_can_split_columns(const rd_tile_fold *f)
{
    /* rows with states or cells of their own; a cell for each column; cells of several lanes, whose
     * elements go one by one */
    return f->own_rows || f->cell.row != 0 || f->mapping == RD_FOLD_COLUMNS ||
           (f->mapping == RD_FOLD_ELEMENTS && f->cell.col != 0 && f->fold->lanes > 1);
}

/* True if the loop over rows whose LOOP is `begin` has an operand that lies transposed in memory
 * (then its tiles become squares), and no result depends on the order of rows.  Group-bys, and
 * folds whose rows may not take their columns in parts, count as such.  Errors must be reported in
 * the order of rows, so instructions that can fail prevent squares. */
static bool can_be_square(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    bool turns = false; /* some operand is transposed */

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (code->inst[i].level != RD_AT_TILE)
            continue;
        turns |= code->inst[i].transposes;
        if (inst->kind == RD_I_INDEX || inst->kind == RD_I_CALL)
            return false;
        if ((inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) &&
            (code->fold[inst->arg].grouped || !rd_tile_can_split_columns(&code->fold[inst->arg])))
            return false;
    }
    return turns;
}

/* True if a LOAD reads an array of more than half the second-level cache; smaller ones are not
 * prefetched. */
static bool exceeds_cache(const rd_program *p, const rd_inst *inst)
{
    const rd_address *at = &p->address[inst->arg];

    return inst->kind == RD_I_LOAD && at->slot < p->first_scratch && /* not scratch */
           rd_tile_bytes(p, at) > rd_caches().l2 / 2;
}

/* Chooses which LOADs of the loop over columns at `begin` are prefetched: transposed operands by
 * themselves, the others along with the first transposed one, as a linked list (next_prefetch). A
 * `direct` LOAD reads memory in place; with a row stride of 0 all rows read the same. */
static void plan_prefetching(const rd_program *p, rd_tile_code *code, int32_t begin)
{
    int32_t first = -1;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        rd_tile_inst *t = &code->inst[i];

        t->prefetches = t->transposes && exceeds_cache(p, &p->inst[i]);
        if (t->transposes && first < 0)
            first = i;
    }
    for (int32_t i = begin + 1; first >= 0 && i < p->loop[p->inst[begin].arg].end; i++)
        if (code->inst[i].direct && code->inst[i].strides.row != 0 &&
            exceeds_cache(p, &p->inst[i])) {
            code->inst[i].next_prefetch     = code->inst[first].next_prefetch;
            code->inst[first].next_prefetch = i;
        }
}

/* Returns the LOAD that makes register `reg` by a transpose, for one reader only and with no store
 * in between, so that the reader may do it; -1: there is none.  Its elements need no conversion,
 * and its rows are adjacent in rising order.  A computation into the memory of a STORE
 * (`stores_into`) counts as a store. */
static int32_t sole_transposed_load(const rd_program *p, const rd_tile_code *code, int32_t reg,
                                    rd_elem elem, int32_t reader)
{
    const int32_t       from = code->reg[reg].born;
    const rd_tile_inst *load = &code->inst[from];

    if (p->inst[from].kind != RD_I_LOAD || !load->transposes || load->strides.row != 1 ||
        code->reg[reg].uses != 1 || code->reg[reg].elem != elem ||
        load->strides.size != rd_elem_size(elem))
        return -1;
    for (int32_t i = from; i < reader; i++)
        if (p->inst[i].kind == RD_I_STORE || code->inst[i].stores_into >= 0)
            return -1;
    return from;
}

/* True if a map that is fused into a STEP gives the same result with its operands exchanged. */
static bool commutes(rd_fused as)
{
    return as != RD_FUSED_sub;
}

/* Lets the kernel of STEP i transpose its operand y straight from memory, if the columns of y are
 * cells (results), its rows are successive steps of them, and such a kernel exists for element,
 * reducer and fused map.  Where the fused map commutes, x and y change places so that y is the
 * transposed one. */
static void fuse_transposed(const rd_program *p, rd_tile_code *code, int32_t i)
{
    rd_tile_inst       *t = &code->inst[i];
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];
    int32_t             x = t->x, y = t->y;

    if (y < 0 || x == y || f->mapping != RD_FOLD_COLUMNS || f->own_rows || f->cell.row != 0 ||
        f->lane_line.row * f->row_steps + f->lane.row != 1 || /* rows are no successive steps */
        !code->simd->transposed[f->elem] ||
        !code->simd->transposed[f->elem][f->fold->reducer][t->fused])
        return;
    if (sole_transposed_load(p, code, y, f->elem, i) < 0 && commutes(t->fused)) {
        x = t->y;
        y = t->x;
    }
    t->transposed_load = sole_transposed_load(p, code, y, f->elem, i);
    if (t->transposed_load < 0)
        return;
    t->x                                = x;
    t->y                                = y;
    code->inst[t->transposed_load].skip = true;
}

/* Makes the tiles of a loop over rows and of its inner loops squares of 64 x 64, as an operand lies
 * transposed in memory; plans prefetching and transposes within kernels. Folds in such tiles
 * (in_square) are planned for columns that come in parts. */
static void plan_loop(const rd_program *p, rd_tile_code *code, int32_t begin)
{
    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_LOOP) {
            code->loop[inst->arg].square = true;
            plan_prefetching(p, code, i);
        }
        if ((inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) &&
            code->inst[i].level == RD_AT_TILE)
            code->fold[inst->arg].in_square = true;
        if (inst->kind == RD_I_STEP && code->inst[i].level == RD_AT_TILE)
            fuse_transposed(p, code, i);
    }
    code->loop[p->inst[begin].arg].square = code->square = true;
}

/* Finds each loop over rows with an operand that lies transposed in memory, and gives it square
 * tiles if its results allow that. */
void rd_tile_plan_squares(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role == RD_LOOP_ROWS &&
            can_be_square(p, code, i))
            plan_loop(p, code, i);
}
