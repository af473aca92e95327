/* random.c - random numbers as expressions of their index.  Element i is made of word i of the
 * key's stream (kernels/math/math_random.h).  So it is the same in a slice, on any thread, and
 * on a GPU.  A *word* is 64 random bits, the hash of a key and an index (Philox). */
#include "expr/expr.h"
#include "expr/origin.h"
#include <inttypes.h>

/* A call while it is built; begin() fills it in. */
typedef struct draw {
    const char *call; /* for failures */
    rd_ctx     *ctx;
    rd_dtype    type;  /* the result's type */
    uint64_t    key;   /* the caller's, which selects a stream of words */
    rd_expr    *index; /* flat, in C order, u64 */
} draw;

/* A constant of u64 and rank 0. */
static rd_expr *number(const draw *d, uint64_t value)
{
    return rd_number(d->ctx, RD_U64, (rd_word){ .u64 = value });
}

/* Makes a map of two operands. */
static rd_expr *map_2(const draw *d, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, d->call, 2, (rd_expr *const[]){ x, y });
}

/* Makes a map of one operand. */
static rd_expr *map_1(const draw *d, rd_op op, rd_expr *x)
{
    return rd_map_op(op, d->call, 1, &x);
}

/* x shifted right by so many bits. */
static rd_expr *shifted(const draw *d, rd_expr *x, uint64_t bits)
{
    return map_2(d, RD_OP_shift_right, x, number(d, bits));
}

/* The row-major index of each element of a shape, as u64.  NULL after recording what is wrong with
 * the shape. */
static rd_expr *flat_index(rd_ctx *ctx, const char *call, rd_shape shape)
{
    char    text[RD_SHAPE_TEXT];
    int64_t points;

    if (shape.n < 0 || shape.n > RD_MAX_RANK)
        return rd_fail(ctx, RD_ERR_SHAPE, "%s: the shape has rank %d, possible are 0 to %d", call,
                       (int)shape.n, RD_MAX_RANK);
    if ((points = rd_points(shape.n, shape.at)) < 0)
        return rd_fail(ctx, RD_ERR_SHAPE,
                       "%s: an extent is negative or the size overflows, shape %s", call,
                       rd_shape_text(shape.n, shape.at, text));
    rd_expr *line = rd_broadcast_to(rd_int(ctx, 0), 1, &points, call);
    return rd_reshape(rd_cast_to(rd_places(line, 0), RD_U64), shape);
}

/* Checks the arguments of a draw and fills in the rest of `d`: type, key and the flat index of each
 * element.  False after recording what is wrong; a ctx of NULL has nothing to record in. */
static bool begin(draw *d, rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type)
{
    if (!ctx)
        return false;
    if (rd_dtype_kind(type) != RD_KIND_FLOAT) {
        rd_fail(ctx, RD_ERR_TYPE, "%s: of type %s, it must be a float type", d->call,
                rd_dtype_name(type));
        return false;
    }
    d->ctx   = ctx;
    d->key   = key;
    d->type  = type;
    d->index = flat_index(ctx, d->call, shape);
    return d->index != NULL;
}

/* The random word of each index: 64 bits, the hash of the caller's key and the index (Philox). */
static rd_expr *random_words(const draw *d, rd_expr *index)
{
    return map_2(d, RD_OP_philox, index, number(d, d->key));
}

/* (x + more) * scale in a float type. x is below 2^63 and cast to i64 first, as vectors convert
 * signed ints only. */
static rd_expr *scaled(const draw *d, rd_expr *x, int64_t more, double scale, rd_dtype type)
{
    x = rd_cast_to(x, RD_I64);
    if (more)
        x = map_2(d, RD_OP_add, x, rd_int(d->ctx, more));
    return map_2(d, RD_OP_mul, rd_cast_to(x, type), rd_num(d->ctx, scale));
}

