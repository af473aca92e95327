/* rdim.h - lazy expressions over N-d arrays.  Build a tree; ask; it runs fused.
 *
 *     rd_ctx  *ctx = rd_ctx_new(NULL);
 *     rd_expr *x   = rd_wrap(ctx, sst, RD_SHAPE(132, 73, 144));        // const float *sst
 *     rd_expr *y   = rd_mean(rd_map(x, sqrtf), RD_DIMS(0), .skip_nan = true);
 *     rd_eval(ctx, y, RD_INTO(out, RD_SHAPE(73, 144)));                // one pass, no temporary
 *     rd_ctx_free(ctx);
 *
 * SIX RULES, so that the comments below can be short.
 * 1 Nodes.     An rd_expr is immutable and belongs to its context: nothing to free, use it as often
 *              as you like.  rd_ctx_release() frees what was built since a mark, rd_ctx_free()
 *              everything.
 * 2 Failure.   A constructor that fails records a status and a sentence in the context and returns
 *              NULL.  NULL operands give NULL.  So build without checks and look once, at
 *              rd_eval().  The first error stays, and every evaluation returns it and does nothing,
 *              until rd_error_clear(): a keyword such as .where whose expression failed can
 *              therefore not be mistaken for one left out.
 * 3 Memory.    Data is the caller's: leaves borrow it until the last evaluation that reads it, but
 *              for those of rd_adopt() and rd_load(), which own it.
 *              Outputs go where you say (any strides); an output may overlap an input, but not
 *              itself.
 * 4 Units.     Extents, strides, indices: elements (int64_t).  Memory limits: bytes.  Axes count
 *              from 0, or from the end if negative.  Shapes broadcast from the last axis, as in
 *              NumPy.
 * 5 Keywords.  Where a comment says "keywords", add any `.field = value` of the named struct after
 *              the last argument, in any order.  A field left out is 0, and 0 is always the
 *              default.
 * 6 Threads.   One thread at a time per context; contexts do not disturb each other.  One
 *              exception: rd_plan_run() may run on any number of threads, one plan too (give each
 *              its own outputs), while nobody frees the plan.  An evaluation runs on as many
 *              threads as it is told, but on no more than 1024, and than the system will start.
 *              After fork() the child may evaluate: on one thread, if the thread that forked had
 *              evaluated on several, while threads that the child starts are as any others.  Both
 *              are shown by rd_explain().
 *
 * C11.  C++17 may include it: functions, types, RD_SHAPE and friends.  The keyword macros and RD_FN
 * are C; <rdim.hpp> has what takes the place of the macros. */
#ifndef RDIM_H
#define RDIM_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef RD_API
#include "rdim_export.h"
#endif

#define RD_VERSION 0x000100 /* major, minor, patch: two hex digits each */
#define RD_MAX_RANK 32
#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */
typedef struct rd_ctx rd_ctx;   /* owns nodes, settings, the first error         */
typedef struct rd_expr rd_expr; /* a node: leaf, view, map, reduction, scan      */
typedef struct rd_plan rd_plan; /* ordered passes for some results, reusable     */

typedef enum rd_status {
    RD_OK,
    RD_ERR_ARGUMENT,  /* a value makes no sense where it stands                           */
    RD_ERR_SHAPE,     /* extents do not fit together, or their product overflows          */
    RD_ERR_AXIS,      /* an axis or index that is not there, or named twice               */
    RD_ERR_TYPE,      /* operand or output types that the operation does not take         */
    RD_ERR_TEXT,      /* slice, function text or a name that cannot be read               */
    RD_ERR_EMPTY,     /* min, max, argmin, argmax of no element without .initial          */
    RD_ERR_MEMORY,    /* out of memory, or over memory_limit                              */
    RD_ERR_CALLBACK,  /* a user's function returned a sentence                            */
    RD_ERR_CANCELLED, /* rd_cancel(), or a progress function that returned non-zero       */
    RD_ERR_FILE,      /* a file that cannot be read, written or understood                */
    RD_ERR_DEVICE,    /* a backend that is not here                                       */
    RD_ERR_LIMIT      /* a limit of this release, named in the sentence                   */
} rd_status;

/* Element types.  0 means "as the operands say" wherever a type is asked for.  f16 and bf16 are
 * types of memory: each operation on them is done in f32 and rounded once to their 16 bits, and
 * what is summed is summed in f32.  c64 and c128 are pairs of f32 and f64, as C's, C++'s and
 * NumPy's are: see "Complex numbers". */
typedef enum rd_dtype {
    RD_AUTO, RD_BOOL, RD_I8, RD_I16, RD_I32, RD_I64, RD_U8, RD_U16, RD_U32, RD_U64,
    RD_F16, RD_BF16, RD_F32, RD_F64, RD_C64, RD_C128
} rd_dtype;

/* Elements of f16 (IEEE 754 binary16) and of bf16 (the upper half of a float).  A pointer to
 * uint16_t, or to a type of the compiler's, is cast to a pointer to one of these to say what it
 * points to. */
typedef struct rd_f16 { uint16_t bits; } rd_f16;
typedef struct rd_bf16 { uint16_t bits; } rd_bf16;

/** Up to 32 numbers by value: no lifetime to mind, in tables, returns and branches. */
typedef struct rd_ints { int32_t n; int32_t reserved; int64_t at[RD_MAX_RANK]; } rd_ints;
typedef rd_ints rd_shape, rd_strides, rd_index;

/** A set of axes.  Duplicates, or an axis the operand lacks: RD_ERR_AXIS where it is used. */
typedef struct rd_dims { int32_t n; uint32_t flags; int32_t axis[RD_MAX_RANK]; } rd_dims;
enum { RD_DIMS_KEEP = 1, RD_DIMS_EXCEPT = 2 };

/** Memory with a layout.  RD_INTO makes one; a zeroed one, passed as output, asks for fresh
 *  memory, on a GPU if `device` says so, and in the order of axes that `order` or `strides` say:
 *  see rd_eval(). */
typedef struct rd_array {
    union { void *data; const void *in; };    /* address of element [0, ..., 0] */
    rd_dtype    type;
    int32_t     order; /* 0 last axis fastest, 1 first axis fastest (Fortran) */
    rd_shape    shape;
    rd_strides  strides; /* n == 0: dense in `order`; else one per axis, any sign */
    rd_index    origin;  /* the first index along each axis; n == 0: 0, see rd_reindex() */
    void       *owner;   /* set by rdim: who releases the memory; see rd_array_free() */
    int32_t     device; /* where data is: 0 this process's memory, RD_CUDA(k) that of the k-th GPU,
                         * whose address it then is */
    int32_t     flags;  /* RD_READ_ONLY: as an output it is RD_ERR_ARGUMENT */
} rd_array;
#define RD_CUDA(k) ((k) + 1)
#define RD_CUDA_ALL (-1) /* of a context: all that are like the first one, see "Devices" below */
enum { RD_READ_ONLY = 1 };

/* ---- Shapes, axes, arrays, written in place --------------------------------------------------- *
 * RD_SHAPE(2, 3)  RD_SCALAR  RD_STRIDES(3, 1)  RD_INDEX(0, 2)   more than 32: refused where used
 * RD_DIMS(0, -1)  RD_ALL  RD_NONE  RD_EXCEPT(0) all but axis 0  RD_KEEP(1) reduced, kept with
 * extent 1
 * By value.  In a table at file scope: { 2, 0, { 3, 4 } } and { 1, 0, { -1 } }, as C wants
 * constants there.
 * RD_INTO(p, RD_SHAPE(2, 3))  output; type from p, a pointer to elements or an array of up to three
 * dimensions (a void * or a float ** is a compile error); keywords rd_array
 * RD_EXPRS(a, b)  RD_RESULTS({ y, &out }, ...)  lists for the calls that take several.  These, like
 * RD_INTO, live as long as the block they stand in: write them in the call. */
#ifndef __cplusplus
/* 1 if the first of the arguments is a T; else the compiler's error about struct `say`.  Only types
 * are looked at; nothing is computed twice. */
#define RD_1_IF_(T, say, ...) \
    sizeof(*_Generic((RD_FIRST_(__VA_ARGS__, 0)), T: (char *)0, default: (struct say *)0))
#define RD_FIRST_(first, ...) first
#define RD_N_(T, ...)    ((int32_t)(sizeof((const T[]){ __VA_ARGS__ }) / sizeof(T)))
#define RD_INTS_(...)    ((rd_ints){ .n = RD_N_(int64_t, __VA_ARGS__), .at = { __VA_ARGS__ } })
#define RD_DIMS_(f, ...) \
    ((rd_dims){ .n = RD_N_(int32_t, __VA_ARGS__), .flags = (f), .axis = { __VA_ARGS__ } })
#define RD_ZERO_(T)      ((T){ 0 })
#define RD_EVERY_(f)     ((rd_dims){ .flags = (f) })
#define RD_ARRAY_(member, p, ...) \
    (&(rd_array){ .member = (p), .type = (rd_dtype)(RD_TYPE(p) \
        * RD_1_IF_(rd_shape, say_RD_SHAPE_extents_not_a_number, __VA_ARGS__)), \
        .shape = __VA_ARGS__ })
/* The type of the elements that p points to, through up to three dimensions of an array: a pointer
 * to an array of one extent is compatible with that to one of any.  Answers are sizes, so that what
 * has no answer, void * or the rows of a float **, is a name in the compiler's error. */
#define RD_TYPE(p) ((rd_dtype)sizeof(*_Generic(*(p), RD_TYPES_(RD_IS_), default:                  \
    _Generic(&*(p), RD_TYPES_(RD_ROW_IS_), default: _Generic(*(p), RD_TYPES_(RD_ROW_IS_), default:\
    (struct say_a_pointer_to_elements_such_as_float *)0)))))
#define RD_IS_(T, type)     T: (char (*)[type])0
#define RD_ROW_IS_(T, type) T (*)[]: (char (*)[type])0, const T (*)[]: (char (*)[type])0
#define RD_TYPES_(is) is(_Bool, RD_BOOL), is(signed char, RD_I8), is(short, RD_I16),              \
    is(int, RD_I32), is(long, sizeof(long) == 8 ? RD_I64 : RD_I32), is(long long, RD_I64),        \
    is(unsigned char, RD_U8), is(unsigned short, RD_U16), is(unsigned, RD_U32),                   \
    is(unsigned long, sizeof(long) == 8 ? RD_U64 : RD_U32), is(unsigned long long, RD_U64),       \
    is(rd_f16, RD_F16), is(rd_bf16, RD_BF16), is(float, RD_F32), is(double, RD_F64)               \
    RD_COMPLEX_TYPES_(is)
#ifdef __STDC_NO_COMPLEX__
#define RD_COMPLEX_TYPES_(is)
#else
#define RD_COMPLEX_TYPES_(is) , is(float _Complex, RD_C64), is(double _Complex, RD_C128)
#endif
#define RD_INTO(p, ...)  RD_ARRAY_(data, p, __VA_ARGS__)
#define RD_EXPRS(...) \
    ((rd_exprs){ (rd_expr *const[]){ __VA_ARGS__ }, RD_N_(rd_expr *, __VA_ARGS__) })
#define RD_RESULTS(...) \
    ((rd_results){ (const rd_result[]){ __VA_ARGS__ }, RD_N_(rd_result, __VA_ARGS__) })
#else
#define RD_INTS_(...)    (rd_make_ints(__VA_ARGS__))
#define RD_DIMS_(f, ...) (rd_make_dims(f, __VA_ARGS__))
#define RD_ZERO_(T)      (T())
#define RD_EVERY_(f)     (rd_make_dims(f))
#endif
#define RD_SHAPE(...)    RD_INTS_(__VA_ARGS__)
#define RD_STRIDES(...)  RD_INTS_(__VA_ARGS__)
#define RD_INDEX(...)    RD_INTS_(__VA_ARGS__)
#define RD_SCALAR        RD_ZERO_(rd_shape)
#define RD_DIMS(...)     RD_DIMS_(0, __VA_ARGS__)
#define RD_KEEP(...)     RD_DIMS_(RD_DIMS_KEEP, __VA_ARGS__)
#define RD_EXCEPT(...)   RD_DIMS_(RD_DIMS_EXCEPT, __VA_ARGS__)
#define RD_NONE          RD_ZERO_(rd_dims)
#define RD_ALL           RD_EVERY_(RD_DIMS_EXCEPT)
#define RD_KEEP_ALL      RD_EVERY_(RD_DIMS_EXCEPT | RD_DIMS_KEEP)
typedef struct rd_exprs { rd_expr *const *at; int32_t n; } rd_exprs;
typedef struct rd_result { rd_expr *expr; rd_array *out; } rd_result;
typedef struct rd_results { const rd_result *at; int32_t n; } rd_results;

/* ---- Context --------------------------------------------------------------------------------- */
/** `size` = sizeof the struct, or 0: only fields of release 1 are read.  New fields come at the
 *  end. */
typedef struct rd_ctx_opts {
    uint32_t size;
    int32_t  threads;      /* 0: as OpenMP would use; rule 6 has limits  */
    /** Bytes that this context may hold; 0: no limit.  Blocks of 1 MiB and more that a run has
     *  worked in are kept for the next one and not counted; the system takes their pages back when
     *  it needs some.  They are an eighth of the machine's memory at most; with .allocate there are
     *  none. */
    int64_t memory_limit;
    /** All memory of this context but the short-lived text of dumps, aligned as malloc's; NULL:
     *  malloc and free.  Both or neither; called from any thread that evaluates, runs a plan, or
     *  ends a tensor of rd_to_dlpack(). */
    void *(*allocate)(void *user, int64_t bytes);
    void  (*release)(void *user, void *p);
    void   *user;
    bool    deterministic; /* for all evaluations: see rd_eval_opts */
    int32_t device;        /* for backend CUDA where no data say another; RD_CUDA_ALL: several
                            * share the work; 0: RD_CUDA(0), or as RDIM_CUDA_DEVICES says         */
    void   *stream;        /* a CUstream of that device to work in, the caller's, which outlives the
                            * context; what it was asked before is done first, and what it is asked
                            * later finds results, those of `async` too.  NULL: the context's own */
} rd_ctx_opts;

/** A context; NULL opts: the defaults.  Free it after everything made from it.
 *  @return NULL only without memory, or when only one of allocate and release is given. */
RD_API rd_ctx *rd_ctx_new(const rd_ctx_opts *opts);
/** Frees the context, its nodes, texts, plans, mapped files, and what rd_adopt() took.  Other
 *  arrays that own memory are freed before the context.  NULL is allowed. */
RD_API void rd_ctx_free(rd_ctx *ctx);

/** A place in the history of a context. */
typedef struct rd_mark { uint64_t at, serial; } rd_mark;
/** Marks the present; for loops: mark, build, evaluate, release.  Marks nest. */
RD_API rd_mark rd_ctx_mark(rd_ctx *ctx);
/** Releases every node and text made since `mark`, which stays usable, and what rd_adopt() took
 *  since.  Other arrays and plans stay.
 *  Releasing an outer mark ends the inner ones; an ended one, or one of another context, is
 *  RD_ERR_ARGUMENT and does nothing.  To use a node after its release is a mistake: RD_ERR_ARGUMENT
 *  in a debug build of the library, and in others until something new is in its memory. */
RD_API rd_status rd_ctx_release(rd_ctx *ctx, rd_mark mark);

/** How many nodes the context has: those made and not released yet.  0 for NULL. */
RD_API int64_t rd_ctx_nodes(const rd_ctx *ctx);
/** The same expression in another context; x itself where that is its own.  So one context's nodes
 *  become operands in another one, or outlive a release: clone what is still wanted, release the rest.
 *  No element is copied: memory that x's leaves read, and for patterns x's context, must outlive the
 *  evaluations of the clone.  Meanwhile a thread may evaluate in x's context, but not build there.
 *  NULL on RD_ERR_MEMORY, RD_ERR_ARGUMENT (rd_input() of a name that has another layout there). */
RD_API rd_expr *rd_clone(rd_ctx *ctx, rd_expr *x);

/** The first failure since the last clear; RD_OK if none.  Of NULL: RD_ERR_MEMORY (rd_ctx_new
 *  failed). */
RD_API rd_status rd_error(const rd_ctx *ctx);
/** Its sentence: the call, what was asked, what was found; "" if none.  Valid until the next
 *  failure or clear. */
RD_API const char *rd_error_text(const rd_ctx *ctx);
/** Forgets the failure, so that the next one is recorded. */
RD_API void rd_error_clear(rd_ctx *ctx);
/** "RD_ERR_SHAPE" and so on, for logs; never NULL. */
RD_API const char *rd_status_name(rd_status status);

/** Ends the evaluation under way with RD_ERR_CANCELLED, or the next one if none is: one call, one
 *  evaluation, so that none is lost.  Making a plan counts as one.  A long evaluation ends within
 *  milliseconds, pairs of many points in a part of a second, or once users' functions return from
 *  two thousand elements at most.  One that is nearly done may have written its results.  Of
 *  several at the same time one ends.  From any thread, and from a signal handler. */
RD_API void rd_cancel(rd_ctx *ctx);

/** What evaluations met and answered with a defined value instead of an error; sticky until
 *  rd_error_clear(). */
