/* mode.c - the most frequent element: the longest run of equal elements in sorted rows, or in
 * sorted groups.
 *
 *     3 1 3 2  ->  sorted 1 2 3 3, run 1 1 1 2  ->  mode 3, count 2 */
#include "expr/complex.h"
#include "expr/grouped.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/search.h"
#include <math.h>

/* A call of rd_mode() or rd_mode_count() while it is built. */
typedef struct modes {
    rd_folding f;       /* the checked call: operand, axes, keywords */
    bool       none;    /* there are no elements */
    bool       grouped; /* by label or with a mask: `group` holds the rows */
    rd_grouped group;   /* rows sorted by group, if `grouped` */
    rd_expr   *sorted;  /* rows, sorted along the last axis */
    rd_expr   *run;     /* the length of the run up to each element */
} modes;

/* Computes for each element of the sorted rows the length of its run of equal elements so far: its
 * position minus that at which the run begins, plus 1.  The begin is a running maximum of the
 * positions at which runs, or groups, begin. */
static rd_expr *run_lengths(const modes *m)
{
    const char *const call   = m->f.call;
    rd_expr *const    at     = rd_places(m->sorted, m->sorted->rank - 1);
    rd_expr          *begins = rd_begins_run(call, m->sorted);

    if (m->grouped)
        begins = map_2(RD_OP_or, call, begins, rd_begins_run(call, m->group.group));
    rd_expr *const begun = map_where(call, begins, at, rd_int(m->sorted->ctx, 0));
    rd_expr *const last  = begun ? rd_scan(begun, "max", RD_DIMS(-1)) : NULL;

    return map_2(RD_OP_add, call, map_2(RD_OP_sub, call, at, last), rd_int(m->sorted->ctx, 1));
}

/* Sorts the rows (the reduced axes as one), by group and value if labels or a mask are given, else
 * by value, and finds the runs of equal elements.  False after a failure. */
static bool put_in_order(modes *m)
{
    if (m->grouped) {
        if (!rd_grouped_begin(&m->group, &m->f, m->f.x))
            return false;
        m->sorted = m->group.sorted;
    } else {
        m->sorted = rd_folding_rows(&m->f, m->f.x);
        m->sorted = m->sorted ? rd_sort(m->sorted, -1) : NULL;
    }
    m->run = m->sorted ? run_lengths(m) : NULL;
    return m->run != NULL;
}

/* Reads the options, and sorts unless there are no elements (m->none).  `counts`: the call is
 * rd_mode_count(), which then has the answer 0, whereas a mode has none.  False after recording
 * what is wrong. */
static bool begin_modes(modes *m, const char *call, rd_expr *x, const rd_reduce_opts *opts,
                        bool counts)
{
    char shape[RD_SHAPE_TEXT];
    bool any_result;

    *m = (modes){ .f = { .call = call, .x = x } };
    if (!rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x) ||
        !rd_folding_begin(&m->f, opts, counts ? 0 : RD_TAKES_INITIAL))
        return false;
    m->none    = !rd_folding_extent(&m->f, &any_result) || !any_result;
    m->grouped = m->f.label || m->f.where;
    if (!counts && rd_folding_may_lack_a_value(&m->f, m->f.x->type))
        return false;
    if (m->none && any_result && !m->grouped && !m->f.opts.initial) {
        rd_fail(x->ctx, RD_ERR_EMPTY, "%s: no element to choose from in an operand of shape %s",
                call, rd_shape_text(x->rank, x->extent, shape));
        return false;
    }
    return m->none || put_in_order(m);
}

/* ---- Whole rows ------------------------------------------------------------------------------ */
/* Returns `of_nan` where the row contains NaN, which is then its last element; else y. */
static rd_expr *replace_nan(const modes *m, rd_expr *of_nan, rd_expr *y)
{
    rd_expr *const last = rd_select_place(m->sorted, /*axis=*/-1, /*place=*/-1);

    return rd_dtype_kind(m->sorted->type) == RD_KIND_FLOAT
               ? map_where(m->f.call, map_1(RD_OP_isnan, m->f.call, last), of_nan, y)
               : y;
}

/* Selects the element with the longest run of equal ones in each sorted row; NaN if the row
 * contains NaN. */
static rd_expr *mode_of_rows(const modes *m)
{
    rd_expr *const place = rd_expand(rd_argmax(m->run, RD_DIMS(-1)), -1);
    rd_expr *const y     = rd_take_places_along(m->sorted, m->sorted->rank - 1, place);

    return rd_folding_kept(
        &m->f, replace_nan(m, rd_select_place(m->sorted, -1, -1), rd_select_place(y, -1, 0)));
}

/* Returns the length of the longest run of equal elements in each sorted row: how often the mode
 * occurs.  A row with NaN has the number of NaN, its last run. */
