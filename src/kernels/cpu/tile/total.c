/* total.c - programs that are nothing but folds of one block by one kernel: the total of a small array, or those of the
 * columns of small planes.  What surrounds the sum of a hundred elements costs more than they do, so these run without
 * registers, tiles and instructions. */
#include "kernels/cpu/tile/tile.h"

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
static bool is_row(const rd_program *p, const rd_tile_code *code, int32_t *axis)
{
    *axis = p->root;
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

/* In loops around it: the fold starts, takes rows of columns, and is stored column by column. */
static bool is_plane(const rd_program *p, const rd_tile_code *code, rd_tile_total *total)
{
    static const rd_inst_kind begins[] = { RD_I_START, RD_I_LOOP, RD_I_LOOP };
    static const rd_inst_kind ends[]   = { RD_I_STEP, RD_I_END, RD_I_END, RD_I_LOOP, RD_I_CLOSE, RD_I_STORE, RD_I_END };
    const rd_tile_fold       *f        = code->fold;
    int32_t                   at       = 0;

    while (at < p->n_inst && p->inst[at].kind == RD_I_LOOP)
        at++;
    total->around = at;
    if (!follows(p, &at, begins, 3))
        return false;
    while (at < p->n_inst && (p->inst[at].kind == RD_I_LOAD || p->inst[at].kind == RD_I_MAP))
        at++;
    if (!follows(p, &at, ends, 7) || at + total->around != p->n_inst)
        return false;
    total->rows = &p->loop[p->inst[total->around + 1].arg];
    total->cols = &p->loop[p->inst[total->around + 2].arg];
    return p->loop[p->inst[at - 4].arg].axis == total->cols->axis && f->form == RD_FOLD_COLUMNS &&
           f->fold->n_block == 1 && f->fold->outer.n_add == 1 && step_along(&f->fold->outer, total->rows->axis) == 1 &&
           f->cells == total->cols->extent && total->rows->axis != p->root && total->cols->axis != p->root;
}

bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    const rd_tile_fold *f    = code->fold;
    const rd_inst      *step = only(p, RD_I_STEP), *close = only(p, RD_I_CLOSE), *store = only(p, RD_I_STORE);
    rd_tile_total       total = { .fold = f };
    int32_t             axis  = -1;

    code->total = NULL;
    if (!step || !close || !store || !only_folds(p, code) || f->fold->out != f->fold->type ||
        rd_dtype_is_half(f->fold->out))
        return true;
    const rd_tile_inst *t = &code->inst[step - p->inst];

    if (is_row(p, code, &axis)) {
        total.kernel = code->simd->totals[t->from] ? code->simd->totals[t->from][f->fold->reducer][t->fused] : NULL;
        total.n      = f->fold->lane_extent;
    } else if (is_plane(p, code, &total)) {
        total.kernel = t->blocks;
        total.n      = total.cols->extent;
        axis         = total.cols->axis;
    }
    if (!total.kernel)
        return true;
    total.x  = array_of(p, code, t->x, axis);
    total.y  = t->y >= 0 ? array_of(p, code, t->y, axis) : NULL;
    total.to = &p->address[store->arg];
    if (!total.x || (t->y >= 0 && !total.y) || store->a != close->dst || !is_plain(p, total.to) ||
        step_along(total.to, axis) != (total.rows ? 1 : 0) || total.to->type != f->fold->out)
        return true;
    rd_tile_total *kept = get(pool, sizeof *kept);
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

static void run_plane(const rd_tile_total *t, char *x, char *y, char *to)
{
    _Alignas(64) uint64_t state[RD_BLOCK_COLUMNS];
    void *const s = state, *const out = to;
    const rd_fold_rows q = { .n    = t->n,
                             .rows = t->rows->extent,
                             .x    = x,
                             .y    = y,
                             .ldx  = step_along(t->x, t->rows->axis),
                             .ldy  = y ? step_along(t->y, t->rows->axis) : 0 };

    t->kernel(&q, s);
    t->fold->code->finish(t->n, &s, t->fold->fold->ddof, &out);
}

/* Loop number `number` around the planes, and those in it. */
static void run_around(const rd_program *p, const rd_tile_total *t, rd_task *task, int32_t number, char *x, char *y,
                       char *to)
{
    const rd_loop *loop = &p->loop[p->inst[number].arg];
    const bool     root = loop->axis == p->root;

    if (number == t->around) {
        run_plane(t, x, y, to);
        task->loads += (y ? 2 : 1) * t->n * t->rows->extent;
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

    if (t->rows)
        run_around(p, t, task, 0, begins(task, t->x), begins(task, t->y), begins(task, t->to));
    else if (task->lo == 0)
        run_row(t, task);
}
