/* hdf5_types.c - maps HDF5 types to element types.
 *
 * A type of HDF5 is a layout of bits, and two types of one size may differ. So the layout is
 * compared field by field. Where it differs from an element type that holds each value, the library
 * converts. A type that no element type holds is refused, with its layout in the sentence. */
#if RDIM_HDF5
#include "files/hdf5_types.h"
#include <string.h>

/* ---- Integers -------------------------------------------------------------------------------- */
/* True if the byte order is little-endian or big-endian, or if there is only one byte. */
static bool is_ordered(const cmd_hdf5_api *h5, hid_t stored)
{
    const H5T_order_t order = h5->H5Tget_order(stored);

    return order == H5T_ORDER_LE || order == H5T_ORDER_BE ||
           (order == H5T_ORDER_NONE && h5->H5Tget_size(stored) == 1);
}

/* True if the byte order is little-endian, as of this machine, or if there is only one byte. */
static bool is_little(const cmd_hdf5_api *h5, hid_t stored)
{
    return h5->H5Tget_size(stored) == 1 || h5->H5Tget_order(stored) == H5T_ORDER_LE;
}

/* Finds the narrowest integer type that holds all bits. It is used as it is (without conversion) if
 * it is little-endian and fills its bytes. */
static cmd_hdf5_type integer_of(const cmd_hdf5_api *h5, hid_t stored)
{
    static const rd_dtype types[][2] = {
        { RD_U8, RD_I8 }, { RD_U16, RD_I16 }, { RD_U32, RD_I32 }, { RD_U64, RD_I64 }
    };
    const size_t bits  = h5->H5Tget_precision(stored);
    const bool   sign  = h5->H5Tget_sign(stored) == H5T_SGN_2;
    const int    width = bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;

    if (bits < 1 || bits > 64 || !is_ordered(h5, stored))
        return (cmd_hdf5_type){ .why = cmd_text("its elements are integers of %zu bits", bits) };
    return (cmd_hdf5_type){ .type  = types[width][sign],
                            .as_is = is_little(h5, stored) && h5->H5Tget_offset(stored) == 0 &&
                                     h5->H5Tget_size(stored) * 8 == bits &&
                                     bits == (size_t)8 << width };
}

/* ---- Floats ---------------------------------------------------------------------------------- */
/* The layout of a float: its size in bytes and bits, where its fields begin, and their widths. */
typedef struct fields {
    size_t size, bits, sign, exponent_at, exponent, mantissa_at, mantissa, bias;
} fields;

/* The rows of core/dtypes.def. Integers have no exponent, and match no float; nor do floats without
 * infinities, which HDF5 does not tell from those that have them.
 * The bias of an exponent of e bits is 2^(e - 1) - 1. */
static const struct {
    rd_dtype type;
    fields   of;
} floats[] = {
#define RD_DTYPE(type, name, c, kind, class, long_, code, dlpack, exponent, fraction, infinity) \
    { RD_##type,                                                                                \
      { sizeof(c), 8 * sizeof(c), 8 * sizeof(c) - 1, fraction, (exponent) * (infinity), 0,      \
        fraction, (1U << ((exponent) ? (exponent)-1 : 0)) - 1 } },
#include "core/dtypes.def"
};
enum { FLOATS = sizeof floats / sizeof *floats };

/* Reads the layout of a float type from the library. */
static fields fields_of(const cmd_hdf5_api *h5, hid_t stored)
{
    fields f = { .size = h5->H5Tget_size(stored),
                 .bits = h5->H5Tget_precision(stored),
                 .bias = h5->H5Tget_ebias(stored) };

    h5->H5Tget_fields(stored, &f.sign, &f.exponent_at, &f.exponent, &f.mantissa_at, &f.mantissa);
    return f;
}

/* True if each finite number of layout `f` is one of layout `wide`. The mantissa must not be
 * longer, and the range of exponents must lie inside. An exponent of all ones is infinite or
 * NaN. */
static bool can_hold(const fields *wide, const fields *f)
{
    const int64_t most = (INT64_C(1) << f->exponent) - 2, bias = (int64_t)f->bias,
                  other_bias = (int64_t)wide->bias;

    return f->mantissa <= wide->mantissa && f->exponent <= wide->exponent &&
           1 - bias >= 1 - other_bias && most - bias <= other_bias;
}

/* Finds the float of the same layout, or else a wider one of at least 32 bits that holds each
 * value. Only layouts with an implied leading bit, as in IEEE 754, are compared. */
