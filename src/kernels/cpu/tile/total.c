/* total.c - programs that are nothing but folds of a few blocks by one kernel: the total of a small array, or those of
 * small planes or of their columns.  What surrounds the sum of a hundred elements costs more than they do, so these run
 * without registers, tiles and instructions. */
#include "kernels/cpu/tile/trees.h"
#include <assert.h>

/* ---- What is one ------------------------------------------------------------------------------------------- */
/* The only instruction of a kind; NULL: there are others. */
static const rd_inst *only(const rd_program *p, rd_inst_kind kind)
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

/* Is there nothing but a fold that is stored, of what is loaded, or of a map in its kernel? */
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
            if (!code->inst[i].direct)
                return false;
            break;
        case RD_I_MAP:
            if (!code->inst[i].skip)
                return false;
            break;
        default: return false;
        }
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind != RD_LOOP_EACH || p->loop[k].backwards)
            return false;
    return p->n_fold == 1;
}

/* Elements from neighbour to neighbour along an axis. */
static int64_t step_along(const rd_address *at, int32_t axis)
{
    int64_t step = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        step += at->add[k].axis == axis ? at->add[k].coef : 0;
    return step;
}

/* Positions in the caller's memory that follow from loops alone? */
static bool is_plain(const rd_program *p, const rd_address *at)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 || at->add[k].local)
            return false;
    return at->slot < p->first_scratch;
}

/* The array that the register is, side by side along an axis; NULL: something else. */
static const rd_address *array_of(const rd_program *p, const rd_tile_code *code, int32_t reg, int32_t axis)
{
    const int32_t     born = code->reg[reg].born;
    const rd_address *at   = &p->address[p->inst[born].arg];

    return p->inst[born].kind == RD_I_LOAD && code->inst[born].direct && is_plain(p, at) && step_along(at, axis) == 1
               ? at
               : NULL;
}

/* The program's only loop is a row. */
static bool is_row(const rd_program *p, const rd_tile_code *code)
{
    return p->n_loop == 1 && p->loop[0].axis == p->root && code->fold->form == RD_FOLD_RUN &&
           rd_tile_fold_one_block(code->fold);
}

static bool follows(const rd_program *p, int32_t *at, const rd_inst_kind *kind, int32_t n)
{
    for (int32_t k = 0; k < n; k++, ++*at)
        if (*at == p->n_inst || p->inst[*at].kind != kind[k])
            return false;
    return true;
}

/* Loops and nothing else, then a fold that starts, takes `loops` loops of elements, and is stored, column by column or
 * but once. */
static bool has_shape(const rd_program *p, int32_t loops, bool by_columns, int32_t *around)
{
    static const rd_inst_kind begins[] = { RD_I_START, RD_I_LOOP, RD_I_LOOP };
    static const rd_inst_kind ends[]   = { RD_I_STEP, RD_I_END, RD_I_END };
    static const rd_inst_kind stores[] = { RD_I_LOOP, RD_I_CLOSE, RD_I_STORE, RD_I_END };
    int32_t                   at       = 0;

    while (at < p->n_inst && p->inst[at].kind == RD_I_LOOP)
        at++;
    *around = at;
    if (!follows(p, &at, begins, 1 + loops))
        return false;
    while (at < p->n_inst && (p->inst[at].kind == RD_I_LOAD || p->inst[at].kind == RD_I_MAP))
        at++;
    return follows(p, &at, ends, 1 + loops) &&
           (by_columns ? follows(p, &at, stores, 4) : follows(p, &at, stores + 1, 2)) && at + *around == p->n_inst;
}

static const rd_loop *loop_at(const rd_program *p, int32_t inst)
{
    return &p->loop[p->inst[inst].arg];
}

/* Does the fold go through rows one after the other, and tasks share neither rows nor columns? */
static bool goes_by_rows(const rd_program *p, const rd_fold *fold, const rd_loop *rows, const rd_loop *cols)
{
    return cols->axis != p->root &&
           (rows ? rows->axis != p->root && fold->outer.n_add == 1 && step_along(&fold->outer, rows->axis) == 1
                 : fold->outer.n_add == 0);
}

