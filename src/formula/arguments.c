/* arguments.c - reads the arguments of a call, by position and by name, as a list of parameters
 * says.
 *
 * The list "x axis:d=-1 method:n?" has three parameters: x, an expression; axis, of kind d
 * (axes) with the default -1; and method, of kind n (a name), which is optional. formula.h lists
 * the kinds. */
#include "formula/formula.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter of the list, as next_parameter() reads it. */
typedef struct parameter {
    const char *name;
    int         length;
    char        kind;
    bool        optional;
    double      value; /* NaN: no default */
} parameter;

/* Reads the next parameter of a list such as "x axis:d=-1 method:n?" into *p: its name, kind,
 * default, and whether it is optional. Returns the rest of the list; NULL at its end. Kind x, an
 * expression, is the default, and kind v may always be left out. `value` is NaN without a
 * default. */
static const char *next_parameter(const char *list, parameter *p)
{
    size_t n;

    list += strspn(list, " ");
    if (!*list)
        return NULL;
    *p        = (parameter){ .name = list, .kind = 'x', .value = NAN };
    n         = strcspn(list, " :=?");
    p->length = (int)n;
    list += n;
    if (*list == ':') {
        p->kind = list[1];
        list += 2;
    }
    if (*list == '=')
        p->value = strtod(list + 1, (char **)&list); /* whole numbers, in any locale */
    p->optional = *list == '?' || p->value == p->value || p->kind == 'v';
    return list + strcspn(list, " ");
}

/* Writes the names of all parameters, "x, axis, keepdims", for error messages; a list that is
 * too long is cut. */
static void parameter_names(const rd_arguments *a, char text[400])
{
    size_t n = 0;

    text[0] = '\0';
    for (int k = 0; k < a->n && n < 360; k++)
        n += (size_t)snprintf(text + n, 400 - n, "%s%.*s", k ? ", " : "", a->name_length[k],
                              a->name[k]);
}

/* Records an error about the call: "mean gets twice axis; it takes x, axis, keepdims". what:
 * "gets twice "; of: the name behind it, n bytes. Returns false. The call's name is
 * a->call->length bytes of the text at a->call->at; `at` is the byte for the caret. */
static bool refuse_call(const rd_arguments *a, size_t at, const char *what, const char *of, int n)
{
    char text[400];

    parameter_names(a, text);
    return rd_formula_fail(a->r, RD_ERR_ARGUMENT, at, "%.*s %s%.*s; it takes %s",
                           (int)a->call->length, a->r->text + a->call->at, what, n, of, text);
}

/* ---- Kinds ----------------------------------------------------------------------------------- */
/* Reads a bool: true, false, True, False, 1 or 0. False after an error. A name or number stands
 * for the value in *value, 1 or 0. `whole`: the number is an integer. */
static bool read_truth(rd_formula_reader *r, const rd_phrase *p, int64_t *value)
{
    const bool no =
        rd_formula_is(r, p->at, p->length, "false") || rd_formula_is(r, p->at, p->length, "False");
    const bool yes =
        rd_formula_is(r, p->at, p->length, "true") || rd_formula_is(r, p->at, p->length, "True");

    *value = yes;
    if (p->kind == RD_PHRASE_NAME && (yes || no))
        return true;
    if (p->kind == RD_PHRASE_NUMBER && p->whole && (p->integer == 0 || p->integer == 1)) {
        *value = p->integer;
        return true;
    }
    return rd_formula_fail(r, RD_ERR_TEXT, p->at, "expected true or false");
}

/* Reads a whole number, or a list of them, into *s. `what` names them in errors. False after an
 * error. q goes through the items of a list, or is p itself. The list has room for RD_MAX_RANK. */
static bool read_integers(rd_formula_reader *r, const rd_phrase *p, const char *what, rd_ints *s)
{
    const bool list = p->kind == RD_PHRASE_LIST;

    *s = (rd_ints){ 0 };
    for (const rd_phrase *q = list ? p->first : p; q; q = list ? q->next : NULL) {
        if (s->n == RD_MAX_RANK)
            return rd_formula_fail(r, RD_ERR_LIMIT, q->at, "more than %d numbers", RD_MAX_RANK);
        if (!rd_formula_need_integer(r, q, what, &s->at[s->n++]))
            return false;
    }
    return true;
}

static bool read_text(rd_formula_reader *r, const rd_phrase *p, char *to);

