/* room.h - what has room on a device: one rule for runs and for what is said of them. */
#ifndef RD_EVAL_RUN_ROOM_H
#define RD_EVAL_RUN_ROOM_H
#include <stdbool.h>
#include <stdint.h>

/* Are so many bytes too many at once?  The rest is for programs' own. */
static inline bool rd_room_is_tight(int64_t bytes, int64_t room)
{
    return bytes > room / 4 * 3;
}

/* Where it is tight: do data of so many bytes stay in this process's memory? */
static inline bool rd_room_is_large(int64_t bytes, int64_t room)
{
    enum { PART = 256 };

    return bytes > room / PART;
}
#endif
