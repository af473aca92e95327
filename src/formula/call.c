/* call.c - name(arguments): reducers, scans, rows of functions.def, types, operators by name. */
#include "formula/formula.h"
#include <string.h>

static rd_labelled failed(void *nothing)
{
    (void)nothing;
    return (rd_labelled){ 0 };
}

/* All operands as one map sees them. */
static bool meet(rd_formula_reader *r, const rd_phrase *p, int n, const rd_labelled *v,
                 rd_labelled *all, rd_expr **x)
{
    if (!rd_labelled_union(r, n, v, p->at, all))
        return false;
    for (int k = 0; k < n; k++) {
        x[k] = rd_labelled_seen(r, &v[k], all, false, p->at);
        if (v[k].x && !x[k])
            return false;
    }
    return all->n || rd_formula_meet(r, n, x, false, p->at);
}

static rd_labelled call_row(rd_formula_reader *r, const rd_phrase *p, const rd_formula_function *f)
{
    rd_arguments a;
    rd_labelled  all = { 0 };
    rd_expr     *x[RD_ARGUMENTS];

    if (!rd_formula_arguments(r, p, f->arguments, &a))
        return failed(NULL);
    if (f->sort == RD_FORMULA_MAPS) {
        if (!meet(r, p, a.n, a.x, &all, x))
            return failed(NULL);
        for (int k = 0; k < a.n; k++)
            a.x[k].x = x[k];
    }
    for (int k = 0; k < a.n && f->sort != RD_FORMULA_MAPS; k++)
        if (a.x[k].n)
            return failed(rd_formula_fail(r, RD_ERR_ARGUMENT, a.given[k]->at,
                                          "%.*s takes whole arrays, and this has indices",
                                          (int)p->length, r->text + p->at));
    if ((f->sort != RD_FORMULA_MAPS && !rd_formula_beside(&a)) ||
        !rd_formula_alike_arguments(&a, f->name))
        return failed(NULL);
    for (int k = 0; k < a.n; k++)
        a.i[k] |= p->skip_nan && !strncmp(a.name[k], "skip_nan", 8);
    all.x = rd_formula_made(r, f->build(&a), p->at);
    rd_formula_grouped(&a, all.x);
    for (int k = 0; k < a.n; k++)
        x[k] = a.x[k].x;
    rd_formula_told(r, all.x, f->name, a.n, x);
    return all;
}

static rd_labelled call_type(rd_formula_reader *r, const rd_phrase *p, rd_dtype type)
{
    rd_arguments a;

    if (!rd_formula_arguments(r, p, "x", &a))
        return failed(NULL);
    a.x[0].x = rd_formula_made(r, rd_cast(a.x[0].x, type), p->at);
    return a.x[0];
}

static rd_labelled call_operator(rd_formula_reader *r, const rd_phrase *p, int function)
{
    static const char *const lists[] = { "", "x", "x y", "x y z" };
    rd_arguments             a;
    rd_labelled              all;
    rd_expr                 *x[RD_ARGUMENTS];

    if (!rd_formula_arguments(r, p, lists[rd_function_arity(function)], &a) ||
        !meet(r, p, a.n, a.x, &all, x))
        return failed(NULL);
    if (!rd_formula_alike(r, function, a.n, x, p->at))
        return failed(NULL);
    all.x = rd_formula_made(r, rd_function_apply(function, r->call, x), p->at);
    rd_formula_told(r, all.x, function == RD_TEXT_CLIP ? "clip" : rd_op_table[function].name, a.n,
                    x);
    return all;
}

/* size(x), size(x, axis), len(x) */
static rd_labelled call_size(rd_formula_reader *r, const rd_phrase *p)
{
    int64_t n;

    if (!rd_formula_integer(r, p, &n))
        return failed(rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                                      "%.*s takes an array without indices, and an axis",
                                      (int)p->length, r->text + p->at));
    return (rd_labelled){ .x = rd_formula_made(r, rd_int(r->ctx, n), p->at) };
}

