/* dlpack.c - tensors of DLPack whose every field comes from the input, with elements in a small buffer.
 *
 * What the library can know to be wrong it must refuse: types, devices, ranks, extents, sizes, no shape, no data,
 * an address that is not aligned, a version.  What it takes has the tensor's layout.  Where all elements are in
 * the buffer they are read, written through, and given away as a tensor again.  Each deleter is called once. */
#include "core/dtype.h"
#include "fuzz/bytes.h"
#include "fuzz/driver.h"
#include "io/dlpack.h"
#include "oracle.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, MOST_RANK = 40, MOST_POINTS = 4096 };

static _Alignas(64) char buffer[BYTES];
static int deleted;

/* ---- Tensors ------------------------------------------------------------------------------------------- */
typedef struct given {
    bool                            versioned;
    struct DLManagedTensor          old;
    struct DLManagedTensorVersioned now;
    rd_dl_tensor                    tensor;
    int64_t                         shape[MOST_RANK], strides[MOST_RANK];
} given;

static void end_old(struct DLManagedTensor *self)
{
    deleted += self->manager == &deleted;
}

static void end_now(struct DLManagedTensorVersioned *self)
{
    deleted += self->manager == &deleted;
}

/* Kinds, bits and lanes: mostly such as there are. */
static void read_type(fuzz_bytes *in, rd_dl_tensor *t)
{
    static const uint8_t types[][2] = {
        { RD_DL_FLOAT, 32 }, { RD_DL_FLOAT, 64 },   { RD_DL_INT, 8 },     { RD_DL_INT, 16 },
        { RD_DL_INT, 32 },   { RD_DL_INT, 64 },     { RD_DL_UINT, 8 },    { RD_DL_UINT, 64 },
        { RD_DL_BOOL, 8 },   { RD_DL_FLOAT, 16 },   { RD_DL_BFLOAT, 16 }, { RD_DL_COMPLEX, 64 },
        { RD_DL_UINT, 16 },  { RD_DL_COMPLEX, 128 }
    };
    const uint8_t kind = fuzz_byte(in);

    t->lanes = 1;
    if (kind < 240) {
        t->code = types[kind % 14][0];
        t->bits = types[kind % 14][1];
        return;
    }
    t->code  = fuzz_byte(in);
    t->bits  = fuzz_byte(in);
    t->lanes = fuzz_byte(in) % 3;
}

/* Numbers of all sizes, most of them small. */
static void read_numbers(fuzz_bytes *in, int n, int64_t *to)
{
    for (int k = 0; k < n; k++)
        to[k] = fuzz_number(in);
}

/* What is not in memory at all has an address that nothing may follow. */
static void read_tensor(fuzz_bytes *in, given *g)
{
    static const int32_t devices[] = { RD_DL_CPU, RD_DL_CPU, RD_DL_CPU,          RD_DL_CUDA_HOST,
                                       RD_DL_CPU, RD_DL_CPU, RD_DL_CUDA_MANAGED, RD_DL_CUDA };
    rd_dl_tensor        *t         = &g->tensor;
    const uint8_t        kind = fuzz_byte(in), device = fuzz_byte(in), rank = fuzz_byte(in);

    g->versioned = kind & 1;
    read_type(in, t);
    t->device        = device < 240 ? devices[device % 8] : (int32_t)fuzz_number(in);
    t->device_number = device % 8 == 7 || device >= 240 ? (int32_t)fuzz_number(in) : 0;
    t->rank          = rank < 200 ? rank % 5 : (int32_t)fuzz_number(in);
    const int n      = t->rank < 0 ? 0 : t->rank < MOST_RANK ? t->rank : MOST_RANK;
    read_numbers(in, n, g->shape);
    t->shape = kind & 2 ? NULL : g->shape;
    if (kind & 4) {
        read_numbers(in, n, g->strides);
        t->strides = g->strides;
    }
    t->data        = kind & 8 ? NULL : buffer + (kind & 16 ? fuzz_byte(in) % BYTES : 0);
    t->byte_offset = kind & 32 ? (uint64_t)fuzz_number(in) % BYTES : 0;
    g->now.major   = kind & 64 ? (uint32_t)fuzz_number(in) : 1;
    g->now.flags   = kind & 128 ? (uint64_t)fuzz_number(in) : 0;
}

