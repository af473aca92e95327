/* constant.c - numbers that are known when the text is read: axes, bounds, positions, extents.
 *
 * They are literals, earlier results that are whole numbers, size(x), and + - * // % ** of
 * these. */
#include "core/whole.h"
#include "formula/formula.h"
#include <math.h>

/* Kinds of numbers. WHOLE, BEYOND and DIVIDED are known when the text is read. */
typedef enum number_kind {
    NO_NUMBER, /* no known whole number */
    WHOLE,
    BEYOND, /* a whole number beyond 64 bits */
    DIVIDED /* a division by 0, or of the least number by -1 */
} number_kind;

/* A value on the way. */
typedef struct number {
    number_kind      kind;
    int64_t          whole;    /* WHOLE: the value */
    long double      real;     /* the value, also if it is beyond 64 bits */
    const rd_phrase *quotient; /* DIVIDED: the division, of `whole` by `divisor` */
    int64_t          divisor;  /* DIVIDED: what `whole` was divided by */
} number;

/* Returns a whole number as one that is known when the text is read. */
static number whole_number(int64_t n)
{
    return (number){ .kind = WHOLE, .whole = n, .real = (long double)n };
}

/* Computes a sum, a product, a power or a left shift in long double, for results beyond 64 bits. */
static long double real_result(rd_op op, long double a, long double b)
{
    switch (op) {
    case RD_OP_add: return a + b;
    case RD_OP_sub: return a - b;
    case RD_OP_mul: return a * b;
    case RD_OP_pow: return powl(a, b);
    default: return a * powl(2, b);
    }
}

/* Computes a // b or a % b, rounded down as Python rounds. The kind is DIVIDED if there is no
 * result. C rounds to 0, so 1 is taken off a negative quotient that is not exact. p->op is // or
 * %. */
static number divide(const rd_phrase *p, int64_t a, int64_t b)
{
    int64_t value;

    if (b == 0 || (b == -1 && a == INT64_MIN))
        return (number){ .kind = DIVIDED, .whole = a, .quotient = p, .divisor = b };
    value = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return whole_number(p->op == RD_OP_remainder ? a - value * b : value);
}

/* Computes a binary operator of two numbers that are known when the text is read. The result
 * becomes BEYOND, a float, if 64 bits are too few, which only + - *, powers and shifts
 * (`raises`) can do. A DIVIDED operand, a quotient without a value, stays one. Of any other
 * operator the value is unknown. `grows`: the operator is + - or *; RD_WHOLE_FITS: the result is
 * exact in 64 bits. A power or shift by a negative number is unknown. */
static number combine(const rd_phrase *p, const number *a, const number *b)
{
    const bool grows  = p->op == RD_OP_add || p->op == RD_OP_sub || p->op == RD_OP_mul;
    const bool raises = (p->op == RD_OP_pow || p->op == RD_OP_shift_left) && b->real >= 0;
    int64_t    value  = 0;

    if (a->kind == DIVIDED || b->kind == DIVIDED)
        return a->kind == DIVIDED ? *a : *b;
    if (a->kind == WHOLE && b->kind == WHOLE) {
        if (p->op == RD_OP_floordiv || p->op == RD_OP_remainder)
            return divide(p, a->whole, b->whole);
        if (rd_whole_result(p->op, a->whole, b->whole, &value) == RD_WHOLE_FITS)
            return whole_number(value);
    }
    if (!grows && !raises)
        return (number){ 0 };
    return (number){ .kind = BEYOND, .real = real_result(p->op, a->real, b->real) };
}

static number number_of(rd_formula_reader *r, const rd_phrase *p);

/* Computes -a for a known number, also one beyond 64 bits; of another unary operator the value
 * is unknown. A DIVIDED number, a quotient without a value, stays one. -a of the least number is
 * BEYOND 64 bits. */
static number negate(rd_formula_reader *r, const rd_phrase *p)
{
    const number a = p->op == RD_OP_neg ? number_of(r, p->first) : (number){ 0 };
    int64_t      value;

    if (a.kind == DIVIDED)
        return a;
    if (a.kind == WHOLE && !__builtin_sub_overflow((int64_t)0, a.whole, &value))
        return whole_number(value);
    return (number){ .kind = a.kind ? BEYOND : NO_NUMBER, .real = -a.real };
}

/* Evaluates a binary operator, if both operands are known. */
static number combine_operands(rd_formula_reader *r, const rd_phrase *p)
{
    const number a = number_of(r, p->first), b = a.kind ? number_of(r, p->last) : a;

    return a.kind && b.kind ? combine(p, &a, &b) : (number){ 0 };
}

/* True if p is size(x), size(x, axis) or len(x). */
bool rd_formula_is_size(const rd_formula_reader *r, const rd_phrase *p)
{
    return p->kind == RD_PHRASE_CALL && (rd_formula_is(r, p->at, p->length, "size") ||
                                         rd_formula_is(r, p->at, p->length, "len"));
}

/* Evaluates size(x), size(x, axis) or len(x), which is the extent of axis 0. False: x has
 * indices, or is not built yet. p->first is x and the next argument the axis, perhaps as a
 * keyword (then `first` is its value). x->x is the built array, and `labelled` says that it has
 * indices. Without an axis, size(x) is the number of elements, 0 if any extent is; "size" has 4
 * bytes, "len" 3. */
