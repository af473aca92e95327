/* ir.h - what the stages of the evaluator hand to each other.
 *
 *   expressions -collect-> graph -place-> tree -order-> nest -lower-> programs -run-> results
 *
 * Each stage is a function with one structure in and one out, printed by dump.c, checked in debug
 * builds (check.c). */
#ifndef RD_EVAL_IR_H
#define RD_EVAL_IR_H
#include "eval/pool.h"
#include "eval/choice.h"
#include "expr/expr.h"
#include "kernels/program.h"

typedef uint64_t rd_set; /* a set of iteration axes */
enum { RD_MAX_AXES = 64 };

static inline rd_set rd_bit(int axis)
{
    return (rd_set)1 << axis;
}

static inline bool rd_in(rd_set set, int axis)
{
    return set >> axis & 1;
}

/* ---- graph (collect) -------------------------------------------------------------------------- *
 * Nodes in order, operands first.  Axes of expressions are gone: a node varies over iteration axes,
 * which readers and operands share.  A node's operands in[] are values at the node's own place;
 * only READ looks elsewhere. */
typedef struct rd_term {
    int32_t axis;  /* -1: the value of a gathered index counts */
    int32_t value; /* which: a checked index                    */
    int64_t coef;
} rd_term;

/* offset + sum of terms: where along one dim of a value, or how many elements from a leaf's
 * base. */
typedef struct rd_subscript {
    int64_t offset;
    int32_t n_term;
    rd_term term[RD_MAX_TERMS];
} rd_subscript;

typedef enum rd_value_kind {
    RD_VALUE_CONST,  /* value                                                               */
    RD_VALUE_COORD,  /* i64 at[0]                                                           */
    RD_VALUE_READ,   /* leaf `slot` at at[0], or node `target` at at[0..n_at), one per dim   */
    RD_VALUE_MAP,    /* op(in...)                                                           */
    RD_VALUE_CALL,   /* user's function, facts in expr                                      */
    RD_VALUE_REDUCE, /* in[0] x, in[1] weights, of dot the other factor, in[2] mask; -1: none;
                      * in[3] labels, if there are groups */
    RD_VALUE_SCAN,   /* the same along one axis                                             */
    RD_VALUE_SORT,   /* a row in order, of a leaf or `target`: it begins at at[]; results along
                      * `inner` */
    RD_VALUE_JOIN    /* storage of a concatenation; its parts are MAPs with `into` set      */
} rd_value_kind;

/* Number decisions of a reduction or scan; see rd_fold in kernels/program.h for the combine
 * tree. */
typedef struct rd_combine {
    int32_t      lanes; /* 64, 32, 1                                                           */
    int64_t      steps;
    rd_prefix    prefix;  /* SCAN: inside a block                                                */
    int32_t      n_order; /* reduced axes, outermost first                                       */
    int32_t      order[RD_MAX_AXES];
    int32_t      first_lane; /* order[first_lane..): the lane position; n_order: none */
    int32_t      lane_axis;  /* axis whose neighbours are computed side by side; -1: none */
    rd_subscript index;      /* flat C-order index over the reduced axes */
} rd_combine;

typedef struct rd_value {
    rd_value_kind  kind;
    rd_dtype       type;
    rd_op          op;
    const rd_expr *expr;  /* where it comes from; facts of CALL, REDUCE, SCAN, SORT              */
    rd_word        value; /* CONST; INDEX extent                                                 */
    int32_t        n_in, *in;
    int32_t        slot;   /* READ of a leaf: its slot; -1: of target                             */
    int32_t        target; /* READ of a value                                                     */
    int32_t        n_at;
    rd_subscript  *at;
    rd_set         axes;    /* the value varies over these */
    rd_set         reduced; /* REDUCE: looped over and gone; SCAN: the axis it runs along (kept) */
    int32_t        n_dim, *dim; /* axes in storage order, for values that are stored */
    /* axis of a reducer's several outputs, or a row's: in axes but never looped; -1 */
    int32_t     inner;
    int32_t     group;   /* axis of groups: likewise, but where results are taken; -1        */
    int32_t     reducer; /* rd_reducer_id */
    rd_combine *combine; /* REDUCE, SCAN */
    int32_t     into;    /* part of a JOIN: the node it is stored in, at at[]; -1 */
    int32_t     out;     /* result number, -1: none; stored at `store` */
    rd_dtype    out_type;
    /* of a result; not in the value, which is copied often and would be four times as large */
    rd_subscript *store;
    bool          whole; /* read at other places than its own: an array of its own              */
    bool          dense; /* and in C order over all its dims, for readers with one flat place */
    bool          row;   /* rows to be sorted, along the last dims, which all are stored      */
    bool          apart; /* shares no loop: a library computes it */
    int32_t       side;  /* shares no loop with another side's; 0: none, see rd_take_sides() */
    float         ops;   /* of this node alone, per point                                       */
} rd_value;

