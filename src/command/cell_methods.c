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
typedef struct reduction {
    const cmd_variable *v;
    bool                reduced[RD_MAX_RANK], all, weighted, kept; /* kept: with an extent of 1 */
    long                window; /* neighbours of rolling_; 0: none */
} reduction;

static void skip_value(cursor *c)
{
    while (*c->p && !strchr(",)", *c->p))
        c->p = strchr("([", *c->p) ? cmd_behind_bracket(c->p + 1) : c->p + 1;
}

static void take_keyword(cursor *c, reduction *r)
{
    static const char *const harmless[] = { "keepdims", "ddof",     "dtype", "accuracy",
                                            "weights",  "skip_nan", NULL };
    const char *const        keyword    = take_name(c);

    c->good &= take(c, '=');
    if (strcmp(keyword, "axis") == 0) {
        r->all = false;
        take_axes(c, r->v, r->reduced);
        return;
    }
    r->kept |= strcmp(keyword, "keepdims") == 0;
    r->weighted |= strcmp(keyword, "weights") == 0;
    c->good &= is_among(keyword, harmless);
    skip_value(c);
}

/* The comment in a cell method.  CF has no words for windows, which have the coordinate of their first element. */
static const char *comment_text(const reduction *r)
{
    return r->window ? cmd_text(" (comment: of %ld neighbours, from the coordinate on)", r->window)
           : r->weighted ? " (comment: weighted)"
                         : "";
}

/* An axis that is gone is no dimension of the result, and has the name that CF has for it. */
static const char *name_of(const cmd_axis *axis, bool kept)
{
    static const struct {
        const char *standard, *units;
    } names[] = { { "latitude", " degrees_north degree_north degrees_N degree_N " },
                  { "longitude", " degrees_east degree_east degrees_E degree_E " },
                  { "time", NULL } };

    for (size_t k = 0; k < sizeof names / sizeof *names && !kept; k++)
        if (axis->standard
                ? strcmp(axis->standard, names[k].standard) == 0
                : axis->units && names[k].units && cmd_is_listed(names[k].units, axis->units))
            return names[k].standard;
    return axis->name;
}

static const char *method_text(const reduction *r, const char *method)
{
    const char *text = "";

    for (int a = 0; a < r->v->shape.n; a++)
        if (r->all || r->reduced[a]) {
            const cmd_axis *axis = &r->v->axis[a];
            if (!axis->name)
                return NULL;
            text = cmd_text("%s%s: ", text, name_of(axis, r->kept));
        }
    return *text ? cmd_text("%s%s%s", text, method, comment_text(r)) : NULL;
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
    static const char rolling[] = "rolling_";
    cursor            c         = { cmd_right_side(statement), true };
    const char       *name      = take_name(&c);
    const bool        rolls     = strncmp(name, rolling, strlen(rolling)) == 0;
    const char       *method    = method_of(rolls ? name + strlen(rolling) : name);
    reduction         r         = { .v = &k->v, .all = true };

    if (!method || !take(&c, '(') || strcmp(take_name(&c), k->name) != 0)
        return NULL;
    r.window = rolls ? take_window(&c) : 0;
    while (c.good && take(&c, ','))
        take_keyword(&c, &r);
    c.good &= take(&c, ')');
    skip_blanks(&c);
    if (rolls && r.all) { /* the first axis, where none is said */
        r.all        = false;
        r.reduced[0] = true;
    }
    return c.good && !*c.p ? method_text(&r, method) : NULL;
}
