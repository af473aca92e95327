/* file.h - files as variables: arrays with names, types, axes and what is said about them.
 *
 * A format is one entry of the table in formats.c.  `open` lists what is in a file and reads no
 * elements; `read` makes a leaf of one variable, mapped where its bytes can be used as they are. */
#ifndef CMD_FILE_H
#define CMD_FILE_H
#include "base.h"
#include "files/attributes.h"

enum { CMD_NPY_HEADER = 1024, CMD_MOST_WORDS = 64 };

typedef struct cmd_axis {
    const char   *name; /* NULL: none is known */
    int64_t       n;
    const double *at;                                  /* coordinates; NULL: none are known */
    const char   *units, *title, *standard, *calendar; /* of the coordinates, NULL: none */
    const char   *words;                               /* for coordinates 1, 2, ...; NULL: none */
    const double
        *middle; /* of the bounds, where coordinates are the ends of these; NULL: they are not */
    bool record; /* may grow: files are joined along it */
} cmd_axis;

/* A number of an attribute, exactly: an integer, unsigned where no signed one is it, or a real. */
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
    bool      is, meant; /* the latter: of what is unpacked; else of what is stored */
    cmd_exact value;
} cmd_end_of_range;

/* How stored numbers become values: NaN where one is missing, else number * scale + add. */
typedef struct cmd_packing {
    rd_dtype         type; /* RD_AUTO: no scale */
    double           scale, add;
    int              n_missing;
    cmd_exact       *missing;
    bool             has_fill; /* the attribute _FillValue is there */
    bool             by_need;  /* nothing is done to a variable in which no value is missing */
    cmd_end_of_range low, high;
} cmd_packing;

typedef struct cmd_variable {
    const char *name;
    rd_dtype    type; /* as stored; RD_AUTO: elements that are no numbers */
    rd_shape    shape;
    cmd_axis   *axis;                     /* as many as the shape has */
    const char *units, *title, *standard; /* NULL: not said */
    const char *calendar;                 /* of times; NULL: not said */
    const char *layout;                   /* "mapped", "chunks, deflated": how it is stored */
    const char *same_as; /* another name of the group of that path; NULL: it is none */
    const char *why;     /* it cannot be read; NULL: nothing is known against it */
    cmd_packing packing;
    int64_t     id, offset, bytes; /* the format's own */
    int32_t     order;
    bool        swapped, is_axis; /* the latter: the coordinates of an axis of its name */
    rd_expr    *x;                /* once it was wanted */
    cmd_said   *said;             /* once it was asked for; NULL: it was not */
} cmd_variable;

/* Filters through which a chunk went before it was written, in that order. */
typedef enum cmd_filter { CMD_SHUFFLED, CMD_DEFLATED } cmd_filter;
enum { CMD_MOST_FILTERS = 2 };

typedef struct cmd_chunk {
    int64_t  at, bytes; /* in the file */
    uint32_t left_out;  /* bit k: filter k was */
} cmd_chunk;

/* The place of a variable's elements in its file.  If it has neither an offset nor chunks, elements
 * must be decoded. */
typedef struct cmd_place {
    int64_t          offset; /* in one run, from there on; -1: they are not */
    const cmd_chunk *chunk;  /* in C order; NULL: there are none.  Those at ends jut out */
    int64_t          n, extent[RD_MAX_RANK];
    int64_t    swapped; /* bytes of what lies there in the other order, each; 0: nothing does */
    int        n_filter;
    cmd_filter filter[CMD_MOST_FILTERS];
} cmd_place;

typedef struct cmd_format cmd_format;
typedef struct cmd_file {
    rd_ctx           *ctx;
    const char       *path;
    const cmd_format *format;
    int               n, room;
    cmd_variable     *variable;
    cmd_said         *said;  /* about the file itself, once it was asked for */
    void             *state; /* the format's own */
} cmd_file;