static cmd_hdf5_type float_of(const cmd_hdf5_api *h5, hid_t stored)
{
    const fields f            = fields_of(h5, stored);
    const bool   is_ieee_like = h5->H5Tget_norm(stored) == H5T_NORM_IMPLIED &&
                              is_ordered(h5, stored) && f.exponent > 0 && f.exponent < 32;

    for (int k = 0; is_ieee_like && k < FLOATS; k++)
        if (memcmp(&f, &floats[k].of, sizeof f) == 0 && h5->H5Tget_offset(stored) == 0)
            return (cmd_hdf5_type){ .type = floats[k].type, .as_is = is_little(h5, stored) };
    for (int k = 0; is_ieee_like && k < FLOATS; k++) /* no halves: they would round */
        if (floats[k].of.size > 2 && floats[k].of.exponent > 0 && can_hold(&floats[k].of, &f))
            return (cmd_hdf5_type){ .type = floats[k].type };
    return (cmd_hdf5_type){
        .why = cmd_text("its elements are floats of %zu bits, %zu of the exponent and %zu of the "
                        "mantissa, which f64 does not hold",
                        f.bits, f.exponent, f.mantissa)
    };
}

/* ---- Enums and complex numbers --------------------------------------------------------------- */
/* True if member k of an enum or a record has this name. */
static bool is_member(const cmd_hdf5_api *h5, hid_t stored, unsigned k, const char *name)
{
    char      *found = h5->H5Tget_member_name(stored, k);
    const bool same  = found && strcmp(found, name) == 0;

    if (found)
        h5->H5free_memory(found);
    return same;
}

/* True if the enum is h5py's bool: a byte, where FALSE is 0 and TRUE is 1. The members may stand in
 * either order. */
static bool is_bool(const cmd_hdf5_api *h5, hid_t stored)
{
    static const char *const names[] = { "FALSE", "TRUE" };

    if (h5->H5Tget_size(stored) != 1 || h5->H5Tget_nmembers(stored) != 2)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        uint8_t value = 2;

        if (h5->H5Tget_member_value(stored, k, &value) < 0 || value > 1 ||
            !is_member(h5, stored, k, names[value]))
            return false;
    }
    return true;
}

/* Takes an enum as a bool, or else as an integer of its base type. */
static cmd_hdf5_type enum_of(const cmd_hdf5_api *h5, hid_t stored)
{
    if (is_bool(h5, stored))
        return (cmd_hdf5_type){ .type = RD_BOOL, .as_is = true };
    const hid_t         base  = h5->H5Tget_super(stored);
    const cmd_hdf5_type found = integer_of(h5, base);
    h5->H5Tclose(base);
    return found;
}

/* Names of the members of complex numbers, as h5py and MATLAB write them. */
static const char *const parts[][2] = { { "r", "i" }, { "real", "imag" } };
enum { PAIRS = sizeof parts / sizeof *parts };

/* Finds the row of `parts` that has the names of both members; -1: there is none. *real is the
 * index of the real part. */
static int pair_of(const cmd_hdf5_api *h5, hid_t stored, unsigned *real)
{
    for (int k = 0; h5->H5Tget_nmembers(stored) == 2 && k < PAIRS; k++)
        for (*real = 0; *real < 2; ++*real)
            if (is_member(h5, stored, *real, parts[k][0]) &&
                is_member(h5, stored, !*real, parts[k][1]))
                return k;
    return -1;
}

/* The type of one member of a complex number; RD_AUTO: it is no float. */
static cmd_hdf5_type part_of(const cmd_hdf5_api *h5, hid_t stored, unsigned member)
{
    const hid_t         type = h5->H5Tget_member_type(stored, member);
    const cmd_hdf5_type part =
        h5->H5Tget_class(type) == H5T_FLOAT ? float_of(h5, type) : (cmd_hdf5_type){ 0 };

    h5->H5Tclose(type);
    return part;
}

/* Takes a record of two floats with the names of real and imaginary parts as a complex number. It
 * is used as it is if the real part comes first, and both parts fill their halves. */
static cmd_hdf5_type complex_of(const cmd_hdf5_api *h5, hid_t stored)
{
    unsigned real = 0;

    if (pair_of(h5, stored, &real) < 0)
        return (cmd_hdf5_type){ .why = "its elements are records of several fields" };
    const cmd_hdf5_type r = part_of(h5, stored, real), i = part_of(h5, stored, !real);
    if (r.type == RD_AUTO || i.type == RD_AUTO)
        return (cmd_hdf5_type){ .why =
                                    "its elements are pairs r and i of what c128 does not hold" };
    const rd_dtype type = r.type == RD_F64 || i.type == RD_F64 ? RD_C128 : RD_C64;
    const size_t   half = (size_t)cmd_size_of(type) / 2;
    const bool     as_is =
        r.as_is && i.as_is && (size_t)cmd_size_of(r.type) == half &&
        (size_t)cmd_size_of(i.type) == half && h5->H5Tget_member_offset(stored, real) == 0 &&
        h5->H5Tget_member_offset(stored, !real) == half && h5->H5Tget_size(stored) == 2 * half;
    return (cmd_hdf5_type){ .type = type, .as_is = as_is };
}

