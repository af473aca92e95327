/* test_tiles.c - what the tile machine computes element by element: every operator, cast, load and
 * store, in every form and type, by every set of kernels, against the scalar interpreter. */
#include "tiles.h"
#include "isa.h"
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static const rd_dtype types[] = {
    RD_F32, RD_F64, RD_BOOL, RD_I8,  RD_I16, RD_I32,  RD_I64,
    RD_U8,  RD_U16, RD_U32,  RD_U64, RD_F16, RD_BF16,
};
enum { N_TYPES = sizeof types / sizeof *types };

/* One element; a row across tiles; several rows in a tile; tiny rows. */
static const struct shape {
    int64_t rows, cols;
} shapes[] = { { 1, 1 }, { 2, 2311 }, { 7, 67 }, { 130, 5 }, { 1100, 1 } };

/* Where elements of a matrix lie: dense, every third, from the last to the first, rows in
 * columns. */
typedef enum layout { DENSE, APART, BACKWARDS, TRANSPOSED, N_LAYOUTS } layout;

static int64_t room(struct shape s, layout l)
{
    return s.rows * s.cols * (l == APART ? 3 : 1);
}

static void place(struct shape s, layout l, int64_t *row, int64_t *col, int64_t *offset)
{
    *row    = l == APART ? 3 * s.cols : l == BACKWARDS ? -s.cols : l == TRANSPOSED ? 1 : s.cols;
    *col    = l == APART ? 3 : l == BACKWARDS ? -1 : l == TRANSPOSED ? s.rows : 1;
    *offset = l == BACKWARDS ? s.rows * s.cols - 1 : 0;
}

static void load(builder *b, int32_t dst, int32_t slot, rd_dtype type, struct shape s, layout l)
{
    int64_t row, col, offset;

    place(s, l, &row, &col, &offset);
    builder_load_2(b, dst, slot, type, row, col, offset);
}

static void store(builder *b, int32_t a, int32_t slot, rd_dtype type, struct shape s, layout l)
{
    int64_t row, col, offset;

    place(s, l, &row, &col, &offset);
    builder_store_2(b, a, slot, type, row, col, offset);
}

/* ---- Operands: a matrix, one element for a row, one for all ---------------------------------- */
typedef enum form { MATRIX, ROW, ONE, N_FORMS } form;

/* `inst` on operands of these types and forms in registers 0, 1, 2; its result, register 3, goes to
 * a slot, and as f64, for which it must be of its type before it is stored, to another one. */
static void agree(rd_inst inst, int arity, const rd_dtype *in, rd_dtype out, int forms,
                  struct shape s, layout l, const char *name)
{
    const int64_t extent[] = { s.rows, s.cols };
    static int    turn;
    const bool    used = turn++ % 2 || (inst.kind != RD_I_MAP && inst.kind != RD_I_CAST);
    tile_memory   m    = { 0 };
    form          of[3];
    char          what[120];
    builder       b;

    for (int k = 0; k < 3; k++, forms /= N_FORMS)
        of[k] = (form)(forms % N_FORMS);
    builder_init(&b, 2, extent);
    b.p.root = 0;
    for (int k = 0; k < arity; k++)
        if (tile_slot(&m, in[k], room(s, l), UGLY) == k && of[k] == ONE)
            builder_load_2(&b, k, k, in[k], 0, 0, room(s, l) / 2);
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    for (int k = 0; k < arity; k++)
        if (of[k] == ROW)
            builder_load_2(&b, k, k, in[k], s.cols, 0, 0);
    builder_loop(&b, (rd_loop){ .axis = 1 });
    for (int k = 0; k < arity; k++)
        if (of[k] == MATRIX)
            load(&b, k, k, in[k], s, l);
    inst.dst = 3;
    inst.b   = arity > 1 ? 1 : -1;
    inst.c   = arity > 2 ? 2 : -1;
    builder_add(&b, inst);
    store(&b, 3, tile_slot(&m, out, room(s, l), ORDINARY), out, s, l);
    if (used) {
        builder_add(&b, (rd_inst){ .kind = RD_I_CAST,
                                   .type = RD_F64,
                                   .from = out,
                                   .dst  = 4,
                                   .a    = 3,
                                   .b    = -1,
                                   .c    = -1 });
        store(&b, 4, tile_slot(&m, RD_F64, room(s, l), ORDINARY), RD_F64, s, l);
    }
    builder_end(&b);
    builder_end(&b);
    snprintf(what, sizeof what, "%s of %s to %s, forms %d%d%d, %d x %d, layout %d", name,
             rd_dtype_name(in[arity - 1]), rd_dtype_name(out), (int)of[0], (int)of[1], (int)of[2],
             (int)s.rows, (int)s.cols, (int)l);
    tile_agree(&b, &m, NULL, 0, true, what);
    tile_free(&m);
}

