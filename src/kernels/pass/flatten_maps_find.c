/* flatten_maps_find.c - Finds maps of a few interleaved columns that can be flattened: see
 * flatten_maps.c.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where
 * its round begins and ends, -1: none. A term of a position with `axis` -1 is a value, an index
 * that is read at run time.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A slot
 * is a buffer that a program reads or writes. A loop by call is one call of a function in the
 * text. */
#include "kernels/pass/flatten_maps.h"
#include "kernels/loop/facts.h"
#include <stdlib.h>

/* Repeated values of a strip have at most so many bytes, to stay in the first-level cache. */
enum { MOST_BYTES = 16 << 10 };

/* ---- Which loops ----------------------------------------------------------------------------- */
/* Returns the loop record of a statement; NULL if it is no loop, or no statement (-1). */
static const rd_for *loop_at(const rd_schedule *t, int32_t stmt)
{
    return stmt >= 0 && t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
}

/* True if the statement is a loop over all of a few columns: upwards from 0, by single indices (no
 * marks), over an axis of the program with at most 16 indices. Its lower bound is the constant 0:
 * one part (n), not rounded to a multiple (by), without terms. */
static bool is_over_columns(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = loop_at(t, stmt);

    return loop && loop->step == 1 && loop->extent > 1 && loop->extent <= RD_FLAT_COLUMNS &&
           !loop->backwards && loop->start_mark < 0 && rd_is_number(&loop->from, 0) &&
           loop->axis < t->p->n_axis && t->p->axis_extent[loop->axis] == loop->extent;
}

/* True if the statement is a vector loop that is written out (not by call) and whose rounds may
 * come in any order. */
static bool is_plain_vector(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = loop_at(t, stmt);

    return loop && loop->kind == RD_FOR_VECTOR && !loop->by_call && !loop->in_order;
}

/* For a vector loop over rows: true if it holds an unrolled loop over columns, and nothing else.
 * Fills in the three loops of *c; `strips`, the loop around, is tested later. */
static bool find_columns_inside(rd_flattening *c, int32_t stmt)
{
    const rd_schedule *t = c->t;

    c->vector = stmt;
    c->across = t->stmt[stmt].first;
    c->strips = t->stmt[stmt].parent;
    return c->across == t->stmt[stmt].last && is_over_columns(t, c->across) &&
           rd_loop_of(t, c->across)->kind == RD_FOR_UNROLL;
}

/* True if the statement is a loop over strips (strip >= 0), not over parts of one (substrips). */
static bool is_over_strips(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = loop_at(t, stmt);

    return loop && loop->strips_number >= 0 && !loop->substrip;
}

/* For a loop over columns around a loop over strips: true if strips hold only the vector loop, and
 * have the same bounds for each column, so that the two loops can be interchanged. */
static bool has_only_strips(const rd_flattening *c)
{
    const rd_schedule *t = c->t;

    return t->stmt[c->strips].first == c->vector && t->stmt[c->strips].last == c->vector &&
           rd_loop_of(t, c->strips)->kind == RD_FOR_SERIAL &&
           !rd_edges_vary(t, c->across, c->strips);
}

/* For a loop around: true if the statement is a serial loop over columns that ends with a vector
 * loop over rows, or with a loop over strips (ranges that vector loops visit) that holds one.
 * Fills in the three loops of *c; `around`: the loop over strips stands inside the loop over
 * columns. */
static bool find_columns_outside(rd_flattening *c, int32_t stmt)
{
    const rd_schedule *t = c->t;

    c->across = stmt;
    c->vector = t->stmt[stmt].last;
    c->strips = t->stmt[stmt].parent;
    if (!is_over_columns(t, stmt) || rd_loop_of(t, stmt)->kind != RD_FOR_SERIAL)
        return false;
    c->around = is_over_strips(t, c->vector);
    if (c->around) {
        c->strips = c->vector;
        c->vector = t->stmt[c->strips].last;
    }
    return is_plain_vector(t, c->vector) && (!c->around || has_only_strips(c));
}

/* Fills *c.  True if the loops go over a few columns and over whole strips of the same rows.  The
 * generated C knows a strip's length (`fixed`), the last strip is not padded, and a strip begins
 * where its loop's mark (axis bound to an end of a round) says. A strip's first row must have
 * coefficient 1 in the vector loop's bound. Each bound of the vector loop is one position (n == 1),
 * not rounded to a multiple (by <= 1). */