/* ---- What is right --------------------------------------------------------------------------------------- */
static rd_dtype type_of(const rd_dl_tensor *t)
{
    static const rd_dtype of_int[]  = { RD_I8, RD_I16, RD_I32, RD_I64 };
    static const rd_dtype of_uint[] = { RD_U8, RD_U16, RD_U32, RD_U64 };
    const int k = t->bits == 8 ? 0 : t->bits == 16 ? 1 : t->bits == 32 ? 2 : t->bits == 64 ? 3 : -1;

    if (t->lanes != 1)
        return RD_AUTO;
    switch (t->code) {
    case RD_DL_INT: return k < 0 ? RD_AUTO : of_int[k];
    case RD_DL_UINT: return k < 0 ? RD_AUTO : of_uint[k];
    case RD_DL_FLOAT: return k == 1 ? RD_F16 : k == 2 ? RD_F32 : k == 3 ? RD_F64 : RD_AUTO;
    case RD_DL_BFLOAT: return k == 1 ? RD_BF16 : RD_AUTO;
    case RD_DL_FLOAT8_E4M3FN: return k == 0 ? RD_F8 : RD_AUTO;
    case RD_DL_COMPLEX: return k == 3 ? RD_C64 : t->bits == 128 ? RD_C128 : RD_AUTO;
    case RD_DL_BOOL: return k == 0 ? RD_BOOL : RD_AUTO;
    default: return RD_AUTO;
    }
}

/* Elements; -1: an extent is negative, or the size overflows, which the extents 0 do not prevent.  `most`: the
 * same without these. */
static int64_t points_of(const rd_dl_tensor *t, __int128 *most)
{
    bool none = false;

    *most = 1;
    for (int a = 0; a < t->rank; a++)
        if (t->shape[a] < 0)
            return -1;
    for (int a = 0; a < t->rank && *most <= INT64_MAX; a++)
        *most *= t->shape[a] ? t->shape[a] : 1;
    for (int a = 0; a < t->rank; a++)
        none |= t->shape[a] == 0;
    return *most > INT64_MAX ? -1 : none ? 0 : (int64_t)*most;
}

static int64_t points(const rd_dl_tensor *t)
{
    __int128 most;

    return points_of(t, &most);
}

/* Is the size near the limit, which bytes and the parts of complex numbers reach first? */
static bool is_huge(const rd_dl_tensor *t)
{
    __int128 most;

    return points_of(t, &most) < 0 || most > (__int128)1 << 56;
}

static __int128 stride_of(const rd_dl_tensor *t, int axis)
{
    __int128 stride = 1;

    if (t->strides)
        return t->strides[axis];
    for (int a = axis + 1; a < t->rank; a++)
        stride *= t->shape[a] ? t->shape[a] : 1;
    return stride;
}

