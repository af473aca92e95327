/* Maps as they are built: types, shapes, numbers, function text and callers' functions.  Nothing is
 * evaluated; as equal nodes are one node, what two ways of writing mean is compared by address. */
#include "expr/expr.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* An input named by type and shape, so that asking twice gives the same one. */
static rd_expr *input(rd_dtype type, rd_shape shape)
{
    char name[64], text[RD_SHAPE_TEXT];

    snprintf(name, sizeof name, "%s%.40s", rd_dtype_name(type),
             rd_shape_text(shape.n, shape.at, text));
    return rd_input(ctx, name, &(rd_array){ .type = type, .shape = shape });
}

static rd_expr *vector(rd_dtype type)
{
    return input(type, RD_SHAPE(3));
}

static void ck_no_error(const char *what)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s: %s", what, rd_error_text(ctx));
}

/* The failure was recorded, its sentence has the words; then it is forgotten. */
static void ck_failed(const void *y, rd_status status, const char *words, const char *what)
{
    ck_assert_msg(!y, "%s: is not refused", what);
    ck_assert_msg(rd_error(ctx) == status, "%s: %s: %s", what, rd_status_name(rd_error(ctx)),
                  rd_error_text(ctx));
    ck_assert_msg(strstr(rd_error_text(ctx), words) != NULL, "%s: \"%s\" lacks \"%s\"", what,
                  rd_error_text(ctx), words);
    rd_error_clear(ctx);
}

/* ---- Types ----------------------------------------------------------------------------------- */
enum { NUM = 100, INT }; /* operands of weak type */

static rd_expr *operand(int type)
{
    return type == NUM ? rd_num(ctx, 0.5) : type == INT ? rd_int(ctx, 2) : vector((rd_dtype)type);
}

typedef rd_expr *map_1(rd_expr *);
typedef rd_expr *map_2(rd_expr *, rd_expr *);

static const struct {
    const char *what;
    map_1      *f;
    int         x, want;
} type_1_cases[] = {
    { "neg i8", rd_neg, RD_I8, RD_I8 },           { "neg bool", rd_neg, RD_BOOL, RD_I64 },
    { "neg u32", rd_neg, RD_U32, RD_U32 },        { "abs f32", rd_abs, RD_F32, RD_F32 },
    { "square u16", rd_square, RD_U16, RD_U16 },  { "sign bool", rd_sign, RD_BOOL, RD_I64 },
    { "sqrt f32", rd_sqrt, RD_F32, RD_F32 },      { "sqrt i8", rd_sqrt, RD_I8, RD_F64 },
    { "exp bool", rd_exp, RD_BOOL, RD_F64 },      { "tanh f64", rd_tanh, RD_F64, RD_F64 },
    { "erf u8", rd_erf, RD_U8, RD_F64 },          { "erf f32", rd_erf, RD_F32, RD_F32 },
    { "floor f32", rd_floor, RD_F32, RD_F32 },    { "floor i16", rd_floor, RD_I16, RD_I16 },
    { "round bool", rd_round, RD_BOOL, RD_BOOL }, { "not f64", rd_not, RD_F64, RD_BOOL },
    { "isnan f32", rd_isnan, RD_F32, RD_BOOL },   { "isfinite i32", rd_isfinite, RD_I32, RD_BOOL },
    { "neg num", rd_neg, NUM, RD_F64 },           { "neg int", rd_neg, INT, RD_I64 },
    { "sqrt int", rd_sqrt, INT, RD_F64 },         { "not int", rd_not, INT, RD_BOOL },
};

START_TEST(type_of_one)
{
    rd_expr *y = type_1_cases[_i].f(operand(type_1_cases[_i].x));

    ck_assert_msg((int)rd_type_of(y) == type_1_cases[_i].want, "%s: %s", type_1_cases[_i].what,
                  rd_dtype_name(rd_type_of(y)));
    ck_no_error(type_1_cases[_i].what);
}
END_TEST

