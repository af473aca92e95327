/* .npy headers: what one may say, and what is refused. */
#include "io/npy.h"
#include "suite.h"
#include <stdlib.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* Prefix and text as a file begins; returns the length. */
static int64_t make_header(uint8_t *bytes, int version, const char *text)
{
    const size_t n = strlen(text), prefix = version == 1 ? 10 : 12;

    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (uint8_t)version;
    bytes[7] = 0;
    for (size_t k = 8; k < prefix; k++)
        bytes[k] = (uint8_t)(n >> 8 * (k - 8));
    memcpy(bytes + prefix, text, n);
    return (int64_t)(prefix + n);
}

/* Parses a copy of just n bytes, so that the sanitizer sees a read behind them. */
static rd_status parse(const uint8_t *bytes, int64_t n, rd_npy_header *header, char why[RD_NPY_WHY])
{
    uint8_t *copy = malloc(n ? (size_t)n : 1);

    ck_assert(copy);
    memcpy(copy, bytes, (size_t)n);
    why[0]                 = 0;
    const rd_status status = rd_npy_parse(copy, n, header, why);
    free(copy);
    return status;
}

/* ---- Headers --------------------------------------------------------------------------------- */
#define DICT(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape "}"
#define SHAPED(shape) DICT("'<f4'", "False", shape)
#define TYPED(descr)  DICT(descr, "False", "(3,)")
#define TEN           "1,1,1,1,1,1,1,1,1,1,"

/* Byte order: '<' or '>', 0 where it does not matter. */
static const struct {
    const char *text;
    rd_dtype    type;
    char        mark;
    int         order, rank;
    int64_t     extent[4];
} good[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }     \n",
      RD_F32,
      '<',
      0,
      2,
      { 3, 4 } },
    { DICT("'>f8'", "True", "(2,3,4)"), RD_F64, '>', 1, 3, { 2, 3, 4 } },
    { "{'shape': (), 'fortran_order': False, 'descr': '|b1'}", RD_BOOL, 0, 0, 0, { 0 } },
    { " \t{ \"shape\" :(7L , ),\n'descr':\"<i8\"\r, 'fortran_order'\f:True , } \n",
      RD_I64,
      '<',
      1,
      1,
      { 7 } },
    { TYPED("'|u1'"), RD_U8, 0, 0, 1, { 3 } },
    { TYPED("'>i1'"), RD_I8, 0, 0, 1, { 3 } },
    { TYPED("'<i2'"), RD_I16, '<', 0, 1, { 3 } },
    { TYPED("'>i4'"), RD_I32, '>', 0, 1, { 3 } },
    { TYPED("'=i4'"), RD_I32, RD_HOST_IS_BIG ? '>' : '<', 0, 1, { 3 } },
    { TYPED("'u2'"), RD_U16, RD_HOST_IS_BIG ? '>' : '<', 0, 1, { 3 } },
    { TYPED("'<u4'"), RD_U32, '<', 0, 1, { 3 } },
    { TYPED("'<f2'"), RD_F16, '<', 0, 1, { 3 } },
    { TYPED("'>f2'"), RD_F16, '>', 0, 1, { 3 } },
    { TYPED("'>u8'"), RD_U64, '>', 0, 1, { 3 } },
    { SHAPED("(0,)"), RD_F32, '<', 0, 1, { 0 } },
    { SHAPED("(5, 0, 2L, 1L)"), RD_F32, '<', 0, 4, { 5, 0, 2, 1 } },
    { SHAPED("(1073741824, 1073741824)"), RD_F32, '<', 0, 2, { 1 << 30, 1 << 30 } },
    { SHAPED("(" TEN TEN TEN "1,1)"), RD_F32, '<', 0, 32, { 1, 1, 1, 1 } },
};

START_TEST(good_header)
{
    const char mark = good[_i].mark;

    for (int version = 1; version <= 3; version++) {
        uint8_t       bytes[512];
        char          why[RD_NPY_WHY];
        rd_npy_header h;
        const int64_t n = make_header(bytes, version, good[_i].text);

        ck_assert_msg(parse(bytes, n, &h, why) == RD_OK, "%s: %s", good[_i].text, why);
        ck_assert_int_eq(h.type, good[_i].type);
        ck_assert_int_eq(h.swap, mark && (mark == '>') != RD_HOST_IS_BIG);
        ck_assert_int_eq(h.order, good[_i].order);
        ck_assert_int_eq(h.shape.n, good[_i].rank);
        ck_assert_int_eq(h.offset, n);
        for (int k = 0; k < good[_i].rank && k < 4; k++)
            ck_assert_int_eq(h.shape.at[k], good[_i].extent[k]);
    }
}
END_TEST

