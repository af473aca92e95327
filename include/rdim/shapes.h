/* rdim/shapes.h - shapes, strides, indices, sets of axes and lists, written in place.
 *
 * A shape or a set of axes is a value: RD_SHAPE(2, 3) can be assigned, returned and stored in a
 * table.  At file scope C wants constants, so write { 2, 0, { 3, 4 } } for a shape there, and
 * { 1, 0, { -1 } } for a set of axes.  More than 32 numbers are refused where they are used.
 *
 * Lists such as RD_EXPRS(a, b) live as long as the block in which they stand.  Write them in the
 * call that takes them. */
#ifndef RDIM_SHAPES_H
#define RDIM_SHAPES_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Up to 32 numbers by value. */
typedef struct rd_ints { int32_t n; int32_t reserved; int64_t at[RD_MAX_RANK]; } rd_ints;
/** The extent of each axis, in elements.  n == 0: a single number. */
typedef rd_ints rd_shape;
/** The distance of neighbours along each axis, in elements.  It may have any sign. */
typedef rd_ints rd_strides;
/** An index along each axis. */
typedef rd_ints rd_index;

/** A set of axes.  An axis below 0 counts from the end.  An axis that occurs twice, or that the
 *  operand lacks, is RD_ERR_AXIS where the set is used. */
typedef struct rd_dims { int32_t n; uint32_t flags; int32_t axis[RD_MAX_RANK]; } rd_dims;
/** Flags of rd_dims. */
enum {
    RD_DIMS_KEEP   = 1, /* reduced axes stay, with extent 1        */
    RD_DIMS_EXCEPT = 2  /* all axes of the operand but those named */
};

/** Several expressions, for calls that take a list. */
typedef struct rd_exprs { rd_expr *const *at; int32_t n; } rd_exprs;

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/* 1 if the first of the arguments is a T; else the compiler's error names struct `say`.  The
 * macro only looks at types: it evaluates no argument. */
#define RD_1_IF_(T, say, ...) \
    sizeof(*_Generic((RD_FIRST_(__VA_ARGS__, 0)), T: (char *)0, default: (struct say *)0))
#define RD_FIRST_(first, ...) first
/* How many values of type T the arguments are. */
#define RD_N_(T, ...)    ((int32_t)(sizeof((const T[]){ __VA_ARGS__ }) / sizeof(T)))
#define RD_INTS_(...)    ((rd_ints){ .n = RD_N_(int64_t, __VA_ARGS__), .at = { __VA_ARGS__ } })
#define RD_DIMS_(f, ...) \
    ((rd_dims){ .n = RD_N_(int32_t, __VA_ARGS__), .flags = (f), .axis = { __VA_ARGS__ } })
#define RD_ZERO_(T)      ((T){ 0 })
#define RD_EVERY_(f)     ((rd_dims){ .flags = (f) })

/** A list of expressions, for one call: rd_concat(0, RD_EXPRS(a, b)). */
#define RD_EXPRS(...) \
    ((rd_exprs){ (rd_expr *const[]){ __VA_ARGS__ }, RD_N_(rd_expr *, __VA_ARGS__) })
#else
/* Integers of any type may be given, so that sizes of containers need no cast.  Other numbers do
 * not compile. */
#define RD_INTS_(...)    (rd_make_ints(__VA_ARGS__))
#define RD_DIMS_(f, ...) (rd_make_dims(f, __VA_ARGS__))
#define RD_ZERO_(T)      (T())
#define RD_EVERY_(f)     (rd_make_dims(f))
#endif

/** A shape: RD_SHAPE(2, 3) has two rows and three columns. */
#define RD_SHAPE(...)    RD_INTS_(__VA_ARGS__)
/** Strides in elements: RD_STRIDES(3, 1). */
#define RD_STRIDES(...)  RD_INTS_(__VA_ARGS__)
/** An index along each axis: RD_INDEX(0, 2). */
#define RD_INDEX(...)    RD_INTS_(__VA_ARGS__)
/** The shape of a single number, of rank 0. */
#define RD_SCALAR        RD_ZERO_(rd_shape)
/** A set of axes: RD_DIMS(0, -1) is the first and the last axis. */
#define RD_DIMS(...)     RD_DIMS_(0, __VA_ARGS__)
/** A set of axes that a reduction keeps with extent 1.  NumPy's keepdims=True. */
#define RD_KEEP(...)     RD_DIMS_(RD_DIMS_KEEP, __VA_ARGS__)
/** All axes but those named: RD_EXCEPT(0). */
#define RD_EXCEPT(...)   RD_DIMS_(RD_DIMS_EXCEPT, __VA_ARGS__)
/** The empty set of axes. */
#define RD_NONE          RD_ZERO_(rd_dims)
/** All axes.  NumPy's axis=None. */
#define RD_ALL           RD_EVERY_(RD_DIMS_EXCEPT)
/** All axes, which a reduction keeps with extent 1. */
#define RD_KEEP_ALL      RD_EVERY_(RD_DIMS_EXCEPT | RD_DIMS_KEEP)

#ifdef __cplusplus
#include <type_traits>

/* RD_SHAPE, RD_STRIDES and RD_INDEX in C++. */
template <class... N> rd_ints rd_make_ints(N... v)
{
    static_assert((!std::is_floating_point<N>::value && ...), "shapes and indices are integers");
    const int64_t all[] = { static_cast<int64_t>(v)..., 0 };
    rd_ints       t     = rd_ints();
    t.n = static_cast<int32_t>(sizeof...(v));
    for (int k = 0; k < t.n && k < RD_MAX_RANK; k++) { t.at[k] = all[k]; }
    return t;
}

/* RD_DIMS and the other sets of axes in C++. */
template <class... N> rd_dims rd_make_dims(int flags, N... v)
{
    static_assert((!std::is_floating_point<N>::value && ...), "axes are integers");
    const int64_t all[] = { static_cast<int64_t>(v)..., 0 };
    rd_dims       d     = rd_dims();
    d.n     = static_cast<int32_t>(sizeof...(v));
    d.flags = static_cast<uint32_t>(flags);
    for (int k = 0; k < d.n && k < RD_MAX_RANK; k++) { /* no axis is so large: RD_ERR_AXIS */
        const int32_t axis = static_cast<int32_t>(all[k]);
        d.axis[k] = axis == all[k] ? axis : INT32_MAX;
    }
    return d;
}
#endif
#endif
