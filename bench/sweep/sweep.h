/* rdim-sweep: random expressions, each timed beside plain loops and NumPy.
 *
 *     draw      a program: the sweep's own tree over leaves with layouts, from a seed
 *     to_rdim   the tree as the library's nodes
 *     loops     the tree as C, in a few orders of its loops, compiled by cc
 *     to_numpy  the tree as Python, run by a worker
 *     run       all of them in turn; check; report
 *
 * Nothing here looks into the library: the tree, its types and its loops are the sweep's own. */
#ifndef SWEEP_H
#define SWEEP_H
#include <rdim.h>
#include <stddef.h>

enum {
    MOST_RANK     = 6,
    MOST_LEAVES   = 6,
    MOST_ROOTS    = 4,
    MOST_NODES    = 500,
    MOST_OPERANDS = 3,
    MOST_VARIANTS =
        7, /* orders of loops that are timed; one more is what results are compared with */
    MOST_THREADS = 8
};

/* ---- Values ---------------------------------------------------------------------------------- */
/* What is known of a node's elements: where they lie, and how far rounding may have moved them. */
typedef struct range {
    double lo, hi, err;
} range;

/* How an operator chooses its type: as sweep_op_type() says. */
typedef enum op_rule { OP_SAME, OP_ARITH, OP_FLOAT, OP_COMPARE, OP_LOGIC, OP_WHERE } op_rule;

typedef struct op_row {
    const char *name;
    int         arity;
    op_rule     rule;
    /* @ in C becomes the suffix of float functions; %0, %1 in Python the operands. */
    const char *c_float, *c_int, *python;
    bool        jumps; /* a small change of the operand may change the result much */
    rd_expr *(*rdim1)(rd_expr *);
    rd_expr *(*rdim2)(rd_expr *, rd_expr *);
    /* false: these operands make no sense for it.  eps: of the result's type. */
    bool (*range_of)(const range *a, const range *b, double eps, range *r);
} op_row;

extern const op_row sweep_ops[];
extern const int    sweep_n_ops;
const op_row       *sweep_op(const char *name);

/* ---- Types ----------------------------------------------------------------------------------- */
typedef struct dtype {
    const char *name, *c, *numpy; /* c: of the value in a register; halves are held as float */
    const char *c_memory;
    int         size;
    bool        is_float, is_signed;
    double      eps, most; /* most: what it should stay below */
} dtype;

const dtype *sweep_dtype(rd_dtype type);
rd_dtype     sweep_promote(rd_dtype a, rd_dtype b);

/* ---- The tree -------------------------------------------------------------------------------- */
typedef enum node_kind {
    N_LEAF,
    N_NUMBER,
    N_MAP,
    N_CAST,
    N_USER,
    N_PERMUTE,
    N_EXPAND,
    N_RANGE,
    N_SELECT,
    N_WINDOW,
    N_DIAGONAL,
    N_TAKE,
    N_CONCAT,
    N_COORD,
    N_REDUCE,
    N_SCAN
} node_kind;

typedef enum fold_kind {
    F_SUM,
    F_PROD,
    F_MIN,
    F_MAX,
    F_ARGMIN,
    F_ARGMAX,
    F_ANY,
    F_ALL,
    F_MEAN, /* up to here loops know them; the rest is made of them */
    F_COUNT,
    F_VAR,
    F_STD,
    F_NORM,
    F_LOGSUMEXP,
    F_USER,
    N_FOLDS
} fold_kind;

typedef struct user_code user_code;
typedef struct node      node;
struct node {
    node_kind kind;
    int       id;
    rd_dtype  type;
    int       rank;
    int64_t   n[MOST_RANK];
    node     *in[MOST_OPERANDS];
    int       arity;
    range     r;
    bool      exact;   /* all ways to compute it give the same bits: a comparison may see it */
    bool      product; /* of floats: an addition may contract it */

    const op_row    *op;
    const user_code *user;
    double           value;             /* N_NUMBER */
    int              leaf;              /* N_LEAF   */
    int              axis, axis2;       /* views    */
    int64_t          start, step, stop; /* N_RANGE; N_SELECT: start; N_WINDOW: step, stop = n */
    int              order[MOST_RANK];  /* N_PERMUTE */
    bool             flip;              /* N_RANGE that reverses: rd_flip */

    fold_kind fold;
    unsigned  dims; /* bits of reduced axes */
    bool      keep, skip_nan, exclusive, reverse;
    node     *where, *weights, *initial;
    double    ddof, p;
    bool      stored; /* loops keep it in a temporary rather than compute it twice */
};

