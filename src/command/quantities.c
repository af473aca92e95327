/* quantities.c - converts units of values by libudunits2, which is loaded at run time. Without
 * it, two units are the same only if their texts are. */
#include "quantities.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if both texts are equal, except for blanks around them. */
static bool is_same_text(const char *a, const char *b)
{
    a += strspn(a, " ");
    b += strspn(b, " ");
    size_t n = strlen(a), m = strlen(b);

    while (n && a[n - 1] == ' ')
        n--;
    while (m && b[m - 1] == ' ')
        m--;
    return n == m && memcmp(a, b, n) == 0;
}

#if RDIM_UDUNITS
#include <dlfcn.h>
#include <udunits2.h>

#define CALLS(call)                                                                           \
    call(read_xml) call(parse) call(get_converter) call(free) call(set_error_message_handler) \
        call(are_convertible) call(ignore)

/* The functions of libudunits2, and its tables of units (NULL: not loaded). */
static struct {
#define MEMBER(name) __typeof__(ut_##name) *name;
    CALLS(MEMBER)
#undef MEMBER
    __typeof__(cv_convert_double) *convert;
    __typeof__(cv_free)           *free_converter;
    ut_system                     *units;
    bool                           tried;
} api;

/* Loads libudunits2 and its tables of units, once. False: it is not installed, or lacks its
 * tables. */
static bool load(void)
{
    static const char *const names[] = {
#define NAME(name) "ut_" #name,
        CALLS(NAME)
#undef NAME
            "cv_convert_double",
        "cv_free"
    };
    void **const at = (void **)&api; /* pointers to functions, in the order of the names */

    if (api.tried)
        return api.units != NULL;
    api.tried  = true;
    void *file = dlopen(RDIM_UDUNITS_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        file = dlopen(RDIM_UDUNITS_FILE, RTLD_NOW | RTLD_LOCAL);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!file || !(at[k] = dlsym(file, names[k])))
            return false;
    api.set_error_message_handler(api.ignore);
    api.units = api.read_xml(NULL);
    return api.units != NULL;
}

/* Rounds a factor to 15 digits if that is as near: the difference that gave it was rounded, and 1.8
 * becomes 1.8 again. */
static double without_rounding(double times)
{
    char text[40];

    snprintf(text, sizeof text, "%.15g", times);
    const double near = strtod(text, NULL);
    return fabs(near - times) <= 3e-16 * fabs(times) ? near : times;
}

/* Finds factor and offset of a conversion c from its values at 0, 1 and 2^20. False: it is not
 * linear, as for logarithmic units. */
static bool measure(cv_converter *c, cmd_scaling *s)
{
    static const double far  = 1 << 20;
    const double        at_0 = api.convert(c, 0), at_1 = api.convert(c, 1);

    s->plus  = at_0;
    s->times = at_0 == 0 ? at_1 : without_rounding((api.convert(c, far) - at_0) / far);
    return isfinite(at_0) && isfinite(at_1) &&
           fabs(at_0 + s->times - at_1) <= 1e-9 * (fabs(at_0) + fabs(at_1));
}

/* Compares two units, NULL if they were not understood, and finds the conversion in *s. A
 * conversion that is not linear counts as none. */
static cmd_relation relate(ut_unit *from, ut_unit *to, cmd_scaling *s)
{
    if (!from || !to)
        return CMD_NOT_TOLD;
    cv_converter *c        = api.are_convertible(from, to) ? api.get_converter(from, to) : NULL;
    const bool    converts = c && measure(c, s);

    if (c)
        api.free_converter(c);
    return !converts ? CMD_DIFFERS : s->times == 1 && s->plus == 0 ? CMD_SAME_UNITS : CMD_CONVERTS;
}

/* Parses a unit in UTF-8, or in Latin 1, which old files have for °C. */
static ut_unit *parse(const char *text)
{
    ut_unit *unit = api.parse(api.units, text, UT_UTF8);

    return unit ? unit : api.parse(api.units, text, UT_LATIN1);
}

/* Compares two units given as text, and finds the conversion in *s. CMD_NOT_TOLD: the library is
 * missing, or one is not understood. */
static cmd_relation relate_texts(const char *from, const char *to, cmd_scaling *s)
{
    if (!load())
        return CMD_NOT_TOLD;
    ut_unit           *a = parse(from), *b = parse(to);
    const cmd_relation found = relate(a, b, s);

    if (a)
        api.free(a);
    if (b)
        api.free(b);
    return found;
}

/* True if the units library can be used. */
static bool is_there(void)
{
    return load();
}
#else /* built without the units library: units are never compared */
/* Without the units library, nothing is known about units with different texts. */
static cmd_relation relate_texts(const char *from, const char *to, cmd_scaling *s)
{
    (void)from, (void)to, (void)s;
    return CMD_NOT_TOLD;
}

/* Without the units library: always false. */
static bool is_there(void)
{
    return false;
}
#endif

/* Compares two units, first as texts, and finds the conversion in *s: number * times + plus. */
cmd_relation cmd_relate_units(const char *from, const char *to, cmd_scaling *s)
{
    *s = (cmd_scaling){ 1, 0 };
    return is_same_text(from, to) ? CMD_SAME_UNITS : relate_texts(from, to, s);
}

/* Returns the end of a sentence that says that the units library is missing; "" if it is there. */
const char *cmd_units_hint(void)
{
    return is_there() ? "" : "; libudunits2, which knows units, is not installed here";
}
