/* emit_folds.c - what a pass does with states, as C text: the rows of reducers.def as functions,
 * states in registers and in memory, ends of blocks, and trees on the stack. */
#include "kernels/cpu/jit/parts.h"
#include "kernels/cpu/simd/simd.h"
#include <stdio.h>

/* ---- Tables ---------------------------------------------------------------------------------- */
typedef struct fold_code {
    const char *first, *step, *block, *merge, *finish;
} fold_code;

static const fold_code fold_codes[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, identity, first, step, \
                      block, merge, finish, empty)                                                 \
    [RD_RED_##name] = { #first, #step, #block, #merge, #finish },
#include "core/reducers.def"
};

/* The step of states that have met an element, of weight 1: what the row comes to then, as in
 * simd/moments.h, lse.h. */
static const char *begun_step(rd_reducer_id reducer, bool has_fma)
{
    switch (reducer) {
    /* S(0) is counted apart.  An fma adds, too, with the same rounding: elsewhere than where four
     * additions queue up (mean and variance of rows of 8192 f32 on Zen 4: 0.87 of the time). */
    case RD_RED_moments:
        return has_fma ? "T d = x - S(1); S(2) = RD_F(fma)(d, 1, S(2)); S(3) += d * d;"
                       : "T d = x - S(1); S(2) += d; S(3) += d * d;";
    case RD_RED_logsumexp: return "RD_LSE_ONE(power, S(0), S(1), x, RD_LSE_FAR)";
    case RD_RED_maxsumexp: return "RD_LSE_ONE(power, S(0), S(1), x, 0)";
    default: return fold_codes[reducer].step;
    }
}

/* Does it take an exponential of the distance of each element from m?  Steps and merges are handed
 * it as `power`. */
bool rd_fold_has_power(const rd_spec_fold *fold)
{
    return fold->reducer == RD_RED_logsumexp || fold->reducer == RD_RED_maxsumexp;
}

/* What states are merged as. */
static rd_elem merge_elem(const rd_spec_fold *fold)
{
    return fold->widens ? RD_ELEM_f64 : rd_elem_of((rd_dtype)fold->type);
}

