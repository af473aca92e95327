/* function_names.c - the names of functions in function text: names of operators, names of C,
 * and a few more. */
#include "expr/function_text.h"
#include <string.h>

/* In which texts a name is known.  C text may use only the names that rdim.h lists at RD_FN and
 * that mean the same in C. Another name may be the user's own function, and C's round differs
 * from rdim's.  ops.def has the C names of operators. */
typedef enum name_use {
    USE_TEXT, /* function text only */
    USE_C,    /* and C text */
    USE_LIBM  /* both, and also with the suffix f */
} name_use;

static const struct {
    const char *name;
    int         function;
    name_use    use;
} names[] = {
    { "abs", RD_OP_abs, USE_C },        { "min", RD_OP_minimum, USE_C },
    { "max", RD_OP_maximum, USE_C },    { "fminf", RD_OP_fmin, USE_TEXT },
    { "fmaxf", RD_OP_fmax, USE_TEXT },  { "where", RD_OP_where, USE_TEXT },
    { "clip", RD_TEXT_CLIP, USE_TEXT },
};

/* Finds a function by its C name (ops.def) or in the table above. -1 if texts of the kind `least`
 * do not know it: a row is known where its `use` is that or greater. */
static int find_row(const char *name, size_t length, name_use least)
{
    const int op = rd_op_of_c(name, length);

    if (op >= 0)
        return op;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].use >= least && strlen(names[i].name) == length &&
            !memcmp(names[i].name, name, length))
            return names[i].function;
    return -1;
}

/* True for operators that texts cannot name: only the evaluator makes them, or a function of
 * another name does (pow makes pow_half). */
static bool is_internal(int function)
{
    return function == RD_OP_fma || function == RD_OP_pow_half || function == RD_OP_cast ||
           function == RD_OP_index;
}

/* Finds a function by its name: an rd_op, or RD_TEXT_CLIP; -1: there is none.  `real` other than 0:
 * the text is C, with floats of that type, which knows fewer names.  A suffix f, as in sqrtf, is
 * allowed where C would compute the same. */
int rd_function_find(const char *name, size_t length, rd_dtype real)
{
    int function = find_row(name, length, real ? USE_C : USE_TEXT);

    /* sqrtf of a double rounds in C, so with doubles it is not the same as sqrt. */
    if (function < 0 && length > 1 && name[length - 1] == 'f' && real != RD_F64)
        function = find_row(name, length - 1, USE_LIBM);
    if (function < 0 && !real)
        function = rd_op_find(name, length);
    return function < 0 || is_internal(function) ? -1 : function;
}

/* The number of operands of a function that rd_function_find() has found. */
int rd_function_arity(int function)
{
    return function == RD_TEXT_CLIP || function == RD_OP_where ? 3 : rd_op_table[function].arity;
}

/* Applies a function that rd_function_find() has found, by `map`; clip is a maximum, then a
 * minimum. */
rd_expr *rd_function_apply(int function, const char *call, rd_mapper *map, rd_expr *const *x)
{
    if (function != RD_TEXT_CLIP)
        return map((rd_op)function, call, rd_function_arity(function), x);

    rd_expr *raised = map(RD_OP_maximum, call, 2, (rd_expr *const[]){ x[0], x[1] });
    return map(RD_OP_minimum, call, 2, (rd_expr *const[]){ raised, x[2] });
}
