/* total.c - programs that are a single total: folds of a few blocks by one kernel.
 *
 * These are the total of a small array, or totals of small planes or of their columns.  The
 * overhead of tiles costs more than the sum of a hundred elements, so these programs run without
 * registers, tiles and instructions.
 *
 * Words.  A plane is a two-dimensional part of an array, folded by two loops.  It is folded down
 * its columns (a result for each) or along the lanes of its rows (one result).  In a rd_tile_total,
 * x and y are the operands, `to` is the result.
 *
 * Fields. An addend of an address with `axis` -1 is a register, so the address gathers. An
 * instruction is skipped (`skip`) if another one's kernel does its work. A LOAD is `direct` if its
 * register is the memory itself. An instruction's y is its second operand or its weights, -1:
 * none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/combine_tree.h"
#include "kernels/cpu/tile/run/trees.h"
#include <assert.h>

/* ---- Which programs are a total -------------------------------------------------------------- */
/* Returns the only instruction of a kind; NULL if there are none or several. */
static const rd_inst *sole_inst(const rd_program *p, rd_inst_kind kind)
{
    const rd_inst *found = NULL;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == kind) {
            if (found)
                return NULL;
            found = &p->inst[i];
        }
    return found;
}

/* True if the program only folds what it loads, or a map within the kernel, and stores the result.
 * Loops must go forwards, without panels (ranges), and there must be one fold. */
static bool only_folds(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        switch (p->inst[i].kind) {
        case RD_I_LOOP:
        case RD_I_END:
        case RD_I_START:
        case RD_I_STEP:
        case RD_I_CLOSE:
        case RD_I_STORE: break;
        case RD_I_LOAD:
            if (!code->inst[i].direct) /* its register is the memory itself */
                return false;
            break;
        case RD_I_MAP:
            if (!code->inst[i].skip) /* no other instruction does its work */
                return false;
            break;
        default: return false;
        }
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind != RD_LOOP_EACH || p->loop[k].backwards)
            return false;
    return p->n_fold == 1;
}

/* Returns the stride of an address along an axis in elements: the sum of its terms along that
 * axis. */
static int64_t step_along(const rd_address *at, int32_t axis)
{
    int64_t step = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        step += at->add[k].axis == axis ? at->add[k].coef : 0;
    return step;
}

/* True if an address is in the caller's memory (not scratch) and depends on loop indices alone. */
static bool is_affine(const rd_program *p, const rd_address *at)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 || at->add[k].local) /* an index in a register */
            return false;
    return at->slot < p->first_scratch;
}

/* Returns the address of the array that a register is a view of (by a direct LOAD), if that is
 * contiguous along an axis; NULL if the register is something else. */
static const rd_address *array_of(const rd_program *p, const rd_tile_code *code, int32_t reg,
                                  int32_t axis)
{
    const int32_t     born = code->reg[reg].born; /* the instruction that makes it */
    const rd_address *at   = &p->address[p->inst[born].arg];

    return p->inst[born].kind == RD_I_LOAD && code->inst[born].direct && is_affine(p, at) &&
                   step_along(at, axis) == 1
               ? at
               : NULL;
}

/* True if the only loop of the program is a row along the lanes, which a kernel folds without a
 * combine tree. p->root is the axis that tasks share; code->fold is the only fold. */
static bool is_row(const rd_program *p, const rd_tile_code *code)
{
    return p->n_loop == 1 && p->loop[0].axis == p->root && code->fold->mapping == RD_FOLD_LANES &&
           code->fold->treeless;
}

/* True if the next n instructions are of these kinds; moves *at behind them. */
static bool matches(const rd_program *p, int32_t *at, const rd_inst_kind *kind, int32_t n)
{
    for (int32_t k = 0; k < n; k++, ++*at)
        if (*at == p->n_inst || p->inst[*at].kind != kind[k])
            return false;
    return true;
}

/* True if the program is outer loops, then a fold of two loops of elements, which is stored once or
 * column by column (`by_columns`). `around` gets the number of outer loops; as many ENDs are last.
 *
 *   LOOP ..  START  LOOP LOOP (LOAD | MAP).. STEP END END  [LOOP] CLOSE STORE [END]  END .. */
