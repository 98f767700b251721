// SPDX-License-Identifier: Apache-2.0

import Branding
import WebPages

/// The address of the page of calls for the calls that a count of the first page has.
struct CallsLink {
    let path: String

    /// - Parameter hours: hours since 1970, of the INVITE.
    init(
        _ hours: ClosedRange<Int64>, decision: String? = nil, brand: String? = nil, customer: String? = nil,
        trunk: String? = nil
    ) {
        path = PagePath.with(
            "/calls",
            [
                "decision": decision, "brand": brand, "customer": customer, "trunk": trunk,
                "since": UTCTimestamp.string(seconds: hours.lowerBound * 3600),
                "until": UTCTimestamp.string(seconds: (hours.upperBound + 1) * 3600 - 1),
            ])
    }
}
