/* hash.h - 128-bit hashes of texts: names of compiled objects.
 *
 * The hash protects against chance, not against forgers, who cannot write to the store. */
#ifndef RD_KERNELS_STORE_HASH_H
#define RD_KERNELS_STORE_HASH_H
#include <stddef.h>
#include <stdint.h>

/* A hash in two halves. */
typedef struct rd_hash {
    uint64_t a, b;
} rd_hash;

enum { RD_HASH_TEXT = 33 }; /* 32 digits and their end */

rd_hash rd_hash_begin(void);
/* Takes n more bytes.  Where one piece ends and the next begins counts. */
rd_hash rd_hash_add(rd_hash hash, const void *bytes, size_t n);
void    rd_hash_text(rd_hash hash, char text[RD_HASH_TEXT]);
#endif
