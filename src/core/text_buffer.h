/* text_buffer.h - a growing string for dumps and messages, which remembers if memory ran out. */
#ifndef RD_CORE_TEXT_BUFFER_H
#define RD_CORE_TEXT_BUFFER_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A growing string.  Starts as zeros. */
typedef struct rd_text {
    char  *at;      /* malloc'ed, NUL-terminated; NULL while empty */
    size_t n, room; /* bytes without and with spare room */
    bool   failed;  /* memory ran out; what was added is lost */
} rd_text;

__attribute__((format(printf, 2, 3))) void rd_text_add(rd_text *text, const char *format, ...);
__attribute__((format(printf, 2, 0))) void rd_text_add_list(rd_text *text, const char *format,
                                                            va_list list);
void                                       rd_text_free(rd_text *text);
/* Frees a text that was added to another one, which fails too if this one has failed. */
void rd_text_end(rd_text *text, rd_text *of);
#endif
