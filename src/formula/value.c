/* value.c - from the tree to nodes: names, numbers, operators.  Axes of what has indices are its
 * indices, ascending, so that operands meet index by index. */
#include "formula/formula.h"
#include <math.h>
#include <string.h>

/* ---- Maps ---------------------------------------------------------------------------------------- */
/* Operands, index by index. */
static bool meet(rd_formula_reader *r, int n, rd_labelled *v, size_t at, rd_labelled *all,
                 rd_expr **x)
{
    for (int i = 0; i < n; i++)
        if (!v[i].x)
            return false;
    if (!rd_labelled_union(r, n, v, at, all))
        return false;
    for (int i = 0; i < n; i++)
        if (!(x[i] = rd_labelled_seen(r, &v[i], all, false, at)))
            return false;
    return true;
}

static rd_labelled map(rd_formula_reader *r, rd_op op, int n, rd_labelled *v, size_t at)
{
    rd_expr    *x[3] = { NULL };
    rd_labelled all  = { 0 };

    if (!meet(r, n, v, at, &all, x))
        return (rd_labelled){ 0 };
    if (op != RD_OP_none && !all.n && !rd_formula_meet(r, n, x, false, at))
        return (rd_labelled){ 0 };
    if (op == RD_OP_none && all.n)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_ARGUMENT, at,
                                                   "@ takes whole arrays: with indices say "
                                                   "sum[k] a[i, k] * b[k, j]") };
    if (op == RD_OP_none) {
        all.x = rd_formula_made(r, rd_matmul(x[0], x[1]), at);
        return all;
    }
    if (!rd_formula_alike(r, (int)op, n, x, at))
        return (rd_labelled){ 0 };
    all.x = rd_formula_made(r, rd_map_op(op, r->call, n, x), at);
    rd_formula_told(r, all.x, rd_op_table[op].name, n, x);
    return all;
}

/* ---- Pieces ------------------------------------------------------------------------------------ */
static rd_expr *constant(rd_formula_reader *r, const rd_phrase *p)
{
    const bool is_true =
        rd_formula_is(r, p->at, p->length, "true") || rd_formula_is(r, p->at, p->length, "True");
    double value = 0;

    if (is_true || rd_formula_is(r, p->at, p->length, "false") ||
        rd_formula_is(r, p->at, p->length, "False"))
        return rd_number(r->ctx, RD_BOOL, rd_word_from_int(is_true, RD_BOOL));
    return rd_formula_real(r, p, &value) ? rd_num(r->ctx, value) : NULL;
}

/* 0, 1, ... from where the index begins. */
static rd_labelled index_value(rd_formula_reader *r, const rd_phrase *p)
{
    const rd_formula_label *l = &r->label[p->label];
    rd_expr                *x = rd_coord(rd_broadcast(rd_int(r->ctx, 0), RD_SHAPE(l->n)), 0);
    rd_labelled             v = { .n = 1, .label = { (int16_t)p->label } };

    v.x = rd_formula_made(r, l->low ? rd_add(x, rd_int(r->ctx, l->low)) : x, p->at);
    return v;
}

/* The index of that name of a reduction whose body has ended before `p`; NULL: there is none. */
static const rd_formula_label *ended_index(const rd_formula_reader *r, const rd_phrase *p)
{
    for (int k = r->n_labels; k-- > 0;) {
        const rd_formula_label *l = &r->label[k];

        if (!l->visible && l->at < p->at && l->length == p->length &&
            !memcmp(r->text + l->at, r->text + p->at, p->length))
            return l;
    }
    return NULL;
}

static rd_labelled no_name(rd_formula_reader *r, const rd_phrase *p)
{
    const int   n    = (int)p->length;
    const char *name = r->text + p->at;

    if (ended_index(r, p))
        rd_formula_fail(r, RD_ERR_TEXT, p->at,
                        "'%.*s' is the index of a reduction whose body ends before this: a body "
                        "goes up to +, -, a comparison or a comma.  Put it in parentheses, as in "
                        "mean[k] (a[k] != b[k])",
                        n, name);
    else if (rd_formula_is_module(r, p->at, p->length))
        rd_formula_fail(r, RD_ERR_TEXT, p->at,
                        "functions stand alone here: mean(x, axis=0), and not %.*s.mean(x, axis=0)",
                        n, name);
    else
        rd_formula_fail(r, RD_ERR_TEXT, p->at, "no array%s is called '%.*s'",
                        r->n_labels ? " and no index that is known here" : "", n, name);
    return (rd_labelled){ 0 };
}

static rd_labelled name_value(rd_formula_reader *r, const rd_phrase *p)
{
    rd_expr *x;

    if (p->label >= 0)
        return index_value(r, p);
    x = rd_formula_array(r, p->at, p->length);
    if (!x && !r->failed)
        x = constant(r, p);
    if (!x && !r->failed)
        return no_name(r, p);
    return (rd_labelled){ .x = x };
}

/* ---- Whole numbers beyond 64 bits -------------------------------------------------------------- */
static bool is_beyond(rd_formula_reader *r, const rd_phrase *p)
{
    double value;

    return rd_formula_beyond(r, p, &value);
}

/* The number that the text says, as a float; NULL: it says none, or one that no float is. */
static rd_expr *beyond(rd_formula_reader *r, const rd_phrase *p)
{
    double value;

    if (!rd_formula_beyond(r, p, &value))
        return NULL;
    if (!isfinite(value))
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond all floats");
    return rd_formula_made(r, rd_num(r->ctx, value), p->at);
}

