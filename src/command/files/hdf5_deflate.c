/* hdf5_deflate.c - writes the elements of a result as deflated chunks. The library would deflate
 * them one after the other. Here all threads deflate, and write chunks in order, so that equal
 * results make equal files. */
#include "files/formats.h"
#if RDIM_HDF5
#include "files/hdf5_api.h"
#include "files/inflate.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The state that all threads share: the dataset, the result, and the next chunk. */
typedef struct job {
    const cmd_hdf5_api *h5;
    hid_t               set;
    const cmd_result   *r;
    const cmd_layout   *layout;
    int64_t             beside[RD_MAX_RANK]; /* chunks along each axis */
    int64_t             n, size, bytes;      /* chunks; bytes of an element and of a chunk */
    atomic_llong        next;
    pthread_mutex_t     lock;  /* guards `turn`, `failed` and the library */
    pthread_cond_t      moved; /* `turn` has changed */
    int64_t             turn;  /* the next chunk to be written */
    bool                failed;
} job;

/* ---- A chunk --------------------------------------------------------------------------------- */
/* Copies the elements of the chunk that begins at index `first`, row by row along the last axis.
 * Places outside of the array become zeros. `at` is the index of the row in the chunk, which the
 * last loop counts up. */
static void gather_chunk(const job *j, const int64_t *first, char *to)
{
    const rd_shape *shape           = &j->r->array.shape;
    const int       rank            = shape->n;
    int64_t         at[RD_MAX_RANK] = { 0 }, extent[RD_MAX_RANK] = { 0 };

    for (int a = 0; a < rank; a++) {
        const int64_t left = shape->at[a] - first[a];
        extent[a]          = j->layout->extent[a] < left ? j->layout->extent[a] : left;
    }
    memset(to, 0, (size_t)j->bytes);
    for (int a = rank - 1; a >= 0;) {
        int64_t from = 0, place = 0;
        for (int b = 0; b < rank; b++) {
            from  = from * shape->at[b] + first[b] + at[b];
            place = place * j->layout->extent[b] + at[b];
        }
        memcpy(to + place * j->size, (const char *)j->r->array.in + from * j->size,
               (size_t)(extent[rank - 1] * j->size));
        for (a = rank - 2; a >= 0 && ++at[a] == extent[a]; a--)
            at[a] = 0;
    }
}

/* Applies the shuffle filter: the first bytes of all elements, then the second ones, and so on. */
static void shuffle(const job *j, const char *from, char *to)
{
    const int64_t n = j->bytes / j->size;

    for (int64_t b = 0; b < j->size; b++)
        for (int64_t i = 0; i < n; i++)
            to[b * n + i] = from[i * j->size + b];
}

/* ---- Threads --------------------------------------------------------------------------------- */
/* Waits until chunk k is the next to be written (`turn`), and writes it. The library is not
 * thread-safe, so the lock guards it. False: this chunk or another one could not be written; bytes
 * == 0 means that deflating failed. */
static bool write_in_turn(job *j, int64_t k, const int64_t *first, const void *from, int64_t bytes)
{
    hsize_t at[RD_MAX_RANK];

    for (int a = 0; a < j->r->array.shape.n; a++)
        at[a] = (hsize_t)first[a];
    pthread_mutex_lock(&j->lock);
    while (j->turn != k && !j->failed)
        pthread_cond_wait(&j->moved, &j->lock);
    j->failed = j->failed || bytes == 0 || cmd_interrupted() ||
                j->h5->write_chunk(j->set, H5P_DEFAULT, 0, at, (size_t)bytes, from) < 0;
    const bool good = !j->failed;
    j->turn++;
    pthread_cond_broadcast(&j->moved);
    pthread_mutex_unlock(&j->lock);
    return good;
}

