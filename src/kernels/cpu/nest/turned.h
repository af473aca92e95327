/* turned.h - rows of elements that become columns, in the text of nests: simd/turn.h for elements
 * of 4 and of 8 bytes, by vectors of what the text is compiled for. */
#include "kernels/math/shuffle.h"
#if defined(__clang__)
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#else
#define UNROLL_(...) _Pragma(#__VA_ARGS__)
#define UNROLL(n)    UNROLL_(GCC unroll n)
#endif
#define ALWAYS                   inline __attribute__((always_inline))
#define STORE_VECTOR(y, v, past) *(y) = (v)
#define bool _Bool
#define false 0
#if defined(__AVX512F__)
#define BYTES      64
#define INDICES_32 INDICES_16
#define INDICES_64 INDICES_8
#elif defined(__AVX2__)
#define BYTES      32
#define INDICES_32 INDICES_8
#define INDICES_64 INDICES_4
#else
#define BYTES      16
#define INDICES_32 INDICES_4
#define INDICES_64 INDICES_2
#endif
/* Bits of elements of any type. */
typedef uint32_t word4 __attribute__((may_alias));
typedef uint64_t word8 __attribute__((may_alias));
#define T       word4
#define INDICES INDICES_32
#include "kernels/cpu/simd/turn.h"
#undef T
#undef INDICES
#define T       word8
#define INDICES INDICES_64
#include "kernels/cpu/simd/turn.h"
#undef T
#undef INDICES
#undef UNROLL
#undef UNROLL_
#undef ALWAYS
#undef STORE_VECTOR
#undef bool
#undef false
#undef BYTES
#undef INDICES_32
#undef INDICES_64
