/* prepare.c - a loop program becomes a plan of tiles: the role of each loop, and the plan of each
 * instruction.
 *
 *   LOOP i            rows                   level of the body
 *     LOOP j          columns
 *       LOAD x[i, j]                         tile: rows x columns elements
 *       STEP s, x                            tile
 *     END
 *     CLOSE s                                row: an element per row of the tile
 *   END
 *
 * Words.  The role of a loop says what the machine does with it: its indices become the columns or
 * the rows of tiles, or are taken one after the other (outer).  The level of an instruction says
 * how many elements its registers have (tile.h).
 *
 * Fields. A fold has `user` if its reducer is the caller's own. A STEP reads an element (a),
 * weights (b), a mask (c) and a group's label (d), -1: none. A LOAD is `direct` if its register is
 * the memory itself.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/cpu/tile/run/tile_task.h"

/* ---- Loops ----------------------------------------------------------------------------------- */
/* True if all loops directly inside a loop are innermost ones that visit every index, so that their
 * indices can be the columns of tiles (blocks of rows x columns that one instruction after the
 * other works on). `first` and `next` list the loops in its body, -1: no more. */
static bool has_only_column_loops(const rd_program *p, const rd_loop *loop)
{
    for (int32_t k = loop->first; k >= 0; k = p->loop[k].next)
        if (p->loop[k].kind != RD_LOOP_EACH || p->loop[k].first >= 0)
            return false;
    return true;
}

/* True if all rows of a tile may finish one inner loop before any row begins the next one: no row
 * reads a slot (buffer) that the loop also stores to, and no loop exits early.  An EXIT counts only
 * where tiles can follow it (a fold of one cell).  Programs store to few slots, so the search is
 * short. */
static bool can_interleave_rows(const rd_program *p, const rd_loop *loop)
{
    for (int32_t i = loop->begin + 1; i < loop->end; i++) {
        if (p->inst[i].kind == RD_I_EXIT && rd_tile_exits_early(p, i))
            return false;
        for (int32_t k = loop->begin + 1; p->inst[i].kind == RD_I_STORE && k < loop->end; k++)
            if (p->inst[k].kind == RD_I_LOAD &&
                p->address[p->inst[k].arg].slot == p->address[p->inst[i].arg].slot)
                return false;
    }
    return true;
}

/* True if a loop sorts rows: these are sorted one after the other, in the same scratch memory. */
static bool sorts_rows(const rd_program *p, const rd_loop *loop)
{
    for (int32_t i = loop->begin + 1; i < loop->end; i++)
        if (p->inst[i].kind == RD_I_SORT)
            return true;
    return false;
}

/* Decides what the tile machine does with a loop: its indices are the columns of tiles (an
 * innermost loop), their rows (the loop around innermost ones, if rows may be interleaved), or
 * taken one by one (OUTER).  Loops over ranges (any kind but EACH) are outer, too, and so is a loop
 * around others that goes backwards or begins a group-by, of which a tile has one.  Rows that are
 * sorted share scratch memory, so they go one by one. */
static rd_loop_role role_of(const rd_program *p, const rd_loop *loop)
{
    if (loop->kind != RD_LOOP_EACH || sorts_rows(p, loop))
        return RD_LOOP_OUTER;
    if (loop->first < 0)
        return RD_LOOP_COLS;
    if (!loop->backwards && has_only_column_loops(p, loop) && can_interleave_rows(p, loop) &&
        !rd_tile_begins_groups(p, loop))
        return RD_LOOP_ROWS;
    return RD_LOOP_OUTER;
}

/* ---- Instructions ---------------------------------------------------------------------------- */
/* Returns the address whose strides over a tile matter to an instruction: that of its memory, or
 * for a CLOSE (which finishes a reduction) the number of the cell, its result.  NULL: it has
 * none. */
static const rd_address *address_of(const rd_program *p, const rd_inst *inst)
{
    if (rd_inst_table[inst->kind].names == RD_NAMES_ADDRESS)
        return &p->address[inst->arg];
    return inst->kind == RD_I_CLOSE ? &p->fold[inst->arg].cell : NULL;
}

