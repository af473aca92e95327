/* constant.c - numbers that a formula's text alone, and shapes, say: axes, bounds, places. */
#include "formula/formula.h"
#include <math.h>

static bool apply(rd_formula_reader *r, const rd_phrase *p, int64_t a, int64_t b, int64_t *value)
{
    bool over = false;

    switch (p->op) {
    case RD_OP_add: over = __builtin_add_overflow(a, b, value); break;
    case RD_OP_sub: over = __builtin_sub_overflow(a, b, value); break;
    case RD_OP_mul: over = __builtin_mul_overflow(a, b, value); break;
    case RD_OP_floordiv:
    case RD_OP_remainder:
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "%lld divided by %lld", (long long)a,
                                   (long long)b);
        *value = a / b - (a % b != 0 && (a < 0) != (b < 0));
        if (p->op == RD_OP_remainder)
            *value = a - *value * b;
        break;
    default: return false;
    }
    return !over || rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond 64 bits");
}

/* size(x), size(x, axis) */
static bool size(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    rd_phrase *x = p->first, *axis = x ? x->next : NULL;
    int64_t    k;

    if (!x || x->labelled ||
        (!rd_formula_is(r, p->at, p->length, "size") && !rd_formula_is(r, p->at, p->length, "len")))
        return false;
    const rd_labelled v = rd_formula_value(r, x);
    if (!v.x)
        return false;
    if (!axis && p->length == 4) {
        *value = rd_points(v.x->rank, v.x->extent);
        for (int a = 0; a < v.x->rank; a++)
            *value = v.x->extent[a] ? *value : 0;
        return true;
    }
    k = 0;
    if (axis && axis->kind == RD_PHRASE_KEYWORD)
        axis = axis->first;
    if (axis && !rd_formula_need_integer(r, axis, "axis", &k))
        return false;
    if (k < -v.x->rank || k >= v.x->rank)
        return rd_formula_fail(r, RD_ERR_AXIS, p->at, "no axis %lld in an operand of rank %d",
                               (long long)k, (int)v.x->rank);
    *value = v.x->extent[k < 0 ? k + v.x->rank : k];
    return true;
}

static bool of_name(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const rd_statement *s = p->label < 0 ? rd_formula_statement(r, p->at, p->length) : NULL;

    if (s)
        *value = s->integer;
    return s && s->whole;
}

bool rd_formula_integer(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    int64_t a = 0, b = 0;

    if (p->labelled || r->failed)
        return false;
    switch (p->kind) {
    case RD_PHRASE_NUMBER: *value = p->integer; return p->whole;
    case RD_PHRASE_NAME: return of_name(r, p, value);
    case RD_PHRASE_CALL: return size(r, p, value);
    case RD_PHRASE_UNARY:
        return p->op == RD_OP_neg && rd_formula_integer(r, p->first, &a) &&
               (!__builtin_sub_overflow((int64_t)0, a, value) ||
                rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond 64 bits"));
    case RD_PHRASE_BINARY:
        return rd_formula_integer(r, p->first, &a) && rd_formula_integer(r, p->last, &b) &&
               apply(r, p, a, b, value);
    default: return false;
    }
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
    int64_t whole = 0;
    double  a = 0, b = 0;

    if (rd_formula_integer(r, p, &whole)) {
        *value = (double)whole;
        return true;
    }
    if (p->kind == RD_PHRASE_NUMBER) {
        *value = p->real;
        return true;
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
