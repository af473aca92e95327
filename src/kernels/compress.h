/* compress.h - what a mask picks, on the CPU: bytes to bits, elements whose bits are set to a dense
 * row.  Kernels that no program calls: how many elements come out is known only when the mask
 * is. */
#ifndef RD_KERNELS_COMPRESS_H
#define RD_KERNELS_COMPRESS_H
#include <stdint.h>

typedef struct rd_compressors {
    /* bit i of bits is mask[i], n bytes of 0 or 1; bits behind them in the last word are 0.  How
     * many are 1. */
    int64_t (*bits)(int64_t n, uint64_t *bits, const uint8_t *mask);
    /* [bytes of an element]: 1, 2, 4, 8, 16.  The elements of x whose bits in n words are set go to
     * y, one behind the other; others are not read, and behind them nothing is written. */
    void (*pick[17])(int64_t n, void *y, const void *x, const uint64_t *bits);
} rd_compressors;

/* Those of the instruction set that plans made now run on. */
const rd_compressors *rd_compressors_here(void);
#endif
