/* Calendars and units of times, without files. */
#include "calendar.h"
#include "suite.h"
#include "times.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "command/calendar_dates.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const char *const names[CMD_CALENDARS] = { "standard", "proleptic_gregorian",
                                                  "julian",   "noleap",
                                                  "all_leap", "360_day" };

static cmd_calendar calendar_of(const char *name)
{
    cmd_calendar c;

    ck_assert_msg(cmd_calendar_named(name, &c), "%s", name);
    return c;
}

/* Rows that another program has made. */
START_TEST(dates_of_cftime)
{
    for (int k = 0; k < COUNT(dates); k++) {
        const struct dated *r     = &dates[k];
        const cmd_calendar  c     = calendar_of(r->calendar);
        const cmd_date      d     = { r->year, r->month, r->day };
        const int64_t       first = cmd_day_of(c, (cmd_date){ 2000, 1, 1 }), day = first + r->days;
        const cmd_date      back = cmd_date_of(c, day);

        ck_assert_msg(cmd_is_date(c, d) && cmd_day_of(c, d) == day,
                      "%s %" PRId64 "-%d-%d: day %" PRId64 ", not %" PRId64, r->calendar, r->year,
                      r->month, r->day, cmd_day_of(c, d) - first, r->days);
        ck_assert_msg(back.year == d.year && back.month == d.month && back.day == d.day,
                      "%s: day %" PRId64 " is %" PRId64 "-%d-%d", r->calendar, r->days, back.year,
                      back.month, back.day);
    }
}
END_TEST

/* ---- Day by day ------------------------------------------------------------------------------ */
static bool is_leap(cmd_calendar c, int64_t year)
{
    const bool four = year % 4 == 0, gregorian = four && (year % 100 != 0 || year % 400 == 0);

    return c == CMD_ALL_LEAP || (c == CMD_JULIAN && four) ||
           (c == CMD_PROLEPTIC_GREGORIAN && gregorian) ||
           (c == CMD_STANDARD && (year > 1582 ? gregorian : four));
}

static int days_in(cmd_calendar c, int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return c == CMD_360_DAY ? 30 : days[month - 1] + (month == 2 && is_leap(c, year));
}

static void step(cmd_calendar c, cmd_date *d)
{
    if (c == CMD_STANDARD && d->year == 1582 && d->month == 10 && d->day == 4)
        d->day = 15;
    else if (++d->day > days_in(c, d->year, d->month)) {
        d->day = 1;
        d->year += d->month == 12;
        d->month = d->month % 12 + 1;
    }
}

/* All days of 20000 years, one after the other; under sanitizers of 3600 of them. */
START_TEST(day_by_day)
{
    const cmd_calendar c    = (cmd_calendar)_i;
    const int64_t      from = SANITIZED ? -800 : -10000, to = SANITIZED ? 2800 : 10000;
    cmd_date           d = { from, 1, 1 };

    for (int64_t day = cmd_day_of(c, d); d.year <= to; day++, step(c, &d)) {
        const cmd_date got = cmd_date_of(c, day);

        if (got.year != d.year || got.month != d.month || got.day != d.day ||
            cmd_day_of(c, d) != day)
            ck_abort_msg("%s: day %" PRId64 " is %" PRId64 "-%d-%d, not %" PRId64 "-%d-%d",
                         names[c], day, got.year, got.month, got.day, d.year, d.month, d.day);
    }
    ck_assert_int_eq(cmd_day_of(c, (cmd_date){ 1970, 1, 1 }), c == CMD_JULIAN ? 13 : 0);
}
END_TEST

