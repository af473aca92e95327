/* complex_rows.c - what main.c is asked for, of complex functions: searches, the table, the test. */
#include "accuracy/complex.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 768, LINE = 400 };

static const struct {
    const char *name, *text;
} measures[] = {
    [LARGER] = { "LARGER", "larger part" },
    [PARTS]  = { "PARTS", "each part" },
    [SIZE]   = { "SIZE", "modulus" },
    [GROWS]  = { "GROWS", "larger part, per 1 + \\|w\\|" },
    [NORMAL] = { "NORMAL", "larger part, if not tiny" },
    [TINY]   = { "TINY", "larger part, if tiny" },
};

static const struct known {
    const char     *name, *type;
    complex_measure measure;
    complex_point   at;
    const char     *points;
} known[] = {
#define RD_COMPLEX_POINT(name, measure, type, x, y, u, v, points) \
    { #name, #type, measure, { x, y, u, v, 0 }, points },
#include "accuracy/complex_points.def"
#undef RD_COMPLEX_POINT
    { 0 },
};
enum { KNOWN = (int)(sizeof known / sizeof *known) - 1 };

static const char *type_of(bool is_c64)
{
    return is_c64 ? "c64" : "c128";
}

static double bound_of(const complex_function *f, bool is_c64)
{
    return is_c64 ? f->c64 : f->c128;
}

static bool is_known_of(const struct known *k, const complex_function *f, bool is_c64)
{
    return k->measure == f->measure && strcmp(k->name, f->name) == 0 &&
           strcmp(k->type, type_of(is_c64)) == 0;
}

/* The row's first point is the worst. */
static const struct known *known_of(const complex_function *f, bool is_c64)
{
    for (int i = 0; i < KNOWN; i++)
        if (is_known_of(&known[i], f, is_c64))
            return &known[i];
    return NULL;
}

static complex_point measured(complex_map *m, complex_point at)
{
    complex_errors(m, 1, &at);
    return at;
}

/* ---- Each row of a table ---------------------------------------------------------------------- */
typedef int row_of(complex_map *m, const complex_function *f, bool is_c64, const void *context);

/* How many rows fail, of those that are asked for. */
static int each_row(row_of *row, char **names, const void *context)
{
    int failed = 0;

    for (int i = 0; i < 2 * complex_functions_n; i++) {
        const complex_function *f      = &complex_functions[i / 2];
        const bool              is_c64 = i % 2 == 0;
        char                  **name   = names;

        while (name && *name && strcmp(*name, f->name) != 0)
            name++;
        if (names && *names && !*name)
            continue;
        rd_ctx      *ctx = rd_ctx_new(NULL);
        complex_map *m   = complex_begin(ctx, f, is_c64);
        failed += m ? row(m, f, is_c64, context) : 1;
        if (m)
            complex_end(m);
        rd_ctx_free(ctx);
    }
    return failed;
}

/* ---- Searches -------------------------------------------------------------------------------- */
static int search_row(complex_map *m, const complex_function *f, bool is_c64, const void *budget)
{
    long          looked;
    complex_point p = complex_search(m, f, is_c64, *(const long *)budget, 1, &looked);

    for (int i = 0; i < KNOWN; i++)
        if (is_known_of(&known[i], f, is_c64)) {
            const complex_point q = measured(m, known[i].at);

            p = q.ulps > p.ulps ? q : p;
        }
    printf("RD_COMPLEX_POINT(%s, %s, %s, %a, %a, %a, %a, \"%.2g million\") /* %.3f of %g */\n",
           f->name, measures[f->measure].name, type_of(is_c64), p.x, p.y, p.u, p.v,
           (double)looked / 1e6, p.ulps, bound_of(f, is_c64));
    fflush(stdout);
    return 0;
}

int complex_search_all(long budget, char **names)
{
    return each_row(search_row, names, &budget);
}

/* ---- The table and the test ------------------------------------------------------------------- */
static void row_text(char text[LINE], complex_map *m, const complex_function *f, bool is_c64,
                     const struct known *k)
{
    char second[128] = "";

    if (f->of_2)
        snprintf(second, sizeof second, " and %a, %a", k->at.u, k->at.v);
    snprintf(text, LINE, "| `%s` | %s | %s | %g | %.3f | %a, %a%s | %s |", f->name,
             measures[f->measure].text, k->type, bound_of(f, is_c64), measured(m, k->at).ulps,
             k->at.x, k->at.y, second, k->points);
}

static int table_row(complex_map *m, const complex_function *f, bool is_c64, const void *context)
{
    const struct known *k = known_of(f, is_c64);
    char                text[LINE];

    (void)context;
    if (k) {
        row_text(text, m, f, is_c64, k);
        puts(text);
    }
    return 0;
}

void complex_print_table(void)
{
    printf("| function | counted | type | bound, ulp | largest error found | at | points |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    each_row(table_row, NULL, NULL);
}

static int too_far(const complex_function *f, bool is_c64, complex_point p, const char *what)
{
    if (p.ulps <= bound_of(f, is_c64))
        return 0;
    printf("%s %s, %s: %s: %.3f ulp at %a, %a and %a, %a, beyond the bound of %g\n", f->name,
           type_of(is_c64), measures[f->measure].text, what, p.ulps, p.x, p.y, p.u, p.v,
           bound_of(f, is_c64));
    return 1;
}

static int check_row(complex_map *m, const complex_function *f, bool is_c64, const void *page)
{
    const struct known *k      = known_of(f, is_c64);
    int                 failed = 0;
    char                text[LINE];

    if (!k) {
        printf("%s %s: complex_points.def has no worst point of it\n", f->name, type_of(is_c64));
        return 1;
    }
    for (int i = 0; i < KNOWN; i++)
        if (is_known_of(&known[i], f, is_c64))
            failed |= too_far(f, is_c64, measured(m, known[i].at), "a known point");
    failed |= too_far(f, is_c64, complex_search(m, f, is_c64, SHORT, 7, NULL), "a short search");
    row_text(text, m, f, is_c64, k);
    if (!strstr(page, text)) {
        printf("%s %s: the page lacks the row\n%s\n", f->name, type_of(is_c64), text);
        failed = 1;
    }
    return failed;
}

int complex_check(const char *page, int *rows)
{
    *rows = 2 * complex_functions_n;
    return each_row(check_row, NULL, page);
}
