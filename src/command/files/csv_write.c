/* csv_write.c - writes a result as a table of text: one line a row, "1,2.5\n3,4\n". */
#include "files/formats.h"
#include "result.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The separator of fields: the user's, a tab for ".tsv", or a comma. It is a semicolon if the comma
 * is the decimal point. */
static char separator_of(const char *path)
{
    if (cmd_text_style.separator)
        return cmd_text_style.separator;
    const size_t n = strlen(path);
    if (n > 4 && (strcmp(path + n - 4, ".tsv") == 0 || strcmp(path + n - 4, ":tsv") == 0))
        return '\t';
    return cmd_text_style.decimal == ',' ? ';' : ',';
}

/* Writes one field, with the user's decimal point. A float beyond 2^53 gets ".0" behind its digits,
 * as a reader would take digits alone for an exact integer. */
static void put_field(FILE *out, const cmd_result *r, int64_t i)
{
    char       text[CMD_MOST_TEXT];
    const bool is_large =
        cmd_is_float(r->array.type) && isfinite(cmd_value(r, i)) && fabs(cmd_value(r, i)) > 0x1p53;

    cmd_put_element(text, r->array.in, r->array.type, i);
    if (is_large && !text[strspn(text, "-0123456789")])
        memcpy(text + strlen(text), ".0", sizeof ".0");
    for (char *c = text; cmd_text_style.decimal == ',' && *c; c++)
        if (*c == '.')
            *c = ',';
    fputs(text, out);
}

/* Ends the program with the system's reason why the file cannot be written. */
static _Noreturn void refuse(const char *path)
{
    cmd_fail("%s: cannot write: %s", path, strerror(errno));
}

/* Writes the rows of a result of rank 2; of rank 1, one number a line; of rank 0, one number.
 * Higher ranks end the program. */
void cmd_write_csv(const char *path, const char *aside, const cmd_results *results)
{
    const cmd_result *r         = &results->at[0];
    const int         rank      = r->array.shape.n;
    const int64_t     rows      = rank ? r->array.shape.at[0] : 1;
    const int64_t     columns   = rank > 1 ? r->array.shape.at[1] : 1;
    const char        separator = separator_of(path);
    FILE             *out       = rank < 3 ? fopen(aside, "w") : NULL;

    if (rank > 2)
        cmd_fail("%s: a table has two axes, and %s has shape %s", path, r->name,
                 cmd_shape_text(&r->array.shape));
    if (!out)
        refuse(path);
    for (int64_t i = 0; i < rows; i++) {
        cmd_may_go_on();
        for (int64_t j = 0; j < columns; j++) {
            put_field(out, r, i * columns + j);
            putc(j + 1 < columns ? separator : '\n', out);
        }
        if (ferror(out)) /* the disk is full: stop before the other rows */
            refuse(path);
    }
    if (fclose(out) != 0)
        refuse(path);
}
