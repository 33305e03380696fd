/*  zpeer.h - all of zpeer

    A host that embeds the engine needs engine.h, event.h, feed.h and watch.h;
    the headers of the actors are for those who put one to use alone.
*/
#ifndef ZPEER_H_INCLUDED
#define ZPEER_H_INCLUDED

#include <zpeer/base.h>
#include <zpeer/names.h>
#include <zpeer/event.h>
#include <zpeer/feed.h>
#include <zpeer/watch.h>
#include <zpeer/log.h>
#include <zpeer/options.h>
#include <zpeer/engine.h>

#include <zpeer/actor.h>
#include <zpeer/acceptor.h>
#include <zpeer/batcher.h>
#include <zpeer/dispatcher.h>
#include <zpeer/health.h>
#include <zpeer/reporter.h>

#endif
