/* npy.h - NumPy's .npy format as bytes: what a header says, and a header that says it.
 *
 * A file is a prefix (magic, version, length of the text), the text of a Python dict, and the
 * elements, dense. */
#ifndef RD_IO_NPY_H
#define RD_IO_NPY_H
#include "core/dtype.h"

enum {
    RD_NPY_PREFIX = 12, /* bytes that tell how long the header is; a version 1.0 prefix has 10 */
    RD_NPY_TEXT   = 1 << 20, /* longest header read: ours need 1 KiB, NumPy itself trusts 10000
                              * bytes */
    RD_NPY_HEADER = 1024, /* room for any header written: 32 extents of 19 digits fit 768 bytes */
    RD_NPY_WHY    = 256   /* room for a finding */
};
enum { RD_HOST_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

typedef struct rd_npy_header {
    rd_dtype type;
    int32_t  order; /* of the elements: 0 last axis fastest, 1 first axis fastest */
    bool     swap;  /* an element's bytes are not in this machine's order         */
    rd_shape shape;
    int64_t  points; /* elements                                                   */
    int64_t  offset; /* of the first element, in bytes from the start of the file  */
    int64_t  bytes;  /* of all elements; offset + bytes does not overflow          */
} rd_npy_header;

/* Is there a descr for the type? */
bool rd_npy_has(rd_dtype type);
/* Offset of the elements, from the first n bytes of a file (RD_NPY_PREFIX of them, or all).  -1:
 * not a .npy file, the finding is in `why`. */
int64_t rd_npy_offset(const uint8_t *bytes, int64_t n, char why[RD_NPY_WHY]);
/* Reads the header at the start of n bytes.  RD_OK, or RD_ERR_FILE or RD_ERR_TYPE with the finding
 * in `why`. */
rd_status rd_npy_parse(const uint8_t *bytes, int64_t n, rd_npy_header *header,
                       char why[RD_NPY_WHY]);
/* Writes a whole header, a multiple of 64 bytes, and returns its length. */
int rd_npy_format(rd_dtype type, const rd_shape *shape, int order, bool big_endian,
                  char bytes[RD_NPY_HEADER]);
#endif