static const struct {
    const char *what;
    map_2      *f;
    int         x, y, want;
} type_2_cases[] = {
    { "add i8 i8", rd_add, RD_I8, RD_I8, RD_I8 },
    { "add i8 u8", rd_add, RD_I8, RD_U8, RD_I16 },
    { "add i32 u32", rd_add, RD_I32, RD_U32, RD_I64 },
    { "add i64 u64", rd_add, RD_I64, RD_U64, RD_F64 },
    { "add bool bool", rd_add, RD_BOOL, RD_BOOL, RD_I64 },
    { "add bool u8", rd_add, RD_BOOL, RD_U8, RD_U8 },
    { "add i32 f32", rd_add, RD_I32, RD_F32, RD_F64 },
    { "add u8 f32", rd_add, RD_U8, RD_F32, RD_F32 },
    { "add f32 f64", rd_add, RD_F32, RD_F64, RD_F64 },
    { "sub u8 u8", rd_sub, RD_U8, RD_U8, RD_U8 },
    { "div i32 i32", rd_div, RD_I32, RD_I32, RD_F64 },
    { "div bool f32", rd_div, RD_BOOL, RD_F32, RD_F32 },
    { "floordiv i16 i16", rd_floordiv, RD_I16, RD_I16, RD_I16 },
    { "remainder f32 f32", rd_remainder, RD_F32, RD_F32, RD_F32 },
    { "pow i32 i32", rd_pow, RD_I32, RD_I32, RD_I32 },
    { "atan2 i32 i32", rd_atan2, RD_I32, RD_I32, RD_F64 },
    { "hypot f32 f32", rd_hypot, RD_F32, RD_F32, RD_F32 },
    { "minimum bool bool", rd_minimum, RD_BOOL, RD_BOOL, RD_BOOL },
    { "maximum i8 f32", rd_maximum, RD_I8, RD_F32, RD_F32 },
    { "and f32 i8", rd_and, RD_F32, RD_I8, RD_BOOL },
    { "xor bool bool", rd_xor, RD_BOOL, RD_BOOL, RD_BOOL },
    { "bit_and i8 u8", rd_bit_and, RD_I8, RD_U8, RD_I16 },
    { "bit_or bool bool", rd_bit_or, RD_BOOL, RD_BOOL, RD_BOOL },
    { "bit_xor bool u8", rd_bit_xor, RD_BOOL, RD_U8, RD_U8 },
    { "shift_left bool bool", rd_shift_left, RD_BOOL, RD_BOOL, RD_I64 },
    { "shift_right u8 int", rd_shift_right, RD_U8, INT, RD_U8 },
    { "gcd i32 i64", rd_gcd, RD_I32, RD_I64, RD_I64 },
    { "bit_and int int", rd_bit_and, INT, INT, RD_I64 },
    { "eq i8 f64", rd_eq, RD_I8, RD_F64, RD_BOOL },
    { "lt u8 u8", rd_lt, RD_U8, RD_U8, RD_BOOL },
    /* weak numbers */
    { "mul f32 num", rd_mul, RD_F32, NUM, RD_F32 },
    { "mul num f32", rd_mul, NUM, RD_F32, RD_F32 },
    { "mul f64 num", rd_mul, RD_F64, NUM, RD_F64 },
    { "mul i8 num", rd_mul, RD_I8, NUM, RD_F64 },
    { "mul bool num", rd_mul, RD_BOOL, NUM, RD_F64 },
    { "mul f32 int", rd_mul, RD_F32, INT, RD_F32 },
    { "mul u8 int", rd_mul, RD_U8, INT, RD_U8 },
    { "mul bool int", rd_mul, RD_BOOL, INT, RD_I64 },
    { "minimum bool int", rd_minimum, RD_BOOL, INT, RD_I64 },
    { "div i8 int", rd_div, RD_I8, INT, RD_F64 },
    { "div f32 int", rd_div, RD_F32, INT, RD_F32 },
    { "and u8 int", rd_and, RD_U8, INT, RD_BOOL },
    { "lt f32 num", rd_lt, RD_F32, NUM, RD_BOOL },
    { "mul int int", rd_mul, INT, INT, RD_I64 },
    { "mul int num", rd_mul, INT, NUM, RD_F64 },
    { "div int int", rd_div, INT, INT, RD_F64 },
    { "lt int num", rd_lt, INT, NUM, RD_BOOL },
};

START_TEST(type_of_two)
{
    rd_expr *y = type_2_cases[_i].f(operand(type_2_cases[_i].x), operand(type_2_cases[_i].y));

    ck_assert_msg((int)rd_type_of(y) == type_2_cases[_i].want, "%s: %s", type_2_cases[_i].what,
                  rd_dtype_name(rd_type_of(y)));
    ck_no_error(type_2_cases[_i].what);
}
END_TEST

static bool meet_in_float(rd_dtype a, rd_dtype b, int arity)
{
    return rd_dtype_kind(arity == 1 ? a : rd_dtype_promote(a, b)) == RD_KIND_FLOAT;
}

/* Every operator on every pair of types: operands of a MAP have the type the operator works in, and
 * its shape. */
START_TEST(operands_are_ready)
{
    const rd_op_info *info = &rd_op_table[_i];

    for (int a = RD_BOOL; a <= RD_F8 && info->rule != RD_RULE_SPECIAL; a++)
        for (int b = RD_BOOL; b <= RD_F8; b++) {
            if (!rd_dtype_is_real((rd_dtype)a) || !rd_dtype_is_real((rd_dtype)b))
                continue;
            rd_expr *x[] = { vector((rd_dtype)a), input((rd_dtype)b, RD_SHAPE(2, 1)),
                             vector((rd_dtype)b) };
            rd_expr *y   = rd_map_op((rd_op)_i, "test", info->arity, x);

            if (rd_op_of_ints(info->rule) && meet_in_float((rd_dtype)a, (rd_dtype)b, info->arity)) {
                ck_failed(y, RD_ERR_TYPE, "it takes ints alone", info->name);
                continue;
            }
            if (_i == RD_OP_nextafter &&
                rd_dtype_is_narrow_float(rd_dtype_promote((rd_dtype)a, (rd_dtype)b))) {
                ck_failed(y, RD_ERR_TYPE, "neighbours", info->name);
                continue;
            }
            ck_no_error(info->name);
            if (info->rule == RD_RULE_ROUND && rd_dtype_kind((rd_dtype)a) != RD_KIND_FLOAT) {
                ck_assert_ptr_eq(y, x[0]);
                continue;
            }
            ck_assert_int_eq(y->kind, RD_EXPR_MAP);
            ck_assert_int_eq(y->rank, info->arity == 1 ? 1 : 2);
            for (int k = 0; k < y->n_in; k++) {
                ck_assert_int_eq(y->in[k]->type, y->in[0]->type);
                ck_assert_int_eq(y->in[k]->rank, y->rank);
                ck_assert_mem_eq(y->in[k]->extent, y->extent, (size_t)y->rank * sizeof *y->extent);
            }
        }
}
END_TEST

