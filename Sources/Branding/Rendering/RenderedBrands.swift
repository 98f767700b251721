// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The header bytes of all brands in one contiguous arena.
///
/// For each brand the arena holds quoted name, logo value, call-reason parameter and identifier. The plain name follows
/// if quoting changed it. Every part is one range of these bytes, at most with a constant prefix.
struct RenderedBrands: Sendable {
    /// Location of a brand in the arena, with lengths in bytes. 24 bytes without padding, saved as they are.
    struct Row: Sendable {
        var start: UInt64 = 0
        var quotedName: UInt16 = 0
        var icon: UInt16 = 0
        var reason: UInt16 = 0
        var brandID: UInt16 = 0
        /// Zero if the name equals the quoted name without its quotes.
        var escapedName: UInt16 = 0
        var reserved: (UInt16, UInt16, UInt16) = (0, 0, 0)

        var end: UInt64 {
            start + UInt64(quotedName) + UInt64(icon) + UInt64(reason) + UInt64(brandID) + UInt64(escapedName)
        }
    }

    private(set) var rows: [Row] = []
    private(set) var arena: [UInt8] = []

    init() {}

    /// The memory limit of all brands in bytes, including the fingerprints during a build.
    ///
    /// Holds about sixteen million brands of usual size. The limit keeps an excessive directory from exhausting memory
    /// at every start.
    static let memoryLimit = 2 << 30

    /// True if another brand may be added.
    ///
    /// - Parameter known: the number of fingerprints, including those of brands without a displayable name.
    func fits(in memoryLimit: Int, known: Int = 0) -> Bool { arena.count + max(rows.count, known) * 64 < memoryLimit }

    /// Restores saved arrays. Nil if a row points outside the arena.
    init?(rows: [Row], arena: [UInt8]) {
        let size = UInt64(arena.count)
        guard rows.allSatisfy({ $0.start <= size && $0.end <= size && $0.quotedName >= 2 }) else { return nil }
        self.rows = rows
        self.arena = arena
    }

    /// The largest stored identifier in bytes.
    static let maxBrandIDBytes = 255

    /// Adds a brand.
    mutating func append(name: DisplayName, info: CallInfo, brandID: String) {
        var row = Row()
        row.start = UInt64(arena.count)
        row.quotedName = added { QuotedString.append(name.text, to: &$0) }
        row.icon = added { info.appendIcon(to: &$0) }
        row.reason = added { info.appendReason(to: &$0) }
        row.brandID = added { arena in
            var memoryLimit = Self.maxBrandIDBytes
            for character in brandID.utf8.count <= memoryLimit ? brandID[...] : brandID.prefix(memoryLimit) {
                memoryLimit -= character.utf8.count
                guard memoryLimit >= 0 else { break }
                arena.append(contentsOf: character.utf8)
            }
        }
        if Int(row.quotedName) != name.text.utf8.count + 2 {
            row.escapedName = added { $0.append(contentsOf: name.text.utf8) }
        }
        rows.append(row)
    }

    /// Adds a brand of another collection.
    mutating func append(_ row: Row, of other: RenderedBrands) {
        var row = row
        let bytes = other.arena[Int(row.start)..<Int(row.end)]
        row.start = UInt64(arena.count)
        arena.append(contentsOf: bytes)
        rows.append(row)
    }

    private mutating func added(_ write: (inout [UInt8]) -> Void) -> UInt16 {
        let before = arena.count
        write(&arena)
        return UInt16(arena.count - before)
    }

    /// Returns the range of a part, and whether the null icon precedes it.
    private func place(_ part: BrandPart, _ brand: UInt32) -> (range: Range<Int>, needsNullIcon: Bool) {
        let row = rows[Int(brand)]
        let icon = Int(row.start) + Int(row.quotedName)
        let reason = icon + Int(row.icon)
        let brandID = reason + Int(row.reason)
        let escapedName = brandID + Int(row.brandID)
        switch part {
        case .quotedName: return (Int(row.start)..<icon, false)
        case .callInfo where row.icon > 0: return (icon..<brandID, false)
        case .callInfo, .callInfoReasonOnly: return (reason..<brandID, row.reason > 0)
        case .logo: return (icon..<reason, false)
        case .reason: return (reason..<brandID, false)
        case .name where row.escapedName > 0: return (escapedName..<escapedName + Int(row.escapedName), false)
        case .name: return (Int(row.start) + 1..<icon - 1, false)
        case .brandID: return (brandID..<escapedName, false)
        }
    }

    func length(of part: BrandPart, _ brand: UInt32) -> Int {
        let (range, needsNullIcon) = place(part, brand)
        return range.count + (needsNullIcon ? CallInfo.nullIcon.utf8CodeUnitCount : 0)
    }

    func append(_ part: BrandPart, of brand: UInt32, to out: inout [UInt8]) {
        let (range, needsNullIcon) = place(part, brand)
        if needsNullIcon { out.append(CallInfo.nullIcon) }
        out.append(contentsOf: arena[range])
    }

