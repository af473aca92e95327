/* hostile - broken files for each reader: hostile SECONDS|COUNTx SEED DIRECTORY FILE...
 *
 * Bytes of the files are changed, cut off and repeated; each result is opened and read by a process
 * of its own, which may refuse it, and must not crash, hang, or read outside: the address sanitizer
 * looks.  What does is kept in DIRECTORY.  Files in a directory of cases are read as they are,
 * first.
 *
 * Where a library breaks that reads a file for us, the command must say so and go on living: such
 * reports of the sanitizer, whose first frame is a library's, are counted, and are no findings. */
#include "base.h"
#include "files/late.h"
#include "files/reader.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOUND = 99, MOST_BYTES = 1 << 20, MOST_POINTS = 1 << 22, SECONDS_EACH = 600 };

/* A report must not look like a refusal. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:detect_leaks=0:allocator_may_return_null=1:handle_abort=1";
}
/* What is left when a file is refused goes with the program, and libraries leave some, too; whoever
 * runs the tests may ask for leaks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "exitcode=99:print_stacktrace=1";
}

static uint64_t state;

static uint64_t dice(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

/* ---- One file, read as the command reads it -------------------------------------------------- */
static void read_all(const char *path)
{
    rd_ctx   *ctx  = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    cmd_file *file = cmd_open(ctx, path);

    (void)cmd_said_about(file, NULL);
    for (int k = 0; k < file->n && k < 64; k++) {
        cmd_variable *v = &file->variable[k];
        double        sum, points = 1;

        for (int a = 0; a < v->shape.n; a++)
            points *= (double)v->shape.at[a];
        const cmd_said *said = cmd_said_about(file, v);
        if (points > MOST_POINTS)
            continue;
        if (said && (said->kind == CMD_CHARACTERS || said->kind == CMD_TEXTS))
            (void)cmd_read_stored(file, v);
        else if (v->type == RD_AUTO && !file->format->look)
            continue;
        if (said && said->kind != CMD_NUMBERS)
            continue;
        rd_expr *x = cmd_read(file, v);
        if (rd_type_of(x) == RD_C64 || rd_type_of(x) == RD_C128)
            x = rd_real(x);
        cmd_read_wanted(ctx, RD_RESULTS({ x, NULL }));
        if (rd_eval(ctx, rd_sum(rd_cast(x, RD_F64), RD_ALL), RD_INTO(&sum, RD_SCALAR)) != RD_OK)
            cmd_fail_of(ctx);
    }
    rd_ctx_free(ctx);
}

static int contained; /* reports of libraries */

/* Is the first frame of a report that is no part of the sanitizer a library's?  Frames of ours name a
 * source file, those of libraries the file that they were loaded from. */
static bool is_of_library(const char *report)
{
    const char *at = strstr(report, "#0 ");

    for (const char *end; at && (end = strchr(at, '\n')); at = strstr(end, "    #")) {
        const char *frame = cmd_copy(at, (size_t)(end - at));
        if (strstr(frame, "sanitizer") || strstr(frame, "libasan") || strstr(frame, "libubsan") ||
            strstr(frame, "/libc.so"))
            continue;
        return strstr(frame, "(/") && (strstr(frame, "/libhdf5") || strstr(frame, "/libnetcdf") ||
                                       strstr(frame, "/libeccodes"));
    }
    return false;
}

/* What processes said to stderr: none of it may be a report on us. */
static bool is_clean(int said)
{
    static char   text[1 << 16];
    const off_t   size = lseek(said, 0, SEEK_END);
    const ssize_t n    = pread(said, text, sizeof text - 1, 0);

    if (size < 0 || n < 0)
        return false;
    text[n]           = '\0';
    const char *error = strstr(text, "ERROR: ");
    const bool  broke = strstr(text, "library that reads it crashes") != NULL;
    if (getenv("HOSTILE_LOUD"))
        fputs(text, stderr);
    if (strstr(text, "runtime error: ") || (error && !is_of_library(error)))
        return false;
    contained += broke;
    return !error || broke;
}

