// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Primitives

/// The first steps for a terminal, as `herald setup` ends.
struct FirstStepsText {
    let text: String

    /// - Parameters:
    ///   - state: of the running gateway; nil if none responds.
    ///   - path: the configuration file.
    init(_ configuration: HeraldConfiguration, _ state: ControlledState?, path: String) {
        let isPackaged = path == SetupOptions.packagedPath
        let start = isPackaged ? "sudo systemctl start herald" : "herald run --config \(path)"
        let running = state.map { $0.gateway.firstSteps ?? [] }
        let steps = running ?? FirstSteps.planned(configuration, start: start)
        guard !steps.isEmpty else {
            text = "First steps: done, calls have a brand\n"
            return
        }
        let option = isPackaged ? "" : " --config \(path)"
        text =
            "First steps:\n"
            + steps.map { step in
                "  " + (step.done ? "done  " : "open  ") + step.step.padding(to: 11)
                    + TerminalText.visible(step.text) + "\n"
                    + (step.lines ?? []).map { "        \(TerminalText.visible($0))\n" }.joined()
            }.joined()
            + TerminalText.visible("herald status\(option) shows them until the first branded call.") + "\n"
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
