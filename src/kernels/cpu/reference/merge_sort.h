/* merge_sort.h - sorts a row as core/sort_facts.h defines it, element by element. */
#ifndef RD_KERNELS_CPU_REFERENCE_MERGE_SORT_H
#define RD_KERNELS_CPU_REFERENCE_MERGE_SORT_H
#include "kernels/first_few.h"

/* rd_reference_sort_bytes: the bytes of memory that rd_reference_sort() works in. */
int64_t rd_reference_sort_bytes(const rd_sorting *s);
void    rd_reference_sort(const rd_sorting *s, const void *from, void *to, void *work);
/* Takes a strip of a row (kernels/first_few.h), element by element. */
void rd_reference_take(const rd_sorting *s, const rd_row_strip *strip);
#endif
