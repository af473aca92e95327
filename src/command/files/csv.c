/* csv.c - tables of numbers: fields between commas, semicolons, tabs or spaces, a line of names if
 * the first one has such.  The file is the whole table, and each named column a row of its own. */
#include "files/formats.h"
#include "result.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FIELD = 128, MOST_COLUMNS = 1 << 16 };

typedef struct reader {
    const char *path, *at, *end;
    char        separator;
    int64_t     line, rows, columns, room;
    double     *values;
    char      **names; /* NULL: the first line has none */
} reader;

typedef struct field {
    const char *at;
    size_t      n;
    bool        last; /* of its line */
} field;

/* The one of the first line that is there: a comma in it is no decimal point. */
static char find_separator(const char *at, const char *end)
{
    static const char candidates[] = ",;\t";

    for (const char *c = candidates; *c; c++)
        for (const char *p = at; p < end && *p != '\n'; p++)
            if (*p == *c)
                return *c;
    return ' ';
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\r' || (*r->at == '\t' && r->separator != '\t')))
        r->at++;
}

static field next_field(reader *r)
{
    skip_blanks(r);
    const char quote = r->at < r->end && (*r->at == '"' || *r->at == '\'') ? *r->at : 0;
    field      f     = { r->at + (quote != 0), 0, false };

    for (r->at = f.at; r->at < r->end && *r->at != '\n'; r->at++)
        if (quote ? *r->at == quote : *r->at == r->separator)
            break;
    f.n = (size_t)(r->at - f.at);
    while (!quote && f.n > 0 && isspace((unsigned char)f.at[f.n - 1]))
        f.n--;
    r->at += quote && r->at < r->end && *r->at == quote;
    skip_blanks(r);
    f.last = r->at >= r->end || *r->at == '\n';
    r->at += r->at < r->end && (f.last || *r->at == r->separator);
    return f;
}

/* Empty, and names that other programs write for nothing, are NaN. */
static bool read_number(const field *f, double *value)
{
    static const char *const nothing[] = { "", "NA", "N/A", "null", "NULL", "None", "-", "--" };
    char                     text[MOST_FIELD], *end;

    if (f->n >= sizeof text)
        return false;
    memcpy(text, f->at, f->n);
    text[f->n] = '\0';
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++)
        if (strcmp(text, nothing[k]) == 0) {
            *value = NAN;
            return true;
        }
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static void add_value(reader *r, int64_t n, double value)
{
    if (n == r->room) {
        r->room        = r->room ? 2 * r->room : 1024;
        double *larger = realloc(r->values, (size_t)r->room * sizeof *larger);
        if (!larger)
            cmd_fail("%s: out of memory for its numbers", r->path);
        r->values = larger;
    }
    r->values[n] = value;
}

