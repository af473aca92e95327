/* clone.c - copies a statement with its body: values, loops and marks get new numbers.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/loop.h"
#include <stdlib.h>
#include <string.h>

/* The new number of each value, axis and statement that the copy has of its own; -1: it keeps
 * the old one. */
typedef struct renamed {
    rd_schedule *t;
    int32_t     *value, *axis, *stmt;
} renamed;

/* Returns the new number of a value, or the old one if the copy does not make that value; -1
 * stays. */
static int32_t value_of(const renamed *r, int32_t value)
{
    return value >= 0 && r->value[value] >= 0 ? r->value[value] : value;
}

/* Returns a position of the copy: values and axes that the copy makes itself have new numbers in
 * it. r->axis has the new numbers, -1: the axis stays. */
static rd_linear linear_of(const renamed *r, rd_linear at)
{
    rd_linear made = rd_linear_of(at.offset);

    for (int32_t k = 0; k < at.n && !r->t->failed; k++) {
        const rd_linear_term term = r->t->term[at.first + k];

        if (term.axis < 0)
            made = rd_linear_plus_value(r->t, made, term.coef, value_of(r, term.value));
        else
            made = rd_linear_plus_axis(r->t, made, term.coef,
                                       r->axis[term.axis] >= 0 ? r->axis[term.axis] : term.axis);
    }
    return made;
}

/* Returns a loop bound of the copy, with the new numbers of values and axes. */
static rd_edge edge_of(const renamed *r, rd_edge edge)
{
    for (int32_t k = 0; k < edge.n; k++) {
        edge.part[k].at   = linear_of(r, edge.part[k].at);
        edge.part[k].base = linear_of(r, edge.part[k].base);
    }
    return edge;
}

/* Copies the values that a statement makes, and sets s->value to the first new one. Operands are
 * made before, so their new numbers are known. */
static void copy_values(renamed *r, rd_stmt *s)
{
    rd_schedule *t     = r->t;
    int32_t      first = -1;

    for (int32_t k = 0; k < s->n_value; k++) {
        rd_tree_value let = t->let[s->value + k];
        int32_t       made, operand[RD_MAX_CALL];

        let.at = linear_of(r, let.at);
        for (int32_t j = 0; j < let.n; j++)
            operand[j] = value_of(r, t->operand[let.first + j]);
        let.first = rd_add_operands(t, operand, let.n);
        made      = rd_add_let(t, &let);
        if (t->failed)
            return;
        r->value[s->value + k] = made;
        first                  = k == 0 ? made : first;
    }
    if (s->n_value)
        s->value = first;
}

/* Gives the copied LOOP statement a loop record of its own, with bounds in new numbers and new
 * marks (axes bound to the ends of a round). */
static void copy_loop(renamed *r, rd_stmt *s)
{
    rd_for loop = r->t->loop[s->arg];

    loop.from = edge_of(r, loop.from);
    loop.to   = edge_of(r, loop.to);
    if (loop.start_mark >= 0)
        loop.start_mark = r->axis[loop.start_mark] = rd_add_mark(r->t);
    if (loop.stop_mark >= 0)
        loop.stop_mark = r->axis[loop.stop_mark] = rd_add_mark(r->t);
    s->arg = rd_add_for(r->t, &loop);
}

/* Copies a statement with its body; returns the copy, which is in no body yet; 0: no memory.
 * Values, loops and marks that it makes get new numbers, by which statements copied later name
 * them. */
static int32_t copy_stmt(renamed *r, int32_t stmt)
{
    rd_schedule *t = r->t;
    rd_stmt      s = t->stmt[stmt];
    int32_t      made;

    s.x       = value_of(r, s.x);
    s.weight  = value_of(r, s.weight);
    s.mask    = value_of(r, s.mask);
    s.label   = value_of(r, s.label);
    s.at      = linear_of(r, s.at);
    s.count   = linear_of(r, s.count);
    s.fold_at = (rd_fold_at){ linear_of(r, s.fold_at.cell), linear_of(r, s.fold_at.lane),
                              linear_of(r, s.fold_at.lane_line), linear_of(r, s.fold_at.index),
                              linear_of(r, s.fold_at.state_offset) };
    if (s.kind == RD_S_LOOP)
        copy_loop(r, &s);
    copy_values(r, &s);
    made = rd_add_stmt(t, &s);
    if (t->failed)
        return 0;
    r->stmt[stmt] = made;
    for (int32_t k = 0; k < s.n_value; k++)
        t->let[s.value + k].made_by = made;
    for (int32_t k = t->stmt[stmt].first; k >= 0 && !t->failed; k = t->stmt[k].next)
        rd_append(t, made, copy_stmt(r, k));
    /* The STORE that strips are aligned to stands in the body, so its copy has a number now. */
    if (s.kind == RD_S_LOOP && !t->failed && t->loop[s.arg].align_to)
        t->loop[s.arg].align_to = r->stmt[t->loop[s.arg].align_to];
    return made;
}

/* Makes EXITs, IF_LASTs and loads of the copy name statements of the copy in place of the
 * originals. It runs last, as an EXIT may name a loop that follows. */
static void rename_loops(const renamed *r, int32_t stmt)
{
    for (int32_t s = stmt; s >= 0 && !r->t->failed; s = rd_next_stmt(r->t, s, stmt)) {
        rd_stmt *made = &r->t->stmt[r->stmt[s]];

        if ((made->kind == RD_S_EXIT || made->kind == RD_S_IF_LAST) && r->stmt[made->arg] >= 0)
            made->arg = r->stmt[made->arg];
        if (made->loaded_by >= 0 && r->stmt[made->loaded_by] >= 0)
            made->loaded_by = r->stmt[made->loaded_by];
    }
}

/* Copies a statement with its body; the copy is in no body yet. The tables of new numbers begin as
 * -1, which means: the copy names the same thing as the original. */
int32_t rd_stmt_copy(rd_schedule *t, int32_t stmt)
{
    renamed r    = { .t     = t,
                     .value = malloc(((size_t)t->n_let + 1) * sizeof *r.value),
                     .axis  = malloc(((size_t)t->n_axis + 1) * sizeof *r.axis),
                     .stmt  = malloc(((size_t)t->n_stmt + 1) * sizeof *r.stmt) };
    int32_t made = 0;

    if (!r.value || !r.axis || !r.stmt)
        t->failed = true;
    else {
        memset(r.value, -1, ((size_t)t->n_let + 1) * sizeof *r.value);
        memset(r.axis, -1, ((size_t)t->n_axis + 1) * sizeof *r.axis);
        memset(r.stmt, -1, ((size_t)t->n_stmt + 1) * sizeof *r.stmt);
        made = copy_stmt(&r, stmt);
        rename_loops(&r, stmt);
    }
    free(r.value);
    free(r.axis);
    free(r.stmt);
    return made;
}
