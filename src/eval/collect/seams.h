/* seams.h - results that are made of concatenations, cut where parts of these meet. */
#ifndef RD_EVAL_COLLECT_SEAMS_H
#define RD_EVAL_COLLECT_SEAMS_H
#include "eval/collect/collect.h"

/* Cuts the results of n requests, all of whose expressions have been seen, into boxes: in each of
 * them every concatenation that maps read is one part of it.  So parts are read where they lie,
 * and no concatenation is stored. Results of which another way is cheaper stay as they are.  What
 * is seen afterwards is what the results are made of then.  False: no memory. */
bool rd_cut_at_seams(rd_collector *c, int n, const rd_request *request, rd_expr **result,
                     rd_exprs given);
#endif
