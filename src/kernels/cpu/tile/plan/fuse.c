/* fuse.c - fusion on tiles: passes over a tile that can be saved.
 *
 *   LOAD x; MAP a = x x; STEP sum, a    ->  STEP sum of squares of x, read from memory
 *   MAP y = a + b; STORE y              ->  MAP writes into memory, no STORE
 *
 * Words.  A register is fused away if its values are never kept: the instruction that reads it
 * computes or loads them itself, and the one that made it is skipped (`skip`).  `into` is the STORE
 * whose memory an instruction writes at once.  A `direct` LOAD copies nothing: its register is the
 * memory.  reg.last is the last instruction that reads a register; it moves when a later one takes
 * over the operand, so that buffers are not reused too early.
 *
 * Fields. Strides .row and .col say how far a position moves from row to row and from column to
 * column. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * An addend of an address with `axis` -1 is a register, so the address gathers. A STEP's `small` is
 * the skipped LOAD of small ints that it sums, -1: none. */
#include "core/caches.h"
#include "core/combine_tree.h"
#include "kernels/cpu/tile/plan/tile_plan.h"

/* Counts instruction i as a reader of each register that it reads, and as the last one so far. */
static void note_uses(const rd_program *p, rd_tile_code *code, int32_t i)
{
    int32_t reg[RD_MOST_READ], n = rd_inst_reads(p, &p->inst[i], reg);

    for (int32_t k = 0; k < n; k++) {
        code->reg[reg[k]].last = i;
        code->reg[reg[k]].uses++;
    }
}

/* True if an instruction makes its values by a kernel that can write anywhere, so that it may write
 * straight to the memory of a STORE. */
static bool is_computation(rd_inst_kind kind)
{
    return kind == RD_I_MAP || kind == RD_I_CAST || kind == RD_I_SELECT || kind == RD_I_SCAN;
}

/* ---- Stores ---------------------------------------------------------------------------------- */
/* Returns the bytes of the array at an address: the product of the extents of its axes and the size
 * of an element; INT64_MAX if that is 1e18 or more. */
int64_t rd_tile_bytes(const rd_program *p, const rd_address *at)
{
    double bytes = rd_dtype_size(at->type);

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0)
            bytes *= (double)p->axis_extent[at->add[k].axis];
    return bytes < 1e18 ? (int64_t)bytes : INT64_MAX;
}

/* Leaves the cut (of ints) or rounding (of floats) of a value to its STORE i, which does it anyway,
 * if that is the only reader and its memory has the type. t->wrap is the kernel that cuts or
 * rounds, NULL: none.  Both instructions must make as many elements (level).  Likewise a cast from
 * f32 to a half is left to the STORE, which reads the f32 instead. */
static void fuse_narrowing(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst    *inst = &p->inst[i];
    const rd_tile_reg reg  = code->reg[inst->a];
    const rd_inst    *from = &p->inst[reg.born]; /* the instruction that makes it */

    if (reg.uses != 1 || (from->kind != RD_I_MAP && from->kind != RD_I_CAST) ||
        !code->inst[reg.born].wrap || from->type != p->address[inst->arg].type ||
        code->inst[i].level != reg.level)
        return;
    code->inst[reg.born].wrap = NULL;
    if (from->kind != RD_I_CAST || !rd_dtype_is_narrow_float(from->type) ||
        code->reg[from->a].elem != RD_ELEM_f32 || code->reg[from->a].level != reg.level)
        return;
    code->inst[reg.born].skip = true;
    code->inst[i].x           = from->a;
    code->reg[from->a].last   = i > code->reg[from->a].last ? i : code->reg[from->a].last;
}

/* True if a scan should itself write its results past the caches, by non-temporal stores.  This
 * pays for whole, long rows only, with results of the accumulator type and the STORE as the only
 * reader. */
static bool can_store_nontemporal(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    enum { LONG = 512 };
    const rd_inst      *inst = &p->inst[code->reg[reg].born]; /* the instruction that makes it */
    const rd_tile_fold *f    = &code->fold[inst->arg];

    return inst->kind == RD_I_SCAN && code->reg[reg].uses == 1 && f->col_extent >= LONG &&
           f->mapping != RD_FOLD_ELEMENTS && f->fold->type == f->fold->out;
}

