/* function_steps.c - named values: each is computed from function text of the values before it.
 *
 *     "t = tan(x); y = 1 + t * t"
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/function_text.h"
#include "expr/sparse.h"
#include <assert.h>
#include <string.h>

/* Appends a value x under a name of `length` characters (not terminated); the caller's texts have
 * fewer steps than there is room for. */
static void add_step(rd_steps *steps, const char *name, size_t length, rd_expr *x)
{
    assert(steps->n < RD_TEXT_OPERANDS);
    steps->name[steps->n]   = name;
    steps->length[steps->n] = length;
    steps->x[steps->n++]    = x;
}

/* Appends a value under a name. */
void rd_steps_add(rd_steps *steps, const char *name, rd_expr *x)
{
    add_step(steps, name, strlen(name), x);
}

/* Returns the value of a name; NULL: there is none. */
rd_expr *rd_steps_find(const rd_steps *steps, const char *name)
{
    for (int k = 0; k < steps->n; k++)
        if (steps->length[k] == strlen(name) && !memcmp(steps->name[k], name, steps->length[k]))
            return steps->x[k];
    return NULL;
}

/* Casts a value to the type `part`; bools and weak numbers (plain constants, which take the type of
 * operands) stay.  `where` of two weak numbers is strong and has a type of its own, so it is cast,
 * too. */
static rd_expr *cast_strong(rd_expr *x, rd_dtype part)
{
    return x && x->type != RD_BOOL && !x->weak ? rd_real_cast(x, part) : x;
}

/* Parses and computes all steps of a text, "t = tan(x); y = 1 + t * t", and appends their values.
 * Each step may use all values before it, which become the operands of the parser.  False after
 * recording a failure. */
bool rd_steps_run(rd_steps *steps, rd_ctx *ctx, const char *call, const char *text, rd_dtype part)
{
    rd_reader r = { .ctx = ctx, .call = call, .text = text, .at = text, .map = rd_real_map };

    do {
        const size_t length = rd_function_word(&r);
        const char  *name   = r.at;

        r.at += length;
        r.n = steps->n;
        r.x = steps->x;
        memcpy(r.name, steps->name, sizeof r.name);
        memcpy(r.length, steps->length, sizeof r.length);
        rd_expr *x = rd_function_take(&r, "=") ? cast_strong(rd_function_read(&r), part)
                                               : rd_function_expected(&r, "'='");
        if (!x)
            return false;
        add_step(steps, name, length, x);
    } while (rd_function_take(&r, ";"));
    return true;
}
