/* to_numpy.c - a program as Python: what is used once stands where it is used, the rest has a
 * name. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scribe {
    const program *p;
    text           out;
    int            uses[MOST_NODES];
    char          *name[MOST_NODES];
    bool           mute; /* NumPy lacks a word */
} scribe;

static char *write_node(scribe *s, const node *a);

static char *axes_of(const node *a)
{
    text t = { 0 };

    sweep_put(&t, "(");
    for (int k = 0; k < a->in[0]->rank; k++)
        if (a->dims >> k & 1)
            sweep_put(&t, "%d,", k);
    sweep_put(&t, ")");
    return t.at;
}

static char *literal(const node *a)
{
    if (isinf(a->value))
        return sweep_format("%snp.inf", a->value < 0 ? "-" : "");
    if (!sweep_dtype(a->type)->is_float)
        return sweep_format("%lld", (long long)a->value);
    return sweep_format(a->value == floor(a->value) ? "%.1f" : "%.17g", a->value);
}

static char *map_text(scribe *s, const node *a)
{
    text t = { 0 };

    for (const char *c = a->op->python; *c; c++)
        if (*c == '%' && c[1] >= '0' && c[1] <= '2')
            sweep_put(&t, "%s", write_node(s, a->in[*++c - '0']));
        else
            sweep_put(&t, "%c", *c);
    return a->op->arity == 1 && *a->op->python == '-' ? sweep_format("(%s)", t.at) : t.at;
}

/* "[:, :, 3]" */
static char *indexed(const char *x, int axis, const char *part)
{
    text t = { 0 };

    sweep_put(&t, "%s[", x);
    for (int k = 0; k < axis; k++)
        sweep_put(&t, ":, ");
    sweep_put(&t, "%s]", part);
    return t.at;
}

static char *window_text(scribe *s, const node *a)
{
    char *x = sweep_format("np.lib.stride_tricks.sliding_window_view(%s, %lld, axis=%d)",
                           write_node(s, a->in[0]), (long long)a->stop, a->axis);

    return a->step == 1 ? x : indexed(x, a->axis, sweep_format("::%lld", (long long)a->step));
}

static char *coord_text(const node *a)
{
    text t = { 0 };

    sweep_put(&t, "np.arange(%lld).reshape(", (long long)a->n[a->axis]);
    for (int k = 0; k < a->rank; k++)
        sweep_put(&t, "%lld,", (long long)a->n[k]);
    sweep_put(&t, ")");
    return t.at;
}

static char *permute_text(scribe *s, const node *a)
{
    text t = { 0 };

    sweep_put(&t, "%s.transpose(", write_node(s, a->in[0]));
    for (int k = 0; k < a->rank; k++)
        sweep_put(&t, "%d,", a->order[k]);
    sweep_put(&t, ")");
    return t.at;
}

static char *view_text(scribe *s, const node *a)
{
    switch (a->kind) {
    case N_PERMUTE: return permute_text(s, a);
    case N_EXPAND: return sweep_format("np.expand_dims(%s, %d)", write_node(s, a->in[0]), a->axis);
    case N_SELECT:
        return indexed(write_node(s, a->in[0]), a->axis, sweep_format("%lld", (long long)a->start));
    case N_WINDOW: return window_text(s, a);
    case N_DIAGONAL: return sweep_format("np.diagonal(%s)", write_node(s, a->in[0]));
    case N_TAKE:
        return sweep_format("np.take(%s, %s, %d)", write_node(s, a->in[0]), write_node(s, a->in[1]),
                            a->axis);
    case N_CONCAT:
        return sweep_format("np.concatenate((%s, %s), %d)", write_node(s, a->in[0]),
                            write_node(s, a->in[1]), a->axis);
    case N_COORD: return coord_text(a);
    default:
        if (a->flip)
            return sweep_format("np.flip(%s, %d)", write_node(s, a->in[0]), a->axis);
        return indexed(write_node(s, a->in[0]), a->axis,
                       sweep_format("%lld:%lld:%lld", (long long)a->start, (long long)a->stop,
                                    (long long)a->step));
    }
}

/* ---- Reductions ------------------------------------------------------------------------------ */
static char *named(scribe *s, const node *a, char *value)
{
    char *name = sweep_format("t%d_%zu", a->id, s->out.n);

    sweep_put(&s->out, "%s = %s\n", name, value);
    return name;
}

static char *mask_text(scribe *s, const node *a, const char *x)
{
    char *m = a->where ? write_node(s, a->where) : NULL,
         *n = a->skip_nan ? sweep_format("~np.isnan(%s)", x) : NULL;

    if (m && n)
        return sweep_format("(%s & %s)", m, n);
    return m ? m : n;
}

