/* write_kernels.h - a loop tree as kernels of OpenCL C.
 *
 * Each loop over items at the top of the tree is a kernel.  An item runs its statements one after
 * the other, and has states and scratch in private memory. */
#ifndef RD_KERNELS_OPENCL_WRITE_KERNELS_H
#define RD_KERNELS_OPENCL_WRITE_KERNELS_H
#include "kernels/opencl/split_ranges.h"
#include "kernels/opencl/text/kernel_record.h"
#include "kernels/print/print.h"

enum { RD_CL_KERNELS = 16 };

/* The argument of a kernel is an array of int64_t: the first item and the one behind the last;
 * places of slots in their buffers; numbers. */
enum { RD_CL_FIRST, RD_CL_END, RD_CL_SLOTS };

/* The writing of one text, and its result. */
typedef struct rd_cl_text {
    rd_printing  print;    /* the printer; it has the numbers, and the reason if there is no text */
    const char  *text;     /* the text, NULL: there is none */
    int32_t      n_kernel; /* kernels */
    int64_t      items[RD_CL_KERNELS]; /* items of each kernel "rdim0", ... */
    rd_cl_ranges ranges;               /* partial results of a split loop */
    bool         reports;              /* a run may report an invalid index or a warning */
    char         why[RD_CL_SENTENCE];  /* the reason if there is no text, else "" */
} rd_cl_text;

/* Writes the text of the kernels.  False: no memory. */
bool rd_cl_print(rd_cl_text *t, const rd_schedule *tree, rd_get_fn *get, void *pool);

/* limits.c: fits(): true if private memory has room for an item's states and scratch.  say_why():
 * writes the reason if there is no text. */
bool rd_cl_fits(const rd_cl_text *t);
void rd_cl_say_why(rd_cl_text *t);
#endif
