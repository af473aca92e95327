/* storage.c - reads, writes and maps bytes of files, and allocates room for decoded elements in
 * memory or in files without names. */
#include "files/file.h"
#include "core/machine_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are read or written at once. */
enum { PIECE = 1 << 22 };

/* Bytes above which decoded elements go to a file; 0: half of what the process may have. */
static int64_t most_memory;

/* Opens a regular file or a stream. Devices are refused, as reading one might never end. */
int cmd_open_to_read(const char *path, int64_t *size)
{
    struct stat facts;

    if (cmd_is_stream(path))
        return cmd_open_stream(path, size);
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 || fstat(fd, &facts) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        cmd_fail("%s: %s", path, S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file");
    *size = (int64_t)facts.st_size;
    return fd;
}

/* Reads bytes at an offset; ends the program if it cannot. Pieces of 4 MB let Ctrl-C be seen
 * between them. */
void cmd_read_at(int fd, const char *path, void *to, int64_t bytes, int64_t offset)
{
    for (char *at = to; bytes > 0;) {
        const size_t  piece = bytes < PIECE ? (size_t)bytes : PIECE;
        const ssize_t got   = pread(fd, at, piece, (off_t)offset);

        cmd_may_go_on();
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            cmd_fail("%s: %s", path, strerror(errno));
        if (got == 0)
            cmd_fail("%s: truncated: %lld bytes are missing at its end", path, (long long)bytes);
        at += got;
        offset += got;
        bytes -= got;
    }
}

/* Writes bytes at an offset; ends the program if it cannot. Pieces of 4 MB let Ctrl-C be seen
 * between them. */
void cmd_write_at(int fd, const char *path, const void *from, int64_t bytes, int64_t offset)
{
    for (const char *at = from; bytes > 0;) {
        const size_t  piece = bytes < PIECE ? (size_t)bytes : PIECE;
        const ssize_t put   = pwrite(fd, at, piece, (off_t)offset);

        cmd_may_go_on();
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            cmd_fail("%s: cannot write: %s", path, strerror(put < 0 ? errno : EIO));
        at += put;
        offset += put;
        bytes -= put;
    }
}

/* Closes a written file; ends the program if the file system reports lost data. */
void cmd_close_written(int fd, const char *path)
{
    if (close(fd) != 0 && errno != EINTR)
        cmd_fail("%s: cannot write: %s", path, strerror(errno));
}

/* Maps bytes of a file for reading; NULL: the file system cannot. The mapping begins at the page
 * that has the first byte. */
const void *cmd_map(int fd, int64_t offset, int64_t bytes)
{
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), begin = offset / page * page;
    void         *map =
        mmap(NULL, (size_t)(bytes + offset - begin), PROT_READ, MAP_PRIVATE, fd, (off_t)begin);

    return map == MAP_FAILED ? NULL : (const char *)map + (offset - begin);
}

/* Unmaps what cmd_map() returned, from the start of its page on. */
void cmd_unmap(const void *at, int64_t bytes)
{
    const int64_t page   = (int64_t)sysconf(_SC_PAGESIZE),
                  before = (int64_t)((uintptr_t)at % (size_t)page);

    munmap((char *)at - before, (size_t)(bytes + before));
}

/* Sets the bytes above which decoded elements go to a file; 0: half of the memory of the
 * process. */
void cmd_set_memory(int64_t bytes)
{
    most_memory = bytes;
}

/* True if so many bytes may be memory, and need no file: up to the user's limit, or half of the
 * memory that the process may have. */
static bool fits_memory(int64_t bytes)
{
    return bytes <= (most_memory > 0 ? most_memory : rd_machine_memory() / 2);
}

/* True if the file cache is taken to hold so many bytes that are to be written: an eighth of
 * memory. Beyond, Linux makes writers wait. */
bool cmd_fits_cache(int64_t bytes)
{
    return bytes <= rd_machine_memory() / 8;
}

/* Creates a file without a name, which vanishes with the program, however that ends. It lies in
 * TMPDIR or /var/tmp. Where the file system has no such files, a named one is removed at once. All
 * its bytes are allocated. */
static int file_without_name(int64_t bytes, const char *what)
{
    const char *set = getenv("TMPDIR"), *directory = set && *set ? set : "/var/tmp";
    int         fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0) {
        char *name = cmd_text("%s/rdim-XXXXXX", directory);
        fd         = mkstemp(name);
        if (fd >= 0)
            unlink(name);
    }
    if (fd < 0)
        cmd_fail("%s: %lld bytes are more than memory should hold, and there can be no file for "
                 "them in %s (TMPDIR says where): %s",
                 what, (long long)bytes, directory, strerror(errno));
    const int failed = posix_fallocate(fd, 0, (off_t)bytes);
    if (failed)
        cmd_fail("%s: no room for %lld bytes in %s (TMPDIR says where): %s", what, (long long)bytes,
                 directory, strerror(failed));
    return fd;
}

