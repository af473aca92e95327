/* kernel_run.h - programs as OpenCL's kernels, and their runs. */
#ifndef RD_KERNELS_OPENCL_KERNEL_RUN_H
#define RD_KERNELS_OPENCL_KERNEL_RUN_H
#include "kernels/opencl/device.h"
#include "kernels/opencl/write_kernels.h"

/* A program as this backend prepares it. */
typedef struct rd_cl_code {
    const rd_cl_text   *text;
    const rd_cl_device *device;
    cl_program          program; /* NULL: it cannot run, and `why` has the reason */
    char                why[RD_OPENCL_TEXT];
} rd_cl_code;

/* build.c: compiles a text for a device; a process keeps the result.  NULL: it does not compile. */
cl_program rd_cl_build(const rd_cl_device *device, const char *text, char why[RD_OPENCL_TEXT]);

/* queue.c, kernel_run.c: queues and runs, as rd_device_table says. */
rd_queue *rd_cl_open(int32_t device, void *stream, bool *full, char *why);
void      rd_cl_close(rd_queue *queue);
bool      rd_cl_wait(rd_queue *queue, rd_task *report, char *why);
bool      rd_cl_settle(rd_queue *queue, char *why);
bool      rd_cl_up(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
bool      rd_cl_down(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
int64_t   rd_cl_room(rd_queue *queue, int64_t wanted);

rd_submission *rd_cl_begin(rd_queue *queue, bool *full, char *why);
void          *rd_cl_borrow(rd_submission *s, int64_t bytes, bool *full, char *why);
bool rd_cl_run(const rd_program *p, rd_submission *s, void *const *slot, const rd_device_host *host,
               rd_device_end *end, char *why);
bool rd_cl_end(rd_submission *s, rd_task *report, char *why);
#endif
