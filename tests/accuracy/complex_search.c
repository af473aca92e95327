/* complex_search.c - hill climbing on the error of functions of complex numbers.
 *
 * As search.c does it, with both parts of an operand, or of two.  The worst points of each way to
 * begin climb together, so that they are not all of one region. */
#include "accuracy/complex.h"
#include "accuracy/starts.h"
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
enum { WAYS = 8, OF_A_WAY = COMPLEX_BATCH / WAYS, ROUNDS = 5 };

/* ---- Where to begin -------------------------------------------------------------------------- */
static double any(accuracy_random *s)
{
    return accuracy_start_1(s, (long)(accuracy_bits(s) % 8));
}

static double sign(accuracy_random *s)
{
    return accuracy_bits(s) & 1 ? -1 : 1;
}

/* 2^-most to 1. */
static double small(accuracy_random *s, double most)
{
    return sign(s) * exp2(accuracy_uniform(s, -most, 0));
}

/* Branch points, zeros and poles. */
static void near_a_point(accuracy_random *s, double *x, double *y)
{
    static const double points[][2] = {
        { 0, 0 },  { 1, 0 }, { -1, 0 },     { 0, 1 },      { 0, -1 },
        { -2, 0 }, { 2, 0 }, { PI / 2, 0 }, { 0, PI / 2 }, { 0, PI },
    };
    const double *const p = points[accuracy_bits(s) % (sizeof points / sizeof *points)];
    const double        r = small(s, 60);

    *x = p[0] + r * accuracy_uniform(s, -1, 1) * (accuracy_bits(s) % 8 ? 1 : small(s, 60));
    *y = p[1] + r * accuracy_uniform(s, -1, 1) * (accuracy_bits(s) % 8 ? 1 : small(s, 60));
}

/* Beside the unit circle, or that about -1. */
static void near_a_circle(accuracy_random *s, double *x, double *y)
{
    const double size = 1 + small(s, 55) / 2, angle = sign(s) * small(s, 60) * PI;

    *x = size * cos(angle) * sign(s) - (accuracy_bits(s) % 4 == 0);
    *y = size * sin(angle);
}

/* A part that is as good as nothing beside the other, or is. */
static void near_an_axis(accuracy_random *s, double *x, double *y)
{
    *x = any(s);
    *y = accuracy_bits(s) % 4 ? *x * small(s, 100) : copysign(0, sign(s));
}

/* Where exponentials leave the range. */
static void near_an_end(accuracy_random *s, double *x, double *y)
{
    static const double ends[2][8] = {
        { 709.782712893384, 710.4758600739439, -708.3964185322641, -745.1332191019411, 1024, -1074,
          308.25471555991674, -323.3062153431158 },
        { 88.7228391, 89.4159863, -87.3365448, -103.972077, 128, -149, 38.53184, -44.853 },
    };

    *x = accuracy_near(s, ends[s->is_f32][accuracy_bits(s) % 8]) + accuracy_uniform(s, -1, 1);
    *y = any(s);
}

static void start(accuracy_random *s, int way, double *x, double *y)
{
    const double range = s->is_f32 ? 148 : 1073, size = accuracy_uniform(s, -range, range);

    switch (way) {
    case 0: *x = any(s), *y = any(s); break;
    case 1: near_a_point(s, x, y); break;
    case 2: near_a_circle(s, x, y); break;
    case 3: near_an_axis(s, x, y); break;
    case 4:
        *x = ldexp(accuracy_uniform(s, -2, 2), (int)size);
        *y = ldexp(accuracy_uniform(s, -2, 2), (int)size);
        break;
    case 5: near_an_end(s, x, y); break;
    case 6:
        *x = accuracy_by_fraction(s, accuracy_bits(s) & 1 ? -40 : s->is_f32 ? 100 : 900);
        *y = accuracy_bits(s) & 1 ? small(s, 60) : accuracy_uniform(s, -50, 50);
        break;
    default: *x = accuracy_uniform(s, -4, 4), *y = accuracy_uniform(s, -4, 4);
    }
    if (accuracy_bits(s) & 1) {
        const double turned = *x;

        *x = *y;
        *y = turned;
    }
}

