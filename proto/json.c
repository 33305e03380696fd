#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "json.h"
#include "banned.h"

#define REAL_MAX 48  //  -1.2345678901234567e-308 and a longer point

void
zpeer_json_text (zpeer_buffer_t *out, const zpeer_piece_t *piece)
{
    if (!piece->plain) {
        zpeer_buffer_json (out, piece->text);
        return;
    }
    size_t size = piece->text.size;
    zpeer_buffer_reserve (out, size + 2);
    char *at = out->data + out->size;
    at[0] = '"';
    memcpy (at + 1, piece->text.data, size);
    at[size + 1] = '"';
    out->size += size + 2;
}

void
zpeer_json_int (zpeer_buffer_t *out, int64_t number)
{
    uint64_t value = (uint64_t) number;
    if (number < 0) {
        zpeer_buffer_lit (out, "-");
        value = 0 - value;
    }
    zpeer_buffer_uint (out, value);
}

void
zpeer_json_int_text (zpeer_buffer_t *out, int64_t number)
{
    zpeer_buffer_lit (out, "\"");
    zpeer_json_int (out, number);
    zpeer_buffer_lit (out, "\"");
}

void
zpeer_json_flag_text (zpeer_buffer_t *out, bool flag)
{
    if (flag)
        zpeer_buffer_lit (out, "\"true\"");
    else
        zpeer_buffer_lit (out, "\"false\"");
}

static bool
s_same (const char *text, double real, bool small)
{
    double again = strtod (text, NULL);
    return small ? (float) again == (float) real : again == real;
}

void
zpeer_json_real_text (zpeer_buffer_t *out, double real, bool small)
{
    char text[REAL_MAX];
    for (int digits = small ? FLT_DIG : DBL_DIG; digits <= DBL_DECIMAL_DIG;
         digits++) {
        snprintf (text, sizeof text, "%.*g", digits, real);
        if (s_same (text, real, small))
            break;
    }
    zpeer_buffer_lit (out, "\"");
    const char *at = text;
    size_t whole = strspn (at, "-0123456789");
    zpeer_buffer_add (out, at, whole);
    at += whole;
    if (*at != 'e') {
        //  What the locale has for a point, however many bytes
        at += strcspn (at, "0123456789");
        zpeer_buffer_lit (out, ".");
        if (!*at)
            zpeer_buffer_lit (out, "0");
    }
    zpeer_buffer_slice (out, zpeer_slice_str (at));
    zpeer_buffer_lit (out, "\"");
}

int
zpeer_json_scalar_text (zpeer_buffer_t *out, const zpeer_field_t *field,
                        const zpeer_token_t *token)
{
    bool small = token->kind == ZPEER_TOKEN_FLOAT32;
    zpeer_piece_t piece;
    int rc = ZPEER_OK;
    switch (token->kind) {
    case ZPEER_TOKEN_NIL: zpeer_buffer_lit (out, "\"null\""); break;
    case ZPEER_TOKEN_BOOL: zpeer_json_flag_text (out, token->as.flag); break;
    case ZPEER_TOKEN_INT: zpeer_json_int_text (out, token->as.integer); break;
    case ZPEER_TOKEN_UINT:
        zpeer_buffer_lit (out, "\"");
        zpeer_buffer_uint (out, token->as.uint);
        zpeer_buffer_lit (out, "\"");
        break;
    case ZPEER_TOKEN_FLOAT:
    case ZPEER_TOKEN_FLOAT32:
        if (!isfinite (token->as.real))
            return zpeer_field_reject (field, "is not a finite number");
        zpeer_json_real_text (out, token->as.real, small);
        break;
    case ZPEER_TOKEN_MAP:
    case ZPEER_TOKEN_ARRAY:
        return zpeer_field_reject (field, "is nested; metadata must be flat");
    default:
        rc = zpeer_field_text (field, token, &piece);
        if (!rc)
            zpeer_json_text (out, &piece);
        break;
    }
    return rc;
}
