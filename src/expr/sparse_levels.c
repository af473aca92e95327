/* sparse_levels.c - sparse leaves from level formats (CSR, CSC, COO and deeper ones).  Index
 * arrays are checked once and expanded to coordinates.
 *
 * A *level* says how one axis is stored.  A dense level has all indices at each place of the level
 * before.  A compressed one has the indices crd[pos[p]] to crd[pos[p + 1] - 1] at place p.  A level
 * of coordinates has one index crd[p] at each place.  The last level's places are the stored
 * ones. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include "expr/sparse_places.h"
#include <inttypes.h>
#include <string.h>

/* A sparse leaf while it is made. */
typedef struct builder {
    const char           *call; /* for failures */
    rd_ctx               *ctx;
    const rd_sparse_opts *opts;
    int                   n;                   /* levels */
    int64_t               places;              /* of the last level that was counted */
    int64_t               upto[RD_MAX_RANK];   /* by level: its number of places */
    rd_expr              *coord[RD_MAX_RANK];  /* by level */
    int32_t              *narrow[RD_MAX_RANK]; /* by level: room for its coordinate, i32 ... */
    int64_t              *wide[RD_MAX_RANK];   /* ... or i64; both NULL: the row is borrowed */
    int64_t               axis[RD_MAX_RANK];   /* by level */
    /* by level: the index of the place that is put now, and of the one before it */
    int64_t now[RD_MAX_RANK], before[RD_MAX_RANK];
    int64_t filled; /* places put so far */
} builder;

/* The caller's description of level k, which says how one axis is stored: dense, compressed (CSR)
 * or coordinates (COO). */
static const rd_level *level_of(const builder *b, int k)
{
    return &b->opts->levels.at[k];
}

/* The extent of the axis that level k stores. */
static int64_t extent_of(const builder *b, int k)
{
    return b->opts->shape.at[b->axis[k]];
}

/* ---- Index arrays ---------------------------------------------------------------------------- */
/* Reads element i of an index array (pos or crd) of i32 or i64. */
static int64_t index_at(const rd_expr *row, int64_t i)
{
    const void *data = row->as.leaf->data;

    return row->type == RD_I32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
}

/* True if an index array (`what`: "pos" or "crd") of level k is a contiguous leaf of i32 or i64 in
 * this process's memory.  False after recording what is wrong. */
static bool is_row_of_indices(const builder *b, const char *what, int k, rd_expr *row)
{
    char shape[RD_SHAPE_TEXT];

    if (!row)
        rd_fail(b->ctx, RD_ERR_ARGUMENT, "%s: %s of level %d is NULL", b->call, what, k);
    else if (row->ctx != b->ctx)
        rd_fail(b->ctx, RD_ERR_ARGUMENT, "%s: %s of level %d belongs to another context", b->call,
                what, k);
    else if (row->kind != RD_EXPR_LEAF || row->as.leaf->name || row->device)
        rd_fail(b->ctx, RD_ERR_ARGUMENT,
                "%s: %s of level %d is %s, it must be a leaf of this process's memory", b->call,
                what, k,
                row->device                 ? "on a device"
                : row->kind == RD_EXPR_LEAF ? "an input"
                                            : rd_expr_kind_name(row->kind));
    else if (row->type != RD_I32 && row->type != RD_I64)
        rd_fail(b->ctx, RD_ERR_TYPE, "%s: %s of level %d is of %s, it must be i32 or i64", b->call,
                what, k, rd_dtype_name(row->type));
    else if (row->rank != 1 || (row->extent[0] > 1 && row->as.leaf->stride[0] != 1))
        rd_fail(b->ctx, RD_ERR_SHAPE,
                "%s: %s of level %d has shape %s, it must be a row, side by side", b->call, what, k,
                rd_shape_text(row->rank, row->extent, shape));
    else
        return true;
    return false;
}

/* True if no element is less than the one before it.  The loops do not stop early, so that they
 * are vectorised. */
