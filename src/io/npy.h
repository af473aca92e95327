/* npy.h - NumPy's .npy format: parses and writes headers.
 *
 * A file consists of a prefix (magic, version, length of the text), the text of a Python dict,
 * and the dense elements. */
#ifndef RD_IO_NPY_H
#define RD_IO_NPY_H
#include "core/dtype.h"

enum {
    RD_NPY_PREFIX = 12,      /* bytes that tell how long the header is; version 1.0 needs 10 */
    RD_NPY_TEXT   = 1 << 20, /* longest header to read: ours need 1 KiB, NumPy trusts 10000 bytes */
    RD_NPY_HEADER = 1024,    /* room for any header that is written: 32 extents take 768 bytes */
    RD_NPY_WHY    = 256      /* room for the sentence of a failure */
};
enum { RD_HOST_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* The header of a .npy file describes the array behind it. */
typedef struct rd_npy_header {
    rd_dtype type;
    int32_t  order; /* of elements; 0: last axis contiguous, 1: first axis */
    bool     swap;  /* bytes of an element are not in this machine's order */
    rd_shape shape;
    int64_t  points; /* number of elements */
    int64_t  offset; /* of the first element, in bytes from the file's start */
    int64_t  bytes;  /* of all elements; offset + bytes does not overflow */
} rd_npy_header;

/* True if the format has a descr for the type. */
bool rd_npy_has(rd_dtype type);
/* Returns where the elements begin, from the first n bytes of a file (RD_NPY_PREFIX, or all).
 * Returns -1 with a sentence in `why` if it is not a .npy file. */
int64_t rd_npy_offset(const uint8_t *bytes, int64_t n, char why[RD_NPY_WHY]);
/* Parses the header at the start of n bytes.  Returns RD_OK, or RD_ERR_FILE or RD_ERR_TYPE with
 * a sentence in `why`. */
rd_status rd_npy_parse(const uint8_t *bytes, int64_t n, rd_npy_header *header,
                       char why[RD_NPY_WHY]);
/* Writes a whole header, a multiple of 64 bytes, and returns its length. */
int rd_npy_format(rd_dtype type, const rd_shape *shape, int order, bool big_endian,
                  char bytes[RD_NPY_HEADER]);
#endif
