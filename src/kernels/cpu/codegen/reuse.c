/* reuse.c - what a strip has at hand and need not read: elements that lie apart and that a loop
 * does not change are collected once before it, side by side (coordinates of pairs); what was just
 * stored is taken from its register. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* Collected elements stay in the first-level cache. */
enum { MOST_BYTES = 28 << 10, STRIP = 64 };

/* ---- Elements that a loop does not change ---------------------------------------------------- */
/* Addends but the strip's are indices of whole axes. */
static bool is_plain(const rd_codegen *n, const rd_address *at, const rd_region *r)
{
    for (int32_t k = 0; k < at->n_add; k++) {
        const int32_t axis = at->add[k].axis;

        if (axis < 0 || at->add[k].local)
            return false;
        if (axis != r->axis && rd_reach(n->p, axis) != n->p->axis_extent[axis])
            return false;
    }
    return true;
}

static bool is_in(const rd_codegen *n, const rd_region *r, int32_t loop)
{
    return loop >= 0 && n->p->loop[loop].begin >= r->from;
}

/* The outermost loop of the region that does not change the address, with all loops around it that
 * do; where what they visit is little. */
int32_t rd_loop_of_reuse(const rd_codegen *n, const rd_region *r, int32_t load)
{
    const rd_inst    *inst  = &n->p->inst[load];
    const rd_address *at    = &n->p->address[inst->arg];
    const int64_t     coef  = rd_coef(at, r->axis);
    int64_t           bytes = STRIP * (int64_t)rd_register_size(inst->type);
    int32_t           found = -1;

    if (inst->kind != RD_I_LOAD || n->stored[at->slot] || coef == 0 || coef == 1 ||
        !is_plain(n, at, r))
        return -1;
    for (int32_t k = n->p->inst[load].loop; is_in(n, r, k); k = n->p->loop[k].parent) {
        const rd_loop *l = &n->p->loop[k];

        if (l->axis == r->axis)
            continue;
        if (rd_coef(at, l->axis) == 0)
            found = k;
        else if (l->kind != RD_LOOP_EACH || found >= 0 || (bytes *= l->extent) > MOST_BYTES)
            break;
    }
    return found;
}

/* Where a collected element lies in its array, by the loops between. */
static rd_address place_of(const rd_codegen *n, int32_t load, int64_t *elements)
{
    const rd_address *at    = &n->p->address[n->p->inst[load].arg];
    rd_address        place = { 0 };

    *elements = rd_strip_room(n);
    for (int32_t k = n->p->inst[load].loop; k != n->reuse[load]; k = n->p->loop[k].parent) {
        const rd_loop *l = &n->p->loop[k];

        if (l->axis == n->here->axis || rd_coef(at, l->axis) == 0)
            continue;
        place.add[place.n_add++] = (rd_addend){ .axis = l->axis, .coef = *elements };
        *elements *= l->extent;
    }
    return place;
}

/* Numbers of the text all, which compilers know. */
static void add_place(rd_codegen *n, rd_text *to, const rd_address *place)
{
    int64_t known = 0;

    for (int32_t k = 0; k < place->n_add; k++) {
        const int32_t  axis = place->add[k].axis;
        const rd_bind *b    = &n->bind[axis];

        if (b->kind != RD_BIND_NUMBER)
            rd_text_add(to, "i%" PRId32 " * %" PRId64 " + ", axis, place->add[k].coef);
        if (b->kind != RD_BIND_INDEX)
            known += b->number * place->add[k].coef;
    }
    rd_text_add(to, "%" PRId64 " + i", known);
}

void rd_add_collected(rd_codegen *n, rd_text *to, int32_t load)
{
    int64_t    elements;
    rd_address place = place_of(n, load, &elements);

    rd_text_add(to, "c%" PRId32 "[", load);
    add_place(n, to, &place);
    rd_text_add(to, "]");
}

/* A loop over the strip of its own, in front of one that may be open: a fold that begins and ends
 * within that one goes on there. */
