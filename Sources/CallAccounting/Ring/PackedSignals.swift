// SPDX-License-Identifier: Apache-2.0

import Branding

/// Signals as bytes one after the other, to be kept where the ring does not reach: on the disk, past a power cut.
///
/// A byte for the version, then the signals without gaps (`SignalBytes`). One thread at a time.
package struct PackedSignals {
    /// What has been packed.
    package private(set) var bytes: [UInt8] = [Self.version]

    package init() {}

    /// Bytes that no packed signal is longer than.
    package static let most = SignalBytes.most
    private static let version: UInt8 = 1

    /// Adds a signal; `texts` are cut to their limits.
    package mutating func append(_ signal: CallSignal, texts: CallTexts?) {
        var (signal, texts) = (signal, texts)
        if signal.reason == .privacy {
            // The call path leaves a withheld number out; if it ever did not, it ends here.
            signal.caller = 0
            texts?.carrierName = []
        }
        withUnsafeTemporaryAllocation(byteCount: SignalBytes.most, alignment: 8) { room in
            guard let base = room.baseAddress else { return }
            bytes.append(contentsOf: room[..<SignalBytes(base: base).store(signal, texts: texts)])
        }
    }

    /// The packed signals in their order; nil if any byte is not what `append` makes, for half a story is none.
    package static func unpack(_ bytes: UnsafeRawBufferPointer) -> [(signal: CallSignal, texts: CallTexts?)]? {
        guard bytes.first == version else { return nil }
        var signals: [(signal: CallSignal, texts: CallTexts?)] = []
        var rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
        while !rest.isEmpty {
            guard let length = SignalBytes.length(rest), length <= rest.count,
                let signal = SignalBytes.load(UnsafeRawBufferPointer(rebasing: rest[..<length]))
            else { return nil }
            signals.append(signal)
            rest = UnsafeRawBufferPointer(rebasing: rest[length...])
        }
        return signals
    }
}
