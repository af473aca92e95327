/* place.h - what placement knows about a graph: which values are materialised, and their
 * readers. */
#ifndef RD_EVAL_PLACE_PLACE_H
#define RD_EVAL_PLACE_PLACE_H
#include "eval/ir.h"

/* A value that a group makes or reads. */
typedef struct rd_group_value {
    int32_t value, first, last; /* phases in which it is used */
    int32_t made;               /* phase that makes it, if inside */
    int32_t readers;            /* number of its readers in the group */
    bool    inside;             /* made by the group */
} rd_group_value;

/* The knowledge of placement about a graph. */
typedef struct rd_placing {
    rd_graph        *graph;
    bool            *materialised; /* by value: materialised */
    bool            *dropped;      /* by value: a map that is cheaper to recompute than to store */
    bool            *marked;       /* work space */
    int32_t          n;            /* materialised values */
    rd_materialised *list;         /* materialised values, operands first */
    int32_t         *number;       /* by value: its index in list, -1 */
    int32_t         *readers;      /* by value: number of materialised values that read it */
    rd_group_value  *touched;      /* work space of rd_group_cost() */
    int32_t         *touch_of, n_touched; /* by value: its index in touched, -1 */
    rd_text          why;                 /* decisions for explain */
} rd_placing;

/* Decides which values are materialised and lists their reads; false: no memory. */
bool rd_choose_materialised(rd_placing *p);

/* The cost in operations of a group (indices in list, operands first) in one nest with shared
 * axes `shared`, x the innermost.  HUGE_VAL if one iteration keeps more than the cache holds. */
double rd_group_cost(rd_placing *p, int n, const int32_t *group, rd_set shared, int x);

/* Vector length of functions.  A reduction by rows goes element by element and would call a
 * function so; before it, the function runs on vectors.  Not on a GPU. */
#define RD_VECTOR 8
bool rd_is_function(const rd_value *m);
bool rd_is_element_by_element(const rd_graph *graph, const rd_value *reader);

/* The cost of the gathers that each recomputation of a map's element makes. */
double rd_gathers_price(const rd_placing *p, int value);

/* The reduced axes of a REDUCE; none of other values. */
rd_set rd_reduced(const rd_value *v);

#define RD_PANEL 64 /* narrowest useful panel of columns, in elements */
#endif
