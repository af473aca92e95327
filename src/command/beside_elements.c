/* beside_elements.c - elements of variables that are written beside a result: joined, and cut as
 * it is cut. */
#include "beside_gather.h"
#include "files/late.h"
#include "times.h"
#include <string.h>

enum { SMALL = 1 << 16 }; /* bytes of an array that always lives in memory */

/* Evaluates x into memory that lives as long as the program; an array of 64 KB or more may live in
 * a temporary file. Ends the program after a failure. */
static void *elements_of(rd_ctx *ctx, rd_expr *x, const char *name)
{
    const rd_shape shape = rd_shape_of(x);
    const rd_dtype type  = rd_type_of(x);
    const int64_t  bytes = cmd_points(&shape, type, name) * cmd_size_of(type);
    void          *to    = bytes < SMALL ? cmd_room((size_t)bytes) : cmd_storage(bytes, name);

    cmd_read_wanted(ctx, RD_RESULTS({ x, NULL }));
    if (rd_eval(ctx, x, &(rd_array){ .data = to, .type = type, .shape = shape }) != RD_OK)
        cmd_fail_of(ctx);
    return to;
}

/* Bytes of all elements of a variable, in its stored type. */
int64_t cmd_stored_bytes(const cmd_variable *v)
{
    return cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type);
}

/* True if two variables have the same kind, type, shape and stored elements. Texts are compared as
 * texts, all others by their bytes. */
bool cmd_same_stored(rd_ctx *ctx, const cmd_candidate *a, const cmd_candidate *b)
{
    rd_expr *x = cmd_read_stored(a->file, a->v), *y = cmd_read_stored(b->file, b->v);

    if (!x || !y || a->said->kind != b->said->kind || a->v->type != b->v->type ||
        a->v->shape.n != b->v->shape.n ||
        memcmp(a->v->shape.at, b->v->shape.at, (size_t)a->v->shape.n * sizeof *a->v->shape.at) != 0)
        return false;
    const int64_t bytes = cmd_stored_bytes(a->v);
    const void   *p = elements_of(ctx, x, a->v->name), *q = elements_of(ctx, y, b->v->name);
    if (a->said->kind != CMD_TEXTS)
        return memcmp(p, q, (size_t)bytes) == 0;
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(char *); i++)
        if (strcmp(((const char *const *)p)[i], ((const char *const *)q)[i]) != 0)
            return false;
    return true;
}

static const char *const ranges[] = { "valid_min",    "valid_max",  "valid_range",
                                      "actual_range", "actual_min", "actual_max" };

/* True if the attribute is a range of the elements' values, such as valid_min. */
static bool is_range(const char *attribute)
{
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (strcmp(ranges[k], attribute) == 0)
            return true;
    return false;
}

/* True if the variable of the candidate is the same in all joined files (parts of the operand).
 * Large variables are not compared: the join itself checks its axes. */
static bool is_same_in_parts(const cmd_gathering *g, const cmd_candidate *c)
{
    for (int i = 1; i < g->k->n_parts; i++) {
        const cmd_part *part  = &g->k->parts[i];
        cmd_candidate   other = { .file = part->file };

        other.v = cmd_variable_meant(part->file, part->v, cmd_last_part(c->v->name));
        if (!other.v || !(other.said = cmd_said_about(part->file, other.v)))
            return false;
        if (other.said->kind != CMD_OTHERS &&
            cmd_stored_bytes(c->v) <= CMD_MOST_COMPARED / g->k->n_parts &&
            !cmd_same_stored(g->in->ctx, c, &other))
            return false;
    }
    return true;
}

/* Returns the text of an attribute; `other` if there is none. */
const char *cmd_said_text(const cmd_said *said, const char *name, const char *other)
{
    const char *text = cmd_attribute_text(&said->attributes, name);

    return text ? text : other;
}

/* True if both variables have the same attributes of packing: one stored number stands for the same
 * value in both. */
static bool has_packing_of(const cmd_said *a, const cmd_said *b)
{
    static const char *const names[] = { "scale_factor", "add_offset", "_Unsigned", "_FillValue",
                                         "missing_value" };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!cmd_say_the_same(&a->attributes, &b->attributes, names[k]))
            return false;
    return true;
}

