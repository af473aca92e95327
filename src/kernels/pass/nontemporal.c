/* nontemporal.c - The pass nontemporal stores large results with non-temporal stores, which
 * bypass the caches. A plain store would first read the cache line, a third of the traffic of x
 * + y.
 *
 *     vector i0 { .. s1[i0] = r5 }      vector i0 { .. a7[i0 - m0] = r5 }
 *                                       vector i0, past the caches {
 *                                         r9 = load a7[i0 - m0]; s1[i0] = r9 }
 *
 * Strips without fixed length are aligned to the cache lines of the result.
 *
 * Fields. A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"
#include "kernels/pass/strip_at.h"
#include "kernels/pass/substrips.h"

/* True if the statement is a vector loop of known extent that computes: it is written out, not one
 * call, and does not itself copy with non-temporal stores (which bypass the caches). */
static bool is_plain_vector(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_VECTOR && !loop->by_call && !loop->nontemporal &&
           loop->extent > 0;
}

/* Adds a loop behind the given one, over the same strip (a range that vector loops visit), that
 * copies the array to where the old STORE `to` wrote, with non-temporal stores. Returns its STORE,
 * a copy of the old one. */
static int32_t add_copying_loop(rd_schedule *t, int32_t loop, int32_t store, rd_stmt to)
{
    const int32_t copying = rd_add_loop_behind(t, loop, /*by_call=*/false);

    if (t->failed)
        return 0;
    t->loop[t->stmt[copying].arg].nontemporal = true;
    to.x                                      = rd_load_at_end(t, copying, store);
    store                                     = rd_add_stmt(t, &to);
    rd_append(t, copying, store);
    return store;
}

/* Redirects a store into a new array with an element for each index of the strip (slot -1: not the
 * program's memory), and adds the copying loop. Strips without a fixed length are made to begin at
 * cache lines of the result (align_to), if the vector loop stands directly in their loop and no
 * other store has aligned them: non-temporal stores want whole lines. `strip` is the loop over
 * strips around the vector loop; rd_strip_element() is the element's number in the strip. */
static void convert_store(rd_schedule *t, int32_t loop, int32_t stmt, const rd_strip *r)
{
    const rd_stmt to    = t->stmt[stmt];
    const int32_t store = rd_add_memory_before(t, loop, to.type), strip = rd_strips_around(t, loop);
    const int32_t copy = add_copying_loop(t, loop, store, to);

    if (t->failed)
        return;
    t->stmt[stmt].slot  = -1;
    t->stmt[stmt].store = store;
    t->stmt[stmt].at    = rd_strip_element(t, loop);
    if (!r->fixed && !r->around && !t->loop[t->stmt[strip].arg].substrip &&
        t->stmt[loop].parent == strip && !t->loop[t->stmt[strip].arg].align_to)
        t->loop[t->stmt[strip].arg].align_to = copy;
}

/* Makes all stores of large results in a vector loop bypass the caches. Loops of more than 512
 * elements are split into substrips (parts of a strip) first, so that the array between stays in
 * the first-level cache. */
static void convert_stores(rd_schedule *t, int32_t loop, const rd_strip *r)
{
    for (int32_t s = t->stmt[loop].first, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        if (!rd_is_nontemporal_store(t, s, r->axis))
            continue;
        if (rd_loop_of(t, loop)->extent > RD_SUBSTRIP)
            rd_put_substrips_around(t, loop, loop, RD_SUBSTRIP);
        convert_store(t, loop, s, r);
    }
}

/* The pass: visits all plain vector loops in strips, and lets their stores of large results bypass
 * the caches.  Statements from n on are those that the pass has added. */
void rd_pass_nontemporal(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t strip = s < n && is_plain_vector(t, s) ? rd_strips_around(t, s) : -1;

            if (strip >= 0)
                convert_stores(t, s, &target->strips->at[rd_loop_of(t, strip)->strips_number]);
        }
}
