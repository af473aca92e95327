/* pieces.c - reads bytes of a file by several threads, where they cannot be used in place. Also
 * touches the pages of a file that is to be written. Page faults of new memory and byte swaps take
 * most of the time. */
#include "files/file.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on; older ones return an error */
#endif

/* Bytes that a thread takes at once; threads beside the first one. */
enum { PIECE = 1 << 22, MOST_THREADS = 8 };

/* The state that all threads share: the range to read, and the next piece. */
typedef struct job {
    int              fd; /* -1: touch pages, and read nothing */
    char            *to;
    int64_t          bytes, offset, swapped; /* swapped: size of byte-swapped units, or 0 */
    const cmd_chunk *chunk;                  /* chunks of `each` bytes, instead of offset */
    int64_t          each;
    atomic_llong     next;  /* the next piece */
    atomic_int       error; /* an errno; -1: the file is too short */
} job;

/* Reads n bytes, as one pread() may return fewer. Returns 0, an errno, or -1: the file is too
 * short. */
int cmd_read_piece(int fd, char *to, int64_t n, int64_t offset)
{
    while (n > 0) {
        const ssize_t got = pread(fd, to, (size_t)n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : -1;
        to += got;
        offset += got;
        n -= got;
    }
    return 0;
}

/* Reads n bytes from byte `at` of the variable on, from one range of the file or from several
 * chunks of `each` bytes. Returns an error of cmd_read_piece(). */
static int read_range(const job *j, int64_t at, int64_t n)
{
    if (!j->chunk)
        return cmd_read_piece(j->fd, j->to + at, n, j->offset + at);
    for (int64_t part; n > 0; at += part, n -= part) {
        const int64_t begun = at % j->each;

        part = n < j->each - begun ? n : j->each - begun;
        const int error =
            cmd_read_piece(j->fd, j->to + at, part, j->chunk[at / j->each].at + begun);
        if (error)
            return error;
    }
    return 0;
}

/* Does the work on one piece: reads it, or, without a file (fd is -1), touches its pages. */
static int read_or_touch(const job *j, int64_t at, int64_t n)
{
    if (j->fd >= 0)
        return read_range(j, at, n);
    (void)madvise(j->to + at, (size_t)n, MADV_POPULATE_WRITE);
    return 0;
}

/* Runs in each thread: takes piece after piece until none is left, one fails, or a signal comes.
 * The first error is kept. Bytes are swapped if the file has the other order. */
static void *work_by_thread(void *of)
{
    job *j = of;

    for (int64_t at; (at = atomic_fetch_add(&j->next, 1) * PIECE) < j->bytes;) {
        const int64_t n       = j->bytes - at < PIECE ? j->bytes - at : PIECE;
        int           nothing = 0;

        if (atomic_load(&j->error) || cmd_interrupted())
            break;
        const int error = read_or_touch(j, at, n);
        if (error)
            atomic_compare_exchange_strong(&j->error, &nothing, error);
        else if (j->swapped)
            cmd_swap(j->to + at, n / j->swapped, j->swapped);
    }
    return NULL;
}

/* Runs work(of) in up to MOST_THREADS new threads, as many as there are processors or pieces, and
 * in this one, too, which is enough if no thread can be started. */
void cmd_share_work(void *(*work)(void *of), void *of, int64_t pieces)
{
    pthread_t  thread[MOST_THREADS];
    const long here = sysconf(_SC_NPROCESSORS_ONLN), most = here < pieces ? here : (long)pieces;
    int        n = 0;

    while (n < most - 1 && n < MOST_THREADS && pthread_create(&thread[n], NULL, work, of) == 0)
        n++;
    work(of); /* this thread works, too; alone if none could be started */
    while (n > 0)
        pthread_join(thread[--n], NULL);
    cmd_may_go_on();
}

/* Ends the program with a sentence about an error of cmd_read_piece(): an errno, or -1 for a file
 * that is too short. 0 is no error. */
void cmd_fail_of_piece(const char *path, int error)
{
    if (error)
        cmd_fail("%s: %s", path, error > 0 ? strerror(error) : "became shorter while it was read");
}

/* Shares the pieces of a job among threads, and ends the program if one fails. */
static void run(job *j, const char *path)
{
    cmd_share_work(work_by_thread, j, j->bytes / PIECE);
    cmd_fail_of_piece(path, atomic_load(&j->error));
}

/* Reads one contiguous range of the file by all threads, and swaps units of `swapped` bytes; 0:
 * none. */
void cmd_read_pieces(int fd, const char *path, void *to, int64_t bytes, int64_t offset,
                     int64_t swapped)
{
    run(&(job){ .fd = fd, .to = to, .bytes = bytes, .offset = offset, .swapped = swapped }, path);
}

/* Reads chunks that are adjacent in the array, one behind the other, by all threads. All but the
 * last one have the same size. */
void cmd_read_runs(int fd, const char *path, void *to, int64_t bytes, const cmd_place *place)
{
    run(&(job){ .fd      = fd,
                .to      = to,
                .bytes   = bytes,
                .swapped = place->swapped,
                .chunk   = place->chunk,
                .each    = place->chunk[0].bytes },
        path);
}

/* Makes all pages of mapped memory, by all threads. A descriptor of -1 means that nothing is
 * read. */
void cmd_make_pages(void *to, int64_t bytes)
{
    run(&(job){ .fd = -1, .to = to, .bytes = bytes }, "");
}
