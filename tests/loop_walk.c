/* loop_walk.c - some rounds of a loop of a tree, run without data. */
#include "loop_walk.h"
#include "suite.h"

typedef struct walking {
    walk    *to;
    int64_t *axis;
    bool     inside, done, unknown;
    int64_t  round, at[WALK_DEPTH];
    int32_t  depth;
} walking;

static int64_t position(const walking *w, const rd_linear *at, bool *known)
{
    const rd_schedule *t   = w->to->t;
    int64_t            sum = at->offset;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis < 0)
            *known = false;
        else
            sum += term->coef * w->axis[term->axis];
    }
    return sum;
}

/* ---- What statements touch -------------------------------------------------------------------- */
static void add(walking *w, touch one)
{
    walk *to = w->to;

    if (to->n == WALK_TOUCHES) {
        to->full = w->done = true;
        return;
    }
    one.round = w->round;
    one.depth = w->depth;
    memcpy(one.inside, w->at, sizeof one.inside);
    to->touch[to->n++] = one;
}

static void touch_memory(walking *w, int32_t stmt)
{
    rd_access     access[2];
    const int32_t n = rd_accesses_of(w->to->t, stmt, access);

    for (int32_t k = 0; k < n; k++) {
        touch one = { stmt, k, access[k].writes, true, .n = access[k].n };

        one.at = position(w, &access[k].at, &one.known);
        add(w, one);
    }
}

static void touch_states(walking *w, int32_t stmt)
{
    const rd_stmt *s   = &w->to->t->stmt[stmt];
    const rd_fold *f   = &w->to->t->p->fold[s->fold];
    touch          one = { stmt, -1, true, true, .n = 1, .lane = -1 };

    one.at = position(w, &s->fold_at.cell, &one.known);
    if (s->kind == RD_S_BEGIN)
        one.n = f->n_cell;
    if (s->kind == RD_S_STEP || s->kind == RD_S_PREFIX) {
        const int64_t lane  = position(w, &s->fold_at.lane, &one.known),
                      outer = position(w, &s->fold_at.lane_line, &one.known);

        one.lane = lane % f->lanes;
        one.step = outer * rd_rows_of_lanes(f) + lane / f->lanes;
    }
    add(w, one);
}

/* ---- Loops ------------------------------------------------------------------------------------ */
static void run_body(walking *w, int32_t body);

static int64_t edge(walking *w, const rd_edge *edge, bool greatest)
{
    int64_t found = 0;
    bool    known = true;

    for (int32_t k = 0; k < edge->n; k++) {
        const int64_t at = position(w, &edge->part[k].at, &known);

        if (k == 0 || (greatest ? at > found : at < found))
            found = at;
    }
    w->unknown |= !known;
    return found;
}

static void run_round(walking *w, int32_t stmt, int64_t from, int64_t to, int64_t round)
{
    const rd_for *l    = rd_loop_of(w->to->t, stmt);
    const int64_t here = l->backwards ? to - 1 - round * l->step : from + round * l->step;

    if (l->stop_mark >= 0)
        w->axis[l->stop_mark] = here + l->step < to ? here + l->step : to;
    if (l->start_mark >= 0)
        w->axis[l->start_mark] = here;
    w->axis[l->axis] = here;
    if (stmt == w->to->loop)
        w->round = round;
    else if (w->inside)
        w->at[w->depth - 1] = round;
    run_body(w, stmt);
}

static void run_loop(walking *w, int32_t stmt)
{
    const rd_for *l    = rd_loop_of(w->to->t, stmt);
    const int64_t from = edge(w, &l->from, true), to = edge(w, &l->to, false);
    const int64_t n    = l->step > 0 ? (to - from + l->step - 1) / l->step : 0,
                  kept = w->axis[l->axis];
    const bool is_it   = stmt == w->to->loop;

    w->unknown |= l->step <= 0 || w->depth == WALK_DEPTH;
    if (w->unknown)
        return;
    w->inside |= is_it;
    w->depth += w->inside && !is_it;
    for (int64_t round = 0; round < n && !w->done && !w->unknown; round++)
        if (round < 3 || round == n / 2 || round == n - 1)
            run_round(w, stmt, from, to, round);
    w->depth -= w->inside && !is_it;
    w->done |= is_it;
    w->axis[l->axis] = kept;
}

static void run_body(walking *w, int32_t body)
{
    const rd_schedule *t = w->to->t;

    for (int32_t s = t->stmt[body].first; s >= 0 && !w->done && !w->unknown; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_LOOP)
            run_loop(w, s);
        else if (w->inside && t->stmt[s].fold >= 0 && t->stmt[s].kind != RD_S_EXIT)
            touch_states(w, s);
        else if (w->inside)
            touch_memory(w, s);
}

bool walk_loop(walk *to, const rd_schedule *t, int32_t loop)
{
    const rd_program *p = t->p;
    walking           w = { .to = to, .axis = calloc((size_t)t->n_axis + 1, sizeof *w.axis) };

    *to = (walk){ .t = t, .loop = loop };
    if (p->root >= 0)
        w.axis[p->n_axis + RD_MARK_HI] = p->axis_extent[p->root];
    for (int k = 0; k < RD_N_PARTS && !w.done && !w.unknown; k++)
        run_body(&w, t->part[k]);
    free(w.axis);
    return !w.unknown;
}

/* ---- Conflicts -------------------------------------------------------------------------------- */
static bool states_conflict(const rd_schedule *t, const touch *a, const touch *b)
{
    const rd_stmt *s = &t->stmt[a->stmt], *r = &t->stmt[b->stmt];
    const rd_fold *f     = &t->p->fold[s->fold];
    const int64_t  apart = s->label >= 0 || r->label >= 0 ? f->group_stride : INT64_MAX;
    const bool     all   = s->kind == RD_S_BEGIN || r->kind == RD_S_BEGIN;

    if (s->fold != r->fold || (!all && a->known && b->known && a->at % apart != b->at % apart) ||
        (a->lane >= 0 && b->lane >= 0 && a->lane != b->lane))
        return false;
    return !(f->law == RD_LAW_exact && !f->scan && !f->first && a->lane >= 0 && b->lane >= 0);
}

bool walk_conflict(const walk *w, const touch *a, const touch *b)
{
    rd_access x[2], y[2];

    if (a->which < 0 || b->which < 0)
        return a->which < 0 && b->which < 0 && states_conflict(w->t, a, b);
    if (!a->writes && !b->writes)
        return false;
    rd_accesses_of(w->t, a->stmt, x);
    rd_accesses_of(w->t, b->stmt, y);
    return rd_may_alias(w->t, &x[a->which], &y[b->which]) &&
           (!a->known || !b->known || (a->at < b->at + b->n && b->at < a->at + a->n));
}
