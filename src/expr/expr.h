/* expr.h - the expression graph: what a node is, and how the context makes and keeps nodes.
 *
 * A node is immutable and says WHAT, never how.  Constructors have checked everything and made
 * every conversion explicit, so that those who read the graph (the evaluator, the printers, the
 * tests' oracle) find few kinds:
 *   - operands of MAP, CALL and of REDUCE and SCAN (x, weights, where, labels) have the same shape:
 *     broadcasting is a VIEW;
 *   - operands have the type the operator works in: conversions are MAP cast nodes;
 *   - x of a REDUCE or SCAN has the accumulator's type; keepdims, .initial, mean, std, norm are
 *     views and maps around it;
 *   - a VIEW of a VIEW is one VIEW; a NUMBER is strong wherever it meets a strong operand;
 *   - what is complex is a COMPLEX, and its parts are real: complex.h;
 *   - what is sparse is a SPARSE, and what it is made of is dense: sparse.h.  It is no other node's
 *     operand, but for COMPLEX and LATER. */
#ifndef RD_EXPR_EXPR_H
#define RD_EXPR_EXPR_H
#include "core/ops.h"
#include "core/reducers.h"
#include "core/sort_facts.h"
#include "rdim.h"
#include <stdarg.h>

typedef enum rd_expr_kind {
    RD_EXPR_LEAF,    /* caller memory, or a named input                    leaf              */
    RD_EXPR_NUMBER,  /* a constant of rank 0                               number            */
    RD_EXPR_COORD,   /* i64 index along `axis`; other extents are 1        axis              */
    RD_EXPR_VIEW,    /* element i is element offset + coef i of in[0]      view              */
    RD_EXPR_RESHAPE, /* in[0]'s elements in C order                                          */
    RD_EXPR_TAKE,    /* in[0] with `axis` replaced by the axes of in[1], or along: axis      */
    RD_EXPR_CONCAT,  /* in[0..n_in) joined along `axis`                    axis              */
    RD_EXPR_MAP,     /* op(in[0..n_in))                                    op                */
    RD_EXPR_CALL,    /* a user's C function of in[0..n_in)                 call              */
    RD_EXPR_REDUCE,  /* in[0] x, in[1] weights or NULL, in[2] where (bool) or NULL,
                      * in[3] labels (i64) if there are groups: rd_is_grouped()      fold    */
    RD_EXPR_SCAN,    /* the same along one axis, result of x's shape                 fold    */
    RD_EXPR_SORT,    /* rows of in[0] along its last axis, put in order              sort    */
    RD_EXPR_PRODUCT, /* a row: what a product of sparse matrices comes to where it has places, of the
                      * values of both, in[0] and in[1]                        product   */
    RD_EXPR_COMPLEX, /* in[0] + i in[1], of one shape; no other node has it as operand       */
    RD_EXPR_SPARSE,  /* in[0] values, in[1] fill or NULL, then coordinates and rows      sparse */
    RD_EXPR_LATER    /* a product of two SPARSE, in[0] and in[1]: a SPARSE whose places nobody has
                      * asked for                                              later     */
} rd_expr_kind;

/* Facts of one kind of node.  Each is plain bytes without padding garbage (zeroed before filling):
 * equal bytes mean equal facts, which is how hash-consing finds a node again. */
typedef struct rd_leaf_facts {
    const void *data;                /* NULL: an input                                       */
    const char *name;                /* interned (equal names, equal pointers); NULL: memory */
    int64_t     stride[RD_MAX_RANK]; /* elements; 0 where extent < 2                         */
    int64_t     device;              /* as of rd_array                                       */
    int64_t     below; /* a pattern's: each element is an index below it, as was looked
                                      * at when the pattern was made; 0: nobody looked           */
} rd_leaf_facts;

typedef struct rd_number_facts {
    rd_word value; /* in the class of the node's type */
} rd_number_facts;

typedef struct rd_axis_facts {
    int64_t axis;
    int64_t along; /* of TAKE: in[1] has the node's axes, and in[0] but for its own along `axis` */
} rd_axis_facts;

/* Axis a of in[0] is read at offset[a] + sum over k of coef[a * rank + k] * i[k], i the node's
 * index. */
