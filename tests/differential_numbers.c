/* differential_numbers.c - a plan that reads its numbers, because one was made of other numbers before. */
#include "differential.h"
#include "expr/expr.h"
#include <stdlib.h>

enum { MOST = 2048 };

typedef struct reached {
    int            n;
    const rd_expr *at[MOST];
} reached;

static void reach(reached *r, const rd_expr *e)
{
    if (!e || r->n == MOST)
        return;
    for (int k = 0; k < r->n; k++)
        if (r->at[k] == e)
            return;
    r->at[r->n++] = e;
    for (int k = 0; k < e->n_in; k++)
        reach(r, e->in[k]);
}

/* Nodes never change; but these are of a clone that nothing has looked at yet. */
static int change_numbers(const rd_expr *e)
{
    reached *r       = calloc(1, sizeof *r);
    int      changed = 0;

    reach(r, e);
    for (int k = 0; k < r->n; k++) {
        rd_word *const value = r->at[k]->kind == RD_EXPR_NUMBER
                                   ? (rd_word *)(uintptr_t)&r->at[k]->as.number->value
                                   : NULL;

        /* 0 and 1 stay what they are: plans know them */
        if (value && r->at[k]->type == RD_F64 && value->f64 != 1)
            value->f64 *= 0.984375;
        else if (value && r->at[k]->type == RD_F32 && value->f32 != 1)
            value->f32 *= 0.984375F;
        else if (value && r->at[k]->type == RD_I64 && value->i64 > 2 && value->i64 < 1000)
            value->i64--;
        else
            continue;
        changed++;
    }
    free(r);
    return changed;
}

bool differential_numbers(const wanted *w, const rd_array *first, const char *how, rd_text *report)
{
    rd_ctx *const  ctx   = rd_ctx_new(NULL);
    rd_expr *const other = rd_clone(ctx, w->x);
    rd_array       out   = differential_dense(w->x);
    bool           ok    = true;

    if (change_numbers(other) > 0) {
        ok = rd_eval(ctx, other, &out) == RD_OK && rd_eval(ctx, rd_clone(ctx, w->x), &out) == RD_OK;
        if (!ok)
            rd_text_add(report, "with other numbers before: %s\n", rd_error_text(ctx));
        ok = ok && differential_same(w, 0, first, how, &out, "other numbers before", report);
    }
    free(out.data);
    rd_ctx_free(ctx);
    return ok;
}
