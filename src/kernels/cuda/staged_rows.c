/* staged_rows.c - short rows, of which one thread runs through each, staged in shared memory.
 *
 * Such rows lie one behind the other in memory.  If each thread read its row from there, adjacent
 * threads would read elements a row apart.  So all threads of a block copy the rows of its items
 * to shared memory (copy_staged_rows.c), 16 bytes at a time, and then each thread reads its row
 * there.  Stored rows go the other way.  Scratch of an item is a row, too, which only its thread
 * sees.  bank_layout.c places the rows.
 *
 * An item is one unit of work.  The grid is the loops that number the items.  A slot is a
 * buffer; scratch is temporary memory of the program.
 *
 *     sum of each row, of 100000 x 10 f32: "short rows: 100000 items, 1 thread each, rows of 10 in"
 *
 * Fields. s->pairs is the loop over points that all results read, -1: none. s->transpose has the
 * two loops of a transpose in shared memory, -1: none. s->neighbour_axis is the axis of which
 * `width` neighbours are one item, -1: none. */
#include "kernels/cuda/strategy.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Returns the address that a LOAD or STORE instruction uses. */
static const rd_address *address_of(const rd_cuda_strategy *s, int32_t inst)
{
    return &s->p->address[s->p->inst[inst].arg];
}

/* Returns the stride of an address along loop number `grid` of the grid (the loops whose indices
 * are work items), in elements. */
static int64_t coef_of(const rd_cuda_strategy *s, const rd_address *at, int32_t grid)
{
    return rd_coef(at, s->p->loop[s->grid[grid]].axis);
}

/* True if the address moves by one constant step from item to item, if the first `outer` loops
 * of the grid are counted as one: each stride is the next one times that loop's extent. The grid
 * is the loops whose indices are work items. */
static bool is_linear(const rd_cuda_strategy *s, const rd_address *at, int32_t outer)
{
    bool linear = coef_of(s, at, outer - 1) != 0;

    for (int32_t g = 1; g < outer; g++)
        linear &= coef_of(s, at, g - 1) == coef_of(s, at, g) * s->p->loop[s->grid[g]].extent;
    return linear;
}

/* True if the loop is one of the first `outer` loops of the grid (the loops whose indices are
 * work items). Each of their indices has a row of its own. */
static bool is_outer(const rd_cuda_strategy *s, int32_t loop, int32_t outer)
{
    for (int32_t g = 0; g < outer; g++)
        if (s->grid[g] == loop)
            return true;
    return false;
}

/* Finds a row's first element and its length: what an access touches for one index of the outer
 * loops, over all other loops around it. `far` is how far such a loop moves the address; below
 * 0: backwards. */
static void measure(const rd_cuda_strategy *s, int32_t inst, rd_cuda_staged_row *r)
{
    const rd_address *at = address_of(s, inst);
    int64_t           last;

    r->first = last = at->offset;
    r->n            = 1;
    for (int32_t loop = s->p->inst[inst].loop; loop >= 0; loop = s->p->loop[loop].parent) {
        const int64_t extent = s->p->loop[loop].extent;
        const int64_t far    = rd_coef(at, s->p->loop[loop].axis) * (extent - 1);

        if (is_outer(s, loop, r->outer))
            continue;
        r->n = extent > 0 ? r->n : 0;
        r->first += far < 0 ? far : 0;
        last += far > 0 ? far : 0;
    }
    r->n = r->n ? last - r->first + 1 : 0;
}

/* Finds the rows of an access. The most outer loops of the grid (the loops whose indices are
 * work items) are taken for which rows advance by one step and overlap no other row (n <= step).
 * Indices of the other loops of the grid are items that share a row. False: the access has no
 * such rows, or is a gather. */
