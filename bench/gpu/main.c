/* main.c - rdim-bench-gpu: programs over matrices that lie on a GPU, beside what it can do at best;
 * and over all pairs of points.
 *
 *     rdim-bench-gpu [--bytes N] [--seconds LIMIT] [--tuning rule|measured] [--row NAME]
 *                    [--dtype TYPE] [--columns N] [--out FILE]
 *
 * Each program reads a matrix of N bytes (4 GiB), and one of 4 MiB.  A row says how many bytes it reads
 * and writes at least, how long the fastest of several evaluations took, and what part of the copy
 * bandwidth of the same run that is; of pairs, how many a second.  Results stay on the GPU; an
 * evaluation ends with a wait.
 * Kernels are made by rule, or by what the first evaluation of a row measures, which is printed above
 * it.  --row, --dtype and --columns leave out all other rows.  Exit status: 0, 1 if something failed,
 * 77 if there is no GPU or no NVRTC. */
#define _XOPEN_SOURCE 700
#include "../../tests/gpu_programs.h"
#include "core/clock.h"
#include "eval/choice.h"
#include "expr/expr.h"
#include "kernels/cuda/gpu.h"
#include "limits.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 0, FAILED = 1, NO_GPU = 77 };

typedef struct settings {
    int64_t     bytes;
    double      seconds;     /* no row begins later */
    bool        measured;    /* not by rule         */
    const char *out;         /* NULL: only the table */
    const char *row, *dtype; /* these alone; NULL: all */
    int64_t     columns;     /* likewise; 0           */
} settings;

typedef struct row {
    const char *program;
    rd_dtype    type;
    int64_t     columns; /* of rows that are so long; the rest of the matrix is their number */
    int64_t     points;  /* 0; or so many rows are points, of which each meets each          */
    rd_function_accuracy accuracy;
} row;

static const row rows[] = {
    { "sum of all", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "sum of rows", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "sum of rows", RD_F32, 16, 0, RD_ACCURACY_SAME },
    { "sum of rows", RD_F32, 10, 0, RD_ACCURACY_SAME },
    { "sum of rows", RD_F32, 65536, 0, RD_ACCURACY_SAME },
    { "sum of columns", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "sum of columns", RD_F32, 64, 0, RD_ACCURACY_SAME },
    { "sum of columns", RD_F32, 3, 0, RD_ACCURACY_SAME },
    { "max of rows", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "argmax of rows", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "var of rows", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "logsumexp of rows", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "softmax", RD_F32, 10, 0, RD_ACCURACY_SAME },
    { "softmax", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "softmax", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "softmax", RD_F32, 65536, 0, RD_ACCURACY_SAME },
    { "layer norm", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "map", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "map exp", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "transpose", RD_F32, 8192, 0, RD_ACCURACY_SAME },
    { "scan of rows", RD_F32, 33, 0, RD_ACCURACY_SAME },
    { "scan of rows", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "scan of rows", RD_F32, 65536, 0, RD_ACCURACY_SAME },
    { "rows and columns", RD_F32, 4096, 0, RD_ACCURACY_SAME },
    { "siblings", RD_F32, 1024, 0, RD_ACCURACY_SAME },
    { "sum of all", RD_F64, 4096, 0, RD_ACCURACY_SAME },
    { "sum of columns", RD_F64, 4096, 0, RD_ACCURACY_SAME },
    { "sum of all", RD_BF16, 4096, 0, RD_ACCURACY_SAME },
    { "sum of rows", RD_BF16, 1024, 0, RD_ACCURACY_SAME },
    { "sum of columns", RD_BF16, 4096, 0, RD_ACCURACY_SAME },
    { "softmax", RD_BF16, 1024, 0, RD_ACCURACY_SAME },
    { "layer norm", RD_BF16, 1024, 0, RD_ACCURACY_SAME },
    { "map", RD_BF16, 4096, 0, RD_ACCURACY_SAME },
    { "sum of all", RD_F16, 4096, 0, RD_ACCURACY_SAME },
};
enum { ROWS = sizeof rows / sizeof *rows, SIZES = 2 };