static const struct no_date {
    const char *calendar;
    cmd_date    date;
    bool        is;
} no_dates[] = {
    { "standard", { 1582, 10, 4 }, true },      { "standard", { 1582, 10, 5 }, false },
    { "standard", { 1582, 10, 14 }, false },    { "gregorian", { 1582, 10, 15 }, true },
    { "julian", { 1582, 10, 10 }, true },       { "proleptic_gregorian", { 1582, 10, 10 }, true },
    { "standard", { 1500, 2, 29 }, true },      { "proleptic_gregorian", { 1500, 2, 29 }, false },
    { "standard", { 1900, 2, 29 }, false },     { "julian", { 1900, 2, 29 }, true },
    { "365_day", { 2000, 2, 29 }, false },      { "366_day", { 2001, 2, 29 }, true },
    { "360_day", { 2001, 2, 30 }, true },       { "360_day", { 2001, 1, 31 }, false },
    { "standard", { 2001, 13, 1 }, false },     { "standard", { 2001, 0, 1 }, false },
    { "standard", { 2001, 4, 31 }, false },     { "standard", { 2001, 4, 0 }, false },
    { "standard", { INT64_MAX, 4, 1 }, false },
};

START_TEST(is_a_date)
{
    const struct no_date *r = &no_dates[_i];

    ck_assert_msg(cmd_is_date(calendar_of(r->calendar), r->date) == r->is, "%s %" PRId64 "-%d-%d",
                  r->calendar, r->date.year, r->date.month, r->date.day);
}
END_TEST

/* ---- Units ----------------------------------------------------------------------------------- */
static const struct dated_text {
    double      value;
    const char *units, *calendar, *text; /* text NULL: no date */
} texts[] = {
    { 17522904, "hours since 1-1-1 00:00:0.0", NULL, "2000-01-01" },
    { 0, "hours since 1-1-1 00:00:0.0", "standard", "0001-01-01" },
    { -1, "days since 1-1-1", "standard", "-0001-12-31" },
    { 1, "days since -0005-02-28", "standard", "-0005-02-29" },
    { -366, "days since 0001-01-01", "proleptic_gregorian", "0000-01-01" },
    { 1, "days since -0004-02-29", "proleptic_gregorian", "-0004-03-01" },
    { 730000.5, "days since 1-1-1", "julian", "1999-08-20 12:00" },
    { 1, "days since 1582-10-4", "standard", "1582-10-15" },
    { -1, "days since 1582-10-15", "gregorian", "1582-10-04" },
    { 1, "days since 1582-10-4", "proleptic_gregorian", "1582-10-05" },
    { 1, "days since 2000-02-28", "noleap", "2000-03-01" },
    { 1, "days since 2000-02-28", NULL, "2000-02-29" },
    { 1, "days since 2001-02-28", "all_leap", "2001-02-29" },
    { 1, "days since 2000-02-30", "360_day", "2000-03-01" },
    { 1, "hours since 1990-01-01T06:30:00Z", NULL, "1990-01-01 07:30" },
    { 1, "Hours Since 1990-01-01 06:30 UTC", NULL, "1990-01-01 07:30" },
    { 0, "seconds since 1992-10-8 15:15:42.5 -6:00", NULL, "1992-10-08 21:15:42.5" },
    { 0, "hours since 1990-01-01 00:00:00 +1:00", NULL, "1989-12-31 23:00" },
    { 1, "hours since 1990-01-01 6:30 -05:30", "noleap", "1990-01-01 13:00" },
    { 0, "minutes since 1970-01-01 +0530", NULL, "1969-12-31 18:30" },
    { 0.5, "seconds since 1990-01-01 00:00:00.5", NULL, "1990-01-01 00:00:01" },
    { 86400000, "milliseconds since 1970-01-01", NULL, "1970-01-02" },
    { 12, "months since 1999-01-01", NULL, "2000-01-01 05:48:46" }, /* 365.242198781 days */
    { 1, "years since 1999-01-01", "julian", "2000-01-01 05:48:46" },
    { 12.5, "months since 1999-01-01", "360_day",
      "2000-01-16" }, /* 30 days each, as cftime has them */
    { 12, "months since 1999-01-01", "noleap", NULL },
    { 1, "years since 1999-01-01", "360_day", NULL },
    { 1, "years since 1999-01-01", "noleap", NULL },
    { 1, "common_years since 1999-01-01", "noleap", "2000-01-01" },
    { 1, "days since 0-1-1", NULL, NULL }, /* a climatology: there is no such year */
    { 1, "days since 0-1-1", "noleap", "0000-01-02" },
    { 1, "days since 1582-10-10", NULL, NULL },
    { 1, "days since 2001-02-29", NULL, NULL },
    { 1, "days since 2001-02-01", "none", NULL },
    { 1, "days since 2001-02-01 noon", NULL, NULL },
    { 1, "days since 2001-02-01 25:00", NULL, NULL },
    { 1, "days since 2001-02", NULL, NULL },
    { 1, "fortnights since 2001-02-01", NULL, NULL },
    { 1, "common_years since 1999-01-01", NULL, "2000-01-01" },
    { 0.75, "months since 0000-12-01", "360_day", "0000-12-23 12:00" },
    { 1, "ds since 2001-02-01", NULL, "2001-02-02" },
    { 1, "days", NULL, NULL },
    { NAN, "days since 2001-02-01", NULL, NULL },
    { 1e300, "days since 2001-02-01", NULL, NULL },
    /* Parts of a second, as far as the digits of the coordinate tell. */
    { 86399.6, "seconds since 2001-02-01", NULL, "2001-02-01 23:59:59.6" },
    { 86399.9999997, "seconds since 2001-02-01", NULL, "2001-02-02" },
    { 1.5, "milliseconds since 2001-02-01", NULL, "2001-02-01 00:00:00.0015" },
    { 5 * (1 / 24.), "days since 2001-02-01", NULL, "2001-02-01 05:00" },
    { 730486 + 1 / 86400. / 4, "days since 0001-01-01", "proleptic_gregorian",
      "2001-01-02 00:00:00.25" },
    { -0.25, "seconds since 2001-02-01", NULL, "2001-01-31 23:59:59.75" },
};

