/* cpu_backend.c - the CPU backend. Programs run as compiled loops, or on tiles by the kernels of
 * this machine's best instruction set; what the tile machine cannot run goes to the reference
 * executor. All have the same bits. Matrix products run by kernels of their own, or by a BLAS
 * where its bits may be used.
 *
 * Words: a nest is the program's loops as one compiled C function. Tiles are rows and columns of
 * elements that kernels work on, one instruction after the other. A total is one kernel that runs a
 * whole program. A program has three parts: head, body, tail; tasks share the body. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/product/blas.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/cpu/tile/run/tile_task.h"
#include "kernels/cpu/strategies.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* For tests: how many more times runs and their steps find no nest, though it is there. */
static atomic_int held;

/* For tests: the next so many requests for a compiled nest find none. */
void rd_cpu_hold_nests(int asks)
{
    atomic_store(&held, asks);
}

/* For tests: returns how many requests for a nest will still find none. */
int rd_cpu_held(void)
{
    return atomic_load(&held);
}

/* True if a test wants this request for a compiled nest to find none. Mostly the count is 0, and
 * the plain load that tests it is cheap. */
static bool is_held_back(void)
{
    return atomic_load_explicit(&held, memory_order_relaxed) > 0 && atomic_fetch_sub(&held, 1) > 0;
}

/* True: the CPU can always run programs. */
static bool probe(void)
{
    return true;
}

/* True if a BLAS multiplies matrices here: rd_backend_table.multiplies. */
static bool multiplies(const char **why)
{
    *why = NULL;
    return rd_blas_name() && !rd_cpu_is_scalar();
}

/* Prepares a compiled nest (the loops of a program as one C function); *to is NULL if there is
 * none.  `whole`: one task runs all of it.  Why there is none is not needed here.  The nest lives
 * as long as the program.  False: no memory. */
static bool prepare_code(const rd_program *p, const rd_simd *simd, bool whole, rd_get_fn *get,
                         void *pool, const void **to)
{
    const rd_nest_code *code;
    const char         *why;

    if (!rd_nest_prepare(p, simd->vector, whole, get, pool, &code, &why))
        return false;
    *to = code;
    return true;
}

/* Raises the bytes of a task's state to what the nest needs, if there is one. */
static void raise_state_bytes(rd_program *p, const rd_nest_code *code)
{
    if (code && rd_nest_state(code) > p->state_bytes)
        p->state_bytes = rd_nest_state(code);
}

/* Prepares compiled loops, where nothing faster is known. Small programs mostly run as one task,
 * and are compiled for that (p->whole), unless they run in steps. The few small ones that several
 * tasks share do without. A brief plan is one for the first runs: it may do without compiled code
 * for now, if code only comes after some work anyway (rd_tier_is_patient), and the work is little
 * or among the first of the process (rd_tier_spares). p->step > 0: a body runs on so many indices
 * at a time. by_rows_bytes is the state that a nest by rows needs. */
static bool prepare_nest(rd_program *p, const rd_simd *simd, bool brief, rd_get_fn *get, void *pool)
{
    static const double ENOUGH = 1e6; /* operations: a clock is nothing beside them */

    const char       *better;
    const rd_nest_use use   = rd_nest_use_now();
    const bool        small = p->work < RD_SMALL_WORK && !p->step; /* it runs as one task */

    if (use == RD_NEST_IF_BEST) {
        if (!rd_cpu_find_why_tiles(p, get, pool, &better))
            return false;
        rd_tile_keep(p, better); /* why tiles are faster; NULL: loops are */
    }
    if (rd_cpu_why_no_nest(p))
        return true;
    p->brief = brief && use != RD_NEST_ALWAYS && rd_tier_is_patient() &&
               (p->work < RD_BRIEF_WORK || rd_tier_spares(p->work));
    if (p->brief)
        return true;
    if (small && !prepare_code(p, simd, /*whole=*/true, get, pool, &p->whole))
        return false;
    if (!(small && p->whole && use != RD_NEST_ALWAYS) &&
        !prepare_code(p, simd, /*whole=*/false, get, pool, &p->nest))
        return false;
    p->by_rows       = p->nest && rd_nest_by_rows(p->nest);
    p->by_rows_bytes = p->by_rows ? rd_nest_state(p->nest) : 0;
    raise_state_bytes(p, p->nest);
    raise_state_bytes(p, p->whole);
    /* Only runs of some length can be timed, to find out whether loops are faster than tiles. */
    p->timed = p->nest && p->code && use == RD_NEST_IF_BEST && p->work >= ENOUGH;
    return true;
}

