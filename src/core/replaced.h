/* replaced.h - a file that a new one replaces by a rename: its place behind links, its mode and owner. */
#ifndef RD_CORE_REPLACED_H
#define RD_CORE_REPLACED_H
#include <stdbool.h>
#include <sys/stat.h>

/* A rename replaces a link, and what it leads to would stay the old file.  So: the path behind links,
 * for free(); NULL where `path` is no link, or leads to nothing, and is the place itself.  NULL with
 * errno other than 0 where that could not be found out. */
char *rd_replaced_path(const char *path);
/* Gives fd the mode and, where this process may, the owner of the file that it will replace.  False,
 * with errno. */
bool rd_replaced_take(int fd, const struct stat *old);
#endif
