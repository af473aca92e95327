/* fuse.c - passes over a tile that need not be: loads that are the memory itself, results stored
 * where they are computed, maps folded where they are computed. */
#include "core/caches.h"
#include "core/tree.h"
#include "kernels/cpu/tile/plan/plan.h"

static void note_uses(const rd_program *p, rd_tile_code *code, int32_t i)
{
    int32_t reg[RD_MOST_READ], n = rd_inst_reads(p, &p->inst[i], reg);

    for (int32_t k = 0; k < n; k++) {
        code->reg[reg[k]].last = i;
        code->reg[reg[k]].uses++;
    }
}

/* The same in memory and in registers? */
static bool native(rd_dtype type)
{
    return type == RD_F32 || type == RD_F64 || type == RD_I64 || type == RD_U64;
}

static bool computes(rd_inst_kind kind)
{
    return kind == RD_I_MAP || kind == RD_I_CAST || kind == RD_I_SELECT || kind == RD_I_SCAN;
}

/* ---- Stores ---------------------------------------------------------------------------------- */
int64_t rd_tile_bytes(const rd_program *p, const rd_address *at)
{
    double bytes = rd_dtype_size(at->type);

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0)
            bytes *= (double)p->axis_extent[at->add[k].axis];
    return bytes < 1e18 ? (int64_t)bytes : INT64_MAX;
}

/* What only a store to memory of its type reads is cut, or rounded, by that; f32 that shall become
 * halves, too. */
static void fuse_narrowing(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst    *inst = &p->inst[i];
    const rd_tile_reg reg  = code->reg[inst->a];
    const rd_inst    *from = &p->inst[reg.born];

    if (reg.uses != 1 || (from->kind != RD_I_MAP && from->kind != RD_I_CAST) ||
        !code->inst[reg.born].wrap || from->type != p->address[inst->arg].type ||
        code->inst[i].level != reg.level)
        return;
    code->inst[reg.born].wrap = NULL;
    if (from->kind != RD_I_CAST || !rd_dtype_is_half(from->type) ||
        code->reg[from->a].elem != RD_ELEM_f32 || code->reg[from->a].level != reg.level)
        return;
    code->inst[reg.born].skip = true;
    code->inst[i].x           = from->a;
    code->reg[from->a].last   = i > code->reg[from->a].last ? i : code->reg[from->a].last;
}

/* May a scan's results go past the caches from where they are made?  Only whole rows, and long
 * ones, are better off. */
static bool streams_itself(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    enum { LONG = 512 };
    const rd_inst      *inst = &p->inst[code->reg[reg].born];
    const rd_tile_fold *f    = &code->fold[inst->arg];

    return inst->kind == RD_I_SCAN && code->reg[reg].uses == 1 && f->col_extent >= LONG &&
           f->form != RD_FOLD_ELEMENTS && f->fold->type == f->fold->out;
}

/* loads: of how many instructions up to each are LOADs. */
static void fuse_store(const rd_program *p, rd_tile_code *code, const int32_t *loads, int32_t i)
{
    const rd_inst    *inst = &p->inst[i];
    const rd_address *at   = &p->address[inst->arg];
    rd_tile_inst     *t    = &code->inst[i];
    const int32_t     from = code->reg[inst->a].born;

    if (t->level != RD_AT_TILE || t->walk.col != 1 || t->walk.gathers)
        return;
    if (at->slot < p->first_scratch && rd_tile_bytes(p, at) >= RD_STREAM_BYTES) {
        t->stream = code->streams = true;
        if (!streams_itself(p, code, inst->a))
            return;
    }
    if (!native(at->type) || code->inst[from].level != RD_AT_TILE ||
        !computes(p->inst[from].kind) || code->inst[from].into >= 0 || loads[i] != loads[from])
        return;
    code->inst[from].into = i;
    t->done               = true;
}

/* ---- Loads ----------------------------------------------------------------------------------- */
static rd_elem half_elem(rd_dtype type)
{
    static const rd_elem elems[RD_N_DTYPES] = {
#define RD_DTYPE(...)
#define RD_HALF(enum_, name, ...) [RD_##enum_] = RD_ELEM_##name,
#include "core/dtypes.def"
    };

    return elems[type];
}

