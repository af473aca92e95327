/* emit_memory.c - where a pass finds its elements and puts its results, as C text: pointers, copies
 * of what rows share, what is fetched ahead, stores past the caches. */
#include "kernels/cpu/jit/parts.h"
#include "kernels/cpu/simd/simd.h"

static bool is_stored(const rd_spec *spec, int operand)
{
    bool stored = false;

    for (int k = 0; k < spec->n_inst; k++)
        stored |= spec->inst[k].kind == RD_SPEC_STORE && spec->inst[k].at == operand;
    return stored;
}

/* Elements that are apart or beside each other, and no row changes: worth a copy for a strip of
 * many rows. */
static bool is_copied(const rd_spec *spec, int operand)
{
    return !is_stored(spec, operand) && spec->operand[operand].every_row &&
           spec->operand[operand].walk != RD_WALK_STAYS;
}

/* Where columns beyond the last are like it, no more than a strip is taken at once.  Of rows only
 * with AVX-512: 16 registers are too few for it (`nn3` f32 with AVX2: 1.15 times as long). */
bool rd_spec_repeats(const rd_spec *spec, int operand)
{
    const rd_spec_operand *o = &spec->operand[operand];

    return o->walk == RD_WALK_STAYS && (o->type == RD_F32 || o->type == RD_F64) &&
           (o->loop || (spec->vector == 64 && rd_spec_pads(spec)));
}

void rd_emit_repeated(rd_text *text, const rd_spec *spec, int operand)
{
    const rd_dtype type = (rd_dtype)spec->operand[operand].type;

    rd_text_add(text,
                " \\\n    %s u%d_##j[STRIP] __attribute__((aligned(64)));"
                " rd_repeat_%s(u%d_##j, p%d_##j",
                rd_c_memory_types[type], operand, rd_c_classes[rd_elem_of(type)], operand, operand);
    if (spec->operand[operand].loop)
        rd_text_add(text, " + k * d%d_##j", operand);
    rd_text_add(
        text, ", STRIP); _Static_assert(sizeof u%d_##j %% sizeof(rd_i32) == 0, \"whole vectors\");",
        operand);
}

static void add_pointer(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_operand *o    = &spec->operand[number];
    const char            *type = rd_c_memory_types[o->type];

    rd_text_add(text, " \\\n    %s *const p%d_##j = (%s *)(void *)q->operand[%d].at + %d", type,
                number, type, o->of, o->ahead);
    if (!o->every_row)
        rd_text_add(text, " + (r) * q->operand[%d].row", o->of);
    if (o->walk == RD_WALK_BESIDE)
        rd_text_add(text, " + (from)");
    if (o->walk == RD_WALK_APART)
        rd_text_add(text,
                    " + (from) * q->operand[%d].col; const int64_t c%d_##j = q->operand[%d].col",
                    o->of, number, o->of);
    if (o->loop)
        rd_text_add(text, "; const int64_t d%d_##j = q->operand[%d].deep", number, o->of);
    else if (o->walk == RD_WALK_STAYS && !rd_spec_repeats(spec, number))
        rd_text_add(text, "; const %s u%d_##j = *p%d_##j", type, number, number);
    rd_text_add(text, ";");
    if (!o->loop && rd_spec_repeats(spec, number))
        rd_emit_repeated(text, spec, number);
}

/* Two macros: with all operands where they are, and with copies of those that no row changes. */
void rd_emit_pointers(rd_text *text, const rd_spec *spec, const char *name, bool copies)
{
    rd_text_add(text, "#define %s(j, r, from)", name);
    for (int k = 0; k < spec->n_operand; k++)
        if (copies && is_copied(spec, k))
            rd_text_add(text,
                        " \\\n    %s *const p%d_##j = h%d; enum { c%d_##j = 1, d%d_##j = STRIP };",
                        rd_c_memory_types[spec->operand[k].type], k, k, k, k);
        else if (spec->operand[k].type) /* or else nothing reads it */
            add_pointer(text, spec, k);
    rd_text_add(text, "\n");
}

