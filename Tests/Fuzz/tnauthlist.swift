// SPDX-License-Identifier: Apache-2.0

/// Any TNAuthList: a list that is read has entries, covers each of its numbers and lies within itself.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzAuthorityList(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let list = AuthorityList(der: bytes) else { return 0 }
    precondition(list.satisfies(.any) && list.isEncompassed(by: list))
    for range in list.ranges { precondition(range.count > 0 && list.names(range.start)) }
    return 0
}
