/* form.c - what a prepared program runs as (its form), and which part of it is slow. Explain and
 * the strict mode report the same.
 *
 * A nest is the program's loops as one compiled C function. A tile is rows and columns of elements
 * that kernels work on. The reference goes element by element. A fold is a reduction or a scan.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. A STEP reads an element (a),
 * weights (b), a mask (c) and a group's label (d), -1: none. */
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/speed.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include <stdio.h>

/* ---- In words -------------------------------------------------------------------------------- */
/* Returns the name of a fold's reducer, as users call it. */
static const char *reducer_name(const rd_fold *f)
{
    return f->user ? f->user->name : rd_reducer_shown(f->reducer);
}

/* True if the fold takes all elements from the left, one after the other: its one block has no
 * end. */
static bool is_serial(const rd_fold *f)
{
    return f->steps == INT64_MAX;
}

/* Writes what an instruction is, for people: "serial scan sum with weights", in RD_SLOW_NAME
 * characters.  A second operand of a product is no weight.  Its registers b and c are weights and
 * mask, -1: none. */
static void name_inst(const rd_program *p, const rd_inst *inst, char *what)
{
    const rd_fold *f;

    switch (inst->kind) {
    case RD_I_STEP:
    case RD_I_SCAN:
        f = &p->fold[inst->arg];
        snprintf(what, RD_SLOW_NAME, "%s%s%.20s%s%s%s", is_serial(f) ? "serial " : "",
                 f->scan ? "scan " : "", reducer_name(f),
                 inst->b >= 0 && !rd_reducer_multiplies(f->reducer) ? " with weights" : "",
                 inst->c >= 0 ? " with a mask" : "", f->user ? ", a user's reducer" : "");
        break;
    case RD_I_LOAD:
    case RD_I_INDEX: snprintf(what, RD_SLOW_NAME, "reading"); break;
    case RD_I_STORE: snprintf(what, RD_SLOW_NAME, "writing"); break;
    case RD_I_CALL: snprintf(what, RD_SLOW_NAME, "%.40s()", p->call[inst->arg].name); break;
    case RD_I_MAP: snprintf(what, RD_SLOW_NAME, "%s", rd_op_table[inst->op].name); break;
    default: snprintf(what, RD_SLOW_NAME, "a map"); break;
    }
}

/* Describes a slow part: the name of instruction i, how it runs, why, the remedy, the nanoseconds
 * of an element (`each`), and the number of elements. */
static void set_slow(const rd_program *p, int32_t i, const char *how, const char *why,
                     const char *remedy, double each, rd_slow *slow)
{
    name_inst(p, &p->inst[i], slow->what);
    slow->how      = how;
    slow->why      = why;
    slow->remedy   = remedy;
    slow->each     = each;
    slow->elements = rd_program_times(p, i);
}

/* Returns the fold (reduction or scan) that an instruction takes an element into; NULL: it takes
 * none. */
static const rd_fold *fold_of(const rd_program *p, const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN ? &p->fold[inst->arg] : NULL;
}

/* True if the position changes along the axis: it is one of its addends. */
static bool varies_along(const rd_address *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis == axis)
            return true;
    return false;
}

/* True if C order forbids that neighbours go together: the innermost loop is along the fold, and
 * its steps depend on each other. With one lane (one accumulator) each step needs the state that
 * the step before has left. `lane_line` and `lane` are the two parts of the number of a step; if
 * either changes along the loop, its rounds are successive steps. */
static bool is_in_order(const rd_program *p, const rd_inst *inst)
{
    const rd_fold *f    = fold_of(p, inst);
    const int32_t  axis = f && inst->loop >= 0 ? p->loop[inst->loop].axis : -1;

    return f && f->lanes == 1 && axis >= 0 &&
           (varies_along(&f->lane_line, axis) || varies_along(&f->lane, axis));
}

/* Why an instruction is slow, and what helps if nothing better is known. */
static const char ORDER[] = "its elements follow each other in C order";
static const char ALONE[] = "evaluate it, or what it is of, by itself";

/* Returns that the order forbids vectors, if it does; else the other reason. */
static const char *why_order(const rd_program *p, const rd_inst *inst, const char *otherwise)
{
    return is_in_order(p, inst) ? ORDER : otherwise;
}

