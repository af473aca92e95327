/* hdf5_list.c - lists the datasets of all groups of an HDF5 file.
 *
 * Groups form a graph, not a tree: several links may lead to one group, and a group may contain a
 * link to one above it. Each group is visited once, known by the address of its header. Its
 * contents are listed under the first path. Any further path is listed as another name of that
 * group. */
#if RDIM_HDF5
#include "files/hdf5_list.h"
#include "files/hdf5_attributes.h"
#include "files/hdf5_types.h"
#include "files/packing.h"
#include <stdlib.h>
#include <string.h>

/* ---- Visited groups -------------------------------------------------------------------------- */
/* An entry of the hash table of visited groups. */
typedef struct visited_group {
    int64_t     id; /* identity of the group; 0: this place is free */
    const char *path;
} visited_group;

/* A hash table of 2^bits places, at most half of which are taken. */
typedef struct visited_groups {
    int            bits, n;
    visited_group *at;
} visited_groups;

/* Finds the place of a group in the hash table, or the free place for it (linear probing). The hash
 * is multiplicative: the high bits of the identity times 2^64 divided by the golden ratio. */
static visited_group *find_place(const visited_groups *s, int64_t id)
{
    const size_t mask = ((size_t)1 << s->bits) - 1;
    size_t       k    = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->bits));

    while (s->at[k].id && s->at[k].id != id)
        k = (k + 1) & mask;
    return &s->at[k];
}

/* Doubles the hash table, at first to 64 places, and moves its entries. */
static void grow(visited_groups *s)
{
    const visited_groups old = *s;

    s->bits = old.at ? old.bits + 1 : 6;
    s->at   = calloc((size_t)1 << s->bits, sizeof *s->at);
    if (!s->at)
        cmd_fail("out of memory for the groups of an HDF5 file");
    for (size_t k = 0; old.at && k < (size_t)1 << old.bits; k++)
        if (old.at[k].id)
            *find_place(s, old.at[k].id) = old.at[k];
    free(old.at);
}

/* The path of the group's first visit. NULL: this is the first one, and it is noted. The table
 * grows when half of it is taken. */
static const char *known_path(visited_groups *s, int64_t id, const char *path)
{
    if (!s->at || 2 * s->n >= 1 << s->bits)
        grow(s);
    visited_group *const at = find_place(s, id);
    if (at->id)
        return at->path;
    *at = (visited_group){ id, path };
    s->n++;
    return NULL;
}

/* ---- One object ------------------------------------------------------------------------------ */
/* A group that is still to be visited. */
typedef struct pending {
    const char     *path;
    struct pending *next;
} pending;

/* The state of the traversal of all groups. */
typedef struct traversal {
    cmd_file           *file;
    const cmd_hdf5_api *h5;
    hid_t               id;
    visited_groups      seen;
    pending            *groups, **last; /* groups to visit; where to link the next one */
    const char         *prefix;         /* of the group that is visited: "a/b/" */
} traversal;

/* A number that is equal for equal objects: the address in the file, and the file, as links may
 * lead to other files. 0: unknown. */
static int64_t identity_of(const traversal *w, hid_t object)
{
    cmd_hdf5_facts facts = { 0 };
    const herr_t   status =
        w->h5->facts ? w->h5->facts(object, &facts, 1) : w->h5->facts_of_old(object, &facts);

    return status < 0 ? 0 : (int64_t)((uint64_t)facts.file << 48 ^ facts.address);
}

/* Appends a variable of that path. `why` is the reason why it cannot be read, or NULL. */
static cmd_variable *add_variable(const traversal *w, const char *path, const char *why)
{
    cmd_variable *const v = cmd_add_variables(w->file, 1);

    v->name = path;
    v->why  = why;
    return v;
}

/* Reads the shape, and which axes are unlimited. False: the dataset has no shape, or too many axes.
 * An extent that int64 hardly holds becomes -1, which is refused later. */
static bool read_shape(const cmd_hdf5_api *h5, hid_t space, rd_shape *shape, bool *grows)
{
    hsize_t   extent[H5S_MAX_RANK], most[H5S_MAX_RANK];
    const int rank = h5->H5Sget_simple_extent_ndims(space);

    if (rank < 0 || rank > RD_MAX_RANK || h5->H5Sget_simple_extent_type(space) == H5S_NULL ||
        h5->H5Sget_simple_extent_dims(space, extent, most) < 0)
        return false;
    *shape = (rd_shape){ .n = rank };
    for (int k = 0; k < rank; k++) {
        shape->at[k] = extent[k] < INT64_MAX / 2 ? (int64_t)extent[k] : -1;
        grows[k]     = most[k] == H5S_UNLIMITED;
    }
    return true;
}

/* The words that --list shows for the storage of a dataset. */
static const char *layout_of(const cmd_hdf5_api *h5, hid_t set)
{
    const hid_t plan    = h5->H5Dget_create_plist(set);
    const bool  chunked = h5->H5Pget_layout(plan) == H5D_CHUNKED,
               filtered = chunked && h5->H5Pget_nfilters(plan) > 0;

    h5->H5Pclose(plan);
    return filtered ? "chunks, deflated" : chunked ? "chunks" : "mapped";
}

/* Arguments of describe(). */
typedef struct description {
    const traversal *w;
    hid_t            set;
    cmd_variable    *v;
    bool             bare;
} description;

/* Fills in a variable from its dataset: type, shape, attributes, packing and names of axes.
 * d->bare: it is a NetCDF dimension without coordinates. */