/* What states of finished blocks lie in memory as: sums of f32 are f64. */
static rd_elem wide_elem(const rd_spec_fold *fold)
{
    return rd_reducer_adds((rd_reducer_id)fold->reducer) && fold->type == RD_F32
               ? RD_ELEM_f64
               : rd_elem_of((rd_dtype)fold->type);
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Is state k of the fold an index?  It counts rows, in an int as wide as the elements. */
static bool is_index(const rd_spec_fold *fold, int k)
{
    return k == 1 && rd_reducer_places((rd_reducer_id)fold->reducer);
}

/* Does state k of the fold count its elements?  The loops do not; who knows how many rows there
 * were does. */
bool rd_fold_is_count(const rd_spec_fold *fold, int k)
{
    return k == 0 && fold->reducer == RD_RED_moments;
}

/* Does no step change state k of the fold?  To store it again costs as much as what changes. */
static bool is_fixed(const rd_spec_fold *fold, int k)
{
    return k == 1 && fold->reducer == RD_RED_moments;
}

static bool takes_products(const rd_spec_fold *fold)
{
    return fold->reducer == RD_RED_dot;
}

static const char *index_type(const rd_spec_fold *fold)
{
    return rd_elem_size(rd_elem_of((rd_dtype)fold->type)) == 4 ? "int32_t" : "int64_t";
}

/* "float *s0, float *s1", or of b */
static void add_states(rd_text *text, const rd_spec_fold *fold, const char *type, char name)
{
    const int n = rd_reducer_table[fold->reducer].n_state;

    for (int k = 0; k < n; k++)
        rd_text_add(text, "%s%s *%c%d", k ? ", " : "", is_index(fold, k) ? index_type(fold) : type,
                    name, k);
}

static void emit_fold_function(rd_text *text, const rd_spec_fold *fold, int number,
                               const char *name, const char *begin, const char *code)
{
    rd_text_add(text, "static inline void %s%d(", name, number);
    add_states(text, fold, "T", 's');
    rd_text_add(text, "%s\n    %s\n}\n", begin, code);
}

/* block<number>(), and of what comes out of it merge<number>(). */
static void emit_fold_end(rd_text *text, const rd_spec_fold *fold, int number)
{
    const fold_code *code = &fold_codes[fold->reducer];

    emit_fold_function(text, fold, number, "block", ")\n{", code->block);
    rd_emit_class_end(text);
    rd_emit_class(text, merge_elem(fold));
    rd_text_add(text, "static inline void merge%d(", number);
    add_states(text, fold, "T", 's');
    rd_text_add(text, ", ");
    add_states(text, fold, "const T", 'b');
    if (rd_fold_has_power(fold))
        rd_text_add(text,
                    ", const T power)\n{\n    RD_LSE_BY(power, S(0), S(1), B(0), B(1), 0)\n}\n");
    else
        rd_text_add(text, ")\n{\n    %s\n}\n", code->merge);
}

/* What a fold comes to, from its states at the end of the tree. */
static void emit_finish(rd_text *text, const rd_spec_fold *fold, int number)
{
    char wide[20];

    snprintf(wide, sizeof wide, "const %s", rd_c_types[merge_elem(fold)]);
    rd_emit_class(text, rd_elem_of((rd_dtype)fold->type));
    rd_text_add(
        text,
        "#define Y(k) (y[k])\n#define P ddof\n#define RD_NAN NAN\nstatic inline void finish%d(",
        number);
    add_states(text, fold, wide, 's');
    rd_text_add(text,
                ", const double ddof, T *y)\n{\n    %s\n}\n#undef Y\n#undef P\n#undef RD_NAN\n",
                fold_codes[fold->reducer].finish);
    rd_emit_class_end(text);
}

bool rd_spec_closes_blocks(const rd_spec *spec)
{
    return spec->form == RD_SPEC_TOTALS || spec->form == RD_SPEC_LANES ||
           spec->form == RD_SPEC_PHASES;
}

/* first<number>(), step<number>(), and where blocks end in registers what comes after them. */
void rd_emit_fold(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_fold *fold  = &spec->fold[number];
    const fold_code    *code  = &fold_codes[fold->reducer];
    const rd_elem       elem  = rd_elem_of((rd_dtype)fold->type);
    const char         *begin = takes_products(fold)
                                    ? ", const T x, const T w, const int64_t i)\n{"
                                    : ", const T x, const int64_t i)\n{\n    const T w = 1;";

    rd_text_add(text, "#define S(k) (*s##k)\n#define SI(k) (*s##k)\n#define B(k) (*b##k)\n");
    rd_emit_class(text, elem);
    emit_fold_function(text, fold, number, "first", begin, code->first);
    /* Rows come by rising index. */
    rd_text_add(text, "#undef RD_BEST\n#define RD_BEST RD_BEST_LATER\n");
    emit_fold_function(text, fold, number, "step",
                       rd_fold_has_power(fold) ? ", const T x, const int64_t i, const T power)\n{"
                                               : begin,
                       begun_step((rd_reducer_id)fold->reducer, spec->vector >= 32));
    rd_text_add(text, "#undef RD_BEST\n#define RD_BEST RD_BEST_ANYWHERE\n");
    if (rd_spec_closes_blocks(spec))
        emit_fold_end(text, fold, number);
    rd_emit_class_end(text);
    if (spec->form == RD_SPEC_PHASES)
        emit_finish(text, fold, number);
    rd_text_add(text, "#undef S\n#undef SI\n#undef B\n");
}

/* Is the fold one of the phase at hand? */
bool rd_spec_takes_part(const rd_spec *spec, int fold)
{
    return spec->fold[fold].phase == spec->phase;
}

/* Number of the fold's first state among all. */
int rd_spec_first_state(const rd_spec *spec, int fold)
{
    int n = 0;

    for (int k = 0; k < fold; k++)
        n += rd_reducer_table[spec->fold[k].reducer].n_state;
    return n;
}

/* Number of the state behind its last. */
static int states_end(const rd_spec *spec, int fold)
{
    return rd_spec_first_state(spec, fold) + rd_reducer_table[spec->fold[fold].reducer].n_state;
}

/* "&s0[l], &s1[l]", or without an index */
void rd_emit_state_arguments(rd_text *text, const rd_spec *spec, int fold, const char *name,
                             const char *index)
{
    const int at = rd_spec_first_state(spec, fold),
              n  = rd_reducer_table[spec->fold[fold].reducer].n_state;

    for (int k = 0; k < n; k++)
        rd_text_add(text, "%s&%s%d%s", k ? ", " : "", name, at + k, index);
}

void rd_emit_steps(rd_text *text, const rd_spec *spec, const char *macro, const char *function,
                   bool powers)
{
    rd_text_add(text, "#define %s(r)", macro);
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_STEP) {
            rd_text_add(text, " %s%d(", function, spec->inst[k].at);
            rd_emit_state_arguments(text, spec, spec->inst[k].at, "n", "");
            rd_text_add(text, ", v%d", spec->inst[k].a);
            if (takes_products(&spec->fold[spec->inst[k].at]))
                rd_text_add(text, ", v%d", spec->inst[k].b);
            rd_text_add(text, ", r");
            if (powers && rd_fold_has_power(&spec->fold[spec->inst[k].at]))
                rd_text_add(text, ", e%d[i]", k);
            rd_text_add(text, ");");
        }
    rd_text_add(text, "\n");
}

