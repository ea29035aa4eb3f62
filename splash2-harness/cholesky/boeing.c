// SPDX-License-Identifier: GPL-2.0
/*
 * Matrices in the Harwell-Boeing format (I. S. Duff, R. G. Grimes, J. G. Lewis, "Users'
 * Guide for the Harwell-Boeing Sparse Matrix Collection", 1992) and its successor, the
 * Rutherford-Boeing format (1997): lines of fixed-width Fortran fields.
 *
 *	1	title, key
 *	2	lines in all, of pointers, of row indices, of values (, of right-hand sides)
 *	3	type, rows, columns, entries
 *	4	formats of pointers, indices, values
 *	(5)	right-hand sides, in Harwell-Boeing files that have them
 *	...	for each column where its entries start; the entries' rows; their values
 *
 * A file is a user's: nothing in it is believed before it has been looked at.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/splash.h"
#include "matrix.h"

#define MAX_FIELD 63

struct reader {
	const char *name;
	FILE *file;
	char *line;
	size_t size, length;	/* of the buffer; of the line, without its end */
	uint64_t number;	/* of the line, from 1 */
};

/* (perline letter width): "(16I5)", "(1P,4E20.12)" */
struct format {
	unsigned int per_line, width, decimals;
	char letter;
};

/* Reads numbers that one format lays out over several lines. */
struct fields {
	struct reader *reader;
	struct format format;
	const char *what;	/* "column pointers" */
	uint64_t count, done;
	char text[MAX_FIELD + 1];
};

struct header {
	uint64_t rows, columns, entries;
	bool pattern, right_hand_sides;
	struct format pointers, indices, values;
};

_Noreturn static void bad(const struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

_Noreturn static void bad(const struct reader *r, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	splash_refuse("%s:%" PRIu64 ": %s", r->name, r->number, text);
}

/* False at the end of the file. */
static bool next_line(struct reader *r)
{
	ssize_t length = getline(&r->line, &r->size, r->file);

	r->number++;
	if (length < 0) {
		if (ferror(r->file))
			bad(r, "cannot be read: %s", strerror(errno));
		return false;
	}
	while (length && strchr("\r\n", r->line[length - 1]))
		length--;
	r->line[length] = '\0';
	r->length = (size_t)length;
	return true;
}

static void need_line(struct reader *r, const char *what)
{
	if (!next_line(r))
		bad(r, "the file ends where its %s should be: it is truncated", what);
}

/* A part of the line, without blanks. */
static void part(const struct reader *r, size_t begin, size_t width, char *text, size_t size)
{
	size_t length = 0;

	for (size_t i = begin; i < begin + width && i < r->length && length + 1 < size; i++)
		if (!isspace((unsigned char)r->line[i]))
			text[length++] = r->line[i];
	text[length] = '\0';
}

static unsigned int digits(const char **text)
{
	unsigned int value = 0;

	while (isdigit((unsigned char)**text) && value < 10000)
		value = value * 10 + (unsigned int)(*(*text)++ - '0');
	return value;
}

/* A scale factor ("1P") matters only to numbers without exponents, which F alone has. */
static struct format read_format(const struct reader *r, size_t begin, size_t width,
				 const char *letters)
{
	struct format f = { .per_line = 1 };
	char text[32];
	const char *p = text;
	bool scaled = false;

	part(r, begin, width, text, sizeof(text));
	if (*p++ != '(')
		bad(r, "\"%s\" is no Fortran format such as (16I5)", text);
	if (isdigit((unsigned char)*p))
		f.per_line = digits(&p);
	if (toupper((unsigned char)*p) == 'P') {
		scaled = true;
		p++;
		p += *p == ',';
		f.per_line = isdigit((unsigned char)*p) ? digits(&p) : 1;
	}
	f.letter = (char)toupper((unsigned char)*p);
	if (!f.letter || !strchr(letters, f.letter))
		bad(r, "format \"%s\" is not of the letters %s", text, letters);
	p++;
	f.width = digits(&p);
	if (*p == '.') {
		p++;
		f.decimals = digits(&p);
	}
	if (toupper((unsigned char)*p) == 'E') {
		p++;
		digits(&p);
	}
	if (strcmp(p, ")") != 0 || !f.per_line || !f.width || f.width > MAX_FIELD ||
	    (scaled && f.letter == 'F'))
		bad(r, "format \"%s\" is not understood: (16I5) or (1P,4E20.12) would be", text);
	return f;
}

/* The next field, without blanks. */
static const char *next_field(struct fields *f)
{
	struct reader *r = f->reader;
	unsigned int place = (unsigned int)(f->done % f->format.per_line);

	if (!place && !next_line(r))
		bad(r, "the file ends after %" PRIu64 " of its %" PRIu64 " %s: it is truncated",
		    f->done, f->count, f->what);
	part(r, (size_t)place * f->format.width, f->format.width, f->text, sizeof(f->text));
	/* A number that lost its last digits would be one still. */
	if (!*f->text || r->length < (size_t)(place + 1) * f->format.width)
		bad(r, "the line ends in field %u, after %" PRIu64 " of %" PRIu64 " %s: it is "
		    "truncated", place + 1, f->done, f->count, f->what);
	f->done++;
	return f->text;
}

static uint64_t integer(const struct reader *r, const char *text, const char *what, uint64_t min,
			uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < min || value > max)
		bad(r, "\"%s\" in the %s: must be a whole number from %" PRIu64 " to %" PRIu64,
		    text, what, min, max);
	return value;
}

