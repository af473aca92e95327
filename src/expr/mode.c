/* mode.c - the most frequent element: the longest run of equal ones in rows that are put in
 * order. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include "expr/search.h"

typedef struct modes {
    rd_folding f;
    bool       none;   /* of no elements: there is no result, either          */
    rd_expr   *sorted; /* rows along the last axis                             */
    rd_expr   *run;    /* how many elements there are of the element's, so far */
} modes;

/* How many elements of the run there are so far. */
static rd_expr *runs(const char *call, rd_expr *sorted)
{
    rd_expr *const at   = rd_places(sorted, sorted->rank - 1);
    rd_expr *const from = map_where(call, rd_begins_run(call, sorted), at, rd_int(sorted->ctx, 0));
    rd_expr *const last = rd_scan(from, "max", RD_DIMS(-1));

    return map_2(RD_OP_add, call, map_2(RD_OP_sub, call, at, last), rd_int(sorted->ctx, 1));
}

/* False after recording what is wrong. */
static bool begin(modes *m, const char *call, rd_expr *x, rd_dims dims)
{
    char shape[RD_SHAPE_TEXT];
    bool any_result;

    m->f = (rd_folding){ .call = call, .x = x };
    if (!rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x) ||
        !rd_folding_begin(&m->f, &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = dims },
                          0))
        return false;
    m->none = !rd_folding_extent(&m->f, &any_result);
    if (m->none && any_result) {
        rd_fail(x->ctx, RD_ERR_EMPTY, "%s: no element to choose from in an operand of shape %s",
                call, rd_shape_text(x->rank, x->extent, shape));
        return false;
    }
    if (m->none)
        return true;
    m->sorted = rd_folding_rows(&m->f, m->f.x);
    m->sorted = m->sorted ? rd_sort(m->sorted, -1) : NULL;
    m->run    = m->sorted ? runs(call, m->sorted) : NULL;
    return m->run != NULL;
}

/* `of_nan` where the last element of a row in order is NaN. */
static rd_expr *unless_nan(const modes *m, rd_expr *of_nan, rd_expr *y)
{
    rd_expr *const last = rd_select_place(m->sorted, -1, -1);

    return rd_dtype_kind(m->sorted->type) == RD_KIND_FLOAT
               ? map_where(m->f.call, map_1(RD_OP_isnan, m->f.call, last), of_nan, y)
               : y;
}

rd_expr *rd_mode(rd_expr *x, rd_dims dims)
{
    modes m;

    if (!begin(&m, "rd_mode", x, dims))
        return NULL;
    if (m.none)
        return rd_max(x, dims);
    rd_expr *const place = rd_expand(rd_argmax(m.run, RD_DIMS(-1)), -1);
    rd_expr *const y     = rd_take_places_along(m.sorted, m.sorted->rank - 1, place);

    return rd_folding_kept(
        &m.f, unless_nan(&m, rd_select_place(m.sorted, -1, -1), rd_select_place(y, -1, 0)));
}

rd_expr *rd_mode_count(rd_expr *x, rd_dims dims)
{
    modes m;

    if (!begin(&m, "rd_mode_count", x, dims))
        return NULL;
    if (m.none)
        return rd_count(x, dims);
    return rd_folding_kept(
        &m.f, unless_nan(&m, rd_select_place(m.run, -1, -1), rd_max(m.run, RD_DIMS(-1))));
}
