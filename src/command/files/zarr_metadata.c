/* zarr_metadata.c - what a Zarr store says about an array: its type, shape, chunks and codecs. */
#if RDIM_JSON
#include "files/zarr.h"
#include "files/packing.h"
#include <math.h>
#include <string.h>

enum { MOST_CHUNK = INT32_MAX / 2 };

/* ---- Types ----------------------------------------------------------------------------------- */
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

static void refuse_type(cmd_variable *v, const cmd_json *type)
{
    v->why = cmd_text("its elements are of type %s", cmd_json_print(type));
}

/* ---- Shapes ---------------------------------------------------------------------------------- */
static bool read_extents(const cmd_json *list, rd_shape *shape)
{
    const int64_t n = cmd_json_count(list);

    *shape = (rd_shape){ .n = (int32_t)(n < 0 || n > RD_MAX_RANK ? 0 : n) };
    for (int k = 0; k < shape->n; k++)
        if (!cmd_json_whole(cmd_json_at(list, k), &shape->at[k]) || shape->at[k] < 0)
            return false;
    return n >= 0 && n <= RD_MAX_RANK;
}

/* Extents of chunks, or of those in shards; false: v->why says why not. */
static bool read_chunk(cmd_variable *v, cmd_zarr *z, const cmd_json *list)
{
    rd_shape chunk;
    int64_t  bytes = v->type == RD_AUTO ? 1 : cmd_size_of(v->type);

    if (!read_extents(list, &chunk) || chunk.n != v->shape.n)
        v->why = cmd_text("its chunks have shape %s", cmd_json_print(list));
    for (int a = 0; !v->why && a < chunk.n; a++) {
        if (chunk.at[a] < 1 || chunk.at[a] > MOST_CHUNK / bytes)
            v->why =
                cmd_text("its chunks have shape %s, and more than %d bytes are not read at once",
                         cmd_json_print(list), MOST_CHUNK);
        else
            bytes *= z->extent[a] = chunk.at[a];
    }
    return !v->why;
}

static void name_axes(cmd_variable *v, const cmd_json *names)
{
    if (cmd_json_count(names) != v->shape.n)
        return;
    for (int a = 0; a < v->shape.n; a++)
        v->axis[a].name = cmd_json_text(cmd_json_at(names, a));
}

/* The type's name is not needed to know the shape. */
static bool set_shape(cmd_variable *v, const cmd_json *array, rd_dtype type)
{
    rd_shape shape;

    if (!read_extents(cmd_json_member(array, "shape"), &shape)) {
        v->why = cmd_text("its shape is %s", cmd_json_print(cmd_json_member(array, "shape")));
        return false;
    }
    cmd_set_shape(v, type, &shape);
    return true;
}

/* ---- Values that are not written --------------------------------------------------------------- */
/* JSON has no infinities: they are texts. */
static bool special(const char *text, double *to)
{
    *to = !text                            ? 0
          : strcmp(text, "NaN") == 0       ? (double)NAN
          : strcmp(text, "Infinity") == 0  ? HUGE_VAL
          : strcmp(text, "-Infinity") == 0 ? -HUGE_VAL
                                           : 1;
    return text && *to != 1;
}

/* A number, NaN and the like, or a truth; false: none of these. */
static bool fill_number(const cmd_json *fill, cmd_exact *to)
{
    rd_dtype type;
    double   value;

    if (cmd_json_number(fill, to, &type))
        return true;
    if (special(cmd_json_text(fill), &value)) {
        *to = cmd_real(value);
        return true;
    }
    *to = cmd_integer(cmd_json_is_true(fill));
    return !cmd_json_text(fill) && cmd_json_count(fill) < 0;
}

/* One element, as the library converts it. */
static void put_number(rd_dtype type, cmd_exact value, uint8_t *to)
{
    rd_ctx  *ctx  = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    rd_expr *leaf = rd_leaf(ctx, &(rd_array){ .in = &value.u, .type = value.type });

    if (!ctx || rd_eval(ctx, rd_cast(leaf, type), &(rd_array){ .data = to, .type = type }) != RD_OK)
        cmd_fail_of(ctx);
    rd_ctx_free(ctx);
}

