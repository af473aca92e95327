/* chunks.c - reads chunked arrays: all threads read chunks, inflate them and copy the elements to
 * their places. A library would do so chunk after chunk.
 *
 * A chunk is a box of the array that the file stores as one piece. Filters such as deflate were
 * applied to its bytes before they were written. */
#include "files/chunks.h"
#include "files/inflate.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Contiguous chunks ----------------------------------------------------------------------- */
/* True if each chunk is one contiguous run of the array: extent 1 along some first axes, then one
 * axis that is cut, then whole axes. */
static bool are_runs(const cmd_variable *v, const cmd_place *p)
{
    int k = 0;

    while (k < v->shape.n && p->extent[k] == 1)
        k++;
    for (int a = k + 1; a < v->shape.n; a++)
        if (p->extent[a] != v->shape.at[a])
            return false;
    /* a cut axis that is no multiple of chunks would leave a gap before the next row */
    return k == 0 || k >= v->shape.n || v->shape.at[k] % p->extent[k] == 0;
}

/* ---- Filters --------------------------------------------------------------------------------- */
/* Undoes the shuffle filter, which stores the first bytes of all elements, then the second ones,
 * and so on. */
#define UNSHUFFLE(T)                                                                    \
    static void unshuffle_##T(const uint8_t *from, void *to, int64_t n)                 \
    {                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                               \
            T element = 0;                                                              \
                                                                                        \
            for (int64_t b = 0; b < (int64_t)sizeof element; b++)                       \
                element = (T)(element | (T)((T)from[b * n + i] << 8 * b));              \
            memcpy((char *)to + i * (int64_t)sizeof element, &element, sizeof element); \
        }                                                                               \
    }
UNSHUFFLE(uint16_t)
UNSHUFFLE(uint32_t)
UNSHUFFLE(uint64_t)

/* Undoes the shuffle filter on n elements of `size` bytes: byte b of element i stands at place b *
 * n + i. */
static void unshuffle(const void *from, void *to, int64_t n, int64_t size)
{
    switch (size) {
    case 2: unshuffle_uint16_t(from, to, n); break;
    case 4: unshuffle_uint32_t(from, to, n); break;
    case 8: unshuffle_uint64_t(from, to, n); break;
    default:
        for (int64_t b = 0; b < size; b++)
            for (int64_t i = 0; i < n; i++)
                ((uint8_t *)to)[i * size + b] = ((const uint8_t *)from)[b * n + i];
    }
}

enum { DAMAGED = -2 }; /* an error: a chunk does not unpack to its size */

/* ---- One chunk ------------------------------------------------------------------------------- */
/* The state that all threads share: the request, and the next chunk. */
typedef struct job {
    int                 fd;
    const cmd_variable *v;
    const cmd_place    *place;
    const rd_part      *part;
    char               *to;
    int64_t      size, whole, packed; /* bytes: of an element, a chunk, the largest packed chunk */
    atomic_llong next;
    atomic_int   error; /* an error of cmd_read_piece(), or DAMAGED */
} job;

/* The overlap of a chunk with the wanted part. Steps and offsets are in bytes, of the array (`to`)
 * and of the chunk (`from`). */
typedef struct box {
    int     n;
    int64_t count[RD_MAX_RANK], to_step[RD_MAX_RANK], from_step[RD_MAX_RANK];
    int64_t to, from; /* offsets of the first element */
} box;

/* Finds the overlap of chunk k with the wanted part. False: it is empty. Chunks are numbered in C
 * order. Along each axis, `here` is the extent of a chunk, and `start` the chunk's first index. */
static bool find_box(const job *j, int64_t k, box *b)
{
    int64_t to_step = j->size, from_step = j->size;

    *b = (box){ .n = j->v->shape.n };
    for (int a = b->n; a-- > 0;) {
        const int64_t extent = j->v->shape.at[a], here = j->place->extent[a];
        const int64_t n = (extent + here - 1) / here, start = k % n * here;
        const int64_t low = j->part->first.at[a], high = low + j->part->shape.at[a];
        const int64_t first = low > start ? low : start,
                      end   = high < start + here ? high : start + here;

        k /= n;
        if (first >= end)
            return false;
        b->count[a]     = end - first;
        b->to_step[a]   = to_step;
        b->from_step[a] = from_step;
        b->to += first * to_step;
        b->from += (first - start) * from_step;
        to_step *= extent;
        from_step *= here;
    }
    return true;
}

/* Bytes from the first to the last element of the box, which lie in one chunk. A chunk without
 * filters is read from the one to the other. */
static int64_t span_of(const job *j, const box *b)
{
    int64_t bytes = j->size;

    for (int a = 0; a < b->n; a++)
        bytes += (b->count[a] - 1) * b->from_step[a];
    return bytes;
}

/* Copies the elements of a box to their places in the array, row by row along the last axis. The
 * number of a row, divided by the counts of the other axes in turn, gives its indices. */
static void copy_box(const job *j, const box *b, const char *from)
{
    const int last = b->n - 1;
    int64_t   rows = 1;

    for (int a = 0; a < last; a++)
        rows *= b->count[a];
    for (int64_t r = 0; r < rows; r++) {
        int64_t left = r, to_at = b->to, from_at = b->from;

        for (int a = last - 1; a >= 0 && left > 0; a--) {
            to_at += left % b->count[a] * b->to_step[a];
            from_at += left % b->count[a] * b->from_step[a];
            left /= b->count[a];
        }
        memcpy(j->to + to_at, from + from_at, (size_t)(b->count[last] * j->size));
    }
}

