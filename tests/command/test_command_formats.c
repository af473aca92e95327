/* Formats that have records, dates or stores in folders, as other programs write them.  The files lie in
 * tests/data/files, where make.py says how they were made. */
#include "command/run.h"
#include <stdbool.h>
#if RDIM_ECCODES
#include <dlfcn.h>
#include <eccodes.h>
#endif

static char version[1 << 10];

static bool has(const char *format)
{
    return strstr(version, format) != NULL;
}

static void set_up(void)
{
    enter("formats");
    ck_assert_int_eq(run_together("$R --version"), 0);
    snprintf(version, sizeof version, "%.1000s", out);
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
    if (!has(r->format)) {
        printf("skipped, as this build has no %.*s: %s\n", (int)strcspn(r->format, "\n"), r->format,
               r->line);
        return;
    }
    const int status = run_together(r->line);
    ck_assert_msg(status == r->status && strstr(out, r->want), "%s: %d, not %d\n%s\nwithout: %s",
                  r->line, status, r->status, out, r->want);
}

/* ---- Records and dates of NumPy --------------------------------------------------------------- */
#define NPY(line, want)               \
    {                                 \
        "NumPy .npy\n", line, 0, want \
    }
#define NPZ(line, want)               \
    {                                 \
        "NumPy .npz\n", line, 0, want \
    }
/* A file with that header, and 64 bytes behind it, is refused. */
#define BAD_HEADER(dict, want)                                        \
    {                                                                 \
        "NumPy .npy\n",                                               \
            "{ printf '\\223NUMPY\\1\\0\\366\\0%-245s\\n' \"" dict    \
            "\"; printf '%064d' 0; } > bad.npy; $R 'sum(a)' bad.npy", \
            1, want                                                   \
    }
#define TRUE(file, formula) NPY("$R '" formula "' $D/" file, "true\n")

static const row records[] = {
    NPY("$R x x=$D/records.npy:x", "            time  result\n"
                                   "      2000-01-01       1\n"
                                   "      2000-01-02       2\n"
                                   "2000-03-01 12:30       3\n"
                                   "      2000-03-02     NaN\n"),
    NPY("$R 'all(a == reshape(arange(8), (4, 2)))' a=$D/records.npy:part.a", "true\n"),
    NPY("$R 'all(b == reshape(arange(48), (4, 2, 2, 3)))' b=$D/records.npy:part.b", "true\n"),
    TRUE("records.npy", "all((real(c) == 1) & (imag(c) == 2))"),
    NPY("$R 'sum(flag)' $D/records.npy", "3\n"),
    NPY("$R 'max(time)' $D/records.npy", "2000-03-02\n"),
    NPY("$R 'time[2] - time[0]' $D/records.npy", "5229000\n"),
    NPY("$R 'mean(time[:2])' $D/records.npy", "2000-01-01 12:00\n"),
    NPY("$R 'mean(x[1:3])' $D/records.npy", "2.5\n"),
    TRUE("records_fortran.npy", "all(b == reshape(arange(6), (2, 3))) & all(c == -b)"),
    NPY("$R 'sum(a)' $D/records_fortran.npy", "0\n"),
    NPY("$R --list $D/records.npy",
        "  time             i64   (time 4) seconds since 1970-01-01; in records\n"
        "  x                f32   (time 4); in records\n"
        "  name             -     (time 4); cannot be read: its elements are texts of 5 characters\n"
        "  part.a           i16   (time 4, 2); in records\n"
        "  part.b           f64   (time 4, 2, 2, 3); in records\n"
        "  c                c64   (time 4); in records\n"
        "  flag             bool  (time 4); in records\n"),
    { "NumPy .npy\n", "$R name $D/records.npy", 1,
      "records.npy: name cannot be read: its elements are texts of 5 characters" },
    { "NumPy .npy\n", "$R a $D/records_objects.npy", 1,
      "its records hold objects (o), so that NumPy pickles them" },
    { "NumPy .npy\n", "$R x x=$D/records.npy:y", 1, "no variable y in it; it has time, x, name" },
    { "NumPy .npy\n", "head -c 500 $D/records.npy > short.npy; $R x short.npy", 1,
      "short.npy: truncated: 4 records of" },
    NPZ("$R 'sum(x[:3])' x=$D/records.npz:r.x", "6\n"),
    NPZ("$R 'sum(x[:3])' x=$D/records_deflated.npz:r.x", "6\n"),
    NPZ("$R x x=$D/records_deflated.npz:r.part.a", "2000-03-01 12:30  4  5\n"),
    NPZ("$R 'min(x)' x=$D/records.npz:days", "2000-01-01\n"),
    NPZ("$R --list $D/records.npz",
        "  r                -     (); cannot be read: it has records, whose fields are variables, as "
        "r.time\n"),
    NPZ("$R --list $D/records_deflated.npz",
        "  r.part.b         f64   (time 4, 2, 2, 3); in records\n"),
    { "NumPy .npz\n", "$R x x=$D/records.npz:r", 1,
      "r cannot be read: it has records, whose fields are variables, as r.time" },
    NPY("$R x x=$D/dates_missing.npy", "     0                  2000-01-01\n"
                                       "     1                         NaN\n"
                                       "     2  1969-12-31 23:59:59.123457\n"),
    /* integers where nothing is missing, as a double does not hold them */
    TRUE("dates_whole.npy", "dates_whole[1] == -876543211"),
    NPY("$R x x=$D/dates_months.npy",
        "     0  1969-12-01\n     1  2000-02-01\n     2         NaN\n"),
    NPY("$R x x=$D/dates_years.npy",
        "     0   1969-01-01\n     1   2000-01-01\n     2  -0001-01-01\n"),
    NPY("$R x x=$D/dates_25s.npy", "     0  1970-01-01 00:00:25\n     1  1969-12-31 23:57:55\n"),
    NPY("$R 'sum(x)' x=$D/durations.npy", "6\n"),
    NPY("$R --list $D/durations.npy", "  durations        i64   (2) days; one piece\n"),
    NPY("cat $D/records.npy | $R 'sum(x[:3])' x=-:x", "6\n"),
    /* a member that was written twice: its name in the list is that of the other one */
    { "NumPy .npz\n",
      "$R 'a = arange(3); b = arange(3) * 10' -o two.npz; LC_ALL=C sed 's/b[.]npy/a.npy/g' two.npz > "
      "twice.npz; $R a twice.npz",
      1, "a cannot be read: several members are called a" },
    /* the fields of one type would lie in the records of the other, far behind the end */
    BAD_HEADER("{'descr': [('a', '<f8', (1000000,))], 'fortran_order': False, 'shape': (4,), "
               "'descr': '|S1'}",
               "bad.npy: structured type"),
    BAD_HEADER("{'descr': [('a', '<f8')], 'shape': (2,), 'fortran_order': False, 'shape': (3,)}",
               "bad.npy: structured type"),
    BAD_HEADER("{'descr': [('a', '<f8')], 'fortran_order': False}", "bad.npy: structured type"),
    BAD_HEADER("{'descr': [('a', '<f8')], 'shape': (2,)}", "bad.npy: structured type"),
    BAD_HEADER("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)} more",
               "bad.npy: structured type"),
    BAD_HEADER("{'descr': [('a', '<f8'), ('a', '<i8')], 'fortran_order': False, 'shape': (2,)}",
               "a cannot be read: several fields are called a"),
};

