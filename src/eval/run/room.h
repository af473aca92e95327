/* room.h - the rule for what fits in a device's memory, shared by runs and explain. */
#ifndef RD_EVAL_RUN_ROOM_H
#define RD_EVAL_RUN_ROOM_H
#include <stdbool.h>
#include <stdint.h>

/* True if `bytes` are too many for the device at once.  A quarter stays free for programs' own
 * memory. */
static inline bool rd_room_is_tight(int64_t bytes, int64_t room)
{
    return bytes > room / 4 * 3;
}

/* True if data of so many bytes stay in host memory when device memory is tight. */
static inline bool rd_room_is_large(int64_t bytes, int64_t room)
{
    enum { PART = 256 };

    return bytes > room / PART;
}
#endif
