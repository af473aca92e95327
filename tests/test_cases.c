/* The plans of the expressions the evaluator was designed for: which values share loops, which are
 * kept where.  Each row pins the whole text of its plan, and says in words what must not be lost
 * when that text changes on purpose. */
#include "cases.h"
#include "eval/dump.h"
#include "eval/request.h"
#include "oracle.h"

#include "suite.h"
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

typedef enum claim_kind {
    NO_CLAIM,
    STAGES,    /* the plan has n stages                         */
    KEPT,      /* value a is kept as b: register, scratch, array */
    SHARED,    /* values a and b have n loops in common         */
    INNERMOST, /* value a is computed in a loop over axis b     */
    IN_NEST,   /* text a stands n times in the plan             */
    IN_PROGRAM /* and in the loop programs of all stages        */
} claim_kind;

typedef struct claim {
    claim_kind  kind;
    const char *a, *b;
    int         n;
    const char *sentence; /* the point of it */
} claim;

enum { MAX_CLAIMS = 7 };
static const struct {
    const char *name;
    case_build *build;
    const char *plan;
    claim       claims[MAX_CLAIMS];
} rows[] = {
    /* clang-format off */
    { "softmax of rows",
      case_softmax_rows,
      "stage 0: parallel i:16384\n"
      "  t0 = max j:1024 (x[i,j])\n"
      "  for j:1024:\n"
      "    t1[j] = exp(x[i,j] - t0)\n"
      "    t2 <- sum(t1[j])\n"
      "  for j:1024:\n"
      "    y0[i,j] = t1[j] / t2\n"
      "keep: t0 register, t1 scratch, t2 register\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: x is read once from memory, y written once" },
          { SHARED, "t0", "y0", 1, "maximum and result share the loop over rows" },
          { SHARED, "t1", "t2", 2, "exp and its sum share one loop over a row" },
          { KEPT, "t0", "register", 0, "the maximum of a row is a register" },
          { KEPT, "t1", "scratch", 0, "exp is kept in a row of scratch" },
          { IN_NEST, "exp(", NULL, 1, "one exp per element" } } },
    { "layer norm",
      case_layer_norm,
      "stage 0: parallel i:256\n"
      "  for j:65536:\n"
      "    t0 <- sum(x[i,j])\n"
      "    t2 <- moments(x[i,j])\n"
      "  t1 = t0 / 65536\n"
      "  t3 = sqrt(t2 + 9.99999975e-06)\n"
      "  for j:65536:\n"
      "    y0[i,j] = ((x[i,j] - t1) / t3) * g[j] + b[j]\n"
      "keep: t0 register, t1 register, t2 register, t3 register\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage, rows of 256 KiB too" },
          { SHARED, "t0", "t2", 2, "mean and moments are made in one pass over the row" },
          { KEPT, "t3", "register", 0, "the scale of a row is computed once" },
          { SHARED, "t3", "y0", 1, "the scale is not computed again for each element" },
          { IN_PROGRAM, "div(", NULL, 2, "one division for the mean, one per element" },
          { IN_PROGRAM, "fma(", NULL, 1, "gain and bias are one fma" } } },
    { "var down columns",
      case_var,
      "stage 0: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    y0[i] <- moments(x[j,i])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "moments: one pass over memory" },
          { INNERMOST, "y0", "i", 0, "memory is walked along rows" },
          { IN_NEST, "moments", NULL, 1, "one reduction" } } },
    { "var written as two means",
      case_var_two_passes,
      "stage 0: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    t0[i] <- sum(x[j,i])\n"
      "stage 1: parallel i:8192\n"
      "  t1[i] = t0[i] / 8192\n"
      "stage 2: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    t2[i] <- sum(square(x[j,i] - t1[i]))\n"
      "stage 3: parallel i:8192\n"
      "  y0[i] = t2[i] / 8192\n"
      "keep: t0 array, t1 array, t2 array\n"
      "why: t2 not in the i loop of t0: one iteration would hold more than L2\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n"
      "tasks of stage 2: any\n"
      "tasks of stage 3: any\n",
      {
          { IN_NEST, "x[j,i]", NULL, 2, "columns do not fit in cache between the passes" },
          { IN_NEST, "blocks of j", NULL, 2, "tasks read runs of rows, in both passes" },
          { KEPT, "t1", "array", 0, "the mean goes through memory" },
          { INNERMOST, "t0", "i", 0, "memory is walked along rows" },
          { INNERMOST, "t2", "i", 0, "and again" },
          { SHARED, "t1", "t2", 0, "no loop is shared" } } },
    { "double centering",
      case_centering,
      "stage 0: parallel blocks of i:8192\n"
      "  for j:8192:\n"
      "    t0 <- sum(x[i,j])\n"
      "    t2[j] <- sum(x[i,j])\n"
      "    t4 <- sum(x[i,j])\n"
      "  t1[i] = t0 / 8192\n"
      "stage 1: t5 = t4 / 67108864\n"
      "stage 2: parallel j:8192\n"
      "  t3[j] = t2[j] / 8192\n"
      "stage 3: parallel i:8192\n"
      "  for j:8192:\n"
      "    y0[i,j] = ((x[i,j] - t1[i]) - t3[j]) + t5\n"
      "keep: t0 register, t1 array, t2 array, t3 array, t4 array, t5 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 2: any\n"
      "tasks of stage 3: any\n",
      {
          { SHARED, "t0", "t2", 2, "means of rows and of columns are made in one pass" },
          { SHARED, "t0", "t4", 2, "and the mean of all as well" },
          { KEPT, "t1", "array", 0, "the row means go through memory" },
          { IN_NEST, "sum(x[i,j])", NULL, 3, "three sums" },
          { SHARED, "t0", "y0", 0, "the centred array is written in a pass of its own" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "sums of rows and of columns",
      case_sums_both_ways,
      "stage 0: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    y0[i] <- sum(x[j,i])\n"
      "    y1[j] <- sum(x[j,i])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: x is read once" },
          { SHARED, "y0", "y1", 2, "both sums share both loops" },
          { INNERMOST, "y0", "i", 0, "memory is walked along rows" } } },
    { "mean color of an image",
      case_mean_color,
      "stage 0: parallel blocks of jk:16777216\n"
      "  for i:3:\n"
      "    t0[i] <- sum(f64(x[jk,i]))\n"
      "stage 1: parallel i:3\n"
      "  y0[i] = t0[i] / 16777216\n"
      "keep: t0 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { IN_NEST, "x[jk,i]", NULL, 1, "one pass for all channels" },
          { INNERMOST, "t0", "i", 0, "channels innermost: memory is one run" },
          { IN_NEST, "blocks of jk", NULL, 1, "tasks read runs of pixels, and are more than "
                                              "channels" } } },
    { "sum over the outer two of three axes",
      case_sum_outer,
      "stage 0: parallel blocks of jk:131072\n"
      "  for i:512:\n"
      "    y0[i] <- sum(x[jk,i])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { INNERMOST, "y0", "i", 0, "memory is walked along rows" },
          { IN_NEST, "blocks of jk", NULL, 1, "tasks read runs of whole rows, not strips of "
                                              "columns" } } },
    { "sum over the first and last of three axes",
      case_sum_ends,
      "stage 0: parallel panel i:512 by 512\n"
      "  y0[i] = sum j:256 i:512 k:512 (x[j,i,k])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { INNERMOST, "y0", "k", 0, "memory is walked along rows" },
          { IN_NEST, "j:256 i:512 k:512", NULL, 1, "and from row to row: i, which is outermost, "
                                                   "inside j as well" } } },
    { "sum over the middle of three axes",
      case_sum_middle,
      "stage 0: parallel i:256\n"
      "  y0[i,j] = sum k:512 j:512 (x[i,k,j])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" },
          { IN_NEST, "panel", NULL, 0, "no loop over panels where there is one" } } },
    { "sums of three long rows",
      case_few_rows,
      "stage 0: parallel blocks of panel j:10000000 by 65536\n"
      "  for i:3 j:10000000:\n"
      "    y0[i] <- sum(x[i,j])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" },
          { IN_NEST, "blocks of panel j", NULL, 1, "tasks share rows: there are more than "
                                                   "three" } } },
    { "three long rows less their means",
      case_centred_rows,
      "stage 0: parallel blocks of panel j:10000000 by 65536\n"
      "  for i:3 j:10000000:\n"
      "    t0[i] <- sum(x[i,j])\n"
      "stage 1: parallel i:3\n"
      "  t1[i] = t0[i] / 10000000\n"
      "stage 2: parallel panel j:10000000 by 65536\n"
      "  for i:3 j:10000000:\n"
      "    y0[i,j] = x[i,j] - t1[i]\n"
      "keep: t0 array, t1 array\n"
      "why: y0 not in the i loop of t0: one iteration would hold more than L2\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n"
      "tasks of stage 2: any\n",
      {
          { IN_NEST, "panel j", NULL, 2, "tasks share rows, in both passes" },
          { KEPT, "t1", "array", 0, "the means are made once, between the passes" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "products of each two of eight columns",
      case_covariance,
      "stage 0: parallel blocks of k:10000000\n"
      "  for j:8:\n"
      "    t1[j] = x[k,j] - m[j]\n"
      "  for i:8:\n"
      "    t0 = x[k,i] - m[i]\n"
      "    for j:8:\n"
      "      y0[i,j] <- sum(t0 * t1[j])\n"
      "keep: t0 register, t1 scratch\n"
      "tasks of stage 0: any\n",
      { { STAGES, NULL, NULL, 1, "rows are read once" },
        { KEPT, "t1", "scratch", 0, "a row less its numbers is made once, not for each column" } } },
    { "the most alike of normalised rows",
      case_most_alike,
      "stage 0: parallel j:8000\n"
      "  t0 = sum k:64 (x[j,k])\n"
      "  for k:64:\n"
      "    t1[j,k] = x[j,k] / t0\n"
      "stage 1: parallel panel i:8000 by 1024\n"
      "  for i:8000 k:64:\n"
      "    t2[k,i] = t1[i,k]\n"
      "  for j:8000:\n"
      "    t3[i] = sum k:64 i:8000 (minimum(t2[k,i], t1[j,k]))\n"
      "    for i:8000:\n"
      "      y0[i] <- max(t3[i])\n"
      "keep: t0 register, t1 array, t2 scratch, t3 scratch\n"
      "why: div (8000, 64) is stored: its elements are read at several places each\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      { { KEPT, "t2", "scratch", 0, "rows of the panel lie turned, with neighbours side by side" } } },
    { "normal equations with weights",
      case_weighted_normal,
      "stage 0: parallel k:200000\n"
      "  for j:50:\n"
      "    t0[k,j] = x[k,j] * w[k]\n"
      "stage 1: parallel panel i:50 by 50\n"
      "  for j:50:\n"
      "    y0[i,j] = sum k:200000 i:50 (x[k,i] * t0[k,j])\n"
      "keep: t0 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      { { STAGES, NULL, NULL, 2, "what is weighted is stored for a library" } } },
    { "sum(A + B^T, 0)",
      case_sum_transposed,
      "stage 0: parallel panel i:8192 by 64\n"
      "  y0[i] = sum j:8192 i:8192 (A[j,i] + B[i,j])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "neither the transpose nor the sum is stored" },
          { INNERMOST, "y0", "i", 0, "neighbours are those of A" } } },
    { "a permuted copy",
      case_permuted,
      "stage 0: parallel panel jk:131072 by 512\n"
      "  for i:512 jk:131072:\n"
      "    y0[i,jk] = x[jk,i]\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "nothing is stored but the copy" },
          { INNERMOST, "y0", "jk", 0, "along what is written" } } },
    { "x + z with its axes reversed",
      case_reversed_axes,
      "stage 0: parallel panel k:2048 by 512\n"
      "  for j:64 i:4096 k:2048:\n"
      "    y0[i,j,k] = x[i,j,k] + z[k,j,i]\n"
      "tasks of stage 0: any\n",
      {
          { IN_NEST, "i:4096 k:2048", NULL, 1, "squares along what is read and what is "
                                               "written" } } },
    { "Gaussian of pairs",
      case_gaussian,
      "stage 0: parallel panel i:10000 by 3264\n"
      "  for i:10000 j:3:\n"
      "    t0[j,i] = x[i,j]\n"
      "  for k:10000:\n"
      "    t1[i] = sum j:3 i:10000 (square(t0[j,i] - y[k,j]))\n"
      "    for i:10000:\n"
      "      y0[i] <- sum(exp(neg(t1[i])) * b[k])\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: nothing of size N x N between" },
          { SHARED, "t1", "y0", 2, "distances are used in the pass that makes them" },
          { KEPT, "t0", "scratch", 0, "the points of a panel lie side by side" },
          { KEPT, "t1", "scratch", 0, "distances of one y to a panel of x" },
          { IN_NEST, "exp(", NULL, 1, "one exp a pair" } } },
    { "Gaussian of pairs of a million points",
      case_gaussian_of_many,
      "stage 0: parallel panel i:1000000 by 2048\n"
      "  for i:1000000 j:3:\n"
      "    t0[j,i] = x[i,j]\n"
      "  for k:1000000:\n"
      "    t1[i] = sum j:3 i:1000000 (square(t0[j,i] - y[k,j]))\n"
      "    for i:1000000:\n"
      "      y0[i] <- sum(exp(neg(t1[i])) * b[k])\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "a row of pairs is more than L2, but nobody holds it" } } },
    /* There is no scatter node yet: the sum by label is a one-hot where, S[l,d] = sum over i of
     * x[i,d] where c[i] == l. */
    /* k is the axis of points, i that of labels, l that of the means. */
    { "nearest mean, then sums by label",
      case_k_means,
      "stage 0: parallel blocks of k:1000000\n"
      "  for l:16:\n"
      "    t0 = sum j:3 (square(x[k,j] - m[l,j]))\n"
      "    t1 <- argmin(t0)\n"
      "  for i:16:\n"
      "    t2 = t1 == at(i)\n"
      "    for j:3:\n"
      "      y0[i,j] <- sum(where(t2, x[k,j], 0))\n"
      "keep: t0 register, t1 register, t2 register\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one pass over the points" },
          { SHARED, "t0", "t1", 2, "distance and argmin share the loop over the means" },
          { SHARED, "t1", "y0", 1, "the label is used where it is found" },
          { KEPT, "t0", "register", 0, "a distance is a register" },
          { KEPT, "t1", "register", 0, "a label is a register" },
          { SHARED, "t2", "y0", 2, "labels are compared once per mean, not per coordinate" } } },
    { "nearest mean, then a row of a table",
      case_argmin_take,
      "stage 0: parallel panel i:100000 by 4096\n"
      "  for i:100000 k:3:\n"
      "    t0[k,i] = x[i,k]\n"
      "  for l:1000:\n"
      "    t1[i] = sum k:3 i:100000 (square(t0[k,i] - m[l,k]))\n"
      "    for i:100000:\n"
      "      t2[i] <- argmin(t1[i])\n"
      "  for i:100000:\n"
      "    t3 = index(t2[i])\n"
      "    for j:8:\n"
      "      y0[i,j] = T[t3,j]\n"
      "keep: t0 scratch, t1 scratch, t2 scratch, t3 register\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { SHARED, "t1", "t2", 2, "distance and argmin share the loop over the means" },
          { SHARED, "t2", "y0", 1, "the row is taken where its number is found" },
          { KEPT, "t1", "scratch", 0, "distances of one mean to a panel of points" },
          { KEPT, "t2", "scratch", 0, "labels of a panel of points" },
          { INNERMOST, "y0", "j", 0, "a row of the table is copied as a row" } } },
    { "logsumexp down columns",
      case_logsumexp,
      "stage 0: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    y0[i] <- logsumexp(x[j,i])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one pass" },
          { INNERMOST, "y0", "i", 0, "memory is walked along rows" },
          { IN_NEST, "logsumexp", NULL, 1, "one reduction: neither maximum nor exp is stored" } } },
    { "long rolling sums",
      case_rolling_sum,
      "stage 0: parallel l:199\n"
      "  for j:5000:\n"
      "    t3[j] = scan sum(x[5000*l+j+5000])\n"
      "  for -j:5000:\n"
      "    t2 = scan sum(x[5000*l+j])\n"
      "    t4[l,j] = t2 + t3[j]\n"
      "stage 1: parallel blocks of j:5000\n"
      "  t0 <- sum(x[j])\n"
      "stage 2: t1 = t0\n"
      "keep: t0 array, t1 part, t2 register, t3 scratch, t4 part\n"
      "why: a concatenation is stored, one pass per part\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { KEPT, "t3", "scratch", 0, "prefixes are a row that stays in cache" },
          { KEPT, "t2", "register", 0, "suffixes are not stored" },
          { IN_NEST, "t4 part", NULL, 1, "blocks are written where they belong: no copy" } } },
    { "rolling sums of small ints",
      case_rolling_ints,
      "stage 0: parallel i:474\n"
      "  y0[i,j] = sum k:7 j:1000 (i64(abs(x[i+k,j] - z[j])))\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: differences in 64 bits are not stored" } } },
    { "rolling maxima",
      case_rolling_max,
      "stage 0: parallel i:1000\n"
      "  for k:2060:\n"
      "    t0[k] = maximum(maximum(x[2048*i+k], x[2048*i+k+1]), maximum(x[2048*i+k+2], "
      "x[2048*i+k+3]))\n"
      "  for l:2056:\n"
      "    t1[l] = maximum(t0[l], t0[l+4])\n"
      "  for j:2048:\n"
      "    y0[i,j] = maximum(t1[j], t1[j+8])\n"
      "keep: t0 scratch, t1 scratch\n"
      "why: maximum (1000, 2056) is stored: its elements are read at several places each\n"
      "why: maximum (1000, 2060) is stored: its elements are read at several places each\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage" },
          { KEPT, "t0", "scratch", 0, "rows stay in cache" } } },
    { "softmax down short columns",
      case_softmax_short,
      "stage 0: parallel panel j:1000000 by 512\n"
      "  t0[j] = max i:128 j:1000000 (x[i,j])\n"
      "  for i:128 j:1000000:\n"
      "    t1[i,j] = exp(x[i,j] - t0[j])\n"
      "    t2[j] <- sum(t1[i,j])\n"
      "  for i:128 j:1000000:\n"
      "    y0[i,j] = t1[i,j] / t2[j]\n"
      "keep: t0 scratch, t1 scratch, t2 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: a panel of columns stays in cache" },
          { SHARED, "t0", "y0", 1, "maximum and result share the panel" },
          { SHARED, "t1", "t2", 3, "exp and its sum share their loops" },
          { KEPT, "t1", "scratch", 0, "exp is kept in a panel of scratch" },
          { INNERMOST, "t0", "j", 0, "memory is walked along rows" },
          { IN_NEST, "by 512", NULL, 1, "the panel is no wider than half of L2" },
          { IN_NEST, "exp(", NULL, 1, "one exp per element" } } },
    { "softmax down tall columns",
      case_softmax_tall,
      "stage 0: parallel blocks of i:8192\n"
      "  for j:8192:\n"
      "    t0[j,pair] <- maxsumexp(x[i,j])\n"
      "stage 1: parallel i:8192\n"
      "  for j:8192:\n"
      "    y0[i,j] = exp(x[i,j] - t0[j,0]) / t0[j,1]\n"
      "keep: t0 array\n"
      "why: y0 not in the j loop of t0: one iteration would hold more than L2\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "columns do not fit in cache between the passes" },
          { KEPT, "t0", "array", 0, "maximum and sum go through memory" },
          { IN_NEST, "maxsumexp", NULL, 1, "maximum and sum of exp are one reduction, one pass" },
          { IN_NEST, " exp(x", NULL, 1, "the second exp instead of an array of x's size" },
          { INNERMOST, "t0", "j", 0, "memory is walked along rows" },
          { INNERMOST, "y0", "j", 0, "and again" } } },
    { "maximum of a running sum",
      case_max_of_cumsum,
      "stage 0: serial i:10000000\n"
      "  t0 = scan sum(sin(x[i]))\n"
      "  y0 <- max(t0)\n"
      "keep: t0 register\n"
      "tasks of stage 0: one\n",
      {
          { STAGES, NULL, NULL, 1, "one loop" },
          { SHARED, "t0", "y0", 1, "the running sum is used where it is made" },
          { KEPT, "t0", "register", 0, "no running sum is stored" },
          { IN_PROGRAM, "serial", NULL, 1, "one task: the scan runs along its axis" } } },
    { "maximum over windows of 5",
      case_windows,
      "stage 0: parallel j:1000004\n"
      "  t0[j] = exp(x[j])\n"
      "stage 1: parallel panel i:1000000 by 8192\n"
      "  y0[i] = max k:5 i:1000000 (t0[i+k])\n"
      "keep: t0 array\n"
      "why: exp (1000004) is stored: its elements are read at several places each\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "the map is stored, then read five times" },
          { KEPT, "t0", "array", 0, "exp goes through memory" },
          { SHARED, "t0", "y0", 0, "x + k shares no loop with x" },
          { IN_NEST, "exp(x", NULL, 1, "one exp per element" } } },
    { "maximum over windows of 2",
      case_narrow_windows,
      "stage 0: parallel panel i:1000000 by 8192\n"
      "  y0[i] = max j:2 i:1000000 (exp(x[i+j]))\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "exp twice is cheaper than an array" },
          { IN_NEST, "exp(x", NULL, 1, "exp is written where it is read" } } },
    { "greatest moving mean of 30 days",
      case_warmest_month,
      "stage 0: parallel panel ij:851 by 64\n"
      "  for k:1456:\n"
      "    t0[k,ij] = sum l:6 ij:851 (x[k+l,ij])\n"
      "  y0[ij] = max m:1432 ij:851 ((((t0[m,ij] + t0[m+6,ij]) + (t0[m+12,ij] + t0[m+18,ij])) + "
      "t0[m+24,ij]) / 30)\n"
      "keep: t0 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "parts of windows are used where they are made" },
          { KEPT, "t0", "scratch", 0, "of a panel, which a cache holds" },
          { INNERMOST, "y0", "ij", 0, "both axes of places are one" } } },
    { "ijk,jl->ikl",
      case_contraction,
      "stage 0: parallel i:32\n"
      "  for k:64:\n"
      "    y0[i,j,k] = sum l:128 j:128 (A[i,l,j] * B[l,k])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "products are not stored" },
          { INNERMOST, "y0", "j", 0, "neighbours are those of A and of its batch" },
          { IN_NEST, " * ", NULL, 1, "one product per step" },
          { IN_PROGRAM, "i0 of 32", NULL, 1, "the batch axis is outermost" } } },
    { "x * exp(b[j]) summed over i",
      case_weights_over_i,
      "stage 0: parallel i:8192\n"
      "  t0[i] = exp(b[i])\n"
      "stage 1: parallel blocks of j:8192\n"
      "  for i:8192:\n"
      "    y0[i] <- sum(x[j,i] * t0[i])\n"
      "keep: t0 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "tasks of the weights share columns, those of the sum rows" },
          { KEPT, "t0", "array", 0, "exp of each weight once" },
          { IN_NEST, "exp(", NULL, 1, "and for all rows" },
          { IN_NEST, "blocks of j", NULL, 1, "tasks read runs of rows" },
          { INNERMOST, "y0", "i", 0, "memory is walked along rows" } } },
    { "x * exp(b[j]) summed over j",
      case_weights_over_j,
      "stage 0: parallel j:8192\n"
      "  t0[j] = exp(b[j])\n"
      "stage 1: parallel i:8192\n"
      "  y0[i] = sum j:8192 (x[i,j] * t0[j])\n"
      "keep: t0 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "joined, the sums of all rows would come back for each weight" },
          { KEPT, "t0", "array", 0, "the weights go through memory" },
          { IN_NEST, "exp(", NULL, 1, "exp of each weight once" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "two unrelated results",
      case_unrelated,
      "stage 0: parallel i:4096\n"
      "  y0[i] = sum l:4096 (x[i,l])\n"
      "stage 1: parallel jk:4194304\n"
      "  y1[jk] = exp(z[jk])\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "nothing in common, nothing shared" },
          { SHARED, "y0", "y1", 0, "no loop is shared" },
          { INNERMOST, "y1", "jk", 0, "the map is one flat loop" } } },
    { "mean(reshape(x^T))",
      case_mean_reshaped,
      "stage 0: parallel blocks of ji:8388608\n"
      "  t0 <- sum(x[ji])\n"
      "stage 1: y0 = t0 / 8388608\n"
      "keep: t0 array\n"
      "tasks of stage 0: any\n",
      {
          { IN_NEST, "sum(x[", NULL, 1, "the reshape has vanished" },
          { INNERMOST, "t0", "ji", 0, "memory is walked in its own order, as one axis" },
          { IN_PROGRAM, "for i", NULL, 1, "one loop, no division to find the place" } } },
    { "argmax(reshape(x^T))",
      case_argmax_reshaped,
      "stage 0: parallel blocks of j:4096\n"
      "  for i:2048:\n"
      "    y0 <- argmax(x[j,i])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "the reshape has vanished" },
          { INNERMOST, "y0", "i", 0, "memory is walked in its own order" },
          { IN_PROGRAM, "index 4096*i0 + i1", NULL, 1, "the position counts in the order of the "
                                                       "reshaped array" } } },
    { "any(x > t)",
      case_any,
      "stage 0: parallel i:4096\n"
      "  y0[i] = any j:65536 (x[i,j] > 0.5)\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage, nothing stored" },
          { IN_PROGRAM, "leave i1 if fold0 is settled", NULL, 1, "a row ends at the first element "
                                                                 "that is true" } } },
    { "mean of what is greater",
      case_masked_sum,
      "stage 0: parallel i:4096\n"
      "  for j:65536:\n"
      "    t0 <- sum(where(x[i,j] > 0.5, x[i,j], 0))\n"
      "    t1 <- sum(f32(x[i,j] > 0.5))\n"
      "  y0[i] = t0 / t1\n"
      "keep: t0 register, t1 register\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "sum and count in one pass" },
          { SHARED, "t0", "t1", 2, "sum and count share their loops" },
          { IN_PROGRAM, "gt(", NULL, 1, "the mask is computed once per element" } } },
    { "smallest and largest as one reducer, and their difference",
      case_struct_reducer,
      "stage 0: parallel i:4096\n"
      "  y0[i,j] = range_of k:65536 (x[i,k])\n"
      "  y1[i] = y0[i,1] - y0[i,0]\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "the difference is taken where both are found" },
          { SHARED, "y0", "y1", 1, "one pass" },
          { IN_NEST, "range_of", NULL, 1, "one reduction for both" },
          { INNERMOST, "y0", "k", 0, "memory is walked along rows" } } },
    { "smallest and largest as one reducer, doubled",
      case_scaled_results,
      "stage 0: parallel i:4096\n"
      "  t0[l] = range_of k:65536 (x[i,k])\n"
      "  for j:2:\n"
      "    y0[i,j] = t0[j] * 2\n"
      "keep: t0 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one pass" },
          { IN_PROGRAM, "s2[", NULL, 0, "both results are taken from their registers" } } },
    { "forces between points",
      case_forces,
      "stage 0: parallel panel i:10000 by 1088\n"
      "  for i:10000 j:3:\n"
      "    t0[j,i] = x[i,j]\n"
      "  for k:10000:\n"
      "    t1[i] = sum j:3 i:10000 (square(t0[j,i] - x[k,j]))\n"
      "    for i:10000:\n"
      "      t2[i] = (t1[i] + 0.00999999978) * sqrt(t1[i] + 0.00999999978)\n"
      "    for j:3 i:10000:\n"
      "      y0[i,j] <- sum((t0[j,i] - x[k,j]) / t2[i])\n"
      "keep: t0 scratch, t1 scratch, t2 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "no matrix of pairs" } } },
    { "Gaussian sum in f64 of points of f32",
      case_wide_pairs,
      "stage 0: parallel panel i:10000 by 3264\n"
      "  for i:10000 j:3:\n"
      "    t0[j,i] = f64(x[i,j])\n"
      "  for k:10000:\n"
      "    t1[i] = sum j:3 i:10000 (square(t0[j,i] - f64(y[k,j])))\n"
      "    for i:10000:\n"
      "      y0[i] <- sum(exp(neg(t1[i])))\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "no matrix of pairs" },
          { KEPT, "t0", "scratch", 0, "the points of a panel are cast once" } } },
    { "a running sum and its mirror image",
      case_mirrored,
      "stage 0: serial i:1000000\n"
      "  t0[i] = scan sum(x[i])\n"
      "stage 1: parallel i:1000000\n"
      "  y0[i] = t0[i] + t0[-i+999999]\n"
      "keep: t0 array\n"
      "tasks of stage 0: one\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "the mirror image of the first element is the last" },
          { KEPT, "t0", "array", 0, "the running sum goes through memory" },
          { SHARED, "t0", "y0", 0, "read at the same and at another place is read at another "
                                   "place" } } },
    { "running sums of rows",
      case_running_rows,
      "stage 0: parallel i:4096\n"
      "  for j:65536:\n"
      "    y0[i,j] = scan sum(x[i,j])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one pass" },
          { IN_NEST, "scan sum", NULL, 1, "one scan" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "running sums down columns",
      case_running_columns,
      "stage 0: parallel panel j:8192 by 8192\n"
      "  for i:8192 j:8192:\n"
      "    y0[i,j] = scan sum(x[i,j])\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one pass" },
          { IN_PROGRAM, "serial", NULL, 0, "tasks share columns: along them each sum needs the one "
                                           "before" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "rows and columns less the means of rows",
      case_symmetric,
      "stage 0: parallel j:4096\n"
      "  t0 = sum k:4096 (x[j,k])\n"
      "  t1[j] = t0 / 4096\n"
      "stage 1: parallel i:4096\n"
      "  for j:4096:\n"
      "    y0[i,j] = (x[i,j] - t1[i]) - t1[j]\n"
      "keep: t0 register, t1 array\n"
      "why: div (4096) is stored: its elements are read at several places each\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "the mean of row j is needed in every row" },
          { KEPT, "t1", "array", 0, "the means go through memory, divided once" },
          { SHARED, "t0", "y0", 0, "a mean at another place than its own is not a phase" },
          { INNERMOST, "y0", "j", 0, "memory is walked along rows" } } },
    { "nearest image, bytes",
      case_nearest_image,
      "stage 0: parallel panel i:2000 by 1024\n"
      "  for i:2000 j:64:\n"
      "    t0[j,i] = f32(x[i,j])\n"
      "  for k:2000:\n"
      "    t1[i] = sum j:64 i:2000 (square(t0[j,i] - f32(m[k,j])))\n"
      "    for i:2000:\n"
      "      y0[i] <- argmin(t1[i])\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "one stage: nothing of size N x N between, no converted copy of "
                                   "the images" },
          { SHARED, "t1", "y0", 2, "distance and argmin share the loop over images" },
          { KEPT, "t0", "scratch", 0, "images are converted once, into cache, side by side" },
          { KEPT, "t1", "scratch", 0, "distances of one m to a panel of x" },
          { INNERMOST, "t1", "i", 0, "neighbouring images are neighbouring lanes" } } },
    { "sum of kernel weights, which are computed",
      case_computed_weights,
      "stage 0: parallel k:10000\n"
      "  t2[k] = exp(b[k])\n"
      "stage 1: parallel panel i:10000 by 3264\n"
      "  for i:10000 j:3:\n"
      "    t0[j,i] = x[i,j]\n"
      "  for k:10000:\n"
      "    t1[i] = sum j:3 i:10000 (square(t0[j,i] - y[k,j]))\n"
      "    for i:10000:\n"
      "      y0[i] <- sum(exp(neg(t1[i])) * t2[k])\n"
      "keep: t0 scratch, t1 scratch, t2 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "no matrix of pairs: the weights come first" },
          { KEPT, "t2", "array", 0, "exp of each weight once" } } },
    { "nearest, and totals of that",
      case_nearest_total,
      "stage 0: parallel panel i:2000 by 1024\n"
      "  for i:2000 j:64:\n"
      "    t0[j,i] = x[i,j]\n"
      "  for k:2000:\n"
      "    t1[i] = sum j:64 i:2000 (square(t0[j,i] - y[k,j]))\n"
      "    for i:2000:\n"
      "      t2[i] <- argmin(t1[i])\n"
      "      t4[i] <- min(t1[i])\n"
      "stage 1: parallel blocks of i:2000\n"
      "  y0 <- sum(i64(t2[i] == at(i)))\n"
      "  y1 <- max(t4[i])\n"
      "keep: t0 scratch, t1 scratch, t2 array, t4 array\n"
      "why: y0 not in the i loop of t0: threads could not share the loop\n"
      "why: y1 not in the i loop of t0: threads could not share the loop\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "2,000 points are one block of a total: one thread" },
          { KEPT, "t1", "scratch", 0, "no matrix of pairs" } } },
    { "nearest by x^2 + y^2 - 2 x y",
      case_expanded_distance,
      "stage 0: parallel panel k:10000 by 8192\n"
      "  t1[k] = sum j:3 k:10000 (square(y[k,j]))\n"
      "stage 1: parallel panel i:10000 by 4096\n"
      "  for j:3 i:10000:\n"
      "    t0[i] <- sum(square(x[i,j]))\n"
      "    t2[j,i] = x[i,j]\n"
      "  for k:10000:\n"
      "    t3[i] = sum j:3 i:10000 (t2[j,i] * y[k,j])\n"
      "    for i:10000:\n"
      "      y0[i] <- argmin((t0[i] + t1[k]) - (2 * t3[i]))\n"
      "keep: t0 scratch, t1 array, t2 scratch, t3 scratch\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "no matrix of pairs: the squares of one side come first" } } },
    { "mean distance of all pairs",
      case_mean_distance,
      "stage 0: parallel panel i:10000 by 8192\n"
      "  for j:3 i:10000:\n"
      "    t0[j,i] = x[i,j]\n"
      "stage 1: parallel blocks of k:10000\n"
      "  for i:10000:\n"
      "    t1 = sum j:3 (square(t0[j,i] - y[k,j]))\n"
      "    t2 <- sum(sqrt(t1))\n"
      "stage 2: y0 = t2 / 100000000\n"
      "keep: t0 array, t1 register, t2 array\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 3, "no matrix of pairs" } } },
    { "sum over all pairs of scaled points",
      case_scaled_total,
      "stage 0: parallel panel i:10000 by 8192\n"
      "  for j:3 i:10000:\n"
      "    t0[j,i] = x[i,j] * 2\n"
      "stage 1: parallel blocks of k:10000\n"
      "  for j:3:\n"
      "    t1[j] = y[k,j] * 2\n"
      "  for i:10000:\n"
      "    t2 = sum j:3 (square(t0[j,i] - t1[j]))\n"
      "    y0 <- sum(exp(neg(t2)))\n"
      "keep: t0 array, t1 scratch, t2 register\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { STAGES, NULL, NULL, 2, "no matrix of pairs" } } },
    { "rows without their median",
      case_above_median,
      "stage 0: parallel i:4096\n"
      "  for j:4096:\n"
      "    t0[j] = exp(x[i,j])\n"
      "    t1[j] = t0[j]\n"
      "  t2[k] = quantiles(t1[j])\n"
      "  for j:4096:\n"
      "    y0[i,j] = t0[j] - t2[k]\n"
      "keep: t0 scratch, t1 scratch, t2 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "x is read once from memory, and nothing between" },
          { IN_NEST, "exp(", NULL, 1, "one exp per element" } } },
    { "median filter",
      case_median_filter,
      "stage 0: parallel i:598\n"
      "  for panel j:798 by 64:\n"
      "    for k:3 l:3 j:798:\n"
      "      t0[j,k,l] = x[i+k,j+l]\n"
      "    for j:798:\n"
      "      t1[j,m] = quantiles(t0[j,k,l])\n"
      "    for j:798:\n"
      "      y0[i,j] = t1[j,m]\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "windows are read from memory" },
          { IN_NEST, "for k:3 l:3 j", NULL, 1, "filled by long loops" } } },
    { "columns in order",
      case_sorted_columns,
      "stage 0: parallel panel j:4096 by 64\n"
      "  for j:4096 k:1000:\n"
      "    t0[j,k] = x[k,j]\n"
      "  for j:4096:\n"
      "    t1[j,i] = sort(t0[j,k])\n"
      "  for i:1000 j:4096:\n"
      "    y0[i,j] = t1[j,i]\n"
      "keep: t0 scratch, t1 scratch\n"
      "tasks of stage 0: any\n",
      {
          { STAGES, NULL, NULL, 1, "no transposed array: columns go through scratch, some at once" } } },
    { "a few nearest",
      case_few_nearest,
      "stage 0: parallel panel l:1000 by 1000\n"
      "  for k:8 l:1000:\n"
      "    t0[k,l] = m[l,k]\n"
      "stage 1: parallel panel i:20000 by 64\n"
      "  for i:20000:\n"
      "    t1[l] = sum k:8 l:1000 (square(x[i,k] - t0[k,l]))\n"
      "    for l:1000:\n"
      "      t2[i,l] = t1[l]\n"
      "  for i:20000:\n"
      "    y0[i,j] = argsort(t2[i,l])\n"
      "keep: t0 array, t1 scratch, t2 scratch\n"
      "tasks of stage 0: any\n"
      "tasks of stage 1: any\n",
      {
          { INNERMOST, "t1", "l", 0, "distances are neighbours in the row that is put in order" },
          { KEPT, "t2", "scratch", 0, "some rows of distances at a time, never all" } } },
    /* clang-format on */
};

