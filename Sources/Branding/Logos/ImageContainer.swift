// SPDX-License-Identifier: Apache-2.0

/// The format and size of a picture in a container of ISO/IEC 14496-12: AVIF and HEIC. Pure; hostile input is safe.
enum ImageContainer {
    /// The coding of the pixels.
    enum Kind {
        case avif, heic
    }

    /// The coding by the brands of the first box; nil for no picture, such as a video.
    static func kind(of bytes: [UInt8]) -> Kind? {
        guard let first = box(at: 0, in: bytes[...]), first.type == "ftyp", first.content.count >= 8 else { return nil }
        let brands = stride(from: first.content.startIndex, to: first.content.endIndex - 3, by: 4)
            .filter { $0 != first.content.startIndex + 4 }.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
        for brand in brands {
            switch brand {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis": return .heic
            default: continue
            }
        }
        return nil
    }

    /// The largest size among the properties of the items: a grid's own, or that of a tile that reaches beyond it.
    ///
    /// It is the size before a rotation (ISO/IEC 23008-12 §6.5.3).
    static func size(of bytes: [UInt8]) throws(LogoPictureError) -> (Int, Int) {
        let whole = try boxes(of: bytes[...], isWhole: true)
        // The coded pixels (ISO/IEC 14496-12 §8.1.1).
        guard whole.contains(where: { $0.type == "mdat" }) else { throw .cut }
        var content = bytes[...]
        // The properties of items: meta, which has four bytes of version and flags, then iprp and ipco.
        for (name, skipped) in [("meta", 4), ("iprp", 0), ("ipco", 0)] {
            let boxes = name == "meta" ? whole : try boxes(of: content, isWhole: false)
            let found = boxes.first { $0.type == name }
            guard let found, found.content.count >= skipped else { throw .noSize }
            content = found.content.dropFirst(skipped)
        }
        let sizes = try boxes(of: content, isWhole: true).filter { $0.type == "ispe" && $0.content.count >= 12 }.map {
            (number($0.content.dropFirst(4).prefix(4)), number($0.content.dropFirst(8).prefix(4)))
        }
        // The product of two sides of 32 bits overflows.
        let largest = sizes.max { Double($0.0) * Double($0.1) < Double($1.0) * Double($1.1) }
        guard let largest else { throw .noSize }
        return largest
    }

    private struct Box {
        let type: String
        let content: ArraySlice<UInt8>
    }

    /// The boxes side by side in a content, at most 1000.
    ///
    /// - Parameter isWhole: throws `cut` if the last box is longer than the content.
    private static func boxes(of content: ArraySlice<UInt8>, isWhole: Bool) throws(LogoPictureError) -> [Box] {
        var boxes: [Box] = []
        var place = content.startIndex
        while place < content.endIndex, boxes.count < 1000 {
            guard let box = box(at: place, in: content) else {
                if isWhole { throw .cut }
                return boxes
            }
            boxes.append(box)
            place = box.content.endIndex
        }
        return boxes
    }

    /// The box at a place; nil if it is not whole.
    private static func box(at place: Int, in bytes: ArraySlice<UInt8>) -> Box? {
        let rest = bytes[place...]
        guard rest.count >= 8 else { return nil }
        var (length, head) = (number(rest.prefix(4)), 8)
        if length == 0 { length = rest.count }
        if length == 1 {
            guard rest.count >= 16, number(rest.dropFirst(8).prefix(4)) == 0 else { return nil }
            (length, head) = (number(rest.dropFirst(12).prefix(4)), 16)
        }
        guard length >= head, length <= rest.count else { return nil }
        let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
        return Box(type: type, content: rest[(place + head)..<(place + length)])
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
