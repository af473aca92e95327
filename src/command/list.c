/* list.c - prints the variables of files: --list. */
#include "inputs.h"
#include <stdio.h>

/* A variable that is to be inspected. */
typedef struct inspection {
    cmd_file     *file;
    cmd_variable *v;
} inspection;

/* Lets the file's format find type and shape of a variable (look); it runs under cmd_try(), as a
 * failure would end the program. */
static void inspect(void *of)
{
    const inspection *s = of;

    s->file->format->look(s->file, s->v);
}

/* Prints a variable, " sst f32 (time 12, lat 90) K: title". An unreadable one does not end the
 * list. Formats that find the type late (look) are asked for it. */
static void list_variable(cmd_file *file, cmd_variable *v)
{
    const char *shape = "";

    if (file->format->look && !v->why) {
        const char *sentence = cmd_try(inspect, &(inspection){ file, v });
        if (sentence)
            v->why = cmd_reason(sentence, file->path);
        rd_error_clear(file->ctx); /* the first error stays, and would be that of later variables */
    }
    for (int k = 0; k < v->shape.n; k++)
        shape =
            cmd_text("%s%s%s%s%lld", shape, k ? ", " : "", v->axis[k].name ? v->axis[k].name : "",
                     v->axis[k].name ? " " : "", (long long)v->axis[k].n);
    printf("  %-16s %-5s (%s)", v->name, v->type == RD_AUTO ? "-" : cmd_type_name(v->type), shape);
    if (v->units)
        printf(" %s", v->units);
    if (v->title)
        printf(": %s", v->title);
    if (v->packing.type != RD_AUTO)
        printf("; packed");
    if (v->why)
        printf("; cannot be read: %s", v->why);
    else if (v->layout)
        printf("; %s", v->layout);
    putchar('\n');
}

/* Prints each file and its variables. */
void cmd_list(const cmd_inputs *in)
{
    for (int k = 0; k < in->n; k++)
        for (int i = 0; i < in->sources[k].n; i++) {
            cmd_file *file = in->sources[k].files[i];

            printf("%s: %s\n", file->path, file->format->name);
            for (int v = 0; v < file->n; v++)
                list_variable(file, &file->variable[v]);
        }
}
