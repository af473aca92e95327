/* types.c - element types as files and people have them. */
#include "base.h"
#include <math.h>
#include <string.h>

static const struct row {
    rd_dtype    type;
    const char *name, *code;
    int64_t     size;
} rows[] = {
    { RD_BOOL, "bool", "b1", 1 }, { RD_I8, "i8", "i1", 1 },     { RD_I16, "i16", "i2", 2 },
    { RD_I32, "i32", "i4", 4 },   { RD_I64, "i64", "i8", 8 },   { RD_U8, "u8", "u1", 1 },
    { RD_U16, "u16", "u2", 2 },   { RD_U32, "u32", "u4", 4 },   { RD_U64, "u64", "u8", 8 },
    { RD_F16, "f16", "f2", 2 },   { RD_BF16, "bf16", "V2", 2 }, { RD_F32, "f32", "f4", 4 },
    { RD_F64, "f64", "f8", 8 },   { RD_C64, "c64", "c8", 8 },   { RD_C128, "c128", "c16", 16 },
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(rd_dtype type)
{
    for (int k = 0; k < ROWS; k++)
        if (rows[k].type == type)
            return &rows[k];
    return NULL;
}

int64_t cmd_size_of(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->size : 0;
}

const char *cmd_type_name(rd_dtype type)
{
    const struct row *row = row_of(type);

    return row ? row->name : "?";
}

rd_dtype cmd_type_of(const char *text, size_t n, bool *big)
{
    *big = n > 0 && *text == '>';
    if (n > 0 && strchr("<>=|", *text)) {
        text++;
        n--;
    }
    for (int k = 0; k < ROWS; k++)
        if (rows[k].type != RD_BF16 && strlen(rows[k].code) == n &&
            memcmp(rows[k].code, text, n) == 0)
            return rows[k].type;
    return RD_AUTO;
}

bool cmd_is_float(rd_dtype type)
{
    return type == RD_F16 || type == RD_BF16 || type == RD_F32 || type == RD_F64;
}

const char *cmd_shape_text(const rd_shape *shape)
{
    const char *text = "(";

    for (int k = 0; k < shape->n; k++)
        text = cmd_text("%s%s%lld", text, k ? ", " : "", (long long)shape->at[k]);
    return cmd_text("%s)", text);
}

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

static double half(uint16_t bits)
{
    const int    exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);

    return bits >> 15 ? -size : size;
}

static double upper_half(uint16_t bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float          value;

    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double cmd_element(const void *data, rd_dtype type, int64_t i)
{
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
    case RD_F16: return half(((const uint16_t *)data)[i]);
    case RD_BF16: return upper_half(((const uint16_t *)data)[i]);
    case RD_F32: return (double)((const float *)data)[i];
    case RD_F64: return ((const double *)data)[i];
    case RD_C64: return (double)((const float *)data)[2 * i];
    case RD_C128: return ((const double *)data)[2 * i];
    case RD_AUTO: break;
    }
    return NAN;
}

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