/* Are neighbours along dim k nearer in storage than along dim d?  Later dims are, but that groups stand
 * outside, where a fold takes rows of kept elements into each: their cells lie so. */
static inline bool rd_stands_inside(const rd_value *v, int k, int d)
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

/* Memory that programs address. */
typedef struct rd_slot {
    rd_slot_kind   kind;
    rd_dtype       type;
    const void    *data;   /* LEAF: caller memory                                                */
    const char    *name;   /* INPUT                                                              */
    int64_t        lo, hi; /* elements before and after the base that exist: [lo, hi)             */
    int64_t        bytes;  /* ARRAY: size of the plan's own memory                                */
    int64_t        at;     /* ARRAY: where it begins among those of a run                         */
    int32_t        device; /* LEAF, INPUT: as of rd_array                                        */
    int32_t        result; /* OUTPUT: number of the result                                        */
    const rd_expr *expr;   /* LEAF, INPUT: for dumps                                             */
} rd_slot;

typedef struct rd_axis_info {
    int64_t extent;
    char    name[8]; /* i, j, k ... for dumps */
} rd_axis_info;

typedef struct rd_graph {
    rd_ctx      *ctx;
    rd_pool     *pool;
    int32_t      n_value, n_axis, n_slot, n_result;
    rd_value    *value;
    int32_t      room_value; /* how many it has room for, 0: as many as there are */
    rd_axis_info axis[RD_MAX_AXES];
    rd_slot     *slot;
    char        *why;     /* decisions worth a line in explain, '\n' between; may be NULL */
    bool         exact;   /* no library may compute anything */
    bool         fast;    /* whose functions of f32 may be those of its units */
    bool         limited; /* RD_ERR_LIMIT rather than very long planning */
    /* the device that it is for; NULL: this processor */
    const rd_backend_table *device;
    bool cross;   /* there, reductions of which each keeps what the other reduces share loops */
    bool crossed; /* some do */
} rd_graph;

/* ---- tree (place) ---------------------------------------------------------------------------- */
typedef struct rd_scope rd_scope;

/* A body is a list of items in order: kept values computed here, and loops. */
typedef struct rd_item {
    int32_t         value; /* -1: a loop   */
    rd_scope       *loop;
    struct rd_item *next;
} rd_item;

struct rd_scope {
    int32_t   axis; /* -1: the root; its items are the stages */
    bool      tile; /* ranges of `step` (order)               */
    int64_t   step;
    bool      backwards;
    rd_set    open;   /* axes with one index here               */
    rd_set    ranged; /* axes cut to a range by a tile loop     */
    rd_scope *parent;
    rd_item  *first;
    rd_scope *epilogue; /* a loop over rows: maps of what its folds by rows come to; NULL */
};

typedef enum rd_keep {
    RD_KEEP_INLINE,
    RD_KEEP_REGISTER,
    RD_KEEP_SCRATCH,
    RD_KEEP_ARRAY,
    RD_KEEP_OUTPUT
} rd_keep;

typedef struct rd_home {
    rd_keep   keep;
    rd_scope *where;  /* its body computes the value; NULL: inline                     */
    rd_scope *close;  /* the outermost loop it reduces; NULL: none                     */
    rd_scope *ends;   /* of its epilogue: where its results are taken; NULL: in loops of its own */
    rd_scope *home;   /* innermost scope that holds all readers and close              */
    rd_set    stored; /* axes of its storage                                           */
} rd_home;

/* The one loop among a body's items; NULL if there are several or none. */
rd_scope *rd_only_loop(const rd_scope *scope);
/* Of it and of loops inside, one in the other, the one in which these axes are open; NULL: none. */
rd_scope *rd_scope_of_cell(rd_scope *scope, rd_set axes);

/* An anchor reads value m: a leaf's READ, or another anchor. */
typedef struct rd_use {
    int32_t value;
    rd_set  same; /* axes of m along which it is read at the reader's own index    */
} rd_use;

/* A value that is computed at one place and kept. */
typedef struct rd_anchor {
    int32_t value, n_use, room;
    rd_use *use;
} rd_anchor;

typedef struct rd_tree {
    rd_graph  *graph;
    rd_scope  *root;
    int32_t    n_anchor;
    rd_anchor *anchor; /* operands first                                                */
    int32_t   *number; /* value -> its index in anchor, -1                               */
    rd_home   *home;   /* one per value                                                 */
} rd_tree;

/* ---- nest (order): the same tree with loops exchanged, cut into tiles, homes settled --------- */
typedef struct rd_stage {
    rd_item *item;  /* of the root: a loop, or one value without loops               */
    int32_t  root;  /* axis tasks split, -1                                          */
    int64_t  grain; /* tasks start at multiples of it                                */
    bool     serial;
} rd_stage;

typedef struct rd_nest {
    rd_choice choice;
    rd_tree  *tree;
    int32_t   n_stage;
    rd_stage *stage;
} rd_nest;

