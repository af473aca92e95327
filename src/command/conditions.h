/* conditions.h - the answers of the command to questions of formulas about axes. */
#ifndef CMD_CONDITIONS_H
#define CMD_CONDITIONS_H
#include "inputs.h"

/* The functions that answer; `user` is the cmd_inputs. */
extern const rd_formula_axes cmd_formula_axes;
#endif
