/* picture.c - lays out the boxes and arrows of a plan's picture. */
#include "eval/picture.h"
#include "eval/dump.h"
#include "expr/nodes.h"
#include <stdio.h>
#include <string.h>

/* Distances in the units of the picture, most letters of a line in each kind of box, and the most
 * nodes of a graph that is drawn. */
enum {
    GAP          = 24, /* between boxes */
    BETWEEN      = 90, /* between columns, for the arrows */
    LETTERS      = 84, /* of a stage */
    NAME_LETTERS = 44, /* of a slot */
    NODE_LETTERS = 36, /* of an expression */
    MOST_NODES   = 120
};

/* Draws a line of words below the picture so far. */
void rd_picture_line(rd_svg *to, const char *line)
{
    rd_svg_line(to, RD_SVG_MARGIN, to->height + GAP, line, 4 * LETTERS);
}

/* ---- The graph ------------------------------------------------------------------------------- */

/* A box of the graph: an expression. */
typedef struct node {
    const rd_expr *x;     /* the expression */
    rd_text        lines; /* the text in the box */
    rd_box         box;
    int            layer; /* operands have smaller layers */
} node;

/* All boxes of the graph. */
typedef struct graph {
    node  *at;
    int    n, layers;
    double width; /* of the widest layer */
} graph;

/* The index of an expression's box in g->at; -1: it has none. */
static int number_of(const graph *g, const rd_expr *x)
{
    for (int k = 0; k < g->n; k++)
        if (g->at[k].x == x)
            return k;
    return -1;
}

/* Assigns layers so that operands lie above all their readers (longest path), by relaxation until
 * nothing changes. number_of() is a node's place in g->at. n rounds suffice; g->layers counts
 * the layers. */
static void find_layers(graph *g)
{
    bool changed = true;

    for (int round = 0; changed && round <= g->n; round++) {
        changed = false;
        for (int k = g->n - 1; k >= 0; k--)
            for (int i = 0; i < g->at[k].x->n_in; i++) {
                const int from = g->at[k].x->in[i] ? number_of(g, g->at[k].x->in[i]) : -1;

                if (from >= 0 && g->at[k].layer <= g->at[from].layer) {
                    g->at[k].layer = g->at[from].layer + 1;
                    changed        = true;
                }
            }
    }
    for (int k = 0; k < g->n; k++)
        g->layers = g->at[k].layer >= g->layers ? g->at[k].layer + 1 : g->layers;
}

/* Moves each leaf to the layer just above its first reader, which makes arrows short. A node
 * without operands is a leaf here; `first` is the least layer of its readers. */
static void lower_leaves(graph *g)
{
    for (int k = 0; k < g->n; k++) {
        int first = g->layers;

        for (int j = 0; j < g->n; j++)
            for (int i = 0; i < g->at[j].x->n_in; i++)
                if (g->at[j].x->in[i] == g->at[k].x && g->at[j].layer < first)
                    first = g->at[j].layer;
        if (g->at[k].x->n_in == 0 && first < g->layers)
            g->at[k].layer = first - 1;
    }
}

/* Places the boxes of a layer side by side at height *y, and moves *y below them. */
static void place_layer(graph *g, int layer, double *y)
{
    double x = RD_SVG_MARGIN, high = 0;

    for (int k = 0; k < g->n; k++)
        if (g->at[k].layer == layer) {
            g->at[k].box.x = x;
            g->at[k].box.y = *y;
            x += g->at[k].box.width + GAP;
            high = g->at[k].box.height > high ? g->at[k].box.height : high;
        }
    g->width = x > g->width ? x : g->width;
    *y += high + 2 * GAP;
}

/* Moves the boxes of each layer so that it is centred below the widest layer. */
static void centre(graph *g)
{
    for (int layer = 0; layer < g->layers; layer++) {
        double end = 0;

        for (int k = 0; k < g->n; k++)
            if (g->at[k].layer == layer && g->at[k].box.x + g->at[k].box.width + GAP > end)
                end = g->at[k].box.x + g->at[k].box.width + GAP;
        for (int k = 0; k < g->n; k++)
            if (g->at[k].layer == layer)
                g->at[k].box.x += (g->width - end) / 2;
    }
}

