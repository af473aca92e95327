/* progress.c - a progress bar on a terminal, with rate and time left. */
#include "progress.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Characters of the bar. */
enum { WIDTH = 30 };
static const double SHOWN_AFTER = 0.5; /* seconds: a shorter run needs no bar */

/* Seconds of a clock that never goes back. */
double cmd_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Begins a progress bar, which is shown on a terminal after a while. If the user asked for it, it
 * is shown anywhere and at once: its start lies SHOWN_AFTER back. `bytes` of input give the
 * rate. */
cmd_bar cmd_bar_begin(bool asked, int64_t bytes)
{
    return (cmd_bar){ .shown = asked || isatty(STDERR_FILENO),
                      .start = asked ? cmd_seconds() - SHOWN_AFTER : cmd_seconds(),
                      .bytes = bytes };
}

/* Writes a duration: "12 s", "3 min 05 s", "2 h 10 min". */
static void time_text(char text[32], double seconds)
{
    const long s = seconds < 1e7 ? (long)(seconds + 0.5) : 9999999;

    if (s < 100)
        snprintf(text, 32, "%ld s", s);
    else if (s < 6000)
        snprintf(text, 32, "%ld min %02ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

/* Draws the bar: "[####......] 40 % 1.20 GB/s 12 s left". `done` is the finished share, 0 to 1.
 * Returns 1 to cancel the evaluation after a signal. */
int cmd_bar_move(void *of, double done, double seconds_left)
{
    cmd_bar     *bar  = of;
    const double gone = cmd_seconds() - bar->start;
    char         line[WIDTH + 1], left[32];

    if (cmd_interrupted())
        return 1;
    if (!bar->shown || gone < SHOWN_AFTER)
        return 0;
    const int full = (int)(done * WIDTH); /* done is from 0 to 1 */
    memset(line, '#', (size_t)full);
    memset(line + full, '.', (size_t)(WIDTH - full));
    line[WIDTH] = '\0';
    time_text(left, seconds_left);
    fprintf(stderr, "\r[%s] %3d %%", line, (int)(done * 100));
    if (bar->bytes > 0)
        fprintf(stderr, "  %.2f GB/s", done * (double)bar->bytes / gone / 1e9);
    fprintf(stderr, "  %s left\033[K", left);
    fflush(stderr);
    bar->drawn = true;
    return 0;
}

/* Removes the bar from the terminal. */
void cmd_bar_end(cmd_bar *bar)
{
    if (bar->drawn)
        fputs("\r\033[K", stderr);
    bar->drawn = false;
}
