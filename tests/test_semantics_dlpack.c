/* docs/semantics.md on arrays of other libraries. */
#include "io/dlpack.h"
#include "values.h"

#include <stdio.h>

typedef struct DLManagedTensor          unversioned;
typedef struct DLManagedTensorVersioned versioned;

/* ---- Tensors of another library: memory of their own, so that the address sanitizer sees who uses
 * what has ended ---- */
enum { ROOM = 64 };
typedef struct theirs {
    unversioned old;
    versioned   now;
    int64_t     shape[RD_MAX_RANK + 1], strides[RD_MAX_RANK];
    _Alignas(16) unsigned char bytes[ROOM];
} theirs;

static int ended; /* tensors whose deleter was called */

static void end(void *manager)
{
    ended++;
    free(manager);
}

static void end_old(unversioned *self)
{
    end(self->manager);
}

static void end_now(versioned *self)
{
    end(self->manager);
}

/* f32, dense, of 0, 1, 2 ... */
static theirs *tensor(int rank, const int64_t *shape)
{
    theirs      *t    = calloc(1, sizeof *t);
    const float  v[6] = { 0, 1, 2, 3, 4, 5 };
    rd_dl_tensor dl   = { .data   = t->bytes,
                          .device = RD_DL_CPU,
                          .rank   = rank,
                          .code   = RD_DL_FLOAT,
                          .bits   = 32,
                          .lanes  = 1,
                          .shape  = t->shape };

    if (rank > 0)
        memcpy(t->shape, shape, (size_t)rank * sizeof *shape);
    memcpy(t->bytes, v, sizeof v);
    t->old = (unversioned){ dl, t, end_old };
    t->now = (versioned){ 1, 0, t, end_now, 0, dl };
    return t;
}

static theirs *two_by_three(void)
{
    return tensor(2, (const int64_t[]){ 2, 3 });
}

static void strides(theirs *t, int64_t outer, int64_t inner)
{
    t->strides[0]         = outer;
    t->strides[1]         = inner;
    t->old.tensor.strides = t->strides;
}

/* As a leaf of the context, which ends it. */
static rd_expr *taken(theirs *t)
{
    rd_array array;

    rd_from_dlpack(ctx, &t->old, &array);
    return rd_adopt(ctx, &array);
}

static void refused(rd_status got, rd_status want, const char *part)
{
    ck_assert_msg(got == want && rd_error(ctx) == want && strstr(rd_error_text(ctx), part),
                  "%s, not %s: %s, not %s", rd_status_name(got), rd_status_name(want),
                  rd_error_text(ctx), part);
    rd_error_clear(ctx);
}

/* Refused, ended at once, and no array. */
static void refuses(theirs *t, rd_status want, const char *part)
{
    const int before = ended;
    rd_array  array  = { .type = RD_F32, .data = t };

    refused(rd_from_dlpack(ctx, &t->old, &array), want, part);
    ck_assert(ended == before + 1 && !array.data && !array.type && !array.owner);
}

