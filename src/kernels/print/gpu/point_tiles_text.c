/* point_tiles_text.c - arrays of pairs in shared memory: a tile of points, which all threads of a
 * block fill, and the elements of each thread's results.
 *
 *     for (int p = 4 * (int)threadIdx.x; p < 384; p += 4 * RD_THREADS) {
 *         const int k = p % 128, w = p / 128; int left = w;
 *         const int i1 = left % (int)3; left /= (int)3;
 *         const int64_t i2 = m2 + k;
 *         RD_PUT_SHARED(float, 4, tile4, 1536 + w * 132 + k, (rd_take_some<float, 4>(..)));
 *     }
 *
 * Element w of point k lies in row w.  Adjacent points are loaded as vectors.  Points one behind
 * the other are loaded as a run of vectors, from which elements go to their rows.  Others are
 * loaded one element at a time, with neighbouring threads at neighbouring addresses.
 *
 * m2 is a mark: the first point of the tile, which has n points. */
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdlib.h>

/* A loop that fills the array of a tile. */
typedef struct tile_fill {
    int32_t              loop, load; /* statements */
    const rd_tree_value *let;        /* the value of the load */
    int32_t              store;      /* the array */
    int32_t n, axis[RD_MAX_RANK];    /* of loops over a point's elements, outermost first */
    int64_t elements;                /* of a point */
} tile_fill;

/* Finds what a loop that fills a tile's array consists of: the loops over a point's elements,
 * and inside them the load and, directly behind it, the store to the array. */
static tile_fill fill_of(const rd_printing *n, int32_t loop)
{
    const rd_schedule *t = n->t;
    tile_fill          f = { .loop = loop, .load = t->stmt[loop].first, .elements = 1 };

    for (; t->stmt[f.load].kind == RD_S_LOOP; f.load = t->stmt[f.load].first) {
        f.elements *= rd_loop_of(t, f.load)->extent;
        f.axis[f.n++] = rd_loop_of(t, f.load)->axis;
    }
    f.let   = &t->let[t->stmt[f.load].value];
    f.store = t->stmt[t->stmt[f.load].next].store;
    return f;
}

/* Returns the axis of points, over which the loop that fills the tile goes. */
static int32_t pair_axis(const rd_printing *n, const tile_fill *f)
{
    return rd_loop_of(n->t, f->loop)->axis;
}

/* ---- Where elements lie ---------------------------------------------------------------------- */
/* Prints the declaration of each array of the tree in shared memory: "RD_SHARED_DYNAMIC(float,
 * tile4);". */
void rd_print_declare_point_tiles(rd_printing *n)
{
    for (int32_t k = 0; k < n->t->n_store; k++)
        if (n->t->store[k].storage == RD_IN_BLOCK)
            rd_print_line(n, "RD_SHARED_DYNAMIC(%s, tile%" PRId32 ");",
                          rd_memory_type(n->t->store[k].type), k);
}

/* Adds the subscript of element `w` of point `k` in a tile's array: "1536 + (w) * 132 + k". 1536
 * elements lie before the array; 132 is a row, which has one element of each point. */
static void add_place(const rd_printing *n, rd_text *to, const tile_fill *f, const char *w,
                      const char *k)
{
    const rd_tree_array *a = &n->t->store[f->store];

    rd_text_add(to, "%" PRId64 " + (%s) * %" PRId64 " + %s", rd_first_of_tile(a), w,
                a->extent / f->elements, k);
}

/* Adds the element in memory that a load reads: "((const float *)x0)[i2 * 3 + i1]". */
void rd_print_element_of(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    rd_text_add(to, "((const %s *)x%" PRId32 ")[", rd_memory_type(let->type), let->slot);
    rd_print_linear(n, to, &let->at);
    rd_text_add(to, "]");
}

/* ---- Fills ----------------------------------------------------------------------------------- */
/* Prints the indices of element `left` of a point, for the axes inside a point, the last one
 * first: "const int i1 = left % (int)3; left /= (int)3;". */
static void declare_inner(rd_printing *n, const tile_fill *f)
{
    for (int32_t k = f->n; k-- > 0;) {
        rd_text extent = { 0 };

        rd_print_number(n, &extent, n->t->p->axis_extent[f->axis[k]]);
        rd_print_line(n, "const int i%" PRId32 " = left %% (int)%s; left /= (int)%s;", f->axis[k],
                      extent.at, extent.at);
        rd_text_end(&extent, n->to);
    }
}

/* Prints the index of a point of the tile: "const int64_t i2 = m2 + k;". m2 is the tile's first
 * point; `k`: " + k", or "" for the first point. */
static void declare_point(rd_printing *n, const tile_fill *f, const char *k)
{
    rd_text from = { 0 };

    rd_print_linear(n, &from, &rd_loop_of(n->t, f->loop)->from.part[0].at);
    rd_print_line(n, "const int64_t i%" PRId32 " = %s%s;", pair_axis(n, f), from.at, k);
    rd_text_end(&from, n->to);
}

/* Prints the beginning of a loop that deals `count` elements to the threads of the block, `each`
 * adjacent ones at a time: "for (int p = 4 * (int)threadIdx.x; p < 384; p += 4 * RD_THREADS) {". */
static void open_for_threads(rd_printing *n, int32_t each, const char *count)
{
    rd_print_line(
        n, "for (int p = %" PRId32 " * (int)threadIdx.x; p < %s; p += %" PRId32 " * RD_THREADS) {",
        each, count, each);
    n->indent++;
}