enum { RD_WARN_INT_DIVIDE = 1 /* an integer divided by 0 gave 0 */ };
/** The warnings of this context, ORed. */
RD_API uint32_t rd_warnings(const rd_ctx *ctx);

/* ---- Leaves ---------------------------------------------------------------------------------- */
/** Caller memory as a leaf, type from the pointer, as for RD_INTO: rd_wrap(ctx, p, RD_SHAPE(n, m)),
 *  p a float * or a float [n][m].  Keywords rd_array: .strides = RD_STRIDES(1, n), .order = 1,
 *  .origin = RD_INDEX(-2, 0).
 *  Record fields: p = &r[0].field, stride = sizeof *r / sizeof r->field.  Errors and ownership:
 *  rd_leaf(). */
#ifndef __cplusplus
#define rd_wrap(ctx, p, ...) rd_leaf(ctx, RD_ARRAY_(in, p, __VA_ARGS__))
#endif
/** The same from a descriptor (copied), for types known only at run time.  Nothing is copied or
 *  computed.
 *  @param array  address of element [0, ..., 0] (NULL only if an extent is 0), type, shape, strides
 *                in elements
 *  @return a node of that shape and type.  NULL on RD_ERR_SHAPE (an extent is negative, the size
 *          overflows, strides.n is neither 0 nor the rank, rank over 32), RD_ERR_TYPE (not a type
 *          of this release), RD_ERR_ARGUMENT (no data, or an address that is not aligned to the
 *          type).
 *  Ownership: the data stays yours and must outlive each evaluation that reads it. */
RD_API rd_expr *rd_leaf(rd_ctx *ctx, const rd_array *array);
/** A leaf that owns its memory: rd_leaf(), and what the array owns (rd_eval, rd_array_own,
 *  rd_from_dlpack) is released when the leaf is: by rd_ctx_release() of a mark before it, or by
 *  rd_ctx_free().  A plan that reads the leaf must not run after that.
 *  @param array  goes on describing the memory, and owns it no more
 *  @return as rd_leaf(); on failure the array has been freed. */
RD_API rd_expr *rd_adopt(rd_ctx *ctx, rd_array *array);
/** A name for people, of a leaf of memory: rd_explain() and rd_graphviz() say it by the leaf, as
 *  they say the path of rd_load().  The name is copied; nothing else changes, and the last one
 *  counts.
 *  @return leaf.  NULL on RD_ERR_ARGUMENT: no name, an rd_input(), or not a leaf. */
RD_API rd_expr *rd_label(rd_expr *leaf, const char *name);
/** A leaf whose memory comes at rd_plan_run(): name, type, shape and strides now, pointer then.
 *  Equal names are one leaf (a second layout for a name is RD_ERR_ARGUMENT); two names are two,
 *  whatever they later point to. */
RD_API rd_expr *rd_input(rd_ctx *ctx, const char *name, const rd_array *layout);
/** Numbers of rank 0 and weak type: they take the type of what they meet.  rd_num is a float, so it
 *  turns ints to f64, whatever its value; an rd_int that an integer partner cannot hold is
 *  RD_ERR_TYPE.  Alone: f64 and i64. */
RD_API rd_expr *rd_num(rd_ctx *ctx, double value);
RD_API rd_expr *rd_int(rd_ctx *ctx, int64_t value);
/** The index along `axis` of x, i64, broadcastable against x: extent n there, 1 elsewhere.  x is
 *  not computed.  NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_coord(rd_expr *x, int axis);
/* Random numbers, made where they are read: they take no memory, and element i, in C order of the
 * shape, is the same in a slice, along any traversal, on any number of threads, and on a GPU.
 * Equal keys and shapes are one expression: each draw wants a key of its own, any number.  Of
 * Philox 4x32-10 (Salmon and others 2011), whose stream is long enough for every shape.  NULL on
 * RD_ERR_SHAPE (negative, overflow), RD_ERR_TYPE (not a float type). */
/** 64 random bits, u64: rd_philox() of the flat index. */
RD_API rd_expr *rd_random_bits(rd_ctx *ctx, uint64_t key, rd_shape shape);
/** Multiples of 2^-53 in [0, 1), of f32 of 2^-24, of f16 of 2^-11, of bf16 of 2^-8.  Of mean 0 and
 *  deviation 1, up to 8.6 (6.7 of f32 and halves).  Of mean 1, from 0 to 36.8 (22.2). */
RD_API rd_expr *rd_random_uniform(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type),
    *rd_random_normal(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type),
    *rd_random_exponential(rd_ctx *ctx, uint64_t key, rd_shape shape, rd_dtype type);
/** Whole numbers from low to below high, i64; of any two the odds differ by less than
 *  (high - low) / 2^64.  NULL also on RD_ERR_ARGUMENT (low >= high). */
RD_API rd_expr *rd_random_integers(rd_ctx *ctx, uint64_t key, rd_shape shape, int64_t low,
                                   int64_t high);
/** 0 to n - 1 in random order, i64: the places that put rd_random_bits() of the key in order.  And
 *  x with its elements along an axis in that order, all rows alike.  NULL on RD_ERR_SHAPE (n
 *  negative), RD_ERR_AXIS. */
RD_API rd_expr *rd_permutation(rd_ctx *ctx, uint64_t key, int64_t n),
    *rd_shuffle(rd_expr *x, int axis, uint64_t key);
/** The shape of a node; .n == -1 for NULL. */
RD_API rd_shape rd_shape_of(const rd_expr *x);
/** The element type of a node; RD_AUTO for NULL. */
RD_API rd_dtype rd_type_of(const rd_expr *x);
/** Where the indices along an axis come from: index i along it is index offset + step * i along
 *  `axis` of `from`, which is a leaf, a concatenation along that axis, or where the axis is made: a
 *  reduction by label, of which it is the groups, or a reshape that cuts or joins axes. */
typedef struct rd_axis_from { rd_expr *from; int32_t axis; int64_t offset, step; } rd_axis_from;
/** Follows an axis of y through views, maps (their first operand that leads to a leaf, else the
 *  first that leads anywhere), scans and reductions, so that results have the coordinates of what
 *  they are made of.  Of a window it is where its first element comes from, and of a gather where
 *  that axis of the index comes from.  False, and *out zeroed, where the axis comes from none: it
 *  repeats, has one element of a view, is a diagonal, sorted, or of a sparse array; and on
 *  RD_ERR_AXIS, RD_ERR_ARGUMENT (no out).  Indices count from 0 here, wherever axes begin. */
RD_API bool rd_axis_source(rd_expr *y, int axis, rd_axis_from *out);
/** The node whose elements y has, some of them or all, at whatever places: y is followed through
 *  views, reshapes and gathers.  It is y itself where elements are computed, or come from several
 *  nodes; NULL for NULL. */
RD_API rd_expr *rd_elements_of(rd_expr *y);

/* ---- Sparse arrays ---------------------------------------------------------------------------- *
 * A sparse leaf has elements at some places and a fill, 0 unless said, at all others.  Maps,
 * reductions, products and views that keep whole axes visit the stored places alone, and mean what
 * they mean of the dense array: 0 times an infinity that is nowhere stored is NaN.  With .stored
 * there is nothing at the other places: no element of a reduction, no neighbour of a softmax; and
 * products go as loops over stored elements by hand do.  What has no sparse way is done at all
 * places, of which each is looked up: slices, say; docs/sparse.md has the list.  What a sparse
 * expression is evaluated to is dense. */
/** Of each index before it a DENSE level has all indices of its axis, in values side by side, and a
 *  COMPRESSED one those in crd[pos[p]] to crd[pos[p + 1] - 1], ascending, p being the place so far.
 *  COORDINATES, of the last levels or of all, list one entry after the other, crd[p] of each axis,
 *  ascending with the first one first. */
typedef enum rd_level_kind { RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED, RD_LEVEL_COORDINATES } rd_level_kind;
typedef struct rd_level {
    rd_level_kind kind;
    int32_t       axis;      /* of the array */
    rd_expr      *pos, *crd; /* leaves of memory, rows of i32 or i64; NULL where the kind has none */
} rd_level;
typedef struct rd_levels { const rd_level *at; int32_t n; } rd_levels;
/** `size` = sizeof the struct. */
typedef struct rd_sparse_opts {
    uint32_t  size;
    rd_shape  shape;
    rd_levels levels; /* one for each axis, in the order in which values are stored      */
    rd_expr  *values; /* a row, one for each stored place: any expression; NULL: true     */
    rd_expr  *fill;   /* a number, at all other places; NULL: 0                           */
    bool      stored; /* there is nothing at all other places                             */
    bool      trusted; /* nobody looks whether indices ascend; that they are inside is seen to */
    rd_index  origin; /* the first index along each axis, n == 0: 0; crd count from 0 all the same */
} rd_sparse_opts;
/** rd_csr(ctx, RD_SHAPE(n, m), pos, column, values, keywords): row i has columns column[pos[i]] to
 *  column[pos[i + 1] - 1].  rd_csc the same of columns, with row indices; rd_coo(ctx, RD_SHAPE(n, m),
 *  row, column, values, keywords): places by rows, in each by columns.  Any rank, level by level:
 *  rd_sparse(ctx, RD_SHAPE(l, n, m), RD_LEVELS({ RD_LEVEL_COMPRESSED, 0, pos0, crd0 }, ...), values,
 *  keywords).
 *  @return a node of that shape, and the values' type.  The index arrays are read now, once, and
 *          stay yours: they must not change while the node is in use.  NULL on RD_ERR_SHAPE (extents,
 *          lengths that do not fit), RD_ERR_ARGUMENT (an index that is outside or does not ascend,
 *          with its position; not each axis once), RD_ERR_TYPE (of indices; .fill does not fit),
 *          RD_ERR_MEMORY (4 bytes a stored place for each axis but the last compressed one, and 4
 *          for each index of the first; 4 more a place where one of these has a great share of
 *          all, or all in the mean have over 2^15 places). */
RD_API rd_expr *rd_sparse_of(rd_ctx *ctx, const rd_sparse_opts *opts);
typedef struct rd_matrix_opts {
    uint32_t size;
    rd_shape shape;
    rd_expr *pos, *crd, *values; /* of COO pos is the row, and crd the column, of each place */
    rd_expr *fill;
    bool     stored, trusted;
    rd_index origin;
} rd_matrix_opts;
RD_API rd_expr *rd_csr_of(rd_ctx *ctx, const rd_matrix_opts *opts),
    *rd_csc_of(rd_ctx *ctx, const rd_matrix_opts *opts),
    *rd_coo_of(rd_ctx *ctx, const rd_matrix_opts *opts);
#ifndef __cplusplus
#define RD_LEVELS(...) \
    ((rd_levels){ (const rd_level[]){ __VA_ARGS__ }, RD_N_(rd_level, __VA_ARGS__) })
#define rd_sparse(ctx, ...) \
    rd_sparse_of(ctx, &(rd_sparse_opts){ .size = sizeof(rd_sparse_opts), .shape = __VA_ARGS__ })
#define RD_MATRIX_OPTS_(...) \
    (&(rd_matrix_opts){ .size = sizeof(rd_matrix_opts), .shape = __VA_ARGS__ })
#define rd_csr(ctx, ...) rd_csr_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
#define rd_csc(ctx, ...) rd_csc_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
#define rd_coo(ctx, ...) rd_coo_of(ctx, RD_MATRIX_OPTS_(__VA_ARGS__))
#endif
/** A mask of pairs by blocks: cluster k of rows has rows rows[k] to rows[k + 1] - 1, cluster l of columns
 *  likewise, and pair[k * n_columns + l] says whether pairs of both count.  Points of a cluster are
 *  neighbours, so the caller sorts them first.  As .where of a reduction over pairs the loops visit
 *  those that count alone; anywhere else it is its bools.
 *      rd_sum(rd_exp(rd_neg(d)), RD_DIMS(1), .where = rd_blocks(ctx, 10, rows, 20, columns, pair))
 *  @param rows, columns  n_rows + 1, n_columns + 1 borders, ascending from 0; copied, as pair is
 *  @return a bool node of shape (rows[n_rows], columns[n_columns]).  NULL on RD_ERR_ARGUMENT (no
 *          clusters, borders), RD_ERR_MEMORY (4 bytes a row and a column, one a pair of clusters). */
RD_API rd_expr *rd_blocks(rd_ctx *ctx, int64_t n_rows, const int64_t *rows, int64_t n_columns,
                          const int64_t *columns, const bool *pair);
/** The blocks of pairs of points that are no further apart than a radius, with clusters found here: those
 *  of a k-d tree (Bentley, 1975), of 128 to 256 points, or more, so that there are about 4096 at most.
 *  Two clusters are near if the boxes around their points are; so no near pair is left out.
 *      rd_expr *rows, *columns;
 *      rd_expr *near = rd_blocks_near(x, y, 3 * sigma, &rows, &columns);
 *      rd_expr *u    = rd_expand(rd_take(x, 0, rows), 1), *v = rd_take(y, 0, columns);
 *      rd_expr *k    = rd_exp(rd_neg(rd_sum(rd_square(rd_sub(u, v)), RD_DIMS(2))));
 *      rd_expr *sum  = rd_sum(k, RD_DIMS(1), .where = near); // in the order of rows
 *      rd_take(sum, 0, rd_argsort(rows, 0))                  // in that of x
 *  @param x, y           (n, d) and (m, d), real; evaluated now, and read as f64.  One twice: its
 *                        clusters are those of both
 *  @param rows, columns  the points in the order of clusters, (n) and (m) of i64
 *  @return the mask, (n, m), of points in that order, as rd_blocks() makes it.  NULL, and rows and columns
 *          NULL, on RD_ERR_SHAPE, RD_ERR_TYPE (complex), RD_ERR_ARGUMENT (a radius that is negative or
 *          NaN, a point that is not finite), RD_ERR_MEMORY, and what rd_eval() returns. */
RD_API rd_expr *rd_blocks_near(rd_expr *x, rd_expr *y, double radius, rd_expr **rows,
                               rd_expr **columns);
/** Has it a pattern?  False for NULL. */
RD_API bool rd_is_sparse(const rd_expr *x);
/** A sparse x at all places, fills too (0 with .stored); any other x itself. */
RD_API rd_expr *rd_dense(rd_expr *x);
/** A sparse x as a dense row: its elements at stored places in their order, then axes of x that its
 *  pattern lacks.  And where they are along an axis of the pattern, as a row of ints.  So results
 *  stay sparse: rd_eval_many(ctx, RD_RESULTS({ rd_stored(y), &values }, { rd_stored_at(y, 1), &column
 *  }), NULL).  NULL on RD_ERR_TYPE (x is dense), RD_ERR_AXIS. */
RD_API rd_expr *rd_stored(rd_expr *x), *rd_stored_at(rd_expr *x, int axis);
/** y with the pattern of a sparse x and other elements, as rd_stored() has them; .stored and fill
 *  are x's.  NULL on RD_ERR_SHAPE, RD_ERR_TYPE (x is dense). */
RD_API rd_expr *rd_stored_as(rd_expr *x, rd_expr *values);
/** A sparse result: index arrays level by level, as rd_level has them, and values in their order. */
typedef struct rd_indices {
    void    *data;
    int64_t  n;
    rd_dtype type;  /* RD_I32, or RD_I64 where an index needs that */
    void    *owner; /* as of rd_array */
} rd_indices;
typedef struct rd_stored_level {
    rd_level_kind kind;
    int32_t       axis;
    rd_indices  pos, crd; /* .data NULL where the kind has none */
} rd_stored_level;
typedef struct rd_sparse_array {
    rd_shape        shape;
    int32_t         n_level;
    bool            stored; /* there is nothing at other places */
    rd_stored_level level[RD_MAX_RANK];
    rd_array        values; /* a row                                     */
    rd_array        fill;   /* a number, at other places; none if stored */
    rd_index        origin; /* the first index along each axis; n == 0: 0. crd count from 0 */
} rd_sparse_array;
/** Evaluates a sparse y, with a pattern of its own:
 *      rd_sparse_array c = { 0 };
 *      rd_eval_sparse(ctx, y, &c);                    // a matrix: c.level[1].pos, .crd, c.values
 *      rd_expr *again = rd_adopt_sparse(ctx, &c);
 *  rd_stored(y) has the values alone, where the pattern is an operand's, or an evaluation repeats.
 *  @param out  zeroed: a matrix is CSR; of other ranks the axes of the pattern by their numbers, the
 *              first DENSE and the others COMPRESSED, then DENSE ones that it lacks.  Else n_level and each
 *              level's kind and axis say what is wanted, as for rd_sparse(); the last level of a pattern is
 *              not DENSE, and behind DENSE ones COORDINATES are one for each index.  It owns fresh
 *              memory, for rd_sparse_array_free().
 *  @return     RD_OK, or the recorded error: RD_ERR_TYPE (y is dense, or what is not stored differs
 *              from place to place), RD_ERR_ARGUMENT (levels, or out has an array), RD_ERR_MEMORY, those of
 *              rd_eval().  On an error out is what it was. */