/* Prepares all strategies that may run the program: a matrix product, tiles or the reference, and
 * compiled loops.  A product needs no other strategy.  If the reference is asked for (scalar),
 * nothing else is prepared; else it is where tiles cannot run the program.  False: no memory. */
static bool prepare_strategies(rd_program *p, bool brief, rd_get_fn *get, void *pool)
{
    const bool     scalar = rd_cpu_is_scalar();
    const rd_simd *simd   = rd_cpu_simd();
    rd_tile_result result = RD_TILE_UNSUPPORTED;

    p->code    = NULL;
    p->product = NULL;
    if (!scalar && (!rd_product_prepare(p, simd, get, pool) || p->product))
        return p->product; /* NULL: rd_product_prepare() has failed for lack of memory */
    if (!scalar)
        result = rd_tile_prepare(p, simd, get, pool);
    if (result == RD_TILE_NO_MEMORY ||
        (result == RD_TILE_UNSUPPORTED && !rd_backend_scalar.prepare(p, get, pool)))
        return false;
    return scalar || prepare_nest(p, simd, brief, get, pool);
}

/* Chooses and prepares how a program runs on the CPU: rd_backend_table.prepare. p->brief asks for a
 * plan for the first runs, which may do without compiled code.  False: no memory.  p->whole_bytes
 * is the state that a run as one task needs. */
static bool prepare(rd_program *p, rd_get_fn *get, void *pool)
{
    const bool brief = p->brief;

    p->nest = p->whole = NULL;
    p->by_rows = p->brief = p->timed = false;
    if (!prepare_strategies(p, brief, get, pool))
        return false;
    p->whole_bytes = p->whole ? rd_nest_state(p->whole) : p->state_bytes;
    return true;
}

/* Returns the functions of a compiled nest that is loaded and has not turned out slower than tiles;
 * NULL: there are none. Only `timed` programs are compared with tiles: rd_nest_slowdown() is then
 * above 0 if the nest was slower. */
static const void *nest_of(const rd_program *p)
{
    return p->timed && rd_nest_slowdown(p->nest, p->work) > 0 ? NULL : rd_nest_loaded(p->nest);
}

/* Counts a run without the nest, for the compilation of its code.  The start and end of a small run
 * on tiles takes as long as some thousand operations; without them a plan of a few elements would
 * never be compiled. */
static void add_missed(const rd_program *p, const rd_nest_code *code)
{
    static const double AROUND = 1000;

    rd_nest_add_missed(code, p->work + AROUND);
}

/* Returns the functions of the nest that a run uses from its begin to its end, though others may be
 * loaded meanwhile; NULL: it runs by another strategy. rd_backend_table.strategy. */
static const void *nest_for_run(const rd_program *p)
{
    const void *kernels = p->nest && !is_held_back() ? nest_of(p) : NULL;

    if (p->nest && !kernels)
        add_missed(p, p->nest);
    return kernels;
}

/* Reports the time of a run by the nest (kernels) or without (NULL), to compare both:
 * rd_backend_table.ran. */
static void add_run(const rd_program *p, const void *kernels, int threads, double seconds)
{
    rd_nest_add_run(p->nest, kernels, p->work, threads, seconds);
}

/* Runs a program as one task by one function: a nest for that, a product, or one kernel.  False:
 * there is none, and the caller runs it part by part; the run is counted for the compilation of
 * p->whole.  A program with a nest for several tasks (p->nest) runs by that, though it may be one
 * total. */
static bool whole(const rd_program *p, rd_task *task)
{
    const void *kernels = p->whole ? rd_nest_loaded(p->whole) : NULL;

    if (kernels)
        return rd_nest_whole(p->whole, kernels, task);
    if (p->product)
        rd_product_run(p->product, task);
    else if (!p->nest && rd_is_total(p))
        rd_tile_run_total(p, task);
    else {
        if (p->whole)
            add_missed(p, p->whole);
        return false;
    }
    return true;
}

/* True if whole() would run the program as one task: a nest of all parts is loaded, or it is a
 * matrix product, or one kernel runs all of it. */
static bool is_here(const rd_program *p)
{
    return p->whole ? rd_nest_loaded(p->whole) != NULL : p->product || (!p->nest && rd_is_total(p));
}

/* Runs the head of a program, once for each task before its share: rd_backend_table.head. */
static void head(const rd_program *p, rd_task *task)
{
    rd_cpu_strategy_of(p, task)->head(p, task);
}

/* Runs the body of a program on a task's share of the root loop: rd_backend_table.body. */
static void body(const rd_program *p, rd_task *task)
{
    rd_cpu_strategy_of(p, task)->body(p, task);
}