/* Prints a fill by vectors of `pack` adjacent points, as the head of this file shows. k is the
 * first of these points in the tile, w the element of a point. rd_take_some() loads no more than
 * the n - k points that there are. */
static void fill_by_points(rd_printing *n, const tile_fill *f, int32_t pack)
{
    const char   *type = rd_memory_type(f->let->type);
    const int64_t tile = rd_loop_of(n->t, f->loop)->extent;
    rd_text       to = { 0 }, from = { 0 }, all = { 0 };

    rd_text_add(&all, "%" PRId64, f->elements * tile);
    add_place(n, &to, f, "w", "k");
    open_for_threads(n, pack, all.at);
    rd_print_line(n, "const int k = p %% %" PRId64 ", w = p / %" PRId64 "; int left = w;", tile,
                  tile);
    declare_inner(n, f);
    declare_point(n, f, " + k");
    rd_print_element_of(n, &from, f->let);
    rd_print_line(n,
                  "RD_PUT_SHARED(%s, %" PRId32 ", tile%" PRId32 ", %s, (rd_take_some<%s, %" PRId32
                  ">(&%s, n - k)));",
                  type, pack, f->store, to.at, type, pack, from.at);
    rd_print_close(n);
    rd_text_end(&to, n->to);
    rd_text_end(&from, n->to);
    rd_text_end(&all, n->to);
}

/* Prints a fill for points that follow each other in memory without gaps: all their elements are
 * loaded as one run, by vectors of `pack`, and each element goes to the row it belongs to. `each`:
 * elements of a point, `all`: of all n points of the tile.
 *
 *     const rd_pack<float, 4> x = rd_take_some<float, 4>(&((const float *)x0)[..] + p, all - p);
 *     RD_UNROLL for (int l = 0; l < 4; l++) if (p + l < all) tile4[..] = x.e[l];
 *
 * The run begins at element 0 of the tile's first point, so that the index inside a point is 0. */
static void fill_run(rd_printing *n, const tile_fill *f, int32_t pack)
{
    const char *type = rd_memory_type(f->let->type);
    rd_text     to = { 0 }, from = { 0 }, each = { 0 };

    rd_print_number(n, &each, f->elements);
    add_place(n, &to, f, "(p + l) % each", "(p + l) / each");
    rd_print_line(n, "const int each = (int)%s, all = n * each;", each.at);
    rd_print_line(n, "const int i%" PRId32 " = 0;", f->axis[0]);
    declare_point(n, f, "");
    rd_print_element_of(n, &from, f->let);
    open_for_threads(n, pack, "all");
    rd_print_line(
        n, "const rd_pack<%s, %" PRId32 "> x = rd_take_some<%s, %" PRId32 ">(&%s + p, all - p);",
        type, pack, type, pack, from.at);
    rd_print_line(n,
                  "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) if (p + l < all) tile%" PRId32
                  "[%s] = x.e[l];",
                  pack, f->store, to.at);
    rd_print_close(n);
    rd_text_end(&to, n->to);
    rd_text_end(&from, n->to);
    rd_text_end(&each, n->to);
}

/* True if neighbouring points lie nearer in memory than neighbouring elements of one point. */
static bool are_points_nearer(const rd_printing *n, const tile_fill *f)
{
    const int64_t step   = llabs(rd_linear_coef(n->t, &f->let->at, pair_axis(n, f)));
    bool          nearer = true;

    for (int32_t k = 0; k < f->n; k++)
        nearer &= step < llabs(rd_linear_coef(n->t, &f->let->at, f->axis[k]));
    return nearer;
}

/* Prints a fill by single elements: "tile4[1536 + (w) * 132 + k] = ((const float *)x0)[..];" for
 * element w of point k. Neighbouring threads take those that are nearest in memory, so that
 * their loads coalesce: the next point, or the next element of the same one. */
static void fill_by_elements(rd_printing *n, const tile_fill *f)
{
    rd_text to = { 0 }, from = { 0 }, each = { 0 }, all = { 0 };

    rd_print_number(n, &each, f->elements);
    rd_text_add(&all, "n * (int)%s", each.at);
    add_place(n, &to, f, "w", "k");
    open_for_threads(n, /*each=*/1, all.at);
    if (are_points_nearer(n, f))
        rd_print_line(n, "const int k = p %% n, w = p / n; int left = w;");
    else
        rd_print_line(n, "const int k = p / (int)%s, w = p %% (int)%s; int left = w;", each.at,
                      each.at);
    declare_inner(n, f);
    declare_point(n, f, " + k");
    rd_print_element_of(n, &from, f->let);
    rd_print_line(n, "tile%" PRId32 "[%s] = %s;", f->store, to.at, from.at);
    rd_print_close(n);
    rd_text_end(&to, n->to);
    rd_text_end(&from, n->to);
    rd_text_end(&each, n->to);
    rd_text_end(&all, n->to);
}

/* Prints the loop that fills an array of a tile. `pack` elements are loaded at once: adjacent
 * points if the stride of a point is 1, else a run of whole points. pack 0: single elements. */
void rd_print_fill_tile(rd_printing *n, int32_t loop)
{
    const tile_fill f    = fill_of(n, loop);
    const int32_t   pack = n->t->stmt[f.load].vector_width;

    rd_print_line(n, "{");
    n->indent++;
    if (pack && rd_linear_coef(n->t, &f.let->at, pair_axis(n, &f)) == 1)
        fill_by_points(n, &f, pack);
    else if (pack)
        fill_run(n, &f, pack);
    else
        fill_by_elements(n, &f);
    rd_print_close(n);
    rd_note_vector_access(n, f.let->slot, pack);
}