START_TEST(numbers_fold)
{
    rd_expr *x = vector(RD_F32), *six = rd_mul(rd_int(ctx, 2), rd_int(ctx, 3));

    ck_assert_ptr_eq(six, rd_int(ctx, 6));
    ck_assert_ptr_eq(rd_mul(x, six), rd_mul(x, rd_num(ctx, 6)));
    ck_assert_int_eq(rd_type_of(rd_mul(x, rd_exp(rd_num(ctx, 1)))), RD_F32);
    ck_assert_ptr_eq(rd_div(rd_int(ctx, 1), rd_int(ctx, 4)), rd_num(ctx, 0.25));
    ck_assert_ptr_eq(rd_pow(rd_int(ctx, 2), rd_int(ctx, -1)), rd_num(ctx, 0.5));
    ck_assert_ptr_eq(rd_floor(rd_num(ctx, 2.5)), rd_num(ctx, 2));
    ck_assert_ptr_eq(rd_floor(rd_int(ctx, 2)), rd_int(ctx, 2));
    /* Too large to be sure of in double: strong from here, and wraps when evaluated. */
    rd_expr *large = rd_add(rd_int(ctx, INT64_MAX), rd_int(ctx, 1));
    ck_assert(large && !large->weak && large->kind == RD_EXPR_MAP && large->type == RD_I64);
    rd_expr *truth = rd_lt(rd_int(ctx, 1), rd_num(ctx, 1.5));
    ck_assert(truth && !truth->weak && truth->kind == RD_EXPR_NUMBER &&
              truth->as.number->value.u64 == 1);
    ck_no_error("numbers");
}
END_TEST

START_TEST(numbers_must_fit)
{
    rd_expr *x = vector(RD_U8);

    ck_failed(rd_add(x, rd_int(ctx, 256)), RD_ERR_TYPE,
              "rd_add: the number 256 does not fit the type u8", "256");
    ck_failed(rd_add(x, rd_int(ctx, -1)), RD_ERR_TYPE, "-1", "-1");
    ck_failed(rd_add(vector(RD_U64), rd_int(ctx, -1)), RD_ERR_TYPE, "u64", "-1 and u64");
    ck_failed(rd_where(x, rd_int(ctx, 128), vector(RD_I8)), RD_ERR_TYPE, "rd_where: the number 128",
              "where");
    ck_assert_ptr_nonnull(rd_add(x, rd_int(ctx, 255)));
    ck_assert_ptr_nonnull(rd_div(x, rd_int(ctx, 256))); /* in f64 */
    ck_assert_ptr_nonnull(rd_add(vector(RD_U64), rd_int(ctx, INT64_MAX)));
    ck_no_error("fits");
}
END_TEST

START_TEST(casts)
{
    rd_expr *x = vector(RD_F32), *y = rd_cast(rd_num(ctx, 300.7), RD_U8);

    ck_assert_ptr_eq(rd_cast(x, RD_F32), x);
    ck_assert_int_eq(rd_type_of(rd_cast(x, RD_I8)), RD_I8);
    ck_assert(y->kind == RD_EXPR_NUMBER && !y->weak && y->as.number->value.u64 == 44);
    ck_assert_int_eq(rd_type_of(rd_add(x, rd_cast(rd_num(ctx, 1), RD_F64))), RD_F64);
    rd_expr *seen = rd_cast(rd_broadcast(rd_int(ctx, 2), RD_SHAPE(4)), RD_F32);
    ck_assert(seen->kind == RD_EXPR_VIEW && seen->in[0]->kind == RD_EXPR_NUMBER &&
              seen->type == RD_F32);
    ck_assert_int_eq(rd_type_of(rd_cast(x, RD_C64)), RD_C64);
    ck_failed(rd_cast(x, RD_AUTO), RD_ERR_TYPE, "rd_cast", "auto");
    ck_failed(rd_cast(x, (rd_dtype)99), RD_ERR_TYPE, "rd_cast", "99");
}
END_TEST

START_TEST(where_and_clip)
{
    rd_expr *x = vector(RD_F32), *c = input(RD_I32, RD_SHAPE(2, 1)),
            *w = rd_where(c, x, rd_int(ctx, 0));

    ck_assert_int_eq(rd_type_of(w), RD_F32);
    ck_assert_int_eq(rd_shape_of(w).n, 2);
    ck_assert_int_eq(w->in[0]->type, RD_BOOL);
    ck_assert_int_eq(rd_type_of(rd_where(c, rd_int(ctx, 1), rd_num(ctx, 0))), RD_F64);
    ck_assert(!rd_where(c, rd_int(ctx, 1), rd_int(ctx, 0))->weak);
    ck_assert_ptr_eq(rd_clip(x, rd_int(ctx, 0), rd_num(ctx, 1)),
                     rd_minimum(rd_maximum(x, rd_num(ctx, 0)), rd_int(ctx, 1)));
    ck_assert_ptr_null(rd_clip(x, NULL, rd_num(ctx, 1)));
    ck_assert_ptr_eq(rd_pow(x, rd_int(ctx, 2)), rd_square(x));
    ck_no_error("where and clip");
}
END_TEST