/* True if an elementwise operation makes bools from its operands (a comparison, isnan): its kernel
 * is then chosen by the type of the operands, inst->from, not by that of the result. */
static bool is_test(const rd_inst *inst)
{
    const rd_rule rule = rd_op_table[inst->op].rule;
    return rule == RD_RULE_COMPARE || rule == RD_RULE_TEST;
}

/* Returns the absolute value of a stride. */
static int64_t distance(int64_t step)
{
    return step < 0 ? -step : step;
}

/* True if the operand of a LOAD or STORE lies transposed in memory: the rows of the tile are
 * adjacent (stride 1), and columns are so far apart that rows do not overlap.  `rows` is the extent
 * of the loop over rows. */
static bool is_transposed(const rd_inst *inst, const rd_tile_strides *w, int64_t rows)
{
    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) && !w->gathers &&
           distance(w->row) == 1 && distance(w->col) > 1 && distance(w->col) >= rows;
}

/* Sets the plan of instruction i from the loops around it. row and col give the rows and columns of
 * the tile there, or are NULL. Its level says how many elements it makes: one (neither loop), one a
 * row, or one for each row and column. -1 in a field means none. t->map is the kernels of an
 * operation, chosen later by which operands are scalars; t->wrap cuts or rounds results of narrow
 * types, NULL: nothing to do. */
static void decode(const rd_program *p, rd_tile_code *code, int32_t i, const rd_loop *row,
                   const rd_loop *col)
{
    const rd_inst    *inst = &p->inst[i];
    rd_tile_inst     *t    = &code->inst[i];
    const rd_address *at   = address_of(p, inst);

    *t = (rd_tile_inst){ .level            = col   ? RD_AT_TILE
                                             : row ? RD_AT_ROW
                                                   : RD_AT_TASK,
                         .stores_into      = -1,
                         .buffer           = -1,
                         .wanted_by_select = -1,
                         .row_axis         = row ? row->axis : -1,
                         .col_axis         = col ? col->axis : -1,
                         .x                = inst->a,
                         .y                = inst->kind == RD_I_STEP ? inst->b : -1,
                         .copied_load      = -1,
                         .next_prefetch    = -1,
                         .transposed_load  = -1,
                         .small_ints_load  = -1,
                         .label            = -1 };
    if (at)
        t->strides =
            col ? rd_tile_strides_of(at, row, col) : rd_tile_strides_of(at, /*row=*/NULL, row);
    t->transposes = row && col && is_transposed(inst, &t->strides, row->extent);
    if (inst->kind == RD_I_MAP)
        t->map = code->simd->map[rd_elem_of(is_test(inst) ? inst->from : inst->type)][inst->op];
    if (inst->kind == RD_I_SELECT)
        t->map = code->simd->select[rd_elem_of(inst->type)];
    if ((inst->kind == RD_I_MAP && !is_test(inst)) || inst->kind == RD_I_CAST)
        t->wrap = code->simd->wrap[inst->type];
}

/* Notes, for the registers that instruction i makes, their level (one element for the task, for
 * each row, or for each element of the tile), the type of their elements in buffers, and i itself.
 * No reader is known yet. CLOSE and SCAN make results of a fold, COORD and INDEX 64-bit ints. */
static void note_registers(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    rd_dtype       type = inst->type;

    if (inst->kind == RD_I_CLOSE || inst->kind == RD_I_SCAN)
        type = p->fold[inst->arg].out;
    if (inst->kind == RD_I_COORD || inst->kind == RD_I_INDEX)
        type = RD_I64;
    for (int32_t k = 0; k < rd_inst_makes(p, inst); k++) {
        code->reg[inst->dst + k] = (rd_tile_reg){
            .level = code->inst[i].level, .elem = rd_elem_of(type), .born = i, .last = -1
        };
    }
}

/* Sets the roles of all loops (columns or rows of tiles, or one index at a time) and the plans of
 * all instructions, before anything is fused. row and col are the loops open at an instruction.
 * LOOP and END themselves belong to no tile. */
