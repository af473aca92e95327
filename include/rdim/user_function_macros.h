/* rdim/user_function_macros.h - how RD_FN1 and the like make an rd_fn from C text.
 *
 * Nothing here is for users: include rdim/user_functions.h instead.  RD_FN1(f, x, x * x) becomes
 *     static void f_f32(int64_t n, const float *const *in, float *out)  { a loop over x * x }
 *     static void f_f64(int64_t n, const double *const *in, double *out)  { the same }
 *     static const rd_fn f[1] = { { .name = "f", .code = "x: x * x", .f32 = f_f32, .f64 = f_f64 }
 *     };
 * in which sqrt, min and the other plain names are those of the element type. */
#ifndef RDIM_USER_FUNCTION_MACROS_H
#define RDIM_USER_FUNCTION_MACROS_H
#ifndef __cplusplus
#include <math.h>
#include <stdint.h>

/* The text of the arguments, after the preprocessor. */
#define RD_STR_(...) #__VA_ARGS__
/* Users may leave functions and operands unused, and may name variables as we do. */
#ifdef __GNUC__
#define RD_UNUSED_ __attribute__((unused))
#define RD_QUIET_(...) \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
    __VA_ARGS__ _Pragma("GCC diagnostic pop")
#else
#define RD_UNUSED_
#define RD_QUIET_(...) __VA_ARGS__
#endif
/* a * b + c must round twice, so that C functions and text have the same bits. */
#if defined(__clang__)
#define RD_EXACT_
#define RD_BODY_(...) { _Pragma("STDC FP_CONTRACT OFF") __VA_ARGS__ }
#elif defined(__GNUC__)
#define RD_EXACT_ __attribute__((optimize("fp-contract=off")))
#define RD_BODY_(...) { __VA_ARGS__ }
#else
#define RD_EXACT_
#define RD_BODY_(...) { __VA_ARGS__ }
#endif
/* RD_BARE_ (x) is x: it takes the parentheses off statements. */
#define RD_BARE_(...) __VA_ARGS__

/* min and max of RD_FN, which carry NaN. */
#define RD_PICK_(T, fname, op) \
    RD_UNUSED_ static inline T fname(T a, T b) { return a op b || a != a ? a : b; }
RD_PICK_(float, rd_minf_, <) RD_PICK_(float, rd_maxf_, >)
RD_PICK_(double, rd_min_, <) RD_PICK_(double, rd_max_, >)

/* The plain names of C's functions inside RD_FN, as those of float or of double. */
#define RD_1_(m) RD_UNUSED_ float (*const m)(float) = m##f;
#define RD_2_(m) RD_UNUSED_ float (*const m)(float, float) = m##f;
#define RD_MATH_float_                                                                             \
    RD_UNUSED_ float (*const abs)(float) = fabsf;                                                  \
    RD_UNUSED_ float (*const min)(float, float) = rd_minf_, (*const max)(float, float) = rd_maxf_; \
    RD_1_(fabs) RD_1_(sqrt) RD_1_(exp) RD_1_(expm1) RD_1_(log) RD_1_(log1p) RD_1_(log2) \
    RD_1_(sin) RD_1_(cos) RD_1_(tan) RD_1_(tanh) RD_1_(erf) RD_1_(floor) RD_1_(ceil) RD_1_(trunc) \
    RD_1_(asin) RD_1_(acos) RD_1_(atan) RD_1_(sinh) RD_1_(cosh) RD_1_(asinh) RD_1_(acosh) \
    RD_1_(atanh) RD_1_(exp2) RD_1_(log10) RD_1_(cbrt) RD_1_(erfc) \
    RD_2_(pow) RD_2_(atan2) RD_2_(hypot) RD_2_(fmod) RD_2_(copysign)
#define RD_MATH_double_ RD_UNUSED_ double (*const abs)(double) = fabs; \
    RD_UNUSED_ double (*const min)(double, double) = rd_min_; \
    RD_UNUSED_ double (*const max)(double, double) = rd_max_;

/* The loop of RD_FN for type T: `load` defines the operands of one element. */
#define RD_FN_LOOP_(T, fname, load, ...)                                                           \
    static void fname(int64_t rd_n_, const T *const *rd_in_, T *rd_out_)                           \
    {                                                                                              \
        typedef T rd_real_;                                                                        \
        RD_MATH_##T##_                                                                             \
        for (int64_t rd_i_ = 0; rd_i_ < rd_n_; rd_i_++) { \
            load rd_out_[rd_i_] = (rd_real_)(__VA_ARGS__); \
        } \
    }

/* The loop of RD_FN_BODY for type T, and the function of one element that it calls. */
#define RD_BODY_LOOP_(T, fname, load, y, body)                                                     \
    RD_EXACT_ static inline T fname##_one(const T *const *rd_in_, int64_t rd_i_)                   \
    RD_BODY_(                                                                                      \
        typedef T rd_real_; typedef T real;                                                        \
        RD_MATH_##T##_                                                                             \
        load real y = 0; do { RD_BARE_ body } while (0); return y;)                                \
    RD_EXACT_ static void fname(int64_t rd_n_, const T *const *rd_in_, T *rd_out_)                 \
    RD_BODY_(for (int64_t rd_i_ = 0; rd_i_ < rd_n_; rd_i_++)                                       \
        rd_out_[rd_i_] = fname##_one(rd_in_, rd_i_);)

/* Operand k of one element, by the name x. */
#define RD_ARG_(x, k) RD_UNUSED_ const rd_real_ x = rd_in_[k][rd_i_];

/* Both loops, and the rd_fn that has them and the text. */
#define RD_FN_(fname, n_, load, args, text_, ...) RD_QUIET_(                                       \
    RD_FN_LOOP_(float, fname##_f32, load, __VA_ARGS__) \
    RD_FN_LOOP_(double, fname##_f64, load, __VA_ARGS__) \
    RD_UNUSED_ static const rd_fn fname[1] = { { .size = sizeof(rd_fn), .arity = (n_), \
        .name = #fname, .text = args text_, .code = args RD_STR_(__VA_ARGS__), \
        .f32 = fname##_f32, .f64 = fname##_f64 } };)

/* Both loops of statements, and the rd_fn that has them. */
#define RD_FN_BODY_(fname, n_, load, args, y, ...) RD_QUIET_(                                      \
    RD_BODY_LOOP_(float, fname##_f32, load, y, __VA_ARGS__) \
    RD_BODY_LOOP_(double, fname##_f64, load, y, __VA_ARGS__) \
    RD_UNUSED_ static const rd_fn fname[1] = { { .size = sizeof(rd_fn), .arity = (n_), \
        .name = #fname, .f32 = fname##_f32, .f64 = fname##_f64, \
        .names = args "," #y, .body = RD_STR_ __VA_ARGS__ } };)
#endif
#endif
