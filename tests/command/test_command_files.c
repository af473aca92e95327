/* Files as other programs write them: types of each layout, user blocks, groups, members that cannot be
 * read.  They lie in tests/data/files, where make.py says how they were made. */
#include "command/run.h"
#include <stdbool.h>
#if RDIM_HDF5
#include "files/hdf5_api.h"
#endif

static bool has(const char *format)
{
    ck_assert_int_eq(run_together("$R --version"), 0);
    return strstr(out, format) != NULL;
}

static void set_up(void)
{
    enter("files");
}

/* ---- One command, and what it says ----------------------------------------------------------- */
/* What must be said, or be part of it; `format` is what a build must have. */
typedef struct row {
    const char *format, *line;
    int         status;
    const char *want;
} row;

static void check_row(const row *r)
{
    if (!has(r->format))
        return;
    const int status = run_together(r->line);
    ck_assert_msg(status == r->status && strstr(out, r->want), "%s: %d, not %d\n%s\nwithout: %s",
                  r->line, status, r->status, out, r->want);
}

#define TYPES(formula)                                        \
    {                                                         \
        "HDF5\n", "$R '" formula "' $D/types.h5", 0, "true\n" \
    }
#define NO_TYPE(name, why)                                                                \
    {                                                                                     \
        "HDF5\n", "$R " name " $D/types.h5", 1, "types.h5: " name " cannot be read: " why \
    }

/* Each layout as the type that holds it, or refused. */
static const row types[] = {
    TYPES("(half_le[0] == 1.5) & (half_le[1] == -2) & (half_le[2] == inf) & "
          "(half_le[3] == 5.9604644775390625e-08)"),
    TYPES("all(half_be == half_le)"),
    TYPES("all(half_chunks == arange(40))"),
    TYPES("(brain_le[0] == 1.5) & (brain_le[1] == -2.25) & (brain_le[2] == 2.0**-126) & "
          "(brain_le[3] == 2.0**-130) & (brain_le[4] == inf) & isnan(brain_le[5])"),
    TYPES("all(brain_be[:5] == brain_le[:5]) & isnan(brain_be[5])"),
    TYPES("(three_bytes[0] == 1.5) & (three_bytes[1] == -2.25) & (three_bytes[2] == 2.0**-62) & "
          "(three_bytes[3] == 2.0**-66) & (three_bytes[4] == 1 + 2.0**-16) & "
          "(three_bytes[5] == inf) & isnan(three_bytes[6])"),
    TYPES("(shifted[0] == 1.5) & (shifted[1] == -2.25) & (shifted[2] == 2.0**-62) & "
          "(shifted[3] == 1 + 2.0**-16)"),
    TYPES("(wide_exponent[0] == 1.5) & (abs(wide_exponent[1] / -1e300 - 1) < 1e-6) & "
          "(wide_exponent[2] == 2.0**-1022)"),
    TYPES("(other_bias[0] == 1.5) & (other_bias[1] == -2.25) & (other_bias[2] == 2.0**-127)"),
    TYPES("(twelve_bits[0] == 0) & (twelve_bits[1] == 1) & (twelve_bits[2] == 4095)"),
    TYPES("(nine_signed[0] == -256) & (nine_signed[1] == -1) & (nine_signed[2] == 255)"),
    TYPES("(three_byte_ints[0] == 0) & (three_byte_ints[1] == 70000) & "
          "(three_byte_ints[2] == 16777215)"),
    TYPES("all(flags == (arange(3) != 1))"),
    TYPES("(switch[0] == 0) & (switch[1] == 5) & (switch[2] == 5)"),
    TYPES("(colour[0] == -1) & (colour[1] == 70000) & (colour[2] == 70000)"),
    TYPES("(real(c64[0]) == 1) & (imag(c64[0]) == 2) & (real(c64[1]) == 3) & (imag(c64[1]) == -4)"),
    TYPES("all(c64_be == c64)"),
    TYPES("all(c128 == c64)"),
    TYPES("all(imaginary_first == c64)"),
    TYPES("all(matlab == c64)"),
    TYPES("all(real(c128_chunks) == arange(40)) & all(imag(c128_chunks) == -2 * arange(40))"),
    TYPES("all(real(c128_shuffled) == arange(40)) & all(imag(c128_shuffled) == -2 * arange(40))"),
    NO_TYPE("long_double", "its elements are floats of 80 bits, 15 of the exponent and 64 of the "
                           "mantissa, which f64 does not hold"),
    NO_TYPE("hundred_bits", "its elements are integers of 100 bits"),
    NO_TYPE("pairs_of_ints", "its elements are pairs r and i of what c128 does not hold"),
    NO_TYPE("records", "its elements are records of several fields"),
    NO_TYPE("texts", "its elements are texts"),
    NO_TYPE("lists", "its elements are lists"),
    NO_TYPE("references", "its elements are references"),
    NO_TYPE("bits", "its elements are fields of bits"),
    NO_TYPE("arrays", "its elements are arrays"),
    { "HDF5\n", "$R --list $D/types.h5", 0,
      "  texts            -     (2); cannot be read: its elements are texts\n" },
};

