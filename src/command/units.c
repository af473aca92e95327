/* units.c - are the units of a result those of what it is made of?  Only where each step is known
 * to keep them. */
#include "results.h"
#include <ctype.h>
#include <string.h>

static bool keeps(const char *name, size_t n)
{
    static const char *const names[] = {
        "mean",         "min",         "max",         "std",         "median",  "quantile",
        "percentile",   "first",       "last",        "minimum",     "maximum", "fmin",
        "fmax",         "abs",         "clip",        "roll",        "flip",    "sort",
        "rolling_mean", "rolling_min", "rolling_max", "rolling_std", "diff",    "concat",
        "mode",         "quantiles",   "transpose",   "permute",     "round",   "norm",
    };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k]) == n && memcmp(names[k], name, n) == 0)
            return true;
    return false;
}

/* Past an argument or a pair of brackets: to the comma or the bracket that ends it. */
static const char *skip(const char *p)
{
    for (int depth = 0; *p; p++) {
        if (depth == 0 && strchr(",)];", *p))
            return p;
        depth += strchr("([", *p) != NULL;
        depth -= strchr(")]", *p) != NULL;
    }
    return p;
}

static bool is_among(const char *name, size_t n, int n_lost, const char *const *lost)
{
    for (int k = 0; k < n_lost; k++)
        if (strlen(lost[k]) == n && memcmp(lost[k], name, n) == 0)
            return true;
    return false;
}

bool cmd_keeps_units(const char *statement, int n_lost, const char *const *lost)
{
    int depth = 0;

    for (const char *p = statement; *p;) {
        if (isalpha((unsigned char)*p) || *p == '_') {
            const char *name = p;
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
            size_t n = (size_t)(p - name);
            while (*p == ' ')
                p++;
            if (n > 3 && memcmp(name, "nan", 3) == 0) {
                name += 3;
                n -= 3;
            }
            if (*p == '(' ? !keeps(name, n) : is_among(name, n, n_lost, lost))
                return false;
            if (depth > 0 && *p == '=' && p[1] != '=')
                p = skip(p); /* a keyword: axes, weights, masks */
        } else if (*p == '[')
            p = skip(p + 1);
        else if (strchr("*/^%<>&|!?", *p))
            return false;
        else {
            depth += (*p == '(') - (*p == ')');
            p++;
        }
    }
    return true;
}

bool cmd_keeps_dates(const char *statement)
{
    static const char *const differences[] = { "std(", "diff(", "norm(", "rolling_std(", "abs(" };
    int                      depth = 0, brackets = 0;

    for (size_t k = 0; k < sizeof differences / sizeof *differences; k++)
        if (strstr(statement, differences[k]))
            return false;
    for (const char *p = statement; *p; p++) {
        brackets += (*p == '[') - (*p == ']');
        depth += (*p == '(') - (*p == ')');
        const bool keyword = depth > 0 && p > statement && p[-1] == '=';
        if (brackets == 0 && !keyword && (*p == '+' || *p == '-'))
            return false;
    }
    return true;
}
