/* interrupt.c - Ctrl-C, and files that are written beside their places so that nothing half done
 * stays behind. */
#include "base.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ASIDE = 64, NAMES = 100 };

/* Read by the handler: names are written before they are counted. */
static const char *volatile aside_names[MOST_ASIDE];
static volatile sig_atomic_t n_aside, signalled;
static rd_ctx *volatile watched;

void cmd_remove_aside(void)
{
    for (int k = 0; k < n_aside; k++)
        if (aside_names[k])
            unlink(aside_names[k]);
}

/* Only what may be called in a handler: unlink, _exit, rd_cancel. */
static void handle(int number)
{
    if (signalled) {
        cmd_remove_aside();
        _exit(128 + number);
    }
    signalled = number;
    if (watched)
        rd_cancel(watched);
}

/* Out of memory that is mapped: the file behind it became shorter. */
static void handle_shorter(int number)
{
    static const char text[] = "rdim: a file that is read became shorter meanwhile\n";

    (void)number;
    cmd_remove_aside();
    const ssize_t said = write(STDERR_FILENO, text, sizeof text - 1);
    (void)said; /* or nobody is there to be told */
    _exit(CMD_FAILED);
}

void cmd_watch(rd_ctx *ctx)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

    watched = ctx;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGBUS, &(struct sigaction){ .sa_handler = handle_shorter }, NULL);
}

void cmd_watch_no_more(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

bool cmd_interrupted(void)
{
    return signalled != 0;
}

void cmd_may_go_on(void)
{
    if (!signalled)
        return;
    cmd_remove_aside();
    fputs("rdim: interrupted; nothing was written\n", stderr);
    exit(128 + signalled);
}

/* Renaming over /dev/null would replace the device. */
static void check_target(const char *path)
{
    struct stat facts;

    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        cmd_fail("%s: %s, cannot be written", path,
                 S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file");
}

const char *cmd_aside(const char *path)
{
    int fd = -1;

    check_target(path);
    if (n_aside == MOST_ASIDE)
        cmd_misuse("more than %d files to write", MOST_ASIDE);
    errno = EEXIST;
    for (int k = 0; k < NAMES && fd < 0 && errno == EEXIST; k++) {
        const char *name = cmd_text("%s.%ld.%d.tmp", path, (long)getpid(), k);

        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            aside_names[n_aside] = name;
    }
    if (fd < 0)
        cmd_fail("%s: cannot create a file beside it: %s", path, strerror(errno));
    close(fd);
    return aside_names[n_aside++];
}

/* A rename may reach the disk before the data does, and a crash between them would leave an empty
 * file where an old one was.  Where there was none it can be computed again, and 10 ms are saved. */
static bool settle(const char *path, const char *name)
{
    const int fd = access(path, F_OK) == 0 ? open(name, O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return access(path, F_OK) != 0;
    const bool there = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    return close(fd) == 0 && there;
}

void cmd_aside_done(const char *path, const char *aside)
{
    cmd_may_go_on();
    if (!settle(path, aside) || rename(aside, path) != 0)
        cmd_fail("%s: cannot write: %s", path, strerror(errno));
    for (int k = 0; k < n_aside; k++)
        if (aside_names[k] == aside)
            aside_names[k] = NULL;
}
