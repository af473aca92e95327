/* cases.h - the expressions whose plans the evaluator was designed for, each in two sizes: as large
 * as people have them, to be planned only, and small, to be evaluated. */
#ifndef RD_TESTS_CASES_H
#define RD_TESTS_CASES_H
#include <rdim.h>

enum { CASE_RESULTS = 2, CASE_LEAVES = 8 };

typedef struct case_world {
    rd_ctx     *ctx;
    bool        small; /* inputs have random numbers; else no memory at all */
    rd_expr    *input[CASE_LEAVES];
    const void *data[CASE_LEAVES];
    int         n_input;
} case_world;

/* Makes the expressions that are asked for together; returns how many. */
typedef int case_build(case_world *w, rd_expr **y);

case_world *case_world_new(bool small);
void        case_world_free(case_world *w);

case_build case_softmax_rows, case_layer_norm, case_var, case_var_two_passes, case_centering,
    case_sums_both_ways, case_sum_transposed, case_gaussian, case_k_means, case_argmin_take,
    case_logsumexp, case_softmax_short, case_softmax_tall, case_max_of_cumsum, case_windows,
    case_narrow_windows, case_contraction, case_weights_over_i, case_weights_over_j, case_unrelated,
    case_mean_reshaped, case_argmax_reshaped, case_any, case_masked_sum, case_struct_reducer,
    case_mirrored, case_running_rows, case_symmetric, case_nearest_image, case_nearest_total,
    case_mean_color, case_sum_outer, case_sum_ends, case_sum_middle, case_few_rows,
    case_centred_rows, case_covariance, case_most_alike, case_running_columns, case_permuted,
    case_reversed_axes, case_scaled_results, case_forces, case_wide_pairs, case_computed_weights,
    case_expanded_distance, case_mean_distance, case_scaled_total, case_gaussian_of_many,
    case_rolling_sum, case_rolling_max, case_above_median, case_median_filter, case_sorted_columns,
    case_few_nearest, case_weighted_normal, case_rolling_ints, case_warmest_month, case_rolled_rows,
    case_padded_columns, case_joined_rows, case_pair_blocks;
#endif
