/* program.c - loop programs: their tree of loops, and their text, one instruction a line:
 *
 *     i0 < 3000; tasks share i0 by 16; 2 registers
 *     body:
 *       for i0 of 3000
 *         r0 f32 = s0[i0] f32
 *         r1 f32 = add(r0, r0)
 *         s1[i0] f32 = r1
 *       end i0
 *
 * A slot is a buffer.  A fold is a reduction or scan; its cells are its results.  A register
 * holds one value.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/program.h"
#include <inttypes.h>

/* Appends a loop to the list of its parent's children, behind the last one; a loop without a
 * parent (-1) needs no list. */
static void append(rd_program *p, int32_t loop)
{
    int32_t *at = p->loop[loop].parent >= 0 ? &p->loop[p->loop[loop].parent].first : NULL;

    while (at && *at >= 0)
        at = &p->loop[*at].next;
    if (at)
        *at = loop;
}

/* Builds the tree of loops from the LOOP and END instructions, in one pass. Each loop gets its
 * first and last instruction, its parent (-1: none), its first child and next sibling. Each
 * instruction gets the loop that holds it: `open` is the innermost loop at that instruction, -1:
 * none; LOOP and END get the one around theirs. */
void rd_program_tree(rd_program *p)
{
    int32_t open = -1;

    for (int32_t i = 0; i < p->n_inst; i++) {
        rd_inst *inst = &p->inst[i];
        if (inst->kind == RD_I_END) {
            p->loop[inst->arg].end = i;
            open                   = p->loop[inst->arg].parent;
        }
        inst->loop = open;
        if (inst->kind == RD_I_LOOP) {
            rd_loop *l = &p->loop[inst->arg];

            l->begin  = i;
            l->parent = open;
            l->first = l->next = -1;
            append(p, inst->arg);
            open = inst->arg;
        }
    }
}

/* Returns the axis that numbers the rows of a sparse array, for a loop that visits the stored
 * elements of one row. row_from is the number of the address in memory at which the row's first
 * element is read; its first addend is that axis. */
int32_t rd_axis_of_rows(const rd_program *p, const rd_loop *row)
{
    return p->address[row->row_from].add[0].axis;
}

/* Returns the most indices of an axis that its innermost loop visits at a time: the size of the
 * smallest tile (a range of the axis), or the extent if there are no tiles. */
int64_t rd_most_indices(const rd_program *p, int32_t axis)
{
    int64_t extent = p->axis_extent[axis];

    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == axis && p->loop[k].step < extent)
            extent = p->loop[k].step;
    return extent;
}

/* Returns how many rounds a loop has each time. A loop over tiles has as many as there are tiles
 * (ranges); another one has the indices in the current tile of its axis. For a loop over the
 * elements of a sparse row it is the average, plus 1: elements in all (the axis' extent) by the
 * rows. */
int64_t rd_trips(const rd_program *p, int32_t loop)
{
    const rd_loop *l = &p->loop[loop];

    if (rd_is_sparse_row(l)) /* on the average */
        return p->axis_extent[l->axis] / p->axis_extent[rd_axis_of_rows(p, l)] + 1;
    return l->kind == RD_LOOP_TILE ? (p->axis_extent[l->axis] + l->step - 1) / l->step
                                   : rd_most_indices(p, l->axis);
}

/* Returns how many tasks the program can have, which share the root axis and begin at multiples
 * of a grain: 1 if there is no such axis or order forbids it; at most p->most (0: no limit). */
int64_t rd_program_shares(const rd_program *p, int64_t grain)
{
    int64_t shares = 1;

    if (p->root >= 0 && !p->serial)
        shares = (p->axis_extent[p->root] + grain - 1) / grain;
    return p->most && p->most < shares ? p->most : shares;
}

static const char *const law_names[] = { [RD_LAW_exact]      = "exact",
                                         [RD_LAW_commutes]   = "commutes",
                                         [RD_LAW_associates] = "associates",
                                         [RD_LAW_serial]     = "serial" };

/* Adds one addend of a position as text: "20*i0" of an axis, "4*r7" of a register, or "i1'" of
 * an index that counts from the begin of the axis' current range (local). */
static void add_addend(rd_text *text, const rd_addend *add)
{
    if (add->coef != 1)
        rd_text_add(text, "%" PRId64 "*", add->coef);
    if (add->axis < 0)
        rd_text_add(text, "r%" PRId32, add->reg);
    else
        rd_text_add(text, add->local ? "i%" PRId32 "'" : "i%" PRId32, add->axis);
}

/* Adds a position as text, "12 + 20*i0 + i1' + 4*r7": i0 is the index of axis 0, i1' counts from
 * the begin of the axis' current range, r7 is a register. */
