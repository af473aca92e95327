/* formula.c - formulas in text: precedence climbing over characters, one function a level.  Depth
 * and length are limited, so that hostile text ends with a sentence. */
#include "formula.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_DEPTH = 256, MOST_NAME = 64 };

typedef struct parser {
    rd_ctx                 *ctx;
    const cmd_formula_opts *opts;
    const char             *text, *at;
    const char             *why; /* the first thing that is wrong */
    int                     depth, n;
    cmd_named              *named; /* what earlier statements have named */
} parser;

/* The line of the text in which `at` is, and a caret under it. */
static void *fail(parser *p, const char *at, const char *what)
{
    const char *line = at, *end = at;

    if (p->why)
        return NULL;
    while (line > p->text && line[-1] != '\n')
        line--;
    while (*end && *end != '\n')
        end++;
    if (at - line > 60) /* far along a long line */
        line = at - 60;
    if (end - at > 60)
        end = at + 60;
    p->why = cmd_text("%s\n  %.*s\n  %*s^", what, (int)(end - line), line, (int)(at - line), "");
    return NULL;
}

/* What a call of the library has refused, at that character. */
static rd_expr *check(parser *p, const char *at, rd_expr *x)
{
    return x || p->why ? x : fail(p, at, cmd_error_text(p->ctx));
}

static void skip(parser *p)
{
    for (;;) {
        while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' ||
               (*p->at == '\n' && p->depth > 0))
            p->at++;
        if (*p->at != '#')
            return;
        while (*p->at && *p->at != '\n')
            p->at++;
    }
}

static bool take(parser *p, const char *token)
{
    const size_t n = strlen(token);

    skip(p);
    if (strncmp(p->at, token, n) != 0)
        return false;
    if (isalpha((unsigned char)*token) && (isalnum((unsigned char)p->at[n]) || p->at[n] == '_'))
        return false;
    p->at += n;
    return true;
}

static size_t name_length(const char *at)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

static rd_expr *read_or(parser *p);

static rd_expr *read_inside(parser *p, const char *closing)
{
    const char *at = p->at - 1;

    if (++p->depth > MOST_DEPTH)
        return fail(p, at, cmd_text("brackets within more than %d others", MOST_DEPTH));
    rd_expr *x = read_or(p);
    if (x && !take(p, closing))
        x = fail(p, p->at, cmd_text("%s expected", closing));
    p->depth--;
    return x;
}

/* ---- Arguments ------------------------------------------------------------------------------- */
static const char *read_text(parser *p)
{
    const char quote = *p->at, *start = ++p->at;

    while (*p->at && *p->at != quote)
        p->at++;
    if (!*p->at)
        return fail(p, start - 1, "a text without end");
    return cmd_copy(start, (size_t)(p->at++ - start));
}

static bool read_axis(parser *p, cmd_call *c)
{
    char *end;

    skip(p);
    const char *at   = p->at;
    long        axis = strtol(at, &end, 10);
    if (*at == '\'' || *at == '"') {
        const char *name = read_text(p);
        axis = name && c->n > 0 && c->x[0] ? p->opts->axis(p->opts->user, c->x[0], name) : -1;
        if (name && axis < 0)
            return fail(p, at, cmd_text("the array has no axis of the name %s", name));
    } else {
        if (end == at || axis < -RD_MAX_RANK || axis >= RD_MAX_RANK)
            return fail(p, at, "an axis expected: a number, or a name in quotes");
        p->at = end;
    }
    if (p->why || c->axis.n == RD_MAX_RANK)
        return fail(p, at, "more axes than an array may have");
    c->axis.axis[c->axis.n++] = (int32_t)axis;
    return true;
}

/* axis=0, axis=-1, axis='time', axis=(0, 'lat'), axis=none. */
static bool read_axes(parser *p, cmd_call *c)
{
    if (take(p, "None") || take(p, "none"))
        return true;
    c->has_axis = true;
    if (!take(p, "(") && !take(p, "["))
        return read_axis(p, c);
    do {
        if (take(p, ")") || take(p, "]"))
            return true;
        if (!read_axis(p, c))
            return false;
    } while (take(p, ","));
    return take(p, ")") || take(p, "]") || fail(p, p->at, ") expected");
}

