/* sort.h - a row put in order, as core/sorts.h defines it, by keys; once for each instruction set. */
#ifndef RD_KERNELS_CPU_SORT_H
#define RD_KERNELS_CPU_SORT_H
#include "kernels/program.h"

typedef void rd_sort_row(const rd_sorting *s, const void *from, void *to, void *work);

rd_sort_row rd_sort_row_baseline, rd_sort_row_avx2, rd_sort_row_avx512;

/* That of vectors of so many bytes. */
rd_sort_row *rd_sort_row_of(int32_t vector);
/* Memory that any of them works in. */
int64_t rd_sort_row_bytes(const rd_sorting *s);
#endif
