/* meets.c - what patches come to (cross.c): nodes, which become those of groups of RD_FAN patches,
 * of groups of groups, and at last results.
 *
 * Nodes of all columns lie side by side, once for each patch down the rows and each group above;
 * nodes of the lanes of all rows likewise for patches along the columns.  A block of threads that
 * has left its patch's counts itself at its group's counter, once for either.  Who
 * comes last merges the group's nodes by twos, as the tree has them, and goes to the group above;
 * who comes last of all ends the folds.  A group at the end of its axis may be short: nodes without
 * a sibling are their parents. */
#include "core/combine_tree.h"
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdio.h>

static const rd_loop *loop_of(const rd_cuda_text *t, int k)
{
    return &t->s->p->loop[t->s->cross[k]];
}

static int64_t lanes_of(const rd_cuda_fold *f)
{
    return f->of.fold->lanes;
}

/* Does a row go on in other patches?  Else its lanes are in shared memory. */
static bool are_apart(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    return !f->lanes || t->s->n_patch[1] > 1;
}

/* Nodes side by side: of all columns, of the lanes of all rows. */
static int64_t side_by_side(const rd_cuda_text *t, const rd_cuda_fold *f)
{
    return loop_of(t, f->lanes ? 0 : 1)->extent * lanes_of(f);
}

