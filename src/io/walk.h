/* walk.h - a traversal that copies elements between an array of any layout and the dense bytes
 * of a file. */
#ifndef RD_IO_WALK_H
#define RD_IO_WALK_H
#include "core/dtype.h"

/* A position in an array that advances in the order of a file's elements.  Level 0 is the
 * fastest.  Adjacent axes that are contiguous in memory are one level, so an array that is dense
 * in the file's order has at most one. */
typedef struct rd_walk {
    char *at;           /* the current element */
    int   size, levels; /* bytes of an element; used entries of the arrays */
    /* elements of a level; bytes from one of them to the next; the current position */
    int64_t extent[32], pitch[32], index[32];
} rd_walk;

/* order 0: last axis fastest; 1: first axis fastest. */
void rd_walk_start(rd_walk *walk, void *data, int size, int rank, const int64_t *extent,
                   const int64_t *stride, int order);
/* True if the array is contiguous in the file's order. */
bool rd_walk_is_dense(const rd_walk *walk);
/* Copy the next n elements out of the array, or into it. */
void rd_walk_gather(rd_walk *walk, void *dense, int64_t n);
void rd_walk_scatter(rd_walk *walk, const void *dense, int64_t n);
/* Reverses the bytes of each of n elements; of complex ones, the bytes of each part. */
void rd_swap_elements(void *data, int64_t n, rd_dtype type);
#endif
