/* nest.c - one nest of loops for a group of stages: a policy orders the axes; an accumulator is
 * a scalar where the loops that reduce are the inner ones, else an element of an array. */
#include "loops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing --------------------------------------------------------------------------------- */
typedef struct nest {
    writer      *w;
    const stage *s[MOST_STAGES];
    int          n_stages, rank, order[MOST_RANK], split;
    place        at;
    int scalar_from[MOST_STAGES]; /* the loop before which its accumulators are made; -1: arrays */
    accumulator acc[MOST_STAGES][2];
    char       *var[MOST_STAGES][2];
    int         n_acc[MOST_STAGES];
    bool        clauses;
} nest;

static void open_loop(nest *t, int axis)
{
    const char     *i = t->at[axis];
    const long long n = t->s[0]->n[axis];

    if (strcmp(i, "0") == 0 || t->s[0]->fused[axis] >= 0)
        return;
    if (axis == t->split)
        sweep_line(t->w, "for (int64_t %s = lo; %s < hi; %s++) {", i, i, i);
    else
        sweep_line(t->w, "for (int64_t %s = 0; %s < %lld; %s++) {", i, i, n, i);
}

static void close_loop(nest *t, int axis)
{
    if (strcmp(t->at[axis], "0") != 0 && t->s[0]->fused[axis] < 0)
        sweep_line(t->w, "}");
}

static char *offset_of(nest *t, const stage *s)
{
    char *sum = NULL;

    for (int k = 0; k < s->rank; k++) {
        const char *i = t->at[k];

        if (!s->stride[k] || strcmp(i, "0") == 0)
            continue;
        if (s->of->kind == N_SCAN && k == s->of->axis && s->of->reverse)
            i = sweep_own(t->w, "(%lld - %s)", (long long)s->n[k] - 1, i);
        sum = sum ? sweep_own(t->w, "%s + %s * %lld", sum, i, (long long)s->stride[k])
                  : sweep_own(t->w, "%s * %lld", i, (long long)s->stride[k]);
    }
    return sum ? sum : sweep_own(t->w, "0");
}

static char *result_of(nest *t, const stage *s)
{
    return s->root >= 0 ? sweep_own(t->w, "y%d[%s]", s->root, offset_of(t, s))
                        : sweep_own(t->w, "t%d[%s]", s->of->id, offset_of(t, s));
}

/* Kept loops first, all others after them: from there on accumulators are scalars. */
static int scalars_from(const nest *t, const stage *s)
{
    int k = t->rank - 1, from;

    while (k >= 0 &&
           (!s->kept[t->order[k]] || s->n[t->order[k]] == 1 || s->fused[t->order[k]] >= 0))
        k--;
    for (from = k + 1; k >= 0; k--)
        if (!s->kept[t->order[k]] && s->n[t->order[k]] > 1)
            return -1;
    return from;
}

static bool is_fold(const stage *s)
{
    return s->of->kind == N_REDUCE || s->of->kind == N_SCAN;
}

/* An accumulator in an array is the result itself where it has its type; else a temporary. */
static void array_accumulators(nest *t, int i)
{
    const stage *s      = t->s[i];
    const char  *type   = sweep_dtype(s->of->type)->c;
    const bool   halves = sweep_dtype(s->of->type)->size == 2 && sweep_dtype(s->of->type)->is_float;
    const int    own    = s->of->fold == F_ARGMIN || s->of->fold == F_ARGMAX ? 1 : 0;

    for (int k = 0; k < t->n_acc[i]; k++) {
        if (k == own && s->of->kind == N_REDUCE && strcmp(type, t->acc[i][k].type) == 0 &&
            !(halves && s->root >= 0)) {
            t->var[i][k] = result_of(t, s);
            continue;
        }
        temporary *a    = &t->w->arrays[t->w->n_arrays++];
        stage      like = *s;
        int64_t    n    = 1;

        for (int q = s->rank - 1; q >= 0; q--) {
            like.stride[q] = s->kept[q] && s->fused[q] < 0 ? n : 0;
            n *= like.stride[q] ? s->n[q] : 1;
        }
        snprintf(a->name, sizeof a->name, "a%d_%d", s->of->id, k);
        a->type      = t->acc[i][k].type;
        a->n         = n;
        t->var[i][k] = sweep_own(t->w, "%s[%s]", a->name, offset_of(t, &like));
    }
}

static void kept_loops(nest *t, int i, bool finish)
{
    const stage *s = t->s[i];
    char        *end;

    for (int k = 0; k < s->rank; k++)
        if (s->kept[k])
            open_loop(t, k);
    if (!finish)
        for (int k = 0; k < t->n_acc[i]; k++)
            sweep_line(t->w, "%s = %s;", t->var[i][k], t->acc[i][k].init);
    else {
        end = sweep_finish(t->w, s->of, t->var[i]);
        sweep_line(t->w, "%s = %s;", result_of(t, s), sweep_stored(t->w, s->of, end));
    }
    for (int k = s->rank - 1; k >= 0; k--)
        if (s->kept[k])
            close_loop(t, k);
}

static void scalar_accumulators(nest *t, int i)
{
    for (int k = 0; k < t->n_acc[i]; k++)
        sweep_line(t->w, "%s %s = %s;", t->acc[i][k].type, t->var[i][k], t->acc[i][k].init);
}

