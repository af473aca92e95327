/* forms.c - describes the form and the cost of each stage, and which stages are slow.
 *
 * The form of a stage is how it runs: a product, one kernel, tiles, compiled loops, or the
 * reference.  Loops may still be compiled when a run begins; until then the stage has the form
 * `meanwhile`. */
#include "eval/forms.h"
#include "eval/explain_blocks.h"
#include "eval/explain_residue.h"
#include "eval/run/frame.h"
#include "eval/run/team.h"
#include "eval/tuning.h"
#include "kernels/cpu/cpu.h"
#include "kernels/loop/alternatives.h"
#include "kernels/loop/price.h"
#include <inttypes.h>
#include <math.h>

/* Zeroed memory of a pool, in the form that the backend's functions ask for. */
static void *memory_of(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* ---- One stage ------------------------------------------------------------------------------- */
/* The words for a form: how a stage runs. */
static const char *kind_name(rd_form_kind kind)
{
    static const char *const name[] = { [RD_FORM_PRODUCT]   = "a product",
                                        [RD_FORM_TOTAL]     = "one kernel",
                                        [RD_FORM_TILES]     = "tiles",
                                        [RD_FORM_NEST]      = "compiled loops",
                                        [RD_FORM_REFERENCE] = "the reference" };

    return name[kind];
}

/* Writes a time with three digits: "20 us". */
void rd_time_text(rd_text *text, double seconds)
{
    if (seconds < 1e-3)
        rd_text_add(text, "%.3g us", 1e6 * seconds);
    else if (seconds < 1)
        rd_text_add(text, "%.3g ms", 1e3 * seconds);
    else
        rd_text_add(text, "%.3g s", seconds);
}

/* Operations a millisecond, as rd_program.work and tier.c count. */
static const double OPERATIONS_A_MS = 10e6;

/* The run, from 1 on, during which compilation of the loops starts. form.left: the operations that
 * runs must still do before; each counts when it begins. A run counts p->work operations. */
static double compiling_run(const rd_stage_form *s)
{
    return s->form.left > s->p->work ? ceil(s->form.left / s->p->work) : 1;
}

/* Writes when compiled loops will run, and how the stage runs until then: ", compiled once they
 * were missed for 50 ms of work, from run 63 on; until then tiles". form.left is the work left
 * until then, in operations, and compiling_run() the run from which on they are compiled. */
static void loops_text(rd_text *text, const rd_stage_form *s)
{
    switch (s->form.loops) {
    case RD_LOOPS_COMING: rd_text_add(text, ", being compiled"); break;
    case RD_LOOPS_LATER:
        rd_text_add(text, ", compiled once they were missed for %.3g ms of work, from run %.3g on",
                    s->form.left / OPERATIONS_A_MS, compiling_run(s));
        break;
    case RD_LOOPS_STORED: rd_text_add(text, ", were they in the store"); break;
    default: break;
    }
    if (s->form.kind != s->form.meanwhile)
        rd_text_add(text, "; until then %s", kind_name(s->form.meanwhile));
}

/* Writes a stage's form: "compiled loops", "a product by OpenBLAS". */
void rd_form_text(rd_text *text, const rd_stage_form *s)
{
    const char *library = s->backend->library(s->p);

    rd_text_add(text, "%s%s%s", kind_name(s->form.kind), library ? " by " : "",
                library ? library : "");
}

/* Writes how a stage runs: "form of stage 0: tiles; no compiled loops: ...", with the reason if
 * there are none. */
static void form_text(rd_text *text, const rd_stage_form *s)
{
    rd_text_add(text, "form of stage %d: ", s->number);
    rd_form_text(text, s);
    loops_text(text, s);
    if (s->form.why)
        rd_text_add(text, "; no compiled loops: %s", s->form.why);
    rd_text_add(text, "\n");
}

/* Writes the loops whose range a mask limits, such as j <= i in a triangular sum: "a mask of
 * places bounds loops of stage 1: j i". s->p->loop[k].bounds are such bounds, NULL: none. Only a
 * nest (RD_FORM_NEST) compiles them. */
static void bounds_text(rd_text *text, const rd_graph *g, const rd_stage_form *s)
{
    bool any = false;

    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->p->loop[k].bounds) {
            if (!any)
                rd_text_add(text, "a mask of places bounds loops of stage %d:", s->number);
            rd_text_add(text, " %s", g->axis[s->p->loop[k].axis].name);
            any = true;
        }
    if (any)
        rd_text_add(text, "%s\n",
                    s->form.kind == RD_FORM_NEST ? ""
                                                 : "; it is tested, as loops are not compiled");
}

