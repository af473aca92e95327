/* dates.c - month(time), season(time), monthly(time) in formulas.
 *
 * Where coordinates are the ends of their bounds, as those of some models are, a mean of January has the date of
 * the first of February.  Its month is that of the middle of the bounds.
 *
 * A function of times is evaluated at once, as a leaf of whole numbers along the axis of the times.  What such a
 * leaf is, is known as long as only parts of it are taken: then it labels groups that have names and coordinates,
 * and is a coordinate along axes of such groups, tas - clim[month(time)].  Any other array of whole numbers made
 * of it, month(time) - 1, is one as all are: labels from 0, and places. */
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

/* This leaf is the result of a function of times. */
struct cmd_dated {
    const cmd_date_part *part;
    rd_expr             *of, *leaf;
    cmd_axis             groups; /* the axis of its groups */
    int64_t             *value;  /* of each group, ascending: what the leaf holds */
    const cmd_dated     *older;
};

enum { MOST_GROUPS = 1 << 30 };

static const cmd_dated *dated_of(const cmd_inputs *in, rd_expr *x)
{
    rd_expr *const of = rd_elements_of(x);

    for (const cmd_dated *d = in->dated; d; d = d->older)
        if (d->leaf == of)
            return d;
    return NULL;
}

static const char *say(const cmd_dated *d)
{
    return cmd_text("%s(%s)", d->part->name, d->part->begins ? d->groups.name : "time");
}

/* ---- Elements of small arrays ---------------------------------------------------------------- */
static int64_t count_of(rd_expr *x)
{
    const rd_shape shape = rd_shape_of(x);

    return cmd_points(&shape, RD_F64, "times");
}

/* As f64 or i64; NULL: the library has said why not. */
static void *elements_of(cmd_inputs *in, rd_expr *x, rd_dtype type)
{
    void *const at = cmd_room((size_t)count_of(x) * 8 + 8);
    rd_array    to = { .data = at, .type = type, .shape = rd_shape_of(x) };

    cmd_read_wanted(in->ctx, RD_RESULTS({ x, NULL }));
    return rd_eval(in->ctx, rd_cast(x, type), &to) == RD_OK ? at : NULL;
}

/* A leaf of the shape of x, whose axes are those of x. */
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
static void find_range(const int64_t *number, int64_t n, int64_t *low, int64_t *high)
{
    *low  = n ? number[0] : 0;
    *high = n ? number[0] : -1;
    for (int64_t i = 1; i < n; i++) {
        *low  = number[i] < *low ? number[i] : *low;
        *high = number[i] > *high ? number[i] : *high;
    }
}

/* The axis of groups from `low` on; where they are periods it is the axis of times, else one of the
 * function's name. */
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

static rd_expr *make(cmd_inputs *in, const cmd_date_part *part, rd_expr *x, const cmd_axis *times,
                     const cmd_since *s, int64_t *number, char *why)
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
/* The coordinates of its own axis?  A variable that is none, or was computed with, has no dates. */
static bool is_coordinate(cmd_inputs *in, rd_expr *x, const cmd_axis *times)
{
    const double *at = times->at ? elements_of(in, x, RD_F64) : NULL;

    for (int64_t i = 0; at && i < times->n; i++)
        if (!isnan(at[i]) && !(fabs(at[i] - times->at[i]) <= 1e-9 * fabs(at[i])))
            return false;
    return at != NULL;
}

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
    return make(in, part, x[0], &times, &s, number, why);
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* The group of a value; -1: none. */
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

/* December of a calendar year, and January of it, are the ends of two winters. */
static bool splits_winters(const cmd_inputs *in, int n, rd_expr *const *label)
{
    bool year = false, season = false;

    for (int k = 0; k < n; k++) {
        const cmd_dated *d = dated_of(in, label[k]);

        year |= d && strcmp(d->part->name, "year") == 0;
        season |= d && strcmp(d->part->name, "season") == 0;
    }
    return year && season;
}

bool cmd_date_labels(void *user, int n, rd_expr **label, int64_t *groups, char *why)
{
    cmd_inputs *in = user;

    if (splits_winters(in, n, label)) {
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
            snprintf(why, RD_WHY, "%s has %lld groups, not %lld: leave groups= out", say(d),
                     (long long)d->groups.n, (long long)groups[k]);
            return false;
        }
        int64_t      *at       = elements_of(in, label[k], RD_I64);
        const int64_t n_labels = count_of(label[k]);
        for (int64_t i = 0; at && i < n_labels; i++)
            at[i] = group_of(d, at[i]);
        groups[k] = d->groups.n;
        label[k]  = at ? leaf_like(in, label[k], at) : NULL;
        if (!label[k])
            return false;
    }
    return true;
}

void cmd_date_groups(void *user, rd_expr *x, int axis, rd_expr *label)
{
    cmd_inputs      *in = user;
    const cmd_dated *d  = dated_of(in, label);

    if (d && rd_shape_of(x).at[axis] == d->groups.n)
        cmd_know_axis(in, x, axis, &d->groups);
}

/* ---- Places along an axis of groups ---------------------------------------------------------- */
/* Is each coordinate the first instant of such a period? */
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

/* Finds the place of each group along the axis, -1 where it has none.  NULL: the axis is of another kind, or places
 * are not sure; *unsure says why. */
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

static void refuse_axis(const cmd_dated *d, const cmd_axis *along, char *why)
{
    snprintf(
        why, RD_WHY,
        "%s is an index along an axis %s%s; this is %s.  Places are numbers from 0, such as %s "
        "- %lld",
        say(d), d->groups.name, d->part->begins ? " of such periods" : " with coordinates",
        along->name ? cmd_text("axis %s", along->name) : "an axis without a name", say(d),
        (long long)(d->groups.n ? d->value[0] : 0));
}

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
            snprintf(why, RD_WHY, "%s: %s", say(d), unsure);
        else
            refuse_axis(d, &along, why);
        return NULL;
    }
    int64_t      *at = elements_of(in, index, RD_I64);
    const int64_t n  = count_of(index);
    for (int64_t i = 0; at && i < n; i++) {
        const int64_t group = group_of(d, at[i]);

        if (group < 0 || place[group] < 0) {
            snprintf(why, RD_WHY, "%s: %lld is not among the coordinates of axis %s", say(d),
                     (long long)at[i], along.name);
            return NULL;
        }
        at[i] = place[group];
    }
    return at ? leaf_like(in, index, at) : NULL;
}

/* ---- Words ----------------------------------------------------------------------------------- */
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
