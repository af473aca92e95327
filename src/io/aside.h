/* aside.h - atomic replacement of a file: it is written under a temporary name and renamed.  The
 * path holds the old file or the whole new one. */
#ifndef RD_IO_ASIDE_H
#define RD_IO_ASIDE_H
#include "expr/expr.h"
#include <sys/stat.h>

/* A temporary file on its way to a path. */
typedef struct rd_aside {
    rd_ctx     *ctx;
    const char *call, *path; /* for the failures that it records */
    char       *real;        /* the path with links resolved, or NULL */
    char       *name;        /* of the temporary file */
    int         fd;          /* -1: not open */
    bool        replaces;    /* there is a file at the path */
    struct stat old;         /* its facts, if so */
} rd_aside;

/* Creates the temporary file for a path; false after recording the failure. */
bool rd_aside_open(rd_aside *file, rd_ctx *ctx, const char *call, const char *path);
/* Writes n bytes to it; false after recording the failure. */
bool rd_aside_write(const rd_aside *file, const void *bytes, int64_t n);
/* Ends what rd_aside_open() began, even if that failed.  `good` renames the file, else it is
 * removed. @return true if the new file is in place. */
bool rd_aside_close(rd_aside *file, bool good);
#endif
