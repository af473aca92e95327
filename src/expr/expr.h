/* expr.h - the expression graph: what a node is, and how a context makes and keeps nodes.
 *
 * A node is immutable and says WHAT is computed, not how.  Constructors check everything and make
 * every conversion explicit.  Readers of the graph (the evaluator, the printers, the tests' oracle)
 * therefore meet few cases:
 *
 *   - Operands of MAP, CALL, REDUCE and SCAN (x, weights, where, labels) have the same shape:
 *     broadcasting is a VIEW.
 *   - Operands have the type in which the operator works: conversions are MAP cast nodes.
 *   - x of a REDUCE or SCAN has the accumulator's type; keepdims, .initial, mean, std and norm are
 *     views and maps around it.
 *   - A VIEW of a VIEW is one VIEW; a NUMBER is strong wherever it meets a strong operand.
 *   - A complex expression is a COMPLEX node, a pair of real expressions: complex.h.
 *   - A sparse expression is a SPARSE node, made of dense operands: sparse.h.  Only COMPLEX and
 *     LATER have a SPARSE operand. */
#ifndef RD_EXPR_EXPR_H
#define RD_EXPR_EXPR_H
#include "core/ops.h"
#include "core/reducers.h"
#include "core/sort_facts.h"
#include "rdim.h"
#include <stdarg.h>

/* The kinds of nodes; [facts] names the member of rd_expr.as that describes the node. */
typedef enum rd_expr_kind {
    RD_EXPR_LEAF,    /* caller memory, or a named input [leaf] */
    RD_EXPR_NUMBER,  /* a constant of rank 0 [number] */
    RD_EXPR_COORD,   /* the i64 index along `axis`; other extents are 1 [axis] */
    RD_EXPR_VIEW,    /* element i is element offset + coef i of in[0] [view] */
    RD_EXPR_RESHAPE, /* in[0]'s elements in C order */
    RD_EXPR_TAKE,    /* a gather: in[1]'s axes replace `axis` of in[0], or run along it [axis] */
    RD_EXPR_CONCAT,  /* in[0..n_in) joined along `axis` [axis] */
    RD_EXPR_MAP,     /* op(in[0..n_in)) [none: rd_expr.op] */
    RD_EXPR_CALL,    /* a user's C function of in[0..n_in) [call] */
    /* in[0] x, in[1] weights or NULL, in[2] where (bool) or NULL, in[3] group labels (i64) if
     * rd_is_grouped() [fold] */
    RD_EXPR_REDUCE,
    RD_EXPR_SCAN, /* the same along one axis; the result has x's shape [fold] */
    RD_EXPR_SORT, /* rows of in[0] along its last axis, sorted [sort] */
    /* the stored values of a product of sparse matrices, as a row; in[0] and in[1] are the values
     * of both [product] */
    RD_EXPR_PRODUCT,
    RD_EXPR_COMPLEX, /* in[0] + i in[1], of one shape; never an operand of another node */
    RD_EXPR_SPARSE,  /* in[0] values, in[1] fill or NULL, then rows of coordinates [sparse] */
    /* the product of two SPARSE, in[0] and in[1]: a SPARSE with stored places that are not
     * computed yet [later] */
    RD_EXPR_LATER
} rd_expr_kind;

/* Facts of one kind of node.  All bytes are defined, padding too (zeroed before filling): equal
 * facts have equal bytes, so hash-consing finds a node again. */
typedef struct rd_leaf_facts {
    const void *data;                /* NULL: an input */
    const char *name;                /* of an input, interned: equal names have equal addresses */
    int64_t     stride[RD_MAX_RANK]; /* in elements; 0 where extent < 2 */
    int64_t     device; /* where the memory lies: 0 here, else a GPU's code as in rd_array */
    /* a sparse pattern's row: its elements were checked to be indices below this number; 0: not
     * checked */
    int64_t below;
} rd_leaf_facts;

typedef struct rd_number_facts {
    rd_word value; /* in the class of the node's type */
} rd_number_facts;

typedef struct rd_axis_facts {
    int64_t axis;  /* of COORD and CONCAT in the node, of TAKE in in[0] */
    int64_t along; /* TAKE only: in[1] has the node's axes, and in[0] all of them but `axis` */
} rd_axis_facts;

/* Axis a of in[0] is read at offset[a] + sum over k of coef[a * rank + k] * i[k], where i is the
 * node's index. */
typedef struct rd_view_facts {
    int64_t number[1]; /* in[0]->rank offsets, then in[0]->rank x rank coefficients */
} rd_view_facts;

