/* table.c - prints results for people: small ones as tables with their coordinates, a summary of
 * large ones.
 *
 *       lat  mean (K)
 *       -90       271
 *         0       299
 *
 * A cell is one text of the table. */
#include "dates.h"
#include "output.h"
#include "times.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The largest table, and digits of a float in it. */
enum { MOST_ROWS = 60, MOST_COLUMNS = 12, DIGITS = 6 };

/* Writes a number with so many digits; NaN without its sign, which means nothing. */
static const char *number_text(double value, int digits)
{
    return value != value ? "NaN" : cmd_text("%.*g", digits, value);
}

/* Writes element i of a result for people: a date, a bool as a word, a complex number, or a number.
 * Integers have all digits, and floats six. */
static const char *value_text(const cmd_result *r, int64_t i)
{
    const double value      = cmd_value(r, i);
    const bool   is_complex = r->array.type == RD_C64 || r->array.type == RD_C128;
    const char  *date       = is_complex ? NULL : cmd_date_text(value, r->units, r->calendar);
    const double imaginary  = r->array.type == RD_C64
                                  ? (double)((const float *)r->array.in)[2 * i + 1]
                              : r->array.type == RD_C128 ? ((const double *)r->array.in)[2 * i + 1]
                                                         : 0;

    if (date)
        return date;
    if (r->array.type == RD_BOOL)
        return value != 0 ? "true" : "false";
    if (is_complex)
        return cmd_text("%s%s%si", number_text(value, DIGITS),
                        signbit(imaginary) && imaginary == imaginary ? "" : "+",
                        number_text(imaginary, DIGITS));
    if (!cmd_is_float(r->array.type))
        return cmd_element_text(r->array.in, r->array.type, i);
    return number_text(value, DIGITS);
}

/* Writes coordinate i of an axis: an index, a date, a word or a number. */
static const char *coordinate_text(const cmd_axis *axis, int64_t i)
{
    const char *date;

    if (!axis->at)
        return cmd_text("%lld", (long long)i);
    date = axis->words ? cmd_word_of_value(axis, axis->at[i])
                       : cmd_date_text(axis->at[i], axis->units, axis->calendar);
    return date ? date : number_text(axis->at[i], DIGITS + 1);
}

/* The title of axis k: its name, with units unless coordinates are shown as dates. */
static const char *axis_title(const cmd_result *r, int k)
{
    const cmd_axis *axis = &r->axis[k];
    const bool      date =
        axis->at && axis->n > 0 && cmd_date_text(axis->at[0], axis->units, axis->calendar) != NULL;

    return axis->units && !date ? cmd_text("%s (%s)", cmd_axis_name(r, k), axis->units)
                                : cmd_axis_name(r, k);
}

/* The title of a result: its name, with units unless values are shown as dates (0 in these units is
 * one). */
static const char *result_title(const cmd_result *r)
{
    return r->units && !cmd_date_text(0, r->units, r->calendar)
               ? cmd_text("%s (%s)", r->name, r->units)
               : r->name;
}

/* A table of texts by rows. Each column is as wide as its longest cell, and cells are
 * right-aligned. */
typedef struct table {
    int          rows, columns;
    const char **cell;
} table;

/* Prints the table. Columns are two blanks apart. */
static void print_table(const table *t)
{
    int *width = cmd_room((size_t)t->columns * sizeof *width);

    for (int i = 0; i < t->rows * t->columns; i++) {
        const int n = (int)strlen(t->cell[i]);
        if (n > width[i % t->columns])
            width[i % t->columns] = n;
    }
    for (int i = 0; i < t->rows * t->columns; i++) {
        const int  k    = i % t->columns;
        const bool last = k + 1 == t->columns;
        printf("%s%*s%s", k ? "  " : "", width[k], t->cell[i], last ? "\n" : "");
    }
}

/* Makes a table of rows x columns of texts, all empty so far. */
static table make_table(int rows, int columns)
{
    return (table){ rows, columns, cmd_room((size_t)rows * (size_t)columns * sizeof(char *)) };
}

/* True if both results of one axis have the same title, length and coordinates of it, so that they
 * can share a table. */
static bool has_same_axis(const cmd_result *a, const cmd_result *b)
{
    const cmd_axis *x = &a->axis[0], *y = &b->axis[0];

    return x->n == y->n && !x->at == !y->at && strcmp(axis_title(a, 0), axis_title(b, 0)) == 0 &&
           (!x->at || memcmp(x->at, y->at, (size_t)x->n * sizeof *x->at) == 0);
}

/* Prints the first of n results, which has one axis, as a column beside its coordinates. Results
 * that follow with the same axis become further columns. Returns how many there are. */
static int print_rows(const cmd_result *r, int n)
{
    int columns = 1;

    while (columns < n && columns < MOST_COLUMNS && r[columns].array.shape.n == 1 &&
           has_same_axis(r, &r[columns]))
        columns++;
    const int rows = (int)r->axis[0].n;
    table     t    = make_table(rows + 1, columns + 1);
    t.cell[0]      = axis_title(r, 0);
    for (int k = 0; k < columns; k++)
        t.cell[k + 1] = result_title(&r[k]);
    for (int i = 0; i < rows; i++) {
        const char **row = t.cell + (size_t)(i + 1) * (size_t)t.columns;
        row[0]           = coordinate_text(&r->axis[0], i);
        for (int k = 0; k < columns; k++)
            row[k + 1] = value_text(&r[k], i);
    }
    print_table(&t);
    return columns;
}

