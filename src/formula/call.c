/* call.c - evaluates name(arguments): a reducer, a scan, a row of functions.def, a type, an
 * operator. A value has *labels*, the numbers of its indices; a *whole array* has none. */
#include "formula/formula.h"
#include <string.h>

/* Returns the value that stands for a failure: x is NULL. Its argument is the NULL that
 * rd_formula_fail() returns, so that recording and returning are one expression. */
static rd_labelled failed(void *nothing)
{
    (void)nothing;
    return (rd_labelled){ 0 };
}

/* Broadcasts the n operands v of an elementwise function to common indices (`all` are their
 * labels, i.e. numbers); without indices they broadcast as arrays, by names of axes. x: the
 * views. False after an error. v[k].x NULL: an operand that is not given, which stays NULL. */
static bool broadcast_operands(rd_formula_reader *r, const rd_phrase *p, int n,
                               const rd_labelled *v, rd_labelled *all, rd_expr **x)
{
    if (!rd_labelled_union(r, n, v, p->at, all))
        return false;
    for (int k = 0; k < n; k++) {
        x[k] = rd_labelled_seen(r, &v[k], all, /*whole=*/false, p->at);
        if (v[k].x && !x[k])
            return false;
    }
    return all->n || rd_formula_broadcast_by_names(r, n, x, /*into=*/false, p->at);
}

/* Calls a function of functions.def. Operands of an elementwise function broadcast; others take
 * arrays without indices. The caller (the program that gave the text) is told what was made.
 * p->skip_nan: the name began with "nan", which sets that keyword. x is NULL after an error.
 * f->sort says what the function takes: MAPS is elementwise; f->build makes the node. all.x is
 * the result and `all` its indices; a->x[k].n counts the indices of argument k. */
static rd_labelled call_row(const rd_phrase *p, const rd_formula_function *f, rd_arguments *a)
{
    rd_formula_reader *r   = a->r;
    rd_labelled        all = { 0 };
    rd_expr           *x[RD_ARGUMENTS];

    if (f->sort == RD_FORMULA_MAPS) {
        if (!broadcast_operands(r, p, a->n, a->x, &all, x))
            return failed(NULL);
        for (int k = 0; k < a->n; k++)
            a->x[k].x = x[k];
    }
    for (int k = 0; k < a->n && f->sort != RD_FORMULA_MAPS; k++)
        if (a->x[k].n)
            return failed(rd_formula_fail(r, RD_ERR_ARGUMENT, a->given[k]->at,
                                          "%.*s takes whole arrays, and this has indices",
                                          (int)p->length, r->text + p->at));
    if ((f->sort != RD_FORMULA_MAPS && !rd_formula_prepare_arguments(a)) ||
        !rd_formula_alike_arguments(a, f->name))
        return failed(NULL);
    for (int k = 0; k < a->n; k++)
        a->i[k] |= p->skip_nan && !strncmp(a->name[k], "skip_nan", 8);
    all.x = rd_formula_made(r, f->build(a), p->at);
    rd_formula_grouped(a, all.x);
    for (int k = 0; k < a->n; k++)
        x[k] = a->x[k].x;
    rd_formula_told(r, all.x, f->name, a->n, x);
    return all;
}

/* Calls a type, as in float32(x): a cast. It keeps the indices of its operand. x is NULL after
 * an error. */
static rd_labelled call_type(const rd_phrase *p, rd_dtype type, rd_arguments *a)
{
    a->x[0].x = rd_formula_made(a->r, rd_cast(a->x[0].x, type), p->at);
    return a->x[0];
}

/* Calls an operator by its name, as in add(x, y). function: an operator of core/ops.def, or
 * clip. x is NULL after an error. */
static rd_labelled call_operator(const rd_phrase *p, int function, rd_arguments *a)
{
    rd_formula_reader *r = a->r;
    rd_labelled        all;
    rd_expr           *x[RD_ARGUMENTS];

    if (!broadcast_operands(r, p, a->n, a->x, &all, x) ||
        !rd_formula_same_unit(r, function, a->n, x, p->at))
        return failed(NULL);
    all.x = rd_formula_made(r, rd_function_apply(function, r->call, rd_map_op, x), p->at);
    rd_formula_told(r, all.x, function == RD_TEXT_CLIP ? "clip" : rd_op_table[function].name, a->n,
                    x);
    return all;
}

/* Evaluates size(x), size(x, axis) and len(x), which are whole numbers known now, as a number. x
 * is NULL after an error. */
static rd_labelled call_size(rd_formula_reader *r, const rd_phrase *p)
{
    int64_t n;

    if (!rd_formula_integer(r, p, &n))
        return failed(rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                                      "%.*s takes an array without indices, and an axis",
                                      (int)p->length, r->text + p->at));
    return (rd_labelled){ .x = rd_formula_made(r, rd_int(r->ctx, n), p->at) };
}

/* True if the name is "nan" and the name of a reduction, as in nanmean(x). *plain becomes mean(x)
 * with skip_nan set. `at` and `length` are its name in the text. False: it is none, and *plain
 * is to be ignored. */
bool rd_formula_without_nan(const rd_formula_reader *r, const rd_phrase *p, rd_phrase *plain)
{
    *plain = *p;
    if (p->length <= 3 || memcmp(r->text + p->at, "nan", 3) != 0)
        return false;
    plain->at += 3;
    plain->length -= 3;
    plain->skip_nan = true;
    return rd_formula_reduces(r, plain->at, plain->length);
}

