/* take_strip.h - takes strips of rows of any type (kernels/first_few.h). */
#include "kernels/cpu/sort/kept.h"

/* Elements that are tested together; runs of the first strip, and for how many results they give a
 * bound: the 40th of them has some 60 elements before it; elements that such a strip has at
 * least. */
enum { BLOCK = RD_FRONT_BLOCK, RUNS_OF_STRIP = 64, MOST_OF_RUNS = 40, FEWEST_OF_STRIP = 512 };

#define TAKE_PART    "kernels/cpu/sort/take_elements.h"
#define IS_NAN(x)    isnan(x)
#define T            float
#define OF           f32
#define ANY          uint32_t
#define KEY          uint32_t
#define SORT_KEYS    sort_32
#define VECTOR       __m512
#define LESS(a, b)   _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define FIRST        _mm512_min_ps
#define LAST         _mm512_max_ps
#define VECTOR_AT(p) _mm512_loadu_ps(p)
#define ALL_OF(x)    _mm512_set1_ps(x)
#include TAKE_PART
#define T            double
#define OF           f64
#define ANY          uint64_t
#define KEY          uint64_t
#define SORT_KEYS    sort_64
#define VECTOR       __m512d
#define LESS(a, b)   _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define FIRST        _mm512_min_pd
#define LAST         _mm512_max_pd
#define VECTOR_AT(p) _mm512_loadu_pd(p)
#define ALL_OF(x)    _mm512_set1_pd(x)
#include TAKE_PART
#undef IS_NAN
#define IS_NAN(x) false
#define T         int8_t
#define OF        i8
#define ANY       uint8_t
#define KEY       uint32_t
#define SORT_KEYS sort_32
#include TAKE_PART
#define T         int16_t
#define OF        i16
#define ANY       uint16_t
#define KEY       uint32_t
#define SORT_KEYS sort_32
#include TAKE_PART
#define T         int32_t
#define OF        i32
#define ANY       uint32_t
#define KEY       uint32_t
#define SORT_KEYS sort_32
#include TAKE_PART
#define T         int64_t
#define OF        i64
#define ANY       uint64_t
#define KEY       uint64_t
#define SORT_KEYS sort_64
#include TAKE_PART
#define T         uint8_t
#define OF        u8
#define ANY       uint8_t
#define KEY       uint32_t
#define SORT_KEYS sort_32
#include TAKE_PART
#define T         uint16_t
#define OF        u16
#define ANY       uint16_t
#define KEY       uint32_t
#define SORT_KEYS sort_32
#include TAKE_PART
#undef IS_NAN
/* Narrow floats are taken as their keys. */
#define IS_NAN(x)    ((x) == (KEY)-1)
#define T            uint32_t
#define OF           u32
#define ANY          uint32_t
#define KEY          uint32_t
#define SORT_KEYS    sort_32
#define VECTOR       __m512i
#define LESS(a, b)   _mm512_cmplt_epu32_mask(a, b)
#define FIRST        _mm512_min_epu32
#define LAST         _mm512_max_epu32
#define VECTOR_AT(p) _mm512_loadu_si512(p)
#define ALL_OF(x)    _mm512_set1_epi32((int)(x))
#include TAKE_PART
#undef IS_NAN
#define IS_NAN(x) false
#define T         uint64_t
#define OF        u64
#define ANY       uint64_t
#define KEY       uint64_t
#define SORT_KEYS sort_64
#include TAKE_PART
#undef IS_NAN

/* Takes a strip (a range of the row) of floats of 8 or 16 bits: 1024 at a time become keys of 32
 * bits, which are taken as uint32_t elements.  `invert` makes their order ascending in any case. */
static void take_narrow(kept *f, const rd_row_strip                                         *strip,
                        found (*keys)(int64_t, const void *, uint32_t *, uint32_t), uint32_t invert)
{
    enum { SOME = 1024 };
    uint32_t key[SOME];

    for (int64_t i = 0, n; i < strip->n; i += n) {
        n = strip->n - i < SOME ? strip->n - i : SOME;
        (void)keys(n, f->strip + i * f->size, key, invert);
        take_u32(f, n, key, strip->begin + i, /*descending=*/false);
    }
}

#if RD_VECTOR_BYTES == 64
#include "kernels/cpu/sort/insert_f32.h"
#include "kernels/cpu/sort/fronts_f32.h"
#else
/* Without AVX-512 blocks are not tested by their fronts: returns false. */
static bool take_fronts_f32(const rd_sorting *s, const rd_row_strip *strip)
{
    (void)s, (void)strip;
    return false;
}

/* Without AVX-512 there is no insertion into vectors: returns false, and the strip is taken another
 * way. */
static bool insert_f32(kept *f, int64_t n, const float *x, int64_t place)
{
    (void)f, (void)n, (void)x, (void)place;
    return false;
}
#endif

/* Takes a strip (a range of a row, which comes in several) by its type. f32 are inserted into
 * sorted vectors if these can hold the first few; else take_TYPE() collects candidates. */
static void take_type(kept *f, const rd_row_strip *strip)
{
    const bool descending = f->s->facts->descending;

    if (f->s->type == RD_F32 && insert_f32(f, strip->n, strip->from, strip->begin))
        return;
    switch (f->s->type) {
#define RD_DTYPE(name, sign, ...)                                        \
    case RD_##name:                                                      \
        take_##sign(f, strip->n, strip->from, strip->begin, descending); \
        break;
#define RD_NARROW_FLOAT(name, sign, C, ...)                                             \
    case RD_##name:                                                                     \
        take_narrow(f, strip, keys_##sign, descending ? (1U << 8 * sizeof(C)) - 1 : 0); \
        break;
#define take_bool take_u8
#include "core/dtypes.def"
#undef take_bool
    default: break;
    }
}

/* Takes a strip: a range of a row that comes in several, and is never stored.  The state holds
 * candidates for the first few; behind the last strip the results are written.  If
 * s->reads_earlier_state, an earlier sort of the same row owns the state, and this one only writes
 * from it at the end. */
void JOIN(rd_sort_take, NAME)(const rd_sorting *s, const rd_row_strip *strip)
{
    const int64_t end = strip->begin + strip->n;
    kept          f;

    if (!s->reads_earlier_state && !take_fronts_f32(s, strip)) {
        f = open_kept(s, strip, strip->begin == 0);
        take_type(&f, strip);
        close_strip(&f, end);
    }
    if (end == s->n) {
        f = open_kept(s, strip, /*begins=*/false);
        write_kept(&f, strip->to);
    }
}
