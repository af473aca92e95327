/* aside.c - writes a temporary file beside the target, then renames it, so that a target is
 * never half written. */
#define _POSIX_C_SOURCE 200809L
#include "io/aside.h"
#include "core/replaced.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES = 100 }; /* names to try: a killed process with the same id may have left files */

/* Records what the file could not do, with the system's reason; returns false. */
static bool refuse(const rd_aside *s, const char *doing, int error)
{
    rd_fail(s->ctx, RD_ERR_FILE, "%s: %s: %s: %s", s->call, s->path, doing, strerror(error));
    return false;
}

/* True if the target is a regular file or absent; else records what it is: renaming over
 * /dev/null would replace the device. s->replaces, s->old: the file there. */
static bool check_target(rd_aside *s)
{
    s->replaces = stat(s->path, &s->old) == 0;
    if (!s->replaces || S_ISREG(s->old.st_mode))
        return true;
    rd_fail(s->ctx, RD_ERR_FILE, "%s: %s: %s", s->call, s->path,
            S_ISDIR(s->old.st_mode) ? "a directory" : "not a regular file");
    return false;
}

/* Creates a temporary file in the target's directory, as a rename cannot cross file systems, under
 * a name that no file has.  False after recording the failure. */
bool rd_aside_open(rd_aside *s, rd_ctx *ctx, const char *call, const char *path)
{
    static atomic_uint counter;
    char *const        real = rd_replaced_path(path);
    const int          why  = errno;
    const size_t       room = strlen(real ? real : path) + 40;

    *s = (rd_aside){ .ctx = ctx, .call = call, .path = path, .real = real, .fd = -1 };
    if (!real && why)
        return refuse(s, "cannot follow its links", why);
    if (!check_target(s) || !(s->name = rd_alloc(ctx, (int64_t)room)))
        return false;
    errno = EEXIST;
    for (int k = 0; k < NAMES && s->fd < 0 && (errno == EEXIST || errno == EINTR); k++) {
        snprintf(s->name, room, "%s.%ld.%u.tmp", real ? real : path, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        s->fd = open(s->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     s->replaces ? 0600 : 0666); /* private until it gets the old file's mode */
    }
    return s->fd >= 0 || refuse(s, "cannot create a file beside it", errno);
}

/* Writes n bytes to the temporary file; partial and interrupted writes are repeated. False after
 * recording the failure. */
bool rd_aside_write(const rd_aside *s, const void *bytes, int64_t n)
{
    for (const char *at = bytes; n > 0;) {
        const ssize_t put = write(s->fd, at, (size_t)n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return refuse(s, "cannot write", put < 0 ? errno : EIO);
        at += put;
        n -= put;
    }
    return true;
}

/* Puts the temporary file in the target's place: gives it the old one's mode, flushes it, closes
 * and renames it. The flush comes first: a rename may reach the disk before the data, and a
 * crash between them would leave an empty file. False after recording the failure. */
static bool commit_file(rd_aside *s)
{
    if (s->replaces && !rd_replaced_take(s->fd, &s->old))
        return refuse(s, "cannot take the mode of the file there", errno);
    /* some file systems do not support it */
    if (fsync(s->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return refuse(s, "cannot write", errno);
    const int fd = s->fd;
    s->fd        = -1;
    if (close(fd) != 0 && errno != EINTR)
        return refuse(s, "cannot write", errno);
    return rename(s->name, s->real ? s->real : s->path) == 0 ||
           refuse(s, "cannot rename the file written beside it", errno);
}

/* Ends the writing: with `good` the temporary file takes the target's place, else it is removed.
 * True if the target was replaced. */
bool rd_aside_close(rd_aside *s, bool good)
{
    const bool open = s->fd >= 0, there = open && good && commit_file(s);

    if (open && !there)
        unlink(s->name);
    if (s->fd >= 0)
        close(s->fd);
    rd_free(s->ctx, s->name);
    free(s->real);
    return there;
}
