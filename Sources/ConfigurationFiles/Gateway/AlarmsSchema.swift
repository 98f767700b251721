// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// Alarms of spoofed numbers of brands.
    package struct Alarms: Hashable, Sendable {
        package var isEnabled = true
        /// The age of a brand's or a trunk's first call from which it has a usual week.
        package var learning = Duration.seconds(7 * 86_400)
        /// The time before a day from which usual arrivals are learned.
        package var baseline = Duration.seconds(28 * 86_400)
        /// The fewest unusual calls of a day for an alarm.
        package var calls = 5
        /// Nil sends no digest.
        package var webhook: Webhook?

        package init() {}
    }
}

extension HeraldSchema {
    /// Reads the `alarms` section.
    func alarms() -> HeraldConfiguration.Alarms {
        var alarms = HeraldConfiguration.Alarms()
        let day = Duration.seconds(86_400)
        root.within("alarms") { section in
            alarms.isEnabled = section.bool("enabled", default: alarms.isEnabled)
            alarms.learning = section.duration("learning", default: alarms.learning, in: day...(day * 90))
            alarms.baseline = section.duration("baseline", default: alarms.baseline, in: day...(day * 90))
            if alarms.baseline < alarms.learning {
                section.problem("baseline", "must be at least learning, or no brand ever has a usual week")
            }
            alarms.calls = section.integer("calls", default: alarms.calls, in: 1...1_000_000)
            alarms.webhook = section.section("webhook", webhook)
        }
        return alarms
    }
}
