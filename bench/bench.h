/* The benchmark: cases are rows of data; each is built, checked, timed against its hand-written
 * loop, and reported. */
#ifndef BENCH_H
#define BENCH_H
#include "hand.h"
#include <rdim.h>

/* ---- Options --------------------------------------------------------------------------------- */
enum { MOST_THREADS = 16 };

typedef struct bench_options {
    const char *rows, *cases, *dtypes; /* comma lists; NULL: all                               */
    int         threads[MOST_THREADS], n_threads;
    int         reps;  /* timed pairs of a case; 0: adaptive                   */
    double      scale; /* of the number of elements                            */
    bool        json, list, explain, no_hand, first, by_turns, calibrate;
    const char *growth; /* the file of a drawing; NULL: none */
} bench_options;

/** Reads the command line.  @return -1 to go on, else the status to exit with. */
int bench_options_read(bench_options *options, int argc, char **argv);
/** Is `text` one of a comma list of patterns (as file names match)?  A NULL list has everything. */
bool bench_listed(const char *list, const char *text);

/* ---- Cases ----------------------------------------------------------------------------------- */
enum { MOST_RESULTS = 4 };

/** How the library is called: a plan made once; rd_eval of an existing graph; a plan made of a new
 * graph; rd_eval of a new graph; the first rd_eval of a process that finds nothing compiled, beside
 * later ones; a new graph that nothing evaluates; rd_eval to fresh memory, which is freed again. */
typedef enum bench_how {
    HOW_PLAN,
    HOW_EVAL,
    HOW_COLD,
    HOW_BUILD,
    HOW_FIRST,
    HOW_NODES,
    HOW_FRESH
} bench_how;

/** What an input holds: uniform numbers in [0, 1); the same with NaN on land; is it no land, bool;
 *  whole numbers in [0, below), i64. */
typedef enum bench_fill { FILL_UNIFORM, FILL_CLIMATE, FILL_SEA, FILL_INDEX } bench_fill;

/** A shape, and how --scale changes it: its first `scaled` extents times scale^(1/root), to a
 *  multiple of `unit`.  Extents of PLACES and ROWS are those of the case's pattern, OTHER_PLACES of
 *  its other one. */
enum { PLACES = -1, ROWS = -2, OTHER_PLACES = -3 };
typedef struct bench_extents {
    int     rank, scaled, root, unit;
    int64_t at[3];
} bench_extents;

/** The expression of a case over the inputs x, into y[0], y[1], ...; NULL after the last. */
typedef void bench_build(rd_expr *const *x, unsigned dims, rd_expr **y);
/** The context of the case that is built, for what is made of no input; and its patterns. */
extern rd_ctx              *bench_ctx;
extern const bench_pattern *bench_pattern_built, *bench_other_built;

typedef struct bench_case {
    const char   *row, *name;
    bench_build  *build;
    hand_op       hand;
    unsigned      dims;
    bench_extents in[3];
    bench_how     how;
    /* Operations for each point, points being the elements of in0, times those of in1's axis 0
     * where `pairs`, of in0's if there is no in1. */
    double             flops, exps;
    bool               pairs;
    double             read_share; /* of in0 that must be read; 0: all of it                  */
    bool               only_f32;
    rd_dtype           type;          /* of the inputs, in one run; 0: f32 and f64               */
    double             wrong_allowed; /* share of indices that may differ from the hand loop's   */
    bench_fill         fill[3];
    int64_t            below; /* of FILL_INDEX; 0: the extent of in0's axis 0 */
    bench_pattern_kind pattern, other;
} bench_case;

/** All cases, ended by one without a row. */
const bench_case *const *bench_tables(void);
extern const bench_case bench_sums[], bench_maps[], bench_transposes[], bench_pairs[], bench_rows[],
    bench_products[], bench_images[], bench_masked[], bench_everyday[], bench_made[],
    bench_complex[], bench_order[], bench_catalogue[], bench_labels[], bench_sparse[];

/* ---- Memory ---------------------------------------------------------------------------------- */
/** Uniform numbers in [0, 1), of f16 multiples of 2^-11, or bytes: the same for each call with
 *  `which`, made once and kept. */