    /// Appends a part with its hosted logo in another form; unchanged for a logo that the gateway does not serve.
    ///
    /// - Parameters:
    ///   - opening: the bytes before the file names of hosted logos.
    ///   - form: the end of the file name behind `HASH-`.
    func append(_ part: BrandPart, of brand: UInt32, opening: [UInt8], form: [UInt8], to out: inout [UInt8]) {
        guard part == .callInfo || part == .logo, let ending = hostedEnding(of: brand, opening) else {
            return append(part, of: brand, to: &out)
        }
        let row = rows[Int(brand)]
        let icon = Int(row.start) + Int(row.quotedName)
        out.append(contentsOf: arena[icon..<ending.lowerBound])
        out.append(contentsOf: form)
        let reason = part == .callInfo ? Int(row.reason) : 0
        out.append(contentsOf: arena[ending.upperBound..<icon + Int(row.icon) + reason])
    }

    /// The place of the file name's end, between `HASH-` and `>`; nil for a logo that the gateway does not serve.
    private func hostedEnding(of brand: UInt32, _ opening: [UInt8]) -> Range<Int>? {
        let row = rows[Int(brand)]
        let icon = Int(row.start) + Int(row.quotedName)
        let start = icon + opening.count + HostedLogos.hashLength + 1
        let end = icon + Int(row.icon) - CallInfo.iconPurpose.utf8CodeUnitCount
        guard start < end, arena[icon..<icon + opening.count].elementsEqual(opening),
            arena[start - 1] == UInt8(ascii: "-")
        else { return nil }
        return start..<end
    }

    /// The file name of the hosted logo; nil for a logo that the gateway does not serve.
    ///
    /// - Parameter form: replaces the end behind `HASH-`, if given.
    func logoFile(of brand: UInt32, opening: [UInt8], form: String?) -> String? {
        guard let ending = hostedEnding(of: brand, opening) else { return nil }
        let hash = arena[ending.lowerBound - HostedLogos.hashLength - 1..<ending.lowerBound]
        return String(decoding: hash, as: UTF8.self) + (form ?? String(decoding: arena[ending], as: UTF8.self))
    }

    /// The directory's identifier of a brand.
    func identifier(of brand: UInt32) -> ArraySlice<UInt8> { arena[place(.brandID, brand).range] }

    func hasLogo(_ brand: UInt32) -> Bool { rows[Int(brand)].icon > 0 }

    func logoURL(of brand: UInt32) -> String? {
        let row = rows[Int(brand)]
        guard row.icon > 0 else { return nil }
        let icon = Int(row.start) + Int(row.quotedName)
        let end = icon + Int(row.icon) - CallInfo.iconPurpose.utf8CodeUnitCount
        return icon < end ? String(decoding: arena[icon + 1..<end], as: UTF8.self) : nil
    }
}

/// A part of a brand that an index stores. `name` and `brandID` are plain text; the other parts are header bytes.
public enum BrandPart: Hashable, Sendable, CaseIterable {
    /// The display name as a quoted-string: `"Acme Bank"`.
    case quotedName
    /// A Call-Info value with logo and call reason; empty if the brand has neither.
    case callInfo
    /// A Call-Info value with the call reason only; empty if the brand has none.
    case callInfoReasonOnly
    /// The logo of the Call-Info value alone: `<URL>;purpose=icon`; empty if the brand has none.
    case logo
    /// The parameter with the call reason alone; empty if the brand has none.
    case reason
    /// The display name without quotes, as a phone shows it.
    case name
    /// The directory's identifier of the brand.
    case brandID
}

extension RenderedBrands {
    /// Removes unused brands, and duplicates among the added brands.
    ///
    /// - Parameters:
    ///   - isUsed: whether each brand has a number.
    ///   - first: position of the first added brand, which may duplicate an earlier one.
    /// - Returns: the new position of each brand by its old position; nil if nothing changed.
    mutating func compact(isUsed: [Bool], addedFrom first: Int) -> [UInt32]? {
        var isUsed = isUsed
        let twins = twins(addedFrom: first)
        for (added, known) in twins where isUsed[added] {
            isUsed[added] = false
            isUsed[known] = true
        }
        guard isUsed.contains(false) else { return nil }
        var kept = RenderedBrands()
        var places = [UInt32](repeating: 0, count: rows.count)
        for position in rows.indices where isUsed[position] {
            places[position] = UInt32(kept.rows.count)
            kept.append(rows[position], of: self)
        }
        for (added, known) in twins { places[added] = places[known] }
        self = kept
        return places
    }

    /// Returns each brand from `first` on that equals an earlier brand, with both positions.
    private func twins(addedFrom first: Int) -> [(added: Int, known: Int)] {
        guard first < rows.count else { return [] }
        return arena.withUnsafeBytes { arena in
            func fingerprint(_ row: Row) -> BrandFingerprint {
                BrandFingerprint(row, UnsafeRawBufferPointer(rebasing: arena[Int(row.start)..<Int(row.end)]))
            }
            var added: [BrandFingerprint: Int] = [:]
            for position in first..<rows.count { added[fingerprint(rows[position])] = position }
            return rows[..<first].enumerated().compactMap { known, row in
                added.removeValue(forKey: fingerprint(row)).map { (added: $0, known: known) }
            }
        }
    }
}
