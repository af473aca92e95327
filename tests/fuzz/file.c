/* file.c - a file of the command, of one format: opened, and each variable read and summed.  It may be
 * refused; the sanitizers look.  FUZZ_SUFFIX is the format's.  Formats that a library reads are run in the
 * reader, and are tests/command/hostile.c's. */
#include "files/classic.h"
#include "files/file.h"
#include "fuzz/driver.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_POINTS = 1 << 20 };

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char path[300];
    const char *folder = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/rdim-fuzz-%ld" FUZZ_SUFFIX, folder ? folder : "/tmp",
             (long)getpid());
    const int fd    = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int first = fd;
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0)
        abort();
    rd_ctx *ctx = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    cmd_live_elsewhere(room, end);
    if (!setjmp(refused))
        read_file(ctx, path);
    rd_ctx_free(ctx);
    free_all();
    unlink(path);
    close_all(first);
    return 0;
}
