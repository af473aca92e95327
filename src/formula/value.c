/* value.c - evaluates the tree: names, numbers and operators become nodes.
 *
 * The axes of a value with indices are its indices, in ascending order, so operands broadcast by
 * index. A *label* is the number of an index; a piece of the tree is *labelled* if it contains one.
 * After a failure, which is recorded, the x of a value is NULL. */
#include "formula/formula.h"
#include <math.h>
#include <string.h>

/* ---- Maps ------------------------------------------------------------------------------------ */
/* Broadcasts n values to common indices; x[] gets the views, and `all` the labels (numbers of
 * the indices). False: one value has failed, or they do not fit. */
static bool broadcast_labels(rd_formula_reader *r, int n, rd_labelled *v, size_t at,
                             rd_labelled *all, rd_expr **x)
{
    for (int i = 0; i < n; i++)
        if (!v[i].x)
            return false;
    if (!rd_labelled_union(r, n, v, at, all))
        return false;
    for (int i = 0; i < n; i++)
        if (!(x[i] = rd_labelled_seen(r, &v[i], all, /*whole=*/false, at)))
            return false;
    return true;
}

/* Builds an elementwise operator of n values, which broadcast by index, or as arrays; RD_OP_none
 * is a product of matrices. x is NULL after an error. `all` are the indices of all operands, and
 * all.x the result. Operands without indices meet by place or name, and are put in one unit; the
 * caller is told of the result. */
static rd_labelled map_operands(rd_formula_reader *r, rd_op op, int n, rd_labelled *v, size_t at)
{
    rd_expr    *x[3] = { NULL };
    rd_labelled all  = { 0 };

    if (!broadcast_labels(r, n, v, at, &all, x))
        return (rd_labelled){ 0 };
    if (op != RD_OP_none && !all.n && !rd_formula_broadcast_by_names(r, n, x, /*into=*/false, at))
        return (rd_labelled){ 0 };
    if (op == RD_OP_none && all.n)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_ARGUMENT, at,
                                                   "@ takes whole arrays: with indices say "
                                                   "sum[k] a[i, k] * b[k, j]") };
    if (op == RD_OP_none) {
        all.x = rd_formula_made(r, rd_matmul(x[0], x[1]), at);
        return all;
    }
    if (!rd_formula_same_unit(r, (int)op, n, x, at))
        return (rd_labelled){ 0 };
    all.x = rd_formula_made(r, rd_map_op(op, r->call, n, x), at);
    rd_formula_told(r, all.x, rd_op_table[op].name, n, x);
    return all;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */
/* Builds the constant of a name: true, false, pi, inf, nan. NULL: no constant has that name. */
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

/* Builds the values of an index as an array along its own axis: low, low + 1, .. l->n is how
 * many values there are. x is NULL after an error. */
static rd_labelled index_value(rd_formula_reader *r, const rd_phrase *p)
{
    const rd_formula_label *l = &r->label[p->label];
    rd_expr                *x = rd_coord(rd_broadcast(rd_int(r->ctx, 0), RD_SHAPE(l->n)), 0);
    rd_labelled             v = { .n = 1, .label = { (int16_t)p->label } };

    v.x = rd_formula_made(r, l->low ? rd_add(x, rd_int(r->ctx, l->low)) : x, p->at);
    return v;
}

/* Finds an index of that name in a reduction whose body ends before p, to give advice. NULL:
 * there is none. `visible`: in scope. */
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

/* Records that the name means nothing, with advice for common mistakes. ended_index(): a
 * reduction that ends before has an index of that name. Returns x NULL. */
static rd_labelled refuse_name(rd_formula_reader *r, const rd_phrase *p)
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

/* Evaluates a name: an index, an array or a constant. p->label >= 0: it is an index. x is NULL
 * after an error. */
static rd_labelled name_value(rd_formula_reader *r, const rd_phrase *p)
{
    rd_expr *x;

    if (p->label >= 0)
        return index_value(r, p);
    x = rd_formula_array(r, p->at, p->length);
    if (!x && !r->failed)
        x = constant(r, p);
    if (!x && !r->failed)
        return refuse_name(r, p);
    return (rd_labelled){ .x = x };
}

/* ---- Whole numbers beyond 64 bits ------------------------------------------------------------ */
/* True if p is a known whole number beyond 64 bits. */
static bool is_beyond(rd_formula_reader *r, const rd_phrase *p)
{
    double value;

    return rd_formula_beyond(r, p, &value);
}

/* Builds a whole number beyond 64 bits as a float. NULL: p is no such number, or it is beyond
 * all floats, which is recorded. */
static rd_expr *float_beyond(rd_formula_reader *r, const rd_phrase *p)
{
    double value;

    if (!rd_formula_beyond(r, p, &value))
        return NULL;
    if (!isfinite(value))
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at, "a whole number beyond all floats");
    return rd_formula_made(r, rd_num(r->ctx, value), p->at);
}

/* Checks the operands q of an operator, with values v, for whole numbers beyond 64 bits. Beside
 * a float such a number becomes a float; beside an int, or another such number, it is an error.
 * A division gives floats in any case. False after recording the error. big[k]: operand k is
 * such a number. A failed operand (x NULL) has recorded its error. */
static bool check_beyond(rd_formula_reader *r, const rd_phrase *p, rd_op op,
                         const rd_phrase *const q[2], const rd_labelled v[2])
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

/* ---- Operators ------------------------------------------------------------------------------- */
/* Evaluates a unary operator. A negated number beyond 64 bits becomes a float. float_beyond() is
 * NULL for other numbers, or after an error. */
