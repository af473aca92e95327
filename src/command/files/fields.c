/* fields.c - splits text into lines and fields: `a,"b,c"` has the fields `a` and `b,c`. */
#include "files/fields.h"
#include "files/file.h"
#include <ctype.h>
#include <string.h>

/* True if the character ends a line: LF, or CR, which may precede an LF. */
static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

/* True if the character is a space, or a tab that is not the separator of fields. */
static bool is_blank(const cmd_fields *f, char c)
{
    return c == ' ' || (c == '\t' && f->separator != '\t');
}

/* Moves to the next character that is no blank. */
static void skip_blanks(cmd_fields *f)
{
    while (f->at < f->end && is_blank(f, *f->at))
        f->at++;
}

/* Goes from the end of a line to the next one. CR LF is one end. */
static void end_line(cmd_fields *f)
{
    if (f->at >= f->end)
        return;
    f->at += *f->at == '\r' && f->at + 1 < f->end && f->at[1] == '\n' ? 2 : 1;
    f->line++;
}

/* Skips blank lines and lines that begin with #, and stops at the first other line. False: there is
 * none. */
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
/* True if the character ends a field without quotes, by the table that cmd_fields_of() sets. */
static bool ends_field(const cmd_fields *f, char c)
{
    return f->ends[(unsigned char)c];
}

/* True if a quoted field begins here. Double quotes always count. Single quotes count only if a
 * second one ends the field, as other text begins with an apostrophe, too. */
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

/* Reads a field in quotes, up to a quote that is not doubled. Counts the lines in it: LF, and CR
 * without an LF behind it. A missing end quote ends the program. */
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

/* Reads a field without quotes up to a separator or the end of the line. Blanks at its end do not
 * count. */
static void read_unquoted(cmd_fields *f, cmd_field *field)
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

/* Reads a field and the separator behind it; behind the last field, the end of the line. Other text
 * behind a closing quote ends the program. */
cmd_field cmd_next_field(cmd_fields *f)
{
    cmd_field field = { 0 };

    skip_blanks(f);
    if (begins_quoted(f))
        read_quoted(f, &field);
    else
        read_unquoted(f, &field);
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

/* Copies a field. In a quoted one, two double quotes stand for one. */
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

/* Returns the text of a field for an error message: at most 40 characters, and blanks for control
 * characters. */
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

/* Finds the first of ',', ';' and tab that the first line has outside of quotes; else blanks
 * separate fields. A comma is no candidate if it is the decimal point. */
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

/* Begins to read a text: skips a UTF-8 byte order mark, refuses UTF-16, finds the separator, and
 * sets the table of characters that end a field. Where blanks separate fields, a tab does, too. */
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