/* Operands of an operator other than a division, whose quotient is a float: beside an int, and
 * wherever whole numbers are meant, no float takes the number's place without a word. */
static bool fit(rd_formula_reader *r, const rd_phrase *p, rd_op op, const rd_phrase *const q[2],
                const rd_labelled v[2])
{
    const bool big[2] = { is_beyond(r, q[0]), is_beyond(r, q[1]) };

    if (op == RD_OP_div || !v[0].x || !v[1].x)
        return true;
    for (int k = 0; k < 2; k++)
        if (big[k] && (big[1 - k] || rd_dtype_kind(v[1 - k].x->type) < RD_KIND_FLOAT))
            return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                                   "a whole number beyond 64 bits meets %s: say a float, as 1e20",
                                   big[1 - k] ? "another one" : rd_dtype_name(v[1 - k].x->type));
    return true;
}

/* ---- Operators --------------------------------------------------------------------------------- */
static rd_labelled unary(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v  = { .x = beyond(r, p) };
    rd_op       op = p->op;

    if (v.x || r->failed)
        return v;
    v = rd_formula_value(r, p->first);
    /* Of truths the other one, as NumPy's. */
    if (op == RD_OP_bit_not && v.x && v.x->type == RD_BOOL)
        op = RD_OP_not;
    return map(r, op, 1, &v, p->at);
}

static rd_labelled binary(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[2] = { { .x = beyond(r, p) } };

    if (v[0].x || r->failed)
        return v[0];
    v[0] = rd_formula_value(r, p->first);
    if (v[0].x)
        v[1] = rd_formula_value(r, p->last);
    if (!fit(r, p, p->op, (const rd_phrase *const[]){ p->first, p->last }, v))
        return (rd_labelled){ 0 };
    return map(r, p->op, 2, v, p->at);
}

static rd_labelled compare(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[2] = { rd_formula_value(r, p->first) }, both[2] = { { 0 } };
    rd_phrase  *left = p->first;

    for (rd_phrase *link = p->first->next; link && v[0].x; link = link->next) {
        v[1] = rd_formula_value(r, link->first);
        if (!fit(r, link, link->op, (const rd_phrase *const[]){ left, link->first }, v))
            return (rd_labelled){ 0 };
        both[1] = map(r, link->op, 2, v, link->at);
        both[0] = both[0].x ? map(r, RD_OP_and, 2, both, link->at) : both[1];
        v[0]    = v[1];
        left    = link->first;
        if (!both[0].x || !both[1].x)
            return (rd_labelled){ 0 };
    }
    return both[0];
}

static rd_labelled choice(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[3] = { { 0 } };
    rd_phrase  *q    = p->first;

    for (int k = 0; k < 3; k++, q = q->next) {
        v[k] = rd_formula_value(r, q);
        if (!v[k].x)
            return (rd_labelled){ 0 };
    }
    q = p->first->next;
    if (!fit(r, p, RD_OP_where, (const rd_phrase *const[]){ q, q->next }, v + 1))
        return (rd_labelled){ 0 };
    return map(r, RD_OP_where, 3, v, p->at);
}

static rd_labelled transposed(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v = rd_formula_value(r, p->first);

    if (v.n)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                                                   "T is of whole arrays: swap the indices") };
    v.x = v.x ? rd_formula_made(r, rd_transpose(v.x), p->at) : NULL;
    return v;
}

static rd_labelled misplaced(rd_formula_reader *r, const rd_phrase *p, const char *what)
{
    return (rd_labelled){ .x = rd_formula_fail(
                              r, RD_ERR_TEXT, p->at,
                              "%s cannot stand here, where an array is read%s", what,
                              p->kind == RD_PHRASE_TEXT ? ": texts are coordinates, as in "
                                                          "x[time='1990-06'], and names of axes"
                                                        : "") };
}

static rd_expr *number(rd_formula_reader *r, const rd_phrase *p)
{
    if (p->imaginary)
        return rd_cnum(r->ctx, 0, p->real);
    return p->whole ? rd_int(r->ctx, p->integer) : rd_num(r->ctx, p->real);
}

static rd_labelled value(rd_formula_reader *r, rd_phrase *p)
{
    switch (p->kind) {
    case RD_PHRASE_NUMBER: return (rd_labelled){ .x = rd_formula_made(r, number(r, p), p->at) };
    case RD_PHRASE_NAME: return name_value(r, p);
    case RD_PHRASE_UNARY: return unary(r, p);
    case RD_PHRASE_BINARY: return binary(r, p);
    case RD_PHRASE_COMPARE: return compare(r, p);
    case RD_PHRASE_CHOICE: return choice(r, p);
    case RD_PHRASE_CALL:
    case RD_PHRASE_REDUCE: return rd_formula_apply(r, p);
    case RD_PHRASE_AT: return rd_formula_subscripts(r, p);
    case RD_PHRASE_TRANSPOSED: return transposed(r, p);
    case RD_PHRASE_TEXT: return misplaced(r, p, "a text");
    default: return misplaced(r, p, "a list"); /* no other kind is an operand */
    }
}

/* Builds the value of a phrase once, even if its shape and its values are both asked for. */
rd_labelled rd_formula_value(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v = { 0 };

    if (r->failed)
        return v;
    if (!p->labelled && p->x)
        return (rd_labelled){ .x = p->x };
    v = value(r, p);
    if (!p->labelled && !v.n)
        p->x = v.x;
    return v;
}
