/* netcdf.c - NetCDF files of all kinds: variables of all groups, their dimensions, coordinates and
 * attributes. Contiguous variables in this machine's byte order are memory-mapped; others are
 * decoded.
 *
 * The library numbers groups and, in each group, variables. A classic file is of NetCDF-3; a
 * NetCDF-4 file is an HDF5 file. */
#include "files/formats.h"
#include "result.h"
#include <string.h>

/* True if the bytes begin a classic file: "CDF" and its version, 1, 2 or 5. */
static bool is_classic(const uint8_t *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "CDF", 3) == 0 &&
           (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5);
}

/* True if the bytes begin a classic file or an HDF5 file, which NetCDF-4 is. */
static bool matches(const uint8_t *bytes, size_t n)
{
    return is_classic(bytes, n) || (n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0);
}

#if RDIM_NETCDF
#include "files/classic.h"
#include "files/netcdf_api.h"
#include "files/netcdf_said.h"
#include "files/netcdf_write.h"
#include "files/packing.h"

/* Characters of a text attribute; coordinates of an axis. */
enum { MOST_TEXT = 1 << 16, MOST_COORDINATES = 1 << 22 };

/* An open NetCDF file. */
typedef struct source {
    const cmd_netcdf_api *nc;
    const char           *path;
    int                   id;
    const cmd_classic    *classic; /* the classic header; NULL: the file is NetCDF-4, in HDF5 */
} source;

/* Packs group and variable into v->id. The group counts from the file's number, as that differs
 * each time the file is opened. */
static int64_t pack_id(const source *s, int group, int variable)
{
    return (int64_t)(group - s->id) << 32 | variable;
}

/* The library's number of the variable's group, which pack_id() has packed. */
static int group_of(const source *s, const cmd_variable *v)
{
    return s->id + (int)(v->id >> 32);
}

/* The library's number of the variable in its group, which pack_id() has packed. */
static int number_of(const cmd_variable *v)
{
    return (int)(v->id & INT32_MAX);
}

/* ---- Types that a file defines --------------------------------------------------------------- */
/* Recognises complex numbers as netCDF4 and h5py write them: records of two floats r and i, one
 * behind the other. `n` is the number of fields. RD_AUTO: the record is another one. */
static rd_dtype complex_of(const source *s, int group, nc_type type, size_t size, size_t n)
{
    static const char *const names[] = { "r", "i" };
    nc_type                  part[2] = { 0 };

    for (int k = 0; n == 2 && k < 2; k++) {
        char   name[NC_MAX_NAME + 1];
        size_t offset;
        int    rank;

        if (s->nc->inq_compound_field(group, type, k, name, &offset, &part[k], &rank, NULL) !=
                NC_NOERR ||
            strcmp(name, names[k]) != 0 || rank != 0 || offset != (size_t)k * size / 2)
            return RD_AUTO;
    }
    return n != 2 || part[0] != part[1]         ? RD_AUTO
           : part[0] == NC_FLOAT && size == 8   ? RD_C64
           : part[0] == NC_DOUBLE && size == 16 ? RD_C128
                                                : RD_AUTO;
}

/* Finds the element type of a type that the file defines: an enum is an integer of its base type,
 * and some records are complex numbers. RD_AUTO: there is none, and *why says what it is. */
static rd_dtype user_type(const source *s, int group, nc_type type, const char **why)
{
    char    name[NC_MAX_NAME + 1];
    size_t  size, fields;
    nc_type base;
    int class;

    *why = "its elements are of a type that is not known here";
    if (s->nc->inq_user_type(group, type, name, &size, &base, &fields, &class) != NC_NOERR)
        return RD_AUTO;
    *why = class == NC_COMPOUND ? cmd_text("its elements are records %s", name)
           : class == NC_VLEN   ? cmd_text("its elements are lists %s", name)
                                : cmd_text("its elements are opaque bytes %s", name);
    return class == NC_ENUM       ? cmd_netcdf_element(base)
           : class == NC_COMPOUND ? complex_of(s, group, type, size, fields)
                                  : RD_AUTO;
}

/* Finds the element type of a NetCDF type. RD_AUTO: there is none, and *why says what it is. The
 * numbers of types that the file defines begin at NC_FIRSTUSERTYPEID. */
