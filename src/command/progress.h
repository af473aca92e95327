/* progress.h - a progress bar on a terminal, with rate and time left. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H
#include "base.h"

/* The state of a progress bar. */
typedef struct cmd_bar {
    bool    shown, drawn;
    double  start; /* time of the start, in seconds */
    int64_t bytes; /* of all input */
} cmd_bar;

double  cmd_seconds(void);
cmd_bar cmd_bar_begin(bool asked, int64_t bytes);
/* Moves the bar: a function for rd_eval_opts.progress, `of` being the cmd_bar. */
int  cmd_bar_move(void *of, double done, double seconds_left);
void cmd_bar_end(cmd_bar *bar);
#endif
