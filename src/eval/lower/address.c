/* address.c - turns subscripts into addresses: slots, strides in storage, and positions of
 * reductions.
 *
 * A slot is a piece of memory that programs address.  An address is an offset in a slot plus a
 * sum of coefficients times loop indices.  A cell is one result of a reduction, with the state
 * that it has so far.  An axis is local to a tile loop if its index counts from the start of the
 * tile's range.
 *
 * Fields. `group` is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a
 * sorted row, -1: none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "eval/lower/lower.h"
#include <string.h>

/* The extent of a loop axis. */
static int64_t extent(const rd_lowering *l, int axis)
{
    return l->graph->axis[axis].extent;
}

/* Adds an address to the program; its number, -1 without memory. */
int rd_new_address(rd_lowering *l, const rd_address *address)
{
    rd_address *a =
        rd_push(l, (void **)&l->p->address, l->p->n_address, &l->room_address, sizeof *a);

    if (!a)
        return -1;
    *a = *address;
    return l->p->n_address++;
}

/* Adds a term (coefficient times a loop index or a register) to an address; one that it has
 * already gets the sum of both coefficients. Too many terms are recorded as RD_ERR_LIMIT, and set
 * l->failed. `axis` is a loop, -1: the term is register `reg`; `local`: the index counts from
 * the start of the loop's range. */
static void add_addend(rd_lowering *l, rd_address *a, rd_addend term)
{
    if (term.coef == 0)
        return;
    for (int i = 0; i < a->n_add; i++)
        if (a->add[i].axis == term.axis && a->add[i].reg == term.reg &&
            a->add[i].local == term.local) {
            a->add[i].coef += term.coef;
            return;
        }
    if (a->n_add == RD_MAX_TERMS) {
        rd_fail(l->graph->ctx, RD_ERR_LIMIT,
                "%s: an element's address depends on more than %d axes",
                rd_call_name(l->graph->ctx), RD_MAX_TERMS);
        l->failed = true;
        return;
    }
    a->add[a->n_add++] = term;
}

/* Adds stride * subscript to an address. A gathered index is added by the register that holds it.
 * local: axes whose index counts from the start of the current range of a tile loop, as scratch
 * memory holds only that range. l->reg[value] is the register of a value. */
static void add_subscript(rd_lowering *l, rd_address *a, const rd_subscript *at, int64_t stride,
                          rd_set local)
{
    a->offset += stride * at->offset;
    for (int t = 0; t < at->n_term; t++) {
        const rd_subscript_term *term = &at->term[t];

        if (term->axis >= 0)
            add_addend(l, a,
                       (rd_addend){ term->axis, /*reg=*/-1, rd_in(local, term->axis),
                                    stride * term->coef });
        else
            add_addend(l, a,
                       (rd_addend){ /*axis=*/-1, l->reg[term->value], /*local=*/false,
                                    stride * term->coef });
    }
}

/* ---- Storage --------------------------------------------------------------------------------- */
/* The number of indices of an axis that storage h holds: those of a range if a tile loop over the
 * axis is around h's scope (its storage scope), else the whole extent. */
static int64_t room_of(const rd_lowering *l, const rd_storage *h, int axis)
{
    for (const rd_loop_scope *s = h->scope; s->parent; s = s->parent)
        if (s->tile && s->axis == axis)
            return s->step;
    return extent(l, axis);
}

/* The stride in elements of dim d of value v in its storage. A result has the caller's; else it is
 * the product of the numbers of indices stored along all inner dims. 0: it is not stored along
 * d. m->store is the caller's address of a result, h->stored the set of axes that the storage
 * has; rd_is_inner_dim() says that dim k lies inside dim d, and room_of() counts the indices
 * stored along it. */
static int64_t storage_stride(const rd_lowering *l, int v, int d)
{
    const rd_value   *m      = &l->graph->value[v];
    const rd_storage *h      = &l->tree->storage[v];
    int64_t           stride = 1;

    if (h->keep == RD_KEEP_OUTPUT) {
        for (int t = 0; t < m->store->n_term; t++)
            if (m->store->term[t].axis == m->dim[d])
                return m->store->term[t].coef;
        return 0;
    }
    if (!rd_in(h->stored, m->dim[d]))
        return 0;
    for (int k = m->n_dim; k-- > 0;)
        if (rd_is_inner_dim(m, k, d) && rd_in(h->stored, m->dim[k]))
            stride *= room_of(l, h, m->dim[k]);
    return stride;
}

