/* match.h - are two axes the same places? */
#ifndef CMD_MATCH_H
#define CMD_MATCH_H
#include "inputs.h"
#include "times.h"

/* Why two axes are not the same places, as the end of a sentence; NULL: they are, or one has no
 * coordinates.  Coordinates are the same up to a thousandth of the distance of neighbours, in the units of
 * the first. */
const char *cmd_axes_differ(const cmd_axis *a, const cmd_axis *b);

/* place[i]: where the i-th coordinate of a is in b, up to `most` in units of a, or, where it is below 0, up to a
 * thousandth of the distance of neighbours of both; -1: nowhere.  How many are there; 0 also where their units do
 * not meet, and where a coordinate is NaN or that of two places: then *why says so, which is else NULL. */
int64_t cmd_match_axes(const cmd_axis *a, const cmd_axis *b, double most, int64_t *place,
                       const char **why);

/* "90 to -90 (73)", dates where they are times. */
const char *cmd_axis_range(const cmd_axis *a);
/* The distance of the two neighbours that are nearest, but not at one place; INFINITY: there are none. */
double cmd_least_distance(const cmd_axis *a);
/* How much two coordinates of one place may differ: by a thousandth of the distance of neighbours.  An axis without
 * neighbours allows the last digits of f32, and half a second of times. */
double cmd_tolerance(const cmd_axis *a);
/* How coordinates of b become those of a.  False: they have units of which neither is the other. */
bool cmd_turn_of_axes(const cmd_axis *a, const cmd_axis *b, cmd_turn *turn);
#endif
