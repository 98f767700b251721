// SPDX-License-Identifier: Apache-2.0

/// The causes in Reason header fields (RFC 3326 §2): `Q.850;cause=16`, `SIP;cause=200`.
public struct ReasonCauses: Hashable, Sendable {
    /// The cause of Q.850; 0 for none.
    public private(set) var q850: UInt16 = 0
    /// The SIP status; 0 for none.
    public private(set) var sip: UInt16 = 0

    /// No cause.
    public init() {}

    /// Reads the causes of a message.
    public init(of message: SIPMessage) {
        for field in message.fields(.reason) {
            for value in HeaderValues(message.bytes, field.value) {
                let semicolon = message[value].firstIndex(of: UInt8(ascii: ";")) ?? value.upperBound
                guard let range = HeaderParameters.find("cause", in: message.bytes, semicolon..<value.upperBound),
                    let number = DecimalNumber.read(message.bytes, range), let cause = UInt16(exactly: number)
                else { continue }
                if isOfAnalytics(message, semicolon..<value.upperBound) {
                    sip = 608
                    return
                }
                let reasonProtocol = message[LWS.trimmedEnd(message.bytes, value.lowerBound..<semicolon)]
                if reasonProtocol.equalsIgnoringCase("Q.850") { q850 = cause }
                if reasonProtocol.equalsIgnoringCase("SIP") { sip = cause }
            }
        }
    }

    /// Whether a network's analytics blocked the call: ATIS-1000099 has 603 and a text where RFC 8688 has 608.
    private func isOfAnalytics(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let text = HeaderParameters.find("text", in: message.bytes, parameters) else { return false }
        return message[text].drop { $0 == UInt8(ascii: "\"") }.prefix(12).equalsIgnoringCase("v=analytics1")
    }
}