START_TEST(fields_and_dates)
{
    check_row(&records[_i]);
}
END_TEST

/* ---- Zarr -------------------------------------------------------------------------------------- */
#define ZARR(line, want)        \
    {                           \
        "Zarr\n", line, 0, want \
    }
#define NO_ZARR(line, want)     \
    {                           \
        "Zarr\n", line, 1, want \
    }
#define CODEC(version, name) \
    ZARR("$R 'all(" name " == reshape(arange(35), (5, 7)))' $D/codecs_" version ".zarr", "true\n")

static const row stores[] = {
    CODEC("2", "plain"),
    CODEC("2", "zlib"),
    CODEC("2", "gzip"),
    CODEC("2", "shuffled"),
    CODEC("2", "fortran"),
    CODEC("2", "big"),
    CODEC("2", "slashes"),
    CODEC("3", "plain"),
    CODEC("3", "gzip"),
    CODEC("3", "big"),
    CODEC("3", "dots"),
#if RDIM_ZSTD
    CODEC("2", "zstd"),
    CODEC("3", "zstd"),
    CODEC("3", "checked"),
    CODEC("3", "transposed"),
    CODEC("3", "shards"),
    ZARR("$R 'sum(isinf(holes)) + sum(holes[3:, 4:])' $D/codecs_3.zarr", "35\n"),
    ZARR("$R number $D/codecs_3.zarr", "2.5\n"),
    /* Coordinates of more than 4 MiB, which are wanted before the formula is known. */
    ZARR(
        "for v in time x; do mkdir -p long.zarr/$v && echo '{\"zarr_format\": 2, \"shape\": "
        "[600000], \"chunks\": [1000], \"dtype\": \"<f8\", \"compressor\": null, "
        "\"fill_value\": 2.0, \"order\": \"C\", \"filters\": null}' > long.zarr/$v/.zarray && "
        "echo '{\"_ARRAY_DIMENSIONS\": [\"time\"]}' > long.zarr/$v/.zattrs; done; echo "
        "'{\"zarr_format\": 2}' > long.zarr/.zgroup; $R 'sum(isnan(x)) + sum(isnan(time))' long.zarr",
        "1200000\n"),
    /* what xarray makes of the same store */
    ZARR("$R 'nanmean(tas, axis=(1, 2))' $D/xarray_3.zarr", "2000-01-07     34.4889\n"),
    ZARR("$R 'sum(isnan(wind)) + sum(count)' $D/xarray_3.zarr", "465\n"),
#endif
#if RDIM_BLOSC
    CODEC("2", "blosc"),
    CODEC("3", "blosc"),
    ZARR("$R 'nanmean(tas, axis=(1, 2))' $D/xarray_2.zarr", "2000-01-07     34.4889\n"),
    ZARR("$R 'nanmean(tas, axis=\"time\")' $D/xarray_2.zarr --only ':, 1'",
         "lat (degrees_north)  result (K)\n                -20 "),
    ZARR("$R 'sum(isnan(wind)) + sum(count)' $D/xarray_2.zarr/", "465\n"),
    ZARR("$R 'max(x)' x=$D/xarray_2.zarr:time", "2000-01-07\n"),
    ZARR("$R 'sum(count)' $D/xarray_2.zarr/count", "435\n"),
#endif
    ZARR("$R 'sum(flags)' $D/codecs_2.zarr", "17\n"),
    ZARR("$R 'all(imag(pairs) == 2 * real(pairs)) + sum(real(pairs))' $D/codecs_2.zarr", "596\n"),
    ZARR("$R 'all(imag(pairs) == 2 * real(pairs)) + sum(real(pairs))' $D/codecs_3.zarr", "596\n"),
    ZARR(
        "$R --list $D/codecs_2.zarr",
        "  delta            f64   (5, 7); cannot be read: its chunks are packed by delta, which is "
        "not known here\n"),
    ZARR("$R --list $D/codecs_2.zarr",
         "  texts            -     (2); cannot be read: its elements are of type <U3\n"),
    ZARR("$R --list $D/codecs_3.zarr", "  inner/shards     f64   (5, 7); chunks in shards\n"),
    NO_ZARR("$R lz4 $D/codecs_2.zarr", "lz4 cannot be read: its chunks are packed by lz4"),
    NO_ZARR("cp -r $D/codecs_2.zarr cut.zarr; head -c 20 cut.zarr/zlib/1.0 > t; "
            "mv t cut.zarr/zlib/1.0; $R 'sum(zlib)' cut.zarr",
            "cut.zarr/zlib: a chunk of zlib is damaged"),
    ZARR("rm cut.zarr/plain/1.0; $R 'sum(plain)' cut.zarr", "387\n"),
    NO_ZARR(": > cut.zarr/plain/0.0; $R 'sum(plain)' cut.zarr",
            "cut.zarr/plain: a chunk of plain is damaged"),
    NO_ZARR("head -c 50 $D/codecs_2.zarr/plain/.zarray > cut.zarr/plain/.zarray; $R plain cut.zarr",
            "plain cannot be read: cut.zarr/plain/.zarray: not JSON: it ends early"),
    NO_ZARR("$R x .", ".: a directory, and no Zarr store"),
};

