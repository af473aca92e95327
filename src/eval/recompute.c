/* recompute.c - decides whether reductions that want different loops share loops all the same.
 * On a device they do if it accepts the stage; on this processor, if that costs no more. */
#include "eval/backend_choice.h"
#include "eval/tuning.h"
#include "kernels/loop/alternatives.h"

/* Zeroed memory of a pool, in the form that the backend asks for. */
static void *memory_of(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* ---- A device -------------------------------------------------------------------------------- */
/* True if the device accepts each stage of the nest as it is, with reductions of different axes in
 * one loop. A program that cannot be made counts as accepted: making it later reports why.
 * suits() is the backend's answer for a program that is not prepared. The slots that lowering
 * appended are dropped again. */
static bool is_accepted(rd_nest *nest, const rd_backend_use *use)
{
    rd_graph     *g      = nest->tree->graph;
    const int32_t n_slot = g->n_slot; /* lowering appends the arrays between stages */
    rd_program   *p      = rd_lower(nest, g->pool);
    bool          all    = true;

    for (int s = 0; p && s < nest->n_stage; s++) {
        p[s].device = use->device;
        all &= !rd_tune(g->ctx, use->backend, &p[s]) ||
               use->backend->device->keeps_folds_together(&p[s], memory_of, g->pool);
    }
    g->n_slot = n_slot;
    return all;
}

/* ---- This processor -------------------------------------------------------------------------- */
/* For tests: 1: never share, -1: always share, 0: by cost. */
static int forced;

/* For tests: makes later plans never share such loops (1), always share them (-1), or decide by
 * cost (0). */
void rd_force_recompute(int apart)
{
    forced = apart;
    rd_force_sides_of_pairs(apart > 0);
}

/* True if the plan keeps a value for each of many pairs that its readers could compute again: in an
 * array between stages, or, as distances, in scratch memory between two phases of a loop. Scratch
 * holds all pairs if it goes along all of the value's axes (axes & ~stored is empty); a map in
 * scratch is left there. */
static bool keeps_pairs(const rd_tree *tree)
{
    for (int a = 0; a < tree->n_materialised; a++) {
        const int32_t     value = tree->materialised[a].value;
        const rd_value   *v     = &tree->graph->value[value];
        const rd_storage *own   = &tree->storage[value];
        const bool        scratch =
            own->keep == RD_KEEP_SCRATCH && v->kind == RD_VALUE_REDUCE && !(v->axes & ~own->stored);

        if ((own->keep == RD_KEEP_ARRAY || scratch) &&
            rd_points_of(tree->graph, v->axes) > RD_MANY_PAIRS &&
            rd_is_computed_again(tree->graph, v))
            return true;
    }
    return false;
}

/* True if some reduction takes the results of another one in the loop that makes them, and so
 * keeps that loop from vectors. use[u] are the values that a stored one reads; results in an
 * array between stages are made in another loop. */
static bool takes_neighbours(const rd_tree *tree)
{
    const rd_graph *g = tree->graph;

    for (int a = 0; a < tree->n_materialised; a++)
        for (int u = 0; u < tree->materialised[a].n_use; u++) {
            const int32_t value = tree->materialised[a].use[u].value;

            if (tree->storage[value].keep != RD_KEEP_ARRAY &&
                rd_takes_neighbours(g, &g->value[tree->materialised[a].value], &g->value[value]))
                return true;
        }
    return false;
}

/* True if comparing plans with shared and with separate loops is worth some hundred microseconds:
 * much work, few enough values, and a reason (crossed: reductions that want different loops share
 * one). Tests force the answer (forced, -1: never ask, 1: always). Work counts one operation for
 * each point that a stored value's loops visit. forced > 0 also takes little work. */
static bool is_worth_asking(const rd_tree *tree)
{
    enum { MOST = 128 };
    static const double LITTLE = 1e6;
    double              work   = 0;

    if (tree->n_materialised > MOST || forced < 0 ||
        !(tree->graph->has_crossing_folds || keeps_pairs(tree) || takes_neighbours(tree)))
        return false;
    for (int a = 0; a < tree->n_materialised; a++)
        work += (double)rd_points_of(tree->graph,
                                     rd_space(&tree->graph->value[tree->materialised[a].value]));
    return work > LITTLE || forced > 0;
}

/* The cost of a plan: nanoseconds of all stages at usual rates, and bytes of arrays between
 * stages. */
typedef struct price {
    double ns, bytes;
} price;

/* Sums up the estimated time of a plan's stages, and the bytes of arrays between them; false: no
 * memory. Slots from n_slot on are those that lowering appended, which are dropped again at the
 * end. */
static bool price_of(const rd_backend_table *backend, rd_nest *nest, price *sum)
{
    rd_graph     *g      = nest->tree->graph;
    const int32_t n_slot = g->n_slot; /* lowering appends the arrays between stages */
    rd_program   *p      = rd_lower(nest, g->pool);
    bool          ok     = p;
    double        one;

    *sum = (price){ 0 };
    for (int s = 0; ok && s < nest->n_stage; s++) {
        ok = backend->estimate(&p[s], memory_of, g->pool, &one);
        sum->ns += one;
    }
    for (int k = n_slot; k < g->n_slot; k++)
        sum->bytes += g->slot[k].kind == RD_SLOT_ARRAY ? (double)g->slot[k].bytes : 0;
    g->n_slot = n_slot;
    return ok;
}

/* Notes for explain that loops of their own (apart) were taken, and the times in nanoseconds of
 * both; `together` is that of shared loops.  Called only when loops of their own won, which need
 * not be the cheapest: so that alternative is taken while it is the only one, and the other is
 * shown as rejected.  In an alternative, 0 and false say that no number belongs to its name.
 * False: no memory. */
static bool note_choice(rd_graph *g, double apart, double together)
{
    rd_text         line = { 0 };
    rd_alternatives a    = { 0 };

    rd_offer(&a,
             (rd_alternative){ "folds of different axes in loops of their own", apart, 0, false });
    rd_take_cheapest(&a);
    rd_offer(&a, (rd_alternative){ "in the same loops", together, 0, false });
    rd_alternatives_text(&line, &a);
    rd_text_add(&line, "\n");
    return rd_graph_say(g, &line);
}

/* Compares the prices of separate (own) and of shared loops. Both may be wrong by a factor, so
 * sharing stands until it costs DEARER times as much, or if separate loops need 256 MB more for
 * arrays. If sharing needs arrays of all pairs, it must be SAFER times as fast. */
static bool are_separate_cheaper(const price *own, const price *shared)
{
    static const double DEARER = 1.5, MUCH = 256e6, PAIRS = 16e6, SAFER = 2;

    return shared->bytes > own->bytes + PAIRS
               ? own->ns <= SAFER * shared->ns
               : shared->ns > DEARER * own->ns && own->bytes <= shared->bytes + MUCH;
}

/* True if the plan with separate loops is cheaper, or tests force it; notes that for explain. *ok:
 * there was memory. False without memory, too. */
static bool is_cheaper(const rd_backend_table *backend, rd_nest *apart, rd_nest *together, bool *ok)
{
    price own, shared;

    *ok = price_of(backend, apart, &own) && price_of(backend, together, &shared);
    if (!*ok || (!are_separate_cheaper(&own, &shared) && forced == 0))
        return false;
    *ok = note_choice(apart->tree->graph, own.ns, shared.ns);
    return *ok;
}

/* Plans for this processor: returns the nest with shared loops (together), or one with separate
 * loops if that is much cheaper. NULL on failure. own.separate_loops asks the pipeline for separate
 * loops. The pool owns both nests. */
static rd_nest *nest_for_cpu(const rd_backend_use *use, rd_nest *together, rd_ctx *ctx,
                             rd_pool *pool, int n, const rd_request *request, const rd_given *given,
                             const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_choice own = *choice;
    rd_nest  *apart;
    bool      ok;

    if (!is_worth_asking(together->tree))
        return together;
    own.separate_loops = true;
    apart              = rd_pipeline(ctx, pool, n, request, given, opts, &own);
    if (!apart)
        return NULL;
    if (is_cheaper(use->backend, apart, together, &ok))
        return apart;
    return ok ? together : NULL;
}

/* Plans for a device: returns the nest, or one with separate loops if the device refuses a stage
 * in which reductions of different axes share loops. NULL on failure. `has_crossing_folds`: such
 * reductions share loops in this nest; cross: they may. */
static rd_nest *nest_for_device(const rd_backend_use *use, rd_nest *nest, rd_ctx *ctx,
                                rd_pool *pool, int n, const rd_request *request,
                                const rd_given *given, const rd_eval_opts *opts,
                                const rd_choice *choice)
{
    rd_choice apart = *choice;

    if (!nest->tree->graph->has_crossing_folds || is_accepted(nest, use))
        return nest;
    apart.shares_crossing = false;
    return rd_pipeline(ctx, pool, n, request, given, opts, &apart);
}

/* Plans for a backend. If reductions that want different loops share them in the first nest
 * (crossed), one with separate loops may take its place. NULL on failure. nest_for_device() and
 * nest_for_cpu() make that choice. */
rd_nest *rd_nest_on(const rd_backend_use *use, rd_ctx *ctx, rd_pool *pool, int n,
                    const rd_request *request, const rd_given *given, const rd_eval_opts *opts,
                    const rd_choice *choice)
{
    rd_nest *nest = rd_pipeline(ctx, pool, n, request, given, opts, choice);

    if (!nest)
        return NULL;
    return use->backend->device
               ? nest_for_device(use, nest, ctx, pool, n, request, given, opts, choice)
               : nest_for_cpu(use, nest, ctx, pool, n, request, given, opts, choice);
}
