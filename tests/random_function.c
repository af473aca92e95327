/* random_function.c - the user's functions: text, RD_FN, plain C, and callbacks of blocks. */
#include "random_expr.h"

/* ---- Functions ---------------------------------------------------------------------------------
 * Monotone or with bounded slope, so that the oracle can tell how far a rounded operand moves
 * them. */

RD_FN1(softsign, x, x / (1 + abs(x)))
RD_FN1(leaky, x, x > 0 ? x : 0.25 * x)
RD_FN2(rbf, d2, h, exp(-min(abs(d2), 60) / (2 * h * h + 1)))
RD_FN3(lerp, a, b, t, a + (b - a) * t)

static inline double halved(double x)
{
    return x / 2;
}
/* A text that only the C compiler can read. */
RD_FN1(opaque, x, halved(x) + 1)

static double third(double x)
{
    return x / 3;
}

static float offset_f32(float x)
{
    return x + 0.5f;
}

static double mix(double x, double y)
{
    return 0.25 * x + 0.75 * y;
}

static float mix_f32(float x, float y)
{
    return 0.5f * x - y;
}

static const char *scale_block(void *user, int64_t n, const void *const *in, void *out)
{
    const double *x = in[0], factor = *(const double *)user;

    for (int64_t i = 0; i < n; i++)
        ((double *)out)[i] = factor * x[i];
    return NULL;
}

static const char *parity_block(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)out)[i] = ((const int32_t *)in[0])[i] & 1;
    return NULL;
}

static const char *sum_block(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    for (int64_t i = 0; i < n; i++)
        ((float *)out)[i] =
            ((const float *)in[0])[i] + ((const float *)in[1])[i] - ((const float *)in[2])[i];
    return NULL;
}

static double      factor = 0.75;
static const rd_fn scale  = { .size  = sizeof(rd_fn),
                              .arity = 1,
                              .name  = "scale",
                              .block = scale_block,
                              .user  = &factor,
                              .in    = RD_F64,
                              .out   = RD_F64 };
static const rd_fn parity = { .size  = sizeof(rd_fn),
                              .arity = 1,
                              .name  = "parity",
                              .block = parity_block,
                              .in    = RD_I32,
                              .out   = RD_I64 };
static const rd_fn sum_of = { .size  = sizeof(rd_fn),
                              .arity = 3,
                              .name  = "sum_of",
                              .block = sum_block,
                              .in    = RD_F32,
                              .out   = RD_F32 };

/* ---- Steps ----------------------------------------------------------------------------------- */

static void by_text(random_pool *pool, rd_expr *x)
{
    static const char *const one[]   = { "x > 0 ? x : 0",
                                         "abs(x) + 1",
                                         "exp(-min(abs(x), 20))",
                                         "x * x - 0.5 * x + 2",
                                         "sqrt(abs(x))",
                                         "(x > 1 && x < 3) || x == 0",
                                         "!(x >= 0)",
                                         "tanh(x)",
                                         "max(x, 0.25)",
                                         "-x % 5",
                                         "v: v / (1 + v ^ 2)",
                                         "sin",
                                         "2 * pi" };
    static const char *const two[]   = { "x + 2 * y", "x > y ? x - y : y - x",  "min(x, y) * 0.5",
                                         "x * y + 1", "a, b: a / (abs(b) + 1)", "hypot" };
    static const char *const three[] = { "x * y + z", "x > 0 ? y : z", "a, b, c: a - b * c" };
    rd_expr                 *y = random_partner(pool, x), *z = random_partner(pool, x);

    switch (random_below(pool, 5)) {
    case 0: random_keep(pool, rd_map2(x, y, two[random_below(pool, 6)]), "text of 2"); break;
    case 1:
        random_keep(pool, rd_mapn(three[random_below(pool, 3)], RD_EXPRS(x, y, z)), "text of 3");
        break;
    default: random_keep(pool, rd_map(x, one[random_below(pool, 13)]), "text"); break;
    }
}

static void by_descriptor(random_pool *pool, rd_expr *x)
{
    rd_expr *y = random_partner(pool, x), *z = random_partner(pool, x);

    switch (random_below(pool, 5)) {
    case 0: random_keep(pool, rd_map(x, softsign), "softsign"); break;
    case 1: random_keep(pool, rd_map(x, leaky), "leaky"); break;
    case 2: random_keep(pool, rd_map2(x, y, rbf), "rbf"); break;
    case 3: random_keep(pool, rd_mapn(lerp, RD_EXPRS(x, y, z)), "lerp"); break;
    default: random_keep(pool, rd_map(x, opaque), "opaque"); break;
    }
}

static void by_pointer(random_pool *pool, rd_expr *x)
{
    rd_expr *y = random_partner(pool, x);

    switch (random_below(pool, 6)) {
    case 0: random_keep(pool, rd_map(x, third), "double f(double)"); break;
    case 1: random_keep(pool, rd_map(x, offset_f32), "float f(float)"); break;
    case 2: random_keep(pool, rd_map2(x, y, mix), "double f(double, double)"); break;
    case 3: random_keep(pool, rd_map2(x, y, mix_f32), "float f(float, float)"); break;
    case 4: random_keep(pool, rd_map(rd_abs(x), sqrtf), "sqrtf"); break;
    default: random_keep(pool, rd_map2(x, y, hypot), "hypot"); break;
    }
}

static void by_block(random_pool *pool, rd_expr *x)
{
    rd_expr *y = random_partner(pool, x), *z = random_partner(pool, x);

    switch (random_below(pool, 3)) {
    case 0: random_keep(pool, rd_map(x, &scale), "block f64"); break;
    case 1: random_keep(pool, rd_map(x, &parity), "block i32 to i64"); break;
    default: random_keep(pool, rd_mapn(&sum_of, RD_EXPRS(x, y, z)), "block of 3"); break;
    }
}

void random_function(random_pool *pool)
{
    rd_expr      *x      = random_pick(pool)->x;
    const int64_t choice = random_below(pool, 10);

    if (choice < 4)
        by_text(pool, x);
    else if (choice < 6)
        by_descriptor(pool, x);
    else if (choice < 8)
        by_pointer(pool, x);
    else
        by_block(pool, x);
}
