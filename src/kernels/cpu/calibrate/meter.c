/* meter.c - keeps the best of several measurements.
 *
 * A row is a number of speeds.def, such as add_f32. */
#include "kernels/cpu/calibrate/meter.h"
#include <math.h>
#include <string.h>

/* True if the value of a row (a number of speeds.def) is better than the one measured before: other
 * programs can only slow a measurement down.  Of a rate, such as bytes/ns, the greater value is
 * better; of a time, the lesser. */
static bool is_better(const rd_meter *m, int row, double value)
{
    const bool rate = strstr(rd_speed_table[row].unit, "/ns") != NULL;

    return !m->measured[row] || (rate ? value > m->s->row[row] : value < m->s->row[row]);
}

/* Keeps the value of a row (a number of speeds.def) if it is above 0, finite, and better than the
 * one before. */
void rd_meter_set(rd_meter *m, int row, double value)
{
    if (isfinite(value) && value > 0 && is_better(m, row, value)) {
        m->s->row[row]   = value;
        m->measured[row] = true;
    }
}
