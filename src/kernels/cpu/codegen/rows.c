/* rows.c - folds by labels that ascend as loops over rows.
 *
 * Places of a sparse pattern lie row after row, and behind their labels memory says where each row
 * begins.  So a program that goes through all places, and then through all groups, is written as one
 * loop over rows: each begins its states, goes through its places, and stores its results.  No label
 * is read, no cells are kept, and tasks share rows, of about as many places each.  The bits are those
 * of the program as it stands, as all places are one block: a group takes its elements one by one.
 *
 *     for p of places                          for i of rows
 *       fold takes x into group label            fold starts
 *     for i of groups                            for p from begin[i] to begin[i + 1]
 *       y[i] = fold at i                           fold takes x
 *                                                y[i] = fold */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <string.h>

typedef struct making {
    const rd_program *p;
    rd_program       *to;
    int32_t           places; /* the loop over all of them   */
    int32_t           group;  /* the axis of rows            */
    rd_address        begin;  /* where the row's places begin */
} making;

/* ---- Which programs -------------------------------------------------------------------------- */
static const rd_inst *made_by(const rd_program *p, int32_t reg)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (reg >= p->inst[i].dst && reg < p->inst[i].dst + rd_inst_makes(p, &p->inst[i]))
            return &p->inst[i];
    return NULL;
}

/* The label of a step, as it is in memory. */
static const rd_address *label_of(const rd_program *p, const rd_inst *step)
{
    const rd_inst *made = made_by(p, step->d);

    while (made && made->kind == RD_I_CAST)
        made = made_by(p, made->a);
    return made && made->kind == RD_I_LOAD ? &p->address[made->arg] : NULL;
}

/* All is one loop over places. */
static bool find_places(making *r)
{
    const rd_program *p    = r->p;
    const rd_inst    *loop = &p->inst[p->body];

    if (p->n_fold == 0 || p->body >= p->tail || loop->kind != RD_I_LOOP ||
        p->loop[loop->arg].end != p->tail - 1)
        return false;
    r->places = loop->arg;
    return p->loop[r->places].kind == RD_LOOP_EACH && !p->loop[r->places].backwards &&
           p->loop[r->places].axis == p->root;
}

/* Axis of the groups of a fold's cells: of the CLOSE's outermost loop. */
static int32_t group_axis(const rd_program *p, int32_t close)
{
    int32_t k = p->inst[close].loop;

    while (k >= 0 && p->loop[k].parent >= 0)
        k = p->loop[k].parent;
    return k >= 0 ? p->loop[k].axis : -1;
}

static bool is_by_rows(const making *r, const rd_fold *f)
{
    return f->begins && f->n_block == 1 && f->lanes == 1 && !f->scan &&
           f->n_group == r->p->fold[0].n_group;
}

/* Steps go by one label, in the loop over places; cells are closed in loops over the groups. */
static bool find_folds(making *r)
{
    const rd_program *p = r->p;

    r->group = -1;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!is_by_rows(r, &p->fold[k]))
            return false;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_START && i >= p->body)
            return false;
        if (inst->kind == RD_I_STEP) {
            const rd_address *label = label_of(p, inst);

            if (!label || label->n_add != 1 || label->add[0].axis != p->root ||
                label->add[0].coef != 1 || label->add[0].local ||
                (r->begin.n_add && !rd_same_address(&r->begin, label)))
                return false;
            r->begin = *label;
        }
        if (inst->kind == RD_I_CLOSE) {
            const int32_t axis = group_axis(p, i);

            if (i < p->tail || axis < 0 || p->axis_extent[axis] != p->fold[0].n_group ||
                rd_coef(&p->fold[inst->arg].cell, axis) != p->fold[inst->arg].apart)
                return false;
            if (r->group < 0)
                r->group = axis;
        }
    }
    return r->group >= 0 && r->begin.n_add;
}

/* Of the tail: loops over groups, in which nothing goes over them again, and which need no others. */
static bool tail_ok(const making *r)
{
    const rd_program *p = r->p;

    for (int32_t i = p->tail; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->loop < 0 && inst->kind != RD_I_LOOP && inst->kind != RD_I_END)
            return false;
        if (inst->kind == RD_I_LOOP && inst->loop < 0 &&
            (p->loop[inst->arg].kind != RD_LOOP_EACH || p->loop[inst->arg].backwards ||
             p->axis_extent[p->loop[inst->arg].axis] != p->fold[0].n_group))
            return false;
        if (inst->kind == RD_I_STEP || inst->kind == RD_I_EXIT ||
            (inst->kind == RD_I_LOAD &&
             rd_program_accesses(p, RD_I_STORE, p->address[inst->arg].slot)))
            return false;
    }
    return true;
}

static bool head_ok(const rd_program *p)
{
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind == RD_I_LOOP || p->inst[i].kind == RD_I_STORE)
            return false;
    return true;
}

/* ---- The program ----------------------------------------------------------------------------- */
static void put(making *r, const rd_inst *inst)
{
    r->to->inst[r->to->n_inst++] = *inst;
}

static void put_loop(making *r, rd_inst_kind kind, int32_t loop)
{
    put(r, &(rd_inst){ .kind = kind, .arg = loop });
}

