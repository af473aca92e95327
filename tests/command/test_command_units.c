/* Units of values and of coordinates: files that are joined, and operands that are added or compared. */
#include "command/run.h"
#include "files/formats.h"
#if RDIM_NETCDF
#include "files/netcdf_api.h"

enum { TIMES = 4, HIGH = 3 };

static const cmd_netcdf_api *nc;

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

static void put_text(int file, int variable, const char *name, const char *text)
{
    if (text)
        ok(nc->put_att_text(file, variable, name, strlen(text), text));
}

/* A variable (time, lat) of add, add + 1, ...; NULL: without units. */
static const struct made {
    const char *path, *name, *units;
    double      add;
    const char *lat_units;
    double      lat_times;
    const char *time_units, *calendar;
    nc_type     time_type;
} files[] = {
    { "k.nc", "tas", "K", 270, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "c.nc", "tas", "degC", 0, "degree_N", 1, "days since 2000-01-05", NULL, NC_INT },
    { "hours.nc", "tas", "K", 0, "degrees_north", 1, "hours since 2000-01-05", NULL, NC_INT },
    { "m.nc", "tas", "m", 0, "degrees_north", 1, "days since 2000-01-05", NULL, NC_INT },
    { "none.nc", "tas", NULL, 0, "degrees_north", 1, "days since 2000-01-05", NULL, NC_INT },
    { "noleap.nc", "tas", "K", 0, "degrees_north", 1, "days since 2000-01-05", "noleap", NC_INT },
    { "t.nc", "t", "degC", 0, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "f.nc", "f", "degF", 32, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "hpa.nc", "p", "hPa", 0, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "pa.nc", "q", "Pa", 100, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "pr.nc", "pr", "kg m-2 s-1", 0, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "odd.nc", "odd", "widgets", 0, "degrees_north", 1, "days since 2000-01-01", NULL, NC_INT },
    { "near.nc", "a", "K", 0, "km", 1, "days since 2000-01-01", NULL, NC_INT },
    { "far.nc", "b", "K", 1, "m", 1000, "days since 2000-01-01", NULL, NC_INT },
    { "other.nc", "c", "K", 1, "K", 1, "days since 2000-01-01", NULL, NC_INT },
    { "watt.nc", "w", NULL, 0, "degrees_north", 1, "W", NULL, NC_INT },
    { "dbm.nc", "w", NULL, 0, "degrees_north", 1, "lg(re 1 mW)", NULL, NC_INT },
};

static int put_axis(int file, const char *name, nc_type type, int dimension, const char *units)
{
    int id;

    ok(nc->def_var(file, name, type, 1, &dimension, &id));
    put_text(file, id, "units", units);
    return id;
}

