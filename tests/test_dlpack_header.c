/* test_dlpack_header.c - our declarations of DLPack's structures and numbers beside its header's,
 * where that is here: what is filled in by one is read by the other. */
#include <rdim.h>

#include "suite.h"
#include <stdio.h>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>

enum { ROWS = 2, COLUMNS = 3 };

static float   values[1 + ROWS * COLUMNS] = { -1, 0, 1, 2, 3, 4, 5 };
static int64_t shape[] = { COLUMNS, ROWS }, strides[] = { 1, COLUMNS };
static int     ended;
static rd_ctx *ctx;

static void begin(void)
{
    ctx   = rd_ctx_new(NULL);
    ended = 0;
}

static void done(void)
{
    rd_ctx_free(ctx);
}

static DLTensor theirs(void)
{
    DLTensor t = { .data = values, .ndim = 2, .shape = shape, .strides = strides };

    t.device.device_type = kDLCPU;
    t.dtype              = (DLDataType){ kDLFloat, 32, 1 };
    t.byte_offset        = sizeof *values;
    return t;
}

static void is_ours(const rd_array *a)
{
    ck_assert_msg(a->data == values + 1 && a->type == RD_F32 && a->shape.n == 2, "%s",
                  rd_error_text(ctx));
    ck_assert(a->shape.at[0] == COLUMNS && a->shape.at[1] == ROWS && a->strides.n == 2);
    ck_assert(a->strides.at[0] == 1 && a->strides.at[1] == COLUMNS && a->device == 0);
}

static void is_theirs(const DLTensor *t)
{
    ck_assert(t->data == values + 1 && t->device.device_type == kDLCUDA &&
              t->device.device_id == 3);
    ck_assert(t->ndim == 2 && t->dtype.code == kDLBfloat && t->dtype.bits == 16);
    ck_assert(t->dtype.lanes == 1 && t->byte_offset == 0);
    ck_assert(t->shape[0] == COLUMNS && t->shape[1] == ROWS);
    ck_assert(t->strides[0] == 1 && t->strides[1] == COLUMNS);
}

static rd_array on_a_gpu(void)
{
    return (rd_array){ .data    = values + 1,
                       .type    = RD_BF16,
                       .shape   = RD_SHAPE(COLUMNS, ROWS),
                       .strides = RD_STRIDES(1, COLUMNS),
                       .device  = RD_CUDA(3) };
}

static void end(DLManagedTensor *self)
{
    ended += self->manager_ctx == values;
}

START_TEST(unversioned)
{
    DLManagedTensor t = { .dl_tensor = theirs(), .manager_ctx = values, .deleter = end };
    rd_array        a;

    ck_assert(rd_from_dlpack(ctx, &t, &a) == RD_OK);
    is_ours(&a);
    rd_array_free(&a);
    ck_assert_int_eq(ended, 1);

    a                    = on_a_gpu();
    DLManagedTensor *out = rd_to_dlpack(ctx, &a);
    ck_assert(out);
    is_theirs(&out->dl_tensor);
    out->deleter(out);
}
END_TEST

START_TEST(numbers)
{
    static const struct {
        DLDeviceType device;
        int          want;
    } rows[] = {
        { kDLCPU, 0 }, { kDLCUDA, RD_CUDA(0) }, { kDLCUDAHost, 0 }, { kDLCUDAManaged, 0 }
    };
    DLManagedTensor t = { .dl_tensor = theirs() };
    rd_array        a;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        t.dl_tensor.device.device_type = rows[k].device;
        ck_assert(rd_from_dlpack(ctx, &t, &a) == RD_OK && a.device == rows[k].want);
        rd_array_free(&a);
    }
    t.dl_tensor.dtype.code = kDLComplex; /* of 32 bits */
    ck_assert(rd_from_dlpack(ctx, &t, &a) == RD_ERR_TYPE);
    ck_assert_msg(strstr(rd_error_text(ctx), "(complex)"), "%s", rd_error_text(ctx));
}
END_TEST

/* Debian 12's header is older. */
#ifdef DLPACK_MAJOR_VERSION
static void end_versioned(struct DLManagedTensorVersioned *self)
{
    ended += self->manager_ctx == values;
}

START_TEST(versioned)
{
    struct DLManagedTensorVersioned t = { .version     = { 1, 0 },
                                          .manager_ctx = values,
                                          .deleter     = end_versioned,
                                          .flags       = DLPACK_FLAG_BITMASK_READ_ONLY,
                                          .dl_tensor   = theirs() };
    rd_array                        a;

    ck_assert(rd_from_dlpack_versioned(ctx, &t, &a) == RD_OK);
    is_ours(&a);
    ck_assert_int_eq(a.flags, RD_READ_ONLY);
    rd_array_free(&a);
    ck_assert_int_eq(ended, 1);

    a                                    = on_a_gpu();
    a.flags                              = RD_READ_ONLY;
    struct DLManagedTensorVersioned *out = rd_to_dlpack_versioned(ctx, &a);
    ck_assert(out && out->version.major == 1 && out->version.minor == 0);
    ck_assert(out->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
    is_theirs(&out->dl_tensor);
    out->deleter(out);
}
END_TEST
#endif

int main(void)
{
    Suite   *suite  = suite_create("dlpack_header");
    TCase   *tc     = tcase_create("structures");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, begin, done);
    tcase_add_test(tc, unversioned);
    tcase_add_test(tc, numbers);
#ifdef DLPACK_MAJOR_VERSION
    tcase_add_test(tc, versioned);
#endif
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);

    srunner_free(runner);
    return failed ? 1 : 0;
}
#else
int main(void)
{
    puts("no dlpack/dlpack.h here (Debian: libdlpack-dev)");
    return 77;
}
#endif
