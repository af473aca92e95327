/* save.c - results as .npy files, written aside and renamed. */
#define _POSIX_C_SOURCE 200809L
#include "io/save.h"
#include "expr/array.h"
#include "io/npy.h"
#include "io/walk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 15, /* bytes converted at a time: they stay in L1                              */
    NAMES = 100      /* names tried: those of a killed process with our number may be in the way */
};

typedef struct sink {
    rd_ctx     *ctx;
    const char *path;
    char       *aside; /* name of the file being written */
    int         fd;
} sink;

static bool refuse(const sink *s, const char *doing, int error)
{
    rd_fail(s->ctx, RD_ERR_FILE, "rd_save: %s: %s: %s", s->path, doing, strerror(error));
    return false;
}

/* Renaming over /dev/null would replace the device. */
static bool check_target(const sink *s)
{
    struct stat facts;

    if (stat(s->path, &facts) != 0 || S_ISREG(facts.st_mode))
        return true;
    rd_fail(s->ctx, RD_ERR_FILE, "rd_save: %s: %s", s->path,
            S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file");
    return false;
}

/* In the same directory, as a rename does not cross file systems. */
static bool open_aside(sink *s)
{
    static atomic_uint counter;
    const size_t       room = strlen(s->path) + 40;

    s->aside = rd_alloc(s->ctx, (int64_t)room);
    if (!s->aside)
        return false;
    errno = EEXIST;
    for (int k = 0; k < NAMES && s->fd < 0 && (errno == EEXIST || errno == EINTR); k++) {
        snprintf(s->aside, room, "%s.%ld.%u.tmp", s->path, (long)getpid(), atomic_fetch_add(&counter, 1));
        s->fd = open(s->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return s->fd >= 0 || refuse(s, "cannot create a file beside it", errno);
}

static bool write_bytes(const sink *s, const void *bytes, int64_t n)
{
    for (const char *at = bytes; n > 0;) {
        const ssize_t put = write(s->fd, at, (size_t)n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return refuse(s, "cannot write", put < 0 ? errno : EIO);
        at += put;
        n -= put;
    }
    return true;
}

static bool write_converted(const sink *s, rd_walk *walk, int64_t total, bool swap)
{
    char          chunk[CHUNK];
    const int64_t most = CHUNK / walk->size;

    for (int64_t done = 0, n; done < total; done += n) {
        n = total - done < most ? total - done : most;
        rd_walk_gather(walk, chunk, n);
        if (swap)
            rd_swap_bytes(chunk, n, walk->size);
        if (!write_bytes(s, chunk, n * walk->size))
            return false;
    }
    return true;
}

static bool write_array(const sink *s, const rd_array *array, const int64_t *stride, int order, bool big_endian)
{
    const int64_t points = rd_points(array->shape.n, array->shape.at);
    const int     size   = rd_dtype_size(array->type);
    const bool    swap   = size > 1 && big_endian != (bool)RD_HOST_IS_BIG;
    char          header[RD_NPY_HEADER];
    rd_walk       walk;

    if (!write_bytes(s, header, rd_npy_format(array->type, &array->shape, order, big_endian, header)))
        return false;
    if (points == 0)
        return true;
    rd_walk_start(&walk, array->data, size, array->shape.n, array->shape.at, stride, order);
    if (!swap && rd_walk_is_dense(&walk))
        return write_bytes(s, array->data, points * size);
    return write_converted(s, &walk, points, swap);
}

/* A rename may reach the disk before the data does, and a crash between them would leave an empty file: fsync first. */
static bool finish_file(sink *s)
{
    if (fsync(s->fd) != 0 && errno != EINVAL && errno != ENOTSUP) /* some file systems have none */
        return refuse(s, "cannot write", errno);
    const int fd = s->fd;
    s->fd        = -1;
    if (close(fd) != 0 && errno != EINTR)
        return refuse(s, "cannot write", errno);
    return rename(s->aside, s->path) == 0 || refuse(s, "cannot rename the file written beside it", errno);
}

rd_status rd_npy_write(rd_ctx *ctx, const char *path, const rd_array *array, int order, bool big_endian)
{
    sink    s = { .ctx = ctx, .path = path, .fd = -1 };
    int64_t stride[RD_MAX_RANK];

    if (!rd_array_layout(ctx, array, "rd_save", stride) || !check_target(&s))
        return rd_error(ctx);
    if (open_aside(&s) && !(write_array(&s, array, stride, order, big_endian) && finish_file(&s)))
        unlink(s.aside);
    if (s.fd >= 0)
        close(s.fd);
    rd_free(ctx, s.aside);
    return rd_error(ctx);
}

/* Into memory in the file's order, so that writing is one pass. */
static rd_status evaluate(rd_ctx *ctx, rd_expr *y, int order, rd_array *array)
{
    if (!y || order == 0)
        return rd_eval(ctx, y, array);

    rd_array      result = { .type = rd_type_of(y), .order = order, .shape = rd_shape_of(y) };
    const int64_t points = rd_points(result.shape.n, result.shape.at);
    const int     size   = rd_dtype_size(result.type);
    result.data          = points > INT64_MAX / size ? NULL : rd_array_memory(ctx, points * size, &result.owner);
    if (!result.data) {
        rd_fail(ctx, RD_ERR_MEMORY, "rd_save: no memory for %lld elements of %d bytes", (long long)points, size);
        return rd_error(ctx);
    }
    const rd_status status = rd_eval(ctx, y, &result);
    if (status == RD_OK)
        *array = result;
    else
        rd_array_free(&result);
    return status;
}

rd_status rd_save_npy(rd_ctx *ctx, rd_expr *y, const rd_save_opts *opts)
{
    rd_array array = { 0 };

    if (rd_error(ctx) != RD_OK)
        return rd_error(ctx);
    if (!opts || !opts->path || !*opts->path || opts->order < 0 || opts->order > 1) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_save: %s",
                opts && opts->path && *opts->path ? "order is neither 0 nor 1" : "no path");
        return rd_error(ctx);
    }
    if (y && !rd_npy_has(rd_type_of(y))) {
        rd_fail(ctx, RD_ERR_TYPE, "rd_save: %s: .npy files have no type %s; rd_cast() it first, f32 loses nothing",
                opts->path, rd_dtype_name(rd_type_of(y)));
        return rd_error(ctx);
    }
    if (evaluate(ctx, y, opts->order, &array) != RD_OK)
        return rd_error(ctx);
    rd_npy_write(ctx, opts->path, &array, opts->order, opts->big_endian);
    rd_array_free(&array);
    return rd_error(ctx);
}