/* Random u64, each value as likely as any other: the words of the key's stream. */
rd_expr *rd_random_bits(rd_ctx *ctx, uint64_t key, rd_shape shape)
{
    draw d = { .call = "rd_random_bits" };

    return begin(&d, ctx, key, shape, RD_F64) ? random_words(&d, d.index) : NULL;
}

/* Uniform random numbers in [0, 1): the upper bits of each 64-bit word, as many (`digits`) as the
 * type's significand has, divided by 2^digits. */
rd_expr *rd_random_uniform(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type)
{
    draw d = { .call = "rd_random_uniform" };

    if (!begin(&d, ctx, key, shape, type))
        return NULL;
    const int digits = rd_dtype_fraction_bits(type) + 1;
    return scaled(&d, shifted(&d, random_words(&d, d.index), (uint64_t)(64 - digits)), /*more=*/0,
                  1 / (double)(INT64_C(1) << digits), type);
}

/* The type of the computation: f32 for narrow floats. */
static rd_dtype working_type(rd_dtype type)
{
    return rd_dtype_is_narrow_float(type) ? RD_F32 : type;
}

/* A uniform number in (0, 1], of which a logarithm can be taken, from a random word: (its upper
 * bits + 1) / 2^bits. f64 takes 53 bits. f32 takes 32, more than its significand, which makes it
 * finer near 0. */
static rd_expr *uniform_above_0(const draw *d, rd_expr *word)
{
    return working_type(d->type) == RD_F64
               ? scaled(d, shifted(d, word, 11), /*more=*/1, 0x1p-53, RD_F64)
               : scaled(d, shifted(d, word, 32), 1, 0x1p-32, RD_F32);
}

/* Exponential random numbers of mean 1: -log(u) for a uniform u in (0, 1]. */
rd_expr *rd_random_exponential(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type)
{
    draw d = { .call = "rd_random_exponential" };

    if (!begin(&d, ctx, key, shape, type))
        return NULL;
    rd_expr *log = map_1(&d, RD_OP_log, uniform_above_0(&d, random_words(&d, d.index)));
    /* 0 - log gives 0 for u = 1, not -0 */
    return rd_cast_to(map_2(&d, RD_OP_sub, rd_int(ctx, 0), log), type);
}

/* The angle 2 pi v of the Box-Muller transform (1958), from -pi on, for random words.  A normal
 * number is sqrt(-2 log u) cos(2 pi v). f64 takes two words for two elements, the cosine and the
 * sine of one angle. f32 takes u and v from one word, v from its lower half. */
static rd_expr *angle(const draw *d, rd_expr *word)
{
    const double turn = 6.283185307179586;

    if (working_type(d->type) == RD_F32)
        return scaled(d, map_2(d, RD_OP_bit_and, word, number(d, UINT32_MAX)), -(INT64_C(1) << 31),
                      turn * 0x1p-32, RD_F32);
    /* odd elements take the angle minus a quarter of a turn, which makes the sine */
    rd_expr *odd   = map_2(d, RD_OP_bit_and, d->index, number(d, 1));
    rd_expr *turns = map_2(d, RD_OP_sub, rd_cast_to(shifted(d, word, 11), RD_I64),
                           rd_cast_to(map_2(d, RD_OP_shift_left, odd, number(d, 51)), RD_I64));
    return scaled(d, turns, -(INT64_C(1) << 51), turn * 0x1p-53, RD_F64);
}

/* Normal random numbers of mean 0 and variance 1, by the Box-Muller transform.  Elements 2 k and 2
 * k + 1 of f64 are a pair and take the same two words: `first` of the even index, `second` of the
 * odd one.  Other types take one word for each element. */
