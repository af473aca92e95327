/* search.c - where elements belong in sorted rows, by bisection: each step is a map of a gather.
 * Also where runs of equal elements begin in such rows. */
#include "expr/bisect.h"
#include "expr/origin.h"
#include "expr/search.h"
#include "expr/complex.h"
#include "expr/maps.h"
#include <math.h>

/* True if x is a real float. */
static bool is_float(const rd_expr *x)
{
    return rd_dtype_kind(x->type) == RD_KIND_FLOAT;
}

/* ---- Few elements ---------------------------------------------------------------------------- */
/* True if x is compared with each element of the row instead.  Vectors compare and add faster than
 * they gather elements for a bisection: a row of 4 f64 takes 0.2 of the time, of 8 f32 0.2.  But
 * each element needs nodes of its own.  MANY elements of x make that worth it. */
static bool is_compared_with_all(const rd_expr *sorted, const rd_expr *x)
{
    enum { FEW = 16, MANY = 1024 };

    return sorted->rank == 1 && sorted->extent[0] > 0 && sorted->extent[0] <= FEW &&
           rd_points(x->rank, x->extent) >= MANY;
}

/* Counts the elements of a short row that go before x (by the operator `before`), by comparing x
 * with each of them. */
static rd_expr *count_all(const char *call, rd_expr *sorted, rd_expr *x, rd_op before)
{
    rd_expr *n = NULL;

    for (int64_t k = 0; k < sorted->extent[0] && (n || k == 0); k++) {
        rd_expr *const pass = map_2(before, call, rd_select_place(sorted, 0, k), x);
        rd_expr *const one  = pass ? rd_cast_to(pass, RD_I64) : NULL;

        n = k == 0 ? one : map_2(RD_OP_add, call, n, one);
    }
    return n;
}

/* ---- Bisection ------------------------------------------------------------------------------- */
/* Counts the elements of a sorted row that are before x (RD_OP_lt), or not behind it (RD_OP_le), as
 * i64: where x belongs.  A row of up to 16 is compared with x as a whole, a longer one is bisected.
 * `sorted` is one row, or has a row for each of x's. */
rd_expr *rd_count_before(const char *call, rd_expr *sorted, rd_expr *x, rd_op before)
{
    if (is_compared_with_all(sorted, x))
        return count_all(call, sorted, x, before);
    const rd_bisection b    = { .call   = call,
                                .sorted = sorted,
                                .before = before,
                                .map    = rd_map_op,
                                .take   = sorted->rank == 1 ? rd_take_places : rd_take_places_along };
    const bool         none = sorted->extent[sorted->rank - 1] == 0;
    rd_expr           *at   = rd_number(x->ctx, RD_I64, rd_word_from_int(0, RD_I64)), *pass;

    if (sorted->rank > 1 || none)
        at = at ? rd_broadcast_to(at, x->rank, x->extent, call) : NULL;
    if (none && sorted->rank > 1) /* 0, of the shape that both broadcast to */
        at = map_2(RD_OP_add, call, at, rd_count(sorted, RD_KEEP(sorted->rank - 1)));
    if (none || !at)
        return at;
    /* at: the last position looked at; pass: whether the element there is before x */
    pass = rd_bisect(&b, &at, x);
    return pass ? map_2(RD_OP_add, call, at, rd_cast_to(pass, RD_I64)) : NULL;
}

/* ---- Runs ------------------------------------------------------------------------------------ */
/* True at each element of a sorted row that differs from the one before it, and at the first one.
 * All NaN, which lie at the end, are equal: an element behind a NaN begins no run. */
rd_expr *rd_begins_run(const char *call, rd_expr *sorted)
{
    if (!sorted)
        return NULL;
    const int      end     = sorted->rank - 1;
    rd_expr *const above   = rd_slice_places(sorted, end, 1, RD_OPEN, 1);
    rd_expr *const below   = rd_slice_places(sorted, end, RD_OPEN, -1, 1);
    rd_expr       *differs = map_2(RD_OP_ne, call, above, below);

    if (differs && is_float(sorted))
        differs = map_2(RD_OP_and, call, differs,
                        map_1(RD_OP_not, call, map_1(RD_OP_isnan, call, below)));
    return sorted->extent[end] > 0 ? rd_pad(differs, end, /*before=*/1, /*after=*/0,
                                            RD_PAD_CONSTANT, rd_int(sorted->ctx, 1))
                                   : differs;
}

/* ---- Places ---------------------------------------------------------------------------------- */
/* True if both operands are real, of matching ranks, and the side is valid.  False after
 * recording what is wrong. */
