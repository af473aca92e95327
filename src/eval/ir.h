/* ir.h - the data structures that the stages of the evaluator pass on.
 *
 *    expressions -collect-> graph -place-> tree -order-> nest -lower-> programs -run-> results
 *
 * Each stage is one function with one structure in and one out. dump.c prints the structures,
 * and check.c checks them in debug builds. */
#ifndef RD_EVAL_IR_H
#define RD_EVAL_IR_H
#include "eval/pool.h"
#include "eval/choice.h"
#include "expr/expr.h"
#include "kernels/program.h"

typedef uint64_t rd_set; /* a set of loop axes */
enum { RD_MAX_AXES = 64 };

/* The set of one axis. */
static inline rd_set rd_bit(int axis)
{
    return (rd_set)1 << axis;
}

/* True if the axis is in the set. */
static inline bool rd_in(rd_set set, int axis)
{
    return set >> axis & 1;
}

/* ---- graph (collect) ------------------------------------------------------------------------- */
/* Values in order, operands first.  A value varies over loop axes, which readers and operands
 * share, instead of the axes of expressions.  Its operands in[] are values at the same place;
 * only READ looks at other places. */
typedef struct rd_subscript_term {
    int32_t axis;  /* -1: the term is a gathered index */
    int32_t value; /* of the gathered, checked index */
    int64_t coef;  /* factor of the index */
} rd_subscript_term;

/* offset + sum of terms: an index along one dim of a value, or a distance from a leaf's base in
 * elements. */
typedef struct rd_subscript {
    int64_t           offset;
    int32_t           n_term;
    rd_subscript_term term[RD_MAX_TERMS];
} rd_subscript;

typedef enum rd_value_kind {
    RD_VALUE_CONST, /* the number `value` */
    RD_VALUE_COORD, /* the i64 index at[0] */
    RD_VALUE_READ,  /* leaf `slot` at at[0], or value `target` at at[0..n_at), one per dim */
    RD_VALUE_MAP,   /* op(in...)                                                           */
    RD_VALUE_CALL,  /* a user's function; its facts are in expr */
    /* in[0] x; in[1] weights, or a dot's other factor; in[2] mask; -1: none; in[3] labels, if
     * grouped */
    RD_VALUE_REDUCE,
    RD_VALUE_SCAN, /* the same along one axis                                             */
    /* sorts a row of a leaf or `target` that begins at at[]; results lie along `inner` */
    RD_VALUE_SORT,
    RD_VALUE_JOIN /* storage of a concatenation; its parts are MAPs with `into` set      */
} rd_value_kind;

/* The decisions that fix the bits of a reduction or scan. rd_fold in kernels/program.h describes
 * the combine tree. */
typedef struct rd_combine {
    int32_t      lanes;   /* 64, 32, 1                                                           */
    int64_t      steps;   /* of a block; INT64_MAX: one block, a strict left fold */
    rd_prefix    prefix;  /* SCAN: how prefixes inside a block are computed */
    int32_t      n_order; /* reduced axes, outermost first                                       */
    int32_t      order[RD_MAX_AXES];
    int32_t      first_lane; /* order[first_lane..): the lane position; n_order: none */
    int32_t      lane_axis;  /* axis with contiguous elements for vectors; -1: none */
    bool         seams;      /* it reads parts of concatenations where they lie */
    rd_subscript index;      /* flat C-order index over the reduced axes */
} rd_combine;

/* A value of the graph.  Fields for one kind begin with its name. */
typedef struct rd_value {
    rd_value_kind  kind;      /* says which fields count */
    rd_dtype       type;      /* of an element */
    rd_op          op;        /* of a MAP */
    const rd_expr *expr;      /* where it comes from; has the facts of CALL, REDUCE, SCAN, SORT */
    rd_word        value;     /* of CONST; of a gathered index, the extent it is checked against */
    int32_t        n_in, *in; /* operands */
    int32_t        slot;      /* READ of a leaf; -1: of target */
    int32_t        target; /* READ of a value                                                     */
    int32_t        n_at;   /* number of subscripts */
    rd_subscript  *at;     /* the subscripts */
    rd_set         axes;   /* axes over which the value varies */
    /* REDUCE: axes that are looped over and gone; SCAN: the axis it runs along, which is kept */
    rd_set  reduced;
    int32_t n_dim, *dim; /* storage order of a stored value */
    /* axis of a reducer's outputs or of a sorted row: in axes but without a loop; -1 */
    int32_t     inner;
    int32_t     group;    /* axis of groups: the same, but results are read along it; -1 */
    int32_t     reducer;  /* rd_reducer_id */
    rd_combine *combine;  /* REDUCE, SCAN */
    int32_t     into;     /* part of a JOIN: the value it is stored in, at at[]; -1 */
    int32_t     out;      /* number of the result, stored at `store`; -1: none */
    rd_dtype    out_type; /* its stored type */
    /* of a result; a pointer, because values are copied often and would be four times as large */
    rd_subscript *store;
    bool          is_whole_array; /* a whole array, read at other places than its own */
    /* an array in C order over all its dims, for readers with one flat index */
    bool dense;
    /* a MAP, until combine trees are known: they take it for an array in C order, read at at[] */
    bool    taken_as_array;
    bool    row;    /* rows to be sorted, along the last dims, all of which are stored */
    bool    strips; /* such rows, and sorts of the first few of them: a strip at a time will do */
    bool    by_library; /* shares no loop, because a library computes it */
    int32_t loop_side;  /* shares no loop with another side; 0: any, see rd_assign_sides() */
    float   ops;        /* operations of this value alone, per point */
} rd_value;

