/* beside_gather.c - finds the variables of a file that are written beside a result.
 *
 * It begins at the attributes of the operand, such as coordinates = "lat lon", and follows the
 * attributes of the variables found, such as bounds of lat. A variable is kept if the result has
 * all its axes.
 *
 * A part is one of the files that are joined, with its variable; all parts look like the first one.
 * Other words: the "operand" is the variable k of the formula, and a "candidate" is a variable that
 * an attribute names. */
#include "beside_gather.h"
#include "join.h"
#include "made_of.h"
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */
/* Returns the name of a variable without its groups: "b" of "group/b". */
const char *cmd_last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* Finds a variable by its path in the file. NULL: none. */
static cmd_variable *variable_at(const cmd_file *file, const char *path)
{
    for (int k = 0; k < file->n; k++)
        if (strcmp(file->variable[k].name, path) == 0)
            return &file->variable[k];
    return NULL;
}

/* Finds the variable that an attribute of `from` names: in from's group, then in the groups above;
 * a name with a leading '/' is a path. NULL: none. `n` is the length of the group's path, from
 * which the last name is removed in each round. */
cmd_variable *cmd_variable_meant(const cmd_file *file, const cmd_variable *from, const char *name)
{
    size_t n = (size_t)(cmd_last_part(from->name) - from->name);

    if (*name == '/')
        return variable_at(file, name + 1);
    for (;;) {
        cmd_variable *found = variable_at(file, cmd_text("%.*s%s", (int)n, from->name, name));
        if (found || n == 0)
            return found;
        for (n--; n > 0 && from->name[n - 1] != '/';)
            n--;
    }
}

/* ---- Axes ------------------------------------------------------------------------------------ */
/* True if the n elements of the part lie inside an axis of `whole` elements. Indices from
 * cut->offset on are cut->step apart, which may be negative. */
static bool is_within(const rd_axis_from *cut, int64_t n, int64_t whole)
{
    const int64_t last = cut->offset + cut->step * (n - 1);

    return n > 0 && cut->offset >= 0 && cut->offset < whole && last >= 0 && last < whole;
}

/* Finds for each axis of operand k the axis of the result that comes from it, or -1 (g->to), and
 * for each axis of the result its part of that axis (g->cut). g->joined is the axis along which
 * files are joined; g->shift is 1 if that is a new first axis. */
void cmd_map_axes(cmd_gathering *g)
{
    const rd_shape shape = rd_shape_of(g->r->x);

    g->joined = g->k->n_parts > 1 ? cmd_joined_axis(g->k->parts[0].v, g->in->join) : -1;
    g->shift  = g->k->v.shape.n - g->k->parts[0].v->shape.n;
    for (int a = 0; a < RD_MAX_RANK; a++)
        g->to[a] = -1;
    for (int i = 0; i < shape.n; i++) {
        rd_axis_from *from = &g->cut[i];

        if (!rd_axis_source(g->r->x, i, from))
            continue;
        for (int a = 0; a < g->k->v.shape.n; a++)
            if (g->k->from[a].from == from->from && g->k->from[a].axis == from->axis &&
                g->to[a] < 0 && is_within(from, shape.at[i], g->k->v.shape.at[a]))
                g->to[a] = i;
    }
}

/* Finds the axis of the operand's variable, in the first file, that dimension d of variable v is:
 * it has the same name and extent. -1: none. */
int cmd_axis_of_dimension(const cmd_gathering *g, const cmd_variable *v, int d)
{
    const cmd_variable *first = g->k->parts[0].v;

    for (int a = 0; a < first->shape.n; a++)
        if (v->axis[d].name && first->axis[a].name &&
            strcmp(v->axis[d].name, first->axis[a].name) == 0 &&
            v->shape.at[d] == first->shape.at[a])
            return a;
    return -1;
}

/* True if the result has all axes that v and the operand share. Axes that the operand lacks, such
 * as the two ends of bounds, do not count. */
static bool has_axes_of(const cmd_gathering *g, const cmd_variable *v)
{
    for (int d = 0; d < v->shape.n; d++) {
        const int a = cmd_axis_of_dimension(g, v, d);
        if (a >= 0 && g->to[a + g->shift] < 0)
            return false;
    }
    return true;
}

/* ---- What is named --------------------------------------------------------------------------- */
/* True if a candidate (a variable that an attribute names), or a variable that is kept already, has
 * this name without groups. */
static bool is_known(const cmd_gathering *g, const char *name)
{
    for (int k = 0; k < g->n; k++)
        if (strcmp(cmd_last_part(g->at[k].v->name), name) == 0)
            return true;
    for (int k = 0; k < g->r->kept->n; k++)
        if (strcmp(g->r->kept->beside[k]->from, name) == 0)
            return true;
    return false;
}

static void visit_names(cmd_gathering *g, int by, const cmd_attributes *all);

