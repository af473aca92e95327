/* masks.c - takes the elements of an axis where a mask along it is true: tas[month(time) == 6].
 *
 * In the library the shape of a result never depends on data. So the mask is evaluated when the
 * formula is read, as coordinates are, and the remaining part of the axis is known from then on. A
 * mask is an array of bools. */
#include "masks.h"
#include "axes.h"
#include "dates.h"
#include "files/late.h"
#include "match.h"
#include "places.h"
#include <stdio.h>
#include <string.h>

/* Says why the mask (an array of bools) does not lie along the axis that it selects from; NULL: it
 * does. `along` is that axis, `of` the mask's. The mask must have one axis, of equal name, length
 * and coordinates. */
static const char *why_not_along(const cmd_axis *along, rd_expr *mask, const cmd_axis *of)
{
    const rd_shape shape = rd_shape_of(mask);

    if (shape.n != 1)
        return cmd_text("a mask of %d axes picks no part of an axis: say where(mask, x, nan), or "
                        "reduce with where=",
                        (int)shape.n);
    if (along->name && of->name && strcmp(along->name, of->name) != 0)
        return cmd_text("the mask is along %s, and stands at the axis %s: say %s=mask", of->name,
                        along->name, of->name);
    if (shape.at[0] != along->n)
        return cmd_text("the mask has %lld elements, and the axis %s %lld", (long long)shape.at[0],
                        along->name ? along->name : "where it stands", (long long)along->n);
    return along->at && of->at ? cmd_axes_differ(along, of) : NULL;
}

/* Evaluates the mask of n bools, and lists the indices where it is true; *found is their number.
 * NULL: the evaluation failed. */
static int64_t *list_true(cmd_inputs *in, rd_expr *mask, int64_t n, int64_t *found)
{
    bool    *is = cmd_room((size_t)n + 1);
    int64_t *at = cmd_room(((size_t)n + 1) * sizeof *at);
    rd_array to = { .data = is, .type = RD_BOOL, .shape = rd_shape_of(mask) };

    *found = 0;
    cmd_read_wanted(in->ctx, RD_RESULTS({ mask, NULL }));
    if (rd_eval(in->ctx, mask, &to) != RD_OK)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        if (is[i])
            at[(*found)++] = i;
    return at;
}

/* Makes an index, a leaf (input array), of the positions along the axis where the mask is true.
 * NULL: the mask does not fit or is true nowhere, and `why` says so, or its evaluation failed. */
static rd_expr *index_of_mask(cmd_inputs *in, rd_expr *x, int axis, rd_expr *mask, char *why)
{
    const cmd_axis along = cmd_axis_seen(in, x, axis);
    const cmd_axis of    = rd_shape_of(mask).n == 1 ? cmd_axis_seen(in, mask, 0) : (cmd_axis){ 0 };
    const char *not      = why_not_along(&along, mask, &of);
    int64_t n;

    if (not ) {
        snprintf(why, RD_WHY, "%s", not );
        return NULL;
    }
    int64_t *at = list_true(in, mask, along.n, &n);
    if (!at)
        return NULL;
    if (n == 0) {
        snprintf(why, RD_WHY, "the mask is true nowhere along axis %s, %s",
                 along.name ? along.name : "without a name", cmd_axis_range(&along));
        return NULL;
    }
    rd_expr *index =
        rd_leaf(in->ctx, &(rd_array){ .in = at, .type = RD_I64, .shape = RD_SHAPE(n) });
    if (index && along.name) {
        const cmd_axis is = cmd_axis_at_places(&along, at, n);

        cmd_know_axis(in, index, 0, &is);
    }
    return index;
}

/* Translates an index to positions along the axis: a mask, or the result of a function of times,
 * month(time). Any other is returned as it is. NULL: `why`, or the library's error, says the
 * reason. */
rd_expr *cmd_gather(void *user, rd_expr *x, int axis, rd_expr *index, char *why)
{
    return rd_type_of(index) == RD_BOOL ? index_of_mask(user, x, axis, index, why)
                                        : cmd_date_places(user, x, axis, index, why);
}
