/* einsum.c - reads the text of an einsum, "ij,jk->ik": letters for axes, "..." for axes that
 * broadcast.  The grammar is NumPy's. */
#include "expr/contract.h"
#include "expr/lists.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Labels: a to z, A to Z, then axes of "..." from the last one on. */
enum { LETTERS = 52, MOST_DOTS = RD_MAX_LABELS - LETTERS };

/* The state of the parser. */
typedef struct reader {
    rd_ctx     *ctx;
    const char *text, *p;              /* the whole text; where to read on */
    int         n, n_dots;             /* operands; the most axes that a "..." stands for */
    rd_term    *term;                  /* operands with the labels read so far */
    size_t      seen[LETTERS];         /* how often each letter occurs in operands */
    int64_t     extent[RD_MAX_LABELS]; /* of each label; 1 until a longer axis has it */
} reader;

/* Records a failure with a caret under `at`; returns false. */
static bool fail_status(reader *r, rd_status status, const char *at, const char *what)
{
    rd_fail_at(r->ctx, status, "rd_einsum", what, r->text, (size_t)(at - r->text));
    return false;
}

/* Records RD_ERR_TEXT with a caret under `at`; returns false. */
static bool fail(reader *r, const char *at, const char *what)
{
    return fail_status(r, RD_ERR_TEXT, at, what);
}

/* Skips spaces of the text. */
static void skip_spaces(reader *r)
{
    while (*r->p == ' ')
        r->p++;
}

/* Reads the word if it comes next, after spaces; else false. */
static bool accept(reader *r, const char *word)
{
    skip_spaces(r);
    if (strncmp(r->p, word, strlen(word)) != 0)
        return false;
    r->p += strlen(word);
    return true;
}

/* Reads a letter; returns its label, 0 to 51, or -1 if no letter comes next. */
static int take_letter(reader *r)
{
    skip_spaces(r);
    const char c = *r->p;

    if (c >= 'a' && c <= 'z')
        return r->p++, c - 'a';
    if (c >= 'A' && c <= 'Z')
        return r->p++, c - 'A' + 26;
    return -1;
}

/* The number of letters from p to the end of the operand's term, at a comma or an arrow: axes that
 * "..." does not stand for. */
