/* plan_groups.c - the plan of group-by folds: which ones the tile machine can run, and what their
 * kernels read.
 *
 * Words.  A group-by fold has a cell for each group of elements; the label of an element says which
 * cell it goes to.  The steps and lanes of such a fold are those of program.h.  A widening cast is
 * one from f32 to f64 that a kernel does as it sums.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * Strides .row and .col say how far a position moves from row to row and from column to column. An
 * instruction is skipped (`skip`) if another one's kernel does its work. */
#include "kernels/cpu/tile/plan/tile_plan.h"

/* ---- Which ones can run ---------------------------------------------------------------------- */
/* True if, inside the START of a group-by, no loop over cells (results) stands around a loop over
 * steps.  All cells are in one block at a time, so a loop over cells must not begin its blocks
 * again.  A loop goes over steps if the lane or line number changes along it.  Loops are seen from
 * the inside; `steps` is true once one of them goes over steps. */
static bool has_steps_outside(const rd_program *p, int32_t start, int32_t step)
{
    const rd_fold *f     = &p->fold[p->inst[step].arg];
    bool           steps = false;

    for (int32_t k = p->inst[step].loop; k != p->inst[start].loop; k = p->loop[k].parent) {
        const int32_t axis = p->loop[k].axis;

        if (steps && rd_coef(&f->cell, axis))
            return false;
        steps |= rd_coef(&f->lane, axis) || rd_coef(&f->lane_line, axis);
    }
    return true;
}

/* True if neighbouring elements of a group-by are one step of several cells (results), or
 * successive steps of one cell: along its lanes, or of its only lane.  Its kernel needs one of
 * these. */
static bool has_group_mapping(const rd_fold *f, const rd_loop *col)
{
    const int64_t lane = rd_tile_strides_of(&f->lane, /*row=*/NULL, col).col,
                  line = rd_tile_strides_of(&f->lane_line, /*row=*/NULL, col).col,
                  cell = rd_tile_strides_of(&f->cell, /*row=*/NULL, col).col;

    if (lane == 0 && line == 0)
        return true;
    return cell == 0 && ((lane == 1 && line == 0) || (line == 1 && f->lane.n_add == 0));
}

/* True if tiles can run this group-by: its START must be outside of all rows and columns, as a tile
 * has one table of all groups, and its loops must suit such a table. */
bool rd_tile_can_group(const rd_program *p, const rd_tile_code *code, int32_t fold)
{
    const int32_t start = rd_tile_inst_of(p, RD_I_START, fold),
                  step  = rd_tile_inst_of(p, RD_I_STEP, fold);
    const rd_loop *row, *col;

    if (code->inst[start].level != RD_AT_TASK)
        return false;
    rd_tile_loops_around(p, code, step, &row, &col);
    return has_steps_outside(p, start, step) && has_group_mapping(&p->fold[fold], col);
}

/* True if a group-by fold begins within the loop.  A tile has one table of groups, so such a loop
 * cannot be its rows. */
bool rd_tile_begins_groups(const rd_program *p, const rd_loop *loop)
{
    for (int32_t i = loop->begin + 1; i < loop->end; i++)
        if (p->inst[i].kind == RD_I_START && p->fold[p->inst[i].arg].n_group)
            return true;
    return false;
}

/* ---- What kernels read ----------------------------------------------------------------------- */
/* True if the instruction is the STEP of a group-by fold. */
static bool is_group_step(const rd_program *p, int32_t i)
{
    return p->inst[i].kind == RD_I_STEP && p->fold[p->inst[i].arg].n_group;
}

/* Returns the CAST that makes a register of the tile for its only reader, which may then do the
 * conversion itself; -1: there is none. */
static int32_t sole_cast(const rd_program *p, const rd_tile_code *code, int32_t reg)
{
    const int32_t born = code->reg[reg].born;

    return p->inst[born].kind == RD_I_CAST && code->reg[reg].uses == 1 &&
                   code->inst[born].level == RD_AT_TILE &&
                   code->reg[p->inst[born].a].level == RD_AT_TILE
               ? born
               : -1;
}

/* Returns the CAST from f32 to f64 that only a group-by STEP (i) reads, as its sum can convert
 * while it adds; -1: there is none. */
