/* meter.c - keeps the best of several measurements. */
#include "kernels/cpu/calibrate/meter.h"
#include <math.h>
#include <string.h>

/* True if the value is better than that of before: other programs can only slow a measurement
 * down. */
static bool is_better(const rd_meter *m, int row, double value)
{
    const bool rate = strstr(rd_speed_table[row].unit, "/ns") != NULL;

    return !m->measured[row] || (rate ? value > m->s->row[row] : value < m->s->row[row]);
}

void rd_meter_set(rd_meter *m, int row, double value)
{
    if (isfinite(value) && value > 0 && is_better(m, row, value)) {
        m->s->row[row]   = value;
        m->measured[row] = true;
    }
}
