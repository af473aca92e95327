/* work.c - counts the work of a program: elements, operations, bytes.
 *
 * A slot is a buffer of the program.  A fold is a reduction or scan; STEP and SCAN give it an
 * element.  A tile is a range of an axis.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/caches.h"
#include "kernels/program.h"

/* ---- How often ------------------------------------------------------------------------------- */
/* True if a loop inside of `loop`, around or at `inner`, runs over the same axis. Then `loop`
 * goes by tiles (ranges) of the axis, and only the innermost loop over it counts its indices. */
static bool is_tiled_inside(const rd_program *p, int32_t loop, int32_t inner)
{
    for (int32_t k = inner; k != loop; k = p->loop[k].parent)
        if (p->loop[k].axis == p->loop[loop].axis)
            return true;
    return false;
}

/* Returns how many rounds a loop has: tiles (ranges) of its axis for a loop over tiles, else all
 * indices of the axis. */
static double rounds_of_loop(const rd_program *p, int32_t loop)
{
    const rd_loop *l      = &p->loop[loop];
    const int64_t  extent = p->axis_extent[l->axis];
    const int64_t  ranges = l->kind == RD_LOOP_TILE ? (extent + l->step - 1) / l->step : extent;

    return (double)ranges;
}

/* Returns how often the body of a loop runs in all: the product of the rounds of all loops around.
 * `bounded`: loops skip indices that a mask leaves out, so only their share of the rounds counts
 * (bounds->share, at most 1; bounds NULL: no mask). */
static double times_in(const rd_program *p, int32_t loop, bool bounded)
{
    double times = 1;

    for (int32_t k = loop; k >= 0; k = p->loop[k].parent) {
        if (!is_tiled_inside(p, k, loop))
            times *= rounds_of_loop(p, k);
        if (bounded && p->loop[k].bounds)
            times *= p->loop[k].bounds->share;
    }
    return times;
}

/* Returns how often all tasks together run an instruction, if no loop is left early. */
double rd_program_times(const rd_program *p, int32_t inst)
{
    return times_in(p, p->inst[inst].loop, /*bounded=*/false);
}

/* True if tasks with equal shares of the root axis may take different times: a mask bounds a
 * loop inside the root loop. Lists of blocks (list_at) do not count. The tasks must combine
 * nothing: no fold begins before the body (START), and nothing follows it. */
bool rd_program_is_uneven(const rd_program *p)
{
    bool bounded = false, begun = false;

    for (int32_t k = 0; k < p->n_loop; k++)
        bounded |=
            p->loop[k].bounds && p->loop[k].bounds->list_at < 0 && p->loop[k].axis != p->root;
    for (int32_t i = 0; i < p->body; i++)
        begun |= p->inst[i].kind == RD_I_START;
    return bounded && !begun && p->tail == p->n_inst;
}

/* True if the instruction computes a transcendental function of floats, such as exp or sin: an
 * operator with code of C's library or of this one. RD_BY_LIBM is C's library; OURS, OWN and HARD
 * are kinds of code of this one. */
bool rd_inst_is_function(const rd_inst *inst)
{
    if (inst->kind != RD_I_MAP || rd_dtype_kind(inst->type) != RD_KIND_FLOAT)
        return false;
    switch (rd_op_table[inst->op].by) {
    case RD_BY_LIBM:
    case RD_BY_OURS:
    case RD_BY_OWN:
    case RD_BY_HARD: return true;
    default: return false;
    }
}

/* True if the instruction is a step of a fold that computes an exponential of each element. */
bool rd_takes_exponential(const rd_program *p, const rd_inst *inst)
{
    const bool of_fold = inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;

    return of_fold && rd_reducer_takes_exponential(p->fold[inst->arg].reducer);
}

/* Adds the bytes that `times` sorts of a row read and write. Scratch (temporary memory of a task)
 * stays in a cache and does not count. Slots below first_scratch are arrays. */
static void add_rows(const rd_program *p, const rd_sorting *s, double times, rd_work *cost)
{
    if (p->address[s->from].slot < p->first_scratch)
        cost->read += times * (double)s->n * rd_dtype_size(s->type);
    if (p->address[s->to].slot < p->first_scratch)
        cost->written += times * (double)s->n_out * rd_dtype_size(s->out);
}

/* Adds what one instruction does in all its rounds: operations; transcendental functions; all of
 * that as so many additions (the tables have each operator's cost in additions); calls of users'
 * functions. bounded: loops skip what masks leave out. */
static void add_inst(const rd_program *p, int32_t i, bool bounded, rd_work *cost)
{
    const rd_inst *inst  = &p->inst[i];
    const double   times = times_in(p, inst->loop, bounded);

    cost->instructions += times;
    switch (inst->kind) {
    case RD_I_MAP:
        cost->operations += times;
        cost->functions += rd_inst_is_function(inst) ? times : 0;
        cost->additions += times * (double)rd_op_table[inst->op].cost;
        break;
    case RD_I_CAST:
    case RD_I_SELECT:
        cost->operations += times;
        cost->additions += times;
        break;
    case RD_I_STEP:
    case RD_I_SCAN:
        cost->operations += times;
        cost->scanned += inst->kind == RD_I_SCAN ? times : 0;
        cost->functions += rd_takes_exponential(p, inst) ? times : 0;
        cost->additions += times * (1 + (double)rd_reducer_table[p->fold[inst->arg].reducer].cost);
        break;
    case RD_I_SORT:
        cost->operations += times * (double)rd_sorting_length(&p->sorting[inst->arg]);
        cost->additions += times * rd_sorting_ops(&p->sorting[inst->arg]);
        add_rows(p, &p->sorting[inst->arg], times, cost);
        break;
    case RD_I_CALL: cost->calls += times; break;
    default: break;
    }
}

