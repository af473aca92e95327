/* texts.c - writes elements as the shortest text that reads back as the same bits. */
#include "base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the text of a float. Two such texts, a sign and an i fit into CMD_MOST_TEXT. */
enum { MOST_FLOAT = 32 };

/* Decimal digits of a float type. Numbers of `sure` digits differ, unless they are smaller than
 * 2^first; `enough` digits distinguish all elements. A decimal digit is log10(2) bits: p bits
 * hold floor((p - 1) log10(2)) digits, and ceil(1 + p log10(2)) digits hold p bits. */
static const struct digits {
    rd_dtype type;
    int      sure, enough, first;
    int bits, last; /* of the significand; the exponent of the last bit of the smallest element */
} rows[] = {
#define DIGITS(type, exponent, fraction)                                            \
    {                                                                               \
        type, (fraction) < 4 ? 1 : (fraction)*30103 / 100000,                       \
            2 + ((fraction) + 1) * 30103 / 100000, FIRST(exponent), (fraction) + 1, \
            FIRST(exponent) - (fraction)                                            \
    }
#define FIRST(exponent) (2 - (1 << ((exponent) > 0 ? (exponent)-1 : 0)))
#define RD_DTYPE(type, name, c, kind, class, long_, code, dlpack, exponent, fraction, ...) \
    DIGITS(RD_##type, exponent, fraction),
#include "core/dtypes.def"
};

/* Finds the row of a float type, or of the parts of a complex type, with its decimal digits. NULL:
 * it is no float. In the table such types have no fraction, so their significand counts as 1
 * bit. */
static const struct digits *digits_of(rd_dtype type)
{
    const rd_dtype part = type == RD_C64 ? RD_F32 : type == RD_C128 ? RD_F64 : type;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].type == part && rows[k].bits > 1)
            return &rows[k];
    return NULL;
}

/* Reads a text back and rounds it to the type as a cast rounds. Doubles (53 bits) need no rounding.
 * `last` is the exponent of the significand's last bit, which is greater than usual in subnormal
 * numbers. */
static double read_back(const char *text, const struct digits *d)
{
    const double value = strtod(text, NULL);

    if (d->bits == 53 || value == 0 || !isfinite(value))
        return value;
    const int exponent = ilogb(value) - d->bits + 1, last = exponent < d->last ? d->last : exponent;
    return ldexp(nearbyint(ldexp(value, -last)), last);
}

/* Counts the digits of a number such as "1.5000e+00" without zeros at their end; at least one. */
static int count_digits(const char *text)
{
    int n = 0, zeros = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9') {
            n++;
            zeros = *text == '0' ? zeros + 1 : 0;
        }
    return n > zeros ? n - zeros : 1;
}

/* Replaces the text of a whole number of n digits that ends with zeros by one with a power of ten,
 * 1e+05, if that is shorter. */
static void shorten(char text[MOST_FLOAT], double value, int n)
{
    char few[MOST_FLOAT];

    if (text[strspn(text, "-0123456789")])
        return;
    snprintf(few, sizeof few, "%.*e", n - 1, value);
    snprintf(few, sizeof few, "%.*g", count_digits(few), value);
    if (strlen(few) < strlen(text))
        memcpy(text, few, strlen(few) + 1);
}

/* Writes a float with the fewest digits that read back as the same bits, or as a whole number if
 * that is as short: 1230 and 1e+05, not 1.23e+03 and 100000. The search begins at `sure` digits,
 * which all numbers need; subnormal ones have fewer. */
static void put_float(char *text, double value, rd_dtype type)
{
    const struct digits *d = digits_of(type);
    char                 all[MOST_FLOAT];
    int                  n = fabs(value) < ldexp(1, d->first) ? 1 : d->sure;

    if (!isfinite(value)) {
        snprintf(text, MOST_FLOAT, "%s", value != value ? "NaN" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (; n <= d->enough; n++) {
        snprintf(text, MOST_FLOAT, "%.*g", n, value);
        if (n == d->enough || read_back(text, d) == value)
            break;
    }
    shorten(text, value, n);
    if (fabs(value) < 1e17 && value == nearbyint(value)) {
        snprintf(all, sizeof all, "%.0f", value);
        if (strlen(all) <= strlen(text))
            snprintf(text, MOST_FLOAT, "%s", all);
    }
}

/* Writes a complex number, "1.5-2i". */
static void put_complex(char *text, double value, double imaginary, rd_dtype type)
{
    put_float(text, value, type);
    char *at = text + strlen(text);
    if (!signbit(imaginary) || imaginary != imaginary)
        *at++ = '+';
    put_float(at, imaginary, type);
    at += strlen(at);
    *at++ = 'i';
    *at   = '\0';
}

/* Writes element i as text by its type: integers of 64 bits as such, all others by way of a double,
 * which holds them exactly. */
void cmd_put_element(char text[CMD_MOST_TEXT], const void *data, rd_dtype type, int64_t i)
{
    const double value = cmd_element(data, type, i);

    if (type == RD_C64)
        put_complex(text, value, (double)((const float *)data)[2 * i + 1], type);
    else if (type == RD_C128)
        put_complex(text, value, ((const double *)data)[2 * i + 1], type);
    else if (type == RD_I64)
        snprintf(text, CMD_MOST_TEXT, "%lld", (long long)((const int64_t *)data)[i]);
    else if (type == RD_U64)
        snprintf(text, CMD_MOST_TEXT, "%llu", (unsigned long long)((const uint64_t *)data)[i]);
    else if (cmd_is_float(type))
        put_float(text, value, type);
    else
        snprintf(text, CMD_MOST_TEXT, "%.0f", value);
}

/* Writes element i into new memory. */
const char *cmd_element_text(const void *data, rd_dtype type, int64_t i)
{
    char text[CMD_MOST_TEXT];

    cmd_put_element(text, data, type, i);
    return cmd_copy(text, strlen(text));
}
