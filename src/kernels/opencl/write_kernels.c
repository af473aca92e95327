/* write_kernels.c - see write_kernels.h.
 *
 * An item is one unit of work, done by one thread.  A slot is a buffer; scratch is temporary
 * memory of an item.  A node is a part of a fold's combine tree.
 *
 *     KERNEL rdim0(const rd_call c, __global rd_cl_record *record, __global char *g0)
 *     {
 *         const int64_t item = c.at[0] + (int64_t)get_global_id(0);
 *         if (item >= c.at[1])
 *             return;
 *         __global char *const x0 = g0 + c.at[2];
 *         ..
 *         RD_REPORT
 *     } */
#include "kernels/opencl/write_kernels.h"
#include "core/bytes.h"
#include "kernels/opencl/opencl_plan.h"
#include "kernels/opencl/two_pass_scan.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Declarations of an item ----------------------------------------------------------------- */
/* True if any instruction of the program loads from or stores to the slot (buffer). */
static bool is_slot_used(const rd_program *p, int32_t slot)
{
    return rd_program_accesses(p, RD_I_LOAD, slot) || rd_program_accesses(p, RD_I_STORE, slot);
}

/* Declares slots (buffers), scratch (temporary memory), states (accumulators) of folds, and what
 * an item reports. Group-bys (kernel NULL) have the C printer's states, in a block of memory.
 *
 *     __global char *const x0 = g0 + c.at[2];
 *     char x3[512] LINES;
 *     rd_failed failed = { 0 };
 *     uint32_t warnings = 0; */
static void declare_memory(rd_printing *n)
{
    const rd_program *p = n->t->p;

    for (int32_t s = 0; s < p->first_scratch && s < n->n_slot; s++)
        if (is_slot_used(p, s))
            rd_print_line(n,
                          "__global char *const x%" PRId32 " = g%" PRId32 " + c.at[%" PRId32 "];",
                          s, s, RD_CL_SLOTS + s);
    for (int32_t k = 0; k < p->n_scratch; k++)
        rd_print_line(n, "char x%" PRId32 "[%" PRId64 "] LINES;", p->first_scratch + k,
                      p->scratch_bytes[k] > 0 ? p->scratch_bytes[k] : 1);
    if (n->state && !n->kernel)
        rd_print_line(n,
                      "char state[%" PRId64 "] LINES; const rd_task task = { state }, *q = &task;",
                      n->state);
    if (!n->kernel)
        rd_print_declare_states(n);
    rd_print_line(n, "rd_failed failed = { 0 };");
    rd_print_line(n, "uint32_t warnings = 0;");
}

/* ---- Kernels --------------------------------------------------------------------------------- */
/* Returns how many work items a kernel has: the product of the extents of its nested loops over
 * items, of which one may go over ranges. */
static int64_t items_of(const rd_schedule *t, int32_t kernel)
{
    int64_t items = rd_loop_of(t, kernel)->extent;

    for (int32_t s = t->stmt[kernel].first; s >= 0; s = t->stmt[s].next)
        if (rd_is_item_loop(t, s))
            return items * items_of(t, s);
    return items;
}

/* True if a kernel's work items are ranges of a split loop: its innermost loop over items is one
 * over ranges. */
static bool has_ranges(const rd_schedule *t, int32_t kernel)
{
    return rd_loop_of(t, rd_innermost_item_loop(t, kernel))->split_reduction;
}

/* Adds the head of a kernel, the number of its work item, and the numbers of the text: "KERNEL
 * rdim0(const rd_call c, __global rd_cl_record *record, __global char *g0)". g0 .. are the
 * buffers that the program uses. Items behind the end, which fill up a work group, return at
 * once. */
static void add_head(const rd_cl_text *t, rd_text *to)
{
    const rd_program *p = t->print.t->p;

    rd_text_add(to, "KERNEL rdim%" PRId32 "(const rd_call c, __global rd_cl_record *record",
                t->n_kernel);
    for (int32_t s = 0; s < p->first_scratch && s < t->print.n_slot; s++)
        if (is_slot_used(p, s))
            rd_text_add(to, ", __global char *g%" PRId32, s);
    if (t->ranges.bytes)
        rd_text_add(to, ", __global char *nodes");
    rd_text_add(to,
                ")\n{\n    const int64_t item = c.at[%d] + (int64_t)get_global_id(0);\n\n"
                "    if (item >= c.at[%d])\n        return;\n",
                RD_CL_FIRST, RD_CL_END);
    for (int32_t k = 0; k < t->print.n_number; k++)
        rd_text_add(to, "    const int64_t N%" PRId32 " = c.at[%" PRId32 "];\n", k,
                    RD_CL_SLOTS + t->print.n_slot + k);
}

/* ---- Two-pass scans -------------------------------------------------------------------------- */
/* Returns the statement that makes the inner nodes (partial results in the combine tree) of a
 * two-pass scan (BUILD_TREE); NULL: the program has no such scan. */
