/* points.c - what pairs have in shared memory (pairs.c): points, a tile of them at a time, and what
 * the results of each thread bring.
 *
 * A tile has a row for each coordinate, in which points that come one after the other lie side by
 * side; so has what a thread's results bring, in words of its own.  All threads of a block fill a
 * tile: 16 bytes at a time, if points are in memory as they are in the tile, or one behind the
 * other. */
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- What a load hangs on -------------------------------------------------------------------- */
static bool is_inside(const rd_cuda_shape *s, int32_t inst)
{
    return rd_cuda_within(s->p, inst, s->pairs);
}

int32_t rd_cuda_pair_axis(const rd_cuda_shape *s)
{
    return s->p->loop[s->pairs].axis;
}

/* Is it the axis of a loop in a pair? */
static bool is_inner(const rd_cuda_shape *s, int32_t axis)
{
    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->p->loop[k].axis == axis && is_inside(s, s->p->loop[k].begin))
            return true;
    return false;
}

bool rd_cuda_is_row(const rd_cuda_shape *s, int32_t inst)
{
    return rd_coef(&s->p->address[s->p->inst[inst].arg], s->strip) != 0;
}

/* Elements of an operand for each point. */
static int64_t elements_of(const rd_cuda_shape *s, const rd_address *at)
{
    int64_t n = 1;

    for (int32_t k = 0; k < at->n_add; k++)
        if (is_inner(s, at->add[k].axis))
            n *= s->p->axis_extent[at->add[k].axis];
    return n;
}

/* Rows of a tile lie 16 bytes further apart than it is long, so that elements of a point meet
 * different banks, and vectors of them begin where they may. */
static int64_t pitch_of(const rd_cuda_shape *s, const rd_address *at)
{
    return s->tile + 16 / rd_dtype_size(at->type);
}

/* Bytes of shared memory of a block. */
int64_t rd_cuda_place_staged(rd_cuda_shape *s)
{
    const rd_program *p     = s->p;
    int64_t           bytes = 0;

    for (int32_t i = p->loop[s->pairs].begin; i < p->loop[s->pairs].end; i++) {
        if (s->staged[i] != i)
            continue;
        const rd_address *at = &p->address[p->inst[i].arg];
        const int64_t     n  = elements_of(s, at);

        s->staged_at[i] = bytes;
        bytes +=
            rd_cuda_room(n * (rd_cuda_is_row(s, i) ? s->choice.block * s->wide : pitch_of(s, at)) *
                         rd_dtype_size(at->type));
    }
    return bytes;
}

/* ---- Shared memory --------------------------------------------------------------------------- */
static const rd_address *address_of(const rd_cuda_text *t, int32_t inst)
{
    return &t->s->p->address[t->s->p->inst[inst].arg];
}

static const char *type_of(const rd_cuda_text *t, int32_t inst)
{
    return rd_memory_type(address_of(t, inst)->type);
}

void rd_cuda_declare_staged(rd_cuda_text *t)
{
    for (int32_t i = 0; i < t->s->p->n_inst; i++)
        if (t->s->staged[i] == i)
            rd_cuda_line(t, "RD_SHARED_DYNAMIC(%s, %s%" PRId32 ");", type_of(t, i),
                         rd_cuda_is_row(t->s, i) ? "rows" : "tile", i);
}

/* "(i1) * 4 + i3": which of the operand's elements of a point the indices at hand tell; "0". */
static rd_text element_of(const rd_cuda_text *t, const rd_address *at)
{
    rd_text text = { 0 };

    for (int32_t k = 0; k < at->n_add; k++) {
        const int32_t axis = at->add[k].axis;
        rd_text       next = { 0 };

        if (!is_inner(t->s, axis))
            continue;
        if (text.n)
            rd_text_add(&next, "(%s) * %" PRId64 " + ", text.at, t->s->p->axis_extent[axis]);
        rd_text_add(&next, "(int)i%" PRId32, axis);
        rd_text_free(&text);
        text = next;
    }
    if (!text.n)
        rd_text_add(&text, "0");
    return text;
}

/* "512 + (w) * 260 + k": where in the array of an operand element w of point k of the tile is, or
 * of the thread's result l. */
