/* driver.c - runs a fuzz target where there is no libFuzzer.
 *
 *     fuzz_NAME FOLDER                  each file of the folder, and 20 changes of each
 *     fuzz_NAME FOLDER 600 [17]         changes for so many seconds, from this seed on
 *     fuzz_NAME FILE                    one input, such as one that was found
 *
 * Inputs are tried in a child, 500 at a time, so that what a target leaks ends with it.  The child's input
 * is in memory that the parent sees.  Where the child dies or takes more than a minute of a processor the parent writes
 * that input to found-NAME-SEED-N in the current folder.  The exit status is 1 if there was any.  Where a
 * library of others broke, it is counted. */
#include "fuzz/driver.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef RDIM_COVERAGE
#include <gcov.h>
#endif

enum {
    MOST_SEEDS = 4000,
    MOST_BYTES = 1 << 16,
    BATCH      = 500,
    EACH       = 20,
    MOST_FOUND = 10,
    SECONDS    = 60
};

typedef struct input {
    size_t  n;
    uint8_t bytes[MOST_BYTES];
} input;

/* What the parent sees of the child. */
typedef struct shared {
    input  now;   /* what is tried */
    size_t tried; /* how many of a batch, that one among them */
} shared;

static input   *seed[MOST_SEEDS];
static size_t   n_seeds;
static uint64_t state;
static shared  *seen;
static input   *now; /* in it */

