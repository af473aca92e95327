/* records.c - parses the header of a .npy array with records: a Python literal of strings, numbers,
 * tuples and lists. An example has fields t (a date at offset 0) and v (f32 at offset 8, one axis
 * of 3), and records of 20 bytes:
 *
 *     {'descr': [('t', '<M8[s]'), ('v', '<f4', (3,))], 'fortran_order': False, 'shape': (9,)} */
#include "files/records.h"
#include <stdlib.h>
#include <string.h>

/* Bytes of a header; fields of an array; records inside of records. */
enum { MOST_HEADER = 1 << 20, MOST_FIELDS = 1 << 12, MOST_DEPTH = 16 };

/* The rest of the header's text, which the parser consumes. */
typedef struct text {
    const char *at, *end;
} text;

/* The record around a field: its offset, its name as a prefix, and the axes of enclosing arrays. */
typedef struct frame {
    const char *prefix;
    int64_t     offset;
    int         depth, rank;
    int64_t     n[RD_MAX_RANK], pitch[RD_MAX_RANK];
} frame;

/* ---- Tokens ---------------------------------------------------------------------------------- */
/* Returns the next character behind blanks, without consuming it; -1: the text ends. */
static int peek(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || (*t->at >= '\t' && *t->at <= '\r')))
        t->at++;
    return t->at < t->end ? (unsigned char)*t->at : -1;
}

/* Consumes the character if it is next. True if so. */
static bool accept(text *t, char c)
{
    if (peek(t) != c)
        return false;
    t->at++;
    return true;
}

