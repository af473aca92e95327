/* emit.c - a pass as C text: macros for its elements and states, between the library's own code
 * (prelude.h) and the loops (loops.h).  What operators and reducers do is the text of their rows in
 * ops.def and reducers.def. */
#include "kernels/cpu/jit/emit.h"
#include "kernels/cpu/jit/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const char rd_prelude[], rd_loops[];

/* ---- Sizes ----------------------------------------------------------------------------------- */
static int widest_sum(const rd_spec *spec)
{
    int widest = 1;

    for (int k = 0; k < spec->n_inst; k++) {
        const int size = rd_elem_size(rd_elem_of((rd_dtype)spec->inst[k].type));

        widest = spec->inst[k].kind == RD_SPEC_SUM && size > widest ? size : widest;
    }
    return widest;
}

/* 4 vectors; but gcc takes loops of up to 16 elements apart before it makes vectors of them. */
static int strip_of_sums(const rd_spec *spec)
{
    const int n = 4 * spec->vector / widest_sum(spec);
    return n > 32 ? n : 32;
}

/* States of so many elements fit the registers beside what computes them; a row of lanes has no
 * more than these. */
static int strip(const rd_spec *spec)
{
    const int registers = spec->vector == 64 ? 20 : 8;
    int       bytes = 0, n = rd_spec_closes_blocks(spec) ? spec->lanes : 64, widest = 1;

    if (spec->n_loop)
        return strip_of_sums(spec);
    for (int f = 0; f < spec->n_fold; f++) {
        const int size = rd_elem_size(rd_elem_of((rd_dtype)spec->fold[f].type));

        if (!rd_spec_takes_part(spec, f))
            continue;
        bytes += size * (rd_reducer_table[spec->fold[f].reducer].n_state -
                         rd_fold_is_count(&spec->fold[f], 0));
        widest = size > widest ? size : widest;
    }
    while (n * bytes > registers * spec->vector && n * widest > spec->vector)
        n /= 2;
    return n;
}

/* Vectors that a strip of the only exponential takes, or 0: there is none, or several, or a fold
 * takes powers too. */
static int vectors_of_power(const rd_spec *spec)
{
    int n = 0, vectors = 0;

    for (int k = 0; k < spec->n_inst; k++)
        if (rd_spec_is_power(spec, k)) {
            vectors =
                strip(spec) * rd_elem_size(rd_elem_of((rd_dtype)spec->inst[k].type)) / spec->vector;
            n++;
        }
    for (int f = 0; f < spec->n_fold; f++)
        n += 2 * rd_fold_has_power(&spec->fold[f]);
    return n == 1 ? vectors : 0;
}

/* Rows that are taken together.  Sums of short loops take half of the registers, 32 with AVX-512,
 * or else 16.  An exponential is a chain of a dozen operations, and a processor does not see far
 * enough ahead to find what else there is to do in the next row: it wants eight vectors side by
 * side (a Gaussian sum of f32 on a Zen 4: four, 14.4 cycles for each; two rows of four, 12.8; its
 * multiplications and fmas alone take 11). */
