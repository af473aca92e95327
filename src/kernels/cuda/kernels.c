/* kernels.c - the kernels of a loop tree: what surrounds items, and how ranges of one meet. */
#include "kernels/cuda/tree.h"
#include <inttypes.h>

/* ---- Ranges ----------------------------------------------------------------------------------- */
static void leave(void *of, rd_printing *n, int32_t fold)
{
    (void)n;
    rd_cuda_leave_nodes(of, fold);
}

static void last(void *of, rd_printing *n)
{
    rd_cuda_text *t = of;

    (void)n;
    rd_cuda_arrive(t, t->cut);
}

static void rows(void *of, rd_printing *n, int32_t fold, const char *name)
{
    (void)n;
    rd_cuda_declare_rows(of, fold, name, "rd_row_of(q.head, (int)q.head.n_level - 1, 0)");
}

rd_kernel_combine rd_cuda_meet(rd_cuda_text *t)
{
    if (t->s->cross[0] >= 0)
        return (rd_kernel_combine){ .of    = t,
                                    .leave = rd_cuda_leave_patch,
                                    .last  = rd_cuda_last_patch,
                                    .node  = rd_cuda_node_of_patch };
    return (rd_kernel_combine){
        .of = t, .leave = leave, .last = last, .rows = rows, .count = "q.head.n_range"
    };
}

/* ---- Kernels ---------------------------------------------------------------------------------- */
/* Behind the ticket of all; and threads of tiles are those of the block. */
static void declare_nodes_of_tiles(rd_cuda_text *t)
{
    rd_text bytes = { 0 };

    rd_print_number(&t->print, &bytes, t->s->node_bytes);
    rd_print_line(&t->print, "char *const nodes = (char *)q.head.nodes + %d + item * %s;",
                  RD_TICKET, bytes.at);
    rd_print_line(&t->print, "const int t = (int)threadIdx.x;");
    rd_text_end(&bytes, t->print.to);
}

/* One item, or one range of one. */
static void write_work(rd_cuda_text *t, int32_t kernel)
{
    rd_cuda_declare_work(t, t->part);
    if (t->part == RD_PART_SWEEP)
        declare_nodes_of_tiles(t);
    rd_print_item(&t->print, kernel);
    rd_print_line(&t->print, "RD_MEET");
}

static const char next_item[] =
    "for (int64_t work = q.head.first + team; work < q.head.n_work; work += teams) {";
static const char next_tile[] =
    "for (int64_t work; (work = rd_next_tile((uint64_t *)q.head.nodes)) < q.head.n_work;) {";

/* All items of a team, one after the other, or those of a block in step. */
static void write_items(rd_cuda_text *t, int32_t kernel)
{
    if (rd_cuda_moves_rows(t->s)) {
        rd_cuda_open_block(t);
        write_work(t, kernel);
        rd_cuda_close_block(t);
        return;
    }
    rd_print_line(&t->print, "%s", t->part == RD_PART_SWEEP ? next_tile : next_item);
    t->print.indent++;
    write_work(t, kernel);
    t->print.indent--;
    rd_print_line(&t->print, "}");
}

/* "run", or "ranges0" of those of a cut loop. */
static void write_kernel(rd_cuda_text *t, int32_t kernel, rd_cuda_part part, int32_t cut)
{
    static const char *const names[] = {
        [RD_PART_RUN] = "run",     [RD_PART_RANGES] = "ranges", [RD_PART_TOTALS] = "totals",
        [RD_PART_GO_ON] = "go_on", [RD_PART_SWEEP] = "sweep",
    };

    t->part         = part;
    t->cut          = cut;
    t->print.indent = 0;
    rd_cuda_kernel_head(t, names[part], cut);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    rd_cuda_declare_shared(t);
    if (t->print.kernel->pairs)
        rd_print_declare_point_tiles(&t->print);
    rd_cuda_declare_team(t);
    write_items(t, kernel);
    if (t->s->reports)
        rd_print_line(&t->print, "RD_WARN(warnings)");
    t->print.indent--;
    rd_print_line(&t->print, "}\n");
}

/* Each loop that is cut. */
static void write_cuts(rd_cuda_text *t, int32_t kernel)
{
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (t->s->fold[k].cut >= 0)
            rd_cuda_range_functions(t, k);
    for (int32_t k = 0; k < t->s->n_cut && kernel >= 0; k++) {
        write_kernel(t, kernel, RD_PART_RANGES, k);
        kernel = rd_next_kernel(t->print.t, kernel);
    }
}

/* ---- Scans whose ranges go twice -------------------------------------------------------------- */
static const char *const nodes_of_level[] = {
    "const int     level = (int)q.head.span;",
    "const int64_t here = q.head.n_range >> level, threads = (int64_t)gridDim.x * RD_THREADS;",
    "int64_t work = (int64_t)blockIdx.x * RD_THREADS + threadIdx.x;",
};

/* q.head.span: the level whose nodes are made.  A thread makes one of a cell. */
static void write_lift(rd_cuda_text *t, const rd_stmt *s)
{
    rd_text cells = { 0 };

    t->print.indent = 0;
    rd_cuda_kernel_head(t, "lift", s->fold);
    rd_print_line(&t->print, "{");
    t->print.indent++;
    for (size_t k = 0; k < sizeof nodes_of_level / sizeof *nodes_of_level; k++)
        rd_print_line(&t->print, "%s", nodes_of_level[k]);
    rd_print_line(&t->print, "for (; work < q.head.n_work; work += threads) {");
    t->print.indent++;
    rd_print_number(&t->print, &cells, rd_cells_in_array(&t->print, s->store));
    rd_print_line(&t->print, "const int64_t c = work %% %s, left = work / %s;", cells.at, cells.at);
    rd_print_line(&t->print, "const int64_t item = left / here, k = left %% here;");
    rd_print_line(&t->print,
                  "char *const nodes = (char *)q.head.nodes + item * (int64_t)%" PRId64 ";",
                  t->s->node_bytes);
    rd_print_line(&t->print,
                  "const int64_t below = rd_nodes_below(q.head.n_range, level - 1) + 2 * k;");
    rd_print_line(&t->print, "const int64_t at = rd_nodes_below(q.head.n_range, level) + k;");
    rd_print_build_tree(&t->print, s);
    t->print.indent -= 2;
    rd_print_line(&t->print, "    }\n}\n");
    rd_text_end(&cells, t->print.to);
}

static void write_twice(rd_cuda_text *t, int32_t kernel)
{
    int32_t s = t->print.t->stmt[kernel].next;

    write_kernel(t, kernel, RD_PART_TOTALS, -1);
    for (; s >= 0 && t->print.t->stmt[s].kind == RD_S_LIFT; s = t->print.t->stmt[s].next)
        write_lift(t, &t->print.t->stmt[s]);
    write_kernel(t, s, RD_PART_GO_ON, -1);
}

/* ---- All of them ------------------------------------------------------------------------------ */
void rd_cuda_write_kernels(rd_cuda_text *t)
{
    const int32_t kernel = rd_next_kernel(t->print.t, -1);

    if (kernel < 0)
        t->print.why = "nothing to do";
    else if (t->s->cross[0] >= 0)
        rd_cuda_write_patches(t, kernel);
    else if (t->s->scanned)
        write_twice(t, kernel);
    else if (t->s->swept)
        write_kernel(t, kernel, RD_PART_SWEEP, -1);
    else if (t->s->n_cut == 0)
        write_kernel(t, kernel, RD_PART_RUN, -1);
    else
        write_cuts(t, kernel);
}
