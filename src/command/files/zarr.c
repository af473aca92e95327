/* zarr.c - Zarr stores in folders, versions 2 and 3: arrays of all groups, their dimensions,
 * coordinates and attributes.
 *
 * Each array and group is a folder with metadata in JSON. They are found by a traversal of the
 * groups, whether or not the store has a list of them (consolidated metadata).
 *
 * A node is an array or a group of the store. A chunk is a box of an array, in a file of its own or
 * as a part of a file (shard). */
#include "files/formats.h"
#include <string.h>
#include <unistd.h>

/* True if the folder has a file of that name. */
static bool has_file(const char *folder, const char *name)
{
    return access(cmd_text("%s/%s", folder, name), F_OK) == 0;
}

/* True if the folder has the metadata of a node: of version 2 (.zgroup, .zarray) or 3
 * (zarr.json). */
static bool is_store(const char *path)
{
    return has_file(path, ".zgroup") || has_file(path, ".zarray") || has_file(path, "zarr.json");
}

#if RDIM_JSON
#include "files/late.h"
#include "files/packing.h"
#include "files/zarr.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Groups inside of groups; bytes of metadata; coordinates of an axis. */
enum { MOST_DEPTH = 32, MOST_TEXT = 1 << 28, MOST_COORDINATES = 1 << 22 };

/* ---- Listing of a store ---------------------------------------------------------------------- */
/* Reads and parses a file of metadata in JSON. The program ends, within cmd_try(), if that
 * fails. */
static const cmd_json *read_text(const char *folder, const char *name)
{
    const char *const path = cmd_text("%s/%s", folder, name);
    int64_t           size;

    if (cmd_is_stream(path)) /* a pipe without a writer would never end */
        cmd_fail("%s: not a regular file", path);
    const int fd = cmd_open_to_read(path, &size);
    if (size > MOST_TEXT)
        cmd_fail("%s: %lld bytes of metadata", path, (long long)size);
    char *const text = cmd_room((size_t)size + 1);
    cmd_read_at(fd, path, text, size, 0);
    close(fd);
    return cmd_json_read(path, text, (size_t)size);
}

/* Arguments of describe(): a variable and the folder of its array. */
typedef struct array_folder {
    cmd_variable   *v;
    const char     *folder, *group;
    const cmd_json *json; /* metadata of version 3; NULL: version 2 */
    cmd_zarr       *zarr;
} array_folder;

/* Reads the metadata of an array, of version 3 (json) or 2 (.zarray and .zattrs). */
static void describe(void *of)
{
    array_folder *f = of;

    f->zarr = f->json
                  ? cmd_zarr_read_3(f->v, f->json)
                  : cmd_zarr_read_2(f->v, read_text(f->folder, ".zarray"),
                                    has_file(f->folder, ".zattrs") ? read_text(f->folder, ".zattrs")
                                                                   : NULL);
}

/* Returns the metadata of a variable's array, which v->id points to. */
static cmd_zarr *zarr_of(const cmd_variable *v)
{
    return (cmd_zarr *)(intptr_t)v->id;
}

/* The words that --list shows for the storage of an array. */
static const char *layout_of(const cmd_zarr *z)
{
    return z->sharded ? "chunks in shards" : z->codecs.n ? "chunks, packed" : "chunks";
}

/* Adds the variable of an array; v->id becomes a pointer to its metadata. An array that cannot be
 * read is listed with the reason, and the others remain readable. */
static void add_array(cmd_file *file, const char *folder, const char *group, const char *name,
                      const cmd_json *json)
{
    cmd_variable *v = cmd_add_variables(file, 1);
    array_folder  f = { .v = v, .folder = folder, .json = json };

    v->name               = cmd_text("%s%s", group, name);
    const char *const why = cmd_try(describe, &f);
    if (why)
        v->why = cmd_reason(why, folder);
    if (!f.zarr)
        return;
    f.zarr->folder = folder;
    f.zarr->group  = group;
    v->id          = (int64_t)(intptr_t)f.zarr;
    v->layout      = layout_of(f.zarr);
    v->is_axis     = v->shape.n == 1 && v->axis[0].name && strcmp(v->axis[0].name, name) == 0;
}

