/* interrupt.c - handlers of signals that ask the program to end, and of crashes in libraries. */
#include "base.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signalled; /* the first signal that came; 0: none */
static rd_ctx *volatile watched;        /* its evaluation is cancelled by a signal */

/* Signals that end the program. They come from a person, a closed terminal, a program that
 * watches others, or a pipe without a reader. */
static const struct {
    int         number;
    const char *sentence; /* NULL: nothing to say */
} ends[] = { { SIGINT, "interrupted" },
             { SIGTERM, "terminated" },
             { SIGHUP, "the terminal was closed" },
             { SIGQUIT, "quit" },
             { SIGPIPE, NULL } };
enum { ENDS = sizeof ends / sizeof *ends };

/* Ends the program by the signal itself: a loop of a shell ends on Ctrl-C only if its program
 * dies of it. */
static void die_of(int number)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    cmd_keep_counts();
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* a signal is blocked in its own handler */
    _exit(128 + number);
}

/* Handles a signal: the first one cancels the evaluation, and a second one ends the program at
 * once. It calls only functions that are safe in handlers: unlink, raise, _exit, rd_cancel. SIGPIPE
 * comes from a write, which must not go on. */
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

/* Handles SIGBUS: an access behind the end of a mapped file that became shorter. It ends the
 * program with a sentence, by functions that are safe in handlers. */
static void handle_shorter(int number)
{
    static const char text[] = "rdim: a file that is read became shorter meanwhile\n";

    (void)number;
    cmd_remove_aside();
    const ssize_t said = write(STDERR_FILENO, text, sizeof text - 1);
    (void)said; /* nothing to do if it fails */
    cmd_keep_counts();
    _exit(CMD_FAILED);
}

#ifdef __SANITIZE_ADDRESS__ /* the sanitizer reports crashes */
/* Does nothing, as the sanitizer reports crashes. */
void cmd_watch_library(const char *path)
{
    (void)path;
}
#else
/* The message for a crash. libnetcdf 4.9 crashes in reportobject() if it closes a file that
 * cannot be written. */
static const char *volatile crash_text;

/* Handles a crash of a library that writes a file: removes temporary files, and ends the program
 * with a sentence. It calls only functions that are safe in handlers. */
static void handle_crash(int number)
{
    (void)number;
    cmd_remove_aside();
    const ssize_t said = write(STDERR_FILENO, crash_text, strlen(crash_text));
    (void)said;
    cmd_keep_counts();
    _exit(CMD_FAILED);
}

/* Installs handlers of crashes while a library writes the file `path`; NULL: removes them. */
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

/* True if the caller ignores the signal: nohup ignores SIGHUP, and shells ignore others for
 * background jobs. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return number != SIGINT && number != SIGTERM && sigaction(number, NULL, &now) == 0 &&
           now.sa_handler == SIG_IGN;
}

/* Installs the handlers; signals that the caller ignores stay ignored. SIGBUS comes from a mapped
 * file that became shorter. */
void cmd_watch(rd_ctx *ctx)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

    watched = ctx;
    for (int k = 0; k < ENDS; k++)
        if (!is_ignored(ends[k].number))
            sigaction(ends[k].number, &action, NULL);
    sigaction(SIGBUS, &(struct sigaction){ .sa_handler = handle_shorter }, NULL);
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead, and its error names the file */
}

/* Removes the handlers, except for signals that the caller ignores. */
void cmd_watch_no_more(void)
{
    for (int k = 0; k < ENDS; k++)
        if (!is_ignored(ends[k].number))
            signal(ends[k].number, SIG_DFL);
}

/* True if a signal has asked the program to end. */
bool cmd_interrupted(void)
{
    return signalled != 0;
}

/* Ends the program if a signal has come, and says which files were written. Long loops call it, as
 * the first signal only sets a flag. */
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
