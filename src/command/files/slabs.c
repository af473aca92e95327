/* slabs.c - an array read from a file in slabs. */
#include "files/slabs.h"

enum { PIECE = 1 << 26 };

static void set_count(cmd_slabs *s)
{
    if (s->shape.n > 0) {
        const int64_t left = s->shape.at[s->cut] - s->start[s->cut];

        s->count[s->cut] = left < s->rows ? left : s->rows;
    }
}

void cmd_slabs_begin(cmd_slabs *s, const rd_shape *shape, int64_t size, const int64_t *chunk)
{
    int     first = shape->n;
    int64_t step  = 1;

    *s = (cmd_slabs){ .shape = *shape, .cut = shape->n - 1, .below = size, .rows = 1 };
    if (shape->n == 0)
        return;
    for (int k = shape->n; chunk && k-- > 0;)
        first = chunk[k] > 1 ? k : first;
    while (s->cut > 0 && (s->cut > first || s->below * shape->at[s->cut] <= PIECE))
        s->below *= shape->at[s->cut--];
    if (chunk)
        step = chunk[s->cut] < shape->at[s->cut] ? chunk[s->cut] : shape->at[s->cut];
    s->rows = PIECE / s->below > step ? PIECE / s->below / step * step : step;
    for (int k = 0; k < shape->n; k++)
        s->count[k] = k < s->cut ? 1 : shape->at[k];
    set_count(s);
}

int64_t cmd_slab_bytes(const cmd_slabs *s)
{
    return s->shape.n ? s->count[s->cut] * s->below : s->below;
}

bool cmd_slabs_next(cmd_slabs *s)
{
    if (s->shape.n == 0)
        return false;
    s->start[s->cut] += s->count[s->cut];
    for (int k = s->cut; s->start[k] >= s->shape.at[k]; k--) {
        if (k == 0)
            return false;
        s->start[k] = 0;
        s->start[k - 1]++;
    }
    set_count(s);
    return true;
}
