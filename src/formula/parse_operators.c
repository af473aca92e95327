/* parse_operators.c - operators by precedence: Python's, but that ^ is the power, as in function text,
 * whose ?: && || ! are understood, too. */
#include "formula/formula.h"

static const struct {
    const char *sign;
    int         rank;
    rd_op       op;
} binary[] = {
#define RD_BINARY(sign, op, in_function_text, rank) { sign, rank, RD_OP_##op },
#include "core/precedence.def"
};
enum { RANK_COMPARE = 4 };

/* The row of the operator that comes next, if it binds as tightly; -1. */
static int next_binary(const rd_formula_reader *r, int loosest)
{
    for (int i = 0; i < (int)(sizeof binary / sizeof *binary); i++)
        if (rd_formula_next(r, binary[i].sign))
            return binary[i].rank >= loosest ? i : -1;
    return -1;
}

static bool too_deep(rd_formula_reader *r)
{
    if (r->nesting < RD_FORMULA_NESTING)
        return false;
    rd_formula_fail(r, RD_ERR_LIMIT, rd_formula_token(r)->at,
                    "more than %d parentheses, signs and choices inside each other",
                    RD_FORMULA_NESTING);
    return true;
}

/* A number with its sign is a number. */
static rd_phrase *negative(rd_phrase *p)
{
    p->integer = -p->integer;
    p->real    = -p->real;
    return p;
}

static rd_phrase *read_unary(rd_formula_reader *r);

static rd_phrase *read_power(rd_formula_reader *r)
{
    rd_phrase      *p = rd_formula_read_operand(r), *power;
    const rd_token *t = rd_formula_token(r);

    if (!p || !(rd_formula_take(r, "^") || rd_formula_take(r, "**")))
        return p;
    power     = rd_phrase_new(r, RD_PHRASE_BINARY, t);
    power->op = RD_OP_pow;
    return rd_phrase_add(r, power, p) && rd_phrase_add(r, power, read_unary(r)) ? power : NULL;
}

static rd_phrase *read_sign(rd_formula_reader *r)
{
    const rd_token *t    = rd_formula_token(r);
    const bool      word = rd_formula_take(r, "not"), minus = rd_formula_take(r, "-");
    const bool      plus = rd_formula_take(r, "+"), bits = rd_formula_take(r, "~");
    rd_phrase      *p, *operand;

    if (!word && !minus && !plus && !bits && !rd_formula_take(r, "!"))
        return read_power(r);
    operand = word ? rd_formula_read_binary(r, RANK_COMPARE) : read_unary(r);
    if (!operand || plus)
        return operand;
    if (minus && operand->kind == RD_PHRASE_NUMBER && !operand->imaginary)
        return negative(operand);
    p     = rd_phrase_new(r, RD_PHRASE_UNARY, t);
    p->op = minus ? RD_OP_neg : bits ? RD_OP_bit_not : RD_OP_not;
    return rd_phrase_add(r, p, operand) ? p : NULL;
}

static rd_phrase *read_unary(rd_formula_reader *r)
{
    rd_phrase *p;

    if (too_deep(r))
        return NULL;
    r->nesting++;
    p = read_sign(r);
    r->nesting--;
    return p;
}

/* a < b <= c: both hold. */
static rd_phrase *read_comparisons(rd_formula_reader *r, rd_phrase *first)
{
    rd_phrase *p = rd_phrase_new(r, RD_PHRASE_COMPARE, rd_formula_token(r));
    int        i;

    if (!rd_phrase_add(r, p, first))
        return NULL;
    while ((i = next_binary(r, RANK_COMPARE)) >= 0 && binary[i].rank == RANK_COMPARE) {
        rd_phrase *link = rd_phrase_new(r, RD_PHRASE_LINK, rd_formula_token(r));

        r->now++;
        if (!rd_phrase_add(r, link, rd_formula_read_binary(r, RANK_COMPARE + 1)))
            return NULL;
        link->op = binary[i].op;
        if (!rd_phrase_add(r, p, link))
            return NULL;
    }
    return p;
}

rd_phrase *rd_formula_read_binary(rd_formula_reader *r, int loosest)
{
    rd_phrase *p = read_unary(r);
    int        i;

    while (p && (i = next_binary(r, loosest)) >= 0) {
        rd_phrase *left = p;

        if (binary[i].rank == RANK_COMPARE) {
            p = read_comparisons(r, left);
            continue;
        }
        p     = rd_phrase_new(r, RD_PHRASE_BINARY, rd_formula_token(r));
        p->op = binary[i].op;
        r->now++;
        if (!rd_phrase_add(r, p, left) ||
            !rd_phrase_add(r, p, rd_formula_read_binary(r, binary[i].rank + 1)))
            return NULL;
    }
    return p;
}

/* c ? a : b, from the ? on. */
static rd_phrase *read_choice(rd_formula_reader *r, rd_phrase *condition)
{
    rd_phrase *choice = rd_phrase_new(r, RD_PHRASE_CHOICE, rd_formula_token(r));

    r->now++;
    if (!rd_phrase_add(r, choice, condition) || !rd_phrase_add(r, choice, rd_formula_read(r)))
        return NULL;
    if (!rd_formula_take(r, ":"))
        return rd_formula_expected(r, "':' of '?'");
    return rd_phrase_add(r, choice, rd_formula_read(r)) ? choice : NULL;
}

/* a if c else b, from the `if` on: Python's. */
static rd_phrase *read_if(rd_formula_reader *r, rd_phrase *yes)
{
    rd_phrase *choice = rd_phrase_new(r, RD_PHRASE_CHOICE, rd_formula_token(r));

    r->now++;
    if (!rd_phrase_add(r, choice, rd_formula_read_binary(r, 1)) || !rd_phrase_add(r, choice, yes))
        return NULL;
    if (!rd_formula_take(r, "else"))
        return rd_formula_expected(r, "'else' of 'if'");
    return rd_phrase_add(r, choice, rd_formula_read(r)) ? choice : NULL;
}

rd_phrase *rd_formula_read(rd_formula_reader *r)
{
    rd_phrase *p;

    if (too_deep(r))
        return NULL;
    r->nesting++;
    p = rd_formula_read_binary(r, 1);
    if (p && rd_formula_next(r, "?"))
        p = read_choice(r, p);
    else if (p && rd_formula_next(r, "if"))
        p = read_if(r, p);
    r->nesting--;
    return p;
}