/* All forms, each at some shapes and layouts, in turn. */
static void agree_in_all_forms(rd_inst inst, int arity, const rd_dtype *in, rd_dtype out,
                               const char *name)
{
    static int turn;
    const int  all = arity == 1   ? N_FORMS
                     : arity == 2 ? N_FORMS * N_FORMS
                                  : N_FORMS * N_FORMS * N_FORMS;

    for (int forms = 0; forms < all; forms++)
        for (int k = 0; k < COUNT(shapes); k++)
            agree(inst, arity, in, out, forms, shapes[k],
                  k % 2 ? (layout)(turn++ % N_LAYOUTS) : DENSE, name);
}

/* ---- Operators ------------------------------------------------------------------------------- */
static bool has(rd_rule rule, rd_dtype type)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    switch (rule) {
    case RD_RULE_ARITH: return type != RD_BOOL;
    case RD_RULE_FLOAT:
    case RD_RULE_ROUND: return real;
    case RD_RULE_LOGIC: return type == RD_BOOL;
    case RD_RULE_BITS: return !real;
    case RD_RULE_INTS: return !real && type != RD_BOOL;
    case RD_RULE_COUNT: return type == RD_BOOL || rd_dtype_kind(type) == RD_KIND_UINT;
    case RD_RULE_SAME:
    case RD_RULE_COMPARE:
    case RD_RULE_TEST: return true;
    default: return false;
    }
}

START_TEST(operators)
{
    const rd_op      op   = (rd_op)_i;
    const rd_op_info info = rd_op_table[op];
    const bool       test = info.rule == RD_RULE_COMPARE || info.rule == RD_RULE_TEST;

    for (int type = SANITIZED ? _i % 3 : 0; type < N_TYPES; type += SANITIZED ? 3 : 1) {
        const rd_dtype in[3] = { types[type], types[type], types[type] },
                       out   = test ? RD_BOOL : in[0];

        if (has(info.rule, in[0]))
            agree_in_all_forms((rd_inst){ .kind = RD_I_MAP, .type = out, .from = in[0], .op = op },
                               info.arity, in, out, info.name);
    }
}
END_TEST

START_TEST(choice)
{
    const rd_dtype in[3] = { RD_BOOL, types[_i], types[_i] };

    agree_in_all_forms((rd_inst){ .kind = RD_I_SELECT, .type = in[1] }, 3, in, in[1], "where");
}
END_TEST

