/* constant.c - numbers that a formula's text alone, and shapes, say: axes, bounds, places. */
#include "core/whole.h"
#include "formula/formula.h"
#include <math.h>

/* Is a part of a formula a whole number that is known when the text is read? */
typedef enum number_kind {
    NO_NUMBER, /* no whole number that is known now */
    WHOLE,
    BEYOND, /* one, but beyond 64 bits */
    DIVIDED /* by 0, or the least number by -1 */
} number_kind;

typedef struct number {
    number_kind      kind;
    int64_t          whole;
    long double      real;     /* as well */
    const rd_phrase *quotient; /* DIVIDED: which, of whole and divisor */
    int64_t          divisor;
} number;

static number whole_number(int64_t n)
{
    return (number){ .kind = WHOLE, .whole = n, .real = (long double)n };
}

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

static number divided(const rd_phrase *p, int64_t a, int64_t b)
{
    int64_t value;

    if (b == 0 || (b == -1 && a == INT64_MIN))
        return (number){ .kind = DIVIDED, .whole = a, .quotient = p, .divisor = b };
    value = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return whole_number(p->op == RD_OP_remainder ? a - value * b : value);
}

static number apply(const rd_phrase *p, const number *a, const number *b)
{
    const bool grows  = p->op == RD_OP_add || p->op == RD_OP_sub || p->op == RD_OP_mul;
    const bool raises = (p->op == RD_OP_pow || p->op == RD_OP_shift_left) && b->real >= 0;
    int64_t    value  = 0;

    if (a->kind == DIVIDED || b->kind == DIVIDED)
        return a->kind == DIVIDED ? *a : *b;
    if (a->kind == WHOLE && b->kind == WHOLE) {
        if (p->op == RD_OP_floordiv || p->op == RD_OP_remainder)
            return divided(p, a->whole, b->whole);
        if (rd_whole_result(p->op, a->whole, b->whole, &value) == RD_WHOLE_FITS)
            return whole_number(value);
    }
    if (!grows && !raises)
        return (number){ 0 };
    return (number){ .kind = BEYOND, .real = real_result(p->op, a->real, b->real) };
}

static number number_of(rd_formula_reader *r, const rd_phrase *p);

static number negated(rd_formula_reader *r, const rd_phrase *p)
{
    const number a = p->op == RD_OP_neg ? number_of(r, p->first) : (number){ 0 };
    int64_t      value;

    if (a.kind == DIVIDED)
        return a;
    if (a.kind == WHOLE && !__builtin_sub_overflow((int64_t)0, a.whole, &value))
        return whole_number(value);
    return (number){ .kind = a.kind ? BEYOND : NO_NUMBER, .real = -a.real };
}

static number of_two(rd_formula_reader *r, const rd_phrase *p)
{
    const number a = number_of(r, p->first), b = a.kind ? number_of(r, p->last) : a;

    return a.kind && b.kind ? apply(p, &a, &b) : (number){ 0 };
}

/* size(x), size(x, axis), len(x) */
bool rd_formula_is_size(const rd_formula_reader *r, const rd_phrase *p)
{
    return p->kind == RD_PHRASE_CALL && (rd_formula_is(r, p->at, p->length, "size") ||
                                         rd_formula_is(r, p->at, p->length, "len"));
}

static bool size(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    rd_phrase *x = p->first, *axis = x ? x->next : NULL;
    int64_t    k;

    if (!x || x->labelled || !rd_formula_is_size(r, p))
        return false;
    if (!x->x) /* what has a size was built before: built.c */
        return false;
    if (!axis && p->length == 4) {
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

static bool of_name(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const rd_statement *s = rd_formula_statement(r, p->at, p->length);

    if (s)
        *value = s->integer;
    return s && s->whole;
}

static number number_of(rd_formula_reader *r, const rd_phrase *p)
{
    int64_t value = 0;

    if (p->labelled || r->failed)
        return (number){ 0 };
    switch (p->kind) {
    case RD_PHRASE_NUMBER: return p->whole ? whole_number(p->integer) : (number){ 0 };
    case RD_PHRASE_NAME: return of_name(r, p, &value) ? whole_number(value) : (number){ 0 };
    case RD_PHRASE_CALL: return size(r, p, &value) ? whole_number(value) : (number){ 0 };
    case RD_PHRASE_UNARY: return negated(r, p);
    case RD_PHRASE_BINARY: return of_two(r, p);
    default: return (number){ 0 };
    }
}

/* Why the number is of no use, if it is not. */
static bool is_usable(rd_formula_reader *r, const rd_phrase *p, const number *n)
{
    if (n->kind == BEYOND)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond 64 bits");
    return n->kind != DIVIDED ||
           rd_formula_fail(r, RD_ERR_ARGUMENT, n->quotient->at, "%lld divided by %lld",
                           (long long)n->whole, (long long)n->divisor);
}

bool rd_formula_integer(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const number n = number_of(r, p);

    *value = n.whole;
    return is_usable(r, p, &n) && n.kind == WHOLE;
}

bool rd_formula_beyond(rd_formula_reader *r, const rd_phrase *p, double *value)
{
    const number n = number_of(r, p);

    *value = (double)n.real;
    return n.kind == BEYOND;
}

bool rd_formula_need_integer(rd_formula_reader *r, const rd_phrase *p, const char *what,
                             int64_t *value)
{
    if (rd_formula_integer(r, p, value))
        return true;
    return rd_formula_fail(r, RD_ERR_TEXT, p->at, "%s is a whole number that the text says", what);
}

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
