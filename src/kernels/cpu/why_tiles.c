/* why_tiles.c - programs that the tile machine runs faster than a compiled nest, and why.
 *
 * A nest is the program's loops as one compiled C function. The tile machine calls a kernel for
 * each instruction, on tiles of elements. Instructions at the level of a tile run for each tile;
 * those with `skip` are done by another instruction's kernel.
 *
 * Fields. A fold of one block (n_block 1) has no combine tree. An addend of an address with `axis`
 * -1 is a register, so the address gathers. A STEP reads an element (a), weights (b), a mask (c)
 * and a group's label (d), -1: none. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/loop/price.h"
#include <math.h>

/* Rows of at least so many elements are long. */
enum { LONG = 256 };

/* True if the instruction is in a forward loop over a row of at least LONG elements. */
static bool is_in_long_row(const rd_program *p, int32_t i)
{
    const int32_t loop = p->inst[i].loop;

    return loop >= 0 && p->axis_extent[p->loop[loop].axis] >= LONG && !p->loop[loop].backwards;
}

/* True if LOAD i reads adjacent floats, or one float for all of a row (the coefficient of the
 * loop's axis is 1 or 0).  An addend without an axis (axis < 0) is a register: a computed index, so
 * the load gathers and reads no row. */
static bool is_row_of_floats(const rd_program *p, int32_t i)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    const int32_t     loop = p->inst[i].loop;
    int64_t           coef = 0;

    for (int32_t k = 0; loop >= 0 && k < at->n_add; k++) {
        if (at->add[k].axis < 0)
            return false;
        coef += at->add[k].axis == p->loop[loop].axis ? at->add[k].coef : 0;
    }
    return (at->type == RD_F32 || at->type == RD_F64) && (coef == 0 || coef == 1);
}

/* True if the loop around STEP i goes over elements of one cell (result), not over cells. */
static bool is_along(const rd_program *p, const rd_inst *inst, int32_t i)
{
    const rd_address *cell = &p->fold[inst->arg].cell;
    const int32_t     axis = p->loop[p->inst[i].loop].axis;

    for (int32_t k = 0; k < cell->n_add; k++)
        if (cell->add[k].axis == axis)
            return false;
    return true;
}

/* True if there is a kernel for whole rows of STEP i, with the map that is done to an element
 * before (`fused`).  `best`: the fold looks for a position, as argmax does.  Tables of kernels are
 * by element, reducer and map; t->from is the element that is loaded. */
static bool has_kernel(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_inst *t = &code->inst[i];
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];

    return f->best ||
           (code->simd->blocks[t->from] && code->simd->blocks[t->from][f->fold->reducer][t->fused]);
}

/* True if instruction i is part of what row kernels do: a load of a row, a step or a scan, or the
 * store of a scan (reg.born is the instruction that makes a register); a mask (inst->c) has no such
 * kernel. What another kernel does (skip) counts, too. */
static bool is_in_kernels(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_LOAD: return is_row_of_floats(p, i);
    case RD_I_STORE: return p->inst[code->reg[inst->a].born].kind == RD_I_SCAN;
    case RD_I_STEP: return inst->c < 0 && is_along(p, inst, i) && has_kernel(p, code, i);
    case RD_I_SCAN:
        return inst->c < 0 && is_along(p, inst, i) &&
               code->fold[inst->arg].mapping == RD_FOLD_ALONG;
    default: return code->inst[i].skip;
    }
}

/* True if the program only reduces or scans long rows of floats by kernels, two at most, as each
 * passes over the row once more. */
static bool is_fold_of_long_rows(const rd_program *p, const rd_tile_code *code)
{
    enum { FEW = 2 };
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *inst = &p->inst[i];

        if (code->inst[i].level != RD_AT_TILE) /* not run for each element */
            continue;
        if (!is_in_long_row(p, i) || !is_in_kernels(p, code, i))
            return false;
        if (inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN) {
            if (rd_dtype_kind(p->fold[inst->arg].type) != RD_KIND_FLOAT)
                return false;
            steps++;
        }
    }
    return steps > 0 && steps <= FEW;
}

