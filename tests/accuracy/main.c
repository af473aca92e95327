/* main.c - accuracy: how exact the elementary functions are, by search.
 *
 *   accuracy --search POINTS [FUNCTION...]   rows of points.def: the worst point of a long search
 *   accuracy --floats [FUNCTION...]          the same for f32, of all 2^32 floats
 *   accuracy --complex POINTS [FUNCTION...]  rows of complex_points.def
 *   accuracy --table                         the tables of docs/accuracy.md, of points.def and its like
 *   accuracy --check PAGE                    the test: the bounds hold at all points of points.def and at
 *                                            what a short search finds, and PAGE has that table */
#include "accuracy.h"
#include "accuracy/complex.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SAMPLE: floats between those that the test takes of all. */
enum { SHORT = 2500, LONG_LINE = 400, SAMPLE = 16381 };

static const struct known {
    const char *name, *type;
    double      x, y;
    const char *points; /* how many were looked at */
} known[] = {
#define RD_POINT(name, type, x, y, points) { #name, #type, x, y, points },
#include "accuracy/points.def"
#undef RD_POINT
};
enum { KNOWN = (int)(sizeof known / sizeof *known) };

static const char *type_of(bool is_f32)
{
    return is_f32 ? "f32" : "f64";
}

static bool is_known_of(const struct known *k, const function *f, bool is_f32)
{
    return strcmp(k->name, f->name) == 0 && strcmp(k->type, type_of(is_f32)) == 0;
}

static bool is_asked(const function *f, char **names)
{
    if (!*names)
        return true;
    while (*names && strcmp(*names, f->name) != 0)
        names++;
    return *names != NULL;
}

/* ---- Searches by hand ------------------------------------------------------------------------ */
/* The worst point of this search, or of earlier ones where those were worse. */
static point worst_known(const function *f, bool is_f32, point worst)
{
    for (int i = 0; i < KNOWN; i++)
        if (is_known_of(&known[i], f, is_f32)) {
            const double ulps = accuracy_error(f, is_f32, known[i].x, known[i].y);

            if (ulps > worst.ulps)
                worst = (point){ known[i].x, known[i].y, ulps };
        }
    return worst;
}

static void print_point(const function *f, bool is_f32, point p, const char *points)
{
    printf("RD_POINT(%s, %s, %a, %a, \"%s\") /* %.3f of %g */\n", f->name, type_of(is_f32), p.x,
           p.y, points, p.ulps, accuracy_bound(f, is_f32));
    fflush(stdout);
}

static int search_all(long budget, char **names)
{
    for (int i = 0; i < accuracy_functions_n; i++)
        for (int k = 0; k < 2; k++) {
            const function *f = &accuracy_functions[i];
            char            points[32];
            long            looked;

            if (!is_asked(f, names))
                continue;
            const point p = accuracy_search(f, k == 0, budget, 1, &looked);
            snprintf(points, sizeof points, "%.2g million", (double)looked / 1e6);
            print_point(f, k == 0, worst_known(f, k == 0, p), points);
        }
    return 0;
}

static int search_floats(char **names)
{
    for (int i = 0; i < accuracy_functions_n; i++) {
        point p;

        if (is_asked(&accuracy_functions[i], names) &&
            accuracy_of_floats(&accuracy_functions[i], 1, &p))
            print_point(&accuracy_functions[i], true, p, "all floats");
    }
    return 0;
}

/* ---- The table ------------------------------------------------------------------------------- */
static void row_text(char text[LONG_LINE], const function *f, bool is_f32, const struct known *k)
{
    char second[64] = "";

    if (f->of_2)
        snprintf(second, sizeof second, ", %a", k->y);
    snprintf(text, LONG_LINE, "| `%s` | %s | %g | %.3f | %a%s | %s |", f->name, k->type,
             accuracy_bound(f, is_f32), accuracy_error(f, is_f32, k->x, k->y), k->x, second,
             k->points);
}