static bool read_size(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    rd_phrase *x = p->first, *axis = x ? x->next : NULL;
    int64_t    k;

    if (!x || x->labelled || !rd_formula_is_size(r, p))
        return false;
    if (!x->x) /* built.c builds the operand of size() first */
        return false;
    if (!axis && p->length == 4) { /* size, not len */
        *value = rd_points(x->x->rank, x->x->extent);
        for (int a = 0; a < x->x->rank; a++)
            *value = x->x->extent[a] ? *value : 0;
        return true;
    }
    k = 0;
    if (axis && axis->kind == RD_PHRASE_KEYWORD)
        axis = axis->first;
    if (axis && !rd_formula_need_integer(r, axis, "axis", &k))
        return false;
    if (k < -x->x->rank || k >= x->x->rank)
        return rd_formula_fail(r, RD_ERR_AXIS, p->at, "no axis %lld in an operand of rank %d",
                               (long long)k, (int)x->x->rank);
    *value = x->x->extent[k < 0 ? k + x->x->rank : k];
    return true;
}

/* True if an earlier statement of that name is a whole number; *value becomes the number. */
static bool integer_of_name(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const rd_statement *s = rd_formula_statement(r, p->at, p->length);

    if (s)
        *value = s->integer;
    return s && s->whole;
}

/* Evaluates p as a whole number, if it is known when the text is read: a literal, an earlier
 * result, size(x), or an operator of these. Otherwise the kind is NO_NUMBER. Numbers with
 * indices (`labelled`) are not known. */
static number number_of(rd_formula_reader *r, const rd_phrase *p)
{
    int64_t value = 0;

    if (p->labelled || r->failed)
        return (number){ 0 };
    switch (p->kind) {
    case RD_PHRASE_NUMBER: return p->whole ? whole_number(p->integer) : (number){ 0 };
    case RD_PHRASE_NAME: return integer_of_name(r, p, &value) ? whole_number(value) : (number){ 0 };
    case RD_PHRASE_CALL: return read_size(r, p, &value) ? whole_number(value) : (number){ 0 };
    case RD_PHRASE_UNARY: return negate(r, p);
    case RD_PHRASE_BINARY: return combine_operands(r, p);
    default: return (number){ 0 };
    }
}

/* True if the number fits in 64 bits, or is unknown; records an error if it is out of range or a
 * quotient without a value. p is where the caret of the error stands; n->quotient is the
 * division. */
static bool is_usable(rd_formula_reader *r, const rd_phrase *p, const number *n)
{
    if (n->kind == BEYOND)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond 64 bits");
    return n->kind != DIVIDED ||
           rd_formula_fail(r, RD_ERR_ARGUMENT, n->quotient->at, "%lld divided by %lld",
                           (long long)n->whole, (long long)n->divisor);
}

/* Evaluates p as a whole number, if it is known now. False: it is not, or an error is recorded.
 * *value is the number if the result is true. */
bool rd_formula_integer(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const number n = number_of(r, p);

    *value = n.whole;
    return is_usable(r, p, &n) && n.kind == WHOLE;
}

/* True if p is a known whole number beyond 64 bits; *value becomes the nearest double. */
bool rd_formula_beyond(rd_formula_reader *r, const rd_phrase *p, double *value)
{
    const number n = number_of(r, p);

    *value = (double)n.real;
    return n.kind == BEYOND;
}

/* Evaluates p as a whole number, and records an error about `what` if it is none. */
bool rd_formula_need_integer(rd_formula_reader *r, const rd_phrase *p, const char *what,
                             int64_t *value)
{
    if (rd_formula_integer(r, p, value))
        return true;
    return rd_formula_fail(r, RD_ERR_TEXT, p->at, "%s is a whole number that the text says", what);
}

/* Computes + - * / of two reals. False: p is another operator. */
static bool real_of_two(const rd_phrase *p, double a, double b, double *value)
{
    switch (p->op) {
    case RD_OP_add: *value = a + b; return true;
    case RD_OP_sub: *value = a - b; return true;
    case RD_OP_mul: *value = a * b; return true;
    case RD_OP_div: *value = a / b; return true;
    default: return false;
    }
}

/* Evaluates p as a real number that is known when the text is read: a literal, inf, pi, nan, or
 * + - * / of such numbers. False: it is none, or an error is recorded. n.kind is not 0 for whole
 * numbers, of which those beyond 64 bits count as reals here. NaN is a value only under its own
 * name. */
bool rd_formula_real(rd_formula_reader *r, const rd_phrase *p, double *value)
{
    const number n = number_of(r, p);
    double       a = 0, b = 0;

    if (n.kind) {
        *value = (double)n.real;
        return n.kind == BEYOND || is_usable(r, p, &n);
    }
    if (p->kind == RD_PHRASE_NUMBER) {
        *value = p->real;
        return !p->imaginary;
    }
    if (p->kind == RD_PHRASE_NAME) {
        *value = rd_formula_is(r, p->at, p->length, "inf")  ? INFINITY
                 : rd_formula_is(r, p->at, p->length, "pi") ? 3.14159265358979323846
                                                            : NAN;
        return *value == *value || rd_formula_is(r, p->at, p->length, "nan");
    }
    if (p->kind == RD_PHRASE_UNARY && p->op == RD_OP_neg && rd_formula_real(r, p->first, &a)) {
        *value = -a;
        return true;
    }
    return p->kind == RD_PHRASE_BINARY && rd_formula_real(r, p->first, &a) &&
           rd_formula_real(r, p->last, &b) && real_of_two(p, a, b, value);
}
