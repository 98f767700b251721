// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
