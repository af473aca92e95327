/* quantities.h - units of values, as UDUNITS knows them: libudunits2, loaded when two units differ. */
#ifndef CMD_QUANTITIES_H
#define CMD_QUANTITIES_H
#include "base.h"

/* A number in one unit is that times `times`, plus `plus`, in another. */
typedef struct cmd_scaling {
    double times, plus;
} cmd_scaling;

typedef enum cmd_relation {
    CMD_SAME_UNITS,
    CMD_CONVERTS,
    CMD_DIFFERS, /* units of other quantities */
    CMD_NOT_TOLD /* one of them, or any, is not known */
} cmd_relation;

/* How values in the unit `from` become values in `to`; neither is NULL. */
cmd_relation cmd_relate_units(const char *from, const char *to, cmd_scaling *scaling);
/* Why it cannot be told, behind a sentence: "" where the library is there. */
const char *cmd_units_hint(void);
#endif
