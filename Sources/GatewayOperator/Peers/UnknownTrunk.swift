// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import Primitives

extension HeraldConfiguration {
    /// The error for the name of a trunk that is not configured, with a similar one.
    func noTrunk(named name: String) -> String { unknownTrunk(name, among: trunks.map(\.name)) }
}

extension GatewayTopology {
    /// The error for the name of a trunk that the running gateway does not have, with a similar one.
    func noTrunk(named name: String) -> String { unknownTrunk(name, among: trunks.map(\.name)) }
}

private func unknownTrunk(_ name: String, among names: [String]) -> String {
    "no trunk is named \(TerminalText.visible(name))\(NearestName.hint(name, among: names)); there are "
        + names.joined(separator: ", ")
}
