/* text_buffer.c - a growing string (string builder). */
#include "core/text_buffer.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for a text without memory.  Code may read a little behind its begin; the text is
 * dropped later, because `failed` is set. */
static char nothing[16];

/* Makes room for n more characters and the terminator; false: no memory. Texts that outgrow the
 * first 256 bytes mostly become long, so the room grows by a factor of 4 up to 4 KiB. text->room
 * is the memory's size, text->n what is used. `nothing` is a static empty text for a buffer that
 * has no memory. */
static bool reserve(rd_text *text, size_t n)
{
    enum { FIRST = 256, LONG = 4096 };
    size_t room = text->room ? text->room : FIRST;
    char  *at;

    while (room - text->n <= n)
        room *= room < LONG ? 4 : 2;
    if (room == text->room)
        return true;
    at = realloc(text->at == nothing ? NULL : text->at, room);
    if (!at) {
        text->at = text->at ? text->at : nothing;
        return false;
    }
    text->at   = at;
    text->room = room;
    return true;
}

/* True if there is room for n more characters and the terminator, made if need be. */
static inline bool has_room(rd_text *text, size_t n)
{
    return text->room - text->n > n || reserve(text, n);
}

/* Appends n characters; false: no memory. */
static inline bool put(rd_text *text, const char *s, size_t n)
{
    if (!has_room(text, n))
        return false;
    memcpy(text->at + text->n, s, n);
    text->n += n;
    text->at[text->n] = '\0';
    return true;
}

/* Appends a decimal number, written from its last digit; false: no memory. 24 characters hold
 * any 64-bit number. -(uint64_t)value is right for INT64_MIN, too. */
static bool put_number(rd_text *text, int64_t value)
{
    char     digits[24];
    int      at   = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    return put(text, digits + at, sizeof digits - (size_t)at);
}

/* Appends a string, with blanks before it up to a width. */
static bool put_padded(rd_text *text, int width, const char *s)
{
    const size_t n = strlen(s), left = width > 0 && (size_t)width > n ? (size_t)width - n : 0;

    if (!has_room(text, left + n))
        return false;
    memset(text->at + text->n, ' ', left);
    text->n += left;
    return put(text, s, n);
}

/* Appends the plain text of a format up to the next "%", and returns the rest of the format;
 * NULL: no memory. Pieces are so short that copying character by character is faster than
 * library calls. */
static const char *put_plain(rd_text *text, const char *format)
{
    while (*format && *format != '%') {
        char *at, *end;

        if (!has_room(text, 1))
            return NULL;
        at  = text->at + text->n;
        end = text->at + text->room - 1;
        while (at < end && *format && *format != '%')
            *at++ = *format++;
        *at     = '\0';
        text->n = (size_t)(at - text->at);
    }
    return format;
}

/* Appends a string; "(null)" for NULL. */
static bool put_string(rd_text *text, const char *s)
{
    s = s ? s : "(null)";
    return put(text, s, strlen(s));
}

/* Appends text with the formats %s, %d, %ld, %*s and %c, which nearly all calls have. By
 * vsnprintf() they took three quarters of the time to plan a small expression. False: another
 * format, or no memory; the caller then begins again. A format that is known takes two or three
 * characters. text->failed is left alone. */
static bool add_simply(rd_text *text, const char *format, va_list list)
{
    bool done = true;

    while (done) {
        format = put_plain(text, format);
        if (!format || !*format)
            return format;
        if (format[1] == 's')
            done = put_string(text, va_arg(list, const char *));
        else if (format[1] == 'd')
            done = put_number(text, va_arg(list, int));
        else if (format[1] == 'l' && format[2] == 'd')
            done = put_number(text, va_arg(list, long));
        else if (format[1] == '*' && format[2] == 's') {
            const int width = va_arg(list, int);
            done            = put_padded(text, width, va_arg(list, const char *));
        } else if (format[1] == 'c') {
            const char c = (char)va_arg(list, int);
            done         = put(text, &c, 1);
        } else
            return false;
        format += format[1] == 'l' || format[1] == '*' ? 3 : 2;
    }
    return false;
}

/* Appends by vsnprintf(), for any other format.  The text is formatted twice: first only to count
 * its bytes.  n counts the bytes of the text so far. */
static void add_by_printf(rd_text *text, const char *format, va_list list)
{
    va_list again;
    int     n;

    va_copy(again, list);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0 || !reserve(text, (size_t)n)) {
        text->failed = true;
        return;
    }
    vsnprintf(text->at + text->n, (size_t)n + 1, format, list);
    text->n += (size_t)n;
}

/* Appends formatted text; after a failure it does nothing.  A format that add_simply() does not
 * know is done again by vsnprintf(), from the begin.  n is the length before. */
void rd_text_add_list(rd_text *text, const char *format, va_list list)
{
    const size_t n = text->n;
    va_list      first;

    if (text->failed)
        return;
    va_copy(first, list);
    if (!add_simply(text, format, first)) {
        text->n = n;
        add_by_printf(text, format, list);
    }
    va_end(first);
}

/* Appends formatted text. */
void rd_text_add(rd_text *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    rd_text_add_list(text, format, list);
    va_end(list);
}

/* Frees the memory of a text, which is then empty. */
void rd_text_free(rd_text *text)
{
    if (text->at != nothing)
        free(text->at);
    *text = (rd_text){ 0 };
}

/* Frees a text that was added to another one, `of`, which fails too if this one has failed. */
void rd_text_end(rd_text *text, rd_text *of)
{
    of->failed |= text->failed;
    rd_text_free(text);
}
