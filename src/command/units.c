/* units.c - which facts a statement keeps of its operands: units, dates, the quantity. A fact is
 * kept only if each step of the statement is known to keep it.
 *
 *     mean(tas, axis=0) - 5      has the steps      CALL mean, NAME tas, OPERATOR -, NUMBER 5
 *
 * A fact is lost by a name if an earlier statement of this name does not keep it. */
#include "made_of.h"
#include "results.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- The steps of a statement ---------------------------------------------------------------- */
/* Kinds of steps: a call of a function, a name, an operator, a number. */
typedef enum step_kind { CALL, NAME, OPERATOR, NUMBER } step_kind;

/* A step of a statement. CALL: a function, or a reduction over indices, without nan in front of
 * its name. */
typedef struct step {
    step_kind   kind;
    const char *at;
    size_t      n;
} step;

/* The position of the scanner in a statement; depth: open parentheses. */
typedef struct scanner {
    const char *p, *from;
    int         depth;
} scanner;

/* True if the character can begin a name. */
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

/* Returns the first character from p on that is no blank. */
static const char *behind_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* True if the name of the step (a call, a name, an operator or a number of the statement) is in the
 * list, which ends with NULL. */
static bool is_among(const step *s, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == s->n && memcmp(*names, s->at, s->n) == 0)
            return true;
    return false;
}

/* True if the name before the bracket is a reduction over indices, sum[j] x[j], and not an array
 * with subscripts, behind which an operator follows, and no operand. A sign with blanks around it
 * is an operator, unless the name is that of a reducer: sum[j] - x[j]. */
static bool is_reducer_of_indices(const step *s, const char *bracket)
{
    static const char *const reducers[] = { "sum",   "prod", "mean",  "min",       "max", "std",
                                            "var",   "norm", "count", "any",       "all", "median",
                                            "first", "last", "mode",  "logsumexp", NULL };
    const char *const        end = cmd_behind_bracket(bracket + 1), *body = behind_blanks(end);
    const bool               sign =
        *body == '-' && (is_among(s, reducers) || (body > end && !isspace((unsigned char)body[1])));

    return is_letter(*body) || isdigit((unsigned char)*body) || *body == '(' || sign;
}

/* Reads a name as a step. Inside of parentheses, NAME= is a keyword, which is skipped with its
 * value (false). A name before '(', or before the indices of a reduction, is a CALL, without nan in
 * front: nanmean is mean. */
static bool read_name(scanner *w, step *s)
{
    const char *const from = w->p;

    while (is_letter(*w->p) || isdigit((unsigned char)*w->p))
        w->p++;
    *s   = (step){ NAME, from, (size_t)(w->p - from) };
    w->p = behind_blanks(w->p);
    if (w->depth > 0 && *w->p == '=' && w->p[1] != '=') {
        w->p = cmd_behind_argument(w->p);
        return false;
    }
    step plain = *s;
    if (plain.n > 3 && memcmp(from, "nan", 3) == 0 && is_letter(from[3]) && from[3] != '_') {
        plain.at += 3;
        plain.n -= 3;
    }
    if (*w->p == '(' || (*w->p == '[' && is_reducer_of_indices(&plain, w->p))) {
        *s      = plain;
        s->kind = CALL;
    }
    return true;
}

/* Reads a number as a step, and moves behind it; at least one character is skipped. */
static void read_number(scanner *w, step *s)
{
    char *end;

    (void)strtod(w->p, &end);
    *s   = (step){ NUMBER, w->p, (size_t)(end - w->p) };
    w->p = end > w->p ? end : w->p + 1;
}

/* Reads the next step of a statement: a call, a name, an operator or a number. Subscripts are
 * skipped, and elements of lists are steps. False: the text has ended. */
static bool next_step(scanner *w, step *s)
{
    while (*w->p) {
        if (is_letter(*w->p)) {
            if (read_name(w, s))
                return true;
        } else if (isdigit((unsigned char)*w->p)) {
            read_number(w, s);
            return true;
        } else if (*w->p == '[')
            w->p = cmd_is_list(w->from, w->p) ? w->p + 1 : cmd_behind_bracket(w->p + 1);
        else if (strchr("+-*/^%<>&|!?@~", *w->p)) {
            *s = (step){ OPERATOR, w->p++, 1 };
            return true;
        } else {
            w->depth += (*w->p == '(') - (*w->p == ')');
            w->p++;
        }
    }
    return false;
}

