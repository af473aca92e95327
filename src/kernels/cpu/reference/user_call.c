/* user_call.c - calls of a user's function on registers. */
#include "kernels/cpu/reference/user_call.h"

/* Calls a user's function of rows of f32 with one element of each, so with rows of length 1. */
static void call_f32(const rd_call *call, const rd_word *in, rd_word *y)
{
    const float *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        at[k] = &in[k].f32;
    call->f32(/*n=*/1, at, &y->f32);
}

/* Calls a user's function of rows of f64 with one element of each, so with rows of length 1. */
static void call_f64(const rd_call *call, const rd_word *in, rd_word *y)
{
    const double *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++)
        at[k] = &in[k].f64;
    call->f64(/*n=*/1, at, &y->f64);
}

/* Calls a user's function of n elements on one element, in the types that it takes.  Returns its
 * message, or NULL if it has not failed. */
static const char *call_block(const rd_call *call, const rd_word *in, rd_dtype type, rd_word *y)
{
    _Alignas(8) char operands[RD_MAX_CALL][8], result[8] = { 0 };
    const void      *at[RD_MAX_CALL];

    for (int32_t k = 0; k < call->n_in; k++) {
        rd_word_store(operands[k], call->in_type, in[k]);
        at[k] = operands[k];
    }
    const char *sentence = call->block(call->user, /*n=*/1, at, result);
    *y                   = rd_word_load(result, type);
    return sentence;
}

/* Calls a user's function on registers, in the form that it has: of numbers or of rows (then of one
 * element).  Sets *y, of type `type`.  Returns the message of a failure, or NULL. */
const char *rd_call_run(const rd_call *call, const rd_word *in, rd_dtype type, rd_word *y)
{
    if (call->block)
        return call_block(call, in, type, y);
    if (call->f32_1)
        y->f32 = call->f32_1(in[0].f32);
    else if (call->f64_1)
        y->f64 = call->f64_1(in[0].f64);
    else if (call->f32_2)
        y->f32 = call->f32_2(in[0].f32, in[1].f32);
    else if (call->f64_2)
        y->f64 = call->f64_2(in[0].f64, in[1].f64);
    else if (type == RD_F32)
        call_f32(call, in, y);
    else
        call_f64(call, in, y);
    return NULL;
}