static rd_dtype element_type(const source *s, int group, nc_type type, const char **why)
{
    const rd_dtype found =
        type >= NC_FIRSTUSERTYPEID ? user_type(s, group, type, why) : cmd_netcdf_element(type);

    if (found != RD_AUTO)
        *why = NULL;
    else if (type < NC_FIRSTUSERTYPEID)
        *why = type == NC_CHAR ? "its elements are characters" : "its elements are texts";
    return found;
}

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Finds an attribute. False: there is none. If it cannot be read, the program ends, as an array
 * would lose its scale or its missing values. */
static bool find_attribute(const source *s, int group, int variable, const char *name,
                           nc_type *type, size_t *n)
{
    const int status = s->nc->inq_att(group, variable, name, type, n);

    if (status != NC_NOERR && status != NC_ENOTATT)
        cmd_netcdf_check(s->path, name, status);
    return status == NC_NOERR;
}

/* Reads an attribute that is one text: characters, or a single string. NULL: it is missing, empty,
 * too long or no text. */
static const char *text_attribute(const source *s, int group, int variable, const char *name)
{
    nc_type type;
    size_t  n;

    if (!find_attribute(s, group, variable, name, &type, &n) || n == 0 || n > MOST_TEXT)
        return NULL;
    if (type == NC_CHAR) {
        char *text = cmd_room(n + 1);
        cmd_netcdf_check(s->path, name, s->nc->get_att_text(group, variable, name, text));
        return *text ? text : NULL;
    }
    if (type == NC_STRING && n == 1) {
        char *text = NULL;
        if (s->nc->get_att_string(group, variable, name, &text) != NC_NOERR || !text)
            return NULL;
        const char *copy = *text ? cmd_copy(text, strlen(text)) : NULL;
        s->nc->free_string(1, &text);
        return copy;
    }
    return NULL;
}

/* Argument of read_numbers(): a variable with attributes. */
typedef struct attributes {
    const source       *s;
    const cmd_variable *v;
} attributes;

/* Reads integers or floats as the widest type of their class, which holds each of them. */
static int read_values(const attributes *a, const char *name, rd_dtype type, size_t n,
                       cmd_exact *at)
{
    const int           group = group_of(a->s, a->v), number = number_of(a->v);
    double             *f        = cmd_room(n * sizeof *f);
    long long          *i        = cmd_room(n * sizeof *i);
    unsigned long long *u        = cmd_room(n * sizeof *u);
    const bool          is_float = cmd_is_float(type), is_wide = type == RD_U64;
    const int           status = is_float  ? a->s->nc->get_att_double(group, number, name, f)
                                 : is_wide ? a->s->nc->get_att_ulonglong(group, number, name, u)
                                           : a->s->nc->get_att_longlong(group, number, name, i);

    for (size_t k = 0; status == NC_NOERR && k < n; k++)
        at[k] = is_float ? cmd_real(f[k]) : is_wide ? cmd_unsigned(u[k]) : cmd_integer(i[k]);
    return status;
}

/* Reads an attribute of numbers and their stored type. Returns how many, 0 if it is missing or has
 * no numbers. */
static int read_numbers(void *user, const char *name, cmd_exact **at, rd_dtype *type)
{
    const attributes *a = user;
    nc_type           stored;
    size_t            n;

    if (!find_attribute(a->s, group_of(a->s, a->v), number_of(a->v), name, &stored, &n) || n == 0 ||
        (*type = cmd_netcdf_element(stored)) == RD_AUTO)
        return 0;
    if (n > CMD_MOST_NUMBERS)
        cmd_fail("%s: the attribute %s has %zu numbers", a->s->path, name, n);
    *at = cmd_room(n * sizeof **at);
    cmd_netcdf_check(a->s->path, name, read_values(a, name, *type, n, *at));
    return (int)n;
}

/* Adds the library's default fill value as a missing value: elements that no program wrote have it.
 * Types of 1 byte have no such value; `none` is set where filling is off. `stored` is the type in
 * the file, before _Unsigned. */
