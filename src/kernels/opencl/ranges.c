/* ranges.c - see ranges.h.
 *
 *     edge0 is the number of blocks before a range
 *     nodes: for each fold, number of a state, range, and row of nodes: all states */
#include "kernels/opencl/ranges.h"
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include <inttypes.h>

/* ---- Which loop ------------------------------------------------------------------------------- */
static bool has_steps(const rd_schedule *t, int32_t stmt)
{
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP)
            return true;
    return false;
}

/* The only loop at the top that takes elements, before which nothing but values and begins of folds
 * stands; -1. */
static int32_t only_loop(const rd_schedule *t)
{
    int32_t only = -1;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next) {
            const rd_stmt_kind kind = t->stmt[s].kind;

            if (kind == RD_S_LOOP && has_steps(t, s)) {
                if (only >= 0)
                    return -1;
                only = s;
            } else if (only < 0 && kind != RD_S_LET && kind != RD_S_BEGIN)
                return -1;
        }
    return only;
}

/* What an index of the loop brings a fold: elements of a lane's position, or steps; of which so many are a
 * block. */
static int64_t each_of(const rd_fold *f, int32_t axis, int64_t *block)
{
    const int64_t lane = rd_coef(&f->lane, axis);

    *block = RD_TREE_STEPS * (lane && f->lanes > 1 ? f->lanes : 1);
    return lane ? lane : rd_coef(&f->outer, axis) * rd_rows_of_lanes(f);
}

static bool begins_at_top(const rd_schedule *t, int32_t fold)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->stmt[t->part[k]].first; s >= 0; s = t->stmt[s].next)
            if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
                return true;
    return false;
}

/* Indices that are whole blocks of all folds; 0: there are no such. */
static int64_t grain_of(const rd_schedule *t, int32_t axis)
{
    int64_t grain = 1;

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        const rd_fold *f = &t->p->fold[k];
        int64_t        block, each = each_of(f, axis, &block), own;

        if (!begins_at_top(t, k))
            continue;
        if (f->n_block < 2 || f->steps != RD_TREE_STEPS || each <= 0)
            return 0;
        own   = block / rd_common_divisor(block, each);
        grain = grain / rd_common_divisor(grain, own) * own;
    }
    return grain;
}

int32_t rd_cl_cut_of(const rd_schedule *t, int64_t *range)
{
    enum { MOST = 1024 };
    const int32_t loop   = t->p->n_scratch || t->p->n_fold > RD_GPU_MOST_FOLDS ? -1 : only_loop(t);
    const rd_for *l      = loop >= 0 ? rd_loop_of(t, loop) : NULL;
    const int64_t grain  = l && l->of >= 0 && !l->backwards ? grain_of(t, l->axis) : 0;
    const int64_t extent = l ? l->extent : 0;

    if (grain == 0 || extent <= grain)
        return -1;
    for (*range = grain; (extent + *range - 1) / *range > MOST;)
        *range *= 2;
    return extent > *range ? loop : -1;
}

/* ---- Edges ------------------------------------------------------------------------------------ */
static const rd_for *ranges_of(const rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_for; k++)
        if (t->loop[k].ranges)
            return &t->loop[k];
    return NULL;
}

/* Blocks of a range, and of the whole fold. */
static int64_t blocks_of(const rd_schedule *t, int32_t fold)
{
    int64_t       block;
    const int64_t each = each_of(&t->p->fold[fold], ranges_of(t)->axis, &block);

    return ranges_of(t)->step * each / block;
}

void rd_cl_print_edges(rd_text *to, const rd_schedule *t)
{
    for (int32_t k = 0; k < t->p->n_fold && ranges_of(t); k++)
        if (begins_at_top(t, k) || t->p->fold[k].n_block > 1)
            rd_text_add(
                to, "#define edge%" PRId32 "(q, range) LESS((range) * %" PRId64 ", %" PRId64 ")\n",
                k, blocks_of(t, k), t->p->fold[k].n_block);
}

/* ---- Nodes ------------------------------------------------------------------------------------ */
/* Rows of nodes of a range, at most: it may begin and end within a node. */
static int64_t rows_of(const rd_schedule *t, int32_t fold)
{
    int64_t bits = 0;

    for (int64_t k = blocks_of(t, fold); k > 0; k /= 2)
        bits++;
    return 2 * bits;
}

static int64_t states_of(const rd_schedule *t, int32_t fold)
{
    return t->store[fold].extent;
}

/* "__global double *const n0_0 = (__global double *)(nodes + 0);" */
static void declare_nodes(rd_printing *n, const rd_cl_ranges *r, int32_t fold)
{
    const rd_emit_fold *f  = &n->fold[fold].of;
    int64_t             at = 0;

    for (int32_t k = 0; k < fold; k++)
        at += n->fold[k].of.n_state * r->n * rows_of(n->t, k) * states_of(n->t, k) * 8;
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n,
                      "__global %s *const n%" PRId32 "_%d = (__global %s *)(nodes + %" PRId64 ");",
                      rd_node_type(f, k), fold, k, rd_node_type(f, k),
                      at + k * r->n * rows_of(n->t, fold) * states_of(n->t, fold) * 8);
}

static int64_t bytes_of(const rd_printing *n, const rd_cl_ranges *r)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        bytes += n->fold[k].of.n_state * r->n * rows_of(n->t, k) * states_of(n->t, k) * 8;
    return bytes;
}

