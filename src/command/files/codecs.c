/* codecs.c - decompressors of chunks: zlib, gzip, Blosc, Zstandard, byte shuffle and CRC-32C. */
#include "files/codecs.h"
#include <dlfcn.h>
#include <string.h>
#if RDIM_ZLIB
#include <zlib.h>
#endif
#if RDIM_BLOSC
#include <blosc.h>
#endif
#if RDIM_ZSTD
#include <zstd.h>
#endif

/* A codec: how its library is loaded, and how it decompresses. */
struct cmd_codec {
    const char *name, *library, *package; /* library NULL: none is needed */
    bool (*load)(void);
    int64_t (*unpack)(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                      int64_t room);
};

/* The `load` of codecs that are implemented in this file: always true. */
static bool needs_no_library(void)
{
    return true;
}

/* ---- Streams of zlib, with either header ----------------------------------------------------- */
/* The `load` of zlib and gzip. The command is linked with zlib, so this is true if the build has
 * it. */
static bool has_zlib(void)
{
    return RDIM_ZLIB;
}

/* Inflates a stream of zlib or gzip: zlib detects the header (MAX_WBITS + 32). Its lengths have 32
 * bits, so longer input is refused. Returns the number of bytes, or -1. */
static int64_t unpack_zlib(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                           int64_t room)
{
    (void)p;
#if RDIM_ZLIB
    enum { EITHER = MAX_WBITS + 32 };
    z_stream z = {
        .next_in = (Bytef *)from, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)room
    };

    if (n > UINT32_MAX || room > UINT32_MAX || inflateInit2(&z, EITHER) != Z_OK)
        return -1;
    const int     status = inflate(&z, Z_FINISH);
    const int64_t got    = room - (int64_t)z.avail_out;
    inflateEnd(&z);
    return status == Z_STREAM_END ? got : -1;
#else
    (void)from;
    (void)n;
    (void)to;
    (void)room;
    return -1;
#endif
}

/* ---- Blosc ----------------------------------------------------------------------------------- */
#if RDIM_BLOSC
static __typeof__(blosc_decompress_ctx)   *blosc_unpack;
static __typeof__(blosc_cbuffer_validate) *blosc_check;

/* Loads libblosc at the first call, and looks up its functions. False: it is not installed. */
static bool load_blosc(void)
{
    void *file = blosc_unpack ? NULL : dlopen(RDIM_BLOSC_NAME, RTLD_NOW | RTLD_LOCAL);

    if (file) {
        *(void **)&blosc_check  = dlsym(file, "blosc_cbuffer_validate");
        *(void **)&blosc_unpack = dlsym(file, "blosc_decompress_ctx");
    }
    return blosc_unpack && blosc_check;
}

/* Decompresses a Blosc buffer in this thread alone, after a check of its header. Returns the number
 * of bytes, or -1. */
static int64_t unpack_blosc(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                            int64_t room)
{
    size_t bytes;

    (void)p;
    if (n < BLOSC_MIN_HEADER_LENGTH || blosc_check(from, (size_t)n, &bytes) < 0 ||
        bytes > (size_t)room)
        return -1;
    return blosc_unpack(from, to, (size_t)room, 1) == (int)bytes ? (int64_t)bytes : -1;
}
#endif

/* ---- Zstandard ------------------------------------------------------------------------------- */
#if RDIM_ZSTD
static __typeof__(ZSTD_decompress) *zstd_unpack;
static __typeof__(ZSTD_isError)    *zstd_failed;

/* Loads libzstd at the first call, and looks up its functions. False: it is not installed. */
static bool load_zstd(void)
{
    void *file = zstd_unpack ? NULL : dlopen(RDIM_ZSTD_NAME, RTLD_NOW | RTLD_LOCAL);

    if (file) {
        *(void **)&zstd_failed = dlsym(file, "ZSTD_isError");
        *(void **)&zstd_unpack = dlsym(file, "ZSTD_decompress");
    }
    return zstd_unpack && zstd_failed;
}

