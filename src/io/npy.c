/* npy.c - parses and writes the .npy header: pure functions of bytes, without files or
 * allocations.
 *
 *     \x93NUMPY 1 0 <length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The header is a Python literal, which NumPy evaluates.  This recursive descent parser reads
 * only what NumPy writes, in any order and spacing.  It refuses everything else with a sentence. */
#include "io/npy.h"
#include "expr/expr.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The state of the parser. */
typedef struct reader {
    const uint8_t *begin, *at, *end; /* the text of the dict; where to read on */
    rd_npy_header *header;           /* filled in */
    rd_status      status;           /* of a failure */
    char          *why;              /* its sentence, RD_NPY_WHY bytes */
} reader;

/* Kind and size, as in a descr.  V means bytes without a type, by which NumPy writes types that
 * it does not know. */
static const char descr_table[][4] = {
#define RD_DTYPE(type, name, c, kind, class, long_, code, ...) [RD_##type] = code,
#include "core/dtypes.def"
    [RD_C64]  = "c8",
    [RD_C128] = "c16",
};
enum { N_DESCR = sizeof descr_table / sizeof *descr_table };

static const char magic[] = "\x93NUMPY";

/* Stores status and sentence; returns false. */
__attribute__((format(printf, 3, 4))) static bool refuse(reader *r, rd_status status,
                                                         const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(r->why, RD_NPY_WHY, format, values);
    va_end(values);
    r->status = status;
    return false;
}

