/* Headers of .npz files and of classic NetCDF files, one thing changed at a time: what is read of them, and with which
 * sentence the others are refused. */
#include "command/hear.h"
#include "files/classic.h"
#include "files/inflate.h"

/* ---- .npz ------------------------------------------------------------------------------------ */
#if RDIM_ZLIB
/* A zip of one member x.npy, stored: its record, 128 bytes, the list, what 64 bits need, the end. */
enum {
    NAME    = 5,
    DATA    = 30 + NAME,
    LIST    = DATA + 128 + 5 * 8,
    LISTED  = 46 + NAME,
    END64   = LIST + LISTED,
    LOCATOR = END64 + 56,
    END     = LOCATOR + 20,
    EXTENT  = DATA + 10 + sizeof "{'descr': '<f8', 'fortran_order': False, 'shape': (" - 1,
    ALL     = END + 22
};

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++)
        to[k] = (uint8_t)(value >> 8 * k);
}

static void make_zip(uint8_t zip[ALL])
{
    static const double elements[] = { 1, 2, 3, 4, 5 };
    const uint32_t      size       = 128 + sizeof elements;
    char                header[CMD_NPY_HEADER];

    memset(zip, 0, ALL);
    memcpy(zip, "PK\3\4", 4);
    put(zip + 18, size, 4);
    put(zip + 22, size, 4);
    put(zip + 26, NAME, 2);
    memcpy(zip + 30, "x.npy", NAME);
    ck_assert(cmd_npy_header(RD_F64, &RD_SHAPE(5), header) == 128);
    memcpy(zip + DATA, header, 128);
    memcpy(zip + DATA + 128, elements, sizeof elements);
    memcpy(zip + LIST, "PK\1\2", 4);
    put(zip + LIST + 20, size, 4);
    put(zip + LIST + 24, size, 4);
    put(zip + LIST + 28, NAME, 2);
    memcpy(zip + LIST + 46, "x.npy", NAME);
    memcpy(zip + END64, "PK\6\6", 4);
    put(zip + END64 + 32, 1, 8);
    put(zip + END64 + 40, LISTED, 8);
    put(zip + END64 + 48, LIST, 8);
    memcpy(zip + LOCATOR, "PK\6\7", 4);
    put(zip + LOCATOR + 8, END64, 8);
    memcpy(zip + END, "PK\5\6", 4);
    put(zip + END + 10, 1, 2);
    put(zip + END + 12, LISTED, 4);
    put(zip + END + 16, LIST, 4);
}

