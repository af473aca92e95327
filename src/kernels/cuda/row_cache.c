/* row_cache.c - the shared-memory row cache: rows that a team keeps, since several loops of an
 * item read them, or one loop stores them for another.  So a softmax reads its rows once.
 *
 * An index belongs to the same thread in all these loops, so no barrier is needed.  Element i = v
 * + width * t + l of thread t lies at v + team * l + t: adjacent threads have adjacent words, in
 * banks of their own.
 *
 * A team is the threads that do an item, which is one unit of work.  Scratch is temporary memory
 * of the program.
 *
 *     softmax over i1, of 8192 x 1024 f32: ", 1 row in shared memory"
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A fold is a
 * reduction or a scan. */
#include "kernels/cuda/strategy.h"

enum { BANKS = 32 }; /* banks of shared memory, of 4 bytes each */

/* True if an instruction loads or stores. */
static bool is_memory(const rd_inst *inst)
{
    return inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE;
}

/* True if a loop takes all of its axis from 0 on, in rounds of the team's threads, so that
 * thread t has the same elements in all such loops. The team shares the loop, which is
 * innermost, forward and not cut into chunks. If its folds have threads as lanes (partial
 * accumulators), lanes begin at 0 and lie along this axis alone. */
static bool is_regular(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop    *l    = loop < 0 ? NULL : &s->p->loop[loop];
    const rd_address *lane = l ? rd_cuda_lanes_along(s, loop) : NULL;

    return l && s->distributed[loop] && l->first < 0 && !l->backwards && loop != s->chunk_loop &&
           (!lane || (lane->offset == 0 && lane->n_add == 1));
}

/* True if two accesses touch the same elements: slot (buffer), type, offset and all addends are
 * equal. */
bool rd_cuda_is_same_address(const rd_address *a, const rd_address *b)
{
    if (a->slot != b->slot || a->type != b->type || a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis != b->add[k].axis || a->add[k].coef != b->add[k].coef ||
            a->add[k].reg != b->add[k].reg)
            return false;
    return true;
}

/* True if all cached rows can lie along this axis: there is none yet, or the others lie along
 * it. Then s->row_axis is this axis. */
static bool is_along(rd_cuda_strategy *s, int32_t axis)
{
    if (s->n_cached_row > 0 && s->row_axis != axis)
        return false;
    s->row_axis = axis;
    return true;
}

/* Returns the bytes of an element of the cache. 16-bit and 8-bit floats are f32 in registers but
 * already rounded, so as many bytes as in memory hold them; others are 4 or 8 bytes. */
static int32_t word_of(rd_dtype type)
{
    return rd_dtype_is_narrow_float(type) ? rd_dtype_size(type)
           : rd_register_size(type) > 4   ? 8
                                          : 4;
}

/* Widens the elements of the cache (row_word bytes) to those of a type, if these are larger. All
 * rows share one size. */
static void make_room_for(rd_cuda_strategy *s, rd_dtype type)
{
    s->row_word = word_of(type) > s->row_word ? word_of(type) : s->row_word;
}

/* Counts one more cached row, whose elements have a type; all rows then have elements that are
 * large enough for it. */
static void add_row(rd_cuda_strategy *s, rd_dtype type)
{
    s->n_cached_row++;
    make_room_for(s, type);
}

/* ---- Rows that several loops load ------------------------------------------------------------ */
/* True if load j reads the same elements as load i, which comes before it, in another loop along
 * the same axis and in the same body. */
static bool is_reload(const rd_cuda_strategy *s, int32_t i, int32_t j)
{
    const rd_inst *a = &s->p->inst[i], *b = &s->p->inst[j];

    return b->kind == RD_I_LOAD && a->loop != b->loop && is_regular(s, b->loop) &&
           s->p->loop[a->loop].axis == s->p->loop[b->loop].axis &&
           s->p->loop[a->loop].parent == s->p->loop[b->loop].parent &&
           rd_cuda_is_same_address(&s->p->address[a->arg], &s->p->address[b->arg]);
}