/* Fixed prices in operations per element: an array read and written, scratch or cache.  What they
 * decide is stored or computed again, never a bit of a reduction. */
#define RD_PRICE_READ  8.0
#define RD_PRICE_WRITE 16.0
#define RD_PRICE_NEAR  0.5
/* So often is what was copied read again that the copy costs nothing beside it. */
enum { RD_OFTEN = 64 };

/* ---- the stages ------------------------------------------------------------------------------ */
/* Result k of the request: its layout in elements, and the type it is stored in. */
typedef struct rd_request {
    rd_expr *expr;
    rd_dtype type;
    int32_t  device; /* as of rd_array */
    int64_t  stride[RD_MAX_RANK];
} rd_request;

/* What other plans have computed before: expressions, read from dense memory; and is this one to be
 * RD_ERR_LIMIT if there is so much in it that planning would take longer than several plans' does? */
typedef struct rd_given {
    rd_exprs exprs;
    bool     limited;
} rd_given;

rd_graph   *rd_collect(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                       const rd_given *given);
void        rd_merge_axes(rd_graph *graph);    /* the virtual shape                               */
bool        rd_combine_trees(rd_graph *graph); /* fills rd_value.combine                          */
bool        rd_narrow_arrays(rd_graph *graph); /* of small ints, in types that are as small     */
bool        rd_rewrite(rd_graph *graph);       /* softmax's pair of reductions on long rows       */
bool        rd_read_rows_in_memory(rd_graph *graph); /* to be sorted, without a copy            */
bool        rd_part_products(rd_graph *graph); /* rd_value.apart of matrix products               */
bool        rd_take_sides(rd_graph *graph);    /* rd_value.side, and what each computes itself    */
bool        rd_is_stored_product(const rd_graph *graph, const rd_value *v); /* would it be one? */
bool        rd_pack_operands(rd_graph *graph); /* of pairs: copies with neighbours side by side   */
rd_tree    *rd_place(rd_graph *graph);
rd_nest    *rd_order(rd_tree *tree, const rd_choice *choice);
bool        rd_settle_homes(rd_tree *tree); /* rd_home from where values are computed and read */
rd_program *rd_lower(rd_nest *nest, rd_pool *pool); /* n_stage programs */

/* Operands first, roots renamed in place, unreachable values dropped. */
bool rd_graph_sort(rd_graph *graph, int n_root, int32_t *root);
bool rd_graph_sort_results(rd_graph *graph); /* the roots are its results */
/* One more value, behind the others; its number, -1: no memory. */
int rd_graph_add(rd_graph *graph, rd_value v);
/* A map that copies a read, `ops` dear an element, likewise. */
int rd_graph_add_copy(rd_graph *graph, int read, float ops);
/* Lines for explain, each with its '\n', which are freed.  False: no memory. */
bool rd_graph_say(rd_graph *graph, rd_text *lines);

/* ---- facts about nodes (graph.c) ------------------------------------------------------------- */
int64_t rd_points_of(const rd_graph *graph, rd_set axes);
rd_set  rd_space(const rd_value *v); /* axes its evaluation loops over                 */
/* Does it want another loop than the value it reads?  It keeps an axis that this must have gone along
 * before, or it is a scan along the axis whose neighbours this would compute side by side. */
bool   rd_wants_own_loop(const rd_value *reader, const rd_value *v);
bool   rd_value_decides(const rd_value *v); /* of a REDUCE: may some elements decide?          */
rd_set rd_own_dims(const rd_value *v);      /* axes of groups and of a reducer's outputs      */
bool   rd_goes_by_rows(const rd_value *v);  /* a fold by labels that are the rows of a pattern   */
/* How far behind a fold's labels memory says where the elements of each group begin; 0: nowhere. */
int64_t rd_begins_of_rows(const rd_graph *graph, const rd_value *v);
bool    rd_is_gathered(const rd_value *v);    /* a read at a place that memory says        */
bool    rd_is_anchor_kind(const rd_value *v); /* always computed at one place: folds, joins,
                                               * results */
bool    rd_counts_places(const rd_value *v);  /* a fold that sees the flat C-order index         */
bool    rd_subscript_is_axis(const rd_subscript *at, int axis); /* exactly the index of that axis */
rd_set  rd_subscript_axes(const rd_graph *graph, const rd_subscript *at);

/* ---- dumps (dump.c): the one stable text form of each stage ---------------------------------- */
void rd_graph_text(rd_text *text, const rd_graph *graph);
void rd_tree_text(rd_text *text, const rd_tree *tree);
void rd_nest_text(rd_text *text, const rd_nest *nest);
/* The loops of one stage. */
void rd_stage_text(rd_text *text, const rd_nest *nest, int stage);

/* ---- checks (check.c): NULL, or what is wrong ------------------------------------------------ */
const char *rd_check_graph(const rd_graph *graph);
const char *rd_check_tree(const rd_tree *tree);
const char *rd_check_program(const rd_program *program);
#endif