static rd_labelled unary(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v  = { .x = float_beyond(r, p) };
    rd_op       op = p->op;

    if (v.x || r->failed)
        return v;
    v = rd_formula_value(r, p->first);
    /* ~ of a bool is its logical negation, as in NumPy. */
    if (op == RD_OP_bit_not && v.x && v.x->type == RD_BOOL)
        op = RD_OP_not;
    return map_operands(r, op, 1, &v, p->at);
}

/* Evaluates a binary operator. If both operands are known numbers and the result is beyond 64
 * bits, it becomes a float. x is NULL after an error. float_beyond() is NULL for other numbers,
 * or after an error. */
static rd_labelled binary(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[2] = { { .x = float_beyond(r, p) } };

    if (v[0].x || r->failed)
        return v[0];
    v[0] = rd_formula_value(r, p->first);
    if (v[0].x)
        v[1] = rd_formula_value(r, p->last);
    if (!check_beyond(r, p, p->op, (const rd_phrase *const[]){ p->first, p->last }, v))
        return (rd_labelled){ 0 };
    return map_operands(r, p->op, 2, v, p->at);
}

/* Evaluates a chain of comparisons, a < b <= c, as (a < b) and (b <= c). v are the operands of a
 * link, `left` the piece of the first of them, and both[0] the conjunction so far. x is NULL
 * after an error. */
static rd_labelled compare(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[2] = { rd_formula_value(r, p->first) }, both[2] = { { 0 } };
    rd_phrase  *left = p->first;

    for (rd_phrase *link = p->first->next; link && v[0].x; link = link->next) {
        v[1] = rd_formula_value(r, link->first);
        if (!check_beyond(r, link, link->op, (const rd_phrase *const[]){ left, link->first }, v))
            return (rd_labelled){ 0 };
        both[1] = map_operands(r, link->op, 2, v, link->at);
        both[0] = both[0].x ? map_operands(r, RD_OP_and, 2, both, link->at) : both[1];
        v[0]    = v[1];
        left    = link->first;
        if (!both[0].x || !both[1].x)
            return (rd_labelled){ 0 };
    }
    return both[0];
}

/* Evaluates c ? a : b of arrays, element by element: both a and b are computed. x is NULL after
 * an error. q goes through c, a and b; check_beyond() is of a and b, v[1] and v[2]. */
static rd_labelled choose(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v[3] = { { 0 } };
    rd_phrase  *q    = p->first;

    for (int k = 0; k < 3; k++, q = q->next) {
        v[k] = rd_formula_value(r, q);
        if (!v[k].x)
            return (rd_labelled){ 0 };
    }
    q = p->first->next;
    if (!check_beyond(r, p, RD_OP_where, (const rd_phrase *const[]){ q, q->next }, v + 1))
        return (rd_labelled){ 0 };
    return map_operands(r, RD_OP_where, 3, v, p->at);
}

/* Evaluates x.T, the last two axes of a whole array swapped. v.n counts indices. x is NULL after
 * an error. */
static rd_labelled transpose(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v = rd_formula_value(r, p->first);

    if (v.n)
        return (rd_labelled){ .x = rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                                                   "T is of whole arrays: swap the indices") };
    v.x = v.x ? rd_formula_made(r, rd_transpose(v.x), p->at) : NULL;
    return v;
}

/* Records that `what`, a text or a list, is no operand. */
static rd_labelled refuse_misplaced(rd_formula_reader *r, const rd_phrase *p, const char *what)
{
    return (rd_labelled){ .x = rd_formula_fail(
                              r, RD_ERR_TEXT, p->at,
                              "%s cannot stand here, where an array is read%s", what,
                              p->kind == RD_PHRASE_TEXT ? ": texts are coordinates, as in "
                                                          "x[time='1990-06'], and names of axes"
                                                        : "") };
}

/* Builds a literal: imaginary, whole or real. All are weak numbers: they take the type of what
 * they meet. */
static rd_expr *build_number(rd_formula_reader *r, const rd_phrase *p)
{
    if (p->imaginary)
        return rd_cnum(r->ctx, 0, p->real);
    return p->whole ? rd_int(r->ctx, p->integer) : rd_num(r->ctx, p->real);
}

/* Evaluates a piece of the tree by its kind. */
static rd_labelled value_of_kind(rd_formula_reader *r, rd_phrase *p)
{
    switch (p->kind) {
    case RD_PHRASE_NUMBER:
        return (rd_labelled){ .x = rd_formula_made(r, build_number(r, p), p->at) };
    case RD_PHRASE_NAME: return name_value(r, p);
    case RD_PHRASE_UNARY: return unary(r, p);
    case RD_PHRASE_BINARY: return binary(r, p);
    case RD_PHRASE_COMPARE: return compare(r, p);
    case RD_PHRASE_CHOICE: return choose(r, p);
    case RD_PHRASE_CALL:
    case RD_PHRASE_REDUCE: return rd_formula_apply(r, p);
    case RD_PHRASE_AT: return rd_formula_subscripts(r, p);
    case RD_PHRASE_TRANSPOSED: return transpose(r, p);
    case RD_PHRASE_TEXT: return refuse_misplaced(r, p, "a text");
    default: return refuse_misplaced(r, p, "a list"); /* no other kind is an operand */
    }
}

/* Evaluates p, a node of the syntax tree. One without indices (labelled) is evaluated once, even
 * if its shape and its values are both asked for: p->x keeps its value. x is NULL after an
 * error. v.n counts indices of the value. */
rd_labelled rd_formula_value(rd_formula_reader *r, rd_phrase *p)
{
    rd_labelled v = { 0 };

    if (r->failed)
        return v;
    if (!p->labelled && p->x)
        return (rd_labelled){ .x = p->x };
    v = value_of_kind(r, p);
    if (!p->labelled && !v.n)
        p->x = v.x;
    return v;
}
