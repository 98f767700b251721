// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Delays the response to the next request of a kind. The library's function has variable arguments, which Swift does not import.
static inline rd_kafka_resp_err_t herald_mock_delay_request(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api, int milliseconds) {
    return rd_kafka_mock_broker_push_request_error_rtts(
        cluster, broker, api, (size_t)1, RD_KAFKA_RESP_ERR_NO_ERROR, milliseconds);
}
