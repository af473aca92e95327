/* sparse.c - sparse arrays whose formats, extents and index arrays come from the input: too short, too long,
 * falling, negative, outside, twice.
 *
 * sparse_model.c goes through the levels place by place and makes the dense array.  What it refuses the library
 * must refuse, and the other way round; what was taken is compared with that array: itself, sums, products,
 * transposed, and as another format and back. */
#include "fuzz/driver.h"
#include "fuzz/sparse_model.h"
#include "oracle.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Inputs ------------------------------------------------------------------------------------------- */
enum { MOST_SIDE = 5 }; /* of an extent that is no odd number, and of products */

static int64_t extent_of(fuzz_bytes *in)
{
    const uint8_t kind = fuzz_byte(in);

    return kind < 250 ? kind % (MOST_SIDE + 1) : fuzz_number(in);
}

static void read_row(fuzz_bytes *in, index_row *row, int n)
{
    row->n = n < MOST_INDICES ? n : MOST_INDICES;
    for (int64_t i = 0; i < row->n; i++)
        row->at[i] = fuzz_number(in);
}

/* Positions by how many places each row has, and places by their distance: in order, unless extents are short. */
static void read_tame(fuzz_bytes *in, sparse_level *l, int64_t rows, int64_t extent)
{
    l->pos.n = rows + 1 < MOST_INDICES ? rows + 1 : MOST_INDICES;
    l->crd.n = 0;
    for (int64_t r = 0; r < l->pos.n; r++) {
        const int more = fuzz_below(in, 4);
        int64_t   at   = -1;

        l->pos.at[r] = l->crd.n;
        for (int k = 0; r + 1 < l->pos.n && k < more && at + 1 < extent; k++)
            if (l->crd.n < MOST_INDICES)
                l->crd.at[l->crd.n++] = at += 1 + (at + 2 < extent && fuzz_byte(in) % 2);
    }
}

static void read_level(fuzz_bytes *in, sparse *s, int k, int64_t rows)
{
    sparse_level *l    = &s->level[k];
    const uint8_t how  = fuzz_byte(in);
    const int64_t size = l->axis >= 0 && l->axis < s->rank ? s->extent[l->axis] : 0;

    l->wide = how & 1;
    l->odd  = how >= 252;
    if (how & 2) {
        read_row(in, &l->pos, fuzz_below(in, 12));
        read_row(in, &l->crd, fuzz_below(in, 12));
    } else {
        read_tame(in, l, rows, size);
        if (how & 4 && l->crd.n > 0) /* one is another */
            l->crd.at[fuzz_below(in, (int)l->crd.n)] = fuzz_number(in);
        if (how & 8 && l->pos.n > 0)
            l->pos.at[fuzz_below(in, (int)l->pos.n)] = fuzz_number(in);
    }
}

static void read_sparse(fuzz_bytes *in, sparse *s)
{
    const uint8_t flags = fuzz_byte(in);

    s->format  = fuzz_below(in, 4);
    s->trusted = flags & 1;
    s->stored  = flags & 2;
    s->fill    = flags & 4 && !s->stored ? 1 + (flags >> 6) : 0;
    s->type    = (const rd_dtype[]){ RD_I32, RD_F64, RD_BOOL, RD_F32 }[flags >> 3 & 3];
    s->fill    = s->type == RD_BOOL ? 0 : s->fill;
    s->rank    = s->format == ANY_FORMAT ? 1 + fuzz_below(in, MOST_AXES) : 2;
    for (int a = 0; a < s->rank; a++)
        s->extent[a] = extent_of(in);
    sparse_name_levels(s, in);
    int64_t rows = 1;
    for (int k = 0; k < s->rank; k++) {
        read_level(in, s, k, rows);
        rows = s->level[k].kind != RD_LEVEL_DENSE ? s->level[k].crd.n
               : s->level[k].axis >= 0 && s->level[k].axis < s->rank
                   ? rows * (s->extent[s->level[k].axis] & 15)
                   : 0;
    }
    s->values = flags & 32 ? 1 : sparse_places(s);
}

