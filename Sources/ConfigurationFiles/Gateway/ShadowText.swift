// SPDX-License-Identifier: Apache-2.0

import Branding

extension HeraldConfiguration {
    /// The trunks and routes in shadow, such as `trunk carrier`; empty where branding is off altogether.
    package var namesInShadow: [String] {
        guard branding.isEnabled else { return [] }
        return trunks.filter { $0.brands == .shadow }.map { "trunk \($0.name)" }
            + routes.table.filter { $0.brands == .shadow }.map { "route \($0.name)" }
    }
}

/// The sentence about a trunk or a route in shadow, which check-config, doctor and status have in common.
package enum ShadowText {
    /// - Parameter name: such as `trunk carrier`.
    package static func remark(of name: String) -> String {
        "\(name) is in shadow (brands: shadow): none of its calls is branded; set brands: true to brand"
    }
}
