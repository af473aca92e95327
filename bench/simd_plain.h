/* Vectors of 16 bytes in plain C. */
#define VECTOR_BYTES 16
typedef float   v_f32 __attribute__((vector_size(16), may_alias));
typedef double  v_f64 __attribute__((vector_size(16), may_alias));
typedef int32_t w_f32 __attribute__((vector_size(16), may_alias));
typedef int64_t w_f64 __attribute__((vector_size(16), may_alias));

#define REAL   float
#define SUFFIX f32
#include "simd_lanes.h"
#undef REAL
#undef SUFFIX

#define REAL   double
#define SUFFIX f64
#include "simd_lanes.h"
#undef REAL
#undef SUFFIX
