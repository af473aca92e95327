/* meter.c - where what is measured goes. */
#include "kernels/cpu/calibrate/meter.h"
#include <math.h>
#include <string.h>

/* Other programs only ever slow it down. */
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
