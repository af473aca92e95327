/* loops.c - the C of a program: one function for each manner to write its loops, and one to
 * compare results with. */
#include "loops.h"
#include <stdlib.h>
#include <string.h>

static const char prelude[] =
    "#include <stdint.h>\n"
    "typedef uint16_t bfloat;\n"
    "static inline float wide(bfloat b)\n"
    "{\n    union { uint32_t u; float f; } x = { (uint32_t)b << 16 };\n    return x.f;\n}\n"
    "static inline bfloat narrow(float f)\n"
    "{\n    union { float f; uint32_t u; } x = { f };\n"
    "    return f != f ? 0x7fc0 : (bfloat)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);\n}\n";

/* ---- Operators ------------------------------------------------------------------------------- */
static void write_op(text *t, const op_row *o, rd_dtype type)
{
    const dtype *d     = sweep_dtype(type);
    const char  *c     = d->is_float ? o->c_float : o->c_int;
    const bool   truth = o->rule == OP_COMPARE || o->rule == OP_LOGIC;

    /* Both sides of a choice are read before it: gcc 12.2 reads 0 from those that it masks. */
    if (o->rule == OP_WHERE) {
        sweep_put(t,
                  "static inline %s where_%s(uint8_t c, %s a, %s b)\n{\n    return c ? a : b;\n}\n",
                  d->c, d->name, d->c, d->c);
        return;
    }
    sweep_put(t, "static inline %s %s_%s(%s a%s%s%s)\n{\n    return (%s)(",
              truth ? "uint8_t" : d->c, o->name, d->name, d->c, o->arity == 2 ? ", " : "",
              o->arity == 2 ? d->c : "", o->arity == 2 ? " b" : "", truth ? "uint8_t" : d->c);
    for (; *c; c++)
        if (*c == '@')
            sweep_put(t, "%s", type == RD_F64 ? "" : "f");
        else
            sweep_put(t, "%c", *c);
    sweep_put(t, ");\n}\n");
}

/* ---- Functions ------------------------------------------------------------------------------- */
static void parameters(const writer *w, text *t)
{
    const program *p = w->p;

    for (int k = 0; k < p->n_leaves; k++)
        sweep_put(t, "const %s *restrict x%d, ", sweep_dtype(p->leaves[k].type)->c_memory, k);
    for (int k = 0; k < p->n_roots; k++)
        sweep_put(t, "%s *restrict y%d, ", sweep_dtype(p->root[k]->type)->c_memory, k);
    for (int k = 0; k < w->n_arrays; k++)
        sweep_put(t, "%s *restrict %s, ", w->arrays[k].type, w->arrays[k].name);
}

/* Of the widest type there is, for each thread. */
static double room_of(const writer *w, int k)
{
    return 16 * (double)w->arrays[k].n * (w->how.fused ? MOST_THREADS : 1) + 64;
}

/* block: temporaries of its own for each thread. */
static void arguments(const writer *w, text *t, bool block)
{
    double at = 0;

    for (int k = 0; k < w->p->n_leaves + w->p->n_roots; k++)
        sweep_put(t, "p[%d], ", k);
    for (int k = 0; k < w->n_arrays; k++) {
        sweep_put(t, "(%s *)(tmp + %.0f)", w->arrays[k].type, at);
        if (block)
            sweep_put(t, " + b * %lld", (long long)w->arrays[k].n);
        sweep_put(t, ", ");
        at += room_of(w, k);
    }
}

static double temporaries(const writer *w)
{
    double at = 64;

    for (int k = 0; k < w->n_arrays; k++)
        at += room_of(w, k);
    return at;
}

static void write_function(const writer *w, text *t, const char *name, const char *tail,
                           const text *body)
{
    /* gcc 12.2 vectorises some loops wrongly: not those that results are compared with. */
    sweep_put(t, "%sstatic void %s(",
              w->how.doubles ? "__attribute__((optimize(\"no-tree-vectorize\"))) " : "", name);
    parameters(w, t);
    sweep_put(t, "%s)\n{\n%.*s}\n", tail, (int)body->n, body->at ? body->at : "");
}

