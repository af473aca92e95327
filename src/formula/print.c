/* print.c - prints the tree as a formula that reads as the same tree, with all parentheses.
 *
 *      y = mean(x, 0) + 2 * z      is printed as      y = (mean(x, 0) + (2 * z)) */
#include "core/text_buffer.h"
#include "formula/formula.h"
#include <math.h>
#include <string.h>

static void print(rd_text *text, const rd_formula_reader *r, const rd_phrase *p);

/* Returns the sign of an operator; "@" for a product of matrices. */
static const char *sign_of(rd_op op)
{
    static const struct {
        rd_op       op;
        const char *sign;
    } signs[] = { { RD_OP_or, "or" },     { RD_OP_and, "and" },       { RD_OP_eq, "==" },
                  { RD_OP_ne, "!=" },     { RD_OP_le, "<=" },         { RD_OP_ge, ">=" },
                  { RD_OP_lt, "<" },      { RD_OP_gt, ">" },          { RD_OP_bit_or, "|" },
                  { RD_OP_bit_and, "&" }, { RD_OP_shift_left, "<<" }, { RD_OP_shift_right, ">>" },
                  { RD_OP_add, "+" },     { RD_OP_sub, "-" },         { RD_OP_mul, "*" },
                  { RD_OP_div, "/" },     { RD_OP_floordiv, "//" },   { RD_OP_remainder, "%" },
                  { RD_OP_pow, "^" },     { RD_OP_neg, "-" },         { RD_OP_not, "!" },
                  { RD_OP_bit_not, "~" } };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].op == op)
            return signs[i].sign;
    return "@";
}

/* Prints pieces one after the other, with `between` between them: "a, b, c". */
static void print_list(rd_text *text, const rd_formula_reader *r, const rd_phrase *first,
                       const char *between)
{
    for (const rd_phrase *p = first; p; p = p->next) {
        print(text, r, p);
        rd_text_add(text, "%s", p->next ? between : "");
    }
}

/* Prints a number, "2", "(-2)", "0.5", "3.0", "2.0j", so that it is read as the same number.
 * `whole` here: the real number has no fraction, and is printed without an exponent, so that
 * ".0" must say that it is real. Negative numbers are in parentheses. */
static void print_number(rd_text *text, const rd_phrase *p)
{
    const bool whole =
        fabs(p->real) < 1e17 && p->real == floor(p->real); /* beyond, %.17g has an e */

    if (p->whole)
        rd_text_add(text, p->integer < 0 ? "(%lld)" : "%lld", (long long)p->integer);
    else
        rd_text_add(text, signbit(p->real) ? "(%.17g%s)%s" : "%.17g%s%s", p->real,
                    whole ? ".0" : "", p->imaginary ? "j" : "");
}

/* Prints the bytes of the text that a piece stands for: a name, or a text with its quotes. */
static void print_name(rd_text *text, const rd_formula_reader *r, const rd_phrase *p)
{
    rd_text_add(text, "%.*s", (int)p->length, r->text + p->at);
}

/* Prints an index with its range, if it has one: "i" or "i in 0:3". */
static void print_index(rd_text *text, const rd_formula_reader *r, const rd_phrase *p)
{
    print_name(text, r, p);
    rd_text_add(text, "%s", p->first ? " in " : "");
    print_list(text, r, p->first, ":");
}

/* Prints a reduction: "(sum[j where (j < i)] x[i, j])". p->first and the following pieces are
 * indices, keywords and the condition (WHERE), of which `first` is the expression. */
static void print_reduction(rd_text *text, const rd_formula_reader *r, const rd_phrase *p)
{
    rd_text_add(text, "(");
    print_name(text, r, p);
    rd_text_add(text, "[");
    for (const rd_phrase *q = p->first; q; q = q->next) {
        rd_text_add(text, "%s", q->kind == RD_PHRASE_WHERE ? " where " : q == p->first ? "" : ", ");
        print(text, r, q->kind == RD_PHRASE_WHERE ? q->first : q);
    }
    rd_text_add(text, "] ");
    print(text, r, p->body);
    rd_text_add(text, ")");
}

