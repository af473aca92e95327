/* formats.h - the entries of the table, each in a file of its own. */
#ifndef CMD_FORMATS_H
#define CMD_FORMATS_H
#include "files/contents.h"
#include "result.h"

extern const cmd_format cmd_npy, cmd_npz, cmd_netcdf, cmd_hdf5, cmd_raw, cmd_csv, cmd_zarr_format,
    cmd_grib_format;

/* The one result of a CSV file. */
void cmd_write_csv(const char *path, const char *aside, const cmd_results *results);

/* Datasets of so many bytes begin a page of a file that is written, where the library knows how. */
enum { CMD_LARGE_SET = 1 << 19, CMD_PAGE = 1 << 12 };

/* The place of a dataset's elements in an HDF5 file, if they can be used as they are. */
cmd_place cmd_hdf5_place(const char *path, const char *name, rd_dtype type, const rd_shape *shape);
/* Makes all chunks of each result that is kept in such of whole records, one behind the other, so that its
 * elements are in one piece.  The file is `aside`, which is to be `path`.  False: it cannot be. */
bool cmd_hdf5_make_records(const char *path, const char *aside, const cmd_contents *all);
/* Writes all elements of a result to its dataset, which has none yet and is shuffled, if so, and deflated, by
 * all threads, in the file `aside`, which is to be `path`.  False: it cannot be, and nothing was written. */
bool cmd_hdf5_put_deflated(const char *path, const char *aside, const cmd_result *r,
                           const cmd_layout *layout);
/* Those of all results in a file that has been made for them; false: one of them has none, or begins
 * where its elements cannot. */
bool cmd_hdf5_places(const char *path, const cmd_results *results, int64_t *place);
#endif
