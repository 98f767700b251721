// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore

/// The list of a browser.
struct MissedCallsResponse: Encodable {
    var success = true
    let calls: [MissedCallBody]
}

/// A missed call in the list of a browser.
struct MissedCallBody: Encodable {
    /// The tag of the call's message.
    let id: String
    let brand_id: String
    let brand_name: String
    let reason: String?
    /// The called number, masked.
    let called: String?
    let time: String
    /// True once somebody picked up at another phone, or the person called back.
    let withdrawn: Bool
    /// The card of the brand; nil without `public_url`.
    let web_url: String?

    init(_ call: MissedCall, publicURL: String?) {
        (id, brand_id, brand_name, reason) = (call.id, call.brandID, call.brandName, call.reason)
        (called, withdrawn) = (call.called, call.isWithdrawn)
        time = Timestamp.string(from: call.time)
        web_url = publicURL.flatMap { CardURL.text(base: $0, brandID: call.brandID) }
    }
}