/* The address of a value's storage at index 0 of all axes, to which terms are added. A result has
 * an offset in the caller's memory. */
static rd_address storage(const rd_lowering *l, int v)
{
    const rd_value *m = &l->graph->value[v];

    return (rd_address){ .slot = l->slot[v],
                         .type = m->type,
                         .offset =
                             l->tree->storage[v].keep == RD_KEEP_OUTPUT ? m->store->offset : 0 };
}

/* The set of dim d's axis if v's scratch memory holds only the range of a tile loop along it, so
 * that its index counts from the start of the range; else the empty set. */
static rd_set local_axis(const rd_lowering *l, int v, int d)
{
    const rd_storage *h = &l->tree->storage[v];

    return h->keep == RD_KEEP_SCRATCH
               ? h->scope->tile_ranged_axes & rd_bit(l->graph->value[v].dim[d])
               : 0;
}

/* The address of an element of stored value v at subscripts of its dims. A dense array has one
 * flat index instead. storage() is the address of the memory, without indices. */
static rd_address stored_at(rd_lowering *l, int v, const rd_subscript *at)
{
    const rd_value *m = &l->graph->value[v];
    rd_address      a = storage(l, v);

    if (m->dense) {
        add_subscript(l, &a, at, /*stride=*/1, /*local=*/0); /* one flat index */
        return a;
    }
    for (int d = 0; d < m->n_dim; d++)
        add_subscript(l, &a, &at[d], storage_stride(l, v, d), local_axis(l, v, d));
    return a;
}

/* The address of what a READ reads: in the array of another value (target >= 0), or in a leaf's
 * slot. For a loop index used as a value (COORD, slot -1) it is the index itself, as a sum of
 * terms. */
rd_address rd_read_address(rd_lowering *l, const rd_value *v)
{
    rd_address a = { .slot = v->slot, .type = v->kind == RD_VALUE_COORD ? RD_I64 : v->type };

    if (v->target >= 0)
        return stored_at(l, v->target, v->at);
    if (v->slot >= 0)
        a.type = l->graph->slot[v->slot].type;
    add_subscript(l, &a, &v->at[0], /*stride=*/1, /*local=*/0);
    return a;
}

/* The address at which value v is stored at the current loop indices. A part of a concatenation
 * (into >= 0) is stored in the array of its JOIN value, which stands for the whole; a result in
 * the caller's memory. storage() is the address of the memory, without indices; m->store is the
 * subscript of the caller's memory; `self` is the loop index of dim d. */
rd_address rd_store_address(rd_lowering *l, int v)
{
    const rd_value *m = &l->graph->value[v];
    rd_address      a = storage(l, v);

    if (m->into >= 0)
        return stored_at(l, m->into, m->at);
    if (l->tree->storage[v].keep == RD_KEEP_OUTPUT) {
        add_subscript(l, &a, m->store, /*stride=*/1, /*local=*/0);
        a.offset = m->store->offset;
    } else
        for (int d = 0; d < m->n_dim; d++) {
            rd_subscript self = { .n_term = 1,
                                  .term   = { { m->dim[d], /*value=*/-1, /*coef=*/1 } } };

            add_subscript(l, &a, &self, storage_stride(l, v, d), local_axis(l, v, d));
        }
    return a;
}

/* The bytes of value v's scratch memory: along each stored axis the indices of a tile's range, or
 * all. INT64_MAX if there are too many. */
static int64_t storage_bytes(const rd_lowering *l, int v)
{
    const rd_value *m     = &l->graph->value[v];
    int64_t         bytes = rd_dtype_size(m->type);

    for (int d = 0; d < m->n_dim; d++)
        if (rd_in(l->tree->storage[v].stored, m->dim[d]))
            bytes = rd_bytes_times(bytes, room_of(l, &l->tree->storage[v], m->dim[d]));
    return bytes;
}

