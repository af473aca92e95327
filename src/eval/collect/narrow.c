/* narrow.c - stores small ints between loops in small types, and computes with them in those
 * types.
 *
 * Sums of ints are i64 and their means f64, however small: a stored sum of seven bytes takes
 * eight bytes.  If types and operations show that all values of an array are small whole numbers
 * (core/value_ranges.h), the array gets a type that holds them.  Sums, differences and extremes
 * of it are computed in small types, too; any other reader gets a cast to the old type.  No
 * value changes, because no such operation rounds or wraps in either type.
 *
 *    s = sum(bytes, 7 of them): i64     ->     s: u16, as 7 * 255 fits
 *
 * An array here is a value that is stored and read at other places.  A value is wanted if it is
 * an array or an array is computed from it: only such values are narrowed.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. An
 * operand in[k] of -1 is not there. */
#include "eval/collect/narrow.h"
#include <string.h>

/* The state of the pass. */
typedef struct narrowing {
    rd_graph *g;
    int32_t   n; /* number of values before the pass */
    rd_range
        *range; /* by value: its range; of floats only if all are whole numbers and none is -0.0 */
    rd_dtype *was;   /* by value: its type before */
    bool     *array; /* by value: it is stored and read at other places */
    bool     *wants; /* by value: it is an array, or one is made of it */
    bool     *fixed; /* by value: it keeps its type */
    int32_t  *back;  /* by value: its cast to the old type, -1 */
} narrowing;

/* True for floats of any size. */
static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* ---- Which values may change ----------------------------------------------------------------- */
/* True for maps with the same result in any type that holds all operands and the result. */
static bool is_of_any_type(const rd_value *v)
{
    if (v->kind != RD_VALUE_MAP)
        return false;
    switch (v->op) {
    case RD_OP_cast:
    case RD_OP_where:
    case RD_OP_add:
    case RD_OP_sub:
    case RD_OP_mul:
    case RD_OP_abs:
    case RD_OP_minimum:
    case RD_OP_maximum: return true;
    default: return false;
    }
}

/* True if value i may be computed in a smaller type: nothing fixes its type, its range is known,
 * it has 4 bytes or more, and its operation gives the same number in any type that holds it.
 * Sums must be plain, without weights, mask, groups or strict order (rd_is_plain_fold()). */
static bool may_change(const narrowing *c, int i)
{
    const rd_value *v = &c->g->value[i];

    return !c->fixed[i] && c->range[i].known && rd_dtype_size(v->type) >= 4 &&
           (is_of_any_type(v) ||
            (rd_is_plain_fold(c->g, v) && rd_reducer_adds_elements((rd_reducer_id)v->reducer)));
}

/* The first operand whose type follows the value's: operand 0 of a choice (where) is its
 * condition, a bool. */
static int first_operand(const rd_value *v)
{
    return v->kind == RD_VALUE_MAP && v->op == RD_OP_where ? 1 : 0;
}

/* The end of the operands whose type follows the value's: of a reduction only the elements, not
 * weights or masks. */
static int end_of_operands(const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE ? 1 : v->n_in;
}

/* Marks in c->wants the values worth narrowing: arrays that are stored and read at other places,
 * and what those are computed from. False: there are none. Users come before operands. c->array
 * marks such arrays. may_change() says whether the value's type may change at all. */
static bool find_wanted(narrowing *c)
{
    bool any = false;

    for (int i = 0; i < c->n; i++)
        if (c->g->value[i].kind == RD_VALUE_READ && c->g->value[i].target >= 0)
            c->array[c->g->value[i].target] = c->wants[c->g->value[i].target] = true;
    for (int i = c->n - 1; i >= 0; i--) {
        const rd_value *v = &c->g->value[i];

        c->wants[i] &= may_change(c, i);
        any |= c->wants[i];
        for (int k = first_operand(v); c->wants[i] && k < end_of_operands(v); k++)
            c->wants[v->in[k]] = true;
    }
    return any;
}

/* ---- Types ----------------------------------------------------------------------------------- */
/* True if this pass has given value i a smaller type. */
static bool has_changed(const narrowing *c, int i)
{
    return c->g->value[i].type != c->was[i];
}

/* Operand 0 of v as it was before this pass: values from number c->n on are casts that the pass
 * has added. */
static int first_in(const narrowing *c, const rd_value *v)
{
    return v->in[0] < c->n ? v->in[0] : c->g->value[v->in[0]].in[0];
}

/* True if a cast from value k to value i keeps each number: the range of k lies within that of
 * i. */
