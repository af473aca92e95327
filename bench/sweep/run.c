/* run.c - one program for one number of threads: its plan, its loops; do all agree. */
#include "contest.h"
#include "../turns.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The library ----------------------------------------------------------------------------- */
static rd_results results_of(contest *c, rd_result *list)
{
    for (int k = 0; k < c->p->n_roots; k++)
        list[k] = (rd_result){ c->root[k], &c->out[k] };
    return (rd_results){ list, c->p->n_roots };
}

static void make_outputs(contest *c)
{
    for (int k = 0; k < c->p->n_roots; k++) {
        const node  *a     = c->p->root[k];
        const size_t bytes = (size_t)sweep_elements(a) * (size_t)sweep_dtype(a->type)->size;

        c->out[k] = (rd_array){ .type = a->type, .shape.n = a->rank };
        for (int i = 0; i < a->rank; i++)
            c->out[k].shape.at[i] = a->n[i];
        c->out[k].data = sweep_memory(bytes);
        c->want[k]     = sweep_memory(bytes);
    }
}

static bool plan(contest *c, int threads)
{
    const rd_ctx_opts o = { .size = sizeof o, .threads = threads };
    rd_result         list[MOST_ROOTS];

    c->ctx = rd_ctx_new(&o);
    if (!sweep_to_rdim(c->p, c->ctx, c->root))
        return false;
    make_outputs(c);
    c->plan = rd_plan_new(c->ctx, (rd_exprs){ 0 }, results_of(c, list), NULL);
    return c->plan && rd_plan_run(c->plan, NULL, NULL) == RD_OK;
}

/* ", 2 of 3 nests compiled": both numbers; 0 of 0 where the text has none. */
static void count_nests(const char *tier, int *compiled, int *all)
{
    const char *of = tier ? strstr(tier, " nests compiled") : NULL;

    *compiled = *all = 0;
    while (of && of > tier && of[-1] != ',')
        of--;
    if (of && sscanf(of, " %d of %d", compiled, all) != 2)
        *compiled = *all = 0;
}

/* How the library runs it, from the text that it gives: the one place to change when that text
 * does. */
static void form_of(const char *explain, char *form, size_t size)
{
    const char *tier = explain ? strstr(explain, "tier: ") : NULL;
    int         compiled, all;

    count_nests(tier, &compiled, &all);
    if (!tier)
        snprintf(form, size, "none");
    else if (strstr(tier, " by OpenBLAS") || strstr(tier, " by BLIS"))
        snprintf(form, size, "product");
    else if (compiled > 0)
        snprintf(form, size, "%s", compiled == all ? "compiled" : "partly");
    else
        snprintf(form, size, "%s", strstr(tier, "tiles") ? "tiles" : "scalar");
}

/* ---- The loops ------------------------------------------------------------------------------- */
static void give_arrays(contest *c, const loop_set *l)
{
    const program *p    = c->p;
    double         most = 0;

    for (int v = 0; v <= l->n_variants; v++)
        most = fmax(most, l->temporary[v]);
    c->temporary = sweep_memory((size_t)most);
    for (int k = 0; k < p->n_leaves; k++) {
        const leaf *x = &p->leaves[k];

        c->arrays[k] = (char *)x->memory + x->first * sweep_dtype(x->type)->size;
    }
    for (int k = 0; k < p->n_roots; k++)
        c->arrays[p->n_leaves + k] = c->want[k];
    c->arrays[p->n_leaves + p->n_roots] = c->temporary;
}

static bool agrees(const contest *c, void *const *other, const char *whose, double slack)
{
    char why[200] = "";

    for (int k = 0; k < c->p->n_roots; k++)
        if (sweep_differs(c->p->root[k], other[k], c->want[k], slack, why, sizeof why)) {
            char *expr = sweep_text(c->p);

            fprintf(stderr, "%s: seed %llu: result %d: %s: %s\n", whose,
                    (unsigned long long)c->p->seed, k, why, expr);
            free(expr);
            return false;
        }
    return true;
}

