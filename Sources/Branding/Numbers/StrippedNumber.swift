// SPDX-License-Identifier: Apache-2.0

import CPhoneNumber

extension NumberNormaliser {
    /// Reads a number whose plus sign the sender may have removed, as some name look-ups of PBXs do.
    ///
    /// The digits are a number of the trunk's region as `normalise` reads it, or an international number. If both are
    /// possible, the one of an allocated range counts, and nil is returned if both are. Without a regional reading the
    /// international one needs an allocated range.
    public func normaliseWithoutPlus(_ text: ArraySlice<UInt8>) -> E164Number? {
        guard text.first != UInt8(ascii: "+"), text.count < Self.maxLength else { return normalise(text) }
        let regional = normalise(text)
        guard let global = normalise([UInt8(ascii: "+")] + text), global != regional, Self.isAllocated(global) else {
            return regional
        }
        return regional.map(Self.isAllocated) == true ? nil : global
    }

    private static func isAllocated(_ number: E164Number) -> Bool { herald_phone_is_allocated(number.digits) == 1 }
}
