/* run_statements.c - runs the statements of a tree in its shadow run.
 *
 * A copy is one instance of the code with its own values and indices.  Memory is a slot of the
 * program (slot >= 0) or an array of the tree.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. A step has values `weight`, `mask` and `label`, -1 where the fold has no
 * weights, mask or groups. An array of the tree with `fold` -1 holds elements, any other one states
 * of that fold.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. */
#include "kernels/loop/facts.h"
#include "kernels/loop/shadow/run_tree.h"
#include <inttypes.h>
#include <string.h>

/* ---- Memory of the tree ---------------------------------------------------------------------- */
/* True if the array of the tree has an element with subscript `at`; else a failure: "load from
 * a3[64], which has 64". */
static bool must_be_in_store(rd_shadow_task *r, int32_t store, int64_t at, const char *what)
{
    const rd_tree_array *a = &r->t->store[store];

    return rd_shadow_require(
        r, (at >= 0 && at < a->extent) ||
               rd_shadow_fails(r->why, "%s a%" PRId32 "[%" PRId64 "], which has %" PRId64, what,
                               store, at, a->extent));
}

/* Loads an element's shadow from the program's memory (slot >= 0), or from an array of the tree,
 * in which the element must have been stored (made). */
static rd_shadow load(rd_shadow_task *r, const rd_shadow_copy *c, const rd_tree_value *let)
{
    const int64_t at = rd_shadow_position(r, c, &let->at);

    if (let->slot >= 0)
        return rd_shadow_load(&r->memory, let->slot, let->type, at);
    if (!must_be_in_store(r, let->store, at, "load from"))
        return (rd_shadow){ 0 };
    rd_shadow_require(
        r, r->made[let->store][at] ||
               rd_shadow_fails(r->why, "load from a%" PRId32 "[%" PRId64 "], which nothing stored",
                               let->store, at));
    return r->store[let->store][at];
}

/* Runs a STORE. Memory of the program must not be written behind an early exit that has run, as it
 * would leave the store out; an array of the tree notes which elements it has (made). */
static void store(rd_shadow_task *r, const rd_shadow_copy *c, const rd_stmt *s)
{
    const int64_t at = rd_shadow_position(r, c, &s->at);

    if (s->slot >= 0) {
        if (rd_shadow_require(r, rd_shadow_may_store(r)))
            rd_shadow_put(&r->memory, s->slot, s->type, at, c->value[s->x]);
        return;
    }
    if (!must_be_in_store(r, s->store, at, "store to"))
        return;
    r->store[s->store][at] = c->value[s->x];
    r->made[s->store][at]  = true;
}

/* Runs an ARRAY (declaration): no element is stored in it, or if it holds states (accumulators)
 * none has begun. */
static void declare(rd_shadow_task *r, int32_t store)
{
    if (r->t->store[store].fold >= 0)
        rd_shadow_declare(r->folds, store);
    else
        memset(r->made[store], 0, (size_t)r->t->store[store].extent);
}

/* ---- Values and folds ------------------------------------------------------------------------ */
/* Runs a LET: makes its value in this copy of the code. */
static void make_value(rd_shadow_task *r, rd_shadow_copy *c, int32_t value)
{
    const rd_tree_value *v = &r->t->let[value];
    rd_shadow            in[RD_MAX_CALL];

    for (int32_t k = 0; k < v->n; k++)
        in[k] = c->value[r->t->operand[v->first + k]];
    if (v->kind == RD_I_LOAD)
        c->value[value] = load(r, c, v);
    else if (v->kind == RD_I_COORD)
        c->value[value] = rd_shadow_of_int(rd_shadow_position(r, c, &v->at));
    else
        c->value[value] = rd_shadow_value(v, in);
}

/* Returns the value of an address of the program, from the axes alone; registers count as 0. */
static int64_t position_by_axes(const rd_shadow_copy *c, const rd_address *at)
{
    int64_t sum = at->offset;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0)
            sum += at->add[k].coef * c->axis[at->add[k].axis];
    return sum;
}

/* Returns the element of a step, with its hash. If the tree gives the lane (partial accumulator) as
 * it is, not modulo the number of lanes (!wraps), the step number comes from the fold's own
 * addresses in the program. A lane that does not exist is -1. The number comes so only if the lane
 * position spans several steps; else it stays. */
