/* netcdf_layout.c - chunks of variables that are written.
 *
 * One piece is best for who reads all of it, and can be computed in place.  So there are chunks where there
 * must be: in compressed variables, whose source says of which extents and how, and where a dimension
 * may grow.  There a chunk has whole records, and is large enough not to be looked for all the time. */
#if RDIM_NETCDF
#include "files/netcdf_writer.h"

enum { LEAST_BYTES = 1 << 16, MOST_BYTES = 1 << 28, RECORD_BYTES = 1 << 20 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t bytes_of(const cmd_layout *layout, int rank, int64_t size)
{
    double bytes = (double)size;

    for (int k = 0; k < rank; k++)
        bytes *= (double)layout->extent[k];
    return bytes < 1e18 ? (int64_t)bytes : INT64_MAX;
}

/* HDF5 takes no chunks of 4 GB. */
static void shrink(cmd_layout *layout, int rank, int64_t size)
{
    for (int k = 0; k < rank && bytes_of(layout, rank, size) > MOST_BYTES; k++) {
        const int64_t times = bytes_of(layout, rank, size) / MOST_BYTES + 1;
        layout->extent[k]   = most(1, layout->extent[k] / times);
    }
}

/* Whole records, as many as the source has in a chunk, if it has whole ones. */
static void set_records(cmd_layout *layout, const cmd_layout *source, int rank,
                        const int64_t *extent, int64_t size)
{
    bool    whole = source->extent[0] > 0;
    int64_t bytes = size;

    for (int k = 1; k < rank; k++) {
        layout->extent[k] = most(1, extent[k]);
        bytes             = bytes < MOST_BYTES ? bytes * layout->extent[k] : bytes;
        whole &= source->extent[k] >= extent[k];
    }
    const int64_t records = whole ? source->extent[0] : RECORD_BYTES / bytes;
    layout->extent[0] = most(1, least(extent[0], most(records, (LEAST_BYTES + bytes - 1) / bytes)));
}

cmd_layout cmd_netcdf_layout(const cmd_netcdf_writer *w, const cmd_layout *source, int rank,
                             const int *dimensions, int64_t size)
{
    cmd_layout layout = { .shuffled = source->shuffled, .level = source->level };
    int64_t    extent[RD_MAX_RANK];
    bool       grows = false;

    for (int k = 0; k < rank; k++)
        for (int i = 0; i < w->n; i++)
            if (w->at[i].id == dimensions[k]) {
                extent[k] = w->at[i].n;
                grows |= w->at[i].grows;
            }
    if (rank == 0 || (!grows && source->level == 0))
        return (cmd_layout){ 0 };
    if (source->level == 0)
        set_records(&layout, source, rank, extent, size);
    else
        for (int k = 0; k < rank; k++)
            layout.extent[k] = most(1, least(extent[k], source->extent[k]));
    shrink(&layout, rank, size);
    return layout;
}

void cmd_netcdf_set_layout(const cmd_netcdf_writer *w, const char *name, int variable, int rank,
                           const cmd_layout *layout)
{
    size_t extent[RD_MAX_RANK];

    if (rank == 0 || layout->extent[0] == 0)
        return;
    for (int k = 0; k < rank; k++)
        extent[k] = (size_t)layout->extent[k];
    cmd_netcdf_check(w->path, name, w->nc->def_var_chunking(w->id, variable, NC_CHUNKED, extent));
    if (layout->level > 0)
        cmd_netcdf_check(
            w->path, name,
            w->nc->def_var_deflate(w->id, variable, layout->shuffled, 1, layout->level));
}
#else
typedef int cmd_no_netcdf_layout;
#endif