START_TEST(zarr_stores)
{
    check_row(&stores[_i]);
}
END_TEST

/* Chunks that no result needs are not read: all but one are damaged. */
START_TEST(zarr_boxes)
{
    if (!has("Zarr\n"))
        return;
    ck_assert_int_eq(
        run_together(
            "mkdir big.zarr && cd big.zarr && printf '{\"zarr_format\": 2, \"shape\": [40, 100000], "
            "\"chunks\": [3, 60000], \"dtype\": \"<f8\", \"fill_value\": 1.5, \"compressor\": null, "
            "\"order\": \"C\", \"filters\": null}' > .zarray && for k in 0 1 2 3 4 5 6 7 8 9 10 12 13; "
            "do echo > $k.0; echo > $k.1; done; cd ..; $R 'sum(big[33:36, ::2] - 1)' big.zarr; "
            "$R 'sum(big[32])' big.zarr"),
        1);
    ck_assert_msg(strstr(out, "75000\nrdim: big.zarr: a chunk of big is damaged"), "%s", out);
}
END_TEST

/* ---- Metadata of Zarr stores -------------------------------------------------------------------- */
static void put_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_msg(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "%s", path);
}

/* The text of an array of (2, 3) with `new` in place of `old`, in s, and its chunk of 0, 1, ..., 5. */
static void put_store(int format, const char *old, const char *new)
{
    static const char *const texts[] = {
        [2] = "{'zarr_format': 2, 'shape': [2, 3], 'chunks': [2, 3], 'dtype': '<i4', 'order': 'C', "
              "'compressor': null, 'filters': null, 'fill_value': 9}",
        [3] = "{'zarr_format': 3, 'node_type': 'array', 'shape': [2, 3], 'fill_value': 9, "
              "'data_type': 'int32', "
              "'chunk_grid': {'name': 'regular', 'configuration': {'chunk_shape': [2, 3]}}, "
              "'chunk_key_encoding': {'name': 'default'}, "
              "'codecs': [{'name': 'bytes', 'configuration': {'endian': 'little'}}]}"
    };
    static const int32_t chunk[] = { 0, 1, 2, 3, 4, 5 };
    const char *const    at      = strstr(texts[format], old);
    char                *text    = NULL;

    ck_assert_msg(at != NULL, "%s", old);
    const int n = asprintf(&text, "%.*s%s%s", (int)(at - texts[format]), texts[format], new,
                           at + strlen(old));
    ck_assert_int_eq(run("rm -rf s && mkdir -p s/c/0"), 0);
    for (char *quote = text; (quote = strchr(quote, '\''));)
        *quote = '"';
    put_file(format == 2 ? "s/.zarray" : "s/zarr.json", text, (size_t)n);
    put_file(format == 2 ? "s/0.0" : "s/c/0/0", chunk, sizeof chunk);
    free(text);
}