/* Reads an axis: a number, or its name, if the caller (the program that gave the text) knows
 * names of axes. It is an axis of argument `of`; if that is a list, of its first array. False
 * after an error. The caller says names by opts->axis or opts->axes. a->x[of].x, or a->list[0]
 * for kind l, is the array; NULL: it is not read yet. *axis gets the number, below 0 counted
 * from the end; a name that x lacks is an error. */
static bool read_axis(const rd_arguments *a, const rd_phrase *p, int of, int64_t *axis)
{
    rd_formula_reader *r = a->r;
    char               name[RD_FORMULA_NAME + 1];
    rd_expr           *x = a->kind[of] == 'l' ? (a->n_list ? a->list[0] : NULL) : a->x[of].x;

    if (rd_formula_integer(r, p, axis))
        return true;
    if ((!r->opts->axis && !r->opts->axes) ||
        (p->kind != RD_PHRASE_NAME && p->kind != RD_PHRASE_TEXT))
        return rd_formula_need_integer(r, p, "an axis", axis);
    if (!x || !read_text(r, p, name))
        return rd_formula_fail(r, RD_ERR_AXIS, p->at, "axes have names once the array is said");
    *axis = rd_formula_axis_called(r, x, name, p->at);
    if (*axis < 0 && a->kind[of] == 'l' && p->kind == RD_PHRASE_NAME)
        return rd_formula_fail(
            r, RD_ERR_AXIS, p->at,
            "the array has no axis of the name '%s': if it is another array, say "
            "one list of them, as in %.*s([x, y], axis=0)",
            name, (int)a->call->length, r->text + a->call->at);
    return *axis >= 0 || rd_formula_no_axis(r, x, name, p->at);
}

/* Reads axes, a number or a name or a list of them; None and all stand for all axes. False after an
 * error. *d gets the axes; q goes through the items of a list, or is p itself. A list has room
 * for RD_MAX_RANK, and numbers are 32 bits. */
static bool read_axes(const rd_arguments *a, const rd_phrase *p, rd_dims *d)
{
    rd_formula_reader *r    = a->r;
    const bool         list = p->kind == RD_PHRASE_LIST;
    int64_t            axis;

    *d = RD_ALL;
    if (p->kind == RD_PHRASE_NAME &&
        (rd_formula_is(r, p->at, p->length, "None") || rd_formula_is(r, p->at, p->length, "all")))
        return true;
    *d = RD_NONE;
    for (const rd_phrase *q = list ? p->first : p; q; q = list ? q->next : NULL) {
        if (d->n == RD_MAX_RANK)
            return rd_formula_fail(r, RD_ERR_LIMIT, q->at, "more than %d axes", RD_MAX_RANK);
        if (!read_axis(a, q, /*of=*/0, &axis))
            return false;
        if (axis != (int32_t)axis)
            return rd_formula_fail(r, RD_ERR_AXIS, q->at, "no axis %lld", (long long)axis);
        d->axis[d->n++] = (int32_t)axis;
    }
    return true;
}

/* Reads an element type by name, with or without quotes: float32, "f4". `text`: it has quotes,
 * one byte before and one behind. False after an error. */
static bool read_type(rd_formula_reader *r, const rd_phrase *p, rd_dtype *type)
{
    const bool text = p->kind == RD_PHRASE_TEXT;

    *type = RD_AUTO;
    if (text || p->kind == RD_PHRASE_NAME)
        *type = rd_formula_type(r, p->at + text, p->length - (text ? 2 : 0));
    return *type || rd_formula_fail(r, RD_ERR_TYPE, p->at, "expected a type, such as float32");
}

/* Copies a name or a text in quotes, without these, to `to`, which has room for RD_FORMULA_NAME + 1
 * characters. The lexer has limited its length. False after an error. */
static bool read_text(rd_formula_reader *r, const rd_phrase *p, char *to)
{
    const bool quotes = p->kind == RD_PHRASE_TEXT;

    if (!quotes && p->kind != RD_PHRASE_NAME)
        return rd_formula_fail(r, RD_ERR_TEXT, p->at, "expected a name or a text in quotes");
    memcpy(to, r->text + p->at + quotes, p->length - (quotes ? 2 : 0));
    to[p->length - (quotes ? 2 : 0)] = '\0';
    return true;
}

/* Evaluates an argument that is an array. A whole number beyond 64 bits is refused, because the
 * other operands of the function may be ints. x is NULL after an error. */
