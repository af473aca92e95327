/* float_env.h - the floating-point environment that rdim computes in: round to nearest,
 * denormals kept, no traps.
 *
 * A caller's may differ: a library built with -ffast-math turns on "flush to zero" in the thread
 * that loads it, and threads inherit that.  Results must not depend on the thread.  So every
 * computation begins the default environment and ends it afterwards, which takes two nanoseconds
 * if nothing changes.  If the caller's environment differs, its exception flags stay as they
 * are; else computing raises them. */
#ifndef RD_CORE_FLOAT_ENV_H
#define RD_CORE_FLOAT_ENV_H
#include <stdint.h>

#if (defined __x86_64__ || defined __SSE2__) && defined __GNUC__
#include <xmmintrin.h>

/* The x87 has an environment of its own, used for long doubles, strtod() and fegetround(). */
typedef struct rd_float_env {
    uint32_t sse; /* MXCSR */
    uint16_t x87; /* its control word */
} rd_float_env;
/* The control bits of MXCSR: flush to zero, rounding, masks of traps, denormals are zero.  Its
 * default, and that of the x87 control word, mask all traps and round to nearest. */
enum { RD_FLOAT_CONTROL = 0xffc0, RD_FLOAT_DEFAULT = 0x1f80, RD_X87_DEFAULT = 0x037f };

/* Sets the default environment where the thread has another one; returns the one before.
 * _mm_getcsr() reads the control register of SSE, of which RD_FLOAT_CONTROL are the bits that
 * matter; fnstcw and fldcw store and load that of the x87. */
static inline rd_float_env rd_float_env_begin(void)
{
    static const uint16_t x87    = RD_X87_DEFAULT;
    rd_float_env          before = { .sse = _mm_getcsr() };

    __asm__ volatile("fnstcw %0" : "=m"(before.x87));
    if ((before.sse & RD_FLOAT_CONTROL) != RD_FLOAT_DEFAULT)
        _mm_setcsr(RD_FLOAT_DEFAULT);
    if (before.x87 != RD_X87_DEFAULT)
        __asm__ volatile("fldcw %0" : : "m"(x87));
    return before;
}

/* Restores the environment that rd_float_env_begin() returned.  The x87 traps late: a flag left by
 * our computation would stop the caller at its next operation, so flags are cleared. */
static inline void rd_float_env_end(rd_float_env before)
{
    if ((before.sse & RD_FLOAT_CONTROL) != RD_FLOAT_DEFAULT)
        _mm_setcsr(before.sse);
    if (before.x87 != RD_X87_DEFAULT)
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before.x87));
}
#elif defined __aarch64__ && defined __GNUC__
typedef uint64_t rd_float_env; /* FPCR */

/* Sets the default environment (FPCR 0) where the thread has another one; returns the one
 * before. */
static inline rd_float_env rd_float_env_begin(void)
{
    rd_float_env before;

    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
    return before;
}

/* Restores the environment that rd_float_env_begin() returned. */
static inline void rd_float_env_end(rd_float_env before)
{
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#else
#include <fenv.h>

typedef fenv_t rd_float_env;

/* Sets the default environment by the C library; returns the one before. */
static inline rd_float_env rd_float_env_begin(void)
{
    rd_float_env before;

    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

/* Restores the environment that rd_float_env_begin() returned. */
static inline void rd_float_env_end(rd_float_env before)
{
    fesetenv(&before);
}
#endif

/* n / (high - low) in the default environment, for numbers that constructors compute.  All numbers
 * are volatile, because the compiler ignores the environment and might move the computation out of
 * it. */
static inline double rd_float_quotient(double n, double high, double low)
{
    volatile double    a = n, b = high, c = low;
    const rd_float_env env = rd_float_env_begin();
    volatile double    quotient;

    quotient = a / (b - c);
    rd_float_env_end(env);
    return quotient;
}
#endif