static const rd_stmt *lift_of(const rd_schedule *t)
{
    for (int32_t s = t->stmt[t->part[RD_PART_BODY]].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BUILD_TREE)
            return &t->stmt[s];
    return NULL;
}

/* Returns how many ranges each item of a kernel has: the extent of its innermost loop over
 * items. */
static int64_t ranges_of(const rd_schedule *t, int32_t kernel)
{
    return rd_loop_of(t, rd_innermost_item_loop(t, kernel))->extent;
}

/* Declares an item's nodes (partial results in the combine tree) of all folds, those of ranges
 * (parts of a split loop) and of the levels above: "__global char *const nodes = all + item *
 * (int64_t)1024;". */
static void declare_nodes(rd_printing *n, int64_t ranges)
{
    rd_print_line(n, "__global char *const nodes = all + item * (int64_t)%" PRId64 ";",
                  n->t->p->n_fold * rd_cl_node_bytes(ranges));
}

/* Adds one range (part of a split loop) of a two-pass scan. The number of work is items * range
 * + item, so that neighbouring threads have neighbouring items, not ranges:
 *
 *     const int64_t work = item;
 *     __global char *const all = nodes;
 *     {
 *         const int64_t item = work % 4, range = work / 4;
 *         __global char *const nodes = all + item * (int64_t)1024;
 *         .. the range ..
 *     } */
static void print_range_of_scan(rd_printing *n, int32_t kernel)
{
    const int64_t ranges = ranges_of(n->t, kernel), items = items_of(n->t, kernel) / ranges;

    rd_print_line(n, "const int64_t work = item;");
    rd_print_line(n, "__global char *const all = nodes;");
    rd_print_line(n, "{");
    n->indent++;
    rd_print_line(n, "const int64_t item = work %% %" PRId64 ", range = work / %" PRId64 ";", items,
                  items);
    declare_nodes(n, ranges);
    rd_print_item(n, kernel);
    n->indent--;
    rd_print_line(n, "}");
}

/* Adds the kernel of a two-pass scan that makes the nodes (partial results in the combine tree)
 * of one level from the level below, for all items and folds. Node k covers 2^level ranges
 * (parts of a split loop), from two nodes that cover half as many.
 *
 *     const int64_t work = item, k = work % 32;
 *     const int64_t below = rd_nodes_below(RD_RANGES, 0) + 2 * k;
 *     const int64_t at = rd_nodes_below(RD_RANGES, 1) + k;
 *     .. */
static void print_level(rd_cl_text *t, rd_text *to, int32_t kernel, int level)
{
    const rd_schedule *tree   = t->print.t;
    const int64_t      ranges = ranges_of(tree, kernel), here = ranges >> level;
    rd_printing *const n    = &t->print;
    rd_text            body = { 0 };

    n->to     = &body;
    n->indent = 1;
    rd_print_line(n, "const int64_t work = item, k = work %% %" PRId64 ";", here);
    rd_print_line(n, "const int64_t below = rd_nodes_below(RD_RANGES, %d) + 2 * k;", level - 1);
    rd_print_line(n, "const int64_t at = rd_nodes_below(RD_RANGES, %d) + k;", level);
    rd_print_line(n, "__global char *const all = nodes;");
    rd_print_line(n, "{");
    n->indent++;
    rd_print_line(n, "const int64_t item = work / %" PRId64 ", c = 0;", here);
    declare_nodes(n, ranges);
    for (int32_t s = tree->stmt[kernel].next; tree->stmt[s].kind == RD_S_BUILD_TREE;
         s         = tree->stmt[s].next) {
        rd_print_line(n, "{");
        n->indent++;
        rd_print_build_tree(n, &tree->stmt[s]);
        n->indent--;
        rd_print_line(n, "}");
    }
    n->indent--;
    rd_print_line(n, "}");
    add_head(t, to);
    rd_text_add(to, "%s}\n", body.at ? body.at : "");
    to->failed |= body.failed;
    rd_text_free(&body);
    t->items[t->n_kernel++] = items_of(tree, kernel) / ranges * here;
}

/* True if the program may have one more kernel, of RD_CL_KERNELS at most; else the reason is
 * noted. */
static bool has_room(rd_cl_text *t)
{
    if (t->n_kernel == RD_CL_KERNELS)
        t->print.why = "too many loops that follow each other";
    return !t->print.why;
}

/* ---- All kernels ----------------------------------------------------------------------------- */
/* Adds a kernel. `behind`: the one that combines the partials (nodes that ranges leave) of a
 * split loop's ranges and runs what follows the loop, as one item. The body is printed first, as
 * only then the numbers and bytes are known that the head declares. */
static void print_kernel(rd_cl_text *t, rd_text *to, int32_t kernel, bool behind)
{
    const bool ranges = has_ranges(t->print.t, kernel), scans = lift_of(t->print.t);
    rd_text    body = { 0 };

    if (!has_room(t))
        return;
    t->print.to     = &body;
    t->print.indent = 1;
    declare_memory(&t->print);
    if (ranges && !behind && !scans)
        rd_print_line(&t->print, "const int64_t range = item;");
    (behind ? rd_print_last_range : scans ? print_range_of_scan : rd_print_item)(&t->print, kernel);
    add_head(t, to);
    rd_text_add(to, "%s    RD_REPORT\n}\n", body.at ? body.at : "");
    to->failed |= body.failed;
    rd_text_free(&body);
    t->items[t->n_kernel++] = behind ? 1 : items_of(t->print.t, kernel);
}

