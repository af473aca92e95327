/* Element types, their promotion and conversion, the tables made from the .def files, the growing
 * text. */
#include "core/ops.h"
#include "core/reducers.h"
#include "core/text_buffer.h"
#include "suite.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* ---- Promotion: NumPy's own table, np.result_type for each pair; bf16 and f8e4m3 likewise --- */
static const rd_dtype types[] = { RD_BOOL, RD_I8,  RD_I16, RD_I32, RD_I64, RD_U8,   RD_U16,
                                  RD_U32,  RD_U64, RD_F32, RD_F64, RD_F16, RD_BF16, RD_F8 };

static const char *const promotion[] = {
    /* bool i8   i16 i32 i64 u8   u16 u32 u64 f32 f64 f16  bf16 f8e4m3 */
    "bool i8   i16 i32 i64 u8   u16 u32 u64 f32 f64 f16  bf16 f8e4m3 ", /* bool   */
    "i8   i8   i16 i32 i64 i16  i32 i64 f64 f32 f64 f16  bf16 f32    ", /* i8     */
    "i16  i16  i16 i32 i64 i16  i32 i64 f64 f32 f64 f32  f32  f32    ", /* i16    */
    "i32  i32  i32 i32 i64 i32  i32 i64 f64 f64 f64 f64  f64  f64    ", /* i32    */
    "i64  i64  i64 i64 i64 i64  i64 i64 f64 f64 f64 f64  f64  f64    ", /* i64    */
    "u8   i16  i16 i32 i64 u8   u16 u32 u64 f32 f64 f16  bf16 f32    ", /* u8     */
    "u16  i32  i32 i32 i64 u16  u16 u32 u64 f32 f64 f32  f32  f32    ", /* u16    */
    "u32  i64  i64 i64 i64 u32  u32 u32 u64 f64 f64 f64  f64  f64    ", /* u32    */
    "u64  f64  f64 f64 f64 u64  u64 u64 u64 f64 f64 f64  f64  f64    ", /* u64    */
    "f32  f32  f32 f64 f64 f32  f32 f64 f64 f32 f64 f32  f32  f32    ", /* f32    */
    "f64  f64  f64 f64 f64 f64  f64 f64 f64 f64 f64 f64  f64  f64    ", /* f64    */
    "f16  f16  f32 f64 f64 f16  f32 f64 f64 f32 f64 f16  f32  f16    ", /* f16    */
    "bf16 bf16 f32 f64 f64 bf16 f32 f64 f64 f32 f64 f32  bf16 bf16   ", /* bf16   */
    "f8e4m3 f32 f32 f64 f64 f32 f32 f64 f64 f32 f64 f16 bf16 f8e4m3 ",  /* f8e4m3 */
};

START_TEST(promotes)
{
    const char *row = promotion[_i];

    for (int k = 0; k < COUNT(types); k++) {
        char want[8];
        int  length;
        ck_assert_int_eq(sscanf(row, "%7s%n", want, &length), 1);
        row += length;
        ck_assert_msg(strcmp(rd_dtype_name(rd_dtype_promote(types[_i], types[k])), want) == 0,
                      "%s with %s: %s, not %s", rd_dtype_name(types[_i]), rd_dtype_name(types[k]),
                      rd_dtype_name(rd_dtype_promote(types[_i], types[k])), want);
    }
}
END_TEST

/* np.can_cast(row, column, "safe"), columns as above. */
static const char *const safe[] = {
    "11111111111111", /* bool   */
    "01111000011110", /* i8     */
    "00111000011000", /* i16    */
    "00011000001000", /* i32    */
    "00001000001000", /* i64    */
    "00111111111110", /* u8     */
    "00011011111000", /* u16    */
    "00001001101000", /* u32    */
    "00000000101000", /* u64    */
    "00000000011000", /* f32    */
    "00000000001000", /* f64    */
    "00000000011100", /* f16    */
    "00000000011010", /* bf16   */
    "00000000011111", /* f8e4m3 */
};

START_TEST(casts_safely)
{
    for (int k = 0; k < COUNT(types); k++)
        ck_assert_msg(rd_dtype_safe(types[_i], types[k]) == (safe[_i][k] == '1'), "%s to %s",
                      rd_dtype_name(types[_i]), rd_dtype_name(types[k]));
}
END_TEST

static const struct {
    rd_dtype    type;
    const char *name;
    int         size;
} facts[] = {
    { RD_BOOL, "bool", 1 },   { RD_I8, "i8", 1 },
    { RD_I16, "i16", 2 },     { RD_I32, "i32", 4 },
    { RD_I64, "i64", 8 },     { RD_U8, "u8", 1 },
    { RD_U16, "u16", 2 },     { RD_U32, "u32", 4 },
    { RD_U64, "u64", 8 },     { RD_F32, "f32", 4 },
    { RD_F64, "f64", 8 },     { RD_AUTO, "auto", 0 },
    { RD_F16, "f16", 2 },     { RD_BF16, "bf16", 2 },
    { RD_F8, "f8e4m3", 1 },   { RD_C64, "c64", 8 },
    { RD_C128, "c128", 16 },  { 17, "?", 0 },
    { (rd_dtype)-1, "?", 0 }, { (rd_dtype)1000000, "?", 0 },
};

