/* choose_sort.c - chooses the instruction set that sorts a row, the memory for it, and its early
 * exit when the run is cancelled. */
#include "core/bytes.h"
#include "core/stop.h"
#include "kernels/cpu/sort/row_sort.h"
#include <setjmp.h>

/* Returns the function that sorts one row, for an instruction set with vectors of so many bytes: 64
 * AVX-512, 32 AVX2, else the baseline. */
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

/* Returns the function that sorts short rows interleaved (a network compares element j of many rows
 * at once), for vectors of so many bytes: 64 AVX-512, 32 AVX2, else the baseline. */
rd_sort_rows *rd_sort_rows_of(int32_t vector)
{
#if defined(__x86_64__) && !defined(RD_ONE_SET)
    if (vector == 64)
        return rd_sort_rows_avx512;
    if (vector == 32)
        return rd_sort_rows_avx2;
#else
    (void)vector;
#endif
    return rd_sort_rows_baseline;
}

/* Returns the function that takes a row strip by strip (range by range, where the row is never
 * stored), for vectors of so many bytes: 64 AVX-512, 32 AVX2, else the baseline. */
rd_sort_take *rd_sort_take_of(int32_t vector)
{
#if defined(__x86_64__) && !defined(RD_ONE_SET)
    if (vector == 64)
        return rd_sort_take_avx512;
    if (vector == 32)
        return rd_sort_take_avx2;
#else
    (void)vector;
#endif
    return rd_sort_take_baseline;
}

/* True if rows are short enough (128 elements) to be sorted interleaved.  A row that comes in
 * strips (s->most) is not. */
static bool has_interleaved_size(const rd_sorting *s)
{
    return s->n > 0 && s->n <= RD_SORT_INTERLEAVED_MOST && s->n_out > 0 && !s->most;
}

/* True if sorted values of rows of this length are faster interleaved: element j of many rows in
 * one vector.  All elements go back to their rows one by one, so longer rows are faster alone:
 * AVX-512 sorts them in registers. */
static bool is_short_value_row(const rd_sorting *s, int32_t vector)
{
    enum { SHORT_32 = 24, SHORT_64 = 16, SHORT = 64 };

    if (vector < 64)
        return s->n <= SHORT;
    return s->n <= (rd_dtype_size(s->type) == 8 ? SHORT_64 : SHORT_32);
}

/* True if only the first few places (positions, as argsort has them) of a longer row are asked for:
 * at most an eighth of more than 96 elements.  These are found without sorting the row. */
static bool is_few_of_many(const rd_sorting *s)
{
    enum { SHORT = 96 };

    return s->facts->what == RD_SORT_PLACES && s->n > SHORT && s->n_out * 8 <= s->n;
}

/* True if so many rows are faster sorted interleaved, by a network that compares element j of all
 * rows at once, than one after the other. */
bool rd_sort_can_interleave(const rd_sorting *s, int64_t rows, int32_t vector)
{
    enum { FEWEST = 8 }; /* the network costs as much as so many rows do one by one */

    return rows >= FEWEST && has_interleaved_size(s) && !is_few_of_many(s) &&
           (s->facts->what != RD_SORT_VALUES || is_short_value_row(s, vector));
}

/* Returns the bytes of memory that a sort works in: five times the keys, a few vectors, and for
 * short rows 256 bytes of keys of interleaved rows for each element.  Places of 64-bit keys are a
 * second array there.  A row in strips (s->most) needs none. */
int64_t rd_sort_row_bytes(const rd_sorting *s)
{
    enum { TIMES = 5, VECTORS = 4 * 64 * 2 };
    const int64_t key    = rd_dtype_size(s->type) == 8 ? 8 : 4;
    const int64_t arrays = s->facts->what == RD_SORT_PLACES && key == 8 ? 2 : 1;
    /* for rows sorted side by side */
    const int64_t beside = has_interleaved_size(s) ? arrays * s->n * RD_SORT_INTERLEAVED_BYTES : 0;

    if (s->most)
        return 0;

    return rd_bytes_add(rd_bytes_times(TIMES * key, s->n), VECTORS + beside);
}

/* ---- Cancelling a long sort ------------------------------------------------------------------ */
/* The jump target of a cancelled sort, for each thread. */
static _Thread_local jmp_buf *stop_target;

/* Leaves the sort if the run was cancelled: longjmp to sort_long().  Sorts call it every 65536
 * elements. */
void rd_sort_check_stop(void)
{
    if (rd_stop_asked())
        longjmp(*stop_target, 1);
}

/* Sorts a long row; false if the run was cancelled.  A cancelled sort leaves by longjmp: return
 * values through some twenty nested loops would cost each of them a test. */
static bool sort_long(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to,
                      void *work)
{
    jmp_buf       here;
    volatile bool whole = false;

    stop_target = &here;
    if (setjmp(here) == 0) {
        sort(s, from, to, work);
        whole = true;
    }
    stop_target = NULL;
    return whole;
}

/* Sorts a row; false if the run was cancelled.  Only rows of more than 65536 elements can be
 * cancelled, as shorter ones take a millisecond or two. */
bool rd_sort_by_row(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to, void *work)
{
    if (s->n > RD_SORT_STRIP)
        return sort_long(sort, s, from, to, work);
    sort(s, from, to, work);
    return true;
}
