// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@Suite("herald.yaml: routes and their list files")
struct RoutesSchemaTests {
    private let folder = TemporaryFolder()

    private func routes(_ table: String) throws -> HeraldConfiguration.Routes {
        try folder.load(smallest + "routes:\n  table:\n" + table).routes
    }

    private func problems(_ table: String) throws -> [String] {
        try folder.problems(in: smallest + "routes:\n  table:\n" + table)
    }

    private func route(of number: String, _ routes: HeraldConfiguration.Routes) throws -> String? {
        routes.numbers.route(of: try #require(E164Number(number))).map { routes.table[$0].name }
    }

    @Test func `without routes each call goes to its trunk's PBX`() throws {
        let routes = try folder.load(smallest).routes
        #expect(routes.table.isEmpty && routes.numbers.isEmpty)
        #expect(routes.unmatched == .trunk && routes.called == .requestURI)
    }

    @Test func `numbers, prefixes, ranges, policy and limits are read`() throws {
        let configuration = try folder.load(
            smallest + """
                routes:
                  called: to
                  default: reject
                  table:
                    - {name: acme, numbers: [+49301234567, +4930200*], pbx: pbx1, policy: strict, brands: false,
                       limits: {calls_per_second: 5, burst: 9, calls: 30}}
                    - {numbers: +49301300-+49301309}
                    - {numbers: "030 1400001", region: DE}
                """)
        let routes = configuration.routes
        #expect(routes.called == .to && routes.unmatched == .reject)
        #expect(routes.table.map(\.name) == ["acme", "route2", "route3"])
        #expect(routes.table.map(\.numberCount) == [1, 10, 1])
        #expect(routes.table.map(\.prefixCount) == [1, 0, 0])
        #expect(routes.table[0].pbx == 0 && routes.table[1].pbx == nil)
        #expect(routes.table[0].policy == .strict && routes.table[1].policy == nil)
        #expect(routes.table[0].brands == .off && routes.table[1].brands == .on)
        let limits = routes.table[0].limits
        #expect(limits.callsPerSecond == 5 && limits.burst == 9 && limits.calls == 30)
        #expect(try route(of: "+49302009999", routes) == "acme")
        #expect(try route(of: "+49301309", routes) == "route2")
        #expect(try route(of: "+49301310", routes) == nil)
        #expect(try route(of: "+49301400001", routes) == "route3")
    }

    // The form of Sangoma's "DID List", of a spreadsheet, and of a text file.
    @Test(arguments: [
        "did\n+49301234567\n+49301234568\n",
        "\u{FEFF}Name;Number\r\n\"Acme; Berlin\";\"+49301234567\"\r\nAcme Hall;+49301234568\r\n",
        "# Numbers of Acme\n\n+49301234567   # the desk\n  +49301234568\n#+49301234569\n",
        "+49301234567,Acme,Berlin\n+49301234568,Acme,\n",
        "number\tsite\n+49301234567-+49301234568\tBerlin",
        "\"+49301234567\"\n+49301234568",
    ])
    func `a list is plain text or CSV with comments`(text: String) throws {
        try folder.write(text, to: "numbers.csv")
        let routes = try routes("    - {name: acme, list: numbers.csv}\n")
        #expect(routes.table[0].numberCount == 2)
        for number in ["+49301234567", "+49301234568"] { #expect(try route(of: number, routes) == "acme") }
        #expect(try route(of: "+49301234569", routes) == nil)
        #expect(routes.table[0].lists == [folder.path + "/numbers.csv"])
    }

    @Test func `a bad line is reported with file, line, the text and the remedy`() throws {
        try folder.write(
            "+49301234567\n\n030123456\n+4912\n+49301*5\n+493012-+493011\n+49301234567-+49301934567\n", to: "n.txt")
        let found = try problems("    - {name: acme, list: n.txt}\n")
        #expect(
            found == [
                "n.txt:3:1: route acme: \"030123456\" has no plus sign; write the number as +4930123456, or set region for the route",
                "n.txt:4:1: route acme: \"+4912\" is no telephone number; write it as +4930123456, and a prefix as +4930*",
                "n.txt:5:1: route acme: \"+49301*5\" is no telephone number; write it as +4930123456, and a prefix as +4930*",
                "n.txt:6:1: route acme: \"+493012-+493011\" is no telephone number; write it as +4930123456, and a prefix as +4930*",
                "n.txt:7:1: route acme: \"+49301234567-+49301934567\" has more than 100000 numbers; write prefixes such as +4930*",
            ])
    }

    @Test func `a list of nothing but bad lines is cut off after twenty problems`() throws {
        try folder.write(String(repeating: "x9\n", count: 1_000), to: "n.txt")
        let found = try problems("    - {list: n.txt}\n")
        #expect(found.count == 21)
        #expect(found.contains { $0.hasSuffix("n.txt has 980 more lines with problems") })
    }

    @Test(arguments: [
        ("    - {pbx: pbx1}\n", "numbers: is missing; write numbers:"),
        ("    - {numbers: +4930*, pbx: pbx2}\n", "no entry is named \"pbx2\"; did you mean \"pbx1\"?"),
        ("    - {numbers: +4930*, policy: strikt}\n", "did you mean \"strict\"?"),
        ("    - {numbers: +4930*, region: XX}\n", "is not a country with a numbering plan"),
        ("    - {numbers: +*}\n", "is no prefix"),
        ("    - {numbers: +030*}\n", "is no prefix"),
        ("    - {list: absent.csv}\n", "absent.csv cannot be read: "),
        ("    - {name: a, numbers: +4930*}\n    - {name: a, numbers: +4931*}\n", "an earlier entry is named \"a\""),
        ("    - {name: a, numbers: +4930*}\n    - {name: b, numbers: +4930*}\n", "+4930* belongs to route a already"),
    ])
    func `a route that cannot be right is a problem with its place`(table: String, expected: String) throws {
        let found = try problems(table)
        #expect(found.count == 1)
        #expect(found.first?.contains(expected) == true, "\(found)")
        #expect(found.first?.hasPrefix("herald.yaml:1") == true, "\(found)")
    }

    @Test func `an empty list is a problem, because its route would lose all its calls`() throws {
        try folder.write("# none\n", to: "n.txt")
        #expect(try problems("    - {list: n.txt}\n").first?.contains("n.txt has no entry") == true)
    }

    @Test func `repetitions and overlaps are remarks with their number`() throws {
        try folder.write("+49301234567\n+49301234568\n+49301234567\n+49301234568\n", to: "n.txt")
        let configuration = try folder.load(
            smallest + "routes:\n  table:\n    - {name: acme, list: n.txt}\n    - {name: berlin, numbers: +4930*}\n")
        let remarks = configuration.remarks.filter { $0.hasPrefix("route ") }
            .map { $0.replacing(folder.path + "/", with: "") }
        #expect(
            remarks == [
                "route acme lists +49301234567 twice, again at n.txt:3, and 1 more entries",
                "route acme: \(try #require(remarks.last?.firstMatch(of: /\+4930123456[78]/)).output) and 1 more entries"
                    + " within +4930* of route berlin; the longer entry wins",
            ])
    }

    @Test func `commands without need of called numbers do not read the lists`() throws {
        let yaml = smallest + "routes:\n  table:\n    - {list: absent.csv}\n"
        let path = try folder.write(yaml, to: "herald.yaml")
        let routes = try HeraldConfiguration.load(path: path, lists: .ignored).routes
        #expect(routes.table.count == 1 && routes.numbers.isEmpty)
    }
}