#define USER_TYPES(formula)                                          \
    {                                                                \
        "NetCDF\n", "$R '" formula "' $D/user_types.nc", 0, "true\n" \
    }
#define NO_USER_TYPE(name, why)                                 \
    {                                                           \
        "NetCDF\n", "$R " name " $D/user_types.nc", 1,          \
            "user_types.nc: " name " cannot be read: " why "\n" \
    }

static const row netcdf_types[] = {
    USER_TYPES("(clouds[0] == 7) & (clouds[1] == 0)"),
    USER_TYPES("(real(c128[0]) == 1) & (imag(c128[0]) == 2) & (imag(c128[1]) == -4)"),
    USER_TYPES("all(c64 == c128)"),
    NO_USER_TYPE("points", "its elements are records point"),
    NO_USER_TYPE("texts", "its elements are texts"),
    NO_USER_TYPE("letters", "its elements are characters"),
    NO_USER_TYPE("lists", "its elements are lists row"),
};

START_TEST(netcdf_layouts)
{
    check_row(&netcdf_types[_i]);
}
END_TEST

/* Behind what another program put before the file. */
static const row blocks[] = {
    { "HDF5\n", "$R 'sum(a)' $D/matlab.mat", 0, "3\n" },
    { "HDF5\n", "$R 'all((chunks == arange(40)) & (runs == arange(40)))' $D/matlab.mat", 0,
      "true\n" },
    { "HDF5\n", "$R 'all((chunks == arange(40)) & (runs == arange(40)))' $D/block_4096.h5", 0,
      "true\n" },
    { "HDF5\n", "cp $D/matlab.mat m.nc; $R 'sum(a)' m.nc", 0, "3\n" },
    { "HDF5\n", "cp $D/matlab.mat m.txt; $R 'sum(a)' m.txt", 0, "3\n" },
    { "HDF5\n",
      "(head -c 1024 /dev/zero; cat $D/types.h5) > late.h5; $R 'all(half_chunks == arange(40))' late.h5",
      0, "true\n" },
    { "HDF5\n", "head -c 3000 /dev/zero > no.h5; $R 'a' no.h5", 1,
      "not a HDF5 file, whatever its name" },
};

START_TEST(user_blocks)
{
    check_row(&blocks[_i]);
}
END_TEST

#define LISTED(file, text)                           \
    {                                                \
        "HDF5\n", "$R --list $D/" file, 0, text "\n" \
    }
#define GROUPS(formula, inputs)                                           \
    {                                                                     \
        "HDF5\n", "G=$D/groups.h5; $R '" formula "' " inputs, 0, "true\n" \
    }
