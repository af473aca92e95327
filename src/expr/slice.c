/* slice.c - parses NumPy's slice text, such as "3, :, ::-1, 2:10:2, ..., new", and makes one
 * view of it. */
#include "expr/affine.h"
#include "expr/origin.h"
#include <stdio.h>
#include <string.h>

/* The kinds of parts of the text: 3, 2:10:2, "..." and "new". */
typedef enum part_kind { PART_INDEX, PART_RANGE, PART_REST, PART_NEW } part_kind;

/* One part of the text, between commas. */
typedef struct part {
    part_kind kind;
    size_t    at;                /* its position in the text */
    int64_t   start, stop, step; /* of a range; start is also an index */
} part;

/* Ranges and new axes are axes of the result, indices and ranges are axes of the operand.  So no
 * slice has more parts. */
enum { MAX_PARTS = 2 * RD_MAX_RANK + 1 };

/* The parser's state.  The text stays the caller's. */
typedef struct reader {
    rd_expr    *x;
    const char *text;
    size_t      at;
    bool        failed; /* a failure is recorded */
    part        parts[MAX_PARTS];
    int         n, n_taken; /* parts; axes of x that they take */
    bool        has_rest;   /* true: "..." has occurred */
} reader;

/* Records RD_ERR_TEXT with a caret under byte `at` of the text; returns false. */
static bool fail(reader *r, size_t at, const char *what)
{
    rd_fail_text(r->x->ctx, "rd_slice", what, r->text, at);
    r->failed = true;
    return false;
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Skips blanks in the text; returns the position where it goes on. */
static size_t skip_blanks(reader *r)
{
    while (r->text[r->at] == ' ' || r->text[r->at] == '\t')
        r->at++;
    return r->at;
}

/* Reads `word` if it comes next, after blanks.  False, with nothing read but blanks, if it does
 * not. */
static bool accept(reader *r, const char *word)
{
    const size_t n = strlen(word), at = skip_blanks(r);

    if (strncmp(r->text + at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* True for a decimal digit. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads an optional decimal number with a sign.  False if there is none, and also after recording a
 * failure (r->failed); *value then keeps what it had. */
static bool read_number(reader *r, int64_t *value)
{
    const size_t start    = skip_blanks(r);
    const bool   negative = r->text[start] == '-';
    int64_t      n        = 0;

    r->at += negative;
    if (!is_digit(r->text[r->at]))
        return negative && fail(r, r->at, "expected a digit after '-'");
    for (; is_digit(r->text[r->at]); r->at++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, r->text[r->at] - '0', &n))
            return fail(r, start, "a number over 9223372036854775807");
    *value = negative ? -n : n;
    return true;
}

/* Reads what follows the first ':' of a range such as "2:10:2": an optional stop, and perhaps ':'
 * and a step.  False after recording a failure. */
static bool read_range(reader *r, part *p)
{
    size_t step;

    p->kind = PART_RANGE;
    /* Without a number, stop stays RD_OPEN, and step below stays 1. */
    read_number(r, &p->stop);
    if (r->failed || !accept(r, ":"))
        return !r->failed;
    step = skip_blanks(r);
    read_number(r, &p->step);
    if (!r->failed && p->step == 0)
        return fail(r, step, "a step of 0 never arrives");
    return !r->failed;
}

/* Reads one part of the text: "..." | "new" | number | [number] ":" [number] [":" [number]].  False
 * after recording a failure. */
static bool read_part(reader *r, part *p)
{
    bool first;

    *p = (part){
        .kind = PART_INDEX, .at = skip_blanks(r), .start = RD_OPEN, .stop = RD_OPEN, .step = 1
    };
    if (accept(r, "...")) {
        p->kind = PART_REST;
        return true;
    }
    if (accept(r, "new")) {
        p->kind = PART_NEW;
        return true;
    }
    /* false: no number, so a ':' must come */
    first = read_number(r, &p->start);
    if (r->failed)
        return false;
    if (accept(r, ":"))
        return read_range(r, p);
    return first || fail(r, r->at, "expected a number, ':', '...' or 'new'");
}

/* Reads all parts of the slice text, separated by commas, and counts in n_taken the axes of x that
 * they take: one for each index and range, none for "new" and "...".  False after recording a
 * failure. */
static bool read_parts(reader *r)
{
    do {
        part *p = &r->parts[r->n];
        if (r->n == MAX_PARTS)
            return fail(r, r->at, "more parts than there can be axes");
        if (!read_part(r, p))
            return false;
        if (r->text[skip_blanks(r)] != ',' && r->text[r->at] != '\0')
            return fail(r, r->at, "expected ',' or the end of the slice");
        if (p->kind == PART_REST && r->has_rest)
            return fail(r, p->at, "a second '...'");
        r->has_rest |= p->kind == PART_REST;
        r->n_taken += p->kind == PART_INDEX || p->kind == PART_RANGE;
        r->n++;
    } while (accept(r, ","));
    return true;
}

/* ---- Applying -------------------------------------------------------------------------------- */
/* True if the parts take no more axes than x has.  False after recording it, with a caret under the
 * first part too many. */
static bool has_enough_axes(const reader *r)
{
    const rd_expr *x     = r->x;
    int            taken = 0;
    char           text[RD_SHAPE_TEXT], what[RD_SHAPE_TEXT + 80];

    for (int k = 0; k < r->n; k++) {
        const part *p = &r->parts[k];
        taken += p->kind == PART_INDEX || p->kind == PART_RANGE;
        if (taken <= x->rank)
            continue;
        snprintf(what, sizeof what, "%d parts take axes, the operand has rank %d, shape %s",
                 r->n_taken, x->rank, rd_shape_text(x->rank, x->extent, text));
        rd_fail_at(x->ctx, RD_ERR_AXIS, "rd_slice", what, r->text, p->at);
        return false;
    }
    return true;
}

/* Records that an index is outside axis `a` of x; returns false. */
static bool index_outside(const reader *r, const part *p, int a)
{
    char text[RD_SHAPE_TEXT], range[RD_RANGE_TEXT], what[RD_SHAPE_TEXT + RD_RANGE_TEXT + 120];

    snprintf(what, sizeof what, "index %lld is outside axis %d of extent %lld%s, shape %s",
             (long long)p->start, a, (long long)r->x->extent[a], rd_range_text(r->x, a, range),
             rd_shape_text(r->x->rank, r->x->extent, text));
    rd_fail_at(r->x->ctx, RD_ERR_AXIS, "rd_slice", what, r->text, p->at);
    return false;
}

/* Adds all parts of the slice to the view in order.  An index or a range takes the next axis of x,
 * "new" adds one of extent 1, "..." takes as many as the other parts leave.  Axes behind the last
 * part stay whole.  False after recording that an index is outside. */
static bool apply(const reader *r, rd_affine *v)
{
    const int left = r->x->rank - r->n_taken;
    int       a    = 0; /* the next axis of x */

    for (int k = 0; k < r->n; k++) {
        const part *p = &r->parts[k];
        switch (p->kind) {
        case PART_INDEX:
            if (!rd_affine_select(v, r->x, a, p->start))
                return index_outside(r, p, a);
            a++;
            break;
        case PART_RANGE: rd_affine_range(v, r->x, a++, p->start, p->stop, p->step); break;
        case PART_NEW: rd_affine_axis(v, /*extent=*/1, /*a=*/-1, /*coef=*/0); break;
        case PART_REST:
            for (int n = 0; n < left; n++)
                rd_affine_whole(v, r->x, a++);
            break;
        }
    }
    while (a < r->x->rank)
        rd_affine_whole(v, r->x, a++);
    return true;
}

/* Makes the view of x that a slice text describes: the public call. */
rd_expr *rd_slice(rd_expr *x, const char *text)
{
    reader    r = { .x = x, .text = text };
    rd_affine v = { 0 };

    if (!x)
        return NULL;
    if (!text)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "rd_slice: the text is NULL");
    if (!read_parts(&r) || !has_enough_axes(&r) || !apply(&r, &v))
        return NULL;
    return rd_affine_view(x, &v, "rd_slice");
}
