/* backend.h - which backend an evaluation uses. */
#ifndef RD_EVAL_BACKEND_H
#define RD_EVAL_BACKEND_H
#include "eval/auto.h"

typedef struct rd_backend_use {
    const rd_backend_table *backend;
    int32_t                 device;  /* of a backend that has several: which ...              */
    int32_t                 devices; /* ... and how many from that one on share the work      */
    bool                    must;    /* no other will do: it is asked for, or data lie there  */
    rd_backend              named;   /* the device's that was asked for, or would be          */
    const char             *why;     /* of the CPU: why it is not that one; NULL: it is asked for */
    rd_verdict              verdict; /* explained: AUTO's by rates, where these are known     */
} rd_backend_use;

/* CUDA where data lie on a GPU; else the backend that is asked for, or that AUTO takes.  False after
 * recording that data lie on several GPUs, or that the backend is not there where it must be. */
bool rd_backend_for(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts, rd_backend_use *use);
/* Forgives what says that a GPU or its memory cannot do it, as AUTO then has this processor do it.
 * False: another error stands. */
bool rd_backend_forgive(rd_ctx *ctx);
/* What planning for it is told instead. */
void rd_backend_adapt(const rd_backend_use *use, rd_choice *choice);
#endif