/* Places and draws the boxes of the graph, the arrows first, so that boxes cover their ends.
 * Results are orange, leaves blue. place_layer() gives the boxes of a layer their places, y
 * being how far down the picture is. */
static void draw_graph(rd_svg *to, graph *g, rd_results results)
{
    double y = to->height + GAP;

    for (int layer = 0; layer < g->layers; layer++)
        place_layer(g, layer, &y);
    centre(g);
    for (int k = 0; k < g->n; k++)
        for (int i = 0; i < g->at[k].x->n_in; i++) {
            const int     from = g->at[k].x->in[i] ? number_of(g, g->at[k].x->in[i]) : -1;
            const rd_box *a = from >= 0 ? &g->at[from].box : NULL, *b = &g->at[k].box;

            if (a)
                rd_svg_arrow(to, a->x + a->width / 2, a->y + a->height,
                             b->x + b->width * (i + 1) / (g->at[k].x->n_in + 1), b->y,
                             /*upright=*/true);
        }
    for (int k = 0; k < g->n; k++) {
        bool wanted = false;

        for (int r = 0; r < results.n; r++)
            wanted |= results.at[r].expr == g->at[k].x;
        rd_svg_box(to, &g->at[k].box,
                   wanted                  ? "#fde9c8"
                   : g->at[k].x->n_in == 0 ? "#e3ecfa"
                                           : "#ffffff",
                   g->at[k].lines.at ? g->at[k].lines.at : "", NODE_LETTERS);
    }
}

/* Writes what an expression is, such as "leaf f32 (3, 4)"; of a leaf from a file, then in a new
 * line the file's name without folders. Line ends in names become blanks. The line ends with "
 * from " and the path: that is cut off, and the name behind the last / written instead. */