/* ---- A row, planned -------------------------------------------------------------------------- */
typedef struct planned {
    case_world *w;
    rd_pool    *pool;
    rd_nest    *nest;
    rd_array    out[CASE_RESULTS]; /* zeroed: dense results */
    rd_result   result[CASE_RESULTS];
    rd_results  results;
    rd_text     text;
} planned;

static void build(planned *p, int row, bool small)
{
    rd_expr *y[CASE_RESULTS] = { NULL };

    *p         = (planned){ .w = case_world_new(small) };
    p->results = (rd_results){ p->result, rows[row].build(p->w, y) };
    for (int k = 0; k < p->results.n; k++)
        p->result[k] = (rd_result){ y[k], &p->out[k] };
}

static void plan(planned *p, int row, bool small)
{
    const rd_eval_opts opts   = { 0 };
    const rd_choice    choice = { 0 };
    rd_request         request[CASE_RESULTS];
    rd_output          out[CASE_RESULTS];

    build(p, row, small);
    p->pool = rd_pool_new(p->w->ctx);
    ck_assert(rd_check_results(p->w->ctx, "rd_eval", p->results, request, out));
    p->nest = rd_pipeline(p->w->ctx, p->pool, p->results.n, request, NULL, &opts, &choice);
    ck_assert_msg(p->nest != NULL, "%s: %s", rows[row].name, rd_error_text(p->w->ctx));
    rd_nest_text(&p->text, p->nest);
}