static void read_fill(cmd_variable *v, cmd_zarr *z, const cmd_json *fill)
{
    const bool pair    = cmd_json_count(fill) == 2;
    const bool wide    = v->type == RD_C64 || v->type == RD_C128;
    cmd_exact  part[2] = { cmd_integer(0), cmd_integer(0) };
    bool       known   = true;

    for (int k = 0; pair && k < 2; k++)
        known &= fill_number(cmd_json_at(fill, k), &part[k]);
    if (!pair)
        known = fill_number(fill, &part[0]);
    if (!known || (pair && !wide)) {
        v->why = cmd_text("its fill value is %s", cmd_json_print(fill));
        return;
    }
    const rd_dtype half = v->type == RD_C64 ? RD_F32 : RD_F64;
    for (int k = 0; k < 1 + wide; k++)
        put_number(wide ? half : v->type, part[k], z->fill + k * cmd_size_of(half));
}

/* ---- Codecs ---------------------------------------------------------------------------------- */
/* In front of those that were found before, as what was done last is undone first. */
static bool add_codec(cmd_variable *v, cmd_codecs *all, const char *name, int64_t size)
{
    if (!name || all->n == CMD_MOST_CODECS) {
        v->why = name ? "its chunks went through many codecs" : "its codecs have no names";
        return false;
    }
    const cmd_codec *const codec = cmd_codec_named(name, &v->why);
    if (!codec)
        return false;
    memmove(all->at + 1, all->at, (size_t)all->n * sizeof *all->at);
    all->at[0] = (cmd_packed){ codec, size };
    all->n++;
    return true;
}

/* ---- Version 2 ------------------------------------------------------------------------------- */
static void read_codecs_2(cmd_variable *v, cmd_zarr *z, const cmd_json *array)
{
    const cmd_json *const filters = cmd_json_member(array, "filters"), *const compressor =
                                                                           cmd_json_member(
                                                                               array, "compressor");

    for (int64_t k = 0; k < cmd_json_count(filters) && !v->why; k++) {
        const cmd_json *const filter = cmd_json_at(filters, k);
        int64_t               size;

        (void)cmd_json_whole(cmd_json_member(filter, "elementsize"), &size);
        add_codec(v, &z->codecs, cmd_json_text(cmd_json_member(filter, "id")), size);
    }
    if (compressor && !v->why)
        add_codec(v, &z->codecs, cmd_json_text(cmd_json_member(compressor, "id")), 0);
}

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
        refuse_type(v, cmd_json_member(array, "dtype"));
    if (v->why || !read_chunk(v, z, cmd_json_member(array, "chunks")))
        return z;
    for (int a = 0; a < v->shape.n; a++)
        z->order[a] = order && *order == 'F' ? v->shape.n - 1 - a : a;
    read_codecs_2(v, z, array);
    if (!v->why)
        read_fill(v, z, fill);
    /* For xarray the value that is not written is a missing one; for others it is just what is there. */
    if (!v->why)
        cmd_zarr_describe(v, z, v->shape.n && v->axis[0].name ? fill : NULL);
    return z;
}

/* ---- Version 3 ------------------------------------------------------------------------------- */
static const cmd_json *setting(const cmd_json *of, const char *name)
{
    return cmd_json_member(cmd_json_member(of, "configuration"), name);
}

static bool is_named(const cmd_json *codec, const char *name)
{
    const char *text = cmd_json_text(cmd_json_member(codec, "name"));

    text = text ? text : cmd_json_text(codec); /* without settings its name alone will do */
    return text && strcmp(text, name) == 0;
}

/* Each axis once. */
static void read_order(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    rd_shape order;
    uint64_t seen = 0;
    bool     ok   = read_extents(setting(codec, "order"), &order) && order.n == v->shape.n;

    for (int a = 0; ok && a < order.n; a++) {
        ok = order.at[a] < order.n && !(seen >> order.at[a] & 1);
        if (ok) {
            z->order[a] = (int)order.at[a];
            seen |= UINT64_C(1) << order.at[a];
        }
    }
    if (!ok)
        v->why = cmd_text("its chunks are transposed by %s", cmd_json_print(codec));
}