/* ---- What they keep -------------------------------------------------------------------------- */
/* Functions with a result in the units of an argument. A difference or a distance is no date. It
 * is another quantity if that kind of difference has a name of its own. */
enum { DATES = 1, QUANTITY = 2, BOTH = DATES | QUANTITY };
/* Sets of arguments: the first one; all. */
enum { FIRST = 1 << 0, ALL = -1 };

/* Functions that keep units of arguments. */
static const struct call {
    const char *name;
    int         of; /* arguments with the units of the result: bit k for argument k */
    int         keeps;
} calls[] = {
    /* reductions */
    { "mean", FIRST, BOTH },
    { "average", FIRST, BOTH },
    { "min", FIRST, BOTH },
    { "max", FIRST, BOTH },
    { "amin", FIRST, BOTH },
    { "minmax", FIRST, BOTH },
    { "amax", FIRST, BOTH },
    { "std", FIRST, QUANTITY },
    { "mad", FIRST, QUANTITY },
    { "ptp", FIRST, 0 },
    { "norm", FIRST, 0 },
    { "median", FIRST, BOTH },
    { "quantile", FIRST, BOTH },
    { "quantiles", FIRST, BOTH },
    { "percentile", FIRST, BOTH },
    { "first", FIRST, BOTH },
    { "last", FIRST, BOTH },
    { "mode", FIRST, BOTH },
    /* element by element */
    { "minimum", ALL, BOTH },
    { "maximum", ALL, BOTH },
    { "fmin", ALL, BOTH },
    { "fmax", ALL, BOTH },
    { "clip", ALL, BOTH },
    { "fillna", ALL, BOTH },
    { "where", ALL - FIRST, BOTH },
    { "abs", FIRST, QUANTITY },
    { "absolute", FIRST, QUANTITY },
    { "fabs", FIRST, QUANTITY },
    { "round", FIRST, BOTH },
    { "around", FIRST, BOTH },
    { "rint", FIRST, BOTH },
    { "floor", FIRST, BOTH },
    { "ceil", FIRST, BOTH },
    { "trunc", FIRST, BOTH },
    { "nan_to_num", FIRST, QUANTITY },
    { "relu", FIRST, QUANTITY },
    { "neg", FIRST, QUANTITY },
    { "negative", FIRST, QUANTITY },
    { "real", FIRST, BOTH },
    { "conj", FIRST, BOTH },
    { "dense", FIRST, BOTH },
    { "astype", FIRST, BOTH },
    { "float32", FIRST, BOTH },
    { "float64", FIRST, BOTH },
    { "f32", FIRST, BOTH },
    { "f64", FIRST, BOTH },
    /* along an axis */
    { "ffill", FIRST, BOTH },
    { "bfill", FIRST, BOTH },
    { "interp", 1 << 2, BOTH },
    { "diff", FIRST, 0 },
    { "ewm", FIRST, BOTH },
    { "cummax", FIRST, BOTH },
    { "cummin", FIRST, BOTH },
    { "sort", FIRST, BOTH },
    { "top_k", FIRST, BOTH },
    { "rolling_mean", FIRST, BOTH },
    { "rolling_min", FIRST, BOTH },
    { "rolling_max", FIRST, BOTH },
    { "rolling_median", FIRST, BOTH },
    { "rolling_quantile", FIRST, BOTH },
    { "rolling_std", FIRST, QUANTITY },
    /* views and arrays made of others */
    { "roll", FIRST, BOTH },
    { "flip", FIRST, BOTH },
    { "flipud", FIRST, BOTH },
    { "fliplr", FIRST, BOTH },
    { "transpose", FIRST, BOTH },
    { "permute", FIRST, BOTH },
    { "swapaxes", FIRST, BOTH },
    { "moveaxis", FIRST, BOTH },
    { "reshape", FIRST, BOTH },
    { "ravel", FIRST, BOTH },
    { "squeeze", FIRST, BOTH },
    { "expand", FIRST, BOTH },
    { "expand_dims", FIRST, BOTH },
    { "broadcast", FIRST, BOTH },
    { "broadcast_to", FIRST, BOTH },
    { "diagonal", FIRST, BOTH },
    { "window", FIRST, BOTH },
    { "repeat", FIRST, BOTH },
    { "tile", FIRST, BOTH },
    { "pad", FIRST, QUANTITY },
    { "tril", FIRST, QUANTITY },
    { "triu", FIRST, QUANTITY },
    { "shuffle", FIRST, BOTH },
    { "take", FIRST, BOTH },
    { "take_along", FIRST, BOTH },
    { "take_along_axis", FIRST, BOTH },
    { "gather", FIRST, BOTH },
    { "concat", ALL, BOTH },
    { "concatenate", ALL, BOTH },
    { "stack", ALL, BOTH },
};