static void write_call(const writer *w, text *t, const char *name, long long n, bool parallel)
{
    if (n > 1 && parallel) {
        sweep_put(t,
                  "    if (threads > 1) {\n#pragma omp parallel for num_threads(threads)\n"
                  "        for (int b = 0; b < threads; b++)\n            %s(",
                  name);
        arguments(w, t, w->how.fused);
        sweep_put(t, "%lldLL * b / threads, %lldLL * (b + 1) / threads);\n    } else\n", n, n);
    }
    sweep_put(t, "    %s(", name);
    arguments(w, t, false);
    sweep_put(t, "0, %lld);\n", n);
}

/* Do all stages of the group come to single numbers that threads may add up? */
static bool adds_up(writer *w, int group)
{
    accumulator acc[2];

    for (int k = 0; k < w->n_stages; k++) {
        const stage *s = &w->stages[k];

        if (s->group != group)
            continue;
        if (s->of->kind != N_REDUCE || sweep_elements(s->of) > 1 || sweep_reduced(s->of) < 2)
            return false;
        for (int i = sweep_accumulators(w, s->of, acc); i-- > 0;)
            if (!acc[i].clause)
                return false;
    }
    return true;
}

static int64_t extent(const writer *w, int group, int axis)
{
    for (int k = 0; k < w->n_stages; k++)
        if (w->stages[k].group == group)
            return w->stages[k].n[axis];
    return 1;
}

static void begin(writer *w)
{
    free(w->out.at);
    w->out   = (text){ 0 };
    w->depth = 1;
}

static void write_groups(writer *w, text *functions, text *calls, int variant, bool parallel)
{
    for (int g = 0; g < w->n_groups; g++) {
        const int split = sweep_split_axis(w, g);
        char     *name  = sweep_own(w, "v%d_nest%d", variant, g);

        begin(w);
        sweep_write_group(w, g, false);
        write_function(w, functions, name, "int64_t lo, int64_t hi", &w->out);
        if (split < 0 && parallel && adds_up(w, g)) {
            char *both = sweep_own(w, "%s_threads", name);

            begin(w);
            sweep_write_group(w, g, true);
            write_function(w, functions, both, "int threads", &w->out);
            sweep_put(calls, "    if (threads > 1) {\n        %s(", both);
            arguments(w, calls, false);
            sweep_put(calls, "threads);\n    } else\n");
        }
        write_call(w, calls, name, split < 0 ? 1 : extent(w, g, split), parallel);
    }
}

static void write_fused(writer *w, text *functions, text *calls, int variant, bool parallel)
{
    const int64_t *n    = w->root[0]->n;
    char          *name = sweep_own(w, "v%d_fused", variant);

    begin(w);
    for (int f = 0; f < w->n_fused; f++)
        if (f == 0)
            sweep_line(w, "for (int64_t f0 = lo; f0 < hi; f0++) {");
        else
            sweep_line(w, "for (int64_t f%d = 0; f%d < %lld; f%d++) {", f, f,
                       (long long)n[w->fused[f]], f);
    for (int g = 0; g < w->n_groups; g++) {
        sweep_line(w, "{");
        sweep_write_group(w, g, false);
        sweep_line(w, "}");
    }
    for (int f = 0; f < w->n_fused; f++)
        sweep_line(w, "}");
    write_function(w, functions, name, "int64_t lo, int64_t hi", &w->out);
    write_call(w, calls, name, n[w->fused[0]], parallel);
}

/* ---- Variants -------------------------------------------------------------------------------- */
static const manner manners[] = {
    { KEPT_FIRST, false, true, true, false },   { NATURAL, false, true, true, false },
    { KEPT_FIRST, true, false, true, false },   { REDUCED_FIRST, false, true, true, false },
    { AS_IN_MEMORY, false, true, true, false }, { NATURAL, true, false, true, false },
    { KEPT_FIRST, false, true, false, false },  { KEPT_FIRST, true, true, true, false },
    { AS_IN_MEMORY, true, false, true, false },
};
static const manner to_compare = { KEPT_FIRST, false, false, true, true };

