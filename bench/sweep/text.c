/* text.c - growing text; a program as a person would write it down. */
#include "sweep.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(text *t, const char *format, va_list args)
{
    va_list again;
    int     n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (t->n + (size_t)n + 1 > t->room) {
        t->room = 2 * (t->n + (size_t)n + 1);
        t->at   = realloc(t->at, t->room);
    }
    vsnprintf(t->at + t->n, (size_t)n + 1, format, args);
    t->n += (size_t)n;
}

void sweep_put(text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(t, format, args);
    va_end(args);
}

char *sweep_format(const char *format, ...)
{
    text    t = { 0 };
    va_list args;

    va_start(args, format);
    put(&t, format, args);
    va_end(args);
    return t.at;
}

/* ---- A program in words ---------------------------------------------------------------------- */
static void say(text *t, const program *p, const node *a);

static void say_dims(text *t, const node *a)
{
    const char *comma = "";

    sweep_put(t, "%s", a->kind == N_SCAN ? "axis " : "{");
    for (int k = 0; k < a->in[0]->rank; k++)
        if (a->dims >> k & 1) {
            sweep_put(t, "%s%d", comma, k);
            comma = ",";
        }
    sweep_put(t, "%s", a->kind == N_SCAN ? "" : a->keep ? "} keep" : "}");
}

static void say_fold(text *t, const program *p, const node *a)
{
    const struct {
        const char *name;
        const node *at;
    } more[] = { { "where", a->where }, { "weights", a->weights }, { "initial", a->initial } };

    sweep_put(t, "%s%s(", a->kind == N_SCAN ? "scan_" : "",
              a->fold == F_USER ? a->user->name : sweep_fold_name(a->fold));
    say(t, p, a->in[0]);
    sweep_put(t, ", ");
    say_dims(t, a);
    for (int k = 0; k < 3; k++)
        if (more[k].at) {
            sweep_put(t, ", %s=", more[k].name);
            say(t, p, more[k].at);
        }
    sweep_put(t, "%s%s%s", a->skip_nan ? ", skip_nan" : "", a->exclusive ? ", exclusive" : "",
              a->reverse ? ", reverse" : "");
    if (a->fold == F_NORM)
        sweep_put(t, ", p=%g", a->p);
    if (a->ddof > 0)
        sweep_put(t, ", ddof=1");
    if (a->type == RD_F64 && a->in[0]->type == RD_F32 && a->fold != F_USER)
        sweep_put(t, ", f64");
    sweep_put(t, ")");
}

static void say_view(text *t, const program *p, const node *a)
{
    static const char *const names[] = {
        [N_PERMUTE] = "permute", [N_EXPAND] = "expand", [N_RANGE] = "range",
        [N_SELECT] = "select",   [N_WINDOW] = "window", [N_DIAGONAL] = "diagonal",
        [N_TAKE] = "take",       [N_CONCAT] = "concat", [N_COORD] = "coord"
    };

    sweep_put(t, "%s(", a->flip ? "flip" : names[a->kind]);
    if (a->kind != N_COORD)
        say(t, p, a->in[0]);
    if (a->arity == 2) {
        sweep_put(t, ", ");
        say(t, p, a->in[1]);
    }
    if (a->kind == N_PERMUTE)
        for (int k = 0; k < a->rank; k++)
            sweep_put(t, "%s%d", k ? " " : ", ", a->order[k]);
    else if (a->kind != N_DIAGONAL)
        sweep_put(t, "%s%d", a->kind == N_COORD ? "" : ", ", a->axis);
    if (a->kind == N_RANGE && !a->flip)
        sweep_put(t, ", %lld:%lld:%lld", (long long)a->start, (long long)a->stop,
                  (long long)a->step);
    if (a->kind == N_SELECT)
        sweep_put(t, ", %lld", (long long)a->start);
    if (a->kind == N_WINDOW)
        sweep_put(t, ", %lld step %lld", (long long)a->stop, (long long)a->step);
    sweep_put(t, ")");
}

static void say(text *t, const program *p, const node *a)
{
    switch (a->kind) {
    case N_LEAF: sweep_put(t, "x%d", a->leaf); break;
    case N_NUMBER: sweep_put(t, "%.9g", a->value); break;
    case N_CAST:
        sweep_put(t, "%s(", sweep_dtype(a->type)->name);
        say(t, p, a->in[0]);
        sweep_put(t, ")");
        break;
    case N_MAP:
    case N_USER:
        sweep_put(t, "%s(", a->kind == N_USER ? a->user->name : a->op->name);
        for (int k = 0; k < (a->kind == N_USER ? 1 : a->arity); k++) {
            sweep_put(t, "%s", k ? ", " : "");
            say(t, p, a->in[k]);
        }
        sweep_put(t, ")");
        break;
    case N_REDUCE:
    case N_SCAN: say_fold(t, p, a); break;
    default: say_view(t, p, a); break;
    }
}

static void say_leaf(text *t, const leaf *l)
{
    sweep_put(t, " (");
    for (int k = 0; k < l->rank; k++)
        sweep_put(t, "%s%lld", k ? "," : "", (long long)l->n[k]);
    sweep_put(t, ")");
    for (int k = 0; k < l->rank; k++)
        sweep_put(t, "%s%lld", k ? "," : "/", (long long)l->stride[k]);
}

char *sweep_text(const program *p)
{
    text t = { 0 };

    for (int k = 0; k < p->n_roots; k++) {
        sweep_put(&t, "%s", k ? ", " : "");
        say(&t, p, p->root[k]);
    }
    for (int k = 0; k < p->n_leaves; k++) {
        sweep_put(&t, "%s x%d %s", k ? "," : ";", k, sweep_dtype(p->leaves[k].type)->name);
        say_leaf(&t, &p->leaves[k]);
    }
    return t.at;
}

/* ---- Work ------------------------------------------------------------------------------------ */
static double work(const node *a, bool *seen)
{
    double sum = 0;

    if (!a || seen[a->id])
        return 0;
    seen[a->id] = true;
    for (int k = 0; k < a->arity; k++)
        sum += work(a->in[k], seen);
    sum += work(a->where, seen) + work(a->weights, seen);
    return sum + (a->kind == N_REDUCE || a->kind == N_SCAN ? (double)sweep_elements(a->in[0]) : 0);
}

/* Elements that reductions, scans and results visit. */
double sweep_work(const program *p)
{
    bool   seen[MOST_NODES] = { false };
    double sum              = 0;

    for (int k = 0; k < p->n_roots; k++) {
        const node *r = p->loops_root[k] ? p->loops_root[k] : p->root[k];

        sum += work(r, seen) + (double)sweep_elements(r);
    }
    return sum;
}