/* Two numbers in other places; a place of 0 is none.  Then the checksum is made right, if so. */
static const struct {
    const char *what;
    struct {
        int      at, bytes;
        uint64_t value;
    } put[2];
    bool        summed;
    const char *listed, *sums;
} zips[] = {
    { "as it was", { { 0 } }, true, "x ? ()", "15" },
    { "a checksum",
      { { 0 } },
      false,
      NULL,
      "x.npz: x is damaged: its checksum is 00000000, and what is there comes to " },
    { "no member",
      { { LIST + 42, 4, 4 } },
      true,
      NULL,
      "x.npz: a broken .npz file: no member where one is announced" },
    { "no entry",
      { { LIST + 2, 1, 9 } },
      true,
      "x.npz: a broken .npz file: its list of members cannot be read",
      NULL },
    { "no end",
      { { END + 2, 1, 9 } },
      true,
      "x.npz: a broken .npz file: its list of members is missing (truncated?)",
      NULL },
    { "a long name",
      { { LIST + 28, 2, 60000 } },
      true,
      "x.npz: a broken .npz file: its list of members ends early",
      NULL },
    { "a far member",
      { { LIST + 42, 4, 0x7fffffff } },
      true,
      "x.npz: a broken .npz file: a member lies outside",
      NULL },
    { "a long member",
      { { LIST + 20, 4, 0x7fffffff } },
      true,
      "x.npz: a broken .npz file: a member lies outside",
      NULL },
    { "a member at the end",
      { { LIST + 42, 4, ALL - 4 } },
      true,
      NULL,
      "x.npz: a broken .npz file: a record lies outside" },
    { "a member across the end",
      { { 28, 2, 300 } },
      true,
      NULL,
      "x.npz: a broken .npz file: a member ends outside" },
    { "a long extra field",
      { { 28, 2, 60000 } },
      true,
      NULL,
      "x.npz: a broken .npz file: a record lies outside" },
    { "encrypted", { { LIST + 8, 2, 1 } }, true, "x - (): it is encrypted", NULL },
    { "another method",
      { { LIST + 10, 2, 12 }, { 8, 2, 12 } },
      true,
      NULL,
      "x.npz: x is packed by method 12 of zip; deflate is what can be read" },
    { "two methods",
      { { LIST + 10, 2, 8 } },
      true,
      NULL,
      "x.npz: a broken .npz file: its list says 168 bytes of x, checksum " },
    { "two sizes",
      { { LIST + 24, 4, 100 } },
      true,
      NULL,
      "x.npz: a broken .npz file: its list says 100 bytes of x, checksum " },
    { "two sizes, twice",
      { { LIST + 24, 4, 100 }, { 22, 4, 100 } },
      true,
      NULL,
      "x.npz: a broken .npz file: a stored member has two sizes" },
    { "sizes behind it", { { 6, 2, 8 }, { 18, 8, 0 } }, true, NULL, "15" },
    { "a far list",
      { { END + 16, 4, 0x7fffffff } },
      true,
      "x.npz: a broken .npz file: its list of members lies outside",
      NULL },
    { "a long list",
      { { END + 12, 4, 0x7fffffff } },
      true,
      "x.npz: a broken .npz file: its list of members lies outside",
      NULL },
    { "more members than the list",
      { { END + 10, 2, 3 } },
      true,
      "x.npz: a broken .npz file: its list of members lies outside",
      NULL },
    { "64 bits", { { END + 10, 2, 0xffff } }, true, NULL, "15" },
    { "64 bits of the place", { { END + 16, 4, 0xffffffff } }, true, NULL, "15" },
    { "no locator",
      { { END + 10, 2, 0xffff }, { LOCATOR + 2, 1, 9 } },
      true,
      "x.npz: a broken .npz file: its list of members lies outside",
      NULL },
    { "no end of 64 bits",
      { { END + 12, 4, 0xffffffff }, { END64 + 2, 1, 9 } },
      true,
      "x.npz: a broken .npz file: no record of 64 bits where one is announced",
      NULL },
    { "a far end of 64 bits",
      { { END + 12, 4, 0xffffffff }, { LOCATOR + 8, 8, UINT64_MAX } },
      true,
      "x.npz: a broken .npz file: a record lies outside",
      NULL },
    { "a list of 2^63",
      { { END + 12, 4, 0xffffffff }, { END64 + 40, 8, UINT64_MAX / 2 } },
      true,
      "x.npz: a broken .npz file: its list of members lies outside",
      NULL },
    { "no array",
      { { DATA + 3, 1, 'X' } },
      true,
      NULL,
      "x.npz: x: not a .npy file, it does not begin with \\x93NUMPY" },
    { "more elements",
      { { EXTENT, 1, '9' } },
      true,
      NULL,
      "x.npz: truncated: x of f64 (9) needs 200 bytes, and its member has 168" },
};

START_TEST(members_of_zips)
{
    uint8_t zip[ALL];

    make_zip(zip);
    for (int k = 0; k < 2; k++)
        if (zips[_i].put[k].bytes)
            put(zip + zips[_i].put[k].at, zips[_i].put[k].value, zips[_i].put[k].bytes);
    if (zips[_i].summed) {
        const uint32_t sum = cmd_crc32(0, zip + DATA, LIST - DATA);
        put(zip + 14, sum, 4);
        put(zip + LIST + 16, sum, 4);
    }
    write_bytes("x.npz", zip, ALL);
    if (zips[_i].listed)
        says(list, "x.npz", zips[_i].what, zips[_i].listed);
    if (!zips[_i].sums)
        return;
    hear(sum, "x.npz");
    ck_assert_msg(strncmp(out, zips[_i].sums, strlen(zips[_i].sums)) == 0, "%s\n%s\nnot: %s",
                  zips[_i].what, out, zips[_i].sums);
}
END_TEST
#endif

/* ---- Classic NetCDF -------------------------------------------------------------------------- */
/* Version 1: a dimension that grows and one of 3, an attribute, variables a(time, x) and b(time). */
static const uint8_t classic[] = {
#define WORD(n) 0, 0, 0, n
    'C',      'D',      'F',       1,       WORD(2), /* records */
    WORD(10), WORD(2),  WORD(1),   't',     0,       0,         0,        WORD(0), WORD(1),
    'x',      0,        0,         0,       WORD(3), WORD(12),  WORD(1),  WORD(1), 'n',
    0,        0,        0,         WORD(4), WORD(1), WORD(7),   WORD(11), WORD(2), WORD(1),
    'a',      0,        0,         0,       WORD(2), WORD(0),   WORD(1),  WORD(0), WORD(0),
    WORD(5),  WORD(12), WORD(180), WORD(1), 'b',     0,         0,        0,       WORD(1),
    WORD(0),  WORD(0),  WORD(0),   WORD(4), WORD(4), WORD(192),
#undef WORD
};
enum { HEADER = sizeof classic, RECORD = 16, WHOLE = 180 + 2 * RECORD };

