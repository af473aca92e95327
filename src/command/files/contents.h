/* contents.h - the contents of a file of results: dimensions, variables and attributes.
 *
 * Results with equal axes share a dimension. A variable of the dimension's name holds its
 * coordinates. The writers of NetCDF and HDF5 write these contents. */
#ifndef CMD_CONTENTS_H
#define CMD_CONTENTS_H
#include "beside.h"

/* A dimension of the file. */
typedef struct cmd_dimension {
    const char       *name;
    int64_t           n;
    const cmd_axis   *axis;       /* of a result; NULL: only auxiliary variables have it */
    const cmd_beside *coordinate; /* coordinates copied from a file; NULL: the axis has them */
    int               variable;   /* index of the variable of its coordinates; -1: none */
    bool              grows;      /* unlimited */
    bool              nameless;   /* the name is made up here */
} cmd_dimension;

/* A variable of the file: a result, or an auxiliary variable that is written beside it. */
typedef struct cmd_content {
    const char       *name;
    const cmd_result *result; /* NULL: an auxiliary variable */
    const cmd_beside *beside; /* its source; NULL: a result, or coordinates that no file has */
    cmd_kind          kind;
    rd_dtype          type; /* with CMD_NUMBERS */
    rd_shape          shape;
    int               dimension[RD_MAX_RANK]; /* indices into the list of dimensions */
    cmd_layout        layout;
    cmd_attributes    attributes;
    const void       *at; /* its elements; NULL: they are those of the result */
} cmd_content;

/* All that a file of results holds; filled by cmd_contents_of(). */
typedef struct cmd_contents {
    const char        *path;
    const cmd_results *results;
    cmd_attributes     about; /* global attributes of the file */
    int                n_dimensions, room;
    cmd_dimension     *dimension;
    int                n;
    cmd_content       *at;
} cmd_contents;

/* Lists all that the file of these results will hold. */
cmd_contents *cmd_contents_of(const char *path, const cmd_results *results);
/* Bytes of an element; of a text, the bytes of a pointer. */
int64_t cmd_content_size(const cmd_content *c);
/* The elements, after the results are computed. */
static inline const void *cmd_content_elements(const cmd_content *c)
{
    return c->result ? c->result->array.in : c->at;
}

/* ---- layout.c -------------------------------------------------------------------------------- */
/* Chooses the chunks of a variable. A variable is contiguous where it can be; else the first extent
 * of its chunks is above 0. */
cmd_layout cmd_layout_of(const cmd_contents *all, const cmd_content *c, const cmd_layout *source);
/* Records (rows along the first axis) in a chunk, if chunks have whole records and are not
 * compressed. 0: the variable is contiguous; -1: neither. */
int64_t cmd_records_of(const cmd_content *c);
/* True if all results are contiguous in the file, so that they can be computed in place. */
bool cmd_are_pieces(const cmd_contents *all);
/* True if all threads deflate the result. A small one is deflated by one thread. */
bool cmd_is_for_threads(const cmd_content *c);
#endif
