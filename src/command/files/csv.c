/* csv.c - reads tables as text (CSV). A file is the whole table, and each named column is a
 * variable, too:
 *
 *     lat,t          table: 2 x 2 f64
 *     10,3.5         lat, t: 2 f64 each
 *     20,4.5
 *
 * Opening a file reads all numbers as doubles, and finds the type of each column. Columns of
 * complex numbers or large integers, which doubles cannot hold, are read again when they are
 * used.
 *
 * A cell is one parsed field. */
#include "files/columns.h"
#include "files/formats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields in a line. */
enum { MOST_COLUMNS = 1 << 16 };

/* An open table: its text, its numbers as doubles, its columns. */
typedef struct table {
    cmd_fields  first; /* the text from the first row on */
    int64_t     rows, columns, room;
    double     *values;
    cmd_column *column;
} table;

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Stores a number at index n, which is the next free one. The buffer doubles when it is full. */
static void add_value(table *t, int64_t n, double value)
{
    if (n == t->room) {
        t->room        = t->room ? 2 * t->room : 1024;
        double *larger = realloc(t->values, (size_t)t->room * sizeof *larger);
        if (!larger)
            cmd_fail("%s: out of memory for its numbers", t->first.path);
        t->values = larger;
    }
    t->values[n] = value;
}

/* Ends the program: a line has n fields, and the first line has another number (first). */
static _Noreturn void refuse_ragged(const cmd_fields *f, int64_t line, int64_t n, int64_t first)
{
    cmd_fail("%s: line %lld has %lld fields, the first one %lld%s", f->path, (long long)line,
             (long long)n, (long long)first,
             f->separator == ' ' ? "; fields are between blanks, unless --separator says otherwise"
                                 : "");
}

/* Reads one line: stores the numbers, and notes the facts of each field in its column. A line with
 * another number of fields than the first line ends the program. Each 65536 rows, Ctrl-C is
 * seen. */
static void read_row(table *t, cmd_fields *f)
{
    const int64_t line = f->line;
    int64_t       n    = 0;
    cmd_field     field;

    do {
        field = cmd_next_field(f);
        if (n++ >= t->columns)
            continue;
        const cmd_cell cell = cmd_read_cell(&field, cmd_text_style.decimal);
        cmd_note(&t->column[n - 1], &cell, &field, line);
        add_value(t, t->rows * t->columns + n - 1, cell.value);
    } while (!field.last);
    if (n != t->columns)
        refuse_ragged(f, line, n, t->columns);
    if (++t->rows % 65536 == 0)
        cmd_may_go_on();
}

/* ---- The first line -------------------------------------------------------------------------- */
/* One line, split into fields. */
typedef struct line {
    int64_t    n;
    cmd_field *field;
    bool       text, number; /* true if some fields are text; numbers */
} line;

/* Reads the fields of one line, and notes whether some are text and some are numbers. The kinds of
 * numbers follow CMD_CELL_MISSING in their enum. */
static line read_line(cmd_fields *f)
{
    line    l    = { 0 };
    int64_t room = 0;

    do {
        if (l.n == MOST_COLUMNS)
            cmd_fail("%s: more than %d fields in a line", f->path, MOST_COLUMNS);
        if (l.n == room) {
            room             = room ? 4 * room : 64;
            cmd_field *field = cmd_room((size_t)room * sizeof *field);
            if (l.n)
                memcpy(field, l.field, (size_t)l.n * sizeof *field);
            l.field = field;
        }
        l.field[l.n]             = cmd_next_field(f);
        const cmd_cell_kind kind = cmd_read_cell(&l.field[l.n], cmd_text_style.decimal).kind;
        l.text |= kind == CMD_CELL_TEXT;
        l.number |= kind > CMD_CELL_MISSING;
    } while (!l.field[l.n++].last);
    return l;
}

/* True if both lines have text and numbers at the same places, so that the first line is no header.
 * Missing values are like both. */
