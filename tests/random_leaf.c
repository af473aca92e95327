/* random_leaf.c - leaves: any type, any strides, memory without slack, data that is easy and data
 * that is not. */
#include "random_expr.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rd_dtype types[] = { RD_F32, RD_F64, RD_I32, RD_I64, RD_BOOL, RD_I8,  RD_I16,
                                  RD_U8,  RD_U16, RD_U32, RD_U64, RD_F16,  RD_BF16 };

rd_dtype random_type(random_pool *pool)
{
    const int64_t choice = random_below(pool, 20);

    if (pool->smooth && choice < 17)
        return RD_F64;
    if (choice < 6)
        return RD_F32;
    if (choice < 11)
        return RD_F64;
    if (choice < 13) /* seeds without these leaves make what they made before f8e4m3 came */
        return choice < 12 ? RD_F16 : RD_F8;
    return types[random_below(pool, (int64_t)(sizeof types / sizeof *types))];
}

/* ---- Data ------------------------------------------------------------------------------------ */

typedef enum kind_of_data {
    SMALL_INTS,
    DYADIC,
    SYMMETRIC,
    POSITIVE,
    WIDE,
    EQUAL,
    SPECIALS,
    N_KINDS
} kind_of_data;

static double special(random_pool *pool, rd_dtype type)
{
    const oracle_float f      = oracle_float_of(type);
    const double       list[] = { NAN,
                                  INFINITY,
                                  -INFINITY,
                                  -0.0,
                                  0.0,
                                  (double)f.tiny * 3,
                                  -(double)sqrtl(f.max) * 100,
                                  (double)f.max };

    return list[random_below(pool, 8)];
}

static double real(random_pool *pool, kind_of_data kind, rd_dtype type)
{
    switch (kind) {
    case SMALL_INTS: return (double)(random_below(pool, 9) - 4);
    case DYADIC: return (double)(random_below(pool, 129) - 64) / 16;
    case SYMMETRIC: return random_uniform(pool, -1, 1);
    case POSITIVE: return random_uniform(pool, 0.1, 2);
    case WIDE: return random_uniform(pool, -1, 1) * exp2((double)random_below(pool, 16));
    case EQUAL: return 1.5;
    default: return random_once(pool, 12) ? special(pool, type) : random_uniform(pool, -3, 3);
    }
}

/* Bits of an int element; the low ones count. */
static uint64_t integer(random_pool *pool, kind_of_data kind, rd_dtype type)
{
    const uint64_t small = (uint64_t)random_below(pool, 9) - (type >= RD_U8 ? 0 : 4);

    switch (kind) {
    case EQUAL: return 3;
    case WIDE: return random_bits(pool);
    case SPECIALS:
        return random_once(pool, 3)
                   ? small
                   : ((uint64_t)random_below(pool, 5) - 2) ^ (uint64_t)1 << random_below(pool, 64);
    default: return small;
    }
}

