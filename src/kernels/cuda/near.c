/* near.c - steps of a log-sum-exp for several elements together.
 *
 * A step has two ways: an element that is far above m moves it, any other adds its exponential.
 * Hardly any moves it.  So of a thread's elements side by side all come first to what they are; if
 * none of them moves its m, their steps are additions, of an exponential that is not great:
 *
 *     for l: the body of element l;  x5[l] = r0;  moves5 |= moves0(..., r0, 1);
 *     if (!moves5)
 *         for l: near0(..., x5[l], unit, exp(distance0(..., x5[l], 1)) / unit);
 *     else
 *         for l: step0(..., x5[l], 1, ...);
 *
 * Elements may be of one lane: if none moves m, it is the same for all. */
#include "kernels/cuda/text.h"
#include <inttypes.h>

/* m of maxsumexp is the maximum, which moves often.  A fold that each element begins anew has its
 * states in the element's body. */
bool rd_cuda_waits(const rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f    = inst->kind == RD_I_STEP ? &t->s->fold[inst->arg] : NULL;
    const rd_fold      *fold = f ? f->of.fold : NULL;

    return fold && !f->of.user && fold->reducer == RD_RED_logsumexp && !f->of.masked &&
           !f->of.weighted && t->s->p->inst[f->start].loop != inst->loop &&
           !rd_has_registers(&fold->cell) && !rd_has_registers(&fold->lane) &&
           (!f->tree || rd_cuda_has_moved(t, inst->arg)) &&
           (f->home != RD_HOME_TEAM || t->spread >= 0);
}

void rd_cuda_declare_waiting(rd_cuda_text *t, int32_t i, int32_t n)
{
    const rd_emit_fold *of = &t->s->fold[t->s->p->inst[i].arg].of;

    rd_cuda_line(t, "%s x%" PRId32 "[%" PRId32 "];", rd_state_type(of, 0), i, n);
    rd_cuda_line(t, "int moves%" PRId32 " = 0;", i);
}

void rd_cuda_add_waiting(rd_cuda_text *t, const rd_inst *inst, const char *states)
{
    const int32_t i = (int32_t)(inst - t->s->p->inst);
    char          at[RD_CUDA_ELEMENT];

    rd_cuda_line(t, "x%" PRId32 "[%s] = r%" PRId32 ";", i, rd_cuda_element(t, at), inst->a);
    rd_cuda_line(t, "moves%" PRId32 " |= moves%" PRId32 "(%s, r%" PRId32 ", 1);", i, inst->arg,
                 states, inst->a);
}

/* The exponential is a product, which the addition takes in.  It is exact, or so small that a sum
 * of 1 and more does not show it; a sum that has taken nothing yet rounds it as the product would
 * be. */
void rd_cuda_add_near(rd_cuda_text *t, const rd_inst *inst, const char *states)
{
    const char *elem = rd_state_elem(&t->s->fold[inst->arg].of);

    rd_cuda_line(t,
                 "near%" PRId32 "(%s, r%" PRId32
                 ", RD_EXP_LOW_UNIT_%s, rd_exp_low_%s(distance%" PRId32 "(%s, r%" PRId32 ", 1)));",
                 inst->arg, states, inst->a, elem, elem, inst->arg, states, inst->a);
}

/* "const float r0 = x5[l];" and the step. */
void rd_cuda_step_again(rd_cuda_text *t, int32_t i, rd_cuda_steps steps)
{
    const rd_inst *inst = &t->s->p->inst[i];
    char           at[RD_CUDA_ELEMENT];

    t->steps = steps;
    rd_cuda_line(t, "const %s r%" PRId32 " = x%" PRId32 "[%s];",
                 rd_state_type(&t->s->fold[inst->arg].of, 0), inst->a, i, rd_cuda_element(t, at));
    rd_cuda_step(t, inst);
    t->steps = RD_STEPS_WHOLE;
}
