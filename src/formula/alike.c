/* alike.c - what the caller knows of values, such as their units: which operands must be alike, and what was
 * made of what. */
#include "formula/formula.h"

/* Operands from `from` on are to be alike. */
static const struct alike {
    int function, from;
} rows[] = {
    { RD_OP_add, 0 },   { RD_OP_sub, 0 },    { RD_OP_minimum, 0 },   { RD_OP_maximum, 0 },
    { RD_OP_fmin, 0 },  { RD_OP_fmax, 0 },   { RD_OP_eq, 0 },        { RD_OP_ne, 0 },
    { RD_OP_lt, 0 },    { RD_OP_le, 0 },     { RD_OP_gt, 0 },        { RD_OP_ge, 0 },
    { RD_OP_where, 1 }, { RD_TEXT_CLIP, 0 }, { RD_OP_remainder, 0 },
};

static bool one_pair(rd_formula_reader *r, rd_expr **x, rd_expr **y, size_t at)
{
    *r->why = '\0';
    if (r->opts->axes->alike(r->opts->user, x, y, r->why))
        return true;
    return rd_formula_answer(r, NULL, at);
}

bool rd_formula_alike(rd_formula_reader *r, int function, int n, rd_expr **x, size_t at)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (!axes || !axes->alike)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = rows[i].from + 1; rows[i].function == function && k < n; k++)
            if (x[rows[i].from] && x[k] && !one_pair(r, &x[rows[i].from], &x[k], at))
                return false;
    return true;
}

rd_expr *rd_formula_told(rd_formula_reader *r, rd_expr *y, const char *name, int n,
                         rd_expr *const *x)
{
    const rd_formula_axes *axes = r->opts->axes;

    if (y && axes && axes->made)
        axes->made(r->opts->user, y, name, n, x);
    return y;
}
