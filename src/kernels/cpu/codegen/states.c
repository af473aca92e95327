/* states.c - where the states of folds lie, and which of them are at hand. */
#include "kernels/cpu/codegen/parts.h"
#include "core/bytes.h"
#include <inttypes.h>
#include <string.h>

enum { MOST_LOCAL = 48 << 10 };

const rd_region *rd_region_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    for (int32_t k = 0; k < n->n_region; k++)
        if (f->step >= n->region[k].from && f->step < n->region[k].to)
            return &n->region[k];
    return NULL;
}

int rd_number_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    return (int)(f - n->fold);
}

/* ---- Where states lie ------------------------------------------------------------------------ */
/* Behind its last step. */
static int32_t end_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    return f->close >= 0 ? f->close : f->along >= 0 ? n->p->loop[f->along].end : f->step + 1;
}

/* Is the load in no loop that is written out, and of elements that lie apart, which end a round
 * (values.c)? */
static bool is_collected(const rd_codegen *n, int32_t load, const rd_codegen_fold *f,
                         const rd_region *r)
{
    for (int32_t k = n->p->inst[load].loop; k >= 0 && n->p->loop[k].begin > f->start;
         k         = n->p->loop[k].parent)
        if (n->p->loop[k].axis != r->axis)
            return false;
    return rd_lies_apart(n, load, r->axis);
}

/* Do all its elements come in one round of a loop over the strip? */
static bool is_inner(const rd_codegen *n, const rd_codegen_fold *f, const rd_region *r)
{
    for (int32_t i = f->start; i < end_of(n, f); i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (rd_cuts(n, inst) || (inst->kind == RD_I_LOAD && is_collected(n, i, f, r)) ||
            (inst->kind == RD_I_LOOP && n->p->loop[inst->arg].axis != r->axis &&
             !rd_writes_out(n, inst->arg, r->axis)))
            return false;
    }
    return true;
}

/* Cells beside those of the strip. */
static int64_t other_cells(const rd_codegen_fold *f, const rd_region *r)
{
    return f->strip && rd_coef(&f->of.fold->cell, r->axis) ? 1 : f->of.fold->n_cell;
}

/* Arrays of states: s, of the block at hand; of scans p, of what is before it, and nodes of
 * elements, e.  Of running sums of floats p is the hi of kernels/math/so_far.h, q its lo, and w are
 * its doubles. */
typedef struct state_array {
    char        name;
    int         k;
    const char *type;
    int64_t     states, bytes; /* all their bytes */
} state_array;

/* Array number k, false: there are no more. */
static bool array_of(const rd_codegen_fold *f, int k, state_array *a)
{
    const int before = f->blocks && f->of.fold->scan ? f->of.n_state : 0,
              pair   = before && f->pair ? 2 : 0;

    *a = (state_array){ .name = 's', .k = k, .states = f->states };
    if (k >= f->of.n_state + before + pair) {
        a->name   = 'e';
        a->k      = k - f->of.n_state - before - pair;
        a->states = f->states * f->levels;
        if (!f->levels || a->k >= f->of.n_state)
            return false;
    } else if (k >= f->of.n_state + before) {
        const bool sums = k > f->of.n_state + before;

        a->name   = sums ? 'w' : 'q';
        a->k      = 0;
        a->type   = sums ? "double" : NULL;
        a->states = rd_bytes_times(f->states, sums ? f->n_words : 1);
    } else if (k >= f->of.n_state) {
        a->name = 'p';
        a->k    = k - f->of.n_state;
    }
    a->states += a->name == 's' ? f->nowhere : 0;
    a->bytes = rd_lines(rd_bytes_times(a->states, a->type ? (int64_t)sizeof(double) : f->of.bytes));
    if (!a->type)
        a->type = rd_state_type(&f->of, a->k);
    return true;
}

/* Offsets of what is larger would not fit a size. */
static const int64_t MOST_STATES = INT64_C(1) << 36;

static void lay_out(rd_codegen *n, rd_codegen_fold *f)
{
    const rd_region *r     = rd_region_of(n, f);
    const int32_t    last  = f->close >= 0 ? f->close : f->step;
    const bool       one   = n->whole || rd_part_of(n->p, f->start) == rd_part_of(n->p, last);
    int64_t          bytes = 0;
    state_array      a;

    f->rows    = 1;
    f->inner   = f->strip && !f->blocks && is_inner(n, f, r);
    f->states  = f->inner ? f->lanes
                          : rd_bytes_times(rd_bytes_times(other_cells(f, r), f->lanes),
                                          f->strip ? r->width : 1);
    f->nowhere = rd_has_groups(f) && f->mode == RD_FOLD_CELLS ? r->width : 0;
    if (f->states > MOST_STATES) {
        n->why = "more states than there is memory for";
        return;
    }
    for (int k = 0; array_of(f, k, &a); k++)
        bytes += a.bytes;
    f->local = f->inner || (one && bytes <= MOST_LOCAL);
    if (f->split)
        f->facts = rd_piece(&n->state, 1, 64);
    if (!f->local)
        f->current = rd_piece(&n->state, 1, bytes);
    if (f->room)
        f->tree = rd_piece(&n->state, f->room, f->of.n_state * rd_lines(f->states * f->of.bytes));
}