static rd_text place_of(const rd_cuda_text *t, int32_t inst, const char *w, const char *which)
{
    const rd_cuda_shape *s     = t->s;
    const int64_t        begin = s->staged_at[inst] / rd_dtype_size(address_of(t, inst)->type);
    rd_text              text  = { 0 };

    if (rd_cuda_is_row(s, inst))
        rd_text_add(&text,
                    "%" PRId64 " + ((%s) * RD_THREADS + (int)threadIdx.x) * %" PRId32 " + %s",
                    begin, w, s->wide, which);
    else
        rd_text_add(&text, "%" PRId64 " + (%s) * %" PRId64 " + %s", begin, w,
                    pitch_of(s, address_of(t, inst)), which);
    return text;
}

/* "const int i1 = left % 3; left /= 3;": indices of element `left` of an operand. */
static void declare_inner(rd_cuda_text *t, const rd_address *at)
{
    for (int32_t k = at->n_add; k-- > 0;) {
        const int32_t axis = at->add[k].axis;
        rd_text       n    = { 0 };

        if (!is_inner(t->s, axis))
            continue;
        t->open |= UINT64_C(1) << axis;
        rd_cuda_number(t, &n, t->s->p->axis_extent[axis]);
        rd_cuda_line(t, "const int i%" PRId32 " = left %% (int)%s; left /= (int)%s;", axis,
                     n.at ? n.at : "", n.at ? n.at : "");
        rd_text_free(&n);
    }
}

/* An element in memory, by the indices at hand. */
static rd_text element_in_memory(rd_cuda_text *t, int32_t inst)
{
    rd_text text = { 0 }, place = rd_cuda_position(t, address_of(t, inst));

    rd_text_add(&text, "((const %s *)m%" PRId32 ")[%s]", type_of(t, inst),
                address_of(t, inst)->slot, place.at ? place.at : "");
    rd_text_free(&place);
    return text;
}

/* "for (int p = 4 * threadIdx.x; p < n; p += 4 * RD_THREADS) {" */
static void open_for_threads(rd_cuda_text *t, int32_t each, const char *n)
{
    rd_cuda_line(
        t, "for (int p = %" PRId32 " * (int)threadIdx.x; p < %s; p += %" PRId32 " * RD_THREADS) {",
        each, n, each);
    t->indent++;
}

static void close_brace(rd_cuda_text *t)
{
    t->indent--;
    rd_cuda_line(t, "}");
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
static int32_t vector_of(const rd_cuda_text *t, const rd_address *at)
{
    const int32_t n = t->s->choice.vector / rd_dtype_size(at->type);

    return n < t->s->choice.most_wide ? n : t->s->choice.most_wide;
}

/* Do vectors begin at multiples of their size, at point v2 of an axis and further ones, but for
 * what the run's data do?  Tiles begin at multiples of 64. */
static bool is_aligned(const rd_cuda_text *t, const rd_address *at)
{
    bool is = at->offset % vector_of(t, at) == 0;

    for (int32_t k = 0; k < at->n_add; k++)
        is &= at->add[k].axis == rd_cuda_pair_axis(t->s) || is_inner(t->s, at->add[k].axis) ||
              at->add[k].coef % vector_of(t, at) == 0;
    return is;
}

/* Points lie side by side, each element in a row of its own. */
static bool lies_by_points(const rd_cuda_text *t, const rd_address *at)
{
    bool is = is_aligned(t, at) && rd_coef(at, rd_cuda_pair_axis(t->s)) == 1;

    for (int32_t k = 0; k < at->n_add; k++)
        is &= !is_inner(t->s, at->add[k].axis) || at->add[k].coef % vector_of(t, at) == 0;
    return is;
}

/* Points lie one behind the other, their elements side by side: the axis of these, -1. */
static int32_t run_of(const rd_cuda_text *t, const rd_address *at)
{
    int32_t axis = -1;

    for (int32_t k = 0; k < at->n_add; k++)
        if (is_inner(t->s, at->add[k].axis)) {
            if (axis >= 0 || at->add[k].coef != 1)
                return -1;
            axis = at->add[k].axis;
        }
    return axis >= 0 && is_aligned(t, at) &&
                   rd_coef(at, rd_cuda_pair_axis(t->s)) == t->s->p->axis_extent[axis]
               ? axis
               : -1;
}

static void note_packs(rd_cuda_text *t, const rd_address *at)
{
    if (vector_of(t, at) > 1)
        t->packed |= UINT64_C(1) << (at->slot & 63);
}

static void stage_by_points(rd_cuda_text *t, int32_t inst)
{
    const rd_address *at = address_of(t, inst);
    const int32_t     n  = vector_of(t, at);
    rd_text           to = place_of(t, inst, "w", "k");
    rd_text           from, all = { 0 };

    rd_text_add(&all, "%" PRId64, elements_of(t->s, at) * t->s->tile);
    open_for_threads(t, n, all.at ? all.at : "");
    rd_cuda_line(t, "const int k = p %% %" PRId64 ", w = p / %" PRId64 "; int left = w;",
                 t->s->tile, t->s->tile);
    declare_inner(t, at);
    rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + k;", rd_cuda_pair_axis(t->s),
                 rd_cuda_pair_axis(t->s));
    from = element_in_memory(t, inst);
    rd_cuda_line(t,
                 "RD_PUT_SHARED(%s, %" PRId32 ", tile%" PRId32 ", %s, (rd_take_some<%s, %" PRId32
                 ">(&%s, n - k)));",
                 type_of(t, inst), n, inst, to.at ? to.at : "", type_of(t, inst), n,
                 from.at ? from.at : "");
    close_brace(t);
    note_packs(t, at);
    rd_text_free(&all);
    rd_text_free(&from);
    rd_text_free(&to);
}

