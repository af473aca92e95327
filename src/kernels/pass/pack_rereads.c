/* pack_rereads.c - The pass pack_rereads packs strided elements that all rounds of a loop read
 * again, such as coordinates of pairs, once before the loop.
 *
 *     serial i2 {                     serial i1 to 3 { vector i0 { a7[64*i1 + i0 - m0] = .. } }
 *       vector i0 {                   serial i2 {
 *         unroll i1 to 3 {              vector i0 {
 *           r4 = load s1[3*i0 + i1]       unroll i1 to 3 { r4 = load a7[64*i1 + i0 - m0] } } }
 *
 * Fields. A loop is `by_call` if the text runs it by one call of a function. A loop's `start_mark`
 * and `stop_mark` are its marks, axes bound to where its round begins and ends, -1: none. A loop's
 * `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* Packed elements have at most 28 KB, to stay in a first-level cache of 32 KB; before strips have a
 * length, 64 elements are reckoned for one. */
enum { MOST_BYTES = 28 << 10, STRIP = 64 };

/* The load at hand.  A strip is a range of indices that its vector loop visits. */
typedef struct reread_load {
    rd_schedule *t;
    int32_t      load, vector; /* statements: the LOAD, and the vector loop around it */
    int32_t      before;       /* the loop whose rounds all read the same elements, -1 */
    int32_t      at;           /* the statement before which elements are packed */
} reread_load;

/* True if each term of the address is the index of an axis of the program, no value (axis < 0) and
 * no mark. A loop must visit an axis other than the strip's as a whole (rd_most_indices: the most
 * indices that it visits at a time), as the packed array has all its indices. */
static bool is_plain(const rd_schedule *t, const rd_linear *at, int32_t strip)
{
    for (int32_t k = 0; k < at->n; k++) {
        const int32_t axis = t->term[at->first + k].axis;

        if (axis < 0 || axis >= t->p->n_axis ||
            (axis != strip && rd_most_indices(t->p, axis) != t->p->axis_extent[axis]))
            return false;
    }
    return true;
}

/* True if the load is strided along the axis (its factor is not 0 or 1), from memory of the program
 * (slot >= 0) that the program does not store to. Its position must follow from whole axes alone
 * (is_plain). */
static bool can_pack(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    const rd_tree_value *let = rd_let_of(t, stmt);
    const int64_t coef = let && let->kind == RD_I_LOAD ? rd_linear_coef(t, &let->at, axis) : 0;

    return coef != 0 && coef != 1 && let->slot >= 0 &&
           !rd_program_accesses(t->p, RD_I_STORE, let->slot) && is_plain(t, &let->at, axis);
}

/* Returns the loop record of a statement; NULL: it is no loop. */
static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* Returns the bytes of a packed element. Small ints and bools stay as in memory, so that more of
 * them fit the cache and a vector; others have the size of registers. */
static int bytes_of(rd_dtype type)
{
    return rd_small_type(type) ? rd_dtype_size(type) : rd_register_size(type);
}

/* True if a term of the position is a value (axis < 0) that is made in the loop. */
static bool is_made_in(const rd_schedule *t, int32_t loop, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term  = &t->term[at->first + k];
        const int32_t         maker = term->axis < 0 ? t->let[term->value].made_by : -1;

        if (maker >= 0 && rd_stands_in(t, maker, loop))
            return true;
    }
    return false;
}

/* True if the loop makes a value in a bound of the vector loop, so that packing cannot stand
 * before it. Strips that were split at seams (pass seam_split) have such bounds. */
static bool makes_bounds(const rd_schedule *t, int32_t loop, int32_t vector)
{
    const rd_for *const  l       = rd_loop_of(t, vector);
    const rd_edge *const bound[] = { &l->from, &l->to };

    for (int b = 0; b < 2; b++)
        for (int32_t k = 0; k < bound[b]->n; k++)
            if (is_made_in(t, loop, &bound[b]->part[k].at) ||
                is_made_in(t, loop, &bound[b]->part[k].base))
                return true;
    return false;
}

/* Returns the outermost loop that does not move the address, so that all its rounds read the same
 * elements; loops inside it may move it. -1: there is none, or the packed elements would exceed
 * the cache. A loop over strips or chunks of the axis (strip >= 0, or a mark) ends the search, and
 * so does one that makes the bounds of the vector loop. */
static int32_t rereading_loop(const rd_schedule *t, int32_t stmt, int32_t vector)
{
    const rd_tree_value *let   = &t->let[t->stmt[stmt].value];
    const int32_t        axis  = rd_loop_of(t, vector)->axis;
    int64_t              bytes = STRIP * (int64_t)bytes_of(let->type);
    int32_t              found = -1;

    for (int32_t s = t->stmt[stmt].parent; s >= 0; s = t->stmt[s].parent) {
        const rd_for *loop = loop_at(t, s);

        if (loop && s != vector && makes_bounds(t, s, vector))
            break;
        if (!loop || loop->axis == axis) {
            /* the search ends at an IF or a part, too */
            if (!loop || loop->strips_number >= 0 ||
                loop->start_mark >= 0) /* over strips, or over chunks */
                break;
            continue;
        }
        if (rd_linear_coef(t, &let->at, loop->axis) == 0)
            found = s;
        else if (loop->step != 1 || found >= 0 || (bytes *= loop->extent) > MOST_BYTES)
            break;
    }
    return found;
}

