/* folds.c - reductions as C: accumulators, what an element does to them, what they come to. */
#include "loops.h"
#include <string.h>

static bool masked(const node *a)
{
    return a->where || a->skip_nan;
}

static const char *most_of(rd_dtype type)
{
    static const char *const most[] = { [RD_BOOL] = "1",
                                        [RD_I8]   = "127",
                                        [RD_I16]  = "32767",
                                        [RD_I32]  = "2147483647",
                                        [RD_I64]  = "9223372036854775807",
                                        [RD_U8]   = "255",
                                        [RD_U16]  = "65535",
                                        [RD_U32]  = "4294967295u",
                                        [RD_U64]  = "18446744073709551615u" };

    return sweep_dtype(type)->is_float ? "__builtin_inf()" : most[type];
}

static bool starts_as_nan(const node *a)
{
    return masked(a) && sweep_dtype(a->in[0]->type)->is_float && !a->initial;
}

/* Before the first element: the worst there is; where there may be none, NaN. */
static char *extreme(writer *w, const node *a, bool least)
{
    const dtype *t   = sweep_dtype(a->in[0]->type);
    const bool   arg = a->fold == F_ARGMIN || a->fold == F_ARGMAX;

    if (starts_as_nan(a) && !arg)
        return sweep_own(w, "(%s)__builtin_nan(\"\")", t->c);
    if (least)
        return sweep_own(w, "(%s)%s", t->c, most_of(a->in[0]->type));
    if (!t->is_float && !t->is_signed)
        return sweep_own(w, "0");
    return sweep_own(w, "(%s)(-%s%s)", t->c, most_of(a->in[0]->type), t->is_float ? "" : " - 1");
}

static const char *sum_type(const writer *w, const node *a)
{
    const dtype *t = sweep_dtype(a->type);

    return w->how.doubles && t->is_float ? a->type == RD_F64 ? "long double" : "double" : t->c;
}

int sweep_accumulators(writer *w, const node *a, accumulator *acc)
{
    const char *c    = sweep_dtype(a->in[0]->type)->c;
    char       *init = a->initial ? sweep_value(w, a->initial, NULL) : NULL;

    switch (a->fold) {
    case F_SUM: acc[0] = (accumulator){ sum_type(w, a), init ? init : "0", "+" }; return 1;
    case F_PROD: acc[0] = (accumulator){ sum_type(w, a), init ? init : "1", "*" }; return 1;
    case F_MIN:
        acc[0] =
            (accumulator){ c, init ? init : extreme(w, a, true), starts_as_nan(a) ? NULL : "min" };
        return 1;
    case F_MAX:
        acc[0] =
            (accumulator){ c, init ? init : extreme(w, a, false), starts_as_nan(a) ? NULL : "max" };
        return 1;
    case F_ANY: acc[0] = (accumulator){ "uint8_t", "0", "|" }; return 1;
    case F_ALL: acc[0] = (accumulator){ "uint8_t", "1", "&" }; return 1;
    case F_ARGMIN:
    case F_ARGMAX:
        acc[0] = (accumulator){ c, extreme(w, a, a->fold == F_ARGMIN), NULL };
        acc[1] = (accumulator){ "int64_t", masked(a) ? "-1" : "0", NULL };
        return 2;
    default: /* a mean */
        acc[0] = (accumulator){ sum_type(w, a), "0", "+" };
        acc[1] = (accumulator){ a->weights ? sum_type(w, a) : "int64_t", "0", "+" };
        return a->weights || masked(a) ? 2 : 1;
    }
}

/* ---- An element ------------------------------------------------------------------------------ */
static char *flat_index(writer *w, const node *a, const place at)
{
    char   *sum = NULL;
    int64_t n   = 1;

    for (int k = a->in[0]->rank - 1; k >= 0; k--)
        if (a->dims >> k & 1) {
            char *term = n == 1 ? sweep_own(w, "%s", at[k])
                                : sweep_own(w, "(%s) * %lld", at[k], (long long)n);

            sum = sum ? sweep_own(w, "%s + %s", term, sum) : term;
            n *= a->in[0]->n[k];
        }
    return sum ? sum : sweep_own(w, "0");
}