/* ---- Chance: Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators" --------- */
static uint64_t chance(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

/* `n` bytes in the place of `gone`, where there is room. */
static void splice(input *in, size_t at, size_t gone, const void *bytes, size_t n)
{
    uint8_t copy[64];

    if (n > sizeof copy || in->n - gone + n > MOST_BYTES)
        return;
    memcpy(copy, bytes, n); /* they may be the input's own */
    memmove(in->bytes + at + n, in->bytes + at + gone, in->n - at - gone);
    memcpy(in->bytes + at, copy, n);
    in->n += n - gone;
}

static void put_number(input *in, size_t at)
{
    static const uint64_t numbers[] = { 0,          1,          0x7f,       0xff,      0xffff,
                                        0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX,
                                        1u << 20,   16,         INT64_MIN };
    uint64_t              value     = numbers[chance(sizeof numbers / sizeof *numbers)];
    size_t                size      = (size_t)1 << chance(4);

    if (chance(2))
        value = __builtin_bswap64(value);
    if (at + size <= in->n)
        memcpy(in->bytes + at, &value, size);
}

static size_t count_words(void)
{
    size_t n = 0;

    while (rd_fuzz_words && rd_fuzz_words[n])
        n++;
    return n;
}

static void put_word(input *in, size_t at)
{
    const size_t n = count_words();

    if (n > 0) {
        const char *word = rd_fuzz_words[chance(n)];
        splice(in, at, chance(2) ? 0 : in->n - at < 4 ? in->n - at : chance(5), word, strlen(word));
    }
}

static void cross(input *in, size_t at)
{
    const input *other = seed[chance(n_seeds)];
    const size_t from = chance(other->n + 1), most = other->n - from;

    in->n = at;
    if (at + most <= MOST_BYTES) {
        memcpy(in->bytes + at, other->bytes + from, most);
        in->n += most;
    }
}

static void change(input *in)
{
    const size_t  at = chance(in->n + 1), left = in->n - at;
    const size_t  n    = left ? chance(left < 32 ? left : 32) + 1 : 0;
    const uint8_t byte = (uint8_t)chance(256);

    switch (chance(9)) {
    case 0: splice(in, at, 0, &byte, 1); break;
    case 1: splice(in, at, n, "", 0); break;
    case 2: splice(in, chance(in->n + 1), 0, in->bytes + at, n); break;
    case 3: put_number(in, at); break;
    case 4: cross(in, at); break;
    case 5: in->n = chance(16) ? in->n : at; break;
    case 6:
        if (left)
            in->bytes[at] ^= (uint8_t)(1 << chance(8));
        break;
    case 7:
        if (left)
            in->bytes[at] = byte;
        break;
    default: put_word(in, at);
    }
}

/* ---- Runs ---------------------------------------------------------------------------------------- */
static void copy_input(input *to, const input *from)
{
    to->n = from->n;
    memcpy(to->bytes, from->bytes, from->n);
}

/* Of a processor, as many programs may share it; of the clock ten times as many, for what waits. */
static void limit_time(int seconds)
{
    const struct itimerval limit = { .it_value = { .tv_sec = seconds } };

    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(10 * (unsigned)seconds);
}

/* The target sees memory of exactly n bytes, so that the address sanitizer sees what is read behind them. */
static void try_now(void)
{
    uint8_t *exact = malloc(now->n ? now->n : 1);

    memcpy(exact, now->bytes, now->n);
    limit_time(SECONDS);
    LLVMFuzzerTestOneInput(exact, now->n);
    limit_time(0);
    free(exact);
}

static void try_seed(size_t k)
{
    copy_input(now, seed[k]);
    try_now();
}

static void try_change(void)
{
    copy_input(now, seed[chance(n_seeds)]);
    for (uint64_t k = chance(5) + 1; k > 0; k--)
        change(now);
    try_now();
}

/* What gcov counted: handlers of exit() do not run in a child. */
static void keep_counts(void)
{
#ifdef RDIM_COVERAGE
    __gcov_dump();
#endif
}

/* Inputs from `first` on: the seeds, then changes.  How the child ended. */
static int try_batch(size_t first, size_t n)
{
    int status        = 0;
    seen->tried       = 0;
    const pid_t child = (fflush(NULL), fork());

    if (child == 0) {
        for (size_t k = first; k < first + n; k++) {
            seen->tried++;
            if (k < n_seeds)
                try_seed(k);
            else
                try_change();
        }
        keep_counts();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(2);
    if (WIFEXITED(status) && WEXITSTATUS(status) == RD_FUZZ_BROKE)
        return RD_FUZZ_BROKE;
    if (status)
        fprintf(stderr, "fuzz: %s %d\n", WIFSIGNALED(status) ? "signal" : "exit status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return status;
}

static void keep_found(const char *program, uint64_t first_state, int k)
{
    const char *slash = strrchr(program, '/');
    char        name[4096];

    snprintf(name, sizeof name, "found-%s-%llu-%d", slash ? slash + 1 : program,
             (unsigned long long)first_state, k);
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(now->bytes, 1, now->n, f) != now->n || fclose(f) != 0)
        perror(name);
    fprintf(stderr, "fuzz: %s\n", name);
}

/* ---- Files --------------------------------------------------------------------------------------- */
static void add_file(const char *path)
{
    FILE *f = fopen(path, "rb");

    if (!f || n_seeds == MOST_SEEDS || !(seed[n_seeds] = calloc(1, sizeof **seed))) {
        perror(path);
        exit(2);
    }
    seed[n_seeds]->n = fread(seed[n_seeds]->bytes, 1, MOST_BYTES, f);
    n_seeds++;
    fclose(f);
}

static int by_bytes(const void *a, const void *b)
{
    const input *x = *(input *const *)a, *y = *(input *const *)b;

    return x->n != y->n ? (x->n < y->n ? -1 : 1) : memcmp(x->bytes, y->bytes, x->n);
}

static void add_folder(const char *path)
{
    DIR *folder = opendir(path);
    char name[4096];

    for (const struct dirent *e; folder && (e = readdir(folder));) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            add_file(name);
    }
    if (folder)
        closedir(folder);
    qsort(seed, n_seeds, sizeof *seed, by_bytes); /* folders have no order */
}

int main(int argc, char **argv)
{
    struct stat    is;
    const double   seconds     = argc > 2 ? atof(argv[2]) : 0;
    const uint64_t first_state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    const time_t   end         = time(NULL) + (time_t)seconds;
    size_t         done        = 0;
    int            found = 0, broke = 0;

    state = first_state << 32;
    seen  = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    now   = &seen->now;
    if (argc < 2 || stat(argv[1], &is) != 0 || seen == MAP_FAILED) {
        fprintf(stderr, "usage: %s FOLDER [SECONDS [SEED]], or %s FILE\n", argv[0], argv[0]);
        return 2;
    }
    if (!S_ISDIR(is.st_mode)) {
        add_file(argv[1]);
        try_seed(0);
        return 0;
    }
    add_folder(argv[1]);
    while (n_seeds > 0 && found < MOST_FOUND &&
           (seconds > 0 ? time(NULL) < end : done < n_seeds * (1 + EACH))) {
        const int status = try_batch(done, BATCH);

        if (status == RD_FUZZ_BROKE)
            broke++;
        else if (status)
            keep_found(argv[0], first_state, found++);
        done += seen->tried;           /* what a child has not tried, the next one does */
        state += (uint64_t)done << 20; /* chance went on in the child alone */
    }
    printf("fuzz: %zu seeds, %zu inputs, %d findings\n", n_seeds, done, found);
    if (broke)
        printf("fuzz: %d times a library broke\n", broke);
    for (size_t k = 0; k < n_seeds; k++)
        free(seed[k]);
    return found > 0 || n_seeds == 0;
}
