/* base.h - what all of the command shares: memory, failures, what is left behind.
 *
 * The command is a program on the public header alone; nothing of the library's inside is known
 * here.  Memory lives as long as the program.  What fails ends it, with a sentence on stderr that
 * says what to do: 2 for what was asked for in a way that cannot be meant, 1 for all else.  After a
 * signal such as that of Ctrl-C the program ends by that signal, which a shell shows as 128 and its
 * number. */
#ifndef CMD_BASE_H
#define CMD_BASE_H
#include <rdim.h>
#include <stddef.h>

enum { CMD_FAILED = 1, CMD_MISUSED = 2 };

/* Zeroed memory, and texts. */
void                                       *cmd_room(size_t bytes);
char                                       *cmd_copy(const char *text, size_t n);
__attribute__((format(printf, 1, 2))) char *cmd_text(const char *format, ...);

/* Descriptors 0, 1 and 2 that the caller has closed are taken, first of all: a file or the line to the reader
 * would be one of them else, and what is said would be written there.  To use them fails, as it would. */
void cmd_hold_standard(void);
/* All of standard output is written, or the program ends with a sentence. */
void cmd_flush_output(void);
/* Says a sentence on stderr, and ends the program; files under way are removed. */
void           cmd_say(const char *sentence);
_Noreturn void cmd_end(int status, const char *sentence);
/* Ends the program without handlers of exit(), after what failed. */
_Noreturn void cmd_leave(int status);
/* In builds that count which lines run (script/coverage): writes the counts down, for a process that may
 * end without exit(). */
void cmd_keep_counts(void);
#define cmd_warn(...)   cmd_say(cmd_text(__VA_ARGS__))
#define cmd_fail(...)   cmd_end(CMD_FAILED, cmd_text(__VA_ARGS__))
#define cmd_misuse(...) cmd_end(CMD_MISUSED, cmd_text(__VA_ARGS__))
/* Lets the reader process (files/reader.h) take zeroed memory from `room`, and end by `end`, from now on. */
void cmd_live_elsewhere(void *(*room)(size_t bytes), void (*end)(int status, const char *sentence));
/* Runs work(of).  The sentence of the failure that ended it early, which does not end the program; NULL:
 * none did.  What the work had opened stays open. */
const char *cmd_try(void (*work)(void *of), void *of);
/* For what the library refused: its sentence, without the name of the call.  Of a cancelled
 * evaluation Ctrl-C is the reason. */
_Noreturn void cmd_fail_of(rd_ctx *ctx);
const char    *cmd_error_text(rd_ctx *ctx);

/* ---- Signals (interrupt.c) ------------------------------------------------------------------- */
/* From now on Ctrl-C, and each other signal that asks a program to end, cancels what the context
 * evaluates; a second one ends the program at once.  A mapped file that becomes shorter ends it with a
 * sentence, and a limit of file sizes makes calls fail. */
void cmd_watch(rd_ctx *ctx);
/* From now on these signals end the program at once. */
void cmd_watch_no_more(void);
/* While a library writes the file `path`, which ends the program with a sentence where it crashes; NULL:
 * no longer. */
void cmd_watch_library(const char *path);
/* For loops of our own: ends the program if there was one. */
void cmd_may_go_on(void);
bool cmd_interrupted(void);

/* ---- Files written aside (aside.c) ----------------------------------------------------------- */
/* A name beside `path` to write to, where nothing is yet: removed if the program ends before
 * cmd_aside_done(), which renames it to path.  Where path is a symbolic link the file behind it is
 * meant.  Two paths of one file are refused.  A file that is replaced keeps its mode, and its owner
 * where the system allows that. */
const char *cmd_aside(const char *path);
void        cmd_aside_done(const char *path, const char *aside);
void        cmd_remove_aside(void);
/* Says, for the end of an error message, which files are written and which are not; "" where no file
 * was to be written. */
const char *cmd_what_was_written(void);

/* ---- Element types (types.c) ----------------------------------------------------------------- */
int64_t     cmd_size_of(rd_dtype type);
const char *cmd_type_name(rd_dtype type);
/* "f4", "<i2", ">f8", "u1", "b1", "c8": NumPy's.  RD_AUTO: none.  *big: its bytes come in that
 * order. */
rd_dtype cmd_type_of(const char *text, size_t n, bool *big);
bool     cmd_is_float(rd_dtype type);
/* Bits of the two fields of a float type; 0 of other types. */
int cmd_exponent_bits(rd_dtype type);
int cmd_fraction_bits(rd_dtype type);
/* False of types that NumPy stores as bytes without a type. */
bool cmd_numpy_has(rd_dtype type);
/* "(12, 90, 180)". */
const char *cmd_shape_text(const rd_shape *shape);
/* Product of extents; ends the program, naming `what`, where it, or its bytes, cannot be. */
int64_t cmd_points(const rd_shape *shape, rd_dtype type, const char *what);
/* Element i as a double; of complex numbers the real part. */
double cmd_element(const void *data, rd_dtype type, int64_t i);
void   cmd_swap(void *data, int64_t n, int64_t size);

/* ---- Elements as text (texts.c) -------------------------------------------------------------- */
enum { CMD_MOST_TEXT = 80 };
/* Whole numbers with all their digits, others as the shortest text that reads back as the same bits of
 * the type; 1 and 0; "1.5-2i". */
void        cmd_put_element(char text[CMD_MOST_TEXT], const void *data, rd_dtype type, int64_t i);
const char *cmd_element_text(const void *data, rd_dtype type, int64_t i);
#endif