/* Writes the counted bytes and operations of a stage, and its estimated time: "cost of stage 0:
 * reads 8000 bytes, writes 16000; visits 2000 elements: ... about 20 us on 1 thread".
 * form.meanwhile is how it runs until its code is compiled, s->first its time then. */
static void cost_text(rd_text *text, const rd_stage_form *s)
{
    rd_text_add(text,
                "cost of stage %d: reads %.0f bytes, writes %.0f; visits %.0f elements: %.0f "
                "operations, %.0f of them transcendental",
                s->number, s->cost.read, s->cost.written, s->cost.elements, s->cost.operations,
                s->cost.functions);
    if (s->cost.calls > 0)
        rd_text_add(text, ", %.0f calls of functions", s->cost.calls);
    rd_text_add(text, "; about ");
    rd_time_text(text, s->seconds);
    if (s->form.kind != s->form.meanwhile) {
        rd_text_add(text, ", until then ");
        rd_time_text(text, s->first);
    }
    rd_text_add(text, " on %d thread%s\n", s->threads, s->threads == 1 ? "" : "s");
}

/* Writes the times that the cost model of loops predicts: "price of stage 0: about 20 us: compute
 * 12 us, memory 5 us, ...". No line without a prediction (0 ns). The parts are in ns. */
static void price_text(rd_text *text, const rd_stage_form *s)
{
    if (s->price.ns <= 0)
        return;
    rd_text_add(text, "price of stage %d: about ", s->number);
    rd_time_text(text, 1e-9 * s->price.ns);
    rd_text_add(text, ": compute ");
    rd_time_text(text, 1e-9 * s->price.compute);
    rd_text_add(text, ", memory ");
    rd_time_text(text, 1e-9 * s->price.memory);
    rd_text_add(text, ", loops that begin and end ");
    rd_time_text(text, 1e-9 * s->price.entries);
    rd_text_add(text, ", start ");
    rd_time_text(text, 1e-9 * s->price.start);
    rd_text_add(text, "\n");
}

/* Writes which part of a stage is slow, how and why, and what helps: "stage 0: argmin with a mask
 * runs element by element (1000 of them): ...; remedy: ...". */
static void slow_text(rd_text *text, int number, const rd_slow *slow)
{
    rd_text_add(text, "stage %d: %s %s (%.0f of them): %s; remedy: %s", number, slow->what,
                slow->how, slow->elements, slow->why, slow->remedy);
}

/* The number of threads that would share the program if it had so much work. asked: threads of the
 * evaluation, 0: the context's setting. */
static int threads_of(const rd_program *p, const rd_ctx *ctx, int asked, double work)
{
    return rd_thread_count(ctx, asked, work, rd_program_shares(p, p->grain));
}

/* The two costs of a stage: with all loop iterations, and without those that a mask leaves out.
 * Only compiled loops save the latter. */
typedef struct costs {
    rd_work all, bounded;
} costs;

/* The counts of a stage in that form: only compiled loops skip the elements that a mask leaves
 * out. */
static const rd_work *cost_of(const costs *c, rd_form_kind kind)
{
    return kind == RD_FORM_NEST ? &c->bounded : &c->all;
}

/* Fills in the form, counts and times of a stage: seconds of a later run, and of the first one, in
 * which loops may not be compiled yet. False: no memory. meanwhile: the form until loops are
 * compiled. s->most was set before, and stays. False is also returned without memory for the
 * price. */
