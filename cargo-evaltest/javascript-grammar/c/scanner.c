// The scanner of the grammar, with the white space and the letters of a UTF-8 locale: it asks the C library for them, which
// knows ASCII alone in a program that sets no locale, and others where the library is another. The official program runs in
// Python, which sets the locale.
#include <stddef.h>
#include <wctype.h>

static int is_space(unsigned c) {
    return (c >= 0x9 && c <= 0xd) || c == 0x20 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a && c != 0x2007) ||
           c == 0x2028 || c == 0x2029 || c == 0x205f || c == 0x3000;
}

static const unsigned LETTERS[][2] = {
#include "letters.h"
};

static int is_letter(unsigned c) {
    size_t low = 0, high = sizeof(LETTERS) / sizeof(LETTERS[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > LETTERS[middle][1]) {
            low = middle + 1;
        } else if (c < LETTERS[middle][0]) {
            high = middle;
        } else {
            return 1;
        }
    }
    return 0;
}

#undef iswspace
#undef iswalpha
#undef iswdigit
#define iswspace(c) is_space((unsigned)(c))
#define iswalpha(c) is_letter((unsigned)(c))
#define iswdigit(c) ((c) >= '0' && (c) <= '9')

#include "tree-sitter-javascript/scanner.c"
