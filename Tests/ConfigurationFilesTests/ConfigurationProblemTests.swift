// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

/// An invalid piece of configuration and its error lines.
struct BadFile: Sendable, CustomTestStringConvertible {
    let yaml: String
    let lines: [String]

    init(_ yaml: String, _ lines: String...) {
        self.yaml = yaml
        self.lines = lines
    }

    var testDescription: String { lines.first ?? "accepted" }
}

@Suite("herald.yaml: errors")
struct ConfigurationProblemTests {
    private let folder = TemporaryFolder()

    @Test(arguments: [
        BadFile("brandng: {}", #"herald.yaml:10:1: brandng: unknown key; did you mean "branding"?"#),
        BadFile("zebra: 1", "herald.yaml:10:1: zebra: unknown key"),
        BadFile(
            "log:\n  levl: info", #"herald.yaml:11:3: log.levl: unknown key; did you mean "level"?"#),
        BadFile(
            "branding:\n  max_name_byte: 80\n  enabeld: true",
            #"herald.yaml:11:3: branding.max_name_byte: unknown key; did you mean "max_name_bytes"?"#,
            #"herald.yaml:12:3: branding.enabeld: unknown key; did you mean "enabled"?"#),
        BadFile(
            "strangers: refus",
            #"herald.yaml:10:12: strangers: "refus" is not one of refuse, drop; did you mean "refuse"?"#),
        BadFile("strangers: welcome", #"herald.yaml:10:12: strangers: "welcome" is not one of refuse, drop"#),
        BadFile("strangers:", "herald.yaml:10:11: strangers: must be one of refuse, drop"),
        BadFile(
            "log: {level: loud}",
            #"herald.yaml:10:14: log.level: "loud" is not one of trace, debug, info, notice, warning, error"#),
    ])
    func `an unknown key or value is rejected with a suggestion`(bad: BadFile) throws {
        let problems = try folder.problems(in: smallest + bad.yaml)
        #expect(problems == bad.lines)
    }

    @Test(arguments: [
        BadFile("branding: {enabled: maybe}", "herald.yaml:10:21: branding.enabled: must be true or false"),
        BadFile("branding: {enabled: \"true\"}", "herald.yaml:10:21: branding.enabled: must be true or false"),
        BadFile("branding: 5", "herald.yaml:10:11: branding: must contain keys and values"),
        BadFile(
            "branding: {max_name_bytes: long}", "herald.yaml:10:28: branding.max_name_bytes: must be a whole number"),
        BadFile(
            "branding: {max_name_bytes: 5}", "herald.yaml:10:28: branding.max_name_bytes: 5 is out of range (15 to 200)"
        ),
        BadFile("limits: {max_headers: 20.5}", "herald.yaml:10:23: limits.max_headers: must be a whole number"),
        BadFile(
            "limits: {max_message: 70000}",
            "herald.yaml:10:23: limits.max_message: 70000 is out of range (1300 to 65535)"),
        BadFile(
            "timers: {t1: 500}",
            "herald.yaml:10:14: timers.t1: must be a time with its unit, such as 500ms, 30s, 5m, 24h or 90d"),
        BadFile("timers: {t1: 20s}", "herald.yaml:10:14: timers.t1: 20s is out of range (10ms to 5s)"),
        BadFile("timers: {t1: 5s}", "herald.yaml:10:14: timers.t1: must not be longer than t2 (RFC 3261 §17.1.2.2)"),
        BadFile(
            "branding: {card_link: call_info, call_info: false}",
            "herald.yaml:10:23: branding.card_link: needs call_info: true"),
        BadFile(
            "outcomes: {retention: 1d, returned_window: 72h}",
            "herald.yaml:10:23: outcomes.retention: must be at least returned_window, or return calls find no original call"
        ),
        BadFile(
            "outcomes: {subscribers: [{name: a, members: [1]}, {name: b, members: [2, 1]}]}",
            #"herald.yaml:10:74: outcomes.subscribers[1].members[1]: "1" is already in group a"#),
        BadFile(
            "outcomes: {report_no_match: 2}",
            "herald.yaml:10:29: outcomes.report_no_match: must be true, false or a share between 0 and 1, such as 0.1"
        ),
        BadFile(
            "outcomes: {voicemail: {headers: [X-Answer]}}",
            "herald.yaml:10:34: outcomes.voicemail.headers[0]: must be a header and its value, such as \"X-Answer: vm*\""
        ),
        BadFile(
            "outcomes: {surface: \"two words\"}",
            "herald.yaml:10:21: outcomes.surface: must be 1 to 64 printable ASCII characters without blanks"),
        BadFile(
            "outcomes: {vocabulary: {displayed: call_seen}}",
            #"herald.yaml:10:36: outcomes.vocabulary.displayed: "call_seen" already names another event of the same call, and the directory would drop one"#
        ),
        BadFile(
            "admin: {listen: 127.0.0.1:70000}",
            #"herald.yaml:10:17: admin.listen: port "70000" is out of range (1 to 65535)"#),
        BadFile(
            "admin: {listen: localhost}",
            #"herald.yaml:10:17: admin.listen: "localhost" is a host name; write an address, because this key is not resolved"#
        ),
        BadFile(
            "gateway: {id: \"a b\"}",
            "herald.yaml:10:15: gateway.id: must be 1 to 64 letters, digits, dots, dashes or underscores, not dots alone"
        ),
        BadFile("gateway: {state: \"\"}", "herald.yaml:10:18: gateway.state: must be text"),
        BadFile("gateway: {state: [a]}", "herald.yaml:10:18: gateway.state: must be text"),
        BadFile("brands: {file: no}", "herald.yaml:10:16: brands.file: no cannot be read: No such file or directory"),
        BadFile("brands: {}", "herald.yaml:10:9: brands.file: is missing; write file: brands.psv"),
        BadFile("? [a]\n: b", "herald.yaml:10:3: a key must be text"),
    ])
    func `an invalid value is rejected with its position and the expected form`(bad: BadFile) throws {
        let problems = try folder.problems(in: smallest + bad.yaml)
        #expect(problems == bad.lines)
    }

    @Test(arguments: [
        BadFile(
            "  - {address: 192.0.2.300:5060}",
            #"herald.yaml:2:15: listen[0].address: "192.0.2.300" is not an IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"#
        ),
        BadFile(
            "  - {address: 192.0.2.1:0}", #"herald.yaml:2:15: listen[0].address: port "0" is out of range (1 to 65535)"#
        ),
        BadFile(
            "  - {address: \"192.0.2.1:sip\"}",
            #"herald.yaml:2:15: listen[0].address: port "sip" is out of range (1 to 65535)"#),
        BadFile(
            "  - {address: 0.0.0.0}",
            "herald.yaml:2:15: listen[0].address: 0.0.0.0 means every interface; write one address, or add advertise: with the address for peers"
        ),
        BadFile("  - {name: a}", "herald.yaml:2:5: listen[0].address: is missing; write address: 192.0.2.10:5060"),
        BadFile(
            "  - {name: a, address: 192.0.2.1}\n  - {name: a, address: 192.0.2.1}",
            #"herald.yaml:3:12: listen[1].name: an earlier entry is named "a""#,
            "herald.yaml:3:24: listen[1].address: an earlier entry has 192.0.2.1:5060"),
        BadFile(
            "  - {address: 192.0.2.1, advertise: \"[2001:db8::1]\"}",
            "herald.yaml:2:37: listen[0].advertise: must be a host name, or one address of the same family as 192.0.2.1:5060"
        ),
        BadFile(
            "  - {address: 192.0.2.1, names: [\"herald_office\", \"a.example:0\"]}",
            #"herald.yaml:2:34: listen[0].names[0]: "herald_office" is not an IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"#,
            #"herald.yaml:2:51: listen[0].names[1]: port "0" is out of range (1 to 65535)"#),
        BadFile(
            "  - {address: 192.0.2.1, names: [herald.example, 0.0.0.0]}",
            "herald.yaml:2:50: listen[0].names[1]: 0.0.0.0 means every interface; write a host name or an address"),
        BadFile(
            "  - {address: 192.0.2.1, names: [herald.example, \"192.0.2.20\"]}",
            "herald.yaml:2:5: listen[0]: names contains 192.0.2.20:5060, which is also a target (192.0.2.20:5060); remove it from names"
        ),
        BadFile("  - 192.0.2.1", "herald.yaml:2:5: listen[0]: must contain keys and values"),
    ])
    func `an invalid listen entry is rejected`(bad: BadFile) throws {
        let rest = "\ntrunks: [{sources: [203.0.113.5]}]\npbx: [{address: 192.0.2.20}]"
        let problems = try folder.problems(in: "listen:\n" + bad.yaml + rest)
        #expect(problems == bad.lines)
    }

    @Test(arguments: [
        BadFile(
            "  - {sources: [203.0.113.5], regoin: AU}",
            #"herald.yaml:4:30: trunks[0].regoin: unknown key; did you mean "region"?"#),
        BadFile(
            "  - {sources: [203.0.113.5], region: UK}",
            #"herald.yaml:4:38: trunks[0].region: "UK" is not a country with a numbering plan (two letters, such as AU or DE); did you mean "GB"?"#
        ),
        BadFile(
            "  - {sources: [203.0.113.5], region: au}",
            #"herald.yaml:4:38: trunks[0].region: "au" is not a country with a numbering plan (two letters, such as AU or DE); did you mean "AU"?"#
        ),
        BadFile("  - {name: a}", "herald.yaml:4:5: trunks[0].sources: is missing; write sources: [203.0.113.0/24]"),
        BadFile(
            "  - {sources: [203.0.113.5, 203.0.113.0/33]}",
            #"herald.yaml:4:29: trunks[0].sources[1]: "/33" is not a prefix length (0 to 32)"#),
        BadFile(
            "  - {sources: [carrier.example.com]}",
            #"herald.yaml:4:16: trunks[0].sources[0]: "carrier.example.com" is not an IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"#
        ),
        BadFile(
            "  - {sources: [203.0.113.5/24], next_hop: 203.0.113.5}",
            #"herald.yaml:4:16: trunks[0].sources[0]: "203.0.113.5/24" has bits set after the first 24; write the network's first address, or a single address"#
        ),
        BadFile(
            "  - {sources: [203.0.113.0/24]}",
            "herald.yaml:4:5: trunks[0].next_hop: is missing; write next_hop: 203.0.113.5:5060 (the first source is a range, which cannot be a destination)"
        ),
        BadFile(
            "  - {sources: [sip.example.com], next_hop: 203.0.113.5}",
            #"herald.yaml:4:16: trunks[0].sources[0]: "sip.example.com" is not an IPv4 or IPv6 address (write 192.0.2.1 or [2001:db8::1])"#
        ),
        BadFile(
            "  - {certificate_names: [a.example], next_hop: 203.0.113.5}",
            "herald.yaml:4:25: trunks[0].certificate_names: need a listen entry with transport: tls and client_certificate: true"
        ),
        BadFile(
            "  - {certificate_names: [a.example]}",
            "herald.yaml:4:5: trunks[0].next_hop: is missing; write next_hop: 203.0.113.5:5060 (the default needs a source)",
            "herald.yaml:4:25: trunks[0].certificate_names: need a listen entry with transport: tls and client_certificate: true"
        ),
        BadFile(
            "  - {sources: [], next_hop: 203.0.113.5}", "herald.yaml:4:15: trunks[0].sources: must not be empty"),
        BadFile("  - {sources: []}", "herald.yaml:4:15: trunks[0].sources: must not be empty"),
        BadFile(
            "  - {sources: [203.0.113.5], listen: sipp}",
            #"herald.yaml:4:38: trunks[0].listen: no entry is named "sipp"; did you mean "sip"?"#),
        BadFile(
            "  - {sources: [203.0.113.5], pbx: office}",
            #"herald.yaml:4:35: trunks[0].pbx: no entry is named "office""#),
        BadFile(
            "  - {sources: [\"[2001:db8::5]\"]}",
            "herald.yaml:4:5: trunks[0].next_hop: [2001:db8::5]:5060 cannot be reached from 192.0.2.10:5060; name a listen entry of the same family"
        ),
        BadFile(
            "  - {sources: [203.0.113.5], identity: [pai, from, pai]}",
            #"herald.yaml:4:52: trunks[0].identity[2]: "pai" is listed twice"#),
        BadFile(
            "  - {sources: [203.0.113.5], identity: [pia]}",
            #"herald.yaml:4:41: trunks[0].identity[0]: "pia" is not one of pai, rpid, from; did you mean "pai"?"#),
        BadFile(
            "  - {sources: [203.0.113.5], identity: []}", "herald.yaml:4:40: trunks[0].identity: must not be empty"),
        BadFile(
            "  - {sources: [203.0.113.5], trunk_header: From}",
            "herald.yaml:4:44: trunks[0].trunk_header: must be true, false, or a header name that begins with X-"),
        BadFile(
            "  - {sources: [203.0.113.5], policy: strikt}",
            #"herald.yaml:4:38: trunks[0].policy: "strikt" is not one of standard, strict, permissive; did you mean "strict"?"#
        ),
        BadFile(
            "  - {name: a, sources: [203.0.113.5]}\n  - {name: a, sources: [203.0.113.6]}",
            #"herald.yaml:5:12: trunks[1].name: an earlier entry is named "a""#),
        BadFile(
            "  - {name: a, sources: [203.0.113.0/24], next_hop: 203.0.113.5}\n  - {name: b, sources: [198.51.100.1, 203.0.113.6]}",
            "herald.yaml:5:39: trunks[1].sources[1]: 203.0.113.6 already belongs to trunk a (203.0.113.0/24); add ports to both, narrow one, or give each trunk a listen entry of its own"
        ),
        BadFile(
            "  - {sources: [\"192.0.2.20:5060\"]}",
            "herald.yaml:4:16: trunks[0].sources[0]: 192.0.2.20:5060 already belongs to pbx pbx1 (192.0.2.20); add ports to both, or narrow one"
        ),
        BadFile(
            "  - {sources: [203.0.113.5], next_hop: 203.0.113.5, certificate_name: '*.carrier.example'}",
            "herald.yaml:4:71: trunks[0].certificate_name: wildcards match no SIP domain (RFC 5922 §7.2); write the complete name"
        ),
    ])
    func `an invalid trunk is rejected`(bad: BadFile) throws {
        let yaml = "listen: [{name: sip, address: 192.0.2.10}]\npbx: [{address: 192.0.2.20}]\ntrunks:\n" + bad.yaml
        let problems = try folder.problems(in: yaml)
        #expect(problems == bad.lines)
    }

    @Test(arguments: [
        ("{sources: [203.0.113.5], listen: a}", "{sources: [203.0.113.5], listen: b}", true),
        ("{sources: [203.0.113.5], listen: a}", "{sources: [203.0.113.5], listen: a}", false),
        ("{sources: [203.0.113.0/24], next_hop: 203.0.113.5}", "{sources: [203.0.113.7], listen: b}", true),
    ])
    func `trunks may share a source if their listen entries differ`(
        one: String, other: String, isFine: Bool
    ) throws {
        let listen = "listen: [{name: a, address: 192.0.2.10}, {name: b, address: 192.0.2.11}]"
        let problems = try folder.problems(
            in: "\(listen)\npbx: [{address: 192.0.2.20}]\ntrunks:\n  - \(one)\n  - \(other)")
        #expect(problems.isEmpty == isFine, "\(problems)")
    }

    @Test(arguments: [
        ("second", "192.0.2.20", nil),
        ("second", "pbx.example.com", nil),
        ("stream", "192.0.2.20", #""stream" (tcp, 192.0.2.10:5060) does not reach 192.0.2.20:5060 by udp"#),
        ("six", "192.0.2.20", #""six" (udp, [2001:db8::10]:5060) does not reach 192.0.2.20:5060 by udp"#),
        ("stream", "pbx.example.com", #""stream" (tcp, 192.0.2.10:5060) does not reach pbx.example.com by udp"#),
    ])
    func `pbx_listen must reach a target of the PBX`(name: String, pbx: String, problem: String?) throws {
        let problems = try folder.problems(
            in: """
                listen:
                  - {name: first, address: 192.0.2.10}
                  - {name: second, address: 192.0.2.11}
                  - {name: stream, address: 192.0.2.10, transport: tcp}
                  - {name: six, address: "[2001:db8::10]"}
                pbx: [{address: \(pbx)}]
                trunks:
                  - sources: [203.0.113.5]
                    pbx_listen: \(name)
                """)
        #expect(
            problems
                == (problem.map {
                    [
                        "herald.yaml:9:17: trunks[0].pbx_listen: \($0); "
                            + "name a listen entry of the same transport and family"
                    ]
                } ?? []))
    }

    @Test(arguments: [
        BadFile("  - {name: a}", "herald.yaml:4:5: pbx[0].address: is missing; write address: 192.0.2.20:5060"),
        BadFile(
            "  - {address: 192.0.2.20, max_datagram: 500}",
            "herald.yaml:4:41: pbx[0].max_datagram: must be 0 for no limit, or 1300 to 65535 bytes"),
        BadFile(
            "  - {targets: [{address: 192.0.2.21}], listen: sipp}",
            #"herald.yaml:4:48: pbx[0].listen: no entry is named "sipp""#),
        BadFile(
            "  - {targets: [{address: 192.0.2.21}], max_datagram: 500}",
            "herald.yaml:4:54: pbx[0].max_datagram: must be 0 for no limit, or 1300 to 65535 bytes"),
        BadFile("  - {address: 0.0.0.0}", "herald.yaml:4:15: pbx[0].address: 0.0.0.0 cannot be a destination"),
        BadFile(
            "  - {address: 192.0.2.20, targets: [{address: 192.0.2.21}]}",
            "herald.yaml:4:15: pbx[0].address: cannot be combined with targets; use one of them"),
        BadFile(
            "  - {targets: [{address: 192.0.2.21}, {address: 192.0.2.21}]}",
            "herald.yaml:4:49: pbx[0].targets[1].address: an earlier entry has 192.0.2.21:5060"),
        BadFile(
            "  - {targets: [{address: 192.0.2.21, priority: -1}]}",
            "herald.yaml:4:48: pbx[0].targets[0].priority: -1 is out of range (0 to 65535)"),
        BadFile(
            "  - {targets: [{adress: 192.0.2.21}]}",
            "herald.yaml:4:16: pbx[0].targets[0].address: is missing; write address: 192.0.2.20:5060",
            #"herald.yaml:4:17: pbx[0].targets[0].adress: unknown key; did you mean "address"?"#),
    ])
    func `an invalid PBX is rejected`(bad: BadFile) throws {
        let yaml = "listen: [{address: 192.0.2.10}]\ntrunks: [{sources: [203.0.113.5]}]\npbx:\n" + bad.yaml
        let problems = try folder.problems(in: yaml)
        #expect(problems == bad.lines)
    }

    @Test func `all problems are reported at once, in the order of the file`() throws {
        let yaml = """
            listen:
              - {address: "192.0.2.10:99999"}
            trunks: []
            strangers: no
            directory: {url: ftp://x}
            """
        #expect(
            try folder.problems(in: yaml) == [
                "herald.yaml:1:1: pbx: is missing; write pbx: [{name: office, address: 192.0.2.20:5060}]",
                #"herald.yaml:2:15: listen[0].address: port "99999" is out of range (1 to 65535)"#,
                "herald.yaml:3:9: trunks: must be a list with at least one entry",
                #"herald.yaml:4:12: strangers: "no" is not one of refuse, drop"#,
                "herald.yaml:5:12: directory.api_key_file: is missing; write api_key_file: /etc/herald/api-key",
                "herald.yaml:5:18: directory.url: must be an http:// or https:// URL with a host, without user, query and fragment",
            ])
    }

    @Test(arguments: [
        BadFile("", "herald.yaml: is empty"),
        BadFile("# nothing\n", "herald.yaml: is empty"),
        BadFile("just words", "herald.yaml: must contain keys and values"),
        BadFile("- a\n- b", "herald.yaml: must contain keys and values"),
        BadFile("a: 1\nb: 2\na: 3", #"herald.yaml:1:1: duplicate key: "a""#),
        BadFile(
            "log:\n  level: info\n  level: debug", #"herald.yaml:2:3: duplicate key: "level""#),
        BadFile("a: [1, 2", "herald.yaml:2:1: is not valid YAML here: did not find expected ',' or ']'"),
        BadFile("a:\n\t- b", "herald.yaml:2:1: is not valid YAML here: a tab; indent with spaces"),
        BadFile("a:\n  b: 1\n\tc: 2", "herald.yaml:3:1: is not valid YAML here: a tab; indent with spaces"),
        BadFile("a: \"b", "herald.yaml:1:6: is not valid YAML here: found unexpected end of stream"),
    ])
    func `a file that is not a configuration is rejected with its line`(bad: BadFile) throws {
        let problems = try folder.problems(in: bad.yaml)
        #expect(problems == bad.lines)
    }

    @Test func `a missing file or a binary file is rejected`() throws {
        let path = folder.path + "/none.yaml"
        let missing = #expect(throws: ConfigurationError.self) { try HeraldConfiguration.load(path: path) }
        #expect(missing?.description == "\(path): cannot be read: No such file or directory")
        let closed = "/proc/sys/net/ipv4/route/flush"  // by the kernel, also to root
        let forbidden = #expect(throws: ConfigurationError.self) { try HeraldConfiguration.load(path: closed) }
        #expect(
            forbidden?.description
                == "\(closed): cannot be read: Permission denied; run the command as root or herald: sudo -u herald")
        try Data([0x61, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: path))
        let binary = #expect(throws: ConfigurationError.self) { try HeraldConfiguration.load(path: path) }
        #expect(binary?.description == "\(path): is not UTF-8 text")
    }

    @Test func `control characters of a file are escaped in errors`() throws {
        let problems = try folder.problems(in: smallest + #""a\e[2Jb": 1"# + "\nstrangers: \"x\\r\\ny\"")
        #expect(
            problems == [
                #"herald.yaml:10:1: a\u{1b}[2Jb: unknown key"#,
                #"herald.yaml:11:12: strangers: "x\u{d}\u{a}y" is not one of refuse, drop"#,
            ])
    }
}
