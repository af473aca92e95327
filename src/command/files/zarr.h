/* zarr.h - arrays of Zarr stores, versions 2 and 3: their metadata and their chunks. */
#ifndef CMD_ZARR_H
#define CMD_ZARR_H
#include "files/codecs.h"
#include "files/json.h"

enum {
    CMD_MOST_CODECS = 8,
    CMD_MOST_CHUNK  = INT32_MAX / 2 /* bytes of a chunk */
};

/* Codecs, in the order in which they decompress. */
typedef struct cmd_codecs {
    int        n;
    cmd_packed at[CMD_MOST_CODECS];
} cmd_codecs;

/* The metadata of one array. */
typedef struct cmd_zarr {
    const char     *folder;              /* path of the array's folder */
    const char     *group;               /* path of its group, as "a/b/" */
    int64_t         extent[RD_MAX_RANK]; /* of chunks */
    int             order[RD_MAX_RANK];  /* axes of a chunk in memory order, the fastest last */
    bool            swapped;
    char            separator;
    bool            prefixed; /* names of chunk files begin with "c", as in version 3 */
    cmd_codecs      codecs;
    uint8_t         fill[16];           /* the element of missing chunks */
    int64_t         shard[RD_MAX_RANK]; /* chunks along each axis of a shard */
    bool            sharded, index_first, index_crc;
    const cmd_json *attributes;
} cmd_zarr;

/* Reads the metadata of an array of version 2 into the variable and the result. `attributes` may be
 * NULL. Sets v->why if the array cannot be read. */
cmd_zarr *cmd_zarr_read_2(cmd_variable *v, const cmd_json *array, const cmd_json *attributes);
/* Likewise for version 3, where the attributes are in the same text. */
cmd_zarr *cmd_zarr_read_3(cmd_variable *v, const cmd_json *array);
/* Reads a list of extents; false: it is none. */
bool cmd_zarr_extents(const cmd_json *list, rd_shape *shape);
/* Reads the shape of chunks or shards, of at most `most` bytes; false: v->why is set. */
bool cmd_zarr_read_chunk(cmd_variable *v, cmd_zarr *z, const cmd_json *list, int64_t most);
/* True if the text is `one` or `other`; a missing text counts as `one`. False: v->why is set. */
bool cmd_zarr_is_either(cmd_variable *v, const char *what, const cmd_json *text, const char *one,
                        const char *other);
/* True if the value has this name. Version 3 writes codecs and grids as a name with a
 * configuration. */
bool cmd_zarr_is_named(const cmd_json *named, const char *name);
/* The member `name` of the value's configuration. */
const cmd_json *cmd_zarr_setting(const cmd_json *of, const char *name);
/* Reads the codecs of version 2; sets v->why if one is unknown. */
void cmd_zarr_codecs_2(cmd_variable *v, cmd_zarr *z, const cmd_json *array);
/* Likewise for version 3. */
void cmd_zarr_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list);
/* Reads the fill value, the element of missing chunks; sets v->why if the type cannot hold it. */
void cmd_zarr_fill(cmd_variable *v, cmd_zarr *z, const cmd_json *fill);
/* Fills in the variable's units, names and packing from the attributes. */
void cmd_zarr_describe(cmd_variable *v, const cmd_zarr *z, const cmd_json *fill);
/* Reads all chunks that overlap the part, to their places behind `to`. */
void cmd_zarr_read(const cmd_zarr *z, const cmd_variable *v, const rd_part *part, void *to);
#endif
