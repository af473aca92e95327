/* cell_methods.c - a reduction of a whole variable, as its text says.  All else is no method of CF's, and
 * gives none. */
#include "cell_methods.h"
#include "join.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *reducer, *method;
} methods[] = {
    { "mean", "mean" },
    { "average", "mean" },
    { "min", "minimum" },
    { "max", "maximum" },
    { "sum", "sum" },
    { "median", "median" },
    { "std", "standard_deviation" },
    { "var", "variance" },
    { "ptp", "range" },
};

/* A place in the statement, and whether all was understood so far. */
typedef struct cursor {
    const char *p;
    bool        good;
} cursor;

static void skip_blanks(cursor *c)
{
    while (isspace((unsigned char)*c->p))
        c->p++;
}

static bool take(cursor *c, char wanted)
{
    skip_blanks(c);
    const bool there = *c->p == wanted;
    c->p += there;
    return there;
}

/* A name; "" if there is none. */
static const char *take_name(cursor *c)
{
    skip_blanks(c);
    const char *from = c->p;
    while (isalnum((unsigned char)*c->p) || *c->p == '_')
        c->p++;
    return cmd_copy(from, (size_t)(c->p - from));
}

static const char *method_of(const char *reducer)
{
    if (strncmp(reducer, "nan", 3) == 0)
        reducer += 3;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        if (strcmp(methods[k].reducer, reducer) == 0)
            return methods[k].method;
    return NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* ---- Axes ------------------------------------------------------------------------------------ */
/* 0, -1, time, 'time'. */
static void take_axis(cursor *c, const cmd_variable *v, bool *reduced)
{
    int axis;

    skip_blanks(c);
    if (isdigit((unsigned char)*c->p) || *c->p == '-') {
        char      *end;
        const long number = strtol(c->p, &end, 10);
        c->good &= end > c->p && number >= -v->shape.n && number < v->shape.n;
        c->p = end > c->p ? end : c->p + 1;
        axis = c->good ? (int)(number < 0 ? number + v->shape.n : number) : -1;
    } else {
        const char quote = *c->p == '\'' || *c->p == '"' ? *c->p : '\0';
        c->p += quote != '\0';
        axis = cmd_axis_called(v, take_name(c));
        c->good &= !quote || take(c, quote);
    }
    c->good &= axis >= 0;
    if (c->good)
        reduced[axis] = true;
}

static void take_axes(cursor *c, const cmd_variable *v, bool *reduced)
{
    const bool many = take(c, '(') || take(c, '[');

    do {
        skip_blanks(c);
        if (many && strchr(")]", *c->p))
            break;
        take_axis(c, v, reduced);
    } while (many && c->good && take(c, ','));
    if (many)
        c->good &= take(c, ')') || take(c, ']');
}

/* ---- Arguments ------------------------------------------------------------------------------- */
static void skip_value(cursor *c)
{
    while (*c->p && !strchr(",)", *c->p))
        c->p = strchr("([", *c->p) ? cmd_behind_bracket(c->p + 1) : c->p + 1;
}

static void take_keyword(cursor *c, const cmd_variable *v, bool *reduced, bool *all, bool *weighted)
{
    static const char *const harmless[] = { "keepdims", "ddof",     "dtype", "accuracy",
                                            "weights",  "skip_nan", NULL };
    const char *const        keyword    = take_name(c);

    c->good &= take(c, '=');
    if (strcmp(keyword, "axis") == 0) {
        *all = false;
        take_axes(c, v, reduced);
        return;
    }
    *weighted |= strcmp(keyword, "weights") == 0;
    c->good &= is_among(keyword, harmless);
    skip_value(c);
}

/* What the method says of itself: CF has no words for windows, which have the coordinate of their first element. */
static const char *comment_text(bool weighted, long window)
{
    return window     ? cmd_text(" (comment: of %ld neighbours, from the coordinate on)", window)
           : weighted ? " (comment: weighted)"
                      : "";
}

static const char *method_text(const cmd_variable *v, const bool *reduced, bool all,
                               const char *method, const char *comment)
{
    const char *text = "";

    for (int a = 0; a < v->shape.n; a++)
        if (all || reduced[a]) {
            if (!v->axis[a].name)
                return NULL;
            text = cmd_text("%s%s: ", text, v->axis[a].name);
        }
    return *text ? cmd_text("%s%s%s", text, method, comment) : NULL;
}

/* The second argument of rolling_mean(tas, 3). */
static long take_window(cursor *c)
{
    char *end;

    c->good &= take(c, ',');
    skip_blanks(c);
    const long n = strtol(c->p, &end, 10);
    c->good &= end > c->p && n > 0;
    c->p = end;
    return n;
}

const char *cmd_cell_method(const char *statement, const cmd_known *k)
{
    static const char rolling[]            = "rolling_";
    cursor            c                    = { cmd_right_side(statement), true };
    const char       *name                 = take_name(&c);
    const bool        rolls                = strncmp(name, rolling, strlen(rolling)) == 0;
    const char       *method               = method_of(rolls ? name + strlen(rolling) : name);
    bool              reduced[RD_MAX_RANK] = { false }, all = true, weighted = false;

    if (!method || !take(&c, '(') || strcmp(take_name(&c), k->name) != 0)
        return NULL;
    const long window = rolls ? take_window(&c) : 0;
    while (c.good && take(&c, ','))
        take_keyword(&c, &k->v, reduced, &all, &weighted);
    c.good &= take(&c, ')');
    skip_blanks(&c);
    if (rolls && all) { /* the first axis, where none is said */
        all        = false;
        reduced[0] = true;
    }
    return c.good && !*c.p
               ? method_text(&k->v, reduced, all, method, comment_text(weighted, window))
               : NULL;
}