/* ---- Theirs as ours -------------------------------------------------------------------------- */
START_TEST(tensor_types)
{
    static const struct {
        uint8_t  code, bits;
        rd_dtype type;
    } rows[] = {
        { 0, 8, RD_I8 },   { 0, 16, RD_I16 }, { 0, 32, RD_I32 },   { 0, 64, RD_I64 },
        { 1, 8, RD_U8 },   { 1, 16, RD_U16 }, { 1, 32, RD_U32 },   { 1, 64, RD_U64 },
        { 2, 16, RD_F16 }, { 2, 32, RD_F32 }, { 2, 64, RD_F64 },   { 4, 16, RD_BF16 },
        { 6, 8, RD_BOOL }, { 5, 64, RD_C64 }, { 5, 128, RD_C128 }, { 10, 8, RD_F8 },
    };
    static const struct {
        uint8_t     code, bits;
        uint16_t    lanes;
        const char *part;
    } none[] = {
        { 5, 32, 1, "code 5 (complex), 32 bits, 1 lanes" },
        { 2, 32, 4, "32 bits, 4 lanes" },
        { 3, 64, 1, "code 3 (opaque handle)" },
        { 0, 4, 1, "code 0 (int), 4 bits" },
        { 2, 128, 1, "code 2 (float), 128 bits" },
        { 12, 8, 1, "code 12 (unknown)" },
        { 2, 32, 0, "0 lanes" },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        theirs *t          = tensor(1, (const int64_t[]){ 4 });
        t->old.tensor.code = rows[k].code;
        t->old.tensor.bits = rows[k].bits;
        memset(t->bytes, 0, ROOM);
        rd_expr *x = taken(t);
        ck_assert_int_eq(rd_type_of(x), rows[k].type);
        expect("zeroes", rd_real(x), rd_type_of(rd_real(x)), VALUES(0, 0, 0, 0));
    }
    for (size_t k = 0; k < COUNT(none); k++) {
        theirs *t           = two_by_three();
        t->old.tensor.code  = none[k].code;
        t->old.tensor.bits  = none[k].bits;
        t->old.tensor.lanes = none[k].lanes;
        refuses(t, RD_ERR_TYPE, none[k].part);
    }
}
END_TEST

START_TEST(tensor_layouts)
{
    theirs *dense = two_by_three(), *turned = two_by_three(), *back = two_by_three(),
           *later = tensor(1, (const int64_t[]){ 3 }), *scalar = tensor(0, NULL),
           *none = tensor(2, (const int64_t[]){ 0, 7 }), *same = two_by_three();
    void *const first = dense->bytes;
    rd_array    array;

    ck_assert(rd_from_dlpack(ctx, &dense->old, &array) == RD_OK && array.data == first);
    expect("no strides", rd_adopt(ctx, &array), RD_F32, VALUES(0, 1, 2, 3, 4, 5));
    strides(turned, 1, 2);
    expect("strides", taken(turned), RD_F32, VALUES(0, 2, 4, 1, 3, 5));
    strides(back, -3, -1);
    back->old.tensor.byte_offset = 5 * sizeof(float);
    expect("negative strides", taken(back), RD_F32, VALUES(5, 4, 3, 2, 1, 0));
    later->old.tensor.byte_offset = 2 * sizeof(float);
    expect("offset", taken(later), RD_F32, VALUES(2, 3, 4));
    scalar->old.tensor.shape       = NULL;
    scalar->old.tensor.byte_offset = 4 * sizeof(float);
    expect("rank 0", taken(scalar), RD_F32, VALUES(4));
    strides(none, 123, -456);
    none->old.tensor.data = NULL;
    expect_shape("empty", taken(none), RD_SHAPE(0, 7));
    strides(same, 0, 1);
    expect("repeated", taken(same), RD_F32, VALUES(0, 1, 2, 0, 1, 2));
}
END_TEST

START_TEST(tensor_refusals)
{
    const int64_t one[RD_MAX_RANK + 1] = { 0 };
    theirs       *t                    = two_by_three();
    rd_array      array;

    t->old.tensor.byte_offset = 2;
    refuses(t, RD_ERR_ARGUMENT, "rd_from_dlpack: address");
    t                  = two_by_three();
    t->old.tensor.data = NULL;
    refuses(t, RD_ERR_ARGUMENT, "no data (NULL) for shape (2, 3)");
    t                   = two_by_three();
    t->old.tensor.shape = NULL;
    refuses(t, RD_ERR_ARGUMENT, "rank 2 without a shape");
    refuses(tensor(2, (const int64_t[]){ 2, -3 }), RD_ERR_SHAPE, "negative");
    refuses(tensor(RD_MAX_RANK + 1, one), RD_ERR_SHAPE, "rank 33");
    refuses(tensor(-1, NULL), RD_ERR_SHAPE, "rank -1");
    refused(rd_from_dlpack(ctx, NULL, &array), RD_ERR_ARGUMENT, "the tensor is NULL");
    refused(rd_from_dlpack_versioned(ctx, NULL, &array), RD_ERR_ARGUMENT, "the tensor is NULL");

    ended = 0;
    refused(rd_from_dlpack(ctx, &two_by_three()->old, NULL), RD_ERR_ARGUMENT, "no array");
    ck_assert_int_eq(ended, 1);
    ck_assert(rd_from_dlpack(NULL, &two_by_three()->old, &array) == RD_ERR_MEMORY);
    ck_assert(rd_from_dlpack_versioned(NULL, &two_by_three()->now, &array) == RD_ERR_MEMORY);
    ck_assert_int_eq(ended, 3);
    ck_assert(!rd_slice(leaf(RD_F32, VALUES(1)), "9")); /* an earlier error */
    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &array) == RD_ERR_AXIS && !array.data);
    ck_assert_int_eq(ended, 4);
    rd_error_clear(ctx);

    t                  = two_by_three(); /* one that has no deleter */
    t->old.deleter     = NULL;
    t->old.tensor.bits = 31;
    ck_assert(rd_from_dlpack(ctx, &t->old, &array) == RD_ERR_TYPE);
    rd_error_clear(ctx);
    free(t);
}
END_TEST