START_TEST(date_is_printed)
{
    const struct dated_text *r    = &texts[_i];
    const char              *text = cmd_date_text(r->value, r->units, r->calendar);

    ck_assert_msg(!text == !r->text && (!text || strcmp(text, r->text) == 0), "%g %s (%s): %s",
                  r->value, r->units, r->calendar ? r->calendar : "", text ? text : "no date");
}
END_TEST

static const struct meeting {
    const char *units, *calendar, *other, *other_calendar;
    double      from, to; /* NaN: they do not meet */
} meetings[] = {
    { "days since 1900-1-1", NULL, "hours since 1-1-1 00:00:0.0", NULL, 17522904, 36524 },
    { "hours since 1-1-1", NULL, "days since 1900-1-1", NULL, 36524, 17522904 },
    { "days since 1900-1-1", NULL, "days since 1900-1-1 +1:00", NULL, 1, 1 - 1.0 / 24 },
    { "days since 2000-01-01", "standard", "days since 1999-12-19", "julian", 4, 5 - 1 },
    { "days since 2000-3-1", "noleap", "days since 2000-2-28", "365_day", 1, 0 },
    { "days since 2000-3-1", NULL, "days since 2000-2-28", NULL, 1, -1 },
    { "days since 2000-3-1", "360_day", "days since 2000-1-1", "360_day", 60, 0 },
    { "days since 2000-1-1", "360_day", "days since 2000-1-1", "noleap", 1, NAN },
    { "days since 2000-1-1", "standard", "days since 2000-1-1", "gregorian", 1, 1 },
    { "days since 2000-1-1", NULL, "minutes since 2000-1-1", NULL, 7, 7 / 1440.0 },
    { "days since 2000-1-1", NULL, "minutes since 2000-1-2", NULL, 7, 1447 / 1440.0 },
    { "years since 2000-1-1", NULL, "months since 2000-1-1", NULL, 6, 0.5 },
    { "months since 2000-1-1", "noleap", "months since 2000-1-1", "noleap", 6, 6 },
    { "months since 2000-1-1", "noleap", "months since 2001-1-1", "noleap", 6, NAN },
    { "m", NULL, "m", NULL, 6, 6 },
    { "m", NULL, "km", NULL, 6, RDIM_UDUNITS ? 6000 : NAN },
    { "km", NULL, "m", NULL, 6000, RDIM_UDUNITS ? 6 : NAN },
    { "degrees_north", NULL, "degrees_N", NULL, 45, RDIM_UDUNITS ? 45 : NAN },
    { "K", NULL, "degC", NULL, -273.15, RDIM_UDUNITS ? 0 : NAN },
    { "degC", NULL, "K", NULL, 273.15, RDIM_UDUNITS ? 0 : NAN },
    { "hPa", NULL, "Pa", NULL, 101325, RDIM_UDUNITS ? 1013.25 : NAN },
    { "m", NULL, "K", NULL, 6, NAN },
    { "m", NULL, "level", NULL, 6, NAN },
    { "level", NULL, " level ", NULL, 6, 6 },
    { "days", NULL, "days since 2000-1-1", NULL, 6, NAN },
    { "m", NULL, NULL, NULL, 6, NAN },
    { NULL, NULL, NULL, NULL, 6, 6 },
    { "days since 2000-1-1", "none", "days since 2000-1-1", "other", 6, NAN },
    { "days since 2000-1-1", "none", "days since 2000-1-1", "none", 6, 6 },
};

