/* beside_attributes.c - which attributes of a variable are still true for a result. The operand is
 * the one variable that describes a result. */
#include "beside.h"
#include "cell_methods.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Attributes of a result ------------------------------------------------------------------ */
/* When an attribute is kept. Unlisted attributes are kept with units, because a variable is
 * described in many ways. */
typedef enum fate {
    WITH_UNITS,
    NEVER,       /* it was applied when the variable was read, or is rewritten */
    OF_ELEMENTS, /* if the result has elements of the variable, as they are stored */
    OF_ALL,      /* if the result has all elements of the variable */
    OF_QUANTITY, /* if the result is the same quantity, by the names of CF */
    OF_LEAD      /* it names variables; these belong to the axes */
} fate;

/* The fates of known attributes. */
static const struct {
    const char *attribute;
    fate        fate;
} fates[] = {
    { "_FillValue", NEVER },          { "missing_value", NEVER },
    { "scale_factor", NEVER },        { "add_offset", NEVER },
    { "_Unsigned", NEVER },           { "cell_methods", NEVER },
    { "rdim_formula", NEVER },        { "units", NEVER },
    { "long_name", NEVER },           { "valid_min", OF_ELEMENTS },
    { "valid_max", OF_ELEMENTS },     { "valid_range", OF_ELEMENTS },
    { "flag_values", OF_ELEMENTS },   { "flag_masks", OF_ELEMENTS },
    { "flag_meanings", OF_ELEMENTS }, { "actual_range", OF_ALL },
    { "actual_min", OF_ALL },         { "actual_max", OF_ALL },
    { "standard_name", OF_QUANTITY },
};

/* Finds when an attribute is kept: by the table, or as one that names variables (OF_LEAD); all
 * others are kept with units. */
static fate fate_of(const char *attribute)
{
    for (size_t k = 0; k < sizeof fates / sizeof *fates; k++)
        if (strcmp(fates[k].attribute, attribute) == 0)
            return fates[k].fate;
    return cmd_names_variables(attribute) ? OF_LEAD : WITH_UNITS;
}

/* Returns what the first file says about the variable of k: type and attributes. NULL: k is NULL,
 * or nothing is known. */
static const cmd_said *said_about(const cmd_known *k)
{
    return k ? cmd_said_about(k->parts[0].file, k->parts[0].v) : NULL;
}

/* True if the file stores the variable packed: as scaled numbers (scale_factor, add_offset). */
static bool is_packed(const cmd_known *k)
{
    return k->v.packing.type != RD_AUTO;
}

/* True if the result has the shape of the variable. */
static bool has_whole_shape(const cmd_known *k, const cmd_result *r)
{
    const rd_shape shape = rd_shape_of(r->x);

    return shape.n == k->v.shape.n &&
           memcmp(shape.at, k->v.shape.at, (size_t)shape.n * sizeof *shape.at) == 0;
}

/* True if all joined files (parts) have the same value of the attribute, and the same units, in
 * which that value is written. */
static bool is_same_in_parts(const cmd_known *k, const char *name)
{
    const cmd_said *first = said_about(k);

    for (int i = 1; i < k->n_parts; i++) {
        const cmd_said *said = cmd_said_about(k->parts[i].file, k->parts[i].v);

        if (!said || !cmd_say_the_same(&first->attributes, &said->attributes, name) ||
            !cmd_say_the_same(&first->attributes, &said->attributes, "units"))
            return false;
    }
    return true;
}

/* True if the attribute `name` of `operand` is still true for the result. `described`: the result
 * has its units, and a type that fits. r->made says how the formula uses the operand: as_is, its
 * elements are unchanged; once, it is used once. */
static bool is_kept(const char *name, const cmd_known *operand, const cmd_result *r)
{
    const rd_dtype type = rd_type_of(r->x);
    const bool     described =
        r->keeps[CMD_UNITS] && (cmd_is_float(type) || type == rd_type_of(operand->v.x));

    switch (fate_of(name)) {
    case WITH_UNITS: return described;
    case OF_ELEMENTS:
        return described && r->made->as_is && !is_packed(operand) &&
               is_same_in_parts(operand, name);
    case OF_ALL:
        return described && r->made->as_is && operand->n_parts == 1 && has_whole_shape(operand, r);
    case OF_QUANTITY: return described && r->made->once && r->keeps[CMD_QUANTITY];
    default: return false;
    }
}

