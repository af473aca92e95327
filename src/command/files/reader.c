/* reader.c - the reader process, in which libraries read files. The command writes a request to
 * shared memory and sends a byte over a socket; the child answers in the same way. The byte passes
 * the turn: the process that has the turn works, and the other one waits. */
#include "files/reader.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, n)   ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#endif

enum { SHARED_BYTES = 1 << 30, GAP = 16 }; /* pages take memory only when written to */

int cmd_reader_seconds = 30;

/* Requests, one for each function of cmd_format that runs in the child. */
typedef enum call { OPEN, PLACE, DECODE, COORDINATES, SAY, TEXTS } call;

/* The start of the shared memory: one request and its answer. One process waits while the other
 * works, so no lock is needed. */
typedef struct request_block {
    size_t used;
    /* the request */
    call          call;
    cmd_file     *file;
    cmd_variable *v;
    int64_t       bytes;       /* DECODE: of elements; OPEN: of the file */
    int64_t       first, rows; /* DECODE: rows along the first axis */
    /* the child's answer */
    cmd_place   place;
    int         status;
    const char *sentence; /* the failure's text; NULL: success */
} request_block;
/* The first byte behind the request block, a multiple of 16. */
enum { BEGIN = (sizeof(request_block) + 15) / 16 * 16 };

static request_block *shared;
static int            channel = -1; /* socket to the other process: a byte passes the turn */
static pid_t          child;

/* ---- Shared memory --------------------------------------------------------------------------- */
/* Allocates shared memory, with a gap between objects that AddressSanitizer guards. */
static void *shared_room(size_t bytes)
{
    const size_t at = shared->used;

    if (bytes > SHARED_BYTES - GAP - 15 - at)
        cmd_fail("%s: more is said about what is in the files than there is room for, %d MB",
                 shared->file ? shared->file->path : "", SHARED_BYTES >> 20);
    shared->used = at + (bytes + 15) / 16 * 16 + GAP;
    ASAN_UNPOISON_MEMORY_REGION((char *)shared + at, bytes);
    return (char *)shared + at;
}

/* ---- Passing the turn ------------------------------------------------------------------------ */
/* Aligned room for a control message with one descriptor. */
typedef union rights {
    struct cmsghdr align;
    char           room[CMSG_SPACE(sizeof(int))];
} rights;

/* Passes the turn to the other process, and the open file `fd` with it; -1: no file. False: the
 * other process is gone. */
static bool send_turn(int fd)
{
    char          byte = 0;
    struct iovec  part = { &byte, 1 };
    rights        r    = { 0 };
    struct msghdr m    = { .msg_iov = &part, .msg_iovlen = 1 };

    if (fd >= 0) {
        m.msg_control          = r.room;
        m.msg_controllen       = sizeof r.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&m);
        *header                = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                                   .cmsg_type  = SCM_RIGHTS,
                                                   .cmsg_len   = CMSG_LEN(sizeof fd) };
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(channel, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Waits for the turn, and takes the file that comes with it, or -1. False: the other process is
 * gone. */
static bool take_turn(int *fd)
{
    char          byte;
    struct iovec  part = { &byte, 1 };
    rights        r    = { 0 };
    struct msghdr m    = {
           .msg_iov = &part, .msg_iovlen = 1, .msg_control = r.room, .msg_controllen = sizeof r.room
    };
    ssize_t n;

    do
        n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *header = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    *fd                    = -1;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(header), sizeof *fd);
    return n == 1;
}

/* ---- The child ------------------------------------------------------------------------------- */
/* Answers with a failure, and ends the child. The sentence lies in shared memory. */
static _Noreturn void fail_in_child(int status, const char *sentence)
{
    shared->status   = status;
    shared->sentence = sentence;
    cmd_keep_counts();
    send_turn(-1);
    _exit(status);
}

/* Decodes the requested rows into the mapped file `to`, each at its offset. The command maps the
 * same file later. */
static void decode(int to)
{
    const size_t  n   = (size_t)shared->bytes;
    const int64_t all = shared->v->shape.n ? shared->v->shape.at[0] : 1;
    void         *at  = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);

    close(to);
    if (at == MAP_FAILED)
        cmd_fail("%s: no memory for %zu bytes: %s", shared->v->name, n, strerror(errno));
    shared->file->format->decode(shared->file, shared->v, shared->first, shared->rows,
                                 (char *)at + shared->first * (shared->bytes / all));
    munmap(at, n);
}