static bool read_bool(parser *p, bool *value)
{
    if (take(p, "true") || take(p, "True") || take(p, "1"))
        return *value = true;
    *value = false;
    return take(p, "false") || take(p, "False") || take(p, "0") ||
           fail(p, p->at, "true or false expected");
}

static bool read_type(parser *p, rd_dtype *type)
{
    static const struct row {
        const char *name;
        rd_dtype    type;
    } rows[] = { { "f32", RD_F32 }, { "f64", RD_F64 }, { "i64", RD_I64 },
                 { "i32", RD_I32 }, { "u64", RD_U64 }, { "u32", RD_U32 } };

    skip(p);
    const bool  quoted = *p->at == '\'' || *p->at == '"';
    const char *at     = p->at;
    const char *name   = quoted ? read_text(p) : cmd_copy(p->at, name_length(p->at));
    for (size_t k = 0; name && k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, name) == 0) {
            p->at += quoted ? 0 : strlen(name);
            *type = rows[k].type;
            return true;
        }
    return fail(p, at, "a type expected: f32, f64, i32, i64, u32 or u64");
}

static bool read_keyword(parser *p, cmd_call *c, const char *at, const char *name)
{
    char *end;

    if (strcmp(name, "axis") == 0 || strcmp(name, "axes") == 0 || strcmp(name, "dims") == 0)
        return read_axes(p, c);
    if (strcmp(name, "keepdims") == 0)
        return read_bool(p, &c->keepdims);
    if (strcmp(name, "skip_nan") == 0)
        return read_bool(p, &c->skip_nan);
    if (strcmp(name, "exclusive") == 0)
        return read_bool(p, &c->exclusive);
    if (strcmp(name, "reverse") == 0 || strcmp(name, "descending") == 0)
        return read_bool(p, &c->reverse);
    if (strcmp(name, "where") == 0)
        return (c->where = read_or(p)) != NULL;
    if (strcmp(name, "weights") == 0)
        return (c->weights = read_or(p)) != NULL;
    if (strcmp(name, "initial") == 0)
        return (c->initial = read_or(p)) != NULL;
    if (strcmp(name, "type") == 0)
        return read_type(p, &c->type);
    if (strcmp(name, "ddof") == 0) {
        skip(p);
        c->ddof = strtod(p->at, &end);
        if (end == p->at)
            return fail(p, p->at, "a number expected");
        p->at = end;
        return true;
    }
    return fail(p, at,
                "no such keyword; there are axis, keepdims, skip_nan, where, weights, initial, "
                "type, ddof, exclusive, reverse");
}

/* A number that stands alone, perhaps behind a minus. */
static void note_number(parser *p, cmd_call *c, int k)
{
    char        *end;
    const double number = strtod(p->at, &end);
    const char  *behind = end + strspn(end, " \t");

    c->is_number[k] =
        end != p->at && !isalpha((unsigned char)*p->at) && *behind && strchr(",)", *behind);
    c->number[k] = number;
}

static bool read_argument(parser *p, cmd_call *c)
{
    skip(p);
    const size_t n  = name_length(p->at);
    const char  *at = p->at, *behind = at + n + strspn(at + n, " \t");
    if (n > 0 && *behind == '=' && behind[1] != '=') {
        p->at = behind + 1;
        return read_keyword(p, c, at, cmd_copy(at, n));
    }
    if (c->n == CMD_MOST_ARGUMENTS)
        return fail(p, at, cmd_text("more than %d arguments", CMD_MOST_ARGUMENTS));
    if (*at == '\'' || *at == '"') {
        c->text[c->n] = read_text(p);
        return c->text[c->n++] != NULL;
    }
    note_number(p, c, c->n);
    c->x[c->n] = read_or(p);
    return c->x[c->n++] != NULL;
}

static rd_expr *read_call(parser *p, const char *at, size_t n)
{
    cmd_call    c   = { .ctx = p->ctx, .name = cmd_copy(at, n) };
    const char *why = NULL;

    if (++p->depth > MOST_DEPTH)
        return fail(p, at, cmd_text("brackets within more than %d others", MOST_DEPTH));
    while (!take(p, ")")) {
        if (!read_argument(p, &c))
            return NULL;
        if (take(p, ")"))
            break;
        if (!take(p, ","))
            return fail(p, p->at, ", or ) expected");
    }
    p->depth--;
    rd_expr *y = cmd_make_call(&c, &why);
    return y ? y : why ? fail(p, at, why) : check(p, at, NULL);
}