static bool survives(const char *path, int *status)
{
    const int   said  = memfd_create("said", MFD_CLOEXEC);
    const pid_t child = said >= 0 ? fork() : -1;

    if (child == 0) {
        dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
        dup2(said, STDERR_FILENO);
        alarm(SECONDS_EACH);
        read_all(path);
        cmd_keep_counts();
        _exit(0);
    }
    if (child < 0 || waitpid(child, status, 0) < 0)
        return false;
    const bool clean = is_clean(said);
    close(said);
    return clean && WIFEXITED(*status) && WEXITSTATUS(*status) != FOUND;
}

/* ---- Changes --------------------------------------------------------------------------------- */
static size_t read_bytes(const char *path, uint8_t *bytes)
{
    FILE        *f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, MOST_BYTES, f) : 0;

    if (f)
        fclose(f);
    return n;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        fprintf(stderr, "hostile: %s: %s\n", path, strerror(errno));
        exit(2);
    }
}

/* Headers are where it counts: half of all places are in the first part of the file, or the last. */
static size_t place_in(size_t n)
{
    const size_t edge = n < 2048 ? n : 2048, at = dice(edge);

    switch (dice(4)) {
    case 0: return at;
    case 1: return n - 1 - at;
    default: return dice(n);
    }
}

static size_t change(uint8_t *bytes, size_t n)
{
    static const uint64_t extremes[] = { 0,          1,           0xff,       0x7fffffff,
                                         0x80000000, 0xffffffff,  UINT64_MAX, INT64_MAX,
                                         0x0100,     0xffff0000u, 16,         1u << 20 };
    const size_t          at         = place_in(n);
    const size_t          size       = (size_t)1 << dice(4);

    switch (dice(6)) {
    case 0: return dice(n) + 1;
    case 1: bytes[at] ^= (uint8_t)(1 << dice(8)); return n;
    case 2: bytes[at] = (uint8_t)dice(256); return n;
    case 3: bytes[at] = (uint8_t) " ,;\n\t0-9e.'\"(){}:x"[dice(18)]; return n;
    case 4:
        if (at + size <= n)
            memcpy(bytes + at, &extremes[dice(sizeof extremes / sizeof *extremes)], size);
        return n;
    default: {
        const size_t from = place_in(n), most = n - (from > at ? from : at),
                     m = most ? dice(most) : 0;
        memmove(bytes + at, bytes + from, m < 64 ? m : 64);
        return n;
    }
    }
}

static const char *suffix_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot ? dot : "";
}

static int failures;