static bool is_like(const line *a, const line *b)
{
    for (int64_t k = 0; a->n == b->n && k < a->n; k++) {
        const cmd_cell_kind x = cmd_read_cell(&a->field[k], cmd_text_style.decimal).kind,
                            y = cmd_read_cell(&b->field[k], cmd_text_style.decimal).kind;
        if (x != CMD_CELL_MISSING && y != CMD_CELL_MISSING &&
            (x == CMD_CELL_TEXT) != (y == CMD_CELL_TEXT))
            return false;
    }
    return a->n == b->n;
}

/* Reads the first line. It holds the columns' names if it has text. If it has numbers, too, it does
 * so only if the second line has text and numbers at other places. */
static void read_first(table *t)
{
    cmd_fields f     = t->first, g;
    const line l     = read_line(&f);
    bool       names = l.text;

    t->columns = l.n;
    t->column  = cmd_room((size_t)l.n * sizeof *t->column);
    g          = f;
    if (l.text && l.number) {
        const line second = cmd_next_line(&g) ? read_line(&g) : l;
        names             = !is_like(&l, &second);
    }
    for (int64_t k = 0; names && k < l.n; k++)
        t->column[k].name = cmd_field_text(&l.field[k]);
    if (names)
        t->first = f;
}

/* Makes the variables: number 0 is the table, number k + 1 is column k. Columns without names are
 * made, too, but not listed: file->n does not count them. */
static void set_variables(cmd_file *file, const table *t)
{
    const cmd_column all = cmd_all_columns(t->column, t->columns);
    cmd_variable    *v   = cmd_add_variables(file, 1 + (int)t->columns);

    v->name   = cmd_stem(file->path);
    v->layout = "text";
    v->id     = -1;
    cmd_set_shape(v, cmd_column_type(&all),
                  t->columns == 1 ? &(rd_shape){ 1, 0, { t->rows } }
                                  : &(rd_shape){ 2, 0, { t->rows, t->columns } });
    for (int64_t k = 0; k < t->columns; k++) {
        cmd_variable *c = &v[1 + k];

        c->name   = t->column[k].name ? t->column[k].name : cmd_text("%lld", (long long)k + 1);
        c->layout = "text";
        c->id     = k;
        cmd_set_shape(c, cmd_column_type(&t->column[k]), &(rd_shape){ 1, 0, { t->rows } });
    }
    file->n -= t->column[0].name ? 0 : (int)t->columns;
}

/* Maps the file, or reads it where it cannot be mapped, and parses all lines. A file without a line
 * of fields ends the program. */
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
    table *t = cmd_room(sizeof *t);
    t->first = cmd_fields_of(file->path, text, size);
    if (t->first.at >= t->first.end)
        cmd_fail("%s: %s", file->path, size ? "no numbers in it" : "an empty file");
    read_first(t);
    for (cmd_fields f = t->first; cmd_next_line(&f);)
        read_row(t, &f);
    file->state = t;
    set_variables(file, t);
}

/* ---- Names ----------------------------------------------------------------------------------- */
/* Finds a variable by the name of a column, the name of the table, or the number of a column from
 * 1. Two columns of one name end the program. */
