/* attention_keys.c - a copy of a tile's keys whose columns are adjacent.
 *
 * Products of short sums take a fifth less time if their right operand lies so: a BLAS then copies
 * neither.  The copy serves all tiles of a block that have these columns. */
#include "eval/cache/attention_tiles.h"
#include "expr/affine.h"
#include "kernels/cpu/simd/simd.h"
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */
/* True if x is a view of an array in this process's memory, not on a device. */
static bool is_memory(const rd_expr *x)
{
    const rd_expr *const leaf = x->kind == RD_EXPR_VIEW ? x->in[0] : NULL;

    return leaf && leaf->kind == RD_EXPR_LEAF && leaf->as.leaf->data && !leaf->device;
}

/* The distance in memory, in elements, between neighbours along axis k of x; 0: x is no view of an
 * array in this process's memory. Several axes of the array may move with k, as in a diagonal. A
 * view's numbers are the offsets, one for each axis of its operand, then a matrix of
 * coefficients with a row for each of these axes and a column for each axis of the view. */
int64_t rd_leaf_step(const rd_expr *x, int k)
{
    int64_t step = 0;

    if (!is_memory(x))
        return 0;
    for (int a = 0; a < x->in[0]->rank; a++)
        step += x->as.view->number[x->in[0]->rank + a * x->rank + k] * x->in[0]->as.leaf->stride[a];
    return step;
}

/* The address of element at[0..rank) of x; NULL: x is no view of an array in this process's
 * memory. The view's offsets, one for each axis of the array, come first; then each index adds
 * its step. */
const void *rd_leaf_element(const rd_expr *x, const int64_t *at)
{
    int64_t place = 0; /* elements from the array's base */

    if (!is_memory(x))
        return NULL;
    for (int a = 0; a < x->in[0]->rank; a++)
        /* the view's offset along axis a */
        place += x->as.view->number[a] * x->in[0]->as.leaf->stride[a];
    for (int k = 0; k < x->rank; k++)
        place += at[k] * rd_leaf_step(x, k);
    return (const char *)x->in[0]->as.leaf->data + place * rd_dtype_size(x->type);
}

/* Copies n rows of m elements each to dense rows. row, step: distances in elements between rows of
 * the source, and between elements of one. With row == 1 this is a transpose, for which there is a
 * kernel. transpose[] has a kernel for each size of elements. */
static void copy_rows(float *to, int64_t n, int64_t m, const float *from, int64_t row, int64_t step)
{
    if (row == 1) {
        rd_simd_here()->transpose[sizeof *to](n, m, to, m, from, step, /*ahead=*/0);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++)
            to[i * m + k] = from[i * row + k * step];
}

/* ---- The copy -------------------------------------------------------------------------------- */
/* True if the copy holds this box of x already. */
static bool is_made(const rd_keys_copy *c, const rd_expr *x, const rd_tile_box *box)
{
    const size_t bytes = (size_t)x->rank * sizeof *box->first;

    return c->made == x && memcmp(c->box.first, box->first, bytes) == 0 &&
           memcmp(c->box.end, box->end, bytes) == 0;
}

/* Makes room for n keys in the copy's memory, whose content is lost if it grows. False: no
 * memory. c->room is how many fit; c->made NULL: the copy holds nothing. */
static bool make_room(rd_attention_worker *w, int64_t n)
{
    rd_keys_copy *const c = &w->keys;

    if (n <= c->room)
        return true;
    rd_free(w->ctx, c->data);
    c->made = NULL;
    c->data = rd_alloc_raw(w->ctx, n * (int64_t)sizeof *c->data);
    c->room = c->data ? n : 0;
    return c->data != NULL;
}

/* The box with one index of each axis other than column and step. Along those, index 0 stands for
 * all if keys repeat (are broadcast); else the box has one index there anyway. c->of has the
 * column and step axes of keys, and `varies` is the set of axes along which they differ. */
