/* random_sparse_arrays.c - what rd_eval_sparse() makes, read index array by index array. */
#include "random_sparse.h"
#include "expr/expr.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk over all places, in the order of the levels. */
typedef struct reading {
    sparse_case           *c;
    const rd_sparse_array *a;
    const rd_array        *dense;
    bool                  *there; /* of elements in C order */
    int64_t                index[RD_MAX_RANK], last, n;
} reading;

static void wrong(const reading *r, const char *what)
{
    char why[200];

    snprintf(why, sizeof why, "%s, at place %" PRId64, what, r->n);
    sparse_complain(r->c, "rd_eval_sparse", why);
}

static int64_t index_at(const rd_indices *row, int64_t i)
{
    return row->type == RD_I32 ? ((const int32_t *)row->data)[i] : ((const int64_t *)row->data)[i];
}

/* The elements are the same, of complex numbers both parts; `zeros`: of either sign. */
static bool is_same(const rd_array *x, int64_t i, const rd_array *y, int64_t j, bool zeros)
{
    const int      parts = 1 + rd_dtype_is_complex(x->type);
    const rd_dtype type  = x->type == RD_C64 ? RD_F32 : x->type == RD_C128 ? RD_F64 : x->type;
    const size_t   size  = (size_t)rd_dtype_size(type);
    bool           same  = true;

    for (int k = 0; k < parts; k++) {
        const char *p = (const char *)x->in + (size_t)(i * parts + k) * size,
                   *q = (const char *)y->in + (size_t)(j * parts + k) * size;

        same &= memcmp(p, q, size) == 0 || (isnan(get(p, type, 0)) && isnan(get(q, type, 0))) ||
                (zeros && get(p, type, 0) == 0 && get(q, type, 0) == 0);
    }
    return same;
}

static void read_place(reading *r, int64_t entry)
{
    const rd_sparse_array *a  = r->a;
    int64_t                at = 0, number = 0;

    for (int k = 0; k < a->n_level; k++)
        number = number * a->shape.at[a->level[k].axis] + r->index[a->level[k].axis];
    for (int k = 0; k < a->shape.n; k++)
        at = at * a->shape.at[k] + r->index[k];
    if (number <= r->last)
        wrong(r, "places do not ascend");
    r->last = number;
    if (entry != r->n++)
        wrong(r, "elements are in another order");
    r->there[at] = true;
    if (!is_same(&a->values, entry, r->dense, at, false))
        wrong(r, "another element");
}

static void read_level(reading *r, int k, int64_t node);

static void read_entry(reading *r, int k, int64_t entry)
{
    const rd_stored_level *l = &r->a->level[k];
    const int64_t          i =
        l->kind == RD_LEVEL_DENSE ? entry % r->a->shape.at[l->axis] : index_at(&l->crd, entry);

    if (i < 0 || i >= r->a->shape.at[l->axis]) {
        wrong(r, "an index is outside");
        return;
    }
    r->index[l->axis] = i;
    read_level(r, k + 1, entry);
}

/* Entries of level k below a node of the level before. */
static void read_level(reading *r, int k, int64_t node)
{
    const rd_stored_level *l    = &r->a->level[k];
    int64_t                from = node, upto = node + 1;

    if (k == r->a->n_level) {
        read_place(r, node);
        return;
    }
    if (l->kind == RD_LEVEL_DENSE) {
        from = node * r->a->shape.at[l->axis];
        upto = from + r->a->shape.at[l->axis];
    } else if (l->kind == RD_LEVEL_COMPRESSED) {
        from = index_at(&l->pos, node);
        upto = index_at(&l->pos, node + 1);
    } else if (k == 0)
        upto = l->crd.n;
    for (int64_t i = from; i < upto && !r->c->complaint[0]; i++)
        if (l->kind != RD_LEVEL_DENSE && i >= l->crd.n)
            wrong(r, "a row ends too late");
        else
            read_entry(r, k, i);
}

static int64_t points(rd_shape s)
{
    int64_t n = 1;

    for (int a = 0; a < s.n; a++)
        n *= s.at[a];
    return n;
}

/* What is not stored is the fill, or nothing.  Zeros may be of either sign: where a product with
 * finite numbers is 0 one of them stands for all. */