static cmd_variable *find_column(const cmd_file *file, const char *name)
{
    const table  *t     = file->state;
    cmd_variable *found = NULL;
    char         *end;
    const long    number = strtol(name, &end, 10);

    for (int64_t k = 0; t->column[0].name && k < t->columns; k++)
        if (strcmp(t->column[k].name, name) == 0) {
            if (found)
                cmd_fail("%s: columns %lld and %lld are both called %s; say %s:%lld for the first",
                         file->path, (long long)found->id + 1, (long long)k + 1, name, file->path,
                         (long long)found->id + 1);
            found = &file->variable[1 + k];
        }
    if (found || !file->variable)
        return found;
    if (strcmp(file->variable[0].name, name) == 0)
        return &file->variable[0];
    if (*name >= '1' && *name <= '9' && !*end && number <= t->columns)
        return &file->variable[number];
    return found;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Stores a parsed field as element i: two doubles of a complex number, or 64 bits of an integer in
 * two's complement, of either sign. */
static void store_cell(const cmd_cell *cell, rd_dtype type, void *to, int64_t i)
{
    const uint64_t bits = cell->negative ? 0 - cell->size : cell->size;

    if (type == RD_C128) {
        ((double *)to)[2 * i]     = cell->value;
        ((double *)to)[2 * i + 1] = cell->other;
    } else
        ((uint64_t *)to)[i] = bits;
}

/* Parses column v->id, or all columns if that is -1, a second time, in the type of v. The file must
 * not have changed since the first pass. */
static rd_expr *read_again(cmd_file *file, const cmd_variable *v)
{
    const table  *t  = file->state;
    const int64_t n  = cmd_points(&v->shape, v->type, v->name);
    void         *to = cmd_storage(n * cmd_size_of(v->type), v->name);
    cmd_fields    f  = t->first;
    int64_t       at = 0;

    for (int64_t row = 0; row < t->rows && cmd_next_line(&f); row++) {
        cmd_field field = { 0 };
        for (int64_t k = 0; !field.last; k++) {
            field = cmd_next_field(&f);
            if ((v->id >= 0 && k != v->id) || at == n)
                continue;
            const cmd_cell cell = cmd_read_cell(&field, cmd_text_style.decimal);
            store_cell(&cell, v->type, to, at++);
        }
        if (row % 65536 == 65535)
            cmd_may_go_on();
    }
    if (at != n)
        cmd_fail("%s: changed while it was read", file->path);
    return cmd_leaf(file->ctx, v, to);
}

/* Returns the end of an error message about `text`, which is no number: an option or a column that
 * may help; "" if none does. v->id is -1 for the whole table. */
static const char *hint_of(const cmd_file *file, const cmd_variable *v, const char *text)
{
    const table *t = file->state;

    if (cmd_text_style.decimal == '.' && strchr(text, ',') &&
        !text[strspn(text, "+-0123456789,eE")])
        return "; --decimal-comma reads such numbers";
    if (strpbrk(text, ",;|\t"))
        return "; --separator says what is between fields";
    if (v->id >= 0 || t->columns == 1)
        return "";
    for (int64_t k = 0; k < t->columns; k++)
        if (!t->column[k].text)
            return cmd_text("; %s:%s is a column of numbers", file->path,
                            file->variable[1 + k].name);
    return "";
}

/* Warns that an integer of a column is rounded to a double, and says why. A column with fractions
 * of its own (v->id >= 0) is approximate anyway, and gets no warning. */
static void warn_of_rounded(const cmd_file *file, const cmd_variable *v, const cmd_column *c)
{
    const char *why = c->not_whole ? (v->id < 0 ? "other columns have fractions" : NULL)
                      : c->missing ? "no type of whole numbers has missing ones"
                                   : "no type has negative numbers and such large ones";

    if (c->rounded && why)
        cmd_warn("%s: line %lld: %s is rounded to a double: %s", file->path,
                 (long long)c->rounded_line, c->rounded, why);
}

/* Makes the leaf (input array) of the table or of a column. A column of doubles is a strided view
 * of the first pass's table; other types need a second pass. A column with text ends the
 * program. */
static rd_expr *read_csv(cmd_file *file, cmd_variable *v)
{
    const table     *t      = file->state;
    const cmd_column c      = v->id < 0 ? cmd_all_columns(t->column, t->columns) : t->column[v->id];
    const double    *values = t->values;
    rd_array         array  = { .in = values, .type = RD_F64, .shape = v->shape };

    if (c.text)
        cmd_fail("%s: line %lld: %s is no number%s", file->path, (long long)c.text_line, c.text,
                 hint_of(file, v, c.text));
    if (v->type != RD_F64)
        return read_again(file, v);
    warn_of_rounded(file, v, &c);
    if (v->id >= 0) {
        array.in      = values ? values + v->id : values;
        array.strides = (rd_strides){ 1, 0, { t->columns } };
    }
    rd_expr *x = rd_leaf(file->ctx, &array);
    return x ? rd_label(x, v->name) : NULL;
}

const cmd_format cmd_csv = { .name     = "CSV",
                             .suffixes = ".csv .tsv .txt ",
                             .open     = open_csv,
                             .read     = read_csv,
                             .find     = find_column,
                             .write    = cmd_write_csv,
                             .most     = 1 };
