/* hostile - broken files for each reader: hostile SECONDS|COUNTx SEED DIRECTORY FILE...
 *
 * Bytes of the files are changed, cut off and repeated; each result is opened and read by a process
 * of its own, which may refuse it, and must not crash, hang, or read outside: the address sanitizer
 * looks.  What does is kept in DIRECTORY.  Files in a directory of cases are read as they are,
 * first. */
#include "files/file.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOUND = 99, MOST_BYTES = 1 << 20, MOST_POINTS = 1 << 22, SECONDS_EACH = 60 };

/* A report must not look like a refusal. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0:"
           "handle_abort=0:handle_sigfpe=0:handle_sigill=0";
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

    for (int k = 0; k < file->n && k < 64; k++) {
        cmd_variable *v = &file->variable[k];
        double        sum, points = 1;

        for (int a = 0; a < v->shape.n; a++)
            points *= (double)v->shape.at[a];
        if ((v->type == RD_AUTO && !file->format->late) || points > MOST_POINTS)
            continue;
        rd_expr *x = cmd_read(file, v);
        cmd_guard(NULL);
        if (rd_type_of(x) == RD_C64 || rd_type_of(x) == RD_C128)
            x = rd_real(x);
        if (rd_eval(ctx, rd_sum(rd_cast(x, RD_F64), RD_ALL), RD_INTO(&sum, RD_SCALAR)) != RD_OK)
            cmd_fail_of(ctx);
    }
    rd_ctx_free(ctx);
}

static bool survives(const char *path, int *status)
{
    const pid_t child = fork();

    if (child == 0) {
        const int quiet = open("/dev/null", O_RDWR);

        dup2(quiet, STDOUT_FILENO);
        if (!getenv("HOSTILE_LOUD"))
            dup2(quiet, STDERR_FILENO);
        alarm(SECONDS_EACH);
        read_all(path);
        _exit(0);
    }
    if (child < 0 || waitpid(child, status, 0) < 0)
        return false;
    return WIFEXITED(*status) && WEXITSTATUS(*status) != FOUND;
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

/* A library that goes round and round is told of, too. */
static bool ends_what_does_not(void)
{
    int         status, pipes[2];
    char        said[200] = "";
    const pid_t child     = pipe(pipes) == 0 ? fork() : -1;

    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        cmd_guard("round.h5");
        cmd_guard_limit(1);
        for (volatile long k = 0;; k++)
            continue;
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || read(pipes[0], said, sizeof said - 1) <= 0)
        return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == CMD_FAILED && strstr(said, "round.h5") &&
           strstr(said, "does not end");
}

int main(int argc, char **argv)
{
    int status;

    if (!ends_what_does_not()) {
        fputs("hostile: what goes round and round does not end\n", stderr);
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
    printf("hostile: %ld broken files, %d findings\n", rounds, failures);
    return failures ? 1 : 0;
}
