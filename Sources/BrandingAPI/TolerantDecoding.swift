// SPDX-License-Identifier: Apache-2.0

/// Fields that directories write in more than one way; what cannot be read counts as not said.
///
/// A directory that sends a number as text or an identifier as a number must not cost a gateway a whole answer.
extension KeyedDecodingContainer {
    /// A string, or a whole number written without quotes.
    func tolerantString(_ key: Key) -> String? {
        guard contains(key) else { return nil }
        if let text = try? decode(String.self, forKey: key) { return text }
        return (try? decode(Int.self, forKey: key)).map { String($0) }
    }

    /// True or false, also as 1 and 0 or in quotes.
    func tolerantBool(_ key: Key) -> Bool? {
        guard contains(key) else { return nil }
        if let flag = try? decode(Bool.self, forKey: key) { return flag }
        switch tolerantString(key)?.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default: return nil
        }
    }

    /// A whole number, also in quotes.
    func tolerantInt(_ key: Key) -> Int? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int.self, forKey: key) { return number }
        return (try? decode(String.self, forKey: key)).flatMap { Int($0) }
    }

    /// A nested value, or nil when it is not what it should be.
    func tolerant<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        contains(key) ? try? decode(type, forKey: key) : nil
    }
}
