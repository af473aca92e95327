/* test_io_faults.c - calls of the system that fail while files are read and written: each call of each
 * operation in turn.  The result is right, or it is RD_ERR_FILE with a sentence that names the file; old
 * files are as they were, and nothing is left beside them.  The linker puts the functions __wrap_NAME()
 * in place of the system's (cmake/tests.cmake), for the library's calls and this file's. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <rdim.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* ---- Calls that fail ------------------------------------------------------------------------- */
typedef enum call {
    OPEN,
    READ,
    PREAD,
    WRITE,
    FSYNC,
    CLOSE,
    RENAME,
    MMAP,
    FSTAT,
    FCHMOD,
    LSTAT
} call;

static struct fault {
    bool is_on, was_met, is_short; /* short: half of what was asked for, and no failure */
    bool ends;                     /* the file does, before all is read                 */
    call of;
    int  after, error; /* calls that do not fail */
} fault;

/* Does this one? */
static bool fails(call c)
{
    if (!fault.is_on || fault.of != c || fault.after-- != 0)
        return false;
    fault.was_met = true;
    errno         = fault.error;
    return !fault.is_short;
}

/* How much of it is asked for: half, where the call before it said so. */
static size_t part(call c, size_t n)
{
    const bool met = fault.was_met;

    return fails(c) ? 0 : fault.is_short && fault.was_met && !met ? (n + 1) / 2 : n;
}

int     __real_open(const char *path, int flags, ...);
int     __wrap_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);
int     __real_fsync(int fd);
int     __wrap_fsync(int fd);
int     __real_close(int fd);
int     __wrap_close(int fd);
int     __real_rename(const char *from, const char *to);
int     __wrap_rename(const char *from, const char *to);
void   *__real_mmap(void *at, size_t n, int access, int flags, int fd, off_t from);
void   *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t from);
int     __real_fstat(int fd, struct stat *facts);
int     __wrap_fstat(int fd, struct stat *facts);
int     __real_lstat(const char *path, struct stat *facts);
int     __wrap_lstat(const char *path, struct stat *facts);
int     __real_fchmod(int fd, mode_t mode);
int     __wrap_fchmod(int fd, mode_t mode);

int __wrap_open(const char *path, int flags, ...)
{
    va_list  list;
    unsigned mode = 0;

    va_start(list, flags);
    if (flags & O_CREAT)
        mode = va_arg(list, unsigned);
    va_end(list);
    return fails(OPEN) ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    const size_t now = part(READ, n);

    return now || !n ? __real_read(fd, to, now) : -1;
}

ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    const size_t now = part(PREAD, n);

    return now || !n ? __real_pread(fd, to, now, at) : fault.ends ? 0 : -1;
}

ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    const size_t now = part(WRITE, n);

    return now || !n ? __real_write(fd, from, now) : -1;
}