START_TEST(tensor_devices)
{
    static const struct {
        int32_t     type, number;
        const char *part;
    } none[] = {
        { 4, 0, "type 4 (OpenCL), neither the CPU nor CUDA" },
        { 10, 1, "type 10 (ROCm)" },
        { 0, 0, "type 0 (unknown)" },
        { -5, 0, "type -5 (unknown)" },
        { 99, 0, "type 99 (unknown)" },
        { 2, -1, "GPU -1, possible are 0 to 63" },
        { 2, 64, "GPU 64, possible are 0 to 63" },
    };
    static const int32_t ours[][3] = {
        { 1, 0, 0 }, { 3, 0, 0 }, { 13, 0, 0 }, { 2, 0, RD_CUDA(0) }, { 2, 63, RD_CUDA(63) }
    };
    rd_array array;

    for (size_t k = 0; k < COUNT(none); k++) {
        theirs *t                   = two_by_three();
        t->old.tensor.device        = none[k].type;
        t->old.tensor.device_number = none[k].number;
        refuses(t, RD_ERR_DEVICE, none[k].part);
    }
    for (size_t k = 0; k < COUNT(ours); k++) {
        theirs *t                   = two_by_three();
        t->old.tensor.device        = ours[k][0];
        t->old.tensor.device_number = ours[k][1];
        ck_assert(rd_from_dlpack(ctx, &t->old, &array) == RD_OK && array.device == ours[k][2]);
        rd_array_free(&array);
    }
}
END_TEST

START_TEST(tensor_versions)
{
    theirs  *t = two_by_three(), *newer = two_by_three(), *next = two_by_three();
    rd_array array;

    ended            = 0;
    newer->now.minor = 99;
    next->now.major  = 2;
    next->now.tensor = (rd_dl_tensor){ .rank = -77 }; /* of another layout, so not looked at */
    ck_assert(rd_from_dlpack_versioned(ctx, &t->now, &array) == RD_OK);
    rd_array_free(&array);
    ck_assert(rd_from_dlpack_versioned(ctx, &newer->now, &array) == RD_OK);
    rd_array_free(&array);
    ck_assert_int_eq(ended, 2);
    refused(rd_from_dlpack_versioned(ctx, &next->now, &array), RD_ERR_LIMIT,
            "rd_from_dlpack_versioned: the tensor is of DLPack 2.0, this release reads 1.x");
    ck_assert(ended == 3 && !array.data);
}
END_TEST