/* Adds units and title (long_name), as the command shows them. If the result is the variable itself
 * (as_is), an attribute that is no text, such as the number 1, is copied. */
static void add_description(cmd_attributes *all, const cmd_result *r, const cmd_attributes *from)
{
    const struct {
        const char *name, *text;
    } said[] = { { "units", r->units }, { "long_name", r->title } };

    for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
        const cmd_attribute *a    = from ? cmd_attribute_named(from, said[k].name) : NULL;
        const char          *text = a ? cmd_attribute_text(from, said[k].name) : NULL;

        if (said[k].text && !(text && strcmp(text, said[k].text) == 0))
            cmd_add_text(all, said[k].name, said[k].text);
        else if (a && (said[k].text || r->made->as_is))
            cmd_add_attribute(all, a);
    }
}

/* Adds CF's cell_methods, such as "time: mean": those of the operand (`before`), and behind them
 * the reduction of the formula. Without a reduction they stay only if the elements are unchanged or
 * shifted by + and -. */
static void add_cell_methods(cmd_attributes *all, const cmd_known *operand, const cmd_result *r,
                             const cmd_attributes *from)
{
    const char *before = cmd_attribute_text(from, "cell_methods"),
               *method = operand->v.is_axis ? NULL : cmd_cell_method(r->bare, operand);

    if (method)
        cmd_add_text(all, "cell_methods",
                     before && *before ? cmd_text("%s %s", before, method) : method);
    else if (before && r->made->once && (r->made->as_is || r->made->shifts))
        cmd_add_attribute(all, cmd_attribute_named(from, "cell_methods"));
}

/* Adds the attribute missing_value, in the type of the result, if the file had one number there
 * that equals the fill value, or if there is no fill value (NaN). */
static void add_missing_value(cmd_attributes *all, const cmd_result *r, const cmd_attributes *from)
{
    const cmd_attribute *a    = cmd_attribute_named(from, "missing_value");
    const double         fill = r->kept->fill;
    double              *f8   = cmd_room(sizeof *f8);
    float               *f4   = cmd_room(sizeof *f4);

    if (!a || a->kind != CMD_NUMBERS || a->n != 1 || !cmd_is_float(rd_type_of(r->x)) ||
        (cmd_element(a->at, a->type, 0) != fill && fill == fill))
        return;
    const bool wide = rd_type_of(r->x) == RD_F64;
    *f8             = fill;
    *f4             = (float)fill;
    cmd_add_attribute(all, &(cmd_attribute){ "missing_value", CMD_NUMBERS, wide ? RD_F64 : RD_F32,
                                             1, wide ? (const void *)f8 : f4 });
}

/* Collects the attributes of a result: those of the operand that are still true, units and title,
 * cell methods, and those of `lead`, the operand that it has its axes from, that name variables.
 * Both may be NULL. */
cmd_attributes cmd_kept_attributes(const cmd_known *operand, const cmd_known *lead,
                                   const cmd_result *r)
{
    const cmd_said *said = said_about(operand), *names = said_about(lead);
    cmd_attributes  all = { 0 };

    for (int k = 0; said && k < said->attributes.n; k++)
        if (is_kept(said->attributes.at[k].name, operand, r))
            cmd_add_attribute(&all, &said->attributes.at[k]);
    add_description(&all, r, said ? &said->attributes : NULL);
    if (said) {
        add_cell_methods(&all, operand, r, &said->attributes);
        add_missing_value(&all, r, &said->attributes);
    }
    for (int k = 0; names && k < names->attributes.n; k++)
        if (fate_of(names->attributes.at[k].name) == OF_LEAD)
            cmd_add_attribute(&all, &names->attributes.at[k]);
    return all;
}

/* ---- What stands for missing values ---------------------------------------------------------- */
/* True if no computed element is likely to equal the fill value: its magnitude is above 1e15 and
 * finite. -999 could be computed. */
