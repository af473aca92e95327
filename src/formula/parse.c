/* parse.c - the recursive-descent parser: statements, operands, brackets, indices.
 *
 *      m[i] = mean[j where j < i] x[i, j] + 1
 *
 * becomes a statement m with the index i and the tree BINARY + of REDUCE mean (INDEX j, WHERE;
 * body AT x) and NUMBER 1. parse_operators.c has the operators.
 *
 * A *piece* (rd_phrase) is a node of the tree. r->now is the next token to read. Functions that
 * read return NULL or false after recording an error. */
#include "formula/formula.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tokens ---------------------------------------------------------------------------------- */
/* The next token to read. */
const rd_token *rd_formula_token(const rd_formula_reader *r)
{
    return &r->token[r->now];
}

/* True if the token is this sign or name. */
static bool token_is(const rd_formula_reader *r, const rd_token *t, const char *text)
{
    return (t->kind == RD_TOKEN_SIGN || t->kind == RD_TOKEN_NAME) &&
           rd_formula_is(r, t->at, t->length, text);
}

/* True if the next token is this sign or name. */
bool rd_formula_next(const rd_formula_reader *r, const char *text)
{
    return token_is(r, rd_formula_token(r), text);
}

/* Reads the next token if it is this sign or name, and returns true; else nothing is read. */
bool rd_formula_take(rd_formula_reader *r, const char *text)
{
    const bool found = rd_formula_next(r, text);

    r->now += found;
    return found;
}

/* Returns advice for a token that another language has after an array, and that cannot stand
 * there here; "" without any. */
static const char *advice_for(const rd_formula_reader *r, const rd_token *t)
{
    if (token_is(r, t, "="))
        return ": == compares";
    return rd_formula_is(r, t->at, t->length, "in") ? ": say x == 6 or x == 8, or 6 <= x <= 8" : "";
}

/* Records that `what` was expected, and which token was found; returns NULL. At most 40 bytes of
 * the token are shown. */
void *rd_formula_expected(rd_formula_reader *r, const char *what)
{
    const rd_token *t = rd_formula_token(r);
    const int       n = t->length < 40 ? (int)t->length : 40;

    if (t->kind == RD_TOKEN_END)
        return rd_formula_fail(r, RD_ERR_TEXT, t->at, "expected %s, found the end", what);
    if (t->kind == RD_TOKEN_LINE)
        return rd_formula_fail(r, RD_ERR_TEXT, t->at, "expected %s, found the statement's end",
                               what);
    return rd_formula_fail(r, RD_ERR_TEXT, t->at, "expected %s, found '%.*s'%s", what, n,
                           r->text + t->at, advice_for(r, t));
}

/* ---- Pieces ---------------------------------------------------------------------------------- */
/* Makes a piece (a node of the syntax tree) for token t. There is room for four pieces per
 * token, and no token makes more. The first ':' of a slice makes a slice and three empty bounds.
 * A comparison makes a chain and its first link. The '..' of a coordinate makes a keyword and
 * two empty ends. All others make one. Its name or sign is that of the token: p->at and
 * p->length. label -1: it is no index. It lives in r->piece, which the reader frees. */
rd_phrase *rd_phrase_new(rd_formula_reader *r, rd_phrase_kind kind, const rd_token *t)
{
    rd_phrase *p;

    assert(r->n_pieces < r->room);
    p         = &r->piece[r->n_pieces++];
    p->kind   = kind;
    p->at     = t->at;
    p->length = t->length;
    p->label  = -1;
    return p;
}

/* Appends an operand to the operands of p, a node of the syntax tree, and counts depth and
 * nested calls; both are limited to save stack. False: a limit is exceeded, or the operand is
 * NULL. p->depth is the depth of the tree below, p->calls how many calls are inside each other
 * there. Operands are a list from p->first to p->last by `next`. */
bool rd_phrase_add(rd_formula_reader *r, rd_phrase *p, rd_phrase *operand)
{
    if (!operand)
        return false;
    if (operand->depth >= RD_FORMULA_DEPTH)
        return rd_formula_fail(r, RD_ERR_LIMIT, operand->at,
                               "more than %d operators, one on what the other gives: name parts of "
                               "it in statements of their own",
                               RD_FORMULA_DEPTH);
    const int calls = operand->calls + (p->kind == RD_PHRASE_CALL);
    if (calls > RD_FORMULA_CALLS)
        return rd_formula_fail(r, RD_ERR_LIMIT, p->at,
                               "more than %d calls, one on what the other gives: name parts of it "
                               "in statements of their own",
                               RD_FORMULA_CALLS);
    if (calls > p->calls)
        p->calls = calls;
    if (operand->depth >= p->depth)
        p->depth = operand->depth + 1;
    if (p->last)
        p->last->next = operand;
    else
        p->first = operand;
    p->last = operand;
    return true;
}