/* Merges the accumulators of two neighbouring tasks (a split reduction): rd_backend_table.join. */
static void join(const rd_program *p, rd_task *into, const rd_task *next)
{
    rd_cpu_strategy_of(p, into)->join(p, into, next);
}

/* Runs the tail of a program, once after all tasks: rd_backend_table.tail. */
static void tail(const rd_program *p, rd_task *task)
{
    rd_cpu_strategy_of(p, task)->tail(p, task);
}

/* ---- In words -------------------------------------------------------------------------------- */
/* True if the program runs as a compiled nest (its loops as one C function) now. */
static bool is_nest(const rd_program *p)
{
    return (p->nest ? nest_of(p) : rd_nest_loaded(p->whole)) != NULL;
}

/* Counts the programs among p[0 .. n) for which holds() is true. */
static int32_t count(const rd_program *p, int32_t n, bool (*holds)(const rd_program *p))
{
    int32_t found = 0;

    for (int32_t s = 0; s < n; s++)
        found += holds(&p[s]);
    return found;
}

/* True if the program has a compiled nest (its loops as one C function), or will have one. */
static bool has_nest(const rd_program *p)
{
    return p->nest || p->whole;
}

/* Adds how many compiled nests of the n stages are loaded: "tier: 1 and 0, 2 of 3 nests compiled
 * (this process: 1 in 80 ms, 1 from the store, 0 failed)".  Tier 0 is tiles, tier 1 compiled loops.
 * all.stopped is the seconds after which a compiler was stopped, since when none is run; 0: none
 * was. */
static void nests_text(rd_text *text, const rd_program *p, int32_t n)
{
    const rd_tier_stats all   = rd_tier_stats_now();
    const int32_t       nests = count(p, n, has_nest), here = count(p, n, is_nest);

    rd_text_add(text, "tier: %s", here ? "1 and 0" : "0");
    if (nests)
        rd_text_add(text,
                    ", %" PRId32 " of %" PRId32 " nests compiled (this process: %" PRId64
                    " in %.0f ms, %" PRId64 " from the store, %" PRId64 " failed)",
                    here, nests, all.compiled, all.seconds * 1e3, all.stored, all.failed);
    if (nests && all.stopped)
        rd_text_add(text, ", the compiler is off: it took longer than %d s", all.stopped);
}

/* True if the reference executor runs the program now, element by element. */
static bool is_reference(const rd_program *p)
{
    return !p->code && !p->product && !is_nest(p);
}

/* Adds the numbers of the stages for which holds() is true: ", nest in stage 0, 2". */
static void list_stages(rd_text *text, const char *what, const rd_program *p, int32_t n,
                        bool (*holds)(const rd_program *p))
{
    for (int32_t s = 0; s < n; s++)
        if (holds(&p[s])) {
            rd_text_add(text, ",%s %" PRId32, what, s);
            what = "";
        }
}

/* For reports: adds how the n stages of a plan run: as compiled nests, on tiles, or one element at
 * a time. */
static void tiers(rd_text *text, const rd_program *p, int32_t n)
{
    const int32_t scalar = count(p, n, is_reference), nest = count(p, n, is_nest);

    nests_text(text, p, n);
    rd_text_add(text, ", %s",
                scalar && scalar == n ? "scalar"
                : nest && nest == n   ? "nest"
                                      : "tiles");
    if (nest < n)
        list_stages(text, " nest in stage", p, n, is_nest);
    if (scalar < n)
        list_stages(text, " scalar in stage", p, n, is_reference);
}

/* Returns the library that computes the program's matrix product; NULL: none does. */
static const char *library(const rd_program *p)
{
    return p->product ? rd_product_by(p->product) : NULL;
}

const rd_backend_table rd_backend_cpu = { .name       = "cpu",
                                          .probe      = probe,
                                          .strategy   = nest_for_run,
                                          .ran        = add_run,
                                          .prepare    = prepare,
                                          .whole      = whole,
                                          .is_here    = is_here,
                                          .head       = head,
                                          .body       = body,
                                          .join       = join,
                                          .tail       = tail,
                                          .kernels    = rd_cpu_kernels,
                                          .tiers      = tiers,
                                          .describe   = rd_cpu_describe,
                                          .library    = library,
                                          .form       = rd_cpu_form,
                                          .seconds    = rd_cpu_seconds,
                                          .estimate   = rd_cpu_estimate,
                                          .speeds     = rd_cpu_speeds,
                                          .residue    = rd_cpu_residue,
                                          .multiplies = multiplies };
