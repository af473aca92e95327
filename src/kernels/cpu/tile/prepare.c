/* prepare.c - a loop program seen as tiles: which loops are rows and columns, and where registers live. */
#include "core/bytes.h"
#include "kernels/cpu/tile/tile.h"
#include <assert.h>

/* Elements of a tile that are only read in place: enough to forget what it costs, fewer if a second-level cache should hold them
 * as they are passed over again; a block's worth of rows at least; most rows of which something is kept. */
enum { ENOUGH = 262144, AGAIN = 32768, BLOCK_ROWS = 64, MOST_ROWS = 8192, LINE = 16 };
/* Bytes of states of their own that the rows of a tile may have together: part of a second-level cache. */
static const int64_t STATES_BYTES = 128 << 10;

/* ---- Loops ------------------------------------------------------------------------------------------------- */
static bool has_loop(const rd_program *p, int32_t begin, int32_t end)
{
    for (int32_t i = begin + 1; i < end; i++)
        if (p->inst[i].kind == RD_I_LOOP)
            return true;
    return false;
}

static bool inner_loops_are_columns(const rd_program *p, int32_t begin, int32_t end)
{
    for (int32_t i = begin + 1; i < end; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const rd_loop *loop = &p->loop[p->inst[i].arg];
        if (loop->kind != RD_LOOP_EACH || has_loop(p, i, loop->end))
            return false;
        i = loop->end;
    }
    return true;
}

/* Rows of a tile go through one inner loop together before any goes through the next: right if no row reads what
 * another has stored, and nothing leaves early.  Leaves of programs store few slots, however much they load. */
static bool rows_may_go_together(const rd_program *p, int32_t begin, int32_t end)
{
    for (int32_t i = begin + 1; i < end; i++) {
        if (p->inst[i].kind == RD_I_EXIT)
            return false;
        for (int32_t k = begin + 1; p->inst[i].kind == RD_I_STORE && k < end; k++)
            if (p->inst[k].kind == RD_I_LOAD && p->address[p->inst[k].arg].slot == p->address[p->inst[i].arg].slot)
                return false;
    }
    return true;
}

static rd_loop_role role_of(const rd_program *p, int32_t begin)
{
    const rd_loop *loop = &p->loop[p->inst[begin].arg];

    if (loop->kind != RD_LOOP_EACH)
        return RD_LOOP_OUTER;
    if (!has_loop(p, begin, loop->end))
        return RD_LOOP_COLS;
    if (!loop->backwards && inner_loops_are_columns(p, begin, loop->end) && rows_may_go_together(p, begin, loop->end))
        return RD_LOOP_ROWS;
    return RD_LOOP_OUTER;
}

/* ---- Instructions ------------------------------------------------------------------------------------------ */
static int64_t coef_of(const rd_address *at, const rd_loop *loop)
{
    int64_t coef = 0;

    for (int32_t k = 0; loop && k < at->n_add; k++)
        if (at->add[k].axis == loop->axis)
            coef += loop->backwards ? -at->add[k].coef : at->add[k].coef;
    return coef;
}

rd_walk rd_tile_walk(const rd_address *at, const rd_loop *row, const rd_loop *col)
{
    rd_walk w = { .at = at, .row = coef_of(at, row), .col = coef_of(at, col), .size = rd_dtype_size(at->type) };

    for (int32_t k = 0; k < at->n_add; k++)
        w.gathers |= at->add[k].axis < 0;
    return w;
}

static const rd_address *address_of(const rd_program *p, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE:
    case RD_I_COORD: return &p->address[inst->arg];
    case RD_I_CLOSE: return &p->fold[inst->arg].cell;
    default: return NULL;
    }
}

static bool is_test(const rd_inst *inst)
{
    const rd_rule rule = rd_op_table[inst->op].rule;
    return rule == RD_RULE_COMPARE || rule == RD_RULE_TEST;
}

static int64_t distance(int64_t step)
{
    return step < 0 ? -step : step;
}

/* Are rows of the tile neighbours in memory, and columns too far apart to be in their way? */
static bool turns(const rd_inst *inst, const rd_walk *w, int64_t rows)
{
    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) && !w->gathers && distance(w->row) == 1 &&
           distance(w->col) > 1 && distance(w->col) >= rows;
}

