/* file.h - files as variables: named arrays with types, axes and attributes.
 *
 * A format is one entry of the table in formats.c. `open` lists the variables of a file and reads
 * no elements. `read` makes a leaf (an operand) of one variable. The leaf is memory-mapped where
 * the bytes of the file can be used as they are. */
#ifndef CMD_FILE_H
#define CMD_FILE_H
#include "base.h"
#include "files/attributes.h"

/* Room for NumPy's header; labels of an axis. */
enum { CMD_NPY_HEADER = 1024, CMD_MOST_WORDS = 64 };

/* An axis of a variable or a result: its length, and what is known about its coordinates. */
typedef struct cmd_axis {
    const char   *name; /* NULL: unknown */
    int64_t       n;
    const double *at;                                /* coordinates; NULL: unknown */
    const char *units, *title, *standard, *calendar; /* CF attributes of the coordinates, or NULL */
    const char *words;    /* labels of the coordinates 1, 2, ..., blanks between; NULL: none */
    const double *middle; /* middles of the cells, if coordinates are the cells' ends; or NULL */
    bool          record; /* unlimited dimension: files are joined along it */
} cmd_axis;

/* A number of an attribute, without rounding: an integer or a real. Only an integer above INT64_MAX
 * is unsigned. */
typedef struct cmd_exact {
    rd_dtype type; /* RD_I64, RD_U64 or RD_F64 */
    union {
        int64_t  i;
        uint64_t u;
        double   f;
    };
} cmd_exact;

/* One end of the range of valid values. */
typedef struct cmd_end_of_range {
    bool      is, meant; /* there is one; it limits unpacked values, else stored numbers */
    cmd_exact value;
} cmd_end_of_range;

/* How stored numbers become values: a missing one becomes NaN, any other one number * scale +
 * add. */
typedef struct cmd_packing {
    rd_dtype         type; /* of unpacked values; RD_AUTO: no scale */
    double           scale, add;
    int              n_missing;
    cmd_exact       *missing;
    bool             has_fill; /* the attribute _FillValue is there */
    bool             by_need;  /* leave the stored type if no value is missing */
    cmd_end_of_range low, high;
} cmd_packing;

/* A variable of a file; filled by the format's `open` or `look`. */
typedef struct cmd_variable {
    const char *name;
    rd_dtype    type; /* as stored; RD_AUTO: the elements are no numbers */
    rd_shape    shape;
    cmd_axis   *axis;                     /* one for each axis of the shape */
    const char *units, *title, *standard; /* attributes; NULL: missing */
    const char *calendar;                 /* of times; NULL: missing */
    const char *layout;                   /* "mapped", "chunks, deflated": how it is stored */
    const char *same_as; /* this entry is another name of the group of that path; or NULL */
    const char *why;     /* reason why it cannot be read; or NULL */
    cmd_packing packing;
    int64_t     id, offset, bytes; /* set by the format, for itself */
    int32_t     order;
    bool        swapped, is_axis; /* other byte order; coordinates of the axis of its name */
    rd_expr    *x;                /* made by cmd_read(); NULL before */
    cmd_said   *said;             /* made by cmd_said_about(); NULL before */
} cmd_variable;

/* Filters that were applied to a chunk before it was written, in the order of application. */
typedef enum cmd_filter { CMD_SHUFFLED, CMD_DEFLATED } cmd_filter;
/* Filters of a chunk; more are left to the library. */
enum { CMD_MOST_FILTERS = 2 };

/* The place of one chunk in the file. */
typedef struct cmd_chunk {
    int64_t  at, bytes; /* offset and packed size in the file */
    uint32_t left_out;  /* bit k: filter k was not applied */
} cmd_chunk;

/* The place of a variable's elements in its file. If it has neither an offset nor chunks, the
 * library of the format must decode the elements. */
typedef struct cmd_place {
    int64_t          offset; /* of a contiguous variable; -1: it is not contiguous */
    const cmd_chunk *chunk;  /* in C order; NULL: none.  The last ones exceed the array */
    int64_t          n, extent[RD_MAX_RANK]; /* number of chunks; their shape */
    int64_t          swapped; /* size of the units with swapped bytes; 0: this machine's order */
    int              n_filter;
    cmd_filter       filter[CMD_MOST_FILTERS];
} cmd_place;

typedef struct cmd_format cmd_format;
/* An open file and its variables; room: the length of the allocated list. */
typedef struct cmd_file {
    rd_ctx           *ctx;
    const char       *path;
    const cmd_format *format;
    int               n, room;
    cmd_variable     *variable;
    cmd_said         *said;  /* of the file itself, made by cmd_said_about(); NULL before */
    void             *state; /* set by the format, for itself */
} cmd_file;

