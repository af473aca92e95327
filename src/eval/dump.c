/* dump.c - writes graph, tree and nest as stable text: RDIM_DEBUG prints it, explain shows it,
 * and tests pin it. */
#include "eval/dump.h"

/* Writes two spaces for each level of depth. */
static void indent(rd_text *text, int depth)
{
    rd_text_add(text, "%*s", 2 * depth, "");
}

/* Writes a set of axes: "i,j". */
static void axes_text(rd_text *text, const rd_graph *g, rd_set axes)
{
    bool first = true;

    for (int a = 0; a < g->n_axis; a++)
        if (rd_in(axes, a)) {
            rd_text_add(text, "%s%s", first ? "" : ",", g->axis[a].name);
            first = false;
        }
}

/* ---- Graph ----------------------------------------------------------------------------------- */
/* The word for what a value does: its operator, its reducer, or its kind. */
static const char *kind_name(const rd_value *v)
{
    static const char *const name[] = { "const",  "coord", "read", "map", "call",
                                        "reduce", "scan",  "sort", "join" };

    return v->kind == RD_VALUE_MAP ? v->op == RD_OP_index ? "index" : rd_op_table[v->op].name
           : v->kind == RD_VALUE_REDUCE || v->kind == RD_VALUE_SCAN
               ? rd_reducer_table[v->reducer].name
               : name[v->kind];
}

/* Writes the combine tree of a reduction: " tree k,j|i lanes 64 side by side x". Reduced axes are
 * listed outermost first; those behind the bar are the lane position. "side by side": the lane
 * axis, with contiguous elements for vectors. Steps INT64_MAX mean a strict left fold (serial). */
static void combine_text(rd_text *text, const rd_graph *g, const rd_value *v)
{
    const rd_combine *c = v->combine;

    rd_text_add(text, " tree");
    for (int k = 0; k < c->n_order; k++)
        rd_text_add(text, "%s%s",
                    k == c->first_lane ? "|"
                    : k                ? ","
                                       : " ",
                    g->axis[c->order[k]].name);
    rd_text_add(text, " lanes %d", c->lanes);
    if (c->steps == INT64_MAX)
        rd_text_add(text, " serial");
    if (c->lane_axis >= 0)
        rd_text_add(text, " side by side %s", g->axis[c->lane_axis].name);
}

/* Writes one value of the graph: "v2 = add f32 v0 v1 over {i,j} -> y0".  Between operands and axes
 * come a constant's number, what a read reads, and subscripts. */
static void value_line(rd_text *text, const rd_graph *g, int i)
{
    const rd_value *v = &g->value[i];
    char            name[RD_NAME_TEXT];

    rd_text_add(text, "v%d = %s %s", i, kind_name(v), rd_dtype_name(v->type));
    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0)
            rd_text_add(text, " v%d", v->in[k]);
    if (v->kind == RD_VALUE_CONST)
        rd_text_add(text, " %.9g", rd_word_to_double(v->value, v->type));
    if (v->slot >= 0)
        rd_text_add(text, " %s", rd_slot_name(g, v->slot, name));
    if (v->target >= 0)
        rd_text_add(text, " v%d", v->target);
    if (v->into >= 0)
        rd_text_add(text, " into v%d", v->into);
    for (int d = 0; d < v->n_at; d++) {
        rd_text_add(text, d ? ", " : " at ");
        rd_subscript_text(text, g, &v->at[d]);
    }
    rd_text_add(text, " over {");
    axes_text(text, g, v->axes);
    rd_text_add(text, "}");
    if (v->reduced) {
        rd_text_add(text, v->kind == RD_VALUE_SCAN ? " along {" : " reduces {");
        axes_text(text, g, v->reduced);
        rd_text_add(text, "}");
    }
    if (v->combine)
        combine_text(text, g, v);
    if (v->out >= 0)
        rd_text_add(text, " -> y%d", v->out);
    rd_text_add(text, "\n");
}

/* Writes the axes with their extents, then a line for each value. */
void rd_graph_text(rd_text *text, const rd_graph *g)
{
    rd_text_add(text, "axes:");
    for (int a = 0; a < g->n_axis; a++)
        for (int i = 0; i < g->n_value; i++)
            if (rd_in(g->value[i].axes | g->value[i].reduced, a)) {
                rd_text_add(text, " %s:%lld", g->axis[a].name, (long long)g->axis[a].extent);
                break;
            }
    rd_text_add(text, "\n");
    for (int i = 0; i < g->n_value; i++)
        value_line(text, g, i);
}

