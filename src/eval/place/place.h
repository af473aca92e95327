/* place.h - what placement knows about a graph: which values are kept, and who reads whom. */
#ifndef RD_EVAL_PLACE_PLACE_H
#define RD_EVAL_PLACE_PLACE_H
#include "eval/ir.h"

/* A value that a group makes or reads. */
typedef struct rd_touched {
    int32_t value, first, last; /* phases in which it is touched      */
    int32_t made;               /* phase that makes it, if inside     */
    int32_t readers;            /* in the group                       */
    bool    inside;             /* made by the group                  */
} rd_touched;

typedef struct rd_placing {
    rd_graph   *graph;
    bool       *anchor;  /* per value: computed at one place and kept           */
    bool       *dropped; /* maps that were kept, dearer than computing them again */
    bool       *marked;  /* work space                                          */
    int32_t     n;
    rd_anchor  *list;    /* anchors, operands first                             */
    int32_t    *number;  /* value -> index in list, -1                          */
    int32_t    *readers; /* value -> anchors that read it                       */
    rd_touched *touched; /* work space of rd_group_cost                         */
    int32_t    *touch_of, n_touched;
    rd_text     why;
} rd_placing;

/* Decides which values are kept and lists their reads; false: out of memory. */
bool rd_choose_anchors(rd_placing *p);

/* A group of anchors (indices in list, operands first) computed in one nest whose shared axes are
 * `shared`, x the innermost of them: its cost in operations; HUGE_VAL if one iteration holds more
 * than the cache does. */
double rd_group_cost(rd_placing *p, int n, const int32_t *group, rd_set shared, int x);

/* Folds by rows go element by element, and would compute a function so: before them, it is one of
 * vectors, of about so many elements.  Not on a GPU. */
#define RD_VECTOR 8
bool rd_is_function(const rd_value *m);
bool rd_takes_one_by_one(const rd_graph *graph, const rd_value *reader);

/* What the gathers cost that an element of a map takes where it is computed again. */
double rd_gathers_price(const rd_placing *p, int value);

/* Reduced axes of a REDUCE. */
rd_set rd_reduced(const rd_value *v);

#define RD_PANEL 64 /* narrowest useful strip of columns, in elements */
#endif