/* Do steps with a kernel that widens these elements read the register, and nothing else? */
static bool only_folds_widen(const rd_program *p, const rd_tile_code *code, int32_t load,
                             rd_elem elem)
{
    int32_t uses = 0;

    for (int32_t i = load; i < p->n_inst; i++) {
        const rd_tile_inst *t = &code->inst[i];
        const rd_tile_fold *f = &code->fold[p->inst[i].kind == RD_I_STEP ? p->inst[i].arg : 0];

        uses += p->inst[i].kind == RD_I_STEP && t->level == RD_AT_TILE &&
                t->x == p->inst[load].dst && t->y < 0 && t->small < 0 && !t->counts && !f->best &&
                !f->masked && !f->weighted && f->form != RD_FOLD_ELEMENTS &&
                code->simd->fused[elem] && code->simd->fused[elem][f->fold->reducer][t->fused];
    }
    return uses == code->reg[p->inst[load].dst].uses;
}

/* Is anything stored while the register is in use?  It may be what the register would still have to
 * read.  stores: how many instructions up to each store. */
static void fuse_load(const rd_program *p, rd_tile_code *code, const int32_t *stores, int32_t i)
{
    const rd_dtype type = p->address[p->inst[i].arg].type;
    rd_tile_inst  *t    = &code->inst[i];
    rd_tile_reg   *reg  = &code->reg[p->inst[i].dst];

    if (t->level == RD_AT_TASK || t->walk.col != 1 || t->walk.gathers ||
        !(reg->last < i || stores[reg->last - 1] == stores[i]))
        return;
    if (rd_dtype_is_half(type) && only_folds_widen(p, code, i, half_elem(type)))
        reg->elem = half_elem(type);
    else if (!native(type))
        return;
    t->direct = true;
}

/* ---- Moves ----------------------------------------------------------------------------------- */
static bool in_rows(const rd_tile_inst *t)
{
    return t->walk.col == 1 && !t->walk.gathers;
}

/* What is only loaded to be stored goes from memory to memory, as bytes: rows as they are, or one
 * side turned. */
static void fuse_move(const rd_program *p, rd_tile_code *code, const int32_t *stores, int32_t i)
{
    const rd_address *to   = &p->address[p->inst[i].arg];
    rd_tile_inst     *t    = &code->inst[i];
    const int32_t     from = code->reg[p->inst[i].a].born;
    rd_tile_inst     *load = &code->inst[from];

    if (p->inst[from].kind != RD_I_LOAD || t->level != RD_AT_TILE || load->level != RD_AT_TILE ||
        code->reg[p->inst[i].a].uses != 1 || to->type == RD_BOOL ||
        p->address[p->inst[from].arg].type != to->type || stores[i] - 1 != stores[from])
        return;
    if (!(in_rows(t) && (in_rows(load) || load->turns)) && !(t->turns && in_rows(load)))
        return;
    t->moves   = from;
    load->skip = true;
    if (in_rows(t) && to->slot < p->first_scratch && rd_tile_bytes(p, to) >= RD_STREAM_BYTES)
        t->stream = code->streams = true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
static bool in_tile(const rd_tile_code *code, int32_t reg)
{
    return reg >= 0 && code->reg[reg].level == RD_AT_TILE;
}

/* The MAP that makes a register for the one instruction that reads it, and need not be cut or
 * rounded for that. */
static int32_t only_map(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    const int32_t from = in_tile(code, reg) ? code->reg[reg].born : -1;

    return from >= 0 && code->reg[reg].uses == 1 && p->inst[from].kind == RD_I_MAP &&
                   !code->inst[from].wrap
               ? from
               : -1;
}

static rd_fused fused_as(rd_op op)
{
    switch (op) {
    case RD_OP_square: return RD_FUSED_square;
    case RD_OP_abs: return RD_FUSED_abs;
    case RD_OP_mul: return RD_FUSED_mul;
    case RD_OP_sub: return RD_FUSED_sub;
    case RD_OP_add: return RD_FUSED_add;
    default: return RD_FUSED_none;
    }
}

/* Step i computes map `as` of the operands of `from` itself, if there is such a kernel and they are
 * in the tile. */
static bool fuse_map(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as, int32_t from)
{
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];
    const int32_t       x = p->inst[from].a,
                  y       = rd_op_table[p->inst[from].op].arity == 2 ? p->inst[from].b : -1;

    if (!code->simd->fused[f->elem][f->fold->reducer][as] || !in_tile(code, x) ||
        (y >= 0 && !in_tile(code, y)))
        return false;
    code->inst[i].fused   = as;
    code->inst[i].x       = x;
    code->inst[i].y       = y;
    code->inst[from].skip = true;
    code->reg[x].last     = i > code->reg[x].last ? i : code->reg[x].last;
    if (y >= 0)
        code->reg[y].last = i > code->reg[y].last ? i : code->reg[y].last;
    return true;
}

