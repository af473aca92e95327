/* reader.h - the reader: a process beside the command, in which libraries read files.
 *
 * Some crash on a file that is broken in some way, write where they must not, or go round and round;
 * none of that can be caught within a process.  So the calls of such a format (file.h: `decode`) run
 * in a child, and one that dies is a sentence about the file, and a failure like any other.  What
 * they find out lies in memory that both share, at the same addresses: pointers hold on both sides.
 * The child lives as long as the command, and serves all its files. */
#ifndef CMD_READER_H
#define CMD_READER_H
#include "files/file.h"

/* A file of a format with `decode`, opened. */
cmd_file *cmd_reader_open(rd_ctx *ctx, const char *path, const cmd_format *format);
/* format->place(). */
cmd_place cmd_reader_place(cmd_file *file, const cmd_variable *v);
/* format->decode() of n rows to their place in what cmd_storage_file() gave, with room for all of them,
 * `bytes`. */
void cmd_reader_decode(cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, int to,
                       int64_t bytes);
/* format->coordinates(). */
void cmd_reader_coordinates(cmd_file *file, cmd_variable *v);
/* format->say(), kept in v->said, or in file->said where v is NULL. */
void cmd_reader_say(cmd_file *file, cmd_variable *v);
/* format->texts(), kept in v->said->texts. */
void cmd_reader_texts(cmd_file *file, cmd_variable *v);

/* Seconds of the processor that a call may take, and as many again for each 256 MB of elements, or each
 * 64 MB of a file that is opened, ten times at most: to find what is in a file takes milliseconds, of a
 * hundred thousand variables, which are 40 MB, some seconds. */
extern int cmd_reader_seconds;
#endif
