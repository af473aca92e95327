/* function_token.c - the tokens of function text: spaces, names, numbers; failures that show
 * where.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "core/float_env.h"
#include "expr/function_text.h"
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True for the white space of C's locale. <ctype.h> is not used, as it follows the program's
 * locale. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* True for a printable ASCII character, which messages can show. */
static bool is_plain(char c)
{
    return c > ' ' && c <= '~';
}

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

/* ---- Failure --------------------------------------------------------------------------------- */
/* Records a failure of function text with the text and a caret under `at`, unless the reader is
 * quiet; returns NULL. */
void *rd_function_fail(rd_reader *r, const char *at, const char *format, ...)
{
    char    what[180] = "function text: ";
    va_list list;

    if (r->quiet)
        return NULL;
    va_start(list, format);
    /* clang-tidy 14 forgets va_start() in all files but the first of a run. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(what + strlen(what), sizeof what - strlen(what), format, list);
    va_end(list);
    return rd_fail_text(r->ctx, r->call, what, r->text, (size_t)(at - r->text));
}

/* Records that `what` is missing at r->at, and what is there instead. */
void *rd_function_expected(rd_reader *r, const char *what)
{
    if (!*r->at)
        return rd_function_fail(r, r->at, "expected %s, found the end", what);
    if (!is_plain(*r->at))
        return rd_function_fail(r, r->at, "expected %s, found byte 0x%02X", what,
                                (unsigned char)*r->at);
    return rd_function_fail(r, r->at, "expected %s, found '%c'", what, *r->at);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */
/* Skips spaces; returns where the text goes on. */
const char *rd_function_skip(rd_reader *r)
{
    while (is_space(*r->at))
        r->at++;
    return r->at;
}

/* Reads the token if it comes next, after spaces; else false. */
bool rd_function_take(rd_reader *r, const char *token)
{
    size_t n = strlen(token);

    if (strncmp(rd_function_skip(r), token, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* The length of the name that comes next, after spaces; 0: there is none. */
size_t rd_function_word(rd_reader *r)
{
    size_t n = 0;

    rd_function_skip(r);
    while (is_letter(r->at[n]) || (n && is_digit(r->at[n])))
        n++;
    return n;
}

/* ---- Numbers --------------------------------------------------------------------------------- */
/* The number of decimal digits at c. */
static size_t digits(const char *c)
{
    size_t n = 0;

    while (is_digit(c[n]))
        n++;
    return n;
}

/* Measures the number at c.  It is a fraction if it has a point, an exponent or the suffix f.
 * Two points are a range, as in 30..40, and belong to no number. */
size_t rd_function_number_length(const char *c, bool *fraction)
{
    size_t n = digits(c), sign;

    *fraction = c[n] == '.' && c[n + 1] != '.';
    if (*fraction)
        n += 1 + digits(c + n + 1);
    /* characters of "e", or "e-" and "e+"; 0: no exponent */
    sign = c[n] == 'e' || c[n] == 'E' ? (c[n + 1] == '+' || c[n + 1] == '-') + 1u : 0;
    if (sign && is_digit(c[n + sign])) {
        *fraction = true;
        n += sign + digits(c + n + sign);
    }
    return n;
}

/* Converts n characters of a number to a double. strtod() expects the locale's decimal point, and
 * the text always has '.', so the characters are copied. */
double rd_function_number_value(const char *c, size_t n)
{
    const char *point = localeconv()->decimal_point;
    char        copy[RD_TEXT_NUMBER + 16];
    size_t      k = 0;

    for (size_t i = 0; i < n; i++)
        /* 16: the spare room of `copy` */
        if (c[i] == '.' && strlen(point) < 16)
            k += (size_t)snprintf(copy + k, sizeof copy - k, "%s", point);
        else
            copy[k++] = c[i];
    copy[k]                  = '\0';
    const rd_float_env env   = rd_float_env_begin(); /* the rounding mode that strtod uses */
    const double       value = strtod(copy, NULL);

    rd_float_env_end(env);
    return value;
}

/* Reads the number that begins at r->at: a fraction, or one with the suffix f, becomes a weak
 * float, any other number a weak int (both take the type of operands beside them). */
rd_expr *rd_function_number(rd_reader *r)
{
    const char *c = r->at;
    bool        fraction;
    size_t      n = rd_function_number_length(c, &fraction),
           f      = c[n] == 'f' || c[n] == 'F'; /* f: suffix */

    if (n > RD_TEXT_NUMBER)
        return rd_function_fail(r, c, "a number of %zu characters", n);
    if (is_letter(c[n + f]) || is_digit(c[n + f]) || c[n + f] == '.') {
        r->at += n + f;
        return rd_function_expected(r, "an operator after the number");
    }
    r->at += n + f;
    if (fraction || f)
        return rd_num(r->ctx, rd_function_number_value(c, n));
    if (r->real && *c == '0' && n > 1)
        return rd_function_fail(r, c, "octal number");
    errno         = 0;
    int64_t value = strtoll(c, NULL, 10);
    return errno ? rd_function_fail(r, c, "a whole number over 2^63") : rd_int(r->ctx, value);
}
