/* homes.c - where the states of folds and kept rows lie: in registers, or in memory of the team or
 * of the thread. */
#include "core/combine_tree.h"
#include "kernels/cuda/shape.h"

static bool is_scratch(const rd_program *p, const rd_inst *inst)
{
    return (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
           p->address[inst->arg].slot >= p->first_scratch;
}

static int64_t place(int64_t *bytes, int64_t more)
{
    const int64_t at = *bytes;

    *bytes += rd_cuda_room(more);
    return at;
}

/* Bytes of `count` states, by number of a state, each from a multiple of 16. */
static int64_t state_bytes(const rd_cuda_fold *f, int64_t count)
{
    int64_t bytes = 0;

    for (int k = 0; k < f->of.n_state + (f->pair ? 1 : 0); k++)
        place(&bytes, count * f->of.bytes);
    return bytes;
}

int32_t rd_cuda_counters(const rd_cuda_fold *f)
{
    return f->lanes && f->home == RD_HOME_TEAM ? RD_WARP : 1;
}

/* The blocks at hand; the tree, or what is before a scan's block, and nodes of its elements; and
 * which block each cell is at. */
static int64_t fold_bytes(const rd_cuda_fold *f)
{
    const int64_t states = f->states;
    int64_t       bytes  = state_bytes(f, states);

    if (f->tree)
        bytes += state_bytes(f, f->room * states);
    if (f->of.fold->scan)
        bytes += state_bytes(f, states) + state_bytes(f, f->levels * states);
    place(&bytes, f->n_words * states * (int64_t)sizeof(double));
    place(&bytes, f->n_cell * rd_cuda_counters(f) * (int64_t)sizeof(int64_t));
    return bytes;
}

/* A scan in one pass has nodes of tiles alone. */
static void give_nodes(rd_cuda_shape *s, rd_cuda_fold *f)
{
    f->n_cell = 1;
    f->node   = place(&s->node_bytes, rd_cuda_sweep_bytes(s, f));
}

static void give_home(rd_cuda_shape *s, rd_cuda_fold *f)
{
    const rd_fold *fold = f->of.fold;

    f->abreast = s->pairs >= 0 && rd_cuda_within(s->p, f->start, s->pairs) ? s->abreast : 1;
    f->n_cell  = fold->n_cell * (s->strip >= 0 ? s->wide : 1) * f->abreast;
    f->here    = f->lanes ? fold->lanes / s->team : fold->lanes;
    f->room    = f->cut < 0 ? rd_cuda_bits(fold->n_block) + 2
                            : rd_cuda_bits(f->blocks) * (f->aligned ? 1 : 2) + 2;
    f->home    = f->cells ? RD_HOME_TEAM : RD_HOME_LOCAL;
    f->states  = f->n_cell * (f->home == RD_HOME_TEAM ? fold->lanes : f->here);
    f->bytes   = fold_bytes(f);
    if (f->home == RD_HOME_LOCAL && f->bytes > s->choice.local)
        f->home = RD_HOME_OWN;
    if (f->home == RD_HOME_TEAM)
        f->at = place(&s->team_bytes, f->bytes);
    if (f->home == RD_HOME_OWN)
        f->at = place(&s->own_bytes, f->bytes);
    if (s->scanned) {
        const int64_t nodes = rd_cuda_nodes_below(s->n_range, rd_cuda_bits(s->n_range)) * f->n_cell;

        f->nodes = (f->pair ? 1 : f->of.n_state) * rd_cuda_room(nodes * (int64_t)sizeof(double));
        f->node  = place(&s->node_bytes, f->nodes);
    }
    if (f->cut >= 0)
        f->node = place(&s->row_bytes, state_bytes(f, f->n_cell * fold->lanes));
}

/* Scratch that a spread loop stores at one place for all its indices is each thread's own. */
static rd_cuda_home home_of_scratch(const rd_cuda_shape *s, int32_t slot)
{
    for (int32_t i = 0; i < s->p->n_inst; i++) {
        const int32_t loop = rd_cuda_spread_around(s, i);

        if (is_scratch(s->p, &s->p->inst[i]) && s->p->inst[i].kind == RD_I_STORE &&
            s->p->address[s->p->inst[i].arg].slot == slot && loop >= 0 &&
            !rd_coef(&s->p->address[s->p->inst[i].arg], s->p->loop[loop].axis))
            return RD_HOME_OWN;
    }
    return RD_HOME_TEAM;
}

void rd_cuda_give_homes(rd_cuda_shape *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++)
        (s->swept ? give_nodes : give_home)(s, &s->fold[k]);
    for (int32_t k = 0; k < s->p->n_scratch; k++) {
        if (s->scratch[k] == RD_HOME_ROW || s->scratch[k] == RD_HOME_ITEM)
            continue;
        s->scratch[k]    = home_of_scratch(s, s->p->first_scratch + k);
        s->scratch_at[k] = place(s->scratch[k] == RD_HOME_OWN ? &s->own_bytes : &s->team_bytes,
                                 s->p->scratch_bytes[k] * (s->strip >= 0 ? s->wide : 1));
    }
}

/* ---- Shared memory in which lanes meet --------------------------------------------------------- */
/* Is what its lanes come to exchanged by the threads of a team? */
static bool is_exchanged(const rd_cuda_fold *f)
{
    return f->lanes && !f->cells;
}

int32_t rd_cuda_shared_words(const rd_cuda_shape *s)
{
    int32_t most = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];
        const int32_t words = f->of.fold->lanes * f->of.n_state * (rd_goes_by_lane(&f->of) ? 2 : 1);

        if (is_exchanged(f) && words > most)
            most = words;
    }
    return most;
}
