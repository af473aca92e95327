/* apart.c - whether folds that want different loops share them all the same.  On a device they do
 * where it takes the stage so; on this processor, where that is not dearer. */
#include "eval/backend.h"
#include "eval/tuning.h"
#include "kernels/loop/alternatives.h"

static void *memory_of(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* ---- A device -------------------------------------------------------------------------------- */
/* Does the device take each stage as it is?  Of programs that cannot be made, whoever makes them
 * says why. */
static bool suits(rd_nest *nest, const rd_backend_use *use)
{
    rd_graph     *g      = nest->tree->graph;
    const int32_t n_slot = g->n_slot; /* arrays between stages are added to them */
    rd_program   *p      = rd_lower(nest, g->pool);
    bool          all    = true;

    for (int s = 0; p && s < nest->n_stage; s++) {
        p[s].device = use->device;
        all &= !rd_tune(g->ctx, use->backend, &p[s]) ||
               use->backend->device->suits(&p[s], memory_of, g->pool);
    }
    g->n_slot = n_slot;
    return all;
}

/* ---- This processor -------------------------------------------------------------------------- */
/* For tests: 1: always apart, -1: never, 0: as prices say. */
static int forced;

void rd_force_apart(int apart)
{
    forced = apart;
}

/* Asking takes some hundred microseconds, so only loops of much work are worth it.  Of many values
 * planning takes longer, and copies of them would be more than one plan has. */
static bool is_worth_asking(const rd_tree *tree)
{
    enum { MOST = 128 };
    static const double LITTLE = 1e6;
    double              work   = 0;

    if (!tree->graph->crossed || tree->n_anchor > MOST || forced < 0)
        return false;
    for (int a = 0; a < tree->n_anchor; a++)
        work +=
            (double)rd_points_of(tree->graph, rd_space(&tree->graph->value[tree->anchor[a].value]));
    return work > LITTLE || forced > 0;
}

/* The cost of a plan: nanoseconds of all stages at usual speeds, and bytes of arrays between them. */
typedef struct price {
    double ns, bytes;
} price;

/* False: no memory. */
static bool price_of(const rd_backend_table *backend, rd_nest *nest, price *sum)
{
    rd_graph     *g      = nest->tree->graph;
    const int32_t n_slot = g->n_slot; /* arrays between stages are added to them */
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

/* For explain: what was taken, and what was not. */
static bool say(rd_graph *g, double apart, double together)
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

/* Both prices may be wrong by as much, so sharing stands until it is dearer than that.  It also
 * stands where an array of all pairs would take much memory that shared loops do without. */
static bool is_cheaper(const rd_backend_table *backend, rd_nest *apart, rd_nest *together, bool *ok)
{
    static const double DEARER = 1.5, MUCH = 256e6;
    price               own, shared;

    *ok = price_of(backend, apart, &own) && price_of(backend, together, &shared);
    if (!*ok || ((shared.ns <= DEARER * own.ns || own.bytes > shared.bytes + MUCH) && forced == 0))
        return false;
    *ok = say(apart->tree->graph, own.ns, shared.ns);
    return *ok;
}

static rd_nest *nest_here(const rd_backend_use *use, rd_nest *together, rd_ctx *ctx, rd_pool *pool,
                          int n, const rd_request *request, const rd_given *given,
                          const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_choice own = *choice;
    rd_nest  *apart;
    bool      ok;

    if (!is_worth_asking(together->tree))
        return together;
    own.apart = true;
    apart     = rd_pipeline(ctx, pool, n, request, given, opts, &own);
    if (!apart)
        return NULL;
    if (is_cheaper(use->backend, apart, together, &ok))
        return apart;
    return ok ? together : NULL;
}

static rd_nest *nest_there(const rd_backend_use *use, rd_nest *nest, rd_ctx *ctx, rd_pool *pool,
                           int n, const rd_request *request, const rd_given *given,
                           const rd_eval_opts *opts, const rd_choice *choice)
{
    rd_choice apart = *choice;

    if (!nest->tree->graph->crossed || suits(nest, use))
        return nest;
    apart.cross = false;
    return rd_pipeline(ctx, pool, n, request, given, opts, &apart);
}

rd_nest *rd_nest_on(const rd_backend_use *use, rd_ctx *ctx, rd_pool *pool, int n,
                    const rd_request *request, const rd_given *given, const rd_eval_opts *opts,
                    const rd_choice *choice)
{
    rd_nest *nest = rd_pipeline(ctx, pool, n, request, given, opts, choice);

    if (!nest)
        return NULL;
    return use->backend->device ? nest_there(use, nest, ctx, pool, n, request, given, opts, choice)
                                : nest_here(use, nest, ctx, pool, n, request, given, opts, choice);
}
