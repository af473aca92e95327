/* row_sort.h - sorts a row as core/sort_facts.h defines it, by keys; compiled once for each
 * instruction set. */
#ifndef RD_KERNELS_CPU_SORT_ROW_SORT_H
#define RD_KERNELS_CPU_SORT_ROW_SORT_H
#include "kernels/first_few.h"

/* Sorts the row of s->n elements at `from`; writes s->n_out results to `to`.  rd_sort_row_bytes()
 * says how many bytes `work` has. */
typedef void rd_sort_row(const rd_sorting *s, const void *from, void *to, void *work);

/* Sorts a row by the given function.  False if the run is cancelled, as rd_stop_asked() says: the
 * memory at `to` is of no use then. */
bool rd_sort_by_row(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to, void *work);
/* Elements of a row between two tests for cancellation, which take a millisecond or two at most; a
 * power of two. */
enum { RD_SORT_STRIP = 1 << 16 };
/* Tests for cancellation, inside the functions that rd_sort_by_row() calls for a longer row.  If
 * the run is cancelled it does not return: control goes back to rd_sort_by_row() (longjmp).  So
 * these functions own no memory. */
void rd_sort_check_stop(void);

/* Takes a strip of a row that comes in strips (kernels/first_few.h). */
typedef void rd_sort_take(const rd_sorting *s, const rd_row_strip *strip);

/* Sorts `rows` short rows interleaved.  Pitches are bytes from row to row, of elements and of
 * results. */
typedef void rd_sort_rows(const rd_sorting *s, int64_t rows, const void *from, int64_t from_pitch,
                          void *to, int64_t to_pitch, void *work);

/* True if so many rows should be sorted interleaved, by vectors of so many bytes. */
bool rd_sort_can_interleave(const rd_sorting *s, int64_t rows, int32_t vector);
/* Most elements of an interleaved row; bytes of the keys of one position in all rows. */
enum { RD_SORT_INTERLEAVED_MOST = 128, RD_SORT_INTERLEAVED_BYTES = 256 };

rd_sort_rows rd_sort_rows_baseline, rd_sort_rows_avx2, rd_sort_rows_avx512;
rd_sort_row  rd_sort_row_baseline, rd_sort_row_avx2, rd_sort_row_avx512;
rd_sort_take rd_sort_take_baseline, rd_sort_take_avx2, rd_sort_take_avx512;

/* The functions for vectors of so many bytes. */
rd_sort_row  *rd_sort_row_of(int32_t vector);
rd_sort_rows *rd_sort_rows_of(int32_t vector);
rd_sort_take *rd_sort_take_of(int32_t vector);
/* The bytes of memory that any of them works in. */
int64_t rd_sort_row_bytes(const rd_sorting *s);
#endif
