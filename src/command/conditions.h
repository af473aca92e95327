/* conditions.h - names and coordinates of axes as conditions of formulas. */
#ifndef CMD_CONDITIONS_H
#define CMD_CONDITIONS_H
#include "inputs.h"

/* `user` being the cmd_inputs. */
extern const rd_formula_axes cmd_formula_axes;
#endif
