/* rest.c - the last strip of rows that are no whole strips of lanes.
 *
 * Of 52 elements in 64 lanes compilers make three vectors and four numbers, and the next vector of
 * states waits until those are in the cache.  So such a strip is as long as the others: what lies
 * behind the row is 0, and its steps are not kept (the maximum of rows of 180 f32: 26 ns, so 19). */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* Elements side by side, or one for all. */
static bool is_plain(const rd_codegen *n, const rd_region *r, int32_t load)
{
    const rd_address *at   = &n->p->address[n->p->inst[load].arg];
    const int64_t     coef = rd_coef(at, r->axis);

    return !rd_has_registers(at) && n->reuse[load] < 0 && (coef == 0 || coef == 1) &&
           at->type != RD_F16 && at->type != RD_BF16 && !n->stored[at->slot];
}

static bool may_go_on(const rd_codegen *n, const rd_region *r, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = inst->kind == RD_I_STEP ? &n->fold[inst->arg] : NULL;

    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_SELECT: return true;
    case RD_I_LOAD: return is_plain(n, r, i);
    case RD_I_CAST: return !rd_cuts(n, inst);
    case RD_I_MAP: return !rd_cuts(n, inst) && !rd_op_warns(inst);
    case RD_I_STEP:
        return f->mode == RD_FOLD_LANES && !f->of.user && !rd_cuts(n, inst) &&
               f->lanes % r->width == 0;
    default: return false;
    }
}

bool rd_pads(const rd_codegen *n, const rd_region *r)
{
    if (r->around || !r->fixed || r->one || r->rest <= 0 || n->unrolled)
        return false;
    for (int32_t i = r->from; i < r->to; i++)
        if (n->p->inst[i].kind != RD_I_LOOP && n->p->inst[i].kind != RD_I_END &&
            !may_go_on(n, r, i))
            return false;
    return true;
}

void rd_add_padded(rd_codegen *n, int32_t load, const char *type)
{
    rd_text_add(&n->before,
                "%*s%s p%" PRId32 "[%" PRId32 "] LINES;\n"
                "%*sINDEPENDENT for (int64_t i = 0; i < %" PRId32 "; i++) p%" PRId32
                "[i] = i < n ? x%" PRId32 "[i] : 0;\n",
                4 * n->indent, "", type, load, n->here->width, 4 * n->indent, "", n->here->width,
                load, load);
}
