/* units.c - what a statement keeps of what it is made of: units, dates, the quantity.  Only where each step
 * is known to keep them. */
#include "made_of.h"
#include "results.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- The steps of a statement ---------------------------------------------------------------- */
typedef enum step_kind { CALL, NAME, OPERATOR } step_kind;

/* CALL: a function, or a reducer of indices, without the nan in front. */
typedef struct step {
    step_kind   kind;
    const char *at;
    size_t      n;
} step;

typedef struct walk {
    const char *p;
    int         depth;
} walk;

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static const char *behind_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* sum[j] x[j] - behind subscripts of an array an operator follows, and no operand.  A sign that stands alone
 * is an operator. */
static bool is_reducer_of_indices(const char *bracket)
{
    const char *const end = cmd_behind_bracket(bracket + 1), *body = behind_blanks(end);
    const bool        sign = *body == '-' && body > end && !isspace((unsigned char)body[1]);

    return is_letter(*body) || isdigit((unsigned char)*body) || *body == '(' || sign;
}

/* The name that the walk is at.  False: it was a keyword, which is skipped with its value. */
static bool read_name(walk *w, step *s)
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
    if (*w->p != '(' && !(*w->p == '[' && is_reducer_of_indices(w->p)))
        return true;
    s->kind = CALL;
    if (s->n > 3 && memcmp(from, "nan", 3) == 0) {
        s->at += 3;
        s->n -= 3;
    }
    return true;
}

static void skip_number(walk *w)
{
    char *end;

    (void)strtod(w->p, &end);
    w->p = end > w->p ? end : w->p + 1;
}

/* False: there is none any more. */
static bool next_step(walk *w, step *s)
{
    while (*w->p) {
        if (is_letter(*w->p)) {
            if (read_name(w, s))
                return true;
        } else if (isdigit((unsigned char)*w->p))
            skip_number(w);
        else if (*w->p == '[')
            w->p = cmd_behind_bracket(w->p + 1);
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
static bool is_among(const step *s, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == s->n && memcmp(*names, s->at, s->n) == 0)
            return true;
    return false;
}

static bool call_keeps(cmd_keeping what, const step *s)
{
    static const char *const units[] = {
        "mean",        "min",  "max",     "std",     "median",       "quantile",    "percentile",
        "first",       "last", "minimum", "maximum", "fmin",         "fmax",        "abs",
        "clip",        "roll", "flip",    "sort",    "rolling_mean", "rolling_min", "rolling_max",
        "rolling_std", "diff", "concat",  "mode",    "quantiles",    "transpose",   "permute",
        "round",       "norm", NULL,
    };
    static const char *const no_dates[]    = { "std", "diff", "norm", "rolling_std", "abs", NULL };
    static const char *const no_quantity[] = { "diff", "norm", NULL };

    return what == CMD_UNITS   ? is_among(s, units)
           : what == CMD_DATES ? !is_among(s, no_dates)
                               : !is_among(s, no_quantity);
}

static bool operator_keeps(cmd_keeping what, char c)
{
    return what == CMD_UNITS   ? c == '+' || c == '-'
           : what == CMD_DATES ? c != '+' && c != '-'
                               : true;
}

bool cmd_keeps(cmd_keeping what, const char *statement, const cmd_lost *lost)
{
    walk w = { cmd_right_side(statement), 0 };

    for (step s; next_step(&w, &s);)
        if (s.kind == CALL       ? !call_keeps(what, &s)
            : s.kind == OPERATOR ? !operator_keeps(what, *s.at)
                                 : is_among(&s, lost->name))
            return false;
    return true;
}