START_TEST(casts)
{
    for (int from = 0; from < N_TYPES; from++) {
        const rd_dtype in[3] = { types[from], RD_F32, RD_F32 };

        agree_in_all_forms((rd_inst){ .kind = RD_I_CAST, .type = types[_i], .from = in[0] }, 1, in,
                           types[_i], "cast");
    }
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Loads and stores of every layout, bytes of a bool other than 0 and 1 among them. */
START_TEST(copies)
{
    const rd_dtype type = types[_i];

    for (int k = 0; k < COUNT(shapes) * N_LAYOUTS * N_LAYOUTS; k++) {
        const struct shape s    = shapes[k % COUNT(shapes)];
        const layout       from = (layout)(k / COUNT(shapes) % N_LAYOUTS),
                     to         = (layout)(k / COUNT(shapes) / N_LAYOUTS);
        const int64_t extent[]  = { s.rows, s.cols };
        tile_memory   m         = { 0 };
        char          what[80];
        builder       b;

        tile_slot(&m, type, room(s, from), UGLY);
        tile_slot(&m, type, room(s, to), ORDINARY);
        for (int64_t i = 0; type == RD_BOOL && i < m.slot[0].n; i++)
            m.slot[0].before[i] = (char)(m.slot[0].before[i] * (i % 100 + 1));
        builder_init(&b, 2, extent);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_loop(&b, (rd_loop){ .axis = 1, .backwards = k % 3 == 0 });
        load(&b, 0, 0, type, s, from);
        store(&b, 0, 1, type, s, to);
        builder_end(&b);
        builder_end(&b);
        snprintf(what, sizeof what, "%s, %d x %d, layout %d to %d", rd_dtype_name(type),
                 (int)s.rows, (int)s.cols, (int)from, (int)to);
        tile_agree(&b, &m, NULL, 0, true, what);
        tile_free(&m);
    }
}
END_TEST

/* Where the elements of a matrix of `rows` rows lie if rows are neighbours: dense, apart, and one
 * or both backwards. */
enum { ACROSS = 5 };
static void across(struct shape s, int how, int64_t *row, int64_t *col, int64_t *offset)
{
    const int64_t pitch = how == 1 ? s.rows + 5 : s.rows;

    *row = how == 2 || how == 3 ? -1 : 1;
    *col = how >= 3 ? -pitch : pitch;
    *offset =
        (how == 1 ? 3 : 0) + (*row < 0 ? s.rows - 1 : 0) + (*col < 0 ? (s.cols - 1) * pitch : 0);
}

/* z = max(x, y), and a copy of y, where x lies row by row and the others by columns. */
START_TEST(squares)
{
    static const struct shape sides[] = { { 1, 70 },   { 2, 2 },    { 64, 64 },
                                          { 65, 129 }, { 200, 70 }, { 3, 700 },
                                          { 700, 3 },  { 31, 16 },  { 16, 1300 } };
    const rd_dtype            type    = types[_i];

    for (int k = 0; k < COUNT(sides) * ACROSS * (ACROSS + 1); k++) {
        const struct shape s    = sides[k % COUNT(sides)];
        const int          from = k / COUNT(sides) % ACROSS, to = k / COUNT(sides) / ACROSS;
        const int64_t      extent[] = { s.rows, s.cols }, room = (s.rows + 5) * s.cols + 3;
        int64_t            row, col, offset;
        tile_memory        m = { 0 };
        char               what[80];
        builder            b;

        tile_slot(&m, type, s.rows * s.cols, UGLY);
        tile_slot(&m, type, room, UGLY);
        tile_slot(&m, type, room, ORDINARY);
        tile_slot(&m, type, s.rows * s.cols, ORDINARY);
        builder_init(&b, 2, extent);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_loop(&b, (rd_loop){ .axis = 1, .backwards = k % 7 == 0 });
        builder_load_2(&b, 0, 0, type, s.cols, 1, 0);
        across(s, from, &row, &col, &offset);
        builder_load_2(&b, 1, 1, type, row, col, offset);
        builder_add(
            &b,
            (rd_inst){
                .kind = RD_I_MAP, .type = type, .op = RD_OP_maximum, .dst = 2, .a = 0, .b = 1 });
        if (to < ACROSS) {
            across(s, to, &row, &col, &offset);
            builder_store_2(&b, 2, 2, type, row, col, offset);
        }
        builder_store_2(&b, 1, 3, type, s.cols, 1, 0);
        builder_end(&b);
        builder_end(&b);
        snprintf(what, sizeof what, "%s, %d x %d, across %d to %d", rd_dtype_name(type),
                 (int)s.rows, (int)s.cols, from, to);
        tile_agree(&b, &m, NULL, 0, true, what);
        tile_free(&m);
    }
}
END_TEST

/* y[p[i, j]] = x[p[i, j] + j], and the position itself: indices in registers of loads, stores and
 * coordinates. */
START_TEST(gathers)
{
    const rd_dtype type = types[_i];

    for (int k = 0; k < COUNT(shapes); k++) {
        const struct shape s        = shapes[k];
        const int64_t      extent[] = { s.rows, s.cols }, n = 300;
        tile_memory        m = { 0 };
        builder            b;

        tile_slot(&m, type, n + s.cols, UGLY);
        tile_indices(&m, RD_U16, s.rows * s.cols, n);
        tile_slot(&m, type, n, ORDINARY);
        tile_slot(&m, RD_I64, s.rows * s.cols, ORDINARY);
        builder_init(&b, 2, extent);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_loop(&b, (rd_loop){ .axis = 1 });
        builder_load_2(&b, 0, 1, RD_U16, s.cols, 1, 0);
        builder_add(
            &b, (rd_inst){
                    .kind = RD_I_INDEX, .type = RD_I64, .from = RD_U16, .dst = 1, .value.i64 = n });
        builder_load_2(&b, 2, 0, type, 0, 1, 0);
        b.address[1].add[b.address[1].n_add++] = (rd_addend){ .axis = -1, .reg = 1, .coef = 1 };
        builder_store_2(&b, 2, 2, type, 0, 0, 0);
        b.address[2].add[b.address[2].n_add++] = (rd_addend){ .axis = -1, .reg = 1, .coef = 1 };
        builder_add(&b, (rd_inst){ .kind = RD_I_COORD, .type = RD_I64, .dst = 3, .arg = 1 });
        builder_store_2(&b, 3, 3, RD_I64, s.cols, 1, 0);
        builder_end(&b);
        builder_end(&b);
        tile_agree(&b, &m, NULL, 0, true, rd_dtype_name(type));
        tile_free(&m);
    }
}
END_TEST

/* ---- In place -------------------------------------------------------------------------------- */
/* x = -x while -x and x are still to be used: y = -x * x, z = x. */
START_TEST(in_place)
{
    for (int k = 0; k < COUNT(shapes) * N_LAYOUTS && types[_i] != RD_BOOL; k++) {
        const struct shape s        = shapes[k % COUNT(shapes)];
        const layout       l        = (layout)(k / COUNT(shapes));
        const int64_t      extent[] = { s.rows, s.cols };
        const rd_dtype     type     = types[_i];
        tile_memory        m        = { 0 };
        char               what[80];
        builder            b;

        for (int slot = 0; slot < 3; slot++)
            tile_slot(&m, type, room(s, l), UGLY);
        builder_init(&b, 2, extent);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_loop(&b, (rd_loop){ .axis = 1 });
        load(&b, 0, 0, type, s, l);
        builder_add(&b,
                    (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_neg, .dst = 1, .a = 0 });
        store(&b, 1, 0, type, s, l);
        builder_add(
            &b,
            (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_mul, .dst = 2, .a = 1, .b = 0 });
        store(&b, 2, 1, type, s, l);
        store(&b, 0, 2, type, s, l);
        builder_end(&b);
        builder_end(&b);
        snprintf(what, sizeof what, "%s, %d x %d, layout %d", rd_dtype_name(type), (int)s.rows,
                 (int)s.cols, (int)l);
        tile_agree(&b, &m, NULL, 0, true, what);
        tile_free(&m);
    }
}
END_TEST

/* ---- Results larger than the caches, which are stored past them ------------------------------ */
/* y = x * x from the second element on, so that no line of it is aligned; and x = -x, or z = -x,
 * both in columns. */
static const struct {
    rd_dtype     type;
    struct shape shape;
    bool         across;
} large_cases[] = {
    { RD_F32, { 1, 4200003 }, false }, { RD_F32, { 2049, 2051 }, false },
    { RD_F64, { 300001, 7 }, false },  { RD_I64, { 70, 30011 }, false },
    { RD_I32, { 2049, 2051 }, false }, { RD_F32, { 2049, 2051 }, true },
    { RD_F64, { 130, 20011 }, true },  { RD_I32, { 2049, 2051 }, true },
    { RD_F16, { 2050, 4099 }, false }, { RD_U8, { 3, 6000001 }, false },
};
START_TEST(large_results)
{
    const struct shape s        = large_cases[_i].shape;
    const bool         turned   = large_cases[_i].across;
    const int64_t      extent[] = { s.rows, s.cols };
    const rd_dtype     type     = large_cases[_i].type;
    tile_memory        m        = { 0 };
    builder            b;

    tile_slot(&m, type, s.rows * s.cols, UGLY);
    tile_slot(&m, type, s.rows * s.cols + 2, ORDINARY);
    tile_slot(&m, type, s.rows * s.cols, ORDINARY);
    builder_init(&b, 2, extent);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, type, turned ? 1 : s.cols, turned ? s.rows : 1, 0);
    builder_add(&b,
                (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_square, .dst = 1, .a = 0 });
    builder_add(&b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_neg, .dst = 2, .a = 0 });
    builder_store_2(&b, 2, turned ? 2 : 0, type, turned ? 1 : s.cols, turned ? s.rows : 1, 0);
    builder_store_2(&b, 1, 1, type, s.cols, 1, 1);
    builder_end(&b);
    builder_end(&b);
    tile_agree(&b, &m, NULL, 0, true, rd_dtype_name(type));
    tile_free(&m);
}
END_TEST

