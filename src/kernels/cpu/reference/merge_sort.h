/* merge_sort.h - sorts a row as core/sort_facts.h defines it, element by element. */
#ifndef RD_KERNELS_CPU_REFERENCE_MERGE_SORT_H
#define RD_KERNELS_CPU_REFERENCE_MERGE_SORT_H
#include "kernels/program.h"

/* rd_reference_sort_bytes: the bytes of memory that rd_reference_sort() works in. */
int64_t rd_reference_sort_bytes(const rd_sorting *s);
void    rd_reference_sort(const rd_sorting *s, const void *from, void *to, void *work);
#endif
