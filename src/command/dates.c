/* dates.c - functions of times in formulas: month(time), season(time), monthly(time).
 *
 * Some models put a coordinate at the end of its bounds, so a mean of January has the date of
 * February 1. Its month is that of the middle of the bounds.
 *
 * A function of times is evaluated at once, as a leaf of whole numbers along the axis of the
 * times. As long as only parts of the leaf are taken, its meaning is known. Then it labels
 * groups with names and coordinates, and it is an index along axes of such groups, as in tas -
 * clim[month(time)]. An array computed of it, month(time) - 1, is an array of whole numbers as
 * all others: labels from 0, and positions. */
#include "dates.h"
#include "files/late.h"
#include "axes.h"
#include "match.h"
#include "date_parts.h"
#include "times.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A leaf that is the result of a function of times; a list, the newest first. */
struct cmd_dated {
    const cmd_date_part *part;
    rd_expr             *of, *leaf;
    cmd_axis             groups; /* the axis of its groups */
    int64_t             *value;  /* the value of each group in the leaf, ascending */
    const cmd_dated     *older;
};

/* Groups of one function: more would be an error in the times. */
enum { MOST_GROUPS = 1 << 30 };

/* Finds the function of times, such as month(time), of which x is the result or a part of it: they
 * share a leaf (input array). NULL: none. */
static const cmd_dated *dated_of(const cmd_inputs *in, rd_expr *x)
{
    rd_expr *const of = rd_elements_of(x);

    for (const cmd_dated *d = in->dated; d; d = d->older)
        if (d->leaf == of)
            return d;
    return NULL;
}

/* Returns a call of a function of times as text, "month(time)", for error messages. */
static const char *call_text(const cmd_dated *d)
{
    return cmd_text("%s(%s)", d->part->name, d->part->begins ? d->groups.name : "time");
}

/* ---- Elements of small arrays ---------------------------------------------------------------- */
/* The number of elements of x; ends the program if it overflows. */
static int64_t count_elements(rd_expr *x)
{
    const rd_shape shape = rd_shape_of(x);

    return cmd_points(&shape, RD_F64, "times");
}

/* Evaluates x as f64 or i64, both of 8 bytes, into memory that lives as long as the program. NULL:
 * it failed, and the library has recorded why. */
static void *elements_of(cmd_inputs *in, rd_expr *x, rd_dtype type)
{
    void *const at = cmd_room((size_t)count_elements(x) * 8 + 8);
    rd_array    to = { .data = at, .type = type, .shape = rd_shape_of(x) };

    cmd_read_wanted(in->ctx, RD_RESULTS({ x, NULL }));
    return rd_eval(in->ctx, rd_cast(x, type), &to) == RD_OK ? at : NULL;
}

/* Makes a leaf (input array) of the elements at[], with the shape of x and the names and
 * coordinates of its axes. */