/* Finds the row of a function that keeps units of arguments; NULL: it is not known to do so. */
static const struct call *call_of(const step *s)
{
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (strlen(calls[k].name) == s->n && memcmp(calls[k].name, s->at, s->n) == 0)
            return &calls[k];
    return NULL;
}

/* True if the function keeps the fact `what` (units, dates, quantity) of its arguments. Units are
 * kept by all functions of the table. */
static bool call_keeps(cmd_keeping what, const step *s)
{
    const struct call *call = call_of(s);

    return call && (what == CMD_UNITS || call->keeps & (what == CMD_DATES ? DATES : QUANTITY));
}

/* True if the operator keeps the fact `what` of its operands: + and - keep units, but dates become
 * differences. All operators keep the quantity. */
static bool operator_keeps(cmd_keeping what, char c)
{
    return what == CMD_UNITS   ? c == '+' || c == '-'
           : what == CMD_DATES ? c != '+' && c != '-'
                               : true;
}

/* True if the step keeps the fact `what` (units, dates, quantity). A function does by the table; a
 * name does unless it has lost the fact (lost->name); a number always does. */
static bool step_keeps(cmd_keeping what, const step *s, const cmd_lost *lost)
{
    switch (s->kind) {
    case CALL: return call_keeps(what, s);
    case OPERATOR: return operator_keeps(what, *s->at);
    case NUMBER: return true;
    default: return !is_among(s, lost->name);
    }
}

/* True if the statement keeps the fact `what` (units, dates, quantity) of its operands: all its
 * steps do. lost->name are earlier results that have lost it. */
bool cmd_keeps(cmd_keeping what, const char *statement, const cmd_lost *lost)
{
    const char *text = cmd_quantities(cmd_right_side(statement));
    scanner     w    = { text, text, 0 };

    for (step s; next_step(&w, &s);)
        if (!step_keeps(what, &s, lost))
            return false;
    return true;
}

/* True if the statement contains 273.15 or 459.67. The values of tas - 273.15 are no longer in
 * kelvins. */
bool cmd_changes_scale(const char *statement)
{
    scanner w = { statement, statement, 0 };

    for (step s; next_step(&w, &s);) {
        const double value = s.kind == NUMBER ? strtod(s.at, NULL) : 0;

        if (value == 273.15 || value == 459.67)
            return true;
    }
    return false;
}

/* ---- Which arguments count ------------------------------------------------------------------- */
/* Collects the arguments behind "name(" that have the units of the result: bit k of `of` says so
 * for argument k, and arguments above number 30 always count. *at moves to the bracket that ends
 * them. */
static const char *collect_arguments(const char **at, int of)
{
    const char *all = "";

    for (int k = 0;; k++) {
        const char *const end  = cmd_behind_argument(*at);
        const char *const text = cmd_copy(*at, (size_t)(end - *at));

        if (k > 30 || of >> k & 1)
            all = cmd_text("%s%s%s", all, *all ? "," : "", cmd_quantities(text));
        *at = end;
        if (*end != ',')
            return all;
        ++*at;
    }
}

/* Removes arguments without the units of the result, such as weights, from all calls in the text:
 * "average(x, w)" becomes "average(x)". The array before the '.' of a method, x.mean(), is its
 * first argument. */
const char *cmd_quantities(const char *text)
{
    scanner w = { text, text, 0 };

    for (step s; next_step(&w, &s);) {
        const struct call *call = s.kind == CALL && *w.p == '(' ? call_of(&s) : NULL;

        if (!call || call->of == ALL)
            continue;
        const bool  method = s.at > text && s.at[-1] == '.';
        const char *before = cmd_copy(text, (size_t)(w.p + 1 - text));
        const char *rest   = w.p + 1;
        const char *inside = collect_arguments(&rest, method ? call->of >> 1 : call->of);
        return cmd_text("%s%s%s", before, inside, cmd_quantities(rest));
    }
    return text;
}
