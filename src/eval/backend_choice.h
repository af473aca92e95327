/* backend_choice.h - chooses the backend of an evaluation. */
#ifndef RD_EVAL_BACKEND_CHOICE_H
#define RD_EVAL_BACKEND_CHOICE_H
#include "eval/auto.h"

/* The backend of an evaluation, and how it was chosen. */
typedef struct rd_backend_use {
    const rd_backend_table *backend; /* runs the programs */
    int32_t                 device;  /* first device, of a backend that has several */
    int32_t                 devices; /* how many devices from that one on share the work */
    /* no other backend will do: it was asked for, or data lie there */
    bool       must;
    rd_backend named; /* the device backend that was asked for, or would be */
    /* of the CPU: why it is not `named`; NULL: the CPU was asked for */
    const char    *why;
    rd_auto_choice verdict; /* for explain: AUTO's estimate, if rates are known */
} rd_backend_use;

/* Takes CUDA if data lie on a GPU; else the backend that was asked for, or AUTO's.  False after
 * recording that data lie on several GPUs, or that a required backend is not available. */
bool rd_backend_for(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts, rd_backend_use *use);
/* Forgives errors of a GPU or its memory, because AUTO then uses this processor.  False: another
 * error stands. */
bool rd_backend_forgive(rd_ctx *ctx);
/* Sets the options of planning that a backend needs. */
void rd_backend_adapt(const rd_backend_use *use, rd_choice *choice);
#endif
