/* Headers of .npy files with records, one thing changed at a time: the fields that are read, and what is refused. */
#include "command/hear.h"

/* ---- NumPy's records ------------------------------------------------------------------------- */
#define ONES_4  "1, 1, 1, 1, "
#define ONES_20 ONES_4 ONES_4 ONES_4 ONES_4 ONES_4
#define ONES_32 ONES_20 ONES_4 ONES_4 ONES_4

/* What stands behind 'descr' of two records. */
static const struct {
    const char *descr, *want; /* NULL: refused */
} records[] = {
    { "[('a', '<f4'), ('b', \"<i2\")]", "a f32 (2); b i16 (2)" },
    { "[('a', '<f4', 3), ('b', '<i2', (2, ), ), ]", "a f32 (2, 3); b i16 (2, 2)" },
    { "[('a', '<f4', (2L, 3L)), (('title', 'b'), '<i2')]", "a f32 (2, 2, 3); b i16 (2)" },
    { "[('', '<f4'), ('b', '<f4'), ('c', [('', '<f4'), ('d', '<f4')])]", "b f32 (2); c.d f32 (2)" },
    { "[('a', '<f4', (0,)), ('b', '<f4')]", "a f32 (2, 0); b f32 (2)" },
    { "[('a', '<f4', ()), ('b', [('c', '>f2', (2,))], (3,))]", "a f32 (2); b.c f16 (2, 3, 2)" },
    { "[(('it\\'s', 'a'), '<f4'), ('b\\\\', '<f4'), ('c\\n', '|u1')]",
      "a f32 (2); b\\ f32 (2); c\\n u8 (2)" },
    /* titles */
    { "[(('title' 'b'), '<i2')]", NULL },
    { "[(('title', 'b', '<i2')]", NULL },
    { "[((5, 'b'), '<i2')]", NULL },
    { "[(('title', 5), '<i2')]", NULL },
    /* what is left out, or is something else */
    { "[('a', '<f4', (2, -3))]", NULL },
    { "[('a', '<f4', (2, 3,]", NULL },
    { "[('a', '<f4', x)]", NULL },
    { "[('a', '<f4', (2) 3)]", NULL },
    { "[('a', '<f4'), 5]", NULL },
    { "[('a' '<f4')]", NULL },
    { "[('a', '<f4' 3)]", NULL },
    { "[('a', '<f4'", NULL },
    { "[('a', '<f4'}", NULL },
    { "[('a', '<f4]", NULL },
    { "[(a, '<f4')]", NULL },
    { "[('a', 5)]", NULL },
    { "[('a')]", NULL },
    { "[('a', )]", NULL },
    { "[('a', '<f4')", NULL },
    { "[('a', [('b', '<f4'], (2,))]", NULL },
    { "[('a', [('b', '<f4')] (2,))]", NULL },
    { "[]", NULL },
    /* types */
    { "[('a', '<M8')]", "a - (2): its elements are dates without a unit" },
    { "[('a', '<M8[x]')]", "a - (2): its elements are times in an unknown unit, x" },
    { "[('a', '<m8'), ('b', '>m8[2h]')]", "a i64 (2); b i64 (2)" },
    { "[('a', '<M8[]')]", NULL },
    { "[('a', '<M8[0s]')]", NULL },
    { "[('a', '<M8[5]')]", NULL },
    { "[('a', '<M8[99999999999999999999s]')]", NULL },
    { "[('a', '<M8[s')]", NULL },
    { "[('a', '<M8s]')]", NULL },
    { "[('a', '<M4[s]')]", NULL },
    { "[('a', '<f16'), ('b', '<c32'), ('u', '<U3'), ('s', '|S5'), ('r', '|a2')]",
      "a - (2): its elements are floats of 16 bytes; b - (2): its elements are floats of 32 bytes; "
      "u - (2): its elements are texts of 3 characters; s - (2): its elements are texts of 5 bytes; "
      "r - (2): its elements are texts of 2 bytes" },
    { "[('v', '|V4'), ('z', '|V0'), ('x', 'f8')]",
      "v - (2): its elements are 4 bytes of no type; z - (2): its elements are 0 bytes of no type; "
      "x f64 (2)" },
    { "[('o', '|O'), ('x', 'f8')]",
      "o - (2): its elements are objects, which NumPy pickles; "
      "x - (2): its records hold objects (o), so that NumPy pickles them" },
    { "[('a', '|f4')]", NULL },
    { "[('a', '<q8')]", NULL },
    { "[('a', '<f')]", NULL },
    { "[('a', '')]", "a - (2): its elements are of a type that is not known here" },
    { "[('a', '<')]", "a - (2): its elements are of a type that is not known here" },
    { "[('a', '<f4x')]", NULL },
    { "[('a', '<U-3')]", NULL },
    { "[('a', '<U1152921504606846977')]", NULL },
    { "[('a', '<S99999999999999999999')]", NULL },
    /* more than there can be */
    { "[('a', '<f4', (4000000000, 4000000000, 4000000000))]", NULL },
    { "[('a', '<f4', 99999999999999999999)]", NULL },
    { "[('a', [('b', '<f4')], (4000000000, 4000000000, 4000000000))]", NULL },
    { "[('a', '|V900000000000000000'), ('b', '|V900000000000000000')]", NULL },
    { "[('a', '<f4', (" ONES_32 "1))]", NULL },
    { "[('a', [('b', '<f4', (" ONES_20 "))], (" ONES_20 "))]", NULL },
    { "[('a', '<f4', (" ONES_32 "))]", "a - (): it has 33 axes, more than 32" },
};

