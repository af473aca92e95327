/* zarr_fill.c - reads the fill value of a Zarr array, which is the element of chunks that were
 * never written. */
#if RDIM_JSON
#include "files/packing.h"
#include "files/zarr.h"
#include <math.h>
#include <string.h>

/* Reads "NaN", "Infinity" and "-Infinity", for which JSON has no numbers. */
static bool read_special(const char *text, cmd_exact *to)
{
    static const struct {
        const char *name;
        double      value;
    } names[] = { { "NaN", (double)NAN }, { "Infinity", HUGE_VAL }, { "-Infinity", -HUGE_VAL } };

    for (size_t k = 0; text && k < sizeof names / sizeof *names; k++)
        if (strcmp(text, names[k].name) == 0) {
            *to = cmd_real(names[k].value);
            return true;
        }
    return false;
}

/* Reads a number, NaN or infinity, a bool, or null, which stands for 0. False: the value is
 * anything else. */
static bool read_number(const cmd_json *fill, cmd_exact *to)
{
    rd_dtype type;
    bool     truth = false;

    if (cmd_json_number(fill, to, &type) || read_special(cmd_json_text(fill), to))
        return true;
    *to = cmd_integer(0);
    if (!fill)
        return true;
    if (!cmd_json_truth(fill, &truth))
        return false;
    *to = cmd_integer(truth);
    return true;
}

/* Reads the bits of a float, as "0x7fc00000", which may be one of many NaNs. All its digits must be
 * there. */
static bool read_bits(rd_dtype type, const char *text, uint8_t *to)
{
    static const char digits[] = "0123456789abcdef";
    const size_t      n        = (size_t)cmd_size_of(type);

    if (!text || !cmd_is_float(type) || strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * n ||
        strspn(text + 2, "0123456789abcdefABCDEF") != 2 * n)
        return false;
    for (size_t k = 0; k < n; k++) { /* the first digits are the highest byte */
        const char *const        high = strchr(digits, text[2 + 2 * k] | ('a' - 'A')),
                          *const low  = strchr(digits, text[3 + 2 * k] | ('a' - 'A'));

        to[n - 1 - k] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}

/* Converts a number to one element, as a cast of the library does. */
static void put_number(rd_dtype type, cmd_exact value, uint8_t *to)
{
    rd_ctx  *ctx  = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = 1 });
    rd_expr *leaf = rd_leaf(ctx, &(rd_array){ .in = &value.u, .type = value.type });

    if (!ctx || rd_eval(ctx, rd_cast(leaf, type), &(rd_array){ .data = to, .type = type }) != RD_OK)
        cmd_fail_of(ctx);
    rd_ctx_free(ctx);
}

/* Stores the fill value as one element. False: the type cannot hold it; 300, say, would silently
 * become 44 in 8 bits. */
static bool put_fill(rd_dtype type, const cmd_json *fill, uint8_t *to)
{
    cmd_exact value;

    if (read_bits(type, cmd_json_text(fill), to))
        return true;
    if (!read_number(fill, &value) || !cmd_holds(type, value))
        return false;
    put_number(type, value, to);
    return true;
}

/* Reads the fill value of a real type, or one or two numbers of a complex type. */
void cmd_zarr_fill(cmd_variable *v, cmd_zarr *z, const cmd_json *fill)
{
    const bool     wide = v->type == RD_C64 || v->type == RD_C128;
    const rd_dtype part = v->type == RD_C64 ? RD_F32 : wide ? RD_F64 : v->type;
    const bool     pair = wide && cmd_json_count(fill) == 2;
    bool           ok   = put_fill(part, pair ? cmd_json_at(fill, 0) : fill, z->fill);

    if (pair) /* else the imaginary part stays 0 */
        ok &= put_fill(part, cmd_json_at(fill, 1), z->fill + cmd_size_of(part));
    if (!ok)
        v->why = cmd_text("its fill value is %s", cmd_json_print(fill));
}
#else
typedef int cmd_no_zarr_fill;
#endif
