/* load.c - reads .npy files: as leaves, mapped if their bytes can be used unchanged, or into
 * memory. */
#define _POSIX_C_SOURCE 200809L
#include "expr/array.h"
#include "expr/complex.h"
#include "expr/mapped.h"
#include "io/npy.h"
#include "io/walk.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 15 }; /* bytes converted at a time; they stay in L1 */

/* An open .npy file. */
typedef struct source {
    rd_ctx       *ctx;
    const char   *call, *path; /* for failures */
    int           fd;          /* -1: not open */
    int64_t       start;       /* where the array begins in the file, in bytes */
    int64_t       size;        /* bytes of the file from there on */
    rd_npy_header header;      /* type, shape and order of the array */
} source;

/* The data of a loaded leaf.  They belong to the context and not to a mark.  A leaf that is
 * released and loaded again is rare; a leaf that loses its memory under a plan would crash. */
typedef struct loaded {
    rd_owned  own; /* first: the context frees it by this address */
    rd_ctx   *ctx;
    rd_mapped file;  /* at NULL: read into `array` instead */
    rd_array  array; /* the elements, mapped or read */
} loaded;

/* Records what was found in the file; returns false. */
static bool refuse(const source *s, rd_status status, const char *finding)
{
    rd_fail(s->ctx, status, "%s: %s: %s", s->call, s->path, finding);
    return false;
}

/* ---- Bytes of the file ----------------------------------------------------------------------- */
/* Reads so many bytes at an offset from the array's begin; false after recording an error or a file
 * that ends before. */
static bool read_at(const source *s, void *to, int64_t bytes, int64_t offset)
{
    for (char *at = to; bytes > 0;) {
        const ssize_t got = pread(s->fd, at, (size_t)bytes, (off_t)(s->start + offset));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(s, RD_ERR_FILE, strerror(errno));
        if (got == 0)
            return refuse(s, RD_ERR_FILE, "the file became shorter while it was read");
        at += got;
        offset += got;
        bytes -= got;
    }
    return true;
}

/* Opens the file, if it is a regular one, and finds its size behind the array's begin (start).
 * It does not block: opening a FIFO would wait for a writer, and a device may have no end. False
 * after recording the failure. */
