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
    int            fd; /* -1: pages are made */
    char          *to;
    int64_t        bytes, offset, swapped; /* size of what is turned, or 0 */
    const int64_t *chunk; /* where each chunk of `each` bytes is, instead of offset */
    int64_t        each;
    atomic_llong   next;  /* piece */
    atomic_int     error; /* of errno; -1: the file is too short */
} job;

static int read_piece(const job *j, char *to, int64_t n, int64_t offset)
{
    while (n > 0) {
        const ssize_t got = pread(j->fd, to, (size_t)n, (off_t)offset);

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

/* So many bytes for place `at`, of one chunk or of several. */
static int read_range(const job *j, int64_t at, int64_t n)
{
    if (!j->chunk)
        return read_piece(j, j->to + at, n, j->offset + at);
    for (int64_t part; n > 0; at += part, n -= part) {
        const int64_t begun = at % j->each;

        part            = n < j->each - begun ? n : j->each - begun;
        const int error = read_piece(j, j->to + at, part, j->chunk[at / j->each] + begun);
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

static void *work(void *of)
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

static void run(job *j, const char *path)
{
    pthread_t  thread[MOST_THREADS];
    const long here = sysconf(_SC_NPROCESSORS_ONLN), pieces = (long)(j->bytes / PIECE);
    const long most = here < pieces ? here : pieces;
    int        n    = 0;

    while (n < most - 1 && n < MOST_THREADS && pthread_create(&thread[n], NULL, work, j) == 0)
        n++;
    work(j); /* alone, where there can be no others */
    while (n > 0)
        pthread_join(thread[--n], NULL);
    cmd_may_go_on();
    const int error = atomic_load(&j->error);
    if (error)
        cmd_fail("%s: %s", path, error > 0 ? strerror(error) : "became shorter while it was read");
}

void cmd_read_pieces(int fd, const char *path, void *to, int64_t bytes, int64_t offset,
                     int64_t swapped)
{
    run(&(job){ .fd = fd, .to = to, .bytes = bytes, .offset = offset, .swapped = swapped }, path);
}

void cmd_read_chunks(int fd, const char *path, void *to, int64_t bytes, int64_t each,
                     const int64_t *offset)
{
    run(&(job){ .fd = fd, .to = to, .bytes = bytes, .chunk = offset, .each = each }, path);
}

void cmd_make_pages(void *to, int64_t bytes)
{
    run(&(job){ .fd = -1, .to = to, .bytes = bytes }, "");
}
