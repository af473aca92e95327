/* grib_place.c - coordinates of a GRIB message along the axes of its variable: number, time, step,
 * level. */
#if RDIM_ECCODES
#include "files/grib.h"
#include "calendar.h"

/* Reads a key that says where a message is; `other` where the key is missing. If the key cannot be
 * read, k->why is set, as `other` would be a wrong place. */
static long place_key(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k,
                      const char *key, long other)
{
    long      value = other;
    const int error = g->codes_get_long(h, key, &value);

    if (error && error != CODES_NOT_FOUND)
        k->why = cmd_text("a message has no %s: %s", key, g->codes_get_error_message(error));
    return error ? other : value;
}

/* The message's time in seconds since 1970-01-01. The date is a number such as 20200131, the time
 * one such as 1230 (hours and minutes). Sets k->why if one of them is invalid. */
static double seconds_of(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k)
{
    const long date = place_key(g, h, k, "dataDate", 0), clock = place_key(g, h, k, "dataTime", 0),
               seconds     = place_key(g, h, k, "second", 0);
    const long     minutes = clock / 100 * 60 + clock % 100;
    const cmd_date day     = { date / 10000, (int)(date / 100 % 100), (int)(date % 100) };

    if (day.month < 1 || day.month > 12 || day.day < 1 || day.day > 31)
        k->why = cmd_text("a message is of the date %08ld", date);
    if (clock < 0 || clock > 2400 || clock % 100 > 59 || seconds < 0 || seconds > 60)
        k->why = cmd_text("a message is of the time %04ld, and %ld seconds", clock, seconds);
    if (k->why)
        return 0;
    return (double)(cmd_day_of(CMD_PROLEPTIC_GREGORIAN, day) * 86400 + minutes * 60 + seconds);
}

/* Hours of a time unit by WMO's code table 4.4. 0: the unit has no fixed length, as months and
 * years. */
static double hours_of(long unit)
{
    switch (unit) {
    case 0: return 1. / 60;
    case 1: return 1;
    case 2: return 24;
    case 10: return 3;
    case 11: return 6;
    case 12: return 12;
    case 13: return 1. / 3600;
    case 14: return .25;
    case 15: return .5;
    default: return 0;
    }
}

/* The end of the message's forecast step in hours. Sets k->why if the unit has no fixed length,
 * unless the step is 0. */
static double step_of(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k)
{
    const long   step = place_key(g, h, k, "endStep", 0), unit = place_key(g, h, k, "stepUnits", 1);
    const double hours = hours_of(unit);

    if (step != 0 && hours == 0)
        k->why = cmd_text("a message has steps of the unit %ld, which has no hours", unit);
    return (double)step * hours;
}

/* Reads the coordinates of a message along the four axes: member of an ensemble, time, step, level.
 * A missing level is 0. */
void cmd_grib_read_place(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k,
                         double place[CMD_PLACES])
{
    place[CMD_NUMBER] = (double)place_key(g, h, k, "number", 0);
    place[CMD_TIME]   = seconds_of(g, h, k);
    place[CMD_STEP]   = step_of(g, h, k);
    if (g->codes_get_double(h, "level", &place[CMD_LEVEL]) != 0)
        place[CMD_LEVEL] = 0;
}
#else
typedef int cmd_no_grib_place;
#endif
