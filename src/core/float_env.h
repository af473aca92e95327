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

#if defined __x86_64__ || defined __SSE2__
#include <xmmintrin.h>

typedef uint32_t rd_float_env; /* MXCSR */
enum { RD_FLOAT_CONTROL = 0xffc0, RD_FLOAT_DEFAULT = 0x1f80 };

static inline rd_float_env rd_float_env_begin(void)
{
    const rd_float_env before = _mm_getcsr();

    if ((before & RD_FLOAT_CONTROL) != RD_FLOAT_DEFAULT)
        _mm_setcsr(RD_FLOAT_DEFAULT);
    return before;
}

static inline void rd_float_env_end(rd_float_env before)
{
    if ((before & RD_FLOAT_CONTROL) != RD_FLOAT_DEFAULT)
        _mm_setcsr(before);
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
#endif
