/* test_devices.c - data on a GPU, as callers see it, and what happens when the driver fails: on the
 * fake driver. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "io/dlpack.h"
#include "kernels/cuda/gpu.h"
#include "kernels/store/hash.h"
#include "kernels/store/store.h"
#include "suite.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define IS_OK(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

enum { ROWS = 6, COLUMNS = 7 };

static float   x[ROWS][COLUMNS], y[ROWS][COLUMNS];
static rd_ctx *ctx;

static void begin(void)
{
    fake_use();
    ctx = rd_ctx_new(NULL);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i / COLUMNS][i % COLUMNS] = (float)(i * i % 11) - 3;
}

static void end(void)
{
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}

static rd_expr *host(void)
{
    return rd_wrap(ctx, &x[0][0], RD_SHAPE(ROWS, COLUMNS));
}

/* x on the GPU, for rd_array_free(). */
static rd_array uploaded(void)
{
    rd_array array = { .device = RD_CUDA(0) };

    IS_OK(rd_eval(ctx, host(), &array));
    ck_assert_int_eq(array.device, RD_CUDA(0));
    ck_assert(array.owner && array.data);
    return array;
}

static void refused(rd_status status, const char *part)
{
    ck_assert_msg(rd_error(ctx) == status && strstr(rd_error_text(ctx), part), "%d: %s, not %s",
                  (int)rd_error(ctx), rd_error_text(ctx), part);
    rd_error_clear(ctx);
}

