/* times.h - times as files have them: "days since 1990-01-01". */
#ifndef CMD_TIMES_H
#define CMD_TIMES_H
#include "base.h"

/* Turns coordinates in units `other` into `units`: times scale + shift.  False: they do not meet. */
bool cmd_units_meet(const char *units, const char *other, double *scale, double *shift);
/* "1990-01-16", with the time of day where there is one; NULL: no time, or another calendar than
 * ours. */
const char *cmd_date_text(double value, const char *units, const char *calendar);
#endif
