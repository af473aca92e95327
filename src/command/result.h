/* result.h - a result of the formula, with all that is known about it. */
#ifndef CMD_RESULT_H
#define CMD_RESULT_H
#include "files/file.h"

/* Facts that a result may keep from its operands. */
typedef enum cmd_keeping {
    CMD_UNITS,
    CMD_DATES,    /* units are kept, and results of dates are dates, no differences */
    CMD_QUANTITY, /* units are kept, and it is the same quantity, no difference */
    CMD_KEEPINGS
} cmd_keeping;

/* A result; filled by results.c, `array` by output.c, `kept` by beside.c. */
typedef struct cmd_result {
    const char               *name;    /* the name in the formula, else "result" */
    const char               *formula; /* its statement, as the user wrote it */
    const char               *bare;    /* ... without comments */
    bool                      named;   /* the formula has a name for it */
    rd_expr                  *x;
    rd_array                  array; /* dense, in C order; data NULL before output.c allocates it */
    cmd_axis                  axis[RD_MAX_RANK];
    const char               *units, *title;       /* NULL: unknown */
    bool                      keeps[CMD_KEEPINGS]; /* facts that all steps of the formula keep */
    const struct cmd_made_of *made;
    struct cmd_kept          *kept;     /* what is written beside it (beside.h); or NULL */
    const char               *calendar; /* if units are "... since ..." */
} cmd_result;

/* All results of a formula, or those of one output; filled by cmd_read_formula(). */
struct cmd_results {
    int            n;
    cmd_result    *at;
    cmd_attributes about; /* attributes of the output file */
};

/* Returns element i, in C order. */
static inline double cmd_value(const cmd_result *r, int64_t i)
{
    return cmd_element(r->array.in, r->array.type, i);
}
/* Returns the number of elements. */
int64_t cmd_count(const cmd_result *r);
/* Returns the bytes of all elements. */
static inline int64_t cmd_result_bytes(const cmd_result *r)
{
    return cmd_count(r) * cmd_size_of(r->array.type);
}
/* Returns the name of an axis, or "axis 1" if it has none. */
const char *cmd_axis_name(const cmd_result *r, int axis);
#endif