static const struct {
    const char *text, *why; /* part of the finding */
    rd_status   status;
} bad[] = {
    { "", "'{' expected at byte 0", RD_ERR_FILE },
    { "garbage", "'{' expected", RD_ERR_FILE },
    { "{}", "no key 'descr'", RD_ERR_FILE },
    { "{,}", "a key expected", RD_ERR_FILE },
    { "{'descr': '<f4'", "'}' expected", RD_ERR_FILE },
    { "{'descr': '<f4', 'fortran_order': False}", "no key 'shape'", RD_ERR_FILE },
    { "{'descr': '<f4', 'shape': (3,)}", "no key 'fortran_order'", RD_ERR_FILE },
    { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "'descr' twice",
      RD_ERR_FILE },
    { "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}", "'}' expected", RD_ERR_FILE },
    { "{'descr': '<f4',, 'fortran_order': False, 'shape': (3,)}", "a key expected", RD_ERR_FILE },
    { "{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}", "':' expected", RD_ERR_FILE },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}", "unknown key 'x'",
      RD_ERR_FILE },
    { SHAPED("(3,)") " x", "nothing more expected", RD_ERR_FILE },
    { SHAPED("(3)"), "tuple of one", RD_ERR_FILE },
    { SHAPED("[3]"), "'(' expected", RD_ERR_FILE },
    { SHAPED("(,)"), "an extent expected", RD_ERR_FILE },
    { SHAPED("(3,,4)"), "an extent expected", RD_ERR_FILE },
    { SHAPED("(3, 4 5)"), "')' expected", RD_ERR_FILE },
    { SHAPED("(-3,)"), "negative extent", RD_ERR_FILE },
    { SHAPED("(3.0,)"), "expected", RD_ERR_FILE },
    { SHAPED("(007,)"), "leading zeros", RD_ERR_FILE },
    { SHAPED("(9223372036854775808,)"), "exceeds 2^63", RD_ERR_FILE },
    { SHAPED("(9223372036854775807,)"), "overflows", RD_ERR_FILE },
    { SHAPED("(4294967296, 4294967296)"), "overflows", RD_ERR_FILE },
    { SHAPED("(4611686018427387904,)"), "overflows", RD_ERR_FILE },
    { SHAPED("(" TEN TEN TEN "1,1,1)"), "more than 32 axes", RD_ERR_FILE },
    { DICT("'<f4'", "1", "(3,)"), "True or False expected", RD_ERR_FILE },
    { DICT("'<f4'", "Falsehood", "(3,)"), "'}' expected", RD_ERR_FILE },
    { "{'fortran_order': False, 'shape': (3,), 'descr': '<f4}", "closing quote", RD_ERR_FILE },
    { TYPED("'\\x3cf4'"), "printable", RD_ERR_FILE },
    { TYPED("'<f4\x80'"), "printable", RD_ERR_FILE },
    { TYPED("4"), "the type expected", RD_ERR_FILE },
    { TYPED("''"), "descr ''", RD_ERR_TYPE },
    { TYPED("'<'"), "descr '<'", RD_ERR_TYPE },
    { TYPED("'<V2'"), "descr '<V2'", RD_ERR_TYPE },
    { TYPED("'<f16'"), "descr '<f16'", RD_ERR_TYPE },
    { TYPED("'<c32'"), "descr '<c32'", RD_ERR_TYPE },
    { TYPED("'|O'"), "descr '|O'", RD_ERR_TYPE },
    { TYPED("'<M8[ns]'"), "descr '<M8[ns]'", RD_ERR_TYPE },
    { TYPED("'|f4'"), "descr '|f4'", RD_ERR_TYPE },
    { TYPED("[('a', '<f4'), ('b', '<i4')]"), "descr [('a', '<f4')", RD_ERR_TYPE },
    { TYPED("('<f4', (2,))"), "descr ('<f4'", RD_ERR_TYPE },
};

START_TEST(bad_header)
{
    uint8_t       bytes[512];
    char          why[RD_NPY_WHY];
    rd_npy_header h;

    const rd_status status = parse(bytes, make_header(bytes, 1, bad[_i].text), &h, why);
    ck_assert_msg(status == bad[_i].status && strstr(why, bad[_i].why), "%s: %d %s", bad[_i].text,
                  status, why);
}
END_TEST

