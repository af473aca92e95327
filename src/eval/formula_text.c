/* formula_text.c - writes values as formulas, for the dumps of tree and nest and for explain:
 *
 *     exp(x0[i,j] - t0[i]) */
#include "eval/dump.h"
#include <stdio.h>

/* Operands nested deeper are written as "...". */
enum { DEPTH = 24 };

/* The name of a stored value, written into `name`: y and the result's number, or t and
 * number[value], its number among stored values. */
const char *rd_materialised_name(const rd_graph *graph, const int32_t *number, int value,
                                 char name[RD_NAME_TEXT])
{
    if (graph->value[value].out >= 0)
        snprintf(name, RD_NAME_TEXT, "y%d", graph->value[value].out);
    else
        snprintf(name, RD_NAME_TEXT, "t%d", number[value]);
    return name;
}

/* The name of a leaf's slot: the input's name, or x and the number of leaves before it, written
 * into `name`. */
const char *rd_slot_name(const rd_graph *graph, int slot, char name[RD_NAME_TEXT])
{
    int n = 0;

    if (graph->slot[slot].name)
        snprintf(name, RD_NAME_TEXT, "%s", graph->slot[slot].name);
    else {
        for (int s = 0; s < slot; s++)
            n += graph->slot[s].kind == RD_SLOT_LEAF;
        snprintf(name, RD_NAME_TEXT, "x%d", n);
    }
    return name;
}

/* The word for where a value is stored. */
const char *rd_storage_class_name(rd_storage_class keep)
{
    static const char *const name[] = { "inline", "register", "scratch", "array", "result" };

    return name[keep];
}

static void operand_text(rd_text *text, const rd_tree *tree, int i, int depth, bool bracket);

/* Writes a gathered index (an element of an index array) as its formula; without a tree as "[v7]".
 * The range check of an inlined index, or its cast, is left out. */
static void gathered_text(rd_text *text, const rd_tree *tree, int value, int depth)
{
    const rd_value *v = tree ? &tree->graph->value[value] : NULL;

    if (!tree)
        rd_text_add(text, "[v%d]", value);
    else if (v->kind == RD_VALUE_MAP && (v->op == RD_OP_index || v->op == RD_OP_cast) &&
             tree->storage[value].keep == RD_KEEP_INLINE)
        operand_text(text, tree, v->in[0], depth + 1, /*bracket=*/true);
    else
        operand_text(text, tree, value, depth + 1, /*bracket=*/true);
}

/* Writes a subscript: "2*i+j-1". A gathered index (axis below 0) is written as the formula of its
 * value. tree: NULL: only numbers of values are known. `depth` is that of formulas inside each
 * other. */
static void subscript_text(rd_text *text, const rd_graph *graph, const rd_tree *tree,
                           const rd_subscript *at, int depth)
{
    bool first = true;

    for (int t = 0; t < at->n_term; t++) {
        int64_t coef = at->term[t].coef;

        rd_text_add(text, coef < 0 ? "-" : first ? "" : "+");
        coef = coef < 0 ? -coef : coef;
        if (coef != 1)
            rd_text_add(text, "%lld*", (long long)coef);
        if (at->term[t].axis >= 0)
            rd_text_add(text, "%s", graph->axis[at->term[t].axis].name);
        else
            gathered_text(text, tree, at->term[t].value, depth);
        first = false;
    }
    if (at->offset || first) /* a subscript without terms is "0" */
        rd_text_add(text, at->offset >= 0 && !first ? "+%lld" : "%lld", (long long)at->offset);
}

/* Writes a subscript of the graph: "2*i+j-1". A gathered index is written as the number of its
 * value: "[v7]". */
void rd_subscript_text(rd_text *text, const rd_graph *graph, const rd_subscript *at)
{
    subscript_text(text, graph, /*tree=*/NULL, at, /*depth=*/0);
}

