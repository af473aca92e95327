/* lines.c - lines of a text, and its numbers. */
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdarg.h>

void rd_cuda_line(rd_cuda_text *t, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    rd_text_add(t->to, "%*s", 4 * t->indent, "");
    rd_text_add_list(t->to, format, list);
    rd_text_add(t->to, "\n");
    va_end(list);
}

/* Small ones are spelled out; others come with the run, so that one text serves many shapes. */
void rd_cuda_number(rd_cuda_text *t, rd_text *to, int64_t value)
{
    int32_t k = 0;

    if (value >= -RD_CUDA_SPELLED && value <= RD_CUDA_SPELLED) {
        rd_text_add(to, "%" PRId64, value);
        return;
    }
    while (k < t->n_number && t->number[k] != value)
        k++;
    if (k == RD_CUDA_NUMBERS) {
        t->why = "it has too many different extents and strides";
        return;
    }
    if (k == t->n_number)
        t->number[t->n_number++] = value;
    rd_text_add(to, "q.N[%" PRId32 "]", k);
}