typedef struct cmd_results cmd_results;
/* A format of files: functions to read and write it. */
struct cmd_format {
    const char *name, *suffixes; /* suffixes: each with a blank behind it, ".nc .nc4 " */
    /* True if a file with these first bytes is of the format. NULL: only the name tells. */
    bool (*matches)(const uint8_t *bytes, size_t n);
    /* True if the folder is of the format. NULL: no folder is. */
    bool (*is_folder)(const char *path);
    void (*open)(cmd_file *file);
    rd_expr *(*read)(cmd_file *file, cmd_variable *v); /* NULL: `place` and `decode` exist */
    /* Writes the elements of a part, and maybe others beside them, to their places behind `to`.
     * NULL: the format has no such way to fill leaves that are read late (late.h). */
    void (*read_part)(const cmd_file *file, const cmd_variable *v, const rd_part *part, void *to);
    /* For formats that a library reads: these run in the reader process, as do `open` and
     * `coordinates` (reader.h). `load` loads the library before any of them. `close` and `reopen`
     * keep the number of open files small. */
    void (*load)(const char *path);
    void (*close)(cmd_file *file);
    void (*reopen)(cmd_file *file);
    cmd_place (*place)(const cmd_file *file, const cmd_variable *v);
    /* Decodes n rows along the first axis. A variable without axes is one row. */
    void (*decode)(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to);
    /* Reads the coordinates of v's axes, where a file has them. NULL: it never has. */
    void (*coordinates)(cmd_file *file, cmd_variable *v);
    /* All attributes of v, or of the file where v is NULL. NULL: the format has none. */
    cmd_said *(*say)(cmd_file *file, const cmd_variable *v);
    /* The elements of a variable of text, as pointers. NULL: such files have no text. */
    const void *(*texts)(const cmd_file *file, const cmd_variable *v);
    /* True if the format can store attributes and auxiliary variables of results (beside.h). */
    bool keeps;
    /* Writes results to the temporary file `aside`, which will become `path`. NULL: the format
     * cannot. */
    void (*write)(const char *path, const char *aside, const cmd_results *results);
    /* Finds type and shape of a variable, where `open` does not. NULL: it always does. */
    void (*look)(cmd_file *file, cmd_variable *v);
    int most; /* most results in a file; 0: any number */
    /* Writes all but the elements, and sets the offset of each result's elements: results are
     * computed right in the file. False: these results cannot be, and are written later. NULL: none
     * can. */
    bool (*begin)(const char *path, const char *aside, const cmd_results *results, int64_t *place);
    /* Finds the variable of that name by rules of the format. NULL: cmd_find() does it. */
    cmd_variable *(*find)(const cmd_file *file, const char *name);
};
extern const cmd_format *const cmd_formats[]; /* ends with NULL */

/* ---- formats.c ------------------------------------------------------------------------------- */
/* "-:csv" without ":csv"; NULL: the path names no stream. */
const char *cmd_stream_named(const char *path);
/* Opens a file of any format; ends the program if there is none, or if its format is unknown. */
cmd_file *cmd_open(rd_ctx *ctx, const char *path);
/* The format that a name's suffix tells, or, for a stream, the suffix behind it: "-:csv". NULL:
 * none. */
const cmd_format *cmd_format_of_name(const char *path);
/* Opens "file.bin:f4:100x200", a file without a header. NULL: the text is not of this form. */
cmd_file *cmd_open_raw(rd_ctx *ctx, const char *text);
/* The variable of that path, or the only one of that name in some group; NULL: none. Ends the
 * program if several groups have one. */
cmd_variable *cmd_find(const cmd_file *file, const char *name);
/* Likewise, without rules of the format. */
cmd_variable *cmd_find_by_path(const cmd_file *file, const char *name);
/* The variable as formulas see it: its leaf, unpacked. It is made only once. */
rd_expr *cmd_read(cmd_file *file, cmd_variable *v);
/* The variable as it is stored: its leaf, not unpacked. Characters are bytes, and texts are u64s
 * that hold pointers. NULL: the elements are of another kind. */
rd_expr *cmd_read_stored(cmd_file *file, cmd_variable *v);
/* The attributes of v, or of the file if v is NULL; NULL: it has none. */
const cmd_said *cmd_said_about(cmd_file *file, cmd_variable *v);
/* Adds n variables, zeroed, and returns the first of them. The others may move in memory. */
cmd_variable *cmd_add_variables(cmd_file *file, int n);
/* Middles of the bounds (n, 2) of an axis, if each coordinate is the second of its bounds, as a
 * time that ends an interval. NULL: it is not so, or there are no bounds. */
const double *cmd_middle_of(const cmd_axis *axis, const double *ends);
/* A sentence without the path of the file that it begins with. */
const char *cmd_reason(const char *sentence, const char *path);
/* The name of a path without directories and suffix. */
const char *cmd_stem(const char *path);
/* True if the path has one of the suffixes, each with a blank behind it. */
bool cmd_has_suffix(const char *path, const char *suffixes);
/* Sets type, shape and axes without names. */
void cmd_set_shape(cmd_variable *v, rd_dtype type, const rd_shape *shape);

