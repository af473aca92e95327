/* rdim/files.h - NumPy's .npy files.
 *
 * Versions 1.0 to 3.0, little and big endian, C and Fortran order can be read and written.  The
 * command rdim reads and writes more formats. */
#ifndef RDIM_FILES_H
#define RDIM_FILES_H
#include "arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Keywords of rd_load. */
typedef struct rd_load_opts {
    /** sizeof(rd_load_opts); the macro sets it. */
    uint32_t    size;
    /** The positional argument. */
    const char *path;
    /** Read the file now, into memory of the context.  Default: map it where that is possible. */
    bool        read;
    /** Where the array's header begins in the file, in bytes, for an array inside another file. */
    int64_t     offset;
} rd_load_opts;
/** A file as a leaf.  numpy.load with mmap_mode.
 *
 *  If its bytes can be used as they are, the file is mapped until the context is freed.  Else it is
 *  read and converted once.  Do not change a mapped file.  If someone cuts it short, reading the
 *  missing part ends the program (SIGBUS); if someone writes to it, results change.  Replacing the
 *  file by another one (mv, rd_save) is safe.  Where others may write to files, use .read = true.
 *  @return NULL on RD_ERR_FILE (not there, truncated, not understood; the sentence has the path and
 *          the reason), RD_ERR_TYPE, or RD_ERR_MEMORY. */
RD_API rd_expr *rd_load_npy(rd_ctx *ctx, const rd_load_opts *opts);
/** rd_load_npy() without keywords. */
RD_API rd_expr *rd_load(rd_ctx *ctx, const char *path);
/** Reads a file into memory.  numpy.load.
 *
 *  @param out  zeroed: becomes fresh memory in the file's order, for rd_array_free().  Otherwise
 *              its shape and type must be those of the file
 *  @return RD_OK, or the recorded error: those of rd_load_npy(), and RD_ERR_SHAPE. */
RD_API rd_status rd_read(rd_ctx *ctx, const char *path, rd_array *out);

/** Keywords of rd_save. */
typedef struct rd_save_opts {
    /** sizeof(rd_save_opts); the macro sets it. */
    uint32_t    size;
    /** The positional argument. */
    const char *path;
    /** 0: C order.  1: Fortran order. */
    int32_t     order;
    /** Big endian.  Default: little endian. */
    bool        big_endian;
} rd_save_opts;
/** Evaluates y and writes it to a file.  numpy.save.
 *
 *  A new file is written beside the old one and then renamed, so the path always holds the whole
 *  old or the whole new file.  The new file has the old one's mode, and its owner where the process
 *  may set it.  If the path is a link, the file that it leads to is replaced; a link to nothing is
 *  replaced itself.
 *  @return RD_OK, or the recorded error: RD_ERR_FILE (then the old file is untouched; also for a
 *          path that is not a regular file), RD_ERR_TYPE (bf16 and f8e4m3, which the format
 *          lacks), and the errors of rd_eval(). */
RD_API rd_status rd_save_npy(rd_ctx *ctx, rd_expr *y, const rd_save_opts *opts);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** rd_load(ctx, "x.npy", .read = true): the function of this name, with keywords. */
#define rd_load(ctx, ...) \
    rd_load_npy(ctx, &(rd_load_opts){ .size = sizeof(rd_load_opts), .path = __VA_ARGS__ })
/** rd_save(ctx, y, "out.npy", .order = 1).  See rd_save_npy(). */
#define rd_save(ctx, y, ...) \
    rd_save_npy(ctx, y, &(rd_save_opts){ .size = sizeof(rd_save_opts), .path = __VA_ARGS__ })
#endif
#endif
