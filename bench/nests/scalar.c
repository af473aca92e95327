/* scalar.c - what runs element by element, of expressions of the sweep.
 *
 * A line for each stage in which such operations take a tenth of the time, if the reason is ours to mend:
 *
 *     764 0 refused 96 %: max (575616 of 575616 operations, 633 us): the loop cannot go by vectors  min(x0 ..
 *
 * and sums by reason behind them.  cmake/scalar-residue.sh compares these lines with a list.  With a folder,
 * the text of each nest is a file there, which bench/vectors.py has compiled. */
#include "kernels/scalar_residue.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/draft.h"
#include "kernels/print/tree_residue.h"
#include "plans.h"
#include <stdio.h>
#include <stdlib.h>

extern const char rd_prelude[], rd_nest_prelude[];

typedef struct sums {
    const char *folder;
    FILE       *loops; /* in the folder */
    int64_t     stages, scalar, refused;
    double      operations, ns;
    int64_t     stages_of[RD_N_RESIDUE];
    double      operations_of[RD_N_RESIDUE], ns_of[RD_N_RESIDUE];
} sums;

/* A stage of the plan of an expression. */
typedef struct place {
    const program *of;
    int            number;
} place;

static const double A_TENTH = 0.1;

/* "refused,rows" */
static void say_reasons(const rd_residue *r)
{
    const char *between = "";

    for (int k = 0; k < RD_N_RESIDUE; k++)
        if (!rd_residue_table[k].kept && r->part[k].ns > A_TENTH * r->ns) {
            printf("%s%s", between, rd_residue_table[k].name);
            between = ",";
        }
}

static void say_stage(const rd_residue *r, const place *at)
{
    rd_text said = { 0 };
    char   *expr = sweep_text(at->of);

    rd_residue_text(&said, r);
    printf("%llu %d ", (unsigned long long)at->of->seed, at->number);
    say_reasons(r);
    printf(" %.0f %%: %s  %s\n", 100 * rd_residue_ns(r) / r->ns, said.at ? said.at : "", expr);
    rd_text_free(&said);
    free(expr);
}

static void add(sums *s, const rd_residue *r)
{
    s->stages++;
    s->operations += r->operations;
    s->ns += r->ns;
    for (int k = 0; k < RD_N_RESIDUE; k++) {
        s->operations_of[k] += r->part[k].operations;
        s->ns_of[k] += r->part[k].ns;
        s->stages_of[k] += r->part[k].ns > A_TENTH * r->ns;
    }
}

/* In the end, once all is compiled. */
static rd_form_kind form_of(const rd_program *p)
{
    return p->product            ? RD_FORM_PRODUCT
           : p->nest || p->whole ? RD_FORM_NEST
           : p->code             ? RD_FORM_TILES
                                 : RD_FORM_REFERENCE;
}

static void look_at(sums *s, const rd_program *p, rd_pool *pool, const place *at)
{
    rd_residue r;

    if (!rd_cpu_residue(p, form_of(p), planned_memory, pool, &r)) {
        fprintf(stderr, "rdim-nests: seed %llu: no residue\n", (unsigned long long)at->of->seed);
        exit(1);
    }
    add(s, &r);
    if (rd_residue_ours(&r) > A_TENTH * r.ns) {
        s->scalar++;
        say_stage(&r, at);
    }
}

/* "764-0.c 27 3 vectors": loop 27 of the text has 3 operations, of which compilers make vectors. */
static void write_loops(const sums *s, rd_nest_draft n, rd_pool *pool, const place *at)
{
    rd_schedule *t = rd_nest_tree(&n, NULL, planned_memory, pool);

    for (int k = 0; t && k < RD_N_PARTS; k++)
        for (int32_t i = t->part[k]; i >= 0; i = rd_next_stmt(t, i, t->part[k])) {
            rd_residue_why why;

            if (!rd_is_vector(t, i) || rd_is_by_call(t, i) || rd_loop_of(t, i)->nontemporal)
                continue;
            fprintf(s->loops, "%llu-%d.c %d %d ", (unsigned long long)at->of->seed, at->number, i,
                    rd_loop_residue(t, i, &why));
            fprintf(s->loops, "%s\n", why == RD_N_RESIDUE ? "vectors" : rd_residue_table[why].name);
        }
    rd_schedule_free(t);
}

/* The text as it is compiled, in which vector loops have marks. */
static void write_text(const sums *s, const rd_program *p, rd_pool *pool, const place *at)
{
    rd_nest_draft n    = rd_nest_draft_of(p, rd_cpu_vector(), p->whole && !p->nest);
    rd_text       said = { 0 };
    char          name[200];
    FILE         *to;

    n.marks = true;
    snprintf(name, sizeof name, "%s/%llu-%d.c", s->folder, (unsigned long long)at->of->seed,
             at->number);
    if ((p->nest || p->whole) && rd_nest_rewrite(&n, planned_memory, pool) &&
        rd_nest_write(&n, &said, planned_memory, pool) && !n.why && (to = fopen(name, "w"))) {
        fprintf(to, "%s\n%s\n%s", rd_prelude, rd_nest_prelude, said.at);
        fclose(to);
        write_loops(s, n, pool, at);
    }
    rd_text_free(&said);
}

static void look_at_plan(sums *s, const rd_plan *plan, const program *of)
{
    for (int k = 0; plan->parts && k < plan->parts->n; k++)
        look_at_plan(s, plan->parts->part[k].plan, of);
    for (int k = 0; k < plan->n_stage; k++) {
        const place at   = { of, k };
        rd_pool    *pool = rd_pool_new(plan->ctx);

        look_at(s, &plan->program[k], pool, &at);
        if (s->folder)
            write_text(s, &plan->program[k], pool, &at);
        rd_pool_free(pool);
    }
}

static void say_sums(const sums *s)
{
    for (int k = 0; k < RD_N_RESIDUE; k++)
        if (s->operations_of[k] > 0)
            printf("-- %-11s %5.2f %% of operations, %5.2f %% of the time, in %lld stages a tenth: "
                   "%s\n",
                   rd_residue_table[k].name, 100 * s->operations_of[k] / s->operations,
                   100 * s->ns_of[k] / s->ns, (long long)s->stages_of[k],
                   rd_residue_table[k].sentence);
    printf("-- %lld stages, %lld of them by a tenth for reasons that are ours; %lld refused\n",
           (long long)s->stages, (long long)s->scalar, (long long)s->refused);
}

int scalar_main(uint64_t first, int64_t count, const char *folder, addresses *memory)
{
    sums s = { .folder = folder };
    char name[200];

    snprintf(name, sizeof name, "%s/loops", folder ? folder : "");
    if (folder && !(s.loops = fopen(name, "w"))) {
        perror(name);
        return 1;
    }
    for (int64_t k = 0; k < count; k++) {
        planned one = planned_make(first + (uint64_t)k, memory);

        if (one.plan)
            look_at_plan(&s, one.plan, one.p);
        else
            s.refused++;
        planned_free(&one);
    }
    say_sums(&s);
    if (s.loops)
        fclose(s.loops);
    return 0;
}
