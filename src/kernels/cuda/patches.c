/* patches.c - reductions along both axes of an array as a kernel: what a block of threads does with
 * a patch (cross.c).
 *
 * Rows are i0, columns i1.  Each team has the columns of one step of the rows' lanes, and takes a
 * few rows of them at each turn: the first ones, the next ones ... all 64.  Then it leaves their
 * nodes and takes columns further on.  It is one turn behind the team before it, whose columns are
 * one step before its own; so the states of a row's lanes, in shared memory, come to it as that one
 * has left them:
 *
 *     turn      0        1        2        3
 *     team 0    rows 0   rows 8   rows 16  rows 24  ..      of columns   0 .. 63
 *     team 1             rows 0   rows 8   rows 16  ..      of columns  64 .. 127
 *     team 2                      rows 0   rows 8   ..      of columns 128 .. 191
 *
 * Between turns all threads of the block meet. */
#include "core/tree.h"
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdio.h>

static const rd_loop *loop_of(const rd_cuda_text *t, int k)
{
    return &t->s->p->loop[t->s->cross[k]];
}

static int32_t axis_of(const rd_cuda_text *t, int k)
{
    return loop_of(t, k)->axis;
}

/* The position of the lanes of rows. */
static const rd_address *lane_of(const rd_cuda_shape *s)
{
    return rd_cuda_lanes_along(s, s->cross[1]);
}

static void open(rd_cuda_text *t, const char *line)
{
    rd_cuda_line(t, "%s", line);
    t->indent++;
}

static void close(rd_cuda_text *t)
{
    t->indent--;
    rd_cuda_line(t, "}");
}

/* ---- States ---------------------------------------------------------------------------------- */
/* "float a0, a1;" */
static void declare_state(rd_cuda_text *t, const rd_cuda_fold *f)
{
    for (int j = 0; j < f->of.n_state; j++)
        rd_cuda_line(t, "%s a%d;", rd_state_type(&f->of, j), j);
}

/* "begin1(&a0, &a1);", or another function of a state at hand. */
void rd_cuda_call_on_state(rd_cuda_text *t, int32_t number, const char *function,
                           const char *format)
{
    rd_text line = { 0 };

    rd_add_each(&line, &t->s->fold[number].of, format);
    rd_cuda_line(t, "%s%" PRId32 "(%s);", function, number, line.at ? line.at : "");
    rd_text_free(&line);
}

static void begin_lanes(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++) {
        const rd_cuda_fold *f = &t->s->fold[k];

        if (!f->lanes)
            continue;
        rd_cuda_line(t, "for (int k = (int)threadIdx.x; k < %" PRId32 "; k += RD_THREADS) {",
                     RD_TREE_STEPS * rd_cuda_lanes_of_rows(t->s));
        t->indent++;
        declare_state(t, f);
        rd_cuda_call_on_state(t, k, "begin", "&a%d");
        for (int j = 0; j < f->of.n_state; j++)
            rd_cuda_line(t, "h%" PRId32 "_%d[k] = a%d;", k, j, j);
        close(t);
    }
    rd_cuda_line(t, "__syncthreads();");
}

/* "float s1_0[4];" of what a thread has at hand: its columns; or lanes of the row. */
static void declare_states(rd_cuda_text *t, bool lanes)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        for (int j = 0; t->s->fold[k].lanes == lanes && j < t->s->fold[k].of.n_state; j++)
            rd_cuda_line(t, "%s s%" PRId32 "_%d[%" PRId32 "];", rd_state_type(&t->s->fold[k].of, j),
                         k, j, t->s->wide);
}

static void begin_columns(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++) {
        rd_text states = { 0 };

        if (t->s->fold[k].lanes)
            continue;
        rd_cuda_states(&states, &t->s->fold[k], k, "s", "l");
        rd_cuda_line(t, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) begin%" PRId32 "(%s);",
                     t->s->wide, k, states.at ? states.at : "");
        rd_text_free(&states);
    }
}

