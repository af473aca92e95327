/* places.h - parts of arrays at places along an axis. */
#ifndef CMD_PLACES_H
#define CMD_PLACES_H
#include "inputs.h"

/* Axes of one element that x had and y, a part of it along other axes, still has; y.  `dropped`: the axis of x
 * that y lacks, or -1. */
rd_expr *cmd_with_single_axes(cmd_inputs *in, rd_expr *x, rd_expr *y, int dropped);
/* An axis with the coordinates at these places, if it has any. */
cmd_axis cmd_axis_at_places(const cmd_axis *axis, const int64_t *place, int64_t n);
/* The places `at` of an axis of x, in their order.  `is`: that axis of the result, with coordinates that need not
 * be those of x. */
rd_expr *cmd_take_places(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is);
/* The same with the coordinates of x, as a slice where they are one.  `is`: that axis of the
 * result. */
rd_expr *cmd_pick(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                  const cmd_axis *is);
#endif