static void add_default_fill(const source *s, cmd_variable *v, rd_dtype stored)
{
    union {
        int16_t  i2;
        uint16_t u2;
        int32_t  i4;
        uint32_t u4;
        int64_t  i8;
        uint64_t u8;
        float    f4;
        double   f8;
    } fill;
    int none = 0;

    if (cmd_size_of(stored) < 2 ||
        s->nc->inq_var_fill(group_of(s, v), number_of(v), &none, &fill) != NC_NOERR || none)
        return;
    const cmd_exact value = stored == RD_I16   ? cmd_integer(fill.i2)
                            : stored == RD_U16 ? cmd_integer(fill.u2)
                            : stored == RD_I32 ? cmd_integer(fill.i4)
                            : stored == RD_U32 ? cmd_integer(fill.u4)
                            : stored == RD_I64 ? cmd_integer(fill.i8)
                            : stored == RD_U64 ? cmd_unsigned(fill.u8)
                            : stored == RD_F32 ? cmd_real((double)fill.f4)
                                               : cmd_real(fill.f8);
    cmd_add_default_fill(v, value, stored);
}

/* ---- Listing of a file ----------------------------------------------------------------------- */
/* The path of a group, "a/b/"; "" for the root, which has the number of the file. */
static const char *group_path(const source *s, int group)
{
    char name[NC_MAX_NAME + 1];
    int  parent;

    if (group == s->id || s->nc->inq_grp_parent(group, &parent) != NC_NOERR ||
        s->nc->inq_grpname(group, name) != NC_NOERR)
        return "";
    return cmd_text("%s%s/", group_path(s, parent), name);
}

/* True if the dimension is unlimited. Unlimited dimensions are listed in the group that defines
 * them, which is the variable's group or one above it. */
static bool is_unlimited(const source *s, int group, int dimension)
{
    int n, ids[NC_MAX_VAR_DIMS];

    for (;;) {
        if (s->nc->inq_unlimdims(group, &n, NULL) == NC_NOERR && n <= NC_MAX_VAR_DIMS &&
            s->nc->inq_unlimdims(group, &n, ids) == NC_NOERR)
            for (int k = 0; k < n; k++)
                if (ids[k] == dimension)
                    return true;
        if (group == s->id || s->nc->inq_grp_parent(group, &group) != NC_NOERR)
            return false;
    }
}

/* The words that --list shows for the storage of a variable; NULL: unknown. */
static const char *layout_of(const source *s, const cmd_variable *v)
{
    int storage = NC_CONTIGUOUS, shuffle, deflated = 0, level;

    if (s->classic)
        return "big-endian";
    if (s->nc->inq_var_chunking(group_of(s, v), number_of(v), &storage, NULL) != NC_NOERR)
        return NULL;
    s->nc->inq_var_deflate(group_of(s, v), number_of(v), &shuffle, &deflated, &level);
    return storage == NC_CONTIGUOUS ? "mapped" : deflated ? "chunks, deflated" : "chunks";
}

/* Fills in a variable: name, type, shape, names of axes, attributes, packing. It is the axis of its
 * own coordinates (is_axis) if it has one axis and the name of that dimension. Types that the file
 * defines have no default fill value. */
static void describe(const source *s, int group, int number, cmd_variable *v)
{
    char     name[NC_MAX_NAME + 1], dimension[NC_MAX_NAME + 1];
    nc_type  type;
    int      rank, ids[NC_MAX_VAR_DIMS];
    rd_shape shape = { 0 };

    cmd_netcdf_check(s->path, "a variable",
                     s->nc->inq_var(group, number, name, &type, &rank, ids, NULL));
    v->name = cmd_text("%s%s", group_path(s, group), name);
    if (rank > RD_MAX_RANK) {
        v->why = cmd_text("it has %d axes, more than %d", rank, RD_MAX_RANK);
        return;
    }
    const rd_dtype stored = element_type(s, group, type, &v->why);
    shape.n               = rank;
    for (int k = 0; k < rank; k++) {
        size_t n;
        cmd_netcdf_check(s->path, "a dimension", s->nc->inq_dim(group, ids[k], NULL, &n));
        shape.at[k] = n < (size_t)INT64_MAX / 2 ? (int64_t)n : -1;
    }
    cmd_set_shape(v, stored, &shape);
    for (int k = 0; k < rank; k++) {
        cmd_netcdf_check(s->path, "a dimension", s->nc->inq_dim(group, ids[k], dimension, NULL));
        v->axis[k].name   = cmd_copy(dimension, strlen(dimension));
        v->axis[k].record = is_unlimited(s, group, ids[k]);
    }
    v->units    = text_attribute(s, group, number, "units");
    v->title    = text_attribute(s, group, number, "long_name");
    v->standard = text_attribute(s, group, number, "standard_name");
    if (v->units && strstr(v->units, " since "))
        v->calendar = text_attribute(s, group, number, "calendar");
    v->is_axis = rank == 1 && strcmp(name, v->axis[0].name) == 0;
    v->layout  = layout_of(s, v);
    cmd_read_packing(v, text_attribute(s, group, number, "_Unsigned"), read_numbers,
                     &(attributes){ s, v });
    if (type < NC_FIRSTUSERTYPEID && stored != RD_AUTO)
        add_default_fill(s, v, stored);
}