/* True if a kernel widens what STEP i takes, as it reads it.  Small ints of one block are excluded:
 * nests add those up 5 times as fast (rows of 1,000 bytes).  `small_ints_load` is the LOAD of small
 * ints that a kernel reads itself, -1: none. */
static bool is_widening(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_elem elem = (rd_elem)code->reg[p->inst[i].a].elem;

    return rd_elem_is_narrow_float(elem) ||
           (code->inst[i].small_ints_load >= 0 && code->fold[p->inst[i].arg].fold->n_block > 1);
}

/* True if adjacent elements go to the results in turn (interleaved channels). Compilers
 * deinterleave slowly, but cheaply for 2 and 4 channels. Kernels take floats without masks and
 * weights, states of one number, and elements that need no conversion. */
static bool is_channel_fold(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_fold *f = &code->fold[p->inst[i].arg];

    return f->mapping == RD_FOLD_CHANNELS && f->cells != 2 && f->cells != 4 && !f->masked &&
           !f->weighted && rd_reducer_table[f->fold->reducer].n_state == 1 &&
           code->reg[p->inst[i].a].elem == rd_elem_of(p->inst[i].type) &&
           rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT;
}

/* True if nothing happens to an element but loads, and steps for which `is` holds.  Loads must be
 * `direct`: their register is the memory itself, without a copy. */
static bool has_only_folds(const rd_program *p, const rd_tile_code *code,
                           bool (*is)(const rd_program *p, const rd_tile_code *code, int32_t step))
{
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_tile_inst *t = &code->inst[i];

        if (t->level != RD_AT_TILE || t->skip) /* or another instruction does its work */
            continue;
        if (p->inst[i].kind == RD_I_STEP ? !is(p, code, i)
                                         : p->inst[i].kind != RD_I_LOAD || !t->direct)
            return false;
        steps += p->inst[i].kind == RD_I_STEP;
    }
    return steps > 0;
}

/* True if the fold goes down columns, or along rows with at least 8 elements for each lane
 * (accumulator).  In shorter rows merges of lanes take most of the time, by their exponentials. */
static bool is_long(const rd_tile_fold *f)
{
    enum { FEW = 8 };
    const rd_fold *fold = f->fold;

    if (f->mapping != RD_FOLD_LANES)
        return f->mapping == RD_FOLD_COLUMNS;
    return fold->n_block > 1 || fold->lane_extent >= (int64_t)FEW * fold->lanes;
}

/* True if steps take exponentials (logsumexp) of elements in memory.  A nest fills arrays first,
 * and takes one and a half times as long as the tiles' kernel, which reads ahead.  Weighted and
 * masked steps (operands b and c) have no such kernel. */
static bool has_exp_folds(const rd_program *p, const rd_tile_code *code)
{
    bool found = false;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *step = &p->inst[i];

        if (step->kind != RD_I_STEP || !rd_takes_exponential(p, step) || step->b >= 0 ||
            step->c >= 0)
            continue;
        if (!is_long(&code->fold[step->arg]) || p->inst[code->reg[step->a].born].kind != RD_I_LOAD)
            return false;
        found = true;
    }
    return found;
}

/* True if elements are adjacent along one axis and are used along another, both longer than 16:
 * tiles transpose them in registers.  Nests take shorter rows as they are. code->square: some loop
 * has tiles of 64 x 64, for such operands.  Programs that call functions, or take an exponential
 * for each element, gain nothing. */
