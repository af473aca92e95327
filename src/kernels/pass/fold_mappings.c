/* fold_mappings.c - Decides how the neighbours in a strip map to the accumulators of a fold, and
 * which loops of a region are unrolled.
 *
 * A strip is a range of neighbouring indices of one axis.  A region is a loop, or a body of loops:
 * its loops over that axis share one loop over strips.  A cell is an accumulator of a fold; it
 * has one state for each lane, and elements go to the lanes in turn.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. A slot is a buffer
 * that a program reads or writes. */
#include "kernels/pass/fission_points.h"
#include "kernels/pass/strip_at.h"

/* A loop of at most 12 statements is unrolled if it has up to 16 rounds, a longer one up to 8. */
enum { FEW_ELEMENTS = 16, FEW_STATEMENTS = 12, FEW_OF_MANY = 8 };

/* ---- Statements of a fold -------------------------------------------------------------------- */
/* Returns the first statement of the fold in the region (loops that share strips) that is of one of
 * these kinds; -1: there is none. `kinds` is a sum of RD_KIND_BIT()s, one bit for each kind.
 * RD_EACH_IN visits the region's statements. */
static int32_t find_stmt(const rd_strip_at *r, int32_t fold, uint64_t kinds)
{
    RD_EACH_IN (r, s)
        if (r->t->stmt[s].fold == fold && RD_KIND_BIT(r->t->stmt[s].kind) & kinds)
            return s;
    return -1;
}

/* True if a loop over the strips' axis (along which vector loops go) stands around the statement,
 * within the region (loops that share strips). */
bool rd_stands_along(const rd_strip_at *r, int32_t stmt)
{
    for (int32_t s = r->t->stmt[stmt].parent; s != r->top && s >= 0; s = r->t->stmt[s].parent)
        if (r->t->stmt[s].kind == RD_S_LOOP && rd_loop_of(r->t, s)->axis == r->axis)
            return true;
    return false;
}

/* True if the BEGIN of the fold, which resets its states (accumulators), stands in the loop. */
bool rd_fold_begins_in(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* True if a fold of the region (loops that share strips) has elements along the axis: its lane
 * (partial accumulator) or step position moves with the axis, so that the axis is reduced or
 * scanned. rd_coef() is the factor of the axis in a position of the program. */
static bool has_steps_along(const rd_strip_at *r)
{
    for (int32_t k = 0; k < r->t->p->n_fold; k++)
        if (find_stmt(r, k, RD_KIND_BIT(RD_S_STEP) | RD_KIND_BIT(RD_S_PREFIX)) >= 0 &&
            (rd_coef(&r->t->p->fold[k].lane, r->axis) ||
             rd_coef(&r->t->p->fold[k].lane_line, r->axis)))
            return true;
    return false;
}

/* True if a loop in the region (loops that share strips) visits a list of index ranges (a block
 * mask) that clusters along the strips' axis (along which vector loops go) select, and no fold goes
 * along that axis. Only loops of the program (of >= 0) have bounds; list_at is the address of the
 * clusters, -1: no list. The address of the clusters has one addend, whose axis is theirs. */
bool rd_has_clusters(const rd_strip_at *r)
{
    const rd_program *p = r->t->p;

    RD_EACH_IN (r, s) {
        const int32_t of = r->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(r->t, s)->program_loop : -1;
        const rd_bounds *b = of >= 0 ? p->loop[of].bounds : NULL;

        if (b && b->list_at >= 0 && p->address[b->list_at].add[0].axis == r->axis)
            return !has_steps_along(r);
    }
    return false;
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* Returns the LOAD that the statement makes; NULL: it is another statement. */
static const rd_tree_value *load_of(const rd_strip_at *r, int32_t stmt)
{
    const rd_stmt *s = &r->t->stmt[stmt];

    return s->kind == RD_S_LET && r->t->let[s->value].kind == RD_I_LOAD ? &r->t->let[s->value]
                                                                        : NULL;
}

/* True if the program stores to this slot (array of its memory). */
static bool is_stored(const rd_schedule *t, int32_t slot)
{
    return rd_program_accesses(t->p, RD_I_STORE, slot);
}

/* True if a term of the address is a value (axis < 0) that is made in a loop over the strips' axis
 * (along which vector loops go): each element's index is read from memory or computed. */
static bool is_gather(const rd_strip_at *r, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term  = &r->t->term[at->first + k];
        int32_t               maker = term->axis < 0 ? r->t->let[term->value].made_by : -1;

        for (; maker >= 0; maker = r->t->stmt[maker].parent)
            if (r->t->stmt[maker].kind == RD_S_LOOP && rd_loop_of(r->t, maker)->axis == r->axis &&
                rd_loop_of(r->t, maker)->step == 1)
                return true;
    }
    return false;
}

/* True if each term of the address is the index of an axis of the program, no value and no mark. A
 * loop must visit an axis other than the strips' as a whole (rd_most_indices: the most indices that
 * it visits at a time), so that a packed copy has all elements that are read again. */
static bool is_plain(const rd_strip_at *r, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const int32_t axis = r->t->term[at->first + k].axis;

        if (axis < 0 || axis >= r->t->p->n_axis ||
            (axis != r->axis && rd_most_indices(r->t->p, axis) != r->t->p->axis_extent[axis]))
            return false;
    }
    return true;
}

