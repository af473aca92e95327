/* dates.h - month(time), season(time), monthly(time) in formulas: what a calendar says of times, as labels of
 * groups and as indices along axes of such groups. */
#ifndef CMD_DATES_H
#define CMD_DATES_H
#include "inputs.h"

/* Answers of rd_formula_axes, `user` being the cmd_inputs. */
rd_expr *cmd_date_function(void *user, rd_ctx *ctx, const char *name, int n, rd_expr *const *x,
                           char *why);
bool     cmd_date_labels(void *user, int n, rd_expr **label, int64_t *groups, char *why);
void     cmd_date_groups(void *user, rd_expr *x, int axis, rd_expr *label);
rd_expr *cmd_date_places(void *user, rd_expr *x, int axis, rd_expr *index, char *why);
/* The value that a word stands for along an axis with such words, "JJA" along seasons.  False: none. */
bool cmd_value_of_word(const cmd_axis *axis, const char *word, double *value);
/* The word of a value; NULL: it has none. */
const char *cmd_word_of_value(const cmd_axis *axis, double value);
#endif
