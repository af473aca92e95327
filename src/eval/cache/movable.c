/* movable.c - makes plans for keys, without the addresses of leaves. */
#include "eval/cache/key.h"

/* Makes a plan that runs on leaves at any addresses. Its inputs are the key's leaves, then its
 * numbers if these are inputs. shift[k]: how many elements input k is moved to where its first
 * reader begins. NULL after recording the failure. key->leaf and key->number list them,
 * rd_key_inputs() counts both. work is memory for planning, freed here. */
rd_plan *rd_key_plan(const rd_key *key, rd_results results, const rd_eval_opts *opts,
                     const rd_choice *choice)
{
    const int32_t n     = rd_key_inputs(key);
    rd_pool      *work  = rd_pool_planning(key->ctx);
    rd_expr     **in    = work ? rd_pool_get(work, ((size_t)n + 1) * sizeof *in) : NULL;
    int64_t      *shift = in ? rd_pool_get(work, ((size_t)n + 1) * sizeof *shift) : NULL;
    rd_plan      *plan;

    for (int k = 0; shift && k < key->n_leaf; k++) {
        in[k]    = (rd_expr *)key->leaf[k].expr;
        shift[k] = rd_key_shift(&key->leaf[k]);
    }
    for (int k = key->n_leaf; shift && k < n; k++)
        in[k] = (rd_expr *)key->number[k - key->n_leaf].expr;
    plan = shift ? rd_plan_movable(key->ctx, work, (rd_exprs){ in, n },
                                   (rd_exprs){ in + key->n_leaf, n - key->n_leaf }, shift, results,
                                   opts, choice)
                 : NULL;
    rd_pool_free(work);
    return plan;
}
