/* text.c - the kernels of a shape as CUDA C. */
#include "kernels/cuda/tree.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- Lines, numbers, positions --------------------------------------------------------------- */
void rd_cuda_line(rd_cuda_text *t, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    rd_text_add(t->to, "%*s", 4 * t->indent, "");
    rd_text_add_list(t->to, format, list);
    rd_text_add(t->to, "\n");
    va_end(list);
}

/* Small ones are spelled out; others come with the run, so that one text serves many shapes. */
void rd_cuda_number(rd_cuda_text *t, rd_text *to, int64_t value)
{
    int32_t k = 0;

    if (value >= -RD_CUDA_SPELLED && value <= RD_CUDA_SPELLED) {
        rd_text_add(to, "%" PRId64, value);
        return;
    }
    while (k < t->n_number && t->number[k] != value)
        k++;
    if (k == RD_CUDA_NUMBERS) {
        t->why = "it has too many different extents and strides";
        return;
    }
    if (k == t->n_number)
        t->number[t->n_number++] = value;
    rd_text_add(to, "q.N[%" PRId32 "]", k);
}

rd_text rd_cuda_position(rd_cuda_text *t, const rd_address *at)
{
    rd_text text = { 0 };

    if (at->offset)
        rd_cuda_number(t, &text, at->offset);
    for (int32_t k = 0; k < at->n_add; k++) {
        const rd_addend *add = &at->add[k];

        if (add->axis >= 0 && !(t->open >> add->axis & 1))
            continue;
        rd_text_add(&text, text.n ? " + " : "");
        rd_text_add(&text, add->axis < 0 ? "r%" PRId32 : "i%" PRId32,
                    add->axis < 0 ? add->reg : add->axis);
        if (add->coef != 1) {
            rd_text_add(&text, " * ");
            rd_cuda_number(t, &text, add->coef);
        }
    }
    if (!text.n)
        rd_text_add(&text, "0");
    return text;
}

/* ---- Values ---------------------------------------------------------------------------------- */
static bool is_uniform(const rd_cuda_text *t)
{
    return t->s->team > 1 && t->spread < 0;
}

/* "((const float *)m3)[i0]", of scratch in the memory that is its home. */
static rd_text element(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_address *at   = &t->s->p->address[inst->arg];
    rd_text           text = { 0 }, place = rd_cuda_position(t, at);

    rd_text_add(&text, "((%s%s *)m%" PRId32 ")[", inst->kind == RD_I_STORE ? "" : "const ",
                rd_memory_type(at->type), at->slot);
    if (t->s->strip >= 0 && at->slot >= t->s->p->first_scratch) /* neighbours have their own */
        rd_text_add(&text, "(%s) * %" PRId32 " + l]", place.at ? place.at : "", t->s->wide);
    else
        rd_text_add(&text, "%s]", place.at ? place.at : "");
    rd_text_free(&place);
    return text;
}

/* "rows[z1 + 1 * q.N[2] + o1]": an element of a row. */
static rd_text in_row(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_shape *s    = t->s;
    rd_text              text = { 0 };

    rd_text_add(&text, "rows[z1 + %" PRId32 " * ", s->row[inst - s->p->inst]);
    rd_cuda_number(t, &text, s->row_words);
    rd_text_add(&text, " + o%" PRId32 "]", s->row_axis);
    return text;
}

/* "x7[u].e[l]", of a load that has gone ahead; "y7.e[l]", of a store of several. */
static rd_text packed(const rd_cuda_text *t, const rd_inst *inst)
{
    const int32_t i = (int32_t)(inst - t->s->p->inst), each = rd_cuda_packed(t, i);
    rd_text       text = { 0 };

    if (inst->kind == RD_I_STORE)
        rd_text_add(&text, "y%" PRId32 ".e[%s]", i, t->along ? "e" : "l");
    else
        rd_text_add(&text, "x%" PRId32 "[%s].e[%s]", i, t->apart ? "2 * u + l" : "u",
                    each == 1  ? "0"
                    : t->along ? "e"
                               : "l");
    return text;
}