/* ---- Any type -------------------------------------------------------------------------------- */
/* The reason why elements of an HDF5 class cannot be read. */
static const char *refusal_of(H5T_class_t class)
{
    static const struct {
        H5T_class_t class;
        const char *why;
    } rows[] = { { H5T_TIME, "its elements are HDF5's times" },
                 { H5T_STRING, "its elements are texts" },
                 { H5T_BITFIELD, "its elements are fields of bits" },
                 { H5T_OPAQUE, "its elements are opaque bytes" },
                 { H5T_REFERENCE, "its elements are references" },
                 { H5T_VLEN, "its elements are lists" },
                 { H5T_ARRAY, "its elements are arrays" } };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].class == class)
            return rows[k].why;
    return "its elements are of a class that is not known here";
}

/* Finds the element type of an HDF5 type by its class. RD_AUTO: there is none, and `why` says the
 * reason. */
cmd_hdf5_type cmd_hdf5_type_of(const cmd_hdf5_api *h5, hid_t stored)
{
    const H5T_class_t class = h5->H5Tget_class(stored);

    switch (class) {
    case H5T_INTEGER: return integer_of(h5, stored);
    case H5T_FLOAT: return float_of(h5, stored);
    case H5T_ENUM: return enum_of(h5, stored);
    case H5T_COMPOUND: return complex_of(h5, stored);
    default: return (cmd_hdf5_type){ .why = refusal_of(class) };
    }
}

/* Finds the element type of a dataset. */
cmd_hdf5_type cmd_hdf5_type_of_set(const cmd_hdf5_api *h5, hid_t set)
{
    const hid_t         stored = h5->H5Dget_type(set);
    const cmd_hdf5_type found  = cmd_hdf5_type_of(h5, stored);

    h5->H5Tclose(stored);
    return found;
}

/* ---- Types in memory ------------------------------------------------------------------------- */
/* HDF5's type of this machine for a number; -1: HDF5 has none that fits, as for bools, halves and
 * complex numbers. */
hid_t cmd_hdf5_native_type(const cmd_hdf5_api *h5, rd_dtype type)
{
    switch (type) {
    case RD_I8: return h5->NATIVE_INT8;
    case RD_U8: return h5->NATIVE_UINT8;
    case RD_I16: return h5->NATIVE_INT16;
    case RD_U16: return h5->NATIVE_UINT16;
    case RD_I32: return h5->NATIVE_INT32;
    case RD_U32: return h5->NATIVE_UINT32;
    case RD_I64: return h5->NATIVE_INT64;
    case RD_U64: return h5->NATIVE_UINT64;
    case RD_F32: return h5->NATIVE_FLOAT;
    case RD_F64: return h5->NATIVE_DOUBLE;
    default: return -1;
    }
}

/* Makes a complex type in memory. The library matches members by their names. */
static hid_t complex_type(const cmd_hdf5_api *h5, hid_t stored, rd_dtype type)
{
    const size_t size = (size_t)cmd_size_of(type);
    const hid_t  made = h5->H5Tcreate(H5T_COMPOUND, size),
                part  = type == RD_C64 ? h5->NATIVE_FLOAT : h5->NATIVE_DOUBLE;
    unsigned  real    = 0;
    const int pair    = pair_of(h5, stored, &real);

    for (size_t k = 0; k < 2 && pair >= 0; k++)
        h5->H5Tinsert(made, parts[pair][k], k * size / 2, part);
    return made;
}

/* Makes the type to which the library converts stored elements. A type that is used as it is, or
 * that has no native one, stays as it is stored. Halves in the other byte order have no native
 * type, and are made little-endian. */
hid_t cmd_hdf5_memory_type(const cmd_hdf5_api *h5, hid_t stored)
{
    const cmd_hdf5_type found  = cmd_hdf5_type_of(h5, stored);
    const hid_t         native = cmd_hdf5_native_type(h5, found.type);

    if (found.type == RD_C64 || found.type == RD_C128)
        return complex_type(h5, stored, found.type);
    const hid_t copy = h5->H5Tcopy(found.as_is || native < 0 ? stored : native);
    if (found.type != RD_AUTO && !found.as_is && native < 0) /* halves in the other byte order */
        h5->H5Tset_order(copy, H5T_ORDER_LE);
    return copy;
}
#else
typedef int cmd_no_hdf5_types;
#endif
