/* backend.c - the CPU backend: programs run on tiles, by the kernels of the best instruction set of
 * this machine, and what the tile machine cannot run by the reference executor, with the same bits.
 * Matrix products run by kernels of their own, or by BLAS where their bits may be its. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/codegen/codegen.h"
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

/* Along the innermost loops of more indices than this, rows are long. */
enum { LONG = 256 };

static bool in_long_rows(const rd_program *p, int32_t i)
{
    const int32_t loop = rd_loop_around(p, i);

    return loop >= 0 && p->axis_extent[p->loop[loop].axis] >= LONG && !p->loop[loop].backwards;
}

/* Floats side by side, or one for all of a row? */
static bool is_row(const rd_program *p, int32_t i)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    const int32_t     loop = rd_loop_around(p, i);
    int64_t           coef = 0;

    for (int32_t k = 0; loop >= 0 && k < at->n_add; k++) {
        if (at->add[k].axis < 0)
            return false;
        coef += at->add[k].axis == p->loop[loop].axis ? at->add[k].coef : 0;
    }
    return (at->type == RD_F32 || at->type == RD_F64) && (coef == 0 || coef == 1);
}

/* Folds of long rows of floats, with what is computed from them: kernels, and passes that keep what they fold in registers,
 * are faster than nests yet. */
static bool folds_rows(const rd_program *p)
{
    int32_t steps = 0;

    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_STEP && (inst->c >= 0 || !in_long_rows(p, i) ||
                                        rd_dtype_kind(p->fold[inst->arg].type) != RD_KIND_FLOAT))
            return false;
        if (inst->kind == RD_I_LOAD && !is_row(p, i))
            return false;
        steps += inst->kind == RD_I_STEP;
    }
    return steps > 0;
}

/* Exponentials of steps are taken by strips there, and not yet in nests. */
static bool folds_exponentials(const rd_program *p)
{
    bool found = false;

    for (int32_t i = p->body; i < p->tail; i++)
        found |= p->inst[i].kind == RD_I_STEP && p->inst[i].c < 0 &&
                 (p->fold[p->inst[i].arg].reducer == RD_RED_logsumexp ||
                  p->fold[p->inst[i].arg].reducer == RD_RED_maxsumexp);
    return found;
}

static bool turns_operands(const rd_program *p, const rd_tile_code *code)
{
    bool found = code->square;

    for (int32_t i = 0; i < p->n_inst; i++)
        found |= code->inst[i].turns || (p->inst[i].kind == RD_I_STEP && code->inst[i].turned >= 0);
    return found;
}

static bool counts(const rd_program *p, const rd_tile_code *code)
{
    bool found = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        found |= p->inst[i].kind == RD_I_STEP && (code->inst[i].counts || code->inst[i].count_if);
    return found;
}

static bool has_pairs(const rd_tile_code *code)
{
    bool found = false;

    for (int32_t k = 0; k < code->n_pass; k++)
        found |= code->pass[k]->nest && code->pass[k]->form != RD_SPEC_PHASES;
    return found;
}

/* Has the tile machine a faster way: one kernel for all; of more than a little work, operands turned in registers, pairs or
 * long rows in passes of their own? */
static bool has_better(const rd_program *p, const rd_tile_code *code)
{
    static const double LITTLE = 1e6;

    if (!code || code->total || p->work <= LITTLE)
        return code && code->total;
    return turns_operands(p, code) || counts(p, code) || has_pairs(code) || folds_rows(p) ||
           folds_exponentials(p);
}

static bool prepare_code(const rd_program *p, const rd_simd *simd, bool whole, rd_get_fn *get, void *pool,
                         const void **to)
{
    const rd_codegen_code *code;
    const char            *why;

    if (!rd_codegen_prepare(p, simd->vector, whole, get, pool, &code, &why))
        return false;
    *to = code;
    return true;
}

static void need_state(rd_program *p, const rd_codegen_code *code)
{
    if (code && rd_codegen_state(code) > p->state_bytes)
        p->state_bytes = rd_codegen_state(code);
}

/* The program as one compiled nest of loops, where nothing faster is known.  Small ones mostly run as one task, and are
 * compiled for that; the few that several tasks share, as somebody asks for threads, do without. */
static bool prepare_nest(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool)
{
    const rd_codegen_use use   = rd_codegen_use_now();
    const bool           small = p->work < RD_SMALL_WORK;

    p->nest = p->whole = NULL;
    p->whole_bytes     = p->state_bytes;
    if (use == RD_CODEGEN_NEVER || (use == RD_CODEGEN_IF_BEST && has_better(p, p->code)))
        return true;
    if (small && !prepare_code(p, simd, true, get, pool, &p->whole))
        return false;
    if (!(small && p->whole && use != RD_CODEGEN_ALWAYS) && !prepare_code(p, simd, false, get, pool, &p->nest))
        return false;
    need_state(p, p->nest);
    need_state(p, p->whole);
    p->whole_bytes = p->whole ? rd_codegen_state(p->whole) : p->state_bytes;
    return true;
}

/* What the nest does without is not compiled. */
static void want_passes(const rd_program *p)
{
    const rd_tile_code *code = p->code;

    for (int32_t k = 0; code && !p->nest && !p->whole && k < code->n_pass; k++)
        rd_pass_want(code->pass[k]->code);
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
    if (result == RD_TILE_NO_MEMORY ||
        (result == RD_TILE_CANNOT && !rd_backend_scalar.prepare(p, get, pool)))
        return false;
    if (!is_scalar(isa) && !prepare_nest(p, simd, get, pool))
        return false;
    want_passes(p);
    return true;
}

static const void *way(const rd_program *p)
{
    const void *kernels = p->nest ? rd_codegen_here(p->nest) : NULL;

    if (p->nest && !kernels)
        rd_codegen_missed(p->nest, p->work);
    return kernels;
}

static bool is_total(const rd_program *p);

static bool whole(const rd_program *p, rd_task *task)
{
    const void *kernels = p->whole ? rd_codegen_here(p->whole) : NULL;

    if (kernels)
        return rd_codegen_whole(p->whole, kernels, task);
    if (p->product)
        rd_product_run(p->product, task);
    else if (!p->nest && is_total(p))
        rd_tile_run_total(p, task);
    else {
        if (p->whole)
            rd_codegen_missed(p->whole, p->work);
        return false;
    }
    return true;
}

static bool is_here(const rd_program *p)
{
    return p->whole ? rd_codegen_here(p->whole) != NULL : p->product || (!p->nest && is_total(p));
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
    if (task->way) {
        rd_codegen_head(p->nest, task->way, p, task);
        return;
    }
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
    else if (task->way)
        rd_codegen_body(p->nest, task->way, p, task);
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

    if (into->way && into->status == RD_OK && next->status == RD_OK)
        rd_codegen_join(p->nest, into->way, into, next);
    if (p->product || into->way || is_total(p))
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
    if (task->way) {
        rd_codegen_tail(p->nest, task->way, p, task);
        return;
    }
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
                                          .way        = way,
                                          .prepare    = prepare,
                                          .whole      = whole,
                                          .is_here    = is_here,
                                          .head       = head,
                                          .body       = body,
                                          .join       = join,
                                          .tail       = tail,
                                          .kernels    = kernels,
                                          .tiers      = tiers,
                                          .library    = library,
                                          .multiplies = multiplies };
