// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// An event in storable form, with the first field that breaks the contract's rules.
package struct ReportedEvent: Sendable {
    package let event: EventRequest
    /// `invalid_` and the name of the first invalid field; nil for an event that can count.
    package let warning: String?

    package init(_ event: EventRequest, warning: String? = nil) {
        self.event = event
        self.warning = warning
    }
}