START_TEST(refused_operands)
{
    rd_ctx  *other = rd_ctx_new(NULL);
    rd_expr *x     = vector(RD_F32);

    ck_failed(rd_add(x, input(RD_F32, RD_SHAPE(4))), RD_ERR_SHAPE, "rd_add", "shapes");
    ck_failed(rd_where(x, x, input(RD_F32, RD_SHAPE(2))), RD_ERR_SHAPE, "rd_where",
              "shapes of where");
    ck_failed(rd_map2(x, input(RD_F32, RD_SHAPE(4)), "x"), RD_ERR_SHAPE, "rd_map2",
              "shapes of unused operands");
    ck_failed(rd_add(x, rd_num(other, 1)), RD_ERR_ARGUMENT, "rd_add", "two contexts");
    ck_failed(rd_map2(x, rd_num(other, 1), "x + y"), RD_ERR_ARGUMENT, "rd_map2",
              "two contexts in text");
    ck_assert_ptr_null(rd_add(NULL, x));
    ck_assert_ptr_null(rd_neg(NULL));
    ck_assert_ptr_null(rd_where(x, x, NULL));
    ck_assert_ptr_null(rd_cast(NULL, RD_F32));
    ck_assert_ptr_null(rd_map(NULL, "x"));
    ck_assert_ptr_null(rd_map(NULL, sqrtf));
    ck_assert_ptr_null(rd_map2(x, NULL, "x + y"));
    ck_no_error("NULL passes through");
    rd_ctx_free(other);
}
END_TEST

/* ---- Function text --------------------------------------------------------------------------- */
/* Both texts are the same node. */
static const struct {
    const char *text, *same;
} equal_texts[] = {
    { "x+y*x", "x+(y*x)" },
    { "x-y-1", "(x-y)-1" },
    { "x/y/2", "(x/y)/2" },
    { "x%y*2", "(x%y)*2" },
    { "x/y*x", "(x/y)*x" },
    { "-x^y", "-(x^y)" },
    { "x^-y", "x^(-y)" },
    { "x^y^3", "x^(y^3)" },
    { "x^-y^3", "x^(-(y^3))" },
    { "-x*y", "(-x)*y" },
    { "!x == y", "(!x) == y" },
    { "x < y == y < x", "(x < y) == (y < x)" },
    { "x <= y != y >= x", "(x <= y) != (y >= x)" },
    { "x + 1 < y * 2", "(x + 1) < (y * 2)" },
    { "x && y || y && !x", "(x && y) || (y && (!x))" },
    { "x == 1 && y", "(x == 1) && y" },
    { "x ? y : x ? 1 : y", "x ? y : (x ? 1 : y)" },
    { "x ? y ? 1 : x : y", "x ? (y ? 1 : x) : y" },
    { "x || y ? x : y", "(x || y) ? x : y" },
    { "+x + +y", "x + y" },
    { "- - x", "-(-x)" },
    { "!!x", "!(!x)" },
    { "\tx\n+\r y ", "x+y" },
    { "a, b: a - b", "x - y" },
    { "y, x: y - x", "x - y" },
    { "x1,_b2 :x1*_b2", "x * y" },
    { "add(x, y)", "x + y" },
    { "minimum", "min(x, y)" },
    { "fminf(x, y)", "fmin(x, y)" },
    { "fmaxf(x,y)", "fmax(x, y)" },
    { "fabs(x) + 0*y", "abs(x) + 0*y" },
    { "sqrtf(x) + y", "sqrt(x) + y" },
    { "rint(x) + y", "round(x) + y" },
    { "x < y ? 1 : 0", "where(x < y, 1, 0)" },
    { "clip(x, 0, y)", "min(max(x, 0), y)" },
    { "!x", "not(x)" },
    { "x && y", "and(x, y)" },
    { "hypot", "hypot(x, y)" },
    { "x % y", "remainder(x, y)" },
    { "x ^ y", "pow" },
    { "x + 2 * 3", "x + 6" },
    { "x * 1.5e3", "x * 1500.0" },
    { "x * .5", "x * 0.5f" },
    { "x * 1.", "x * 1.0" },
    { "x * 1E+2", "x * 100.0" },
    { "x * 1f", "x * 1.0" },
    { "x && true", "x && (1 == 1)" },
};

START_TEST(text_precedence)
{
    rd_expr *x = input(RD_F32, RD_SHAPE(2, 3)), *y = input(RD_F64, RD_SHAPE(2, 3));
    rd_expr *a = rd_map2(x, y, equal_texts[_i].text), *b = rd_map2(x, y, equal_texts[_i].same);

    ck_no_error(equal_texts[_i].text);
    ck_assert_msg(a && a == b, "%s is not %s", equal_texts[_i].text, equal_texts[_i].same);
}
END_TEST

