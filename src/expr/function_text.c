/* function_text.c - function text and C text of operands of any kind: reads operand names, then
 * the whole text.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/function_text.h"
#include <string.h>

/* Reads names of operands, "a, b:", and returns their number.  Without a colon at the end it goes
 * back to the begin of the text and returns 0. */
static int read_names(rd_reader *r)
{
    const char *start = r->at;
    int         n     = 0;

    do {
        size_t length = rd_function_word(r);

        if (!length) {
            n = 0;
            break;
        }
        if (n < RD_TEXT_OPERANDS) {
            r->name[n]   = r->at;
            r->length[n] = length;
        }
        n++;
        r->at += length;
    } while (rd_function_take(r, ","));
    if (n && rd_function_take(r, ":"))
        return n;
    r->at = start;
    return 0;
}

/* Names the operands as the text says ("a, b: a + b"), or else x, y, z, w.  False after recording
 * that names are too few, too many, or not unique. */
static bool name_operands(rd_reader *r)
{
    static const char default_names[] = "xyzw";
    int               found = read_names(r), n = r->n;

    if (found && found != n) {
        rd_function_fail(r, rd_function_skip(r), "%d operand%s named, but there %s %d", found,
                         found == 1 ? "" : "s", n == 1 ? "is" : "are", n);
        return false;
    }
    if (!found && n > (int)strlen(default_names)) {
        rd_function_fail(r, rd_function_skip(r), "%d operands need names before a ':'", n);
        return false;
    }
    for (int k = 0; k < n && !found; k++) {
        r->name[k]   = default_names + k;
        r->length[k] = 1;
    }
    for (int k = 1; k < n; k++)
        /* finds the first operand of the name */
        if (rd_function_operand(r, r->name[k], r->length[k]) < k) {
            rd_function_fail(r, r->name[k], "two operands of one name");
            return false;
        }
    return true;
}

/* Returns the function if the text is nothing but its name, such as "atan2", which is then applied
 * to all operands; else -1.  It reads nothing. */
static int bare_function(rd_reader *r)
{
    size_t      length = rd_function_word(r);
    const char *name   = r->at, *end;

    r->at += length;
    end   = rd_function_skip(r);
    r->at = name;
    if (!length || *end || rd_function_operand(r, name, length) >= 0)
        return -1;
    return rd_function_find(name, length, r->real);
}

/* Reads names of operands, then a function's name alone or an expression, up to the end of the
 * text.  NULL after recording a failure. */
static rd_expr *read_all(rd_reader *r)
{
    if (!name_operands(r))
        return NULL;

    int function = bare_function(r);
    if (function >= 0 && rd_function_arity(function) != r->n)
        return rd_function_fail(r, r->at, "this function takes %d operand%s, not %d",
                                rd_function_arity(function),
                                rd_function_arity(function) == 1 ? "" : "s", r->n);
    if (function >= 0)
        return rd_function_apply(function, r->call, r->map, r->x);

    rd_expr *v = rd_function_read(r);
    return v && *rd_function_skip(r) ? rd_function_expected(r, "an operator or the end") : v;
}

/* Reads the text, and gives the result the shape of all operands, whatever it uses.  C text gives
 * the float type r->real.  The result is weak (it takes the type of operands beside it) only if all
 * operands are; else a cast, even to its own type, makes it strong. */
static rd_expr *read_result(rd_reader *r)
{
    int      rank;
    int64_t  extent[RD_MAX_RANK];
    bool     weak = true;
    rd_expr *v;

    if (!rd_operands(r->call, r->n, r->x) || !rd_common_shape(r->call, r->n, r->x, &rank, extent))
        return NULL;
    for (int k = 0; k < r->n; k++)
        weak &= r->x[k]->weak;
    v = read_all(r);
    if (v && r->real)
        v = rd_cast_to(v, r->real);
    else if (v && !weak)
        v = rd_cast_to(v, v->type);
    return v ? rd_broadcast_to(v, rank, extent, r->call) : NULL;
}

/* Makes the map of n operands x that function text describes, such as "x * 2 + sin(y)".  NULL after
 * recording for `call` why the text cannot be read. */
rd_expr *rd_function_text(rd_ctx *ctx, const char *call, const char *text, int n, rd_expr *const *x)
{
    return read_result(&(rd_reader){
        .ctx = ctx, .call = call, .text = text, .at = text, .map = rd_map_op, .n = n, .x = x });
}

/* Makes the map that C text of float operands describes; `real` is the type of all floats.
 * `quiet`: no failure to read is recorded, as the caller falls back to compiled loops. */
rd_expr *rd_function_c(rd_ctx *ctx, const char *call, const char *text, int n, rd_expr *const *x,
                       rd_dtype real, bool quiet)
{
    return read_result(&(rd_reader){ .ctx   = ctx,
                                     .call  = call,
                                     .text  = text,
                                     .at    = text,
                                     .map   = rd_map_op,
                                     .n     = n,
                                     .x     = x,
                                     .real  = real,
                                     .quiet = quiet });
}