/* Reads the wanted span of a chunk without filters, and swaps bytes where the file has the other
 * order. Returns 0 or an error of cmd_read_piece(). */
static int read_plain(const job *j, int64_t k, const box *b, char *room)
{
    const int64_t n     = span_of(j, b);
    const int     error = cmd_read_piece(j->fd, room + b->from, n, j->place->chunk[k].at + b->from);

    if (!error && j->place->swapped)
        cmd_swap(room + b->from, n / j->place->swapped, j->place->swapped);
    return error;
}

/* Reads chunk k and undoes its filters, last one first. Each filter takes the bytes from one of two
 * buffers to the other; `now` is the one that has them. Bit f of `left_out` says that filter f was
 * not applied to this chunk. Returns the elements in C order; NULL: *error says why. */
static const char *unpack(const job *j, int64_t k, char *room[2], int *error)
{
    const cmd_chunk *const chunk = &j->place->chunk[k];
    int64_t                bytes = chunk->bytes;
    int                    now   = 0;

    if ((*error = cmd_read_piece(j->fd, room[0], bytes, chunk->at)))
        return NULL;
    *error = DAMAGED;
    for (int f = j->place->n_filter; f-- > 0;) {
        if (chunk->left_out >> f & 1)
            continue;
        if (j->place->filter[f] == CMD_DEFLATED) {
            if (!cmd_inflate(room[now], bytes, room[!now], j->whole))
                return NULL;
            bytes = j->whole;
        } else {
            if (bytes != j->whole)
                return NULL;
            unshuffle(room[now], room[!now], j->whole / j->size, j->size);
        }
        now = !now;
    }
    if (bytes != j->whole)
        return NULL;
    *error = 0;
    return room[now];
}

/* Reads the wanted elements of chunk k to their places. Returns 0, an error of cmd_read_piece(), or
 * DAMAGED. */
static int read_chunk(const job *j, int64_t k, const box *b, char *room[2])
{
    int         error = 0;
    const char *from  = room[0];

    if (j->place->n_filter == 0)
        error = read_plain(j, k, b, room[0]);
    else
        from = unpack(j, k, room, &error);
    if (!error)
        copy_box(j, b, from);
    return error;
}

/* ---- All chunks ------------------------------------------------------------------------------ */
/* True if the part is the whole variable. Its first element is then at index 0 of each axis. */
static bool is_whole(const cmd_variable *v, const rd_part *part)
{
    for (int a = 0; a < v->shape.n; a++)
        if (part->shape.at[a] != v->shape.at[a])
            return false;
    return true;
}

/* Runs in each thread: takes chunk after chunk until none is left, or one fails. The first error is
 * kept. */
static void *read_by_thread(void *of)
{
    job          *j     = of;
    const int64_t bytes = j->packed > j->whole ? j->packed : j->whole;
    char *const   room  = malloc(2 * (size_t)bytes);
    int           error = room ? 0 : ENOMEM, nothing = 0;

    for (int64_t k; !error && (k = atomic_fetch_add(&j->next, 1)) < j->place->n;) {
        box b;

        if (!find_box(j, k, &b))
            continue;
        error = read_chunk(j, k, &b, (char *[]){ room, room + bytes });
        if (atomic_load(&j->error) || cmd_interrupted())
            break;
    }
    if (error)
        atomic_compare_exchange_strong(&j->error, &nothing, error);
    free(room);
    return NULL;
}

/* Reads all chunks that overlap the part, by all threads. False: a chunk is damaged. Ends the
 * program if the file cannot be read. */
static bool unpack_all(int fd, const char *path, const cmd_variable *v, const cmd_place *p,
                       const rd_part *part, void *to)
{
    job j = { .fd = fd, .v = v, .place = p, .part = part, .to = to, .size = cmd_size_of(v->type) };

    j.whole = j.size;
    for (int a = 0; a < v->shape.n; a++)
        j.whole *= p->extent[a];
    for (int64_t k = 0; k < p->n; k++)
        if (p->chunk[k].bytes > j.packed && find_box(&j, k, &(box){ 0 }))
            j.packed = p->chunk[k].bytes;
    (void)cmd_can_inflate(); /* loads the library before threads use it */
    cmd_share_work(read_by_thread, &j, p->n);
    const int error = atomic_load(&j.error);
    if (error != DAMAGED)
        cmd_fail_of_piece(path, error);
    return !error;
}

/* Reads the chunks that overlap the part. Chunks without filters that are runs of the array are
 * read directly into place if all are wanted; others go through buffers. False: a chunk is
 * damaged. */
bool cmd_read_chunks(const char *path, const cmd_variable *v, const cmd_place *p,
                     const rd_part *part, void *to)
{
    int64_t   size;
    bool      all = true;
    const int fd  = cmd_open_to_read(path, &size);

    if (p->n_filter == 0 && are_runs(v, p) && is_whole(v, part))
        cmd_read_runs(fd, path, to, cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type),
                      p);
    else
        all = unpack_all(fd, path, v, p, part, to);
    close(fd);
    return all;
}
