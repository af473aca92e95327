/* value.c - an element of a node as a C expression, at indices given as text. */
#include "loops.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *sweep_own(writer *w, const char *format, ...)
{
    va_list args;
    char   *t;
    int     n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    t = malloc((size_t)n + 1);
    va_start(args, format);
    vsnprintf(t, (size_t)n + 1, format, args);
    va_end(args);
    if (w->n_owned == (int)(sizeof w->owned / sizeof *w->owned)) {
        w->failed = true; /* too long to be a program that somebody writes */
        w->n_owned--;
        free(w->owned[w->n_owned]);
    }
    return w->owned[w->n_owned++] = t;
}

void sweep_line(writer *w, const char *format, ...)
{
    va_list args;
    char    line[20000];

    va_start(args, format);
    if (vsnprintf(line, sizeof line, format, args) >= (int)sizeof line)
        w->failed = true;
    va_end(args);
    if (line[0] == '}')
        w->depth--;
    sweep_put(&w->out, "%*s%s\n", 4 * w->depth, "", line);
    if (line[strlen(line) - 1] == '{')
        w->depth++;
}

/* ---- Places ---------------------------------------------------------------------------------- */
static bool zero(const char *at)
{
    return strcmp(at, "0") == 0;
}

static char *offset(writer *w, const place at, const int64_t *stride, int rank)
{
    char *sum = NULL;

    for (int k = 0; k < rank; k++) {
        if (stride[k] == 0 || zero(at[k]))
            continue;
        if (stride[k] == 1)
            sum = sum ? sweep_own(w, "%s + %s", sum, at[k]) : sweep_own(w, "%s", at[k]);
        else
            sum = sum ? sweep_own(w, "%s + (%s) * %lld", sum, at[k], (long long)stride[k])
                      : sweep_own(w, "(%s) * %lld", at[k], (long long)stride[k]);
    }
    return sum ? sum : sweep_own(w, "0");
}

/* Indices of an operand that broadcasts to a. */
static void operand_place(const node *a, const node *x, const place at, place of)
{
    for (int k = 0; k < x->rank; k++)
        of[k] = x->n[k] == 1 ? "0" : at[k + a->rank - x->rank];
}

/* ---- Kinds ----------------------------------------------------------------------------------- */
static char *leaf_value(writer *w, const node *a, const place at)
{
    const leaf *l = &w->p->leaves[a->leaf];
    int64_t     stride[MOST_RANK];
    const char *wrap = l->type == RD_F16 ? "(float)" : l->type == RD_BF16 ? "wide" : "";
    char       *where;

    for (int k = 0; k < l->rank; k++)
        stride[k] = l->n[k] == 1 ? 0 : l->stride[k];
    where = offset(w, at, stride, l->rank);
    return l->type == RD_BF16 ? sweep_own(w, "%s(x%d[%s])", wrap, a->leaf, where)
                              : sweep_own(w, "%sx%d[%s]", wrap, a->leaf, where);
}

static char *number_value(writer *w, const node *a)
{
    const dtype *t = sweep_dtype(a->type);

    if (isinf(a->value))
        return sweep_own(w, "(%s)%s__builtin_inf()", t->c, a->value < 0 ? "-" : "");
    if (t->is_float)
        return sweep_own(w, "(%s)%.17g", t->c, a->value);
    return sweep_own(w, "(%s)%lld", t->c, (long long)a->value);
}

static int op_index(const op_row *o)
{
    return (int)(o - sweep_ops);
}

char *sweep_value_of_map(writer *w, const node *a, const place at)
{
    const rd_dtype type = a->op->rule == OP_WHERE
                              ? a->type
                              : sweep_op_type(a->op, a->in[0]->type, a->in[a->arity - 1]->type);
    char          *x[MOST_OPERANDS];

    for (int k = 0; k < a->arity; k++) {
        place of;

        operand_place(a, a->in[k], at, of);
        x[k] = sweep_value(w, a->in[k], of);
    }
    w->used[op_index(a->op)][type] = true;
    if (a->op->rule == OP_WHERE)
        return sweep_own(w, "where_%s(%s, %s, %s)", sweep_dtype(type)->name, x[0], x[1], x[2]);
    if (a->arity == 1)
        return sweep_own(w, "%s_%s(%s)", a->op->name, sweep_dtype(type)->name, x[0]);
    return sweep_own(w, "%s_%s(%s, %s)", a->op->name, sweep_dtype(type)->name, x[0], x[1]);
}

static char *cast_value(writer *w, const node *a, const place at)
{
    char *x = sweep_value(w, a->in[0], at);

    return a->type == RD_BOOL ? sweep_own(w, "(%s != 0)", x)
                              : sweep_own(w, "(%s)(%s)", sweep_dtype(a->type)->c, x);
}

