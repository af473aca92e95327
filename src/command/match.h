/* match.h - compares two axes by their coordinates. */
#ifndef CMD_MATCH_H
#define CMD_MATCH_H
#include "inputs.h"
#include "times.h"

/* Says why two axes differ, as the end of a sentence. NULL: they agree, or one has no
 * coordinates. Coordinates agree up to a thousandth of the distance of neighbours, in the units
 * of the first axis. */
const char *cmd_axes_differ(const cmd_axis *a, const cmd_axis *b);

/* Finds the coordinates of a in b: place[i] is the index in b of coordinate i, -1 if it is not
 * there. `most`: the tolerance in units of a; below 0: a thousandth of the distance of
 * neighbours of both. Returns how many were found. The result is 0 if units do not convert, or
 * if a coordinate is NaN or occurs twice; then *why says so. Otherwise *why is NULL. */
int64_t cmd_match_axes(const cmd_axis *a, const cmd_axis *b, double most, int64_t *place,
                       const char **why);

/* Returns the range of an axis, "90 to -90 (73)", with dates if they are times. */
const char *cmd_axis_range(const cmd_axis *a);
/* Returns the least distance of neighbours that is not 0; INFINITY if there is none. */
double cmd_least_distance(const cmd_axis *a);
/* Returns how much two equal coordinates may differ: a thousandth of the distance of neighbours.
 * Without neighbours it is the last digits of f32, and at most half a second for times. */
double cmd_tolerance(const cmd_axis *a);
/* Finds the conversion from coordinates of b to those of a. False: the units do not convert. */
bool cmd_turn_of_axes(const cmd_axis *a, const cmd_axis *b, cmd_turn *conversion);
#endif
