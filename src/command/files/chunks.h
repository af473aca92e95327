/* chunks.h - arrays that lie in a file in chunks. */
#ifndef CMD_CHUNKS_H
#define CMD_CHUNKS_H
#include "files/file.h"

/* All elements of a variable whose chunks are at these places, in C order. */
void cmd_read_chunks(const char *path, const cmd_variable *v, const cmd_place *place, void *to);
#endif
