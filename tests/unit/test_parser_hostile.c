#include <malloc.h>
#include <stdio.h>
#include "event_fixture.h"
#include "walk.h"
#include "banned.h"

#define LENGTH(array)  (sizeof (array) / sizeof *(array))
#define BYTES(literal) (literal), sizeof (literal) - 1

#define NAME "'app':'A','id':'h'"
#define TIME "'lastDirtyTimestamp':1"

#define DOTS "is what stands for a folder in a URL: no peer can be told of it"

#define STAMP                                                                  \
    "lastDirtyTimestamp is not a number of ms from 1 to 7258118400000, the "   \
    "year 2200"

//  The start of a Register, and what its info must have besides
#define REGISTER                                                               \
    "{'action':'Register'," NAME "," TIME                                      \
    ",'info':{'hostName':'h','ipAddr':'i',"
#define CENTER                                                                 \
    "'dataCenterInfo':{'@class':"                                              \
    "'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo','name':"         \
    "'MyOwn'}"

static verdict_t s_verdict;

TestSuite (parser_hostile, .fini = fixture_free);

static const struct {
    const char *text;
    const char *reason;
} s_rejected[] = {
    {"{}", "action is missing"},
    {"{'action':null}", "action is missing"},
    {"{'action':7}", "action is not a string"},
    {"{'action':b'Cancel'}", "action is not a string"},
    {"{'action':'heartbeat'}",
     "action \"heartbeat\" is none of Register, Heartbeat, Cancel, "
     "StatusUpdate, DeleteStatusOverride, AsgStatusUpdate, Forget"},
    {"{'action':'Heart\\x00beat'}",
     "action \"Heart?beat\" is none of Register, Heartbeat, Cancel, "
     "StatusUpdate, DeleteStatusOverride, AsgStatusUpdate, Forget"},
    {"{'action':'Cancel','id':'h'}", "app is missing"},
    {"{'action':'Cancel','app':'A'}", "id is missing"},
    {"{'action':'Cancel','app':7,'id':'h'}", "app is not a string"},
    {"{'action':'Cancel','app':b'A','id':'h'}", "app is not a string"},
    {"{'action':'Cancel','app':['A'],'id':'h'}", "app is not a string"},
    {"{'action':'Cancel','app':'','id':'h'}", "app is blank"},
    {"{'action':'Cancel','app':'  ','id':'h'}", "app is blank"},
    {"{'action':'Cancel','app':'A','id':''}", "id is blank"},
    {"{'action':'Cancel','app':'..','id':'h'}", "app " DOTS},
    {"{'action':'Cancel','app':'A','id':'.'}", "id " DOTS},
    {"{'action':'AsgStatusUpdate','asg':'..','status':'ENABLED'}", "asg " DOTS},
    {"{'action':'Cancel','app':'A\\x00','id':'h'}", "app has a NUL in it"},
    {"{'action':'Cancel','app':'A','id':'\\x00'}", "id has a NUL in it"},
    {"{'action':'Cancel','app':'A\\x0a','id':'h'}",
     "app has a control character in it"},
    {"{'action':'Cancel','app':'A','id':'h\\x7f'}",
     "id has a control character in it"},
    {"{'action':'Cancel','app':'A','id':'h\\xc2\\x85'}",
     "id has a control character in it"},
    {"{'action':'Cancel','app':'A\\xff','id':'h'}", "app is not valid UTF-8"},
    {"{'action':'Cancel','app':'A','id':'\\xc3'}", "id is not valid UTF-8"},
    {"{'action':'Cancel','app':'\\xc0\\xaf','id':'h'}",
     "app is not valid UTF-8"},
    {"{'action':'Cancel','app':'\\xed\\xa0\\x80','id':'h'}",
     "app is not valid UTF-8"},
    {"{'action':'Cancel','app':'\\xf4\\x90\\x80\\x80','id':'h'}",
     "app is not valid UTF-8"},
    {"{'action':'Heartbeat'," NAME "}", "lastDirtyTimestamp is missing"},
    {"{'action':'StatusUpdate'," NAME ",'status':'UP'}",
     "lastDirtyTimestamp is missing"},
    {"{'action':'DeleteStatusOverride'," NAME "}",
     "lastDirtyTimestamp is missing"},
    {"{'action':'Heartbeat'," NAME ",'lastDirtyTimestamp':0}", STAMP},
    {"{'action':'Heartbeat'," NAME ",'lastDirtyTimestamp':-1}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':9223372036854775808}",
     STAMP},
    //  µs of the year 2024, and one ms beyond the last
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':1718271499871000}",
     STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':7258118400001}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':1.5}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':1.0e300}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':nan}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':'12x'}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':''}", STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':'99999999999999999999'}",
     STAMP},
    {"{'action':'Cancel'," NAME ",'lastDirtyTimestamp':true}", STAMP},
    {"{'action':'Heartbeat'," NAME "," TIME ",'status':'up'}",
     "status \"up\" is none of UNKNOWN, UP, DOWN, STARTING, OUT_OF_SERVICE"},
    {"{'action':'Heartbeat'," NAME "," TIME ",'status':1}",
     "status is not a string"},
    {"{'action':'Heartbeat'," NAME "," TIME ",'overriddenStatus':'NONE'}",
     "overriddenStatus \"NONE\" is none of UNKNOWN, UP, DOWN, STARTING, "
     "OUT_OF_SERVICE"},
    {"{'action':'StatusUpdate'," NAME "," TIME "}", "status is missing"},
    {"{'action':'StatusUpdate'," NAME "," TIME ",'status':'UNKNOWN'}",
     "status UNKNOWN cannot be set: no Register could carry it; use "
     "DeleteStatusOverride"},
    {"{'action':'AsgStatusUpdate','status':'ENABLED'}", "asg is missing"},
    {"{'action':'AsgStatusUpdate','asg':'w'}", "status is missing"},
    {"{'action':'AsgStatusUpdate','asg':'w','status':'UP'}",
     "status \"UP\" is neither ENABLED nor DISABLED"},
    {"{'action':'AsgStatusUpdate','asg':'w','status':true}",
     "status is not a string"},
    {"{'action':'AsgStatusUpdate','asg':'\\x09w','status':'ENABLED'}",
     "asg has a control character in it"},
    {"{'action':'Cancel'," NAME ",'replicated':'true'}",
     "replicated is neither true nor false"},
    {"{'action':'Cancel'," NAME ",'snapshot':1}",
     "snapshot is neither true nor false"},
    {"{'action':'Cancel'," NAME ",'snapshot':true}",
     "snapshot is for a Register and nothing else"},
    {"{'action':'Register'," NAME "," TIME
     ",'info':{},'replicated':true,'snapshot':true}",
     "snapshot contradicts replicated: peers are made to have it, and are said "
     "to have it"},
    {"{'action':'Cancel'," NAME ",'replicated':true,'origin':'http://a'}",
     "origin contradicts replicated: one peer has it, and all are said to have "
     "it"},
    {"{'action':'Cancel'," NAME ",'asOf':5}",
     "asOf is for a snapshot and nothing else"},
    {"{'action':'Cancel'," NAME ",'asOf':0}",
     "asOf is not a number from 1 to 9223372036854775807"},
    {"{'action':'Cancel'," NAME ",'origin':7}", "origin is not a string"},
    {"{'action':'Cancel'," NAME ",'origin':' '}", "origin is blank"},
    {"{'action':'Cancel'," NAME ",'origin':'a\\x0ab'}",
     "origin has a control character in it"},
    {"{'action':'Register'," NAME "," TIME "}", "info is missing"},
    {"{'action':'Register'," NAME "," TIME ",'info':[]}", "info is not a map"},
    {"{'action':'Cancel'," NAME ",'id':'h'}", "id is given twice"},
    {"{'action':'Cancel'," NAME ",'x':1,'y':2,'x':1}", "x is given twice"},
    {"{'action':'Cancel'," NAME ",'\\x0a':1,'\\x0a':1}", "? is given twice"},
    {"{'action':'Cancel'," NAME ",7:1}", "a key is not a string"},
    {"{'action':'Cancel'," NAME ",null:1}", "a key is not a string"},
    {"{'action':'Cancel'," NAME ",b'x':1}", "a key is not a string"},
    {"{'action':'Cancel'," NAME ",'\\xff':1}", "a key is not valid UTF-8"},
    {"{'action':'Cancel'," NAME ",'a\\x00':1}", "a key has a NUL in it"},
};