/* Returns the outermost loop within the region (loops that share strips) whose rounds all read the
 * same elements of a strided load; -1: none. They are then packed once before that loop. Going
 * outwards, it stops where the packed elements of 64 indices would exceed 28 KB, most of a
 * first-level cache. Loads with stride 0 or 1 need no packing. A loop that moves the address
 * multiplies the packed elements. It may stand only inside of the loop found, and must visit single
 * indices. The program must not store to the memory, and positions must follow from whole axes
 * alone (is_plain). */
int32_t rd_loop_of_rereads(const rd_strip_at *r, int32_t stmt)
{
    enum { MOST_BYTES = 28 << 10, STRIP = 64 };
    const rd_tree_value *load = load_of(r, stmt);
    const int64_t        coef = load ? rd_linear_coef(r->t, &load->at, r->axis) : 0;
    int64_t              bytes =
        load ? /* of packed elements */ STRIP * (int64_t)rd_register_size(load->type) : 0;
    int32_t found = -1;

    if (!load || coef == 0 || coef == 1 || is_stored(r->t, load->slot) || !is_plain(r, &load->at))
        return -1;
    for (int32_t s = r->t->stmt[stmt].parent; s != r->top && s >= 0; s = r->t->stmt[s].parent) {
        const rd_for *loop = r->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(r->t, s) : NULL;

        if (!loop || loop->axis == r->axis)
            continue;
        if (rd_linear_coef(r->t, &load->at, loop->axis) == 0)
            found = s;
        else if (loop->step != 1 || found >= 0 || (bytes *= loop->extent) > MOST_BYTES)
            break;
    }
    return found;
}

/* True if the elements of a load are gathered or strided along the axis, or are f16, which vectors
 * convert strip by strip. False if a loop reads them again, as pass `pack_rereads` packs those.
 * Stride 0 or 1 needs none. */
bool rd_needs_packing(const rd_strip_at *r, int32_t stmt)
{
    const rd_tree_value *load = load_of(r, stmt);
    const int64_t        coef = load ? rd_linear_coef(r->t, &load->at, r->axis) : 0;

    if (!load || rd_loop_of_rereads(r, stmt) >= 0)
        return false;
    return is_gather(r, &load->at) || (coef != 1 && coef != 0) || (load->type == RD_F16 && coef);
}

/* ---- Loops that are written out -------------------------------------------------------------- */
/* True if the loop reads all of a row of 8 or 16 adjacent elements (n: the distance of rows),
 * which compilers load as vectors and separate by halves. */
static bool is_whole_row_load(const rd_strip_at *r, int32_t loop, const rd_linear *at, int64_t n)
{
    const rd_for *l = rd_loop_of(r->t, loop);

    return (n == 8 || n == 16) && l->extent == n && rd_linear_coef(r->t, at, l->axis) == 1;
}

/* True if neighbours of the strip (a range that vector loops visit) are so far apart in memory
 * (more than 4 elements, or backwards) that they would be loaded one by one. Up to 4 interleaved
 * rows compilers load as vectors and separate. */
