/* rdim/arrays.h - arrays in memory, and leaves: the nodes from which expressions are built.
 *
 * The data are the caller's.  A leaf borrows its memory, which must stay until the last evaluation
 * that reads it.  Leaves of rd_adopt() and rd_load() own their memory instead. */
#ifndef RDIM_ARRAYS_H
#define RDIM_ARRAYS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory with a layout: the operand of rd_leaf() and the output of rd_eval().  RD_INTO() makes
 *  one.  A zeroed one, passed as output, asks for fresh memory; see rd_eval(). */
typedef struct rd_array {
    /** The address of element [0, ..., 0]; `in` for memory that is only read. */
    union { void *data; const void *in; };
    /** The type of the elements. */
    rd_dtype    type;
    /** 0: the last axis is the fastest (C).  1: the first axis is the fastest (Fortran). */
    int32_t     order;
    /** The extent of each axis. */
    rd_shape    shape;
    /** One stride for each axis, of any sign, in elements.  n == 0: dense in `order`. */
    rd_strides  strides;
    /** The first index along each axis, see rd_reindex().  n == 0: 0. */
    rd_index    origin;
    /** Set by rdim: who releases the memory; see rd_array_free(). */
    void       *owner;
    /** Where the data are.  0: in this process's memory.  RD_CUDA(k): on GPU k, whose address
     *  `data` then is. */
    int32_t     device;
    /** RD_READ_ONLY, or 0. */
    int32_t     flags;
} rd_array;
/** GPU k of CUDA, as a device of arrays and contexts. */
#define RD_CUDA(k) ((k) + 1)
/** A device of contexts: the first GPU and all GPUs like it.  See rdim/devices.h. */
#define RD_CUDA_ALL (-1)
/** Flags of rd_array. */
enum {
    RD_READ_ONLY = 1 /* as an output the array is RD_ERR_ARGUMENT */
};
/** Releases what the array owns and zeroes the descriptor.  Caller memory is not released.  NULL is
 *  allowed. */
RD_API void rd_array_free(rd_array *array);
/** Gives caller memory an owner: release(user) is called once, when the array, its leaf or its
 *  tensor ends.  The thread that ends it makes the call, which must not use the context.
 *  @return RD_OK.  On failure `release` has been called already and the array is zeroed:
 *          RD_ERR_ARGUMENT (the array has an owner, which stays; or `release` is NULL),
 *          RD_ERR_MEMORY, or an earlier error. */
RD_API rd_status rd_array_own(rd_ctx *ctx, rd_array *array, void (*release)(void *user),
                              void *user);

/** Caller memory as a leaf, from a descriptor, for types that are known only at run time.  Nothing
 *  is copied but the descriptor, and nothing is computed.
 *
 *  @param array  the address of element [0, ..., 0] (NULL only if an extent is 0), the type, the
 *                shape, and strides in elements
 *  @return a node of that shape and type.  NULL on one of these errors.
 *          RD_ERR_SHAPE: an extent is negative, the size overflows, the rank is above 32, or
 *          strides.n is neither 0 nor the rank.  RD_ERR_TYPE: the type does not exist.
 *          RD_ERR_ARGUMENT: there are no data, or the address is not aligned to the type.
 *  Ownership: the data stay the caller's and must outlive each evaluation that reads them. */
RD_API rd_expr *rd_leaf(rd_ctx *ctx, const rd_array *array);
/** A leaf that owns its memory, from an array that owns it (rd_eval, rd_array_own,
 *  rd_from_dlpack).  The memory is released with the leaf: by rd_ctx_release() of a mark before it,
 *  or by rd_ctx_free().  A plan that reads the leaf must not run after that.
 *
 *  @param array  still describes the memory, but no longer owns it
 *  @return as rd_leaf(); on failure the array has been freed. */
RD_API rd_expr *rd_adopt(rd_ctx *ctx, rd_array *array);
/** Gives a leaf of memory a name, which rd_explain() and rd_graphviz() show.  The name is copied.
 *  The last name counts; nothing else changes.
 *  @return the leaf.  NULL on RD_ERR_ARGUMENT: no name, an rd_input(), or not a leaf. */
RD_API rd_expr *rd_label(rd_expr *leaf, const char *name);
/** A leaf whose pointer is given later, to rd_plan_run(); its type, shape and strides are given
 *  now.
 *
 *  Two inputs of one name are one leaf.  Two names are two leaves, whatever they later point to.
 *  @return a node as of rd_leaf().  NULL also on RD_ERR_ARGUMENT: a second layout for a name. */
RD_API rd_expr *rd_input(rd_ctx *ctx, const char *name, const rd_array *layout);
/** A floating-point number of rank 0 and weak type: it takes the float type of its partner.  An
 *  integer partner becomes f64, whatever the value is.  Alone the number is f64. */
RD_API rd_expr *rd_num(rd_ctx *ctx, double value);
/** A whole number of rank 0 and weak type: it takes the type of its partner.  RD_ERR_TYPE is
 *  recorded when an integer partner cannot hold the value.  Alone the number is i64. */
