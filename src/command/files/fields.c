/* fields.c - text as lines of fields. */
#include "files/fields.h"
#include "files/file.h"
#include <ctype.h>
#include <string.h>

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(const cmd_fields *f, char c)
{
    return c == ' ' || (c == '\t' && f->separator != '\t');
}

static void skip_blanks(cmd_fields *f)
{
    while (f->at < f->end && is_blank(f, *f->at))
        f->at++;
}

/* At the end of a line: to the next one.  CR LF is one end. */
static void end_line(cmd_fields *f)
{
    if (f->at >= f->end)
        return;
    f->at += *f->at == '\r' && f->at + 1 < f->end && f->at[1] == '\n' ? 2 : 1;
    f->line++;
}

bool cmd_next_line(cmd_fields *f)
{
    while (f->at < f->end) {
        const char *p = f->at;

        while (p < f->end && is_blank(f, *p))
            p++;
        if (p < f->end && !ends_line(*p) && *p != '#')
            return true;
        while (p < f->end && !ends_line(*p))
            p++;
        f->at = p;
        end_line(f);
    }
    return false;
}

/* ---- A field --------------------------------------------------------------------------------- */
static bool ends_field(const cmd_fields *f, char c)
{
    return f->ends[(unsigned char)c];
}

/* Some programs write '...'; other text begins with an apostrophe, and has no second one at its end. */
static bool begins_quoted(const cmd_fields *f)
{
    const char *p = f->at + 1;

    if (f->at >= f->end || *f->at != '\'')
        return f->at < f->end && *f->at == '"';
    while (p < f->end && *p != '\'' && !ends_line(*p))
        p++;
    if (p >= f->end || *p != '\'')
        return false;
    for (p++; p < f->end && f->separator != ' ' && is_blank(f, *p);)
        p++;
    return p >= f->end || ends_field(f, *p);
}

/* Up to the quote that is not written twice. */
static void read_quoted(cmd_fields *f, cmd_field *field)
{
    const char    quote = *f->at++;
    const int64_t line  = f->line;

    for (field->at = f->at; f->at < f->end; f->at++) {
        if (*f->at == quote && !(quote == '"' && f->at + 1 < f->end && f->at[1] == quote))
            break;
        if (*f->at == quote)
            f->at++;
        else if (*f->at == '\n' || (*f->at == '\r' && !(f->at + 1 < f->end && f->at[1] == '\n')))
            f->line++;
    }
    if (f->at >= f->end || *f->at != quote)
        cmd_fail("%s: line %lld: the quote before %.20s has no end", f->path, (long long)line,
                 cmd_field_shown(&(cmd_field){ field->at, (size_t)(f->at - field->at), 0, 0 }));
    field->n      = (size_t)(f->at++ - field->at);
    field->quoted = true;
}

static void read_plain(cmd_fields *f, cmd_field *field)
{
    const char *p = f->at, *const end = f->end;

    while (p < end && !f->ends[(unsigned char)*p])
        p++;
    field->at = f->at;
    field->n  = (size_t)(p - f->at);
    f->at     = p;
    while (field->n > 0 && isspace((unsigned char)field->at[field->n - 1]))
        field->n--;
}

cmd_field cmd_next_field(cmd_fields *f)
{
    cmd_field field = { 0 };

    skip_blanks(f);
    if (begins_quoted(f))
        read_quoted(f, &field);
    else
        read_plain(f, &field);
    const char *behind = f->at;
    skip_blanks(f);
    field.last = f->at >= f->end || ends_line(*f->at);
    if (field.last)
        end_line(f);
    else if (f->separator != ' ' && *f->at == f->separator)
        f->at++;
    else if (f->at == behind || f->separator != ' ')
        cmd_fail("%s: line %lld: text behind the quoted %s", f->path, (long long)f->line,
                 cmd_field_shown(&field));
    return field;
}

const char *cmd_field_text(const cmd_field *f)
{
    char *text = cmd_copy(f->at, f->n), *to = text;

    for (const char *from = text; *from; from++) {
        *to++ = *from;
        from += f->quoted && from[0] == '"' && from[1] == '"';
    }
    *to = '\0';
    return text;
}

const char *cmd_field_shown(const cmd_field *f)
{
    enum { SHOWN = 40 };
    char  *text = cmd_copy(f->at, f->n < SHOWN ? f->n : SHOWN);
    size_t n    = strlen(text);

    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    return f->n > SHOWN ? cmd_text("%s...", text) : text;
}

/* ---- The text -------------------------------------------------------------------------------- */
cmd_text_rules cmd_text_style = { .decimal = '.' };

/* The one of the first line that is there, outside of quotes: a comma in it is no decimal point, unless
 * the user says that it is. */
static char find_separator(const cmd_fields *f)
{
    const char *candidates = cmd_text_style.decimal == ',' ? ";\t" : ",;\t";

    for (const char *c = candidates; *c; c++) {
        bool quoted = false;
        for (const char *p = f->at; p < f->end && (quoted || !ends_line(*p)); p++) {
            if (*p == *c && !quoted)
                return *c;
            quoted ^= *p == '"';
        }
    }
    return ' ';
}

cmd_fields cmd_fields_of(const char *path, const char *text, int64_t size)
{
    cmd_fields f = { path, text, text + size, cmd_text_style.separator, 1, { false } };

    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        cmd_fail("%s: text in UTF-16; it must be in UTF-8", path);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        f.at += 3;
    if (cmd_next_line(&f) && !f.separator)
        f.separator = find_separator(&f);
    f.ends['\n'] = f.ends['\r']        = true;
    f.ends['\t']                       = f.separator == ' ';
    f.ends[(unsigned char)f.separator] = true;
    return f;
}
