/* describe.c - what reports say of a nest: its strips, its text, and what it runs element by
 * element.
 *
 * A draft is a nest before it is compiled. A strip is a range of one axis that vectors go through,
 * and a region is the loops that share strips.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/cpu/jit/preprocess.h"
#include "kernels/cpu/nest/draft.h"
#include <inttypes.h>

extern const char rd_prelude[], rd_nest_prelude[];

/* ---- Strips and text ------------------------------------------------------------------------- */
/* Adds a line for each region of strips (loops that share ranges of one axis, which vectors go
 * through): "  body: strips of 64 along axis 1, fixed". `fixed`: all but a shorter tail have
 * exactly that width; `single` ("one"): there is only one strip; `wide`: rows are streamed from
 * memory; `around`: loops inside share the strips. */
void rd_nest_strips_text(rd_text *to, const rd_strips *strips)
{
    static const char *const part[] = { "head", "body", "tail" };

    for (int32_t k = 0; k < strips->n; k++) {
        const rd_strip *r = &strips->at[k];

        rd_text_add(to, "  %s: strips of %" PRId32 " along axis %" PRId32, part[r->part], r->width,
                    r->axis);
        rd_text_add(to, "%s%s%s%s\n", r->fixed ? ", fixed" : "", r->single ? ", one" : "",
                    r->wide ? ", wide" : "", r->around ? ", around loops" : "");
    }
}

/* Adds a line for each loop with unroll-and-jam: "  loop along axis 1: 4 rounds together". */
void rd_nest_unroll_jam_text(rd_text *to, const rd_program *p, const rd_strips *strips)
{
    for (int32_t k = 0; k < p->n_loop; k++) {
        if (strips->unroll_jam[k])
            rd_text_add(to, "  loop along axis %" PRId32 ": %" PRId32 " rounds together\n",
                        p->loop[k].axis, strips->unroll_jam[k]);
        if (strips->unroll_jam_outer[k])
            rd_text_add(to, "  loop along axis %" PRId32 ": jam of %" PRId32 " rounds\n",
                        p->loop[k].axis, strips->unroll_jam_outer[k]);
    }
}

/* Builds the loop tree of a draft (a nest that is not compiled) before the passes.  False: no
 * memory.  If there can be no tree, *t is NULL and n->why says why. */
static bool build(rd_nest_draft *n, rd_strips *strips, rd_schedule **t, rd_get_fn *get, void *pool)
{
    *t = rd_nest_rewrite(n, get, pool) ? rd_nest_build(n, strips, get, pool) : NULL;
    return *t || n->why;
}

/* Sets *why to the reason why a program has no compiled nest; NULL: it has one.  The program is
 * described as it runs: as one task (`whole`), unless it has loops for several (p->nest).  False:
 * no memory. */
bool rd_nest_refused(const rd_program *p, int vector, rd_get_fn *get, void *pool, const char **why)
{
    rd_nest_draft n = rd_nest_draft_of(p, vector, /*whole=*/p->whole && !p->nest);
    rd_strips     strips;
    rd_schedule  *t;
    const bool    ok = build(&n, &strips, &t, get, pool);

    rd_schedule_free(t);
    *why = n.why;
    return ok;
}

/* Adds a line for each region of strips that the draft of a nest would have.  False: no memory. */
static bool describe_strips(rd_nest_draft n, rd_text *to, rd_get_fn *get, void *pool)
{
    rd_strips    strips;
    rd_schedule *t;
    const bool   ok = build(&n, &strips, &t, get, pool);

    if (t)
        rd_nest_strips_text(to, &strips);
    rd_schedule_free(t);
    return ok;
}

/* Adds the C text that the draft of a nest would have, with the macros of the prelude expanded.
 * False: no memory. rd_preprocess() expands `text` with the macros of `before`, and adds the result
 * to `to`. */
static bool describe_text(rd_nest_draft n, rd_text *to, rd_get_fn *get, void *pool)
{
    rd_text    before = { 0 }, text = { 0 };
    const bool ok = rd_nest_rewrite(&n, get, pool) && rd_nest_write(&n, &text, get, pool);

    rd_text_add(&before, "%s\n%s", rd_prelude, rd_nest_prelude);
    if (ok && !n.why && !before.failed)
        rd_preprocess(to, before.at, text.at);
    rd_text_free(&before);
    rd_text_free(&text);
    return ok;
}

/* For reports: adds the strips of a program to one text and its C text to the other; either may be
 * NULL. A text without memory has `failed` set. */
