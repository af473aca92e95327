/* chunks.h - arrays that lie in a file in chunks. */
#ifndef CMD_CHUNKS_H
#define CMD_CHUNKS_H
#include "files/file.h"

/* The chunks of a variable that hold elements of a part, each to its place among all elements in C order,
 * of which `to` is the first.  False: one is not what it is said to be, which the library may know more
 * about. */
bool cmd_read_chunks(const char *path, const cmd_variable *v, const cmd_place *place,
                     const rd_part *part, void *to);
#endif