/* Element i of an operand; in short loops, whose index is k, what stays along the columns has been
 * read before. */
void rd_emit_operand(rd_text *text, const rd_spec *spec, int operand)
{
    const rd_spec_operand *o = &spec->operand[operand];

    if (o->walk == RD_WALK_STAYS) {
        rd_text_add(text, rd_spec_repeats(spec, operand) ? "u%d_##j[i]" : "u%d_##j", operand);
        return;
    }
    rd_text_add(text, "p%d_##j[", operand);
    if (o->loop)
        rd_text_add(text, "k * d%d_##j + ", operand);
    if (o->walk == RD_WALK_APART)
        rd_text_add(text, "(i) * c%d_##j]", operand);
    else
        rd_text_add(text, "i]");
}

/* Indices of the short loop that an operand moves with; 1: it moves with none. */
static int depth_of(const rd_spec *spec, int operand)
{
    return spec->operand[operand].loop ? spec->extent[spec->operand[operand].loop - 1] : 1;
}

static void add_copy(rd_text *text, const rd_spec *spec, int o)
{
    rd_text_add(text,
                " \\\n    for (int64_t k = 0; k < %d; k++) for (int64_t i = 0; i < STRIP; i++)"
                " h%d[k * STRIP + i] = p%d_0[",
                depth_of(spec, o), o, o);
    if (spec->operand[o].loop)
        rd_text_add(text, "k * d%d_0 + ", o);
    rd_text_add(text, "(i < (n) ? i : (n) - 1)");
    if (spec->operand[o].walk == RD_WALK_APART)
        rd_text_add(text, " * c%d_0", o);
    rd_text_add(text, "];");
}

/* Elements apart, which no short loop reads. */
static bool is_apart(const rd_spec *spec, int operand)
{
    return is_copied(spec, operand) && spec->operand[operand].walk == RD_WALK_APART &&
           !spec->operand[operand].loop;
}

static bool is_beside(const rd_spec *spec, int first, int operand)
{
    return is_apart(spec, first) && is_apart(spec, operand) &&
           spec->operand[operand].of == spec->operand[first].of;
}

/* Operands of one memory.  If their elements are as far apart as there are operands, as the
 * coordinates of points are, they are loaded by vectors and sorted in registers, not one by one (3
 * coordinates for 64 rows: 5 % of a Gaussian sum).  Loops find them in memory whichever way they
 * came: gcc 12 schedules worse what has them in registers from here on (`nn3`). */
static void add_copies_beside(rd_text *text, const rd_spec *spec, int first)
{
    int n = 0;

    for (int o = first; o < spec->n_operand; o++)
        n += is_beside(spec, first, o);
    if (n > 1) {
        rd_text_add(
            text, " \\\n    if ((n) >= STRIP && c%d_0 == %d) for (int64_t i = 0; i < STRIP; i++) {",
            first, n);
        for (int o = first; o < spec->n_operand; o++)
            if (is_beside(spec, first, o))
                rd_text_add(text, " h%d[i] = p%d_0[i * %d];", o, o, n);
        rd_text_add(text, " } else");
    }
    rd_text_add(text, " {");
    for (int o = first; o < spec->n_operand; o++)
        if (is_beside(spec, first, o))
            add_copy(text, spec, o);
    rd_text_add(text, n > 1 ? " } __asm__ volatile(\"\" ::: \"memory\");" : " }");
}

