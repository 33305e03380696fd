#include <stdio.h>
#include <jansson.h>
#include "event_fixture.h"
#include "banned.h"

#define LENGTH(array) (sizeof (array) / sizeof *(array))
#define TEXT_MAX      4096

#define CENTER                                                                 \
    "'dataCenterInfo':{'@class':"                                              \
    "'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo','name':"         \
    "'MyOwn'}"

static verdict_t s_verdict;

//  A Register with these members of info, which has what is required already
static void
s_parse (const char *members)
{
    char text[TEXT_MAX];
    snprintf (text, sizeof text,
              "{'action':'Register','app':'Shop','id':'h:1',"
              "'lastDirtyTimestamp':7,'info':{'hostName':'h','ipAddr':'1.2.3.4'"
              "%s%s}}",
              *members ? "," : "", members);
    parse_text (&s_verdict, text);
}

//  The JSON that came out, as a peer gets it; the caller's
static json_t *
s_json (const char *members)
{
    s_parse (members);
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s: %s", members, s_verdict.reason);
    zpeer_buffer_t text = {0};
    zpeer_buffer_slice (&text, s_verdict.event.info);
    zpeer_buffer_lit (&text, ",\"status\":\"UP\"}");
    json_error_t error;
    json_t *json =
        json_loadb (text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    cr_assert (json, "%s", error.text);
    zpeer_buffer_free (&text);
    return json;
}

//  A member as compact JSON, without quotes for apostrophes' sake; "" if none
static void
s_expect (const char *members, const char *name, const char *expected)
{
    json_t *json = s_json (members);
    json_t *value = json_object_get (json, name);
    char *text = value ? json_dumps (value, JSON_COMPACT | JSON_ENCODE_ANY)
                       : strdup ("");
    for (char *at = text; *at; at++)
        if (*at == '"')
            *at = '\'';
    cr_expect_str_eq (text, expected);
    free (text);
    json_decref (json);
}

TestSuite (info, .fini = fixture_free);

Test (info, the_text_is_exactly_the_reference_order)
{
    parse_text (
        &s_verdict,
        "{'action':'Register','app':'shop','id':'h:1','info':{"
        "'actionType':'MODIFIED','lastDirtyTimestamp':5,"
        "'lastUpdatedTimestamp':6,'isCoordinatingDiscoveryServer':true,"
        "'asgName':'asg','secureVipAddress':'sv','vipAddress':'v',"
        "'secureHealthCheckUrl':'sh','healthCheckUrl':'hc','statusPageUrl':'s',"
        "'homePageUrl':'hp','appGroupName':'group','metadata':{'k':'v'},"
        "'leaseInfo':{'serviceUpTimestamp':4,'evictionTimestamp':3,"
        "'lastRenewalTimestamp':2,'registrationTimestamp':1,"
        "'durationInSecs':60,'renewalIntervalInSecs':20}," CENTER
        ",'countryId':2,'securePort':{'@enabled':true,'$':8443},"
        "'port':{'@enabled':false,'$':8080},'sid':'sid','ipAddr':'1.2.3.4',"
        "'app':'Shop','hostName':'h','instanceId':'h:1','status':'DOWN',"
        "'overriddenStatus':'DOWN','unknown':[{'a':1}]}}");
    cr_assert_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    assert_slice (
        s_verdict.event.info,
        "{\"instanceId\":\"h:1\",\"hostName\":\"h\",\"app\":\"SHOP\","
        "\"ipAddr\":\"1.2.3.4\",\"sid\":\"sid\","
        "\"port\":{\"$\":8080,\"@enabled\":\"false\"},"
        "\"securePort\":{\"$\":8443,\"@enabled\":\"true\"},\"countryId\":2,"
        "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "InstanceInfo$DefaultDataCenterInfo\",\"name\":\"MyOwn\"},"
        "\"leaseInfo\":{\"renewalIntervalInSecs\":20,\"durationInSecs\":60,"
        "\"registrationTimestamp\":1,\"lastRenewalTimestamp\":2,"
        "\"evictionTimestamp\":3,\"serviceUpTimestamp\":4},"
        "\"metadata\":{\"k\":\"v\"},\"appGroupName\":\"GROUP\","
        "\"homePageUrl\":\"hp\",\"statusPageUrl\":\"s\","
        "\"healthCheckUrl\":\"hc\",\"secureHealthCheckUrl\":\"sh\","
        "\"vipAddress\":\"v\",\"secureVipAddress\":\"sv\",\"asgName\":\"asg\","
        "\"isCoordinatingDiscoveryServer\":\"true\","
        "\"lastUpdatedTimestamp\":\"6\",\"actionType\":\"MODIFIED\"");
    cr_assert_eq (s_verdict.event.renewal_ms, 20000);
    cr_assert_eq (s_verdict.event.duration_ms, 60000);
}

Test (info, what_is_not_given_is_what_a_peer_would_assume)
{
    s_parse (CENTER);
    assert_slice (
        s_verdict.event.info,
        "{\"instanceId\":\"h:1\",\"hostName\":\"h\",\"app\":\"SHOP\","
        "\"ipAddr\":\"1.2.3.4\",\"port\":{\"$\":7001,\"@enabled\":\"true\"},"
        "\"securePort\":{\"$\":7002,\"@enabled\":\"false\"},\"countryId\":1,"
        "\"dataCenterInfo\":{\"@class\":\"com.netflix.appinfo."
        "InstanceInfo$DefaultDataCenterInfo\",\"name\":\"MyOwn\"},"
        "\"metadata\":{\"@class\":\"java.util.Collections$EmptyMap\"},"
        "\"isCoordinatingDiscoveryServer\":\"false\","
        "\"actionType\":\"ADDED\"");
}

//  Members, name, what comes out
static const struct {
    const char *members;
    const char *name;
    const char *json;
} s_cases[] = {
    {"'port':{'$':'9001','@enabled':'true'}", "port",
     "{'$':9001,'@enabled':'true'}"},
    {"'port':{'$':0}", "port", "{'$':0,'@enabled':'true'}"},
    {"'port':{'$':65535.0}", "port", "{'$':65535,'@enabled':'true'}"},
    {"'port':{'@enabled':'false'}", "port", "{'$':7001,'@enabled':'false'}"},
    {"'port':{'$':null,'@enabled':null,'more':{}}", "port",
     "{'$':7001,'@enabled':'true'}"},
    {"'port':null", "port", "{'$':7001,'@enabled':'true'}"},
    {"'securePort':{'$':1}", "securePort", "{'$':1,'@enabled':'false'}"},
    {"'countryId':'44'", "countryId", "44"},
    {"'countryId':-1", "countryId", "-1"},
    {"'sid':'na'", "sid", ""},
    {"'sid':'unknown'", "sid", ""},
    {"'sid':'7'", "sid", "'7'"},
    {"'vipAddress':''", "vipAddress", "''"},
    {"'vipAddress':null", "vipAddress", ""},
    {"'appGroupName':'caf\xc3\xa9'", "appGroupName", "'CAF\xc3\xa9'"},
    {"'isCoordinatingDiscoveryServer':'true'", "isCoordinatingDiscoveryServer",
     "'true'"},
    {"'isCoordinatingDiscoveryServer':false", "isCoordinatingDiscoveryServer",
     "'false'"},
    {"'lastUpdatedTimestamp':'0'", "lastUpdatedTimestamp", "'0'"},
    {"'actionType':'DELETED'", "actionType", "'DELETED'"},
    {"'identifyingAttribute':'x'", "identifyingAttribute", ""},
    {"'status':'DOWN'", "status", "'UP'"},
    {"'overriddenStatus':'DOWN'", "overriddenStatus", ""},
    {"'lastDirtyTimestamp':7", "lastDirtyTimestamp", ""},
    {"'leaseInfo':{}", "leaseInfo",
     "{'renewalIntervalInSecs':30,'durationInSecs':90,'registrationTimestamp':0"
     ",'lastRenewalTimestamp':0,'evictionTimestamp':0,'serviceUpTimestamp':0}"},
    {"'leaseInfo':{'renewalIntervalInSecs':0,'durationInSecs':-5,"
     "'evictionTimestamp':'9','renewalTimestamp':1}",
     "leaseInfo",
     "{'renewalIntervalInSecs':30,'durationInSecs':90,'registrationTimestamp':0"
     ",'lastRenewalTimestamp':0,'evictionTimestamp':9,'serviceUpTimestamp':0}"},
    {"'leaseInfo':null", "leaseInfo", ""},
    {"'metadata':{}", "metadata",
     "{'@class':'java.util.Collections$EmptyMap'}"},
    {"'metadata':{'@class':'java.util.HashMap'}", "metadata",
     "{'@class':'java.util.Collections$EmptyMap'}"},
    {"'metadata':{'@class':{'x':1},'a':'b'}", "metadata", "{'a':'b'}"},
    {"'metadata':{'t':true,'f':false,'n':null}", "metadata",
     "{'t':'true','f':'false','n':'null'}"},
    {"'metadata':{'u':18446744073709551615,'i':-9223372036854775808}",
     "metadata", "{'u':'18446744073709551615','i':'-9223372036854775808'}"},
    {"'metadata':{'a':1.5,'b':2.0,'c':0.1,'d':f0.1,'e':1.0e100,'g':0."
     "30000000000000004,'f':-0.0}",
     "metadata",
     "{'a':'1.5','b':'2.0','c':'0.1','d':'0.1','e':'1e+100','g':'0."
     "30000000000000004','f':'-0.0'}"},
    {"'metadata':{'':''}", "metadata", "{'':''}"},
    {"'metadata':{'a\\x09b':'\\x5c\\x0a\\x01\\x7f/\xe2\x82\xac'}", "metadata",
     "{'a\\tb':'\\\\\\n\\u0001\x7f/\xe2\x82\xac'}"},
};

Test (info, every_member_comes_out_as_peers_want_it)
{
    for (size_t i = 0; i < LENGTH (s_cases); i++) {
        char members[TEXT_MAX];
        snprintf (members, sizeof members, CENTER ",%s", s_cases[i].members);
        s_expect (members, s_cases[i].name, s_cases[i].json);
    }
}

static const struct {
    const char *center;
    const char *json;
} s_centers[] = {
    //  First: nothing has been allocated for metadata yet
    {"{'name':'Amazon','@class':'com.netflix.appinfo.AmazonInfo'}",
     "{'@class':'com.netflix.appinfo.AmazonInfo','name':'Amazon',"
     "'metadata':{}}"},
    {"{'name':'Netflix','x':{},'@class':'com.netflix.appinfo.MyDataCenterInfo'"
     "}",
     "{'@class':'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo',"
     "'name':'Netflix'}"},
    {"{'metadata':{'instance-id':'i-1','n':5},'name':'Amazon',"
     "'@class':'com.netflix.appinfo.AmazonInfo'}",
     "{'@class':'com.netflix.appinfo.AmazonInfo','name':'Amazon',"
     "'metadata':{'instance-id':'i-1','n':'5'}}"},
    {"{'name':'MyOwn','metadata':{'a':'b'},"
     "'@class':'com.netflix.appinfo.MyDataCenterInfo'}",
     "{'@class':'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo',"
     "'name':'MyOwn'}"},
};

Test (info, a_data_centre_has_its_class_first_and_amazons_metadata_last)
{
    for (size_t i = 0; i < LENGTH (s_centers); i++) {
        char members[TEXT_MAX];
        snprintf (members, sizeof members, "'dataCenterInfo':%s",
                  s_centers[i].center);
        s_expect (members, "dataCenterInfo", s_centers[i].json);
    }
}

Test (info, both_maps_of_metadata_may_have_the_same_keys)
{
    json_t *json = s_json (
        "'metadata':{'a':'1'},'dataCenterInfo':{'@class':"
        "'com.netflix.appinfo.AmazonInfo','name':'Amazon','metadata':{'a':2}}");
    json_decref (json);
}

Test (info, a_lease_too_long_for_milliseconds_is_as_long_as_can_be)
{
    s_parse (CENTER ",'leaseInfo':{'durationInSecs':2147483647}");
    cr_assert_eq (s_verdict.rc, ZPEER_OK);
    cr_assert_eq (s_verdict.event.renewal_ms, 30000);
    cr_assert_eq (s_verdict.event.duration_ms, UINT32_MAX);
}

Test (info, the_alias_of_overridden_status_is_the_same_member)
{
    s_parse (CENTER ",'overriddenstatus':'DOWN'");
    cr_assert_eq (s_verdict.rc, ZPEER_OK);
    cr_assert_eq (s_verdict.event.override, ZPEER_DOWN);
    s_parse (CENTER ",'overriddenstatus':'DOWN','overriddenStatus':'UP'");
    cr_assert_str_eq (s_verdict.reason, "info.overriddenStatus is given twice");
}

//  The parser expects the order of the Register before
Test (info, members_may_come_in_another_order_each_time)
{
    static const char *const members[] = {
        CENTER ",'vipAddress':'v','countryId':7",
        "'countryId':7," CENTER ",'vipAddress':'v'",
        "'x':1,'vipAddress':'v','y':2,'countryId':7," CENTER,
        "'countryId':7,'vipAddress':'v'," CENTER ",'sid':'s'",
    };
    for (size_t i = 0; i < 4 * LENGTH (members); i++) {
        json_t *json = s_json (members[i * 3 / 2 % LENGTH (members)]);
        cr_expect_eq (json_integer_value (json_object_get (json, "countryId")),
                      7);
        cr_expect_str_eq (
            json_string_value (json_object_get (json, "vipAddress")), "v");
        json_decref (json);
    }
}

Test (info, a_thousand_members_of_metadata_are_fine_if_all_differ)
{
    zpeer_buffer_t text = {0};
    zpeer_buffer_lit (&text, "{'action':'Register','app':'A','id':'h',"
                             "'lastDirtyTimestamp':1,'info':{'hostName':'h',"
                             "'ipAddr':'i'," CENTER ",'metadata':{");
    for (uint64_t i = 0; i < 1000; i++) {
        zpeer_buffer_lit (&text, "'k");
        zpeer_buffer_uint (&text, i);
        zpeer_buffer_lit (&text, "':'',");
    }
    zpeer_buffer_t twice = {0};
    zpeer_buffer_add (&twice, text.data, text.size);
    zpeer_buffer_add (&text, "}}}", 4);
    parse_text (&s_verdict, text.data);
    cr_expect_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    zpeer_buffer_lit (&twice, "'k500':''");
    zpeer_buffer_add (&twice, "}}}", 4);
    parse_text (&s_verdict, twice.data);
    cr_expect_str_eq (s_verdict.reason, "info.metadata.k500 is given twice");
    zpeer_buffer_free (&text);
    zpeer_buffer_free (&twice);
}

//  A Register with one key of this many bytes in metadata
static void
s_parse_key (size_t size)
{
    zpeer_buffer_t text = {0};
    zpeer_buffer_lit (&text, "{'action':'Register','app':'A','id':'h',"
                             "'lastDirtyTimestamp':1,'info':{'hostName':'h',"
                             "'ipAddr':'i'," CENTER ",'metadata':{'");
    while (size--)
        zpeer_buffer_lit (&text, "k");
    zpeer_buffer_add (&text, "':''}}}", sizeof "':''}}}");
    parse_text (&s_verdict, text.data);
    zpeer_buffer_free (&text);
}

Test (info, a_key_of_metadata_is_as_long_as_peers_read)
{
    s_parse_key (ZPEER_KEY_MAX);
    cr_expect_eq (s_verdict.rc, ZPEER_OK, "%s", s_verdict.reason);
    s_parse_key (ZPEER_KEY_MAX + 1);
    cr_expect_str_eq (s_verdict.reason,
                      "a key of info.metadata is longer than 50000 bytes");
}
