// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import Hummingbird
import Primitives

/// `GET /v1/calls` and `GET /v1/calls/summary` of the control socket: the filter of `herald calls` as a query.
///
/// A parameter that no filter has is an error: a misspelt one would select all calls.
struct CallRoutes: Sendable {
    let source: any CallSource
    /// Seconds since 1970.
    var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    var zone = LocalZone.ofProcess

    private static let fields = CallQuery.Field.allCases.map(\.rawValue)
    private static let formats: [String: CallExport.Format] = ["json": .json, "csv": .csv]

    func add(to router: Router<ControlContext>) {
        router.get("/v1/calls") { request, _ in try await refusing { try await calls(request) } }
        router.get("/v1/calls/summary") { request, _ in try await refusing { try await summary(request) } }
    }

    private func calls(_ request: Request) async throws -> Response {
        let parameters = try Self.parameters(of: request, others: ["format", "limit"])
        let filter = try await filter(of: parameters)
        guard let format = Self.formats[parameters["format"] ?? "json"] else {
            throw ControlProblem(error: "format \"\(Self.shown(parameters["format"]))\" is unknown; give json or csv")
        }
        guard let limit = Int(parameters["limit"] ?? "\(CallExport.most)"), (1...CallExport.most).contains(limit)
        else {
            throw ControlProblem(
                error: "limit \"\(Self.shown(parameters["limit"]))\" is no number of calls; give 1 to "
                    + "\(CallExport.most)")
        }
        guard let slot = source.exports.open() else {
            throw ControlProblem(error: "\(CallExports.most) exports run already; wait until one of them has ended")
        }
        let export = CallExport(source: source, filter: filter, format: format, limit: limit, zone: zone)
        return Response(status: .ok, headers: [.contentType: format.contentType], body: export.body(slot))
    }

    private func summary(_ request: Request) async throws -> Response {
        let filter = try await filter(of: try Self.parameters(of: request))
        let summary = CallSummary(try await source.counts(filter), since: filter.since, zone: zone)
        return try ControlResponse.value(summary.json.compactMapValues { $0 })
    }

    /// The response, or the reason of a refusal.
    private func refusing(_ respond: () async throws -> Response) async throws -> Response {
        do {
            return try await respond()
        } catch let problem as ControlProblem {
            return try ControlResponse.refusal(problem.error)
        } catch let problem as CallQueryProblem {
            return try ControlResponse.refusal(problem.ofParameter)
        }
    }

    /// The filter of a query.
    ///
    /// - Throws: `CallQueryProblem`, also for the name of a trunk or customer that neither the configuration nor a call has.
    private func filter(of parameters: [String: String]) async throws -> CallFilter {
        var query = CallQuery()
        for field in CallQuery.Field.allCases { query[field] = parameters[field.rawValue] }
        let filter = try query.filter(now: now(), in: zone)
        if let unknown = query.unknownName(in: source) {
            let found = try await source.calls(filter, limit: 1)
            if found.calls.isEmpty, found.rest == nil { throw unknown }
        }
        return filter
    }

    /// The parameters of the query, of which each may come once.
    private static func parameters(of request: Request, others: [String] = []) throws -> [String: String] {
        var parameters: [String: String] = [:]
        let known = fields + others
        for (name, value) in request.uri.queryParameters.map({ (String($0.key), String($0.value)) }) {
            guard known.contains(name) else {
                throw ControlProblem(
                    error: "the parameter \"\(shown(name))\" is unknown\(NearestName.hint(name, among: known)); "
                        + "give \(known.joined(separator: ", "))")
            }
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw ControlProblem(error: "the parameter \(name) is given twice")
            }
        }
        return parameters
    }

    /// A foreign text in an error.
    private static func shown(_ text: String?) -> String { TerminalText.visible((text ?? "").prefix(64)) }
}
