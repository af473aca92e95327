/* What the files that write loops share: lower.c, stages.c, value.c, folds.c, nest.c, loops.c. */
#ifndef LOOPS_H
#define LOOPS_H
#include "sweep.h"

enum { MOST_STAGES = 40, MOST_ARRAYS = 80 };

/* Orders of a nest's axes. */
typedef enum policy { KEPT_FIRST, NATURAL, REDUCED_FIRST, AS_IN_MEMORY } policy;

/* A way to write the loops of a program. */
typedef struct manner {
    policy order;
    bool   fused;   /* stages share their outermost loops                       */
    bool   inlined; /* a reduction is written where its result is used          */
    bool   grouped; /* reductions of one operand share their loops              */
    bool   doubles; /* accumulators as exact as they get: to compare with       */
} manner;

/* One nest of loops: a reduction, a scan, or a map that is stored. */
typedef struct stage {
    node   *of;
    int     root; /* -1: a temporary              */
    int     rank; /* of its loops                 */
    int64_t n[MOST_RANK];
    bool    kept[MOST_RANK];
    int     fused[MOST_RANK];  /* the shared loop; -1: its own */
    int64_t stride[MOST_RANK]; /* of the result, by loop       */
    int     group;
} stage;

typedef struct temporary {
    char        name[16];
    const char *type;
    int64_t     n;
} temporary;

typedef struct writer {
    program  *p;
    manner    how;
    node     *root[MOST_ROOTS];
    stage     stages[MOST_STAGES];
    int       n_stages, n_groups, stage_of[MOST_NODES]; /* -1: none */
    bool      inlined[MOST_NODES];
    int       n_fused, fused[MOST_RANK]; /* axes of the result */
    temporary arrays[MOST_ARRAYS];
    int       n_arrays, depth, names;
    text      out;
    char     *owned[4096];
    int       n_owned;
    bool      used[64][16]; /* operators, by type */
    bool      failed;
} writer;

typedef const char *place[MOST_RANK]; /* text of an index for each axis */

/* lower.c */
node *sweep_lower(program *p, node *a);
/* stages.c */
void sweep_find_stages(writer *w);
bool sweep_memory_order(const writer *w, const stage *s, int *order);
/* value.c */
char *sweep_own(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *sweep_value(writer *w, const node *a, const place at);
char *sweep_value_of_map(writer *w, const node *a, const place at);
char *sweep_stored(writer *w, const node *a, const char *value);
void  sweep_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* folds.c */
typedef struct accumulator {
    const char *type, *init, *clause;
} accumulator;
int   sweep_accumulators(writer *w, const node *a, accumulator *acc);
void  sweep_step(writer *w, const node *a, const place at, char *const *acc);
char *sweep_finish(writer *w, const node *a, char *const *acc);
char *sweep_inlined(writer *w, const node *a, const place at);
/* nest.c */
void sweep_write_group(writer *w, int group, bool clauses);
int  sweep_split_axis(const writer *w, int group);
void sweep_group_order(const writer *w, int group, int *order);
#endif