/* Refuses the header: "<wanted> expected at byte 17 of the header's text". Returns false. */
static bool refuse_here(reader *r, const char *wanted)
{
    return refuse(r, RD_ERR_FILE, "%s expected at byte %td of the header's text", wanted,
                  r->at - r->begin);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */
/* Skips white space, as Python does within brackets; returns the next character, or -1 at the
 * end. */
static int peek(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')))
        r->at++;
    return r->at < r->end ? *r->at : -1;
}

/* Skips white space, and the character c if it comes next; false: it does not. */
static bool accept(reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

/* Like accept(), but refuses the header if the character is another one. */
static bool expect(reader *r, char c)
{
    const char wanted[] = { '\'', c, '\'', 0 };

    return accept(r, c) || refuse_here(r, wanted);
}

/* Skips white space, and the word if it comes next; false: it does not. */
static bool accept_word(reader *r, const char *word)
{
    const size_t n = strlen(word);

    peek(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Reads a quoted string of printable ASCII without escapes, as are all names and types that
 * NumPy writes, to *text and its length *n. wanted: what it should be, for the message. A long
 * one is refused, because messages quote it. False after refusing the header. */
static bool read_string(reader *r, const char *wanted, const char **text, int *n)
{
    const int quote = peek(r);

    if (quote != '\'' && quote != '"')
        return refuse_here(r, wanted);
    const uint8_t *const first = ++r->at;
    while (r->at < r->end && *r->at != quote && *r->at >= ' ' && *r->at <= '~' && *r->at != '\\')
        r->at++;
    if (r->at == r->end || *r->at != quote)
        return refuse_here(r, "a printable character or the closing quote");
    if (r->at - first > RD_NPY_WHY / 4)
        return refuse(r, RD_ERR_FILE, "a string of %td characters in the header", r->at - first);
    *text = (const char *)first;
    *n    = (int)(r->at++ - first);
    return true;
}

/* Reads an extent of the shape: a decimal number without a sign or leading zeros, below 2^63. */
static bool read_extent(reader *r, int64_t *extent)
{
    const int first = peek(r);
    int64_t   value = 0;

    if (first == '-')
        return refuse(r, RD_ERR_FILE, "a negative extent in the shape");
    if (first < '0' || first > '9')
        return refuse_here(r, "an extent");
    const uint8_t *const start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        const int digit = *r->at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return refuse(r, RD_ERR_FILE, "an extent in the shape exceeds 2^63 - 1");
        value = value * 10 + digit;
    }
    if (first == '0' && r->at - start > 1)
        return refuse(r, RD_ERR_FILE, "an extent with leading zeros in the shape");
    if (r->at < r->end && *r->at == 'L') /* a long int of Python 2 */
        r->at++;
    *extent = value;
    return true;
}

/* ---- Values of the three keys ---------------------------------------------------------------- */
/* Refuses a structured type (a list) or a type of subarrays (a tuple), and quotes its begin. */
static bool refuse_compound(reader *r)
{
    int n = 0;

    while (n < r->end - r->at && n < 60 && r->at[n] >= ' ' && r->at[n] <= '~')
        n++;
    return refuse(r, RD_ERR_TYPE, "structured type, descr %.*s%s", n, (const char *)r->at,
                  n == 60 ? "..." : "");
}

/* True if .npy files have elements of the type, rather than bytes without a type (V). */
bool rd_npy_has(rd_dtype type)
{
    return (unsigned)type < N_DESCR && descr_table[type][0] && descr_table[type][0] != 'V';
}

/* Finds the type by its descr without the byte order, such as "f4"; RD_AUTO: there is none. */
static rd_dtype find_descr(const char *text, int n)
{
    for (int type = 1; n > 0 && type < N_DESCR; type++)
        if (rd_npy_has((rd_dtype)type) && strlen(descr_table[type]) == (size_t)n &&
            memcmp(descr_table[type], text, (size_t)n) == 0)
            return (rd_dtype)type;
    return RD_AUTO;
}

/* Reads the value of the key descr: the type, '<f4', and whether its bytes must be swapped. A
 * list or tuple in its place is a compound type, which is refused. False after refusing the
 * header. */
static bool read_descr(reader *r)
{
    const int   first = peek(r);
    const char *text  = "";
    int         n     = 0;

    if (first == '[' || first == '(')
        return refuse_compound(r);
    if (!read_string(r, "the type", &text, &n))
        return false;
    /* order of bytes: < lowest first, > highest first, = this machine's, | of single bytes */
    const char     mark = n && strchr("<>=|", *text) ? *text : '=';
    const int      skip = n && strchr("<>=|", *text) ? 1 : 0;
    const rd_dtype type = find_descr(text + skip, n - skip);
    const int      size = type ? rd_dtype_size(type) : 0;
    if (!type || (mark == '|' && size > 1))
        return refuse(r, RD_ERR_TYPE, "descr '%.*s' is not a type of this release", n, text);
    r->header->type = type;
    r->header->swap = size > 1 && mark == (RD_HOST_IS_BIG ? '<' : '>');
    return true;
}

/* Reads "True" (the first axis is contiguous) or "False". */
static bool read_order(reader *r)
{
    r->header->order = accept_word(r, "True");
    return r->header->order || accept_word(r, "False") || refuse_here(r, "True or False");
}

/* Reads a tuple: "()", "(3,)", "(3, 4)".  "(3)" is refused, as in Python it is a number. */
static bool read_shape(reader *r)
{
    rd_shape *shape = &r->header->shape;
    bool      comma = true;

    if (!expect(r, '('))
        return false;
    while (comma && peek(r) != ')') {
        if (shape->n == RD_MAX_RANK)
            return refuse(r, RD_ERR_FILE, "the shape has more than %d axes", RD_MAX_RANK);
        if (!read_extent(r, &shape->at[shape->n++]))
            return false;
        comma = accept(r, ',');
    }
    if (shape->n == 1 && !comma)
        return refuse_here(r, "',' of a tuple of one");
    return expect(r, ')');
}

/* ---- The dict -------------------------------------------------------------------------------- */
/* The keys of the dict, each with the function that reads its value. */
static const struct {
    const char *name;
    bool (*read)(reader *r);
} keys[] = { { "descr", read_descr }, { "fortran_order", read_order }, { "shape", read_shape } };
enum { N_KEYS = sizeof keys / sizeof *keys };

/* Reads one key of the dict, a colon and its value; false after refusing the header: an unknown or
 * repeated key, or a wrong value. */
static bool read_entry(reader *r, bool seen[N_KEYS])
{
    const char *name = "";
    int         n    = 0;

    if (!read_string(r, "a key", &name, &n) || !expect(r, ':'))
        return false;
    for (int k = 0; k < N_KEYS; k++) {
        if (strlen(keys[k].name) != (size_t)n || memcmp(keys[k].name, name, (size_t)n) != 0)
            continue;
        if (seen[k])
            return refuse(r, RD_ERR_FILE, "key '%s' twice in the header", keys[k].name);
        seen[k] = true;
        return keys[k].read(r);
    }
    return refuse(r, RD_ERR_FILE, "unknown key '%.*s' in the header", n, name);
}

/* Reads the whole dict of the header; all three keys must be there, each once, and nothing may
 * follow. False after refusing the header. */
static bool read_dict(reader *r)
{
    bool seen[N_KEYS] = { false };
    bool comma        = true;

    if (!expect(r, '{'))
        return false;
    while (comma && peek(r) != '}') {
        if (!read_entry(r, seen))
            return false;
        comma = accept(r, ',');
    }
    if (!expect(r, '}'))
        return false;
    if (peek(r) != -1)
        return refuse_here(r, "nothing more");
    for (int k = 0; k < N_KEYS; k++)
        if (!seen[k])
            return refuse(r, RD_ERR_FILE, "no key '%s' in the header", keys[k].name);
    return true;
}

/* Computes the number of elements and of bytes of the array from its shape and type. False after
 * refusing a header whose sizes overflow. */
static bool compute_sizes(reader *r)
{
    rd_npy_header *h    = r->header;
    const int      size = rd_dtype_size(h->type);
    char           text[RD_SHAPE_TEXT];

    h->points = rd_points(h->shape.n, h->shape.at);
    if (h->points < 0 || h->points > (INT64_MAX - h->offset) / size)
        return refuse(r, RD_ERR_FILE, "the size of shape %.*s overflows", RD_NPY_WHY / 2,
                      rd_shape_text(h->shape.n, h->shape.at, text));
    h->bytes = h->points * size;
    return true;
}

/* Checks magic and version, and reads the header's length: 2 bytes in version 1, else 4, the lowest
 * first.  Returns where the data begin; -1: no such file, and `why` says why. */
int64_t rd_npy_offset(const uint8_t *bytes, int64_t n, char why[RD_NPY_WHY])
{
    if (n < 10 || memcmp(bytes, magic, sizeof magic - 1) != 0) {
        snprintf(why, RD_NPY_WHY,
                 n < 10 ? "not a .npy file, it ends within the first 10 bytes"
                        : "not a .npy file, it does not begin with \\x93NUMPY");
        return -1;
    }
    const int major = bytes[6], minor = bytes[7], prefix = major == 1 ? 10 : 12;
    if (major < 1 || major > 3 || minor != 0) {
        snprintf(why, RD_NPY_WHY, "version %d.%d of .npy is not one of 1.0, 2.0, 3.0", major,
                 minor);
        return -1;
    }
    int64_t length = 0;
    for (int k = prefix - 1; k >= 8 && n >= prefix; k--)
        length = length * 256 + bytes[k];
    if (n < prefix || length > RD_NPY_TEXT) {
        snprintf(why, RD_NPY_WHY,
                 n < prefix ? "not a .npy file, it ends within the first 12 bytes"
                            : "a header of more than 1 MiB");
        return -1;
    }
    return prefix + length;
}

/* Reads a whole header of n bytes at most; a status other than RD_OK has a sentence in `why`. */
rd_status rd_npy_parse(const uint8_t *bytes, int64_t n, rd_npy_header *header, char why[RD_NPY_WHY])
{
    reader r = { .header = header, .status = RD_OK, .why = why };

    *header        = (rd_npy_header){ 0 };
    header->offset = rd_npy_offset(bytes, n, why);
    if (header->offset < 0)
        return RD_ERR_FILE;
    if (header->offset > n) {
        refuse(&r, RD_ERR_FILE, "truncated, a header of %lld bytes expected, %lld found",
               (long long)header->offset, (long long)n);
        return r.status;
    }
    r.begin = r.at = bytes + (bytes[6] == 1 ? 10 : 12);
    r.end          = bytes + header->offset;
    return read_dict(&r) && compute_sizes(&r) ? RD_OK : r.status;
}

/* Writes the header and returns its bytes, a multiple of 64.  Always version 1.0, as its 65535
 * bytes hold any shape of 32 axes:
 *
 *     \x93NUMPY 1 0 118 0 {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
int rd_npy_format(rd_dtype type, const rd_shape *shape, int order, bool big_endian,
                  char bytes[RD_NPY_HEADER])
{
    const char mark = rd_dtype_size(type) == 1 ? '|' : big_endian ? '>' : '<';
    int        n    = 10;

    n += snprintf(bytes + n, (size_t)(RD_NPY_HEADER - n),
                  "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", mark, descr_table[type],
                  order ? "True" : "False");
    for (int k = 0; k < shape->n; k++)
        n += snprintf(bytes + n, (size_t)(RD_NPY_HEADER - n), k ? ", %lld" : "%lld",
                      (long long)shape->at[k]);
    n += snprintf(bytes + n, (size_t)(RD_NPY_HEADER - n), shape->n == 1 ? ",), }" : "), }");

    /* room for the newline; the data are aligned to 64 */
    const int length = (n + 1 + 63) / 64 * 64;
    memset(bytes + n, ' ', (size_t)(length - n));
    bytes[length - 1] = '\n';
    memcpy(bytes, magic, sizeof magic - 1);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (char)((length - 10) % 256);
    bytes[9] = (char)((length - 10) / 256);
    return length;
}