static bool is_far(const rd_strip_at *r, int32_t loop, int32_t stmt)
{
    const rd_tree_value *load = load_of(r, stmt);
    const int64_t        coef = load ? rd_linear_coef(r->t, &load->at, r->axis) : 0;

    return load && rd_loop_of_rereads(r, stmt) < 0 &&
           (coef < 0 || (coef > 4 && !is_whole_row_load(r, loop, &load->at, coef)));
}

/* True if the statement can stand in an unrolled loop within the strip (a range that vector loops
 * visit). It is no begin or end of a fold, no call and no checked index, and no load of far
 * elements. `step_loop` is the program's loop along the fold's steps: if it is the loop itself,
 * blocks of the fold may not end in it (`blocks`: there are several). */
static bool can_be_unrolled(const rd_strip_at *r, int32_t loop, int32_t stmt)
{
    const rd_stmt      *s  = &r->t->stmt[stmt];
    const rd_loop_fold *f  = &r->t->fold[s->fold >= 0 ? s->fold : 0]; /* fold < 0: not used */
    const int32_t       of = rd_loop_of(r->t, loop)->program_loop;

    switch (s->kind) {
    case RD_S_LOOP: return rd_loop_of(r->t, stmt)->axis == r->axis;
    case RD_S_BEGIN:
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES:
    case RD_S_FINISH: return false;
    /* not if the loop itself ends blocks of the fold */
    case RD_S_STEP: return !rd_stmt_needs_fission(r->t, stmt) && !(f->step_loop == of && f->blocks);
    case RD_S_PREFIX: /* a scan by a tree needs constant positions */
        return !(f->step_loop == of && f->blocks) && !(f->levels && f->step_loop != of);
    case RD_S_LET:
        return !rd_stmt_needs_fission(r->t, stmt) && r->t->let[s->value].kind != RD_I_INDEX &&
               !is_far(r, loop, stmt);
    default: return true;
    }
}

/* Returns the size of the loop in instructions of the program: a loop counts 2 (its begin and its
 * end), what ends a fold 1 in all (at its FINISH), and any other statement 1. */
static int32_t count_statements(const rd_schedule *t, int32_t loop)
{
    int32_t n = 1;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        n += t->stmt[s].kind == RD_S_LOOP ? 2
             : t->stmt[s].kind == RD_S_PUSH_IF_LAST || t->stmt[s].kind == RD_S_MERGE_BLOCKS ||
                     t->stmt[s].kind == RD_S_MERGE_LANES
                 ? 0
                 : 1;
    return n;
}

/* True if the loop's n rounds store to adjacent places for one element of the strip (a range that
 * vector loops visit), and compilers do not vectorise groups of n. They do so only for n = 3 and
 * powers of 2. */
static bool is_group_without_vectors(const rd_strip_at *r, int32_t loop, int32_t stmt)
{
    const rd_stmt *s = &r->t->stmt[stmt];
    const int64_t  n = rd_loop_of(r->t, loop)->extent;

    return s->kind == RD_S_STORE && n != 3 && (n & (n - 1)) != 0 &&
           rd_linear_coef(r->t, &s->at, rd_loop_of(r->t, loop)->axis) != 0;
}

/* True if the loop is unrolled within the strip (a range that vector loops visit): it has few
 * rounds, which are all of an axis of the program, and each of its statements can be unrolled. Not
 * if tasks share its axis (root), as the rounds of a task are known only at run time, nor if it is
 * a sparse row (rd_is_sparse_row). A loop of many statements may have fewer rounds. */