static void describe(void *of)
{
    description        *d     = of;
    const cmd_hdf5_api *h5    = d->w->h5;
    cmd_variable       *v     = d->v;
    const cmd_hdf5_type type  = cmd_hdf5_type_of_set(h5, d->set);
    const hid_t         space = h5->H5Dget_space(d->set);
    rd_shape            shape;
    bool                grows[RD_MAX_RANK];
    const bool          shaped = read_shape(h5, space, &shape, grows);

    h5->H5Sclose(space);
    v->why = type.why;
    if (!shaped) {
        v->why = "it has no elements, and no shape";
        return;
    }
    cmd_set_shape(v, type.type, &shape);
    for (int k = 0; k < shape.n; k++)
        v->axis[k].record = grows[k];
    v->layout   = layout_of(h5, d->set);
    v->units    = cmd_hdf5_text(h5, d->set, "units");
    v->title    = cmd_hdf5_text(h5, d->set, "long_name");
    v->standard = cmd_hdf5_text(h5, d->set, "standard_name");
    if (v->units && strstr(v->units, " since "))
        v->calendar = cmd_hdf5_text(h5, d->set, "calendar");
    const char *class = cmd_hdf5_text(h5, d->set, "CLASS");
    v->is_axis        = class && strcmp(class, "DIMENSION_SCALE") == 0;
    d->bare           = v->is_axis && cmd_hdf5_is_bare(h5, d->set);
    cmd_hdf5_name_axes(h5, d->set, v);
    cmd_read_packing(v, cmd_hdf5_text(h5, d->set, "_Unsigned"), cmd_hdf5_numbers,
                     &(cmd_hdf5_object){ h5, d->set });
}

/* Adds the variable of a dataset. If the dataset cannot be described, the reason is kept (why). A
 * NetCDF dimension without coordinates (bare) is no variable, and is removed again. */
static void add_dataset(const traversal *w, hid_t set, const char *path)
{
    cmd_variable *const v = add_variable(w, path, /*why=*/NULL);
    description         d = { w, set, v, false };

    v->id                 = identity_of(w, set);
    const char *const why = cmd_try(describe, &d);
    if (why)
        v->why = why;
    if (d.bare)
        w->file->n--;
}

/* Queues a group to be visited, or lists it as another name of a group that is known. A group
 * without an identity (0) is always queued. The queue is a linked list; `last` points to where the
 * next one is linked. */
static void add_group(traversal *w, hid_t group, const char *path)
{
    const int64_t     id    = identity_of(w, group);
    const char *const known = id ? known_path(&w->seen, id, path) : NULL;

    if (known) {
        cmd_variable *const v = add_variable(
            w, path, cmd_text("it is the group %s under another name", *known ? known : "/"));
        v->same_as = known;
        return;
    }
    pending *const p = cmd_room(sizeof *p);
    *p               = (pending){ path, *w->last };
    *w->last         = p;
    w->last          = &p->next;
}

/* ---- All groups ------------------------------------------------------------------------------ */
/* Adds the object that a link leads to. A dangling link is skipped; an object that cannot be opened
 * is listed as unreadable. */
static herr_t visit_link(hid_t group, const char *name, const void *facts, void *user)
{
    traversal *const  w      = user;
    const char *const path   = cmd_text("%s%s", w->prefix, name);
    const hid_t       object = w->h5->H5Oopen(group, name, H5P_DEFAULT);

    (void)facts;
    if (object < 0) {
        if (w->h5->H5Oexists_by_name(group, name, H5P_DEFAULT) > 0)
            add_variable(w, path, "it cannot be opened (damaged?)");
        return 0;
    }
    const H5I_type_t type = w->h5->H5Iget_type(object);
    if (type == H5I_DATASET)
        add_dataset(w, object, path);
    else if (type == H5I_GROUP)
        add_group(w, object, path);
    w->h5->H5Oclose(object);
    return 0;
}

/* Visits all links of a group; "" is the path of the root. If the root group cannot be read, the
 * program ends; another one is listed with the reason. */
static void visit_group(traversal *w, const char *path)
{
    const hid_t group = w->h5->H5Oopen(w->id, *path ? path : "/", H5P_DEFAULT);
    hsize_t     next  = 0;

    w->prefix = *path ? cmd_text("%s/", path) : "";
    if (group < 0 ||
        w->h5->each_link(group, H5_INDEX_NAME, H5_ITER_INC, &next, visit_link, w) < 0) {
        if (!*path)
            cmd_fail("%s: the group / cannot be read (damaged?)", w->file->path);
        add_variable(w, path, "it is a group that cannot be read (damaged?)");
    }
    if (group >= 0)
        w->h5->H5Oclose(group);
}

/* Visits the root group, and then all groups that are found, depth first. */
void cmd_hdf5_list(cmd_file *file, hid_t id)
{
    traversal   w    = { .file = file, .h5 = cmd_hdf5_load(), .id = id };
    const hid_t root = w.h5->H5Oopen(id, "/", H5P_DEFAULT);

    if (root < 0)
        cmd_fail("%s: the group / cannot be read (damaged?)", file->path);
    w.last = &w.groups;
    add_group(&w, root, "");
    w.h5->H5Oclose(root);
    while (w.groups) {
        const char *path = w.groups->path;

        w.groups = w.groups->next;
        w.last   = &w.groups; /* its subgroups come before those that wait: depth first */
        visit_group(&w, path);
        cmd_may_go_on();
    }
    free(w.seen.at);
}
#else
typedef int cmd_no_hdf5_list;
#endif
