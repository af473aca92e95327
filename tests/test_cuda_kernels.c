/* test_cuda_kernels.c - kernels by NVRTC itself, where it is there: of random expressions and of every
 * operator for three architectures, without spilled registers; of programs that are to run at the memory's speed, how
 * many instructions an element takes.  Nothing runs; the driver is the fake one.
 *
 *     RD_DIFF_COUNT=200 build/release/tests/test_cuda_kernels   more of them */
#define _XOPEN_SOURCE 700 /* setenv */
#include "differential.h"
#include "eval/plan.h"
#include "fake_gpu.h"
#include "gpu_fast.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/kernel_frame.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rd_cuda_prelude[];

enum { DEFAULT_COUNT = 24, PARTS = 8, SKIPPED = 77 };

/* About what an H100 has. */
static const rd_cuda_limits h100 = { .threads = 132 * 2048, .shared = 227 << 10 };

static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

static void compiles(const char *text)
{
    static const int architectures[] = { 75, 80, 90 };

    for (int k = 0; k < 3; k++) {
        const rd_nvrtc_text source = { .text         = text,
                                       .name         = "kernel.cu",
                                       .architecture = architectures[k] };
        rd_nvrtc_image      image;
        char                why[RD_CUDA_TEXT];

        const bool compiled = rd_nvrtc_compile(&source, &image, why);
        const bool spills   = rd_nvrtc_spills(&image);

        if (!compiled || spills)
            fprintf(stderr, "%s\n%s\n", text + strlen(rd_cuda_prelude), image.log ? image.log : "");
        ck_assert_msg(compiled, "sm_%d: %s", architectures[k], why);
        ck_assert_msg(!spills, "sm_%d: registers are spilled", architectures[k]);
        rd_nvrtc_free(&image);
    }
}

/* A kernel that keeps 60 numbers, and is to leave room for 16 blocks of threads. */
static const char crowded[] =
    "#ifndef RD_FIT\n#define RD_FIT 16\n#endif\n"
    "extern \"C\" __global__ void __launch_bounds__(128, RD_FIT) many(float *x)\n{\n"
    "    float a[60];\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 60; k++) a[k] = x[k * 128 + threadIdx.x];\n"
    "    for (int n = 0; n < 100; n++)\n"
    "#pragma unroll\n"
    "        for (int k = 0; k < 60; k++) a[k] = a[k] * a[(k + 7) % 60] + 1;\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 60; k++) x[k * 128 + threadIdx.x] = a[k];\n}\n";

START_TEST(spilled_once)
{
    static const char *const always[] = { "-DRD_FIT=16" };
    rd_nvrtc_text            text = { .text = crowded, .name = "kernel.cu", .architecture = 90 };
    rd_nvrtc_image           image;
    char                     why[RD_CUDA_TEXT];

    ck_assert_msg(rd_nvrtc_compile(&text, &image, why), "%s", why);
    ck_assert(!rd_nvrtc_spills(&image));
    rd_nvrtc_free(&image);
    text.options   = always; /* is said twice then, and the last one counts */
    text.n_options = 1;
    ck_assert_msg(rd_nvrtc_compile(&text, &image, why), "%s", why);
    ck_assert(!rd_nvrtc_spills(&image));
    rd_nvrtc_free(&image);
    for (int zero = 0; zero < 2; zero++) {
        char log[] =
            "ptxas info : 128 bytes stack frame, 12 bytes spill stores, 4 bytes spill loads";

        if (zero)
            memcpy(strstr(log, "12 "), " 0", 2);
        ck_assert_int_eq(rd_nvrtc_spills(&(rd_nvrtc_image){ .log = log }), !zero);
    }
}
END_TEST

static void begin_text(rd_text *text, const rd_program *p)
{
    rd_text_add(text, "%s%s\n", p->fast ? "#define RD_FAST\n" : "", rd_cuda_prelude);
}

/* How many it has; of what a GPU refuses 0. */
static int program_compiles(rd_ctx *ctx, const rd_program *p)
{
    rd_pool         *pool = rd_pool_new(ctx);
    rd_cuda_strategy shape;
    rd_cuda_text     t    = { .s = &shape };
    rd_text          text = { 0 };
    bool             here;

    ck_assert(rd_cuda_choose_strategy(&shape, p, &h100, piece, pool));
    here = !shape.why;
    if (here) {
        begin_text(&text, p);
        rd_cuda_write(&t, &text);
        ck_assert(!t.why && !text.failed);
        compiles(text.at);
    }
    rd_text_free(&text);
    rd_pool_free(pool);
    return here;
}

