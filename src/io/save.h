/* save.h - writes an array as a .npy file. */
#ifndef RD_IO_SAVE_H
#define RD_IO_SAVE_H
#include "rdim.h"

/* Writes an array of any layout in the given order of elements and bytes.  The file is replaced
 * atomically (aside.h).  Failures are recorded for the call rd_save. */
rd_status rd_npy_write(rd_ctx *ctx, const char *path, const rd_array *array, int order,
                       bool big_endian);
#endif