void rd_declare_states(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f  = &n->fold[k];
        int64_t                at = f->current;
        state_array            a;

        for (int j = 0; !f->local && array_of(f, j, &a); j++) {
            rd_line(n, "%s *const %c%d_%d = (%s *)(q->state + %" PRId64 ");", a.type, a.name, k,
                    a.k, a.type, at);
            at += a.bytes;
        }
    }
}

void rd_codegen_lay_out(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        lay_out(n, &n->fold[k]);
}

/* ---- Which states ---------------------------------------------------------------------------- */
/* "&s0_0[at], &s0_1[at]" */
void rd_add_states(rd_text *to, const rd_codegen *n, const rd_codegen_fold *f, const char *name,
                   const char *at)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "%s&%s%d_%d[%s]", k ? ", " : "", name, rd_number_of(n, f), k, at);
}

static void add_held(rd_text *to, const rd_codegen *n, const rd_codegen_fold *f)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "%s&h%d_%d", k ? ", " : "", rd_number_of(n, f), k);
}

static void add_lane(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text_add(to, "(");
    rd_position(n, to, &f->of.fold->lane);
    rd_text_add(to, f->of.fold->lane_extent <= f->of.fold->lanes ? ")" : ") %% %d",
                (int)f->of.fold->lanes);
}

/* Of cells that are copied: which of them, by the indices of the loops that are written out. */
int64_t rd_group_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    int64_t group = 0, times = 1;

    for (int32_t k = n->p->inst[f->step].loop; k != f->along && k >= 0; k = n->p->loop[k].parent) {
        const int32_t axis = n->p->loop[k].axis;

        if (!rd_coef(&f->of.fold->cell, axis))
            continue;
        group += times * n->bind[axis].number;
        times *= n->p->loop[k].extent;
    }
    return group;
}

static void add_cell(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, bool of_strip)
{
    rd_text_add(to, "(");
    if (of_strip)
        rd_position_of_strip(n, to, &f->of.fold->cell);
    else
        rd_position(n, to, &f->of.fold->cell);
    rd_text_add(to, ")");
}

/* The first state of the cells at hand, and of these all lanes: what a block's end takes. */
void rd_add_first_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    const rd_region *r = rd_region_of(n, f);

    if (f->row)
        rd_text_add(to, "%" PRId64 " + ", f->row * f->states);
    if (f->mode == RD_FOLD_CELLS && f->strip) {
        if (rd_coef(&f->of.fold->cell, r->axis) || f->of.fold->cell.n_add == 0)
            rd_text_add(to, "0");
        else {
            add_cell(n, to, f, true);
            rd_text_add(to, " * %d", r->width * f->lanes);
        }
        if (n->part >= 0)
            rd_text_add(to, " + (v%d - whole%d)", r->axis, r->axis);
        return;
    }
    if (f->of.fold->cell.n_add == 0) {
        rd_text_add(to, "0");
        return;
    }
    add_cell(n, to, f, true);
    if (f->lanes > 1)
        rd_text_add(to, " * %d", f->lanes);
}

/* The state that an element of the strip meets. */
void rd_add_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    const rd_region *r = rd_region_of(n, f);

    if (f->inner) {
        rd_text_add(to, "0");
        if (f->lanes > 1) {
            rd_text_add(to, " + ");
            add_lane(n, to, f);
        }
        return;
    }
    if (f->cached)
        rd_text_add(to, "%" PRId64, rd_group_of(n, f) * f->lanes);
    else
        rd_add_first_state(n, to, f);
    if (f->mode == RD_FOLD_SCALAR && f->lanes > 1) {
        rd_text_add(to, " + ");
        add_lane(n, to, f);
    } else if (f->mode == RD_FOLD_CELLS && f->lanes > 1) {
        rd_text_add(to, " + ");
        add_lane(n, to, f);
        rd_text_add(to, " * %d + i", r->width);
    } else if (f->mode == RD_FOLD_LANES && f->of.fold->lanes > r->width)
        rd_text_add(to, " + v%d %% %d + i", r->axis, f->of.fold->lanes);
    else if (f->mode == RD_FOLD_LANES || f->mode == RD_FOLD_CELLS)
        rd_text_add(to, " + i");
}

void rd_declare_state_arrays(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    state_array a;

    for (int k = 0; array_of(f, k, &a); k++)
        rd_text_add(to, " %s %c%d_%d[%" PRId64 "]%s;", a.type, a.name, rd_number_of(n, f), a.k,
                    f->rows * a.states, f->inner ? "" : " LINES");
}

void rd_add_state_at_hand(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text at = { 0 };

    rd_add_state(n, &at, f);
    if (f->held)
        add_held(to, n, f);
    else
        rd_add_states(to, n, f, f->cached ? "c" : "s", at.at);
    rd_text_free(&at);
}
