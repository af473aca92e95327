/* base.h - what all files of the command share: memory, failures, signals, output files, element
 * types.
 *
 * The command is a program on the public header alone; it knows nothing of the library's inside.
 * Memory lives as long as the program. A failure ends the program with a sentence on stderr that
 * says what to do. The exit status is 2 for a request that makes no sense, and 1 for all other
 * failures. After a signal such as that of Ctrl-C the program ends by that signal, which a shell
 * shows as 128 plus its number. */
#ifndef CMD_BASE_H
#define CMD_BASE_H
#include <rdim.h>
#include <stddef.h>

/* Exit statuses: something failed; the request makes no sense. */
enum { CMD_FAILED = 1, CMD_MISUSED = 2 };

/* Zeroed memory of that many bytes; a copy of n characters as a text; a formatted text. */
void                                       *cmd_room(size_t bytes);
char                                       *cmd_copy(const char *text, size_t n);
__attribute__((format(printf, 1, 2))) char *cmd_text(const char *format, ...);

/* Occupies the descriptors 0, 1 and 2 if the caller has closed them. It must run first:
 * otherwise an output file or the pipe to the reader would get such a number, and messages would
 * be written into it. Using these descriptors still fails. */
void cmd_hold_standard(void);
/* Writes all buffered standard output, or ends the program with a sentence. */
void cmd_flush_output(void);
/* Prints a sentence on stderr. cmd_end() then ends the program, and removes unfinished files. */
void           cmd_say(const char *sentence);
_Noreturn void cmd_end(int status, const char *sentence);
/* Ends the program after a failure, without the handlers of exit(). */
_Noreturn void cmd_leave(int status);
/* Writes line counts to disk in builds that measure coverage (script/coverage), for a process
 * that may end without exit(). */
void cmd_keep_counts(void);
#define cmd_warn(...)   cmd_say(cmd_text(__VA_ARGS__))
#define cmd_fail(...)   cmd_end(CMD_FAILED, cmd_text(__VA_ARGS__))
#define cmd_misuse(...) cmd_end(CMD_MISUSED, cmd_text(__VA_ARGS__))
/* Lets the reader process (files/reader.h) allocate zeroed memory by `room`, and end by `end`,
 * from now on. */
void cmd_live_elsewhere(void *(*room)(size_t bytes), void (*end)(int status, const char *sentence));
/* Runs work(of). Returns the sentence of the failure that ended it, which does not end the
 * program; NULL: it succeeded. What the work had opened stays open. */
const char *cmd_try(void (*work)(void *of), void *of);
/* Ends the program with the error of the library, without the name of the call. If the
 * evaluation was cancelled, the signal is the reason. */
_Noreturn void cmd_fail_of(rd_ctx *ctx);
const char    *cmd_error_text(rd_ctx *ctx);

/* ---- Signals (interrupt.c) ------------------------------------------------------------------- */
/* Installs signal handlers. Ctrl-C, and each other signal that asks a program to end, cancels
 * what the context evaluates; a second one ends the program at once. A mapped file that becomes
 * shorter ends it with a sentence, and a limit of file sizes makes calls fail. */
void cmd_watch(rd_ctx *ctx);
/* Removes the handlers: from now on these signals end the program at once. */
void cmd_watch_no_more(void);
/* Says that a library writes the file `path`: if it crashes, the program ends with a sentence.
 * NULL: the library has finished. */
void cmd_watch_library(const char *path);
/* Ends the program if a signal has come. Long loops call it. */
void cmd_may_go_on(void);
bool cmd_interrupted(void);

/* ---- Files written aside (aside.c) ----------------------------------------------------------- */
/* Creates a temporary file beside `path`, and returns its name. The file is removed if the
 * program ends before cmd_aside_done(), which renames it to path. Symbolic links are followed,
 * and two paths of one file are refused. A replaced file keeps its mode, and its owner if the
 * system allows that. */
const char *cmd_aside(const char *path);
void        cmd_aside_done(const char *path, const char *aside);
void        cmd_remove_aside(void);
/* Returns the end of an error message: which files are written and which are not; "" without
 * output files. */
const char *cmd_what_was_written(void);

/* ---- Element types (types.c) ----------------------------------------------------------------- */
int64_t     cmd_size_of(rd_dtype type);
const char *cmd_type_name(rd_dtype type);
/* Finds the type of a NumPy code: "f4", "<i2", ">f8", "u1", "b1", "c8". RD_AUTO: none. *big: the
 * bytes are big-endian. */
rd_dtype cmd_type_of(const char *text, size_t n, bool *big);
bool     cmd_is_float(rd_dtype type);
/* Numbers of bits in the exponent and the fraction of a float type; 0 for other types. */
int cmd_exponent_bits(rd_dtype type);
int cmd_fraction_bits(rd_dtype type);
/* False for types that NumPy stores as untyped bytes. */
bool cmd_numpy_has(rd_dtype type);
/* Returns the shape as a text, "(12, 90, 180)". */
const char *cmd_shape_text(const rd_shape *shape);
/* Returns the product of extents; ends the program, naming `what`, if it is too large. */
int64_t cmd_points(const rd_shape *shape, rd_dtype type, const char *what);
/* Returns element i as a double; the real part of a complex number. */
double cmd_element(const void *data, rd_dtype type, int64_t i);
/* Reverses the bytes of n elements of `size` bytes. */
void cmd_swap(void *data, int64_t n, int64_t size);

/* ---- Elements as text (texts.c) -------------------------------------------------------------- */
/* Room for the text of any element. */
enum { CMD_MOST_TEXT = 80 };
/* Writes an element: whole numbers with all digits, floats as the shortest text that reads back
 * as the same bits, bools as 1 and 0, complex numbers as "1.5-2i". */
void        cmd_put_element(char text[CMD_MOST_TEXT], const void *data, rd_dtype type, int64_t i);
const char *cmd_element_text(const void *data, rd_dtype type, int64_t i);
#endif
