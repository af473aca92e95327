/* cost.c - the price of computing a group of kept values in one loop nest. */
#include "eval/place.h"
#include <math.h>

enum { MAX_GROUP = 4096 };

static double points(const rd_placing *p, rd_set axes)
{
    return (double)rd_points_of(p->graph, axes);
}

static const rd_value *value_of(const rd_placing *p, int anchor)
{
    return &p->graph->value[p->list[anchor].value];
}

static int in_group(const rd_placing *p, int n, const int32_t *group, int value)
{
    int number = p->number[value];

    if (number >= 0)
        for (int i = 0; i < n; i++)
            if (group[i] == number)
                return i;
    return -1;
}

/* A reader comes in a later phase if the value is complete only when a loop inside `shared` has ended. */
static bool closes_first(const rd_value *m, const rd_use *use, rd_set shared)
{
    return (rd_reduced(m) & ~shared) || (m->axes & ~shared & ~use->same);
}

static void find_phases(const rd_placing *p, int n, const int32_t *group, rd_set shared, int *phase)
{
    for (int i = 0; i < n; i++) {
        const rd_anchor *a = &p->list[group[i]];

        phase[i] = 0;
        for (int u = 0; u < a->n_use; u++) {
            int m = in_group(p, n, group, a->use[u].value), after;

            if (m < 0 || m == i)
                continue;
            after = phase[m] + closes_first(&p->graph->value[a->use[u].value], &a->use[u], shared);
            if (after > phase[i])
                phase[i] = after;
        }
    }
}

/* The axis along which neighbours of a value lie side by side in memory, -1: none. */
static int unit_axis(const rd_value *v)
{
    if (v->kind == RD_VALUE_READ && v->target < 0) {
        for (int t = 0; t < v->at[0].n_term; t++)
            if (v->at[0].term[t].axis >= 0 && (v->at[0].term[t].coef == 1 || v->at[0].term[t].coef == -1))
                return v->at[0].term[t].axis;
        return -1;
    }
    return v->n_dim ? v->dim[v->n_dim - 1] : -1;
}

/* Bytes of value m that one iteration of the shared loops touches in two phases; a column counts whole lines wide. */
static double held_bytes(const rd_placing *p, const rd_value *m, rd_set shared)
{
    rd_set inner = m->axes & ~shared;
    int    unit  = unit_axis(m);

    if (!inner)
        return 0;
    return rd_dtype_size(m->type) * points(p, inner) * (unit >= 0 && rd_in(shared, unit) ? RD_PANEL : 1);
}

typedef struct touched {
    int32_t value;
    int     first, last; /* phases */
} touched;

static int note(touched *list, int n, int value, int phase)
{
    for (int i = 0; i < n; i++)
        if (list[i].value == value) {
            list[i].first = phase < list[i].first ? phase : list[i].first;
            list[i].last  = phase > list[i].last ? phase : list[i].last;
            return n;
        }
    list[n] = (touched){ value, phase, phase };
    return n + 1;
}

static bool read_outside(const rd_placing *p, int n, const int32_t *group, int value)
{
    for (int a = 0; a < p->n; a++)
        for (int u = 0; u < p->list[a].n_use; u++)
            if (p->list[a].use[u].value == value && in_group(p, n, group, p->list[a].value) < 0)
                return true;
    return false;
}

static bool spaces_differ(const rd_placing *p, int n, const int32_t *group)
{
    for (int i = 1; i < n; i++)
        if (rd_space(value_of(p, group[i])) != rd_space(value_of(p, group[0])))
            return true;
    return false;
}

/* Accumulators that do not stay in registers come back for every panel of x: from cache, or from memory if they are
 * many.  This is what keeps a pair's distance from being summed along its features for all pairs at once. */
static double accumulator_cost(const rd_placing *p, const rd_value *m, rd_set shared, int x)
{
    double cells = points(p, m->axes & ~shared), sweeps = (double)p->graph->axis[x].extent / RD_PANEL;

    if (!(m->axes & ~shared))
        return 0;
    return cells * sweeps *
           (cells * rd_dtype_size(m->type) > RD_HALF_L2 ? RD_PRICE_READ + RD_PRICE_WRITE : 2 * RD_PRICE_NEAR);
}

double rd_group_cost(const rd_placing *p, int n, const int32_t *group, rd_set shared, int x)
{
    bool     near = (shared & (shared - 1)) != 0, differ = spaces_differ(p, n, group);
    int      uses = 0, n_list = 0, *phase;
    double   cost = 0, held = 0;
    touched *list;

    for (int i = 0; i < n; i++)
        uses += p->list[group[i]].n_use + 1;
    phase = rd_pool_get(p->graph->pool, (size_t)(n + 1) * sizeof *phase);
    list  = rd_pool_get(p->graph->pool, (size_t)(uses + 1) * sizeof *list);
    if (!phase || !list)
        return HUGE_VAL;
    find_phases(p, n, group, shared, phase);
    for (int i = 0; i < n; i++) {
        const rd_anchor *a = &p->list[group[i]];

        n_list = note(list, n_list, a->value, phase[i]);
        for (int u = 0; u < a->n_use; u++)
            n_list = note(list, n_list, a->use[u].value, phase[i]);
    }
    for (int i = 0; i < n_list; i++) {
        const rd_value *m     = &p->graph->value[list[i].value];
        bool            again = list[i].first != list[i].last;
        int             at    = in_group(p, n, group, list[i].value);

        if (again)
            held += held_bytes(p, m, shared);
        if (at < 0)
            cost += points(p, m->axes) * (near ? RD_PRICE_NEAR : RD_PRICE_READ);
        else if (m->out >= 0 || m->into >= 0 || read_outside(p, n, group, list[i].value))
            cost += points(p, m->axes) * (near ? RD_PRICE_NEAR : RD_PRICE_WRITE);
        else if (again && (m->axes & ~shared))
            cost += points(p, m->axes) * RD_PRICE_NEAR;
        if (at >= 0 && rd_in(rd_reduced(m), x) && differ)
            cost += accumulator_cost(p, m, shared, x);
    }
    return held > RD_HALF_L2 ? HUGE_VAL : cost;
}
