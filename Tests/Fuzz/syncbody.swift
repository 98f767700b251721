// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Any body of a sync: however it is cut, the records are the same, and Foundation's reader counts as many.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzSyncBody(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let whole = SplitBody(bytes[...], pieces: bytes.count)
    precondition(whole == SplitBody(bytes[...], pieces: Int(first % 13) + 1))
    for record in whole.records { precondition(!record.isEmpty && record.count <= SyncBodySplitter.longestRecord) }
    for value in whole.values.values { precondition(value.count <= SyncBodySplitter.longestValue) }
    // Escapes in a key: the splitter compares keys as they were sent. Two values of one key: any of them counts.
    guard whole.isComplete, !bytes.contains(UInt8(ascii: "\\")), whole.values["branding"] == nil,
        let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    else { return 0 }
    precondition((object["branding"] as? [Any])?.count ?? 0 == whole.records.count)
    return 0
}

/// What the splitter makes of a body that comes in pieces.
private struct SplitBody: Equatable {
    var records: [[UInt8]] = []
    var values: [String: [UInt8]] = [:]
    var isComplete = false
    var error: String?

    init(_ bytes: ArraySlice<UInt8>, pieces: Int) {
        var splitter = SyncBodySplitter(recordsKey: "branding")
        var rest = bytes
        do {
            while !rest.isEmpty {
                try splitter.feed(rest.prefix(pieces)) { records.append(copy $0) }
                rest = rest.dropFirst(pieces)
            }
        } catch {
            self.error = "\(error)"
        }
        values = splitter.values
        isComplete = splitter.isComplete && error == nil
    }
}
