/* walk.c - the program's tree of loops, as loops of the text. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- Loops over a strip ---------------------------------------------------------------------- */
rd_text *rd_strip_loop(rd_codegen *n)
{
    if (!n->open)
        n->round++;
    n->open = true;
    return &n->inside;
}

static void clear(rd_text *text)
{
    text->n = 0;
    if (text->at)
        text->at[0] = 0;
}

void rd_strip_loop_end(rd_codegen *n)
{
    if (!n->open)
        return;
    n->open = false;
    if (!n->dry) {
        rd_text_add(n->to, "%s", n->before.at ? n->before.at : "");
        if (n->loads)
            rd_line(n, "loads += %" PRId64 " * n;", n->loads);
        if (n->after.at && n->after.n)
            rd_add_loop_past(n);
        else if (n->fetched.at && n->fetched.n)
            rd_add_loop_ahead(n);
        else if (n->inside.at && n->inside.n) {
            rd_text_add(n->to, "%*s%sfor (int64_t i = 0; i < ", 4 * n->indent, "",
                        n->here && rd_has_wholes(n, n->here) ? "" : "INDEPENDENT ");
            if (n->padded && n->here)
                rd_text_add(n->to, "%d", n->here->width);
            else
                rd_text_add(n->to, "n");
            rd_text_add(n->to, "; i++) {%s }\n", n->inside.at);
        }
        n->why = n->before.failed || n->fetched.failed || n->inside.failed || n->after.failed
                     ? "no memory"
                     : n->why;
    }
    n->loads = 0;
    clear(&n->before);
    clear(&n->fetched);
    clear(&n->inside);
    clear(&n->after);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
static void walk_loop(rd_codegen *n, int32_t loop);

static void open_round(rd_codegen *n)
{
    if (n->here)
        rd_text_add(rd_strip_loop(n), " {");
    else
        rd_line(n, "{");
    n->unrolled += n->here != NULL;
    n->indent += n->here == NULL;
}

static void close_round(rd_codegen *n)
{
    n->unrolled -= n->here != NULL;
    n->indent -= n->here == NULL;
    if (n->here)
        rd_text_add(rd_strip_loop(n), " }");
    else
        rd_line(n, "}");
}

/* A short loop, index after index: of a strip; or in none, a scan by the tree, of which the places
 * of elements are numbers then. */
static void write_out(rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    const rd_bind  kept = n->bind[l->axis];

    for (int64_t k = 0; k < l->extent; k++) {
        n->bind[l->axis].kind   = RD_BIND_NUMBER;
        n->bind[l->axis].number = l->backwards ? l->extent - 1 - k : k;
        open_round(n);
        rd_walk_body(n, loop);
        close_round(n);
    }
    n->bind[l->axis] = kept;
}

/* Ranges of an axis, one after the other: the loops over it inside visit one. */
static void walk_tiles(rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    const int32_t  a    = l->axis;
    const rd_bind  kept = n->bind[a];
    const int32_t  r    = ++n->ranges[a];
    rd_text        step = { 0 };

    rd_number_text(n, &step, l->step);
    rd_line(n, "for (int64_t lo%d_%d = lo%d_%d; lo%d_%d < hi%d_%d; lo%d_%d += %s) {", a, r, a,
            kept.range, a, r, a, kept.range, a, r, step.at);
    n->indent++;
    rd_line(n, "const int64_t hi%d_%d = LESS(lo%d_%d + %s, hi%d_%d);", a, r, a, r, step.at, a,
            kept.range);
    rd_text_free(&step);
    n->bind[a].range = r;
    rd_walk_body(n, loop);
    rd_strip_loop_end(n);
    n->bind[a] = kept;
    n->indent--;
    rd_line(n, "}");
    rd_left_label(n, loop);
}

/* ---- Parts of wide strips -------------------------------------------------------------------- */
int rd_strip_room(const rd_codegen *n)
{
    enum { MOST = 16 }; /* floats that a vector holds: functions of arrays take whole ones */
    const int elements = n->part >= 0 ? RD_PART : n->here->width;

    return (elements + MOST - 1) / MOST * MOST;
}

/* Rows of a wide strip that several loops work at, by way of arrays: memory waits while some of
 * them compute, so that they take the row in parts that are soon done. */
static bool goes_by_parts(const rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    bool           cuts = false;

    if (!n->here || !n->here->wide || n->here->width <= RD_PART || n->part >= 0)
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_START || inst->kind == RD_I_CLOSE || inst->kind == RD_I_EXIT ||
            inst->kind == RD_I_SCAN ||
            (inst->kind == RD_I_LOOP && n->p->loop[inst->arg].axis != n->here->axis) ||
            (inst->kind == RD_I_STEP && n->fold[inst->arg].lanes > 1))
            return false;
        cuts |= rd_cuts(n, inst);
    }
    return cuts;
}