/* ---- Tree and nest --------------------------------------------------------------------------- */
/* Writes a loop: "i:4", "-i:4" backwards, or "panel i:4096 by 512" for a tile loop. */
static void loop_text(rd_text *text, const rd_graph *g, const rd_loop_scope *s)
{
    if (s->tile)
        rd_text_add(text, "panel %s:%lld by %lld", g->axis[s->axis].name,
                    (long long)g->axis[s->axis].extent, (long long)s->step);
    else
        rd_text_add(text, "%s%s:%lld", s->backwards ? "-" : "", g->axis[s->axis].name,
                    (long long)g->axis[s->axis].extent);
}

/* Writes the name of a stored value with its storage dims: "t1[i,j]". */
static void name_text(rd_text *text, const rd_tree *tree, int i)
{
    const rd_graph *g   = tree->graph;
    const rd_value *v   = &g->value[i];
    bool            any = false;
    char            name[RD_NAME_TEXT];

    rd_text_add(text, "%s", rd_materialised_name(g, tree->number, i, name));
    for (int d = 0; d < v->n_dim; d++)
        if (rd_in(tree->storage[i].stored, v->dim[d])) {
            rd_text_add(text, "%s%s", any ? "," : "[", g->axis[v->dim[d]].name);
            any = true;
        }
    rd_text_add(text, any ? "]" : "");
}

/* The name of a reducer.  Sums of contracted products are called "sum", like other sums. */
static const char *fold_name(const rd_value *v)
{
    return v->expr->as.fold->user                             ? v->expr->as.fold->user->name
           : rd_reducer_multiplies((rd_reducer_id)v->reducer) ? "sum"
                                                              : rd_reducer_table[v->reducer].name;
}

/* Writes the line of a stored value: "y0[i] = sum(x[i,k])", or "t0 <- sum(..)" where each visit
 * adds an element and the loop around finishes it. finish_loop is that loop, NULL: none. */
static void item_text(rd_text *text, const rd_tree *tree, int i)
{
    const rd_value *v = &tree->graph->value[i];

    name_text(text, tree, i);
    if (v->kind == RD_VALUE_REDUCE && tree->storage[i].finish_loop)
        rd_text_add(text, " <- %s(", fold_name(v));
    else if (v->kind == RD_VALUE_REDUCE || v->kind == RD_VALUE_SCAN)
        rd_text_add(text, " = %s%s(", v->kind == RD_VALUE_SCAN ? "scan " : "", fold_name(v));
    else
        rd_text_add(text, " = ");
    rd_value_text(text, tree, i);
    rd_text_add(text, v->kind == RD_VALUE_REDUCE || v->kind == RD_VALUE_SCAN ? ")\n" : "\n");
}

/* The only value in a nest of loops, if it is a reduction that is complete behind the outermost of
 * them, so that all fits on one line; -1: it is not so. */
static int lone_reduction(const rd_tree *tree, const rd_loop_scope *loop)
{
    const rd_loop_scope *s = loop;

    while (s->first && !s->first->next && s->first->loop)
        s = s->first->loop;
    if (!s->first || s->first->next || s->first->loop ||
        tree->storage[s->first->value].finish_loop != loop)
        return -1;
    return s->first->value;
}

static void scope_text(rd_text *text, const rd_tree *tree, const rd_loop_scope *scope, int depth);

/* Writes a nest of loops with its body: "for i:4 j:5:" and indented lines.  A lone reduction is one
 * line: "t0[i] = sum k:7 (x0[i,k])".  lone_reduction() is the reduction that a loop is for
 * alone, -1: none. Loops that contain one loop only are written in one line. */
static void loops_text(rd_text *text, const rd_tree *tree, const rd_loop_scope *loop, int depth)
{
    const rd_graph *g    = tree->graph;
    int             lone = lone_reduction(tree, loop);

    indent(text, depth);
    if (lone >= 0) {
        name_text(text, tree, lone);
        rd_text_add(text, " = %s", fold_name(&g->value[lone]));
        for (const rd_loop_scope *s = loop; s; s = s->first->loop) {
            rd_text_add(text, " ");
            loop_text(text, g, s);
        }
        rd_text_add(text, " (");
        rd_value_text(text, tree, lone);
        rd_text_add(text, ")\n");
        return;
    }
    rd_text_add(text, "for");
    for (;;) {
        rd_text_add(text, " ");
        loop_text(text, g, loop);
        if (!loop->first || loop->first->next || !loop->first->loop ||
            lone_reduction(tree, loop->first->loop) >= 0)
            break;
        loop = loop->first->loop;
    }
    rd_text_add(text, ":\n");
    scope_text(text, tree, loop, depth + 1);
}