static rd_shadow_element step_element(const rd_shadow_task *r, const rd_shadow_copy *c,
                                      const rd_shadow_at *at)
{
    const rd_stmt    *s = at->by;
    const rd_fold    *f = &r->t->p->fold[s->fold];
    rd_shadow_element e = rd_shadow_element_of(f, &at->coords, c->value[s->x],
                                               s->weight >= 0 ? &c->value[s->weight] : NULL,
                                               s->mask >= 0 ? &c->value[s->mask] : NULL);

    if (!s->wraps) {
        const rd_shadow_coords position = { .lane      = position_by_axes(c, &f->lane),
                                            .lane_line = position_by_axes(c, &f->lane_line) };

        e.lane = at->coords.lane >= 0 && at->coords.lane < f->lanes ? (int32_t)at->coords.lane : -1;
        if (f->lane_extent > f->lanes)
            e.step = rd_shadow_step_number(f, &position);
    }
    return e;
}

/* Runs a STEP: the element goes to its cell (accumulator), in a group-by to the cell of its label.
 * False: a failure. */
static bool run_step(rd_shadow_task *r, rd_shadow_copy *c, const rd_shadow_at *at)
{
    const rd_shadow_element e = step_element(r, c, at);
    const int32_t           d = at->by->label;
    const int64_t           n = r->t->p->fold[at->by->fold].n_group;

    return rd_shadow_take(r->folds, at, &e, d >= 0 && n ? rd_shadow_label(c->value[d], n) : 0);
}

/* Runs a SWITCH_STATE: the array of a run of equal labels gets the state of this label's cell
 * (accumulator). */
static bool run_switch_state(rd_shadow_task *r, const rd_shadow_copy *c, const rd_shadow_at *at)
{
    const int64_t n = r->t->p->fold[at->by->fold].n_group;

    return rd_shadow_switch_state(r->folds, at, rd_shadow_position(r, c, &at->by->at),
                                  rd_shadow_label(c->value[at->by->label], n));
}

/* Runs a PREFIX, the step of a scan, which makes results. */
static bool run_prefix(rd_shadow_task *r, rd_shadow_copy *c, const rd_shadow_at *at)
{
    const rd_shadow_element e = step_element(r, c, at);

    return rd_shadow_prefix(r->folds, at, &e, &c->value[at->by->value]);
}

/* Returns the axis of the split reduction along which ranges store the statement's partials; -1:
 * all loops over ranges around count. STORE_PARTIALS names their array in `arg`. */
static int32_t axis_of_ranges(const rd_schedule *t, const rd_stmt *s)
{
    const int32_t store = s->kind == RD_S_STORE_PARTIALS ? s->arg : s->store;

    return t->store[store].storage == RD_IN_DEVICE ? t->store[store].split_axis : -1;
}

/* Returns the work item at hand, as a hash of the indices of all loops over items around (GPU),
 * without those over ranges whose partials are combined with each other. */
static uint64_t hash_of_item(const rd_shadow_task *r, const rd_shadow_copy *c, int32_t stmt)
{
    const int32_t along = axis_of_ranges(r->t, &r->t->stmt[stmt]);
    uint64_t      item  = 0;

    for (int32_t s = rd_loop_around(r->t, stmt); s >= 0; s = rd_loop_around(r->t, s)) {
        const rd_for *loop = rd_loop_of(r->t, s);

        if (loop->kind == RD_FOR_ITEM &&
            !(loop->split_reduction && (along < 0 || loop->axis == along)))
            item = rd_mix(item,
                          (uint64_t)c->axis[loop->start_mark >= 0 ? loop->start_mark : loop->axis]);
    }
    return item;
}

/* True if the statement is about partials (results of ranges of a split reduction), which belong
 * to a work item. */
static bool is_of_ranges(const rd_stmt *s)
{
    return s->kind == RD_S_STORE_PARTIALS || s->kind == RD_S_COMBINE_PARTIALS ||
           s->kind == RD_S_BUILD_TREE || s->kind == RD_S_SCAN_BLOCKS || s->kind == RD_S_LOOK_BACK;
}

/* Runs a statement of a fold, by its kind, at its positions in this copy of the code. False: a
 * failure. */