static const row pair_rows[] = {
    { "gauss in order", RD_F32, 3, 1000000, RD_ACCURACY_SAME },
    { "gauss in order", RD_F32, 3, 1000000, RD_ACCURACY_FAST },
    { "gauss in order", RD_F32, 3, 10000, RD_ACCURACY_SAME },
    { "gauss in order", RD_F32, 3, 10000, RD_ACCURACY_FAST },
    { "gauss in order", RD_F32, 50, 100000, RD_ACCURACY_SAME },
    { "gauss in order", RD_F32, 50, 100000, RD_ACCURACY_FAST },
    { "gauss in order", RD_F64, 3, 100000, RD_ACCURACY_SAME },
    { "nearest", RD_F32, 3, 100000, RD_ACCURACY_SAME },
    { "logsumexp of pairs", RD_F32, 3, 100000, RD_ACCURACY_SAME },
    { "logsumexp of pairs", RD_F32, 3, 100000, RD_ACCURACY_FAST },
    { "forces", RD_F32, 3, 100000, RD_ACCURACY_SAME },
};
enum { PAIR_ROWS = sizeof pair_rows / sizeof *pair_rows };

typedef struct timing {
    double  seconds; /* 0: it failed, or did not run */
    int64_t bytes;
} timing;

/* ---- A row ----------------------------------------------------------------------------------- */
/* Numbers from -4 to 4 that tell positions apart, made on the GPU. */
static bool make_matrix(rd_ctx *ctx, rd_dtype type, int64_t n_row, int64_t n_column, rd_array *x)
{
    rd_expr *shape = rd_broadcast(rd_num(ctx, 0), RD_SHAPE(n_row, n_column));
    rd_expr *place = rd_add(rd_mul(rd_coord(shape, 0), rd_num(ctx, 31)), rd_coord(shape, 1));
    rd_expr *value =
        rd_sub(rd_div(rd_cast(rd_remainder(place, rd_num(ctx, 1009)), RD_F32), rd_num(ctx, 126)),
               rd_num(ctx, 4));

    *x = (rd_array){ .device = RD_CUDA(0) };
    return rd_eval(ctx, rd_cast(value, type), x) == RD_OK;
}

static int64_t bytes_of(const rd_expr *x)
{
    return rd_points(x->rank, x->extent) * rd_dtype_size(x->type);
}

/* The fastest of several, into the same memory. */
static timing time_program(rd_ctx *ctx, const row *r, const rd_array *x, bool measured)
{
    enum { TIMES = 9 };
    const rd_eval_opts opts = { .measure = measured, .accuracy = r->accuracy };
    const gpu_program *p    = gpu_program_of(r->program);
    rd_expr           *in   = rd_leaf(ctx, x);
    timing             t    = { .bytes = in ? bytes_of(in) : 0 };
    gpu_results        all;

    gpu_build(p, in, &all);
    for (int k = 0; k < all.n; k++)
        all.out[k].device = RD_CUDA(0);
    for (int k = 0; k < TIMES; k++) {
        const double begin = rd_seconds();

        if (rd_eval_many(ctx, (rd_results){ all.at, all.n }, &opts) != RD_OK) {
            t.seconds = 0;
            break;
        }
        const double now = rd_seconds() - begin;

        /* the first ones measure, compile and warm up */
        if (k > 1 && (t.seconds == 0 || now < t.seconds))
            t.seconds = now;
    }
    for (int k = 0; k < all.n && t.seconds > 0; k++)
        t.bytes += bytes_of(all.at[k].expr);
    for (int k = 0; k < GPU_MOST_RESULTS; k++)
        rd_array_free(&all.out[k]);
    return t;
}