static void add_position(rd_text *text, const rd_address *address)
{
    if (address->offset || address->n_add == 0)
        rd_text_add(text, "%" PRId64 "%s", address->offset, address->n_add ? " + " : "");
    for (int32_t k = 0; k < address->n_add; k++) {
        if (k)
            rd_text_add(text, " + ");
        add_addend(text, &address->add[k]);
    }
}

/* Adds an access to memory: "s0[4 + i1] f32" is an f32 of slot (buffer) 0. */
static void add_memory(rd_text *text, const rd_address *address)
{
    rd_text_add(text, "s%" PRId32 "[", address->slot);
    add_position(text, address);
    rd_text_add(text, "] %s", rd_dtype_name(address->type));
}

/* Adds a constant of a type with as many digits as its bits need. */
static void add_value(rd_text *text, rd_word value, rd_dtype type)
{
    switch (rd_dtype_class(type)) {
    case RD_CLASS_f32: rd_text_add(text, "%.9g", (double)value.f32); break;
    case RD_CLASS_f64: rd_text_add(text, "%.17g", value.f64); break;
    case RD_CLASS_i64: rd_text_add(text, "%" PRId64, value.i64); break;
    default: rd_text_add(text, "%" PRIu64, value.u64); break;
    }
}

/* Adds a call of a user's function: "name(r1, r2)". */
static void add_call(rd_text *text, const rd_call *call)
{
    rd_text_add(text, "%s(", call->name ? call->name : "function");
    for (int32_t k = 0; k < call->n_in; k++)
        rd_text_add(text, "%sr%" PRId32, k ? ", " : "", call->in[k]);
    rd_text_add(text, ")");
}

/* Adds an operator with its operands: "add(r1, r2)". */
static void add_map(rd_text *text, const rd_inst *inst)
{
    const int32_t operands[] = { inst->a, inst->b, inst->c };
    const int     arity      = rd_op_table[inst->op].arity;

    rd_text_add(text, "%s(", rd_op_table[inst->op].name);
    for (int k = 0; k < arity && k < 3; k++)
        rd_text_add(text, "%sr%" PRId32, k ? ", " : "", operands[k]);
    rd_text_add(text, ")");
}

/* Adds what a step gives to a fold (a reduction or scan): "fold0 takes r1 weight r2 where r3
 * into group r4". The registers are element, weight, mask and label; -1: there is none. A dot
 * product has "* r2" for the second factor. */
static void add_element(rd_text *text, const rd_program *p, const rd_inst *inst)
{
    const bool dot = rd_reducer_multiplies(p->fold[inst->arg].reducer);

    rd_text_add(text, "fold%" PRId32 " takes r%" PRId32, inst->arg, inst->a);
    if (inst->b >= 0)
        rd_text_add(text, "%s r%" PRId32, dot ? " *" : " weight", inst->b);
    if (inst->c >= 0)
        rd_text_add(text, " where r%" PRId32, inst->c);
    if (p->fold[inst->arg].n_group)
        rd_text_add(text, " into group r%" PRId32, inst->d);
}

/* Adds the bound that a mask gives a loop, which visits only indices where it is not negative: "
 * where 1*i0 + -1*i1 + 5 >= 0", behind the word `before`. A bound is a sum of multiples of axes'
 * indices, of registers, and an offset. n_add 0: there is no such bound. */
static void add_bound(rd_text *text, const rd_bound *b, const char *before)
{
    if (b->n_add == 0)
        return;
    rd_text_add(text, "%s", before);
    for (int32_t k = 0; k < b->n_add; k++)
        rd_text_add(text, "%s%" PRId64 "*i%" PRId32, k ? " + " : "", b->coef[k], b->axis[k]);
    for (int32_t k = 0; k < b->n_reg; k++)
        rd_text_add(text, " + %" PRId64 "*r%" PRId32, b->reg_coef[k], b->reg[k]);
    rd_text_add(text, " + %" PRId64 " >= 0", b->offset);
}

/* Adds the line of a loop: "for i1 by 64 of 3000 where -1*i1 + 5 >= 0" in steps of tiles of 64,
 * with the bound of a mask; a list of ranges in slot s2 (list_at -1: none) as "where in a list of
 * s2"; or "for i1 from s2[i0] i64 to s2[1 + i0] i64" over the stored elements of a sparse row. */
