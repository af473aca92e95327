/* kernel_frame.c - the text of a kernel around its items: its head, and declarations.
 *
 * An item is one unit of work; a team is the threads that do an item.  A slot is a buffer;
 * scratch is temporary memory of a team or a thread.
 *
 *     extern "C" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) run(const rd_call q)
 *     {
 *         const int t = (int)threadIdx.x % RD_TEAM;
 *         const int64_t teams = ..; const int64_t team = ..;
 *         char *const ours = .., *const own = ..;
 *         uint32_t warnings = 0;
 *         char *const x0 = q.m[0];
 *
 * Fields. s->n_split loops are split into ranges. s->pairs is the loop over points that all results
 * read, -1: none. s->transpose has the two loops of a transpose in shared memory, -1: none. Scans
 * of split loops run once (is_lookback) or twice (is_two_pass).
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A fold is a
 * reduction or a scan. */
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdio.h>

/* True if the storage class is global memory of a team (the threads of an item), or of each of
 * its threads. */
static bool is_of_team(rd_cuda_storage home)
{
    return home == RD_STORAGE_THREAD || home == RD_STORAGE_TEAM;
}

/* Declares the address of each slot (buffer): "char *const x0 = q.m[0];". Scratch lies behind
 * the states (accumulators) of folds, in the memory of the team (ours) or of the thread (own):
 * "char *const x3 = ours + 512;". Scratch in shared memory, or kept by items, is declared
 * elsewhere. */
void rd_cuda_declare_slots(rd_cuda_text *t)
{
    const rd_cuda_strategy *s = t->s;

    for (int32_t k = 0; k < s->n_slot; k++)
        if (k < s->p->first_scratch)
            rd_print_line(&t->print, "char *const x%" PRId32 " = q.m[%" PRId32 "];", k, k);
        else if (is_of_team(s->scratch[k - s->p->first_scratch]))
            rd_print_line(&t->print, "char *const x%" PRId32 " = %s + %" PRId64 ";", k,
                          s->scratch[k - s->p->first_scratch] == RD_STORAGE_THREAD ? "own" : "ours",
                          s->scratch_at[k - s->p->first_scratch]);
}

/* Returns how many blocks of threads a multiprocessor must have registers for, as
 * __launch_bounds__ takes it; nvrtc.c lowers it to 1 if registers spill. Pairs (pairs >= 0) take
 * all registers there are. Kernels of staged rows need few: a bound made their loops an
 * instruction longer, and no faster on an H200. */
static int32_t fit_of(const rd_cuda_strategy *s)
{
    const int32_t threads = s->n_split > 0 ? s->choice.cut_fit : s->choice.fit;

    return s->pairs >= 0 || s->n_staged_row > 0 ? 1 : threads / s->choice.block;
}

/* Adds the first line of a kernel; number -1: its name has none.  "extern "C" __global__ void
 * __launch_bounds__(RD_THREADS, RD_FIT) ranges0(const rd_call q)". */
void rd_cuda_kernel_head(rd_cuda_text *t, const char *name, int32_t number)
{
    char shown[16] = "";

    if (number >= 0)
        snprintf(shown, sizeof shown, "%" PRId32, number);
    rd_print_line(
        &t->print,
        "extern \"C\" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) %s%s(const rd_call q)",
        name, shown);
}

/* True if the kernel computes exp of f32, in a fold or a map. That reads a table in shared
 * memory, unless `fast` functions are wanted, which the GPU's own units compute. */
static bool takes_exp_f32(const rd_cuda_strategy *s)
{
    if (s->p->fast)
        return false;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (rd_has_exponential(&s->fold[k].emit) &&
            rd_dtype_class(s->p->fold[k].type) == RD_CLASS_f32)
            return true;
    for (int32_t i = 0; i < s->p->n_inst; i++)
        if (s->p->inst[i].kind == RD_I_MAP && s->p->inst[i].op == RD_OP_exp &&
            rd_dtype_class(s->p->inst[i].type) == RD_CLASS_f32)
            return true;
    return false;
}

