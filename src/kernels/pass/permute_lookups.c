/* permute_lookups.c - The pass permute_lookups looks up elements of small tables by permutes of
 * registers, in a vector loop of their own. The loop is one call, which also checks the indices.
 *
 *     vector i0 { r1 = load s0[i0]            vector i0, by call { r7 = load s0[i0]
 *                 r2 = index r1                                    r8 = index r7
 *                 r3 = load s1[r2]                                 r9 = load s1[r8]
 *                 .. r3 .. }                                       a4[i0 - m0] = r9 }
 *                                             vector i0 { r3 = load a4[i0 - m0]; .. r3 .. }
 *
 * It runs before `pack_strided`, which packs gathers, and before `scalar_expand`, which makes
 * arrays for computed indices.
 *
 * A permute is an instruction that picks elements of a register by a vector of indices.  An index
 * is a value that is checked against an extent; if it is out of range, the run ends.
 *
 * Fields. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of the
 * tree. */
#include "kernels/loop/facts.h"
#include "kernels/loop/table_lookups.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* The last loop by call (`call`, -1: none yet): the index by which it looks up (`of`), and the copy
 * of that index (`index`).  `load` is the load that the index is made from, and `copy` its copy;
 * -1: none. */
typedef struct lookup_loop {
    rd_schedule *t;
    rd_speeds    speeds;
    int32_t      call, of, index, load, copy;
} lookup_loop;

/* True if a statement of the loop before this one (-1: any statement) writes to the program's
 * memory. Only stores and sorts have a slot (array of it) and are no values. */
static bool has_store_before(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && s != stmt; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind != RD_S_LET && t->stmt[s].slot >= 0)
            return true;
    return false;
}

/* Returns the operand of the index in the loop by call. If the index comes from a load in this
 * loop, and nothing is written in it, that is a copy of the load, so that no array is needed; else
 * the value itself, which comes through an array. The copy is uncounted, as the original counts
 * the elements read. */
static int32_t operand_in_call(lookup_loop *q, int32_t loop, int32_t index)
{
    rd_schedule  *t    = q->t;
    const int32_t load = rd_load_of_index(t, index, rd_loop_of(t, loop)->axis);
    rd_tree_value let;

    q->load = q->copy = -1;
    if (load < 0 || t->stmt[load].parent != loop || has_store_before(t, loop, /*stmt=*/-1))
        return t->operand[t->let[index].first];
    let           = t->let[t->stmt[load].value];
    let.uncounted = true;
    q->load       = load;
    q->copy       = rd_add_value(t, q->call, &let);
    return q->copy;
}

/* Adds a copy of the checked index to the loop by call, and notes the original (of) and the copy
 * (index) in *q. */
static void add_index(lookup_loop *q, int32_t loop, int32_t index)
{
    rd_schedule  *t       = q->t;
    const int32_t operand = operand_in_call(q, loop, index);
    rd_tree_value let     = t->let[index];

    let.first = rd_add_operands(t, &operand, /*n=*/1);
    q->of     = index;
    q->index  = rd_add_value(t, q->call, &let);
}

/* True if both indices are of the same value, with the same extent (word) and type, so that they
 * select the same place. */
static bool is_same_index(const rd_schedule *t, int32_t a, int32_t b)
{
    const rd_tree_value *x = &t->let[a], *y = &t->let[b];

    return t->operand[x->first] == t->operand[y->first] && x->word.i64 == y->word.i64 &&
           x->from == y->from;
}

/* Returns the address with the copied index in place of the original: the term apart * l->index is
 * taken out, and apart * q->index put in. `apart`: distance of the table's elements in memory. */
static rd_linear lookup_position(lookup_loop *q, rd_linear at, const rd_lookup *l)
{
    at = rd_linear_plus_value(q->t, at, -l->apart, l->index);
    return rd_linear_plus_value(q->t, at, l->apart, q->index);
}

/* Moves the lookup into the loop by call (one call in the generated C), at the address with the
 * copied index. That loop stores the element into a new array, from which the loop behind loads
 * it. */
