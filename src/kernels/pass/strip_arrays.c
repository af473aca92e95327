/* strip_arrays.c - Local arrays with one element for each index of a strip (scalar expansion).
 *
 * Fields. A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/strip_arrays.h"

/* Returns the number of an element in the strip: i0 - m0, index minus the lower bound m0 of its
 * vector loop. */
rd_linear rd_strip_element(rd_schedule *t, int32_t loop)
{
    const rd_for *l = rd_loop_of(t, loop);

    return rd_linear_plus(t, rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, l->axis),
                          /*coef=*/-1, l->from.part[0].at);
}

/* Returns the extent of the array: that of the loop, rounded up to a multiple of 16, as functions
 * of arrays process whole vectors. */
static int64_t padded_extent(const rd_for *loop)
{
    enum { MOST = 16 };

    return (loop->extent + MOST - 1) / MOST * MOST;
}

/* Declares a local array of elements (fold -1: of no states) before the loop, and returns its
 * number. `memory`: elements have the type that they have in the program's memory, else that of
 * registers. */
static int32_t add_array(rd_schedule *t, int32_t loop, rd_dtype type, bool memory)
{
    const rd_tree_array made  = { .storage = RD_IN_LOCAL,
                                  .type    = type,
                                  .memory  = memory,
                                  .fold    = -1,
                                  .extent  = padded_extent(rd_loop_of(t, loop)) };
    rd_stmt             array = rd_stmt_of(RD_S_ARRAY);

    array.store = rd_add_store(t, &made);
    rd_put_before(t, rd_add_stmt(t, &array), loop);
    return array.store;
}

/* Declares an array with an element for each index of the loop, before it; elements have the type
 * that they have in registers. Returns its number. */
int32_t rd_add_array_before(rd_schedule *t, int32_t loop, rd_dtype type)
{
    return add_array(t, loop, type, /*memory=*/false);
}

/* Does the same with elements as in the program's memory, where small ones take less room. */
int32_t rd_add_memory_before(rd_schedule *t, int32_t loop, rd_dtype type)
{
    return add_array(t, loop, type, /*memory=*/true);
}

/* Returns a STORE of the value at its position in the strip (a range that vector loops visit); the
 * statement stands nowhere yet. */
static int32_t store_of_value(rd_schedule *t, int32_t loop, int32_t value, int32_t store)
{
    rd_stmt stmt = rd_stmt_of(RD_S_STORE);

    stmt.store = store;
    stmt.type  = t->store[store].type;
    stmt.at    = rd_strip_element(t, loop);
    stmt.x     = value;
    return rd_add_stmt(t, &stmt);
}

/* Adds "a5[i0 - m0] = r3" at the end of the loop: a STORE of the value into the array, at the
 * element's number in the strip (a range that vector loops visit). */
void rd_store_at_end(rd_schedule *t, int32_t loop, int32_t value, int32_t store)
{
    rd_append(t, loop, store_of_value(t, loop, value, store));
}

/* Adds "a5[i0 - m0] = r3" right behind the statement that makes the value. */
void rd_store_behind(rd_schedule *t, int32_t loop, int32_t value, int32_t store)
{
    rd_put_behind(t, store_of_value(t, loop, value, store), t->let[value].made_by);
}

/* Returns a LOAD of the array's element with the number that the loop's index has in its strip (a
 * range that vector loops visit). */
static rd_tree_value load_of_element(rd_schedule *t, int32_t store, int32_t loop)
{
    return rd_load_of(t, store, rd_strip_element(t, loop));
}

/* Adds a LET like *let at the end of the loop, and returns the value that it makes. */
int32_t rd_add_value(rd_schedule *t, int32_t loop, const rd_tree_value *let)
{
    const int32_t made = rd_add_made(t, let);

    rd_append(t, loop, made);
    return t->stmt[made].value;
}

