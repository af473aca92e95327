/* differential.h - one seed of the differential test: random results, evaluated every way, compared
 * with the oracle. */
#ifndef RD_TESTS_DIFFERENTIAL_H
#define RD_TESTS_DIFFERENTIAL_H
#include "core/text_buffer.h"
#include "isa.h"
#include "random_expr.h"

enum { MOST_RESULTS = 4 };

typedef struct differential_stats {
    int64_t      seeds, results, elements, unsure, bounded; /* bounded: compared within a bound
                                                             * above 0 */
    int64_t      kind[RD_EXPR_COMPLEX + 1]; /* nodes of each kind below the results */
    int64_t      by_plan, in_place, refused, dropped;
    int64_t      on_gpu;   /* runs there that were compared */
    isa_programs programs; /* of plans for tiles */
} differential_stats;

/* A result and what the oracle says of it, in C order. */
typedef struct wanted {
    rd_expr      *x;
    int64_t       n;
    oracle_value *value;
} wanted;

wanted wanted_of(random_pool *pool, rd_expr *x);
/* In large pools, where values are bits of the scalar interpreter: those of an evaluation of all
 * results at once. */
void wanted_together(random_pool *pool, wanted *w, int n);
void wanted_free(wanted *w);

/* Evaluates the results into dense memory with one and three threads, greedy and lazy, on one of
 * the interpreters: right, and the same bits?  False after writing what is wrong. */
bool differential_ways(random_pool *pool, const wanted *w, int n, rd_text *report);
/* The same bits from all interpreters, in one task and in many? */
bool differential_isas(random_pool *pool, const wanted *w, int n, isa_programs *programs,
                       rd_text *report);
/* The scalar interpreter's bits on a GPU, or the fake one, for few threads and for many? */
bool differential_cuda(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                       rd_text *report);
bool differential_opencl(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                         rd_text *report);
/* Evaluates them into all kinds of memory with random options. */
bool differential_outputs(random_pool *pool, const wanted *w, int n, differential_stats *stats,
                          rd_text *report);
/* Are the elements of this memory right? */
bool differential_compare(const wanted *w, const rd_array *found, rd_text *report);
/* Have the results of two runs the same bits?  NaNs are equal whatever their payload. */
bool differential_same(const wanted *w, int result, const rd_array *a, const char *how_a,
                       const rd_array *b, const char *how_b, rd_text *report);
/* differential_numbers.c: the bits of `first`, run like `how`, by a plan that reads its numbers? */
bool differential_numbers(const wanted *w, const rd_array *first, const char *how, rd_text *report);
/* Dense memory for x, full of dirt; the caller frees its .data. */
rd_array differential_dense(const rd_expr *x);
/* Leaves of the pool that are inputs, and their memory; returns how many. */
int differential_inputs(random_pool *pool, rd_expr **in, const void **data);
/* rd_eval_many(), or by plan where the pool has inputs; the status and its sentence go to the
 * report if it fails. */
bool differential_run(random_pool *pool, rd_results results, const rd_eval_opts *opts, bool by_plan,
                      rd_text *report);

/* Some nodes of the pool, distinct, late ones preferred; at most MOST_RESULTS.  Returns how
 * many. */
int differential_results(random_pool *pool, wanted *w);
/* All of it for one seed, but for CUDA; CUDA alone. */
bool differential_trial(uint64_t seed, differential_stats *stats, rd_text *report);
bool differential_cuda_trial(uint64_t seed, differential_stats *stats, rd_text *report);
bool differential_opencl_trial(uint64_t seed, differential_stats *stats, rd_text *report);
/* Looks for the smallest expressions below a failing seed's results that fail with dense outputs;
 * each is tried in a process of its own, as it may crash.  False if it found some. */
bool differential_shrink(uint64_t seed, rd_text *report);

/* An expression as an indented tree: one line per node, shared nodes once, leaves with strides and
 * first values. */
void report_tree(rd_text *report, const rd_expr *x);
/* All nodes below the roots, operands first.  Returns how many; the caller frees *list. */
int report_nodes(rd_expr *const *root, int n, rd_expr ***list);
/* Byte offset of element i (C order) of a described array from its data. */
int64_t report_offset(const rd_array *a, int64_t i);
#endif