RD_API rd_status rd_eval_sparse(rd_ctx *ctx, rd_expr *y, rd_sparse_array *out);
/** Frees what it owns and zeroes it.  NULL is allowed. */
RD_API void rd_sparse_array_free(rd_sparse_array *array);
/** A leaf that owns the array's memory, as rd_adopt(); the array goes on describing it. */
RD_API rd_expr *rd_adopt_sparse(rd_ctx *ctx, rd_sparse_array *array);

/* ---- Views: of any expression, evaluated or not; they cost nothing and compute nothing ------- */
/** NumPy's slice text, one part per axis: "3, :, ::-1, 2:10:2, ..., new".  A number drops its axis,
 *  `new` makes one of extent 1, missing parts mean ":".  A slice of a sum sums only that slice.
 *  NULL on RD_ERR_TEXT (with a caret under the character), RD_ERR_AXIS (index outside, too many
 *  parts) or RD_ERR_SHAPE (rank over 32). */
RD_API rd_expr *rd_slice(rd_expr *x, const char *text);
/** Element i of `axis`, which is dropped; i counts from the end if negative.  NULL on
 *  RD_ERR_AXIS. */
RD_API rd_expr *rd_select(rd_expr *x, int axis, int64_t i);
#define RD_OPEN INT64_MIN /* start or stop of rd_slice_axis: to the end in the direction of step */
/** Elements start, start + step, ... before stop along `axis`; bounds are cut to the axis as Python
 *  does. NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (step 0). */
RD_API rd_expr *rd_slice_axis(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
/** x[..., index[...], ...]: the axes of index (any integer type, any rank) replace `axis`.  Indices
 *  count from the end if negative; one outside is RD_ERR_AXIS of the evaluation, unless it cannot
 *  change what is read (an axis of one element, a repeated one).  NULL on RD_ERR_AXIS, RD_ERR_TYPE,
 *  RD_ERR_SHAPE. */
RD_API rd_expr *rd_take(rd_expr *x, int axis, rd_expr *index);
/** x[i, index[i, j], k] for axis 1: one element of x along `axis` for each element of index, which
 *  has x's rank; beside the axis the two broadcast.  Indices and failures as of rd_take().  The
 *  chosen class of each row of (n, classes): rd_take_along(x, 1, rd_expand(label, 1)). */
RD_API rd_expr *rd_take_along(rd_expr *x, int axis, rd_expr *index);
/** Axes reordered: result axis k is x's axis order.at[k].  NULL on RD_ERR_AXIS (not each axis
 *  once). */
RD_API rd_expr *rd_permute(rd_expr *x, rd_index order);
/** The last two axes swapped; x itself below rank 2. */
RD_API rd_expr *rd_transpose(rd_expr *x);
/** Same elements in C order, other shape; one extent may be -1.  NULL on RD_ERR_SHAPE. */
RD_API rd_expr *rd_reshape(rd_expr *x, rd_shape shape);
/** x repeated to `shape`: axes of extent 1 and missing leading axes repeat.  NULL on
 *  RD_ERR_SHAPE. */
RD_API rd_expr *rd_broadcast(rd_expr *x, rd_shape shape);
/** A new axis of extent 1 before `axis` of x; rank (or -1) means last, so axis counts in the
 *  result. */
RD_API rd_expr *rd_expand(rd_expr *x, int axis);
/** The axes d, all of extent 1, dropped.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (an extent is not
 *  1). */
RD_API rd_expr *rd_squeeze(rd_expr *x, rd_dims d);
/** The axes d reversed.  NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_flip(rd_expr *x, rd_dims d);
/** x[..., i, ..., i + offset, ...] of two axes as a new last axis; offset < 0: below the diagonal.
 *  NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_diagonal(rd_expr *x, int axis1, int axis2, int64_t offset);
/** Windows of n neighbours, one every `step` along axis, as a new last axis of extent n.
 *  The axis gets (extent - n) / step + 1 windows, 0 if n > extent.  NULL on RD_ERR_AXIS,
 *  RD_ERR_ARGUMENT (n, step < 1). */
RD_API rd_expr *rd_window(rd_expr *x, int axis, int64_t n, int64_t step);
/** Joined along an axis they have: rd_concat(0, RD_EXPRS(a, b, c)).  Other extents must agree;
 *  types promote.  Of more than 48 parts groups are joined first.  NULL on RD_ERR_AXIS,
 *  RD_ERR_SHAPE, RD_ERR_ARGUMENT (no part). */
RD_API rd_expr *rd_concat(int axis, rd_exprs parts);

/* ---- Axes that do not begin at 0 --------------------------------------------------------------- *
 * An axis has indices from its origin on: 0, unless a leaf (.origin) or rd_reindex() says another.
 * Calls that take an index take the axis' own (rd_select, rd_slice, rd_slice_axis, rd_take,
 * rd_take_along, rd_scatter_add, rd_at); those that give one do so, too (rd_coord, argmin, argmax of one
 * axis, rd_argsort, rd_searchsorted, rd_nonzero, rd_stored_at).  There are no indices from the end
 * then: -1 is -1.  Operands that meet have the same indices along an axis, else RD_ERR_SHAPE names
 * both ranges; what repeats, or has extent 1, fits any.  An axis that a result has whole from an
 * operand keeps its indices, a fresh rd_array of the result too (.origin); any other begins at 0: a
 * slice (but ":"), windows, joined or reshaped axes.  Formulas, files, and flat places count from
 * 0. */
/** x with `first.at[a]` as the first index along axis a; all 0: an axis like others.  It costs
 *  nothing.  NULL on RD_ERR_AXIS (not one for each axis), RD_ERR_ARGUMENT (beyond 2^62). */
RD_API rd_expr *rd_reindex(rd_expr *x, rd_index first);
/** The first index along each axis; .n == -1 for NULL. */
RD_API rd_index rd_origin_of(const rd_expr *x);

/* ---- Arrays made of others ------------------------------------------------------------------- *
 * These are made of views and maps, and fuse as those do, with one exception: rd_concat, rd_stack,
 * rd_pad and rd_roll join parts, and an array of parts is stored as a whole before it is read.
 * As a result it is written in place, without another copy.  rd_explain() says so in a `why:` line.
 * To reduce each n neighbours to one (downsample), say rd_mean(rd_window(x, axis, n, n),
 * RD_DIMS(-1)); to keep one of n, rd_slice_axis(). */
/** What lies beyond the ends: a value (NULL: 0), the last element again, the elements mirrored
 *  without the last (3 2 | 1 2 3 | 2 1) or with it (2 1 | 1 2 3 | 3 2), or from the other end. */
typedef enum rd_pad_mode {
    RD_PAD_CONSTANT, RD_PAD_EDGE, RD_PAD_REFLECT, RD_PAD_SYMMETRIC, RD_PAD_WRAP
} rd_pad_mode;
/** x with `before` and `after` more elements along an axis, as many as you like in each mode.
 *  `value`, which broadcasts to x with extent 1 there, is for RD_PAD_CONSTANT and takes x's type.
 *  NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT (negative, no such mode), RD_ERR_SHAPE (nothing to repeat),
 *  RD_ERR_TYPE (the value does not fit). */
RD_API rd_expr *rd_pad(rd_expr *x, int axis, int64_t before, int64_t after, rd_pad_mode mode,
                       rd_expr *value);
/** Elements moved by `shift` along an axis; those that leave come in at the other end.  NULL on
 *  RD_ERR_AXIS. */
RD_API rd_expr *rd_roll(rd_expr *x, int axis, int64_t shift);
/** Each element `times` times in a row; and x over and over, times.at[k] along each axis (the last
 *  ones, if fewer; more are new axes in front).  NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT (negative),
 *  RD_ERR_SHAPE (overflow). */
RD_API rd_expr *rd_repeat(rd_expr *x, int axis, int64_t times),
    *rd_tile(rd_expr *x, rd_shape times);
/** Joined along a new axis: rd_stack(0, RD_EXPRS(a, b)).  Failures as of rd_expand, rd_concat. */
RD_API rd_expr *rd_stack(int axis, rd_exprs parts);
/** x in n parts along an axis, the first ones longer by one where n does not divide the extent.
 *  @param parts  n of them; all NULL if the operand or the axis is wrong
 *  @return false on RD_ERR_AXIS, RD_ERR_ARGUMENT (n < 1). */
RD_API bool rd_split(rd_expr *x, int axis, int32_t n, rd_expr **parts);
/** Rows of numbers as coordinates of a grid: grids[k] has in.at[k] along axis k (NumPy's indexing
 *  "ij") and the shape of all.
 *  @return false on RD_ERR_SHAPE (rank over 1, more than 32 of them); then grids are NULL. */
RD_API bool rd_meshgrid(rd_exprs in, rd_expr **grids);
/** x where column - row <= k (tril), >= k (triu) of the last two axes, else 0, also in place of
 *  NaN; and (n, m) ones below and on that diagonal.  NULL on RD_ERR_SHAPE (rank below 2),
 *  RD_ERR_TYPE. */
RD_API rd_expr *rd_tril(rd_expr *x, int64_t k), *rd_triu(rd_expr *x, int64_t k),
    *rd_tri(rd_ctx *ctx, int64_t n, int64_t m, int64_t k, rd_dtype type);
/** y's blocks, each times an element of x: axes have the product of both extents, of the last axes
 *  if one has fewer.  NULL on RD_ERR_SHAPE (a rank over 16). */
RD_API rd_expr *rd_kron(rd_expr *x, rd_expr *y);
/** x[i + 1] - x[i] along an axis, n times over; of bools whether they differ.  NULL on RD_ERR_AXIS,
 *  RD_ERR_ARGUMENT (n < 0). */
RD_API rd_expr *rd_diff(rd_expr *x, int axis, int32_t n);

/* ---- Maps: element by element; operands broadcast, types promote as in the Array API's ------- *
 * Mixed int and float promote as in NumPy 2: i32 and f32 give f64, u8 and f32 give f32, u8 and f16
 * give f16.  f16 and bf16 meet in f32.  Arithmetic on bool is done in i64; functions like sqrt and
 * exp of ints in f64.  Ints wrap.  Each returns NULL on RD_ERR_SHAPE (operands do not broadcast),
 * RD_ERR_TYPE, RD_ERR_ARGUMENT (operands of two contexts). */
/* neg abs sign square keep the type; sign of NaN is NaN. */
RD_API rd_expr *rd_neg(rd_expr *x), *rd_abs(rd_expr *x), *rd_sign(rd_expr *x),
    *rd_square(rd_expr *x);
/* Float functions; angles in radians. */
RD_API rd_expr *rd_sqrt(rd_expr *x), *rd_exp(rd_expr *x), *rd_expm1(rd_expr *x),
    *rd_log(rd_expr *x), *rd_log1p(rd_expr *x), *rd_log2(rd_expr *x), *rd_sin(rd_expr *x),
    *rd_cos(rd_expr *x), *rd_tan(rd_expr *x), *rd_tanh(rd_expr *x), *rd_erf(rd_expr *x),
    *rd_asin(rd_expr *x), *rd_acos(rd_expr *x), *rd_atan(rd_expr *x), *rd_sinh(rd_expr *x),
    *rd_cosh(rd_expr *x), *rd_asinh(rd_expr *x), *rd_acosh(rd_expr *x), *rd_atanh(rd_expr *x),
    *rd_exp2(rd_expr *x), *rd_exp10(rd_expr *x), *rd_log10(rd_expr *x), *rd_cbrt(rd_expr *x),
    *rd_erfc(rd_expr *x), *rd_erfinv(rd_expr *x), *rd_tgamma(rd_expr *x), *rd_lgamma(rd_expr *x);
/* The derivative of lgamma: -inf at 0, inf at -0, NaN at -inf and at whole numbers below 0. */
RD_API rd_expr *rd_digamma(rd_expr *x);
/* The normal distribution's function, from 0 to 1. */
RD_API rd_expr *rd_ndtr(rd_expr *x);
/* 1 / x; degrees to radians and back. */
RD_API rd_expr *rd_reciprocal(rd_expr *x), *rd_deg2rad(rd_expr *x), *rd_rad2deg(rd_expr *x);
/* 1 / (1 + exp(-x)), x times that, log(1 + exp(x)), and x times the normal distribution's function,
 * none of which leaves the range on its way. */
RD_API rd_expr *rd_sigmoid(rd_expr *x), *rd_silu(rd_expr *x), *rd_softplus(rd_expr *x),
    *rd_gelu(rd_expr *x);
/** maximum(x, 0), in x's type. */
RD_API rd_expr *rd_relu(rd_expr *x);
/** sin(pi x) / (pi x); 1 at 0. */
RD_API rd_expr *rd_sinc(rd_expr *x);
/* x = fraction 2^exponent with 1/2 <= |fraction| < 1, both in x's type; of 0, infinity and NaN x
 * and 0.  ldexp(x, n) is x 2^n, rounded once; n, of x's type or rd_int(), is rounded to a whole
 * number. */
RD_API rd_expr *rd_fraction(rd_expr *x), *rd_exponent(rd_expr *x),
    *rd_ldexp(rd_expr *x, rd_expr *n);
/* Rounding: keep the type, ints pass unchanged; round goes to the nearest even. */
RD_API rd_expr *rd_floor(rd_expr *x), *rd_ceil(rd_expr *x), *rd_round(rd_expr *x),
    *rd_trunc(rd_expr *x);
/** To a number of decimals, as NumPy: round(x 10^d) / 10^d; d < 0: to tens, hundreds, ...  Ints
 *  pass unchanged.  NULL on RD_ERR_TYPE (ints and d < 0), RD_ERR_ARGUMENT (|d| > 300; of types
 *  of 32 and 16 bits |d| > 38). */
RD_API rd_expr *rd_round_to(rd_expr *x, int decimals);
/* Tests: bool.  not is logical: true where x is 0. */
RD_API rd_expr *rd_not(rd_expr *x), *rd_isnan(rd_expr *x), *rd_isfinite(rd_expr *x),
    *rd_isinf(rd_expr *x), *rd_signbit(rd_expr *x);
/** Where |x - y| <= atol + rtol |y|; equal infinities are close, NaN never is.  Halves are compared
 *  in f32, ints in f64.  (NumPy's defaults are rtol 1e-5 and atol 1e-8.) */
RD_API rd_expr *rd_isclose(rd_expr *x, rd_expr *y, double rtol, double atol);
/** NaN becomes 0, infinities the type's largest numbers.  Ints pass unchanged. */
RD_API rd_expr *rd_nan_to_num(rd_expr *x);
/* div is true division (ints in f64); floordiv and remainder round down, as Python's // and %; ints
 * by 0 give 0 and a warning (RD_WARN_INT_DIVIDE).  pow of ints with a negative exponent gives the
 * true quotient truncated. */
RD_API rd_expr *rd_add(rd_expr *x, rd_expr *y), *rd_sub(rd_expr *x, rd_expr *y),
    *rd_mul(rd_expr *x, rd_expr *y), *rd_div(rd_expr *x, rd_expr *y),
    *rd_floordiv(rd_expr *x, rd_expr *y), *rd_remainder(rd_expr *x, rd_expr *y),
    *rd_pow(rd_expr *x, rd_expr *y);
/* Float functions of two operands; atan2(y, x) is the angle of the point (x, y). */
RD_API rd_expr *rd_atan2(rd_expr *y, rd_expr *x), *rd_hypot(rd_expr *x, rd_expr *y);
/* log(exp(x) + exp(y)) without overflow; x with y's sign; the number after x on the way to y (f32
 * and f64; RD_ERR_TYPE of halves); 0 where x < 0, h where x is 0, 1 where x > 0. */
RD_API rd_expr *rd_logaddexp(rd_expr *x, rd_expr *y), *rd_copysign(rd_expr *x, rd_expr *y),
    *rd_nextafter(rd_expr *x, rd_expr *y), *rd_heaviside(rd_expr *x, rd_expr *h);
/* The lesser and the greater; NaN if either is. */
RD_API rd_expr *rd_minimum(rd_expr *x, rd_expr *y), *rd_maximum(rd_expr *x, rd_expr *y);
/* The same, but a NaN gives way to a number, as in C. */
RD_API rd_expr *rd_fmin(rd_expr *x, rd_expr *y), *rd_fmax(rd_expr *x, rd_expr *y);
/* Logical: operands count as true where not 0 (NaN too); bool. */
RD_API rd_expr *rd_and(rd_expr *x, rd_expr *y), *rd_or(rd_expr *x, rd_expr *y),
    *rd_xor(rd_expr *x, rd_expr *y);
/* Bits of ints, of bools theirs; floats are RD_ERR_TYPE.  A shift by a negative count, or by the
 * type's width and more, leaves 0, and shift_right of negative ints -1.  popcount is the number of
 * bits set, of ints of n bits as an unsigned one of n bits. */
RD_API rd_expr *rd_bit_and(rd_expr *x, rd_expr *y), *rd_bit_or(rd_expr *x, rd_expr *y),
    *rd_bit_xor(rd_expr *x, rd_expr *y), *rd_bit_not(rd_expr *x),
    *rd_shift_left(rd_expr *x, rd_expr *n), *rd_shift_right(rd_expr *x, rd_expr *n),
    *rd_popcount(rd_expr *x);
/* The greatest common divisor and the least common multiple of ints, not negative but where the
 * type cannot hold them: they wrap.  gcd(0, 0) is 0, and so is lcm(x, 0). */
RD_API rd_expr *rd_gcd(rd_expr *x, rd_expr *y), *rd_lcm(rd_expr *x, rd_expr *y);
/** Word `index` of the stream of random numbers of a key, 64 bits of an unsigned type (a narrower
 *  one keeps the lowest): words 2 k and 2 k + 1 are what Philox 4x32-10 makes of k as its counter,
 *  the lower halves first.  What rd_random_bits() is made of, for counters of your own. */
RD_API rd_expr *rd_philox(rd_expr *index, rd_expr *key);
/* Comparisons, after promotion: bool; false with NaN, but for ne. */
RD_API rd_expr *rd_eq(rd_expr *x, rd_expr *y), *rd_ne(rd_expr *x, rd_expr *y),
    *rd_lt(rd_expr *x, rd_expr *y), *rd_le(rd_expr *x, rd_expr *y), *rd_gt(rd_expr *x, rd_expr *y),
    *rd_ge(rd_expr *x, rd_expr *y);
/** yes where cond is true (not 0), else no. */
RD_API rd_expr *rd_where(rd_expr *cond, rd_expr *yes, rd_expr *no);
/** x kept inside [lo, hi]: minimum(maximum(x, lo), hi).  lo or hi NULL is a failure like any
 *  other. */
RD_API rd_expr *rd_clip(rd_expr *x, rd_expr *lo, rd_expr *hi);
/** x in another type.  Floats to ints truncate, are kept inside the 64-bit range of the target's
 *  sign (so -1.0 is 0 as an unsigned; NaN is 0), then wrap; ints wrap; to bool: not 0. */
RD_API rd_expr *rd_cast(rd_expr *x, rd_dtype type);

/* ---- Complex numbers ------------------------------------------------------------------------- *
 * Expressions of c64 and c128 are pairs of real ones: every view takes them, and of maps and
 * reductions those that the comments below name; others are RD_ERR_TYPE.  Real and complex operands
 * meet as in NumPy: f64 or i32 and c64 give c128, f32, i16 or bool and c64 give c64.  Complex to
 * real is no conversion: say rd_real().  To bool it is whether one part is not 0.
 *   neg square reciprocal sqrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh
 *   asin acos atan asinh acosh atanh pow add sub mul div eq ne where isclose round round_to
 *   nan_to_num sinc sign (x / |x|, 0 of 0) isnan isinf isfinite (of either part), and logical maps.
 *   abs is the modulus.
 *   sum prod mean any all count first last; var and std, of |x - mean|^2, and norm are real; cov
 *   takes the conjugate of the second.  Scans, labels, masks and real weights as of real numbers.
 *   Products, of which vecdot takes the conjugate of the first; rolling sums, means, var and std;
 *   standardise, normalise, trapezoid, diff, kron.
 * Complex numbers have no order: lt, min, argmax, sort, quantiles and their like are refused; so
 * are functions of your own and function text.  A product is (a + ib)(c + id) = (ac - bd) + i(ad +
 * bc), as NumPy's; a quotient is scaled, so that nothing leaves the range before it does, and finds
 * the infinities of C's annex G, as the functions do.  Branch cuts are C's: which side of one -0.0
 * is on counts.  A real operand of + - * / has no imaginary part, not one of 0.  An array of c64 or
 * c128 has 31 axes at most, and the address of a part's alignment. */
/** re + i im; both real: f64 and ints give c128, types of 32 and 16 bits c64. */
RD_API rd_expr *rd_complex(rd_expr *re, rd_expr *im);
/** A complex number of weak type: with f32 and halves it is c64, else c128. */
RD_API rd_expr *rd_cnum(rd_ctx *ctx, double re, double im);
/** r (cos angle + i sin angle), of real operands. */
RD_API rd_expr *rd_polar(rd_expr *r, rd_expr *angle);
/** Parts, the conjugate and the angle, from -pi to pi; of real x: x, 0, x, and 0 or pi. */
RD_API rd_expr *rd_real(rd_expr *x), *rd_imag(rd_expr *x), *rd_conj(rd_expr *x),
    *rd_arg(rd_expr *x);

/* ---- Your own functions ---------------------------------------------------------------------- */
/** Returns NULL, or a sentence (copied) that ends the evaluation with RD_ERR_CALLBACK.  n elements
 *  from each of in[0..arity), dense, to out; any thread, any order, any split; in and out do not
 *  overlap.  Pure. */
typedef const char *rd_block_fn(void *user, int64_t n, const void *const *in, void *out);

/** A function for rd_map, copied there (but for `user`, which must outlive each evaluation).
 *  RD_FN1..3 make one; by hand: rd_fn f = { .size = sizeof f, .name = "table", .arity = 1, .in =
 *  RD_F64, .out = RD_F64, .block = lookup, .user = table }; */
typedef struct rd_fn {
    uint32_t    size;
    int32_t     arity;             /* 1 to 8                                                     */
    const char *name, *text;       /* text: as written, for people                               */
    const char *code;              /* "x,y: x + y" after the preprocessor, for rdim; or NULL     */
    void (*f32)(int64_t n, const float *const *in, float *out);     /* both or neither; used when */
    void (*f64)(int64_t n, const double *const *in, double *out);   /* code cannot be read        */
    rd_block_fn *block;            /* alone: neither code nor f32, f64                           */
    void       *user;
    rd_dtype    in, out;           /* of block                                                   */
    const char *names, *body;      /* "x,y,z" and statements that set z of x and y: what f32 and */
} rd_fn;                           /* f64 compute, for compiled C and CUDA; or NULL              */

/** rd_map(x, f), rd_map2(x, y, f), with f one of
 *    sqrtf, sin, my_function   float (*)(float) or double (*)(double): operands are converted to
 *                              its argument type, the result has its return type; pure and
 *                              thread-safe; libm's own are recognised and follow the operand's type
 *                              instead
 *    softsign                  from RD_FN, or &fn of an rd_fn
 *    "exp", "x > 0 ? x : 0"    text: the name of a built-in, or an expression in x (and y); see
 *                              rd_map_text()
 *  and rd_mapn(f, RD_EXPRS(a, b, c)) for any number of operands up to 8, f an rd_fn or a text.
 *  NULL on RD_ERR_TYPE, RD_ERR_ARGUMENT (arity, f NULL) or RD_ERR_TEXT. */
#ifndef __cplusplus
#define rd_map(x, f) _Generic((f), float (*)(float): rd_map_f32, double (*)(double): rd_map_f64, \
    rd_fn *: rd_map_fn, const rd_fn *: rd_map_fn, char *: rd_map_text, \
    const char *: rd_map_text)(x, f)
