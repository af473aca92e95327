/* names.c - what a name in a formula means: the result of a statement, an array, a reducer, a
 * type. Names are given as `length` bytes of the text from `at` on. */
#include "expr/origin.h"
#include "formula/formula.h"
#include <string.h>

/* Finds the latest statement that is built and has the name of `length` bytes of the text at
 * `at`. NULL: there is none. */
rd_statement *rd_formula_statement(rd_formula_reader *r, size_t at, size_t length)
{
    for (int k = r->done - 1; k >= 0; k--) {
        rd_statement *s = &r->statement[k];

        if (s->length == length && !memcmp(r->text + s->at, r->text + at, length))
            return s;
    }
    return NULL;
}

/* Finds a name in a list of named arrays. NULL: it is not there. */
static const rd_named *find_in_list(const rd_formula_reader *r, const rd_named *list, int n,
                                    size_t at, size_t length)
{
    for (int k = 0; k < n; k++)
        if (list[k].name && rd_formula_is(r, at, length, list[k].name))
            return &list[k];
    return NULL;
}

/* True if a statement that has been read has the name, even if it is not built yet. */
static bool is_result(const rd_formula_reader *r, size_t at, size_t length)
{
    for (int k = 0; k < r->n_statements; k++)
        if (r->statement[k].length == length &&
            !memcmp(r->text + r->statement[k].at, r->text + at, length))
            return true;
    return false;
}

/* True if the name is that of a result or of a given array. */
bool rd_formula_has_array(rd_formula_reader *r, size_t at, size_t length)
{
    return is_result(r, at, length) || find_in_list(r, r->opts->in, r->opts->n_in, at, length);
}

/* True if the name is a constant such as pi, for which the caller's `find` is not asked. */
static bool is_constant(const rd_formula_reader *r, size_t at, size_t length)
{
    static const char *const names[] = { "pi", "inf", "nan", "true", "false", "True", "False" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rd_formula_is(r, at, length, names[i]))
            return true;
    return false;
}

/* Finds an array by the function `find` of the caller (the program that gave the text), which is
 * asked once for each name. NULL: there is none, or an error is recorded. Arrays that it has
 * found are kept in r->found, and their names in r->found_names, RD_FORMULA_NAME + 1 bytes each.
 * An error is one that `find` records in the context. */
static rd_expr *find_by_caller(rd_formula_reader *r, size_t at, size_t length)
{
    const rd_named *known = find_in_list(r, r->found, r->n_found, at, length);
    char           *name;
    rd_expr        *x;

    if (known)
        return known->x;
    if (!r->opts->find || is_constant(r, at, length))
        return NULL;
    if (r->n_found == RD_FORMULA_NAMES)
        return rd_formula_fail(r, RD_ERR_LIMIT, at, "more than %d arrays", RD_FORMULA_NAMES);
    name = r->found_names + (ptrdiff_t)r->n_found * (RD_FORMULA_NAME + 1);
    memcpy(name, r->text + at, length);
    name[length] = '\0';
    x            = r->opts->find(r->opts->user, r->ctx, name);
    if (!x && rd_error(r->ctx) != RD_OK)
        return rd_formula_made(r, /*x=*/NULL, at);
    if (x)
        r->found[r->n_found++] = (rd_named){ .name = name, .x = x };
    return x;
}

/* Finds the array that a name in the text means: the result of a statement first, then the
 * arrays given, then those that `find` of the caller knows. Its origins (first indices of axes)
 * become 0. NULL: there is none, or an error is recorded. rd_operands() checks that x is usable
 * as an operand. A given array that is NULL, or of another context, is an error. */
rd_expr *rd_formula_array(rd_formula_reader *r, size_t at, size_t length)
{
    const rd_statement *s     = rd_formula_statement(r, at, length);
    const rd_named     *known = find_in_list(r, r->opts->in, r->opts->n_in, at, length);
    rd_expr            *x;

    if (s)
        return s->x;
    x = known ? known->x : find_by_caller(r, at, length);
    if (known && !x)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, at, "the array '%.*s' is NULL", (int)length,
                               r->text + at);
    if (x && x->ctx != r->ctx)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, at, "the array '%.*s' is of another context",
                               (int)length, r->text + at);
    return x && !rd_operands(r->call, 1, &x) ? rd_formula_made(r, /*x=*/NULL, at)
                                             : rd_with_origins(x, /*origin=*/NULL);
}

/* True if a row of core/reducers.def has that name. */
bool rd_formula_is_reducer(const rd_formula_reader *r, size_t at, size_t length)
{
    static const char *const names[] = {
#define RD_REDUCTION(name, ...) #name,
#include "core/reducers.def"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rd_formula_is(r, at, length, names[i]))
            return true;
    return false;
}

/* True if the name is that of a reduction: a row of functions.def that reduces, or a reducer. */
bool rd_formula_reduces(const rd_formula_reader *r, size_t at, size_t length)
{
    const rd_formula_function *f = rd_formula_function_called(r, at, length);

    return f ? f->sort == RD_FORMULA_REDUCES : rd_formula_is_reducer(r, at, length);
}

/* Finds an element type by our name or by the name that NumPy has; RD_AUTO: none. */
rd_dtype rd_formula_type(const rd_formula_reader *r, size_t at, size_t length)
{
    static const struct {
        const char *name;
        rd_dtype    type;
    } types[] = {
        { "complex64", RD_C64 }, { "complex128", RD_C128 }, { "int", RD_I64 },
        { "float", RD_F64 },     { "c64", RD_C64 },         { "c128", RD_C128 },
#define RD_DTYPE(id, text, c, kind, class, long_, ...) { #text, RD_##id }, { long_, RD_##id },
#include "core/dtypes.def"
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (rd_formula_is(r, at, length, types[i].name))
            return types[i].type;
    return RD_AUTO;
}
