/* point_pair.c - the text of one pair of a result and a point: its indices, and its loads from
 * shared memory:
 *
 *     const rd_pack<float, 4> p9 = RD_TAKE_SHARED(float, 4, tile3, 1536 + (int)(i1 * 132 + ..));
 *     const int64_t i0 = RD_LESS(m0 + i, q.N[2]);
 *     const int64_t i2 = m6 + e;
 *     const float r1 = p9.e[e];
 *
 * m0 is a mark, the first result of a thread, and m6 the first point of a group.  A loop over items
 * with padded rounds has threads behind the last result, so that blocks of threads are whole. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Returns the name of an axis as text: "i1", or "m2" of a mark. The caller frees it. */
static rd_text text_of_axis(const rd_printing *n, int32_t axis)
{
    rd_text text = { 0 };

    rd_print_axis(n, &text, axis);
    return text;
}

/* ---- Indices --------------------------------------------------------------------------------- */
/* Returns the loop over items whose start mark a vector loop counts from, if it is padded: it has
 * items behind the last result, so that blocks of threads are whole. Else NULL. A mark is an axis
 * of the tree that a loop binds to the first index of its round. The loop's beginning must be that
 * mark alone, one term. */
static const rd_for *items_of(const rd_printing *n, int32_t stmt)
{
    const rd_for   *l    = rd_loop_of(n->t, stmt);
    const rd_linear from = l->from.part[0].at;
    const int32_t   mark = from.n == 1 ? n->t->term[from.first].axis : -1;
    const int32_t   by   = mark >= 0 ? rd_binder_of(n->t, stmt, mark) : -1;

    return by >= 0 && rd_loop_of(n->t, by)->kind == RD_FOR_ITEM &&
                   rd_loop_of(n->t, by)->padded_rounds
               ? rd_loop_of(n->t, by)
               : NULL;
}

/* True if the vector loop may have elements behind the last result, as the loop over items is
 * padded. Then its indices must be clamped. */
bool rd_is_clamped(const rd_printing *n, int32_t stmt)
{
    return items_of(n, stmt) != NULL;
}

/* Prints "const int64_t i0 = RD_LESS(m0 + i, N - 1);": elements behind the last one compute it
 * again, as they must not read past the end. m0 is the thread's first result. */
void rd_print_clamped_index(rd_printing *n, int32_t stmt)
{
    const rd_for   *items = items_of(n, stmt);
    const rd_linear to    = items->to.part[0].at;
    rd_text         start = text_of_axis(n, items->start_mark), last = { 0 };

    rd_print_number(n, &last, to.offset - 1);
    rd_print_line(n, "const int64_t i%" PRId32 " = RD_LESS(%s + i, %s);", items->axis, start.at,
                  last.at);
    rd_text_end(&start, n->to);
    rd_text_end(&last, n->to);
}

/* Prints "if (m0 + i < N)" before a store, as elements behind the last one are no results. m0 is
 * the thread's first result. */
void rd_print_if_result(rd_printing *n)
{
    const rd_for *items = items_of(n, n->thread_loop);
    rd_text       start = text_of_axis(n, items->start_mark), to = { 0 };

    rd_print_number(n, &to, items->to.part[0].at.offset);
    rd_print_line(n, "if (%s + i < %s)", start.at, to.at);
    rd_text_end(&start, n->to);
    rd_text_end(&to, n->to);
}

/* Prints the indices of a pair: that of the result, which is clamped to the last one, and "m6 + e"
 * of the point; m6 is the first point that the thread has at once. The jam begins at this mark, its
 * only term. */
void rd_print_pair_indices(rd_printing *n, int32_t stmt)
{
    const rd_for *jam   = rd_loop_of(n->t, n->jam);
    rd_text       start = text_of_axis(n, n->t->term[jam->from.part[0].at.first].axis);

    rd_print_clamped_index(n, stmt);
    rd_print_line(n, "const int64_t i%" PRId32 " = %s + e;", jam->axis, start.at);
    rd_text_end(&start, n->to);
}

/* ---- Rows of results ------------------------------------------------------------------------- */
/* Adds the number of the row in a thread's array of results: "(int)i1 * 2". A row has `width`
 * results, one for each of the thread; rows are numbered by the axes inside a pair. So the axis of
 * results, and marks (axes from n_axis on), do not count. coef counts results of the array, so it
 * is divided by `width`. */
