/* walk.c - copies elements between an array of any layout and the dense bytes of a file.  See
 * walk.h.
 *
 * A level is one or several axes that are one axis in memory; level 0 is the innermost in the file.
 * A pitch is the distance in bytes from one element, or index, to the next. */
#include "io/walk.h"
#include <string.h>

/* Copies elements of one size.  memcpy with a constant size is one load and one store, and allows
 * unaligned elements: data of a file may begin anywhere, and callers may pack records. */
#define COPY_LOOP(T)                \
    for (int64_t i = 0; i < n; i++) \
    memcpy(to + i * to_pitch, from + i * from_pitch, sizeof(T))

#define SWAP_LOOP(T, swap)                          \
    for (T value; n > 0; n--, at += sizeof value) { \
        memcpy(&value, at, sizeof value);           \
        value = swap(value);                        \
        memcpy(at, &value, sizeof value);           \
    }

/* Copies n elements between two places, where to_pitch and from_pitch are the bytes from one
 * element to the next. */
static void copy_run(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t n,
                     int size)
{
    if (to_pitch == size && from_pitch == size) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: COPY_LOOP(uint8_t); break;
    case 2: COPY_LOOP(uint16_t); break;
    case 4: COPY_LOOP(uint32_t); break;
    case 8: COPY_LOOP(uint64_t); break;
    default: COPY_LOOP(uint64_t[2]); break;
    }
}

/* Advances the walk by n elements, which do not go beyond the end of level 0, the innermost
 * axis. At its end it carries into the levels above, as an odometer does. */
static void advance(rd_walk *walk, int64_t n)
{
    walk->at += n * walk->pitch[0];
    walk->index[0] += n;
    for (int k = 0; k < walk->levels && walk->index[k] == walk->extent[k]; k++) {
        walk->at -= walk->extent[k] * walk->pitch[k];
        walk->index[k] = 0;
        if (k + 1 < walk->levels) {
            walk->at += walk->pitch[k + 1];
            walk->index[k + 1]++;
        }
    }
}

/* Returns how many elements are left in level 0, the innermost axis, at most n. */
static int64_t run_length(const rd_walk *walk, int64_t n)
{
    const int64_t left = walk->extent[0] - walk->index[0];

    return n < left ? n : left;
}

/* Begins a traversal of an array in the file's order (order 1: first axis fastest). The
 * innermost axis comes first. Axes that are contiguous in memory are merged to one level, and
 * axes of one element are dropped. extent and stride are in elements. */
void rd_walk_start(rd_walk *walk, void *data, int size, int rank, const int64_t *extent,
                   const int64_t *stride, int order)
{
    *walk = (rd_walk){ .at = data, .size = size, .extent = { 1 }, .pitch = { size } };
    for (int k = 0; k < rank; k++) {
        const int     axis  = order ? k : rank - 1 - k;
        const int64_t pitch = stride[axis] * size;
        const int     top   = walk->levels - 1;

        if (extent[axis] == 1)
            continue;
        if (top >= 0 && walk->pitch[top] * walk->extent[top] == pitch) {
            walk->extent[top] *= extent[axis];
            continue;
        }
        walk->extent[walk->levels]  = extent[axis];
        walk->pitch[walk->levels++] = pitch;
    }
}

/* True if the array's memory has the order of the file and no gaps. */
bool rd_walk_is_dense(const rd_walk *walk)
{
    return walk->levels <= 1 && walk->pitch[0] == walk->size;
}

/* Copies the next n elements of the array to dense bytes. */
void rd_walk_gather(rd_walk *walk, void *dense, int64_t n)
{
    for (char *to = dense; n > 0;) {
        const int64_t run = run_length(walk, n);

        copy_run(to, walk->size, walk->at, walk->pitch[0], run, walk->size);
        advance(walk, run);
        to += run * walk->size;
        n -= run;
    }
}

/* Copies dense bytes to the next n elements of the array. */
void rd_walk_scatter(rd_walk *walk, const void *dense, int64_t n)
{
    for (const char *from = dense; n > 0;) {
        const int64_t run = run_length(walk, n);

        copy_run(walk->at, walk->pitch[0], from, walk->size, run, walk->size);
        advance(walk, run);
        from += run * walk->size;
        n -= run;
    }
}

/* Reverses the bytes of n numbers of `size` bytes; one byte needs no change. */
static void swap_bytes(void *data, int64_t n, int size)
{
    char *at = data;

    switch (size) {
    case 2: SWAP_LOOP(uint16_t, __builtin_bswap16); break;
    case 4: SWAP_LOOP(uint32_t, __builtin_bswap32); break;
    case 8: SWAP_LOOP(uint64_t, __builtin_bswap64); break;
    default: break;
    }
}

/* Reverses the bytes of n elements; a complex element consists of two parts, each swapped by
 * itself. */
void rd_swap_elements(void *data, int64_t n, rd_dtype type)
{
    const int part = rd_dtype_align(type);

    swap_bytes(data, n * (rd_dtype_size(type) / part), part);
}
