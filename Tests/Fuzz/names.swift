// SPDX-License-Identifier: Apache-2.0

/// Any target of a request for a name: it is read or has a problem, and a caller's name never sets what only a client may state.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzNames(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let target = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let request = try? NamesRequest(target: target, states: [.called, .verstat]) else { return 0 }
    precondition(request.call.number.count <= count && request.call.name.count <= 2 * count)
    precondition(String(validating: request.call.name, as: UTF8.self) != nil, "a name is no UTF-8")
    guard let unstated = try? NamesRequest(target: target, states: []) else {
        preconditionFailure("the statements decide whether the request is one")
    }
    precondition(unstated.call.called.isEmpty && unstated.call.attestation.isEmpty)
    precondition(unstated.call.number == request.call.number && unstated.call.name == request.call.name)
    precondition(unstated.format == request.format)
    // Behind a name nothing counts but a form at the very end.
    guard !request.call.name.isEmpty,
        let longer = try? NamesRequest(
            target: target + Array("&called=1001&verstat=A".utf8), states: [.called, .verstat])
    else { return 0 }
    precondition(longer.call.called == request.call.called && longer.call.attestation == request.call.attestation)
    return 0
}

// What the reader uses of the configuration, whose files need other libraries.
package enum HeraldConfiguration {
    package enum Doors {
        package enum Names {
            package enum Statement: String, Sendable { case called, verstat }
        }
    }
}