/* Returns the statement before which elements are packed: the loop whose rounds reread them; or
 * the vector loop, if that loop stands directly in it, as it will be unrolled there. -1: it stands
 * deeper, where another loop may change the address. */
static int32_t insertion_point(const rd_schedule *t, int32_t loop, int32_t vector)
{
    if (!rd_stands_in(t, loop, vector))
        return loop;
    return t->stmt[loop].parent == vector ? vector : -1;
}

/* Returns the position of an element in the array: its number in the strip + index of a loop *
 * elements so far, for each loop that moves the address. Fills loop[0..*n) with these loops,
 * innermost first, and *elements with the size of the array. A strip (a range that vector loops
 * visit) has room for whole vectors: a multiple of 16. */
static rd_linear packed_position(const reread_load *r, int32_t *loop, int32_t *n, int64_t *elements)
{
    rd_schedule        *t        = r->t;
    const rd_tree_value let      = t->let[t->stmt[r->load].value];
    rd_linear           position = rd_strip_element(t, r->vector);

    *n        = 0;
    *elements = (rd_loop_of(t, r->vector)->extent + 15) / 16 * 16;
    for (int32_t s = t->stmt[r->load].parent; s != r->before; s = t->stmt[s].parent) {
        const rd_for *l = loop_at(t, s);

        if (!l || s == r->vector || rd_linear_coef(t, &let.at, l->axis) == 0)
            continue;
        position     = rd_linear_plus_axis(t, position, *elements, l->axis);
        loop[(*n)++] = s;
        *elements *= l->extent;
    }
    return position;
}

/* Adds to the loop the load *let, and a STORE of it into array `store` at position `at`. */
static void store_value(rd_schedule *t, int32_t loop, const rd_tree_value *let, int32_t store,
                        rd_linear at)
{
    rd_stmt stmt = rd_stmt_of(RD_S_STORE);

    stmt.store = store;
    stmt.type  = let->type;
    stmt.at    = at;
    stmt.x     = rd_add_value(t, loop, let);
    rd_append(t, loop, rd_add_stmt(t, &stmt));
}

/* Adds "serial i1 { vector i0 { r9 = load ..; a7[..] = r9 } }" at the insertion point, with the n
 * loops of packed_position() around. The vector loop is plain: not by call (one call in the
 * generated C), in any order. The new load is not counted as elements read (uncounted), as the old
 * one still is. */
static void add_loops(reread_load *r, const int32_t *loop, int32_t n, int32_t store,
                      rd_linear position)
{
    rd_schedule  *t     = r->t;
    rd_for        inner = *rd_loop_of(t, r->vector);
    int32_t       top;
    rd_tree_value let = t->let[t->stmt[r->load].value];

    inner.by_call = inner.in_order = false;
    let.uncounted                  = true;
    top                            = rd_add_loop(t, &inner);
    if (t->failed)
        return;
    store_value(t, top, &let, store, position);
    for (int32_t k = 0; k < n; k++) {
        rd_for  around = *rd_loop_of(t, loop[k]);
        int32_t made;

        around.kind = RD_FOR_SERIAL;
        made        = rd_add_loop(t, &around);
        rd_append(t, made, top);
        top = made;
    }
    rd_put_before(t, top, r->at);
}

/* Declares the array, adds the loops that pack the elements into it, and makes the load read the
 * array.  An array of small ints or bools (rd_small_type) has elements as in memory, others as in
 * registers. */
static void pack_elements(reread_load *r)
{
    enum { MOST_LOOPS = 64 };
    rd_schedule   *t = r->t;
    int32_t        loop[MOST_LOOPS], n;
    int64_t        elements;
    rd_linear      position = packed_position(r, loop, &n, &elements);
    rd_tree_array  store    = { .storage = RD_IN_LOCAL, .fold = -1, .extent = elements };
    rd_stmt        array    = rd_stmt_of(RD_S_ARRAY);
    rd_tree_value *let;
    int32_t        made;

    store.type   = t->let[t->stmt[r->load].value].type;
    store.memory = rd_small_type(store.type) != NULL;
    array.store = made = rd_add_store(t, &store);
    rd_put_before(t, rd_add_stmt(t, &array), r->at);
    add_loops(r, loop, n, made, position);
    if (t->failed)
        return;
    let        = &t->let[t->stmt[r->load].value];
    let->slot  = -1;
    let->store = made;
    let->at    = position;
}

/* The pass: strided loads in a vector loop, which all rounds of a loop around it repeat, read an
 * array that is packed once before that loop.  before < 0: there is no such loop; at < 0: no place
 * for the packing. */
void rd_pass_pack_rereads(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            reread_load r = { .t = t, .load = s, .vector = rd_vector_around(t, s) };

            if (r.vector < 0 || rd_loop_of(t, r.vector)->by_call ||
                !can_pack(t, s, rd_loop_of(t, r.vector)->axis))
                continue;
            r.before = rereading_loop(t, s, r.vector);
            r.at     = r.before >= 0 ? insertion_point(t, r.before, r.vector) : -1;
            if (r.at >= 0)
                pack_elements(&r);
        }
}
