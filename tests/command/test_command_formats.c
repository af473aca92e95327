/* Formats that have records, dates or stores in folders, as other programs write them.  The files lie in
 * tests/data/files, where make.py says how they were made. */
#include "suite.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { ROOM = 1 << 16 };

static char dir[256], out[ROOM];

/* A line for the shell, in which R is the command and D the directory of files; the exit status. */
static int run(const char *line)
{
    char     *whole = NULL;
    const int n = asprintf(&whole, "R='%s'; D='%s'; { %s; } > out 2>&1 < /dev/null", RDIM_COMMAND,
                           RDIM_FILES, line);
    const int status = n > 0 ? system(whole) : -1;
    FILE     *f      = fopen("out", "rb");

    out[fread(out, 1, ROOM - 1, f)] = '\0';
    fclose(f);
    free(whole);
    ck_assert_msg(WIFEXITED(status), "%s: %d", line, status);
    return WEXITSTATUS(status);
}

static bool has(const char *format)
{
    ck_assert_int_eq(run("$R --version"), 0);
    return strstr(out, format) != NULL;
}

static void set_up(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/rdim_formats_XXXXXX", base ? base : "/tmp");
    ck_assert(mkdtemp(dir) && chdir(dir) == 0);
}

static void tear_down(void)
{
    char line[512];

    snprintf(line, sizeof line, "rm -r '%s'", dir);
    ck_assert(chdir("/") == 0 && system(line) == 0);
}

/* ---- One command, and what it says ----------------------------------------------------------- */
/* What must be said, or be part of it; `format` is what a build must have. */
typedef struct row {
    const char *format, *line;
    int         status;
    const char *want;
} row;

static void check_row(const row *r)
{
    if (!has(r->format)) {
        printf("skipped, as this build has no %.*s: %s\n", (int)strcspn(r->format, "\n"), r->format,
               r->line);
        return;
    }
    const int status = run(r->line);
    ck_assert_msg(status == r->status && strstr(out, r->want), "%s: %d, not %d\n%s\nwithout: %s",
                  r->line, status, r->status, out, r->want);
}

/* ---- Records and dates of NumPy --------------------------------------------------------------- */
#define NPY(line, want)               \
    {                                 \
        "NumPy .npy\n", line, 0, want \
    }
#define NPZ(line, want)               \
    {                                 \
        "NumPy .npz\n", line, 0, want \
    }
#define TRUE(file, formula) NPY("$R '" formula "' $D/" file, "true\n")

static const row records[] = {
    NPY("$R x x=$D/records.npy:x", "            time  result\n"
                                   "      2000-01-01       1\n"
                                   "      2000-01-02       2\n"
                                   "2000-03-01 12:30       3\n"
                                   "      2000-03-02     NaN\n"),
    NPY("$R 'all(a == reshape(arange(8), (4, 2)))' a=$D/records.npy:part.a", "true\n"),
    NPY("$R 'all(b == reshape(arange(48), (4, 2, 2, 3)))' b=$D/records.npy:part.b", "true\n"),
    TRUE("records.npy", "all((real(c) == 1) & (imag(c) == 2))"),
    NPY("$R 'sum(flag)' $D/records.npy", "3\n"),
    NPY("$R 'max(time)' $D/records.npy", "2000-03-02\n"),
    NPY("$R 'time[2] - time[0]' $D/records.npy", "5229000\n"),
    NPY("$R 'mean(time[:2])' $D/records.npy", "2000-01-01 12:00\n"),
    NPY("$R 'mean(x[1:3])' $D/records.npy", "2.5\n"),
    TRUE("records_fortran.npy", "all(b == reshape(arange(6), (2, 3))) & all(c == -b)"),
    NPY("$R 'sum(a)' $D/records_fortran.npy", "0\n"),
    NPY("$R --list $D/records.npy",
        "  time             i64   (time 4) seconds since 1970-01-01; in records\n"
        "  x                f32   (time 4); in records\n"
        "  name             -     (time 4); cannot be read: its elements are texts of 5 characters\n"
        "  part.a           i16   (time 4, 2); in records\n"
        "  part.b           f64   (time 4, 2, 2, 3); in records\n"
        "  c                c64   (time 4); in records\n"
        "  flag             bool  (time 4); in records\n"),
    { "NumPy .npy\n", "$R name $D/records.npy", 1,
      "records.npy: name cannot be read: its elements are texts of 5 characters" },
    { "NumPy .npy\n", "$R a $D/records_objects.npy", 1,
      "its records hold objects (o), so that NumPy pickles them" },
    { "NumPy .npy\n", "$R x x=$D/records.npy:y", 1, "no variable y in it; it has time, x, name" },
    { "NumPy .npy\n", "head -c 500 $D/records.npy > short.npy; $R x short.npy", 1,
      "short.npy: truncated: 4 records of" },
    NPZ("$R 'sum(x[:3])' x=$D/records.npz:r.x", "6\n"),
    NPZ("$R 'sum(x[:3])' x=$D/records_deflated.npz:r.x", "6\n"),
    NPZ("$R x x=$D/records_deflated.npz:r.part.a", "2000-03-01 12:30  4  5\n"),
    NPZ("$R 'min(x)' x=$D/records.npz:days", "2000-01-01\n"),
    NPZ("$R --list $D/records.npz",
        "  r                -     (); cannot be read: it has records, whose fields are variables, as "
        "r.time\n"),
    NPZ("$R --list $D/records_deflated.npz",
        "  r.part.b         f64   (time 4, 2, 2, 3); in records\n"),
    { "NumPy .npz\n", "$R x x=$D/records.npz:r", 1,
      "r cannot be read: it has records, whose fields are variables, as r.time" },
    NPY("$R x x=$D/dates_missing.npy", "     0           2000-01-01\n"
                                       "     1                  NaN\n"
                                       "     2  1969-12-31 23:59:59\n"),
    /* integers where nothing is missing, as a double does not hold them */
    TRUE("dates_whole.npy", "dates_whole[1] == -876543211"),
    NPY("$R x x=$D/dates_months.npy",
        "     0  1969-12-01\n     1  2000-02-01\n     2         NaN\n"),
    NPY("$R x x=$D/dates_years.npy",
        "     0   1969-01-01\n     1   2000-01-01\n     2  -0001-01-01\n"),
    NPY("$R x x=$D/dates_25s.npy", "     0  1970-01-01 00:00:25\n     1  1969-12-31 23:57:55\n"),
    NPY("$R 'sum(x)' x=$D/durations.npy", "6\n"),
    NPY("$R --list $D/durations.npy", "  durations        i64   (2) days; one piece\n"),
    NPY("cat $D/records.npy | $R 'sum(x[:3])' x=-:x", "6\n"),
};

START_TEST(fields_and_dates)
{
    check_row(&records[_i]);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_formats");
    TCase   *tc     = tcase_create("command_formats");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, fields_and_dates, 0, COUNT(records));
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