/* ---- Who ends them --------------------------------------------------------------------------- */
START_TEST(tensor_ends_once)
{
    rd_array array, other;
    rd_mark  mark;
    rd_expr *x;

    ended = 0;
    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &array) == RD_OK);
    expect("borrowed", rd_leaf(ctx, &array), RD_F32, VALUES(0, 1, 2, 3, 4, 5));
    ck_assert_int_eq(ended, 0);
    rd_array_free(&array);
    rd_array_free(&array);
    ck_assert_int_eq(ended, 1);

    x    = taken(two_by_three());
    mark = rd_ctx_mark(ctx);
    for (int k = 0; k < 3; k++) {
        expect("of a loop", rd_add(x, taken(two_by_three())), RD_F32, VALUES(0, 2, 4, 6, 8, 10));
        taken(two_by_three());
        ck_assert_int_eq(ended, 1 + 2 * k);
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
        ck_assert_int_eq(ended, 3 + 2 * k);
    }
    expect("from before", x, RD_F32, VALUES(0, 1, 2, 3, 4, 5));

    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &array) == RD_OK);
    other = array; /* what is not freed is not ended: the array has the leaf's memory */
    ck_assert(rd_adopt(ctx, &array) && !array.owner && array.data == other.data);
    rd_array_free(&array);
    ck_assert_int_eq(ended, 7);
    rd_ctx_free(ctx);
    ck_assert_int_eq(ended, 9);
    ctx = rd_ctx_new(NULL);
}
END_TEST

/* Without memory for what remembers the tensor. */
START_TEST(tensor_without_memory)
{
    rd_ctx  *small = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = 1 });
    rd_array array;

    ended = 0;
    ck_assert(rd_from_dlpack(small, &two_by_three()->old, &array) == RD_ERR_MEMORY && !array.data);
    ck_assert_int_eq(ended, 1);
    rd_ctx_free(small);
}
END_TEST

START_TEST(adopted)
{
    rd_ctx  *other = rd_ctx_new(NULL);
    rd_array fresh = { 0 }, bad, plain = { .type = RD_F32, .in = (const float[]){ 7 } };

    ck_assert(rd_eval(ctx, rd_neg(taken(two_by_three())), &fresh) == RD_OK);
    expect("a result", rd_adopt(ctx, &fresh), RD_F32, VALUES(-0.0, -1, -2, -3, -4, -5));
    expect("caller memory", rd_adopt(ctx, &plain), RD_F32, VALUES(7));

    ended = 0;
    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &bad) == RD_OK);
    bad.order = 3;
    expect_error("no leaf", rd_adopt(ctx, &bad), RD_ERR_ARGUMENT);
    ck_assert(ended == 1 && !bad.data);
    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &bad) == RD_OK);
    ck_assert(!rd_adopt(other, &bad) && rd_error(other) == RD_ERR_ARGUMENT && ended == 2);
    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &bad) == RD_OK);
    ck_assert(!rd_adopt(NULL, &bad) && ended == 3);
    expect_error("no array", rd_adopt(ctx, NULL), RD_ERR_ARGUMENT);
    rd_ctx_free(other);
}
END_TEST

static void count(void *user)
{
    ++*(int *)user;
}

START_TEST(owners)
{
    float    v[2]  = { 1, 2 };
    int      calls = 0;
    rd_array array = { .data = v, .type = RD_F32, .shape = RD_SHAPE(2) };

    ck_assert(rd_array_own(ctx, &array, count, &calls) == RD_OK && calls == 0);
    refused(rd_array_own(ctx, &array, count, &calls), RD_ERR_ARGUMENT, "the array has an owner");
    ck_assert(calls == 1 && array.data == v);
    rd_array_free(&array);
    ck_assert(calls == 2 && !array.data);
    refused(rd_array_own(ctx, NULL, count, &calls), RD_ERR_ARGUMENT, "the array is NULL");
    ck_assert_int_eq(calls, 3);
    refused(rd_array_own(ctx, &array, NULL, NULL), RD_ERR_ARGUMENT, "no function");
}
END_TEST

