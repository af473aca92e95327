/* zarr_chunks.c - reads chunks of Zarr arrays by all threads. Each chunk is a file, or a part of a
 * shard's file; it is decompressed, and copied to its place. */
#if RDIM_JSON
#include "files/zarr.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An error: a chunk does not unpack; room for a key; bytes of a packed chunk. */
enum { DAMAGED = -2, MOST_KEY = 24 * RD_MAX_RANK, MOST_PACKED = INT32_MAX };

/* The state that all threads share: the array, the wanted chunks, and the next one. */
typedef struct job {
    const cmd_zarr     *z;
    const cmd_variable *v;
    char               *to;
    int64_t             size, whole; /* bytes of an element, and of a chunk */
    int64_t             first[RD_MAX_RANK], n[RD_MAX_RANK]; /* box of wanted chunks */
    int64_t             chunks;
    atomic_llong        next;
    atomic_int          error;               /* an errno; -1: a file is too short; DAMAGED */
    int64_t             failed[RD_MAX_RANK]; /* the chunk with the error */
} job;

/* The state of one thread: its chunk, and two buffers between which codecs work. */
typedef struct worker {
    const job *j;
    int64_t    at[RD_MAX_RANK]; /* index of the chunk along each axis */
    uint8_t   *room[2];
    int64_t    bytes[2];
} worker;

/* ---- Bytes of a chunk ------------------------------------------------------------------------ */
/* Makes buffer k at least so many bytes long. Its contents are lost. False: no memory. */
static bool make_room(worker *w, int k, int64_t bytes)
{
    if (w->bytes[k] >= bytes)
        return true;
    free(w->room[k]);
    w->room[k]  = malloc((size_t)bytes);
    w->bytes[k] = w->room[k] ? bytes : 0;
    return w->room[k];
}

/* Writes the name of the file of a chunk, or of its shard: "c/0/3" in version 3, "0.3" in version
 * 2. */
static void write_key(const worker *w, char key[MOST_KEY])
{
    const cmd_zarr *z    = w->j->z;
    const int       rank = w->j->v->shape.n;
    int             n    = snprintf(key, MOST_KEY, "%s", z->prefixed ? "c" : rank == 0 ? "0" : "");

    for (int a = 0; a < rank; a++) {
        const int64_t at = z->sharded ? w->at[a] / z->shard[a] : w->at[a];

        if (a || z->prefixed)
            key[n++] = z->separator;
        n += snprintf(key + n, (size_t)(MOST_KEY - n), "%lld", (long long)at);
    }
}

/* Reads a little-endian integer of 8 bytes. */
static uint64_t get64(const uint8_t *at)
{
    uint64_t value = 0;

    for (int k = 8; k-- > 0;)
        value = value << 8 | at[k];
    return value;
}

/* True if the chunk is the first wanted one of its shard, along each axis. It then checks the
 * shard's index, once for each shard. */
static bool is_first_of_shard(const worker *w)
{
    const cmd_zarr *z = w->j->z;

    for (int a = 0; a < w->j->v->shape.n; a++)
        if (w->at[a] % z->shard[a] != 0 && w->at[a] != w->j->first[a])
            return false;
    return true;
}

/* Checks the checksum of a shard's index, as wrong offsets would give wrong numbers. Called once
 * for each shard, as the index may be long. */
static int check_index(worker *w, int fd, int64_t begin, int64_t n)
{
    const char      *why = NULL;
    const cmd_packed crc = { .codec = cmd_codec_named("crc32c", &why) };

    if (!make_room(w, 0, n) || !make_room(w, 1, n))
        return ENOMEM;
    const int error = cmd_read_piece(fd, (char *)w->room[0], n, begin);
    return error ? error : cmd_unpack_bytes(&crc, w->room[0], n, w->room[1], n) < 0 ? DAMAGED : 0;
}

/* Finds the chunk in a shard of `size` bytes. *n becomes 0 if the chunk is missing. Returns 0, or
 * an error. The index has an offset and a length for each chunk, both all ones for a missing one:
 *
 *     offset0 bytes0 offset1 bytes1 .. [checksum]     8 bytes each, the checksum 4 bytes */