/* ---- Operands -------------------------------------------------------------------------------- */
static rd_expr *read_name(parser *p, const char *at, size_t n)
{
    static const struct constant {
        const char *name;
        double      value;
    } constants[]    = { { "pi", 3.14159265358979323846 },
                         { "nan", (double)__builtin_nanf("") },
                         { "NaN", (double)__builtin_nanf("") },
                         { "inf", (double)__builtin_inff() } };
    const char *name = cmd_copy(at, n);

    for (int k = p->n; k-- > 0;)
        if (p->named[k].name && strcmp(p->named[k].name, name) == 0)
            return p->named[k].x;
    rd_expr *x = p->opts->find(p->opts->user, p->ctx, name);
    for (size_t k = 0; !x && k < sizeof constants / sizeof *constants; k++)
        if (strcmp(constants[k].name, name) == 0)
            x = rd_num(p->ctx, constants[k].value);
    if (!x && (strcmp(name, "true") == 0 || strcmp(name, "false") == 0))
        x = rd_cast(rd_int(p->ctx, *name == 't'), RD_BOOL);
    return x ? x : fail(p, at, cmd_text("nothing is known of %s", name));
}

static rd_expr *read_number(parser *p)
{
    const char     *at = p->at;
    char           *end, *whole_end;
    const double    number = strtod(at, &end);
    const long long whole  = strtoll(at, &whole_end, 10);

    if (end == at || (end[-1] == 'x' || end[-1] == 'X'))
        return fail(p, at, "a number, a name, a call or ( expected");
    p->at = end;
    if (isalpha((unsigned char)*end) || *end == '_')
        return fail(p, end, "an operator expected behind the number");
    return whole_end == end && whole < INT64_MAX ? rd_int(p->ctx, whole) : rd_num(p->ctx, number);
}

/* What stands in brackets is NumPy's slice text, which the library reads. */
static rd_expr *read_slice(parser *p, rd_expr *x, const char *at)
{
    const char *start = p->at;

    while (*p->at && *p->at != ']')
        p->at++;
    if (!*p->at)
        return fail(p, start - 1, "a [ without its ]");
    return check(p, at, rd_slice(x, cmd_copy(start, (size_t)(p->at++ - start))));
}

static rd_expr *read_operand(parser *p)
{
    skip(p);
    const char  *at = p->at;
    const size_t n  = name_length(at);
    rd_expr     *x;

    if (n > MOST_NAME)
        return fail(p, at, cmd_text("a name of more than %d letters", MOST_NAME));
    if (n > 0) {
        p->at += n;
        x = take(p, "(") ? read_call(p, at, n) : read_name(p, at, n);
    } else if (take(p, "("))
        x = read_inside(p, ")");
    else if (isdigit((unsigned char)*at) || *at == '.')
        x = read_number(p);
    else
        return fail(p, at,
                    *at ? "a number, a name, a call or ( expected"
                        : "the formula ends where an operand is expected");
    while (x && take(p, "["))
        x = read_slice(p, x, at);
    return x;
}

static rd_expr *read_unary(parser *p);

/* Binds tighter than a minus before it, and from the right: -x ** 2 is -(x ** 2). */
static rd_expr *read_power(parser *p)
{
    rd_expr *x = read_operand(p);

    skip(p);
    const char *at = p->at;
    if (!x || (!take(p, "**") && !take(p, "^")))
        return x;
    rd_expr *y = read_unary(p);
    return y ? check(p, at, rd_pow(x, y)) : NULL;
}

static rd_expr *read_unary(parser *p)
{
    rd_expr *x;

    skip(p);
    const char *at = p->at;
    if (++p->depth > MOST_DEPTH)
        return fail(p, at, cmd_text("operators within more than %d others", MOST_DEPTH));
    if (take(p, "-"))
        x = (x = read_unary(p)) ? check(p, at, rd_neg(x)) : NULL;
    else if (take(p, "+"))
        x = read_unary(p);
    else if ((*at != '!' || at[1] != '=') && take(p, "!"))
        x = (x = read_unary(p)) ? check(p, at, rd_not(x)) : NULL;
    else
        x = read_power(p);
    p->depth--;
    return x;
}

/* ---- Operators ------------------------------------------------------------------------------- */
typedef struct operation {
    const char *token, *not_before; /* characters that would make another token */
    rd_expr *(*make)(rd_expr *x, rd_expr *y);
} operation;