typedef struct rd_call_facts {
    /* One of these seven is set; in[] and the node have the types of the function. */
    float (*f32_1)(float);
    float (*f32_2)(float, float);
    double (*f64_1)(double);
    double (*f64_2)(double, double);
    void (*f32)(int64_t n, const float *const *in, float *out);
    void (*f64)(int64_t n, const double *const *in, double *out);
    rd_block_fn        *block;
    void               *user;         /* passed to `block` */
    const char         *name;         /* interned; for messages and dumps */
    const char         *names, *body; /* interned text of f32 and f64, or NULL: see rd_fn */
    const rd_fn *const *derivative;   /* the caller's functions, one an operand; NULL: none */
} rd_call_facts;

/* How group labels are ordered, as far as is known. */
typedef enum rd_pattern {
    RD_NO_PATTERN,    /* nothing */
    RD_PATTERN_APART, /* indices of stored places: adjacent ones differ, but are close */
    RD_PATTERN_RUNS,  /* long runs of equal labels */
    RD_PATTERN_ROWS   /* runs, and the labels are a leaf that ascends */
} rd_pattern;

typedef struct rd_fold_facts {
    uint64_t dims;               /* bit a: axis a of x is reduced; a scan has one bit */
    int32_t  reducer;            /* rd_reducer_id */
    int32_t  law;                /* rd_law: the table's, serial on request, or the user's */
    double   ddof;               /* the reducer's parameter P */
    int32_t  exclusive, reverse; /* scans only */
    /* min and max with .initial: an empty reduction gives +inf or -inf (ints: the extreme), not
     * NaN */
    int32_t           identity;
    int32_t           of_pattern; /* rd_pattern of the group labels */
    const rd_reducer *user;       /* interned; RD_RED_user only; n_out > 1 adds a last axis */
} rd_fold_facts;

/* in[2 + k] is a row of coordinates: indices along axis[k] of the node. */
typedef struct rd_sparse_facts {
    int64_t n, axis[RD_MAX_RANK]; /* coordinates, and the axis of each */
} rd_sparse_facts;

/* The product is computed in this type, then cast to the node's. */
typedef struct rd_later_facts {
    int32_t type;        /* rd_dtype                           */
    int32_t reducer, op; /* rd_reducer_id, rd_op: the semiring */
    int32_t stored;      /* no fill: other places hold nothing */
} rd_later_facts;

/* The device of an expression with leaves on several GPUs. */
enum { RD_SEVERAL = -1, RD_MOST_DEVICES = 64 };
/* The device of an operation on operands of two devices: memory of this process (device 0) fits
 * any; two GPUs are RD_SEVERAL. */
static inline int32_t rd_same_device(int32_t a, int32_t b)
{
    return a == b || b == 0 ? a : a == 0 ? b : RD_SEVERAL;
}

/* A node, made by rd_node().  Constructors of sparse arrays and masks set `of_pattern`, `blocks`,
 * `ascends`, `pieces`, `lists` and `stored` afterwards. */
struct rd_expr {
    rd_ctx      *ctx;
    rd_expr_kind kind;
    rd_dtype     type;
    bool         weak;       /* a number, or maps of numbers: takes the type of strong operands */
    rd_pattern   of_pattern; /* a leaf of labels: their order */
    bool         blocks; /* a leaf: a table of block pairs, followed by range lists (blocks.c) */
    rd_op        op;     /* MAP */
    int32_t      rank, n_in; /* number of axes, and of operands */
    int32_t      device;     /* the leaves' device, as in rd_array; RD_SEVERAL */
    /* a pattern's leaf in ascending order: all indices are below this number, and memory behind it
     * holds where each begins; 0: no such leaf */
    int64_t                     ascends;
    const struct rd_row_pieces *pieces; /* such a leaf's partition of long rows; NULL: none */
    struct rd_lists            *lists;  /* a LATER: its stored places, once computed; else NULL */
    int64_t        stored; /* a sparse array at all places: how many are stored; 0: no such array */
    const int64_t *extent; /* `rank` extents */
    const int64_t *origin; /* first index along each axis; NULL: all 0 (origin.h) */
    rd_expr *const *in;    /* operands; optional ones may be NULL */
    union {
        const void                  *any;
        const rd_leaf_facts         *leaf;
        const rd_number_facts       *number;
        const rd_axis_facts         *axis;
        const rd_view_facts         *view;
        const rd_call_facts         *call;
        const rd_fold_facts         *fold;
        const rd_sort_facts         *sort;
        const rd_sparse_facts       *sparse;
        const rd_later_facts        *later;
        const struct rd_row_product *product;
    } as;             /* facts of the kind */
    size_t   as_size; /* bytes of facts */
    uint64_t hash;
    /* unique in the context, even after releases; 0: the node was released, and its memory is not
     * reused yet */
    uint64_t id;
    uint32_t serial; /* grows with each new node: operands have smaller ones than readers */
};