/* Makes the number an imaginary one, 2j, as Python writes it. The last byte of the token is the
 * j. */
static rd_phrase *make_imaginary(rd_formula_reader *r, rd_phrase *p, const rd_token *t)
{
    p->imaginary = true;
    p->real      = rd_function_number_value(r->text + t->at, t->length - 1);
    return p;
}

/* Reads a number, as a node of the syntax tree: whole, with a fraction, or imaginary. NULL after
 * recording that a whole one is too large. `fraction`: it has a point or an exponent, so it is
 * real. errno says that it is beyond 64 bits. */
static rd_phrase *read_number(rd_formula_reader *r)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p = rd_phrase_new(r, RD_PHRASE_NUMBER, t);
    bool            fraction;

    r->now++;
    if (r->text[t->at + t->length - 1] == 'j')
        return make_imaginary(r, p, t);
    rd_function_number_length(r->text + t->at, &fraction);
    p->whole = !fraction;
    if (fraction) {
        p->real = rd_function_number_value(r->text + t->at, t->length);
        return p;
    }
    errno      = 0;
    p->integer = strtoll(r->text + t->at, NULL, 10);
    return errno ? rd_formula_fail(r, RD_ERR_TEXT, t->at, "a whole number over 2^63") : p;
}

/* ---- Brackets -------------------------------------------------------------------------------- */
/* Reads start:stop:step from the first ":" on; each bound may be empty. `start` has been read
 * already; NULL: it is empty. `end` is stop, then step. They are empty where no ":" is left, or
 * where ":", "," or "]" follows it. Empty bounds are pieces too, so that a slice always has
 * three. */
static rd_phrase *read_slice(rd_formula_reader *r, rd_phrase *start)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p = rd_phrase_new(r, RD_PHRASE_SLICE, t);

    if (!start)
        start = rd_phrase_new(r, RD_PHRASE_EMPTY, t);
    if (!rd_phrase_add(r, p, start))
        return NULL;
    for (int k = 0; k < 2; k++) {
        rd_phrase *end;

        if (!rd_formula_take(r, ":") || rd_formula_next(r, ":") || rd_formula_next(r, ",") ||
            rd_formula_next(r, "]"))
            end = rd_phrase_new(r, RD_PHRASE_EMPTY, t);
        else
            end = rd_formula_read(r);
        if (!rd_phrase_add(r, p, end))
            return NULL;
    }
    return p;
}

/* Reads a coordinate subscript: name=value or name=low..high, with either end optional. ':' is
 * read as '..'. The piece is a KEYWORD with one end or two; an empty one is a piece, too.
 * `range`: the first end was followed by "..", so that another is read. NULL after an error. */
static rd_phrase *read_coordinates(rd_formula_reader *r)
{
    rd_phrase *p     = rd_phrase_new(r, RD_PHRASE_KEYWORD, rd_formula_token(r));
    bool       range = false;

    r->now += 2;
    do {
        const rd_token *t   = rd_formula_token(r);
        rd_phrase      *end = NULL;

        if (rd_formula_next(r, "..") || rd_formula_next(r, ":") || rd_formula_next(r, ",") ||
            rd_formula_next(r, "]"))
            end = rd_phrase_new(r, RD_PHRASE_EMPTY, t);
        else
            end = rd_formula_read(r);
        if (!rd_phrase_add(r, p, end))
            return NULL;
        range = !range && (rd_formula_take(r, "..") || rd_formula_take(r, ":"));
    } while (range);
    return p;
}

/* Reads one subscript: a coordinate (lat=45), "...", None (a new axis), a slice or a value. NULL
 * after an error. */