static void forget(planned *p)
{
    rd_text_free(&p->text);
    rd_pool_free(p->pool);
    case_world_free(p->w);
}

/* ---- Text ------------------------------------------------------------------------------------ */
static int line_length(const char *line)
{
    return (int)strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += line_length(line);
    return *line ? line + 1 : line;
}

/* Both texts line by line, from the first difference on; lines found are written as C text, to be
 * pasted. */
static void difference(rd_text *report, const char *want, const char *found)
{
    while (*want && line_length(want) == line_length(found) &&
           memcmp(want, found, (size_t)line_length(want)) == 0) {
        want  = next_line(want);
        found = next_line(found);
    }
    rd_text_add(report, "the plan changes here\n");
    for (; *want; want = next_line(want))
        rd_text_add(report, "- %.*s\n", line_length(want), want);
    for (; *found; found = next_line(found))
        rd_text_add(report, "+ \"%.*s\\n\"\n", line_length(found), found);
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* ---- Claims ---------------------------------------------------------------------------------- */
static const rd_storage *home_of(const planned *p, const char *name)
{
    const rd_tree *tree = p->nest->tree;
    char           text[RD_NAME_TEXT];

    for (int a = 0; a < tree->n_materialised; a++)
        if (strcmp(
                rd_materialised_name(tree->graph, tree->number, tree->materialised[a].value, text),
                name) == 0)
            return &tree->storage[tree->materialised[a].value];
    return NULL;
}

static bool is_around(const rd_loop_scope *outer, const rd_loop_scope *s)
{
    while (s && s != outer)
        s = s->parent;
    return s != NULL;
}

static int loops_shared(const rd_storage *a, const rd_storage *b)
{
    int n = 0;

    for (const rd_loop_scope *s = a->where; s->parent; s = s->parent)
        n += is_around(s, b->where);
    return n;
}

static rd_text programs_of(const planned *p)
{
    const rd_program *program = rd_lower(p->nest, p->pool);
    rd_text           text    = { 0 };

    for (int s = 0; program && s < p->nest->n_stage; s++)
        rd_program_text(&text, &program[s]);
    return text;
}

/* Where the claim fails: what is found instead, else "". */
static void check_claim(const planned *p, const claim *c, const char *programs, rd_text *found)
{
    const rd_storage *a = c->a ? home_of(p, c->a) : NULL, *b = c->b ? home_of(p, c->b) : NULL;
    int               n;

    if ((c->kind == KEPT || c->kind == INNERMOST || c->kind == SHARED) &&
        (!a || (c->kind == SHARED && !b))) {
        rd_text_add(found, "no value %s is kept", a ? c->b : c->a);
        return;
    }
    switch (c->kind) {
    case KEPT:
        if (strcmp(rd_storage_class_name(a->keep), c->b) != 0)
            rd_text_add(found, "%s is %s, not %s", c->a, rd_storage_class_name(a->keep), c->b);
        return;
    case INNERMOST:
        if (a->where->axis < 0 ||
            strcmp(p->nest->tree->graph->axis[a->where->axis].name, c->b) != 0)
            rd_text_add(found, "%s is not computed in a loop over %s", c->a, c->b);
        return;
    case STAGES: n = p->nest->n_stage; break;
    case SHARED: n = loops_shared(a, b); break;
    case IN_NEST: n = occurrences(p->text.at, c->a); break;
    default: n = occurrences(programs, c->a);
    }
    if (n != c->n)
        rd_text_add(found, "%d, not %d", n, c->n);
}

/* ---- Tests ----------------------------------------------------------------------------------- */
START_TEST(plans_are_pinned)
{
    planned p;
    rd_text report = { 0 };

    plan(&p, _i, false);
    if (strcmp(p.text.at, rows[_i].plan) != 0)
        difference(&report, rows[_i].plan, p.text.at);
    ck_assert_msg(!report.at, "%s: %s", rows[_i].name, report.at);
    forget(&p);
}
END_TEST

START_TEST(plans_keep_their_point)
{
    planned p;
    rd_text report = { 0 }, programs;

    plan(&p, _i, false);
    programs = programs_of(&p);
    ck_assert_msg(programs.at != NULL, "%s: %s", rows[_i].name, rd_error_text(p.w->ctx));
    for (const claim *c = rows[_i].claims; c < rows[_i].claims + MAX_CLAIMS && c->kind; c++) {
        rd_text found = { 0 };

        check_claim(&p, c, programs.at, &found);
        if (found.at)
            rd_text_add(&report, "%s - found: %s\n", c->sentence, found.at);
        rd_text_free(&found);
    }
    ck_assert_msg(!report.at, "%s: lost: %s%s", rows[_i].name, report.at, p.text.at);
    rd_text_free(&programs);
    forget(&p);
}
END_TEST

/* What is left of a plan without its numbers. */
static void drop_digits(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (*text < '0' || *text > '9')
            *to++ = *text;
    *to = 0;
}

/* Small extents are worth evaluating if they are planned like large ones.  A sum over the first and
 * the last of three axes goes from result to result if the array comes from a cache; sums over few
 * points are all at hand; and threads need not share the pairs of few. */
START_TEST(small_ones_are_planned_alike)
{
    planned large, small;

    if (rows[_i].build == case_sum_ends || rows[_i].build == case_wide_pairs ||
        rows[_i].build == case_nearest_total)
        return;
    plan(&large, _i, false);
    plan(&small, _i, true);
    drop_digits(large.text.at);
    drop_digits(small.text.at);
    ck_assert_msg(strcmp(large.text.at, small.text.at) == 0, "%s: large\n%ssmall\n%s",
                  rows[_i].name, large.text.at, small.text.at);
    forget(&large);
    forget(&small);
}
END_TEST

/* ---- Numbers --------------------------------------------------------------------------------- */
static int64_t points_of(rd_shape shape)
{
    int64_t n = 1;

    for (int a = 0; a < shape.n; a++)
        n *= shape.at[a];
    return n;
}

/* About 100 elements, the first and the last among them, are compared with the oracle. */
static void check_elements(const char *name, oracle *o, const rd_expr *y, const void *data)
{
    rd_shape shape = rd_shape_of(y);
    int64_t  n = points_of(shape), step = n / 100 + 1;

    for (int64_t k = 0; k < n + step - 1; k += step) {
        int64_t      i = k < n ? k : n - 1, rest = i, at[RD_MAX_RANK] = { 0 };
        oracle_value want;
        char         why[ORACLE_WHY];

        for (int a = shape.n; a-- > 0; rest /= shape.at[a])
            at[a] = rest % shape.at[a];
        ck_assert(oracle_at(o, y, at, &want));
        ck_assert_msg(
            oracle_matches(&want, (const char *)data + i * rd_dtype_size(y->type), y->type, why),
            "%s: element %lld: %s", name, (long long)i, why);
    }
}

static void run(const planned *p, const rd_eval_opts *opts, int64_t task_grains,
                void *const *memory)
{
    rd_plan *made =
        rd_plan_make(p->w->ctx, (rd_exprs){ p->w->input, p->w->n_input }, p->results, opts);

    ck_assert_msg(made != NULL, "%s", rd_error_text(p->w->ctx));
    made->task_grains = task_grains;
    ck_assert_msg(rd_plan_execute(made, p->w->data, memory, NULL, NULL) == RD_OK, "%s",
                  rd_error_text(p->w->ctx));
    rd_plan_free(made);
}

/* A wrong phase or home is a wrong number.  One task, and many small ones. */
START_TEST(small_ones_match_the_oracle)
{
    static const rd_traversal traversals[] = { RD_TRAVERSE_AUTO, RD_TRAVERSE_LAZY };
    planned                   p;
    oracle                   *o                    = oracle_new();
    void                     *memory[CASE_RESULTS] = { NULL };

    build(&p, _i, true);
    /* A task has memory of its own: thousands of them, as of the largest twins, would have
     * gigabytes. */
    const int64_t grains = points_of(rd_shape_of(p.w->input[0])) < 200000 ? 1 : 64;
    for (int k = 0; k < p.w->n_input; k++)
        oracle_bind(o, p.w->input[k], p.w->data[k]);
    for (int way = 0; way < 4; way++) {
        for (int k = 0; k < p.results.n; k++) {
            size_t bytes = (size_t)points_of(rd_shape_of(p.result[k].expr)) *
                           (size_t)rd_dtype_size(p.result[k].expr->type);

            memory[k] = realloc(memory[k], bytes);
            memset(memory[k], 0xff, bytes);
        }
        run(&p, &(rd_eval_opts){ .traversal = traversals[way / 2], .threads = 1 + 2 * (way % 2) },
            way % 2 * grains, memory);
        for (int k = 0; k < p.results.n; k++)
            check_elements(rows[_i].name, o, p.result[k].expr, memory[k]);
    }
    for (int k = 0; k < p.results.n; k++)
        free(memory[k]);
    oracle_free(o);
    forget(&p);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("cases");
    TCase   *tcase  = tcase_create("cases");
    SRunner *runner = srunner_create(suite);
    int      failed, n = (int)COUNT(rows);

    tcase_add_loop_test(tcase, plans_are_pinned, 0, n);
    tcase_add_loop_test(tcase, plans_keep_their_point, 0, n);
    tcase_add_loop_test(tcase, small_ones_are_planned_alike, 0, n);
    tcase_add_loop_test(tcase, small_ones_match_the_oracle, 0, n);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