static int plan_compiles(const rd_plan *plan)
{
    int n = 0;

    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        n += plan_compiles(plan->parts->part[k].plan);
    for (int32_t k = 0; k < plan->n_stage; k++)
        n += program_compiles(plan->ctx, &plan->program[k]);
    return n;
}

/* As the CUDA backend plans them: lazily, products as loops. */
static int seed_compiles(uint64_t seed)
{
    const rd_eval_opts opts = { .backend       = RD_BACKEND_CPU,
                                .traversal     = RD_TRAVERSE_LAZY,
                                .deterministic = true };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    random_pool       *pool = random_pool_new(ctx, seed);
    rd_expr           *in[RANDOM_BLOCKS];
    const void        *data[RANDOM_BLOCKS];
    wanted             w[MOST_RESULTS];
    rd_array           out[MOST_RESULTS];
    rd_result          results[MOST_RESULTS];
    const int          n    = differential_results(pool, w);
    const int          n_in = differential_inputs(pool, in, data);
    int                done = 0;
    rd_plan           *plan;

    for (int i = 0; i < n; i++) {
        out[i]     = differential_dense(w[i].x);
        results[i] = (rd_result){ w[i].x, &out[i] };
    }
    plan = rd_plan_make(ctx, (rd_exprs){ in, n_in }, (rd_results){ results, n }, &opts);
    ck_assert_msg(plan || n == 0, "seed %" PRIu64 ": %s", seed, rd_error_text(ctx));
    if (plan)
        done = plan_compiles(plan);
    rd_plan_free(plan);
    for (int i = 0; i < n; i++) {
        free(out[i].data);
        wanted_free(&w[i]);
    }
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return done;
}

START_TEST(random_kernels)
{
    const char   *asked = getenv("RD_DIFF_COUNT");
    const int64_t count = asked ? strtoll(asked, NULL, 10) : DEFAULT_COUNT;
    int           n     = 0;

    for (int64_t seed = 1 + _i; seed <= count; seed += PARTS)
        n += seed_compiles((uint64_t)seed);
    printf("part %d: %d kernels' texts for 3 architectures\n", _i, n);
}
END_TEST

/* ---- Every operator -------------------------------------------------------------------------- */
enum { AT_ONCE = 9, OPERATOR_TYPES = 3, GROUPS = (RD_OP_fma + AT_ONCE - 1) / AT_ONCE };

/* Operators from `op` on, of vectors of that type where they take it. */
static void operators_compile(rd_dtype type, int op)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .deterministic = true };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    rd_array           x = gpu_matrix(type, 40, 1000), out[AT_ONCE] = { 0 };
    rd_expr           *a = rd_leaf(ctx, &x), *b = rd_flip(a, RD_DIMS(1));
    rd_result          results[AT_ONCE];
    int                n = 0;

    for (int end = op + AT_ONCE; op < end && op < RD_OP_fma; op++) {
        rd_expr *y =
            rd_map_op((rd_op)op, "test", rd_op_table[op].arity, (rd_expr *const[]){ a, b });

        if (y && y->kind == RD_EXPR_MAP) {
            results[n] = (rd_result){ y, &out[n] };
            n++;
        }
        rd_error_clear(ctx);
    }
    rd_plan *plan = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ results, n }, &opts);
    ck_assert_msg(plan || n == 0, "%s", rd_error_text(ctx));
    if (plan)
        ck_assert_int_gt(plan_compiles(plan), 0);
    rd_plan_free(plan);
    free(x.data);
    rd_ctx_free(ctx);
}

START_TEST(operators)
{
    static const rd_dtype types[OPERATOR_TYPES] = { RD_F32, RD_F64, RD_I32 };

    if ((_i / GROUPS + _i) % suite_long_part(4 * OPERATOR_TYPES) == 0)
        operators_compile(types[_i / GROUPS], _i % GROUPS * AT_ONCE);
}
END_TEST

/* ---- What the compiler makes of each way ----------------------------------------------------- */
/* Lines of PTX from a label or a branch to the next one. */
typedef struct straight {
    const char *label;               /* "$L__BB0_19", to a ':'; NULL */
    const char *to;                  /* the label that its last line jumps to, to a ';'; NULL */
    bool        on;                  /* does it go on to the next one, too? */
    int         instructions, count; /* of what is looked for */
} straight;

