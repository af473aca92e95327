/* output.c - where results go: plans the output files, allocates the results, and writes them.
 *
 * A large result is computed in its file if the format stores elements contiguously: the file is
 * mapped, and evaluation writes into the mapping. All other results are computed in memory and
 * written at the end. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the suffixes of all formats that can be written as one text, for a message. */
static const char *suffixes_written(void)
{
    const char *text = "";

    for (int k = 0; cmd_formats[k]; k++)
        if (cmd_formats[k]->write || cmd_formats[k]->begin)
            text = cmd_text("%s%s", text, cmd_formats[k]->suffixes);
    return text;
}

/* Finds a result by name, or ends the program. */
static cmd_result *result_named(const cmd_results *results, const char *name)
{
    const char *names = "";

    for (int k = 0; k < results->n; k++) {
        if (strcmp(results->at[k].name, name) == 0)
            return &results->at[k];
        names = cmd_text("%s%s%s", names, k ? ", " : "", results->at[k].name);
    }
    cmd_misuse("-o %s=...: the formula has no result of that name; it has %s", name, names);
}

/* Casts a result to f32, which loses nothing, if the format lacks its type. NumPy lacks bf16, and
 * so all formats do. NetCDF and HDF5, which hold any number of results (most is not 1), get no
 * f16. */
static void fit_type(cmd_result *r, const cmd_format *format)
{
    const rd_dtype type = rd_type_of(r->x);

    if (!cmd_numpy_has(type) ||
        (type == RD_F16 && format->write && format->most != 1 && !strstr(format->suffixes, ".npz")))
        r->x = rd_cast(r->x, RD_F32);
}

/* Plans one output: its format, its results, and their types. It ends the program for an unknown
 * format, one that cannot be written, or not to a pipe, and for more results than it holds (most;
 * 0: any number). */
static void plan_target(cmd_target *t, const cmd_output *out, cmd_results *results)
{
    *t = (cmd_target){ .path   = out->path,
                       .stream = cmd_stream_named(out->path),
                       .format = cmd_format_of_name(out->path) };
    if (!t->format && t->stream)
        cmd_misuse("-o %s: the format is said behind it: %s:npy, %s:csv or %s:raw", out->path,
                   t->stream, t->stream, t->stream);
    if (!t->format)
        cmd_misuse("-o %s: the name's suffix says the format, one of %s", out->path,
                   suffixes_written());
    if (t->stream && t->format->decode)
        cmd_misuse(
            "-o %s: a %s file is written in parts of any order, and a pipe is not: write it to "
            "a file",
            out->path, t->format->name);
    if (!t->format->write && !t->format->begin)
        cmd_fail("%s: cannot be written: %s", out->path, t->format->name);
    t->results.n  = out->name ? 1 : results->n;
    t->results.at = out->name ? result_named(results, out->name) : results->at;
    if (t->format->most && t->results.n > t->format->most)
        cmd_misuse("-o %s: %s holds one array, and there are %d results; say -o %s=%s for one of "
                   "them, or write all to .npz",
                   out->path, t->format->name, t->results.n, results->at[0].name, out->path);
    for (int k = 0; k < t->results.n; k++)
        fit_type(&t->results.at[k], t->format);
}

/* The standard stream or the path of the file that an output goes to. */
static const char *name_of(const cmd_target *t)
{
    return t->stream ? t->stream : t->path;
}

/* Plans all outputs. If each output is of one named result (named), results that no output has are
 * not computed: their x becomes NULL. */
cmd_targets cmd_plan_output(const cmd_options *options, cmd_results *results)
{
    cmd_targets all    = { .n  = options->n_outputs,
                           .at = cmd_room(((size_t)options->n_outputs + 1) * sizeof *all.at) };
    bool       *wanted = cmd_room((size_t)results->n * sizeof *wanted);
    bool        named  = options->n_outputs > 0;

    for (int k = 0; k < all.n; k++) {
        plan_target(&all.at[k], &options->outputs[k], results);
        for (int j = 0; j < k; j++)
            if (strcmp(name_of(&all.at[j]), name_of(&all.at[k])) == 0)
                cmd_misuse("-o %s: named twice", name_of(&all.at[k]));
        named &= options->outputs[k].name != NULL;
        for (int i = 0; i < all.at[k].results.n; i++)
            wanted[all.at[k].results.at + i - results->at] = true;
    }
    for (int k = 0; k < results->n && named; k++)
        if (!wanted[k])
            results->at[k].x = NULL; /* no output has it */
    return all;
}

/* Maps a result into its temporary file from byte `place` on, so that it is computed there. False:
 * the file system cannot map files. All room is allocated first, so that a full disk ends the
 * program before hours of computing. */