const void *bench_input(int which, rd_dtype type, int64_t n);
/** The same with other contents; `below` is FILL_INDEX's.  Land lies in blobs on maps of
 *  BENCH_MAP elements, the same on each; one element in a thousand is land wherever it lies. */
const void *bench_filled(int which, bench_fill fill, int64_t below, rd_dtype type, int64_t n);
/** The type of an input of a case that runs in `type`. */
rd_dtype bench_fill_type(bench_fill fill, rd_dtype type);
/** Memory for an output; two slots for each result: the library's and the hand loop's. */
void *bench_output(int slot, int64_t bytes);
/** Fresh memory in huge pages, which nothing has touched; the caller frees it. */
void *bench_fresh(int64_t bytes);
/** Size in bytes of an element, and its name. */
int         bench_size(rd_dtype type);
const char *bench_type_name(rd_dtype type);

/* ---- Limits ---------------------------------------------------------------------------------- */
/** Of the machine, for one number of threads: bytes, operations or values per second; seconds for
 *  `region`. */
typedef struct bench_limits {
    int    threads;
    double read_l1, read_l2, read_l3, read, copy, fill;
    double fma[2], exp[2]; /* f32, f64 */
    double region;
} bench_limits;

/** Work of a case, in bytes and operations. */
typedef struct bench_work {
    double read, written, flops, exps;
} bench_work;

/** --calibrate: false after saying why not. */
bool         bench_calibrate(const bench_options *o);
bench_limits bench_limits_measure(const hand_isa *hand, int threads, double scale);
/** The least seconds that `work` takes; *name tells which limit binds. */
double bench_limit_seconds(const bench_limits *limits, const bench_work *work, rd_dtype type,
                           const char **name);

/* ---- Timing ---------------------------------------------------------------------------------- */
typedef struct bench_action {
    void (*run)(void *self); /* NULL: nothing to run */
    void *self;
} bench_action;

/** The median seconds of a; of b such that their quotient is the median of the quotients of
 *  neighbouring runs. */
typedef struct bench_times {
    double a, b, ratio, least; /* least: the shortest run of a */
    int    reps;
} bench_times;

double      bench_now(void);
double      bench_least_seconds(bench_action a, int reps);
bench_times bench_time_pair(bench_action a, bench_action b, int reps);

/** Points of a case at a scale: elements of in0, times those of in1's (in0's) axis 0 where
 *  `pairs`. */
double bench_points(const bench_case *c, double scale);

/* ---- Results --------------------------------------------------------------------------------- */
typedef struct bench_result {
    const bench_case *of;
    rd_dtype          type;
    int               threads;
    bench_work        work;
    bench_times       times; /* b == 0: no hand loop */
    double            limit_seconds, error, tolerance;
    const char       *limit;
} bench_result;

/** Builds, checks and times one case.  @return false when the library failed; the reason is on
 *  stderr. */
bool bench_run(const bench_case *c, rd_dtype type, const bench_options *options,
               const hand_isa *hand, const bench_limits *limits, bench_result *result);
/** Times the cases at sizes from 10^2 to 10^8, prints where the time for an element jumps, and
 *  draws it.
 *  @return false if the drawing cannot be written or the library failed; the reason is on
 *  stderr. */
bool bench_growth(const bench_options *options, const hand_isa *hand);
/** Evaluates a case once and prints how many seconds that took.
 *  @return false when the library failed; the reason is on stderr. */
bool bench_print_first(const bench_case *c, rd_dtype type, const bench_options *options);
/** A case runs when it is told: turns.h.  Those that need a process of their own are left out.
 *  @return false when the library failed; the reason is on stderr. */
bool bench_by_turns(const bench_case *c, rd_dtype type, const bench_options *options);
/** What another process prints so that starts with an empty cache of compiled code, and has it
 *  compiled while it works (RDIM_TIER1=async).  NaN if that cannot be had. */
double bench_first_seconds(const bench_case *c, rd_dtype type, const bench_options *options,
                           int threads);
/** Prints what the library would do for a case. */
void bench_explain(const bench_case *c, rd_dtype type, const bench_options *options);

void bench_report_limits(const bench_limits *limits, const hand_isa *hand,
                         const bench_options *options);
void bench_report(const bench_result *result, const bench_options *options);
/** Geometric means of the results so far, by row. */
void bench_report_means(const bench_options *options);
#endif