/* True for a reduction by group, which has a fourth operand: the group label of each element.  Its
 * axes are the kept ones, the groups, and a user's outputs. */
static inline bool rd_is_grouped(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE && e->n_in > 3;
}

/* The number of outputs of a reduction: a user's reducer may have several, which form a last
 * axis. */
static inline int32_t rd_outputs_of(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE && e->as.fold->user ? e->as.fold->user->n_out : 1;
}

/* ---- Context (ctx.c) ------------------------------------------------------------------------- */
/* Allocate memory of the context through the caller's hooks, counted against the limit.
 * rd_alloc() and rd_alloc_raw() record RD_ERR_MEMORY on failure.  The other three record nothing
 * and are safe on any thread.  rd_alloc() and rd_alloc_quiet() zero the memory.  _pages and _work
 * ask for large pages for large blocks. */
void *rd_alloc(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_raw(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_quiet(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_pages(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_work(rd_ctx *ctx, int64_t bytes);
/* Frees what rd_alloc_work() returned.  Large blocks are kept for reuse, as clearing fresh pages
 * takes the system longer than many an evaluation.  Kept blocks do not count against the limit,
 * and the system may take their pages back. */
void rd_free_work(rd_ctx *ctx, void *p);
/* Grows a block; on failure it keeps p and returns NULL. */
void *rd_realloc(rd_ctx *ctx, void *p, int64_t old_bytes, int64_t bytes);
void  rd_free(rd_ctx *ctx, void *p);
/* Detaches memory that may outlive its context: it no longer counts, and rd_free_detached()
 * frees it by the hooks returned. */
rd_ctx_opts rd_detach(rd_ctx *ctx, void *p);
void        rd_free_detached(const rd_ctx_opts *hooks, void *p);
int64_t     rd_memory_now(const rd_ctx *ctx);  /* bytes allocated */
int64_t     rd_memory_peak(const rd_ctx *ctx); /* most bytes since the last reset */
void        rd_memory_reset_peak(rd_ctx *ctx);
/* Takes zeroed memory that lives as long as the nodes made now: until an earlier mark is
 * released. */
void *rd_arena(rd_ctx *ctx, size_t bytes);
/* Like rd_arena(), but not zeroed: the caller must write all of it. */
void       *rd_arena_room(rd_ctx *ctx, size_t bytes);
const char *rd_arena_text(rd_ctx *ctx, const char *text);
/* Returns one address for each distinct byte string; it lives as long as the nodes made now. */
const void *rd_intern(rd_ctx *ctx, const void *bytes, size_t size);

/* rd_leaf_labelled() gives a leaf a label or the path of its file for dumps, NULL without
 * memory, after recording.  The last two return what was given last; NULL: nothing. */
/* Returns another leaf of the same memory, known to hold indices below `below`.  NULL after
 * recording a failure. */
rd_expr    *rd_indices_below(rd_expr *leaf, int64_t below);
rd_expr    *rd_leaf_labelled(rd_expr *leaf, const char *label, const char *path);
const char *rd_leaf_label(const rd_expr *leaf);
const char *rd_leaf_path(const rd_expr *leaf);

/* Records the first failure.  Always returns NULL, so that constructors can `return
 * rd_fail(...)`. */
__attribute__((format(printf, 3, 4))) void *rd_fail(rd_ctx *ctx, rd_status status,
                                                    const char *format, ...);
/* Like rd_fail(), from any thread that runs a plan: recorded if the context has no error yet. */
rd_status rd_fail_run(rd_ctx *ctx, rd_status status, const char *sentence);
/* Records RD_ERR_MEMORY: the sentence, then the bytes asked for, allocated, and allowed.  With
 * bytes 0, as many as the context refused last.  Returns NULL. */
__attribute__((format(printf, 3, 4))) void *rd_fail_memory(rd_ctx *ctx, int64_t bytes,
                                                           const char *format, ...);
/* A new context with the options of another. */
rd_ctx *rd_ctx_new_alike(const rd_ctx *ctx);
/* Sets the public call that failures of planning and evaluating name; returns the previous one. */
const char *rd_begin_call(rd_ctx *ctx, const char *call);
const char *rd_call_name(const rd_ctx *ctx);
/* Record a sentence, the text, and a caret under its byte `at`: with RD_ERR_TEXT, or with
 * another status.  Return NULL. */
void   *rd_fail_text(rd_ctx *ctx, const char *call, const char *what, const char *text, size_t at);
void   *rd_fail_at(rd_ctx *ctx, rd_status status, const char *call, const char *what,
                   const char *text, size_t at);
void    rd_warn(rd_ctx *ctx, uint32_t warnings); /* from any thread */
bool    rd_ctx_measures(const rd_ctx *ctx);
int32_t rd_ctx_device(const rd_ctx *ctx);  /* RD_CUDA(k), if no data decide the device ... */
int32_t rd_ctx_devices(const rd_ctx *ctx); /* ... and how many devices from it on, at most */
void   *rd_ctx_stream(const rd_ctx *ctx);
/* The backend that RDIM_BACKEND named when the context was made; AUTO: none. */
rd_backend rd_ctx_prefers(const rd_ctx *ctx);
/* clears the flag of rd_cancel(); true if it was set: the caller must end; any thread */
bool rd_cancel_taken(rd_ctx *ctx);
/* Forgets a failure after which the caller has another way to go on. */
void rd_error_forgive(rd_ctx *ctx);
/* True if planning may go on.  False if something has failed, or rd_cancel() was called, which
 * is then recorded. */
bool rd_goes_on(rd_ctx *ctx);

int32_t rd_ctx_threads(const rd_ctx *ctx); /* as the options ask; 0: OpenMP's choice */
bool    rd_ctx_deterministic(const rd_ctx *ctx);
/* Something that the context frees when it ends, newest first: plans, mapped files.  `drop`
 * removes it from the list early. */
typedef struct rd_owned {
    struct rd_owned *next, *prev;
    void (*drop)(struct rd_owned *self);
} rd_owned;
void rd_own(rd_ctx *ctx, rd_owned *thing);
void rd_disown(rd_ctx *ctx, rd_owned *thing);

/* Something that is dropped and freed after all else of a context; added from any thread. */
typedef struct rd_kept_last {
    struct rd_kept_last *older;
    void (*drop)(struct rd_kept_last *self);
} rd_kept_last;
rd_kept_last *rd_ctx_kept_last(const rd_ctx *ctx);
void          rd_ctx_keep_last(rd_ctx *ctx, rd_kept_last *thing);

/* The evaluator's caches, kept in a context between evaluations.  `reclaim` frees unused parts when
 * memory is short, from any thread, and is true if there were any.  `drop` frees all when the
 * context ends. */
typedef struct rd_keeper {
    bool (*reclaim)(struct rd_keeper *self);
    void (*drop)(struct rd_keeper *self);
} rd_keeper;
rd_keeper *rd_ctx_keeper(const rd_ctx *ctx); /* NULL: none yet */
void       rd_ctx_set_keeper(rd_ctx *ctx, rd_keeper *keeper);
/* One spare block of memory for planning.  rd_take_spare() returns NULL if there is none;
 * rd_keep_spare() is false if there is one already. */
void *rd_take_spare(rd_ctx *ctx);
bool  rd_keep_spare(rd_ctx *ctx, void *p);
/* Frees all kept memory that is not in use, as when memory is short.  False if there was none. */
bool rd_reclaim(rd_ctx *ctx);

/* rd_is_here() is true if the node is not released; else rd_fail_gone() records the failure and is
 * false.  Detection is certain in debug builds, else possible until the memory is reused.  It costs
 * one comparison. */
bool rd_fail_gone(rd_ctx *ctx, const char *call, const char *what, int k);
/* True if x is not released; else records in the context `told` that operand k of `call` is gone.
 * A release sets the id to 0. */
static inline bool rd_is_here(rd_ctx *told, const char *call, const char *what, int k,
                              const rd_expr *x)
{
    return x->id || rd_fail_gone(told, call, what, k);
}
/* Returns the node equal to `node`, found or made (hash-consing); copies operands, extents and
 * facts.  `facts` may be NULL. */
rd_expr *rd_node(const rd_expr *node, const void *facts, size_t size);

/* ---- Checks and shapes (shape.c, layout.c, meet.c) ------------------------------------------- */
/* Writes a shape as text, "(2, 3)", into a buffer of this size. */
enum { RD_SHAPE_TEXT = 32 * 22 + 8 };
const char *rd_shape_text(int rank, const int64_t *extent, char text[RD_SHAPE_TEXT]);
/* The product of extents; -1 if one is negative or the product exceeds 2^62.  An extent of 0
 * counts as 1, as a later reduction or reshape may remove it and must not leave a shape that
 * overflows. */
int64_t rd_points(int rank, const int64_t *extent);
/* Resolves an axis of x, counted from 0; -1 after recording RD_ERR_AXIS for `call`. */
int rd_axis(const rd_expr *x, int axis, const char *call);
/* Resolves dims to bits, one for each axis; false after recording RD_ERR_AXIS for `call`. */
bool rd_dims_bits(const rd_expr *x, const rd_dims *dims, const char *call, uint64_t *bits);
/* Writes dense strides of a shape; order 1: the first axis is contiguous.  Extents below 2 get
 * stride 0. */
void rd_dense_strides(int rank, const int64_t *extent, int order, int64_t *stride);
/* Checks a descriptor and writes its strides; false after recording the failure for `call`. */
bool rd_array_layout(rd_ctx *ctx, const rd_array *array, const char *call, int64_t *stride);
/* True if the array's address can hold elements; the second, if results may be written to it.
 * False after recording the failure for `call`. */
bool rd_array_readable(rd_ctx *ctx, const rd_array *array, const char *call);
bool rd_array_writable(rd_ctx *ctx, const rd_array *array, const char *call);
/* True if all operands belong to one context; records RD_ERR_ARGUMENT for `call` if not. */
bool rd_same_ctx(const char *call, int n, rd_expr *const *x);
/* Broadcasts x to a shape by NumPy's rules, or returns x if it has it.  NULL after recording
 * RD_ERR_SHAPE for `call`. */
rd_expr *rd_broadcast_to(rd_expr *x, int rank, const int64_t *extent, const char *call);
/* Finds the common shape of operands; false after recording RD_ERR_SHAPE for `call`. */
bool rd_common_shape(const char *call, int n, rd_expr *const *x, int *rank, int64_t *extent);

/* ---- Constructors shared inside the library -------------------------------------------------- */
/* Applies an operator to operands of any type and shape: broadcasts, promotes, casts (map.c). */
rd_expr *rd_map_op(rd_op op, const char *call, int n, rd_expr *const *x);
/* The type of rd_map_op() and of its variants for some kinds of operands. */
typedef rd_expr *rd_mapper(rd_op op, const char *call, int n, rd_expr *const *x);
/* Like rd_map_op(), under another type rule than the operator's own (map.c). */
rd_expr *rd_map_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x);
/* The type to which operands promote under a rule, with weak numbers (map_types.c). */
rd_dtype rd_rule_type(rd_rule rule, int n, rd_expr *const *x);
/* True if no operand is NULL and all belong to one context and are not released; records for
 * `call` unless one is NULL (meet.c). */
bool rd_operands(const char *call, int n, rd_expr *const *x);
/* Casts x to `type`, or returns x if it has it (any.c). */
rd_expr *rd_cast_to(rd_expr *x, rd_dtype type);
/* Like rd_cast_to(), but a weak int that the type cannot hold is RD_ERR_TYPE of `call` (any.c). */
rd_expr *rd_fit_to(rd_expr *x, rd_dtype type, const char *call);
/* Casts x to the float type `real`; a weak number becomes a weak float (any.c). */
rd_expr *rd_as_real(rd_expr *x, rd_dtype real);
/* rd_leaf() under the name of another call (leaf.c). */
rd_expr *rd_leaf_of(rd_ctx *ctx, const rd_array *array, const char *call);
/* A strong constant of the type (number.c). */
rd_expr *rd_number(rd_ctx *ctx, rd_dtype type, rd_word value);
/* Makes a view of offsets and coefficients (any.c): composed if x is a view itself, x itself if
 * it is the identity.  `origin`: of its axes; NULL: all 0. */
rd_expr *rd_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                 const int64_t *origin);
/* Moves axis `from` to position `to`; the others keep their order (view.c). */
rd_expr *rd_move_axis(rd_expr *x, int from, int to);
/* Reads function text, as rd_map_text() documents it (function_text.c); NULL after recording
 * RD_ERR_TEXT. */
rd_expr *rd_function_text(rd_ctx *ctx, const char *call, const char *text, int n,
                          rd_expr *const *x);
/* Reads the text of an RD_FN, a C expression of rd_as_real() operands (function_text.c).  Text
 * that C and function text interpret differently is refused.  `quiet`: no error is recorded, as
 * the caller falls back to compiled loops. */
rd_expr *rd_function_c(rd_ctx *ctx, const char *call, const char *text, int n, rd_expr *const *x,
                       rd_dtype real, bool quiet);

/* ---- Printing (print_expr.c) ----------------------------------------------------------------- */
const char *rd_expr_kind_name(rd_expr_kind kind);
/* Appends one line without operands: "sum dims 0 2", "leaf f32 (3, 4)"; for dumps and messages. */
struct rd_text;
void rd_expr_line(struct rd_text *text, const rd_expr *x);
#endif
