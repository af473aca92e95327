/* hash.c - 128 bits of a text: two multiplicative hashes of 64. */
#include "kernels/store/hash.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the hash of nothing: two constants, as good as any. */
rd_hash rd_hash_begin(void)
{
    /* digits of pi */
    return (rd_hash){ UINT64_C(0x243F6A8885A308D3), UINT64_C(0x13198A2E03707344) };
}

/* Takes one word into a 64-bit hash: exclusive or, then a product with an odd factor.  A product
 * carries bits upwards only, so the high bits are then mixed into the low ones. */
static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor)
{
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 29;
}

/* Takes one word of 64 bits into both halves of the hash, with different factors; the second
 * half also depends on the first. */
static rd_hash take(rd_hash hash, uint64_t word)
{
    hash.a = mix(hash.a, word, UINT64_C(0x9E3779B97F4A7C15));
    hash.b = mix(hash.b, word, UINT64_C(0xC2B2AE3D27D4EB4F)) + hash.a;
    return hash;
}

/* Adds n bytes to a hash: the length first, so that the ends of pieces count, then the bytes
 * word by word.  The last word, which may be empty, is filled with zeros. */
rd_hash rd_hash_add(rd_hash hash, const void *bytes, size_t n)
{
    const char *at = bytes;
    uint64_t    word;

    hash = take(hash, n);
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = take(hash, word);
    }
    word = 0;
    memcpy(&word, at, n);
    return take(hash, word);
}

/* Writes a hash as 32 hexadecimal digits. */
void rd_hash_text(rd_hash hash, char text[RD_HASH_TEXT])
{
    snprintf(text, RD_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash.a, hash.b);
}
