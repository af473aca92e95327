/* rows.c - rows that a team keeps in shared memory: what several loops of an item read, and what
 * one of them leaves for another.  So a softmax reads its rows once.
 *
 * In all loops concerned an index belongs to the same thread, so that no barrier is needed.
 * Element i = v + wide * t + l of thread t lies at v + team * l + t: threads side by side have
 * words side by side, which lie in banks of their own. */
#include "kernels/cuda/shape.h"

enum { BANKS = 32 };

static bool is_memory(const rd_inst *inst)
{
    return inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE;
}

/* Does the loop take all of its axis from 0 on, in whole rounds of the team?  Then thread t has the
 * same elements as in other such loops. */
static bool is_regular(const rd_cuda_shape *s, int32_t loop)
{
    const rd_loop    *l    = loop < 0 ? NULL : &s->p->loop[loop];
    const rd_address *lane = l ? rd_cuda_lanes_along(s, loop) : NULL;

    return l && s->spread[loop] && l->first < 0 && !l->backwards && loop != s->dealt &&
           (!lane || (lane->offset == 0 && lane->n_add == 1));
}

bool rd_cuda_same_address(const rd_address *a, const rd_address *b)
{
    if (a->slot != b->slot || a->type != b->type || a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis != b->add[k].axis || a->add[k].coef != b->add[k].coef ||
            a->add[k].reg != b->add[k].reg)
            return false;
    return true;
}

/* May all rows be along this axis? */
static bool is_along(rd_cuda_shape *s, int32_t axis)
{
    if (s->n_row > 0 && s->row_axis != axis)
        return false;
    s->row_axis = axis;
    return true;
}

/* Floats of 16 bits are f32 in registers, where they are rounded already. */
static int32_t word_of(rd_dtype type)
{
    return rd_dtype_is_half(type) ? 2 : rd_register_size(type) > 4 ? 8 : 4;
}

/* All rows have room for their widest elements. */
static void make_room_for(rd_cuda_shape *s, rd_dtype type)
{
    s->row_word = word_of(type) > s->row_word ? word_of(type) : s->row_word;
}

static void add_row(rd_cuda_shape *s, rd_dtype type)
{
    s->n_row++;
    make_room_for(s, type);
}

/* ---- What several loops read ----------------------------------------------------------------- */
/* A load of the same elements in a later loop, which then need not be loaded. */
static bool is_again(const rd_cuda_shape *s, int32_t i, int32_t j)
{
    const rd_inst *a = &s->p->inst[i], *b = &s->p->inst[j];

    return b->kind == RD_I_LOAD && a->loop != b->loop && is_regular(s, b->loop) &&
           s->p->loop[a->loop].axis == s->p->loop[b->loop].axis &&
           s->p->loop[a->loop].parent == s->p->loop[b->loop].parent &&
           rd_cuda_same_address(&s->p->address[a->arg], &s->p->address[b->arg]);
}

static void find_reads(rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst  = &p->inst[i];
        bool           again = false;

        if (inst->kind != RD_I_LOAD || s->row[i] >= 0 || !is_regular(s, inst->loop) ||
            p->address[inst->arg].slot >= p->first_scratch ||
            s->stored[p->address[inst->arg].slot] ||
            !rd_coef(&p->address[inst->arg], p->loop[inst->loop].axis))
            continue;
        for (int32_t j = i + 1; j < s->to; j++)
            if (is_again(s, i, j) && (again || is_along(s, p->loop[inst->loop].axis))) {
                again     = true;
                s->row[i] = s->row[j] = s->n_row;
                s->fills[i]           = true;
            }
        if (again)
            add_row(s, p->address[inst->arg].type);
    }
}

/* ---- What one loop leaves -------------------------------------------------------------------- */
/* Is all that is done with a scratch slot done by the thread that has the element? */
static bool stays(const rd_cuda_shape *s, int32_t slot, int32_t *axis)
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

/* The first store to a slot. */
static int32_t store_of(const rd_program *p, int32_t slot)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STORE && p->address[p->inst[i].arg].slot == slot)
            return i;
    return -1;
}

/* A row whose elements are read for the last time just before these are stored: they may take its
 * place.  -1: there is none. */
