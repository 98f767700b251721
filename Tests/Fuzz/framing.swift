// SPDX-License-Identifier: Apache-2.0

/// Any stream: however it is cut, the frames are the same, and nothing is held beyond the limit.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzFraming(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Traffic.bytes(start, count)
    guard let first = bytes.first else { return 0 }
    let whole = frames(bytes[...], pieces: bytes.count)
    precondition(whole == frames(bytes[...], pieces: Int(first % 13) + 1))
    for case .message(let message) in whole { precondition(message.count <= 2000) }
    return 0
}

private func frames(_ bytes: ArraySlice<UInt8>, pieces: Int) -> [StreamFrame] {
    var framer = StreamFramer(largestMessage: 2000)
    var frames: [StreamFrame] = []
    var rest = bytes
    while !rest.isEmpty {
        framer.append(rest.prefix(pieces))
        rest = rest.dropFirst(pieces)
        while let frame = framer.next() {
            // Where a stream breaks, how much of the endless part was there depends on the cutting.
            if case .broken(let fault, _) = frame { frames.append(.broken(fault, [])) } else { frames.append(frame) }
        }
    }
    return frames
}
