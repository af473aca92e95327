/* calibrate.c - measures the speeds of this machine by loops that are timed. */
#include "kernels/cpu/calibrate/calibrate.h"
#include "kernels/cpu/calibrate/meter.h"
#include <stdlib.h>
#include <string.h>

/* Measures all speeds of this machine three times, some time apart, and keeps the best of each;
 * measured[row] says which rows are measured.  False: *why says why nothing can be measured. */
bool rd_calibrate(rd_speeds *s, bool measured[RD_N_SPEEDS], int threads, const char **why)
{
    enum { TIMES = 3 }; /* each some time after the one before */
    rd_micro_loop *const *const loop = rd_micro_loops_compile(why);
    rd_meter *const             m    = loop ? aligned_alloc(64, sizeof *m) : NULL;

    if (m)
        *m = (rd_meter){
            .s = s, .measured = measured, .loop = loop, .memory = aligned_alloc(64, RD_METER_LARGE)
        };
    if (!m || !m->memory) {
        *why = loop ? "there is no memory" : *why;
        free(m);
        return false;
    }
    memset(m->memory, 0, RD_METER_LARGE);
    for (int k = 0; k < TIMES; k++) {
        rd_meter_loops(m);
        rd_meter_kernels(m);
        if (threads > 1)
            rd_meter_threads(m, threads);
    }
    rd_meter_compiler(m);
    free(m->memory);
    free(m);
    return true;
}