static void check_others(reading *r, const rd_array *stored)
{
    if (r->n != r->a->values.shape.at[0])
        wrong(r, "there are more elements");
    if (r->a->stored != (stored != NULL) || (r->a->fill.data != NULL && stored))
        wrong(r, ".stored is not kept");
    for (int64_t i = 0; i < points(r->a->shape) && !r->c->complaint[0]; i++)
        if (stored && r->there[i] != ((const bool *)stored->in)[i])
            wrong(r, "places are others than those where something is stored");
        else if (!stored && !r->there[i] && !is_same(&r->a->fill, 0, r->dense, i, true))
            wrong(r, "another fill");
}

static void check_levels(sparse_case *c, sparse_pair x, const rd_sparse_array *a)
{
    int  n_pattern = 0;
    bool ok        = a->n_level == a->shape.n;

    for (int k = 0; k < a->n_level; k++)
        if (a->level[k].kind != RD_LEVEL_DENSE)
            n_pattern = k + 1;
    for (int k = 0; k < a->n_level; k++) {
        const rd_level_kind kind = a->level[k].kind;

        ok &= k == 0 || k == n_pattern || a->level[k].axis > a->level[k - 1].axis;
        ok &= kind ==
              (k >= n_pattern || (k == 0 && n_pattern > 1) ? RD_LEVEL_DENSE : RD_LEVEL_COMPRESSED);
        ok &= k < n_pattern || !(x.axes >> a->level[k].axis & 1);
    }
    if (!ok || (a->shape.n == 2 && n_pattern != 2)) {
        char text[200], *at = text;

        for (int k = 0; k < a->n_level && k < 8; k++)
            at += sprintf(at, "axis %d kind %d, ", (int)a->level[k].axis, (int)a->level[k].kind);
        sprintf(at, "for axes %x of %d", (unsigned)x.axes, a->shape.n);
        sparse_complain(c, "rd_eval_sparse: other levels than the header says", text);
    }
}

/* Levels of any kinds and order that rd_sparse() takes. */
static void any_levels(sparse_case *c, rd_shape shape, rd_sparse_array *a)
{
    const int last = sparse_below(c, shape.n), coordinates = sparse_below(c, 2 * shape.n);

    a->n_level = shape.n;
    for (int k = 0; k < shape.n; k++) {
        const int j = sparse_below(c, k + 1);

        a->level[k].axis = a->level[j].axis;
        a->level[j].axis = k;
    }
    for (int k = 0; k < shape.n; k++)
        a->level[k].kind = coordinates <= k ? RD_LEVEL_COORDINATES
                           : k == last      ? RD_LEVEL_COMPRESSED
                           : k > last       ? RD_LEVEL_DENSE
                                            : (rd_level_kind)sparse_below(c, 2);
    if (coordinates > 0 && coordinates < shape.n) /* behind dense levels these are one an index */
        a->level[coordinates - 1].kind = RD_LEVEL_COMPRESSED;
    if (coordinates >= shape.n) /* a pattern ends with the last axis that it has */
        a->level[shape.n - 1].kind = RD_LEVEL_COMPRESSED;
}

static void check(sparse_case *c, const rd_sparse_array *a, const rd_array *dense,
                  const rd_array *stored)
{
    reading r = { .c = c, .a = a, .dense = dense, .last = -1 };

    r.there = calloc(1, (size_t)points(a->shape) + 1);
    if (a->values.type != dense->type || a->shape.n != dense->shape.n ||
        memcmp(a->shape.at, dense->shape.at, (size_t)a->shape.n * sizeof *a->shape.at) != 0)
        sparse_complain(c, "rd_eval_sparse", "another type or shape");
    else {
        read_level(&r, 0, 0);
        check_others(&r, stored);
    }
    free(r.there);
}

void sparse_check_arrays(sparse_case *c, sparse_pair x, const rd_array *dense,
                         const rd_array *stored)
{
    rd_sparse_array a     = { 0 };
    const bool      asked = sparse_once(c, 2);

    if (asked)
        any_levels(c, rd_shape_of(x.dense), &a);
    if (rd_eval_sparse(c->ctx, x.sparse, &a) != RD_OK) {
        if (x.uniform || !strstr(rd_error_text(c->ctx), "differs from place to place"))
            sparse_complain(c, "rd_eval_sparse", rd_error_text(c->ctx));
        rd_error_clear(c->ctx);
        return;
    }
    if (!asked)
        check_levels(c, x, &a);
    if (!c->complaint[0])
        check(c, &a, dense, stored);
    rd_sparse_array_free(&a);
}
