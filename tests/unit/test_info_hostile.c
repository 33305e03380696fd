#include <stdio.h>
#include "event_fixture.h"
#include "info.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define TEXT_MAX      4096

#define HOST  "'hostName':'h','ipAddr':'i'"
#define CLASS "'@class':'com.netflix.appinfo.MyDataCenterInfo'"
#define OWN   "'dataCenterInfo':{" CLASS ",'name':'MyOwn'}"
#define FULL  HOST "," OWN
#define STAMP                                                                  \
    "info.lastDirtyTimestamp is not a number of ms from 1 to 7258118400000, "  \
    "the year 2200"

static verdict_t s_verdict;

TestSuite (info_hostile, .fini = fixture_free);

//  What stands in info, and why it is refused
static const struct {
    const char *info;
    const char *reason;
} s_cases[] = {
    {"", "info.hostName is missing"},
    {"'hostName':null," OWN, "info.hostName is missing"},
    {"'hostName':'','ipAddr':'i'," OWN, "info.hostName is blank"},
    {"'hostName':' \\x09 ','ipAddr':'i'," OWN, "info.hostName is blank"},
    {"'hostName':'h'," OWN, "info.ipAddr is missing"},
    {"'hostName':'h','ipAddr':' '," OWN, "info.ipAddr is blank"},
    {"'hostName':7", "info.hostName is not a string"},
    {"'hostName':'\\x80'", "info.hostName is not valid UTF-8"},
    {"'hostName':'h\\x00'", "info.hostName has a NUL in it"},
    {"'hostName':'h','hostName':'h'", "info.hostName is given twice"},
    {"'port':null,'port':{}", "info.port is given twice"},
    {"'more':1,'more':[2]", "info.more is given twice"},
    {"5:6", "a key of info is not a string"},
    {FULL ",'app':'B'", "info.app is \"B\", but app is \"A\""},
    {FULL ",'app':'AA'", "info.app is \"AA\", but app is \"A\""},
    {FULL ",'app':7", "info.app is not a string"},
    {FULL ",'instanceId':'H'", "info.instanceId is \"H\", but id is \"h\""},
    {FULL ",'instanceId':''", "info.instanceId is \"\", but id is \"h\""},
    {HOST, "info.dataCenterInfo is missing"},
    {HOST ",'dataCenterInfo':'MyOwn'", "info.dataCenterInfo is not a map"},
    {HOST ",'dataCenterInfo':{'name':'MyOwn'}",
     "info.dataCenterInfo.@class is missing"},
    {HOST ",'dataCenterInfo':{" CLASS "}",
     "info.dataCenterInfo.name is missing"},
    {HOST ",'dataCenterInfo':{" CLASS ",'name':'myOwn'}",
     "info.dataCenterInfo.name \"myOwn\" is none of MyOwn, Netflix, Amazon"},
    {HOST ",'dataCenterInfo':{" CLASS ",'name':1}",
     "info.dataCenterInfo.name is not a string"},
    {HOST ",'dataCenterInfo':{'@class':'MyDataCenterInfo','name':'MyOwn'}",
     "info.dataCenterInfo.@class \"MyDataCenterInfo\" is no class peers know"},
    {HOST ",'dataCenterInfo':{'@class':true,'name':'MyOwn'}",
     "info.dataCenterInfo.@class is not a string"},
    {HOST ",'dataCenterInfo':{'@class':'com.netflix.appinfo.AmazonInfo',"
          "'name':'MyOwn'}",
     "info.dataCenterInfo.name is not Amazon, as @class says"},
    {HOST ",'dataCenterInfo':{" CLASS ",'name':'Amazon'}",
     "info.dataCenterInfo.name is Amazon, but @class is not"},
    {HOST ",'dataCenterInfo':{'@class':'com.netflix.appinfo.AmazonInfo',"
          "'name':'Amazon','metadata':{'a':{}}}",
     "info.dataCenterInfo.metadata.a is nested; metadata must be flat"},
    {HOST ",'dataCenterInfo':{'@class':'com.netflix.appinfo.AmazonInfo',"
          "'name':'Amazon','metadata':[]}",
     "info.dataCenterInfo.metadata is not a map"},
    {"'port':8080", "info.port is not a map"},
    {"'port':[8080]", "info.port is not a map"},
    {"'port':{'$':65536}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'$':-1}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'$':'-'}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'$':8080.5}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'$':{}}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'$':x'a'}", "info.port.$ is not a number from 0 to 65535"},
    {"'port':{'@enabled':'TRUE'}", "info.port.@enabled is neither true nor "
                                   "false"},
    {"'port':{'@enabled':1}", "info.port.@enabled is neither true nor false"},
    {"'port':{'$':1,'$':1}", "info.port.$ is given twice"},
    {"'port':{1:1}", "a key of info.port is not a string"},
    {"'securePort':{'$':70000}",
     "info.securePort.$ is not a number from 0 to 65535"},
    {"'countryId':2147483648",
     "info.countryId is not a number from -2147483648 to 2147483647"},
    {"'countryId':'de'",
     "info.countryId is not a number from -2147483648 to 2147483647"},
    {"'leaseInfo':30", "info.leaseInfo is not a map"},
    {"'leaseInfo':{'durationInSecs':2147483648}",
     "info.leaseInfo.durationInSecs is not a number from -2147483648 to "
     "2147483647"},
    {"'leaseInfo':{'evictionTimestamp':-1}",
     "info.leaseInfo.evictionTimestamp is not a number from 0 to "
     "9223372036854775807"},
    {"'leaseInfo':{'serviceUpTimestamp':true}",
     "info.leaseInfo.serviceUpTimestamp is not a number from 0 to "
     "9223372036854775807"},
    {"'metadata':'k=v'", "info.metadata is not a map"},
    {"'metadata':{'a':{'b':'c'}}",
     "info.metadata.a is nested; metadata must be flat"},
    {"'metadata':{'a':[]}", "info.metadata.a is nested; metadata must be flat"},
    {"'metadata':{'a':b'x'}", "info.metadata.a is not a string"},
    {"'metadata':{'a':x'x'}", "info.metadata.a is not a string"},
    {"'metadata':{'a':nan}", "info.metadata.a is not a finite number"},
    {"'metadata':{'a':-inf}", "info.metadata.a is not a finite number"},
    {"'metadata':{'a':'\\xff'}", "info.metadata.a is not valid UTF-8"},
    {"'metadata':{'a':'\\x00'}", "info.metadata.a has a NUL in it"},
    {"'metadata':{'a':1,'b':2,'a':1}", "info.metadata.a is given twice"},
    {"'metadata':{'@class':1,'@class':1}",
     "info.metadata.@class is given twice"},
    {"'metadata':{1:'a'}", "a key of info.metadata is not a string"},
    {"'metadata':{'\\xc3\\x28':'a'}",
     "a key of info.metadata is not valid UTF-8"},
    {"'homePageUrl':false", "info.homePageUrl is not a string"},
    {"'isCoordinatingDiscoveryServer':'yes'",
     "info.isCoordinatingDiscoveryServer is neither true nor false"},
    {"'lastUpdatedTimestamp':'soon'",
     "info.lastUpdatedTimestamp is not a number from 0 to "
     "9223372036854775807"},
    {"'actionType':'Added'",
     "info.actionType \"Added\" is none of ADDED, MODIFIED, DELETED"},
    {"'actionType':1", "info.actionType is not a string"},
    {"'status':'up'", "info.status \"up\" is none of UNKNOWN, UP, DOWN, "
                      "STARTING, OUT_OF_SERVICE"},
    {"'overriddenStatus':''", "info.overriddenStatus \"\" is none of UNKNOWN, "
                              "UP, DOWN, STARTING, OUT_OF_SERVICE"},
    {"'lastDirtyTimestamp':0", STAMP},
    {"'lastDirtyTimestamp':'0'", STAMP},
    {"'lastDirtyTimestamp':'x'", STAMP},
    {FULL, "lastDirtyTimestamp is missing, here and in info"},
};