rd_expr *rd_random_normal(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type)
{
    draw     d = { .call = "rd_random_normal" };
    rd_expr *first, *second;

    if (!begin(&d, ctx, key, shape, type))
        return NULL;
    first = second = random_words(&d, d.index);
    if (type == RD_F64) {
        first  = random_words(&d, map_2(&d, RD_OP_bit_and, d.index, number(&d, UINT64_MAX - 1)));
        second = random_words(&d, map_2(&d, RD_OP_bit_or, d.index, number(&d, 1)));
    }
    rd_expr *square =
        map_2(&d, RD_OP_mul, map_1(&d, RD_OP_log, uniform_above_0(&d, first)), rd_int(ctx, -2));
    rd_expr *y = map_2(&d, RD_OP_mul, map_1(&d, RD_OP_sqrt, square),
                       map_1(&d, RD_OP_cos, angle(&d, second)));
    return rd_cast_to(y, type);
}

/* The numbers 0 to n - 1 in random order: the argsort of random words.  Equal words, which are
 * rare, keep the order of their indices. */
static rd_expr *permutation(const char *call, rd_ctx *ctx, uint64_t key, int64_t n)
{
    draw d = { .call = call };

    return begin(&d, ctx, key, RD_SHAPE(n), RD_F64) ? rd_argsort(random_words(&d, d.index), 0)
                                                    : NULL;
}

/* The numbers 0 to n - 1 in random order, i64. */
rd_expr *rd_permutation(rd_ctx *ctx, uint64_t key, int64_t n)
{
    return permutation("rd_permutation", ctx, key, n);
}

/* x with the elements of an axis in random order, the same for all other indices. */
rd_expr *rd_shuffle(rd_expr *x, int axis, uint64_t key)
{
    const char *call = "rd_shuffle";
    const int   a    = rd_operands(call, 1, &x) ? rd_axis(x, axis, call) : -1;

    return a < 0 ? NULL : rd_take_places(x, a, permutation(call, x->ctx, key, x->extent[a]));
}

/* The upper 64 bits of the 128-bit product word * n, by schoolbook multiplication of 32-bit halves.
 * If the upper half of n is 0, two of the four products are left out. */
static rd_expr *upper_product(const draw *d, rd_expr *word, uint64_t n)
{
    rd_expr *high  = shifted(d, word, 32);
    rd_expr *low   = map_2(d, RD_OP_bit_and, word, number(d, UINT32_MAX));
    rd_expr *n_low = number(d, n & UINT32_MAX), *n_high = number(d, n >> 32);
    rd_expr *middle = map_2(d, RD_OP_add, map_2(d, RD_OP_mul, high, n_low),
                            shifted(d, map_2(d, RD_OP_mul, low, n_low), 32));

    if (n >> 32 == 0)
        return shifted(d, middle, 32);
    rd_expr *other = map_2(d, RD_OP_add, map_2(d, RD_OP_mul, low, n_high),
                           map_2(d, RD_OP_bit_and, middle, number(d, UINT32_MAX)));
    rd_expr *top   = map_2(d, RD_OP_add, map_2(d, RD_OP_mul, high, n_high), shifted(d, middle, 32));
    return map_2(d, RD_OP_add, top, shifted(d, other, 32));
}

/* Random ints from low to below high: low + the upper 64 bits of (random word * (high - low)).
 * This is Lemire's multiplication without rejection, so values may differ in frequency by one part
 * in 2^64 / (high - low). */
rd_expr *rd_random_integers(rd_ctx *ctx, uint64_t key, rd_shape shape, int64_t low, int64_t high)
{
    draw d = { .call = "rd_random_integers" };

    if (!begin(&d, ctx, key, shape, RD_F64))
        return NULL;
    if (low >= high)
        return rd_fail(ctx, RD_ERR_ARGUMENT,
                       "%s: from %" PRId64 " to below %" PRId64 " there is no number", d.call, low,
                       high);
    rd_expr *y = upper_product(&d, random_words(&d, d.index), (uint64_t)high - (uint64_t)low);
    return map_2(&d, RD_OP_add, rd_cast_to(y, RD_I64), rd_int(ctx, low));
}
