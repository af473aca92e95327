/* growth.c - seconds for an element against the number of elements, from 10^2 to 10^8: an SVG with
 * a panel for each row, and a list of the places where the curve jumps.
 *
 * A jump is a time for an element of more than 1.3 times that of the size before, 10^(1/4) times
 * smaller, unless the data outgrow a cache between the two. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST       = 2,
    LAST        = 8,
    STEPS       = 4,
    SIZES       = (LAST - FIRST) * STEPS + 1,
    MOST_CASES  = 16,
    MOST_PANELS = 16
};
static const double JUMP = 1.3;

/* ---- Measuring ------------------------------------------------------------------------------- */
typedef struct place {
    double points, seconds, bytes;
    bool   jump;
} place;

typedef struct curve {
    const bench_case *of;
    int               n;
    place             at[SIZES];
} curve;

typedef struct panel {
    const char *row;
    int         n;
    curve       curve[MOST_CASES];
} panel;

static panel panels[MOST_PANELS];

/* Some cases cannot be so small or so large: a row of softmax is never cut. */
static bool measure(const bench_case *c, rd_dtype type, const bench_options *o,
                    const hand_isa *hand, double points, place *at)
{
    const bench_limits none = { .threads = o->threads[0] };
    bench_options      here = *o;
    bench_result       r;

    here.no_hand = true;
    here.reps    = o->reps ? o->reps : 5;
    here.scale   = points / bench_points(c, 1);
    at->points   = bench_points(c, here.scale);
    if (at->points < points / 1.2 || at->points > points * 1.2 ||
        !bench_run(c, type, &here, hand, &none, &r))
        return false;
    at->seconds = r.times.least;
    at->bytes   = r.work.read + r.work.written;
    return true;
}

/* The largest first, so that memory for inputs is taken once. */
static void follow(curve *v, rd_dtype type, const bench_options *o, const hand_isa *hand)
{
    for (int k = SIZES - 1; k >= 0; k--)
        if (measure(v->of, type, o, hand, pow(10, FIRST + (double)k / STEPS),
                    &v->at[SIZES - 1 - v->n]))
            v->n++;
    memmove(v->at, v->at + SIZES - v->n, (size_t)v->n * sizeof *v->at);
}

/* ---- Jumps ----------------------------------------------------------------------------------- */
/* In bytes; 0: not known.  Of a virtual machine the C library may be told what all of the host
 * has. */
static double cache_size(int level)
{
    static const int names[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE };
    char             path[80], text[32] = "", *unit;
    FILE            *file;
    double           size = 0;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size",
             level == 1 ? 0 : level);
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file)) {
        size = strtod(text, &unit);
        size *= *unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1;
    }
    if (file)
        fclose(file);
    return size > 0 ? size : (double)sysconf(names[level - 1]);
}

/* Caches empty and fill gradually: from half a cache to twice as much. */
static bool outgrows_a_cache(double before, double after)
{
    for (int level = 1; level <= 3; level++) {
        const double size = cache_size(level);

        if (size > 0 && before < 2 * size && after > size / 2)
            return true;
    }
    return false;
}

static int find_jumps(curve *v, rd_dtype type)
{
    int n = 0;

    for (int k = 1; k < v->n; k++) {
        place       *now = &v->at[k], *last = &v->at[k - 1];
        const double ratio = now->seconds / now->points / (last->seconds / last->points);

        now->jump = ratio > JUMP && !outgrows_a_cache(last->bytes, now->bytes);
        if (!now->jump)
            continue;
        printf("%-4s %-14s %s: %.2f times the time for an element from %.3g to %.3g elements\n",
               v->of->row, v->of->name, bench_type_name(type), ratio, last->points, now->points);
        n++;
    }
    return n;
}

/* ---- Drawing --------------------------------------------------------------------------------- */
enum { ACROSS = 3, WIDTH = 400, HEIGHT = 300, LEFT = 62, RIGHT = 104, TOP = 26, BOTTOM = 30 };

typedef struct frame {
    double x, y, low, high; /* place on the page; decimal logarithms of ns */
} frame;

static double across(const frame *f, double points)
{
    return f->x + LEFT + (log10(points) - FIRST) / (LAST - FIRST) * (WIDTH - LEFT - RIGHT);
}

static double down(const frame *f, double ns)
{
    return f->y + HEIGHT - BOTTOM -
           (log10(ns) - f->low) / (f->high - f->low) * (HEIGHT - TOP - BOTTOM);
}

static double ns_of(const place *at)
{
    return 1e9 * at->seconds / at->points;
}