/* Groups are all one axis; no cell is another group's. */
static void rename_axes(const making *r, rd_address *a, int32_t from)
{
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis == from) {
            a->add[k].axis  = r->group;
            a->add[k].local = false;
        }
}

static void drop_axis(rd_address *a, int32_t axis)
{
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis == axis)
            a->add[k--] = a->add[--a->n_add];
}

/* What stands in a loop over groups. */
static void put_groups(making *r, int32_t loop)
{
    const rd_program *p = r->p;

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (rd_inst_table[inst->kind].names == RD_NAMES_ADDRESS)
            rename_axes(r, &r->to->address[inst->arg], p->loop[loop].axis);
        if (inst->kind == RD_I_CLOSE)
            drop_axis(&r->to->fold[inst->arg].cell, p->loop[loop].axis);
        put(r, inst);
    }
}

static void set_folds(making *r)
{
    for (int32_t k = 0; k < r->to->n_fold; k++) {
        rd_fold *f = &r->to->fold[k];

        f->n_cell /= f->n_group;
        f->n_group = 0;
        f->apart   = 0;
        f->steps   = INT64_MAX;
        f->by_rows = true;
        f->split   = false;
    }
}

/* begin[i] and begin[i + 1] */
static void set_row(making *r, rd_loop *row)
{
    rd_address begin = r->begin;

    begin.offset += r->p->fold[0].begins;
    begin.add[0].axis                  = r->group;
    row->row_from                      = r->to->n_address;
    r->to->address[r->to->n_address++] = begin;
    begin.offset++;
    row->row_to                        = r->to->n_address;
    r->to->address[r->to->n_address++] = begin;
    row->bounds                        = NULL;
}

static bool is_read(const rd_program *p, int32_t reg)
{
    int32_t read[RD_MOST_READ];

    for (int32_t i = 0; i < p->n_inst; i++)
        for (int32_t k = rd_inst_reads(p, &p->inst[i], read); k-- > 0;)
            if (read[k] == reg)
                return true;
    return false;
}

/* What made labels is of no use. */
static void drop_labels(rd_program *to)
{
    for (int32_t i = to->n_inst; i-- > to->body;) {
        const rd_inst *inst = &to->inst[i];

        if ((inst->kind != RD_I_LOAD && inst->kind != RD_I_CAST) || is_read(to, inst->dst))
            continue;
        memmove(&to->inst[i], &to->inst[i + 1], (size_t)(--to->n_inst - i) * sizeof *inst);
    }
}

/* Loops over groups are gone. */
static void number_loops(rd_program *to, rd_loop *made, int32_t *number)
{
    int32_t n = 0;

    for (int32_t i = 0; i < to->n_inst; i++)
        if (to->inst[i].kind == RD_I_LOOP) {
            made[n]                 = to->loop[to->inst[i].arg];
            number[to->inst[i].arg] = n;
            to->inst[i].arg         = n++;
        } else if (rd_inst_table[to->inst[i].kind].names == RD_NAMES_LOOP)
            to->inst[i].arg = number[to->inst[i].arg];
    to->loop   = made;
    to->n_loop = n;
}

static void write(making *r)
{
    const rd_program *p    = r->p;
    rd_program       *to   = r->to;
    const int32_t     loop = to->n_loop++;

    to->loop[loop] =
        (rd_loop){ .kind = RD_LOOP_EACH, .axis = r->group, .extent = p->axis_extent[r->group] };
    set_folds(r);
    set_row(r, &to->loop[r->places]);
    to->n_inst = 0;
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind != RD_I_START)
            put(r, &p->inst[i]);
    to->body = to->n_inst;
    put_loop(r, RD_I_LOOP, loop);
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind == RD_I_START)
            put(r, &p->inst[i]);
    for (int32_t i = p->body; i < p->tail; i++)
        put(r, &p->inst[i]);
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].begin >= p->tail && p->loop[k].parent < 0)
            put_groups(r, k);
    put_loop(r, RD_I_END, loop);
    drop_labels(to);
    to->tail  = to->n_inst;
    to->root  = r->group;
    to->grain = 1;
}

static bool copy(making *r, rd_get_fn *get, void *pool)
{
    const rd_program *p = r->p;
    rd_program       *to;

    if (!(r->to = to = get(pool, sizeof *to)))
        return false;
    *to         = *p;
    to->inst    = get(pool, ((size_t)p->n_inst + 2) * sizeof *to->inst);
    to->loop    = get(pool, ((size_t)p->n_loop + 1) * sizeof *to->loop);
    to->address = get(pool, ((size_t)p->n_address + 2) * sizeof *to->address);
    to->fold    = get(pool, (size_t)p->n_fold * sizeof *to->fold);
    if (!to->inst || !to->loop || !to->address || !to->fold)
        return false;
    memcpy(to->loop, p->loop, (size_t)p->n_loop * sizeof *to->loop);
    memcpy(to->address, p->address, (size_t)p->n_address * sizeof *to->address);
    memcpy(to->fold, p->fold, (size_t)p->n_fold * sizeof *to->fold);
    return true;
}

