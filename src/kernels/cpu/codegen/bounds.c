/* bounds.c - loops of which a mask of places leaves out a part: its strips are passed by, and those
 * that it covers run without it. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>

/* Blocks that end inside the loop must go to their trees, whatever they hold. */
static bool ends_blocks_inside(const rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f = &n->fold[k];

        if (f->blocks && rd_within(n, f->step, loop) && !rd_within(n, f->start, loop) &&
            f->along != loop && (f->along < 0 || !rd_within(n, n->p->loop[loop].begin, f->along)))
            return true;
    }
    return false;
}

bool rd_is_bounded(const rd_codegen *n, int32_t loop)
{
    return n->p->loop[loop].bounds && !n->unrolled && n->jam < 0 && !ends_blocks_inside(n, loop);
}

/* Of from, from + by .. to: the last at or before `at`, the first at or behind it. */
void rd_bounds_functions(const rd_codegen *n, rd_text *to)
{
    bool any = false;

    for (int32_t k = 0; k < n->p->n_loop; k++)
        any |= n->p->loop[k].bounds != NULL;
    if (any)
        rd_text_add(to,
                    "static inline int64_t step_before(int64_t from, int64_t to, int64_t by, "
                    "int64_t at)\n{\n    if (at >= to)\n        return to;\n"
                    "    return at <= from ? from : from + (at - from) / by * by;\n}\n"
                    "static inline int64_t step_behind(int64_t from, int64_t to, int64_t by, "
                    "int64_t at)\n{\n    if (at >= to)\n        return to;\n"
                    "    return at <= from ? from : LESS(to, from + (at - from + by - 1) / by * "
                    "by);\n}\n"
                    "static inline int64_t within(int64_t x)\n{\n    const int64_t most = "
                    "INT64_C(1) << 60;\n    return x > most ? most : x < -most ? -most : x;\n}\n");
}

/* The most, or the least, that an index comes to in what is being written inside the loop. */
static void add_index(rd_codegen *n, rd_text *to, int32_t axis, bool most)
{
    const rd_bind *b = &n->bind[axis];

    switch (b->kind) {
    case RD_BIND_INDEX: rd_text_add(to, "i%" PRId32, axis); break;
    case RD_BIND_LATER: rd_text_add(to, "(i%" PRId32 " + %" PRId64 ")", axis, b->number); break;
    case RD_BIND_NUMBER: rd_text_add(to, "%" PRId64, b->number); break;
    case RD_BIND_STRIP: rd_text_add(to, most ? "(v%" PRId32 " + n - 1)" : "v%" PRId32, axis); break;
    case RD_BIND_NONE:
        rd_text_add(to, most ? "(hi%" PRId32 "_%" PRId32 " - 1)" : "lo%" PRId32 "_%" PRId32, axis,
                    b->range);
        break;
    }
}

/* The same of a register: of all elements of the strip, if each has its own. */
static void add_register(rd_codegen *n, rd_text *to, const char *name, int32_t loop, int32_t reg,
                         bool most)
{
    rd_text *in;

    if (!n->here || !n->varies[reg]) {
        rd_text_add(to, "within(r%" PRId32 ")", reg);
        return;
    }
    rd_line(n, "int64_t %s%" PRId32 "_%" PRId32 " = %s(INT64_C(1) << 60);", name, loop, reg,
            most ? "-" : "");
    in = rd_strip_loop(n);
    rd_text_add(in, " const int64_t y = within(");
    rd_operand_text(n, in, reg);
    rd_text_add(in, "); %s%" PRId32 "_%" PRId32 " = %s(%s%" PRId32 "_%" PRId32 ", y);", name, loop,
                reg, most ? "MORE" : "LESS", name, loop, reg);
    rd_strip_loop_end(n);
    rd_text_add(to, "%s%" PRId32 "_%" PRId32, name, loop, reg);
}