/* Finds rows of memory that several loops load: the first load fills a cached row, and the
 * others read it. Scratch, memory that the program stores to, and single elements (no stride
 * along the loop's axis) do not count. */
static void find_reads(rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst      = &p->inst[i];
        bool           is_reread = false;

        if (inst->kind != RD_I_LOAD || s->cached_row[i] >= 0 || !is_regular(s, inst->loop) ||
            p->address[inst->arg].slot >= p->first_scratch ||
            s->stored[p->address[inst->arg].slot] ||
            !rd_coef(&p->address[inst->arg], p->loop[inst->loop].axis))
            continue;
        for (int32_t j = i + 1; j < s->to; j++)
            if (is_reload(s, i, j) && (is_reread || is_along(s, p->loop[inst->loop].axis))) {
                is_reread        = true;
                s->cached_row[i] = s->cached_row[j] = s->n_cached_row;
                s->fills_cache[i]                   = true;
            }
        if (is_reread)
            add_row(s, p->address[inst->arg].type);
    }
}

/* ---- Rows that one loop stores for another --------------------------------------------------- */
/* True if only the thread that stores an element of a scratch slot (temporary memory) loads it.
 * So every access is in a loop that gives thread t the same indices, and its position is the
 * loop's index. *axis gets the axis of these loops. */
static bool is_kept_by_thread(const rd_cuda_strategy *s, int32_t slot, int32_t *axis)
{
    const rd_program *p = s->p;

    *axis = -1;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (!is_memory(inst) || p->address[inst->arg].slot != slot)
            continue;
        const rd_address *at = &p->address[inst->arg];

        if (!is_regular(s, inst->loop) || at->offset != 0 || at->n_add != 1 ||
            at->add[0].axis != p->loop[inst->loop].axis || at->add[0].coef != 1 ||
            (*axis >= 0 && *axis != at->add[0].axis))
            return false;
        *axis = at->add[0].axis;
    }
    return *axis >= 0;
}

/* Returns the first store to a slot (buffer), -1: there is none. */
static int32_t store_of(const rd_program *p, int32_t slot)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STORE && p->address[p->inst[i].arg].slot == slot)
            return i;
    return -1;
}

/* Returns a cached row that is last used by a load before the store, in the same loop; -1: there
 * is none. The stored row may take its place, as each thread overwrites what it has just loaded. */
static int32_t row_that_ends(const rd_cuda_strategy *s, int32_t store)
{
    for (int32_t row = 0; row < s->n_cached_row; row++) {
        int32_t last = -1;

        for (int32_t i = 0; i < s->p->n_inst; i++)
            if (s->cached_row[i] == row)
                last = i;
        if (last >= 0 && last < store && s->p->inst[last].kind == RD_I_LOAD &&
            s->p->inst[last].loop == s->p->inst[store].loop)
            return row;
    }
    return -1;
}

/* Caches scratch (temporary memory) that one loop stores for another one, in a cached row of its
 * own or in place of one that is no longer used. */