/* Reads the attributes of v, or of the file if v is NULL, and stores them there. */
static void say(cmd_file *file, cmd_variable *v)
{
    cmd_said *const said = file->format->say(file, v);

    *(v ? &v->said : &file->said) = said;
}

/* ---- Open files: at most half of the process's limit ----------------------------------------- */
/* Files that the child has open at most. */
enum { MOST_OPEN = 256 };
static cmd_file *opened[MOST_OPEN];
static long      n_opened;

/* True if the child has the file open. */
static bool is_open(const cmd_file *file)
{
    for (int k = 0; k < MOST_OPEN; k++)
        if (opened[k] == file)
            return true;
    return false;
}

/* Closes the file in a place of the table `opened`, if there is one. */
static void close_oldest(cmd_file **place)
{
    if (*place)
        (*place)->format->close(*place);
    *place = NULL;
}

/* Opens a file in the child, unless it is open; `first`: its format reads its list of variables.
 * The table is used in turns, so the file that was opened first is closed for the new one. */
static void ensure_open(cmd_file *file, bool first)
{
    struct rlimit limit = { .rlim_cur = MOST_OPEN };

    if (!first && is_open(file))
        return;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    const long most  = limit.rlim_cur / 2 < MOST_OPEN ? (long)limit.rlim_cur / 2 : MOST_OPEN;
    cmd_file **place = &opened[n_opened++ % (most > 0 ? most : 1)];
    close_oldest(place);
    if (first)
        file->format->open(file);
    else
        file->format->reopen(file);
    *place = file;
}

/* Limits the CPU time of the request; SIGPROF then ends the child. Each 64 MB (2^26) of a file that
 * is listed, and each 256 MB (2^28) of elements, adds as much time again. */
static void limit_time(void)
{
    enum { MOST_PIECES = 10 }; /* a broken file must fail soon, however large it is */
    const int64_t listed = shared->bytes >> 26;
    const int64_t pieces = shared->call == DECODE ? shared->bytes >> 28
                           : shared->call == OPEN ? (listed < MOST_PIECES ? listed : MOST_PIECES)
                                                  : 0;

    setitimer(ITIMER_PROF,
              &(struct itimerval){ .it_value = { .tv_sec = cmd_reader_seconds * (1 + pieces) } },
              NULL);
}

/* Runs in the child: serves requests until the command ends. Signals of the terminal are left to
 * the parent. AddressSanitizer gets the bounds of what each process has allocated. */