static size_t put_header(char *to, int version, const char *dict)
{
    const size_t n = strlen(dict), begin = version == 1 ? 10 : 12;

    memcpy(to, "\x93NUMPY", 6);
    memset(to + 6, 0, 6);
    to[6] = (char)version;
    to[8] = (char)(n & 255);
    to[9] = (char)(n >> 8);
    memcpy(to + begin, dict, n);
    return begin + n;
}

static void put_npy(const char *path, int version, const char *dict)
{
    static char  bytes[1 << 17];
    const size_t n = put_header(bytes, version, dict);

    memset(bytes + n, 0, 2000);
    write_bytes(path, bytes, n + 2000);
}

START_TEST(fields_of_records)
{
    const char *const want = records[_i].want;
    char              dict[2000];

    snprintf(dict, sizeof dict, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }\n",
             records[_i].descr);
    for (int version = 1; version <= 2; version++) {
        put_npy("x.npy", version, dict);
        hear(list, "x.npy");
        ck_assert_msg(want ? strcmp(out, want) == 0
                           : strncmp(out, "x.npy: structured type, descr [", 31) == 0,
                      "%s\n%s\nnot: %s", dict, out, want ? want : "refused");
    }
}
END_TEST

/* n times one piece between two others. */
static const char *repeated(const char *first, int n, const char *piece, const char *last)
{
    static char text[1 << 16];
    size_t      at = (size_t)snprintf(text, sizeof text, "%s", first);

    for (int k = 0; k < n; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", piece);
    snprintf(text + at, sizeof text - at, "%s", last);
    return text;
}

/* Depth and number of fields are limited. */
START_TEST(many_fields)
{
    static const char end[] = "], 'fortran_order': False, 'shape': (2,)}",
                      f[]   = "f - (2): several fields are called f; ";

    put_npy("x.npy", 1, repeated("{'descr': [", 70, "('f', 'u1'), ", end));
    hear(list, "x.npy");
    ck_assert_msg(strlen(out) == 70 * strlen(f) - 2, "%s", out);
    put_npy("x.npy", 1, repeated("{'descr': [", 5000, "('f', 'u1'), ", end));
    hear(list, "x.npy");
    ck_assert_msg(strncmp(out, "x.npy: structured type", 22) == 0, "%.100s", out);
    put_npy("x.npy", 1, repeated("{'descr': ", 100, "[('a', ", end));
    hear(list, "x.npy");
    ck_assert_msg(strncmp(out, "x.npy: structured type", 22) == 0, "%.100s", out);
}
END_TEST

static const struct {
    const char *dict, *want;
} dicts[] = {
    { "{'descr': [('a', '<f4')], 'fortran_order': True, 'shape': (2, 3)}", "a f32 (2, 3)" },
    { "{'shape': (2L,), 'descr': [('a', '<f4')],\n'fortran_order': False,}", "a f32 (2)" },
    { "{'descr': [('a', '<f4')], 'fortran_order': Maybe, 'shape': (2,)}",
      "x.npy: structured type, descr [('a', '<f4')], 'fortran_order': Maybe, 'shape': (2,)}" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, }",
      "x.npy: structured type, descr [('a', '<f4')], 'fortran_order': False, 'shape': (2, }" },
    { "{'descr': [('a', '<f4')], 'fortran_order' False, 'shape': (2,)}",
      "x.npy: structured type, descr [('a', '<f4')], 'fortran_order' False, 'shape': (2,)}" },
    { "{'descr': [('a', '<f4')], 'kind': 5}",
      "x.npy: structured type, descr [('a', '<f4')], 'kind': 5}" },
    { "{'descr': [('a', '<f4')], ", "x.npy: structured type, descr [('a', '<f4')], " },
    { "{'descr': 5}", "x.npy: the type expected at byte 10 of the header's text" },
    { "{}", "x.npy: no key 'descr' in the header" },
    { "", "x.npy: '{' expected at byte 0 of the header's text" },
};

START_TEST(headers_of_records)
{
    put_npy("x.npy", 1, dicts[_i].dict);
    says(list, "x.npy", dicts[_i].dict, dicts[_i].want);
}
END_TEST

/* Of files that end before, or behind, what their headers say. */
START_TEST(ends_of_records)
{
    static const char dict[] = "{'descr': [('a', '<f4'), ('b', '>i2')], 'fortran_order': False, "
                               "'shape': (2,)}";
    char              bytes[200];
    const size_t      n = put_header(bytes, 1, dict);

    memcpy(bytes + n, "\0\0\x80\x3f\0\x07\0\0\0\x40\0\x05", 12);
    write_bytes("x.npy", bytes, n + 12);
    says(sum, "x.npy", dict, "3 12");
    write_bytes("x.npy", bytes, n + 11);
    says(sum, "x.npy", dict,
         "x.npy: truncated: 2 records of 6 bytes each are more than the 11 bytes that are there");
    write_bytes("x.npy", bytes, n - 1);
    hear(sum, "x.npy");
    ck_assert_msg(strncmp(out, "x.npy: truncated, a header of ", 30) == 0, "%s", out);
    write_bytes("x.npy", bytes, 11);
    hear(sum, "x.npy");
    ck_assert_msg(strncmp(out, "x.npy: truncated, a header of ", 30) == 0, "%s", out);
}
END_TEST

static void set_up(void)
{
    begin("records");
}

int main(void)
{
    Suite   *suite  = suite_create("command_records");
    TCase   *tc     = tcase_create("command_records");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, end);
    tcase_add_loop_test(tc, fields_of_records, 0, COUNT(records));
    tcase_add_loop_test(tc, headers_of_records, 0, COUNT(dicts));
    tcase_add_test(tc, many_fields);
    tcase_add_test(tc, ends_of_records);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
