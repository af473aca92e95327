/* test_lookups.c - elements of small tables, which compiled loops look up by permutes: what the
 * scalar interpreter says, for tables that fill vectors and that do not, indices of all types,
 * negative ones and those outside, in strips that are whole and that are not. */
#include "kernels/cpu/cpu.h"
#include "nests.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static rd_expr *leaf_of_indices(tile_memory *m, rd_dtype type, int64_t count, int64_t n)
{
    return nest_leaf_of(m, tile_indices(m, type, count, n), RD_SHAPE(count));
}

/* By this machine's best vectors, and by shorter ones. */
static void agree_by(nest_batch *made, int shorter)
{
    const int isa = isa_count() - 1 - shorter;

    nest_agree_by(made, isa > 1 ? isa : 1, many_tasks, COUNT(many_tasks));
}

static void agree_by_both(nest_batch *made)
{
    nest_batch copy = *made;

    agree_by(&copy, 1);
    agree_by(made, 0);
}

/* ---- Tables ----------------------------------------------------------------------------------- */
static const rd_dtype elements[] = {
    RD_F32, RD_F64, RD_I32, RD_U8, RD_I8, RD_BOOL, RD_U64, RD_F16
};
static const rd_dtype indices[]  = { RD_U8, RD_I8, RD_I16, RD_U16, RD_I32, RD_U32, RD_I64, RD_U64 };
static const int64_t  extents[]  = { 1, 4, 8, 9, 16, 17, 32, 33, 64, 65 };
static const int64_t  of_bytes[] = { 129, 191, 200, 255, 256, 257 };
static const int64_t  lengths[]  = { 1, 15, 16, 63, 64, 65, 129, 1000 };

/* Two tables and four kinds of index at a time. */
static void check_tables(int64_t n, int k)
{
    const int64_t count = lengths[(k + (int)n) % COUNT(lengths)];
    tile_memory   m     = { 0 };
    nest_batch    made  = { 0 };
    rd_expr      *table[2];

    for (int j = 0; j < 2; j++)
        table[j] = nest_leaf(&m, elements[(k + 5 * j) % COUNT(elements)], RD_SHAPE(n), UGLY);
    for (int i = 0; i < 4; i++) {
        const rd_dtype type = indices[(k + (int)n + i * 3) % COUNT(indices)];
        rd_expr *const at   = leaf_of_indices(&m, type, count, n);

        nest_add(&made, rd_take(table[i % 2], 0, at));
        nest_add(&made, rd_add(rd_take(table[(i + 1) % 2], 0, rd_cast(at, RD_I64)), at));
    }
    snprintf(made.what, sizeof made.what, "%d of %d, %d", (int)count, (int)n, k);
    agree_by(&made, k % 2);
    tile_free(&m);
}

START_TEST(tables)
{
    for (int k = 0; k < 3; k++)
        check_tables(extents[_i], 3 * k + _i);
}
END_TEST

START_TEST(tables_of_bytes)
{
    const int64_t n = of_bytes[_i];

    for (int k = _i % 4; k < COUNT(lengths); k += 4) {
        tile_memory    m     = { 0 };
        nest_batch     made  = { .what = "bytes" };
        rd_expr       *table = nest_leaf(&m, RD_U8, RD_SHAPE(n), ORDINARY);
        rd_expr *const at    = leaf_of_indices(&m, RD_U8, lengths[k], n < 256 ? n : 256);

        nest_add(&made, rd_take(table, 0, at));
        nest_add(&made, rd_take(nest_leaf(&m, RD_I8, RD_SHAPE(n), ORDINARY), 0, at));
        nest_add(&made, rd_sum(rd_take(table, 0, at), RD_ALL));
        agree_by(&made, 0);
        tile_free(&m);
    }
}
END_TEST