START_TEST(type_facts)
{
    ck_assert_str_eq(rd_dtype_name(facts[_i].type), facts[_i].name);
    ck_assert_int_eq(rd_dtype_size(facts[_i].type), facts[_i].size);
    ck_assert_int_eq(rd_dtype_ok(facts[_i].type), facts[_i].size > 0);
}
END_TEST

/* ---- Conversion: rd_cast's rules ------------------------------------------------------------- */
#define BIG 9223372036854775807

static const struct {
    double   value;
    rd_dtype from, to; /* value is converted to `from` first: f32 or f64 */
    int64_t  want;     /* of u64: its bits                               */
} float_to_int[] = {
    { 2.9, RD_F64, RD_I32, 2 },
    { -2.9, RD_F64, RD_I32, -2 },
    { -0.5, RD_F32, RD_I8, 0 },
    { 127.9, RD_F32, RD_I8, 127 },
    { 128, RD_F32, RD_I8, -128 }, /* cut to 64 bits, then wrapped */
    { 300, RD_F64, RD_U8, 44 },
    { -1, RD_F64, RD_U8, 0 }, /* below 0: cut at 0            */
    { -1, RD_F64, RD_U64, 0 },
    { 4294967296. + 7, RD_F64, RD_I32, 7 },
    { 1e300, RD_F64, RD_I64, BIG },
    { -1e300, RD_F64, RD_I64, -BIG - 1 },
    { 1e30, RD_F32, RD_I32, -1 },     /* the low bits of 2^63 - 1     */
    { 1e30, RD_F32, RD_U16, 0xffff }, /* the low bits of 2^64 - 1     */
    { -1e30, RD_F32, RD_I32, 0 },     /* the low bits of -2^63        */
    { 0x1p63, RD_F64, RD_I64, BIG },
    { -0x1p63, RD_F64, RD_I64, -BIG - 1 },
    { 0x1p63, RD_F64, RD_U64, -BIG - 1 }, /* the bits of 2^63             */
    { 0x1p64, RD_F64, RD_U64, -1 },
    { INFINITY, RD_F32, RD_I64, BIG },
    { -INFINITY, RD_F64, RD_I64, -BIG - 1 },
    { INFINITY, RD_F64, RD_U64, -1 },
    { -INFINITY, RD_F64, RD_U64, 0 },
    { NAN, RD_F64, RD_I64, 0 },
    { NAN, RD_F32, RD_U8, 0 },
    { NAN, RD_F64, RD_BOOL, 1 }, /* not 0                        */
    { NAN, RD_F32, RD_BOOL, 1 },
    { 0.25, RD_F64, RD_BOOL, 1 },
    { -0.0, RD_F32, RD_BOOL, 0 },
    { 1e-310, RD_F64, RD_BOOL, 1 },
};

START_TEST(float_converts)
{
    const rd_word x = rd_word_from_double(float_to_int[_i].value, float_to_int[_i].from);
    const rd_word y = rd_word_convert(x, float_to_int[_i].from, float_to_int[_i].to);

    ck_assert_msg(y.i64 == float_to_int[_i].want, "%s %g to %s: %" PRId64 ", not %" PRId64,
                  rd_dtype_name(float_to_int[_i].from), float_to_int[_i].value,
                  rd_dtype_name(float_to_int[_i].to), y.i64, float_to_int[_i].want);
}
END_TEST

static const struct {
    int64_t  value;
    rd_dtype from, to;
    int64_t  want;
} int_to_int[] = {
    { 200, RD_I32, RD_I8, -56 },        { -1, RD_I8, RD_U8, 255 },
    { -1, RD_I8, RD_U64, -1 },          { -1, RD_I64, RD_U32, 0xffffffff },
    { 255, RD_U8, RD_I8, -1 },          { 255, RD_U8, RD_I64, 255 },
    { 0xffffffff, RD_U32, RD_I32, -1 }, { 0x18000, RD_I32, RD_I16, -0x8000 },
    { 256, RD_I32, RD_U8, 0 },          { 256, RD_I32, RD_BOOL, 1 },
    { 0, RD_I32, RD_BOOL, 0 },          { -BIG - 1, RD_I64, RD_BOOL, 1 },
    { -BIG - 1, RD_I64, RD_I32, 0 },    { 1, RD_BOOL, RD_I8, 1 },
};

START_TEST(int_converts)
{
    const rd_word x = rd_word_from_int(int_to_int[_i].value, int_to_int[_i].from);
    const rd_word y = rd_word_convert(x, int_to_int[_i].from, int_to_int[_i].to);

    ck_assert_msg(y.i64 == int_to_int[_i].want,
                  "%" PRId64 " as %s to %s: %" PRId64 ", not %" PRId64, int_to_int[_i].value,
                  rd_dtype_name(int_to_int[_i].from), rd_dtype_name(int_to_int[_i].to), y.i64,
                  int_to_int[_i].want);
}
END_TEST