/* True if the variable is packed: scaled, or with an offset. */
static bool is_packed(const cmd_said *said)
{
    return cmd_attribute_named(&said->attributes, "scale_factor") ||
           cmd_attribute_named(&said->attributes, "add_offset");
}

/* True if both variables have the same valid and actual ranges, or neither has them. */
static bool has_ranges_of(const cmd_said *a, const cmd_said *b)
{
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (!cmd_say_the_same(&a->attributes, &b->attributes, ranges[k]))
            return false;
    return true;
}

/* Reads the variable of part i (one of the joined files) in the units of the first part. NULL: it
 * is missing, or does not fit. *converted: units were converted. *ranged stays true if the valid
 * range is the same. `bound`: it is bounds without units, which have those of their coordinates.
 * Packed numbers of other units do not fit. */
static rd_expr *part_in_units(const cmd_gathering *g, const cmd_candidate *c, int i,
                              bool *converted, bool *ranged)
{
    const cmd_part *part = &g->k->parts[i];
    cmd_variable   *v    = cmd_variable_meant(part->file, part->v, cmd_last_part(c->v->name));
    const cmd_said *said = v ? cmd_said_about(part->file, v) : NULL;
    rd_expr        *x    = said ? cmd_read_stored(part->file, v) : NULL;
    cmd_turn        conversion;

    if (!x || v->shape.n != c->v->shape.n || rd_type_of(x) != c->v->type ||
        !has_packing_of(c->said, said))
        return NULL;
    *ranged &= has_ranges_of(c->said, said);
    const cmd_axis *axis  = &part->v->axis[g->joined];
    const bool      bound = c->units && !cmd_attribute_named(&c->said->attributes, "units");
    if (!cmd_units_meet(cmd_said_text(c->said, "units", c->units),
                        cmd_said_text(c->said, "calendar", c->calendar),
                        cmd_said_text(said, "units", bound ? axis->units : NULL),
                        cmd_said_text(said, "calendar", bound ? axis->calendar : NULL),
                        &conversion) ||
        (conversion.before == 0 && conversion.times == 1 && conversion.by == 1 &&
         conversion.after == 0))
        return x;
    if (is_packed(said))
        return NULL;
    *converted  = true;
    *ranged     = false;
    rd_ctx *ctx = g->in->ctx;
    /* ((x + before) * times) / by + after */
    x = rd_add(rd_cast(x, RD_F64), rd_num(ctx, conversion.before));
    x = rd_div(rd_mul(x, rd_num(ctx, conversion.times)), rd_num(ctx, conversion.by));
    return rd_add(x, rd_num(ctx, conversion.after));
}

/* Reads the whole variable, joined over all files (parts), in its stored type; f64 if units of
 * parts differ. NULL: the parts do not fit. *ranged: the valid range holds for all parts. `along`
 * is its dimension along which files are joined; -1: all parts must have the same elements. */
static rd_expr *read_whole(const cmd_gathering *g, const cmd_candidate *c, bool *ranged)
{
    int  along     = -1;
    bool converted = false;

    for (int d = 0; d < c->v->shape.n && g->k->n_parts > 1 && g->joined >= 0; d++)
        if (cmd_axis_of_dimension(g, c->v, d) == g->joined)
            along = d;
    rd_expr *first = cmd_read_stored(c->file, c->v);
    if (!first || g->k->n_parts == 1)
        return first;
    if (along < 0)
        return is_same_in_parts(g, c) ? first : NULL;
    rd_expr **x = cmd_room((size_t)g->k->n_parts * sizeof(rd_expr *));
    x[0]        = first;
    for (int i = 1; i < g->k->n_parts; i++)
        if (!(x[i] = part_in_units(g, c, i, &converted, ranged)))
            return NULL;
    for (int i = 0; converted && i < g->k->n_parts; i++)
        x[i] = rd_cast(x[i], RD_F64);
    return rd_concat(along, (rd_exprs){ x, g->k->n_parts });
}

/* Slices axis d of x as the result is sliced: n elements from an offset on. With a negative step
 * the stop may be before index 0: RD_OPEN, as negative indices would count from the end. */