/* True if the position changes with the index of an axis. An index from a register (axis < 0, a
 * gather) may change with any. */
static bool has_axis(const rd_address *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 || at->add[k].axis == axis)
            return true;
    return false;
}

/* True if the position also changes with a loop around `loop`. If it does not, other rounds of
 * those loops touch the elements that a mask leaves out of this one, and the mask saves no
 * bytes. */
static bool is_of_outer_axis(const rd_program *p, const rd_address *at, int32_t loop)
{
    for (int32_t k = p->loop[loop].parent; k >= 0; k = p->loop[k].parent)
        if (has_axis(at, p->loop[k].axis))
            return true;
    return false;
}

/* Returns how many elements access number i touches, each counted once. A loop whose index is not
 * in the address comes back to the same elements; it counts only if they are more bytes than a
 * cache holds. bounded: loops skip what masks leave out. Of tiled axes only the innermost loop
 * counts. */
static double elements_touched(const rd_program *p, int32_t i, bool bounded)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    const int32_t     loop = p->inst[i].loop;
    const double      size = rd_dtype_size(at->type);
    double            n    = 1;

    for (int32_t k = loop; k >= 0; k = p->loop[k].parent) {
        if (is_tiled_inside(p, k, loop))
            continue;
        if (has_axis(at, p->loop[k].axis) || n * size > (double)RD_CACHED_BYTES)
            n *= rounds_of_loop(p, k);
        if (bounded && p->loop[k].bounds && is_of_outer_axis(p, at, k))
            n *= p->loop[k].bounds->share;
    }
    return n;
}

/* The span of all accesses of a kind to a slot: elements touched, and the least and the greatest
 * position. */
typedef struct slot_span {
    double touched, least, most;
    bool   gathers; /* an address has registers */
} slot_span;

/* Extends the span of a buffer by access number i: its least and greatest element over all
 * indices, and how many elements it touches. An index from a register (axis < 0) marks the span
 * as gathered. The first access (touched is 0) sets the span. */
static void add_access(const rd_program *p, int32_t i, bool bounded, slot_span *s)
{
    const rd_address *at   = &p->address[p->inst[i].arg];
    double            from = (double)at->offset, to = from;

    for (int32_t k = 0; k < at->n_add; k++) {
        const rd_addend *add = &at->add[k];
        const double     by =
            add->axis < 0 ? 0 : (double)add->coef * (double)(p->axis_extent[add->axis] - 1);

        s->gathers |= add->axis < 0;
        from += by < 0 ? by : 0;
        to += by > 0 ? by : 0;
    }
    s->least = s->touched > 0 && s->least < from ? s->least : from;
    s->most  = s->touched > 0 && s->most > to ? s->most : to;
    s->touched += elements_touched(p, i, bounded);
}

/* Returns the bytes that all accesses of a kind (LOAD or STORE) move of a buffer (slot). Several
 * accesses mostly touch the same elements, a little apart, as in a stencil. `size` is the bytes of
 * an element. So it is at most the span from the least element to the greatest, but no less than
 * the largest access. Gathers, and accesses with gaps, count as what they touch. */
static double bytes_of_slot(const rd_program *p, rd_inst_kind kind, int32_t slot, bool bounded)
{
    slot_span s    = { 0 };
    double    size = 0, most = 0, span;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == kind && p->address[p->inst[i].arg].slot == slot) {
            const double each = elements_touched(p, i, bounded);

            add_access(p, i, bounded, &s);
            size = rd_dtype_size(p->address[p->inst[i].arg].type);
            most = each > most ? each : most;
        }
    span = s.most - s.least + 1;
    if (s.gathers || s.touched < span)
        return size * s.touched;
    return size * (most > span ? most : span);
}

/* Adds up the bytes of all accesses of a kind (LOAD or STORE), one buffer after the other, each
 * at its first access. Scratch (temporary memory of a task) does not count. */
static double bytes_of(const rd_program *p, rd_inst_kind kind, bool bounded)
{
    double bytes = 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        bool first = p->inst[i].kind == kind && p->address[p->inst[i].arg].slot < p->first_scratch;

        for (int32_t k = 0; k < i && first; k++)
            first = p->inst[k].kind != kind ||
                    p->address[p->inst[k].arg].slot != p->address[p->inst[i].arg].slot;
        if (first)
            bytes += bytes_of_slot(p, kind, p->address[p->inst[i].arg].slot, bounded);
    }
    return bytes;
}

/* Counts the work of a program: bytes, operations, and the elements that its innermost loops
 * visit, by all rounds of all loops. `bounded`: loops skip what masks leave out. */
rd_work rd_program_work(const rd_program *p, bool bounded)
{
    rd_work cost = { .read    = bytes_of(p, RD_I_LOAD, bounded),
                     .written = bytes_of(p, RD_I_STORE, bounded) };

    for (int32_t i = 0; i < p->n_inst; i++)
        add_inst(p, i, bounded, &cost);
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].first < 0)
            cost.elements += times_in(p, k, bounded);
    if (p->n_loop == 0)
        cost.elements = 1;
    return cost;
}
