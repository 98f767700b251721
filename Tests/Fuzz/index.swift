// SPDX-License-Identifier: Apache-2.0

/// Any bytes: indexed or refused, never read outside, and every extent lies inside the message; what a glance tells of an
/// INVITE, the index tells too.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzIndex(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Traffic.bytes(start, count)
    let glance = InviteGlance(bytes.span, limits: SIPLimits())
    guard let message = try? SIPMessage.index(bytes) else {
        precondition(glance == nil)
        _ = MalformedRequest.answerable(bytes.span, limits: SIPLimits())
        return 0
    }
    if let glance { compare(glance, bytes, message) }
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

private func compare(_ glance: InviteGlance, _ bytes: [UInt8], _ message: SIPMessage) {
    let (secret, source) = (Secret(key0: 1, key1: 2), PeerAddress(ipv4: 1, port: 5060))
    precondition(message.method == .invite && !message.isInDialog && RequestValidity.canBeAnswered(message))
    precondition(!message.has(.priority) && !message.has(.resourcePriority) && message.fromTag == glance.fromTag)
    guard let via = message.topVia else { preconditionFailure("a glance found a Via") }
    let branch = Branch(of: glance, in: bytes.span, sender: 7, secret: secret)
    precondition(branch == Branch(of: message, via: via.value, sender: 7, secret: secret))
    let answer = LocalMessages.response(
        to: glance, in: bytes.span, status: 503, phrase: "No", toTag: 7, source: source)
    precondition(
        answer == LocalMessages.response(to: message, status: 503, phrase: "No", toTag: 7, source: source))
}
