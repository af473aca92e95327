/* attributes.c - lists of attributes: find, add, compare. */
#include "files/attributes.h"
#include <string.h>

/* Finds an attribute by its name; NULL: the list has none. Lists are short, so the search is
 * linear. */
const cmd_attribute *cmd_attribute_named(const cmd_attributes *all, const char *name)
{
    for (int k = 0; k < all->n; k++)
        if (strcmp(all->at[k].name, name) == 0)
            return &all->at[k];
    return NULL;
}

/* Returns the text of an attribute; NULL: there is none, or it is no single text. Characters are
 * copied, as a file stores them without a final zero. */
const char *cmd_attribute_text(const cmd_attributes *all, const char *name)
{
    const cmd_attribute *a = cmd_attribute_named(all, name);

    if (!a || a->kind == CMD_NUMBERS || (a->kind == CMD_TEXTS && a->n != 1))
        return NULL;
    return a->kind == CMD_TEXTS ? *(const char *const *)a->at : cmd_copy(a->at, (size_t)a->n);
}

/* Replaces the attribute of the same name, or appends a copy. The list gets STEP more places each
 * time its length is a multiple of STEP; the old list is not freed. */
void cmd_add_attribute(cmd_attributes *all, const cmd_attribute *a)
{
    enum { STEP = 16 };

    for (int k = 0; k < all->n; k++)
        if (strcmp(all->at[k].name, a->name) == 0) {
            all->at[k] = *a;
            return;
        }
    if (all->n % STEP == 0) {
        cmd_attribute *more = cmd_room(((size_t)all->n + STEP) * sizeof *more);

        if (all->n)
            memcpy(more, all->at, (size_t)all->n * sizeof *more);
        all->at = more;
    }
    all->at[all->n++] = *a;
}

/* Makes an attribute of characters that points to the text. */
cmd_attribute cmd_text_as_attribute(const char *name, const char *text)
{
    return (cmd_attribute){
        .name = name, .kind = CMD_CHARACTERS, .n = (int64_t)strlen(text), .at = text
    };
}

/* Adds a text as an attribute of characters, or replaces the attribute of that name. */
void cmd_add_text(cmd_attributes *all, const char *name, const char *text)
{
    const cmd_attribute a = cmd_text_as_attribute(name, text);

    cmd_add_attribute(all, &a);
}

/* True if two attributes of kind CMD_TEXTS have equal texts. The caller has compared their numbers
 * of texts. */
static bool has_same_texts(const cmd_attribute *a, const cmd_attribute *b)
{
    const char *const *x = a->at, *const *y = b->at;

    for (int64_t k = 0; k < a->n; k++)
        if (strcmp(x[k], y[k]) != 0)
            return false;
    return true;
}

/* True if name, kind, type and value are equal. Numbers are compared by their bytes, so equal NaNs
 * are equal. Characters have 1 byte each. */
bool cmd_is_same_attribute(const cmd_attribute *a, const cmd_attribute *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->n != b->n)
        return false;
    if (a->kind == CMD_TEXTS)
        return has_same_texts(a, b);
    const int64_t size = a->kind == CMD_NUMBERS ? cmd_size_of(a->type) : 1;
    return (a->kind != CMD_NUMBERS || a->type == b->type) &&
           (a->n == 0 || memcmp(a->at, b->at, (size_t)(a->n * size)) == 0);
}

/* True if both lists have the attribute with the same value, or neither list has it (x and y are
 * both NULL). */
bool cmd_say_the_same(const cmd_attributes *a, const cmd_attributes *b, const char *name)
{
    const cmd_attribute *x = cmd_attribute_named(a, name), *y = cmd_attribute_named(b, name);

    return x && y ? cmd_is_same_attribute(x, y) : x == y;
}

/* True if `name` is a word of `list`. Each word of the list stands between two blanks, so a blank
 * must precede and follow the match. */
bool cmd_is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = list; n > 0 && (at = strstr(at, name)); at++)
        if (at > list && at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* True if the libraries of NetCDF and HDF5 write this attribute themselves. Copies of it in a new
 * file would be wrong, or would be refused. */
bool cmd_is_reserved(const char *name)
{
    return cmd_is_listed(" _NCProperties _IsNetcdf4 _SuperblockVersion _NetCDF4Dimid "
                         "_Netcdf4Dimid _Netcdf4Coordinates _nc3_strict CLASS NAME DIMENSION_LIST "
                         "DIMENSION_LABELS REFERENCE_LIST ",
                         name);
}