enum { MOST_STRAIGHTS = 4096 };

/* "ld.global.nc.v4.f32": 16; of another instruction, or another number of bytes, 0. */
static int bytes_of_vector(const char *line, const char *load, int bytes)
{
    const char *v   = strstr(line, ".v");
    const int   n   = v ? atoi(v + 2) : 0;
    const char *dot = v ? strchr(v + 1, '.') : NULL; /* ".f32" */

    if (strncmp(line, load, strlen(load)) || !dot)
        return 0;
    return n * atoi(dot + 2) / 8 == bytes ? bytes : 0;
}

static int bytes_loaded(const char *line)
{
    return bytes_of_vector(line, "ld.global", 16);
}

static int bytes_loaded_by_8(const char *line)
{
    return bytes_of_vector(line, "ld.global", 8);
}

/* And of what goes to memory, too. */
static int bytes_moved(const char *line)
{
    return bytes_loaded(line) + bytes_of_vector(line, "st.global", 16);
}

/* The same of what comes from shared memory. */
static int bytes_shared(const char *line)
{
    return bytes_of_vector(line, "ld.shared", 16);
}

/* An element of a row in shared memory: 1. */
static int elements_shared(const char *line)
{
    return strncmp(line, "ld.shared.", 10) == 0 && strncmp(line, "ld.shared.v", 11) != 0;
}

/* A table's entry for an exponential: 1. */
static int exponentials(const char *line)
{
    return strncmp(line, "ld.shared.v2.u32", 16) == 0;
}

static bool is_label(const char *line)
{
    return line[0] == '$';
}

/* "\tbra.uni", "\t@%p3 bra", "\tret" */
static bool is_jump(const char *line)
{
    return strncmp(line, "\tbra", 4) == 0 || strncmp(line, "\tret", 4) == 0 ||
           (line[0] == '\t' && line[1] == '@');
}

/* All of a text, in which they stay; how many. */
static int straights_of(char *ptx, int (*count)(const char *line), straight list[MOST_STRAIGHTS])
{
    int       n   = 0;
    straight *now = list;

    *now = (straight){ .on = true };
    for (char *line = strtok(ptx, "\n"); line; line = strtok(NULL, "\n")) {
        const bool jumps = is_jump(line);

        if (line[0] == '\t' && ((line[1] >= 'a' && line[1] <= 'z') || jumps)) {
            now->instructions++;
            now->count += count(line + 1);
        }
        if (jumps) {
            now->to = strchr(line, '$');
            now->on = line[1] == '@';
        }
        if (jumps || is_label(line)) {
            ck_assert_int_lt(++n, MOST_STRAIGHTS);
            now  = &list[n];
            *now = (straight){ .label = is_label(line) ? line : NULL, .on = true };
        }
    }
    return n + 1;
}

/* The one with a label, n: none. */
static int labelled(const straight *list, int n, const char *label)
{
    const int length = label ? (int)strcspn(label, ":;") : 0;

    for (int k = 0; label && k < n; k++)
        if (list[k].label && strncmp(list[k].label, label, (size_t)length) == 0 &&
            list[k].label[length] == ':')
            return k;
    return n;
}

/* Of equals, the longer one: loops for what is left over have the same loads. */
static bool is_busier(const straight *a, const straight *b)
{
    return a->count != b->count ? a->count > b->count : a->instructions > b->instructions;
}

/* From where most is counted to the end of that round of its loop: at forks the shorter way, of
 * loops in it one round. */
static straight busiest(char *ptx, int (*count)(const char *line))
{
    static straight list[MOST_STRAIGHTS];
    const int       n    = straights_of(ptx, count, list);
    int             most = 0, at;
    straight        all;

    for (int k = 1; k < n; k++)
        most = is_busier(&list[k], &list[most]) ? k : most;
    at  = most;
    all = list[most];
    for (;;) {
        const int next = list[at].on ? at + 1 : n;
        int       jump = labelled(list, n, list[at].to);

        if (jump <= most)
            return all;
        if (jump <= at)
            jump = n;
        at = next < n && (jump == n || list[next].instructions < list[jump].instructions) ? next
                                                                                          : jump;
        if (at == n)
            return all;
        all.instructions += list[at].instructions;
        all.count += list[at].count;
    }
}