static void decode(const rd_program *p, rd_tile_code *code, int32_t i, const rd_loop *row, const rd_loop *col)
{
    const rd_inst    *inst = &p->inst[i];
    rd_tile_inst     *t    = &code->inst[i];
    const rd_address *at   = address_of(p, inst);

    *t = (rd_tile_inst){ .level  = col   ? RD_AT_TILE
                                   : row ? RD_AT_ROW
                                         : RD_AT_TASK,
                         .into   = -1,
                         .buffer = -1,
                         .x      = inst->a,
                         .y      = inst->kind == RD_I_STEP ? inst->b : -1,
                         .moves  = -1,
                         .beside = -1,
                         .turned = -1,
                         .small  = -1 };
    if (at)
        t->walk = col ? rd_tile_walk(at, row, col) : rd_tile_walk(at, NULL, row);
    t->turns = row && col && turns(inst, &t->walk, row->extent);
    if (inst->kind == RD_I_MAP)
        t->map = code->simd->map[rd_elem_of(is_test(inst) ? inst->from : inst->type)][inst->op];
    if (inst->kind == RD_I_SELECT)
        t->map = code->simd->select[rd_elem_of(inst->type)];
    if ((inst->kind == RD_I_MAP && !is_test(inst)) || inst->kind == RD_I_CAST)
        t->wrap = code->simd->wrap[inst->type];
}

static bool defines(const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_LOAD:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_INDEX:
    case RD_I_CALL:
    case RD_I_SCAN:
    case RD_I_CLOSE: return true;
    default: return false;
    }
}

static void note_registers(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    rd_dtype       type = inst->type;
    int32_t        n    = 1;

    if (!defines(inst))
        return;
    if (inst->kind == RD_I_CLOSE || inst->kind == RD_I_SCAN)
        type = p->fold[inst->arg].out;
    if (inst->kind == RD_I_CLOSE)
        n = p->fold[inst->arg].n_out;
    if (inst->kind == RD_I_COORD || inst->kind == RD_I_INDEX)
        type = RD_I64;
    for (int32_t k = 0; k < n; k++) {
        code->reg[inst->dst + k] =
            (rd_tile_reg){ .level = code->inst[i].level, .elem = rd_elem_of(type), .born = i, .last = -1 };
    }
}

static void decode_all(const rd_program *p, rd_tile_code *code)
{
    const rd_loop *row = NULL, *col = NULL;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_LOOP) {
            rd_tile_loop *loop = &code->loop[inst->arg];

            *loop = (rd_tile_loop){ .role = role_of(p, i), .most = 1 };
            if (loop->role == RD_LOOP_ROWS)
                row = &p->loop[inst->arg];
            if (loop->role == RD_LOOP_COLS)
                col = &p->loop[inst->arg];
            decode(p, code, i, NULL, NULL);
        } else if (inst->kind == RD_I_END) {
            if (col == &p->loop[inst->arg])
                col = NULL;
            if (row == &p->loop[inst->arg])
                row = NULL;
            decode(p, code, i, NULL, NULL);
        } else {
            decode(p, code, i, row, col);
            note_registers(p, code, i);
        }
    }
}

/* ---- Sizes ------------------------------------------------------------------------------------------------- */
static bool is_spread(const rd_tile_code *code, int32_t reg)
{
    return reg >= 0 && code->reg[reg].level != RD_AT_TILE;
}

/* Does the instruction copy an operand to the spare buffer: one element for all, or elements with a mask? */
static bool spreads(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_STORE:
    case RD_I_CAST:
    case RD_I_SCAN: return is_spread(code, inst->a);
    case RD_I_STEP:
        return inst->c >= 0 ||
               (code->inst[i].fused != RD_FUSED_scale && (is_spread(code, inst->a) || is_spread(code, inst->b)));
    default: return false;
    }
}

/* Does a loop's body keep elements in buffers? */
static bool keeps(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    const int32_t end = p->loop[p->inst[begin].arg].end;

    for (int32_t i = begin + 1; i < end; i++) {
        const rd_inst *inst = &p->inst[i];
        if (code->inst[i].buffer >= 0 || inst->kind == RD_I_EXIT || code->inst[i].walk.gathers || code->inst[i].turns)
            return true;
        if (spreads(p, code, i))
            return true;
    }
    return false;
}

