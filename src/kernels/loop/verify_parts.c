/* verify_parts.c - verifies the parts of a statement: values, positions, memory, folds.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. A term of a position with `axis` -1 is a value, an index that is read at run time. An
 * array of the tree with `fold` -1 holds elements, any other one states of that fold.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/verify.h"
#include <inttypes.h>
#include <stdarg.h>

/* Notes the first failure, with the current statement's number and kind: "statement 7, load: r3 is
 * out of scope". Returns false. */
bool rd_verify_fails(const rd_verifier *f, const char *format, ...)
{
    static const char *const names[] = {
#define RD_STMT(name, text) text,
#include "kernels/loop/statements.def"
    };
    const rd_stmt *s = &f->t->stmt[f->stmt];
    va_list        list;

    if (f->why->n)
        return false;
    rd_text_add(f->why, "statement %" PRId32 ", %s: ", f->stmt,
                s->kind < RD_N_STMTS ? names[s->kind] : "of no kind");
    va_start(list, format);
    rd_text_add_list(f->why, format, list);
    va_end(list);
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Verifies a value that is read: it was made before, and the body in which it was made has not
 * ended. */
bool rd_verify_read(const rd_verifier *f, int32_t value)
{
    if (!rd_is_number_below(value, f->t->n_let))
        return rd_verify_fails(f, "there is no r%" PRId32, value);
    if (f->scope[value] == RD_NOT_MADE)
        return rd_verify_fails(f, "r%" PRId32 " is not made before it is read", value);
    return f->scope[value] == RD_IN_SCOPE ||
           rd_verify_fails(f, "r%" PRId32 " is out of scope", value);
}

/* Verifies an operand that may be absent (-1). */
static bool verify_optional_read(const rd_verifier *f, int32_t value)
{
    return value == -1 || rd_verify_read(f, value);
}

/* Verifies that the statement makes n new values, and puts them into scope. */
bool rd_verify_made(const rd_verifier *f, const rd_stmt *s, int32_t n)
{
    if (s->n_value != n)
        return rd_verify_fails(f, "makes %" PRId32 " values, not %" PRId32, s->n_value, n);
    for (int32_t k = 0; k < n; k++) {
        const int32_t value = s->value + k;

        if (!rd_is_number_below(value, f->t->n_let))
            return rd_verify_fails(f, "there is no r%" PRId32, value);
        if (f->scope[value] != RD_NOT_MADE)
            return rd_verify_fails(f, "r%" PRId32 " is made twice", value);
        if (f->t->let[value].made_by != f->stmt)
            return rd_verify_fails(f, "r%" PRId32 " says that statement %" PRId32 " makes it",
                                   value, f->t->let[value].made_by);
        f->scope[value] = RD_IN_SCOPE;
    }
    return true;
}

/* ---- Positions ------------------------------------------------------------------------------- */
/* True if a loop around binds the axis or mark, or if it is a bound of the task's share. There are
 * no shares without a root axis, and none if one task runs all of the tree (whole). Marks have
 * numbers behind the program's axes. */
static bool axis_is_bound(const rd_verifier *f, int32_t axis)
{
    const rd_program *p    = f->t->p;
    const int32_t     mark = axis - p->n_axis;

    if (!rd_is_number_below(axis, f->t->n_axis))
        return rd_verify_fails(f, "there is no axis %" PRId32, axis);
    if (mark == RD_MARK_LO || mark == RD_MARK_HI)
        return (p->root >= 0 && !f->t->whole) ||
               rd_verify_fails(f, "there are no shares of an axis");
    if (f->bound[axis])
        return true;
    return mark < 0
               ? rd_verify_fails(f, "no loop around binds i%" PRId32, axis)
               : rd_verify_fails(f, "m%" PRId32 " is no mark of a loop around", mark - RD_MARKS);
}

/* Verifies a position: its terms exist, their axes are bound by loops around, and their values are
 * in scope. */
bool rd_verify_linear(const rd_verifier *f, const rd_linear *at)
{
    bool ok = at->n == 0 || (at->first >= 0 && at->n > 0 && at->first + at->n <= f->t->n_term) ||
              rd_verify_fails(f, "a position has terms that there are not");

    for (int32_t k = 0; k < at->n && ok; k++) {
        const rd_linear_term *term = &f->t->term[at->first + k];

        ok = term->axis < 0 ? rd_verify_read(f, term->value) : axis_is_bound(f, term->axis);
    }
    return ok;
}

/* Verifies a loop bound: each part is a position; a rounded part (by > 1) has another one that it
 * counts from. */
bool rd_verify_edge(const rd_verifier *f, const rd_edge *edge)
{
    bool ok = (edge->n > 0 && edge->n <= RD_MOST_PARTS) ||
              rd_verify_fails(f, "an end of the range has %" PRId32 " parts", edge->n);

    for (int32_t k = 0; k < edge->n && ok; k++)
        ok = rd_verify_linear(f, &edge->part[k].at) &&
             (edge->part[k].multiple <= 1 || rd_verify_linear(f, &edge->part[k].base));
    return ok;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* True if array number `store` exists, and can be accessed here: it is declared in a body around,
 * or needs no declaration, as it lies in the task's state or in memory of a GPU. */
static bool is_declared(const rd_verifier *f, int32_t store)
{
    if (!rd_is_number_below(store, f->t->n_store))
        return rd_verify_fails(f, "there is no a%" PRId32, store);
    return f->t->store[store].storage >= RD_IN_TASK || f->array[store] ||
           rd_verify_fails(f, "a%" PRId32 " is not declared in a body around", store);
}

/* Verifies an access to memory: of either a slot of the program or an array of the tree (the other
 * is -1), at a position in scope. The array must be declared, hold elements (fold < 0), and have
 * constant subscripts if it is in registers. */
bool rd_verify_memory(const rd_verifier *f, int32_t slot, int32_t store, const rd_linear *at)
{
    const rd_tree_array *a;

    if (!rd_verify_linear(f, at))
        return false;
    if ((slot >= 0) == (store >= 0))
        return rd_verify_fails(f, "is of both kinds of memory, or of none");
    if (slot >= 0)
        return true;
    if (!is_declared(f, store))
        return false;
    a = &f->t->store[store];
    if (a->fold >= 0)
        return rd_verify_fails(f, "a%" PRId32 " has states, not elements", store);
    if (at->n == 0 && (at->offset < 0 || at->offset >= a->extent))
        return rd_verify_fails(f, "a%" PRId32 "[%" PRId64 "] of %" PRId64, store, at->offset,
                               a->extent);
    return at->n == 0 || a->storage != RD_IN_REGISTERS ||
           rd_verify_fails(f, "a%" PRId32 " is in registers, and the subscript is no constant",
                           store);
}

/* ---- Values of LET --------------------------------------------------------------------------- */
/* Returns how many operands a value of that kind has; -1 if no LET makes such a value. */
static int32_t arity_of(const rd_program *p, const rd_tree_value *let)
{
    switch (let->kind) {
    case RD_I_MAP: return let->op < RD_N_OPS ? rd_op_table[let->op].arity : -1;
    case RD_I_CAST:
    case RD_I_INDEX: return 1;
    case RD_I_SELECT: return 3;
    case RD_I_CALL: return rd_is_number_below(let->arg, p->n_call) ? p->call[let->arg].n_in : -1;
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_LOAD: return 0;
    default: return -1;
    }
}

/* Verifies `loaded_by` of a LOAD: -1: it loads its elements itself; else an earlier LOAD of the
 * same width from the same memory has read them before. */
static bool is_kept(const rd_verifier *f, const rd_stmt *s)
{
    const rd_stmt *taken =
        rd_is_number_below(s->loaded_by, f->t->n_stmt) ? &f->t->stmt[s->loaded_by] : NULL;

    return s->loaded_by == -1 ||
           (taken && f->stands[s->loaded_by] && taken->kind == RD_S_LET &&
            taken->vector_width == s->vector_width &&
            f->t->let[taken->value].slot == f->t->let[s->value].slot) ||
           rd_verify_fails(f, "no load has taken what it is of");
}

/* Verifies a LET: its operands are in scope, its memory exists, and its value is new. A LOAD may
 * take its elements from an earlier one (is_kept). */
bool rd_verify_let(const rd_verifier *f, const rd_stmt *s)
{
    const rd_tree_value *v;
    bool                 ok;

    if (!rd_is_number_below(s->value, f->t->n_let))
        return rd_verify_fails(f, "there is no r%" PRId32, s->value);
    v  = &f->t->let[s->value];
    ok = (v->n == arity_of(f->t->p, v) &&
          (v->n == 0 || rd_is_number_below(v->first + v->n - 1, f->t->n_operand))) ||
         rd_verify_fails(f, "r%" PRId32 " is of no kind, or has %" PRId32 " operands", s->value,
                         v->n);
    for (int32_t k = 0; k < v->n && ok; k++)
        ok = rd_verify_read(f, f->t->operand[v->first + k]);
    if (v->kind == RD_I_LOAD)
        ok = ok && rd_verify_memory(f, v->slot, v->store, &v->at) && is_kept(f, s);
    if (v->kind == RD_I_COORD)
        ok = ok && rd_verify_linear(f, &v->at);
    return ok && rd_verify_made(f, s, /*n=*/1);
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Verifies that the fold exists, and that the statement's array has states (accumulators) of it. */
bool rd_verify_states(const rd_verifier *f, const rd_stmt *s)
{
    const rd_tree_array *a;

    if (!rd_is_number_below(s->fold, f->t->p->n_fold))
        return rd_verify_fails(f, "there is no f%" PRId32, s->fold);
    if (!is_declared(f, s->store))
        return false;
    a = &f->t->store[s->store];
    return a->fold == s->fold ||
           rd_verify_fails(f, "a%" PRId32 " has no states of f%" PRId32, s->store, s->fold);
}

/* Verifies the operands of a step: the element x; a weight w if and only if the fold is weighted;
 * a label if and only if it has groups; a mask if there is one. */
static bool has_operands(const rd_verifier *f, const rd_stmt *s)
{
    const rd_loop_fold *facts = &f->t->fold[s->fold];

    if (!rd_verify_read(f, s->x) || !verify_optional_read(f, s->weight) ||
        !verify_optional_read(f, s->mask) || !verify_optional_read(f, s->label))
        return false;
    if ((s->weight >= 0) != facts->emit.weighted)
        return rd_verify_fails(f, "f%" PRId32 " %s weights", s->fold,
                               s->weight >= 0 ? "has no" : "has");
    return (s->label >= 0) == (f->t->p->fold[s->fold].n_group > 0) ||
           rd_verify_fails(f, "f%" PRId32 " %s groups", s->fold, s->label >= 0 ? "has no" : "has");
}

/* True if a block loop is around the body, whose rounds a CUT can end. */
static bool is_in_block_loop(const rd_verifier *f, int32_t body)
{
    while (body >= 0 &&
           (f->t->stmt[body].kind != RD_S_LOOP || rd_loop_of(f->t, body)->kind != RD_FOR_BLOCK))
        body = f->t->stmt[body].parent;
    return body >= 0;
}

/* Verifies a copy of states (accumulators) between array `store` and another array of the fold,
 * `arg`. SWITCH_STATE needs one that holds one label's state at a time (one_label), and
 * LOAD_STATES one that does not; STORE_STATES copies back from either. */
static bool is_copy_of_states(const rd_verifier *f, const rd_stmt *s)
{
    if (!is_declared(f, s->arg) || !rd_verify_linear(f, &s->at) ||
        !rd_verify_linear(f, &s->fold_at.lane))
        return false;
    if (f->t->store[s->arg].fold != s->fold || s->arg == s->store)
        return rd_verify_fails(f, "a%" PRId32 " is no other array of f%" PRId32, s->arg, s->fold);
    if (s->kind == RD_S_SWITCH_STATE && !rd_verify_read(f, s->label))
        return false;
    return s->kind == RD_S_STORE_STATES ||
           f->t->store[s->arg].one_label == (s->kind == RD_S_SWITCH_STATE) ||
           rd_verify_fails(f, "a%" PRId32 " is %s array of a run", s->arg,
                           s->kind == RD_S_SWITCH_STATE ? "no" : "the");
}

/* Verifies that array `arg` holds partial results (nodes) of the fold. */
static bool has_nodes(const rd_verifier *f, const rd_stmt *s)
{
    return (rd_is_number_below(s->arg, f->t->n_store) && f->t->store[s->arg].fold == s->fold) ||
           rd_verify_fails(f, "a%" PRId32 " has no nodes of f%" PRId32, s->arg, s->fold);
}

/* Verifies that the fold is a scan. */
static bool is_scan(const rd_verifier *f, const rd_stmt *s)
{
    return f->t->p->fold[s->fold].scan || rd_verify_fails(f, "f%" PRId32 " is no scan", s->fold);
}

/* Verifies that the fold is a scan with a state (accumulator) for each element of a range. */
static bool is_of_elements(const rd_verifier *f, const rd_stmt *s)
{
    return is_scan(f, s) &&
           (f->t->store[s->store].per_element ||
            rd_verify_fails(f, "a%" PRId32 " has no states of elements", s->store));
}

/* Verifies a statement of a fold: its array holds states of that fold, and it has the positions,
 * operands and results that its kind needs. `takes`: it takes an element; `results`: it makes
 * results; `at`: it is about one element, so its lane (partial accumulator) and step must be in
 * scope. An element of a scan is taken by a PREFIX; by a STEP only where each element has a state
 * of its own (per_element). COMBINE_PARTIALS and BUILD_TREE name an array only. CUT_AT_BLOCK ends a
 * round of a block loop around. */
bool rd_verify_fold(const rd_verifier *f, const rd_stmt *s)
{
    const bool takes = s->kind == RD_S_STEP || s->kind == RD_S_PREFIX;
    const bool results =
        s->kind == RD_S_FINISH || s->kind == RD_S_PREFIX || s->kind == RD_S_SCAN_RESULT;
    const bool at = takes || s->kind == RD_S_PUSH_IF_LAST || s->kind == RD_S_PUSH_IF_NEW ||
                    s->kind == RD_S_CUT_AT_BLOCK || s->kind == RD_S_SCAN_RESULT;

    if (!rd_verify_states(f, s))
        return false;
    if (s->kind == RD_S_COMBINE_PARTIALS || s->kind == RD_S_BUILD_TREE)
        return true;
    if (s->kind == RD_S_BEGIN)
        return rd_verify_linear(f, &s->at);
    if (s->kind == RD_S_STORE_PARTIALS)
        return has_nodes(f, s);
    if (s->kind == RD_S_LOOK_BACK)
        return has_nodes(f, s) && rd_verify_linear(f, &s->at) && is_scan(f, s);
    if ((s->kind == RD_S_SCAN_BLOCKS || s->kind == RD_S_SCAN_RESULT) && !is_of_elements(f, s))
        return false;
    if (!rd_verify_linear(f, &s->fold_at.cell) || !rd_verify_linear(f, &s->fold_at.state_offset) ||
        (takes && !has_operands(f, s)))
        return false;
    if ((s->kind == RD_S_LOAD_STATES || s->kind == RD_S_STORE_STATES ||
         s->kind == RD_S_SWITCH_STATE) &&
        !is_copy_of_states(f, s))
        return false;
    if (at &&
        !(rd_verify_linear(f, &s->fold_at.lane) && rd_verify_linear(f, &s->fold_at.lane_line) &&
          rd_verify_linear(f, &s->fold_at.index)))
        return false;
    if (takes && (f->t->p->fold[s->fold].scan && !f->t->store[s->store].per_element) !=
                     (s->kind == RD_S_PREFIX))
        return rd_verify_fails(f, "f%" PRId32 " is %s scan", s->fold,
                               f->t->p->fold[s->fold].scan ? "a" : "no");
    if (s->kind == RD_S_CUT_AT_BLOCK && !is_in_block_loop(f, s->parent))
        return rd_verify_fails(f, "no block loop is around it");
    return !results || rd_verify_made(f, s, f->t->p->fold[s->fold].n_out);
}
