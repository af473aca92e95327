/* Functions of times: what a calendar says of them, groups by it, and places along axes of such groups. */
#include "command/run.h"
#include "date_parts.h"
#include "files/formats.h"
#include <inttypes.h>
#include <math.h>

#include "command/calendar_parts.h"

/* ---- Parts of dates, without files ------------------------------------------------------------ */
START_TEST(parts_of_cftime)
{
    static const char *const names[] = { "year",   "month",     "day",           "hour",
                                         "minute", "dayofyear", "days_in_month", "season" };

    for (int k = 0; k < COUNT(parted); k++) {
        const struct parted *r = &parted[k];
        cmd_since            s;
        cmd_moment           m;

        ck_assert(cmd_read_since(r->units, r->calendar, &s) && cmd_moment_of(&s, r->value, &m));
        for (int i = 0; i < COUNT(names); i++) {
            const cmd_date_part *part   = cmd_date_part_called(names[i]);
            const int64_t        number = part->number(&s, &m),
                          got           = part->shown ? part->shown(&s, number) : number;

            ck_assert_msg(got == r->part[i], "%.17g %s (%s): %s %" PRId64 ", not %d", r->value,
                          r->units, r->calendar, names[i], got, r->part[i]);
        }
    }
}
END_TEST

static const struct period {
    const char *name, *units, *calendar;
    double      value, begin;
    int64_t     shown;
} periods[] = {
    { "monthly", "days since 2000-01-01", NULL, 59.5, 31, 200002 },
    { "monthly", "days since 2000-01-01", NULL, 60, 60, 200003 },
    { "monthly", "days since 2000-01-01", NULL, -1, -31, 199912 },
    { "monthly", "hours since 2000-01-01 06:00", NULL, 0, -6, 200001 },
    { "monthly", "hours since 2000-01-01 00:00 +1:00", NULL, 0, -24 * 31 + 1, 199912 },
    { "monthly", "days since 2000-01-01", "360_day", 359.75, 330, 200012 },
    { "monthly", "days since 1582-10-01", "standard", 25, 21, 158211 },
    { "yearly", "days since 2000-01-01", "noleap", 400, 365, 2001 },
    { "yearly", "days since 0001-01-01", "standard", -1, -366, -1 },
    { "yearly", "days since 0001-01-01", "noleap", -1, -365, 0 },
    { "seasonal", "days since 2000-01-01", NULL, 0, -31, 199912 },
    { "seasonal", "days since 2000-01-01", NULL, 59, -31, 199912 },
    { "seasonal", "days since 2000-01-01", NULL, 60, 60, 200003 },
    { "seasonal", "days since 2000-01-01", "360_day", 355, 330, 200012 },
    { "daily", "hours since 2000-01-01 12:00", NULL, 11.5, -12, 20000101 },
    { "daily", "hours since 2000-01-01 12:00", NULL, 12, 12, 20000102 },
    { "hourly", "minutes since 2000-01-01 12:30", NULL, -31, -90, 2000010111 },
    { "season_year", "days since 2000-01-01", NULL, -1, NAN, 2000 },
    { "season_year", "days since 2000-01-01", NULL, 333, NAN, 2000 },
    { "season_year", "days since 2000-01-01", NULL, 335, NAN, 2001 },
    { "hour", "days since 0001-01-01", NULL, 730000.0416666666, NAN, 1 }, /* a digit short of it */
};

START_TEST(periods_begin)
{
    const struct period *r    = &periods[_i];
    const cmd_date_part *part = cmd_date_part_called(r->name);
    cmd_since            s;
    cmd_moment           m;

    ck_assert(part && cmd_read_since(r->units, r->calendar, &s) && cmd_moment_of(&s, r->value, &m));
    const int64_t number = part->number(&s, &m),
                  shown  = part->shown ? part->shown(&s, number) : number;
    ck_assert_msg(shown == r->shown, "row %d: %" PRId64, _i, shown);
    ck_assert(!part->begins == (r->begin != r->begin));
    if (part->begins)
        ck_assert_msg(cmd_period_begin(part, &s, number) == r->begin, "row %d: %.17g", _i,
                      cmd_period_begin(part, &s, number));
}
END_TEST

#if RDIM_NETCDF
#include "files/netcdf_api.h"

