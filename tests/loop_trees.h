/* loop_trees.h - loop trees with the memory that they point to. */
#ifndef RD_TESTS_LOOP_TREES_H
#define RD_TESTS_LOOP_TREES_H
#include "kernels/loop/check.h"
#include "loops.h"

typedef struct loop_tree {
    rd_schedule    *t;   /* NULL: there is none ... */
    const char     *why; /* ... and why             */
    struct rd_pool *pool;
} loop_tree;

/* whole: as one task runs it. */
loop_tree loop_tree_of(rd_ctx *ctx, const rd_program *p, bool whole);
void      loop_tree_free(loop_tree *tree);
/* Statement number n of a kind, in the order of the text; -1: there are fewer. */
int32_t loop_find(const rd_schedule *t, rd_stmt_kind kind, int n);
/* The loop over an axis, the first one; the LET of an operator. */
int32_t loop_over(const rd_schedule *t, int32_t axis);
int32_t loop_let(const rd_schedule *t, rd_inst_kind kind);

/* Programs that people know: the first stage of each that folds, if any does. */
typedef rd_expr *loop_expression(rd_ctx *ctx);
loop_expression  loop_masked_mean, loop_softmax, loop_running_sum, loop_pair_sums, loop_rows,
    loop_two_axes, loop_by_label, loop_histogram, loop_masked_max, loop_map, loop_weighted,
    loop_reverse, loop_short_pairs, loop_any_column, loop_any_row, loop_any_few, loop_nearest,
    loop_label_rows, loop_sum_columns, loop_max_columns, loop_some_of_columns,
    loop_sines_of_columns, loop_scaled_columns, loop_user, loop_user_rows, loop_user_by_label,
    loop_long_rows, loop_some_rows, loop_functions_of_rows, loop_products_of_columns,
    loop_many_labels, loop_block_of_groups, loop_few_columns, loop_max_few_columns, loop_max_below,
    loop_pairs_of_blocks, loop_ranges_of_rows, loop_log_and_sum, loop_scaled_few_columns,
    loop_second_few_columns, loop_some_columns, loop_rows_of_ten, loop_filter, loop_scores,
    loop_chosen_powers;
/* Its tree; the plan is the context's. */
loop_tree loop_tree_of_expression(rd_ctx *ctx, loop_expression *make, bool whole);
/* The same after all passes, for vectors of 64 bytes. */
loop_tree loop_tree_of_passed(rd_ctx *ctx, loop_expression *make, bool whole);
#endif