/* ---- Copies ---------------------------------------------------------------------------------- */
START_TEST(there_and_back)
{
    rd_array array = uploaded();

    IS_OK(rd_eval(ctx, rd_leaf(ctx, &array), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    ck_assert(memcmp(x, y, sizeof x) == 0);
    rd_array_free(&array);
    ck_assert(!array.data);
}
END_TEST

/* Views, conversions, strides, of either side; what lies between a result's elements stays. */
START_TEST(views_there_and_back)
{
    rd_array array = uploaded();
    double   wide[COLUMNS][2 * ROWS];
    rd_array out = { .data    = wide,
                     .type    = RD_F64,
                     .shape   = RD_SHAPE(COLUMNS, ROWS),
                     .strides = RD_STRIDES(2 * ROWS, 2) };

    for (int i = 0; i < COLUMNS * 2 * ROWS; i++)
        wide[i / (2 * ROWS)][i % (2 * ROWS)] = -77;
    IS_OK(rd_eval(ctx, rd_transpose(rd_leaf(ctx, &array)), &out));
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++) {
            ck_assert(wide[j][2 * i] == x[i][j]);
            ck_assert(wide[j][2 * i + 1] == -77);
        }
    rd_array_free(&array);
}
END_TEST

/* Both ends on the GPU, with a leaf of this process beside. */
START_TEST(mixed)
{
    rd_array array = uploaded(), sum = { .device = RD_CUDA(0) };
    float    found[COLUMNS];

    IS_OK(rd_eval(ctx, rd_sum(rd_mul(rd_leaf(ctx, &array), host()), RD_DIMS(0)), &sum));
    IS_OK(rd_eval(ctx, rd_leaf(ctx, &sum), RD_INTO(found, RD_SHAPE(COLUMNS))));
    for (int j = 0; j < COLUMNS; j++) {
        float want = 0;

        for (int i = 0; i < ROWS; i++)
            want += x[i][j] * x[i][j];
        ck_assert(found[j] == want);
    }
    rd_array_free(&array);
    rd_array_free(&sum);
}
END_TEST

/* A result over what is read. */
START_TEST(in_place)
{
    rd_array array = uploaded();
    rd_array over  = {
         .data = array.data, .type = RD_F32, .shape = RD_SHAPE(ROWS, COLUMNS), .device = RD_CUDA(0)
    };

    IS_OK(rd_eval(ctx, rd_flip(rd_leaf(ctx, &array), RD_ALL), &over));
    IS_OK(rd_eval(ctx, rd_leaf(ctx, &array), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        ck_assert(y[i / COLUMNS][i % COLUMNS] ==
                  x[ROWS - 1 - i / COLUMNS][COLUMNS - 1 - i % COLUMNS]);
    rd_array_free(&array);
}
END_TEST

/* The same plan on other memory of the GPU. */
START_TEST(plans)
{
    rd_array a = uploaded(), b = { .device = RD_CUDA(0) };
    rd_array layout  = { .type = RD_F32, .shape = RD_SHAPE(ROWS, COLUMNS), .device = RD_CUDA(0) };
    rd_expr *in      = rd_input(ctx, "x", &layout);
    double   total   = 0;
    float    want[2] = { 0, 0 }, found;
    rd_plan *plan;

    IS_OK(rd_eval(ctx, rd_add(host(), rd_num(ctx, 1)), &b));
    plan = rd_plan_new(ctx, RD_EXPRS(in),
                       RD_RESULTS({ rd_sum(in, RD_ALL), RD_INTO(&found, RD_SCALAR) }), NULL);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        total += x[i / COLUMNS][i % COLUMNS];
    want[0] = (float)total;
    want[1] = (float)(total + ROWS * COLUMNS);
    for (int k = 0; k < 2; k++) {
        const void *data[] = { k ? b.data : a.data };

        IS_OK(rd_plan_run(plan, data, NULL));
        ck_assert(found == want[k]);
    }
    rd_plan_free(plan);
    rd_array_free(&a);
    rd_array_free(&b);
}
END_TEST

static rd_array part_of(const rd_array *whole, int64_t first, int64_t n, int64_t step)
{
    return (rd_array){ .data    = (float *)whole->data + first,
                       .type    = RD_F32,
                       .shape   = RD_SHAPE(n),
                       .strides = RD_STRIDES(step),
                       .device  = RD_CUDA(0) };
}

/* Results that overlap there are written in their order. */
START_TEST(results_overlap)
{
    rd_array whole = uploaded(), one = part_of(&whole, 0, 8, 1), two = part_of(&whole, 4, 8, 1),
             gaps  = part_of(&whole, 3, 8, 2);
    rd_expr *eight = rd_slice(rd_wrap(ctx, &x[0][0], RD_SHAPE(ROWS * COLUMNS)), ":8");

    IS_OK(rd_eval_many(ctx, RD_RESULTS({ eight, &one }, { rd_neg(eight), &two }), NULL));
    IS_OK(rd_eval(ctx, rd_leaf(ctx, &whole), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    for (int i = 0; i < 12; i++)
        ck_assert((&y[0][0])[i] == (i < 4 ? (&x[0][0])[i] : -(&x[0][0])[i - 4]));
    rd_eval_many(ctx, RD_RESULTS({ eight, &one }, { rd_neg(eight), &gaps }), NULL);
    refused(RD_ERR_DEVICE, "overlap on a GPU");
    rd_array_free(&whole);
}
END_TEST

/* What is too much for one plan is several, some of which read what lies there. */
START_TEST(in_parts)
{
    enum { MANY_PIECES = 120 };
    rd_array whole = uploaded();
    rd_expr *piece[MANY_PIECES], *flat = rd_reshape(rd_leaf(ctx, &whole), RD_SHAPE(ROWS * COLUMNS));
    float    found[MANY_PIECES];

    for (int k = 0; k < MANY_PIECES; k++)
        piece[k] = rd_reshape(rd_sum(rd_slice(flat, k % 2 ? "::3" : "1::2"), RD_ALL), RD_SHAPE(1));
    IS_OK(rd_eval(ctx, rd_concat(0, (rd_exprs){ piece, MANY_PIECES }),
                  RD_INTO(found, RD_SHAPE(MANY_PIECES))));
    for (int k = 0; k < MANY_PIECES; k++) {
        float want = 0;

        for (int i = k % 2 ? 0 : 1; i < ROWS * COLUMNS; i += k % 2 ? 3 : 2)
            want += (&x[0][0])[i];
        ck_assert(found[k] == want);
    }
    rd_array_free(&whole);
}
END_TEST

/* Memory of the GPU as a tensor, which outlives the context, and comes back to another one. */
START_TEST(tensors)
{
    rd_array    array = uploaded();
    void *const at    = array.data;
    const long  held  = fake_bytes_now();

    struct DLManagedTensorVersioned *tensor = rd_to_dlpack_versioned(ctx, &array);
    ck_assert_msg(tensor, "%s", rd_error_text(ctx));
    ck_assert(tensor->tensor.device == RD_DL_CUDA && tensor->tensor.device_number == 0);
    ck_assert(tensor->tensor.data == at && !array.owner);
    rd_ctx_free(ctx);

    ctx = rd_ctx_new(NULL);
    IS_OK(rd_from_dlpack_versioned(ctx, tensor, &array));
    ck_assert(array.device == RD_CUDA(0) && array.data == at);
    IS_OK(rd_eval(ctx, rd_adopt(ctx, &array), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    ck_assert(memcmp(x, y, sizeof x) == 0);
    rd_ctx_free(ctx);

    ctx   = rd_ctx_new(NULL);
    array = uploaded(); /* by what was given back */
    ck_assert_int_eq(fake_bytes_now(), held);
    rd_array_free(&array);
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */
static float twice(float v)
{
    return 2 * v;
}

START_TEST(c_functions)
{
    const rd_eval_opts cuda   = { .backend = RD_BACKEND_CUDA };
    rd_expr           *mapped = rd_map(host(), twice);

    rd_eval_many(ctx, RD_RESULTS({ mapped, RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)) }), &cuda);
    refused(RD_ERR_DEVICE, "a function is C code, which a GPU cannot run; give its text by RD_FN");
    IS_OK(rd_eval(ctx, mapped, RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    ck_assert(y[1][2] == 2 * x[1][2]);
}
END_TEST

START_TEST(bad_devices)
{
    const rd_eval_opts cpu = { .backend = RD_BACKEND_CPU };
    rd_array           one = uploaded(), other = one, far = one;

    rd_eval_many(
        ctx, RD_RESULTS({ rd_leaf(ctx, &one), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)) }), &cpu);
    refused(RD_ERR_DEVICE, "rd_eval_many: backend CPU cannot read what lies on GPU 0");
    other.device = RD_CUDA(1);
    rd_eval(ctx, rd_add(rd_leaf(ctx, &one), rd_leaf(ctx, &other)),
            RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)));
    refused(RD_ERR_DEVICE, "rd_eval: leaves or results lie on several GPUs");
    rd_eval(ctx, rd_leaf(ctx, &other), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)));
    refused(RD_ERR_DEVICE, "there is no GPU 1: there are 1");
    ck_assert(rd_input(ctx, "x", &(rd_array){ .type = RD_F32, .shape = RD_SHAPE(2) }));
    ck_assert(!rd_input(ctx, "x",
                        &(rd_array){ .type = RD_F32, .shape = RD_SHAPE(2), .device = RD_CUDA(0) }));
    refused(RD_ERR_ARGUMENT, "rd_input: \"x\" is of device 0 already; now it shall be of 1");
    rd_read(ctx, "any.npy", &one);
    refused(RD_ERR_DEVICE, "rd_read: any.npy: files are read into this process's memory");
    far.device = 1000;
    ck_assert(!rd_leaf(ctx, &far));
    refused(RD_ERR_ARGUMENT, "rd_leaf: device is 1000");
    rd_array_free(&one);
}
END_TEST

START_TEST(indices)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    int32_t            at[] = { 1, 0, 9, 2, -8, 3 };
    rd_expr           *taken =
        rd_take(rd_wrap(ctx, &x[0][0], RD_SHAPE(ROWS)), 0, rd_wrap(ctx, at, RD_SHAPE(6)));

    rd_eval_many(ctx, RD_RESULTS({ taken, RD_INTO(&y[0][0], RD_SHAPE(6)) }), &cuda);
    refused(RD_ERR_AXIS, "rd_take: index 9 is outside an axis of extent 6");
}
END_TEST

static bool child_ends_well(void (*work)(void))
{
    int         status = 1;
    const pid_t child  = fork();

    if (child == 0) {
        work();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void evaluate_in_child(void)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    rd_eval_many(ctx, RD_RESULTS({ host(), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)) }), &cuda);
    if (rd_error(ctx) != RD_ERR_DEVICE || !strstr(rd_error_text(ctx), "forked") ||
        rd_device_count())
        _exit(1);
}