static bool is_transposing(const rd_program *p, const rd_tile_code *code)
{
    enum { SHORT = 16 };
    bool found = false, calls = false;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_address *at   = p->inst[i].kind == RD_I_LOAD ? &p->address[p->inst[i].arg] : NULL;
        const int32_t     loop = at ? p->inst[i].loop : -1;
        bool              adjacent = false;

        for (int32_t k = 0; loop >= 0 && k < at->n_add; k++)
            adjacent |= at->add[k].axis >= 0 && (at->add[k].coef == 1 || at->add[k].coef == -1) &&
                        at->add[k].axis != p->loop[loop].axis &&
                        p->axis_extent[at->add[k].axis] > SHORT;
        found |= (code->square || code->inst[i].transposes) && adjacent &&
                 p->axis_extent[p->loop[loop].axis] > SHORT;
        calls |= p->inst[i].kind == RD_I_CALL ||
                 (p->inst[i].kind == RD_I_STEP && rd_takes_exponential(p, &p->inst[i]));
    }
    return found && !calls;
}

/* True if the program sums by labels in memory (group-by), of plain loads or of functions.  A tile
 * kernel adds without a test for a new label, and computes functions by vectors.
 * t->uses_sum_kernel: the kernel sums; t->label: the LOAD of labels that it reads itself, -1: none.
 * Labels of a sparse pattern (of_pattern) are excluded: they come in runs.  Other maps than
 * functions gain nothing. */
static bool is_group_sum(const rd_program *p, const rd_tile_code *code)
{
    bool steps = false, maps = false, functions = false;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst      *inst = &p->inst[i];
        const rd_tile_inst *t    = &code->inst[i];

        if (t->level != RD_AT_TILE || t->skip) /* or another instruction does its work */
            continue;
        if (inst->kind == RD_I_STEP
                ? !t->uses_sum_kernel || t->label < 0 || p->fold[inst->arg].of_pattern
                : inst->kind == RD_I_LOAD && t->strides.gathers)
            return false;
        steps |= inst->kind == RD_I_STEP;
        maps |= inst->kind != RD_I_STEP && inst->kind != RD_I_LOAD;
        functions |= rd_inst_is_function(inst);
    }
    return steps && (!maps || functions);
}

/* True if the program folds columns by kernels, and its columns have seams (where parts of a joined
 * array meet).  Tiles end at seams, and each piece is one call of a kernel that keeps blocks of
 * columns in registers.  Loads must read memory in place (direct), or join pieces of it (joins) in
 * a loop whose tiles end at seams (cuts); more than one piece of the axis is a seam.  Nests load
 * and store the states of such columns in each row, and take up to twice as long. */
static bool has_columns_with_seams(const rd_program *p, const rd_tile_code *code)
{
    bool found = false;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_tile_inst *t    = &code->inst[i];
        const int32_t       loop = p->inst[i].loop;

        if (t->level != RD_AT_TILE || t->skip) /* or another instruction does its work */
            continue;
        if (p->inst[i].kind == RD_I_STEP
                ? code->fold[p->inst[i].arg].mapping != RD_FOLD_COLUMNS || !has_kernel(p, code, i)
                : !t->direct && !(t->by_pieces && code->loop[loop].cuts))
            return false;
        found |= t->by_pieces && code->pieces[p->loop[loop].axis].n > 1;
    }
    return found;
}

/* True if a total (a program that is one fold by one kernel) has enough elements to be worth a call
 * of the kernel; nests have no calls.  A plane has a loop over `rows` of n elements; a single row
 * has none. */
static bool is_long_total(const rd_tile_total *t)
{
    enum { FEW = 16, PLANE = 1024 };

    return t->rows ? t->rows->extent * t->n >= PLANE : t->n >= FEW;
}

/* True if a fold has the caller's reducer: a nest has its steps inline. */
static bool has_user_fold(const rd_program *p)
{
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].user)
            return true;
    return false;
}

/* Returns why tiles are faster than compiled loops, by rules for kinds of programs that were
 * measured; NULL: no rule says so. For users' reducers none does, as a nest has their steps inline.
 * The sentences are for reports. */
