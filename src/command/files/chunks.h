/* chunks.h - reads chunked arrays of a file by all threads. */
#ifndef CMD_CHUNKS_H
#define CMD_CHUNKS_H
#include "files/file.h"

/* Reads the chunks that overlap `part`. Each element goes to its place in an array of all elements
 * in C order, which begins at `to`. False: a chunk is damaged; the library of the format may know
 * more. */
bool cmd_read_chunks(const char *path, const cmd_variable *v, const cmd_place *place,
                     const rd_part *part, void *to);
#endif
