/* types.c - element types: names, codes of files, sizes, and access to elements. */
#include "base.h"
#include <math.h>
#include <string.h>

/* Facts of each element type: the rows of core/dtypes.def, and complex types. */
static const struct row {
    rd_dtype    type;
    const char *name, *code;
    int64_t     size;               /* bytes */
    int         exponent, fraction; /* bits of the fields of a float; 0 for other types */
    int         infinity;           /* 1: a float has one */
} rows[] = {
#define RD_DTYPE(type, name, c, kind, class, long_, code, dlpack, ...) \
    { RD_##type, #name, code, sizeof(c), __VA_ARGS__ },
#include "core/dtypes.def"
    { RD_C64, "c64", "c8", 8, 0, 0, 0 },
    { RD_C128, "c128", "c16", 16, 0, 0, 0 },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Finds the table row of a type: name, code, size and so on. NULL: it is no element type. */
static const struct row *row_of(rd_dtype type)
{
    for (int k = 0; k < ROWS; k++)
        if (rows[k].type == type)
            return &rows[k];
    return NULL;
}

/* Bytes of an element; 0: no element type. */
int64_t cmd_size_of(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->size : 0;
}

/* The name of a type, "f32"; "?" for no element type. */
const char *cmd_type_name(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->name : "?";
}

/* Bits of a float's exponent; 0: no float. */
int cmd_exponent_bits(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->exponent : 0;
}

/* Bits of a float's fraction; 0: no float. */
int cmd_fraction_bits(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->fraction : 0;
}

/* Finds the type of a NumPy code of n characters, "<f4"; *big: the bytes are big-endian. RD_AUTO:
 * there is none. A type that NumPy lacks has a code with V (untyped bytes) in the table, which
 * names no type. */
rd_dtype cmd_type_of(const char *text, size_t n, bool *big)
{
    *big = n > 0 && *text == '>';
    if (n > 0 && strchr("<>=|", *text)) {
        text++;
        n--;
    }
    for (int k = 0; k < ROWS; k++)
        if (rows[k].code[0] != 'V' && strlen(rows[k].code) == n &&
            memcmp(rows[k].code, text, n) == 0)
            return rows[k].type;
    return RD_AUTO;
}

/* True if the type is a real float. */
bool cmd_is_float(rd_dtype type)
{
    return cmd_fraction_bits(type) > 0;
}

/* True if NumPy has the type. The code of others, as of bf16, begins with V: untyped bytes. */
bool cmd_numpy_has(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row && row->code[0] != 'V';
}

/* Writes a shape as "(12, 90, 180)". */
const char *cmd_shape_text(const rd_shape *shape)
{
    const char *text = "(";

    for (int k = 0; k < shape->n; k++)
        text = cmd_text("%s%s%lld", text, k ? ", " : "", (long long)shape->at[k]);
    return cmd_text("%s)", text);
}

/* Multiplies the extents of a shape; a product beyond 2^58 ends the program. Extents of 0 make it
 * 0, but the others must be sensible nevertheless. */
int64_t cmd_points(const rd_shape *shape, rd_dtype type, const char *what)
{
    int64_t points = 1;
    bool    empty  = false;

    for (int k = 0; k < shape->n; k++) {
        const int64_t n = shape->at[k];

        if (n < 0 || (n > 0 && points > (INT64_C(1) << 58) / n))
            cmd_fail("%s: the shape %s makes no sense", what, cmd_shape_text(shape));
        empty |= n == 0;
        points *= n ? n : 1;
    }
    (void)type;
    return empty ? 0 : points;
}

/* Converts a float of at most 16 bits to double, exactly. An exponent of all ones means infinity or
 * NaN; in types without infinities only a value of all ones is NaN. An exponent of 0 means a
 * subnormal number, without a leading bit. */
static double value_of_half(uint16_t bits, const struct row *row)
{
    const int n = row->fraction, ones = (1 << row->exponent) - 1, exponent = bits >> n & ones,
              fraction   = bits & ((1 << n) - 1),
              last       = 1 - ones / 2 - n; /* exponent of the last bit of the smallest element */
    const bool   special = exponent == ones && (row->infinity || fraction == (1 << n) - 1);
    const double size    = special    ? (fraction ? NAN : INFINITY)
                           : exponent ? ldexp((1 << n) + fraction, exponent - 1 + last)
                                      : ldexp(fraction, last);

    return bits >> (row->exponent + n) ? -size : size;
}

/* Converts element i to double; a complex number to its real part. */
double cmd_element(const void *data, rd_dtype type, int64_t i)
{
    if (cmd_is_float(type) && cmd_size_of(type) <= 2)
        return value_of_half(cmd_size_of(type) == 1 ? ((const uint8_t *)data)[i]
                                                    : ((const uint16_t *)data)[i],
                             row_of(type));
    switch (type) {
    case RD_BOOL:
    case RD_U8: return ((const uint8_t *)data)[i];
    case RD_I8: return ((const int8_t *)data)[i];
    case RD_I16: return ((const int16_t *)data)[i];
    case RD_I32: return ((const int32_t *)data)[i];
    case RD_I64: return (double)((const int64_t *)data)[i];
    case RD_U16: return ((const uint16_t *)data)[i];
    case RD_U32: return ((const uint32_t *)data)[i];
    case RD_U64: return (double)((const uint64_t *)data)[i];
    case RD_F32: return (double)((const float *)data)[i];
    case RD_F64: return ((const double *)data)[i];
    case RD_C64: return (double)((const float *)data)[2 * i];
    case RD_C128: return ((const double *)data)[2 * i];
    default: break;
    }
    return NAN;
}

/* Reverses the bytes of n elements of `size` bytes: 2, 4 or 8. Elements of any other size stay. */
void cmd_swap(void *data, int64_t n, int64_t size)
{
    if (size == 2) {
        uint16_t *at = data;
        for (int64_t i = 0; i < n; i++)
            at[i] = __builtin_bswap16(at[i]);
    } else if (size == 4) {
        uint32_t *at = data;
        for (int64_t i = 0; i < n; i++)
            at[i] = __builtin_bswap32(at[i]);
    } else if (size == 8) {
        uint64_t *at = data;
        for (int64_t i = 0; i < n; i++)
            at[i] = __builtin_bswap64(at[i]);
    }
}
