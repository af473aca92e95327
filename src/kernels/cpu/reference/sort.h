/* sort.h - a row put in order, as core/sort_facts.h defines it: by merging, element by element. */
#ifndef RD_KERNELS_CPU_REFERENCE_SORT_H
#define RD_KERNELS_CPU_REFERENCE_SORT_H
#include "kernels/program.h"

/* Memory that it works in. */
int64_t rd_reference_sort_bytes(const rd_sorting *s);
void    rd_reference_sort(const rd_sorting *s, const void *from, void *to, void *work);
#endif
