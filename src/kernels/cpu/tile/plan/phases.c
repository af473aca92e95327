/* phases.c - rows that one compiled pass goes through one by one, each in several loops over its
 * columns, the phases:
 *
 *   for i0:                                  rows
 *     fold0 starts
 *     for i1: fold0 takes x                  phase 1
 *     r = fold0                              once a row
 *     for i1: y = x - r                      phase 2
 *
 * The machine would go through each loop with a tile of rows, and pay for each instruction of each
 * tile.  A row that a phase has read or made is in the first-level cache for the next one, and
 * results leave while other rows come: memory serves reads and writes together at 40 GB/s, either
 * alone at 28 (Zen 4). */
#include "core/tree.h"
#include "kernels/cpu/tile/plan/passes.h"

typedef struct phases {
    rd_writer      w;
    int32_t        begin, end; /* the LOOP and its END */
    const rd_loop *row, *col;
    int32_t        n_phase;
    int32_t        number[RD_SPEC_FOLDS]; /* the program's, of the folds so far */
    int32_t        n_state;
    bool           wrong;
} phases;

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Is the slot of a LOAD stored to in the same loop, or that of a STORE read?  Elements of a loop do
 * not wait for each other; and what there is one of for a row is read before its first phase. */
static bool is_met(const phases *s, int32_t i)
{
    const rd_program  *p    = s->w.p;
    const int32_t      loop = rd_loop_around(p, i), rows = p->inst[s->begin].arg;
    const rd_inst_kind other = p->inst[i].kind == RD_I_LOAD ? RD_I_STORE : RD_I_LOAD;
    bool               met   = false;

    for (int32_t k = s->begin; k < s->end; k++) {
        const int32_t around = rd_loop_around(p, k);

        met |= p->inst[k].kind == other &&
               p->address[p->inst[k].arg].slot == p->address[p->inst[i].arg].slot &&
               (around == loop || around == rows || loop == rows);
    }
    return met;
}

static void write_memory(phases *s, int32_t i)
{
    const rd_inst    *inst = &s->w.p->inst[i];
    const rd_address *at   = &s->w.p->address[inst->arg];
    const bool        load = inst->kind == RD_I_LOAD;
    rd_pass_operand   o    = { .walk = rd_tile_walk_of(at, s->row, s->col), .inst = i };

    if (rd_pass_gathers(at) || is_met(s, i) ||
        (s->w.phase ? !load && o.walk.col != 1 : o.walk.col != 0)) {
        s->wrong = true;
        return;
    }
    if (load) {
        rd_writer_add(&s->w,
                      (rd_spec_inst){ .kind = RD_SPEC_LOAD,
                                      .type = (uint8_t)at->type,
                                      .at   = rd_writer_operand(&s->w, o) },
                      inst->dst);
        *(s->w.phase ? &s->w.pass->n_load : &s->w.pass->n_row_load) +=
            at->slot < s->w.p->first_scratch;
        return;
    }
    o.past = s->w.code->inst[i].stream;
    rd_writer_add(&s->w,
                  (rd_spec_inst){ .kind = RD_SPEC_STORE,
                                  .a    = rd_writer_value(&s->w, inst->a),
                                  .at   = rd_writer_operand(&s->w, o) },
                  -1);
}

/* ---- Folds ----------------------------------------------------------------------------------- */
static bool takes(rd_reducer_id reducer)
{
    return reducer != RD_RED_user && rd_reducer_table[reducer].n_out == 1 &&
           !rd_reducer_decides(reducer) && !rd_reducer_places(reducer);
}

/* Is a row all of the fold, in all lanes and few blocks? */
static bool is_total(const phases *s, const rd_tile_fold *f)
{
    const rd_fold *fold = f->fold;

    return takes(fold->reducer) && !fold->scan && !f->masked && !f->weighted &&
           rd_tile_folds_run(f, s->col) && fold->steps == RD_TREE_STEPS && fold->n_block >= 1 &&
           fold->n_block <= RD_SPEC_BLOCKS && fold->n_cell == 1 && fold->cell.n_add == 0 &&
           fold->lane.n_add == 1 && fold->lane.offset == 0 &&
           fold->lane.add[0].axis == s->col->axis && fold->lane.add[0].coef == 1 &&
           !fold->lane.add[0].local && fold->out == fold->type && fold->n_out == 1 &&
           rd_dtype_kind(fold->type) == RD_KIND_FLOAT;
}

/* Folds have as many lanes, so blocks end together. */
static void write_step(phases *s, const rd_inst *inst)
{
    const rd_tile_fold *f    = &s->w.code->fold[inst->arg];
    rd_spec            *spec = s->w.spec;

    if (!s->w.phase || spec->n_fold == RD_SPEC_FOLDS || s->n_state + f->n_state > RD_SPEC_STATES ||
        inst->c >= 0 || !is_total(s, f) || (spec->n_fold && spec->lanes != f->fold->lanes)) {
        s->wrong = true;
        return;
    }
    spec->lanes             = (uint8_t)f->fold->lanes;
    spec->blocks            = f->fold->n_block > 1;
    s->w.pass->block        = f->fold->steps * f->fold->lanes;
    s->number[spec->n_fold] = inst->arg;
    s->n_state += f->n_state;
    rd_writer_step(&s->w, inst);
}

