/* rdim/base.h - handles, status codes, element types.
 *
 * Every other part of the interface includes this one. */
#ifndef RDIM_BASE_H
#define RDIM_BASE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef RD_API
#include "rdim_export.h"
#endif

/** The version of this header: major, minor and patch, two hexadecimal digits each. */
#define RD_VERSION 0x000100
/** The largest number of axes.  An array of c64 or c128 has one axis less. */
#define RD_MAX_RANK 32

#ifdef __cplusplus
extern "C" {
#endif

/** A context: it owns nodes, settings, and the first error.  See rdim/context.h. */
typedef struct rd_ctx rd_ctx;
/** A node of an expression: a leaf, a view, a map, a reduction or a scan.  A node never changes.
 *  It belongs to its context, so there is nothing to free. */
typedef struct rd_expr rd_expr;
/** The ordered passes that compute some results.  A plan can run many times.  See rdim/plans.h. */
typedef struct rd_plan rd_plan;

/** What went wrong.  rd_error_text() has a sentence with the values that were found. */
typedef enum rd_status {
    RD_OK,            /* nothing went wrong                                                   */
    RD_ERR_ARGUMENT,  /* an argument has a value that makes no sense there                    */
    RD_ERR_SHAPE,     /* extents do not fit together, or their product overflows              */
    RD_ERR_AXIS,      /* an axis or an index does not exist, or an axis is named twice        */
    RD_ERR_TYPE,      /* the operation does not take this type of operand or output           */
    RD_ERR_TEXT,      /* a slice, a function text, a formula or a name cannot be read         */
    RD_ERR_EMPTY,     /* a minimum or the like of no element, without .initial                */
    RD_ERR_MEMORY,    /* there is no memory, or memory_limit would be exceeded                */
    RD_ERR_CALLBACK,  /* a user's function returned an error sentence                         */
    RD_ERR_CANCELLED, /* rd_cancel() was called, or a progress function returned non-zero     */
    RD_ERR_FILE,      /* a file cannot be read, written or understood                         */
    RD_ERR_DEVICE,    /* the backend or the device is not available                           */
    RD_ERR_LIMIT,     /* the request exceeds a limit of this release; the sentence names it   */
    RD_ERR_CONVERGENCE /* an iteration cannot go on, or did not reach its tolerance           */
} rd_status;

/** The type of elements.
 *
 *  f16, bf16 and f8e4m3 are storage types: each operation computes in f32 and rounds once to the
 *  type.  Sums of them accumulate in f32.  f8e4m3 has no infinities: what is beyond 464, infinities
 *  included, becomes NaN.  c64 and c128 are pairs of f32 and of f64, laid out as in C,
 *  C++ and NumPy; see rdim/complex_numbers.h. */
typedef enum rd_dtype {
    RD_AUTO, /* where a type is asked for: as the operands say */
    RD_BOOL, /* a byte, 0 or 1                                 */
    RD_I8,   /* signed integers                                */
    RD_I16,
    RD_I32,
    RD_I64,
    RD_U8,   /* unsigned integers                              */
    RD_U16,
    RD_U32,
    RD_U64,
    RD_F16,  /* IEEE 754 binary16                              */
    RD_BF16, /* bfloat16, the upper half of a float            */
    RD_F32,  /* float                                          */
    RD_F64,  /* double                                         */
    RD_C64,  /* a pair of floats                               */
    RD_C128, /* a pair of doubles                              */
    RD_F8    /* 8 bits: a sign, 4 of exponent, 3 of fraction   */
} rd_dtype;

/** An element of type RD_F16.  Cast a pointer to uint16_t, or to a 16-bit type of the compiler, to
 *  a pointer to rd_f16; RD_TYPE() then finds the element type. */
typedef struct rd_f16 { uint16_t bits; } rd_f16;
/** An element of type RD_BF16.  Cast pointers as for rd_f16. */
typedef struct rd_bf16 { uint16_t bits; } rd_bf16;
/** An element of type RD_F8, the E4M3 of OCP's specification of 8-bit floats, whose greatest number
 *  is 448.  Cast pointers as for rd_f16. */
typedef struct rd_f8 { uint8_t bits; } rd_f8;

/** The name of a status, such as "RD_ERR_SHAPE", for logs.  It is never NULL. */
RD_API const char *rd_status_name(rd_status status);

#ifdef __cplusplus
}
#endif
#endif