/* What was found of kernels, a line each. */
static void print_found(rd_ctx *ctx)
{
    const rd_findings *found = rd_findings_of(ctx);
    rd_text            text  = { 0 };

    if (found)
        rd_findings_text(&text, found);
    for (const char *at = text.at; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        printf("    %.*s\n", (int)strcspn(at, "\n"), at);
    rd_text_free(&text);
}

static timing time_row(const row *r, int64_t bytes, bool measured)
{
    const int64_t n       = r->points ? r->points * r->columns : bytes / rd_dtype_size(r->type);
    const int64_t columns = r->columns < n ? r->columns : n;
    rd_ctx       *ctx     = rd_ctx_new(NULL);
    rd_array      x;
    timing        t = { 0 };

    if (make_matrix(ctx, r->type, n / columns, columns, &x))
        t = time_program(ctx, r, &x, measured);
    print_found(ctx);
    if (rd_error(ctx))
        fprintf(stderr, "%s: %s\n", r->program, rd_error_text(ctx));
    rd_error_clear(ctx);
    rd_array_free(&x);
    rd_ctx_free(ctx);
    return t;
}

/* ---- What was found -------------------------------------------------------------------------- */
static void print_row(const row *r, const timing *t, const gpu_limits *limits)
{
    const double rate = (double)t->bytes / t->seconds;

    printf("%-18s %-5s %6" PRId64 "  %10.1f MiB  %9.3f ms  %8.1f GB/s  %5.1f %% of copy\n",
           r->program, rd_dtype_name(r->type), r->columns, (double)t->bytes / 0x1p20,
           t->seconds * 1e3, rate / 1e9, 100 * rate / limits->copy);
}

static void write_row(FILE *to, const row *r, const timing *t, const gpu_limits *limits)
{
    const double rate = (double)t->bytes / t->seconds;

    fprintf(to,
            ",\n  { \"row\": \"%s\", \"dtype\": \"%s\", \"columns\": %" PRId64
            ", \"bytes\": %" PRId64
            ", \"seconds\": %.9g, \"bytes_a_second\": %.6g, \"of_copy\": %.4f }",
            r->program, rd_dtype_name(r->type), r->columns, t->bytes, t->seconds, rate,
            rate / limits->copy);
}

static const char *accuracy_name(const row *r)
{
    return r->accuracy == RD_ACCURACY_FAST ? "fast" : "same";
}

static void print_pairs(const row *r, const timing *t)
{
    const double pairs = (double)r->points * (double)r->points;

    printf("%-18s %-5s %6" PRId64 "  %10" PRId64 " points %s  %9.3f ms  %8.4f T pairs/s\n",
           r->program, rd_dtype_name(r->type), r->columns, r->points, accuracy_name(r),
           t->seconds * 1e3, pairs / t->seconds / 1e12);
}

static void write_pairs(FILE *to, const row *r, const timing *t)
{
    fprintf(to,
            ",\n  { \"pairs\": \"%s\", \"dtype\": \"%s\", \"columns\": %" PRId64
            ", \"points\": %" PRId64 ", \"accuracy\": \"%s\", \"seconds\": %.9g }",
            r->program, rd_dtype_name(r->type), r->columns, r->points, accuracy_name(r),
            t->seconds);
}

static FILE *begin_file(const settings *s, const gpu_limits *limits)
{
    FILE *to = s->out ? fopen(s->out, "w") : NULL;

    if (to)
        fprintf(
            to,
            "[ { \"device\": \"%s\", \"copy\": %.6g, \"read\": %.6g, \"fma\": %.6g, \"launch\": "
            "%.6g }",
            rd_device_text(RD_CUDA(0)), limits->copy, limits->read, limits->fma, limits->launch);
    else if (s->out)
        fprintf(stderr, "%s cannot be written\n", s->out);
    return to;
}

static bool is_wanted(const settings *s, const row *r)
{
    return (!s->row || strcmp(s->row, r->program) == 0) &&
           (!s->dtype || strcmp(s->dtype, rd_dtype_name(r->type)) == 0) &&
           (!s->columns || s->columns == r->columns);
}

/* False: a row failed. */
static bool run(const settings *s, const gpu_limits *limits, FILE *to)
{
    const double  begin        = rd_seconds();
    const int64_t sizes[SIZES] = { s->bytes, 4 << 20 };
    bool          done         = true;

    for (int size = 0; size < SIZES && sizes[size] <= s->bytes; size++)
        for (int k = 0; k < ROWS; k++) {
            timing t;

            if (!is_wanted(s, &rows[k]))
                continue;
            if (rd_seconds() - begin > s->seconds) {
                printf("%s of %s is left out: no time\n", rows[k].program,
                       rd_dtype_name(rows[k].type));
                continue;
            }
            t = time_row(&rows[k], sizes[size], s->measured);
            done &= t.seconds > 0;
            if (t.seconds <= 0)
                continue;
            print_row(&rows[k], &t, limits);
            if (to)
                write_row(to, &rows[k], &t, limits);
        }
    for (int k = 0; k < PAIR_ROWS && rd_seconds() - begin <= s->seconds; k++) {
        if (!is_wanted(s, &pair_rows[k]))
            continue;
        row    r = pair_rows[k];
        timing t;

        r.points = r.points < s->bytes / 4096 ? r.points : s->bytes / 4096; /* of 4 GiB all */
        t        = time_row(&r, 0, s->measured);
        done &= t.seconds > 0;
        if (t.seconds <= 0)
            continue;
        print_pairs(&r, &t);
        if (to)
            write_pairs(to, &r, &t);
    }
    return done;
}

static bool read_settings(settings *s, int argc, char **argv)
{
    for (int k = 1; k < argc; k += 2) {
        char *end = NULL;

        if (k + 1 == argc)
            return false;
        if (strcmp(argv[k], "--bytes") == 0)
            s->bytes = strtoll(argv[k + 1], &end, 10);
        else if (strcmp(argv[k], "--seconds") == 0)
            s->seconds = strtod(argv[k + 1], &end);
        else if (strcmp(argv[k], "--row") == 0)
            s->row = argv[k + 1];
        else if (strcmp(argv[k], "--dtype") == 0)
            s->dtype = argv[k + 1];
        else if (strcmp(argv[k], "--columns") == 0)
            s->columns = strtoll(argv[k + 1], &end, 10);
        else if (strcmp(argv[k], "--out") == 0)
            s->out = argv[k + 1];
        else if (strcmp(argv[k], "--tuning") == 0 &&
                 (strcmp(argv[k + 1], "rule") == 0 || strcmp(argv[k + 1], "measured") == 0))
            s->measured = strcmp(argv[k + 1], "measured") == 0;
        else
            return false;
        if (end && (end == argv[k + 1] || *end))
            return false;
    }
    return s->bytes >= 4096;
}

int main(int argc, char **argv)
{
    settings    s                 = { .bytes = INT64_C(4) << 30, .seconds = 120 };
    char        why[RD_CUDA_TEXT] = "";
    const char *missing           = NULL;
    gpu_limits  limits;
    FILE       *to;
    bool        done;

    if (!read_settings(&s, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--bytes N] [--seconds LIMIT] [--tuning rule|measured] [--row NAME] "
                "[--dtype TYPE] [--columns N] [--out FILE]\n",
                argv[0]);
        return FAILED;
    }
    if (rd_device_count() == 0 || !rd_nvrtc_api(&missing)) {
        printf("skipped: %s%s%s\n", rd_device_text(RD_CUDA(0)), missing ? ": " : "",
               missing ? missing : "");
        return NO_GPU;
    }
    if (!gpu_limits_measure(s.bytes, &limits, why)) {
        fprintf(stderr, "limits: %s\n", why);
        return FAILED;
    }
    printf("%s: copies %.1f GB/s, reads %.1f GB/s, %.3g fma/s, an empty kernel %.1f us\n",
           rd_device_text(RD_CUDA(0)), limits.copy / 1e9, limits.read / 1e9, limits.fma,
           limits.launch * 1e6);
    to   = begin_file(&s, &limits);
    done = run(&s, &limits, to);
    if (to)
        fprintf(to, " ]\n");
    if (to && fclose(to))
        done = false;
    rd_gpu_close_all();
    return done && (to || !s.out) ? PASSED : FAILED;
}
