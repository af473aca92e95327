/* .npy files: round trips, files by NumPy, broken files, mapping, and writes that fail. */
#define _POSIX_C_SOURCE 200809L
#include "expr/array.h"
#include "io/npy.h"
#include "io/save.h"
#include "suite.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static rd_ctx *ctx;
static char    dir[256];

static void set_up(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/rdim_npy_XXXXXX", base ? base : "/tmp");
    ck_assert(mkdtemp(dir));
    ctx = rd_ctx_new(NULL);
    ck_assert(ctx);
}

/* Name k of the files in the directory, but for "." and ".."; their number if there are fewer. */
static int list_files(int k, char name[512])
{
    DIR *d = opendir(dir);
    int  n = 0;

    ck_assert(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && n++ == k)
            snprintf(name, 512, "%s/%s", dir, e->d_name);
    closedir(d);
    return n;
}

static void tear_down(void)
{
    char name[512];

    rd_ctx_free(ctx);
    while (list_files(0, name) > 0)
        ck_assert(remove(name) == 0);
    ck_assert(rmdir(dir) == 0);
}

static const char *in_dir(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert(f && fwrite(bytes, 1, n, f) == n);
    ck_assert(fclose(f) == 0);
}

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");

    ck_assert_msg(f, "%s", path);
    const size_t n = fread(bytes, 1, room, f);
    fclose(f);
    return n;
}

/* ---- Round trips ----------------------------------------------------------------------------- */
static const rd_dtype types[]  = { RD_BOOL, RD_I8,  RD_I16, RD_I32, RD_I64, RD_U8,
                                   RD_U16,  RD_U32, RD_U64, RD_F16, RD_F32, RD_F64 };
static const rd_shape shapes[] = {
    { 0, 0, { 0 } },       { 1, 0, { 0 } },          { 1, 0, { 3 } }, { 3, 0, { 2, 3, 4 } },
    { 3, 0, { 1, 0, 5 } }, { 3, 0, { 40, 50, 13 } }, /* more than one chunk, and its last one not
                                                      * full */
};

/* Distinct bytes within an element, so that a wrong byte order shows; floats are any bits, compared
 * as bits. */
static void store(char *at, rd_dtype type, int64_t k)
{
    const uint64_t bits = (uint64_t)(k + 1) * 0x9e3779b97f4a7c15u;

    if (type == RD_BOOL)
        *at = (char)(bits >> 63);
    else
        memcpy(at, &bits, (size_t)rd_dtype_size(type));
}

/* Elements of an array of any strides, numbered in C order. */
static char *element(const rd_array *a, const int64_t *stride, int64_t k)
{
    int64_t at = 0;

    for (int axis = a->shape.n - 1; axis >= 0; axis--) {
        at += k % a->shape.at[axis] * stride[axis];
        k /= a->shape.at[axis];
    }
    return (char *)a->data + at * rd_dtype_size(a->type);
}

static void fill(rd_array *a)
{
    const int64_t n = rd_points(a->shape.n, a->shape.at);
    int64_t       stride[RD_MAX_RANK];

    ck_assert(rd_array_layout(ctx, a, "fill", stride));
    for (int64_t k = 0; k < n; k++)
        store(element(a, stride, k), a->type, k);
}

static void check_filled(const rd_array *a, const char *what)
{
    const int64_t n = rd_points(a->shape.n, a->shape.at);
    int64_t       stride[RD_MAX_RANK];
    char          want[8];

    ck_assert(rd_array_layout(ctx, a, "check_filled", stride));
    for (int64_t k = 0; k < n; k++) {
        store(want, a->type, k);
        ck_assert_msg(memcmp(want, element(a, stride, k), (size_t)rd_dtype_size(a->type)) == 0,
                      "%s: %s element %lld of %lld", what, rd_dtype_name(a->type), (long long)k,
                      (long long)n);
    }
}

/* The leaf's memory as an array. */
static rd_array leaf_array(const rd_expr *leaf)
{
    rd_array a = { .in = leaf->as.leaf->data, .type = leaf->type, .shape = rd_shape_of(leaf) };

    a.strides.n = leaf->rank;
    memcpy(a.strides.at, leaf->as.leaf->stride, (size_t)leaf->rank * sizeof *a.strides.at);
    return a;
}