/* ---- Folders --------------------------------------------------------------------------------- */
/* A group that was visited. Links may lead to it again, or in a circle; it is listed once. */
typedef struct seen_group {
    struct seen_group *older;
    const char        *path; /* in the store: "a/b", "" for the root */
    dev_t              device;
    ino_t              inode;
} seen_group;

/* The state of the traversal of all groups. */
typedef struct traversal {
    cmd_file   *file;
    seen_group *seen;
} traversal;

/* A node of the store: an array or a group. */
typedef struct node {
    const char     *folder, *group, *name; /* group: "a/b/"; name: NULL for the store itself */
    int             depth;
    const cmd_json *json; /* metadata of version 3 */
} node;

/* The path of a node in the store: "a/b"; "" for the store itself. */
static const char *path_of(const node *e)
{
    return e->name ? cmd_text("%s%s", e->group, e->name) : "";
}

/* Adds a node that cannot be read, with the reason. same_as: the path of the group of which it is
 * another name, or NULL. */
static void add_unreadable(traversal *w, const node *e, const char *why, const char *same_as)
{
    cmd_variable *const v = cmd_add_variables(w->file, 1);

    v->name    = path_of(e);
    v->why     = why;
    v->same_as = same_as;
}

/* True if the group was not visited before, known by device and inode of its folder. Else it is
 * listed as another name of that group. */
static bool is_new(traversal *w, const node *e)
{
    struct stat facts;

    if (stat(e->folder, &facts) != 0)
        cmd_fail("%s: %s", e->folder, strerror(errno));
    for (const seen_group *g = w->seen; g; g = g->older)
        if (g->device == facts.st_dev && g->inode == facts.st_ino) {
            add_unreadable(
                w, e, cmd_text("it is the group %s under another name", *g->path ? g->path : "/"),
                g->path);
            return false;
        }
    seen_group *const g = cmd_room(sizeof *g);
    *g                  = (seen_group){ w->seen, path_of(e), facts.st_dev, facts.st_ino };
    w->seen             = g;
    return true;
}

/* Orders entries of a folder by name, for scandir(). */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* True if the entry's name does not begin with a '.', as names of metadata do. */
static int is_visible(const struct dirent *one)
{
    return one->d_name[0] != '.';
}

static void list_node(traversal *w, const node *of);

/* Lists the nodes of a group, in the order of their names. Folders without metadata are skipped. */
static void list_group(traversal *w, const node *e)
{
    struct dirent **inside = NULL;
    const int       n      = scandir(e->folder, &inside, is_visible, compare_names);
    const char     *names  = e->name ? cmd_text("%s%s/", e->group, e->name) : e->group;

    if (n < 0)
        cmd_fail("%s: %s", e->folder, strerror(errno));
    struct dirent ***const kept = cmd_room(sizeof inside); /* reachable, and never freed */
    *kept                       = inside;
    for (int k = 0; k < n; k++) {
        const char *const inner = cmd_text("%s/%s", e->folder, inside[k]->d_name);
        const char *const name  = cmd_copy(inside[k]->d_name, strlen(inside[k]->d_name));

        if (is_store(inner))
            list_node(w, &(node){ inner, names, name, e->depth + 1, NULL });
    }
}

/* Reads zarr.json of a node into e->json. The program ends, within cmd_try(), if it is neither an
 * array nor a group. */
static void read_node(void *of)
{
    node *const       e = of;
    const char *const kind =
        cmd_json_text(cmd_json_member(e->json = read_text(e->folder, "zarr.json"), "node_type"));

    if (!kind || (strcmp(kind, "array") != 0 && strcmp(kind, "group") != 0))
        cmd_fail("%s: its node_type is %s", e->folder,
                 cmd_json_print(cmd_json_member(e->json, "node_type")));
}

/* Lists an array, or a group with all it holds. `old` and `new` mean versions 2 and 3. A store that
 * is one array (no name) has the folder's name. If the store itself cannot be read, the program
 * ends; other nodes are listed with the reason. */
