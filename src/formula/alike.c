/* alike.c - asks the caller to bring operands to one unit, and tells the caller what a formula
 * makes.
 *
 * The caller knows facts about values, such as units. x + y asks it to put x and y in the same
 * unit; mean(x) tells it that the result was made of x by "mean". */
#include "formula/formula.h"
#include <string.h>

/* Operators with operands that must be in one unit: all operands from number `from` on. */
static const struct alike {
    int function, from;
} rows[] = {
    { RD_OP_add, 0 },   { RD_OP_sub, 0 },    { RD_OP_minimum, 0 },   { RD_OP_maximum, 0 },
    { RD_OP_fmin, 0 },  { RD_OP_fmax, 0 },   { RD_OP_eq, 0 },        { RD_OP_ne, 0 },
    { RD_OP_lt, 0 },    { RD_OP_le, 0 },     { RD_OP_gt, 0 },        { RD_OP_ge, 0 },
    { RD_OP_where, 1 }, { RD_TEXT_CLIP, 0 }, { RD_OP_remainder, 0 },
};

/* Functions of functions.def with two arguments that must be in one unit, by their positions. */
static const struct alike_arguments {
    const char *name;
    int         first, second;
} arguments[] = {
    { "clip", 0, 1 },         { "clip", 0, 2 },   { "isclose", 0, 1 },  { "mod", 0, 1 },
    { "searchsorted", 0, 1 }, { "interp", 0, 1 }, { "digitize", 0, 1 }, { "bins_between", 0, 1 },
    { "cdist", 0, 1 },        { "fillna", 0, 1 },
};

/* Asks the caller (the program that gave the text, which may know units) to put *x and *y in one
 * unit; either may be replaced. False: refused, after recording the reason. The caller writes
 * its reason to r->why; `at` is the byte of the text for the message. */
static bool ask_alike(rd_formula_reader *r, rd_expr **x, rd_expr **y, size_t at)
{
    *r->why = '\0';
    if (r->opts->axes->alike(r->opts->user, x, y, r->why))
        return true;
    return rd_formula_answer(r, /*x=*/NULL, at);
}

/* Puts the operands of an operator that wants it, such as +, in one unit: the caller (the
 * program that gave the text) is asked for each with the first one. Without a caller that knows
 * units it does nothing. False: the caller refused, which is recorded. A row of `rows` has the
 * operator, and the number `from` of the first operand that counts. x[k] NULL: an operand left
 * out. */
bool rd_formula_same_unit(rd_formula_reader *r, int function, int n, rd_expr **x, size_t at)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (!axes || !axes->alike)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = rows[i].from + 1; rows[i].function == function && k < n; k++)
            if (x[rows[i].from] && x[k] && !ask_alike(r, &x[rows[i].from], &x[k], at))
                return false;
    return true;
}

/* Puts those arguments of a function in one unit that the table `arguments` names, and all parts
 * of concat() and stack(). The caller (the program that gave the text) knows units. False: the
 * caller refused, which is recorded. a->x[k].x is argument k, NULL if it is not given, and
 * a->list has the parts; both may be replaced. */
bool rd_formula_alike_arguments(rd_arguments *a, const char *name)
{
    rd_formula_reader *r = a->r;

    if (!r->opts->axes || !r->opts->axes->alike)
        return true;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        rd_expr **x = &a->x[arguments[i].first].x, **y = &a->x[arguments[i].second].x;

        if (!strcmp(arguments[i].name, name) && *x && *y && !ask_alike(r, x, y, a->call->at))
            return false;
    }
    for (int k = 1; k < a->n_list && (!strcmp(name, "concat") || !strcmp(name, "stack")); k++)
        if (!ask_alike(r, &a->list[0], &a->list[k], a->call->at))
            return false;
    return true;
}

/* Tells the caller (the program that gave the text) that the function `name` made y of the n
 * operands x, so that it can give y a unit. Returns y, which may be NULL. */
rd_expr *rd_formula_told(rd_formula_reader *r, rd_expr *y, const char *name, int n,
                         rd_expr *const *x)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (y && axes && axes->made)
        axes->made(r->opts->user, y, name, n, x);
    return y;
}
