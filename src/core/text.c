/* text.c - a growing string. */
#include "core/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for n more characters and the terminator. */
static bool reserve(rd_text *text, size_t n)
{
    size_t room = text->room ? text->room : 256;
    char  *at;

    while (room - text->n <= n)
        room *= 2;
    if (room == text->room)
        return true;
    at = realloc(text->at, room);
    if (!at)
        return false;
    text->at   = at;
    text->room = room;
    return true;
}

void rd_text_add(rd_text *text, const char *format, ...)
{
    va_list list;
    int     n;

    if (text->failed)
        return;
    va_start(list, format);
    n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (n < 0 || !reserve(text, (size_t)n)) {
        text->failed = true;
        return;
    }
    va_start(list, format);
    vsnprintf(text->at + text->n, (size_t)n + 1, format, list);
    va_end(list);
    text->n += (size_t)n;
}

void rd_text_free(rd_text *text)
{
    free(text->at);
    *text = (rd_text){ 0 };
}
