/* past.h - stores past the caches.  isa.h includes it once. */
/* The widest store past the caches that the instruction set has. */
#if defined(__AVX512F__)
typedef __m512i stream_part;
#define STREAM_PART _mm512_stream_si512
#elif defined(__AVX__)
typedef __m256i stream_part;
#define STREAM_PART _mm256_stream_si256
#elif defined(__SSE2__)
typedef __m128i stream_part;
#define STREAM_PART _mm_stream_si128
#endif

/* *y = v; `past` the caches if a vector is as wide as what goes there: y is aligned to vectors
 * then. */
#ifdef STREAM_PART
#define STORE_VECTOR(y, v, past)                      \
    if ((past) && sizeof(v) == sizeof(stream_part)) { \
        stream_part part_;                            \
        memcpy(&part_, &(v), sizeof(v));              \
        STREAM_PART((void *)(y), part_);              \
    } else                                            \
        *(y) = (v)
#else
#define STORE_VECTOR(y, v, past) *(y) = (v)
#endif