/* Fortran's exponents are E, D or nothing but a sign; its decimal point may be implied. */
static double real(struct fields *f)
{
	const char *text = next_field(f);
	char c_form[2 * MAX_FIELD + 1], *out = c_form, *end;
	bool letter = strpbrk(text, "EeDd");
	double value;

	for (const char *p = text; *p; p++) {
		if ((*p == '+' || *p == '-') && p > text && !letter)
			*out++ = 'E';
		*out++ = toupper((unsigned char)*p) == 'D' ? 'E' : *p;
	}
	*out = '\0';
	value = strtod(c_form, &end);
	/* strtod() also knows "inf", "nan" and hexadecimal digits. */
	if (end == c_form || *end || !isfinite(value) || text[strspn(text, "0123456789.+-EeDd")])
		bad(f->reader, "\"%s\" in the %s is not a number", text, f->what);
	if (!strchr(text, '.') && f->format.letter != 'I')
		value *= pow(10, -(double)f->format.decimals);
	return value;
}

/* Line 3 has its numbers anywhere after the type. */
static uint64_t header_number(struct reader *r, char **rest, const char *what)
{
	char *token = strtok_r(NULL, " \t", rest);

	if (!token)
		bad(r, "the number of %s is missing", what);
	return integer(r, token, what, 0, UINT64_MAX / 16);
}

static void read_type(struct reader *r, struct header *h)
{
	char type[4] = "", *rest;

	need_line(r, "type and sizes");
	memcpy(type, r->line, r->length < 3 ? r->length : 3);
	if (strcasecmp(type, "RSA") != 0 && strcasecmp(type, "ISA") != 0 &&
	    strcasecmp(type, "PSA") != 0)
		bad(r, "a matrix of type \"%s\": only RSA, ISA and PSA (real, integer or pattern; "
		    "symmetric; assembled) can be factored", type);
	h->pattern = toupper((unsigned char)type[0]) == 'P';
	strtok_r(r->line, " \t", &rest);
	h->rows = header_number(r, &rest, "rows");
	h->columns = header_number(r, &rest, "columns");
	h->entries = header_number(r, &rest, "entries");
	if (h->rows != h->columns)
		bad(r, "%" PRIu64 " rows and %" PRIu64 " columns: a symmetric matrix has as many "
		    "of the one as of the other", h->rows, h->columns);
	if (!h->rows || h->rows > MATRIX_MAX_ORDER)
		bad(r, "%" PRIu64 " rows: must be from 1 to %u", h->rows, MATRIX_MAX_ORDER);
}

/* Does the file hold as many characters as there are numbers? Memory is asked for after this. */
static void check_size(const struct reader *r, const struct header *h)
{
	struct stat stat;
	uint64_t numbers = h->columns + h->entries * (h->pattern ? 1 : 2);

	if (fstat(fileno(r->file), &stat) == 0 && S_ISREG(stat.st_mode) &&
	    numbers > (uint64_t)stat.st_size)
		bad(r, "promises %" PRIu64 " columns and %" PRIu64 " entries, but the file has "
		    "only %" PRIu64 " bytes: it is truncated, or this line is wrong", h->columns,
		    h->entries, (uint64_t)stat.st_size);
}

static struct header read_header(struct reader *r)
{
	static const char value_letters[] = "EDFGI";
	struct header h = { 0 };
	char cards[16];

	need_line(r, "title");
	need_line(r, "numbers of lines");
	part(r, 56, 14, cards, sizeof(cards));
	h.right_hand_sides = *cards && integer(r, cards, "number of lines of right-hand sides", 0,
					       UINT64_MAX / 16);
	read_type(r, &h);
	check_size(r, &h);
	need_line(r, "formats");
	h.pointers = read_format(r, 0, 16, "I");
	h.indices = read_format(r, 16, 16, "I");
	if (!h.pattern)
		h.values = read_format(r, 32, 20, value_letters);
	if (h.right_hand_sides)
		need_line(r, "line about right-hand sides");
	return h;
}