static void stage_run(rd_cuda_text *t, int32_t inst, int32_t axis)
{
    const rd_address *at = address_of(t, inst);
    const int32_t     n  = vector_of(t, at);
    rd_text           to = place_of(t, inst, "(p + l) % each", "(p + l) / each");
    rd_text           from, each = { 0 };

    rd_cuda_number(t, &each, t->s->p->axis_extent[axis]);
    rd_cuda_line(t, "const int each = (int)%s, all = n * each;", each.at ? each.at : "");
    rd_cuda_line(t, "const int i%" PRId32 " = 0; const int64_t i%" PRId32 " = v%" PRId32 ";", axis,
                 rd_cuda_pair_axis(t->s), rd_cuda_pair_axis(t->s));
    t->open |= UINT64_C(1) << axis;
    from = element_in_memory(t, inst);
    open_for_threads(t, n, "all");
    rd_cuda_line(
        t, "const rd_pack<%s, %" PRId32 "> x = rd_take_some<%s, %" PRId32 ">(&%s + p, all - p);",
        type_of(t, inst), n, type_of(t, inst), n, from.at ? from.at : "");
    rd_cuda_line(t,
                 "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) if (p + l < all) tile%" PRId32
                 "[%s] = x.e[l];",
                 n, inst, to.at ? to.at : "");
    close_brace(t);
    note_packs(t, at);
    rd_text_free(&each);
    rd_text_free(&from);
    rd_text_free(&to);
}

/* Are neighbouring points nearer in memory than neighbours along any axis of their elements? */
static bool are_points_nearer(const rd_cuda_text *t, const rd_address *at)
{
    const int64_t step   = llabs(rd_coef(at, rd_cuda_pair_axis(t->s)));
    bool          nearer = true;

    for (int32_t k = 0; k < at->n_add; k++)
        nearer &= !is_inner(t->s, at->add[k].axis) || step < llabs(at->add[k].coef);
    return nearer;
}

