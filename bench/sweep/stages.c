/* stages.c - which nodes of a program get loops of their own, what loops they share, and where
 * their results lie. */
#include "loops.h"
#include <stdio.h>
#include <string.h>

/* ---- Finding --------------------------------------------------------------------------------- */
static void loops_of(stage *s)
{
    const node *a = s->of, *x = a->kind == N_REDUCE || a->kind == N_SCAN ? a->in[0] : a;

    s->rank = x->rank;
    for (int k = 0; k < x->rank; k++) {
        s->n[k]     = x->n[k];
        s->kept[k]  = x == a || !(a->dims >> k & 1);
        s->fused[k] = -1;
    }
}

static void add(writer *w, node *a, int root)
{
    stage *s = &w->stages[w->n_stages];

    if (w->stage_of[a->id] >= 0) { /* a result that others use */
        w->stages[w->stage_of[a->id]].root = root >= 0 ? root : w->stages[w->stage_of[a->id]].root;
        return;
    }
    if (w->n_stages == MOST_STAGES) {
        w->failed = true;
        return;
    }
    *s = (stage){ .of = a, .root = root };
    loops_of(s);
    w->stage_of[a->id] = w->n_stages++;
}

/* Is it computed once for each element of what uses it?  Then it may stand there. */
static bool inlines(const writer *w, const node *r, int64_t uses)
{
    return w->how.inlined && r->kind == N_REDUCE && uses <= sweep_elements(r);
}

static void visit(writer *w, node *a, int64_t uses, bool *seen)
{
    const bool folds = a->kind == N_REDUCE || a->kind == N_SCAN, again = seen[a->id];
    const bool own = folds || (a->stored && !w->how.inlined);

    seen[a->id] = true;
    if (own && (again || !inlines(w, a, uses)))
        w->inlined[a->id] = false;
    else if (own && !again)
        w->inlined[a->id] = true;
    if (again)
        return;
    if (folds)
        uses = sweep_elements(a->in[0]);
    else if (own)
        uses = sweep_elements(a);
    for (int k = 0; k < a->arity; k++)
        visit(w, a->in[k], a->kind == N_CONCAT ? INT64_MAX : uses, seen);
    if (a->where)
        visit(w, a->where, uses, seen);
    if (a->weights)
        visit(w, a->weights, uses, seen);
}

static void collect(writer *w, node *a, bool *seen)
{
    if (seen[a->id])
        return;
    seen[a->id] = true;
    for (int k = 0; k < a->arity; k++)
        collect(w, a->in[k], seen);
    if (a->where)
        collect(w, a->where, seen);
    if (a->weights)
        collect(w, a->weights, seen);
    if ((a->kind == N_REDUCE || a->kind == N_SCAN || (a->stored && !w->how.inlined)) &&
        !w->inlined[a->id])
        add(w, a, -1);
}

/* ---- Shared loops ---------------------------------------------------------------------------- */
/* Which axis of the program's result each loop of the stages follows: -1 none or unknown.  A
 * stage that is reached in two ways must be reached alike. */
typedef struct trace {
    writer *w;
    int     result[MOST_STAGES][MOST_RANK]; /* by axis of the stage's result */
    bool    met[MOST_STAGES];
} trace;

static void follow(trace *t, const node *a, const int *axes);

static void follow_stage(trace *t, const node *a, const int *axes, int s)
{
    int  of[MOST_RANK], k, at = 0;
    bool fold = a->kind == N_REDUCE || a->kind == N_SCAN, changed = !t->met[s];

    for (k = 0; k < a->rank; k++) {
        const int now = t->met[s] && t->result[s][k] != axes[k] ? -1 : axes[k];

        changed         = changed || now != t->result[s][k];
        t->result[s][k] = now;
    }
    t->met[s] = true;
    if (!changed)
        return;
    if (!fold)
        return;
    for (k = 0; k < a->in[0]->rank; k++) {
        const bool reduced = a->dims >> k & 1;

        of[k] = reduced ? -1 : t->result[s][a->kind == N_SCAN || a->keep ? k : at];
        at += !reduced;
    }
    follow(t, a->in[0], of);
    if (a->where)
        follow(t, a->where, of + a->in[0]->rank - a->where->rank);
    if (a->weights)
        follow(t, a->weights, of + a->in[0]->rank - a->weights->rank);
}

