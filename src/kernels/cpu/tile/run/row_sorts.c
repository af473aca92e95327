/* row_sorts.c - SORT: puts rows in order, one by one or interleaved.
 *
 * Fields. An instruction is skipped (`skip`) if another one's kernel does its work. */
#include "kernels/cpu/sort/row_sort.h"
#include "kernels/cpu/tile/run/tile_task.h"
#include <string.h>

/* Returns the address of the row to be sorted (or of its results) at the current loop indices. */
static const char *row_at(const rd_tiles *m, const rd_address *at, rd_dtype type)
{
    return (const char *)m->task->slot[at->slot] + rd_tiles_position(m, at) * rd_dtype_size(type);
}

/* Takes a strip of a row that is never stored as a whole: the elements in the current range of its
 * axis. The state holds candidates for the first few. rd_sort_take_of() returns the routine for
 * vectors of that many bytes. */
static void take_strip(const rd_tiles *m, const rd_sorting *s)
{
    const rd_tile_axis *range = &m->axis[s->axis];

    rd_sort_take_of(m->code->simd->vector)(
        s, &(rd_row_strip){ .begin = range->lo,
                            .n     = range->hi - range->lo,
                            .from  = row_at(m, &m->p->address[s->from], s->type),
                            .state = (char *)row_at(m, &m->p->address[s->state], RD_I64),
                            .to    = (char *)row_at(m, &m->p->address[s->to], s->out) });
}

/* SORT: sorts the row at the current loop indices, or takes its next strip (range) if it comes in
 * strips (s->most). A cancelled run sets the status of the task. rd_sort_row_of() returns the
 * routine for vectors of that many bytes; it is false if the run was cancelled. */
void rd_tiles_sort(rd_tiles *m, int32_t number)
{
    const rd_sorting *s = &m->p->sorting[number];

    if (s->most) {
        take_strip(m, s);
        return;
    }
    const char *row = row_at(m, &m->p->address[s->from], s->type);
    char       *out = (char *)row_at(m, &m->p->address[s->to], s->out);

    if (!rd_sort_by_row(rd_sort_row_of(m->code->simd->vector), s, row, out, m->work)) {
        m->task->status = RD_ERR_CANCELLED;
        strcpy(m->task->sentence, "the evaluation was cancelled");
    }
}

/* True if the body of a loop is one SORT, so that its rows may be sorted together. */
static bool has_only_sort(const rd_tiles *m, const rd_loop *loop)
{
    return loop->kind == RD_LOOP_EACH && !loop->backwards && loop->end == loop->begin + 2 &&
           m->p->inst[loop->begin + 1].kind == RD_I_SORT && !m->code->inst[loop->begin + 1].skip;
}

/* Sorts all rows of a loop together, element j of many rows in one vector.  False if the rows must
 * go one by one. rd_sort_rows_of() returns the routine for vectors of that many bytes.  Pitches
 * (from, to) are found as the distance between the rows of the first two indices. */
bool rd_tiles_sort_interleaved(rd_tiles *m, const rd_loop *loop)
{
    rd_tile_axis *axis = &m->axis[loop->axis];
    const int64_t rows = axis->hi - axis->lo, index = axis->index;

    if (!has_only_sort(m, loop))
        return false;
    const rd_sorting *s = &m->p->sorting[m->p->inst[loop->begin + 1].arg];
    if (!rd_sort_can_interleave(s, rows, m->code->simd->vector))
        return false;
    axis->index           = axis->lo;
    const char *const row = row_at(m, &m->p->address[s->from], s->type);
    char *const       out = (char *)row_at(m, &m->p->address[s->to], s->out);
    axis->index           = axis->lo + 1;
    const int64_t from    = row_at(m, &m->p->address[s->from], s->type) - row,
                  to      = (char *)row_at(m, &m->p->address[s->to], s->out) - out;
    axis->index           = index;
    rd_sort_rows_of(m->code->simd->vector)(s, rows, row, from, out, to, m->work);
    return true;
}