/* ---- Indices ---------------------------------------------------------------------------------- */
/* Computed, from the end, and by `beyond` outside of the table, in either direction. */
static const struct {
    rd_dtype element, index;
    int64_t  n, least, most;
} ranges[] = {
    { RD_F32, RD_I64, 7, -7, 6 },   { RD_F32, RD_I64, 7, -8, 6 },
    { RD_F32, RD_I64, 7, -7, 7 },   { RD_F32, RD_I32, 16, -16, 15 },
    { RD_F32, RD_I32, 16, 0, 16 },  { RD_F32, RD_I8, 40, -40, 39 },
    { RD_F32, RD_I8, 40, -41, 3 },  { RD_F64, RD_I64, 11, -11, 10 },
    { RD_F64, RD_I64, 11, -12, 0 }, { RD_F64, RD_I16, 16, 3, 16 },
    { RD_F64, RD_I32, 5, -5, 4 },   { RD_I64, RD_I64, 3, -3, 3 },
    { RD_F32, RD_U32, 9, 0, 8 },    { RD_F32, RD_U32, 9, 0, 9 },
    { RD_F64, RD_U64, 9, 0, 9 },    { RD_U8, RD_U8, 100, 0, 99 },
    { RD_U8, RD_U8, 100, 0, 100 },  { RD_U8, RD_U8, 200, 90, 200 },
    { RD_U8, RD_I8, 20, -20, 19 },
};

/* Each number of the range, and its least and most at last. */
static rd_expr *leaf_of_range(tile_memory *m, rd_dtype type, int64_t count, int64_t least,
                              int64_t most)
{
    const int32_t slot = tile_indices(m, type, count, 1);
    const int     size = rd_dtype_size(type);

    for (int64_t i = 0; i < count; i++) {
        const int64_t x = i == count - 1 ? most
                          : i == 0       ? least
                                         : least + 1 + i % (most - least - 1);

        rd_word_store(m->slot[slot].before + i * size, type, rd_word_from_int(x, type));
    }
    return nest_leaf_of(m, slot, RD_SHAPE(count));
}

START_TEST(ranges_of_indices)
{
    nest_batch     made  = { 0 };
    tile_memory    m     = { 0 };
    const int64_t  count = lengths[(_i + 3) % COUNT(lengths)] + 1;
    rd_expr *const table = nest_leaf(&m, ranges[_i].element, RD_SHAPE(ranges[_i].n), ORDINARY);
    rd_expr *const at =
        leaf_of_range(&m, ranges[_i].index, count, ranges[_i].least, ranges[_i].most);

    snprintf(made.what, sizeof made.what, "row %d, %d elements", _i, (int)count);
    nest_add(&made, rd_take(table, 0, at));
    nest_add(&made, rd_take(table, 0, rd_bit_xor(rd_cast(at, RD_I64), rd_int(ctx, 0))));
    agree_by_both(&made);
    tile_free(&m);
}
END_TEST

/* Numbers of which the low bits are a place. */
START_TEST(far_outside)
{
    static const int64_t far[] = { INT64_C(1) << 32, -(INT64_C(1) << 32), INT64_MIN, INT64_MAX,
                                   (INT64_C(1) << 32) + 3 };
    tile_memory          m     = { 0 };
    rd_expr *const       at    = leaf_of_indices(&m, RD_I64, 300, 5);
    rd_expr *const       table = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, RD_SHAPE(5), ORDINARY);
    rd_expr *const       place =
        rd_where(rd_eq(rd_coord(at, 0), rd_int(ctx, 70)), rd_int(ctx, far[_i / 2]), at);
    nest_batch made = { 0 };

    snprintf(made.what, sizeof made.what, "row %d", _i);
    nest_add(&made, rd_take(table, 0, place));
    agree_by_both(&made);
    tile_free(&m);
}
END_TEST

/* ---- Forms ------------------------------------------------------------------------------------ */
typedef rd_expr *form(tile_memory *m);

/* A row of the table for each step: scores of a motif. */
static rd_expr *rows_of_steps(tile_memory *m)
{
    rd_expr *const letters = leaf_of_indices(m, RD_U8, 500, 4);
    rd_expr *const windows = rd_window(letters, 0, 12, 1);
    rd_expr *const table   = nest_leaf(m, RD_F32, RD_SHAPE(12, 4), ORDINARY);
    rd_expr *const places  = rd_add(rd_mul(rd_coord(windows, 1), rd_int(ctx, 4)), windows);

    return rd_sum(rd_take(rd_reshape(table, RD_SHAPE(48)), 0, places), RD_DIMS(1));
}