Test (info_hostile, every_wrong_info_is_refused_with_the_field_that_is_wrong)
{
    for (size_t i = 0; i < LENGTH (s_cases); i++) {
        char text[TEXT_MAX];
        snprintf (text, sizeof text,
                  "{'action':'Register','app':'a','id':'h','info':{%s}}",
                  s_cases[i].info);
        parse_text (&s_verdict, text);
        cr_expect_eq (s_verdict.rc, ZPEER_E_REJECTED, "%s", s_cases[i].info);
        cr_expect_str_eq (s_verdict.reason, s_cases[i].reason);
        cr_expect_eq (s_verdict.offset, s_verdict.size);
    }
}

//  What the event says beside a full info, and why that does not fit
static const struct {
    const char *event;
    const char *info;
    const char *reason;
} s_twice[] = {
    {"'lastDirtyTimestamp':1", "'lastDirtyTimestamp':'2'",
     "lastDirtyTimestamp differs from info.lastDirtyTimestamp"},
    {"'lastDirtyTimestamp':1,'status':'UP'", "'status':'DOWN'",
     "status differs from info.status"},
    {"'lastDirtyTimestamp':1,'overriddenStatus':'UP'",
     "'overriddenStatus':'DOWN'",
     "overriddenStatus differs from info.overriddenStatus"},
    {"'lastDirtyTimestamp':1,'status':'UP'", "'status':'UP'", NULL},
    {"'lastDirtyTimestamp':1", "'lastDirtyTimestamp':'1'", NULL},
    {"'lastDirtyTimestamp':1,'status':'DOWN'", "'sid':'s'", NULL},
};