/* n columns, those beyond them like the last one: of each index of a short loop, a strip. */
void rd_emit_copies(rd_text *text, const rd_spec *spec)
{
    bool any = false;

    rd_text_add(text, "#define COPIES(from, n)");
    for (int o = 0; o < spec->n_operand; o++)
        if (is_copied(spec, o)) {
            rd_text_add(text, " \\\n    %s h%d[%d * STRIP] __attribute__((aligned(64)));",
                        rd_c_memory_types[spec->operand[o].type], o, depth_of(spec, o));
            any = true;
        }
    if (any)
        rd_text_add(text, " \\\n    { POINTERS(0, 0, from)");
    for (int o = 0; o < spec->n_operand; o++) {
        int first = 0;

        while (first < o && !is_beside(spec, first, o))
            first++;
        if (first == o && is_apart(spec, o))
            add_copies_beside(text, spec, o);
        else if (first == o && is_copied(spec, o))
            add_copy(text, spec, o);
    }
    rd_text_add(text, any ? " }\n" : "\n");
}

/* Can columns beyond the last be like it?  Nothing may be read there, nor stored. */
bool rd_spec_pads(const rd_spec *spec)
{
    bool can = spec->form == RD_SPEC_COLUMNS;

    for (int o = 0; o < spec->n_operand; o++)
        can = can && (is_copied(spec, o) ||
                      (spec->operand[o].walk == RD_WALK_STAYS && !is_stored(spec, o)));
    return can;
}

static float cost(const rd_spec *spec)
{
    float sum = 0;

    for (int k = 0; k < spec->n_inst; k++)
        sum += spec->inst[k].kind == RD_SPEC_MAP ? rd_op_table[spec->inst[k].op].cost : 0;
    for (int k = 0; k < spec->n_fold; k++)
        sum += rd_reducer_table[spec->fold[k].reducer].cost;
    return sum;
}

/* Rows jam where states are in memory and elements cost little beside them. */
int rd_spec_jam(const rd_spec *spec)
{
    bool streams = false;

    for (int k = 0; k < spec->n_operand; k++)
        streams |= spec->operand[k].walk != RD_WALK_STAYS && !spec->operand[k].every_row;
    return spec->form == RD_SPEC_COLUMNS && !spec->n_loop && streams && cost(spec) < 30 ? 4 : 0;
}

static bool is_streamed(const rd_spec *spec, int operand)
{
    return spec->operand[operand].walk == RD_WALK_BESIDE && !spec->operand[operand].every_row &&
           !is_stored(spec, operand);
}

/* Columns of a cache line. */
static int part(const rd_spec *spec)
{
    int widest = 1;

    for (int k = 0; k < spec->n_operand; k++)
        if (is_streamed(spec, k) && rd_dtype_size((rd_dtype)spec->operand[k].type) > widest)
            widest = rd_dtype_size((rd_dtype)spec->operand[k].type);
    return 64 / widest;
}

/* The rows that follow these into the second-level cache: as they lie, or if rows do not adjoin, as
 * tasks share columns, the same columns of each (Zen 4, 2 threads, min, max, mean and variance of
 * columns of f64: 25 ms without, 20 with).  And of these rows what comes soon into the first:
 * either alone helps half as much, and less if it is said for several lines at a time (mean and
 * variance of columns of f32 on Zen 5: 12.7 ms without, with both 8.9). */
void rd_emit_fetch(rd_text *text, const rd_spec *spec)
{
    enum { SOON = 2048 };

    rd_text_add(text, "#define PART %d\n#define FETCH(part)", part(spec));
    for (int k = 0; k < spec->n_operand; k++) {
        int soon;

        if (!is_streamed(spec, k))
            continue;
        soon = SOON / rd_dtype_size((rd_dtype)spec->operand[k].type);
        rd_text_add(text,
                    " \\\n    for (int64_t k = 0; q->operand[%d].row == q->n && k < JAM * PART; k "
                    "+= 64 / sizeof *p%d_0)"
                    " __builtin_prefetch(p%d_0 + JAM * (q->n + part) + k, 0, 2);",
                    k, k, k);
        for (int j = 0; j < rd_spec_jam(spec); j++) {
            rd_text_add(text, " if (q->operand[%d].row != q->n)", k);
            rd_text_add(text,
                        " __builtin_prefetch(p%d_%d + JAM * q->operand[%d].row + part, 0, 2);", k,
                        j, k);
            rd_text_add(text, " __builtin_prefetch(p%d_%d + part + (part + %d < q->n ? %d : 0));",
                        k, j, soon, soon);
        }
    }
    rd_text_add(text, "\n");
}

