/* result.h - what was computed, with all that is known about it. */
#ifndef CMD_RESULT_H
#define CMD_RESULT_H
#include "files/file.h"

/* Facts that a result may take over from its operands. */
typedef enum cmd_keeping {
    CMD_UNITS,
    CMD_DATES,    /* where it keeps units: results of dates are dates, and no differences of them */
    CMD_QUANTITY, /* where it keeps units: a difference has those of a quantity, and is another */
    CMD_KEEPINGS
} cmd_keeping;

typedef struct cmd_result {
    const char               *name; /* as the formula says; "result" where it says none */
    const char               *formula;
    bool                      named; /* the formula names it */
    rd_expr                  *x;
    rd_array                  array; /* dense, in C order; data NULL before it was computed */
    cmd_axis                  axis[RD_MAX_RANK];
    const char               *units, *title;       /* NULL: not known */
    bool                      keeps[CMD_KEEPINGS]; /* by what each step of the formula does */
    const struct cmd_made_of *made;
    struct cmd_kept          *kept;     /* beside numbers (beside.h); NULL: nothing was gathered */
    const char               *calendar; /* of units that are times since some day */
} cmd_result;

struct cmd_results {
    int            n;
    cmd_result    *at;
    cmd_attributes about; /* the file that they are written to */
};

/* The element at a place in C order. */
static inline double cmd_value(const cmd_result *r, int64_t i)
{
    return cmd_element(r->array.in, r->array.type, i);
}
int64_t               cmd_count(const cmd_result *r);
static inline int64_t cmd_result_bytes(const cmd_result *r)
{
    return cmd_count(r) * cmd_size_of(r->array.type);
}
/* "latitude", or "axis 1" where it has no name. */
const char *cmd_axis_name(const cmd_result *r, int axis);
#endif