static bool find_column_loops(rd_flattening *c, const rd_strips *strips, int32_t stmt)
{
    const rd_schedule *t = c->t;
    const rd_for      *over, *rows;

    c->around = false;
    c->inside = is_plain_vector(t, stmt);
    if (!(c->inside ? find_columns_inside : find_columns_outside)(c, stmt) ||
        !is_over_strips(t, c->strips))
        return false;
    over      = rd_loop_of(t, c->strips); /* over strips */
    rows      = rd_loop_of(t, c->vector);
    c->r      = &strips->at[over->strips_number];
    c->row    = rows->axis;
    c->column = rd_loop_of(t, c->across)->axis;
    c->n      = rd_loop_of(t, c->across)->extent;
    return over->axis == c->row && c->row != c->column && rows->extent == c->r->width &&
           c->r->fixed && !c->r->padded && rd_is_position(&rows->from) &&
           rd_is_position(&rows->to) &&
           rd_linear_coef(t, &rows->from.part[0].at, over->start_mark) == 1;
}

/* ---- Which statements ------------------------------------------------------------------------ */
/* True if the position depends on axes alone; a term with axis < 0 is a value, which memory holds.
 */
static bool has_no_values(const rd_flattening *c, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++)
        if (c->t->term[at->first + k].axis < 0)
            return false;
    return true;
}

/* True if columns are adjacent in memory, and the next row begins n elements further, without a
 * gap. */
static bool is_contiguous(const rd_flattening *c, const rd_linear *at)
{
    return has_no_values(c, at) && rd_linear_coef(c->t, at, c->column) == 1 &&
           rd_linear_coef(c->t, at, c->row) == c->n;
}

/* True if a row of the load (all columns) is contiguous, but gaps lie between rows. Then rows are
 * packed, so the program must not store to that memory. A row has at most 32 bytes, a vector. */
bool rd_has_grouped_rows(const rd_flattening *c, const rd_tree_value *let)
{
    enum { MOST_GROUP = 32 }; /* bytes */

    return has_no_values(c, &let->at) && rd_linear_coef(c->t, &let->at, c->column) == 1 &&
           rd_linear_coef(c->t, &let->at, c->row) > c->n &&
           c->n * rd_dtype_size(let->type) <= MOST_GROUP &&
           !rd_program_accesses(c->t->p, RD_I_STORE, let->slot);
}

/* True if the flat loop can compute a value that changes along the rows.  Loads are from the
 * program's memory (slot >= 0), not of f16, which strips convert. */
static bool can_flatten_value(const rd_flattening *c, const rd_tree_value *let)
{
    switch (let->kind) {
    case RD_I_LOAD:
        return let->slot >= 0 && let->type != RD_F16 &&
               (is_contiguous(c, &let->at) || rd_has_grouped_rows(c, let));
    case RD_I_CONST:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT: return true;
    default: return false;
    }
}

/* True if a value of a column can be made once before all strips (ranges that vector loops visit):
 * its kind cannot fail there, as a checked index or a user's function could. */
static bool can_move_to_column(const rd_tree_value *let)
{
    return let->kind == RD_I_LOAD || let->kind == RD_I_COORD || let->kind == RD_I_CONST ||
           let->kind == RD_I_MAP || let->kind == RD_I_CAST || let->kind == RD_I_SELECT;
}

/* True if the value is made in the loop over columns and does not change along the rows, so that
 * it is one number for each column. */
bool rd_is_of_column(const rd_flattening *c, int32_t value)
{
    const int32_t maker = c->t->let[value].made_by;

    return maker >= 0 && rd_stands_in(c->t, maker, c->across) && !c->varies[value];
}

/* True if the value is a load or a coordinate. Its position names the column's axis, which the
 * flat loop does not bind, so for a column it must stand in the loop over columns. */
static bool is_positional(const rd_tree_value *let)
{
    return let->kind == RD_I_LOAD || let->kind == RD_I_COORD;
}

/* True if the statement can stand in the flat loops. It records whether the value changes along
 * the rows (c->varies), and sets *stores at a STORE. A store must be contiguous, to the program's
 * memory. If loops are interchanged (c->around), columns are stored in another order, so the
 * program must not load that memory. */
static bool can_flatten_stmt(rd_flattening *c, int32_t stmt, bool *stores)
{
    const rd_schedule   *t   = c->t;
    const rd_stmt       *s   = &t->stmt[stmt];
    const rd_tree_value *let = rd_let_of(t, stmt);

    if (s->kind == RD_S_STORE) {
        *stores = true;
        return s->slot >= 0 && is_contiguous(c, &s->at) &&
               (!c->around || !rd_program_accesses(t->p, RD_I_LOAD, s->slot));
    }
    if (!let)
        return false;
    c->varies[s->value] = rd_let_varies(t, let, c->row, c->varies);
    if (c->varies[s->value])
        return can_flatten_value(c, let);
    return can_move_to_column(let) && (s->parent == c->across || !is_positional(let));
}

/* True if the loops read what another vector loop of the strip makes, such as a factor of each row.
 * It would have to be repeated for each column. inside: the loop over columns stands in the vector
 * loop, else around it. */