/* Rows of columns, in one block. */
static bool is_plane_of_columns(const rd_program *p, const rd_tile_code *code, rd_tile_total *total)
{
    const rd_tile_fold *f = code->fold;

    if (f->form != RD_FOLD_COLUMNS || f->fold->n_block != 1 || !has_shape(p, 2, true, &total->around))
        return false;
    total->rows = loop_at(p, total->around + 1);
    total->cols = loop_at(p, total->around + 2);
    total->n    = total->cols->extent;
    return goes_by_rows(p, f->fold, total->rows, total->cols) && f->cells == total->n &&
           step_along(&f->fold->cell, total->cols->axis) == 1;
}

/* Rows of whole steps of all lanes, a few blocks of whole rows; or one row of several blocks: of one block there are
 * kernels for many rows. */
static bool is_plane_of_lanes(const rd_program *p, const rd_tile_code *code, rd_tile_total *total)
{
    const rd_fold *fold = code->fold->fold;
    const bool     one  = has_shape(p, 1, false, &total->around);
    int64_t        steps;

    if (code->fold->form != RD_FOLD_RUN || fold->n_block < (one ? 2 : 1) ||
        fold->n_block > 1 << (RD_TOTAL_LEVELS - 1) || (!one && !has_shape(p, 2, false, &total->around)))
        return false;
    total->rows = one ? NULL : loop_at(p, total->around + 1);
    total->cols = loop_at(p, total->around + (one ? 1 : 2));
    total->n    = fold->lanes;
    steps       = total->cols->extent / fold->lanes;
    return goes_by_rows(p, fold, total->rows, total->cols) && total->cols->extent == fold->lane_extent &&
           fold->lane.n_add == 1 && step_along(&fold->lane, total->cols->axis) == 1 && fold->cell.n_add == 0 &&
           total->cols->extent % fold->lanes == 0 && (one || (steps > 0 && fold->steps % steps == 0));
}

/* Where operands and result are; false: not in plain arrays. */
static bool find_arrays(const rd_program *p, const rd_tile_code *code, const rd_inst *step, rd_tile_total *total)
{
    const rd_inst      *close = only(p, RD_I_CLOSE), *store = only(p, RD_I_STORE);
    const rd_tile_inst *t    = &code->inst[step - p->inst];
    const int32_t       axis = total->cols ? total->cols->axis : p->root;

    total->x  = array_of(p, code, t->x, axis);
    total->y  = t->y >= 0 ? array_of(p, code, t->y, axis) : NULL;
    total->to = &p->address[store->arg];
    return total->x && (t->y < 0 || total->y) && store->a == close->dst && is_plain(p, total->to) &&
           total->to->type == total->fold->fold->out &&
           step_along(total->to, axis) == (total->fold->form == RD_FOLD_COLUMNS);
}

bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    const rd_tile_fold *f     = code->fold;
    const rd_inst      *step  = only(p, RD_I_STEP);
    rd_tile_total       total = { .fold = f }, *kept;

    code->total = NULL;
    if (!step || !only(p, RD_I_CLOSE) || !only(p, RD_I_STORE) || !only_folds(p, code) ||
        f->fold->out != f->fold->type || rd_dtype_is_half(f->fold->out))
        return true;
    const rd_tile_inst *t = &code->inst[step - p->inst];

    if (is_row(p, code)) {
        total.kernel = code->simd->totals[t->from] ? code->simd->totals[t->from][f->fold->reducer][t->fused] : NULL;
        total.n      = f->fold->lane_extent;
    } else if (t->blocks && (is_plane_of_columns(p, code, &total) || is_plane_of_lanes(p, code, &total)))
        total.kernel = t->blocks;
    if (!total.kernel || !find_arrays(p, code, step, &total))
        return true;
    kept = get(pool, sizeof *kept);
    if (!kept)
        return false;
    *kept       = total;
    code->total = kept;
    return true;
}

/* ---- Running it -------------------------------------------------------------------------------------------- */
/* Where an array begins; NULL: there is none. */
static char *begins(const rd_task *task, const rd_address *at)
{
    return at ? (char *)task->slot[at->slot] + at->offset * rd_dtype_size(at->type) : NULL;
}

static char *moved(char *at, const rd_address *array, int32_t axis, int64_t n)
{
    return at ? at + n * step_along(array, axis) * rd_dtype_size(array->type) : NULL;
}