static bool skip_line(reader *r)
{
    const char *p = r->at;

    while (p < r->end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    if (p < r->end && *p != '\n' && *p != '#')
        return false;
    while (p < r->end && *p != '\n')
        p++;
    r->at = p + (p < r->end);
    r->line++;
    return true;
}

/* The first line: columns, and whether they have names. */
static void read_first(reader *r)
{
    const char *start   = r->at;
    char      **names   = cmd_room(MOST_COLUMNS * sizeof *names);
    bool        numbers = true;
    double      value;
    field       f;

    do {
        f = next_field(r);
        if (r->columns == MOST_COLUMNS)
            cmd_fail("%s: more than %d fields in a line", r->path, MOST_COLUMNS);
        numbers &= read_number(&f, &value);
        names[r->columns++] = cmd_copy(f.at, f.n < MOST_FIELD ? f.n : MOST_FIELD);
    } while (!f.last);
    if (numbers)
        r->at = start;
    else {
        r->names = names;
        r->line++;
    }
}

static void read_row(reader *r)
{
    int64_t n = 0;
    field   f;

    do {
        double value;

        f = next_field(r);
        if (!read_number(&f, &value))
            cmd_fail("%s: line %lld: %.*s is no number", r->path, (long long)r->line + 1,
                     (int)(f.n < 40 ? f.n : 40), f.at);
        if (n++ < r->columns)
            add_value(r, r->rows * r->columns + n - 1, value);
    } while (!f.last);
    if (n != r->columns)
        cmd_fail("%s: line %lld has %lld fields, the first one %lld", r->path,
                 (long long)r->line + 1, (long long)n, (long long)r->columns);
    r->rows++;
    r->line++;
    if (r->rows % 65536 == 0)
        cmd_may_go_on();
}

static void set_columns(cmd_file *file, const reader *r)
{
    cmd_variable *v = cmd_add_variables(file, 1 + (int)(r->names ? r->columns : 0));

    v->name   = cmd_stem(file->path);
    v->layout = "text";
    if (r->columns == 1)
        cmd_set_shape(v, RD_F64, &(rd_shape){ 1, 0, { r->rows } });
    else
        cmd_set_shape(v, RD_F64, &(rd_shape){ 2, 0, { r->rows, r->columns } });
    for (int64_t k = 0; r->names && k < r->columns; k++) {
        v[1 + k].name   = r->names[k];
        v[1 + k].layout = "text";
        v[1 + k].id     = k;
        v[1 + k].offset = r->columns;
        cmd_set_shape(&v[1 + k], RD_F64, &(rd_shape){ 1, 0, { r->rows } });
    }
    file->state = r->values;
}

static void open_csv(cmd_file *file)
{
    int64_t     size;
    const int   fd   = cmd_open_to_read(file->path, &size);
    const char *text = size ? cmd_map(fd, 0, size) : "";

    if (!text) {
        char *own = cmd_storage(size, file->path);
        cmd_read_at(fd, file->path, own, size, 0);
        text = own;
    }
    close(fd);
    reader r = { .path = file->path, .at = text, .end = text + size };
    while (r.at < r.end && skip_line(&r))
        ;
    if (r.at >= r.end)
        cmd_fail("%s: no numbers in it", file->path);
    r.separator = find_separator(r.at, r.end);
    read_first(&r);
    while (r.at < r.end)
        if (!skip_line(&r))
            read_row(&r);
    set_columns(file, &r);
}

static rd_expr *read_csv(cmd_file *file, cmd_variable *v)
{
    const double *values = file->state;
    rd_array      array  = { .in    = v->offset && values ? values + v->id : values,
                             .type  = RD_F64,
                             .shape = v->shape };

    if (v->offset)
        array.strides = (rd_strides){ 1, 0, { v->offset } };
    rd_expr *x = rd_leaf(file->ctx, &array);
    return x ? rd_label(x, v->name) : NULL;
}

/* Rows of a result of rank 2, or one number a line; coordinates in front, where they are known. */
static void write_csv(const char *path, const char *aside, const cmd_results *results)
{
    const cmd_result *r       = &results->at[0];
    const int         rank    = r->array.shape.n;
    const int64_t     rows    = rank ? r->array.shape.at[0] : 1;
    const int64_t     columns = rank > 1 ? r->array.shape.at[1] : 1;
    FILE             *out     = rank < 3 ? fopen(aside, "w") : NULL;

    if (rank > 2)
        cmd_fail("%s: a table has two axes, and %s has shape %s", path, r->name,
                 cmd_shape_text(&r->array.shape));
    if (!out)
        cmd_fail("%s: cannot write", path);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            fprintf(out, "%s%s", cmd_element_text(r->array.in, r->array.type, i * columns + j),
                    j + 1 < columns ? "," : "\n");
    if (ferror(out) | (fclose(out) != 0))
        cmd_fail("%s: cannot write", path);
}

const cmd_format cmd_csv = { .name     = "CSV",
                             .suffixes = ".csv .tsv .txt ",
                             .open     = open_csv,
                             .read     = read_csv,
                             .write    = write_csv,
                             .most     = 1 };
