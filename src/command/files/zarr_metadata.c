/* zarr_metadata.c - reads the metadata of a Zarr array: type, shape, chunks and codecs. */
#if RDIM_JSON
#include "files/zarr.h"
#include <string.h>

/* The most bytes of a shard. Shards are read chunk by chunk, so they may be large. */
static const int64_t most_shard = INT64_C(1) << 50;

/* ---- Values ---------------------------------------------------------------------------------- */
/* Returns the member of a value's "configuration"; NULL: there is none. */
const cmd_json *cmd_zarr_setting(const cmd_json *of, const char *name)
{
    return cmd_json_member(cmd_json_member(of, "configuration"), name);
}

/* True if a codec or grid has this name. One without settings may be its name alone, a text. */
bool cmd_zarr_is_named(const cmd_json *codec, const char *name)
{
    const char *text = cmd_json_text(cmd_json_member(codec, "name"));

    text = text ? text : cmd_json_text(codec);
    return text && strcmp(text, name) == 0;
}

/* ---- Types ----------------------------------------------------------------------------------- */
/* Finds the element type of a name of version 3; RD_AUTO: it is unknown here. */
static rd_dtype type_named(const char *name)
{
    static const struct {
        const char *name;
        rd_dtype    type;
    } types[] = { { "bool", RD_BOOL },     { "int8", RD_I8 },        { "int16", RD_I16 },
                  { "int32", RD_I32 },     { "int64", RD_I64 },      { "uint8", RD_U8 },
                  { "uint16", RD_U16 },    { "uint32", RD_U32 },     { "uint64", RD_U64 },
                  { "float16", RD_F16 },   { "float32", RD_F32 },    { "float64", RD_F64 },
                  { "complex64", RD_C64 }, { "complex128", RD_C128 } };

    for (size_t k = 0; name && k < sizeof types / sizeof *types; k++)
        if (strcmp(types[k].name, name) == 0)
            return types[k].type;
    return RD_AUTO;
}

/* Sets the reason why the variable cannot be read: its type. */
static void set_unknown_type(cmd_variable *v, const cmd_json *type)
{
    v->why = cmd_text("its elements are of type %s", cmd_json_print(type));
}

/* ---- Shapes ---------------------------------------------------------------------------------- */
/* Reads a list of extents, each at least 0. False: it is no such list, or has more than RD_MAX_RANK
 * of them. */
bool cmd_zarr_extents(const cmd_json *list, rd_shape *shape)
{
    const int64_t n = cmd_json_count(list);

    *shape = (rd_shape){ .n = (int32_t)(n < 0 || n > RD_MAX_RANK ? 0 : n) };
    for (int k = 0; k < shape->n; k++)
        if (!cmd_json_whole(cmd_json_at(list, k), &shape->at[k]) || shape->at[k] < 0)
            return false;
    return n >= 0 && n <= RD_MAX_RANK;
}

/* Reads the shape of chunks, or of chunks in shards. False: it does not fit the array or has more
 * than `most` bytes, and v->why is set. Along an axis of extent 0 a chunk may have extent 0, too,
 * which becomes 1. */
bool cmd_zarr_read_chunk(cmd_variable *v, cmd_zarr *z, const cmd_json *list, int64_t most)
{
    rd_shape chunk;
    int64_t  bytes = v->type == RD_AUTO ? 1 : cmd_size_of(v->type);

    if (!cmd_zarr_extents(list, &chunk) || chunk.n != v->shape.n)
        v->why = cmd_text("its chunks have shape %s", cmd_json_print(list));
    for (int a = 0; !v->why && a < chunk.n; a++) {
        const int64_t n = chunk.at[a] || v->shape.at[a] ? chunk.at[a] : 1;

        if (n < 1)
            v->why = cmd_text("its chunks have shape %s, without an element", cmd_json_print(list));
        else if (n > most / bytes)
            v->why =
                cmd_text("its chunks have shape %s, and more than %lld bytes are not read at once",
                         cmd_json_print(list), (long long)most);
        else
            bytes *= z->extent[a] = n;
    }
    return !v->why;
}

