/* ranges.c - nodes that ranges of the cut loop leave, and that become those of one. */
#include "kernels/cuda/text.h"
#include "core/tree.h"
#include <inttypes.h>

void rd_cuda_add_edge(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_shape *s    = t->s;
    const rd_cuda_fold  *f    = &s->fold[number];
    rd_text              each = { 0 }, all = { 0 };

    rd_cuda_number(t, &each, rd_cuda_each(s, f));
    rd_cuda_number(t, &all, f->of.fold->n_block);
    rd_text_add(t->to,
                "static inline int64_t edge%" PRId32 "(const rd_call &q, int64_t range)\n{\n"
                "    return range >= q.head.n_range ? %s : range * q.head.range * %s / %d;\n}\n",
                number, all.at ? all.at : "", each.at ? each.at : "",
                RD_TREE_STEPS * (rd_cuda_along_lanes(s, f) ? f->of.fold->lanes : 1));
    rd_text_free(&each);
    rd_text_free(&all);
}

void rd_cuda_end_range(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    const bool          team  = f->home == RD_HOME_TEAM;
    const bool          ours  = team && t->s->team > 1;
    rd_text             cells = { 0 }, block = { 0 };

    rd_cuda_number(t, &cells, f->n_cell);
    rd_text_add(&block, "edge%" PRId32 "(q, range + 1)", number);
    if (ours)
        rd_cuda_line(t, "RD_MEET");
    /* Lanes have their threads in each cell; else cells have. */
    rd_cuda_line(t, "%s for (int64_t c%" PRId32 " = %s; c%" PRId32 " < %s; c%" PRId32 " += %s)",
                 f->home == RD_HOME_LOCAL && t->s->strip >= 0 ? "RD_UNROLL" : "", number,
                 ours && !f->lanes ? "t" : "0", number, cells.at ? cells.at : "", number,
                 ours && !f->lanes ? "RD_TEAM" : "1");
    t->indent++;
    rd_cuda_move_on(t, f, block.at ? block.at : "");
    t->indent--;
    rd_text_free(&cells);
    rd_text_free(&block);
}

/* ---- Ranges joined --------------------------------------------------------------------------- */
/* Nodes of blocks [begin, end), in o, follow those of blocks from `from` on, in w. */
static void add_append(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void append%" PRId32 "(", number);
    rd_add_parameters(to, &f->of, true, "", 'w');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, true, "const ", 'o');
    rd_text_add(to, ", int64_t pitch, int64_t at, int64_t from, int64_t begin, int64_t end)\n{\n"
                    "    for (int64_t start = begin, row = 0; start < end; row++) {\n"
                    "        const int     level = rd_level(start, end);\n"
                    "        const int64_t to    = rd_nodes(from, start);\n       ");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " w%d[to * pitch + at] = o%d[row * pitch + at];", k, k);
    rd_text_add(to, "\n        rise%" PRId32 "(", number);
    rd_add_each(to, &f->of, "w%d");
    rd_text_add(to, ", pitch, at, to, start, level, from);\n"
                    "        start += (int64_t)1 << level;\n    }\n}\n");
}

/* "w0, w1, .." at `ranges` behind the first range. */
static void declare_rows(rd_cuda_text *t, const rd_cuda_fold *f, char name, const char *ranges)
{
    const int64_t states = f->n_cell * f->of.fold->lanes;

    for (int k = 0; k < f->of.n_state; k++) {
        const char *type = rd_node_type(&f->of, k);

        rd_cuda_line(t,
                     "%s *const %c%d = (%s *)(nodes + (%s) * (int64_t)%" PRId64 " + %" PRId64 ");",
                     type, name, k, type, ranges, t->s->node_bytes,
                     f->node + k * rd_cuda_room(f->room * states * f->of.bytes));
    }
}

/* The first of RD_CUDA_FAN ranges takes what the others have. */
static void write_ranges_of_one(rd_cuda_text *t, const rd_cuda_fold *f, int32_t number,
                                const char *states)
{
    rd_text rows = { 0 };

    rd_add_each(&rows, &f->of, "w%d");
    rd_text_add(&rows, ", ");
    rd_add_each(&rows, &f->of, "o%d");
    declare_rows(t, f, 'w', "0");
    rd_cuda_line(t,
                 "for (int64_t k = span; k < span * %d && first + k < q.head.n_range; k += span) {",
                 RD_CUDA_FAN);
    t->indent++;
    declare_rows(t, f, 'o', "k");
    rd_cuda_line(t, "append%" PRId32 "(%s, %s, at, edge%" PRId32 "(q, first),", number,
                 rows.at ? rows.at : "", states, number);
    rd_cuda_line(t, "    edge%" PRId32 "(q, first + k), edge%" PRId32 "(q, first + k + span));",
                 number, number);
    t->indent--;
    rd_cuda_line(t, "}");
    rd_text_free(&rows);
}

/* q.head.span ranges are one already.  A thread takes a state of RD_CUDA_FAN times as many. */
void rd_cuda_join_kernel(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f      = &t->s->fold[number];
    rd_text             states = { 0 };

    add_append(t->to, f, number);
    rd_cuda_number(t, &states, f->n_cell * f->of.fold->lanes);
    rd_cuda_kernel_head(t, "join", number);
    rd_cuda_line(t, "{");
    t->indent++;
    rd_cuda_line(t, "const int64_t span = q.head.span, threads = (int64_t)gridDim.x * RD_THREADS;");
    rd_cuda_line(t, "const int64_t many = span * %d, joined = (q.head.n_range + many - 1) / many;",
                 RD_CUDA_FAN);
    rd_cuda_line(t, "int64_t work = (int64_t)blockIdx.x * RD_THREADS + threadIdx.x;");
    rd_cuda_line(t, "for (; work < q.head.n_work; work += threads) {");
    t->indent++;
    rd_cuda_line(t, "const int64_t at = work %% %s, left = work / %s;", states.at, states.at);
    rd_cuda_line(t, "const int64_t first = left %% joined * many, item = left / joined;");
    rd_cuda_line(t, "char *const nodes =");
    rd_cuda_line(
        t, "    (char *)q.head.nodes + (item * q.head.n_range + first) * (int64_t)%" PRId64 ";",
        t->s->node_bytes);
    write_ranges_of_one(t, f, number, states.at ? states.at : "");
    for (int k = 0; k < 2; k++) {
        t->indent--;
        rd_cuda_line(t, "}");
    }
    rd_text_free(&states);
}
