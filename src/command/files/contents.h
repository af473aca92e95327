/* contents.h - what is to be in a file of results: dimensions, variables and attributes.
 *
 * Results whose axes are the same share a dimension, whose coordinates are a variable of its name.  Formats
 * that have room for all of it write these contents, each in its own way. */
#ifndef CMD_CONTENTS_H
#define CMD_CONTENTS_H
#include "beside.h"

typedef struct cmd_dimension {
    const char       *name;
    int64_t           n;
    const cmd_axis   *axis;       /* of a result; NULL: of what goes along with one */
    const cmd_beside *coordinate; /* as a file has it; NULL: the axis has it, or there is none */
    int               variable;   /* the variable of its coordinates; -1: there is none */
    bool              grows;
    bool              nameless; /* nobody has named the axis */
} cmd_dimension;

/* A variable: a result, or what goes along with one. */
typedef struct cmd_content {
    const char       *name;
    const cmd_result *result; /* NULL: it goes along with one */
    const cmd_beside *beside; /* NULL: it does not, or it is a coordinate that is in no file */
    cmd_kind          kind;
    rd_dtype          type; /* of numbers */
    rd_shape          shape;
    int               dimension[RD_MAX_RANK]; /* places in the list of dimensions */
    cmd_layout        layout;
    cmd_attributes    attributes;
    const void       *at; /* its elements; NULL: those of the result */
} cmd_content;

typedef struct cmd_contents {
    const char        *path;
    const cmd_results *results;
    cmd_attributes     about; /* the file */
    int                n_dimensions, room;
    cmd_dimension     *dimension;
    int                n;
    cmd_content       *at;
} cmd_contents;

cmd_contents *cmd_contents_of(const char *path, const cmd_results *results);
/* Bytes of an element: of texts, those of a pointer. */
int64_t cmd_content_size(const cmd_content *c);
/* Elements, once the results are computed. */
static inline const void *cmd_content_elements(const cmd_content *c)
{
    return c->result ? c->result->array.in : c->at;
}

/* ---- layout.c -------------------------------------------------------------------------------- */
/* How a variable is kept: in one piece, where it can be, else in chunks, whose first extent is not 0
 * then. */
cmd_layout cmd_layout_of(const cmd_contents *all, const cmd_content *c, const cmd_layout *source);
/* Records in a chunk, where chunks have whole ones, as they lie; 0: it is in one piece; -1: neither. */
int64_t cmd_records_of(const cmd_content *c);
/* Will all results be in one piece each, so that they can be computed in the file? */
bool cmd_are_pieces(const cmd_contents *all);
/* A result that all threads deflate: few bytes are deflated at once. */
bool cmd_is_for_threads(const cmd_content *c);
#endif