/* Of operands a and b one is a number for all of a row, or of the tile: step i computes map `as` of
 * the two, whichever is which, if there is such a kernel. */
static bool fuse_by_row(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as, int32_t a,
                        int32_t b)
{
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];
    const bool          in_a = in_tile(code, a);

    if (in_a == in_tile(code, b) || (f->form != RD_FOLD_RUN && f->form != RD_FOLD_COLUMNS) ||
        !code->simd->fused[f->elem][f->fold->reducer][as])
        return false;
    code->inst[i].fused = as;
    code->inst[i].x     = in_a ? a : b;
    code->inst[i].y     = in_a ? b : a;
    for (int k = 0; k < 2; k++) {
        rd_tile_reg *reg = &code->reg[k ? b : a];

        reg->last = i > reg->last ? i : reg->last;
    }
    return true;
}

/* The difference that map `from` takes, if one of the two is a number for a row. */
static bool fuse_shift(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as,
                       int32_t from)
{
    if (!fuse_by_row(p, code, i, as, p->inst[from].a, p->inst[from].b))
        return false;
    code->inst[from].skip = true;
    return true;
}

/* Sums of squares load what they square once, of differences what they are made of. */
static void fuse_square(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const int32_t x = p->inst[i].a, sub = only_map(p, code, x);

    if (x != p->inst[i].b || (sub >= 0 && p->inst[sub].op == RD_OP_sub &&
                              (fuse_map(p, code, i, RD_FUSED_sqdiff, sub) ||
                               fuse_shift(p, code, i, RD_FUSED_sqshift, sub))))
        return;
    if (in_tile(code, x)) {
        code->inst[i].fused = RD_FUSED_square;
        code->inst[i].y     = -1;
    }
}

static void fuse_step(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst      *inst = &p->inst[i];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const int32_t       map  = only_map(p, code, inst->a);
    const int32_t       sub  = map >= 0 ? only_map(p, code, p->inst[map].a) : -1;
    const rd_fused      as   = map >= 0 ? fused_as(p->inst[map].op) : RD_FUSED_none;
    rd_fused            diff = RD_FUSED_none;

    if (f->masked || f->weighted || f->form == RD_FOLD_ELEMENTS || !code->simd->fused[f->elem])
        return;
    if (f->fold->reducer == RD_RED_dot) {
        fuse_by_row(p, code, i, RD_FUSED_scale, inst->a, inst->b);
        fuse_square(p, code, i);
        return;
    }
    if (!as)
        return;
    if (sub >= 0 && p->inst[sub].op == RD_OP_sub)
        diff = as == RD_FUSED_square ? RD_FUSED_sqdiff
               : as == RD_FUSED_abs  ? RD_FUSED_absdiff
                                     : RD_FUSED_none;
    if (diff && (fuse_map(p, code, i, diff, sub) ||
                 (diff == RD_FUSED_absdiff && fuse_shift(p, code, i, RD_FUSED_absshift, sub))))
        code->inst[map].skip = true;
    else
        fuse_map(p, code, i, as, map);
}

/* The sum of bools cast to ints counts them. */
static void fuse_count(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    rd_tile_fold  *f    = &code->fold[inst->arg];
    const int32_t  from = in_tile(code, inst->a) ? code->reg[inst->a].born : -1;

    if (from < 0 || p->inst[from].kind != RD_I_CAST || p->inst[from].from != RD_BOOL ||
        code->reg[inst->a].uses != 1 || !in_tile(code, p->inst[from].a) || f->masked ||
        inst->b >= 0 || f->form != RD_FOLD_RUN || f->fold->reducer != RD_RED_sum ||
        (f->elem != RD_ELEM_i64 && f->elem != RD_ELEM_u64))
        return;
    code->inst[i].counts  = true;
    code->inst[i].x       = p->inst[from].a;
    code->inst[from].skip = true;
    f->any_order          = true;
    if (code->reg[p->inst[from].a].last < i)
        code->reg[p->inst[from].a].last = i;
}

