/* large_arrays.c - Tells which arrays are too large for the caches: results that are stored
 * non-temporally, and rows that are streamed.
 *
 * Fields. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of the
 * tree.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/caches.h"
#include "kernels/pass/strip_at.h"

/* Runs of fewer bytes are not stored past the caches, as they have two partial cache lines. */
enum { LEAST = 256 }; /* bytes */

/* Set by tests: arrays of so many bytes are large; 0: the sizes of caches decide. */
static int64_t forced;

/* For tests: sets the size from which arrays are large; 0: the sizes of the caches decide. */
void rd_force_large(int64_t bytes)
{
    forced = bytes;
}

/* Returns the size in bytes from which a result bypasses the caches when it is stored. */
double rd_nontemporal_bytes(void)
{
    return forced ? (double)forced : RD_STREAM_BYTES;
}

/* Returns the size in bytes up to which an array stays in the caches. */
double rd_cached_bytes(void)
{
    return forced ? (double)forced : RD_CACHED_BYTES;
}

/* True if a term of the position is a value (axis < 0): an index that is computed or read from
 * memory at run time. */
bool rd_is_data_dependent(const rd_schedule *t, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return true;
    return false;
}

/* Returns the bytes of all elements that the position reaches: the size of an element, times the
 * extents of its axes of the program. Marks (axes that passes added) and values count as 1. */
double rd_bytes_of_axes(const rd_schedule *t, const rd_linear *at, rd_dtype type)
{
    double bytes = rd_dtype_size(type);

    for (int32_t k = 0; k < at->n; k++) {
        const int32_t axis = t->term[at->first + k].axis;

        bytes *= axis >= 0 && axis < t->p->n_axis ? (double)t->p->axis_extent[axis] : 1;
    }
    return bytes;
}

/* ---- Stores ---------------------------------------------------------------------------------- */
/* True if a store bypasses the caches.  It writes neighbours along the axis to an array outside of
 * scratch (temporary memory of a task), at positions without data.  No load reads the array, runs
 * of neighbours have 256 bytes or more, and the whole array is larger than the caches. The array is
 * one of the program's (slot >= 0). rd_most_indices() is the most indices of an axis that a loop
 * visits at a time. */
bool rd_is_nontemporal_store(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    const rd_stmt *s = &t->stmt[stmt];

    return s->kind == RD_S_STORE && s->slot >= 0 && s->slot < t->p->first_scratch &&
           rd_linear_coef(t, &s->at, axis) == 1 &&
           rd_most_indices(t->p, axis) * rd_dtype_size(s->type) >= LEAST &&
           !rd_program_accesses(t->p, RD_I_LOAD, s->slot) && !rd_is_data_dependent(t, &s->at) &&
           rd_bytes_of_axes(t, &s->at, s->type) >= rd_nontemporal_bytes();
}

/* True if a statement of the region (loops that share strips) stores neighbours along its axis
 * past the caches. */
bool rd_has_nontemporal_store(const rd_strip_at *r)
{
    for (int32_t s = rd_next_stmt(r->t, r->top, r->top); s >= 0; s = rd_next_stmt(r->t, s, r->top))
        if (rd_is_nontemporal_store(r->t, s, r->axis))
            return true;
    return false;
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* Returns the bytes of all elements that a load reaches, along all axes that move its address,
 * also by way of clamped indices (rd_coef_at_places). */
static double bytes_of_load(const rd_schedule *t, const rd_tree_value *load)
{
    double bytes = rd_dtype_size(load->type);

    for (int32_t axis = 0; axis < t->p->n_axis; axis++) {
        int64_t coef;

        bytes *= rd_coef_at_places(t, &load->at, axis, &coef) && coef
                     ? (double)t->p->axis_extent[axis]
                     : 1;
    }
    return bytes;
}

/* True if a loop between the load and `loop` moves the load to other elements, so that a round of
 * `loop` reads more than one row. The axis of such a loop is neither the rows' (`axis`) nor that of
 * `loop`, and has a coefficient in the address. That coefficient also counts where clamped indices
 * pass it on (rd_coef_at_places). */
static bool is_moved_between(const rd_schedule *t, int32_t load, int32_t loop, int32_t axis)
{
    const rd_linear *at = &t->let[t->stmt[load].value].at;
    int64_t          coef;

    for (int32_t s = t->stmt[load].parent; s != loop; s = t->stmt[s].parent)
        if (rd_loop_of(t, s)->axis != axis && rd_loop_of(t, s)->axis != rd_loop_of(t, loop)->axis &&
            rd_coef_at_places(t, at, rd_loop_of(t, s)->axis, &coef) && coef)
            return true;
    return false;
}

/* True if the load reads neighbours along `axis` of a large array that the program does not store
 * to, and each round of `loop` reads another row of it.  Elements have 4 bytes or more. The array
 * is one of the program's (slot >= 0). */
bool rd_reads_large_rows(const rd_schedule *t, int32_t stmt, int32_t loop, int32_t axis)
{
    enum { FEWEST = 4 }; /* bytes of an element: jammed rows of narrower ones fill no vectors */
    const rd_tree_value *load = rd_let_of(t, stmt);
    int64_t              along, across;

    return load && load->kind == RD_I_LOAD && load->slot >= 0 &&
           rd_dtype_size(load->type) >= FEWEST && rd_coef_at_places(t, &load->at, axis, &along) &&
           along == 1 && rd_coef_at_places(t, &load->at, rd_loop_of(t, loop)->axis, &across) &&
           across && !rd_program_accesses(t->p, RD_I_STORE, load->slot) &&
           !is_moved_between(t, stmt, loop, axis) && bytes_of_load(t, load) > rd_cached_bytes();
}