START_TEST(read_only)
{
    theirs  *t = two_by_three();
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(9, 8, 7, 6, 5, 4));
    rd_array array, writable;

    t->now.flags = RD_DL_READ_ONLY;
    ck_assert(rd_from_dlpack_versioned(ctx, &t->now, &array) == RD_OK);
    refused(rd_eval(ctx, x, &array), RD_ERR_ARGUMENT, "rd_eval: the output is read-only");
    ck_assert(!rd_to_dlpack(ctx, &array) && array.owner);
    refused(rd_error(ctx), RD_ERR_ARGUMENT, "only rd_to_dlpack_versioned() can say");
    versioned *again = rd_to_dlpack_versioned(ctx, &array);
    ck_assert(again && again->flags == RD_DL_READ_ONLY);
    again->deleter(again);
    array = (rd_array){ .type = RD_F32, .in = (const float[]){ 7 }, .flags = 4 };
    expect_error("another flag", rd_leaf(ctx, &array), RD_ERR_ARGUMENT);

    ck_assert(rd_from_dlpack(ctx, &two_by_three()->old, &writable) == RD_OK);
    ck_assert(rd_eval(ctx, x, &writable) == RD_OK && ((float *)writable.data)[5] == 4);
    rd_array_free(&writable);
}
END_TEST

/* ---- Ours as theirs -------------------------------------------------------------------------- */
START_TEST(results_as_tensors)
{
    rd_array     fresh = { 0 };
    rd_expr     *x     = leaf_shape(RD_F32, RD_SHAPE(2, 1), VALUES(1, 2));
    unversioned *old;
    versioned   *now;

    ck_assert(rd_eval(ctx, x, &fresh) == RD_OK);
    old = rd_to_dlpack(ctx, &fresh);
    ck_assert(old && !fresh.owner && old->tensor.data == fresh.data && !old->tensor.byte_offset);
    ck_assert(old->tensor.device == RD_DL_CPU && old->tensor.device_number == 0);
    ck_assert(old->tensor.code == 2 && old->tensor.bits == 32 && old->tensor.lanes == 1);
    ck_assert(old->tensor.rank == 2 && old->tensor.shape[0] == 2 && old->tensor.shape[1] == 1);
    ck_assert(old->tensor.strides[0] == 1 && old->tensor.strides[1] == 1);
    expect("still described", rd_leaf(ctx, &fresh), RD_F32, VALUES(1, 2));
    fresh = (rd_array){ 0 };
    ck_assert(rd_eval(ctx, rd_gt(x, rd_num(ctx, 1)), &fresh) == RD_OK);
    now = rd_to_dlpack_versioned(ctx, &fresh);
    ck_assert(now && now->major == 1 && now->minor == 0 && now->flags == 0);
    ck_assert(now->tensor.code == 6 && now->tensor.bits == 8);

    rd_ctx_free(ctx); /* the tensors stay */
    ck_assert(((float *)old->tensor.data)[1] == 2 && ((bool *)now->tensor.data)[1]);
    old->deleter(old);
    now->deleter(now);
    ctx = rd_ctx_new(NULL);
}
END_TEST