/* The same of the bound without the loop's own index. */
static void add_rest(rd_codegen *n, rd_text *to, const char *name, int32_t loop, const rd_bound *b,
                     bool most)
{
    const int32_t own = n->p->loop[loop].axis;

    rd_number_text(n, to, b->offset);
    for (int32_t k = 0; k < b->n_reg; k++) {
        rd_text_add(to, " + ");
        rd_number_text(n, to, b->reg_coef[k]);
        rd_text_add(to, " * ");
        add_register(n, to, name, loop, b->reg[k], (b->reg_coef[k] > 0) == most);
    }
    for (int32_t k = 0; k < b->n_add; k++) {
        if (b->axis[k] == own || b->coef[k] == 0)
            continue;
        rd_text_add(to, " + ");
        rd_number_text(n, to, b->coef[k]);
        rd_text_add(to, " * ");
        add_index(n, to, b->axis[k], (b->coef[k] > 0) == most);
    }
}

/* "const int64_t <name><loop> = <function>(<from>, <to>, <by>, <at>);" */
static void add_step(rd_codegen *n, int32_t loop, const char *name, const char *function,
                     const char *from, const char *to, int by, const char *at)
{
    rd_line(n, "const int64_t %s%" PRId32 " = %s(%s, %s, %d, %s%" PRId32 ");", name, loop, function,
            from, to, by, at, loop);
}

/* Where a bound begins to hold for some of what stands inside (most), or for all, and where it
 * ends:  "const int64_t <name><loop> = <sign>(rest) + more;" */
static void add_place(rd_codegen *n, int32_t loop, const char *name, const char *sign,
                      const rd_bound *b, bool most, int more)
{
    rd_text rest = { 0 };

    add_rest(n, &rest, name, loop, b, most);
    rd_line(n, "const int64_t %s%" PRId32 " = %s(%s) + %d;", name, loop, sign,
            rest.at ? rest.at : "", more);
    rd_text_free(&rest);
}

/* One index beyond the ends is visited, and one where there is nothing between. */
static void add_ends(rd_codegen *n, int32_t loop, const rd_bounds *bounds)
{
    const int32_t a = n->p->loop[loop].axis, r = n->bind[a].range;

    if (bounds->low.n_add) {
        add_place(n, loop, "least", "-", &bounds->low, true, -1);
        rd_line(n,
                "const int64_t low%" PRId32 " = LESS(least%" PRId32 ", hi%" PRId32 "_%" PRId32
                " - 1);",
                loop, loop, a, r);
    } else
        rd_line(n, "const int64_t low%" PRId32 " = lo%" PRId32 "_%" PRId32 ";", loop, a, r);
    if (bounds->high.n_add) {
        add_place(n, loop, "most", "", &bounds->high, true, 2);
        rd_line(n,
                "const int64_t high%" PRId32 " = MORE(most%" PRId32 ", MORE(low%" PRId32
                ", lo%" PRId32 "_%" PRId32 ") + 1);",
                loop, loop, loop, a, r);
    } else
        rd_line(n, "const int64_t high%" PRId32 " = hi%" PRId32 "_%" PRId32 ";", loop, a, r);
}

/* ---- Lists ----------------------------------------------------------------------------------- */
static bool steps_along(const rd_codegen *n, const rd_region *r)
{
    bool found = false;

    for (int32_t k = 0; k < n->p->n_fold; k++)
        found |= n->fold[k].step >= r->from && n->fold[k].step < r->to &&
                 (rd_coef(&n->p->fold[k].lane, r->axis) || rd_coef(&n->p->fold[k].outer, r->axis));
    return found;
}

int32_t rd_clusters_along(const rd_codegen *n, const rd_region *r)
{
    int32_t found = -1;

    for (int32_t k = 0; k < n->p->n_loop; k++) {
        const rd_loop   *l = &n->p->loop[k];
        const rd_bounds *b = l->begin >= r->from && l->end < r->to ? l->bounds : NULL;

        if (b && b->list_at >= 0 && n->p->address[b->list_at].add[0].axis == r->axis)
            found = b->list_at;
    }
    return found >= 0 && !r->one && !steps_along(n, r) ? found : -1;
}