START_TEST(forks)
{
    rd_array array = uploaded();

    ck_assert(child_ends_well(evaluate_in_child));
    rd_array_free(&array);
}
END_TEST

/* A sum and a map of enough for pinned memory, from this process and back. */
enum { MANY = 40000 };
static float     many[MANY], out[MANY], total;
static rd_status work(void)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    rd_expr           *a    = rd_wrap(ctx, many, RD_SHAPE(MANY));

    return rd_eval_many(ctx,
                        RD_RESULTS({ rd_add(a, rd_num(ctx, 1)), RD_INTO(out, RD_SHAPE(MANY)) },
                                   { rd_sum(a, RD_ALL), RD_INTO(&total, RD_SCALAR) }),
                        &cuda);
}

/* The same, which goes on by itself, and is then brought here. */
static rd_status work_aside(void)
{
    const rd_eval_opts async = { .async = true };
    rd_array           aside = { .device = RD_CUDA(0) };

    if (rd_eval_many(ctx,
                     RD_RESULTS({ rd_sum(rd_wrap(ctx, many, RD_SHAPE(MANY)), RD_ALL), &aside }),
                     &async) == RD_OK &&
        rd_wait(ctx) == RD_OK)
        rd_eval(ctx, rd_leaf(ctx, &aside), RD_INTO(&total, RD_SCALAR));
    rd_array_free(&aside);
    return rd_error(ctx);
}

