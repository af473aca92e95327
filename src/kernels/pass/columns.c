/* columns.c - columns of short rows, which a strip of rows takes one after the other, are put side
 * by side before the first of them is taken:
 *
 *     serial i0 by 64, starts m0 {         serial i0 by 64, starts m0 {
 *       serial i1 to 10 {                    vector i0 from m0, by call {
 *         vector i0 from m0 {                  serial i1 to 10 {
 *           r0 = load s0[10*i0 + i1]             r9 = load s0[10*i0 + i1]
 *           .. } } }                             a5[64*i1 + i0 - m0] = r9 } }
 *                                            serial i1 to 10 {
 *                                              vector i0 from m0 {
 *                                                r0 = load a5[64*i1 + i0 - m0]
 *                                                .. } } }
 *
 * The text of such a loop turns squares in registers (print/transpose_calls.c), where compilers load one
 * element after the other. */
#include "kernels/loop/facts.h"
#include "kernels/pass/arrays.h"
#include "kernels/pass/pass.h"

/* Rows of fewer elements are interleaved planes, which compilers take apart by vectors; of 8 bytes
 * each element by itself is as fast there.  The columns of a strip stay in a second-level cache. */
enum { FEWEST = 5, FEWEST_WIDE = 8, MOST = 64, MOST_BYTES = 128 << 10 };

/* Statements: the loop over strips of rows, and in it the loops over columns and over rows. */
typedef struct taking {
    int32_t load, strips, across, vector;
} taking;

static bool is_mark(const rd_schedule *t, const rd_edge *edge, int32_t mark)
{
    const rd_linear *at = &edge->part[0].at;

    return mark >= 0 && edge->n == 1 && edge->part[0].by <= 1 && at->n == 1 && at->offset == 0 &&
           t->term[at->first].axis == mark && t->term[at->first].coef == 1;
}

/* The loop over strips, of which the vector loop has all rows; -1. */
static int32_t strips_around(const rd_schedule *t, int32_t vector)
{
    const rd_for *v = rd_loop_of(t, vector);

    for (int32_t s = t->stmt[vector].parent; s >= 0; s = t->stmt[s].parent) {
        const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

        if (loop && loop->axis == v->axis)
            return loop->strip >= 0 && loop->kind == RD_FOR_SERIAL &&
                           is_mark(t, &v->from, loop->start) && is_mark(t, &v->to, loop->stop)
                       ? s
                       : -1;
    }
    return -1;
}

/* All indices of a row, in rising order. */
static bool goes_across(const rd_schedule *t, int32_t stmt)
{
    const rd_for *l = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return l && l->kind == RD_FOR_SERIAL && l->step == 1 && l->extent >= FEWEST &&
           l->extent <= MOST && !l->backwards && l->from.n == 1 && l->from.part[0].by <= 1 &&
           l->from.part[0].at.n == 0 && l->from.part[0].at.offset == 0 && l->to.n == 1 &&
           l->to.part[0].by <= 1 && l->to.part[0].at.n == 0 && l->to.part[0].at.offset == l->extent;
}

/* Is an element as wide in memory as it is for the text, and do vectors turn so wide ones? */
static bool turns(rd_dtype type)
{
    return !rd_small_type(type) && !rd_dtype_is_half(type) && type != RD_BOOL &&
           rd_dtype_size(type) == rd_register_size(type);
}

/* Does nothing in the strip move the row but its index, and the column? */
static bool stands_still(const rd_schedule *t, const taking *c, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];
        const int32_t         by   = term->axis < 0 ? -1 : rd_binder_of(t, c->load, term->axis);

        if (term->axis < 0 ||
            (by >= 0 && by != c->vector && by != c->across && rd_stands_in(t, by, c->strips)))
            return false;
    }
    return true;
}