Test (parser_hostile, every_wrong_event_is_refused_with_the_field_that_is_wrong)
{
    for (size_t i = 0; i < LENGTH (s_rejected); i++) {
        parse_text (&s_verdict, s_rejected[i].text);
        cr_expect_eq (s_verdict.rc, ZPEER_E_REJECTED, "%s", s_rejected[i].text);
        cr_expect_str_eq (s_verdict.reason, s_rejected[i].reason);
        cr_expect_eq (s_verdict.offset, s_verdict.size, "%s",
                      s_rejected[i].text);
    }
}

//  format: an event with a %s where the name stands
static void
s_assert_long (const char *format, size_t size, const char *reason)
{
    char name[1024];
    char text[2048];
    memset (name, 'a', size);
    name[size] = 0;
    snprintf (text, sizeof text, format, name);
    parse_text (&s_verdict, text);
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED);
    cr_assert_str_eq (s_verdict.reason, reason);
}

Test (parser_hostile, a_name_one_byte_beyond_its_limit_is_refused)
{
    s_assert_long ("{'action':'Forget','id':'h','app':'%s'}", ZPEER_APP_MAX + 1,
                   "app is longer than 255 bytes");
    s_assert_long ("{'action':'Forget','app':'A','id':'%s'}", ZPEER_ID_MAX + 1,
                   "id is longer than 512 bytes");
    s_assert_long ("{'action':'AsgStatusUpdate','status':'ENABLED','asg':'%s'}",
                   ZPEER_ASG_MAX + 1, "asg is longer than 255 bytes");
}

