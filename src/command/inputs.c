/* inputs.c - reads the arguments [NAME=]FILE, and finds names of a formula in these files.
 *
 *     sst=a.nc      a.nc:sst      x=a.bin:f4:100x200      x='a*.nc'      x=a.nc,b.nc      k=2.5 */
#include "inputs.h"
#include "match.h"
#include "join.h"
#include "times.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True if a file of that path exists. */
static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Opens a file, or the files that match a pattern ("a*.nc") in alphabetical order, and adds them to
 * the argument s. A name that exists is no pattern. */
static void add_files(cmd_source *s, rd_ctx *ctx, const char *path)
{
    glob_t found = { 0 };
    char **paths = (char *[]){ (char *)path };
    size_t n     = 1;

    if (!is_there(path) && strpbrk(path, "*?[") && glob(path, 0, NULL, &found) == 0) {
        paths = found.gl_pathv;
        n     = found.gl_pathc;
    }
    cmd_file **files = cmd_room(((size_t)s->n + n) * sizeof *files);
    if (s->n)
        memcpy(files, s->files, (size_t)s->n * sizeof *files);
    for (size_t k = 0; k < n; k++)
        files[s->n++] = cmd_open(ctx, cmd_copy(paths[k], strlen(paths[k])));
    s->files = files;
    globfree(&found);
}

/* Splits "file.nc:sst" at the last colon, unless a file has the whole name or nothing follows the
 * colon. Returns the path; s->variable becomes the name behind the colon. */
static char *cut_variable(cmd_source *s, const char *text)
{
    const char *colon = strrchr(text, ':');

    if (!colon || is_there(text) || !colon[1])
        return cmd_copy(text, strlen(text));
    s->variable = colon + 1;
    return cmd_copy(text, (size_t)(colon - text));
}

/* Reads a number given as NAME=2.5 on the command line; false: it is none, or a file of that name
 * exists. A float with a small whole value, 2.0, counts as whole. */
static bool read_number(const char *text, cmd_source *s)
{
    char *end, *whole_end;

    s->number = strtod(text, &end);
    if (end == text || *end || is_there(text))
        return false;
    errno       = 0;
    s->whole    = strtoll(text, &whole_end, 10);
    s->is_whole = !*whole_end;
    if (s->is_whole && errno == ERANGE)
        cmd_misuse("%s: whole numbers are of 64 bits with a sign; with a point it is a float",
                   text);
    if (!s->is_whole && s->number > -9e15 && s->number < 9e15) {
        s->whole    = (int64_t)s->number;
        s->is_whole = (double)s->whole == s->number;
    }
    return true;
}

/* Refuses a name that is given to two arrays: a formula could mean only one of them. */
static void check_name(const cmd_inputs *in, const cmd_source *s, const char *const *given)
{
    for (const cmd_source *other = in->sources; other < s; other++)
        if (s->name && other->name && strcmp(s->name, other->name) == 0)
            cmd_misuse("%s is given twice: %s and %s", s->name, given[other - in->sources],
                       given[s - in->sources]);
}

/* Reads one argument of the command line, a source: a number, a raw file, or files by name, list or
 * pattern. NAME= in front counts only if no file has the whole argument as its name. */
static void add_source(cmd_inputs *in, const char *given)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    cmd_source       *s       = &in->sources[in->n++];
    const size_t      n       = strspn(given, names);
    const bool        named =
        n > 0 && given[n] == '=' && !(given[0] >= '0' && given[0] <= '9') && !is_there(given);
    const char *value = named ? given + n + 1 : given;

    s->name = named ? cmd_copy(given, n) : NULL;
    if (!*value)
        cmd_misuse("%s: no file is named", given);
    if (named && read_number(value, s))
        return;
    cmd_file *raw = cmd_open_raw(in->ctx, value);
    if (raw) {
        s->files    = cmd_room(sizeof raw);
        s->files[0] = raw;
        s->n        = 1;
        return;
    }
    char *paths = cut_variable(s, value);
    if (is_there(paths) || !strchr(paths, ',')) {
        add_files(s, in->ctx, paths);
        return;
    }
    for (char *at = paths, *comma; at; at = comma) {
        comma = strchr(at, ',');
        if (comma)
            *comma++ = '\0';
        if (*at)
            add_files(s, in->ctx, at);
    }
}

/* Prints a warning, unless the same one was printed. */
void cmd_warn_once(cmd_inputs *in, const char *sentence)
{
    for (const cmd_told *t = in->told; t; t = t->older)
        if (strcmp(t->sentence, sentence) == 0)
            return;
    cmd_told *const t = cmd_room(sizeof *t);
    *t                = (cmd_told){ sentence, in->told };
    in->told          = t;
    cmd_warn("%s", sentence);
}