typedef struct rd_view_facts {
    int64_t number[1]; /* in[0]->rank offsets, then in[0]->rank x rank coefficients */
} rd_view_facts;

typedef struct rd_call_facts {
    /* one of three; in[] and the node have the types of the function */
    float (*f32_1)(float);
    float (*f32_2)(float, float);
    double (*f64_1)(double);
    double (*f64_2)(double, double);
    void (*f32)(int64_t n, const float *const *in, float *out);
    void (*f64)(int64_t n, const double *const *in, double *out);
    rd_block_fn *block;
    void        *user;
    const char  *name;         /* interned; for messages and dumps                   */
    const char  *names, *body; /* interned; of f32 and f64, or NULL: see rd_fn       */
} rd_call_facts;

/* What neighbours among labels are. */
typedef enum rd_pattern {
    RD_NO_PATTERN,    /* anything */
    RD_PATTERN_APART, /* indices of places of a pattern, near each other, but not the same */
    RD_PATTERN_RUNS,  /* the same for many places */
    RD_PATTERN_ROWS   /* and a leaf that ascends */
} rd_pattern;

typedef struct rd_fold_facts {
    uint64_t          dims;    /* bit a: axis a of x is reduced; a scan has one bit */
    int32_t           reducer; /* rd_reducer_id */
    int32_t           law;     /* rd_law; the table's, or serial on request, or the user's */
    double            ddof;    /* the reducer's parameter P */
    int32_t           exclusive, reverse; /* scans */
    int32_t           identity;   /* min, max with .initial: of nothing +inf / -inf (or the int
                                 * extreme), not NaN */
    int32_t           of_pattern; /* rd_pattern: of labels */
    const rd_reducer *user; /* interned copy, RD_RED_user only; n_out > 1 gives a new last axis */
} rd_fold_facts;

/* Coordinate k is in in[2 + k], a row, and is the index along axis[k] of the node. */
typedef struct rd_sparse_facts {
    int64_t n, axis[RD_MAX_RANK];
} rd_sparse_facts;

/* The product has this type, and is cast to the node's. */
typedef struct rd_later_facts {
    int32_t type;        /* rd_dtype                           */
    int32_t reducer, op; /* rd_reducer_id, rd_op: the semiring */
    int32_t stored;      /* nothing is at other places         */
} rd_later_facts;

/* Leaves lie on several GPUs. */
enum { RD_SEVERAL = -1, RD_MOST_DEVICES = 64 };
/* One device for two places; this process's memory goes with any. */
static inline int32_t rd_same_device(int32_t a, int32_t b)
{
    return a == b || b == 0 ? a : a == 0 ? b : RD_SEVERAL;
}

struct rd_expr {
    rd_ctx      *ctx;
    rd_expr_kind kind;
    rd_dtype     type;
    bool         weak; /* a number, or maps of numbers only: takes the type of what it meets */
    rd_pattern   of_pattern; /* a leaf: its places along an axis                               */
    bool         blocks; /* a leaf: which blocks of pairs count; lists behind it (blocks.c)    */
    rd_op        op;     /* MAP                                                                */
    int32_t      rank, n_in;
    int32_t      device;  /* of the leaves below, as of rd_array; RD_SEVERAL                  */
    int64_t      ascends; /* of a pattern's leaf: indices below it, of which memory behind it says
                             * from where each begins; 0: not so */
    const struct rd_row_pieces *pieces; /* of such a leaf, if its long rows are cut; NULL */
    struct rd_lists *lists;  /* of a LATER: its places, once they are asked for; else NULL */
    int64_t          stored; /* of a sparse array at all places: how many are stored; 0: no such  */
    const int64_t  *extent; /* rank of them                                                       */
    const int64_t  *origin; /* the first index along each axis; NULL: 0 (origin.h)                */
    rd_expr *const *in;
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
    } as;
    size_t   as_size;
    uint64_t hash;
    uint64_t id;     /* never another node's of this context, not even after a release; 0: it
                      * was released, and nothing new is in its place yet                   */
    uint32_t serial; /* grows with each new node of the context: operands have smaller ones */
};

/* A reduction whose last operand says to which group each element goes: axes are the kept ones, the
 * groups, and a user's outputs. */
static inline bool rd_is_grouped(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE && e->n_in > 3;
}