static rd_labelled read_array(rd_arguments *a, rd_phrase *p)
{
    double value;

    if (rd_formula_beyond(a->r, p, &value)) {
        rd_formula_fail(a->r, RD_ERR_ARGUMENT, p->at,
                        "a whole number beyond 64 bits: say a float, as 1e20");
        return (rd_labelled){ 0 };
    }
    return rd_formula_value(a->r, p);
}

/* Evaluates p, an array without indices, and appends it to the list of arrays of the call. False
 * after an error. v.n counts its indices; RD_ARGUMENT_LIST is the room in a->list. */
static bool add_to_list(rd_arguments *a, rd_phrase *p)
{
    const rd_labelled v = read_array(a, p);

    if (!v.x)
        return false;
    if (v.n)
        return rd_formula_fail(a->r, RD_ERR_ARGUMENT, p->at, "%.*s takes whole arrays",
                               (int)a->call->length, a->r->text + a->call->at);
    if (a->n_list == RD_ARGUMENT_LIST)
        return rd_formula_fail(a->r, RD_ERR_LIMIT, p->at, "more than %d arrays", RD_ARGUMENT_LIST);
    a->list[a->n_list++] = v.x;
    return true;
}

/* Reads arrays without indices, a list of them or a single one, into the list of the call. False
 * after an error. */
static bool read_list(rd_arguments *a, rd_phrase *p)
{
    if (p->kind != RD_PHRASE_LIST)
        return add_to_list(a, p);
    for (rd_phrase *q = p->first; q; q = q->next)
        if (!add_to_list(a, q))
            return false;
    return true;
}

/* Reads a number that the text says, or a list of them, as for quantiles, into a->q; a->several:
 * it is a list. False after an error. a->n_q counts them; a->q has room for RD_ARGUMENT_LIST. */
static bool read_numbers(rd_arguments *a, const rd_phrase *p)
{
    a->several = p->kind == RD_PHRASE_LIST;
    for (const rd_phrase *q = a->several ? p->first : p; q; q = a->several ? q->next : NULL) {
        if (a->n_q == RD_ARGUMENT_LIST)
            return rd_formula_fail(a->r, RD_ERR_LIMIT, q->at, "more than %d numbers",
                                   RD_ARGUMENT_LIST);
        if (!rd_formula_real(a->r, q, &a->q[a->n_q++]))
            return rd_formula_fail(a->r, RD_ERR_TEXT, q->at,
                                   "expected a number that the text says");
    }
    return true;
}

/* Reads argument k, the axes of a tensor product. A number n stands for the last n axes of one
 * array and the first n of the other. Two lists of axes go to a->pair, with a->i[k] = -1. False
 * after an error. p->first and p->last are the items of a list, here exactly two. */
static bool read_pair(rd_arguments *a, int k, const rd_phrase *p)
{
    if (p->kind != RD_PHRASE_LIST)
        return rd_formula_need_integer(a->r, p, "this", &a->i[k]);
    if (!p->first || p->first == p->last || p->first->next != p->last)
        return rd_formula_fail(a->r, RD_ERR_TEXT, p->at,
                               "expected a number of axes, or two lists, as in [[2, 0], [0, 1]]");
    a->i[k] = -1;
    return read_integers(a->r, p->first, "an axis", &a->pair[0]) &&
           read_integers(a->r, p->last, "an axis", &a->pair[1]);
}

/* Reads p as argument k, by the kind of that parameter. formula.h lists the kinds. a->given[k]
 * notes that it is given; an integer (i) whose name begins with "axis" is an axis of argument 0,
 * kind a one of argument 2. False after an error. */