static void decode_all(const rd_program *p, rd_tile_code *code)
{
    const rd_loop *row = NULL, *col = NULL;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_LOOP) {
            rd_tile_loop *loop = &code->loop[inst->arg];

            *loop = (rd_tile_loop){ .role = role_of(p, &p->loop[inst->arg]), .most = 1 };
            if (loop->role == RD_LOOP_ROWS)
                row = &p->loop[inst->arg];
            if (loop->role == RD_LOOP_COLS)
                col = &p->loop[inst->arg];
            decode(p, code, i, /*row=*/NULL, /*col=*/NULL);
        } else if (inst->kind == RD_I_END) {
            if (col == &p->loop[inst->arg])
                col = NULL;
            if (row == &p->loop[inst->arg])
                row = NULL;
            decode(p, code, i, /*row=*/NULL, /*col=*/NULL);
        } else {
            decode(p, code, i, row, col);
            note_registers(p, code, i);
        }
    }
}

/* ---- What the tile machine supports ---------------------------------------------------------- */
/* True if the tile machine can run fold k (a reduction or scan).  A fold that begins anew for each
 * element (START at tile level) is left to the reference interpreter, and so is one that begins for
 * each row but takes its elements outside of the columns.  A group-by needs kernels, and a caller's
 * reducer no more results than a state may have words. */
static bool is_fold_supported(const rd_program *p, const rd_tile_code *code, int32_t k)
{
    const rd_fold *fold = &p->fold[k];
    const int32_t  step = rd_tile_inst_of(p, fold->scan ? RD_I_SCAN : RD_I_STEP, k),
                  start = rd_tile_inst_of(p, RD_I_START, k);

    if (step < 0 || start < 0 || (fold->n_group && !rd_tile_can_group(p, code, k)) ||
        (fold->user && fold->n_out > RD_MAX_STATE))
        return false;
    /* an exclusive scan by AND begins with all bits set: in a byte other ones than in its register
     * of 64 bits */
    if (rd_reducer_table[fold->reducer].op == RD_OP_bit_and && fold->exclusive &&
        rd_dtype_size(fold->type) < 8 && rd_dtype_kind(fold->type) == RD_KIND_UINT)
        return false;
    /* a masked dot product: the evaluator makes none */
    if (rd_reducer_multiplies(fold->reducer) && p->inst[step].c >= 0)
        return false;
    /* begins once in all, or once a row with its elements in the columns */
    return code->inst[start].level != RD_AT_TILE &&
           (code->inst[start].level == RD_AT_TASK || code->inst[step].level == RD_AT_TILE);
}

/* True if the register of a LOAD or STORE has the same element type in buffers as its memory has.
 * The evaluator makes no others, but programs written by hand may. */
static bool has_native_type(const rd_program *p, const rd_tile_code *code, const rd_inst *inst)
{
    const int32_t reg = inst->kind == RD_I_LOAD ? inst->dst : inst->a;

    return (inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE) ||
           rd_elem_of(p->address[inst->arg].type) == code->reg[reg].elem;
}

/* True if the tile machine can run all of the program: every load, store, reduction and sort.  Else
 * the reference interpreter must. */
static bool is_supported(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (!has_native_type(p, code, &p->inst[i]))
            return false;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!is_fold_supported(p, code, k))
            return false;
    for (int32_t k = 0; k < p->n_sorting; k++)
        if (p->sorting[k].n > UINT32_MAX) /* places are as wide as keys */
            return false;
    return true;
}

/* ---- Prefetching ----------------------------------------------------------------------------- */
/* Where a loop has several loops over columns, marks the first LOAD of contiguous rows to be
 * prefetched, row by row: otherwise memory would be idle while the later loops compute on cached
 * elements.  Rows are contiguous if the stride along `outer` is the extent of the loop over
 * columns.  `begin` is the LOOP instruction of `outer`, the loop around them. */
