/* inflate.c - inflates and deflates streams of zlib's format, and computes CRC-32. */
#include "files/inflate.h"
#include "files/file.h"
#include <stdatomic.h>
#include <stddef.h>
#if RDIM_ZLIB
#include <zlib.h>
#endif
#if RDIM_DEFLATE
#include <dlfcn.h>
#include <libdeflate.h>

/* The functions of libdeflate. */
static struct {
    bool                                       tried, loaded;
    __typeof__(libdeflate_alloc_decompressor) *begin;
    __typeof__(libdeflate_zlib_decompress)    *inflate;
    __typeof__(libdeflate_free_decompressor)  *end;
    __typeof__(libdeflate_crc32)              *crc; /* ten times as fast as zlib's crc32() */
    __typeof__(libdeflate_alloc_compressor)   *begin_deflate;
    __typeof__(libdeflate_zlib_compress)      *deflate;
    __typeof__(libdeflate_free_compressor)    *end_deflate;
} api;

/* Loads libdeflate once, and looks up its functions. False: it is not installed. */
static bool load(void)
{
    void *file = NULL;

    if (!api.tried)
        file = dlopen(RDIM_DEFLATE_NAME, RTLD_NOW | RTLD_LOCAL);
    api.tried = true;
    if (file) {
        *(void **)&api.begin         = dlsym(file, "libdeflate_alloc_decompressor");
        *(void **)&api.inflate       = dlsym(file, "libdeflate_zlib_decompress");
        *(void **)&api.end           = dlsym(file, "libdeflate_free_decompressor");
        *(void **)&api.crc           = dlsym(file, "libdeflate_crc32");
        *(void **)&api.begin_deflate = dlsym(file, "libdeflate_alloc_compressor");
        *(void **)&api.deflate       = dlsym(file, "libdeflate_zlib_compress");
        *(void **)&api.end_deflate   = dlsym(file, "libdeflate_free_compressor");
        api.loaded = api.begin && api.inflate && api.end && api.crc && api.begin_deflate &&
                     api.deflate && api.end_deflate;
    }
    return api.loaded;
}

/* Inflates a stream by libdeflate; false: it does not have exactly n bytes. */
static bool inflate_by_libdeflate(const void *from, int64_t bytes, void *to, int64_t n)
{
    struct libdeflate_decompressor *const d = api.begin();
    const bool                            ok =
        d && api.inflate(d, from, (size_t)bytes, to, (size_t)n, NULL) == LIBDEFLATE_SUCCESS;

    if (d)
        api.end(d);
    return ok;
}

/* Deflates n bytes by libdeflate. Returns the length of the stream; 0: there is not enough room. */
static int64_t deflate_by_libdeflate(const void *from, int64_t n, void *to, int64_t room, int level)
{
    struct libdeflate_compressor *const c = api.begin_deflate(level);
    const size_t bytes = c ? api.deflate(c, from, (size_t)n, to, (size_t)room) : 0;

    if (c)
        api.end_deflate(c);
    return (int64_t)bytes;
}
#endif

/* True if libdeflate or zlib is available. The call loads libdeflate. */
bool cmd_can_inflate(void)
{
#if RDIM_DEFLATE
    if (load())
        return true;
#endif
    return RDIM_ZLIB;
}

/* Inflates a stream of zlib's format to exactly n bytes: by libdeflate if it is loaded, else by
 * zlib. False: it is no such stream. */
bool cmd_inflate(const void *from, int64_t bytes, void *to, int64_t n)
{
#if RDIM_DEFLATE
    if (api.loaded)
        return inflate_by_libdeflate(from, bytes, to, n);
#endif
#if RDIM_ZLIB
    uLongf got = (uLongf)n;

    return uncompress(to, &got, from, (uLong)bytes) == Z_OK && got == (uLongf)n;
#else
    (void)from;
    (void)bytes;
    (void)to;
    (void)n;
    return false;
#endif
}

/* Deflates n bytes: by libdeflate if it is loaded, else by zlib. Returns the length of the stream;
 * 0: there is not enough room. */
int64_t cmd_deflate(const void *from, int64_t n, void *to, int64_t room, int level)
{
#if RDIM_DEFLATE
    if (api.loaded)
        return deflate_by_libdeflate(from, n, to, room, level);
#endif
#if RDIM_ZLIB
    uLongf bytes = (uLongf)room;

    return compress2(to, &bytes, from, (uLong)n, level) == Z_OK ? (int64_t)bytes : 0;
#else
    (void)from;
    (void)n;
    (void)to;
    (void)room;
    (void)level;
    return 0;
#endif
}

#if RDIM_ZLIB
/* Continues the CRC-32 `crc` by n bytes, in pieces of at most 1 GB, as zlib's lengths have 32
 * bits. */
static uint32_t crc_of_bytes(uint32_t crc, const uint8_t *at, int64_t n)
{
    enum { MOST = 1 << 30 }; /* lengths have 32 bits */

    for (int64_t piece; n > 0; at += piece, n -= piece) {
        piece = n < MOST ? n : MOST;
#if RDIM_DEFLATE
        if (api.loaded) {
            crc = api.crc(crc, at, (size_t)piece);
            continue;
        }
#endif
        crc = (uint32_t)crc32(crc, at, (uInt)piece);
    }
    return crc;
}

/* Bytes of a piece that one thread takes. */
enum { CRC_PIECE = 1 << 22 };

/* The state that all threads share: the bytes, and the next piece. */
typedef struct crc_job {
    const uint8_t *at;
    int64_t        n;
    uint32_t      *crc; /* of each piece */
    atomic_llong   next;
} crc_job;

/* Bytes of piece k: all pieces but the last one are equal. */
static int64_t piece_size(const crc_job *j, int64_t k)
{
    const int64_t left = j->n - k * CRC_PIECE;

    return left < CRC_PIECE ? left : CRC_PIECE;
}

/* Runs in each thread: computes the CRC-32 of one piece after another. */
static void *crc_pieces(void *of)
{
    crc_job *j = of;

    for (int64_t k; (k = atomic_fetch_add(&j->next, 1)) * CRC_PIECE < j->n && !cmd_interrupted();)
        j->crc[k] = crc_of_bytes(0, j->at + k * CRC_PIECE, piece_size(j, k));
    return NULL;
}

/* Continues the CRC-32 `crc` by n bytes. Two or more pieces of 4 MB are computed by all threads,
 * each from 0, and then combined. */
uint32_t cmd_crc32(uint32_t crc, const void *bytes, int64_t n)
{
    const int64_t pieces = (n + CRC_PIECE - 1) / CRC_PIECE;

    if (pieces < 2)
        return crc_of_bytes(crc, bytes, n);
    crc_job j = { .at = bytes, .n = n, .crc = cmd_room((size_t)pieces * sizeof *j.crc) };
    cmd_share_work(crc_pieces, &j, pieces);
    for (int64_t k = 0; k < pieces; k++)
        crc = (uint32_t)crc32_combine(crc, j.crc[k], (z_off_t)piece_size(&j, k));
    return crc;
}
#endif