static void add_loop(rd_text *text, const rd_program *p, const rd_loop *loop)
{
    rd_text_add(text, "for i%" PRId32, loop->axis);
    if (rd_is_sparse_row(loop)) {
        rd_text_add(text, " from ");
        add_memory(text, &p->address[loop->row_from]);
        rd_text_add(text, " to ");
        add_memory(text, &p->address[loop->row_to]);
        return;
    }
    if (loop->kind == RD_LOOP_TILE)
        rd_text_add(text, " by %" PRId64, loop->step);
    rd_text_add(text, " of %" PRId64 "%s", loop->extent, loop->backwards ? " backwards" : "");
    if (loop->bounds) {
        if (loop->bounds->list_at >= 0)
            rd_text_add(text, " where in a list of s%" PRId32, loop->bounds->list_slot);
        add_bound(text, &loop->bounds->low, " where ");
        add_bound(text, &loop->bounds->high, loop->bounds->low.n_add ? " and " : " where ");
    }
}

/* Adds the right side of a line that makes a value: "add(r1, r2)", "s0[4 + i1] f32" for a load,
 * "r2 ? r3 : r4", and "fold0 at i0" for the result of a reduction. */
static void add_result(rd_text *text, const rd_program *p, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST: add_value(text, inst->value, inst->type); break;
    case RD_I_COORD: add_position(text, &p->address[inst->arg]); break;
    case RD_I_LOAD: add_memory(text, &p->address[inst->arg]); break;
    case RD_I_MAP: add_map(text, inst); break;
    case RD_I_CAST:
        rd_text_add(text, "r%" PRId32 " from %s", inst->a, rd_dtype_name(inst->from));
        break;
    case RD_I_SELECT:
        rd_text_add(text, "r%" PRId32 " ? r%" PRId32 " : r%" PRId32, inst->a, inst->b, inst->c);
        break;
    case RD_I_INDEX:
        rd_text_add(text, "r%" PRId32 " in an axis of %" PRId64, inst->a, inst->value.i64);
        break;
    case RD_I_CALL: add_call(text, &p->call[inst->arg]); break;
    case RD_I_SCAN: add_element(text, p, inst); break;
    default:
        rd_text_add(text, "fold%" PRId32 " at ", inst->arg);
        add_position(text, &p->fold[inst->arg].cell);
    }
}

/* Adds one line: "r3 f32 = add(r1, r2)", "fold0 takes r3 where r4", "s1[i0] f32 = r5". All kinds
 * without a line of their own make a register. */
static void add_inst(rd_text *text, const rd_program *p, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_LOOP: add_loop(text, p, &p->loop[inst->arg]); break;
    case RD_I_END: rd_text_add(text, "end i%" PRId32, p->loop[inst->arg].axis); break;
    case RD_I_START: rd_text_add(text, "fold%" PRId32 " starts", inst->arg); break;
    case RD_I_STEP: add_element(text, p, inst); break;
    case RD_I_SORT:
        add_memory(text, &p->address[p->sorting[inst->arg].to]);
        rd_text_add(text, " .. = sorting%" PRId32, inst->arg);
        break;
    case RD_I_EXIT:
        rd_text_add(text, "leave i%" PRId32 " if fold%" PRId32 " is settled",
                    p->loop[inst->arg].axis, inst->a);
        break;
    case RD_I_STORE:
        add_memory(text, &p->address[inst->arg]);
        rd_text_add(text, " = r%" PRId32, inst->a);
        break;
    default:
        rd_text_add(text, "r%" PRId32 " %s = ", inst->dst, rd_dtype_name(inst->type));
        add_result(text, p, inst);
    }
    rd_text_add(text, "\n");
}

/* Adds the line about axes, tasks and registers, "i0 < 3000; tasks share i0 by 16; 2 registers",
 * and a line for each scratch slot (temporary buffer). "one point" stands for no axis; "serial":
 * there is only one task. */
static void add_facts(rd_text *text, const rd_program *p)
{
    for (int32_t k = 0; k < p->n_axis; k++)
        rd_text_add(text, "%si%" PRId32 " < %" PRId64, k ? ", " : "", k, p->axis_extent[k]);
    if (p->root >= 0)
        rd_text_add(text, "; tasks share i%" PRId32 " by %" PRId64, p->root, p->grain);
    rd_text_add(text, "%s%s; %" PRId32 " registers\n", p->n_axis ? "" : "one point",
                p->serial ? "; serial" : "", p->n_reg);
    for (int32_t k = 0; k < p->n_scratch; k++)
        rd_text_add(text, "s%" PRId32 ": scratch of %" PRId64 " bytes\n", p->first_scratch + k,
                    p->scratch_bytes[k]);
}

/* Adds how a fold (a reduction or scan) groups its elements: the law of reordering, lanes (partial
 * accumulators), blocks of steps, and the positions that say to which of them an element goes.
 *
 *     , commutes, lanes 64, blocks 2 of 64 steps, lane i1 of 8000, line 0, index i1
 *
 * steps INT64_MAX: one block without an end. */
