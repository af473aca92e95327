/* meter.h - what measuring needs: loops that are compiled, rows, and where results go. */
#ifndef RD_KERNELS_CPU_CALIBRATE_METER_H
#define RD_KERNELS_CPU_CALIBRATE_METER_H
#include "kernels/cpu/calibrate/calibrate.h"

typedef void rd_micro_loop(long n, long times, void *x, void *y, void *z);

/* Elements of a row that stays in the first level, and how many operations each has. */
enum { RD_METER_ROW = 1024, RD_METER_OPERATIONS = 16 };
/* Places for gathers; bytes that are in no cache, and in the last one. */
enum { RD_METER_PLACES = 64 * RD_METER_ROW, RD_METER_LARGE = 256 << 20, RD_METER_MIDDLE = 8 << 20 };

typedef struct rd_meter {
    rd_speeds            *s;
    bool                 *measured;
    rd_micro_loop *const *loop;
    char                 *memory; /* RD_METER_LARGE bytes */
    _Alignas(64) double x[RD_METER_ROW];
    _Alignas(64) double y[RD_METER_ROW];
    uint32_t z[RD_METER_PLACES];
} rd_meter;

/* loops.c: maps of 16 operations an element, on vectors and one by one; then other loops. */
typedef struct rd_micro_map {
    int         row;
    const char *type;
    int         size;
    const char *one, *other; /* of a and b, in turn */
    double      each;        /* so many of what is measured in one operation; ...        */
    int         plus;        /* ... and one of this row, which is taken off; -1: nothing */
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
/* NULL: they cannot be compiled, and *why. */
rd_micro_loop *const *rd_micro_loops_compile(const char **why);

/* Keeps the value of a row; one that is not above 0 counts as not measured (meter.c). */
void rd_meter_set(rd_meter *m, int row, double value);
/* by_loops.c, by_kernels.c, by_threads.c */
void rd_meter_loops(rd_meter *m);
void rd_meter_kernels(rd_meter *m);
void rd_meter_threads(rd_meter *m, int threads);
void rd_meter_compiler(rd_meter *m);
#endif
