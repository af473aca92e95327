/* print_expr.c - writes a node as one line, for dumps and messages.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. A weak number
 * takes the type of the operands beside it; a strong one keeps its own. */
#include "core/text_buffer.h"
#include "expr/expr.h"
#include <inttypes.h>

/* Writes "leaf prices f64 (3, 4) from prices.npy", or "input x f32 (5)". */
static void leaf_line(rd_text *text, const rd_expr *x)
{
    char        shape[RD_SHAPE_TEXT];
    const char *label = rd_leaf_label(x), *path = rd_leaf_path(x);

    if (x->as.leaf->name)
        rd_text_add(text, "input %s", x->as.leaf->name);
    else
        rd_text_add(text, "leaf%s%s", label ? " " : "", label ? label : "");
    rd_text_add(text, " %s %s", rd_dtype_name(x->type), rd_shape_text(x->rank, x->extent, shape));
    if (path)
        rd_text_add(text, " from %s", path);
}

/* Writes "number 2.5 weak", with enough digits to read the value back.  A weak number takes the
 * type of the operands beside it. */
static void number_line(rd_text *text, const rd_expr *x)
{
    rd_word value = x->as.number->value;

    switch (rd_dtype_class(x->type)) {
    case RD_CLASS_f32: rd_text_add(text, "number %.9g", (double)value.f32); break;
    case RD_CLASS_f64: rd_text_add(text, "number %.17g", value.f64); break;
    case RD_CLASS_i64: rd_text_add(text, "number %" PRId64, value.i64); break;
    default: rd_text_add(text, "number %" PRIu64, value.u64); break;
    }
    rd_text_add(text, "%s", x->weak ? " weak" : "");
}

/* Writes "view [i1, 2*i0 + 1, 3]": where each axis of the operand is read for the index (i0, i1,
 * ...). */
static void view_line(rd_text *text, const rd_expr *x)
{
    int            axes   = x->in[0]->rank; /* of the operand */
    const int64_t *offset = x->as.view->number, *coef = offset + axes;

    rd_text_add(text, "view [");
    for (int a = 0; a < axes; a++, coef += x->rank) {
        const char *plus = "";

        rd_text_add(text, "%s", a ? ", " : "");
        for (int k = 0; k < x->rank; k++) {
            if (!coef[k])
                continue;
            if (coef[k] == 1)
                rd_text_add(text, "%si%d", plus, k);
            else
                rd_text_add(text, "%s%" PRId64 "*i%d", plus, coef[k], k);
            plus = " + ";
        }
        if (offset[a] || !*plus)
            rd_text_add(text, "%s%" PRId64, plus, offset[a]);
    }
    rd_text_add(text, "]");
}

/* Writes "sort descending, the first 10 of 4096", or "quantiles 0.25 0.5". */
static void sort_line(rd_text *text, const rd_expr *x)
{
    const int64_t n = x->in[0]->extent[x->rank - 1], first = x->extent[x->rank - 1];

    rd_text_add(text, "%s", rd_sort_name(x->as.sort));
    for (int64_t k = 0; k < x->as.sort->n_q; k++)
        rd_text_add(text, " %g", x->as.sort->q[k]);
    if (x->as.sort->what != RD_SORT_QUANTILES && first < n)
        rd_text_add(text, ", the first %" PRId64 " of %" PRId64, first, n);
}

/* Writes "sum dims 0 2 where", "scan sum dims 1 exclusive", or "moments dims 0 ddof 1 weights". */
static void fold_line(rd_text *text, const rd_expr *x)
{
    const rd_fold_facts *fold = x->as.fold;
    const char *name = fold->user ? fold->user->name : rd_reducer_table[fold->reducer].name;

    rd_text_add(text, "%s%s dims", x->kind == RD_EXPR_SCAN ? "scan " : "", name ? name : "user");
    for (int a = 0; a < x->in[0]->rank; a++)
        if (fold->dims >> a & 1)
            rd_text_add(text, " %d", a);
    if (fold->ddof != 0)
        rd_text_add(text, " ddof %g", fold->ddof);
    rd_text_add(text, "%s%s%s%s%s%s%s", fold->law == RD_LAW_serial ? " serial" : "",
                fold->identity ? " identity" : "", fold->exclusive ? " exclusive" : "",
                fold->reverse ? " reverse" : "", x->in[1] ? " weights" : "",
                x->in[2] ? " where" : "", rd_is_grouped(x) ? " by label" : "");
}

/* Writes "sparse stored, 12 places along 0 1": the number of stored positions, and the axes of
 * coordinates.  "stored": without a fill, nothing is at other positions. */
static void sparse_line(rd_text *text, const rd_expr *x)
{
    rd_text_add(text, "sparse%s, %lld places along", x->in[1] ? "" : " stored",
                (long long)x->in[0]->extent[0]);
    for (int k = 0; k < x->as.sparse->n; k++)
        rd_text_add(text, " %d", (int)x->as.sparse->axis[k]);
}

/* Writes the line of any node by its kind, without its origins. */
static void node_line(rd_text *text, const rd_expr *x)
{
    switch (x->kind) {
    case RD_EXPR_LEAF: leaf_line(text, x); break;
    case RD_EXPR_NUMBER: number_line(text, x); break;
    case RD_EXPR_COORD:
    case RD_EXPR_TAKE:
    case RD_EXPR_CONCAT:
        rd_text_add(text, "%s%s axis %d", rd_expr_kind_name(x->kind),
                    x->as.axis->along ? " along" : "", (int)x->as.axis->axis);
        break;
    case RD_EXPR_VIEW: view_line(text, x); break;
    case RD_EXPR_RESHAPE: rd_text_add(text, "reshape"); break;
    case RD_EXPR_MAP:
        rd_text_add(text, "%s%s%s", rd_op_table[x->op].name, x->op == RD_OP_cast ? " " : "",
                    x->op == RD_OP_cast ? rd_dtype_name(x->type) : "");
        break;
    case RD_EXPR_CALL: rd_text_add(text, "call %s", x->as.call->name); break;
    case RD_EXPR_REDUCE:
    case RD_EXPR_SCAN: fold_line(text, x); break;
    case RD_EXPR_SORT: sort_line(text, x); break;
    case RD_EXPR_PRODUCT: rd_text_add(text, "product of rows"); break;
    case RD_EXPR_COMPLEX: rd_text_add(text, "complex%s", x->weak ? " weak" : ""); break;
    case RD_EXPR_SPARSE: sparse_line(text, x); break;
    case RD_EXPR_LATER: rd_text_add(text, "sparse product, its places not listed"); break;
    }
}

/* Writes a node's line, "sum dims 0 from (1, -2)": what the node is, then its origins if it has
 * any. */
void rd_expr_line(rd_text *text, const rd_expr *x)
{
    node_line(text, x);
    for (int a = 0; x->origin && a < x->rank; a++)
        rd_text_add(text, "%s%" PRId64, a ? ", " : " from (", x->origin[a]);
    rd_text_add(text, "%s", x->origin ? ")" : "");
}