static void report(const char *path, const char *from, int status)
{
    fprintf(stderr, "hostile: %s (of %s): %s %d\n", path, from,
            WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    failures++;
}

static void attack(const char *directory, const char *path, long round)
{
    static uint8_t bytes[MOST_BYTES];
    char           name[4096], kept[4096];
    size_t         n = read_bytes(path, bytes);
    int            status;

    if (n == 0)
        return;
    for (uint64_t k = 0, changes = 1 + dice(4); k < changes; k++)
        n = change(bytes, n);
    snprintf(name, sizeof name, "%s/now.%ld%s", directory, (long)getpid(), suffix_of(path));
    write_bytes(name, bytes, n);
    if (!survives(name, &status)) {
        snprintf(kept, sizeof kept, "%s/found-%ld-%d%s", directory, round, failures,
                 suffix_of(path));
        rename(name, kept);
        report(kept, path, status);
    } else
        unlink(name);
}

/* ---- A library that breaks ------------------------------------------------------------------- */
static void no_load(const char *path)
{
    (void)path;
}

static cmd_place nowhere(const cmd_file *file, const cmd_variable *v)
{
    (void)file;
    (void)v;
    return (cmd_place){ .offset = -1 };
}

static void no_decode(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n,
                      void *to)
{
    (void)first;
    (void)n;
    (void)file;
    (void)v;
    (void)to;
}

static void go_round(cmd_file *file)
{
    (void)file;
    for (volatile long k = 0;; k++)
        continue;
}

static void die(cmd_file *file)
{
    (void)file;
    raise(SIGILL);
}

static void vanish(cmd_file *file)
{
    (void)file;
    raise(SIGKILL);
}

static void refuse(cmd_file *file)
{
    cmd_fail("%s: not today", file->path);
}

static void say_much(cmd_file *file)
{
    for (;;)
        file->state = cmd_room(1 << 20);
}

/* Opened by such a library, a file is a failure with this sentence. */
static bool is_told(void (*open)(cmd_file *file), const char *sentence)
{
    const cmd_format format = {
        .name = "broken", .load = no_load, .open = open, .place = nowhere, .decode = no_decode
    };
    int         status, pipes[2];
    char        said[1000] = "";
    const pid_t child      = pipe(pipes) == 0 ? fork() : -1;

    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        cmd_reader_seconds = 1;
        cmd_reader_open(NULL, "some.file", &format);
        cmd_keep_counts();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || read(pipes[0], said, sizeof said - 1) <= 0)
        return false;
    close(pipes[0]);
    close(pipes[1]);
    const bool told =
        WIFEXITED(status) && WEXITSTATUS(status) == CMD_FAILED && strstr(said, sentence);
    if (!told)
        fprintf(stderr, "hostile: instead of \"%s\": status %d, %s\n", sentence, status, said);
    return told;
}

static bool tells_reports_apart(void)
{
    return is_of_library("ERROR: x\n    #0 0x1 in memcpy ../../libsanitizer/a.inc:1\n"
                         "    #1 0x2 in H5HG_read (/usr/lib/libhdf5_serial.so.103+0x1)\n"
                         "    #2 0x3 in list_group src/command/files/hdf5.c:71\n") &&
           !is_of_library("ERROR: x\n    #0 0x1 in memcpy ../../libsanitizer/a.inc:1\n"
                          "    #1 0x2 in describe src/command/files/hdf5.c:40\n"
                          "    #2 0x3 in H5G_iterate (/usr/lib/libhdf5_serial.so.103+0x1)\n") &&
           !is_of_library("no report\n");
}

static bool tells_of_libraries(void)
{
    return is_told(
               go_round,
               "some.file: broken in such a way that the library that reads it does not end\n") &&
           is_told(die,
                   "some.file: broken in such a way that the library that reads it crashes\n") &&
           is_told(vanish, "some.file: the process that reads it was killed (out of memory?)\n") &&
           is_told(refuse, "rdim: some.file: not today\n") &&
           is_told(say_much, "some.file: more is said about what is in the files than");
}

int main(int argc, char **argv)
{
    int status;

    if (!tells_reports_apart() || !tells_of_libraries()) {
        fputs("hostile: libraries that break are not told of\n", stderr);
        return 1;
    }
    if (argc < 5) {
        fputs("usage: hostile SECONDS|COUNTx SEED DIRECTORY FILE...\n", stderr);
        return 2;
    }
    char        *unit;
    const long   limit  = strtol(argv[1], &unit, 10);
    const bool   count  = *unit == 'x';
    const time_t start  = time(NULL);
    long         rounds = 0;
    state               = strtoull(argv[2], NULL, 10) * 2 + 0x9e3779b97f4a7c15u;
    for (int k = 4; k < argc; k++)
        if (!survives(argv[k], &status))
            report(argv[k], "itself", status);
    for (; count ? rounds < limit : time(NULL) - start < limit; rounds++)
        attack(argv[3], argv[4 + (int)(rounds % (argc - 4))], rounds);
    printf("hostile: %ld broken files, %d findings, %d times a library broke\n", rounds, failures,
           contained);
    return failures ? 1 : 0;
}