/* Whole sides of squares, if there are several. */
static int64_t sides(int64_t n)
{
    return n > RD_SQUARE ? n - n % RD_SQUARE : n;
}

static void size_columns(const rd_program *p, rd_tile_code *code)
{
    int64_t rows = RD_SQUARE;

    for (int32_t i = 0; i < p->n_inst; i++) {
        rd_tile_loop *loop = p->inst[i].kind == RD_I_LOOP ? &code->loop[p->inst[i].arg] : NULL;

        if (loop && loop->role == RD_LOOP_ROWS)
            rows = rd_least(p->loop[p->inst[i].arg].extent, RD_SQUARE);
        else if (loop && loop->role == RD_LOOP_COLS)
            loop->most = loop->square        ? sides(code->cells / (rows > 0 ? rows : 1))
                         : keeps(p, code, i) ? code->cells
                                             : INT64_MAX;
    }
}

/* Passes over the elements of a tile: what is read several times should still be near. */
static int32_t passes(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    int32_t n = 0;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++)
        n += !code->inst[i].skip && (p->inst[i].kind == RD_I_STEP || p->inst[i].kind == RD_I_SCAN);
    return n;
}

/* Maps alone, none of which can fail? */
static bool only_maps(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++)
        switch (p->inst[i].kind) {
        case RD_I_CONST:
        case RD_I_MAP:
        case RD_I_CAST:
        case RD_I_SELECT: break;
        case RD_I_LOAD:
        case RD_I_STORE:
            if (code->inst[i].walk.gathers || code->inst[i].turns)
                return false;
            break;
        default: return false;
        }
    return true;
}

/* Loops of maps over short rows take as many rows at a time as their buffers hold, and do not keep a tile from having
 * more: what is done once for a tile, the ends of its folds and what is computed from these, costs as much as some hundred
 * elements. */
static void size_map_loops(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_loop *l    = p->inst[i].kind == RD_I_LOOP ? &p->loop[p->inst[i].arg] : NULL;
        rd_tile_loop  *loop = l ? &code->loop[p->inst[i].arg] : NULL;

        if (!l)
            continue;
        loop->rows = INT64_MAX;
        if (loop->role == RD_LOOP_COLS && !loop->square && loop->most < INT64_MAX && l->extent > 0 &&
            l->extent <= loop->most && only_maps(p, code, i)) {
            loop->rows = loop->most / l->extent;
            loop->most = INT64_MAX;
        }
    }
}

/* Is there something to keep, or to do, for each row of a tile, or are its columns copied?  The buffers of rows are large
 * enough then, and what is done for each row uses them. */
static bool keeps_rows(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (code->inst[i].level == RD_AT_ROW && p->inst[i].kind != RD_I_LOOP && p->inst[i].kind != RD_I_END)
            return true;
    for (int32_t k = 0; k < p->n_reg; k++)
        if (code->reg[k].level == RD_AT_ROW)
            return true;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (code->fold[k].own_rows || code->fold[k].form == RD_FOLD_ELEMENTS)
            return true;
    return false;
}

/* No more rows than that, such that tiles end where blocks do. */
static int64_t whole_blocks(int64_t rows)
{
    int64_t some = BLOCK_ROWS;

    while (2 * some <= rows)
        some *= 2;
    return some;
}