Test (parser_hostile, a_senders_text_is_cut_short_in_a_reason)
{
    char text[512] = "{'action':'";
    memset (text + strlen (text), 'q', 300);
    snprintf (text + 311, sizeof text - 311, "'}");
    parse_text (&s_verdict, text);
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED);
    cr_assert (strstr (s_verdict.reason, "qqq...\" is none of Register"));
    cr_assert_lt (strlen (s_verdict.reason), ZPEER_REASON_MAX - 1);
}

static const struct {
    const char *bytes;
    size_t size;
    const char *why;
} s_unusable[] = {
    {BYTES ("\xc1"), "a byte that msgpack never uses (0xc1)"},
    {BYTES ("\x81\xa1x\xc1"), "a byte that msgpack never uses (0xc1)"},
    {BYTES ("hello"), "something else is there"},
    {BYTES ("\x90"), "something else is there"},
    {BYTES ("\xc0"), "something else is there"},
    {BYTES ("\x81"), "cut off"},
    {BYTES ("\x81\xa6"), "cut off"},
    {BYTES ("\x81\xa6"
            "actio"),
     "cut off"},
    {BYTES ("\x81\xa1x\xcd\x01"), "cut off"},
    {BYTES ("\x81\xa1x\xd9\x05"
            "1234"),
     "cut off"},
    {BYTES ("\x81\xa1x\xd8"
            "123456789abcdef"),
     "cut off"},
    {BYTES ("\x81\xa1x\xc9\xff\xff\xff\xff\x01"), "cut off"},
    {BYTES ("\xdf\xff\xff\xff\xff"), "cut off"},
    {BYTES ("\xde\xff"), "cut off"},
    {BYTES ("\x81\xa1x\xdd\xff\xff\xff\xff"), "cut off"},
    {BYTES ("\x81\xa1x\xdb\xff\xff\xff\xff"), "cut off"},
    {BYTES ("\x81\xa1x\xc6\xff\xff\xff\xff"), "cut off"},
    {BYTES ("\x81\xa1x\x91\x91\x91\x91\x91\x91\x91\x91\xc0"),
     "nested deeper than 8"},
};

