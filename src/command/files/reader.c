/* reader.c - the process in which libraries read files. */
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

enum { SHARED_BYTES = 1 << 30, GAP = 16 }; /* pages are made as they are written to */

int cmd_reader_seconds = 30;

typedef enum call { OPEN, PLACE, DECODE, COORDINATES, SAY, TEXTS } call;

/* The beginning of the shared memory.  One process waits while the other works, so there is no
 * lock. */
typedef struct desk {
    size_t used;
    /* what is asked for */
    call          call;
    cmd_file     *file;
    cmd_variable *v;
    int64_t       bytes;       /* of DECODE: of elements; of OPEN: of the file */
    int64_t       first, rows; /* of DECODE */
    /* the answer */
    cmd_place   place;
    int         status;
    const char *sentence; /* a failure; NULL: none */
} desk;
enum { BEGIN = (sizeof(desk) + 15) / 16 * 16 };

static desk *shared;
static int   line = -1; /* to the other side: a byte says that it is its turn */
static pid_t child;

/* ---- Shared memory --------------------------------------------------------------------------- */
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

/* ---- A byte, and maybe a file, for the other side -------------------------------------------- */
typedef union rights {
    struct cmsghdr align;
    char           room[CMSG_SPACE(sizeof(int))];
} rights;

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
        n = sendmsg(line, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* False: the other side is gone, or cannot be heard. */
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
        n = recvmsg(line, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *header = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    *fd                    = -1;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(header), sizeof *fd);
    return n == 1;
}

/* ---- The child ------------------------------------------------------------------------------- */
static _Noreturn void fail_over_there(int status, const char *sentence)
{
    shared->status   = status;
    shared->sentence = sentence;
    cmd_keep_counts();
    send_turn(-1);
    _exit(status);
}

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

static void say(cmd_file *file, cmd_variable *v)
{
    cmd_said *const said = file->format->say(file, v);

    *(v ? &v->said : &file->said) = said;
}

/* ---- Files that are open: as many at a time as leave half of what a process may have ---------- */
enum { MOST_OPEN = 256 };
static cmd_file *opened[MOST_OPEN];
static long      n_opened;

static bool is_open(const cmd_file *file)
{
    for (int k = 0; k < MOST_OPEN; k++)
        if (opened[k] == file)
            return true;
    return false;
}

static void close_oldest(cmd_file **place)
{
    if (*place)
        (*place)->format->close(*place);
    *place = NULL;
}

/* Takes the place of the one that was opened first. */
static void bring_open(cmd_file *file, bool first)
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

static void limit_time(void)
{
    enum { MOST_PIECES = 10 }; /* of a broken file the end is wanted, however large it is */
    const int64_t listed = shared->bytes >> 26;
    const int64_t pieces = shared->call == DECODE ? shared->bytes >> 28
                           : shared->call == OPEN ? (listed < MOST_PIECES ? listed : MOST_PIECES)
                                                  : 0;

    setitimer(ITIMER_PROF,
              &(struct itimerval){ .it_value = { .tv_sec = cmd_reader_seconds * (1 + pieces) } },
              NULL);
}

