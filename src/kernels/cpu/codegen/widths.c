/* widths.c - how wide the strips of a region are, for what is read, and kept, for each element. */
#include "kernels/cpu/codegen/parts.h"
#include "kernels/cpu/simd/simd.h"
#include "core/caches.h"

bool rd_has_lanes(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_LANES && n->fold[k].step >= r->from &&
            n->fold[k].step < r->to)
            return true;
    return false;
}

/* The fewest of its folds: a step of those that have more is several strips. */
static int32_t lanes_in(const rd_codegen *n, const rd_region *r)
{
    int32_t fewest = INT32_MAX;

    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_LANES && n->fold[k].step >= r->from &&
            n->fold[k].step < r->to && n->fold[k].of.fold->lanes < fewest)
            fewest = n->fold[k].of.fold->lanes;
    return fewest;
}

/* Does a loop in the region read other elements in each of its rounds, and none around it the same
 * ones again and again? */
static bool reads_on(const rd_codegen *n, const rd_region *r, int32_t load)
{
    enum { OFTEN = 64 };
    const rd_address *at = &n->p->address[n->p->inst[load].arg];
    bool              on = false;

    for (int32_t k = n->p->inst[load].loop; k >= 0 && n->p->loop[k].begin >= r->from;
         k         = n->p->loop[k].parent) {
        const int64_t trips = rd_trips(n->p, k);

        if (n->p->loop[k].axis == r->axis)
            continue;
        if (on && !rd_coef(at, n->p->loop[k].axis) && trips >= OFTEN)
            return false;
        on |= rd_coef(at, n->p->loop[k].axis) && trips > RD_CODEGEN_FEW;
    }
    return on;
}

/* Are rows of elements side by side read from memory? */
static bool streams(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++)
        if (n->p->inst[i].kind == RD_I_LOAD &&
            rd_coef(&n->p->address[n->p->inst[i].arg], r->axis) == 1 &&
            rd_trips(n->p, n->p->inst[i].loop >= 0 ? n->p->inst[i].loop : 0) > RD_CODEGEN_FEW &&
            reads_on(n, r, i))
            return true;
    return false;
}

/* An axis that is one strip; elements of rows that stream from memory, of which the states of a
 * fold stay in the first-level cache. */
enum { SHORT = 128, WIDE = 8192, NARROW = RD_RUN_BYTES / 4, FETCHED = NARROW / 4 };

/* A scan of several blocks has what is before beside them; the sums that make it are wanted once a
 * block. */
static int64_t bytes_of_states(const rd_codegen_fold *f)
{
    const bool    before = f->blocks && f->of.fold->scan;
    const int32_t arrays = f->of.n_state * (before ? 2 : 1) + (before && f->pair);

    return f->of.user ? rd_user_bytes(&f->of) : arrays * rd_register_size(f->of.fold->type);
}

/* What a loop over the strip leaves for the next, for each element, in bytes: states, and arrays of
 * what functions take of all the strip. */
static int64_t bytes_kept(const rd_codegen *n, const rd_region *r)
{
    int64_t bytes = 0;

    for (int32_t i = r->from; i < r->to; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (rd_takes_step(inst))
            bytes += bytes_of_states(&n->fold[inst->arg]);
        if (rd_cuts(n, inst))
            bytes += 2 * 8;
    }
    return bytes;
}

static bool names(const rd_bound *b, int32_t axis)
{
    for (int32_t k = 0; k < b->n_add; k++)
        if (b->axis[k] == axis)
            return true;
    return false;
}

/* Does a mask bound a loop in the region by the strip's place?  The narrower a strip is, the more
 * of that loop is left out. */
static bool is_bounding(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_loop; k++) {
        const rd_loop *l = &n->p->loop[k];

        if (l->bounds && l->begin >= r->from && l->end < r->to && l->axis != r->axis &&
            (names(&l->bounds->low, r->axis) || names(&l->bounds->high, r->axis) ||
             l->bounds->low.n_reg || l->bounds->high.n_reg || l->bounds->list_at >= 0))
            return true;
    }
    return false;
}

/* Runs of memory that are long enough to stream, and what is kept near. */
static int32_t wide_width(const rd_codegen *n, const rd_region *r)
{
    enum { BOUNDING = 256 };
    const int64_t bytes = bytes_kept(n, r), room = 2 * RD_L1_BYTES;
    const int64_t narrow = rd_fetches_rows_behind ? FETCHED : NARROW;
    int64_t       width  = bytes ? room / bytes / 64 * 64 : WIDE;

    width = width > WIDE ? WIDE : width < narrow ? narrow : width;
    width = is_bounding(n, r) ? BOUNDING : width;
    return (int32_t)(rd_reach(n->p, r->axis) < width ? rd_reach(n->p, r->axis) : width);
}

