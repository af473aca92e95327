/* key.c - the key under which measured numbers are kept: equal programs have equal keys.
 *
 * The key hashes everything that a kernel depends on, the GPU, and the requested numbers; not the
 * addresses of memory.  A false match costs time, not bits.
 *
 * Fields. A fold has `user` if its reducer is the caller's own.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/cuda/measure.h"
#include "core/environment.h"
#include "kernels/store/hash.h"
#include <stdlib.h>
#include <string.h>

/* Adds an integer to the hash. */
static rd_hash add(rd_hash hash, int64_t number)
{
    return rd_hash_add(hash, &number, sizeof number);
}

/* Adds a text to the hash; NULL counts as an empty one. */
static rd_hash add_text(rd_hash hash, const char *text)
{
    return rd_hash_add(hash, text ? text : "", text ? strlen(text) : 0);
}

/* Adds all of an address but its offset to the hash. The speed does not depend on the offset. */
static rd_hash add_address(rd_hash hash, const rd_address *at)
{
    hash = add(add(add(hash, at->slot), at->type), at->n_add);
    for (int32_t k = 0; k < at->n_add; k++)
        hash = add(add(add(hash, at->add[k].axis), at->add[k].reg), at->add[k].coef);
    return hash;
}

/* Adds what a fold's kernels depend on. These are its reducer and types, the kind of scan, its
 * lanes (partial accumulators) and blocks (64 steps each), its cells (output elements), and how
 * elements map to lanes and blocks. */
static rd_hash add_fold(rd_hash hash, const rd_fold *f)
{
    hash = add(add(add(hash, f->reducer), f->type), f->out);
    hash = add(add(add(hash, f->scan), f->exclusive), f->reverse);
    hash = add(add(add(hash, f->lanes), f->lane_extent), f->n_block);
    hash = add_address(add_address(add(hash, f->n_cell), &f->lane), &f->lane_line);
    return add_text(hash, f->user ? f->user->name : NULL);
}

/* Adds an instruction: what it does, its types, its registers and its number of a loop, an
 * address or a fold. */
static rd_hash add_inst(rd_hash hash, const rd_inst *i)
{
    hash = add(add(add(add(hash, i->kind), i->type), i->from), i->op);
    return add(add(add(add(add(hash, i->dst), i->a), i->b), i->c), i->arg);
}

/* Returns a hash of the GPU, the tuning and the program, under which measured parameters are
 * kept: equal programs have equal keys. RDIM_CUDA_THREADS changes how loops are split, so it
 * counts, too. A false match costs time, not bits. */
uint64_t rd_gpu_program_key(const rd_program *p)
{
    char                why[RD_CUDA_TEXT];
    const rd_gpu *const gpu   = rd_gpu_of(p->device, why);
    rd_hash             hash  = add_text(rd_hash_begin(), rd_environment(RD_ENV_RDIM_CUDA_THREADS));
    const rd_gpu_facts *facts = gpu ? rd_gpu_facts_of(gpu) : NULL;
    const int32_t tuned[] = { facts ? facts->architecture : 0, facts ? facts->multiprocessors : 0 };

    hash = rd_hash_add(add_text(hash, facts ? facts->name : ""), tuned, sizeof tuned);
    hash = rd_hash_add(hash, &p->tuning, sizeof p->tuning);
    hash = add(hash, p->fast);
    for (int32_t k = 0; k < p->n_axis; k++)
        hash = add(hash, p->axis_extent[k]);
    for (int32_t k = 0; k < p->n_inst; k++)
        hash = add_inst(hash, &p->inst[k]);
    for (int32_t k = 0; k < p->n_loop; k++)
        hash = add(add(hash, p->loop[k].axis), p->loop[k].backwards);
    for (int32_t k = 0; k < p->n_address; k++)
        hash = add_address(hash, &p->address[k]);
    for (int32_t k = 0; k < p->n_fold; k++)
        hash = add_fold(hash, &p->fold[k]);
    for (int32_t k = 0; k < p->n_call; k++)
        hash = add_text(hash, p->call[k].body);
    return hash.a ^ hash.b;
}
