/* beside_names.c - attributes that name variables: names are removed or replaced as the output
 * has them.
 *
 *     "lat lon area" becomes "lat lon_2" if area is not written and lon is called lon_2 */
#include "beside.h"
#include <string.h>

/* Ways in which the value of an attribute names variables. */
typedef enum naming {
    NOTHING,
    NAMES,   /* "lat lon" */
    PAIRS,   /* "area: cell_area", independent pairs */
    TERMS,   /* pairs, useless unless all are there */
    MAPPINGS /* "crs", or "crs: x y geographic: lat lon" */
} naming;

/* The attributes of CF and UGRID that name variables. */
static const struct {
    const char *attribute;
    naming      how;
} namings[] = {
    { "coordinates", NAMES },
    { "bounds", NAMES },
    { "climatology", NAMES },
    { "grid_mapping", MAPPINGS },
    { "ancillary_variables", NAMES },
    { "cell_measures", PAIRS },
    { "formula_terms", TERMS },
    { "geometry", NAMES },
    { "node_coordinates", NAMES },
    { "node_count", NAMES },
    { "part_node_count", NAMES },
    { "interior_ring", NAMES },
    { "mesh", NAMES },
    { "face_node_connectivity", NAMES },
    { "face_coordinates", NAMES },
    { "edge_node_connectivity", NAMES },
    { "edge_coordinates", NAMES },
    { "compress", NOTHING },
};

/* Finds how the value of an attribute names variables, by the table; NOTHING: it does not. */
static naming naming_of(const char *attribute)
{
    for (size_t k = 0; k < sizeof namings / sizeof *namings; k++)
        if (strcmp(namings[k].attribute, attribute) == 0)
            return namings[k].how;
    return NOTHING;
}

/* True if the values of the attribute are names of variables. */
bool cmd_names_variables(const char *attribute)
{
    return naming_of(attribute) != NOTHING;
}

/* Returns the next word of a text, and moves *at behind it; "" at the end. */
const char *cmd_next_word(const char **at)
{
    static const char blanks[] = " \t\r\n";
    const char       *word     = *at + strspn(*at, blanks);
    const size_t      n        = strcspn(word, blanks);

    *at = word + n;
    return cmd_copy(word, n);
}

/* Returns the name that a variable `name` of the file has in the output: its new one, or, if it is
 * in no file (outside), its own. NULL: it is not written. */
static const char *output_name(const struct cmd_kept *kept, const char *name)
{
    for (int k = 0; k < kept->n; k++)
        if (strcmp(kept->beside[k]->from, name) == 0)
            return kept->beside[k]->name;
    return kept->outside && cmd_is_listed(kept->outside, name) ? name : NULL;
}

/* True if the word ends with a colon, as "area:". */
static bool is_key(const char *word)
{
    const size_t n = strlen(word);

    return n > 0 && word[n - 1] == ':';
}

/* Reads the next group of an attribute's value: a key such as "area:", or none, and the words up to
 * the next key, with new names. *whole: all its variables are written. NULL: the text has ended.
 * Words without a key are groups of one word each; in MAPPINGS the key is a name, too. */
static const char *next_group(const char **at, const struct cmd_kept *kept, naming how, bool *whole)
{
    const char *key = cmd_next_word(at), *text = "", *before = *at, *word = key;

    *whole = true;
    if (!*key)
        return NULL;
    if (is_key(key)) { /* in MAPPINGS the key is a name, too */
        const char *name = cmd_copy(key, strlen(key) - 1), *now = output_name(kept, name);
        *whole = how != MAPPINGS || now;
        text   = how == MAPPINGS && now ? cmd_text("%s:", now) : key;
        before = *at;
        word   = cmd_next_word(at);
    }
    for (; *word && !is_key(word); before = *at, word = cmd_next_word(at)) {
        const char *now = output_name(kept, word);
        *whole &= now != NULL;
        text = cmd_text("%s%s%s", text, *text ? " " : "", now ? now : "");
        if (!is_key(key)) /* words without a key are independent */
            return text;
    }
    *at = before;
    return text;
}

/* Rewrites the value of an attribute with the names of the output, group by group ("area:
 * cell_area"); "" if nothing is left. Groups with a variable that is not written are left out; of
 * TERMS nothing is left then. */
static const char *rewrite_names(const char *text, const struct cmd_kept *kept, naming how)
{
    const char *all = "", *at = text, *group;
    bool        whole;

    while ((group = next_group(&at, kept, how, &whole)))
        if (whole)
            all = cmd_text("%s%s%s", all, *all ? " " : "", group);
        else if (how == TERMS)
            return "";
    return all;
}

/* True if two texts have the same words, whatever blanks are between them. */
static bool has_same_words(const char *a, const char *b)
{
    const char *x, *y;

    do {
        x = cmd_next_word(&a);
        y = cmd_next_word(&b);
        if (strcmp(x, y) != 0)
            return false;
    } while (*x);
    return true;
}

/* Rewrites all attributes that name variables. An attribute with no name left is removed; one with
 * the same words stays as it is. */
void cmd_fit_names(cmd_attributes *all, const struct cmd_kept *kept)
{
    cmd_attributes rest = { 0 };

    for (int k = 0; k < all->n; k++) {
        const naming how  = naming_of(all->at[k].name);
        const char  *text = how != NOTHING ? cmd_attribute_text(all, all->at[k].name) : NULL,
                   *now   = text ? rewrite_names(text, kept, how) : NULL;
        if (!text || has_same_words(text, now))
            cmd_add_attribute(&rest, &all->at[k]);
        else if (*now)
            cmd_add_text(&rest, all->at[k].name, now);
    }
    *all = rest;
}