static void read_bytes(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    const char *endian = cmd_json_text(setting(codec, "endian"));

    z->swapped = endian && strcmp(endian, "big") == 0 && cmd_size_of(v->type) > 1;
}

static void read_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list, bool in_shard);

/* A shard's index: a place and a length of each chunk, little-endian, maybe a checksum. */
static void read_shard(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    const cmd_json *const index    = setting(codec, "index_codecs");
    const char *const     location = cmd_json_text(setting(codec, "index_location"));
    const cmd_zarr        outer    = *z;
    const int64_t         n        = cmd_json_count(index);
    const char *const     endian =
        n > 0 ? cmd_json_text(setting(cmd_json_at(index, 0), "endian")) : NULL;

    z->index_first = location && strcmp(location, "start") == 0;
    z->index_crc   = n == 2;
    if (n < 1 || n > 2 || (endian && strcmp(endian, "little") != 0) ||
        !is_named(cmd_json_at(index, 0), "bytes") ||
        (n == 2 && !is_named(cmd_json_at(index, 1), "crc32c")))
        v->why = cmd_text("its shards have an index of %s", cmd_json_print(index));
    if (v->why || !read_chunk(v, z, setting(codec, "chunk_shape")))
        return;
    for (int a = 0; a < v->shape.n && !v->why; a++) {
        z->shard[a] = outer.extent[a] / z->extent[a];
        if (outer.extent[a] % z->extent[a])
            v->why = "its shards are no whole number of chunks";
    }
    if (!v->why)
        read_codecs_3(v, z, setting(codec, "codecs"), true);
}

static void read_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list, bool in_shard)
{
    const int64_t n = cmd_json_count(list);

    for (int a = 0; a < v->shape.n; a++)
        z->order[a] = a;
    for (int64_t k = 0; k < n && !v->why; k++) {
        const cmd_json *const codec = cmd_json_at(list, k);

        if (is_named(codec, "bytes"))
            read_bytes(v, z, codec);
        else if (is_named(codec, "transpose"))
            read_order(v, z, codec);
        else if (is_named(codec, "sharding_indexed") && !in_shard && n == 1)
            read_shard(v, z, codec);
        else if (is_named(codec, "sharding_indexed"))
            v->why = "its shards are packed once more, or hold shards";
        else
            add_codec(v, &z->codecs, cmd_json_text(cmd_json_member(codec, "name")), 0);
    }
}

static void read_keys(cmd_zarr *z, const cmd_json *array)
{
    const cmd_json *const keys      = cmd_json_member(array, "chunk_key_encoding");
    const char *const     separator = cmd_json_text(setting(keys, "separator"));

    z->prefixed  = !is_named(keys, "v2");
    z->separator = separator ? *separator : z->prefixed ? '/' : '.';
}

cmd_zarr *cmd_zarr_read_3(cmd_variable *v, const cmd_json *array)
{
    cmd_zarr             *z    = cmd_room(sizeof *z);
    const cmd_json *const type = cmd_json_member(array, "data_type"), *const grid = cmd_json_member(
                                                                          array, "chunk_grid");

    z->attributes = cmd_json_member(array, "attributes");
    if (!set_shape(v, array, type_named(cmd_json_text(type))))
        return z;
    name_axes(v, cmd_json_member(array, "dimension_names"));
    if (v->type == RD_AUTO)
        refuse_type(v, type);
    else if (!is_named(grid, "regular"))
        v->why = cmd_text("its chunks are of a grid %s", cmd_json_print(grid));
    else if (cmd_json_count(cmd_json_member(array, "storage_transformers")) > 0)
        v->why = "its store has transformers";
    if (v->why || !read_chunk(v, z, setting(grid, "chunk_shape")))
        return z;
    read_keys(z, array);
    read_codecs_3(v, z, cmd_json_member(array, "codecs"), false);
    if (!v->why)
        read_fill(v, z, cmd_json_member(array, "fill_value"));
    if (!v->why)
        cmd_zarr_describe(v, z, NULL);
    return z;
}
#else
typedef int cmd_no_zarr_metadata;
#endif
