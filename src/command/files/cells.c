/* cells.c - parses one field of a text table: "3" is a whole number, "0.5" a real, "1-2i" complex,
 * "NA" missing, and anything else text. A cell is one parsed field of a table. */
#include "files/cells.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The exact value of a double has at most 767 digits; a field longer than this limit is text. */
enum { MOST_FIELD = 1200 };

/* True if the text is empty or one of the marks that programs write for a missing value. */
static bool is_missing(const char *text)
{
    const char               first     = text[*text == '-'];
    static const char *const nothing[] = { "", "NA", "N/A", "null", "NULL", "None", "-", "--" };

    if (first >= '0' && first <= '9') /* most fields */
        return false;
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++)
        if (strcmp(text, nothing[k]) == 0)
            return true;
    return false;
}

/* Reads a field of digits alone, with an optional sign, as an exact integer. False: it has other
 * characters, or its magnitude exceeds 64 bits. "-0" is left to doubles, which have a negative
 * zero. */
static bool read_whole(const cmd_field *f, cmd_cell *cell)
{
    enum { MOST_DIGITS = 20 };
    const size_t sign = f->n > 0 && (*f->at == '-' || *f->at == '+'), digits = f->n - sign;
    uint64_t     size = 0;

    if (digits < 1 || digits > MOST_DIGITS)
        return false;
    for (const char *p = f->at + sign; p < f->at + f->n; p++) {
        const unsigned digit = (unsigned char)*p - (unsigned)'0';
        if (digit > 9 || size > UINT64_MAX / 10 || (size *= 10) > UINT64_MAX - digit)
            return false;
        size += digit;
    }
    cell->negative = sign && *f->at == '-';
    cell->size     = size;
    cell->value    = cell->negative ? -(double)size : (double)size;
    cell->kind     = CMD_CELL_WHOLE;
    return size > 0 || !cell->negative;
}

/* Reads digits with a decimal point. Digits and power of ten are both exact doubles, so that their
 * quotient is rounded once, as by strtod(), in a fifth of the time. False: the field has another
 * form, or too many digits for that, or the machine computes doubles with other precision
 * (FLT_EVAL_METHOD). */
static bool read_decimal(const cmd_field *f, char decimal, cmd_cell *cell)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    enum { POWERS = sizeof powers / sizeof *powers, MOST_DIGITS = 19 };
    const size_t sign = f->n > 0 && (*f->at == '-' || *f->at == '+');
    uint64_t     size = 0;
    size_t       n = 0, fraction = 0;
    bool         point = false;

    for (const char *p = f->at + sign; p < f->at + f->n; p++) {
        const unsigned digit = (unsigned char)*p - (unsigned)'0';

        if (digit <= 9 && n < MOST_DIGITS) {
            size = size * 10 + digit;
            fraction += point;
            n++;
        } else if (*p == decimal && !point)
            point = true;
        else
            return false;
    }
    if (FLT_EVAL_METHOD != 0 || n == 0 || size > UINT64_C(1) << 53 || fraction >= POWERS)
        return false;
    const double value = (double)size / powers[fraction];
    *cell = (cmd_cell){ .kind = CMD_CELL_REAL, .value = sign && *f->at == '-' ? -value : value };
    return true;
}

/* Copies the field with '.' as its decimal point. False: the field is too long for a number, or has
 * a '.' although the decimal point is ','. */
static bool copy_with_point(const cmd_field *f, char decimal, char text[MOST_FIELD])
{
    if (f->n >= MOST_FIELD || (decimal != '.' && memchr(f->at, '.', f->n)))
        return false;
    memcpy(text, f->at, f->n);
    text[f->n] = '\0';
    for (char *p = text; decimal != '.' && (p = strchr(p, decimal));)
        *p = '.';
    return true;
}

/* Parses "1.5-2i" and "(1.5-2j)": two numbers, the second one with its sign. False: the text has
 * another form. `last` is the position of the i or j. */
static bool read_complex(char *text, cmd_cell *cell)
{
    const size_t n     = strlen(text);
    const bool   round = n > 2 && *text == '(' && text[n - 1] == ')';
    char        *at = text + round, *end, *last = text + n - 1 - (round ? 1 : 0);

    if (n < 2 || last <= at || !strchr("ij", *last))
        return false;
    cell->kind  = CMD_CELL_COMPLEX;
    cell->value = strtod(at, &end);
    if (end == at || (*end != '+' && *end != '-'))
        return false;
    at          = end;
    cell->other = strtod(at, &end);
    return end == last;
}

/* Parses a field. The exact parsers come first, as most fields are short decimals, then marks of
 * missing values, strtod() and complex numbers. A NaN counts as missing; a field that nothing fits
 * is text. */
cmd_cell cmd_read_cell(const cmd_field *f, char decimal)
{
    cmd_cell cell = { .value = NAN };
    char     text[MOST_FIELD], *end;

    if (read_whole(f, &cell) || read_decimal(f, decimal, &cell))
        return cell;
    cell = (cmd_cell){ .value = NAN };
    if (!copy_with_point(f, decimal, text))
        return cell;
    if (is_missing(text)) {
        cell.kind = CMD_CELL_MISSING;
        return cell;
    }
    cell.value = strtod(text, &end);
    if (end != text && !*end)
        cell.kind = cell.value == cell.value ? CMD_CELL_REAL : CMD_CELL_MISSING;
    else if (!read_complex(text, &cell))
        cell = (cmd_cell){ .value = NAN };
    return cell;
}