static int shared_rows(const rd_spec *spec)
{
    int vectors = vectors_of_power(spec), most = 8;

    if (spec->n_loop) {
        vectors = strip_of_sums(spec) * widest_sum(spec) / spec->vector;
        most    = spec->vector == 64 ? 16 : 8;
    }
    return vectors == 0 ? 1 : 4 * vectors <= most ? 4 : 2 * vectors <= most ? 2 : 1;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Loops over elements and what they need. */
static void emit_loops(rd_text *text, const rd_spec *spec)
{
    static const char *const forms[] = { "MAPS", "LANES", "COLUMNS", "TOTALS" };

    rd_text_add(text,
                "#define FORM_%s\n#define LANES %d\n#define STRIP %d\n#define JAM %d\n#define PADS "
                "%d\n#define ROWS %d\n",
                forms[spec->form], spec->lanes, strip(spec), rd_spec_jam(spec), rd_spec_pads(spec),
                shared_rows(spec));
    rd_emit_pointers(text, spec, "POINTERS", false);
    rd_emit_pointers(text, spec, "STRIP_POINTERS", true);
    rd_emit_copies(text, spec);
    rd_emit_fetch(text, spec);
    rd_emit_fetch_strip(text, spec);
    rd_emit_fetch_next(text, spec);
    rd_emit_past(text, spec);
    rd_emit_element(text, spec);
    rd_emit_sums(text, spec);
    rd_emit_powers(text, spec);
    rd_emit_states(text, spec);
    rd_emit_steps(text, spec, "FIRST", "first", false);
    rd_emit_steps(text, spec, "STEP", "step", true);
    if (rd_spec_closes_blocks(spec))
        rd_emit_block(text, spec);
    if (spec->form == RD_SPEC_TOTALS)
        rd_emit_tree(text, spec);
    rd_text_add(text, "%s", rd_loops);
}

/* ---- Phases ---------------------------------------------------------------------------------- */
static int phases(const rd_spec *spec)
{
    int n = 0;

    for (int k = 0; k < spec->n_inst; k++)
        n = spec->inst[k].phase > n ? spec->inst[k].phase : n;
    return n;
}

/* One phase, or what is between them, as a spec of its own: numbers are the same, and what others
 * make is given. */
static void phase_of(rd_spec *one, const rd_spec *spec, int phase)
{
    bool used[RD_SPEC_OPERANDS] = { false };

    memcpy(one, spec, rd_spec_bytes(spec));
    one->phase = (uint8_t)phase;
    one->form  = phase ? RD_SPEC_MAPS : RD_SPEC_PHASES;
    for (int k = 0; k < spec->n_inst; k++) {
        rd_spec_inst *inst = &one->inst[k];

        if (inst->phase != phase && inst->kind != RD_SPEC_CONST)
            inst->kind = RD_SPEC_GIVEN;
        if (inst->kind == RD_SPEC_STEP)
            one->form = RD_SPEC_TOTALS;
        if (inst->kind == RD_SPEC_LOAD || inst->kind == RD_SPEC_STORE)
            used[inst->at] = true;
    }
    for (int k = 0; k < spec->n_operand; k++)
        if (!used[k])
            one->operand[k] = (rd_spec_operand){ .of = spec->operand[k].of };
}

/* Each phase has names of its own, and macros like those of others. */
static void begin_phase(rd_text *text, int phase)
{
    static const char *const own[]    = { "tree",      "take_block", "merge_nodes", "close",
                                          "total_row", "map_row",    "LONGER",      "MOST" };
    static const char *const macros[] = {
        "FORM_MAPS",   "FORM_TOTALS", "LANES",          "STRIP",     "JAM",      "PADS",
        "ROWS",        "POINTERS",    "STRIP_POINTERS", "COPIES",    "PART",     "FETCH",
        "FETCH_STRIP", "FETCHES_END", "FETCH_END",      "FETCH_ROW", "OUTPUTS",  "PAST",
        "HAS_PAST",    "HEAD",        "ELEMENT",        "SUMS",      "HAS_SUMS", "POWERS",
        "STEP_POWERS", "N_POWERS",    "STATES",         "FIRST",     "STEP",     "ENDS",
        "LEVELS",      "BLOCKS",      "NODES",          "CLOSE",     "MERGES",   "HALVES",
        "GIVES",       "PARTS",       "EACH_OF_PART",   "ALL_ROWS"
    };

    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        rd_text_add(text, "#undef %s\n#define %s %s_%d\n", own[k], own[k], own[k], phase);
    for (size_t k = 0; k < sizeof macros / sizeof *macros; k++)
        rd_text_add(text, "#undef %s\n", macros[k]);
}

static bool makes_value(const rd_spec_inst *inst)
{
    return inst->phase == 0 && inst->kind != RD_SPEC_STORE && inst->kind != RD_SPEC_CONST;
}

/* What a row has one of. */
static void emit_given(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "typedef struct given {\n    char none;\n");
    for (int k = 0; k < spec->n_inst; k++)
        if (makes_value(&spec->inst[k]))
            rd_text_add(text, "    %s v%d;\n", rd_c_types[rd_elem_of((rd_dtype)spec->inst[k].type)],
                        k);
    rd_text_add(
        text,
        "} given;\n#define GIVEN_PARAMETER , const given *const w\n#define GIVEN_ARGUMENT , w\n");
}

static void emit_close_of_row(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];
    const char         *type = rd_c_types[rd_elem_of((rd_dtype)inst->type)];
    char                tree[20];

    snprintf(tree, sizeof tree, "t%d.w", spec->fold[inst->at].phase);
    rd_text_add(text, " \\\n    %s v%d; finish%d(", type, number, inst->at);
    rd_emit_state_arguments(text, spec, inst->at, tree, "[0][0]");
    rd_text_add(text, ", rd_double_of(0x%" PRIx64 "), &v%d);", inst->value, number);
}