static bool is_ascending(const rd_expr *row, int64_t n)
{
    const int32_t *const narrow = row->type == RD_I32 ? row->as.leaf->data : NULL;
    const int64_t *const wide   = row->type == RD_I64 ? row->as.leaf->data : NULL;
    int                  falls  = 0;

    for (int64_t i = 1; narrow && i < n; i++)
        falls |= narrow[i - 1] > narrow[i];
    for (int64_t i = 1; wide && i < n; i++)
        falls |= wide[i - 1] > wide[i];
    return !falls;
}

/* True if `pos` of compressed level k is valid, as CSR's row begins are: one more than the
 * positions of the level before, rising from 0 to n, the length of crd.  False after recording what
 * is wrong. */
static bool positions_ok(const builder *b, int k, const rd_expr *pos, int64_t n)
{
    const int64_t last = pos->extent[0] - 1;

    if (last != b->places)
        rd_fail(b->ctx, RD_ERR_SHAPE,
                "%s: pos of level %d has %" PRId64 " elements, for %" PRId64
                " places before it there must be %" PRId64,
                b->call, k, last + 1, b->places, b->places + 1);
    else if (index_at(pos, 0) != 0 || index_at(pos, last) != n)
        rd_fail(b->ctx, RD_ERR_ARGUMENT,
                "%s: pos of level %d goes from %" PRId64 " to %" PRId64
                ", it must go from 0 to %" PRId64 ", the length of crd",
                b->call, k, index_at(pos, 0), index_at(pos, last), n);
    else if (is_ascending(pos, last + 1))
        return true;
    else {
        int64_t i = 0;

        while (index_at(pos, i) <= index_at(pos, i + 1))
            i++;
        rd_fail(b->ctx, RD_ERR_ARGUMENT,
                "%s: pos of level %d falls from %" PRId64 " to %" PRId64 " at position %" PRId64,
                b->call, k, index_at(pos, i), index_at(pos, i + 1), i + 1);
    }
    return false;
}

/* Checks the index arrays of level k, and sets b->places to its number of positions: for a dense
 * level those of the level before times the extent, else the length of crd.  False after recording
 * what is wrong. */
static bool count_level(builder *b, int k)
{
    const rd_level *level   = level_of(b, k);
    const int64_t   sizes[] = { b->places, extent_of(b, k) };

    if (level->kind == RD_LEVEL_DENSE) {
        b->places = rd_points(2, sizes);
        if (b->places < 0)
            rd_fail(b->ctx, RD_ERR_SHAPE, "%s: the places of level %d are too many", b->call, k);
        return b->places >= 0;
    }
    if (!is_row_of_indices(b, "crd", k, level->crd))
        return false;
    const int64_t n = level->crd->extent[0];
    if (level->kind == RD_LEVEL_COMPRESSED) {
        if (!is_row_of_indices(b, "pos", k, level->pos) || !positions_ok(b, k, level->pos, n))
            return false;
    } else if (k > 0 && n != b->places) {
        rd_fail(b->ctx, RD_ERR_SHAPE,
                "%s: crd of level %d has %" PRId64 " elements, and there are %" PRId64 " places",
                b->call, k, n, b->places);
        return false;
    }
    b->places = n;
    return true;
}

/* ---- Coordinates ----------------------------------------------------------------------------- */
/* True if the index array of level k serves as a coordinate without a copy: it has one, and all
 * later levels are coordinates, which keep the number of positions. */
static bool is_borrowed(const builder *b, int k)
{
    if (level_of(b, k)->kind == RD_LEVEL_DENSE)
        return false;
    for (int j = k + 1; j < b->n; j++)
        if (level_of(b, j)->kind != RD_LEVEL_COORDINATES)
            return false;
    return true;
}

/* Takes the index array of level k as its coordinate, or allocates a leaf for it: b->narrow (i32)
 * or b->wide (i64) is its room.  False: no memory. */