static void add_tree(rd_text *text, const rd_fold *fold)
{
    rd_text_add(text, ", %s, lanes %" PRId32, law_names[fold->law], fold->lanes);
    if (fold->steps == INT64_MAX)
        rd_text_add(text, ", one block");
    else
        rd_text_add(text, ", blocks %" PRId64 " of %" PRId64 " steps", fold->n_block, fold->steps);
    if (fold->prefix == RD_PREFIX_TREE)
        rd_text_add(text, ", prefixes by the tree");
    rd_text_add(text, ", lane ");
    add_position(text, &fold->lane);
    rd_text_add(text, " of %" PRId64 ", line ", fold->lane_extent);
    add_position(text, &fold->lane_line);
    rd_text_add(text, ", index ");
    add_position(text, &fold->index);
}

/* Adds the line of a fold (a reduction or scan), with its reducer, types, ddof (what var and std
 * subtract from the number of elements), combine tree, groups (`group_stride`: their stride in
 * cells), and cells (the accumulators, one for each result):
 *
 *     fold0: sum of f32 to f32, commutes, lanes 64, .., cells 1 at 0, split */
static void add_fold(rd_text *text, const rd_fold *fold, int32_t number)
{
    rd_text_add(text, "fold%" PRId32 ": %s%s%s%s of %s to %s", number,
                fold->exclusive ? "exclusive " : "", fold->reverse ? "reverse " : "",
                fold->scan ? "scan " : "",
                fold->user ? fold->user->name : rd_reducer_table[fold->reducer].name,
                rd_dtype_name(fold->type), rd_dtype_name(fold->out));
    if (fold->identity)
        rd_text_add(text, ", identity");
    if (fold->ddof != 0)
        rd_text_add(text, ", ddof %g", fold->ddof);
    add_tree(text, fold);
    rd_text_add(text, ", cells %" PRId64 " at ", fold->n_cell);
    add_position(text, &fold->cell);
    if (fold->n_group)
        rd_text_add(text, ", %" PRId64 " groups by %" PRId64 "%s", fold->n_group,
                    fold->group_stride,
                    fold->begins                ? ", of rows"
                    : fold->no_equal_neighbours ? ", of a pattern, no neighbours alike"
                    : fold->of_pattern          ? ", of a pattern"
                                                : "");
    rd_text_add(text, "%s\n", fold->split ? ", split" : "");
}

/* Adds the line of a sort: "sorting0: sort of f32 rows of 100, s0[100*i0] f32, to 100 f32". Behind
 * it stand the quantiles that are asked for (q), and for a row that comes in strips (`most`) their
 * length and the memory of the state. */
static void add_sorting(rd_text *text, const rd_program *p, int32_t number)
{
    const rd_sorting *s = &p->sorting[number];

    rd_text_add(text, "sorting%" PRId32 ": %s of %s rows of %" PRId64 ", ", number,
                rd_sort_name(s->facts), rd_dtype_name(s->type), s->n);
    add_memory(text, &p->address[s->from]);
    rd_text_add(text, ", to %" PRId64 " %s", s->n_out, rd_dtype_name(s->out));
    for (int64_t k = 0; k < s->facts->n_q; k++)
        rd_text_add(text, " %g", s->facts->q[k]);
    if (s->most) {
        rd_text_add(text, ", in strips of %" PRId64 " along i%" PRId32 " with ", s->most, s->axis);
        add_memory(text, &p->address[s->state]);
        if (s->reads_earlier_state)
            rd_text_add(text, ", which an earlier sort keeps");
    }
    rd_text_add(text, "\n");
}

/* Adds the text of a program, a line for each instruction, indented by its loops; before it
 * lines of axes and scratch (temporary buffers), folds and sorts. "head", "body" and "tail"
 * stand before the instructions that run before, on, and behind each task's share of the root
 * axis. */
void rd_program_text(rd_text *text, const rd_program *p)
{
    int indent = 1;

    add_facts(text, p);
    for (int32_t k = 0; k < p->n_fold; k++)
        add_fold(text, &p->fold[k], k);
    for (int32_t k = 0; k < p->n_sorting; k++)
        add_sorting(text, p, k);
    for (int32_t k = 0; k < p->n_inst; k++) {
        if (k == 0 || k == p->body || k == p->tail)
            rd_text_add(text, "%s:\n", k >= p->tail ? "tail" : k >= p->body ? "body" : "head");
        indent -= p->inst[k].kind == RD_I_END;
        rd_text_add(text, "%*s", 2 * indent, "");
        add_inst(text, p, &p->inst[k]);
        indent += p->inst[k].kind == RD_I_LOOP;
    }
}

/* True if an instruction of that kind, a LOAD or a STORE, accesses the slot (buffer). */
bool rd_program_accesses(const rd_program *p, rd_inst_kind kind, int32_t slot)
{
    bool found = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        found |= p->inst[i].kind == kind && p->address[p->inst[i].arg].slot == slot;
    return found;
}
