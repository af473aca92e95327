/* zarr_attributes.c - CF attributes of arrays in Zarr stores, from JSON. */
#if RDIM_JSON
#include "files/packing.h"
#include "files/zarr.h"
#include <math.h>
#include <string.h>

/* Argument of read_numbers(): the attributes of an array. */
typedef struct attributes {
    const cmd_json *all, *fill; /* fill value of the array, if it means missing; or NULL */
    rd_dtype        type;       /* of the variable */
} attributes;

/* Decodes base64, up to its padding (=) or another character. Returns the number of bytes, at most
 * `most`. `held` is the number of bits that wait. */
static int from_base64(const char *text, uint8_t *to, int most)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t          bits     = 0;
    int               n = 0, held = 0;

    for (const char *digit; *text && *text != '=' && (digit = strchr(digits, *text)); text++) {
        bits = bits << 6 | (uint32_t)(digit - digits);
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        if (n == most)
            return n;
        to[n++] = (uint8_t)(bits >> held);
    }
    return n;
}

/* Reads a missing float as xarray writes it: "NaN" and the like, or the bytes of a double in
 * base64, as JSON has no NaN. */
static bool read_text(const char *text, cmd_exact *to)
{
    uint8_t bytes[8];
    double  value;

    if (strcmp(text, "NaN") == 0)
        value = (double)NAN;
    else if (strcmp(text, "Infinity") == 0)
        value = HUGE_VAL;
    else if (strcmp(text, "-Infinity") == 0)
        value = -HUGE_VAL;
    else if (strlen(text) == 12 && from_base64(text, bytes, 8) == 8) {
        uint64_t bits = 0;

        for (int k = 8; k-- > 0;)
            bits = bits << 8 | bytes[k];
        memcpy(&value, &bits, sizeof value);
    } else
        return false;
    *to = cmd_real(value);
    return true;
}

/* Reads one number of an attribute and its type. Missing values may be texts, and have the type of
 * the elements. */
static bool read_number(const attributes *a, const cmd_json *value, bool missing, cmd_exact *to,
                        rd_dtype *type)
{
    const char *text = missing ? cmd_json_text(value) : NULL;

    if (text) {
        *type = RD_F64;
        return read_text(text, to);
    }
    if (!cmd_json_number(value, to, type))
        return false;
    if (missing) /* missing values are written in the type of the elements */
        *type = a->type;
    return true;
}

/* Reads an attribute that is a number or a list of numbers. Returns how many, 0 if there are none.
 * The array's fill value (a->fill), if it means missing values, has priority over the attribute
 * _FillValue. */
static int read_numbers(void *user, const char *name, cmd_exact **at, rd_dtype *type)
{
    const attributes *a       = user;
    const bool        is_fill = strcmp(name, "_FillValue") == 0,
               missing        = is_fill || strcmp(name, "missing_value") == 0;
    const cmd_json *value     = is_fill && a->fill ? a->fill : cmd_json_member(a->all, name);
    const int64_t   count = cmd_json_count(value), n = count < 0 ? value != NULL : count;

    if (n == 0 || n > CMD_MOST_NUMBERS)
        return 0;
    *at = cmd_room((size_t)n * sizeof **at);
    for (int64_t k = 0; k < n; k++)
        if (!read_number(a, count < 0 ? value : cmd_json_at(value, k), missing, *at + k, type))
            return 0;
    return (int)n;
}

/* Fills in units, names and packing of a variable from its attributes. `fill` is the fill value of
 * the array if it means missing values, else NULL. */
void cmd_zarr_describe(cmd_variable *v, const cmd_zarr *z, const cmd_json *fill)
{
    const cmd_json *const all = z->attributes;

    v->units    = cmd_json_text(cmd_json_member(all, "units"));
    v->title    = cmd_json_text(cmd_json_member(all, "long_name"));
    v->standard = cmd_json_text(cmd_json_member(all, "standard_name"));
    v->calendar = cmd_json_text(cmd_json_member(all, "calendar"));
    cmd_read_packing(v, cmd_json_text(cmd_json_member(all, "_Unsigned")), read_numbers,
                     &(attributes){ all, fill, v->type });
}
#else
typedef int cmd_no_zarr_attributes;
#endif