/* Adds a candidate (a variable that may be written beside the result), then visits the variables
 * that its attributes name, depth first. A variable of a type that is not known here is left out
 * later; the user is warned. */
static void visit(cmd_gathering *g, const cmd_candidate *found)
{
    const char *name = cmd_last_part(found->v->name);

    if (is_known(g, name) || !has_axes_of(g, found->v) || g->n == CMD_MOST_BESIDE)
        return;
    cmd_candidate *c = &g->at[g->n];
    *c               = *found;
    c->said          = cmd_said_about(c->file, c->v);
    if (!c->said)
        return;
    g->n++;
    if (c->said->kind != CMD_OTHERS)
        visit_names(g, g->n - 1, &c->said->attributes);
    else
        cmd_warn("%s: %s is not kept beside %s: %s", c->file->path, name, g->r->name,
                 c->v->why ? c->v->why : "its elements are of a type that is not known here");
}

/* Visits the variable `name` that candidate number `by` names; -1: the operand names it. A name in
 * no file is listed in `outside`. `bounds`: it has the units of the coordinates that name it. The
 * operand itself is visited only if it is the coordinates of an axis and the result has another
 * name. */
static void visit_named(cmd_gathering *g, int by, const char *name, bool bounds)
{
    const cmd_part      *first = &g->k->parts[0];
    const cmd_candidate *namer = by >= 0 ? &g->at[by] : NULL;
    cmd_candidate        c     = { .file = first->file, .by = by };

    c.v = cmd_variable_meant(first->file, namer ? namer->v : first->v, name);
    if (!c.v)
        g->r->kept->outside = cmd_text("%s%s ", g->r->kept->outside, name);
    if (!c.v || (c.v == first->v && (!c.v->is_axis || strcmp(g->r->name, name) == 0)))
        return;
    if (bounds) {
        c.units    = cmd_said_text(namer->said, "units", /*other=*/NULL);
        c.calendar = cmd_said_text(namer->said, "calendar", /*other=*/NULL);
    }
    visit(g, &c);
}

/* Visits all variables that the attributes name. `by`: the number of the candidate that has the
 * attributes; -1: the operand. Attributes such as cell_measures have keys, "area:", which count as
 * names, too. */
static void visit_names(cmd_gathering *g, int by, const cmd_attributes *all)
{
    for (int k = 0; k < all->n; k++) {
        const char *name = all->at[k].name, *text = NULL;
        const bool  bounds =
            by >= 0 && (strcmp(name, "bounds") == 0 || strcmp(name, "climatology") == 0);

        if (!cmd_names_variables(name) || !(text = cmd_attribute_text(all, name)))
            continue;
        for (const char *word; *(word = cmd_next_word(&text));) {
            const size_t n = strlen(word);
            visit_named(g, by, word[n - 1] == ':' ? cmd_copy(word, n - 1) : word, bounds);
        }
    }
}

/* Reads the small variables of all joined files, one file after the other, because not all can be
 * open at once. Later comparisons then need no file. */
static void read_parts(const cmd_gathering *g)
{
    for (int i = 1; i < g->k->n_parts; i++)
        for (int k = 0; k < g->n; k++) {
            const cmd_part *part = &g->k->parts[i];
            cmd_variable   *v =
                cmd_variable_meant(part->file, part->v, cmd_last_part(g->at[k].v->name));
            if (v && cmd_stored_bytes(v) <= CMD_MOST_COMPARED / g->k->n_parts)
                (void)cmd_read_stored(part->file, v);
        }
}

/* Makes the variables to write of all candidates. One that differs between files is left out, and
 * so are those that only it names (by), and those of unknown types. */
static void make_all(cmd_gathering *g)
{
    struct cmd_kept *kept = g->r->kept;

    for (int k = 0; k < g->n; k++) {
        cmd_candidate *c = &g->at[k];
        if (c->said->kind == CMD_OTHERS || (c->by >= 0 && !g->at[c->by].kept) ||
            kept->n == CMD_MOST_BESIDE)
            continue;
        cmd_beside *b = cmd_make_beside(g, c);
        c->kept       = b != NULL;
        if (b)
            kept->beside[kept->n++] = b;
    }
}

/* ---- Operands that disagree ------------------------------------------------------------------ */
/* True if the other operand of the formula has no variable of b's name and shape, or has it with
 * the same elements. Large variables are not compared. */
static bool is_undisputed(const cmd_gathering *g, const cmd_beside *b, const cmd_known *other)
{
    const cmd_part *mine = &g->k->parts[0], *theirs = &other->parts[0];
    cmd_candidate   x = { .file = mine->file }, y = { .file = theirs->file };

    x.v = cmd_variable_meant(mine->file, mine->v, b->from);
    y.v = cmd_variable_meant(theirs->file, theirs->v, b->from);
    if (!x.v || !y.v || x.v == y.v || x.v->shape.n != y.v->shape.n ||
        memcmp(x.v->shape.at, y.v->shape.at, (size_t)x.v->shape.n * sizeof *x.v->shape.at) != 0)
        return true;
    x.said = cmd_said_about(x.file, x.v);
    y.said = cmd_said_about(y.file, y.v);
    return !y.said || y.said->kind == CMD_OTHERS || cmd_stored_bytes(x.v) > CMD_MOST_COMPARED ||
           cmd_same_stored(g->in->ctx, &x, &y);
}