/* The same by rows, which have an index each. */
static rd_expr *along_rows(tile_memory *m)
{
    rd_expr *const letters = leaf_of_indices(m, RD_U8, 7 * 300, 4);
    rd_expr *const table   = nest_leaf(m, RD_F32, RD_SHAPE(7, 4), ORDINARY);

    return rd_sum(rd_take_along(table, 1, rd_reshape(letters, RD_SHAPE(7, 300))), RD_DIMS(0));
}

/* Colours of a palette, which lie three apart. */
static rd_expr *column_of_table(tile_memory *m)
{
    rd_expr *const at     = leaf_of_indices(m, RD_U8, 700, 16);
    rd_expr *const colour = nest_leaf(m, RD_F32, RD_SHAPE(16, 3), ORDINARY);

    return rd_take(rd_select(colour, 1, 1), 0, at);
}

/* Two tables by one index. */
static rd_expr *two_tables(tile_memory *m)
{
    rd_expr *const at = leaf_of_indices(m, RD_I32, 700, 11);
    rd_expr *const x = nest_leaf(m, RD_F64, RD_SHAPE(11), ORDINARY), *const y = nest_leaf(
                                                                         m, RD_F64, RD_SHAPE(11),
                                                                         ORDINARY);

    return rd_add(rd_mul(rd_take(x, 0, at), rd_cast(at, RD_F64)), rd_take(y, 0, at));
}

/* An index that is looked up itself, and used beside. */
static rd_expr *index_of_table(tile_memory *m)
{
    rd_expr *const at    = leaf_of_indices(m, RD_U8, 700, 9);
    rd_expr *const other = nest_leaf_of(m, tile_indices(m, RD_I64, 9, 5), RD_SHAPE(9));
    rd_expr *const table = nest_leaf(m, RD_F32, RD_SHAPE(5), ORDINARY);
    rd_expr *const place = rd_take(other, 0, at);

    return rd_add(rd_take(table, 0, place), rd_add(rd_cast(place, RD_F32), rd_cast(at, RD_F32)));
}

static rd_expr *table_of_bytes(tile_memory *m)
{
    return rd_take(nest_leaf(m, RD_U8, RD_SHAPE(256), ORDINARY), 0,
                   leaf_of_indices(m, RD_U8, 5000, 256));
}

static rd_expr *masked(tile_memory *m)
{
    rd_expr *const at    = leaf_of_indices(m, RD_I8, 900, 6);
    rd_expr *const table = nest_leaf(m, RD_F32, RD_SHAPE(6), UGLY);

    return rd_sum(rd_take(table, 0, at), RD_ALL, .where = rd_ne(at, rd_int(ctx, 2)));
}

static const struct {
    const char *what, *call;
    form       *make;
} forms[] = {
    { "a row for each step", "rd_look_up_4_", rows_of_steps },
    { "a row for each index", "rd_look_up_4_uint8_t(", along_rows },
    { "a column", "rd_look_up_4_uint8_t(", column_of_table },
    { "two tables", "rd_look_up_8_int32_t(", two_tables },
    { "an index of a table", "rd_look_up_8_uint8_t(", index_of_table },
    { "bytes", "rd_look_up_1_uint8_t(", table_of_bytes },
    { "a masked sum", "rd_look_up_4_int8_t(", masked },
};

START_TEST(forms_of_lookups)
{
    tile_memory m    = { 0 };
    nest_batch  made = { 0 };

    snprintf(made.what, sizeof made.what, "%s", forms[_i].what);
    nest_add(&made, forms[_i].make(&m));
    nest_seen.words      = rd_cpu_vector() == 64 ? forms[_i].call : NULL;
    nest_seen.with_words = 0;
    nest_agree(&made, many_tasks, COUNT(many_tasks));
    ck_assert_msg(!nest_seen.words || nest_seen.with_words > 0, "%s: no lookup", forms[_i].what);
    nest_seen.words = NULL;
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { tables, 0, COUNT(extents) },           { tables_of_bytes, 0, COUNT(of_bytes) },
        { ranges_of_indices, 0, COUNT(ranges) }, { far_outside, 0, 10 },
        { forms_of_lookups, 0, COUNT(forms) },
    };

    return nest_suite("lookups", begin, cases, COUNT(cases));
}