static bool is_same_number(const narrowing *c, int i, int k)
{
    return c->range[k].known && c->range[k].low >= c->range[i].low &&
           c->range[k].high <= c->range[i].high;
}

/* Follows casts that keep each number from value i back to what they cast; returns its number. A
 * cast that is stored or was narrowed itself is not looked through. has_changed(): it was
 * narrowed; is_same_number(): the cast keeps each number; first_in() is its operand. */
static int without_casts(const narrowing *c, int i)
{
    for (;;) {
        const rd_value *v = &c->g->value[i];

        if (v->kind != RD_VALUE_MAP || v->op != RD_OP_cast || rd_is_materialised_kind(v) ||
            has_changed(c, i) || !is_same_number(c, i, first_in(c, v)))
            return i;
        i = first_in(c, v);
    }
}

/* The narrowest int type that holds the numbers of value i and of its operands, so that it can be
 * computed in it; its own type if there is none. c->range are the ranges of values;
 * rd_range_either() holds both. */
static rd_dtype narrowest(const narrowing *c, int i)
{
    static const rd_dtype types[] = { RD_U8, RD_I8, RD_I16, RD_U16, RD_I32 };
    const rd_value       *v       = &c->g->value[i];
    rd_range              all     = c->range[i];

    for (int k = first_operand(v); k < end_of_operands(v); k++)
        all = rd_range_either(all, c->range[v->in[k]]);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (rd_range_fits(all, types[k]) && rd_dtype_size(types[k]) < rd_dtype_size(v->type))
            return types[k];
    return v->type;
}

/* True if all operands are constants, or ints of at most 32 bits, seen through casts. Converting
 * wider operands would take longer than the smaller type saves. without_casts() is what an
 * operand was cast from. */
static bool are_operands_narrow(const narrowing *c, int i)
{
    const rd_value *v = &c->g->value[i];

    for (int k = first_operand(v); k < end_of_operands(v); k++) {
        const rd_value *from = &c->g->value[without_casts(c, v->in[k])];

        if (from->kind != RD_VALUE_CONST && (is_float(from->type) || rd_dtype_size(from->type) > 4))
            return false;
    }
    return true;
}