/* Makes a file of `bytes` bytes without a name, in memory if the `written` ones fit there, else on
 * disk. */
int cmd_storage_file_for(int64_t bytes, int64_t written, const char *what)
{
    const int fd = fits_memory(written) ? memfd_create("rdim", MFD_CLOEXEC) : -1;

    if (fd < 0)
        return file_without_name(bytes, what);
    if (ftruncate(fd, (off_t)bytes) != 0)
        cmd_fail("%s: no memory for %lld bytes: %s", what, (long long)bytes, strerror(errno));
    return fd;
}

/* Makes a file without a name, all of which will be written. */
int cmd_storage_file(int64_t bytes, const char *what)
{
    return cmd_storage_file_for(bytes, bytes, what);
}

/* Allocates zeroed room: anonymous memory, or, if the bytes exceed the limit, a mapped file without
 * a name. */
void *cmd_storage(int64_t bytes, const char *what)
{
    const bool fits = fits_memory(bytes);
    const int  fd   = fits ? -1 : file_without_name(bytes, what);
    void      *at   = mmap(NULL, bytes > 0 ? (size_t)bytes : 1, PROT_READ | PROT_WRITE,
                    fits ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        cmd_fail("%s: no memory for %lld bytes: %s", what, (long long)bytes, strerror(errno));
    if (fd >= 0)
        close(fd);
#ifdef MADV_HUGEPAGE
    if (fits)
        madvise(at, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return at;
}

/* Reserves addresses without memory, at which cmd_fill_reserve() maps memory or a file later. */
void *cmd_reserve(int64_t bytes, const char *what)
{
    void *at = mmap(NULL, bytes > 0 ? (size_t)bytes : 1, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        cmd_fail("%s: no addresses for %lld bytes: %s", what, (long long)bytes, strerror(errno));
    return at;
}

/* Maps memory or a file at the reserved addresses. The limit counts `written` bytes alone. Huge
 * pages are used only if all bytes are written, as they would touch more than is needed. */
void cmd_fill_reserve(void *at, int64_t bytes, int64_t written, const char *what)
{
    const bool fits = fits_memory(written), whole = written == bytes;
    const int  fd   = fits ? -1 : file_without_name(bytes, what);
    const int flags = fits ? MAP_PRIVATE | MAP_ANONYMOUS | (whole ? 0 : MAP_NORESERVE) : MAP_SHARED;

    if (mmap(at, (size_t)bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
        cmd_fail("%s: no memory for %lld bytes: %s", what, (long long)written, strerror(errno));
    if (fd >= 0)
        close(fd);
#ifdef MADV_HUGEPAGE
    if (fits && whole)
        madvise(at, (size_t)bytes, MADV_HUGEPAGE);
#endif
}

/* Makes a leaf (input array) of elements in memory, with the variable's type, shape and order, and
 * labels it with the variable's name. */
rd_expr *cmd_leaf(rd_ctx *ctx, const cmd_variable *v, const void *data)
{
    rd_expr *leaf = rd_leaf(
        ctx, &(rd_array){ .in = data, .type = v->type, .order = v->order, .shape = v->shape });

    if (!leaf || (v->name && *v->name && !rd_label(leaf, v->name)))
        cmd_fail_of(ctx);
    return leaf;
}

/* The bytes to which elements must be aligned: their size, or half of it for the two floats of a
 * complex number. */
static int64_t alignment_of(rd_dtype type)
{
    const int64_t size = cmd_size_of(type);

    return type == RD_C64 || type == RD_C128 ? size / 2 : size;
}

/* Checks that the file is long enough, and maps the elements. Bools, elements of the other byte
 * order and unaligned ones are read by all threads. */
rd_expr *cmd_read_dense(rd_ctx *ctx, const char *path, const cmd_variable *v)
{
    const int64_t points = cmd_points(&v->shape, v->type, path);
    const int64_t bytes = points * cmd_size_of(v->type), align = alignment_of(v->type);
    int64_t       size;
    const void   *data = NULL;

    if (points == 0)
        return cmd_leaf(ctx, v, NULL);
    const int fd = cmd_open_to_read(path, &size);
    if (v->offset < 0 || v->offset > size || bytes > size - v->offset)
        cmd_fail("%s: truncated: %s of %s %s needs %lld bytes from byte %lld on, and the file has "
                 "%lld",
                 path, v->name, cmd_type_name(v->type), cmd_shape_text(&v->shape), (long long)bytes,
                 (long long)v->offset, (long long)size);
    if (!v->swapped && v->type != RD_BOOL && v->offset % align == 0)
        data = cmd_map(fd, v->offset, bytes);
    if (!data) {
        char *own = cmd_storage(bytes, path);

        cmd_read_pieces(fd, path, own, bytes, v->offset, v->swapped ? align : 0);
        for (int64_t i = 0; v->type == RD_BOOL && i < points; i++)
            own[i] = own[i] != 0; /* bools in a file may have any nonzero byte */
        data = own;
    }
    close(fd);
    return cmd_leaf(ctx, v, data);
}
