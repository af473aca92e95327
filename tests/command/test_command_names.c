/* Names of axes and coordinates as conditions: what meets, what is refused, and what is said. */
#include "command/run.h"
#include <math.h>
#if RDIM_NETCDF
#include "files/netcdf_api.h"

/* ---- Files: v (time, lat, lon) is its latitude, plus 1000 a step ------------------------------- */
enum { T = 2, Y = 3, X = 3 };

static const struct grid {
    const char *file, *order; /* of dimensions, by their first letters but time's t */
    double      lat[Y], lon[X], time[T];
    const char *time_units, *units;
} grids[] = {
    { "north.nc", "tyx", { 60, 0, -60 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "south.nc", "tyx", { -60, 0, 60 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "turned.nc", "xyt", { 60, 0, -60 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "hours.nc",
      "tyx",
      { 60, 0, -60 },
      { 0, 120, 240 },
      { 0, 24 },
      "hours since 2000-01-01",
      "K" },
    { "later.nc", "tyx", { 60, 0, -60 }, { 0, 120, 240 }, { 2, 3 }, "days since 2000-01-01", "K" },
    { "shared.nc",
      "tyx",
      { 0, -60, -90 },
      { 0, 120, 240 },
      { 0, 1 },
      "days since 2000-01-01",
      "K" },
    { "close.nc",
      "tyx",
      { 60.001, 0, -60 },
      { 0, 120, 240 },
      { 0, 1 },
      "days since 2000-01-01",
      "K" },
    { "twice.nc", "tyx", { 60, 0, 0 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "hole.nc", "tyx", { 60, NAN, 0 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "fine.nc", "tyx", { 0, 0.05, 90 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "west.nc", "tyx", { 60, 0, -60 }, { -180, 0, 180 }, { 0, 1 }, "days since 2000-01-01", "K" },
    { "east.nc",
      "tyx",
      { 0.1f, 0.2f, 0.3f },
      { 359.9f, 0, 0.1 },
      { 0, 1 },
      "days since 2000-01-01",
      "K" },
    { "night.nc",
      "tyx",
      { 60, 0, -60 },
      { 0, 120, 240 },
      { 86399.6, 86400.4 },
      "seconds since 2000-01-01",
      "K" },
    { "noleap.nc", "tyx", { 60, 0, -60 }, { 0, 120, 240 }, { 0, 1 }, "days since 2000-01-01", "K" },
};

static const cmd_netcdf_api *nc;

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

static void put_text(int file, int variable, const char *name, const char *text)
{
    ok(nc->put_att_text(file, variable, name, strlen(text), text));
}

static void make_grid(const struct grid *g)
{
    static const char *const names[]   = { "time", "lat", "lon" };
    const size_t             extents[] = { T, Y, X };
    const double            *at[]      = { g->time, g->lat, g->lon };
    const char              *units[]   = { g->time_units, "degrees_north", "degrees_east" };
    int                      file, dims[3], axes[3], order[3], v;
    double                   data[T * Y * X];

    ok(nc->create(g->file, NC_CLOBBER, &file));
    for (int d = 0; d < 3; d++) {
        ok(nc->def_dim(file, names[d], extents[d], &dims[d]));
        ok(nc->def_var(file, names[d], NC_DOUBLE, 1, &dims[d], &axes[d]));
        put_text(file, axes[d], "units", units[d]);
        order[d] = (int)(strchr("tyx", g->order[d]) - "tyx");
    }
    if (strcmp(g->file, "noleap.nc") == 0)
        put_text(file, axes[0], "calendar", "noleap");
    ok(nc->def_var(file, "v", NC_DOUBLE, 3,
                   (int[]){ dims[order[0]], dims[order[1]], dims[order[2]] }, &v));
    put_text(file, v, "units", g->units);
    ok(nc->enddef(file));
    for (int i = 0; i < T * Y * X; i++) {
        size_t place[3];

        for (int d = 2, rest = i; d >= 0; d--) {
            place[order[d]] = (size_t)rest % extents[order[d]];
            rest /= (int)extents[order[d]];
        }
        data[i] = g->lat[place[1]] + 1000. * (double)place[0];
    }
    for (int d = 0; d < 3; d++)
        ok(nc->put_var_double(file, axes[d], at[d]));
    ok(nc->put_var_double(file, v, data));
    ok(nc->close(file));
}

/* w (row, col), 9 to 17. */
static void make_other(void)
{
    const double data[] = { 9, 10, 11, 12, 13, 14, 15, 16, 17 };
    int          file, dims[2], w;

    ok(nc->create("other.nc", NC_CLOBBER, &file));
    ok(nc->def_dim(file, "row", 3, &dims[0]));
    ok(nc->def_dim(file, "col", 3, &dims[1]));
    ok(nc->def_var(file, "w", NC_DOUBLE, 2, dims, &w));
    ok(nc->enddef(file));
    ok(nc->put_var_double(file, w, data));
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("names");
    nc = cmd_netcdf_load("tests");
    for (int k = 0; k < COUNT(grids); k++)
        make_grid(&grids[k]);
    make_other();
}

/* ---- What comes of it -------------------------------------------------------------------------- */
/* The command prints `out`; or it fails and says `err`. */
static const struct row {
    const char *line, *out, *err;
} rows[] = {
    /* By name, whatever the order of axes. */
    { "'max(abs(v[0] - lat))' north.nc", "0\n", NULL },
    { "'max(abs(lat - v[0]))' north.nc", "0\n", NULL },
    { "'max(abs(v[0] - lat[:, None]))' north.nc", "0\n", NULL },
    { "'max(abs(v[0, :, 0] - v[0]))' north.nc", "0\n", NULL },
    { "'max(abs(a - b))' a=north.nc:v b=turned.nc:v", "0\n", NULL },
    { "'max(abs(a - mean(b, axis=lon)))' a=north.nc:v b=turned.nc:v", "0\n", NULL },
    { "'max(abs(a - mean(b, axis=lon, keepdims=true)))' a=north.nc:v b=north.nc:v", "0\n", NULL },
    { "'max(abs(v - mean(v, axis=(lat, lon))) - abs(lat))' north.nc", "0\n", NULL },
    { "'max(v[0].T - v[0])' north.nc", "0\n", NULL },
    { "'max(where(v[0] > lat - 1, v[0], lat + 7) - lat)' north.nc", "0\n", NULL },
    { "'max(hypot(v[0], lat) - abs(lat) * sqrt(2))' north.nc", "0\n", NULL },
    { "'sum(mean(v[0], axis=lat, weights=lat + 60))' north.nc", "120\n", NULL },
    { "'sum(v[0], where=lat > 0)' north.nc", "180\n", NULL },
    { "'sum(v, axis=(time, lat), where=lat > 0)[0]' north.nc", "1120\n", NULL },
    { "'sum(v[0], axis=(lat, lon), by=int64(lat > 0), groups=2)' north.nc",
      "axis 0  result\n     0    -180\n     1     180\n", NULL },
    { "'sum(v[0], axis=lon, where=v > 0)' north.nc", NULL, "the first array lacks an axis" },
    { "'max(lat[:, None] - lat[None, :])' north.nc", "120\n", NULL },
    { "'max(v[0][:, None] - v[0][None])' north.nc", "120\n", NULL },
    { "'max(v[0, :, None] - v[:, :, 0, None])' north.nc", NULL,
      "axes (lat, one without a name, lon) meet (time, lat, one without a name): names "
      "decide here" },

    /* Names that nobody gave are none. */
    { "'m = v[0] * 1; n = reshape(v[0], (3, 3)) + 1; k = reshape(v[1], (3, 3))' north.nc -o "
      "three.nc && $R 'max(k - n)' three.nc",
      "999\n", NULL },
    { "'max(v[0] - w)' north.nc other.nc", NULL,
      "axes (lat, lon) meet (row, col): they are of one shape, and no name is common" },
    { "'max(v[0] - w)' north.nc other.nc --align position", "51\n", NULL },

    /* Coordinates that differ. */
    { "'mean(a - b)' a=north.nc:v b=south.nc:v", NULL,
      "along lat one has 60 to -60 (3), the other -60 to 60 (3), the same in the other order" },
    { "'mean(a - b)' a=north.nc:v b=shared.nc:v", NULL, "the other 0 to -90 (3)" },
    { "'max(abs(a - b))' a=north.nc:v b=hours.nc:v", "0\n", NULL },
    { "'max(abs(a - b)) < 0.01' a=north.nc:v b=close.nc:v", "true\n", NULL },
    { "'max(abs(a - b))' a=north.nc:v b=later.nc:v", NULL,
      "along time one has 2000-01-01 to 2000-01-02 (2), the other 2000-01-03 to 2000-01-04 (2)" },
    { "'max(abs(a - b))' a=north.nc:v b=noleap.nc:v", NULL, "noleap" },
    { "'mean(a, where=b > 0)' a=north.nc:v b=south.nc:v", NULL, "along lat one has" },
    { "'o[i, j] = a[0, i, j] - b[0, i, j]' a=north.nc:v b=south.nc:v", NULL, "along lat one has" },
    { "'max(maximum(a, b))' a=north.nc:v b=south.nc:v", NULL, "along lat one has" },
    { "'mean(a[:, :2] - b)' a=north.nc:v b=north.nc:v", NULL, "along lat one has 60 to 0 (2)" },
    /* ... parts of one axis lie as the formula puts them, and one element repeats. */
    { "'max(v[1:] - v[:-1])' north.nc", "1000\n", NULL },
    { "'max(a[1:] - b[:-1])' a=north.nc:v b=north.nc:v", "1000\n", NULL },
    { "'max(v[:, ::2] - v[:, 1:])' north.nc", NULL,
      "along lat one has 60 to -60 (2), the other 0" },
    { "'max(a - b[:1])' a=north.nc:v b=later.nc:v", "1000\n", NULL },

    { "'max(concat([a, b], axis=time) - 1000)' a=north.nc:v b=later.nc:v", "60\n", NULL },
    { "'max(concat([a, b], axis=time))' a=north.nc:v b=south.nc:v", NULL, "along lat one has" },
    { "'max(concat([a, b], axis=lat))' a=north.nc:v b=south.nc:v", "1060\n", NULL },
    { "'max(stack([a, b], axis=0))' a=north.nc:v b=later.nc:v", NULL, "along time one has" },
    { "'max(stack([a[0], b[0].T]))' a=north.nc:v b=north.nc:v", NULL,
      "axis 0 is lat in one part, lon in another" },
    { "'sum(corr(a, b, axis=time))' a=north.nc:v b=turned.nc:v", "9\n", NULL },

    /* --align */
    { "'max(abs(a - b))' a=north.nc:v b=south.nc:v --align inner", "0\n", NULL },
    { "'(a - b)[0, :, 0]' a=north.nc:v b=shared.nc:v --align=inner",
      "lat (degrees_north)  result\n                  0       0\n"
      "                -60       0\n",
      NULL },
    { "'(a - b)[0, :, 0]' a=north.nc:v b=shared.nc:v --align left",
      "lat (degrees_north)  result\n                 60     NaN\n"
      "                  0       0\n                -60       0\n",
      NULL },
    { "'max(abs(a - b))' a=north.nc:v b=south.nc:v --align position", "120\n", NULL },
    { "'max(abs(a - b))' a=north.nc:v b=later.nc:v --align inner", NULL, "none is in both" },
    { "'max(abs(a - b))' a=north.nc:v b=noleap.nc:v --align inner", NULL, "noleap" },
    { "'v' north.nc --align outer", NULL, "it is exact, inner, left or position" },
    { "'max(o)' north.nc", NULL, "no array is called 'o'" },
    { "'o[i] = sum[j] a[0, i, j] * b[0, i, j]' a=north.nc:v b=shared.nc:v --align inner", NULL,
      "coordinates along 'lat' differ" },
    /* ... of which one is at two places, or at none, or nearer than a thousandth of the other's distance. */
    { "'a - b' a=north.nc:v b=twice.nc:v --align inner", NULL,
      "along lat one has 0 twice, at places 1 and 2, and nothing says which one is meant" },
    { "'a - b' a=twice.nc:v b=north.nc:v --align left", NULL, "along lat one has 0 twice" },
    { "'a - b' a=hole.nc:v b=north.nc:v --align left", NULL,
      "along lat one has no coordinate at place 1, NaN" },
    { "'a - b' a=north.nc:v b=hole.nc:v --align inner", NULL, "no coordinate at place 1" },
    { "'max(abs(a - b))' a=twice.nc:v b=north.nc:v --align position", "60\n", NULL },
    { "'max(abs(a - b))' a=north.nc:v b=fine.nc:v --align inner", "0\n", NULL },

    /* Joins. */
    { "'sum(v)' v=north.nc,later.nc", "18000\n", NULL },
    { "'sum(v)' v=north.nc,south.nc", NULL, "cannot be joined: along lat one has 60 to -60" },
    { "'sum(v)' v=north.nc,turned.nc", NULL, "axis 2 is lon in one, time in the other" },
    { "'sum(v)' v=north.nc,south.nc --align position", "18000\n", NULL },
    { "'sum(v)' v=north.nc,noleap.nc", NULL, "--align=position takes both as they are" },
    { "'max(abs(v[0] - v[1]))' v=north.nc,hours.nc --join member", "0\n", NULL },
    { "'max(abs(v[0] - v[1]))' v=north.nc,south.nc --join member", NULL, "cannot be joined" },
    { "'max(abs(v[0] - v[1]))' v=north.nc,later.nc --join member", NULL, "along time one has" },
    /* ... files that repeat one axis have it once. */
    { "'max(abs(v[0] - lat))' north.nc hours.nc", "0\n", NULL },
    { "'time[2:]' north.nc later.nc",
      "      time      result\n2000-01-03  2000-01-03\n2000-01-04  2000-01-04\n", NULL },

    /* By coordinate. */
    { "'v[lat=0, lon=120]' north.nc",
      "      time  result (K)\n2000-01-01           0\n2000-01-02        1000\n", NULL },
    { "'v[0, lat=-50, lon=130]' north.nc", "-60\n", NULL },
    { "'sum(v[lat=0..90])' north.nc", "6360\n", NULL },
    { "'sum(v[lat=0:90])' north.nc", "6360\n", NULL },
    { "'sum(v[lat=..0, time=..0.5])' north.nc", "-180\n", NULL },
    { "'sum(v[0, lat=-60..])' north.nc", "0\n", NULL },
    { "'sum(v[time=\"2000-01-02\"])' north.nc", "9000\n", NULL },
    { "'sum(v[time=\"2000-01\"])' north.nc", "9000\n", NULL },
    { "'sum(v[time=\"1999\"..\"2000-01-01\"])' north.nc", "0\n", NULL },
    { "'sum(v[time=\"2000-01-02\"..])' hours.nc", "9000\n", NULL },
    { "'v - v[time=\"2000-01-02\"]' north.nc --only 'lat=60, lon=0'",
      "      time  result (K)\n2000-01-01       -1000\n2000-01-02           0\n", NULL },
    { "'v' north.nc --only 'time=\"2000-01-01\", lat=60, lon=0'",
      "      time  result (K)\n2000-01-01          60\n", NULL },
    { "'v[lat=200]' north.nc", NULL, "lat=200 is not among its coordinates, 60 to -60 (3)" },
    { "'v[lat=70..90]' north.nc", NULL,
      "none of its coordinates is there: axis lat has 60 to -60" },
    { "'v[lat=70]' north.nc --only 'lon=0'",
      "      time  result (K)\n2000-01-01          60\n2000-01-02        1060\n", NULL },
    { "'v[lat=150]' north.nc", NULL, "60 to -60 (3): the nearest one is 60" },
    { "'v[lat=0]' twice.nc", NULL, "lat=0 is at two places, 1 and 2: say one of these" },
    { "'sum(v[lat=0..10])' twice.nc", "6000\n", NULL },
    { "'lat[lat=0.1..0.3]' east.nc",
      "lat (degrees_north)  result (degrees_north)\n"
      "                0.1                     0.1\n"
      "                0.2                     0.2\n"
      "                0.3                     0.3\n",
      NULL },
    /* ... in the order of numbers, or of coordinates */
    { "'sum(v[0, lat=60..-10])' north.nc", "180\n", NULL },
    { "'sum(v[0, lat=-10..60])' north.nc", "180\n", NULL },
    { "'sum(v[0, lat=-10..60])' south.nc", "180\n", NULL },
    { "'v[lat=60..-10]' south.nc", NULL,
      "lat=60..-10: the first is behind the second, and coordinates go up, -60 to 60 (3): say "
      "lat=-10..60" },
    { "'v[time=\"2000-01-02\"..\"2000-01-01\"]' north.nc", NULL,
      "say time='2000-01-01'..'2000-01-02'" },
    /* ... around */
    { "'lon[lon=-120..0]' north.nc",
      "lon (degrees_east)  result (degrees_east)\n"
      "              -120                    240\n"
      "                 0                      0\n",
      NULL },
    { "'lon[lon=240..120]' north.nc",
      "lon (degrees_east)  result (degrees_east)\n"
      "               240                    240\n"
      "               360                      0\n"
      "               480                    120\n",
      NULL },
    { "'lon[lon=-180..180]' north.nc",
      "lon (degrees_east)  result (degrees_east)\n"
      "              -120                    240\n"
      "                 0                      0\n"
      "               120                    120\n",
      NULL },
    { "'lon[lon=-130..-110]' north.nc",
      "lon (degrees_east)  result (degrees_east)\n"
      "              -120                    240\n",
      NULL },
    { "'lon[lon=0..360]' north.nc --only 'lon=0..300'",
      "lon (degrees_east)  result (degrees_east)\n"
      "                 0                      0\n"
      "               120                    120\n"
      "               240                    240\n",
      NULL },
    { "'lon[lon=-120..0][lon=-120]' north.nc", "240\n", NULL },
    { "'lon[lon=-120..120][1:] * lon[1:]' north.nc --align position",
      "lon (degrees_east)  result\n                 0       0\n               120   28800\n",
      NULL },
    { "'lon[lon=-10]' north.nc", "0\n", NULL },
    { "'lon[lon=-110]' north.nc", "240\n", NULL },
    { "'lon[lon=359]' north.nc", "0\n", NULL },
    /* ... what is there a turn on is one place, and the one of the file is taken */
    { "'lon[lon=0..350] / 90' west.nc",
      "lon (degrees_east)  result\n                 0       0\n               180       2\n",
      NULL },
    { "'sum(lon[lon=180])' west.nc", "180\n", NULL },
    { "'sum(lon[lon=-180])' west.nc", "-180\n", NULL },
    { "'lon[lon=-0.1..0] > 1' east.nc",
      "lon (degrees_east)  result\n        -0.1000061    true\n                 0   false\n",
      NULL },
    { "'o = v[lon=-120..0] * 2 - mean(v, axis=lon) - lat' north.nc -o f.nc && "
      "$R 'max(abs(o - (a[lon=-120..0] - lat)))' f.nc a=north.nc:v",
      "0\n", NULL },
    { "'o = v[lon=-120..0]' north.nc -o f.nc && $R 'o - a' f.nc a=north.nc:v", NULL,
      "along lon one has -120 to 0 (2), the other 0 to 240 (3)" },
    { "'v[lon=1000..1010]' north.nc", NULL, "none of its coordinates is there" },
    { "'sum(v[0, lat=60..420])' south.nc", "180\n", NULL },

    /* Half a second before midnight is of the day before: shown, selected and grouped. */
    { "'v[:, 0, 0]' night.nc",
      "                 time  result (K)\n2000-01-01 23:59:59.6          60\n"
      "2000-01-02 00:00:00.4        1060\n",
      NULL },
    { "'sum(v[time=\"2000-01-01\"])' night.nc", "0\n", NULL },
    { "'day(time)' night.nc",
      "                 time  result\n2000-01-01 23:59:59.6       1\n"
      "2000-01-02 00:00:00.4       2\n",
      NULL },
    { "'sum(v[time=\"2000-01-01 23:59:59.6\"])' night.nc", "0\n", NULL },
    { "'sum(v[time=\"2000-01-01 23:59:59.7\"..])' night.nc", "9000\n", NULL },

    /* Where a mask is true. */
    { "'v[day(time) > 0, :, 0]' north.nc --only 'lat=0..60'",
      "result (K): time down, lat (degrees_north) across\n              60     0\n"
      "2000-01-01    60     0\n2000-01-02  1060  1000\n",
      NULL },
    { "'sum(v[time=day(time) == 2])' north.nc", "9000\n", NULL },
    { "'v[0, lat=abs(lat) > 30]' north.nc --only 'lon=0'",
      "lat (degrees_north)  result (K)\n                 60          60\n"
      "                -60         -60\n",
      NULL },
    { "'sum(v[time=max(v, axis=(lat, lon)) > 100])' north.nc", "9000\n", NULL },
    { "'v' north.nc --only 'time=day(time) == 2, lat=0, lon=0'",
      "      time  result (K)\n2000-01-02        1000\n", NULL },
    { "'v[day(time) == 9]' north.nc", NULL,
      "the mask is true nowhere along axis time, 2000-01-01 to 2000-01-02 (2)" },
    { "'v[lat > 0]' north.nc", NULL,
      "the mask is along lat, and stands at the axis time: say lat=mask" },
    { "'v[lat=day(time) == 1]' north.nc", NULL, "say time=mask" },
    { "'v[v > 0]' north.nc", NULL, "a mask of 3 axes picks no part of an axis" },
    { "'a[lat=b > 0]' a=north.nc:v b=south.nc:lat", NULL, "along lat one has 60 to -60" },
    { "'x[x > 1]' x=a.npy", "axis 0  result\n     0     1.5\n     1     1.5\n     2     1.5\n",
      NULL },
    { "'v[time=\"2000-02-30\"]' north.nc", NULL, "no date of the calendar" },
    { "'v[lat=\"2000\"]' north.nc", NULL, "this axis has no dates" },
    { "'v[time=\"2001\"]' north.nc", NULL, "none of its coordinates is there" },
    { "'v[height=2]' north.nc", NULL,
      "the array has no axis of the name 'height', but time, lat, lon" },
    { "'v[0, lat=20, 0]' north.nc", NULL, "another subscript has taken the axis 'lat'" },
    { "'v[lat=0, lat=60]' north.nc", NULL, "another subscript has taken the axis 'lat'" },
    { "'v[0, 0, 0, lat=60]' north.nc", NULL, "another subscript has taken" },
    { "'v[0, 0, 0][lat=60]' north.nc", NULL, "no axis of the name 'lat': it is one number" },
    { "'v[lat=(0, 60)]' north.nc", NULL, "a part of an axis two of them: lat=low..high" },
    { "'v[lat=[0, 60]]' north.nc", NULL, "a part of an axis two of them: lat=low..high" },
    { "'v[lat]' north.nc", NULL, "a place is a whole number, and this is f64" },
    { "'v[1.5]' north.nc", NULL, "a place is a whole number, and this is f64" },
    { "'v[time=2000]' north.nc", NULL,
      "the nearest one is 2000-01-02.  A number is days since 2000-01-01, and a date stands in "
      "quotes, as in time='2000'" },
    { "'v[time=2000..2001]' north.nc", NULL, "a date stands in quotes, as in time='2000'" },
    { "'v[time > \"2000-01-02\"]' north.nc", NULL,
      "texts are coordinates, as in x[time='1990-06']" },
    { "'concat(v, v, axis=0)' north.nc", NULL,
      "if it is another array, say one list of them, as in concat([x, y], axis=0)" },
    { "'stack(v, v)' north.nc", NULL, "as in stack([x, y], axis=0)" },
    { "'concat([v, v], axis=height)' north.nc", NULL, "'height': if it is another array" },
    { "'concat([v, v], axis=\"height\")' north.nc", NULL, "'height', but time, lat, lon" },
    { "'mean(v, axis=Time)' north.nc", NULL, "no axis of the name 'Time', but time, lat, lon" },
    { "'o[t] = year(time[t])' north.nc", NULL,
      "year() takes whole arrays: indices stand behind it, as in month(time)[t]" },
    { "'o[t] = years(time[t])' north.nc", NULL, "no function is called 'years'" },
    { "'o[t] = year(time)[t]' north.nc", "      time     o\n2000-01-01  2000\n2000-01-02  2000\n",
      NULL },
    { "'mean(v, axis=time, by=month)' north.nc", NULL,
      "month is a function of times: month(time)" },
    { "'mean(v, axis=lat, by=lat)' north.nc", NULL,
      "Say groups=12 where labels are whole numbers" },
    { "'where(day(time) in (1, 2), v, nan)' north.nc", NULL,
      "found 'in': say x == 6 or x == 8, or 6 <= x <= 8" },
    { "'v[day(time) = 1]' north.nc", NULL, "found '=': == compares" },
    /* Of groups there is no nearest one. */
    { "'mean(v, axis=time, by=month(time))[month=13]' north.nc", NULL,
      "month=13 is not among its coordinates, 1 to 12 (12): the nearest one is 12" },
    { "'mean(v, axis=time, by=season(time))[season=5]' north.nc", NULL, "the nearest one is SON" },
    { "'mean(v, axis=time, by=season(time))[season=\"djf\"]' north.nc", NULL,
      "this axis has the words DJF MAM JJA SON" },
    { "'sum(mean(v, axis=time, by=month(time))[month=1])' north.nc", "4500\n", NULL },
    { "'v[lat=lon]' north.nc", NULL, "expected a coordinate" },
    { "'v[lat=]' north.nc", NULL, "expected a coordinate, as in lat=45" },
    { "'x[lat=1]' x=a.npy", NULL, "the array has no axis of the name 'lat'" },

    /* Indices that have names of axes. */
    { "'o[lon, lat] = v[0, lat, lon]' north.nc --only '0, :'",
      "lat (degrees_north)  o (K)\n                 60     60\n"
      "                  0      0\n                -60    -60\n",
      NULL },
    { "'o[lat, lon] = v[0, lon, lat]' north.nc", NULL,
      "index 'lon' stands at axis 'lat' of 'v', which has an axis 'lon'" },
};

START_TEST(names_are_conditions)
{
    const struct row *r = &rows[_i];
    char              line[500];

    snprintf(line, sizeof line, "$R %s", r->line);
    const int status = run(line);
    if (r->err) {
        ck_assert_msg(status == 1 || status == 2, "%s: not refused\n%s", line, out);
        ck_assert_msg(strstr(err, r->err), "%s:\n%s", line, err);
    } else {
        ck_assert_msg(status == 0, "%s: %d\n%s", line, status, err);
        ck_assert_msg(strcmp(out, r->out) == 0, "%s:\n%s", line, out);
    }
}
END_TEST

static void set_up_all(void)
{
    set_up();
    ck_assert_int_eq(run("$R '1.5 + 0 * x' x=north.nc:lat -o a.npy"), 0);
}

int main(void)
{
    Suite   *suite  = suite_create("command_names");
    TCase   *tc     = tcase_create("command_names");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up_all, leave);
    tcase_add_loop_test(tc, names_are_conditions, 0, COUNT(rows));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#else
int main(void)
{
    puts("this build of the command is without NetCDF");
    return 77;
}
#endif
