/* dialect.h - what differs between the languages that a tree is printed in. */
#ifndef RD_KERNELS_PRINT_DIALECT_H
#define RD_KERNELS_PRINT_DIALECT_H
#include <stdbool.h>
#include <stdint.h>

typedef struct rd_dialect {
    const char *memory; /* before the type of what slots hold: "__global "                        */
    const char *number; /* a number that the caller hands over, by its own: a format              */
    int32_t spelled;    /* the greatest number that is spelled out                                */
    bool    hides;      /* compilers are kept from constants that a choice takes                  */
    bool    counts;     /* elements that are read are counted                                     */
    bool    divides;    /* there are functions that divide by a number which is known          */
    bool    places; /* an index outside its axis is told with its place in the program's order */
} rd_dialect;

extern const rd_dialect rd_dialect_c, rd_dialect_opencl, rd_dialect_cuda;
#endif
