/* streams.c - standard input and output, and named pipes: bytes that come once, in order.
 *
 * Input is copied to memory, or to a file if it is large, and is then read like a file. Output is
 * written to such a file first, and copied to the stream when it is complete. */
#include "files/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STREAMS = 64, PIECE = 1 << 20 }; /* PIECE: bytes that are read or written at once */

/* The streams that were read. Device and inode tell two names of one pipe. */
static struct stream {
    const char *path;
    dev_t       device;
    ino_t       inode;
    int         kept; /* file that holds its bytes */
} streams[MOST_STREAMS];
static int n_streams;

/* True if the path means standard input or output: "-", or the name of the device. */
static bool is_standard(const char *path, const char *device)
{
    return strcmp(path, "-") == 0 || strcmp(path, device) == 0;
}

/* True if the path is standard input or output, or a named pipe. */
bool cmd_is_stream(const char *path)
{
    struct stat facts;

    return is_standard(path, "/dev/stdin") || is_standard(path, "/dev/stdout") ||
           (stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode));
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Waits for data by poll(), which a signal interrupts, and reads them. A bare read() would be
 * restarted after the signal. */
static ssize_t read_some(int fd, const char *path, char *to)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    for (;;) {
        if (poll(&ready, 1, -1) > 0) {
            const ssize_t n = read(fd, to, PIECE);
            if (n >= 0)
                return n;
        }
        cmd_may_go_on();
        if (errno != EINTR && errno != EAGAIN)
            cmd_fail("%s: %s", path, strerror(errno));
    }
}

/* Copies the bytes to a file of twice their size. Above the memory limit it is a file without a
 * name. */
static int move_to_larger_file(int kept, int64_t bytes, const char *path)
{
    const int larger = cmd_storage_file(2 * bytes, path);
    char     *piece  = cmd_room(PIECE);

    for (int64_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < PIECE ? bytes - at : PIECE;
        cmd_read_at(kept, path, piece, n, at);
        cmd_write_at(larger, path, piece, n, at);
    }
    close(kept);
    return larger;
}

/* Reads the whole stream into a file without a name. The file begins with 8 MB, and is replaced by
 * a larger one when it is full. */
static int save_stream(int fd, const char *path)
{
    int64_t room = INT64_C(8) << 20, bytes = 0;
    int     kept  = cmd_storage_file(room, path);
    char   *piece = cmd_room(PIECE);

    for (ssize_t n; (n = read_some(fd, path, piece)) > 0; bytes += n) {
        if (bytes + n > room) {
            kept = move_to_larger_file(kept, bytes, path);
            room = 2 * bytes;
        }
        cmd_write_at(kept, path, piece, n, bytes);
    }
    if (ftruncate(kept, (off_t)bytes) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    return kept;
}

/* Opens standard input as a new descriptor, of at least 3, or a named pipe without waiting for a
 * writer. */
static int open_stream(const char *path, struct stat *facts)
{
    const bool standard = is_standard(path, "/dev/stdin");
    const int  fd       = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                   : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 || fstat(fd, facts) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    if (S_ISDIR(facts->st_mode))
        cmd_fail("%s: a directory", path);
    return fd;
}

/* Finds a stream that was read before, by its path or its inode, or reads it, as its bytes come
 * only once. A regular file that is read from its start as standard input (`whole`) needs no
 * copy. */
static const struct stream *stream_of(const char *path)
{
    struct stat facts;

    for (int k = 0; k < n_streams; k++)
        if (strcmp(streams[k].path, path) == 0)
            return &streams[k];
    const int fd = open_stream(path, &facts);
    for (int k = 0; k < n_streams; k++)
        if (streams[k].device == facts.st_dev && streams[k].inode == facts.st_ino) {
            close(fd);
            return &streams[k];
        }
    if (n_streams == MOST_STREAMS)
        cmd_misuse("more than %d pipes to read", MOST_STREAMS);
    const bool whole = S_ISREG(facts.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
    streams[n_streams] =
        (struct stream){ path, facts.st_dev, facts.st_ino, whole ? fd : save_stream(fd, path) };
    if (!whole)
        close(fd);
    return &streams[n_streams++];
}

/* Returns a new descriptor (3 or above, no standard stream) of the file that holds the stream's
 * bytes, and its size. */
int cmd_open_stream(const char *path, int64_t *size)
{
    struct stat facts;
    const int   fd = fcntl(stream_of(path)->kept, F_DUPFD_CLOEXEC, 3);

    if (fd < 0 || fstat(fd, &facts) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    *size = (int64_t)facts.st_size;
    return fd;
}

/* Returns the path itself, or, for a stream, the path of the file that holds its bytes. */
const char *cmd_path_to_open(const char *path)
{
    return cmd_is_stream(path) ? cmd_text("/proc/self/fd/%d", stream_of(path)->kept) : path;
}

/* ---- Writing --------------------------------------------------------------------------------- */
/* Makes an empty file without a name, for about so many bytes, and returns its path. */
const char *cmd_stream_aside(int64_t bytes, const char *path)
{
    const int fd = cmd_storage_file(bytes > 0 ? bytes : 1, path);

    if (ftruncate(fd, 0) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    return cmd_text("/proc/self/fd/%d", fd);
}

/* Opens a pipe to write, and waits until a reader opens it, or a signal comes. */
static int open_to_write(const char *path)
{
    const struct timespec pause = { .tv_nsec = 50000000 };
    int                   fd;

    while ((fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0 && errno == ENXIO) {
        cmd_may_go_on();
        nanosleep(&pause, NULL);
    }
    return fd;
}

/* Writes all bytes to a pipe. While it is full (EAGAIN), poll() waits, in steps of 200 ms so that
 * Ctrl-C is seen. */
static void write_all(int fd, const char *path, const char *from, int64_t n)
{
    for (ssize_t put; n > 0; from += put, n -= put) {
        put = write(fd, from, (size_t)n);

        const int error = errno;
        cmd_may_go_on();
        if (put < 0 && error == EAGAIN) /* the pipe is full */
            (void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 200);
        errno = error;
        if (put < 0 && (errno == EINTR || errno == EAGAIN))
            put = 0;
        if (put < 0)
            cmd_fail("%s: cannot write: %s", path, strerror(errno));
    }
}

/* Copies the complete file `aside` to the stream, which is standard output or a named pipe. */
void cmd_stream_done(const char *path, const char *aside)
{
    const bool  standard = is_standard(path, "/dev/stdout");
    const int   from     = open(aside, O_RDONLY | O_CLOEXEC);
    const int   to       = standard ? STDOUT_FILENO : open_to_write(path);
    char       *piece    = cmd_room(PIECE);
    struct stat facts;

    if (from < 0 || to < 0 || fstat(from, &facts) != 0)
        cmd_fail("%s: cannot write: %s", path, strerror(errno));
    for (int64_t at = 0, n; at < (int64_t)facts.st_size; at += n) {
        n = (int64_t)facts.st_size - at < PIECE ? (int64_t)facts.st_size - at : PIECE;
        cmd_read_at(from, path, piece, n, at);
        write_all(to, path, piece, n);
    }
    close(from);
    if (!standard)
        cmd_close_written(to, path);
}
