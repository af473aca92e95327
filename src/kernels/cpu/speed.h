/* speed.h - rough speeds of a processor of 2020 or later, the same on every machine. They tell
 * milliseconds from seconds, and a slow form from a fast one. */
#ifndef RD_KERNELS_CPU_SPEED_H
#define RD_KERNELS_CPU_SPEED_H

/* Bytes a second: of memory, by one thread and by all; of caches, by one. */
#define RD_MEMORY_SPEED     20e9
#define RD_MEMORY_SPEED_ALL 40e9
#define RD_CACHE_SPEED      60e9
/* Additions of f32 a second by one thread in vectors of 64 bytes, loads and stores included. */
#define RD_VECTOR_SPEED     16e9
/* Multiplications in a matrix product, likewise. */
#define RD_PRODUCT_SPEED    40e9

/* Nanoseconds of one element: that depends on the one before it, in a compiled loop or a kernel;
 * that looks up its state among those of a fold; that the reference runs one instruction for. */
#define RD_NS_CHAIN               1.
#define RD_NS_PLACED              12.
#define RD_NS_INTERPRETED         14.
/* A scan also makes a result of its state: in a compiled loop, and by the reference. */
#define RD_NS_SCANNED             2.5
#define RD_NS_SCANNED_INTERPRETED 50.
#endif
