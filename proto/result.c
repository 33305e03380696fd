#include "result.h"
#include "banned.h"

const char *
zpeer_end_text (zpeer_end_t end)
{
    switch (end) {
#define X(name, text, sentence)                                                \
    case ZPEER_END_##name: return text;
        ZPEER_ENDS (X)
#undef X
    default: return "?";
    }
}