static void add_operator(rd_text *to, const rd_inst *inst)
{
    const int32_t in[]  = { inst->a, inst->b, inst->c };
    const int     count = inst->kind == RD_I_MAP ? rd_op_table[inst->op].arity : 1;
    char          name[RD_EMIT_NAME];

    rd_op_name(inst, name);
    rd_text_add(to, "%s(", name);
    for (int k = 0; k < count && k < 3; k++)
        rd_text_add(to, "%sr%" PRId32, k ? ", " : "", in[k]);
    rd_text_add(to, inst->kind == RD_I_MAP && rd_op_warns(inst) ? ", &warnings)" : ")");
}

/* "call0(r1, r2)" */
static void add_call(rd_text *to, const rd_call *call, int32_t number)
{
    rd_text_add(to, "call%" PRId32 "(", number);
    for (int32_t k = 0; k < call->n_in; k++)
        rd_text_add(to, "%sr%" PRId32, k ? ", " : "", call->in[k]);
    rd_text_add(to, ")");
}

static bool reads_row(const rd_cuda_text *t, const rd_inst *inst)
{
    const int32_t i = (int32_t)(inst - t->s->p->inst);

    return t->s->row[i] >= 0 && !t->s->fills[i];
}

static rd_text from_memory(rd_cuda_text *t, const rd_inst *inst)
{
    const int32_t i = (int32_t)(inst - t->s->p->inst);

    if (t->s->stretch_of[i] >= 0)
        return rd_cuda_in_stretch(t, i);
    if (t->s->turned[i])
        return rd_cuda_in_square(i);
    if (t->s->staged[i] >= 0)
        return rd_cuda_staged(t, i);
    return rd_cuda_packed(t, i) ? packed(t, inst) : element(t, inst);
}

/* "rd_float_of(rows[o1])"; of 16 bits "rd_bf16_to_f32(rd_bf16{ rows[o1] })". */
static void add_from_row(rd_cuda_text *t, rd_text *to, const rd_inst *inst, const char *place)
{
    const rd_dtype type = t->s->p->address[inst->arg].type;
    rd_text        half = { 0 };

    if (t->s->row_word == 2) {
        rd_text_add(&half, "%s{ %s }", rd_memory_type(type), place);
        rd_add_from_memory(to, type, half.at ? half.at : "");
    } else
        rd_text_add(to, "rd_%s_of(%s)", rd_register_type(inst->type), place);
    rd_text_free(&half);
}

static void add_value(rd_cuda_text *t, rd_text *to, const rd_inst *inst)
{
    const rd_program *p = t->s->p;
    rd_text           text;

    switch (inst->kind) {
    case RD_I_CONST: rd_add_constant(to, inst); break;
    case RD_I_COORD:
        text = rd_cuda_position(t, &p->address[inst->arg]);
        rd_text_add(to, "%s", text.at ? text.at : "");
        rd_text_free(&text);
        break;
    case RD_I_LOAD:
        if (reads_row(t, inst)) {
            text = in_row(t, inst);
            add_from_row(t, to, inst, text.at ? text.at : "");
        } else {
            text = from_memory(t, inst);
            rd_add_from_memory(to, p->address[inst->arg].type, text.at ? text.at : "");
        }
        rd_text_free(&text);
        break;
    case RD_I_SELECT:
        rd_text_add(to, "r%" PRId32 " ? r%" PRId32 " : r%" PRId32, inst->a, inst->b, inst->c);
        break;
    case RD_I_CALL: add_call(to, &p->call[inst->arg], inst->arg); break;
    default: add_operator(to, inst);
    }
}

/* Where in the program's order an index is that failed: of the loops around it, from the outside
 * in, which item of the body and which round.  The least of all is what a run reports. */
static void add_order(rd_cuda_text *t, rd_text *to, int32_t inst)
{
    const rd_program *p    = t->s->p;
    const int32_t     loop = p->inst[inst].loop;

    if (loop >= 0) {
        rd_text_add(to, "(");
        add_order(t, to, p->loop[loop].begin);
        rd_text_add(to, " * ");
        rd_cuda_number(t, to, p->loop[loop].extent);
        if (p->loop[loop].backwards) {
            rd_text_add(to, " + ");
            rd_cuda_number(t, to, p->loop[loop].extent - 1);
        }
        rd_text_add(to, p->loop[loop].backwards ? " - i%" PRId32 ")" : " + i%" PRId32 ")",
                    p->loop[loop].axis);
    } else
        rd_text_add(to, "(uint64_t)0");
    rd_text_add(to, " * %" PRId32 " + %" PRId32, p->n_inst + 1, inst);
}

