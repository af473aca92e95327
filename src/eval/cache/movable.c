/* movable.c - plans for a key: what they depend on is in the key, and where their leaves lie is
 * not. */
#include "eval/cache/key.h"

rd_plan *rd_key_plan(const rd_key *key, rd_results results, const rd_eval_opts *opts,
                     const rd_choice *choice)
{
    const size_t n     = (size_t)key->n_leaf;
    rd_pool     *work  = rd_pool_planning(key->ctx);
    rd_expr    **in    = work ? rd_pool_get(work, (n + 1) * sizeof *in) : NULL;
    int64_t     *shift = in ? rd_pool_get(work, (n + 1) * sizeof *shift) : NULL;
    rd_plan     *plan;

    for (int k = 0; shift && k < key->n_leaf; k++) {
        in[k]    = (rd_expr *)key->leaf[k].expr;
        shift[k] = rd_key_shift(&key->leaf[k]);
    }
    plan = shift ? rd_plan_movable(key->ctx, work, (rd_exprs){ in, key->n_leaf }, shift, results,
                                   opts, choice)
                 : NULL;
    rd_pool_free(work);
    return plan;
}
