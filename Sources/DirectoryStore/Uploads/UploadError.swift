// SPDX-License-Identifier: Apache-2.0

/// Refusals of a chunked upload.
package enum UploadError: Error, Hashable {
    /// The account's uploads reach `ChunkedUploads.quota`.
    case full
    /// The account has no such session, or it has expired.
    case notFound
    /// The session has ended and takes no more chunks.
    case complete
    /// The session has chunks 1 to `last`.
    case noSuchChunk(last: Int)
    /// The chunk's text is no base64.
    case notBase64
    /// The chunk has another size than its place, in bytes.
    case wrongSize(chunk: Int, expected: Int, received: Int)
    /// The session cannot end while chunks are missing.
    case incomplete(missing: [Int])
}

/// Refusals of a debug upload.
package enum DebugUploadError: Error, Hashable {
    /// An earlier upload used the nonce.
    case nonceUsed
    /// No request for this device is open.
    case notRequested
    /// `logs_upload_id` names no finished upload of the account.
    case logsNotFinished
}
