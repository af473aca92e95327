/* squares.c - maps of operands that lie the other way: a warp takes a square of 32 by 32 elements,
 * reads such operands along their rows into shared memory, and writes along the result's.
 *
 * Rows of a square are 33 elements apart, so that a warp finds its columns in 32 banks. */
#include "kernels/cuda/text.h"
#include <inttypes.h>

enum { SIDE = RD_WARP, PITCH = SIDE + 1, MOST_BYTES = 40 << 10 };

/* ---- Which ----------------------------------------------------------------------------------- */
/* The loop of the grid along which all that is stored lies densely, -1. */
static int32_t stores_along(const rd_cuda_shape *s)
{
    for (int32_t g = s->n_grid; g-- > 0;) {
        bool some = false, all = true;

        for (int32_t i = 0; i < s->p->n_inst; i++)
            if (s->p->inst[i].kind == RD_I_STORE) {
                some = true;
                all &= rd_coef(&s->p->address[s->p->inst[i].arg], s->p->loop[s->grid[g]].axis) == 1;
            }
        if (some && all)
            return s->grid[g];
    }
    return -1;
}

/* The loop along which the elements of a load are neighbours, where along `stored` they are not;
 * -1. */
static int32_t other_way(const rd_cuda_shape *s, const rd_inst *inst, int32_t stored)
{
    if (inst->kind != RD_I_LOAD)
        return -1;
    const rd_address *at   = &s->p->address[inst->arg];
    const int64_t     coef = rd_coef(at, s->p->loop[stored].axis);

    if (s->stored[at->slot] || rd_has_registers(at) || coef == 0 || coef == 1)
        return -1;
    for (int32_t g = 0; g < s->n_grid; g++)
        if (s->grid[g] != stored && rd_coef(at, s->p->loop[s->grid[g]].axis) == 1)
            return s->grid[g];
    return -1;
}

static bool may_be_square(const rd_cuda_shape *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    return l->extent >= s->choice.least_side && !l->backwards;
}

static int64_t squares_along(const rd_loop *l)
{
    return (l->extent + SIDE - 1) / SIDE;
}

static void leave_grid(rd_cuda_shape *s, int32_t loop)
{
    int32_t n = 0;

    for (int32_t g = 0; g < s->n_grid; g++)
        if (s->grid[g] != loop)
            s->grid[n++] = s->grid[g];
    s->n_grid = n;
    s->n_item = s->n_item / s->p->loop[loop].extent * squares_along(&s->p->loop[loop]);
}

/* Elements of the squares of a block. */
static int32_t words_of(const rd_cuda_shape *s)
{
    return PITCH * SIDE * (s->choice.block / RD_WARP);
}

/* Loads that go by squares of the two loops, as far as there is room. */
static void choose_loads(rd_cuda_shape *s, int32_t loop, int32_t stored)
{
    int64_t bytes = 0;

    for (int32_t i = 0; i < s->p->n_inst; i++) {
        const rd_inst *inst = &s->p->inst[i];
        int64_t        more;

        if (other_way(s, inst, stored) != loop)
            continue;
        more         = (int64_t)words_of(s) * rd_dtype_size(s->p->address[inst->arg].type);
        s->turned[i] = bytes + more <= MOST_BYTES;
        bytes += s->turned[i] ? more : 0;
    }
}

bool rd_cuda_find_squares(rd_cuda_shape *s)
{
    const int32_t stored = stores_along(s);
    int32_t       loop   = -1;

    for (int32_t i = 0; stored >= 0 && loop < 0 && i < s->p->n_inst; i++)
        loop = other_way(s, &s->p->inst[i], stored);
    if (loop < 0 || !may_be_square(s, loop) || !may_be_square(s, stored) || s->p->n_scratch > 0)
        return false;
    choose_loads(s, loop, stored);
    leave_grid(s, loop);
    leave_grid(s, stored);
    s->square[0] = loop;
    s->square[1] = stored;
    s->team      = RD_WARP;
    return true;
}