/* All where anything is counted. */
static straight counted(char *ptx, int (*count)(const char *line))
{
    static straight list[MOST_STRAIGHTS];
    straight        all = { 0 };

    for (int n = straights_of(ptx, count, list); n-- > 0;)
        if (list[n].count) {
            all.instructions += list[n].instructions;
            all.count += list[n].count;
        }
    return all;
}

static char *ptx_of(const char *text)
{
    const char     *why;
    const rd_nvrtc *api = rd_nvrtc_api(&why);
    const char     *options[16];
    int             n = 0;
    nvrtcProgram    program;
    size_t          size;
    char           *ptx;

    options[n++] = "--gpu-architecture=compute_90";
    for (int k = 0; rd_nvrtc_options[k]; k++)
        options[n++] = rd_nvrtc_options[k];
    ck_assert_int_eq(api->nvrtcCreateProgram(&program, text, "kernel.cu", 0, NULL, NULL), 0);
    ck_assert_int_eq(api->nvrtcCompileProgram(program, n, options), 0);
    ck_assert_int_eq(api->nvrtcGetPTXSize(program, &size), 0);
    ptx = malloc(size + 1);
    ck_assert_int_eq(api->nvrtcGetPTX(program, ptx), 0);
    (void)api->nvrtcDestroyProgram(&program);
    return ptx;
}

/* Instructions of PTX for each element read, at most.  An H200 has time for some 27 to each f32
 * that is only read, 55 to each that is also written, and half of that for 16 bits. */
typedef struct bound {
    const char *program;
    rd_dtype    type;
    int64_t     rows, columns;
    double      most;
} bound;

static const bound bounds[] = {
    { "sum of rows", RD_F32, 4096, 1024, 1.7 },
    { "sum of rows", RD_F32, 4096, 256, 2 },
    { "sum of rows", RD_F64, 4096, 1024, 2 },
    { "sum of rows", RD_F16, 4096, 1024, 3 },
    { "sum of rows", RD_BF16, 4096, 1024, 5 },
    { "sum of columns", RD_F32, 64, 65536, 2 },
    { "max of rows", RD_F32, 4096, 1024, 5 },
    { "argmax of rows", RD_F32, 4096, 1024, 9 },
    { "argmin of columns", RD_F32, 64, 65536, 7 },
    { "var of rows", RD_F32, 4096, 1024, 8 },
    { "var of columns", RD_F32, 64, 65536, 8 },
    { "dot", RD_F32, 4096, 1024, 1 },
    { "map", RD_F32, 4096, 1024, 2 },
    { "map", RD_BF16, 4096, 1024, 11 },
    { "map exp", RD_F32, 4096, 1024, 14 },
    { "logsumexp of rows", RD_F32, 4096, 1024, 26.5 },
    { "logsumexp of rows", RD_BF16, 4096, 1024, 29 },
    { "logsumexp of columns", RD_F32, 64, 65536, 26.5 },
    { "rows and columns", RD_F32, 16384, 1024, 4 },
    { "rows and columns", RD_BF16, 16384, 1024, 7.5 },
    { "two of rows", RD_F32, 16384, 1024, 8.5 },
};

/* Rows that are kept for which teams are wider, and loads of 8 bytes. */
static const bound row_bounds[] = {
    { "softmax", RD_F32, 4096, 1024, 6 },
    { "softmax", RD_BF16, 4096, 1024, 10 },
    { "layer norm", RD_F32, 4096, 1024, 12 },
    { "layer norm", RD_BF16, 4096, 1024, 14 },
};

/* The same of scans, which load and store their elements 16 bytes at a time. */
static const bound scan_bounds[] = {
    { "scan of rows", RD_F32, 64, 65536, 14.5 },
    { "scan of rows", RD_F64, 64, 65536, 25 },
    { "scan of rows", RD_F16, 64, 65536, 15.5 },
    { "scan exclusive", RD_F32, 64, 65536, 18 },
};