typedef struct cmd_results cmd_results;
struct cmd_format {
    const char *name, *suffixes; /* suffixes: ".nc .nc4 " */
    /* Is it one, by its first bytes?  NULL: only the name says so. */
    bool (*matches)(const uint8_t *bytes, size_t n);
    /* Likewise, of a folder; NULL: it is none. */
    bool (*is_folder)(const char *path);
    void (*open)(cmd_file *file);
    rd_expr *(*read)(cmd_file *file, cmd_variable *v); /* NULL: the next three are there */
    /* The elements in a part, and maybe others beside them, each to its place behind `to`.  NULL: of
     * leaves that are read late (late.h) there is no other one. */
    void (*read_part)(const cmd_file *file, const cmd_variable *v, const rd_part *part, void *to);
    /* Of formats that a library reads: these run in the reader, and `open` and `coordinates` do, too
     * (reader.h).  `load`, before any of them, loads the library.  Where many files are read, `close` and
     * `reopen` take turns between other calls. */
    void (*load)(const char *path);
    void (*close)(cmd_file *file);
    void (*reopen)(cmd_file *file);
    cmd_place (*place)(const cmd_file *file, const cmd_variable *v);
    /* n rows along the first axis; a variable without axes is one row. */
    void (*decode)(const cmd_file *file, const cmd_variable *v, int64_t first, int64_t n, void *to);
    /* Coordinates of v's axes, where a file has them; NULL: it never has. */
    void (*coordinates)(cmd_file *file, cmd_variable *v);
    /* What the file says about v, or, where v is NULL, about itself.  NULL: it says nothing. */
    cmd_said *(*say)(cmd_file *file, const cmd_variable *v);
    /* Elements that are texts, as pointers; NULL: there are no texts in such files. */
    const void *(*texts)(const cmd_file *file, const cmd_variable *v);
    /* Its files have room for what results keep beside numbers (beside.h). */
    bool keeps;
    /* Writes results to `aside`, which is to be `path`; NULL: cannot. */
    void (*write)(const char *path, const char *aside, const cmd_results *results);
    /* Type and shape of a variable, where `open` leaves them open; NULL: it never does. */
    void (*look)(cmd_file *file, cmd_variable *v);
    int most; /* results a file has room for; 0: any number */
    /* Writes all but the elements, and says where those of each result begin: they are evaluated
     * right into the file.  False: not of these, they are written later.  NULL: never. */
    bool (*begin)(const char *path, const char *aside, const cmd_results *results, int64_t *place);
    /* The variable of that name, where a file's own rules say which; NULL: cmd_find() does. */
    cmd_variable *(*find)(const cmd_file *file, const char *name);
};
extern const cmd_format *const cmd_formats[]; /* ends with NULL */

/* ---- formats.c ------------------------------------------------------------------------------- */
/* "-:csv" without ":csv"; NULL: that is no stream. */
const char *cmd_stream_named(const char *path);
/* A file of a format that is there; ends the program if it is not, or of none. */
cmd_file *cmd_open(rd_ctx *ctx, const char *path);
/* The format by a name's suffix, or, behind a stream, by a suffix alone: "-:csv"; NULL: none. */
const cmd_format *cmd_format_of_name(const char *path);
/* "file.bin:f4:100x200": a file without a header; NULL: that is not what is written there. */
cmd_file *cmd_open_raw(rd_ctx *ctx, const char *text);
/* The variable of that path, or the only one of that name in some group; NULL: none.  Ends the program
 * where several groups have one. */
cmd_variable *cmd_find(const cmd_file *file, const char *name);
/* The same without a format's own rules. */
cmd_variable *cmd_find_by_path(const cmd_file *file, const char *name);
/* The variable as formulas see it: its leaf, unpacked.  It is made once. */
rd_expr *cmd_read(cmd_file *file, cmd_variable *v);
/* The variable as it is stored: its leaf, not unpacked, with characters as bytes and texts as u64s that point to
 * them.  NULL: elements are of another kind. */
rd_expr *cmd_read_stored(cmd_file *file, cmd_variable *v);
/* The attributes that the file has of v, or, if v is NULL, of itself; NULL: it has none. */
const cmd_said *cmd_said_about(cmd_file *file, cmd_variable *v);
/* Room for n variables more, zeroed; the first of them.  The others may move. */
cmd_variable *cmd_add_variables(cmd_file *file, int n);
/* Middles of the bounds (n, 2) of an axis, where each coordinate is the second of its bounds: what it stands
 * for lies before it.  NULL: it is not so, or there are no bounds. */
const double *cmd_middle_of(const cmd_axis *axis, const double *ends);
/* A sentence without the path of a file that it begins with. */
const char *cmd_reason(const char *sentence, const char *path);
/* The name of a path without directories and suffix. */
const char *cmd_stem(const char *path);
bool        cmd_has_suffix(const char *path, const char *suffixes);
/* Axes of `shape`, without names. */
void cmd_set_shape(cmd_variable *v, rd_dtype type, const rd_shape *shape);

