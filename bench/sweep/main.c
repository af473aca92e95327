/* rdim-sweep: random expressions over the whole interface, each timed beside plain loops in C
 * and NumPy. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 16, MOST_COMPILERS = 8 };

typedef struct sweep {
    options  o;
    worker  *numpy[MOST_THREADS];
    char     folder[64];
    result  *results;
    int64_t  n, refused, wrong, unwritten, failed;
    program *program[BATCH];
    loop_set loops[BATCH];
    bool     ready[BATCH];
} sweep;

static int most_threads(const options *o)
{
    int most = 1;

    for (int k = 0; k < o->n_threads; k++)
        most = o->threads[k] > most ? o->threads[k] : most;
    return most;
}

static void print_one(const program *p, const loop_set *l, const char *python, const result *r)
{
    static bool once;

    if (!once)
        printf("seed %llu, %s\n%s\n\n%s\n%s\n", (unsigned long long)p->seed, p->kind, r->expr,
               l->source ? l->source : "", python ? python : "");
    once = true;
    printf("%s\n%d threads, %s: %.4g us; loops %.4g (variant %d); numpy %.4g; ratio %.3f; "
           "hash %016llx\n",
           r->explain, r->threads, r->form, 1e6 * r->seconds, 1e6 * r->loops, r->best,
           1e6 * r->numpy, r->ratio, (unsigned long long)r->hash);
    for (int v = 0; v < l->n_variants; v++)
        printf("    loops %d: %.4g us\n", v, 1e6 * r->variant[v]);
}

/* Only the library runs. */
static bool is_alone(const options *o)
{
    return o->hash_only || o->estimates;
}

static void keep(sweep *s, const result *r, const program *p, const loop_set *l, const char *python)
{
    if (s->o.only >= 0)
        print_one(p, l, python, r);
    else if (s->o.hash_only && !s->o.json)
        printf("%llu %016llx %s\n", (unsigned long long)r->seed, (unsigned long long)r->hash,
               r->expr);
    else if (s->o.json)
        sweep_report_json(r);
    else if (s->o.estimates)
        sweep_estimates_line(r);
    if (isfinite(r->ratio))
        s->results[s->n++] = *r;
}

/* Results are right by tiles then, and nobody would know. */
static void say_failed(sweep *s, const result *r)
{
    if (r->failed <= s->failed)
        return;
    fprintf(stderr, "rdim-sweep: seed %llu: the text of %lld loops cannot be compiled\n",
            (unsigned long long)r->seed, (long long)(r->failed - s->failed));
    s->failed = r->failed;
}

static void run(sweep *s, program *p, loop_set *l)
{
    char *python = s->o.no_numpy || is_alone(&s->o) ? NULL : sweep_to_numpy(p);

    for (int k = 0; k < s->o.n_threads; k++) {
        worker *w = python ? s->numpy[k] : NULL;
        result  r;

        sweep_fill(p);
        if (w && !sweep_worker_load(w, p, python))
            w = NULL;
        switch (sweep_run(p, l, &s->o, s->o.threads[k], w, &r)) {
        case RAN:
            say_failed(s, &r);
            keep(s, &r, p, l, python);
            break;
        case REFUSED: s->refused++; break;
        case WRONG:
            s->wrong++;
            if (s->o.only >= 0)
                print_one(p, l, python, &r);
            break;
        }
    }
    free(python);
}

static void begin_compile(sweep *s, int k)
{
    s->ready[k] = sweep_loops_write(s->program[k], &s->loops[k], most_threads(&s->o));
    if (s->ready[k])
        sweep_loops_compile(&s->loops[k], s->folder, s->program[k]->seed);
}

static void compile(sweep *s, int n)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN), side = cpus < 1                ? 1
                                                            : cpus > MOST_COMPILERS ? MOST_COMPILERS
                                                                                    : cpus;

    for (int k = 0; k < n && k < side; k++)
        begin_compile(s, k);
    for (int k = 0; k < n; k++) {
        const bool written = s->ready[k];

        s->ready[k] = written && sweep_loops_open(&s->loops[k]);
        if (!s->ready[k]) {
            fprintf(stderr, "rdim-sweep: seed %llu: loops that %s\n",
                    (unsigned long long)s->program[k]->seed,
                    written ? "do not compile" : "cannot be written");
            s->unwritten++;
        }
        if (k + side < n)
            begin_compile(s, k + (int)side);
    }
}

static void run_batch(sweep *s, uint64_t seed, int n)
{
    for (int k = 0; k < n; k++)
        s->program[k] = sweep_draw(seed + (uint64_t)k, s->o.max_bytes);
    if (!is_alone(&s->o))
        compile(s, n);
    for (int k = 0; k < n; k++) {
        if (s->ready[k] || is_alone(&s->o))
            run(s, s->program[k], &s->loops[k]);
        sweep_loops_close(&s->loops[k]);
        sweep_free(s->program[k]);
        s->ready[k] = false;
    }
}

static int run_by_turns(const options *o)
{
    for (int64_t k = 0; k < o->count; k++) {
        program *p = sweep_draw(o->seed + (uint64_t)k, o->max_bytes);

        if (!sweep_by_turns(p, o->threads[0]))
            fprintf(stderr, "rdim-sweep: seed %llu is refused\n", (unsigned long long)p->seed);
        sweep_free(p);
    }
    return 0;
}

static void start_workers(sweep *s)
{
    for (int k = 0; k < s->o.n_threads && !s->o.no_numpy && !is_alone(&s->o); k++)
        s->numpy[k] = sweep_worker_start(s->o.threads[k]);
}

int main(int argc, char **argv)
{
    static sweep s;
    const int    status = sweep_options_read(&s.o, argc, argv);

    if (status >= 0)
        return status;
    setenv("RDIM_TIER1", "sync", 0);
    if (s.o.only >= 0) {
        s.o.seed  = (uint64_t)s.o.only;
        s.o.count = 1;
    }
    if (s.o.by_turns)
        return run_by_turns(&s.o);
    snprintf(s.folder, sizeof s.folder, "/tmp/rdim-sweep-XXXXXX");
    if (!mkdtemp(s.folder)) {
        fprintf(stderr, "rdim-sweep: no folder in /tmp\n");
        return 1;
    }
    start_workers(&s);
    s.results = malloc((size_t)(s.o.count * s.o.n_threads + 1) * sizeof *s.results);
    for (int64_t at = 0; at < s.o.count; at += BATCH)
        run_batch(&s, s.o.seed + (uint64_t)at,
                  (int)(s.o.count - at < BATCH ? s.o.count - at : BATCH));
    if (s.o.estimates)
        sweep_estimates_report(s.results, s.n);
    else if (!s.o.json && !s.o.hash_only && s.o.only < 0)
        sweep_report(s.results, s.n);
    for (int k = 0; k < s.o.n_threads; k++)
        sweep_worker_stop(s.numpy[k]);
    rmdir(s.folder);
    if (s.refused + s.wrong + s.unwritten + s.failed > 0)
        fprintf(
            stderr, "rdim-sweep: %lld refused, %lld wrong, %lld without loops, %lld not compiled\n",
            (long long)s.refused, (long long)s.wrong, (long long)s.unwritten, (long long)s.failed);
    return s.wrong + s.unwritten + s.failed > 0;
}