/* True if dim k lies inside dim d in storage.  Later dims do, with one exception: groups lie
 * outside if a reduction adds rows of kept elements to each group.  It does so if its lanes go
 * along a kept axis, and no reader wants C order (dense) or a row to sort (row).  v->dim are the
 * storage dims, v->group the axis of groups, -1: none. */
static inline bool rd_is_inner_dim(const rd_value *v, int k, int d)
{
    const bool rows = v->group >= 0 && v->combine && v->combine->lane_axis >= 0 &&
                      !rd_in(v->reduced, v->combine->lane_axis) && !v->dense && !v->row;

    if (rows && (v->dim[k] == v->group || v->dim[d] == v->group))
        return v->dim[d] == v->group && k != d;
    return k > d;
}

typedef enum rd_slot_kind {
    RD_SLOT_LEAF,
    RD_SLOT_INPUT,
    RD_SLOT_OUTPUT,
    RD_SLOT_ARRAY
} rd_slot_kind;

/* A piece of memory that programs address. */
typedef struct rd_slot {
    rd_slot_kind   kind;
    rd_dtype       type;   /* of an element */
    const void    *data;   /* LEAF: the caller's memory */
    const char    *name;   /* INPUT                                                              */
    int64_t        lo, hi; /* elements that exist around the base: [lo, hi) */
    int64_t        bytes;  /* ARRAY: size in the plan's memory */
    int64_t        at;     /* ARRAY: offset in the memory of a run */
    int32_t        device; /* LEAF, INPUT: as in rd_array */
    int32_t        result; /* OUTPUT: number of the result                                        */
    const rd_expr *expr;   /* LEAF, INPUT: for dumps                                             */
} rd_slot;

/* A loop axis. */
typedef struct rd_axis_info {
    int64_t extent;  /* number of indices */
    char    name[8]; /* i, j, k ... for dumps */
} rd_axis_info;

/* The graph: values in order, operands first. */
typedef struct rd_graph {
    rd_ctx      *ctx;
    rd_pool     *pool; /* memory of planning */
    int32_t      n_value, n_axis, n_slot, n_result;
    rd_value    *value;
    int32_t      room_value; /* capacity; 0: n_value */
    rd_axis_info axis[RD_MAX_AXES];
    rd_slot     *slot;
    char        *why;     /* decisions for explain, lines with '\n' between; may be NULL */
    bool         exact;   /* no library may compute anything */
    bool         fast;    /* f32 functions may be the GPU's fast ones */
    bool         limited; /* report RD_ERR_LIMIT instead of planning very long */
    /* the device to plan for; NULL: this processor */
    const rd_backend_table *device;
    bool shares_crossing;    /* on a device: reductions that keep what others reduce share loops */
    bool has_crossing_folds; /* some reductions do */
} rd_graph;

/* ---- tree (place) ---------------------------------------------------------------------------- */
typedef struct rd_loop_scope rd_loop_scope;

/* A loop body is a list of items in order: materialised values computed here, and loops. */
typedef struct rd_item {
    int32_t         value; /* -1: a loop   */
    rd_loop_scope  *loop;  /* NULL: a value */
    struct rd_item *next;  /* in the same body */
} rd_item;

