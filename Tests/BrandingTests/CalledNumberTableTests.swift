// SPDX-License-Identifier: Apache-2.0

import Branding
import SeededRandom
import Testing

@Suite("Routes by called number: longest match")
struct CalledNumberTableTests {
    private func table(_ entries: [(String, Int)]) throws -> CalledNumberTable {
        var table = CalledNumberTable()
        for (text, route) in entries {
            let key: CalledNumberTable.Key
            if text.hasSuffix("*") {
                key = .prefix(try #require(UInt64(text.dropFirst().dropLast())))
            } else {
                key = .number(try #require(E164Number(text)))
            }
            #expect(table.add(key, route: route) == nil)
        }
        table.compact()
        return table
    }

    // The examples of "Routing Calls by Matching Digits" of Oracle's session border controller.
    @Test(arguments: [
        ("+1234567890", 2 as Int?, "+123*"), ("+1244567890", 1, "+12*"), ("+2123456789", nil, ""),
    ])
    func `the route with the most leading digits of the number wins`(number: String, route: Int?, by: String) throws {
        let table = try table([("+12*", 1), ("+123*", 2)])
        let called = try #require(E164Number(number))
        #expect(table.route(of: called) == route)
        #expect(table.match(called)?.key.description ?? "" == by)
    }

    @Test func `a complete number goes before each prefix, also one of all its digits`() throws {
        let table = try table([("+49301234567*", 1), ("+49301234567", 2), ("+4930*", 3), ("+4*", 4)])
        for (number, route) in [
            ("+49301234567", 2), ("+493012345678", 1), ("+49301234568", 3), ("+49401234567", 4), ("+4130123456", 4),
        ] {
            #expect(table.route(of: try #require(E164Number(number))) == route, "\(number)")
        }
        #expect(table.route(of: try #require(E164Number("+61255501001"))) == nil)
    }

    @Test func `an entry belongs to the route that had it first`() throws {
        var table = CalledNumberTable()
        let number = CalledNumberTable.Key.number(try #require(E164Number("+49301234567")))
        #expect(table.add(number, route: 0) == nil)
        #expect(table.add(number, route: 1) == 0)
        #expect(table.add(number, route: 0) == 0)
        #expect(table.add(.prefix(4930), route: 1) == nil)
        #expect(table.add(.prefix(4930), route: 0) == 1)
        #expect(table.numberCount == 1 && table.prefixCount == 1)
    }

    @Test func `overlaps name both routes, the number of entries and one of them`() throws {
        let table = try table([
            ("+4930*", 0), ("+49301234567", 1), ("+49301234568", 1), ("+49301*", 0), ("+493017*", 2),
            ("+4989123456", 1),
        ])
        let overlaps = table.overlaps()
        #expect(overlaps.map { [$0.route, $0.outer, $0.count] } == [[1, 0, 2], [2, 0, 1]])
        #expect(overlaps[0].prefix.description == "+49301*")
        #expect(overlaps[1].example.description == "+493017*")
    }

    @Test func `random tables give what a search through all entries gives`() throws {
        var random = RepeatableRandom(seed: 45)
        for _ in 0..<50 {
            var table = CalledNumberTable()
            var numbers: [UInt64: Int] = [:]
            var prefixes: [String: Int] = [:]
            for route in 0..<40 {
                let digits = UInt64.random(in: 1_000_000...1_000_400, using: &random)
                if Bool.random(using: &random) {
                    if numbers[digits] == nil { numbers[digits] = route }
                    _ = table.add(.number(try #require(E164Number(digits: digits))), route: route)
                } else {
                    let text = String("\(digits)".prefix(Int.random(in: 1...7, using: &random)))
                    if prefixes[text] == nil { prefixes[text] = route }
                    _ = table.add(.prefix(try #require(UInt64(text))), route: route)
                }
            }
            table.compact()
            for digits in UInt64(999_990)...1_000_410 {
                guard let number = E164Number(digits: digits) else { continue }
                let text = "\(digits)"
                let longest = (1...text.count).reversed().lazy.compactMap { prefixes[String(text.prefix($0))] }.first
                #expect(table.route(of: number) == numbers[digits] ?? longest)
            }
        }
    }

    @Test func `a million numbers take 17 MB, and every one is found`() throws {
        var table = CalledNumberTable()
        let first: UInt64 = 49_300_000_000
        for offset in 0..<1_000_000 as Range<UInt64> {
            let number = try #require(E164Number(digits: first + offset * 7))
            _ = table.add(.number(number), route: Int(offset % 1000))
        }
        _ = table.add(.prefix(4930), route: 1000)
        table.compact()
        #expect(table.numberCount == 1_000_000)
        #expect(table.byteCount < 22_000_000)
        for offset in stride(from: 0, to: 1_000_000, by: 997) as StrideTo<Int> {
            let number = try #require(E164Number(digits: first + UInt64(offset) * 7))
            #expect(table.route(of: number) == offset % 1000)
            #expect(table.route(of: try #require(E164Number(digits: number.digits + 1))) == 1000)
        }
    }
}
