/* exits.c - loops that are left once no element can change the fold that they decide. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* Elements of strips, or rows, until the states are looked at. */
enum { CHECK_EVERY = 16, SHORT_ROWS = 512 };

/* Can no element change what these states come to?  Lanes without elements have the identity. */
void rd_codegen_exit_functions(rd_codegen *n, rd_text *to, int32_t number)
{
    const rd_codegen_fold *f    = &n->fold[number];
    const char            *type = rd_state_type(&f->of, 0);
    const bool             any  = rd_fold_terminal(f->of.fold) != 0;

    if (f->of.user || rd_fold_terminal(f->of.fold) < 0)
        return;
    rd_text_add(
        to,
        "static inline int settled%d(const %s *s)\n{\n    %s all = %d;\n\n"
        "    for (int l = 0; l < %d; l++)\n        all = all %s s[l];\n    return %sall;\n}\n",
        number, type, type, !any, f->lanes, any ? "|" : "&", any ? "!!" : "!");
}

/* Is there an instruction that leaves the loop? */
bool rd_is_left(const rd_codegen *n, int32_t loop)
{
    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++)
        if (n->p->inst[i].kind == RD_I_EXIT && n->p->inst[i].arg == loop)
            return true;
    return false;
}

void rd_left_label(rd_codegen *n, int32_t loop)
{
    if (rd_is_left(n, loop))
        rd_line(n, "left%" PRId32 ":;", loop);
}

/* Rounds of the loop between looks, where a look costs as much as a round. */
static void add_now_and_then(rd_codegen *n, rd_text *to, int32_t loop)
{
    const int32_t axis = n->p->loop[loop].axis;

    if (n->here && n->here->fixed)
        rd_text_add(to, "(v%d / %d) %% %d == %d && ", axis, n->here->width, CHECK_EVERY,
                    CHECK_EVERY - 1);
    else if (!n->here && n->bind[axis].kind == RD_BIND_INDEX &&
             rd_trips(n->p, loop) > CHECK_EVERY && n->p->axis_extent[axis] < SHORT_ROWS)
        rd_text_add(to, "i%d %% %d == %d && ", axis, CHECK_EVERY, CHECK_EVERY - 1);
}

void rd_codegen_exit(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->a];
    rd_text                line = { 0 };

    /* Within a strip there is no way out but at its end. */
    if (n->here && (f->strip || n->here->around || n->here->loop != inst->arg || n->here->one))
        return;
    rd_strip_loop_end(n);
    rd_text_add(&line, "if (");
    if (n->here || n->p->inst[f->step].loop != inst->arg)
        add_now_and_then(n, &line, inst->arg);
    rd_text_add(&line, "settled%d(%c%d_0)) goto left%" PRId32 ";", inst->a, f->cached ? 'c' : 's',
                inst->a, inst->arg);
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
}