static void find_prefetch(const rd_program *p, rd_tile_code *code, int32_t begin,
                          const rd_loop *outer)
{
    int32_t first = -1, n = 0; /* that LOAD; the number of loops over columns */

    for (int32_t i = begin + 1; i < outer->end; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const rd_loop *loop = &p->loop[p->inst[i].arg];
        if (code->loop[p->inst[i].arg].role != RD_LOOP_COLS || code->loop[p->inst[i].arg].square)
            return; /* squares prefetch by themselves */
        n++;
        for (int32_t k = i + 1; k < loop->end && first < 0; k++)
            /* a LOAD of rows that follow each other in memory without gaps */
            if (p->inst[k].kind == RD_I_LOAD && code->inst[k].direct &&
                p->address[p->inst[k].arg].slot < p->first_scratch && /* not scratch */
                rd_tile_strides_of(&p->address[p->inst[k].arg], outer, /*col=*/NULL).row ==
                    loop->extent)
                first = k;
        i = loop->end;
    }
    if (first >= 0 && n > 1)
        code->inst[first].prefetches_rows = true;
}

/* Looks for a LOAD to prefetch in each loop that may hold several loops over columns. */
static void find_prefetches(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role != RD_LOOP_COLS)
            find_prefetch(p, code, i, &p->loop[p->inst[i].arg]);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Takes zeroed memory for the plan of a program and its arrays from the pool; NULL if it runs out.
 * One more of each, so that no array is empty. */
static rd_tile_code *new_code(const rd_program *p, rd_get_fn *get, void *pool)
{
    rd_tile_code *code = get(pool, sizeof *code);

    if (!code)
        return NULL;
    code->inst = get(pool, (size_t)(p->n_inst + 1) * sizeof *code->inst);
    code->loop = get(pool, (size_t)(p->n_loop + 1) * sizeof *code->loop);
    code->fold = get(pool, (size_t)(p->n_fold + 1) * sizeof *code->fold);
    code->reg  = get(pool, (size_t)(p->n_reg + 1) * sizeof *code->reg);
    return code->inst && code->loop && code->fold && code->reg ? code : NULL;
}

/* Makes the plan by which the tile machine (an interpreter of one instruction after the other on
 * tiles of rows x columns) runs a program, pass by pass.  Sizes of tiles depend on buffers, so
 * reductions are planned twice: first for one row, then for all rows of a tile.  Memory from `get`
 * lives as long as the program. p->code gets the plan, p->state_bytes the memory that each task
 * needs. */
rd_tile_result rd_tile_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool)
{
    rd_tile_code *code = new_code(p, get, pool);

    if (!code)
        return RD_TILE_NO_MEMORY;
    code->simd = simd;
    decode_all(p, code);
    if (!is_supported(p, code) || !rd_tile_plan_folds(p, code, /*sized=*/false))
        return RD_TILE_UNSUPPORTED;
    if (!rd_tile_fuse(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    rd_tile_plan_squares(p, code);
    rd_tile_cut_loops(p, code);
    if (!rd_tile_buffers(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    find_prefetches(p, code);
    code->spares = 2; /* buffers for copies of operands; masks and group-bys need more */
    for (int32_t k = 0; k < p->n_fold; k++)
        code->spares = code->fold[k].grouped                      ? 4
                       : code->fold[k].masked && code->spares < 3 ? 3
                                                                  : code->spares;
    rd_tile_size_columns(p, code);
    rd_tile_find_totals(p, code);
    rd_tile_size_rows(p, code);
    rd_tile_plan_folds(p, code, /*sized=*/true);
    rd_tile_find_steps(p, code);
    if (!rd_tile_find_total(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    p->code = code;
    /* a program that is one kernel call has no state */
    p->state_bytes = code->total ? 0 : rd_tiles_bytes(p);
    return RD_TILE_OK;
}

/* Notes a sentence that says why no compiled loop nest is wanted in place of tiles; NULL: one is.
 * Does nothing for programs that tiles cannot run (they have no code). */
void rd_tile_keep(const rd_program *p, const char *why)
{
    rd_tile_code *const code = (rd_tile_code *)p->code;

    if (code)
        code->why_tiles = why;
}