static int count_letters(const char *p)
{
    int n = 0;

    for (; *p && *p != ',' && *p != '-'; p++)
        n += isalpha((unsigned char)*p) != 0;
    return n;
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Notes the extent n of an axis with a label.  False after recording that an earlier axis of this
 * label has another extent, and neither is 1, which broadcasts. */
static bool take_extent(reader *r, int label, int64_t n, const char *at)
{
    char what[120];

    if (r->extent[label] != n && r->extent[label] != 1 && n != 1) {
        snprintf(what, sizeof what,
                 "this axis has extent %lld, and an earlier one of its name %lld", (long long)n,
                 (long long)r->extent[label]);
        return fail_status(r, RD_ERR_SHAPE, at, what);
    }
    if (n != 1)
        r->extent[label] = n;
    return true;
}

/* Gives the n axes that "..." stands for, from *axis on, the labels behind those of letters.  The
 * last of them gets the first such label, as these axes are aligned at the end.  False after
 * recording a failure. */
static bool read_dots(reader *r, rd_term *t, int *axis, int n, const char *at)
{
    if (n > MOST_DOTS)
        return fail_status(r, RD_ERR_LIMIT, at, "\"...\" stands for more than 12 axes");
    if (n > r->n_dots)
        r->n_dots = n;
    for (int k = n; k-- > 0; ++*axis) {
        t->label[*axis] = (int8_t)(LETTERS + k);
        if (!take_extent(r, LETTERS + k, t->x->extent[*axis], at))
            return false;
    }
    return true;
}

/* Gives the operand's next axis (*axis) a letter's label.  False after recording that there is no
 * axis left, or that a diagonal's axes (two of one letter) differ in extent. */
static bool read_letter(reader *r, rd_term *t, int *axis, int label, const char *at)
{
    if (*axis >= t->x->rank)
        return fail_status(r, RD_ERR_SHAPE, at, "the operand has no axis left for this letter");
    for (int a = 0; a < *axis; a++)
        if (t->label[a] == label && t->x->extent[a] != t->x->extent[*axis])
            return fail_status(r, RD_ERR_SHAPE, at, "of a diagonal both axes are as long");
    r->seen[label]++;
    t->label[*axis] = (int8_t)label;
    return take_extent(r, label, t->x->extent[(*axis)++], at);
}

/* Reads the letters and dots of one operand, such as "...ij", and checks that they name each of its
 * axes.  False after recording a failure. */
static bool read_term(reader *r, rd_term *t)
{
    bool dots = false;
    int  axis = 0; /* the next one to name */

    for (;;) {
        skip_spaces(r);
        const char *at = r->p;
        const int   k  = take_letter(r);

        if (k >= 0) {
            if (!read_letter(r, t, &axis, k, at))
                return false;
        } else if (!dots && accept(r, "...")) {
            const int rest = t->x->rank - axis - count_letters(r->p);

            dots = true;
            if (!read_dots(r, t, &axis, rest > 0 ? rest : 0, at))
                return false;
        } else if (!*r->p || *r->p == ',' || *r->p == '-') {
            break;
        } else {
            return fail(r, r->p, "expected a letter, \"...\", ',' or \"->\"");
        }
    }
    return axis == t->x->rank ||
           fail_status(r, RD_ERR_SHAPE, r->p, "the operand has more axes than letters here");
}

/* Reads the terms (letters) of all operands, separated by commas.  False after recording a
 * failure. */
static bool read_terms(reader *r)
{
    for (int k = 0; k < r->n; k++) {
        if (k > 0 && !accept(r, ","))
            return fail(r, r->p, "expected ',' and the axes of the next operand");
        if (!read_term(r, &r->term[k]))
            return false;
    }
    return *r->p != ',' || fail(r, r->p, "there is no further operand");
}

/* ---- The result ------------------------------------------------------------------------------ */
/* Appends the axes of "..." to the labels of the result. */
static void add_dots(const reader *r, int8_t *out, int *n)
{
    for (int k = r->n_dots; k-- > 0;)
        out[(*n)++] = (int8_t)(LETTERS + k);
}

/* Writes the labels of a result that the text does not give, as NumPy does: axes of "...", then
 * letters that occur once, in the alphabet's order, capitals first. */
static void imply_result(const reader *r, int8_t *out, int *n)
{
    add_dots(r, out, n);
    for (int k = 0; k < LETTERS; k++) {
        const int label = (k + 26) % LETTERS;

        if (r->seen[label] == 1)
            out[(*n)++] = (int8_t)label;
    }
}

/* Reads the labels behind the arrow.  Each must occur in an operand, and once in the result.  False
 * after recording a failure. */
static bool read_result(reader *r, int8_t *out, int *n)
{
    rd_labels named = 0;
    bool      dots  = false;

    for (skip_spaces(r); *r->p; skip_spaces(r)) {
        const char *at = r->p;
        const int   k  = take_letter(r);

        if (k < 0 && !dots && accept(r, "...")) {
            dots = true;
            add_dots(r, out, n);
            continue;
        }
        if (k < 0)
            return fail(r, at, "expected a letter, \"...\" or the end");
        if (!r->seen[k])
            return fail(r, at, "no operand has this letter");
        if (named >> k & 1)
            return fail(r, at, "a letter stands twice in the result");
        named |= (rd_labels)1 << k;
        out[(*n)++] = (int8_t)k;
    }
    return dots || r->n_dots == 0 ||
           fail(r, r->p, "the operands have axes of \"...\", which the result must name");
}

/* Reads the whole text, then contracts the operands.  NULL after recording a failure. */
static rd_expr *read_all(reader *r)
{
    int8_t out[RD_MAX_LABELS];
    int    n = 0;

    for (int l = 0; l < RD_MAX_LABELS; l++)
        r->extent[l] = 1;
    if (!read_terms(r))
        return NULL;
    if (!*r->p)
        imply_result(r, out, &n);
    else if (!accept(r, "->"))
        return fail(r, r->p, "expected \"->\""), NULL;
    else if (!read_result(r, out, &n))
        return NULL;
    return rd_contract("rd_einsum", r->n, r->term, n, out);
}

/* Contracts operands as an einsum text such as "ij,jk->ik" says: the public call. */
rd_expr *rd_einsum_text(const char *text, rd_exprs operands)
{
    reader r = { .text = text, .p = text, .n = operands.n };

    if (!rd_list_ok(/*ctx=*/NULL, "rd_einsum", "operands", operands.at, operands.n, /*least=*/1) ||
        !rd_operands("rd_einsum", operands.n, operands.at))
        return NULL;
    r.ctx = operands.at[0]->ctx;
    if (!text)
        return rd_fail(r.ctx, RD_ERR_ARGUMENT, "rd_einsum: the text is NULL");
    r.term = rd_alloc(r.ctx, operands.n * (int64_t)sizeof *r.term);
    if (!r.term)
        return NULL;
    for (int k = 0; k < operands.n; k++)
        r.term[k].x = operands.at[k];
    rd_expr *y = read_all(&r);

    rd_free(r.ctx, r.term);
    return y;
}