/* Argument of describe_it(). */
typedef struct description {
    const source *s;
    cmd_variable *v;
} description;

/* Calls describe(), in the form that cmd_try() takes. */
static void describe_it(void *of)
{
    const description *d = of;

    describe(d->s, group_of(d->s, d->v), number_of(d->v), d->v);
}

/* Lists a variable under its number, until its name is read. One that cannot be read is listed with
 * the reason, and the others remain readable. */
static void add_variable(const source *s, int group, int number, cmd_variable *v)
{
    v->id                 = pack_id(s, group, number);
    v->name               = cmd_text("%svariable %d", group_path(s, group), number);
    const char *const why = cmd_try(describe_it, &(description){ s, v });
    if (why)
        v->why = cmd_reason(why, s->path);
}

/* Lists the variables of a group, and then those of its subgroups, at most 33 levels below the
 * root: a damaged file could have endless ones. */
static void list_group(cmd_file *file, const source *s, int group, int depth)
{
    int n = 0;

    cmd_netcdf_check(s->path, "a group", s->nc->inq_varids(group, &n, NULL));
    if (n > 0) {
        int          *ids = cmd_room((size_t)n * sizeof *ids);
        cmd_variable *v   = cmd_add_variables(file, n);
        cmd_netcdf_check(s->path, "a group", s->nc->inq_varids(group, &n, ids));
        for (int k = 0; k < n; k++)
            add_variable(s, group, ids[k], &v[k]);
    }
    cmd_netcdf_check(s->path, "a group", s->nc->inq_grps(group, &n, NULL));
    if (n <= 0 || depth > 32)
        return;
    int *groups = cmd_room((size_t)n * sizeof *groups);
    cmd_netcdf_check(s->path, "a group", s->nc->inq_grps(group, &n, groups));
    for (int k = 0; k < n; k++)
        list_group(file, s, groups[k], depth + 1);
}

/* Loads libnetcdf, or ends the program if it is not installed. */
static void load(const char *path)
{
    cmd_netcdf_load(path);
}

/* Opens the file and lists its variables. A classic one has its header read, which tells where
 * elements are; NetCDF-4 files are HDF5. */
static void open_netcdf(cmd_file *file)
{
    source *s = cmd_room(sizeof *s);
    int     format;

    *s = (source){ .nc = cmd_netcdf_load(file->path), .path = file->path };
    cmd_netcdf_check(s->path, "cannot be read", s->nc->open(s->path, NC_NOWRITE, &s->id));
    cmd_netcdf_check(s->path, "its format", s->nc->inq_format(s->id, &format));
    if (format != NC_FORMAT_NETCDF4 && format != NC_FORMAT_NETCDF4_CLASSIC)
        s->classic = cmd_classic_read(s->path);
    file->state = s;
    list_group(file, s, s->id, 0);
}

/* Closes the file in the library, to keep the number of open files small; reopen_netcdf() opens it
 * again. */
static void close_netcdf(cmd_file *file)
{
    const source *s = file->state;

    s->nc->close(s->id);
}