static bool get_row(builder *b, int k)
{
    const bool narrow = extent_of(b, k) <= INT32_MAX;
    void      *room;

    if (is_borrowed(b, k)) {
        b->coord[k] = level_of(b, k)->crd;
        return true;
    }
    /* The first coordinate has room behind it for where each index begins. */
    b->coord[k]  = k == 0 ? rd_first_row(b->ctx, b->places, extent_of(b, k), &room, b->call)
                          : rd_index_row(b->ctx, b->places, narrow, &room, b->call);
    b->narrow[k] = narrow ? room : NULL;
    b->wide[k]   = narrow ? NULL : room;
    return b->coord[k] != NULL;
}

/* True if the position with the indices b->now (one for each level) comes after b->before, the one
 * put last, row-major in the order of levels.  False after recording what is wrong. */
static bool place_ok(const builder *b)
{
    int k = 0;

    while (b->filled > 0 && k < b->n && b->now[k] == b->before[k])
        k++;
    if (b->filled == 0 || (k < b->n && b->now[k] > b->before[k]))
        return true;
    if (k == b->n)
        rd_fail(b->ctx, RD_ERR_ARGUMENT, "%s: place %" PRId64 " is the one before it again",
                b->call, b->filled);
    else
        rd_fail(b->ctx, RD_ERR_ARGUMENT,
                "%s: indices do not ascend: along axis %" PRId64 " place %" PRId64 " has %" PRId64
                ", and the one before it %" PRId64,
                b->call, b->axis[k], b->filled, b->now[k], b->before[k]);
    return false;
}

/* Appends a stored position with the indices b->now to the coordinates.  False after recording that
 * it is out of order. */
static bool put_place(builder *b)
{
    if (!b->opts->trusted && !place_ok(b))
        return false;
    for (int k = 0; k < b->n; k++) {
        b->before[k] = b->now[k];
        if (b->narrow[k])
            b->narrow[k][b->filled] = (int32_t)b->now[k];
        else if (b->wide[k])
            b->wide[k][b->filled] = b->now[k];
    }
    b->filled++;
    return true;
}

static bool put_level(builder *b, int k, int64_t place);

/* Sets the index of level k, whose position is `place`, and puts all stored positions below it.
 * False after recording that the index is outside the axis. */
static bool put_index(builder *b, int k, int64_t place, int64_t index)
{
    b->now[k] = index;
    if (index >= 0 && index < extent_of(b, k))
        return put_level(b, k + 1, place);
    rd_fail(b->ctx, RD_ERR_ARGUMENT,
            "%s: crd of level %d has %" PRId64 " at position %" PRId64
            ", which is outside axis %" PRId64 " of extent %" PRId64,
            b->call, k, index, place, b->axis[k], extent_of(b, k));
    return false;
}

/* Puts all stored positions that levels k and later have below position `place` of level k - 1.
 * This recursion is slow, but finds what is wrong; false then. */
static bool put_level(builder *b, int k, int64_t place)
{
    if (k == b->n)
        return put_place(b); /* below the last level */
    const rd_level *level = level_of(b, k);
    int64_t         from = place, to = place + 1;

    if (level->kind == RD_LEVEL_DENSE) {
        for (int64_t i = 0; i < extent_of(b, k); i++)
            if (!put_index(b, k, place * extent_of(b, k) + i, i))
                return false;
        return true;
    }
    if (level->kind == RD_LEVEL_COMPRESSED) {
        from = index_at(level->pos, place);
        to   = index_at(level->pos, place + 1);
    } else if (k == 0)
        to = level->crd->extent[0];
    for (int64_t p = from; p < to; p++)
        if (!put_index(b, k, p, index_at(level->crd, p)))
            return false;
    return true;
}

/* Describes the levels for the fast passes over one index array at a time (sparse_places.h).
 * upto[k] is the number of positions of level k. */
