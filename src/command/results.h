/* results.h - from a formula to results. */
#ifndef CMD_RESULTS_H
#define CMD_RESULTS_H
#include "inputs.h"
#include "options.h"
#include "result.h"

/* Builds the results of the formula, with axes and units; ends the program if the formula cannot be read. */
cmd_results cmd_read_formula(const cmd_options *options, cmd_inputs *inputs);
/* Names of earlier statements that have not kept something; NULL behind the last one. */
enum { CMD_MOST_RESULTS = 64 };
typedef struct cmd_lost {
    int         n;
    const char *name[CMD_MOST_RESULTS + 1];
} cmd_lost;
/* Does a statement keep this of what it is made of?  Means keep units, and variances do not, nor does what is
 * made of statements that have lost them. */
bool cmd_keeps(cmd_keeping what, const char *statement, const cmd_lost *lost);
/* Does it have the number that lies between two scales of temperature? */
bool cmd_changes_scale(const char *statement);
#endif