bool rd_unrolls_loop(const rd_strip_at *r, int32_t loop)
{
    const rd_for *l    = rd_loop_of(r->t, loop);
    const int32_t most = count_statements(r->t, loop) > FEW_STATEMENTS ? FEW_OF_MANY : FEW_ELEMENTS;

    if (l->kind != RD_FOR_SERIAL || l->step != 1 || l->program_loop < 0 ||
        rd_is_sparse_row(&r->t->p->loop[l->program_loop]) || l->axis == r->axis ||
        l->extent > most || r->t->p->axis_extent[l->axis] != l->extent ||
        (!r->t->whole && r->t->p->root == l->axis))
        return false;
    for (int32_t s = rd_next_stmt(r->t, loop, loop); s >= 0; s = rd_next_stmt(r->t, s, loop))
        if (!can_be_unrolled(r, loop, s) || is_group_without_vectors(r, loop, s))
            return false;
    return true;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* True if the load needs packing, and a loop of its own will do it. Loads in a loop over another
 * axis are not packed if that loop is unrolled; loops around the fold's BEGIN do not count. */
static bool is_packed(const rd_strip_at *r, int32_t stmt, int32_t begin)
{
    for (int32_t s = r->t->stmt[stmt].parent; s != r->top && !rd_stands_in(r->t, begin, s);
         s         = r->t->stmt[s].parent)
        if (r->t->stmt[s].kind == RD_S_LOOP && rd_loop_of(r->t, s)->axis != r->axis)
            return false;
    return rd_needs_packing(r, stmt);
}

/* Returns the last statement that an element reaches on its way through the fold: the FINISH of a
 * reduction. A scan has none: the loop along its steps, or if there is no loop its PREFIX. */
static int32_t last_stmt_of_fold(const rd_strip_at *r, int32_t fold)
{
    const int32_t finish = find_stmt(r, fold, RD_KIND_BIT(RD_S_FINISH)),
                  along  = r->t->fold[fold].step_loop;

    for (int32_t s = finish < 0 ? r->top : -1; s >= 0; s = rd_next_stmt(r->t, s, r->top))
        if (s != r->top && r->t->stmt[s].kind == RD_S_LOOP && along >= 0 &&
            rd_loop_of(r->t, s)->program_loop == along)
            return s;
    return finish >= 0 ? finish : find_stmt(r, fold, RD_KIND_BIT(RD_S_PREFIX));
}

/* True if the statement can stand in the same vector loop as the statements before and behind it:
 * no call and no packed load splits the loop there. A loop must be over the strip's axis, so that
 * it vanishes, or be unrolled. */
static bool is_in_one_round(const rd_strip_at *r, int32_t stmt, int32_t begin)
{
    if (rd_stmt_needs_fission(r->t, stmt) || (load_of(r, stmt) && is_packed(r, stmt, begin)))
        return false;
    return r->t->stmt[stmt].kind != RD_S_LOOP || rd_loop_of(r->t, stmt)->axis == r->axis ||
           rd_unrolls_loop(r, stmt);
}

/* True if the fold begins and ends in one round of a vector loop: so for each statement from its
 * BEGIN to the last one that an element reaches, with the body of that. */
static bool is_complete_in_round(const rd_strip_at *r, int32_t fold, int32_t begin)
{
    const int32_t last   = last_stmt_of_fold(r, fold);
    bool          passed = false;

    for (int32_t s = begin; s >= 0; s = rd_next_stmt(r->t, s, r->top)) {
        if (passed && !rd_stands_in(r->t, s, last))
            break;
        passed |= s == last;
        if (!is_in_one_round(r, s, begin))
            return false;
    }
    return true;
}

/* For each fold with steps in the region (loops that share strips), says how neighbours in a strip
 * map to accumulators. in_order: they step one after the other. lanes: they are lanes (partial
 * accumulators) of a cell, as the lane moves with the axis and the fold begins outside. cells: else
 * each has a cell. inner: a fold of one block begins and ends in one round of a vector loop.
 * begins: its BEGIN stands in the region. rd_needs_serial_steps() is asked only where the region is
 * itself the loop over the axis (not `top_is_body`). */
void rd_find_fold_mappings(const rd_strip_at *r, rd_fold_in_strip *fold)
{
    for (int32_t k = 0; k < r->t->p->n_fold; k++) {
        const int32_t step  = find_stmt(r, k, RD_KIND_BIT(RD_S_STEP) | RD_KIND_BIT(RD_S_PREFIX));
        const int32_t begin = find_stmt(r, k, RD_KIND_BIT(RD_S_BEGIN));

        if (step < 0)
            continue;
        fold[k].in_order = !r->top_is_body && rd_needs_serial_steps(r->t, k, r->top);
        fold[k].lanes    = !fold[k].in_order && begin < 0 &&
                        rd_linear_coef(r->t, &r->t->stmt[step].fold_at.lane, r->axis);
        fold[k].cells  = !fold[k].lanes && !fold[k].in_order;
        fold[k].begins = begin >= 0;
        fold[k].ends_in_round =
            begin >= 0 && !r->t->fold[k].blocks && is_complete_in_round(r, k, begin);
    }
}