Test (info_hostile, what_event_and_info_both_say_must_agree)
{
    for (size_t i = 0; i < LENGTH (s_twice); i++) {
        char text[TEXT_MAX];
        snprintf (text, sizeof text,
                  "{'action':'Register','app':'a','id':'h',%s,"
                  "'info':{" FULL ",%s}}",
                  s_twice[i].event, s_twice[i].info);
        parse_text (&s_verdict, text);
        if (s_twice[i].reason)
            cr_expect_str_eq (s_verdict.reason, s_twice[i].reason);
        else
            cr_expect_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    }
}

Test (info_hostile, text_that_grows_beyond_the_limit_as_json_is_refused)
{
    //  A control character is six bytes in JSON
    size_t count = ZPEER_INFO_MAX / 6 + 1;
    zpeer_buffer_t text = {0};
    zpeer_buffer_lit (&text, "{'action':'Register','app':'a','id':'h',"
                             "'lastDirtyTimestamp':1,'info':{" FULL
                             ",'metadata':{'a':'");
    while (count--)
        zpeer_buffer_lit (&text, "\x01");
    zpeer_buffer_add (&text, "'}}}", 5);
    parse_text (&s_verdict, text.data);
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED);
    cr_assert_str_eq (s_verdict.reason,
                      "info is longer than 262144 bytes as JSON");
    zpeer_buffer_free (&text);
}

Test (info_hostile, a_register_after_one_that_was_refused_has_nothing_of_it)
{
    parse_text (&s_verdict,
                "{'action':'Register','app':'a','id':'h','info':{'sid':'s',"
                "'leaseInfo':{'durationInSecs':1},'metadata':{'a':[]}}}");
    cr_assert_eq (s_verdict.rc, ZPEER_E_REJECTED);
    parse_text (&s_verdict,
                "{'action':'Register','app':'a','id':'h',"
                "'lastDirtyTimestamp':1,'info':{" FULL ",'leaseInfo':{}}}");
    cr_assert_eq (s_verdict.rc, ZPEER_OK);
    cr_assert_eq (s_verdict.event.duration_ms, ZPEER_DURATION_MS);
    zpeer_slice_t info = s_verdict.event.info;
    cr_assert_null (memmem (info.data, info.size, "sid", 3));
    cr_assert (memmem (info.data, info.size, "EmptyMap", 8));
}