static void load_in_call(lookup_loop *q, int32_t stmt, const rd_lookup *l, int32_t behind)
{
    rd_schedule  *t     = q->t;
    const int32_t value = t->stmt[stmt].value;
    const int32_t store = rd_add_memory_before(t, q->call, t->let[value].type);
    rd_tree_value let   = t->let[value];

    let.at = lookup_position(q, let.at, l);
    rd_store_at_end(t, q->call, rd_add_value(t, q->call, &let), store);
    rd_replace_by_load(t, value, store, behind);
}

/* True if the statement makes a value that no statement reads, and was not removed before (it has
 * a parent). */
static bool is_unused(const rd_schedule *t, int32_t stmt)
{
    return !t->failed && t->stmt[stmt].kind == RD_S_LET && t->stmt[stmt].parent >= 0 &&
           rd_next_use(t, t->stmt[stmt].value, /*last=*/-1) < 0;
}

/* Removes the index if no statement reads it any more, and then its load. The copy of the load is
 * then counted as elements read, if the load was. */
static void remove_unused(lookup_loop *q, int32_t index)
{
    rd_schedule *t = q->t;

    if (!is_unused(t, t->let[index].made_by))
        return;
    rd_take_out(t, t->let[index].made_by);
    if (q->load < 0 || !is_unused(t, q->load))
        return;
    t->let[q->copy].uncounted = t->let[t->stmt[q->load].value].uncounted;
    rd_take_out(t, q->load);
}

/* Moves one lookup into the loop by call at hand, if that is of the same index; else into a new
 * one, which splits the loop. A store before the lookup also needs a new one, so that the lookup
 * stays behind the store. Returns the loop in which the load stands afterwards. */
static int32_t move_lookup(lookup_loop *q, int32_t loop, int32_t stmt, const rd_lookup *l)
{
    rd_schedule *t      = q->t;
    int32_t      behind = loop;

    if (q->call < 0 || !is_same_index(t, q->of, l->index) || has_store_before(t, loop, stmt)) {
        behind  = rd_split_vector(t, stmt, loop);
        q->call = rd_add_loop_behind(t, loop, /*by_call=*/true);
        add_index(q, loop, l->index);
    }
    load_in_call(q, stmt, l, behind);
    remove_unused(q, l->index);
    return behind;
}

/* Moves all lookups of a vector loop that take less time by permutes than by gathers. q->call is
 * the loop by call (one call in the generated C) that takes the next lookup, -1: none is made yet.
 */
static void move_lookups(lookup_loop *q, int32_t loop)
{
    rd_schedule  *t    = q->t;
    const int32_t axis = rd_loop_of(t, loop)->axis;
    rd_lookup     l;

    q->call = -1;
    for (int32_t s = t->stmt[loop].first, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        if (rd_is_lookup(t, s, axis, &l) &&
            rd_lookup_pays(&q->speeds, &l, t->let[t->stmt[s].value].type))
            loop = move_lookup(q, loop, s, &l);
    }
}

/* Removes vector loops without statements from a part of the program: all that they held has moved
 * to other loops. */
static void remove_empty_loops(rd_schedule *t, int32_t part)
{
    for (int32_t s = part, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, part);
        if (rd_is_vector(t, s) && t->stmt[s].first < 0)
            rd_take_out(t, s);
    }
}

/* The pass: moves lookups in small tables from each vector loop to loops that are one call and use
 * permutes of registers.  The loops by call and those that it has added (statements from `before`
 * on) stay; loops that end up empty are removed. */
void rd_pass_permute_lookups(rd_schedule *t, const rd_target *target)
{
    lookup_loop q = { .t = t, .speeds = rd_speeds_usual(target->vector) };

    for (int k = 0; k < RD_N_PARTS; k++) {
        const int32_t before = t->n_stmt;

        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (s < before && rd_is_vector(t, s) && !rd_loop_of(t, s)->by_call)
                move_lookups(&q, s);
        if (t->n_stmt > before)
            remove_empty_loops(t, t->part[k]);
    }
}
