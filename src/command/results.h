/* results.h - from a formula to results. */
#ifndef CMD_RESULTS_H
#define CMD_RESULTS_H
#include "inputs.h"
#include "options.h"
#include "result.h"

/* What the formula says, with the axes and units of what it is made of; ends the program where it
 * cannot be read. */
cmd_results cmd_read_formula(const cmd_options *options, cmd_inputs *inputs);
/* Are the units of what a statement says those of what it is made of?  Means are, and variances are
 * not, nor what is made of the n names that have lost them. */
bool cmd_keeps_units(const char *statement, int n, const char *const *lost);
/* Of a statement that keeps units: are its results of dates dates, and no differences of them? */
bool cmd_keeps_dates(const char *statement);
#endif