/* y = x, which lies by columns, forwards or backwards; lines of y are aligned or not, and do not
 * end where y does. */
static const struct {
    rd_dtype     type;
    struct shape shape;
    bool         aligned, backwards;
} large_copies[] = {
    { RD_F32, { 130, 32779 }, true, false },  { RD_F32, { 130, 32779 }, true, true },
    { RD_F32, { 130, 32779 }, false, false }, { RD_F64, { 70, 30011 }, true, false },
    { RD_U32, { 9, 466049 }, true, false },   { RD_I16, { 129, 65100 }, true, true },
    { RD_U8, { 300, 56001 }, false, false },  { RD_BOOL, { 300, 56001 }, true, false },
};
START_TEST(large_moves)
{
    const struct shape s        = large_copies[_i].shape;
    const bool         back     = large_copies[_i].backwards;
    const rd_dtype     type     = large_copies[_i].type;
    const int64_t      extent[] = { s.rows, s.cols }, size = rd_dtype_size(type), line = 64 / size;
    const int64_t      pitch = (s.cols + line - 1) / line * line, room = s.rows * pitch + 2 * line;
    tile_memory        m = { 0 };
    int64_t            offset;
    builder            b;

    tile_slot(&m, type, s.rows * s.cols, UGLY);
    offset = (int64_t)(-(uintptr_t)m.slot[tile_slot(&m, type, room, ORDINARY)].data & 63) / size;
    builder_init(&b, 2, extent);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, type, back ? -1 : 1, s.rows, back ? s.rows - 1 : 0);
    builder_store_2(&b, 0, 1, type, pitch, 1, offset + !large_copies[_i].aligned);
    builder_end(&b);
    builder_end(&b);
    tile_agree(&b, &m, NULL, 0, true, rd_dtype_name(type));
    tile_free(&m);
}
END_TEST

