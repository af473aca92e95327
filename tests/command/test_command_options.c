/* What is said on the command line, beside formulas: options and their values, names of inputs and outputs; and how
 * results and progress look. */
#include "command/run.h"
#include "progress.h"
#include <fcntl.h>

static void set_up(void)
{
    enter("options");
    run_well(
        "$R 'reshape(arange(24), (2, 3, 4)) / 1.' -o a.npy && $R 'complex(arange(3), 1)' -o z.npy && "
        "$R 'arange(4) / 1.' -o b.npy && $R '1.5 * arange(4)' -o c.npy");
}

/* ---- Options --------------------------------------------------------------------------------- */
typedef struct row {
    const char *line;
    int         status;
    const char *want; /* part of what is said; of status 0 all that is said */
} row;

static const row options[] = {
    { "$R --threads 2 '1 + 1'", 0, "2\n" },
    { "$R --threads '' '1 + 1'", 2, "--threads : a number from 0 to 1024" },
    { "$R --threads 5x '1 + 1'", 2, "--threads 5x: a number from 0 to 1024" },
    { "$R --threads -1 '1 + 1'", 2, "--threads -1: a number from 0 to 1024" },
    { "$R --threads 1025 '1 + 1'", 2, "--threads 1025: a number from 0 to 1024" },
    { "$R --memory 5GB '1 + 1'", 0, "2\n" },
    { "$R --memory 0.5T '1 + 1'", 0, "2\n" },
    { "$R --memory 1Gx '1 + 1'", 2, "--memory 1Gx: a size like 500M or 4G" },
    { "$R --memory 5Q '1 + 1'", 2, "--memory 5Q: a size like 500M or 4G" },
    { "$R --memory 0 '1 + 1'", 2, "--memory 0: a size like 500M or 4G" },
    { "$R --memory nan '1 + 1'", 2, "--memory nan: a size like 500M or 4G" },
    { "$R --memory 1e30 '1 + 1'", 2, "--memory 1e30: a size like 500M or 4G" },
    { "$R --backend cpu '1 + 1'", 0, "2\n" },
    { "$R --backend auto '1 + 1'", 0, "2\n" },
    { "$R --backend odd '1 + 1'", 2, "--backend odd: it is auto, cpu, cuda or opencl" },
    { "grep -o 'auto cpu cuda opencl' $D/../../../cmake/rdim-completion.bash", 0,
      "auto cpu cuda opencl\n" },
    /* each option of the help is completed, and is in the manual page */
    { "for o in $($R --help | grep -oE -- '--[a-z-]+' | sort -u); do grep -q -- \"$o\" "
      "$D/../../../cmake/rdim-completion.bash || echo \"$o\"; tr -d '\\\\' < $D/../../../docs/rdim.1 | grep -q -- \"$o\" "
      "|| echo \"$o\"; done",
      0, "" },
    { "$R --units convert '1 + 1'", 0, "2\n" },
    { "$R --units ignore '1 + 1'", 0, "2\n" },
    { "$R --units odd '1 + 1'", 2, "--units odd: it is convert or ignore" },
    { "$R --align left '1 + 1'", 0, "2\n" },
    { "$R --align odd '1 + 1'", 2, "--align odd: it is exact, inner, left or position" },
    { "$R --separator space '1 + 1'", 0, "2\n" },
    { "$R --separator '\\t' '1 + 1'", 0, "2\n" },
    { "$R --separator '' '1 + 1'", 2, "--separator : a character such as ; or |" },
    { "$R --separator ab '1 + 1'", 2, "--separator ab: a character such as ; or |" },
    { "$R --separator 5 '1 + 1'", 2, "--separator 5: a character such as ; or |" },
    { "$R --separator \"$(printf '\\351')\" '1 + 1'", 2, ": a character such as ; or |" },
    { "$R --progress '1 + 1'", 0, "2\n" },
    { "$R -o '' '1 + 1'", 2, "-o : no file is named" },
    { "$R 'm = 1' -o m=", 2, "-o m=: no file is named" },
    { "$R 'm = 1' -o 1=x.npy && ls 1=x.npy && rm 1=x.npy", 0, "1=x.npy\n" },
    { "$R --only '' x a.npy", 2, "--only: expected a number" },
    { "$R 'k' k=", 2, "k=: no file is named" },
    { "$R 'k' k=5x", 1, "5x: No such file or directory" },
    { "$R 'k' k=99999999999999999999", 2, "whole numbers are of 64 bits" },
    { "$R 'sum(x)' x='[a].npy'", 0, "276\n" },
    { "$R 'sum(x)' x='?z.npy'", 1, "?z.npy: No such file or directory" },
    { "$R 'sum(x)' x=b.npy,,c.npy", 0, "15\n" },
    { "$R 'sum(x)' x=a.npy:nothing", 1, "a.npy: no variable nothing in it; it has a" },
    { "$R 'sum(x)' x=a.npy:f4:", 2, "the shape is written like 100x200" },
    { "$R 'sum(x)' x=a.npy:f4:2x", 2, "the shape is written like 100x200" },
    { "$R 'sum(x)' x=a.npy:f4:-2", 2, "the shape is written like 100x200" },
    { "$R 'sum(x)' x=a.npy:f4:99999999999999999999", 2, "the shape is written like 100x200" },
    /* outputs */
    { "$R 'm = 1; s = 2' -o m=o.npy -o s=o.npy", 2, "-o o.npy: named twice" },
    { "$R 'm = 1; s = 2' -o m=o.npy -o s=./o.npy", 2,
      "o.npy and ./o.npy are one file: two outputs cannot be there" },
    { "touch o.npy; ln o.npy h.npy; $R 'm = 1; s = 2' -o m=o.npy -o s=h.npy", 2,
      "o.npy and h.npy are one file: two outputs cannot be there" },
    { "rm o.npy h.npy; mkdir d.npy; $R 1 -o d.npy", 1, "d.npy: a directory, cannot be written" },
    { "rmdir d.npy; ln -s /dev/null n.npy; $R 1 -o n.npy", 1,
      "n.npy: not a regular file, cannot be written" },
    { "rm n.npy; ln -s l2.npy l1.npy; ln -s l1.npy l2.npy; $R 1 -o l1.npy", 1,
      "l1.npy: cannot follow its links: Too many levels of symbolic links" },
    { "rm l1.npy l2.npy; ln -s o.npy l.npy; $R '1.5' -o l.npy && test ! -L l.npy && $R l l.npy", 0,
      "1.5\n" },
    { "rm -f l.npy o.npy; $R 'm = 1' $(seq -f '-o m=o%.0f.npy' 65)", 2,
      "more than 64 files to write" },
    { "ls *.tmp o*.npy 2> /dev/null | wc -l", 0, "0\n" },
    /* names of inputs */
    { "$R 'sum(x)' x=a.npy x=b.npy", 2, "x is given twice: x=a.npy and x=b.npy" },
    { "$R 'x' x=5 x=6", 2, "x is given twice: x=5 and x=6" },
    { "$R 'sum(x)' x=b.npy x=6", 2, "x is given twice: x=b.npy and x=6" },
    { "$R 'sum(x)' x=b.npy x=b.npy", 2, "x is given twice: x=b.npy and x=b.npy" },
    { "$R 'sum(x) + y' x=b.npy y=6", 0, "12\n" },
};

