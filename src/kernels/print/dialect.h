/* dialect.h - what differs between the languages that a tree is printed in. */
#ifndef RD_KERNELS_PRINT_DIALECT_H
#define RD_KERNELS_PRINT_DIALECT_H
#include <stdbool.h>
#include <stdint.h>

/* What differs; dialect.c has a row for each language. */
typedef struct rd_dialect {
    const char *memory;  /* qualifier of the memory that slots hold: "__global "                 */
    const char *number;  /* printf format of a number that the caller passes, with its number    */
    int32_t     spelled; /* numbers up to this one are spelled out                               */
    bool        hides;   /* constants that a choice takes are hidden from compilers              */
    bool        counts;  /* elements that are read are counted                                   */
    bool        divides; /* the prelude has functions that divide by a known number              */
    bool        places;  /* a failed index is reported with its place in the program's order     */
} rd_dialect;

extern const rd_dialect rd_dialect_c, rd_dialect_opencl, rd_dialect_cuda;
#endif