/* Prints a result of two axes as a table, with the coordinates of one axis at the left and of the
 * other one above. */
static void print_matrix(const cmd_result *r)
{
    const int rows = (int)r->axis[0].n, columns = (int)r->axis[1].n;
    table     t = make_table(rows + 1, columns + 1);

    printf("%s: %s down, %s across\n", result_title(r), axis_title(r, 0), axis_title(r, 1));
    t.cell[0] = "";
    for (int j = 0; j < columns; j++)
        t.cell[j + 1] = coordinate_text(&r->axis[1], j);
    for (int i = 0; i < rows; i++) {
        const char **row = t.cell + (size_t)(i + 1) * (size_t)t.columns;
        row[0]           = coordinate_text(&r->axis[0], i);
        for (int j = 0; j < columns; j++)
            row[j + 1] = value_text(r, (int64_t)i * columns + j);
    }
    print_table(&t);
}

/* Prints the axes of a large result: "  lat  180, from -89.5 to 89.5 degrees_north". */
static void print_axes(const cmd_result *r)
{
    for (int k = 0; k < r->array.shape.n; k++) {
        const cmd_axis *axis = &r->axis[k];

        printf("  %-12s %lld", cmd_axis_name(r, k), (long long)axis->n);
        if (axis->at && axis->n > 0)
            printf(", from %s to %s%s%s", coordinate_text(axis, 0),
                   coordinate_text(axis, axis->n - 1), axis->units ? " " : "",
                   axis->units ? axis->units : "");
        putchar('\n');
    }
}

/* Writes the minimum, mean or maximum of a result: a date, a float, or a whole number with all its
 * digits. `of` points to a value of that type. */
static const char *extreme_text(const cmd_result *r, const void *of, rd_dtype type)
{
    const double value = cmd_element(of, type, 0);
    const char  *date  = cmd_date_text(value, r->units, r->calendar);

    return date                 ? date
           : cmd_is_float(type) ? number_text(value, DIGITS)
                                : cmd_element_text(of, type, 0);
}

/* Prints the shape, axes, minimum, mean, maximum and number of missing elements of a large result.
 * Complex numbers have no order, so only their shape and axes are printed. */
static void summarise(rd_ctx *ctx, const cmd_result *r)
{
    max_align_t    low = { 0 }, high = { 0 };
    double         mean    = 0;
    int64_t        missing = 0;
    const int64_t  n       = cmd_count(r);
    const rd_dtype type    = r->array.type;

    printf("%s: %s %s%s%s\n", r->name, cmd_type_name(type), cmd_shape_text(&r->array.shape),
           r->units ? ", " : "", r->units ? r->units : "");
    print_axes(r);
    if (type == RD_C64 || type == RD_C128 || n == 0)
        return;
    rd_expr  *x      = rd_leaf(ctx, &r->array);
    rd_status status = rd_eval_many(
        ctx,
        RD_RESULTS(
            { rd_min(x, RD_ALL, .skip_nan = true), &(rd_array){ .data = &low, .type = type } },
            { rd_max(x, RD_ALL, .skip_nan = true), &(rd_array){ .data = &high, .type = type } },
            { rd_mean(rd_cast(x, RD_F64), RD_ALL, .skip_nan = true), RD_INTO(&mean, RD_SCALAR) },
            { rd_count(rd_isnan(x), RD_ALL), RD_INTO(&missing, RD_SCALAR) }),
        NULL);
    if (status != RD_OK)
        cmd_fail_of(ctx);
    printf("  min %s, mean %s, max %s", extreme_text(r, &low, type), extreme_text(r, &mean, RD_F64),
           extreme_text(r, &high, type));
    if (missing)
        printf("; %lld of %lld missing", (long long)missing, (long long)n);
    putchar('\n');
}

/* Prints a scalar result: one number and nothing else, which scripts can read, or "name = number"
 * if the formula has a name for it. */
static void print_number(const cmd_result *r)
{
    const bool  shown = r->array.type == RD_BOOL || cmd_date_text(0, r->units, r->calendar);
    const char *text  = shown ? value_text(r, 0) : cmd_element_text(r->array.in, r->array.type, 0);

    if (r->named)
        printf("%s = ", r->name);
    printf("%s\n", text);
}

/* Prints all results: a number, a table, or, if the table would be too large, a summary. Results of
 * one axis may share a table. */
void cmd_print(rd_ctx *ctx, const cmd_results *results)
{
    for (int k = 0, n; k < results->n; k += n) {
        const cmd_result *r     = &results->at[k];
        const rd_shape   *shape = &r->array.shape;

        n = 1;
        if (shape->n == 0)
            print_number(r);
        else if (shape->n == 1 && shape->at[0] > 0 && shape->at[0] <= MOST_ROWS)
            n = print_rows(r, results->n - k);
        else if (shape->n == 2 && shape->at[0] > 0 && shape->at[0] <= MOST_ROWS &&
                 shape->at[1] > 0 && shape->at[1] <= MOST_COLUMNS)
            print_matrix(r);
        else
            summarise(ctx, r);
    }
}
