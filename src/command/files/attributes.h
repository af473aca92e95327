/* attributes.h - attributes of files and variables, and the chunk layout of variables.
 *
 * All attributes are read only when a result that keeps them is written (beside.h). The few
 * attributes that formulas need are found when a file is opened. */
#ifndef CMD_ATTRIBUTES_H
#define CMD_ATTRIBUTES_H
#include "base.h"

/* The kind of the elements of an attribute or of a variable. */
typedef enum cmd_kind { CMD_NUMBERS, CMD_CHARACTERS, CMD_TEXTS, CMD_OTHERS } cmd_kind;

/* An attribute and its value. */
typedef struct cmd_attribute {
    const char *name;
    cmd_kind    kind;
    rd_dtype    type; /* element type, with CMD_NUMBERS */
    int64_t     n;
    const void *at; /* numbers, characters without a final zero, or pointers to texts */
} cmd_attribute;

/* A list of attributes. */
typedef struct cmd_attributes {
    int            n;
    cmd_attribute *at;
} cmd_attributes;

/* The chunks and the compression of a variable in its file. */
typedef struct cmd_layout {
    int64_t extent[RD_MAX_RANK]; /* of a chunk, in elements; extent[0] == 0: no chunks */
    bool    shuffled;
    int     level; /* of deflate, 1 to 9; 0: not compressed */
} cmd_layout;

/* All that a file says about a variable, or about itself. */
typedef struct cmd_said {
    cmd_attributes attributes;
    cmd_kind       kind; /* of the elements */
    rd_dtype       type; /* stored type of the elements, with CMD_NUMBERS */
    cmd_layout     layout;
    const void    *texts; /* elements of CMD_TEXTS, set by the reader when first needed */
    rd_expr       *x;     /* leaf of the elements, set by cmd_read_stored() */
} cmd_said;

/* The attribute of that name; NULL: there is none. */
const cmd_attribute *cmd_attribute_named(const cmd_attributes *all, const char *name);
/* The text of an attribute, with a zero at its end; NULL: there is none, or the attribute is no
 * single text. */
const char *cmd_attribute_text(const cmd_attributes *all, const char *name);
/* Adds a copy of the attribute, or replaces the one of the same name. */
void cmd_add_attribute(cmd_attributes *all, const cmd_attribute *a);
/* Adds a text, or replaces the attribute of the same name. */
void cmd_add_text(cmd_attributes *all, const char *name, const char *text);
/* True if name, kind, type and value are equal. */
bool cmd_is_same_attribute(const cmd_attribute *a, const cmd_attribute *b);
/* True if both lists have the attribute with the same value, or neither list has it. */
bool cmd_say_the_same(const cmd_attributes *a, const cmd_attributes *b, const char *name);
/* An attribute of characters; the text is not copied. */
cmd_attribute cmd_text_as_attribute(const char *name, const char *text);
/* True if `name` is a word of `list`, where a blank stands before and after each word. */
bool cmd_is_listed(const char *list, const char *name);
/* True if the libraries of NetCDF and HDF5 reserve this name for themselves. */
bool cmd_is_reserved(const char *name);
#endif
