/* aside.c - writes files under temporary names beside their places, then renames them. So no
 * half-written file stays behind. */
#include "base.h"
#include "core/replaced.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ASIDE = 64, NAMES = 100 }; /* NAMES: temporary names that are tried for a file */

/* The place of an output file. */
typedef struct place {
    const char *given, *path; /* as the user wrote it; with links followed */
    dev_t       device;       /* device and inode of the temporary file */
    ino_t       inode;
    bool        replaces; /* a file is there already */
    struct stat old;      /* the facts of that file */
} place;

/* The temporary names. The signal handler reads them, so each name is written before it is
 * counted. */
static const char *volatile aside_names[MOST_ASIDE];
static volatile sig_atomic_t n_aside;
static place                 places[MOST_ASIDE];
static int                   n_done;

/* Removes all temporary files that were not renamed. Signal handlers call it, so it uses only
 * unlink(), which is safe there. */
void cmd_remove_aside(void)
{
    for (int k = 0; k < n_aside; k++)
        if (aside_names[k])
            unlink(aside_names[k]);
}

/* Returns the end of an error message: which output files are written, and which are not. The
 * temporary name of a written one is NULL, after its rename. "" means that there are no output
 * files. */
const char *cmd_what_was_written(void)
{
    const char *text = "";

    if (n_done == 0)
        return n_aside ? "; nothing was written" : "";
    for (int done = 1; done >= 0; done--) /* first the written ones */
        for (int k = 0, n = 0; k < n_aside; k++)
            if (!aside_names[k] == (bool)done)
                text = cmd_text("%s%s%s", text,
                                n++    ? ", "
                                : done ? "; written: "
                                       : "; not written: ",
                                places[k].given);
    return text;
}

/* ---- The place ------------------------------------------------------------------------------- */
/* Refuses an output that is no regular file: renaming over /dev/null would replace the device.
 * p->replaces: a file is there already. */
static void check_target(const char *path, place *p)
{
    p->replaces = stat(path, &p->old) == 0;
    if (p->replaces && !S_ISREG(p->old.st_mode))
        cmd_fail("%s: %s, cannot be written", path,
                 S_ISDIR(p->old.st_mode) ? "a directory" : "not a regular file");
}

/* Returns the path behind symbolic links, or the path itself if it is no link (`real` is NULL,
 * errno 0). A link to nothing is itself replaced. */
static const char *follow_links(const char *path)
{
    char *real = rd_replaced_path(path);

    if (!real && errno)
        cmd_fail("%s: cannot follow its links: %s", path, strerror(errno));
    const char *copy = real ? cmd_copy(real, strlen(real)) : path;
    free(real);
    return copy;
}

/* Ends the program, as two outputs would be written to one file. */
static _Noreturn void refuse_twice(const place *p, const place *other)
{
    if (strcmp(p->given, other->given) == 0)
        cmd_misuse("-o %s: named twice", p->given);
    cmd_misuse("%s and %s are one file: two outputs cannot be there", other->given, p->given);
}

/* Refuses an output that is a hard link to that of an earlier output (same device and inode). Other
 * spellings of one name are found by check_occupant(). */
static void check_others(const place *output)
{
    for (int k = 0; k < n_aside; k++)
        if (output->replaces && places[k].replaces && places[k].old.st_dev == output->old.st_dev &&
            places[k].old.st_ino == output->old.st_ino)
            refuse_twice(output, &places[k]);
}

/* Refuses a temporary name that is taken by a temporary file of this run. The output's path is then
 * another spelling of that file's path: ./o.npy and o.npy, or O.npy on a file system that ignores
 * case. */
static void check_occupant(const place *p, const char *name)
{
    struct stat facts;

    if (stat(name, &facts) != 0)
        return;
    for (int k = 0; k < n_aside; k++)
        if (aside_names[k] && facts.st_dev == places[k].device && facts.st_ino == places[k].inode)
            refuse_twice(p, &places[k]);
}

/* Creates the temporary file, which must not exist, and notes its device and inode. If it replaces
 * a file, other users cannot read it until it gets that file's mode. Returns its descriptor; -1:
 * errno says why. */
static int create(const char *name, place *p)
{
    struct stat facts;
    const int   fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, p->replaces ? 0600 : 0666);

    if (fd >= 0 && fstat(fd, &facts) == 0) {
        p->device = facts.st_dev;
        p->inode  = facts.st_ino;
    }
    return fd;
}

/* Creates a temporary file beside `path`, "PATH.PID.K.tmp", and returns its name. If one is there
 * already (EEXIST), the next K is tried. Two outputs in one file are refused. */
const char *cmd_aside(const char *path)
{
    place p  = { .given = path, .path = follow_links(path) };
    int   fd = -1;

    check_target(path, &p);
    check_others(&p);
    if (n_aside == MOST_ASIDE)
        cmd_misuse("more than %d files to write", MOST_ASIDE);
    errno = EEXIST;
    for (int k = 0; k < NAMES && fd < 0 && (errno == EEXIST || errno == EINTR); k++) {
        const char *name = cmd_text("%s.%ld.%d.tmp", p.path, (long)getpid(), k);

        aside_names[n_aside] = name;
        fd                   = create(name, &p);
        if (fd < 0 && errno == EEXIST) {
            check_occupant(&p, name);
            errno = EEXIST;
        }
    }
    if (fd < 0)
        cmd_fail("%s: cannot create a file beside it: %s", path, strerror(errno));
    close(fd);
    places[n_aside] = p;
    return aside_names[n_aside++];
}

/* ---- The rename ------------------------------------------------------------------------------ */
/* Flushes a temporary file that replaces another to disk, with the mode of the old file. A rename
 * may reach the disk before the data does, and a crash between them would leave an empty file in
 * place of the old one. A new file is not flushed, which saves 10 ms: it can be computed again.
 * False: the data may be lost. */
static bool flush_replacement(const place *p, const char *name)
{
    const int fd = p->replaces ? open(name, O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return !p->replaces;
    bool there =
        rd_replaced_take(fd, &p->old) && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    if (close(fd) != 0 && errno != EINTR)
        there = false;
    return there;
}

/* Finds the number of a temporary file by its name, which is compared as a pointer; it is one of
 * this run. */
static int place_of(const char *aside)
{
    for (int k = 0; k < n_aside; k++)
        if (aside_names[k] == aside)
            return k;
    cmd_fail("%s: not a file of this run", aside);
}

/* Renames a temporary file (`aside`) to its output path, and ends the program if that fails. A NULL
 * name then marks the file as done. */
void cmd_aside_done(const char *path, const char *aside)
{
    const int k = place_of(aside);

    cmd_may_go_on();
    if (!flush_replacement(&places[k], aside) || rename(aside, places[k].path) != 0)
        cmd_fail("%s: cannot write: %s%s", path, strerror(errno),
                 n_done ? cmd_what_was_written() : "");
    aside_names[k] = NULL;
    n_done++;
}