/* ---- Files ----------------------------------------------------------------------------------- */
enum { DAYS = 800, PLACES = 2 };

static const cmd_netcdf_api *nc;
static float                 data[DAYS][PLACES]; /* NaN where it is missing */

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

static int put_axis(int file, const char *name, int dimension, const char *units,
                    const char *calendar)
{
    int id;

    ok(nc->def_var(file, name, NC_DOUBLE, 1, &dimension, &id));
    if (units)
        ok(nc->put_att_text(file, id, "units", strlen(units), units));
    if (calendar)
        ok(nc->put_att_text(file, id, "calendar", strlen(calendar), calendar));
    return id;
}

/* Days from a day of 2000 on. */
static void make_file(const char *name, const char *calendar, double first, const char *units)
{
    const size_t start[2] = { 0 }, count[2] = { DAYS, PLACES };
    int          file, dims[2], time, place, tas;
    double       at[DAYS];

    ok(nc->create(name, NC_CLOBBER | NC_NETCDF4, &file));
    ok(nc->def_dim(file, "time", DAYS, &dims[0]));
    ok(nc->def_dim(file, "place", PLACES, &dims[1]));
    time  = put_axis(file, "time", dims[0], units, calendar);
    place = put_axis(file, "place", dims[1], NULL, NULL);
    ok(nc->def_var(file, "tas", NC_FLOAT, 2, dims, &tas));
    ok(nc->enddef(file));
    for (int i = 0; i < DAYS; i++)
        at[i] = first + i;
    ok(nc->put_vara_double(file, time, start, count, at));
    ok(nc->put_vara_double(file, place, start, &count[1], (const double[]){ 10, 20 }));
    ok(nc->put_vara(file, tas, start, count, data));
    ok(nc->close(file));
}