/* Words of the header. */
enum {
    DIMENSIONS       = 8,
    N_DIMENSIONS     = 12,
    X_EXTENT         = 36,
    N_ATTRIBUTES     = 44,
    NAME_LENGTH      = 48,
    ATTRIBUTE_TYPE   = 56,
    ATTRIBUTE_LENGTH = 60,
    VARIABLES        = 68,
    N_VARIABLES      = 72,
    A_RANK           = 84,
    A_DIMENSION      = 92,
    A_TYPE           = 104,
    A_BEGIN          = 112,
};

#define CLASSIC "c.nc: the header of this classic NetCDF file "

static const struct {
    const char *what;
    int         at;
    uint32_t    value;
    int64_t     bytes; /* of the file; 0: all */
    const char *want;
} classics[] = {
    { "as it was", 0, 0, 0, "" },
    { "no header", 0, 0, 4, CLASSIC "is cut short" },
    { "no file", 0, 0, -1, CLASSIC "is cut short" },
    { "half a header", 0, 0, 50, CLASSIC "is cut short" },
    { "a cut name", 0, 0, 27, CLASSIC "is cut short" },
    { "another list", DIMENSIONS, 11, 0, CLASSIC "has another list where one is announced" },
    { "no variables", VARIABLES, 12, 0, CLASSIC "has another list where one is announced" },
    { "many dimensions", N_DIMENSIONS, 100000, 0,
      CLASSIC "counts more than the file has room for" },
    { "many attributes", N_ATTRIBUTES, 100000, 0,
      CLASSIC "counts more than the file has room for" },
    { "a long name", NAME_LENGTH, 160, 0, CLASSIC "is cut short" },
    { "a long attribute", ATTRIBUTE_LENGTH, 200, 0, CLASSIC "is cut short" },
    { "many variables", N_VARIABLES, 3, 0, NULL },
    { "no type", ATTRIBUTE_TYPE, 0, 0, CLASSIC "has a type that there is not" },
    { "another type", A_TYPE, 13, 0, CLASSIC "has a type that there is not" },
    { "another dimension", A_DIMENSION, 2, 0, CLASSIC "has a dimension that there is not" },
    { "many axes", A_RANK, 180, 0, NULL },
    { "elements that are missing", 0, 0, WHOLE - 1,
      "c.nc: truncated: b ends at byte 212, and the file has 211" },
    { "a variable behind the end", A_BEGIN, 190, 0,
      "c.nc: truncated: a ends at byte 218, and the file has 212" },
    { "a large variable", X_EXTENT, 0x7fffffff, 0, "c.nc: truncated: a ends at byte " },
    { "an empty variable", X_EXTENT, 0, 0, "" },
};

static void check_third(void *file)
{
    cmd_classic_check(file, 2, "c", 1);
}

static void read_classic(void *path)
{
    const cmd_classic *file = cmd_classic_read(path);

    ck_assert_int_eq(file->n, 2);
    cmd_classic_check(file, 0, "a", 0);
    cmd_classic_check(file, 0, "a", 2);
    cmd_classic_check(file, 1, "b", 2);
    const char *const why = cmd_try(check_third, (void *)file);
    ck_assert_str_eq(why, "c.nc: c is not in its header");
}

START_TEST(headers_of_classic_files)
{
    uint8_t bytes[WHOLE] = { 0 };

    memcpy(bytes, classic, HEADER);
    if (classics[_i].at)
        for (int k = 0; k < 4; k++)
            bytes[classics[_i].at + k] = (uint8_t)(classics[_i].value >> 8 * (3 - k));
    const int64_t n = classics[_i].bytes;
    write_bytes("c.nc", bytes, n < 0 ? 0 : n ? (size_t)n : WHOLE);
    hear(read_classic, "c.nc");
    const char *const want = classics[_i].want;
    ck_assert_msg(want ? strncmp(out, want, *want ? strlen(want) : 1) == 0
                       : strncmp(out, CLASSIC, strlen(CLASSIC)) == 0,
                  "%s\n%s\nnot: %s", classics[_i].what, out, want ? want : "refused");
}
END_TEST

static void set_up(void)
{
    begin("headers");
}

int main(void)
{
    Suite   *suite  = suite_create("command_headers");
    TCase   *tc     = tcase_create("command_headers");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, end);
#if RDIM_ZLIB
    tcase_add_loop_test(tc, members_of_zips, 0, COUNT(zips));
#endif
    tcase_add_loop_test(tc, headers_of_classic_files, 0, COUNT(classics));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
