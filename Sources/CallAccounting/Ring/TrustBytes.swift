// SPDX-License-Identifier: Apache-2.0

/// The bytes of a verdict inside an update of the ring.
///
/// | bytes | content |
/// |---|---|
/// | 0–3 | facts |
/// | 4–5 | response code |
/// | 6 | 1 with an origid, else 0 |
/// | 7 | 0 |
/// | 8–15 | causes |
/// | 16–23 | row of the signer |
/// | 24–39 | origid, high and low half; zeros without one |
///
/// Values are in the byte order of the machine, at any alignment.
enum TrustBytes {
    static let count = 40

    /// Writes a verdict into `count` bytes from `base` on.
    static func store(_ trust: TrustEvidence, at base: UnsafeMutableRawPointer) {
        base.storeBytes(of: trust.facts, toByteOffset: 0, as: UInt32.self)
        base.storeBytes(of: trust.code, toByteOffset: 4, as: UInt16.self)
        base.storeBytes(of: trust.origid == nil ? 0 : 1, toByteOffset: 6, as: UInt8.self)
        base.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        base.storeBytes(of: trust.packedCauses, toByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: trust.signer, toByteOffset: 16, as: Int64.self)
        base.storeBytes(of: trust.origid?.high ?? 0, toByteOffset: 24, as: UInt64.self)
        base.storeBytes(of: trust.origid?.low ?? 0, toByteOffset: 32, as: UInt64.self)
    }

    /// Reads the verdict at `start`; nil for bytes that `store` cannot have written.
    static func load(_ bytes: UnsafeRawBufferPointer, at start: Int) -> TrustEvidence? {
        func number<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
            bytes.loadUnaligned(fromByteOffset: start + offset, as: Value.self)
        }
        let origid = CallIdentifier(high: number(24), low: number(32))
        let hasOrigid = bytes[start + 6] == 1
        guard hasOrigid || bytes[start + 6] == 0 && origid == CallIdentifier(high: 0, low: 0), bytes[start + 7] == 0
        else { return nil }
        return TrustEvidence(
            facts: number(0), causes: number(8), signer: number(16), origid: hasOrigid ? origid : nil, code: number(4))
    }
}