static int find_in_shard(worker *w, int fd, int64_t size, int64_t *offset, int64_t *n)
{
    const cmd_zarr *z      = w->j->z;
    int64_t         chunks = 1, k = 0;
    uint8_t         entry[16];

    for (int a = 0; a < w->j->v->shape.n; a++) {
        k = k * z->shard[a] + w->at[a] % z->shard[a];
        chunks *= z->shard[a];
    }
    const int64_t index = chunks * (int64_t)sizeof entry + (z->index_crc ? 4 : 0);
    if (index > size)
        return DAMAGED;
    const int64_t begin = z->index_first ? 0 : size - index;
    int error = z->index_crc && is_first_of_shard(w) ? check_index(w, fd, begin, index) : 0;
    if (!error)
        error = cmd_read_piece(fd, (char *)entry, sizeof entry, begin + k * (int64_t)sizeof entry);
    if (error)
        return error;
    const uint64_t at = get64(entry), bytes = get64(entry + 8);
    if (at == UINT64_MAX && bytes == UINT64_MAX)
        *n = 0;
    else if (bytes == 0 || at > (uint64_t)size || bytes > (uint64_t)size - at)
        return DAMAGED;
    else {
        *offset = (int64_t)at;
        *n      = (int64_t)bytes;
    }
    return 0;
}

/* Reads the packed chunk into the first buffer. *n becomes its number of bytes, or 0 if a shard
 * lacks the chunk. An empty file is damaged: its writer was interrupted. Returns 0, or an error. */
static int read_file(worker *w, int fd, int64_t *n)
{
    struct stat facts;
    int64_t     offset = 0;

    if (fstat(fd, &facts) != 0)
        return errno;
    *n              = (int64_t)facts.st_size;
    const int error = w->j->z->sharded ? find_in_shard(w, fd, *n, &offset, n) : 0;
    if (error || (*n == 0 && w->j->z->sharded))
        return error;
    if (*n == 0 || *n > MOST_PACKED)
        return DAMAGED;
    return make_room(w, 0, *n) ? cmd_read_piece(fd, (char *)w->room[0], *n, offset) : ENOMEM;
}

/* Opens the file of the chunk and reads it into the first buffer. *n becomes 0 if there is no file,
 * as the chunk was never written. Returns 0, or an error. */
static int read_packed(worker *w, int64_t *n)
{
    char key[MOST_KEY], *path = NULL;
    int  error;

    write_key(w, key);
    if (asprintf(&path, "%s/%s", w->j->z->folder, key) < 0)
        return ENOMEM;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    error        = fd < 0 ? errno : 0;
    free(path);
    *n = 0;
    if (error)
        return error == ENOENT ? 0 : error;
    error = read_file(w, fd, n);
    close(fd);
    return error;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Decompresses the chunk through all codecs, from one buffer to the other; `now` is the one that
 * has the bytes. NULL: *error says why. */
static const uint8_t *unpack(worker *w, int64_t n, int *error)
{
    const cmd_codecs *all  = &w->j->z->codecs;
    const int64_t     room = w->j->whole + 64; /* a checksum may stand behind the elements */
    int               now  = 0;

    for (int k = 0; k < all->n; k++, now = !now) {
        if (!make_room(w, !now, room)) {
            *error = ENOMEM;
            return NULL;
        }
        n = cmd_unpack_bytes(&all->at[k], w->room[now], n, w->room[!now], room);
        if (n < 0)
            break;
    }
    *error = n == w->j->whole ? 0 : DAMAGED;
    return *error ? NULL : w->room[now];
}

/* Fills the first buffer with the fill value, for a chunk that was never written. NULL: *error says
 * why. */
static const uint8_t *fill_chunk(worker *w, int *error)
{
    if (!make_room(w, 0, w->j->whole)) {
        *error = ENOMEM;
        return NULL;
    }
    for (int64_t i = 0; i < w->j->whole; i += w->j->size)
        memcpy(w->room[0] + i, w->j->z->fill, (size_t)w->j->size);
    return w->room[0];
}

/* The elements of a chunk that lie in the array: chunks at the ends exceed it. Steps are bytes from
 * one element to the next along each axis. */
typedef struct copy {
    int64_t count[RD_MAX_RANK], from_step[RD_MAX_RANK], to_step[RD_MAX_RANK], to;
} copy;

/* Computes counts and steps of a chunk. In the chunk, axes follow one another in the order
 * z->order, the fastest last; in the array, in C order. */
static copy plan_copy(const worker *w)
{
    const job *j    = w->j;
    const int  rank = j->v->shape.n;
    int64_t    step = j->size;
    copy       c    = { .to = 0 };

    for (int k = rank; k-- > 0; step *= j->z->extent[j->z->order[k]])
        c.from_step[j->z->order[k]] = step;
    step = j->size;
    for (int a = rank; a-- > 0; step *= j->v->shape.at[a]) {
        const int64_t start = w->at[a] * j->z->extent[a], left = j->v->shape.at[a] - start;

        c.count[a]   = left < j->z->extent[a] ? left : j->z->extent[a];
        c.to_step[a] = step;
        c.to += start * step;
    }
    return c;
}

/* Copies n elements that are `step` bytes apart, swaps their bytes if necessary, and makes bools 0
 * or 1. Complex numbers are swapped as two floats each. */
static void copy_row(const job *j, const uint8_t *from, char *to, int64_t n, int64_t step)
{
    if (step == j->size)
        memcpy(to, from, (size_t)(n * j->size));
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * j->size, from + i * step, (size_t)j->size);
    if (j->z->swapped) {
        const bool pairs = j->v->type == RD_C64 || j->v->type == RD_C128;

        cmd_swap(to, pairs ? 2 * n : n, pairs ? j->size / 2 : j->size);
    }
    for (int64_t i = 0; j->v->type == RD_BOOL && i < n; i++)
        to[i] = to[i] != 0;
}

