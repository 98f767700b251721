// SPDX-License-Identifier: Apache-2.0

extension DNSMessage {
    /// The longest query in bytes. A name has at most 255, and options of clients are small.
    package static let longestQuery = 512
    /// Bytes of a header.
    package static let header = 12

    /// Reads a message; any bytes.
    ///
    /// Accepted are one question, and one OPT record behind it, up to the last byte. A compressed name is a format error: a
    /// question has nothing before it to point to.
    package init(_ bytes: [UInt8]) {
        guard bytes.count >= Self.header, bytes[2] & 0x80 == 0 else {
            self = .ignored
            return
        }
        let operation = bytes[2] >> 3 & 0xF
        func fault(_ code: DNSResponseCode) -> DNSMessage {
            .fault(
                DNSFault(
                    id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), operation: operation,
                    wantsRecursion: bytes[2] & 1 != 0, code: code))
        }
        guard operation == 0 else {
            self = fault(.notImplemented)
            return
        }
        guard bytes.count <= Self.longestQuery else {
            self = fault(.formatError)
            return
        }
        var reader = DNSMessageReader(bytes)
        self = reader.query().map { .query($0) } ?? fault(.formatError)
    }
}

/// Reads the parts of one query; any bytes.
struct DNSMessageReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Bytes of a name with its lengths, and of a label (RFC 1035 §2.3.4).
    private static let longestName = 255
    private static let longestLabel: UInt8 = 63

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The query of a message whose bytes it uses up; nil for another form.
    mutating func query() -> DNSQuery? {
        guard let id = integer(), let flags = integer(), let questions = integer(), let answers = integer(),
            let authorities = integer(), let additional = integer(),
            // A truncated query has lost its end.
            flags & 0x0200 == 0, questions == 1, answers == 0, authorities == 0, additional <= 1
        else { return nil }
        let start = position
        guard let labels = name(), let type = integer(), let recordClass = integer() else { return nil }
        let question = Array(bytes[start..<position])
        var version: UInt8?
        if additional == 1 {
            guard let found = options() else { return nil }
            version = found
        }
        guard position == bytes.count else { return nil }
        return DNSQuery(
            id: id, wantsRecursion: flags & 0x0100 != 0, question: question,
            labels: labels.map { $0.lowerBound - start..<$0.upperBound - start }, type: type, recordClass: recordClass,
            ednsVersion: version)
    }

    /// The places of a name's labels.
    private mutating func name() -> [Range<Int>]? {
        let start = position
        var labels: [Range<Int>] = []
        while let length = byte() {
            if length == 0 { return labels }
            // The two highest bits mark a compressed name.
            guard length <= Self.longestLabel, let label = take(Int(length)), position - start < Self.longestName else {
                return nil
            }
            labels.append(label)
        }
        return nil
    }

    /// The version of an OPT record, whose options must be complete (RFC 6891 §6.1).
    private mutating func options() -> UInt8? {
        guard byte() == 0, integer() == DNSQuery.RecordType.options, integer() != nil, byte() != nil,
            let version = byte(), integer() != nil, let length = integer(), let data = take(Int(length))
        else { return nil }
        let end = position
        position = data.lowerBound
        while position < end {
            guard integer() != nil, let length = integer(), take(Int(length)) != nil, position <= end else {
                return nil
            }
        }
        return version
    }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func integer() -> UInt16? {
        guard let high = byte(), let low = byte() else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }

    private mutating func take(_ count: Int) -> Range<Int>? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return position..<position + count
    }
}
