// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

@Suite("Choice among targets: priority, weight, then the call itself")
struct TargetGroupTests {
    private func target(_ name: String, priority: Int = 0, weight: Int = 1) -> Target {
        Target(
            targetState: TargetState(name: name, rules: TargetHealthRules()),
            address: PeerAddress(ipv4: 0xC000_0200 + UInt32(name.utf8.first ?? 0), port: 5060), socket: 0,
            priority: priority, weight: weight)
    }

    /// The names a call would try, first to last.
    private func order(_ group: TargetGroup, _ key: UInt64) -> [String] {
        var order = group.order(for: key, at: 0)
        var names: [String] = []
        while let target = order.next() { names.append(target.targetState.name) }
        return names
    }

    private func fell(_ target: Target) { for _ in 0..<3 { target.targetState.record(.probeFailed, at: 0) } }

    /// Keys as a hash of Call-IDs would give them.
    private let keys: [UInt64] = {
        var random = RepeatableRandom(seed: 4711)
        return (0..<20_000).map { _ in random.next() }
    }()

    @Test func `lower priorities are tried first, whatever the weights`() {
        let group = TargetGroup(
            name: "g",
            targets: [target("b", priority: 2, weight: 100), target("a", priority: 1), target("c", priority: 3)])
        for key in keys.prefix(100) { #expect(order(group, key) == ["a", "b", "c"]) }
    }

    @Test(arguments: [([1, 1], 0.5), ([1, 3], 0.25), ([10, 90], 0.1), ([0, 1], 0.0), ([0, 0], 0.5)])
    func `calls are shared by weight`(weights: [Int], share: Double) {
        let group = TargetGroup(
            name: "g", targets: [target("a", weight: weights[0]), target("b", weight: weights[1])])
        let first = keys.count { order(group, $0).first == "a" }
        #expect(abs(Double(first) / Double(keys.count) - share) < 0.02)
    }

    @Test func `the same call gets the same target, and each target comes once`() {
        let group = TargetGroup(name: "g", targets: ["a", "b", "c"].map { target($0) })
        for key in keys.prefix(200) {
            #expect(order(group, key) == order(group, key))
            #expect(order(group, key).sorted() == ["a", "b", "c"])
        }
    }

    @Test func `only the calls of a lost target move`() {
        let targets = ["a", "b", "c"].map { target($0) }
        let group = TargetGroup(name: "g", targets: targets)
        let before = keys.map { order(group, $0) }
        fell(targets[1])
        for (key, old) in zip(keys, before) {
            #expect(order(group, key).first == old.first { $0 != "b" })
        }
    }

    @Test func `with all targets down nothing is to be tried`() {
        let targets = ["a", "b"].map { target($0) }
        targets.forEach(fell)
        #expect(order(TargetGroup(name: "g", targets: targets), 1).isEmpty)
        #expect(order(TargetGroup(name: "g", targets: [targets[0]]), 1).isEmpty)
    }

    @Test func `at most sixteen targets are tried for one call`() {
        let group = TargetGroup(name: "g", targets: (0..<40).map { target("t\($0)") })
        #expect(order(group, 7).count == 16)
    }

    @Test func `the sixteen that are tried are the best, RFC 2782, wherever they are in the list`() {
        let spare = (0..<16).map { target("t\($0)", priority: 1) }
        for place in [0, 7, 16] {
            var targets = spare
            targets.insert(target("best"), at: place)
            let names = order(TargetGroup(name: "g", targets: targets), 7)
            #expect(names.first == "best")
            #expect(names.count == 16)
        }
    }
}