/* Adds "r9 = load a5[i0 - m0]" at the end of the loop, and returns r9. */
int32_t rd_load_at_end(rd_schedule *t, int32_t loop, int32_t store)
{
    const rd_tree_value let = load_of_element(t, store, loop);

    return rd_add_value(t, loop, &let);
}

/* Adds "r9 = load a5[i0 - m0]" at the start of `loop`, and returns r9. `of` is the loop whose
 * index and lower bound give the position: the same strip (a range that vector loops visit),
 * perhaps another loop. */
int32_t rd_load_at_start(rd_schedule *t, int32_t loop, int32_t store, int32_t of)
{
    const rd_tree_value let  = load_of_element(t, store, of);
    const int32_t       made = rd_add_made(t, &let);

    rd_put_before(t, made, t->stmt[loop].first);
    return t->stmt[made].value;
}

/* Makes the value "r3 = load a5[i0 - m0]" in place of what it was: it is now read from the array
 * (store), not from the program's memory (slot -1). The statement that makes it stays. */
void rd_replace_by_load(rd_schedule *t, int32_t value, int32_t store, int32_t loop)
{
    if (t->failed)
        return;
    t->let[value] = (rd_tree_value){ .kind    = RD_I_LOAD,
                                     .type    = t->let[value].type,
                                     .from    = t->let[value].type,
                                     .arg     = -1,
                                     .slot    = -1,
                                     .store   = store,
                                     .at      = rd_strip_element(t, loop),
                                     .made_by = t->let[value].made_by };
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns a new, empty loop like the given one; the statement stands nowhere yet. A loop by call
 * (one call in the generated C) may take its rounds in any order, so in_order is dropped. */
static int32_t loop_like(rd_schedule *t, int32_t loop, bool by_call)
{
    rd_for like = *rd_loop_of(t, loop);

    like.by_call = by_call;
    like.in_order &= !by_call;
    return rd_add_loop(t, &like);
}

/* Adds an empty vector loop over the same range behind the loop, and returns it. by_call: it is
 * one call in the generated C. */
int32_t rd_add_loop_behind(rd_schedule *t, int32_t loop, bool by_call)
{
    const int32_t made = loop_like(t, loop, by_call);

    rd_put_behind(t, made, loop);
    return made;
}

/* Moves the statement, and all behind it in its body, into a new vector loop behind `previous`,
 * over the same range.  Returns the new loop. */
int32_t rd_split_vector(rd_schedule *t, int32_t stmt, int32_t previous)
{
    const int32_t made = rd_add_loop_behind(t, previous, /*by_call=*/false);

    for (int32_t s = stmt, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        rd_take_out(t, s);
        rd_append(t, made, s);
    }
    return made;
}

/* Adds a loop before this one that computes the value for all elements of the strip (a range that
 * vector loops visit) into a new array, and makes the value a load from that array. The packing
 * loop may run in any order. by_call: it is one call in the generated C. */
void rd_pack_value(rd_schedule *t, int32_t loop, int32_t value, rd_dtype type, bool by_call)
{
    const int32_t       store = rd_add_array_before(t, loop, type);
    const rd_tree_value let   = t->let[value];
    const int32_t       made  = loop_like(t, loop, by_call);

    if (t->failed)
        return;
    t->loop[t->stmt[made].arg].in_order = false;
    rd_put_before(t, made, loop);
    rd_store_at_end(t, made, rd_add_value(t, made, &let), store);
    rd_replace_by_load(t, value, store, loop);
}

/* Does the same in an existing packing loop: adds the value's computation at its end, with a new
 * array, and makes the value a load from it in `loop`. */
void rd_pack_in_same_loop(rd_schedule *t, int32_t packing, int32_t loop, int32_t value)
{
    const rd_tree_value let   = t->let[value];
    const int32_t       store = rd_add_array_before(t, packing, let.type);

    if (t->failed)
        return;
    rd_store_at_end(t, packing, rd_add_value(t, packing, &let), store);
    rd_replace_by_load(t, value, store, loop);
}
