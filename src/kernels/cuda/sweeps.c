/* sweeps.c - scans along rows of memory in one pass: which, and how large their tiles are.
 *
 * A block of threads takes a tile of a row.  A thread has `wide` elements side by side in each of
 * some rounds, and 64 / wide neighbours have a block of the tree, whose prefixes they make by
 * passing on what they have.  print/gpu/sweep.c has the text. */
#include "core/combine_tree.h"
#include "kernels/cuda/shape.h"

/* Each has a warp that waits for what is before, of which a lane has up to two blocks. */
enum { MOST_SCANS = 4, MOST_BLOCKS = 64 };

/* ---- Which ----------------------------------------------------------------------------------- */
/* Nodes of the tree tell what is before a block, and prefixes combine as a tree. */
static bool may_sweep(const rd_cuda_shape *s, const rd_cuda_fold *f, int32_t loop)
{
    const rd_fold *fold = f->of.fold;
    const rd_loop *l    = &s->p->loop[loop];

    return fold->scan && !fold->user && f->step >= 0 && rd_cuda_within(s->p, f->step, loop) &&
           f->start >= s->from && f->start < l->begin && fold->n_cell == 1 &&
           f->of.n_state == 1 + f->of.seen && fold->n_block > 1 &&
           (f->pair ? f->levels > 0 : rd_fold_any_grouping(fold)) &&
           (!f->of.seen || (fold->exclusive && !f->of.masked)) &&
           (l->backwards ? rd_is_along(fold, l->axis, l->extent - 1, -1)
                         : rd_is_along(fold, l->axis, 0, 1));
}

/* The only loop of an item, in which all folds are. */
static int32_t loop_of(const rd_cuda_shape *s)
{
    int32_t loop = -1;

    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst = &s->p->inst[i];

        if (inst->kind == RD_I_STORE || inst->kind == RD_I_CLOSE || (loop >= 0))
            return -1;
        if (inst->kind == RD_I_LOOP) {
            loop = inst->arg;
            i    = s->p->loop[loop].end;
        }
    }
    return loop;
}

/* Nothing of what tiles read is stored. */
static bool reads_only(const rd_cuda_shape *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_LOAD && s->stored[s->p->address[s->p->inst[i].arg].slot])
            return false;
    return true;
}

static void forget_early(rd_cuda_shape *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->early[i] = false;
}

/* What instruction i reads is early. */
static void mark_makers(rd_cuda_shape *s, const rd_loop *l, int32_t i)
{
    const rd_program *p = s->p;
    int32_t           in[RD_MOST_READ];
    const int32_t     n = rd_inst_reads(p, &p->inst[i], in);

    for (int32_t k = 0; k < n; k++)
        for (int32_t j = l->begin + 1; j < i; j++)
            s->early[j] |=
                in[k] >= p->inst[j].dst && in[k] < p->inst[j].dst + rd_inst_makes(p, &p->inst[j]);
}

bool rd_cuda_find_early(rd_cuda_shape *s, int32_t loop)
{
    const rd_loop *l     = &s->p->loop[loop];
    bool           apart = true;

    forget_early(s);
    for (int32_t i = l->end - 1; i > l->begin; i--) {
        const bool scan = s->p->inst[i].kind == RD_I_SCAN;

        apart &= !(scan && s->early[i]);
        if (scan || s->early[i])
            mark_makers(s, l, i);
    }
    return apart;
}

/* ---- How much -------------------------------------------------------------------------------- */
/* Bools are u64 in folds. */
static int32_t state_size(const rd_fold *fold)
{
    return fold->type == RD_BOOL ? 8 : rd_register_size(fold->type);
}

/* Bytes of a thread's for each of its elements: states, or loads. */
static int32_t state_bytes(const rd_cuda_shape *s)
{
    int32_t bytes = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        bytes += state_size(&s->p->fold[k]);
    return bytes;
}

static int32_t load_bytes(const rd_cuda_shape *s, int32_t loop)
{
    const rd_loop *l     = &s->p->loop[loop];
    int32_t        bytes = 0;

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_LOAD)
            bytes += rd_dtype_size(s->p->address[s->p->inst[i].arg].type);
    return bytes;
}

/* Rounds of a block of threads in a tile; short rows have as many as they fill. */
static int32_t rounds_of(const rd_cuda_shape *s, int32_t loop)
{
    const rd_cuda_choice *c      = &s->choice;
    const int64_t         round  = (int64_t)c->block * s->wide;
    const int32_t         states = state_bytes(s), loads = load_bytes(s, loop);
    int32_t               rounds = c->ahead;

    while (rounds > 1 &&
           (rounds * round > MOST_BLOCKS * RD_TREE_STEPS || rounds * s->wide > c->elements ||
            rounds * s->wide * loads > c->flight || rounds * s->wide * states > c->flight ||
            rounds / 2 * round >= s->p->loop[loop].extent))
        rounds /= 2;
    return rounds;
}

bool rd_cuda_find_sweep(rd_cuda_shape *s)
{
    const int32_t  loop = loop_of(s);
    const rd_loop *l    = loop < 0 ? NULL : &s->p->loop[loop];
    const int32_t  wide = l ? rd_cuda_wide_along(s, loop) : 1;

    if (wide == 1 || s->team > 1 || s->strip >= 0 || l->first >= 0 ||
        l->extent <= s->choice.scan_range * RD_TREE_STEPS || s->p->n_scratch > 0 ||
        s->p->n_fold > MOST_SCANS || s->p->n_fold > s->choice.block / RD_WARP)
        return false;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (!may_sweep(s, &s->fold[k], loop))
            return false;
    if (!reads_only(s, loop) || !rd_cuda_find_early(s, loop))
        return false;
    s->swept    = true;
    s->wide     = wide;
    s->cut[0]   = loop;
    s->n_cut    = 1;
    s->cut_axis = l->axis;
    s->range    = rounds_of(s, loop) * (int64_t)s->choice.block * wide;
    s->n_range  = (l->extent + s->range - 1) / s->range;
    return true;
}

int32_t rd_cuda_sweep_rounds(const rd_cuda_shape *s)
{
    return (int32_t)(s->range / s->choice.block / s->wide);
}

int64_t rd_cuda_sweep_bytes(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    const int64_t words = (f->pair ? 8 : state_size(f->of.fold)) / (int64_t)sizeof(uint32_t);
    const int64_t nodes = rd_cuda_nodes_below(s->n_range, rd_cuda_bits(s->n_range));

    return s->n_range > 1 ? nodes * words * (int64_t)sizeof(uint64_t) : 0;
}