static rd_expr *slice_axis(rd_expr *x, int d, const rd_axis_from *from, int64_t n)
{
    const int64_t stop = from->offset + from->step * (n - 1) + (from->step > 0 ? 1 : -1);

    return rd_slice_axis(x, d, from->offset, stop < 0 ? RD_OPEN : stop, from->step);
}

/* ---- A variable ------------------------------------------------------------------------------ */
/* Changes the type of a variable to f64, and that of its attributes _FillValue and missing_value,
 * which must have the same type. */
static void widen_to_f64(cmd_beside *b)
{
    static const char *const names[] = { "_FillValue", "missing_value" };

    b->type = RD_F64;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const cmd_attribute *a = cmd_attribute_named(&b->attributes, names[k]);
        if (!a || a->kind != CMD_NUMBERS)
            continue;
        double *at = cmd_room((size_t)a->n * sizeof *at);
        for (int64_t i = 0; i < a->n; i++)
            at[i] = cmd_element(a->at, a->type, i);
        cmd_add_attribute(&b->attributes,
                          &(cmd_attribute){ names[k], CMD_NUMBERS, RD_F64, a->n, at });
    }
}

/* Makes a variable to write beside the result: joined over all files, cut as the result is cut,
 * with its attributes. NULL: the files differ. b->axis[d] is the axis of the result that dimension
 * d is, or -1. Ranges such as valid_min stay only if they hold for all files (ranged). */
cmd_beside *cmd_make_beside(const cmd_gathering *g, const cmd_candidate *c)
{
    bool        ranged = true;
    rd_expr    *x      = read_whole(g, c, &ranged);
    cmd_beside *b      = cmd_room(sizeof *b);

    if (!x)
        return NULL;
    *b        = (cmd_beside){ .from = cmd_last_part(c->v->name),
                              .kind = c->said->kind,
                              .type = c->said->type };
    b->layout = c->said->layout;
    for (int d = 0; d < c->v->shape.n; d++) {
        const int a     = cmd_axis_of_dimension(g, c->v, d);
        b->axis[d]      = a < 0 ? -1 : g->to[a + g->shift];
        b->dimension[d] = c->v->axis[d].name;
        if (b->axis[d] >= 0)
            x = slice_axis(x, d, &g->cut[b->axis[d]], rd_shape_of(g->r->x).at[b->axis[d]]);
    }
    if (!x)
        cmd_fail_of(g->in->ctx);
    b->name  = b->from;
    b->shape = rd_shape_of(x);
    for (int k = 0; k < c->said->attributes.n; k++)
        if (ranged || !is_range(c->said->attributes.at[k].name))
            cmd_add_attribute(&b->attributes, &c->said->attributes.at[k]);
    if (b->kind == CMD_NUMBERS && rd_type_of(x) == RD_F64 && b->type != RD_F64)
        widen_to_f64(b);
    b->at = elements_of(g->in->ctx, x, c->v->name);
    return b;
}

/* ---- Coordinates ----------------------------------------------------------------------------- */
static const char *const packing[] = { "scale_factor", "add_offset", "_FillValue", "missing_value",
                                       "_Unsigned",    "valid_min",  "valid_max",  "valid_range" };

/* Sets units and calendar of coordinates to those of the result's axis. If the values differ from
 * the axis, those of the axis replace them, as f64, and attributes of packing are removed. Two NaNs
 * count as equal. */
void cmd_check_coordinates(cmd_beside *b, const cmd_axis *axis)
{
    bool same = true;

    for (int64_t i = 0; i < axis->n && same; i++) {
        const double value = cmd_element(b->at, b->type, i);
        same               = value == axis->at[i] || (value != value && axis->at[i] != axis->at[i]);
    }
    if (axis->units)
        cmd_add_text(&b->attributes, "units", axis->units);
    if (axis->calendar)
        cmd_add_text(&b->attributes, "calendar", axis->calendar);
    if (same)
        return;
    cmd_attributes rest = { 0 };
    for (int k = 0; k < b->attributes.n; k++) {
        bool packs = false;
        for (size_t i = 0; i < sizeof packing / sizeof *packing; i++)
            packs |= strcmp(b->attributes.at[k].name, packing[i]) == 0;
        if (!packs)
            cmd_add_attribute(&rest, &b->attributes.at[k]);
    }
    b->attributes = rest;
    b->type       = RD_F64;
    b->at         = axis->at;
}
