/* chunks.h - arrays that lie in a file in chunks. */
#ifndef CMD_CHUNKS_H
#define CMD_CHUNKS_H
#include "files/file.h"

/* All elements of a variable whose chunks are at these places, in C order.  False: one is not what it is
 * said to be, which the library may know more about. */
bool cmd_read_chunks(const char *path, const cmd_variable *v, const cmd_place *place, void *to);
#endif