#define NO_GROUPS(formula, inputs, why)                              \
    {                                                                \
        "HDF5\n", "G=$D/groups.h5; $R '" formula "' " inputs, 1, why \
    }

/* Groups are visited once, whatever leads to them, and each dataset has its path. */
static const row groups[] = {
    GROUPS("all(x == 1 + arange(2))", "x=$G:a/v"),
    GROUPS("all(x == 3 + arange(2))", "x=$G:b/v"),
    GROUPS("one == 5", "$G"),
    GROUPS("soft_one == 5", "$G"),
    GROUPS("x == 5", "x=$G:c/one"),
    GROUPS("x == 5", "x=$G:b/again/one"),
    GROUPS("x == 9", "x=$G:a/up/a/up/soft/up/root"),
    GROUPS("deep == 6", "$G"),
    NO_GROUPS("v", "$G",
              "groups.h5: v is in several groups, as a/v and as b/v: say which, as in v="),
    NO_GROUPS("x", "x=$G:v", "groups.h5: v is in several groups, as a/v and as b/v"),
    NO_GROUPS("broken", "$G", "groups.h5: broken cannot be read: it cannot be opened (damaged?)\n"),
    NO_GROUPS(
        "broken_attribute", "$G",
        "groups.h5: broken_attribute cannot be read: an attribute units of this HDF5 file cannot "
        "be read (damaged?)\n"),
    NO_GROUPS("null", "$G", "groups.h5: null cannot be read: it has no elements, and no shape\n"),
    NO_GROUPS("soft", "$G", "soft cannot be read: it is the group a under another name\n"),
    LISTED(
        "groups.h5",
        "  broken           -     (); cannot be read: it cannot be opened (damaged?)\n"
        "  broken_attribute f64   (1); cannot be read: an attribute units of this HDF5 file cannot "
        "be read (damaged?)\n"
        "  null             -     (); cannot be read: it has no elements, and no shape\n"
        "  root             f64   (1); mapped\n"
        "  soft             -     (); cannot be read: it is the group a under another name\n"
        "  soft_one         f64   (1); mapped\n"
        "  a/one            f64   (1); mapped\n"
        "  a/up             -     (); cannot be read: it is the group / under another name\n"
        "  a/v              f64   (2); mapped\n"
        "  b/again          -     (); cannot be read: it is the group a under another name\n"
        "  b/v              f64   (2); mapped\n"
        "  c/one            f64   (1); mapped"),
};

START_TEST(finds_groups)
{
    check_row(&groups[_i]);
}
END_TEST

#define MEMBER(format, formula)                                           \
    {                                                                     \
        "NumPy .npz\n", "$R '" formula "' $D/" format ".npz", 0, "true\n" \
    }
#define NO_MEMBER(format, name, why)                                                  \
    {                                                                                 \
        "NumPy .npz\n", "$R x x=$D/" format ".npz:" name, 1, format ".npz: " why "\n" \
    }
#define MEMBERS(format)                                                                    \
    { "NumPy .npz\n", "$R --list $D/" format ".npz", 0,                                    \
      "  indices          i64   (3); " format "\n"                                         \
      "  format           -     (); cannot be read: format: descr '|S3' is not a type of " \
      "this release\n"                                                                     \
      "  lost             -     (); cannot be read: a broken .npz file: no member where "  \
      "one is announced\n"                                                                 \
      "  a/v              f64   (2); " format "\n"                                         \
      "  b/v              f64   (2); " format "\n"                                         \
      "  objects          -     (); cannot be read: objects: descr '|O' is not a type of " \
      "this release\n"                                                                     \
      "  data             f64   (2000); " format "\n"                                      \
      "  README.txt       -     (); cannot be read: it is encrypted\n" },                  \
        MEMBER(format, "all(data == arange(2000))"),                                       \
        NO_MEMBER(format, "format", "format: descr '|S3' is not a type of this release"),  \
        NO_MEMBER(format, "lost", "a broken .npz file: no member where one is announced"), \
        NO_MEMBER(format, "README.txt", "README.txt cannot be read: it is encrypted")

