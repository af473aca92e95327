/* sort_callback.c - the routine that a compiled nest calls to sort a row. */
#include "core/bytes.h"
#include "kernels/cpu/nest/draft.h"

/* Sorts row `number` of the program for a compiled nest, unless the run was cancelled: then nothing
 * more is sorted (`stopped`). rd_sort_by_row() is false if the run is cancelled; `work` is the
 * offset of its scratch memory in the task's state. */
static void sort_row(rd_nest_call *q, int32_t number, const void *from, void *to)
{
    const rd_nest_code *code = q->code;

    if (!q->stopped &&
        !rd_sort_by_row(code->sort, &code->sorting[number], from, to, q->state + code->work))
        q->stopped = 1;
}

/* Takes a strip (elements begin .. begin + n) of a row that is never stored as a whole, for a
 * compiled nest.  `state` has the first few so far. */
static void take_strip(rd_nest_call *q, int32_t number, const void *from, void *to, void *state,
                       int64_t begin, int64_t n, int64_t fronts)
{
    const rd_nest_code *code = q->code;

    code->take(&code->sorting[number], &(rd_row_strip){ begin, n, from, state, to, fronts });
}

/* Chooses the sort routines for vectors of n->vector bytes.  Their memory lies behind what the nest
 * keeps in a task's state, as much as the largest row needs (rd_piece() reserves it, rd_lines()
 * rounds up to whole cache lines). */
void rd_nest_prepare_sorts(const rd_nest_draft *n, rd_nest_code *made)
{
    int64_t most = 0;

    for (int32_t k = 0; k < n->p->n_sorting; k++) {
        const int64_t bytes = rd_sort_row_bytes(&n->p->sorting[k]);

        most = bytes > most ? bytes : most;
    }
    made->sorting = n->p->sorting;
    made->sort    = rd_sort_row_of(n->vector);
    made->take    = rd_sort_take_of(n->vector);
    made->state   = rd_lines(made->state);
    made->work    = rd_piece(&made->state, /*n=*/1, most);
}

/* Passes the sort routines to a call of a compiled function. */
void rd_nest_pass_sorts(const rd_nest_code *code, rd_nest_call *call)
{
    call->code = code;
    call->sort = sort_row;
    call->take = take_strip;
}
