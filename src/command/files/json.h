/* json.h - texts in JSON, read by libjson-c, which is loaded when the first one is met. */
#ifndef CMD_JSON_H
#define CMD_JSON_H
#include "files/file.h"

/* A value; NULL: null, or none.  All of them live as long as the program. */
typedef struct json_object cmd_json;

/* Ends the program, with a sentence about the file, where the text cannot be read. */
const cmd_json *cmd_json_read(const char *path, const char *text, size_t n);
const cmd_json *cmd_json_member(const cmd_json *object, const char *name);
/* NULL: it is no text. */
const char *cmd_json_text(const cmd_json *value);
/* False: it is no number, or none that the type has. */
bool cmd_json_number(const cmd_json *value, cmd_exact *to, rd_dtype *type);
bool cmd_json_whole(const cmd_json *value, int64_t *to);
/* Elements of a list; -1: it is none. */
int64_t         cmd_json_count(const cmd_json *list);
const cmd_json *cmd_json_at(const cmd_json *list, int64_t k);
/* As it is written, for what is said about it. */
const char *cmd_json_print(const cmd_json *value);
/* False: it is neither true nor false. */
bool cmd_json_truth(const cmd_json *value, bool *to);
/* A member for which ok() is false: its name; NULL: there is none. */
const char *cmd_json_except(const cmd_json *object,
                            bool (*ok)(const char *name, const cmd_json *value));
#endif
