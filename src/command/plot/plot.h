/* plot.h - draws results as a picture. */
#ifndef CMD_PLOT_H
#define CMD_PLOT_H
#include "result.h"

/* Ends the program, before anything is computed, if the suffix of the file or the shape of a
 * result does not fit a picture. */
void cmd_plan_plot(const char *path, const cmd_results *results);
/* Draws all results as .png, .svg or .pdf: an image for each result of two axes, a chart for
 * those of one axis. */
void cmd_plot(const char *path, const cmd_results *results);
#endif
