#include <stdio.h>
#include "event_fixture.h"
#include "walk.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))

#define HEARTBEAT                                                              \
    "{'action':'Heartbeat','app':'Catalog','id':'h:1','lastDirtyTimestamp':7}"
#define INFO                                                                   \
    "{'hostName':'h','ipAddr':'i','dataCenterInfo':{'@class':"                 \
    "'com.netflix.appinfo.MyDataCenterInfo','name':'MyOwn'}}"

static verdict_t s_verdict;

static const zpeer_parsed_t *
s_accepted (const char *text)
{
    parse_text (&s_verdict, text);
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s: %s", text, s_verdict.reason);
    cr_assert_eq (s_verdict.offset, s_verdict.size);
    return &s_verdict.event;
}

TestSuite (parser, .fini = fixture_free);

Test (parser, a_heartbeat_names_its_instance)
{
    const zpeer_parsed_t *event = s_accepted (HEARTBEAT);
    cr_assert_eq (event->action, ZPEER_HEARTBEAT);
    assert_slice (event->app, "CATALOG");
    assert_slice (event->id, "h:1");
    cr_assert (event->has_timestamp);
    cr_assert_eq (event->timestamp, 7);
    cr_assert_not (event->has_status);
    cr_assert_not (event->replicated);
    cr_assert_eq (event->override, ZPEER_UNKNOWN);
}

Test (parser, a_heartbeat_may_carry_status_and_override)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'replicated':true,'overriddenStatus':'OUT_OF_SERVICE',"
                    "'status':'STARTING','lastDirtyTimestamp':7258118400000,"
                    "'id':'h','app':'A','action':'Heartbeat'}");
    cr_assert (event->has_status);
    cr_assert_eq (event->status, ZPEER_STARTING);
    cr_assert_eq (event->override, ZPEER_OUT_OF_SERVICE);
    cr_assert_eq (event->timestamp, ZPEER_TIMESTAMP_MAX);
    cr_assert (event->replicated);
}

Test (parser, a_cancel_needs_no_timestamp)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'Cancel','app':'A','id':'h'}");
    cr_assert_eq (event->action, ZPEER_CANCEL);
    cr_assert_not (event->has_timestamp);
    cr_assert_eq (event->timestamp, 0);
}

Test (parser, a_status_update_carries_the_new_status)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'StatusUpdate','app':'A','id':'h',"
                    "'lastDirtyTimestamp':1,'status':'DOWN'}");
    cr_assert_eq (event->action, ZPEER_STATUS_UPDATE);
    cr_assert_eq (event->status, ZPEER_DOWN);
}

Test (parser, an_override_is_deleted_with_or_without_a_status)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'DeleteStatusOverride','app':'A','id':'h',"
                    "'lastDirtyTimestamp':1}");
    cr_assert_eq (event->action, ZPEER_DELETE_STATUS_OVERRIDE);
    cr_assert_not (event->has_status);
    cr_assert_eq (event->status, ZPEER_UNKNOWN);
    event = s_accepted ("{'action':'DeleteStatusOverride','app':'A','id':'h',"
                        "'lastDirtyTimestamp':1,'status':'UP'}");
    cr_assert (event->has_status);
    cr_assert_eq (event->status, ZPEER_UP);
}

Test (parser, an_asg_is_enabled_or_disabled_by_its_name)
{
    const zpeer_parsed_t *event = s_accepted (
        "{'action':'AsgStatusUpdate','asg':'web','status':'ENABLED'}");
    cr_assert_eq (event->action, ZPEER_ASG_STATUS_UPDATE);
    cr_assert_eq (event->app.size, 0);
    assert_slice (event->id, "web");
    cr_assert_eq (event->status, ZPEER_UP);
    event = s_accepted (
        "{'action':'AsgStatusUpdate','asg':'web','status':'DISABLED'}");
    cr_assert_eq (event->status, ZPEER_OUT_OF_SERVICE);
}

Test (parser, forget_needs_the_name_alone)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'Forget','app':'A','id':'h'}");
    cr_assert_eq (event->action, ZPEER_FORGET);
}

Test (parser, a_timestamp_may_come_as_number_text_or_whole_float)
{
    static const char *const texts[] = {"1718272205117", "'1718272205117'",
                                        "1718272205117.0"};
    for (size_t i = 0; i < LENGTH (texts); i++) {
        char text[256];
        snprintf (text, sizeof text,
                  "{'action':'Cancel','app':'A','id':'h',"
                  "'lastDirtyTimestamp':%s}",
                  texts[i]);
        cr_assert_eq (s_accepted (text)->timestamp, UINT64_C (1718272205117));
    }
}

Test (parser, an_event_may_say_whose_word_it_is)
{
    const zpeer_parsed_t *event = s_accepted (HEARTBEAT);
    cr_assert_not (event->snapshot);
    cr_assert_eq (event->as_of, 0);
    cr_assert_eq (event->origin.size, 0);
    event = s_accepted ("{'action':'Register','app':'A','id':'h','info':" INFO
                        ",'lastDirtyTimestamp':1,'snapshot':true,'asOf':'17',"
                        "'origin':'http://a','replicated':false}");
    cr_assert (event->snapshot);
    cr_assert_eq (event->as_of, 17);
    assert_slice (event->origin, "http://a");
    event = s_accepted ("{'action':'AsgStatusUpdate','asg':'w','status':"
                        "'ENABLED','origin':'http://a','snapshot':false}");
    assert_slice (event->origin, "http://a");
    cr_assert_not (event->snapshot);
    event = s_accepted ("{'action':'Forget','app':'A','id':'h',"
                        "'replicated':true,'snapshot':null,'asOf':null,"
                        "'origin':null}");
    cr_assert (event->replicated);
}