/* Returns what the user can change to make the instruction fast: to fold or scan another axis, or
 * to evaluate it by itself. A text that ends with "by itself" stands for no better advice. */
static const char *remedy_of(const rd_program *p, const rd_inst *inst)
{
    const rd_fold *f     = fold_of(p, inst);
    const bool     order = is_in_order(p, inst);

    if (order && is_serial(f))
        return f->user ? "give the reducer a merge, or fold an axis that is not the last in memory"
                       : "leave out .accuracy = RD_SERIAL, or fold an axis that is not the last in "
                         "memory";
    if (order && f->scan)
        return "scan an axis that is not the last in memory, as of a transposed copy";
    if (f && !f->scan && inst->c >= 0) /* it has a mask */
        return "fold rd_where(mask, x, what changes nothing), or an axis that is not the last in "
               "memory";
    return order ? "fold an axis that is not the last in memory" : ALONE;
}

/* Returns the cost of a step of the fold, relative to that of a sum; at least 1. */
static double relative_cost(const rd_fold *f)
{
    const double cost = (double)rd_reducer_table[f->reducer].cost;

    return cost > 2 ? cost / 2 : 1;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
/* True if tiles take each element of the fold by itself, as no kernel fits its rows; see
 * tile/run/steps.c. Users' reducers, group-bys, totals (treeless), small ints (`small_ints_load`)
 * and counted bools have ways of their own. `down`: the rows of a tile go along the lanes, and
 * columns are packed for a kernel. */
static bool is_element_by_element(const rd_tile_code *code, const rd_tile_inst *t,
                                  const rd_tile_fold *f)
{
    const bool down = f->lane.row == 1 && f->lane.col == 0 && f->cell.row == 0 &&
                      f->lane_line.row == 0 && f->lane_line.col == 0 && !f->own_rows &&
                      code->rows > 1;

    return f->mapping == RD_FOLD_ELEMENTS && !f->users && !f->grouped && !f->treeless &&
           t->small_ints_load < 0 && !t->counts && !down;
}

/* Returns the nanoseconds of an element if the fold runs element by element on tiles, and *why; 0:
 * it has kernels. RD_NS_CHAIN is an element that waits for the one before it, RD_NS_PLACED one that
 * looks up its state among those of the fold. */
static double slow_fold(const rd_program *p, const rd_tile_code *code, const rd_inst *inst,
                        const rd_tile_inst *t, const char **why)
{
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const bool          scan = inst->kind == RD_I_SCAN;

    *why = why_order(p, inst, "its elements are no neighbours");
    if (!scan && is_element_by_element(code, t, f))
        return is_serial(f->fold) ? RD_NS_CHAIN : RD_NS_PLACED * relative_cost(f->fold);
    return scan && f->mapping != RD_FOLD_ALONG && f->mapping != RD_FOLD_COLUMNS ? RD_NS_PLACED : 0;
}

/* Returns the nanoseconds of an element if the instruction is slow on tiles, and *why; 0: it is
 * not.  Instructions outside of the loop over columns, or whose work another one does (skip), take
 * no time. */
static double slow_on_tiles(const rd_program *p, const rd_tile_code *code, int32_t i,
                            const char **why)
{
    const rd_inst      *inst = &p->inst[i];
    const rd_tile_inst *t    = &code->inst[i];

    if (t->level != RD_AT_TILE || t->skip)
        return 0;
    switch (inst->kind) {
    case RD_I_STEP:
    case RD_I_SCAN: return slow_fold(p, code, inst, t, why);
    default: return 0;
    }
}

/* Finds the instruction that takes most time element by element on tiles; without one `slow` stays
 * as it is. Time is the nanoseconds of an element times how often it runs. */
static void find_slow_on_tiles(const rd_program *p, rd_slow *slow)
{
    double most = 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const char  *why  = NULL;
        const double each = slow_on_tiles(p, p->code, i, &why);

        if (each * rd_program_times(p, i) <= most)
            continue;
        most = each * rd_program_times(p, i);
        set_slow(p, i, "runs element by element, on tiles", why, remedy_of(p, &p->inst[i]), each,
                 slow);
    }
}