static void close_braces(rd_cuda_text *t, int n)
{
    while (n-- > 0) {
        t->print.indent--;
        rd_print_line(&t->print, "}");
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* "double *const w0_0 = (double *)(nodes + ..);" of a fold. */
static void declare_nodes_of(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    for (int j = 0; are_apart(t, f) && j < f->of.n_state; j++) {
        rd_text at = { 0 };

        rd_print_number(&t->print, &at, f->node + j * f->nodes);
        rd_print_line(&t->print, "%s *const w%" PRId32 "_%d = (%s *)(nodes + %s);",
                      rd_node_type(&f->of, j), number, j, rd_node_type(&f->of, j),
                      at.at ? at.at : "");
        rd_text_end(&at, t->print.to);
    }
}

/* "meet0(q, nodes, from, many, to, first, end)": rows of nodes from..from+many become row `to`,
 * between two places. */
static void add_meet(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             pitch = { 0 }, merge = { 0 };

    rd_print_number(&t->print, &pitch, side_by_side(t, f));
    rd_text_add(&merge, "merge%" PRId32 "(", number);
    rd_add_each(&merge, &f->of, "&f%d[k]");
    rd_text_add(&merge, ", ");
    rd_add_each(&merge, &f->of, "&f%d[k + half]");
    rd_print_line(&t->print,
                  "static void meet%" PRId32 "(const rd_call &q, char *nodes, int64_t from, "
                  "int many, int64_t to, int64_t first, int64_t end)",
                  number);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    declare_nodes_of(t, number);
    rd_print_line(
        &t->print,
        "RD_ONE_BY_ONE for (int64_t s = first + threadIdx.x; s < end; s += RD_THREADS) {");
    t->print.indent++;
    for (int j = 0; j < f->of.n_state; j++) {
        rd_print_line(&t->print, "%s f%d[RD_FAN];", rd_node_type(&f->of, j), j);
        rd_print_line(&t->print,
                      "RD_UNROLL for (int k = 0; k < RD_FAN; k++) if (k < many) f%d[k] = w%" PRId32
                      "_%d[(from + k) * %s + s];",
                      j, number, j, pitch.at ? pitch.at : "");
    }
    rd_print_line(&t->print, "RD_UNROLL for (int half = 1; half < RD_FAN; half *= 2)");
    rd_print_line(&t->print, "    RD_UNROLL for (int k = 0; k + half < RD_FAN; k += 2 * half)");
    rd_print_line(&t->print, "        if (k + half < many) %s);", merge.at ? merge.at : "");
    for (int j = 0; j < f->of.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[to * %s + s] = f%d[0];", number, j,
                      pitch.at ? pitch.at : "", j);
    close_braces(t, 2);
    rd_text_end(&pitch, t->print.to);
    rd_text_end(&merge, t->print.to);
}

void rd_cuda_meet_functions(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (are_apart(t, &t->s->fold[k]))
            add_meet(t, k);
}

/* ---- A patch's ------------------------------------------------------------------------------- */
static int32_t lanes_of_rows(const rd_cuda_shape *s)
{
    return s->team * s->wide;
}

/* "RD_SHARED(float, h1_0, 4096);": of the lanes of all rows of a patch. */
void rd_cuda_declare_lanes(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        for (int j = 0; t->s->fold[k].lanes && j < t->s->fold[k].of.n_state; j++)
            rd_print_line(&t->print, "RD_SHARED(%s, h%" PRId32 "_%d, %" PRId32 ");",
                          rd_state_type(&t->s->fold[k].of, j), k, j,
                          RD_TREE_STEPS * lanes_of_rows(t->s));
}

/* "const int64_t p0 = .., lo0 = .., hi0 = ..;": which patch this is. */
void rd_cuda_declare_patch(rd_cuda_text *t)
{
    rd_print_line(&t->print, "uint64_t rest = (uint64_t)work;");
    for (int k = 2; k-- > 0;) {
        const int64_t size = k ? (int64_t)RD_TREE_STEPS * lanes_of_rows(t->s) : RD_TREE_STEPS;
        rd_text       n = { 0 }, extent = { 0 };

        rd_print_number(&t->print, &n, t->s->n_patch[k]);
        rd_print_number(&t->print, &extent, loop_of(t, k)->extent);
        rd_print_line(&t->print,
                      "const int64_t p%d = (int64_t)RD_REST(rest, %s), lo%d = p%d * %" PRId64 ";",
                      k, n.at ? n.at : "", k, k, size);
        rd_print_line(&t->print, "const int64_t hi%d = RD_LESS(lo%d + %" PRId64 ", %s);", k, k,
                      size, extent.at ? extent.at : "");
        rd_print_line(&t->print, "rest = RD_QUOTIENT(rest, %s);", n.at ? n.at : "");
        rd_text_end(&n, t->print.to);
        rd_text_end(&extent, t->print.to);
    }
    rd_print_line(&t->print, "const int64_t item = (int64_t)rest;");
}

void rd_cuda_declare_nodes(rd_cuda_text *t)
{
    rd_text bytes = { 0 };

    rd_print_number(&t->print, &bytes, t->s->node_bytes);
    rd_print_line(&t->print, "char *const nodes = (char *)q.head.nodes + item * %s;",
                  bytes.at ? bytes.at : "");
    rd_print_line(&t->print, "uint32_t *const counters = (uint32_t *)q.head.counters + item * "
                             "q.head.item_counters;");
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        declare_nodes_of(t, k);
    rd_text_end(&bytes, t->print.to);
}

/* A team's columns have had all rows of the patch. */
void rd_cuda_leave_columns(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    const int32_t       axis  = loop_of(t, 1)->axis;
    rd_text             pitch = { 0 }, states = { 0 };

    rd_print_number(&t->print, &pitch, side_by_side(t, f));
    rd_cuda_states(&states, f, number, "s", "l");
    rd_print_line(&t->print, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", t->s->wide);
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId32 " * t + l;",
                  axis, axis, t->s->wide);
    rd_print_line(&t->print, "block%" PRId32 "(%s);", number, states.at ? states.at : "");
    rd_print_line(&t->print, "if (i%" PRId32 " < hi1) {", axis);
    t->print.indent++;
    for (int j = 0; j < f->of.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[p0 * %s + i%" PRId32 "] = s%" PRId32 "_%d[l];",
                      number, j, pitch.at ? pitch.at : "", axis, number, j);
    close_braces(t, 2);
    rd_text_end(&pitch, t->print.to);
    rd_text_end(&states, t->print.to);
}

/* "float a0 = h1_0[at]; block1(&a0);" of a lane of a row. */
static void take_lane(rd_cuda_text *t, int32_t number, const char *at)
{
    const rd_cuda_fold *f      = &t->s->fold[number];
    rd_text             states = { 0 };

    for (int j = 0; j < f->of.n_state; j++)
        rd_print_line(&t->print, "%s a%d = h%" PRId32 "_%d[%s];", rd_state_type(&f->of, j), j,
                      number, j, at);
    rd_add_each(&states, &f->of, "&a%d");
    rd_print_line(&t->print, "block%" PRId32 "(%s);", number, states.at ? states.at : "");
    rd_text_end(&states, t->print.to);
}

void rd_cuda_leave_rows(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             pitch = { 0 };

    rd_print_number(&t->print, &pitch, side_by_side(t, f));
    rd_print_line(&t->print,
                  "for (int k = (int)threadIdx.x; k < (int)(hi0 - lo0) * %" PRId64
                  "; k += RD_THREADS) {",
                  lanes_of(f));
    t->print.indent++;
    take_lane(t, number, "k");
    for (int j = 0; j < f->of.n_state; j++)
        rd_print_line(&t->print, "w%" PRId32 "_%d[p1 * %s + lo0 * %" PRId64 " + k] = a%d;", number,
                      j, pitch.at ? pitch.at : "", lanes_of(f), j);
    close_braces(t, 1);
    rd_text_end(&pitch, t->print.to);
}

/* "at0", "from0": the group, and the first row of its level; "is0": has this block come last of all
 * patches along a loop?  Their counters begin at `first`. */
static void arrive(rd_cuda_text *t, int along, const char *first)
{
    char    lanes[16] = "";
    rd_text n         = { 0 };

    if (along)
        snprintf(lanes, sizeof lanes, " * %" PRId32, lanes_of_rows(t->s));
    rd_print_number(&t->print, &n, t->s->n_patch[along]);
    rd_print_line(&t->print, "int64_t from%d = 0;", along);
    rd_print_line(&t->print, "bool    is%d = true;", along);
    rd_print_line(&t->print, "uint32_t *counter%d = counters + %s;", along, first);
    rd_print_line(&t->print, "for (int64_t n = %s, at = p%d; is%d && n > 1;) {", n.at ? n.at : "",
                  along, along);
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t group = at / RD_FAN, before = group * RD_FAN;");
    rd_print_line(&t->print, "const int64_t many = RD_LESS(n - before, RD_FAN);");
    rd_print_line(&t->print, "is%d = rd_is_last_block(&counter%d[group], many, came);", along,
                  along);
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (t->s->fold[k].lanes == (along == 1))
            rd_print_line(&t->print,
                          "if (is%d) meet%" PRId32
                          "(q, nodes, from%d + before, (int)many, from%d + "
                          "n + group, lo%d%s, hi%d%s);",
                          along, k, along, along, !along, lanes, !along, lanes);
    rd_print_line(&t->print, "from%d += n;", along);
    rd_print_line(&t->print, "n = (n + RD_FAN - 1) / RD_FAN;");
    rd_print_line(&t->print, "counter%d += n;", along);
    rd_print_line(&t->print, "at = group;");
    close_braces(t, 1);
    rd_print_line(&t->print, "__syncthreads();");
    rd_text_end(&n, t->print.to);
}

/* ---- Ends ------------------------------------------------------------------------------------ */
/* x0, x1 ..: the node of a column, or of lane `lane` of a row. */
void rd_cuda_take_met(rd_cuda_text *t, int32_t number, const char *lane)
{
    const rd_cuda_fold *f  = &t->s->fold[number];
    rd_text             at = { 0 }, pitch = { 0 };

    rd_print_number(&t->print, &pitch, side_by_side(t, f));
    if (!f->lanes)
        rd_text_add(&at, "from0 * %s + i%" PRId32, pitch.at ? pitch.at : "", loop_of(t, 1)->axis);
    else if (are_apart(t, f))
        rd_text_add(&at, "from1 * %s + i%" PRId32 " * %" PRId64 " + %s", pitch.at ? pitch.at : "",
                    loop_of(t, 0)->axis, lanes_of(f), lane);
    else
        rd_text_add(&at, "row * %" PRId64 " + %s", lanes_of(f), lane);
    if (!are_apart(t, f))
        take_lane(t, number, at.at ? at.at : "");
    for (int j = 0; j < f->of.n_state; j++)
        if (are_apart(t, f))
            rd_print_line(&t->print, "x%d = w%" PRId32 "_%d[%s];", j, number, j,
                          at.at ? at.at : "");
        else
            rd_print_line(&t->print, "x%d = a%d;", j, j);
    rd_text_end(&at, t->print.to);
    rd_text_end(&pitch, t->print.to);
}

/* "p1 * 9": counters before those of this patch's columns, or (behind all of these) of its rows. */
static rd_text counters_before(rd_cuda_text *t, int along)
{
    const int64_t columns = rd_cuda_groups_of(t->s, t->s->n_patch[0]),
                  rows    = rd_cuda_groups_of(t->s, t->s->n_patch[1]);
    rd_text text          = { 0 };

    if (along) {
        rd_print_number(&t->print, &text, t->s->n_patch[1] * columns);
        rd_text_add(&text, " + ");
    }
    rd_text_add(&text, "p%d * ", !along);
    rd_print_number(&t->print, &text, along ? rows : columns);
    return text;
}

void rd_cuda_arrive_along(rd_cuda_text *t, int along)
{
    rd_text before = counters_before(t, along);

    arrive(t, along, before.at ? before.at : "");
    rd_print_line(&t->print, "if (is%d)", along);
    rd_text_end(&before, t->print.to);
}
