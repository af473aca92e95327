/* token.c - the lexer: names, numbers, signs, texts in quotes, ends of statements; and failures.
 *
 *     y = x[0] + 2.5 # half
 *
 * gives NAME y, SIGN =, NAME x, SIGN [, NUMBER 0, SIGN ], SIGN +, NUMBER 2.5, END. */
#include "formula/formula.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failure --------------------------------------------------------------------------------- */
/* Records an error with a caret under byte `at` of the text, unless one is recorded already;
 * returns NULL. The text gets the name of the call r->call and a line of the text with the caret
 * by rd_fail_at(). r->failed ends the reading. */
void *rd_formula_fail(rd_formula_reader *r, rd_status status, size_t at, const char *format, ...)
{
    char    what[900];
    va_list list;

    if (r->failed)
        return NULL;
    r->failed = true;
    va_start(list, format);
    /* clang-tidy 14 misses va_start() in all files but the first of a run. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return rd_fail_at(r->ctx, status, r->call, what, r->text, at);
}

/* Returns x. If it is NULL, the error that its constructor recorded is replaced by one with the
 * same sentence and a caret under byte `at` of the text. Returns NULL then. A NULL without a
 * recorded error gets a sentence of its own. */
rd_expr *rd_formula_made(rd_formula_reader *r, rd_expr *x, size_t at)
{
    char what[900];

    if (x)
        return x;
    const rd_status status = rd_error(r->ctx);
    if (r->failed || status == RD_OK)
        return rd_formula_fail(r, RD_ERR_ARGUMENT, at, "nothing comes of this");
    /* The text begins with the name of the call, and so will the new text: skip it. */
    const char  *text = rd_error_text(r->ctx);
    const size_t name = strlen(r->call);

    if (!strncmp(text, r->call, name) && !strncmp(text + name, ": ", 2))
        text += name + 2;
    snprintf(what, sizeof what, "%s", text);
    rd_error_forgive(r->ctx);
    return rd_formula_fail(r, status, at, "%s", what);
}

/* ---- Characters ------------------------------------------------------------------------------ */
/* True for a decimal digit. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True for a letter or an underscore, which begins a name. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the number of bytes of the UTF-8 character at c, and its code point. 0: it is invalid,
 * too long for its value, or a surrogate. The first byte says how many there are (n, with 7, 5,
 * 4 or 3 bits of the code point), and each further one begins with the bits 10 and has 6.
 * least[n] is the least code point that needs n bytes; 0x1b << 11 begins the surrogates. */
static size_t read_utf8(const char *c, unsigned *point)
{
    const unsigned char *u = (const unsigned char *)c;
    const size_t n = *u < 0x80 ? 1 : *u >> 5 == 6 ? 2 : *u >> 4 == 14 ? 3 : *u >> 3 == 30 ? 4 : 0;
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };

    *point = n == 1 ? *u : n ? *u & (0x7fu >> n) : 0;
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (u[i] & 0x3f);
    }
    return *point < least[n] || *point > 0x10ffff || *point >> 11 == 0x1b ? 0 : n;
}

/* Checks that the text is valid UTF-8 of at most RD_FORMULA_LENGTH bytes, and measures it. False
 * after an error. *length is its bytes without the final 0. */
static bool check_utf8(rd_formula_reader *r, size_t *length)
{
    size_t   at = 0, n;
    unsigned point;

    while (r->text[at] && at <= RD_FORMULA_LENGTH) {
        if (!(n = read_utf8(r->text + at, &point)))
            return rd_formula_fail(r, RD_ERR_TEXT, at, "invalid UTF-8: byte 0x%02X",
                                   (unsigned char)r->text[at]);
        at += n;
    }
    *length = at;
    return at <= RD_FORMULA_LENGTH ||
           rd_formula_fail(r, RD_ERR_LIMIT, 0, "a formula of more than %d bytes",
                           RD_FORMULA_LENGTH);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */
/* Signs; longer signs stand before those that they begin with. */
static const char *const signs[] = { "...", "..", "**", "//", "||", "&&", "==", "!=", "<=",
                                     ">=",  "<<", ">>", "+=", "+",  "-",  "*",  "/",  "%",
                                     "^",   "@",  "<",  ">",  "!",  "~",  "&",  "|",  "?",
                                     ":",   ",",  "(",  ")",  "[",  "]",  "=",  "." };

/* Returns the length of the sign (operator, bracket, ..) at c in bytes; 0: there is none. The
 * table has longer signs first, so "**" is not read as "*". */
static size_t sign_length(const char *c)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(c, signs[i], strlen(signs[i])))
            return strlen(signs[i]);
    return 0;
}

/* Appends a token; returns true, so that callers can return it. */
static bool add_token(rd_formula_reader *r, rd_token_kind kind, size_t at, size_t length)
{
    r->token[r->n_tokens++] = (rd_token){ kind, at, length };
    return true;
}

/* Appends a text in quotes, which must end on its line. Its quotes are part of the token. False
 * after an error. */
static bool add_quoted(rd_formula_reader *r, size_t at)
{
    const char *c = r->text + at, *end = c + 1;

    while (*end && *end != *c && *end != '\n')
        end++;
    if (*end != *c)
        return rd_formula_fail(r, RD_ERR_TEXT, at, "no %c ends this text", *c);
    if (end - c > RD_FORMULA_NAME)
        return rd_formula_fail(r, RD_ERR_LIMIT, at, "a text of more than %d characters",
                               RD_FORMULA_NAME);
    return add_token(r, RD_TOKEN_TEXT, at, (size_t)(end + 1 - c));
}