/* nanmean(x): mean(x, skip_nan=true), as NumPy calls it. */
static bool without_nan(const rd_formula_reader *r, const rd_phrase *p, rd_phrase *plain)
{
    *plain = *p;
    if (p->length <= 3 || memcmp(r->text + p->at, "nan", 3) != 0)
        return false;
    plain->at += 3;
    plain->length -= 3;
    plain->skip_nan = true;
    return rd_formula_reduces(r, plain->at, plain->length);
}

/* A function that the caller has, month(time); NULL without a failure: none of that name. */
static rd_expr *call_caller(rd_formula_reader *r, const rd_phrase *p)
{
    const rd_formula_axes *axes = r->opts->axes;
    char                   name[RD_FORMULA_NAME + 1];
    rd_expr               *x[RD_ARGUMENTS];
    int                    n = 0;

    if (!axes || !axes->call)
        return NULL;
    memcpy(name, r->text + p->at, p->length);
    name[p->length] = '\0';
    *r->why         = '\0';
    if (p->labelled && !axes->call(r->opts->user, r->ctx, name, 0, x, r->why) && *r->why)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, p->at,
                               "%s() takes whole arrays: indices stand behind it, as in "
                               "month(time)[t]",
                               name);
    for (rd_phrase *q = p->first; q; q = q->next) {
        const rd_labelled v = q->kind == RD_PHRASE_KEYWORD || q->labelled || n == RD_ARGUMENTS
                                  ? (rd_labelled){ 0 }
                                  : rd_formula_value(r, q);

        if (!v.x || v.n)
            return NULL;
        x[n++] = v.x;
    }
    *r->why             = '\0';
    rd_expr *const made = axes->call(r->opts->user, r->ctx, name, n, x, r->why);
    return made || *r->why || rd_error(r->ctx) != RD_OK ? rd_formula_answer(r, made, p->at) : NULL;
}

/* By the name of an operator, or by another one that it has elsewhere; -1: it is none. */
static int operator_called(const rd_formula_reader *r, const rd_phrase *p)
{
    const char *word = rd_formula_word(r, p->at, p->length);

    return rd_function_find(word ? word : r->text + p->at, word ? strlen(word) : p->length,
                            RD_AUTO);
}

rd_labelled rd_formula_call(rd_formula_reader *r, rd_phrase *p)
{
    rd_phrase plain;

    if (without_nan(r, p, &plain))
        return rd_formula_call(r, &plain);

    const char *name = r->text + p->at;
    const bool  scan = p->length > 3 && !memcmp(name, "cum", 3) &&
                      rd_formula_is_reducer(r, p->at + 3, p->length - 3);
    const rd_formula_function *f    = rd_formula_function_called(r, p->at, p->length);
    const rd_dtype             type = rd_formula_type(r, p->at, p->length);
    int                        function;

    if (scan || rd_formula_is_reducer(r, p->at, p->length))
        return rd_formula_reduction(r, p);
    if (rd_formula_is(r, p->at, p->length, "size") || rd_formula_is(r, p->at, p->length, "len"))
        return call_size(r, p);
    if (f)
        return call_row(r, p, f);
    if (type)
        return call_type(r, p, type);
    function = operator_called(r, p);
    if (function >= 0)
        return call_operator(r, p, function);
    rd_expr *const x = call_caller(r, p);
    if (x || r->failed)
        return (rd_labelled){ .x = x };
    if (rd_formula_instead(r, p->at, p->length))
        return failed(rd_formula_fail(r, RD_ERR_TEXT, p->at, "%.*s: %s", (int)p->length, name,
                                      rd_formula_instead(r, p->at, p->length)));
    return failed(rd_formula_fail(r, RD_ERR_TEXT, p->at, "no function is called '%.*s'",
                                  (int)p->length, name));
}