/* Lets the instruction that computes a value write it to the memory of its STORE i, if that has the
 * register's type and contiguous columns.  loads[i] counts the LOADs among instructions 0 .. i: one
 * in between may read that memory.  Large arrays of the caller are stored past the caches, which a
 * scan may do itself.  RD_STREAM_BYTES is the size from which that pays.  A gather (a position from
 * a register) has no contiguous columns; `stores_into` -1: no STORE has taken the value yet. */
static void fuse_store(const rd_program *p, rd_tile_code *code, const int32_t *loads, int32_t i)
{
    const rd_inst    *inst = &p->inst[i];
    const rd_address *at   = &p->address[inst->arg];
    rd_tile_inst     *t    = &code->inst[i];
    const int32_t     from = code->reg[inst->a].born; /* the instruction that makes it */

    if (t->level != RD_AT_TILE || t->strides.col != 1 || t->strides.gathers)
        return;
    if (at->slot < p->first_scratch && rd_tile_bytes(p, at) >= RD_STREAM_BYTES) {
        t->nontemporal = code->nontemporal = true;
        if (!can_store_nontemporal(p, code, inst->a))
            return;
    }
    if (!rd_tile_is_native(at->type) || code->inst[from].level != RD_AT_TILE ||
        !is_computation(p->inst[from].kind) ||
        code->inst[from].stores_into >= 0 || /* another STORE has it */
        loads[i] != loads[from])
        return;
    code->inst[from].stores_into = i;
    t->is_stored                 = true;
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* Returns the element type of registers that hold 16-bit floats of this type as they are, without
 * widening. */
static rd_elem half_elem(rd_dtype type)
{
    static const rd_elem elems[RD_N_DTYPES] = {
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(enum_, name, ...) [RD_##enum_] = RD_ELEM_##name,
#include "core/dtypes.def"
    };

    return elems[type];
}

/* True if all readers of LOAD `load` are STEPs whose kernels widen these 16-bit floats themselves.
 * Such kernels take one operand in rows, with no mask or weights. Nor may they be steps that count,
 * look for a best element or sum small ints. */
static bool is_widened_by_folds(const rd_program *p, const rd_tile_code *code, int32_t load,
                                rd_elem elem)
{
    int32_t uses = 0;

    for (int32_t i = load; i < p->n_inst; i++) {
        const rd_tile_inst *t = &code->inst[i];
        const rd_tile_fold *f = &code->fold[p->inst[i].kind == RD_I_STEP ? p->inst[i].arg : 0];

        uses += p->inst[i].kind == RD_I_STEP && t->level == RD_AT_TILE &&
                t->x == p->inst[load].dst && t->y < 0 && t->small_ints_load < 0 && !t->counts &&
                !f->best && !f->masked && !f->weighted && f->mapping != RD_FOLD_ELEMENTS &&
                code->simd->fused[elem] && code->simd->fused[elem][f->fold->reducer][t->fused];
    }
    return uses == code->reg[p->inst[load].dst].uses;
}

/* Makes the register of LOAD i the memory itself (direct), if its columns are contiguous and
 * nothing is stored while the register is in use. stores[i] counts the STOREs among instructions 0
 * .. i.  A register that nobody reads later (reg->last < i) may be direct, too.  Halves (16-bit
 * floats) stay as they are if only folds read them, whose kernels widen. */
static void fuse_load(const rd_program *p, rd_tile_code *code, const int32_t *stores, int32_t i)
{
    const rd_dtype type = p->address[p->inst[i].arg].type;
    rd_tile_inst  *t    = &code->inst[i];
    rd_tile_reg   *reg  = &code->reg[p->inst[i].dst];

    if (t->level == RD_AT_TASK || t->strides.col != 1 || t->strides.gathers ||
        !(reg->last < i || stores[reg->last - 1] == stores[i])) /* it is read after a STORE */
        return;
    if (rd_dtype_is_narrow_float(type) && is_widened_by_folds(p, code, i, half_elem(type)))
        reg->elem = half_elem(type);
    else if (!rd_tile_is_native(type))
        return;
    t->direct = true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
/* True if a LOAD or STORE has contiguous columns in memory, at positions that follow from loop
 * indices alone. */
static bool is_in_rows(const rd_tile_inst *t)
{
    return t->strides.col == 1 && !t->strides.gathers;
}

/* Lets STORE i copy from memory to memory, if its value is only loaded: whole rows as bytes, or
 * transposed on one side.  Both types must be the same, and no other STORE may come in between.
 * Bools are left out: the LOAD makes them 0 or 1.  stores[i] counts the STOREs among instructions 0
 * .. i.  A large array of the caller is written past the caches. */
static void fuse_copy(const rd_program *p, rd_tile_code *code, const int32_t *stores, int32_t i)
{
    const rd_address *to   = &p->address[p->inst[i].arg];
    rd_tile_inst     *t    = &code->inst[i];
    const int32_t     from = code->reg[p->inst[i].a].born;
    rd_tile_inst     *load = &code->inst[from];

    if (p->inst[from].kind != RD_I_LOAD || t->level != RD_AT_TILE || load->level != RD_AT_TILE ||
        code->reg[p->inst[i].a].uses != 1 || to->type == RD_BOOL || /* others read it */
        /* another STORE between */
        p->address[p->inst[from].arg].type != to->type || stores[i] - 1 != stores[from])
        return;
    if (!(is_in_rows(t) && (is_in_rows(load) || load->transposes)) &&
        !(t->transposes && is_in_rows(load)))
        return;
    t->copied_load = from;
    load->skip     = true;
    if (is_in_rows(t) && to->slot < p->first_scratch && rd_tile_bytes(p, to) >= RD_STREAM_BYTES)
        t->nontemporal = code->nontemporal = true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* True if `reg` is a register (not -1) with an element for each row and column of the tile. */
static bool is_in_tile(const rd_tile_code *code, int32_t reg)
{
    return reg >= 0 && code->reg[reg].level == RD_AT_TILE;
}

/* Returns the MAP that makes a register for its only reader, and whose result need not be cut or
 * rounded: the reader may compute it itself. -1: there is none. */
static int32_t sole_map(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    const int32_t from = is_in_tile(code, reg) ? code->reg[reg].born : -1;

    return from >= 0 && code->reg[reg].uses == 1 && p->inst[from].kind == RD_I_MAP &&
                   !code->inst[from].wrap
               ? from
               : -1;
}

/* Returns which map a kernel of a STEP can apply to elements as it loads them, for an operation;
 * RD_FUSED_none: there is none. */
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

/* Lets STEP i apply map `as` to the operands of MAP `from` as it loads them; `from` is then
 * skipped.  False if there is no such kernel, or an operand is not of the tile.  reg.last is the
 * last instruction that reads a register: now this STEP. */
static bool fuse_map(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as, int32_t from)
{
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];
    const int32_t       x = p->inst[from].a,
                  y       = rd_op_table[p->inst[from].op].arity == 2 ? p->inst[from].b : -1;

    if (!code->simd->fused[f->elem][f->fold->reducer][as] || !is_in_tile(code, x) ||
        (y >= 0 && !is_in_tile(code, y)))
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

/* Lets STEP i apply map `as` to registers a and b as it loads them, one of which is a scalar for
 * each row or for the tile.  Elements must go to lanes of a cell, or to a cell for each column.
 * False if there is no such kernel, or both or none of them are scalars. */
static bool fuse_by_row(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as, int32_t a,
                        int32_t b)
{
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];
    const bool          in_a = is_in_tile(code, a);

    if (in_a == is_in_tile(code, b) ||
        (f->mapping != RD_FOLD_LANES && f->mapping != RD_FOLD_COLUMNS) ||
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

/* Fuses MAP `from`, a difference with a scalar of the row, into STEP i: its kernel squares the
 * difference or takes its magnitude, as `as` says.  False if fuse_by_row() cannot. */
static bool fuse_shift(const rd_program *p, rd_tile_code *code, int32_t i, rd_fused as,
                       int32_t from)
{
    if (!fuse_by_row(p, code, i, as, p->inst[from].a, p->inst[from].b))
        return false;
    code->inst[from].skip = true;
    return true;
}

/* Fuses a sum of squares or of squared differences into STEP i, which then loads each operand once.
 * Such sums come as a dot product of a register with itself (x is operand b, too). sqdiff is the
 * square of a difference, sqshift the same with a scalar for each row. */
static void fuse_square(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const int32_t x = p->inst[i].a, sub = sole_map(p, code, x);

    if (x != p->inst[i].b || (sub >= 0 && p->inst[sub].op == RD_OP_sub &&
                              (fuse_map(p, code, i, RD_FUSED_sqdiff, sub) ||
                               fuse_shift(p, code, i, RD_FUSED_sqshift, sub))))
        return;
    if (is_in_tile(code, x)) {
        code->inst[i].fused = RD_FUSED_square;
        code->inst[i].y     = -1;
    }
}

/* Fuses the one or two MAPs that only STEP i reads into its kernel: square, abs, product,
 * difference or sum, and the square or abs of a difference.  Masked and weighted folds, and those
 * that take elements one by one, have no kernels with maps.  Dot products (rd_reducer_multiplies)
 * may be scaled by a scalar of the row, or be squares.  `map` is the MAP before the STEP, `sub` a
 * difference before that; -1: none. */
static void fuse_step(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst      *inst = &p->inst[i];
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const int32_t       map  = sole_map(p, code, inst->a);
    const int32_t       sub  = map >= 0 ? sole_map(p, code, p->inst[map].a) : -1;
    const rd_fused      as   = map >= 0 ? fused_as(p->inst[map].op) : RD_FUSED_none;
    rd_fused            diff = RD_FUSED_none;

    if (f->masked || f->weighted || f->mapping == RD_FOLD_ELEMENTS || !code->simd->fused[f->elem])
        return;
    if (rd_reducer_multiplies(f->fold->reducer)) {
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

/* Lets STEP i count bools, where it sums ints that are cast from bools: it reads the bools, and the
 * CAST is skipped.  So the CAST must be in the tile and have no other reader.  The kernel takes
 * elements along lanes, no mask, and no weights (b < 0).  Sums of ints have the same bits in any
 * order. */
static void fuse_count(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    rd_tile_fold  *f    = &code->fold[inst->arg];
    const int32_t  from = is_in_tile(code, inst->a) ? code->reg[inst->a].born : -1;

    if (from < 0 || p->inst[from].kind != RD_I_CAST || p->inst[from].from != RD_BOOL ||
        code->reg[inst->a].uses != 1 || !is_in_tile(code, p->inst[from].a) || f->masked ||
        inst->b >= 0 || f->mapping != RD_FOLD_LANES ||
        !rd_reducer_adds_elements(f->fold->reducer) ||
        (f->elem != RD_ELEM_i64 && f->elem != RD_ELEM_u64))
        return;
    code->inst[i].counts  = true;
    code->inst[i].x       = p->inst[from].a;
    code->inst[from].skip = true;
    f->any_order          = true;
    if (code->reg[p->inst[from].a].last < i)
        code->reg[p->inst[from].a].last = i;
}

/* Lets STEP i, which counts bools, make the comparison with a scalar itself (of floats, or of their
 * magnitudes), so that no bools are made. The scalar must be one for the task; kernels are found by
 * element, comparison, and whether they take magnitudes. */
static void fuse_count_if(const rd_program *p, rd_tile_code *code, int32_t i)
{
    rd_tile_inst  *t    = &code->inst[i];
    const int32_t  test = t->counts ? sole_map(p, code, t->x) : -1;
    const rd_inst *inst = test >= 0 ? &p->inst[test] : NULL;
    const rd_elem  elem = inst ? rd_elem_of(inst->from) : RD_ELEM_b8;
    int32_t        abs;

    if (test < 0 || !code->simd->count_if[elem] || !code->simd->count_if[elem][inst->op][0] ||
        !is_in_tile(code, inst->a) || code->reg[inst->b].level != RD_AT_TASK)
        return;
    abs                   = sole_map(p, code, inst->a);
    abs                   = abs >= 0 && p->inst[abs].op == RD_OP_abs ? abs : -1;
    t->count_if           = code->simd->count_if[elem][inst->op][abs >= 0]; /* [1]: of magnitudes */
    t->x                  = abs >= 0 ? p->inst[abs].a : inst->a;
    t->y                  = inst->b;
    code->inst[test].skip = true;
    if (abs >= 0)
        code->inst[abs].skip = true;
    code->reg[t->x].last = i > code->reg[t->x].last ? i : code->reg[t->x].last;
}

/* True if a sum of ints of up to 16 bits is exact in f64 and in i64 alike, so that their order does
 * not matter and they need not be widened one by one.  The sum of that many must stay below
 * 2^53. */
static bool is_exact_sum(const rd_tile_fold *f, rd_dtype type)
{
    /* the greatest sum of as many ints below 65536 */
    const double most = (double)f->fold->n_block * (double)f->fold->lanes * RD_TREE_STEPS * 65536;

    return rd_reducer_adds_elements(f->fold->reducer) && !f->masked && most < 0x1p53 &&
           f->fold->steps == RD_TREE_STEPS && (type == RD_F64 || type == RD_I64 || type == RD_U64);
}

/* Lets STEP i sum ints of 8 and 16 bits as they lie in memory, without LOAD and CAST. The LOAD must
 * have contiguous columns and no reader but the STEP or the CAST before it. RD_SMALL_PERIOD is the
 * most columns. There is no second operand (inst->b), no index in a register (gathers), and a CAST
 * must be to the fold's type. */
static void fuse_small(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    rd_tile_fold  *f    = &code->fold[inst->arg];
    /* the CAST, or the LOAD */
    const int32_t          from = is_in_tile(code, inst->a) ? code->reg[inst->a].born : -1;
    const bool             cast = from >= 0 && p->inst[from].kind == RD_I_CAST;
    const int32_t          load = cast ? code->reg[p->inst[from].a].born : from;
    const rd_tile_strides *w    = load >= 0 ? &code->inst[load].strides : NULL;

    if (load < 0 || p->inst[load].kind != RD_I_LOAD || code->inst[load].level != RD_AT_TILE ||
        code->reg[inst->a].uses != 1 || code->reg[p->inst[load].dst].uses != 1 || inst->b >= 0 ||
        !is_exact_sum(f, f->fold->type) || !code->simd->small[w->at->type] || w->col != 1 ||
        w->gathers ||
        (cast && p->inst[from].type != f->fold->type)) /* which cuts what it casts, or wraps it */
        return;
    /* One cell for each row, or one for each of a few columns with rows that are one run of
     * memory. */
    if (!(f->mapping == RD_FOLD_LANES) &&
        !(f->cell.col == 1 && f->cell.row == 0 && f->col_extent <= RD_SMALL_PERIOD &&
          w->row == f->col_extent))
        return;
    code->inst[i].small_ints_load     = load;
    code->inst[from].skip             = true;
    code->inst[load].skip             = true;
    f->any_order                      = true;
    code->reg[p->inst[load].dst].last = -1; /* nobody reads it now */
}

/* Applies all fusions that save passes over a tile: first of maps into STEPs, then of values into
 * STOREs, then of LOADs, as each depends on the ones before it.  Uses are counted first, and what
 * joins (goes piece by piece) is found, as it reads fewer registers.  A value that is computed into
 * the memory of a STORE (`stores_into`) counts as a STORE.  False if memory runs out. */
bool rd_tile_fuse(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    /* LOADs, later STOREs, among instructions 0 .. i */
    int32_t *count = get(pool, (size_t)(p->n_inst + 1) * sizeof *count);

    if (!count)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        note_uses(p, code, i);
    if (!rd_tile_fuse_seams(p, code, get, pool))
        return false;
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
        count[i] = (i ? count[i - 1] : 0) +
                   (p->inst[i].kind == RD_I_STORE || code->inst[i].stores_into >= 0);
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOAD)
            fuse_load(p, code, count, i);
        else if (p->inst[i].kind == RD_I_STORE)
            fuse_copy(p, code, count, i);
    return true;
}