static void compile_in_child(void)
{
    if (work() != RD_OK || rd_module_stats_now().compiled == 0)
        _exit(1);
    end();
}

/* A second process finds what the first has compiled, and compiles nothing. */
START_TEST(kernels_are_stored)
{
    char dir[FAKE_PATH];

    fake_directory(dir);
    setenv("XDG_CACHE_HOME", dir, 1);
    ck_assert(child_ends_well(compile_in_child));
    IS_OK(work());
    const rd_module_stats stats = rd_module_stats_now();
    ck_assert(stats.compiled == 0 && stats.failed == 0 && stats.stored > 0);
    fake_remove(dir);
}
END_TEST

static int is_image(const struct dirent *file)
{
    return strstr(file->d_name, ".sm_") != NULL;
}

/* Sealed, and behind its key: what it is only the driver sees. */
static void spoil(int dir, const char *name)
{
    size_t size;
    char  *bytes = rd_store_read(dir, name, &size);

    ck_assert(bytes && size > RD_HASH_TEXT);
    memset(bytes + RD_HASH_TEXT, 'x', size - RD_HASH_TEXT);
    ck_assert(rd_store_write(dir, "junk", bytes, (long)size));
    ck_assert(rd_store_put(dir, "junk", name));
    free(bytes);
}

static void spoil_images(const char *cache)
{
    const int       dir = rd_store_open(cache, NULL);
    char            path[FAKE_PATH + 8];
    struct dirent **image;

    snprintf(path, sizeof path, "%s/rdim", cache);
    const int n = scandir(path, &image, is_image, NULL);

    ck_assert_int_gt(n, 0);
    for (int k = 0; k < n; k++) {
        spoil(dir, image[k]->d_name);
        free(image[k]);
    }
    free(image);
    close(dir);
}

static void find_in_child(void)
{
    if (work() != RD_OK || rd_module_stats_now().compiled > 0)
        _exit(1);
    end();
}

/* A stored image that the driver refuses is made anew, and replaced. */
START_TEST(junk_is_stored)
{
    char dir[FAKE_PATH];

    fake_directory(dir);
    setenv("XDG_CACHE_HOME", dir, 1);
    ck_assert(child_ends_well(compile_in_child));
    spoil_images(dir);
    ck_assert(child_ends_well(compile_in_child));
    ck_assert(child_ends_well(find_in_child));
    fake_remove(dir);
}
END_TEST

/* ---- Words ----------------------------------------------------------------------------------- */
START_TEST(explains)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };
    rd_expr           *sum  = rd_sum(host(), RD_ALL);
    const char        *text = rd_explain(ctx, RD_RESULTS({ sum, NULL }), &cuda);

    ck_assert_msg(text && strstr(text, "stage 0 on cuda:0 (fake GPU 0") &&
                      strstr(text, "strips: ") && strstr(text, "backend: cuda"),
                  "%s", text ? text : rd_error_text(ctx));
    text = rd_explain(ctx, RD_RESULTS({ sum, NULL }), NULL);
    ck_assert_msg(text && strstr(text, "backend: cpu") &&
                      strstr(text, "not on CUDA: nothing lies on a GPU"),
                  "%s", text ? text : rd_error_text(ctx));
    ck_assert(strstr(rd_device_text(RD_CUDA(0)), "GiB"));
}
END_TEST

