/* differential_report.c - expressions printed for people who look for a bug. */
#include "differential.h"
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    const rd_expr **seen;
    int             n, room;
} walk;

/* Number of the node in the order of printing; *first: not met before. */
static int number_of(walk *w, const rd_expr *x, bool *first)
{
    for (int i = 0; i < w->n; i++)
        if (w->seen[i] == x) {
            *first = false;
            return i;
        }
    if (w->n == w->room) {
        w->room = 2 * w->room + 16;
        w->seen = realloc(w->seen, (size_t)w->room * sizeof(*w->seen));
    }
    w->seen[w->n] = x;
    *first        = true;
    return w->n++;
}

static void leaf_line(rd_text *report, const rd_expr *x)
{
    const int size = rd_dtype_size(x->type);
    char      text[ORACLE_WHY];

    rd_text_add(report, " strides");
    for (int a = 0; a < x->rank; a++)
        rd_text_add(report, " %lld", (long long)x->as.leaf->stride[a]);
    if (!x->as.leaf->data || random_points(x) == 0)
        return;
    rd_text_add(report, " values");
    for (int64_t i = 0; i < random_points(x) && i < 8; i++) {
        int64_t rest = i, offset = 0;
        for (int a = x->rank - 1; a >= 0; a--) {
            offset += rest % x->extent[a] * x->as.leaf->stride[a];
            rest /= x->extent[a];
        }
        oracle_value v = oracle_load((const char *)x->as.leaf->data + offset * size, x->type);
        oracle_text(&v, text);
        text[strcspn(text, " ")] = 0;
        rd_text_add(report, " %s", text);
    }
}

static void view_line(rd_text *report, const rd_expr *x)
{
    const int64_t *offset = x->as.view->number, *coef = offset + x->in[0]->rank;

    rd_text_add(report, " reads [");
    for (int a = 0; a < x->in[0]->rank; a++) {
        rd_text_add(report, "%s%lld", a ? ", " : "", (long long)offset[a]);
        for (int k = 0; k < x->rank; k++)
            if (coef[a * x->rank + k])
                rd_text_add(report, " %+lld i%d", (long long)coef[a * x->rank + k], k);
    }
    rd_text_add(report, "]");
}

static void fold_line(rd_text *report, const rd_expr *x)
{
    static const char *const laws[] = { "exact", "commutes", "associates", "serial" };
    const rd_fold_facts     *fold   = x->as.fold;

    rd_text_add(report, " law %s%s%s%s", laws[fold->law], fold->exclusive ? " exclusive" : "",
                fold->reverse ? " reverse" : "", fold->identity ? " identity" : "");
    if (fold->ddof != 0)
        rd_text_add(report, " ddof %g", fold->ddof);
}

static void tree(rd_text *report, walk *w, const rd_expr *x, int depth, const char *role)
{
    char shape[RD_SHAPE_TEXT];
    bool first;
    int  number = number_of(w, x, &first);

    rd_text_add(report, "%*s%s#%d ", 2 * depth, "", role, number);
    if (!first) {
        rd_text_add(report, "(above)\n");
        return;
    }
    rd_expr_line(report, x);
    rd_text_add(report, " -> %s %s", rd_dtype_name(x->type),
                rd_shape_text(x->rank, x->extent, shape));
    if (x->kind == RD_EXPR_LEAF)
        leaf_line(report, x);
    else if (x->kind == RD_EXPR_VIEW)
        view_line(report, x);
    else if (x->kind == RD_EXPR_REDUCE || x->kind == RD_EXPR_SCAN)
        fold_line(report, x);
    rd_text_add(report, "\n");
    for (int k = 0; k < x->n_in; k++) {
        const bool folds = x->kind == RD_EXPR_REDUCE || x->kind == RD_EXPR_SCAN;
        if (x->in[k])
            tree(report, w, x->in[k], depth + 1,
                 folds && k == 1   ? "weights "
                 : folds && k == 2 ? "where "
                                   : "");
    }
}

void report_tree(rd_text *report, const rd_expr *x)
{
    walk w = { 0 };

    tree(report, &w, x, 1, "");
    free(w.seen);
}

static void visit(walk *w, const rd_expr *x)
{
    bool first;

    number_of(w, x, &first);
    for (int k = 0; first && k < x->n_in; k++)
        if (x->in[k])
            visit(w, x->in[k]);
}

static int by_serial(const void *a, const void *b)
{
    const rd_expr *x = *(rd_expr *const *)a, *y = *(rd_expr *const *)b;

    return (x->serial > y->serial) - (x->serial < y->serial);
}

int report_nodes(rd_expr *const *root, int n, rd_expr ***list)
{
    walk w = { 0 };

    for (int i = 0; i < n; i++)
        visit(&w, root[i]);
    qsort(w.seen, (size_t)w.n, sizeof *w.seen, by_serial);
    *list = (rd_expr **)(void *)w.seen;
    return w.n;
}

int64_t report_offset(const rd_array *a, int64_t i)
{
    int64_t stride[RD_MAX_RANK], offset = 0;

    if (a->strides.n)
        memcpy(stride, a->strides.at, sizeof stride);
    else
        rd_dense_strides(a->shape.n, a->shape.at, a->order, stride);
    for (int k = a->shape.n - 1; k >= 0; k--) {
        offset += i % a->shape.at[k] * stride[k];
        i /= a->shape.at[k];
    }
    return offset * rd_dtype_size(a->type);
}
