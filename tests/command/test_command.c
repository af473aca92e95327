/* The command as users meet it: what it prints, writes, refuses, and leaves behind.  Files are made
 * here, and each run is a process of its own. */
#include "plot/colours.h"
#include "plot/ticks.h"
#include "suite.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <rdim.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { T = 6, Y = 4, X = 5, ALL = T * Y * X, ROOM = 1 << 16 };

static char  dir[256], out[ROOM], err[ROOM];
static float data[T][Y][X];

/* ---- Running it ------------------------------------------------------------------------------ */
static void read_text(const char *name, char text[ROOM])
{
    FILE        *f = fopen(name, "rb");
    const size_t n = f ? fread(text, 1, ROOM - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
}

/* A line for the shell, in which R is the command; the exit status. */
static int run(const char *line)
{
    char     *whole = NULL;
    const int n = asprintf(&whole, "R='%s'; { %s; } > out 2> err < /dev/null", RDIM_COMMAND, line);
    const int status = n > 0 ? system(whole) : -1;

    free(whole);
    read_text("out", out);
    read_text("err", err);
    ck_assert_msg(WIFEXITED(status), "%s: %d", line, status);
    return WEXITSTATUS(status);
}

static void run_well(const char *line)
{
    const int status = run(line);

    ck_assert_msg(status == 0, "%s: %d\n%s", line, status, err);
}

/* Elements of a .npy file that a run has left. */
static int64_t load(rd_ctx *ctx, const char *name, double *to, int64_t most)
{
    rd_expr *x = rd_load(ctx, name);

    ck_assert_msg(x, "%s", rd_error_text(ctx));
    const rd_shape shape = rd_shape_of(x);
    int64_t        n     = 1;
    for (int k = 0; k < shape.n; k++)
        n *= shape.at[k];
    ck_assert_int_le(n, most);
    ck_assert(rd_eval(ctx, rd_cast(x, RD_F64),
                      &(rd_array){ .data = to, .type = RD_F64, .shape = shape }) == RD_OK);
    return n;
}

/* ---- Files to begin with --------------------------------------------------------------------- */
static bool with_netcdf, with_hdf5, with_npz;

static void make_files(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    FILE   *f;

    for (int i = 0; i < ALL; i++)
        (&data[0][0][0])[i] = i % 7 == 3 ? NAN : (float)(sin(i * 0.7) * 10 + i * 0.01);
    ck_assert(rd_save(ctx, rd_wrap(ctx, &data[0][0][0], RD_SHAPE(T, Y, X)), "a.npy") == RD_OK);
    ck_assert(rd_save(ctx, rd_wrap(ctx, &data[0][0][0], RD_SHAPE(T, Y, X)), "big.npy",
                      .big_endian = true) == RD_OK);
    f = fopen("a.bin", "wb");
    ck_assert(f && fwrite(data, sizeof(float), ALL, f) == ALL && fclose(f) == 0);
    f = fopen("t.csv", "w");
    ck_assert(f &&
              fputs("# a table\nyear, rain ,\"snow depth\"\n1990,1.5,2\n1991,,-3e1\n1992,4,NA\n",
                    f) >= 0 &&
              fclose(f) == 0);
    f = fopen("plain.txt", "w");
    ck_assert(f && fputs("1 2 3\n4 5 6\n", f) >= 0 && fclose(f) == 0);
    f = fopen("bad.csv", "w");
    ck_assert(f && fputs("1,2\n3,four\n", f) >= 0 && fclose(f) == 0);
    f = fopen("ragged.csv", "w");
    ck_assert(f && fputs("1,2\n3\n", f) >= 0 && fclose(f) == 0);
    f = fopen("short.npy", "wb");
    ck_assert(f && fputs("\x93NUMPY", f) >= 0 && fclose(f) == 0);
    rd_ctx_free(ctx);
}

static void set_up(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/rdim_command_XXXXXX", base ? base : "/tmp");
    ck_assert(mkdtemp(dir) && chdir(dir) == 0);
    make_files();
    run_well("$R --version");
    with_npz    = strstr(out, "NumPy .npz\n") != NULL;
    with_netcdf = strstr(out, "NetCDF\n") != NULL;
    with_hdf5   = strstr(out, "HDF5\n") != NULL;
    printf("command: %s npz, %s NetCDF, %s HDF5\n", with_npz ? "with" : "NO",
           with_netcdf ? "with" : "NO", with_hdf5 ? "with" : "NO");
}

static int count_files(bool remove_them)
{
    DIR *d = opendir(".");
    int  n = 0;

    ck_assert(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            n++;
            if (remove_them)
                remove(e->d_name);
        }
    closedir(d);
    return n;
}

static void tear_down(void)
{
    count_files(true);
    ck_assert(chdir("/") == 0 && rmdir(dir) == 0);
}

/* ---- What it says ---------------------------------------------------------------------------- */
static const struct said {
    const char *line;
    int         status;
    const char *out, *err; /* parts of what is said; NULL: nothing is */
} says[] = {
    { "$R --help", 0, "usage: rdim", NULL },
    { "$R", 2, NULL, "no formula" },
    { "$R --nonsense", 2, NULL, "--nonsense: no such option" },
    { "$R -z", 2, NULL, "-z: no such option" },
    { "$R --backend fast x", 2, NULL, "auto, cpu, cuda or opencl" },
    { "$R --threads many x", 2, NULL, "from 0 to 1024" },
    { "$R --memory lots x", 2, NULL, "500M or 4G" },
    { "$R -o", 2, NULL, "wants a value" },
    { "$R --list", 2, NULL, "no file is named" },
    { "$R --list a.npy", 0, "f32   (6, 4, 5)", NULL },
    { "$R --list t.csv", 0, "snow depth", NULL },
    /* formulas */
    { "$R '1 + 2 * 3 ** 2'", 0, "19\n", NULL },
    { "$R '7 // 2; 7 / 2; -2 ** 2; 7 % 4; 2 > 1 and not 1 > 2'", 0, "3\n3.5\n-4\n3\ntrue\n", NULL },
    { "$R -- '-2 ** 2'", 0, "-4\n", NULL },
    { "$R 'hypot(3, 4) + atan2(0, 1)'", 0, "5\n", NULL },
    { "$R 'y = 2; z = y + 1; y * z'", 0, "y = 2\nz = 3\n6\n", NULL },
    { "$R '_y = 2; z = _y + 1'", 0, "z = 3\n", NULL },
    { "$R 'k * 2' k=1.5", 0, "3\n", NULL },
    { "$R 'where(x > 100, 1, 0)[0, 0, 0]' a.npy", 0, "0\n", NULL },
    { "$R 'count(isnan(a))' a.npy", 0, "17\n", NULL },
    { "$R 'count(x == x)' x=a.npy", 0, "103\n", NULL },
    { "$R 'mean(x' a.npy", 2, NULL, "  mean(x\n          ^\n" },
    { "$R '1 +' ", 2, NULL, "expected an operand, found the end" },
    { "$R ''", 2, NULL, "expected a formula" },
    { "$R 'x +* 2' a.npy", 2, NULL, "  x +* 2\n       ^\n" },
    { "$R 'nothing(x)' a.npy", 2, NULL, "no function is called 'nothing'" },
    { "$R 'mean(x, y)' a.npy", 2, NULL, "the array has no axis of the name 'y'" },
    { "$R 'mean(x, x)' a.npy", 2, NULL, "the array has no axis of the name 'x'" },
    { "$R 'o[i] += x[i, 0, 0]' a.npy", 2, NULL, "there is none of this name" },
    { "$R 'mean(x, deg=1)' a.npy", 2, NULL, "mean has no keyword deg" },
    { "$R 'mean(x, axis=3)' a.npy", 2, NULL, "no axis 3 in an operand of rank 3" },
    { "$R \"mean(x, axis='time')\" a.npy", 2, NULL, "no axis of the name 'time'" },
    { "$R 'x[9]' a.npy", 2, NULL, "index 9 is outside axis 0" },
    { "$R 'mean(sst)' a.npy", 2, NULL, "names here are: a" },
    { "$R 'mean(sst)'", 2, NULL, "no file is given" },
    { "$R \"$(printf '%500s' | tr ' ' '(')\"", 2, NULL, "more than 150 parentheses" },
    { "$R \"$(printf '%500s' | tr ' ' '!')x\" a.npy", 2, NULL, "more than 150 parentheses" },
    { "$R \"$(printf '%70000s' 1)\"", 2, NULL, "more than 65536 bytes" },
    { "$R 'x = 1 2'", 2, NULL, "expected an operator, ';' or the end" },
    /* files */
    { "$R 'mean(x)' none.npy", 1, NULL, "none.npy: No such file" },
    { "$R 'mean(x)' short.npy", 1, NULL, "short.npy" },
    { "$R 'mean(x)' .", 1, NULL, "a directory" },
    { "$R 'mean(x)' bad.csv", 1, NULL, "line 2: four is no number" },
    { "$R 'mean(x)' ragged.csv", 1, NULL, "line 2 has 1 fields, the first one 2" },
    { "$R 'mean(x)' x=a.bin", 2, NULL, "name=a.bin:f4:100x200" },
    { "$R 'mean(x)' x=a.bin:f4:6x4", 1, NULL, "is 96 bytes, and the file has 480" },
    { "$R 'mean(x)' x=a.bin:f4:6xx4", 2, NULL, "written like 100x200" },
    { "$R 'x[0, 0, :2]' x=a.bin:f4:6x4x5", 0, "axis 0   result\n     0        0\n     1  6.45218\n",
      NULL },
    { "$R 'max(rain, skip_nan=true)' t.csv", 0, "4\n", NULL },
    { "$R 'nanmean(t, axis=0)' t=t.csv", 0, "1991", NULL },
    { "$R 'sum(plain)' plain.txt", 0, "21\n", NULL },
    { "$R 'x' x=plain.txt", 0, "0  1  2  3\n1  4  5  6\n", NULL },
    /* results */
    { "$R 'x' a.npy -o a.xyz", 2, NULL, "suffix says the format" },
    { "$R 'm = x; s = x' a.npy -o b.npy", 2, NULL, "say -o m=b.npy" },
    { "$R 'm = x' a.npy -o q=b.npy", 2, NULL, "no result of that name; it has m" },
    { "$R 'm = x' a.npy -o b.npy -o b.npy", 2, NULL, "named twice" },
    { "$R 'x' a.npy -o no/b.npy", 1, NULL, "cannot create a file beside it" },
    { "$R 'x' a.npy -o b.csv", 1, NULL, "a table has two axes" },
    { "$R 'x' a.npy --only '9'", 2, NULL, "--only: index 9" },
    { "$R 'x' a.npy --only '0, 1'", 0, "axis 0    result\n     0  -3.45783\n", NULL },
    { "$R 'x' a.npy", 0, "result: f32 (6, 4, 5)", NULL },
    { "$R 'x' a.npy", 0, "17 of 120 missing", NULL },
    { "$R 'nanmean(x, axis=0)' a.npy --explain", 0, "stage 0", NULL },
    { "$R 'nanmean(x, axis=0)' a.npy --explain=svg", 0, "<svg xmlns", NULL },
    { "$R 'nanmean(x, axis=0)' a.npy --explain=png", 2, NULL, "--explain=svg" },
    { "$R 'nanmean(x, axis=0)' a.npy --dot", 0, "digraph", NULL },
    { "$R 'nanmean(x)' a.npy --time", 0, NULL, "computed in" },
    { "$R 'x' a.npy > /dev/full", 1, NULL, "standard output cannot be written" },
    /* cairo took minutes for a line of so many points, and heard no signal */
    { "timeout 60 $R 'sin(arange(1000000) * 1.)' --plot long.png && echo drawn", 0, "drawn", NULL },
    /* nobody reads: the first signal ends the waiting */
    { "mkfifo nobody; timeout -k 20 1 $R 'arange(3)' -o nobody:csv; echo $?", 0, "124",
      "rdim: terminated" },
    { "$R --help > /dev/full", 1, NULL, "standard output cannot be written" },
    { "$R --version > /dev/full", 1, NULL, "standard output cannot be written" },
};

START_TEST(says_it)
{
    const struct said *c      = &says[_i];
    const int          status = run(c->line);

    ck_assert_msg(status == c->status, "%s: %d instead of %d\n%s%s", c->line, status, c->status,
                  out, err);
    ck_assert_msg(c->out ? strstr(out, c->out) != NULL : c->err != NULL || !*out, "%s: said\n%s",
                  c->line, out);
    ck_assert_msg(c->err ? strstr(err, c->err) != NULL : !*err, "%s: said\n%s", c->line, err);
    ck_assert_msg(c->status == 0 || !*out || c->status == 1, "%s: said\n%s", c->line, out);
}
END_TEST

/* ---- Each format, there and back ------------------------------------------------------------- */
static bool is_built(const char *name)
{
    return strstr(name, ".nc")    ? with_netcdf
           : strstr(name, ".h5")  ? with_hdf5
           : strstr(name, ".npz") ? with_npz
                                  : true;
}

static void check_data(const char *name, const char *what)
{
    double  got[ALL];
    rd_ctx *ctx = rd_ctx_new(NULL);

    ck_assert_int_eq(load(ctx, name, got, ALL), ALL);
    for (int i = 0; i < ALL; i++) {
        const float want = (&data[0][0][0])[i];
        ck_assert_msg(want != want ? got[i] != got[i] : got[i] == (double)want,
                      "%s: element %d is %.9g, not %.9g", what, i, got[i], (double)want);
    }
    rd_ctx_free(ctx);
}

static const char *const formats[] = { "b.npy", "b.npz", "b.nc", "b.h5", "b.bin" };

START_TEST(there_and_back)
{
    const char *name = formats[_i], *typed = strstr(name, ".bin") ? ":f4:6x4x5" : "";
    char        line[512];

    if (!is_built(name))
        return;
    snprintf(line, sizeof line, "$R 'sst = a' a=big.npy -o %s", name);
    run_well(line);
    ck_assert_str_eq(out, "");
    snprintf(line, sizeof line, "$R 'y' y=%s%s -o back.npy", name, typed);
    run_well(line);
    check_data("back.npy", name);
    snprintf(line, sizeof line, "$R 'y = a' a=%s%s -o %s && $R 'y' y=%s%s -o back.npy", name, typed,
             name, name, typed); /* over itself */
    run_well(line);
    check_data("back.npy", "over itself");
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(unlink("back.npy"), 0);
}
END_TEST

START_TEST(several_results)
{
    double  m[Y * X], s[Y * X], part[X];
    rd_ctx *ctx = rd_ctx_new(NULL);

    run_well("$R 'm = nanmean(x, axis=0); s = nanstd(x, axis=0)' a.npy -o m=m.npy -o s=s.npy");
    load(ctx, "m.npy", m, Y * X);
    load(ctx, "s.npy", s, Y * X);
    for (int i = 0; i < Y * X; i++) {
        double sum = 0, squares = 0, n = 0;
        for (int t = 0; t < T; t++) {
            const double v = (double)(&data[t][0][0])[i];
            sum += v == v ? v : 0;
            squares += v == v ? v * v : 0;
            n += v == v;
        }
        ck_assert_double_eq_tol(m[i], sum / n, 1e-5);
        ck_assert_double_eq_tol(s[i], sqrt(squares / n - sum / n * (sum / n)), 1e-4);
    }
    run_well("$R 'nanmean(x, axis=0)' a.npy --only '2' -o part.npy");
    ck_assert_int_eq(load(ctx, "part.npy", part, X), X);
    for (int i = 0; i < X; i++)
        ck_assert_double_eq(part[i], m[2 * X + i]);
    if (with_npz) {
        run_well("$R 'm = nanmean(x, axis=0); n = count(x, axis=1); b = x > 0' a.npy -o b.npz && "
                 "$R 'm' b.npz -o back.npy && $R --list b.npz");
        ck_assert_ptr_nonnull(strstr(out, "n                i64   (6, 5)"));
        ck_assert_ptr_nonnull(strstr(out, "b                bool  (6, 4, 5)"));
        ck_assert_int_eq(load(ctx, "back.npy", s, Y * X), Y * X);
        ck_assert_mem_eq(m, s, sizeof m);
        unlink("b.npz");
        unlink("back.npy");
    }
    rd_ctx_free(ctx);
    unlink("m.npy");
    unlink("s.npy");
    unlink("part.npy");
}
END_TEST

START_TEST(joined)
{
    run_well("$R 'x[:2]' a.npy -o p1.npy && $R 'x[2:]' a.npy -o p2.npy && "
             "$R y y=p1.npy,p2.npy -o back.npy");
    check_data("back.npy", "joined");
    run_well("$R y y='p?.npy' -o back.npy");
    check_data("back.npy", "joined by a pattern");
    run_well(
        "$R 'sum(y - y[0], axis=0, skip_nan=true)' y=a.npy,a.npy --join model --only '0, 0, 1' ");
    ck_assert_str_eq(out, "0\n");
    ck_assert_int_eq(run("$R y y=p1.npy,t.csv"), 1);
    ck_assert_ptr_nonnull(strstr(err, "cannot be joined"));
    ck_assert(unlink("p1.npy") == 0 && unlink("p2.npy") == 0 && unlink("back.npy") == 0);
}
END_TEST

/* What memory should not hold goes to a file without a name, with the same results. */
START_TEST(little_memory)
{
    run_well("TMPDIR=. $R --memory 100 y y=big.npy -o back.npy");
    check_data("back.npy", "in a file");
    if (with_npz) {
        run_well("$R 'y = a' a.npy -o b.npz && TMPDIR=. $R --memory 100 y b.npz -o back.npy");
        check_data("back.npy", "in a file");
    }
    ck_assert_int_eq(run("TMPDIR=/nowhere $R --memory 100 'y * 2' y=a.bin:\\>f4:6x4x5"), 1);
    ck_assert_ptr_nonnull(strstr(err, "TMPDIR says where"));
    unlink("b.npz");
    unlink("back.npy");
}
END_TEST

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */
static pid_t begin(char *const *arguments)
{
    const pid_t child = fork();

    if (child == 0) {
        const int quiet = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(quiet, STDOUT_FILENO);
        dup2(quiet, STDERR_FILENO);
        signal(SIGHUP, SIG_DFL); /* nohup may run the tests */
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
        execv(RDIM_COMMAND, arguments);
        _exit(127);
    }
    return child;
}

static bool is_working(void)
{
    DIR *d     = opendir(".");
    bool found = false;

    for (const struct dirent *e; d && (e = readdir(d));)
        found |= strstr(e->d_name, ".tmp") != NULL;
    closedir(d);
    return found;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* What asks a program to end ends it as that signal does, which shells show as 128 and its number. */
static const struct {
    int         number;
    const char *says;
} signals[] = { { SIGINT, "rdim: interrupted; nothing was written\n" },
                { SIGTERM, "rdim: terminated; nothing was written\n" },
                { SIGHUP, "rdim: the terminal was closed; nothing was written\n" },
                { SIGQUIT, "rdim: quit; nothing was written\n" } };

START_TEST(interrupted)
{
    static char *const arguments[] = {
        "rdim",
        "r = sum(exp(-(coord(y)[:, new] - coord(y)) ** 2), axis=1); y = coord(y)",
        "y=long.bin:u1:3000000",
        "-o",
        "r=old.npy",
        "-o",
        "y=new.npy",
        NULL
    };
    int status, files;

    ck_assert(truncate("a.bin", ALL * 4) == 0);
    const int fd = open("long.bin", O_RDWR | O_CREAT, 0666);
    ck_assert(fd >= 0 && ftruncate(fd, 3000000) == 0 && close(fd) == 0);
    run_well("cp a.npy old.npy; touch err");
    files             = count_files(false);
    const pid_t child = begin(arguments);
    for (int k = 0; k < 6000 && !is_working(); k++)
        nap();
    for (int k = 0; k < 30; k++)
        nap();
    ck_assert_int_eq(kill(child, signals[_i].number), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    read_text("err", err);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signals[_i].number, "%d: %s", status,
                  err);
    ck_assert_msg(strstr(err, signals[_i].says), "%s", err);
    ck_assert_int_eq(count_files(false), files);
    check_data("old.npy", "not written");
    ck_assert(unlink("old.npy") == 0 && unlink("long.bin") == 0);
}
END_TEST

START_TEST(limit_of_file_sizes)
{
    run_well("cp a.npy old.npy; head -c 9000 /dev/zero > z.bin");
    ck_assert_int_eq(run("ulimit -f 4; $R 'z + 1.' z=z.bin:u1:9000 -o old.npy"), 1);
    ck_assert_msg(strstr(err, "old.npy: no room for 72128 bytes: File too large"), "%s", err);
    check_data("old.npy", "too large");
    ck_assert_int_eq(
        run("ulimit -f 4; $R 'z + 1. / 3.' z=z.bin:u1:9000 -o new.csv; s=$?; ls; exit $s"), 1);
    ck_assert_msg(strstr(err, "new.csv: cannot write"), "%s", err);
    ck_assert_msg(!strstr(out, "tmp"), "%s", out);
    run_well("rm old.npy z.bin");
}
END_TEST

/* A pipe that nobody reads any more ends a program without a word. */
START_TEST(nobody_reads)
{
    run_well("{ sleep 0.2; $R a a.npy; echo $? > status; } | true; cat status; rm status");
    ck_assert_str_eq(out, "141\n");
    ck_assert_str_eq(err, "");
}
END_TEST

/* ---- Files that are replaced ----------------------------------------------------------------- */
START_TEST(replaced)
{
    run_well(
        "umask 022; $R a a.npy -o o.npy; stat -c %a o.npy; chmod 640 o.npy; $R 'a + 1' a.npy -o "
        "o.npy; stat -c %a o.npy; chmod 444 o.npy; $R a a.npy -o o.npy; stat -c %a o.npy");
    ck_assert_str_eq(out, "644\n640\n444\n");
    check_data("o.npy", "replaced");
    run_well(
        "mkdir d; mv o.npy d; ln -s d/o.npy l.npy; $R '0 - a' a.npy -o l.npy; test -L l.npy; $R "
        "'0 - x' x=d/o.npy -o d/o.npy");
    check_data("d/o.npy", "behind a link, and an input of its own");
    run_well("ln d/o.npy h.npy; $R 'a + 1' a.npy -o d/o.npy");
    check_data("h.npy", "a hard link stays the old file");
    run_well("rm -r d l.npy h.npy");
}
END_TEST

/* Two ways to name one file. */
static const struct {
    const char *what, *before, *first, *second;
} one_files[] = {
    { "the same", "true", "o.npy", "o.npy" },
    { "a dot", "true", "o.npy", "./o.npy" },
    { "a dot, replaced", "cp a.npy o.npy", "o.npy", "./o.npy" },
    { "a path", "true", "o.npy", "$PWD/o.npy" },
    { "a link", "cp a.npy o.npy; ln -s o.npy l.npy", "o.npy", "l.npy" },
    { "a hard link", "cp a.npy o.npy; ln o.npy l.npy", "o.npy", "l.npy" },
    { "a link to a directory", "ln -s . l.npy", "o.npy", "l.npy/o.npy" },
};

START_TEST(one_file)
{
    char line[400];

    snprintf(
        line, sizeof line,
        "%s; $R 'x = a; y = a + 1' a.npy -o x=%s -o y=%s; s=$?; ls *.tmp; rm -f o.npy l.npy; exit $s",
        one_files[_i].before, one_files[_i].first, one_files[_i].second);
    ck_assert_msg(run(line) == 2, "%s: %s", one_files[_i].what, err);
    ck_assert_msg(strstr(err, "one file") || strstr(err, "named twice"), "%s", err);
    ck_assert_msg(!strstr(out, "tmp"), "%s", out);
}
END_TEST

/* ---- Files that are damaged ------------------------------------------------------------------ */
/* Whatever byte of an archive is changed, stored or deflated: the same result, or none. */
START_TEST(damaged_members)
{
    static const char *const files[] = { "a.npz", "c.npz" };
    static char              bytes[ROOM], right[ROOM];

    for (int k = 0; with_npz && k < COUNT(files); k++) {
        char  line[400];
        int   refused = 0, all = 0;
        FILE *f;

        snprintf(line, sizeof line, "cp " RDIM_CASES "/%s o.npz; $R 'x; b' o.npz", files[k]);
        run_well(line);
        memcpy(right, out, sizeof right);
        f              = fopen("o.npz", "rb");
        const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        ck_assert(n > 0 && fclose(f) == 0);
        for (size_t at = 0; at < n; at += 7, all++) {
            bytes[at] ^= 0x10;
            f = fopen("o.npz", "wb");
            ck_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
            bytes[at] ^= 0x10;
            const int status = run("$R 'x; b' o.npz");
            ck_assert_msg(status == 0 ? strcmp(out, right) == 0 : *err != 0, "%s, byte %zu: %d, %s",
                          files[k], at, status, out);
            refused += status != 0;
        }
        ck_assert_msg(refused > all / 4 && refused < all, "%d of %d", refused, all);
        run_well("rm o.npz");
    }
}
END_TEST

/* More files than may be open, read one after the other. */
static const char *const suffixes[] = { "npy", "npz", "csv", "nc", "h5" };

START_TEST(many_files)
{
    char line[400];

    if ((_i == 1 && !with_npz) || (_i == 3 && !with_netcdf) || (_i == 4 && !with_hdf5))
        return;
    snprintf(
        line, sizeof line,
        "mkdir d; $R 'v = a[0]' a.npy -o d/1.%s; for k in $(seq 2 90); do cp d/1.%s d/$k.%s; done; "
        "ulimit -n 32; $R 'size(v, 0)' v='d/*.%s'; s=$?; rm -r d; exit $s",
        suffixes[_i], suffixes[_i], suffixes[_i], suffixes[_i]);
    run_well(line);
    ck_assert_str_eq(out, "360\n");
}
END_TEST

/* ---- Pictures -------------------------------------------------------------------------------- */
/* Labels of ticks, with spaces between. */
static void ticks_of_calendar_are(double lo, double hi, int wanted, const char *units,
                                  const char *calendar, const char *labels)
{
    const cmd_ticks t         = cmd_ticks_of(lo, hi, wanted, units, calendar);
    char            all[1024] = "";

    for (int k = 0; k < t.n; k++) {
        ck_assert_msg(t.at[k] >= lo - 1e-6 * (hi - lo) && t.at[k] <= hi + 1e-6 * (hi - lo),
                      "%g to %g: %g", lo, hi, t.at[k]);
        strcat(strcat(all, k ? " " : ""), t.label[k]);
    }
    ck_assert_msg(strcmp(all, labels) == 0, "%g to %g: %s, not %s", lo, hi, all, labels);
}

static void ticks_are(double lo, double hi, int wanted, const char *units, const char *labels)
{
    ticks_of_calendar_are(lo, hi, wanted, units, NULL, labels);
}

START_TEST(ticks)
{
    ticks_are(0, 10, 5, NULL, "0 2 4 6 8 10");
    ticks_are(-0.31, 0.29, 6, NULL, "-0.3 -0.2 -0.1 0 0.1 0.2");
    ticks_are(1.5e6, 9.5e6, 4, NULL, "2000000 4000000 6000000 8000000");
    ticks_are(3, 3, 4, NULL, "3");
    ticks_are(-90, 90, 6, "degrees_north",
              "90\u00b0S 60\u00b0S 30\u00b0S 0\u00b0 30\u00b0N 60\u00b0N "
              "90\u00b0N");
    ticks_are(20, 380, 6, "degrees_east",
              "60\u00b0E 120\u00b0E 180\u00b0 120\u00b0W 60\u00b0W 0\u00b0");
    ticks_are(0, 366, 8, "days since 2000-01-01", "2000 Mar May Jul Sep Nov 2001");
    ticks_are(0, 48, 4, "hours since 1999-12-31 12:00:00", "1 Jan 2 Jan");
    ticks_are(0, 36525, 6, "days since 1900-1-1", "1900 1920 1940 1960 1980 2000");
    ticks_are(17522904, 17522952, 4, "hours since 1-1-1 00:00:0.0", "1 Jan 2 Jan 3 Jan");
    ticks_of_calendar_are(0, 36000, 6, "days since 1900-1-1", "360_day",
                          "1900 1920 1940 1960 1980 2000");
    ticks_of_calendar_are(57, 60, 4, "days since 2000-1-1", "noleap", "27 Feb 28 Feb 1 Mar 2 Mar");
    ticks_of_calendar_are(57, 60, 4, "days since 2000-1-1", "none", "57 58 59 60");
    ticks_are(NAN, 4, 4, NULL, "");
    /* above 2^53, where steps are less than the distance of doubles */
    ticks_are(1e17, 1e17 + 16, 8, NULL, "1e+17 1e+17");
    ticks_are(-1e17 - 16, -1e17, 8, NULL, "-1e+17 -1e+17");
    ticks_are(1e17 + 48, 1e17 + 96, 8, NULL, "1e+17 1e+17 1e+17");
    ticks_are(1e15, 1e15 + 10, 5, NULL, "1e+15 1e+15 1e+15 1e+15 1e+15 1e+15");
}
END_TEST

/* Neither map has steps or turns of lightness that data have not. */
START_TEST(colours)
{
    double last = 0;

    for (int k = 0; k <= 256; k++) {
        const cmd_colour c = cmd_colour_of(k / 256.0, false), d = cmd_colour_of(k / 256.0, true),
                         e = cmd_colour_of(1 - k / 256.0, true);
        const double light = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;

        ck_assert_msg(light > last && light - last < (k ? 0.02 : 0.1), "%d: %g, %g", k, last,
                      light);
        last = light;
        ck_assert(k >= 128 || d.blue > d.red);
        ck_assert(k >= 128 || e.red > e.blue);
    }
    const cmd_colour middle = cmd_colour_of(0.5, true);
    ck_assert(fabs(middle.red - middle.blue) < 0.02 && middle.green > 0.9);
}
END_TEST

#if RDIM_CAIRO
START_TEST(pictures)
{
    run_well("$R 'm = mean(a, axis=(1, 2)); w = max(a, axis=(1, 2)); i = a[0]' a.npy --plot p.svg");
    read_text("p.svg", out);
    ck_assert_msg(strstr(out, "<svg") && strstr(out, "<image"), "%.200s", out);
    run_well("$R 'a[0]' a.npy --plot p.png -o p.npy && head -c 8 p.png | od -An -tx1");
    ck_assert_msg(strstr(out, "89 50 4e 47 0d 0a 1a 0a"), "%s", out);
    run_well("$R 'a[0]' a.npy --plot p.pdf && head -c 5 p.pdf");
    ck_assert_str_eq(out, "%PDF-");
    ck_assert_int_eq(run("$R 'a' a.npy --plot q.png"), 2);
    ck_assert_msg(strstr(err, "a picture is of one axis or two"), "%s", err);
    ck_assert_int_eq(run("$R 'a[0]' a.npy --plot q.jpg"), 2);
    ck_assert_int_eq(run("$R 'a[0, :0]' a.npy --plot q.png"), 2);
    ck_assert_int_eq(run("$R 'a[0]' a.npy --plot none/q.png"), 1);
    ck_assert(access("q.png", F_OK) != 0);
    run_well("rm p.svg p.png p.pdf p.npy");
}
END_TEST

/* A constant has a range around it, even above 2^53, where 1 more is the same number. */
START_TEST(constants)
{
    run_well("for c in 7.0 1e17; do $R \"full((3, 4), $c)\" --plot $c.png; "
             "$R \"full(3, $c)\" --plot $c.svg; grep 'width:1.8;' $c.svg > $c.line; done && "
             "test -s 7.0.line && cmp 7.0.line 1e17.line && rm 7.0.* 1e17.*");
}
END_TEST

/* From the least to the greatest value it may be farther than the greatest double. */
START_TEST(wide_ranges)
{
    run_well("printf '%s\\n' -1e307,0 1.797e308,1 > w.csv && $R a a=w.csv --plot w.png && "
             "$R 'a[:, 0]' a=w.csv --plot w.svg && grep 'width:1.8;.* d=.M 78 ' w.svg && "
             "rm w.csv w.png w.svg");
}
END_TEST

/* How many pixels of a PNG, or of its upper half, have the grey of missing elements, as cairo reads it; -1: it
 * does not. */
static int grey_pixels(const char *path, bool upper_half)
{
    void *const cairo = dlopen("libcairo.so.2", RTLD_NOW);
    void *(*read)(const char *);
    unsigned char *(*data_of)(void *);
    int (*width_of)(void *), (*height_of)(void *), (*stride_of)(void *);
    void (*destroy)(void *);
    const struct {
        const char *name;
        void       *function;
    } all[]   = { { "cairo_image_surface_create_from_png", &read },
                  { "cairo_image_surface_get_data", &data_of },
                  { "cairo_image_surface_get_width", &width_of },
                  { "cairo_image_surface_get_height", &height_of },
                  { "cairo_image_surface_get_stride", &stride_of },
                  { "cairo_surface_destroy", &destroy } };
    int count = -1;

    for (int k = 0; k < 6; k++) {
        void *const address = cairo ? dlsym(cairo, all[k].name) : NULL;

        if (!address)
            return -1;
        memcpy(all[k].function, &address, sizeof address);
    }
    void *const          picture = read(path);
    const unsigned char *bytes   = data_of(picture);

    for (int y = 0; bytes && y < height_of(picture) / (upper_half ? 2 : 1); y++)
        for (int x = 0; x < width_of(picture); x++) {
            const unsigned char *p = bytes + (ptrdiff_t)y * stride_of(picture) + 4 * x;

            count = (count < 0 ? 0 : count) + (p[0] == 189 && p[1] == 189 && p[2] == 189);
        }
    destroy(picture);
    return count;
}

START_TEST(missing_is_grey)
{
    run_well("$R 'where(isnan(a[0]), 0, a[0])' a.npy --plot p.png");
    run_well("$R 'where(a[0] > nanmean(a[0]), 0. / 0., a[0])' a.npy --plot q.png");
    const int none = grey_pixels("p.png", false), some = grey_pixels("q.png", false);

    ck_assert_msg(none >= 0 && none < 500 && some > 10000, "%d grey pixels of all, %d of NaN", none,
                  some);
    run_well("rm p.png q.png");
}
END_TEST

/* North is up, in whatever order latitudes are stored: here missing values are in the north. */
START_TEST(north_is_up)
{
    if (!with_netcdf)
        return;
    run_well("$R 'n = where(lat > 0, nan, x[0])' " RDIM_CASES "/chunks.nc -o n.nc && "
             "$R 'n = n[::-1]' n.nc -o s.nc && $R n n.nc --plot n.png && $R n s.nc --plot s.png");
    const int all = grey_pixels("n.png", false), up = grey_pixels("n.png", true);

    ck_assert_msg(all > 10000 && up > all * 0.9, "%d of %d grey pixels are up", up, all);
    ck_assert_int_eq(grey_pixels("s.png", true), up);
    run_well("cmp n.png s.png && rm n.nc s.nc n.png s.png");
}
END_TEST
#endif

int main(void)
{
    Suite   *suite  = suite_create("command");
    TCase   *tc     = tcase_create("command");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, says_it, 0, COUNT(says));
    tcase_add_loop_test(tc, there_and_back, 0, COUNT(formats));
    tcase_add_test(tc, several_results);
    tcase_add_test(tc, joined);
    tcase_add_test(tc, little_memory);
    tcase_add_loop_test(tc, interrupted, 0, COUNT(signals));
    tcase_add_test(tc, limit_of_file_sizes);
    tcase_add_test(tc, nobody_reads);
    tcase_add_test(tc, replaced);
    tcase_add_loop_test(tc, one_file, 0, COUNT(one_files));
    tcase_add_test(tc, damaged_members);
    tcase_add_loop_test(tc, many_files, 0, COUNT(suffixes));
    tcase_add_test(tc, ticks);
    tcase_add_test(tc, colours);
#if RDIM_CAIRO
    tcase_add_test(tc, pictures);
    tcase_add_test(tc, constants);
    tcase_add_test(tc, wide_ranges);
    tcase_add_test(tc, missing_is_grey);
    tcase_add_test(tc, north_is_up);
#endif
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
