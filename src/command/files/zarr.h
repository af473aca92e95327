/* zarr.h - arrays of Zarr stores, versions 2 and 3: what their metadata say, and their chunks. */
#ifndef CMD_ZARR_H
#define CMD_ZARR_H
#include "files/codecs.h"
#include "files/json.h"

enum { CMD_MOST_CODECS = 8 };

/* Codecs in the order in which they unpack. */
typedef struct cmd_codecs {
    int        n;
    cmd_packed at[CMD_MOST_CODECS];
} cmd_codecs;

typedef struct cmd_zarr {
    const char *folder;              /* of the array */
    const char *group;               /* of its names, as "a/b/" */
    int64_t     extent[RD_MAX_RANK]; /* of chunks */
    int         order[RD_MAX_RANK];  /* axes of a chunk as they lie, the fastest one last */
    bool        swapped;
    char        separator;
    bool        prefixed; /* keys begin with c, as version 3 has them */
    cmd_codecs  codecs;
    uint8_t     fill[16]; /* an element of chunks that are not there */
    /* Of shards, which hold chunks: how many along each axis; 0: there are none. */
    int64_t         shard[RD_MAX_RANK];
    bool            index_first, index_crc;
    const cmd_json *attributes;
} cmd_zarr;

/* Describes the array in a folder, as v->name, from the text of its metadata; v->why is set where it
 * cannot be read.  `named` is there for version 2: another text of attributes, or NULL. */
cmd_zarr *cmd_zarr_read_2(cmd_variable *v, const cmd_json *array, const cmd_json *attributes);
cmd_zarr *cmd_zarr_read_3(cmd_variable *v, const cmd_json *array);
/* What attributes say of it: units, packing and the like. */
void cmd_zarr_describe(cmd_variable *v, const cmd_zarr *z, const cmd_json *fill);
/* The elements of chunks that meet a part. */
void cmd_zarr_read(const cmd_zarr *z, const cmd_variable *v, const rd_part *part, void *to);
#endif