/* True if the variable holds the coordinates of an axis of the result: it has that axis alone, and
 * the name of its dimension. */
static bool is_coordinate(const cmd_gathering *g, const cmd_beside *b)
{
    return b->shape.n == 1 && b->axis[0] >= 0 && strcmp(b->dimension[0], b->from) == 0 &&
           g->r->axis[b->axis[0]].at;
}

/* Removes variables that another operand of the formula has with other elements. Coordinates of the
 * result's axes stay, as set_coordinates() checks these. */
static void drop_disputed(cmd_gathering *g)
{
    struct cmd_kept *kept = g->r->kept;
    int              n    = 0;

    for (int i = 0; i < kept->n; i++) {
        bool undisputed = true;
        for (int j = 0; j < g->r->made->n && undisputed && !is_coordinate(g, kept->beside[i]);
             j++) {
            const cmd_known *other = &g->in->known[g->r->made->operand[j]];
            undisputed =
                other == g->k || other->v.is_axis || is_undisputed(g, kept->beside[i], other);
        }
        if (undisputed)
            kept->beside[n++] = kept->beside[i];
    }
    kept->n = n;
}

/* ---- Coordinates of axes --------------------------------------------------------------------- */
/* Finds the coordinates of each axis of the result among the variables, the first one that has
 * numbers, and replaces its values if they differ from the axis. */
static void set_coordinates(cmd_gathering *g)
{
    struct cmd_kept *kept = g->r->kept;

    for (int k = 0; k < kept->n; k++) {
        cmd_beside *b = kept->beside[k];
        if (!is_coordinate(g, b) || b->kind != CMD_NUMBERS || kept->coordinate[b->axis[0]])
            continue;
        kept->coordinate[b->axis[0]] = b;
        cmd_check_coordinates(b, &g->r->axis[b->axis[0]]);
    }
}

/* ---- Coordinates that nobody names ----------------------------------------------------------- */
/* True if the units of v are those of latitudes or longitudes, or, if it has one axis, of times
 * ("since"). */
static bool has_units_of_place(const cmd_variable *v)
{
    return v->units &&
           (cmd_is_listed(" degrees_north degree_north degrees_N degree_N degreesN degreeN "
                          "degrees_east degree_east degrees_E degree_E degreesE degreeE ",
                          v->units) ||
            (v->shape.n == 1 && strstr(v->units, " since ")));
}

/* Visits coordinates in the group of the operand that lie along its axes: they belong to it even if
 * no attribute names them. To visit_named() they are named by the operand (-1) and are no
 * bounds. */
static void visit_unnamed(cmd_gathering *g)
{
    const cmd_part *first = &g->k->parts[0];
    const size_t    n     = (size_t)(cmd_last_part(first->v->name) - first->v->name);

    for (int i = 0; i < first->file->n; i++) {
        const cmd_variable *v       = &first->file->variable[i];
        bool                belongs = v->shape.n > 0 && has_units_of_place(v) &&
                       strncmp(v->name, first->v->name, n) == 0 && !strchr(v->name + n, '/');
        for (int d = 0; d < v->shape.n && belongs; d++)
            belongs = cmd_axis_of_dimension(g, v, d) >= 0;
        if (belongs)
            visit_named(g, /*by=*/-1, v->name + n, /*bounds=*/false);
    }
}

/* ---- A result -------------------------------------------------------------------------------- */
/* Gathers the variables of operand k that are written beside the result: coordinates of its axes,
 * those that attributes name, and others in units of latitude, longitude or time. Nothing is
 * gathered from formats without attributes. */
void cmd_gather_from(const cmd_inputs *in, cmd_result *r, const cmd_known *k)
{
    cmd_gathering   g     = { .in = in, .r = r, .k = k };
    const cmd_part *first = &k->parts[0];

    g.at = cmd_room(CMD_MOST_BESIDE * sizeof *g.at);
    cmd_map_axes(&g);
    const cmd_said *about = cmd_said_about(first->file, NULL),
                   *said  = cmd_said_about(first->file, first->v);
    if (!about || !said)
        return;
    for (int a = 0; a < first->v->shape.n; a++)
        if (first->v->axis[a].name && g.to[a + g.shift] >= 0)
            visit_named(&g, /*by=*/-1, first->v->axis[a].name, /*bounds=*/false);
    visit_names(&g, /*by=*/-1, &said->attributes);
    visit_names(&g, /*by=*/-1, &about->attributes);
    visit_unnamed(&g);
    read_parts(&g);
    make_all(&g);
    drop_disputed(&g);
    set_coordinates(&g);
}
