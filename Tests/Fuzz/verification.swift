// SPDX-License-Identifier: Apache-2.0

/// Any body to the door for verifications: it is read or has a problem, and its shape is that of its tokens.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzVerification(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let body = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let request = try? VerificationRequest(body) else { return 0 }
    precondition((request.shape == .none) == request.call.identities.isEmpty)
    // Foundation takes UTF-16 too, whose signs have up to three bytes in UTF-8.
    precondition(request.call.identities.allSatisfy { !$0.isEmpty && $0.count <= 2 * count })
    precondition(request.call.date.map { $0 > 0 } ?? false, "a time is missing or not positive")
    precondition((try? VerificationRequest(body)) == request)
    return 0
}

// What the reader uses of the call path and of HTTP, whose files need other libraries.

package struct StatedSignedCall: Hashable, Sendable {
    package enum Party: Hashable, Sendable {
        case number([UInt8])
        case uri([UInt8])
    }

    package var caller: Party
    package var called: Party?
    package var to: Party
    package var date: Int64?
    package var identities: [[UInt8]]
}

package enum VerificationProblem: Error {
    case noBody
    case missing(String)
    case invalid(String, String)
    case unreadable(String)
}
