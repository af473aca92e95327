/* layout.c - chooses the chunks of variables that are written.
 *
 * Contiguous variables are read fastest, and results can be computed in place. So there are chunks
 * only in compressed variables, with shape and filters of their source, and along unlimited
 * dimensions. There a chunk has whole records, and is large enough to keep the index of chunks
 * short. */
#include "files/contents.h"
#include "result.h"

/* Bytes of a chunk of records: at least, at most, and if the source does not say. */
enum { LEAST_BYTES = 1 << 16, MOST_BYTES = 1 << 28, RECORD_BYTES = 1 << 20 };

/* The smaller one of two numbers. */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The larger one of two numbers. */
static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Bytes of a chunk with elements of `size` bytes, computed in doubles, as the product may
 * overflow. */
static int64_t bytes_of(const cmd_layout *layout, int rank, int64_t size)
{
    double bytes = (double)size;

    for (int k = 0; k < rank; k++)
        bytes *= (double)layout->extent[k];
    return bytes < 1e18 ? (int64_t)bytes : INT64_MAX;
}

/* Divides extents, the first ones first, until a chunk has at most MOST_BYTES: HDF5 refuses chunks
 * of 4 GB. */
static void shrink_chunks(cmd_layout *layout, int rank, int64_t size)
{
    for (int k = 0; k < rank && bytes_of(layout, rank, size) > MOST_BYTES; k++) {
        const int64_t times = bytes_of(layout, rank, size) / MOST_BYTES + 1;
        layout->extent[k]   = larger(1, layout->extent[k] / times);
    }
}

/* Makes chunks of whole records: rows along the first axis. A chunk has as many as the source, if
 * the source's chunks hold whole records (`whole`), else 1 MB, but at least 64 KB. */
static void set_records(cmd_layout *layout, const cmd_layout *source, const rd_shape *shape,
                        int64_t size)
{
    bool    whole = source->extent[0] > 0;
    int64_t bytes = size;

    for (int k = 1; k < shape->n; k++) {
        layout->extent[k] = larger(1, shape->at[k]);
        bytes             = bytes < MOST_BYTES ? bytes * layout->extent[k] : bytes;
        whole &= source->extent[k] >= shape->at[k];
    }
    const int64_t records = whole ? source->extent[0] : RECORD_BYTES / bytes;
    layout->extent[0] =
        larger(1, smaller(shape->at[0], larger(records, (LEAST_BYTES + bytes - 1) / bytes)));
}

/* Chooses the chunks of a variable: extents of 0 make it contiguous. Only compressed variables
 * (level > 0) and those with an unlimited dimension (`grows`) have chunks; a compressed one without
 * elements has none. */
cmd_layout cmd_layout_of(const cmd_contents *all, const cmd_content *c, const cmd_layout *source)
{
    cmd_layout    layout = { .shuffled = source->shuffled, .level = source->level };
    const int64_t size   = cmd_content_size(c);
    const int     rank   = c->shape.n;
    bool          grows = false, empty = false;

    for (int k = 0; k < rank; k++) {
        grows |= all->dimension[c->dimension[k]].grows;
        empty |= c->shape.at[k] == 0;
    }
    if (rank == 0 || (!grows && (source->level == 0 || empty)))
        return (cmd_layout){ 0 };
    if (source->level == 0)
        set_records(&layout, source, &c->shape, size);
    else
        for (int k = 0; k < rank; k++)
            layout.extent[k] = larger(1, smaller(c->shape.at[k], source->extent[k]));
    shrink_chunks(&layout, rank, size);
    return layout;
}

/* The number of records in a chunk; 0: the variable is contiguous; -1: it is compressed, or a chunk
 * does not hold whole records. */
int64_t cmd_records_of(const cmd_content *c)
{
    if (c->layout.level > 0)
        return -1;
    for (int k = 1; k < c->shape.n; k++)
        if (c->layout.extent[0] > 0 && c->layout.extent[k] != c->shape.at[k])
            return -1;
    return c->layout.extent[0];
}

/* True if each result is contiguous or has chunks of whole records, so that its elements can be
 * adjacent in the file. */
bool cmd_are_pieces(const cmd_contents *all)
{
    for (int k = 0; k < all->n; k++)
        if (all->at[k].result && cmd_records_of(&all->at[k]) < 0)
            return false;
    return true;
}

/* True if all threads deflate the result. A result of less than 1 MB is not worth it. */
bool cmd_is_for_threads(const cmd_content *c)
{
    enum { LARGE = 1 << 20 };

    return c->result && c->layout.level > 0 && cmd_result_bytes(c->result) >= LARGE;
}