static void list_node(traversal *w, const node *of)
{
    node                    e   = *of;
    const bool              old = has_file(e.folder, ".zarray");
    const bool new              = !old &&has_file(e.folder, "zarr.json");
    const char *const why  = !new ? NULL : e.name ? cmd_try(read_node, &e) : (read_node(&e), NULL);
    const char *const kind = cmd_json_text(cmd_json_member(e.json, "node_type"));

    if (why)
        add_unreadable(w, &e, cmd_reason(why, e.folder), /*same_as=*/NULL);
    else if (old || (kind && strcmp(kind, "array") == 0))
        add_array(w->file, e.folder, e.group, e.name ? e.name : cmd_stem(e.folder), e.json);
    else if (e.depth > MOST_DEPTH)
        add_unreadable(w, &e, cmd_text("it is a group in more than %d others", MOST_DEPTH),
                       /*same_as=*/NULL);
    else if (is_new(w, &e))
        list_group(w, &e);
}

/* Lists all arrays of the store. */
static void open_zarr(cmd_file *file)
{
    list_node(&(traversal){ .file = file }, &(node){ .folder = file->path, .group = "" });
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Reads the chunks of a part of a variable, for leaves that are read late. */
static void read_part(const cmd_file *file, const cmd_variable *v, const rd_part *part, void *to)
{
    (void)file;
    cmd_zarr_read(zarr_of(v), v, part, to);
}

/* Reads an array at once, or makes a late leaf (input array) of a large one. */
static rd_expr *read_zarr(cmd_file *file, cmd_variable *v)
{
    const int64_t bytes = cmd_points(&v->shape, v->type, v->name) * cmd_size_of(v->type);
    cmd_place     place = { .offset = -1 };

    if (bytes == 0)
        return cmd_leaf(file->ctx, v, NULL);
    memcpy(place.extent, zarr_of(v)->extent, sizeof place.extent);
    if (cmd_may_be_late(v, bytes))
        return cmd_leaf_late(file, v, &place, bytes);
    void *const to = cmd_storage(bytes, v->name);
    read_part(file, v, &(rd_part){ .shape = v->shape }, to);
    return cmd_leaf(file->ctx, v, to);
}

/* ---- Coordinates ----------------------------------------------------------------------------- */
/* Finds the variable of a dimension's name, in the variable's group or one above it. `n` is the
 * length of the group's path, from which the last name is removed in each round: "a/b/", "a/",
 * "". */
static cmd_variable *find_axis(const cmd_file *file, const cmd_variable *v, const char *name)
{
    for (size_t n = strlen(zarr_of(v)->group);; n--) {
        const char *const path = cmd_text("%.*s%s", (int)n, zarr_of(v)->group, name);

        for (int k = 0; k < file->n; k++)
            if (file->variable[k].is_axis && strcmp(file->variable[k].name, path) == 0)
                return &file->variable[k];
        if (n == 0)
            return NULL;
        while (n > 1 && zarr_of(v)->group[n - 2] != '/')
            n--;
    }
}

/* Reads coordinates and attributes of an axis from the variable of its name. It is left out if it
 * cannot be read, has another length, complex numbers, or more than 4 million coordinates. */
static void read_axis(cmd_file *file, const cmd_variable *v, cmd_axis *axis)
{
    cmd_variable *const from = axis->name ? find_axis(file, v, axis->name) : NULL;

    if (!from || from->why || from->shape.at[0] != axis->n || axis->n < 1 ||
        axis->n > MOST_COORDINATES || from->type == RD_C64 || from->type == RD_C128)
        return;
    double *at = cmd_room((size_t)axis->n * sizeof *at);
    cmd_read_now(file->ctx, cmd_read(file, from), at, axis->n);
    axis->at       = at;
    axis->units    = from->units;
    axis->title    = from->title;
    axis->standard = from->standard;
    axis->calendar = from->calendar;
}

/* Reads the coordinates of each axis of a variable, where the store has them. */
static void coordinates(cmd_file *file, cmd_variable *v)
{
    for (int k = 0; k < v->shape.n; k++)
        read_axis(file, v, &v->axis[k]);
}

const cmd_format cmd_zarr_format = { .name        = "Zarr",
                                     .suffixes    = ".zarr ",
                                     .is_folder   = is_store,
                                     .open        = open_zarr,
                                     .read        = read_zarr,
                                     .read_part   = read_part,
                                     .coordinates = coordinates };
#else
/* Ends the program, as this build has no Zarr. */
static void open_zarr(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without Zarr (Debian: libjson-c-dev, then build again)",
             file->path);
}

const cmd_format cmd_zarr_format = { .name      = "Zarr (not in this build)",
                                     .suffixes  = ".zarr ",
                                     .is_folder = is_store,
                                     .open      = open_zarr };
#endif
