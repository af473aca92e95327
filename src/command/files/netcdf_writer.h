/* netcdf_writer.h - what the parts of the writer of NetCDF files share. */
#ifndef CMD_NETCDF_WRITER_H
#define CMD_NETCDF_WRITER_H
#include "beside.h"
#include "files/netcdf_api.h"

typedef struct cmd_netcdf_dimension {
    const cmd_axis   *axis; /* of a result; NULL: of what is beside one */
    const cmd_beside *coordinate;
    const char       *name;
    int64_t           n;
    int               id, variable; /* -1: no coordinates */
    bool              grows;
} cmd_netcdf_dimension;

typedef struct cmd_netcdf_writer {
    const cmd_netcdf_api *nc;
    const char           *path;
    const cmd_results    *results;
    int                   id, n, room;
    cmd_netcdf_dimension *at;
    int                   n_beside;
    const cmd_beside    **beside; /* what is defined, and the variables */
    int                  *variable;
} cmd_netcdf_writer;

/* A dimension of a new name, which begins with `base`; the variables of results have the other names. */
cmd_netcdf_dimension *cmd_netcdf_add_dimension(cmd_netcdf_writer *w, const char *base, int64_t n,
                                               bool grows);

/* ---- netcdf_beside.c ------------------------------------------------------------------------- */
void cmd_netcdf_put_text(const cmd_netcdf_writer *w, int variable, const char *name,
                         const char *text);
/* One that the library does not take is left out with a warning. */
void cmd_netcdf_put_attributes(const cmd_netcdf_writer *w, int variable, const cmd_attributes *all);
/* The variable of the coordinates of a dimension. */
void cmd_netcdf_define_coordinates(cmd_netcdf_writer *w, cmd_netcdf_dimension *d);
/* Variables beside a result whose axes have those dimensions. */
void cmd_netcdf_define_beside(cmd_netcdf_writer *w, const cmd_result *r, const int *dimensions);
/* Elements of all these. */
void cmd_netcdf_put_beside(const cmd_netcdf_writer *w);

/* ---- netcdf_layout.c ------------------------------------------------------------------------- */
/* How a variable with those dimensions is kept: in one piece, where it can be, else in chunks, whose first
 * extent is not 0 then. */
cmd_layout cmd_netcdf_layout(const cmd_netcdf_writer *w, const cmd_layout *source, int rank,
                             const int *dimensions, int64_t size);
void cmd_netcdf_set_layout(const cmd_netcdf_writer *w, const char *name, int variable, int rank,
                           const cmd_layout *layout);
#endif