static bool arguments_ok(const char *call, rd_expr *sorted, rd_expr *x, rd_side side)
{
    rd_expr *const both[] = { sorted, x };
    char           text[2][RD_SHAPE_TEXT];

    if (!rd_operands(call, 2, both) || rd_refuse_complex(call, 2, both))
        return false;
    if ((unsigned)side > RD_RIGHT)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the side is %d, not one of enum rd_side", call,
                (int)side);
    else if (sorted->rank < 1 || (sorted->rank > 1 && sorted->rank != x->rank))
        rd_fail(x->ctx, RD_ERR_SHAPE,
                "%s: sorted is one row, or has the rank of x: its shape is %s beside %s", call,
                rd_shape_text(sorted->rank, sorted->extent, text[0]),
                rd_shape_text(x->rank, x->extent, text[1]));
    else
        return true;
    return false;
}

/* The greatest number below x, but NaN for -inf and inf for NaN.  An element is before x just if it
 * is at most that number, so the left side is found by the search for the right side.  All numbers
 * are before NaN, and nothing is before -inf. */
static rd_expr *number_before(const char *call, rd_expr *x)
{
    rd_ctx *const  ctx   = x->ctx;
    rd_expr *const least = rd_num(ctx, -INFINITY);
    rd_expr *const next  = map_2(RD_OP_nextafter, call, x, least);
    rd_expr *const y = map_where(call, map_1(RD_OP_isnan, call, x), rd_num(ctx, INFINITY), next);

    return map_where(call, map_2(RD_OP_eq, call, x, least), rd_num(ctx, NAN), y);
}

/* The type in which both operands are compared. */
static rd_dtype type_compared(rd_expr *sorted, rd_expr *x)
{
    return rd_rule_type(RD_RULE_COMPARE, 2, (rd_expr *const[]){ sorted, x });
}

/* Casts x to the type in which it is compared with the row: f32 for narrow floats, which have no
 * nextafter. */
static rd_expr *in_compared_type(rd_expr *sorted, rd_expr *x)
{
    const rd_dtype type = type_compared(sorted, x);

    return rd_cast_to(x, rd_dtype_is_narrow_float(type) ? RD_F32 : type);
}

/* True if both are ints but would be compared as f64, which rounds them: u64 beside signed ints. */
static bool is_rounded(rd_expr *sorted, rd_expr *x)
{
    return !is_float(sorted) && !is_float(x) &&
           rd_dtype_kind(type_compared(sorted, x)) == RD_KIND_FLOAT;
}

/* Searches a row of ints for ints x that f64 would round: x is cast to the row's type.  `behind`: x
 * is u64 and may be above all of a signed row (then its position is the end); else x is signed and
 * may be below all of a row of u64. */
static rd_expr *search_exactly(const char *call, rd_expr *sorted, rd_expr *x, rd_op before)
{
    const bool     behind = x->type == RD_U64;
    rd_expr *const end    = rd_int(x->ctx, behind ? sorted->extent[sorted->rank - 1] : 0);
    rd_expr *const out    = behind ? map_2(RD_OP_gt, call, x, rd_int(x->ctx, INT64_MAX))
                                   : map_2(RD_OP_lt, call, x, rd_int(x->ctx, 0));
    rd_expr *const at =
        rd_count_before(call, sorted, rd_cast_to(x, behind ? RD_I64 : RD_U64), before);

    return map_where(call, out, end, at);
}

/* Finds the position of x in a sorted row, exactly for each type.  On the left side floats search
 * for the number before x, so that NaN is found before all NaN.  On the right side NaN goes to the
 * end. */
static rd_expr *places_in(const char *call, rd_expr *sorted, rd_expr *x, rd_side side)
{
    const rd_op before = side == RD_LEFT ? RD_OP_lt : RD_OP_le;

    if (is_rounded(sorted, x))
        return search_exactly(call, sorted, x, before);
    if (!(x = in_compared_type(sorted, x)))
        return NULL;
    if (!is_float(x))
        return rd_count_before(call, sorted, x, before);
    if (side == RD_LEFT)
        return (x = number_before(call, x)) ? rd_count_before(call, sorted, x, RD_OP_le) : NULL;
    return map_where(call, map_1(RD_OP_isnan, call, x),
                     rd_int(x->ctx, sorted->extent[sorted->rank - 1]),
                     rd_count_before(call, sorted, x, RD_OP_le));
}

/* The index at which x would be inserted in a sorted row: the public call. */
rd_expr *rd_searchsorted(rd_expr *sorted, rd_expr *x, rd_side side)
{
    static const char call[] = "rd_searchsorted";

    if (!arguments_ok(call, sorted, x, side))
        return NULL;
    return rd_indices_of(places_in(call, sorted, x, side), sorted, sorted->rank - 1);
}