/* ---- Ints by one number ----------------------------------------------------------------------- */
/* Floor and remainder of Python's, by C's division. */
static void divided(int64_t a, int64_t b, int64_t *floor, int64_t *rest)
{
    *rest = a % b;
    if (*rest && (*rest < 0) != (b < 0))
        *rest += b;
    *floor = (a - *rest) / b;
}

/* Tiles divide by one number in double where all elements are within 2^51: multiples and their neighbours up to there, and
 * one element beyond, which has them divided as ints. */
START_TEST(ints_by_one_number)
{
    enum { N = 4000 };
    static const int64_t by[] = {
        1,  2, 3, 7, 10, 24, 1000, 86400, 0x7fffffff, (INT64_C(1) << 51) - 1, INT64_C(1) << 51,
        -1, -7
    };
    static const rd_dtype ints[] = { RD_I64, RD_U64, RD_I32 };
    static int64_t        x[N];
    int64_t               got[2][N], floor, rest;
    rd_ctx *const         c = rd_ctx_new(NULL);

    rd_tier_force("off");
    for (int isa = 0; isa < isa_count(); isa++)
        for (int k = 0; k < COUNT(by) * 3 * 2; k++) {
            const int64_t  b    = by[k % COUNT(by)];
            const rd_dtype type = ints[k / COUNT(by) % 3];
            const rd_mark  mark = rd_ctx_mark(c);
            const int64_t  most = type == RD_I32 ? INT32_MAX : (INT64_C(1) << 51) - 1;

            if ((b < 0 && type == RD_U64) || (b > INT32_MAX && type == RD_I32))
                continue;
            for (int i = 0; i < N; i++) {
                x[i] = (int64_t)((uint64_t)i * UINT64_C(0x9E3779B97F4A7C15) >> (13 + i % 50));
                x[i] = x[i] % most / b * b + i % 3 - 1;
                x[i] = type == RD_U64 ? llabs(x[i]) : i % 2 ? -x[i] : x[i];
            }
            x[0]             = most;
            x[1]             = type == RD_U64 ? 0 : -most - 1;
            x[N - 1]         = k >= COUNT(by) * 3 ? (type == RD_I32 ? INT32_MIN : INT64_MAX) : 5;
            rd_expr *const e = rd_cast(rd_wrap(c, x, RD_SHAPE(N)), type);

            isa_begin(c, isa);
            ck_assert_int_eq(rd_eval(c, rd_cast(rd_floordiv(e, rd_int(c, b)), RD_I64),
                                     RD_INTO(got[0], RD_SHAPE(N))),
                             RD_OK);
            ck_assert_int_eq(rd_eval(c, rd_cast(rd_remainder(e, rd_int(c, b)), RD_I64),
                                     RD_INTO(got[1], RD_SHAPE(N))),
                             RD_OK);
            isa_end(c);
            for (int i = 0; i < N; i++) {
                divided(x[i], b, &floor, &rest);
                if (type == RD_I32)
                    floor = (int32_t)floor; /* INT32_MIN by -1 */
                ck_assert_msg(got[0][i] == floor && got[1][i] == rest,
                              "%s, %s: %lld by %lld: %lld, %lld", isa_name(isa),
                              rd_dtype_name(type), (long long)x[i], (long long)b,
                              (long long)got[0][i], (long long)got[1][i]);
            }
            ck_assert(rd_ctx_release(c, mark) == RD_OK);
        }
    rd_ctx_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *tests = tcase_create("elements");

    tcase_add_loop_test(tests, operators, 0, RD_OP_where);
    tcase_add_loop_test(tests, choice, 0, N_TYPES);
    tcase_add_loop_test(tests, casts, 0, N_TYPES);
    tcase_add_loop_test(tests, copies, 0, N_TYPES);
    tcase_add_loop_test(tests, squares, 0, N_TYPES);
    tcase_add_loop_test(tests, gathers, 0, N_TYPES);
    tcase_add_loop_test(tests, in_place, 0, N_TYPES);
    tcase_add_test(tests, ints_by_one_number);
    tcase_add_loop_test(tests, large_results, 0, COUNT(large_cases));
    tcase_add_loop_test(tests, large_moves, 0, COUNT(large_copies));
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