static void describe_levels(const builder *b, rd_index_level *level)
{
    for (int k = 0; k < b->n; k++) {
        const rd_level *l = level_of(b, k);

        level[k] = (rd_index_level){ .kind   = l->kind,
                                     .extent = extent_of(b, k),
                                     .before = k > 0 ? b->upto[k - 1] : 1,
                                     .places = b->upto[k],
                                     .narrow = b->narrow[k],
                                     .wide   = b->wide[k] };
        if (l->kind != RD_LEVEL_DENSE) {
            level[k].crd      = l->crd->as.leaf->data;
            level[k].wide_crd = l->crd->type == RD_I64;
        }
        if (l->kind == RD_LEVEL_COMPRESSED) {
            level[k].pos      = l->pos->as.leaf->data;
            level[k].wide_pos = l->pos->type == RD_I64;
        }
    }
}

/* Fills in the coordinates of all stored positions.  If the fast passes find an error, put_level()
 * goes from one to the next to name it.  In CSR form (a dense and a compressed level) pos says
 * where each row begins; else that is found from the coordinate. */
static bool put_places(builder *b)
{
    rd_index_level level[RD_MAX_RANK];

    describe_levels(b, level);
    if (!rd_levels_in_order(b->ctx, b->n, level, b->opts->trusted))
        return put_level(b, /*k=*/0, /*place=*/0);
    rd_levels_fill(b->ctx, b->n, level);
    if (b->n == 2 && level[0].kind == RD_LEVEL_DENSE && level[1].kind == RD_LEVEL_COMPRESSED)
        return rd_row_begins(b->coord[0], extent_of(b, 0), level[1].pos, level[1].wide_pos,
                             b->call);
    /* Begins need an ascending coordinate: it was checked, or counted by a dense level. */
    if (!is_borrowed(b, 0) && (!b->opts->trusted || level_of(b, 0)->kind == RD_LEVEL_DENSE))
        return rd_row_ascends(b->coord[0], extent_of(b, 0), b->call);
    return true;
}

/* ---- The node -------------------------------------------------------------------------------- */
/* Reads which axis each level stores: each axis of the shape has one level.  False after recording
 * that shape and levels do not fit. */
static bool axes_ok(builder *b)
{
    const rd_sparse_opts *o    = b->opts;
    uint64_t              seen = 0;

    if (o->shape.n < 1 || o->shape.n > RD_MAX_RANK || rd_points(o->shape.n, o->shape.at) < 0) {
        rd_fail(b->ctx, RD_ERR_SHAPE,
                "%s: the shape has %d axes, at least one and at most %d are possible, or its size "
                "overflows",
                b->call, (int)o->shape.n, RD_MAX_RANK);
        return false;
    }
    if (!rd_list_ok(b->ctx, b->call, "levels", o->levels.at, o->levels.n, 1))
        return false;
    if (o->levels.n != o->shape.n) {
        rd_fail(b->ctx, RD_ERR_ARGUMENT, "%s: %d levels for %d axes, there must be as many",
                b->call, (int)o->levels.n, (int)o->shape.n);
        return false;
    }
    b->n = o->levels.n;
    for (int k = 0; k < b->n; k++) {
        b->axis[k] = level_of(b, k)->axis;
        if (b->axis[k] < 0 || b->axis[k] >= b->n || seen >> b->axis[k] & 1 ||
            (unsigned)level_of(b, k)->kind > RD_LEVEL_COORDINATES) {
            rd_fail(b->ctx, RD_ERR_ARGUMENT,
                    "%s: level %d is of axis %" PRId64
                    " and kind %d; each axis has one level, of a "
                    "kind of enum rd_level_kind",
                    b->call, k, b->axis[k], (int)level_of(b, k)->kind);
            return false;
        }
        seen |= (uint64_t)1 << b->axis[k];
    }
    return true;
}

/* The values, broadcast to all stored positions; `true` for a pattern without values.  NULL after
 * recording what is wrong. */