START_TEST(text_is_calls)
{
    rd_expr *x = vector(RD_F32), *y = vector(RD_I32), *z = vector(RD_F64);

    ck_assert_ptr_eq(rd_map(x, "x*x+1"), rd_add(rd_mul(x, x), rd_int(ctx, 1)));
    ck_assert_ptr_eq(rd_map(x, "exp"), rd_exp(x));
    ck_assert_ptr_eq(rd_map(x, " sqrtf "), rd_sqrt(x));
    ck_assert_ptr_eq(rd_map(x, "x > 0 ? x : 0.1 * x"),
                     rd_where(rd_gt(x, rd_int(ctx, 0)), x, rd_mul(rd_num(ctx, 0.1), x)));
    ck_assert_ptr_eq(rd_map2(y, y, "x / y"), rd_div(y, y));
    ck_assert_ptr_eq(rd_map2(y, x, "fmod(x, y)"), rd_map2(y, x, fmod));
    ck_assert_ptr_eq(rd_map(x, "2 * pi * x"), rd_mul(rd_num(ctx, 2 * 3.14159265358979323846), x));
    ck_assert_ptr_eq(rd_mapn("where(x, y, z)", RD_EXPRS(x, y, z)), rd_where(x, y, z));
    ck_assert_ptr_eq(rd_mapn("where", RD_EXPRS(x, y, z)), rd_where(x, y, z));
    ck_assert_ptr_eq(rd_mapn("a,b,c,d,e: a+e", RD_EXPRS(x, y, z, x, z)), rd_add(x, z));
    ck_assert_int_eq(rd_type_of(rd_map(vector(RD_U8), "x + 1")), RD_U8);
    ck_no_error("text");
}
END_TEST

/* A result that reads no operand has their shape all the same, and a type of its own. */
START_TEST(text_without_operand)
{
    rd_expr *x     = input(RD_F32, RD_SHAPE(2, 1)),
            *three = rd_map2(x, input(RD_F32, RD_SHAPE(3)), "3");

    ck_assert(three && !three->weak && three->type == RD_I64);
    ck_assert(three->rank == 2 && three->extent[0] == 2 && three->extent[1] == 3);
    ck_assert_ptr_eq(rd_map(rd_num(ctx, 2), "x * 3"), rd_num(ctx, 6));
    ck_assert_int_eq(rd_shape_of(rd_map2(x, input(RD_F32, RD_SHAPE(3)), "x")).at[1], 3);
    rd_expr *scalar = rd_map(input(RD_F32, RD_SCALAR), "1.5");
    ck_assert(scalar && !scalar->weak && scalar->type == RD_F64);
}
END_TEST

static const struct {
    const char *text, *words;
} hostile_texts[] = {
    { "", "expected an operand, found the end" },
    { "   ", "expected an operand, found the end" },
    { "(", "expected an operand, found the end" },
    { "x * 10^20", "a whole number beyond 64 bits: say a float, as 1e20" },
    { "x / 2^64", "a whole number beyond 64 bits" },
    { "x * (3000000000 * 3000000000 * 3000000000)", "a whole number beyond 64 bits" },
    { "x + (9223372036854775807 + 1)", "a whole number beyond 64 bits" },
    { "-(-9223372036854775807 - 1) * x", "a whole number beyond 64 bits" },
    { "(10^10)^2 * x", "a whole number beyond 64 bits" },
    { "(x", "')'" },
    { "()", "found ')'" },
    { "x)", "found ')'" },
    { "x +", "found the end" },
    { "* x", "found '*'" },
    { "x * * x", "found '*'" },
    { "x ** 2", "found '*'" },
    { "x y", "found 'y'" },
    { "x 2", "found '2'" },
    { "2x", "after the number" },
    { "1..2", "after the number" },
    { "1.2.3", "after the number" },
    { "0x10", "after the number" },
    { "1e", "after the number" },
    { "1e+", "after the number" },
    { ".", "found '.'" },
    { "99999999999999999999", "2^63" },
    { "foo(x)", "no function is called 'foo'" },
    { "fma(x, x, x)", "no function is called 'fma'" },
    { "cast(x)", "no function is called 'cast'" },
    { "index(x)", "no function" },
    { "foo", "no operand is called 'foo'" },
    { "y", "no operand is called 'y'" },
    { "x + sqrt", "no operand is called 'sqrt'" },
    { "exp()", "found ')'" },
    { "exp(x, x)", "exp takes 1 operand" },
    { "pow(x)", "pow takes 2 operands" },
    { "pow(x,", "found the end" },
    { "pow", "takes 2 operands" },
    { "where(x, x)", "where takes 3 operands" },
    { "x ? 1", "':' of '?'" },
    { "x ? : 1", "found ':'" },
    { "x ? 1 :", "found the end" },
    { "x : 1 : 2", "found ':'" },
    { "x, x: x", "2 operands named" },
    { "a, a: a", "named" },
    { "a: x", "no operand is called 'x'" },
    { "a,: a", "no operand is called 'a'" },
    { ": x", "found ':'" },
    { "1a: x", "after the number" },
    { "x = 1", "found '='" },
    { "x & x", "found '&'" },
    { "x < < x", "found '<'" },
    { "x; x", "found ';'" },
    { "x[0]", "found '['" },
    { "\"x\"", "found '\"'" },
    { "x + \xc3\xa9", "byte 0xC3" },
    { "\xff", "byte 0xFF" },
    { "x \x01", "byte 0x01" },
    { "x % %n %s", "found '%'" },
    { "%s%s%s%n", "found '%'" },
    { "x!", "found '!'" },
    { "x ^", "found the end" },
    { "an_unreasonably_long_name_that_no_operand_has_and_none_should_have(x)", "no function" },
};

START_TEST(text_refused)
{
    ck_failed(rd_map(vector(RD_F32), hostile_texts[_i].text), RD_ERR_TEXT, hostile_texts[_i].words,
              hostile_texts[_i].text);
}
END_TEST