static bool has_pattern(const rd_program *p, bool by_columns, int32_t *around)
{
    static const rd_inst_kind array_begin[] = { RD_I_START, RD_I_LOOP, RD_I_LOOP };
    static const rd_inst_kind ends[]        = { RD_I_STEP, RD_I_END, RD_I_END };
    static const rd_inst_kind stores[]      = { RD_I_LOOP, RD_I_CLOSE, RD_I_STORE, RD_I_END };
    int32_t                   at            = 0;

    while (at < p->n_inst && p->inst[at].kind == RD_I_LOOP)
        at++;
    *around = at;
    if (!matches(p, &at, array_begin, 3))
        return false;
    while (at < p->n_inst && (p->inst[at].kind == RD_I_LOAD || p->inst[at].kind == RD_I_MAP))
        at++;
    return matches(p, &at, ends, 3) &&
           (by_columns ? matches(p, &at, stores, 4) : matches(p, &at, stores + 1, 2)) &&
           at + *around == p->n_inst;
}

/* Returns the loop that the LOOP instruction number `inst` begins. */
static const rd_loop *loop_at(const rd_program *p, int32_t inst)
{
    return &p->loop[p->inst[inst].arg];
}

/* Finds the two loops of a plane (a two-dimensional part of an array that is one fold). True if the
 * fold goes through its rows in order, and tasks share neither rows nor columns. n_outer counts the
 * loops around; behind them are START and the two loops. `lane_line` is the number of a pass along
 * the lanes: here the row. */
static bool find_plane(const rd_program *p, const rd_fold *fold, rd_tile_total *total)
{
    total->rows = loop_at(p, total->n_outer + 1);
    total->cols = loop_at(p, total->n_outer + 2);
    return total->cols->axis != p->root && total->rows->axis != p->root &&
           fold->lane_line.n_add == 1 && step_along(&fold->lane_line, total->rows->axis) == 1;
}

/* True if planes (two-dimensional parts of an array) are folded down their columns, in one block,
 * and each column is a result. The cells (results) are as many as the columns, in the same
 * order. */
static bool is_plane_of_columns(const rd_program *p, const rd_tile_code *code, rd_tile_total *total)
{
    const rd_tile_fold *f = code->fold;

    if (f->mapping != RD_FOLD_COLUMNS || f->fold->n_block != 1 ||
        !has_pattern(p, /*by_columns=*/true, &total->n_outer) || !find_plane(p, f->fold, total))
        return false;
    total->n = total->cols->extent;
    return f->cells == total->n && step_along(&f->fold->cell, total->cols->axis) == 1;
}

/* True if a plane (a two-dimensional part of an array) is one result: its rows are whole steps of
 * all lanes, in at most 16 blocks (RD_TOTAL_BLOCKS) of whole rows. The conditions at the end, in
 * turn:
 *   a row is one pass along the lanes, element by element
 *   there is one cell (result)
 *   rows are whole steps, and a block is whole rows */
static bool is_plane_of_lanes(const rd_program *p, const rd_tile_code *code, rd_tile_total *total)
{
    const rd_fold *fold = code->fold->fold;
    int64_t        steps;

    if (code->fold->mapping != RD_FOLD_LANES || fold->n_block < 1 ||
        fold->n_block > RD_TOTAL_BLOCKS || !has_pattern(p, /*by_columns=*/false, &total->n_outer) ||
        !find_plane(p, fold, total))
        return false;
    total->n = fold->lanes;
    steps    = total->cols->extent / fold->lanes;
    return total->cols->extent == fold->lane_extent && fold->lane.n_add == 1 &&
           step_along(&fold->lane, total->cols->axis) == 1 && fold->cell.n_add == 0 &&
           total->cols->extent % fold->lanes == 0 && steps > 0 && fold->steps % steps == 0;
}

/* Finds where operands and result of a total lie. False if they are not contiguous arrays outside
 * of scratch. `axis` is that along which neighbouring elements lie. The STORE must store the fold's
 * result, in its type, at an address that moves along `axis` by 1 for a result for each column,
 * else not at all. */