static bool find(const rd_schedule *t, int32_t load, taking *c)
{
    const rd_let *let = rd_let_of(t, load);
    int64_t       row;

    *c = (taking){ .load = load, .vector = t->stmt[load].parent };
    if (!let || let->kind != RD_I_LOAD || let->slot < 0 || !turns(let->type) ||
        !rd_is_vector(t, c->vector) || rd_is_by_call(t, c->vector) ||
        rd_loop_of(t, c->vector)->in_order || rd_loop_of(t, c->vector)->backwards ||
        rd_program_accesses(t->p, RD_I_STORE, let->slot))
        return false;
    c->across = t->stmt[c->vector].parent;
    c->strips = strips_around(t, c->vector);
    if (c->strips < 0 || !goes_across(t, c->across) || !rd_stands_in(t, c->across, c->strips))
        return false;
    row = rd_loop_of(t, c->across)->extent;
    if (rd_register_size(let->type) == 8 && row < FEWEST_WIDE)
        return false;
    return rd_linear_coef(t, &let->at, rd_loop_of(t, c->vector)->axis) == row &&
           rd_linear_coef(t, &let->at, rd_loop_of(t, c->across)->axis) == 1 &&
           row * rd_loop_of(t, c->strips)->step * rd_register_size(let->type) <= MOST_BYTES &&
           stands_still(t, c, &let->at);
}

/* The array, whose columns are as long as strips. */
static int32_t add_array(rd_schedule *t, const taking *c, rd_dtype type)
{
    const rd_store store = { .place  = RD_IN_LOCAL,
                             .type   = type,
                             .fold   = -1,
                             .extent = rd_loop_of(t, c->strips)->step *
                                       rd_loop_of(t, c->across)->extent };
    rd_stmt        array = rd_stmt_of(RD_S_ARRAY);

    array.store = rd_add_store(t, &store);
    rd_put_before(t, rd_add_stmt(t, &array), t->stmt[c->strips].first);
    return array.store;
}

static rd_linear place_of(rd_schedule *t, const taking *c)
{
    return rd_linear_plus_axis(t, rd_element_of(t, c->vector), rd_loop_of(t, c->strips)->step,
                               rd_loop_of(t, c->across)->axis);
}

/* The loops that fill the array, behind where it is declared. */
static void fill(rd_schedule *t, const taking *c, int32_t array, const rd_let *let)
{
    rd_for  rows = *rd_loop_of(t, c->vector), across = *rd_loop_of(t, c->across);
    rd_stmt store = rd_stmt_of(RD_S_STORE);
    int32_t outer, inner;

    rows.by_call = true;
    across.of    = -1;
    outer        = rd_add_loop(t, &rows);
    inner        = rd_add_loop(t, &across);
    if (t->failed)
        return;
    rd_put_behind(t, outer, t->stmt[c->strips].first);
    rd_append(t, outer, inner);
    store.store = array;
    store.type  = let->type;
    store.at    = place_of(t, c);
    store.x     = rd_add_value(t, inner, let);
    rd_append(t, inner, rd_add_stmt(t, &store));
}

/* All other loads of the same columns in the strip. */
static void read_all(rd_schedule *t, const taking *c, int32_t array, const rd_let *let)
{
    for (int32_t s = rd_next_stmt(t, c->strips, c->strips); s >= 0 && !t->failed;
         s         = rd_next_stmt(t, s, c->strips)) {
        taking  other;
        rd_let *own;

        if (!find(t, s, &other) || other.strips != c->strips)
            continue;
        own = &t->let[t->stmt[s].value];
        if (own->slot != let->slot || own->type != let->type ||
            !rd_linear_same(t, &own->at, &let->at))
            continue;
        const rd_linear at = place_of(t, &other);

        own        = &t->let[t->stmt[s].value];
        own->slot  = -1;
        own->store = array;
        own->at    = at;
    }
}

void rd_pass_columns(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            taking c;

            if (!find(t, s, &c))
                continue;
            const rd_let  let   = t->let[t->stmt[s].value];
            const int32_t array = add_array(t, &c, let.type);

            if (!t->failed)
                fill(t, &c, array, &let);
            if (!t->failed)
                read_all(t, &c, array, &let);
        }
}