static int32_t widening_cast(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const int32_t cast = sole_cast(p, code, p->inst[i].a);

    return cast >= 0 && p->inst[cast].type == RD_F64 && p->inst[cast].from == RD_F32 ? cast : -1;
}

/* Returns the kernels of a group-by STEP that sums, by type of the labels in memory.  NULL if it
 * uses the general kernel of the reducer, as it does not sum or there are none for these
 * elements. */
static rd_simd_group *const *sums_of(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_fold *f    = &code->fold[p->inst[i].arg];
    const int32_t       cast = widening_cast(p, code, i);
    const int32_t       x    = cast >= 0 ? p->inst[cast].a : p->inst[i].a;

    return rd_reducer_adds_elements(f->fold->reducer)
               ? code->simd->group_sum[f->elem][code->reg[x].elem]
               : NULL;
}

/* True if every reader of a LOAD of labels (in `reg`) is a summing STEP whose kernel can read them
 * from memory, where they are contiguous.  No STORE may come in between, as it could change them.
 * A masked STEP (inst->c is the mask) puts -1 in place of labels, so it reads the register. */
static bool can_read_labels_directly(const rd_program *p, const rd_tile_code *code, int32_t load,
                                     int32_t reg)
{
    const rd_tile_strides *w    = &code->inst[load].strides;
    int32_t                uses = code->reg[reg].uses; /* readers not found yet */

    if (p->inst[load].kind != RD_I_LOAD || code->inst[load].level != RD_AT_TILE || w->col != 1 ||
        w->gathers)
        return false;
    for (int32_t i = load + 1; i < p->n_inst && uses > 0; i++) {
        const rd_inst        *inst = &p->inst[i];
        rd_simd_group *const *sums;

        if (inst->kind == RD_I_STORE)
            return false;
        if (!is_group_step(p, i) || inst->d != reg)
            continue;
        sums = code->inst[i].level == RD_AT_TILE && inst->c < 0 ? sums_of(p, code, i) : NULL;
        if (!sums || !sums[w->at->type])
            return false;
        uses--;
    }
    return uses == 0;
}

/* Returns the LOAD of the labels in `reg` that the kernels of group-by sums read themselves; -1:
 * there is no such LOAD. *cast gets the CAST of ints behind it, which is then not needed either;
 * -1: none. */
static int32_t direct_labels(const rd_program *p, const rd_tile_code *code, int32_t reg,
                             int32_t *cast)
{
    int32_t load = code->reg[reg].born; /* the instruction that makes it */

    *cast = -1;
    if (p->inst[load].kind == RD_I_CAST && rd_dtype_kind(p->inst[load].from) != RD_KIND_FLOAT &&
        code->reg[p->inst[load].a].uses == 1) { /* it has no other reader */
        *cast = load;
        load  = code->reg[p->inst[load].a].born;
    }
    return can_read_labels_directly(p, code, load, reg) ? load : -1;
}

/* Chooses the kernel of a group-by STEP, and fuses the CAST of its operand and the LOAD of its
 * labels into it: these are skipped. Labels in a register are 64-bit ints (RD_I64); sums read
 * others straight from memory, by a kernel of their type. */
void rd_tile_fuse_group(const rd_program *p, rd_tile_code *code, int32_t i)
{
    const rd_inst        *inst  = &p->inst[i];
    rd_tile_inst         *t     = &code->inst[i];
    rd_simd_group *const *sums  = sums_of(p, code, i);
    const int32_t         widen = sums ? widening_cast(p, code, i) : -1;
    int32_t               cast;

    if (code->fold[inst->arg].users) /* the caller's reducer has no kernel */
        return;
    t->uses_sum_kernel = sums != NULL;
    t->group           = sums ? sums[RD_I64] : code->fold[inst->arg].code->group;
    if (widen >= 0) {
        t->x                   = p->inst[widen].a;
        code->inst[widen].skip = true;
        code->reg[t->x].last   = i > code->reg[t->x].last ? i : code->reg[t->x].last;
    }
    t->label = sums ? direct_labels(p, code, inst->d, &cast) : -1;
    if (t->label < 0)
        return;
    t->group                  = sums[p->address[p->inst[t->label].arg].type];
    code->inst[t->label].skip = true;
    if (cast >= 0)
        code->inst[cast].skip = true;
}