Test (parser_hostile, bytes_that_are_no_map_end_the_frame)
{
    for (size_t i = 0; i < LENGTH (s_unusable); i++) {
        parse_frame (&s_verdict, s_unusable[i].bytes, s_unusable[i].size);
        cr_expect_eq (s_verdict.rc, ZPEER_E_PARSE, "case %zu", i);
        cr_expect (strstr (s_verdict.reason, s_unusable[i].why), "case %zu: %s",
                   i, s_verdict.reason);
        cr_expect_eq (s_verdict.offset, 0, "case %zu", i);
    }
}

Test (parser_hostile, eight_levels_are_not_too_deep)
{
    parse_text (&s_verdict,
                "{'action':'Cancel'," NAME ",'x':[[[[[[['deep']]]]]]]}");
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
}

//  Members that nobody reads count their levels from the event on
Test (parser_hostile, what_is_stepped_over_may_not_be_too_deep_either)
{
    static const struct {
        const char *text;
        int rc;
    } cases[] = {
        {REGISTER "'x':[[[[[['deep']]]]]]," CENTER "}}", ZPEER_OK},
        {REGISTER "'x':[[[[[[['deep']]]]]]]," CENTER "}}", ZPEER_E_PARSE},
        {REGISTER CENTER ",'metadata':{'@class':[[[[['deep']]]]]}}}", ZPEER_OK},
        {REGISTER CENTER ",'metadata':{'@class':[[[[[['deep']]]]]]}}}",
         ZPEER_E_PARSE},
        //  Refused before they are reached
        {REGISTER "'port':7,'x':[[[[[['deep']]]]]]}}", ZPEER_E_REJECTED},
        {REGISTER "'port':7,'x':[[[[[[['deep']]]]]]]}}", ZPEER_E_PARSE},
        //  Not wanted
        {"{'action':'Cancel'," NAME ",'info':{'port':[[[[[[1]]]]]]}}",
         ZPEER_OK},
        {"{'action':'Cancel'," NAME ",'info':{'port':[[[[[[[1]]]]]]]}}",
         ZPEER_E_PARSE},
    };
    for (size_t i = 0; i < LENGTH (cases); i++) {
        parse_text (&s_verdict, cases[i].text);
        cr_expect_eq (s_verdict.rc, cases[i].rc, "case %zu: %s", i,
                      s_verdict.reason);
    }
}

//  Whatever the event would have been
Test (parser_hostile, an_event_cut_off_anywhere_ends_the_frame)
{
    static const char *const texts[] = {
        "{'action':'Cancel'," NAME ",'x':{'y':[1,2.5,x'e',b'b'],'z':null}}",
        REGISTER CENTER
        ",'leaseInfo':{'durationInSecs':9},'port':{'$':1,'@enabled':'true'},"
        "'metadata':{'k':'v','@class':['x']},'x':{'y':1}}}",
        "{'id':'h','id':'h','x':[1,2]}",
        REGISTER "'metadata':{'k':'v','k':'w'}," CENTER "}}",
        "{'action':'Heartbeat'," NAME "," TIME
        ",'info':{'port':{'$':'none','x':[1]}},'x':{'y':1}}",
    };
    for (size_t i = 0; i < LENGTH (texts); i++) {
        zpeer_buffer_t frame = {0};
        pack_value (&frame, texts[i]);
        for (size_t size = 0; size < frame.size; size++) {
            //  Exactly as long as it is, so that ASan sees a read behind it
            char *exact = (char *) malloc (size + !size);
            memcpy (exact, frame.data, size);
            parse_frame (&s_verdict, exact, size);
            cr_assert_eq (s_verdict.rc, ZPEER_E_PARSE, "text %zu, %zu bytes", i,
                          size);
            cr_assert_eq (s_verdict.offset, 0);
            free (exact);
        }
        parse_frame (&s_verdict, frame.data, frame.size);
        cr_assert_neq (s_verdict.rc, ZPEER_E_PARSE, "text %zu", i);
        cr_assert_eq (s_verdict.offset, frame.size);
        zpeer_buffer_free (&frame);
    }
}

