/* inflate.h - bytes that deflate made smaller: by libdeflate where it is installed, in half the time of
 * zlib, and else by that. */
#ifndef CMD_INFLATE_H
#define CMD_INFLATE_H
#include <stdbool.h>
#include <stdint.h>

/* Is there one of them in this build?  To be asked before threads inflate. */
bool cmd_can_inflate(void);
/* zip's checksum of these bytes behind those that came to `crc`, 0 of none; what is large by all threads.
 * To be asked after cmd_can_inflate(). */
uint32_t cmd_crc32(uint32_t crc, const void *bytes, int64_t n);
/* A stream of zlib's format that comes to exactly n bytes; false: it is none. */
bool cmd_inflate(const void *from, int64_t bytes, void *to, int64_t n);
/* A stream of n bytes; how long it is, and 0 if it cannot be made in this room.  Room of n bytes, a thousandth
 * of n, and 100 is always enough.  cmd_can_inflate() comes first. */
int64_t cmd_deflate(const void *from, int64_t n, void *to, int64_t room, int level);
#endif
