/* replaced.h - replacing a file by a rename: its real path behind links, its mode and its owner. */
#ifndef RD_CORE_REPLACED_H
#define RD_CORE_REPLACED_H
#include <stdbool.h>
#include <sys/stat.h>

/* The path behind symbolic links, for free().  A rename would replace the link, and the file
 * behind it would stay.  NULL: `path` is no link, or leads nowhere, and is used itself.  NULL
 * with errno other than 0: it could not be found out. */
char *rd_replaced_path(const char *path);
/* Gives fd the mode and, if this process may, the owner of the file that it will replace.
 * False, with errno. */
bool rd_replaced_take(int fd, const struct stat *old);
#endif
