/* search.c - hill climbing on the error.
 *
 * The error of a function is a smooth bound times something as good as random.  So a search looks at
 * points in every binade and near all points where something special happens, keeps the worst, and
 * moves each by steps of all sizes, from one unit in the last place to whole binades, to wherever the
 * error is greater.  Each round half of the points are left, with twice the steps. */
#include "accuracy.h"
#include "accuracy/starts.h"
#include <stdlib.h>

enum { CLIMBERS = 256, ROUNDS = 7 };

typedef struct search {
    const function *f;
    accuracy_random random;
    long            looked;
    point           best[CLIMBERS]; /* a heap would be faster; the reference takes the time */
    int             n, least;       /* how many, and which is the least of them */
} search;

/* ---- Climbing -------------------------------------------------------------------------------- */
static double look(search *s, point *p)
{
    if (s->random.is_f32) {
        p->x = accuracy_as_float(p->x);
        p->y = accuracy_as_float(p->y);
    }
    s->looked++;
    p->ulps = accuracy_error(s->f, s->random.is_f32, p->x, p->y);
    return p->ulps;
}

static void keep(search *s, point p)
{
    if (s->n < CLIMBERS) {
        s->best[s->n++] = p;
        s->least        = 0;
    } else if (p.ulps > s->best[s->least].ulps) {
        s->best[s->least] = p;
    } else {
        return;
    }
    for (int i = 0; i < s->n; i++)
        if (s->best[i].ulps < s->best[s->least].ulps)
            s->least = i;
}

static void climb(search *s, point *p, long steps)
{
    for (long k = 0; k < steps; k++) {
        const int which = s->f->of_1 ? 1 : 1 + (int)(accuracy_bits(&s->random) % 3);
        point     next  = *p;

        next.x = which & 1 ? accuracy_step(&s->random, p->x) : p->x;
        next.y = which & 2 ? accuracy_step(&s->random, p->y) : p->y;
        if (look(s, &next) > p->ulps)
            *p = next;
    }
}

static int by_ulps(const void *a, const void *b)
{
    const double x = ((const point *)a)->ulps, y = ((const point *)b)->ulps;

    return (x < y) - (x > y);
}

point accuracy_search(const function *f, bool is_f32, long budget, uint64_t seed, long *looked)
{
    search s = { .f = f, .random = { seed * 2 + 88172645463325253, is_f32 } };

    for (long i = 0; i < budget / 2; i++) {
        point p = { 0 };

        p.x = f->of_1 ? accuracy_start_1(&s.random, i) : accuracy_start_2(&s.random, i, &p.y);
        look(&s, &p);
        keep(&s, p);
    }
    for (int round = 0, n = s.n; round < ROUNDS; round++, n = (n + 1) / 2) {
        for (int i = 0; i < n; i++)
            climb(&s, &s.best[i], budget / 2 / ROUNDS / n);
        qsort(s.best, (size_t)s.n, sizeof *s.best, by_ulps);
    }
    if (looked)
        *looked = s.looked;
    return s.best[0];
}
