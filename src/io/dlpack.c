/* dlpack.c - exchange of arrays with other libraries by DLPack, without a copy.
 *
 * Import: rd_from_dlpack() describes a tensor as an rd_array; the array's owner calls the
 * tensor's deleter.  Export: rd_to_dlpack() moves the owner of an array into a tensor, which its
 * deleter frees. */
#include "io/dlpack.h"
#include "expr/array.h"
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */
/* The element types of DLPack. */
static const struct element {
    rd_dtype type;
    uint8_t  code, bits;
} elements[] = {
#define RD_DTYPE(type, name, c, kind, class, long_, code, dlpack, ...) \
    { RD_##type, RD_DL_##dlpack, 8 * sizeof(c) },
#include "core/dtypes.def"
    { RD_C64, RD_DL_COMPLEX, 64 },
    { RD_C128, RD_DL_COMPLEX, 128 },
};
enum { N_ELEMENTS = sizeof elements / sizeof *elements };

/* The name of DLPack's code for a kind of elements, for messages. */
static const char *code_name(uint8_t code)
{
    static const char *const name[] = { "int",    "uint",    "float", "opaque handle",
                                        "bfloat", "complex", "bool" };

    return code < sizeof name / sizeof *name ? name[code] : "unknown";
}

/* Finds the element type of a tensor; false after recording that rdim has no such type. */
static bool find_type(rd_ctx *ctx, const char *call, const rd_dl_tensor *t, rd_dtype *type)
{
    for (int k = 0; k < N_ELEMENTS && t->lanes == 1; k++)
        if (elements[k].code == t->code && elements[k].bits == t->bits) {
            *type = elements[k].type;
            return true;
        }
    rd_fail(ctx, RD_ERR_TYPE,
            "%s: elements of code %d (%s), %d bits, %d lanes are not of this release", call,
            (int)t->code, code_name(t->code), (int)t->bits, (int)t->lanes);
    return false;
}

/* The row of an element type, which must have one. */
static const struct element *find_element(rd_dtype type)
{
    int k = 0;

    while (elements[k].type != type)
        k++;
    return &elements[k];
}

/* ---- Devices --------------------------------------------------------------------------------- */
/* The name of DLPack's number of a kind of device, for messages. */
static const char *device_name(int32_t device)
{
    static const char *const name[] = {
        [4] = "OpenCL",  [7] = "Vulkan",     [8] = "Metal",         [9] = "VPI",
        [10] = "ROCm",   [11] = "ROCm host", [12] = "an extension", [14] = "oneAPI",
        [15] = "WebGPU", [16] = "Hexagon",   [17] = "MAIA",         [18] = "Trainium"
    };
    const int32_t n = sizeof name / sizeof *name;

    return device >= 0 && device < n && name[device] ? name[device] : "unknown";
}

/* Finds the device of a tensor: 0 for the CPU, whose memory pinned and managed memory counts as,
 * since the CPU can read it; else that of a GPU. False after recording that it is another one. */
static bool find_device(rd_ctx *ctx, const char *call, const rd_dl_tensor *t, int32_t *device)
{
    switch (t->device) {
    case RD_DL_CPU:
    case RD_DL_CUDA_HOST:
    case RD_DL_CUDA_MANAGED: *device = 0; return true;
    case RD_DL_CUDA:
        if (t->device_number >= 0 && t->device_number < RD_MOST_DEVICES) {
            *device = RD_CUDA(t->device_number);
            return true;
        }
        rd_fail(ctx, RD_ERR_DEVICE, "%s: the tensor is on GPU %d, possible are 0 to %d", call,
                (int)t->device_number, RD_MOST_DEVICES - 1);
        return false;
    default:
        rd_fail(ctx, RD_ERR_DEVICE,
                "%s: the tensor is on a device of type %d (%s), neither the CPU nor CUDA", call,
                (int)t->device, device_name(t->device));
        return false;
    }
}

/* ---- Import ---------------------------------------------------------------------------------- */
/* Copies shape and strides of a tensor into the array and checks them.  Without strides a tensor is
 * dense in C order.  False after recording the failure. */
static bool find_layout(rd_ctx *ctx, const char *call, const rd_dl_tensor *t, rd_array *array)
{
    int64_t checked[RD_MAX_RANK];

    array->shape.n = t->rank;
    if (t->rank > 0 && t->rank <= RD_MAX_RANK) {
        const size_t bytes = (size_t)t->rank * sizeof *t->shape;

        if (!t->shape) {
            rd_fail(ctx, RD_ERR_ARGUMENT, "%s: a tensor of rank %d without a shape", call,
                    (int)t->rank);
            return false;
        }
        memcpy(array->shape.at, t->shape, bytes);
        if (t->strides) {
            array->strides.n = t->rank;
            memcpy(array->strides.at, t->strides, bytes);
        }
    }
    return rd_array_layout(ctx, array, call, checked);
}

/* Fills in the array that describes a tensor: type, device, address, layout. False after
 * recording that one of them cannot be. */
static bool describe_tensor(rd_ctx *ctx, const char *call, const rd_dl_tensor *t, rd_array *array)
{
    if (!find_type(ctx, call, t, &array->type) || !find_device(ctx, call, t, &array->device))
        return false;
    if (t->data)
        array->in = (const char *)t->data + t->byte_offset;
    return find_layout(ctx, call, t, array) && rd_array_readable(ctx, array, call);
}

/* Imports a tensor, for which release(managed) must be called once: by the owner of the array,
 * or at once after a failure. `tensor` NULL: there is none, or it cannot be read, which has been
 * recorded. */
static rd_status import_tensor(rd_ctx *ctx, const char *call, const rd_dl_tensor *tensor,
                               uint64_t flags, void (*release)(void *managed), void *managed,
                               rd_array *out)
{
    rd_array array = { .flags = flags & RD_DL_READ_ONLY ? RD_READ_ONLY : 0 };

    if (out)
        *out = (rd_array){ 0 };
    else if (ctx)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: no array to describe the tensor", call);
    if (out && rd_error(ctx) == RD_OK && tensor && describe_tensor(ctx, call, tensor, &array)) {
        if (rd_array_own(ctx, &array, release, managed) == RD_OK)
            *out = array;
    } else
        release(managed);
    return rd_error(ctx);
}

/* Ends an imported tensor by its own deleter; NULL is allowed. */
static void delete_unversioned(void *managed)
{
    struct DLManagedTensor *tensor = managed;

    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}

/* Ends an imported tensor of DLPack 1.x by its own deleter; NULL is allowed. */
static void delete_versioned(void *managed)
{
    struct DLManagedTensorVersioned *tensor = managed;

    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}

/* The public call: imports a tensor of DLPack before 1.0 as an array without a copy. Returns the
 * context's status. */
rd_status rd_from_dlpack(rd_ctx *ctx, struct DLManagedTensor *tensor, rd_array *out)
{
    static const char call[] = "rd_from_dlpack";

    if (ctx && !tensor)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the tensor is NULL", call);
    return import_tensor(ctx, call, tensor ? &tensor->tensor : NULL, 0, delete_unversioned, tensor,
                         out);
}

/* True if there is a tensor of DLPack 1.x whose fields can be read; else records what is wrong. */
static bool check_version(rd_ctx *ctx, const char *call,
                          const struct DLManagedTensorVersioned *tensor)
{
    if (!ctx)
        return false;
    if (!tensor)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the tensor is NULL", call);
    else if (tensor->major != 1)
        rd_fail(ctx, RD_ERR_LIMIT, "%s: the tensor is of DLPack %u.%u, this release reads 1.x",
                call, (unsigned)tensor->major, (unsigned)tensor->minor);
    else
        return true;
    return false;
}

/* The public call: imports a tensor of DLPack 1.x, which may be read-only, as an array without a
 * copy. Returns the context's status. */
rd_status rd_from_dlpack_versioned(rd_ctx *ctx, struct DLManagedTensorVersioned *tensor,
                                   rd_array *out)
{
    static const char call[] = "rd_from_dlpack_versioned";
    const bool        read   = check_version(ctx, call, tensor);

    return import_tensor(ctx, call, read ? &tensor->tensor : NULL, read ? tensor->flags : 0,
                         delete_versioned, tensor, out);
}

/* ---- Export ---------------------------------------------------------------------------------- */
/* The owner of an exported tensor, which the tensor's deleter frees. */
typedef struct exported {
    union {
        struct DLManagedTensor          unversioned;
        struct DLManagedTensorVersioned versioned;
    } as;
    rd_dl_tensor    tensor;
    bool            read_only; /* only versioned tensors can say so */
    int64_t         shape[RD_MAX_RANK], strides[RD_MAX_RANK];
    rd_ctx_opts     hooks; /* the context's: it may end before the consumer is done */
    rd_array_block *owner; /* NULL: the memory has another owner */
} exported;

/* Frees the array's memory and the tensor, when the consumer is done. The context it came from
 * may have ended, so it takes the context's memory functions that were copied (hooks). */
static void end_export(exported *s)
{
    const rd_ctx_opts hooks = s->hooks;

    if (s->owner && s->owner->drop)
        s->owner->drop(s->owner);
    if (s->owner)
        rd_free_detached(&hooks, s->owner);
    rd_free_detached(&hooks, s);
}

/* The deleter of an exported tensor, which its consumer calls. */
static void end_unversioned(struct DLManagedTensor *self)
{
    end_export(self->manager);
}

/* The deleter of an exported tensor of DLPack 1.x, which its consumer calls. */
static void end_versioned(struct DLManagedTensorVersioned *self)
{
    end_export(self->manager);
}

/* Gives axes of fewer than two elements the stride that they have in a dense array: rdim stores
 * 0, but consumers that look for dense arrays expect it. Others keep theirs. */
static void fill_short_strides(const rd_shape *shape, int64_t *stride)
{
    for (int a = shape->n - 1; a >= 0; a--)
        if (shape->at[a] < 2)
            stride[a] = a == shape->n - 1
                            ? 1
                            : (int64_t)((uint64_t)stride[a + 1] * (uint64_t)shape->at[a + 1]);
}

/* Fills in the tensor of an array; its shape and strides lie in `s`. */
static rd_dl_tensor describe_array(exported *s, const rd_array *array)
{
    const struct element *element = find_element(array->type);
    const bool            on_cpu  = array->device == 0;

    memcpy(s->shape, array->shape.at, sizeof s->shape);
    return (rd_dl_tensor){ .data          = array->data,
                           .device        = on_cpu ? RD_DL_CPU : RD_DL_CUDA,
                           .device_number = on_cpu ? 0 : array->device - RD_CUDA(0),
                           .rank          = array->shape.n,
                           .code          = element->code,
                           .bits          = element->bits,
                           .lanes         = 1,
                           .shape         = s->shape,
                           .strides       = s->strides };
}

/* True if the array can be exported, after waiting for pending evaluations, which may write to
 * it; else the failure is recorded. stride gets its strides in elements. Only versioned tensors
 * can say that memory is read-only. */
static bool can_export(rd_ctx *ctx, const char *call, const rd_array *array, bool versioned,
                       int64_t *stride)
{
    if (rd_error(ctx) != RD_OK || !rd_array_is_of(ctx, array, call) ||
        !rd_array_layout(ctx, array, call, stride) || !rd_array_readable(ctx, array, call))
        return false;
    if (array->flags & RD_READ_ONLY && !versioned)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: the array is read-only, which only rd_to_dlpack_versioned() can say", call);
    return rd_wait(ctx) == RD_OK;
}

/* Makes the exported tensor and moves the array's owner into it, so that the consumer's deleter
 * frees the memory. Both are detached from the context, which may end before. NULL after
 * recording a failure. */
static exported *export_array(rd_ctx *ctx, const char *call, rd_array *array, bool versioned)
{
    int64_t   stride[RD_MAX_RANK];
    exported *s;

    if (!can_export(ctx, call, array, versioned, stride))
        return NULL;
    s = rd_alloc(ctx, sizeof *s);
    if (!s)
        return NULL;
    fill_short_strides(&array->shape, stride);
    memcpy(s->strides, stride, (size_t)array->shape.n * sizeof *stride);
    s->tensor    = describe_array(s, array);
    s->read_only = array->flags & RD_READ_ONLY;
    s->hooks     = rd_detach(ctx, s);
    s->owner     = array->owner;
    if (s->owner) {
        (void)rd_detach(ctx, s->owner);
        s->owner->ctx = NULL;
    }
    array->owner = NULL;
    return s;
}

/* The public call: exports an array as a tensor of DLPack before 1.0; NULL after recording a
 * failure. */
struct DLManagedTensor *rd_to_dlpack(rd_ctx *ctx, rd_array *array)
{
    exported *s = export_array(ctx, "rd_to_dlpack", array, /*versioned=*/false);

    if (!s)
        return NULL;
    s->as.unversioned = (struct DLManagedTensor){ s->tensor, s, end_unversioned };
    return &s->as.unversioned;
}

/* The public call: exports an array as a tensor of DLPack 1.0; NULL after recording a failure. */
struct DLManagedTensorVersioned *rd_to_dlpack_versioned(rd_ctx *ctx, rd_array *array)
{
    exported *s = export_array(ctx, "rd_to_dlpack_versioned", array, /*versioned=*/true);

    if (!s)
        return NULL;
    s->as.versioned = (struct DLManagedTensorVersioned){
        .major   = 1,
        .manager = s,
        .deleter = end_versioned,
        .flags   = s->read_only ? RD_DL_READ_ONLY : 0,
        .tensor  = s->tensor,
    };
    return &s->as.versioned;
}