/* Means of two 360-day years' months, whose times are the ends of them. */
static void make_ends(const char *name, double first, int n)
{
    const size_t start[2] = { 0 }, count[2] = { (size_t)n, 2 };
    int          file, dims[2], time, bounds, tas;
    double       at[24], ends[48], mean[24];

    ok(nc->create(name, NC_CLOBBER, &file));
    ok(nc->def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    ok(nc->def_dim(file, "two", 2, &dims[1]));
    time = put_axis(file, "time", dims[0], "days since 2000-01-01", "360_day");
    ok(nc->put_att_text(file, time, "bounds", 9, "time_bnds"));
    ok(nc->def_var(file, "time_bnds", NC_DOUBLE, 2, dims, &bounds));
    ok(nc->def_var(file, "tas", NC_DOUBLE, 1, dims, &tas));
    ok(nc->enddef(file));
    for (int i = 0; i < n; i++) {
        ends[2 * i] = first + 30 * i;
        at[i] = ends[2 * i + 1] = first + 30 * (i + 1);
        mean[i]                 = 1 + (int)(ends[2 * i] / 30) % 12;
    }
    ok(nc->put_vara_double(file, time, start, count, at));
    ok(nc->put_vara_double(file, bounds, start, count, ends));
    ok(nc->put_vara_double(file, tas, start, count, mean));
    ok(nc->close(file));
}

static void make_hours(void)
{
    enum { HOURS = 24 };
    const size_t start = 0, count = HOURS;
    int          file, dim, time, x;
    double       at[HOURS], index[HOURS];

    ok(nc->create("hours.nc", NC_CLOBBER | NC_NETCDF4, &file));
    ok(nc->def_dim(file, "time", HOURS, &dim));
    time = put_axis(file, "time", dim, "days since 2000-01-01", NULL);
    ok(nc->def_var(file, "x", NC_DOUBLE, 1, &dim, &x));
    ok(nc->enddef(file));
    for (int i = 0; i < HOURS; i++) {
        index[i] = i;
        at[i]    = i * (1 / 24.);
    }
    ok(nc->put_vara_double(file, time, &start, &count, at));
    ok(nc->put_vara_double(file, x, &start, &count, index));
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("dates");
    nc = cmd_netcdf_load("tests");
    for (int i = 0; i < DAYS; i++)
        for (int k = 0; k < PLACES; k++)
            data[i][k] = (i * 7 + k * 3) % 13 == 5 ? NAN : (float)((i * 37 + k * 11) % 1000);
    make_file("d360.nc", "360_day", 65, "days since 2000-01-01");
    make_file("noleap.nc", "noleap", 65, "days since 2000-01-01");
    make_file("months.nc", NULL, 0, "months since 2000-01-01");
    run_well("$R \"m = nanmean(tas, axis='time', by=monthly(time))\" d360.nc -o m.nc");
    make_hours();
    make_ends("ends.nc", 0, 24);
    make_ends("ends_1.nc", 0, 5);
    make_ends("ends_2.nc", 150, 19);
    make_file("level.nc", NULL, 0, "m");
}

static int64_t load(const char *name, double *to, int64_t most)
{
    rd_ctx  *ctx   = rd_ctx_new(NULL);
    rd_expr *x     = rd_load(ctx, name);
    rd_shape shape = rd_shape_of(x);
    int64_t  n     = 1;

    for (int k = 0; k < shape.n; k++)
        n *= shape.at[k];
    ck_assert_int_le(n, most);
    ck_assert(rd_eval(ctx, rd_cast(x, RD_F64),
                      &(rd_array){ .data = to, .type = RD_F64, .shape = shape }) == RD_OK);
    rd_ctx_free(ctx);
    return n;
}

/* ---- Groups, beside loops --------------------------------------------------------------------- */
/* The date of day i of a file, by the lengths of months alone. */
typedef struct day {
    int year, month, day, of_year;
} day;

static day day_at(bool noleap, int i)
{
    static const int length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    day              d        = { 2000, 1, 1, 1 };

    for (int k = 0; k < i + 65; k++) {
        d.day++;
        d.of_year++;
        if (d.day > (noleap ? length[d.month - 1] : 30)) {
            d.day = 1;
            d.month++;
        }
        if (d.month > 12) {
            d.month = d.of_year = 1;
            d.year++;
        }
    }
    return d;
}

static int of_month(day d)
{
    return d.month - 1;
}
static int of_season(day d)
{
    return d.month % 12 / 3;
}
static int of_year(day d)
{
    return d.year - 2000;
}
static int of_day(day d)
{
    return d.day - 1;
}
static int of_day_of_year(day d)
{
    return d.of_year - 1;
}
static int in_a_row(day d)
{
    return (d.year - 2000) * 12 + d.month - 3;
} /* from March 2000 on */
static int of_both(day d)
{
    return (d.year - 2000) * 12 + d.month - 1;
}
static int of_winters(day d)
{
    return (d.year - 2000 + (d.month == 12)) * 4 + of_season(d);
}
static int seasons_in_a_row(day d)
{
    return (d.year - 2000) * 4 + d.month / 3 - 1;
}

static const struct grouping {
    const char *by;
    int (*group)(day d);
    int n; /* of noleap, of 360_day: the same, but for days of the year */
} groupings[] = {
    { "month(time)", of_month, 12 },
    { "season(time)", of_season, 4 },
    { "year(time)", of_year, 3 },
    { "day(time)", of_day, 0 },
    { "dayofyear(time)", of_day_of_year, -1 },
    { "monthly(time)", in_a_row, 0 },
    { "seasonal(time)", seasons_in_a_row, 0 },
    { "yearly(time)", of_year, 3 },
    { "(year(time), month(time))", of_both, 36 },
    { "(season_year(time), season(time))", of_winters, 0 },
};

static void check_group(const struct grouping *g, bool noleap, double *got, int64_t n)
{
    for (int64_t group = 0; group < n; group++)
        for (int k = 0; k < PLACES; k++) {
            double sum = 0, count = 0;

            for (int i = 0; i < DAYS; i++)
                if (data[i][k] == data[i][k] && g->group(day_at(noleap, i)) == group) {
                    sum += data[i][k];
                    count++;
                }
            const double want = sum / count, have = got[group * PLACES + k];
            ck_assert_msg((have != have && want != want) || fabs(have - want) < 1e-4,
                          "%s, group %" PRId64 ": %g, not %g", g->by, group, have, want);
        }
}

START_TEST(groups_are_loops)
{
    static double          got[400 * PLACES];
    const struct grouping *g = &groupings[_i];
    char                   line[256];

    for (int noleap = 0; noleap < 2; noleap++) {
        int64_t n, most = 0;

        snprintf(line, sizeof line, "$R \"nanmean(tas, axis='time', by=%s)\" %s -o got.npy", g->by,
                 noleap ? "noleap.nc" : "d360.nc");
        run_well(line);
        n = load("got.npy", got, COUNT(got)) / PLACES;
        for (int i = 0; i < DAYS; i++) {
            const int64_t group = g->group(day_at(noleap, i));

            most = group > most ? group : most;
        }
        ck_assert_msg(n > most && n <= most + 32, "%s: %" PRId64 " groups", g->by, n);
        check_group(g, noleap, got, n);
    }
}
END_TEST

/* tas - clim[month(time)] is what a loop takes off each day. */
START_TEST(anomalies)
{
    static double got[DAYS * PLACES], clim[12 * PLACES];

    run_well("$R \"c = nanmean(tas, axis='time', by=month(time)); a = tas - c[month(time)]\" "
             "noleap.nc -o c=c.npy -o a=a.npy");
    load("c.npy", clim, COUNT(clim));
    load("a.npy", got, COUNT(got));
    for (int i = 0; i < DAYS; i++)
        for (int k = 0; k < PLACES; k++) {
            const double want = (double)data[i][k] - clim[of_month(day_at(true, i)) * PLACES + k];

            ck_assert_msg((want != want && got[i * PLACES + k] != got[i * PLACES + k]) ||
                              fabs(got[i * PLACES + k] - want) < 1e-4,
                          "day %d: %g, not %g", i, got[i * PLACES + k], want);
        }
}
END_TEST

/* ---- What is said ----------------------------------------------------------------------------- */
/* Lines that succeed, and what they print. */
static const char *const said[][2] = {
    { "$R 'month(time[3:6])' d360.nc", "      time  result\n2000-03-09       3\n" },
    { "$R 'season(time)[::400]' d360.nc", "2000-03-06       2\n2001-04-16       2\n" },
    { "$R 'year(time)[::400]' noleap.nc", "2000-03-07    2000\n2001-04-11    2001\n" },
    { "$R \"nanmax(tas, axis='time', by=season(time))[:, 0]\" d360.nc",
      "season  result\n   DJF     989\n   MAM     999\n" },
    { "$R \"nanmax(tas, axis='time', by=season(time))[season='JJA', place=10]\" d360.nc", "99" },
    { "$R \"nanmax(tas, axis='time', by=season(time))\" d360.nc -o s.nc && "
      "$R 'result[:, 0]' s.nc",
      "season  result\n   DJF     989\n   MAM     999\n" },
    { "$R \"nanmean(tas, axis='time', by=monthly(time))[:2, 0]\" d360.nc",
      "      time   result\n2000-03-01  429.522\n2000-04-01 " },
    { "$R \"nanmean(tas, axis='time', by=(year(time), season(time) - 1), groups=(3, 4))[:, 0, 0]\" "
      "d360.nc",
      "year   result\n2000 " },
    { "$R \"sum(time[time='2000-03'] > 0)\" d360.nc", "25\n" },
    { "$R \"sum(time[time='2000-03'] > 0)\" noleap.nc", "25\n" },
    /* What lies at the end of its bounds is of the month before. */
    { "$R 'all(month(time) == tas)' ends.nc", "true\n" },
    { "$R 'all(month(time) == tas)' ends.nc",
      "time: coordinates are the ends of their bounds, so that dates are those behind" },
    { "$R 'all(month(time)[3:] == tas[3:]) and all(month(time[::-2]) == tas[::-2])' ends.nc",
      "true\n" },
    { "$R \"all(month(time[time='2000']) == tas[time='2000'])\" ends.nc", "true\n" },
    { "$R 'all(month(time) == tas)' ends_1.nc ends_2.nc", "true\n" },
    { "$R 'mean(tas, axis=time, by=monthly(time))[:2]' ends.nc",
      "2000-01-01       1\n2000-02-01       2\n" },
#if RDIM_HDF5 /* whose files say the same */
    { "$R tas ends.nc -o ends.h5 && $R 'all(month(time) == tas)' ends.h5",
      "time: coordinates are the ends of their bounds, so that dates are those behind" },
    { "$R tas ends.nc -o ends.h5 && $R 'all(month(time) == tas)' ends.h5", "true\n" },
    { "$R \"nanmax(tas, axis='time', by=season(time))\" d360.nc -o s.h5 && "
      "$R 'result[:, 0]' s.h5",
      "season  result\n   DJF     989\n   MAM     999\n" },
    { "$R \"c = nanmean(tas, axis='time', by=month(time))\" d360.nc -o c.h5 && "
      "$R 'a = (tas - c[month(time)])[:2, 1]' d360.nc c=c.h5",
      "      time  " },
#endif
    /* By other ways to an index, and to labels. */
    { "$R \"_c = nanmean(tas, axis='time', by=month(time)); a = all(isnan(tas) or take(_c, month(time), "
      "axis='month') == _c[month(time)])\" d360.nc",
      "a = true\n" },
    { "$R \"_c = nanmean(tas, axis='time', by=month(time)); _x = _c[month(time)]; o[t, p] = "
      "_c[month(time)[t], p] - _x[t, p]; a = nanmax(abs(o)) == 0\" d360.nc",
      "a = true\n" },
    { "$R 'bincount(month(time), groups=12)' noleap.nc",
      "month  result\n    1      62\n    2      56\n    3      87\n" },
    { "$R 'bincount([year(time), season(time) - 1], groups=(3, 4))[:2]' d360.nc", "2000" },
    /* Hours that were computed otherwise are the same: 5 * (1 / 24.) < 5 / 24. */
    { "$R \"sum(x[time='2000-01-01 05'])\" hours.nc", "5\n" },
    { "$R \"sum(x[time='2000-01-01 04'])\" hours.nc", "4\n" },
    { "$R \"sum(x[time='2000-01-01 07'..'2000-01-01 09'])\" hours.nc", "24\n" },
    /* Differences of dates are numbers, and so is what other statements make of them. */
    { "$R '_d = diff(time); e = mean(_d)' d360.nc", "e = 1\n" },
    { "$R '_d = max(time) - min(time); e = _d' ends.nc", "e = 690\n" },
    { "$R 'round(std (time))' ends.nc", "208\n" },
    { "$R 'max (time[:3])' d360.nc", "2000-03-08" },
    { "$R 'quantile(time[:3], 1e-30)' d360.nc", "2000-03-06" },
    /* Names of groups, wherever they stand. */
    { "$R \"mean(tas, axis=('time', 'place'), by=season(time), keepdims=true)\" d360.nc",
      "season down, axis 1 across" },
    { "$R \"mean(tas, axis='place', by=season(time))[:3]\" d360.nc", "time down, season across" },
    { "$R \"minmax(tas, axis='time', by=season(time))\" d360.nc -o r.nc && $R --list r.nc",
      "2, season 4, place 2)" },
    { "$R \"nanmedian(tas, axis='time', by=(season(time), year(time) - 2000), groups=(4, 3))\" "
      "d360.nc -o r.nc && $R --list r.nc",
      "(season 4, " },
    { "$R \"nanquantile(tas, 0.9, axis='time', by=season(time))\" d360.nc -o r.nc && "
      "$R --list r.nc",
      "(season 4, place 2)" },
    { "$R \"mode(tas, axis='time', by=season(time))\" d360.nc -o r.nc && $R --list r.nc",
      "(season 4, place 2)" },
    { "$R \"first(tas, axis='time', by=season(time))\" d360.nc -o r.nc && $R --list r.nc",
      "(season 4, place 2)" },
    { "$R \"last(tas, axis='time', by=(year(time), hour(time)))\" d360.nc -o r.nc && "
      "$R --list r.nc",
      "(year 3, hour 24, place 2)" },
    { "$R \"mean(tas[:9], axis='time', by=(year(time[:9]), month(time[:9])))\" d360.nc -o r.nc && "
      "$R --list r.nc",
      "(year 1, month 12, place 2)" },
    /* Periods are an index, too, and so is what a file has of them. */
    { "$R \"_m = nanmean(tas, axis='time', by=monthly(time)); a = (tas - _m[monthly(time)])[:2, 1]\" "
      "d360.nc",
      "      time  " },
    { "$R \"m = nanmean(tas, axis='time', by=monthly(time))\" d360.nc -o mean.nc && "
      "$R 'a = (tas - m[monthly(time)])[:2, 1]' d360.nc m=mean.nc",
      "      time  " },
    { "$R \"c = nanmean(tas, axis='time', by=month(time))\" d360.nc -o c.nc && "
      "$R 'a = (tas - c[month(time)])[:2, 1]' d360.nc c=c.nc",
      "      time  " },
    { "$R \"_c = nanmean(tas, axis='time', by=month(time)); a = (tas[3:] - _c[month(time)[3:]])[:2, 1]\" "
      "d360.nc",
      "2000-03-09  " },
    { "$R \"count(tas, axis='time', by=month(time)[:, None])\" d360.nc", "month" },
    { "$R \"nanmean(tas, axis='time', weights=days_in_month(time))\" noleap.nc", "place" },
};

START_TEST(says)
{
    run_well(said[_i][0]);
    ck_assert_msg(strstr(out, said[_i][1]), "%s\n%s", said[_i][0], out);
}
END_TEST

/* Formulas that are refused, and why. */
static const char *const refused[][3] = {
    { "level.nc", "month(time)", "coordinates in m are no times" },
    { "level.nc", "month(place)", "coordinates in no units are no times" },
    { "months.nc", "month(time)", "UDUNITS', of 30.44 and 365.24 days" },
    { "d360.nc", "month(tas)", "takes the coordinates of an axis of times" },
    { "d360.nc", "month(tas[:, 0])", "takes the coordinates of an axis of times" },
    { "d360.nc", "month(time + 30)", "takes the coordinates of an axis of times" },
    { "d360.nc", "month(3)", "takes the coordinates of an axis of times" },
    { "d360.nc", "month(time, time)", "month() takes one array, of times" },
    { "d360.nc", "mean(tas, axis='time', by=(year(time), season(time)))",
      "Say season_year(time), the year of that January" },
    { "d360.nc", "mean(tas, axis='time', by=month(time), groups=13)",
      "month(time) has 12 groups, not 13" },
    { "d360.nc", "mean(tas, axis='time', by=month(time) - 1)", "Say groups=" },
    { "d360.nc", "tas[month(time)]",
      "month(time) is an index along an axis month with coordinates; this is axis time" },
    { "d360.nc", "tas[monthly(time)]", "an index along an axis time of such periods" },
    { "d360.nc", "mean(tas, axis='time', by=season(time))[month(time)]", "this is axis season" },
    { "d360.nc", "mean(tas, axis='time', by=month(time))[:5][month(time)]",
      "is not among the coordinates of axis month" },
    { "d360.nc", "mean(tas, axis='time', by=monthly(time))[3:][monthly(time)]",
      "200003 is not among the coordinates of axis time" },
    { "d360.nc", "take(tas, month(time), axis=0)", "this is axis time" },
    { "d360.nc", "scatter_add(tas, month(time), tas, axis=0)", "this is axis time" },
    { "d360.nc", "bincount(month(time), groups=13)", "month(time) has 12 groups, not 13" },
    { "noleap.nc m=m.nc", "m[monthly(time)]", "is not among the coordinates of axis time" },
    { "d360.nc", "mean(tas[:400], axis='time', by=year(time))", "along time one has" },
};

START_TEST(refuses)
{
    char line[512];

    snprintf(line, sizeof line, "$R \"%s\" %s", refused[_i][1], refused[_i][0]);
    ck_assert_int_eq(run_together(line), 2);
    ck_assert_msg(strstr(out, refused[_i][2]), "%s\n%s", line, out);
}
END_TEST

static TCase *with_files(void)
{
    TCase *tc = tcase_create("files");

    tcase_set_timeout(tc, 120);
    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, groups_are_loops, 0, COUNT(groupings));
    tcase_add_test(tc, anomalies);
    tcase_add_loop_test(tc, says, 0, COUNT(said));
    tcase_add_loop_test(tc, refuses, 0, COUNT(refused));
    return tc;
}
#endif

int main(void)
{
    Suite   *suite  = suite_create("command_dates");
    TCase   *tc     = tcase_create("parts");
    SRunner *runner = srunner_create(suite);

    tcase_add_test(tc, parts_of_cftime);
    tcase_add_loop_test(tc, periods_begin, 0, COUNT(periods));
    suite_add_tcase(suite, tc);
#if RDIM_NETCDF
    suite_add_tcase(suite, with_files());
#endif
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