/* The infix operator of an operation, with blanks; NULL: it is written as a call. */
static const char *infix(rd_op op)
{
    switch (op) {
    case RD_OP_add: return " + ";
    case RD_OP_sub: return " - ";
    case RD_OP_mul: return " * ";
    case RD_OP_div: return " / ";
    case RD_OP_eq: return " == ";
    case RD_OP_ne: return " != ";
    case RD_OP_lt: return " < ";
    case RD_OP_le: return " <= ";
    case RD_OP_gt: return " > ";
    case RD_OP_ge: return " >= ";
    case RD_OP_and: return " and ";
    case RD_OP_or: return " or ";
    default: return NULL;
    }
}

/* Writes a read of a leaf along the leaf's own axes: "x0[i+2,j]", or "x0[flat 5*i+j]" if only the
 * address is known. n is the number of axes of more than one index; 0 needs no brackets. */
static void leaf_text(rd_text *text, const rd_tree *tree, const rd_value *v, int depth)
{
    const rd_graph *g = tree->graph;
    char            name[RD_NAME_TEXT];
    rd_subscript    at[RD_MAX_RANK];
    const int       n = rd_leaf_index(g, v, at);

    rd_text_add(text, "%s", rd_slot_name(g, v->slot, name));
    if (n < 0) {
        rd_text_add(text, "[flat ");
        subscript_text(text, g, tree, &v->at[0], depth);
    }
    for (int k = 0; k < n; k++) {
        rd_text_add(text, k ? "," : "[");
        subscript_text(text, g, tree, &at[k], depth);
    }
    rd_text_add(text, n ? "]" : "");
}

/* Writes a stored value with its storage dims: "t0[i,k]", at the subscripts of READ `read`, or at
 * its own loop indices if read is NULL. `stored` is the set of axes that the storage has; a
 * dense array is read at one flat index. */
static void kept_text(rd_text *text, const rd_tree *tree, int i, const rd_value *read, int depth)
{
    const rd_graph *g = tree->graph;
    const rd_value *v = &g->value[i];
    char            name[RD_NAME_TEXT];
    bool            any = false;

    rd_text_add(text, "%s", rd_materialised_name(g, tree->number, i, name));
    for (int d = 0; d < v->n_dim; d++) {
        if (!rd_in(tree->storage[i].stored, v->dim[d]) || (read && v->dense))
            continue;
        rd_text_add(text, any ? "," : "[");
        if (read)
            subscript_text(text, g, tree, &read->at[d], depth);
        else
            rd_text_add(text, "%s", g->axis[v->dim[d]].name);
        any = true;
    }
    if (read && v->dense) {
        rd_text_add(text, "[flat ");
        subscript_text(text, g, tree, &read->at[0], depth);
        any = true;
    }
    rd_text_add(text, any ? "]" : "");
}

/* Writes a constant with nine digits. */
static void number_text(rd_text *text, const rd_value *v)
{
    rd_text_add(text, "%.9g", rd_word_to_double(v->value, v->type));
}

/* Writes an elementwise operation: "a + b", an fma as "a * b + c", or a call "exp(a)". bracket:
 * its reader needs brackets around an infix operation. infix() is the operator, NULL: none;
 * `open`: brackets are written. */
static void map_text(rd_text *text, const rd_tree *tree, const rd_value *v, int depth, bool bracket)
{
    const char *op  = v->kind == RD_VALUE_MAP ? infix(v->op) : NULL;
    bool        fma = v->kind == RD_VALUE_MAP && v->op == RD_OP_fma, open = (op || fma) && bracket;

    if (open)
        rd_text_add(text, "(");
    if (op || fma) {
        operand_text(text, tree, v->in[0], depth, /*bracket=*/true);
        rd_text_add(text, "%s", fma ? " * " : op);
        operand_text(text, tree, v->in[1], depth, /*bracket=*/true);
        if (fma) {
            rd_text_add(text, " + ");
            operand_text(text, tree, v->in[2], depth, /*bracket=*/true);
        }
    } else {
        rd_text_add(text, "%s(",
                    v->kind == RD_VALUE_CALL
                        ? v->expr->as.call->name ? v->expr->as.call->name : "call"
                    : v->op == RD_OP_cast ? rd_dtype_name(v->type)
                                          : rd_op_table[v->op].name);
        for (int k = 0; k < v->n_in; k++) {
            rd_text_add(text, k ? ", " : "");
            operand_text(text, tree, v->in[k], depth, /*bracket=*/false);
        }
        rd_text_add(text, ")");
    }
    if (open)
        rd_text_add(text, ")");
}

