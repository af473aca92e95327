/* calibrate.h - the numbers of speeds.def for this machine: measured, stored, and read again. */
#ifndef RD_KERNELS_CPU_CALIBRATE_H
#define RD_KERNELS_CPU_CALIBRATE_H
#include "kernels/loop/speeds.h"

/* The speeds that prices on this machine use.  They are read once in a process, from the store's
 * file for this processor, compiler and set of instructions.  Without that file they are the
 * usual ones. */
const rd_speeds *rd_speeds_here(void);
/* Reads and writes that file. False: there is none that can be read, and s is as before; or it
 * cannot be written. */
bool rd_speeds_load(rd_speeds *s);
bool rd_speeds_save(const rd_speeds *s);
/* Adds the first line of that file: the processor, the compiler, the instruction set. */
void rd_speeds_where(rd_text *text);

/* Measures what can be measured here, in a few seconds; other rows stay. measured[row]: it was,
 * before or now. Of two measurements the better one stays, as other programs only slow one down.
 * False: nothing can be measured, as there is no compiler or no store: *why is a part of a
 * sentence. */
bool rd_calibrate(rd_speeds *s, bool measured[RD_N_SPEEDS], int threads, const char **why);
#endif