/* Writes the loops and values of a loop body in order. */
static void scope_text(rd_text *text, const rd_tree *tree, const rd_loop_scope *scope, int depth)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop)
            loops_text(text, tree, item->loop, depth);
        else {
            indent(text, depth);
            item_text(text, tree, item->value);
        }
}

/* The words for how tasks may share a loop over the axis: "parallel", "parallel blocks of" (blocks
 * of a combine tree stay whole) or "serial". In the code, inner[8] is the blank behind
 * "parallel". That is, it is "parallel blocks of" if inner[8] is not 0, and "serial" begins with
 * s. */
static const char *sharing(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    const char *word = "parallel";

    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v = item->loop ? NULL : &tree->graph->value[item->value];

        if (item->loop) {
            const char *inner = sharing(tree, item->loop, axis);

            word = inner[0] == 's' || word[0] == 's' ? "serial" : inner[8] ? inner : word;
        } else if (rd_in(v->reduced, axis) && word[0] != 's')
            word = v->kind == RD_VALUE_SCAN || v->combine->steps == INT64_MAX
                       ? "serial"
                       : "parallel blocks of";
    }
    return word;
}

/* Writes the kind of memory of each stored value that is no result: "keep: t0 scratch, t1 array".
 * A part of a concatenation is "part". tree->materialised lists stored values, `out` >= 0: a
 * result; into >= 0: a part of a concatenation. */
static void keep_text(rd_text *text, const rd_tree *tree)
{
    char name[RD_NAME_TEXT];
    bool any = false;

    for (int a = 0; a < tree->n_materialised; a++) {
        int i = tree->materialised[a].value;

        if (tree->graph->value[i].out >= 0)
            continue;
        rd_text_add(text, "%s%s %s",
                    any ? ", " : "keep: ", rd_materialised_name(tree->graph, tree->number, i, name),
                    tree->graph->value[i].into >= 0 ? "part"
                                                    : rd_storage_class_name(tree->storage[i].keep));
        any = true;
    }
    rd_text_add(text, any ? "\n" : "");
}

/* Writes the decisions of planning, the lines of g->why, each behind "why: ". */
static void why_text(rd_text *text, const rd_graph *g)
{
    for (const char *line = g->why; line && *line;) {
        int n = 0;

        while (line[n] && line[n] != '\n')
            n++;
        rd_text_add(text, "why: %.*s\n", n, line);
        line += line[n] ? n + 1 : n;
    }
}

/* True for the mere storage of a concatenation (JOIN), which is no stage: its parts fill it. */
static bool is_storage(const rd_tree *tree, const rd_item *item)
{
    return !item->loop && tree->graph->value[item->value].kind == RD_VALUE_JOIN;
}

/* Writes one stage, its loop in the first line and the body below, or one value:
 *
 *     parallel i:4
 *       for j:5: */
static void root_text(rd_text *text, const rd_tree *tree, const rd_item *item)
{
    if (!item->loop) {
        item_text(text, tree, item->value);
        return;
    }
    rd_text_add(text, "%s ", sharing(tree, item->loop, item->loop->axis));
    loop_text(text, tree->graph, item->loop);
    rd_text_add(text, "\n");
    scope_text(text, tree, item->loop, /*depth=*/1);
    if (item->loop->epilogue) {
        rd_text_add(text, "then ");
        loops_text(text, tree, item->loop->epilogue, /*depth=*/0);
    }
}

/* Writes the loops of one stage. */
void rd_stage_text(rd_text *text, const rd_nest *nest, int stage)
{
    root_text(text, nest->tree, nest->stage[stage].item);
}

/* Writes all stages of a tree, then storage and decisions. */
void rd_tree_text(rd_text *text, const rd_tree *tree)
{
    int k = 0;

    for (const rd_item *item = tree->root->first; item; item = item->next)
        if (!is_storage(tree, item)) {
            rd_text_add(text, "stage %d: ", k++);
            root_text(text, tree, item);
        }
    keep_text(text, tree);
    why_text(text, tree->graph);
}

/* Writes the tree of a nest, then how many tasks each stage may have: "tasks of stage 0: any". */
void rd_nest_text(rd_text *text, const rd_nest *nest)
{
    rd_tree_text(text, nest->tree);
    for (int s = 0; s < nest->n_stage; s++)
        if (nest->stage[s].root >= 0)
            rd_text_add(text, "tasks of stage %d: %s\n", s, nest->stage[s].serial ? "one" : "any");
}
