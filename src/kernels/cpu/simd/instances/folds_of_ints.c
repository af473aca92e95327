/* folds_of_ints.c - reducers with accumulators of i64, u64 or bytes. */
#include "kernels/cpu/simd/isa.h"

#define RD_NAN 0
#define OWN_ENTRIES
#define PICK(kinds, make, row) INT_##kinds(make, row)
#define RD_ADD(a, b)           ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b)           ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define ELEM                   i64
#define T                      int64_t
#include "kernels/cpu/simd/state_kernels.h"
#undef ELEM
#undef T
#undef RD_ADD
#undef RD_MUL
#undef PICK
#define PICK(kinds, make, row) UINT_##kinds(make, row)
#define RD_ADD(a, b)           ((T)((a) + (b)))
#define RD_MUL(a, b)           ((T)((a) * (b)))
#define ELEM                   u64
#define T                      uint64_t
#include "kernels/cpu/simd/state_kernels.h"
#undef ELEM
#undef T
#define ELEM b8
#define T    uint8_t
#include "kernels/cpu/simd/state_kernels.h"
