/* copy_staged_rows.c - the text of staged rows (staged_rows.c).  The threads of a block go
 * through their items in step:
 *
 *     for (first ..; first < n_work; first += teams) {
 *         stage0 = the rows of items first .. first + 127, by all threads
 *         __syncthreads();
 *         if (this thread has an item)
 *             the item, with stage0[mine0 + i1] for its i1-th element
 *         __syncthreads();
 *         memory = the rows of stage1, by all threads
 *     }
 *
 * An item is one unit of work, here of one thread.  A slot is a buffer in global memory.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdlib.h>

/* Returns the C type of the rows' elements in memory. */
static const char *type_of(const rd_cuda_staged_row *r)
{
    return rd_memory_type(r->type);
}

/* Adds where the rows begin in shared memory, in elements: "(int)q.N[0]". r->at is in bytes. */
static void add_begin(rd_cuda_text *t, rd_text *to, const rd_cuda_staged_row *r)
{
    rd_text_add(to, "(int)");
    rd_print_number(&t->print, to, r->at / rd_dtype_size(r->type));
}

/* True if a block of threads copies the rows from or to global memory; scratch rows exist in
 * shared memory only. */
static bool is_moved(const rd_cuda_staged_row *r)
{
    return r->role != RD_STAGED_SCRATCH;
}

/* Returns the first rows in a shared array that are copied from or to global memory, -1: there
 * are none. Rows that share the array begin where these do. */
static int32_t moved_in(const rd_cuda_strategy *s, int32_t array)
{
    for (int32_t k = 0; k < s->n_staged_row; k++)
        if (s->staged_row[k].array == array && is_moved(&s->staged_row[k]))
            return k;
    return -1;
}

/* True if staged rows k have a shared array of their own; else they reuse the array of other
 * rows, which are dead by then. */
static bool is_array(const rd_cuda_strategy *s, int32_t k)
{
    return s->staged_row[k].array == k;
}

/* Declares the arrays of staged rows in shared memory. Where a thread's own row begins (mine0)
 * is declared here for an array of scratch (temporary memory) alone, as it is the same for all
 * items:
 *
 *     RD_SHARED_DYNAMIC(float, stage0);
 *     const int mine0 = (int)q.N[0] + (int)threadIdx.x * (int)11; */
void rd_cuda_declare_staged_rows(rd_cuda_text *t)
{
    for (int32_t k = 0; k < t->s->n_staged_row; k++) {
        const rd_cuda_staged_row *r     = &t->s->staged_row[k];
        rd_text                   begin = { 0 };

        if (!is_array(t->s, k))
            continue;
        rd_print_line(&t->print, "RD_SHARED_DYNAMIC(%s, stage%" PRId32 ");", type_of(r), k);
        if (moved_in(t->s, k) < 0) {
            add_begin(t, &begin, r);
            rd_text_add(&begin, " + (int)threadIdx.x * (int)");
            rd_print_number(&t->print, &begin, r->pitch);
            rd_print_line(&t->print, "const int mine%" PRId32 " = %s;", k,
                          begin.at ? begin.at : "");
        }
        rd_text_end(&begin, t->print.to);
    }
}

/* ---- Copies of a block of threads ------------------------------------------------------------ */
/* Declares the first row that a block's items have, and how many rows: "const int64_t top0 =
 * first; const int many0 = here;". `first` and `here` are the block's first item and its number
 * of items. If several items share a row (r->items):
 *
 *     const int64_t top0 = (int64_t)RD_QUOTIENT((uint64_t)first, 4);
 *     const int many0 = (int)((int64_t)RD_QUOTIENT((uint64_t)(first + here - 1), 4) - top0) + 1; */
static void declare_rows(rd_cuda_text *t, int32_t k)
{
    const rd_cuda_staged_row *r = &t->s->staged_row[k];
    rd_text                   n = { 0 };

    if (r->items == 1) {
        rd_print_line(&t->print,
                      "const int64_t top%" PRId32 " = first; const int many%" PRId32 " = here;", k,
                      k);
        return;
    }
    rd_print_number(&t->print, &n, r->items);
    rd_print_line(&t->print,
                  "const int64_t top%" PRId32 " = (int64_t)RD_QUOTIENT((uint64_t)first, %s);", k,
                  n.at ? n.at : "");
    rd_print_line(&t->print,
                  "const int many%" PRId32
                  " = (int)((int64_t)RD_QUOTIENT((uint64_t)(first + here - 1), %s) - top%" PRId32
                  ") + 1;",
                  k, n.at ? n.at : "", k);
    rd_text_end(&n, t->print.to);
}

/* Declares from0, where the block's rows begin in global memory. A negative step means that the
 * last row comes first there. Rows without gaps are copied by vectors, so skew0 is how many
 * elements the first one lies behind the start of its vector:
 *
 *     const int64_t from0 = 0 + (top0) * 10;
 *     const int skew0 = (int)(from0 & 3); */