static rd_expr *read_level(parser *p, rd_expr *(*below)(parser *), const operation *rows)
{
    rd_expr *x = below(p);

    for (bool found = true; x && found;) {
        found = false;
        skip(p);
        const char *at = p->at;
        for (const operation *o = rows; o->token && !found; o++) {
            const size_t n = strlen(o->token);
            if (strncmp(at, o->token, n) == 0 && at[n] && strchr(o->not_before, at[n]))
                continue;
            if (!take(p, o->token))
                continue;
            rd_expr *y = below(p);
            x          = y ? check(p, at, o->make(x, y)) : NULL;
            found      = true;
        }
    }
    return x;
}

static rd_expr *read_product(parser *p)
{
    static const operation rows[] = { { "//", "", rd_floordiv }, { "*", "*", rd_mul },
                                      { "/", "", rd_div },       { "%", "", rd_remainder },
                                      { "@", "", rd_matmul },    { NULL, NULL, NULL } };

    return read_level(p, read_unary, rows);
}

static rd_expr *read_sum(parser *p)
{
    static const operation rows[] = { { "+", "", rd_add },
                                      { "-", "", rd_sub },
                                      { NULL, NULL, NULL } };

    return read_level(p, read_product, rows);
}

static rd_expr *read_comparison(parser *p)
{
    static const operation rows[] = { { "==", "", rd_eq }, { "!=", "", rd_ne }, { "<=", "", rd_le },
                                      { ">=", "", rd_ge }, { "<", "<", rd_lt }, { ">", ">", rd_gt },
                                      { NULL, NULL, NULL } };

    return read_level(p, read_sum, rows);
}

static rd_expr *read_not(parser *p)
{
    skip(p);
    const char *at = p->at;
    if (!take(p, "not"))
        return read_comparison(p);
    if (++p->depth > MOST_DEPTH)
        return fail(p, at, cmd_text("operators within more than %d others", MOST_DEPTH));
    rd_expr *x = read_not(p);
    p->depth--;
    return x ? check(p, at, rd_not(x)) : NULL;
}

static rd_expr *read_and(parser *p)
{
    static const operation rows[] = {
        { "&&", "", rd_and }, { "&", "", rd_and }, { "and", "", rd_and }, { NULL, NULL, NULL }
    };

    return read_level(p, read_not, rows);
}

static rd_expr *read_or(parser *p)
{
    static const operation rows[] = {
        { "||", "", rd_or }, { "|", "", rd_or }, { "or", "", rd_or }, { NULL, NULL, NULL }
    };

    return read_level(p, read_and, rows);
}

/* ---- Statements ------------------------------------------------------------------------------ */
static bool read_statement(parser *p, cmd_named *out)
{
    skip(p);
    const char  *start  = p->at;
    const size_t n      = name_length(p->at);
    const char  *behind = p->at + n + strspn(p->at + n, " \t");
    *out                = (cmd_named){ 0 };
    if (n > 0 && n <= MOST_NAME && *behind == '=' && behind[1] != '=') {
        out->name = cmd_copy(p->at, n);
        p->at     = behind + 1;
    }
    out->x = read_or(p);
    if (!out->x)
        return false;
    out->text = cmd_copy(start, (size_t)(p->at - start));
    skip(p);
    return !*p->at || *p->at == ';' || *p->at == '\n' ||
           fail(p, p->at, "an operator, or the end of the statement, expected");
}

int cmd_formula(rd_ctx *ctx, const char *text, const cmd_formula_opts *opts, int most,
                cmd_named *out, const char **why)
{
    parser p = { .ctx = ctx, .opts = opts, .text = text, .at = text, .named = out };

    *why = NULL;
    if (strlen(text) > MOST_TEXT) {
        *why = cmd_text("a formula of more than %d characters", MOST_TEXT);
        return 0;
    }
    for (;;) {
        while (*p.at == ';' || *p.at == '\n' || isspace((unsigned char)*p.at))
            p.at++;
        skip(&p);
        if (!*p.at)
            break;
        if (p.n == most)
            fail(&p, p.at, cmd_text("more than %d statements", most));
        else if (read_statement(&p, &out[p.n]))
            p.n++;
        if (p.why) {
            *why = p.why;
            return 0;
        }
    }
    if (p.n == 0)
        *why = "an empty formula";
    return p.n;
}