/* True after recording that a size exceeds 63 bits; `what` says for what. */
static bool is_too_large(rd_lowering *l, int64_t bytes, const char *what)
{
    if (bytes < INT64_MAX)
        return false;
    rd_fail(l->graph->ctx, RD_ERR_MEMORY, "%s: no memory for %s: its bytes exceed 63 bits",
            rd_call_name(l->graph->ctx), what);
    return l->failed = true;
}

/* Adds a slot of scratch memory (temporary memory of one task) of so many bytes to the program.
 * Returns the slot's number; -1 on failure. */
int rd_scratch_of_bytes(rd_lowering *l, int64_t bytes)
{
    int64_t *made =
        rd_push(l, (void **)&l->p->scratch_bytes, l->p->n_scratch, &l->room_scratch, sizeof *made);

    if (!made || is_too_large(l, bytes, "a row that is kept between two loops"))
        return -1;
    *made = bytes;
    return l->p->first_scratch + l->p->n_scratch++;
}

/* Adds a slot of scratch memory (temporary memory of one task) for value v to the program. Returns
 * the slot's number; -1 on failure. */
int rd_new_scratch(rd_lowering *l, int v)
{
    return rd_scratch_of_bytes(l, storage_bytes(l, v));
}

/* Gives each result and each array between stages a slot (a piece of memory that programs
 * address). slot[v] is -1 for all other values, and for parts of a concatenation, which are stored
 * in its JOIN's slot. False if an array exceeds 63 bits of bytes, or without memory. h->keep
 * says where a value is kept: RD_KEEP_OUTPUT in the caller's memory, RD_KEEP_ARRAY between
 * stages. */