/* Just above the middle of two neighbours; by way of f64 it would become the middle, then the even
 * one below. */
START_TEST(int_rounds_once)
{
    const int64_t x = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;

    ck_assert_msg(rd_word_from_int(x, RD_F32).f32 == 0x1.000002p60f, "%a",
                  (double)rd_word_from_int(x, RD_F32).f32);
    ck_assert(rd_word_from_double(1e300, RD_F32).f32 == INFINITY);
    ck_assert(signbit(rd_word_to_double(rd_word_from_double(-0.0, RD_F32), RD_F32)));
    ck_assert(rd_word_to_double((rd_word){ .u64 = UINT64_MAX }, RD_U64) == 0x1p64);
    ck_assert(rd_word_to_double((rd_word){ .i64 = -1 }, RD_I64) == -1);
}
END_TEST

/* Every type, a value that needs its sign or its width, to memory that is not aligned and back. */
START_TEST(loads_and_stores)
{
    const rd_dtype type = types[_i];
    const int      size = rd_dtype_size(type);
    const rd_word  x    = rd_word_from_int(type == RD_BOOL ? 1 : -2, type);
    unsigned char  memory[32];

    memset(memory, 0x5a, sizeof memory);
    rd_word_store(memory + 1, type, x);
    ck_assert_int_eq(memory[0], 0x5a);
    ck_assert_int_eq(memory[1 + size], 0x5a);
    ck_assert(rd_word_to_double(rd_word_load(memory + 1, type), type) ==
              rd_word_to_double(x, type));
}
END_TEST

START_TEST(any_byte_but_0_is_true)
{
    ck_assert_uint_eq(rd_word_load(&(uint8_t){ 0 }, RD_BOOL).u64, 0);
    ck_assert_uint_eq(rd_word_load(&(uint8_t){ 1 }, RD_BOOL).u64, 1);
    ck_assert_uint_eq(rd_word_load(&(uint8_t){ 128 }, RD_BOOL).u64, 1);
}
END_TEST

/* ---- Tables and text ------------------------------------------------------------------------- */
START_TEST(operators_are_found)
{
    ck_assert_int_eq(rd_op_find("add", 3), RD_OP_add);
    ck_assert_int_eq(rd_op_find("addition", 3), RD_OP_add);
    ck_assert_int_eq(rd_op_find("ad", 2), -1);
    ck_assert_int_eq(rd_op_find("", 0), -1);
    for (int op = 0; op < RD_N_OPS; op++) {
        ck_assert_int_eq(rd_op_find(rd_op_table[op].name, strlen(rd_op_table[op].name)), op);
        ck_assert(rd_op_table[op].arity >= 1 && rd_op_table[op].arity <= 3 &&
                  rd_op_table[op].cost > 0);
    }
    ck_assert_int_eq(rd_op_table[RD_OP_where].arity, 3);
    ck_assert_int_eq(rd_op_table[RD_OP_eq].rule, RD_RULE_COMPARE);
}
END_TEST

START_TEST(reducers_are_listed)
{
    for (int r = 0; r < RD_RED_user; r++)
        ck_assert(rd_reducer_table[r].n_state >= rd_reducer_table[r].n_out &&
                  rd_reducer_table[r].cost > 0);
    ck_assert_str_eq(rd_reducer_table[RD_RED_moments].name, "moments");
    ck_assert_int_eq(rd_reducer_table[RD_RED_argmax].law, RD_LAW_exact);
    ck_assert_str_eq(rd_reducer_table[RD_RED_user].name, "user");
}
END_TEST

START_TEST(text_grows)
{
    rd_text text = { 0 };

    rd_text_free(&text);
    for (int k = 0; k < 1000; k++)
        rd_text_add(&text, "%03d,", k);
    ck_assert_uint_eq(text.n, 4000);
    ck_assert_uint_eq(strlen(text.at), 4000);
    ck_assert(strncmp(text.at + 4 * 637, "637,", 4) == 0);
    rd_text_add(&text, "%*s", 100000, "");
    ck_assert(!text.failed && text.n == 104000 && text.at[text.n] == '\0');
    rd_text_free(&text);
    ck_assert(!text.at && text.n == 0);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("core");
    TCase   *tc     = tcase_create("core");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(tc, promotes, 0, COUNT(promotion));
    tcase_add_loop_test(tc, casts_safely, 0, COUNT(safe));
    tcase_add_loop_test(tc, type_facts, 0, COUNT(facts));
    tcase_add_loop_test(tc, float_converts, 0, COUNT(float_to_int));
    tcase_add_loop_test(tc, int_converts, 0, COUNT(int_to_int));
    tcase_add_test(tc, int_rounds_once);
    tcase_add_loop_test(tc, loads_and_stores, 0, COUNT(types));
    tcase_add_test(tc, any_byte_but_0_is_true);
    tcase_add_test(tc, operators_are_found);
    tcase_add_test(tc, reducers_are_listed);
    tcase_add_test(tc, text_grows);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
