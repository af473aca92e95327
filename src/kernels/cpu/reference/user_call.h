/* user_call.h - calls of a user's function on registers. */
#ifndef RD_KERNELS_CPU_REFERENCE_USER_CALL_H
#define RD_KERNELS_CPU_REFERENCE_USER_CALL_H
#include "kernels/program.h"

/* *y, of this type, = the function of in[0 .. n_in); what a block function returned, else NULL. */
const char *rd_call_run(const rd_call *call, const rd_word *in, rd_dtype type, rd_word *y);
#endif
