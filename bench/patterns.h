/* Patterns of sparse matrices, made the same by every program that compares itself: it includes no
 * header of rdim's. */
#ifndef BENCH_PATTERNS_H
#define BENCH_PATTERNS_H
#include <stdint.h>

/** PATTERN_NONE is no pattern; a graph by R-MAT (Chakrabarti, Zhan, Faloutsos 2004: a, b, c = 0.57,
 *  0.19, 0.19; 2^20 nodes, 2^24 edges before those that come twice are one), and another of the
 *  same nodes; the Laplacian of a grid of 128^3 points, seven at most a row; which packages of
 *  Debian depend on which; a sparse cube of (256, 512, 512), one place in sixteen. */
typedef enum bench_pattern_kind {
    PATTERN_NONE,
    PATTERN_RMAT,
    PATTERN_RMAT_OTHER,
    PATTERN_LAPLACE,
    PATTERN_DEPENDS,
    PATTERN_CUBE,
    PATTERNS
} bench_pattern_kind;

/** Compressed rows of a square matrix; of a cube the places of (i, j), whose pos is fibre_pos, are
 *  k = crd[], and those of i j = fibre[]. */
typedef struct bench_pattern {
    int64_t  rows, places, extent[3];
    int32_t *pos, *crd;
    int64_t  fibres; /* of a cube: how many (i, j) have places */
    int32_t *top, *fibre;
} bench_pattern;

/** The pattern at a scale of elements, made once and kept.  `data` is the directory of
 *  depends_pos.npy.  NULL if that cannot be read or there is no memory. */
const bench_pattern *bench_pattern_of(bench_pattern_kind kind, double scale, const char *data);
#endif