/* States of many lanes of each element of a strip are too many to be wide. */
static bool has_lanes_of_cells(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_CELLS && n->fold[k].lanes > 1 &&
            n->fold[k].step >= r->from && n->fold[k].step < r->to)
            return true;
    return false;
}

/* Users' functions of blocks are worth a call for many elements; of stores past the caches so many
 * that what lines they share at their ends is little, and so few that fetches do not jam. */
enum { CALLED = 512, PAST = 128 };

static bool has_block_calls(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++)
        if (n->p->inst[i].kind == RD_I_CALL && n->p->call[n->p->inst[i].arg].block)
            return true;
    return false;
}

static bool is_cut(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++)
        if (rd_cuts(n, &n->p->inst[i]))
            return true;
    return false;
}

/* Does the instruction stand in a loop over the strip? */
static bool is_along(const rd_codegen *n, const rd_region *r, int32_t i)
{
    int32_t k = n->p->inst[i].loop;

    while (k >= 0 && n->p->loop[k].begin >= r->from && n->p->loop[k].axis != r->axis)
        k = n->p->loop[k].parent;
    return k >= 0 && n->p->loop[k].begin >= r->from && n->p->loop[k].axis == r->axis;
}

/* exp of f32 in a long loop whose rounds meet the same states, as of pairs of points: a strip of
 * one vector stays in registers with its states and what it reads again, and rounds of four fill
 * the time that each waits.  Strips of four vectors took 1.16 of the time (gcc 12, Zen 4); of f64
 * they take 0.95.  AVX2 has half as many registers. */
bool rd_has_exp_of_pairs(const rd_codegen *n, const rd_region *r, int32_t loop)
{
    enum { LONG = 64, ZMM = 64 };
    const rd_loop *l     = &n->p->loop[loop];
    bool           found = false, meets = false;

    if (n->vector < ZMM || l->axis == r->axis || rd_is_row(l) || l->backwards ||
        rd_trips(n->p, loop) < LONG ||
        (l->bounds && l->bounds->list_at >= 0)) /* ranges are looked up for each strip */
        return false;
    for (int32_t i = l->begin + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (rd_cuts(n, inst) && (inst->op != RD_OP_exp || inst->type != RD_F32))
            return false;
        found |= inst->kind == RD_I_MAP && inst->op == RD_OP_exp && is_along(n, r, i);
        meets |= inst->kind == RD_I_STEP && !rd_within(n, n->fold[inst->arg].start, loop);
    }
    return found && meets;
}

static bool is_pairs(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_loop; k++)
        if (n->p->loop[k].begin >= r->from && n->p->loop[k].end < r->to &&
            rd_has_exp_of_pairs(n, r, k))
            return true;
    return false;
}

/* Columns beside each other of what goes to groups: a few, of which tasks may share some. */
static bool has_labels(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (rd_has_groups(&n->fold[k]) && n->fold[k].step >= r->from && n->fold[k].step < r->to)
            return true;
    return false;
}

/* What a whole axis leaves over; tiles and tasks' shares may leave anything. */
static int32_t rest_of(const rd_codegen *n, const rd_region *r)
{
    const int64_t extent = n->p->axis_extent[r->axis];

    if (n->root == r->axis || rd_reach(n->p, r->axis) != extent || rd_clusters_along(n, r) >= 0)
        return -1;
    return (int32_t)(extent % r->width);
}

void rd_size_region(const rd_codegen *n, rd_region *r)
{
    const int64_t reach = rd_reach(n->p, r->axis);

    if (rd_has_wholes(n, r)) {
        r->fixed = r->one = reach <= SHORT;
        r->width          = r->one ? (int32_t)reach : WIDE;
    } else if (rd_has_lanes(n, r)) {
        r->width = lanes_in(n, r);
        r->fixed = true;
        r->one   = reach <= r->width && n->root != r->axis && reach == n->p->axis_extent[r->axis];
        r->width = r->one ? (int32_t)reach : r->width;
    } else if (reach <= SHORT && n->root != r->axis) {
        r->width = (int32_t)reach;
        r->fixed = r->one = n->p->axis_extent[r->axis] == r->width;
        r->wide =
            n->whole && streams(n, r); /* few rows go together: their states stay in registers */
    } else if (is_pairs(n, r)) {
        r->width = n->vector / (int32_t)sizeof(float);
        r->fixed = true;
    } else if (streams(n, r) && !has_lanes_of_cells(n, r)) {
        r->width  = wide_width(n, r);
        r->wide   = true;
        r->arrays = bytes_kept(n, r) > 0;
    } else if (has_block_calls(n, r) || (rd_any_goes_past(n, r) && !is_cut(n, r))) {
        r->width  = has_block_calls(n, r) ? CALLED : PAST;
        r->arrays = true;
    } else {
        r->width = has_labels(n, r) && reach < 64 ? (int32_t)reach : 64;
        r->fixed = true;
    }
    r->rest = rest_of(n, r);
}