/* Adds the kernels of a two-pass scan: totals of ranges (parts of a split loop), one kernel for
 * each level of nodes above them, and all ranges again from their prefixes. */
static void print_scans(rd_cl_text *t, rd_text *to)
{
    const int32_t first  = rd_next_kernel(t->print.t, /*last=*/-1);
    const int64_t ranges = ranges_of(t->print.t, first);

    t->ranges.n = ranges;
    t->ranges.bytes =
        items_of(t->print.t, first) / ranges * t->print.t->p->n_fold * rd_cl_node_bytes(ranges);
    rd_text_add(to, "#define RD_RANGES (int64_t)%" PRId64 "\n", ranges);
    print_kernel(t, to, first, /*behind=*/false);
    for (int level = 1; ranges >> level && has_room(t); level++)
        print_level(t, to, first, level);
    print_kernel(t, to, rd_next_kernel(t->print.t, first), /*behind=*/false);
}

/* Adds a kernel for each loop over work items. A loop that is split into ranges has a second
 * kernel, which combines the ranges' partial results and runs what follows. A two-pass scan has
 * kernels of its own. */
static void print_kernels(rd_cl_text *t, rd_text *to)
{
    const rd_schedule *tree = t->print.t;

    if (lift_of(tree)) {
        print_scans(t, to);
        return;
    }
    rd_cl_print_edges(to, tree);
    for (int32_t s = tree->stmt[tree->part[RD_PART_BODY]].first; s >= 0; s = tree->stmt[s].next) {
        if (!rd_is_item_loop(tree, s))
            continue;
        print_kernel(t, to, s, /*behind=*/false);
        if (has_ranges(tree, s))
            print_kernel(t, to, s, /*behind=*/true);
    }
}

/* ---- The text -------------------------------------------------------------------------------- */
/* True if a run may report an invalid index or a warning. */
static bool has_reports(const rd_program *p)
{
    bool found = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        found |= p->inst[i].kind == RD_I_INDEX ||
                 (p->inst[i].kind == RD_I_MAP && rd_op_warns(&p->inst[i]));
    return found;
}

/* Adds the type of the kernels' argument, an array of numbers, then all kernels.  The kernels
 * are printed first, as only then the count of numbers is known. */
static void print_text(rd_cl_text *t, rd_text *to)
{
    rd_text kernels = { 0 };

    print_kernels(t, &kernels);
    rd_text_add(to, "typedef struct rd_call {\n    int64_t at[%d];\n} rd_call;\n%s",
                RD_CL_SLOTS + t->print.n_slot + t->print.n_number, kernels.at ? kernels.at : "");
    to->failed |= kernels.failed;
    rd_text_free(&kernels);
}

/* Copies the text to memory that lives as long as the program; NULL: no memory, or no text. */
static const char *keep(const rd_text *text, rd_get_fn *get, void *pool)
{
    char *kept = text->at && !text->failed ? get(pool, text->n + 1) : NULL;

    if (kept)
        memcpy(kept, text->at, text->n + 1);
    return kept;
}

/* Adds the functions of folds. A kernel has states (accumulators) in variables, and a GPU's
 * functions. A program with group-bys (print.kernel NULL) has those of the C printer, with
 * states in memory. False: no memory. */
static bool print_functions(rd_cl_text *t, rd_text *text, rd_get_fn *get, void *pool)
{
    return (t->print.kernel ? rd_print_kernel_functions : rd_print_functions)(&t->print, text, get,
                                                                              pool);
}

/* Writes the text of a program's kernels, or in t->why the reason why there is none. False: no
 * memory. A thread does an item by itself (team 1), with single elements (width 1). */
bool rd_cl_print(rd_cl_text *t, const rd_schedule *tree, rd_get_fn *get, void *pool)
{
    const rd_kernel_combine ranges = rd_cl_range_callbacks(&t->ranges);
    rd_kernel kernel = { .team = 1, .width = 1, .unrolled = 64, .rounds = -1, .combine = &ranges };
    rd_text   text   = { 0 };
    bool      done;

    *t   = (rd_cl_text){ .print   = { .t       = tree,
                                      .dialect = &rd_dialect_opencl,
                                      .kernel  = rd_cl_has_no_labels(tree->p) ? &kernel : NULL },
                         .reports = has_reports(tree->p) };
    done = print_functions(t, &text, get, pool);
    if (done && rd_cl_fits(t) && !t->print.why)
        print_text(t, &text);
    if (done)
        rd_cl_say_why(t);
    t->print.kernel = NULL;
    t->text         = keep(&text, get, pool);
    done &= t->text || t->why[0];
    rd_text_free(&text);
    return done;
}