static bool fold_statement(rd_shadow_task *r, rd_shadow_copy *c, int32_t stmt)
{
    const rd_stmt     *s  = &r->t->stmt[stmt];
    const rd_shadow_at at = { s, rd_shadow_coords_of(r, c, &s->fold_at),
                              rd_shadow_position(r, c, &s->fold_at.state_offset) };

    if (is_of_ranges(s))
        rd_shadow_set_item(r->folds, hash_of_item(r, c, stmt));
    switch (s->kind) {
    case RD_S_BEGIN: return rd_shadow_begin(r->folds, s);
    case RD_S_STORE_PARTIALS: return rd_shadow_store_partials(r->folds, s);
    case RD_S_COMBINE_PARTIALS: return rd_shadow_combine_partials(r->folds, s);
    case RD_S_BUILD_TREE: return rd_shadow_build_tree(r->folds, s);
    case RD_S_SCAN_BLOCKS: return rd_shadow_scan_blocks(r->folds, s);
    case RD_S_SCAN_RESULT: return rd_shadow_scan_result(r->folds, &at, &c->value[s->value]);
    case RD_S_LOOK_BACK: return rd_shadow_look_back(r->folds, s, rd_shadow_position(r, c, &s->at));
    case RD_S_STEP: return rd_shadow_may_step(r, s, at.coords.cell) && run_step(r, c, &at);
    case RD_S_PREFIX: return run_prefix(r, c, &at);
    case RD_S_LOAD_STATES:
    case RD_S_STORE_STATES: return rd_shadow_move(r->folds, &at, rd_shadow_position(r, c, &s->at));
    case RD_S_SWITCH_STATE: return run_switch_state(r, c, &at);
    case RD_S_CUT_AT_BLOCK: return rd_shadow_cut_at_block(r, c, s);
    case RD_S_PUSH_IF_LAST: return rd_shadow_push_if_last(r->folds, &at);
    case RD_S_PUSH_IF_NEW: return rd_shadow_push_if_new(r->folds, &at);
    case RD_S_PUSH: return rd_shadow_push(r->folds, &at);
    case RD_S_MERGE_BLOCKS: return rd_shadow_merge_blocks(r->folds, &at);
    case RD_S_MERGE_LANES: return rd_shadow_merge_lanes(r->folds, &at);
    case RD_S_FINISH: return rd_shadow_results(r->folds, &at, &c->value[s->value]);
    default: return false;
    }
}

/* Runs a SORT of a row, or of the strip of it that a loop around visits. Its positions lie in those
 * of the statement: to in fold_at.index, state in fold_at.cell, begin in fold_at.lane, n in count.
 * */
static void sort(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_stmt *s)
{
    const rd_sorting *of = &r->t->p->sorting[s->arg];

    rd_shadow_sort(&r->memory, s->arg,
                   &(rd_shadow_row){ .from  = rd_shadow_position(r, c, &s->at),
                                     .to    = rd_shadow_position(r, c, &s->fold_at.index),
                                     .state = rd_shadow_position(r, c, &s->fold_at.cell),
                                     .begin = rd_shadow_position(r, c, &s->fold_at.lane),
                                     .n = of->most ? rd_shadow_position(r, c, &s->count) : of->n });
}

/* ---- All kinds ------------------------------------------------------------------------------- */
/* Runs a statement that is no loop, in one copy (instance of the code). A search in memory
 * (LOWER_BOUND) takes its lower bound, as data are unknown. A CUT_AT_RUN does nothing, and an EXIT
 * is only noted. An IF with `unless` runs if its mask is false. Prefetches and barriers change no
 * number. */
void rd_shadow_statement(rd_shadow_task *r, int32_t stmt, rd_shadow_copy *c)
{
    const rd_stmt        *s        = &r->t->stmt[stmt];
    rd_shadow_copy *const alone[1] = { c };

    switch (s->kind) {
    case RD_S_IF:
        if (rd_shadow_true(c->value[s->x]) != s->unless)
            rd_shadow_body(r, stmt, alone, /*n=*/1);
        break;
    case RD_S_IF_LAST:
        if (r->last[s->arg])
            rd_shadow_body(r, stmt, alone, /*n=*/1);
        break;
    case RD_S_LET: make_value(r, c, s->value); break;
    case RD_S_ARRAY: declare(r, s->store); break;
    case RD_S_LOWER_BOUND:
        c->value[s->value] = c->value[s->x];
        break; /* data are unknown: the search ends at its first number */
    case RD_S_PREFETCH:
    case RD_S_FRONT: /* nothing but a hint */
    case RD_S_BARRIER: break;
    case RD_S_EXIT: rd_shadow_note_exit(r, c, s); break;
    case RD_S_STORE: store(r, c, s); break;
    case RD_S_CUT_AT_RUN: break; /* wherever a round ends, all indices are visited */
    case RD_S_SORT: sort(r, c, s); break;
    default: rd_shadow_require(r, fold_statement(r, c, stmt));
    }
}