/* Short rows: for each element that goes to shared memory; and for each that is walked there. */
static const bound fill_bounds[] = {
    { "sum of rows", RD_F32, 100000, 33, 0.9 },  { "sum of rows", RD_F32, 100000, 32, 7.6 },
    { "sum of rows", RD_F16, 100000, 33, 8 },    { "sum of rows", RD_F64, 100000, 16, 7 },
    { "scan of rows", RD_F32, 100000, 63, 0.9 },
};
static const bound walk_bounds[] = {
    { "sum of rows", RD_F32, 100000, 33, 4.5 }, { "sum of rows", RD_F32, 100000, 10, 3.2 },
    { "sum of rows", RD_F16, 100000, 33, 5.5 }, { "scan of rows", RD_F32, 100000, 33, 55 },
    { "softmax", RD_F32, 100000, 10, 36 },      { "softmax", RD_F32, 100000, 33, 35 },
};

/* The same for each exponential. */
static const bound exponential_bounds[] = {
    { "softmax", RD_F32, 4096, 1024, 30.5 },
    { "map exp", RD_F32, 4096, 1024, 28 },
    { "gauss", RD_F32, 100000, 3, 35 },
};

/* And for each pair, or each coordinate of pairs if these are a loop: a pair has so many bytes of
 * what comes from shared memory 16 bytes at a time. */
static const struct {
    bound of;
    int   bytes;
} pair_bounds[] = {
    { { "nearest", RD_F32, 100000, 3, 12.5 }, 3 },
    { { "nearest", RD_F32, 100000, 50, 2.5 }, 2 },
    { { "gauss in order", RD_F32, 100000, 16, 62 }, 17 },
    { { "logsumexp of pairs", RD_F32, 100000, 3, 32 }, 3 },
    { { "var of pairs", RD_F32, 100000, 3, 14 }, 3 },
    { { "least of most", RD_F32, 100000, 100, 8.5 }, 5 },
};

/* A tile that is whole, as most are, is what is counted. */
static void make_whole(char *text)
{
    static const char which[] = "const bool whole = ", all[] = "true; //";
    char *const       at = strstr(text, which);

    if (at)
        memcpy(at + strlen(which), all, strlen(all));
}

/* And with fast functions. */
static const bound fast_bounds[] = {
    { "map exp", RD_F32, 4096, 1024, 2.2 },
    { "logsumexp of rows", RD_F32, 4096, 1024, 7.5 },
    { "logsumexp of rows", RD_BF16, 4096, 1024, 11 },
};
static const bound fast_pair_bounds[] = {
    { "gauss", RD_F32, 100000, 3, 8.5 },
};

/* Where, and what is counted: `least` of it should be, of which an element has `each`. */
static void check_bound(const bound *b, rd_function_accuracy accuracy,
                        straight (*where)(char *, int (*)(const char *)),
                        int (*count)(const char *line), int least, int each)
{
    const rd_eval_opts opts = { .backend       = RD_BACKEND_CUDA,
                                .deterministic = true,
                                .accuracy      = accuracy };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    rd_array           x    = gpu_matrix(b->type, b->rows, b->columns);
    gpu_results        all;
    rd_pool           *pool = rd_pool_new(ctx);
    rd_cuda_strategy   shape;
    rd_cuda_text       t    = { .s = &shape };
    rd_text            text = { 0 };
    rd_plan           *plan;

    gpu_build(gpu_program_of(b->program), rd_leaf(ctx, &x), &all);
    plan = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ all.at, all.n }, &opts);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert(rd_cuda_choose_strategy(&shape, &plan->program[0], &h100, piece, pool));
    begin_text(&text, &plan->program[0]);
    rd_cuda_write(&t, &text);
    ck_assert(text.at && !t.why);
    compiles(text.at);
    make_whole(text.at);

    char          *ptx  = ptx_of(text.at);
    const straight s    = where(ptx, count);
    const double   mean = s.instructions / ((double)s.count / each);

    ck_assert_msg(s.count >= least, "%s: loads are of less than 16 bytes, or elements not together",
                  b->program);
    ck_assert_msg(mean <= b->most, "%s of %s: %.2f instructions an element", b->program,
                  rd_dtype_name(b->type), mean);
    free(ptx);
    free(x.data);
    rd_text_free(&text);
    rd_plan_free(plan);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}

START_TEST(instructions_of_elements)
{
    check_bound(&bounds[_i], RD_ACCURACY_SAME, busiest, bytes_loaded, 64,
                rd_dtype_size(bounds[_i].type));
}
END_TEST

START_TEST(instructions_of_kept_rows)
{
    check_bound(&row_bounds[_i], RD_ACCURACY_SAME, busiest, bytes_loaded_by_8, 64,
                rd_dtype_size(row_bounds[_i].type));
}
END_TEST

