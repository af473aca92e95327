/* cell_methods.c - the CF attribute cell_methods of a result that is one reduction of a whole
 * variable.
 *
 *     mean(tas, axis='time')            gives        "time: mean"
 *     rolling_mean(tas, 3, axis=0)      gives        "time: mean (comment: of 3 neighbours, ...)"
 *
 * Any other statement has no such attribute. */
#include "cell_methods.h"
#include "join.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Reducers of formulas, and CF's words for them. */
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

/* The position of the scanner in the statement; `good`: all was understood so far. */
typedef struct cursor {
    const char *p;
    bool        good;
} cursor;

/* Moves the cursor in the statement to the next character that is no blank. */
static void skip_blanks(cursor *c)
{
    while (isspace((unsigned char)*c->p))
        c->p++;
}

/* Skips blanks, and then the character `wanted` if it comes next. True if so. */
static bool take(cursor *c, char wanted)
{
    skip_blanks(c);
    const bool there = *c->p == wanted;
    c->p += there;
    return there;
}

/* Reads a name of letters, digits and underscores; "" if there is none. */
static const char *take_name(cursor *c)
{
    skip_blanks(c);
    const char *from = c->p;
    while (isalnum((unsigned char)*c->p) || *c->p == '_')
        c->p++;
    return cmd_copy(from, (size_t)(c->p - from));
}

/* Finds CF's word for a reducer of formulas ("minimum" for "min"), with or without nan in front.
 * NULL: CF has none. */
static const char *method_of(const char *reducer)
{
    if (strncmp(reducer, "nan", 3) == 0)
        reducer += 3;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        if (strcmp(methods[k].reducer, reducer) == 0)
            return methods[k].method;
    return NULL;
}

/* True if the name is in the list, which ends with NULL. */
static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* ---- Axes ------------------------------------------------------------------------------------ */
/* Reads an axis of v, 0, -1, time or 'time', and marks it in reduced[]. Negative numbers count from
 * the last axis. c->good becomes false if there is no such axis. */
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

/* Reads one axis of v, or a list of axes in brackets, "(0, 'lat')", and marks them in reduced[].
 * c->good becomes false if the list is not understood. */
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
/* A reduction of the variable v, as the text of the statement says it. */
typedef struct reduction {
    const cmd_variable *v;
    bool reduced[RD_MAX_RANK], all, weighted, kept; /* kept: axes stay, of extent 1 */
    long window;                                    /* length of the windows of rolling_; 0: none */
} reduction;

/* Skips the value of a keyword, up to a comma or the closing parenthesis. Brackets inside are
 * skipped as a whole. */
static void skip_value(cursor *c)
{
    while (*c->p && !strchr(",)", *c->p))
        c->p = strchr("([", *c->p) ? cmd_behind_bracket(c->p + 1) : c->p + 1;
}

/* Reads a keyword and its value. An unknown keyword makes the statement not understood (c->good
 * false). The harmless ones do not change the method. */
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

/* Returns the comment of a cell method, or "". CF has no words for windows of rolling reductions;
 * each has the coordinate of its first element. */
static const char *comment_text(const reduction *r)
{
    return r->window ? cmd_text(" (comment: of %ld neighbours, from the coordinate on)", r->window)
           : r->weighted ? " (comment: weighted)"
                         : "";
}

/* Returns the name of an axis in a cell method. If the axis is gone from the result (not kept), it
 * is the CF name of its quantity, such as "time", by its standard name or units. */
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

/* Writes the cell method, "time: lat: mean", with all axes that are reduced. NULL: one of them has
 * no name, or none is reduced. */
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

/* Reads the length of the windows, the second argument of rolling_mean(tas, 3). c->good becomes
 * false if there is none above 0. */
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

/* Parses the statement as reducer(variable, keywords), such as mean(tas, axis='time'), and writes
 * its cell method, "time: mean". NULL: the statement is anything else, or its variable is not k. */
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
    if (rolls && r.all) { /* the default is the first axis */
        r.all        = false;
        r.reduced[0] = true;
    }
    return c.good && !*c.p ? method_text(&r, method) : NULL;
}