START_TEST(units_meet)
{
    const struct meeting *r = &meetings[_i];
    cmd_turn              turn;
    const bool meet = cmd_units_meet(r->units, r->calendar, r->other, r->other_calendar, &turn);

    ck_assert_msg(meet == (r->to == r->to), "row %d: %s", _i,
                  meet ? "they meet" : "they do not meet");
    ck_assert_msg(!meet || cmd_turned(&turn, r->from) == r->to, "row %d: %.17g, not %.17g", _i,
                  cmd_turned(&turn, r->from), r->to);
}
END_TEST

/* ---- Intervals of a text ------------------------------------------------------------------------ */
/* The first rows as cftime 1.6.6 says; NaN: no date. */
static const struct interval {
    const char *text, *units, *calendar;
    double      from, to;
} intervals[] = {
    { "1990-06", "days since 1850-01-01", "standard", 51285, 51315 },
    { "1990-06", "days since 1850-01-01", "proleptic_gregorian", 51285, 51315 },
    { "1990-06", "days since 1850-01-01", "julian", 51286, 51316 },
    { "1990-06", "days since 1850-01-01", "noleap", 51251, 51281 },
    { "1990-06", "days since 1850-01-01", "all_leap", 51392, 51422 },
    { "1990-06", "days since 1850-01-01", "360_day", 50550, 50580 },
    { "1900-02", "days since 1850-01-01", "standard", 18293, 18321 },
    { "1900-02", "days since 1850-01-01", "julian", 18293, 18322 },
    { "1900-02", "days since 1850-01-01", "noleap", 18281, 18309 },
    { "1900-02", "days since 1850-01-01", "all_leap", 18331, 18360 },
    { "1900-02", "days since 1850-01-01", "360_day", 18030, 18060 },
    { "2000-02", "days since 1850-01-01", "proleptic_gregorian", 54817, 54846 },
    { "1582-10", "days since 1850-01-01", "standard", -97602, -97581 },
    { "1582-10", "days since 1850-01-01", "proleptic_gregorian", -97612, -97581 },
    { "1582-10", "days since 1850-01-01", "julian", -97614, -97583 },
    { "1582", "days since 1850-01-01", "standard", -97875, -97520 },
    { "1582", "days since 1850-01-01", "julian", -97887, -97522 },
    { "1990", "days since 1850-01-01", "all_leap", 51240, 51606 },
    { "1990", "days since 1850-01-01", "360_day", 50400, 50760 },
    { "1990", "days since 1850-01-01", "noleap", 51100, 51465 },
    { "2000-12", "days since 1850-01-01", "standard", 55121, 55152 },
    { "0001", "days since 1850-01-01", "standard", -675335, -674970 },
    { "0001-01", "days since 1850-01-01", "julian", -675347, -675316 },
    { "0000", "days since 1850-01-01", "noleap", -675250, -674885 },
    { "-0001", "days since 1850-01-01", "noleap", -675615, -675250 },
    { "0000", "days since 1850-01-01", "proleptic_gregorian", -675699, -675333 },
    { "0000", "days since 1850-01-01", "360_day", -666000, -665640 },
    { "-0001", "days since 1850-01-01", "standard", -675701, -675335 },
    { "-0001", "days since 1850-01-01", "julian", -675713, -675347 },
    { "2000-02-29", "days since 2000-01-01", NULL, 59, 60 },
    { "2000-02-30", "days since 2000-01-01", "360_day", 59, 60 },
    { "2000-01-02 06", "hours since 2000-01-01", NULL, 30, 31 },
    { "2000-01-02T06:30", "minutes since 2000-01-01", NULL, 1830, 1831 },
    { "2000-01-02 06:30:15", "seconds since 2000-01-02", NULL, 23415, 23416 },
    { "2000-01-02", "days since 2000-01-01 12:00", NULL, 0.5, 1.5 },
    { "2000-01-02", "hours since 2000-01-01 00:00 +1:00", NULL, 25, 49 }, /* all in UTC */
    { "2000-01-02", "hours since 2000-01-01 00:00 -05:30", NULL, 18.5, 42.5 },
    { "0", "days since 1850-01-01", "standard", NAN, NAN },
    { "2001-02-29", "days since 1850-01-01", "standard", NAN, NAN },
    { "2001-02-29", "days since 1850-01-01", "noleap", NAN, NAN },
    { "2001-01-31", "days since 1850-01-01", "360_day", NAN, NAN },
    { "1582-10-10", "days since 1850-01-01", "standard", NAN, NAN },
    { "2001-13", "days since 1850-01-01", NULL, NAN, NAN },
    { "June 2001", "days since 1850-01-01", NULL, NAN, NAN },
    { "2001-01-01 24", "days since 1850-01-01", NULL, NAN, NAN },
    { "2000-01-02 06:30:15.25", "seconds since 2000-01-02", NULL, 23415.25, 23415.26 },
    { "2000-01-02 00:00:00.000001", "milliseconds since 2000-01-02", NULL, 0.001, 0.002 },
    { "2001-01-01 12:30:15.", "days since 1850-01-01", NULL, NAN, NAN },
    { "2001-01-01 12:30:15.1234567", "days since 1850-01-01", NULL, NAN, NAN },
    { "2001-01-01 12:30:15.5e1", "days since 1850-01-01", NULL, NAN, NAN },
    { "2001-01-01 12:30.5", "days since 1850-01-01", NULL, NAN, NAN },
    { "2001", "m", NULL, NAN, NAN },
};

START_TEST(intervals_of_texts)
{
    const struct interval *r    = &intervals[_i];
    double                 from = NAN, to = NAN;
    cmd_since              s;
    const bool             is =
        cmd_read_since(r->units, r->calendar, &s) && cmd_interval(r->text, &s, &from, &to);

    from = (from - s.second) / s.seconds;
    to   = (to - s.second) / s.seconds;

    ck_assert_msg(is == (r->from == r->from), "row %d, %s: %g to %g", _i, r->text, from, to);
    ck_assert_msg(!is || (from == r->from && to == r->to), "row %d, %s: %.17g to %.17g", _i,
                  r->text, from, to);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_times");
    TCase   *tc     = tcase_create("times");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, dates_of_cftime);
    tcase_add_loop_test(tc, day_by_day, 0, CMD_CALENDARS);
    tcase_add_loop_test(tc, is_a_date, 0, COUNT(no_dates));
    tcase_add_loop_test(tc, date_is_printed, 0, COUNT(texts));
    tcase_add_loop_test(tc, intervals_of_texts, 0, COUNT(intervals));
    tcase_add_loop_test(tc, units_meet, 0, COUNT(meetings));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
