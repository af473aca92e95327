/* What is said about a variable, as far as it is still true of a result: of all its elements or of some, of parts that
 * say the same or something else. */
#include "command/run.h"
#include "files/formats.h"
#if RDIM_NETCDF
#include "files/netcdf_api.h"

enum { N = 3 };

static const cmd_netcdf_api *nc;

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

static void put_text(int file, int variable, const char *name, const char *text)
{
    ok(nc->put_att_text(file, variable, name, strlen(text), text));
}

/* v(x) with coordinates depth(x), of integers, and label(x), of texts. */
static const struct made {
    const char *path, *depth_units, *labels[N];
    double      first, most; /* of coordinates, and of v */
} files[] = {
    { "k.nc", "m", { "a", "b", "c" }, 0, 9 },     { "same.nc", "m", { "a", "b", "c" }, 0, 9 },
    { "other.nc", "m", { "a", "b", "d" }, 0, 9 }, { "more.nc", "m", { "d", "e", "f" }, 3, 50 },
    { "km.nc", "km", { "d", "e", "f" }, 3, 50 },
};

static void make_file(const struct made *m)
{
    const size_t start[1] = { 0 }, count[1] = { N };
    const float  range[] = { 1, (float)m->most };
    const int    most    = 7; /* of depth */
    int          file, x, axis, v, depth, label;

    ok(nc->create(m->path, NC_CLOBBER | NC_NETCDF4, &file));
    ok(nc->def_dim(file, "x", NC_UNLIMITED, &x));
    ok(nc->def_var(file, "x", NC_DOUBLE, 1, &x, &axis));
    ok(nc->def_var(file, "depth", NC_INT, 1, &x, &depth));
    ok(nc->def_var(file, "label", NC_STRING, 1, &x, &label));
    ok(nc->def_var(file, "v", NC_FLOAT, 1, &x, &v));
    put_text(file, axis, "units", "m");
    put_text(file, depth, "units", m->depth_units);
    ok(nc->put_att(file, depth, "valid_max", NC_INT, 1, &most));
    put_text(file, v, "units", "K");
    put_text(file, v, "coordinates", "depth label");
    ok(nc->put_att_float(file, v, "actual_range", NC_FLOAT, 2, range));
    ok(nc->put_att_float(file, v, "actual_min", NC_FLOAT, 1, range));
    ok(nc->put_att_float(file, v, "valid_range", NC_FLOAT, 2, range));
    ok(nc->enddef(file));
    ok(nc->put_vara_double(file, axis, start, count,
                           (const double[]){ m->first, m->first + 1, m->first + 2 }));
    ok(nc->put_vara_double(file, depth, start, count, (const double[]){ 5, 6, 7 }));
    ok(nc->put_vara_string(file, label, start, count, (const char **)m->labels));
    ok(nc->put_vara_double(file, v, start, count, (const double[]){ 1, 5, m->most }));
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("kept");
    nc = cmd_netcdf_load("tests");
    for (int k = 0; k < COUNT(files); k++)
        make_file(&files[k]);
}

static bool has_variable(int file, const char *name)
{
    int id;

    return nc->inq_varid(file, name, &id) == NC_NOERR;
}

/* Of what is in new.nc: its variable and attribute, or a variable, with a '-' where it must not be there. */
static const struct row {
    const char *line, *want;
} rows[] = {
    { "v k.nc", "v:actual_range v:actual_min v:valid_range depth label" },
    { "'v = v[::-1]' k.nc", "v:actual_range v:valid_range depth label" },
    { "'v = v[1:]' k.nc", "-v:actual_range -v:actual_min v:valid_range depth label" },
    { "'v = v * 2' k.nc", "-v:actual_range -v:actual_min -v:valid_range depth label" },
    { "'v = v > 2' k.nc", "-v:actual_range -v:valid_range -v:units" },
    { "'v = a + b' a=k.nc:v b=same.nc:v", "depth label" },
    { "'v = a + b' a=k.nc:v b=other.nc:v", "depth -label" },
    { "'v = mean(v, axis=0)' v=k.nc,same.nc --join member", "depth label" },
    { "v v=k.nc,same.nc --join member", "v:valid_range depth label depth:valid_max" },
    { "v v=k.nc,more.nc", "-v:valid_range depth label depth:valid_max" },
    { "v v=k.nc,km.nc", "-v:valid_range depth label -depth:valid_max" },
};

START_TEST(kept)
{
    char line[500], want[200];
    int  file;

    snprintf(line, sizeof line, "$R %s -o new.nc", rows[_i].line);
    run_well(line);
    ok(nc->open("new.nc", NC_NOWRITE, &file));
    snprintf(want, sizeof want, "%s", rows[_i].want);
    for (char *word = strtok(want, " "); word; word = strtok(NULL, " ")) {
        const bool wanted = *word != '-';
        char      *name = word + !wanted, *colon = strchr(name, ':');
        bool       there;

        if (colon)
            *colon = '\0';
        there = has_variable(file, name);
        if (colon && there) {
            nc_type type;
            size_t  n;
            int     id;

            ok(nc->inq_varid(file, name, &id));
            there = nc->inq_att(file, id, colon + 1, &type, &n) == NC_NOERR;
        }
        ck_assert_msg(there == wanted, "%s: %s%s%s is %sthere", rows[_i].line, name,
                      colon ? ":" : "", colon ? colon + 1 : "", there ? "" : "not ");
    }
    ok(nc->close(file));
}
END_TEST

/* What is valid in one part alone is so in the result. */
START_TEST(valid_in_parts)
{
    run_well("$R v v=k.nc,more.nc -o new.nc && $R 'sum(v)' new.nc");
    ck_assert_msg(strcmp(out, "71\n") == 0, "%s", out);
    run_well("$R v v=more.nc,k.nc -o new.nc && $R 'sum(v)' new.nc");
    ck_assert_msg(strcmp(out, "71\n") == 0, "%s", out);
}
END_TEST

/* A coordinate whose parts are in other units is in those of the first one, and so is what is said of its values. */
START_TEST(converted)
{
    if (run_together("$R '1 + 0 * depth' k.nc; $R 'a - b' a=k.nc:depth b=km.nc:depth") != 0 ||
        strstr(out, "nobody knows"))
        return; /* no UDUNITS */
    run_well("$R v v=k.nc,km.nc -o new.nc && $R 'sum(depth)' new.nc");
    ck_assert_msg(strcmp(out, "18018\n") == 0, "%s", out);
    run_well("$R v v=km.nc,k.nc -o new.nc && $R 'sum(depth)' new.nc");
    ck_assert_msg(strcmp(out, "18.018\n") == 0, "%s", out);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_kept");
    TCase   *tc     = tcase_create("command_kept");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, kept, 0, COUNT(rows));
    tcase_add_test(tc, valid_in_parts);
    tcase_add_test(tc, converted);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#else
int main(void)
{
    puts("no NetCDF in this build");
    return 77;
}
#endif
