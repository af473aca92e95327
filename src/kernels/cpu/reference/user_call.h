/* user_call.h - calls of a user's function on registers. */
#ifndef RD_KERNELS_CPU_REFERENCE_USER_CALL_H
#define RD_KERNELS_CPU_REFERENCE_USER_CALL_H
#include "kernels/program.h"

/* Sets *y, of this type, to the function of in[0 .. n_in).  Returns the message of a block function
 * that failed, else NULL. */
const char *rd_call_run(const rd_call *call, const rd_word *in, rd_dtype type, rd_word *y);
#endif
