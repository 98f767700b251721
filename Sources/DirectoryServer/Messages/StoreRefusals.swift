// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import Host

/// The HTTP status, code and text of every error of the store.
extension Refusal {
    /// Nil for any other error, such as a database error.
    init?(of error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as StoreError: self = .store(error)
        case let error as WorkerThreads.Refusal: self = .work(error)
        case let error as TokenError: self = .token(error)
        case let error as UploadError: self = .upload(error)
        case let error as DebugUploadError: self = .debugUpload(error)
        case let error as LogoIntakeError: self = .picture(error)
        case let error as VersionConflict: self = .conflict(error)
        case let error as PushError: self = .push(error)
        case let mistake as any OperatorError: self = .mistake(mistake)
        default:
            guard let outage = StoreOutage(error) else { return nil }
            self = .outage(outage)
        }
    }

    /// The database serves nobody; events wait at their senders.
    private static func outage(_ outage: StoreOutage) -> Refusal {
        func refusal(_ message: String, _ code: String, retry: Int) -> Refusal {
            Refusal(
                .serviceUnavailable, message, code: code, headers: [.retryAfter: "\(retry)"],
                guidance: "Send it again later, with the same key")
        }
        return switch outage {
        case .full: refusal("The directory's disk is full", "disk_full", retry: 60)
        case .readOnly: refusal("The directory cannot write to its disk", "disk_read_only", retry: 60)
        case .broken: refusal("The directory's disk returns errors", "disk_failed", retry: 60)
        case .damaged: refusal("The directory's database is damaged", "database_damaged", retry: 300)
        case .locked: refusal("Another program has held the directory's database", "database_locked", retry: 5)
        case .away: refusal("The directory's database cannot be reached", "database_away", retry: 5)
        }
    }

    private static func store(_ error: StoreError) -> Refusal {
        switch error {
        case .busy:
            Refusal(
                .serviceUnavailable, "The directory has more to write than its disk takes", code: "busy",
                headers: [.retryAfter: "2"], guidance: "Send it again in a moment, with the same key")
        case .quotaReached(let secondsLeft):
            Refusal(
                .tooManyRequests, "This account stores no more today", code: "QUOTA_REACHED",
                headers: [.retryAfter: "\(secondsLeft)"],
                guidance: "Try again tomorrow (UTC), or ask the operator to raise events.mb_per_day")
        case .tooManyDevices(let most):
            Refusal(
                .tooManyRequests, "This account has \(most) devices, and registers no more", code: "TOO_MANY_DEVICES",
                headers: [.retryAfter: "86400"], details: ["limit": .int(most)],
                guidance: "Ask the operator to raise clients.devices_per_account, or to remove a misused key")
        }
    }

    private static func work(_ error: WorkerThreads.Refusal) -> Refusal {
        switch error {
        case .full:
            Refusal(
                .serviceUnavailable, "Too many requests of operators are in progress", code: "busy",
                headers: [.retryAfter: "5"], guidance: "Send it again in a moment")
        case .stopped:
            Refusal(
                .serviceUnavailable, "The directory stops; nothing was changed", code: "stopping",
                headers: [.retryAfter: "10"], guidance: "Send it again after its start")
        }
    }

    private static func token(_ error: TokenError) -> Refusal {
        switch error {
        case .accessExpired:
            Refusal(
                .unauthorized, "The access token has expired", code: AuthenticationCode.accessTokenExpired,
                headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#],
                guidance: "Refresh your access token and retry the request")
        case .refreshExpired:
            Refusal(
                .unauthorized, "The refresh token has expired or was used before",
                code: AuthenticationCode.refreshTokenExpired, headers: [.wwwAuthenticate: "Bearer"],
                guidance: "Ask for new tokens with the API key")
        case .deviceUnknown:
            Refusal(
                .unauthorized, "The device is not registered", code: AuthenticationCode.deviceNotRegistered,
                headers: [.wwwAuthenticate: "Bearer"], guidance: "Register the device, then ask for new tokens")
        }
    }

    private static func upload(_ error: UploadError) -> Refusal {
        switch error {
        case .full:
            Refusal(
                .tooManyRequests, "This account has too many uploads", code: "UPLOAD_QUOTA_EXCEEDED",
                headers: [.retryAfter: "3600"], details: ["max_size": .int(ChunkedUploads.quota)],
                guidance: "Finish open uploads, or wait until old ones expire")
        case .notFound: .notFound("There is no such upload session, or it has expired")
        case .complete: Refusal(.conflict, "The upload is complete", code: "UPLOAD_COMPLETE")
        case .noSuchChunk(let last): .mismatch("This upload has the chunks 1 to \(last)")
        case .notBase64: .badRequest("chunk_data is no base64")
        case .wrongSize(let chunk, let expected, let received):
            .mismatch("chunk \(chunk) must have \(expected) bytes, and has \(received)")
        case .incomplete(let missing):
            Refusal(
                .conflict, "Chunks are missing", code: "UPLOAD_INCOMPLETE",
                details: ["missing_chunks": .array(missing.map { .int($0) })],
                guidance: "Send the missing chunks, then complete the upload again")
        }
    }

    private static func mismatch(_ message: String) -> Refusal {
        Refusal(.conflict, message, code: "UPLOAD_CHUNK_MISMATCH")
    }

    private static func debugUpload(_ error: DebugUploadError) -> Refusal {
        switch error {
        case .nonceUsed: Refusal(.conflict, "This nonce was used before", code: "duplicate_nonce")
        case .notRequested:
            Refusal(
                .forbidden, "No upload of this device was asked for, or its time is over",
                code: "upload_not_requested")
        case .logsNotFinished: .badRequest("logs_upload_id names no finished upload")
        }
    }

    private static func mistake(_ mistake: any OperatorError) -> Refusal {
        switch mistake.kind {
        case .invalid: .badRequest("\(mistake)")
        case .missing: .notFound("\(mistake)")
        case .conflict: Refusal(.conflict, "\(mistake)", code: "conflict")
        case .unavailable: Refusal(.serviceUnavailable, "\(mistake)", code: "unavailable")
        }
    }
}
