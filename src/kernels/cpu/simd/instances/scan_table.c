/* scan_table.c - the scans of scan_kernels.h, for each element. */
#include "kernels/cpu/simd/isa.h"

/* Neighbouring scans take SCAN_ROWS rows of SCAN_STRIP vectors at a time.  States stay in registers
 * meanwhile, and cache lines of non-temporal stores are completed one after the other (8192 x 8192
 * f32, Zen 4: one row at a time took 1.9 times as long). */
enum { SCAN_ROWS = 8, SCAN_STRIP = 4 };
#define SCAN_VECTORS
#define RD_ADD(a, b) ((a) + (b))
#define RD_MUL(a, b) ((a) * (b))
#define RD_NAN       NAN
#define ELEM         f32
#define T            float
#define MAKE_SCANS(make) \
    make(sum, pair, -0.0) make(prod, one, 1) make(min, one, INFINITY) make(max, one, -INFINITY)
#include "kernels/cpu/simd/scan_kernels.h"
#undef ELEM
#undef T
#define ELEM f64
#define T    double
#include "kernels/cpu/simd/scan_kernels.h"
#undef SCAN_VECTORS
#undef RD_ADD
#undef RD_MUL
#undef RD_NAN
#undef ELEM
#undef T
#undef MAKE_SCANS
#define RD_ADD(a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define RD_NAN       0
#define ELEM         i64
#define T            int64_t
#define MAKE_SCANS(make)                                                                     \
    make(sum, one, 0) make(prod, one, 1) make(min, one, INT64_MAX) make(max, one, INT64_MIN) \
        make(bits_and, one, -1) make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scan_kernels.h"
#undef ELEM
#undef T
#undef MAKE_SCANS
#define ELEM u64
#define T    uint64_t
#define MAKE_SCANS(make)                                                              \
    make(sum, one, 0) make(prod, one, 1) make(min, one, UINT64_MAX) make(max, one, 0) \
        make(bits_and, one, UINT64_MAX) make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scan_kernels.h"
#undef ELEM
#undef T
#undef MAKE_SCANS
#define ELEM b8
#define T    uint8_t
#define MAKE_SCANS(make)                                                                           \
    make(min, one, 1) make(max, one, 0) make(any, one, 0) make(all, one, 1) make(bits_and, one, 1) \
        make(bits_or, one, 0) make(bits_xor, one, 0)
#include "kernels/cpu/simd/scan_kernels.h"
#undef ELEM
#undef T
