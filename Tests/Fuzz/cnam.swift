// SPDX-License-Identifier: Apache-2.0

/// Any message to the zone of calling names: its response is bounded, belongs to the message, and is a response.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzZone(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard case .query(let query) = DNSMessage(bytes) else { return 0 }
    precondition(bytes[12...].starts(with: query.question))
    var end = 0
    for label in query.labels {
        precondition(label.lowerBound == end + 1 && (1...63).contains(label.count))
        end = label.upperBound
    }
    precondition(end + 5 == query.question.count && end < 255)
    var response = DNSResponse(to: query, .noError, isAuthoritative: true)
    response.append(.answer, owner: 0, type: query.type, lifetime: 0) { $0.append(text: query.question.prefix(255)) }
    if query.ednsVersion != nil { response.appendOptions(.noError) }
    // A server must not take its own response for a query.
    precondition(DNSMessage(response.bytes) == .ignored && response.bytes.prefix(2) == bytes.prefix(2))
    return 0
}
