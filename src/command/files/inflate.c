/* inflate.c - streams of zlib's format. */
#include "files/inflate.h"
#include <stddef.h>
#if RDIM_ZLIB
#include <zlib.h>
#endif
#if RDIM_DEFLATE
#include <dlfcn.h>
#include <libdeflate.h>

static struct {
    bool                                       tried, loaded;
    __typeof__(libdeflate_alloc_decompressor) *begin;
    __typeof__(libdeflate_zlib_decompress)    *inflate;
    __typeof__(libdeflate_free_decompressor)  *end;
} api;

static bool load(void)
{
    void *file = NULL;

    if (!api.tried)
        file = dlopen(RDIM_DEFLATE_NAME, RTLD_NOW | RTLD_LOCAL);
    api.tried = true;
    if (file) {
        *(void **)&api.begin   = dlsym(file, "libdeflate_alloc_decompressor");
        *(void **)&api.inflate = dlsym(file, "libdeflate_zlib_decompress");
        *(void **)&api.end     = dlsym(file, "libdeflate_free_decompressor");
        api.loaded             = api.begin && api.inflate && api.end;
    }
    return api.loaded;
}

static bool by_libdeflate(const void *from, int64_t bytes, void *to, int64_t n)
{
    struct libdeflate_decompressor *const d = api.begin();
    const bool                            ok =
        d && api.inflate(d, from, (size_t)bytes, to, (size_t)n, NULL) == LIBDEFLATE_SUCCESS;

    if (d)
        api.end(d);
    return ok;
}
#endif

bool cmd_can_inflate(void)
{
#if RDIM_DEFLATE
    if (load())
        return true;
#endif
    return RDIM_ZLIB;
}

bool cmd_inflate(const void *from, int64_t bytes, void *to, int64_t n)
{
#if RDIM_DEFLATE
    if (api.loaded)
        return by_libdeflate(from, bytes, to, n);
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