/* A machine without a driver: a sentence, and all else works. */
START_TEST(no_driver)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    setenv("RDIM_LIBCUDA", "/nonexistent/libcuda.so", 1);
    setenv("RDIM_BACKEND", "cuda", 1);
    rd_ctx_free(ctx);
    ctx = rd_ctx_new(NULL);
    ck_assert_int_eq(rd_device_count(), 0);
    ck_assert(strstr(rd_device_text(RD_CUDA(0)), "libcuda.so"));
    IS_OK(rd_eval(ctx, host(), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
    rd_eval_many(ctx, RD_RESULTS({ host(), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)) }), &cuda);
    refused(RD_ERR_DEVICE, "no CUDA: ");
    const char *text = rd_explain(ctx, RD_RESULTS({ host(), NULL }), NULL);
    ck_assert_msg(text && strstr(text, "not on CUDA: ") && strstr(text, "libcuda.so"), "%s",
                  text ? text : rd_error_text(ctx));
}
END_TEST

/* Neither NVRTC nor a stored kernel. */
START_TEST(no_compiler)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA };

    setenv("RDIM_LIBNVRTC", "/nonexistent/libnvrtc.so", 1);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    rd_eval_many(ctx, RD_RESULTS({ host(), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS)) }), &cuda);
    refused(RD_ERR_DEVICE, "libnvrtc.so");
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */
static const char *const functions[] = {
#define RD_DRIVER(name, parameters) #name,
#include "kernels/cuda/api.def"
};

/* One of so many by sanitizers: of each function at least one. */
enum { FAILURES = SANITIZED ? 5 : 1 };

/* Each function of the driver fails at one of its calls: a status and a sentence that names it, or
 * the work was done without; nothing is lost, and, but for errors that stay, the next one works. */