#define PLAIN        "all(x == reshape(arange(6), (2, 3)))", "true\n"
#define REFUSED(why) "x", "s cannot be read: " why
#define TURN         "{'name': 'transpose', 'configuration': {'order': [1, 0]}}, "
#define CODECS       "'codecs': ["
#define MISSING      "'shape': [2, 3]", "'shape': [4, 3]"

/* What would be another array, or none, is refused, as zarr-python 3.1 does it. */
static const struct {
    int         version;
    const char *old, *new, *formula, *want;
} metadata[] = {
    { 2, "2", "2", PLAIN },
    { 3, "3", "3", PLAIN },
    { 2, "'zarr_format': 2", "'zarr_format': 4", REFUSED("its zarr_format is 4") },
    { 2, "'zarr_format': 2, ", "", REFUSED("its zarr_format is null") },
    { 3, "'zarr_format': 3", "'zarr_format': 9", REFUSED("its zarr_format is 9") },
    { 2, "'C'", "'K'", REFUSED("its order is K") },
    { 2, "'order'", "'dimension_separator': '-', 'order'",
      REFUSED("its dimension_separator is -") },
    /* fill values */
    { 2, MISSING, "sum(x)", "69\n" },
    { 2, "9}", "1.5}", REFUSED("its fill value is 1.5") },
    { 2, "9}", "2147483648}", REFUSED("its fill value is 2147483648") },
    { 2, "9}", "'NaN'}", REFUSED("its fill value is NaN") },
    { 2, "9}", "{}}", REFUSED("its fill value is { }") },
    { 2, "'<i4'", "'|u1'", "x", "s: a chunk of s is damaged: 0.0" },
    { 3, "9, ", "'0x7fc00000', ", REFUSED("its fill value is 0x7fc00000") },
    { 3, "3], 'fill_value': 9, 'data_type': 'int32'",
      "6], 'fill_value': '0xff800000', 'data_type': 'float32'", "sum(x == -inf)", "6\n" },
    { 3, "9, ", "99999999999999999999, ", REFUSED("its fill value is ") },
    { 3, "'int32', ", "'float32', ", "sum(x == 0) + 0", "1\n" },
    /* shapes and keys of chunks */
    { 2, "'shape': [2, 3], 'chunks': [2, 3]", "'shape': [0, 3], 'chunks': [0, 3]", "sum(x)",
      "0\n" },
    { 2, "'chunks': [2, 3]", "'chunks': [0, 3]",
      REFUSED("its chunks have shape [ 0, 3 ], without") },
    { 3, "'default'", "'other'", REFUSED("its chunks are named by { \"name\": \"other\" }") },
    { 3, "'default'", "'default', 'configuration': {'separator': '//'}",
      REFUSED("its separator is //") },
    /* what is added */
    { 3, "'fill_value'", "'tilt': {'must_understand': true}, 'fill_value'",
      REFUSED("its metadata have tilt, which is not known here") },
    { 3, "'fill_value'", "'tilt': 1, 'fill_value'", REFUSED("its metadata have tilt") },
    { 3, "'fill_value'", "'tilt': {'must_understand': false}, 'fill_value'", PLAIN },
    /* codecs: axes turned, bytes, packed, in this order */
    { 3, CODECS, CODECS TURN, "10 * x[0, 1] + x[1, 0]", "21\n" },
    { 3, CODECS, CODECS TURN TURN, PLAIN },
    { 3, "}}]", "}}, {'name': 'transpose', 'configuration': {'order': [1, 0]}}]",
      REFUSED("its codecs are [ {") },
    { 3, CODECS, CODECS "{'name': 'crc32c'}, ", REFUSED("its codecs are [ {") },
    { 3, CODECS, CODECS "{'name': 'bytes', 'configuration': {'endian': 'big'}}, ",
      REFUSED("its codecs are [ {") },
    { 3, "'endian': 'little'", "", REFUSED("the order of bytes in its elements is not said") },
    { 3, "'little'", "'middle'", REFUSED("its order of bytes is middle") },
    { 3, "{'name': 'bytes', 'configuration': {'endian': 'little'}}", "",
      REFUSED("its codecs are [ ]") },
    { 3, "}}]", "}}, {'name': 'numcodecs.shuffle', 'configuration': {'elementsize': 1}}]", PLAIN },
    { 3, "}}]", "}}, {'name': 'numcodecs.shuffle', 'configuration': {'elementsize': 4}}]",
      "x[1, 1]", "262145\n" },
    { 2, "'filters': null", "'filters': [{'id': 'shuffle'}]", "x[1, 1]", "262145\n" },
    { 2, "'filters': null", "'filters': [{'id': 'shuffle', 'elementsize': 0}]",
      REFUSED("its elements of 0 bytes are shuffled") },
};

