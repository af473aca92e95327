/* tiles.c - programs run by every interpreter of this machine. */
#include "tiles.h"
#include "kernels/cpu/cpu.h"
#include "suite.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 11;
}

/* ---- Data ------------------------------------------------------------------------------------ */
static double ugly_float(rd_dtype type)
{
    const bool   wide   = type == RD_F64;
    const double list[] = { NAN,
                            INFINITY,
                            -INFINITY,
                            -0.0,
                            0.0,
                            0.5,
                            -1.5,
                            2.5,
                            wide ? DBL_TRUE_MIN : FLT_TRUE_MIN,
                            wide ? DBL_MAX : FLT_MAX,
                            wide ? -DBL_MIN : -FLT_MIN,
                            -0x1p63,
                            0x1p64,
                            -1e10,
                            255.75,
                            -32769.5,
                            -NAN,
                            65504, /* the largest f16; what rounds to it, and to infinity */
                            65519.99,
                            -65520,
                            0x1p-24, /* the smallest; what rounds to it, and to 0 */
                            0x1.000001p-25,
                            -0x1p-25,
                            0x1.fep127, /* the largest bf16 */
                            0x1.ffp127,
                            1 + 0x1p-11, /* ties, and what is just above one */
                            1 + 0x1p-8 + 0x1p-40,
                            -1 - 0x1p-11 - 0x1p-50 };

    return list[next() % (sizeof list / sizeof *list)];
}

static uint64_t ugly_int(void)
{
    const uint64_t near = next() % 5 - 2;

    switch (next() % 4) {
    case 0: return near;
    case 1: return near + ((uint64_t)1 << next() % 64);
    case 2: return near - ((uint64_t)1 << next() % 64);
    default: return next() * next();
    }
}

static rd_word element(rd_dtype type, tile_data data)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    switch (data) {
    case FLAGS: return rd_word_from_int((int64_t)(next() % 2), type);
    case RARE: return rd_word_from_int(next() % 3000 == 0, type);
    case UGLY:
        if (next() % 3 == 0)
            return real ? rd_word_from_double(ugly_float(type), type)
                        : rd_word_convert((rd_word){ .u64 = ugly_int() }, RD_U64, type);
        break;
    case ORDINARY: break;
    }
    if (real)
        return rd_word_from_double(((double)(next() % 2000001) - 1e6) * 0x1p-19, type);
    return rd_word_from_int((int64_t)(next() % 9) - (rd_dtype_kind(type) == RD_KIND_INT ? 4 : 0),
                            type);
}

static int32_t new_slot(tile_memory *m, rd_dtype type, int64_t n)
{
    const int32_t k     = m->n++;
    const size_t  bytes = (size_t)n * (size_t)rd_dtype_size(type) + 1;

    ck_assert_int_le(m->n, TILE_SLOTS);
    m->slot[k].type   = type;
    m->slot[k].n      = n;
    m->slot[k].data   = calloc(bytes, 1);
    m->slot[k].before = calloc(bytes, 1);
    m->slot[k].want   = calloc(bytes, 1);
    return k;
}

int32_t tile_slot(tile_memory *m, rd_dtype type, int64_t n, tile_data data)
{
    const int32_t k = new_slot(m, type, n);

    for (int64_t i = 0; i < n; i++)
        rd_word_store(m->slot[k].before + i * rd_dtype_size(type), type, element(type, data));
    return k;
}

int32_t tile_indices(tile_memory *m, rd_dtype type, int64_t count, int64_t n)
{
    const int32_t k = new_slot(m, type, count);

    for (int64_t i = 0; i < count; i++)
        rd_word_store(m->slot[k].before + i * rd_dtype_size(type), type,
                      rd_word_from_int((int64_t)(next() % (uint64_t)n), type));
    return k;
}

void tile_free(tile_memory *m)
{
    for (int k = 0; k < m->n; k++) {
        free(m->slot[k].data);
        free(m->slot[k].before);
        free(m->slot[k].want);
    }
    m->n = 0;
}

/* ---- Runs ------------------------------------------------------------------------------------ */
static size_t bytes_of(const tile_memory *m, int k)
{
    return (size_t)m->slot[k].n * (size_t)rd_dtype_size(m->slot[k].type);
}

static rd_task run(builder *b, const tile_memory *m, const int64_t *cut, int32_t tasks)
{
    void *slot[TILE_SLOTS] = { NULL };

    for (int k = 0; k < m->n; k++) {
        memcpy(m->slot[k].data, m->slot[k].before, bytes_of(m, k));
        slot[k] = m->slot[k].data;
    }
    return tasks ? run_tasks(builder_done(b), slot, cut, tasks)
                 : run_program(builder_done(b), slot);
}

static bool same(rd_dtype type, const char *a, const char *b)
{
    return memcmp(a, b, (size_t)rd_dtype_size(type)) == 0 ||
           (isnan(rd_word_to_double(rd_word_load(a, type), type)) &&
            isnan(rd_word_to_double(rd_word_load(b, type), type)));
}

static void compare(const tile_memory *m, int isa, const char *what)
{
    for (int k = 0; k < m->n; k++) {
        const rd_dtype type = m->slot[k].type;

        if (memcmp(m->slot[k].data, m->slot[k].want, bytes_of(m, k)) == 0)
            continue;
        for (int64_t i = 0; i < m->slot[k].n; i++) {
            const char *found = m->slot[k].data + i * rd_dtype_size(type);
            const char *want  = m->slot[k].want + i * rd_dtype_size(type);
            ck_assert_msg(same(type, found, want),
                          "%s, %s: slot %d, element %d of %d is %.17g, not %.17g", what,
                          isa_name(isa), k, (int)i, (int)m->slot[k].n,
                          rd_word_to_double(rd_word_load(found, type), type),
                          rd_word_to_double(rd_word_load(want, type), type));
        }
    }
}

void tile_agree(builder *b, tile_memory *m, const int64_t *cut, int32_t tasks, bool on_tiles,
                const char *what)
{
    rd_task want;

    rd_cpu_force(isa_name(ISA_SCALAR));
    want = run(b, m, cut, tasks);
    for (int k = 0; k < m->n; k++)
        memcpy(m->slot[k].want, m->slot[k].data, bytes_of(m, k));
    for (int isa = 1; isa < isa_count(); isa++) {
        const int64_t before = runs_so_far.tiles;
        rd_task       found;

        rd_cpu_force(isa_name(isa));
        found = run(b, m, cut, tasks);
        ck_assert_msg(found.status == want.status && strcmp(found.sentence, want.sentence) == 0,
                      "%s, %s: %s, not %s", what, isa_name(isa), found.sentence, want.sentence);
        ck_assert_msg(found.warnings == want.warnings, "%s, %s: warnings %x, not %x", what,
                      isa_name(isa), found.warnings, want.warnings);
        ck_assert_msg(!on_tiles || runs_so_far.tiles > before, "%s: does not run on tiles", what);
        if (want.status == RD_OK)
            compare(m, isa, what);
    }
}