bool rd_assign_slots(rd_graph *g, const rd_tree *tree, int32_t *slot)
{
    rd_slot *more = rd_pool_grow(g->pool, g->slot, (size_t)g->n_slot,
                                 (size_t)g->n_slot + (size_t)g->n_value + 1, sizeof *more);

    if (!more)
        return false;
    g->slot = more;
    for (int v = 0; v < g->n_value; v++) {
        rd_value         *m = &g->value[v];
        const rd_storage *h = &tree->storage[v];

        slot[v] = -1;
        if ((h->keep != RD_KEEP_OUTPUT && h->keep != RD_KEEP_ARRAY) || m->into >= 0)
            continue;
        slot[v]       = g->n_slot++;
        more[slot[v]] = (rd_slot){ .kind   = m->out >= 0 ? RD_SLOT_OUTPUT : RD_SLOT_ARRAY,
                                   .type   = m->type,
                                   .result = m->out };
        if (m->out < 0) {
            int64_t points = rd_points_of(g, h->stored), size = rd_dtype_size(m->type);

            if (points > INT64_MAX / size) {
                rd_fail(g->ctx, RD_ERR_MEMORY,
                        "%s: no memory for an array of %lld elements between two passes",
                        rd_call_name(g->ctx), (long long)points);
                return false;
            }
            more[slot[v]].bytes = points * size;
        }
    }
    return true;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Sets *at to the flat C-order index over axes order[0..n), outermost first, as a sum of terms;
 * returns the number of positions. */
static int64_t position(const rd_lowering *l, const int32_t *order, int n, rd_address *at)
{
    int64_t weight = 1;

    *at = (rd_address){ .slot = -1, .type = RD_I64 };
    for (int k = n; k-- > 0; weight *= extent(l, order[k]))
        at->add[at->n_add++] = (rd_addend){ order[k], /*reg=*/-1, /*local=*/false, weight };
    return weight;
}

/* The first axis of the lane position, along which elements go to the lanes (SIMD accumulators) in
 * turn. If rows along the last axes are whole multiples of the lanes, those axes alone give each
 * element the same lane, as axes before only add whole steps. That suits loops split where parts
 * of a concatenation meet (c->seams). c->order lists the axes, outermost first; from first_lane
 * on they make the lane position. */
static int first_lane_axis(const rd_lowering *l, const rd_combine *c)
{
    int first = c->first_lane;

    for (; c->seams && c->lanes > 1 && first < c->n_order - 1; first++) {
        int64_t n = 1;

        for (int k = first + 1; k < c->n_order; k++)
            n *= extent(l, c->order[k]);
        if (n % c->lanes)
            break;
    }
    return first;
}

/* Computes as sums of loop indices where a reduction's element is in the combine tree: its line
 * position, its position along the lanes (SIMD accumulators), and its flat index. A reverse scan
 * counts line positions from the end. n_block is the number of blocks of each lane, in which
 * the last may be shorter; n_add counts the terms of a sum. */
void rd_fold_positions(const rd_lowering *l, const rd_value *v, rd_fold *f)
{
    const rd_combine *c     = v->combine;
    const int         first = first_lane_axis(l, c);
    int64_t           line, steps;

    f->lanes       = c->lanes;
    f->steps       = c->steps;
    line           = position(l, c->order, first, &f->lane_line);
    f->lane_extent = position(l, c->order + first, c->n_order - first, &f->lane);
    if (f->scan && f->reverse) {
        f->lane_line.offset = line - 1;
        for (int i = 0; i < f->lane_line.n_add; i++)
            f->lane_line.add[i].coef = -f->lane_line.add[i].coef;
    }
    /* steps of each lane in all */
    steps      = line * ((f->lane_extent + c->lanes - 1) / c->lanes);
    f->n_block = steps == 0 ? 0 : (steps - 1) / c->steps + 1;
    f->index   = (rd_address){ .slot = -1, .type = RD_I64, .offset = c->index.offset };
    for (int t = 0; t < c->index.n_term; t++)
        f->index.add[f->index.n_add++] = (rd_addend){ c->index.term[t].axis, /*reg=*/-1,
                                                      /*local=*/false, c->index.term[t].coef };
}

/* The axes along which a reduction has several cells (accumulators of results) at a time: those of
 * its result that have more than one index in scope `parent`, where it begins. A scan's own axis
 * and the axis of a reducer's outputs do not count. */
static rd_set cell_axes(const rd_value *v, const rd_loop_scope *parent)
{
    rd_set axes = v->axes & ~parent->single_index_axes;

    if (v->kind == RD_VALUE_SCAN)
        axes &= ~v->reduced;
    return v->inner >= 0 ? axes & ~rd_bit(v->inner) : axes;
}

/* Lists the axes along which reduction i has several cells (accumulators of results) at a time,
 * outermost first, in the order of the loops around it. So cells that are used in turn are
 * contiguous. Axes without such a loop come first. Returns how many. cell_axes() is the set;
 * `where` is the scope in which the reduction stands, and `parent` the one that all of it lies
 * in. */
int rd_cell_axes(const rd_lowering *l, int i, const rd_loop_scope *parent, int *order)
{
    rd_set axes = cell_axes(&l->graph->value[i], parent);
    int    n    = 0, back[RD_MAX_AXES]; /* the list from the inside out */

    for (const rd_loop_scope *s = l->tree->storage[i].where; s && s != parent; s = s->parent)
        if (s->axis >= 0 && rd_in(axes, s->axis)) {
            back[n++] = s->axis;
            axes &= ~rd_bit(s->axis);
        }
    for (int a = l->graph->n_axis; a-- > 0;)
        if (rd_in(axes, a))
            back[n++] = a;
    for (int k = 0; k < n; k++)
        order[k] = back[n - 1 - k];
    return n;
}

/* Computes the number of cells (accumulators of results) of a reduction that begins in scope
 * `parent`, and which of them belongs to the current indices, as a sum of terms. If a tile loop
 * around limits an axis to a range (ranged), cells are only for that range, and the index counts
 * from its start. */
void rd_cell_address(rd_lowering *l, int i, const rd_loop_scope *parent, rd_fold *f)
{
    int        order[RD_MAX_AXES];
    rd_storage here = { .scope = (rd_loop_scope *)parent };

    f->cell   = (rd_address){ .slot = -1, .type = RD_I64 };
    f->n_cell = 1;
    for (int n = rd_cell_axes(l, i, parent, order); n-- > 0;) {
        add_addend(l, &f->cell,
                   (rd_addend){ order[n], /*reg=*/-1, rd_in(parent->tile_ranged_axes, order[n]),
                                f->n_cell });
        f->n_cell = rd_bytes_times(f->n_cell, room_of(l, &here, order[n]));
    }
    is_too_large(l, f->n_cell, "the partial results of a reduction");
}