START_TEST(zarr_metadata)
{
    char line[300];

    if (!has("Zarr\n"))
        return;
    put_store(metadata[_i].version, metadata[_i].old, metadata[_i].new);
    snprintf(line, sizeof line, "$R '%s' x=s", metadata[_i].formula);
    run_together(line);
    ck_assert_msg(strstr(out, metadata[_i].want), "%s for %s: %s\nwithout: %s", metadata[_i].new,
                  metadata[_i].old, out, metadata[_i].want);
}
END_TEST

/* ---- Folders of Zarr stores --------------------------------------------------------------------- */
#define GROUP(path) "mkdir -p " path "; echo '{\"zarr_format\": 2}' > " path "/.zgroup; "

/* Links that lead back are groups under another name, and each is listed once: these two would make 2^32 of
 * them.  What cannot be read does not hide the others. */
static const row folders[] = {
    ZARR(GROUP("t") GROUP("t/a") "cp -r $D/codecs_2.zarr/plain t/a/x; ln -s . t/p; ln -s . t/q; "
                                 "ln -s ../.. t/a/out; ln -s ../a t/a/again; $R --list t",
         "t: Zarr\n"
         "  a/again          -     (); cannot be read: it is the group a under another name\n"
         "  a/x              f64   (5, 7); chunks\n"
         "  p                -     (); cannot be read: it is the group / under another name\n"
         "  q                -     (); cannot be read: it is the group / under another name\n"),
    ZARR("$R 'sum(x)' x=t:p/a/again/x", "595\n"),
    ZARR(
        "mkdir -p u/a u/b u/c; echo '{\"zarr_format\": 3, \"node_type\": \"group\"}' > u/zarr.json; "
        "echo '{' > u/a/zarr.json; sed s/group/heap/ u/zarr.json > u/b/zarr.json; "
        "mkfifo u/c/zarr.json; cp -r $D/codecs_3.zarr/plain u/x; $R --list u",
        "u: Zarr\n"
        "  a                -     (); cannot be read: u/a/zarr.json: not JSON: it ends early\n"
        "  b                -     (); cannot be read: its node_type is heap\n"
        "  c                -     (); cannot be read: u/c/zarr.json: not a regular file\n"
        "  x                f64   (5, 7); chunks\n"),
    ZARR("f=v; for k in $(seq 40); do mkdir -p $f; cp t/.zgroup $f; f=$f/d; done; "
         "cp -r t/a/x $f; $R --list v",
         "cannot be read: it is a group in more than 32 others\n"),
#if RDIM_ZSTD
    NO_ZARR("cp -r $D/codecs_3.zarr/inner/shards w; f=w/c/0/0; n=$(($(wc -c < $f) - 8)); "
            "printf x | dd of=$f bs=1 seek=$n conv=notrunc 2> /dev/null; $R 'sum(w)' w",
            "w: a chunk of w is damaged: c/0/0\n"),
#endif
};

START_TEST(zarr_folders)
{
    for (int k = 0; k < COUNT(folders); k++)
        check_row(&folders[k]);
}
END_TEST

/* ---- GRIB -------------------------------------------------------------------------------------- */
/* The month of the first message is in byte 21 of this file, its minute in byte 24. */
#define BAD_BYTE(at, value, why)                                                            \
    {                                                                                       \
        "GRIB\n",                                                                           \
            "cat " RDIM_CASES "/1.grib > bad.grib; printf '" value                          \
            "' | dd of=bad.grib bs=1 seek=" at " conv=notrunc 2> /dev/null; $R t bad.grib", \
            1, "t cannot be read: a message is of the " why                                 \
    }
static const row bad_dates[] = { BAD_BYTE("21", "\\0", "date 20070023"),
                                 BAD_BYTE("21", "\\015", "date 20071323"),
                                 BAD_BYTE("24", "\\143", "time 1299, and 0 seconds") };

START_TEST(dates_of_messages)
{
    for (int k = 0; k < COUNT(bad_dates); k++)
        check_row(&bad_dates[k]);
}
END_TEST

