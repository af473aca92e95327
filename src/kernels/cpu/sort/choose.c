/* choose.c - the instruction set by which a row is put in order, the memory that this takes, and its end where
 * the run is cancelled. */
#include "core/bytes.h"
#include "core/stop.h"
#include "kernels/cpu/sort/sort.h"
#include <setjmp.h>

rd_sort_row *rd_sort_row_of(int32_t vector)
{
#if defined(__x86_64__) && !defined(RD_ONE_SET)
    if (vector == 64)
        return rd_sort_row_avx512;
    if (vector == 32)
        return rd_sort_row_avx2;
#else
    (void)vector;
#endif
    return rd_sort_row_baseline;
}

int64_t rd_sort_row_bytes(const rd_sorting *s)
{
    enum { TIMES = 5, VECTORS = 4 * 64 * 2 };
    const int64_t key = rd_dtype_size(s->type) == 8 ? 8 : 4;

    return rd_bytes_add(rd_bytes_times(TIMES * key, s->n), VECTORS);
}

/* ---- The end of a long row -------------------------------------------------------------------- */
/* Where this thread leaves the row that it puts in order. */
static _Thread_local jmp_buf *way_out;

void rd_sort_look(void)
{
    if (rd_stop_asked())
        longjmp(*way_out, 1);
}

/* To leave some twenty loops within one another by what they return would cost each of them a test. */
static bool sort_long(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to,
                      void *work)
{
    jmp_buf       here;
    volatile bool whole = false;

    way_out = &here;
    if (setjmp(here) == 0) {
        sort(s, from, to, work);
        whole = true;
    }
    way_out = NULL;
    return whole;
}

bool rd_sort_by_row(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to, void *work)
{
    if (s->n > RD_SORT_STRIP)
        return sort_long(sort, s, from, to, work);
    sort(s, from, to, work);
    return true;
}