/* Opens all files of the command line, and refuses names that are given twice. */
cmd_inputs cmd_open_inputs(rd_ctx *ctx, const cmd_options *options)
{
    const int  n  = options->n_inputs;
    cmd_inputs in = { .ctx          = ctx,
                      .join         = options->join,
                      .align        = options->align,
                      .ignore_units = options->ignore_units,
                      .sources      = cmd_room(((size_t)n + 1) * sizeof *in.sources),
                      .known        = cmd_room(CMD_MOST_KNOWN * sizeof *in.known) };

    for (int k = 0; k < n; k++) {
        add_source(&in, options->inputs[k]);
        check_name(&in, &in.sources[k], options->inputs);
    }
    return in;
}

/* ---- Names ----------------------------------------------------------------------------------- */
/* True if the file's format has no names of variables: the only one has the name of the file. A
 * formula may also call it x, or by the name given on the command line. */
static bool is_anonymous(const cmd_file *file)
{
    return file->n == 1 && strcmp(file->variable[0].name, cmd_stem(file->path)) == 0;
}

/* Finds the only variable of a file that a formula can mean without its name; axes belong to other
 * variables. NULL: there are several. In a table of text the first one is meant, which is the whole
 * table. */
static cmd_variable *only_one(const cmd_file *file)
{
    cmd_variable *found = NULL;

    for (int k = 0; k < file->n; k++)
        if (!file->variable[k].is_axis && !file->variable[k].why) {
            if (found)
                return file->variable[0].layout && strcmp(file->variable[0].layout, "text") == 0
                           ? &file->variable[0]
                           : NULL;
            found = &file->variable[k];
        }
    return found ? found : file->n == 1 ? &file->variable[0] : NULL;
}

/* Returns the names of up to 40 variables of a file as text, for error messages. */
static const char *names_of(const cmd_file *file)
{
    const char *text = "";

    for (int k = 0; k < file->n && k < 40; k++)
        text = cmd_text("%s%s%s", text, k ? ", " : "", file->variable[k].name);
    return file->n > 40 ? cmd_text("%s, ...", text) : text;
}

/* Finds the variable of an argument in a file: the one named behind the colon, or the only one.
 * Where a format has names by rules of its own (find: tables and .npz), a variable with the
 * argument's name has priority. NULL: it is ambiguous. */
static cmd_variable *variable_meant(const cmd_source *s, const cmd_file *file)
{
    cmd_variable *only = s->variable ? NULL : only_one(file);
    cmd_variable *named =
        only && !file->format->find ? NULL : cmd_find(file, s->variable ? s->variable : s->name);

    return named ? named : only;
}

/* Finds the variable of an argument in a file. If it is ambiguous or not there, the program ends
 * with a sentence that lists the names of the file. */
static cmd_variable *variable_of(const cmd_source *s, const cmd_file *file)
{
    cmd_variable *v = variable_meant(s, file);

    if (!v && s->variable)
        cmd_fail("%s: no variable %s in it; it has %s", file->path, s->variable, names_of(file));
    if (!v)
        cmd_fail("%s: which of its variables is %s?  Say %s=%s:NAME; it has %s", file->path,
                 s->name, s->name, file->path, names_of(file));
    return v;
}

/* Finds the variables that a name stands for, one for each file (parts). Returns how many. An
 * argument NAME=... decides; else all files without a name are searched. The array of a file
 * without names may be called x. */
static int find_parts(const cmd_inputs *in, const char *name, cmd_part *parts)
{
    int n = 0;

    for (int k = 0; k < in->n; k++)
        if (in->sources[k].name && strcmp(in->sources[k].name, name) == 0) {
            const cmd_source *s = &in->sources[k];
            for (int i = 0; i < s->n; i++)
                parts[i] = (cmd_part){ s->files[i], variable_of(s, s->files[i]) };
            return s->n;
        }
    for (int k = 0; k < in->n; k++)
        for (int i = 0; !in->sources[k].name && i < in->sources[k].n; i++) {
            cmd_file     *file = in->sources[k].files[i];
            cmd_variable *v    = cmd_find(file, name);

            if (!v && is_anonymous(file) && strcmp(name, "x") == 0)
                v = &file->variable[0];
            if (v)
                parts[n++] = (cmd_part){ file, v };
        }
    return n;
}

/* True if the parts (variables of one name in several files) are the coordinates of one axis, which
 * each file repeats. If --join names an axis that they lack, they are stacked along a new one
 * instead. */