//  A map of action Cancel and an array of count numbers
static void
s_parse_wide (uint32_t count)
{
    zpeer_buffer_t frame = {0};
    zpeer_buffer_lit (&frame, "\x84\xa6"
                              "action\xa6"
                              "Cancel\xa3"
                              "app\xa1"
                              "A\xa2"
                              "id\xa1"
                              "h\xa1"
                              "x");
    pack_number (&frame, '\xdd', count, 4);
    while (count--)
        zpeer_buffer_lit (&frame, "\x01");
    parse_frame (&s_verdict, frame.data, frame.size);
    zpeer_buffer_free (&frame);
}

Test (parser_hostile, an_event_has_a_budget_of_elements)
{
    //  The map, four keys, three values and the array are nine
    s_parse_wide (ZPEER_ELEMENTS_MAX - 9);
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    s_parse_wide (ZPEER_ELEMENTS_MAX - 8);
    cr_assert_eq (s_verdict.rc, ZPEER_E_PARSE);
    cr_assert (strstr (s_verdict.reason, "more elements"));
}

//  An info that is refused and not wanted is read twice, and counts once
Test (parser_hostile, the_budget_is_the_same_for_what_is_read_twice)
{
    static const char start[] = "{'action':'Cancel'," NAME ",'info':{'x':[";
    for (uint32_t extra = 0; extra < 2; extra++) {
        zpeer_buffer_t text = {0};
        zpeer_buffer_add (&text, start, sizeof start - 1);
        //  The map, four keys, three values, info, its two members
        for (uint32_t i = 13; i < ZPEER_ELEMENTS_MAX + extra; i++)
            zpeer_buffer_lit (&text, "1,");
        zpeer_buffer_add (&text, "],'port':7}}", 13);
        parse_text (&s_verdict, text.data);
        cr_expect_eq (s_verdict.rc, extra ? ZPEER_E_PARSE : ZPEER_OK, "%s",
                      s_verdict.reason);
        zpeer_buffer_free (&text);
    }
}

Test (parser_hostile, an_event_has_a_size)
{
    zpeer_buffer_t frame = {0};
    zpeer_buffer_lit (&frame, "\x84\xa6"
                              "action\xa6"
                              "Cancel\xa3"
                              "app\xa1"
                              "A\xa2"
                              "id\xa1"
                              "h\xa1"
                              "x");
    size_t rest = ZPEER_EVENT_MAX - frame.size - 5;
    pack_number (&frame, '\xc6', rest, 4);
    zpeer_buffer_reserve (&frame, rest + 1);
    memset (frame.data + frame.size, 'x', rest + 1);
    parse_frame (&s_verdict, frame.data, frame.size + rest);
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    //  One more, and it is refused; what comes behind can still be read
    frame.data[frame.size - 1]++;
    parse_frame (&s_verdict, frame.data, frame.size + rest + 1);
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED);
    cr_assert_str_eq (s_verdict.reason,
                      "the event is longer than 262144 bytes");
    cr_assert_eq (s_verdict.offset, s_verdict.size);
    zpeer_buffer_free (&frame);
}

//  Each of these bytes would be six in the JSON
Test (parser_hostile, of_an_event_that_is_too_long_nothing_is_kept)
{
    size_t size = 4 * ZPEER_EVENT_MAX;
    zpeer_buffer_t text = {0};
    zpeer_buffer_lit (&text, REGISTER CENTER ",'metadata':{'k':'");
    zpeer_buffer_reserve (&text, size);
    memset (text.data + text.size, 1, size);
    text.size += size;
    zpeer_buffer_add (&text, "'}}}", 5);
    zpeer_buffer_t frame = {0};
    pack_value (&frame, text.data);
    parse_text (&s_verdict, "{'action':'Cancel'," NAME "}");
    struct mallinfo2 before = mallinfo2 ();
    parse_frame (&s_verdict, frame.data, frame.size);
    struct mallinfo2 after = mallinfo2 ();
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED, "%s", s_verdict.reason);
    cr_assert_eq (s_verdict.offset, frame.size);
    cr_assert_lt (after.uordblks + after.hblkhd,
                  before.uordblks + before.hblkhd + ZPEER_EVENT_MAX / 4);
    zpeer_buffer_free (&text);
    zpeer_buffer_free (&frame);
}