/* Bools that only a comparison of floats with one number has made are not made. */
static void fuse_count_if(const rd_program *p, rd_tile_code *code, int32_t i)
{
    rd_tile_inst  *t    = &code->inst[i];
    const int32_t  test = t->counts ? only_map(p, code, t->x) : -1;
    const rd_inst *inst = test >= 0 ? &p->inst[test] : NULL;
    const rd_elem  elem = inst ? rd_elem_of(inst->from) : RD_ELEM_b8;
    int32_t        abs;

    if (test < 0 || !code->simd->count_if[elem] || !code->simd->count_if[elem][inst->op][0] ||
        !in_tile(code, inst->a) || code->reg[inst->b].level != RD_AT_TASK)
        return;
    abs                   = only_map(p, code, inst->a);
    abs                   = abs >= 0 && p->inst[abs].op == RD_OP_abs ? abs : -1;
    t->count_if           = code->simd->count_if[elem][inst->op][abs >= 0];
    t->x                  = abs >= 0 ? p->inst[abs].a : inst->a;
    t->y                  = inst->b;
    code->inst[test].skip = true;
    if (abs >= 0)
        code->inst[abs].skip = true;
    code->reg[t->x].last = i > code->reg[t->x].last ? i : code->reg[t->x].last;
}

/* Sums of small ints are exact in f64 and i64 alike, in any order, and need not be widened one by
 * one. */
static bool sums_exactly(const rd_tile_fold *f, rd_dtype type)
{
    const double most = (double)f->fold->n_block * (double)f->fold->lanes * RD_TREE_STEPS * 65536;

    return f->fold->reducer == RD_RED_sum && !f->masked && most < 0x1p53 &&
           f->fold->steps == RD_TREE_STEPS && (type == RD_F64 || type == RD_I64 || type == RD_U64);
}

static void fuse_small(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst      *inst = &p->inst[i];
    rd_tile_fold       *f    = &code->fold[inst->arg];
    const int32_t       from = in_tile(code, inst->a) ? code->reg[inst->a].born : -1;
    const bool          cast = from >= 0 && p->inst[from].kind == RD_I_CAST;
    const int32_t       load = cast ? code->reg[p->inst[from].a].born : from;
    const rd_tile_walk *w    = load >= 0 ? &code->inst[load].walk : NULL;

    if (load < 0 || p->inst[load].kind != RD_I_LOAD || code->inst[load].level != RD_AT_TILE ||
        code->reg[inst->a].uses != 1 || code->reg[p->inst[load].dst].uses != 1 || inst->b >= 0 ||
        !sums_exactly(f, f->fold->type) || !code->simd->small[w->at->type] || w->col != 1 ||
        w->gathers ||
        (cast && p->inst[from].type != f->fold->type)) /* which cuts what it casts, or wraps it */
        return;
    /* One cell a row, or a cell for each of a few columns whose rows are one run of memory. */
    if (!(f->form == RD_FOLD_RUN) && !(f->cell.col == 1 && f->cell.row == 0 &&
                                       f->col_extent <= RD_SMALL_PERIOD && w->row == f->col_extent))
        return;
    code->inst[i].small               = load;
    code->inst[from].skip             = true;
    code->inst[load].skip             = true;
    f->any_order                      = true;
    code->reg[p->inst[load].dst].last = -1;
}

bool rd_tile_fuse(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    int32_t *count = get(pool, (size_t)(p->n_inst + 1) * sizeof *count);

    if (!count)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        note_uses(p, code, i);
    for (int32_t i = 0; i < p->n_inst; i++) {
        if (p->inst[i].kind == RD_I_STEP && p->fold[p->inst[i].arg].n_group)
            rd_tile_fuse_group(p, code, i);
        else if (p->inst[i].kind == RD_I_STEP && code->inst[i].level == RD_AT_TILE) {
            fuse_step(p, code, i);
            fuse_count(p, code, i);
            fuse_count_if(p, code, i);
            fuse_small(p, code, i);
        }
        count[i] = (i ? count[i - 1] : 0) + (p->inst[i].kind == RD_I_LOAD);
    }
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STORE) {
            fuse_store(p, code, count, i);
            fuse_narrowing(p, code, i);
        }
    for (int32_t i = 0; i < p->n_inst; i++)
        count[i] =
            (i ? count[i - 1] : 0) + (p->inst[i].kind == RD_I_STORE || code->inst[i].into >= 0);
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOAD)
            fuse_load(p, code, count, i);
        else if (p->inst[i].kind == RD_I_STORE)
            fuse_move(p, code, count, i);
    return true;
}
