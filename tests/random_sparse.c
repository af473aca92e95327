/* random_sparse.c - patterns of all kinds, and arrays of them in both forms. */
#include "random_sparse.h"
#include "oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 6000 };

/* ---- Random numbers: splitmix64 -------------------------------------------------------------- */
int sparse_below(sparse_case *c, int n)
{
    uint64_t z = (c->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int)((z ^ (z >> 31)) % (uint64_t)n);
}

bool sparse_once(sparse_case *c, int n)
{
    return sparse_below(c, n) == 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
static void *room(sparse_case *c, int64_t bytes)
{
    assert(c->n_block < SPARSE_BLOCKS);
    return c->block[c->n_block++] = calloc(1, (size_t)(bytes > 0 ? bytes : 1));
}

/* Indices as a row of one of both types. */
static rd_expr *row_of(sparse_case *c, const int64_t *index, int n)
{
    const bool narrow = sparse_once(c, 2);
    void      *p      = room(c, n * (narrow ? 4 : 8));

    for (int i = 0; i < n; i++)
        if (narrow)
            ((int32_t *)p)[i] = (int32_t)index[i];
        else
            ((int64_t *)p)[i] = index[i];
    return rd_leaf(c->ctx,
                   &(rd_array){ .in = p, .type = narrow ? RD_I32 : RD_I64, .shape = RD_SHAPE(n) });
}

/* ---- Patterns -------------------------------------------------------------------------------- */
typedef enum density { SOME, NONE, ALL, ONE, ROWS, FEW, N_DENSITIES } density;

/* Which of n indices below one place are there. */
typedef struct chooser {
    density density;
    int     one_in;
} chooser;

static int choose(sparse_case *c, const chooser *how, int n, int64_t *index)
{
    const int kind = how->density == ROWS ? sparse_below(c, 3) : how->density == NONE ? 1 : 0;
    int       m    = 0;

    if (how->density == ONE && n > 0)
        index[m++] = sparse_below(c, n);
    for (int i = 0; i < n && how->density != ONE; i++)
        if (how->density == ALL || kind == 2 || (kind == 0 && sparse_once(c, how->one_in)))
            index[m++] = i;
    return m;
}

/* Axes in any order; levels of which coordinates, if there are, come last. */
static int choose_levels(sparse_case *c, sparse_places *p)
{
    const int rank = p->shape.n, way = sparse_below(c, 4);
    const int first = way == 0 ? 0 : way == 1 ? sparse_below(c, rank + 1) : rank;
    int       axis[SPARSE_RANK];

    for (int k = 0; k < rank; k++) {
        const int j = way == 2 && rank == 2 ? k : sparse_below(c, k + 1);

        axis[k] = axis[j];
        axis[j] = k;
    }
    for (int k = 0; k < rank; k++)
        p->level[k] =
            (rd_level){ .axis = axis[k],
                        .kind = k >= first ? RD_LEVEL_COORDINATES
                                : way == 2 ? (k == rank - 1 ? RD_LEVEL_COMPRESSED : RD_LEVEL_DENSE)
                                           : (rd_level_kind)sparse_below(c, 2) };
    return first;
}

static int64_t extent_of(const sparse_places *p, int k)
{
    return p->shape.at[p->level[k].axis];
}

/* Places so far, as numbers in C order of the levels. */
typedef struct tree {
    int64_t node[MOST_PLACES], next[MOST_PLACES], crd[MOST_PLACES], pos[MOST_PLACES + 1];
    int     n;
} tree;

/* The indices below one place: of the level, and of the coordinates behind it, `tail` of them.  A
 * dense level has one of these for each index. */
static int below_place(sparse_case *c, const chooser *how, bool dense, int extent, int tail,
                       int64_t *index)
{
    if (!dense)
        return choose(c, how, extent * tail, index);
    for (int i = 0; i < extent; i++)
        index[i] = i * tail + sparse_below(c, tail);
    return extent;
}

static void grow(sparse_case *c, sparse_places *p, tree *t, const chooser *how, int k, int tail)
{
    const int  e     = (int)extent_of(p, k);
    const bool dense = p->level[k].kind == RD_LEVEL_DENSE;
    int        m     = 0;

    for (int j = 0; j < t->n; j++) {
        int64_t   index[MOST_PLACES];
        const int n = below_place(c, how, dense, e, tail, index);

        t->pos[j] = m;
        for (int i = 0; i < n; i++) {
            t->crd[m]    = index[i] / tail;
            t->next[m++] = t->node[j] * e * tail + index[i];
        }
    }
    t->pos[t->n] = m;
    if (!dense) {
        p->level[k].pos = row_of(c, t->pos, t->n + 1);
        p->level[k].crd = row_of(c, t->crd, m);
    }
    memcpy(t->node, t->next, (size_t)m * sizeof *t->node);
    t->n = m;
}

/* Coordinates list each place with the rest of its indices. */
static void spread(sparse_case *c, sparse_places *p, tree *t, int from)
{
    int64_t each = 1;

    for (int k = p->shape.n; k-- > from;) {
        for (int j = 0; j < t->n; j++)
            t->crd[j] = t->node[j] / each % extent_of(p, k);
        p->level[k].crd = row_of(c, t->crd, t->n);
        each *= extent_of(p, k);
    }
}

/* Where places lie in C order of the axes. */
static void locate(sparse_case *c, sparse_places *p, const tree *t)
{
    p->n  = t->n;
    p->at = room(c, t->n * (int64_t)sizeof *p->at);
    for (int j = 0; j < t->n; j++) {
        int64_t number = t->node[j], index[SPARSE_RANK], at = 0;

        for (int k = p->shape.n; k-- > 0; number /= extent_of(p, k))
            index[p->level[k].axis] = number % extent_of(p, k);
        for (int a = 0; a < p->shape.n; a++)
            at = at * p->shape.at[a] + index[a];
        p->at[j] = at;
    }
}

static chooser any_density(sparse_case *c, int64_t points)
{
    const density kind = sparse_once(c, 2) ? SOME : (density)sparse_below(c, N_DENSITIES);
    const bool    few  = kind == FEW || points > 500;

    return (chooser){ few ? FEW : kind, few ? 30 : 1 + sparse_below(c, 5) };
}

static void make_places(sparse_case *c, sparse_places *p)
{
    static tree t;

    *p                  = (sparse_places){ .shape = c->shape };
    const int     first = choose_levels(c, p);
    const chooser how   = any_density(c, rd_points(c->shape.n, c->shape.at));
    int           tail  = 1;
    t.node[0]           = 0;
    t.n                 = 1;
    for (int k = first; k < c->shape.n; k++)
        tail *= (int)extent_of(p, k);
    if (first > 0 && tail == 0) /* nothing can be behind what is there */
        p->level[first - 1].kind = RD_LEVEL_COMPRESSED;
    for (int k = 0; k < first; k++)
        grow(c, p, &t, &how, k, k == first - 1 ? tail : 1);
    if (first == 0)
        t.n = choose(c, &how, tail, t.node);
    spread(c, p, &t, first);
    locate(c, p, &t);
}

/* ---- Elements -------------------------------------------------------------------------------- */
rd_dtype sparse_type(sparse_case *c)
{
    static const rd_dtype types[] = { RD_F64, RD_F64,  RD_F64, RD_F64,  RD_F32,  RD_F32,
                                      RD_F32, RD_I32,  RD_I32, RD_BOOL, RD_BOOL, RD_I64,
                                      RD_F16, RD_BF16, RD_I8,  RD_I16,  RD_U8,   RD_U16,
                                      RD_U32, RD_U64,  RD_C64, RD_C128, RD_C64,  RD_C128 };

    return types[sparse_below(c, (int)(sizeof types / sizeof *types))];
}

static bool is_real_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* Multiples of 1/2, whose sums and products are exact, and now and then what is no number. */
static double any_value(sparse_case *c, rd_dtype type)
{
    const int k = sparse_below(c, 40);

    if (type == RD_BOOL)
        return sparse_below(c, 2);
    if (!is_real_float(type) && !rd_dtype_is_complex(type))
        return sparse_below(c, 9) - (type >= RD_U8 && type <= RD_U64 ? 0 : 4);
    return k == 0 ? NAN : k == 1 ? INFINITY : (sparse_below(c, 9) - 4) / 2.0;
}

/* Real numbers, as rows of c64 and c128 have twice as many. */
static rd_dtype part_type(rd_dtype type)
{
    return type == RD_C64 ? RD_F32 : type == RD_C128 ? RD_F64 : type;
}

static void put(void *to, rd_dtype type, int64_t i, double v)
{
    const oracle_value x = { .type = type, .v = v, .n = is_real_float(type) ? 0 : (__int128)v };

    oracle_store((char *)to + i * rd_dtype_size(type), type, &x);
}

static rd_expr *array_of(sparse_case *c, const void *p, rd_dtype type, rd_shape shape)
{
    return rd_leaf(c->ctx, &(rd_array){ .in = p, .type = type, .shape = shape });
}

sparse_pair sparse_dense_leaf(sparse_case *c, rd_dtype type, rd_shape shape)
{
    const int      parts = 1 + rd_dtype_is_complex(type);
    const int64_t  n     = rd_points(shape.n, shape.at) * parts;
    void *const    p     = room(c, n * rd_dtype_size(part_type(type)));
    rd_expr *const x     = array_of(c, p, type, shape);

    for (int64_t i = 0; i < n; i++)
        put(p, part_type(type), i, any_value(c, type));
    return (sparse_pair){ .sparse = x, .dense = x, .most = 8, .grain = 0.5 };
}

sparse_pair sparse_beside(sparse_pair y, const rd_expr *x)
{
    const rd_shape s = rd_shape_of(x), t = rd_shape_of(y.dense);
    const rd_index of = rd_origin_of(x);
    rd_index       to = { .n = t.n };

    for (int e = 1; e <= s.n && e <= t.n; e++)
        if (s.at[s.n - e] == t.at[t.n - e])
            to.at[t.n - e] = of.at[s.n - e];
    y.sparse = y.dense = rd_reindex(y.dense, to);
    return y;
}

static double any_fill(sparse_case *c, rd_dtype type)
{
    const double v = any_value(c, type);

    return sparse_below(c, 3) || rd_dtype_is_complex(type) ? 0 : v;
}

static rd_expr *at_origin(const sparse_case *c, rd_expr *x)
{
    return c->origin.n ? rd_reindex(x, c->origin) : x;
}

static sparse_pair sparse_leaf(sparse_case *c, sparse_places *at, rd_dtype type)
{
    const rd_dtype part   = part_type(type);
    const int      parts  = 1 + rd_dtype_is_complex(type);
    const int64_t  n      = rd_points(c->shape.n, c->shape.at);
    const bool     stored = sparse_once(c, 5), pattern = type == RD_BOOL && sparse_once(c, 3);
    const double   fill   = stored ? 0 : any_fill(c, type);
    void *const    values = room(c, at->n * parts * rd_dtype_size(part));
    void *const    dense  = room(c, n * parts * rd_dtype_size(part));
    bool *const    there  = room(c, n);

    for (int64_t i = 0; i < n * parts; i++)
        put(dense, part, i, fill);
    for (int64_t k = 0; k < (int64_t)at->n * parts; k++) {
        const double v = pattern ? 1 : any_value(c, type);

        put(values, part, k, v);
        put(dense, part, at->at[k / parts] * parts + k % parts, v);
        there[at->at[k / parts]] = true;
    }
    return (sparse_pair){
        .sparse  = rd_sparse(c->ctx, c->shape, { at->level, c->shape.n },
                            pattern ? NULL : array_of(c, values, type, RD_SHAPE(at->n)),
                             .fill   = rd_dtype_is_complex(type) ? NULL
                                                                 : rd_cast(rd_num(c->ctx, fill), type),
                             .stored = stored, .trusted = sparse_once(c, 4), .origin = c->origin),
        .dense   = at_origin(c, array_of(c, dense, type, c->shape)),
        .stored  = stored ? at_origin(c, array_of(c, there, RD_BOOL, c->shape)) : NULL,
        .most    = 8,
        .grain   = 0.5,
        .uniform = true,
        .axes    = ((uint64_t)1 << c->shape.n) - 1
    };
}

/* ---- Cases ----------------------------------------------------------------------------------- */
/* A long axis among short ones, or short ones. */
static void choose_shape(sparse_case *c)
{
    const int wide = sparse_once(c, 12) ? sparse_below(c, 3) : -1;

    c->shape.n = 1 + sparse_below(c, SPARSE_RANK);
    if (sparse_once(c, 2))
        c->shape.n = 2;
    for (int a = 0; a < c->shape.n; a++)
        c->shape.at[a] = sparse_once(c, 25)  ? 0
                         : sparse_once(c, 6) ? 1
                         : a == wide && c->shape.n < 4
                             ? 100 + sparse_below(c, 60)
                             : 1 + sparse_below(c, c->shape.n > 3 ? 3 : 6);
}

/* Of one case in five. */
static void choose_origin(sparse_case *c)
{
    if (!sparse_once(c, 5))
        return;
    c->origin.n = c->shape.n;
    for (int a = 0; a < c->shape.n; a++)
        c->origin.at[a] = sparse_once(c, 3) ? 0 : sparse_below(c, 9) - 4;
}

void sparse_case_begin(sparse_case *c, rd_ctx *ctx, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->ctx   = ctx;
    c->seed  = seed;
    c->state = seed * UINT64_C(0xd1342543de82ef95) + 1;
    choose_shape(c);
    choose_origin(c);
    for (int k = 0; k < SPARSE_LEAVES - 1; k++) {
        const bool same = k > 0 && sparse_once(c, 2);

        if (!same)
            make_places(c, &c->places[k]);
        c->leaf[k] = sparse_leaf(c, &c->places[same ? 0 : k], sparse_type(c));
    }
    c->leaf[SPARSE_LEAVES - 1] =
        sparse_beside(sparse_dense_leaf(c, sparse_type(c), c->shape), c->leaf[0].dense);
}

void sparse_case_end(sparse_case *c)
{
    for (int k = 0; k < c->n_block; k++)
        free(c->block[k]);
}