/* Opens a file again that close_netcdf() has closed. The library may give it another number. */
static void reopen_netcdf(cmd_file *file)
{
    source *s = file->state;

    cmd_netcdf_check(s->path, "cannot be read", s->nc->open(s->path, NC_NOWRITE, &s->id));
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Finds where the elements of a variable are: in rows of a classic file, or, in NetCDF-4, by
 * libhdf5. Big-endian NetCDF-4 variables are left to the library, which converts them. */
static cmd_place place(const cmd_file *file, const cmd_variable *v)
{
    const source *s = file->state;
    int           endian;

    if (s->classic) {
        cmd_classic_check(s->classic, number_of(v), v->name, v->shape.n ? v->shape.at[0] : 1);
        return cmd_classic_rows(s->classic, number_of(v), v);
    }
    if (s->nc->inq_var_endian(group_of(s, v), number_of(v), &endian) != NC_NOERR ||
        endian == NC_ENDIAN_BIG)
        return (cmd_place){ .offset = -1 };
    return cmd_hdf5_place(file->path, v->name, v->type, &v->shape);
}

/* Reads n rows along the first axis, from `first` on, by the library. The library would read zeros
 * behind the end of a classic file, so its length is checked. */
static void decode(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to)
{
    const source *s                  = file->state;
    size_t        start[RD_MAX_RANK] = { (size_t)first }, count[RD_MAX_RANK];

    if (s->classic)
        cmd_classic_check(s->classic, number_of(v), v->name, v->shape.at[0]);
    for (int k = 0; k < v->shape.n; k++)
        count[k] = (size_t)(k ? v->shape.at[k] : n);
    cmd_netcdf_check(s->path, v->name,
                     s->nc->get_vara(group_of(s, v), number_of(v), start, count, to));
}

/* Returns labels of the coordinates 1, 2, ... from CF's flags, with blanks between them. NULL:
 * there are none, or flag_values are not 1, 2, ... */
static const char *labels_of(const source *s, int group, int variable)
{
    double  value[CMD_MOST_WORDS];
    nc_type type;
    size_t  n;

    if (!find_attribute(s, group, variable, "flag_values", &type, &n) || n == 0 ||
        n > CMD_MOST_WORDS || type == NC_CHAR ||
        s->nc->get_att_double(group, variable, "flag_values", value) != NC_NOERR)
        return NULL;
    for (size_t k = 0; k < n; k++)
        if (value[k] != (double)(k + 1))
            return NULL;
    return text_attribute(s, group, variable, "flag_meanings");
}

/* Unpacks coordinates by scale_factor and add_offset, as elements are unpacked. */
static void unpack_coordinates(const source *s, int group, int number, double *at, int64_t n)
{
    cmd_variable v = { .id = pack_id(s, group, number), .type = RD_F64 };

    cmd_read_packing(&v, /*sign=*/NULL, read_numbers, &(attributes){ s, &v });
    for (int64_t i = 0; v.packing.type != RD_AUTO && i < n; i++)
        at[i] = at[i] * v.packing.scale + v.packing.add;
}

/* Reads the bounds (n, 2) that a coordinate variable names in its attribute "bounds", and returns
 * their middles. NULL: there are no bounds of this shape, or the coordinates are not the second
 * ones of their bounds. */
static const double *middle_of(const source *s, int group, int variable, const cmd_axis *axis)
{
    const char  *name     = text_attribute(s, group, variable, "bounds");
    const size_t start[2] = { 0 }, count[2] = { (size_t)axis->n, 2 };
    int          id, rank, dims[NC_MAX_VAR_DIMS];
    size_t       n[2];
    nc_type      type;

    if (!name || !axis->at || s->nc->inq_varid(group, name, &id) != NC_NOERR ||
        s->nc->inq_var(group, id, NULL, &type, &rank, dims, NULL) != NC_NOERR || rank != 2 ||
        cmd_netcdf_element(type) == RD_AUTO)
        return NULL;
    for (int k = 0; k < 2; k++)
        if (s->nc->inq_dim(group, dims[k], NULL, &n[k]) != NC_NOERR || n[k] != count[k])
            return NULL;
    if (s->classic)
        cmd_classic_check(s->classic, id, name, axis->n);
    double *ends = cmd_room(2 * count[0] * sizeof *ends);
    return s->nc->get_vara_double(group, id, start, count, ends) == NC_NOERR
               ? cmd_middle_of(axis, ends)
               : NULL;
}

/* Reads coordinates and attributes of an axis from the variable of its name, in the group of v or
 * one above, up to the root (s->id). NC_ERANGE means that a value is outside of doubles; the axis
 * then has no coordinates. */
static void read_coordinates(const source *s, const cmd_variable *v, cmd_axis *axis)
{
    int     group = group_of(s, v), number, rank;
    nc_type type;

    if (!axis->name || axis->n <= 0 || axis->n > MOST_COORDINATES)
        return;
    while (s->nc->inq_varid(group, axis->name, &number) != NC_NOERR)
        if (group == s->id || s->nc->inq_grp_parent(group, &group) != NC_NOERR)
            return;
    if (s->nc->inq_var(group, number, NULL, &type, &rank, NULL, NULL) != NC_NOERR || rank != 1 ||
        cmd_netcdf_element(type) == RD_AUTO)
        return;
    if (s->classic)
        cmd_classic_check(s->classic, number, axis->name, axis->n);
    double      *at    = cmd_room((size_t)axis->n * sizeof *at);
    const size_t start = 0, count = (size_t)axis->n;
    const int    status = s->nc->get_vara_double(group, number, &start, &count, at);
    if (status != NC_ERANGE)
        cmd_netcdf_check(s->path, axis->name, status);
    unpack_coordinates(s, group, number, at, axis->n);
    axis->at       = status == NC_NOERR ? at : NULL;
    axis->units    = text_attribute(s, group, number, "units");
    axis->title    = text_attribute(s, group, number, "long_name");
    axis->standard = text_attribute(s, group, number, "standard_name");
    axis->calendar = text_attribute(s, group, number, "calendar");
    axis->words    = labels_of(s, group, number);
    axis->middle   = middle_of(s, group, number, axis);
}

/* Reads the coordinates of each axis of a variable, where the file has them. */
static void coordinates(cmd_file *file, cmd_variable *v)
{
    for (int k = 0; k < v->shape.n; k++)
        read_coordinates(file->state, v, &v->axis[k]);
}

/* ---- Attributes and texts -------------------------------------------------------------------- */
/* Reads all attributes of a variable, or of the file if v is NULL. */
static cmd_said *say(cmd_file *file, const cmd_variable *v)
{
    const source *s = file->state;

    return v ? cmd_netcdf_said(s->nc, s->path, group_of(s, v), number_of(v))
             : cmd_netcdf_said(s->nc, s->path, s->id, NC_GLOBAL);
}

/* Reads the elements of a variable of text, as pointers. */
static const void *texts(const cmd_file *file, const cmd_variable *v)
{
    const source *s = file->state;

    return cmd_netcdf_texts(s->nc, s->path, group_of(s, v), number_of(v), &v->shape);
}

const cmd_format cmd_netcdf = { .name        = "NetCDF",
                                .suffixes    = ".nc .nc4 .cdf .netcdf .grd ",
                                .matches     = matches,
                                .open        = open_netcdf,
                                .load        = load,
                                .close       = close_netcdf,
                                .reopen      = reopen_netcdf,
                                .place       = place,
                                .decode      = decode,
                                .coordinates = coordinates,
                                .say         = say,
                                .texts       = texts,
                                .keeps       = true,
                                .write       = cmd_netcdf_write,
                                .begin       = cmd_netcdf_begin };
#else
/* True if a file begins as NetCDF does, in a build without NetCDF. An HDF5 file is left to that
 * format, if this build has it. */
static bool matches_here(const uint8_t *bytes, size_t n)
{
    return RDIM_HDF5 ? is_classic(bytes, n) : matches(bytes, n);
}

/* Ends the program, as this build has no NetCDF. */
static void open_netcdf(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without NetCDF (Debian: libnetcdf-dev, then build again)",
             file->path);
}

const cmd_format cmd_netcdf = { .name     = "NetCDF (not in this build)",
                                .suffixes = ".nc .nc4 .cdf .netcdf .grd ",
                                .matches  = matches_here,
                                .open     = open_netcdf };
#endif
