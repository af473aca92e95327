/* netcdf_said.c - reads all attributes of a NetCDF variable or group, and the chunks and filters of
 * a variable. */
#if RDIM_NETCDF
#include "files/netcdf_said.h"
#include <string.h>

/* Bytes of an attribute; texts of a variable. */
enum { MOST_BYTES = 1 << 26, MOST_TEXTS = 1 << 24 };

/* A variable, or, if its number is NC_GLOBAL, a group. */
typedef struct object {
    const cmd_netcdf_api *nc;
    const char           *path;
    int                   group, variable;
} object;

/* ---- Attributes ------------------------------------------------------------------------------ */
/* Argument and result of read_attribute(). */
typedef struct reading {
    const object *at;
    int           number; /* of the attribute */
    char          name[NC_MAX_NAME + 1];
    cmd_attribute read; /* the result; its name is NULL if it cannot be kept */
} reading;

/* Copies n texts of the library, and frees the library's own. A missing text becomes "". */
static const void *copy_texts(const cmd_netcdf_api *nc, char **texts, size_t n)
{
    const char **all = cmd_room(n * sizeof *all);

    for (size_t k = 0; k < n; k++)
        all[k] = texts[k] ? cmd_copy(texts[k], strlen(texts[k])) : "";
    nc->free_string(n, texts);
    return all;
}

/* Reads an attribute of texts; ends the program, within cmd_try(), if that fails. */
static void read_texts(const object *p, const char *name, cmd_attribute *a)
{
    char **texts = cmd_room((size_t)a->n * sizeof *texts);

    cmd_netcdf_check(p->path, name, p->nc->get_att_string(p->group, p->variable, name, texts));
    a->at = copy_texts(p->nc, texts, (size_t)a->n);
}

/* Reads one attribute of any kind. The name stays NULL if it is of a kind that cannot be kept:
 * neither numbers nor text. Too long a one ends the program, within cmd_try(). */
static void read_attribute(void *of)
{
    reading      *r = of;
    const object *p = r->at;
    cmd_attribute a = { 0 };
    nc_type       type;
    size_t        n;

    cmd_netcdf_check(p->path, "an attribute",
                     p->nc->inq_attname(p->group, p->variable, r->number, r->name));
    cmd_netcdf_check(p->path, r->name, p->nc->inq_att(p->group, p->variable, r->name, &type, &n));
    a.type = cmd_netcdf_element(type);
    if (a.type == RD_AUTO && type != NC_CHAR && type != NC_STRING)
        return;
    a.kind = type == NC_CHAR ? CMD_CHARACTERS : type == NC_STRING ? CMD_TEXTS : CMD_NUMBERS;
    const size_t size = a.kind == CMD_TEXTS     ? sizeof(char *)
                        : a.kind == CMD_NUMBERS ? (size_t)cmd_size_of(a.type)
                                                : 1;
    if (n > MOST_BYTES / size)
        cmd_fail("%s: the attribute %s is too long: %zu elements", p->path, r->name, n);
    a.n    = (int64_t)n;
    a.name = cmd_copy(r->name, strlen(r->name));
    if (a.kind == CMD_TEXTS)
        read_texts(p, r->name, &a);
    else {
        void *to = cmd_room(n * size + 1);
        cmd_netcdf_check(p->path, r->name, p->nc->get_att(p->group, p->variable, r->name, to));
        a.at = to;
    }
    r->read = a;
}

/* Reads all attributes. An unreadable one is left out with a warning, as the numbers do not need
 * it. */
static void read_attributes(const object *p, cmd_attributes *all)
{
    int       n      = 0;
    const int status = p->variable == NC_GLOBAL ? p->nc->inq_natts(p->group, &n)
                                                : p->nc->inq_varnatts(p->group, p->variable, &n);

    for (int k = 0; status == NC_NOERR && k < n; k++) {
        reading           r   = { .at = p, .number = k };
        const char *const why = cmd_try(read_attribute, &r);

        if (why)
            cmd_warn("%s: an attribute%s%s is not kept: %s", p->path, *r.name ? " " : "", r.name,
                     why);
        else if (r.read.name)
            cmd_add_attribute(all, &r.read);
    }
}