/* True if an operand of value i, seen through casts, was narrowed. */
static bool reads_changed(const narrowing *c, int i)
{
    const rd_value *v = &c->g->value[i];

    for (int k = first_operand(v); k < end_of_operands(v); k++)
        if (has_changed(c, without_casts(c, v->in[k])))
            return true;
    return false;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Appends a cast of value i to the type; its number, -1: no memory. */
static int cast_of(narrowing *c, int i, rd_dtype type)
{
    const int made = rd_graph_add_copy(c->g, i, /*ops=*/1);

    if (made >= 0)
        c->g->value[made].type = type;
    return made;
}

/* Operand i in that type: itself, or what it was cast from, or a constant of the type, or a new
 * cast. Returns its number; -1: no memory. without_casts() is what it was cast from; a
 * constant's range is its value. */
static int operand_in(narrowing *c, int i, rd_dtype type)
{
    const int from = without_casts(c, i);

    if (c->g->value[from].type == type)
        return from;
    if (c->g->value[from].kind == RD_VALUE_CONST) {
        rd_value number = c->g->value[from];

        number.type      = type;
        number.value.i64 = c->range[from].low;
        return rd_graph_add(c->g, number);
    }
    return cast_of(c, from, type);
}

/* Value i in the type that it had before the pass: itself if it kept its type, else a cast that is
 * made once (c->back). Returns its number; -1: no memory, or i is -1, a missing operand. */
static int in_old_type(narrowing *c, int i)
{
    if (i < 0 || i >= c->n || !has_changed(c, i))
        return i;
    if (c->back[i] < 0)
        c->back[i] = cast_of(c, i, c->was[i]);
    return c->back[i];
}

/* Gives value i new operands `in`, in a list of its own, as values may share lists. False: no
 * memory, or `in` lacks an operand (-1) that it had. */
static bool set_operands(narrowing *c, int i, const int32_t *in)
{
    rd_value *v   = &c->g->value[i];
    int32_t  *own = rd_pool_get(c->g->pool, (size_t)v->n_in * sizeof *own);

    for (int k = 0; own && k < v->n_in; k++)
        if ((own[k] = in[k]) < 0 && v->in[k] >= 0)
            own = NULL;
    if (own)
        v->in = own;
    return own;
}

enum { MOST_IN = 4 };

/* Computes value i in a narrower type: the operands that its type follows are taken in that type,
 * others, such as a condition, in their old ones. False: no memory. A value of more operands
 * than MOST_IN stays as it is. */
static bool change_type(narrowing *c, int i, rd_dtype type)
{
    const rd_value v           = c->g->value[i];
    int32_t        in[MOST_IN] = { 0 };

    if (v.n_in > MOST_IN)
        return true;
    for (int k = 0; k < v.n_in; k++)
        in[k] = k >= first_operand(&v) && k < end_of_operands(&v) ? operand_in(c, v.in[k], type)
                                                                  : in_old_type(c, v.in[k]);
    if (!set_operands(c, i, in))
        return false;
    c->g->value[i].type = type;
    return true;
}

/* True for argmin and argmax, which return positions: these are the same in any type that holds
 * the numbers. */
static bool takes_any_type(const narrowing *c, const rd_value *v)
{
    return rd_is_plain_fold(c->g, v) && rd_reducer_places((rd_reducer_id)v->reducer);
}

/* Keeps the type of value i. Operands that were narrowed are cast back for it, unless any type
 * will do. False: no memory. in_old_type() is the operand cast back; v.in[k] < 0: no operand. */
static bool keep_type(narrowing *c, int i)
{
    const rd_value v   = c->g->value[i];
    const bool     any = takes_any_type(c, &v);
    bool           all = true;
    int32_t       *in  = v.n_in ? rd_pool_get(c->g->pool, (size_t)v.n_in * sizeof *in) : NULL;

    if (v.n_in && !in)
        return false;
    for (int k = 0; k < v.n_in; k++) {
        in[k] = any ? v.in[k] : in_old_type(c, v.in[k]);
        all &= in[k] >= 0 || v.in[k] < 0;
    }
    if (v.n_in)
        c->g->value[i].in = in;
    return all;
}

/* Narrows one value if that is allowed and useful; else keeps its type. A READ gets the type of
 * what it reads. A cast that is not stored is kept, as its readers look through it. False: no
 * memory. It is useful if an array is made of the value (wants), or an operand was narrowed
 * already, and if no operand has to be converted from a wide type. */
static bool narrow_value(narrowing *c, int i)
{
    const rd_value *v = &c->g->value[i];
    rd_dtype        type;

    if (v->kind == RD_VALUE_READ && v->target >= 0) { /* has the type of what it reads */
        c->g->value[i].type = c->g->value[v->target].type;
        return true;
    }
    if (!may_change(c, i) || !(c->wants[i] || reads_changed(c, i)) || !are_operands_narrow(c, i))
        return keep_type(c, i);
    /* a cast that is not stored: readers look through it to what it casts */
    if (v->kind == RD_VALUE_MAP && v->op == RD_OP_cast && !c->array[i])
        return keep_type(c, i);
    type = narrowest(c, i);
    return type == v->type ? keep_type(c, i) : change_type(c, i, type);
}

/* Allocates the tables of the pass; false: no memory. By value: `range` of its elements, `was`
 * its old type, `fixed` if its type stays, `back` the cast back, -1: none yet. */
static bool allocate_tables(narrowing *c, rd_graph *g)
{
    const size_t n = (size_t)g->n_value;

    c->g     = g;
    c->n     = g->n_value;
    c->range = rd_value_ranges(g);
    c->was   = rd_pool_get(g->pool, n * sizeof *c->was);
    c->array = rd_pool_get(g->pool, n * sizeof *c->array);
    c->wants = rd_pool_get(g->pool, n * sizeof *c->wants);
    c->fixed = rd_fixed_types(g);
    c->back  = rd_pool_get(g->pool, n * sizeof *c->back);
    if (!c->range || !c->was || !c->array || !c->wants || !c->fixed || !c->back)
        return false;
    memset(c->back, -1, n * sizeof *c->back);
    for (int i = 0; i < c->n; i++)
        c->was[i] = g->value[i].type;
    return true;
}

/* True if an array is read at other places.  Most graphs have none and skip the pass. */
static bool has_arrays(const rd_graph *g)
{
    for (int i = 0; i < g->n_value; i++)
        if (g->value[i].kind == RD_VALUE_READ && g->value[i].target >= 0)
            return true;
    return false;
}

/* Gives stored arrays of small whole numbers small types, and computes what they are made of in
 * such types, operands first. No number changes. False: no memory. find_wanted() marks the
 * arrays; without any nothing is done. */
bool rd_narrow_arrays(rd_graph *g)
{
    narrowing c = { 0 };

    if (!has_arrays(g))
        return true;
    if (!allocate_tables(&c, g))
        return false;
    if (!find_wanted(&c))
        return true;
    for (int i = 0; i < c.n; i++)
        if (!narrow_value(&c, i))
            return false;
    return rd_graph_sort_results(g);
}
