/* total.c - programs that are one total: a fold of a small array, in one block, by one kernel.  What surrounds the sum of a
 * hundred elements costs more than they do, so these run without registers, tiles and loops. */
#include "kernels/cpu/tile/tile.h"

/* The array that the register is, a row along the root axis; NULL: something else. */
static const rd_address *row_at(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    const int32_t     born = code->reg[reg].born;
    const rd_address *at;

    if (p->inst[born].kind != RD_I_LOAD || !code->inst[born].direct)
        return NULL;
    at = &p->address[p->inst[born].arg];
    return at->n_add == 1 && at->add[0].axis == p->root && at->add[0].coef == 1 && !at->add[0].local &&
                   at->slot < p->first_scratch
               ? at
               : NULL;
}

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
    return p->n_fold == 1 && p->n_loop == 1 && p->loop[0].axis == p->root && p->loop[0].kind == RD_LOOP_EACH &&
           !p->loop[0].backwards;
}

bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    const rd_tile_fold *f    = code->fold;
    const rd_inst      *step = only(p, RD_I_STEP), *close = only(p, RD_I_CLOSE), *store = only(p, RD_I_STORE);
    rd_tile_total       total = { .fold = f };

    code->total = NULL;
    if (!step || !close || !store || !only_folds(p, code) || !rd_tile_fold_one_block(f) || f->form != RD_FOLD_RUN ||
        f->fold->out != f->fold->type || rd_dtype_is_half(f->fold->out))
        return true;
    const rd_tile_inst *t = &code->inst[step - p->inst];

    total.kernel = code->simd->totals[t->from] ? code->simd->totals[t->from][f->fold->reducer][t->fused] : NULL;
    total.n      = f->fold->lane_extent;
    total.x      = row_at(p, code, t->x);
    total.y      = t->y >= 0 ? row_at(p, code, t->y) : NULL;
    total.to     = &p->address[store->arg];
    if (!total.kernel || !total.x || (t->y >= 0 && !total.y) || store->a != close->dst || total.to->n_add ||
        total.to->type != f->fold->out || total.to->slot >= p->first_scratch)
        return true;
    rd_tile_total *kept = get(pool, sizeof *kept);
    if (!kept)
        return false;
    *kept       = total;
    code->total = kept;
    return true;
}

static char *element(const rd_task *task, const rd_address *at)
{
    return (char *)task->slot[at->slot] + at->offset * rd_dtype_size(at->type);
}

void rd_tile_run_total(const rd_tile_total *t, rd_task *task)
{
    rd_fold_rows q = { .n = t->n, .rows = 1, .x = element(task, t->x), .y = t->y ? element(task, t->y) : NULL };
    rd_word      state;
    void *const s = &state, *const to = element(task, t->to);

    t->kernel(&q, s);
    t->fold->code->finish(1, &s, t->fold->fold->ddof, &to);
    task->loads += t->y ? 2 * t->n : t->n;
}