static frame frame_of(const panel *p, int number)
{
    frame f = { .x    = number % ACROSS * WIDTH,
                .y    = number / ACROSS * HEIGHT,
                .low  = INFINITY,
                .high = -INFINITY };

    for (int c = 0; c < p->n; c++)
        for (int k = 0; k < p->curve[c].n; k++) {
            f.low  = fmin(f.low, floor(log10(ns_of(&p->curve[c].at[k]))));
            f.high = fmax(f.high, ceil(log10(ns_of(&p->curve[c].at[k]))));
        }
    if (!(f.low < f.high)) {
        f.low  = isfinite(f.low) ? f.low : 0;
        f.high = f.low + 1;
    }
    return f;
}

static void draw_axes(FILE *out, const panel *p, const frame *f)
{
    fprintf(out, "<text x='%g' y='%g' font-weight='bold'>%s</text>\n", f->x + LEFT, f->y + TOP - 10,
            p->row);
    for (int d = FIRST; d <= LAST; d++)
        fprintf(out,
                "<path d='M%.1f %.1fV%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
                "text-anchor='middle'>1e%d</text>\n",
                across(f, pow(10, d)), f->y + TOP, f->y + HEIGHT - BOTTOM, across(f, pow(10, d)),
                f->y + HEIGHT - BOTTOM + 14, d);
    for (int d = (int)f->low; d <= (int)f->high; d++)
        fprintf(out,
                "<path d='M%.1f %.1fH%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
                "text-anchor='end'>%g ns</text>\n",
                f->x + LEFT, down(f, pow(10, d)), f->x + WIDTH - RIGHT, f->x + LEFT - 4,
                down(f, pow(10, d)) + 4, pow(10, d));
}

static void draw_curve(FILE *out, const curve *v, const frame *f, int number)
{
    static const char *const colours[] = { "#1f77b4", "#d62728", "#2ca02c", "#ff7f0e",
                                           "#9467bd", "#8c564b", "#e377c2", "#17becf",
                                           "#bcbd22", "#000000", "#7f7f7f", "#aa8800" };
    const char              *colour = colours[(size_t)number % (sizeof colours / sizeof *colours)];

    fprintf(out, "<text x='%g' y='%g' fill='%s'>%s</text>\n", f->x + WIDTH - RIGHT + 6,
            f->y + TOP + 8 + 14 * number, colour, v->of->name);
    fprintf(out, "<polyline fill='none' stroke='%s' stroke-width='1.5' points='", colour);
    for (int k = 0; k < v->n; k++)
        fprintf(out, "%.1f,%.1f ", across(f, v->at[k].points), down(f, ns_of(&v->at[k])));
    fprintf(out, "'/>\n");
    for (int k = 0; k < v->n; k++)
        if (v->at[k].jump)
            fprintf(
                out,
                "<circle cx='%.1f' cy='%.1f' r='4' fill='none' stroke='red' stroke-width='2'/>\n",
                across(f, v->at[k].points), down(f, ns_of(&v->at[k])));
}

static void draw(FILE *out, int n)
{
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='11'>\n"
            "<title>rdim: time for an element by number of elements</title>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            ACROSS * WIDTH, (n + ACROSS - 1) / ACROSS * HEIGHT);
    for (int k = 0; k < n; k++) {
        const frame f = frame_of(&panels[k], k);

        draw_axes(out, &panels[k], &f);
        for (int c = 0; c < panels[k].n; c++)
            draw_curve(out, &panels[k].curve[c], &f, c);
    }
    fprintf(out, "</svg>\n");
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* Where a case belongs; NULL: it has one size only, or there is no room. */
static curve *curve_for(const bench_case *c, int *n)
{
    panel *p = panels;

    if (c->how != HOW_PLAN || c->in[0].scaled == 0)
        return NULL;
    while (p < panels + *n && strcmp(p->row, c->row) != 0)
        p++;
    if (p == panels + MOST_PANELS || p->n == MOST_CASES)
        return NULL;
    p->row = c->row;
    *n += p == panels + *n;
    p->curve[p->n] = (curve){ .of = c };
    return &p->curve[p->n++];
}

bool bench_growth(const bench_options *o, const hand_isa *hand)
{
    FILE *out = fopen(o->growth, "w");
    int   n = 0, jumps = 0;

    if (!out) {
        perror(o->growth);
        return false;
    }
    for (const bench_case *const *table = bench_tables(); *table; table++)
        for (const bench_case *c = *table; c->row; c++) {
            const rd_dtype type = c->type                          ? c->type
                                  : bench_listed(o->dtypes, "f32") ? RD_F32
                                                                   : RD_F64;
            curve         *v    = bench_listed(o->rows, c->row) && bench_listed(o->cases, c->name)
                                      ? curve_for(c, &n)
                                      : NULL;

            if (!v)
                continue;
            follow(v, type, o, hand);
            jumps += find_jumps(v, type);
        }
    printf("%d jumps\n", jumps);
    draw(out, n);
    return fclose(out) == 0;
}