static rd_expr *values_of(const builder *b)
{
    rd_expr *values = b->opts->values;

    if (!values)
        values = rd_number(b->ctx, RD_BOOL, rd_word_from_int(1, RD_BOOL));
    if (!values || !rd_operands(b->call, 1, &values))
        return NULL;
    if (values->ctx != b->ctx)
        return rd_fail(b->ctx, RD_ERR_ARGUMENT, "%s: values belong to another context", b->call);
    if (rd_is_sparse(values))
        return rd_fail(b->ctx, RD_ERR_TYPE, "%s: values are sparse themselves", b->call);
    values = rd_with_origins(rd_cast_to(values, values->type), /*origin=*/NULL);
    return values ? rd_broadcast_to(values, 1, &b->places, b->call) : NULL;
}

/* True if .fill, the value where nothing is stored, is missing or one number of the same context.
 * `pairs`: values are complex, so it may be, too.  False after recording what is wrong. */
static bool fill_ok(const builder *b, bool pairs)
{
    rd_expr *fill = b->opts->fill;

    if (!fill)
        return true;
    if (!rd_operands(b->call, 1, &fill))
        return false;
    if (fill->ctx == b->ctx && fill->rank == 0 && (pairs || !rd_is_complex(fill)))
        return true;
    rd_fail(b->ctx, RD_ERR_ARGUMENT,
            "%s: .fill has rank %d and type %s, it must be one %s number of the same context",
            b->call, fill->rank, rd_dtype_name(rd_type_of(fill)), pairs ? "" : "real");
    return false;
}

/* The fill (the value where nothing is stored) in the type of the values, broadcast to the shape; 0
 * if not given.  `part`: 0 or 1 for the real or imaginary part of complex values, -1 for real ones.
 * NULL after recording a failure. */
static rd_expr *fill_of(const builder *b, rd_dtype type, int part)
{
    rd_expr *fill = b->opts->fill;

    if (fill && rd_is_complex(fill))
        fill = fill->in[part];
    else if (!fill || part == 1)
        fill = rd_int(b->ctx, 0);
    if (!fill)
        return NULL;
    const bool fits_as_number = fill->weak && (rd_dtype_kind(fill->type) != RD_KIND_FLOAT ||
                                               rd_dtype_kind(type) == RD_KIND_FLOAT);
    if (!fits_as_number && !rd_dtype_safe(fill->type, type))
        return rd_fail(b->ctx, RD_ERR_TYPE, "%s: .fill of type %s does not fit values of %s",
                       b->call, rd_dtype_name(fill->type), rd_dtype_name(type));
    fill = rd_fit_to(fill, type, b->call);
    return fill ? rd_broadcast_to(fill, b->n, b->opts->shape.at, b->call) : NULL;
}

/* Makes the SPARSE node of real values; `part`: 0 or 1 if they are the real or imaginary part of
 * complex ones, else -1.  With .stored it has no fill: nothing is at other positions. */
static rd_expr *node_of(const builder *b, rd_expr *values, int part)
{
    rd_expr *const fill = b->opts->stored ? NULL : fill_of(b, values->type, part);

    if (!fill && !b->opts->stored)
        return NULL;
    return rd_sparse_from(
        rd_sparse_node(values, fill, b->n, b->opts->shape.at, b->n, b->coord, b->axis),
        b->opts->origin.n ? b->opts->origin.at : NULL);
}

/* Makes a sparse leaf from level formats: checks the options, counts positions level by level,
 * fills in coordinates, and makes the node.  An older caller's struct is shorter (size); the fields
 * that it lacks are 0. */
static rd_expr *sparse_leaf(const char *call, rd_ctx *ctx, const rd_sparse_opts *opts)
{
    builder        b = { .call = call, .ctx = ctx, .places = 1 };
    rd_sparse_opts whole;
    rd_expr       *values;
    const size_t   size = opts->size && opts->size < sizeof whole ? opts->size : sizeof whole;

    memset(&whole, 0, sizeof whole);
    memcpy(&whole, opts, size);
    b.opts = &whole;
    if (!axes_ok(&b) || (whole.origin.n && !rd_origin_ok(ctx, call, &whole.origin, whole.shape.n)))
        return NULL;
    for (int k = 0; k < b.n; k++) {
        if (!count_level(&b, k))
            return NULL;
        b.upto[k] = b.places; /* elements stored down to level k */
    }
    for (int k = 0; k < b.n; k++)
        if (!get_row(&b, k))
            return NULL;
    if ((b.places > 0 && !put_places(&b)) || !(values = values_of(&b)))
        return NULL;
    if (!fill_ok(&b, rd_is_complex(values)))
        return NULL;
    if (rd_is_complex(values))
        return rd_complex_of(node_of(&b, values->in[0], /*part=*/0), node_of(&b, values->in[1], 1),
                             call);
    return node_of(&b, values, /*part=*/-1);
}

