// SPDX-License-Identifier: Apache-2.0

/// Any revocation list: one that is read is not older than itself, has a name without control characters, and has no more
/// entries than bytes.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzRevocationList(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let list = RevocationList(der: bytes) else { return 0 }
    precondition(list.count <= bytes.count && !list.isOlder(than: list))
    precondition(!list.name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    precondition(bytes.count > list.issuerBytes.count && list.number?.count ?? 0 <= 20)
    return 0
}
