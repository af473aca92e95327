/* base.c - memory that lives as long as the program, failures, and the end of the program. */
#include "base.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef RDIM_COVERAGE
#include <gcov.h>
#endif

/* Allocated memory. Blocks are linked, so a leak checker finds all of them. */
typedef struct block {
    struct block *older;
    max_align_t   at[];
} block;
static block *newest;

/* Set in the reader process: its way to allocate memory, and to fail. */
static void *(*other_room)(size_t bytes);
static void (*other_end)(int status, const char *sentence);

/* Lets cmd_room() and cmd_end() call these functions from now on: in the child process that reads
 * files, memory is shared with the command, and the command prints sentences. */
void cmd_live_elsewhere(void *(*room)(size_t bytes), void (*end)(int status, const char *sentence))
{
    other_room = room;
    other_end  = end;
}

/* Allocates zeroed memory that lives as long as the program; ends the program if there is none. In
 * the reader process its own allocator is used. */
void *cmd_room(size_t bytes)
{
    if (other_room)
        return other_room(bytes);
    block *b = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *b + bytes) : NULL;

    if (!b)
        cmd_end(CMD_FAILED, "out of memory");
    b->older = newest;
    newest   = b;
    return b->at;
}

/* Copies n characters, and ends them with a zero. */
char *cmd_copy(const char *text, size_t n)
{
    char *copy = cmd_room(n + 1);

    memcpy(copy, text, n);
    return copy;
}

/* Formats a text into memory that lives as long as the program. NOLINT: clang-tidy 14 misses
 * va_start() in all files but the first of a run. */
char *cmd_text(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int    n    = vsnprintf(NULL, 0, format, arguments); // NOLINT
    const size_t room = (size_t)(n > 0 ? n : 0) + 1;
    va_end(arguments);
    char *text = cmd_room(room);
    va_start(arguments, format);
    vsnprintf(text, room, format, arguments); // NOLINT
    va_end(arguments);
    return text;
}

/* Opens /dev/null in place of standard descriptors that the caller has closed, so that no output
 * file gets their numbers. Input is opened to write and output to read, so that using them still
 * fails. */
void cmd_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Writes all buffered standard output, or ends the program. */
void cmd_flush_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        cmd_fail("standard output cannot be written");
}

/* Prints a sentence on stderr, behind all output so far. */
void cmd_say(const char *sentence)
{
    fflush(stdout);
    fprintf(stderr, "rdim: %s\n", sentence);
}

/* Writes the counts of executed lines to disk in builds that measure coverage; does nothing in
 * others. */
void cmd_keep_counts(void)
{
#ifdef RDIM_COVERAGE
    __gcov_dump();
    __gcov_reset();
#endif
}

/* Ends the program without the handlers of exit(): there a library with a failed write would try
 * again, in memory that it has freed. The reader process sees that the command is gone, and
 * ends. */
void cmd_leave(int status)
{
    fflush(NULL);
    cmd_keep_counts();
    _exit(status);
}

/* A running cmd_try(), with the place to return to. */
typedef struct trial {
    jmp_buf       back;
    const char   *sentence;
    struct trial *outer;
} trial;
static trial *innermost;

/* Runs work(of). Returns NULL if it succeeded; else the sentence of the failure, which cmd_end()
 * has stored before it jumped back here by longjmp(). */
const char *cmd_try(void (*work)(void *of), void *of)
{
    trial t = { .outer = innermost };

    innermost = &t;
    if (setjmp(t.back) == 0) // NOLINT: there are no objects of C++ to destroy
        work(of);
    innermost = t.outer;
    return t.sentence;
}

/* Ends the program with a sentence. Inside of cmd_try(), a failure that is no misuse returns to the
 * innermost cmd_try() instead. In the reader process (other_end), the sentence goes to the
 * command. */
void cmd_end(int status, const char *sentence)
{
    if (innermost && status == CMD_FAILED) {
        innermost->sentence = sentence;
        longjmp(innermost->back, 1); // NOLINT
    }
    if (other_end)
        other_end(status, sentence);
    cmd_say(sentence);
    if (status == CMD_MISUSED)
        fputs("rdim --help says more\n", stderr);
    cmd_remove_aside();
    cmd_leave(status);
}

/* Skips the name of the call, "rd_load: " of "rd_load: x.npy: truncated", which only programmers
 * need. Other texts are returned as they are. */
static const char *without_call(const char *text)
{
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return strncmp(text, "rd_", 3) == 0 && text[n] == ':' && text[n + 1] == ' ' ? text + n + 2
                                                                                : text;
}

/* Returns the sentence of the library's error, without the name of the call. */
const char *cmd_error_text(rd_ctx *ctx)
{
    return without_call(rd_error_text(ctx));
}

/* Ends the program with the error of the library. If a signal has cancelled the evaluation,
 * cmd_may_go_on() ends the program by that signal. */
void cmd_fail_of(rd_ctx *ctx)
{
    if (rd_error(ctx) == RD_ERR_CANCELLED)
        cmd_may_go_on();
    cmd_fail("%s", cmd_error_text(ctx));
}
