/* quantities.h - converts units of values by libudunits2, loaded when two units differ. */
#ifndef CMD_QUANTITIES_H
#define CMD_QUANTITIES_H
#include "base.h"

/* A conversion of units: a number becomes number * times + plus. */
typedef struct cmd_scaling {
    double times, plus;
} cmd_scaling;

/* How two units relate. */
typedef enum cmd_relation {
    CMD_SAME_UNITS,
    CMD_CONVERTS,
    CMD_DIFFERS, /* units of other quantities */
    CMD_NOT_TOLD /* a unit is unknown, or the library is missing */
} cmd_relation;

/* Finds the conversion from the unit `from` to the unit `to`; neither is NULL. */
cmd_relation cmd_relate_units(const char *from, const char *to, cmd_scaling *scaling);
/* Returns the end of a sentence that says the library is missing; "" if it is there. */
const char *cmd_units_hint(void);
#endif