static bool find_row(const rd_cuda_strategy *s, int32_t inst, rd_cuda_staged_row *r)
{
    const rd_address *at = address_of(s, inst);

    if (rd_has_registers(at))
        return false;
    *r = (rd_cuda_staged_row){ .slot = at->slot, .type = at->type, .items = 1 };
    for (r->outer = s->n_grid; r->outer > 0; r->outer--) {
        r->step = coef_of(s, at, r->outer - 1);
        measure(s, inst, r);
        if (is_linear(s, at, r->outer) && r->n > 0 && r->n <= llabs(r->step))
            return true;
        r->items *= s->p->loop[s->grid[r->outer - 1]].extent;
    }
    return false;
}

/* True if the rows lie one behind the other in memory, without gaps. */
bool rd_cuda_is_contiguous(const rd_cuda_staged_row *r)
{
    return llabs(r->step) == r->n;
}

/* Returns how many elements of these rows a thread copies at once. */
int32_t rd_cuda_staged_row_vector(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    return s->choice.vector / rd_dtype_size(r->type);
}

/* True if a row is one aligned vector, which its thread loads at once anyway, so that staging
 * gains nothing. Then rows follow each other without gaps, their length is a power of 2, and
 * each item has its own row. */
static bool is_vector(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    return r->step == r->n && r->items == 1 && (r->n & (r->n - 1)) == 0 && r->first % r->n == 0 &&
           r->n <= s->choice.most_wide && r->n <= rd_cuda_staged_row_vector(s, r);
}

/* True if staging in shared memory pays. Neighbouring threads would read more than least_apart
 * bytes from each other, a row is not just one vector, and copying wastes little: the gaps
 * between rows are short, or rows are long. */
static bool is_worthwhile(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    const int32_t size = rd_dtype_size(r->type);

    return llabs(r->step) * size > s->choice.least_apart && !is_vector(s, r) &&
           (llabs(r->step) <= s->choice.most_gap * r->n || r->n * size >= s->choice.least_piece);
}

/* Undoes the choices of this file: no rows are staged. */
static void give_up(rd_cuda_strategy *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->staged_row_of[i] = -1;
    s->staged_row_bytes = 0;
    s->n_staged_row     = 0;
}

/* ---- Rows that are copied -------------------------------------------------------------------- */
/* Returns the number of staged rows that an access can share, -1: there are none. They have the
 * same role, slot (buffer), type and outer loops, and one step holds the elements of both, from
 * `first` to `end`, so that rows do not overlap. */
static int32_t find_same_rows(const rd_cuda_strategy *s, const rd_cuda_staged_row *r)
{
    for (int32_t k = 0; k < s->n_staged_row; k++) {
        const rd_cuda_staged_row *other = &s->staged_row[k];
        const int64_t             first = r->first < other->first ? r->first : other->first;
        const int64_t             end =
            r->first + r->n > other->first + other->n ? r->first + r->n : other->first + other->n;

        if (other->role == r->role && other->slot == r->slot && other->type == r->type &&
            other->outer == r->outer && other->step == r->step && end - first <= llabs(r->step))
            return k;
    }
    return -1;
}

/* Lengthens rows so that they also cover the elements of other rows. */
static void extend(rd_cuda_staged_row *into, const rd_cuda_staged_row *r)
{
    const int64_t end = into->first + into->n, other = r->first + r->n;

    into->first = r->first < into->first ? r->first : into->first;
    into->n     = (other > end ? other : end) - into->first;
}

/* Adds the rows of an access to the staged rows, or lengthens rows that are copied in already.
 * False: there are RD_MOST_STAGED_ROWS. */
static bool add_row(rd_cuda_strategy *s, int32_t inst, const rd_cuda_staged_row *r)
{
    int32_t k = r->role == RD_STAGED_IN ? find_same_rows(s, r) : -1;

    if (k >= 0)
        extend(&s->staged_row[k], r);
    else if (s->n_staged_row == RD_MOST_STAGED_ROWS)
        return false;
    else {
        k                = s->n_staged_row++;
        s->staged_row[k] = *r;
    }
    s->staged_row_of[inst] = k;
    return true;
}