static bool describe_stage(const rd_backend_table *backend, const rd_program *p, const costs *c,
                           int number, int threads, rd_pool *pool, rd_stage_form *s)
{
    *s = (rd_stage_form){
        .backend = backend, .p = p, .number = number, .threads = threads, .most = s->most
    };
    if (!backend->form(p, memory_of, pool, &s->form))
        return false;
    s->cost    = *cost_of(c, s->form.kind);
    s->seconds = backend->seconds(p, &s->cost, s->form.kind, &s->form.slow, threads);
    s->first   = backend->seconds(p, cost_of(c, s->form.meanwhile), s->form.meanwhile,
                                  &s->form.slow_meanwhile, threads);
    return rd_cpu_price(p, s->form.kind, threads, memory_of, pool, &s->price);
}

/* ---- Choices --------------------------------------------------------------------------------- */
/* Lists the predicted times on one thread and on all as alternatives for explain. The one taken
 * follows a rule (amount of work), not these times. No alternatives if there is no such choice.
 * False: no memory. most: the threads that a stage of much work would have; a price of 0 ns:
 * there is no prediction. */
static bool threads_of_stage(const rd_stage_form *s, rd_pool *pool, rd_alternatives *a)
{
    rd_price team;

    *a = (rd_alternatives){ 0 };
    if (s->most == 1 || s->price.ns <= 0)
        return true;
    for (int k = 0; k < 2; k++) {
        const int threads = k ? s->most : 1;

        if (!rd_cpu_price(s->p, s->form.kind, threads, memory_of, pool, &team))
            return false;
        rd_offer(a, (rd_alternative){ "threads", team.ns, threads, true });
    }
    rd_take_by_rule(a, s->threads > 1, s->threads > 1 ? "much work" : "little work");
    return true;
}

/* Writes a choice if there were two alternatives or more: "choice in stage 0: threads 2, 382 us;
 * not threads 1, 760 us". */
static void choice_text(rd_text *text, const rd_stage_form *s, const rd_alternatives *a)
{
    if (a->n < 2)
        return;
    rd_text_add(text, "choice in stage %d: ", s->number);
    rd_alternatives_text(text, a);
    rd_text_add(text, "\n");
}

/* Writes a line for each choice in a stage, with the alternative taken and the others. False: no
 * memory. rd_cpu_choices() lists up to MOST choices of the CPU backend in `at`, -1: no memory;
 * threads_of_stage() adds that of threads. */
static bool choices_text(rd_text *text, const rd_stage_form *s, rd_pool *pool)
{
    enum { MOST = 16 };
    rd_alternatives *const at = rd_pool_get(pool, (MOST + 1) * sizeof *at);
    const int32_t          n  = at ? rd_cpu_choices(s->p, memory_of, pool, at, MOST) : -1;

    if (n < 0 || !threads_of_stage(s, pool, &at[n]))
        return false;
    for (int32_t k = 0; k <= n; k++)
        choice_text(text, s, &at[k]);
    return true;
}

/* ---- All stages ------------------------------------------------------------------------------ */
/* Writes all lines of a stage.  False: no memory. */
static bool stage_text(rd_text *text, const rd_graph *g, const rd_stage_form *s, rd_pool *pool)
{
    form_text(text, s);
    bounds_text(text, g, s);
    cost_text(text, s);
    price_text(text, s);
    if (!choices_text(text, s, pool))
        return false;
    if (s->form.slow.what[0]) {
        rd_text_add(text, rd_is_slow(&s->form.slow) ? "warning: " : "note: ");
        slow_text(text, s->number, &s->form.slow);
        rd_text_add(text, "\n");
    }
    return rd_residue_of_stage(text, s, pool);
}

/* Writes the time of the first run and, if that differs, of runs after compilation: "first run:
 * about 4 ms, stage 0 by tiles; runs that begin once all is compiled: about 400 us". first and
 * later are sums over the n stages; `waits`: a stage runs otherwise (form.meanwhile) until its
 * code is compiled. */
