/* rdim/user_functions.h - maps of your own: C functions, one C expression, statements, or text.
 *
 * rd_map(x, f) applies a function of one operand, rd_map2(x, y, f) one of two, and rd_mapn(f, list)
 * one of up to 8.  f is one of these:
 *     sqrtf, sin, my_function   a float (*)(float) or double (*)(double)
 *     softsign                  from RD_FN1(softsign, ...), or the address of an rd_fn
 *     "exp", "x > 0 ? x : 0"    text: the name of a function, or an expression
 * RD_FN and text become rdim's own nodes, so they fuse and run on GPUs.  A C function is called for
 * one element after the other.  C++ has rd::map() in <rdim.hpp>, and no RD_FN.
 *
 * NumPy's counterparts are numpy.frompyfunc and numpy.vectorize. */
#ifndef RDIM_USER_FUNCTIONS_H
#define RDIM_USER_FUNCTIONS_H
#include "user_function_macros.h"
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function that computes n elements of `out` from n elements of each in[k], all dense.
 *
 *  It must be pure.  Any thread may call it, in any order, with any number of elements.  in and out
 *  do not overlap.
 *  @return NULL, or a sentence, which is copied and ends the evaluation with RD_ERR_CALLBACK. */
typedef const char *rd_block_fn(void *user, int64_t n, const void *const *in, void *out);

/** A function for rd_map().  It is copied there, but `user` must outlive each evaluation.
 *
 *  RD_FN1 to RD_FN3 make one.  By hand: rd_fn f = { .size = sizeof f, .name = "table", .arity = 1,
 *  .in = RD_F64, .out = RD_F64, .block = lookup, .user = table }; */
typedef struct rd_fn {
    /** sizeof(rd_fn). */
    uint32_t    size;
    /** The number of operands, 1 to 8. */
    int32_t     arity;
    /** A name, and the text as it was written.  Both are for people. */
    const char *name, *text;
    /** An expression that rdim can read, "x,y: x + y"; or NULL. */
    const char *code;
    /** The loop of floats, for code that rdim cannot read.  Set both f32 and f64, or neither. */
    void (*f32)(int64_t n, const float *const *in, float *out);
    /** The loop of doubles.  See f32. */
    void (*f64)(int64_t n, const double *const *in, double *out);
    /** Instead of code, f32 and f64: a function of blocks. */
    rd_block_fn *block;
    /** The first argument of block. */
    void       *user;
    /** The types of the operands and of the result of block. */
    rd_dtype    in, out;
    /** "x,y,z" and statements that set z from x and y, for compiled C and CUDA; or NULL.  They must
     *  compute what f32 and f64 do. */
    const char *names, *body;
    /** For rd_grad() and rd_jvp() of code that rdim cannot read: one function for each operand, or
     *  NULL.  derivative[k] takes the same operands, and gives how much the result grows with
     *  operand k.  The array and its functions must outlive the expressions. */
    const struct rd_fn *const *derivative;
} rd_fn;

/** A map by a function of float.  x is converted to f32, and the result is f32.
 *
 *  f must be pure and thread-safe.  A function of C's library such as sqrtf is recognised; it then
 *  follows x's type.
 *  @return NULL on RD_ERR_TYPE (x is complex), or RD_ERR_ARGUMENT (f is NULL). */
RD_API rd_expr *rd_map_f32(rd_expr *x, float (*f)(float));
/** A map by a function of double.  x is converted to f64, and the result is f64.  See rd_map_f32().
 *  @return NULL on RD_ERR_TYPE (x is complex), or RD_ERR_ARGUMENT (f is NULL). */
RD_API rd_expr *rd_map_f64(rd_expr *x, double (*f)(double));
/** A map by an rd_fn of one operand.
 *  @return NULL on RD_ERR_TYPE, or RD_ERR_ARGUMENT (arity, f is NULL). */
RD_API rd_expr *rd_map_fn(rd_expr *x, const rd_fn *f);
/** A map by function text with one operand.
 *
 *  Text has + - * / % ^ (power), ?: comparisons && || ! and parentheses, numbers, pi, true and
 *  false.  It knows the maps of rdim by name, and C's names such as min, max, fabs, fmin, fmax and
 *  fmod.  Operands are x, y, z, w in order, or named before a colon: "a, b: a * b + 1".
 *  @return NULL on RD_ERR_TYPE (x is complex), or RD_ERR_TEXT, with a caret under the character and
 *          what was expected. */
RD_API rd_expr *rd_map_text(rd_expr *x, const char *f);
/** A map by a function of two floats.  Operands broadcast and are converted to f32.  See
 *  rd_map_f32().
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (f is NULL). */
RD_API rd_expr *rd_map2_f32(rd_expr *x, rd_expr *y, float (*f)(float, float));
/** A map by a function of two doubles.  Operands broadcast and are converted to f64.  See
 *  rd_map_f32().
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (f is NULL). */
RD_API rd_expr *rd_map2_f64(rd_expr *x, rd_expr *y, double (*f)(double, double));
/** A map by an rd_fn of two operands, which broadcast.
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE, or RD_ERR_ARGUMENT (arity, f is NULL). */
RD_API rd_expr *rd_map2_fn(rd_expr *x, rd_expr *y, const rd_fn *f);
/** A map by function text with two operands, which broadcast.  See rd_map_text().
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE (complex), or RD_ERR_TEXT. */
RD_API rd_expr *rd_map2_text(rd_expr *x, rd_expr *y, const char *f);
/** A map by an rd_fn of 1 to 8 operands, which broadcast.
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE, or RD_ERR_ARGUMENT (arity, f is NULL). */
RD_API rd_expr *rd_mapn_fn(const rd_fn *f, rd_exprs operands);
/** A map by function text with 1 to 8 operands, which broadcast.  See rd_map_text().
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE (complex), RD_ERR_TEXT, or RD_ERR_ARGUMENT (the number
 *          of operands). */