/* Layouts that are neither of a file's: reversed, with gaps. */
static rd_strides odd_strides(const rd_shape *shape, int64_t *first)
{
    rd_strides s    = { .n = shape->n };
    int64_t    step = 2;

    *first = 0;
    for (int axis = 0; axis < shape->n; axis++, step *= 2) {
        s.at[axis] = axis == 1 ? -step : step;
        if (axis == 1 && shape->at[axis] > 0)
            *first = step * (shape->at[axis] - 1);
        step *= shape->at[axis] ? shape->at[axis] : 1;
    }
    return s;
}

static void round_trip(const rd_array *a, int order, bool big)
{
    const char *path  = in_dir("trip.npy");
    rd_array    fresh = { 0 };

    ck_assert_msg(rd_npy_write(ctx, path, a, order, big) == RD_OK, "%s", rd_error_text(ctx));
    const rd_expr *leaf = rd_load(ctx, path);
    ck_assert_msg(leaf, "%s", rd_error_text(ctx));
    const rd_array loaded = leaf_array(leaf);
    ck_assert(loaded.type == a->type && memcmp(&loaded.shape, &a->shape, sizeof a->shape) == 0);
    check_filled(&loaded, "rd_load");

    ck_assert_msg(rd_read(ctx, path, &fresh) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert_int_eq(fresh.order, order);
    ck_assert_int_eq((int64_t)((uintptr_t)fresh.data % 64), 0);
    check_filled(&fresh, "rd_read, fresh");
    rd_array_free(&fresh);
    ck_assert(rd_array_is_zeroed(&fresh));

    rd_array out = *a;
    int64_t  first;
    out.strides  = odd_strides(&a->shape, &first);
    char *memory = calloc((size_t)(40 * 50 * 13 * 16 + 64), 8);
    out.data     = memory + first * rd_dtype_size(a->type);
    ck_assert_msg(rd_read(ctx, path, &out) == RD_OK, "%s", rd_error_text(ctx));
    check_filled(&out, "rd_read, odd strides");

    ck_assert_msg(rd_npy_write(ctx, path, &out, order, big) == RD_OK, "%s", rd_error_text(ctx));
    rd_array again = *a;
    memset(again.data, 0, (size_t)(rd_points(a->shape.n, a->shape.at) * rd_dtype_size(a->type)));
    ck_assert(rd_read(ctx, path, &again) == RD_OK);
    check_filled(&again, "written with odd strides");
    free(memory);
}

START_TEST(round_trips)
{
    const rd_dtype type = types[_i];

    for (int s = 0; s < COUNT(shapes); s++) {
        const int64_t n      = rd_points(shapes[s].n, shapes[s].at);
        char         *memory = malloc((size_t)(n * rd_dtype_size(type) + 1));

        for (int choice = 0; choice < 8; choice++) {
            rd_array a = { .data = memory, .type = type, .order = choice & 1, .shape = shapes[s] };
            fill(&a);
            round_trip(&a, choice >> 1 & 1, choice >> 2 & 1);
        }
        free(memory);
    }
}
END_TEST

/* ---- Files made by NumPy --------------------------------------------------------------------- */
static const struct {
    const char *name;
    rd_dtype    type;
    int         order;
    double      scale, shift; /* element k of C order is k * scale + shift */
} by_numpy[] = {
    { "f4_c_v1", RD_F32, 0, 0.5, -3 },
    { "f8_big_fortran_v2", RD_F64, 1, 0.25, -1 },
    { "i2_big_v3", RD_I16, 0, -100, 0 },
    { "u8_fortran_v1", RD_U64, 1, 1, 9223372036854775808.0 },
    { "bool_scalar_v1", RD_BOOL, 0, 0, 1 },
    { "f4_empty_v1", RD_F32, 0, 0, 0 },
    { "half_v1", RD_F16, 0, -0.125, 1 },
};

START_TEST(numpy_files)
{
    char     path[128];
    rd_array a = { 0 };
    int64_t  stride[RD_MAX_RANK];

    snprintf(path, sizeof path, "tests/data/%s.npy", by_numpy[_i].name);
    ck_assert_msg(rd_read(ctx, path, &a) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(a.type == by_numpy[_i].type && a.order == by_numpy[_i].order);
    ck_assert(rd_array_layout(ctx, &a, "numpy_files", stride));
    for (int64_t k = 0; k < rd_points(a.shape.n, a.shape.at); k++)
        ck_assert_double_eq(rd_word_to_double(rd_word_load(element(&a, stride, k), a.type), a.type),
                            (double)k * by_numpy[_i].scale + by_numpy[_i].shift);

    /* What NumPy wrote is, in version 1.0, byte for byte what we write. */
    uint8_t      theirs[512], ours[512];
    const size_t n = read_file(path, theirs, sizeof theirs);
    if (theirs[6] == 1) {
        ck_assert(rd_npy_write(ctx, in_dir("ours.npy"), &a, a.order, false) == RD_OK);
        ck_assert_int_eq(read_file(in_dir("ours.npy"), ours, sizeof ours), n);
        ck_assert(memcmp(theirs, ours, n) == 0);
    }
    rd_array_free(&a);
}
END_TEST

static const struct {
    const char *name, *why;
} refused_types[] = {
    { "structured_v1", "[('a', '<f4'), ('b', '<i4')]" },
    { "text_v1", "'<U3'" },
};

START_TEST(refused_type)
{
    char path[128];

    snprintf(path, sizeof path, "tests/data/%s.npy", refused_types[_i].name);
    ck_assert(!rd_load(ctx, path));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TYPE);
    ck_assert_msg(strstr(rd_error_text(ctx), path) &&
                      strstr(rd_error_text(ctx), refused_types[_i].why),
                  "%s", rd_error_text(ctx));
}
END_TEST

/* ---- Broken files ---------------------------------------------------------------------------- */
/* Both ways in fail with this status, and the sentence holds this text. */
static void check_refused(const char *path, rd_status status, const char *text)
{
    rd_array out = { 0 };

    rd_error_clear(ctx);
    ck_assert(!rd_load(ctx, path));
    ck_assert_int_eq(rd_error(ctx), status);
    ck_assert_msg(strstr(rd_error_text(ctx), text), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_read(ctx, path, &out), status);
    ck_assert_msg(strstr(rd_error_text(ctx), text), "%s", rd_error_text(ctx));
    ck_assert(rd_array_is_zeroed(&out));
    rd_error_clear(ctx);
}

START_TEST(not_files)
{
    check_refused(NULL, RD_ERR_ARGUMENT, "no path");
    check_refused("", RD_ERR_ARGUMENT, "no path");
    check_refused(in_dir("missing.npy"), RD_ERR_FILE, "missing.npy: No such file");
    check_refused(dir, RD_ERR_FILE, "a directory");
    check_refused("/dev/zero", RD_ERR_FILE, "not a regular file");
    ck_assert(mkfifo(in_dir("fifo"), 0600) == 0);
    check_refused(in_dir("fifo"), RD_ERR_FILE, "not a regular file");
    if (geteuid() != 0) { /* root may read all */
        write_file(in_dir("secret"), "x", 1);
        ck_assert(chmod(in_dir("secret"), 0) == 0);
        check_refused(in_dir("secret"), RD_ERR_FILE, "Permission denied");
    }
}
END_TEST

START_TEST(truncated)
{
    uint8_t      bytes[512];
    const char  *path = in_dir("cut.npy");
    const size_t n    = read_file("tests/data/f4_c_v1.npy", bytes, sizeof bytes);

    for (size_t cut = 0; cut < n; cut++) {
        write_file(path, bytes, cut);
        check_refused(path, RD_ERR_FILE, cut < 10 ? "not a .npy file" : "truncated");
    }
    write_file(path, bytes, n - 5);
    check_refused(path, RD_ERR_FILE, "cut.npy: truncated, 96 bytes of data expected, 91 found");
    write_file(path, bytes, n + 7); /* more is allowed */
    ck_assert(rd_load(ctx, path));
}
END_TEST

/* Whatever a header says after a byte of it changed, all the memory of the leaf can be read. */
START_TEST(mutated)
{
    uint8_t      bytes[512];
    const char  *path     = in_dir("mutated.npy");
    const size_t n        = read_file("tests/data/i2_big_v3.npy", bytes, sizeof bytes);
    const char   values[] = "\0\1 09,')}(<L\x7f\xff";

    for (size_t k = 0; k < n; k++) {
        for (size_t v = 0; v < sizeof values; v++) {
            const uint8_t was = bytes[k];
            rd_array      out = { 0 };
            bytes[k]          = (uint8_t)values[v];
            write_file(path, bytes, n);
            bytes[k] = was;

            const rd_expr *leaf = rd_load(ctx, path);
            if (leaf) {
                const rd_array a   = leaf_array(leaf);
                unsigned       sum = 0;
                for (int64_t i = 0; i < rd_points(leaf->rank, leaf->extent) * rd_dtype_size(a.type);
                     i++)
                    sum += ((const uint8_t *)a.in)[i];
                ck_assert(sum < 1u << 20);
            }
            ck_assert((leaf != NULL) == (rd_read(ctx, path, &out) == RD_OK));
            rd_array_free(&out);
            rd_error_clear(ctx);
        }
    }
}
END_TEST

/* ---- Mapping and layouts --------------------------------------------------------------------- */
static const struct {
    const char *what;
    bool        big;
    int         shift; /* bytes the data is moved from its aligned place */
    bool        mapped;
} mapping[] = {
    { "native", RD_HOST_IS_BIG, 0, true },
    { "swapped", !RD_HOST_IS_BIG, 0, false },
    { "aligned for its type only", RD_HOST_IS_BIG, 4, true },
    { "not aligned", RD_HOST_IS_BIG, 3, false },
};

START_TEST(mapped)
{
    enum { N = 1 << 14 };
    static float   data[N];
    static uint8_t bytes[4 * N + 256];
    rd_array       a    = { .data = data, .type = RD_F32, .shape = { 1, 0, { N } } };
    const char    *path = in_dir("mapped.npy");

    fill(&a);
    ck_assert(rd_npy_write(ctx, path, &a, 0, mapping[_i].big) == RD_OK);
    const size_t n     = read_file(path, bytes, sizeof bytes);
    const int    shift = mapping[_i].shift; /* so many spaces more */
    memmove(bytes + 127 + shift, bytes + 127, n - 127);
    memset(bytes + 127, ' ', (size_t)shift);
    bytes[8] = (uint8_t)(bytes[8] + shift);
    write_file(path, bytes, n + (size_t)shift);

    const rd_mark  mark   = rd_ctx_mark(ctx);
    const int64_t  before = rd_memory_now(ctx);
    const rd_expr *leaf   = rd_load(ctx, path);
    ck_assert_msg(leaf, "%s", rd_error_text(ctx));
    ck_assert_msg((rd_memory_now(ctx) - before < 4 * N) == mapping[_i].mapped, "%s",
                  mapping[_i].what);

    const rd_array loaded = leaf_array(leaf); /* its memory outlives the node and the file */
    ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
    ck_assert(unlink(path) == 0);
    check_filled(&loaded, mapping[_i].what);
}
END_TEST

/* What was read is there, and right, whatever becomes of the file. */
START_TEST(read_not_mapped)
{
    enum { N = 1 << 14 };
    static float data[N];
    rd_array     a    = { .data = data, .type = RD_F32, .shape = { 1, 0, { N } } };
    const char  *path = in_dir("shrinks.npy");
    double       sum  = -1;

    fill(&a);
    ck_assert(rd_npy_write(ctx, path, &a, 0, RD_HOST_IS_BIG) == RD_OK);
    rd_expr *leaf = rd_load(ctx, path, .read = true);
    ck_assert_msg(leaf, "%s", rd_error_text(ctx));
    ck_assert(truncate(path, 0) == 0);
    const rd_array loaded = leaf_array(leaf);
    check_filled(&loaded, "read");
    ck_assert(rd_eval(ctx, rd_sum(leaf, RD_ALL), RD_INTO(&sum, RD_SCALAR)) == RD_OK);
    ck_assert(rd_load_npy(ctx, NULL) == NULL && strstr(rd_error_text(ctx), "rd_load: no path"));
    rd_error_clear(ctx);
    ck_assert(!(rd_load)(ctx, path) && rd_error(ctx) == RD_ERR_FILE); /* the function, as of C++ */
    rd_error_clear(ctx);
}
END_TEST

/* Inside another file, as a stored member of a .npz is: behind any number of bytes. */
START_TEST(inside)
{
    static const int64_t offsets[] = { 0, 1, 4, 64, 4095, 4096, 5000, 20000 };
    enum { N = 3000 };
    static float   data[N];
    static uint8_t bytes[4 * N + 256 + 20000];
    rd_array       a      = { .data = data, .type = RD_F32, .shape = { 1, 0, { N } } };
    const char    *path   = in_dir("inside.bin");
    const int64_t  offset = offsets[_i];

    fill(&a);
    ck_assert(rd_npy_write(ctx, path, &a, 0, false) == RD_OK);
    const size_t n = read_file(path, bytes, sizeof bytes);
    memmove(bytes + offset, bytes, n);
    memset(bytes, 'x', (size_t)offset);
    write_file(path, bytes, n + (size_t)offset);
    const rd_expr *leaf = rd_load(ctx, path, .offset = offset);
    ck_assert_msg(leaf, "%s", rd_error_text(ctx));
    const rd_array loaded = leaf_array(leaf);
    check_filled(&loaded, "inside");
    ck_assert(truncate(path, offset + (int64_t)n - 1) == 0);
    ck_assert(!rd_load(ctx, path, .offset = offset) && strstr(rd_error_text(ctx), "truncated"));
    rd_error_clear(ctx);
    ck_assert(!rd_load(ctx, path, .offset = offset + (int64_t)n));
    ck_assert_msg(strstr(rd_error_text(ctx), "no byte"), "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(!rd_load(ctx, path, .offset = -1) && rd_error(ctx) == RD_ERR_FILE);
    rd_error_clear(ctx);
}
END_TEST

START_TEST(odd_bools)
{
    uint8_t  bytes[256];
    rd_array out = { 0 };
    size_t   n   = read_file("tests/data/bool_scalar_v1.npy", bytes, sizeof bytes);

    bytes[n - 1] = 0x80;
    write_file(in_dir("bool.npy"), bytes, n);
    ck_assert(rd_read(ctx, in_dir("bool.npy"), &out) == RD_OK);
    ck_assert_int_eq(*(uint8_t *)out.data, 1);
    rd_array_free(&out);
}
END_TEST

START_TEST(wrong_output)
{
    const char *path = "tests/data/f4_c_v1.npy";
    float       f[24];
    double      d[24];

    ck_assert_int_eq(rd_read(ctx, path, RD_INTO(f, RD_SHAPE(2, 12))), RD_ERR_SHAPE);
    ck_assert_msg(strstr(rd_error_text(ctx), "the file has f32 (2, 3, 4), the output f32 (2, 12)"),
                  "%s", rd_error_text(ctx));
    /* the first error stays */
    ck_assert_int_eq(rd_read(ctx, path, RD_INTO(f, RD_SHAPE(2, 3, 4))), RD_ERR_SHAPE);
    rd_error_clear(ctx);
    for (int k = 0; k < 2; k++) {
        const rd_shape no_shape = { .n = k ? RD_MAX_RANK + 1 : -1 };

        ck_assert_int_eq(rd_read(ctx, path, RD_INTO(f, no_shape)), RD_ERR_SHAPE);
        rd_error_clear(ctx);
    }
    ck_assert_int_eq(rd_read(ctx, path, RD_INTO(d, RD_SHAPE(2, 3, 4))), RD_ERR_TYPE);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_read(ctx, path, RD_INTO((float *)NULL, RD_SHAPE(2, 3, 4))),
                     RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_read(ctx, path, NULL), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_read(ctx, path, RD_INTO(f, RD_SHAPE(2, 3, 4))), RD_OK);
    ck_assert_float_eq(f[23], 8.5f);
}
END_TEST

/* Allocation number `left` of a context and all after it fail. */
static int left;

static void *allocate(void *user, int64_t bytes)
{
    return left-- > 0 ? malloc((size_t)bytes) : user;
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

START_TEST(no_memory)
{
    const rd_ctx_opts  opts   = { .allocate = allocate, .release = release };
    const char        *path   = in_dir("no_memory.npy");
    bool               passed = false;
    static const float one    = 1;

    for (int n = 1; !passed; n++) {
        left         = n;
        rd_ctx  *low = rd_ctx_new(&opts);
        rd_array a   = { 0 };
        ck_assert(low && n < 1000);
        passed = rd_read(low, "tests/data/f8_big_fortran_v2.npy", &a) == RD_OK &&
                 rd_load(low, "tests/data/f8_big_fortran_v2.npy") &&
                 rd_save(low, rd_wrap(low, &one, RD_SCALAR), path, .order = 1) == RD_OK &&
                 remove(path) == 0 && rd_npy_write(low, path, &a, 0, true) == RD_OK;
        ck_assert_int_eq(rd_error(low), passed ? RD_OK : RD_ERR_MEMORY);
        ck_assert(passed == (access(path, F_OK) == 0));
        rd_array_free(&a);
        rd_ctx_free(low);
    }
}
END_TEST

/* ---- Writing --------------------------------------------------------------------------------- */
/* A failed write leaves the old file, if there was one, and nothing else. */
/* Writing with files limited to so many bytes fails.  The limit stands for the write alone: Check's
 * own messages go to a file as well. */
static void check_not_written(const char *path, const rd_array *a, int files, rlim_t bytes,
                              const char *text)
{
    const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY }, limit = { bytes, RLIM_INFINITY };
    char                name[512];
    bool                limited = setrlimit(RLIMIT_FSIZE, &limit) == 0;
    rd_status           status  = rd_npy_write(ctx, path, a, 0, true);

    ck_assert(setrlimit(RLIMIT_FSIZE, &all) == 0 && limited);
    ck_assert_int_eq(status, RD_ERR_FILE);
    ck_assert_msg(strstr(rd_error_text(ctx), path) && strstr(rd_error_text(ctx), text), "%s",
                  rd_error_text(ctx));
    ck_assert_int_eq(list_files(0, name), files);
    rd_error_clear(ctx);
}

START_TEST(failed_writes)
{
    static double  data[1 << 14];
    const rd_array a = { .data = data, .type = RD_F64, .shape = { 1, 0, { 1 << 14 } } };
    uint8_t        bytes[8];

    check_not_written(in_dir("missing/y.npy"), &a, 0, RLIM_INFINITY, "No such file");
    check_not_written(dir, &a, 0, RLIM_INFINITY, "a directory");
    check_not_written("/dev/null", &a, 0, RLIM_INFINITY, "not a regular file");

    write_file(in_dir("old.npy"), "old", 3);
    signal(SIGXFSZ, SIG_IGN); /* a write over the limit fails with EFBIG, the one before it is
                               * short */
    check_not_written(in_dir("old.npy"), &a, 1, 1000, "cannot write: File too large");
    check_not_written(in_dir("old.npy"), &a, 1, 100000, "cannot write: File too large");
    ck_assert(read_file(in_dir("old.npy"), bytes, sizeof bytes) == 3 &&
              memcmp(bytes, "old", 3) == 0);
}
END_TEST

static mode_t mode_of(const char *path)
{
    struct stat facts;

    ck_assert(stat(path, &facts) == 0);
    return facts.st_mode & 07777;
}

/* A file that is replaced leaves its mode to the new one, and a link to it stays a link. */
START_TEST(replaced)
{
    static const mode_t modes[] = { 0600, 0444, 0664, 0755 };
    float               data[4] = { 1, 2, 3, 4 }, back[4];
    char                place[300], link[300];
    struct stat         facts;

    snprintf(place, sizeof place, "%s/place.npy", dir);
    snprintf(link, sizeof link, "%s/link.npy", dir);
    rd_expr *const y = rd_wrap(ctx, data, RD_SHAPE(4));
    write_file(place, "old", 3);
    ck_assert(symlink("place.npy", link) == 0);
    for (int k = 0; k < COUNT(modes); k++) {
        ck_assert(chmod(place, modes[k]) == 0);
        data[0] = (float)k;
        ck_assert_msg(rd_save(ctx, y, k % 2 ? link : place) == RD_OK, "%s", rd_error_text(ctx));
        ck_assert_int_eq(mode_of(place), modes[k]);
        ck_assert(lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode));
        ck_assert(chmod(place, 0600) == 0);
        ck_assert(rd_read(ctx, place, RD_INTO(back, RD_SHAPE(4))) == RD_OK && back[0] == data[0]);
    }
    if (geteuid() == 0) { /* who else could give the file away */
        ck_assert(chown(place, 1, 2) == 0 && rd_save(ctx, y, place) == RD_OK);
        ck_assert(stat(place, &facts) == 0 && facts.st_uid == 1 && facts.st_gid == 2);
    }
    ck_assert(remove(place) == 0);
    ck_assert_msg(rd_save(ctx, y, link) == RD_OK, "%s", rd_error_text(ctx)); /* a link to nothing */
    ck_assert(lstat(link, &facts) == 0 && S_ISREG(facts.st_mode));
    ck_assert(mkfifo(place, 0600) == 0 && rd_save(ctx, y, place) == RD_ERR_FILE);
    ck_assert(strstr(rd_error_text(ctx), "not a regular file"));
    ck_assert(stat(place, &facts) == 0 && S_ISFIFO(facts.st_mode));
}
END_TEST

