/* pieces.c - bytes of a file that cannot be used where they lie, read piece by piece by several
 * threads, and pages of one that is to be written: what takes longest is that memory is new, and
 * the other byte order. */
#include "files/file.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on; another one says that it does not know it */
#endif

enum { PIECE = 1 << 22, MOST_THREADS = 8 };

typedef struct job {
    int              fd; /* -1: pages are made */
    char            *to;
    int64_t          bytes, offset, swapped; /* size of what is turned, or 0 */
    const cmd_chunk *chunk;                  /* of `each` bytes, instead of offset */
    int64_t          each;
    atomic_llong     next;  /* piece */
    atomic_int       error; /* of errno; -1: the file is too short */
} job;

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

/* Reads n bytes from place `at` of the variable on, from one chunk or several. */
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

static int do_range(const job *j, int64_t at, int64_t n)
{
    if (j->fd >= 0)
        return read_range(j, at, n);
    (void)madvise(j->to + at, (size_t)n, MADV_POPULATE_WRITE);
    return 0;
}

static void *work_on_range(void *of)
{
    job *j = of;

    for (int64_t at; (at = atomic_fetch_add(&j->next, 1) * PIECE) < j->bytes;) {
        const int64_t n       = j->bytes - at < PIECE ? j->bytes - at : PIECE;
        int           nothing = 0;

        if (atomic_load(&j->error) || cmd_interrupted())
            break;
        const int error = do_range(j, at, n);
        if (error)
            atomic_compare_exchange_strong(&j->error, &nothing, error);
        else if (j->swapped)
            cmd_swap(j->to + at, n / j->swapped, j->swapped);
    }
    return NULL;
}

void cmd_share_work(void *(*work)(void *of), void *of, int64_t pieces)
{
    pthread_t  thread[MOST_THREADS];
    const long here = sysconf(_SC_NPROCESSORS_ONLN), most = here < pieces ? here : (long)pieces;
    int        n = 0;

    while (n < most - 1 && n < MOST_THREADS && pthread_create(&thread[n], NULL, work, of) == 0)
        n++;
    work(of); /* alone, where there can be no others */
    while (n > 0)
        pthread_join(thread[--n], NULL);
    cmd_may_go_on();
}

void cmd_fail_of_piece(const char *path, int error)
{
    if (error)
        cmd_fail("%s: %s", path, error > 0 ? strerror(error) : "became shorter while it was read");
}

static void run(job *j, const char *path)
{
    cmd_share_work(work_on_range, j, j->bytes / PIECE);
    cmd_fail_of_piece(path, atomic_load(&j->error));
}

void cmd_read_pieces(int fd, const char *path, void *to, int64_t bytes, int64_t offset,
                     int64_t swapped)
{
    run(&(job){ .fd = fd, .to = to, .bytes = bytes, .offset = offset, .swapped = swapped }, path);
}

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

void cmd_make_pages(void *to, int64_t bytes)
{
    run(&(job){ .fd = -1, .to = to, .bytes = bytes }, "");
}