/* Element by element: neighbouring threads take what lies nearer in memory, points or elements. */
static void stage_singles(rd_cuda_text *t, int32_t inst)
{
    const rd_address *at = address_of(t, inst);
    rd_text           to = place_of(t, inst, "w", "k");
    rd_text           from, n = { 0 }, all = { 0 };

    rd_cuda_number(t, &n, elements_of(t->s, at));
    rd_text_add(&all, "n * (int)%s", n.at ? n.at : "");
    open_for_threads(t, 1, all.at ? all.at : "");
    if (are_points_nearer(t, at))
        rd_cuda_line(t, "const int k = p %% n, w = p / n; int left = w;");
    else
        rd_cuda_line(t, "const int k = p / (int)%s, w = p %% (int)%s; int left = w;",
                     n.at ? n.at : "", n.at ? n.at : "");
    declare_inner(t, at);
    rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + k;", rd_cuda_pair_axis(t->s),
                 rd_cuda_pair_axis(t->s));
    from = element_in_memory(t, inst);
    rd_cuda_line(t, "tile%" PRId32 "[%s] = %s;", inst, to.at ? to.at : "", from.at ? from.at : "");
    close_brace(t);
    rd_text_free(&n);
    rd_text_free(&all);
    rd_text_free(&from);
    rd_text_free(&to);
}

static void stage(rd_cuda_text *t, int32_t inst)
{
    const rd_address *at   = address_of(t, inst);
    const int32_t     run  = run_of(t, at);
    const uint64_t    open = t->open;

    rd_cuda_line(t, "{");
    t->indent++;
    if (lies_by_points(t, at))
        stage_by_points(t, inst);
    else if (run >= 0)
        stage_run(t, inst, run);
    else
        stage_singles(t, inst);
    close_brace(t);
    t->open = open;
}

void rd_cuda_fill_tile(rd_cuda_text *t)
{
    for (int32_t i = 0; i < t->s->p->n_inst; i++)
        if (t->s->staged[i] == i && !rd_cuda_is_row(t->s, i))
            stage(t, i);
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* What the thread's results bring: nobody else reads it. */
static void keep_rows(rd_cuda_text *t, int32_t inst)
{
    const rd_address *at   = address_of(t, inst);
    const uint64_t    open = t->open;
    rd_text           to   = place_of(t, inst, "w", "l");
    rd_text           from, n = { 0 };

    rd_cuda_number(t, &n, elements_of(t->s, at));
    rd_cuda_line(
        t, "for (int w = 0; w < (int)%s; w++) RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {",
        n.at ? n.at : "", t->s->wide);
    t->indent++;
    rd_cuda_line(t, "int left = w;");
    declare_inner(t, at);
    rd_cuda_declare_strip(t, false);
    from = element_in_memory(t, inst);
    rd_cuda_line(t, "rows%" PRId32 "[%s] = %s;", inst, to.at ? to.at : "", from.at ? from.at : "");
    close_brace(t);
    t->open = open;
    rd_text_free(&n);
    rd_text_free(&from);
    rd_text_free(&to);
}

void rd_cuda_keep_rows(rd_cuda_text *t)
{
    for (int32_t i = 0; i < t->s->p->n_inst; i++)
        if (t->s->staged[i] == i && rd_cuda_is_row(t->s, i))
            keep_rows(t, i);
}

/* ---- In the text of pairs -------------------------------------------------------------------- */
void rd_cuda_take_staged(rd_cuda_text *t, int32_t from, int32_t to)
{
    for (int32_t i = from; t->abreast && i < to; i++) {
        const int32_t first = t->s->staged[i];

        if (first < 0)
            continue;
        const bool    row  = rd_cuda_is_row(t->s, i);
        const int32_t each = row ? t->s->wide : t->abreast;
        rd_text       w    = element_of(t, address_of(t, i));
        rd_text       at   = place_of(t, first, w.at ? w.at : "", row ? "0" : "k");

        rd_cuda_line(t,
                     "const rd_pack<%s, %" PRId32 "> x%" PRId32 " = RD_TAKE_SHARED(%s, %" PRId32
                     ", %s%" PRId32 ", %s);",
                     type_of(t, i), each, i, type_of(t, i), each, row ? "rows" : "tile", first,
                     at.at ? at.at : "");
        rd_text_free(&w);
        rd_text_free(&at);
    }
}

rd_text rd_cuda_staged(const rd_cuda_text *t, int32_t inst)
{
    rd_text text = { 0 };

    rd_text_add(&text, "x%" PRId32 ".e[%c]", inst, rd_cuda_is_row(t->s, inst) ? 'l' : 'e');
    return text;
}
