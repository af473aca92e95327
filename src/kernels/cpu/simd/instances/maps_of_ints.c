/* maps_of_ints.c - maps of i64, u64 and bytes (maps.h), and casts to them. */
#include "kernels/cpu/simd/isa.h"
#include "kernels/math/math_random_strip.h"

#define FROM_INT(x)                          (x)
#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#define FROM_FLOAT(x)                        rd_saturate_i64(x)
#define DIVIDES
#define ELEM  i64
#define CLASS i64
#define T     int64_t
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef FROM_FLOAT
#define FROM_FLOAT(x) rd_saturate_u64(x)
#define ELEM          u64
#define CLASS         u64
#define T             uint64_t
#define WORDS
#include "kernels/cpu/simd/maps.h"
#undef WORDS
#undef DIVIDES
#undef ELEM
#undef T
#undef FROM_FLOAT
#undef FROM_INT
#define FROM_FLOAT(x) ((x) != 0)
#define FROM_INT(x)   ((x) != 0)
#define ELEM          b8
#define T             uint8_t
#include "kernels/cpu/simd/maps.h"
#undef ELEM
#undef CLASS
#undef T
#undef FROM_FLOAT
#undef FROM_INT
#undef PICK