static rd_phrase *read_subscript(rd_formula_reader *r)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p;

    if (t->kind == RD_TOKEN_NAME && token_is(r, t + 1, "="))
        return read_coordinates(r);
    if (rd_formula_take(r, "..."))
        return rd_phrase_new(r, RD_PHRASE_REST, t);
    if (rd_formula_take(r, "None") || rd_formula_take(r, "newaxis") || rd_formula_take(r, "new"))
        return rd_phrase_new(r, RD_PHRASE_NEW, t);
    if (rd_formula_next(r, ":"))
        return read_slice(r, /*start=*/NULL);
    p = rd_formula_read(r);
    return p && rd_formula_next(r, ":") ? read_slice(r, p) : p;
}

/* Reads the subscripts of the array `of`, from [ to ], as a node with the array and its
 * subscripts. NULL after an error. p->length is set to end behind "]". */
static rd_phrase *read_subscripts(rd_formula_reader *r, rd_phrase *of)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p = rd_phrase_new(r, RD_PHRASE_AT, t);

    r->now++;
    if (!rd_phrase_add(r, p, of))
        return NULL;
    do {
        if (!rd_phrase_add(r, p, read_subscript(r)))
            return NULL;
    } while (rd_formula_take(r, ",") && !rd_formula_next(r, "]"));
    p->length = rd_formula_token(r)->at + 1 - p->at;
    return rd_formula_take(r, "]") ? p : rd_formula_expected(r, "',' or ']' of these subscripts");
}

/* Reads items up to the bracket `end`, as a list. A single item without a comma is the item
 * itself, unless `always` makes it a list: (a) is a, and [a] is a list. NULL after an error. */
static rd_phrase *read_list(rd_formula_reader *r, const char *end, bool always)
{
    rd_phrase *p = rd_phrase_new(r, RD_PHRASE_LIST, rd_formula_token(r)), *item;
    int        n = 0;

    r->now++;
    while (!rd_formula_take(r, end)) {
        item = rd_formula_read(r);
        if (!item)
            return NULL;
        if (!n++ && !always && rd_formula_take(r, end))
            return item;
        if (!rd_phrase_add(r, p, item))
            return NULL;
        if (!rd_formula_take(r, ",") && !rd_formula_next(r, end))
            return rd_formula_expected(r, *end == ')' ? "an operator, ',' or ')'"
                                                      : "an operator, ',' or ']'");
    }
    return p;
}

/* Reads one argument of a call, with a keyword (name = value) or without. NULL after an error. */
static rd_phrase *read_argument(rd_formula_reader *r)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p;

    if (t->kind != RD_TOKEN_NAME || !token_is(r, t + 1, "="))
        return rd_formula_read(r);
    p = rd_phrase_new(r, RD_PHRASE_KEYWORD, t);
    r->now += 2;
    return rd_phrase_add(r, p, rd_formula_read(r)) ? p : NULL;
}

/* Reads arguments up to the closing parenthesis, and appends them to p. */
static rd_phrase *read_arguments(rd_formula_reader *r, rd_phrase *p)
{
    while (!rd_formula_take(r, ")")) {
        if (!rd_phrase_add(r, p, read_argument(r)))
            return NULL;
        if (!rd_formula_take(r, ",") && !rd_formula_next(r, ")"))
            return rd_formula_expected(r, "an operator, ',' or ')'");
    }
    return p;
}

/* Reads a call from its name on: name(arguments). */
static rd_phrase *read_call(rd_formula_reader *r)
{
    rd_phrase *p = rd_phrase_new(r, RD_PHRASE_CALL, rd_formula_token(r));

    r->now += 2;
    return read_arguments(r, p);
}

/* ---- Indices --------------------------------------------------------------------------------- */
/* Reads an index with an optional range, "i in 0:3", and appends it to `into`. The ends of the
 * range are its operands. They go as far as operators that bind more tightly than comparisons do
 * (RD_RANK_BITS). False after an error. */
bool rd_formula_read_index(rd_formula_reader *r, rd_phrase *into)
{
    const rd_token *t = rd_formula_token(r);
    rd_phrase      *p;

    if (t->kind != RD_TOKEN_NAME)
        return rd_formula_expected(r, "the name of an index");
    p = rd_phrase_new(r, RD_PHRASE_INDEX, t);
    r->now++;
    rd_phrase_add(r, into, p); /* cannot fail: p has no operands yet */
    if (!rd_formula_take(r, "in"))
        return true;
    if (!rd_phrase_add(r, p, rd_formula_read_binary(r, RD_RANK_BITS)))
        return false;
    if (!rd_formula_take(r, ":"))
        return rd_formula_expected(r, "':' of the range, as in 0:10");
    return rd_phrase_add(r, p, rd_formula_read_binary(r, RD_RANK_BITS));
}

