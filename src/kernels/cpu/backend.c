/* backend.c - the CPU backend: programs run on tiles, by the kernels of the best instruction set of
 * this machine, and what the tile machine cannot run by the reference executor, with the same bits.
 * Matrix products run by kernels of their own, or by BLAS where their bits may be its. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/blas.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/plan/plan.h"
#include "kernels/cpu/tile/run/tiles.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* For tests: what later plans run on, instead of what the machine and RDIM_ISA say. */
static const char *forced;

bool rd_cpu_force(const char *isa)
{
    forced = isa;
    return !isa || strcmp(isa, "scalar") == 0 || rd_simd_named(isa);
}

static const char *asked(void)
{
    return forced ? forced : getenv("RDIM_ISA");
}

static bool probe(void)
{
    return true;
}

static bool is_scalar(const char *isa)
{
    return isa && strcmp(isa, "scalar") == 0;
}

static bool multiplies(void)
{
    return rd_blas_name() && !is_scalar(asked());
}

static bool prepare(rd_program *p, rd_get_fn *get, void *pool)
{
    const char    *isa    = asked();
    const rd_simd *simd   = isa && rd_simd_named(isa) ? rd_simd_named(isa) : rd_simd_here();
    rd_tile_result result = RD_TILE_CANNOT;

    p->code    = NULL;
    p->product = NULL;
    if (!is_scalar(isa) && (!rd_product_prepare(p, simd, get, pool) || p->product))
        return p->product;
    if (!is_scalar(isa))
        result = rd_tile_prepare(p, simd, get, pool);
    return result == RD_TILE_CANNOT ? rd_backend_scalar.prepare(p, get, pool)
                                    : result == RD_TILE_OK;
}

static const char *kernels(void)
{
    const char    *isa  = asked();
    const rd_simd *simd = isa ? rd_simd_named(isa) : NULL;

    return is_scalar(isa) ? isa : simd ? simd->name : rd_simd_here()->name;
}

/* One kernel does all, head and tail included. */
static bool is_total(const rd_program *p)
{
    return p->code && ((const rd_tile_code *)p->code)->total;
}

static void head(const rd_program *p, rd_task *task)
{
    if (p->product || is_total(p))
        return;
    if (p->code)
        rd_tiles_run(rd_tiles_new(p, task->state), task, 0, p->body);
    else
        rd_backend_scalar.head(p, task);
}

static void body(const rd_program *p, rd_task *task)
{
    if (p->product)
        rd_product_run(p->product, task);
    else if (is_total(p))
        rd_tile_run_total(p, task);
    else if (p->code)
        rd_tiles_run((rd_tiles *)(void *)task->state, task, p->body, p->tail);
    else
        rd_backend_scalar.body(p, task);
}

/* Only folds that tasks share have begun in the head, and have something to join. */
static void join(const rd_program *p, rd_task *into, const rd_task *next)
{
    const rd_tile_code *code = p->code;

    if (p->product || is_total(p))
        return;
    if (!code) {
        rd_backend_scalar.join(p, into, next);
        return;
    }
    if (into->status != RD_OK || next->status != RD_OK)
        return;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].split)
            rd_tiles_join(&code->fold[k], ((rd_tiles *)(void *)into->state)->fold[k],
                          ((rd_tiles *)(void *)next->state)->fold[k]);
}

static void tail(const rd_program *p, rd_task *task)
{
    if (p->product || is_total(p))
        return;
    if (p->code)
        rd_tiles_run((rd_tiles *)(void *)task->state, task, p->tail, p->n_inst);
    else
        rd_backend_scalar.tail(p, task);
}

/* ---- In words -------------------------------------------------------------------------------- */
static void passes_text(rd_text *text, const rd_program *p, int32_t n)
{
    const rd_tier_stats all    = rd_tier_stats_now();
    int32_t             wanted = 0, here = 0;

    for (int32_t s = 0; s < n; s++) {
        const rd_tile_code *code = p[s].code;

        for (int32_t k = 0; code && k < code->n_pass; k++) {
            wanted++;
            here += rd_pass_kernels(code->pass[k]->code) != NULL;
        }
    }
    rd_text_add(text, "tier: %s", here ? "1 and 0" : "0");
    if (wanted)
        rd_text_add(text,
                    ", %" PRId32 " of %" PRId32 " passes compiled (this process: %" PRId64
                    " in %.0f ms, %" PRId64 " from the store, %" PRId64 " failed)",
                    here, wanted, all.compiled, all.seconds * 1e3, all.stored, all.failed);
}

static bool one_by_one(const rd_program *p)
{
    return !p->code && !p->product;
}

/* Stages run on tiles, by vectors; those that cannot, one element at a time. */
static void tiers(rd_text *text, const rd_program *p, int32_t n)
{
    int32_t scalar = 0;

    for (int32_t s = 0; s < n; s++)
        scalar += one_by_one(&p[s]);
    passes_text(text, p, n);
    rd_text_add(text, ", %s", scalar && scalar == n ? "scalar" : "tiles");
    for (int32_t s = 0, listed = 0; scalar < n && s < n; s++)
        if (one_by_one(&p[s]))
            rd_text_add(text, "%s %" PRId32, listed++ ? "," : ", scalar in stage", s);
}

static const char *library(const rd_program *p)
{
    return p->product ? rd_product_by(p->product) : NULL;
}

const rd_backend_table rd_backend_cpu = { .name       = "cpu",
                                          .probe      = probe,
                                          .prepare    = prepare,
                                          .head       = head,
                                          .body       = body,
                                          .join       = join,
                                          .tail       = tail,
                                          .kernels    = kernels,
                                          .tiers      = tiers,
                                          .library    = library,
                                          .multiplies = multiplies };