static bool sensible(const writer *w)
{
    if (w->how.fused)
        return w->n_stages > 1 && w->n_fused > 0;
    return w->how.grouped || w->p->n_roots > 1;
}

static void release(writer *w)
{
    free(w->out.at);
    for (int k = 0; k < w->n_owned; k++)
        free(w->owned[k]);
    free(w);
}

static writer *start(program *p, node *const *root, const manner *how)
{
    writer *w = calloc(1, sizeof *w);

    w->p   = p;
    w->how = *how;
    memcpy(w->root, root, sizeof w->root);
    sweep_find_stages(w);
    return w;
}

typedef struct source {
    text    functions[MOST_VARIANTS + 1], calls[MOST_VARIANTS + 1];
    bool    used[64][16];
    int     n;
    double *temporary;
} source;

/* Variants have different names: compared without them. */
static bool same_text(const text *a, const text *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i] != b->at[i] && !(i > 0 && a->at[i - 1] == 'v' && b->at[i - 1] == 'v'))
            return false;
    return true;
}

static bool add(source *s, program *p, node *const *root, const manner *how, bool parallel)
{
    writer *w = start(p, root, how);
    text   *f = &s->functions[s->n], *c = &s->calls[s->n];
    bool    ok = !w->failed && (how->doubles || sensible(w)), fresh = true;

    if (ok && how->fused)
        write_fused(w, f, c, s->n, parallel);
    else if (ok)
        write_groups(w, f, c, s->n, parallel);
    for (int k = 0; k < s->n && ok; k++)
        fresh = fresh && (how->doubles || !same_text(f, &s->functions[k]));
    if (!w->failed && ok && fresh) {
        for (int k = 0; k < 64 * 16; k++)
            (&s->used[0][0])[k] |= (&w->used[0][0])[k];
        s->temporary[s->n++] = temporaries(w);
    } else {
        f->n = c->n = 0;
    }
    ok = !w->failed;
    release(w);
    return ok;
}

static char *join(source *s)
{
    text t = { 0 };

    sweep_put(&t, "%s", prelude);
    for (int o = 0; o < sweep_n_ops; o++)
        for (int k = 0; k < 16; k++)
            if (s->used[o][k])
                write_op(&t, &sweep_ops[o], (rd_dtype)k);
    for (int v = 0; v < s->n; v++) {
        sweep_put(&t, "\n%s", s->functions[v].at);
        sweep_put(&t,
                  "void run%d(void *const *p, int threads)\n{\n    char *const tmp = p[%s];\n"
                  "    (void)tmp;\n"
                  "    (void)threads;\n%s}\n",
                  v, "LAST", s->calls[v].at);
    }
    for (int v = 0; v <= MOST_VARIANTS; v++) {
        free(s->functions[v].at);
        free(s->calls[v].at);
    }
    return t.at;
}

static char *with_last(char *text_, int last)
{
    text        t    = { 0 };
    const char *from = text_, *at;

    while ((at = strstr(from, "LAST"))) {
        sweep_put(&t, "%.*s%d", (int)(at - from), from, last);
        from = at + 4;
    }
    sweep_put(&t, "%s", from);
    free(text_);
    return t.at;
}

bool sweep_loops_write(program *p, loop_set *l, int most_threads)
{
    source *s                = calloc(1, sizeof *s);
    node   *root[MOST_ROOTS] = { NULL };
    bool    ok               = true;

    *l           = (loop_set){ 0 };
    s->temporary = l->temporary;
    for (int k = 0; k < p->n_roots; k++) {
        root[k] = sweep_lower(p, p->loops_root[k] ? p->loops_root[k] : p->root[k]);
        ok      = ok && root[k];
    }
    for (int k = 0; ok && k < (int)(sizeof manners / sizeof *manners) && s->n < MOST_VARIANTS; k++)
        ok = add(s, p, root, &manners[k], most_threads > 1);
    l->n_variants = s->n;
    ok = ok && l->n_variants > 0 && add(s, p, root, &to_compare, false) && s->n > l->n_variants;
    l->source = with_last(join(s), p->n_leaves + p->n_roots);
    free(s);
    return ok;
}