/* True if an instruction loads or stores. */
static bool is_memory(const rd_cuda_strategy *s, int32_t inst)
{
    const rd_inst_kind kind = s->p->inst[inst].kind;

    return kind == RD_I_LOAD || kind == RD_I_STORE;
}

/* True if no other instruction than this store touches its slot (buffer). */
static bool is_only_access(const rd_cuda_strategy *s, int32_t inst)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        if (i != inst && is_memory(s, i) && address_of(s, i)->slot == address_of(s, inst)->slot)
            return false;
    return true;
}

/* True if a store, over the loops around it, writes every element of a row: a loop has stride 1,
 * another one a stride of that loop's extent, and so on. Else copying the row back would write
 * garbage into gaps. */
static bool is_row_filled(const rd_cuda_strategy *s, int32_t inst, const rd_cuda_staged_row *r)
{
    const rd_program *p     = s->p;
    int64_t           dense = 1; /* elements side by side that are known to be written */

    for (bool grows = true; grows && dense < r->n;) {
        grows = false;
        for (int32_t loop = p->inst[inst].loop; loop >= 0 && !grows; loop = p->loop[loop].parent)
            if (!is_outer(s, loop, r->outer) && p->loop[loop].extent > 1 &&
                llabs(rd_coef(address_of(s, inst), p->loop[loop].axis)) == dense) {
                dense *= p->loop[loop].extent;
                grows = true;
            }
    }
    return dense == r->n;
}

/* Finds the rows that are copied to or from global memory. All stores must be staged: in a loop
 * that loads from shared memory, a store of its own moves one element at a time. False: a store
 * cannot be staged, there are too many rows, or staging pays for none. Rows of one element are
 * left out. */
static bool find_moved(rd_cuda_strategy *s)
{
    bool pays = false;

    for (int32_t i = s->from; i < s->to; i++) {
        rd_cuda_staged_row r;

        if (!is_memory(s, i) || address_of(s, i)->slot >= s->p->first_scratch ||
            !find_row(s, i, &r) || r.n == 1)
            continue;
        r.role = s->p->inst[i].kind == RD_I_LOAD ? RD_STAGED_IN : RD_STAGED_OUT;
        /* Not staged: loads of what the program stores, and stores that items share. */
        if (r.role == RD_STAGED_IN ? s->stored[r.slot] : r.items > 1)
            continue;
        if ((r.role == RD_STAGED_OUT && !(is_only_access(s, i) && is_row_filled(s, i, &r))) ||
            !add_row(s, i, &r))
            return false;
        pays |= is_worthwhile(s, &r);
    }
    return pays;
}

/* Stages loads of single elements, too, if they lie in rows that are staged for other loads:
 * then the rows are read from global memory only once. */
static void find_singles(rd_cuda_strategy *s)
{
    for (int32_t i = s->from; i < s->to; i++) {
        rd_cuda_staged_row r;

        if (s->p->inst[i].kind == RD_I_LOAD && s->staged_row_of[i] < 0 &&
            address_of(s, i)->slot < s->p->first_scratch && find_row(s, i, &r) &&
            find_same_rows(s, &r) >= 0)
            (void)add_row(s, i, &r);
    }
}

/* ---- Rows of scratch ------------------------------------------------------------------------- */
/* True if a scratch slot (temporary memory) is an item's own: only instructions of the item's
 * body touch it, all with one type, at the same place for every item. Then *r describes it as a
 * row: all of that scratch. */