static _Noreturn void run_child(pid_t parent)
{
    static const int own[]     = { SIGBUS, SIGPROF, SIGPIPE };
    static const int parents[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        signal(own[k], SIG_DFL);
    for (size_t k = 0; k < sizeof parents / sizeof *parents; k++)
        signal(parents[k], SIG_IGN); /* the parent handles it, and ends its child */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent has ended before that */
        _exit(0);
    ASAN_POISON_MEMORY_REGION((char *)shared + BEGIN, SHARED_BYTES - BEGIN);
    cmd_live_elsewhere(shared_room, fail_in_child);
    size_t known = BEGIN; /* the parent has allocated more meanwhile */
    for (int fd; take_turn(&fd);) {
        ASAN_UNPOISON_MEMORY_REGION((char *)shared + known, shared->used - known);
        const cmd_format *format = shared->file->format;

        limit_time();
        ensure_open(shared->file, shared->call == OPEN);
        switch (shared->call) {
        case OPEN: break;
        case PLACE: shared->place = format->place(shared->file, shared->v); break;
        case DECODE: decode(fd); break;
        case COORDINATES: format->coordinates(shared->file, shared->v); break;
        case SAY: say(shared->file, shared->v); break;
        case TEXTS: shared->v->said->texts = format->texts(shared->file, shared->v); break;
        }
        cmd_keep_counts();
        known = shared->used; /* before the parent goes on, and may allocate more */
        if (!send_turn(-1))
            break;
    }
    _exit(0);
}

/* ---- The parent ------------------------------------------------------------------------------ */
/* Kills the child at exit, and waits for it. It has files open and locked, which a next writer must
 * not find. */
static void end_child(void)
{
    if (child > 0)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Makes the shared memory and the socket, and forks the child. Each process keeps one end of the
 * socket. */
static void start_child(void)
{
    int        ends[2];
    pid_t      self = 0;
    void      *at   = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool ready =
        at != MAP_FAILED && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;

    if (ready) {
        shared  = at;
        *shared = (request_block){ .used = BEGIN };
        fflush(NULL);
        self  = getpid();
        child = fork();
    }
    if (!ready || child < 0)
        cmd_fail("the process that reads files cannot be started: %s", strerror(errno));
    channel = ends[child != 0];
    close(ends[child == 0]);
    if (child == 0)
        run_child(self);
    atexit(end_child);
}

/* Waits for the death of the child, up to a second. False: it lives on. A child that crashes dies
 * some milliseconds after its end of the socket is closed. */
static bool has_died(int *status)
{
    for (int k = 0; k < 100; k++) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    return false;
}

/* Ends the program with the child's own sentence, or one about its crash or time limit. `number` is
 * the signal that killed the child; 0: it exited, or lives on. */
static _Noreturn void report_death(const char *path, const char *doing, int error)
{
    int        status = 0;
    const bool died   = has_died(&status);

    if (!died)
        end_child();
    child            = 0;
    const int number = died && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (shared->sentence)
        cmd_end(shared->status, shared->sentence);
    if (number == SIGKILL)
        cmd_fail("%s: the process that reads it was killed (out of memory?)", path);
    if (!number && (!died || WEXITSTATUS(status) == 0))
        cmd_fail("%s: the process that reads it cannot be %s: %s", path, doing,
                 error ? strerror(error) : "it has ended");
    cmd_fail("%s: broken in such a way that the library that reads it %s", path,
             number == SIGPROF ? "does not end" : "crashes");
}

/* Sends a request to the child, and waits for the answer; Ctrl-C is seen each 200 ms. A failure
 * ends the program. `fd` is a file to send along, or -1. */
static void request(call what, cmd_file *file, const cmd_variable *v, int fd, int64_t bytes)
{
    struct pollfd watch = { .fd = channel, .events = POLLIN };
    int           none;

    shared->call  = what;
    shared->file  = file;
    shared->v     = (cmd_variable *)v;
    shared->bytes = bytes;
    if (!send_turn(fd))
        report_death(file->path, "asked", errno);
    while (poll(&watch, 1, 200) <= 0)
        cmd_may_go_on();
    errno = 0;
    if (!take_turn(&none))
        report_death(file->path, "heard", errno);
    if (shared->sentence)
        cmd_end(shared->status, shared->sentence);
}

/* Starts the reader process at the first call, and opens a file in it. All that the child must see
 * lies in shared memory. */
cmd_file *cmd_reader_open(rd_ctx *ctx, const char *path, const cmd_format *format)
{
    if (!shared) {
        format->load(path); /* before fork(): the parent may write results by the library */
        start_child();
    }
    struct stat  facts = { 0 };
    const size_t n     = strlen(path) + 1;
    cmd_file    *file  = shared_room(sizeof *file);

    *file = (cmd_file){ .ctx = ctx, .path = memcpy(shared_room(n), path, n), .format = format };
    (void)stat(path, &facts); /* a failure is ignored: the child reports it */
    request(OPEN, file, NULL, -1, (int64_t)facts.st_size);
    return file;
}

/* Asks the child where the elements of a variable are. */
cmd_place cmd_reader_place(cmd_file *file, const cmd_variable *v)
{
    request(PLACE, file, v, -1, 0);
    return shared->place;
}

/* Sends the file `to` with the request, and waits until the rows are in it. */
void cmd_reader_decode(cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, int to,
                       int64_t bytes)
{
    shared->first = first;
    shared->rows  = n;
    request(DECODE, file, v, to, bytes);
}

/* Asks the child to read the coordinates of a variable's axes into shared memory. No file is sent
 * along (-1), and the number of bytes is not used. */
void cmd_reader_coordinates(cmd_file *file, cmd_variable *v)
{
    request(COORDINATES, file, v, -1, 0);
}

/* Asks the child to read the attributes of a variable, or of the file if v is NULL. */
void cmd_reader_say(cmd_file *file, cmd_variable *v)
{
    request(SAY, file, v, -1, 0);
}

/* Asks the child to read a variable of text. */
void cmd_reader_texts(cmd_file *file, cmd_variable *v)
{
    request(TEXTS, file, v, -1, 0);
}
