/* hdf5_put.c - writes attributes of an HDF5 file as NetCDF's library does: numbers as one row,
 * texts as scalars of fixed length. */
#if RDIM_HDF5
#include "files/hdf5_put.h"
#include "files/hdf5_types.h"
#include <string.h>

/* ---- Types ----------------------------------------------------------------------------------- */
/* Makes an enum of a byte, FALSE and TRUE, as h5py writes bools. */
static hid_t bool_type(const cmd_hdf5_api *h5)
{
    const hid_t  type = h5->H5Tenum_create(h5->NATIVE_INT8);
    const int8_t no = 0, yes = 1;

    h5->H5Tenum_insert(type, "FALSE", &no);
    h5->H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

/* True if no character has its highest bit set. */
static bool is_ascii(const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (text[k] & 0x80)
            return false;
    return true;
}

/* Makes a string type of n characters, padded with zeros. If n is H5T_VARIABLE, the strings have
 * variable length. */
static hid_t text_type(const cmd_hdf5_api *h5, size_t n, bool ascii)
{
    const hid_t type = h5->H5Tcopy(h5->C_S1);

    h5->H5Tset_size(type, n);
    h5->H5Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    if (n != H5T_VARIABLE)
        h5->H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

/* Makes the HDF5 type of elements, which the caller closes; < 0: HDF5 has none, as for complex
 * numbers. A character is a string of length 1. */
hid_t cmd_hdf5_made_type(const cmd_hdf5_api *h5, cmd_kind kind, rd_dtype type)
{
    if (kind == CMD_TEXTS)
        return text_type(h5, H5T_VARIABLE, /*ascii=*/false);
    if (kind == CMD_CHARACTERS)
        return text_type(h5, 1, /*ascii=*/true);
    if (type == RD_BOOL)
        return bool_type(h5);
    const hid_t native = cmd_hdf5_native_type(h5, type);
    return native < 0 ? native : h5->H5Tcopy(native);
}

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Writes an attribute of that type and space, and closes both; < 0: it could not be written. `from`
 * is NULL for an attribute without elements. */
herr_t cmd_hdf5_put(const cmd_hdf5_api *h5, hid_t object, const char *name, hid_t type, hid_t space,
                    const void *from)
{
    const hid_t id     = h5->H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t      status = id < 0 ? -1 : 0;

    if (id >= 0 && from)
        status = h5->H5Awrite(id, type, from);
    if (id >= 0)
        h5->H5Aclose(id);
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    return status;
}

/* Writes a text of n characters. HDF5 has no empty strings, so that an empty one is a null
 * dataspace. */
static herr_t put_characters(const cmd_hdf5_api *h5, hid_t object, const char *name, const char *at,
                             size_t n)
{
    return cmd_hdf5_put(h5, object, name, text_type(h5, n ? n : 1, is_ascii(at, n)),
                        h5->H5Screate(n ? H5S_SCALAR : H5S_NULL), n ? at : NULL);
}

/* Writes a text with a zero at its end. HDF5 does not recognise the marks of a scale without it. */
herr_t cmd_hdf5_put_text(const cmd_hdf5_api *h5, hid_t object, const char *name, const char *text)
{
    const hid_t type = text_type(h5, strlen(text) + 1, is_ascii(text, strlen(text)));

    h5->H5Tset_strpad(type, H5T_STR_NULLTERM);
    return cmd_hdf5_put(h5, object, name, type, h5->H5Screate(H5S_SCALAR), text);
}

/* Writes an attribute: characters as a scalar string, one text as a scalar, others as a row.
 * Without elements (n is 0) the dataspace is null. < 0: the library refuses. */
static herr_t put_attribute(const cmd_hdf5_api *h5, hid_t object, const cmd_attribute *a)
{
    const hsize_t n = (hsize_t)a->n;

    if (a->kind == CMD_CHARACTERS)
        return put_characters(h5, object, a->name, a->at, (size_t)n);
    const hid_t type = cmd_hdf5_made_type(h5, a->kind, a->type);
    if (type < 0)
        return -1;
    const bool scalar = a->kind == CMD_TEXTS && n == 1;
    return cmd_hdf5_put(h5, object, a->name, type,
                        n == 0 || scalar ? h5->H5Screate(n ? H5S_SCALAR : H5S_NULL)
                                         : h5->H5Screate_simple(1, &n, NULL),
                        n ? a->at : NULL);
}

/* Writes each attribute, and warns of those that HDF5 refuses. */
void cmd_hdf5_put_attributes(const cmd_hdf5_api *h5, const char *path, hid_t object,
                             const cmd_attributes *all)
{
    for (int k = 0; k < all->n; k++)
        if (put_attribute(h5, object, &all->at[k]) < 0)
            cmd_warn("%s: the attribute %s is not kept: HDF5 does not take it", path,
                     all->at[k].name);
}
#else
typedef int cmd_no_hdf5_put;
#endif
