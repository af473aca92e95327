/* options.c - reads the command line. */
#include "options.h"
#include "files/file.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: rdim [OPTION]... FORMULA [NAME=]FILE...\n"
    "       rdim --list FILE...\n"
    "\n"
    "Computes FORMULA of arrays in files, in as few passes over them as it can.\n"
    "\n"
    "  rdim 'mean(sst, axis=0)' sst=coads_sst.npy             a table, or a summary of what is large\n"
    "  rdim 'mean(sst, axis=0)' sst=coads_sst.npy -o clim.npy\n"
    "  rdim 'mean(SST, axis=\"TIME\")' coads.nc -o clim.nc      names are those of the file\n"
    "  rdim 'm = mean(x, axis=0); s = std(x, axis=0)' x=a.npy -o out.npz\n"
    "\n"
    "Files: .npy, .npz, NetCDF (.nc), HDF5 (.h5), CSV (.csv, .tsv, .txt), and\n"
    "without a header NAME=FILE:TYPE:SHAPE, as x=a.bin:f4:100x200.\n"
    "NAME=FILE:VARIABLE is one variable of a file, NAME=A,B,C and NAME='a*.nc' join files\n"
    "along their record, and NAME=2.5 is a number.  - is standard input, or, as -:npy, -:csv or\n"
    "-:raw, output; pipes are read and written alike.\n"
    "\n"
    "  -o, --output [NAME=]FILE  write results there, in the format of the name's suffix\n"
    "      --only SLICE          only this part of each result is computed: '10, :'\n"
    "      --plot FILE           a picture of the results: .png, .svg or .pdf\n"
    "      --join AXIS           join files along this axis; one that none has is a new first one\n"
    "      --align HOW           where coordinates differ: exact (an error, the default), inner, left\n"
    "                            or position\n"
    "      --units HOW           convert (the default) or ignore those of operands and joined files\n"
    "      --separator CHAR      between fields of CSV files: a character, tab or space\n"
    "      --decimal-comma       numbers of CSV files are written as 1,5\n"
    "      --list                what is in the files\n"
    "      --explain[=svg]       how it would be computed, and nothing else; as a picture\n"
    "      --dot                 the formula as a graph for Graphviz, and nothing else\n"
    "      --time                how long it took\n"
    "      --progress            a bar, also where it would not be shown\n"
    "      --threads N           0: as many as there are processors (the default)\n"
    "      --backend NAME        auto (the default), cpu, cuda or opencl\n"
    "      --memory SIZE         what is unpacked to more than this goes to a file, as in 4G\n"
    "      --help, --version\n"
    "\n"
    "Ends with 0; 1: something failed; 2: it was not meant so; 130: Ctrl-C, and nothing is written.\n";

/* Numbers of the long options, above all characters of short ones. */
enum {
    ONLY = 256,
    PLOT,
    JOIN,
    ALIGN,
    UNITS,
    LIST,
    EXPLAIN,
    DOT,
    TIME,
    PROGRESS,
    THREADS,
    BACKEND,
    MEMORY,
    SEPARATOR,
    DECIMAL_COMMA,
    HELP,
    VERSION
};

/* The long options, for getopt_long(). */
static const struct option long_options[] = {
    { "output", required_argument, NULL, 'o' },
    { "only", required_argument, NULL, ONLY },
    { "plot", required_argument, NULL, PLOT },
    { "join", required_argument, NULL, JOIN },
    { "align", required_argument, NULL, ALIGN },
    { "units", required_argument, NULL, UNITS },
    { "list", no_argument, NULL, LIST },
    { "explain", optional_argument, NULL, EXPLAIN },
    { "dot", no_argument, NULL, DOT },
    { "time", no_argument, NULL, TIME },
    { "progress", no_argument, NULL, PROGRESS },
    { "threads", required_argument, NULL, THREADS },
    { "backend", required_argument, NULL, BACKEND },
    { "memory", required_argument, NULL, MEMORY },
    { "separator", required_argument, NULL, SEPARATOR },
    { "decimal-comma", no_argument, NULL, DECIMAL_COMMA },
    { "help", no_argument, NULL, HELP },
    { "version", no_argument, NULL, VERSION },
    { NULL, 0, NULL, 0 },
};

