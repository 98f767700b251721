// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("Race of tasks")
struct FirstOfTests {
    private enum Outcome: Hashable, Sendable {
        case value(Int)
        case silent
    }

    private struct Problem: Error {}

    @Test func `the value of the first task is returned, and the others are cancelled`() async {
        let (endless, input) = AsyncStream.makeStream(of: Int.self)
        let outcome = await firstOf(
            { () async -> Outcome in
                for await value in endless { return .value(value) }
                return .silent
            },
            {
                try? await Task.sleep(for: .milliseconds(1))
                return .value(7)
            })
        input.finish()
        #expect(outcome == .value(7))
    }

    @Test func `the error of the first task is thrown`() async {
        await #expect(throws: Problem.self) {
            try await firstOf(
                { () async throws -> Outcome in throw Problem() },
                {
                    try await Task.sleep(for: .seconds(60))
                    return .silent
                })
        }
    }

    @Test func `limited work returns its value, or nil once the time has ended`() async {
        #expect(await within(.seconds(60)) { Outcome.value(7) } == .value(7))
        let late = await within(.milliseconds(1)) { () async -> Outcome in
            try? await Task.sleep(for: .seconds(60))
            return .silent
        }
        #expect(late == nil)
    }
}
