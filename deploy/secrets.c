/*  secrets.c - what must not be seen on a command line
 */
#include <string.h>
#include "secrets.h"
#include "banned.h"

static void
s_hide (char *from, const char *to)
{
    memset (from, '*', (size_t) (to - from));
}

void
secrets_hide (char *argument)
{
    char *equals = strchr (argument, '=');
    char *from = equals ? equals + 1 : argument;
    const char *password = strcasestr (argument, "password");
    if (equals && password && password < equals)
        s_hide (from, from + strlen (from));
    char *at = strrchr (from, '@');
    if (!at)
        return;
    char *scheme = strstr (from, "://");
    s_hide (scheme && scheme < at ? scheme + 3 : from, at);
}