static void runs_text(rd_text *text, int n, const rd_stage_form *s)
{
    double first = 0, later = 0;
    bool   waits = false;

    for (int k = 0; k < n; k++) {
        first += s[k].first;
        later += s[k].seconds;
        waits |= s[k].form.kind != s[k].form.meanwhile;
    }
    rd_text_add(text, "first run: about ");
    rd_time_text(text, first);
    for (int k = 0; k < n; k++)
        if (s[k].form.kind != s[k].form.meanwhile)
            rd_text_add(text, ", stage %d by %s%s%s", s[k].number, kind_name(s[k].form.meanwhile),
                        rd_is_slow(&s[k].form.slow_meanwhile) ? ": " : "",
                        rd_is_slow(&s[k].form.slow_meanwhile) ? "element by element" : "");
    if (waits) {
        rd_text_add(text, "; runs that begin once all is compiled: about ");
        rd_time_text(text, later);
    }
    rd_text_add(text, "\n");
}

/* Bytes of memory that all threads of a stage work in: accumulators, buffers, scratch. Compiled
 * loops by rows, on several threads, may need more state. */
static int64_t work_of(const rd_stage_form *s)
{
    const int64_t state = s->threads > 1 && s->p->by_rows && s->p->by_rows_bytes > s->p->state_bytes
                              ? s->p->by_rows_bytes
                              : s->p->state_bytes;

    return rd_bytes_times(rd_task_bytes(s->p, state), s->threads);
}

/* Writes the most memory that a run holds at a time, beside operands and results: arrays between
 * stages, and what the threads of one stage work in. `most` is the stage whose threads work in
 * most memory; -1: there are no stages. */
static void memory_text(rd_text *text, const rd_graph *g, int n, const rd_program *p,
                        const rd_stage_form *s)
{
    int64_t arrays = 0;
    int     most   = -1;
    bool    fits;

    for (int k = 0; k < g->n_slot; k++)
        if (g->slot[k].kind == RD_SLOT_ARRAY)
            arrays = rd_bytes_add(arrays, rd_slot_span(n, p, k, &g->slot[k]));
    for (int k = 0; k < n; k++)
        if (most < 0 || work_of(&s[k]) > work_of(&s[most]))
            most = k;
    /* reserved by the frame, also if a stage has memory of its own */
    const int64_t own  = rd_frame_work(n, p, &fits);
    int64_t       work = most < 0 ? 0 : work_of(&s[most]);

    if (most >= 0 && (s[most].threads > 1 || work > own))
        work = rd_bytes_add(work, own);
    rd_text_add(text, "memory of a run: about %lld bytes: %lld of arrays, and %lld",
                (long long)rd_bytes_add(arrays, work), (long long)arrays, (long long)work);
    if (most >= 0)
        rd_text_add(text, " that %d thread%s of stage %d work%s in", s[most].threads,
                    s[most].threads == 1 ? "" : "s", s[most].number,
                    s[most].threads == 1 ? "s" : "");
    rd_text_add(text, "\n");
}

/* Writes the state of compilation, which libraries compute which stages, and the backend's name. */
static void tier_text(rd_text *text, const rd_backend_table *backend, const rd_program *p, int n)
{
    backend->tiers(text, p, n);
    for (int s = 0; s < n; s++)
        if (backend->library(&p[s]))
            rd_text_add(text, "; stage %d by %s", s, backend->library(&p[s]));
    rd_text_add(text, "; backend: %s\n", backend->name);
}

/* Writes the measured time of each stage's kernels: "measured: stage 0 takes 12 us, by rule 15 us"
 * (with the default tuning numbers); or that it could not be measured. rd_tuned() is what was
 * found for a stage, NULL: nothing. */
static void measured_text(rd_text *text, rd_ctx *ctx, int n, const rd_program *p)
{
    for (int k = 0; k < n; k++) {
        const rd_found *found = rd_tuned(ctx, &p[k]);

        if (found && found->of.seconds > 0) {
            rd_text_add(text, "measured: stage %d takes ", k);
            rd_time_text(text, found->of.seconds);
            rd_text_add(text, ", by rule ");
            rd_time_text(text, found->of.by_rule);
            rd_text_add(text, "\n");
        } else if (found)
            rd_text_add(text, "stage %d could not be measured\n", k);
    }
}

/* Describes the kernels of a device: tunes and prepares each program. use->why becomes the first
 * reason why the device cannot run one. False on failure. rd_tune() chooses the numbers of a
 * kernel, and `refuses` gives a sentence, NULL: the device can run it. */
