/* parse_operators.c - operators by precedence climbing. Precedence is that of Python, except
 * that ^ is the power, as in function text. The operators ?: && || ! of C are read, too. */
#include "formula/formula.h"

/* Binary operators; one of a higher rank binds more tightly. */
static const struct {
    const char *sign;
    int         rank;
    rd_op       op;
} binary[] = {
#define RD_BINARY(sign, op, in_function_text, rank) { sign, rank, RD_OP_##op },
#include "core/precedence.def"
};
enum { RANK_COMPARE = 4 }; /* the rank of comparisons in precedence.def */

/* Returns the row of the operator table for the next token, if its rank (precedence) is at least
 * `loosest`; -1 otherwise. */
static int next_binary(const rd_formula_reader *r, int loosest)
{
    for (int i = 0; i < (int)(sizeof binary / sizeof *binary); i++)
        if (rd_formula_next(r, binary[i].sign))
            return binary[i].rank >= loosest ? i : -1;
    return -1;
}

/* True if parentheses, signs and choices are nested too deeply for the stack, after recording
 * that as an error. */
static bool is_too_deep(rd_formula_reader *r)
{
    if (r->nesting < RD_FORMULA_NESTING)
        return false;
    rd_formula_fail(r, RD_ERR_LIMIT, rd_formula_token(r)->at,
                    "more than %d parentheses, signs and choices inside each other",
                    RD_FORMULA_NESTING);
    return true;
}

/* Negates a literal in place: a number with its sign is one number. */
static rd_phrase *negative(rd_phrase *p)
{
    p->integer = -p->integer;
    p->real    = -p->real;
    return p;
}

static rd_phrase *read_unary(rd_formula_reader *r);

/* Reads an operand, and a power if it is one; its right side may have a sign, 2 ** -1, and
 * groups from the right. NULL after an error. */
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

/* Reads a sign or `not`, and its operand; without a sign it reads a power. `not` takes a whole
 * comparison, as in Python. A minus sign before a literal makes a negative number. NULL after an
 * error. `word`: it is `not`. A + does nothing. ~ is bit_not, and ! and `not` are the logical
 * one. */
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

/* Reads an operand with its signs, if the text is not nested too deeply. */
static rd_phrase *read_unary(rd_formula_reader *r)
{
    rd_phrase *p;

    if (is_too_deep(r))
        return NULL;
    r->nesting++;
    p = read_sign(r);
    r->nesting--;
    return p;
}

/* Reads a chain of comparisons, a < b <= c, which holds if each link holds. `first` is a, which
 * has been read. A link is an operator with its right operand. NULL after an error. Right
 * operands have operators of ranks above comparisons. i is the row of the table `binary`. */
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

/* Reads operators of rank (precedence) `loosest` and higher, and their operands, by precedence
 * climbing: the right operand of an operator has operators of higher ranks only, so equal ones
 * group from the left. NULL after an error. i is the row of the table `binary`; comparisons make
 * a chain. */
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

/* Reads c ? a : b from the ? on; `condition` is c. The operands of the piece are c, a and b.
 * NULL after an error. */
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

/* Reads a if c else b, as Python has it, from the `if` on; `yes` is a. The operands of the piece
 * are c, a and b, as for ?:. NULL after an error. */
static rd_phrase *read_if(rd_formula_reader *r, rd_phrase *yes)
{
    rd_phrase *choice = rd_phrase_new(r, RD_PHRASE_CHOICE, rd_formula_token(r));

    r->now++;
    if (!rd_phrase_add(r, choice, rd_formula_read_binary(r, /*loosest=*/1)) ||
        !rd_phrase_add(r, choice, yes))
        return NULL;
    if (!rd_formula_take(r, "else"))
        return rd_formula_expected(r, "'else' of 'if'");
    return rd_phrase_add(r, choice, rd_formula_read(r)) ? choice : NULL;
}

/* Reads an expression: all operators, and then perhaps a choice. NULL after an error. */
rd_phrase *rd_formula_read(rd_formula_reader *r)
{
    rd_phrase *p;

    if (is_too_deep(r))
        return NULL;
    r->nesting++;
    p = rd_formula_read_binary(r, /*loosest=*/1);
    if (p && rd_formula_next(r, "?"))
        p = read_choice(r, p);
    else if (p && rd_formula_next(r, "if"))
        p = read_if(r, p);
    r->nesting--;
    return p;
}
