/* compress.h - compresses the elements that a mask selects, on the CPU: bytes to bits, and
 * selected elements to a dense row.  No program calls these kernels, as the number of results is
 * known only with the mask. */
#ifndef RD_KERNELS_COMPRESS_H
#define RD_KERNELS_COMPRESS_H
#include <stdint.h>

/* Kernels of one instruction set that compress. */
typedef struct rd_compressors {
    /* sets bit i of `bits` to mask[i], n bytes of 0 or 1; bits behind them in the last word are
     * 0.  Returns how many are 1 */
    int64_t (*bits)(int64_t n, uint64_t *bits, const uint8_t *mask);
    /* [bytes of an element: 1, 2, 4, 8, 16].  Writes the elements of x whose bits are set, in n
     * words, densely to y.  Reads no others, and writes nothing behind them */
    void (*pick[17])(int64_t n, void *y, const void *x, const uint64_t *bits);
} rd_compressors;

/* The kernels of the instruction set that new plans run on. */
const rd_compressors *rd_compressors_here(void);
#endif