static void find_scratch(rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_scratch; k++) {
        const int32_t slot = p->first_scratch + k, store = store_of(p, slot);
        int32_t       axis, row;

        if (store < 0 || !is_kept_by_thread(s, slot, &axis) || !is_along(s, axis))
            continue;
        row = row_that_ends(s, store);
        if (row < 0) {
            row = s->n_cached_row;
            add_row(s, p->address[p->inst[store].arg].type);
        } else
            make_room_for(s, p->address[p->inst[store].arg].type);
        for (int32_t i = 0; i < p->n_inst; i++)
            if (is_memory(&p->inst[i]) && p->address[p->inst[i].arg].slot == slot)
                s->cached_row[i] = row;
        s->scratch[k] = RD_STORAGE_SHARED;
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Undoes the choices of this file: no rows are cached. */
static void give_up(rd_cuda_strategy *s)
{
    s->n_cached_row = 0;
    s->row_word     = 0;
    for (int32_t i = 0; i < s->p->n_inst; i++) {
        s->cached_row[i]  = -1;
        s->fills_cache[i] = false;
    }
    for (int32_t k = 0; k < s->p->n_scratch; k++)
        if (s->scratch[k] == RD_STORAGE_SHARED)
            s->scratch[k] = RD_STORAGE_TEAM;
}

/* Computes the elements of a row, rounded up to whole rounds of the team, and those of all rows
 * of a team, rounded up to all banks of shared memory. A thread without vectors takes two
 * elements in a round. If a warp has several teams, each begins `team` banks further than the
 * one before, so that they do not meet. */
static void measure_rows(rd_cuda_strategy *s)
{
    const int64_t round  = s->team * (s->width > 1 ? s->width : 2);
    const int64_t banks  = s->row_word < 4 ? 2 * BANKS : BANKS;
    const int64_t extent = s->p->axis_extent[s->row_axis];

    s->row_words  = (extent + round - 1) / round * round;
    s->team_words = (s->n_cached_row * s->row_words + banks - 1) / banks * banks +
                    (s->team < RD_WARP ? s->team : 0);
}

/* Returns the bytes of shared memory for the cached rows of all teams of a block. A block has
 * choice.block / team teams (the threads of an item each). */
static int64_t row_bytes(const rd_cuda_strategy *s)
{
    return s->n_cached_row > 0 ? s->choice.block / s->team * s->team_words * s->row_word : 0;
}

/* Returns the bytes of dynamic shared memory that a block of threads asks for at its launch:
 * cached rows, tiles of points, staged rows. */
int64_t rd_cuda_dynamic_bytes(const rd_cuda_strategy *s)
{
    return row_bytes(s) + s->pair_tile_bytes + s->staged_row_bytes;
}

/* Returns the shared memory of the cached rows of a block of threads, and of the words of 8
 * bytes by which its teams exchange lanes (partial accumulators) of folds. */
static int64_t bytes_of(const rd_cuda_strategy *s)
{
    return row_bytes(s) +
           s->choice.block / s->team * rd_cuda_shared_words(s) * (int64_t)sizeof(uint64_t);
}

/* True if a thread may have half as many adjacent elements, and the team (threads of an item)
 * twice as many threads, a warp's at most. */
static bool may_be_narrower(const rd_cuda_strategy *s)
{
    return s->width > 2 && s->team < RD_WARP;
}

/* True if cached rows leave shared memory for fewer than row_blocks blocks of threads, too few
 * to hide latency. 16-bit elements (row_word 2) need half as many blocks, as a byte brings more
 * work. */
static bool is_crowded(const rd_cuda_strategy *s, int64_t shared)
{
    return bytes_of(s) / (s->row_word < 4 ? 2 : 1) > shared / s->choice.row_blocks;
}

/* Chooses the rows that an item reads again, and keeps them in shared memory if `resident`
 * blocks of threads still fit. Items of one thread and split loops have none. If few blocks fit,
 * teams get more threads with narrower vectors; if still few fit (is_crowded), threads prefetch
 * more. If too few fit, nothing is cached. */
void rd_cuda_find_row_cache(rd_cuda_strategy *s, int64_t shared)
{
    const int64_t most = shared / s->choice.resident;

    give_up(s);
    if (s->team == 1 || s->n_split > 0)
        return;
    find_reads(s);
    find_scratch(s);
    if (s->n_cached_row == 0)
        return;
    const int32_t wide = s->width, team = s->team;

    for (measure_rows(s); is_crowded(s, shared) && may_be_narrower(s); measure_rows(s)) {
        s->width /= 2;
        s->team *= 2;
    }
    s->is_crowded = is_crowded(s, shared);
    if (bytes_of(s) <= most)
        return;
    s->is_crowded = false;
    s->width      = wide;
    s->team       = team;
    give_up(s);
}