/* Instructions [from, to) that are in no phase. */
static void emit_between(rd_text *text, const rd_spec *spec, int phase, int from, int to)
{
    rd_text_add(text, "#define BEFORE_%d(j)", phase);
    for (int k = from; k < to; k++) {
        const rd_spec_inst *inst = &spec->inst[k];

        if (inst->phase)
            continue;
        if (inst->kind == RD_SPEC_CLOSE)
            emit_close_of_row(text, spec, k);
        else if (inst->kind == RD_SPEC_STORE)
            rd_text_add(text, " \\\n    *p%d_##j = (%s)v%d;", inst->at,
                        rd_c_memory_types[spec->operand[inst->at].type], inst->a);
        else
            rd_emit_value(text, spec, k);
        if (makes_value(inst))
            rd_text_add(text, " row.v%d = v%d;", k, k);
    }
    rd_text_add(text, "\n");
}

/* The instruction behind the last one of a phase; behind the last phase all. */
static int end_of(const rd_spec *spec, int phase, int n_phase)
{
    int end = phase > n_phase ? spec->n_inst : 0;

    for (int k = 0; k < spec->n_inst; k++)
        end = spec->inst[k].phase == phase ? k + 1 : end;
    return end;
}

/* All phases of a row, then the next one: what a phase has read or made is near for those that
 * follow, and results leave while other rows come. */
static void emit_rows(rd_text *text, const rd_spec *spec)
{
    const int n_phase = phases(spec);
    rd_spec   one;

    phase_of(&one, spec, 0);
    rd_emit_pointers(text, &one, "OF_ROW", false);
    for (int k = 1, from = 0; k <= n_phase + 1; from = end_of(spec, k++, n_phase))
        emit_between(text, &one, k, from, end_of(spec, k, n_phase));
    rd_text_add(text, "static void rows(const rd_kernel_call *q)\n{\n    for (int64_t r = 0; r < "
                      "q->rows; r++) {\n"
                      "        given row;\n        OF_ROW(0, r, 0)\n");
    for (int k = 1; k <= n_phase; k++) {
        phase_of(&one, spec, k);
        rd_text_add(text, "        BEFORE_%d(0)\n", k);
        if (one.form == RD_SPEC_TOTALS)
            rd_text_add(text, "        tree_%d t%d;\n        total_row_%d(q, &t%d, r, &row);\n", k,
                        k, k, k);
        else
            rd_text_add(text, "        map_row_%d(q, r, &row);\n", k);
    }
    rd_text_add(text,
                "        BEFORE_%d(0)\n    }\n}\n"
                "__attribute__((visibility(\"default\"))) const rd_kernels rdim_kernels = { .map = "
                "rows };\n",
                n_phase + 1);
}

static void emit_phases(rd_text *text, const rd_spec *spec)
{
    rd_spec one;

    emit_given(text, spec);
    rd_text_add(text, "#define IS_PHASE 1\n");
    for (int k = 1; k <= phases(spec); k++) {
        phase_of(&one, spec, k);
        begin_phase(text, k);
        emit_loops(text, &one);
    }
    emit_rows(text, spec);
}

void rd_spec_text(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "%s\n", rd_prelude);
    rd_emit_ops(text, spec);
    for (int f = 0; f < spec->n_fold; f++)
        rd_emit_fold(text, spec, f);
    rd_emit_vectors(text, spec);
    if (spec->form == RD_SPEC_PHASES) {
        emit_phases(text, spec);
        return;
    }
    rd_text_add(text, "#define GIVEN_PARAMETER\n#define GIVEN_ARGUMENT\n#define IS_PHASE 0\n");
    emit_loops(text, spec);
}

const char *const *rd_spec_flags(int vector_bytes)
{
    /* As the library's own kernels are compiled, see CMakeLists.txt. */
#define ALWAYS                                                                         \
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", \
        "-fvisibility=hidden", "-fPIC", "-shared", "-pipe", "-w"
    static const char *const baseline[] = { ALWAYS, NULL };
    static const char *const avx2[]     = { ALWAYS, "-mavx2", "-mfma", NULL };
    static const char *const avx512[]   = { ALWAYS,       "-mavx2",
                                            "-mfma",      "-mavx512f",
                                            "-mavx512bw", "-mavx512dq",
                                            "-mavx512vl", "-mprefer-vector-width=512",
                                            NULL };

    return vector_bytes == 64 ? avx512 : vector_bytes == 32 ? avx2 : baseline;
}