static void write_index(rd_cuda_text *t, int32_t i)
{
    const rd_inst *inst = &t->s->p->inst[i];
    rd_text        line = { 0 };

    rd_text_add(&line, "%s(r%" PRId32 ", r%" PRId32 ", ",
                rd_dtype_class(inst->from) == RD_CLASS_u64 ? "RD_INDEX_U64" : "RD_INDEX_I64",
                inst->dst, inst->a);
    rd_cuda_number(t, &line, inst->value.i64);
    rd_text_add(&line, ", ");
    add_order(t, &line, i);
    rd_cuda_line(t, "%s)", line.at ? line.at : "");
    rd_text_free(&line);
}

static void write_to_row(rd_cuda_text *t, const rd_inst *inst, int32_t reg)
{
    const rd_dtype type = t->s->p->address[inst->arg].type;
    rd_text        to = in_row(t, inst), word = { 0 };

    if (t->s->row_word == 2) {
        rd_begin_stored(&word, type);
        rd_text_add(&word, "r%" PRId32 "%s.bits", reg, rd_end_stored(type));
    } else
        rd_text_add(&word, "rd_word_of_%s(r%" PRId32 ")", rd_register_type(type), reg);
    rd_cuda_line(t, "%s = %s;", to.at ? to.at : "", word.at ? word.at : "");
    rd_text_free(&to);
    rd_text_free(&word);
}

/* What an item stores outside of its loops is stored once. */
static bool stores_later(const rd_cuda_text *t, const rd_inst *inst)
{
    return t->part == RD_PART_RANGES &&
           inst->loop == t->s->p->inst[t->s->p->loop[t->s->cut[0]].begin].loop &&
           t->s->p->address[inst->arg].slot < t->s->p->first_scratch;
}

/* The last results of pairs stand in for those behind them. */
static void write_if_there(rd_cuda_text *t)
{
    rd_text n = { 0 };

    rd_cuda_number(t, &n, t->s->p->axis_extent[t->s->strip]);
    rd_cuda_line(t, "if (v%" PRId32 " + l < %s)", t->s->strip, n.at ? n.at : "");
    rd_text_free(&n);
}

static rd_text in_memory(rd_cuda_text *t, const rd_inst *inst)
{
    const int32_t i = (int32_t)(inst - t->s->p->inst);

    return t->s->stretch_of[i] >= 0 ? rd_cuda_in_stretch(t, i) : element(t, inst);
}

/* One thread of a team stores what all have; none may still have to read what was there, and all
 * see it.  Several elements at once (loops.c) all have, and one stores. */
static void write_store(rd_cuda_text *t, const rd_inst *inst)
{
    if (stores_later(t, inst) || t->part == RD_PART_TOTALS)
        return;
    if (t->s->row[inst - t->s->p->inst] >= 0) {
        write_to_row(t, inst, inst->a);
        return;
    }
    const rd_dtype type  = t->s->p->address[inst->arg].type;
    const bool     packs = rd_cuda_packed(t, (int32_t)(inst - t->s->p->inst)) > 0;
    rd_text        to = packs ? packed(t, inst) : in_memory(t, inst), value = { 0 };

    if (t->s->pairs >= 0)
        write_if_there(t);
    rd_begin_stored(&value, type);
    rd_text_add(&value, "r%" PRId32 "%s", inst->a, rd_end_stored(type));
    if (is_uniform(t) && !packs)
        rd_cuda_line(t, "RD_MEET if (t == 0) %s = %s; RD_MEET", to.at ? to.at : "", value.at);
    else
        rd_cuda_line(t, "%s = %s;", to.at ? to.at : "", value.at);
    rd_text_free(&to);
    rd_text_free(&value);
}