static const struct known *known_of(const function *f, bool is_f32)
{
    for (int i = 0; i < KNOWN; i++)
        if (is_known_of(&known[i], f, is_f32))
            return &known[i];
    return NULL;
}

static int print_table(void)
{
    printf("| function | type | bound, ulp | largest error found | at | points |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < accuracy_functions_n; i++)
        for (int k = 0; k < 2; k++) {
            const struct known *row = known_of(&accuracy_functions[i], k == 0);
            char                text[LONG_LINE];

            if (!row)
                continue;
            row_text(text, &accuracy_functions[i], k == 0, row);
            puts(text);
        }
    puts("");
    complex_print_table();
    return 0;
}

/* ---- The test -------------------------------------------------------------------------------- */
static char *text_of(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long  n;

    if (file && fseek(file, 0, SEEK_END) == 0 && (n = ftell(file)) >= 0) {
        rewind(file);
        text = calloc((size_t)n + 1, 1);
        if (text)
            n = (long)fread(text, 1, (size_t)n, file);
    }
    if (file)
        fclose(file);
    return text;
}

static int too_far(const function *f, bool is_f32, point p, const char *what)
{
    if (p.ulps <= accuracy_bound(f, is_f32))
        return 0;
    printf("%s %s: %s: %.3f ulp at %a, %a, beyond the bound of %g\n", f->name, type_of(is_f32),
           what, p.ulps, p.x, p.y, accuracy_bound(f, is_f32));
    return 1;
}

static int check_floats(const function *f)
{
    point p;

    if (accuracy_of_floats(f, SAMPLE, &p))
        return too_far(f, true, p, "one float of many");
    printf("%s f32: floats.c has no filter for it\n", f->name);
    return 1;
}

static int check_row(const function *f, bool is_f32, const char *page)
{
    const point         found = accuracy_search(f, is_f32, SHORT, 7, NULL);
    const struct known *k     = known_of(f, is_f32);
    const char         *type  = type_of(is_f32);
    char                text[LONG_LINE];

    if (!k) {
        printf("%s %s: points.def has no worst point of it\n", f->name, type);
        return 1;
    }
    const point worst = { k->x, k->y, accuracy_error(f, is_f32, k->x, k->y) };

    row_text(text, f, is_f32, k);
    if (!strstr(page, text)) {
        printf("%s %s: the page lacks the row\n%s\n", f->name, type, text);
        return 1;
    }
    return too_far(f, is_f32, worst, "the worst known point") +
           too_far(f, is_f32, found, "a short search") + (is_f32 && f->of_1 ? check_floats(f) : 0);
}

static int check(const char *path)
{
    char *page   = text_of(path);
    int   failed = 0, rows;

    if (!page) {
        printf("%s cannot be read\n", path);
        return 1;
    }
    for (int i = 0; i < accuracy_functions_n; i++)
        for (int k = 0; k < 2; k++)
            failed += check_row(&accuracy_functions[i], k == 0, page);
    failed += complex_check(page, &rows);
    free(page);
    printf("%d of %d rows failed\n", failed, 2 * accuracy_functions_n + rows);
    return failed != 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--search") == 0)
        return search_all(atol(argv[2]), argv + 3);
    if (argc > 2 && strcmp(argv[1], "--complex") == 0)
        return complex_search_all(atol(argv[2]), argv + 3);
    if (argc > 1 && strcmp(argv[1], "--floats") == 0)
        return search_floats(argv + 2);
    if (argc == 2 && strcmp(argv[1], "--table") == 0)
        return print_table();
    if (argc == 3 && strcmp(argv[1], "--check") == 0)
        return check(argv[2]);
    fprintf(stderr,
            "usage: accuracy --search POINTS [FUNCTION...] | --complex POINTS [FUNCTION...] | "
            "--floats [FUNCTION...] | --table | --check PAGE\n");
    return 2;
}
