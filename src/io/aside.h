/* aside.h - a file that is written beside its place and renamed: there it is the old one or the
 * whole new one. */
#ifndef RD_IO_ASIDE_H
#define RD_IO_ASIDE_H
#include "expr/expr.h"
#include <sys/stat.h>

typedef struct rd_aside {
    rd_ctx     *ctx;
    const char *call, *path; /* for failures, which are recorded */
    char       *real;        /* the path behind links, or NULL   */
    char       *name;        /* of the file being written        */
    int         fd;
    bool        replaces;
    struct stat old; /* of what is there, if so */
} rd_aside;

bool rd_aside_open(rd_aside *file, rd_ctx *ctx, const char *call, const char *path);
bool rd_aside_write(const rd_aside *file, const void *bytes, int64_t n);
/* After rd_aside_open(), whatever it gave.  Not good: nothing is renamed.  @return is the new file
 * there? */
bool rd_aside_close(rd_aside *file, bool good);
#endif
