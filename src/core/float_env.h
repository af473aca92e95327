/* float_env.h - the floating-point environment that rdim computes in: round to nearest, no number
 * flushed to 0, no trap.
 *
 * A caller may have another one: a library built with -ffast-math leaves "flush to zero" on in whichever
 * thread loads it, and threads inherit from those that start them.  Results must not depend on which
 * thread computes them.  So whoever computes begins the default environment and ends it afterwards,
 * which costs two nanoseconds where there is nothing to change.  Exception flags are left as they are
 * where the caller's environment is another one; else computing raises them. */
#ifndef RD_CORE_FLOAT_ENV_H
#define RD_CORE_FLOAT_ENV_H
#include <stdint.h>

#if (defined __x86_64__ || defined __SSE2__) && defined __GNUC__
#include <xmmintrin.h>

/* The x87's is another one, by which long doubles are computed, strtod() rounds and fegetround()
 * answers. */
typedef struct rd_float_env {
    uint32_t sse; /* MXCSR */
    uint16_t x87; /* its control word */
} rd_float_env;
enum { RD_FLOAT_CONTROL = 0xffc0, RD_FLOAT_DEFAULT = 0x1f80, RD_X87_DEFAULT = 0x037f };

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

/* The x87 traps late: a flag that computing has left would stop the caller at its next operation. */
static inline void rd_float_env_end(rd_float_env before)
{
    if ((before.sse & RD_FLOAT_CONTROL) != RD_FLOAT_DEFAULT)
        _mm_setcsr(before.sse);
    if (before.x87 != RD_X87_DEFAULT)
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before.x87));
}
#elif defined __aarch64__ && defined __GNUC__
typedef uint64_t rd_float_env; /* FPCR */

static inline rd_float_env rd_float_env_begin(void)
{
    rd_float_env before;

    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
    return before;
}

static inline void rd_float_env_end(rd_float_env before)
{
    if (before)
        __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#else
#include <fenv.h>

typedef fenv_t rd_float_env;

static inline rd_float_env rd_float_env_begin(void)
{
    rd_float_env before;

    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void rd_float_env_end(rd_float_env before)
{
    fesetenv(&before);
}
#endif

/* n / (high - low) in it, for numbers that constructors reckon.  The compiler knows of no environment
 * and may compute elsewhere what is not volatile. */
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
