/* memory.c - inputs and outputs: huge pages, deterministic numbers. */
#include "bench.h"
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
    default: return 8;
    }
}

const char *bench_type_name(rd_dtype type)
{
    return type == RD_U8 ? "u8" : type == RD_F16 ? "f16" : type == RD_F32 ? "f32" : "f64";
}

/* Huge pages are asked for: with small ones page walks would be measured.  Touched here, not while
 * timing. */
static void need(block *b, int64_t bytes)
{
    bytes = (bytes + huge_page) / huge_page * huge_page;
    if (b->bytes >= bytes)
        return;
    free(b->data);
    b->bytes = bytes;
    b->data  = aligned_alloc((size_t)huge_page, (size_t)bytes);
    if (!b->data) {
        fprintf(stderr, "rdim-bench: no memory for %lld MiB\n", (long long)(bytes >> 20));
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(b->data, (size_t)bytes, MADV_HUGEPAGE);
#endif
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

const void *bench_input(int which, rd_dtype type, int64_t n)
{
    static struct {
        block   memory;
        int64_t n;
    } inputs[INPUTS][4];
    const int kind = type == RD_U8 ? 2 : type == RD_F16 ? 3 : type == RD_F64;

    if (inputs[which][kind].n < n) {
        need(&inputs[which][kind].memory, n * bench_size(type));
        fill(inputs[which][kind].memory.data, type, n, 0x10000000U * (uint32_t)which);
        inputs[which][kind].n = n;
    }
    return inputs[which][kind].memory.data;
}