/* Blocks end, and with them what the processor fetches by itself, which also stops at each page:
 * with a fetch of its own a pass that sums rows of 4 KiB reads memory at 38 GB/s, else at 15 (Zen
 * 5; 2 KiB ahead: 24, 16 KiB: 28).  Not every processor gains by it (simd/fetch.c). */
void rd_emit_fetch_strip(rd_text *text, const rd_spec *spec)
{
    enum { AHEAD = 8192 };

    rd_text_add(text, "#define FETCH_STRIP(adjoin)");
    for (int k = 0; k < spec->n_operand && rd_fetches_rows; k++)
        if (is_streamed(spec, k) && !spec->phase)
            rd_text_add(text,
                        " \\\n    for (size_t k = 0; k < STRIP * sizeof *p%d_0; k += 64)"
                        " __builtin_prefetch((const char *)p%d_0 + (q->operand[%d].row == (adjoin) "
                        "? %d : 0) + k);",
                        k, k, spec->operand[k].of, AHEAD);
    rd_text_add(text, "\n");
}

/* n elements of what is at hand, or of the next row there, into the second-level cache. */
static void add_fetch(rd_text *text, const rd_spec *spec, const char *n, bool next_row)
{
    for (int k = 0; k < spec->n_operand; k++)
        if (is_streamed(spec, k))
            rd_text_add(
                text,
                " \\\n    for (size_t k = 0; k < %s * sizeof *p%d_0; k += 64)"
                " __builtin_prefetch((const char *)(p%d_0 + %d * q->operand[%d].row) + k, 0, 2);",
                n, k, k, next_row, spec->operand[k].of);
}

/* Memory would idle while a block of a row's first phase ends, and in its second phase, which finds
 * the row in a cache: meanwhile the beginning of what follows is fetched, and then all of the next
 * row (Zen 4, softmax of rows of 1024 f32: 0.9 to 1.1 of the hand loop's time, 1.4 without). */
void rd_emit_fetch_next(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define FETCHES_END %d\n#define FETCH_END", spec->phase == 1);
    if (spec->phase == 1)
        add_fetch(text, spec, "(q->n < 512 ? q->n : 512)", false);
    rd_text_add(text, "\n#define FETCH_ROW");
    if (spec->phase == 2)
        add_fetch(text, spec, "STRIP", true);
    rd_text_add(text, "\n");
}

/* Cache lines begin where the first one has them. */
void rd_emit_past(rd_text *text, const rd_spec *spec)
{
    int first = -1;

    rd_text_add(text, "#define OUTPUTS");
    for (int k = 0; k < spec->n_operand; k++)
        if (spec->operand[k].past) {
            rd_text_add(text, " %s o%d[STRIP] __attribute__((aligned(64)));",
                        rd_c_memory_types[spec->operand[k].type], k);
            first = first < 0 ? k : first;
        }
    rd_text_add(text, "\n#define PAST(n)");
    for (int k = 0; k < spec->n_operand; k++)
        if (spec->operand[k].past)
            rd_text_add(text,
                        " past((char *)p%d_0, (const char *)o%d, (n) * (int64_t)sizeof *o%d);", k,
                        k, k);
    rd_text_add(text, "\n#define HAS_PAST %d\n", first >= 0);
    if (first >= 0)
        rd_text_add(text, "#define HEAD ((int64_t)(-(uintptr_t)p%d_0 %% 64 / sizeof *p%d_0))\n",
                    first, first);
}
