// SPDX-License-Identifier: Apache-2.0

/// The chunks and the ages of uploads.
enum UploadLimits {
    /// Bytes of every chunk but the last; its base64 fits into the longest request body.
    static let chunkSize = 524_288
    /// Seconds for which a session is open.
    static let sessionLife: Int64 = 86_400
    /// Seconds for which a finished file is kept.
    static let fileLife: Int64 = 30 * 86_400
}

/// The log file of a debug upload was removed.
package struct UploadedLogsGone: OperatorError, Hashable {
    package var kind: OperatorMistakeKind { .missing }

    package var description: String {
        """
        the logs came as a file of their own, and it is not there any more: \
        such files are kept for \(UploadLimits.fileLife / 86_400) days
        """
    }
}