/* Loops that do not agree with the careful ones are the compiler's fault, and not timed. */
static void check_loops(contest *c, loop_set *l, int threads)
{
    /* A sum of many f32, one after the other, may err by a part of each partial sum. */
    const double slack = 8 + 0.3 * sqrt(sweep_work(c->p));
    const int    first = c->p->n_leaves;
    void        *mine[MOST_ROOTS];

    for (int k = 0; k < c->p->n_roots; k++)
        c->arrays[first + k] = mine[k] = sweep_memory((size_t)sweep_elements(c->p->root[k]) * 8);
    for (int v = 0; v < l->n_variants; v++) {
        char name[60];

        l->run[v](c->arrays, threads);
        snprintf(name, sizeof name, "not timed: loops %d, %d threads", v, threads);
        l->broken[v] = !agrees(c, mine, name, slack);
    }
    for (int k = 0; k < c->p->n_roots; k++) {
        c->arrays[first + k] = c->want[k];
        free(mine[k]);
    }
}

/* Does NumPy compute the same thing?  Not to the last bit: its sums of f16 are in f16; of
 * nothing, a maximum is -inf. */
static bool same_words(const contest *c, const worker *w)
{
    const double mine = sweep_total(c->p->root[0], c->want[0]), its = sweep_worker_total(w);
    const double eps = sweep_eps(c->p->leaves[0].type);

    if (its == mine || isinf(its) ||
        fabs(its - mine) <= (eps > 1e-5 ? 0.3 : 1e-3) * fabs(mine) + 10 * c->p->root[0]->r.err)
        return true;
    fprintf(stderr, "not timed: numpy: seed %llu: total %g, not %g\n",
            (unsigned long long)c->p->seed, its, mine);
    return false;
}

static bool check(contest *c, loop_set *l, int threads)
{
    void *got[MOST_ROOTS];
    bool  ok;

    l->run[l->n_variants](c->arrays, 1);
    for (int k = 0; k < c->p->n_roots; k++)
        got[k] = c->out[k].data;
    ok = agrees(c, got, "WRONG: rdim", 4);
    check_loops(c, l, threads);
    return ok;
}

static void close_contest(contest *c)
{
    for (int k = 0; k < c->p->n_roots; k++) {
        free(c->out[k].data);
        free(c->want[k]);
    }
    free(c->temporary);
    rd_ctx_free(c->ctx);
}

static void describe(contest *c, int threads, result *r)
{
    rd_result list[MOST_ROOTS];

    *r = (result){
        .seed = c->p->seed, .kind = c->p->kind, .threads = threads, .expr = sweep_text(c->p)
    };
    r->work = sweep_work(c->p);
    snprintf(r->dtype, sizeof r->dtype, "%s", sweep_dtype(c->p->leaves[0].type)->name);
    r->explain = sweep_format("%s", rd_explain(c->ctx, results_of(c, list), NULL));
    form_of(r->explain, r->form, sizeof r->form);
    for (int k = 0; k < c->p->n_roots; k++)
        r->hash = sweep_hash(c->p->root[k], c->out[k].data, r->hash + 1);
    r->seconds = r->loops = r->numpy = r->ratio = NAN;
    sweep_estimates_read(r);
}

static void run_plan(void *plan)
{
    rd_plan_run(plan, NULL, NULL);
}

bool sweep_by_turns(program *p, int threads)
{
    contest c = { .p = p };
    char    name[40];
    bool    ok;

    sweep_fill(p);
    ok = plan(&c, threads);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)p->seed);
    if (ok)
        bench_turns(name, run_plan, c.plan);
    close_contest(&c);
    return ok;
}

verdict sweep_run(program *p, loop_set *l, const options *o, int threads, worker *w, result *r)
{
    contest c    = { .p = p };
    verdict told = RAN;

    sweep_fill(p);
    if (!plan(&c, threads)) {
        char *expr = sweep_text(p);

        fprintf(stderr, "REFUSED: seed %llu: %s: %s: %s\n", (unsigned long long)p->seed,
                rd_status_name(rd_error(c.ctx)), rd_error_text(c.ctx), expr);
        free(expr);
        told = REFUSED;
    } else {
        describe(&c, threads, r);
        if (!o->hash_only && !o->estimates) {
            give_arrays(&c, l);
            told = check(&c, l, threads) ? RAN : WRONG;
        }
        if (told == RAN && !o->hash_only) {
            sweep_race(&c, l, threads, w && same_words(&c, w) ? w : NULL, o->seconds, r);
            r->ratio = o->estimates ? r->estimate / r->seconds : r->ratio;
        }
    }
    close_contest(&c);
    return told;
}
