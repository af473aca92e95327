/* Loops written by hand, as an expert would for this machine: what the library is measured against.
 *
 * One source (hand_isa.c) is compiled for several instruction sets; hand_loops() picks at run time.
 * Arrays are dense and aligned to 64 bytes; extents of vectorised axes are multiples of 128
 * elements, of 16 in sums. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H
#include "patterns.h"
#include <stdbool.h>
#include <stdint.h>

/** What a loop works on. */
typedef struct hand_args {
    int         threads;
    const void *in[3];
    void       *out[4];
    int64_t     shape[3]; /* of in0                                           */
    int64_t     other[3]; /* of in1                                           */
    int         out_size; /* bytes of an element of the outputs               */
    unsigned    dims;     /* the reduced or scanned axes: bit k for axis k    */

    const bench_pattern *pattern, *other_pattern; /* of sparse cases: of in0, of in1 */
} hand_args;

/** Which pairs of clusters of BLOCK points count in sums over blocks: a tenth. */
enum { HAND_BLOCK = 128 };
static inline bool hand_block_counts(int64_t k, int64_t l)
{
    return (7 * k + 3 * l) % 10 == 0;
}

typedef void hand_fn(const hand_args *args);

typedef enum hand_op {
    HAND_NONE,
#define HAND_OP(name, what) HAND_##name,
#include "hand_ops.def"
#undef HAND_OP
    HAND_OPS
} hand_op;

/** The loops of one instruction set, by operator. */
typedef struct hand_isa {
    const char *name;
    int         vector_bytes;
    hand_fn    *f32[HAND_OPS], *f64[HAND_OPS];
} hand_isa;

/** Matrix products by the BLAS found when this was built; hand_has_blas() tells whether there was
 *  one. */
extern hand_fn hand_blas_f32, hand_blas_f64;
bool           hand_has_blas(void);

/** x / (1 + |x|): functions of a user's, which the library and the loops call by their address. */
float       bench_softsign_f32(float x);
double      bench_softsign_f64(double x);
const char *bench_block_f32(void *user, int64_t n, const void *const *in, void *out);
const char *bench_block_f64(void *user, int64_t n, const void *const *in, void *out);

/** The best set that was compiled and that this processor has. */
const hand_isa *hand_loops(void);
#endif
