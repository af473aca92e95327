/* convert.c - units of values: which units a result has, and conversion of operands.
 *
 * Units are known for variables of files, and for results of functions that keep units. A
 * difference of two values has no zero: 1 K warmer is 1 degC warmer. An instant is a time with
 * units "... since ...". */
#include "convert.h"
#include "quantities.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The units of a result of the formula; a list, the newest first. */
struct cmd_valued {
    rd_expr          *x;
    const char       *units, *calendar;
    bool              difference;
    const cmd_valued *older;
};

/* ---- Conversion ------------------------------------------------------------------------------ */
/* Converts x to other units by (x + before) * times / by + after. Ints stay ints if the conversion
 * is a whole shift below 9e15, which doubles hold exactly. Other ints become f64; floats are
 * computed in f64 and keep their type. */
rd_expr *cmd_convert(rd_ctx *ctx, rd_expr *x, const cmd_turn *conversion)
{
    const rd_dtype type  = rd_type_of(x);
    const double   shift = conversion->before + conversion->after;
    const bool     ints  = !cmd_is_float(type) && type != RD_C64 && type != RD_C128;

    if (conversion->times == conversion->by && shift == 0)
        return x;
    if (conversion->times == conversion->by && ints && shift == rint(shift) && fabs(shift) < 9e15)
        return rd_add(x, rd_int(ctx, (int64_t)shift));
    if (cmd_is_float(type) || ints)
        x = rd_cast(x, RD_F64);
    if (conversion->before != 0)
        x = rd_add(x, rd_num(ctx, conversion->before));
    if (conversion->times != 1)
        x = rd_mul(x, rd_num(ctx, conversion->times));
    if (conversion->by != 1)
        x = rd_div(x, rd_num(ctx, conversion->by));
    if (conversion->after != 0)
        x = rd_add(x, rd_num(ctx, conversion->after));
    return cmd_is_float(type) ? rd_cast(x, type) : x;
}

/* ---- What is known of values ----------------------------------------------------------------- */
/* Returns what is known about a variable of a file. Only coordinates of an axis have a calendar. */
static cmd_valued of_variable(const cmd_variable *v)
{
    return (cmd_valued){ .x        = v->x,
                         .units    = v->units,
                         .calendar = v->is_axis && v->shape.n ? v->axis[0].calendar : NULL };
}

/* Finds what is known about the units of x, or of the expression that its elements come from: a
 * result of a function, or a variable. Units NULL: nothing is known. */
static cmd_valued find_valued(const cmd_inputs *in, rd_expr *x)
{
    rd_expr *const of = rd_elements_of(x);

    for (const cmd_valued *v = in->valued; v; v = v->older)
        if (v->x == x || v->x == of)
            return *v;
    for (int k = 0; k < in->n_known; k++)
        if (of && rd_elements_of(in->known[k].v.x) == of)
            return of_variable(&in->known[k].v);
    return (cmd_valued){ 0 };
}

/* True if values in these units are times, "days since ...". */
static bool is_instant(const char *units)
{
    return strcasestr(units, " since ") != NULL;
}

/* Functions with a result in the units of the operands from number `from` on. */
static const struct keeper {
    const char *name;
    int         from;
    bool        several;    /* any of these operands may have units; else only the first */
    bool        difference; /* the result is a difference, without a zero */
} keepers[] = {
    { "mean", 0, 0, 0 },        { "min", 0, 0, 0 },          { "max", 0, 0, 0 },
    { "median", 0, 0, 0 },      { "quantile", 0, 0, 0 },     { "percentile", 0, 0, 0 },
    { "first", 0, 0, 0 },       { "last", 0, 0, 0 },         { "mode", 0, 0, 0 },
    { "minmax", 0, 0, 0 },      { "sort", 0, 0, 0 },         { "roll", 0, 0, 0 },
    { "flip", 0, 0, 0 },        { "rolling_mean", 0, 0, 0 }, { "rolling_min", 0, 0, 0 },
    { "rolling_max", 0, 0, 0 }, { "where", 1, 1, 0 },        { "minimum", 0, 1, 0 },
    { "maximum", 0, 1, 0 },     { "fmin", 0, 1, 0 },         { "fmax", 0, 1, 0 },
    { "clip", 0, 1, 0 },        { "nan_to_num", 0, 0, 0 },   { "std", 0, 0, 1 },
    { "diff", 0, 0, 1 },        { "rolling_std", 0, 0, 1 },  { "add", 0, 1, 0 },
    { "sub", 0, 1, 1 },
};

/* Finds the entry of a function that keeps units; NULL: the function does not. */
static const struct keeper *keeper_called(const char *name)
{
    for (size_t k = 0; k < sizeof keepers / sizeof *keepers; k++)
        if (strcmp(keepers[k].name, name) == 0)
            return &keepers[k];
    return NULL;
}