static bool kernels_text(rd_text *text, const rd_graph *g, int n, rd_program *p, rd_pool *pool,
                         rd_results results, rd_backend_use *use)
{
    rd_ctx *const ctx = g->ctx;

    for (int k = 0; k < n; k++) {
        p[k].device  = use->device;
        p[k].devices = use->devices;
        if (!rd_tune(ctx, use->backend, &p[k]) || !use->backend->prepare(&p[k], memory_of, pool))
            return false;
        if (!use->why)
            use->why = use->backend->device->refuses(&p[k]);
    }
    use->backend->tiers(text, p, n);
    measured_text(text, ctx, n, p);
    if (!rd_blocks_text(text, pool, g, results, n, p, use))
        return false;
    rd_text_add(text, "backend: %s\n", use->backend->name);
    return true;
}

/* Describes how each stage runs on the chosen backend, what a run costs, and warnings. *stages:
 * the programs and forms, for a picture. False: no memory, or a failure. A device has kernels in
 * place of forms. use->must: the backend was asked for, so that AUTO's comparison is not shown. */
bool rd_forms_text(rd_text *text, rd_nest *nest, rd_pool *pool, rd_results results, int threads,
                   rd_backend_use *use, rd_stages *stages)
{
    const rd_backend_table *backend = use->backend;
    const int               n       = nest->n_stage;
    rd_program             *p       = rd_lower(nest, pool);
    rd_stage_form          *s       = rd_pool_get(pool, (size_t)(n + 1) * sizeof *s);
    char                    note[160];

    if (!p || !s)
        return false;
    *stages = (rd_stages){ n, p, backend->device ? NULL : s };
    if (backend->device)
        return kernels_text(text, nest->tree->graph, n, p, pool, results, use);
    for (int k = 0; k < n; k++) { /* costs come first: a prepared product counts its blocks */
        const costs c      = { rd_program_work(&p[k], /*bounded=*/false),
                               rd_program_work(&p[k], /*bounded=*/true) };
        const int   shared = threads_of(&p[k], nest->tree->graph->ctx, threads, p[k].work);

        s[k].most = threads_of(&p[k], nest->tree->graph->ctx, threads, RD_SMALL_WORK);

        if (!backend->prepare(&p[k], memory_of, pool) ||
            !describe_stage(backend, &p[k], &c, k, shared, pool, &s[k]) ||
            !stage_text(text, nest->tree->graph, &s[k], pool))
            return false;
    }
    const rd_rates *rates = use->must ? NULL : rd_rates_of(nest->tree->graph->ctx);

    if (rates)
        use->verdict =
            rd_auto_verdict(rates, n, p, nest->tree->graph->n_slot, nest->tree->graph->slot);
    memory_text(text, nest->tree->graph, n, p, s);
    runs_text(text, n, s);
    if (rd_team_note(nest->tree->graph->ctx, threads, note, sizeof note))
        rd_text_add(text, "threads: %s\n", note);
    rd_text_add(text, "estimates: %s\n", backend->speeds());
    tier_text(text, backend, p, n);
    return true;
}

/* ---- The strict mode ------------------------------------------------------------------------- */
/* The strict mode (RDIM_STRICT): false after recording the first stage with a part that is slow
 * (runs element by element), or that there is no memory. form.slow says which part is slow. */
bool rd_check_fast(rd_ctx *ctx, const rd_backend_table *backend, int n, const rd_program *p,
                   rd_pool *pool)
{
    rd_form form;
    rd_text text = { 0 };

    for (int k = 0; k < n; k++) {
        if (!backend->form(&p[k], memory_of, pool, &form)) {
            rd_fail(ctx, RD_ERR_MEMORY, "%s: no memory", rd_call_name(ctx));
            return false;
        }
        if (!rd_is_slow(&form.slow))
            continue;
        slow_text(&text, k, &form.slow);
        rd_fail(ctx, RD_ERR_LIMIT, "%s: RDIM_STRICT: %s", rd_call_name(ctx),
                text.at ? text.at : "");
        rd_text_free(&text);
        return false;
    }
    return true;
}
