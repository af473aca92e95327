/* results.h - builds the results of a formula. */
#ifndef CMD_RESULTS_H
#define CMD_RESULTS_H
#include "inputs.h"
#include "options.h"
#include "result.h"

/* Builds the results of the formula, with axes and units; ends the program if the formula is not
 * understood. */
cmd_results cmd_read_formula(const cmd_options *options, cmd_inputs *inputs);
/* Names of earlier statements that have lost a fact; NULL behind the last one. */
enum { CMD_MOST_RESULTS = 64 };
typedef struct cmd_lost {
    int         n;
    const char *name[CMD_MOST_RESULTS + 1];
} cmd_lost;
/* True if a statement keeps a fact of its operands. Means keep units, variances do not, and a
 * statement loses what an operand has lost. */
bool cmd_keeps(cmd_keeping what, const char *statement, const cmd_lost *lost);
/* True if the statement contains the offset between two temperature scales, 273.15 or 459.67. */
bool cmd_changes_scale(const char *statement);
#endif