static rd_expr *count_of_rows(const modes *m)
{
    return rd_folding_kept(
        &m->f, replace_nan(m, rd_select_place(m->run, -1, -1), rd_max(m->run, RD_DIMS(-1))));
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Reduces the lengths of runs of equal elements by group label; `initial` is for groups without
 * elements, or NULL. */
static rd_expr *reduce_runs(const modes *m, const char *reducer, rd_expr *initial)
{
    rd_expr *const by[] = { m->group.group };

    return rd_reduce_name(m->run, reducer,
                          &(rd_reduce_opts){ .size    = sizeof(rd_reduce_opts),
                                             .dims    = RD_DIMS(-1),
                                             .initial = initial,
                                             .by      = { by, 1 },
                                             .groups  = RD_SHAPE(m->group.n_group) });
}

/* The position of the last element of each group in the sorted rows. */
static rd_expr *end_of_group(const modes *m)
{
    return map_2(RD_OP_sub, m->f.call, map_2(RD_OP_add, m->f.call, m->group.first, m->group.count),
                 rd_int(m->sorted->ctx, 1));
}

/* Returns `of_nan` where the group contains NaN, which is then its last element; else y. */
static rd_expr *replace_nan_in_groups(const modes *m, rd_expr *of_nan, rd_expr *y)
{
    rd_expr *const greatest = rd_grouped_take(m->f.call, m->sorted, end_of_group(m));

    return rd_dtype_kind(m->sorted->type) == RD_KIND_FLOAT
               ? map_where(m->f.call, map_1(RD_OP_isnan, m->f.call, greatest), of_nan, y)
               : y;
}

/* The mode of no elements: .initial, or NaN. */
static rd_expr *empty_result(const modes *m)
{
    return m->f.opts.initial ? rd_fit_to(m->f.opts.initial, m->f.x->type, m->f.call)
                             : rd_cast_to(rd_num(m->f.x->ctx, NAN), m->f.x->type);
}

/* Selects the element with the longest run of equal ones in each group: the argmax by group, which
 * is a position in the row.  A group with NaN has NaN; one without elements has .initial or NaN. */
static rd_expr *mode_of_groups(const modes *m)
{
    rd_expr *const place = reduce_runs(m, "argmax", /*initial=*/NULL), *const nothing =
                                                                           empty_result(m);
    rd_expr *y = rd_grouped_take(m->f.call, m->sorted, place);

    if (!y || !nothing)
        return NULL;
    y = replace_nan_in_groups(m, rd_grouped_take(m->f.call, m->sorted, end_of_group(m)), y);
    return map_where(m->f.call, map_2(RD_OP_eq, m->f.call, m->group.count, rd_int(y->ctx, 0)),
                     nothing, y);
}

/* Returns the length of the longest run of equal elements in each group; 0 without elements.  A
 * group with NaN has the number of NaN, its last run. */
static rd_expr *count_of_groups(const modes *m)
{
    rd_expr *const zero = rd_int(m->sorted->ctx, 0);
    rd_expr       *y    = reduce_runs(m, "max", zero);

    y = replace_nan_in_groups(m, rd_grouped_take(m->f.call, m->run, end_of_group(m)), y);
    return map_where(m->f.call, map_2(RD_OP_eq, m->f.call, m->group.count, zero), zero, y);
}

/* ---- Public functions ------------------------------------------------------------------------ */
/* The most frequent element along axes; of several equally frequent ones the least. */
rd_expr *rd_mode_of(rd_expr *x, const rd_reduce_opts *opts)
{
    modes    m;
    rd_expr *y;

    if (!begin_modes(&m, "rd_mode", x, opts, /*counts=*/false))
        return NULL;
    y = m.none      ? rd_grouped_as_seen(&m.f, rd_grouped_of_nothing(&m.f, empty_result(&m)))
        : m.grouped ? rd_grouped_as_seen(&m.f, mode_of_groups(&m))
                    : mode_of_rows(&m);
    return rd_folding_as_asked(&m.f, y, m.f.x->type);
}

/* How often the mode occurs, as i64; 0 without elements. */
rd_expr *rd_mode_count_of(rd_expr *x, const rd_reduce_opts *opts)
{
    modes    m;
    rd_expr *y;

    if (!begin_modes(&m, "rd_mode_count", x, opts, /*counts=*/true))
        return NULL;
    if (m.none)
        y = rd_grouped_as_seen(&m.f,
                               rd_grouped_of_nothing(&m.f, rd_number(m.f.x->ctx, RD_I64,
                                                                     rd_word_from_int(0, RD_I64))));
    else
        y = m.grouped ? rd_grouped_as_seen(&m.f, count_of_groups(&m)) : count_of_rows(&m);
    return rd_folding_as_asked(&m.f, y, RD_I64);
}

/* The function without keywords; its name is in parentheses, as a macro of that name takes them. */
rd_expr *(rd_mode)(rd_expr *x, rd_dims dims)
{
    return rd_mode(x, dims);
}

/* The function without keywords; its name is in parentheses, as a macro of that name takes them. */
rd_expr *(rd_mode_count)(rd_expr *x, rd_dims dims)
{
    return rd_mode_count(x, dims);
}