static void walk_parts(rd_codegen *n, int32_t loop)
{
    const int32_t a = n->here->axis;

    rd_line(n, "const int64_t whole%d = v%d, last%d = v%d + n;", a, a, a, a);
    rd_line(n, "for (int64_t part%d = whole%d; part%d < last%d; part%d += %d) {", a, a, a, a, a,
            RD_PART);
    n->indent++;
    rd_line(n, "const int64_t v%d = part%d, n = LESS(last%d - part%d, %d);", a, a, a, a, RD_PART);
    n->part = loop;
    rd_walk_body(n, loop);
    rd_strip_loop_end(n);
    n->part = -1;
    n->indent--;
    rd_line(n, "}");
}

static void walk_one_by_one(rd_codegen *n, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l    = &n->p->loop[loop];
    const int32_t  a    = l->axis;
    const rd_bind  kept = n->bind[a];

    if (n->here && rd_has_exp_of_pairs(n, n->here, loop))
        rd_line(n, "_Pragma(\"GCC unroll 4\")");
    if (l->backwards)
        rd_line(n, "for (int64_t i%d = %s - 1; i%d >= %s; i%d--) {", a, hi, a, lo, a);
    else
        rd_line(n, "for (int64_t i%d = %s; i%d < %s; i%d++) {", a, lo, a, hi, a);
    n->indent++;
    n->bind[a].kind = RD_BIND_INDEX;
    if (goes_by_parts(n, loop))
        walk_parts(n, loop);
    else
        rd_walk_body(n, loop);
    rd_strip_loop_end(n);
    if (n->here && n->here->around)
        rd_codegen_exit_rows(n, loop, 1, NULL);
    n->bind[a] = kept;
    n->indent--;
    rd_line(n, "}");
}

/* Parts of the loop in which no block ends but at their end.  Of one that goes backwards `from` is
 * behind its first. */
static void open_blocks(rd_codegen *n, int32_t loop, const char *lo, const char *hi)
{
    const bool back = n->p->loop[loop].backwards;
    char       first[60];

    rd_line(n, "for (int64_t from%d = %s, end%d; from%d %s %s; from%d = end%d) {", loop,
            back ? hi : lo, loop, loop, back ? ">" : "<", back ? lo : hi, loop, loop);
    n->indent++;
    snprintf(first, sizeof first, back ? "from%d - 1" : "from%d", loop);
    rd_blocks_begin(n, loop, first, back ? lo : hi);
}

/* Without the steps of a mask that is false throughout, and what only they take, if so. */
static void walk_refused(rd_codegen *n, int32_t loop, int32_t mask, const char *lo, const char *hi)
{
    rd_line(n, "if (r%d)", mask);
    walk_one_by_one(n, loop, lo, hi);
    rd_line(n, "else");
    n->refused = mask;
    walk_one_by_one(n, loop, lo, hi);
    n->refused = -1;
}

/* Fours of a row's places, then those that are left.  A loop from 0 to 4: of one from an index to
 * that and 4 gcc does not know how often it goes round. */
static void walk_fours(rd_codegen *n, int32_t loop, const char *lo, const char *hi)
{
    const int32_t a    = n->p->loop[loop].axis;
    const rd_bind kept = n->bind[a];
    char          first[40];

    snprintf(first, sizeof first, "four%d", loop);
    rd_open_fours(n, loop, lo, hi);
    rd_line(n, "for (int64_t of%d = 0; of%d < 4; of%d++) {", loop, loop, loop);
    n->indent++;
    rd_line(n, "const int64_t i%d = four%d + of%d;", a, loop, loop);
    n->bind[a].kind = RD_BIND_INDEX;
    rd_walk_body(n, loop);
    rd_strip_loop_end(n);
    n->bind[a] = kept;
    n->indent--;
    rd_line(n, "}");
    rd_close_fours(n, loop);
    walk_one_by_one(n, loop, first, hi);
}

