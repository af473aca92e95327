/* output.c - where results go. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *suffixes_written(void)
{
    const char *text = "";

    for (int k = 0; cmd_formats[k]; k++)
        if (cmd_formats[k]->write || cmd_formats[k]->begin)
            text = cmd_text("%s%s", text, cmd_formats[k]->suffixes);
    return text;
}

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

/* Types that a format lacks, and that others hold without loss. */
static void fit_type(cmd_result *r, const cmd_format *format)
{
    const rd_dtype type = rd_type_of(r->x);

    if (type == RD_BF16 ||
        (type == RD_F16 && format->write && format->most != 1 && !strstr(format->suffixes, ".npz")))
        r->x = rd_cast(r->x, RD_F32);
}

static void plan_target(cmd_target *t, const cmd_output *out, cmd_results *results)
{
    *t = (cmd_target){ .path = out->path, .format = cmd_format_of_name(out->path), .place = -1 };
    if (!t->format)
        cmd_misuse("-o %s: the name's suffix says the format, one of %s", out->path,
                   suffixes_written());
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

cmd_targets cmd_plan_output(const cmd_options *options, cmd_results *results)
{
    cmd_targets all    = { .n  = options->n_outputs,
                           .at = cmd_room(((size_t)options->n_outputs + 1) * sizeof *all.at) };
    bool       *wanted = cmd_room((size_t)results->n * sizeof *wanted);
    bool        named  = options->n_outputs > 0;

    for (int k = 0; k < all.n; k++) {
        plan_target(&all.at[k], &options->outputs[k], results);
        for (int j = 0; j < k; j++)
            if (strcmp(all.at[j].path, all.at[k].path) == 0)
                cmd_misuse("-o %s: named twice", all.at[k].path);
        named &= options->outputs[k].name != NULL;
        for (int i = 0; i < all.at[k].results.n; i++)
            wanted[all.at[k].results.at + i - results->at] = true;
    }
    for (int k = 0; k < results->n && named; k++)
        if (!wanted[k])
            results->at[k].x = NULL; /* nobody wants it */
    return all;
}

static void map_result(cmd_target *t, cmd_result *r, int64_t bytes)
{
    const int64_t page = (int64_t)sysconf(_SC_PAGESIZE), begin = t->place / page * page,
                  end = t->place + bytes;
    const int fd      = open(t->aside, O_RDWR | O_CLOEXEC);
    const int failed  = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)end);

    if (failed) /* before it is computed, not after hours */
        cmd_fail("%s: no room for %lld bytes: %s", t->path, (long long)end, strerror(failed));
    char *map =
        mmap(NULL, (size_t)(end - begin), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)begin);
    close(fd);
    if (map == MAP_FAILED)
        t->place = -1;
    else
        r->array.data = map + (t->place - begin);
}

static void describe(cmd_result *r)
{
    r->array = (rd_array){ .type = rd_type_of(r->x), .shape = rd_shape_of(r->x) };
}

void cmd_make_room(cmd_targets *targets, cmd_results *results)
{
    for (int k = 0; k < results->n; k++)
        if (results->at[k].x)
            describe(&results->at[k]);
    for (int k = 0; k < targets->n; k++) {
        cmd_target *t = &targets->at[k];

        t->aside = cmd_aside(t->path);
        if (!t->format->begin)
            continue;
        cmd_result   *r     = &t->results.at[0];
        const int64_t bytes = cmd_count(r) * cmd_size_of(r->array.type);
        t->place            = t->format->begin(t->aside, &t->results);
        if (bytes > 0 && !r->array.data)
            map_result(t, r, bytes);
    }
    for (int k = 0; k < results->n; k++) {
        cmd_result *r = &results->at[k];
        if (r->x && !r->array.data)
            r->array.data = cmd_storage(cmd_count(r) * cmd_size_of(r->array.type), r->name);
    }
}

/* Of a format with elements side by side they are there already, if they were computed there. */
static void finish(cmd_target *t)
{
    const cmd_result *r     = &t->results.at[0];
    const int64_t     bytes = cmd_count(r) * cmd_size_of(r->array.type);

    if (t->format->write) {
        t->format->write(t->path, t->aside, &t->results);
        return;
    }
    int64_t   size;
    const int fd = cmd_open_to_read(t->aside, &size);
    close(fd);
    if (size < t->place + bytes) {
        const int out = open(t->aside, O_WRONLY | O_CLOEXEC);
        cmd_write_at(out, t->path, r->array.in, bytes, size);
        close(out);
    }
}

void cmd_write(cmd_targets *targets, const cmd_results *results)
{
    (void)results;
    for (int k = 0; k < targets->n; k++)
        finish(&targets->at[k]);
    for (int k = 0; k < targets->n; k++)
        cmd_aside_done(targets->at[k].path, targets->at[k].aside);
}