/* What a program may be fed: long texts of each thing that nests. */
static const struct {
    const char *repeat, *end;
    bool        reads; /* a chain, not a nest */
} long_texts[] = {
    { "(", "", false },       { "-", "x", false },     { "!", "x", false },
    { "x^", "x", false },     { "x?x:", "x", false },  { "x?", "x", false },
    { "exp(", "x", false },   { "(-", "x", false },    { "x+", "x", true },
    { "x*2-", "x", true },    { "x<", "x", true },     { "1", "", false },
    { "a", "", false },       { "a,", "a: a", false }, { " ", "x", true },
    { "min(x,", "x", false },
};

START_TEST(text_long)
{
    enum { TIMES = 10000 };
    size_t n    = strlen(long_texts[_i].repeat);
    char  *text = malloc(TIMES * n + 8);

    for (int i = 0; i < TIMES; i++)
        memcpy(text + (size_t)i * n, long_texts[_i].repeat, n);
    strcpy(text + TIMES * n, long_texts[_i].end);
    rd_expr *y = rd_map(vector(RD_F32), text);
    if (long_texts[_i].reads)
        ck_assert_msg(y != NULL, "%s...: %s", long_texts[_i].repeat, rd_error_text(ctx));
    else
        ck_failed(y, RD_ERR_TEXT, "rd_map: function text", long_texts[_i].repeat);
    free(text);
}
END_TEST

START_TEST(text_caret)
{
    rd_map(vector(RD_F32), "x + * 2");
    ck_assert_str_eq(rd_error_text(ctx), "rd_map: function text: expected an operand, found '*'\n"
                                         "    x + * 2\n"
                                         "        ^");
}
END_TEST

START_TEST(text_arguments)
{
    rd_expr *x = vector(RD_F32);

    ck_failed(rd_map(x, (const char *)NULL), RD_ERR_ARGUMENT, "rd_map", "no text");
    ck_failed(rd_mapn("x", RD_EXPRS(x, x, x, x, x)), RD_ERR_TEXT, "need names", "five operands");
    ck_failed(rd_mapn("x", RD_EXPRS(x, x, x, x, x, x, x, x, x)), RD_ERR_ARGUMENT, "9 operands",
              "nine operands");
    ck_failed(rd_map2(x, x, "a, a: a"), RD_ERR_TEXT, "two operands of one name", "one name twice");
    ck_failed(rd_mapn("x", (rd_exprs){ 0 }), RD_ERR_ARGUMENT, "rd_mapn: a list of no operand",
              "no operands, no context");
}
END_TEST

/* ---- C functions ----------------------------------------------------------------------------- */
static const struct {
    const char *what;
    float (*f32)(float);
    double (*f64)(double);
    map_1 *want;
} libm_cases[] = {
    { "fabs", fabsf, fabs, rd_abs },   { "sqrt", sqrtf, sqrt, rd_sqrt },
    { "exp", expf, exp, rd_exp },      { "expm1", expm1f, expm1, rd_expm1 },
    { "log", logf, log, rd_log },      { "log1p", log1pf, log1p, rd_log1p },
    { "log2", log2f, log2, rd_log2 },  { "sin", sinf, sin, rd_sin },
    { "cos", cosf, cos, rd_cos },      { "tan", tanf, tan, rd_tan },
    { "tanh", tanhf, tanh, rd_tanh },  { "floor", floorf, floor, rd_floor },
    { "ceil", ceilf, ceil, rd_ceil },  { "trunc", truncf, trunc, rd_trunc },
    { "rint", rintf, rint, rd_round }, { "erf", erff, erf, rd_erf },
};

START_TEST(libm_recognised)
{
    rd_expr *f = vector(RD_F32), *d = vector(RD_F64), *i = vector(RD_I32);

    ck_assert_ptr_eq(rd_map(f, libm_cases[_i].f32), libm_cases[_i].want(f));
    /* follows the operand */
    ck_assert_ptr_eq(rd_map(f, libm_cases[_i].f64), libm_cases[_i].want(f));
    ck_assert_ptr_eq(rd_map(d, libm_cases[_i].f32), libm_cases[_i].want(d));
    ck_assert_ptr_eq(rd_map(i, libm_cases[_i].f32), libm_cases[_i].want(rd_cast(i, RD_F64)));
    ck_no_error(libm_cases[_i].what);
}
END_TEST

static float half(float x)
{
    return x / 2;
}

static double halfway(double x, double y)
{
    return (x + y) / 2;
}

