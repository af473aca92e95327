/* function_read.c - parses function text into nodes by recursive descent.  Precedences are C's,
 * and ^ is the power.
 *
 *     "x * 2 + sin(y)"  ->  add(mul(x, 2), sin(y))
 *
 * rd_reader is the parser's state.  Its field `real` is a float type if the text is C, and 0 for
 * function text; C text follows C's rules of conversion.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "core/whole.h"
#include "expr/function_text.h"
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 400 }; /* a parenthesis counts twice */
enum { MAX_WHOLE = 8 };   /* maps of numbers, one below the other, that is_integer() follows */

/* True, after recording it, if the text is nested too deeply for this recursive parser. */
static bool is_too_deep(rd_reader *r)
{
    if (r->depth < MAX_DEPTH)
        return false;
    rd_function_fail(r, r->at, "nested too deeply");
    return true;
}

/* Returns the number of the operand that has the name; -1: no operand has it. */
int rd_function_operand(const rd_reader *r, const char *name, size_t length)
{
    for (int k = 0; k < r->n; k++)
        if (r->length[k] == length && !memcmp(r->name[k], name, length))
            return k;
    return -1;
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Reads a call such as "atan2(y, x)" and applies the function; `length` is that of the name.  NULL
 * after recording a failure. */
static rd_expr *read_call(rd_reader *r, size_t length)
{
    const char *name     = r->at;
    int         function = rd_function_find(name, length, r->real);
    rd_expr    *v[RD_TEXT_ARITY];
    char        what[80];

    if (function < 0)
        return rd_function_fail(r, name, "no function is called '%.*s'",
                                length < 40 ? (int)length : 40, name);
    r->at += length;
    rd_function_take(r, "(");
    for (int k = 0, arity = rd_function_arity(function); k < arity; k++) {
        bool last = k + 1 == arity;

        v[k] = rd_function_read(r);
        if (r->real) /* in C text each function takes floats */
            v[k] = rd_as_real(v[k], r->real);
        if (!v[k])
            return NULL;
        if (rd_function_take(r, last ? ")" : ","))
            continue;
        snprintf(what, sizeof what, "'%c' (%.*s takes %d operand%s)", last ? ')' : ',', (int)length,
                 name, arity, arity == 1 ? "" : "s");
        return rd_function_expected(r, what);
    }
    return rd_function_apply(function, r->call, r->map, v);
}

/* The constants true, false and pi; NULL: the name is something else. */
static rd_expr *constant(const rd_reader *r, const char *name, size_t length)
{
    bool truth = length == 4 && !memcmp(name, "true", 4);

    if (r->real) /* C does not know these names, so they may be the user's own */
        return NULL;
    if (truth || (length == 5 && !memcmp(name, "false", 5)))
        return rd_number(r->ctx, RD_BOOL, rd_word_from_int(truth, RD_BOOL));
    return length == 2 && !memcmp(name, "pi", 2) ? rd_num(r->ctx, 3.14159265358979323846) : NULL;
}

/* Reads what begins with a name: a call if "(" follows, else an operand or a constant.  NULL after
 * recording that nothing has the name. */
static rd_expr *read_name(rd_reader *r, size_t length)
{
    const char *name = r->at;
    rd_expr    *v;
    int         k = rd_function_operand(r, name, length);

    r->at += length;
    if (*rd_function_skip(r) == '(') {
        r->at = name;
        return read_call(r, length);
    }
    v = k >= 0 ? r->x[k] : constant(r, name, length);
    return v ? v
             : rd_function_fail(r, name, "no operand is called '%.*s'",
                                length < 40 ? (int)length : 40, name);
}

/* True for a decimal digit. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads a name, a number, or an expression in parentheses.  NULL after recording a failure. */
static rd_expr *read_operand(rd_reader *r)
{
    size_t length = rd_function_word(r);

    if (length)
        return read_name(r, length);
    if (is_digit(*r->at) || (*r->at == '.' && is_digit(r->at[1])))
        return rd_function_number(r);
    if (!rd_function_take(r, "("))
        return rd_function_expected(r, "an operand");

    rd_expr *v = rd_function_read(r);
    return v && !rd_function_take(r, ")") ? rd_function_expected(r, "an operator or ')'") : v;
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* Converts operands of C text (r->real, its float type, is set) as C does: an int or bool combined
 * with a float takes the float's type, where rdim would go to f64.  If `keep_weak`, weak numbers
 * (plain constants) alone stay weak, so that 2 * 0.5 still takes the type of the operands.  False
 * after a failure. */
static bool convert_as_c(const rd_reader *r, int n, rd_expr **v, bool keep_weak)
{
    bool real = false, weak = true;

    for (int i = 0; i < n; i++) {
        real |= rd_dtype_kind(v[i]->type) == RD_KIND_FLOAT;
        weak &= v[i]->weak;
    }
    if (r->real && real && !(weak && keep_weak))
        for (int i = 0; i < n; i++)
            if (!(v[i] = rd_cast_to(v[i], r->real)))
                return false;
    return true;
}

/* True if x is an integer that the text alone determines: a number, or a small map of such numbers,
 * of at most `depth` levels, as operands of a text may be large graphs.  *value gets its value. */
static bool is_integer(const rd_expr *x, int depth, int64_t *value)
{
    int64_t a, b = 0;

    if (x->type != RD_I64 || x->rank != 0 || depth == 0)
        return false;
    if (x->kind == RD_EXPR_NUMBER) {
        *value = x->as.number->value.i64;
        return true;
    }
    return x->kind == RD_EXPR_MAP && x->n_in <= 2 && is_integer(x->in[0], depth - 1, &a) &&
           (x->n_in == 1 || is_integer(x->in[1], depth - 1, &b)) &&
           rd_whole_result(x->op, a, b, value) == RD_WHOLE_FITS;
}

/* Applies an operator to n operands.  A constant int of the text that exceeds 64 bits is an error
 * at `at` instead of wrapping. */
static rd_expr *apply_checked(rd_reader *r, rd_op op, const char *at, int n, rd_expr *const *v)
{
    int64_t a, b = 0, value;

    if (is_integer(v[0], MAX_WHOLE, &a) && (n == 1 || is_integer(v[1], MAX_WHOLE, &b)) &&
        rd_whole_result(op, a, b, &value) == RD_WHOLE_BEYOND)
        return rd_function_fail(r, at, "a whole number beyond 64 bits: say a float, as 1e20");
    return r->map(op, r->call, n, v);
}

/* Applies an operator; in C text (r->real is set) by C's rules of conversion.  There a division of
 * ints is refused, as C truncates it. */
static rd_expr *apply_as_c(rd_reader *r, rd_op op, const char *at, int n, rd_expr **v)
{
    bool ints = true;

    for (int i = 0; i < n; i++)
        ints &= rd_dtype_kind(v[i]->type) != RD_KIND_FLOAT;
    if (r->real && op == RD_OP_div && ints)
        return rd_function_fail(r, at, "C divides whole numbers another way");
    return convert_as_c(r, n, v, /*keep_weak=*/true) ? apply_checked(r, op, at, n, v) : NULL;
}

/* Reads an operand with its prefix operators - + ! and powers.  A power binds more tightly to its
 * left: -x^2 is -(x^2), 2^-1 is a half. */
static rd_expr *read_unary(rd_reader *r)
{
    static const char sign[] = "-+!";
    const char       *at = rd_function_skip(r), *found = *at ? strchr(sign, *at) : NULL;
    rd_expr          *v[2];

    if (is_too_deep(r))
        return NULL;
    r->at += found != NULL;
    r->depth++;
    v[0] = found ? read_unary(r) : read_operand(r);
    /* In C text ^ is no power. */
    if (!found && v[0] && !r->real && rd_function_take(r, "^")) {
        at   = r->at - 1;
        v[1] = read_unary(r);
        v[0] = v[1] ? apply_checked(r, RD_OP_pow, at, 2, v) : NULL;
    }
    r->depth--;
    if (!found || !v[0] || *found == '+')
        return v[0];
    return apply_as_c(r, *found == '-' ? RD_OP_neg : RD_OP_not, at, 1, v);
}

/* Rows of rank 0 are operators of formulas only, not of function text. */
static const struct {
    const char *token;
    int         rank;
    rd_op       op;
} binary[] = {
#define RD_BINARY(sign, op, rank, in_formulas) { sign, rank, RD_OP_##op },
#include "core/precedence.def"
};

/* Reads the next binary operator if it binds at least as tightly as `rank`, and returns its row of
 * the table; else -1.  A remainder in C text (r->real is set) is not read, as C's % has another
 * sign. */
static int take_binary(rd_reader *r, int rank)
{
    int rows = sizeof binary / sizeof *binary;

    rd_function_skip(r);
    for (int i = 0; i < rows; i++)
        if (binary[i].rank > 0 && !strncmp(r->at, binary[i].token, strlen(binary[i].token))) {
            if (binary[i].rank < rank || (r->real && binary[i].op == RD_OP_remainder))
                return -1;
            r->at += strlen(binary[i].token);
            return i;
        }
    return -1;
}

/* Reads an operand, then operators of precedence `rank` or tighter with their right operands
 * (precedence climbing); they associate to the left. */
static rd_expr *read_binary(rd_reader *r, int rank)
{
    rd_expr *v[2] = { read_unary(r) };

    while (v[0]) {
        const char *at = rd_function_skip(r);
        int         i  = take_binary(r, rank);

        if (i < 0)
            break;
        v[1] = read_binary(r, binary[i].rank + 1); /* + 1: associates to the left */
        v[0] = v[1] ? apply_as_c(r, binary[i].op, at, 2, v) : NULL;
    }
    return v[0];
}

/* Reads an expression: operators, and then perhaps a choice "? :".  NULL after recording a
 * failure. */
rd_expr *rd_function_read(rd_reader *r)
{
    rd_expr *v[3] = { NULL };

    if (is_too_deep(r))
        return NULL;
    r->depth++;
    v[0] = read_binary(r, /*rank=*/1);
    if (v[0] && rd_function_take(r, "?")) {
        v[1] = rd_function_read(r);
        if (v[1] && !rd_function_take(r, ":"))
            return rd_function_expected(r, "':' of '?'");
        v[2] = v[1] ? rd_function_read(r) : NULL;
        v[0] = v[2] && convert_as_c(r, 2, v + 1, /*keep_weak=*/false)
                   ? r->map(RD_OP_where, r->call, 3, v)
                   : NULL;
    }
    r->depth--;
    return v[0];
}