void rd_open_cluster(rd_codegen *n, const rd_region *r, int32_t clusters, const char *to)
{
    const rd_address *at = &n->p->address[clusters];
    const int32_t     a  = r->axis;

    rd_line(n, "while (v%d < %s) {", a, to);
    n->indent++;
    rd_line(n, "const int32_t *const cluster%d = (const int32_t *)m%d + %" PRId64 ";", a,
            (int)at->slot, at->offset);
    rd_line(n, "int64_t border%d = v%d + 1;", a, a);
    rd_line(n, "while (border%d < %s && cluster%d[border%d] == cluster%d[v%d])", a, to, a, a, a, a);
    rd_line(n, "    border%d++;", a);
}

/* Of the first, or last, index that stands inside; these ascend. */
static void add_cluster(rd_codegen *n, rd_text *to, const rd_address *at, bool most)
{
    rd_text_add(to, "((const int32_t *)m%d)[", (int)at->slot);
    rd_number_text(n, to, at->offset);
    rd_text_add(to, " + ");
    add_index(n, to, at->add[0].axis, most);
    rd_text_add(to, "]");
}

void rd_bounds_begin(rd_codegen *n, int32_t loop)
{
    if (n->p->loop[loop].bounds->list_at >= 0)
        rd_line(n, "int64_t past%" PRId32 " = 0;", loop);
}

/* One range after the other, from the first that ends behind `from` on; all indices where a strip
 * has elements of several lists.  Two ranges may meet in one strip, which is visited once.  An index
 * beyond either end of the first range is visited, too: one that is masked out, if there is any,
 * tells 0 from -0. */
static void open_list(rd_codegen *n, int32_t loop, const rd_bounds *bounds, const char *from,
                      const char *to, int by)
{
    const int32_t k     = loop;
    rd_text       least = { 0 }, most = { 0 }, lists = { 0 }, at = { 0 };

    add_cluster(n, &least, &n->p->address[bounds->list_at], false);
    add_cluster(n, &most, &n->p->address[bounds->list_at], true);
    rd_number_text(n, &lists, bounds->lists);
    rd_number_text(n, &at, bounds->list);
    rd_line(n, "const int64_t *const list%d = (const int64_t *)(m%d + %s);", k,
            (int)bounds->list_slot, at.at);
    rd_line(n, "const int64_t least%d = %s, most%d = %s;", k, least.at, k, most.at);
    rd_line(n, "const int64_t one%d = least%d + most%d, of_one%d = most%d - least%d <= 1;", k, k, k,
            k, k, k);
    rd_line(n, "const int64_t nearest%d = of_one%d ? list%d[one%d] : 0;", k, k, k, k);
    rd_line(n, "const int64_t ranges%d = of_one%d ? list%d[one%d + 1] : 1;", k, k, k, k);
    rd_line(n,
            "while (nearest%d + past%d + 1 < ranges%d && list%d[%s + 2 + 2 * (nearest%d + past%d)] "
            "< %s)",
            k, k, k, k, lists.at, k, k, from);
    rd_line(n, "    past%d++;", k);
    rd_line(n, "int64_t range%d = nearest%d + past%d, done%d = %s;", k, k, k, k, from);
    rd_line(n, "for (; range%d < ranges%d && done%d < %s; range%d++) {", k, k, k, to, k);
    n->indent++;
    rd_line(n, "const int64_t *const two%d = list%d + %s + 1 + 2 * range%d;", k, k, lists.at, k);
    rd_line(n, "const int64_t from_%d = of_one%d ? two%d[0] : %s;", k, k, k, from);
    rd_line(n, "const int64_t to_%d = of_one%d ? two%d[1] : %s;", k, k, k, to);
    rd_line(n, "const int64_t beyond%d = range%d == nearest%d;", k, k, k);
    rd_line(n, "const int64_t low%d = from_%d - beyond%d, high%d = to_%d + beyond%d;", k, k, k, k,
            k, k);
    rd_line(n, "const int64_t all_from%d = least%d == most%d ? from_%d : %s, all_to%d = to_%d;", k,
            k, k, k, to, k, k);
    add_step(n, loop, "before_range", "step_before", from, to, by, "low");
    rd_line(n, "const int64_t first%d = MORE(before_range%d, done%d);", k, k, k);
    add_step(n, loop, "after", "step_behind", from, to, by, "high");
    rd_line(n, "const int64_t last%d = MORE(first%d, after%d);", k, k, k);
    rd_line(n, "done%d = last%d;", k, k);
    add_step(n, loop, "behind", "step_behind", from, to, by, "all_from");
    rd_line(n, "const int64_t begin%d = LESS(MORE(first%d, behind%d), last%d);", k, k, k, k);
    add_step(n, loop, "before", "step_before", from, to, by, "all_to");
    rd_line(n, "const int64_t end_%d = LESS(MORE(begin%d, before%d), last%d);", k, k, k, k);
    rd_text_free(&least);
    rd_text_free(&most);
    rd_text_free(&lists);
    rd_text_free(&at);
}