RD_API rd_expr *rd_int(rd_ctx *ctx, int64_t value);
/** The index along an axis of x, i64.  The result broadcasts against x: it has x's extent along the
 *  axis and extent 1 along the others.  x is not computed.  numpy.arange, reshaped.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_coord(rd_expr *x, int axis);

/** The shape of a node; .n == -1 for NULL.  numpy.shape. */
RD_API rd_shape rd_shape_of(const rd_expr *x);
/** The element type of a node; RD_AUTO for NULL. */
RD_API rd_dtype rd_type_of(const rd_expr *x);
/** Where the indices along an axis come from: index i is index offset + step * i along `axis` of
 *  `from`.
 *
 *  `from` is a leaf, a concatenation along that axis, or the node that makes the axis.  Such a node
 *  is a reduction by label, whose groups the axis has, or a reshape that cuts or joins axes. */
typedef struct rd_axis_from { rd_expr *from; int32_t axis; int64_t offset, step; } rd_axis_from;
/** Finds where an axis of y comes from, so that a result can have the coordinates of its operands.
 *
 *  The search follows views, maps, scans and reductions.  In a map it takes the first operand that
 *  leads to a leaf, else the first that leads anywhere.  A window leads to where its first element
 *  comes from, and a gather to where that axis of the index comes from.  Indices count from 0 here,
 *  also where an axis has another origin.
 *  @return false, and *out zeroed, where the axis comes from none: it repeats, is one element of a
 *          view, a diagonal, sorted, or an axis of a sparse array.  False also on RD_ERR_AXIS and
 *          RD_ERR_ARGUMENT (no out). */
RD_API bool rd_axis_source(rd_expr *y, int axis, rd_axis_from *out);
/** The node whose elements y has, some or all of them, in any order.  The search follows views,
 *  reshapes and gathers.
 *  @return y itself where elements are computed or come from several nodes; NULL for NULL. */
RD_API rd_expr *rd_elements_of(rd_expr *y);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** The element type that a pointer points to, as an rd_dtype: RD_TYPE(p) with p a float * is
 *  RD_F32.  p may also be an array of up to three dimensions.  A void * or the rows of a float **
 *  do not compile; the error names struct say_a_pointer_to_elements_such_as_float. */
#define RD_TYPE(p) ((rd_dtype)sizeof(*_Generic(*(p), RD_TYPES_(RD_IS_), default:                  \
    _Generic(&*(p), RD_TYPES_(RD_ROW_IS_), default: _Generic(*(p), RD_TYPES_(RD_ROW_IS_), default:\
    (struct say_a_pointer_to_elements_such_as_float *)0)))))
/** Where a result goes, for one call: rd_eval(ctx, y, RD_INTO(p, RD_SHAPE(2, 3))).
 *
 *  p is a pointer or an array as for RD_TYPE(), which gives the type.  Keywords are the fields of
 *  rd_array: RD_INTO(p, RD_SHAPE(n, m), .order = 1). */
#define RD_INTO(p, ...)  RD_ARRAY_(data, p, __VA_ARGS__)
/** Caller memory as a leaf: rd_wrap(ctx, p, RD_SHAPE(n, m)), p a float * or a float [n][m].
 *
 *  p gives the type, as for RD_TYPE().  Keywords are the fields of rd_array:
 *  .strides = RD_STRIDES(1, n), .order = 1, .origin = RD_INDEX(-2, 0).  A field of records is
 *  p = &r[0].field with stride sizeof *r / sizeof r->field.
 *  Result, errors and ownership: see rd_leaf(). */
#define rd_wrap(ctx, p, ...) rd_leaf(ctx, RD_ARRAY_(in, p, __VA_ARGS__))

#define RD_ARRAY_(member, p, ...) \
    (&(rd_array){ .member = (p), .type = (rd_dtype)(RD_TYPE(p) \
        * RD_1_IF_(rd_shape, say_RD_SHAPE_extents_not_a_number, __VA_ARGS__)), \
        .shape = __VA_ARGS__ })
/* RD_TYPE's cases: T is an element, or a row of an array.  A pointer to an array of one extent is
 * compatible with a pointer to an array of any.  The answer is a size, so that a type without an
 * answer is a name in the compiler's error. */
#define RD_IS_(T, type)     T: (char (*)[type])0
#define RD_ROW_IS_(T, type) T (*)[]: (char (*)[type])0, const T (*)[]: (char (*)[type])0
#define RD_TYPES_(is) is(_Bool, RD_BOOL), is(signed char, RD_I8), is(short, RD_I16),              \
    is(int, RD_I32), is(long, sizeof(long) == 8 ? RD_I64 : RD_I32), is(long long, RD_I64),        \
    is(unsigned char, RD_U8), is(unsigned short, RD_U16), is(unsigned, RD_U32),                   \
    is(unsigned long, sizeof(long) == 8 ? RD_U64 : RD_U32), is(unsigned long long, RD_U64),       \
    is(rd_f16, RD_F16), is(rd_bf16, RD_BF16), is(rd_f8, RD_F8), is(float, RD_F32),                \
    is(double, RD_F64)                                                                            \
    RD_COMPLEX_TYPES_(is)
#ifdef __STDC_NO_COMPLEX__
#define RD_COMPLEX_TYPES_(is)
#else
#define RD_COMPLEX_TYPES_(is) , is(float _Complex, RD_C64), is(double _Complex, RD_C128)
#endif
#endif
#endif