START_TEST(own_functions)
{
    rd_expr *f = vector(RD_F32), *d = vector(RD_F64), *i = vector(RD_I32), *y = rd_map(d, half);

    ck_assert(y->kind == RD_EXPR_CALL && y->type == RD_F32 && y->in[0] == rd_cast(d, RD_F32));
    ck_assert_ptr_eq(y, rd_map(d, half));
    ck_assert(y->as.call->f32_1 == half);
    y = rd_map2(f, input(RD_I8, RD_SHAPE(2, 1)), halfway);
    ck_assert(y->kind == RD_EXPR_CALL && y->type == RD_F64 && y->rank == 2 && y->in[1]->rank == 2);
    ck_assert(rd_map(f, roundf)->kind == RD_EXPR_CALL);    /* halves away from zero: not rd_round */
    ck_assert_ptr_eq(rd_map2(f, f, fminf), rd_fmin(f, f)); /* drops NaN: not rd_minimum */
    ck_assert_ptr_eq(rd_map2(f, f, pow), rd_pow(f, f));
    ck_assert_ptr_eq(rd_map2(i, i, pow), rd_pow(rd_cast(i, RD_F64), rd_cast(i, RD_F64)));
    ck_assert_ptr_eq(rd_map2(f, rd_num(ctx, 0.5), powf), rd_pow(f, rd_num(ctx, 0.5)));
    ck_assert_ptr_eq(rd_map2(d, f, atan2f), rd_atan2(d, f));
    ck_assert_ptr_eq(rd_map2(f, f, hypot), rd_hypot(f, f));
    ck_no_error("own functions");
    ck_failed(rd_map(f, (float (*)(float))NULL), RD_ERR_ARGUMENT, "rd_map: the function is NULL",
              "NULL");
    ck_failed(rd_map2(f, f, (double (*)(double, double))NULL), RD_ERR_ARGUMENT, "rd_map2", "NULL");
}
END_TEST

/* ---- RD_FN ----------------------------------------------------------------------------------- */
#define TWICE(v) ((v) + (v))
static double own(double x)
{
    return x + 1;
}

RD_FN1(softsign, x, x / (1 + abs(x)))
RD_FN2(rbf, d2, h, exp(-d2 / (2 * h * h)))
RD_FN3(blend, a, b, t, a + (b - a) * t)
RD_FN1(macro, v, TWICE(v) * 0.5)
RD_FN1(step, x, x > 0 ? 1 : 0)
RD_FN1(count_signs, x, (x > 0) - (x < 0))
RD_FN1(masked, x, (x > 0) * x)
RD_FN1(powers, x, pow(2, -1) * x)
RD_FN1(two_point_five, x, x * 2.5f)
/* What C means otherwise, or what rdim does not know, stays C. */
RD_FN1(int_division, x, x *(1 / 2))
RD_FN1(bool_division, x, x + (x > 0) / 2)
RD_FN1(with_own, x, own(x) * 2)
RD_FN1(with_cast, x, (float)x)
RD_FN1(octal, x, x + 010)
RD_FN1(exclusive_or, x, x + ((x > 0) ^ (x < 1)))
RD_FN1(percent, x, x + (int)x % 2)
RD_FN1(c_round, x, round(x))
RD_FN1(c_fmin, x, fmin(x, 0))
static const double pi = 3;
RD_FN1(own_pi, x, x *pi)

static const struct {
    const rd_fn *f;
    const char  *same; /* text on an operand of type f32; NULL: stays a call */
} fn_cases[] = {
    { softsign, "x / (1 + abs(x))" },
    { macro, "(x + x) * 0.5" },
    { two_point_five, "x * 2.5" },
    { powers, "0.5 * x" },
    { int_division, NULL },
    { bool_division, NULL },
    { with_own, NULL },
    { with_cast, NULL },
    { octal, NULL },
    { exclusive_or, NULL },
    { percent, NULL },
    { c_round, NULL },
    { c_fmin, NULL },
    { own_pi, NULL },
};

START_TEST(fn_read_or_called)
{
    rd_expr *x = vector(RD_F32), *y = rd_map(x, fn_cases[_i].f),
            *i = rd_map(vector(RD_I16), fn_cases[_i].f);

    ck_no_error(fn_cases[_i].f->text);
    ck_assert_msg(y && y->type == RD_F32, "%s follows f32", fn_cases[_i].f->text);
    ck_assert_msg(i && i->type == RD_F64, "%s of ints is f64", fn_cases[_i].f->text);
    if (fn_cases[_i].same)
        ck_assert_msg(y == rd_map(x, fn_cases[_i].same), "%s", fn_cases[_i].f->text);
    else
        ck_assert_msg(y->kind == RD_EXPR_CALL && y->as.call->f32 == fn_cases[_i].f->f32 &&
                          i->as.call->f64 == fn_cases[_i].f->f64 &&
                          !strcmp(y->as.call->name, fn_cases[_i].f->name),
                      "%s", fn_cases[_i].f->text);
}
END_TEST

START_TEST(fn_results_are_real)
{
    const rd_fn *const all[] = { step, count_signs, masked };

    for (size_t k = 0; k < COUNT(all); k++) {
        rd_expr *y = rd_map(vector(RD_F32), all[k]);

        ck_assert_msg(y && y->kind == RD_EXPR_MAP && y->type == RD_F32, "%s", all[k]->text);
        ck_assert_int_eq(rd_type_of(rd_map(vector(RD_U8), all[k])), RD_F64);
    }
    rd_expr *x = vector(RD_F32);
    ck_assert_ptr_eq(rd_map(x, masked), rd_mul(rd_cast(rd_gt(x, rd_int(ctx, 0)), RD_F32), x));
    ck_no_error("real results");
}
END_TEST

