/* main.c - the command rdim: evaluates formulas of arrays in files. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "beside.h"
#include "files/late.h"
#include "inputs.h"
#include "options.h"
#include "output.h"
#include "plot/plot.h"
#include "progress.h"
#include "results.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists the results to compute, with the arrays that they go to. Results whose x is NULL go to no
 * output. */
static rd_results list_wanted(const cmd_results *results)
{
    rd_result *at = cmd_room((size_t)results->n * sizeof *at);
    int32_t    n  = 0;

    for (int k = 0; k < results->n; k++)
        if (results->at[k].x)
            at[n++] = (rd_result){ results->at[k].x, &results->at[k].array };
    return (rd_results){ at, n };
}

/* Prints a text of the library, or ends the program with its error. */
static void print_text(rd_ctx *ctx, const char *text)
{
    if (!text)
        cmd_fail_of(ctx);
    printf("%s", text);
}

/* Evaluates all results, with a progress bar. A failure ends the program, a signal by that
 * signal. */
static void evaluate(rd_ctx *ctx, const cmd_options *o, const cmd_inputs *in,
                     const cmd_results *results)
{
    cmd_bar         bar    = cmd_bar_begin(o->progress, cmd_bytes(in));
    const rd_status status = rd_eval_many(ctx, list_wanted(results),
                                          &(rd_eval_opts){ .size     = sizeof(rd_eval_opts),
                                                           .backend  = o->backend,
                                                           .progress = cmd_bar_move,
                                                           .user     = &bar });

    cmd_bar_end(&bar);
    cmd_may_go_on();
    if (status != RD_OK)
        cmd_fail_of(ctx);
}

/* Times of the steps of a run, in seconds. */
typedef struct clock {
    double start, opened, computed;
} clock;

/* Prints how long each step took, and the rate of reading while computing: --time. */
static void say_time(const clock *c, const cmd_inputs *in)
{
    const double now = cmd_seconds(), bytes = (double)cmd_bytes(in);

    fprintf(stderr,
            "opened and read in %.4g ms, computed in %.4g ms (%.3g GB/s of input), "
            "written in %.4g ms\n",
            1e3 * (c->opened - c->start), 1e3 * (c->computed - c->opened),
            bytes / 1e9 / (c->computed - c->opened), 1e3 * (now - c->computed));
}

/* Runs the command: reads the formula, then lists, explains, or evaluates and writes. Only --list
 * needs no formula. Large variables are read by cmd_read_wanted(), once it is known which parts of
 * them are needed. */
static void run(rd_ctx *ctx, const cmd_options *o)
{
    clock      c  = { .start = cmd_seconds() };
    cmd_inputs in = cmd_open_inputs(ctx, o);

    if (o->list) {
        cmd_list(&in);
        return;
    }
    cmd_results results = cmd_read_formula(o, &in);
    cmd_targets targets = cmd_plan_output(o, &results);
    if (o->plot)
        cmd_plan_plot(o->plot, &results);
    c.opened = cmd_seconds();
    if (o->explain && *o->explain && strcmp(o->explain, "svg") != 0)
        cmd_misuse("--explain=%s: it is a text, --explain, or a picture, --explain=svg",
                   o->explain);
    if (o->dot || o->explain) {
        if (o->dot)
            print_text(ctx, rd_graphviz(ctx, list_wanted(&results)));
        else
            print_text(ctx, *o->explain ? rd_explain_svg(ctx, list_wanted(&results), NULL)
                                        : rd_explain(ctx, list_wanted(&results), NULL));
        return;
    }
    cmd_keep_beside(&in, o, &results, &targets);
    cmd_read_wanted(ctx, list_wanted(&results));
    c.opened = cmd_seconds();
    cmd_make_room(&targets, &results);
    evaluate(ctx, o, &in, &results);
    c.computed = cmd_seconds();
    if (targets.n)
        cmd_write(&targets, &results);
    else if (!o->plot)
        cmd_print(ctx, &results);
    if (o->plot)
        cmd_plot(o->plot, &results);
    if (o->time)
        say_time(&c, &in);
}

/* Reads the command line, runs the command, and ends with 0. */
int main(int argc, char **argv)
{
    cmd_hold_standard();
    const cmd_options o = cmd_read_options(argc, argv);

    /* Waits for compiled loops at the end, so the next run, perhaps of the same formula, finds
     * them in the cache. */
    setenv("RDIM_TIER1", "finish", 0);
    rd_ctx *ctx = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = o.threads });

    if (!ctx)
        cmd_fail("out of memory");
    cmd_watch(ctx);
    run(ctx, &o);
    cmd_flush_output();
    rd_ctx_free(ctx);
    cmd_watch_no_more();
    return EXIT_SUCCESS;
}