static const struct {
    const char *bytes, *why;
    int64_t     n;
} bad_prefix[] = {
    { "", "not a .npy file", 0 },
    { "\x93NUMPX\1\0\0\0\0\0", "does not begin", 12 },
    { "\x93NUMPY\1\0\0", "first 10 bytes", 9 },
    { "\x93NUMPY\2\0\0\0\0", "first 12 bytes", 11 },
    { "\x93NUMPY\0\0\4\0{}  ", "version 0.0", 14 },
    { "\x93NUMPY\4\0\4\0{}  ", "version 4.0", 14 },
    { "\x93NUMPY\1\1\4\0{}  ", "version 1.1", 14 },
    { "\x93NUMPY\1\0\5\0{}  ", "header of 15 bytes expected, 14 found", 14 },
    { "\x93NUMPY\2\0\377\377\377\377{}", "more than 1 MiB", 14 },
};

START_TEST(bad_start)
{
    char          why[RD_NPY_WHY];
    rd_npy_header h;

    ck_assert_int_eq(parse((const uint8_t *)bad_prefix[_i].bytes, bad_prefix[_i].n, &h, why),
                     RD_ERR_FILE);
    ck_assert_msg(strstr(why, bad_prefix[_i].why), "%s", why);
}
END_TEST

/* ---- Headers written ------------------------------------------------------------------------- */
static const struct {
    rd_dtype    type;
    rd_shape    shape;
    int         order;
    bool        big;
    const char *text; /* and spaces */
} written[] = {
    { RD_F32,
      { 0, 0, { 0 } },
      0,
      false,
      "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" },
    { RD_BOOL,
      { 1, 0, { 3 } },
      0,
      true,
      "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }" },
    { RD_I64,
      { 2, 0, { 0, 12 } },
      1,
      true,
      "{'descr': '>i8', 'fortran_order': True, 'shape': (0, 12), }" },
};

START_TEST(header_written)
{
    char         bytes[RD_NPY_HEADER];
    const char  *text = written[_i].text;
    const size_t n    = strlen(text);

    const int length = rd_npy_format(written[_i].type, &written[_i].shape, written[_i].order,
                                     written[_i].big, bytes);
    ck_assert_int_eq(length, 128);
    ck_assert(memcmp(bytes, "\x93NUMPY\1\0\x76\0", 10) == 0);
    ck_assert(memcmp(bytes + 10, text, n) == 0);
    ck_assert_int_eq(strspn(bytes + 10 + n, " "), 117 - n);
    ck_assert_int_eq(bytes[127], '\n');
}
END_TEST

/* The longest header there can be fits its room and is read again. */
START_TEST(longest_header)
{
    char          bytes[RD_NPY_HEADER], why[RD_NPY_WHY];
    rd_npy_header h;
    rd_shape      shape = { .n = RD_MAX_RANK };

    for (int k = 0; k < RD_MAX_RANK; k++)
        shape.at[k] = INT64_MAX;
    const int n = rd_npy_format(RD_F64, &shape, 0, false, bytes);
    ck_assert(n < RD_NPY_HEADER && n % 64 == 0);
    ck_assert_int_eq(parse((const uint8_t *)bytes, n, &h, why), RD_ERR_FILE);
    ck_assert_msg(strstr(why, "overflows"), "%s", why);
}
END_TEST

/* Any byte of a header changed to any other: refused, or understood as something whose size does
 * not overflow. */
START_TEST(mutations)
{
    uint8_t       bytes[RD_NPY_HEADER];
    char          why[RD_NPY_WHY];
    rd_npy_header h;
    const int n = rd_npy_format(RD_F32, &(rd_shape){ 3, 0, { 2, 3, 4 } }, 1, true, (char *)bytes);

    for (int k = 0; k < n; k++) {
        const uint8_t was = bytes[k];
        for (int value = 0; value < 256; value++) {
            bytes[k] = (uint8_t)value;
            if (parse(bytes, n, &h, why) == RD_OK)
                ck_assert(h.offset <= n && h.points >= 0 && h.offset <= INT64_MAX - h.bytes);
            else
                ck_assert(why[0]);
        }
        bytes[k] = was;
        ck_assert(k == 0 || parse(bytes, k, &h, why) == RD_ERR_FILE);
    }
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("npy");
    TCase   *tc     = tcase_create("headers");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(tc, good_header, 0, COUNT(good));
    tcase_add_loop_test(tc, bad_header, 0, COUNT(bad));
    tcase_add_loop_test(tc, bad_start, 0, COUNT(bad_prefix));
    tcase_add_loop_test(tc, header_written, 0, COUNT(written));
    tcase_add_test(tc, longest_header);
    tcase_add_test(tc, mutations);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