/* ---- Functions that the caller has, month(time) ---------------------------------------------- */
/* True if the caller (the program that gave the text) may have functions of its own. Records an
 * error if it has this one, but an argument has indices: it is asked without operands, and its
 * sentence in r->why tells that it has the function. p->labelled: an argument contains an index.
 * axes->call is the caller's function for all of its functions. False: it has none, or after
 * that error. */
bool rd_formula_may_ask(rd_formula_reader *r, const rd_phrase *p)
{
    const rd_formula_axes *axes = r->opts->axes;
    char                   name[RD_FORMULA_NAME + 1];
    rd_expr               *none[1] = { NULL };

    if (!axes || !axes->call)
        return false;
    memcpy(name, r->text + p->at, p->length);
    name[p->length] = '\0';
    *r->why         = '\0';
    if (p->labelled && !axes->call(r->opts->user, r->ctx, name, 0, none, r->why) && *r->why)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                               "%s() takes whole arrays: indices stand behind it, as in "
                               "month(time)[t]",
                               name);
    return true;
}

/* Lets the caller (the program that gave the text) evaluate the function p of the n operands x.
 * NULL without an error: it has no such function. An error is a reason in r->why, or one that
 * the context has recorded. */
rd_expr *rd_formula_ask(rd_formula_reader *r, const rd_phrase *p, int n, rd_expr **x)
{
    char name[RD_FORMULA_NAME + 1];

    memcpy(name, r->text + p->at, p->length);
    name[p->length]     = '\0';
    *r->why             = '\0';
    rd_expr *const made = r->opts->axes->call(r->opts->user, r->ctx, name, n, x, r->why);
    return made || *r->why || rd_error(r->ctx) != RD_OK ? rd_formula_answer(r, made, p->at) : NULL;
}

/* ---- Which function -------------------------------------------------------------------------- */
/* Finds the operator that a call names, by its name here or in another library. -1: none. `word`
 * is the name here of a function that other libraries call otherwise; NULL: none. */
static int operator_called(const rd_formula_reader *r, const rd_phrase *p)
{
    const char *word = rd_formula_word(r, p->at, p->length);

    return rd_function_find(word ? word : r->text + p->at, word ? strlen(word) : p->length,
                            RD_AUTO);
}

/* True if the name is "cum" and the name of a reducer, as in cumsum(x). */
static bool is_scan(const rd_formula_reader *r, const rd_phrase *p)
{
    return p->length > 3 && !memcmp(r->text + p->at, "cum", 3) &&
           rd_formula_is_reducer(r, p->at + 3, p->length - 3);
}

/* Finds what the name of a call means, and the list of its parameters, in this order: reducer,
 * scan, size, function of functions.def, type, operator. The kind is RD_CALLEE_UNKNOWN if it
 * means none of them. `lists` has the parameters of an operator, by their number. */
rd_callee rd_formula_callee(rd_formula_reader *r, const rd_phrase *p)
{
    static const char *const   lists[] = { "", "x", "x y", "x y z" };
    const rd_formula_function *f       = rd_formula_function_called(r, p->at, p->length);
    const rd_dtype             type    = rd_formula_type(r, p->at, p->length);

    if (rd_formula_is_reducer(r, p->at, p->length))
        return (rd_callee){ .kind = RD_CALLEE_REDUCER, .list = rd_formula_reducer_list(r, p) };
    if (is_scan(r, p))
        return (rd_callee){ .kind = RD_CALLEE_SCAN, .list = rd_formula_scan_list() };
    if (rd_formula_is_size(r, p))
        return (rd_callee){ .kind = RD_CALLEE_SIZE };
    if (f)
        return (rd_callee){ .kind = RD_CALLEE_ROW, .list = f->arguments, .row = f };
    if (type)
        return (rd_callee){ .kind = RD_CALLEE_TYPE, .list = "x", .type = type };
    const int function = operator_called(r, p);
    if (function >= 0)
        return (rd_callee){ .kind     = RD_CALLEE_OPERATOR,
                            .list     = lists[rd_function_arity(function)],
                            .function = function };
    return (rd_callee){ .kind = RD_CALLEE_UNKNOWN };
}

/* Records that no function has this name, with advice if the name is known from other libraries. */
rd_labelled rd_formula_no_function(rd_formula_reader *r, const rd_phrase *p)
{
    const char *const name    = r->text + p->at;
    const char *const instead = rd_formula_instead(r, p->at, p->length);

    if (instead)
        return failed(
            rd_formula_fail(r, RD_ERR_TEXT, p->at, "%.*s: %s", (int)p->length, name, instead));
    return failed(rd_formula_fail(r, RD_ERR_TEXT, p->at, "no function is called '%.*s'",
                                  (int)p->length, name));
}

/* Builds the value of a call with its arguments, by what its name means. x is NULL after an
 * error. */
rd_labelled rd_formula_call(rd_formula_reader *r, const rd_phrase *p, const rd_callee *callee,
                            rd_arguments *a)
{
    switch (callee->kind) {
    case RD_CALLEE_REDUCER: return rd_formula_reduce(p, a);
    case RD_CALLEE_SCAN: return rd_formula_scan(p, a);
    case RD_CALLEE_SIZE: return call_size(r, p);
    case RD_CALLEE_ROW: return call_row(p, callee->row, a);
    case RD_CALLEE_TYPE: return call_type(p, callee->type, a);
    case RD_CALLEE_OPERATOR: return call_operator(p, callee->function, a);
    default: return rd_formula_no_function(r, p);
    }
}
