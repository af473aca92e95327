/* cells.c - what one field of a table says. */
#include "files/cells.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A double may need 767 digits; what is longer than this is no number. */
enum { MOST_FIELD = 1200 };

static bool is_missing(const char *text)
{
    const char               first     = text[*text == '-'];
    static const char *const nothing[] = { "", "NA", "N/A", "null", "NULL", "None", "-", "--" };

    if (first >= '0' && first <= '9') /* most numbers */
        return false;
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++)
        if (strcmp(text, nothing[k]) == 0)
            return true;
    return false;
}

/* Digits alone.  -0 is left to doubles, which can hold it. */
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

/* The text, with a point before its fraction. */
static bool copy(const cmd_field *f, char decimal, char text[MOST_FIELD])
{
    if (f->n >= MOST_FIELD || (decimal != '.' && memchr(f->at, '.', f->n)))
        return false;
    memcpy(text, f->at, f->n);
    text[f->n] = '\0';
    for (char *p = text; decimal != '.' && (p = strchr(p, decimal));)
        *p = '.';
    return true;
}

/* "1.5-2i" and "(1.5-2j)": the parts as C writes them, the second with its sign. */
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

cmd_cell cmd_read_cell(const cmd_field *f, char decimal)
{
    cmd_cell cell = { .value = NAN };
    char     text[MOST_FIELD], *end;

    if (read_whole(f, &cell))
        return cell;
    cell = (cmd_cell){ .value = NAN };
    if (!copy(f, decimal, text))
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