static const row shown[] = {
    { "$R 'b; c' b.npy c.npy", 0,
      "axis 0  result  result\n     0       0       0\n     1       1     1.5\n     2       2       "
      "3\n     3       3     4.5\n" },
    { "$R 'a = b; d = b > 1; e = c[1:]' b.npy c.npy", 0,
      "axis 0  a      d\n     0  0  false\n     1  1  false\n     2  2   true\n     3  3   "
      "true\naxis 0    e\n     0  1.5\n     1    3\n     2  4.5\n" },
    { "$R z z.npy", 0, "axis 0  result\n     0    0+1i\n     1    1+1i\n     2    2+1i\n" },
    { "$R 'z[2] * -1' z.npy", 0, "-2-1i\n" },
    { "$R 'complex(x[0, :2, :2], -1)' x=a.npy", 0,
      "result: axis 0 down, axis 1 across\n      0     1\n0  0-1i  1-1i\n1  4-1i  5-1i\n" },
    { "$R 'complex(x, 1)' x=a.npy", 0,
      "result: c128 (2, 3, 4)\n  axis 0       2\n  axis 1       3\n  axis 2       4\n" },
    { "$R 'complex(b * nan, -nan * b); complex(b[:2], -0.0)' b.npy", 0,
      "axis 0    result\n     0  NaN+NaNi\n     1  NaN+NaNi\n     2  NaN+NaNi\n     3  NaN+NaNi\naxis 0  result\n     0    0-0i\n     1    1-0i\n" },
    { "$R 'x[:0]' x=a.npy", 0,
      "result: f64 (0, 3, 4)\n  axis 0       0\n  axis 1       3\n  axis 2       4\n" },
    { "$R 'x > 3' x=a.npy", 0,
      "result: bool (2, 3, 4)\n  axis 0       2\n  axis 1       3\n  axis 2       4\n  min 0, mean "
      "0.833333, max 1\n" },
    { "$R 'x * nan' x=a.npy", 0,
      "result: f64 (2, 3, 4)\n  axis 0       2\n  axis 1       3\n  axis 2       4\n  min NaN, mean "
      "NaN, max NaN; 24 of 24 missing\n" },
};