START_TEST(driver_fails)
{
    const int   way               = _i * FAILURES;
    const char *name              = functions[way / 3 / 2];
    const int   call              = 1 + way % 3;
    rd_status (*const does)(void) = way / 3 % 2 ? work_aside : work;

    for (int i = 0; i < MANY; i++)
        many[i] = (float)(i % 13);
    if (fake_break(fake_cuda, name, call, 1) != 0)
        return;
    if (does() != RD_OK) {
        char bare[64];

        snprintf(bare, sizeof bare, "%s", name);
        if (strstr(bare, "_v2"))
            *strstr(bare, "_v2") = 0;
        ck_assert_msg(rd_error(ctx) == RD_ERR_DEVICE && strstr(rd_error_text(ctx), bare) &&
                          strstr(rd_error_text(ctx), ": 1, "),
                      "%s, call %d: %s: %s", name, call, rd_status_name(rd_error(ctx)),
                      rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    fake_break(fake_cuda, name, 0, 0);
    if (rd_device_count() > 0) {
        IS_OK(does());
        ck_assert(total > 0);
    }
}
END_TEST

/* An error that the driver repeats: all later work gives its sentence. */
START_TEST(device_is_lost)
{
    IS_OK(work());
    fake_break(fake_cuda, "cuStreamSynchronize", 1, 700);
    ck_assert_int_eq(work(), RD_ERR_DEVICE);
    refused(RD_ERR_DEVICE, "700");
    fake_break(fake_cuda, "cuStreamSynchronize", 0, 0);
    ck_assert_int_eq(work(), RD_ERR_DEVICE);
    refused(RD_ERR_DEVICE, "cuStreamSynchronize: 700");
    setenv("RDIM_FAKE_STRICT", "0", 1); /* what a dead context holds is lost */
    fflush(stdout);
    _exit(0);
}
END_TEST

/* What is kept goes before memory is refused. */
START_TEST(memory_is_full)
{
    IS_OK(work());
    fake_break(fake_cuda, "cuMemAlloc_v2", 1, 2);
    many[0]        = 1;
    rd_array array = { .device = RD_CUDA(0) };
    IS_OK(rd_eval(ctx, rd_wrap(ctx, many, RD_SHAPE(3 * MANY / 4)), &array));
    rd_array_free(&array);
}
END_TEST

/* Memory that is kept and that no evaluation here would take. */
static void keep_some(void)
{
    char          why[RD_CUDA_TEXT];
    bool          full;
    rd_gpu *const device = rd_gpu_of(0, why);

    rd_gpu_put(device, rd_gpu_get(device, 100 * sizeof many, &full, why));
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuMemFree_v2"), 0);
}

/* A kernel begins once what is kept has gone. */
START_TEST(no_memory_for_a_launch)
{
    many[14] = 4;
    IS_OK(work());
    keep_some();
    out[14] = 0;
    fake_break(fake_cuda, "cuLaunchKernel", 1, 2);
    IS_OK(work());
    ck_assert(out[14] == 5 && total == 4);
    ck_assert_int_gt(fake_calls_of(fake_cuda, "cuMemFree_v2"), 0);
}
END_TEST

/* What else takes memory, and what comes of it if there is none even then. */
static const struct taker {
    const char *function;
    rd_status   even_then;
} takers[] = { { "cuStreamCreate", RD_ERR_MEMORY },
               { "cuModuleLoadData", RD_ERR_DEVICE },
               { "cuModuleGetFunction", RD_ERR_DEVICE },
               { "cuEventCreate", RD_OK },
               { "cuMemAllocHost_v2", RD_OK } };

START_TEST(memory_makes_way)
{
    const struct taker *const t     = &takers[_i / 2];
    const int                 times = 1 + _i % 2;

    many[14] = 4;
    keep_some();
    for (int call = 1; call <= times; call++)
        fake_break(fake_cuda, t->function, call, 2);
    ck_assert_msg(work() == (times > 1 ? t->even_then : RD_OK), "%s, %d times: %s", t->function,
                  times, rd_error_text(ctx));
    ck_assert_int_gt(fake_calls_of(fake_cuda, "cuMemFree_v2"), 0);
    rd_error_clear(ctx);
    IS_OK(work());
    ck_assert(out[14] == 5 && total == 4);
}
END_TEST

/* A leaf and its copy fit; with the room for a little more they do not. */
START_TEST(memory_just_suffices)
{
    enum { BYTES = (5 << 20) + 65536 };
    static uint8_t bytes[BYTES];
    rd_array       array = { .device = RD_CUDA(0) };

    setenv("RDIM_FAKE_MEMORY", "12000000", 1);
    IS_OK(rd_eval(ctx, rd_wrap(ctx, bytes, RD_SHAPE(BYTES)), &array));
    rd_array_free(&array);
}
END_TEST

/* A block for whose room there was no memory is found again. */
START_TEST(block_without_room)
{
    enum { BYTES = (5 << 20) + 65536 };
    char          why[RD_CUDA_TEXT];
    bool          full;
    rd_gpu *const device = rd_gpu_of(0, why);

    setenv("RDIM_FAKE_MEMORY", "6000000", 1);
    const CUdeviceptr at    = rd_gpu_get(device, BYTES, &full, why);
    const int         calls = fake_calls_of(fake_cuda, "cuMemAlloc_v2");

    ck_assert_msg(at != 0, "%s", why);
    ck_assert(rd_gpu_held(device) == BYTES);
    rd_gpu_put(device, at);
    ck_assert(rd_gpu_get(device, BYTES - 1000, &full, why) == at);
    ck_assert_int_eq(fake_calls_of(fake_cuda, "cuMemAlloc_v2"), calls);
    rd_gpu_put(device, at);
}
END_TEST

START_TEST(memory_is_too_small)
{
    setenv("RDIM_FAKE_MEMORY", "100000", 1);
    ck_assert_int_eq(work(), RD_ERR_MEMORY);
    refused(RD_ERR_MEMORY, "cuMemAlloc");
    IS_OK(rd_eval(ctx, host(), RD_INTO(&y[0][0], RD_SHAPE(ROWS, COLUMNS))));
}
END_TEST

static void add(TCase *tc)
{
    const TTest *const tests[] = { there_and_back,
                                   views_there_and_back,
                                   mixed,
                                   in_place,
                                   results_overlap,
                                   in_parts,
                                   tensors,
                                   plans,
                                   c_functions,
                                   bad_devices,
                                   indices,
                                   forks,
                                   kernels_are_stored,
                                   junk_is_stored,
                                   explains,
                                   no_driver,
                                   no_compiler,
                                   memory_is_full,
                                   no_memory_for_a_launch,
                                   memory_just_suffices,
                                   block_without_room,
                                   memory_is_too_small,
                                   device_is_lost };

    tcase_add_checked_fixture(tc, begin, end);
    for (int k = 0; k < COUNT(tests); k++)
        tcase_add_test(tc, tests[k]);
    tcase_add_loop_test(tc, memory_makes_way, 0, 2 * COUNT(takers));
    tcase_add_loop_test(tc, driver_fails, 0, 3 * 2 * COUNT(functions) / FAILURES);
}

int main(void)
{
    return fake_run("devices", add);
}