static rd_tile_box without_repeats(const rd_keys_copy *c, const rd_expr *x, const rd_tile_box *box)
{
    rd_tile_box one = *box;

    for (int a = 0; a < x->rank; a++)
        if (a != c->of.column && a != c->of.step) {
            one.first[a] = c->of.varies >> a & 1 ? box->first[a] : 0;
            one.end[a]   = one.first[a] + 1;
        }
    return one;
}

/* The copy as an array of the box's shape, with extent 1 along all axes but column and step. The
 * column axis is contiguous; rows of all columns follow one another along the step axis. Other
 * axes have stride 0. */
static rd_array layout_of(const rd_keys_copy *c, const rd_expr *x, const rd_tile_box *box)
{
    rd_array layout = { .type = RD_F32, .data = c->data };

    layout.shape.n = layout.strides.n = x->rank;
    for (int a = 0; a < x->rank; a++) {
        layout.shape.at[a] = a == c->of.column || a == c->of.step ? box->end[a] - box->first[a] : 1;
        layout.strides.at[a] = 0;
    }
    layout.strides.at[c->of.column] = 1;
    layout.strides.at[c->of.step]   = layout.shape.at[c->of.column];
    return layout;
}

/* Evaluates the box `one` of keys that are computed, not in memory, into `out`. False: a failure
 * is recorded. Kind, rows and columns only say which evaluations are alike; keys have no rows,
 * hence 0. */
static bool evaluate_keys(rd_attention_worker *w, rd_expr *x, const rd_tile_box *one, rd_array *out)
{
    rd_expr *y = rd_box_part(x, one->first, one->end, /*swap=*/NULL);

    return y && rd_tile_evaluate(w, RD_KEYS_KIND, /*rows=*/0, out->shape.at[w->keys.of.column],
                                 /*n=*/1, &y, out) == RD_OK;
}

/* Makes the copy that of this box of keys x, unless it holds that box already. Keys in memory are
 * copied, others are evaluated into it. False: no memory, or a failure that is recorded. c->made
 * and c->box say what the copy holds; made is NULL while that is nothing. */
static bool make_copy(rd_attention_worker *w, rd_expr *x, const rd_tile_box *box)
{
    rd_keys_copy *const c   = &w->keys;
    const rd_tile_box   one = without_repeats(c, x, box);
    rd_array            out = layout_of(c, x, box);
    const int64_t       n = out.shape.at[c->of.step], m = out.shape.at[c->of.column];
    const float *const  from = rd_leaf_element(x, one.first);

    if (is_made(c, x, &one))
        return true;
    if (!make_room(w, n * m))
        return false;
    out.data = c->data;
    c->made  = NULL;
    if (from)
        copy_rows(c->data, n, m, from, rd_leaf_step(x, c->of.step), rd_leaf_step(x, c->of.column));
    else if (!evaluate_keys(w, x, &one, &out))
        return false;
    c->made = x;
    c->box  = one;
    return true;
}

/* Makes elements first[a] <= i[a] < end[a] of the keys x as a leaf over the copy, broadcast to the
 * box. This is the callback `make` of rd_box_swap; user: the worker. NULL after a failure.
 * w->keys is the copy, which make_copy() fills with this box of x, and layout_of() describes it
 * as an array. */
rd_expr *rd_keys_part(void *user, rd_expr *x, const int64_t *first, const int64_t *end)
{
    rd_attention_worker *const w = user;
    rd_tile_box                box;
    rd_array                   layout;
    int64_t                    extent[RD_MAX_RANK];

    memcpy(box.first, first, (size_t)x->rank * sizeof *first);
    memcpy(box.end, end, (size_t)x->rank * sizeof *end);
    if (!make_copy(w, x, &box))
        return NULL;
    for (int a = 0; a < x->rank; a++)
        extent[a] = end[a] - first[a];
    layout = layout_of(&w->keys, x, &box);
    return rd_broadcast_to(rd_leaf_of(w->ctx, &layout, "rd_eval"), x->rank, extent, "rd_eval");
}