/* ---- The library's ------------------------------------------------------------------------------------ */
static rd_expr *row_of(rd_ctx *ctx, const sparse_level *l, const index_row *row, void *memory)
{
    const rd_dtype type  = l->odd ? RD_U8 : l->wide ? RD_I64 : RD_I32;
    rd_array       array = { .in = memory, .type = type, .shape = RD_SHAPE(row->n) };

    for (int64_t i = 0; i < row->n; i++) {
        if (type == RD_I32)
            ((int32_t *)memory)[i] = (int32_t)row->at[i];
        else if (type == RD_I64)
            ((int64_t *)memory)[i] = row->at[i];
    }
    return rd_leaf(ctx, &array);
}

static rd_expr *values_of(rd_ctx *ctx, const sparse *s, void *memory)
{
    rd_array array = { .in = memory, .type = s->type, .shape = RD_SHAPE(s->values) };

    if (s->values > MOST_PLACES) /* the model does not go so far, and all memory is this one's */
        array.strides = RD_STRIDES(0);
    for (int64_t i = 0; i < s->values && i < MOST_PLACES; i++) {
        const oracle_value v = { .type = s->type,
                                 .n    = sparse_value(s, i),
                                 .v    = sparse_value(s, i) };

        oracle_store((char *)memory + i * rd_dtype_size(s->type), s->type, &v);
    }
    return rd_leaf(ctx, &array);
}

static rd_expr *make(rd_ctx *ctx, const sparse *s)
{
    static int64_t index[MOST_AXES][2][MOST_INDICES], memory[MOST_PLACES];
    rd_level       level[MOST_AXES] = { { 0 } };
    rd_shape       shape            = { .n = s->rank };

    memcpy(shape.at, s->extent, sizeof s->extent);
    for (int k = 0; k < s->rank; k++)
        level[k] = (rd_level){ s->level[k].kind, s->level[k].axis,
                               row_of(ctx, &s->level[k], &s->level[k].pos, index[k][0]),
                               row_of(ctx, &s->level[k], &s->level[k].crd, index[k][1]) };
    const rd_matrix_opts o = { .size    = sizeof o,
                               .shape   = shape,
                               .pos     = s->format == COO ? level[0].crd : level[1].pos,
                               .crd     = level[1].crd,
                               .values  = values_of(ctx, s, memory),
                               .fill    = s->fill ? rd_int(ctx, s->fill) : NULL,
                               .stored  = s->stored,
                               .trusted = s->trusted };

    switch (s->format) {
    case CSR: return rd_csr_of(ctx, &o);
    case CSC: return rd_csc_of(ctx, &o);
    case COO: return rd_coo_of(ctx, &o);
    default:
        return rd_sparse(ctx, shape, { level, s->rank }, o.values, o.fill, s->stored, s->trusted);
    }
}

/* ---- Comparisons --------------------------------------------------------------------------------------- */
/* x is these numbers, in C order; all are whole and small, so sums are exact. */
static void must_be(rd_ctx *ctx, const char *what, rd_expr *x, const int64_t *want, int64_t n)
{
    rd_array out;

    if (!x)
        fuzz_wrong("%s: %s", what, rd_error_text(ctx));
    if (rd_points(x->rank, x->extent) != n)
        fuzz_wrong("%s has %" PRId64 " elements instead of %" PRId64, what,
                   rd_points(x->rank, x->extent), n);
    fuzz_must_evaluate(ctx, x, &out);
    for (int64_t i = 0; i < n; i++) {
        const oracle_value v =
            oracle_load((const char *)out.data + i * rd_dtype_size(out.type), out.type);
        const bool real = rd_dtype_kind(out.type) == RD_KIND_FLOAT;

        if (real ? v.v != (long double)want[i] : v.n != want[i])
            fuzz_wrong("%s: element %" PRId64 " is %g instead of %" PRId64, what, i,
                       real ? (double)v.v : (double)v.n, want[i]);
    }
    rd_array_free(&out);
}

static void sums(rd_ctx *ctx, const sparse *s, const dense *d, rd_expr *x, int axis)
{
    int64_t want[MOST_PLACES] = { 0 }, inner = 1, outer = 1;

    for (int a = 0; a < s->rank; a++) {
        outer *= a < axis ? s->extent[a] : 1;
        inner *= a > axis ? s->extent[a] : 1;
    }
    for (int64_t i = 0; i < d->n; i++)
        want[i / inner / s->extent[axis] * inner + i % inner] += d->at[i];
    must_be(ctx, "a sum", rd_sum(x, RD_DIMS(axis)), want, outer * inner);
}

