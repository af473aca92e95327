/* hdf5_said.c - reads all attributes of an HDF5 object, and the chunks and filters of a dataset. */
#if RDIM_HDF5
#include "files/hdf5_said.h"
#include "files/formats.h"
#include "files/hdf5_types.h"
#include <string.h>

/* Bytes of an attribute or of all texts; number of texts. */
enum { MOST_BYTES = 1 << 26, MOST_TEXTS = 1 << 24 };

/* ---- Texts ----------------------------------------------------------------------------------- */
/* Copies n texts of variable length, and frees those of the library. */
static const void *copy_variable_texts(const cmd_hdf5_api *h5, char *const *texts, size_t n)
{
    const char **all = cmd_room((n + 1) * sizeof *all);

    for (size_t k = 0; k < n; k++) {
        all[k] = texts[k] ? cmd_copy(texts[k], strlen(texts[k])) : "";
        if (texts[k])
            h5->H5free_memory(texts[k]);
    }
    return all;
}

/* The length of a text in `size` bytes: up to its first zero. If `blanks`, blanks at its end are
 * padding, and do not count. */
static size_t length_of(const char *text, size_t size, bool blanks)
{
    size_t n = 0;

    while (n < size && text[n])
        n++;
    while (blanks && n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

/* Copies n texts of `size` bytes each, one behind the other. If `blanks`, blanks at their ends are
 * padding. */
static const void *copy_fixed_texts(const char *texts, size_t n, size_t size, bool blanks)
{
    const char **all = cmd_room((n + 1) * sizeof *all);

    for (size_t k = 0; k < n; k++)
        all[k] = cmd_copy(texts + k * size, length_of(texts + k * size, size, blanks));
    return all;
}

/* ---- Attributes ------------------------------------------------------------------------------ */
/* The number of elements of a dataspace; 0: it has none. A number above MOST_BYTES is returned as
 * MOST_BYTES + 1, as the product could overflow. */
static int64_t points_of(const cmd_hdf5_api *h5, hid_t space)
{
    hsize_t   extent[H5S_MAX_RANK];
    const int rank = h5->H5Sget_simple_extent_ndims(space);
    int64_t   n    = 1;

    if (rank < 0 || h5->H5Sget_simple_extent_type(space) == H5S_NULL ||
        h5->H5Sget_simple_extent_dims(space, extent, NULL) < 0)
        return 0;
    for (int k = 0; k < rank; k++)
        n = extent[k] < MOST_BYTES && n < MOST_BYTES ? n * (int64_t)extent[k] : MOST_BYTES + 1;
    return n;
}

/* Arguments and result of read_attribute(). */
typedef struct reading {
    const cmd_hdf5_api *h5;
    const char         *path, *name;
    hid_t               object;
    cmd_attribute       read; /* the result; its name is NULL if it cannot be kept */
} reading;

/* Reads an attribute of numbers as the same type in memory. False: no such type, or a failure. */
static bool read_numbers(const reading *r, hid_t id, hid_t stored, cmd_attribute *a)
{
    a->type            = cmd_hdf5_type_of(r->h5, stored).type;
    const hid_t native = cmd_hdf5_native_type(r->h5, a->type);

    if (native < 0)
        return false;
    void *to = cmd_room((size_t)(a->n * cmd_size_of(a->type)) + 1);
    a->kind  = CMD_NUMBERS;
    a->at    = to;
    return a->n == 0 || r->h5->H5Aread(id, native, to) >= 0;
}

/* The number of characters without one zero at the end. If `blanks`, blanks at the end are padding,
 * and do not count. A zero inside counts. */
static size_t count_characters(const char *text, size_t size, bool blanks)
{
    while (blanks && size > 0 && text[size - 1] == ' ')
        size--;
    return size > 1 && memchr(text, 0, size) == text + size - 1 ? size - 1 : size;
}

/* Reads an attribute of text. One text of a fixed length is characters, as in NetCDF; several
 * texts, or texts of variable length (`any`), are pointers. False: there is too much text, or it
 * cannot be read. */
static bool read_texts(const reading *r, hid_t id, hid_t stored, cmd_attribute *a)
{
    const cmd_hdf5_api *h5     = r->h5;
    const bool          any    = h5->H5Tis_variable_str(stored) > 0;
    const size_t        size   = any ? sizeof(char *) : h5->H5Tget_size(stored);
    const bool          blanks = !any && h5->H5Tget_strpad(stored) == H5T_STR_SPACEPAD;

    if (size == 0 || (size_t)a->n > MOST_BYTES / size)
        return false;
    char *to = cmd_room((size_t)a->n * size + 1);
    if (a->n > 0 && h5->H5Aread(id, stored, to) < 0)
        return false;
    a->kind = CMD_TEXTS;
    if (any)
        a->at = copy_variable_texts(h5, (char *const *)(void *)to, (size_t)a->n);
    else if (a->n > 1)
        a->at = copy_fixed_texts(to, (size_t)a->n, size, blanks);
    else {
        a->kind = CMD_CHARACTERS;
        a->n    = a->n ? (int64_t)count_characters(to, size, blanks) : 0;
        a->at   = to;
    }
    return true;
}

/* Reads one attribute of any kind. The name stays NULL if it is of a kind that cannot be kept: no
 * text, integer, float or enum. Too long a one ends the program, within cmd_try(). */
static void read_attribute(void *of)
{
    reading            *r  = of;
    const cmd_hdf5_api *h5 = r->h5;
    const hid_t         id = h5->H5Aopen(r->object, r->name, H5P_DEFAULT);

    if (id < 0)
        cmd_fail("%s: it cannot be read (damaged?)", r->path);
    const hid_t stored = h5->H5Aget_type(id), space = h5->H5Aget_space(id);
    const H5T_class_t class = h5->H5Tget_class(stored);
    cmd_attribute a         = { .n = points_of(h5, space) };
    const bool    is_text   = class == H5T_STRING,
               is_number    = class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM;
    if (a.n > MOST_BYTES / 8)
        cmd_fail("%s: it is too long: %lld elements", r->path, (long long)a.n);
    if ((is_text && read_texts(r, id, stored, &a)) ||
        (is_number && read_numbers(r, id, stored, &a)))
        a.name = r->name;
    r->read = a;
    h5->H5Sclose(space);
    h5->H5Tclose(stored);
    h5->H5Aclose(id);
}

/* Arguments of read_next_attribute(). */
typedef struct all_attributes {
    const cmd_hdf5_api *h5;
    const char         *path;
    cmd_attributes     *all;
} all_attributes;

/* Reads one attribute, as a callback of H5Aiterate2(). An unreadable one is left out with a
 * warning, as the numbers do not need it; so are, silently, names that libraries reserve. */
static herr_t read_next_attribute(hid_t object, const char *name, const H5A_info_t *facts,
                                  void *user)
{
    const all_attributes *to  = user;
    reading               r   = { to->h5, to->path, cmd_copy(name, strlen(name)), object, { 0 } };
    const char *const     why = cmd_is_reserved(name) ? NULL : cmd_try(read_attribute, &r);

    (void)facts;
    if (why)
        cmd_warn("%s: an attribute %s is not kept: %s", to->path, name, cmd_reason(why, to->path));
    else if (r.read.name)
        cmd_add_attribute(to->all, &r.read);
    return 0;
}

/* ---- Datasets -------------------------------------------------------------------------------- */
/* Reads the shape of chunks, and the filters shuffle and deflate. An extent of 0, or beyond int32,
 * becomes 1. The first value of deflate is its level. */
static void read_layout(const cmd_hdf5_api *h5, hid_t set, cmd_layout *layout)
{
    const hid_t plan = h5->H5Dget_create_plist(set);
    hsize_t     extent[H5S_MAX_RANK];
    int         rank = 0;

    if (h5->H5Pget_layout(plan) == H5D_CHUNKED)
        rank = h5->H5Pget_chunk(plan, H5S_MAX_RANK, extent);
    for (int k = 0; k < rank && rank <= RD_MAX_RANK; k++)
        layout->extent[k] = extent[k] > 0 && extent[k] < INT32_MAX ? (int64_t)extent[k] : 1;
    for (int k = 0; rank > 0 && k < h5->H5Pget_nfilters(plan); k++) {
        unsigned           flags, values[8] = { 0 };
        size_t             n = 8;
        const H5Z_filter_t filter =
            h5->H5Pget_filter2(plan, (unsigned)k, &flags, &n, values, 0, NULL, NULL);

        layout->shuffled |= filter == H5Z_FILTER_SHUFFLE;
        if (filter == H5Z_FILTER_DEFLATE && n > 0)
            layout->level = (int)values[0];
    }
    h5->H5Pclose(plan);
}

/* The kind of elements. NetCDF's characters are strings of one letter; other strings are texts. */
static cmd_kind kind_of(const cmd_hdf5_api *h5, hid_t stored, rd_dtype type)
{
    if (h5->H5Tget_class(stored) == H5T_STRING)
        return h5->H5Tis_variable_str(stored) <= 0 && h5->H5Tget_size(stored) == 1 ? CMD_CHARACTERS
                                                                                   : CMD_TEXTS;
    return type == RD_BOOL || cmd_hdf5_native_type(h5, type) >= 0 ? CMD_NUMBERS : CMD_OTHERS;
}

/* Reads all attributes of an object in the order in which they were created, and, for a dataset,
 * kind, type and layout of its elements. Other kinds than numbers and text are CMD_OTHERS. */
cmd_said *cmd_hdf5_said(const cmd_hdf5_api *h5, const char *path, hid_t object, bool is_set)
{
    cmd_said      *said = cmd_room(sizeof *said);
    all_attributes to   = { h5, path, &said->attributes };
    hsize_t        next = 0;

    if (h5->H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &next, read_next_attribute, &to) <
        0)
        cmd_warn("%s: some attributes are not kept: they cannot be read (damaged?)", path);
    said->kind = CMD_OTHERS;
    if (!is_set)
        return said;
    const hid_t stored = h5->H5Dget_type(object);
    said->type         = cmd_hdf5_type_of(h5, stored).type;
    said->kind         = kind_of(h5, stored, said->type);
    h5->H5Tclose(stored);
    read_layout(h5, object, &said->layout);
    return said;
}

/* Reads all elements of a dataset of text, of variable length (`any`) or of `size` bytes each, as
 * pointers. Too many ones end the program. */
const void *cmd_hdf5_texts(const cmd_hdf5_api *h5, const char *path, hid_t set,
                           const cmd_variable *v)
{
    const hid_t   stored = h5->H5Dget_type(set), space = h5->H5Dget_space(set);
    const bool    any  = h5->H5Tis_variable_str(stored) > 0;
    const size_t  size = any ? sizeof(char *) : h5->H5Tget_size(stored);
    const int64_t n    = points_of(h5, space);

    if (n > MOST_TEXTS || (size_t)n > MOST_BYTES / (size + 1))
        cmd_fail("%s: %s is too many texts: %lld", path, v->name, (long long)n);
    char *to = cmd_room(((size_t)n + 1) * size);
    if (n > 0 && h5->H5Dread(set, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
        cmd_fail("%s: %s cannot be read (damaged?)", path, v->name);
    const bool blanks = !any && h5->H5Tget_strpad(stored) == H5T_STR_SPACEPAD;
    h5->H5Sclose(space);
    h5->H5Tclose(stored);
    return any ? copy_variable_texts(h5, (char *const *)(void *)to, (size_t)n)
               : copy_fixed_texts(to, (size_t)n, size, blanks);
}
#else
typedef int cmd_no_hdf5_said;
#endif
