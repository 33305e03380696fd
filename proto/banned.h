/*  banned.h - functions that have no place here

    Last include of every .c. Each of these either writes without a limit, hides
    errors, or keeps state that threads share. Where clang's fortified headers make
    macros of some of them, which it warns of, other builds look.
*/
#ifndef ZPEER_BANNED_H_INCLUDED
#define ZPEER_BANNED_H_INCLUDED

#if defined(__GNUC__) && !(defined(__clang__) && defined(_FORTIFY_SOURCE))
#    pragma GCC poison sprintf vsprintf strcpy strcat strtok gets atoi atol
#    pragma GCC poison localtime gmtime rand srand
#endif

#endif
