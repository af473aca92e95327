/* output.h - where results go. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H
#include "options.h"
#include "result.h"

/* Files to write, each with the results that go there. */
typedef struct cmd_target {
    const char       *path, *aside;
    const char       *stream; /* that it goes to; NULL: it is a file */
    const cmd_format *format;
    cmd_results       results;
    int64_t          *place;  /* where elements of each are in it, by format->begin() */
    bool              mapped; /* they are computed there; false: they are written later */
} cmd_target;

typedef struct cmd_targets {
    int         n;
    cmd_target *at;
} cmd_targets;

/* Checks what -o says, before anything is computed. */
cmd_targets cmd_plan_output(const cmd_options *options, cmd_results *results);
/* Memory of results, where they are to be computed: files that are mapped, where a format has
 * elements side by side. */
void cmd_make_room(cmd_targets *targets, cmd_results *results);
void cmd_write(cmd_targets *targets, const cmd_results *results);
/* Prints results (table.c): small ones as tables, large ones as a summary. */
void cmd_print(rd_ctx *ctx, const cmd_results *results);
#endif