typedef struct leaf {
    rd_dtype type;
    int      rank;
    int64_t  n[MOST_RANK], stride[MOST_RANK];
    int64_t  first, elements; /* of element [0, ...]; of the memory */
    double   lo, hi, nans;    /* values, evenly between; the share of NaN */
    bool     whole;           /* floats without a fraction: no arithmetic on them rounds */
    void    *memory;
} leaf;

typedef struct program {
    uint64_t    seed;
    const char *kind;
    leaf        leaves[MOST_LEAVES];
    int         n_leaves;
    node       *nodes[MOST_NODES];
    int         n_nodes;
    node       *root[MOST_ROOTS];
    node  *loops_root[MOST_ROOTS]; /* another way to say it, for the loops; NULL: root        */
    int    n_roots;
    char  *numpy;    /* lines that set y0, y1, ...; NULL: as the tree says  */
    bool   overfull; /* drawn again */
    bool   trusting; /* loops are made of it: ranges are no longer looked at */
    double max_bytes;
} program;

/* tree.c: constructors.  NULL operands, and what makes no sense, give NULL. */
node   *sweep_node(program *p, node_kind kind, rd_dtype type);
node   *sweep_number(program *p, double value, rd_dtype type);
node   *sweep_map(program *p, const char *op, node *a, node *b);
node   *sweep_where(program *p, node *cond, node *a, node *b);
node   *sweep_cast(program *p, node *a, rd_dtype type);
node   *sweep_permute(program *p, node *a, const int *order);
node   *sweep_expand(program *p, node *a, int axis);
node   *sweep_range(program *p, node *a, int axis, int64_t start, int64_t stop, int64_t step);
node   *sweep_select(program *p, node *a, int axis, int64_t at);
node   *sweep_flip(program *p, node *a, int axis);
node   *sweep_window(program *p, node *a, int axis, int64_t n, int64_t step);
node   *sweep_diagonal(program *p, node *a);
node   *sweep_take(program *p, node *a, int axis, node *index);
node   *sweep_concat(program *p, node *a, node *b, int axis);
node   *sweep_coord(program *p, node *a, int axis);
node   *sweep_reduce(program *p, fold_kind f, node *a, unsigned dims, bool keep);
node   *sweep_scan(program *p, fold_kind f, node *a, int axis);
node   *sweep_user(program *p, const user_code *user, node *a);
node   *sweep_user_fold(program *p, const user_code *user, node *a, unsigned dims);
int64_t sweep_elements(const node *a);
int64_t sweep_reduced(const node *a); /* elements in one result of a reduction */
double  sweep_eps(rd_dtype type);

/* types.c, ranges.c, reduced.c */
rd_dtype    sweep_op_type(const op_row *o, rd_dtype a, rd_dtype b);
rd_dtype    sweep_fold_type(fold_kind f, rd_dtype type);
bool        sweep_fold_range(node *r);
const char *sweep_fold_name(fold_kind f);

/* ---- Functions and reducers of a user -------------------------------------------------------- */
struct user_code {
    const char *name;
    rd_expr *(*map)(rd_expr *x);
    const rd_reducer *reducer;
    rd_dtype          type;              /* of the result; 0: the operand's, a float           */
    node *(*loops)(program *p, node *x); /* the same by operators                              */
    node *(*loops_fold)(program *p, const node *reduction, node *x);
};
extern const user_code sweep_maps[], sweep_reducers[];
extern const int       sweep_n_maps, sweep_n_reducers;

/* ---- Drawing --------------------------------------------------------------------------------- */
typedef struct dice {
    uint64_t state;
} dice;

uint64_t sweep_random(dice *d);
int      sweep_roll(dice *d, int n); /* 0 .. n - 1               */
bool     sweep_chance(dice *d, double share);
double   sweep_between(dice *d, double lo, double hi);
int      sweep_weighted(dice *d, const int *weights, int n);
int64_t  sweep_log_between(dice *d, double lo, double hi);

typedef struct shape {
    int     rank;
    int64_t n[MOST_RANK];
} shape;

rd_dtype sweep_draw_type(dice *d);
rd_dtype sweep_draw_float(dice *d);
double   sweep_draw_count(dice *d, const program *p,
                          rd_dtype type);                   /* elements of the leading leaf */
shape    sweep_draw_shape(dice *d, double count, int rank); /* rank 0: any */
node    *sweep_draw_leaf(dice *d, program *p, rd_dtype type, const shape *s, double lo, double hi);
node    *sweep_plain_leaf(program *p, rd_dtype type, const shape *s, double lo,
                          double hi); /* C order */