/* NumPy's header of an array of that type and shape, its elements in C order; its length. */
int64_t cmd_npy_header(rd_dtype type, const rd_shape *shape, char header[CMD_NPY_HEADER]);

/* ---- fields.c -------------------------------------------------------------------------------- */
/* How tables are written; the user may say so. */
typedef struct cmd_text_rules {
    char separator; /* 0: the one that the first line has */
    char decimal;   /* before fractions: '.' or ',' */
} cmd_text_rules;
extern cmd_text_rules cmd_text_style;

/* ---- pieces.c -------------------------------------------------------------------------------- */
/* Bytes of an open file into memory; those of each element of `swapped` bytes in the other order, 0:
 * as they are. */
void cmd_read_pieces(int fd, const char *path, void *to, int64_t bytes, int64_t offset,
                     int64_t swapped);
/* Likewise, where each chunk is one run, of which the last may be part. */
void cmd_read_runs(int fd, const char *path, void *to, int64_t bytes, const cmd_place *place);
/* A piece of n bytes, by one thread: 0, an errno, or -1: the file is too short. */
int cmd_read_piece(int fd, char *to, int64_t n, int64_t offset);
/* Ends the program with a sentence of what that came to, unless it is 0. */
void cmd_fail_of_piece(const char *path, int error);
/* As many calls at once as the machine has processors, of which each takes pieces until there are no
 * more; ends the program if Ctrl-C came. */
void cmd_share_work(void *(*work)(void *of), void *of, int64_t pieces);

/* All pages of a mapped file that is to be written, in their order: loops that go across it would
 * else meet them one by one, which takes three times as long.  Does what the system can. */
void cmd_make_pages(void *to, int64_t bytes);

/* ---- streams.c ------------------------------------------------------------------------------- */
/* "-", which is standard input or output, or a pipe. */
bool cmd_is_stream(const char *path);
/* All that comes from it, as an open file of that size. */
int cmd_open_stream(const char *path, int64_t *size);
/* The path that a library may open in place of this one: for a stream, that of the file which keeps
 * its bytes. */
const char *cmd_path_to_open(const char *path);
/* A file to write to, of about so many bytes, and its way into the stream. */
const char *cmd_stream_aside(int64_t bytes, const char *path);
void        cmd_stream_done(const char *path, const char *aside);

/* ---- storage.c ------------------------------------------------------------------------------- */
/* Opens a regular file, or a stream, to read; ends the program if it cannot. */
int  cmd_open_to_read(const char *path, int64_t *size);
void cmd_read_at(int fd, const char *path, void *to, int64_t bytes, int64_t offset);
void cmd_write_at(int fd, const char *path, const void *from, int64_t bytes, int64_t offset);
/* Some file systems say only here that what was written is lost. */
void cmd_close_written(int fd, const char *path);
/* Bytes of an open file, mapped to be read; NULL: the file system cannot. */
const void *cmd_map(int fd, int64_t offset, int64_t bytes);
void        cmd_unmap(const void *at, int64_t bytes);
/* Does the file cache hold so much that is to be written?  Beyond, writers must wait. */
bool cmd_fits_cache(int64_t bytes);
/* Room for what is decoded, zeroed: memory, or, where it is more than memory should hold, a file
 * without a name that is mapped. */
void *cmd_storage(int64_t bytes, const char *what);
/* Addresses for what is decoded later, or in part: there is no memory until cmd_fill_reserve(), which
 * gives some for so many bytes that are written. */
void *cmd_reserve(int64_t bytes, const char *what);
void  cmd_fill_reserve(void *at, int64_t bytes, int64_t written, const char *what);
/* The same as cmd_storage() as an open file to write to; the latter where only so many bytes are. */
int cmd_storage_file(int64_t bytes, const char *what);
int cmd_storage_file_for(int64_t bytes, int64_t written, const char *what);
/* Bytes beyond which cmd_storage() takes a file; 0: half of what the process may have. */
void cmd_set_memory(int64_t bytes);
/* A leaf of elements that stay where they are. */
rd_expr *cmd_leaf(rd_ctx *ctx, const cmd_variable *v, const void *data);
/* Reads a dense variable at v->offset of a file: mapped if its bytes can be used as they are, else
 * read and turned. */
rd_expr *cmd_read_dense(rd_ctx *ctx, const char *path, const cmd_variable *v);
#endif