/* Declares the item and the range of a split loop that a number of work stands for. The item is
 * the lower digit: so neighbouring teams get neighbouring items, which may share operands.
 *
 *     const int64_t item = (int64_t)RD_REST((uint64_t)work, q.head.n_item);
 *     const int64_t range = (int64_t)RD_QUOTIENT((uint64_t)work, q.head.n_item); */
static void write_item_and_range(rd_cuda_text *t)
{
    rd_print_line(&t->print,
                  "const int64_t item = (int64_t)RD_REST((uint64_t)work, q.head.n_item);");
    rd_print_line(&t->print,
                  "const int64_t range = (int64_t)RD_QUOTIENT((uint64_t)work, q.head.n_item);");
}

/* Declares the addresses of scratch (temporary memory) that an item keeps in global memory from
 * one kernel to the next: "char *const x3 = (char *)q.head.items + 0;". The loop tree's
 * addresses add the item's own offset. */
static void declare_items_memory(rd_cuda_text *t)
{
    const rd_cuda_strategy *s = t->s;

    for (int32_t k = 0; k < s->p->n_scratch; k++)
        if (s->scratch[k] == RD_STORAGE_ITEM)
            rd_print_line(&t->print,
                          "char *const x%" PRId32 " = (char *)q.head.items + %" PRId64 ";",
                          s->p->first_scratch + k, s->scratch_at[k]);
}

/* True if a kernel's work is ranges of items (of split loops and scans), not whole items. */
static bool is_of_range(rd_cuda_kernel_kind part)
{
    return part == RD_KERNEL_RANGES || part == RD_KERNEL_TOTALS || part == RD_KERNEL_RESCAN ||
           part == RD_KERNEL_LOOKBACK;
}

/* Declares the shared memory of a block of threads: words of 8 bytes by which a team's threads
 * exchange lanes (partial accumulators), squares of a transpose, cached rows, staged rows. z and
 * z1 are where the team's words and rows begin.
 *
 *     RD_SHARED(uint64_t, words, 512);
 *     const int z = (int)threadIdx.x / RD_TEAM * 64;
 *     RD_SHARED_DYNAMIC(uint32_t, rows);
 *     const int z1 = (int)threadIdx.x / RD_TEAM * (int)q.N[0]; */
void rd_cuda_declare_shared(rd_cuda_text *t)
{
    const rd_cuda_strategy *s     = t->s;
    const int32_t           words = rd_cuda_shared_words(s);
    rd_text                 n     = { 0 };

    if (takes_exp_f32(s))
        rd_print_line(&t->print, "rd_fill_exp_table();");
    if (words) {
        rd_print_line(&t->print, "RD_SHARED(uint64_t, words, %" PRId32 ");",
                      words * (s->choice.block / s->team));
        rd_print_line(&t->print, "const int z = (int)threadIdx.x / RD_TEAM * %" PRId32 ";", words);
    }
    if (s->transpose[0] >= 0)
        rd_cuda_declare_transpose(t);
    if (s->n_cached_row > 0) {
        rd_print_number(&t->print, &n, s->team_words);
        rd_print_line(&t->print, "RD_SHARED_DYNAMIC(uint%" PRId32 "_t, rows);", 8 * s->row_word);
        rd_print_line(&t->print, "const int z1 = (int)threadIdx.x / RD_TEAM * (int)%s;",
                      n.at ? n.at : "");
    }
    rd_cuda_declare_staged_rows(t);
    rd_text_end(&n, t->print.to);
}

