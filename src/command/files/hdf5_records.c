/* hdf5_records.c - allocates the chunks of unlimited variables one behind the other. Their elements
 * are then contiguous, and can be mapped and computed in place.
 *
 * A record is one row along the unlimited first axis. A chunk has whole records. */
#include "files/contents.h"
#include "files/formats.h"
#include "result.h"
#if RDIM_HDF5
#include "files/hdf5_api.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The alignment of adjacent chunks: the largest power of 2 that divides their size, at most a
 * page. */
static int64_t alignment_of(int64_t bytes)
{
    const int64_t most = bytes & -bytes;

    return most < CMD_PAGE ? most : CMD_PAGE;
}

/* Opens the file so that the library puts the index of chunks into a block of its own, and not
 * between the chunks. The block has 16 KB, and 256 bytes for each chunk. Objects of a chunk's size
 * or more are aligned, and smaller ones are not. */
static hid_t open_for_records(const cmd_hdf5_api *h5, const char *path, int64_t chunks,
                              int64_t bytes)
{
    enum { LEAST = 1 << 14, EACH = 256 };
    const hid_t access = h5->H5Pcreate(h5->file_access);

    if (access < 0)
        return -1;
    h5->H5Pset_meta_block_size(access, LEAST + EACH * (hsize_t)chunks);
    h5->H5Pset_alignment(access, (hsize_t)bytes, (hsize_t)alignment_of(bytes));
    const hid_t file = h5->H5Fopen(path, CMD_HDF5_CHANGE, access);
    h5->H5Pclose(access);
    return file;
}

/* Writes each chunk as zeros, one behind the other, which allocates the file's bytes for the
 * elements. */
static bool make_chunks(const cmd_hdf5_api *h5, hid_t set, const rd_shape *shape, int64_t records,
                        int64_t bytes)
{
    hsize_t     extent[H5S_MAX_RANK], at[H5S_MAX_RANK] = { 0 };
    const void *zeros = cmd_room((size_t)bytes);

    for (int a = 0; a < shape->n; a++)
        extent[a] = (hsize_t)shape->at[a];
    bool good = h5->H5Dset_extent(set, extent) >= 0;
    for (int64_t k = 0; good && k < shape->at[0]; k += records) {
        at[0] = (hsize_t)k;
        good  = h5->write_chunk(set, H5P_DEFAULT, 0, at, (size_t)bytes, zeros) >= 0;
        cmd_may_go_on();
    }
    return good;
}

/* Ends the program if the file system has no room for so many bytes more: before anything is
 * computed, not after hours. The room is allocated for a moment, and freed again. */
static void check_room(const char *path, const char *aside, int64_t bytes)
{
    struct stat facts;
    const int   fd = open(aside, O_RDWR | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &facts) != 0)
        cmd_fail("%s: %s", path, strerror(errno));
    const int failed = posix_fallocate(fd, facts.st_size, (off_t)bytes);
    if (ftruncate(fd, facts.st_size) != 0 || failed)
        cmd_fail("%s: no room for %lld bytes: %s", path, (long long)bytes,
                 strerror(failed ? failed : errno));
    close(fd);
}

/* Allocates the chunks of one result. False: the library has no function to write a chunk, or no
 * class of file-access properties (file_access), or it fails. */
static bool make_records(const char *path, const char *aside, const cmd_content *c)
{
    const cmd_hdf5_api *h5      = cmd_hdf5_load();
    const rd_shape     *shape   = &c->shape;
    const int64_t       records = c->layout.extent[0];
    int64_t             bytes   = cmd_size_of(c->type) * records;

    if (!h5 || !h5->write_chunk || !h5->file_access)
        return false;
    for (int a = 1; a < shape->n; a++)
        bytes *= shape->at[a];
    const int64_t chunks = (shape->at[0] + records - 1) / records;
    check_room(path, aside, chunks * bytes);
    const hid_t file = open_for_records(h5, aside, chunks, bytes);
    const hid_t set  = file >= 0 ? h5->H5Dopen2(file, c->name, H5P_DEFAULT) : -1;
    bool        good = set >= 0 && make_chunks(h5, set, shape, records, bytes);
    if (set >= 0)
        good &= h5->H5Dclose(set) >= 0;
    if (file >= 0)
        good &= h5->H5Fclose(file) >= 0;
    return good;
}
#else
/* Without HDF5 no chunks can be allocated. */
static bool make_records(const char *path, const char *aside, const cmd_content *c)
{
    (void)path;
    (void)aside;
    (void)c;
    return false;
}
#endif

/* Allocates the chunks of all results that have chunks. False: one could not be allocated. */
bool cmd_hdf5_make_records(const char *path, const char *aside, const cmd_contents *all)
{
    bool good = true;

    for (int k = 0; k < all->n && good; k++)
        if (all->at[k].result && all->at[k].layout.extent[0] > 0)
            good = make_records(path, aside, &all->at[k]);
    return good;
}