static void apply(writer *w, const node *a, const place at, const char *v, const char *weight,
                  char *const *acc)
{
    const bool nan  = starts_as_nan(a);
    const char sign = a->fold == F_MIN || a->fold == F_ARGMIN ? '<' : '>';

    switch (a->fold) {
    case F_PROD: sweep_line(w, "%s *= %s;", acc[0], v); break;
    case F_MIN:
    case F_MAX:
        if (nan)
            sweep_line(w, "%s = %s %c= %s ? %s : %s;", acc[0], acc[0], sign, v, acc[0], v);
        else
            sweep_line(w, "%s = %s %c %s ? %s : %s;", acc[0], v, sign, acc[0], v, acc[0]);
        break;
    case F_ARGMIN:
    case F_ARGMAX:
        sweep_line(w, "if (%s %c %s) {", v, sign, acc[0]);
        sweep_line(w, "%s = %s;", acc[0], v);
        sweep_line(w, "%s = %s;", acc[1], flat_index(w, a, at));
        sweep_line(w, "}");
        break;
    case F_ANY: sweep_line(w, "%s |= %s != 0;", acc[0], v); break;
    case F_ALL: sweep_line(w, "%s &= %s != 0;", acc[0], v); break;
    case F_SUM: sweep_line(w, "%s += %s;", acc[0], v); break;
    default:
        sweep_line(w, weight ? "%s += %s * %s;" : "%s += %s;", acc[0], v, weight);
        if (weight)
            sweep_line(w, "%s += %s;", acc[1], weight);
        else if (masked(a))
            sweep_line(w, "%s += 1;", acc[1]);
        break;
    }
}

static char *keyword(writer *w, const node *a, const node *x, const place at)
{
    place of;

    for (int k = 0; k < x->rank; k++)
        of[k] = x->n[k] == 1 ? "0" : at[k + a->in[0]->rank - x->rank];
    return sweep_value(w, x, of);
}

void sweep_step(writer *w, const node *a, const place at, char *const *acc)
{
    const bool  compares = a->fold >= F_MIN && a->fold <= F_ALL;
    const char *c        = compares ? sweep_dtype(a->in[0]->type)->c : sum_type(w, a);
    const char *mask     = a->where ? keyword(w, a, a->where, at) : NULL;
    const char *value, *weight = a->weights ? keyword(w, a, a->weights, at) : NULL;
    const int   name = w->names++;

    if (mask)
        sweep_line(w, "if (%s) {", mask);
    value = sweep_value(w, a->in[0], at);
    sweep_line(w, "const %s v%d = %s;", c, name, value);
    value = sweep_own(w, "v%d", name);
    if (a->skip_nan)
        sweep_line(w, "if (%s == %s) {", value, value);
    apply(w, a, at, value, weight, acc);
    if (a->skip_nan)
        sweep_line(w, "}");
    if (mask)
        sweep_line(w, "}");
}

char *sweep_finish(writer *w, const node *a, char *const *acc)
{
    if (a->fold == F_ARGMIN || a->fold == F_ARGMAX)
        return sweep_own(w, "%s", acc[1]);
    if (a->fold != F_MEAN)
        return sweep_own(w, "%s", acc[0]);
    if (!a->weights && !masked(a))
        return sweep_own(w, "%s / %.17g%s", acc[0], (double)sweep_reduced(a) - a->ddof,
                         strcmp(sum_type(w, a), "float") == 0 ? ".f" : ".");
    if (a->ddof > 0)
        return sweep_own(w, "(%s > %g ? %s / (%s - %g) : __builtin_nan(\"\"))", acc[1], a->ddof,
                         acc[0], acc[1], a->ddof);
    return sweep_own(w, "%s / %s", acc[0], acc[1]);
}

/* ---- A reduction where it is used ------------------------------------------------------------ */
char *sweep_inlined(writer *w, const node *a, const place at)
{
    const node *x    = a->in[0];
    const int   name = w->names++;
    accumulator acc[2];
    const int   n      = sweep_accumulators(w, a, acc);
    char       *var[2] = { NULL, NULL };
    place       of;
    int         loops = 0;

    for (int k = 0, kept = 0; k < x->rank; k++) {
        const bool reduced = a->dims >> k & 1;

        of[k] = reduced ? x->n[k] == 1 ? "0" : sweep_own(w, "r%d_%d", name, k) : at[kept];
        kept += !reduced || a->keep;
    }
    for (int k = 0; k < n; k++) {
        var[k] = sweep_own(w, "s%d_%d", name, k);
        sweep_line(w, "%s %s = %s;", acc[k].type, var[k], acc[k].init);
    }
    for (int k = 0; k < x->rank; k++)
        if ((a->dims >> k & 1) && x->n[k] > 1) {
            sweep_line(w, "for (int64_t %s = 0; %s < %lld; %s++) {", of[k], of[k],
                       (long long)x->n[k], of[k]);
            loops++;
        }
    sweep_step(w, a, of, var);
    while (loops-- > 0)
        sweep_line(w, "}");
    return sweep_own(w, "((%s)(%s))", sweep_dtype(a->type)->c, sweep_finish(w, a, var));
}