static void declare_beginning(rd_cuda_text *t, int32_t k)
{
    const rd_cuda_staged_row *r     = &t->s->staged_row[k];
    rd_text                   first = { 0 }, step = { 0 }, last = { 0 };

    rd_print_number(&t->print, &first, r->first);
    rd_print_number(&t->print, &step, r->step);
    if (r->step < 0) /* the last row is the first in memory */
        rd_text_add(&last, " + many%" PRId32 " - 1", k);
    rd_print_line(&t->print, "const int64_t from%" PRId32 " = %s + (top%" PRId32 "%s) * %s;", k,
                  first.at ? first.at : "", k, last.at ? last.at : "", step.at ? step.at : "");
    if (rd_cuda_is_contiguous(r))
        rd_print_line(&t->print,
                      "const int skew%" PRId32 " = (int)(from%" PRId32 " & %" PRId32 ");", k, k,
                      rd_cuda_staged_row_vector(t->s, r) - 1);
    rd_text_end(&first, t->print.to);
    rd_text_end(&step, t->print.to);
    rd_text_end(&last, t->print.to);
}

/* Returns how many vectors a thread loads before it stores the first one in shared memory: the
 * usual batch, halved until all threads have so many vectors. */
static int32_t ahead_of(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    const int64_t elements = rd_cuda_staged_rows_of_block(s, r) * r->n;
    int32_t       ahead    = s->choice.batch;

    while (ahead > 1 &&
           (int64_t)ahead * s->choice.block * rd_cuda_staged_row_vector(s, r) > elements)
        ahead /= 2;
    return ahead;
}

/* Adds 2^32 / n, rounded up.  Kernels multiply by it to divide an index by the row length n
 * (rd_row_at() in text/staged_rows.cuh). */
static void add_part(rd_cuda_text *t, rd_text *to, const rd_cuda_staged_row *r)
{
    rd_text_add(to, "(uint32_t)");
    rd_print_number(&t->print, to, ((INT64_C(1) << 32) + r->n - 1) / r->n);
}

/* Adds the call that copies rows without gaps in, or out (rd_drain_rows):
 *
 *     rd_fill_rows<RD_THREADS, float, 4, 1, 2>(stage0, (int)0, (const float *)x0 + (from0 - skew0),
 *                                              skew0, skew0 + many0 * (int)10, (uint32_t)q.N[0]);
 *
 * The copies are vectors, so t->packed gets a bit for the slot (buffer): a launch checks its
 * alignment. */
static void copy_contiguous(rd_cuda_text *t, int32_t k)
{
    const rd_cuda_staged_row *r    = &t->s->staged_row[k];
    const bool                in   = r->role == RD_STAGED_IN;
    rd_text                   line = { 0 };

    rd_text_add(&line, "rd_%s_rows<RD_THREADS, %s, %" PRId32 ", %" PRId64, in ? "fill" : "drain",
                type_of(r), rd_cuda_staged_row_vector(t->s, r), r->pitch - r->n);
    if (in)
        rd_text_add(&line, ", %" PRId32, ahead_of(t->s, r));
    rd_text_add(&line, ">(stage%" PRId32 ", ", r->array);
    add_begin(t, &line, r);
    rd_text_add(&line,
                ", (%s%s *)x%" PRId32 " + (from%" PRId32 " - skew%" PRId32 "), skew%" PRId32
                ", skew%" PRId32 " + many%" PRId32 " * (int)",
                in ? "const " : "", type_of(r), r->slot, k, k, k, k, k);
    rd_print_number(&t->print, &line, r->n);
    rd_text_add(&line, ", ");
    add_part(t, &line, r);
    rd_print_line(&t->print, "%s);", line.at ? line.at : "");
    rd_text_end(&line, t->print.to);
    t->packed |= UINT64_C(1) << (r->slot & 63);
}

/* Adds the call that copies rows with gaps between them in, or out (rd_drain_apart): many0 rows
 * of 10 elements, which lie q.N[1] apart in memory and 11 apart in shared memory.
 *
 *     rd_fill_apart<RD_THREADS, float>(stage0, (int)0, (const float *)x0 + from0, many0 * (int)10,
 *                                      (int)10, (int)11, q.N[1], (uint32_t)q.N[0]); */