void rd_emit_states(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define STATES(DO)");
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = 0;
             rd_spec_takes_part(spec, f) && k < rd_reducer_table[spec->fold[f].reducer].n_state;
             k++)
            if (is_index(&spec->fold[f], k))
                rd_text_add(text, " DO##_INDEX(%d, %s)", rd_spec_first_state(spec, f) + k,
                            index_type(&spec->fold[f]));
            else
                rd_text_add(text, " DO%s(%d, %s)",
                            rd_fold_is_count(&spec->fold[f], k) ? "##_COUNT"
                            : is_fixed(&spec->fold[f], k)       ? "##_FIXED"
                                                                : "",
                            rd_spec_first_state(spec, f) + k,
                            rd_c_types[rd_elem_of((rd_dtype)spec->fold[f].type)]);
    rd_text_add(text, "\n");
}

/* Lane l of the states is that of a finished block, and goes to the call's states, or to node `to`
 * of the tree. */
void rd_emit_block(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define ENDS(l, to)");
    for (int f = 0; f < spec->n_fold; f++) {
        if (!rd_spec_takes_part(spec, f))
            continue;
        rd_text_add(text, " block%d(", f);
        rd_emit_state_arguments(text, spec, f, "s", "[l]");
        rd_text_add(text, ");");
        for (int k = rd_spec_first_state(spec, f); k < states_end(spec, f); k++)
            if (spec->form == RD_SPEC_TOTALS)
                rd_text_add(text, " t->w%d[to][l] = s%d[l];", k, k);
            else
                rd_text_add(text, " ((%s *)q->state[%d])[to] = s%d[l];",
                            rd_c_types[wide_elem(&spec->fold[f])], k, k);
    }
    rd_text_add(text, "\n");
}

/* ---- Trees of blocks ------------------------------------------------------------------------- */
/* States w.. of the tree's nodes, of all lanes. */
static void emit_nodes(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define LEVELS %d\n#define BLOCKS %d\n#define NODES",
                spec->blocks ? RD_SPEC_LEVELS : 1, spec->blocks);
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = rd_spec_first_state(spec, f);
             rd_spec_takes_part(spec, f) && k < states_end(spec, f); k++)
            rd_text_add(text, " %s w%d[LEVELS][LANES] __attribute__((aligned(64)));",
                        rd_c_types[merge_elem(&spec->fold[f])], k);
    rd_text_add(text, "\n");
}

/* For l < n: state w..<to> takes <name>..<from>. */
static void add_merges(rd_text *text, const rd_spec *spec, int fold, const char *n, const char *to,
                       const char *name, const char *from)
{
    const rd_spec_fold *f    = &spec->fold[fold];
    const char         *type = rd_c_classes[merge_elem(f)];
    const int           at   = rd_spec_first_state(spec, fold);

    rd_text_add(text, " \\\n    {");
    if (rd_fold_has_power(f))
        rd_text_add(text,
                    " %s e[LANES] __attribute__((aligned(64)));"
                    " for (int64_t l = 0; l < %s; l++) e[l] = rd_math_lse_exponent_%s(%s%d%s - "
                    "t->w%d%s, 0);"
                    " rd_exp_strip_%s(e, %s);",
                    rd_c_types[merge_elem(f)], n, type, name, at, from, at, to, type, n);
    rd_text_add(text, " INDEPENDENT for (int64_t l = 0; l < %s; l++) merge%d(", n, fold);
    rd_emit_state_arguments(text, spec, fold, "t->w", to);
    rd_text_add(text, ", ");
    rd_emit_state_arguments(text, spec, fold, name, from);
    rd_text_add(text, "%s); }", rd_fold_has_power(f) ? ", e[l]" : "");
}