START_TEST(instructions_of_scans)
{
    check_bound(&scan_bounds[_i], RD_ACCURACY_SAME, counted, bytes_moved, 128,
                2 * rd_dtype_size(scan_bounds[_i].type));
}
END_TEST

START_TEST(instructions_of_short_rows)
{
    const int others = _i - (int)(sizeof fill_bounds / sizeof *fill_bounds);

    if (others < 0)
        check_bound(&fill_bounds[_i], RD_ACCURACY_SAME, busiest, bytes_loaded, 64,
                    rd_dtype_size(fill_bounds[_i].type));
    else
        check_bound(&walk_bounds[others], RD_ACCURACY_SAME, busiest, elements_shared, 1, 1);
}
END_TEST

START_TEST(instructions_of_pairs)
{
    check_bound(&pair_bounds[_i].of, RD_ACCURACY_SAME, busiest, bytes_shared, 48,
                pair_bounds[_i].bytes);
}
END_TEST

START_TEST(instructions_of_exponentials)
{
    check_bound(&exponential_bounds[_i], RD_ACCURACY_SAME, busiest, exponentials, 8, 1);
}
END_TEST

START_TEST(instructions_of_fast_elements)
{
    const bound *b = &fast_bounds[_i];

    check_bound(b, RD_ACCURACY_FAST, busiest, bytes_loaded, 64, rd_dtype_size(b->type));
}
END_TEST

START_TEST(instructions_of_fast_pairs)
{
    check_bound(&fast_pair_bounds[_i], RD_ACCURACY_FAST, busiest, bytes_shared, 48, 3);
}
END_TEST

/* What is written for NVRTC alone is never run by the fakes. */
START_TEST(fast_functions)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .accuracy = RD_ACCURACY_FAST };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    rd_array x = gpu_matrix(RD_F32, 64, 64), y = gpu_matrix(RD_F32, 64, 64), out = { .data = NULL };
    rd_result result = { gpu_fasts[_i].of(rd_leaf(ctx, &x), rd_leaf(ctx, &y)), &out };
    rd_plan  *plan   = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, &opts);

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert(plan->program[0].fast);
    ck_assert_int_eq(plan_compiles(plan), 1);
    rd_plan_free(plan);
    free(x.data);
    free(y.data);
    rd_ctx_free(ctx);
}
END_TEST

int main(void)
{
    const char *why;
    Suite      *suite;
    TCase      *tc;
    SRunner    *runner;
    int         failed;

    setenv("RDIM_LIBCUDA", fake_cuda, 1);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    if (!rd_nvrtc_api(&why)) {
        printf("skipped: %s\n", why);
        return SKIPPED;
    }
    suite = suite_create("cuda kernels");
    tc    = tcase_create("cuda kernels");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, spilled_once);
    suite_add_compiled(tc, instructions_of_elements, 0, (int)(sizeof bounds / sizeof *bounds));
    suite_add_compiled(tc, instructions_of_kept_rows, 0,
                       (int)(sizeof row_bounds / sizeof *row_bounds));
    suite_add_compiled(tc, instructions_of_scans, 0,
                       (int)(sizeof scan_bounds / sizeof *scan_bounds));
    suite_add_compiled(tc, instructions_of_exponentials, 0,
                       (int)(sizeof exponential_bounds / sizeof *exponential_bounds));
    suite_add_compiled(tc, instructions_of_pairs, 0,
                       (int)(sizeof pair_bounds / sizeof *pair_bounds));
    suite_add_compiled(
        tc, instructions_of_short_rows, 0,
        (int)(sizeof fill_bounds / sizeof *fill_bounds + sizeof walk_bounds / sizeof *walk_bounds));
    suite_add_compiled(tc, fast_functions, 0, n_gpu_fasts);
    suite_add_compiled(tc, instructions_of_fast_elements, 0,
                       (int)(sizeof fast_bounds / sizeof *fast_bounds));
    suite_add_compiled(tc, instructions_of_fast_pairs, 0,
                       (int)(sizeof fast_pair_bounds / sizeof *fast_pair_bounds));
    tcase_add_loop_test(tc, random_kernels, 0, PARTS);
    suite_add_tcase(suite, tc);
    tc = tcase_create("operators");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, operators, 0, OPERATOR_TYPES * GROUPS);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
