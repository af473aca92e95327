/* grouped.h - rows sorted by group and by value: for reductions by group that need order, such
 * as quantiles. */
#ifndef RD_EXPR_GROUPED_H
#define RD_EXPR_GROUPED_H
#include "expr/reduce.h"

/* "Rows" have the kept axes, then all reduced elements as one axis.  "Groups" have the group axis
 * last instead. */
typedef struct rd_grouped {
    const char *call;    /* for failures */
    int64_t     n_group; /* number of groups */
    rd_expr    *label;   /* rows: each element's group; n_group: it takes no part */
    rd_expr    *sorted;  /* rows: elements sorted by group, then by value */
    rd_expr    *group;   /* rows: the group of each element of `sorted` */
    rd_expr    *count;   /* groups, i64: number of elements */
    rd_expr    *first;   /* groups, i64: where their elements begin in `sorted` */
} rd_grouped;

/* Returns the number of groups; 1 for a reduction without labels. */
int64_t rd_grouped_number(const rd_folding *f);
/* Makes the rows of group numbers of f->x: n_group for elements outside f->where, or with labels
 * outside.  NULL after recording a failure. */
rd_expr *rd_grouped_label(const rd_folding *f);
/* Sorts x, which has the shape of f->x and rows that are not empty.  False after recording a
 * failure. */
bool rd_grouped_begin(rd_grouped *g, const rd_folding *f, rd_expr *x);
/* Gathers the elements of rows at one position for each group, clamped to the row. */
rd_expr *rd_grouped_take(const char *call, rd_expr *rows, rd_expr *place);
/* Makes a result with the element `nothing` for each group, for rows that are empty. */
rd_expr *rd_grouped_of_nothing(const rd_folding *f, rd_expr *nothing);
/* Gives y, which has the group axis last, the axes that the caller of f asked for. */
rd_expr *rd_grouped_as_seen(const rd_folding *f, rd_expr *y);
#endif