START_TEST(caller_memory_as_tensors)
{
    double   v[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    int      calls   = 0;
    rd_array array   = { .data    = &v[1][2],
                         .type    = RD_F64,
                         .shape   = RD_SHAPE(3, 2),
                         .strides = RD_STRIDES(-1, -3) },
             scalar  = { .data = v, .type = RD_F64 },
             none    = { .type = RD_BF16, .shape = RD_SHAPE(3, 0) };
    unversioned *t   = rd_to_dlpack(ctx, &array);

    ck_assert(t && t->tensor.data == &v[1][2] && t->tensor.strides[0] == -1 &&
              t->tensor.strides[1] == -3);
    t->deleter(t);
    ck_assert(rd_array_own(ctx, &array, count, &calls) == RD_OK);
    t = rd_to_dlpack(ctx, &array);
    rd_ctx_free(ctx);
    ck_assert(t && calls == 0);
    t->deleter(t);
    ck_assert_int_eq(calls, 1);

    ctx = rd_ctx_new(NULL);
    t   = rd_to_dlpack(ctx, &scalar);
    ck_assert(t && t->tensor.rank == 0 && t->tensor.data == v);
    t->deleter(t);
    t = rd_to_dlpack(ctx, &none);
    ck_assert(t && t->tensor.shape[1] == 0 && t->tensor.code == 4 && t->tensor.bits == 16);
    t->deleter(t);
}
END_TEST

/* A tensor that goes through, to a third. */
START_TEST(tensors_passed_on)
{
    theirs     *t     = two_by_three();
    void *const first = t->bytes;
    rd_array    array;

    ended = 0;
    ck_assert(rd_from_dlpack(ctx, &t->old, &array) == RD_OK);
    versioned *passed = rd_to_dlpack_versioned(ctx, &array);
    rd_ctx_free(ctx);
    ctx = rd_ctx_new(NULL);
    ck_assert(rd_from_dlpack_versioned(ctx, passed, &array) == RD_OK && array.data == first);
    ck_assert_int_eq(ended, 0);
    expect("passed on", rd_adopt(ctx, &array), RD_F32, VALUES(0, 1, 2, 3, 4, 5));
    rd_ctx_free(ctx);
    ck_assert_int_eq(ended, 1);
    ctx = rd_ctx_new(NULL);
}
END_TEST

START_TEST(no_tensor)
{
    rd_ctx  *other = rd_ctx_new(NULL);
    rd_array fresh = { 0 };

    ck_assert(rd_eval(ctx, leaf(RD_F32, VALUES(1, 2)), &fresh) == RD_OK);
    ck_assert(!rd_to_dlpack(other, &fresh) && rd_error(other) == RD_ERR_ARGUMENT && fresh.owner);
    ck_assert(!rd_to_dlpack(NULL, &fresh) && !rd_to_dlpack_versioned(NULL, &fresh) && fresh.owner);
    ck_assert(!rd_to_dlpack(ctx, NULL));
    refused(rd_error(ctx), RD_ERR_ARGUMENT, "rd_to_dlpack: the array is NULL");
    ck_assert(!rd_to_dlpack(ctx, &(rd_array){ 0 }));
    refused(rd_error(ctx), RD_ERR_TYPE, "rd_to_dlpack: type");
    ck_assert(!rd_slice(leaf(RD_F32, VALUES(1)), "9")); /* an earlier error */
    ck_assert(!rd_to_dlpack(ctx, &fresh) && fresh.owner);
    rd_error_clear(ctx);
    rd_array_free(&fresh);
    rd_ctx_free(other);
}
END_TEST

/* ---- The context's hooks --------------------------------------------------------------------- */
typedef struct hooked {
    int64_t blocks;
} hooked;

static void *allocate(void *user, int64_t bytes)
{
    ((hooked *)user)->blocks++;
    return malloc((size_t)bytes);
}

static void release(void *user, void *p)
{
    ((hooked *)user)->blocks -= p != NULL;
    free(p);
}

/* What the tensor is made of comes from the hooks, and goes back there, and counts no more. */
START_TEST(tensors_and_memory_limit)
{
    enum { LIMIT = 1 << 20, LARGE = LIMIT / 2 };
    hooked       hooks = { 0 };
    rd_ctx      *c     = rd_ctx_new(&(rd_ctx_opts){
                 .memory_limit = LIMIT, .allocate = allocate, .release = release, .user = &hooks });
    rd_expr     *y     = rd_broadcast(rd_num(c, 1), RD_SHAPE(LARGE / sizeof(double)));
    unversioned *t[3];

    for (int k = 0; k < 3; k++) {
        rd_array fresh = { 0 };

        ck_assert_msg(rd_eval(c, y, &fresh) == RD_OK, "%s", rd_error_text(c));
        t[k] = rd_to_dlpack(c, &fresh);
    }
    rd_ctx_free(c);
    ck_assert_int_eq(hooks.blocks, 6);
    for (int k = 0; k < 3; k++) {
        ck_assert(((double *)t[k]->tensor.data)[7] == 1);
        t[k]->deleter(t[k]);
    }
    ck_assert_int_eq(hooks.blocks, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { tensor_types,
                                   tensor_layouts,
                                   tensor_refusals,
                                   tensor_devices,
                                   tensor_versions,
                                   tensor_ends_once,
                                   tensor_without_memory,
                                   adopted,
                                   owners,
                                   read_only,
                                   results_as_tensors,
                                   caller_memory_as_tensors,
                                   tensors_passed_on,
                                   no_tensor,
                                   tensors_and_memory_limit };

    return run_suite("semantics_dlpack", tests, COUNT(tests));
}