static void merge(const rd_tile_fold *f, void *into, void *from)
{
    f->code->merge(f->fold->lanes, &into, &from);
}

/* Blocks of whole rows, or of a part of the only one, merge as the aligned tree says; then the lanes do. */
static void total_of_lanes(const rd_tile_total *t, rd_fold_rows q, void *to)
{
    const rd_fold *fold = t->fold->fold;
    const int64_t  size = rd_dtype_size(t->x->type), cols = t->cols->extent, rows = t->rows ? t->rows->extent : 1;
    const int64_t  whole = t->rows ? fold->steps * fold->lanes / cols : fold->steps * fold->lanes; /* rows; elements */
    _Alignas(64) uint64_t state[RD_TOTAL_LEVELS + 1][64];
    int                   depth = 0;
    void                 *s     = state[0];

    for (int64_t b = 0; b < fold->n_block; b++) {
        const int64_t left = (t->rows ? rows : cols) - b * whole, now = left < whole ? left : whole;

        q.rows  = t->rows ? now : 1;
        q.along = t->rows ? cols : now;
        t->kernel(&q, state[depth++]);
        for (int64_t k = b; k & 1; k /= 2, depth--)
            merge(t->fold, state[depth - 2], state[depth - 1]);
        q.x = (const char *)q.x + whole * (t->rows ? q.ldx : 1) * size;
        q.y = q.y ? (const char *)q.y + whole * (t->rows ? q.ldy : 1) * size : NULL;
    }
    for (; depth > 1; depth--)
        merge(t->fold, state[depth - 2], state[depth - 1]);
    rd_tiles_halve(t->fold, fold->lanes, &s);
    t->fold->code->finish(1, &s, fold->ddof, &to);
}

static void totals_of_columns(const rd_tile_total *t, rd_fold_rows q, void *to)
{
    _Alignas(64) uint64_t state[RD_BLOCK_COLUMNS];
    void *const           s = state;

    assert(t->rows);
    q.rows  = t->rows->extent;
    q.along = t->n;
    t->kernel(&q, s);
    t->fold->code->finish(t->n, &s, t->fold->fold->ddof, &to);
}

static void run_plane(const rd_tile_total *t, const char *x, const char *y, char *to)
{
    const rd_fold_rows q = { .n   = t->n,
                             .x   = x,
                             .y   = y,
                             .ldx = t->rows ? step_along(t->x, t->rows->axis) : 0,
                             .ldy = t->rows && y ? step_along(t->y, t->rows->axis) : 0 };

    (t->fold->form == RD_FOLD_COLUMNS ? totals_of_columns : total_of_lanes)(t, q, to);
}

/* Loop number `number` around the planes, and those in it. */
static void run_around(const rd_program *p, const rd_tile_total *t, rd_task *task, int32_t number, char *x, char *y,
                       char *to)
{
    const rd_loop *loop = &p->loop[p->inst[number].arg];
    const bool     root = loop->axis == p->root;

    if (number == t->around) {
        run_plane(t, x, y, to);
        task->loads += (y ? 2 : 1) * t->cols->extent * (t->rows ? t->rows->extent : 1);
        return;
    }
    for (int64_t i = root ? task->lo : 0; i < (root ? task->hi : loop->extent); i++)
        run_around(p, t, task, number + 1, moved(x, t->x, loop->axis, i), moved(y, t->y, loop->axis, i),
                   moved(to, t->to, loop->axis, i));
}

static void run_row(const rd_tile_total *t, rd_task *task)
{
    const rd_fold_rows q = { .n = t->n, .rows = 1, .x = begins(task, t->x), .y = begins(task, t->y) };
    rd_word            state;
    void *const s = &state, *const to = begins(task, t->to);

    t->kernel(&q, s);
    t->fold->code->finish(1, &s, t->fold->fold->ddof, &to);
    task->loads += t->y ? 2 * t->n : t->n;
}

/* Of a row, whoever has the first element has the block. */
void rd_tile_run_total(const rd_program *p, rd_task *task)
{
    const rd_tile_total *t = ((const rd_tile_code *)p->code)->total;

    if (t->cols)
        run_around(p, t, task, 0, begins(task, t->x), begins(task, t->y), begins(task, t->to));
    else if (task->lo == 0)
        run_row(t, task);
}