static bool open_file(source *s)
{
    struct stat facts;

    s->fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &facts) != 0)
        return refuse(s, RD_ERR_FILE, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return refuse(s, RD_ERR_FILE,
                      S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file");
    if (s->start < 0 || s->start > (int64_t)facts.st_size) {
        rd_fail(s->ctx, RD_ERR_FILE, "%s: %s: no byte %lld in it, it has %lld", s->call, s->path,
                (long long)s->start, (long long)facts.st_size);
        return false;
    }
    s->size = (int64_t)facts.st_size - s->start;
    return true;
}

/* Reads the n bytes of the header into `bytes` and parses them; false after recording the
 * failure. */
static bool parse_header(source *s, uint8_t *bytes, int64_t n)
{
    char why[RD_NPY_WHY];

    if (!read_at(s, bytes, n, 0))
        return false;
    const rd_status status = rd_npy_parse(bytes, n, &s->header, why);
    return status == RD_OK || refuse(s, status, why);
}

/* Reads the header: first the few bytes that say how long it is, then all of it, and parses it.
 * False after recording the failure. */
static bool read_header(source *s)
{
    uint8_t       prefix[RD_NPY_PREFIX];
    char          why[RD_NPY_WHY];
    const int64_t n = s->size < RD_NPY_PREFIX ? s->size : RD_NPY_PREFIX;

    if (!read_at(s, prefix, n, 0))
        return false;
    const int64_t offset = rd_npy_offset(prefix, n, why);
    if (offset < 0)
        return refuse(s, RD_ERR_FILE, why);
    const int64_t length = offset < s->size ? offset : s->size;
    uint8_t      *bytes  = rd_alloc(s->ctx, length);
    const bool    ok     = bytes && parse_header(s, bytes, length);
    rd_free(s->ctx, bytes);
    return ok;
}

/* Checks that the file holds all elements that the header promises. */
static bool check_size(const source *s)
{
    char          why[RD_NPY_WHY];
    const int64_t found = s->size - s->header.offset;

    if (found >= s->header.bytes) /* larger is allowed: NumPy appends to files */
        return true;
    snprintf(why, sizeof why, "truncated, %lld bytes of data expected, %lld found",
             (long long)s->header.bytes, (long long)found);
    return refuse(s, RD_ERR_FILE, why);
}

/* Opens the file, reads its header, and checks its size; false after recording the failure.  The
 * file is open (s->fd) even after some failures, so that it must be closed anyway. */
static bool open_source(source *s)
{
    s->fd = -1;
    if (!s->path || !*s->path) {
        rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: no path", s->call);
        return false;
    }
    return open_file(s) && read_header(s) && check_size(s);
}

/* Closes the file if it is open. */
static void close_source(const source *s)
{
    if (s->fd >= 0)
        close(s->fd);
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Converts bytes of the file to elements: swaps bytes, and turns any byte of a bool into 0 or 1,
 * as C requires. */
static void convert(const source *s, void *data, int64_t n)
{
    uint8_t *at = data;

    if (s->header.swap)
        rd_swap_elements(data, n, s->header.type);
    for (int64_t i = 0; s->header.type == RD_BOOL && i < n; i++)
        at[i] = at[i] != 0;
}

/* Reads all elements into memory in the file's order; false after recording the failure. */
static bool read_dense(const source *s, void *data)
{
    if (!read_at(s, data, s->header.bytes, s->header.offset))
        return false;
    convert(s, data, s->header.points);
    return true;
}

/* Reads the elements in chunks and copies them to an array of any layout, which `walk` traverses
 * in the file's order. False after recording the failure. */
static bool read_strided(const source *s, rd_walk *walk)
{
    char          chunk[CHUNK];
    const int     size  = rd_dtype_size(s->header.type);
    const int64_t most  = CHUNK / size;
    const int64_t total = s->header.points;

    for (int64_t done = 0, n; done < total; done += n) {
        n = total - done < most ? total - done : most;
        if (!read_at(s, chunk, n * size, s->header.offset + done * size))
            return false;
        convert(s, chunk, n);
        rd_walk_scatter(walk, chunk, n);
    }
    return true;
}

/* Allocates memory for an array in the file's order, which *out then owns, and reads the
 * elements into it. False after recording the failure. */
static bool read_fresh(const source *s, rd_array *out)
{
    rd_array array = { .type = s->header.type, .order = s->header.order, .shape = s->header.shape };

    array.data = rd_array_memory(s->ctx, s->header.bytes, &array.owner);
    if (!array.data) {
        rd_fail_memory(s->ctx, s->header.bytes, "%s: %s: no memory for its elements", s->call,
                       s->path);
        return false;
    }
    if (!read_dense(s, array.data)) {
        rd_array_free(&array);
        return false;
    }
    *out = array;
    return true;
}

/* True if type and shape of the output are the file's; else records both. */
static bool has_layout(const source *s, const rd_array *out)
{
    const rd_shape *want = &s->header.shape, *have = &out->shape;
    char            file_text[RD_SHAPE_TEXT], out_text[RD_SHAPE_TEXT];
    const bool      type = out->type == s->header.type;
    const bool      shape =
        have->n == want->n && memcmp(have->at, want->at, (size_t)want->n * sizeof *want->at) == 0;

    if (type && shape)
        return true;
    rd_fail(s->ctx, type ? RD_ERR_SHAPE : RD_ERR_TYPE,
            "%s: %s: the file has %s %s, the output %s %s", s->call, s->path,
            rd_dtype_name(s->header.type), rd_shape_text(want->n, want->at, file_text),
            rd_dtype_name(out->type), rd_shape_text(have->n, have->at, out_text));
    return false;
}

/* Reads into the caller's array, which must have the file's type and shape: at once if it is
 * dense in the file's order, else in chunks. False after recording the failure. */
static bool read_into(const source *s, const rd_array *out)
{
    int64_t stride[RD_MAX_RANK];
    rd_walk walk;

    if (!rd_array_layout(s->ctx, out, s->call, stride) ||
        !rd_array_writable(s->ctx, out, s->call) || !has_layout(s, out))
        return false;
    if (s->header.points == 0)
        return true;
    if (!out->data) {
        rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: %s: the output has a shape and no data", s->call,
                s->path);
        return false;
    }
    rd_walk_start(&walk, out->data, rd_dtype_size(out->type), out->shape.n, out->shape.at, stride,
                  s->header.order);
    return rd_walk_is_dense(&walk) ? read_dense(s, out->data) : read_strided(s, &walk);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */
/* Frees a loaded file when its context ends: unmaps it, or frees the memory into which it was
 * read. self is the first member of `loaded`. */
static void drop_loaded(rd_owned *self)
{
    loaded *l = (loaded *)self;

    if (l->file.at) {
        rd_mapped_remove(&l->file);
        munmap(l->file.at, l->file.bytes);
    } else
        rd_array_free(&l->array);
    rd_free(l->ctx, l);
}

/* Maps the file into memory; false if its bytes cannot be used unchanged (they must be swapped,
 * or elements are not aligned) or the file system cannot map: then the caller reads it. A map
 * begins at a page of the file, so `data` is the offset of the first element from there. */
static bool map_file(const source *s, loaded *l)
{
    const rd_npy_header *h    = &s->header;
    const int64_t        page = (int64_t)sysconf(_SC_PAGESIZE), begin = s->start / page * page;
    const int64_t        data = s->start - begin + h->offset, bytes = data + h->bytes;

    if (h->swap || data % rd_dtype_align(h->type) != 0)
        return false;
    void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, s->fd, (off_t)begin);
    if (map == MAP_FAILED)
        return false;
    rd_mapped_add(&l->file, map, (size_t)bytes);
    l->array = (rd_array){
        .in = (char *)map + data, .type = h->type, .order = h->order, .shape = h->shape
    };
    return true;
}

/* Makes an expression of the file's array (a leaf): mapped if possible, unless `read` asks for a
 * copy. The context owns its memory. NULL after recording the failure. */
static rd_expr *load_leaf(const source *s, bool read)
{
    const rd_npy_header *h = &s->header;

    if (h->points == 0) /* no element: no memory is needed */
        return rd_leaf(s->ctx,
                       &(rd_array){ .type = h->type, .order = h->order, .shape = h->shape });
    loaded *l = rd_alloc(s->ctx, sizeof *l);
    if (!l)
        return NULL;
    l->ctx      = s->ctx;
    l->own.drop = drop_loaded;
    if ((read || !map_file(s, l)) && !read_fresh(s, &l->array)) {
        rd_free(s->ctx, l);
        return NULL;
    }
    rd_own(s->ctx, &l->own);
    return rd_leaf(s->ctx, &l->array);
}

/* The public call: makes a leaf of a file and labels it with the path.  Callers of a release
 * without `offset` have a smaller structure (size).  NULL after recording the failure. */
rd_expr *rd_load_npy(rd_ctx *ctx, const rd_load_opts *opts)
{
    source s = { .ctx = ctx, .call = "rd_load", .path = opts ? opts->path : NULL };

    if (!ctx)
        return NULL;
    if (opts && opts->size >= offsetof(rd_load_opts, offset) + sizeof opts->offset)
        s.start = opts->offset;
    rd_expr *leaf = open_source(&s) ? load_leaf(&s, opts->read) : NULL;
    close_source(&s);
    return leaf && rd_leaf_labelled(rd_leaf_below(leaf), /*label=*/NULL, s.path) ? leaf : NULL;
}

/* The public call: makes a leaf of a file.  In brackets, as a macro of that name takes options. */
rd_expr *(rd_load)(rd_ctx *ctx, const char *path)
{
    return rd_load_npy(ctx, &(rd_load_opts){ .size = sizeof(rd_load_opts), .path = path });
}

/* The public call: reads a file into fresh memory if the output is zeroed, else into the caller's
 * array, which must have the file's type and shape.  Returns the context's status. */
rd_status rd_read(rd_ctx *ctx, const char *path, rd_array *out)
{
    source s = { .ctx = ctx, .call = "rd_read", .path = path };

    if (rd_error(ctx) != RD_OK)
        return rd_error(ctx);
    if (!out) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "rd_read: no array to read into");
        return rd_error(ctx);
    }
    if (out->device) {
        rd_fail(ctx, RD_ERR_DEVICE,
                "rd_read: %s: files are read into this process's memory; evaluate rd_load() into "
                "memory of a GPU",
                path ? path : "(NULL)");
        return rd_error(ctx);
    }
    if (open_source(&s))
        (void)(rd_array_is_zeroed(out) ? read_fresh(&s, out) : read_into(&s, out));
    close_source(&s);
    return rd_error(ctx);
}