/* Writes the products that a reduction adds (a dot): "a * b", or "square(a)" if both factors are
 * one. */
static void product_text(rd_text *text, const rd_tree *tree, const rd_value *v, int depth)
{
    const bool square = v->in[0] == v->in[1];

    rd_text_add(text, square ? "square(" : "");
    operand_text(text, tree, v->in[0], depth, !square);
    rd_text_add(text, square ? ")" : " * ");
    if (!square)
        operand_text(text, tree, v->in[1], depth, /*bracket=*/true);
}

/* Writes the formula of a value down to leaves and stored values; "..." below DEPTH levels.
 * bracket: its reader needs brackets around an infix operation. A cast of a value to its own
 * type is left out. Operands 1 and 2 of a reduction are weights and mask. */
static void body_text(rd_text *text, const rd_tree *tree, int i, int depth, bool bracket)
{
    const rd_value *v = &tree->graph->value[i];

    if (depth > DEPTH) {
        rd_text_add(text, "...");
        return;
    }
    switch (v->kind) {
    case RD_VALUE_CONST: number_text(text, v); break;
    case RD_VALUE_COORD:
        rd_text_add(text, "at(");
        rd_subscript_text(text, tree->graph, &v->at[0]);
        rd_text_add(text, ")");
        break;
    case RD_VALUE_READ:
        if (v->target >= 0)
            kept_text(text, tree, v->target, v, depth);
        else
            leaf_text(text, tree, v, depth);
        break;
    case RD_VALUE_SORT:
        rd_text_add(text, "%s(", rd_sort_name(v->expr->as.sort));
        if (v->target >= 0)
            kept_text(text, tree, v->target, /*read=*/NULL, depth);
        else {
            rd_text_add(text, "row at ");
            leaf_text(text, tree, v, depth);
        }
        rd_text_add(text, ")");
        break;
    case RD_VALUE_JOIN: rd_text_add(text, "join"); break;
    case RD_VALUE_REDUCE:
    case RD_VALUE_SCAN:
        if (rd_reducer_multiplies((rd_reducer_id)v->reducer)) {
            product_text(text, tree, v, depth + 1);
            break;
        }
        operand_text(text, tree, v->in[0], depth + 1, /*bracket=*/false);
        for (int k = 1; k < v->n_in; k++)
            if (v->in[k] >= 0) {
                rd_text_add(text, k == 1 ? ", weight " : " where ");
                operand_text(text, tree, v->in[k], depth + 1, /*bracket=*/false);
            }
        break;
    default:
        if (v->op == RD_OP_cast && v->kind == RD_VALUE_MAP &&
            v->type == tree->graph->value[v->in[0]].type)
            operand_text(text, tree, v->in[0], depth + 1, bracket);
        else
            map_text(text, tree, v, depth + 1, bracket);
    }
}

/* Writes an operand: its name if it is stored, else its formula. */
static void operand_text(rd_text *text, const rd_tree *tree, int i, int depth, bool bracket)
{
    if (tree->storage[i].keep != RD_KEEP_INLINE)
        kept_text(text, tree, i, /*read=*/NULL, depth);
    else
        body_text(text, tree, i, depth, bracket);
}

/* Writes what a value computes, as a formula of leaves and stored values: "exp(x0[i,j] -
 * t0[i])". */
void rd_value_text(rd_text *text, const rd_tree *tree, int value)
{
    body_text(text, tree, value, /*depth=*/0, /*bracket=*/false);
}
