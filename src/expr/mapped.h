/* mapped.h - files that leaves map and that are too large to stay in memory as a whole.
 *
 * Pages of a mapped file that were read stay in the process until the kernel reclaims them.
 * With a file as large as memory that is late: the kernel swaps out other pages first, and
 * memory limits of the process count them.  A long run therefore gives pages back as it goes
 * (eval/run/watch.h).  The kernel may keep them in its page cache. */
#ifndef RD_EXPR_MAPPED_H
#define RD_EXPR_MAPPED_H
#include <stddef.h>

/* One mapped file; a part of the owner's struct. */
typedef struct rd_mapped {
    struct rd_mapped *next, **link; /* the list; link NULL: small, and not in it */
    char             *at;           /* the mapping */
    size_t            bytes;        /* of the mapping */
} rd_mapped;

/* Add and remove a file; from any thread. */
void rd_mapped_add(rd_mapped *file, void *at, size_t bytes);
void rd_mapped_remove(rd_mapped *file);
/* Gives back the pages of the large files that hold any of these addresses. */
void rd_mapped_give_back(int n, void *const *address);
#endif
