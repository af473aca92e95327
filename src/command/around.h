/* around.h - axes of longitudes, which are cyclic. */
#ifndef CMD_AROUND_H
#define CMD_AROUND_H
#include "inputs.h"

/* True if the axis has longitudes: coordinates that differ by 360 are the same. */
bool cmd_goes_around(const cmd_axis *axis);
/* Returns the distance of a coordinate from a value, the shorter way around the circle. */
double cmd_way_around(double coordinate, double value);
/* Finds the indices of an axis with coordinates from `low` to `high`, up to `most`, modulo 360.
 * Each index is found once, in the direction of the axis. value: the coordinates, from low to
 * high. Returns how many there are. */
int64_t cmd_places_around(const cmd_axis *axis, double low, double high, double most, int64_t *at,
                          double *value);
/* Takes n indices of an axis of x. `is`: that axis of the result. */
rd_expr *cmd_pick_around(cmd_inputs *in, rd_expr *x, int axis, const int64_t *at, int64_t n,
                         const cmd_axis *is);
#endif