static void make_file(const struct made *m)
{
    const size_t start[2] = { 0 }, count[2] = { TIMES, HIGH };
    int          file, dims[2], time, lat, id;
    double       at[HIGH] = { -10 * m->lat_times, 0, 10 * m->lat_times }, data[TIMES * HIGH];

    ok(nc->create(m->path, NC_CLOBBER | NC_NETCDF4, &file));
    ok(nc->def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    ok(nc->def_dim(file, "lat", HIGH, &dims[1]));
    time = put_axis(file, "time", m->time_type, dims[0], m->time_units);
    put_text(file, time, "calendar", m->calendar);
    lat = put_axis(file, "lat", NC_DOUBLE, dims[1], m->lat_units);
    ok(nc->def_var(file, m->name, NC_FLOAT, 2, dims, &id));
    put_text(file, id, "units", m->units);
    ok(nc->enddef(file));
    for (int i = 0; i < TIMES * HIGH; i++)
        data[i] = m->add + i;
    ok(nc->put_vara_double(file, time, start, count, (const double[]){ 0, 1, 2, 3 }));
    ok(nc->put_vara_double(file, lat, start, &count[1], at));
    ok(nc->put_vara_double(file, id, start, count, data));
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("units");
    nc = cmd_netcdf_load("tests");
    for (int k = 0; k < COUNT(files); k++)
        make_file(&files[k]);
}

/* ---- What is taken ---------------------------------------------------------------------------- */
/* A line, what it prints, and what it warns of; NULL: of nothing.  Where it needs UDUNITS it is marked. */
static const struct taken {
    bool        udunits;
    const char *line, *prints, *warns;
} taken[] = {
    { 1, "'tas[:, 1]' tas=k.nc,c.nc", "2000-01-04         280\n2000-01-05      274.15\n", NULL },
    { 1, "'tas[:, 1]' tas=c.nc,k.nc", "2000-01-08             10\n2000-01-01          -2.15\n",
      NULL },
    { 0, "'tas[:, 1]' tas=k.nc,none.nc", "2000-01-04         280\n2000-01-05           1\n",
      "none.nc: tas has no units, and in k.nc it has" },
    { 0, "'tas[:, 1]' tas=k.nc,m.nc --units=ignore",
      "2000-01-04         280\n2000-01-05           1\n", NULL },
    /* The coordinate itself is converted, and stays whole where it can. */
    { 0, "'(time * 24)[7]' k.nc hours.nc", "99\n", NULL },
    { 1, "'(time + 0)[7]' k.nc c.nc --align=position", "7\n", NULL },
    { 0, "'a - b' near.nc far.nc --align=position --only '0, 0'", "-1\n", NULL },
    /* One unit is a logarithm of the other: no factor converts it, so numbers stay. */
    { 0, "'w[:, 0]' w=watt.nc,dbm.nc --align=position",
      "       3       9\n       0       0\n       1       3\n", NULL },
    { 1, "'a - b' near.nc far.nc --only '0, 0'", "-1\n", NULL },
    { 1, "'(p - q)[3, 2]' hpa.nc pa.nc", "9.89", NULL },
    { 1, "'(q - p)[3, 2]' hpa.nc pa.nc", "-989\n", NULL },
    { 1, "'(p < q)[0]' hpa.nc pa.nc",
      "true\n                  0    true\n                 10   false\n", NULL },
    { 1, "'(max(p, axis=time) + min(q, axis=time))[2]' hpa.nc pa.nc", "12.02", NULL },
    { 1, "'concat([p, q])[4, 0]' hpa.nc pa.nc --align=position", "1\n", NULL },
    { 1, "'stack([p, q])[1, 0, 0]' hpa.nc pa.nc", "1\n", NULL },
    { 1, "'searchsorted(p[:, 0], q[0])[0]' hpa.nc pa.nc", "1\n", NULL },
    { 1, "'isclose(p[0, 1], q[0, 0], 0.1, 0)' hpa.nc pa.nc", "true\n", NULL },
    { 1, "'clip(q, p[0, 2], p[0, 2])[0, 0]' hpa.nc pa.nc", "200\n", NULL },
    { 1, "'where(p > 100, p, q)[0, 0]' hpa.nc pa.nc", "1\n", NULL },
    { 0, "'(tas - (t + 273.15))[0, 0]' k.nc t.nc", "-3.1", NULL },
    { 0, "'(tas - t)[0, 0]' k.nc t.nc --units=ignore", "270\n", NULL },
    /* Differences have no zero. */
    { 1, "'((tas - mean(tas, axis=time)) - (t - mean(t, axis=time)))[0, 0]' k.nc t.nc", "0\n",
      NULL },
    { 1, "'(tas + (f - min(f, axis=time)))[3, 0]' k.nc f.nc", "284\n", NULL },
    { 1, "'(std(t, axis=time) - std(f, axis=time) * 1)[0] < 1' t.nc f.nc", "true\n", NULL },
    { 0, "'(tas * pr)[0, 1]' k.nc pr.nc", "271\n", NULL },
    { 1, "'(tas + pr)[0, 1] + pr[0, 1]' k.nc pr.nc", "273\n", "do not convert" },
    { 1, "'(tas - lat)[0, 0]' k.nc", "280\n", "values in K and in degrees_north are added" },
    { 1, "'(tas + odd)[0, 1]' k.nc odd.nc", "272\n", "nobody knows whether they convert" },
    { 0, "'(tas + odd)[0, 1]' k.nc odd.nc --units=ignore", "272\n", NULL },
    { 0, "'(tas + 1)[0, 1]' k.nc", "272\n", NULL },
    /* As in CDO's subc the units stay, and a sentence says so. */
    { 0, "'c = tas - 273.15' k.nc --only '0, 0'", "-3.1", "the units stay K" },
    { 0, "'c = 273.15 + t' t.nc --only '0, 0'", "273.1", "the units stay degC" },
    { 0, "'frost = tas < 273.15' k.nc --only '0, 0'", "true\n", NULL },
};

START_TEST(takes)
{
    const struct taken *t = &taken[_i];
    char                line[512];

    if (t->udunits && !RDIM_UDUNITS)
        return;
    snprintf(line, sizeof line, "$R %s", t->line);
    ck_assert_msg(run(line) == 0, "%s: %s", line, err);
    ck_assert_msg(strstr(out, t->prints), "%s\n%s", line, out);
    ck_assert_msg(t->warns ? strstr(err, t->warns) != NULL : !*err, "%s\n%s", line, err);
    if (t->warns) { /* once */
        const char *first = strchr(err, '\n');

        ck_assert_msg(first && !first[1], "%s\n%s", line, err);
    }
}
END_TEST

/* ---- What is refused -------------------------------------------------------------------------- */
static const struct refused {
    const char *line;
    int         status;
    const char *says;
} refused[] = {
    { "tas tas=k.nc,m.nc", 1, "m.nc: tas is in m, in k.nc in K, and these do not convert" },
    { "tas tas=k.nc,noleap.nc", 1,
      "along time units are days since 2000-01-05 (noleap), those of k.nc days since 2000-01-01" },
    { "'tas - t' k.nc t.nc", 2, RDIM_UDUNITS ? "times 1, plus 273.15, if these are values" : "" },
    { "'tas > t' k.nc t.nc", 2, RDIM_UDUNITS ? "counts from another zero" : "" },
    { "'tas - mean(t, axis=time)' k.nc t.nc", 2, RDIM_UDUNITS ? "counts from another zero" : "" },
    { "'t - f' t.nc f.nc", 2, RDIM_UDUNITS ? "times 0.555555555555556, plus -17.77777777777" : "" },
    { "'a - c' near.nc other.nc", 2, "along lat one is in km, the other in K" },
    { "'tas - t' tas=k.nc t=noleap.nc:tas", 2, "of the calendar noleap" },
    { "'time - u' time=k.nc:time u=noleap.nc:time --align=position", 2,
      "'days since 2000-01-05' of the calendar noleap: these do not convert" },
    { "w w=watt.nc,dbm.nc", 1, "along time units are lg(re 1 mW), those of watt.nc W" },
    { "tas k.nc --units=maybe", 2, "it is convert or ignore" },
};

START_TEST(refuses)
{
    const struct refused *r = &refused[_i];
    char                  line[512];

    if (!*r->says)
        return;
    snprintf(line, sizeof line, "$R %s", r->line);
    ck_assert_msg(run(line) == r->status, "%s\n%s", line, out);
    ck_assert_msg(strstr(err, r->says), "%s\n%s", line, err);
}
END_TEST

/* Without tables of units the library is of no use: only equal texts are the same. */
START_TEST(without_udunits)
{
    ck_assert_int_eq(run("export UDUNITS2_XML_PATH=/nowhere; $R tas tas=k.nc,c.nc"), 1);
    ck_assert_msg(strstr(err, "libudunits2, which knows units, is not installed here"), "%s", err);
    ck_assert_int_eq(run("export UDUNITS2_XML_PATH=/nowhere; $R 'tas - t' k.nc t.nc"), 0);
    ck_assert_msg(strstr(err, "nobody knows whether they convert; libudunits2"), "%s", err);
    ck_assert_int_eq(run("export UDUNITS2_XML_PATH=/nowhere; $R 'tas - tas[0]' k.nc"), 0);
    ck_assert_str_eq(err, "");
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_units");
    TCase   *tc     = tcase_create("units");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, takes, 0, COUNT(taken));
    tcase_add_loop_test(tc, refuses, 0, COUNT(refused));
    tcase_add_test(tc, without_udunits);
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