/* Makes a sparse leaf of any number of axes: the public call. */
rd_expr *rd_sparse_of(rd_ctx *ctx, const rd_sparse_opts *opts)
{
    if (ctx && !opts)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "rd_sparse: the options are NULL");
    return ctx ? sparse_leaf("rd_sparse", ctx, opts) : NULL;
}

/* ---- Matrices -------------------------------------------------------------------------------- */
/* Makes a sparse matrix from its two levels. */
static rd_expr *matrix(const char *call, rd_ctx *ctx, const rd_matrix_opts *opts,
                       const rd_level levels[2])
{
    if (opts->shape.n != 2)
        return rd_fail(ctx, RD_ERR_SHAPE, "%s: the shape has %d axes, a matrix has 2", call,
                       (int)opts->shape.n);
    return sparse_leaf(call, ctx,
                       &(rd_sparse_opts){ .size    = sizeof(rd_sparse_opts),
                                          .shape   = opts->shape,
                                          .levels  = { levels, 2 },
                                          .values  = opts->values,
                                          .fill    = opts->fill,
                                          .stored  = opts->stored,
                                          .trusted = opts->trusted,
                                          .origin  = opts->origin });
}

/* Copies the caller's options to *opts: a struct of an older release is shorter (size), and the
 * fields that it lacks are 0.  False after recording what is wrong. */
static bool read_opts(const char *call, rd_ctx *ctx, const rd_matrix_opts *given,
                      rd_matrix_opts *opts)
{
    if (ctx && !given)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", call);
    if (!ctx || !given)
        return false;
    memset(opts, 0, sizeof *opts);
    memcpy(opts, given, given->size && given->size < sizeof *opts ? given->size : sizeof *opts);
    return true;
}

/* Makes a matrix with a dense level along axis `first` and a compressed one along the other: 0 is
 * CSR, 1 is CSC. */
static rd_expr *compressed(const char *call, rd_ctx *ctx, const rd_matrix_opts *given, int first)
{
    rd_matrix_opts o;

    if (!read_opts(call, ctx, given, &o))
        return NULL;
    return matrix(call, ctx, &o,
                  (const rd_level[]){ { RD_LEVEL_DENSE, first, NULL, NULL },
                                      { RD_LEVEL_COMPRESSED, 1 - first, o.pos, o.crd } });
}

/* Makes a sparse matrix from compressed rows: `pos` has the begin of each row, `crd` the
 * columns. */
rd_expr *rd_csr_of(rd_ctx *ctx, const rd_matrix_opts *o)
{
    return compressed("rd_csr", ctx, o, /*first=*/0);
}

/* Makes a sparse matrix from compressed columns: `pos` has the begin of each column, `crd` the
 * rows. */
rd_expr *rd_csc_of(rd_ctx *ctx, const rd_matrix_opts *o)
{
    return compressed("rd_csc", ctx, o, /*first=*/1);
}

/* Makes a sparse matrix (COO) from the row (`pos`) and the column (`crd`) of each nonzero. */
rd_expr *rd_coo_of(rd_ctx *ctx, const rd_matrix_opts *given)
{
    rd_matrix_opts o;

    if (!read_opts("rd_coo", ctx, given, &o))
        return NULL;
    return matrix("rd_coo", ctx, &o,
                  (const rd_level[]){ { RD_LEVEL_COORDINATES, 0, NULL, o.pos },
                                      { RD_LEVEL_COORDINATES, 1, NULL, o.crd } });
}
