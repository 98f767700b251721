// SPDX-License-Identifier: Apache-2.0

/// Any claim constraints: an extension that is read has a member, and the enhanced form reads the older one alike.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzConstraints(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    let enhanced = ClaimConstraints(der: bytes, isEnhanced: true)
    if let older = ClaimConstraints(der: bytes, isEnhanced: false) { precondition(older == enhanced) }
    guard let enhanced else { return 0 }
    precondition(!enhanced.mustInclude.isEmpty || !enhanced.permitted.isEmpty || !enhanced.mustExclude.isEmpty)
    return 0
}