/* As many rows as fill the buffers of every loop over columns; of squares, whole lines. */
static int64_t rows_of(const rd_program *p, const rd_tile_code *code, int32_t begin)
{
    const int32_t number = p->inst[begin].arg;
    const bool    square = code->loop[number].square;
    int64_t       rows   = keeps_rows(p, code) ? MOST_ROWS : ENOUGH;

    for (int32_t i = begin + 1; i < p->loop[number].end; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            const int64_t most = code->loop[p->inst[i].arg].most, n = p->loop[p->inst[i].arg].extent;
            const bool    one = most == INT64_MAX && passes(p, code, i) < 2;
            const int64_t all = most < INT64_MAX ? most : one ? ENOUGH : AGAIN;
            const int64_t fit = square ? sides(code->cells / (n > 0 ? rd_least(n, most) : 1)) : all / (n > 0 ? n : 1);
            rows              = rd_least(rows, !one ? fit : fit < BLOCK_ROWS ? BLOCK_ROWS : whole_blocks(fit));
        }
    for (int32_t k = 0; k < p->n_fold; k++)
        if (code->fold[k].own_rows)
            rows = rd_least(rows, STATES_BYTES / rd_bytes_add(code->fold[k].row_bytes, 1));
    if (square && rows > LINE)
        rows -= rows % LINE;
    rows = rd_least(rows, p->loop[number].extent);
    return rows > 1 ? rows : 1;
}

static void size_rows(const rd_program *p, rd_tile_code *code)
{
    size_map_loops(p, code);
    code->rows = 1;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role == RD_LOOP_ROWS) {
            rd_tile_loop *loop = &code->loop[p->inst[i].arg];

            loop->most = rows_of(p, code, i);
            if (keeps_rows(p, code) && loop->most > code->rows)
                code->rows = loop->most;
        }
}

/* ---- Folds ------------------------------------------------------------------------------------------------- */
static int32_t find(const rd_program *p, rd_inst_kind kind, int32_t fold)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == kind && p->inst[i].arg == fold)
            return i;
    return -1;
}

/* The loops that give the rows and columns at an instruction. */
static void loops_at(const rd_program *p, const rd_tile_code *code, int32_t i, const rd_loop **row, const rd_loop **col)
{
    *row = *col = NULL;
    for (int32_t k = 0; k < i; k++) {
        if (p->inst[k].kind != RD_I_LOOP || p->loop[p->inst[k].arg].end < i)
            continue;
        if (code->loop[p->inst[k].arg].role == RD_LOOP_ROWS)
            *row = &p->loop[p->inst[k].arg];
        if (code->loop[p->inst[k].arg].role == RD_LOOP_COLS)
            *col = &p->loop[p->inst[k].arg];
    }
    if (!*col) {
        *col = *row;
        *row = NULL;
    }
}

/* Does a loop always visit its whole axis, or do tasks or panels share it? */
static bool visits_all(const rd_program *p, const rd_loop *loop)
{
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == loop->axis)
            return false;
    return p->root != loop->axis;
}

static bool plan_folds(const rd_program *p, rd_tile_code *code, bool sized)
{
    for (int32_t k = 0; k < p->n_fold; k++) {
        rd_tile_fold  *f    = &code->fold[k];
        const rd_fold *fold = &p->fold[k];
        const int32_t  step = find(p, fold->scan ? RD_I_SCAN : RD_I_STEP, k), start = find(p, RD_I_START, k);
        const rd_loop *row, *col;

        loops_at(p, code, step >= 0 ? step : 0, &row, &col);
        f->fold          = fold;
        f->own_rows      = start >= 0 && code->inst[start].level == RD_AT_ROW;
        f->masked        = step >= 0 && p->inst[step].c >= 0;
        f->weighted      = step >= 0 && p->inst[step].b >= 0 && fold->reducer != RD_RED_dot;
        f->col_extent    = col ? col->extent : 1;
        f->whole_columns = col && visits_all(p, col);
        f->lane          = rd_tile_walk(&fold->lane, row, col);
        f->outer         = rd_tile_walk(&fold->outer, row, col);
        f->index         = rd_tile_walk(&fold->index, row, col);
        f->cell          = rd_tile_walk(&fold->cell, row, col);
        if (!rd_tile_fold_plan(p, code->simd, f, k, sized && f->own_rows ? code->rows : 1))
            return false;
    }
    return true;
}

/* Does the loop over columns around a STEP run once from the fold's START to its end? */
static bool runs_once(const rd_program *p, int32_t step)
{
    const int32_t start = find(p, RD_I_START, p->inst[step].arg), cols = rd_loop_around(p, step);
    int32_t       begin = step;

    while (p->inst[begin].kind != RD_I_LOOP || p->inst[begin].arg != cols)
        begin--;
    return rd_loop_around(p, start) == rd_loop_around(p, begin);
}