/* Copies a chunk to its place, row by row along the last axis; an array without axes is one
 * element. A fill value is already in this machine's byte order. */
static void copy_chunk(const worker *w, const uint8_t *from, bool is_fill)
{
    const job *j    = w->j;
    const int  last = j->v->shape.n - 1;
    const copy c    = plan_copy(w);
    int64_t    rows = 1;
    job        own  = { .z = j->z, .v = j->v, .size = j->size };
    cmd_zarr   host = *j->z;

    host.swapped &= !is_fill;
    own.z = &host;
    for (int a = 0; a < last; a++)
        rows *= c.count[a];
    for (int64_t r = 0; r < rows; r++) {
        int64_t left = r, to = c.to, at = 0;

        for (int a = last - 1; a >= 0 && left > 0; a--) {
            const int64_t n = c.count[a] > 1 ? c.count[a] : 1;

            to += left % n * c.to_step[a];
            at += left % n * c.from_step[a];
            left /= n;
        }
        copy_row(&own, from + at, j->to + to, last < 0 ? 1 : c.count[last],
                 last < 0 ? j->size : c.from_step[last]);
    }
}

/* ---- All chunks ------------------------------------------------------------------------------ */
/* Reads chunk k of the wanted box of chunks, and copies its elements to their places. A chunk
 * without bytes was never written, and has the fill value. Returns 0, or an error. */
static int do_chunk(worker *w, int64_t k)
{
    int64_t n     = 0;
    int     error = 0;

    for (int a = w->j->v->shape.n; a-- > 0; k /= w->j->n[a])
        w->at[a] = w->j->first[a] + k % w->j->n[a];
    error = read_packed(w, &n);
    if (error)
        return error;
    const uint8_t *const from = n == 0 ? fill_chunk(w, &error) : unpack(w, n, &error);
    if (from)
        copy_chunk(w, from, n == 0);
    return error;
}

/* Runs in each thread: takes chunk after chunk until none is left, or one fails. */
static void *read_by_thread(void *of)
{
    job   *j     = of;
    worker w     = { .j = j };
    int    error = 0, nothing = 0;

    for (int64_t k; !error && (k = atomic_fetch_add(&j->next, 1)) < j->chunks;) {
        error = do_chunk(&w, k);
        if (atomic_load(&j->error) || cmd_interrupted())
            break;
    }
    if (error && atomic_compare_exchange_strong(&j->error, &nothing, error))
        memcpy(j->failed, w.at, sizeof j->failed);
    free(w.room[0]);
    free(w.room[1]);
    return NULL;
}

/* Finds the box of chunks that overlap the part, and reads them. Ends the program at the first
 * error. */
void cmd_zarr_read(const cmd_zarr *z, const cmd_variable *v, const rd_part *part, void *to)
{
    job j = { .z = z, .v = v, .to = to, .size = cmd_size_of(v->type), .chunks = 1 };

    j.whole = j.size;
    for (int a = 0; a < v->shape.n; a++) {
        const int64_t end = part->first.at[a] + part->shape.at[a];

        j.first[a] = part->first.at[a] / z->extent[a];
        j.n[a]     = (end + z->extent[a] - 1) / z->extent[a] - j.first[a];
        j.chunks *= j.n[a];
        j.whole *= z->extent[a];
    }
    cmd_share_work(read_by_thread, &j, j.chunks);
    const int error = atomic_load(&j.error);
    char      key[MOST_KEY];
    worker    w = { .j = &j };
    memcpy(w.at, j.failed, sizeof w.at);
    write_key(&w, key);
    if (error == DAMAGED)
        cmd_fail("%s: a chunk of %s is damaged: %s", z->folder, v->name, key);
    cmd_fail_of_piece(cmd_text("%s/%s", z->folder, key), error);
}
#else
typedef int cmd_no_zarr_chunks;
#endif