static void leaf_text(rd_text *text, const rd_expr *x)
{
    const char *path = x->kind == RD_EXPR_LEAF ? rd_leaf_path(x) : NULL;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    rd_text     line = { 0 };
    char       *from;

    rd_expr_line(&line, x);
    from = path && line.at ? strstr(line.at, " from ") : NULL;
    if (from)
        *from = 0;
    for (char *c = line.at; c && *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    rd_text_add(text, "%s", line.at ? line.at : "");
    for (rd_text_add(text, from ? "\nfrom " : ""); from && *name; name++)
        rd_text_add(text, "%c", *name == '\n' ? ' ' : *name);
    text->failed |= line.failed;
    rd_text_free(&line);
}

/* Writes the text of a node's box and computes its size. False: no memory. */
static bool describe(node *n)
{
    char shape[RD_SHAPE_TEXT];

    leaf_text(&n->lines, n->x);
    if (n->x->kind != RD_EXPR_LEAF && n->x->kind != RD_EXPR_NUMBER)
        rd_text_add(&n->lines, "\n%s %s", rd_dtype_name(n->x->type),
                    rd_shape_text(n->x->rank, n->x->extent, shape));
    n->box = rd_svg_size(n->lines.at ? n->lines.at : "", NODE_LETTERS);
    return !n->lines.failed;
}

/* True if all results are expressions of this context that are not released. If not, planning
 * reports it, and there is no picture. */
static bool are_there(rd_ctx *ctx, rd_results results)
{
    for (int k = 0; k < results.n; k++)
        if (!results.at || !results.at[k].expr || results.at[k].expr->ctx != ctx ||
            !results.at[k].expr->id)
            return false;
    return true;
}

/* Draws the expressions of the results, each node once, with operands above; a large graph is only
 * a line with its size.  False: no memory.  Results that are not there (are_there()) draw
 * nothing. */
bool rd_picture_graph(rd_svg *to, rd_ctx *ctx, rd_results results)
{
    graph        g    = { 0 };
    rd_node_list list = { 0 };

    if (!are_there(ctx, results))
        return true;
    bool done = rd_list_nodes(ctx, results, &list);

    if (done && list.n > MOST_NODES) {
        char line[100];

        snprintf(line, sizeof line, "a graph of %lld nodes, too many to be drawn",
                 (long long)list.n);
        rd_picture_line(to, line);
    } else if (done && (done = (g.at = rd_alloc(ctx, (list.n + 1) * (int64_t)sizeof *g.at)))) {
        g.n = (int)list.n;
        for (int k = 0; k < g.n; k++) {
            g.at[k].x = list.at[k];
            done &= describe(&g.at[k]);
        }
        find_layers(&g);
        lower_leaves(&g);
        if (done)
            draw_graph(to, &g, results);
        for (int k = 0; k < g.n; k++)
            rd_text_free(&g.at[k].lines);
    }
    rd_free(ctx, g.at);
    rd_free_nodes(ctx, &list);
    return done;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* A box of the plan: memory that stages read or write. */
typedef struct slot {
    rd_text lines; /* the text in the box */
    rd_box  box;
    bool    left, drawn; /* left: a leaf or an input; drawn: it has a place */
} slot;

/* The picture of a plan in progress. */
typedef struct plan {
    rd_svg          *to;
    const rd_nest   *nest;
    const rd_graph  *g;
    const rd_stages *stages;
    rd_text         *lines; /* of each stage */
    rd_box          *box;
    slot            *slot;
    double           below_left, below_right; /* lower ends of the columns of slots */
    double           right;                   /* where the right column begins */
} plan;

/* Writes a number of bytes with a unit: "1.2 MB". */
static void bytes_text(rd_text *text, double bytes)
{
    static const char *const unit[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
    int                      k      = 0;

    for (; bytes >= 1000 && k < 5; k++)
        bytes /= 1000;
    rd_text_add(text, "%.3g %s", bytes, unit[k]);
}

/* Writes a count with its unit: "1.2 million elements". */
static void count_text(rd_text *text, double n, const char *what)
{
    if (n >= 1e6)
        rd_text_add(text, "%.3g million %s", n / 1e6, what);
    else
        rd_text_add(text, "%.0f %s", n, what);
}

/* Writes the text of stage k's box: form, loops, bytes, counts and time, and computes its size. On
 * a GPU there is no form (p->stages->form is NULL). p->lines[k] and p->box[k] are its text and
 * size; s is NULL on a GPU, where the work is counted from the program. */
static void describe_stage(const plan *p, int k)
{
    rd_text             *text = &p->lines[k];
    const rd_stage_form *s    = p->stages->form ? &p->stages->form[k] : NULL;
    const rd_work cost = s ? s->cost : rd_program_work(&p->stages->program[k], /*bounded=*/false);

    rd_text_add(text, "stage %d: ", k);
    if (s)
        rd_form_text(text, s);
    else
        rd_text_add(text, "kernels of a GPU");
    rd_text_add(text, "\n");
    rd_stage_text(text, p->nest, k);
    rd_text_add(text, "reads ");
    bytes_text(text, cost.read);
    rd_text_add(text, ", writes ");
    bytes_text(text, cost.written);
    rd_text_add(text, "; ");
    count_text(text, cost.elements, "elements");
    rd_text_add(text, ", ");
    count_text(text, cost.operations, "operations");
    if (s) {
        rd_text_add(text, "\nabout ");
        rd_time_text(text, s->seconds);
        rd_text_add(text, " on %d thread%s\n", s->threads, s->threads == 1 ? "" : "s");
    } else
        rd_text_add(text, "\n");
    p->box[k] = rd_svg_size(text->at ? text->at : "", LETTERS);
}

/* The colour of a stage's box, by its form. */
static const char *colour_of(const plan *p, int k)
{
    static const char *const fill[] = { [RD_FORM_PRODUCT]   = "#dcd3f2",
                                        [RD_FORM_TOTAL]     = "#d5efe3",
                                        [RD_FORM_TILES]     = "#eef3d0",
                                        [RD_FORM_NEST]      = "#d8f0d2",
                                        [RD_FORM_REFERENCE] = "#f7d4d0" };

    return p->stages->form ? fill[p->stages->form[k].form.kind] : "#d3e8f2";
}

/* The bytes of a result, from the extents of its storage dims; 0: no value is stored there. */
static double bytes_of_result(const plan *p, int result)
{
    for (int i = 0; i < p->g->n_value; i++) {
        const rd_value *v     = &p->g->value[i];
        double          bytes = (double)rd_dtype_size(v->out_type);

        if (v->out != result)
            continue;
        for (int d = 0; d < v->n_dim; d++)
            bytes *= (double)p->g->axis[v->dim[d]].extent;
        return bytes;
    }
    return 0;
}

/* Writes the text of a slot's box, its name and size, and computes its size in the picture. Leaves
 * and inputs belong to the left column; arrays between stages and results to the right one.
 * of->lo to of->hi are a leaf's elements. */
static void describe_slot(const plan *p, int s)
{
    const rd_slot *of   = &p->g->slot[s];
    slot          *at   = &p->slot[s];
    rd_text       *text = &at->lines;
    char           name[RD_NAME_TEXT];

    at->left = of->kind == RD_SLOT_LEAF || of->kind == RD_SLOT_INPUT;
    if (of->kind == RD_SLOT_OUTPUT)
        rd_text_add(text, "y%d\n", (int)of->result);
    else if (of->kind == RD_SLOT_ARRAY)
        rd_text_add(text, "an array between stages\n");
    else {
        rd_text_add(text, "%s\n", rd_slot_name(p->g, s, name));
        leaf_text(text, of->expr);
        rd_text_add(text, "\n");
    }
    bytes_text(text, of->kind == RD_SLOT_ARRAY ? (double)of->bytes
                     : of->kind == RD_SLOT_OUTPUT
                         ? bytes_of_result(p, of->result)
                         : (double)(of->hi - of->lo) * rd_dtype_size(of->type));
    rd_text_add(text, "\n");
    at->box = rd_svg_size(text->at ? text->at : "", NAME_LETTERS);
}

/* Places a slot's box level with a stage (y), or below earlier slots of its column, and draws it,
 * once. below_left and below_right are where the next box of a column may begin. */
static void place_slot(plan *p, int s, double y)
{
    slot   *at    = &p->slot[s];
    double *below = at->left ? &p->below_left : &p->below_right;

    if (at->drawn)
        return;
    at->drawn = true;
    at->box.x = at->left ? RD_SVG_MARGIN : p->right;
    at->box.y = y > *below ? y : *below;
    *below    = at->box.y + at->box.height + GAP;
    rd_svg_box(p->to, &at->box,
               at->left                               ? "#e3ecfa"
               : p->g->slot[s].kind == RD_SLOT_OUTPUT ? "#fde9c8"
                                                      : "#f3f3f3",
               at->lines.at ? at->lines.at : "", NAME_LETTERS);
}

/* True for a slot that has a box: one of the graph's, not scratch memory of a task. */
static bool is_drawn(const plan *p, int32_t s)
{
    return s >= 0 && s < p->g->n_slot;
}

/* Draws the arrows between stage k and its slots, one for each direction, and places slots that
 * have no box yet. The n % 4 spread the ends of arrows. Arrows from leaves come from the left
 * column, others from the right one. `in` and `out` count the arrows drawn. */
static void arrows_of(plan *p, int k, const bool *reads, const bool *writes)
{
    const rd_box *b  = &p->box[k];
    int           in = 0, out = 0;

    for (int s = 0; s < p->g->n_slot; s++) {
        const rd_box *at = &p->slot[s].box;

        if (!reads[s] && !writes[s])
            continue;
        place_slot(p, s, b->y);
        if (reads[s] && p->slot[s].left)
            rd_svg_arrow(p->to, at->x + at->width, at->y + at->height / 2, b->x,
                         b->y + RD_SVG_LINE * (1 + in++ % 4), /*upright=*/false);
        else if (reads[s])
            rd_svg_arrow(p->to, at->x, at->y + at->height * 3 / 4, b->x + b->width,
                         b->y + b->height - 4 - 6 * (in++ % 4), /*upright=*/false);
        if (writes[s])
            rd_svg_arrow(p->to, b->x + b->width, b->y + RD_SVG_LINE * (1 + out++ % 4), at->x,
                         at->y + at->height / 3, /*upright=*/false);
    }
}

/* Marks the slots that stage k loads or sorts from (reads), and those that it stores or sorts to
 * (writes). is_drawn(): the slot has a box. s->from and s->to are the addresses of a sort's rows
 * and results. */
static void find_slots(const plan *p, int k, bool *reads, bool *writes)
{
    const rd_program *program = &p->stages->program[k];

    memset(reads, 0, (size_t)p->g->n_slot);
    memset(writes, 0, (size_t)p->g->n_slot);
    for (int32_t i = 0; i < program->n_inst; i++) {
        const rd_inst *inst = &program->inst[i];

        if (inst->kind == RD_I_SORT) {
            const rd_sorting *s = &program->sorting[inst->arg];

            if (is_drawn(p, program->address[s->from].slot))
                reads[program->address[s->from].slot] = true;
            if (is_drawn(p, program->address[s->to].slot))
                writes[program->address[s->to].slot] = true;
        } else if ((inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
                   is_drawn(p, program->address[inst->arg].slot))
            (inst->kind == RD_I_LOAD ? reads : writes)[program->address[inst->arg].slot] = true;
    }
}

/* Places the boxes of stages in the middle column and draws them with their arrows. `left` and
 * `wide` are the widths of the left and middle columns. find_slots() fills reads and writes for
 * each stage. */
static void draw_stages(plan *p, bool *reads, bool *writes)
{
    const double top = p->to->height + GAP;
    double       y = top, left = 0, wide = 0;

    for (int s = 0; s < p->g->n_slot; s++)
        left = p->slot[s].left && p->slot[s].box.width > left ? p->slot[s].box.width : left;
    for (int k = 0; k < p->stages->n; k++)
        wide = p->box[k].width > wide ? p->box[k].width : wide;
    p->right      = RD_SVG_MARGIN + left + BETWEEN + wide + BETWEEN;
    p->below_left = p->below_right = top;
    for (int k = 0; k < p->stages->n; k++) {
        p->box[k].x = RD_SVG_MARGIN + left + BETWEEN;
        p->box[k].y = y;
        y += p->box[k].height + GAP;
        rd_svg_box(p->to, &p->box[k], colour_of(p, k), p->lines[k].at ? p->lines[k].at : "",
                   LETTERS);
        find_slots(p, k, reads, writes);
        arrows_of(p, k, reads, writes);
    }
}

/* Draws the stages of a plan below the picture so far, with the slots that they read and write.
 * False: no memory. The tables are memory of `pool`; only the texts are freed. */
bool rd_picture_plan(rd_svg *to, const rd_nest *nest, const rd_stages *stages, rd_pool *pool)
{
    const rd_graph *g     = nest->tree->graph;
    const size_t    slots = (size_t)g->n_slot + 1, n = (size_t)stages->n + 1;
    plan            p = { .to     = to,
                          .nest   = nest,
                          .g      = g,
                          .stages = stages,
                          .lines  = rd_pool_get(pool, n * sizeof *p.lines),
                          .box    = rd_pool_get(pool, n * sizeof *p.box),
                          .slot   = rd_pool_get(pool, slots * sizeof *p.slot) };
    bool *const reads = rd_pool_get(pool, slots), *const writes = rd_pool_get(pool, slots);
    bool done = p.lines && p.box && p.slot && reads && writes;

    for (int k = 0; done && k < stages->n; k++)
        describe_stage(&p, k);
    for (int s = 0; done && s < g->n_slot; s++)
        describe_slot(&p, s);
    if (!done)
        return false;
    draw_stages(&p, reads, writes);
    for (int k = 0; k < stages->n; k++) {
        done &= !p.lines[k].failed;
        rd_text_free(&p.lines[k]);
    }
    for (int s = 0; s < g->n_slot; s++) {
        done &= !p.slot[s].lines.failed;
        rd_text_free(&p.slot[s].lines);
    }
    return done && !to->body.failed;
}