/* Writes NumPy's header of an array of that type and shape in C order. Returns its length. */
int64_t cmd_npy_header(rd_dtype type, const rd_shape *shape, char header[CMD_NPY_HEADER]);

/* ---- fields.c -------------------------------------------------------------------------------- */
/* Separator and decimal point of tables; options of the command set them. */
typedef struct cmd_text_rules {
    char separator; /* 0: found from the first line */
    char decimal;   /* the decimal point: '.' or ',' */
} cmd_text_rules;
extern cmd_text_rules cmd_text_style;

/* ---- pieces.c -------------------------------------------------------------------------------- */
/* Reads bytes of an open file into memory by all threads. `swapped` is the size of units to be byte
 * swapped; 0: none are. */
void cmd_read_pieces(int fd, const char *path, void *to, int64_t bytes, int64_t offset,
                     int64_t swapped);
/* Likewise, for chunks that are adjacent in the array. The last one may be cut. */
void cmd_read_runs(int fd, const char *path, void *to, int64_t bytes, const cmd_place *place);
/* Reads n bytes in the calling thread. Returns 0, an errno, or -1: the file is too short. */
int cmd_read_piece(int fd, char *to, int64_t n, int64_t offset);
/* Ends the program with a sentence about an error of cmd_read_piece(), unless it is 0. */
void cmd_fail_of_piece(const char *path, int error);
/* Calls work() in as many threads as there are processors. Each takes pieces until none is left.
 * Ends the program after Ctrl-C. */
void cmd_share_work(void *(*work)(void *of), void *of, int64_t pieces);

/* Makes all pages of a mapped output file, in order. Strided loops would else fault them in one by
 * one, which takes three times as long. Does what the system can. */
void cmd_make_pages(void *to, int64_t bytes);

/* ---- streams.c ------------------------------------------------------------------------------- */
/* True if the path is "-", which is standard input or output, or a pipe. */
bool cmd_is_stream(const char *path);
/* Reads the whole stream, and returns an open file with its bytes. */
int cmd_open_stream(const char *path, int64_t *size);
/* The path that a library may open in place of this one. For a stream, it is the file that holds
 * its bytes. */
const char *cmd_path_to_open(const char *path);
/* A temporary file of about so many bytes, which is copied to the stream by cmd_stream_done(). */
const char *cmd_stream_aside(int64_t bytes, const char *path);
/* Copies the temporary file to the stream. */
void cmd_stream_done(const char *path, const char *aside);

/* ---- storage.c ------------------------------------------------------------------------------- */
/* Opens a regular file, or a stream, to read; ends the program if it cannot. */
int cmd_open_to_read(const char *path, int64_t *size);
/* Reads, or writes, all bytes at an offset, in this thread; ends the program if it cannot. */
void cmd_read_at(int fd, const char *path, void *to, int64_t bytes, int64_t offset);
void cmd_write_at(int fd, const char *path, const void *from, int64_t bytes, int64_t offset);
/* Closes a written file. Some file systems report lost data only here. */
void cmd_close_written(int fd, const char *path);
/* Maps bytes of an open file for reading; NULL: the file system cannot. */
const void *cmd_map(int fd, int64_t offset, int64_t bytes);
/* Unmaps what cmd_map() returned. */
void cmd_unmap(const void *at, int64_t bytes);
/* True if the file cache can hold so many bytes that are to be written. Beyond, writers must
 * wait. */
bool cmd_fits_cache(int64_t bytes);
/* Allocates zeroed room for decoded elements: memory, or a mapped file without a name if memory
 * should not hold so much. */
void *cmd_storage(int64_t bytes, const char *what);
/* Reserves addresses for elements that are decoded later, or in part. There is no memory until
 * cmd_fill_reserve(), which gives some for `written` bytes. */
void *cmd_reserve(int64_t bytes, const char *what);
void  cmd_fill_reserve(void *at, int64_t bytes, int64_t written, const char *what);
/* Likewise, as an open file to write to. The second function is for `written` bytes of it alone. */
int cmd_storage_file(int64_t bytes, const char *what);
int cmd_storage_file_for(int64_t bytes, int64_t written, const char *what);
/* Sets the bytes above which cmd_storage() uses a file; 0: half of what the process may have. */
void cmd_set_memory(int64_t bytes);
/* Makes a leaf of elements in memory, without a copy. */
rd_expr *cmd_leaf(rd_ctx *ctx, const cmd_variable *v, const void *data);
/* Reads a dense variable at v->offset of a file. It is mapped if its bytes can be used as they are,
 * else read and byte swapped. */
rd_expr *cmd_read_dense(rd_ctx *ctx, const char *path, const cmd_variable *v);
#endif
