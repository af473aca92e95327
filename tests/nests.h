/* nests.h - expressions by compiled nests, compared with what the scalar interpreter makes of them.
 *
 * Each text is a run of the compiler, so many results make one program. */
#ifndef RD_TESTS_NESTS_H
#define RD_TESTS_NESTS_H
#include "tiles.h"

#include "suite.h"

enum { NEST_RESULTS = 20, NEST_TASKS = 5 };

/* In how many tasks; with so many threads.  Tasks of 0 grains: one a thread. */
typedef struct nest_share {
    int32_t threads;
    int64_t grains;
} nest_share;

extern const nest_share one_task[1], many_tasks[8];

/* The results of one program, by the reference and by the nest. */
typedef struct nest_batch {
    int          n;
    rd_expr     *y[NEST_RESULTS];
    rd_array     want[NEST_RESULTS], found[NEST_RESULTS];
    char         what[160];
    rd_traversal traversal; /* not of the reference, as it changes no bit */
} nest_batch;

/* How the nests of the suite's process ran. */
typedef struct nest_counts {
    int         programs, nests, tiles;
    bool        may_fail; /* texts that cannot be compiled are what the test is about */
    int32_t     tasks;    /* bit k: something ran in k tasks */
    const char *words;    /* how many nests have these in their text, NULL: is not asked */
    int         with_words;
    const char *pass; /* the trees of how many programs this one changes, NULL: is not asked */
    int         changed;
} nest_counts;

extern nest_counts nest_seen;

/* Until nest_end() all that can be is a nest, compiled at once. */
rd_ctx *nest_begin(void);
void    nest_end(void);

/* A test that runs for each _i from `first` to before `end`. */
typedef struct nest_case {
    const TTest *test;
    int          first, end;
} nest_case;

/* Runs n tests, each between `begin`, which calls nest_begin(), and nest_end(); what main() returns. */
int nest_suite(const char *name, void (*begin)(void), const nest_case *cases, int n);

/* One more result; what cannot be asked for is left out. */
void nest_add(nest_batch *b, rd_expr *y);
/* The nest's status, sentence, warnings and bits are the reference's, however it is shared out: n
 * ways.  The batch is empty then. */
void nest_agree(nest_batch *b, const nest_share *shares, int n);
/* By other vectors than this machine's best. */
void nest_agree_by(nest_batch *b, int isa, const nest_share *shares, int n);
/* By tiles, of every set of kernels, where nothing is compiled: rd_tier_force("off"). */
void nest_agree_on_tiles(nest_batch *b, const nest_share *shares, int n);
/* Most programs have been nests: what is tested is what the suite is about.  Where a part of the
 * cases runs, some tests have none. */
void nest_mostly(void);

rd_expr *nest_leaf_of(tile_memory *m, int32_t slot, rd_shape shape);
rd_expr *nest_leaf(tile_memory *m, rd_dtype type, rd_shape shape, tile_data data);
/* Some of the floats in the slot become NaN. */
void nest_nans(const tile_memory *m, int32_t slot);
/* A function of blocks, called "mine". */
rd_fn nest_function(rd_block_fn *block, void *user, int arity, rd_dtype in, rd_dtype out);
#endif
