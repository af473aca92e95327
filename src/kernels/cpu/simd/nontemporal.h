/* nontemporal.h - non-temporal stores, which go past the caches; isa.h includes it once. */
/* The widest non-temporal store of the instruction set. */
#if defined(__AVX512F__)
typedef __m512i nontemporal_part;
#define NONTEMPORAL_PART _mm512_stream_si512
#elif defined(__AVX__)
typedef __m256i nontemporal_part;
#define NONTEMPORAL_PART _mm256_stream_si256
#elif defined(__SSE2__)
typedef __m128i nontemporal_part;
#define NONTEMPORAL_PART _mm_stream_si128
#endif

/* Stores *y = v, by a non-temporal store if `nontemporal` is set and vectors are as wide as such
 * stores; y is aligned to vectors then. */
#ifdef NONTEMPORAL_PART
#define STORE_VECTOR(y, v, nontemporal)                           \
    if ((nontemporal) && sizeof(v) == sizeof(nontemporal_part)) { \
        nontemporal_part part_;                                   \
        memcpy(&part_, &(v), sizeof(v));                          \
        NONTEMPORAL_PART((void *)(y), part_);                     \
    } else                                                        \
        *(y) = (v)
#else
#define STORE_VECTOR(y, v, nontemporal) *(y) = (v)
#endif