/* A x, and A A^T, whose bools are joined by `or` and `and`. */
static void products(rd_ctx *ctx, const sparse *s, const dense *d, rd_expr *x)
{
    static const int32_t vector[MOST_SIDE] = { 2, -1, 0, 3, 1 };
    const int64_t        n = s->extent[0], m = s->extent[1];
    int64_t              by_vector[MOST_SIDE] = { 0 }, squared[MOST_SIDE * MOST_SIDE] = { 0 };

    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++) {
            by_vector[i] += d->at[i * m + k] * vector[k];
            for (int64_t j = 0; j < n; j++)
                squared[i * n + j] += d->at[i * m + k] * d->at[j * m + k];
        }
    for (int k = 0; s->type == RD_BOOL && k < MOST_SIDE * MOST_SIDE; k++)
        squared[k] = squared[k] != 0;
    must_be(ctx, "a product with a vector", rd_matmul(x, rd_wrap(ctx, vector, RD_SHAPE(m))),
            by_vector, n);
    must_be(ctx, "a product of two", rd_matmul(x, rd_permute(x, RD_INDEX(1, 0))), squared, n * n);
}

static void transposed(rd_ctx *ctx, const sparse *s, const dense *d, rd_expr *x)
{
    int64_t want[MOST_PLACES];

    for (int64_t i = 0; i < s->extent[0]; i++)
        for (int64_t j = 0; j < s->extent[1]; j++)
            want[j * s->extent[0] + i] = 3 * d->at[i * s->extent[1] + j];
    must_be(ctx, "transposed, by 3",
            rd_mul(rd_cast(rd_permute(x, RD_INDEX(1, 0)), RD_F64), rd_num(ctx, 3)), want, d->n);
}

/* In a format that the input says, which may be none, or in the usual one. */
static void converted(rd_ctx *ctx, const sparse *s, const dense *d, rd_expr *x, fuzz_bytes *in)
{
    rd_sparse_array a     = { 0 };
    const bool      usual = fuzz_byte(in) % 4 == 0;

    a.n_level = usual ? 0 : s->rank;
    for (int k = 0; k < a.n_level; k++) {
        a.level[k].kind = (rd_level_kind)fuzz_below(in, 3);
        a.level[k].axis = (fuzz_below(in, 3) + k) % (s->rank + (fuzz_byte(in) > 250));
    }
    if (rd_eval_sparse(ctx, x, &a) == RD_OK) {
        if (a.stored != s->stored)
            fuzz_wrong("the sparse result has another .stored");
        must_be(ctx, "another format", rd_adopt_sparse(ctx, &a), d->at, d->n);
    } else if (usual) {
        fuzz_wrong("rd_eval_sparse: %s", rd_error_text(ctx));
    } else {
        fuzz_refusal(ctx, "rd_eval_sparse");
    }
    rd_sparse_array_free(&a);
}

static void compare(rd_ctx *ctx, const sparse *s, const dense *d, rd_expr *x, fuzz_bytes *in)
{
    const int how = fuzz_below(in, 5);

    must_be(ctx, "the array", x, d->at, d->n);
    if (how == 0 || s->rank != 2)
        sums(ctx, s, d, x, fuzz_below(in, s->rank));
    else if (how == 1 && s->extent[0] <= MOST_SIDE && s->extent[1] <= MOST_SIDE)
        products(ctx, s, d, x);
    else if (how == 2)
        transposed(ctx, s, d, x);
    if (how > 2)
        converted(ctx, s, d, x, in);
}

static void try_sparse(rd_ctx *ctx, fuzz_bytes *in)
{
    static sparse s;
    static dense  d;

    memset(&s, 0, sizeof s);
    memset(&d, 0, sizeof d);
    read_sparse(in, &s);
    const verdict v = sparse_judge(&s, &d);
    rd_expr      *x = make(ctx, &s);

    if (!x) {
        if (fuzz_refusal(ctx, NULL) != RD_ERR_MEMORY && v == TAKEN)
            fuzz_wrong("what is right is refused");
        return;
    }
    if (v == REFUSED)
        fuzz_wrong("what is wrong is taken");
    if (v == TAKEN && !d.too_large)
        compare(ctx, &s, &d, x, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_bytes in  = { bytes, bytes + n };
    rd_ctx    *ctx = fuzz_context();

    try_sparse(ctx, &in);
    fuzz_context_end(ctx);
    return 0;
}