static void follow(trace *t, const node *a, const int *axes)
{
    int       of[MOST_RANK + 1], k;
    const int s = t->w->stage_of[a->id];

    if (s >= 0)
        follow_stage(t, a, axes, s);
    if (a->kind == N_REDUCE || a->kind == N_SCAN) {
        if (s < 0) { /* inlined: as if it had a stage */
            int at = 0;

            for (k = 0; k < a->in[0]->rank; k++) {
                of[k] = a->dims >> k & 1 ? -1 : axes[a->keep ? k : at];
                at += !(a->dims >> k & 1);
            }
            follow(t, a->in[0], of);
        }
        return;
    }
    for (int i = 0; i < a->arity; i++) {
        const node *x = a->in[i];

        for (k = 0; k < x->rank; k++)
            of[k] = -1;
        if (a->kind == N_MAP || a->kind == N_CAST)
            for (k = 0; k < x->rank; k++)
                of[k] = x->n[k] == 1 ? -1 : axes[k + a->rank - x->rank];
        if (a->kind == N_PERMUTE)
            for (k = 0; k < x->rank; k++)
                of[a->order[k]] = axes[k];
        if (a->kind == N_EXPAND || a->kind == N_SELECT)
            for (k = 0; k < x->rank; k++)
                of[k] = a->kind == N_EXPAND ? axes[k + (k >= a->axis)]
                        : k == a->axis      ? -1
                                            : axes[k - (k > a->axis)];
        follow(t, x, of);
    }
}

/* Axes of the result that every stage follows, in one loop each. */
static void share_loops(writer *w)
{
    static const int plain[MOST_RANK] = { 0, 1, 2, 3, 4, 5 };
    trace            t                = { .w = w };

    for (int k = 0; k < w->p->n_roots; k++)
        follow(&t, w->root[k], plain);
    for (int q = 0; q < w->root[0]->rank; q++) {
        bool all = w->root[0]->n[q] > 1;

        for (int s = 0; s < w->n_stages; s++) {
            int found = 0;

            for (int k = 0; k < w->stages[s].of->rank; k++)
                found +=
                    t.met[s] && t.result[s][k] == q && w->stages[s].of->n[k] == w->root[0]->n[q];
            if (w->stages[s].of->kind == N_SCAN && t.result[s][w->stages[s].of->axis] == q)
                found = 0;
            all = all && found == 1;
        }
        if (all)
            w->fused[w->n_fused++] = q;
    }
    for (int s = 0; s < w->n_stages; s++)
        for (int k = 0, at = 0; k < w->stages[s].rank; k++) {
            stage     *g    = &w->stages[s];
            const bool axis = g->kept[k] || g->of->keep || g->of->kind == N_SCAN;

            for (int f = 0; f < w->n_fused && g->kept[k]; f++)
                if (t.result[s][at] == w->fused[f])
                    g->fused[k] = f;
            at += axis;
        }
}

/* ---- Groups, places in memory ---------------------------------------------------------------- */
static bool depends(const node *a, const node *b)
{
    if (a == b)
        return true;
    for (int k = 0; k < a->arity; k++)
        if (depends(a->in[k], b))
            return true;
    return (a->where && depends(a->where, b)) || (a->weights && depends(a->weights, b));
}

static bool joins(const writer *w, const stage *s, int group)
{
    for (int k = 0; k < w->n_stages; k++) {
        const stage *o = &w->stages[k];

        if (o == s || o->group != group)
            continue;
        if (s->of->kind != N_REDUCE || o->of->kind != N_REDUCE || s->rank != o->rank ||
            depends(s->of, o->of))
            return false;
        if (memcmp(s->n, o->n, sizeof s->n) != 0 ||
            memcmp(s->fused, o->fused, sizeof s->fused) != 0)
            return false;
    }
    return true;
}

static void group(writer *w)
{
    for (int k = 0; k < w->n_stages; k++)
        w->stages[k].group = -1;
    for (int k = 0; k < w->n_stages; k++) {
        stage *s = &w->stages[k];

        s->group = k > 0 && w->how.grouped && joins(w, s, w->n_groups - 1) ? w->n_groups - 1
                                                                           : w->n_groups++;
    }
}

static void place_result(writer *w, stage *s)
{
    int64_t    n     = 1;
    const bool scans = s->of->kind == N_SCAN;

    for (int k = s->rank - 1; k >= 0; k--) {
        const bool there = s->kept[k] || scans;

        s->stride[k] = there && (s->root >= 0 || s->fused[k] < 0) ? n : 0;
        if (s->stride[k])
            n *= s->n[k];
    }
    if (s->root < 0) {
        temporary *t = &w->arrays[w->n_arrays++];

        snprintf(t->name, sizeof t->name, "t%d", s->of->id);
        t->type = sweep_dtype(s->of->type)->c;
        t->n    = n;
    }
}

void sweep_find_stages(writer *w)
{
    bool seen[MOST_NODES] = { false }, again[MOST_NODES] = { false };

    memset(w->stage_of, -1, sizeof w->stage_of);
    for (int k = 0; k < w->p->n_roots; k++)
        visit(w, w->root[k], sweep_elements(w->root[k]), seen);
    for (int k = 0; k < w->p->n_roots; k++)
        w->inlined[w->root[k]->id] = false;
    for (int k = 0; k < w->p->n_roots; k++) {
        collect(w, w->root[k], again);
        add(w, w->root[k], k);
    }
    if (w->how.fused)
        share_loops(w);
    group(w);
    for (int k = 0; k < w->n_stages; k++)
        place_result(w, &w->stages[k]);
}