static void write_close(phases *s, const rd_inst *inst)
{
    const rd_fold *fold = &s->w.p->fold[inst->arg];
    int16_t        k    = 0;

    while (k < s->w.spec->n_fold && s->number[k] != inst->arg)
        k++;
    if (s->w.phase || k == s->w.spec->n_fold) {
        s->wrong = true;
        return;
    }
    rd_writer_add(&s->w,
                  (rd_spec_inst){ .kind  = RD_SPEC_CLOSE,
                                  .type  = (uint8_t)fold->out,
                                  .at    = k,
                                  .value = (rd_word){ .f64 = fold->ddof }.u64 },
                  inst->dst);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
static void write_inst(phases *s, int32_t i)
{
    const rd_inst *inst = &s->w.p->inst[i];

    if (rd_pass_has_halves(s->w.p, s->w.code, i)) {
        s->wrong = true;
        return;
    }
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_CAST:
    case RD_I_SELECT: rd_writer_compute(&s->w, inst); break;
    case RD_I_MAP:
        if (rd_pass_can_map(inst))
            rd_writer_compute(&s->w, inst);
        else
            s->wrong = true;
        break;
    case RD_I_LOAD:
    case RD_I_STORE: write_memory(s, i); break;
    case RD_I_START: s->wrong |= s->w.phase > 0; break;
    case RD_I_STEP: write_step(s, inst); break;
    case RD_I_CLOSE: write_close(s, inst); break;
    default: s->wrong = true;
    }
}

static void write_phase(phases *s, int32_t pc, const rd_loop *loop)
{
    if (loop->kind != RD_LOOP_EACH || loop->backwards || loop->axis != s->col->axis) {
        s->wrong = true;
        return;
    }
    s->w.phase = ++s->n_phase;
    for (int32_t i = pc + 1; i < loop->end && !s->wrong && !s->w.full; i++)
        write_inst(s, i);
    s->w.phase = 0;
}

static bool is_whole(const rd_program *p, const rd_loop *loop)
{
    return p->axis_extent[loop->axis] == loop->extent && rd_tile_visits_all(p, loop);
}

/* The first loop in this one, if its rows are whole. */
static const rd_loop *columns_of(const rd_program *p, int32_t begin)
{
    const rd_loop *outer = &p->loop[p->inst[begin].arg];

    for (int32_t i = begin + 1; i < outer->end; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            const rd_loop *col = &p->loop[p->inst[i].arg];
            return col->axis != outer->axis && is_whole(p, col) ? col : NULL;
        }
    return NULL;
}

/* Of each column a phase has what it makes itself; what is made once a row all have. */
static bool reads_its_own(const rd_spec *spec, const rd_spec_inst *inst)
{
    const int16_t value[] = { inst->a, inst->b, inst->c };
    int           n       = 0;
    bool          own     = true;

    switch ((rd_spec_kind)inst->kind) {
    case RD_SPEC_MAP: n = rd_op_table[inst->op].arity; break;
    case RD_SPEC_SELECT: n = 3; break;
    case RD_SPEC_STEP: n = 2; break;
    case RD_SPEC_CAST:
    case RD_SPEC_STORE: n = 1; break;
    default: break;
    }
    for (int k = 0; k < n && k < 3; k++)
        own = own && (spec->inst[value[k]].phase == 0 || spec->inst[value[k]].phase == inst->phase);
    return own;
}

/* Does a phase with folds store past the caches?  Loops with folds cannot. */
static bool stores_past(const rd_spec *spec, const rd_spec_inst *inst)
{
    bool folds = false;

    for (int32_t f = 0; f < spec->n_fold; f++)
        folds |= spec->fold[f].phase == inst->phase;
    return folds && inst->kind == RD_SPEC_STORE && spec->operand[inst->at].past;
}

static bool is_right(const phases *s)
{
    const rd_spec *spec = s->w.spec;
    bool           ok   = !s->wrong && !s->w.full && s->n_phase > 1 && spec->n_fold > 0;

    for (int32_t k = 0; ok && k < spec->n_inst; k++)
        ok = reads_its_own(spec, &spec->inst[k]) && !stores_past(spec, &spec->inst[k]);
    return ok;
}

bool rd_tile_find_phases(const rd_program *p, const rd_tile_code *code, int32_t begin,
                         rd_tile_pass *pass)
{
    const rd_loop *loop = &p->loop[p->inst[begin].arg], *col = columns_of(p, begin);
    rd_spec        spec;
    rd_name        name[RD_WRITER_NAMES];
    phases         s = { .w = { .p = p, .code = code, .pass = pass, .spec = &spec, .name = name },
                         .begin = begin,
                         .end   = loop->end,
                         .row   = loop,
                         .col   = col };

    if (loop->kind != RD_LOOP_EACH || loop->backwards || !col)
        return false;
    *pass = (rd_tile_pass){ .first = begin,
                            .last  = begin,
                            .rows  = (int32_t)(loop - p->loop),
                            .cols  = (int32_t)(col - p->loop),
                            .nest  = true };
    rd_writer_begin(&s.w, RD_SPEC_PHASES, 1);
    for (int32_t i = begin + 1; i < loop->end && !s.wrong && !s.w.full; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            write_phase(&s, i, &p->loop[p->inst[i].arg]);
            i = p->loop[p->inst[i].arg].end;
        } else
            write_inst(&s, i);
    if (!is_right(&s))
        return false;
    if (!spec.blocks)
        pass->block = col->extent;
    pass->code = rd_pass_of(&spec);
    return true;
}