/* ---- Text ------------------------------------------------------------------------------------ */
void rd_cuda_declare_squares(rd_cuda_text *t)
{
    for (int32_t i = 0; i < t->s->p->n_inst; i++)
        if (t->s->turned[i])
            rd_cuda_line(t, "RD_SHARED(%s, square%" PRId32 ", %" PRId32 ");",
                         rd_memory_type(t->s->p->address[t->s->p->inst[i].arg].type), i,
                         words_of(t->s));
    rd_cuda_line(t, "const int z2 = (int)threadIdx.x / RD_TEAM * %d;", PITCH * SIDE);
}

rd_text rd_cuda_in_square(int32_t inst)
{
    rd_text text = { 0 };

    rd_text_add(&text, "square%" PRId32 "[z2 + t * %d + k]", inst, PITCH);
    return text;
}

/* "const int64_t v1 = 32 * ..;": where the square begins. */
static void declare_corner(rd_cuda_text *t)
{
    for (int k = 2; k-- > 0;) {
        const rd_loop *l = &t->s->p->loop[t->s->square[k]];
        rd_text        n = { 0 };

        rd_cuda_number(t, &n, squares_along(l));
        rd_cuda_line(t, "const int64_t v%" PRId32 " = %d * (int64_t)RD_REST(left, %s);", l->axis,
                     SIDE, n.at ? n.at : "");
        rd_cuda_line(t, "left = RD_QUOTIENT(left, %s);", n.at ? n.at : "");
        rd_text_free(&n);
    }
}

/* "const int64_t i0 = v0 + k, i1 = v1 + t;" and whether both are there. */
static void declare_indices(rd_cuda_text *t, const char *first, const char *second)
{
    const char *const at[] = { first, second };
    rd_text           when = { 0 };

    for (int k = 0; k < 2; k++) {
        const rd_loop *l = &t->s->p->loop[t->s->square[k]];

        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + %s;", l->axis, l->axis, at[k]);
        rd_text_add(&when, "%si%" PRId32 " < ", k ? " && " : "", l->axis);
        rd_cuda_number(t, &when, l->extent);
    }
    rd_cuda_line(t, "const bool is = %s;", when.at ? when.at : "");
    rd_text_free(&when);
}

/* A few loads of a thread go ahead of what is done with them. */
static void write_reads(rd_cuda_text *t, int32_t i)
{
    const rd_address *at    = &t->s->p->address[t->s->p->inst[i].arg];
    const char       *type  = rd_memory_type(at->type);
    const int32_t     batch = t->s->choice.batch;
    rd_text           place = { 0 };

    rd_cuda_line(t, "for (int k = 0; k < %d; k += %" PRId32 ") {", SIDE, batch);
    t->indent++;
    rd_cuda_line(t, "%s x[%" PRId32 "] = {};", type, batch);
    rd_cuda_line(t, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", batch);
    t->indent++;
    declare_indices(t, "t", "k + u");
    place = rd_cuda_position(t, at);
    rd_cuda_line(t, "if (is) x[u] = ((const %s *)m%" PRId32 ")[%s];", type, at->slot,
                 place.at ? place.at : "");
    t->indent--;
    rd_cuda_line(t, "}");
    rd_cuda_line(t,
                 "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) square%" PRId32
                 "[z2 + (k + u) * %d + t] = x[u];",
                 batch, i, PITCH);
    t->indent--;
    rd_cuda_line(t, "}");
    rd_text_free(&place);
}

void rd_cuda_write_square(rd_cuda_text *t)
{
    const rd_program *p = t->s->p;

    declare_corner(t);
    for (int k = 0; k < 2; k++)
        t->open |= UINT64_C(1) << p->loop[t->s->square[k]].axis;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (t->s->turned[i])
            write_reads(t, i);
    rd_cuda_line(t, "RD_MEET");
    rd_cuda_line(t, "RD_UNROLL_FEW for (int k = 0; k < %d; k++) {", SIDE);
    t->indent++;
    declare_indices(t, "k", "t");
    rd_cuda_line(t, "if (!is) continue;");
    t->spread = t->s->square[1];
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind != RD_I_LOOP && p->inst[i].kind != RD_I_END)
            rd_cuda_inst(t, i);
    t->spread = -1;
    t->indent--;
    rd_cuda_line(t, "}");
}