/* Prints operands with signs between them: "(a + b)", "(a < b <= c)", "(c ? a : b)". Operands
 * are from p->first on by `next`. A choice has the signs ? and :, one after the other. A LINK
 * has an operator of its own; other pieces have p->op. */
static void print_between(rd_text *text, const rd_formula_reader *r, const rd_phrase *p)
{
    const char *between = p->kind == RD_PHRASE_CHOICE ? "?:" : NULL;

    rd_text_add(text, "(");
    print(text, r, p->first);
    for (const rd_phrase *q = p->first->next; q; q = q->next) {
        if (between)
            rd_text_add(text, " %c ", *between++);
        else
            rd_text_add(text, " %s ", sign_of(q->kind == RD_PHRASE_LINK ? q->op : p->op));
        print(text, r, q->kind == RD_PHRASE_LINK ? q->first : q);
    }
    rd_text_add(text, ")");
}

/* Prints a piece of the tree by its kind, with all parentheses. */
static void print(rd_text *text, const rd_formula_reader *r, const rd_phrase *p)
{
    switch (p->kind) {
    case RD_PHRASE_NUMBER: print_number(text, p); break;
    case RD_PHRASE_TEXT:
    case RD_PHRASE_NAME: print_name(text, r, p); break;
    case RD_PHRASE_UNARY:
        rd_text_add(text, "(%s", sign_of(p->op));
        print(text, r, p->first);
        rd_text_add(text, ")");
        break;
    case RD_PHRASE_BINARY:
    case RD_PHRASE_COMPARE:
    case RD_PHRASE_CHOICE: print_between(text, r, p); break;
    case RD_PHRASE_CALL:
        print_name(text, r, p);
        rd_text_add(text, "(");
        print_list(text, r, p->first, ", ");
        rd_text_add(text, ")");
        break;
    case RD_PHRASE_KEYWORD:
        print_name(text, r, p);
        rd_text_add(text, "=");
        print_list(text, r, p->first, "..");
        break;
    case RD_PHRASE_LIST:
        rd_text_add(text, "[");
        print_list(text, r, p->first, ", ");
        rd_text_add(text, "]");
        break;
    case RD_PHRASE_AT:
        print(text, r, p->first);
        rd_text_add(text, "[");
        print_list(text, r, p->first->next, ", ");
        rd_text_add(text, "]");
        break;
    case RD_PHRASE_SLICE: print_list(text, r, p->first, ":"); break;
    case RD_PHRASE_NEW: rd_text_add(text, "None"); break;
    case RD_PHRASE_REST: rd_text_add(text, "..."); break;
    case RD_PHRASE_TRANSPOSED:
        print(text, r, p->first);
        rd_text_add(text, ".T");
        break;
    case RD_PHRASE_REDUCE: print_reduction(text, r, p); break;
    case RD_PHRASE_INDEX: print_index(text, r, p); break;
    default: break;
    }
}

/* Prints all statements, a line each: "y[i] = (x[i] + 1)". s->length 0: it has no name; s->index
 * NULL: no indices; s->add: +=. */
void rd_formula_print(rd_text *text, const rd_formula_reader *r)
{
    for (int k = 0; k < r->n_statements; k++) {
        const rd_statement *s = &r->statement[k];

        rd_text_add(text, "%.*s", (int)s->length, r->text + s->at);
        if (s->index) {
            rd_text_add(text, "[");
            print_list(text, r, s->index->first, ", ");
            rd_text_add(text, "]");
        }
        rd_text_add(text, "%s", !s->length ? "" : s->add ? " += " : " = ");
        print(text, r, s->tree);
        rd_text_add(text, "\n");
    }
}