static bool map_result(const cmd_target *t, cmd_result *r, int64_t place)
{
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), begin = place / page * page,
                  end = place + cmd_result_bytes(r);
    const int fd      = open(t->aside, O_RDWR | O_CLOEXEC);
    const int failed  = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)end);

    if (failed)
        cmd_fail("%s: no room for %lld bytes: %s", t->path, (long long)end, strerror(failed));
    char *map =
        mmap(NULL, (size_t)(end - begin), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)begin);
    close(fd);
    if (map == MAP_FAILED)
        return false;
    if (cmd_fits_cache(end - begin))
        cmd_make_pages(map, end - begin);
    r->array.data = map + (place - begin);
    return true;
}

/* Creates the temporary file of an output, or the buffer of a stream. The buffer has room for text,
 * which may need four times the bytes of its elements. */
static const char *create_aside(const cmd_target *t)
{
    int64_t bytes = CMD_NPY_HEADER;

    for (int k = 0; k < t->results.n; k++)
        bytes += 4 * cmd_result_bytes(&t->results.at[k]);
    return t->stream ? cmd_stream_aside(bytes, t->path) : cmd_aside(t->path);
}

/* Sets the type and the shape of the array of a result; it has no memory yet. */
static void set_array(cmd_result *r)
{
    r->array = (rd_array){ .type = rd_type_of(r->x), .shape = rd_shape_of(r->x) };
}

/* Begins the file of an output. Either all its results are computed in the mapped file or none.
 * None are if one is computed in the file of another output (taken). Small results are written at
 * the end, if the format can. */
static void begin_target(cmd_target *t)
{
    enum { LARGE = 1 << 20 };
    const int n     = t->results.n;
    bool      taken = false, mapped = true;
    int64_t   bytes = 0;

    for (int k = 0; k < n; k++) {
        taken |= t->results.at[k].array.data != NULL;
        bytes += cmd_result_bytes(&t->results.at[k]);
    }
    t->place = cmd_room((size_t)n * sizeof *t->place);
    if (t->format->write && (taken || bytes < LARGE))
        return;
    cmd_watch_library(t->path);
    const bool begun = t->format->begin(t->path, t->aside, &t->results, t->place);
    cmd_watch_library(NULL);
    if (!begun)
        return;
    for (int k = 0; k < n && mapped && !taken; k++)
        if (cmd_result_bytes(&t->results.at[k]) > 0)
            mapped = map_result(t, &t->results.at[k], t->place[k]);
    t->mapped = mapped && !taken;
    for (int k = 0; k < n && !mapped; k++)
        t->results.at[k].array.data = NULL;
}

/* Allocates all results: first in mapped files of outputs whose format stores elements
 * contiguously, then in memory. Results whose x is NULL are not computed. */
void cmd_make_room(cmd_targets *targets, cmd_results *results)
{
    for (int k = 0; k < results->n; k++)
        if (results->at[k].x)
            set_array(&results->at[k]);
    for (int k = 0; k < targets->n; k++) {
        targets->at[k].aside = create_aside(&targets->at[k]);
        if (targets->at[k].format->begin)
            begin_target(&targets->at[k]);
    }
    for (int k = 0; k < results->n; k++) {
        cmd_result *r = &results->at[k];
        if (r->x && !r->array.data)
            r->array.data = cmd_storage(cmd_result_bytes(r), r->name);
    }
}

/* Writes the results of an output that were not computed in the mapped file. A format without
 * `write` has one result, and its elements begin at byte place[0]. If only the mapping failed, the
 * file already has its full length. */
static void write_target(cmd_target *t)
{
    const cmd_result *r = &t->results.at[0];

    if (t->mapped)
        return;
    if (t->format->write) {
        cmd_watch_library(t->path);
        t->format->write(t->path, t->aside, &t->results);
        cmd_watch_library(NULL);
        return;
    }
    const int fd = open(t->aside, O_WRONLY | O_CLOEXEC);
    cmd_write_at(fd, t->path, r->array.in, cmd_result_bytes(r), t->place[0]);
    cmd_close_written(fd, t->path);
}

/* Writes all results, then renames the files, or copies buffers to their streams. */
void cmd_write(cmd_targets *targets, const cmd_results *results)
{
    (void)results;
    for (int k = 0; k < targets->n; k++)
        write_target(&targets->at[k]);
    for (int k = 0; k < targets->n; k++)
        if (targets->at[k].stream)
            cmd_stream_done(targets->at[k].stream, targets->at[k].aside);
        else
            cmd_aside_done(targets->at[k].path, targets->at[k].aside);
}