int __wrap_fsync(int fd)
{
    return fails(FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_close(int fd)
{
    const int status = __real_close(fd); /* as Linux does, whatever it says */

    return fails(CLOSE) ? -1 : status;
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : __real_rename(from, to);
}

void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t from)
{
    return fails(MMAP) ? MAP_FAILED : __real_mmap(at, n, access, flags, fd, from);
}

int __wrap_fstat(int fd, struct stat *facts)
{
    return fails(FSTAT) ? -1 : __real_fstat(fd, facts);
}

int __wrap_lstat(const char *path, struct stat *facts)
{
    return fails(LSTAT) ? -1 : __real_lstat(path, facts);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return fails(FCHMOD) ? -1 : __real_fchmod(fd, mode);
}

/* ---- Operations ------------------------------------------------------------------------------ */
enum { ROWS = 60, COLUMNS = 50 };

static char    folder[400], path[500];
static float   data[ROWS][COLUMNS], old[COLUMNS], found[ROWS][COLUMNS];
static rd_ctx *ctx;

static rd_status save(int order, bool big_endian)
{
    return rd_save(ctx, rd_wrap(ctx, data, RD_SHAPE(ROWS, COLUMNS)), path, .order = order,
                   .big_endian = big_endian);
}

static rd_status save_plain(void)
{
    return save(0, false);
}

static rd_status save_converted(void)
{
    return save(1, true);
}

/* Neither mapped nor read twice. */
static rd_status load(bool read)
{
    rd_expr *const x = rd_load(ctx, path, .read = read);

    return x ? rd_eval(ctx, rd_add(x, rd_num(ctx, 0)), RD_INTO(found, RD_SHAPE(ROWS, COLUMNS)))
             : rd_error(ctx);
}

static rd_status load_mapped(void)
{
    return load(false);
}

static rd_status load_read(void)
{
    return load(true);
}

static rd_status read_apart(void)
{
    static float wide[ROWS][2 * COLUMNS];
    rd_array     out = { .data    = wide,
                         .type    = RD_F32,
                         .shape   = RD_SHAPE(ROWS, COLUMNS),
                         .strides = RD_STRIDES(2 * COLUMNS, 2) };

    if (rd_read(ctx, path, &out) != RD_OK)
        return rd_error(ctx);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            found[i][j] = wide[i][2 * j];
    return RD_OK;
}

static rd_status save_measured(void)
{
    return rd_measured_save(ctx, path);
}

static rd_status load_measured(void)
{
    return rd_measured_load(ctx, path);
}

static const struct operation {
    const char *what;
    rd_status (*run)(void);
    bool saves, replaces, measured;
} operations[] = {
    { "a new file", save_plain, .saves = true },
    { "a file that is replaced", save_plain, .saves = true, .replaces = true },
    { "a file of another order", save_converted, .saves = true },
    { "a mapped file", load_mapped, .saves = false },
    { "a file that is read", load_read, .saves = false },
    { "a file read apart", read_apart, .saves = false },
    { "findings", save_measured, .saves = true, .measured = true },
    { "findings that are read", load_measured, .measured = true },
};

/* What fails, and whether the operation must come to its end all the same. */
static const struct way {
    const char *what;
    call        of;
    int         error;
    bool        is_short, passes;
} ways[] = {
    { "open", OPEN, EMFILE, false, false },   { "open", OPEN, EACCES, false, false },
    { "read", READ, EIO, false, false },      { "read", READ, EINTR, false, true },
    { "read", READ, 0, true, true },          { "pread", PREAD, EIO, false, false },
    { "pread", PREAD, EINTR, false, true },   { "pread", PREAD, 0, true, true },
    { "pread", PREAD, 0, false, false },      { "write", WRITE, ENOSPC, false, false },
    { "write", WRITE, EINTR, false, true },   { "write", WRITE, 0, true, true },
    { "fsync", FSYNC, EIO, false, false },    { "fsync", FSYNC, EINVAL, false, true },
    { "fsync", FSYNC, ENOTSUP, false, true }, { "close", CLOSE, EIO, false, false },
    { "close", CLOSE, EINTR, false, true },   { "rename", RENAME, EACCES, false, false },
    { "mmap", MMAP, ENOMEM, false, true },    { "fstat", FSTAT, EIO, false, false },
    { "fchmod", FCHMOD, EIO, false, false },  { "fchmod", FCHMOD, EPERM, false, true },
    { "lstat", LSTAT, EACCES, false, false },
};

/* ---- What is there, and what is left --------------------------------------------------------- */
static int files_here(void)
{
    DIR *const d = opendir(folder);
    int        n = 0;

    ck_assert_ptr_nonnull(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void prepare(const struct operation *o)
{
    unlink(path);
    memset(found, 0, sizeof found);
    if (o->replaces)
        ck_assert(rd_save(ctx, rd_wrap(ctx, old, RD_SHAPE(COLUMNS)), path) == RD_OK);
    else if (!o->saves)
        ck_assert((o->measured ? save_measured() : save_plain()) == RD_OK);
}

/* All of it is there. */
static void is_done(const struct operation *o, const char *what)
{
    if (o->measured)
        ck_assert_msg(load_measured() == RD_OK, "%s: %s", what, rd_error_text(ctx));
    else if (o->saves)
        ck_assert_msg(rd_read(ctx, path, RD_INTO(found, RD_SHAPE(ROWS, COLUMNS))) == RD_OK,
                      "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(o->measured || memcmp(found, data, sizeof data) == 0, "%s: other data", what);
}

static void is_refused(const struct operation *o, rd_status status, const char *what)
{
    float back[COLUMNS];

    ck_assert_msg(status == RD_ERR_FILE && strstr(rd_error_text(ctx), path), "%s: %s", what,
                  rd_error_text(ctx));
    rd_error_clear(ctx);
    if (o->replaces)
        ck_assert_msg(rd_read(ctx, path, RD_INTO(back, RD_SHAPE(COLUMNS))) == RD_OK &&
                          memcmp(back, old, sizeof old) == 0,
                      "%s: the old file is another one", what);
    ck_assert_msg(files_here() == (o->saves ? o->replaces : 1), "%s: %d files", what, files_here());
}

/* One run, whose call `after` fails; was there one? */
static bool run(const struct operation *o, const struct way *w, int after)
{
    char what[200];

    snprintf(what, sizeof what, "%s, %s %d: %s", o->what, w->what, after,
             w->is_short ? "half of it"
             : w->error  ? strerror(w->error)
                         : "the end");
    prepare(o);
    fault                  = (struct fault){ .is_on    = true,
                                             .of       = w->of,
                                             .after    = after,
                                             .error    = w->error,
                                             .is_short = w->is_short,
                                             .ends     = !w->error && !w->is_short };
    const rd_status status = o->run();

    fault.is_on = false;
    ck_assert_msg(status == RD_OK || (fault.was_met && !w->passes), "%s: %s", what,
                  rd_error_text(ctx));
    if (status == RD_OK)
        is_done(o, what);
    else
        is_refused(o, status, what);
    return fault.was_met;
}

START_TEST(each_call)
{
    ctx                    = rd_ctx_new(NULL);
    const char *const base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rdim_io_faults_XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        data[k / COLUMNS][k % COLUMNS] = (float)k;
    for (int k = 0; k < COLUMNS; k++)
        old[k] = (float)-k;
    for (int w = 0; w < COUNT(ways); w++)
        for (int after = 0; run(&operations[_i], &ways[w], after); after++)
            ck_assert_int_lt(after, 1000);
    rd_ctx_free(ctx);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("io_faults");
    TCase   *tc = tcase_create("io_faults");
    SRunner *r  = srunner_create(s);

    tcase_add_loop_test(tc, each_call, 0, COUNT(operations));
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
