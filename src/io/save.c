/* save.c - evaluates an expression and writes the result as a .npy file. */
#include "io/save.h"
#include "core/bytes.h"
#include "eval/request.h"
#include "expr/array.h"
#include "io/aside.h"
#include "io/npy.h"
#include "io/walk.h"

enum { CHUNK = 1 << 15 }; /* bytes converted at a time; they stay in L1 */

/* Gathers elements in the file's order in chunks that stay in a cache, swaps their bytes if
 * asked, and writes them. False after recording the failure. */
static bool write_converted(const rd_aside *file, rd_walk *walk, int64_t total, bool swap,
                            rd_dtype type)
{
    char          chunk[CHUNK];
    const int64_t most = CHUNK / walk->size;

    for (int64_t done = 0, n; done < total; done += n) {
        n = total - done < most ? total - done : most;
        rd_walk_gather(walk, chunk, n);
        if (swap)
            rd_swap_elements(chunk, n, type);
        if (!rd_aside_write(file, chunk, n * walk->size))
            return false;
    }
    return true;
}

/* Writes header and elements: the memory at once if it already is what the file holds, else chunk
 * by chunk.  False after recording the failure. */
static bool write_array(const rd_aside *file, const rd_array *array, const int64_t *stride,
                        int order, bool big_endian)
{
    const int64_t points = rd_points(array->shape.n, array->shape.at);
    const int     size   = rd_dtype_size(array->type);
    const bool    swap   = size > 1 && big_endian != (bool)RD_HOST_IS_BIG;
    char          header[RD_NPY_HEADER];
    rd_walk       walk;

    if (!rd_aside_write(file, header,
                        rd_npy_format(array->type, &array->shape, order, big_endian, header)))
        return false;
    if (points == 0)
        return true;
    rd_walk_start(&walk, array->data, size, array->shape.n, array->shape.at, stride, order);
    if (!swap && rd_walk_is_dense(&walk))
        return rd_aside_write(file, array->data, points * size);
    return write_converted(file, &walk, points, swap, array->type);
}

/* Writes an array as a .npy file to a temporary file beside `path`, which then takes its place.
 * order 1: the first axis is contiguous in the file.  Returns the context's status. */
rd_status rd_npy_write(rd_ctx *ctx, const char *path, const rd_array *array, int order,
                       bool big_endian)
{
    rd_aside file;
    int64_t  stride[RD_MAX_RANK];

    if (!rd_array_layout(ctx, array, "rd_save", stride))
        return rd_error(ctx);
    const bool open = rd_aside_open(&file, ctx, "rd_save", path);
    (void)rd_aside_close(&file, open && write_array(&file, array, stride, order, big_endian));
    return rd_error(ctx);
}

/* Evaluates y into memory in the order of the file's elements, so that writing is one pass.
 * Order 0, last axis fastest, is that of rd_eval() itself. Returns the status; *array owns the
 * memory. */
static rd_status evaluate(rd_ctx *ctx, rd_expr *y, int order, rd_array *array)
{
    if (!y || order == 0)
        return rd_eval_for(ctx, "rd_save", y, array);

    rd_array      result = { .type = rd_type_of(y), .order = order, .shape = rd_shape_of(y) };
    const int64_t points = rd_points(result.shape.n, result.shape.at);
    const int64_t bytes  = rd_bytes_times(points, rd_dtype_size(result.type));
    result.data          = bytes < INT64_MAX ? rd_array_memory(ctx, bytes, &result.owner) : NULL;
    if (!result.data) {
        rd_fail_memory(ctx, bytes, "rd_save: no memory for %lld elements", (long long)points);
        return rd_error(ctx);
    }
    const rd_status status = rd_eval_for(ctx, "rd_save", y, &result);
    if (status == RD_OK)
        *array = result;
    else
        rd_array_free(&result);
    return status;
}

/* The public call: checks options and type, evaluates, and writes a .npy file.  The type bf16 is
 * refused, as the format lacks it.  What is written is a temporary array in the file's order. */
rd_status rd_save_npy(rd_ctx *ctx, rd_expr *y, const rd_save_opts *opts)
{
    rd_array array = { 0 };

    if (rd_error(ctx) != RD_OK)
        return rd_error(ctx);
    if (!opts || !opts->path || !*opts->path || opts->order < 0 || opts->order > 1) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_save: %s",
                opts && opts->path && *opts->path ? "order is neither 0 nor 1" : "no path");
        return rd_error(ctx);
    }
    if (y && !rd_npy_has(rd_type_of(y))) {
        rd_fail(ctx, RD_ERR_TYPE,
                "rd_save: %s: .npy files have no type %s; rd_cast() it first, f32 loses nothing",
                opts->path, rd_dtype_name(rd_type_of(y)));
        return rd_error(ctx);
    }
    if (evaluate(ctx, y, opts->order, &array) != RD_OK)
        return rd_error(ctx);
    rd_npy_write(ctx, opts->path, &array, opts->order, opts->big_endian);
    rd_array_free(&array);
    return rd_error(ctx);
}
