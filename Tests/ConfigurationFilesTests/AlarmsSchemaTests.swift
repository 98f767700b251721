// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import TestFixtures
import Testing

@Suite("The alarms section")
struct AlarmsSchemaTests {
    private let folder = TemporaryFolder()

    @Test func `it has defaults, and each key`() throws {
        #expect(try folder.load(smallest).alarms == HeraldConfiguration.Alarms())
        let alarms = try folder.load(smallest + "alarms: {enabled: false, learning: 3d, baseline: 14d, calls: 9}\n")
            .alarms
        #expect(!alarms.isEnabled && alarms.calls == 9 && alarms.webhook == nil)
        #expect(alarms.learning == .seconds(3 * 86_400) && alarms.baseline == .seconds(14 * 86_400))
    }

    @Test func `a baseline that is shorter than the learning time is a mistake`() throws {
        let problems = try folder.problems(in: smallest + "alarms: {learning: 14d, baseline: 7d}\n")
        #expect(problems.contains { $0.contains("must be at least learning") }, "\(problems)")
        #expect(try !folder.problems(in: smallest + "alarms: {calls: 0}\n").isEmpty)
    }
}
