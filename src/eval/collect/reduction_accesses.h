/* reduction_accesses.h - the memory accesses of a reduction's operands, which combine.c decides
 * from. */
#ifndef RD_EVAL_COLLECT_REDUCTION_ACCESSES_H
#define RD_EVAL_COLLECT_REDUCTION_ACCESSES_H
#include "eval/ir.h"

enum { RD_ACCESS_BUCKETS = 128 };

/* How one operand is read: elements per index of each axis.  Another reduction among the
 * operands is looked through, down to what it reads.  Whether its result will be stored is not
 * known yet and must not matter. */
typedef struct rd_own_access {
    int64_t coef[RD_MAX_AXES];
    rd_set  axes, gathered; /* with a stride; on which a looked-up index depends */
    int     bytes; /* bytes of an element; 0: a coordinate, which is computed and not read */
    double  times; /* number of equal accesses */
    int32_t next;  /* next of the same hash bucket, from 1 on; 0: none */
} rd_own_access;

/* The accesses below a stored value, found once for each depth at which it is reached. */
typedef struct rd_looked {
    int                  depth, n;
    const rd_own_access *access;
    struct rd_looked    *next;
} rd_looked;

/* The accesses of one reduction, while they are found. */
typedef struct rd_fold_reads {
    const rd_graph *graph;
    const rd_value *value;  /* the reduction */
    rd_own_access  *access; /* the distinct accesses, in the order in which they were found */
    int             n, room;
    rd_set          space;                     /* axes that it loops over */
    int             depth;                     /* number of stored values looked through */
    int32_t         bucket[RD_ACCESS_BUCKETS]; /* by hash: the last access, from 1 on */
    /* by value: the cache, shared by all reductions of the graph */
    rd_looked **looked;
    bool        seams;       /* some access is of a choice between parts of a concatenation */
    int32_t     stored_axis; /* rd_stored_along()'s answer; no bit may depend on it */
} rd_fold_reads;

/* Fills in the accesses of o->value.  False: no memory. */
bool rd_find_accesses(rd_fold_reads *o);
/* stored.c: for each value the axis along which its stored elements are contiguous; -1: it is
 * not stored.  NULL: no memory. */
int32_t *rd_stored_along(const rd_graph *graph);
#endif
