/* time_loops.c - measures vectors, caches, memory, and the overheads of loops and folds.
 *
 * A row is a number of speeds.def, such as add_f32. A measurement is repeated and its least time
 * counts, as other programs can only slow it down. */
#include "core/clock.h"
#include "kernels/cpu/calibrate/meter.h"
#include <math.h>
#include <string.h>

/* Returns the nanoseconds of compiled loop number `loop` over n elements: the least of five
 * measurements.  The loop is repeated so many times that one measurement takes a millisecond or
 * more; one that takes 20 counts as two. */
static double ns_of(const rd_meter *m, int loop, long n, void *x, void *y, void *z)
{
    enum { COUNTS = 5 };
    static const double ENOUGH = 1e-3;
    double              least  = INFINITY;
    long                times  = 1;

    for (int k = 0; k < COUNTS;) {
        const double begun = rd_seconds();

        m->loop[loop](n, times, x, y, z);
        const double seconds = rd_seconds() - begun;

        if (seconds < ENOUGH && k == 0) {
            times *= seconds < ENOUGH / 16 ? 8 : 2;
            continue;
        }
        least = fmin(least, seconds / (double)times);
        k += seconds > 20 * ENOUGH ? 2 : 1;
    }
    return 1e9 * least;
}

/* ---- What is measured ------------------------------------------------------------------------ */
/* Fills the elements at m->x with ones of the type of a timed operation. */
static void fill_with_ones(rd_meter *m, const rd_micro_map *of)
{
    for (int k = 0; k < RD_METER_ROW; k++)
        switch (of->size) {
        case 1: ((uint8_t *)m->x)[k] = 1; break;
        case 4:
            if (of->type[0] == 'f')
                ((float *)m->x)[k] = 1;
            else
                ((uint32_t *)m->x)[k] = 1;
            break;
        default:
            if (of->type[0] == 'd')
                m->x[k] = 1;
            else
                ((uint64_t *)m->x)[k] = 1;
        }
}

/* Sets the speed of an operation from the time of one statement in its loop.  The time of another
 * operation in the statement (`plus`) is subtracted, but never more than 0.7 of what was
 * measured. */
static void set_map(rd_meter *m, const rd_micro_map *map, double ns)
{
    const double plus = map->plus >= 0 ? m->s->row[map->plus] : 0;

    rd_meter_set(m, map->row, fmax(ns - plus, 0.3 * ns) / map->each);
}

/* Measures arithmetic operators: in vector loops (the time of a whole vector), and then in serial
 * loops. Matrix products are not measured: they are assumed to reach 0.7 of the speed of fused
 * multiply-adds. */
static void measure_maps(rd_meter *m)
{
    static const double ALL = (double)RD_METER_ROW * RD_METER_OPERATIONS;

    for (int k = 0; k < RD_MICRO_MAPS; k++) {
        fill_with_ones(m, &rd_micro_maps[k]);
        set_map(m, &rd_micro_maps[k],
                ns_of(m, k, RD_METER_ROW, m->x, m->y, m->z) / ALL * m->s->vector /
                    rd_micro_maps[k].size);
    }
    for (int k = 0; k < RD_MICRO_SERIALS; k++) {
        fill_with_ones(m, &rd_micro_serials[k]);
        set_map(m, &rd_micro_serials[k],
                ns_of(m, RD_MICRO_MAPS + k, RD_METER_ROW, m->x, m->y, m->z) / ALL);
    }
    rd_meter_set(m, RD_SPEED_product_f32, 0.7 * m->s->vector / 4 / m->s->fma_f32);
    rd_meter_set(m, RD_SPEED_product_f64, 0.7 * m->s->vector / 8 / m->s->fma_f64);
}

/* Returns the bytes of an array that fits the third-level cache and not the second: four times the
 * second level, between 8 and 256 MiB. */
static long middle(const rd_meter *m)
{
    const int64_t bytes = 4 * m->s->bytes_l2;

    return bytes > RD_METER_MIDDLE ? bytes < RD_METER_LARGE ? (long)bytes : RD_METER_LARGE
                                   : RD_METER_MIDDLE;
}

/* Measures bytes a nanosecond that are read from each cache and from memory, and that both kinds of
 * stores write (usual and non-temporal). Half of a cache's size fits it; `loop` is the number of
 * the compiled loop. */
