/* grouped.h - rows in order, group by group: for what a fold by label cannot say. */
#ifndef RD_EXPR_GROUPED_H
#define RD_EXPR_GROUPED_H
#include "expr/reduce.h"

/* Rows have the axes that stay, then all elements as one axis; what is of groups has them as the last
 * axis instead. */
typedef struct rd_grouped {
    const char *call;
    int64_t     n_group;
    rd_expr    *label;  /* of rows: the group of each element; n_group: it takes no part      */
    rd_expr    *sorted; /* elements by their group, and by value in each                      */
    rd_expr    *group;  /* the group of each of these                                         */
    rd_expr    *count;  /* of groups, i64: how many elements they have                        */
    rd_expr    *first;  /* of groups, i64: where their elements begin in `sorted`             */
} rd_grouped;

/* How many groups there are: 1 where nothing is asked for by label. */
int64_t rd_grouped_number(const rd_folding *f);
/* The rows' group of each element of f->x: f->where and labels outside leave out.  NULL after recording
 * a failure. */
rd_expr *rd_grouped_label(const rd_folding *f);
/* Puts x, of the shape of f->x, in order; rows are not empty.  False after recording a failure. */
bool rd_grouped_begin(rd_grouped *g, const rd_folding *f, rd_expr *x);
/* The elements of rows at places of groups; places outside are those at the ends. */
rd_expr *rd_grouped_take(const char *call, rd_expr *rows, rd_expr *place);
/* `nothing` seen with an element for each group, where rows are empty. */
rd_expr *rd_grouped_of_nothing(const rd_folding *f, rd_expr *nothing);
/* y, of groups, as the caller of f sees it. */
rd_expr *rd_grouped_as_seen(const rd_folding *f, rd_expr *y);
#endif
