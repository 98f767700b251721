// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes

/// The HTTP status, code and text of every error of the store.
extension Refusal {
    /// Nil for any other error, such as a database error.
    init?(of error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as StoreError: self = .store(error)
        case let error as TokenError: self = .token(error)
        case let error as UploadError: self = .upload(error)
        case let error as DebugUploadError: self = .debugUpload(error)
        case let mistake as any OperatorError: self = .mistake(mistake)
        case _ where DirectoryDatabase.isOutage(error): self = .outage
        default: return nil
        }
    }

    /// The database is away; events wait at their senders.
    private static let outage = Refusal(
        .serviceUnavailable, "The directory's database cannot be reached", code: "database_away",
        headers: [.retryAfter: "5"], guidance: "Send it again in a moment, with the same key")

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
        }
    }
}
