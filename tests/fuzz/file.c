/* file.c - a file of the command, of one format: opened, and each variable read and summed.  It may be
 * refused; the sanitizers look.  FUZZ_SUFFIX is the format's.  Formats that a library reads are run in the
 * reader, and are tests/command/hostile.c's; GRIB is read here as well. */
#include "files/classic.h"
#include "files/file.h"
#include "files/formats.h"
#include "fuzz/driver.h"
#include "fuzz/library.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef FUZZ_ZARR
enum { MOST_POINTS = 1 << 17 }; /* of which none are read late */
#else
enum { MOST_POINTS = 1 << 20 };
#endif

const char *const rd_fuzz_words[] = { "{'descr': '<f8', ",
                                      "'fortran_order': True, ",
                                      "'shape': (3, 4), }",
                                      "{'descr': [('a', '<M8[2M]'), ('b', '>i2', (2,))], ",
                                      "('a', [('b', '<f8')], (2, 3))",
                                      "PK\3\4",
                                      "PK\1\2",
                                      "PK\5\6",
                                      "PK\6\7",
                                      "PK\6\6",
                                      ",",
                                      "\n",
                                      "\r\n",
                                      "\"",
                                      "1e999",
                                      "nan",
                                      "0x1p-3",
                                      "# ",
                                      ";",
                                      "\t",
                                      "\xef\xbb\xbf",
                                      "\"shape\": [5, 7], ",
                                      "\"chunks\": [3, 4], ",
                                      "{\"id\": \"blosc\"}",
                                      "{\"name\": \"zstd\"}",
                                      "\"fill_value\": \"NaN\", ",
                                      "GRIB",
                                      "7777",
                                      NULL };

static jmp_buf refused;

/* The command lives until it ends; one input after the other needs memory that ends before. */
typedef struct block {
    struct block *older;
    max_align_t   at[];
} block;
static block *newest;

static void *room(size_t bytes)
{
    block *b = bytes < (size_t)1 << 28 ? calloc(1, sizeof *b + bytes) : NULL;

    if (!b)
        longjmp(refused, 1);
    b->older = newest;
    newest   = b;
    return b->at;
}

static void end(int status, const char *sentence)
{
    if (status == 0 || !sentence || !*sentence)
        abort(); /* a refusal without a word */
    longjmp(refused, 1);
}

static void free_all(void)
{
    for (block *b; (b = newest);) {
        newest = b->older;
        free(b);
    }
}

#ifdef FUZZ_CLASSIC
/* Where elements are, as the header of a NetCDF file says it. */
static void read_file(rd_ctx *ctx, const char *path)
{
    const cmd_classic *file = cmd_classic_read(path);

    (void)ctx;
    for (int k = 0; k < file->n; k++)
        cmd_classic_check(file, k, "v", k % 3);
}
#elif defined(FUZZ_GRIB)
/* Messages listed and decoded here, where the command does that in the reader: ecCodes takes half a second to
 * start, and then reads thousands of inputs. */
static double sum_of(const cmd_variable *v, const void *at, int64_t points)
{
    double sum = 0;

    for (int64_t i = 0; i < points; i++)
        sum += v->type == RD_F64 ? ((const double *)at)[i] : (double)((const float *)at)[i];
    return sum;
}

static void read_file(rd_ctx *ctx, const char *path)
{
    cmd_file        file = { .ctx = ctx, .path = path, .format = &cmd_grib_format };
    volatile double sum  = 0;

    rd_fuzz_contain("libeccodes");
    cmd_grib_format.load(path);
    cmd_grib_format.open(&file);
    for (int k = 0; k < file.n && k < 16; k++) {
        const cmd_variable *v      = &file.variable[k];
        double              points = 1;

        for (int a = 0; a < v->shape.n; a++)
            points *= (double)v->shape.at[a];
        if (points < 1 || points > MOST_POINTS)
            continue;
        void *const to = room((size_t)points * 8);
        cmd_grib_format.decode(&file, v, 0, v->shape.at[0], to);
        sum = sum + sum_of(v, to, (int64_t)points);
    }
}
#else
static void read_variables(rd_ctx *ctx, cmd_file *file)
{
    for (int k = 0; k < file->n && k < 16; k++) {
        cmd_variable *v      = &file->variable[k];
        double        points = 1, sum;

        for (int a = 0; a < v->shape.n; a++)
            points *= (double)v->shape.at[a];
        if (points > MOST_POINTS)
            continue;
        rd_expr       *x     = cmd_read(file, v);
        const rd_shape shape = rd_shape_of(x);
        points               = 1;
        for (int a = 0; a < shape.n; a++)
            points *= (double)shape.at[a];
        if (points > MOST_POINTS)
            continue;
        if (rd_type_of(x) == RD_C64 || rd_type_of(x) == RD_C128)
            x = rd_real(x);
        (void)rd_eval(ctx, rd_sum(rd_cast(x, RD_F64), RD_ALL), RD_INTO(&sum, RD_SCALAR));
    }
}

static void read_file(rd_ctx *ctx, const char *path)
{
    read_variables(ctx, cmd_open(ctx, path));
}
#endif

/* Descriptors of what was refused stay open, those from `first` on. */
static void close_all(int first)
{
    for (int fd = first; fd < first + 64; fd++)
        close(fd);
}

static void put_file(const char *path, const uint8_t *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0)
        abort();
}

#ifdef FUZZ_ZARR
/* A store of one array: the text of its metadata, and behind a byte 0 that of its first chunk. */
static void put_input(const char *path, const uint8_t *bytes, size_t n)
{
    static const char *const chunks[] = { "0.0", "0", "c/0/0" };
    const uint8_t           *end      = memchr(bytes, 0, n);
    const size_t             text     = end ? (size_t)(end - bytes) : n;
    const bool new                    = memmem(bytes, text, "node_type", 9) != NULL;
    char file[400], folder[400];

    snprintf(folder, sizeof folder, "%s/c/0", path);
    for (char *slash = folder + strlen(path); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            abort();
        *slash = '/';
    }
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        abort();
    snprintf(file, sizeof file, "%s/%s", path, new ? ".zarray" : "zarr.json");
    unlink(file);
    snprintf(file, sizeof file, "%s/%s", path, new ? "zarr.json" : ".zarray");
    put_file(file, bytes, text);
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
        snprintf(file, sizeof file, "%s/%s", path, chunks[k]);
        put_file(file, end ? end + 1 : bytes, end ? n - text - 1 : 0);
    }
}

static void remove_input(const char *path)
{
    static const char *const all[] = {
        ".zarray", "zarr.json", "0.0", "0", "c/0/0", "c/0", "c", ""
    };
    char name[400];

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        snprintf(name, sizeof name, "%s/%s", path, all[k]);
        remove(name);
    }
}
#else
static void remove_input(const char *path)
{
    unlink(path);
}

static void put_input(const char *path, const uint8_t *bytes, size_t n)
{
    put_file(path, bytes, n);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char path[300];
    const char *folder = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/rdim-fuzz-%ld" FUZZ_SUFFIX, folder ? folder : "/tmp",
             (long)getpid());
    put_input(path, bytes, n);
    const int first = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the next ones are the reader's */
    rd_ctx   *ctx   = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    cmd_live_elsewhere(room, end);
    if (!setjmp(refused))
        read_file(ctx, path);
    rd_ctx_free(ctx);
    free_all();
    remove_input(path);
    close_all(first);
    return 0;
}