/* Decompresses a Zstandard frame. Returns the number of bytes, or -1. */
static int64_t unpack_zstd(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                           int64_t room)
{
    const size_t got = zstd_unpack(to, (size_t)room, from, (size_t)n);

    (void)p;
    return zstd_failed(got) ? -1 : (int64_t)got;
}
#endif

/* ---- Codecs without a library ---------------------------------------------------------------- */
/* Undoes the shuffle filter, which stores the first bytes of all elements, then the second ones,
 * and so on. Bytes behind the last whole element stay where they are. Returns n; -1: too little
 * room. */
static int64_t unpack_shuffle(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                              int64_t room)
{
    const int64_t size = p->size > 0 ? p->size : 1, count = n / size;

    if (n > room)
        return -1;
    for (int64_t b = 0; b < size; b++)
        for (int64_t i = 0; i < count; i++)
            to[i * size + b] = from[b * count + i];
    memcpy(to + count * size, from + count * size, (size_t)(n - count * size));
    return n;
}

/* Computes CRC-32C (Castagnoli's polynomial, reflected) with a table of 256 entries. */
static uint32_t crc32c(const uint8_t *at, int64_t n)
{
    static const uint32_t polynomial = 0x82f63b78;
    uint32_t              table[256], crc = UINT32_MAX;

    for (uint32_t k = 0; k < 256; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++)
            table[k] = table[k] >> 1 ^ (table[k] & 1 ? polynomial : 0);
    }
    for (int64_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ at[i]) & 255];
    return ~crc;
}

/* Checks the CRC-32C that stands in 4 little-endian bytes behind the data, and copies the data
 * without it. Returns the number of bytes; -1: the checksum differs, or there is too little
 * room. */
static int64_t unpack_crc(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                          int64_t room)
{
    (void)p;
    if (n < 4 || n - 4 > room)
        return -1;
    const uint8_t *const end = from + n - 4;
    const uint32_t       crc =
        end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
    if (crc != crc32c(from, n - 4))
        return -1;
    memcpy(to, from, (size_t)(n - 4));
    return n - 4;
}

/* ---- The table of codecs --------------------------------------------------------------------- */
static const cmd_codec codecs[] = {
    { "zlib", "zlib", "zlib1g-dev", has_zlib, unpack_zlib },
    { "gzip", "zlib", "zlib1g-dev", has_zlib, unpack_zlib },
#if RDIM_BLOSC
    { "blosc", RDIM_BLOSC_NAME, "libblosc1", load_blosc, unpack_blosc },
#endif
#if RDIM_ZSTD
    { "zstd", RDIM_ZSTD_NAME, "libzstd1", load_zstd, unpack_zstd },
#endif
    { "shuffle", NULL, NULL, needs_no_library, unpack_shuffle },
    { "crc32c", NULL, NULL, needs_no_library, unpack_crc },
};

static const char *const not_built[][2] = { { "blosc", "libblosc-dev" },
                                            { "zstd", "libzstd-dev" } };

/* Finds a codec and loads its library. NULL: one of them is missing, and *why says what to
 * install. */
const cmd_codec *cmd_codec_named(const char *name, const char **why)
{
    for (size_t k = 0; k < sizeof codecs / sizeof *codecs; k++) {
        const cmd_codec *c = &codecs[k];

        if (strcmp(c->name, name) != 0)
            continue;
        if (!c->load())
            *why = cmd_text("its chunks are packed by %s, which needs the library %s (Debian: %s)",
                            name, c->library, c->package);
        return *why ? NULL : c;
    }
    *why = cmd_text("its chunks are packed by %s, which is not known here", name);
    for (size_t k = 0; k < sizeof not_built / sizeof *not_built; k++)
        if (strcmp(not_built[k][0], name) == 0)
            *why = cmd_text("its chunks are packed by %s, and this rdim was built without it "
                            "(Debian: %s, then build again)",
                            name, not_built[k][1]);
    return NULL;
}

/* Decompresses n bytes by the codec of `p`. Returns the number of bytes; -1: they are damaged. */
int64_t cmd_unpack_bytes(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                         int64_t room)
{
    return p->codec->unpack(p, from, n, to, room);
}
