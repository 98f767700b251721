// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore

/// Reads the Date header field, such as `Sat, 13 Nov 2010 23:29:00 GMT` (RFC 3261 §20.17).
enum DateField {
    /// Unix seconds of the first Date; nil without one, or in another form.
    static func seconds(in message: SIPMessage) -> Int64? {
        message.headers.first { $0.name == .other && message[$0.start..<$0.nameEnd].equalsIgnoringCase("date") }
            .flatMap { InternetDate.seconds(message[$0.value]) }
    }
}
