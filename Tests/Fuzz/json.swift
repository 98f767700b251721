// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Any JSON: an object that is read has one deterministic form, and Foundation's reader takes it too.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let json = StrictJSON(bytes) else { return 0 }
    for node in json.nodes {
        precondition(
            node.range.lowerBound >= 0 && node.range.upperBound <= bytes.count && node.next <= json.nodes.count)
    }
    let form = json.canonical(0)
    precondition(StrictJSON(Array(form.utf8))?.canonical(0) == form)
    // Foundation refuses fractions that no Double holds.
    if json.nodes.contains(where: { $0.kind == .fraction }) { return 0 }
    let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    precondition(object != nil)
    return 0
}