static bool find_arrays(const rd_program *p, const rd_tile_code *code, const rd_inst *step,
                        rd_tile_total *total)
{
    const rd_inst      *close = sole_inst(p, RD_I_CLOSE), *store = sole_inst(p, RD_I_STORE);
    const rd_tile_inst *t    = &code->inst[step - p->inst];
    const int32_t       axis = total->cols ? total->cols->axis : p->root;

    total->x  = array_of(p, code, t->x, axis);
    total->y  = t->y >= 0 ? array_of(p, code, t->y, axis) : NULL;
    total->to = &p->address[store->arg];
    return total->x && (t->y < 0 || total->y) && store->a == close->dst &&
           is_affine(p, total->to) && total->to->type == total->fold->fold->out &&
           step_along(total->to, axis) == (total->fold->mapping == RD_FOLD_COLUMNS);
}

/* Sets code->total if the program is one fold of a small array, or folds of small planes
 * (two-dimensional parts of it), with a kernel: it then runs without tiles and registers. Tables of
 * kernels are by element, reducer and fused map, NULL where there are none. Not for group-bys,
 * users' reducers, masks and results of another type than the states. code->total stays NULL
 * otherwise; else it lives as long as the program. False if memory runs out. */
bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    const rd_tile_fold *f     = code->fold;
    const rd_inst      *step  = sole_inst(p, RD_I_STEP);
    rd_tile_total       total = { .fold = f }, *kept;

    code->total = NULL;
    if (!step || f->grouped || !sole_inst(p, RD_I_CLOSE) || !sole_inst(p, RD_I_STORE) ||
        !only_folds(p, code) || f->users || f->masked || f->fold->out != f->fold->type ||
        rd_dtype_is_narrow_float(f->fold->out))
        return true;
    const rd_tile_inst *t = &code->inst[step - p->inst];

    if (is_row(p, code)) {
        total.row = code->simd->totals[t->from]
                        ? code->simd->totals[t->from][f->fold->reducer][t->fused]
                        : NULL;
        total.n   = f->fold->lane_extent;
    } else if (t->blocks &&
               (is_plane_of_columns(p, code, &total) || is_plane_of_lanes(p, code, &total)))
        total.plane = t->blocks;
    if ((!total.row && !total.plane) || !find_arrays(p, code, step, &total))
        return true;
    kept = get(pool, sizeof *kept);
    if (!kept)
        return false;
    *kept       = total;
    code->total = kept;
    return true;
}

/* ---- Running it ------------------------------------------------------------------------------ */
/* Returns the address of an array's first element; NULL if there is no array. */
static char *array_begin(const rd_task *task, const rd_address *at)
{
    return at ? (char *)task->slot[at->slot] + at->offset * rd_dtype_size(at->type) : NULL;
}

/* Returns the stride of an array along an axis, in bytes; 0 if there is no array. */
static int64_t bytes_along(const rd_address *array, int32_t axis)
{
    return array ? step_along(array, axis) * rd_dtype_size(array->type) : 0;
}

/* Returns a pointer so many bytes behind `at`; NULL if there is no operand. */
static char *moved(const void *at, int64_t bytes)
{
    return at ? (char *)at + bytes : NULL;
}

/* Returns the greatest power of two that is at most n. */
static int64_t power_in(int64_t n)
{
    int64_t power = 1;

    while (2 * power <= n)
        power *= 2;
    return power;
}

/* Folds a plane along the lanes of its rows to one result. Blocks become nodes of falling size. The
 * last nodes merge first, as the aligned combine tree says; then lanes merge. A kernel call folds a
 * power of two of blocks to node[depth], with the nodes behind it as scratch. finish() turns the
 * state into the result (ddof is for variances only).
 *
 *   7 blocks: nodes of 4, 2 and 1 blocks; 2 + 1 merge first, then 4 + (2 + 1) */
static void total_of_lanes(const rd_tile_total *t, const rd_fold_rows *plane, void *to)
{
    const rd_fold        *fold = t->fold->fold;
    const int64_t         size = rd_dtype_size(t->x->type), rows = t->rows->extent;
    const int64_t         whole = fold->steps * fold->lanes / t->cols->extent; /* rows of a block */
    _Alignas(64) uint64_t state[RD_TOTAL_LEVELS][RD_TREE_LANES];
    void                 *node[RD_TOTAL_LEVELS];
    int                   depth = 0;
    rd_fold_rows          q     = *plane;

    for (int k = 0; k < RD_TOTAL_LEVELS; k++)
        node[k] = state[k];
    for (int64_t left = rows, blocks; left > 0; left -= blocks * q.rows) {
        q.rows = left < whole ? left : whole;
        blocks = power_in(left / q.rows);
        t->plane(&q, blocks, node + depth++);
        q.x = moved(q.x, blocks * q.rows * q.ldx * size);
        q.y = moved(q.y, blocks * q.rows * q.ldy * size);
    }
    for (; depth > 1; depth--)
        t->fold->code->merge(fold->lanes, node + depth - 2, node + depth - 1);
    rd_tiles_merge_lanes(t->fold, fold->lanes, node);
    t->fold->code->finish(/*n=*/1, node, t->fold->fold->ddof, &to);
}