static const char *why_by_rule(const rd_program *p, const rd_tile_code *code)
{
    if (has_user_fold(p))
        return NULL;
    if (is_transposing(p, code))
        return "operands are turned in registers";
    if (has_only_folds(p, code, is_widening))
        return "kernels widen what they fold";
    if (is_group_sum(p, code))
        return "kernels sum by label";
    if (has_only_folds(p, code, is_channel_fold))
        return "neighbours are folded in turn by kernels";
    if (has_columns_with_seams(p, code))
        return "columns with seams are folded by kernels";
    return is_fold_of_long_rows(p, code) ? "long rows are folded by kernels"
           : has_exp_folds(p, code)      ? "exponentials of steps are taken while memory is read"
                                         : NULL;
}

/* ---- By price -------------------------------------------------------------------------------- */
/* Predicts the time of tiles: their own computing, and the memory traffic of compiled loops,
 * which is the same. */
static double tiles_ns(const rd_program *p, const rd_speeds *s, const rd_price *nest)
{
    return nest->start + fmax(rd_tile_compute_ns(p, p->code, s), nest->memory);
}

/* Compares compiled loops with tiles. Alternative 0 is compiled loops, 1 tiles; a price of NAN
 * means that there is no loop tree. rd_take_unless_dear() takes the rule's choice unless the other
 * is DEAR times cheaper. Prices of both are some 40 % off in the mean, so the measured rules stand
 * until their choice is twice as dear by price. Of 102 sweep expressions with more than 30 us of
 * work, rules alone take 1.073 of the better one's time, prices alone 1.091, both together 1.038.
 * Usual speeds count, not those of this machine, as the strict mode follows from the choice. */
bool rd_cpu_compare_strategies(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *a)
{
    enum { DEAR = 2 };
    const rd_speeds s    = rd_speeds_usual(rd_cpu_vector());
    const char     *rule = why_by_rule(p, p->code);
    rd_price        nest;

    *a = (rd_alternatives){ 0 };
    if (!rd_program_price(p, /*whole=*/true, &s, /*threads=*/1, get, pool, &nest))
        return false;
    rd_offer(a, (rd_alternative){ "compiled loops", nest.ns > 0 ? nest.ns : (double)NAN, /*what=*/0,
                                  /*numbered=*/false });
    rd_offer(a,
             (rd_alternative){ "tiles", tiles_ns(p, &s, &nest), /*what=*/1, /*numbered=*/false });
    rd_take_unless_dear(a, rule ? 1 : 0, rule ? rule : "no faster kernels are known", DEAR);
    return true;
}

/* Finds why tiles are faster than compiled loops for a program, in *better; NULL: they are not.
 * Programs of little work are compiled without a comparison.  The sentence is a constant, or the
 * rule's.  `taken` is the number of the alternative taken, whose `what` is 1 for tiles.  False: no
 * memory. */
bool rd_cpu_find_why_tiles(const rd_program *p, rd_get_fn *get, void *pool, const char **better)
{
    static const double LITTLE = 1e6;
    const rd_tile_code *code   = p->code;
    rd_alternatives     a;

    *better = NULL;
    if (code && code->total && is_long_total(code->total))
        *better = "one kernel does all";
    else if (code && p->n_sorting && !rd_sorts_fold_results(p))
        *better = "rows are put in order by a routine";
    else if (code && p->work > LITTLE && !has_user_fold(p)) {
        if (!rd_cpu_compare_strategies(p, get, pool, &a))
            return false;
        if (a.at[a.taken].what)
            *better = a.rule ? a.rule : "tiles are cheaper";
    }
    return true;
}

/* Returns why tiles are faster for a prepared program; NULL: they are not. */
const char *rd_cpu_why_tiles(const rd_program *p)
{
    return p->code ? ((const rd_tile_code *)p->code)->why_tiles : NULL;
}