static char *taken_value(writer *w, const node *a, const place at)
{
    const int rank = a->in[1]->rank;
    place     of;
    char     *index = sweep_value(w, a->in[1], at + a->axis);

    for (int k = 0; k < a->in[0]->rank; k++)
        of[k] = k < a->axis ? at[k] : k == a->axis ? index : at[k + rank - 1];
    return sweep_value(w, a->in[0], of);
}

static char *joined_value(writer *w, const node *a, const place at)
{
    const long long n = a->in[0]->n[a->axis];
    place           of;
    char           *first = sweep_value(w, a->in[0], at), *second;

    memcpy(of, at, sizeof of);
    of[a->axis] = sweep_own(w, "(%s - %lld)", at[a->axis], n);
    second      = sweep_value(w, a->in[1], of);
    return sweep_own(w, "(%s < %lld ? %s : %s)", at[a->axis], n, first, second);
}

static void view_place(writer *w, const node *a, const place at, place of)
{
    const int last = a->rank - 1;

    for (int k = 0; k < a->in[0]->rank; k++) {
        const char *i = k < a->rank ? at[k] : "0";

        switch (a->kind) {
        case N_PERMUTE: of[a->order[k]] = at[k]; break;
        case N_EXPAND: of[k] = at[k + (k >= a->axis)]; break;
        case N_SELECT:
            of[k] =
                k == a->axis ? sweep_own(w, "%lld", (long long)a->start) : at[k - (k > a->axis)];
            break;
        case N_RANGE:
            if (k == a->axis && a->flip)
                i = sweep_own(w, "(%lld - %s)", (long long)a->start, i);
            else if (k == a->axis && a->step != 1)
                i = sweep_own(w, "(%lld + %lld * (%s))", (long long)a->start, (long long)a->step,
                              i);
            else if (k == a->axis && a->start)
                i = sweep_own(w, "(%lld + %s)", (long long)a->start, i);
            of[k] = i;
            break;
        case N_WINDOW:
            if (k == a->axis)
                i = a->step == 1
                        ? sweep_own(w, "(%s + %s)", i, at[last])
                        : sweep_own(w, "((%s) * %lld + %s)", i, (long long)a->step, at[last]);
            of[k] = i;
            break;
        default: of[k] = k < 2 ? at[last] : at[k - 2]; break; /* N_DIAGONAL */
        }
    }
}

static char *stage_value(writer *w, const node *a, const place at, const stage *s)
{
    int64_t stride[MOST_RANK];
    char   *where;
    int     axis = 0;

    for (int k = 0; k < s->rank; k++) {
        const bool there = s->kept[k] || a->kind == N_SCAN;

        if (!there && !a->keep)
            continue;
        stride[axis] = there && a->n[axis] > 1 ? s->stride[k] : 0;
        axis++;
    }
    where = offset(w, at, stride, a->rank);
    if (s->root < 0)
        return sweep_own(w, "t%d[%s]", a->id, where);
    if (a->type == RD_BF16)
        return sweep_own(w, "wide(y%d[%s])", s->root, where);
    return sweep_own(w, "%sy%d[%s]", a->type == RD_F16 ? "(float)" : "", s->root, where);
}

char *sweep_value(writer *w, const node *a, const place at)
{
    place of;

    if (w->stage_of[a->id] >= 0)
        return stage_value(w, a, at, &w->stages[w->stage_of[a->id]]);
    switch (a->kind) {
    case N_LEAF: return leaf_value(w, a, at);
    case N_NUMBER: return number_value(w, a);
    case N_MAP: return sweep_value_of_map(w, a, at);
    case N_CAST: return cast_value(w, a, at);
    case N_TAKE: return taken_value(w, a, at);
    case N_CONCAT: return joined_value(w, a, at);
    case N_COORD: return sweep_own(w, "(int64_t)(%s)", at[a->axis]);
    case N_REDUCE: return sweep_inlined(w, a, at);
    case N_SCAN: w->failed = true; return sweep_own(w, "0");
    default: view_place(w, a, at, of); return sweep_value(w, a->in[0], of);
    }
}

/* What is written to a result's memory. */
char *sweep_stored(writer *w, const node *a, const char *value)
{
    if (w->stages[w->stage_of[a->id]].root < 0)
        return sweep_own(w, "(%s)(%s)", sweep_dtype(a->type)->c, value);
    if (a->type == RD_BF16)
        return sweep_own(w, "narrow(%s)", value);
    return sweep_own(w, "(%s)(%s)", a->type == RD_F16 ? "_Float16" : sweep_dtype(a->type)->c,
                     value);
}
