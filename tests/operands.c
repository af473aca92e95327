/* operands.c - arrays of three axes as expressions. */
#include "operands.h"
#include <math.h>

const rd_shape operand_shapes[N_SHAPES] = {
    { 3, 0, { 5, 37, 67 } },  { 3, 0, { 3, 1, 500 } },  { 3, 0, { 1, 1, 2 } },
    { 3, 0, { 130, 3, 1 } },  { 3, 0, { 70, 70, 3 } },  { 3, 0, { 3, 65, 64 } },
    { 3, 0, { 300, 2, 17 } }, { 3, 0, { 2, 3, 4097 } }, { 3, 0, { 67, 1, 128 } },
};

const rd_dims operand_axes[N_AXES] = { { 1, 0, { 0 } },
                                       { 1, 0, { 1 } },
                                       { 1, 0, { 2 } },
                                       { 2, 0, { 0, 1 } },
                                       { 2, 0, { 0, 2 } },
                                       { 2, 0, { 1, 2 } },
                                       { 0, RD_DIMS_EXCEPT, { 0 } } };

const nest_share operand_shares[N_SHARES] = { { 1, 0 }, { 3, 0 }, { 1, 1 }, { 3, 2 } };

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

static uint64_t state = 1;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 11;
}

/* ---- Values ---------------------------------------------------------------------------------- */
static rd_word extreme(rd_dtype type, bool most)
{
    const int bits = 8 * rd_dtype_size(type);

    switch (rd_dtype_kind(type)) {
    case RD_KIND_FLOAT: return rd_word_from_double(most ? INFINITY : -INFINITY, type);
    case RD_KIND_BOOL: return rd_word_from_int(most, type);
    case RD_KIND_UINT: return (rd_word){ .u64 = most ? UINT64_MAX >> (64 - bits) : 0 };
    default: return (rd_word){ .i64 = most ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits) };
    }
}

static rd_word value(rd_dtype type, operand_values v)
{
    const uint64_t any = next();

    switch (v) {
    case TIES: return rd_word_from_int((int64_t)(any % 3), type);
    case NANS:
        return is_float(type) ? rd_word_from_double(any % 3 ? (double)(any % 7) - 3 : NAN, type)
                              : rd_word_from_int((int64_t)(any % 7), type);
    case MOST: return extreme(type, true);
    case LEAST: return extreme(type, false);
    case MOST_OR_NAN:
        return is_float(type) && any % 3 == 0 ? rd_word_from_double(NAN, type)
                                              : extreme(type, true);
    case ZEROS: return rd_word_from_double(is_float(type) && any % 2 ? -0.0 : 0.0, type);
    default: return rd_word_from_int(0, type);
    }
}

static void fill(const tile_memory *m, int32_t slot, operand_values v)
{
    const rd_dtype type = m->slot[slot].type;

    for (int64_t i = 0; v != NUMBERS && v != UGLIES && i < m->slot[slot].n; i++)
        rd_word_store(m->slot[slot].before + i * rd_dtype_size(type), type, value(type, v));
}

/* ---- Layouts --------------------------------------------------------------------------------- */
/* The shape in memory, so that a view of it has that of `s`. */
static rd_shape in_memory(operand_layout l, const rd_shape *s)
{
    const int64_t a = s->at[0], b = s->at[1], c = s->at[2];

    switch (l) {
    case TURNED: return RD_SHAPE(c, b, a);
    case SWAPPED: return RD_SHAPE(a, c, b);
    case EVERY_OTHER: return RD_SHAPE(a, b, 2 * c);
    case EVERY_OTHER_ROW: return RD_SHAPE(2 * a, b, c);
    case FROM_ONE: return RD_SHAPE(a, b, c + 1);
    default: return *s;
    }
}

static rd_expr *seen_as(operand_layout l, rd_expr *x)
{
    switch (l) {
    case TURNED: return rd_permute(x, RD_INDEX(2, 1, 0));
    case SWAPPED: return rd_permute(x, RD_INDEX(0, 2, 1));
    case EVERY_OTHER: return rd_slice(x, "..., ::2");
    case EVERY_OTHER_ROW: return rd_slice(x, "1::2");
    case BACKWARDS: return rd_slice(x, "::-1, ::-1, ::-1");
    case FROM_ONE: return rd_slice(x, "..., 1:");
    case COMPUTED: return rd_type_of(x) == RD_BOOL ? rd_not(x) : rd_neg(x);
    default: return x;
    }
}

rd_expr *operand_of(tile_memory *m, rd_dtype type, const rd_shape *s, operand_layout l,
                    operand_values v)
{
    const rd_shape shape = in_memory(l, s);
    rd_expr       *x     = nest_leaf(m, type, shape, v == UGLIES ? UGLY : ORDINARY);

    fill(m, m->n - 1, v);
    return seen_as(l, x);
}

/* ---- Masks ----------------------------------------------------------------------------------- */
const operand_mask operand_masks[N_MASKS] = {
    { "skip_nan", -1, -1, true, RD_BOOL },      { "none", 0, -1, false, RD_BOOL },
    { "all", 1, -1, false, RD_BOOL },           { "half", 2, -1, false, RD_BOOL },
    { "rare", 500, -1, false, RD_BOOL },        { "half along 0", 2, 0, false, RD_BOOL },
    { "half along 1", 2, 1, false, RD_BOOL },   { "half along 2", 2, 2, false, RD_BOOL },
    { "half, skip_nan", 2, -1, true, RD_BOOL }, { "numbers", 3, -1, false, RD_I16 },
    { "rare along 2", 40, 2, false, RD_BOOL },  { "greater than 0", -1, -1, false, RD_BOOL },
};

rd_expr *operand_mask_of(tile_memory *m, int k, const rd_shape *whole, operand_layout l, rd_expr *x)
{
    const operand_mask *mask = &operand_masks[k];
    const int64_t       size = rd_dtype_size(mask->type);
    rd_shape            s    = *whole;

    if (mask->one_in < 0)
        return mask->skip_nan ? NULL : rd_gt(x, rd_int(x->ctx, 0));
    if (mask->along >= 0)
        s.at[mask->along] = 1;
    l            = l == COMPUTED ? DENSE : l;
    rd_expr  *w  = nest_leaf(m, mask->type, in_memory(l, &s), FLAGS);
    const int at = m->n - 1;

    for (int64_t i = 0; i < m->slot[at].n; i++)
        rd_word_store(
            m->slot[at].before + i * size, mask->type,
            rd_word_from_int(mask->one_in && next() % (uint64_t)mask->one_in == 0, mask->type));
    return seen_as(l, w);
}