/* Reads a reduction, name[i, j in 0:3 where i < j, skip_nan=true] body: its operands are
 * indices, keywords and the condition. The body goes as far as products do. NULL after an error.
 * An index has no "=" behind its name, a keyword has. The body adds to p's depth and calls as an
 * operand does. */
static rd_phrase *read_reduction(rd_formula_reader *r)
{
    rd_phrase *p = rd_phrase_new(r, RD_PHRASE_REDUCE, rd_formula_token(r)), *where;

    r->now += 2;
    do {
        const rd_token *t       = rd_formula_token(r);
        const bool      keyword = t->kind == RD_TOKEN_NAME && token_is(r, t + 1, "=");

        if (keyword ? !rd_phrase_add(r, p, read_argument(r)) : !rd_formula_read_index(r, p))
            return NULL;
    } while (rd_formula_take(r, ","));
    if (rd_formula_next(r, "where")) {
        where = rd_phrase_new(r, RD_PHRASE_WHERE, rd_formula_token(r));
        r->now++;
        if (!rd_phrase_add(r, where, rd_formula_read(r)) || !rd_phrase_add(r, p, where))
            return NULL;
    }
    if (!rd_formula_take(r, "]"))
        return rd_formula_expected(r, "',', 'in', 'where' or ']' of the reduction");
    p->body = rd_formula_read_binary(r, RD_RANK_PRODUCT);
    if (!p->body)
        return NULL;
    if (p->body->calls > p->calls)
        p->calls = p->body->calls;
    if (p->body->depth >= p->depth)
        p->depth = p->body->depth + 1;
    return p->depth <= RD_FORMULA_DEPTH
               ? p
               : rd_formula_fail(r, RD_ERR_LIMIT, p->at, "nested too deeply");
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Reads what begins with a name: a call, a reduction or the name itself. A name that is both a
 * reducer and an array is the array: sum[0] may be an element. NULL after an error. */
static rd_phrase *read_name(rd_formula_reader *r)
{
    const rd_token *t = rd_formula_token(r);

    if (token_is(r, t, "and") || token_is(r, t, "or") || token_is(r, t, "in"))
        return rd_formula_expected(r, "an operand");
    if (token_is(r, t + 1, "("))
        return read_call(r);
    if (token_is(r, t + 1, "[") && rd_formula_reduces(r, t->at, t->length) &&
        !rd_formula_has_array(r, t->at, t->length))
        return read_reduction(r);
    r->now++;
    return rd_phrase_new(r, RD_PHRASE_NAME, t);
}

/* Reads an operand without what follows it: a number, a name, a text, parentheses or a list.
 * NULL after an error. */
static rd_phrase *read_primary(rd_formula_reader *r)
{
    const rd_token *t = rd_formula_token(r);

    if (t->kind == RD_TOKEN_NUMBER)
        return read_number(r);
    if (t->kind == RD_TOKEN_NAME)
        return read_name(r);
    if (t->kind == RD_TOKEN_TEXT) {
        r->now++;
        return rd_phrase_new(r, RD_PHRASE_TEXT, t);
    }
    if (rd_formula_next(r, "("))
        return read_list(r, ")", /*always=*/false);
    if (rd_formula_next(r, "["))
        return read_list(r, "]", /*always=*/true);
    return rd_formula_expected(r, "an operand");
}

/* Reads a method call: x.mean(axis=0) is mean(x, axis=0). */
static rd_phrase *read_method(rd_formula_reader *r, rd_phrase *of)
{
    rd_phrase *p = rd_phrase_new(r, RD_PHRASE_CALL, rd_formula_token(r));

    r->now += 2;
    return rd_phrase_add(r, p, of) ? read_arguments(r, p) : NULL;
}

/* Reads the member behind a dot: T, a method, or a function of one argument, such as x.real.
 * `of` is the operand before the dot and t the token behind it. real, imag and size become
 * calls; k is 0 for T, whose piece begins at the dot. NULL after an error. */
static rd_phrase *read_member(rd_formula_reader *r, rd_phrase *of)
{
    static const char *const plain[] = { "T", "real", "imag", "size" };
    const rd_token          *t       = &r->token[r->now + 1];
    rd_phrase               *p;

    r->now++;
    if (t->kind == RD_TOKEN_NAME && token_is(r, t + 1, "("))
        return read_method(r, of);
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (rd_formula_next(r, plain[k])) {
            p = rd_phrase_new(r, k ? RD_PHRASE_CALL : RD_PHRASE_TRANSPOSED, t - !k);
            r->now++;
            return rd_phrase_add(r, p, of) ? p : NULL;
        }
    return rd_formula_expected(r,
                               "T, for the last two axes swapped, or a call, as in x.mean(axis=0)");
}

/* Reads an operand with its subscripts and members, x[0].T. NULL after an error. */
rd_phrase *rd_formula_read_operand(rd_formula_reader *r)
{
    rd_phrase *p = read_primary(r);

    while (p && (rd_formula_next(r, "[") || rd_formula_next(r, "."))) {
        rd_phrase *of = p;

        if (rd_formula_next(r, "[")) {
            p = read_subscripts(r, of);
            continue;
        }
        p = read_member(r, of);
    }
    return p;
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* True if the statement begins with a name, perhaps brackets, and then = or +=. `open` counts
 * brackets that are not closed; nothing is read. */
static bool is_named(const rd_formula_reader *r)
{
    const rd_token *t    = rd_formula_token(r);
    int             open = 0;

    if (t->kind != RD_TOKEN_NAME)
        return false;
    t++;
    if (token_is(r, t, "["))
        do {
            open += token_is(r, t, "[");
            open -= token_is(r, t, "]");
            t++;
        } while (open && t->kind != RD_TOKEN_END && t->kind != RD_TOKEN_LINE);
    return token_is(r, t, "=") || token_is(r, t, "+=");
}

/* Reads the left side of a statement, its name, indices and sign: "m =", "m[i] =", "m +=". False
 * after an error. s->at and s->length are the name, s->index the list of indices, and s->add
 * says +=. */
static bool read_left(rd_formula_reader *r, rd_statement *s)
{
    const rd_token *t = rd_formula_token(r);

    s->at     = t->at;
    s->length = t->length;
    r->now++;
    if (rd_formula_next(r, "[")) {
        s->index = rd_phrase_new(r, RD_PHRASE_LIST, rd_formula_token(r));
        r->now++;
        do {
            if (!rd_formula_read_index(r, s->index))
                return false;
        } while (rd_formula_take(r, ","));
        if (!rd_formula_take(r, "]"))
            return rd_formula_expected(r, "',', 'in' or ']' of the result's indices");
    }
    s->add = rd_formula_take(r, "+=");
    return s->add || rd_formula_take(r, "=") || rd_formula_expected(r, "'='");
}

/* Reads one statement, with or without a name, up to the end of its line or a ";". False after
 * an error. s->tree is its expression; s->from to s->to are its bytes in the text. */
static bool read_statement(rd_formula_reader *r)
{
    rd_statement *s = &r->statement[r->n_statements];

    if (r->n_statements == RD_FORMULA_STATEMENTS)
        return rd_formula_fail(r, RD_ERR_LIMIT, rd_formula_token(r)->at, "more than %d statements",
                               RD_FORMULA_STATEMENTS);
    s->from = rd_formula_token(r)->at;
    if (is_named(r) && !read_left(r, s))
        return false;
    s->tree = rd_formula_read(r);
    if (!s->tree)
        return false;
    if (rd_formula_token(r)->kind != RD_TOKEN_LINE && rd_formula_token(r)->kind != RD_TOKEN_END)
        return rd_formula_expected(r, "an operator, ';' or the end");
    s->to = r->token[r->now - 1].at + r->token[r->now - 1].length;
    r->n_statements++;
    return true;
}

/* Reads all statements of the text. The nodes of the syntax tree are allocated at once, four for
 * each token at most. False after an error. r->piece has them, r->room says for how many there
 * is room. A text without a statement is an error. */
bool rd_formula_parse(rd_formula_reader *r)
{
    r->room  = 4 * r->n_tokens + 16;
    r->piece = rd_alloc(r->ctx, r->room * (int64_t)sizeof *r->piece);
    if (!r->piece)
        return false;
    for (;;) {
        while (rd_formula_token(r)->kind == RD_TOKEN_LINE)
            r->now++;
        if (rd_formula_token(r)->kind == RD_TOKEN_END)
            break;
        if (!read_statement(r))
            return false;
    }
    return r->n_statements || rd_formula_expected(r, "a formula");
}