START_TEST(saved)
{
    float       data[24], back[24];
    rd_array    a    = { .data = data, .type = RD_F32, .shape = { 3, 0, { 2, 3, 4 } } };
    const char *path = in_dir("saved.npy");
    char        name[512];

    for (int k = 0; k < 24; k++)
        data[k] = (float)k;
    rd_expr *y = rd_leaf(ctx, &a);
    ck_assert_msg(rd_save(ctx, y, path) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert_msg(rd_save(ctx, y, path, .order = 1, .big_endian = true) == RD_OK, "%s",
                  rd_error_text(ctx));
    ck_assert(rd_read(ctx, path, RD_INTO(back, RD_SHAPE(2, 3, 4))) == RD_OK);
    ck_assert(memcmp(data, back, sizeof data) == 0);
    ck_assert_int_eq(list_files(0, name), 1);

    ck_assert_int_eq(rd_save(ctx, y, NULL), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_save(ctx, y, ""), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_save(ctx, y, path, .order = 2), RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_save(ctx, NULL, path) != RD_OK);
    ck_assert(rd_save(ctx, y, path) != RD_OK); /* the first error stays */
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_save(ctx, rd_cast(y, RD_BF16), path), RD_ERR_TYPE);
    ck_assert_msg(strstr(rd_error_text(ctx), ".npy files have no type bf16; rd_cast() it first"),
                  "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(rd_load(NULL, path) == NULL);
    /* the file is still there */
    ck_assert(rd_read(ctx, path, RD_INTO(back, RD_SHAPE(2, 3, 4))) == RD_OK);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("npy_files");
    TCase   *tc     = tcase_create("files");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, round_trips, 0, COUNT(types));
    tcase_add_loop_test(tc, numpy_files, 0, COUNT(by_numpy));
    tcase_add_loop_test(tc, refused_type, 0, COUNT(refused_types));
    tcase_add_test(tc, not_files);
    tcase_add_test(tc, truncated);
    tcase_add_test(tc, mutated);
    tcase_add_loop_test(tc, mapped, 0, COUNT(mapping));
    tcase_add_test(tc, read_not_mapped);
    tcase_add_loop_test(tc, inside, 0, 8);
    tcase_add_test(tc, odd_bools);
    tcase_add_test(tc, wrong_output);
    tcase_add_test(tc, no_memory);
    tcase_add_test(tc, failed_writes);
    tcase_add_test(tc, replaced);
    tcase_add_test(tc, saved);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
