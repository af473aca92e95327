/* json.c - reads JSON by libjson-c. */
#if RDIM_JSON
#include "files/json.h"
#include <dlfcn.h>
#include <json.h>
#include <string.h>

#define CALLS(call)                                                                           \
    call(json_tokener_new_ex) call(json_tokener_parse_ex) call(json_tokener_get_error)        \
        call(json_tokener_error_desc) call(json_tokener_free) call(json_object_object_get_ex) \
            call(json_object_get_type) call(json_object_array_length)                         \
                call(json_object_array_get_idx) call(json_object_get_int64)                   \
                    call(json_object_get_uint64) call(json_object_get_double)                 \
                        call(json_object_get_string) call(json_object_get_boolean)            \
                            call(json_object_get_object)

/* The functions of libjson-c. */
static struct {
    bool loaded;
#define MEMBER(name) __typeof__(name) *name;
    CALLS(MEMBER)
#undef MEMBER
} api;

/* Loads libjson-c at the first call, and looks up its functions; ends the program if it is not
 * installed. */
static void load(const char *path)
{
    void *file = NULL;

    if (api.loaded)
        return;
    file = dlopen(RDIM_JSON_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        file = dlopen(RDIM_JSON_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        cmd_fail("%s: Zarr stores need the library %s, which is not installed here", path,
                 RDIM_JSON_NAME);
#define GET(name)                             \
    *(void **)&api.name = dlsym(file, #name); \
    if (!api.name)                            \
        cmd_fail("%s: %s has no %s", path, RDIM_JSON_NAME, #name);
    CALLS(GET)
#undef GET
    api.loaded = true;
}

/* Parses a text of at most 256 MB and 64 levels; ends the program if it is no JSON. The error
 * json_tokener_continue means that the text ends within a value. */
const cmd_json *cmd_json_read(const char *path, const char *text, size_t n)
{
    enum { MOST_DEPTH = 64, MOST = 1 << 28 };

    load(path);
    if (n > MOST)
        cmd_fail("%s: %zu bytes of metadata", path, n);
    json_tokener *const t     = api.json_tokener_new_ex(MOST_DEPTH);
    cmd_json *const     value = t ? api.json_tokener_parse_ex(t, text, (int)n) : NULL;
    const int           error = t ? (int)api.json_tokener_get_error(t) : 0;
    if (t)
        api.json_tokener_free(t);
    if (!value)
        cmd_fail("%s: not JSON: %s", path,
                 error == json_tokener_continue ? "it ends early"
                 : error ? api.json_tokener_error_desc((enum json_tokener_error)error)
                         : "null");
    /* The value is never freed. It is reachable from memory of the command, so that leak checkers
     * ignore it. */
    cmd_json **const kept = cmd_room(sizeof(cmd_json *));
    *kept                 = value;
    return value;
}

/* Removes `const`: the library's functions do not change what they read, but do not declare it. */
static cmd_json *without_const(const cmd_json *value)
{
    return (cmd_json *)value;
}

/* True if the value exists and has this JSON type. */
static bool is_of_type(const cmd_json *value, json_type type)
{
    return value && api.json_object_get_type(without_const(value)) == type;
}

/* Returns the member of an object; NULL: there is none, or the value is no object. */
const cmd_json *cmd_json_member(const cmd_json *object, const char *name)
{
    cmd_json *found = NULL;

    return is_of_type(object, json_type_object) &&
                   api.json_object_object_get_ex(without_const(object), name, &found)
               ? found
               : NULL;
}

/* Returns the value as a text; NULL: it is no string. */
const char *cmd_json_text(const cmd_json *value)
{
    return is_of_type(value, json_type_string) ? api.json_object_get_string(without_const(value))
                                               : NULL;
}

/* Reads a double, or an integer as i64. An integer above INT64_MAX becomes u64. False: the value is
 * no number. */
bool cmd_json_number(const cmd_json *value, cmd_exact *to, rd_dtype *type)
{
    if (is_of_type(value, json_type_double)) {
        *to = (cmd_exact){ .type = RD_F64, .f = api.json_object_get_double(without_const(value)) };
        *type = RD_F64;
        return true;
    }
    if (!is_of_type(value, json_type_int))
        return false;
    const int64_t  i = api.json_object_get_int64(without_const(value));
    const uint64_t u = api.json_object_get_uint64(without_const(value));
    *to              = i < 0 || u <= INT64_MAX ? (cmd_exact){ .type = RD_I64, .i = i }
                                               : (cmd_exact){ .type = RD_U64, .u = u };
    *type            = to->type;
    return true;
}

/* Reads an integer that int64 holds. False: the value is no such number, and *to is 0. */
bool cmd_json_whole(const cmd_json *value, int64_t *to)
{
    cmd_exact  number;
    rd_dtype   type;
    const bool whole = cmd_json_number(value, &number, &type) && type == RD_I64;

    *to = whole ? number.i : 0;
    return whole;
}

/* Returns the number of elements of a list; -1: the value is no list. */
int64_t cmd_json_count(const cmd_json *list)
{
    return is_of_type(list, json_type_array)
               ? (int64_t)api.json_object_array_length(without_const(list))
               : -1;
}

/* Returns element k of a list. */
const cmd_json *cmd_json_at(const cmd_json *list, int64_t k)
{
    return api.json_object_array_get_idx(without_const(list), (size_t)k);
}

/* Returns the value as JSON for an error message, cut to 60 characters. */
const char *cmd_json_print(const cmd_json *value)
{
    const char *text = value ? api.json_object_get_string(without_const(value)) : "null";

    return strlen(text) > 60 ? cmd_text("%.60s...", text) : text;
}

/* Reads true or false. False: the value is neither, and *to is false. */
bool cmd_json_truth(const cmd_json *value, bool *to)
{
    *to = is_of_type(value, json_type_boolean) && api.json_object_get_boolean(without_const(value));
    return is_of_type(value, json_type_boolean);
}

/* Returns the name of the first member of an object for which ok() is false; NULL: there is none.
 * The library keeps members in a linked list. */
const char *cmd_json_except(const cmd_json *object,
                            bool (*ok)(const char *name, const cmd_json *value))
{
    const struct lh_entry *e = is_of_type(object, json_type_object)
                                   ? api.json_object_get_object(without_const(object))->head
                                   : NULL;

    while (e && ok(e->k, e->v))
        e = e->next;
    return e ? e->k : NULL;
}
#else
typedef int cmd_no_json;
#endif
