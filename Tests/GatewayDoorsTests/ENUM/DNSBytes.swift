// SPDX-License-Identifier: Apache-2.0

/// Writes and reads messages of DNS in tests, apart from the code under test.
struct DNSBytes {
    static let naptr: UInt16 = 35

    /// A query for one name.
    ///
    /// - Parameters:
    ///   - name: labels with dots.
    ///   - edns: version of an OPT record; nil for none.
    static func query(
        _ name: String, type: UInt16 = naptr, recordClass: UInt16 = 1, id: UInt16 = 0x1234, flags: UInt16 = 0x0100,
        edns: UInt8? = nil, options: [UInt8] = []
    ) -> [UInt8] {
        message(
            header(id: id, flags: flags, counts: [1, 0, 0, edns == nil ? 0 : 1]), question(name, type, recordClass),
            edns.map { opt(version: $0, options) } ?? [])
    }

    /// Parts of a message, one after the other.
    static func message(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

    static func header(id: UInt16 = 0x1234, flags: UInt16 = 0x0100, counts: [UInt16] = [1, 0, 0, 0]) -> [UInt8] {
        message(pair(id), pair(flags), counts.flatMap { pair($0) })
    }

    static func question(_ name: String, _ type: UInt16 = naptr, _ recordClass: UInt16 = 1) -> [UInt8] {
        message(self.name(name), pair(type), pair(recordClass))
    }

    static func name(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for label in text.split(separator: ".") {
            bytes.append(UInt8(label.utf8.count))
            bytes.append(contentsOf: label.utf8)
        }
        bytes.append(0)
        return bytes
    }

    static func opt(version: UInt8 = 0, payload: UInt16 = 1232, _ options: [UInt8] = []) -> [UInt8] {
        message([0], pair(41), pair(payload), [0, version, 0, 0], pair(UInt16(options.count)), options)
    }

    static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    /// The name of a number in a zone.
    static func name(of digits: String, in zone: String = "cnam.example.net") -> String {
        digits.reversed().map { "\($0)." }.joined() + zone
    }

    // MARK: Responses

    /// A record with its uncompressed data.
    struct Record: Equatable {
        var owner: String
        var type: UInt16
        var lifetime: UInt32
        var data: [UInt8]
    }

    var id: UInt16 = 0
    var flags: UInt16 = 0
    var questions = 0
    /// By section: answer, authority, additional.
    var records: [[Record]] = [[], [], []]

    var code: UInt16 { flags & 0xF }
    var isAuthoritative: Bool { flags & 0x0400 != 0 }
    var isTruncated: Bool { flags & 0x0200 != 0 }

    /// Reads a response to its last byte; nil for another message.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 12 else { return nil }
        func number(_ at: Int) -> UInt16? {
            at + 2 <= bytes.count ? UInt16(bytes[at]) << 8 | UInt16(bytes[at + 1]) : nil
        }
        func name(_ start: Int) -> (text: String, end: Int)? {
            var (labels, at, end) = ([String](), start, Int?.none)
            for _ in 0..<130 {
                guard at < bytes.count else { return nil }
                let length = Int(bytes[at])
                if length == 0 { return (labels.joined(separator: "."), end ?? at + 1) }
                if length >= 0xC0 {
                    guard at + 1 < bytes.count else { return nil }
                    end = end ?? at + 2
                    at = (length & 0x3F) << 8 | Int(bytes[at + 1])
                } else {
                    guard at + 1 + length <= bytes.count else { return nil }
                    labels.append(String(decoding: bytes[at + 1..<at + 1 + length], as: UTF8.self))
                    at += 1 + length
                }
            }
            return nil
        }
        let header = (0..<6).compactMap { number($0 * 2) }
        (id, flags, questions) = (header[0], header[1], Int(header[2]))
        var at = 12
        for _ in 0..<questions {
            guard let found = name(at) else { return nil }
            at = found.end + 4
        }
        for section in 0..<3 {
            for _ in 0..<header[3 + section] {
                guard let owner = name(at), let type = number(owner.end), let high = number(owner.end + 4),
                    let low = number(owner.end + 6), let length = number(owner.end + 8),
                    owner.end + 10 + Int(length) <= bytes.count
                else { return nil }
                at = owner.end + 10 + Int(length)
                records[section].append(
                    Record(
                        owner: owner.text, type: type, lifetime: UInt32(high) << 16 | UInt32(low),
                        data: Array(bytes[owner.end + 10..<at])))
            }
        }
        guard at == bytes.count, flags & 0x8000 != 0 else { return nil }
    }

    /// The texts of a NAPTR record: flags, service, expression.
    static func texts(_ record: Record) -> [String] {
        var (texts, rest) = ([String](), record.data.dropFirst(4))
        for _ in 0..<3 {
            guard let length = rest.first, rest.count > Int(length) else { return texts }
            texts.append(String(decoding: rest.dropFirst().prefix(Int(length)), as: UTF8.self))
            rest = rest.dropFirst(1 + Int(length))
        }
        return rest == [0] ? texts : []
    }
}
