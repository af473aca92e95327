/* substitute.c - replaces the values that a statement names by others. */
#include "kernels/loop/loop.h"

/* What is substituted: by(of, value) returns the value that takes the place of `value`. */
typedef struct renaming {
    rd_schedule     *t;
    rd_substitution *by;
    void            *of;
} renaming;

/* Returns the value that takes the place of another; -1 (no value) stays. */
static int32_t value_of(const renaming *r, int32_t value)
{
    return value >= 0 ? r->by(r->of, value) : value;
}

/* Substitutes values in a position. Terms never change, so a changed position has new terms, and
 * the search starts again in these (k = -1). */
static rd_linear linear_of(const renaming *r, rd_linear at)
{
    for (int32_t k = 0; k < at.n && !r->t->failed; k++) {
        const rd_linear_term term = r->t->term[at.first + k];
        const int32_t        by   = term.axis < 0 ? value_of(r, term.value) : -1;

        if (term.axis >= 0 || by == term.value)
            continue;
        at = rd_linear_plus_value(r->t, at, -term.coef, term.value);
        at = rd_linear_plus_value(r->t, at, term.coef, by);
        k  = -1;
    }
    return at;
}

/* Substitutes values in both positions of all parts of a loop bound. */
static void rename_edge(const renaming *r, rd_edge *edge)
{
    for (int32_t k = 0; k < edge->n; k++) {
        edge->part[k].at   = linear_of(r, edge->part[k].at);
        edge->part[k].base = linear_of(r, edge->part[k].base);
    }
}

/* Substitutes values in both bounds of a loop.  A tree without memory keeps the old bounds. */
static void rename_in_loop(const renaming *r, int32_t number)
{
    rd_for loop = r->t->loop[number];

    rename_edge(r, &loop.from);
    rename_edge(r, &loop.to);
    if (!r->t->failed)
        r->t->loop[number] = loop;
}

/* Substitutes values among the operands and in the position of a LET. Operands are copied only
 * if one changes. */
static void rename_in_let(const renaming *r, int32_t value)
{
    rd_tree_value let = r->t->let[value];
    int32_t       operand[RD_MAX_CALL];
    bool          changed = false;

    for (int32_t k = 0; k < let.n; k++) {
        operand[k] = value_of(r, r->t->operand[let.first + k]);
        changed |= operand[k] != r->t->operand[let.first + k];
    }
    let.at = linear_of(r, let.at);
    if (changed)
        let.first = rd_add_operands(r->t, operand, let.n);
    if (!r->t->failed)
        r->t->let[value] = let;
}

/* Replaces each value that the statement reads by by(of, value): in its operands, positions and
 * loop bounds. It works on a copy; as `by` may add statements before this one, the links are read
 * again at the end. */
void rd_substitute_values(rd_schedule *t, int32_t stmt, rd_substitution *by, void *of)
{
    const renaming r = { t, by, of };
    rd_stmt        s = t->stmt[stmt];

    if (s.kind == RD_S_LET)
        rename_in_let(&r, s.value);
    if (s.kind == RD_S_LOOP)
        rename_in_loop(&r, s.arg);
    s.x                    = value_of(&r, s.x);
    s.weight               = value_of(&r, s.weight);
    s.mask                 = value_of(&r, s.mask);
    s.label                = value_of(&r, s.label);
    s.at                   = linear_of(&r, s.at);
    s.fold_at.cell         = linear_of(&r, s.fold_at.cell);
    s.fold_at.lane         = linear_of(&r, s.fold_at.lane);
    s.fold_at.lane_line    = linear_of(&r, s.fold_at.lane_line);
    s.fold_at.index        = linear_of(&r, s.fold_at.index);
    s.fold_at.state_offset = linear_of(&r, s.fold_at.state_offset);
    s.count                = linear_of(&r, s.count);
    s.parent               = t->stmt[stmt].parent;
    s.prev                 = t->stmt[stmt].prev;
    s.next                 = t->stmt[stmt].next;
    if (!t->failed)
        t->stmt[stmt] = s;
}
