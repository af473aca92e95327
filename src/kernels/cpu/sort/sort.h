/* sort.h - a row put in order, as core/sort_facts.h defines it, by keys; once for each instruction set. */
#ifndef RD_KERNELS_CPU_SORT_H
#define RD_KERNELS_CPU_SORT_H
#include "kernels/program.h"

typedef void rd_sort_row(const rd_sorting *s, const void *from, void *to, void *work);

/* Puts a row in order by this function.  False, and nothing at `to` is of use: the run is cancelled, as
 * rd_stop_asked() says. */
bool rd_sort_by_row(rd_sort_row *sort, const rd_sorting *s, const void *from, void *to, void *work);
/* Elements of a row between two looks at that, which take a millisecond or two at most; a power of two. */
enum { RD_SORT_STRIP = 1 << 16 };
/* Such a look, by functions that rd_sort_by_row() calls for a row of more elements.  Where the run is cancelled
 * it does not return: rd_sort_by_row() does.  So these functions own nothing. */
void rd_sort_look(void);

/* Short rows side by side: so many, those of elements and those of results so many bytes apart. */
typedef void rd_sort_rows(const rd_sorting *s, int64_t rows, const void *from, int64_t from_pitch,
                          void *to, int64_t to_pitch, void *work);

/* Do so many rows go side by side, by vectors of so many bytes? */
bool rd_sort_goes_beside(const rd_sorting *s, int64_t rows, int32_t vector);
/* Elements of such a row, at most; of how many bytes the keys of one place are. */
enum { RD_SORT_BESIDE_MOST = 128, RD_SORT_BESIDE_BYTES = 256 };

rd_sort_rows rd_sort_rows_baseline, rd_sort_rows_avx2, rd_sort_rows_avx512;
rd_sort_row  rd_sort_row_baseline, rd_sort_row_avx2, rd_sort_row_avx512;

/* That of vectors of so many bytes. */
rd_sort_row  *rd_sort_row_of(int32_t vector);
rd_sort_rows *rd_sort_rows_of(int32_t vector);
/* Memory that any of them works in. */
int64_t rd_sort_row_bytes(const rd_sorting *s);
#endif
