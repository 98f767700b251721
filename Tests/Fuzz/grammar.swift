// SPDX-License-Identifier: Apache-2.0

/// Any bytes as a URI, a name-addr and a Via: libosip2 must bear all that the door lets through.
///
/// What is read without it must be what it reads.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzGrammar(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Traffic.bytes(start, count)
    if let uri = SIPURI(bytes) {
        _ = (uri.unescapedUser, uri.parameter("transport"), uri.userParameter("phone-context"))
    }
    if PlainURI.read(bytes, bytes.indices) != nil { precondition(SIPURI(bytes) == SIPURI(grammar: bytes[...])) }
    if PlainURI.address(bytes, bytes.indices) != nil { precondition(NameAddress.grammarAccepts(bytes[...])) }
    let extent = NameAddressExtent.scan(bytes, bytes.indices)
    precondition(extent.uri.upperBound <= bytes.count && extent.displayName.upperBound <= bytes.count)
    _ = HeaderParameters.find("tag", in: bytes, extent.parameters)
    if let address = NameAddress(bytes, bytes.indices) { _ = address.uri.userParameter("verstat") }
    if let via = ViaValue(bytes, bytes.indices) {
        precondition(via.host.upperBound <= bytes.count)
        _ = via.branch.flatMap { Branch(bytes[$0]) }
    }
    _ = DecimalNumber.read(bytes, bytes.indices)
    return 0
}