static char *arg_text(scribe *s, const node *a, const char *x, const char *mask)
{
    const char *f     = sweep_fold_name(a->fold);
    text        order = { 0 };
    int         n = 0, last = 0;
    char       *y;

    if (mask && !sweep_dtype(a->in[0]->type)->is_float)
        s->mute = true;
    if (mask)
        x = sweep_format("np.where(%s, %s, %snp.inf)", mask, x, a->fold == F_ARGMIN ? "" : "-");
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < a->in[0]->rank; k++)
            if ((int)(a->dims >> k & 1) == pass) {
                sweep_put(&order, "%d,", k);
                n += pass;
                last = k;
            }
    if (n == 1)
        return sweep_format("np.%s(%s, axis=%d%s)", f, x, last, a->keep ? ", keepdims=True" : "");
    if (n == a->in[0]->rank)
        return sweep_format("np.%s(%s%s)", f, x, a->keep ? ", keepdims=True" : "");
    y = sweep_format(
        "(lambda t: np.%s(t.reshape(t.shape[:%d] + (-1,)), axis=-1))(%s.transpose(%s))", f,
        a->in[0]->rank - n, x, order.at);
    return a->keep ? sweep_format("np.expand_dims(%s, %s)", y, axes_of(a)) : y;
}

/* Sums with weights: of x, and of the weights alone. */
static char *weighted(const node *a, const char *x, const char *w, const char *mask)
{
    char *how = sweep_format("axis=%s%s%s%s", axes_of(a), a->keep ? ", keepdims=True" : "",
                             mask ? ", where=" : "", mask ? mask : "");

    return sweep_format("(np.sum(%s * %s, %s) / np.sum(np.broadcast_to(%s, %s.shape), %s))", x, w,
                        how, w, x, how);
}

static char *weighted_text(scribe *s, const node *a, const char *x, const char *mask)
{
    char *w    = write_node(s, a->weights), *mean, *v;
    node  kept = *a;

    if (a->fold == F_MEAN)
        return weighted(a, x, w, mask);
    kept.keep = true;
    mean      = named(s, a, weighted(&kept, x, w, mask));
    v         = weighted(a, named(s, a, sweep_format("np.square(%s - %s)", x, mean)), w, mask);
    return a->fold == F_STD ? sweep_format("np.sqrt(%s)", v) : v;
}

static char *logsumexp_text(scribe *s, const node *a, const char *x, const char *mask)
{
    char *axes  = axes_of(a);
    char *where = mask ? sweep_format(", where=%s", mask) : "";
    char *m     = named(s, a,
                        sweep_format("np.max(%s, axis=%s, keepdims=True%s%s)", x, axes, where,
                                 mask ? ", initial=-np.inf" : ""));
    char *e     = sweep_format("np.exp(%s - %s)", x, m);
    char *y;

    if (a->weights)
        e = sweep_format("%s * %s", e, write_node(s, a->weights));
    y = sweep_format("(np.log(np.sum(%s, axis=%s, keepdims=True%s)) + %s)", e, axes, where, m);
    return a->keep ? y : sweep_format("np.squeeze(%s, axis=%s)", y, axes);
}

static char *norm_text(const node *a, const char *x, const char *how)
{
    if (isinf(a->p))
        return sweep_format("np.max(np.abs(%s), %s%s)", x, how,
                            a->where || a->skip_nan ? ", initial=0" : "");
    if (a->p == 1)
        return sweep_format("np.sum(np.abs(%s), %s)", x, how);
    return sweep_format("np.sqrt(np.sum(np.square(%s), %s))", x, how);
}

static char *plain_text(scribe *s, const node *a, const char *x, const char *mask)
{
    const bool has_nan_form =
        a->fold <= F_MAX || a->fold == F_MEAN || a->fold == F_VAR || a->fold == F_STD;
    const bool nan     = a->skip_nan && !a->where && has_nan_form && !a->initial;
    const bool extreme = a->fold == F_MIN || a->fold == F_MAX;
    text       how     = { 0 };

    sweep_put(&how, "axis=%s%s", axes_of(a), a->keep ? ", keepdims=True" : "");
    if (mask && !nan)
        sweep_put(&how, ", where=%s", mask);
    if (a->initial)
        sweep_put(&how, ", initial=%s", literal(a->initial));
    else if (mask && !nan && extreme)
        sweep_put(&how, ", initial=%snp.inf", a->fold == F_MIN ? "" : "-");
    if (a->ddof > 0)
        sweep_put(&how, ", ddof=1");
    if (a->type != sweep_fold_type(a->fold, a->in[0]->type))
        sweep_put(&how, ", dtype=np.%s", sweep_dtype(a->type)->numpy);
    if (a->fold == F_NORM)
        return norm_text(a, x, how.at);
    if (a->fold == F_COUNT)
        return mask ? sweep_format("np.sum(%s != 0, %s)", x, how.at)
                    : sweep_format("np.count_nonzero(%s, %s)", x, how.at);
    (void)s;
    return sweep_format("np.%s%s(%s, %s)", nan ? "nan" : "", sweep_fold_name(a->fold), x, how.at);
}

