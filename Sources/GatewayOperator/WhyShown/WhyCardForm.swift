// SPDX-License-Identifier: Apache-2.0

/// The form of a card: one HTML file, or text of 80 columns.
package enum WhyCardForm: String, CaseIterable, Sendable {
    case html, text
}