/* An exponent such that the power is of any size in the range. */
static void exponent_for(accuracy_random *s, complex_point *p)
{
    const double range = s->is_f32 ? 88 : 709, re = accuracy_uniform(s, -range, range),
                 im   = accuracy_bits(s) & 1 ? small(s, 60) * PI : accuracy_uniform(s, -50, 50),
                 size = log(hypot(p->x, p->y)), angle = atan2(p->y, p->x),
                 by = size * size + angle * angle;

    p->u = (re * size + im * angle) / by;
    p->v = (im * size - re * angle) / by;
}

/* Of two operands: any, or one near the other, in another direction. */
static complex_point start_point(accuracy_random *s, const complex_function *f, int way)
{
    complex_point p = { 0 };

    start(s, way, &p.x, &p.y);
    if (!f->of_2)
        return p;
    start(s, (int)(accuracy_bits(s) % WAYS), &p.u, &p.v);
    if (f->exact == exact_complex_pow && accuracy_bits(s) % 4) {
        exponent_for(s, &p);
    } else if (accuracy_bits(s) & 1) {
        p.u = accuracy_near(s, p.y) * sign(s);
        p.v = accuracy_near(s, p.x) * sign(s);
    }
    return p;
}

/* ---- Climbing -------------------------------------------------------------------------------- */
typedef struct climbers {
    const complex_function *f;
    complex_map            *map;
    accuracy_random         random;
    long                    looked;
    complex_point           best[COMPLEX_BATCH]; /* way after way */
} climbers;

static void keep(complex_point *best, complex_point p)
{
    int least = 0;

    for (int i = 1; i < OF_A_WAY; i++)
        if (best[i].ulps < best[least].ulps)
            least = i;
    if (p.ulps > best[least].ulps)
        best[least] = p;
}

static void look(climbers *c, int n, complex_point *p)
{
    complex_errors(c->map, n, p);
    c->looked += n;
}

static void begin(climbers *c, long points)
{
    complex_point p[COMPLEX_BATCH];

    for (long done = 0; done < points; done += COMPLEX_BATCH) {
        for (int i = 0; i < COMPLEX_BATCH; i++)
            p[i] = start_point(&c->random, c->f, i % WAYS);
        look(c, COMPLEX_BATCH, p);
        for (int i = 0; i < COMPLEX_BATCH; i++)
            keep(c->best + i % WAYS * OF_A_WAY, p[i]);
    }
}

static complex_point moved(climbers *c, complex_point p)
{
    const uint64_t which   = 1 + accuracy_bits(&c->random) % (c->f->of_2 ? 15 : 3);
    double *const  parts[] = { &p.x, &p.y, &p.u, &p.v };

    for (int k = 0; k < 4; k++)
        if (which >> k & 1)
            *parts[k] = accuracy_step(&c->random, *parts[k]);
    return p;
}

/* `steps` in all, by the n worst. */
static void climb(climbers *c, int n, long steps)
{
    complex_point p[COMPLEX_BATCH];

    for (long done = 0; done < steps; done += n) {
        for (int i = 0; i < n; i++)
            p[i] = moved(c, c->best[i]);
        look(c, n, p);
        for (int i = 0; i < n; i++)
            if (p[i].ulps > c->best[i].ulps)
                c->best[i] = p[i];
    }
}

static int by_ulps(const void *a, const void *b)
{
    const double x = ((const complex_point *)a)->ulps, y = ((const complex_point *)b)->ulps;

    return (x < y) - (x > y);
}

complex_point complex_search(complex_map *m, const complex_function *f, bool is_c64, long budget,
                             uint64_t seed, long *looked)
{
    climbers c = { .f = f, .map = m, .random = { seed * 2 + 88172645463325253, is_c64 } };

    begin(&c, budget / 2);
    for (int round = 0, n = COMPLEX_BATCH; round < ROUNDS; round++, n /= 3) {
        climb(&c, n, budget / 2 / ROUNDS);
        qsort(c.best, COMPLEX_BATCH, sizeof *c.best, by_ulps);
    }
    if (looked)
        *looked = c.looked;
    return c.best[0];
}