Test (parser, nil_counts_as_not_given)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'Cancel','app':'A','id':'h','status':null,"
                    "'lastDirtyTimestamp':null,'replicated':null}");
    cr_assert_not (event->has_timestamp);
}

Test (parser, what_an_action_does_not_use_is_ignored_whatever_it_is)
{
    s_accepted ("{'action':'Cancel','app':'A','id':'h','status':7,'asg':[],"
                "'overriddenStatus':{},'info':'none','more':[{'a':[1,x'e']}],"
                "'other':'\\xff'}");
    s_accepted ("{'action':'Forget','app':'A','id':'h','info':"
                "{'port':3,'metadata':{'a':1,'a':1}},'lastDirtyTimestamp':-1}");
}

Test (parser, names_may_be_of_any_script)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'Forget','app':'caf\xc3\xa9','id':'\xe2\x82\xac "
                    "\xf0\x9f\x98\x80'}");
    assert_slice (event->app, "CAF\xc3\xa9");
    assert_slice (event->id, "\xe2\x82\xac \xf0\x9f\x98\x80");
}

Test (parser, names_may_be_as_long_as_the_limit)
{
    char app[ZPEER_APP_MAX + 1];
    char id[ZPEER_ID_MAX + 1];
    char text[1024];
    memset (app, 'A', sizeof app);
    memset (id, 'i', sizeof id);
    app[ZPEER_APP_MAX] = id[ZPEER_ID_MAX] = 0;
    snprintf (text, sizeof text, "{'action':'Forget','app':'%s','id':'%s'}",
              app, id);
    const zpeer_parsed_t *event = s_accepted (text);
    assert_slice (event->app, app);
    assert_slice (event->id, id);
}

Test (parser, a_register_takes_status_override_and_time_from_info)
{
    const zpeer_parsed_t *event = s_accepted (
        "{'action':'Register','app':'A','id':'h','info':{'hostName':'h',"
        "'ipAddr':'i','status':'DOWN','overriddenStatus':'OUT_OF_SERVICE',"
        "'lastDirtyTimestamp':'12','dataCenterInfo':{'name':'MyOwn','@class':"
        "'com.netflix.appinfo.MyDataCenterInfo'}}}");
    cr_assert (event->has_status);
    cr_assert_eq (event->status, ZPEER_DOWN);
    cr_assert_eq (event->override, ZPEER_OUT_OF_SERVICE);
    cr_assert (event->has_timestamp);
    cr_assert_eq (event->timestamp, 12);
}

Test (parser, a_register_without_a_status_is_up)
{
    const zpeer_parsed_t *event =
        s_accepted ("{'action':'Register','app':'A','id':'h',"
                    "'lastDirtyTimestamp':3,'info':" INFO "}");
    cr_assert (event->has_status);
    cr_assert_eq (event->status, ZPEER_UP);
    cr_assert_eq (event->override, ZPEER_UNKNOWN);
    cr_assert_eq (event->timestamp, 3);
    cr_assert_eq (event->renewal_ms, 90000);
    cr_assert_eq (event->duration_ms, 90000);
}

Test (parser, a_bad_event_does_not_harm_its_neighbours)
{
    zpeer_buffer_t frame = {0};
    static const char *const texts[] = {
        HEARTBEAT, "{'action':'Cancel'}",   HEARTBEAT, "{}", "{'action':[{}]}",
        HEARTBEAT, "{'app':'A','app':'A'}", HEARTBEAT};
    static const int expected[] = {ZPEER_OK,         ZPEER_E_REJECTED, ZPEER_OK,
                                   ZPEER_E_REJECTED, ZPEER_E_REJECTED, ZPEER_OK,
                                   ZPEER_E_REJECTED, ZPEER_OK};
    for (size_t i = 0; i < LENGTH (texts); i++)
        pack_value (&frame, texts[i]);
    zpeer_parser_t *parser = zpeer_parser_new ();
    size_t offset = 0;
    for (size_t i = 0; i < LENGTH (expected); i++) {
        zpeer_parsed_t event;
        char reason[ZPEER_REASON_MAX];
        cr_assert_eq (zpeer_parser_next (parser, frame.data, frame.size,
                                         &offset, &event, reason),
                      expected[i], "event %zu", i);
    }
    cr_assert_eq (offset, frame.size);
    zpeer_parser_destroy (&parser);
    zpeer_buffer_free (&frame);
}

Test (parser, an_event_that_is_refused_leaves_the_output_untouched)
{
    zpeer_parsed_t event;
    zpeer_parsed_t before;
    char reason[ZPEER_REASON_MAX];
    size_t offset = 0;
    memset (&event, 0x5a, sizeof event);
    memcpy (&before, &event, sizeof event);
    zpeer_parser_t *parser = zpeer_parser_new ();
    zpeer_buffer_t frame = {0};
    pack_value (&frame, "{'action':'Cancel','app':'A','id':7}");
    cr_assert_eq (zpeer_parser_next (parser, frame.data, frame.size, &offset,
                                     &event, reason),
                  ZPEER_E_REJECTED);
    cr_assert_arr_eq ((char *) &event, (char *) &before, sizeof event);
    zpeer_buffer_free (&frame);
    zpeer_parser_destroy (&parser);
}
