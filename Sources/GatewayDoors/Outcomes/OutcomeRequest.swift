// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import CallPath

/// A report of one call: a JSON object, a form, or the record of FreeSWITCH's mod_json_cdr.
package enum OutcomeRequest {
    /// The deepest nesting of a record.
    private static let levels = 16

    /// Reads `POST /outcome` with a JSON object; unknown members are ignored.
    ///
    /// - Parameter now: microseconds since 1970.
    package static func json(_ body: some Collection<UInt8>, now: Int64) throws(OutcomeProblem) -> StatedOutcome {
        guard let members = try? JSONValue.object(parsing: body, levels: levels) else { throw .unreadable }
        return try fields { name throws(OutcomeProblem) in
            switch members[name] {
            case nil, .null: ""
            case .string(let text): text
            case .int(let number): "\(number)"
            // A double has a microsecond of a present time, and prints more digits.
            case .double(let number): Self.text(of: number)
            default: throw .invalid(name, "must be text or a number")
            }
        }.outcome(now: now)
    }

    /// Reads `POST /outcome` with a form, as `CURL()` of Asterisk sends it; the first value of a name counts.
    ///
    /// - Parameter now: microseconds since 1970.
    package static func form(_ body: some Collection<UInt8>, now: Int64) throws(OutcomeProblem) -> StatedOutcome {
        var values: [String: String] = [:]
        for part in Array(body).split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part[name.endIndex...].dropFirst()
            let key = String(decoding: name, as: UTF8.self)
            guard values[key] == nil else { continue }
            let blank = value.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
            guard let text = String(validating: PercentEscapes.resolved(blank[...]), as: UTF8.self) else {
                throw .invalid("the form", "must be UTF-8")
            }
            values[key] = text
        }
        return try fields { name throws(OutcomeProblem) in values[name] ?? "" }.outcome(now: now)
    }

    private static func fields(
        _ value: (String) throws(OutcomeProblem) -> String
    ) throws(OutcomeProblem) -> OutcomeFields {
        var fields = OutcomeFields()
        fields.callID = try value("call_id")
        fields.caller = try value("caller")
        fields.called = try value("called")
        fields.attestation = try value("verstat")
        (fields.began, fields.rang) = (try value("began"), try value("rang"))
        (fields.answered, fields.ended) = (try value("answered"), try value("ended"))
        (fields.cause, fields.sipStatus) = (try value("cause"), try value("sip_status"))
        fields.status = try value("status")
        fields.shownName = try value("shown_name")
        fields.answeredBy = try value("answered_by")
        return fields
    }

    private static func text(of number: Double) -> String {
        guard number >= 0, number < 1e10 else { return "x" }
        let microseconds = Int64((number * 1_000_000).rounded())
        let fraction = "\(microseconds % 1_000_000)"
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// Reads the record of mod_json_cdr; nil for a leg without the variable `herald`, such as a call of a phone.
    ///
    /// The values of `variables` have escapes by default. `start_stamp`, which has a blank, shows whether they do.
    /// - Parameter now: microseconds since 1970.
    package static func freeSWITCH(
        _ body: some Collection<UInt8>, now: Int64
    ) throws(OutcomeProblem) -> StatedOutcome? {
        guard let root = try? JSONValue.object(parsing: body, levels: levels) else { throw .unreadable }
        guard case .object(let variables) = root["variables"] else { throw .missing("variables") }
        let hasEscapes = variables["start_stamp"].map { Self.text(of: $0).contains("%20") } ?? false
        func variable(_ name: String) throws(OutcomeProblem) -> String {
            let text = variables[name].map(Self.text(of:)) ?? ""
            guard hasEscapes, text.contains("%") else { return text }
            guard let plain = String(validating: PercentEscapes.resolved(Array(text.utf8)[...]), as: UTF8.self) else {
                throw .invalid(name, "must be UTF-8")
            }
            return plain
        }
        guard try variable("herald") == "true" else { return nil }
        guard case .array(let flow) = root["callflow"], case .object(let first) = flow.first,
            case .object(let profile) = first["caller_profile"]
        else { throw .missing("callflow") }
        func caller(_ name: String) -> String { profile[name].map(Self.text(of:)) ?? "" }
        func time(_ name: String) throws(OutcomeProblem) -> String { seconds(try variable(name)) }

        var fields = OutcomeFields()
        fields.callID = try variable("uuid")
        (fields.caller, fields.called) = (caller("caller_id_number"), caller("destination_number"))
        (fields.began, fields.ended) = (try time("start_uepoch"), try time("end_uepoch"))
        (fields.rang, fields.answered) = (try time("progress_uepoch"), try time("answer_uepoch"))
        fields.cause = try variable("hangup_cause_q850")
        // Causes of FreeSWITCH's own, such as 487 for ORIGINATOR_CANCEL of old versions.
        if let cause = UInt16(fields.cause), cause > 127 { fields.cause = cause == 487 ? "16" : "" }
        // An announcement or a voicemail box picks up without a bridge, also after a phone has rung.
        let bridge = try variable("bridge_uepoch")
        if !fields.answered.isEmpty, bridge == "0" {
            fields.answeredBy = try variable("last_app") == "voicemail" ? "voicemail" : "system"
        }
        // The record has the name also where no phone was asked.
        if !fields.rang.isEmpty || !["", "0"].contains(bridge) {
            let name = try variable("effective_caller_id_name")
            fields.shownName = name.isEmpty ? caller("caller_id_name") : name
        }
        return try fields.outcome(now: now)
    }

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .int(let number): "\(number)"
        default: ""
        }
    }

    /// Microseconds of Unix time as seconds; empty for none.
    private static func seconds(_ microseconds: String) -> String {
        guard let time = Int64(microseconds), time > 0 else { return microseconds == "0" ? "" : microseconds }
        let fraction = "\(time % 1_000_000)"
        return "\(time / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
