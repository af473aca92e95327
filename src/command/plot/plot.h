/* plot.h - results as pictures. */
#ifndef CMD_PLOT_H
#define CMD_PLOT_H
#include "result.h"

/* Ends the program, before anything is computed, where the file's name or a result's shape says that
 * there can be no picture. */
void cmd_plan_plot(const char *path, const cmd_results *results);
/* A picture of all of them, as .png, .svg or .pdf: an image of each that has two axes, a chart of
 * those that have one. */
void cmd_plot(const char *path, const cmd_results *results);
#endif
