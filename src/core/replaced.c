/* replaced.c - what a file that is replaced by a rename leaves to its successor: its real path
 * behind links, its mode and its owner. */
#define _DEFAULT_SOURCE /* fchown() and fchmod() beside realpath(), S_ISLNK and lstat() */
#include "core/replaced.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The path behind symbolic links, for free(); NULL: `path` is no link, or leads nowhere, and is
 * used itself.  NULL with errno other than 0: it could not be found out.  ENOENT: nothing is
 * there. */
char *rd_replaced_path(const char *path)
{
    struct stat facts;
    char       *real = NULL;

    errno = 0;
    if (lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode))
        real = realpath(path, NULL);
    if (real || errno == ENOENT)
        errno = 0;
    return real;
}

/* Gives fd the mode and, if this process may, the owner of the file that it will replace; false
 * with errno.  Only root gives files away.  For others the file becomes theirs, with the same mode
 * except setuid and setgid.  A file system that knows no modes or allows no change (ENOTSUP,
 * EPERM) is no failure. */
bool rd_replaced_take(int fd, const struct stat *old)
{
    struct stat now;
    mode_t      mode = old->st_mode & 07777;

    if (fstat(fd, &now) != 0)
        return false;
    if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0) {
        mode &= 0777;
        if (now.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) != 0)
            mode &= 0707; /* the group's rights were another group's */
    }
    return fchmod(fd, mode) == 0 || errno == ENOTSUP || errno == EPERM;
}
