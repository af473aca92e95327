/* function.c - function text: rd_mapn() of a text, or the code of an rd_fn, on small operands of several types.
 *
 * The first byte says whether it is an rd_fn, the second which operands there are; the text follows.  A text is
 * refused with one sentence, or its nodes are what the oracle says, by vector kernels and by the reference.  An
 * rd_fn whose code cannot be read has its C functions. */
#include "fuzz/bytes.h"
#include "fuzz/driver.h"
#include "oracle.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { N = 6, MOST_OPERANDS = 4, TYPES = 8, MOST_NODES = 400 };

const char *const rd_fuzz_words[] = { "x",      "y",       "z",         "w",
                                      "a, b: ", "x: ",     "? ",        ": ",
                                      "(",      ")",       "exp(",      "log1p(",
                                      "sqrtf(", "min(",    "fmod(",     "pow(x, ",
                                      "^",      "%",       "/",         "==",
                                      "<=",     "&&",      "||",        "!",
                                      "-",      "clip(x",  "where(",    "atan2(",
                                      "round(", "tgamma(", "copysign(", "pi",
                                      "true",   "false",   "0.5f",      "1e300",
                                      "1e-320", "2",       "-1",        "2147483648",
                                      "255",    "010",     "1.",        ".5",
                                      "1e5",    "philox(", "cast(",     "nextafter(",
                                      "hypot(", "is_nan(", "square(",   "9223372036854775807",
                                      NULL };

static const float    f32[N] = { 0.5f, -0.0f, NAN, INFINITY, -3, FLT_MAX };
static const double   f64[N] = { -1.25, 0, 1e-310, -INFINITY, NAN, 7 };
static const int32_t  i32[N] = { 0, 1, -1, INT32_MIN, INT32_MAX, 12 };
static const int64_t  i64[N] = { 3, -2, 0, INT64_MIN, INT64_MAX, -1 };
static const uint8_t  u8[N]  = { 0, 1, 2, 127, 128, 255 };
static const bool     b8[N]  = { true, false, false, true, true, false };
static const uint16_t f16[N] = { 0x3c00, 0x8000, 0x7e00, 0x7c00, 0x0001, 0xc4d2 };
static const uint64_t u64[N] = { 0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, 10 };

/* ---- Operands ------------------------------------------------------------------------------------ */
static rd_expr *operand(rd_ctx *ctx, int type, bool column)
{
    static const struct {
        rd_dtype    type;
        const void *data;
    } rows[TYPES]  = { { RD_F32, f32 }, { RD_F64, f64 }, { RD_I32, i32 }, { RD_I64, i64 },
                       { RD_U8, u8 },   { RD_BOOL, b8 }, { RD_F16, f16 }, { RD_U64, u64 } };
    rd_array array = { .in = rows[type].data, .type = rows[type].type };

    array.shape = column ? RD_SHAPE(3, 1) : RD_SHAPE(N);
    return rd_leaf(ctx, &array);
}

/* How an operand begins: 0 to 7 its type, 8 a number, 16 a column. */
static rd_exprs read_operands(rd_ctx *ctx, fuzz_bytes *in, rd_expr **x)
{
    const int n = 1 + fuzz_below(in, MOST_OPERANDS);

    for (int k = 0; k < n; k++) {
        const uint8_t kind = fuzz_byte(in);

        x[k] = kind & 8 && kind & 16 ? rd_int(ctx, kind >> 5)
               : kind & 8            ? rd_num(ctx, 0.75 * (kind >> 5))
                                     : operand(ctx, kind % TYPES, kind & 16);
    }
    return (rd_exprs){ x, n };
}

/* ---- Functions ----------------------------------------------------------------------------------- */
/* What C makes of a text that rdim cannot read: here the first operand. */
static void first_f32(int64_t n, const float *const *in, float *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = in[0][i];
}

static void first_f64(int64_t n, const double *const *in, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = in[0][i];
}

static rd_expr *of_code(const char *code, rd_exprs x)
{
    const rd_fn f = { .size  = sizeof f,
                      .arity = x.n,
                      .name  = "fuzzed",
                      .text  = "first",
                      .code  = code,
                      .f32   = first_f32,
                      .f64   = first_f64 };

    return rd_mapn(&f, x);
}

/* ---- Checks -------------------------------------------------------------------------------------- */
/* Nodes below x; those of one text are few, but the oracle goes through each as often as it is read. */
static int count_nodes(const rd_expr *x, int most)
{
    int n = 1;

    for (int k = 0; k < x->n_in && n < most; k++)
        n += count_nodes(x->in[k], most - n);
    return n;
}

static void compare(const rd_expr *x, const rd_array *out)
{
    oracle       *o    = oracle_new();
    const int64_t n    = rd_points(x->rank, x->extent);
    const int64_t size = rd_dtype_size(x->type);
    char          why[ORACLE_WHY];

    for (int64_t i = 0; i < n; i++) {
        int64_t      index[RD_MAX_RANK], rest = i;
        oracle_value want;

        for (int a = x->rank - 1; a >= 0; rest /= x->extent[a--])
            index[a] = rest % x->extent[a];
        if (!oracle_at(o, x, index, &want))
            fuzz_wrong("the oracle refuses what was evaluated");
        if (!oracle_matches(&want, (const char *)out->data + i * size, x->type, why))
            fuzz_wrong("element %" PRId64 ": %s", i, why);
    }
    oracle_free(o);
}

static bool has_call(const rd_expr *x)
{
    bool call = x->kind == RD_EXPR_CALL;

    for (int k = 0; k < x->n_in && !call; k++)
        call = has_call(x->in[k]);
    return call;
}

/* The shape that all operands have together. */
static bool right_shape(const rd_expr *y, rd_exprs x)
{
    int64_t extent[2] = { 1, 1 };
    int     rank      = 0;

    for (int k = 0; k < x.n; k++) {
        const rd_shape s = rd_shape_of(x.at[k]);

        rank = s.n > rank ? s.n : rank;
        for (int a = 0; a < s.n; a++)
            if (s.at[s.n - 1 - a] > extent[a])
                extent[a] = s.at[s.n - 1 - a];
    }
    for (int a = 0; a < rank; a++)
        if (y->rank != rank || y->extent[rank - 1 - a] != extent[a])
            return false;
    return y->rank == rank;
}

static void try_text(rd_ctx *ctx, fuzz_bytes *in)
{
    const uint8_t  kind = fuzz_byte(in);
    rd_expr       *x[MOST_OPERANDS];
    const rd_exprs operands = read_operands(ctx, in, x);
    char          *text     = fuzz_text(in, '\0');
    rd_expr       *y        = kind % 2 ? of_code(text, operands) : rd_mapn(text, operands);
    rd_array       out;

    if (!y)
        fuzz_refusal(ctx, "rd_map");
    else if (rd_error(ctx) != RD_OK)
        fuzz_wrong("a node and an error");
    else if (!right_shape(y, operands))
        fuzz_wrong("the result has another shape than the operands");
    else if (count_nodes(y, MOST_NODES) < MOST_NODES) {
        const bool ok = fuzz_evaluate(ctx, y, &out);

        if (ok && !has_call(y))
            compare(y, &out);
        rd_array_free(&out);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_bytes in  = { bytes, bytes + n };
    rd_ctx    *ctx = fuzz_context();

    try_text(ctx, &in);
    fuzz_context_end(ctx);
    return 0;
}
