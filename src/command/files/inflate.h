/* inflate.h - deflate and CRC-32: by libdeflate where it is installed, in half the time of zlib,
 * and else by zlib. */
#ifndef CMD_INFLATE_H
#define CMD_INFLATE_H
#include <stdbool.h>
#include <stdint.h>

/* True if one of the libraries is available. Loads it, so the call must come before threads
 * inflate. */
bool cmd_can_inflate(void);
/* Continues zip's CRC-32 `crc`, 0 at first, by n bytes. All threads share large inputs.
 * cmd_can_inflate() comes first. */
uint32_t cmd_crc32(uint32_t crc, const void *bytes, int64_t n);
/* Inflates a stream of zlib's format to exactly n bytes; false: it is no such stream. */
bool cmd_inflate(const void *from, int64_t bytes, void *to, int64_t n);
/* Deflates n bytes to a stream of zlib's format. Returns its length; 0: there is not enough room.
 * Room of n bytes, a thousandth of n, and 100 is always enough. cmd_can_inflate() comes first. */
int64_t cmd_deflate(const void *from, int64_t n, void *to, int64_t room, int level);
#endif