/* ---- The reference --------------------------------------------------------------------------- */
/* Returns the instruction that most likely makes the reference run a program: the one that runs
 * most often, where steps of folds count four times, as tiles mostly lack a kernel for these; -1:
 * there is none. */
static int32_t instruction_of_most_work(const rd_program *p)
{
    int32_t found = -1;
    double  most  = 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        const bool     step = inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;

        if (inst->kind == RD_I_LOOP || inst->kind == RD_I_END)
            continue;
        if (rd_program_times(p, i) * (step ? 4 : 1) > most) {
            most  = rd_program_times(p, i) * (step ? 4 : 1);
            found = i;
        }
    }
    return found;
}

/* Returns why the reference interpreter runs an instruction: the tile machine has no kernel for
 * it. */
static const char *why_reference(const rd_program *p, const rd_inst *inst)
{
    const rd_fold *f = fold_of(p, inst);

    if (!f)
        return "tiles cannot run it";
    if (f->user)
        return "tiles have no kernel for such a fold of a user's";
    return f->scan ? "tiles have no kernel for such a scan"
                   : "tiles cannot begin a fold for each element";
}

/* Describes the instruction of most work as the slow part of a program that the reference
 * interpreter runs. */
static void find_slow_on_reference(const rd_program *p, rd_slow *slow)
{
    const int32_t i = instruction_of_most_work(p);

    if (i >= 0)
        set_slow(p, i, "runs element by element, by the reference", why_reference(p, &p->inst[i]),
                 remedy_of(p, &p->inst[i]), RD_NS_INTERPRETED, slow);
}

/* ---- Compiled loops -------------------------------------------------------------------------- */
/* Finds the instruction that a compiled nest runs element by element.  Steps of a user's own
 * reducer in the order that was asked for are not slow: nothing is faster.  False: no memory. */
static bool find_slow_in_nest(const rd_program *p, rd_get_fn *get, void *pool, rd_slow *slow)
{
    int32_t i;

    if (!rd_nest_find_serial(p, rd_cpu_vector(), /*whole=*/!p->nest, get, pool, &i))
        return false;
    const bool order = i >= 0 && is_in_order(p, &p->inst[i]);

    /* The caller's own steps, compiled, in the order that was asked for: nothing is faster. */
    if (i < 0 || (order && fold_of(p, &p->inst[i])->user))
        return true;
    set_slow(p, i, "runs element by element, in compiled loops",
             order ? ORDER : "the loops that it shares are not made vectors of",
             order ? remedy_of(p, &p->inst[i]) : ALONE,
             p->inst[i].kind == RD_I_SCAN ? RD_NS_SCANNED : RD_NS_CHAIN, slow);
    return true;
}

/* Returns how far the compiled loops of the program are: loaded here, being compiled, in the store,
 * to be compiled after *left more operations, slower than tiles, or none. The nest for several
 * tasks counts, if there is one, else that for one task. */