/* Consumes the word if it is next, behind blanks, which peek() skips. True if so. */
static bool accept_word(text *t, const char *word)
{
    const size_t n = strlen(word);

    (void)peek(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* Skips a string, and returns its start; NULL: there is none, or it does not end. *n is the number
 * of bytes between its quotes. */
static const char *skip_string(text *t, size_t *n)
{
    const int quote = peek(t);

    if (quote != '\'' && quote != '"')
        return NULL;
    const char *const first = ++t->at;
    while (t->at < t->end && *t->at != quote)
        t->at += *t->at == '\\' && t->at + 1 < t->end ? 2 : 1;
    if (t->at >= t->end)
        return NULL;
    *n = (size_t)(t->at++ - first);
    return first;
}

/* Reads a string in quotes; NULL: there is none. Only escapes of quotes and backslashes are
 * resolved. */
static char *read_string(text *t)
{
    size_t            n     = 0;
    const char *const first = skip_string(t, &n);

    if (!first)
        return NULL;
    char *const out = cmd_room(n + 1), *to = out;
    for (size_t k = 0; k < n; k++) {
        k += first[k] == '\\' && first[k + 1] && strchr("'\"\\", first[k + 1]) ? 1 : 0;
        *to++ = first[k];
    }
    return out;
}

/* Reads a number of Python; -1: there is none, or it is too large. */
static int64_t read_number(text *t)
{
    int64_t value = 0;

    if (peek(t) < '0' || peek(t) > '9')
        return -1;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (value > INT64_MAX / 16)
            return -1;
        value = 10 * value + (*t->at - '0');
    }
    (void)accept(t, 'L'); /* Python 2 writes 9L */
    return value;
}

/* Reads a shape: "(3, 4)", or a number for a single axis. False: it is neither, or has too many
 * axes. A comma may stand behind the last extent. */
static bool read_shape(text *t, rd_shape *shape)
{
    bool comma = true;

    *shape = (rd_shape){ 0 };
    if (peek(t) >= '0' && peek(t) <= '9') {
        shape->n     = 1;
        shape->at[0] = read_number(t);
        return shape->at[0] >= 0;
    }
    if (!accept(t, '('))
        return false;
    while (comma && peek(t) != ')') {
        if (shape->n == RD_MAX_RANK || (shape->at[shape->n++] = read_number(t)) < 0)
            return false;
        comma = accept(t, ',');
    }
    return accept(t, ')');
}

/* ---- Types ----------------------------------------------------------------------------------- */
/* Returns the bytes of a type that is no number of a supported size, and in *why what it is.
 * `digits` is the number behind the kind's letter. 0: the type is unknown. */
static int64_t size_of_other(char kind, int64_t digits, const char **why)
{
    switch (kind) {
    case 'S':
    case 'a': *why = cmd_text("its elements are texts of %lld bytes", (long long)digits); break;
    case 'U':
        *why   = cmd_text("its elements are texts of %lld characters", (long long)digits);
        digits = digits > INT64_MAX / 8 ? -1 : 4 * digits;
        break;
    case 'V': *why = cmd_text("its elements are %lld bytes of no type", (long long)digits); break;
    case 'f':
    case 'c': *why = cmd_text("its elements are floats of %lld bytes", (long long)digits); break;
    default: *why = "its elements are of a type that is not known here"; return 0;
    }
    return digits;
}

/* Reads the unit of dates and durations behind M8 or m8: "[s]", or "[25s]" for counts of 25
 * seconds. False: it is not understood. Without a unit the numbers are plain. */
static bool read_unit(const char *at, cmd_field *f)
{
    char *end;

    f->times = 1;
    if (!*at)
        return true; /* no unit: a plain number */
    const size_t n = strlen(at);
    if (*at != '[' || at[n - 1] != ']')
        return false;
    if (at[1] >= '0' && at[1] <= '9') {
        f->times = strtoll(at + 1, &end, 10);
        at       = end - 1;
    }
    const size_t last = strlen(at);
    if (last < 3)
        return false;
    f->unit = cmd_copy(at + 1, last - 2);
    return f->times > 0 && f->times < INT64_MAX;
}

/* Reads a type of dates (M8) or durations (m8) with its unit. False: it is not understood. */
static bool read_time(const char *at, cmd_field *f)
{
    f->is_date = at[0] == 'M';
    f->type    = RD_I64;
    f->size    = 8;
    if (at[1] != '8' || !read_unit(at + 2, f))
        return false;
    if (f->is_date && !f->unit)
        f->why = "its elements are dates without a unit";
    return true;
}

/* Reads a type string, as "<f4", "|S5", ">M8[ns]": type, size and byte order. False: it is not
 * understood. The mark '|' says that there is no byte order, so numbers with it have one byte. */
static bool read_type(const char *at, cmd_field *f)
{
    bool       big  = *at == '>';
    const char mark = *at;
    char      *end;

    at += *at && strchr("<>=|", *at) != NULL;
    if (*at == 'O') {
        f->why  = "its elements are objects, which NumPy pickles";
        f->size = 8;
        return true;
    }
    if (*at == 'M' || *at == 'm') {
        f->swapped = big;
        return read_time(at, f);
    }
    f->type = cmd_type_of(at, strlen(at), &(bool){ false });
    f->size = f->type == RD_AUTO ? 0 : cmd_size_of(f->type);
    if (f->type != RD_AUTO) {
        f->swapped = big && f->size > 1;
        return mark != '|' || f->size == 1;
    }
    const int64_t digits = strtoll(at + (*at != 0), &end, 10);
    if (end == at + 1 || *end || digits < 0 || digits > INT64_MAX / 8)
        return false;
    f->size = size_of_other(*at, digits, &f->why);
    return f->size > 0 || digits == 0;
}

/* ---- Fields ---------------------------------------------------------------------------------- */
/* Appends a field with the offset, name and axes of its frame. False: there are too many. */
static bool add_field(cmd_records *r, const frame *in, cmd_field f)
{
    if (r->n == MOST_FIELDS)
        return false;
    if (r->n % 64 == 0) {
        cmd_field *all = cmd_room((size_t)(r->n + 64) * sizeof *all);
        if (r->n)
            memcpy(all, r->field, (size_t)r->n * sizeof *all);
        r->field = all;
    }
    f.name   = in->prefix;
    f.offset = in->offset;
    f.rank   = in->rank;
    memcpy(f.n, in->n, sizeof f.n);
    memcpy(f.pitch, in->pitch, sizeof f.pitch);
    r->field[r->n++] = f;
    return true;
}

/* Adds the axes of an array with elements of `size` bytes to those of the frame, with strides in C
 * order. Returns the bytes of the array; -1: too many bytes or axes. */
static int64_t add_axes(frame *in, const rd_shape *shape, int64_t size)
{
    if (in->rank + shape->n > RD_MAX_RANK)
        return -1;
    for (int k = shape->n; k-- > 0;) {
        in->n[in->rank + k]     = shape->at[k];
        in->pitch[in->rank + k] = size;
        if (shape->at[k] > 0 && size > INT64_MAX / 8 / shape->at[k])
            return -1;
        size *= shape->at[k];
    }
    in->rank += shape->n;
    return size;
}

static int64_t read_descr(text *t, cmd_records *r, const frame *in, const rd_shape *shape);

/* Looks ahead for the shape that may follow a type: the fields of the type need it. Brackets and
 * strings are skipped. The text is a copy, so nothing is consumed. False: it is not understood. */
static bool find_shape(text t, rd_shape *shape)
{
    int depth = 0;

    *shape = (rd_shape){ 0 };
    for (int c; (c = peek(&t)) >= 0;) {
        if (c == '\'' || c == '"') {
            if (!skip_string(&t, &(size_t){ 0 }))
                return false;
            continue;
        }
        if (depth == 0 && c == ')')
            return true; /* no shape follows */
        if (depth == 0 && c == ',') {
            t.at++;
            return peek(&t) == ')' || read_shape(&t, shape);
        }
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        t.at++;
    }
    return false;
}

/* Reads a field, as "('name', '<f4')" or "('name', [...], (3,))". A name may be a pair of title and
 * name. A field without a name is padding, and so is all in it (prefix NULL). Returns its bytes;
 * -1: it is not understood. */
static int64_t read_field(text *t, cmd_records *r, const frame *in)
{
    frame       inner = *in;
    rd_shape    shape;
    const char *name;

    if (!accept(t, '('))
        return -1;
    if (accept(t, '(')) {
        if (!read_string(t) || !accept(t, ',') || !(name = read_string(t)) || !accept(t, ')'))
            return -1;
    } else if (!(name = read_string(t)))
        return -1;
    if (!accept(t, ',') || !find_shape(*t, &shape))
        return -1;
    inner.prefix        = !*name        ? NULL
                          : !in->prefix ? NULL
                          : *in->prefix ? cmd_text("%s.%s", in->prefix, name)
                                        : name;
    const int64_t bytes = read_descr(t, r, &inner, &shape);
    if (accept(t, ',') && peek(t) != ')' && !read_shape(t, &shape))
        return -1;
    (void)accept(t, ',');
    return accept(t, ')') ? bytes : -1;
}

/* Reads the fields of a record up to "]", one behind the other. Returns the bytes of the record;
 * -1: it is not understood, or nested too deep. */
static int64_t read_list(text *t, cmd_records *r, const frame *in)
{
    frame   each  = *in;
    int64_t bytes = 0;
    bool    comma = true;

    if (++each.depth > MOST_DEPTH)
        return -1;
    while (comma && peek(t) != ']') {
        each.offset       = in->offset + bytes;
        const int64_t one = read_field(t, r, &each);
        if (one < 0 || bytes > INT64_MAX / 8 - one)
            return -1;
        bytes += one;
        comma = accept(t, ',');
    }
    return accept(t, ']') ? bytes : -1;
}

/* Returns the bytes of a type in brackets or quotes, and consumes nothing, as the text is a copy.
 * It adds no fields. */
static int64_t bytes_of_type(text t)
{
    cmd_records none = { .n = 0 };
    rd_shape    flat = { 0 };

    return read_descr(&t, &none, &(frame){ .prefix = NULL }, &flat);
}

/* Reads a type of records or numbers, as an array of that shape. Returns its bytes; -1: it is not
 * understood. Without a prefix the type is padding, and adds no fields. The axes of an array of
 * records need the size of a record, which is found first. */
static int64_t read_descr(text *t, cmd_records *r, const frame *in, const rd_shape *shape)
{
    frame      inner = *in;
    cmd_field  f     = { .times = 1 };
    const bool list  = peek(t) == '[';

    if (list) {
        const int64_t size = in->prefix && shape->n ? bytes_of_type(*t) : 0;
        if (size < 0 || (shape->n && add_axes(&inner, shape, size) < 0))
            return -1;
        t->at++;
        const int64_t bytes = read_list(t, r, &inner);
        frame         whole = { 0 };
        return bytes < 0 ? -1 : add_axes(&whole, shape, bytes);
    }
    const char *const type = read_string(t);
    if (!type || !read_type(type, &f))
        return -1;
    const int64_t bytes = add_axes(&inner, shape, f.size);
    return bytes >= 0 && (!in->prefix || add_field(r, &inner, f)) ? bytes : -1;
}

/* ---- Headers --------------------------------------------------------------------------------- */
/* Reads the value of 'descr': the type of the array's elements, which have no name. */
static bool read_type_of_array(text *t, cmd_records *r)
{
    r->bytes = read_descr(t, r, &(frame){ .prefix = "" }, &(rd_shape){ 0 });
    return r->bytes >= 0;
}

/* Reads the value of 'shape'. */
static bool read_shape_of_array(text *t, cmd_records *r)
{
    return read_shape(t, &r->shape);
}

/* Reads the value of 'fortran_order': True or False. */
static bool read_order(text *t, cmd_records *r)
{
    r->fortran = accept_word(t, "True");
    return r->fortran || accept_word(t, "False");
}

/* The keys of the header, and the functions that read their values. */
static const struct {
    const char *name;
    bool (*read)(text *t, cmd_records *r);
} keys[] = { { "descr", read_type_of_array },
             { "fortran_order", read_order },
             { "shape", read_shape_of_array } };
enum { KEYS = sizeof keys / sizeof *keys };

/* Reads one key of the header and its value. False: the key is unknown or repeated, or the value is
 * not understood. */
static bool read_key(text *t, cmd_records *r, bool seen[KEYS])
{
    const char *key = read_string(t);
    int         k   = 0;

    while (key && k < KEYS && strcmp(keys[k].name, key) != 0)
        k++;
    if (!key || k == KEYS || seen[k] || !accept(t, ':'))
        return false;
    seen[k] = true;
    return keys[k].read(t, r);
}

/* Marks all fields as unreadable if one holds objects: NumPy pickles such arrays, and records are
 * not at their offsets. */
static void mark_pickled(cmd_records *r)
{
    const char *why = NULL;

    for (int k = 0; k < r->n; k++)
        if (r->field[k].why && strstr(r->field[k].why, "pickles"))
            why = *r->field[k].name
                      ? cmd_text("its records hold objects (%s), so that NumPy pickles them",
                                 r->field[k].name)
                      : r->field[k].why;
    for (int k = 0; why && k < r->n; k++)
        if (!r->field[k].why)
            r->field[k].why = why;
}

/* Marks fields of equal names as unreadable. "a.b" may be a field of that name, or field b in field
 * a. */
static void mark_duplicates(cmd_records *r)
{
    for (int k = 0; k < r->n; k++)
        for (int i = 0; i < k; i++)
            if (strcmp(r->field[i].name, r->field[k].name) == 0)
                r->field[i].why = r->field[k].why =
                    cmd_text("several fields are called %s", r->field[k].name);
}

/* Reads the dictionary of the header. False: it is not understood, or lacks one of the three
 * keys. */
static bool read_dict(text *t, cmd_records *r)
{
    bool seen[KEYS] = { false }, comma = true;

    if (!accept(t, '{'))
        return false;
    while (comma && peek(t) != '}') {
        if (!read_key(t, r, seen))
            return false;
        comma = accept(t, ',');
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k])
            return false;
    return accept(t, '}') && peek(t) < 0 && r->n > 0;
}

/* Reads the header's length, which has 2 bytes in format version 1 and 4 bytes in 2 and 3, and then
 * the header, and parses it. NULL: it is not understood. */
cmd_records *cmd_read_records(const cmd_npy_place *p)
{
    uint8_t begin[12] = { 0 };

    if (p->size < (int64_t)sizeof begin)
        return NULL;
    cmd_read_at(p->fd, p->path, begin, sizeof begin, p->begin);
    const int64_t from = begin[6] == 1 ? 10 : 12;
    int64_t       n    = begin[8] | begin[9] << 8;
    if (from == 12)
        n |= (int64_t)begin[10] << 16 | (int64_t)begin[11] << 24;
    if (n > MOST_HEADER || n > p->size - from)
        return NULL;
    char        *header = cmd_room((size_t)n + 1);
    cmd_records *r      = cmd_room(sizeof *r);
    cmd_read_at(p->fd, p->path, header, n, p->begin + from);
    r->data = from + n;
    text t  = { header, header + n };
    if (!read_dict(&t, r))
        return NULL;
    mark_pickled(r);
    mark_duplicates(r);
    return r;
}
