// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The public key of a signer: a point of P-256.
///
/// It holds the 64 bytes alone. A key of Crypto takes ten times as much, and is made in 1 µs where it is used.
public struct SignerKey: Sendable {
    private let point: InlineArray<64, UInt8>

    /// Takes the uncompressed point of X9.63, 65 bytes from `04` on; nil for another form.
    ///
    /// A point beside the curve is found at the first use, and has signed nothing.
    public init?(x963: [UInt8]) {
        guard Self.isPoint(x963.span.bytes) else { return nil }
        point = InlineArray { x963[$0 + 1] }
    }

    /// Takes the first 64 bytes.
    init(point: Span<UInt8>) { self.point = InlineArray { point[$0] } }

    /// Whether bytes have the form of an uncompressed point.
    static func isPoint(_ bytes: RawSpan) -> Bool {
        bytes.byteCount == 65 && bytes.unsafeLoad(as: UInt8.self) == 4
    }

    /// The uncompressed point of X9.63.
    var x963: [UInt8] {
        [UInt8](capacity: 65) { output in
            output.append(4)
            for index in point.indices { output.append(point[index]) }
        }
    }

    /// True if the 64 bytes are the key's ES256 signature of the hashed bytes (RFC 7518 §3.4).
    func signed(_ digest: SHA256Digest, _ signature: [UInt8]) -> Bool {
        guard let key = try? withUnsafeBytes(of: point, { try P256.Signing.PublicKey(rawRepresentation: $0) }),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }
}

/// A certificate that may sign tokens, checked once when the snapshot is made. Immutable, for any thread.
///
/// The chain, its policy and its revocation were decided there and are in `standings`.
public final class Signer: Sendable {
    /// The row of the store, for records; negative for a chain that calls have brought and no import has.
    public let row: Int64
    /// The key; nil for an entry that is bad in each regime, such as an address that cannot be reached.
    public let key: SignerKey?
    /// The provider codes and numbers of the leaf.
    public let authority: AuthorityList
    /// The constraints of each certificate of the chain that has some, without void ones.
    public let constraints: [ClaimConstraints]
    /// The first and the last second of the leaf, in Unix time.
    public let validity: ClosedRange<Int64>
    /// `passed` or the cause of a bad chain, for each regime by `TrustRegime.position`.
    ///
    /// A chain to no anchor of a regime has `untrustedSigner` there. Signers with the same values should share one array.
    public let standings: [TrustCause]
    /// Whether the certificate was fetched again after a wrong signature.
    public let isRenewed: Bool
    /// The subject for the operator, such as `Example Carrier, SHAKEN 123A`. The row has everything else.
    public let subject: String

    /// The first provider code, else the first number without a plus sign; nil without either. Foreign text.
    public var provider: String? { authority.codes.first ?? authority.ranges.first?.start.text }

    /// A signer with its decided state.
    public init(
        row: Int64, key: SignerKey?, authority: AuthorityList = AuthorityList(), constraints: [ClaimConstraints] = [],
        validity: ClosedRange<Int64> = 0...0, standings: [TrustCause], isRenewed: Bool = false,
        subject: String = ""
    ) {
        self.row = row
        self.key = key
        self.authority = authority
        self.constraints = constraints
        self.validity = validity
        self.standings = standings
        self.isRenewed = isRenewed
        self.subject = subject
    }
}

/// The SHA-256 by which a chain in a token is found.
public struct ChainDigest: Hashable, Sendable {
    private let parts: SIMD4<UInt64>

    /// The digest of the certificates' base64 texts (RFC 7515 §4.1.6), leaf first, each followed by a comma.
    public init(of certificates: [String]) {
        var hash = SHA256()
        for certificate in certificates {
            hash.update(data: Array(certificate.utf8))
            hash.update(data: [UInt8(ascii: ",")])
        }
        self.init(hash.finalize())
    }

    /// Takes the 32 bytes of an earlier digest; nil for another count.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        parts = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// The 32 bytes of the digest.
    public var bytes: [UInt8] { withUnsafeBytes(of: parts) { Array($0) } }

