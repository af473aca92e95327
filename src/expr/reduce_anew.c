/* reduce_anew.c - segmented scans: scans that restart at some elements.  Each reducer has a
 * segmented twin in reducers.def.  The twin's state says whether a segment has begun in it.  Its
 * second operand says where segments begin.
 *
 *     x        1  2  3  4  5
 *     restart  0  0  1  0  0
 *     sum      1  3  3  7 12 */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include <math.h>
#include <string.h>

/* Records why .restart is refused; returns NULL. */
static rd_expr *refuse(const rd_folding *f, const char *what)
{
    return rd_fail(f->x->ctx, RD_ERR_ARGUMENT, "%s: %s", f->call, what);
}

/* Makes the SCAN node of a segmented reducer (`twin`, the one that restarts): its second operand is
 * 1 where a segment begins.  RD_SERIAL asks for one chain of steps, in the order of elements. */
static rd_expr *segmented_node(const rd_folding *f, rd_reducer_id twin, rd_expr *x)
{
    rd_expr *const begins = rd_cast_to(f->restart, x->type);
    rd_fold_facts  facts;

    memset(&facts, 0, sizeof facts);
    facts.reducer = (int32_t)twin;
    facts.law     = f->opts.accuracy == RD_SERIAL ? RD_LAW_serial : rd_reducer_table[twin].law;
    return begins ? rd_folding_node(f, x, begins, x->type, &facts) : NULL;
}

/* Makes the segmented scan (it restarts where f->restart is true) by the reducer `twin`.  If it is
 * exclusive, the first element of each segment gets `nothing`, the reducer's neutral element. */
static rd_expr *segmented_total(const rd_folding *f, rd_reducer_id twin, rd_expr *x,
                                int64_t nothing)
{
    rd_expr *y = segmented_node(f, twin, x);

    return f->opts.exclusive ? map_where(f->call, f->restart, rd_int(x->ctx, nothing), y) : y;
}

/* Makes the segmented running count of elements that are not 0; it restarts where f->restart is
 * true. */
static rd_expr *segmented_count(const rd_folding *f, rd_expr *x)
{
    return segmented_total(f, RD_RED_sum_anew, rd_cast_to(x, RD_I64), /*nothing=*/0);
}

/* True where an exclusive segmented scan has no element before it: at the first element (the last
 * one if it runs in reverse), and where a segment begins. */
static rd_expr *has_nothing_before(const rd_folding *f)
{
    const int      axis = __builtin_ctzll(f->bits);
    const int64_t  n    = f->x->extent[axis];
    rd_expr *const zero = rd_int(f->x->ctx, f->opts.reverse && n > 0 ? n - 1 : 0);

    return map_2(RD_OP_or, f->call, f->restart,
                 map_2(RD_OP_eq, f->call, rd_places(f->x, axis), zero));
}

/* Makes a segmented minimum, if `least`, or maximum: it restarts where f->restart is true.  Masked
 * elements become the worst value of the type, which any element replaces, and so do exclusive
 * results at the begin of a segment.  Where a prefix has only masked elements, that value stays if
 * `identity`, else it becomes NaN. */
static rd_expr *segmented_extreme(const rd_folding *f, rd_reducer_id twin, bool least, rd_expr *x,
                                  bool identity)
{
    const rd_word word = rd_word_end(x->type, least);
    rd_folding    all  = *f;
    rd_expr      *y, *worst, *has_element;

    if (!f->where && !f->opts.exclusive)
        return segmented_node(f, twin, x);
    worst     = rd_number(x->ctx, x->type, word);
    all.where = NULL;
    y         = f->where ? map_where(f->call, f->where, x, worst) : x;
    y         = y ? segmented_node(&all, twin, y) : NULL;
    if (f->opts.exclusive)
        y = map_where(f->call, has_nothing_before(f), worst, y);
    if (identity || !f->where || rd_dtype_kind(x->type) != RD_KIND_FLOAT)
        return y;
    has_element = map_2(RD_OP_ne, f->call, segmented_count(&all, f->where), rd_int(x->ctx, 0));
    return map_where(f->call, has_element, y, rd_cast_to(rd_num(x->ctx, NAN), x->type));
}

/* Makes a segmented scan (it restarts where f->restart is true) by the twin of the reducer that can
 * restart (`anew`). any and all are running counts compared with 0.  NULL after recording that the
 * reducer has no twin. */
rd_expr *rd_folded_anew(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, bool identity)
{
    const rd_reducer_info *info = &rd_reducer_table[reducer];

    if (!x)
        return NULL;
    if (info->op == RD_OP_or)
        return map_2(RD_OP_ne, f->call, segmented_count(f, x), rd_int(x->ctx, 0));
    if (info->op == RD_OP_and)
        return map_2(RD_OP_eq, f->call, segmented_count(f, map_1(RD_OP_not, f->call, x)),
                     rd_int(x->ctx, 0));
    if (info->anew == RD_RED_none)
        return refuse(f, ".restart goes with sum, prod, min, max, mean, count, any, all and norm");
    if (rd_reducer_is_extreme(reducer))
        return segmented_extreme(f, info->anew, info->op == RD_OP_minimum, x, identity);
    return segmented_total(f, info->anew, x, (int64_t)info->neutral);
}
