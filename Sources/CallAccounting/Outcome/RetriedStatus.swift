// SPDX-License-Identifier: Apache-2.0

extension CallStateMachine {
    /// Final responses after which a caller tries again with the same Call-ID and From tag.
    ///
    /// Source: RFC 3261 §8.1.3.4 (3xx), §8.1.3.5 and §22; 422 RFC 4028 §6; 428, 436, 437, 438 RFC 8224 §6.2.2; 484 RFC
    /// 3578 §3.2; 494 RFC 3329 §2.3.
    package static func asksForRetry(_ status: UInt16) -> Bool {
        switch status {
        case 300..<400, 401, 407, 415, 416, 420, 421, 422, 428, 436, 437, 438, 484, 494: true
        default: false
        }
    }
}
