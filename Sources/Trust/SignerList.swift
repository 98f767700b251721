// SPDX-License-Identifier: Apache-2.0

/// Signers as bytes in the order of their rows. Nothing of a signer but a long authority is parsed before a call names it.
///
/// A signer takes 56 bytes, those of its parts, and 26 bytes of the tables of a snapshot.
public struct SignerList: Sendable {
    private struct Record {
        let row: Int64
        let validity: ClosedRange<Int64>
        /// The place among `bytes`: the point of the key and the digest of the chain, if they are there, address,
        /// authority and subject.
        let start: Int
        let addressCount: UInt32, authorityCount: UInt32, subjectCount: UInt32
        /// The position among `standings`.
        let standings: UInt32
        let hasKey: Bool, hasChain: Bool, isRenewed: Bool
    }

    private static let pointCount = 64, digestCount = 32
    /// The longest authority that a lookup parses, in bytes: that of some hundred provider codes.
    private static let longestParsedLater = 1_024

    private var records: [Record] = []
    /// The parts of all signers.
    private(set) var bytes: [UInt8] = []
    /// The constraints of the few signers that have some, by position.
    private var constraints: [Int: [ClaimConstraints]] = [:]
    /// Longer authorities, which a lookup of a call has no time to parse, by position.
    private var longAuthorities: [Int: AuthorityList] = [:]
    /// Each row of standings once.
    private var standings: [[TrustCause]] = []
    private var positions: [[UInt8]: UInt32] = [:]
    private var latest: (values: [UInt8], position: UInt32)?

    /// An empty list with space for some signers.
    public init(capacity: Int) {
        records.reserveCapacity(capacity)
        // Pages that nothing is written to take no memory.
        bytes.reserveCapacity(256 * capacity)
    }

    /// The count of signers.
    public var count: Int { records.count }

    /// Adds a signer behind those of lower rows and of the same one. All bytes are lent for the call.
    ///
    /// - Parameters:
    ///   - row: as in `Signer`, as everything without a remark.
    ///   - address: the address of the certificate; empty for a chain that came in a token.
    ///   - chain: the 32 bytes of a `ChainDigest`; of another count for none.
    ///   - key: as `SignerKey` takes it; in another form for none.
    ///   - authority: as `AuthorityList` reads it; a list without entries in another form.
    ///   - standings: raw values of causes.
    public mutating func add(
        row: Int64, address: RawSpan, chain: RawSpan, key: RawSpan, authority: RawSpan,
        constraints: [ClaimConstraints] = [], validity: ClosedRange<Int64>, standings: RawSpan, isRenewed: Bool,
        subject: RawSpan
    ) {
        let start = bytes.count
        let hasKey = SignerKey.isPoint(key), hasChain = chain.byteCount == Self.digestCount
        if hasKey { append(key.extracting(1...)) }
        if hasChain { append(chain) }
        append(address)
        append(authority)
        append(subject)
        if authority.byteCount > Self.longestParsedLater {
            let der = authority.withUnsafeBytes { Array($0) }
            longAuthorities[records.count] = AuthorityList(der: der) ?? AuthorityList()
        }
        if !constraints.isEmpty { self.constraints[records.count] = constraints }
        records.append(
            Record(
                row: row, validity: validity, start: start, addressCount: UInt32(address.byteCount),
                authorityCount: UInt32(authority.byteCount), subjectCount: UInt32(subject.byteCount),
                standings: position(of: standings), hasKey: hasKey, hasChain: hasChain, isRenewed: isRenewed))
    }

    private mutating func append(_ part: RawSpan) { part.withUnsafeBytes { bytes.append(contentsOf: $0) } }

    private mutating func position(of values: RawSpan) -> UInt32 {
        // Most signers have the standings of the one before.
        if let latest, values.withUnsafeBytes({ $0.elementsEqual(latest.values) }) { return latest.position }
        let values = values.withUnsafeBytes { Array($0) }
        let position = positions[values] ?? UInt32(standings.count)
        latest = (values, position)
        guard position == standings.count else { return position }
        standings.append(values.map { TrustCause(rawValue: $0) ?? .certificateMalformed })
        positions[values] = position
        return position
    }

    // MARK: Reading

    /// The signer at a position.
    func signer(at position: Int) -> Signer {
        let record = records[position]
        let authority = address(at: position).upperBound
        let subject = authority + Int(record.authorityCount)
        return Signer(
            row: record.row, key: record.hasKey ? SignerKey(point: bytes.span.extracting(record.start...)) : nil,
            authority: longAuthorities[position] ?? AuthorityList(DERReader(bytes, authority..<subject))
                ?? AuthorityList(),
            constraints: constraints[position] ?? [], validity: record.validity,
            standings: standings[Int(record.standings)], isRenewed: record.isRenewed,
            subject: String(decoding: bytes[subject..<subject + Int(record.subjectCount)], as: UTF8.self))
    }

    /// The position of the first signer of a row.
    func position(row: Int64) -> Int? {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].row < row { low = middle + 1 } else { high = middle }
        }
        return low < records.count && records[low].row == row ? low : nil
    }

    /// The place of the address among `bytes`; empty without one.
    func address(at position: Int) -> Range<Int> {
        let start = chain(at: position).upperBound
        return start..<start + Int(records[position].addressCount)
    }

    /// The place of the digest of the chain among `bytes`; empty without one.
    func chain(at position: Int) -> Range<Int> {
        let record = records[position]
        let start = record.start + (record.hasKey ? Self.pointCount : 0)
        return start..<start + (record.hasChain ? Self.digestCount : 0)
    }

    /// Whether the signer at a position has an address.
    func hasAddress(_ address: Span<UInt8>, at position: Int) -> Bool {
        bytes.span.extracting(self.address(at: position)).equals(address)
    }

    /// Whether the signer at a position has the digest of a chain.
    func hasChain(_ chain: Span<UInt8>, at position: Int) -> Bool {
        bytes.span.extracting(self.chain(at: position)).equals(chain)
    }
}