    init(_ digest: SHA256Digest) {
        parts = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// Eight bytes of the digest.
    var low: UInt64 { parts.x }
}

/// All signers that are known at one moment. Immutable; a change is a new snapshot.
public struct TrustSnapshot: Sendable {
    /// A signer, with the address and the chain by which tokens name it.
    public struct Entry: Sendable {
        /// The address of the certificate, octet by octet as in `x5u`; nil for a chain that came in a token.
        public var address: String?
        /// The digest of the chain as it is in `x5c`.
        public var chain: ChainDigest?
        /// The signer.
        public var signer: Signer

        /// An entry that is found by its address, its chain or both.
        public init(address: String?, chain: ChainDigest?, signer: Signer) {
            self.address = address
            self.chain = chain
            self.signer = signer
        }
    }

    /// A number that each snapshot has for itself. Results of another generation do not count.
    public let generation: UInt64
    /// The set of regimes that `standings` were decided for. A policy of another set finds no signer.
    public let regimeSet: UInt64
    private let signers: SignerTable

    /// A snapshot of a list. Of two signers with one address or chain the last one counts.
    public init(generation: UInt64, regimeSet: UInt64, _ signers: SignerList) {
        self.generation = generation
        self.regimeSet = regimeSet
        self.signers = SignerTable(signers)
    }

    /// A snapshot of the entries, in the order of their rows.
    public init(generation: UInt64, regimeSet: UInt64, _ entries: [Entry]) {
        var signers = SignerList(capacity: entries.count)
        for entry in entries.sorted(by: { $0.signer.row < $1.signer.row }) { signers.add(entry) }
        self.init(generation: generation, regimeSet: regimeSet, signers)
    }

    /// The signer with the certificate of an address.
    public func signer(at address: String) -> Signer? {
        signers.position(at: Array(address.utf8).span).map { signers.list.signer(at: $0) }
    }

    /// The signer with a chain.
    public func signer(of chain: ChainDigest) -> Signer? {
        signers.position(of: chain.bytes.span).map { signers.list.signer(at: $0) }
    }

    /// The signer of a row; nil once it is forgotten.
    public func signer(row: Int64) -> Signer? {
        signers.list.position(row: row).map { signers.list.signer(at: $0) }
    }

    /// The count of signers.
    public var count: Int { signers.list.count }
}

/// A list of signers with tables of their addresses and chains. Immutable, so each copy of a snapshot shares it.
private final class SignerTable: Sendable {
    let list: SignerList
    private let addresses: PositionTable
    private let chains: PositionTable

    init(_ list: SignerList) {
        self.list = list
        var addresses = PositionTable(count: list.count)
        var chains = PositionTable(count: list.count)
        let bytes = list.bytes.span
        for position in 0..<list.count {
            let address = bytes.extracting(list.address(at: position))
            if !address.isEmpty { addresses.put(position, for: address) { list.hasAddress(address, at: $0) } }
            let chain = bytes.extracting(list.chain(at: position))
            if !chain.isEmpty { chains.put(position, for: chain) { list.hasChain(chain, at: $0) } }
        }
        self.addresses = addresses
        self.chains = chains
    }

    func position(at address: Span<UInt8>) -> Int? {
        addresses.position(of: address) { list.hasAddress(address, at: $0) }
    }

    func position(of chain: Span<UInt8>) -> Int? {
        chains.position(of: chain) { list.hasChain(chain, at: $0) }
    }
}

extension SignerList {
    /// Adds an entry.
    fileprivate mutating func add(_ entry: TrustSnapshot.Entry) {
        let signer = entry.signer
        // A span borrows of a name.
        let address = Array((entry.address ?? "").utf8)
        let chain = entry.chain?.bytes ?? []
        let key = signer.key?.x963 ?? []
        let authority = signer.authority.der
        let standings = signer.standings.map(\.rawValue)
        let subject = Array(signer.subject.utf8)
        add(
            row: signer.row, address: address.span.bytes, chain: chain.span.bytes, key: key.span.bytes,
            authority: authority.span.bytes, constraints: signer.constraints, validity: signer.validity,
            standings: standings.span.bytes, isRenewed: signer.isRenewed, subject: subject.span.bytes)
    }
}