static void add_row(rd_printing *n, rd_text *to, const rd_linear *at, int32_t width, int32_t loop)
{
    const rd_for *results   = rd_loop_of(n->t, loop);
    bool          has_terms = false;

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &n->t->term[at->first + k];

        if (term->axis == results->axis || term->axis >= n->t->p->n_axis)
            continue;
        rd_text_add(to, "%s(int)i%" PRId32, has_terms ? " + " : "", term->axis);
        if (term->coef != width)
            rd_text_add(to, " * %" PRId64, term->coef / width);
        has_terms = true;
    }
    rd_text_add(to, has_terms ? "" : "0");
}

/* Adds where a row of a thread's results begins in the array of all threads: "0 + ((i1) *
 * RD_THREADS + (int)threadIdx.x) * 4" for 4 results of a thread. `loop`: the loop over its
 * results. */
static void add_place_of_rows(rd_printing *n, rd_text *to, const rd_tree_array *a,
                              const rd_linear *at, int32_t loop)
{
    rd_text_add(to, "%" PRId64 " + ((", rd_first_of_tile(a));
    add_row(n, to, at, a->per_thread, loop);
    rd_text_add(to, ") * RD_THREADS + (int)threadIdx.x) * %" PRId32, a->per_thread);
}

/* Prints the copy of an element of a result to the thread's own part of the array: "tile3[0 +
 * ((i1) * RD_THREADS + (int)threadIdx.x) * 4 + i] = ((const float *)x0)[..];". No other thread
 * reads it, so no barrier is needed. */
void rd_print_store_result_row(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_array *a    = &n->t->store[s->store];
    rd_text              line = { 0 };

    rd_text_add(&line, "tile%" PRId32 "[", s->store);
    add_place_of_rows(n, &line, a, &s->at, n->thread_loop);
    rd_text_add(&line, " + i] = ");
    rd_print_element_of(n, &line, &n->t->let[s->x]);
    rd_print_line(n, "%s;", line.at);
    rd_text_end(&line, n->to);
}

/* ---- Loads of pairs -------------------------------------------------------------------------- */
/* True if the kernel goes over pairs and the statement loads from an array in shared memory. */
bool rd_is_tile_load(const rd_printing *n, int32_t stmt)
{
    const rd_tree_value *let = n->kernel->pairs ? rd_let_of(n->t, stmt) : NULL;

    return let && let->kind == RD_I_LOAD && let->store >= 0 &&
           n->t->store[let->store].storage == RD_IN_BLOCK;
}

/* Prints a vector load from shared memory before a loop over elements: "const rd_pack<float, 4>
 * p9 = RD_TAKE_SHARED(float, 4, tile3, ..);". It is of a thread's results (per_thread > 0;
 * `lane` is the loop over them), or of the points it has at once. n->at_first_element: positions
 * are those of the first point; n->spelled: numbers are constants. */
void rd_print_tile_vector_load(rd_printing *n, int32_t stmt, int32_t lane)
{
    const rd_tree_value *let  = rd_let_of(n->t, stmt);
    const rd_tree_array *a    = &n->t->store[let->store];
    const char          *type = rd_memory_type(let->type);
    const int32_t        pack = n->t->stmt[stmt].vector_width;
    rd_text              at   = { 0 };

    if (a->per_thread)
        add_place_of_rows(n, &at, a, &let->at, lane);
    else {
        n->at_first_element = n->spelled = true;
        rd_text_add(&at, "%" PRId64 " + (int)(", rd_first_of_tile(a));
        rd_print_linear(n, &at, &let->at);
        rd_text_add(&at, ")");
        n->at_first_element = n->spelled = false;
    }
    rd_print_line(n,
                  "const rd_pack<%s, %" PRId32 "> p%" PRId32 " = RD_TAKE_SHARED(%s, %" PRId32
                  ", tile%" PRId32 ", %s);",
                  type, pack, stmt, type, pack, let->store, at.at);
    rd_text_end(&at, n->to);
}

/* Prints one element of a vector that was loaded before: "const float r0 = p9.e[i];" of result i
 * (per_thread > 0), or "p9.e[e]" of point e. */
void rd_print_tile_load(rd_printing *n, int32_t stmt)
{
    const rd_tree_value *let     = rd_let_of(n->t, stmt);
    rd_text              element = { 0 }, value = { 0 };

    rd_text_add(&element, "p%" PRId32 ".e[%c]", stmt,
                n->t->store[let->store].per_thread ? 'i' : 'e');
    rd_add_from_memory(&value, let->type, element.at);
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(let->type),
                  n->t->stmt[stmt].value, value.at);
    rd_text_end(&element, n->to);
    rd_text_end(&value, n->to);
}
