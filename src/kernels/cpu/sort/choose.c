/* choose.c - the instruction set by which a row is put in order, and the memory that this takes. */
#include "core/bytes.h"
#include "kernels/cpu/sort/sort.h"

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