static _Noreturn void serve(pid_t parent)
{
    static const int own[]     = { SIGBUS, SIGPROF, SIGPIPE };
    static const int parents[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        signal(own[k], SIG_DFL);
    for (size_t k = 0; k < sizeof parents / sizeof *parents; k++)
        signal(parents[k], SIG_IGN); /* the parent hears it, and takes its child along */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* who went before that */
        _exit(0);
    ASAN_POISON_MEMORY_REGION((char *)shared + BEGIN, SHARED_BYTES - BEGIN);
    cmd_live_elsewhere(shared_room, fail_over_there);
    size_t known = BEGIN; /* the parent took room meanwhile */
    for (int fd; take_turn(&fd);) {
        ASAN_UNPOISON_MEMORY_REGION((char *)shared + known, shared->used - known);
        const cmd_format *format = shared->file->format;

        limit_time();
        bring_open(shared->file, shared->call == OPEN);
        switch (shared->call) {
        case OPEN: break;
        case PLACE: shared->place = format->place(shared->file, shared->v); break;
        case DECODE: decode(fd); break;
        case COORDINATES: format->coordinates(shared->file, shared->v); break;
        case SAY: say(shared->file, shared->v); break;
        case TEXTS: shared->v->said->texts = format->texts(shared->file, shared->v); break;
        }
        cmd_keep_counts();
        known = shared->used; /* before the parent goes on, which may take more */
        if (!send_turn(-1))
            break;
    }
    _exit(0);
}

/* ---- The parent ------------------------------------------------------------------------------ */
/* Files are open there, and locked: who writes to one next must not find that. */
static void end_reader(void)
{
    if (child > 0)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void start(void)
{
    int        ends[2];
    pid_t      self = 0;
    void      *at   = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool ready =
        at != MAP_FAILED && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;

    if (ready) {
        shared  = at;
        *shared = (desk){ .used = BEGIN };
        fflush(NULL);
        self  = getpid();
        child = fork();
    }
    if (!ready || child < 0)
        cmd_fail("the process that reads files cannot be started: %s", strerror(errno));
    line = ends[child != 0];
    close(ends[child == 0]);
    if (child == 0)
        serve(self);
    atexit(end_reader);
}

/* The child's status, once it has died; false: it lives on, and must be ended.  One that breaks, dies
 * within some milliseconds of the moment when its end of the line is closed. */
static bool has_died(int *status)
{
    for (int k = 0; k < 100; k++) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    return false;
}

static _Noreturn void tell_death(const char *path, const char *doing, int error)
{
    int        status = 0;
    const bool died   = has_died(&status);

    if (!died)
        end_reader();
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

static void ask(call what, cmd_file *file, const cmd_variable *v, int fd, int64_t bytes)
{
    struct pollfd watch = { .fd = line, .events = POLLIN };
    int           none;

    shared->call  = what;
    shared->file  = file;
    shared->v     = (cmd_variable *)v;
    shared->bytes = bytes;
    if (!send_turn(fd))
        tell_death(file->path, "asked", errno);
    while (poll(&watch, 1, 200) <= 0)
        cmd_may_go_on();
    errno = 0;
    if (!take_turn(&none))
        tell_death(file->path, "heard", errno);
    if (shared->sentence)
        cmd_end(shared->status, shared->sentence);
}

cmd_file *cmd_reader_open(rd_ctx *ctx, const char *path, const cmd_format *format)
{
    if (!shared) {
        format->load(path); /* once for both: results may be written by the same library */
        start();
    }
    struct stat  facts = { 0 };
    const size_t n     = strlen(path) + 1;
    cmd_file    *file  = shared_room(sizeof *file);

    *file = (cmd_file){ .ctx = ctx, .path = memcpy(shared_room(n), path, n), .format = format };
    (void)stat(path, &facts); /* it was opened before; if it is gone, the other side says so */
    ask(OPEN, file, NULL, -1, (int64_t)facts.st_size);
    return file;
}

cmd_place cmd_reader_place(cmd_file *file, const cmd_variable *v)
{
    ask(PLACE, file, v, -1, 0);
    return shared->place;
}

void cmd_reader_decode(cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, int to,
                       int64_t bytes)
{
    shared->first = first;
    shared->rows  = n;
    ask(DECODE, file, v, to, bytes);
}

void cmd_reader_coordinates(cmd_file *file, cmd_variable *v)
{
    ask(COORDINATES, file, v, -1, 0);
}

void cmd_reader_say(cmd_file *file, cmd_variable *v)
{
    ask(SAY, file, v, -1, 0);
}

void cmd_reader_texts(cmd_file *file, cmd_variable *v)
{
    ask(TEXTS, file, v, -1, 0);
}
