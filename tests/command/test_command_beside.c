/* What a NetCDF file says beside numbers comes out of it again: thirty-two files, each written here with another
 * choice of what CF's files have, go through the command, and what comes out is compared with what went in,
 * dimension by dimension, attribute by attribute, byte by byte. */
#include "command/run.h"
#include "files/formats.h"
#include <math.h>
#include <stdarg.h>
#if RDIM_NETCDF
#include "files/netcdf_api.h"

enum { T = 5, Y = 3, X = 4, ALL = T * Y * X, MOST = 1 << 12 };

static const cmd_netcdf_api *nc;

__attribute__((format(printf, 1, 2))) static void run_line(const char *format, ...)
{
    char    line[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    run_well(line);
}

static void ok(int status)
{
    ck_assert_msg(status == NC_NOERR, "%s", nc->strerror(status));
}

/* ---- Files ----------------------------------------------------------------------------------- */
/* What is in a file. */
enum {
    RECORD   = 1 << 0,  /* time may grow */
    BOUNDS   = 1 << 1,  /* time_bnds */
    GRID     = 1 << 2,  /* lat and lon of two axes, with corners */
    SCALAR   = 1 << 3,  /* height */
    MAPPING  = 1 << 4,  /* crs */
    MAPPINGS = 1 << 5,  /* the long form, which names coordinates */
    QUALITY  = 1 << 6,  /* an ancillary variable of all axes */
    NAMES    = 1 << 7,  /* rows of characters */
    LABELS   = 1 << 8,  /* texts; NetCDF-4 only */
    LEVELS   = 1 << 9,  /* formula_terms of an axis */
    MEASURES = 1 << 10, /* cell_measures, one of them in no file */
    FILL     = 1 << 11, /* _FillValue 1e20 and a missing element */
    DEFLATED = 1 << 12,
    CLIMATE  = 1 << 13, /* climatology */
    ODD      = 1 << 14, /* attributes of all types, some empty */
    TEXTS    = 1 << 15, /* attributes of type NC_STRING */
    SHORTS   = 1 << 16, /* the variable has integers */
    NANO     = 1 << 17, /* time in nanoseconds, whose last digits no double has */
    INT_TIME = 1 << 18,
    UNSIGNED = 1 << 19, /* bytes beside it that mean unsigned ones */
    GROUP    = 1 << 20, /* all but time is in a group */
    COMMON   = 1 << 21, /* the file's attribute coordinates, as xarray writes it */
    BARE     = 1 << 22, /* no coordinates of axes */
    NO_CF    = 1 << 23, /* no Conventions, no history */
    VALID    = 1 << 24, /* valid_min and flags of a variable that is not packed */
    CHUNKS   = 1 << 25, /* in chunks, not deflated */
    DISCRETE = 1 << 26, /* the axis x has names instead of numbers */
    METHODS  = 1 << 27,
    SILENT   = 1 << 28 /* coordinates that no attribute names */
};

enum { CLASSIC = NC_CLOBBER, FOUR = NC_CLOBBER | NC_NETCDF4 };

static const struct file {
    const char *name;
    int         mode;
    unsigned    with;
} files[] = {
    { "plain.nc", CLASSIC, 0 },
    { "record.nc", CLASSIC, RECORD | BOUNDS | METHODS },
    { "wide.nc", NC_CLOBBER | NC_64BIT_DATA, RECORD | INT_TIME | BOUNDS },
    { "offset.nc", NC_CLOBBER | NC_64BIT_OFFSET, RECORD | GRID | SCALAR },
    { "coads.nc", CLASSIC, RECORD | NO_CF | FILL },
    { "cmip5.nc", CLASSIC, RECORD | BOUNDS | GRID | SCALAR | FILL | METHODS | MEASURES },
    { "cmip6.nc", FOUR, RECORD | BOUNDS | GRID | SCALAR | FILL | METHODS | MEASURES | DEFLATED },
    { "cordex.nc", FOUR, RECORD | BOUNDS | GRID | SCALAR | MAPPING | FILL | METHODS | DEFLATED },
    { "mappings.nc", FOUR, GRID | MAPPINGS },
    { "quality.nc", FOUR, RECORD | QUALITY | CHUNKS },
    { "quality3.nc", CLASSIC, QUALITY },
    { "stations.nc", CLASSIC, NAMES | RECORD | INT_TIME },
    { "labels.nc", FOUR, LABELS | SCALAR },
    { "both.nc", FOUR, LABELS | NAMES | GRID },
    { "hybrid.nc", CLASSIC, LEVELS | RECORD },
    { "hybrid4.nc", FOUR, LEVELS | RECORD | DEFLATED | BOUNDS },
    { "climate.nc", CLASSIC, CLIMATE | METHODS },
    { "odd.nc", CLASSIC, ODD },
    { "odd4.nc", FOUR, ODD | TEXTS },
    { "shorts.nc", CLASSIC, SHORTS | VALID },
    { "shorts4.nc", FOUR, SHORTS | DEFLATED | GRID },
    { "nano.nc", FOUR, NANO | RECORD },
    { "nano_fixed.nc", FOUR, NANO | SCALAR },
    { "unsigned.nc", CLASSIC, UNSIGNED },
    { "group.nc", FOUR, GROUP | GRID | SCALAR | MAPPING },
    { "xarray.nc", FOUR, COMMON | SCALAR | GRID | INT_TIME | FILL },
    { "bare.nc", FOUR, BARE | RECORD },
    { "bare3.nc", CLASSIC, BARE | GRID },
    { "valid.nc", FOUR, VALID | CHUNKS | RECORD },
    { "discrete.nc", FOUR, DISCRETE | RECORD | SCALAR },
    { "silent.nc", FOUR, GRID | SILENT | RECORD },
    { "everything.nc", FOUR,
      RECORD | BOUNDS | GRID | SCALAR | MAPPING | QUALITY | NAMES | LABELS | MEASURES | FILL |
          DEFLATED | ODD | TEXTS | INT_TIME | UNSIGNED | METHODS },
};

/* ---- The file that is made ------------------------------------------------------------------- */
enum { TIME, LAT, LON, PAIR, CORNER, LETTER, END };
static const size_t      extent[END] = { T, Y, X, 2, 4, 6 };
static const char *const called[END] = { "time", "y", "x", "bnds", "corner", "letters" };

static int  file, group, dimension[END];
static char listed[256]; /* in the attribute coordinates */

/* Elements are written when all is defined. */
static struct pending {
    int     group, id, rank;
    nc_type type;
    size_t  count[3];
    char   *data;
} pending[32];
static int n_pending;

static void text(int variable, const char *name, const char *value)
{
    ok(nc->put_att_text(group, variable, name, strlen(value), value));
}

/* A variable along `axes`, which end with END. */
static int add(const char *name, nc_type type, const int *axes, const void *data, size_t size)
{
    struct pending *p = &pending[n_pending++];
    int             ids[3], rank = 0;
    size_t          n = 1;

    *p = (struct pending){ .group = group, .type = type };
    for (; axes[rank] != END; rank++) {
        if (dimension[axes[rank]] < 0)
            ok(nc->def_dim(file, called[axes[rank]], extent[axes[rank]], &dimension[axes[rank]]));
        ids[rank]           = dimension[axes[rank]];
        n *= p->count[rank] = extent[axes[rank]];
    }
    ok(nc->def_var(group, name, type, rank, ids, &p->id));
    p->rank = rank;
    p->data = malloc(n * size);
    memcpy(p->data, data, n * size);
    return p->id;
}
#define AXES(...) ((const int[]){ __VA_ARGS__ __VA_OPT__(, ) END })

static void write_pending(void)
{
    const size_t start[3] = { 0 };

    nc->enddef(file); /* of NetCDF-4 it ends by itself */
    for (int k = 0; k < n_pending; k++) {
        struct pending *p = &pending[k];
        ok(p->type == NC_STRING ? nc->put_vara_string(p->group, p->id, start, p->count,
                                                      (const char **)(void *)p->data)
                                : nc->put_vara(p->group, p->id, start, p->count, p->data));
        free(p->data);
    }
    n_pending = 0;
}

static const float *some(float from)
{
    static float at[ALL * 4];

    for (int i = 0; i < COUNT(at); i++)
        at[i] = from + 1.3f * (float)i;
    return at;
}

static void list(const char *name)
{
    const size_t n = strlen(listed);

    snprintf(listed + n, sizeof listed - n, "%s%s", n ? " " : "", name);
}

static void add_times(const struct file *f)
{
    static const double    f8[T] = { 0, 31, 59.5, 90, 120 };
    static const int       i4[T] = { 0, 31, 59, 90, 120 };
    static const long long i8[T] = { 1500000000000000001, 1500000000000000003, 1500000000000000005,
                                     1500000000000000008, 1500000000000000009 };
    const nc_type type = f->with & NANO ? NC_INT64 : f->with & INT_TIME ? NC_INT : NC_DOUBLE;
    double        ends[2 * T];

    if (f->with & BARE)
        return;
    const int time = f->with & NANO       ? add("time", type, AXES(TIME), i8, sizeof *i8)
                     : f->with & INT_TIME ? add("time", type, AXES(TIME), i4, sizeof *i4)
                                          : add("time", type, AXES(TIME), f8, sizeof *f8);
    text(time, "units", f->with & NANO ? "nanoseconds since 1970-01-01" : "days since 2000-01-01");
    text(time, "calendar", "standard");
    text(time, "axis", "T");
    for (int i = 0; i < 2 * T; i++)
        ends[i] = 30 * (i / 2 + i % 2);
    if (f->with & (BOUNDS | CLIMATE)) {
        add("time_bnds", NC_DOUBLE, AXES(TIME, PAIR), ends, sizeof *ends);
        text(time, f->with & BOUNDS ? "bounds" : "climatology", "time_bnds");
    }
}

static void add_grid(const struct file *f)
{
    static const char letters[X][6] = { "Paris", "Rome", "Oslo\0", "Bonn" };
    const char       *labels[Y]     = { "low", "mid \xc3\xa9", "" };
    const char       *names[X]      = { "a", "bb", "ccc", "dddd" };

    if (f->with & DISCRETE)
        add("x", NC_STRING, AXES(LON), names, sizeof *names);
    else if (!(f->with & BARE))
        text(add("x", NC_FLOAT, AXES(LON), some(0.1f), sizeof(float)), "units", "m");
    if (!(f->with & BARE)) {
        const int y = add("y", NC_FLOAT, AXES(LAT), some(-0.1f), sizeof(float));
        text(y, "standard_name", "projection_y_coordinate");
        if (f->with & LEVELS)
            text(y, "formula_terms", "a: hyam ps: ps");
    }
    if (f->with & GRID) {
        const int lat = add("lat", NC_FLOAT, AXES(LAT, LON), some(40), sizeof(float)),
                  lon = add("lon", NC_DOUBLE, AXES(LAT, LON), some(0), sizeof(double));
        text(lat, "units", "degrees_north");
        text(lat, "bounds", "lat_vertices");
        text(lon, "units", "degrees_east");
        add("lat_vertices", NC_FLOAT, AXES(LAT, LON, CORNER), some(39), sizeof(float));
        list("lat lon");
    }
    if (f->with & NAMES) {
        text(add("city", NC_CHAR, AXES(LON, LETTER), letters, 1), "long_name", "where");
        list("city");
    }
    if (f->with & LABELS) {
        add("label", NC_STRING, AXES(LAT), labels, sizeof *labels);
        list("label");
    }
}

static void add_scalars(const struct file *f)
{
    static const double two  = 2;
    static const int    none = 0;

    if (f->with & SCALAR) {
        const int height = add("height", NC_DOUBLE, AXES(), &two, sizeof two);
        text(height, "units", "m");
        text(height, "positive", "up");
        list("height");
    }
    if (f->with & (MAPPING | MAPPINGS)) {
        const int crs = add("crs", NC_INT, AXES(), &none, sizeof none);
        text(crs, "grid_mapping_name", "lambert_conformal_conic");
        ok(nc->put_att_double(group, crs, "standard_parallel", NC_DOUBLE, 2,
                              (const double[]){ 30, 60 }));
    }
    if (f->with & MAPPINGS)
        text(add("wgs84", NC_CHAR, AXES(), "c", 1), "grid_mapping_name", "latitude_longitude");
}

/* Attributes of each type, and none of some. */
static void add_odd(const struct file *f, int variable)
{
    static const struct {
        const char *name;
        nc_type     type;
    } types[] = { { "a1", NC_BYTE },   { "a2", NC_SHORT }, { "a3", NC_INT },    { "a4", NC_FLOAT },
                  { "a5", NC_DOUBLE }, { "u1", NC_UBYTE }, { "u2", NC_USHORT }, { "u4", NC_UINT },
                  { "i8", NC_INT64 },  { "u8", NC_UINT64 } };
    const char *texts[] = { "one", "", "tr\xc3\xa8s" };

    for (int k = 0; k < (f->mode == FOUR ? COUNT(types) : 5); k++)
        ok(nc->put_att(group, variable, types[k].name, types[k].type, 2,
                       "\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10"));
    ok(nc->put_att(group, variable, "none", NC_INT, 0, ""));
    ok(nc->put_att_text(group, variable, "empty", 0, ""));
    ok(nc->put_att_text(group, variable, "zeros", 4, "a\0b\0"));
    text(variable, "name with blanks", " two  lines\nof text ");
    if (f->with & TEXTS) {
        ok(nc->put_att_string(group, variable, "texts", 3, texts));
        ok(nc->put_att_string(group, variable, "one_text", 1, &texts[2]));
    }
}

static void add_variable(const struct file *f)
{
    static const int8_t bytes[ALL] = { 1, 2, -1, -128, 127 };
    static int16_t      shorts[ALL];
    float               floats[ALL];

    memcpy(floats, some(250), sizeof floats);
    for (int i = 0; i < ALL; i++)
        shorts[i] = (int16_t)(i * 7 - 100);
    if (f->with & FILL)
        floats[7] = 1e20f;
    const int v = f->with & SHORTS ? add("v", NC_SHORT, AXES(TIME, LAT, LON), shorts, 2)
                                   : add("v", NC_FLOAT, AXES(TIME, LAT, LON), floats, 4);
    if (f->with & (DEFLATED | CHUNKS))
        ok(nc->def_var_chunking(group, v, NC_CHUNKED, (const size_t[]){ 1, Y, 2 }));
    if (f->with & DEFLATED)
        ok(nc->def_var_deflate(group, v, 1, 1, 3));
    text(v, "units", "K");
    text(v, "long_name", "air temperature");
    text(v, "standard_name", "air_temperature");
    text(v, "original_name", "TAS");
    if (f->with & FILL) {
        ok(nc->put_att_float(group, v, "_FillValue", NC_FLOAT, 1, (const float[]){ 1e20f }));
        ok(nc->put_att_float(group, v, "missing_value", NC_FLOAT, 1, (const float[]){ 1e20f }));
    }
    if (f->with & VALID)
        text(v, "flag_meanings", "a b");
    if (f->with & METHODS)
        text(v, "cell_methods", "time: mean area: mean");
    if (f->with & MAPPING)
        text(v, "grid_mapping", "crs");
    if (f->with & MAPPINGS)
        text(v, "grid_mapping", "crs: x y wgs84: lat lon");
    if (f->with & ODD)
        add_odd(f, v);
    if (f->with & QUALITY) {
        text(add("quality", NC_BYTE, AXES(TIME, LAT, LON), bytes, 1), "flag_meanings", "good bad");
        text(v, "ancillary_variables", "quality");
    }
    if (f->with & UNSIGNED) {
        text(add("counts", NC_BYTE, AXES(LAT, LON), bytes, 1), "_Unsigned", "true");
        list("counts");
    }
    if (f->with & MEASURES) {
        text(add("cell_area", NC_FLOAT, AXES(LAT, LON), some(1e6f), 4), "units", "m2");
        text(v, "cell_measures", "area: cell_area volume: elsewhere");
    }
    if (*listed && f->with & COMMON) /* some are said of the variable, others of the file */
        text(v, "coordinates", "height");
    else if (*listed && !(f->with & SILENT))
        text(v, "coordinates", listed);
}

/* Levels in pressure; those of y, as v has no axis of its own for them. */
static void add_levels(const struct file *f)
{
    if (!(f->with & LEVELS))
        return;
    text(add("hyam", NC_DOUBLE, AXES(LAT), some(0), 8), "long_name", "a");
    add("ps", NC_FLOAT, AXES(TIME, LON), some(1e5f), 4);
}

static void add_globals(const struct file *f)
{
    if (!(f->with & NO_CF)) {
        text(NC_GLOBAL, "Conventions", "CF-1.7");
        text(NC_GLOBAL, "history", "2001: made\n2000: planned");
    }
    text(NC_GLOBAL, "title", "a file");
    if (f->with & ODD)
        add_odd(f, NC_GLOBAL);
    if (f->with & COMMON)
        text(NC_GLOBAL, "coordinates", "lat lon");
}

static void make_file(const struct file *f)
{
    int before;

    *listed = '\0';
    ok(nc->create(f->name, f->mode, &file));
    group = file;
    for (int d = 0; d < END; d++)
        dimension[d] = -1;
    nc->set_fill(file, NC_NOFILL, &before);
    ok(nc->def_dim(file, "time", f->with & RECORD ? NC_UNLIMITED : T, &dimension[TIME]));
    add_globals(f);
    add_times(f);
    if (f->with & GROUP)
        ok(nc->def_grp(file, "data", &group));
    add_grid(f);
    add_scalars(f);
    add_levels(f);
    add_variable(f);
    write_pending();
    ok(nc->close(file));
}

static void set_up(void)
{
    enter("beside");
    ck_assert(setenv("SOURCE_DATE_EPOCH", "86400", 1) == 0);
    nc = cmd_netcdf_load("tests");
    for (int k = 0; k < COUNT(files); k++)
        make_file(&files[k]);
}

/* ---- What two files say ---------------------------------------------------------------------- */
typedef struct place {
    const char *path;
    int         file, group, id;
} place;

static place open_file(const char *path)
{
    place p = { .path = path, .id = NC_GLOBAL };

    ok(nc->open(path, NC_NOWRITE, &p.file));
    p.group = p.file;
    return p;
}

static place in_file(const place *p, const char *name)
{
    place v = *p;

    ck_assert_msg(nc->inq_varid(p->group, name, &v.id) == NC_NOERR, "%s has no %s", p->path, name);
    return v;
}

static bool has(const place *p, const char *name)
{
    return nc->inq_varid(p->group, name, &(int){ 0 }) == NC_NOERR;
}

static size_t size_of(nc_type type)
{
    const rd_dtype element = cmd_netcdf_element(type);

    return type == NC_STRING ? sizeof(char *) : type == NC_CHAR ? 1 : (size_t)cmd_size_of(element);
}

static void same_bytes(const char *what, nc_type type, size_t n, const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    if (type != NC_STRING)
        ck_assert_msg(memcmp(a, b, n * size_of(type)) == 0, "%s differs", what);
    for (size_t k = 0; type == NC_STRING && k < n; k++)
        ck_assert_msg(strcmp(x[k], y[k]) == 0, "%s differs: %s, %s", what, x[k], y[k]);
}

static void same_attribute(const place *a, const place *b, const char *name)
{
    nc_type type, other = NC_NAT;
    size_t  n, m        = 0;
    char    what[600], x[MOST], y[MOST];

    snprintf(what, sizeof what, "%s: the attribute %s of variable %d", a->path, name, a->id);
    ok(nc->inq_att(a->group, a->id, name, &type, &n));
    ck_assert_msg(nc->inq_att(b->group, b->id, name, &other, &m) == NC_NOERR, "%s is lost", what);
    ck_assert_msg(type == other && n == m, "%s: type %d, %d; %zu, %zu elements", what, type, other,
                  n, m);
    ok(nc->get_att(a->group, a->id, name, x));
    ok(nc->get_att(b->group, b->id, name, y));
    same_bytes(what, type, n, x, y);
}

static bool is_named(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void same_attributes(const place *a, const place *b, const char *const *but)
{
    int  n;
    char name[NC_MAX_NAME + 1];

    ok(a->id == NC_GLOBAL ? nc->inq_natts(a->group, &n) : nc->inq_varnatts(a->group, a->id, &n));
    for (int k = 0; k < n; k++) {
        ok(nc->inq_attname(a->group, a->id, k, name));
        if (!is_named(name, but))
            same_attribute(a, b, name);
    }
}

static bool grows(const place *p, int dim)
{
    int n, ids[16];

    ok(nc->inq_unlimdims(p->file, &n, ids));
    for (int k = 0; k < n; k++)
        if (ids[k] == dim)
            return true;
    return false;
}

static nc_type same_shape(const place *a, const place *b, const char *what, size_t *n,
                          size_t *count)
{
    nc_type type, other;
    int     rank, ranks, dims[8], others[8];
    char    name[NC_MAX_NAME + 1], name2[NC_MAX_NAME + 1];
    size_t  m;

    ok(nc->inq_var(a->group, a->id, NULL, &type, &rank, dims, NULL));
    ok(nc->inq_var(b->group, b->id, NULL, &other, &ranks, others, NULL));
    ck_assert_msg(type == other && rank == ranks, "%s %s: type %d, %d; rank %d, %d", a->path, what,
                  type, other, rank, ranks);
    *n = 1;
    for (int k = 0; k < rank; k++) {
        ok(nc->inq_dim(a->group, dims[k], name, &count[k]));
        ok(nc->inq_dim(b->group, others[k], name2, &m));
        ck_assert_msg(strcmp(name, name2) == 0 && count[k] == m, "%s %s: %s %zu, %s %zu", a->path,
                      what, name, count[k], name2, m);
        ck_assert_msg(grows(a, dims[k]) == grows(b, others[k]), "%s: %s grows", a->path, name);
        *n *= m;
    }
    return type;
}

static void read_all(const place *p, nc_type type, const size_t *count, char *to)
{
    const size_t start[8] = { 0 };

    ok(type == NC_STRING ? nc->get_vara_string(p->group, p->id, start, count, (char **)(void *)to)
                         : nc->get_vara(p->group, p->id, start, count, to));
}

static void same_variable(const place *a, const place *b, const char *name)
{
    size_t           count[8], n;
    _Alignas(8) char x[MOST], y[MOST];
    const nc_type    type = same_shape(a, b, name, &n, count);

    ck_assert_uint_le(n * size_of(type), MOST);
    read_all(a, type, count, x);
    read_all(b, type, count, y);
    same_bytes(name, type, n, x, y);
    same_attributes(a, b, NULL);
}

static void same_chunks(const place *a, const place *b)
{
    int    storage, shuffled[2], deflated[2], level[2] = { 0 };
    size_t x[3], y[3];

    nc->inq_var_deflate(a->group, a->id, &shuffled[0], &deflated[0], &level[0]);
    if (!level[0])
        return;
    ok(nc->inq_var_deflate(b->group, b->id, &shuffled[1], &deflated[1], &level[1]));
    ck_assert(level[0] == level[1] && shuffled[0] == shuffled[1]);
    ok(nc->inq_var_chunking(a->group, a->id, &storage, x));
    ok(nc->inq_var_chunking(b->group, b->id, &storage, y));
    ck_assert(storage == NC_CHUNKED && memcmp(x, y, sizeof x) == 0);
}

/* A new line in front, and the lines before. */
static void check_history(const place *a, const place *b, const char *command)
{
    char    want[1024], got[1024] = "", before[256] = "";
    nc_type type;
    size_t  n = 0;

    if (nc->inq_att(a->group, NC_GLOBAL, "history", &type, &n) == NC_NOERR)
        ok(nc->get_att_text(a->group, NC_GLOBAL, "history", before));
    snprintf(want, sizeof want, "1970-01-02T00:00:00Z: %s%s%s", command, n ? "\n" : "", before);
    ok(nc->get_att_text(b->group, NC_GLOBAL, "history", got));
    ck_assert_str_eq(got, want);
}

/* ---- All of it ------------------------------------------------------------------------------- */
static void nothing_is_lost(const struct file *f, const char *formula, const char *from,
                            const char *into)
{
    static const char *const history[] = { "history", NULL };
    char                     command[256], name[NC_MAX_NAME + 1];
    int                      n, ids[32], of;

    snprintf(command, sizeof command, "rdim %s %s -o %s", formula, from, into);
    run_line("\"$R\" %s", command + 5);
    ck_assert_str_eq(out, "");
    const place a = open_file(f->name), b = open_file(into);
    same_attributes(&a, &b, history);
    check_history(&a, &b, command);
    for (int in_group = 0; in_group <= !!(f->with & GROUP); in_group++) {
        place in = a;
        if (in_group)
            ok(nc->inq_grps(a.file, &n, &in.group));
        ok(nc->inq_varids(in.group, &n, ids));
        for (int k = 0; k < n; k++) {
            in.id = ids[k];
            ok(nc->inq_var(in.group, in.id, name, NULL, NULL, NULL, NULL));
            const place to = in_file(&b, name);
            same_variable(&in, &to, name);
            if (strcmp(name, "v") == 0)
                same_chunks(&in, &to);
        }
    }
    ok(nc->inq_varids(b.file, &of, NULL));
    ok(nc->inq_varids(a.file, &n, NULL));
    if (!(f->with & GROUP))
        ck_assert_int_eq(of, n);
    ok(nc->close(a.file));
    ok(nc->close(b.file));
}

START_TEST(round_trip)
{
    nothing_is_lost(&files[_i], "v", files[_i].name, "new.nc");
    nothing_is_lost(&files[_i], "'v = v + 0'", files[_i].name, "new.nc");
}
END_TEST

/* NetCDF's library reads what is written as HDF5, and finds the same in it.  A NetCDF-4 file is one of HDF5, whose
 * own reader finds the same, too. */
START_TEST(round_trip_hdf5)
{
    if (!RDIM_HDF5)
        return;
    nothing_is_lost(&files[_i], "v", files[_i].name, "new.h5");
    nothing_is_lost(&files[_i], "'v = v + 0'", files[_i].name, "new.h5");
    if (files[_i].mode != FOUR)
        return;
    run_line("ln -f %s old.h5", files[_i].name);
    nothing_is_lost(&files[_i], "v", "old.h5", "new.h5");
    nothing_is_lost(&files[_i], "v", "old.h5", "new.nc");
}
END_TEST

/* ---- Parts of it ----------------------------------------------------------------------------- */
/* The text of an attribute in new.nc; "-": there is none. */
static const char *said(const char *variable, const char *attribute)
{
    static char to[512];
    const place all = open_file("new.nc"), v = variable ? in_file(&all, variable) : all;
    nc_type     type;
    size_t      n;

    memset(to, 0, sizeof to);
    strcpy(to, "-");
    if (nc->inq_att(v.group, v.id, attribute, &type, &n) == NC_NOERR) {
        *to = '\0';
        ck_assert(n < sizeof to);
        ok(nc->get_att_text(v.group, v.id, attribute, to));
    }
    ok(nc->close(all.file));
    return to;
}

/* Numbers of a variable of new.nc, as text. */
static const char *numbers(const char *variable)
{
    static char to[512];
    const place all = open_file("new.nc"), v = in_file(&all, variable);
    size_t      n = 1, count[8], start[8] = { 0 };
    int         rank, dims[8];
    double      at[ALL * 4];

    ok(nc->inq_var(v.group, v.id, NULL, NULL, &rank, dims, NULL));
    for (int k = 0; k < rank; k++) {
        ok(nc->inq_dim(v.group, dims[k], NULL, &count[k]));
        n *= count[k];
    }
    ok(nc->get_vara_double(v.group, v.id, start, count, at));
    *to = '\0';
    for (size_t k = 0; k < n && strlen(to) < sizeof to - 32; k++)
        snprintf(to + strlen(to), sizeof to - strlen(to), "%s%g", k ? " " : "", at[k]);
    ok(nc->close(all.file));
    return to;
}

static bool is_there(const char *variable)
{
    const place all   = open_file("new.nc");
    const bool  there = has(&all, variable);

    ok(nc->close(all.file));
    return there;
}

/* What has the lost axis is lost with it, and the rest is there. */
START_TEST(reduced)
{
    static const char *const there[] = { "lat", "lon",  "lat_vertices", "height",
                                         "crs", "city", "label",        "counts",
                                         "x",   "y",    "cell_area" };
    static const char *const gone[]  = { "time", "time_bnds", "quality" };

    run_line("$R \"m = nanmean(v, axis='time')\" everything.nc -o new.nc");
    for (int k = 0; k < COUNT(there); k++)
        ck_assert_msg(is_there(there[k]), "%s", there[k]);
    for (int k = 0; k < COUNT(gone); k++)
        ck_assert_msg(!is_there(gone[k]), "%s", gone[k]);
    ck_assert_str_eq(said("m", "ancillary_variables"), "-");
    ck_assert_str_eq(said("m", "coordinates"), "lat lon city label height counts");
    ck_assert_str_eq(said("m", "cell_measures"), "area: cell_area volume: elsewhere");
    ck_assert_str_eq(said("m", "grid_mapping"), "crs");
    ck_assert_str_eq(said("m", "standard_name"), "air_temperature");
    run_line("$R 'm = nanmean(v, axis=2)' everything.nc -o new.nc");
    ck_assert_str_eq(said("m", "coordinates"), "label height");
    ck_assert_str_eq(said("m", "cell_measures"), "-");
    ck_assert(is_there("time_bnds") && !is_there("lat") && !is_there("lat_vertices"));
    run_line("$R 'm = nanmean(v, axis=(0, 1))' mappings.nc -o new.nc");
    ck_assert_str_eq(said("m", "grid_mapping"), "-");
    run_line("$R 'm = nanmean(v, axis=0)' hybrid.nc -o new.nc");
    ck_assert_str_eq(said("y", "formula_terms"), "-");
    run_line("$R 'm = mean(v)' cordex.nc -o new.nc");
    ck_assert_str_eq(said("m", "coordinates"), "height");
}
END_TEST

START_TEST(sliced)
{
    run_line("$R 'v = v[::-2, 1:, :2]' everything.nc -o new.nc");
    ck_assert_str_eq(numbers("time"), "120 59 0");
    ck_assert_str_eq(numbers("time_bnds"), "120 150 60 90 0 30");
    ck_assert_str_eq(numbers("lat"), "45.2 46.5 50.4 51.7");
    ck_assert_str_eq(numbers("quality"), "0 0 0 0 0 0 0 0 127 0 0 0");
    ck_assert_str_eq(numbers("counts"), "127 0 0 0");
    ck_assert_str_eq(said("v", "cell_measures"), "area: cell_area"); /* volume's grid is larger */
    run_line("$R v everything.nc -o new.nc --only '1, ::-1'");
    ck_assert_str_eq(numbers("y"), "2.5 1.2 -0.1");
    ck_assert(!is_there("time") && !is_there("time_bnds") && is_there("label"));
    /* two results, cut in two ways */
    run_line("$R 'a = v[:, 1:]; b = v[:, :2] * 2; c = v[:, 1:] + 1' cmip6.nc -o new.nc");
    ck_assert_str_eq(said("a", "coordinates"), "lat lon height");
    ck_assert_str_eq(said("b", "coordinates"), "lat_2 lon_2 height");
    ck_assert_str_eq(said("c", "coordinates"), "lat lon height");
    ck_assert_str_eq(said("lat_2", "bounds"), "lat_vertices_2");
    ck_assert_str_eq(numbers("lat_2"), "40 41.3 42.6 43.9 45.2 46.5 47.8 49.1");
    ck_assert_str_eq(numbers("y_2"), "-0.1 1.2");
    ck_assert(is_there("time") && !is_there("time_2") && !is_there("height_2"));
    /* others have their own */
    run_line("$R 'lat = lat + 1; v = v + lat' cmip6.nc -o new.nc");
    ck_assert_str_eq(said("v", "coordinates"), "lat_2 lon height");
}
END_TEST

/* What a statement does to cells, where that is certain. */
static const struct {
    const char *formula, *methods, *standard, *units;
} statements[] = {
    { "v = v + 0", "time: mean area: mean", "air_temperature", "K" },
    { "v = v - 273.15", "time: mean area: mean", "air_temperature", "K" },
    { "v = mean(v, axis=time)", "time: mean area: mean time: mean", "air_temperature", "K" },
    { "v = nanmax(v, axis=(\"y\", -1))", "time: mean area: mean y: x: maximum", "air_temperature",
      "K" },
    { "v = std(v, axis=0, ddof=1)", "time: mean area: mean time: standard_deviation",
      "air_temperature", "K" },
    { "v = var(v, axis=0)", "time: mean area: mean time: variance", "-", "-" },
    { "v = nansum(v)", "time: mean area: mean time: y: x: sum", "-", "-" },
    { "v = mean(v, axis=(1, 2), weights=cos(y)[None, :, None])",
      "time: mean area: mean y: x: mean (comment: weighted)", "air_temperature", "K" },
    { "v = nanmedian(v, axis='time', keepdims=true)", "time: mean area: mean time: median",
      "air_temperature", "K" },
    { "v = rolling_mean(v, 2, axis='time')",
      "time: mean area: mean time: mean (comment: of 2 neighbours, from the coordinate on)",
      "air_temperature", "K" },
    { "v = rolling_max(v, 2)",
      "time: mean area: mean time: maximum (comment: of 2 neighbours, from the coordinate on)",
      "air_temperature", "K" },
    /* not certain */
    { "v = rolling_mean(v, 2, axis=0) + 1", "-", "air_temperature", "K" },
    { "v = rolling_mean(v, n=2, axis=0)", "-", "air_temperature", "K" },
    { "v = mean(v[1:], axis=0)", "-", "air_temperature", "K" },
    { "v = mean(v, axis=0, where=v > 255)", "-", "air_temperature", "K" },
    { "v = mean(v + 1, axis=0)", "-", "air_temperature", "K" },
    { "v = mean(v, axis=0) + 1", "-", "air_temperature", "K" },
    { "v = nanquantile(v, 0.9, axis=0)", "-", "air_temperature", "K" },
    { "v = v - nanmean(v, axis=0)", "-", "-", "K" },
    { "v = diff(v, axis=0)", "-", "-", "K" },
    { "v = diff (v, axis=0)", "-", "-", "K" },
    { "_d = diff(v, axis=0); v = _d + 0", "-", "-", "K" },
    { "_d = diff(v, axis=0); v = mean(_d, axis=0)", "-", "-", "K" },
    { "v[i, j] = mean[t] v[t, i, j]", "-", "air_temperature", "K" },
    { "v[i, j] = prod[t] v[t, i, j]", "-", "-", "-" },
    { "v[i, j] = 1 + var[t, ddof=1] (v[t, i, j])", "-", "-", "-" },
    { "v[i, j] = sum[t] -v[t, i, j]", "-", "-", "-" },
    { "v[i, j] = v[1, i, j] - 3", "time: mean area: mean", "air_temperature", "K" },
    { "v[i, j] = sum[t] - v[t, i, j]", "-", "-", "-" },
    { "v[i, j] = mean[t] - v[t, i, j]", "-", "air_temperature", "K" },
    { "v = average(v, axis=1, weights=cos(y)[None, :, None])",
      "time: mean area: mean y: mean (comment: weighted)", "air_temperature", "K" },
    { "v = average(v, 1, cos(y)[None, :, None])", "-", "air_temperature", "K" },
    { "v = ptp(v, # max(v) - min(v)\n axis=0) # a range", "time: mean area: mean time: range", "-",
      "K" },
    { "v = v # exp(v)", "time: mean area: mean", "air_temperature", "K" },
    { "v = ptp(v, axis=0)", "time: mean area: mean time: range", "-", "K" },
    { "v = ffill(v, axis=0)", "-", "air_temperature", "K" },
    { "v = v.bfill(axis=0)", "-", "air_temperature", "K" },
    { "v = ffill(v * v, axis=0)", "-", "-", "-" },
    { "v = where(v > 255, v, nan)", "-", "air_temperature", "K" },
    { "v = where(v > 255, v, v * 2)", "-", "-", "-" },
    { "v = nan_to_num(v)", "-", "air_temperature", "K" },
    { "v = rolling_median(v, 3)",
      "time: mean area: mean time: median (comment: of 3 neighbours, from the coordinate on)",
      "air_temperature", "K" },
    { "v = ewm(v, 0.5, axis=0)", "-", "air_temperature", "K" },
    { "v = concatenate([v, v], axis=0)", "-", "-", "K" },
    { "v = concatenate([v, v * v], axis=0)", "-", "-", "-" },
    { "v = v * 2", "-", "-", "-" },
    { "v = exp(v)", "-", "-", "-" },
    { "v = v > 255", "-", "-", "-" },
    { "_m = mean(v, axis=0); v = v[0] - _m", "-", "-", "K" },
    { "w = v + 0; v = w - 1", "time: mean area: mean", "air_temperature", "K" },
};

START_TEST(still_true)
{
    run_line("$R \"$(cat <<'END'\n%s\nEND\n)\" cmip5.nc -o new.nc", statements[_i].formula);
    ck_assert_str_eq(said("v", "cell_methods"), statements[_i].methods);
    ck_assert_str_eq(said("v", "standard_name"), statements[_i].standard);
    ck_assert_str_eq(said("v", "units"), statements[_i].units);
    ck_assert_str_eq(said("v", "original_name"), strcmp(statements[_i].units, "K") ? "-" : "TAS");
}
END_TEST

/* Of several variables: what all say, and what none denies. */
START_TEST(several)
{
    run_line("$R 'v = a - b' a=cmip5.nc:v b=record.nc:v -o new.nc");
    ck_assert_str_eq(said(NULL, "title"), "a file");
    ck_assert_str_eq(said(NULL, "Conventions"), "CF-1.7");
    ck_assert_str_eq(said("v", "units"), "-");
    ck_assert_str_eq(said("v", "coordinates"), "lat lon height");
    /* another height */
    run_line("$R 'height = height + 1' cmip5.nc -o h.nc && $R 'v = v + 0' cmip5.nc -o w.nc");
    place w = { 0 };
    ok(nc->open("w.nc", NC_WRITE, &w.file));
    w.group = w.file;
    w       = in_file(&w, "height");
    ok(nc->put_vara_double(w.file, w.id, NULL, NULL, &(double){ 10 }));
    ok(nc->put_att_text(w.file, NC_GLOBAL, "title", 5, "other"));
    ok(nc->close(w.file));
    run_line("$R 'v = a - b' a=cmip5.nc:v b=w.nc:v -o new.nc");
    ck_assert_str_eq(said("v", "coordinates"), "lat lon");
    ck_assert_str_eq(said(NULL, "title"), "-");
    ck_assert(!is_there("height"));
    /* each statement has its own operands */
    run_line("$R 'a = v + 0; b = quality' quality.nc -o new.nc");
    ck_assert_str_eq(said("a", "units"), "K");
    ck_assert_str_eq(said("b", "flag_meanings"), "good bad");
}
END_TEST

/* Parts of a record: bounds are joined, and in the first one's units; a scalar that differs is lost. */
START_TEST(joined)
{
    run_line("$R 'v = v[:2]' cmip6.nc -o p1.nc && $R 'v = v[2:]' cmip6.nc -o p2.nc && "
             "$R 'v = v + 0' 'p?.nc' -o new.nc");
    ck_assert_str_eq(numbers("time_bnds"), "0 30 30 60 60 90 90 120 120 150");
    ck_assert_str_eq(numbers("time"), "0 31 59.5 90 120");
    ck_assert_str_eq(said("v", "coordinates"), "lat lon height");
    ck_assert_str_eq(said("time", "bounds"), "time_bnds");
    place p = { 0 };
    ok(nc->open("p2.nc", NC_WRITE, &p.file));
    p.group          = p.file;
    const place time = in_file(&p, "time"), height = in_file(&p, "height");
    ok(nc->put_att_text(time.group, time.id, "units", 21, "days since 2000-01-02"));
    ok(nc->put_vara_double(height.group, height.id, NULL, NULL, &(double){ 10 }));
    ok(nc->close(p.file));
    run_line("$R 'v = v + 0' 'p?.nc' -o new.nc");
    ck_assert_str_eq(numbers("time_bnds"), "0 30 30 60 61 91 91 121 121 151");
    ck_assert_str_eq(numbers("time"), "0 31 60.5 91 121");
    ck_assert_str_eq(said("v", "coordinates"), "lat lon");
    /* members of an ensemble */
    run_line("$R 'v = mean(v, axis=0)' v=cmip6.nc,cordex.nc --join member -o new.nc");
    ck_assert_str_eq(said("v", "coordinates"), "lat lon height");
    ck_assert_str_eq(numbers("time_bnds"), "0 30 30 60 60 90 90 120 120 150");
    ck_assert_str_eq(said("v", "cell_methods"), "time: mean area: mean member: mean");
}
END_TEST

/* A number that a computed one could be marks nothing. */
static const struct {
    const char *formula;
    float       fill, want;
} fills[] = {
    { "v", -999, -999 },
    { "v = v[1:]", -999, -999 },
    { "v = v - 999", -999, NAN },
    { "v = v - 999", 1e20f, 1e20f },
    { "v = nanmean(v, axis=0)", 9.96921e36f, 9.96921e36f },
    { "v = nanmax(v)", 0, NAN },
    { "v = v", 0, 0 },
    { "v = v * 2", INFINITY, NAN },
};

START_TEST(missing)
{
    const float values[] = { 1, 2, fills[_i].fill };
    float       got, elements[3];
    int         f, x, v, before;

    ok(nc->create("fill.nc", CLASSIC, &f));
    nc->set_fill(f, NC_NOFILL, &before);
    ok(nc->def_dim(f, "x", 3, &x));
    ok(nc->def_var(f, "v", NC_FLOAT, 1, &x, &v));
    ok(nc->put_att_float(f, v, "_FillValue", NC_FLOAT, 1, &fills[_i].fill));
    ok(nc->enddef(f));
    ok(nc->put_vara(f, v, &(size_t){ 0 }, &(size_t){ 3 }, values));
    ok(nc->close(f));
    run_line("$R '%s' fill.nc -o new.nc", fills[_i].formula);
    const place all = open_file("new.nc"), to = in_file(&all, "v");
    ok(nc->get_att(to.group, to.id, "_FillValue", &got));
    ck_assert(got == fills[_i].want || (got != got && fills[_i].want != fills[_i].want));
    if (strcmp(fills[_i].formula, "v") == 0) {
        ok(nc->get_vara(to.group, to.id, &(size_t){ 0 }, &(size_t){ 3 }, elements));
        ck_assert_mem_eq(elements, values, sizeof values);
    }
    ok(nc->close(all.file));
    /* other formats have NaN, at the same time */
    run_line("$R 'v = %s' fill.nc -o new.nc -o v.npy && $R 'sum(isnan(v))' v.npy",
             strncmp(fills[_i].formula, "v = ", 4) == 0 ? fills[_i].formula + 4
                                                        : fills[_i].formula);
    ck_assert_str_eq(out, strstr(fills[_i].formula, "nan") ? "0\n" : "1\n");
}
END_TEST

/* Packed coordinates are those that are meant, and are written as such. */
START_TEST(packed_coordinates)
{
    static const int16_t at[]   = { -15, 0, 15 };
    static const char   *ends[] = { "nc", "h5" };
    int                  f, x, v, lat;

    for (int k = 0; k < 1 + RDIM_HDF5; k++) {
        ok(nc->create(k ? "p.h5" : "p.nc", FOUR, &f));
        ok(nc->def_dim(f, "lat", 3, &x));
        ok(nc->def_var(f, "lat", NC_SHORT, 1, &x, &lat));
        ok(nc->put_att_double(f, lat, "scale_factor", NC_DOUBLE, 1, (const double[]){ 0.5 }));
        ok(nc->put_att_double(f, lat, "add_offset", NC_DOUBLE, 1, (const double[]){ 40 }));
        ok(nc->def_var(f, "v", NC_FLOAT, 1, &x, &v));
        ok(nc->put_vara(f, lat, &(size_t){ 0 }, &(size_t){ 3 }, at));
        ok(nc->put_vara(f, v, &(size_t){ 0 }, &(size_t){ 3 }, some(1)));
        ok(nc->close(f));
        run_line("$R v p.%s", ends[k]);
        ck_assert_msg(strstr(out, "\n32.5       1\n") && strstr(out, "\n47.5     3.6\n"), "%s",
                      out);
        run_line("$R v p.%s -o new.nc", ends[k]);
        ck_assert_str_eq(numbers("lat"), "32.5 40 47.5");
        ck_assert_str_eq(said("lat", "scale_factor"), "-");
    }
}
END_TEST

/* An enum is its numbers. */
START_TEST(own_types)
{
    static const int8_t at[] = { 0, 1, 1 };
    int                 f, x, v, cloud, type;

    ok(nc->create("types.nc", FOUR, &f));
    ok(nc->def_dim(f, "x", 3, &x));
    ok(nc->def_enum(f, NC_BYTE, "clouds", &type));
    ok(nc->insert_enum(f, type, "clear", &at[0]));
    ok(nc->insert_enum(f, type, "cloudy", &at[1]));
    ok(nc->def_var(f, "cloud", type, 1, &x, &cloud));
    ok(nc->def_var(f, "v", NC_FLOAT, 1, &x, &v));
    ok(nc->put_att_text(f, v, "ancillary_variables", 5, "cloud"));
    ok(nc->put_vara(f, cloud, &(size_t){ 0 }, &(size_t){ 3 }, at));
    ok(nc->put_vara(f, v, &(size_t){ 0 }, &(size_t){ 3 }, some(1)));
    ok(nc->close(f));
    run_line("$R 'v # as it is' types.nc -o new.nc"); /* a comment does not take the name */
    ck_assert_str_eq(numbers("cloud"), "0 1 1");
    ck_assert_str_eq(said("v", "ancillary_variables"), "cloud");
}
END_TEST

/* A shell would read the line of history as it was given. */
START_TEST(history)
{
    run_line("$R \"v = nanmean(v, axis='time')\" plain.nc -o new.nc --only ': , 1'");
    ck_assert_str_eq(said(NULL, "history"),
                     "1970-01-02T00:00:00Z: rdim 'v = nanmean(v, axis='\\''time'\\'')' plain.nc -o "
                     "new.nc --only ': , 1'\n2001: made\n2000: planned");
}
END_TEST

/* An axis that is gone has CF's name in cell_methods, as it is no dimension of the result. */
START_TEST(methods_of_places)
{
    static const float at[2] = { 10, 20 };
    int                f, dims[2], lat, lon, v;

    ok(nc->create("places.nc", FOUR, &f));
    ok(nc->def_dim(f, "la", 2, &dims[0]));
    ok(nc->def_dim(f, "lo", 2, &dims[1]));
    ok(nc->def_var(f, "la", NC_FLOAT, 1, &dims[0], &lat));
    ok(nc->put_att_text(f, lat, "standard_name", 8, "latitude"));
    ok(nc->def_var(f, "lo", NC_FLOAT, 1, &dims[1], &lon));
    ok(nc->put_att_text(f, lon, "units", 12, "degrees_east"));
    ok(nc->def_var(f, "v", NC_FLOAT, 2, dims, &v));
    ok(nc->put_vara(f, lat, &(size_t){ 0 }, &(size_t){ 2 }, at));
    ok(nc->put_vara(f, lon, &(size_t){ 0 }, &(size_t){ 2 }, at));
    ok(nc->put_vara(f, v, (size_t[]){ 0, 0 }, (size_t[]){ 2, 2 }, some(1)));
    ok(nc->close(f));
    run_well("$R 'v = mean(v, axis=lo)' places.nc -o new.nc");
    ck_assert_str_eq(said("v", "cell_methods"), "longitude: mean");
    run_well("$R 'v = mean(v)' places.nc -o new.nc");
    ck_assert_str_eq(said("v", "cell_methods"), "latitude: longitude: mean");
    run_well("$R 'v = mean(v, axis=lo, keepdims=true)' places.nc -o new.nc");
    ck_assert_str_eq(said("v", "cell_methods"), "lo: mean");
}
END_TEST

/* A record axis stays one, in files of a megabyte and more, too, whose elements are computed in place, or
 * deflated by all threads. */
START_TEST(records)
{
    enum { N = 40, ROW = 100 * 101 };
    static float row[ROW];
    int          f, dims[3], v, before;

    ok(nc->create("long.nc", FOUR, &f));
    nc->set_fill(f, NC_NOFILL, &before);
    ok(nc->def_dim(f, "time", NC_UNLIMITED, &dims[0]));
    ok(nc->def_dim(f, "y", 100, &dims[1]));
    ok(nc->def_dim(f, "x", 101, &dims[2]));
    ok(nc->def_var(f, "v", NC_FLOAT, 3, dims, &v));
    if (_i > 0) {
        ok(nc->def_var_chunking(f, v, NC_CHUNKED, (const size_t[]){ 7, 33, 50 }));
        ok(nc->def_var_deflate(f, v, _i == 1, 1, 1 + _i));
    }
    for (size_t k = 0; k < N; k++) {
        for (int i = 0; i < ROW; i++)
            row[i] = (float)k * 1000 + (float)i;
        ok(nc->put_vara(f, v, (const size_t[]){ k, 0, 0 }, (const size_t[]){ 1, 100, 101 }, row));
    }
    ok(nc->close(f));
    for (int k = 0; k < (RDIM_HDF5 ? 8 : 4); k++) {
        const char *const        to_file = k < 4 ? "new.nc" : "new.h5";
        static const char *const forms[] = { "v = v + 0", "v = v[3:, ::2]", "v = v.T",
                                             "v = v + 0; w = v[:30] * 2" };
        static const char *const same[]  = { "all(a == v)", "all(a == v[3:, ::2])", "all(a == v.T)",
                                             "all(a == v)" };
        run_line("$R '%s' long.nc -o %s && $R '%s' a=%s:v long.nc", forms[k % 4], to_file,
                 same[k % 4], to_file);
        ck_assert_str_eq(out, "true\n");
        const place all = open_file(to_file), to = in_file(&all, "v");
        ok(nc->inq_var(to.group, to.id, NULL, NULL, NULL, dims, NULL));
        ck_assert(grows(&all, dims[0]) && !grows(&all, dims[1]));
        int shuffled = 0, deflated = 0, level = 0;
        ok(nc->inq_var_deflate(to.group, to.id, &shuffled, &deflated, &level));
        ck_assert(shuffled == (_i == 1) && deflated == (_i > 0) && level == (_i > 0 ? 1 + _i : 0));
        ok(nc->close(all.file));
    }
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_beside");
    TCase   *tc     = tcase_create("command_beside");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 120);
    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, round_trip, 0, COUNT(files));
    tcase_add_loop_test(tc, round_trip_hdf5, 0, COUNT(files));
    tcase_add_test(tc, reduced);
    tcase_add_test(tc, sliced);
    tcase_add_loop_test(tc, still_true, 0, COUNT(statements));
    tcase_add_test(tc, several);
    tcase_add_test(tc, joined);
    tcase_add_loop_test(tc, missing, 0, COUNT(fills));
    tcase_add_test(tc, packed_coordinates);
    tcase_add_test(tc, own_types);
    tcase_add_test(tc, history);
    tcase_add_test(tc, methods_of_places);
    tcase_add_loop_test(tc, records, 0, 3);
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