/* The lanes of row `u` of this turn: from shared memory, or back there. */
static void move_lanes(rd_cuda_text *t, bool take)
{
    const int32_t wide = t->s->wide;

    if (take)
        rd_cuda_line(t, "const int place = (first + u) * %" PRId32 " + %" PRId32 " * t;",
                     rd_cuda_lanes_of_rows(t->s), wide);
    if (take)
        declare_states(t, true);
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        for (int j = 0; t->s->fold[k].lanes && j < t->s->fold[k].of.n_state; j++) {
            const char *type = rd_state_type(&t->s->fold[k].of, j);

            rd_cuda_line(t, "{");
            t->indent++;
            if (take)
                rd_cuda_line(t,
                             "const rd_pack<%s, %" PRId32 "> h = RD_TAKE_SHARED(%s, %" PRId32
                             ", h%" PRId32 "_%d, place);",
                             type, wide, type, wide, k, j);
            else
                rd_cuda_line(t, "rd_pack<%s, %" PRId32 "> h;", type, wide);
            rd_cuda_line(t,
                         take ? "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) s%" PRId32
                                "_%d[l] = h.e[l];"
                              : "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) h.e[l] = s%" PRId32
                                "_%d[l];",
                         wide, k, j);
            if (!take)
                rd_cuda_line(t, "RD_PUT_SHARED(%s, %" PRId32 ", h%" PRId32 "_%d, place, h);", type,
                             wide, k, j);
            close(t);
        }
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* All of the inner loop, and what is before it in the outer one, for a thread's elements of row
 * `u`. */
static void write_row(rd_cuda_text *t, const char *some)
{
    const rd_program *p = t->s->p;

    move_lanes(t, true);
    rd_cuda_write_elements(t, p->loop[rd_cuda_cross_outer(t->s)].begin + 1,
                           p->loop[rd_cuda_cross_inner(t->s)].end, t->s->cross[1], "u", some);
    move_lanes(t, false);
}

/* Rows that are all there: their loads go ahead. */
static void write_whole_rows(rd_cuda_text *t)
{
    rd_cuda_packs packs;

    rd_cuda_cross_packs(t->s, &packs);
    t->packs = &packs;
    rd_cuda_write_loads(t, t->s->cross[1]);
    rd_cuda_line(t, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", t->s->at_once);
    t->indent++;
    write_row(t, NULL);
    close(t);
    t->packs = NULL;
}

static void write_rows_in_part(rd_cuda_text *t)
{
    char some[96];

    snprintf(some, sizeof some, "i%" PRId32 " < hi1", axis_of(t, 1));
    rd_cuda_line(t,
                 "RD_ONE_BY_ONE for (int u = 0; u < %" PRId32 " && v%" PRId32 " + u < hi0; u++) {",
                 t->s->at_once, axis_of(t, 0));
    t->indent++;
    write_row(t, some);
    close(t);
}

/* A turn of a team that has something to do. */
static void write_turn(rd_cuda_text *t)
{
    const int32_t i0 = axis_of(t, 0), i1 = axis_of(t, 1), rows = t->s->at_once;
    const int32_t lanes = rd_cuda_lanes_of_rows(t->s);

    rd_cuda_line(t, "const int     first = own %% %d * %" PRId32 ";", RD_TREE_STEPS / rows, rows);
    rd_cuda_line(t, "const int64_t v%" PRId32 " = lo0 + first;", i0);
    rd_cuda_line(t, "const int64_t v%" PRId32 " = lo1 + (int64_t)group * %" PRId32 ";", i1, lanes);
    open(t, "if (first == 0) {");
    begin_columns(t);
    close(t);
    t->open |= UINT64_C(1) << i0 | UINT64_C(1) << i1;
    t->spread = t->s->cross[1];
    t->lane   = lane_of(t->s);
    rd_cuda_line(t, "if (v%" PRId32 " + %" PRId32 " <= hi0 && v%" PRId32 " + %" PRId32 " <= hi1) {",
                 i0, rows, i1, lanes);
    t->indent++;
    write_whole_rows(t);
    t->indent--;
    open(t, "} else {");
    write_rows_in_part(t);
    close(t);
    t->spread = -1;
    t->lane   = NULL;
    t->open &= ~(UINT64_C(1) << i0 | UINT64_C(1) << i1);
    rd_cuda_line(t, "if (first == %" PRId32 ") {", RD_TREE_STEPS - rows);
    t->indent++;
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (!t->s->fold[k].lanes)
            rd_cuda_leave_columns(t, k);
    close(t);
}

static void write_turns(rd_cuda_text *t)
{
    const int32_t turns = RD_TREE_STEPS / t->s->at_once, lanes = rd_cuda_lanes_of_rows(t->s);

    rd_cuda_line(t, "const int groups = (int)((hi1 - lo1 + %" PRId32 ") / %" PRId32 ");", lanes - 1,
                 lanes);
    rd_cuda_line(
        t, "const int turns = (groups + RD_TEAMS - 1) / RD_TEAMS * %" PRId32 " + RD_TEAMS - 1;",
        turns);
    declare_states(t, false);
    open(t, "RD_ONE_BY_ONE for (int turn = 0; turn < turns; turn++) {");
    rd_cuda_line(t, "const int own = turn - team, group = own / %" PRId32 " * RD_TEAMS + team;",
                 turns);
    open(t, "if (own >= 0 && group < groups) {");
    write_turn(t);
    close(t);
    rd_cuda_line(t, "__syncthreads();");
    close(t);
}

/* ---- Patches --------------------------------------------------------------------------------- */
static void write_patch(rd_cuda_text *t)
{
    rd_cuda_declare_patch(t);
    rd_cuda_declare_item(t);
    rd_cuda_items(t, t->s->from, t->s->p->loop[rd_cuda_cross_outer(t->s)].begin);
    rd_cuda_declare_nodes(t);
    begin_lanes(t);
    write_turns(t);
    rd_cuda_end_patch(t);
    rd_cuda_line(t, "__syncthreads();");
}

void rd_cuda_write_cross(rd_cuda_text *t)
{
    rd_cuda_meet_functions(t);
    t->part = RD_PART_RUN;
    t->open = 0;
    rd_cuda_kernel_head(t, "cross", -1);
    open(t, "{");
    rd_cuda_declare_shared(t);
    rd_cuda_line(t, "RD_SHARED(uint32_t, came, 1);");
    rd_cuda_declare_lanes(t);
    rd_cuda_line(t,
                 "const int t = (int)threadIdx.x %% RD_TEAM, team = (int)threadIdx.x / RD_TEAM;");
    rd_cuda_line(t, "uint32_t warnings = 0;");
    rd_cuda_declare_slots(t);
    open(t, "for (int64_t work = q.head.first + blockIdx.x; work < q.head.n_work; work += "
            "gridDim.x) {");
    write_patch(t);
    close(t);
    if (t->s->reports)
        rd_cuda_line(t, "RD_WARN(warnings)");
    t->indent--;
    rd_cuda_line(t, "}\n");
}