/* A loop and its body; the root is a body without a loop. */
struct rd_loop_scope {
    int32_t        axis;              /* -1: the root; its items are the stages */
    bool           tile;              /* a tile loop, over ranges of `step` (order) */
    int64_t        step;              /* indices of a range of a tile loop */
    bool           ordered;           /* a tile loop whose ranges come in order, on one task */
    bool           backwards;         /* from the last index to the first */
    rd_set         single_index_axes; /* axes with one index here */
    rd_set         tile_ranged_axes;  /* axes limited to a range by a tile loop */
    rd_loop_scope *parent;            /* the loop around; NULL: the root */
    rd_item       *first;             /* its items */
    /* loop over rows with the maps of reductions finished by rows; NULL: none */
    rd_loop_scope *epilogue;
};

typedef enum rd_storage_class {
    RD_KEEP_INLINE,
    RD_KEEP_REGISTER,
    RD_KEEP_SCRATCH,
    RD_KEEP_ARRAY,
    RD_KEEP_OUTPUT
} rd_storage_class;

/* Where a value is stored, and in which loops. */
typedef struct rd_storage {
    rd_storage_class keep;  /* what kind of memory */
    rd_loop_scope   *where; /* its body computes the value; NULL: inlined */
    /* the outermost loop that it reduces, after which it is finished; NULL: none */
    rd_loop_scope *finish_loop;
    rd_loop_scope
        *epilogue_loop; /* the loop with an epilogue that reads its results; NULL: other loops do */
    rd_loop_scope *scope;  /* innermost scope around all readers and finish_loop */
    rd_set         stored; /* axes of its storage */
} rd_storage;

/* The only loop among a body's items; NULL if there are several or none. */
rd_loop_scope *rd_only_loop(const rd_loop_scope *scope);
/* The scope in which these axes are open, among `scope` and single loops inside it; NULL: none. */
rd_loop_scope *rd_scope_of_cell(rd_loop_scope *scope, rd_set axes);

/* A materialised value reads this one: a leaf's READ or another materialised value. */
typedef struct rd_use {
    int32_t value; /* the value that is read */
    rd_set  same;  /* axes of the value along which it is read at the reader's own index */
} rd_use;

/* A materialised value: it is computed at one place and kept. */
typedef struct rd_materialised {
    int32_t value, n_use, room;
    rd_use *use;
} rd_materialised;

/* The tree: values placed in loops. */
typedef struct rd_tree {
    rd_graph      *graph;
    rd_loop_scope *root;
    int32_t        n_materialised;
    rd_materialised
               *materialised; /* operands first                                                */
    int32_t    *number;  /* value -> its index in materialised, -1                               */
    rd_storage *storage; /* one per value                                                 */
} rd_tree;

/* ---- nest (order): the same tree, loops interchanged and tiled ------------------------------- */

/* A stage of the nest, which becomes one program. */
typedef struct rd_stage {
    rd_item *item;   /* of the root: a loop, or one value without loops */
    int32_t  root;   /* axis that tasks split, -1 */
    int64_t  grain;  /* tasks start at multiples of it */
    bool     serial; /* one task only */
} rd_stage;

/* The nest: a tree with its final loops, and its stages. */
typedef struct rd_nest {
    rd_choice choice;
    rd_tree  *tree;
    int32_t   n_stage;
    rd_stage *stage;
} rd_nest;

/* Fixed costs in operations per element: reading and writing an array, and scratch or cache.
 * They decide whether a value is stored or recomputed, never a bit of a reduction. */
#define RD_PRICE_READ  8.0
#define RD_PRICE_WRITE 16.0
#define RD_PRICE_NEAR  0.5
/* A copy that is read this often costs nothing beside its reads. */
enum { RD_OFTEN = 64 };

/* ---- the stages ------------------------------------------------------------------------------ */
/* Result k of the request: its layout in elements, and its stored type. */
typedef struct rd_request {
    rd_expr *expr;
    rd_dtype type;   /* of the elements in memory */
    int32_t  device; /* as in rd_array */
    int64_t  stride[RD_MAX_RANK];
} rd_request;

/* exprs: expressions that other plans have computed into dense memory. limited: report
 * RD_ERR_LIMIT if planning would take longer than several plans'. */
typedef struct rd_given {
    rd_exprs exprs;
    bool     limited;
} rd_given;