static void add_loop(rd_codegen *n, int32_t load)
{
    const rd_text before = n->before, inside = n->inside, after = n->after;
    const bool    open  = n->open;
    const int64_t loads = n->loads;
    const int32_t round = n->round;
    rd_text      *to;

    n->before = n->inside = n->after = (rd_text){ 0 };
    n->open                          = false;
    n->loads                         = 0;
    to                               = rd_strip_loop(n);
    rd_text_add(to, " ");
    rd_add_collected(n, to, load);
    rd_text_add(to, " = ");
    rd_add_load(n, to, load);
    rd_text_add(to, ";");
    rd_strip_loop_end(n);
    rd_text_free(&n->before);
    rd_text_free(&n->inside);
    n->before = before;
    n->inside = inside;
    n->after  = after;
    n->open   = open;
    n->loads  = loads;
    n->round  = round;
}

static void collect(rd_codegen *n, int32_t load)
{
    const rd_inst *inst = &n->p->inst[load];
    int64_t        elements;
    rd_address     place = place_of(n, load, &elements);
    rd_bind        kept[RD_MAX_TERMS];

    rd_line(n, "%s c%" PRId32 "[%" PRId64 "] LINES;", rd_register_type(inst->type), load, elements);
    for (int32_t k = 0; k < place.n_add; k++) {
        const int32_t a = place.add[k].axis;

        kept[k]         = n->bind[a];
        n->bind[a].kind = RD_BIND_INDEX;
        rd_line(n, "for (int64_t i%d = 0; i%d < %" PRId64 "; i%d++) {", a, a, n->p->axis_extent[a],
                a);
        n->indent++;
    }
    add_loop(n, load);
    for (int32_t k = place.n_add - 1; k >= 0; k--) {
        n->bind[place.add[k].axis] = kept[k];
        n->indent--;
        rd_line(n, "}");
    }
}

void rd_collect_before(rd_codegen *n, int32_t loop)
{
    for (int32_t i = n->p->loop[loop].begin; i < n->p->loop[loop].end; i++)
        if (n->reuse[i] == loop)
            collect(n, i);
}

/* ---- What was just stored -------------------------------------------------------------------- */
/* The innermost loop around it that is not over the strip. */
static int32_t round_of(const rd_codegen *n, const rd_region *r, int32_t inst)
{
    int32_t k = n->p->inst[inst].loop;

    while (is_in(n, r, k) && n->p->loop[k].axis == r->axis)
        k = n->p->loop[k].parent;
    return k;
}

/* Of one element of the strip in the same round of all loops: the register that was stored. */
static int32_t stored_before(const rd_codegen *n, const rd_region *r, int32_t load)
{
    const rd_address *at = &n->p->address[n->p->inst[load].arg];

    for (int32_t i = load - 1; i >= r->from; i--) {
        const rd_inst    *inst = &n->p->inst[i];
        const rd_address *to   = inst->kind == RD_I_STORE ? &n->p->address[inst->arg] : NULL;

        if (to && to->slot == at->slot)
            return rd_coef(to, r->axis) && rd_same_address(to, at) &&
                           round_of(n, r, i) == round_of(n, r, load)
                       ? inst->a
                       : -1;
    }
    return -1;
}

/* Nobody reads what is stored in the slot. */
static bool is_unread(const rd_codegen *n, int32_t slot)
{
    for (int32_t i = 0; i < n->p->n_inst; i++)
        if (n->p->inst[i].kind == RD_I_LOAD && n->p->address[n->p->inst[i].arg].slot == slot &&
            n->at_hand[i] < 0)
            return false;
    return slot >= n->p->first_scratch;
}

void rd_codegen_reuse(rd_codegen *n)
{
    for (int32_t k = 0; k < n->n_region; k++) {
        const rd_region *r = &n->region[k];

        for (int32_t i = r->from; i < r->to; i++)
            if (n->p->inst[i].kind == RD_I_LOAD) {
                n->reuse[i]   = r->wide ? -1 : rd_loop_of_reuse(n, r, i);
                n->at_hand[i] = stored_before(n, r, i);
            }
    }
    for (int32_t i = 0; i < n->p->n_inst; i++)
        if (n->p->inst[i].kind == RD_I_STORE)
            n->unread[i] = is_unread(n, n->p->address[n->p->inst[i].arg].slot);
}