/* Names the axes, if the list has as many names. An empty name, or null, means none. */
static void name_axes(cmd_variable *v, const cmd_json *names)
{
    if (cmd_json_count(names) != v->shape.n)
        return;
    for (int a = 0; a < v->shape.n; a++) {
        const char *const name = cmd_json_text(cmd_json_at(names, a));

        v->axis[a].name = name && *name ? name : NULL;
    }
}

/* True if the metadata are of this version: another one may give the same names another meaning.
 * False: v->why is set. */
static bool is_version(cmd_variable *v, const cmd_json *array, int64_t version)
{
    const cmd_json *const said = cmd_json_member(array, "zarr_format");
    int64_t               found;

    if (cmd_json_whole(said, &found) && found == version)
        return true;
    v->why = cmd_text("its zarr_format is %s", cmd_json_print(said));
    return false;
}

/* True if the text is `one` or `other`. A missing text counts as `one`. False: v->why names the
 * entry `what`. */
bool cmd_zarr_is_either(cmd_variable *v, const char *what, const cmd_json *text, const char *one,
                        const char *other)
{
    const char *const is = text ? cmd_json_text(text) : one;

    if (is && (strcmp(is, one) == 0 || strcmp(is, other) == 0))
        return true;
    v->why = cmd_text("its %s is %s", what, cmd_json_print(text));
    return false;
}

/* Reads the shape, which is known even if the type is not. False: it is no shape, and v->why is
 * set. */
static bool set_shape(cmd_variable *v, const cmd_json *array, rd_dtype type)
{
    rd_shape shape;

    if (!cmd_zarr_extents(cmd_json_member(array, "shape"), &shape)) {
        v->why = cmd_text("its shape is %s", cmd_json_print(cmd_json_member(array, "shape")));
        return false;
    }
    cmd_set_shape(v, type, &shape);
    return true;
}

/* ---- Version 2 ------------------------------------------------------------------------------- */
/* Reads the metadata of an array of version 2: .zarray, and .zattrs (attributes) if there are any.
 * In order F the first axis of a chunk is the fastest. If anything is unknown, v->why is set, and
 * the rest is not read. */
cmd_zarr *cmd_zarr_read_2(cmd_variable *v, const cmd_json *array, const cmd_json *attributes)
{
    cmd_zarr                *z     = cmd_room(sizeof *z);
    const char *const        dtype = cmd_json_text(cmd_json_member(array, "dtype")),
                      *const order = cmd_json_text(cmd_json_member(array, "order")),
                      *const separator =
                          cmd_json_text(cmd_json_member(array, "dimension_separator"));
    bool                  big  = false;
    const rd_dtype        type = dtype ? cmd_type_of(dtype, strlen(dtype), &big) : RD_AUTO;
    const cmd_json *const fill = cmd_json_member(array, "fill_value");

    z->attributes = attributes;
    z->separator  = separator && strcmp(separator, "/") == 0 ? '/' : '.';
    z->swapped    = big && cmd_size_of(type) > 1;
    if (!set_shape(v, array, type))
        return z;
    name_axes(v, cmd_json_member(attributes, "_ARRAY_DIMENSIONS"));
    if (type == RD_AUTO)
        set_unknown_type(v, cmd_json_member(array, "dtype"));
    else if (is_version(v, array, 2) &&
             cmd_zarr_is_either(v, "order", cmd_json_member(array, "order"), "C", "F"))
        cmd_zarr_is_either(v, "dimension_separator", cmd_json_member(array, "dimension_separator"),
                           ".", "/");
    if (v->why || !cmd_zarr_read_chunk(v, z, cmd_json_member(array, "chunks"), CMD_MOST_CHUNK))
        return z;
    for (int a = 0; a < v->shape.n; a++)
        z->order[a] = order && *order == 'F' ? v->shape.n - 1 - a : a;
    cmd_zarr_codecs_2(v, z, array);
    if (!v->why)
        cmd_zarr_fill(v, z, fill);
    /* If axes are named, xarray wrote the array, and its fill value means missing values. Else the
     * fill value is an ordinary number. */
    if (!v->why)
        cmd_zarr_describe(v, z, v->shape.n && v->axis[0].name ? fill : NULL);
    return z;
}