/* True if the first n characters of the text are a name that a formula may have: letters, digits
 * and _, and no digit first. */
static bool is_name(const char *text, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const char        first[2]  = { n ? text[0] : ' ', '\0' };

    return n > 0 && strspn(first, letters) == 1 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") >= n;
}

/* Reads -o [NAME=]FILE. The text before the first = is a name only if a formula may have it; else
 * it belongs to the path. */
static void add_output(cmd_options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    const bool  named  = equals && is_name(text, (size_t)(equals - text));
    cmd_output *out    = &o->outputs[o->n_outputs++];

    out->name = named ? cmd_copy(text, (size_t)(equals - text)) : NULL;
    out->path = named ? equals + 1 : text;
    if (!*out->path)
        cmd_misuse("-o %s: no file is named", text);
}

/* Reads --backend; another text than the four names ends the program. */
static rd_backend read_backend(const char *text)
{
    if (strcmp(text, "auto") == 0)
        return RD_BACKEND_AUTO;
    if (strcmp(text, "cpu") == 0)
        return RD_BACKEND_CPU;
    if (strcmp(text, "cuda") == 0)
        return RD_BACKEND_CUDA;
    if (strcmp(text, "opencl") == 0)
        return RD_BACKEND_OPENCL;
    cmd_misuse("--backend %s: it is auto, cpu, cuda or opencl", text);
}

/* Reads --align: what to do with operands of different coordinates. The names stand in the order of
 * cmd_align; another text ends the program. */
static cmd_align read_align(const char *text)
{
    static const char *const names[] = { "exact", "inner", "left", "position" };

    for (int k = 0; k < 4; k++)
        if (strcmp(text, names[k]) == 0)
            return (cmd_align)k;
    cmd_misuse("--align %s: it is exact, inner, left or position", text);
}

/* Reads --units. True: units are ignored. */
static bool read_units(const char *text)
{
    if (strcmp(text, "convert") != 0 && strcmp(text, "ignore") != 0)
        cmd_misuse("--units %s: it is convert or ignore", text);
    return *text == 'i';
}

/* Reads --threads, a number from 0 to 1024; 0 means as many as there are processors. */
static int32_t read_threads(const char *text)
{
    char      *end;
    const long n = strtol(text, &end, 10);

    if (end == text || *end || n < 0 || n > 1024)
        cmd_misuse("--threads %s: a number from 0 to 1024", text);
    return (int32_t)n;
}

/* Reads a size in bytes, "500M", "4G", "4GB", "1e9". M is 1024^2: each unit up to the given one
 * multiplies by 1024. */
static int64_t read_size(const char *text)
{
    static const char units[] = "KMGT";
    char             *end;
    const double      n    = strtod(text, &end);
    const char       *unit = *end ? strchr(units, *end) : NULL;
    double            size = n;

    for (const char *u = units; unit && u <= unit; u++)
        size *= 1024;
    if (end == text || !(n > 0) || (*end && (!unit || (end[1] && strcmp(end + 1, "B") != 0))) ||
        size > 1e18)
        cmd_misuse("--memory %s: a size like 500M or 4G", text);
    return (int64_t)size;
}

/* Reads the separator of CSV fields. Characters of numbers, names or lines are refused, as they
 * would split those. */
static char read_separator(const char *text)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        return '\t';
    if (strcmp(text, "space") == 0)
        return ' ';
    if (!*text || text[1] || isalnum((unsigned char)*text) || strchr("+-.\"'#_\r\n", *text) ||
        (unsigned char)*text > 126)
        cmd_misuse("--separator %s: a character such as ; or |, or tab, or space", text);
    return *text;
}

