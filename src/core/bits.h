/* bits.h - the bits of floats, and floats of bits.  One move or none, also in vectorised loops. */
#ifndef RD_CORE_BITS_H
#define RD_CORE_BITS_H
#include <stdint.h>
#include <string.h>

/* Forces inlining: a loop over a function that is not inlined does not vectorise, and gcc finds
 * some of these too long. */
#if defined __GNUC__
#define RD_INLINE static inline __attribute__((always_inline))
#else
#define RD_INLINE static inline
#endif

/* RD_TABLE precedes the type of a constant table.  OpenCL C has a memory of its own for such
 * tables, and defines it otherwise. */
#ifndef RD_TABLE
#define RD_TABLE static const
#endif

/* The bits of an f32 as an unsigned int. */
RD_INLINE uint32_t rd_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The f32 with these bits. */
RD_INLINE float rd_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The bits of an f64 as an unsigned int. */
RD_INLINE uint64_t rd_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The f64 with these bits. */
RD_INLINE double rd_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif
