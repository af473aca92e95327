/* mapped.h - files that leaves map, and that are too large to stay in memory as a whole.
 *
 * Pages of a mapped file that have been read stay the process's until the kernel needs them back.
 * Of a file as large as memory that is late: others are swapped out first, and a limit on the
 * process counts them.  A long run therefore gives them back as it goes (eval/run/watch.h); the
 * kernel keeps what it likes in its page cache. */
#ifndef RD_EXPR_MAPPED_H
#define RD_EXPR_MAPPED_H
#include <stddef.h>

/* One of them, part of who mapped it. */
typedef struct rd_mapped {
    struct rd_mapped *next, **link; /* link NULL: small, and not in the list */
    char             *at;
    size_t            bytes;
} rd_mapped;

/* Any thread may call these. */
void rd_mapped_add(rd_mapped *file, void *at, size_t bytes);
void rd_mapped_remove(rd_mapped *file);
/* Gives back the pages of the large files that hold any of these addresses. */
void rd_mapped_give_back(int n, void *const *address);
#endif