/* Its elements come from halves, which its kernel widens. */
static bool widens(const rd_tile_code *code, const rd_tile_inst *step)
{
    const rd_elem x = code->reg[step->x].elem;

    return x == RD_ELEM_f16 || x == RD_ELEM_bf16;
}

/* Is a row a whole fold for which there is a kernel: of neighbours along the lanes, or too short for lanes? */
static bool has_totals(const rd_tile_code *code, const rd_tile_inst *t, const rd_tile_fold *f, const rd_loop *col)
{
    if (f->form == RD_FOLD_RUN)
        return f->fold->lanes == 256 / rd_elem_size(f->elem) && !f->any_order && f->fold->outer.n_add == 0 &&
               col->extent == f->fold->lane_extent;
    return f->form == RD_FOLD_ELEMENTS && f->fold->n_block == 1 && f->own_rows && f->whole_columns &&
           f->fold->lanes == 1 && f->fold->lane.n_add == 0 && f->fold->outer.n_add == 1 && f->outer.col == 1 &&
           t->small < 0 && !t->fused && !widens(code, t);
}

/* Rows that begin, are folded and end at once need no states of their own. */
static bool folds_totals(const rd_program *p, const rd_tile_code *code, int32_t step)
{
    const rd_inst      *inst = &p->inst[step];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const rd_loop      *row, *col;

    if (f->masked || f->weighted || f->cells != 1 || f->fold->n_block < 1 || (f->fold->n_block > 1 && f->fold->split) ||
        code->inst[step].level != RD_AT_TILE)
        return false;
    loops_at(p, code, step, &row, &col);
    assert(col); /* as the STEP is at tile level */
    return f->lane.row == 0 && f->outer.row == 0 && code->loop[col - p->loop].most >= col->extent &&
           has_totals(code, &code->inst[step], f, col) && runs_once(p, step);
}

/* The folds of a pass go from block to block together, so all have totals or none: a sum of f32 and a maximum of i32 have
 * as many lanes, but of i32, whose elements are 64 bits here, these are no row of the kernels. */
static void keep_totals_together(rd_tile_code *code)
{
    for (int32_t k = 0; k < code->n_pass; k++) {
        const rd_tile_pass *pass = code->pass[k];
        bool                all  = true;

        for (int32_t i = 0; i < pass->n_fold; i++)
            all = all && code->fold[pass->number[i]].totals;
        for (int32_t i = 0; i < pass->n_fold; i++)
            code->fold[pass->number[i]].totals = all;
    }
}

static void find_totals(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP && folds_totals(p, code, i))
            code->fold[p->inst[i].arg].totals = true;
    keep_totals_together(code);
    for (int32_t k = 0; k < p->n_fold; k++)
        if (code->fold[k].totals)
            code->fold[k].row_bytes = 8 * code->fold[k].n_state;
}

/* Do elements lie as states do, so many that a block's are in registers: all lanes of a cell, or a few columns? */
static bool has_blocks(const rd_tile_fold *f)
{
    const int64_t registers = 256 / rd_elem_size(f->elem);

    return f->form == RD_FOLD_RUN
               ? f->fold->lanes == registers
               : f->form == RD_FOLD_COLUMNS && f->group <= RD_BLOCK_COLUMNS * 4 / rd_elem_size(f->elem);
}

static void find_step(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_simd      *simd = code->simd;
    rd_tile_inst       *t    = &code->inst[i];
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];

    t->from = widens(code, t) ? code->reg[t->x].elem : f->elem;
    t->step = t->turned >= 0                   ? simd->turned[t->from][f->fold->reducer][t->fused]
              : t->fused || t->from != f->elem ? simd->fused[t->from][f->fold->reducer][t->fused]
              : f->best                        ? simd->best_rows[f->elem][f->fold->reducer]
                                               : f->code->step;
    if (simd->cells[t->from] && f->in_step && !f->weighted && t->turned < 0)
        t->cells = simd->cells[t->from][f->fold->reducer][t->fused];
    if (simd->blocks[t->from] && !f->masked && !f->weighted && t->turned < 0 && has_blocks(f))
        t->blocks = simd->blocks[t->from][f->fold->reducer][t->fused];
}