node    *sweep_draw_operand(dice *d, program *p,
                            const node *like); /* a leaf that broadcasts to `like` */
node    *sweep_draw_map(dice *d, program *p, node *x, int n_ops);
node    *sweep_draw_mask(dice *d, program *p, node *x);
node    *sweep_draw_values(dice *d, program *p, int rank,
                           double per_type); /* a leaf, or a map of some */
unsigned sweep_draw_dims(dice *d, int rank);
void     sweep_nan_leaves(program *p, double share);

typedef void draw_fn(dice *d, program *p);
draw_fn      sweep_draw_maps, sweep_draw_reductions, sweep_draw_scans, sweep_draw_several,
    sweep_draw_rows, sweep_draw_pairs, sweep_draw_windows, sweep_draw_views, sweep_draw_products,
    sweep_draw_users;

program *sweep_draw(uint64_t seed, double max_bytes);
void     sweep_fill(program *p);
void     sweep_free(program *p);
char    *sweep_text(const program *p); /* for people; malloc'd */
double   sweep_work(const program *p);
void    *sweep_memory(size_t bytes); /* huge pages, touched; free() */

/* ---- Text ------------------------------------------------------------------------------------ */
typedef struct text {
    char  *at;
    size_t n, room;
} text;

void  sweep_put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *sweep_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* malloc'd */

/* ---- Loops ----------------------------------------------------------------------------------- */
typedef void loops_fn(void *const *arrays, int threads);
typedef struct loop_set {
    char     *source;     /* C of all variants                                            */
    int       n_variants; /* of those timed; variant n_variants is exact, to compare with */
    double    temporary[MOST_VARIANTS + 1];
    bool      broken[MOST_VARIANTS]; /* it does not come to the same: miscompiled */
    loops_fn *run[MOST_VARIANTS + 1];
    void     *library;
    char     *path;     /* without .c or .so */
    int       compiler; /* process; 0: none  */
} loop_set;

bool sweep_loops_write(program *p, loop_set *l, int most_threads);
void sweep_loops_compile(loop_set *l, const char *folder, uint64_t seed); /* starts it */
bool sweep_loops_open(loop_set *l);                                       /* waits for it */
void sweep_loops_close(loop_set *l);

/* ---- Other tongues --------------------------------------------------------------------------- */
bool  sweep_to_rdim(const program *p, rd_ctx *ctx, rd_expr **roots);
char *sweep_to_numpy(const program *p); /* NULL: it lacks the words */

typedef struct worker worker;
worker               *sweep_worker_start(int threads); /* NULL: no numpy here */
bool                  sweep_worker_load(worker *w, const program *p, const char *python);
double sweep_worker_total(const worker *w); /* magnitudes of its first result, added */
/** Seconds of one of `times` runs.  NAN: it failed. */
double sweep_worker_time(worker *w, int times);
void   sweep_worker_stop(worker *w);

/* ---- Running --------------------------------------------------------------------------------- */
typedef struct options {
    int64_t  count, only;
    uint64_t seed;
    int      threads[MOST_THREADS], n_threads;
    double   max_bytes, seconds;
    bool     json, no_numpy, hash_only, by_turns, estimates;
} options;

int sweep_options_read(options *o, int argc, char **argv);

typedef struct result {
    uint64_t    seed, hash;
    const char *kind;
    char       *expr, *explain, dtype[8], form[16];
    int         threads, best; /* best: variant of the loops */
    double      seconds, loops, numpy, ratio, work;
    double      estimate, price; /* what the library expects, NAN: it does not say */
    int64_t     failed;          /* texts that could not be compiled, so far       */
    double      variant[MOST_VARIANTS];
} result;

typedef enum verdict { RAN, REFUSED, WRONG } verdict;

/** Runs a drawn program for one number of threads. */
verdict sweep_run(program *p, loop_set *l, const options *o, int threads, worker *w, result *r);
/** It runs when it is told: turns.h.  false: the library refuses it. */
bool     sweep_by_turns(program *p, int threads);
bool     sweep_differs(const node *root, const void *got, const void *want, double slack, char *why,
                       size_t size);
double   sweep_total(const node *root, const void *data);
uint64_t sweep_hash(const node *root, const void *data, uint64_t hash);
void     sweep_report_json(const result *r);
void     sweep_report(const result *results, int64_t n);
/** What explain expects of a run, in seconds: by its estimate, and by the price of loop trees. */
void   sweep_estimates_read(result *r);
void   sweep_estimates_line(const result *r);
void   sweep_estimates_report(const result *results, int64_t n);
double sweep_now(void);
#endif