static void copy_strided(rd_cuda_text *t, int32_t k)
{
    const rd_cuda_staged_row *r    = &t->s->staged_row[k];
    const bool                in   = r->role == RD_STAGED_IN;
    rd_text                   line = { 0 }, n = { 0 };

    rd_print_number(&t->print, &n, r->n);
    rd_text_add(&line, "rd_%s_apart<RD_THREADS, %s>(stage%" PRId32 ", ", in ? "fill" : "drain",
                type_of(r), r->array);
    add_begin(t, &line, r);
    rd_text_add(&line,
                ", (%s%s *)x%" PRId32 " + from%" PRId32 ", many%" PRId32
                " * (int)%s, (int)%s, (int)",
                in ? "const " : "", type_of(r), r->slot, k, k, n.at ? n.at : "", n.at ? n.at : "");
    rd_print_number(&t->print, &line, r->pitch);
    rd_text_add(&line, ", ");
    rd_print_number(&t->print, &line, llabs(r->step));
    rd_text_add(&line, ", ");
    add_part(t, &line, r);
    rd_print_line(&t->print, "%s);", line.at ? line.at : "");
    rd_text_end(&line, t->print.to);
    rd_text_end(&n, t->print.to);
}

/* Adds the copies of all rows of a role: those copied in before the items, or those copied out
 * behind them. */
static void copy_rows(rd_cuda_text *t, rd_gpu_staged_role role)
{
    for (int32_t k = 0; k < t->s->n_staged_row; k++)
        if (t->s->staged_row[k].role == role)
            (rd_cuda_is_contiguous(&t->s->staged_row[k]) ? copy_contiguous : copy_strided)(t, k);
}

/* Declares mine0, where the row of this thread's item begins in shared memory: "const int mine0
 * = (int)0 + skew0 + (int)threadIdx.x * (int)11;". skew0: elements before the first one, in its
 * vector. With a negative step the rows lie in reverse order. */
static void declare_mine(rd_cuda_text *t, int32_t k)
{
    const rd_cuda_staged_row *r   = &t->s->staged_row[k];
    rd_text                   row = { 0 }, line = { 0 };

    if (r->items == 1)
        rd_text_add(&row, "(int)threadIdx.x");
    else {
        rd_text_add(&row, "(int)((int64_t)RD_QUOTIENT((uint64_t)work, ");
        rd_print_number(&t->print, &row, r->items);
        rd_text_add(&row, ") - top%" PRId32 ")", k);
    }
    add_begin(t, &line, r);
    if (rd_cuda_is_contiguous(r))
        rd_text_add(&line, " + skew%" PRId32, k);
    if (r->step < 0)
        rd_text_add(&line, " + (many%" PRId32 " - 1 - %s)", k, row.at ? row.at : "");
    else
        rd_text_add(&line, " + %s", row.at ? row.at : "");
    rd_text_add(&line, " * (int)");
    rd_print_number(&t->print, &line, r->pitch);
    rd_print_line(&t->print, "const int mine%" PRId32 " = %s;", r->array, line.at ? line.at : "");
    rd_text_end(&row, t->print.to);
    rd_text_end(&line, t->print.to);
}

/* Adds the beginning of the loop over the items of a block: the copies of rows in, a barrier,
 * and the test whether the thread has an item. first, here: the block's first item, and how many
 * it has.
 *
 *     for (int64_t first = q.head.first + (int64_t)blockIdx.x * RD_THREADS; ..; first += teams) {
 *         const int here = (int)RD_LESS(q.head.n_work - first, RD_THREADS);
 *         .. top0, many0, from0, skew0; rd_fill_rows<..>(..); ..
 *         __syncthreads();
 *         if ((int)threadIdx.x < here) {
 *             const int64_t work = first + threadIdx.x;
 *             const int mine0 = ..; */
void rd_cuda_begin_block(rd_cuda_text *t)
{
    const rd_cuda_strategy *s = t->s;

    rd_print_line(&t->print,
                  "for (int64_t first = q.head.first + (int64_t)blockIdx.x * RD_THREADS; "
                  "first < q.head.n_work; first += teams) {");
    t->print.indent++;
    rd_print_line(&t->print, "const int here = (int)RD_LESS(q.head.n_work - first, RD_THREADS);");
    for (int32_t k = 0; k < s->n_staged_row; k++)
        if (is_moved(&s->staged_row[k])) {
            declare_rows(t, k);
            declare_beginning(t, k);
        }
    copy_rows(t, RD_STAGED_IN);
    rd_print_line(&t->print, "__syncthreads();");
    rd_print_line(&t->print, "if ((int)threadIdx.x < here) {");
    t->print.indent++;
    rd_print_line(&t->print, "const int64_t work = first + threadIdx.x;");
    for (int32_t k = 0; k < s->n_staged_row; k++)
        if (is_array(s, k) && moved_in(s, k) >= 0)
            declare_mine(t, moved_in(s, k));
}

/* Adds the end of the loop over a block's items: "} __syncthreads(); rd_drain_rows<..>(..); }",
 * which copies rows out. No barrier follows: if the next items' rows share the array, each
 * thread fills only what it has itself written back (bank_layout.c). */
void rd_cuda_end_block(rd_cuda_text *t)
{
    t->print.indent--;
    rd_print_line(&t->print, "}");
    rd_print_line(&t->print, "__syncthreads();");
    copy_rows(t, RD_STAGED_OUT);
    t->print.indent--;
    rd_print_line(&t->print, "}");
}