static void write_value(rd_cuda_text *t, int32_t i)
{
    const rd_inst *inst = &t->s->p->inst[i];
    rd_text        line = { 0 };

    if (inst->kind == RD_I_INDEX) {
        write_index(t, i);
        return;
    }
    add_value(t, &line, inst);
    rd_cuda_line(t, "const %s r%" PRId32 " = %s;", rd_register_type(inst->type), inst->dst,
                 line.at ? line.at : "");
    rd_text_free(&line);
    if (t->s->fills[i])
        write_to_row(t, inst, inst->dst);
}

void rd_cuda_inst(rd_cuda_text *t, int32_t i)
{
    const rd_inst *inst = &t->s->p->inst[i];

    switch (inst->kind) {
    case RD_I_STORE: write_store(t, inst); break;
    case RD_I_START:
        if (t->s->cross[0] < 0) /* else patches begin their states */
            rd_cuda_start(t, inst->arg);
        break;
    case RD_I_STEP: rd_cuda_step(t, inst); break;
    case RD_I_SCAN: rd_cuda_scan(t, inst); break;
    case RD_I_CLOSE: rd_cuda_close(t, inst); break;
    case RD_I_EXIT: break; /* what comes later changes nothing */
    default: write_value(t, i);
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */
/* What stands around the loops of the grid, outside in. */
static void write_grid_values(rd_cuda_text *t)
{
    const rd_cuda_shape *s    = t->s;
    int32_t              from = 0;

    for (int32_t g = 0; g < s->n_grid; g++) {
        const rd_loop *l = &s->p->loop[s->grid[g]];

        rd_cuda_items(t, from, l->begin);
        from = l->begin + 1;
    }
}

/* Its part of the axis that is dealt out. */
static void write_chunk(rd_cuda_text *t)
{
    const rd_cuda_shape *s      = t->s;
    const int64_t        extent = s->p->loop[s->dealt].extent;
    rd_text              n = { 0 }, chunks = { 0 };

    rd_cuda_number(t, &n, extent);
    rd_cuda_number(t, &chunks, (extent + s->chunk - 1) / s->chunk);
    rd_cuda_line(t, "const int64_t lo = (int64_t)RD_REST(left, %s) * %" PRId64 ";", chunks.at,
                 s->chunk);
    rd_cuda_line(t, "const int64_t hi = RD_LESS(lo + %" PRId64 ", %s);", s->chunk, n.at);
    rd_cuda_line(t, "left = RD_QUOTIENT(left, %s);", chunks.at);
    rd_text_free(&n);
    rd_text_free(&chunks);
}

/* "const int64_t i0 = ..., i1 = ...;": which item this is; v: the first of those side by side. */
static void write_indices(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;

    rd_cuda_line(t, "uint64_t left = (uint64_t)item;");
    if (s->dealt >= 0)
        write_chunk(t);
    for (int32_t g = s->n_grid; g-- > 0;) {
        const rd_loop *l     = &s->p->loop[s->grid[g]];
        const bool     strip = l->axis == s->strip;
        rd_text        n     = { 0 };

        t->open |= UINT64_C(1) << l->axis;
        rd_cuda_number(t, &n,
                       strip && s->pairs >= 0 ? rd_cuda_pair_items(s, l->extent)
                       : strip                ? l->extent / s->wide
                                              : l->extent);
        rd_cuda_line(t, "const int64_t %c%" PRId32 " = %" PRId32 " * (int64_t)RD_REST(left, %s);",
                     strip ? 'v' : 'i', l->axis, strip ? s->wide : 1, n.at ? n.at : "");
        if (g > 0 || s->square[0] >= 0)
            rd_cuda_line(t, "left = RD_QUOTIENT(left, %s);", n.at ? n.at : "");
        rd_text_free(&n);
    }
}

void rd_cuda_declare_item(rd_cuda_text *t)
{
    write_indices(t);
    write_grid_values(t);
}

static void write_range(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;
    rd_text              n = { 0 };

    rd_cuda_number(t, &n, s->p->loop[s->cut[0]].extent);
    rd_cuda_line(t, "const int64_t lo = range * q.head.range, hi = RD_LESS(lo + q.head.range, %s);",
                 n.at ? n.at : "");
    rd_text_free(&n);
}

static bool is_of_team(rd_cuda_home home)
{
    return home == RD_HOME_OWN || home == RD_HOME_TEAM;
}

/* Slots; scratch lies behind the memory of the team's folds, or of the thread's. */
void rd_cuda_declare_slots(rd_cuda_text *t)
{
    const rd_cuda_shape *s    = t->s;
    const char           name = t->tree ? 'x' : 'm'; /* marks of trees are m */

    for (int32_t k = 0; k < s->n_slot; k++)
        if (k < s->p->first_scratch)
            rd_cuda_line(t, "char *const %c%" PRId32 " = q.m[%" PRId32 "];", name, k, k);
        else if (is_of_team(s->scratch[k - s->p->first_scratch]))
            rd_cuda_line(t, "char *const %c%" PRId32 " = %s + %" PRId64 ";", name, k,
                         s->scratch[k - s->p->first_scratch] == RD_HOME_OWN ? "own" : "ours",
                         s->scratch_at[k - s->p->first_scratch]);
}

/* So many blocks of threads a multiprocessor is to have registers for: fewer where they would be
 * spilled (nvrtc.c).  Pairs have as many at hand as there are; short rows take few, and an H200
 * was no faster for a bound, with which their loops are an instruction longer. */
static int32_t fit_of(const rd_cuda_shape *s)
{
    const int32_t threads = s->n_cut > 0 ? s->choice.cut_fit : s->choice.fit;

    return s->pairs >= 0 || s->n_stretch > 0 ? 1 : threads / s->choice.block;
}

void rd_cuda_kernel_head(rd_cuda_text *t, const char *name, int32_t number)
{
    char shown[16] = "";

    if (number >= 0)
        snprintf(shown, sizeof shown, "%" PRId32, number);
    rd_cuda_line(
        t,
        "extern \"C\" __global__ void __launch_bounds__(RD_THREADS, RD_FIT) %s%s(const rd_call q)",
        name, shown);
}

/* Do its exponentials take a table? */
static bool takes_exp_f32(const rd_cuda_shape *s)
{
    if (s->p->fast)
        return false;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (rd_takes_power(&s->fold[k].of) && rd_dtype_class(s->p->fold[k].type) == RD_CLASS_f32)
            return true;
    for (int32_t i = 0; i < s->p->n_inst; i++)
        if (s->p->inst[i].kind == RD_I_MAP && s->p->inst[i].op == RD_OP_exp &&
            rd_dtype_class(s->p->inst[i].type) == RD_CLASS_f32)
            return true;
    return false;
}

/* Neighbouring teams have neighbouring items, which may share what they read. */
static void write_item_and_range(rd_cuda_text *t)
{
    rd_cuda_line(t, "const int64_t item = (int64_t)RD_REST((uint64_t)work, q.head.n_item);");
    rd_cuda_line(t, "const int64_t range = (int64_t)RD_QUOTIENT((uint64_t)work, q.head.n_item);");
}

static const char *const part_names[] = { "run", "ranges", NULL, "totals", "go_on", "sweep" };

/* Scratch of the item; of a tree that of all, as its addresses say where an item's is. */
static void declare_items_memory(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;

    for (int32_t k = 0; k < s->p->n_scratch; k++)
        if (s->scratch[k] == RD_HOME_ITEM && t->tree)
            rd_cuda_line(t, "char *const x%" PRId32 " = (char *)q.head.items + %" PRId64 ";",
                         s->p->first_scratch + k, s->scratch_at[k]);
        else if (s->scratch[k] == RD_HOME_ITEM)
            rd_cuda_line(t,
                         "char *const m%" PRId32
                         " = (char *)q.head.items + item * (int64_t)%" PRId64 " + %" PRId64 ";",
                         s->p->first_scratch + k, s->item_bytes, s->scratch_at[k]);
}

static bool is_of_range(rd_cuda_part part)
{
    return part == RD_PART_RANGES || part == RD_PART_TOTALS || part == RD_PART_GO_ON ||
           part == RD_PART_SWEEP;
}

/* Its nodes are left; who comes last of the last cut loop's goes on behind it. */
static void end_range(rd_cuda_text *t, int32_t cut)
{
    const rd_cuda_shape *s    = t->s;
    const bool           ends = s->ends && cut == s->n_cut - 1;
    bool                 some = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (s->fold[k].cut == cut) {
            rd_cuda_leave_nodes(t, k);
            some = true;
        }
    if (!some && !ends)
        return;
    rd_cuda_arrive(t, cut);
    rd_cuda_line(t, "{");
    t->indent++;
    if (ends) {
        t->part = RD_PART_END;
        rd_cuda_items(t, s->from, s->to);
    }
    t->indent--;
    rd_cuda_line(t, "}");
}

/* All of an item, or of a range of it. */
static void write_body(rd_cuda_text *t, rd_cuda_part part, int32_t cut)
{
    const rd_cuda_shape *s = t->s;

    write_grid_values(t);
    if (part == RD_PART_SWEEP) {
        rd_cuda_write_tile(t);
        return;
    }
    rd_cuda_items(t, s->from, part == RD_PART_RANGES ? s->p->loop[s->cut[cut]].end + 1 : s->to);
    if (part == RD_PART_RANGES)
        end_range(t, cut);
    for (int32_t k = 0; part == RD_PART_TOTALS && k < s->p->n_fold; k++)
        rd_cuda_end_totals(t, k);
}

/* What the threads of a block share. */
void rd_cuda_declare_shared(rd_cuda_text *t)
{
    const rd_cuda_shape *s     = t->s;
    const int32_t        words = rd_cuda_shared_words(s);
    rd_text              n     = { 0 };

    if (takes_exp_f32(s))
        rd_cuda_line(t, "rd_fill_exp_table();");
    if (words) {
        rd_cuda_line(t, "RD_SHARED(uint64_t, words, %" PRId32 ");",
                     words * (s->choice.block / s->team));
        rd_cuda_line(t, "const int z = (int)threadIdx.x / RD_TEAM * %" PRId32 ";", words);
    }
    if (s->square[0] >= 0)
        rd_cuda_declare_squares(t);
    if (s->n_row > 0) {
        rd_cuda_number(t, &n, s->team_words);
        rd_cuda_line(t, "RD_SHARED_DYNAMIC(uint%" PRId32 "_t, rows);", 8 * s->row_word);
        rd_cuda_line(t, "const int z1 = (int)threadIdx.x / RD_TEAM * (int)%s;", n.at ? n.at : "");
    }
    if (s->pairs >= 0 && !t->tree)
        rd_cuda_declare_staged(t);
    rd_cuda_declare_stretches(t);
    rd_text_free(&n);
}

/* Which team this is, and its memory. */
void rd_cuda_declare_team(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;

    rd_cuda_line(t, "const int t = (int)threadIdx.x %% RD_TEAM;");
    rd_cuda_line(t, "const int64_t teams = (int64_t)gridDim.x * (RD_THREADS / RD_TEAM);");
    rd_cuda_line(t, "const int64_t team = (int64_t)blockIdx.x * (RD_THREADS / RD_TEAM) + "
                    "threadIdx.x / RD_TEAM;");
    rd_cuda_line(t,
                 "char *const ours = (char *)q.head.work + team * %" PRId64
                 ", *const own = ours + %" PRId64 " + t * (int64_t)%" PRId64 ";",
                 s->team_bytes + s->team * s->own_bytes, s->team_bytes, s->own_bytes);
    rd_cuda_line(t, "uint32_t warnings = 0;");
    rd_cuda_declare_slots(t);
}

/* Which item it is, or which range of one, and its memory. */
void rd_cuda_declare_work(rd_cuda_text *t, rd_cuda_part part)
{
    const rd_cuda_shape *s = t->s;

    if (is_of_range(part))
        write_item_and_range(t);
    else
        rd_cuda_line(t, "const int64_t item = work;");
    if (s->scanned)
        rd_cuda_line(t, "char *const nodes = (char *)q.head.nodes + item * (int64_t)%" PRId64 ";",
                     s->node_bytes);
    else if (s->n_cut > 0 && !s->swept)
        rd_cuda_line(
            t, "char *const nodes = (char *)q.head.nodes + item * q.head.item_rows * RD_ROW;");
    declare_items_memory(t);
}

/* One item, or one range of one, and what is done. */
static void write_work(rd_cuda_text *t, rd_cuda_part part, int32_t cut)
{
    const rd_cuda_shape *s = t->s;

    rd_cuda_declare_work(t, part);
    write_indices(t);
    if (is_of_range(part))
        write_range(t);
    if (s->square[0] >= 0)
        rd_cuda_write_square(t);
    else
        write_body(t, part, cut);
    rd_cuda_line(t, "RD_MEET");
}

/* `cut`: of ranges, which of the cut loops; else -1. */
static void write_kernel(rd_cuda_text *t, rd_cuda_part part, int32_t cut)
{
    t->part = part;
    t->cut  = cut;
    t->open = 0;
    rd_cuda_kernel_head(t, part_names[part], cut);
    rd_cuda_line(t, "{");
    t->indent++;
    rd_cuda_declare_shared(t);
    rd_cuda_declare_team(t);
    if (rd_cuda_moves_rows(t->s)) {
        rd_cuda_open_block(t);
        write_work(t, part, cut);
        rd_cuda_close_block(t);
    } else {
        rd_cuda_line(
            t,
            part == RD_PART_SWEEP
                ? "for (int64_t work; (work = rd_next_tile((uint64_t *)q.head.nodes)) < "
                  "q.head.n_work;) {"
                : "for (int64_t work = q.head.first + team; work < q.head.n_work; work += teams) {");
        t->indent++;
        write_work(t, part, cut);
        t->indent--;
        rd_cuda_line(t, "}");
    }
    if (t->s->reports)
        rd_cuda_line(t, "RD_WARN(warnings)");
    t->indent--;
    rd_cuda_line(t, "}\n");
}

/* The numbers are known once all is written. */
void rd_cuda_write_call(const rd_cuda_text *t, rd_text *to)
{
    const rd_cuda_shape *s     = t->s;
    const int32_t        slots = s->n_slot < s->p->first_scratch ? s->n_slot : s->p->first_scratch;

    rd_text_add(to,
                "#define RD_TEAM %" PRId32 "\n#define RD_THREADS %" PRId32
                "\n#ifndef RD_FIT\n#define RD_FIT %" PRId32
                "\n#endif\n#define RD_TEAMS (RD_THREADS / RD_TEAM)\n#define RD_FAN %" PRId32
                "\n#define RD_ROW (int64_t)%" PRId64 "\n"
                "typedef struct rd_call {\n    rd_call_head head;\n    char *m[%" PRId32
                "];\n    int64_t N[%" PRId32 "];\n} rd_call;\n",
                s->team, s->choice.block, fit_of(s), s->choice.fan, s->row_bytes, slots ? slots : 1,
                t->n_number ? t->n_number : 1);
}

void rd_cuda_write(rd_cuda_text *t, rd_text *to)
{
    const rd_cuda_shape *s       = t->s;
    rd_text              kernels = { 0 };

    if (rd_cuda_write_tree(t, to))
        return;
    t->to     = &kernels;
    t->spread = -1;
    rd_emit_ops(&kernels, s->p);
    rd_emit_functions(&kernels, s->p);
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_emit_reducer(&kernels, &s->fold[k].of, k);
        rd_cuda_fold_functions(t, k);
        rd_cuda_scan_functions(t, k);
    }
    if (s->cross[0] >= 0)
        rd_cuda_write_cross(t);
    else if (s->n_cut == 0)
        write_kernel(t, RD_PART_RUN, -1);
    else if (s->swept)
        write_kernel(t, RD_PART_SWEEP, -1);
    else if (s->scanned) {
        write_kernel(t, RD_PART_TOTALS, -1);
        for (int32_t k = 0; k < s->p->n_fold; k++)
            rd_cuda_lift_kernel(t, k);
        write_kernel(t, RD_PART_GO_ON, -1);
    } else
        for (int32_t k = 0; k < s->n_cut; k++)
            write_kernel(t, RD_PART_RANGES, k);
    rd_cuda_write_call(t, to);
    rd_text_add(to, "%s", kernels.at ? kernels.at : "");
    to->failed |= kernels.failed;
    rd_text_free(&kernels);
}
