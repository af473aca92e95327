/* random_expr.h - random expressions from a seed, made with the public functions alone.
 *
 * A pool starts with a few leaves and grows by steps: a view, a map, a reduction of nodes it has.
 * The oracle computes each new node, so that the pool knows its range (functions get sensible
 * arguments, most of the time) and drops what could not be compared with anything: too large, or
 * mostly unsure.
 *
 * Seeds from RANDOM_LARGE on make large pools: fewer nodes, of more elements than a tile, a block
 * or a task's share has.  There the scalar interpreter, which small pools compare with the oracle,
 * is the oracle. */
#ifndef RD_TESTS_RANDOM_EXPR_H
#define RD_TESTS_RANDOM_EXPR_H
#include "oracle.h"

enum {
    RANDOM_NODES    = 96,   /* nodes of a pool                       */
    RANDOM_BLOCKS   = 48,   /* blocks of leaf memory                 */
    RANDOM_POINTS   = 5000, /* elements of a node, in small pools    */
    RANDOM_STATUSES = 16    /* counters of refusals                  */
};

static const uint64_t RANDOM_LARGE = (uint64_t)1 << 40;
/* Seeds from here on make small pools for derivatives: most leaves are f64 without special values. */
static const uint64_t RANDOM_SMOOTH = (uint64_t)1 << 41;

typedef struct random_node {
    rd_expr    *x;
    const char *step; /* what made it             */
    int64_t     n, n_unsure;
    double      lo, hi;  /* of its finite elements   */
    bool        special; /* NaN or infinities among  */
    bool        exact;   /* no element has a bound   */
} random_node;

/* Memory of a leaf, exactly as long as its strides reach. */
typedef struct random_block {
    void    *memory;
    rd_array layout; /* of the leaf; .data points into memory */
    rd_expr *leaf;
    int64_t  bytes;
    bool     input;
} random_block;

typedef struct random_pool {
    rd_ctx      *ctx;
    oracle      *oracle;
    uint64_t     state;
    random_node  node[RANDOM_NODES];
    random_block block[RANDOM_BLOCKS];
    int          n_node, n_block;
    bool         inputs; /* some leaves are rd_input(): evaluate by plan */
    bool         large, smooth;
    int          isa;         /* the interpreter that is compared with the oracle */
    int64_t      most_points; /* elements of a node */
    int          rank;        /* the shape most leaves are cut from */
    int64_t      extent[6];
    int64_t      work; /* elements the oracle computed */
    int64_t      refused[RANDOM_STATUSES], dropped;
    char         complaint[400]; /* a refusal that should not be; "" if none */
} random_pool;

/* A pool of about `steps` steps; the seed decides everything. */
random_pool *random_pool_new(rd_ctx *ctx, uint64_t seed);
void         random_pool_free(random_pool *pool);

/* ---- Numbers --------------------------------------------------------------------------------- */
uint64_t random_bits(random_pool *pool);
/* 0 <= result < n */
int64_t random_below(random_pool *pool, int64_t n);
/* true once in n */
bool   random_once(random_pool *pool, int64_t n);
double random_uniform(random_pool *pool, double lo, double hi);

/* ---- For the steps --------------------------------------------------------------------------- */
/* Takes a new node (or NULL, a refusal) into the pool; returns it if it is kept, else NULL.  The
 * context has no error afterwards. */
rd_expr *random_keep(random_pool *pool, rd_expr *x, const char *step);
/* A node of the pool, the later the likelier. */
const random_node *random_pick(random_pool *pool);
/* One of a float type; converted if need be. */
const random_node *random_pick_float(random_pool *pool);
/* One that broadcasts with x to a shape that is not too large; a number if none is found. */
rd_expr *random_partner(random_pool *pool, rd_expr *x);
/* A bool expression that broadcasts to x's shape. */
rd_expr *random_mask(random_pool *pool, rd_expr *x);
/* What the pool knows of x, NULL if x is not in it. */
const random_node *random_find(const random_pool *pool, const rd_expr *x);
int64_t            random_points(const rd_expr *x);
/* All elements of x in C order, as the oracle has them.  False if evaluation must fail. */
bool     random_values(random_pool *pool, rd_expr *x, oracle_value *value);
rd_expr *random_leaf(random_pool *pool, int rank, const int64_t *extent, rd_dtype type);
/* Integers in [lo, hi) of an integer type, as a leaf. */
rd_expr *random_index_leaf(random_pool *pool, int rank, const int64_t *extent, int64_t lo,
                           int64_t hi);
/* These ints, side by side, as i32 or i64. */
rd_expr *random_row_leaf(random_pool *pool, int64_t n, const int64_t *value);
rd_dtype random_type(random_pool *pool);

void random_choose_shape(random_pool *pool);
void random_first_leaves(random_pool *pool);
/* One step each; what they make goes through random_keep(). */
void random_view(random_pool *pool);
void random_map(random_pool *pool);
void random_function(random_pool *pool);
void random_fold(random_pool *pool);
void random_scan(random_pool *pool);
void random_sort(random_pool *pool);
void random_idiom(random_pool *pool);
void random_complex(random_pool *pool);
void random_pattern(random_pool *pool);
void random_made(random_pool *pool);
#endif
