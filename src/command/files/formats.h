/* formats.h - the entries of the table of formats, each in a file of its own. */
#ifndef CMD_FORMATS_H
#define CMD_FORMATS_H
#include "files/contents.h"
#include "result.h"

extern const cmd_format cmd_npy, cmd_npz, cmd_netcdf, cmd_hdf5, cmd_raw, cmd_csv, cmd_zarr_format,
    cmd_grib_format;

/* Writes the one result of a CSV file. */
void cmd_write_csv(const char *path, const char *aside, const cmd_results *results);

/* Larger datasets begin at a page of a written file, if the library can do so. Both are bytes. */
enum { CMD_LARGE_SET = 1 << 19, CMD_PAGE = 1 << 12 };

/* The place of a dataset's elements in an HDF5 file, if they can be used as they are. */
cmd_place cmd_hdf5_place(const char *path, const char *name, rd_dtype type, const rd_shape *shape);
/* Allocates all chunks of results that are chunked by whole records, one behind the other. Then
 * the elements are contiguous. The file is `aside`, which will become `path`. False: it cannot
 * be done. */
bool cmd_hdf5_make_records(const char *path, const char *aside, const cmd_contents *all);
/* Writes all elements of a result to its dataset by all threads: shuffled, if so, and deflated. The
 * dataset is still empty, in the file `aside`, which will become `path`. False: it cannot be done,
 * and nothing was written. */
bool cmd_hdf5_put_deflated(const char *path, const char *aside, const cmd_result *r,
                           const cmd_layout *layout);
/* Finds the offsets of all results in a file that has room for them. False: a result is not
 * contiguous, or begins at an unaligned offset. */
bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place);
#endif