void rd_bounds_close(rd_codegen *n, int32_t loop)
{
    if (n->p->loop[loop].bounds->list_at < 0)
        return;
    n->indent--;
    rd_line(n, "}");
}

void rd_bounds_open(rd_codegen *n, int32_t loop, const char *from, const char *to, int by)
{
    const rd_bounds *bounds = n->p->loop[loop].bounds;

    if (bounds->list_at >= 0) {
        open_list(n, loop, bounds, from, to, by);
        return;
    }
    add_ends(n, loop, bounds);
    add_step(n, loop, "first", "step_before", from, to, by, "low");
    add_step(n, loop, "after", "step_behind", from, to, by, "high");
    rd_line(n, "const int64_t last%" PRId32 " = MORE(first%" PRId32 ", after%" PRId32 ");", loop,
            loop, loop);
    if (bounds->mask < 0)
        return;
    if (bounds->low.n_add) {
        add_place(n, loop, "all_from", "-", &bounds->low, false, 0);
        add_step(n, loop, "behind", "step_behind", from, to, by, "all_from");
        rd_line(n,
                "const int64_t begin%" PRId32 " = LESS(MORE(first%" PRId32 ", behind%" PRId32
                "), last%" PRId32 ");",
                loop, loop, loop, loop);
    } else
        rd_line(n, "const int64_t begin%" PRId32 " = first%" PRId32 ";", loop, loop);
    if (bounds->high.n_add) {
        add_place(n, loop, "all_to", "", &bounds->high, false, 1);
        add_step(n, loop, "before", "step_before", from, to, by, "all_to");
        rd_line(n,
                "const int64_t end_%" PRId32 " = LESS(MORE(begin%" PRId32 ", before%" PRId32
                "), last%" PRId32 ");",
                loop, loop, loop, loop);
    } else
        rd_line(n, "const int64_t end_%" PRId32 " = last%" PRId32 ";", loop, loop);
}

static void walk_part(rd_codegen *n, int32_t loop, rd_walk_part *walk, void *with, const char *lo,
                      const char *hi)
{
    char from[24], to[24];

    snprintf(from, sizeof from, "%s%" PRId32, lo, loop);
    snprintf(to, sizeof to, "%s%" PRId32, hi, loop);
    walk(n, loop, with, from, to);
}

void rd_walk_bounded(rd_codegen *n, int32_t loop, rd_walk_part *walk, void *with)
{
    const rd_bounds *bounds = n->p->loop[loop].bounds;
    const int32_t    round = n->round, covered = n->covered;

    if (bounds->mask < 0) {
        walk_part(n, loop, walk, with, "first", "last");
        return;
    }
    if (bounds->low.n_add || bounds->list_at >= 0) {
        walk_part(n, loop, walk, with, "first", "begin");
        n->round = round;
    }
    n->covered = bounds->mask;
    walk_part(n, loop, walk, with, "begin", "end_");
    n->covered = covered;
    if (bounds->high.n_add || bounds->list_at >= 0) {
        n->round = round;
        walk_part(n, loop, walk, with, "end_", "last");
    }
}