static const row members[] = { MEMBERS("stored"), MEMBERS("deflated") };

START_TEST(lists_members)
{
    check_row(&members[_i]);
}
END_TEST

/* Time and memory are by the number of datasets, not by its square: a thousand were too many once. */
START_TEST(many_datasets)
{
#if RDIM_HDF5
    static const int    counts[] = { 1000, 20000, 100000 };
    const cmd_hdf5_api *h5       = cmd_hdf5_load();
    const hsize_t       one      = 1;
    const int           n        = counts[_i];
    char                name[32];

    if (!h5 || n > (SANITIZED ? 1000 : suite_part(5) == 1 ? 100000 : 20000))
        return;
    const hid_t file  = h5->H5Fcreate("many.h5", CMD_HDF5_TRUNCATE, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = h5->H5Screate_simple(1, &one, NULL);
    for (int k = 0; k < n; k++) {
        const double value = k + 0.5;

        snprintf(name, sizeof name, "d%06d", k);
        const hid_t set = h5->H5Dcreate2(file, name, h5->NATIVE_DOUBLE, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
        ck_assert(set >= 0 &&
                  h5->H5Dwrite(set, h5->NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
        h5->H5Dclose(set);
    }
    h5->H5Sclose(space);
    h5->H5Fclose(file);
    ck_assert_int_eq(run_together("$R 'sum(d000003)' many.h5; $R --list many.h5 | wc -l"), 0);
    snprintf(name, sizeof name, "3.5\n%d\n", n + 1);
    ck_assert_msg(strstr(out, name), "%s", out);
    ck_assert_int_eq(remove("many.h5"), 0);
#endif
}
END_TEST

#if RDIM_HDF5
/* A dataset of four numbers, without scales; text, if it is not NULL, is its attribute "coordinates". */
static void put_bare(const cmd_hdf5_api *h5, hid_t file, const char *name, const char *text)
{
    const double  values[] = { 1, 2, 3, 4 };
    const hsize_t n        = COUNT(values);
    const hid_t   space    = h5->H5Screate_simple(1, &n, NULL);
    const hid_t   set =
        h5->H5Dcreate2(file, name, h5->NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    ck_assert(h5->H5Dwrite(set, h5->NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (text) {
        const hid_t type = h5->H5Tcopy(h5->C_S1), one = h5->H5Screate(H5S_SCALAR);
        h5->H5Tset_size(type, strlen(text));
        const hid_t said = h5->H5Acreate2(set, "coordinates", type, one, H5P_DEFAULT, H5P_DEFAULT);
        ck_assert(h5->H5Awrite(said, type, text) >= 0);
        h5->H5Aclose(said);
        h5->H5Sclose(one);
        h5->H5Tclose(type);
    }
    h5->H5Dclose(set);
    h5->H5Sclose(space);
}
#endif

/* Dimensions without names: a variable that two results name is written once. */
START_TEST(bare_coordinates)
{
#if RDIM_HDF5
    const cmd_hdf5_api *h5 = cmd_hdf5_load();

    if (!h5)
        return;
    const hid_t file = h5->H5Fcreate("bare.h5", CMD_HDF5_TRUNCATE, H5P_DEFAULT, H5P_DEFAULT);
    put_bare(h5, file, "a", "height");
    put_bare(h5, file, "b", "height");
    put_bare(h5, file, "height", NULL);
    h5->H5Fclose(file);
    run_well("$R 'p = a + 0; q = b + 0' bare.h5 -o kept.h5 && $R --list kept.h5 | grep -c height");
    ck_assert_str_eq(out, "1\n");
    run_well("$R 'sum(height * q)' kept.h5 && rm bare.h5 kept.h5");
    ck_assert_str_eq(out, "30\n");
#endif
}
END_TEST

#define PACKING(formula)                                          \
    {                                                             \
        "NetCDF\n", "$R '" formula "' $D/packing.nc", 0, "true\n" \
    }

/* Which values are missing, to the last bit of 64, and of what a range is one. */
static const row packing[] = {
    PACKING("(sum(isfinite(range64)) == 3) & isnan(range64[0]) & isnan(range64[3])"),
    PACKING("(sum(isfinite(range_u64)) == 3) & isnan(range_u64[0]) & isnan(range_u64[4])"),
    PACKING("(sum(isfinite(missing64)) == 3) & isnan(missing64[1]) & isnan(missing64[3])"),
    PACKING("isnan(turned32[0]) & (turned32[1] == 4294967294) & (turned32[2] == 5)"),
    PACKING("isnan(turned64[0]) & (turned64[1] == 2.0**64) & (turned64[2] == 5)"),
    PACKING("isnan(turned_back[0]) & (turned_back[3] == -2) & (turned_back[4] == 127)"),
    PACKING("isnan(of_floats[1]) & isnan(of_floats[4]) & (sum(isfinite(of_floats)) == 3)"),
    PACKING("isnan(of_doubles[1]) & isnan(of_doubles[4]) & (sum(isfinite(of_doubles)) == 3)"),
    PACKING("isnan(of_packed[1]) & isnan(of_packed[4]) & (sum(isfinite(of_packed)) == 3)"),
    PACKING("isnan(of_ints[1]) & isnan(of_ints[4]) & (sum(isfinite(of_ints)) == 3)"),
    /* 20 - stored / 100 */
    PACKING("isnan(falling[1]) & isnan(falling[4]) & (sum(isfinite(falling)) == 3)"),
    PACKING("(sum(isfinite(part_i2)) == 2) & (nansum(part_i2) == 3)"),
    PACKING("(sum(isfinite(part_i4)) == 2) & (nansum(part_i4) == 3)"),
    PACKING("(sum(isfinite(part_i8)) == 2) & (nansum(part_i8) == 3)"),
    PACKING("(sum(isfinite(part_u2)) == 2) & (nansum(part_u2) == 3)"),
    PACKING("(sum(isfinite(part_u4)) == 2) & (nansum(part_u4) == 3)"),
    PACKING("(sum(isfinite(part_u8)) == 2) & (nansum(part_u8) == 3)"),
    PACKING("(sum(isfinite(part_f4)) == 2) & (nansum(part_f4) == 3)"),
    PACKING("(sum(isfinite(part_f8)) == 2) & (nansum(part_f8) == 3)"),
    PACKING("part_i1[2] == -127"), /* bytes have no value to spare */
    PACKING("part_u1[2] == 255"),
    PACKING("whole[0] % 2 == 1"), /* integers, as none is missing */
    PACKING("(sum(isfinite(part_packed)) == 2) & (abs(nansum(part_packed) - 41) < 1e-5)"),
    PACKING("min(no_fill) > 9e36"),
};

START_TEST(means_what_is_stored)
{
    check_row(&packing[_i]);
}
END_TEST

START_TEST(layouts)
{
    check_row(&types[_i]);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_files");
    TCase   *tc     = tcase_create("command_files");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, layouts, 0, COUNT(types));
    tcase_add_loop_test(tc, netcdf_layouts, 0, COUNT(netcdf_types));
    tcase_add_loop_test(tc, user_blocks, 0, COUNT(blocks));
    tcase_add_loop_test(tc, finds_groups, 0, COUNT(groups));
    tcase_add_loop_test(tc, lists_members, 0, COUNT(members));
    tcase_add_loop_test(tc, many_datasets, 0, 3);
    tcase_add_test(tc, bare_coordinates);
    tcase_add_loop_test(tc, means_what_is_stored, 0, COUNT(packing));
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