static void scan_step(nest *t, int i)
{
    const stage *s = t->s[i];
    place        at;
    char        *value;

    memcpy(at, t->at, sizeof at);
    if (s->of->reverse && s->n[s->of->axis] > 1)
        at[s->of->axis] =
            sweep_own(t->w, "(%lld - %s)", (long long)s->n[s->of->axis] - 1, at[s->of->axis]);
    value = sweep_stored(t->w, s->of, sweep_finish(t->w, s->of, t->var[i]));
    if (s->of->exclusive)
        sweep_line(t->w, "%s = %s;", result_of(t, s), value);
    sweep_step(t->w, s->of, at, t->var[i]);
    if (!s->of->exclusive)
        sweep_line(t->w, "%s = %s;", result_of(t, s), value);
}

/* The stage's own value: not what it stores. */
static char *map_value(nest *t, const stage *s)
{
    const int index = t->w->stage_of[s->of->id];
    char     *value;

    t->w->stage_of[s->of->id] = -1;
    value                     = sweep_value(t->w, s->of, t->at);
    t->w->stage_of[s->of->id] = index;
    return value;
}

static void body(nest *t)
{
    for (int i = 0; i < t->n_stages; i++) {
        const stage *s = t->s[i];
        char        *value;

        if (s->of->kind == N_SCAN)
            scan_step(t, i);
        else if (is_fold(s))
            sweep_step(t->w, s->of, t->at, t->var[i]);
        else {
            value = map_value(t, s);
            sweep_line(t->w, "%s = %s;", result_of(t, s), sweep_stored(t->w, s->of, value));
        }
    }
}

static void prepare(nest *t)
{
    for (int i = 0; i < t->n_stages; i++) {
        t->scalar_from[i] = is_fold(t->s[i]) ? scalars_from(t, t->s[i]) : t->rank + 1;
        if (!is_fold(t->s[i]))
            continue;
        t->n_acc[i] = sweep_accumulators(t->w, t->s[i]->of, t->acc[i]);
        for (int k = 0; k < t->n_acc[i] && t->scalar_from[i] >= 0; k++)
            t->var[i][k] = sweep_own(t->w, "s%d_%d", t->s[i]->of->id, k);
        if (t->scalar_from[i] < 0) {
            array_accumulators(t, i);
            kept_loops(t, i, false);
        }
    }
}

/* `#pragma omp parallel for reduction(...)` where all stages come to single numbers; false: it
 * cannot be said. */
static void clauses(nest *t)
{
    text line = { 0 };

    sweep_put(&line, "#pragma omp parallel for num_threads(threads)");
    for (int i = 0; i < t->n_stages; i++)
        for (int k = 0; k < t->n_acc[i]; k++)
            sweep_put(&line, " reduction(%s:%s)", t->acc[i][k].clause, t->var[i][k]);
    sweep_line(t->w, "%s", line.at);
    free(line.at);
}

static void close_scalars(nest *t, int loop)
{
    for (int i = 0; i < t->n_stages; i++)
        if (t->scalar_from[i] == loop && t->s[i]->of->kind == N_REDUCE) {
            char *end = sweep_finish(t->w, t->s[i]->of, t->var[i]);

            sweep_line(t->w, "%s = %s;", result_of(t, t->s[i]),
                       sweep_stored(t->w, t->s[i]->of, end));
        }
}

static void write_loops(nest *t)
{
    bool first = t->clauses;

    for (int q = 0; q <= t->rank; q++) {
        for (int i = 0; i < t->n_stages; i++)
            if (t->scalar_from[i] == q)
                scalar_accumulators(t, i);
        if (q == t->rank)
            break;
        if (first && strcmp(t->at[t->order[q]], "0") != 0) {
            clauses(t);
            first = false;
        }
        open_loop(t, t->order[q]);
    }
    body(t);
    close_scalars(t, t->rank);
    for (int q = t->rank - 1; q >= 0; q--) {
        close_loop(t, t->order[q]);
        close_scalars(t, q);
    }
}

void sweep_write_group(writer *w, int group, bool with_clauses)
{
    nest t = { .w       = w,
               .clauses = with_clauses,
               .split   = w->how.fused && w->n_fused ? -1 : sweep_split_axis(w, group) };

    for (int k = 0; k < w->n_stages; k++)
        if (w->stages[k].group == group)
            t.s[t.n_stages++] = &w->stages[k];
    t.rank = t.s[0]->rank;
    sweep_group_order(w, group, t.order);
    for (int k = 0; k < t.rank; k++) {
        const int f = t.s[0]->fused[k];

        t.at[k] = t.s[0]->n[k] == 1 ? "0"
                  : f >= 0          ? sweep_own(w, "f%d", f)
                                    : sweep_own(w, "i%d", k);
    }
    prepare(&t);
    write_loops(&t);
    for (int i = 0; i < t.n_stages; i++)
        if (is_fold(t.s[i]) && t.scalar_from[i] < 0 && t.s[i]->of->kind == N_REDUCE) {
            char *end = sweep_finish(w, t.s[i]->of, t.var[i]), *to = result_of(&t, t.s[i]);

            if (strcmp(end, to) != 0)
                kept_loops(&t, i, true);
        }
}