static rd_expr *leaf_like(cmd_inputs *in, rd_expr *x, const int64_t *at)
{
    const rd_shape shape = rd_shape_of(x);
    rd_expr       *leaf = rd_leaf(in->ctx, &(rd_array){ .in = at, .type = RD_I64, .shape = shape });

    for (int k = 0; leaf && k < shape.n; k++) {
        const cmd_axis is = cmd_axis_seen(in, x, k);

        if (is.name)
            cmd_know_axis(in, leaf, k, &is);
    }
    return leaf;
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Finds the least and the greatest of n group numbers; without any, low is above high. */
static void find_range(const int64_t *number, int64_t n, int64_t *low, int64_t *high)
{
    *low  = n ? number[0] : 0;
    *high = n ? number[0] : -1;
    for (int64_t i = 1; i < n; i++) {
        *low  = number[i] < *low ? number[i] : *low;
        *high = number[i] > *high ? number[i] : *high;
    }
}

/* Describes the axis of groups, the first of which has the number `low`: their values and
 * coordinates. Periods (with begins, such as monthly) lie along the axis of times, at their first
 * instants. Parts, such as months of the year, lie along an axis with the name of the function. */
static void set_groups(cmd_dated *d, const cmd_axis *times, const cmd_since *s, int64_t low)
{
    const cmd_date_part *part = d->part;
    double              *at   = cmd_room((size_t)(d->groups.n + 1) * sizeof *at);

    d->value = cmd_room((size_t)(d->groups.n + 1) * sizeof *d->value);
    for (int64_t i = 0; i < d->groups.n; i++) {
        d->value[i] = part->shown ? part->shown(s, low + i) : low + i;
        at[i]       = part->begins ? cmd_period_begin(part, s, low + i) : (double)d->value[i];
    }
    const int64_t n  = d->groups.n;
    d->groups        = part->begins
                           ? *times
                           : (cmd_axis){ .name = part->name, .title = part->title, .words = part->words };
    d->groups.n      = n;
    d->groups.at     = at;
    d->groups.middle = NULL;
    d->groups.record = part->begins && times->record;
}

/* Makes the leaf (input array) of a function of times, such as month(time): finds the groups, and
 * replaces each number by the value that is shown for it. Without fixed groups (part->last is 0)
 * they reach from the least number to the greatest. NULL: `why`, or the library's error, says the
 * reason. */
static rd_expr *make_leaf(cmd_inputs *in, const cmd_date_part *part, rd_expr *x,
                          const cmd_axis *times, const cmd_since *s, int64_t *number, char *why)
{
    cmd_dated *d   = cmd_room(sizeof *d);
    int64_t    low = part->first, high = cmd_date_part_last(part, s->calendar);

    if (!part->last)
        find_range(number, times->n, &low, &high);
    if (high - low >= MOST_GROUPS) {
        snprintf(why, RD_WHY, "%s: from the first of these times to the last there are too many",
                 part->name);
        return NULL;
    }
    *d          = (cmd_dated){ .part = part, .of = x, .older = in->dated };
    d->groups.n = high - low + 1;
    set_groups(d, times, s, low);
    for (int64_t i = 0; i < times->n; i++)
        number[i] = d->value[number[i] - low];
    d->leaf = leaf_like(in, x, number);
    if (d->leaf)
        in->dated = d;
    return d->leaf;
}

/* ---- Functions ------------------------------------------------------------------------------- */
/* True if x holds the coordinates of its axis of times, up to a billionth of each. Any other array
 * has no dates. */
static bool is_coordinate(cmd_inputs *in, rd_expr *x, const cmd_axis *times)
{
    const double *at = times->at ? elements_of(in, x, RD_F64) : NULL;

    for (int64_t i = 0; at && i < times->n; i++)
        if (!isnan(at[i]) && !(fabs(at[i] - times->at[i]) <= 1e-9 * fabs(at[i])))
            return false;
    return at != NULL;
}

/* Checks that x is the coordinates of an axis of times, and reads their units to *s. False: `why`
 * says the reason, or the evaluation of x failed. Units of_sun, UDUNITS' months and years of 30.44
 * and 365.24 days, fit no calendar. */
static bool read_times(cmd_inputs *in, const char *name, rd_expr *x, cmd_axis *times, cmd_since *s,
                       char *why)
{
    const rd_shape shape = rd_shape_of(x);

    *times = shape.n == 1 ? cmd_axis_seen(in, x, 0) : (cmd_axis){ 0 };
    if (shape.n != 1 || !times->name || !is_coordinate(in, x, times)) {
        if (rd_error(in->ctx) == RD_OK)
            snprintf(why, RD_WHY,
                     "%s() takes the coordinates of an axis of times, as time, or a part of them, "
                     "time[3:]",
                     name);
        return false;
    }
    if (!cmd_read_since(times->units, times->calendar, s))
        snprintf(why, RD_WHY, "%s(%s): coordinates in %s%s%s are no times", name, times->name,
                 times->units ? times->units : "no units",
                 times->calendar ? " of the calendar " : "",
                 times->calendar ? times->calendar : "");
    else if (s->of_sun)
        snprintf(why, RD_WHY,
                 "%s(%s): the month and the year of '%s' are UDUNITS', of 30.44 and 365.24 days, "
                 "which are none of the calendar: days since a date can be told",
                 name, times->name, times->units);
    else
        return true;
    return false;
}

/* Evaluates a function of times, such as month(time), once for each operand. NULL: there is no such
 * function, or `why` says more. A time that ends its bounds, as of a monthly mean, counts by their
 * middle. */
rd_expr *cmd_date_function(void *user, rd_ctx *ctx, const char *name, int n, rd_expr *const *x,
                           char *why)
{
    cmd_inputs          *in   = user;
    const cmd_date_part *part = cmd_date_part_called(name);
    cmd_axis             times;
    cmd_since            s;
    cmd_moment           m;

    (void)ctx;
    if (!part)
        return NULL;
    if (n != 1) {
        snprintf(why, RD_WHY, "%s() takes one array, of times", name);
        return NULL;
    }
    for (const cmd_dated *d = in->dated; d; d = d->older)
        if (d->part == part && d->of == x[0])
            return d->leaf;
    if (!read_times(in, name, x[0], &times, &s, why))
        return NULL;
    int64_t *number = cmd_room((size_t)(times.n + 1) * sizeof *number);
    for (int64_t i = 0; i < times.n; i++) {
        if (!cmd_moment_of(&s, times.middle ? times.middle[i] : times.at[i], &m)) {
            snprintf(why, RD_WHY, "%s(%s): %.9g %s is no date", name, times.name, times.at[i],
                     times.units);
            return NULL;
        }
        number[i] = part->number(&s, &m);
    }
    return make_leaf(in, part, x[0], &times, &s, number, why);
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* Finds the group of this value among those of d, by bisection, as values ascend. -1: none. */
static int64_t group_of(const cmd_dated *d, int64_t value)
{
    int64_t low = 0, high = d->groups.n;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (d->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->groups.n && d->value[low] == value ? low : -1;
}

/* True if the labels are those of year() and season(). December and January of one calendar year
 * are parts of two winters, which such groups would mix. */
static bool has_split_winters(const cmd_inputs *in, int n, rd_expr *const *label)
{
    bool year = false, season = false;

    for (int k = 0; k < n; k++) {
        const cmd_dated *d = dated_of(in, label[k]);

        year |= d && strcmp(d->part->name, "year") == 0;
        season |= d && strcmp(d->part->name, "season") == 0;
    }
    return year && season;
}

/* Replaces group labels that are functions of times by numbers of groups from 0, and counts the
 * groups. groups[k] below 0: the user gave no number. False: `why`, or the library's error, says
 * the reason. */
bool cmd_date_labels(void *user, int n, rd_expr **label, int64_t *groups, char *why)
{
    cmd_inputs *in = user;

    if (has_split_winters(in, n, label)) {
        snprintf(why, RD_WHY,
                 "year and season: December and the January behind it would be in two groups.  Say "
                 "season_year(time), the year of that January, for year(time)");
        return false;
    }
    for (int k = 0; k < n; k++) {
        const cmd_dated *d = dated_of(in, label[k]);

        if (!d)
            continue;
        if (groups[k] >= 0 && groups[k] != d->groups.n) {
            snprintf(why, RD_WHY, "%s has %lld groups, not %lld: leave groups= out", call_text(d),
                     (long long)d->groups.n, (long long)groups[k]);
            return false;
        }
        int64_t      *at       = elements_of(in, label[k], RD_I64);
        const int64_t n_labels = count_elements(label[k]);
        for (int64_t i = 0; at && i < n_labels; i++)
            at[i] = group_of(d, at[i]);
        groups[k] = d->groups.n;
        label[k]  = at ? leaf_like(in, label[k], at) : NULL;
        if (!label[k])
            return false;
    }
    return true;
}

/* Remembers that an axis of x holds the groups of `label`, if that is a function of times: its
 * names and coordinates. */
void cmd_date_groups(void *user, rd_expr *x, int axis, rd_expr *label)
{
    cmd_inputs      *in = user;
    const cmd_dated *d  = dated_of(in, label);

    if (d && rd_shape_of(x).at[axis] == d->groups.n)
        cmd_know_axis(in, x, axis, &d->groups);
}

/* ---- Places along an axis of groups ---------------------------------------------------------- */
/* True if each coordinate of the axis is the first instant of a period of d, such as a month, by
 * the units of the axis. */
static bool has_periods(const cmd_dated *d, const cmd_axis *along)
{
    cmd_since  s;
    cmd_moment m;

    if (!cmd_read_since(along->units, along->calendar, &s))
        return false;
    for (int64_t i = 0; i < along->n; i++)
        if (!cmd_moment_of(&s, along->at[i], &m) ||
            cmd_instant(&s, cmd_period_begin(d->part, &s, d->part->number(&s, &m))) !=
                cmd_instant(&s, along->at[i]))
            return false;
    return true;
}

/* Finds the index along the axis of each group of d, -1 for none. NULL: the axis is of another
 * kind, or indices are ambiguous; *unsure says why. Periods match if they begin within half a
 * second (most, in units of the axis). */
static int64_t *find_places(const cmd_dated *d, const cmd_axis *along, const char **unsure)
{
    int64_t  *place = cmd_room((size_t)(d->groups.n + 1) * sizeof *place);
    cmd_since s;
    double    most = 0;

    *unsure = NULL;
    if (!along->name || !along->at || strcmp(along->name, d->groups.name) != 0)
        return NULL;
    if (d->part->begins) {
        if (!has_periods(d, along) || !cmd_read_since(d->groups.units, d->groups.calendar, &s))
            return NULL;
        most = 0.5 / s.seconds;
    }
    cmd_match_axes(&d->groups, along, most, place, unsure);
    return *unsure ? NULL : place;
}

/* Writes to `why` that an index which is a function of times (d) does not fit the axis. */
static void refuse_axis(const cmd_dated *d, const cmd_axis *along, char *why)
{
    snprintf(
        why, RD_WHY,
        "%s is an index along an axis %s%s; this is %s.  Places are numbers from 0, such as %s "
        "- %lld",
        call_text(d), d->groups.name, d->part->begins ? " of such periods" : " with coordinates",
        along->name ? cmd_text("axis %s", along->name) : "an axis without a name", call_text(d),
        (long long)(d->groups.n ? d->value[0] : 0));
}

/* Replaces an index that is a function of times, as in clim[month(time)], by positions along an
 * axis of its groups. Any other index is returned as it is. NULL: `why`, or the library's error,
 * says the reason. */
rd_expr *cmd_date_places(void *user, rd_expr *x, int axis, rd_expr *index, char *why)
{
    cmd_inputs      *in = user;
    const cmd_dated *d  = dated_of(in, index);

    if (!d)
        return index;
    const cmd_axis along = cmd_axis_seen(in, x, axis);
    const char    *unsure;
    int64_t       *place = find_places(d, &along, &unsure);
    if (!place) {
        if (unsure)
            snprintf(why, RD_WHY, "%s: %s", call_text(d), unsure);
        else
            refuse_axis(d, &along, why);
        return NULL;
    }
    int64_t      *at = elements_of(in, index, RD_I64);
    const int64_t n  = count_elements(index);
    for (int64_t i = 0; at && i < n; i++) {
        const int64_t group = group_of(d, at[i]);

        if (group < 0 || place[group] < 0) {
            snprintf(why, RD_WHY, "%s: %lld is not among the coordinates of axis %s", call_text(d),
                     (long long)at[i], along.name);
            return NULL;
        }
        at[i] = place[group];
    }
    return at ? leaf_like(in, index, at) : NULL;
}

/* ---- Words ----------------------------------------------------------------------------------- */
/* Finds the value of a word along an axis: "JJA" is 3 along seasons. axis->words, with blanks
 * between them, belong to the values 1, 2, ... False: there is no such word. */
bool cmd_value_of_word(const cmd_axis *axis, const char *word, double *value)
{
    const size_t n = strlen(word);

    *value = 1;
    for (const char *at = axis->words; at && *at; *value += 1) {
        const size_t length = strcspn(at, " ");

        if (length == n && memcmp(at, word, n) == 0)
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

/* Finds the word of a value: 3 is "JJA" along seasons. NULL: the value has no word. */
const char *cmd_word_of_value(const cmd_axis *axis, double value)
{
    const char *at = axis->words;

    for (double k = 1; at && *at; k++) {
        const size_t length = strcspn(at, " ");

        if (k == value)
            return cmd_copy(at, length);
        at += length + (at[length] == ' ');
    }
    return NULL;
}
