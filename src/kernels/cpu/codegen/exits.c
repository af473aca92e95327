/* exits.c - loops that are left once no element can change the fold that they decide. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* Elements of strips, or rows, until the states are looked at. */
enum { CHECK_EVERY = 16, SHORT_ROWS = 512 };

/* Has each of its cells a state of its own, which is all that it comes to? */
static bool has_cells(const rd_codegen_fold *f)
{
    return f->lanes == 1 && f->of.fold->n_cell > 1 && f->of.fold->n_cell == f->states &&
           !f->nowhere;
}

/* Can no element change what these states come to?  One lane of a cell says so, and all cells must,
 * of one lane each.  Lanes without elements have the identity. */
void rd_codegen_exit_functions(rd_codegen *n, rd_text *to, int32_t number)
{
    const rd_codegen_fold *f    = &n->fold[number];
    const char            *type = rd_state_type(&f->of, 0);
    rd_word                end;

    if (f->of.user || !rd_fold_end(f->of.fold, &end))
        return;
    rd_text_add(to,
                "static inline int settled%d(const %s *s, int64_t n)\n{\n    %s found = %d;\n\n"
                "    for (int64_t l = 0; l < n; l++)\n"
                "        found %s s[l] == (%s)0x%" PRIx64 "u ? 1 : 0;\n    return found;\n}\n",
                number, type, type, f->lanes == 1, f->lanes == 1 ? "&=" : "|=", type, end.u64);
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
static void add_now_and_then(rd_codegen *n, rd_text *to, int32_t loop, bool cells)
{
    const int32_t axis = n->p->loop[loop].axis;

    if (n->here && n->here->fixed)
        rd_text_add(to, "(v%d / %d) %% %d == %d && ", axis, n->here->width, CHECK_EVERY,
                    CHECK_EVERY - 1);
    else if (!n->here && n->bind[axis].kind == RD_BIND_INDEX &&
             rd_trips(n->p, loop) > CHECK_EVERY && (cells || n->p->axis_extent[axis] < SHORT_ROWS))
        rd_text_add(to, "i%d %% %d == %d && ", axis, CHECK_EVERY, CHECK_EVERY - 1);
}

void rd_codegen_exit(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst  = &n->p->inst[i];
    const rd_codegen_fold *f     = &n->fold[inst->a];
    const bool             cells = has_cells(f);
    rd_text                line  = { 0 };

    /* Within a strip there is no way out but at its end. */
    if (n->here && (f->strip || n->here->around || n->here->loop != inst->arg || n->here->one))
        return;
    if (f->of.fold->n_cell > 1 && !cells)
        return;
    rd_strip_loop_end(n);
    rd_text_add(&line, "if (");
    if (n->here || n->p->inst[f->step].loop != inst->arg)
        add_now_and_then(n, &line, inst->arg, cells);
    rd_text_add(&line, "settled%d(%c%d_0, ", inst->a, f->cached ? 'c' : 's', inst->a);
    if (cells)
        rd_number_text(n, &line, f->states);
    else
        rd_text_add(&line, "%d", f->lanes);
    rd_text_add(&line, ")) goto left%" PRId32 ";", inst->arg);
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
}

/* Are the cells of a round of the loop those of the strip, and no others? */
static bool has_cells_of_strip(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    for (int32_t k = n->p->inst[f->step].loop; k >= 0 && k != loop; k = n->p->loop[k].parent)
        if (n->p->loop[k].axis != n->here->axis && rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return false;
    return f->lanes == 1 && f->mode == RD_FOLD_CELLS;
}

/* Behind `rows` rows of a strip: all of its cells are known, so that no row below counts.  `to`:
 * where the loop's index goes, as others follow; NULL: it is the only one. */
void rd_codegen_exit_rows(rd_codegen *n, int32_t loop, int rows, const char *to)
{
    const int32_t a = n->p->loop[loop].axis;

    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++) {
        const rd_inst         *inst = &n->p->inst[i];
        const rd_codegen_fold *f    = inst->kind == RD_I_EXIT ? &n->fold[inst->a] : NULL;
        rd_text                line = { 0 };

        if (!f || inst->arg != loop || f->of.user || !has_cells_of_strip(n, f, loop))
            continue;
        rd_text_add(&line, "if (i%d / %d %% %d == %d && settled%d(&s%d_0[", a, rows, CHECK_EVERY,
                    CHECK_EVERY - 1, inst->a, inst->a);
        rd_add_first_state(n, &line, f);
        rd_text_add(&line, "], n)) ");
        if (to)
            rd_text_add(&line, "{ i%d = %s; break; }", a, to);
        else
            rd_text_add(&line, "break;");
        rd_line(n, "%s", line.at);
        rd_text_free(&line);
    }
}
