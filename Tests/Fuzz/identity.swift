// SPDX-License-Identifier: Apache-2.0

/// Any Identity header field: its values lie inside, and each token is read whole or ends in a cause.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzIdentity(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    var call = SignedCall(
        caller: CanonicalNumber("12025551000"), called: CanonicalNumber("12025551001"),
        to: CanonicalNumber("12025551001"))
    call.date = 1_471_375_418
    var policy = TrunkTrustPolicy(regimes: [TrustRegime(name: "us", position: 0)], regimeSet: 1)
    policy.allowsCompactForm = true
    let passports = PassportReader(policy: policy, call: call)
    var values = IdentityFieldReader(bytes.span, 0..<bytes.count)
    var end = 0
    while let value = values.next() {
        precondition(value.token.lowerBound >= end && value.token.upperBound <= bytes.count)
        end = value.token.upperBound
        for range in [value.info, value.alg, value.ppt].compactMap(\.self) {
            precondition(range.lowerBound >= end && range.upperBound <= bytes.count)
        }
        do {
            let passport = try passports.read(value, of: values.bytes)
            check(passport)
            if let nested = passport.claims.nested { check(try passports.read(nested: Array(nested.utf8))) }
        } catch {
            precondition(error.effect != .passes)
        }
    }
    return 0
}

private func check(_ passport: Passport) {
    precondition(passport.signature.count == 64 && passport.token[passport.signedCount] == UInt8(ascii: "."))
    precondition(passport.address != nil || passport.chain != nil || passport.hasBrokenChain)
    precondition((passport.type == .shaken) == (passport.claims.attestation != nil))
}