static rd_form_state state_of(const rd_program *p, double *left)
{
    const rd_nest_code *code = p->nest ? p->nest : p->whole;

    *left = 0;
    if (!code)
        return RD_LOOPS_NONE;
    if (p->timed && rd_nest_slowdown(p->nest, p->work) > 0)
        return RD_LOOPS_SLOWER;
    switch (rd_nest_state_of(code, left)) {
    case RD_COMPILED_HERE: return RD_LOOPS_HERE;
    case RD_COMPILED_COMING: return RD_LOOPS_COMING;
    case RD_COMPILED_LATER: return RD_LOOPS_LATER;
    case RD_COMPILED_STORED: return RD_LOOPS_STORED;
    default: return RD_LOOPS_NONE;
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Returns the form that runs until compiled loops are there: a product, one kernel, tiles, or the
 * reference. */
static rd_form_kind without_loops(const rd_program *p)
{
    const rd_tile_code *code = p->code;

    return p->product    ? RD_FORM_PRODUCT
           : !code       ? RD_FORM_REFERENCE
           : code->total ? RD_FORM_TOTAL
                         : RD_FORM_TILES;
}

/* Finds the slow part of a form, if it has more than RD_SLOW_ELEMENTS elements.  False: no memory.
 * A product and a single kernel have no slow part. */
static bool find_slow(const rd_program *p, rd_form_kind kind, rd_get_fn *get, void *pool,
                      rd_slow *slow)
{
    bool ok = true;

    switch (kind) {
    case RD_FORM_NEST: ok = find_slow_in_nest(p, get, pool, slow); break;
    case RD_FORM_TILES: find_slow_on_tiles(p, slow); break;
    case RD_FORM_REFERENCE: find_slow_on_reference(p, slow); break;
    default: break;
    }
    if (slow->elements <= RD_SLOW_ELEMENTS)
        *slow = (rd_slow){ .what = "" };
    return ok;
}

/* True if compiled loops are there, or will be. */
static bool is_coming(rd_form_state loops)
{
    return loops == RD_LOOPS_HERE || loops == RD_LOOPS_COMING || loops == RD_LOOPS_LATER;
}

/* Changes the remedy of a slow part if a setting, and not the program, keeps it from compiled
 * loops: no compiler, RDIM_ISA, or RDIM_TIER1.  An empty `what` means that nothing is slow.
 * `failed`: the loops were wanted and could not be compiled. */
static void set_remedy_of_settings(const rd_program *p, const rd_form *form, rd_slow *slow)
{
    const bool failed = form->loops == RD_LOOPS_NONE && (p->nest || p->whole);

    if (!slow->what[0])
        return;
    if (failed)
        slow->remedy = "a C compiler that RDIM_CC names, or cc";
    else if (form->loops != RD_LOOPS_STORED && rd_cpu_is_scalar())
        slow->remedy = "leave out RDIM_ISA=scalar";
    else if (form->loops == RD_LOOPS_STORED || rd_cpu_is_nest_off(p))
        slow->remedy = "RDIM_TIER1=async or sync, which may compile it";
}

/* Returns the sentence "they took 1.8 times as long as tiles"; It lives as long as the program.
 * NULL: no memory. */
static const char *why_slower(const rd_program *p, rd_get_fn *get, void *pool)
{
    enum { ROOM = 64 };
    char *text = get(pool, ROOM);

    if (text)
        snprintf(text, ROOM, "they took %.3g times as long as tiles",
                 rd_nest_slowdown(p->nest, p->work));
    return text;
}

/* Finds why the program does not run as compiled loops, in *why.  The first reason that holds
 * counts: measured slower; not in the store; not compiled; a setting or another strategy; no loop
 * tree.  False: no memory. */
static bool why_no_loops(const rd_program *p, rd_form_state loops, rd_get_fn *get, void *pool,
                         const char **why)
{
    bool ok = true;

    if (loops == RD_LOOPS_SLOWER)
        return (*why = why_slower(p, get, pool)) != NULL;
    *why = rd_cpu_why_no_nest(p);
    if (loops == RD_LOOPS_STORED)
        *why = "RDIM_TIER1 lets nothing be compiled, and they are not in the store";
    else if (p->nest || p->whole)
        *why = "they could not be compiled";
    else if (!*why)
        ok = rd_nest_refused(p, rd_cpu_vector(), get, pool, why);
    if (!*why)
        *why = "the tier is off";
    return ok;
}

/* Finds the form of execution of a prepared program, what runs until compiled loops are there, and
 * the slow part of both (`kind` is the form in the end, `meanwhile` the one until then):
 * rd_backend_table.form.  False: no memory. */
bool rd_cpu_form(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form)
{
    *form           = (rd_form){ .meanwhile = without_loops(p) };
    form->loops     = state_of(p, &form->left);
    form->kind      = is_coming(form->loops) ? RD_FORM_NEST : form->meanwhile;
    form->meanwhile = form->loops == RD_LOOPS_HERE ? RD_FORM_NEST : form->meanwhile;
    if (form->kind != RD_FORM_NEST && !why_no_loops(p, form->loops, get, pool, &form->why))
        return false;
    if (form->loops == RD_LOOPS_SLOWER)
        return true; /* no faster form is known */
    if (!find_slow(p, form->kind, get, pool, &form->slow) ||
        !find_slow(p, form->meanwhile, get, pool, &form->slow_meanwhile))
        return false;
    set_remedy_of_settings(p, form, &form->slow);
    return true;
}
