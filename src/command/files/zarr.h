/* zarr.h - arrays of Zarr stores, versions 2 and 3: what their metadata say, and their chunks. */
#ifndef CMD_ZARR_H
#define CMD_ZARR_H
#include "files/codecs.h"
#include "files/json.h"

enum {
    CMD_MOST_CODECS = 8,
    CMD_MOST_CHUNK  = INT32_MAX / 2
}; /* the latter: bytes that are read at once */

/* Codecs in the order in which they unpack. */
typedef struct cmd_codecs {
    int        n;
    cmd_packed at[CMD_MOST_CODECS];
} cmd_codecs;

typedef struct cmd_zarr {
    const char     *folder;              /* of the array */
    const char     *group;               /* of its names, as "a/b/" */
    int64_t         extent[RD_MAX_RANK]; /* of chunks */
    int             order[RD_MAX_RANK];  /* axes of a chunk as they lie, the fastest one last */
    bool            swapped;
    char            separator;
    bool            prefixed; /* keys begin with c, as version 3 has them */
    cmd_codecs      codecs;
    uint8_t         fill[16];           /* an element of chunks that are not there */
    int64_t         shard[RD_MAX_RANK]; /* chunks along each axis of one that holds some */
    bool            sharded, index_first, index_crc;
    const cmd_json *attributes;
} cmd_zarr;

/* Describes the array in a folder, as v->name, from the text of its metadata; v->why is set where it
 * cannot be read.  `named` is there for version 2: another text of attributes, or NULL. */
cmd_zarr *cmd_zarr_read_2(cmd_variable *v, const cmd_json *array, const cmd_json *attributes);
cmd_zarr *cmd_zarr_read_3(cmd_variable *v, const cmd_json *array);
/* Extents; false: they are none. */
bool cmd_zarr_extents(const cmd_json *list, rd_shape *shape);
/* Those of chunks, or of chunks in shards; false: v->why says why not. */
bool cmd_zarr_read_chunk(cmd_variable *v, cmd_zarr *z, const cmd_json *list, int64_t most);
/* Is a text one of two?  One that is not there is the first of them.  False: v->why says so. */
bool cmd_zarr_is_either(cmd_variable *v, const char *what, const cmd_json *text, const char *one,
                        const char *other);
/* Version 3 writes things as a name with a configuration: is it this name; its configuration. */
bool            cmd_zarr_is_named(const cmd_json *named, const char *name);
const cmd_json *cmd_zarr_setting(const cmd_json *of, const char *name);
/* Codecs; v->why is set where one is not known. */
void cmd_zarr_codecs_2(cmd_variable *v, cmd_zarr *z, const cmd_json *array);
void cmd_zarr_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list);
/* The element of chunks that are not there; v->why is set where it is none of the type. */
void cmd_zarr_fill(cmd_variable *v, cmd_zarr *z, const cmd_json *fill);
/* Fills in what the attributes say about the variable: units, packing and the like. */
void cmd_zarr_describe(cmd_variable *v, const cmd_zarr *z, const cmd_json *fill);
/* The elements of chunks that meet a part. */
void cmd_zarr_read(const cmd_zarr *z, const cmd_variable *v, const rd_part *part, void *to);
#endif
