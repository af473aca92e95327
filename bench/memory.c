/* memory.c - inputs and outputs: huge pages, deterministic numbers. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { INPUTS = 3, SLOTS = 2 * MOST_RESULTS };
static const int64_t huge_page = 2 << 20;

typedef struct block {
    void   *data;
    int64_t bytes;
} block;

int bench_size(rd_dtype type)
{
    switch (type) {
    case RD_BOOL:
    case RD_I8:
    case RD_U8: return 1;
    case RD_I16:
    case RD_U16:
    case RD_F16:
    case RD_BF16: return 2;
    case RD_I32:
    case RD_U32:
    case RD_F32: return 4;
    case RD_C128: return 16;
    default: return 8;
    }
}

const char *bench_type_name(rd_dtype type)
{
    return type == RD_U8 ? "u8" : type == RD_F16 ? "f16" : type == RD_F32 ? "f32" : "f64";
}

/* Huge pages are asked for: with small ones page walks would be measured. */
void *bench_fresh(int64_t bytes)
{
    void *data;

    bytes = (bytes + huge_page) / huge_page * huge_page;
    data  = aligned_alloc((size_t)huge_page, (size_t)bytes);
    if (!data) {
        fprintf(stderr, "rdim-bench: no memory for %lld MiB\n", (long long)(bytes >> 20));
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(data, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return data;
}

/* Touched here, not while timing. */
static void need(block *b, int64_t bytes)
{
    if (b->bytes >= bytes)
        return;
    free(b->data);
    b->bytes = bytes;
    b->data  = bench_fresh(bytes);
    for (int64_t i = 0; i < bytes; i += 4096)
        ((char *)b->data)[i] = 1;
}

void *bench_output(int slot, int64_t bytes)
{
    static block blocks[SLOTS];

    need(&blocks[slot], bytes);
    return blocks[slot].data;
}

/* A hash of the index: the same numbers in every language that compares itself. */
static uint32_t hash(uint32_t i)
{
    uint32_t h = i * 0x9E3779B1U;

    h = (h ^ h >> 15) * 0x85EBCA6BU;
    h = (h ^ h >> 13) * 0xC2B2AE35U;
    return (h ^ h >> 16) >> 8;
}

/* n / 2048 as f16, which holds it. */
static uint16_t half_of(uint32_t n)
{
    const int top = n ? 31 - __builtin_clz(n) : -1;

    return n ? (uint16_t)((top + 4) << 10 | (n << (10 - top) & 0x3ff)) : 0;
}

/* A map of 90 x 180 cells, two degrees each: land is what lies in one of some discs, 40 % of it. */
enum { LATITUDES = 90, LONGITUDES = 180, DISCS = 16 };

static bool in_a_disc(int lat, int lon)
{
    for (uint32_t k = 0; k < DISCS; k++) {
        const int radius = 8 + (int)(hash(3 * k) % 14);
        const int up     = lat - (int)(hash(3 * k + 1) % LATITUDES);
        const int east   = abs(lon - (int)(hash(3 * k + 2) % LONGITUDES));
        const int across = east < LONGITUDES / 2 ? east : LONGITUDES - east;

        if (up * up + across * across < radius * radius)
            return true;
    }
    return false;
}

/* Of each element: does it lie on land, or is it one of the few that are missing elsewhere? */
static void fill_land(bool *land, int64_t n)
{
    static bool map[LATITUDES * LONGITUDES];

    for (int i = 0; i < LATITUDES * LONGITUDES; i++)
        map[i] = in_a_disc(i / LONGITUDES, i % LONGITUDES);
    for (int64_t i = 0; i < n; i++)
        land[i] = map[i % (LATITUDES * LONGITUDES)] || hash(0x30000000U + (uint32_t)i) % 1000 == 0;
}

static void fill(void *data, rd_dtype type, int64_t n, uint32_t start)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const uint32_t h = hash(start + (uint32_t)i);

        if (type == RD_U8)
            ((uint8_t *)data)[i] = (uint8_t)h;
        else if (type == RD_F16)
            ((uint16_t *)data)[i] = half_of(h >> 13);
        else if (type == RD_F32)
            ((float *)data)[i] = (float)h / 16777216;
        else
            ((double *)data)[i] = h / 16777216.0;
    }
}

/* Numbers become NaN on land, bools tell where it is not. */
static void cover(void *data, rd_dtype type, int64_t n)
{
    bool *land = malloc((size_t)n);

    if (!land)
        exit(1);
    fill_land(land, n);
    for (int64_t i = 0; i < n; i++)
        if (type == RD_BOOL)
            ((bool *)data)[i] = !land[i];
        else if (land[i] && type == RD_F32)
            ((float *)data)[i] = NAN;
        else if (land[i])
            ((double *)data)[i] = NAN;
    free(land);
}

static void fill_index(int64_t *data, int64_t n, uint32_t start, int64_t below)
{
    for (int64_t i = 0; i < n; i++)
        data[i] = hash(start + (uint32_t)i) % below;
}

rd_dtype bench_fill_type(bench_fill fill, rd_dtype type)
{
    return fill == FILL_SEA ? RD_BOOL : fill == FILL_INDEX ? RD_I64 : type;
}

const void *bench_filled(int which, bench_fill contents, int64_t below, rd_dtype type, int64_t n)
{
    static struct {
        block   memory;
        int64_t n, below;
    } inputs[INPUTS][8], *of;
    const uint32_t start = 0x10000000U * (uint32_t)which;
    const int      kind  = type == RD_U8 ? 2 : type == RD_F16 ? 3 : type == RD_F64;

    of = &inputs[which][contents == FILL_UNIFORM
                            ? kind
                            : 3 + (int)contents + (contents > FILL_CLIMATE || kind)];
    if (of->n >= n && (contents != FILL_INDEX || of->below == below))
        return of->memory.data;
    need(&of->memory, n * bench_size(type));
    if (contents == FILL_INDEX)
        fill_index(of->memory.data, n, start, below);
    else if (contents != FILL_SEA)
        fill(of->memory.data, type, n, start);
    if (contents == FILL_CLIMATE || contents == FILL_SEA)
        cover(of->memory.data, type, n);
    of->n     = n;
    of->below = below;
    return of->memory.data;
}

const void *bench_input(int which, rd_dtype type, int64_t n)
{
    return bench_filled(which, FILL_UNIFORM, 0, type, n);
}