#define rd_map2(x, y, f) _Generic((f), float (*)(float, float): rd_map2_f32,                 \
    double (*)(double, double): rd_map2_f64, rd_fn *: rd_map2_fn, const rd_fn *: rd_map2_fn, \
    char *: rd_map2_text, const char *: rd_map2_text)(x, y, f)
#define rd_mapn(f, ...) _Generic((f), rd_fn *: rd_mapn_fn, const rd_fn *: rd_mapn_fn, \
    char *: rd_mapn_text, const char *: rd_mapn_text)(f, __VA_ARGS__)
#endif
RD_API rd_expr *rd_map_f32(rd_expr *x, float (*f)(float)),
    *rd_map_f64(rd_expr *x, double (*f)(double)), *rd_map_fn(rd_expr *x, const rd_fn *f);
RD_API rd_expr *rd_map2_f32(rd_expr *x, rd_expr *y, float (*f)(float, float)),
    *rd_map2_f64(rd_expr *x, rd_expr *y, double (*f)(double, double)),
    *rd_map2_fn(rd_expr *x, rd_expr *y, const rd_fn *f);
RD_API rd_expr *rd_mapn_fn(const rd_fn *f, rd_exprs operands);
/** Function text: + - * / % ^ (power), ?: comparisons && || ! and parentheses, numbers, pi, true,
 *  false, and the names of the maps above (also min, max, fabs, fmin, fmax, fmod, ...).  It becomes
 *  nodes: it fuses like any map.  Operands are x, y, z, w in order, or as named before a colon: "a,
 *  b: a * b + 1".
 *  NULL on RD_ERR_TEXT, with a caret under the character and what was expected. */
RD_API rd_expr *rd_map_text(rd_expr *x, const char *f),
    *rd_map2_text(rd_expr *x, rd_expr *y, const char *f),
    *rd_mapn_text(const char *f, rd_exprs operands);

/** RD_FN1(softsign, x, x / (1 + abs(x)))   RD_FN2(rbf, d2, h, exp(-d2 / (2 * h * h)))
 *  RD_FN3(name, a, b, c, expr)
 *
 *  At file scope, one C expression.  Its text is parsed into rdim's own nodes, so it fuses, with
 *  the same bits as the calls above; the C compiler checks it and keeps loops for text rdim cannot
 *  read (calls of your own functions).  Plain C names follow the operands' type (f32 or f64; f16
 *  and bf16 become f32, others f64), numbers too, as does the result:
 *    abs min max sqrt cbrt exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh
 *    tanh asinh acosh atanh erf erfc floor ceil trunc fabs pow atan2 hypot fmod copysign
 *  and + - * / ?: comparisons && || !.  min and max carry NaN.  Run-time parameters are operands:
 *  rd_num().  Not together with <tgmath.h>, which makes macros of these names.
 *
 *  RD_FN1_BODY(name, x, y, (statements))   RD_FN2_BODY(name, a, b, y, (statements)), RD_FN3_BODY
 *
 *  The same by statements that set y, which begins as 0, with loops, branches and locals: `real` is
 *  the operands' type.  `return y;` leaves early.  One element at a time, on blocks that lie in
 *  cache.  Compiled loops have the statements' text among their own, where it names nothing else
 *  of yours. */
#ifndef __cplusplus
#define RD_STR_(...) #__VA_ARGS__
#ifdef __GNUC__
#define RD_UNUSED_ __attribute__((unused))
#define RD_QUIET_(...) \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
    __VA_ARGS__ _Pragma("GCC diagnostic pop")
#else
#define RD_UNUSED_
#define RD_QUIET_(...) __VA_ARGS__
#endif
/* a * b + c is two roundings, whichever of functions and text runs. */
#if defined(__clang__)
#define RD_EXACT_
#define RD_BODY_(...) { _Pragma("STDC FP_CONTRACT OFF") __VA_ARGS__ }
#elif defined(__GNUC__)
#define RD_EXACT_ __attribute__((optimize("fp-contract=off")))
#define RD_BODY_(...) { __VA_ARGS__ }
#else
#define RD_EXACT_
#define RD_BODY_(...) { __VA_ARGS__ }
#endif
#define RD_BARE_(...) __VA_ARGS__
#define RD_PICK_(T, fname, op) \
    RD_UNUSED_ static inline T fname(T a, T b) { return a op b || a != a ? a : b; }
RD_PICK_(float, rd_minf_, <) RD_PICK_(float, rd_maxf_, >)
RD_PICK_(double, rd_min_, <) RD_PICK_(double, rd_max_, >)
#define RD_1_(m) RD_UNUSED_ float (*const m)(float) = m##f;
#define RD_2_(m) RD_UNUSED_ float (*const m)(float, float) = m##f;
#define RD_MATH_float_                                                                             \
    RD_UNUSED_ float (*const abs)(float) = fabsf;                                                  \
    RD_UNUSED_ float (*const min)(float, float) = rd_minf_, (*const max)(float, float) = rd_maxf_; \
    RD_1_(fabs) RD_1_(sqrt) RD_1_(exp) RD_1_(expm1) RD_1_(log) RD_1_(log1p) RD_1_(log2) \
    RD_1_(sin) RD_1_(cos) RD_1_(tan) RD_1_(tanh) RD_1_(erf) RD_1_(floor) RD_1_(ceil) RD_1_(trunc) \
    RD_1_(asin) RD_1_(acos) RD_1_(atan) RD_1_(sinh) RD_1_(cosh) RD_1_(asinh) RD_1_(acosh) \
    RD_1_(atanh) RD_1_(exp2) RD_1_(log10) RD_1_(cbrt) RD_1_(erfc) \
    RD_2_(pow) RD_2_(atan2) RD_2_(hypot) RD_2_(fmod) RD_2_(copysign)
#define RD_MATH_double_ RD_UNUSED_ double (*const abs)(double) = fabs; \
    RD_UNUSED_ double (*const min)(double, double) = rd_min_; \
    RD_UNUSED_ double (*const max)(double, double) = rd_max_;
#define RD_FN_LOOP_(T, fname, load, ...)                                                           \
    static void fname(int64_t rd_n_, const T *const *rd_in_, T *rd_out_)                           \
    {                                                                                              \
        typedef T rd_real_;                                                                        \
        RD_MATH_##T##_                                                                             \
        for (int64_t rd_i_ = 0; rd_i_ < rd_n_; rd_i_++) { \
            load rd_out_[rd_i_] = (rd_real_)(__VA_ARGS__); \
        } \
    }
