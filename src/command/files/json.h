/* json.h - reads JSON by libjson-c, which is loaded by dlopen() when the first text is read. */
#ifndef CMD_JSON_H
#define CMD_JSON_H
#include "files/file.h"

/* A JSON value; NULL: null, or no value. All values live as long as the program. */
typedef struct json_object cmd_json;

/* Parses a text; ends the program, with a sentence about the file, if it is no JSON. */
const cmd_json *cmd_json_read(const char *path, const char *text, size_t n);
/* The member of an object; NULL: there is none. */
const cmd_json *cmd_json_member(const cmd_json *object, const char *name);
/* The value as a text; NULL: it is none. */
const char *cmd_json_text(const cmd_json *value);
/* Reads a number and its type. The second function reads an integer that int64 holds. False: the
 * value is no such number. */
bool cmd_json_number(const cmd_json *value, cmd_exact *to, rd_dtype *type);
bool cmd_json_whole(const cmd_json *value, int64_t *to);
/* The number of elements of a list; -1: the value is no list. */
int64_t cmd_json_count(const cmd_json *list);
/* Element k of a list. */
const cmd_json *cmd_json_at(const cmd_json *list, int64_t k);
/* The value as JSON of at most 60 characters, for an error message. */
const char *cmd_json_print(const cmd_json *value);
/* Reads true or false. False: the value is neither. */
bool cmd_json_truth(const cmd_json *value, bool *to);
/* The name of the first member for which ok() is false; NULL: there is none. */
const char *cmd_json_except(const cmd_json *object,
                            bool (*ok)(const char *name, const cmd_json *value));
#endif