RD_API rd_expr *rd_mapn_text(const char *f, rd_exprs operands);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** A map of one operand: rd_map(x, sqrtf), rd_map(x, "x > 0 ? x : 0"), rd_map(x, softsign).  See
 *  the function for the type of f: rd_map_f32(), rd_map_f64(), rd_map_fn(), rd_map_text(). */
#define rd_map(x, f) _Generic((f), float (*)(float): rd_map_f32, double (*)(double): rd_map_f64, \
    rd_fn *: rd_map_fn, const rd_fn *: rd_map_fn, char *: rd_map_text, \
    const char *: rd_map_text)(x, f)
/** A map of two operands: rd_map2(x, y, atan2), rd_map2(x, y, "x * y + 1").  See the function for
 *  the type of f: rd_map2_f32(), rd_map2_f64(), rd_map2_fn(), rd_map2_text(). */
#define rd_map2(x, y, f) _Generic((f), float (*)(float, float): rd_map2_f32,                 \
    double (*)(double, double): rd_map2_f64, rd_fn *: rd_map2_fn, const rd_fn *: rd_map2_fn, \
    char *: rd_map2_text, const char *: rd_map2_text)(x, y, f)
/** A map of up to 8 operands: rd_mapn("a, b, c: a * b + c", RD_EXPRS(a, b, c)).  See rd_mapn_fn()
 *  and rd_mapn_text(). */
#define rd_mapn(f, ...) _Generic((f), rd_fn *: rd_mapn_fn, const rd_fn *: rd_mapn_fn, \
    char *: rd_mapn_text, const char *: rd_mapn_text)(f, __VA_ARGS__)

/** A function of one operand from a C expression, at file scope:
 *      RD_FN1(softsign, x, x / (1 + abs(x)))
 *
 *  The text is parsed into rdim's own nodes, so it fuses and has the bits of the calls.  The C
 *  compiler checks it too, and compiles loops for text that rdim cannot read, such as calls of your
 *  own functions.
 *
 *  Plain C names follow the operands' type: f32 or f64; narrower floats become f32, others f64.
 *  Numbers follow it too, and so does the result.  The expression may have + - * / ?: comparisons
 *  && || ! and these names:
 *      abs min max sqrt cbrt exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh
 *      cosh tanh asinh acosh atanh erf erfc floor ceil trunc fabs pow atan2 hypot fmod copysign
 *  min and max carry NaN.  Parameters of run time are operands: rd_num().  Do not include
 *  <tgmath.h>, which makes macros of these names. */
#define RD_FN1(name, x, ...)    RD_FN_(name, 1, RD_ARG_(x, 0), #x ": ", #__VA_ARGS__, __VA_ARGS__)
/** A function of two operands from a C expression: RD_FN2(rbf, d2, h, exp(-d2 / (2 * h * h))).  See
 *  RD_FN1. */
#define RD_FN2(name, x, y, ...) \
    RD_FN_(name, 2, RD_ARG_(x, 0) RD_ARG_(y, 1), #x "," #y ": ", #__VA_ARGS__, __VA_ARGS__)
/** A function of three operands from a C expression.  See RD_FN1. */
#define RD_FN3(name, x, y, z, ...) RD_FN_(name, 3, RD_ARG_(x, 0) RD_ARG_(y, 1) RD_ARG_(z, 2), \
    #x "," #y "," #z ": ", #__VA_ARGS__, __VA_ARGS__)
/** A function of one operand x from statements that set y, at file scope:
 *      RD_FN1_BODY(steps, x, y, (for (int i = 0; i < 3; i++) y += floor(x * i);))
 *
 *  y begins as 0.  The statements may have loops, branches and local variables; `real` is the
 *  operands' type, and `return y;` ends early.  They handle one element at a time, in blocks that
 *  lie in the cache.  Compiled loops contain the statements where they name nothing else of yours.
 *  Names and types: see RD_FN1. */
#define RD_FN1_BODY(name, x, y, ...) RD_FN_BODY_(name, 1, RD_ARG_(x, 0), #x, y, __VA_ARGS__)
/** A function of two operands a and b from statements that set y.  See RD_FN1_BODY. */
#define RD_FN2_BODY(name, a, b, y, ...) \
    RD_FN_BODY_(name, 2, RD_ARG_(a, 0) RD_ARG_(b, 1), #a "," #b, y, __VA_ARGS__)
/** A function of three operands from statements that set y.  See RD_FN1_BODY. */
#define RD_FN3_BODY(name, a, b, c, y, ...) RD_FN_BODY_(name, 3, \
    RD_ARG_(a, 0) RD_ARG_(b, 1) RD_ARG_(c, 2), #a "," #b "," #c, y, __VA_ARGS__)
#endif
#endif
