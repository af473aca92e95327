/* dates.h - functions of times in formulas: month(time), season(time), monthly(time). Their
 * results are labels of groups, and indices along axes of such groups. */
#ifndef CMD_DATES_H
#define CMD_DATES_H
#include "inputs.h"

/* Answer rd_formula_axes; `user` is the cmd_inputs. */
rd_expr *cmd_date_function(void *user, rd_ctx *ctx, const char *name, int n, rd_expr *const *x,
                           char *why);
bool     cmd_date_labels(void *user, int n, rd_expr **label, int64_t *groups, char *why);
void     cmd_date_groups(void *user, rd_expr *x, int axis, rd_expr *label);
rd_expr *cmd_date_places(void *user, rd_expr *x, int axis, rd_expr *index, char *why);
/* Finds the value of a word along an axis with words, "JJA" along seasons. False: none. */
bool cmd_value_of_word(const cmd_axis *axis, const char *word, double *value);
/* Finds the word of a value along an axis. NULL: it has none. */
const char *cmd_word_of_value(const cmd_axis *axis, double value);
#endif