void rd_nest_describe(const rd_program *p, int vector, rd_get_fn *get, void *pool, rd_text *strips,
                      rd_text *code)
{
    const rd_nest_draft n = rd_nest_draft_of(p, vector, /*whole=*/p->whole && !p->nest);

    if (strips && !describe_strips(n, strips, get, pool))
        strips->failed = true;
    if (code && !describe_text(n, code, get, pool))
        code->failed = true;
}

/* ---- Choices --------------------------------------------------------------------------------- */
/* For reports: adds how the strips of a program were chosen to a list of n alternatives, up to
 * `most`.  Returns how many they are then; -1: no memory. */
int32_t rd_nest_choices(const rd_program *p, int vector, rd_get_fn *get, void *pool,
                        rd_alternatives *at, int32_t n, int32_t most)
{
    rd_nest_draft d = rd_nest_draft_of(p, vector, /*whole=*/p->whole && !p->nest);
    rd_strips     strips;
    rd_schedule  *t;
    bool          ok;

    d.tells = true;
    ok      = build(&d, &strips, &t, get, pool);
    for (int32_t k = 0; t && k < strips.n && n < most; k++)
        at[n++] = strips.of[k];
    rd_schedule_free(t);
    return ok ? n : -1;
}

/* ---- One by one ------------------------------------------------------------------------------ */
/* True if the instruction computes.  Elements that are only moved, as in a transpose, lose nothing
 * in a serial loop. */
static bool is_operation(const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_STEP:
    case RD_I_SCAN: return true;
    default: return false;
    }
}

/* True if instruction i is in a region of strips, which vectors go through.  A region without a
 * loop of its own (loop < 0) is a whole part of the program. */
static bool is_in_strips(const rd_program *p, const rd_strips *strips, int32_t i)
{
    const int part = i < p->body ? RD_PART_HEAD : i < p->tail ? RD_PART_BODY : RD_PART_TAIL;

    for (int32_t k = 0; k < strips->n; k++) {
        const rd_strip *r = &strips->at[k];

        if (r->loop < 0 ? r->part == part : i > p->loop[r->loop].begin && i < p->loop[r->loop].end)
            return true;
    }
    return false;
}

/* True if the instruction is a dependency chain of more than 64 rounds.  For a STEP or SCAN
 * (rd_takes_step) these are the steps of a block, else the rounds of its loop.  Of shorter chains a
 * processor runs several at once, of neighbouring rows. */
static bool is_long(const rd_schedule *t, int32_t i)
{
    enum { SHORT = 64 };
    const rd_inst *inst = &t->p->inst[i];

    return (rd_takes_step(inst) ? t->fold[inst->arg].steps : rd_trips(t->p, inst->loop)) > SHORT;
}

/* True if instruction i says more to a user than the one found so far (`than`, -1: none): a step of
 * a fold says more than the values that it takes. */
static bool is_more_telling(const rd_program *p, int32_t i, int32_t than)
{
    return than < 0 || (rd_takes_step(&p->inst[i]) && !rd_takes_step(&p->inst[than]));
}

/* Returns the instruction that runs element by element outside of strips, at least a fourth as
 * often as any other; -1: there is none. */
static int32_t find_serial(const rd_schedule *t, const rd_strips *strips)
{
    enum { PART = 4 }; /* what is done for each row, not element, is no matter */
    const rd_program *p     = t->p;
    double            most  = 0;
    int32_t           found = -1;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (is_operation(&p->inst[i]) && rd_program_times(p, i) > most)
            most = rd_program_times(p, i);
    for (int32_t i = 0; i < p->n_inst; i++)
        if (is_operation(&p->inst[i]) && p->inst[i].loop >= 0 && !is_in_strips(p, strips, i) &&
            is_long(t, i) && rd_program_times(p, i) * PART >= most && is_more_telling(p, i, found))
            found = i;
    return found;
}

/* Finds the instruction that a compiled nest runs element by element, though it runs about as often
 * as any other; -1: none, or there is no nest (n.why).  False: no memory. */
bool rd_nest_find_serial(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                         int32_t *found)
{
    rd_nest_draft n = rd_nest_draft_of(p, vector, whole);
    rd_strips     strips;
    rd_schedule  *t = rd_nest_build(&n, &strips, get, pool);

    *found = t ? find_serial(t, &strips) : -1;
    rd_schedule_free(t);
    return t || n.why;
}
