/*  banned.h - functions that have no place here

    Last include of every .c. Each of these either writes without a limit, hides
    errors, or keeps state that threads share.
*/
#ifndef ZPEER_BANNED_H_INCLUDED
#define ZPEER_BANNED_H_INCLUDED

#if defined(__GNUC__)
#    pragma GCC poison sprintf vsprintf strcpy strcat strtok gets atoi atol
#    pragma GCC poison localtime gmtime rand srand
#endif

#endif
