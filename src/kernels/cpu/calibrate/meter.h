/* meter.h - what measuring needs: compiled loops, rows of numbers, and where results go. */
#ifndef RD_KERNELS_CPU_CALIBRATE_METER_H
#define RD_KERNELS_CPU_CALIBRATE_METER_H
#include "kernels/cpu/calibrate/calibrate.h"

typedef void rd_micro_loop(long n, long times, void *x, void *y, void *z);

/* Elements of a row that stays in the first-level cache, and operations of each. */
enum { RD_METER_ROW = 1024, RD_METER_OPERATIONS = 16 };
/* Indices of gathers; bytes that fit no cache, and bytes that fit the last one. */
enum { RD_METER_PLACES = 64 * RD_METER_ROW, RD_METER_LARGE = 256 << 20, RD_METER_MIDDLE = 8 << 20 };

typedef struct rd_meter {
    rd_speeds            *s;        /* where results go                     */
    bool                 *measured; /* per row: it was measured             */
    rd_micro_loop *const *loop;     /* by RD_MICRO_ number                  */
    char                 *memory;   /* RD_METER_LARGE bytes */
    _Alignas(64) double x[RD_METER_ROW];
    _Alignas(64) double y[RD_METER_ROW];
    uint32_t z[RD_METER_PLACES];
} rd_meter;

/* micro_loops.c: a map of 16 operations an element, in a vector loop and in a serial one. */
typedef struct rd_micro_map {
    int         row;         /* of speeds.def, which gets the time                       */
    const char *type;        /* C type of an element                                     */
    int         size;        /* bytes of an element                                      */
    const char *one, *other; /* statements on a and b, in turn                           */
    double      each;        /* measured operations in a statement                       */
    int         plus;        /* row of the other operation in it, to subtract; -1: none  */
} rd_micro_map;
enum { RD_MICRO_MAPS = 22, RD_MICRO_SERIALS = 3 };
extern const rd_micro_map rd_micro_maps[RD_MICRO_MAPS], rd_micro_serials[RD_MICRO_SERIALS];
enum {
    RD_MICRO_READ_ALL = RD_MICRO_MAPS + RD_MICRO_SERIALS,
    RD_MICRO_FILL,
    RD_MICRO_FILL_NONTEMPORAL,
    RD_MICRO_GATHER,
    RD_MICRO_REVERSE,
    RD_MICRO_SERIAL_GATHER,
    RD_MICRO_SERIAL_SUM,
    RD_MICRO_PREFIX_SUMS,
    RD_MICRO_SERIAL_MAX,
    RD_MICRO_SHORT_LOOPS,
    RD_MICRO_BRANCHES,
    RD_MICRO_PUSH,
    RD_MICRO_MERGE_LANES
};
/* Compiles all loops. NULL: it failed, and *why says why. */
rd_micro_loop *const *rd_micro_loops_compile(const char **why);

/* meter.c: keeps the value of a row, if it is above 0 and better than before. */
void rd_meter_set(rd_meter *m, int row, double value);
/* time_loops.c, time_kernels.c, time_threads.c, time_compiler.c */
void rd_meter_loops(rd_meter *m);
void rd_meter_kernels(rd_meter *m);
void rd_meter_threads(rd_meter *m, int threads);
void rd_meter_compiler(rd_meter *m);
#endif