static bool is_unlikely(double fill)
{
    return fabs(fill) > 1e15 && fabs(fill) <= 1.7976931348623157e308;
}

/* Returns the fill value (what stands for missing elements in the file) of the operand if it fits
 * the type of the result; NaN otherwise. _FillValue has priority over missing_value. A value that
 * could be computed is used only if elements are unchanged (as_is). */
double cmd_kept_fill(const cmd_known *operand, const cmd_result *r)
{
    static const char *const names[] = { "_FillValue", "missing_value" };
    const cmd_said          *said    = said_about(operand);
    const rd_dtype           type    = rd_type_of(r->x);

    for (size_t k = 0; said && k < sizeof names / sizeof *names; k++) {
        const cmd_attribute *a = cmd_attribute_named(&said->attributes, names[k]);
        if (!a)
            continue;
        const double fill =
            a->kind == CMD_NUMBERS && a->n == 1 && cmd_is_float(a->type) && cmd_is_float(said->type)
                ? cmd_element(a->at, a->type, 0)
                : NAN;
        const bool fits = type == RD_F64 || (type == RD_F32 && (double)(float)fill == fill);
        return fits && (is_unlikely(fill) || r->made->as_is) ? fill : NAN;
    }
    return NAN;
}

/* ---- Attributes of a file -------------------------------------------------------------------- */
/* Returns a line of history, "2024-05-01T12:00:00Z: COMMAND". The variable SOURCE_DATE_EPOCH of the
 * environment sets the time in seconds, for reproducible files. */
static const char *line_of_history(const char *command)
{
    const char *set = getenv("SOURCE_DATE_EPOCH");
    time_t      now = set && *set ? (time_t)strtoll(set, NULL, 10) : time(NULL);
    struct tm   date;
    char        text[64] = "";

    if (gmtime_r(&now, &date))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date);
    return cmd_text("%s: %s", text, command);
}

/* Removes the attributes that the other file lacks, or has with another value. The history stays
 * that of the first file. */
static void keep_common(cmd_attributes *all, const cmd_attributes *other)
{
    cmd_attributes rest = { 0 };

    for (int k = 0; k < all->n; k++) {
        const cmd_attribute *same = cmd_attribute_named(other, all->at[k].name);
        if (strcmp(all->at[k].name, "history") == 0 ||
            (same && cmd_is_same_attribute(same, &all->at[k])))
            cmd_add_attribute(&rest, &all->at[k]);
    }
    *all = rest;
}

/* Adds the attributes of the first file of a result's operands to *all, or, from the second file
 * on, removes those that differ. *n counts the files. */
static void add_file_attributes(cmd_attributes *all, const cmd_inputs *in, const cmd_result *r,
                                int *n)
{
    for (int k = 0; k < r->made->n; k++) {
        const cmd_said *about = cmd_said_about(in->known[r->made->operand[k]].parts[0].file, NULL);

        if (!about)
            continue;
        if (++*n > 1)
            keep_common(all, &about->attributes);
        else
            for (int i = 0; i < about->attributes.n; i++)
                cmd_add_attribute(all, &about->attributes.at[i]);
    }
}

/* Collects the attributes of an output file: those that all its source files share, Conventions if
 * they lack it, and one more line of history in front. */
cmd_attributes cmd_attributes_of_file(const cmd_inputs *in, const char *command,
                                      const cmd_results *results)
{
    cmd_attributes from = { 0 }, all = { 0 };
    int            n    = 0;
    const char    *line = line_of_history(command), *before;

    for (int k = 0; k < results->n; k++)
        if (results->at[k].kept)
            add_file_attributes(&from, in, &results->at[k], &n);
    if (!cmd_attribute_named(&from, "Conventions"))
        cmd_add_text(&all, "Conventions", "CF-1.8");
    for (int k = 0; k < from.n; k++)
        cmd_add_attribute(&all, &from.at[k]);
    before = cmd_attribute_text(&all, "history");
    cmd_add_text(&all, "history", before && *before ? cmd_text("%s\n%s", line, before) : line);
    if (results->n > 0 && results->at[0].kept)
        cmd_fit_names(&all, results->at[0].kept);
    return all;
}
