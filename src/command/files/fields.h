/* fields.h - splits text into lines and fields, for tables.
 *
 * A line ends with LF, CR LF or CR. Fields are separated by commas, semicolons, tabs, or runs of
 * blanks. A field in double quotes may hold all of these, and a quote that is written twice. */
#ifndef CMD_FIELDS_H
#define CMD_FIELDS_H
#include "base.h"

/* The rest of a text, which is split into fields. */
typedef struct cmd_fields {
    const char *path, *at, *end;
    char        separator; /* ' ': runs of blanks */
    int64_t     line;      /* number of the line of the next field, from 1 */
    bool        ends[256]; /* characters that end a field without quotes */
} cmd_fields;

/* A field of a line: n characters, without quotes around them. */
typedef struct cmd_field {
    const char *at;
    size_t      n;
    bool        quoted, last; /* in quotes; the last one of its line */
} cmd_field;

/* Begins to read the text of a file, behind its byte order mark. */
cmd_fields cmd_fields_of(const char *path, const char *text, int64_t size);
/* Skips empty lines and lines that begin with #. False: the text ends. */
bool cmd_next_line(cmd_fields *f);
/* Reads the next field, and goes to the next line behind the last field of a line. */
cmd_field cmd_next_field(cmd_fields *f);
/* The text of a field, without its quotes. */
const char *cmd_field_text(const cmd_field *f);
/* The text for an error message: one line of at most 40 characters and "...". */
const char *cmd_field_shown(const cmd_field *f);
#endif
