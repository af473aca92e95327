/* progress.h - a bar with rate and time left, on a terminal. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H
#include "base.h"

typedef struct cmd_bar {
    bool    shown, drawn;
    double  start; /* seconds */
    int64_t bytes; /* of what is read */
} cmd_bar;

double  cmd_seconds(void);
cmd_bar cmd_bar_begin(bool asked, int64_t bytes);
/* rd_eval_opts.progress, of a cmd_bar. */
int  cmd_bar_move(void *of, double done, double seconds_left);
void cmd_bar_end(cmd_bar *bar);
#endif