static void find_steps(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STEP)
            find_step(p, code, i);
}

/* ---- What it can do ---------------------------------------------------------------------------------------- */
static bool identity_known(rd_reducer_id r)
{
    return r == RD_RED_sum || r == RD_RED_prod || r == RD_RED_min || r == RD_RED_max || r == RD_RED_any ||
           r == RD_RED_all;
}

/* Masked elements are replaced by an identity, so there must be one; results so far are made of states that need no
 * block code; a fold that begins for each element is none of ours. */
static bool fold_can(const rd_program *p, const rd_tile_code *code, int32_t k)
{
    const rd_fold *fold = &p->fold[k];
    const int32_t  step = find(p, fold->scan ? RD_I_SCAN : RD_I_STEP, k), start = find(p, RD_I_START, k);

    if (fold->reducer == RD_RED_user || step < 0 || start < 0)
        return false;
    if ((p->inst[step].c >= 0 || fold->scan) && !identity_known(fold->reducer))
        return false;
    if (fold->scan && p->inst[step].c >= 0)
        return false;
    return code->inst[start].level != RD_AT_TILE &&
           (code->inst[start].level == RD_AT_TASK || code->inst[step].level == RD_AT_TILE);
}

/* Registers go to memory as what they are; programs made by hand may ask for other things. */
static bool can_move(const rd_program *p, const rd_tile_code *code, const rd_inst *inst)
{
    const int32_t reg = inst->kind == RD_I_LOAD ? inst->dst : inst->a;

    return (inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE) ||
           rd_elem_of(p->address[inst->arg].type) == code->reg[reg].elem;
}

static bool can(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (!can_move(p, code, &p->inst[i]))
            return false;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!fold_can(p, code, k))
            return false;
    return true;
}

/* ---- Reading ahead ----------------------------------------------------------------------------------------- */
/* The first LOAD of a loop over columns that others follow, of rows that adjoin.  Memory would idle while the others
 * compute on what is near by then. */
static void find_ahead(const rd_program *p, rd_tile_code *code, int32_t begin, const rd_loop *outer)
{
    int32_t first = -1, n = 0;

    for (int32_t i = begin + 1; i < outer->end; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const rd_loop *loop = &p->loop[p->inst[i].arg];
        if (code->loop[p->inst[i].arg].role != RD_LOOP_COLS || code->loop[p->inst[i].arg].square)
            return;
        n++;
        for (int32_t k = i + 1; k < loop->end && first < 0; k++)
            if (p->inst[k].kind == RD_I_LOAD && code->inst[k].direct &&
                p->address[p->inst[k].arg].slot < p->first_scratch &&
                coef_of(&p->address[p->inst[k].arg], outer) == loop->extent)
                first = k;
        i = loop->end;
    }
    if (first >= 0 && n > 1)
        code->inst[first].ahead = true;
}

static void find_all_ahead(const rd_program *p, rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->loop[p->inst[i].arg].role != RD_LOOP_COLS)
            find_ahead(p, code, i, &p->loop[p->inst[i].arg]);
}

/* ---- All together ------------------------------------------------------------------------------------------ */
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

rd_tile_result rd_tile_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool)
{
    rd_tile_code *code = new_code(p, get, pool);

    if (!code)
        return RD_TILE_NO_MEMORY;
    code->simd = simd;
    decode_all(p, code);
    if (!can(p, code) || !plan_folds(p, code, false))
        return RD_TILE_CANNOT;
    if (!rd_tile_fuse(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    rd_tile_squares(p, code);
    if (!rd_tile_find_nests(p, code, get, pool) || !rd_tile_find_passes(p, code, get, pool) ||
        !rd_tile_buffers(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    find_all_ahead(p, code);
    size_columns(p, code);
    find_totals(p, code);
    size_rows(p, code);
    plan_folds(p, code, true);
    find_steps(p, code);
    if (!rd_tile_find_total(p, code, get, pool) || !rd_tile_ask_for_passes(p, code, get, pool))
        return RD_TILE_NO_MEMORY;
    p->code        = code;
    p->state_bytes = code->total ? 0 : rd_tiles_bytes(p);
    return RD_TILE_OK;
}
