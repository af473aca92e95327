/* NetCDF and HDF5 files as others write them: packed, missing, chunked, in groups; and what results
 * keep of them. */
#include "command/run.h"
#include "files/formats.h"
#include "files/inflate.h"
#include <math.h>
#include <zlib.h>
#if RDIM_NETCDF
#include "files/netcdf_api.h"

enum { T = 7, Y = 5, X = 6, ALL = T * Y * X };

static double                data[ALL]; /* what is meant; NaN where it is missing */
static const cmd_netcdf_api *nc;

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

static void put_text(int file, int variable, const char *name, const char *text)
{
    ok(nc->put_att_text(file, variable, name, strlen(text), text));
}

/* ---- Files ----------------------------------------------------------------------------------- */
static const struct kind {
    const char *name;
    int         mode;
    bool        record, chunked;
    size_t      chunk[3]; /* of the plain one; 0: (1, 5, 2) */
} kinds[] = {
    { "classic.nc", NC_CLOBBER, false, false, { 0 } },
    { "record.nc", NC_CLOBBER | NC_64BIT_OFFSET, true, false, { 0 } },
    { "wide.nc", NC_CLOBBER | NC_64BIT_DATA, true, false, { 0 } },
    { "four.nc", NC_CLOBBER | NC_NETCDF4, false, false, { 0 } },
    { "chunks.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 0 } },
    { "four.h5", NC_CLOBBER | NC_NETCDF4, false, false, { 0 } },
    { "chunks.h5", NC_CLOBBER | NC_NETCDF4, true, true, { 0 } },
    /* Runs of the array: read as they lie.  The last one is part of a chunk; or that makes it
     * none. */
    { "steps.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 1, Y, X } },
    { "pairs.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 2, Y, X } },
    { "rows.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 1, 1, X } },
    { "odd.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 1, 2, X } },
    { "long.nc", NC_CLOBBER | NC_NETCDF4, true, true, { 100, Y, X } },
    { "steps.h5", NC_CLOBBER | NC_NETCDF4, true, true, { 1, Y, X } },
};

static int put_axis(int file, const char *name, int dimension, const char *units)
{
    int id;

    ok(nc->def_var(file, name, NC_DOUBLE, 1, &dimension, &id));
    put_text(file, id, "units", units);
    return id;
}

/* Shorts of 0.01 from 20 on, those of -999 missing; floats of which 1e30 is none. */
static void make_file(const struct kind *k)
{
    static const size_t names[] = { T, Y, X };
    int                 file, dims[3], axes[3], packed, plain, before;
    double              at[T];
    short               shorts[ALL];
    float               floats[ALL];

    ok(nc->create(k->name, k->mode, &file));
    nc->set_fill(file, NC_NOFILL, &before);
    ok(nc->def_dim(file, "time", k->record ? NC_UNLIMITED : T, &dims[0]));
    ok(nc->def_dim(file, "lat", Y, &dims[1]));
    ok(nc->def_dim(file, "lon", X, &dims[2]));
    axes[0] = put_axis(file, "time", dims[0], "days since 2000-01-01");
    axes[1] = put_axis(file, "lat", dims[1], "degrees_north");
    axes[2] = put_axis(file, "lon", dims[2], "degrees_east");
    ok(nc->def_var(file, "packed", NC_SHORT, 3, dims, &packed));
    ok(nc->def_var(file, "plain", NC_FLOAT, 3, dims, &plain));
    if (k->chunked) {
        ok(nc->def_var_chunking(file, packed, NC_CHUNKED, (const size_t[]){ 2, 3, 4 }));
        ok(nc->def_var_chunking(file, plain, NC_CHUNKED,
                                k->chunk[0] ? k->chunk : (const size_t[]){ 1, 5, 2 }));
        ok(nc->def_var_deflate(file, packed, 1, 1, 4));
    }
    ok(nc->put_att_float(file, packed, "scale_factor", NC_FLOAT, 1, (const float[]){ 0.01f }));
    ok(nc->put_att_float(file, packed, "add_offset", NC_FLOAT, 1, (const float[]){ 20 }));
    ok(nc->put_att_double(file, packed, "missing_value", NC_SHORT, 1, (const double[]){ -999 }));
    ok(nc->put_att_float(file, plain, "missing_value", NC_FLOAT, 1, (const float[]){ 1e30f }));
    put_text(file, packed, "units", "K");
    put_text(file, packed, "long_name", "temperature");
    put_text(file, plain, "units", "K");
    ok(nc->enddef(file));
    for (int d = 0; d < 3; d++) {
        for (size_t i = 0; i < names[d]; i++)
            at[i] = d == 0 ? (double)i * 31 : -20 + 10. * (double)i;
        ok(nc->put_vara_double(file, axes[d], (const size_t[]){ 0 }, &names[d], at));
    }
    for (int i = 0; i < ALL; i++) {
        shorts[i] = (short)(data[i] == data[i] ? lrint((data[i] - 20) * 100) : -999);
        floats[i] = data[i] == data[i] ? (float)data[i] : 1e30f;
    }
    const size_t start[3] = { 0 };
    ok(nc->put_vara(file, packed, start, names, shorts));
    ok(nc->put_vara(file, plain, start, names, floats));
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("netcdf");
    nc = cmd_netcdf_load("tests");
    for (int i = 0; i < ALL; i++)
        data[i] = i % 11 == 4 ? NAN : 15 + (i * 37 % 1000) * 0.01;
    for (int k = 0; k < COUNT(kinds); k++)
        make_file(&kinds[k]);
}

static void load(const char *name, double *to, int64_t want)
{
    rd_ctx  *ctx   = rd_ctx_new(NULL);
    rd_expr *x     = rd_load(ctx, name);
    rd_shape shape = rd_shape_of(x);
    int64_t  n     = 1;

    for (int k = 0; k < shape.n; k++)
        n *= shape.at[k];
    ck_assert_int_eq(n, want);
    ck_assert(rd_eval(ctx, rd_cast(x, RD_F64),
                      &(rd_array){ .data = to, .type = RD_F64, .shape = shape }) == RD_OK);
    rd_ctx_free(ctx);
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* What other readers of NetCDF make of the packed number: a product and a sum, each rounded. */
static double unpacked(double value)
{
    const volatile float product = (float)lrint((value - 20) * 100) * 0.01f;

    return product + 20.0f;
}

START_TEST(means_what_is_meant)
{
    double got[ALL];
    char   line[512];

    for (int v = 0; v < 2; v++) {
        snprintf(line, sizeof line, "$R %s %s -o got.npy", v ? "plain" : "packed", kinds[_i].name);
        run_well(line);
        load("got.npy", got, ALL);
        for (int i = 0; i < ALL; i++)
            ck_assert_msg(data[i] != data[i] ? got[i] != got[i] : fabs(got[i] - data[i]) < 4e-6,
                          "%s, %d: %g, not %g", line, i, got[i], data[i]);
        for (int i = 0; i < ALL && !v; i++)
            ck_assert_msg(data[i] != data[i] || got[i] == unpacked(data[i]),
                          "%s, %d: %.9g, not %.9g", line, i, got[i], unpacked(data[i]));
    }
}
END_TEST

/* A sum of the formula is not rounded together with the product that unpacks. */
START_TEST(sums_of_unpacked)
{
    int         file, x, v;
    double      got[256];
    signed char bytes[256];

    for (int i = 0; i < 256; i++)
        bytes[i] = (signed char)(i - 128);
    ok(nc->create("bytes.nc", NC_NETCDF4 | NC_CLOBBER, &file));
    ok(nc->def_dim(file, "x", 256, &x));
    ok(nc->def_var(file, "v", NC_BYTE, 1, &x, &v));
    ok(nc->put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, (const double[]){ 0.01 }));
    ok(nc->enddef(file));
    ok(nc->put_vara(file, v, (const size_t[]){ 0 }, (const size_t[]){ 256 }, bytes));
    ok(nc->close(file));
    run_well("$R 'v + 0.5' bytes.nc -o got.npy");
    load("got.npy", got, 256);
    for (int i = 0; i < 256; i++) {
        const volatile double product = bytes[i] * 0.01;

        ck_assert_msg(got[i] == product + 0.5, "%d: %.17g", bytes[i], got[i]);
    }
}
END_TEST

START_TEST(axes_have_names)
{
    char line[512];

    snprintf(line, sizeof line, "$R \"nanmean(plain, axis=('lat', 'lon'))\" %s", kinds[_i].name);
    run_well(line);
    ck_assert_msg(strstr(out, "      time  result (K)\n2000-01-01 "), "%s", out);
    ck_assert_msg(strstr(out, "\n2000-02-01 "), "%s", out);
    snprintf(line, sizeof line, "$R \"nanmean(plain, axis='time')\" %s --only '::2, -1'",
             kinds[_i].name);
    run_well(line);
    ck_assert_msg(strstr(out, "lat (degrees_north)  result (K)\n                -20 "), "%s", out);
    ck_assert_msg(strstr(out, "\n                 20 "), "%s", out);
    snprintf(line, sizeof line, "$R --list %s", kinds[_i].name);
    run_well(line);
    ck_assert_msg(
        strstr(out, "packed           i16   (time 7, lat 5, lon 6) K: temperature; packed") ||
            (strstr(kinds[_i].name, ".h5") && strstr(out, "K: temperature; packed")),
        "%s", out);
}
END_TEST

/* ---- Writing --------------------------------------------------------------------------------- */
static void check_text(int file, int variable, const char *name, const char *want)
{
    char text[256] = "";

    ok(nc->get_att_text(file, variable, name, text));
    ck_assert_str_eq(text, want);
}

START_TEST(keeps_axes)
{
    int    file, id, rank, dims[8];
    size_t n;
    double lat[2], m[2 * X] = { 0 }, want[2 * X] = { 0 };
    char   name[NC_MAX_NAME + 1];

    run_well("$R \"m = nanmean(plain, axis='time')[1::2]; v = plain * plain\" chunks.nc -o r.nc && "
             "$R m r.nc -o m.npy && $R 'nanmean(plain, axis=0)' four.nc --only '1::2' -o w.npy");
    load("m.npy", m, 2 * X);
    load("w.npy", want, 2 * X);
    ck_assert_mem_eq(m, want, sizeof m);
    ok(nc->open("r.nc", NC_NOWRITE, &file));
    ok(nc->inq_varid(file, "m", &id));
    ok(nc->inq_var(file, id, NULL, NULL, &rank, dims, NULL));
    ck_assert_int_eq(rank, 2);
    ok(nc->inq_dim(file, dims[0], name, &n));
    ck_assert_str_eq(name, "lat");
    ck_assert_uint_eq(n, 2);
    check_text(file, id, "units", "K");
    ok(nc->inq_varid(file, "lat", &id));
    ok(nc->get_vara_double(file, id, (const size_t[]){ 0 }, &n, lat));
    ck_assert(lat[0] == -10 && lat[1] == 10);
    check_text(file, id, "units", "degrees_north");
    ok(nc->inq_varid(file, "v", &id));
    ck_assert_int_ne(nc->inq_att(file, id, "units", &(nc_type){ 0 }, &n), NC_NOERR);
    ok(nc->inq_var(file, id, NULL, NULL, &rank, dims, NULL));
    ok(nc->inq_dim(file, dims[1], name, &n)); /* another extent than m's */
    ck_assert_str_eq(name, "lat_2");
    ok(nc->close(file));
}
END_TEST

/* Large results are computed where they lie in the file, which begins a page where the library
 * knows how. */
START_TEST(large_results)
{
    enum { HIGH = 500, WIDE = 700 };
    static int32_t big[HIGH * WIDE];
    const rd_shape shape = { .n = 2, .at = { HIGH, WIDE } };

    for (int32_t i = 0; i < HIGH * WIDE; i++)
        big[i] = (int32_t)((uint32_t)i * 2654435761U);
    FILE *f = fopen("big.bin", "wb");
    ck_assert(f && fwrite(big, sizeof big, 1, f) == 1 && fclose(f) == 0);
    run_well("$R 'a = x * 2; b = x[:, ::-1] > 0; c = sum(int64(x), axis=0)' x=big.bin:i4:500x700 "
             "-o big.nc -o a=a.npy -o again.nc");
    run_well("for f in big again; do "
             "$R 'all((a == x * 2) & ((b > 0) == (x[:, ::-1] > 0)))' $f.nc x=big.bin:i4:500x700 && "
             "$R 'all(x == a)' x=a.npy a=$f.nc:a && "
             "$R 'all(c == sum(int64(x), axis=0))' c=$f.nc:c x=big.bin:i4:500x700 || exit 1; done");
    ck_assert_str_eq(out, "true\ntrue\ntrue\ntrue\ntrue\ntrue\n");
    if (nc->set_alignment)
        ck_assert_int_eq(cmd_hdf5_place("big.nc", "a", RD_I32, &shape).offset % 4096, 0);
    run_well("$R --version");
    if (!strstr(out, "HDF5\n"))
        return;
    run_well("$R 'a = x * 2; b = x[:, ::-1] > 0; c = sum(int64(x)); d = rad2deg(x)' "
             "x=big.bin:i4:500x700 -o big.h5 && "
             "$R 'all((a == x * 2) & (b == (x[:, ::-1] > 0)) & (d == rad2deg(x)))' big.h5 "
             "x=big.bin:i4:500x700 && $R 'c == sum(int64(x))' c=big.h5:c x=big.bin:i4:500x700");
    ck_assert_str_eq(out, "true\ntrue\n");
    ck_assert_int_eq(cmd_hdf5_place("big.h5", "a", RD_I32, &shape).offset % 4096, 0);
}
END_TEST

/* ---- Files that were cut short ---------------------------------------------------------------- */
/* Wherever a file ends too early: the same elements, or a sentence. */
START_TEST(cut_short)
{
    char line[400], right[ROOM];
    int  refused = 0;

    snprintf(line, sizeof line, "$R plain %s", kinds[_i].name);
    run_well(line);
    strcpy(right, out);
    snprintf(line, sizeof line, "stat -c %%s %s", kinds[_i].name);
    run_well(line);
    const long n = strtol(out, NULL, 10);
    for (long cut = 1; cut < n; cut += 1 + cut) {
        snprintf(line, sizeof line, "cp %s cut.nc; truncate -s -%ld cut.nc; $R plain cut.nc",
                 kinds[_i].name, cut);
        const int status = run_together(line);
        ck_assert_msg(status == 0 ? strcmp(out, right) == 0 : strstr(out, "cut.nc: ") != NULL,
                      "%s less %ld bytes: %d, %s", kinds[_i].name, cut, status, out);
        refused += status != 0;
    }
    ck_assert_int_gt(refused, 2);
    run_well("rm cut.nc");
}
END_TEST

/* ---- Chunks ---------------------------------------------------------------------------------- */
enum { ROWS = 70, COLUMNS = 33 };

/* Variables of all sizes of elements and with all filters, some of whose chunks jut out. */
static void make_chunks(void)
{
    static const struct {
        const char *name;
        nc_type     type;
        int         shuffled, deflated;
    } sets[] = { { "a1", NC_BYTE, 0, 1 },   { "b1", NC_BYTE, 1, 1 },  { "a2", NC_SHORT, 1, 0 },
                 { "b2", NC_SHORT, 1, 1 },  { "a4", NC_INT, 0, 1 },   { "b4", NC_INT, 1, 1 },
                 { "c4", NC_FLOAT, 0, 0 },  { "a8", NC_INT64, 1, 1 }, { "b8", NC_DOUBLE, 0, 1 },
                 { "c8", NC_DOUBLE, 1, 0 }, { "part", NC_INT, 1, 1 } };
    static double values[ROWS * COLUMNS];
    const size_t  start[2] = { 0 }, all[2] = { ROWS, COLUMNS }, some[2] = { 8, 8 };
    int           file, dims[2], id, before;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i * 7 % 101 - 50;
    ok(nc->create("filters.nc", NC_CLOBBER | NC_NETCDF4, &file));
    nc->set_fill(file, NC_NOFILL, &before);
    ok(nc->def_dim(file, "row", ROWS, &dims[0]));
    ok(nc->def_dim(file, "column", COLUMNS, &dims[1]));
    for (int k = 0; k < COUNT(sets); k++) {
        ok(nc->def_var(file, sets[k].name, sets[k].type, 2, dims, &id));
        ok(nc->def_var_chunking(file, id, NC_CHUNKED, (const size_t[]){ 8, 8 }));
        ok(nc->def_var_deflate(file, id, sets[k].shuffled, sets[k].deflated, 2));
    }
    ok(nc->enddef(file));
    for (int k = 0; k < COUNT(sets); k++) {
        ok(nc->inq_varid(file, sets[k].name, &id));
        ok(nc->put_vara_double(file, id, start, k == COUNT(sets) - 1 ? some : all, values));
    }
    ok(nc->close(file));
}

START_TEST(filters)
{
    make_chunks();
    run_well(
        "$R 'i = arange(70 * 33); v = reshape(i * 7 % 101 - 50, (70, 33)); "
        "all((a1 == v) & (b1 == v) & (a2 == v) & (b2 == v) & (a4 == v) & (b4 == v) & (c4 == v) "
        "& (a8 == v) & (b8 == v) & (c8 == v))' filters.nc");
    ck_assert_msg(strstr(out, "true"), "%s", out);
    /* most of its chunks are nowhere: the library says what is there */
    run_well("$R 'part[:2, :3]' filters.nc");
}
END_TEST

START_TEST(damaged_chunks)
{
    const rd_shape  shape = { .n = 2, .at = { ROWS, COLUMNS } };
    const cmd_place place = (make_chunks(), cmd_hdf5_place("filters.nc", "b4", RD_I32, &shape));

    ck_assert(place.chunk && place.n == 9 * 5 && place.n_filter == 2);
    FILE *f = fopen("filters.nc", "r+b");
    ck_assert(f && fseek(f, (long)place.chunk[7].at + 5, SEEK_SET) == 0 &&
              fwrite("damage, damage", 14, 1, f) == 1 && fclose(f) == 0);
    ck_assert_int_eq(run_together("$R 'sum(b4)' filters.nc"), 1);
    ck_assert_str_eq(out,
                     "rdim: filters.nc: b4: NetCDF: HDF error\n"); /* the library looked, too */
}
END_TEST

/* By zlib until it is asked for libdeflate, and by that then. */
START_TEST(inflates)
{
    static uint8_t bytes[10000], packed[20000], got[10001];
    uLongf         n = sizeof packed;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 8);
    ck_assert_int_eq(compress(packed, &n, bytes, sizeof bytes), Z_OK);
    for (int k = 0; k < 2; k++) {
        ck_assert(cmd_inflate(packed, (int64_t)n, got, sizeof bytes));
        ck_assert_mem_eq(got, bytes, sizeof bytes);
        ck_assert(!cmd_inflate(packed, (int64_t)n, got, sizeof bytes + 1));
        ck_assert(!cmd_inflate(packed, (int64_t)n, got, sizeof bytes - 1));
        ck_assert(!cmd_inflate(packed, (int64_t)n - 1, got, sizeof bytes));
        ck_assert(cmd_can_inflate());
    }
}
END_TEST

/* ---- Boxes of large variables ------------------------------------------------------------------- */
enum { BOX_T = 100, BOX_Y = 128, BOX_X = 128, ODD = 3001 };
typedef enum pieces { ONE, RECORDS, CHUNKS, DEFLATED } pieces;

/* A variable of records before v's, which ends within 4 bytes: its elements are their places, modulo 30000. */
static int define_odd(int file, int time)
{
    int dims[2] = { time }, id;

    ok(nc->def_dim(file, "odd_x", ODD, &dims[1]));
    ok(nc->def_var(file, "odd", NC_SHORT, 2, dims, &id));
    return id;
}

static void put_odd(int file, int id)
{
    static int16_t at[BOX_T * ODD];
    const size_t   start[2] = { 0 }, count[2] = { BOX_T, ODD };

    for (int i = 0; i < BOX_T * ODD; i++)
        at[i] = (int16_t)(i % 30000);
    ok(nc->put_vara(file, id, start, count, at));
}

/* The elements of v are their places.  Chunks of 7 rows jut out; without chunks the elements are of the
 * other order of bytes, in one piece or in records. */
static void make_large(const char *name, int mode, pieces in)
{
    const size_t start[3] = { 0 }, count[3] = { BOX_T, BOX_Y, BOX_X };
    float       *at = malloc(sizeof(float) * BOX_T * BOX_Y * BOX_X);
    int          file, dims[3], id, odd = -1;

    for (int i = 0; i < BOX_T * BOX_Y * BOX_X; i++)
        at[i] = (float)i;
    ok(nc->create(name, mode, &file));
    ok(nc->def_dim(file, "time", in == RECORDS ? NC_UNLIMITED : BOX_T, &dims[0]));
    ok(nc->def_dim(file, "y", BOX_Y, &dims[1]));
    ok(nc->def_dim(file, "x", BOX_X, &dims[2]));
    if (in == RECORDS)
        odd = define_odd(file, dims[0]);
    ok(nc->def_var(file, "v", NC_FLOAT, 3, dims, &id));
    if (in >= CHUNKS)
        ok(nc->def_var_chunking(file, id, NC_CHUNKED, (const size_t[]){ 7, 64, 128 }));
    if (in == DEFLATED)
        ok(nc->def_var_deflate(file, id, 1, 1, 1));
    ok(nc->put_att_float(file, id, "missing_value", NC_FLOAT, 1, (const float[]){ -1 }));
    ok(nc->enddef(file));
    ok(nc->put_vara(file, id, start, count, at));
    if (in == RECORDS)
        put_odd(file, odd);
    ok(nc->close(file));
    free(at);
}

/* Zeros over the middle of a chunk. */
static void damage(const char *name, int chunk)
{
    static const char zeros[64];
    const rd_shape    shape = { 3, 0, { BOX_T, BOX_Y, BOX_X } };
    const cmd_place   place = cmd_hdf5_place(name, "v", RD_F32, &shape);
    FILE             *f     = fopen(name, "r+b");

    ck_assert(f && place.chunk && chunk < place.n);
    ck_assert_int_eq(
        fseek(f, (long)(place.chunk[chunk].at + place.chunk[chunk].bytes / 2), SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(zeros, 1, sizeof zeros, f), sizeof zeros);
    ck_assert_int_eq(fclose(f), 0);
}

/* Chunks that no result needs are not looked at: one of rows 49 to 55 is damaged. */
START_TEST(boxes)
{
    static const char *const files[]    = { "box.nc", "box.h5", "classic_box.nc", "records.nc",
                                            "plain_box.nc" };
    static const char *const formulas[] = {
        "all(v[0] == _w[0])",
        "all(v[3:9, 1:9] == _w[3:9, 1:9])",
        "all((2 * v)[99, ::2, 5:1:-1] == 2 * _w[99, ::2, 5:1:-1])",
        "all(v[60:81:7, 127] + v[90, 5] == _w[60:81:7, 127] + _w[90, 5])",
        "all(nanmax(v[:49], axis=0)[64:, 3] == _w[48, 64:, 3])",
        "all(concat((v[:49], v[:9]), axis=0)[48:50, 3] == concat((_w[48:49, 3], _w[:1, 3]), axis=0))",
        "all(v[56:] == _w[56:])",
    };
    char line[512];

    make_large("box.nc", NC_CLOBBER | NC_NETCDF4, DEFLATED);
    make_large("box.h5", NC_CLOBBER | NC_NETCDF4, DEFLATED);
    make_large("classic_box.nc", NC_CLOBBER | NC_64BIT_OFFSET, ONE);
    make_large("records.nc", NC_CLOBBER | NC_64BIT_OFFSET, RECORDS);
    make_large("plain_box.nc", NC_CLOBBER | NC_NETCDF4, CHUNKS);
    run_well("$R --version");
    damage("box.nc", 14);
    damage("box.h5", 15);
    for (int k = 0; k < COUNT(files) * COUNT(formulas); k++) {
        snprintf(line, sizeof line, "$R '_w = reshape(arange(1638400), (100, 128, 128)); %s' %s",
                 formulas[k % COUNT(formulas)], files[k / COUNT(formulas)]);
        run_well(line);
        ck_assert_msg(strcmp(out, "true\n") == 0, "%s: %s", line, out);
    }
    run_well("$R v box.nc --only '99, 127, 127'; $R v box.nc v=box.h5 --only '3, 0, 1'; "
             "cp box.nc b1.nc; $R 'w[101, 0, 0]' w=box.nc,b1.nc --join time");
    ck_assert_str_eq(out, "1638399\n49153\n16384\n");
    run_well("$R 'all(odd == reshape(arange(300100), (100, 3001)) % 30000)' records.nc");
    ck_assert_str_eq(out, "true\n");
    ck_assert_int_eq(run_together("$R 'mean(v)' box.nc"), 1);
    ck_assert_int_eq(run_together("$R 'v[50, 0, 0]' box.nc"), 1);
    ck_assert_int_eq(run_together("$R 'v[50, 64, 0]' box.h5"), 1);
    run_well("rm box.nc box.h5 b1.nc classic_box.nc records.nc plain_box.nc");
}
END_TEST

START_TEST(keeps_scales)
{
    run_well("$R --version");
    if (!strstr(out, "HDF5\n"))
        return;
    run_well("$R \"m = nanmean(plain, axis='time')\" chunks.nc -o r.h5 && $R m r.h5 --only '0'");
    ck_assert_msg(strstr(out, "lon (degrees_east)  result (K)\n               -20 "), "%s", out);
}
END_TEST

/* Times of several files are in the first one's units. */
START_TEST(joins_records)
{
    run_well("$R 'plain[:3]' chunks.nc -o p1.nc && $R 'plain[3:]' chunks.nc -o p2.nc && "
             "$R 'nanmean(y, axis=(1, 2))' y=p1.nc,p2.nc");
    ck_assert_msg(strstr(out, "\n2000-07-05 "), "%s", out);
    run_well("$R 'nanmean(result, axis=(1, 2))' p1.nc p2.nc");
    ck_assert_msg(strstr(out, "\n2000-07-05 "), "%s", out);
    run_well("$R 'a' a=chunks.nc:plain,four.nc:plain 2>&1 || true");
    run_well("$R 'max(y, axis=0) - plain' y=chunks.nc:plain plain=four.nc -o d.nc --join member");
}
END_TEST

START_TEST(refuses)
{
    ck_assert_int_eq(run_together("$R 'y' y=four.nc"), 1);
    ck_assert_msg(strstr(out, "which of its variables is y?"), "%s", out);
    ck_assert_int_eq(run_together("$R 'y' y=four.nc:nothing"), 1);
    ck_assert_msg(strstr(out, "no variable nothing in it; it has time, lat, lon, packed, plain"),
                  "%s", out);
    ck_assert_int_eq(run_together("$R nothing four.nc"), 2);
    ck_assert_msg(strstr(out, "names here are: time, lat, lon, packed, plain"), "%s", out);
    ck_assert_int_eq(run_together("head -c 700 four.nc > cut.nc; $R plain cut.nc"), 1);
    ck_assert_int_eq(run_together("echo hello > no.nc; $R plain no.nc"), 1);
    ck_assert_msg(strstr(out, "not a NetCDF file, whatever its name"), "%s", out);
    ck_assert_int_eq(run_together("$R 'complex(plain, plain)' four.nc -o z.nc"), 1);
    ck_assert_msg(strstr(out, "NetCDF has no type c64"), "%s", out);
}
END_TEST

/* Each line of docs/cookbook.md that begins with rdim. */
START_TEST(cookbook)
{
    FILE *f = fopen(RDIM_COOKBOOK, "r");
    char  line[512];
    int   n = 0;

    ck_assert_msg(f != NULL, RDIM_COOKBOOK);
    run_well("$R 'tas = plain' chunks.nc -o tas.nc && for k in 1 2 3; do "
             "$R \"tas = plain + $k\" chunks.nc -o member_$k.nc || exit 1; done");
    while (fgets(line, sizeof line, f)) {
        const bool picture = strstr(line, "--plot") != NULL;

        if (strncmp(line, "    rdim ", 9) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *whole               = NULL;
        ck_assert(asprintf(&whole, "\"$R\" %s", line + 9) > 0);
        if (!picture || RDIM_CAIRO)
            run_well(whole);
        free(whole);
        n++;
    }
    fclose(f);
    ck_assert_int_eq(n, 55);
    /* the command's own results, the other way */
    run_well("$R 'nanmax(abs(a - b)) < 1e-4' a=ensemble.nc:tas b=member_2.nc:tas");
    ck_assert_str_eq(out, "true\n");
    run_well("$R 'nanmax(abs(nanmean(a, axis=0))) < 1e-3' a=anomaly.nc:tas");
    ck_assert_str_eq(out, "true\n");
    run_well("rm -f *.png range.svg member_* tas.nc");
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_netcdf");
    TCase   *tc     = tcase_create("command_netcdf");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, means_what_is_meant, 0, COUNT(kinds));
    tcase_add_loop_test(tc, axes_have_names, 0, COUNT(kinds));
    tcase_add_loop_test(tc, cut_short, 0, 7);
    tcase_add_test(tc, sums_of_unpacked);
    tcase_add_test(tc, keeps_axes);
    tcase_add_test(tc, large_results);
    tcase_add_test(tc, filters);
    tcase_add_test(tc, damaged_chunks);
    tcase_add_test(tc, boxes);
    tcase_add_test(tc, inflates);
    tcase_add_test(tc, keeps_scales);
    tcase_add_test(tc, joins_records);
    tcase_add_test(tc, refuses);
    tcase_add_test(tc, cookbook);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#else
int main(void)
{
    puts("this build of the command is without NetCDF");
    return 77;
}
#endif