/* Folds a plane down its columns by one call of the kernel, to a result for each column. finish()
 * turns states into results. */
static void totals_of_columns(const rd_tile_total *t, const rd_fold_rows *plane, void *to)
{
    _Alignas(64) uint64_t state[RD_BLOCK_COLUMNS];
    void *const           s = state;

    t->plane(plane, /*blocks=*/1, &s);
    t->fold->code->finish(t->n, &s, t->fold->fold->ddof, &to);
}

/* Runs outer loop `number`, and those inside it, down to the planes; operands and the result `to`
 * move on with each index. Tasks share the root axis. `along` is the elements of a row of the
 * plane. Operands that are NULL stay so; task->loads counts the elements read. */
static void run_around(const rd_program *p, const rd_tile_total *t, rd_task *task, int32_t number,
                       const rd_fold_rows *first, char *to)
{
    if (number == t->n_outer) {
        (t->fold->mapping == RD_FOLD_COLUMNS ? totals_of_columns : total_of_lanes)(t, first, to);
        task->loads += (t->y ? 2 : 1) * first->rows * first->along;
        return;
    }
    const int32_t axis = p->loop[p->inst[number].arg].axis;
    const int64_t x = bytes_along(t->x, axis), y = bytes_along(t->y, axis),
                  step = bytes_along(t->to, axis);
    const int64_t lo   = axis == p->root ? task->lo : 0,
                  hi   = axis == p->root ? task->hi : p->axis_extent[axis];
    rd_fold_rows q     = *first;

    for (int64_t i = lo; i < hi; i++) {
        q.x = moved(first->x, i * x);
        q.y = moved(first->y, i * y);
        run_around(p, t, task, number + 1, &q, to + i * step);
    }
}

/* Runs a program of folds over planes (two-dimensional parts of an array). n is the columns, or
 * lanes, that the kernel takes; ldx and ldy are elements from row to row. */
static void run_planes(const rd_program *p, const rd_tile_total *t, rd_task *task)
{
    const rd_fold_rows q = { .n     = t->n,
                             .rows  = t->rows->extent,
                             .along = t->cols->extent, /* elements of a row */
                             .x     = array_begin(task, t->x),
                             .y     = array_begin(task, t->y),
                             .ldx   = step_along(t->x, t->rows->axis),
                             .ldy   = t->y ? step_along(t->y, t->rows->axis) : 0 };

    run_around(p, t, task, /*number=*/0, &q, array_begin(task, t->to));
}

/* Runs a program that folds one row, by one call of the kernel. finish() turns the state into the
 * result (ddof is for variances); the elements of both operands are counted. */
static void run_row(const rd_tile_total *t, rd_task *task)
{
    const rd_fold     *fold = t->fold->fold;
    const rd_fold_rows q    = { .n     = t->n,
                                .rows  = 1,
                                .along = fold->steps * fold->lanes, /* elements of a block */
                                .x     = array_begin(task, t->x),
                                .y     = array_begin(task, t->y) };
    rd_word            state;
    void *const s = &state, *const to = array_begin(task, t->to);

    t->row(&q, s);
    t->fold->code->finish(/*n=*/1, &s, fold->ddof, &to);
    task->loads += t->y ? 2 * t->n : t->n;
}

/* Runs a program that is one total.  A row cannot be shared, so the task with its first element
 * folds all of it. */
void rd_tile_run_total(const rd_program *p, rd_task *task)
{
    const rd_tile_total *t = ((const rd_tile_code *)p->code)->total;

    if (t->plane)
        run_planes(p, t, task);
    else if (task->lo == 0)
        run_row(t, task);
}
