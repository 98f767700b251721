// SPDX-License-Identifier: Apache-2.0

/// The header of a tar member without contents, as POSIX.1-1988 has it; for members that tar itself does not make.
struct TarMember {
    private let name: String
    private let kind: String
    private let link: String
    private let size: UInt64

    /// - Parameters:
    ///   - kind: 0 file, 1 hard link, 2 symbolic link, 3 and 4 devices, 6 pipe.
    ///   - size: the size that the header names, whatever follows.
    init(_ name: String, kind: String = "0", link: String = "", size: UInt64 = 0) {
        (self.name, self.kind, self.link, self.size) = (name, kind, link, size)
    }

    private var header: [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ bytes: some Collection<UInt8>, at place: Int) {
            block.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
        put(name.utf8, at: 0)
        put("0000644\u{0}0000000\u{0}0000000\u{0}".utf8, at: 100)
        if size < 1 << 33 {
            put(Self.octal(size, digits: 11), at: 124)
        } else {
            // The form of GNU tar for sizes above 8 GB.
            put(
                [0x80, 0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: size >> (8 * UInt64($0))) },
                at: 124)
        }
        put(Self.octal(0, digits: 11), at: 136)
        put("        \(kind)\(link)".utf8, at: 148)
        put("ustar\u{0}00".utf8, at: 257)
        let sum = block.reduce(UInt64(0)) { $0 + UInt64($1) }
        put(Self.octal(sum, digits: 6) + [0, UInt8(ascii: " ")], at: 148)
        return block
    }

    private static func octal(_ value: UInt64, digits: Int) -> [UInt8] {
        let text = String(value, radix: 8)
        return Array((String(repeating: "0", count: digits - text.utf8.count) + text).utf8)
    }

    /// An archive of these members.
    static func archive(_ members: [TarMember]) -> [UInt8] {
        members.flatMap(\.header) + [UInt8](repeating: 0, count: 1024)
    }
}