static bool read_argument(rd_arguments *a, int k, rd_phrase *p)
{
    rd_formula_reader *r = a->r;

    a->given[k] = p;
    switch (a->kind[k]) {
    case 'x': a->x[k] = read_array(a, p); return a->x[k].x != NULL;
    case 'v': return add_to_list(a, p);
    case 'l': return read_list(a, p);
    case 'i':
        return strncmp(a->name[k], "axis", 4) ? rd_formula_need_integer(r, p, "this", &a->i[k])
                                              : read_axis(a, p, /*of=*/0, &a->i[k]);
    case 'a': return read_axis(a, p, /*of=*/2, &a->i[k]);
    case 'f':
        return rd_formula_real(r, p, &a->f[k]) ||
               rd_formula_fail(r, RD_ERR_TEXT, p->at, "expected a number that the text says");
    case 'd': return read_axes(a, p, &a->d);
    case 's': return read_integers(r, p, "an extent", &a->s);
    case 'b': return read_truth(r, p, &a->i[k]);
    case 't': return read_type(r, p, &a->t);
    case 'q': return read_numbers(a, p);
    case 'p': return read_pair(a, k, p);
    default: return read_text(r, p, a->text);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */
/* Fills in the names, kinds and defaults of all parameters of a list such as "x axis:d=-1
 * method:n?". Without a default, numbers are 0, and axes (kind d) are all axes. p.value is NaN,
 * which is not equal to itself, without a default. */
static void set_defaults(rd_arguments *a, const char *list)
{
    parameter p;

    while ((list = next_parameter(list, &p))) {
        assert(a->n < RD_ARGUMENTS);
        a->name[a->n]        = p.name;
        a->name_length[a->n] = p.length;
        a->kind[a->n]        = p.kind;
        a->f[a->n]           = p.value == p.value ? p.value : 0;
        a->i[a->n]           = (int64_t)a->f[a->n];
        if (p.kind == 'd')
            a->d = p.value == p.value ? RD_DIMS((int32_t)p.value) : RD_ALL;
        a->n++;
    }
}

/* Finds the parameter that keyword p names, by its own name or by one that other libraries use,
 * such as dim for axis. Returns its number; -1: none. `elsewhere` has such a name and the one
 * here. Names in the list are not terminated, so lengths are compared, too. */
static int parameter_called(const rd_arguments *a, const rd_phrase *p)
{
    static const char *const elsewhere[][2] = {
        { "axes", "axis" },       { "dims", "axis" },       { "dim", "axis" },
        { "type", "dtype" },      { "skipna", "skip_nan" }, { "keepdim", "keepdims" },
        { "correction", "ddof" },
    };

    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        for (int k = 0; k < a->n && rd_formula_is(a->r, p->at, p->length, elsewhere[i][0]); k++)
            if ((size_t)a->name_length[k] == strlen(elsewhere[i][1]) &&
                !memcmp(a->name[k], elsewhere[i][1], strlen(elsewhere[i][1])))
                return k;
    for (int k = 0; k < a->n; k++)
        if ((size_t)a->name_length[k] == p->length &&
            !memcmp(a->name[k], a->r->text + p->at, p->length))
            return k;
    return -1;
}

/* Reads all arguments of the call; those without a keyword go by position. From a parameter of
 * kind v (a list of arrays) on, all arguments by position belong to it. False after an error.
 * `position` is the next parameter without a keyword; it stays at one of kind v. Only that kind
 * may be given more than once. A keyword's value is p->first. */
static bool read_given(rd_arguments *a)
{
    int position = 0;

    for (rd_phrase *p = a->call->first; p; p = p->next) {
        const bool keyword = p->kind == RD_PHRASE_KEYWORD;
        const int  k       = keyword ? parameter_called(a, p) : position;

        if (k < 0)
            return refuse_call(a, p->at, "has no keyword ", a->r->text + p->at, (int)p->length);
        if (k >= a->n)
            return refuse_call(a, p->at, "has fewer arguments", "", 0);
        if (a->given[k] && a->kind[k] != 'v')
            return refuse_call(a, p->at, "gets twice ", a->name[k], a->name_length[k]);
        if (!read_argument(a, k, keyword ? p->first : p))
            return false;
        position += !keyword && a->kind[k] != 'v';
    }
    return true;
}

/* Reads the arguments of `call` by the parameters in `list`, such as "x axis:d=-1 method:n?",
 * into *a. False after recording an error: an argument of another kind, one too many, or a
 * required one that is missing. a->given[k] NULL: argument k is not given; then it must be
 * optional. */
bool rd_formula_arguments(rd_formula_reader *r, const rd_phrase *call, const char *list,
                          rd_arguments *a)
{
    parameter p;
    int       k = 0;

    memset(a, 0, sizeof *a);
    a->r    = r;
    a->ctx  = r->ctx;
    a->call = call;
    a->d    = RD_ALL;
    set_defaults(a, list);
    if (!read_given(a))
        return false;
    for (; (list = next_parameter(list, &p)); k++)
        if (!a->given[k] && !p.optional)
            return refuse_call(a, call->at, "lacks ", p.name, p.length);
    return true;
}