static uint64_t *read_pointers(struct reader *r, const struct header *h)
{
	struct fields f = { r, h->pointers, "column pointers", h->columns + 1, 0, "" };
	uint64_t *start = splash_alloc(f.count, sizeof(*start)), last = 1;

	for (uint64_t j = 0; j < f.count; j++) {
		start[j] = integer(r, next_field(&f), f.what, last, h->entries + 1);
		last = start[j];
		if (!j && last != 1)
			bad(r, "the first of the column pointers is %" PRIu64 ", not 1", last);
	}
	if (last != h->entries + 1)
		bad(r, "the last of the column pointers is %" PRIu64 ", not %" PRIu64 ", one after "
		    "the entries", last, h->entries + 1);
	for (uint64_t j = 0; j < f.count; j++)
		start[j]--;
	return start;
}

/*
 * The entries' rows as they are in the file, checked: below the diagonal, or on it, and
 * none twice. `seen` is the last column (from 1) that had an entry in a row.
 */
static uint32_t *read_rows(struct reader *r, const struct header *h, const uint64_t *start)
{
	struct fields f = { r, h->indices, "row indices", h->entries, 0, "" };
	uint32_t *rows = splash_alloc(h->entries, sizeof(*rows));
	uint32_t *seen = splash_alloc(h->rows, sizeof(*seen));

	for (uint32_t j = 0; j < h->columns; j++)
		for (uint64_t e = start[j]; e < start[j + 1]; e++) {
			uint32_t i = (uint32_t)integer(r, next_field(&f), f.what, 1, h->rows) - 1;

			if (i < j)
				bad(r, "entry in row %u, column %u: above the diagonal, where a "
				    "symmetric matrix has none in this format", i + 1, j + 1);
			if (seen[i] == j + 1)
				bad(r, "a second entry in row %u, column %u", i + 1, j + 1);
			seen[i] = j + 1;
			rows[e] = i;
		}
	free(seen);
	return rows;
}

struct entry {
	uint32_t row;
	double value;
};

static int by_row(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->row > y->row) - (x->row < y->row);
}

/* Columns with ascending rows, the diagonal first; one is added where the file has none. */
static struct matrix sort_columns(const struct header *h, const uint64_t *start,
				  const uint32_t *rows, const double *values)
{
	struct entry *column = splash_alloc(h->rows + 1, sizeof(*column));
	struct matrix a;
	uint64_t to = 0;

	matrix_alloc(&a, (uint32_t)h->rows, h->entries + h->rows);
	for (uint32_t j = 0; j < a.n; j++) {
		uint64_t count = 0;
		bool diagonal = false;

		for (uint64_t e = start[j]; e < start[j + 1]; e++) {
			column[count++] = (struct entry){ rows[e], values ? values[e] : -1 };
			diagonal |= rows[e] == j;
		}
		if (!diagonal)
			column[count++] = (struct entry){ j, 0 };
		qsort(column, count, sizeof(*column), by_row);
		a.start[j] = to;
		for (uint64_t k = 0; k < count; k++, to++) {
			a.row[to] = column[k].row;
			a.value[to] = column[k].value;
		}
	}
	a.start[a.n] = to;
	free(column);
	return a;
}

/* Off the diagonal -1; on it one more than such entries in the row: positive definite. */
static void give_values(struct matrix *a)
{
	for (uint32_t j = 0; j < a->n; j++)
		a->value[a->start[j]] = 1;
	for (uint32_t j = 0; j < a->n; j++)
		for (uint64_t e = a->start[j] + 1; e < a->start[j + 1]; e++) {
			a->value[a->start[j]]++;
			a->value[a->start[a->row[e]]]++;
		}
}

struct matrix matrix_read(const char *name)
{
	struct reader r = { .name = name, .file = fopen(name, "r") };
	struct header h;
	struct matrix a;
	uint64_t *start;
	uint32_t *rows;
	double *values = NULL;

	if (!r.file)
		splash_refuse("%s: cannot be opened: %s", name, strerror(errno));
	h = read_header(&r);
	start = read_pointers(&r, &h);
	rows = read_rows(&r, &h, start);
	if (!h.pattern) {
		struct fields f = { &r, h.values, "values", h.entries, 0, "" };

		values = splash_alloc(h.entries, sizeof(*values));
		for (uint64_t e = 0; e < h.entries; e++)
			values[e] = real(&f);
	}
	fclose(r.file);

	a = sort_columns(&h, start, rows, values);
	if (h.pattern)
		give_values(&a);
	free(start);
	free(rows);
	free(values);
	free(r.line);
	return a;
}