static int32_t row_that_ends(const rd_cuda_shape *s, int32_t store)
{
    for (int32_t row = 0; row < s->n_row; row++) {
        int32_t last = -1;

        for (int32_t i = 0; i < s->p->n_inst; i++)
            if (s->row[i] == row)
                last = i;
        if (last >= 0 && last < store && s->p->inst[last].kind == RD_I_LOAD &&
            s->p->inst[last].loop == s->p->inst[store].loop)
            return row;
    }
    return -1;
}

static void find_scratch(rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_scratch; k++) {
        const int32_t slot = p->first_scratch + k, store = store_of(p, slot);
        int32_t       axis, row;

        if (store < 0 || !stays(s, slot, &axis) || !is_along(s, axis))
            continue;
        row = row_that_ends(s, store);
        if (row < 0) {
            row = s->n_row;
            add_row(s, p->address[p->inst[store].arg].type);
        } else
            make_room_for(s, p->address[p->inst[store].arg].type);
        for (int32_t i = 0; i < p->n_inst; i++)
            if (is_memory(&p->inst[i]) && p->address[p->inst[i].arg].slot == slot)
                s->row[i] = row;
        s->scratch[k] = RD_HOME_ROW;
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* No rows. */
static void forget(rd_cuda_shape *s)
{
    s->n_row    = 0;
    s->row_word = 0;
    for (int32_t i = 0; i < s->p->n_inst; i++) {
        s->row[i]   = -1;
        s->fills[i] = false;
    }
    for (int32_t k = 0; k < s->p->n_scratch; k++)
        if (s->scratch[k] == RD_HOME_ROW)
            s->scratch[k] = RD_HOME_TEAM;
}

/* Words of a team's rows: whole rounds, and teams of one warp are not in the same banks, of 4 bytes
 * each. */
static void measure_rows(rd_cuda_shape *s)
{
    const int64_t round  = s->team * (s->wide > 1 ? s->wide : 2);
    const int64_t banks  = s->row_word < 4 ? 2 * BANKS : BANKS;
    const int64_t extent = s->p->axis_extent[s->row_axis];

    s->row_words = (extent + round - 1) / round * round;
    s->team_words =
        (s->n_row * s->row_words + banks - 1) / banks * banks + (s->team < RD_WARP ? s->team : 0);
}

static int64_t row_bytes(const rd_cuda_shape *s)
{
    return s->n_row > 0 ? s->choice.block / s->team * s->team_words * s->row_word : 0;
}

int64_t rd_cuda_dynamic_bytes(const rd_cuda_shape *s)
{
    return row_bytes(s) + s->staged_bytes + s->stretch_bytes;
}

/* With what folds have there. */
static int64_t bytes_of(const rd_cuda_shape *s)
{
    return row_bytes(s) +
           s->choice.block / s->team * rd_cuda_shared_words(s) * (int64_t)sizeof(uint64_t);
}

static bool may_be_narrower(const rd_cuda_shape *s)
{
    return s->wide > 2 && s->team < RD_WARP;
}

/* Is there room for fewer threads than hide each other's waits?  Of 16-bit elements half as many
 * do: threads have more to do for each byte. */
static bool is_crowded(const rd_cuda_shape *s, int64_t shared)
{
    return bytes_of(s) / (s->row_word < 4 ? 2 : 1) > shared / s->choice.row_blocks;
}

/* A multiprocessor has little more shared memory than one block of threads may have.  Longer rows
 * have wider teams of fewer elements side by side, while there are any; and then threads have more
 * loads in flight. */
void rd_cuda_find_rows(rd_cuda_shape *s, int64_t shared)
{
    const int64_t most = shared / s->choice.resident;

    forget(s);
    if (s->team == 1 || s->n_cut > 0)
        return;
    find_reads(s);
    find_scratch(s);
    if (s->n_row == 0)
        return;
    const int32_t wide = s->wide, team = s->team;

    for (measure_rows(s); is_crowded(s, shared) && may_be_narrower(s); measure_rows(s)) {
        s->wide /= 2;
        s->team *= 2;
    }
    s->crowded = is_crowded(s, shared);
    if (bytes_of(s) <= most)
        return;
    s->crowded = false;
    s->wide    = wide;
    s->team    = team;
    forget(s);
}
