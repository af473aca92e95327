/* places.h - takes elements of arrays at positions along an axis. */
#ifndef CMD_PLACES_H
#define CMD_PLACES_H
#include "inputs.h"

/* Remembers the axes of one element that y, a part of x along other axes, has from x. Returns y.
 * `dropped`: the axis of x that y lacks, or -1. */
rd_expr *cmd_with_single_axes(cmd_inputs *in, rd_expr *x, rd_expr *y, int dropped);
/* Returns the axis with its coordinates at these positions, if it has any. */
cmd_axis cmd_axis_at_places(const cmd_axis *axis, const int64_t *place, int64_t n);
/* Gathers the positions `at` of an axis of x, in their order. `is`: that axis of the result; its
 * coordinates may differ from those of x. */
rd_expr *cmd_take_places(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is);
/* Takes the positions `at` of an axis of x, as a slice if they are evenly spaced. `is`: that
 * axis of the result, with coordinates of x. */
rd_expr *cmd_pick(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                  const cmd_axis *is);
#endif
