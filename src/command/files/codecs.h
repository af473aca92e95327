/* codecs.h - decompressors of chunks, by the names that Zarr gives them.
 *
 * Each library is loaded when the first chunk needs it, before threads begin. */
#ifndef CMD_CODECS_H
#define CMD_CODECS_H
#include "files/file.h"

typedef struct cmd_codec cmd_codec;
/* A codec with its setting. */
typedef struct cmd_packed {
    const cmd_codec *codec;
    int64_t          size; /* bytes of an element, for codecs that need it */
} cmd_packed;

/* The codec of that name. NULL: it cannot be used, and *why has the reason. */
const cmd_codec *cmd_codec_named(const char *name, const char **why);
/* Decompresses n bytes into at most `room` bytes. Returns how many, or -1: they are damaged. */
int64_t cmd_unpack_bytes(const cmd_packed *p, const uint8_t *from, int64_t n, uint8_t *to,
                         int64_t room);
#endif