/* Finds the units of a sum or a difference (minus). Both operands must have units: tas + 273.15 has
 * unknown ones. A value plus a difference is a value; a value minus a value is a difference,
 * without a zero. Sums of times ("days since ...") have no units here. */
static cmd_valued units_of_sum(const cmd_inputs *in, bool minus, rd_expr *const *x)
{
    const cmd_valued a = find_valued(in, x[0]), b = find_valued(in, x[1]);
    cmd_valued       sum = a;

    if (!a.units || !b.units || is_instant(a.units) || is_instant(b.units))
        return (cmd_valued){ 0 };
    sum.difference = minus ? a.difference == b.difference : a.difference && b.difference;
    return sum;
}

/* Remembers the units of y, which the function `name` made of n operands: those of the first
 * operand with units, from number k->from on, or of that operand alone (not k->several). Units of y
 * that are known already stay. */
void cmd_units_made(void *user, rd_expr *y, const char *name, int n, rd_expr *const *x)
{
    cmd_inputs          *in   = user;
    const struct keeper *k    = keeper_called(name);
    cmd_valued           made = { 0 };
    const bool           sum  = k && n == 2 && (!strcmp(name, "add") || !strcmp(name, "sub"));

    for (int i = k ? k->from : n; i < n && !made.units && !sum; i++) {
        if (x[i])
            made = find_valued(in, x[i]);
        if (!k->several)
            break;
    }
    if (sum)
        made = units_of_sum(in, k->difference, x);
    if (!made.units || (k->difference && is_instant(made.units)) || find_valued(in, y).units)
        return;
    made.difference |= k->difference && !sum;
    cmd_valued *const v = cmd_room(sizeof *v);
    *v                  = made;
    v->x                = y;
    v->older            = in->valued;
    in->valued          = v;
}

/* ---- Operands that are added or compared ----------------------------------------------------- */
/* Warns that values in two units are combined that do not convert (told), or of which nobody knows
 * whether they do. */
static void warn_of_units(cmd_inputs *in, const cmd_valued *a, const cmd_valued *b, bool told)
{
    const char *sentence =
        cmd_text("values in %s and in %s are added, subtracted or compared, and %s%s; "
                 "--units=ignore says that this is meant",
                 a->units, b->units, told ? "do not convert" : "nobody knows whether they convert",
                 cmd_units_hint());

    cmd_warn_once(in, sentence);
}

/* Converts *y, times in units "days since ...", to the units and the calendar of a. False: they do
 * not convert, and `why` says so. */
static bool convert_instants(rd_ctx *ctx, const cmd_valued *a, const cmd_valued *b, rd_expr **y,
                             char *why)
{
    cmd_turn conversion;

    if (cmd_units_meet(a->units, a->calendar, b->units, b->calendar, &conversion)) {
        *y = cmd_convert(ctx, *y, &conversion);
        return *y != NULL;
    }
    snprintf(why, RD_WHY, "one is in '%s'%s%s, the other in '%s'%s%s: these do not convert",
             a->units, a->calendar ? " of the calendar " : "", a->calendar ? a->calendar : "",
             b->units, b->calendar ? " of the calendar " : "", b->calendar ? b->calendar : "");
    return false;
}

/* Converts *y to the units of *x before they are added or compared. False: refused; `why` says the
 * reason. A conversion with another zero (s.plus), as of K and degC, is refused unless *x or *y is
 * a difference, which has no zero. */
bool cmd_units_alike(void *user, rd_expr **x, rd_expr **y, char *why)
{
    cmd_inputs      *in = user;
    const cmd_valued a = find_valued(in, *x), b = find_valued(in, *y);
    cmd_scaling      s;

    if (in->ignore_units || !a.units || !b.units)
        return true;
    if (is_instant(a.units) && is_instant(b.units))
        return convert_instants(in->ctx, &a, &b, y, why);
    const cmd_relation found = cmd_relate_units(b.units, a.units, &s);
    if (found != CMD_CONVERTS) {
        if (found != CMD_SAME_UNITS)
            warn_of_units(in, &a, &b, found == CMD_DIFFERS);
        return true;
    }
    if (s.plus != 0 && !a.difference && !b.difference) {
        snprintf(
            why, RD_WHY,
            "one is in %s, the other in %s, which counts from another zero.  Say which is meant: "
            "times %.15g, plus %.15g, if these are values; --units=ignore takes the numbers as "
            "they are",
            a.units, b.units, s.times, s.plus);
        return false;
    }
    *y = cmd_convert(in->ctx, *y, &(cmd_turn){ .times = s.times, .by = 1 });
    return *y != NULL;
}