#if RDIM_ECCODES
static struct {
    __typeof__(codes_grib_handle_new_from_samples) *make;
    __typeof__(codes_set_long)                     *set_long;
    __typeof__(codes_set_string)                   *set_string;
    __typeof__(codes_set_double)                   *set_double;
    __typeof__(codes_set_double_array)             *set_values;
    __typeof__(codes_get_size)                     *get_size;
    __typeof__(codes_write_message)                *write;
    __typeof__(codes_handle_delete)                *drop;
    __typeof__(codes_grib_multi_handle_new)        *make_several;
    __typeof__(codes_grib_multi_handle_append)     *append;
    __typeof__(codes_grib_multi_handle_write)      *write_several;
} ec;

static void load_eccodes(void)
{
    void *file = dlopen("libeccodes.so.0", RTLD_NOW | RTLD_LOCAL);

    ck_assert_msg(file != NULL, "%s", dlerror());
    *(void **)&ec.make          = dlsym(file, "codes_grib_handle_new_from_samples");
    *(void **)&ec.set_long      = dlsym(file, "codes_set_long");
    *(void **)&ec.set_string    = dlsym(file, "codes_set_string");
    *(void **)&ec.set_double    = dlsym(file, "codes_set_double");
    *(void **)&ec.set_values    = dlsym(file, "codes_set_double_array");
    *(void **)&ec.get_size      = dlsym(file, "codes_get_size");
    *(void **)&ec.write         = dlsym(file, "codes_write_message");
    *(void **)&ec.drop          = dlsym(file, "codes_handle_delete");
    *(void **)&ec.make_several  = dlsym(file, "codes_grib_multi_handle_new");
    *(void **)&ec.append        = dlsym(file, "codes_grib_multi_handle_append");
    *(void **)&ec.write_several = dlsym(file, "codes_grib_multi_handle_write");
}

/* Keys and values, the last key NULL; a text where the value is one. */
typedef struct key {
    const char *name, *text;
    long        value;
} key;