static bool are_one_axis(const cmd_inputs *in, int n, const cmd_part *parts)
{
    for (int i = 0; i < n; i++) {
        const cmd_variable *v = parts[i].v;

        if (v->is_axis)
            cmd_read(parts[i].file, parts[i].v); /* reads its coordinates, too */
        if (!v->is_axis || v->shape.n != 1 || !v->axis[0].at ||
            (i > 0 && cmd_axes_differ(&parts[0].v->axis[0], &v->axis[0])))
            return false;
    }
    return n > 1 && !(in->join && cmd_axis_called(parts[0].v, in->join) < 0);
}

/* The number of all files of the command line. */
static int count_files(const cmd_inputs *in)
{
    int n = 0;

    for (int k = 0; k < in->n; k++)
        n += in->sources[k].n;
    return n;
}

/* Finds the argument that gives a number this name, NAME=2.5; it has no files. NULL: none. */
static const cmd_source *number_named(const cmd_inputs *in, const char *name)
{
    for (int k = 0; k < in->n; k++)
        if (in->sources[k].name && in->sources[k].n == 0 && strcmp(in->sources[k].name, name) == 0)
            return &in->sources[k];
    return NULL;
}

/* Warns if units or bounds of an axis make dates that the file hardly means: months or years of
 * UDUNITS (of_sun), and coordinates that end their bounds, which have middles. */
static void check_times(cmd_inputs *in, const cmd_axis *axis)
{
    cmd_since s;

    if (!axis->at || !cmd_read_since(axis->units, axis->calendar, &s))
        return;
    if (s.of_sun)
        cmd_warn_once(in, cmd_text("%s: '%s' are UDUNITS' months and years, of 30.44 and 365.24 "
                                   "days, and none of the calendar: dates are shown so",
                                   axis->name, axis->units));
    if (axis->middle)
        cmd_warn_once(in,
                      cmd_text("%s: coordinates are the ends of their bounds, so that dates are "
                               "those behind what they stand for; month(%s) and the like are of "
                               "the middle",
                               axis->name, axis->name));
}

/* Finds a name of the formula: a number, a known variable, or variables of files, which are joined.
 * NULL: there is none, and in->missing has the name. A variable is remembered with the expression
 * and axis that each of its axes comes from. */
rd_expr *cmd_lookup(void *user, rd_ctx *ctx, const char *name)
{
    cmd_inputs       *in     = user;
    const cmd_source *number = number_named(in, name);

    if (number)
        return number->is_whole ? rd_int(ctx, number->whole) : rd_num(ctx, number->number);
    for (int k = 0; k < in->n_known; k++)
        if (strcmp(in->known[k].name, name) == 0)
            return in->known[k].v.x;
    cmd_part *parts = cmd_room(((size_t)count_files(in) + 1) * sizeof *parts);
    int       n     = find_parts(in, name, parts);
    if (n == 0) {
        in->missing = cmd_copy(name, strlen(name));
        return NULL;
    }
    if (are_one_axis(in, n, parts))
        n = 1;
    if (in->n_known == CMD_MOST_KNOWN)
        cmd_misuse("more than %d variables", CMD_MOST_KNOWN);
    cmd_known *known = &in->known[in->n_known++];
    known->name      = cmd_copy(name, strlen(name));
    known->v         = cmd_join_parts(in, n, parts);
    known->n_parts   = n;
    known->parts     = parts;
    for (int k = 0; k < known->v.shape.n; k++)
        rd_axis_source(known->v.x, k, &known->from[k]);
    for (int k = 0; k < known->v.shape.n; k++)
        check_times(in, &known->v.axis[k]);
    return known->v.x;
}

/* Lists all names that a formula may use: those given on the command line, and those in files
 * without a given name. */
const char *cmd_names(const cmd_inputs *in)
{
    const char *text = "";

    for (int k = 0; k < in->n; k++) {
        const cmd_source *s = &in->sources[k];
        for (int i = 0; i < (s->name ? 1 : s->n); i++)
            text = cmd_text("%s%s%s", text, *text ? ", " : "",
                            s->name ? s->name : names_of(s->files[i]));
    }
    return text;
}

/* The bytes of all variables that were looked up, in their stored types. */
int64_t cmd_bytes(const cmd_inputs *in)
{
    int64_t bytes = 0;

    for (int k = 0; k < in->n_known; k++) {
        const rd_shape shape = rd_shape_of(in->known[k].v.x);
        bytes += cmd_points(&shape, RD_F64, in->known[k].name) * cmd_size_of(in->known[k].v.type);
    }
    return bytes;
}
