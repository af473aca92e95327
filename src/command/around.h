/* around.h - axes of longitudes, which go around. */
#ifndef CMD_AROUND_H
#define CMD_AROUND_H
#include "inputs.h"

/* Is it an axis of longitudes, of which those that differ by 360 are one? */
bool cmd_goes_around(const cmd_axis *axis);
/* How far a coordinate is from a value, the shorter way around. */
double cmd_way_around(double coordinate, double value);
/* The places of an axis from `low` up to `high`, some of them by whole turns: each place once, in the direction of
 * the axis.  value: their coordinates, from low to high.  How many there are. */
int64_t cmd_places_around(const cmd_axis *axis, double low, double high, double most, int64_t *at,
                          double *value);
/* The part of x at these places, along an axis with these coordinates. */
rd_expr *cmd_pick_around(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is);
#endif