/* Values of each result, which are a last axis if they are several. */
static inline int32_t rd_outputs_of(const rd_expr *e)
{
    return e->kind == RD_EXPR_REDUCE && e->as.fold->user ? e->as.fold->user->n_out : 1;
}

/* ---- Context (ctx.c) ------------------------------------------------------------------------- */
/* Memory of the context through the caller's hooks, counted against the limit.  rd_alloc records
 * RD_ERR_MEMORY and returns NULL on failure; rd_alloc_quiet does not record, is safe on any thread.
 * Both zero what they return, those called _raw, _pages and _work do not; the last two do not
 * record, and ask for large pages where blocks are large. */
void *rd_alloc(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_raw(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_quiet(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_pages(rd_ctx *ctx, int64_t bytes);
void *rd_alloc_work(rd_ctx *ctx, int64_t bytes);
/* For what rd_alloc_work() gave: large blocks are kept for the next ones, as clearing fresh pages
 * takes the system longer than many an evaluation.  They count no more, and the system may take
 * their pages back. */
void rd_free_work(rd_ctx *ctx, void *p);
/* keeps p on failure, returns NULL */
void *rd_realloc(rd_ctx *ctx, void *p, int64_t old_bytes, int64_t bytes);
void  rd_free(rd_ctx *ctx, void *p);
/* Memory that may outlive its context: no longer counted, and freed by the hooks that are
 * returned. */
rd_ctx_opts rd_detach(rd_ctx *ctx, void *p);
void        rd_free_detached(const rd_ctx_opts *hooks, void *p);
int64_t     rd_memory_now(const rd_ctx *ctx);  /* bytes held                       */
int64_t     rd_memory_peak(const rd_ctx *ctx); /* most held since the last reset    */
void        rd_memory_reset_peak(rd_ctx *ctx);
/* Memory that lives as long as the nodes made now: until a mark before it is released.  Zeroed. */
void *rd_arena(rd_ctx *ctx, size_t bytes);
/* The same, but for what is in it: whoever asks writes all of it. */
void       *rd_arena_room(rd_ctx *ctx, size_t bytes);
const char *rd_arena_text(rd_ctx *ctx, const char *text);
/* One address per distinct byte string, living like the node that is made next to it. */
const void *rd_intern(rd_ctx *ctx, const void *bytes, size_t size);

/* For dumps: a leaf's label, or the file that it is from; NULL without memory, after recording
 * that.  What was said last, NULL: nothing. */
/* A leaf whose elements are known to be indices below `below`: another one of its memory.  NULL
 * after recording a failure. */
rd_expr    *rd_indices_below(rd_expr *leaf, int64_t below);
rd_expr    *rd_leaf_labelled(rd_expr *leaf, const char *label, const char *path);
const char *rd_leaf_label(const rd_expr *leaf);
const char *rd_leaf_path(const rd_expr *leaf);

/* Records the first failure; returns NULL always, so that constructors can `return
 * rd_fail(...)`. */
__attribute__((format(printf, 3, 4))) void *rd_fail(rd_ctx *ctx, rd_status status,
                                                    const char *format, ...);
/* The same from any thread that runs a plan: recorded if the context has no error yet. */
rd_status rd_fail_run(rd_ctx *ctx, rd_status status, const char *sentence);
/* RD_ERR_MEMORY: the sentence, then how many bytes were asked for (0: as many as the context
 * refused last), are held and allowed; returns NULL. */
__attribute__((format(printf, 3, 4))) void *rd_fail_memory(rd_ctx *ctx, int64_t bytes,
                                                           const char *format, ...);
/* The public call in whose name planning and evaluating fail; the one before it comes back. */
const char *rd_begin_call(rd_ctx *ctx, const char *call);
const char *rd_call_name(const rd_ctx *ctx);
/* RD_ERR_TEXT, or another status, with a sentence, the text and a caret under byte `at` of it;
 * return NULL. */
void   *rd_fail_text(rd_ctx *ctx, const char *call, const char *what, const char *text, size_t at);
void   *rd_fail_at(rd_ctx *ctx, rd_status status, const char *call, const char *what,
                   const char *text, size_t at);
void    rd_warn(rd_ctx *ctx, uint32_t warnings); /* any thread */
bool    rd_ctx_measures(const rd_ctx *ctx);
int32_t rd_ctx_device(const rd_ctx *ctx);  /* RD_CUDA(k) where no data say another ... */
int32_t rd_ctx_devices(const rd_ctx *ctx); /* ... and how many from that one on, at most */
void   *rd_ctx_stream(const rd_ctx *ctx);
/* RDIM_BACKEND, when it was made; AUTO: it names none. */
rd_backend rd_ctx_prefers(const rd_ctx *ctx);
bool rd_cancel_taken(rd_ctx *ctx); /* rd_cancel() was called, and this is who ends; any thread */
/* Forgets a failure that is no failure, as there is another way. */
void rd_error_forgive(rd_ctx *ctx);
/* May planning go on?  Else rd_cancel() was called, which is recorded, or something has failed. */
bool rd_goes_on(rd_ctx *ctx);

int32_t rd_ctx_threads(const rd_ctx *ctx); /* as asked for in the options; 0: OpenMP's choice */
bool    rd_ctx_deterministic(const rd_ctx *ctx);
/* Something the context frees last in, first out when it goes itself: plans, mapped files.  `drop`
 * unlinks early. */
typedef struct rd_owned {
    struct rd_owned *next, *prev;
    void (*drop)(struct rd_owned *self);
} rd_owned;
void rd_own(rd_ctx *ctx, rd_owned *thing);
void rd_disown(rd_ctx *ctx, rd_owned *thing);

/* What is dropped, and freed, after all else of a context; added from any thread. */
typedef struct rd_kept_last {
    struct rd_kept_last *older;
    void (*drop)(struct rd_kept_last *self);
} rd_kept_last;
rd_kept_last *rd_ctx_kept_last(const rd_ctx *ctx);
void          rd_ctx_keep_last(rd_ctx *ctx, rd_kept_last *thing);

/* What the evaluator keeps in a context between evaluations.  `reclaim` frees what nobody uses when
 * memory is short, from any thread, and says whether there was something; `drop` frees all when the
 * context goes. */
typedef struct rd_keeper {
    bool (*reclaim)(struct rd_keeper *self);
    void (*drop)(struct rd_keeper *self);
} rd_keeper;
rd_keeper *rd_ctx_keeper(const rd_ctx *ctx); /* NULL: none yet */
void       rd_ctx_set_keeper(rd_ctx *ctx, rd_keeper *keeper);
/* One block of memory that planning takes and leaves for the next time; NULL: none is here.  False:
 * one is here already. */
void *rd_take_spare(rd_ctx *ctx);
bool  rd_keep_spare(rd_ctx *ctx, void *p);
/* Frees all that is kept and not in use, as happens when memory is short.  False: there was
 * nothing. */
bool rd_reclaim(rd_ctx *ctx);

/* False, recorded, where the caller uses a node that he has released.  Certain in debug builds, and
 * else until its memory is used again: what it costs is one comparison. */
bool               rd_fail_gone(rd_ctx *ctx, const char *call, const char *what, int k);
static inline bool rd_is_here(rd_ctx *told, const char *call, const char *what, int k,
                              const rd_expr *x)
{
    return x->id || rd_fail_gone(told, call, what, k);
}
/* The node equal to `node`, found or made; operands, extents and facts are copied.  `facts` may be
 * NULL. */
rd_expr *rd_node(const rd_expr *node, const void *facts, size_t size);

/* ---- Checks and shapes (shape.c, layout.c, meet.c) ------------------------------------------- */
/* Text of a shape, "(2, 3)", into a buffer of this size. */
enum { RD_SHAPE_TEXT = 32 * 22 + 8 };
const char *rd_shape_text(int rank, const int64_t *extent, char text[RD_SHAPE_TEXT]);
/* Product of extents; -1 if one is negative or the product exceeds 2^62, counting an extent of 0 as
 * 1: what is reduced or reshaped away later must not leave a shape that overflows. */
int64_t rd_points(int rank, const int64_t *extent);
/* Axis of x counted from 0, or -1 after recording RD_ERR_AXIS for `call`. */
int rd_axis(const rd_expr *x, int axis, const char *call);
/* The dims as bits; false after recording RD_ERR_AXIS for `call`. */
bool rd_dims_bits(const rd_expr *x, const rd_dims *dims, const char *call, uint64_t *bits);
/* Dense strides of a shape; order 1: first axis fastest.  Extents below 2 get stride 0. */
void rd_dense_strides(int rank, const int64_t *extent, int order, int64_t *stride);
/* Checks a descriptor and gives its strides; false after recording the failure for `call`. */
bool rd_array_layout(rd_ctx *ctx, const rd_array *array, const char *call, int64_t *stride);
/* Is its address one of elements, if it has any?  May results be written to it?  False after
 * recording the failure for `call`. */
bool rd_array_readable(rd_ctx *ctx, const rd_array *array, const char *call);
bool rd_array_writable(rd_ctx *ctx, const rd_array *array, const char *call);
/* All operands in one context?  Records RD_ERR_ARGUMENT for `call` if not. */
bool rd_same_ctx(const char *call, int n, rd_expr *const *x);
/* x seen with `shape` (numpy rules), x itself if it has it already; NULL after recording
 * RD_ERR_SHAPE for `call`. */
rd_expr *rd_broadcast_to(rd_expr *x, int rank, const int64_t *extent, const char *call);
/* Common shape of operands; false after recording RD_ERR_SHAPE for `call`. */
bool rd_common_shape(const char *call, int n, rd_expr *const *x, int *rank, int64_t *extent);

/* ---- Constructors shared inside the library -------------------------------------------------- */
/* An operator of the table on operands of any type and shape (map.c): broadcasts, promotes,
 * casts. */
rd_expr *rd_map_op(rd_op op, const char *call, int n, rd_expr *const *x);
/* This, or the like of some kinds of operands alone. */
typedef rd_expr *rd_mapper(rd_op op, const char *call, int n, rd_expr *const *x);
/* The same under another rule than the operator's own (map.c). */
rd_expr *rd_map_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x);
/* The type in which operands meet under a rule, weak numbers considered (map_types.c). */
rd_dtype rd_rule_type(rd_rule rule, int n, rd_expr *const *x);
/* True if none is NULL, and all are of one context and not released; the latter is recorded for
 * `call` (meet.c). */
bool rd_operands(const char *call, int n, rd_expr *const *x);
/* x as `type`, x itself if it has it (any.c). */
rd_expr *rd_cast_to(rd_expr *x, rd_dtype type);
/* The same, but a weak int that the type cannot hold is RD_ERR_TYPE of `call` (any.c). */
rd_expr *rd_fit_to(rd_expr *x, rd_dtype type, const char *call);
/* x as the float type `real`, but a weak number as a weak float (any.c). */
rd_expr *rd_as_real(rd_expr *x, rd_dtype real);
/* rd_leaf() under the name of another call (leaf.c). */
rd_expr *rd_leaf_of(rd_ctx *ctx, const rd_array *array, const char *call);
/* A strong constant of the type (number.c). */
rd_expr *rd_number(rd_ctx *ctx, rd_dtype type, rd_word value);
/* A view by offsets and coefficients (any.c): composed if x is a view itself, x itself if it is
 * the identity.  origin: of its axes, NULL: all 0. */
rd_expr *rd_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                 const int64_t *origin);
/* Axis `from` as axis `to`; the others keep their order (view.c). */
rd_expr *rd_move_axis(rd_expr *x, int from, int to);
/* Function text as rd_map_text() documents it (function_text.c); NULL after recording
 * RD_ERR_TEXT. */
rd_expr *rd_function_text(rd_ctx *ctx, const char *call, const char *text, int n,
                          rd_expr *const *x);
/* The text of an RD_FN, a C expression over rd_as_real() operands (function_text.c).  What C and
 * the function text would read differently is not read.  `quiet`: no error is recorded, as there
 * are compiled loops to fall to. */
rd_expr *rd_function_c(rd_ctx *ctx, const char *call, const char *text, int n, rd_expr *const *x,
                       rd_dtype real, bool quiet);

/* ---- Printing (print_expr.c) ---------------------------------------------------------------------- */
const char *rd_expr_kind_name(rd_expr_kind kind);
/* One line without operands: "sum dims 0 2", "leaf f32 (3, 4)"; for dumps and messages. */
struct rd_text;
void rd_expr_line(struct rd_text *text, const rd_expr *x);
#endif