/* Point i of a message has `base` + i; every seventh is missing if there is a bitmap. */
static void put_message(const char *path, const char *sample, const key *keys, double base)
{
    codes_handle *h    = ec.make(NULL, sample);
    size_t        n    = 0;
    bool          some = false;

    ck_assert_msg(h != NULL, "%s", sample);
    ck_assert_int_eq(ec.get_size(h, "values", &n), 0); /* before they have other bits */
    for (; keys->name; keys++) {
        size_t    length = keys->text ? strlen(keys->text) : 0;
        const int error  = keys->text ? ec.set_string(h, keys->name, keys->text, &length)
                                      : ec.set_long(h, keys->name, keys->value);

        ck_assert_msg(error == 0, "%s: %d", keys->name, error);
        some |= strcmp(keys->name, "bitmapPresent") == 0;
    }
    ck_assert_int_eq(ec.set_double(h, "missingValue", 9999), 0);
    double *at = malloc(n * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[i] = some && i % 7 == 3 ? 9999 : base + (double)i;
    ck_assert_int_eq(ec.set_values(h, "values", at, n), 0);
    ck_assert_int_eq(ec.write(h, path, "a"), 0);
    ec.drop(h);
    free(at);
}

static const char *const pressures[] = { "", "regular_ll_pl_grib1", "regular_ll_pl_grib2" };

/* Two days, two steps, two levels; of the last level and the last step only one message is there. */
static void put_pressures(const char *path, int edition)
{
    for (int k = 0; k < 7; k++) {
        const int day = k & 1, step = k >> 1 & 1, level = k >> 2;

        put_message(path, pressures[edition],
                    (const key[]){ { "bitsPerValue", NULL, 24 },
                                   { "dataDate", NULL, 20200229 + (day ? 72 : 0) },
                                   { "dataTime", NULL, 1230 },
                                   { "step", NULL, 6 * step },
                                   { "level", NULL, level ? 850 : 500 },
                                   { "shortName", "t", 0 },
                                   { NULL, NULL, 0 } },
                    1000. * (day + 2 * step + 4 * level));
    }
}

static void says(const char *line, int status, const char *want)
{
    const int found = run_together(line);

    ck_assert_msg(found == status && strstr(out, want), "%s: %d, not %d\n%s\nwithout: %s", line,
                  found, status, out, want);
}

START_TEST(grib_editions)
{
    load_eccodes();
    remove("t.grib");
    put_pressures("t.grib", _i);
    says("$R --list t.grib", 0,
         "  isobaricInhPa/t  f32   (time 2, step 2, isobaricInhPa 2, latitude 31, longitude 16) K: "
         "Temperature; messages\n");
    /* what is at lower pressure comes last, and a message is missing */
    says("$R 't[:, :, :, 0, 0]' t.grib --only '1, :, :'", 0,
         "step (hours) down, isobaricInhPa (hPa) across\n    850   500\n0  5000  1000\n6   NaN  "
         "3000\n");
    says(
        "$R 't[:, 0, 0, 2, 3]' t.grib", 0,
        "            time  result (K)\n2020-02-29 12:30        4035\n2020-03-01 12:30        5035\n");
    says("$R 'mean(t[0, 0, 1], axis=\"longitude\")' t.grib --only ':3'", 0,
         "latitude (degrees_north)  result (K)\n                      60         7.5\n");
    says("$R 'sum(isnan(t))' t.grib", 0, "496\n");
    says("$R 'x[2, 0, 0, 2, 3]' x=t.grib,t.grib --join time", 0, "4035\n");
    says("head -c 3000 t.grib > cut.grib; $R 'mean(t)' cut.grib", 1, "cut.grib: ");
    put_message("t.grib", pressures[_i],
                (const key[]){ { "dataDate", NULL, 20200229 },
                               { "dataTime", NULL, 1230 },
                               { "level", NULL, 500 },
                               { "shortName", "t", 0 },
                               { NULL, NULL, 0 } },
                0);
    says("$R t t.grib", 1, "two messages are of the same time, step, level and number");
}
END_TEST

/* A message of edition 2 may have several fields. */
START_TEST(grib_fields)
{
    codes_multi_handle *all;
    FILE               *f = fopen("f.grib", "wb");

    load_eccodes();
    all = ec.make_several(NULL);
    for (int k = 0; k < 3; k++) {
        static double at[496];
        codes_handle *h = ec.make(NULL, "regular_ll_pl_grib2");

        for (int i = 0; i < 496; i++)
            at[i] = 100. * k + i;
        ck_assert_int_eq(ec.set_long(h, "level", 500 + 100 * k), 0);
        ck_assert_int_eq(ec.set_values(h, "values", at, 496), 0);
        ck_assert_int_eq(ec.append(h, 4, all), 0);
        ec.drop(h);
    }
    ck_assert_int_eq(ec.write_several(all, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    says(
        "$R 'x[0, :, 0, 0]' x=f.grib --only ':2'", 0,
        "isobaricInhPa (hPa)  result (K)\n                700         200\n                600         "
        "100\n");
}
END_TEST

/* How points follow each other, and what the elements are then. */
static const struct {
    const char *key, *formula;
} scans[] = {
    { "iScansNegatively", "all(abs(v[0] - reshape(arange(496), (31, 16))) < 1e-2)" },
    { "jPointsAreConsecutive",
      "all(abs(v[0] - transpose(reshape(arange(496), (16, 31)))) < 1e-2)" },
    { "alternativeRowScanning",
      "all(abs(v[0, ::2] - reshape(arange(496), (31, 16))[::2]) < 1e-2) & "
      "all(abs(v[0, 1::2] - reshape(arange(496), (31, 16))[1::2, ::-1]) < 1e-2)" },
};

START_TEST(grib_scans)
{
    char line[512];

    load_eccodes();
    remove("s.grib");
    put_message("s.grib", "regular_ll_sfc_grib2",
                (const key[]){
                    { "bitsPerValue", NULL, 24 }, { scans[_i].key, NULL, 1 }, { NULL, NULL, 0 } },
                0);
    snprintf(line, sizeof line, "$R '%s' v=s.grib", scans[_i].formula);
    says(line, 0, "true\n");
}
END_TEST

/* Steps in other units than hours, and what levels are given in. */
static const struct {
    long        unit, time;
    const char *hours; /* of that step and of two */
} steps[] = { { 0, 90, "from 1.5 to 3" },   { 1, 5, "from 5 to 10" },   { 2, 3, "from 72 to 144" },
              { 10, 3, "from 9 to 18" },    { 11, 3, "from 18 to 36" }, { 12, 3, "from 36 to 72" },
              { 13, 5400, "from 1.5 to 3" } };

START_TEST(grib_steps)
{
    char want[100];

    load_eccodes();
    remove("p.grib");
    for (int k = 1; k <= 2; k++)
        put_message("p.grib", "regular_ll_pl_grib2",
                    (const key[]){ { "indicatorOfUnitOfTimeRange", NULL, steps[_i].unit },
                                   { "forecastTime", NULL, k * steps[_i].time },
                                   { "shortName", "t", 0 },
                                   { NULL, NULL, 0 } },
                    0);
    snprintf(want, sizeof want, ", %s hours\n", steps[_i].hours);
    says("$R 't' t=p.grib", 0, want);
}
END_TEST

static const struct {
    const char *level, *name;
} levels[] = { { "isobaricInPa", "isobaricInPa (Pa)" },
               { "heightAboveGround", "heightAboveGround (m)" },
               { "heightAboveSea", "heightAboveSea (m)" },
               { "depthBelowLand", "depthBelowLand (m)" },
               { "hybrid", "hybrid" } };

START_TEST(grib_levels)
{
    char want[100];

    load_eccodes();
    remove("l.grib");
    for (int k = 0; k < 2; k++)
        put_message("l.grib", "regular_ll_pl_grib2",
                    (const key[]){ { "typeOfLevel", levels[_i].level, 0 },
                                   { "level", NULL, 7 + k },
                                   { "shortName", "t", 0 },
                                   { NULL, NULL, 0 } },
                    0);
    snprintf(want, sizeof want, "%s  result (K)\n", levels[_i].name);
    says("$R 'x[0, :, 0, 0]' x=l.grib", 0, want);
}
END_TEST

/* Doubles; an element without a name; and a second kind of messages of one name. */
START_TEST(grib_doubles)
{
    load_eccodes();
    remove("w.grib");
    put_message("w.grib", "regular_ll_pl_grib2",
                (const key[]){ { "packingType", "grid_ieee", 0 },
                               { "precision", NULL, 2 },
                               { "parameterCategory", NULL, 190 },
                               { "parameterNumber", NULL, 77 },
                               { NULL, NULL, 0 } },
                1. / 3);
    says("$R --list w.grib", 0, "/parameter_0 f64   (time 1, latitude 31, longitude 16)");
    says("$R 'x[0, 0, 0] == 1. / 3' x=w.grib", 0, "true\n");
    put_message("w.grib", "regular_ll_pl_grib2",
                (const key[]){ { "packingType", "grid_ieee", 0 },
                               { "precision", NULL, 2 },
                               { "dataDate", NULL, 20200229 },
                               { "parameterCategory", NULL, 190 },
                               { "parameterNumber", NULL, 77 },
                               { "bitmapPresent", NULL, 1 },
                               { NULL, NULL, 0 } },
                1. / 3);
    says("$R 'sum(isnan(x))' x=w.grib", 0, "71\n");
}
END_TEST

START_TEST(grib_grids)
{
    load_eccodes();
    remove("g.grib");
    put_message("g.grib", "reduced_gg_pl_32_grib2",
                (const key[]){ { "bitsPerValue", NULL, 16 }, { NULL, NULL, 0 } }, 0);
    put_message("g.grib", "polar_stereographic_sfc_grib2",
                (const key[]){ { "bitsPerValue", NULL, 16 }, { NULL, NULL, 0 } }, 0);
    put_message(
        "g.grib", "regular_ll_sfc_grib1",
        (const key[]){ { "bitmapPresent", NULL, 1 }, { "shortName", "2t", 0 }, { NULL, NULL, 0 } },
        0);
    says("$R --list g.grib", 0, "(time 1, values 6114)");
    says("$R --list g.grib", 0, "(time 1, y 31, x 16)");
    says("$R 'sum(isnan(t2m)) + 1000 * isnan(t2m[0, 0, 3])' g.grib", 0, "1071\n");
    says("$R 'sum(isnan(t2m[:, 0]))' g.grib", 0, "2\n");
}
END_TEST
#endif

/* ---- More files than may be open ----------------------------------------------------------------- */
static const struct {
    const char *format, *suffix;
} many[] = { { "NumPy .npy\n", "npy" },
             { "NumPy .npz\n", "npz" },
             { "NetCDF\n", "nc" },
             { "HDF5\n", "h5" },
             { "CSV\n", "csv" } };

START_TEST(many_files)
{
    char line[512];

    if (!has(many[_i].format))
        return;
    snprintf(line, sizeof line,
             "mkdir m && $R 'v = 1.0 * arange(6)' -o m/0.%s && cd m && for k in $(seq 100); do "
             "cp 0.%s $k.%s || exit 1; done && ulimit -n 32 && $R 'sum(x)' x='*.%s' && rm -r ../m",
             many[_i].suffix, many[_i].suffix, many[_i].suffix, many[_i].suffix);
    ck_assert_msg(run_together(line) == 0 && strcmp(out, "1515\n") == 0, "%s\n%s", line, out);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_formats");
    TCase   *tc     = tcase_create("command_formats");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, fields_and_dates, 0, COUNT(records));
    tcase_add_loop_test(tc, zarr_stores, 0, COUNT(stores));
    tcase_add_loop_test(tc, zarr_metadata, 0, COUNT(metadata));
    tcase_add_test(tc, zarr_folders);
    tcase_add_test(tc, dates_of_messages);
    tcase_add_test(tc, zarr_boxes);
#if RDIM_ECCODES
    tcase_add_loop_test(tc, grib_editions, 1, 3);
    tcase_add_loop_test(tc, grib_scans, 0, COUNT(scans));
    tcase_add_test(tc, grib_fields);
    tcase_add_test(tc, grib_grids);
    tcase_add_loop_test(tc, grib_steps, 0, COUNT(steps));
    tcase_add_loop_test(tc, grib_levels, 0, COUNT(levels));
    tcase_add_test(tc, grib_doubles);
#else
    puts("skipped, as this build has no GRIB");
#endif
    tcase_add_loop_test(tc, many_files, 0, COUNT(many));
    tcase_set_timeout(tc, 120);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