/* Of one vector lane l merges lane l + half, the others what nobody reads any more: in registers,
 * where to read what has just been written from another place would wait for memory. */
static void add_merges_in_vector(rd_text *text, const rd_spec *spec, int fold, int half)
{
    const rd_elem elem  = merge_elem(&spec->fold[fold]);
    const int     lanes = spec->vector / rd_elem_size(elem);
    char          n[12];

    rd_text_add(text, " \\\n    {");
    for (int k = rd_spec_first_state(spec, fold); k < states_end(spec, fold); k++) {
        rd_text_add(
            text,
            " \\\n    %s b%d[%d] __attribute__((aligned(64)));"
            " *(vec_%s *)b%d = __builtin_shufflevector(*(vec_%s *)t->w%d[0], *(vec_%s *)t->w%d[0]",
            rd_c_types[elem], k, lanes, rd_c_classes[elem], k, rd_c_classes[elem], k,
            rd_c_classes[elem], k);
        for (int l = 0; l < lanes; l++)
            rd_text_add(text, ", %d", (l + half) % lanes);
        rd_text_add(text, ");");
    }
    snprintf(n, sizeof n, "%d", lanes);
    add_merges(text, spec, fold, n, "[0][l]", "b", "[l]");
    rd_text_add(text, " }");
}

/* Lane l takes lane l + half for half = LANES/2 .. 1, as results.c has it: of all lanes. */
static void emit_close(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define CLOSE");
    for (int f = 0; f < spec->n_fold; f++)
        for (int half = rd_spec_takes_part(spec, f) ? spec->lanes / 2 : 0; half > 0; half /= 2) {
            char n[12], from[24];

            snprintf(n, sizeof n, "%d", half);
            snprintf(from, sizeof from, "[0][l + %d]", half);
            if (half * rd_elem_size(merge_elem(&spec->fold[f])) < spec->vector)
                add_merges_in_vector(text, spec, f, half);
            else
                add_merges(text, spec, f, n, "[0][l]", "t->w", from);
        }
    rd_text_add(text, "\n");
}

/* Loops over as many lanes as there are: MERGES, of a node that takes the next one's, HALVES, of
 * lanes that take those `half` behind them. */
static void emit_merges(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define MERGES(node, width)");
    for (int f = 0; spec->blocks && f < spec->n_fold; f++)
        if (rd_spec_takes_part(spec, f))
            add_merges(text, spec, f, "width", "[node][l]", "t->w", "[node + 1][l]");
    rd_text_add(text, "\n#define HALVES(half, width)");
    for (int f = 0; f < spec->n_fold; f++)
        if (rd_spec_takes_part(spec, f))
            add_merges(text, spec, f, "width", "[0][l]", "t->w", "[0][l + half]");
    rd_text_add(text, "\n#define GIVES(r)");
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = rd_spec_first_state(spec, f);
             rd_spec_takes_part(spec, f) && k < states_end(spec, f); k++)
            rd_text_add(text, " ((%s *)q->state[%d])[r] = t.w%d[0][0];",
                        rd_c_types[wide_elem(&spec->fold[f])], k, k);
    rd_text_add(text, "\n");
}

void rd_emit_vectors(rd_text *text, const rd_spec *spec)
{
    static const rd_elem elems[] = { RD_ELEM_f32, RD_ELEM_f64, RD_ELEM_i64, RD_ELEM_u64 };

    for (size_t k = 0; k < sizeof elems / sizeof *elems; k++)
        rd_text_add(text, "typedef %s vec_%s __attribute__((vector_size(%d), may_alias));\n",
                    rd_c_types[elems[k]], rd_c_classes[elems[k]], spec->vector);
}

void rd_emit_tree(rd_text *text, const rd_spec *spec)
{
    emit_nodes(text, spec);
    emit_close(text, spec);
    emit_merges(text, spec);
}