/* Are all elements in the buffer? */
static bool inside(const rd_dl_tensor *t, rd_dtype type)
{
    __int128 low = (char *)t->data + t->byte_offset - buffer, high = low + rd_dtype_size(type);

    for (int a = 0; a < t->rank; a++) {
        const __int128 reach = (t->shape[a] - 1) * stride_of(t, a) * rd_dtype_size(type);

        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    return low >= 0 && high <= BYTES;
}

typedef enum verdict { REFUSED, TAKEN, EITHER } verdict; /* either: a size that is at the limit */

static bool known_device(const rd_dl_tensor *t)
{
    return t->device == RD_DL_CPU || t->device == RD_DL_CUDA_HOST ||
           t->device == RD_DL_CUDA_MANAGED ||
           (t->device == RD_DL_CUDA && t->device_number >= 0 && t->device_number < RD_MOST_DEVICES);
}

static verdict judge(const given *g)
{
    const rd_dl_tensor *t    = &g->tensor;
    const rd_dtype      type = type_of(t);
    __int128            most;

    if ((g->versioned && g->now.major != 1) || !type || !known_device(t) || t->rank < 0 ||
        t->rank > RD_MAX_RANK || (t->rank > 0 && !t->shape))
        return REFUSED;
    const int64_t n = points_of(t, &most);

    if (n < 0 || (n > 0 && !t->data))
        return REFUSED;
    if (n == 0)
        return is_huge(t) ? EITHER : TAKEN;
    if (((uintptr_t)t->data + t->byte_offset) % (uintptr_t)rd_dtype_align(type))
        return REFUSED;
    return inside(t, type) && !is_huge(t) ? TAKEN : EITHER;
}

/* ---- What was taken --------------------------------------------------------------------------------------- */
static void same_layout(const rd_dl_tensor *t, const rd_array *a)
{
    if (a->type != type_of(t) || a->shape.n != t->rank)
        fuzz_wrong("the array has another type or rank than the tensor");
    for (int k = 0; k < t->rank; k++)
        if (a->shape.at[k] != t->shape[k])
            fuzz_wrong("the array has another shape than the tensor");
    if (points(t) && a->in != (char *)t->data + t->byte_offset)
        fuzz_wrong("the array has another address than the tensor");
}

static void same_elements(const rd_dl_tensor *t, const char *is, int64_t n)
{
    const rd_dtype type = type_of(t);
    const size_t   size = (size_t)rd_dtype_size(type);

    for (int64_t i = 0; i < n; i++, is += size) {
        int64_t rest = i, place = 0;

        for (int a = t->rank - 1; a >= 0; rest /= t->shape[a--])
            place += rest % t->shape[a] * (t->shape[a] < 2 ? 0 : (int64_t)stride_of(t, a));
        const char *want = (char *)t->data + t->byte_offset + place * (int64_t)size;
        if (memcmp(is, want, size) != 0 && rd_dtype_kind(type) == RD_KIND_INT)
            fuzz_wrong("element %" PRId64 " is not the tensor's", i);
        if (type == RD_F64 && memcmp(is, want, size) != 0 &&
            oracle_load(want, type).v == oracle_load(want, type).v)
            fuzz_wrong("element %" PRId64 " is not the tensor's", i);
    }
}

/* As a tensor once more, whose consumer ends it. */
static void give_away(rd_ctx *ctx, rd_array *a, const rd_dl_tensor *t)
{
    const bool                       read_only = a->flags & RD_READ_ONLY;
    struct DLManagedTensor          *old       = rd_to_dlpack(ctx, a);
    struct DLManagedTensorVersioned *now;

    if (!old != read_only)
        fuzz_wrong("an unversioned tensor of an array that is %s",
                   read_only ? "read-only" : "writable");
    if (!old)
        fuzz_refusal(ctx, "rd_to_dlpack");
    now = old ? NULL : rd_to_dlpack_versioned(ctx, a);
    if (!old && !now)
        fuzz_wrong("rd_to_dlpack_versioned: %s", rd_error_text(ctx));
    const rd_dl_tensor *u = old ? &old->tensor : &now->tensor;

    if (u->code != t->code || u->bits != t->bits || u->lanes != 1 || u->rank != t->rank)
        fuzz_wrong("the tensor given away has another type or rank");
    for (int k = 0; k < t->rank; k++)
        if (u->shape[k] != t->shape[k])
            fuzz_wrong("the tensor given away has another shape");
    if (deleted != 0)
        fuzz_wrong("the deleter was called before the tensor's end");
    if (old)
        old->deleter(old);
    else
        now->deleter(now);
}

static void use(rd_ctx *ctx, const given *g, rd_array *a, int how)
{
    const rd_dl_tensor *t = &g->tensor;
    const int64_t       n = points(t);

    same_layout(t, a);
    if (a->device == 0 && n <= MOST_POINTS && !is_huge(t) && (n == 0 || inside(t, a->type))) {
        rd_array out;

        fuzz_must_evaluate(ctx, rd_leaf(ctx, a), &out);
        if (n > 0)
            same_elements(t, out.data, n);
        rd_array_free(&out);
    }
    if (how == 0 && a->device == 0)
        give_away(ctx, a, t);
    else if (how == 1 && !is_huge(t) && !rd_adopt(ctx, a))
        fuzz_wrong("rd_adopt: %s", rd_error_text(ctx));
    rd_array_free(a);
}

static void try_tensor(rd_ctx *ctx, fuzz_bytes *in, given *g)
{
    rd_array  a;
    rd_status status;
    const int how = fuzz_below(in, 3);

    read_tensor(in, g);
    g->old         = (struct DLManagedTensor){ g->tensor, &deleted, end_old };
    g->now.manager = &deleted;
    g->now.deleter = end_now;
    g->now.tensor  = g->tensor;
    for (int k = 0; k < BYTES; k++) /* bools are 0 or 1 */
        buffer[k] = (char)(g->tensor.code == RD_DL_BOOL ? k * 5 % 7 < 3 : k * 37 + how);
    const verdict v = judge(g);

    status = g->versioned ? rd_from_dlpack_versioned(ctx, &g->now, &a)
                          : rd_from_dlpack(ctx, &g->old, &a);
    if ((status == RD_OK && v == REFUSED) || (status != RD_OK && v == TAKEN))
        fuzz_wrong("%s what is %s: %s", status ? "refused" : "took", status ? "right" : "wrong",
                   rd_error_text(ctx));
    if (status == RD_OK)
        use(ctx, g, &a, how);
    else
        fuzz_refusal(ctx, "rd_from_dlpack");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static given g;
    fuzz_bytes   in  = { bytes, bytes + n };
    rd_ctx      *ctx = fuzz_context();

    memset(&g, 0, sizeof g);
    deleted = 0;
    try_tensor(ctx, &in, &g);
    fuzz_context_end(ctx);
    if (deleted != 1)
        fuzz_wrong("the deleter was called %d times", deleted);
    return 0;
}