/* ---- Version 3 ------------------------------------------------------------------------------- */
/* Reads how the files of chunks are named: "c/0/3" by the encoding "default", or "0.3" by "v2",
 * with another separator if one is given. */
static void read_keys(cmd_variable *v, cmd_zarr *z, const cmd_json *array)
{
    const cmd_json *const keys = cmd_json_member(array, "chunk_key_encoding"), *const said =
                                                                                   cmd_zarr_setting(
                                                                                       keys,
                                                                                       "separator");
    const char *const separator = cmd_json_text(said);

    z->prefixed  = !cmd_zarr_is_named(keys, "v2");
    z->separator = separator ? *separator : z->prefixed ? '/' : '.';
    if (z->prefixed && !cmd_zarr_is_named(keys, "default"))
        v->why = cmd_text("its chunks are named by %s", cmd_json_print(keys));
    else
        cmd_zarr_is_either(v, "separator", said, "/", ".");
}

/* True if this entry of the metadata is known, or may be ignored. An unknown extension may change
 * the meaning of the rest, unless its must_understand is false. */
static bool can_understand(const char *name, const cmd_json *value)
{
    static const char known[] =
        " zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value "
        "codecs attributes storage_transformers dimension_names ";
    const char *const word = cmd_text(" %s ", name);
    bool              must = true;

    return strstr(known, word) ||
           (cmd_json_truth(cmd_json_member(value, "must_understand"), &must) && !must);
}

/* True if all entries of the metadata are known or may be ignored; false: v->why names one that is
 * not. */
static bool can_understand_all(cmd_variable *v, const cmd_json *array)
{
    const char *const name = cmd_json_except(array, can_understand);

    if (name)
        v->why = cmd_text("its metadata have %s, which is not known here", name);
    return !name;
}

/* True if the first codec is that of shards. */
static bool is_sharded(const cmd_json *codecs)
{
    return cmd_json_count(codecs) > 0 &&
           cmd_zarr_is_named(cmd_json_at(codecs, 0), "sharding_indexed");
}

/* Reads the metadata of an array of version 3. Shape and names of axes are known even if the type
 * is not. If anything is unknown, v->why is set, and the rest is not read. */
cmd_zarr *cmd_zarr_read_3(cmd_variable *v, const cmd_json *array)
{
    cmd_zarr                    *z      = cmd_room(sizeof *z);
    const cmd_json *const        type   = cmd_json_member(array, "data_type"),
                          *const grid   = cmd_json_member(array, "chunk_grid"),
                          *const codecs = cmd_json_member(array, "codecs");

    z->attributes = cmd_json_member(array, "attributes");
    if (!set_shape(v, array, type_named(cmd_json_text(type))))
        return z;
    name_axes(v, cmd_json_member(array, "dimension_names"));
    if (v->type == RD_AUTO)
        set_unknown_type(v, type);
    else if (!cmd_zarr_is_named(grid, "regular"))
        v->why = cmd_text("its chunks are of a grid %s", cmd_json_print(grid));
    else if (cmd_json_count(cmd_json_member(array, "storage_transformers")) > 0)
        v->why = "its store has transformers";
    else if (is_version(v, array, 3) && can_understand_all(v, array))
        read_keys(v, z, array);
    if (v->why || !cmd_zarr_read_chunk(v, z, cmd_zarr_setting(grid, "chunk_shape"),
                                       is_sharded(codecs) ? most_shard : CMD_MOST_CHUNK))
        return z;
    cmd_zarr_codecs_3(v, z, codecs);
    if (!v->why)
        cmd_zarr_fill(v, z, cmd_json_member(array, "fill_value"));
    if (!v->why)
        cmd_zarr_describe(v, z, /*fill=*/NULL);
    return z;
}
#else
typedef int cmd_no_zarr_metadata;
#endif