/* ---- Variables ------------------------------------------------------------------------------- */
/* Reads the shape of chunks, and the filters shuffle and deflate. A contiguous variable leaves the
 * layout zeroed. */
static void read_layout(const object *p, cmd_layout *layout)
{
    size_t extent[NC_MAX_VAR_DIMS];
    int    storage, rank, shuffled = 0, deflated = 0, level = 0;

    if (p->nc->inq_var(p->group, p->variable, NULL, NULL, &rank, NULL, NULL) != NC_NOERR ||
        rank < 1 || rank > RD_MAX_RANK ||
        p->nc->inq_var_chunking(p->group, p->variable, &storage, extent) != NC_NOERR ||
        storage != NC_CHUNKED)
        return;
    for (int k = 0; k < rank; k++)
        layout->extent[k] = extent[k] > 0 && extent[k] < INT32_MAX ? (int64_t)extent[k] : 1;
    if (p->nc->inq_var_deflate(p->group, p->variable, &shuffled, &deflated, &level) == NC_NOERR) {
        layout->shuffled = shuffled;
        layout->level    = deflated ? level : 0;
    }
}

/* Finds the element type; an enum is an integer of its base type, as in formulas. */
static rd_dtype element_of(const object *p, nc_type type)
{
    char    name[NC_MAX_NAME + 1];
    size_t  size, fields;
    nc_type base;
    int class;

    if (type >= NC_FIRSTUSERTYPEID &&
        p->nc->inq_user_type(p->group, type, name, &size, &base, &fields, &class) == NC_NOERR &&
        class == NC_ENUM)
        return cmd_netcdf_element(base);
    return cmd_netcdf_element(type);
}

/* Reads all attributes, and, for a variable, kind, type and layout of its elements. For a group
 * (NC_GLOBAL) the kind is CMD_OTHERS. */
cmd_said *cmd_netcdf_said(const cmd_netcdf_api *nc, const char *path, int group, int variable)
{
    cmd_said    *said = cmd_room(sizeof *said);
    const object p    = { nc, path, group, variable };
    nc_type      type = NC_NAT;

    read_attributes(&p, &said->attributes);
    said->kind = CMD_OTHERS;
    if (variable == NC_GLOBAL ||
        nc->inq_var(group, variable, NULL, &type, NULL, NULL, NULL) != NC_NOERR)
        return said;
    said->type = element_of(&p, type);
    said->kind = said->type != RD_AUTO ? CMD_NUMBERS
                 : type == NC_CHAR     ? CMD_CHARACTERS
                 : type == NC_STRING   ? CMD_TEXTS
                                       : CMD_OTHERS;
    read_layout(&p, &said->layout);
    return said;
}

/* Reads all texts of a variable, as pointers. More than MOST_TEXTS end the program. */
const void *cmd_netcdf_texts(const cmd_netcdf_api *nc, const char *path, int group, int variable,
                             const rd_shape *shape)
{
    size_t start[RD_MAX_RANK] = { 0 }, count[RD_MAX_RANK], n = 1;

    for (int k = 0; k < shape->n; k++) {
        count[k] = (size_t)shape->at[k];
        n        = count[k] == 0 ? 0 : n > MOST_TEXTS / count[k] ? MOST_TEXTS + 1 : n * count[k];
    }
    if (n > MOST_TEXTS)
        cmd_fail("%s: a variable of more than %d texts", path, MOST_TEXTS);
    char **texts = cmd_room((n + 1) * sizeof *texts);
    if (n > 0)
        cmd_netcdf_check(path, "texts", nc->get_vara_string(group, variable, start, count, texts));
    return copy_texts(nc, texts, n);
}
#else
typedef int cmd_no_netcdf_attributes;
#endif