/* Declares the thread's number t in its team (the threads that do one item), the team's number,
 * the memory of the team (ours) and the thread (own), and all slots (buffers):
 *
 *     const int t = (int)threadIdx.x % RD_TEAM;
 *     const int64_t teams = (int64_t)gridDim.x * (RD_THREADS / RD_TEAM);
 *     const int64_t team = (int64_t)blockIdx.x * (RD_THREADS / RD_TEAM) + threadIdx.x / RD_TEAM;
 *     char *const ours = (char *)q.head.work + team * 0, *const own = ours + 0 + t * (int64_t)0;
 *     uint32_t warnings = 0;
 *     char *const x0 = q.m[0]; */
void rd_cuda_declare_team(rd_cuda_text *t)
{
    const rd_cuda_strategy *s = t->s;

    rd_print_line(&t->print, "const int t = (int)threadIdx.x %% RD_TEAM;");
    rd_print_line(&t->print, "const int64_t teams = (int64_t)gridDim.x * (RD_THREADS / RD_TEAM);");
    rd_print_line(&t->print, "const int64_t team = (int64_t)blockIdx.x * (RD_THREADS / RD_TEAM) + "
                             "threadIdx.x / RD_TEAM;");
    rd_print_line(&t->print,
                  "char *const ours = (char *)q.head.work + team * %" PRId64
                  ", *const own = ours + %" PRId64 " + t * (int64_t)%" PRId64 ";",
                  s->team_bytes + s->team * s->thread_bytes, s->team_bytes, s->thread_bytes);
    rd_print_line(&t->print, "uint32_t warnings = 0;");
    rd_cuda_declare_slots(t);
}

/* Declares the item, and the range of a split loop, that the kernel works on: "const int64_t
 * item = work;". Also where the item's partials, or the nodes (partial results in the combine
 * tree) of its two-pass scan, lie; and scratch (temporary memory) that it keeps between kernels. */
void rd_cuda_declare_work(rd_cuda_text *t, rd_cuda_kernel_kind part)
{
    const rd_cuda_strategy *s = t->s;

    if (is_of_range(part))
        write_item_and_range(t);
    else
        rd_print_line(&t->print, "const int64_t item = work;");
    if (s->is_two_pass)
        rd_print_line(&t->print,
                      "char *const nodes = (char *)q.head.nodes + item * (int64_t)%" PRId64 ";",
                      s->node_bytes);
    else if (s->n_split > 0 && !s->is_lookback)
        rd_print_line(
            &t->print,
            "char *const nodes = (char *)q.head.nodes + item * q.head.item_rows * RD_ROW;");
    declare_items_memory(t);
}

/* Adds the constants of a text and the type of its kernels' argument: head, addresses of slots
 * (buffers), numbers. Numbers are only known when the kernels have been printed. C has no arrays
 * of 0 elements, so there is one at least.
 *
 *     #define RD_TEAM 16
 *     #define RD_THREADS 128
 *     ..
 *     typedef struct rd_call {
 *         rd_call_head head;
 *         char *m[2];
 *         int64_t N[3];
 *     } rd_call; */
void rd_cuda_write_call(const rd_cuda_text *t, rd_text *to)
{
    const rd_cuda_strategy *s = t->s;
    const int32_t slots       = s->n_slot < s->p->first_scratch ? s->n_slot : s->p->first_scratch;

    rd_text_add(to,
                "#define RD_TEAM %" PRId32 "\n#define RD_THREADS %" PRId32
                "\n#ifndef RD_FIT\n#define RD_FIT %" PRId32
                "\n#endif\n#define RD_TEAMS (RD_THREADS / RD_TEAM)\n#define RD_FAN %" PRId32
                "\n#define RD_ROW (int64_t)%" PRId64 "\n"
                "typedef struct rd_call {\n    rd_call_head head;\n    char *m[%" PRId32
                "];\n    int64_t N[%" PRId32 "];\n} rd_call;\n",
                s->team, s->choice.block, fit_of(s), s->choice.fan, s->row_bytes, slots ? slots : 1,
                t->print.n_number ? t->print.n_number : 1);
}