START_TEST(fn_of_several)
{
    rd_expr *f = vector(RD_F32), *d = vector(RD_F64), *h = rd_num(ctx, 0.5);

    ck_assert_ptr_eq(rd_map2(f, h, rbf), rd_map2(f, h, "exp(-x / (2 * y * y))"));
    ck_assert_ptr_eq(rd_map2(f, rd_int(ctx, 3), rbf),
                     rd_map2(f, rd_num(ctx, 3), rbf)); /* an int would divide as in C */
    ck_assert_int_eq(rd_type_of(rd_map2(f, d, rbf)), RD_F64);
    ck_assert_ptr_eq(rd_mapn(blend, RD_EXPRS(f, f, h)),
                     rd_mapn("x + (y - x) * z", RD_EXPRS(f, f, h)));
    ck_no_error("several");
    ck_failed(rd_map(f, rbf), RD_ERR_ARGUMENT, "rbf takes 2 operands, not 1", "arity");
    ck_failed(rd_map2(f, input(RD_F32, RD_SHAPE(2)), rbf), RD_ERR_SHAPE, "rd_map2", "shapes");
}
END_TEST

static const char *block(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user, (void)n, (void)in, (void)out;
    return NULL;
}

START_TEST(fn_by_hand)
{
    rd_fn    good = { .size  = sizeof good,
                      .arity = 1,
                      .name  = "table",
                      .in    = RD_F64,
                      .out   = RD_I32,
                      .block = block };
    rd_fn    bad  = good;
    rd_expr *x = vector(RD_F32), *y = rd_map(x, &good);

    ck_assert(y && y->kind == RD_EXPR_CALL && y->type == RD_I32 && y->in[0]->type == RD_F64);
    ck_assert_str_eq(y->as.call->name, "table");
    bad.code = "x: x";
    ck_failed(rd_map(x, &bad), RD_ERR_ARGUMENT, "table: it has .block", "block and code");
    bad = good, bad.block = NULL;
    ck_failed(rd_map(x, &bad), RD_ERR_ARGUMENT, "none of .block, .code, .f32", "nothing");
    bad = *softsign, bad.f64 = NULL;
    ck_failed(rd_map(x, &bad), RD_ERR_ARGUMENT, "both of .f32 and .f64", "one loop");
    bad = good, bad.arity = 9;
    ck_failed(rd_map(x, &bad), RD_ERR_ARGUMENT, "1 to 8", "arity 9");
    bad = good, bad.in = RD_C64;
    ck_failed(rd_map(x, &bad), RD_ERR_TYPE, "c64", "types");
    ck_failed(rd_map(x, (const rd_fn *)NULL), RD_ERR_ARGUMENT, "rd_map: the function is NULL",
              "NULL");
    bad = *softsign, bad.f32 = NULL, bad.f64 = NULL;
    ck_assert_ptr_eq(rd_map(x, &bad), rd_map(x, softsign)); /* text alone is enough if it can be
                                                             * read */
    bad.code = "x: own(x)";
    ck_failed(rd_map(x, &bad), RD_ERR_TEXT, "no function is called 'own'", "text alone");
}
END_TEST

/* ---- Seeing ---------------------------------------------------------------------------------- */
START_TEST(dot)
{
    rd_expr *x = rd_input(ctx, "a \"b\"", &(rd_array){ .type = RD_F32, .shape = RD_SHAPE(2, 3) });
    rd_expr *y = rd_add(rd_mul(x, x), rd_num(ctx, 0.5));
    const char *text, *first;

    text = rd_graphviz(ctx, RD_RESULTS({ y, NULL }, { x, NULL }));
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(strstr(text, "add\\nf32 (2, 3)"));
    ck_assert_ptr_nonnull(strstr(text, "result 1"));
    ck_assert_ptr_nonnull(strstr(text, "number 0.5"));
    first = strstr(text, "input a \\\"b\\\" f32 (2, 3)");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "input a")); /* shared nodes once */
    ck_assert_ptr_null(rd_graphviz(ctx, RD_RESULTS({ NULL, NULL })));
    ck_assert_ptr_null(rd_graphviz(NULL, RD_RESULTS({ y, NULL })));
    for (int i = 0; i < 10000; i++)
        y = rd_sin(y);
    ck_assert_ptr_nonnull(rd_graphviz(ctx, RD_RESULTS({ y, NULL })));
    ck_no_error("dot");
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("maps");
    TCase   *tc     = tcase_create("maps");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, type_of_one, 0, COUNT(type_1_cases));
    tcase_add_loop_test(tc, type_of_two, 0, COUNT(type_2_cases));
    tcase_add_loop_test(tc, operands_are_ready, 0, RD_N_OPS);
    tcase_add_test(tc, numbers_fold);
    tcase_add_test(tc, numbers_must_fit);
    tcase_add_test(tc, casts);
    tcase_add_test(tc, where_and_clip);
    tcase_add_test(tc, refused_operands);
    tcase_add_loop_test(tc, text_precedence, 0, COUNT(equal_texts));
    tcase_add_test(tc, text_is_calls);
    tcase_add_test(tc, text_without_operand);
    tcase_add_loop_test(tc, text_refused, 0, COUNT(hostile_texts));
    tcase_add_loop_test(tc, text_long, 0, COUNT(long_texts));
    tcase_add_test(tc, text_caret);
    tcase_add_test(tc, text_arguments);
    tcase_add_loop_test(tc, libm_recognised, 0, COUNT(libm_cases));
    tcase_add_test(tc, own_functions);
    tcase_add_loop_test(tc, fn_read_or_called, 0, COUNT(fn_cases));
    tcase_add_test(tc, fn_results_are_real);
    tcase_add_test(tc, fn_of_several);
    tcase_add_test(tc, fn_by_hand);
    tcase_add_test(tc, dot);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
