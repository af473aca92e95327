/* fields.h - text as lines of fields: what tables are written in.
 *
 * A line ends with LF, CR LF or CR.  Between fields are commas, semicolons, tabs, or runs of blanks.  A
 * field in double quotes may hold all of these, and a quote where it is written twice. */
#ifndef CMD_FIELDS_H
#define CMD_FIELDS_H
#include "base.h"

typedef struct cmd_fields {
    const char *path, *at, *end;
    char        separator; /* ' ': any number of blanks */
    int64_t     line;      /* of what is next, from 1 */
    bool        ends[256]; /* characters that end a field without quotes */
} cmd_fields;

typedef struct cmd_field {
    const char *at;
    size_t      n;
    bool        quoted, last; /* last: of its line */
} cmd_field;

/* The text of a file, without its byte order mark. */
cmd_fields cmd_fields_of(const char *path, const char *text, int64_t size);
/* Goes past empty lines and those that begin with #.  False: nothing is left. */
bool      cmd_next_line(cmd_fields *f);
cmd_field cmd_next_field(cmd_fields *f);
/* The text of a field, without its quotes. */
const char *cmd_field_text(const cmd_field *f);
/* The same for an error message: one line, and not too long. */
const char *cmd_field_shown(const cmd_field *f);
#endif
