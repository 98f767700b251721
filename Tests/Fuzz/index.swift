// SPDX-License-Identifier: Apache-2.0

/// Any bytes: indexed or refused, never read outside, and every extent lies inside the message.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzIndex(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Traffic.bytes(start, count)
    guard let message = try? SIPMessage.index(bytes) else {
        _ = MalformedRequest.rejectable(bytes.span)
        return 0
    }
    var last = 0
    for field in message.headers {
        precondition(field.start >= last && field.start < field.nameEnd && field.nameEnd <= field.value.lowerBound)
        precondition(field.value.upperBound <= field.end && field.end <= message.bytes.count)
        last = field.end
        for value in HeaderValues(message.bytes, field.value) {
            precondition(field.value.lowerBound <= value.lowerBound && value.upperBound <= field.value.upperBound)
        }
    }
    _ = RequestValidity.refusal(of: message)
    _ = (message.isInDialog, message.sequence, message.topVia, ViaValue.second(of: message))
    return 0
}
