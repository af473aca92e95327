/* state_storage.c - The pass state_storage decides where the states of folds are (storage
 * class). If the fold begins and ends in one part of the program, they are in a local array.
 * Else they are in the task's state, which all parts see.
 *
 *     begin f0 a0 (task)        array a0 (local); begin f0 a0 */
#include "core/bytes.h"
#include "kernels/pass/pass.h"

/* Larger arrays than 48 KB are too much for a stack. */
enum { MOST_BYTES = 48 << 10 };

/* Returns the PART statement (head, body or tail of the program) in which a statement stands. */
static int32_t part_of(const rd_schedule *t, int32_t stmt)
{
    while (t->stmt[stmt].parent >= 0)
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* Returns the BEGIN of the fold, if all its statements are in one part of the program (head, body,
 * tail), or one task runs all parts (whole), so that a local array is seen by them all; else -1. */
static int32_t begin_of(const rd_schedule *t, int32_t fold)
{
    int32_t begin = -1, part = -1;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k])) {
            if (t->stmt[s].fold != fold)
                continue;
            if (part >= 0 && part != part_of(t, s) && !t->whole)
                return -1;
            part  = part_of(t, s);
            begin = t->stmt[s].kind == RD_S_BEGIN ? s : begin;
        }
    return begin;
}

/* Returns the bytes of all arrays of the fold's states (accumulators). A state has n_state numbers,
 * each in an array of its own. A scan of several blocks (runs of a fold's steps) also has the
 * states before the block (before). A scan of pairs hi + lo (pair) has one more array, and n_words
 * doubles. A scan by the tree has arrays for nodes of `levels` levels. of.bytes is the most bytes
 * of one number. rd_bytes_times() is a product that cannot overflow. */
static int64_t bytes_of(const rd_schedule *t, int32_t fold)
{
    const rd_loop_fold *f      = &t->fold[fold];
    const bool          before = f->blocks && f->emit.fold->scan, pair = before && f->hi_lo_sums;
    const int64_t       arrays = f->emit.n_state * (1 + before + f->levels) + pair;

    return rd_bytes_times(t->store[fold].extent,
                          arrays * f->emit.bytes + (pair ? f->n_words * INT64_C(8) : 0));
}

/* The pass: puts the states (accumulators) of a fold into a local array, declared before its
 * BEGIN, if they fit on the stack and no pass has put them elsewhere (RD_IN_TASK: still in the
 * task's state). begin < 0: the fold does not begin and end in one part of the program. */
void rd_pass_state_storage(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int32_t k = 0; k < t->p->n_fold && !t->failed; k++) {
        const int32_t begin = begin_of(t, k);
        rd_stmt       array = { .kind = RD_S_ARRAY };
        int32_t       made;

        if (begin < 0 || t->store[k].storage != RD_IN_TASK || bytes_of(t, k) > MOST_BYTES)
            continue;
        t->store[k].storage = RD_IN_LOCAL;
        array               = t->stmt[begin]; /* its fold and store */
        array.kind          = RD_S_ARRAY;
        made                = rd_add_stmt(t, &array);
        rd_put_before(t, made, begin);
    }
}
