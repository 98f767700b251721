// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

/// An event in storable form, with the first field that breaks the contract's rules.
package struct ReportedEvent: Sendable {
    package let event: EventRequest
    /// `invalid_` and the name of the first invalid field; nil for an event that can count.
    package let warning: String?
    /// `meta` as JSON text; nil without it.
    let meta: String?

    /// - Parameter meta: `meta` of the event as JSON text, if the caller has written it already.
    package init(_ event: EventRequest, warning: String? = nil, meta: String? = nil) {
        var event = event
        // Neither engine stores NUL, and the key has to be found as it was stored.
        event.eventKey = event.eventKey?.replacing("\0", with: "\u{FFFD}")
        self.event = event
        self.warning = warning
        self.meta = meta ?? event.meta.map { JSONValue.text($0) }
    }
}
