/* table_lookups.c - finds loads that are lookups in a small table, and estimates their time.
 *
 * A gather takes two operations an element, however small its table is.  A table that fits into
 * a few vectors is kept in registers.  A permute then looks up as many elements as a vector has.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time. A load
 * or store with `slot` >= 0 is of the program's memory, others are of arrays of the tree. */
#include "kernels/loop/table_lookups.h"

/* Vectors that hold a table, at most. */
enum { MOST_VECTORS = 4 };

/* True if the value is made in a loop with unit stride over the axis, so that each element may have
 * another value. */
static bool is_of_element(const rd_schedule *t, int32_t value, int32_t axis)
{
    for (int32_t s = t->let[value].made_by; s >= 0; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis == axis &&
            rd_loop_of(t, s)->step == 1)
            return true;
    return false;
}

/* True if a position is a sum of axes alone, without values that are read at run time. */
static bool is_plain(const rd_schedule *t, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return true;
}

/* Returns the LOAD statement of a lookup's index, if neighbours along the axis load neighbours of
 * the program's memory (slot >= 0): one vector of indices is then one load.  -1: indices are
 * computed or lie apart. */
int32_t rd_load_of_index(const rd_schedule *t, int32_t index, int32_t axis)
{
    const int32_t        value = t->operand[t->let[index].first];
    const rd_tree_value *let   = &t->let[value];

    return let->kind == RD_I_LOAD && let->slot >= 0 && is_plain(t, &let->at) &&
                   rd_linear_coef(t, &let->at, axis) == 1 && is_of_element(t, value, axis)
               ? let->made_by
               : -1;
}

/* True if vectors have a permute (an instruction that picks elements of a register by indices) for
 * this type of table and of index. A table of bytes needs dense indices that are bytes; one of
 * 2-byte elements has none. */
static bool has_form(const rd_schedule *t, const rd_tree_value *let, const rd_lookup *l,
                     int32_t axis)
{
    const int size = rd_dtype_size(let->type);

    if (size == 1)
        return l->apart == 1 && t->let[l->index].from == RD_U8 &&
               rd_load_of_index(t, l->index, axis) >= 0;
    return size >= 4 && t->let[l->index].from != RD_BOOL;
}

/* True if the LOAD is from a small table: exactly one INDEX that changes along the axis counts in
 * its address, and the axis itself does not.  *found gets the index and the table. An INDEX's word
 * is the extent of its table, and its operand must change along the axis. slot >= 0: memory of the
 * program. */
bool rd_is_lookup(const rd_schedule *t, int32_t stmt, int32_t axis, rd_lookup *found)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    found->index = -1;
    if (!let || let->kind != RD_I_LOAD || let->slot < 0)
        return false;
    for (int32_t k = 0; k < let->at.n; k++) {
        const rd_linear_term *term = &t->term[let->at.first + k];

        if (term->axis == axis)
            return false;
        if (term->axis >= 0 || !is_of_element(t, term->value, axis))
            continue;
        if (found->index >= 0 || t->let[term->value].kind != RD_I_INDEX)
            return false;
        *found = (rd_lookup){ term->value, t->let[term->value].word.i64, term->coef };
    }
    return found->index >= 0 && found->extent > 0 && has_form(t, let, found, axis) &&
           is_of_element(t, t->operand[t->let[found->index].first], axis);
}

/* ---- Times ----------------------------------------------------------------------------------- */
/* Returns how many vectors the table fills, rounded up. */
static int64_t vectors_of(const rd_speeds *s, const rd_lookup *l, rd_dtype type)
{
    return (l->extent * rd_dtype_size(type) + s->vector - 1) / s->vector;
}

/* Returns the time of an element by a lookup in registers. A permute of two vectors is one
 * operation of AVX-512, and three of AVX2, which has none for 8 bytes. Two halves of a table need
 * a selection. Two more operations make positions of indices and compare them with the table's
 * ends. Bytes are looked up as halves of words, four times the work. A table whose elements lie
 * apart is copied first, once for a strip. */
double rd_lookup_ns(const rd_speeds *s, const rd_lookup *l, rd_dtype type)
{
    enum { STRIP = 64 };
    const int64_t vectors  = vectors_of(s, l, type);
    const int     size     = rd_dtype_size(type);
    const double  permutes = vectors == 1 ? 1 : (double)(vectors + 1) / 2 * 2 - 1;
    const double  each     = (s->vector < 64 ? 3 : 1) * (size == 1 ? 4 : 1);

    return (2 + each * permutes) * s->select_i32 / 2 * size / s->vector +
           (l->apart == 1 ? 0 : (double)l->extent * s->one_memory / STRIP);
}

/* Returns the time of an element by a gather: 0.8 of a scalar load and store, an estimate. */
double rd_gather_ns(const rd_speeds *s)
{
    static const double GATHERED = 0.8; /* of a load and a store */

    return GATHERED * s->one_memory;
}

/* True if a lookup is faster than a gather, and the vectors have the permutes for it: of 64 bytes
 * for bytes, of 32 for wider elements. */
bool rd_lookup_pays(const rd_speeds *s, const rd_lookup *l, rd_dtype type)
{
    const int least = rd_dtype_size(type) == 1 ? 64 : 32;

    return s->vector >= least && vectors_of(s, l, type) <= MOST_VECTORS &&
           rd_lookup_ns(s, l, type) < rd_gather_ns(s);
}