static void fill(random_pool *pool, void *memory, int64_t n, rd_dtype type)
{
    const kind_of_data any  = (kind_of_data)random_below(pool, N_KINDS);
    const kind_of_data kind = pool->smooth ? any % 2 ? SYMMETRIC : POSITIVE : any;
    const int          size = rd_dtype_size(type);
    char              *p    = memory;

    for (int64_t i = 0; i < n; i++, p += size) {
        oracle_value v = { .type = type };
        if (rd_dtype_kind(type) == RD_KIND_FLOAT)
            v.v = real(pool, kind, type);
        else if (type == RD_BOOL)
            v.n = kind == EQUAL || random_below(pool, 3) > 0;
        else
            v.n = (__int128)integer(pool, kind, type);
        oracle_store(p, type, &v);
    }
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Axes in random order in memory; each may be spread, padded, reversed, or stand still. */
static void random_strides(random_pool *pool, rd_array *a)
{
    int     order[RD_MAX_RANK];
    int64_t step = random_once(pool, 3) ? 1 + random_below(pool, 3) : 1;

    for (int k = 0; k < a->shape.n; k++) {
        const int j = (int)random_below(pool, k + 1);
        order[k]    = order[j];
        order[j]    = k;
    }
    a->strides.n = a->shape.n;
    for (int k = 0; k < a->shape.n; k++) {
        int64_t *stride = &a->strides.at[order[k]];
        *stride         = random_once(pool, 8) ? 0 : random_once(pool, 5) ? -step : step;
        if (*stride)
            step = step * (a->shape.at[order[k]] > 0 ? a->shape.at[order[k]] : 1) +
                   (random_once(pool, 4) ? random_below(pool, 4) : 0);
    }
}

/* Elements that the strides reach below and above element [0, ..., 0]. */
static int64_t reach(const rd_array *a, int64_t *below)
{
    int64_t stride[RD_MAX_RANK], above = 0;

    *below = 0;
    if (a->strides.n)
        memcpy(stride, a->strides.at, sizeof stride);
    else
        rd_dense_strides(a->shape.n, a->shape.at, a->order, stride);
    for (int k = 0; k < a->shape.n; k++) {
        const int64_t far = stride[k] * (a->shape.at[k] - 1);
        if (a->shape.at[k] == 0)
            return *below = 0;
        *(far < 0 ? below : &above) += far < 0 ? -far : far;
    }
    return *below + above + 1;
}

/* The block's memory becomes a leaf, or an input in pools that have them. */
static rd_expr *leaf_of(random_pool *pool, random_block *block)
{
    char name[16];

    block->input = pool->inputs && random_once(pool, 2);
    if (!block->input)
        return rd_leaf(pool->ctx, &block->layout);
    snprintf(name, sizeof name, "in%d", (int)(block - pool->block));
    rd_array layout = block->layout;
    layout.data     = NULL;
    return rd_input(pool->ctx, name, &layout);
}

static rd_expr *add_block(random_pool *pool, const rd_array *layout)
{
    random_block *block = &pool->block[pool->n_block];
    int64_t       below, n = reach(layout, &below);
    const int     size = rd_dtype_size(layout->type);

    *block             = (random_block){ .layout = *layout, .bytes = n * size };
    block->memory      = malloc((size_t)(n > 0 ? n * size : 1));
    block->layout.data = (char *)block->memory + below * size;
    fill(pool, block->memory, n, layout->type);
    block->leaf = leaf_of(pool, block);
    if (block->leaf && block->input)
        oracle_bind(pool->oracle, block->leaf, block->layout.data);
    pool->n_block++;
    return block->leaf;
}

rd_expr *random_leaf(random_pool *pool, int rank, const int64_t *extent, rd_dtype type)
{
    rd_array layout = { .type = type, .shape.n = rank };

    if (pool->n_block == RANDOM_BLOCKS)
        return pool->node[0].x;
    for (int a = 0; a < rank; a++)
        layout.shape.at[a] = extent[a];
    if (rank > 0 && random_once(pool, 2))
        random_strides(pool, &layout);
    else
        layout.order = random_once(pool, 4);
    return random_keep(pool, add_block(pool, &layout), "leaf");
}

rd_expr *random_index_leaf(random_pool *pool, int rank, const int64_t *extent, int64_t lo,
                           int64_t hi)
{
    rd_array layout = { .type = lo < 0 || random_once(pool, 2) ? RD_I64 : RD_U16, .shape.n = rank };
    random_block *block = &pool->block[pool->n_block];
    rd_expr      *leaf;

    if (pool->n_block == RANDOM_BLOCKS || lo >= hi)
        return NULL;
    if (lo < 0 && lo > -100 && hi < 100 && random_once(pool, 2))
        layout.type = random_once(pool, 2) ? RD_I8 : RD_I32;
    for (int a = 0; a < rank; a++)
        layout.shape.at[a] = extent[a];
    if (!(leaf = add_block(pool, &layout)))
        return NULL;
    for (int64_t i = 0; i < block->bytes / rd_dtype_size(layout.type); i++)
        oracle_store((char *)block->memory + i * rd_dtype_size(layout.type), layout.type,
                     &(oracle_value){ .n = lo + random_below(pool, hi - lo) });
    return leaf;
}

rd_expr *random_row_leaf(random_pool *pool, int64_t n, const int64_t *value)
{
    random_block  *block = &pool->block[pool->n_block];
    const rd_dtype type  = random_once(pool, 2) ? RD_I32 : RD_I64;
    const int      size  = rd_dtype_size(type);

    if (pool->n_block == RANDOM_BLOCKS)
        return NULL;
    *block = (random_block){ .layout = { .type = type, .shape = RD_SHAPE(n) }, .bytes = n * size };
    block->memory = block->layout.data = malloc((size_t)(n > 0 ? n * size : 1));
    for (int64_t i = 0; i < n; i++)
        oracle_store((char *)block->memory + i * size, type, &(oracle_value){ .n = value[i] });
    pool->n_block++;
    return block->leaf = rd_leaf(pool->ctx, &block->layout);
}

/* A shape cut from the pool's: leading axes dropped, axes of extent 1; or another altogether. */
static int cut_shape(random_pool *pool, int64_t *extent)
{
    const int drop =
        random_once(pool, 4) && pool->rank > 0 ? (int)random_below(pool, pool->rank + 1) : 0;

    if (random_once(pool, 12)) {
        extent[0] = 1 + random_below(pool, 9);
        extent[1] = 1 + random_below(pool, 9);
        return (int)random_below(pool, 3);
    }
    for (int a = drop; a < pool->rank; a++)
        extent[a - drop] = random_once(pool, 10) ? 1 : pool->extent[a];
    return pool->rank - drop;
}

void random_first_leaves(random_pool *pool)
{
    int64_t extent[6];

    random_leaf(pool, pool->rank, pool->extent, random_type(pool));
    for (int64_t i = random_below(pool, 4); i > 0; i--) {
        const int rank = cut_shape(pool, extent);
        random_leaf(pool, rank, extent, random_type(pool));
    }
    if (random_once(pool, 12))
        random_keep(pool, rd_int(pool->ctx, random_below(pool, 100)), "int");
    if (pool->n_node == 0) /* every step needs a node */
        random_keep(pool, rd_num(pool->ctx, 2.5), "num");
}