/* Finds the index of the first element of chunk k. */
static void first_of_chunk(const job *j, int64_t k, int64_t *first)
{
    for (int a = j->r->array.shape.n; a-- > 0; k /= j->beside[a])
        first[a] = k % j->beside[a] * j->layout->extent[a];
}

/* Runs in each thread: takes a chunk, shuffles and deflates it, and writes it in its turn. Without
 * memory, bytes stays 0, which makes the writing fail. Bytes of a deflated chunk may exceed its
 * size (room). */
static void *work_on_chunks(void *of)
{
    job          *j     = of;
    const int64_t room  = j->bytes + j->bytes / 1000 + 100;
    char         *plain = malloc((size_t)j->bytes), *shuffled = malloc((size_t)j->bytes),
         *packed = malloc((size_t)room);
    int64_t first[RD_MAX_RANK];
    bool    good = true;

    for (int64_t k; good && (k = atomic_fetch_add(&j->next, 1)) < j->n;) {
        const bool is_shuffled = j->layout->shuffled && j->size > 1;
        int64_t    bytes       = 0;

        first_of_chunk(j, k, first);
        if (plain && shuffled && packed) {
            gather_chunk(j, first, plain);
            if (is_shuffled)
                shuffle(j, plain, shuffled);
            bytes = cmd_deflate(is_shuffled ? shuffled : plain, j->bytes, packed, room,
                                j->layout->level);
        }
        good = write_in_turn(j, k, first, packed, bytes);
    }
    free(plain);
    free(shuffled);
    free(packed);
    return NULL;
}

/* Counts the chunks along each axis, and the bytes of one. */
static void set_chunks(job *j)
{
    j->n     = 1;
    j->bytes = j->size;
    for (int a = 0; a < j->r->array.shape.n; a++) {
        const int64_t extent = j->layout->extent[a];
        j->beside[a]         = (j->r->array.shape.at[a] + extent - 1) / extent;
        j->n *= j->beside[a];
        j->bytes *= extent;
    }
}

/* Sets the full extent of the dataset, and shares its chunks among threads. */
static void write_all_chunks(job *j)
{
    hsize_t extent[RD_MAX_RANK];

    for (int a = 0; a < j->r->array.shape.n; a++)
        extent[a] = (hsize_t)j->r->array.shape.at[a];
    set_chunks(j);
    j->failed = j->h5->H5Dset_extent(j->set, extent) < 0;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->moved, NULL);
    if (!j->failed)
        cmd_share_work(work_on_chunks, j, j->n);
    pthread_cond_destroy(&j->moved);
    pthread_mutex_destroy(&j->lock);
}

/* Opens the dataset and writes all its chunks. False: the library lacks a function, threads cannot
 * deflate, or there is no dataset of that name. A failed write ends the program. */
bool cmd_hdf5_put_deflated(const char *path, const char *aside, const cmd_result *r,
                           const cmd_layout *layout)
{
    job j = { .h5 = cmd_hdf5_load(), .r = r, .layout = layout, .size = cmd_size_of(r->array.type) };

    if (!j.h5 || !j.h5->write_chunk || !cmd_can_inflate() || r->array.shape.n == 0)
        return false;
    const hid_t file = j.h5->H5Fopen(aside, CMD_HDF5_CHANGE, H5P_DEFAULT);
    if (file < 0)
        return false;
    j.set = j.h5->H5Dopen2(file, r->name, H5P_DEFAULT);
    if (j.set >= 0)
        write_all_chunks(&j);
    if ((j.set >= 0 && j.h5->H5Dclose(j.set) < 0) || j.h5->H5Fclose(file) < 0 || j.failed)
        cmd_fail("%s: %s cannot be written", path, r->name);
    return j.set >= 0;
}
#else
/* Without HDF5 nothing is written. */
bool cmd_hdf5_put_deflated(const char *path, const char *aside, const cmd_result *r,
                           const cmd_layout *layout)
{
    (void)path;
    (void)aside;
    (void)r;
    (void)layout;
    return false;
}
#endif