/* Appends a number token; "2j" is one token. False after recording that it is too long, or that
 * a letter follows. `fraction` is not used here. */
static bool add_number(rd_formula_reader *r, size_t at)
{
    bool   fraction;
    size_t n = rd_function_number_length(r->text + at, &fraction);

    if (n > RD_TEXT_NUMBER)
        return rd_formula_fail(r, RD_ERR_LIMIT, at, "a number of %zu characters", n);
    n += r->text[at + n] == 'j'; /* an imaginary one */
    if (is_letter(r->text[at + n]) || is_digit(r->text[at + n]))
        return rd_formula_fail(r, RD_ERR_TEXT, at + n, "expected an operator after the number");
    return add_token(r, RD_TOKEN_NUMBER, at, n);
}

/* Appends a name: letters, digits and underscores. False after recording that it is too long. */
static bool add_name(rd_formula_reader *r, size_t at)
{
    size_t n = 1;

    while (is_letter(r->text[at + n]) || is_digit(r->text[at + n]))
        n++;
    if (n > RD_FORMULA_NAME)
        return rd_formula_fail(r, RD_ERR_LIMIT, at, "a name of %zu characters, more than %d", n,
                               RD_FORMULA_NAME);
    return add_token(r, RD_TOKEN_NAME, at, n);
}

/* Appends a sign (operator or bracket). False after recording that there is another character. */
static bool add_sign(rd_formula_reader *r, size_t at)
{
    const char  *c = r->text + at;
    const size_t n = sign_length(c);
    unsigned     point;

    if (n)
        return add_token(r, RD_TOKEN_SIGN, at, n);
    read_utf8(c, &point);
    if (*c > ' ' && *c <= '~')
        return rd_formula_fail(r, RD_ERR_TEXT, at, "a formula has no '%c'", *c);
    if (point < 0x80)
        return rd_formula_fail(r, RD_ERR_TEXT, at, "a formula has no byte 0x%02X", point);
    return rd_formula_fail(r, RD_ERR_TEXT, at,
                           "character U+%04X: names have letters a to z, digits and _", point);
}

/* True if the end of this line ends a statement: no bracket is open, and the last token is no
 * operator, which would go on. Empty lines end nothing. `open` counts open brackets. Of the
 * signs only ) and ] end an operand; `last` NULL: the text has no token yet. */
static bool line_ends(const rd_formula_reader *r, int open)
{
    const rd_token *last = r->n_tokens ? &r->token[r->n_tokens - 1] : NULL;

    if (open > 0 || !last || last->kind == RD_TOKEN_LINE)
        return false;
    return last->kind != RD_TOKEN_SIGN || strchr(")]", r->text[last->at]);
}

/* Returns where the comment that begins at `at` ends: at the end of the line or of the text. */
static size_t comment_end(const char *text, size_t at)
{
    while (text[at] && text[at] != '\n')
        at++;
    return at;
}

/* Appends the token that begins at `at`. *open counts open brackets, inside which a line does not
 * end a statement. False after an error. A line's end inside brackets or behind an operator
 * appends nothing. A number may begin with a point. */
static bool add_next(rd_formula_reader *r, size_t at, int *open)
{
    const char c = r->text[at];

    if (c == ';')
        return add_token(r, RD_TOKEN_LINE, at, 1);
    if (c == '\n')
        return line_ends(r, *open) ? add_token(r, RD_TOKEN_LINE, at, 1) : true;
    if (is_letter(c))
        return add_name(r, at);
    if (is_digit(c) || (c == '.' && is_digit(r->text[at + 1])))
        return add_number(r, at);
    if (c == '"' || c == '\'')
        return add_quoted(r, at);
    *open += c == '(' || c == '[';
    *open -= c == ')' || c == ']';
    return add_sign(r, at);
}

/* True if the `length` bytes at `at` are the text. */
bool rd_formula_is(const rd_formula_reader *r, size_t at, size_t length, const char *text)
{
    return strlen(text) == length && !memcmp(r->text + at, text, length);
}

/* Splits the text into tokens; blanks and comments are skipped. False after an error. No token
 * is shorter than a byte, so `length` + 1 of them have room, with END. r->token is freed by the
 * reader. A byte that appends no token, such as a line's end, is passed by (`before`: tokens so
 * far). */
bool rd_formula_tokens(rd_formula_reader *r)
{
    size_t length = 0, at = 0;
    int    open = 0;

    if (!check_utf8(r, &length) ||
        !(r->token = rd_alloc_raw(r->ctx, (int64_t)((length + 1) * sizeof *r->token))))
        return false;
    while (r->text[at]) {
        const int before = r->n_tokens;

        if (r->text[at] == ' ' || r->text[at] == '\t' || r->text[at] == '\r') {
            at++;
        } else if (r->text[at] == '#') {
            at = comment_end(r->text, at);
        } else if (!add_next(r, at, &open)) {
            return false;
        } else {
            at = r->n_tokens > before ? r->token[before].at + r->token[before].length : at + 1;
        }
    }
    return add_token(r, RD_TOKEN_END, at, 0);
}