rd_graph *rd_collect(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given);
void      rd_merge_axes(rd_graph *graph);          /* finds the virtual shape */
bool      rd_combine_trees(rd_graph *graph);       /* fills in rd_value.combine */
bool      rd_narrow_arrays(rd_graph *graph);       /* stores small ints in small types */
bool      rd_rewrite(rd_graph *graph);             /* online softmax on long rows */
bool      rd_read_rows_in_memory(rd_graph *graph); /* sorts rows without a copy */
/* The axis along the rows that a sort takes (in_memory.c); -1: there are several, or none. */
int  rd_sorted_axis(const rd_value *sort, const rd_value *rows);
bool rd_separate_products(rd_graph *graph); /* sets rd_value.by_library of matrix products */
/* sets rd_value.loop_side, and copies what each side computes */
bool rd_assign_sides(rd_graph *graph);
/* For tests: folds that read the same pairs have different sides, however few pairs there are. */
void rd_force_sides_of_pairs(bool few);
/* Pairs that are too many to store.  2^20 values of f32 are 4 MB: more than a core's second cache
 * (RD_L2_BYTES) holds, so storing them costs more than to compute a short fold again. */
#define RD_MANY_PAIRS (INT64_C(1) << 20)
/* a map, or a reduction that is cheaper to recompute than to store, such as a pair's distance */
bool rd_is_computed_again(const rd_graph *graph, const rd_value *v);
/* a reduction of all results of another one, which could be vectors in a loop of their own */
bool rd_takes_neighbours(const rd_graph *graph, const rd_value *reader, const rd_value *fold);
bool rd_take_rows_in_strips(rd_graph *graph); /* sets rd_value.strips, shares equal rows */
/* would it be stored? */
bool     rd_is_stored_product(const rd_graph *graph, const rd_value *v);
bool     rd_pack_operands(rd_graph *graph); /* copies operands of pairs to be contiguous */
rd_tree *rd_place(rd_graph *graph);
rd_nest *rd_order(rd_tree *tree, const rd_choice *choice);
/* fills in rd_storage from where values are computed and read */
bool        rd_assign_storage(rd_tree *tree);
rd_program *rd_lower(rd_nest *nest, rd_pool *pool); /* n_stage programs */

/* Sorts operands first, renumbers the roots, and drops unreachable values. */
bool rd_graph_sort(rd_graph *graph, int n_root, int32_t *root);
bool rd_graph_sort_results(rd_graph *graph); /* with the results as roots */
/* Appends a value; returns its number, -1: no memory. */
int rd_graph_add(rd_graph *graph, rd_value v);
/* Appends a map that copies a read, with a cost of `ops` an element; returns its number, -1: no
 * memory. */
int rd_graph_add_copy(rd_graph *graph, int read, float ops);
/* Adds lines for explain, each with its '\n', and frees them.  False: no memory. */
bool rd_graph_say(rd_graph *graph, rd_text *lines);

/* ---- facts about values (graph.c) ------------------------------------------------------------ */
int64_t rd_points_of(const rd_graph *graph, rd_set axes);
rd_set  rd_space(const rd_value *v); /* axes that its evaluation loops over */
/* True if the reader needs another loop than the value it reads.  It keeps an axis that the
 * value must have reduced before, or it scans along the axis of the value's lanes. */
bool rd_needs_own_loop(const rd_value *reader, const rd_value *v);
/* of a REDUCE: some elements may decide the result early */
bool   rd_value_may_exit(const rd_value *v);
rd_set rd_own_dims(const rd_value *v); /* axes of groups and of a reducer's outputs      */
/* a reduction by labels that are the rows of a pattern */
bool rd_is_row_reduction(const rd_value *v);
/* Distance in memory from a reduction's labels to the array of where each group begins (a CSR
 * row pointer); 0: there is none. */
int64_t rd_row_begins_distance(const rd_graph *graph, const rd_value *v);
bool    rd_is_gathered(const rd_value *v); /* a read at an index that is read from memory */
bool    rd_is_materialised_kind(
       const rd_value *v);                     /* always materialised: reductions, joins, results */
bool   rd_needs_flat_index(const rd_value *v); /* a reduction that needs the flat C-order index */
bool   rd_subscript_is_axis(const rd_subscript *at, int axis); /* exactly the index of that axis */
rd_set rd_subscript_axes(const rd_graph *graph, const rd_subscript *at);

/* ---- dumps (dump.c): the one stable text form of each stage ---------------------------------- */
void rd_graph_text(rd_text *text, const rd_graph *graph);
void rd_tree_text(rd_text *text, const rd_tree *tree);
void rd_nest_text(rd_text *text, const rd_nest *nest);
/* Writes the loops of one stage. */
void rd_stage_text(rd_text *text, const rd_nest *nest, int stage);

/* ---- checks (check.c): NULL, or what is wrong ------------------------------------------------ */
const char *rd_check_graph(const rd_graph *graph);
const char *rd_check_tree(const rd_tree *tree);
const char *rd_check_program(const rd_program *program);
#endif