/* Blocks that the range has begun become nodes, of all cells. */
static void end_blocks(rd_printing *n, int32_t fold)
{
    const rd_emit_fold *f     = &n->fold[fold].of;
    const int32_t       lanes = f->fold->lanes;
    rd_text             line = { 0 }, at = { 0 };

    rd_text_add(&at, "c * %" PRId32, lanes);
    rd_text_add(&line, "while (b%" PRId32 "[c] < edge%" PRId32 "(q, range + 1)) { push%" PRId32 "(",
                fold, fold, fold);
    rd_print_states(&line, &n->fold[fold], 's', fold, at.at);
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, ", w%" PRId32 "_%d", fold, k);
    rd_print_line(n, "for (int64_t c = 0; c < %" PRId64 "; c++)", states_of(n->t, fold) / lanes);
    rd_print_line(n,
                  "    %s, %" PRId32 ", 1, %" PRId64 ", %s, b%" PRId32 "[c], from%" PRId32
                  "); b%" PRId32 "[c]++; }",
                  line.at, lanes, states_of(n->t, fold), at.at, fold, fold, fold);
    rd_text_free(&line);
    rd_text_free(&at);
}

/* "for (row < rows) for (s < 64) n0_0[(range * 5 + row) * 64 + s] = w0_0[row * 64 + s];": rows of
 * nodes that a range has made go to memory, where the last kernel finds them. */
static void leave(void *of, rd_printing *n, int32_t fold)
{
    rd_cl_ranges *const r      = of;
    const int64_t       states = states_of(n->t, fold);

    r->n     = ranges_of(n->t)->extent;
    r->bytes = bytes_of(n, r);
    end_blocks(n, fold);
    rd_print_line(n, "{");
    n->indent++;
    declare_nodes(n, r, fold);
    rd_print_line(n,
                  "const int64_t rows = rd_nodes(from%" PRId32 ", edge%" PRId32 "(q, range + 1));",
                  fold, fold);
    for (int k = 0; k < n->fold[fold].of.n_state; k++)
        rd_print_line(n,
                      "for (int64_t row = 0; row < rows; row++) for (int64_t s = 0; s < %" PRId64
                      "; s++) n%" PRId32 "_%d[(range * %" PRId64 " + row) * %" PRId64
                      " + s] = w%" PRId32 "_%d[row * %" PRId64 " + s];",
                      states, fold, k, rows_of(n->t, fold), states, fold, k, states);
    n->indent--;
    rd_print_line(n, "}");
}

/* Nodes of one range after the other, each with its left siblings; then those that are left. */
static void print_state(rd_printing *n, int32_t fold, const char *name)
{
    const rd_emit_fold *f    = &n->fold[fold].of;
    const int64_t       rows = 2 * n->t->fold[fold].room + 2;
    rd_text             rise = { 0 }, under = { 0 };

    rd_add_each(&rise, f, "l%d");
    rd_text_add(&under, "under%" PRId32 "(", fold);
    rd_add_each(&under, f, "&x%d");
    for (int k = 0; k < f->n_state; k++) {
        rd_print_line(n, "%s l%d[%" PRId64 "];", rd_node_type(f, k), k, rows);
        rd_text_add(&under, ", l%d[rows]", k);
    }
    rd_print_line(n, "int64_t end = 0;");
    rd_print_line(n, "for (int64_t k = 0; k < %" PRId64 "; k++) {", ranges_of(n->t)->extent);
    rd_print_line(n, "    int64_t start = end;");
    rd_print_line(n, "    end = edge%" PRId32 "(q, k + 1);", fold);
    rd_print_line(n, "    for (int64_t row = 0; start < end; row++) {");
    rd_print_line(n, "        const int above = rd_node_level(start, end);");
    rd_print_line(n, "        const int64_t to = rd_nodes(0, start);");
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(
            n, "        l%d[to] = n%" PRId32 "_%d[(k * %" PRId64 " + row) * %" PRId64 " + s];", k,
            fold, k, rows_of(n->t, fold), states_of(n->t, fold));
    rd_print_line(n, "        rise%" PRId32 "(%s, 1, 0, to, start, above, 0);", fold, rise.at);
    rd_print_line(n, "        start += (int64_t)1 << above;");
    rd_print_line(n, "    }");
    rd_print_line(n, "}");
    rd_print_line(n, "int64_t rows = rd_nodes(0, end) - 1;");
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s x%d = l%d[rows];", rd_node_type(f, k), k, k);
    rd_print_line(n, "while (rows-- > 0) %s);", under.at);
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s%d[s] = x%d;", name, k, k);
    rd_text_free(&rise);
    rd_text_free(&under);
}

static void rows(void *of, rd_printing *n, int32_t fold, const char *name)
{
    const rd_emit_fold *f = &n->fold[fold].of;

    declare_nodes(n, of, fold);
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s %s%d[%" PRId64 "];", rd_node_type(f, k), name, k,
                      states_of(n->t, fold));
    rd_print_line(n, "for (int64_t s = 0; s < %" PRId64 "; s++) {", states_of(n->t, fold));
    n->indent++;
    print_state(n, fold, name);
    n->indent--;
    rd_print_line(n, "}");
}

rd_kernel_ranges rd_cl_meet(rd_cl_ranges *ranges)
{
    return (rd_kernel_ranges){
        .of = ranges, .leave = leave, .rows = rows, .one = true, .count = "RD_RANGES"
    };
}
