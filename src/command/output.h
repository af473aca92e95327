/* output.h - output files: plans, allocates and writes the results. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H
#include "options.h"
#include "result.h"

/* An output file or stream, with the results that go there. */
typedef struct cmd_target {
    const char       *path, *aside; /* aside: the temporary file */
    const char       *stream;       /* the stream; NULL: it is a file */
    const cmd_format *format;
    cmd_results       results;
    int64_t          *place;  /* byte of the file where the elements of each result begin */
    bool              mapped; /* the results are computed in the mapped file */
} cmd_target;

/* All output files and streams; filled by cmd_plan_output(). */
typedef struct cmd_targets {
    int         n;
    cmd_target *at;
} cmd_targets;

/* Plans all outputs, before anything is computed. */
cmd_targets cmd_plan_output(const cmd_options *options, cmd_results *results);
/* Allocates the results: in mapped files if the format stores elements contiguously, else in
 * memory. */
void cmd_make_room(cmd_targets *targets, cmd_results *results);
void cmd_write(cmd_targets *targets, const cmd_results *results);
/* Prints results (table.c): small ones as tables, a summary of large ones. */
void cmd_print(rd_ctx *ctx, const cmd_results *results);
#endif