static void check(const row *r)
{
    const int status = run_together(r->line);

    ck_assert_msg(status == r->status &&
                      (status ? strstr(out, r->want) != NULL : strcmp(out, r->want) == 0),
                  "%s: %d, not %d\n%s\nnot: %s", r->line, status, r->status, out, r->want);
}

START_TEST(options_say)
{
    check(&options[_i]);
}
END_TEST

START_TEST(results_look)
{
    check(&shown[_i]);
}
END_TEST

/* ---- Progress -------------------------------------------------------------------------------- */
static const struct {
    double      done, left;
    int64_t     bytes;
    const char *want; /* parts */
    const char *rate; /* NULL: none is shown */
} bars[] = {
    { 0, 99.4, 0, "\r[..............................]   0 %  99 s left\033[K", NULL },
    { 0.75, 1e300, 0, "\r[######################........]  75 %  2777 h 46 min left", NULL },
    { 0.5, 125, 0, "\r[###############...............]  50 %  2 min 05 s left", NULL },
    { 0.25, 5999.4, 0, "\r[#######.......................]  25 %  99 min 59 s left", NULL },
    { 1, 6000, 0, "\r[##############################] 100 %  1 h 40 min left", NULL },
    { 1, 0, 1 << 30, "\r[##############################] 100 %  ", " GB/s  0 s left" },
};

START_TEST(bar_of_progress)
{
    const int kept = dup(STDERR_FILENO), file = open("bar", O_RDWR | O_CREAT | O_TRUNC, 0666);
    cmd_bar   bar = cmd_bar_begin(true, bars[_i].bytes), other = cmd_bar_begin(false, 0);

    ck_assert(kept >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    const int went = cmd_bar_move(&bar, bars[_i].done, bars[_i].left);
    cmd_bar_end(&bar);
    cmd_bar_end(&bar); /* once only */
    cmd_bar_move(&other, 0.5, 3);
    cmd_bar_end(&other);
    fflush(stderr);
    ck_assert(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0 && close(file) == 0);
    read_text("bar", out);
    const size_t n = strlen(out), end = strlen("\r\033[K");
    ck_assert_int_eq(went, 0);
    ck_assert_msg(strstr(out, bars[_i].want) == out, "%s", out + 1);
    ck_assert_msg(!bars[_i].rate == !strstr(out, "GB/s") &&
                      (!bars[_i].rate || strstr(out, bars[_i].rate)),
                  "%s", out + 1);
    ck_assert_msg(n > end && strcmp(out + n - end, "\r\033[K") == 0 &&
                      strncmp(out + n - 2 * end, "\r\033[K", end) != 0,
                  "%s", out + 1);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_options");
    TCase   *tc     = tcase_create("command_options");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, options_say, 0, COUNT(options));
    tcase_add_loop_test(tc, results_look, 0, COUNT(shown));
    tcase_add_loop_test(tc, bar_of_progress, 0, COUNT(bars));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