#define RD_BODY_LOOP_(T, fname, load, y, body)                                                     \
    RD_EXACT_ static inline T fname##_one(const T *const *rd_in_, int64_t rd_i_)                   \
    RD_BODY_(                                                                                      \
        typedef T rd_real_; typedef T real;                                                        \
        RD_MATH_##T##_                                                                             \
        load real y = 0; do { RD_BARE_ body } while (0); return y;)                                \
    RD_EXACT_ static void fname(int64_t rd_n_, const T *const *rd_in_, T *rd_out_)                 \
    RD_BODY_(for (int64_t rd_i_ = 0; rd_i_ < rd_n_; rd_i_++)                                       \
        rd_out_[rd_i_] = fname##_one(rd_in_, rd_i_);)
#define RD_ARG_(x, k) RD_UNUSED_ const rd_real_ x = rd_in_[k][rd_i_];
#define RD_FN_(fname, n_, load, args, text_, ...) RD_QUIET_(                                       \
    RD_FN_LOOP_(float, fname##_f32, load, __VA_ARGS__) \
    RD_FN_LOOP_(double, fname##_f64, load, __VA_ARGS__) \
    RD_UNUSED_ static const rd_fn fname[1] = { { .size = sizeof(rd_fn), .arity = (n_), \
        .name = #fname, .text = args text_, .code = args RD_STR_(__VA_ARGS__), \
        .f32 = fname##_f32, .f64 = fname##_f64 } };)
#define RD_FN1(name, x, ...)    RD_FN_(name, 1, RD_ARG_(x, 0), #x ": ", #__VA_ARGS__, __VA_ARGS__)
#define RD_FN2(name, x, y, ...) \
    RD_FN_(name, 2, RD_ARG_(x, 0) RD_ARG_(y, 1), #x "," #y ": ", #__VA_ARGS__, __VA_ARGS__)
#define RD_FN3(name, x, y, z, ...) RD_FN_(name, 3, RD_ARG_(x, 0) RD_ARG_(y, 1) RD_ARG_(z, 2), \
    #x "," #y "," #z ": ", #__VA_ARGS__, __VA_ARGS__)
#define RD_FN_BODY_(fname, n_, load, args, y, ...) RD_QUIET_(                                      \
    RD_BODY_LOOP_(float, fname##_f32, load, y, __VA_ARGS__) \
    RD_BODY_LOOP_(double, fname##_f64, load, y, __VA_ARGS__) \
    RD_UNUSED_ static const rd_fn fname[1] = { { .size = sizeof(rd_fn), .arity = (n_), \
        .name = #fname, .f32 = fname##_f32, .f64 = fname##_f64, \
        .names = args "," #y, .body = RD_STR_ __VA_ARGS__ } };)
#define RD_FN1_BODY(name, x, y, ...) RD_FN_BODY_(name, 1, RD_ARG_(x, 0), #x, y, __VA_ARGS__)
#define RD_FN2_BODY(name, a, b, y, ...) \
    RD_FN_BODY_(name, 2, RD_ARG_(a, 0) RD_ARG_(b, 1), #a "," #b, y, __VA_ARGS__)
#define RD_FN3_BODY(name, a, b, c, y, ...) RD_FN_BODY_(name, 3, \
    RD_ARG_(a, 0) RD_ARG_(b, 1) RD_ARG_(c, 2), #a "," #b "," #c, y, __VA_ARGS__)
#endif

/* ---- Reductions ------------------------------------------------------------------------------ */
/** How sums add.  RD_PAIRWISE: the combine tree of docs/design.md, error growing like log n.
 *  RD_COMPENSATED: the same tree with a correction term (sum, mean).  RD_WIDE: all floats in f64.
 *  RD_SERIAL: one strict left fold. */
typedef enum rd_accuracy { RD_PAIRWISE, RD_COMPENSATED, RD_WIDE, RD_SERIAL } rd_accuracy;
typedef struct rd_reducer rd_reducer;

/** Keywords of every reduction and scan.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (where, weights do not
 *  broadcast to x, initial not to the result), RD_ERR_EMPTY (min, max, arg of no element without
 *  .initial), RD_ERR_TYPE, RD_ERR_ARGUMENT (a keyword the reducer does not take). */
typedef struct rd_reduce_opts {
    uint32_t    size;
    rd_accuracy accuracy;
    rd_dims     dims;               /* the positional argument */
    rd_expr    *where;              /* only elements where this is true take part */
    rd_expr    *initial;            /* starting value of sum, prod, min, max, bits_*: one more */
    rd_expr    *weights;            /* mean, var, std, skewness, kurtosis, logsumexp, cov, corr */
    bool        skip_nan;           /* NaN elements do not take part */
    bool        exclusive, reverse; /* scans: without the element itself; from the end */
    rd_dtype    type;               /* of the result, and at least that of the accumulator; of
                                     * complex types the accumulator has that of their parts */
    double      ddof, p; /* var and std divide by n - ddof; norm: see there, 0 means 2 */
    /** By label: .by = RD_EXPRS(label), .groups = RD_SHAPE(n) reduces each of n groups of elements.
     *  Labels are ints (or bools) that broadcast to the operand; an element belongs to the group
     *  that its label says, and to none if that is not one of 0 .. n - 1, also negative.  The
     *  result has an axis of extent n in place of the first reduced one (at the end if none is;
     *  RD_KEEP keeps the others).  Several labels, with as many extents, are so many axes there:
     *  .by = RD_EXPRS(row, col), .groups = RD_SHAPE(n, m).  A group without elements has the value
     *  of nothing, which ints' min and max lack without .initial (RD_ERR_EMPTY).  Floats of 16 and
     *  32 bits are added, and multiplied, in f64, as with RD_WIDE.  Not for scans. */
    rd_exprs    by;
    rd_shape    groups;
    /** Of scans of sum, prod, min, max, mean, count, any, all and norm: where this is true, in the
     *  direction of the scan, it begins anew with that element.  It broadcasts to the operand.
     *  Sums so far in runs of one label: .restart = rd_pad(rd_diff(label, 0, 1), 0, 1, 0,
     *  RD_PAD_CONSTANT, NULL).  Floats of 16 and 32 bits are added, and multiplied, in f64. */
    rd_expr    *restart;
} rd_reduce_opts;

/** rd_sum(x, RD_DIMS(0, 2), .where = mask).  The result lacks the reduced axes, or has them as 1
 *  with RD_KEEP.
 *    sum prod any all   0, 1, false, true of nothing; sums of ints and bool in i64, of unsigned in
 *                       u64; the product of what is not 0: rd_prod(x, dims, .where = x)
 *    sum prod mean ...  of f16 and bf16 are accumulated in f32 and rounded once; .type = RD_F32
 *                       keeps what they come to
 *    min max            carry NaN unless .skip_nan; emptied by .where or .skip_nan: NaN, or
 *                       .initial, which ints need
 *    argmin argmax      i64 flat index in C order over the reduced axes; lowest on ties, first NaN,
 *                       -1 if emptied; asked for together with min and max: one pass
 *    bits_and bits_or bits_xor   of ints and bools, in their type; all bits set, 0, 0 of nothing
 *    count              elements that are not 0 (NaN counts), i64
 *    mean var std       of ints in f64; var divides by n - ddof (by sum of weights - ddof); NaN of
 *                       nothing
 *    skewness           third moment about the mean over std^3, weights as of var, no ddof; NaN if
 *                       all are equal
 *    kurtosis           fourth moment about the mean over std^4, less 3 (0 of a normal
 *                       distribution); weights and NaN as of skewness
 *    norm               (sum |x|^p)^(1/p), p = 1, 2, INFINITY (the greatest |x|; 0 of nothing),
 *                       -INFINITY (the least; inf of nothing)
 *    logsumexp          log(sum(weights * exp(x))) without overflow; -inf of nothing */
#ifndef __cplusplus
/* Axes are a set: a number would silently become the first member of one.  So the compiler
 * is asked for the size of a type that is not there, whose name says what to write. */
#define RD_REDUCE_OPTS(...) (&(rd_reduce_opts){ .size = (uint32_t)sizeof(rd_reduce_opts) \
    * RD_1_IF_(rd_dims, say_RD_DIMS_axis_not_a_number, __VA_ARGS__), .dims = __VA_ARGS__ })
#define rd_sum(x, ...)       rd_reduce_name(x, "sum",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_prod(x, ...)      rd_reduce_name(x, "prod",      RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_min(x, ...)       rd_reduce_name(x, "min",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_max(x, ...)       rd_reduce_name(x, "max",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_argmin(x, ...)    rd_reduce_name(x, "argmin",    RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_argmax(x, ...)    rd_reduce_name(x, "argmax",    RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_any(x, ...)       rd_reduce_name(x, "any",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_all(x, ...)       rd_reduce_name(x, "all",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_count(x, ...)     rd_reduce_name(x, "count",     RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_bits_and(x, ...)  rd_reduce_name(x, "bits_and",  RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_bits_or(x, ...)   rd_reduce_name(x, "bits_or",   RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_bits_xor(x, ...)  rd_reduce_name(x, "bits_xor",  RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_mean(x, ...)      rd_reduce_name(x, "mean",      RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_var(x, ...)       rd_reduce_name(x, "var",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_std(x, ...)       rd_reduce_name(x, "std",       RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_skewness(x, ...)  rd_reduce_name(x, "skewness",  RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_kurtosis(x, ...)  rd_reduce_name(x, "kurtosis",  RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_norm(x, ...)      rd_reduce_name(x, "norm",      RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_logsumexp(x, ...) rd_reduce_name(x, "logsumexp", RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_reduce(x, r, dims, keywords), rd_scan(x, r, RD_DIMS(axis), keywords); r: a name above or a
 *  user's reducer.  Scans (all names, and a user's with one output) have x's shape: element i is
 *  the reduction of elements 0..i along the axis; argmin and argmax have places along it. */
#define rd_reduce(x, r, ...) \
    RD_BY_(r, rd_reduce_name, rd_reduce_user)(x, r, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_reduce2(x, w, r, dims, keywords): a user's reducer of two operands (RD_REDUCER2), which
 *  broadcast.  .skip_nan leaves out where x is NaN. */
#define rd_reduce2(x, w, r, ...) rd_reduce2_user(x, w, r, RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_scan(x, r, ...) \
    RD_BY_(r, rd_scan_name, rd_scan_user)(x, r, RD_REDUCE_OPTS(__VA_ARGS__))
#define RD_BY_(r, name, user) _Generic((r), char *: name, const char *: name, rd_reducer *: user, \
    const rd_reducer *: user)
#endif
RD_API rd_expr *rd_reduce_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts),
    *rd_reduce_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts),
    *rd_reduce2_user(rd_expr *x, rd_expr *w, const rd_reducer *reducer,
                     const rd_reduce_opts *opts),
    *rd_scan_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts),
    *rd_scan_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts);

/** Of two operands, which broadcast; results and keywords as of rd_var(), in one pass without
 *  weights.  What is NaN in either is left out by .skip_nan.
 *    cov    sum((x - mean x) (y - mean y)) / (n - ddof), .weights as of var
 *    corr   cov / (std x std y), -1 to 1; NaN where either has equal elements alone; no ddof
 *  NULL also on RD_ERR_ARGUMENT: .weights and .by together. */
#ifndef __cplusplus
#define rd_cov(x, y, ...)  rd_cov_of(x, y, RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_corr(x, y, ...) rd_corr_of(x, y, RD_REDUCE_OPTS(__VA_ARGS__))
/** min and max in one pass, along a new first axis of extent 2; keywords as theirs. */
#define rd_minmax(x, ...) rd_minmax_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
/** The first and the last element in C order along dims, of those that .where and .skip_nan leave:
 *  rd_last(x, RD_DIMS(0), .skip_nan = true).  Where none is left, or in a group of .by, it is NaN,
 *  or .initial, which ints need (RD_ERR_EMPTY). */
#define rd_first(x, ...) rd_first_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_last(x, ...)  rd_last_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
#endif
RD_API rd_expr *rd_cov_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts),
    *rd_corr_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts),
    *rd_minmax_of(rd_expr *x, const rd_reduce_opts *opts),
    *rd_first_of(rd_expr *x, const rd_reduce_opts *opts),
    *rd_last_of(rd_expr *x, const rd_reduce_opts *opts);
/** The integral of y along an axis by trapezoids.  x is a number, the distance of neighbours, or
 *  positions: along that axis if of rank 1, else of y's rank.  Ints in f64.  NULL on RD_ERR_AXIS,
 *  RD_ERR_SHAPE, RD_ERR_TYPE (x is complex). */
RD_API rd_expr *rd_trapezoid(rd_expr *y, rd_expr *x, int axis);
/** The slope of y along an axis, of y's shape, by neighbours: rd_gradient(y, rd_num(ctx, dx), 0, 1).
 *  x as of rd_trapezoid; of unequal distances the slope inside is that of the parabola through three
 *  points.  `order` is 1 or 2: at the ends it is that of the line through two points, or of the
 *  parabola through three.  Ints in f64.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (order elements or
 *  fewer), RD_ERR_ARGUMENT (order), RD_ERR_TYPE (x is complex). */
RD_API rd_expr *rd_gradient(rd_expr *y, rd_expr *x, int axis, int order);

/* ---- Products of vectors and matrices: views, products and a sum, which fuse as such -------- *
 * The type is that to which the operands promote, and ints wrap in it; f16 and bf16 are multiplied
 * and summed in f32 and rounded once; bools are joined by `and` and `or`; complex ones are taken.
 * NULL on RD_ERR_SHAPE, RD_ERR_AXIS, RD_ERR_ARGUMENT (operands of two contexts). */
/** a @ b: over the last axis of a and the last but one of b.  Axes before them broadcast.  Of rank
 *  1 a is one row, b one column, and the result lacks it; of rank 0 neither may be. */
RD_API rd_expr *rd_matmul(rd_expr *a, rd_expr *b);
/** A product of two matrices with other operations: add is a reduction by its name (rd_reduce_name),
 *  multiply an operator of two operands by its name in function text.  "min" and "add": shortest
 *  ways; "any" and "and": what is reached; "max" and "minimum": widest ways.  Of two sparse matrices
 *  with .stored the product has places where both meet, and is as sparse; rd_matmul() of two sparse
 *  ones is, too (docs/sparse.md).  NULL also on RD_ERR_ARGUMENT (names). */
RD_API rd_expr *rd_semiring(rd_expr *a, rd_expr *b, const char *add, const char *multiply);
/** NumPy's dot: as rd_matmul() up to rank 2; beyond it the result has all other axes of a, then
 *  those of b.  Of numbers their product. */
RD_API rd_expr *rd_dot(rd_expr *a, rd_expr *b);
/** The sum of products along one axis of both (-1: the last), the others broadcast.  If ranks
 *  differ the axis is counted from the end.  Of complex a the conjugate. */
RD_API rd_expr *rd_vecdot(rd_expr *a, rd_expr *b, int axis);
/** Over axis of_a.at[k] of a together with of_b.at[k] of b, for all k:
 *  rd_tensordot(a, b, RD_INDEX(2, 0), RD_INDEX(0, 1)).  The other axes of a, then those of b,
 *  stay. */
RD_API rd_expr *rd_tensordot(rd_expr *a, rd_expr *b, rd_index of_a, rd_index of_b);
/** a[i] b[j], of all elements of a and b in C order. */
RD_API rd_expr *rd_outer(rd_expr *a, rd_expr *b);
/** The sum along a diagonal, as rd_diagonal() has it, in the type of rd_sum(). */
RD_API rd_expr *rd_trace(rd_expr *x, int axis1, int axis2, int64_t offset);
/** rd_einsum("ik,kj->ij", a, b): a letter for each axis of each operand; equal letters are one
 *  index, and what the result does not name is summed.  A letter twice in one operand is its
 *  diagonal; "..." stands for axes that broadcast.  Without "->" the result has the axes of "...",
 *  then the letters that stand there once, A to Z before a to z.  Spaces do not count.  Any number
 *  of operands: from three on they are taken in pairs, chosen by their sizes, where that is less
 *  work than all in one pass.  Extents of one letter are equal, or 1 in another operand, which
 *  repeats.
 *  NULL on RD_ERR_TEXT and RD_ERR_SHAPE, with a caret under the character. */
RD_API rd_expr *rd_einsum_text(const char *text, rd_exprs operands);
#ifndef __cplusplus
#define rd_einsum(text, ...) rd_einsum_text(text, RD_EXPRS(__VA_ARGS__))
#endif

/* ---- Formulas: whole expressions in text ------------------------------------------------------ */
/** What a name in a formula is.  The same of results, where `add` says that the statement was
 *  `name[...] += ...`: x is what is to be added; and `text` is the statement's. */
typedef struct rd_named { const char *name; rd_expr *x; bool add; const char *text; } rd_named;
/** A coordinate that a formula's text says: a text in quotes, or, where text is NULL, a number. */
typedef struct rd_formula_bound { const char *text; double number; } rd_formula_bound;
/** What the caller of a formula knows of the axes of arrays, so that names are conditions: whole
 *  arrays meet by the names of their axes, and `tas[lat=45]` reads by coordinate.  docs/formulas.md
 *  has the rules.  Each may be NULL, gets the `user` of rd_formula_opts, and where it refuses writes
 *  the reason, a sentence of at most RD_WHY bytes, into `why`.
 *
 *  name    of an axis; NULL: it has none.  Axes of results are followed by rd_axis_source().
 *  meet    axis *x_axis* of *x and y_axis of *y have one name, and are to be read side by side.  May
 *          replace *x and *y by parts that belong together.  False: they do not.
 *  select  the part of x at the coordinate `low` of an axis; or from low to `high`, both inclusive,
 *          NULL: open.  `range` says which.  NULL: refused.
 *  gather  what takes index's place in x[index]: places along that axis; NULL: refused.
 *  labels  the n labels of a reduction by label, and how many groups each has, -1 where the text does
 *          not say.  May replace a label by one that is 0 to groups - 1.  False: refused.
 *  grouped is told that `axis` of x has the groups of `label`, as the formula gave it.
 *  call    a function that formulas do not have; NULL with `why` left empty: there is none.
 *  alike   x and y are added, subtracted or compared, or an element is taken from one or the other.
 *          May replace either by the same in other units.  False: they are unlike.
 *  made    is told what the formula has made: y by the function of that name, of n operands. */
enum { RD_WHY = 1024 };
typedef struct rd_formula_axes {
    uint32_t size;
    const char *(*name)(void *user, rd_expr *x, int axis);
    bool (*meet)(void *user, rd_expr **x, int x_axis, rd_expr **y, int y_axis, char *why);
    rd_expr *(*select)(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                       const rd_formula_bound *high, char *why);
    rd_expr *(*gather)(void *user, rd_expr *x, int axis, rd_expr *index, char *why);
    bool (*labels)(void *user, int n, rd_expr **label, int64_t *groups, char *why);
    void (*grouped)(void *user, rd_expr *x, int axis, rd_expr *label);
    rd_expr *(*call)(void *user, rd_ctx *ctx, const char *name, int n, rd_expr *const *x, char *why);
    bool (*alike)(void *user, rd_expr **x, rd_expr **y, char *why);
    void (*made)(void *user, rd_expr *y, const char *name, int n, rd_expr *const *x);
} rd_formula_axes;
/** `size` = sizeof the struct.  find is asked for names that `in` lacks, once each, and returns
 *  NULL for those that it does not know.  axis is asked for axes by name, axis=time, and returns -1
 *  where x has none of that name; without it axes->name is asked.  axes: NULL, nothing is known. */
typedef struct rd_formula_opts {
    uint32_t        size;
    int             n_in;
    const rd_named *in;
    rd_expr *(*find)(void *user, rd_ctx *ctx, const char *name);
    void           *user; /* find's, axis's, and that of axes */
    int (*axis)(void *user, rd_expr *x, const char *name);
    const rd_formula_axes *axes;
} rd_formula_opts;
typedef struct rd_name { const char *name; rd_expr *x; } rd_name;
typedef struct rd_names { const rd_name *at; int32_t n; } rd_names;
/** The nodes that calls would make of a formula's text, which docs/formulas.md defines:
 *      rd_formula(ctx, "(x - mean(x, axis=0, keepdims=true)) / b", RD_NAMES({ "x", x }, { "b", b }))
 *      rd_formula(ctx, "out[i] = sum[j] a[i, j] * x[j]", RD_NAMES({ "a", a }, { "x", x }))
 *  Statements stand in lines, or end with ";", and later ones read earlier ones by name.  rd_formula
 *  gives the last one.
 *  @return NULL on RD_ERR_TEXT, RD_ERR_SHAPE and what calls fail with, each with a caret under the
 *          character; on RD_ERR_LIMIT (64 KiB of text, depth, numbers of names); and where the
 *          context has a failure already. */
RD_API rd_expr *rd_formula(rd_ctx *ctx, const char *text, rd_names in);
/** All statements, as results in their order, for one rd_eval_many(), in which they share passes.
 *  One that adds to an earlier one of the text is no result of its own: the earlier one has both.
 *  @param opts  NULL: no names
 *  @param out   room for `max` results.  Names live as nodes do; "" where a statement has none
 *  @return how many results there are; 0 on failure, also RD_ERR_LIMIT where they are over max. */
RD_API int rd_formula_all(rd_ctx *ctx, const char *text, const rd_formula_opts *opts, int max,
                          rd_named *out);
#ifndef __cplusplus
#define RD_NAMES(...) ((rd_names){ (const rd_name[]){ __VA_ARGS__ }, RD_N_(rd_name, __VA_ARGS__) })
#endif

/* ---- Histograms: counts by label ------------------------------------------------------------- */
/** The bin of each element, i64 of x's shape, as a label for `.by`: n bins of one width from lo to
 *  hi, floor((x - lo) * (n / (hi - lo))) in f64, the last one with hi in it; -1 for NaN and what is
 *  outside.  NULL on RD_ERR_ARGUMENT: n below 1, lo not below hi, or one not finite. */
RD_API rd_expr *rd_bins(rd_expr *x, int64_t n, double lo, double hi);
/** The same between edges, a row of n + 1 numbers that do not fall (nobody looks): bin i has
 *  edges[i] <= x < edges[i + 1], the last one its right edge, too.  Found by bisection.  NULL on
 *  RD_ERR_SHAPE: fewer than two edges, or not of rank 1. */
RD_API rd_expr *rd_bins_between(rd_expr *x, rd_expr *edges);
/** How often each label occurs, i64, or the sum of the weights of its elements (NULL: 1 each), in
 *  the type of rd_sum(): rd_bincount(RD_EXPRS(label), RD_SHAPE(n), NULL).  Of several labels the
 *  counts of all combinations, (n, m): a histogram of pairs is rd_bincount(RD_EXPRS(rd_bins(x, n,
 *  0, 1), rd_bins(y, m, 0, 1)), RD_SHAPE(n, m), NULL).  Labels and weights broadcast; labels
 *  outside count nowhere.  Errors as of `.by`; no label is RD_ERR_ARGUMENT, of the weights'
 *  context. */
RD_API rd_expr *rd_bincount(rd_exprs labels, rd_shape groups, rd_expr *weights);
/** x with values added at places of an axis, the transpose of rd_take(x, axis, index), whose shape
 *  values broadcast to.  Places that occur again add up, those below 0 count from the end, and
 *  what is outside counts nowhere.  The type is that in which x and values meet.  NULL on
 *  RD_ERR_AXIS, RD_ERR_SHAPE, RD_ERR_TYPE (places are ints). */
RD_API rd_expr *rd_scatter_add(rd_expr *x, int axis, rd_expr *index, rd_expr *values);
/** rd_bincount() of rd_bins(): how many elements each of n bins has. */
RD_API rd_expr *rd_histogram(rd_expr *x, int64_t n, double lo, double hi, rd_expr *weights);

/* ---- Rolling: a reduction of each n neighbours along an axis --------------------------------- *
 * The axis gets extent - n + 1 results, as of rd_window(x, axis, n, 1), 0 if n > extent: to have as
 * many as x, pad (rd_pad).  What one takes grows with log n at most.  NaN and infinities end with
 * their windows.  Sums of floats may differ in the last bits from those of rd_window, and have
 * smaller errors; types are those of the reductions.  Others of any reducer:
 * rd_reduce(rd_window(x, axis, n, 1), r, RD_DIMS(-1)).  NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT
 * (n < 1). */
/** Keywords.  Positional arguments are the axis, n, and ddof of var and std. */
typedef struct rd_rolling_opts {
    uint32_t size;
    int32_t  axis;
    int64_t  n;    /* neighbours of a window                                          */
    double   ddof; /* var and std divide by n - ddof                                  */
    rd_dtype type; /* of the results, and at least that of the sums, as of reductions */
    int32_t  reserved;
} rd_rolling_opts;
/** rd_rolling_sum(x, axis, n, .type = RD_F64) */
RD_API rd_expr *rd_rolling_sum(rd_expr *x, int axis, int64_t n),
    *rd_rolling_mean(rd_expr *x, int axis, int64_t n),
    *rd_rolling_min(rd_expr *x, int axis, int64_t n),
    *rd_rolling_max(rd_expr *x, int axis, int64_t n);
/** The sum of squares about the window's mean over n - ddof (NaN if that is not positive), and its
 *  root. */
RD_API rd_expr *rd_rolling_var(rd_expr *x, int axis, int64_t n, double ddof),
    *rd_rolling_std(rd_expr *x, int axis, int64_t n, double ddof);
/** The median of each window, and another quantile; as of rd_quantile(), which puts each window in
 *  order by itself.  NULL also on RD_ERR_ARGUMENT (q outside 0 to 1), RD_ERR_TYPE. */
RD_API rd_expr *rd_rolling_median(rd_expr *x, int axis, int64_t n),
    *rd_rolling_quantile(rd_expr *x, double q, int axis, int64_t n);
/** By name: "sum", "mean", "min", "max", "var", "std"; others are RD_ERR_TEXT. */
RD_API rd_expr *rd_rolling_name(rd_expr *x, const char *reducer, const rd_rolling_opts *opts);
#ifndef __cplusplus
#define RD_ROLLING_OPTS(...) \
    (&(rd_rolling_opts){ .size = (uint32_t)sizeof(rd_rolling_opts), .axis = __VA_ARGS__ })
#define rd_rolling_sum(x, ...)  rd_rolling_name(x, "sum", RD_ROLLING_OPTS(__VA_ARGS__))
#define rd_rolling_mean(x, ...) rd_rolling_name(x, "mean", RD_ROLLING_OPTS(__VA_ARGS__))
#define rd_rolling_min(x, ...)  rd_rolling_name(x, "min", RD_ROLLING_OPTS(__VA_ARGS__))
#define rd_rolling_max(x, ...)  rd_rolling_name(x, "max", RD_ROLLING_OPTS(__VA_ARGS__))
#define rd_rolling_var(x, ...)  rd_rolling_name(x, "var", RD_ROLLING_OPTS(__VA_ARGS__))
#define rd_rolling_std(x, ...)  rd_rolling_name(x, "std", RD_ROLLING_OPTS(__VA_ARGS__))
#endif

/* ---- Weighed by distance along an axis ------------------------------------------------------- */
/** Exponentially weighted means: element i is the mean of elements 0 to i, of which each counts
 *  1 - alpha times as much as the next one.  So it is with `adjust`, and NaN count for nothing;
 *  without it y[0] = x[0], y[i] = (1 - alpha) y[i - 1] + alpha x[i], and a NaN makes all behind it
 *  NaN (rd_ffill).  An infinity stays, but of alpha 1, of which each element is its own mean.  Computed in f64; x's type, ints f64.  NaN where no number has come yet, or
 *  the weights of those that have come are 0 in f64.  NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT
 *  (alpha not above 0 and up to 1), RD_ERR_TYPE, RD_ERR_SHAPE (rank 32). */
RD_API rd_expr *rd_ewm_mean(rd_expr *x, int axis, double alpha, bool adjust);
/** Which results there are of n elements and a row of m: n + m - 1, all where both meet; as many as
 *  the longer one has, from the middle; or where the shorter one is inside, |n - m| + 1. */
typedef enum rd_convolve_mode {
    RD_CONVOLVE_FULL, RD_CONVOLVE_SAME, RD_CONVOLVE_VALID
} rd_convolve_mode;
/** x along an axis with the row k: y[i] = sum of x[i - j] k[j], and correlated, the sum of
 *  x[i + j] conj(k[j]), as NumPy.  Types are those of rd_matmul().  Each result takes as many
 *  products as k has elements, of two rows as the shorter one; there is no transform.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (no row, or an empty one),
 *  RD_ERR_ARGUMENT (mode). */
RD_API rd_expr *rd_convolve(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode),
    *rd_correlate(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode);

/* ---- Centred, scaled, weighed ---------------------------------------------------------------- *
 * Along the axes d, as reductions have them (RD_KEEP means nothing here); x's shape and type, ints
 * give f64.  Halves are computed in f32 and rounded once.  NULL on RD_ERR_AXIS, and where maps are
 * NULL. */
/** exp(x) over its sum, and x less the logarithm of that sum, without overflow. */
RD_API rd_expr *rd_softmax(rd_expr *x, rd_dims d), *rd_log_softmax(rd_expr *x, rd_dims d);
/** The sum of v weighed by the softmax of s along d, which go (but for RD_KEEP): what attention
 *  does.  Both broadcast, and types promote; an s of -inf counts for nothing.  v with axes that s
 *  lacks is a product of matrices: of scores (n, m) and values (m, k), rd_softmax_sum(rd_expand(s,
 *  2), rd_expand(v, 0), RD_DIMS(1)) is (n, k).  NaN where all s are -inf, and of nothing. */
RD_API rd_expr *rd_softmax_sum(rd_expr *s, rd_expr *v, rd_dims d);
/** log |t| and the sign of t = sum(weights * exp(x)) along d, which go (but for RD_KEEP), along a
 *  new first axis of extent 2, without overflow: weights of any sign.  Of a sum of 0, and of
 *  nothing, -inf and 0.  x of weight 0 counts for nothing.  Both broadcast.  Where weights are not
 *  negative, rd_logsumexp(x, d, .weights = w) has the first in one pass. */
RD_API rd_expr *rd_signed_logsumexp(rd_expr *x, rd_expr *weights, rd_dims d);
/** (x - mean) / std; std divides by n - ddof. */
RD_API rd_expr *rd_standardise(rd_expr *x, rd_dims d, double ddof);
/** (x - mean) / sqrt(var + eps) * gamma + beta, and x / sqrt(mean(x^2) + eps) * gamma.  gamma and
 *  beta broadcast to x; NULL: without (one that failed has left its error). */
RD_API rd_expr *rd_layer_norm(rd_expr *x, rd_dims d, rd_expr *gamma, rd_expr *beta, double eps),
    *rd_rms_norm(rd_expr *x, rd_dims d, rd_expr *gamma, double eps);
/** x / (sum |x|^p)^(1/p), any p > 0 (else RD_ERR_ARGUMENT), INFINITY too; what is all 0 stays
 *  so. */
RD_API rd_expr *rd_normalise(rd_expr *x, rd_dims d, double p);
/** Distances of all rows of x (..., n, d) from all rows of y (..., m, d), (..., n, m):
 *  (sum |x - y|^p)^(1/p), and 1 - x y / (|x| |y|), which is NaN of a row that is all 0.  Ints give
 *  f64.  NULL on RD_ERR_SHAPE, RD_ERR_ARGUMENT (p not above 0). */
RD_API rd_expr *rd_cdist(rd_expr *x, rd_expr *y, double p),
    *rd_cosine_distance(rd_expr *x, rd_expr *y);


/** Your own reducer, copied where it is used.  All functions pure and thread-safe.  merge NULL: the
 *  elements are folded in one strict C order.  Else the order of elements is C order too, but cut
 *  into blocks that are merged in order.  With `commutes` it is any order: elements 64 apart go to
 *  states of their own, side by side in vectors, up to four times as fast.  `code` holds the
 *  state's members and the four bodies as text, for compiled C and CUDA; entries may be NULL.  It
 *  must compute what the functions do, bit by bit: either may run.  Text that does not compile by
 *  itself is left aside. */
struct rd_reducer {
    uint32_t    size;
    int32_t     n_out; /* values per result, 1 to 1024; > 1: a new last axis of that extent */
    rd_dtype    in, out;
    int64_t     state_size;                 /* 1 to 4096 bytes; plain data, aligned to 16  */
    const char *name, *code[5];             /* state, init, step, merge, finish */
    void (*init)(void *s);
    /* n elements, i the first */
    void (*step)(void *s, int64_t n, const void *x, int64_t stride, int64_t i);
    void (*merge)(void *a, const void *b);                                         /* b follows a */
    void (*finish)(const void *s, void *y);
    /* of two operands, instead of step: w is of type in2, its elements `along` apart */
    rd_dtype in2;
    int32_t  commutes; /* not 0: elements may come, and states be merged, in any order */
    void (*step2)(void *s, int64_t n, const void *x, int64_t stride, const void *w, int64_t along,
                  int64_t i);
    /* NULL; or: not 0 of a state behind which no element counts, whatever came before it (if it
     * commutes: beside which none does): finish() gives the same without those.  Elements that are
     * left may then be left out, and what they are made of, if that could report nothing. */
    int32_t (*done)(const void *s);
    /* Not 0: it has no identity, as the greatest of some type has none.  Of no element there is no
     * result then: RD_ERR_EMPTY, or .initial, a value of type `out`.  Where .where, .skip_nan or a
     * group leave none, floats have NaN without .initial, and others need it.  init() sets a state
     * that says it has seen nothing: step() begins such a one with its first element, merge() takes
     * states of either kind, and what finish() makes of it is not looked at.  RD_REDUCER_FIRST
     * writes all that. */
    int32_t no_identity, reserved;
};

/** RD_REDUCER(name, X, Y, n, (members of the state), (init), (step), (merge), (finish)), at file
 *  scope.  init sets *s; step takes x (an X; operands are converted) and i (its flat int64_t index)
 *  into *s; merge takes *b, of the elements after a's, into *a; finish writes y[0..n) from *s.
 *  Plain statements that are C and C++ alike, in parentheses; locals allowed, no calls but of
 *  <math.h>.  How elements are split is fixed by the plan.  One more may follow, (done): an
 *  expression of *s, that of rd_reducer.done.
 *
 *  RD_REDUCER2(name, X, W, Y, n, ...) makes one of two operands, for rd_reduce2(): step takes x and
 *  w, a W.  RD_REDUCER_COMMUTES and RD_REDUCER2_COMMUTES make those of which `commutes` is set.
 *
 *  RD_REDUCER_FIRST(name, X, Y, n, (members), (first), (step), (merge), (finish)) makes one that has
 *  no identity: `first` sets *s to the first element x, and the other three get states with
 *  elements alone.  No (done) follows.  RD_REDUCER2_FIRST is of two operands, and
 *  RD_REDUCER_FIRST_COMMUTES and RD_REDUCER2_FIRST_COMMUTES set `commutes`, too.
 *      RD_REDUCER_FIRST(longest, float, float, 1, (float x;), (s->x = x;),
 *                       (if (fabsf(x) > fabsf(s->x)) s->x = x;),
 *                       (if (fabsf(b->x) > fabsf(a->x)) *a = *b;), (y[0] = s->x;)) */
#ifndef __cplusplus
#define RD_REDUCER(name_, ...)           RD_REDUCER_OF_(name_, 0, __VA_ARGS__, (0), )
#define RD_REDUCER_COMMUTES(name_, ...)  RD_REDUCER_OF_(name_, 1, __VA_ARGS__, (0), )
#define RD_REDUCER2(name_, ...)          RD_REDUCER2_OF_(name_, 0, __VA_ARGS__, (0), )
#define RD_REDUCER2_COMMUTES(name_, ...) RD_REDUCER2_OF_(name_, 1, __VA_ARGS__, (0), )
#define RD_REDUCER_FIRST(...)            RD_FIRST_OF_(2, __VA_ARGS__)
#define RD_REDUCER_FIRST_COMMUTES(...)   RD_FIRST_OF_(3, __VA_ARGS__)
#define RD_REDUCER2_FIRST(...)           RD_FIRST2_OF_(2, __VA_ARGS__)
#define RD_REDUCER2_FIRST_COMMUTES(...)  RD_FIRST2_OF_(3, __VA_ARGS__)
#define RD_FIRST_OF_(kind_, name_, X, Y, n_, state_, first_, step_, merge_, finish_)               \
    RD_REDUCER_OF_(name_, kind_, X, Y, n_, RD_FIRST_STATE_(state_), (s->rd_seen = 0;),             \
                   RD_FIRST_STEP_(first_, step_), RD_FIRST_MERGE_(merge_),                         \
                   RD_FIRST_FINISH_(n_, finish_), (0), )
#define RD_FIRST2_OF_(kind_, name_, X, W, Y, n_, state_, first_, step_, merge_, finish_)           \
    RD_REDUCER2_OF_(name_, kind_, X, W, Y, n_, RD_FIRST_STATE_(state_), (s->rd_seen = 0;),         \
                    RD_FIRST_STEP_(first_, step_), RD_FIRST_MERGE_(merge_),                        \
                    RD_FIRST_FINISH_(n_, finish_), (0), )
#define RD_FIRST_STATE_(state_)          (RD_BARE_ state_ int32_t rd_seen;)
#define RD_FIRST_STEP_(first_, step_) \
    (if (!s->rd_seen) { s->rd_seen = 1; RD_BARE_ first_ } else { RD_BARE_ step_ })
#define RD_FIRST_MERGE_(merge_) \
    (if (!a->rd_seen) { *a = *b; } else if (b->rd_seen) { RD_BARE_ merge_ })
#define RD_FIRST_FINISH_(n_, finish_) \
    (for (int rd_k_ = 0; rd_k_ < (n_); rd_k_++) y[rd_k_] = 0; if (s->rd_seen) { RD_BARE_ finish_ })
#define RD_REDUCER_OF_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,          \
                       done_, ...)                                                                 \
    RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                             \
    RD_EXACT_ static void name_##_step(void *rd_s_, int64_t rd_n_, const void *rd_x_,              \
                                       int64_t rd_stride_, int64_t i)                              \
    RD_BODY_(                                                                                      \
        name_##_state rd_t_ = *(name_##_state *)rd_s_, *const s = &rd_t_;                          \
        const X *rd_p_ = rd_x_;                                                                    \
        for (const int64_t rd_end_ = i + rd_n_; i < rd_end_; i++, rd_p_ += rd_stride_) {           \
            RD_UNUSED_ const X x = *rd_p_;                                                         \
            RD_BARE_ step_                                                                         \
        }                                                                                          \
        *(name_##_state *)rd_s_ = rd_t_;)                                                          \
    RD_UNUSED_ static const rd_reducer name_[1] = { { .step = name_##_step,                        \
        RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_) } };
#define RD_REDUCER2_OF_(name_, commutes_, X, W, Y, n_, state_, init_, step_, merge_, finish_,      \
                        done_, ...)                                                                \
    RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                             \
    RD_EXACT_ static void name_##_step(void *rd_s_, int64_t rd_n_, const void *rd_x_,              \
                                       int64_t rd_stride_, const void *rd_w_, int64_t rd_along_,   \
                                       int64_t i)                                                  \
    RD_BODY_(                                                                                      \
        name_##_state rd_t_ = *(name_##_state *)rd_s_, *const s = &rd_t_;                          \
        const X *rd_p_ = rd_x_; const W *rd_q_ = rd_w_;                                            \
        for (const int64_t rd_end_ = i + rd_n_; i < rd_end_;                                       \
             i++, rd_p_ += rd_stride_, rd_q_ += rd_along_) {                                       \
            RD_UNUSED_ const X x = *rd_p_; RD_UNUSED_ const W w = *rd_q_;                          \
            RD_BARE_ step_                                                                         \
        }                                                                                          \
        *(name_##_state *)rd_s_ = rd_t_;)                                                          \
    RD_UNUSED_ static const rd_reducer name_[1] = { { .step2 = name_##_step,                       \
        .in2 = RD_TYPE((W *)0),                                                                    \
        RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_) } };
#define RD_REDUCER_PARTS_(name_, Y, state_, init_, merge_, finish_, done_)                         \
    typedef struct name_##_state { RD_BARE_ state_ } name_##_state;                                \
    RD_EXACT_ static void name_##_init(void *rd_s_)                                                \
    RD_BODY_(name_##_state *const s = rd_s_; RD_BARE_ init_)                                       \
    RD_EXACT_ static void name_##_merge(void *rd_a_, const void *rd_b_)                            \
    RD_BODY_(name_##_state *const a = rd_a_; const name_##_state *const b = rd_b_; RD_BARE_ merge_)\
    RD_EXACT_ static void name_##_finish(const void *rd_s_, void *rd_y_)                           \
    RD_BODY_(const name_##_state *const s = rd_s_; Y *const y = rd_y_; RD_BARE_ finish_)           \
    RD_EXACT_ static int32_t name_##_done(const void *rd_s_)                                       \
    RD_BODY_(RD_UNUSED_ const name_##_state *const s = rd_s_; return done_;)
#define RD_REDUCER_FIELDS_(name_, commutes_, X, Y, n_, state_, init_, step_, merge_, finish_,      \
                           done_)                                                                  \
    .size = sizeof(rd_reducer), .n_out = (n_), .commutes = (commutes_) & 1,                        \
    .no_identity = (commutes_) >> 1,                                                               \
    .in = RD_TYPE((X *)0), .out = RD_TYPE((Y *)0),                                                 \
    .state_size = sizeof(name_##_state), .name = #name_,                                           \
    .code = { RD_STR_ state_, RD_STR_ init_, RD_STR_ step_, RD_STR_ merge_, RD_STR_ finish_ },     \
    .init = name_##_init, .merge = name_##_merge, .finish = name_##_finish,                        \
    .done = sizeof(RD_STR_ done_) > sizeof "0" ? name_##_done : 0
#endif

/* ---- Order: sorting, the first k, quantiles --------------------------------------------------- *
 * The order is total.  NaN comes last, also where the greatest come first; -0 and 0 are equal; what
 * is equal keeps the order of its places.  A NaN comes out as the one of its type. */
/** Keywords.  The axis is the positional argument; it counts from the end if negative. */
typedef struct rd_sort_opts {
    uint32_t size;
    int32_t  axis;       /* the positional argument                         */
    bool     descending; /* sort, argsort: the greatest first               */
    bool     smallest;   /* top_k, arg_top_k: the k smallest, rising        */
} rd_sort_opts;
/** How a quantile q lies among n elements in order, as in NumPy.  LINEAR: at (n - 1) q, on the line
 *  between two elements; LOWER, HIGHER, NEAREST (even of two), MIDPOINT: an element near there, or
 *  the middle.  The others are Hyndman and Fan's (1996): INVERTED_CDF 1, AVERAGED_CDF 2, CLOSEST 3,
 *  INTERPOLATED_CDF 4, HAZEN 5, WEIBULL 6, MEDIAN_UNBIASED 8, NORMAL_UNBIASED 9. */
typedef enum rd_quantile_method {
    RD_LINEAR, RD_LOWER, RD_HIGHER, RD_NEAREST, RD_MIDPOINT, RD_INVERTED_CDF, RD_AVERAGED_CDF,
    RD_CLOSEST, RD_INTERPOLATED_CDF, RD_HAZEN, RD_WEIBULL, RD_MEDIAN_UNBIASED, RD_NORMAL_UNBIASED
} rd_quantile_method;
typedef struct rd_quantile_opts {
    uint32_t           size;
    rd_quantile_method method;
    rd_dims            dims;     /* the positional argument                         */
    rd_expr           *where;    /* only elements where this is true take part      */
    bool               skip_nan; /* NaN elements do not take part                   */
    rd_exprs           by;       /* by label, and how many groups, as of reductions */
    rd_shape           groups;
    rd_expr           *weights;  /* of RD_INVERTED_CDF, not with .by: how often one counts */
} rd_quantile_opts;
/** Several quantiles, for one call: RD_QS(0.25, 0.5, 0.75). */
typedef struct rd_qs { const double *at; int32_t n; } rd_qs;

/** rd_sort(x, axis, .descending = true): x with the elements along the axis in order, and
 *  rd_argsort() their places as i64, so that rd_take_along(x, axis, places) is the sorted x.
 *  rd_top_k(x, k, axis, .smallest = true): the first k of x from the greatest down (or the smallest
 *  up), rd_arg_top_k() their places; the axis gets extent k.  NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT
 *  (k < 0 or more than there are, a keyword of the other), RD_ERR_TYPE.
 *
 *  rd_median(x, dims, keywords), rd_quantile(x, q, dims, keywords) with 0 <= q <= 1, and
 *  rd_percentile(x, p, ...), q = p / 100: over the elements along all axes in dims.
 *  rd_quantiles(x, RD_QS(0.1, 0.9), dims, keywords) has them along a new first axis.  Floats keep
 *  their type, others give f64; of halves and f32 lines are drawn in f64 and rounded once.  Half
 *  way is the mean of two, rounded once; between a number and an infinity is that infinity.  NaN if
 *  an element is, unless .skip_nan, between both infinities, and of nothing.  With .by and .groups
 *  there is one for each group, along axes as reductions have them.  With .weights and .method =
 *  RD_INVERTED_CDF it is the first element in order up to which weights come to q of their sum,
 *  as NumPy has it; what weighs nothing takes no part; NaN where a weight is negative, or their
 *  sum is not above 0.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (where, weights do not broadcast to x),
 *  RD_ERR_ARGUMENT (q outside 0 to 1, an unknown method, weights with another), RD_ERR_TYPE. */
#ifndef __cplusplus
#define RD_SORT_OPTS(...) \
    (&(rd_sort_opts){ .size = (uint32_t)sizeof(rd_sort_opts), .axis = __VA_ARGS__ })
#define RD_QUANTILE_OPTS(...) (&(rd_quantile_opts){ .size = (uint32_t)sizeof(rd_quantile_opts) \
    * RD_1_IF_(rd_dims, say_RD_DIMS_axis_not_a_number, __VA_ARGS__), .dims = __VA_ARGS__ })
#define RD_QS(...) \
    ((rd_qs){ (const double[]){ __VA_ARGS__ }, RD_N_(double, __VA_ARGS__) })
#define rd_sort(x, ...)         rd_sort_by(x, RD_SORT_OPTS(__VA_ARGS__))
#define rd_argsort(x, ...)      rd_argsort_by(x, RD_SORT_OPTS(__VA_ARGS__))
#define rd_top_k(x, k, ...)     rd_top_k_by(x, k, RD_SORT_OPTS(__VA_ARGS__))
#define rd_arg_top_k(x, k, ...) rd_arg_top_k_by(x, k, RD_SORT_OPTS(__VA_ARGS__))
#define rd_median(x, ...)       rd_median_by(x, RD_QUANTILE_OPTS(__VA_ARGS__))
#define rd_quantile(x, q, ...)  rd_quantile_by(x, q, RD_QUANTILE_OPTS(__VA_ARGS__))
#define rd_quantiles(x, q, ...) rd_quantiles_by(x, q, RD_QUANTILE_OPTS(__VA_ARGS__))
#define rd_percentile(x, p, ...) rd_quantile_by(x, (p) / 100., RD_QUANTILE_OPTS(__VA_ARGS__))
#endif
RD_API rd_expr *rd_sort_by(rd_expr *x, const rd_sort_opts *opts),
    *rd_argsort_by(rd_expr *x, const rd_sort_opts *opts),
    *rd_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts),
    *rd_arg_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts),
    *rd_median_by(rd_expr *x, const rd_quantile_opts *opts),
    *rd_quantile_by(rd_expr *x, double q, const rd_quantile_opts *opts),
    *rd_quantiles_by(rd_expr *x, rd_qs q, const rd_quantile_opts *opts);
/** The most frequent of the elements along dims, the smallest of several, in x's type; and how
 *  often it occurs, i64.  Asked for together they share the sort.  NaN if an element is, and then
 *  how many are.  rd_mode(x, dims, keywords): .where, .skip_nan, .by, .groups, .initial and .type of
 *  reductions; where these leave no element the mode is NaN, or .initial, which ints need, and the
 *  count 0.  NULL on RD_ERR_EMPTY (no element), RD_ERR_AXIS, RD_ERR_TYPE. */
RD_API rd_expr *rd_mode(rd_expr *x, rd_dims dims), *rd_mode_count(rd_expr *x, rd_dims dims);
RD_API rd_expr *rd_mode_of(rd_expr *x, const rd_reduce_opts *opts),
    *rd_mode_count_of(rd_expr *x, const rd_reduce_opts *opts);
#ifndef __cplusplus
#define rd_mode(x, ...)       rd_mode_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
#define rd_mode_count(x, ...) rd_mode_count_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
#endif
/** Where x goes in a row in rising order, so that it stays so, i64: the least such place (RD_LEFT)
 *  or the greatest (RD_RIGHT), from 0 to the row's extent.  NaN goes behind all numbers.  `sorted`
 *  is one row, and x of any shape; or x has its rank, and goes row by row along the last axis,
 *  beside which both broadcast.  Found by bisection; nobody looks whether rows are in order.  Ints
 *  are compared exactly, u64 beside signed ones too.  NULL on RD_ERR_SHAPE, RD_ERR_TYPE,
 *  RD_ERR_ARGUMENT (side). */
typedef enum rd_side { RD_LEFT, RD_RIGHT } rd_side;
RD_API rd_expr *rd_searchsorted(rd_expr *sorted, rd_expr *x, rd_side side);
/** Values at x, on straight lines between known ones: xp is a row of positions, which ascend or
 *  descend (nobody looks), and fp has a value for each along `axis`.  The result is fp with the axes
 *  of x in place of that one: of one row fp it has x's shape.  Beyond the ends it is `left` where
 *  x is below all positions and `right` where it is above; NULL is the value of that end.  NaN where
 *  x is.  In f64, and of fp's type, ints f64; fp may be complex.  NULL on RD_ERR_SHAPE (no point, or
 *  not as many values), RD_ERR_AXIS, RD_ERR_TYPE. */
RD_API rd_expr *rd_interp(rd_expr *x, rd_expr *xp, rd_expr *fp, int axis, rd_expr *left,
                          rd_expr *right);
/** The last number before each NaN along an axis, or the next one after it, where there is one, at
 *  most `limit` elements away (0: however far).  Ints have no NaN, and pass unchanged.  NULL on
 *  RD_ERR_AXIS, RD_ERR_ARGUMENT (limit below 0). */
RD_API rd_expr *rd_ffill(rd_expr *x, int axis, int64_t limit),
    *rd_bfill(rd_expr *x, int axis, int64_t limit);
/** What equal elements share as their rank. */
typedef enum rd_rank_method {
    RD_RANK_AVERAGE, RD_RANK_MIN, RD_RANK_MAX, /* the mean, the least, the greatest of theirs        */
    RD_RANK_DENSE,                             /* the next after that of the next smaller elements   */
    RD_RANK_ORDINAL                            /* each has its own, in the order of places           */
} rd_rank_method;
/** How many elements along the axis are not greater: 1 for the smallest, f64.  Numbers have ranks
 *  among numbers, and NaN has NaN.  NULL on RD_ERR_AXIS, RD_ERR_TYPE, RD_ERR_ARGUMENT (method). */
RD_API rd_expr *rd_ranks(rd_expr *x, int axis, rd_rank_method method);

/* ---- Asking ---------------------------------------------------------------------------------- */
/** Order in which elements are visited: greedy in memory order with partial results in a tile of
 *  outputs, lazy one output element after the other.  AUTO chooses by cost.  The bits of a result
 *  do not depend on it. */
typedef enum rd_traversal { RD_TRAVERSE_AUTO, RD_TRAVERSE_GREEDY, RD_TRAVERSE_LAZY } rd_traversal;
/** AUTO takes CUDA where a leaf or an output lies on a GPU, and else the CPU, unless rates that
 *  were measured (`measure`) say that copying there, running and copying back is twice as fast; the
 *  environment's RDIM_BACKEND=cuda, when a context is made, has it take CUDA where that can run
 *  the expression.  CUDA gives the CPU's bits, but of products by cuBLAS (see `deterministic`).
 *  It copies what lies in this process's memory to the GPU, and results back; where the GPU has
 *  no room for them, a part at a time.  It runs text, no C functions: expressions with one, and a
 *  machine without a GPU, are RD_ERR_DEVICE with a sentence.
 *  OPENCL gives the CPU's bits, on whatever OpenCL has that computes with doubles and rounds as the
 *  CPU does.  It copies data of this process's memory, and refuses what it cannot run, likewise; AUTO
 *  takes it where the environment's RDIM_BACKEND is opencl. */
typedef enum rd_backend {
    RD_BACKEND_AUTO,
    RD_BACKEND_CPU,
    RD_BACKEND_CUDA,
    RD_BACKEND_OPENCL
} rd_backend;
/** How exactly a GPU computes functions of floats of 32 bits; those of 16 bits are the same,
 *  rounded.  SAME: to the CPU's bits.  FAST: by the units that it has for special functions.  Then
 *  results are off by at most
 *      exp         2 + 1.2 |x| ulp; those below 2^-126 are 0
 *      exp2        4 ulp; those below 2^-126 are 0
 *      log         5 ulp; of x between 0.5 and 2, 2^-21
 *      log2        4 ulp; of x between 0.5 and 2, 2^-22
 *      sin, cos    2^-20; beyond |x| = 32768 nothing is changed
 *      tanh        2 ulp
 *      pow         4 ulp
 *      sqrt, /     2 ulp; reciprocal, too
 *  by the manuals of CUDA and PTX.  Log-sum-exp takes such exponentials, of distances up to its
 *  maximum.  All else is as with SAME: other functions, sums, and f64.  The CPU knows only SAME. */
typedef enum rd_function_accuracy { RD_ACCURACY_SAME, RD_ACCURACY_FAST } rd_function_accuracy;
typedef struct rd_eval_opts {
    uint32_t     size;
    rd_traversal traversal;
    rd_backend   backend;
    int32_t      threads; /* at most so many, as little work has one; 0: the context's.  The bits of a
                           * result do not depend on it. */
    /** Products of large matrices, sums over k of a[i,k] b[k,j], run by a BLAS where the library
     *  was built with one, and on a GPU by cuBLAS where it is found: fast, but their last bits are
     *  that library's and may differ from machine to machine.  True: never, so that all bits are
     *  everywhere the same. */
    bool         deterministic;
    /** Before the first evaluation of such expressions, run them in several ways (which loop inside
     *  which, how wide the panels, how large the tiles, one thread or several), some 20 ms or one
     *  run each, and take the fastest from then on, also where this is false.  On a GPU: each stage
     *  by several kernels, each of which is compiled, as the first evaluation comes to it.  Of data
     *  in this process's memory that take more than 2 ms it asks first, once in a process, what the
     *  bus, a GPU and the CPU do in a second: see rd_backend.  The bits of a result do not depend
     *  on it.  For rd_eval() and rd_eval_many(); the environment variable
     *  RDIM_PLAN_MEASURE=1 sets it for all evaluations of contexts made from then on. */
    bool         measure;
    /** Of a long evaluation, about ten times a second on the calling thread: how much is done, from
     *  0 to 1, and an estimate of the seconds that are left.  Non-zero ends it with
     *  RD_ERR_CANCELLED.  What was told once is told (1, 0) at the end.  It must not use the
     *  context, but for rd_cancel().  NULL: nobody is told. */
    int (*progress)(void *user, double done, double seconds_left);
    void        *user;                     /* progress's */
    /** Where all results lie on a GPU, do not wait for it: rd_wait() does, and tells what went
     *  wrong, once.  Until then leaves stay as they are.  Later evaluations of the context see
     *  these results.  An expression that is stored in parts on its way is waited for. */
    bool         async;
    /** Of functions on a GPU. */
    rd_function_accuracy accuracy;
} rd_eval_opts;

/** Evaluates y into out.
 *  @param out  zeroed: becomes fresh 64-byte aligned dense memory of y's shape and type, yours, for
 *              rd_array_free().  What it may say all the same: .device; .order = 1, and axis 0
 *              is the fastest; or .strides alone, a number for each axis, and axes lie dense in the
 *              order of these numbers, least and fastest first: RD_STRIDES(2, 1, 3) has axis 1
 *              fastest, then 0.  Otherwise it says where and how: its shape must equal y's (else
 *              RD_ERR_SHAPE), y is converted to its type if that loses nothing by type (bool to int
 *              to wider int to wide enough float to wider float; else RD_ERR_TYPE: say rd_cast).
 *              An output that overlaps itself is RD_ERR_ARGUMENT; one that overlaps an input gives
 *              the right answer.
 *  @return     RD_OK, or the recorded error: y NULL, RD_ERR_CALLBACK, RD_ERR_AXIS (rd_take),
 *              RD_ERR_MEMORY, RD_ERR_LIMIT, RD_ERR_CANCELLED.
 *              On any error the contents of the output memory are undefined; a zeroed out stays
 *              zeroed. */
RD_API rd_status rd_eval(rd_ctx *ctx, rd_expr *y, rd_array *out);
/** Several results of any ranks, passes shared: rd_eval_many(ctx, RD_RESULTS({ mean, &m }, { sd,
 *  RD_INTO(p, shape) }), NULL).  Results that overlap each other are written in their order. */
RD_API rd_status rd_eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** What measuring found, as a text file, to be read by other processes on a machine like this one;
 *  what was found of kernels is for GPUs of the same name.
 *  Errors: RD_ERR_FILE, RD_ERR_ARGUMENT without a path; reading: RD_ERR_TEXT where the file is not
 *  such a one, or is another release's or machine's.  What was read before a bad line stays. */
RD_API rd_status rd_measured_save(rd_ctx *ctx, const char *path);
RD_API rd_status rd_measured_load(rd_ctx *ctx, const char *path);
/** One element, as double; only what it needs is computed; of .stored it is 0 where nothing is
 *  stored.  NaN on failure, with the error recorded. */
RD_API double rd_at(rd_ctx *ctx, rd_expr *y, rd_index index);
/** Releases what the array owns and zeroes the descriptor; of caller memory, only zeroes.  NULL is
 *  allowed. */
RD_API void rd_array_free(rd_array *array);

/* What a mask picks.  Any expression is a mask, true where it is not 0 (NaN is not).  How many
 * elements that is only the data say (rd_count(mask, RD_ALL) asks first), so these evaluate now,
 * and are no nodes.  A mask is evaluated a piece at a time, and kept as one bit an element; what is
 * made of it is counted, then filled, both by all threads.
 *     rd_array out = { 0 };
 *     rd_compress(ctx, x, rd_gt(x, rd_num(ctx, 0)), &out);     // NumPy's x[x > 0]
 *     rd_expr *y = rd_adopt(ctx, &out);
 * @param out  zeroed: fresh memory as of rd_eval().  Otherwise it says where: with the result's
 *             shape, or more room along the axis that the mask shortens, and shape and strides say
 *             afterwards what was filled; conversions and overlaps as of rd_eval().
 * @return     RD_OK, or the recorded error: RD_ERR_SHAPE (not enough room), and those of
 * rd_eval(). */
/** Where mask is true, in C order: (n, rank) of i64, row k the indices of the k-th one. */
RD_API rd_status rd_nonzero(rd_ctx *ctx, rd_expr *mask, rd_array *out);
/** x where mask is true, in C order, in x's type: (n).  The two broadcast. */
RD_API rd_status rd_compress(rd_ctx *ctx, rd_expr *x, rd_expr *mask, rd_array *out);
/** x with the indices along `axis` at which mask, of rank 1 and that extent (else RD_ERR_SHAPE), is
 *  true. */
RD_API rd_status rd_compress_axis(rd_ctx *ctx, rd_expr *x, int axis, rd_expr *mask, rd_array *out);
/** The place of the first true element in C order; what is behind it is hardly looked at.  -1: none
 *  is true, or a failure is recorded. */
RD_API int64_t rd_find_first(rd_ctx *ctx, rd_expr *mask);
/** The values of x, each once: (n) in rising order, in x's type, NaN last as one.  How often each
 *  of them occurs, (n) of i64, and which of them each element is, i64 of x's shape: rd_take(values,
 *  0, inverse) is x.  counts and inverse may be NULL.  Of complex x RD_ERR_TYPE. */
RD_API rd_status rd_unique(rd_ctx *ctx, rd_expr *x, rd_array *values, rd_array *counts,
                           rd_array *inverse);

/** Plans once.
 *  @param in       the rd_input() leaves in the order rd_plan_run() takes their pointers; each
 *                  input the results read must be named (else RD_ERR_ARGUMENT).  Wrapped leaves
 *                  keep their memory.  { 0 } for none.
 *  @param results  layouts as for rd_eval(); data may be NULL here when rd_plan_run() always gives
 *                  it.
 *  Lives until rd_plan_free() or rd_ctx_free(), whichever is first, and keeps nothing of the graph.
 *  NULL on failure. */
RD_API rd_plan *rd_plan_new(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts);
/** Runs on new pointers of the planned types, shapes and strides, aligned as their type.
 *  @param in, out  one pointer each per input and result of rd_plan_new(); out NULL: as planned.
 *  @return         as rd_eval(); the error is also recorded in the context when it has none. */
RD_API rd_status rd_plan_run(const rd_plan *plan, const void *const *in, void *const *out);
/** Frees a plan.  NULL is allowed. */
RD_API void rd_plan_free(rd_plan *plan);

/* ---- Devices --------------------------------------------------------------------------------- *
 * Data on a GPU are a leaf whose rd_array has .device = RD_CUDA(k) and an address of that GPU, from
 * whatever library.  To copy needs no call of its own: rd_eval(ctx, leaf, &out) with
 * rd_array out = { .device = RD_CUDA(0) } uploads into fresh memory of the GPU, and a leaf there
 * evaluated into host memory is a download, with views and conversions on the way.  All that an
 * expression and its outputs name lies on one GPU, or in this process's memory.
 * Several GPUs share the work of a context whose device is RD_CUDA_ALL (or that names none, by the
 * environment's RDIM_CUDA_DEVICES): the first and those behind it that are like it.  It is for data
 * in this process's memory; where some lie on a GPU, that one has the work.  Results have the bits
 * of one GPU.  What cannot be divided one GPU does, and rd_explain() says why.
 * A context in a stream of its own waits for what CUDA's default stream has to do, which is where
 * PyTorch and CuPy work by themselves; one that was given a stream waits for what that stream waits
 * for.  What another stream still writes must be done first, or the context work in that stream. */
/** GPUs that evaluations can run on; 0: none, and the text of RD_CUDA(0) says why. */
RD_API int32_t rd_device_count(void);
/** Its name and memory, or why it is not here; until this thread calls it again. */
RD_API const char *rd_device_text(int32_t device);
/** Until all that this context has asked of GPUs is done.  @return the context's first error: also
 *  the first that evaluations with `async` have met there, which is recorded now. */
RD_API rd_status rd_wait(rd_ctx *ctx);

/* ---- Seeing ---------------------------------------------------------------------------------- */
/** What rd_eval_many() would do: graph, virtual shape, passes, loops, combine trees, memory, and
 *  why something was not fused; what each pass runs as (compiled loops, one kernel, tiles, a
 *  product, the reference), its bytes and operations and an estimate of its time, all of them without
 *  what a mask makes compiled loops leave out; the most memory that a run holds beside operands and
 *  results; a "warning:" with
 *  a remedy for what goes element by element; what the first run does until loops are compiled.
 *  Outputs may be NULL.  The text belongs to ctx, until a mark before it is released.  NULL on
 *  failure.  With RDIM_STRICT=1 in the environment a plan that such a warning remains of is not
 *  made: RD_ERR_LIMIT, with the same sentence.  RDIM_DEBUG=graph,tree,nest,program,tiles,loops,code,
 *  scalar (any of them) prints each stage of every plan to stderr; `trace` writes what runs when to
 *  the file RDIM_TRACE, rdim-trace.json (RD_ERR_FILE where it cannot), for chrome://tracing; another name is
 *  RD_ERR_ARGUMENT when a plan is made. */
RD_API const char *rd_explain(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** The same as a picture, an SVG file: the expressions as a graph; and of each plan the stages with their
 *  loops, bytes and what each runs as, between what they read and what they write. */
RD_API const char *rd_explain_svg(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** The expressions as a graph in Graphviz's language; ownership as rd_explain(). */
RD_API const char *rd_graphviz(rd_ctx *ctx, rd_results results);
/** A box of a leaf: from `first` on, so many along each axis; none where it is empty. */
typedef struct rd_part { rd_index first; rd_shape shape; } rd_part;
/** Which part of a leaf is read to evaluate results, for who fills its memory only then.  Slices
 *  narrow it, also above maps, joined arrays, and the axes that a reduction, scan or sort leaves alone;
 *  what else reads an operand is taken to read all of it.  False, and *out zeroed, on failure: also
 *  RD_ERR_ARGUMENT (not a leaf of memory, no out).  Indices count from 0 here, wherever axes begin. */
RD_API bool rd_part_read(rd_ctx *ctx, rd_results results, rd_expr *leaf, rd_part *out);

/* ---- Arrays of other libraries: DLPack ------------------------------------------------------- *
 * A tensor of DLPack (dlpack/dlpack.h, which rdim does not need) is memory with a layout and a
 * deleter: NumPy, PyTorch, JAX and CuPy give and take them.  No element is copied either way.  Each
 * deleter is called once, by whichever thread ends the array; it must not use the context.  Before
 * a tensor is given back or away, there is an rd_wait().
 *     rd_array a;
 *     rd_from_dlpack(ctx, tensor, &a);
 *     rd_expr *mean = rd_mean(rd_adopt(ctx, &a), RD_DIMS(0));
 * Python has them in capsules, versioned ones where asked for: take the pointer, rename the capsule
 * to "used_dltensor" or "used_dltensor_versioned", then call.  tests/python/dlpack.py does so. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/** A tensor as an array: a leaf by rd_adopt() or rd_leaf(), or an output.
 *  kDLCPU is this process's memory, and so is kDLCUDAHost and kDLCUDAManaged (set .device to have a
 *  GPU read it where it is); kDLCUDA k is RD_CUDA(k), whose data must be ready for the default
 *  stream.  Bools are bytes of 0 or 1.  A read-only tensor gives RD_READ_ONLY.
 *  @param tensor  rdim's from now on: its deleter is called by rd_array_free(), with the leaf of
 *                 rd_adopt(), or at once on failure
 *  @param out     zeroed on failure
 *  @return RD_OK, or the recorded error: RD_ERR_TYPE (lanes, types that rdim has not),
 *          RD_ERR_DEVICE, RD_ERR_SHAPE, RD_ERR_ARGUMENT (no data, or not aligned to the type),
 *          RD_ERR_LIMIT (a major version other than 1). */
RD_API rd_status rd_from_dlpack(rd_ctx *ctx, struct DLManagedTensor *tensor, rd_array *out);
RD_API rd_status rd_from_dlpack_versioned(rd_ctx *ctx, struct DLManagedTensorVersioned *tensor,
                                          rd_array *out);
/** An array as a tensor, on kDLCPU or kDLCUDA; of an expression, rd_eval() it into a zeroed array
 *  first.  What the array owns is the tensor's, until its consumer calls the deleter, also after
 *  rd_ctx_free(): it counts no more against memory_limit, and .release of the context must work
 *  until then.  An array of caller memory owns nothing: the memory must outlive the tensor, or
 *  rd_array_own() says who is told.
 *  @param array  goes on describing the memory, and owns it no more
 *  @return NULL on failure, and the array stays as it was: RD_ERR_ARGUMENT (read-only, which only
 *          versioned tensors say; an array of another context), RD_ERR_MEMORY, an earlier error. */
RD_API struct DLManagedTensor *rd_to_dlpack(rd_ctx *ctx, rd_array *array);
RD_API struct DLManagedTensorVersioned *rd_to_dlpack_versioned(rd_ctx *ctx, rd_array *array);
/** Gives caller memory an owner: release(user) is called once, when the array, its leaf or its
 *  tensor ends, from the thread that ends it; it must not use the context.
 *  @return on failure it has been called already, and the array is zeroed: RD_ERR_ARGUMENT (the
 *          array has an owner, which stays; no release), RD_ERR_MEMORY, an earlier error. */
RD_API rd_status rd_array_own(rd_ctx *ctx, rd_array *array, void (*release)(void *user),
                              void *user);

/* ---- Files: NumPy's .npy, versions 1.0 to 3.0, little and big endian, C and Fortran order ---- */
typedef struct rd_load_opts {
    uint32_t    size;
    const char *path;
    bool        read; /* into memory of the context, now; default: mapped where that will do */
    int64_t     offset; /* bytes in the file before the array's header: it is part of another file */
} rd_load_opts;
/** A file as a leaf: rd_load(ctx, "x.npy"), keywords rd_load_opts.  Mapped while ctx lives where
 *  its bytes can be used as they are, else read and converted once.  A mapped file must stay as it
 *  is:  if somebody cuts it short, reading what is gone ends the program (SIGBUS), and if somebody
 *  writes to it, results change.  To put a new file in its place (mv, rd_save) is safe.  Where
 *  others may do what they like, say .read = true.  NULL on RD_ERR_FILE (not there, truncated,
 *  not understood; the sentence names path and finding), RD_ERR_TYPE, RD_ERR_MEMORY. */
RD_API rd_expr *rd_load(rd_ctx *ctx, const char *path);
#ifndef __cplusplus
#define rd_load(ctx, ...) \
    rd_load_npy(ctx, &(rd_load_opts){ .size = sizeof(rd_load_opts), .path = __VA_ARGS__ })
#endif
RD_API rd_expr *rd_load_npy(rd_ctx *ctx, const rd_load_opts *opts);
/** A file into memory: out zeroed: fresh, for rd_array_free(), in the file's order; else its shape
 *  and type must be the file's.  Errors as rd_load(), and RD_ERR_SHAPE. */
RD_API rd_status rd_read(rd_ctx *ctx, const char *path, rd_array *out);
typedef struct rd_save_opts {
    uint32_t    size;
    const char *path;
    int32_t     order;       /* 0 C, 1 Fortran */
    bool        big_endian;  /* default: little */
} rd_save_opts;
/** Evaluates y and writes it: rd_save(ctx, y, "out.npy"), keywords rd_save_opts.  Written aside and
 *  renamed, so that the path holds the old file or the whole new one, which has the old one's mode
 *  and, where the process may give files away, its owner.  A link stays, and the file that it leads
 *  to is replaced; a link to nothing is replaced itself.  RD_ERR_FILE on failure, the old file
 *  untouched, and of what is no regular file; RD_ERR_TYPE of bf16, which the format lacks. */
#ifndef __cplusplus
#define rd_save(ctx, y, ...) \
    rd_save_npy(ctx, y, &(rd_save_opts){ .size = sizeof(rd_save_opts), .path = __VA_ARGS__ })
#endif
RD_API rd_status rd_save_npy(rd_ctx *ctx, rd_expr *y, const rd_save_opts *opts);

#ifdef __cplusplus
}
#include <type_traits>
/* Of any integers, so that sizes of containers need no cast; other numbers do not compile. */
template <class... N> rd_ints rd_make_ints(N... v)
{
    static_assert((!std::is_floating_point<N>::value && ...), "shapes and indices are integers");
    const int64_t all[] = { static_cast<int64_t>(v)..., 0 };
    rd_ints       t     = rd_ints();
    t.n = static_cast<int32_t>(sizeof...(v));
    for (int k = 0; k < t.n && k < RD_MAX_RANK; k++) { t.at[k] = all[k]; }
    return t;
}
template <class... N> rd_dims rd_make_dims(int flags, N... v)
{
    static_assert((!std::is_floating_point<N>::value && ...), "axes are integers");
    const int64_t all[] = { static_cast<int64_t>(v)..., 0 };
    rd_dims       d     = rd_dims();
    d.n     = static_cast<int32_t>(sizeof...(v));
    d.flags = static_cast<uint32_t>(flags);
    for (int k = 0; k < d.n && k < RD_MAX_RANK; k++) { /* no axis is so large: RD_ERR_AXIS */
        const int32_t axis = static_cast<int32_t>(all[k]);
        d.axis[k] = axis == all[k] ? axis : INT32_MAX;
    }
    return d;
}
#endif
#endif
