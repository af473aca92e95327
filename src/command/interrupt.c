/* interrupt.c - signals that ask the program to end. */
#include "base.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signalled;
static rd_ctx *volatile watched;

/* These signals come from a person, a terminal that closes, a program that watches others, and a pipe
 * that nobody reads any more. */
static const struct {
    int         number;
    const char *sentence; /* NULL: whoever closed a pipe knows it */
} ends[] = { { SIGINT, "interrupted" },
             { SIGTERM, "terminated" },
             { SIGHUP, "the terminal was closed" },
             { SIGQUIT, "quit" },
             { SIGPIPE, NULL } };
enum { ENDS = sizeof ends / sizeof *ends };

/* The program dies of the signal itself: a shell's loop ends on Ctrl-C only if its program does so. */
static void die_of(int number)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    cmd_keep_counts();
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* in its own handler it is blocked */
    _exit(128 + number);
}

/* Only what may be called in a handler: unlink, raise, _exit, rd_cancel.  A pipe without a reader is
 * met by a write, which must not go on. */
static void handle(int number)
{
    if (signalled || number == SIGPIPE) {
        cmd_remove_aside();
        die_of(number);
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
    cmd_keep_counts();
    _exit(CMD_FAILED);
}

#ifdef __SANITIZE_ADDRESS__ /* which reports crashes */
void cmd_watch_library(const char *path)
{
    (void)path;
}
#else
/* libnetcdf crashes where the file that it closes cannot be written (reportobject(), 4.9). */
static const char *volatile crash_text;

static void handle_crash(int number)
{
    (void)number;
    cmd_remove_aside();
    const ssize_t said = write(STDERR_FILENO, crash_text, strlen(crash_text));
    (void)said;
    cmd_keep_counts();
    _exit(CMD_FAILED);
}

void cmd_watch_library(const char *path)
{
    static const int crashes[] = { SIGSEGV, SIGABRT };

    if (path)
        crash_text =
            cmd_text("rdim: %s: cannot be written: the library that writes it crashes\n", path);
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
        signal(crashes[k], path ? handle_crash : SIG_DFL);
}
#endif

/* nohup ignores SIGHUP for its program, and shells others for what runs in the background. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return number != SIGINT && number != SIGTERM && sigaction(number, NULL, &now) == 0 &&
           now.sa_handler == SIG_IGN;
}

void cmd_watch(rd_ctx *ctx)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

    watched = ctx;
    for (int k = 0; k < ENDS; k++)
        if (!is_ignored(ends[k].number))
            sigaction(ends[k].number, &action, NULL);
    sigaction(SIGBUS, &(struct sigaction){ .sa_handler = handle_shorter }, NULL);
    signal(SIGXFSZ, SIG_IGN); /* the write fails, and its sentence says of which file */
}

void cmd_watch_no_more(void)
{
    for (int k = 0; k < ENDS; k++)
        if (!is_ignored(ends[k].number))
            signal(ends[k].number, SIG_DFL);
}

bool cmd_interrupted(void)
{
    return signalled != 0;
}

void cmd_may_go_on(void)
{
    if (!signalled)
        return;
    const int number = signalled;

    cmd_remove_aside();
    for (int k = 0; k < ENDS; k++)
        if (ends[k].number == number && ends[k].sentence)
            fprintf(stderr, "rdim: %s%s\n", ends[k].sentence, cmd_what_was_written());
    fflush(NULL);
    die_of(number);
}