static bool has_operands_of_rows(const rd_flattening *c)
{
    const rd_schedule *t     = c->t;
    const int32_t      outer = c->inside ? c->vector : c->across; /* of rows and columns */

    for (int32_t value = 0; value < t->n_let; value++) {
        const int32_t maker = t->let[value].made_by;

        if (maker >= 0 && rd_vector_around(t, maker) >= 0 && !rd_stands_in(t, maker, outer) &&
            rd_is_read_in(t, value, outer))
            return true;
    }
    return false;
}

/* True if the loops hold only statements that can be flattened, and at least one store of
 * contiguous elements. If the loop over columns is the inner one, its body is all there is. The
 * first loop looks at what stands in the loop over columns beside the loops in it, the second at
 * the vector loop. */
static bool has_only_maps(rd_flattening *c)
{
    const rd_schedule *t      = c->t;
    bool               stores = false;

    for (int32_t s = t->stmt[c->across].first; s >= 0; s = t->stmt[s].next)
        if (s != c->vector && s != c->strips && !can_flatten_stmt(c, s, &stores))
            return false;
    for (int32_t s = c->inside ? -1 : t->stmt[c->vector].first; s >= 0; s = t->stmt[s].next)
        if (!can_flatten_stmt(c, s, &stores))
            return false;
    return stores;
}

/* ---- What is repeated ------------------------------------------------------------------------ */
/* True if the statement makes a column's value that is read by something else than other values of
 * columns. Such a value is written to an array once for each row of a strip (a range that vector
 * loops visit). */
static bool is_repeated(const rd_flattening *c, int32_t stmt)
{
    const rd_schedule *t     = c->t;
    const int32_t      value = t->stmt[stmt].value;

    if (t->stmt[stmt].kind != RD_S_LET || !rd_is_of_column(c, value))
        return false;
    for (int32_t s = rd_next_use(t, value, /*last=*/-1); s >= 0; s = rd_next_use(t, value, s))
        if (t->stmt[s].kind != RD_S_LET || c->varies[t->stmt[s].value])
            return true;
    return false;
}

/* True if the arrays of all repeated values fit into 16 KB, half of a first-level cache: each has
 * n columns * rows of a strip (a range that vector loops visit). */
static bool is_small_enough(const rd_flattening *c)
{
    int64_t bytes = 0;

    for (int32_t s = c->across; s >= 0; s = rd_next_stmt(c->t, s, c->across))
        if (is_repeated(c, s))
            bytes += c->n * c->r->width * rd_register_size(c->t->let[c->t->stmt[s].value].type);
    return bytes <= MOST_BYTES;
}

/* True if the values of columns are the same in all rounds of `loop`, and read no value that is
 * made in `loop` outside of the loop over columns, so that they can be made before it. `moves` is
 * work space: per value, whether it changes with the rounds. */
static bool is_invariant_in(const rd_flattening *c, int32_t loop, bool *moves)
{
    const rd_schedule *t = c->t;
    int32_t            read[RD_MOST_READS];

    rd_find_varying(t, loop, moves);
    for (int32_t s = c->across; s >= 0; s = rd_next_stmt(t, s, c->across)) {
        if (t->stmt[s].kind != RD_S_LET || !rd_is_of_column(c, t->stmt[s].value))
            continue;
        if (moves[t->stmt[s].value])
            return false;
        for (int32_t k = rd_reads_of(t, s, read, RD_MOST_READS); k-- > 0;) {
            const int32_t maker = t->let[read[k]].made_by;

            if (maker >= 0 && rd_stands_in(t, maker, loop) && !rd_stands_in(t, maker, c->across))
                return false;
        }
    }
    return true;
}

/* Returns the outermost loop before which the columns' values can be made; -1: not even before the
 * strips (ranges that vector loops visit). It goes outwards from the loop over strips, as long as
 * the values stay the same in all rounds. */
int32_t rd_hoist_point_of_columns(const rd_flattening *c)
{
    bool   *moves = malloc((size_t)c->t->n_let + 1);
    int32_t found = -1;

    for (int32_t s = c->strips; moves && loop_at(c->t, s) && is_invariant_in(c, s, moves);
         s         = c->t->stmt[s].parent)
        found = s;
    free(moves);
    return found;
}

/* Fills *c; true if the loops at the statement are maps that can be flattened. Tests the loops,
 * then their statements, then what they read from other loops of the strip (a range that vector
 * loops visit), and at last the size of repeated values. */
bool rd_find_flat_maps(rd_flattening *c, const rd_strips *strips, int32_t stmt)
{
    return find_column_loops(c, strips, stmt) && has_only_maps(c) && !has_operands_of_rows(c) &&
           is_small_enough(c);
}
