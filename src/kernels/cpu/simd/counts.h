/* counts.h - counts elements that pass a comparison with one number, without a mask in memory.
 * instances/folds_*.c include it once per float type, after vector_folds.h, with ELEM, T, I set. */
/* count_OP(): returns how many of n elements (or of their magnitudes, `map`) compare true with
 * *limit.  Lanes are counted by adding masks, which are -1 where true; counters are added up long
 * before they overflow. */
#define COUNT_IF(name, op, map)                                                   \
    static int64_t JOIN(name, ELEM)(int64_t n, const void *px, const void *limit) \
    {                                                                             \
        const T *x   = px;                                                        \
        const T  c   = *(const T *)limit;                                         \
        int64_t  sum = 0;                                                         \
        while (n >= 4 * LANES) {                                                  \
            MASK count[4] = { { 0 } };                                            \
            for (int turn = 0; turn < 1 << 20 && n >= 4 * LANES; turn++) {        \
                _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)               \
                {                                                                 \
                    const VEC v = map(JOIN(load, ELEM)(x + k * LANES));           \
                    count[k] += (MASK)(v op((VEC){ 0 } + c));                     \
                }                                                                 \
                x += 4 * LANES;                                                   \
                n -= 4 * LANES;                                                   \
            }                                                                     \
            for (int k = 0; k < 4; k++)                                           \
                for (int l = 0; l < LANES; l++)                                   \
                    sum -= count[k][l];                                           \
        }                                                                         \
        for (; n > 0; n--, x++) {                                                 \
            const VEC      v = map((VEC){ 0 } + *x);                              \
            sum += v[0] op c;                                                     \
        }                                                                         \
        return sum;                                                               \
    }
#define PLAIN(v)       (v)
#define SIZE(v)        JOIN(abs_vec, ELEM)(v)
#define BOTH(name, op) COUNT_IF(count_##name, op, PLAIN) COUNT_IF(count_abs_##name, op, SIZE)
BOTH(eq, ==)
BOTH(ne, !=)
BOTH(lt, <)
BOTH(le, <=)
BOTH(gt, >)
BOTH(ge, >=)

#define PAIR(name) [RD_OP_##name] = { JOIN(count_##name, ELEM), JOIN(count_abs_##name, ELEM) },
rd_simd_count_if *const OF_ISA(JOIN(counts, ELEM))[RD_N_OPS][2] = { PAIR(eq) PAIR(ne) PAIR(lt)
                                                                        PAIR(le) PAIR(gt)
                                                                            PAIR(ge) };
#undef COUNT_IF
#undef PLAIN
#undef SIZE
#undef BOTH
#undef PAIR