bool rd_codegen_rows(const rd_program *p, rd_get_fn *get, void *pool, const rd_program **by_rows)
{
    making   r = { .p = p };
    rd_loop *loops;
    int32_t *number;

    *by_rows = NULL;
    if (!find_places(&r) || !find_folds(&r) || !head_ok(p) || !tail_ok(&r))
        return true;
    loops  = get(pool, ((size_t)p->n_loop + 1) * sizeof *loops);
    number = get(pool, ((size_t)p->n_loop + 1) * sizeof *number);
    if (!copy(&r, get, pool) || !loops || !number)
        return false;
    write(&r);
    number_loops(r.to, loops, number);
    rd_program_tree(r.to);
    *by_rows = r.to;
    return true;
}

/* ---- Its text -------------------------------------------------------------------------------- */
int32_t rd_axis_of_rows(const rd_program *p, const rd_loop *row)
{
    return p->address[row->row_from].add[0].axis;
}

static void add_element(rd_codegen *n, rd_text *to, const rd_address *at)
{
    rd_text_add(to, "((const %s *)m%d)[", rd_memory_type(at->type), (int)at->slot);
    rd_position(n, to, at);
    rd_text_add(to, "]");
}

void rd_row_range(rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    const int32_t  r    = ++n->ranges[l->axis];
    rd_text        from = { 0 }, to = { 0 };

    add_element(n, &from, &n->p->address[l->row_from]);
    add_element(n, &to, &n->p->address[l->row_to]);
    rd_line(n, "const int64_t lo%d_%d = %s, hi%d_%d = %s;", l->axis, r, from.at, l->axis, r, to.at);
    n->bind[l->axis].range = r;
    rd_text_free(&from);
    rd_text_free(&to);
}

static bool takes_fours(const rd_codegen *n, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_STEP: return inst->c < 0 && rd_notes_nan(&n->fold[inst->arg].of);
    case RD_I_LOAD: return !rd_has_registers(&n->p->address[inst->arg]);
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT: return true;
    default: return false;
    }
}

/* Extremes alone, of which four elements are as one: each waits for what was before it.  Gathered ones
 * are waited for longer, and compilers gather four by a vector, in which they take twice the time. */
bool rd_goes_by_fours(const rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    bool           some = false;

    if (!rd_is_row(l) || n->here)
        return false;
    for (int32_t i = l->begin + 1; i < l->end; i++) {
        if (!takes_fours(n, &n->p->inst[i]))
            return false;
        some |= n->p->inst[i].kind == RD_I_STEP;
    }
    return some;
}

void rd_open_fours(rd_codegen *n, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l = &n->p->loop[loop];

    rd_line(n, "int64_t four%d = %s;", loop, lo);
    rd_line(n, "for (; four%d + 4 <= %s; four%d += 4) {", loop, hi, loop);
    n->indent++;
    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (n->p->inst[i].kind == RD_I_STEP)
            rd_line(n, "%s x%d[4];", rd_state_type(&n->fold[n->p->inst[i].arg].of, 0),
                    n->p->inst[i].arg);
    n->fours = loop;
}

void rd_close_fours(rd_codegen *n, int32_t loop)
{
    const rd_loop *l = &n->p->loop[loop];

    n->fours = -1;
    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (n->p->inst[i].kind == RD_I_STEP) {
            rd_text states = { 0 };

            rd_add_state_at_hand(n, &states, &n->fold[n->p->inst[i].arg]);
            rd_line(n, "fours%d(%s, x%d);", rd_number_of(n, &n->fold[n->p->inst[i].arg]), states.at,
                    n->p->inst[i].arg);
            rd_text_free(&states);
        }
    n->indent--;
    rd_line(n, "}");
}

/* "rd_row_at_i32(begin, rows, q->lo)": the first row of a task that begins with that place. */
static void add_row_at(rd_codegen *n, rd_text *to, const rd_address *begin, const char *place)
{
    rd_text_add(to, "rd_row_at_%s((const %s *)m%d + ", rd_dtype_name(begin->type),
                rd_memory_type(begin->type), (int)begin->slot);
    rd_number_text(n, to, begin->offset);
    rd_text_add(to, ", ");
    rd_number_text(n, to, n->p->axis_extent[n->root]);
    rd_text_add(to, ", q->%s)", place);
}

void rd_declare_rows(rd_codegen *n)
{
    const rd_program *p   = n->p;
    const rd_loop    *row = p->loop;
    rd_text           to  = { 0 };

    while (!rd_is_row(row))
        row++;
    rd_text_add(&to, "const int64_t lo%d_0 = ", n->root);
    add_row_at(n, &to, &p->address[row->row_from], "lo");
    rd_text_add(&to, ", hi%d_0 = q->hi < ", n->root);
    rd_number_text(n, &to, p->axis_extent[row->axis]);
    rd_text_add(&to, " ? ");
    add_row_at(n, &to, &p->address[row->row_from], "hi");
    rd_text_add(&to, " : ");
    rd_number_text(n, &to, p->axis_extent[n->root]);
    rd_line(n, "%s;", to.at ? to.at : "");
    rd_text_free(&to);
}