static void walk_range(rd_codegen *n, int32_t loop, void *with, const char *lo, const char *hi)
{
    const int32_t mask = n->here ? -1 : rd_labels_mask(n, loop);

    (void)with;
    if (mask >= 0) {
        walk_refused(n, loop, mask, lo, hi);
        return;
    }
    if (rd_goes_by_fours(n, loop))
        walk_fours(n, loop, lo, hi);
    else if (rd_goes_jammed(n, loop) || rd_goes_together(n, loop)) {
        rd_line(n, "{");
        n->indent++;
        rd_walk_together(n, loop, lo, hi);
        n->indent--;
        rd_line(n, "}");
    } else
        walk_one_by_one(n, loop, lo, hi);
}

static void walk_each(rd_codegen *n, int32_t loop)
{
    const rd_loop *l      = &n->p->loop[loop];
    const int32_t  a      = l->axis;
    const rd_bind  kept   = n->bind[a];
    const bool     blocks = rd_ends_blocks(n, loop);
    char           lo[40], hi[40];

    snprintf(lo, sizeof lo, "lo%d_%d", a, kept.range);
    snprintf(hi, sizeof hi, "hi%d_%d", a, kept.range);
    if (rd_is_bounded(n, loop))
        rd_bounds_begin(n, loop);
    if (blocks) {
        if (rd_blocks_beside(n, loop, lo, hi))
            snprintf(lo, sizeof lo, "beside%d", loop);
        open_blocks(n, loop, lo, hi);
        snprintf(l->backwards ? hi : lo, sizeof lo, "from%d", loop);
        snprintf(l->backwards ? lo : hi, sizeof hi, "end%d", loop);
    }
    if (!rd_goes_jammed(n, loop) && !rd_goes_together(n, loop))
        rd_states_alone(n, loop, true);
    if (rd_is_bounded(n, loop)) {
        rd_bounds_open(n, loop, lo, hi, 1);
        rd_walk_bounded(n, loop, walk_range, NULL);
        rd_bounds_close(n, loop);
    } else
        walk_range(n, loop, NULL, lo, hi);
    if (!n->here)
        rd_left_label(n, loop);
    rd_states_alone(n, loop, false);
    if (blocks) {
        rd_blocks_end(n, loop, l->backwards ? hi : lo, l->backwards ? lo : hi);
        n->indent--;
        rd_line(n, "}");
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */
/* Of so many elements, 0: not known before. */
static void strip_body(rd_codegen *n, const rd_region *r, int32_t elements)
{
    n->strip = elements;
    n->indent++;
    rd_walk_items(n, r->from, r->to);
    rd_strip_loop_end(n);
}

/* Strips [from, to): whole ones of a constant length, then the rest.  Of an axis that is one strip,
 * but for tasks' shares, these are some vectors. */
static void fixed_strips(rd_codegen *n, const rd_region *r, const char *to)
{
    enum { SHARE = 8 };
    const int32_t a = r->axis, kept_round = n->round;

    if (n->root == a && rd_reach(n->p, a) == r->width) { /* the one, but for tasks' shares */
        rd_line(n, "if (v%d + %d <= %s) {", a, r->width, to);
        rd_line(n, "    enum { n = %d };", r->width);
        strip_body(n, r, r->width);
        rd_line(n, "v%d += %d;", a, r->width);
        n->indent--;
        rd_line(n, "}");
        n->round = kept_round;
        rd_line(n, "for (; v%d + %d <= %s; v%d += %d) {", a, SHARE, to, a, SHARE);
        rd_line(n, "    enum { n = %d };", SHARE);
        strip_body(n, r, SHARE);
    } else {
        rd_line(n, "for (; v%d + %d <= %s; v%d += %d) {", a, r->width, to, a, r->width);
        rd_line(n, "    enum { n = %d };", r->width);
        strip_body(n, r, r->width);
    }
    n->indent--;
    rd_line(n, "}");
    if (r->rest == 0)
        return;
    rd_line(n, "if (v%d < %s) {", a, to);
    if (r->rest > 0)
        rd_line(n, "    enum { n = %d };", r->rest);
    else
        rd_line(n, "    const int64_t n = %s - v%d;", to, a);
    n->round  = kept_round;
    n->padded = rd_pads(n, r);
    strip_body(n, r, n->padded ? r->width : r->rest > 0 ? r->rest : 0);
    n->padded = false;
    rd_line(n, "v%d = %s;", a, to);
    n->indent--;
    rd_line(n, "}");
}

static void wide_strips(rd_codegen *n, const rd_region *r, const char *to)
{
    const int32_t a    = r->axis;
    rd_text       over = { 0 };

    rd_add_over_line(n, &over);
    rd_line(n, "for (int64_t n; v%d < %s; v%d += n) {", a, to, a);
    rd_line(n, "    n = LESS(%s - v%d, %d%s);", to, a, r->width, over.at ? over.at : "");
    strip_body(n, r, 0);
    n->indent--;
    rd_line(n, "}");
    rd_text_free(&over);
}

/* Nothing is kept from loop to loop, so the strip may be as long as there are elements. */
static void one_strip(rd_codegen *n, const rd_region *r, const char *to)
{
    rd_line(n, "{");
    rd_line(n, "    const int64_t n = %s - v%d;", to, r->axis);
    strip_body(n, r, 0);
    rd_line(n, "v%d = %s;", r->axis, to); /* another part of a bounded loop may follow */
    n->indent--;
    rd_line(n, "}");
}

/* An axis that is as short as a strip. */
static void only_strip(rd_codegen *n, const rd_region *r)
{
    rd_line(n, "{");
    rd_line(n, "    enum { n = %d };", r->width);
    strip_body(n, r, r->width);
    n->indent--;
    rd_line(n, "}");
}

static void strips(rd_codegen *n, rd_region *r, const char *to)
{
    n->arrays = r->arrays;
    if (r->one)
        only_strip(n, r);
    else if (r->fixed)
        fixed_strips(n, r, to);
    else if (n->dry || r->arrays)
        wide_strips(n, r, to);
    else
        one_strip(n, r, to);
    r->arrays |= n->arrays;
}

static void strips_to(rd_codegen *n, int32_t loop, void *with, const char *lo, const char *hi)
{
    (void)loop;
    (void)lo;
    strips(n, with, hi);
}

static void strips_of_clusters(rd_codegen *n, rd_region *r, int32_t clusters, const char *to)
{
    char border[24];

    snprintf(border, sizeof border, "border%d", r->axis);
    rd_open_cluster(n, r, clusters, to);
    strips(n, r, border);
    rd_line(n, "v%d = %s;", r->axis, border);
    n->indent--;
    rd_line(n, "}");
}

/* All strips up to `to`, but those that a mask leaves out.  They stay where they would be, as lanes
 * go by places. */
static void bounded_strips(rd_codegen *n, rd_region *r, const char *to)
{
    enum { LANES = 64 };
    const int32_t clusters = rd_clusters_along(n, r);
    char          from[40];

    if (clusters >= 0) {
        strips_of_clusters(n, r, clusters, to);
        return;
    }
    if (r->around || r->one || !rd_is_bounded(n, r->loop)) {
        strips(n, r, to);
        return;
    }
    snprintf(from, sizeof from, "at%d", r->loop);
    rd_line(n, "const int64_t %s = v%d;", from, r->axis);
    rd_bounds_open(n, r->loop, from, to, r->fixed ? r->width : LANES);
    rd_line(n, "v%d = first%d;", r->axis, r->loop);
    rd_walk_bounded(n, r->loop, strips_to, r);
    rd_bounds_close(n, r->loop);
    rd_line(n, "v%d = %s;", r->axis, to);
}

static void walk_region(rd_codegen *n, rd_region *r)
{
    const int32_t a      = r->axis;
    const rd_bind kept   = n->bind[a];
    const bool    blocks = !r->around && rd_ends_blocks(n, r->loop);
    char          hi[40], from[40];

    snprintf(hi, sizeof hi, "hi%d_%d", a, kept.range);
    rd_region_varies(n, r, n->varies);
    n->here = r;
    rd_line(n, "{");
    n->indent++;
    rd_line(n, "int64_t v%d = lo%d_%d;", a, a, kept.range);
    n->bind[a].kind = RD_BIND_STRIP;
    if (!r->around)
        rd_states_in(n, r->loop);
    if (!r->around && !r->one && rd_is_bounded(n, r->loop))
        rd_bounds_begin(n, r->loop);
    if (blocks) {
        rd_line(n, "for (int64_t end%d; v%d < %s;) {", r->loop, a, hi);
        n->indent++;
        snprintf(from, sizeof from, "from%d", r->loop);
        rd_line(n, "const int64_t %s = v%d;", from, a);
        rd_blocks_begin(n, r->loop, from, hi);
        snprintf(hi, sizeof hi, "end%d", r->loop);
    }
    bounded_strips(n, r, hi);
    if (!r->around)
        rd_left_label(n, r->loop);
    if (blocks) {
        rd_blocks_end(n, r->loop, from, hi);
        n->indent--;
        rd_line(n, "}");
    }
    if (!r->around)
        rd_states_out(n, r->loop);
    n->indent--;
    rd_line(n, "}");
    n->here    = NULL;
    n->bind[a] = kept;
}

/* By its region, or round after round. */
static void walk_rounds(rd_codegen *n, int32_t loop)
{
    const rd_loop *l = &n->p->loop[loop];

    if (!n->here && n->at_loop[loop] >= 0)
        walk_region(n, &n->region[n->at_loop[loop]]);
    else if (l->kind == RD_LOOP_TILE)
        walk_tiles(n, loop);
    else if (!n->here && rd_writes_out_scan(n, loop))
        write_out(n, loop);
    else
        walk_each(n, loop);
}

/* A row's places are a range of all. */
static void walk_row(rd_codegen *n, int32_t loop)
{
    const int32_t a    = n->p->loop[loop].axis;
    const rd_bind kept = n->bind[a];

    rd_line(n, "{");
    n->indent++;
    rd_row_range(n, loop);
    walk_rounds(n, loop);
    n->bind[a] = kept;
    n->indent--;
    rd_line(n, "}");
}

static void walk_loop(rd_codegen *n, int32_t loop)
{
    const rd_loop *l = &n->p->loop[loop];

    if (n->here && l->axis == n->here->axis) {
        rd_walk_body(n, loop);
        return;
    }
    if (n->here && !n->unrolled)
        rd_collect_before(n, loop);
    if (n->here && rd_writes_out(n, loop, n->here->axis)) {
        write_out(n, loop);
        return;
    }
    rd_strip_loop_end(n);
    if (rd_is_row(l))
        walk_row(n, loop);
    else
        walk_rounds(n, loop);
}

static int32_t region_around(const rd_codegen *n, int32_t from, int32_t to)
{
    const rd_program *p = n->p;
    const int32_t     loop =
        from > 0 && p->inst[from - 1].kind == RD_I_LOOP ? p->inst[from - 1].arg : -1;

    if (n->here)
        return -1;
    if (loop >= 0 && p->loop[loop].end == to)
        return n->in_loop[loop];
    return n->in_part[rd_part_of(p, from)];
}

static void walk_inst(rd_codegen *n, int32_t i)
{
    switch (n->p->inst[i].kind) {
    case RD_I_START: rd_codegen_start(n, n->p->inst[i].arg); break;
    case RD_I_STEP: rd_codegen_step(n, i); break;
    case RD_I_SCAN: rd_codegen_scan(n, i); break;
    case RD_I_EXIT: rd_codegen_exit(n, i); break;
    case RD_I_CLOSE: rd_codegen_close(n, i); break;
    default: rd_codegen_value(n, i);
    }
}

void rd_walk_items(rd_codegen *n, int32_t from, int32_t to)
{
    const int32_t region = from < to ? region_around(n, from, to) : -1;

    if (region >= 0) {
        walk_region(n, &n->region[region]);
        return;
    }
    for (int32_t i = from; i < to && !n->why; i++) {
        if (n->p->inst[i].kind == RD_I_LOOP) {
            walk_loop(n, n->p->inst[i].arg);
            i = n->p->loop[n->p->inst[i].arg].end;
        } else
            walk_inst(n, i);
    }
}

void rd_walk_body(rd_codegen *n, int32_t loop)
{
    rd_walk_items(n, n->p->loop[loop].begin + 1, n->p->loop[loop].end);
}
