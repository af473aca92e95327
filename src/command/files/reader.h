/* reader.h - the reader process: a child process in which libraries read files.
 *
 * Given a damaged file, some libraries crash, write out of bounds, or loop forever, which a process
 * cannot catch in itself. So the functions of such a format (file.h: `decode`) run in a child. If
 * it dies, the command reports a sentence about the file. Results are in memory that both processes
 * share at the same addresses, so pointers are valid in both. The child lives as long as the
 * command, and serves all its files. */
#ifndef CMD_READER_H
#define CMD_READER_H
#include "files/file.h"

/* Opens a file of a format that has `decode`. */
cmd_file *cmd_reader_open(rd_ctx *ctx, const char *path, const cmd_format *format);
/* Runs format->place(). */
cmd_place cmd_reader_place(cmd_file *file, const cmd_variable *v);
/* Runs format->decode() of n rows. `to` is a file of cmd_storage_file() with room for all rows,
 * `bytes` bytes. */
void cmd_reader_decode(cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, int to,
                       int64_t bytes);
/* Runs format->coordinates(). */
void cmd_reader_coordinates(cmd_file *file, cmd_variable *v);
/* Runs format->say(); the result is v->said, or file->said where v is NULL. */
void cmd_reader_say(cmd_file *file, cmd_variable *v);
/* Runs format->texts(); the result is v->said->texts. */
void cmd_reader_texts(cmd_file *file, cmd_variable *v);

/* Seconds of CPU time that a call may take. As many are added for each 256 MB of elements, and for
 * each 64 MB of a file that is opened, up to ten times. Listing a file takes milliseconds; a
 * hundred thousand variables, in 40 MB, take some seconds. */
extern int cmd_reader_seconds;
#endif
