/* Masks of lanes in AVX-512 intrinsics: simd_masks.h says what each word means. */
typedef __mmask16 m_f32;
typedef __mmask8  m_f64;

static inline m_f32 first_f32(int64_t n)
{
    return (m_f32)(n < 16 ? (1U << n) - 1 : 0xffff);
}

static inline m_f64 first_f64(int64_t n)
{
    return (m_f64)(n < 8 ? (1U << n) - 1 : 0xff);
}

static inline v_f32 part_f32(const float *p, m_f32 m)
{
    return (v_f32)_mm512_maskz_loadu_ps(m, p);
}

static inline v_f64 part_f64(const double *p, m_f64 m)
{
    return (v_f64)_mm512_maskz_loadu_pd(m, p);
}

static inline void put_part_f32(float *p, m_f32 m, v_f32 v)
{
    _mm512_mask_storeu_ps(p, m, (__m512)v);
}

static inline void put_part_f64(double *p, m_f64 m, v_f64 v)
{
    _mm512_mask_storeu_pd(p, m, (__m512d)v);
}

static inline m_f32 numbers_f32(v_f32 v)
{
    return _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_ORD_Q);
}

static inline m_f64 numbers_f64(v_f64 v)
{
    return _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_ORD_Q);
}

static inline m_f32 beyond_f32(v_f32 a, v_f32 b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
}

static inline m_f64 beyond_f64(v_f64 a, v_f64 b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
}

static inline m_f32 trues_f32(const bool *p, int64_t n)
{
    const __m128i b = _mm_maskz_loadu_epi8(first_f32(n), p);

    return _mm_test_epi8_mask(b, b);
}

static inline m_f64 trues_f64(const bool *p, int64_t n)
{
    const __m128i b = _mm_maskz_loadu_epi8(first_f64(n), p);

    return (m_f64)_mm_test_epi8_mask(b, b);
}

static inline v_f32 where_f32(m_f32 m, v_f32 v)
{
    return (v_f32)_mm512_maskz_mov_ps(m, (__m512)v);
}

static inline v_f64 where_f64(m_f64 m, v_f64 v)
{
    return (v_f64)_mm512_maskz_mov_pd(m, (__m512d)v);
}

static inline v_f32 select_f32(m_f32 m, v_f32 yes, v_f32 no)
{
    return (v_f32)_mm512_mask_blend_ps(m, (__m512)no, (__m512)yes);
}

static inline v_f64 select_f64(m_f64 m, v_f64 yes, v_f64 no)
{
    return (v_f64)_mm512_mask_blend_pd(m, (__m512d)no, (__m512d)yes);
}

static inline w_f32 choose_f32(m_f32 m, w_f32 yes, w_f32 no)
{
    return (w_f32)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
}

static inline w_f64 choose_f64(m_f64 m, w_f64 yes, w_f64 no)
{
    return (w_f64)_mm512_mask_blend_epi64(m, (__m512i)no, (__m512i)yes);
}

static inline float highest_f32(v_f32 v)
{
    return _mm512_reduce_max_ps((__m512)v);
}

static inline double highest_f64(v_f64 v)
{
    return _mm512_reduce_max_pd((__m512d)v);
}

static inline int32_t lowest_f32(w_f32 w)
{
    return _mm512_reduce_min_epi32((__m512i)w);
}

static inline int64_t lowest_f64(w_f64 w)
{
    return _mm512_reduce_min_epi64((__m512i)w);
}
