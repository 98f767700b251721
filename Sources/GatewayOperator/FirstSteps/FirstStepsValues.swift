// SPDX-License-Identifier: Apache-2.0

/// The values of the first steps at the top of the first page.
struct FirstStepsValues: Sendable {
    let steps: [Step]

    struct Step: Sendable {
        let title: String
        let state: String
        let tag: String
        let text: String
        /// Lines for `herald.yaml`.
        let lines: [String]
    }

    private static let titles = [
        "carrier": "The carrier is seen", "pbx": "The PBX responds", "directory": "The directory is in sync",
        "logos": "Logos are ready", "call": "First branded call",
    ]

    /// Nil without steps, as after the first branded call.
    init?(_ steps: [GatewayStatus.FirstStep]?) {
        guard let steps else { return nil }
        self.steps = steps.map { step in
            Step(
                title: Self.titles[step.step] ?? step.step, state: step.done ? "done" : "open",
                tag: step.done ? "good" : "soft", text: PageTroubles.sentence(step.text), lines: step.lines ?? [])
        }
    }
}