/* Prints the help, and ends the program. */
static _Noreturn void say_help(void)
{
    fputs(help, stdout);
    cmd_flush_output();
    exit(0);
}

/* Prints the version and all formats, and ends the program. */
static _Noreturn void say_version(void)
{
    printf("rdim %d.%d.%d\n", RD_VERSION >> 16, RD_VERSION >> 8 & 255, RD_VERSION & 255);
    for (int k = 0; cmd_formats[k]; k++)
        printf("  %s\n", cmd_formats[k]->name);
    cmd_flush_output();
    exit(0);
}

/* Applies one option that getopt_long() has found. ':' means that a value is missing, '?' (default)
 * that the option is unknown; optopt is then its letter. */
static void apply_option(cmd_options *o, int option, char **argv)
{
    switch (option) {
    case 'o': add_output(o, optarg); break;
    case ONLY: o->only = optarg; break;
    case PLOT: o->plot = optarg; break;
    case JOIN: o->join = optarg; break;
    case ALIGN: o->align = read_align(optarg); break;
    case UNITS: o->ignore_units = read_units(optarg); break;
    case LIST: o->list = true; break;
    case EXPLAIN: o->explain = optarg ? optarg : ""; break;
    case DOT: o->dot = true; break;
    case TIME: o->time = true; break;
    case PROGRESS: o->progress = true; break;
    case THREADS: o->threads = read_threads(optarg); break;
    case BACKEND: o->backend = read_backend(optarg); break;
    case SEPARATOR: cmd_text_style.separator = read_separator(optarg); break;
    case DECIMAL_COMMA: cmd_text_style.decimal = ','; break;
    case MEMORY: cmd_set_memory(read_size(optarg)); break;
    case HELP: say_help();
    case VERSION: say_version();
    case ':': cmd_misuse("%s wants a value", argv[optind - 1]);
    default:
        if (optopt && optopt < 256)
            cmd_misuse("-%c: no such option; a formula that begins with - goes behind --", optopt);
        cmd_misuse("%s: no such option", argv[optind - 1]);
    }
}

/* Returns the text as an argument for a shell, in quotes if needed; a quote inside becomes '\''. */
static const char *quoted(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    const char       *all     = "'";

    if (*text && !text[strspn(text, plain)])
        return text;
    for (const char *end; (end = strchr(text, '\'')); text = end + 1)
        all = cmd_text("%s%.*s'\\''", all, (int)(end - text), text);
    return cmd_text("%s%s'", all, text);
}

/* Returns the command line, cut off behind MOST characters: there may be thousands of files. */
static const char *command_line(int argc, char *const *argv)
{
    enum { MOST = 1 << 14 };
    const char *line = "rdim";

    for (int k = 1; k < argc; k++) {
        if (strlen(line) > MOST)
            return cmd_text("%s ...", line);
        line = cmd_text("%s %s", line, quoted(argv[k]));
    }
    return line;
}

/* Reads the whole command line, and refuses what contradicts itself. The first argument that is no
 * option is the formula, unless --list is there; all others are inputs. */
cmd_options cmd_read_options(int argc, char **argv)
{
    cmd_options o = { .command = command_line(argc, argv), /* before getopt_long() reorders argv */
                      .inputs  = cmd_room((size_t)argc * sizeof *o.inputs),
                      .outputs = cmd_room((size_t)argc * sizeof *o.outputs) };

    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1;)
        apply_option(&o, option, argv);
    if (!o.list && optind < argc)
        o.formula = argv[optind++];
    while (optind < argc)
        o.inputs[o.n_inputs++] = argv[optind++];
    if (cmd_text_style.separator == ',' && cmd_text_style.decimal == ',')
        cmd_misuse("--separator , and --decimal-comma: a comma is one or the other");
    if (!o.list && !o.formula)
        cmd_misuse("no formula: rdim 'mean(x, axis=0)' x=FILE");
    if (o.list && o.n_inputs == 0)
        cmd_misuse("--list: no file is named");
    return o;
}