static bool is_of_item(const rd_cuda_strategy *s, int32_t slot, rd_cuda_staged_row *r)
{
    *r = (rd_cuda_staged_row){ .role = RD_STAGED_SCRATCH, .slot = slot, .items = 1 };
    for (int32_t i = 0; i < s->p->n_inst; i++) {
        if (!is_memory(s, i) || address_of(s, i)->slot != slot)
            continue;
        const rd_address *at = address_of(s, i);

        if (i < s->from || i >= s->to || (r->n > 0 && at->type != r->type))
            return false;
        for (int32_t g = 0; g < s->n_grid; g++)
            if (coef_of(s, at, g))
                return false;
        r->type = at->type;
        r->n    = s->p->scratch_bytes[slot - s->p->first_scratch] / rd_dtype_size(at->type);
    }
    return r->n > 0;
}

/* Finds scratch (temporary memory) that becomes a row of each thread in shared memory, as long
 * as the list has room. */
static void find_kept(rd_cuda_strategy *s)
{
    for (int32_t k = 0; k < s->p->n_scratch && s->n_staged_row < RD_MOST_STAGED_ROWS; k++) {
        const int32_t      slot = s->p->first_scratch + k;
        rd_cuda_staged_row r;

        if (!is_of_item(s, slot, &r))
            continue;
        for (int32_t i = s->from; i < s->to; i++)
            if (is_memory(s, i) && address_of(s, i)->slot == slot)
                s->staged_row_of[i] = s->n_staged_row;
        s->staged_row[s->n_staged_row++] = r;
    }
}

/* True if a block of threads copies any rows between global and shared memory. Scratch rows,
 * which it does not copy, come last in the list. */
bool rd_cuda_has_moved_rows(const rd_cuda_strategy *s)
{
    return s->n_staged_row > 0 && s->staged_row[0].role != RD_STAGED_SCRATCH;
}

/* True if one thread does an item, and no other special strategy is in use: neighbours in an
 * item, chunks, a transpose, pairs, split loops. */
static bool may_stage(const rd_cuda_strategy *s)
{
    return s->team == 1 && s->neighbour_axis < 0 && s->chunk_loop < 0 && s->transpose[0] < 0 &&
           s->pairs < 0 && s->n_split == 0 && s->n_item > 0;
}

/* Stages short rows in shared memory, if so little is needed that `resident` blocks of threads
 * fit on a multiprocessor. It tries copied rows and scratch (temporary memory) together, then
 * copied rows alone, then scratch alone. */
void rd_cuda_find_staged_rows(rd_cuda_strategy *s, int64_t shared)
{
    static const struct {
        bool moved, kept;
    } attempts[]       = { { true, true }, { true, false }, { false, true } };
    const int64_t most = shared / s->choice.resident;
    bool          fit  = !may_stage(s);

    for (size_t k = 0; !fit && k < sizeof attempts / sizeof *attempts; k++) {
        give_up(s);
        if (attempts[k].moved && find_moved(s))
            find_singles(s);
        else
            give_up(s);
        if (attempts[k].kept)
            find_kept(s);
        rd_cuda_lay_out_staged_rows(s);
        fit = s->staged_row_bytes <= most;
    }
    if (!fit)
        give_up(s);
    for (int32_t k = 0; k < s->n_staged_row; k++)
        if (s->staged_row[k].role == RD_STAGED_SCRATCH)
            s->scratch[s->staged_row[k].slot - s->p->first_scratch] = RD_STORAGE_SHARED;
}

/* Adds the staged rows to the line for people: ", rows of 10 in, 10 out, 11264 bytes". */
void rd_cuda_staged_rows_text(rd_text *to, const rd_cuda_strategy *s)
{
    static const char *const roles[] = {
        [RD_STAGED_IN] = "in", [RD_STAGED_OUT] = "out", [RD_STAGED_SCRATCH] = "kept"
    };

    for (int32_t k = 0; k < s->n_staged_row; k++)
        rd_text_add(to, ", %s%" PRId64 " %s", k ? "" : "rows of ", s->staged_row[k].n,
                    roles[s->staged_row[k].role]);
    if (s->n_staged_row > 0)
        rd_text_add(to, ", %" PRId64 " bytes", s->staged_row_bytes);
}
