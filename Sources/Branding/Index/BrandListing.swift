// SPDX-License-Identifier: Apache-2.0

/// The first brands of an index by name, with their numbers.
///
/// For phonebooks. Reads the whole index once or twice and sorts the chosen brands only: for a million brands some tenths
/// of a second and little memory. Not for the call path.
public struct BrandListing: Sendable {
    /// A brand with its numbers in ascending order; at least one.
    public struct Brand: Sendable {
        public let entry: BrandEntry
        public let name: String
        public let numbers: [E164Number]
    }

    /// By name, in the order of bytes.
    public let brands: [Brand]

    /// - Parameter limit: the largest number of brands.
    public init(_ index: BrandIndex, limit: Int) {
        var isUsed = [Bool](repeating: false, count: index.brands.rows.count)
        index.numbers.each { brand, _ in
            if Int(brand) < isUsed.count { isUsed[Int(brand)] = true }
        }
        var first = FirstByName(limit: limit)
        for brand in isUsed.indices where isUsed[brand] { first.add(UInt32(brand), named: index.brands) }
        let chosen = first.sorted(by: index.brands)
        let places = Dictionary(uniqueKeysWithValues: chosen.enumerated().map { ($1, $0) })
        var numbers = [[UInt64]](repeating: [], count: chosen.count)
        index.numbers.each { brand, digits in
            if isUsed[Int(brand)], let place = places[brand] { numbers[place].append(digits) }
        }
        brands = zip(chosen, numbers).map { brand, digits in
            let entry = BrandEntry(brand: brand)
            return Brand(
                entry: entry, name: index.text(.name, entry),
                numbers: digits.sorted().compactMap { E164Number(digits: $0) })
        }
    }
}

/// Keeps the brands with the lowest names: a heap with the highest of them on top.
private struct FirstByName {
    let limit: Int
    private var heap: [UInt32] = []

    init(limit: Int) { self.limit = limit }

    mutating func add(_ brand: UInt32, named brands: RenderedBrands) {
        if heap.count < limit {
            heap.append(brand)
            rise(brands)
        } else if let top = heap.first, brands.isOrdered(brand, before: top) {
            heap[0] = brand
            sink(brands)
        }
    }

    func sorted(by brands: RenderedBrands) -> [UInt32] { heap.sorted { brands.isOrdered($0, before: $1) } }

    private mutating func rise(_ brands: RenderedBrands) {
        var place = heap.count - 1
        while place > 0, brands.isOrdered(heap[(place - 1) / 2], before: heap[place]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(_ brands: RenderedBrands) {
        var place = 0
        while true {
            var highest = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if brands.isOrdered(heap[highest], before: heap[child]) { highest = child }
            }
            guard highest != place else { return }
            heap.swapAt(place, highest)
            place = highest
        }
    }
}

extension RenderedBrands {
    /// Orders by quoted name, then by position.
    fileprivate func isOrdered(_ left: UInt32, before right: UInt32) -> Bool {
        let (one, other) = (quotedName(left), quotedName(right))
        for (mine, theirs) in zip(one, other) where mine != theirs { return mine < theirs }
        return one.count == other.count ? left < right : one.count < other.count
    }

    private func quotedName(_ brand: UInt32) -> ArraySlice<UInt8> {
        let row = rows[Int(brand)]
        return arena[Int(row.start)..<Int(row.start) + Int(row.quotedName)]
    }
}

extension BrandedNumbers {
    /// Calls `body` with the brand and the digits of each number, in no order.
    fileprivate func each(_ body: (UInt32, UInt64) -> Void) {
        for slot in table.keys.indices where table.keys[slot] != 0 {
            let isChanged = changes.count > 0 && changes.slot(for: table.keys[slot]).isFilled
            if !isChanged { body(table.values[slot], table.keys[slot]) }
        }
        for slot in changes.keys.indices where changes.keys[slot] != 0 && changes.values[slot] != Self.gone {
            body(changes.values[slot], changes.keys[slot])
        }
    }
}