static void measure_memory(rd_meter *m)
{
    const struct {
        int  row, loop;
        long bytes;
    } levels[] = { { RD_SPEED_l1, RD_MICRO_READ_ALL, 16 << 10 },
                   { RD_SPEED_l2, RD_MICRO_READ_ALL, (long)m->s->bytes_l2 / 2 },
                   { RD_SPEED_l3, RD_MICRO_READ_ALL, middle(m) },
                   { RD_SPEED_memory, RD_MICRO_READ_ALL, RD_METER_LARGE },
                   { RD_SPEED_stored, RD_MICRO_FILL, RD_METER_LARGE / 2 },
                   { RD_SPEED_streamed, RD_MICRO_FILL_NONTEMPORAL, RD_METER_LARGE / 2 } };

    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        const long bytes = levels[k].bytes & ~4095L; /* whole pages */

        rd_meter_set(m, levels[k].row,
                     (double)bytes / ns_of(m, levels[k].loop, bytes / 8, m->memory, m->y, m->z));
    }
}

/* Fills m->z with random indices below a limit, by the generator of Lehmer, so that no two
 * neighbours are near each other. */
static void draw_places(rd_meter *m, uint64_t below)
{
    uint64_t state = 1;

    for (int k = 0; k < RD_METER_PLACES; k++) {
        state   = state * 48271 % 2147483647;
        m->z[k] = (uint32_t)(state % below);
    }
}

/* Measures the nanoseconds of an element that is gathered from each cache and from memory. Elements
 * have 4 bytes; m->z has the indices. */
static void measure_gathers(rd_meter *m)
{
    const struct {
        int  row;
        long bytes;
    } levels[] = { { RD_SPEED_gather_l1, 16 << 10 },
                   { RD_SPEED_gather_l2, (long)m->s->bytes_l2 / 2 },
                   { RD_SPEED_gather_l3, middle(m) },
                   { RD_SPEED_gather_memory, RD_METER_LARGE } };

    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        draw_places(m, (uint64_t)levels[k].bytes / 4);
        rd_meter_set(m, levels[k].row,
                     ns_of(m, RD_MICRO_GATHER, RD_METER_PLACES, m->memory, m->y, m->z) /
                         ((double)RD_METER_PLACES));
    }
}

/* Measures what is not per operation: shuffles, serial chains, short loops, mispredicted branches,
 * ends of blocks and merges of lanes in reductions.  Of branches that go either way at random, half
 * are mispredicted: hence the factor of 2.  m->z has the numbers by which branches go (ones: always
 * the same way), or indices that are gathered. */
static void measure_overheads(rd_meter *m)
{
    for (int k = 0; k < RD_METER_ROW; k++)
        m->x[k] = 1;
    for (int k = 0; k < RD_METER_PLACES; k++)
        m->z[k] = 1;
    const double reversed =
        ns_of(m, RD_MICRO_REVERSE, RD_METER_ROW, m->x, m->y, m->z) / RD_METER_ROW;

    rd_meter_set(m, RD_SPEED_shuffle, reversed * m->s->vector / 4);
    rd_meter_set(m, RD_SPEED_one_memory,
                 ns_of(m, RD_MICRO_SERIAL_GATHER, RD_METER_ROW, m->x, m->y, m->z) / RD_METER_ROW);
    rd_meter_set(m, RD_SPEED_chain_add,
                 ns_of(m, RD_MICRO_SERIAL_SUM, RD_METER_ROW, m->x, m->y, m->z) / RD_METER_ROW);
    rd_meter_set(m, RD_SPEED_chain_select,
                 ns_of(m, RD_MICRO_SERIAL_MAX, RD_METER_ROW, m->x, m->y, m->z) / RD_METER_ROW);
    rd_meter_set(m, RD_SPEED_loop,
                 ns_of(m, RD_MICRO_SHORT_LOOPS, RD_METER_ROW - 1, m->x, m->y, m->z) / RD_METER_ROW);
    rd_meter_set(m, RD_SPEED_one_scan,
                 ns_of(m, RD_MICRO_PREFIX_SUMS, RD_METER_ROW, m->x, m->y, m->z) / RD_METER_ROW);
    for (int k = 0; k < RD_METER_PLACES; k++)
        m->z[k] = 1;
    const double foreseen = ns_of(m, RD_MICRO_BRANCHES, RD_METER_PLACES, m->x, m->y, m->z);

    draw_places(m, 1 << 20);
    rd_meter_set(m, RD_SPEED_miss,
                 2 * (ns_of(m, RD_MICRO_BRANCHES, RD_METER_PLACES, m->x, m->y, m->z) - foreseen) /
                     ((double)RD_METER_PLACES));
    memset(m->x, 0, sizeof m->x);
    rd_meter_set(m, RD_SPEED_push, ns_of(m, RD_MICRO_PUSH, /*n=*/1, m->x, m->y, m->z));
    rd_meter_set(m, RD_SPEED_lanes, ns_of(m, RD_MICRO_MERGE_LANES, /*n=*/1, m->x, m->y, m->z));
}

/* Measures operators, memory, gathers and overheads by compiled loops. */
void rd_meter_loops(rd_meter *m)
{
    measure_maps(m);
    measure_memory(m);
    measure_gathers(m);
    measure_overheads(m);
}
