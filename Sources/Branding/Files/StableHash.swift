// SPDX-License-Identifier: Apache-2.0

/// FNV-1a: a hash that is equal in every process, as a saved index requires.
public func stableHash(_ text: String) -> UInt64 { stableHash(text.utf8) }

/// FNV-1a of bytes.
public func stableHash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
