/* zarr_codecs.c - reads the codecs of a Zarr array from its metadata. A codec packs the bytes of a
 * chunk: a compressor, a filter or a checksum. */
#if RDIM_JSON
#include "files/zarr.h"
#include <string.h>

/* ---- Codecs ---------------------------------------------------------------------------------- */
/* Puts a codec in front of the list, as the codec that was applied last is undone first. `size` is
 * the element size of the shuffle filter. False: it cannot be used, and v->why is set. */
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

/* Adds a filter. The shuffle filter has an element size, 4 bytes by default. */
static bool add_filter(cmd_variable *v, cmd_codecs *all, const char *name, const cmd_json *settings)
{
    const cmd_json *const said = cmd_json_member(settings, "elementsize");
    int64_t               size = 4;

    if (said && (!cmd_json_whole(said, &size) || size < 1)) {
        v->why = cmd_text("its elements of %s bytes are shuffled", cmd_json_print(said));
        return false;
    }
    return add_codec(v, all, name, size);
}

/* ---- Version 2 ------------------------------------------------------------------------------- */
/* Adds the filters and the compressor of version 2, in the order in which they were applied; each
 * may be null. */
void cmd_zarr_codecs_2(cmd_variable *v, cmd_zarr *z, const cmd_json *array)
{
    const cmd_json *const filters = cmd_json_member(array, "filters"), *const compressor =
                                                                           cmd_json_member(
                                                                               array, "compressor");

    for (int64_t k = 0; k < cmd_json_count(filters) && !v->why; k++) {
        const cmd_json *const filter = cmd_json_at(filters, k);

        add_filter(v, &z->codecs, cmd_json_text(cmd_json_member(filter, "id")), filter);
    }
    if (compressor && !v->why)
        add_codec(v, &z->codecs, cmd_json_text(cmd_json_member(compressor, "id")), 0);
}

/* ---- Version 3 ------------------------------------------------------------------------------- */
/* Reads a permutation of axes, and applies it to the present one, as a second codec transposes the
 * result of the first. */
static void read_order(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    rd_shape order;
    uint64_t seen = 0;
    int      now[RD_MAX_RANK];
    bool ok = cmd_zarr_extents(cmd_zarr_setting(codec, "order"), &order) && order.n == v->shape.n;

    memcpy(now, z->order, sizeof now);
    for (int a = 0; ok && a < order.n; a++) {
        ok = order.at[a] < order.n && !(seen >> order.at[a] & 1);
        if (ok) {
            z->order[a] = now[order.at[a]];
            seen |= UINT64_C(1) << order.at[a];
        }
    }
    if (!ok)
        v->why = cmd_text("its chunks are transposed by %s", cmd_json_print(codec));
}

/* Reads the byte order of elements, big or little. Elements of one byte need none. */
static void read_bytes(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    const cmd_json *const said   = cmd_zarr_setting(codec, "endian");
    const char *const     endian = cmd_json_text(said);

    if (cmd_size_of(v->type) > 1 && !said)
        v->why = "the order of bytes in its elements is not said";
    else if (cmd_zarr_is_either(v, "order of bytes", said, "little", "big"))
        z->swapped = endian && strcmp(endian, "big") == 0 && cmd_size_of(v->type) > 1;
}

static void read_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list, bool in_shard);

/* Reads the shape, codecs and index of shards. The index has offset and length of each chunk,
 * little-endian, and maybe a checksum (crc32c). z->extent was the shape of shards, and becomes that
 * of chunks. If anything else is said, v->why is set. */
static void read_shard(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    const cmd_json *const index    = cmd_zarr_setting(codec, "index_codecs");
    const char *const     location = cmd_json_text(cmd_zarr_setting(codec, "index_location"));
    const cmd_zarr        outer    = *z;
    const int64_t         n        = cmd_json_count(index);
    const char *const     endian =
        n > 0 ? cmd_json_text(cmd_zarr_setting(cmd_json_at(index, 0), "endian")) : NULL;

    z->index_first = location && strcmp(location, "start") == 0;
    z->index_crc   = n == 2;
    if (n < 1 || n > 2 || (endian && strcmp(endian, "little") != 0) ||
        !cmd_zarr_is_named(cmd_json_at(index, 0), "bytes") ||
        (n == 2 && !cmd_zarr_is_named(cmd_json_at(index, 1), "crc32c")))
        v->why = cmd_text("its shards have an index of %s", cmd_json_print(index));
    z->sharded = true;
    if (!v->why)
        cmd_zarr_is_either(v, "index_location", cmd_zarr_setting(codec, "index_location"), "end",
                           "start");
    if (v->why ||
        !cmd_zarr_read_chunk(v, z, cmd_zarr_setting(codec, "chunk_shape"), CMD_MOST_CHUNK))
        return;
    for (int a = 0; a < v->shape.n && !v->why; a++) {
        z->shard[a] = outer.extent[a] / z->extent[a];
        if (outer.extent[a] % z->extent[a])
            v->why = "its shards are no whole number of chunks";
    }
    if (!v->why)
        read_codecs_3(v, z, cmd_zarr_setting(codec, "codecs"), /*in_shard=*/true);
}

/* Adds a compressor or filter of bytes. A prefix "numcodecs." of its name is removed. */
static void read_packer(cmd_variable *v, cmd_zarr *z, const cmd_json *codec)
{
    static const char numcodecs[] = "numcodecs.";
    const char       *name        = cmd_json_text(cmd_json_member(codec, "name"));

    name = name ? name : cmd_json_text(codec);
    if (name && strncmp(name, numcodecs, strlen(numcodecs)) == 0)
        name += strlen(numcodecs);
    add_filter(v, &z->codecs, name, cmd_json_member(codec, "configuration"));
}

/* Reads the list of codecs: first transpositions, then "bytes", then compressors; or one shard
 * codec alone. `in_bytes` is true behind "bytes". A list in another order is refused; `in_shard`:
 * the list is of the chunks in a shard, which cannot be sharded again. */
static void read_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list, bool in_shard)
{
    const int64_t n        = cmd_json_count(list);
    bool          in_bytes = false;

    for (int a = 0; a < v->shape.n; a++)
        z->order[a] = a;
    for (int64_t k = 0; k < n && !v->why; k++) {
        const cmd_json *const codec = cmd_json_at(list, k);
        const bool            turns = cmd_zarr_is_named(codec, "transpose"),
                   bytes            = cmd_zarr_is_named(codec, "bytes");

        if (cmd_zarr_is_named(codec, "sharding_indexed")) {
            if (!in_shard && n == 1)
                read_shard(v, z, codec);
            else
                v->why = "its shards are packed once more, or hold shards";
            return;
        }
        if (in_bytes ? turns || bytes : !turns && !bytes)
            break;
        in_bytes |= bytes;
        if (bytes)
            read_bytes(v, z, codec);
        else if (turns)
            read_order(v, z, codec);
        else
            read_packer(v, z, codec);
        if (k + 1 == n && in_bytes)
            return;
    }
    if (!v->why)
        v->why = cmd_text("its codecs are %s", cmd_json_print(list));
}

/* Reads the codecs of an array of version 3. */
void cmd_zarr_codecs_3(cmd_variable *v, cmd_zarr *z, const cmd_json *list)
{
    read_codecs_3(v, z, list, /*in_shard=*/false);
}
#else
typedef int cmd_no_zarr_codecs;
#endif