static char *fold_text(scribe *s, const node *a)
{
    char *x = write_node(s, a->in[0]), *mask;

    if (a->fold == F_LOGSUMEXP && !sweep_dtype(a->in[0]->type)->is_float)
        x = sweep_format("%s.astype(np.float64)", x);
    if (a->skip_nan || a->weights || a->fold == F_LOGSUMEXP)
        x = named(s, a, x);
    mask = mask_text(s, a, x);
    if (a->fold == F_ARGMIN || a->fold == F_ARGMAX)
        return arg_text(s, a, x, mask);
    if (a->fold == F_LOGSUMEXP)
        return logsumexp_text(s, a, x, mask);
    return a->weights ? weighted_text(s, a, x, mask) : plain_text(s, a, x, mask);
}

static char *scan_text(scribe *s, const node *a)
{
    static const char *const names[] = { [F_SUM]  = "np.cumsum",
                                         [F_PROD] = "np.cumprod",
                                         [F_MIN]  = "np.minimum.accumulate",
                                         [F_MAX]  = "np.maximum.accumulate" };
    char                    *x       = write_node(s, a->in[0]), *y;

    if (a->reverse)
        x = sweep_format("np.flip(%s, %d)", x, a->axis);
    y = sweep_format("%s(%s, axis=%d)", names[a->fold], x, a->axis);
    if (a->exclusive) {
        y = named(s, a, y);
        y = sweep_format("np.concatenate((np.full_like(%s, %d), %s), %d)",
                         indexed(y, a->axis, ":1"), a->fold == F_PROD, indexed(y, a->axis, ":-1"),
                         a->axis);
    }
    return a->reverse ? sweep_format("np.flip(%s, %d)", y, a->axis) : y;
}

/* ---- All ------------------------------------------------------------------------------------- */
static char *text_of(scribe *s, const node *a)
{
    switch (a->kind) {
    case N_LEAF: return sweep_format("x%d", a->leaf);
    case N_NUMBER: return literal(a);
    case N_MAP: return map_text(s, a);
    case N_CAST:
        return sweep_format("%s.astype(np.%s)", write_node(s, a->in[0]),
                            sweep_dtype(a->type)->numpy);
    case N_USER: return write_node(s, a->in[1]);
    case N_REDUCE: return a->fold == F_USER ? write_node(s, a->in[1]) : fold_text(s, a);
    case N_SCAN: return scan_text(s, a);
    default: return view_text(s, a);
    }
}

static char *write_node(scribe *s, const node *a)
{
    char *t;

    if (s->name[a->id])
        return s->name[a->id];
    if (!sweep_dtype(a->type)->numpy) {
        s->mute = true;
        return "x";
    }
    t = text_of(s, a);
    if (s->uses[a->id] > 1 && a->kind != N_LEAF && a->kind != N_NUMBER)
        t = s->name[a->id] = named(s, a, t);
    return t;
}

static void count(scribe *s, const node *a)
{
    const bool user = a->kind == N_USER || (a->kind == N_REDUCE && a->fold == F_USER);

    if (s->uses[a->id]++)
        return;
    for (int k = user; k < a->arity; k++)
        count(s, a->in[k]);
    if (a->where)
        count(s, a->where);
    if (a->weights)
        count(s, a->weights);
}

/* Texts are few and small, and not freed one by one. */
char *sweep_to_numpy(const program *p)
{
    scribe s = { .p = p };

    for (int k = 0; k < p->n_leaves; k++)
        s.mute = s.mute || !sweep_dtype(p->leaves[k].type)->numpy;
    if (s.mute)
        return NULL;
    if (p->numpy)
        return sweep_format("%s", p->numpy);
    for (int k = 0; k < p->n_roots; k++)
        count(&s, p->root[k]);
    for (int k = 0; k < p->n_roots; k++)
        sweep_put(&s.out, "y%d = np.ascontiguousarray(%s)\n", k, write_node(&s, p->root[k]));
    return s.mute ? NULL : s.out.at;
}
