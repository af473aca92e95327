/* bank_layout.c - where staged rows lie in shared memory (staged_rows.c).
 *
 * Rows are an odd number of words apart, so that the elements of a warp's threads are in
 * different banks. If rows are read for the last time just before other rows are stored, these
 * take over their array.  So a softmax has one array for its operand, its exponentials and its
 * results.
 *
 * A staged row is a short row of memory that a block of threads copies to shared memory, or
 * back.  Its pitch is the distance from one row to the next there, in elements.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/cuda/strategy.h"
#include <stdlib.h>

/* ---- Sizes ----------------------------------------------------------------------------------- */
/* Returns the elements from the beginning of a row of n elements to the next row in shared
 * memory.  That distance is an odd number of words (4 bytes, or an element if it is larger), so
 * that threads that each read their own row hit different banks. */
static int64_t pitch_of(rd_dtype type, int64_t n)
{
    const int64_t size = rd_dtype_size(type), word = size > 4 ? size : 4;
    const int64_t words = (n * size + word - 1) / word;

    return (words | 1) * word / size;
}

/* Returns the most rows that a block of threads stages in shared memory, one item for each
 * thread. A scratch row belongs to one thread. Other rows are shared by `items` neighbouring
 * items; a block that begins amid such a group touches one row more. */
int64_t rd_cuda_staged_rows_of_block(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    return r->role == RD_STAGED_SCRATCH ? s->choice.block
                                        : (s->choice.block + r->items - 2) / r->items + 1;
}

/* Returns the bytes of shared memory for the rows of a block of threads. Copies go by whole
 * vectors, which may begin before the first row and end behind the last one, each by less than a
 * vector: so there is room for two more. */
static int64_t bytes_of(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    return rd_cuda_room(rd_cuda_staged_rows_of_block(s, r) * r->pitch * rd_dtype_size(r->type) +
                        2 * s->choice.vector);
}

/* ---- Rows that share an array ---------------------------------------------------------------- */
/* Returns the address that a LOAD or STORE instruction uses. */
static const rd_address *address_of(const rd_cuda_strategy *s, int32_t inst)
{
    return &s->p->address[s->p->inst[inst].arg];
}

/* Returns the outermost loop around an instruction within the body of a work item, which begins
 * at instruction s->from; -1: no loop is around it. */
static int32_t outermost(const rd_cuda_strategy *s, int32_t inst)
{
    int32_t loop = s->p->inst[inst].loop, found = -1;

    for (; loop >= 0 && s->p->loop[loop].begin >= s->from; loop = s->p->loop[loop].parent)
        found = loop;
    return found;
}

/* True if two accesses in one loop touch the same element of their rows, and another element in
 * each round. The offsets from the rows' first elements agree, and so do the strides along all
 * loops around: those of a dense row, 1 for the innermost loop, then the product of the extents
 * inside. All rounds together cover the row. */
static bool is_same_element(const rd_cuda_strategy *s, int32_t a, int32_t b)
{
    const rd_cuda_staged_row *r = &s->staged_row[s->staged_row_of[a]],
                             *q = &s->staged_row[s->staged_row_of[b]];
    const rd_program *p         = s->p;
    int64_t           times     = 1;

    if (p->inst[a].loop != p->inst[b].loop ||
        address_of(s, a)->offset - r->first != address_of(s, b)->offset - q->first)
        return false;
    for (int32_t loop = p->inst[a].loop; loop >= 0 && p->loop[loop].begin >= s->from;
         loop         = p->loop[loop].parent) {
        const int64_t coef = rd_coef(address_of(s, a), p->loop[loop].axis);

        if (coef != rd_coef(address_of(s, b), p->loop[loop].axis) ||
            (llabs(coef) != times && p->loop[loop].extent > 1))
            return false;
        times *= p->loop[loop].extent;
    }
    return times == r->n;
}

/* Returns the first access to staged rows k, if it is a STORE in a loop; else -1. Such rows are
 * written before they are read, so they may reuse the shared memory of other rows. */
static int32_t first_store(const rd_cuda_strategy *s, int32_t k)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->staged_row_of[i] == k)
            return s->p->inst[i].kind == RD_I_STORE && outermost(s, i) >= 0 ? i : -1;
    return -1;
}

/* True if the rows in a shared array are dead from the loop of instruction `store` on: nothing
 * after its beginning uses them. Accesses before `store` in that loop are allowed if they touch
 * the same element, as the store then overwrites what has just been read. */
static bool is_unused_from(const rd_cuda_strategy *s, int32_t array, int32_t store)
{
    const int32_t begin = s->p->loop[outermost(s, store)].begin;
    bool          dead  = true;

    for (int32_t i = s->from; i < s->to; i++) {
        const int32_t k = s->staged_row_of[i];

        if (k >= 0 && s->staged_row[k].array == array && i > begin)
            dead &= i < store && is_same_element(s, i, store);
    }
    return dead;
}

/* True if staged rows k may take over a shared array. None of its rows is copied out later, and
 * all have the type and length of rows k and one row for each thread. Then each thread's row
 * lies where its earlier row lay, so no thread overwrites a row of another one. */
static bool can_share_array(const rd_cuda_strategy *s, int32_t array, int32_t k)
{
    const rd_cuda_staged_row *r = &s->staged_row[k];

    for (int32_t j = 0; j < s->n_staged_row; j++) {
        const rd_cuda_staged_row *q = &s->staged_row[j];

        if (q->array != array || j == k) /* other rows do not lie in that array */
            continue;
        if (q->role == RD_STAGED_OUT || q->type != r->type || q->n != r->n || q->items != 1)
            return false;
        /* Copied in and copied out: both must be equally far from the start of a vector. */
        if (q->role == RD_STAGED_IN && r->role == RD_STAGED_OUT &&
            (q->step != r->step || (q->first - r->first) % rd_cuda_staged_row_vector(s, r) != 0))
            return false;
    }
    return true;
}

/* Returns the number of the shared array for staged rows k: that of rows which are dead before k
 * is first stored; else k, an array of their own. */
static int32_t array_of(const rd_cuda_strategy *s, int32_t k)
{
    const int32_t store = first_store(s, k);

    for (int32_t array = 0; store >= 0 && array < s->n_staged_row; array++)
        if (array != k && s->staged_row[array].array == array && can_share_array(s, array, k) &&
            is_unused_from(s, array, store))
            return array;
    return k;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Places all staged rows (short rows of memory that a block of threads copies) in shared memory.
 * Rows first get arrays: one of their own, or, in the order of their first store, that of rows
 * which are no longer used. Then the arrays are laid out one behind the other. */
void rd_cuda_lay_out_staged_rows(rd_cuda_strategy *s)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < s->n_staged_row; k++) {
        s->staged_row[k].array = k;
        s->staged_row[k].pitch = pitch_of(s->staged_row[k].type, s->staged_row[k].n);
    }
    for (int32_t i = s->from; i < s->to; i++) /* in the order in which they begin */
        if (s->staged_row_of[i] >= 0 && first_store(s, s->staged_row_of[i]) == i)
            s->staged_row[s->staged_row_of[i]].array = array_of(s, s->staged_row_of[i]);
    for (int32_t k = 0; k < s->n_staged_row; k++)
        if (s->staged_row[k].array == k) {
            s->staged_row[k].at = bytes;
            bytes += bytes_of(s, &s->staged_row[k]);
        }
    for (int32_t k = 0; k < s->n_staged_row; k++)
        s->staged_row[k].at = s->staged_row[s->staged_row[k].array].at;
    s->staged_row_bytes = bytes;
}
